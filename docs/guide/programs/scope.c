/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>
#include <weft.h>

/* [scope] */
struct crawl {
    weft_scope scope;
    atomic_int seen;
    atomic_int error;
};

struct page {
    struct crawl *crawl;
    int depth;
};

/* A child may spawn more children into the same scope. */
static void visit(weft *w, void *arg)
{
    const struct page *page = arg; /* a copy: it is this child's own */
    struct crawl *crawl = page->crawl;
    atomic_fetch_add(&crawl->seen, 1);
    if (page->depth == 0)
        return;
    for (int link = 0; link < 3; link++) {
        struct page next = {crawl, page->depth - 1};
        int error = weft_spawn_copy(w, &crawl->scope, visit, &next, sizeof next, NULL);
        if (error)
            atomic_store(&crawl->error, error);
    }
}

static void run(weft *w, void *arg)
{
    struct crawl *crawl = arg;
    struct page first = {crawl, 5};
    weft_scope_open(w, &crawl->scope);
    int error = weft_spawn_copy(w, &crawl->scope, visit, &first, sizeof first, NULL);
    int failure = weft_scope_close(w, &crawl->scope); /* all children are over */
    if (error || failure)
        weft_fail(w, error ? error : failure);
}
/* [end] */

int main(void)
{
    struct crawl crawl = {.seen = 0};
    int error = weft_run(NULL, run, &crawl);
    if (error || crawl.error)
        return 1;
    printf("%d pages\n", crawl.seen); /* 1 + 3 + 9 + 27 + 81 + 243 */
}
