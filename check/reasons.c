/* SPDX-License-Identifier: MIT */
/* What survives a first look: mutants that one harness kills, but only without bounds; and orders
 * that no harness needs, and why they are kept.
 *
 * A reason is for one place: a function of a file, and there the operation whose comment has this
 * text, which is its tag and as much of what follows as tells it from its neighbours. So a reason
 * can't excuse anything else, and does not move to another place when the code changes. The comment
 * is read from the source. */
#include "reasons.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct known {
    const char *file, *function, *tag;
    enum operation operation;
    enum order from, to;
    const char *text;
};

/* `text`: the harness. */
static const struct known stubborn[] = {
    {"core/steal.c", "weft__steal_slot", "acquire B2", OP_LOAD, ACQUIRE, RELAXED,
     "fork-lazy-reused"},
};

static const char lb[] =
    "RC11 forbids load buffering, C11 does not: a thief could read what is written to the place "
    "after its job was taken";
static const char le[] =
    "RC11's fences are stronger than C11's; with these the published proof holds (Le and others "
    "2013); the same instruction on most machines";
static const char fences[] =
    "no wake-up rests on it: there is a fence before (F1). But it saves vain searches, and forks, "
    "which have no fence, find a sleeper's place";
static const char tickle[] =
    "the document wants it; the fence after getting sleepy would do in RC11, not in C11";
static const char tickled[] =
    "V1: who is tickled finds at once what for; it would before it sleeps, too";
static const char census[] =
    "one rule for all who change the census (Z1); only coming to rest needs all of it";
static const char leaves[] =
    "as where a guest leaves, which the step-back harnesses show; those of blocking have no guests";
static const char anew[] =
    "a default pool that is made anew where another one was: in no harness, since it has workers; "
    "ThreadSanitizer sees it in fault.destroy";
static const char thief[] =
    "who misses its fork has taken a lock, or read top before a fence; that is far away, and this "
    "is the plain reason";
static const char fd[] =
    "a task's eventfd is in no harness; the number itself is all that is handed over";
static const char waiter[] =
    "the result comes with the latch that is set next; this has only to hand over the waiter";
static const char answers[] =
    "each count-down goes on from the one before, so release alone would do, for the last one too; "
    "but os/atomic.h has no such operation, and here it would save nothing on x86";
static const char rests[] = "release alone would do (Z5); but os/atomic.h has no such operation, "
                            "and this is no fast road";
static const char nudges[] = "release alone would do (W4); but os/atomic.h has no such operation, "
                             "and this is no fast road";
static const char marked[] = "who is marked has passed a fence (F1) before it rests; that is far "
                             "away, and this is the plain "
                             "reason";
static const char threads[] = "X1, X2: the last one may come to need what the others did";

static const char unseen[] = "left out, later forks of a guest, which tell nobody, may have no "
                             "look-out until the next worker "
                             "falls asleep; in no harness a guest forks twice";
static const char lookout[] =
    "as in weft__wake_any(), where place-events shows it; here it would take "
    "a worker that is made while two others sleep";
static const char helper[] =
    "the ticker wakes a guest that waits for an actor by it; in no harness there is a ticker";
static const char ticker[] = "the ticker reads it; in no harness there is one";
static const char posse[] =
    "both sides hold the posse's lock, which does the same; who leaves a place "
    "does not, but hands nothing over";
static const char killed[] =
    "that the actor's group has failed is for those who unwind, and these are in no harness";

static const char guess[] = "a fork may be missed here anyway (fork-counters); with it, fewer are: "
                            "it finds sleepers' places";
static const char moved[] =
    "executors are there from the beginning, and the letter orders what it brings (A2)";

static const char twice[] =
    "of close_pool() and wind_up(), each does it for the other: the last one "
    "to leave comes after both";
static const char lent[] =
    "the thread was not held before, so its number is all that is handed over";
static const char asleep[] =
    "who is counted as asleep is seen so (E1); in no harness one falls asleep just then";
static const char settled[] =
    "read for a holder that waits in another pool; in no harness there are two";
static const char later[] = "without it, some learn of it later";

static const char away[] = "fork-lazy-forbidden needs the release, but shows it only with --stale "
                           "none: a thief reads what a "
                           "slot held before three times; this is one of the two partners (B3)";

static const struct known kept[] = {
    {"core/block.c", "mark", "release B3", OP_STORE, RELEASE, RELAXED, away},
    {"core/steal.c", "stop_owner", "acquire B3", OP_LOAD, ACQUIRE, RELAXED, away},
    {"core/pool.c", "close_pool", "acq_rel X1", OP_RMW, ACQ_REL, ACQUIRE, twice},
    {"core/pool.c", "close_pool", "acq_rel X1", OP_RMW, ACQ_REL, RELEASE, twice},
    {"core/pool.c", "wind_up", "acq_rel X1", OP_RMW, ACQ_REL, ACQUIRE, twice},
    {"sleep/park.c", "weft__park_lend", "release P3", OP_STORE, RELEASE, RELAXED, lent},
    {"sleep/sleep.c", "weft__sleep_is_one_too_many", "acquire E1", OP_LOAD, ACQUIRE, RELAXED,
     asleep},
    {"core/block.c", "look", "release Z4", OP_STORE, RELEASE, RELAXED, settled},
    {"core/task.c", "task_is_over", "release O3", OP_STORE, RELEASE, RELAXED, fd},
    {"core/cancel.c", "weft__alert_all", "weft__membarrier(); /* as above */", OP_FENCE, SEQ_CST,
     SEQ_CST, later},
    {"core/cancel.c", "weft__cancel", "weft__membarrier(); /* J1", OP_FENCE, SEQ_CST, SEQ_CST,
     later},
    {"sleep/counters.c", "new_fork", "acquire E1", OP_LOAD, ACQUIRE, RELAXED, guess},
    {"actor/post.c", "weft__fiber_wake", "acquire A13", OP_LOAD, ACQUIRE, RELAXED, moved},
    {"actor/drive.c", "stop_driving", "release A5", OP_RMW, ACQ_REL, ACQUIRE, ticker},
    {"actor/drive.c", "stop_driving", "release A5", OP_RMW, ACQ_REL, RELEASE, ticker},
    {"actor/places.c", "weft__posse_may_join", "acquire A8", OP_LOAD, ACQUIRE, RELAXED, posse},
    {"actor/places.c", "weft__posse_wake", "acquire A8", OP_LOAD, ACQUIRE, RELAXED, posse},
    {"actor/places.c", "weft__posse_moves", "release A8", OP_STORE, RELEASE, RELAXED, posse},
    {"actor/delegate.c", "weft__delegation_arrives", "release A8", OP_STORE, RELEASE, RELAXED,
     posse},
    {"actor/fiber.h", "weft__fiber_is_wanted_no_more", "acquire A14", OP_LOAD, ACQUIRE, RELAXED,
     killed},
    {"sleep/tickle.c", "work_found", "fence F1 (FoundFence)", OP_FENCE, SEQ_CST, SEQ_CST, unseen},
    {"sleep/common.c", "wake_lookout", "acquire E3", OP_LOAD, ACQUIRE, RELAXED, lookout},
    {"core/wait.c", "weft__wait", "release G3: its parking place", OP_STORE, RELEASE, RELAXED,
     helper},
    {"core/wait.c", "weft__wait", "release G3: the same", OP_STORE, RELEASE, RELAXED, helper},
    {"actor/drive.c", "begin", "release A13", OP_STORE, RELEASE, RELAXED, ticker},
    {"core/deque.c", "weft__deque_push", "acquire D3", OP_LOAD, ACQUIRE, RELAXED, lb},
    {"core/deque.c", "weft__deque_pop", "seq_cst D4", OP_CAS, SEQ_CST, ACQ_REL, le},
    {"core/deque.c", "weft__deque_take", "seq_cst D4", OP_CAS, SEQ_CST, ACQ_REL, le},
    {"core/deque.c", "weft__deque_look", "seq_cst V3", OP_LOAD, SEQ_CST, ACQUIRE, tickle},
    {"sleep/events.c", "jec_step_if", "acquire E1", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/events.c", "jec_step_if", "acq_rel E1", OP_CAS, ACQ_REL, ACQUIRE, fences},
    {"sleep/events.c", "jec_step_if", "acq_rel E1", OP_CAS, ACQ_REL, RELEASE, fences},
    {"sleep/events.c", "inc_sleepers", "acquire E2", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/events.c", "inc_sleepers", "acq_rel E1", OP_CAS, ACQ_REL, RELEASE, fences},
    {"sleep/common.c", "weft__more_work_counted", "acquire E1", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/sleep.c", "give_up_room", "acq_rel E1", OP_CAS, ACQ_REL, ACQUIRE, fences},
    {"sleep/sleep.c", "give_up_room", "acq_rel E1", OP_CAS, ACQ_REL, RELEASE, fences},
    {"sleep/counters.c", "new_jobs", "acquire E1", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/counters.c", "no_work", "acq_rel E1", OP_RMW, ACQ_REL, ACQUIRE, fences},
    {"sleep/counters.c", "no_work", "acq_rel E1", OP_RMW, ACQ_REL, RELEASE, fences},
    {"sleep/tickle.c", "wake_aside", "acquire E1", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/tickle.c", "more_work", "acquire E1", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"core/block.c", "call_another", "fence F1 (LeaveFence)", OP_FENCE, SEQ_CST, SEQ_CST, leaves},
    {"core/pool.c", "weft__pool_enter_known", "acquire Y2", OP_CAS, ACQUIRE, RELAXED, anew},
    {"sleep/crowd.c", "state_cas", "seq_cst V2", OP_CAS, SEQ_CST, ACQ_REL, tickle},
    {"sleep/crowd.c", "state_cas", "acq_rel V1", OP_CAS, ACQ_REL, ACQUIRE, tickled},
    {"sleep/crowd.h", "weft__crowd_tickle", "release V1", OP_RMW, SEQ_CST, ACQ_REL, tickle},
    {"sleep/crowd.h", "weft__crowd_state", "acquire V1", OP_LOAD, ACQUIRE, RELAXED, tickled},
    {"core/block.c", "weft__block_rest", "release Z5", OP_RMW, ACQ_REL, RELEASE, rests},
    {"sync/sync.c", "nudge", "release W4", OP_RMW, ACQ_REL, RELEASE, nudges},
    {"core/block.c", "weft__block_rest", "release Z5", OP_RMW, ACQ_REL, ACQUIRE, marked},
    {"sleep/census.h", "weft__census_enter", "acq_rel Z1", OP_RMW, ACQ_REL, ACQUIRE, census},
    {"sleep/census.h", "weft__census_enter", "acq_rel Z1", OP_RMW, ACQ_REL, RELEASE, census},
    {"sleep/census.h", "weft__census_rests_last", "acq_rel Z1", OP_RMW, ACQ_REL, ACQUIRE, census},
    {"sleep/census.h", "weft__census_rouse", "acq_rel Z1", OP_RMW, ACQ_REL, ACQUIRE, census},
    {"sleep/census.h", "weft__census_rouse", "acq_rel Z1", OP_RMW, ACQ_REL, RELEASE, census},
    {"core/steal.c", "take", "release T1", OP_STORE, RELEASE, RELAXED, thief},
    {"core/publish.c", "execute_right", "release T1", OP_STORE, RELEASE, RELAXED, thief},
    {"core/search.c", "steal_from_thief", "acquire T1", OP_LOAD, ACQUIRE, RELAXED, thief},
    {"core/task.c", "task_is_over", "acq_rel O1", OP_CAS, ACQ_REL, ACQUIRE, fd},
    {"core/task.c", "task_is_over", "acq_rel O1", OP_CAS, ACQ_REL, RELEASE, fd},
    {"core/task_wait.c", "task_wait", "acquire O1", OP_RMW, ACQUIRE, RELAXED, fd},
    {"core/task.c", "task_is_over", "acq_rel O2", OP_RMW, ACQ_REL, ACQUIRE, waiter},
    {"core/task_wait.c", "wait_as_worker", "acq_rel O2", OP_CAS, ACQ_REL, RELEASE, waiter},
    {"core/threads.c", "run_worker", "acq_rel X2", OP_RMW, ACQ_REL, RELEASE, threads},
    {"actor/answer.h", "weft__answer_count", "acq_rel A4", OP_RMW, ACQ_REL, RELEASE, answers},
};

enum { KEPT = sizeof kept / sizeof kept[0], STUBBORN = sizeof stubborn / sizeof stubborn[0] };

static unsigned used[KEPT]; /* how many mutants it is for */

/* ---- Comments ---- */

enum { COMMENT_MAX = 1000, LINES_MAX = 12 };

static bool has_tag(const char *line)
{
    static const char *const sides[] = {"release ", "acquire ", "acq_rel ", "seq_cst ", "fence "};
    for (unsigned i = 0; i < sizeof sides / sizeof sides[0]; i++)
        for (const char *at = line; (at = strstr(at, sides[i])); at++) {
            const char *tag = at + strlen(sides[i]);
            size_t letters = strspn(tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
            if (letters > 0 && isdigit((unsigned char)tag[letters]))
                return true;
        }
    return false;
}

/* The lines of a file up to this one, in a ring. */
static unsigned read_lines(FILE *in, unsigned last, char lines[LINES_MAX][200])
{
    unsigned n = 0;
    while (n < last && fgets(lines[n % LINES_MAX], sizeof lines[0], in))
        n++;
    return n;
}

static void append(char *text, size_t size, const char *line)
{
    size_t used_up = strlen(text);
    bool gap = used_up > 0;
    for (line += strspn(line, " *"); *line && used_up + 2 < size; line++) {
        if (isspace((unsigned char)*line)) {
            gap = true;
            continue;
        }
        if (gap && used_up > 0)
            text[used_up++] = ' ';
        gap = false;
        text[used_up++] = *line;
    }
    text[used_up] = '\0';
}

/* What belongs to a place: its line, if that has a tag; else the nearest lines above from one that
 * has, but not beyond another statement with a tag of its own. Empty: the source is not there. */
static void comment_at(const struct site *site, char text[static COMMENT_MAX])
{
    static char lines[LINES_MAX][200];
    unsigned line = (unsigned)site->line;
    FILE *in = fopen(site->file, "r");
    text[0] = '\0';
    if (!in) {
        fprintf(stderr, "weft check: %s, where the reasons' tags are, is not there\n", site->file);
        exit(EXIT_FAILURE);
    }
    bool is_there = read_lines(in, line, lines) == line;
    fclose(in);
    if (!is_there)
        return;
    unsigned first = line;
    while (first > 1 && line - first + 1 < LINES_MAX && !has_tag(lines[(first - 1) % LINES_MAX]))
        first--;
    for (; first <= line; first++)
        append(text, COMMENT_MAX, lines[(first - 1) % LINES_MAX]);
}

/* ---- Places ---- */

static bool ends_with(const char *text, const char *tail)
{
    size_t length = strlen(text), n = strlen(tail);
    return length >= n && strcmp(text + length - n, tail) == 0;
}

static bool is_place(const struct known *known, const struct site *site)
{
    char comment[COMMENT_MAX];
    if (site->operation != known->operation || site->order != known->from ||
        !ends_with(site->file, known->file) || strcmp(site->function, known->function) != 0)
        return false;
    comment_at(site, comment);
    return strstr(comment, known->tag);
}

static bool is_for(const struct known *known, const struct mutant *mutant)
{
    return mutant->to == known->to && is_place(known, mutant->site);
}

const char *reason_for(const struct mutant *mutant)
{
    for (unsigned i = 0; i < KEPT; i++)
        if (is_for(&kept[i], mutant)) {
            used[i]++;
            return kept[i].text;
        }
    return NULL;
}

bool reason_is_stale(const struct mutant *mutant)
{
    for (unsigned i = 0; i < KEPT; i++)
        if (is_for(&kept[i], mutant)) {
            used[i]++; /* known by now */
            return true;
        }
    return false;
}

const char *stubborn_killer_of(const struct mutant *mutant)
{
    for (unsigned i = 0; i < STUBBORN; i++)
        if (is_for(&stubborn[i], mutant))
            return stubborn[i].text;
    return NULL;
}

static void print(const struct known *known, const char *what)
{
    printf("%s %s (%s): %s\n", known->file, known->function, known->tag, what);
}

/* ---- The reasons checked ---- */

extern const struct site __start_weft_sites[], __stop_weft_sites[];

/* In how many places it is true. Inline functions have a copy of theirs in each file. */
static unsigned places_of(const struct known *known)
{
    const struct site *found = NULL;
    unsigned n = 0;
    for (const struct site *site = __start_weft_sites; site < __stop_weft_sites; site++) {
        if (!is_place(known, site) || (found && found->line == site->line))
            continue;
        n++;
        found = site;
    }
    return n;
}

/* With the tag of another reason for the same function it has to be true elsewhere. */
static bool is_told_apart(const struct known *known, const struct known *other)
{
    bool same = strcmp(known->file, other->file) == 0 &&
                strcmp(known->function, other->function) == 0 &&
                strcmp(known->tag, other->tag) != 0;
    for (const struct site *site = __start_weft_sites; same && site < __stop_weft_sites; site++)
        if (is_place(known, site) && is_place(other, site))
            return false;
    return true;
}

static unsigned check_list(const struct known *list, unsigned n)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned places = places_of(&list[i]);
        if (places != 1 && ++wrong)
            print(&list[i], places ? "is true of several places" : "is true of no place");
        for (unsigned k = 0; k < n; k++)
            if (!is_told_apart(&list[i], &list[k]) && ++wrong)
                print(&list[i], "is true of another reason's place");
    }
    return wrong;
}

int reasons_check(void)
{
    static const struct known none = {
        "sleep/tickle.c", "fall_asleep", "fence F1 (EnterFence)",  OP_FENCE,
        SEQ_CST,          SEQ_CST,       "meant for another fence"};
    unsigned wrong = check_list(kept, KEPT) + check_list(stubborn, STUBBORN);
    if (places_of(&none) != 0 && ++wrong)
        print(&none, "is true of a place");
    printf("%u reasons, %u wrong\n", (unsigned)(KEPT + STUBBORN), wrong);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

unsigned reasons_stale(void)
{
    unsigned stale = 0;
    for (unsigned i = 0; i < KEPT; i++)
        if (used[i] == 0 && ++stale)
            print(&kept[i], "STALE: a reason for something that is not there");
    return stale;
}
