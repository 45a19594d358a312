/* SPDX-License-Identifier: MIT */
#include "mutate.h"

#include "harnesses.h"
#include "reasons.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 600, MUTANTS_MAX = 900, HARNESSES_MAX = 256 };

struct place {
    const struct site *site;
    enum operation operation;
    enum order order;
    bool seen_by[HARNESSES_MAX];
};

static struct place places[PLACES_MAX];
static unsigned place_count;
static const struct mutant *applied;
static int explored = -1; /* the harness whose places are noted; -1: none */

/* An inline function has a copy of its sites in each file that uses it. */
static bool same(const struct site *a, const struct site *b)
{
    return a == b ||
           (a->line == b->line && strcmp(a->what, b->what) == 0 && strcmp(a->file, b->file) == 0);
}

/* Has the harness been seen there? Forgets some, which costs a search. */
static bool is_noted(const struct site *site, enum order order)
{
    static struct {
        const struct site *site;
        enum order order;
        int harness;
    } recent[1024];
    size_t i = ((uintptr_t)site / sizeof *site) % (sizeof recent / sizeof recent[0]);
    if (recent[i].site == site && recent[i].order == order && recent[i].harness == explored)
        return true;
    recent[i].site = site;
    recent[i].order = order;
    recent[i].harness = explored;
    return false;
}

static void note(const struct site *site, enum operation operation, enum order order)
{
    if (is_noted(site, order))
        return;
    unsigned i = 0;
    while (i < place_count && !(same(places[i].site, site) && places[i].order == order))
        i++;
    if (i == PLACES_MAX)
        abort();
    if (i == place_count)
        places[place_count++] =
            (struct place){.site = site, .operation = operation, .order = order};
    places[i].seen_by[explored] = true;
}

static bool is_mutated(const struct site *site)
{
    if (!applied || !site || applied->site->line)
        return applied && site && same(applied->site, site);
    size_t length = strlen(site->file), tail = strlen(applied->site->file);
    return length >= tail && strcmp(site->file + length - tail, applied->site->file) == 0 &&
           strcmp(site->what, applied->site->what) == 0;
}

void mutate_apply(const struct mutant *mutant)
{
    applied = mutant;
}

enum order mutate_order(const struct site *site, enum operation operation, enum order order)
{
    if (!site || site->line == 0)
        return order; /* the model's own */
    if (explored >= 0)
        note(site, operation, order);
    return is_mutated(site) && !applied->dropped && applied->from == order ? applied->to : order;
}

bool mutate_dropped(const struct site *site)
{
    return is_mutated(site) && applied->dropped;
}

/* ---- What there is to try ---- */

static unsigned weaker(enum operation operation, enum order order, enum order list[static 3])
{
    unsigned n = 0;
    bool reads = operation != OP_STORE, writes = operation != OP_LOAD;
    if (order == SEQ_CST)
        list[n++] = !writes ? ACQUIRE : !reads ? RELEASE : ACQ_REL;
    else if (order == ACQ_REL) {
        list[n++] = ACQUIRE;
        list[n++] = RELEASE;
    } else if (order != RELAXED) {
        list[n++] = RELAXED;
    }
    return n;
}

static unsigned list_mutants(struct mutant list[static MUTANTS_MAX])
{
    unsigned n = 0;
    for (unsigned i = 0; i < place_count; i++) {
        const struct place *place = &places[i];
        bool whole = place->operation >= OP_FENCE;
        enum order orders[3] = {place->order};
        unsigned count = whole ? 1 : weaker(place->operation, place->order, orders);
        for (unsigned k = 0; k < count && n < MUTANTS_MAX; k++)
            list[n++] =
                (struct mutant){place->site, place->operation, place->order, orders[k], whole, i};
    }
    return n;
}

/* ---- Who fails ---- */

struct trial {
    const struct harness *harness;
    unsigned number;
    uint64_t executions;
};

static int smaller(const void *a, const void *b)
{
    const struct trial *x = a, *y = b;
    return (x->executions > y->executions) - (x->executions < y->executions);
}

/* The harnesses that don't fail by themselves, the smallest first; and the places that each
 * comes by. */
static unsigned look_around(const struct options *options, const struct harness *const *lists,
                            unsigned n, char **names, struct trial trials[static HARNESSES_MAX])
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        for (const struct harness *h = lists[i]; h->name; h++) {
            if (h->fails || !wanted(h, names))
                continue;
            explored = (int)count;
            struct result result = explore(h, options);
            explored = -1;
            if (result.verdict == VERDICT_FAILED) {
                printf("weft check: %s fails already\n", h->name);
                exit(EXIT_FAILURE);
            }
            trials[count] = (struct trial){h, count, result.executions + result.known};
            if (++count == HARNESSES_MAX)
                abort();
        }
    qsort(trials, count, sizeof trials[0], smaller);
    return count;
}

static const struct harness *killer_of(const struct mutant *mutant, const struct options *options,
                                       const struct trial *trials, unsigned n)
{
    const struct harness *killer = NULL;
    const char *stubborn = stubborn_killer_of(mutant);
    const struct options unbounded = {.preemptions = -1, .stale = 1, .spurious = options->spurious};
    applied = mutant;
    for (unsigned i = 0; i < n && !killer; i++) {
        const struct harness *harness = trials[i].harness;
        bool whole = stubborn && strcmp(stubborn, harness->name) == 0;
        if ((whole || (!stubborn && places[mutant->place].seen_by[trials[i].number])) &&
            explore(harness, whole ? &unbounded : options).verdict == VERDICT_FAILED)
            killer = harness;
    }
    applied = NULL;
    return killer;
}

/* Places that no harness comes by: nothing is known of them. */
static unsigned list_unseen(void)
{
    extern const struct site __start_weft_sites[], __stop_weft_sites[];
    unsigned unseen = 0;
    for (const struct site *site = __start_weft_sites; site < __stop_weft_sites; site++) {
        bool known = !strstr(site->file, "/src/");
        for (unsigned i = 0; i < place_count && !known; i++)
            known = same(places[i].site, site);
        for (const struct site *other = __start_weft_sites; other < site && !known; other++)
            known = same(other, site);
        if (!known && ++unseen)
            printf("%s:%d %s: no harness comes by\n", strstr(site->file, "/src/") + 1, site->line,
                   site->what);
    }
    return unseen;
}

static const char *order_name(enum order order)
{
    static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    return names[order];
}

static void describe(const struct mutant *m, char *text, size_t size)
{
    static const char *const kinds[] = {"load",  "store",   "read-modify-write", "compare-exchange",
                                        "fence", "wake-up", "last look"};
    const char *file = strstr(m->site->file, "src/");
    int used = snprintf(text, size, "%s:%d %s %s ", file ? file : m->site->file, m->site->line,
                        kinds[m->operation], m->site->what);
    if (m->dropped)
        snprintf(text + used, size - (size_t)used, "left out");
    else
        snprintf(text + used, size - (size_t)used, "%s -> %s", order_name(m->from),
                 order_name(m->to));
}

int mutate_all(struct options options, const struct harness *const *lists, unsigned n,
               struct share share, char **names)
{
    static struct mutant mutants[MUTANTS_MAX];
    static struct trial trials[HARNESSES_MAX];
    struct options patient = options; /* for those that survive the first look for no reason */
    struct options broad = options;
    if (!patient.executions)
        patient.executions = 60000;
    broad.executions = patient.executions / 3;
    options.executions = 3000;
    unsigned count = look_around(&broad, lists, n, names, trials);
    unsigned unseen = *names ? 0 : list_unseen();
    unsigned total = list_mutants(mutants), tried = 0, killed = 0, unexplained = 0, stale = 0;
    for (unsigned i = share.part - 1; i < total; i += share.parts) {
        char text[300];
        describe(&mutants[i], text, sizeof text);
        if (share.at && !strstr(text, share.at))
            continue;
        const struct harness *killer = killer_of(&mutants[i], &options, trials, count);
        const char *reason = killer ? NULL : reason_for(&mutants[i]);
        if (!killer && !reason)
            killer = killer_of(&mutants[i], &patient, trials, count);
        bool is_stale = killer && reason_is_stale(&mutants[i]);
        printf("%4u/%u %s: %s%s%s\n", i + 1, total, text,
               killer   ? "killed by "
               : reason ? "kept: "
                        : "SURVIVES",
               killer   ? killer->name
               : reason ? reason
                        : "",
               is_stale ? "; the reason to keep it is STALE" : "");
        stale += is_stale;
        tried++;
        killed += killer != NULL;
        unexplained += !killer && !reason;
    }
    bool all = !*names && !share.at && share.parts == 1;
    stale += all ? reasons_stale() : 0; /* else there may be mutants for them elsewhere */
    printf("%u places that no harness comes by\n", unseen);
    printf("%u mutants, %u killed, %u kept for a reason, %u unexplained; %u stale reasons\n", tried,
           killed, tried - killed - unexplained, unexplained, stale);
    return unexplained == 0 && stale == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
