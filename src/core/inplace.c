/* SPDX-License-Identifier: MIT */
#include "core/inplace.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "os/fatal.h"
#include "os/memory.h"

#include <errno.h>
#include <string.h>

/* ---- Arguments that are kept ---- */

struct entry {
    size_t fork; /* how many forks were in place before it */
    uint64_t words[sizeof((struct weft__slot *)0)->words / sizeof(uint64_t)];
};

struct weft__left {
    struct weft__left *below;
    size_t count;
    struct entry entries[1000];
};

static struct entry *newest(struct weft__context *context)
{
    struct weft__left *kept = context->kept;
    return kept ? &kept->entries[kept->count - 1] : NULL;
}

static void drop_newest(struct weft__context *context)
{
    struct weft__left *kept = context->kept;
    if (--kept->count > 0)
        return;
    context->kept = kept->below;
    weft__free(kept);
}

/* An actor that ended may have left entries behind. */
static bool put(struct weft__context *context)
{
    struct entry *entry;
    while ((entry = newest(context)) && entry->fork >= context->in_place)
        drop_newest(context);
    struct weft__left *kept = context->kept;
    if (!kept || kept->count == sizeof kept->entries / sizeof kept->entries[0]) {
        struct weft__left *more = weft__alloc(sizeof *more);
        if (!more)
            return false;
        more->below = kept;
        context->kept = kept = more;
    }
    entry = &kept->entries[kept->count++];
    entry->fork = context->in_place;
    memcpy(entry->words, weft__slot_of(context->end)->words, sizeof entry->words);
    return true;
}

/* False: no memory. An actor past its limit ends here. */
static bool keep(struct weft__context *context)
{
    if (context->ops)
        weft__hook_uses(context, sizeof(struct entry));
    bool is_put = put(context);
    if (!is_put && context->ops)
        weft__hook_uses_no_more(context, sizeof(struct entry));
    return is_put;
}

static void put_back(struct weft__context *context)
{
    struct entry *entry;
    while ((entry = newest(context)) && entry->fork >= context->in_place) {
        bool own = entry->fork == context->in_place;
        if (own)
            memcpy(weft__slot_of(context->end)->words, entry->words, sizeof entry->words);
        drop_newest(context);
        if (own && context->ops)
            weft__hook_uses_no_more(context, sizeof *entry);
    }
}

void weft__kept_free(struct weft__context *context)
{
    while (context->kept) {
        context->kept->count = 1;
        drop_newest(context);
    }
}

/* ---- Fork and merge ---- */

weft *weft__fork_in_place(struct weft__context *context)
{
    weft *w = context->end;
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->fn, NULL); /* relaxed, both: used by this thread only */
    bool has_words = atomic_load_relaxed(&slot->arg) == w; /* as WEFT_FORK_IN leaves it */
    bool kept = !has_words || keep(context);
    context->in_place++;
    if (!kept) /* so its merge says that it was skipped */
        weft__fail(w, -ENOMEM);
    weft__poll(w);
    return w - 1;
}

bool weft__merge_in_place(struct weft__context *context)
{
    weft *w = context->end;
    weft__poll(w); /* other members of an actor may run in w, so this comes first */
    if (context->in_place == 0)
        weft__fatal("weft_merge without weft_fork");
    context->in_place--;
    put_back(context);
    if (context->in_place == 0)
        return weft__is_cancelled(w); /* which tells the merges in all slots, too, and takes long */
    bool noticed = false;
    bool cancelled = weft__context_look(context, &noticed) == GROUP_CANCELLED;
    if (noticed)
        weft__alert_parts(context);
    return cancelled;
}

weft *weft_outer_slow_(weft *w)
{
    struct weft__context *context = weft__context_of(w);
    return w == context->end && context->in_place ? w : w - 1;
}
