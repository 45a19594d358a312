/* SPDX-License-Identifier: MIT */
/* The peers openmp-gnu and openmp-llvm: tasks, and taskwait; `parallel for` in stencil, matmul,
 * histogram and words, `parallel for simd` in reductions; tasks that depend on others in flow-...
 */
#include "../common/runtime.h"

#include "../../bnb/bnb.h"
#include "../../bursty/bursty.h"
#include "../../clock.h"
#include "../../dfs/dfs.h"
#include "../../epoll/server.h"
#include "../../fft/fft.h"
#include "../../fib/fib.h"
#include "../../graph/graph.h"
#include "../../health/health.h"
#include "../../increment-all/increment.h"
#include "../../join-recursively/join.h"
#include "../../matmul/matmul.h"
#include "../../nbody/nbody.h"
#include "../../nqueens/nqueens.h"
#include "../../reductions/reductions.h"
#include "../../sort/sort.h"
#include "../../sparselu/sparselu.h"
#include "../../spawn/spawn.h"
#include "../../stencil/stencil.h"
#include "../../strassen/strassen.h"
#include "../../treesum/treesum.h"
#include "../../typed/typed.h"
#include "../../walk/walk.h"
#include "../../words/words.h"

#include <string.h>

#include <math.h>

static unsigned workers;

void runtime_open(unsigned count)
{
    workers = count;
}

static void enter(void (*job)(void *data), void *data)
{
#pragma omp parallel num_threads(workers)
#pragma omp single
    job(data);
}

/* ---- fib ---- */

static long fib(long n)
{
    if (n < 2)
        return n;
    long left, right;
#pragma omp task shared(right)
    right = fib(n - 2);
    left = fib(n - 1);
#pragma omp taskwait
    return left + right;
}

static void fib_job(void *data)
{
    struct fib *f = data;
    f->result = fib(f->n);
}

static void fib_run(void *data)
{
    enter(fib_job, data);
}

/* ---- treesum ---- */

static long sum(const struct node *node)
{
    if (!node->left)
        return node->value;
    long left, right;
#pragma omp task shared(right)
    right = sum(node->right);
    left = sum(node->left);
#pragma omp taskwait
    return node->value + left + right;
}

static void treesum_job(void *data)
{
    struct treesum *t = data;
    t->result = sum(t->nodes);
}

static void treesum_run(void *data)
{
    enter(treesum_job, data);
}

/* ---- join-recursively ---- */

static void split(uint64_t *elements, size_t count)
{
    if (count == 1) {
        elements[0]++;
        return;
    }
    size_t half = count / 2;
#pragma omp task
    split(elements + half, count - half);
    split(elements, half);
#pragma omp taskwait
}

static void join_job(void *data)
{
    struct numbers *j = data;
    for (int i = 0; i < JOIN_TIMES; i++)
        split(j->elements, j->count);
}

static void join_run(void *data)
{
    enter(join_job, data);
}

/* ---- increment-all ---- */

static void increment(uint64_t *elements, size_t count)
{
    if (count <= INCREMENT_LEAF) {
        increment_range(elements, count);
        return;
    }
    size_t half = count / 2;
#pragma omp task
    increment(elements + half, count - half);
    increment(elements, half);
#pragma omp taskwait
}

static void increment_job(void *data)
{
    struct numbers *all = data;
    for (int i = 0; i < INCREMENT_TIMES; i++)
        increment(all->elements, all->count);
}

static void increment_run(void *data)
{
    enter(increment_job, data);
}

/* ---- nbody-parreduce ---- */

static struct vector pull(const struct body *bodies, size_t lo, size_t hi, struct vector place)
{
    if (hi - lo <= NBODY_LEAF)
        return nbody_pull(bodies, lo, hi, place);
    size_t middle = lo + (hi - lo) / 2;
    struct vector left, right;
#pragma omp task shared(right)
    right = pull(bodies, middle, hi, place);
    left = pull(bodies, lo, middle, place);
#pragma omp taskwait
    return vector_add(left, right);
}

static void move(struct nbody *n, size_t lo, size_t hi)
{
    if (hi - lo == 1) {
        n->next[lo] = nbody_move(n->now[lo], pull(n->now, 0, n->count, n->now[lo].position));
        return;
    }
    size_t middle = lo + (hi - lo) / 2;
#pragma omp task
    move(n, middle, hi);
    move(n, lo, middle);
#pragma omp taskwait
}

static void nbody_job(void *data)
{
    struct nbody *n = data;
    for (int tick = 0; tick < NBODY_TICKS; tick++) {
        move(n, 0, n->count);
        nbody_swap(n);
    }
}

static void nbody_run(void *data)
{
    enter(nbody_job, data);
}

/* ---- nqueens ---- */

static long row(unsigned all, unsigned columns, unsigned left, unsigned right);

static long candidates(unsigned all, unsigned columns, unsigned left, unsigned right, unsigned bits)
{
    unsigned queen = lowest_bit(bits), others = bits ^ queen;
    if (!others)
        return row(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    long here, elsewhere;
#pragma omp task shared(elsewhere)
    elsewhere = candidates(all, columns, left, right, others);
    here = row(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
#pragma omp taskwait
    return here + elsewhere;
}

static long row(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned bits = all & ~(columns | left | right);
    return bits ? candidates(all, columns, left, right, bits) : 0;
}

static void nqueens_job(void *data)
{
    struct nqueens *q = data;
    q->result = row(nqueens_all(q->n), 0, 0, 0);
}

static void nqueens_run(void *data)
{
    enter(nqueens_job, data);
}

/* ---- sort ---- */

static void sort(uint64_t *elements, size_t count)
{
    if (count <= SORT_LEAF) {
        sort_sequential(elements, count);
        return;
    }
    size_t first = sort_partition(elements, count);
#pragma omp task
    sort(elements + first, count - first);
    sort(elements, first);
#pragma omp taskwait
}

static void sort_job(void *data)
{
    struct numbers *s = data;
    sort(s->elements, s->count);
}

static void sort_run(void *data)
{
    enter(sort_job, data);
}

/* ---- bursty ---- */

struct part {
    uint64_t lo, hi, result;
};

static uint64_t burst(uint64_t lo, uint64_t hi)
{
    if (hi - lo == 1)
        return bursty_leaf(lo);
    uint64_t middle = lo + (hi - lo) / 2, left, right;
#pragma omp task shared(right)
    right = burst(middle, hi);
    left = burst(lo, middle);
#pragma omp taskwait
    return left + right;
}

static void burst_job(void *data)
{
    struct part *part = data;
    part->result = burst(part->lo, part->hi);
}

static void bursty_run(void *data)
{
    struct bursty *b = data;
    for (unsigned i = 0; i < b->bursts; i++) {
        uint64_t lo = (uint64_t)i * BURSTY_LEAVES;
        struct part all = {lo, lo + BURSTY_LEAVES, 0};
        enter(burst_job, &all);
        b->result += all.result;
        clock_rest(BURSTY_PAUSE);
    }
}

/* ---- dfs ---- */

static long search(long width, long depth)
{
    if (depth == 0)
        return 1;
    long results[width], leaves = 0;
    for (long i = 0; i < width; i++) {
#pragma omp task shared(results)
        results[i] = search(width, depth - 1);
    }
#pragma omp taskwait
    for (long i = 0; i < width; i++)
        leaves += results[i];
    return leaves;
}

static void dfs_job(void *data)
{
    struct dfs *d = data;
    d->result = search(d->width, d->depth);
}

static void dfs_run(void *data)
{
    enter(dfs_job, data);
}

/* ---- stencil ---- */

/* What `parallel for` makes of a plain loop: a part for each thread. The loop is everybody's. */
static void step(const struct stencil *s)
{
#pragma omp parallel for num_threads(workers) schedule(static)
    for (unsigned part = 0; part < workers; part++)
        stencil_range(s->y, s->x, s->count * part / workers, s->count * (part + 1) / workers);
}

static void stencil_run(void *data)
{
    struct stencil *s = data;
    for (int i = 0; i < STENCIL_STEPS; i++) {
        step(s);
        stencil_swap(s);
    }
}

/* ---- histogram ---- */

/* A table for each thread, added up in the end. */
static void histogram_run(void *data)
{
    struct typed *t = data;
    for (int times = 0; times < TYPED_TIMES; times++) {
        size_t counts[TYPED_BINS] = {0};
#pragma omp parallel for num_threads(workers) schedule(static) reduction(+ : counts)
        for (size_t i = 0; i < t->count; i++)
            counts[typed_bin(t->in[i])]++;
        for (size_t i = 0; i < TYPED_BINS; i++)
            t->counts[i] = counts[i];
    }
}

/* ---- words ---- */

/* The first beginning of a line from `at` on. */
static const char *line_begin(const struct words *words, size_t at)
{
    const char *end = words->bytes + words->size;
    if (at == 0 || at >= words->size)
        return at ? end : words->bytes;
    const char *newline = memchr(words->bytes + at - 1, '\n', words->size - at + 1);
    return newline ? newline + 1 : end;
}

static void words_run(void *data)
{
    enum { CHUNK = 1 << 20 };
    struct words *words = data;
    size_t chunks = (words->size + CHUNK - 1) / CHUNK;
#pragma omp parallel num_threads(workers)
    {
        struct words_table mine = {0};
#pragma omp for schedule(dynamic) nowait
        for (size_t i = 0; i < chunks; i++)
            words_add(&mine, line_begin(words, i * CHUNK), line_begin(words, (i + 1) * CHUNK));
#pragma omp critical
        words_move(&words->table, &mine);
    }
}

/* ---- flow-... ---- */

/* The compilers don't see that the clauses use these. */
static void flow_job(void *data)
{
    const struct graph *g = data;
    const uint32_t *before = g->before;
    uint64_t *values = g->values;
    (void)before;
    (void)values;
    for (size_t i = 0; i < g->n; i++) {
        int first = (int)g->first[i], end = (int)g->first[i + 1];
        (void)first;
        (void)end;
/* clang-format off */
#pragma omp task depend(iterator(k = first : end), in : values[before[k]]) depend(out : values[i])
        graph_node(g, i);
        /* clang-format on */
    }
}

static void flow_run(void *data)
{
    enter(flow_job, data);
}

/* ---- reductions ---- */

#if defined __clang__ /* does not know a maximum of floats for a reduction, and says so */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#define REDUCTION(name, type, first, operator, expression)                 \
    static type name(const type *numbers, size_t n)                        \
    {                                                                      \
        type all = first;                                                  \
        PRAGMA(omp parallel for simd num_threads(workers) schedule(static)                 \
            firstprivate(numbers) reduction(operator:all))                 \
        for (size_t i = 0; i < n; i++)                                     \
            all = expression;                                              \
        return all;                                                        \
    }                                                                      \
    static void name##_run(void *data)                                     \
    {                                                                      \
        struct reductions *r = data;                                       \
        for (size_t t = 0; t < r->times; t++)                              \
            r->result += (double)name(r->numbers, r->count);               \
    }

REDUCTION(sum_f32, float, 0, +, all + numbers[i])
REDUCTION(sum_f64, double, 0, +, all + numbers[i])
REDUCTION(sum_i32, int32_t, 0, +, all + numbers[i])
REDUCTION(max_f32, float, -INFINITY, max, numbers[i] > all ? numbers[i] : all)

/* ---- spawn ---- */

static void spawn_job(void *data)
{
    struct spawns *s = data;
    for (unsigned i = 0; i < s->scopes; i++) {
        for (int j = 0; j < SPAWN_CHILDREN; j++)
#pragma omp task
            spawn_work(s->sums[j]);
#pragma omp taskwait
    }
}

static void spawn_run(void *data)
{
    enter(spawn_job, data);
}

/* ---- sparselu ---- */

static void sparselu_if_due(struct lu *lu, size_t k, size_t i, size_t j)
{
    if (lu_is_due(lu, k, i, j)) {
#pragma omp task
        lu_run(lu, k, i, j);
    }
}

static void sparselu_job(void *data)
{
    struct lu *lu = data;
    for (size_t k = 0; k < lu->n; k++) {
        lu_factor(lu_at(lu, k, k));
        for (size_t i = k + 1; i < lu->n; i++) {
            sparselu_if_due(lu, k, k, i);
            sparselu_if_due(lu, k, i, k);
        }
#pragma omp taskwait
        for (size_t i = k + 1; i < lu->n; i++)
            for (size_t j = k + 1; j < lu->n; j++)
                sparselu_if_due(lu, k, i, j);
#pragma omp taskwait
    }
}

static void sparselu_run(void *data)
{
    enter(sparselu_job, data);
}

/* ---- health ---- */

static void simulate(struct village *village)
{
    if (!village->children) {
        health_step(village);
        return;
    }
    for (int i = 0; i < HEALTH_BRANCHES; i++)
#pragma omp task
        simulate(&village->children[i]);
    health_step(village);
#pragma omp taskwait
    health_collect(village);
}

static void health_job(void *data)
{
    struct health *health = data;
    for (unsigned i = 0; i < health->steps; i++)
        simulate(&health->villages[0]);
}

static void health_run(void *data)
{
    enter(health_job, data);
}

/* ---- strassen ---- */

static void multiply(const struct product *product)
{
    if (product->n <= STRASSEN_LEAF) {
        strassen_leaf(product);
        return;
    }
    struct strassen_node node;
    strassen_split(product, &node);
    for (int i = 0; i < STRASSEN_PRODUCTS; i++)
#pragma omp task shared(node)
        multiply(&node.products[i]);
#pragma omp taskwait
    strassen_combine(product, &node);
}

static void strassen_job(void *data)
{
    struct product whole = strassen_whole(data);
    multiply(&whole);
}

static void strassen_run(void *data)
{
    enter(strassen_job, data);
}

/* ---- fft ---- */

static void combine(const struct fft_part *part, size_t begin, size_t end)
{
    if (end - begin <= FFT_PASS) {
        fft_combine(part, begin, end);
        return;
    }
    size_t middle = begin + (end - begin) / 2;
#pragma omp task
    combine(part, middle, end);
    combine(part, begin, middle);
#pragma omp taskwait
}

static void transform(const struct fft_part *part)
{
    if (part->n <= FFT_LEAF) {
        fft_transform(part);
        return;
    }
    struct fft_part even = fft_even(part), odd = fft_odd(part);
#pragma omp task shared(odd)
    transform(&odd);
    transform(&even);
#pragma omp taskwait
    combine(part, 0, part->n / 2);
}

static void fft_job(void *data)
{
    struct fft_part whole = fft_whole(data);
    transform(&whole);
}

static void fft_run(void *data)
{
    enter(fft_job, data);
}

/* ---- bnb ---- */

static void branch(struct bnb *b, size_t i, int64_t value, int64_t room)
{
    if (i == b->n) {
        bnb_offer(b, value);
        return;
    }
    if (bnb_is_hopeless(b, i, value, room))
        return;
    if (!bnb_fits(b, i, room)) {
        branch(b, i + 1, value, room);
        return;
    }
#pragma omp task
    branch(b, i + 1, value, room);
    branch(b, i + 1, value + b->items[i].value, room - b->items[i].weight);
#pragma omp taskwait
}

static void bnb_job(void *data)
{
    struct bnb *b = data;
    branch(b, 0, 0, b->capacity);
}

static void bnb_run(void *data)
{
    enter(bnb_job, data);
}

/* ---- matmul ---- */

static void matmul_run(void *data)
{
    const struct matmul *m = data;
#pragma omp parallel for num_threads(workers) collapse(2)
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++)
            matmul_at(m, i, j);
}

/* ---- walk ---- */

static void visit(struct walk *walk, size_t folder)
{
    walk_wait();
    for (size_t i = 0, child; i < WALK_CHILDREN && (child = walk_child(walk, folder, i)); i++)
#pragma omp task
        visit(walk, child);
    walk_read(walk, folder);
}

/* More threads than CPUs, or it would wait for one folder after the other. */
static void walk_run(void *data)
{
#pragma omp parallel num_threads(workers + WALK_SPARES)
#pragma omp single
    visit(data, 0);
}

/* ---- epoll ---- */

static void serve(struct server_request *request, void *data)
{
#pragma omp task
    {
        server_compute(request);
        server_tell(data, request);
    }
}

/* The loop has a thread beside the workers, as elsewhere. */
static void epoll_run(void *data)
{
    struct server *server = data;
#pragma omp parallel num_threads(workers + 1)
#pragma omp single
    server_loop(server, &(struct server_runtime){serve, server->over_fd, server_next, server});
}

const struct runtime_benchmark runtime_benchmarks[] = {
    {&fib_kernel, fib_run},
    {&treesum_kernel, treesum_run},
    {&join_kernel, join_run},
    {&increment_kernel, increment_run},
    {&nbody_kernel, nbody_run},
    {&nqueens_kernel, nqueens_run},
    {&sort_kernel, sort_run},
    {&bursty_kernel, bursty_run},
    {&stencil_kernel, stencil_run},
    {&histogram_kernel, histogram_run},
    {&words_kernel, words_run},
    {&flow_chain_kernel, flow_run},
    {&flow_tree_kernel, flow_run},
    {&flow_wavefront_kernel, flow_run},
    {&flow_dag_kernel, flow_run},
    {&sum_f32_kernel, sum_f32_run},
    {&sum_f32_cached_kernel, sum_f32_run},
    {&sum_f64_kernel, sum_f64_run},
    {&sum_f64_cached_kernel, sum_f64_run},
    {&sum_i32_kernel, sum_i32_run},
    {&sum_i32_cached_kernel, sum_i32_run},
    {&max_f32_kernel, max_f32_run},
    {&max_f32_cached_kernel, max_f32_run},
    {&dfs_2_kernel, dfs_run},
    {&dfs_8_kernel, dfs_run},
    {&dfs_400_kernel, dfs_run},
    {&spawn_kernel, spawn_run},
    {&sparselu_kernel, sparselu_run},
    {&health_kernel, health_run},
    {&strassen_kernel, strassen_run},
    {&fft_kernel, fft_run},
    {&bnb_kernel, bnb_run},
    {&matmul_kernel, matmul_run},
    {&walk_kernel, walk_run},
    {&epoll_kernel, epoll_run},
    {NULL, NULL},
};
