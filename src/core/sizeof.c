/* SPDX-License-Identifier: MIT */
/* The sizes of what programs allocate themselves, for bindings that can't read the headers. */
#include <string.h>
#include <weft/all.h>

struct type {
    const char *name;
    size_t size, alignment;
};

/* clang-format off */
#define WEFT__TYPE(type) {#type, sizeof(type), _Alignof(type)}
/* clang-format on */

/* test/lint/symbols.sh compares the names with the headers. */
static const struct type types[] = {
    WEFT__TYPE(weft_actor_config),   WEFT__TYPE(weft_actor_info),   WEFT__TYPE(weft_actors_config),
    WEFT__TYPE(weft_again),          WEFT__TYPE(weft_barrier),      WEFT__TYPE(weft_box),
    WEFT__TYPE(weft_case),           WEFT__TYPE(weft_channel),      WEFT__TYPE(weft_condition),
    WEFT__TYPE(weft_config),         WEFT__TYPE(weft_dep),          WEFT__TYPE(weft_event),
    WEFT__TYPE(weft_flow),           WEFT__TYPE(weft_hashmap_kind), WEFT__TYPE(weft_local),
    WEFT__TYPE(weft_mark),           WEFT__TYPE(weft_mutex),        WEFT__TYPE(weft_once),
    WEFT__TYPE(weft_ordmap_entry),   WEFT__TYPE(weft_ordmap_kind),  WEFT__TYPE(weft_pool_info),
    WEFT__TYPE(weft_reducer),        WEFT__TYPE(weft_rwlock),       WEFT__TYPE(weft_scope),
    WEFT__TYPE(weft_semaphore),      WEFT__TYPE(weft_stage),        WEFT__TYPE(weft_state),
    WEFT__TYPE(weft_submit_options), WEFT__TYPE(weft_task),         WEFT__TYPE(weft_text),
    WEFT__TYPE(weft_timer),          WEFT__TYPE(weft_worker_info),
};

static const struct type *find(const char *name)
{
    static const struct type none = {NULL, 0, 0};
    for (size_t i = 0; name && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return &none;
}

size_t weft_sizeof(const char *type)
{
    return find(type)->size;
}

size_t weft_alignof(const char *type)
{
    return find(type)->alignment;
}
