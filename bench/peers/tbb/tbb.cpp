/* SPDX-License-Identifier: MIT */
/* The peer tbb: oneTBB in an arena of so many threads: parallel_invoke where weft forks, and its
 * own loops, which choose their grain themselves, where weft has loops. */
#include "../common/runtime.h"

#include "../../actors/fair.h"
#include "../../arrays/arrays.h"
#include "../../bnb/bnb.h"
#include "../../bursty/bursty.h"
#include "../../captured/captured.h"
#include "../../clock.h"
#include "../../containers/containers.h"
#include "../../epoll/server.h"
#include "../../fft/fft.h"
#include "../../fib/fib.h"
#include "../../graph/graph.h"
#include "../../increment-all/increment.h"
#include "../../join-recursively/join.h"
#include "../../loops/loops.h"
#include "../../matmul/matmul.h"
#include "../../nbody/nbody.h"
#include "../../neighbours/joins.h"
#include "../../nqueens/nqueens.h"
#include "../../sort/sort.h"
#include "../../sort/sorts.h"
#include "../../stencil/stencil.h"
#include "../../strassen/strassen.h"
#include "../../treesum/treesum.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <tbb/blocked_range.h>
#include <tbb/blocked_range2d.h>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_unordered_map.h>
#include <tbb/concurrent_vector.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <vector>

using tbb::parallel_invoke;
using range = tbb::blocked_range<size_t>;

namespace
{

std::unique_ptr<tbb::global_control> control;
std::unique_ptr<tbb::task_arena> arena;

long fib(long n)
{
    if (n < 2)
        return n;
    long left, right;
    parallel_invoke([&] { left = fib(n - 1); }, [&] { right = fib(n - 2); });
    return left + right;
}

void fib_run(void *data)
{
    auto f = static_cast<struct fib *>(data);
    arena->execute([&] { f->result = fib(f->n); });
}

long sum(const node *node)
{
    if (!node->left)
        return node->value;
    long left, right;
    parallel_invoke([&] { left = sum(node->left); }, [&] { right = sum(node->right); });
    return node->value + left + right;
}

void treesum_run(void *data)
{
    auto t = static_cast<treesum *>(data);
    arena->execute([&] { t->result = sum(t->nodes); });
}

void split(uint64_t *elements, size_t count)
{
    if (count == 1) {
        elements[0]++;
        return;
    }
    size_t half = count / 2;
    parallel_invoke([=] { split(elements, half); }, [=] { split(elements + half, count - half); });
}

void join_run(void *data)
{
    auto j = static_cast<numbers *>(data);
    arena->execute([&] {
        for (int i = 0; i < JOIN_TIMES; i++)
            split(j->elements, j->count);
    });
}

void increment_run(void *data)
{
    auto all = static_cast<numbers *>(data);
    auto body = [=](range r) { increment_range(all->elements + r.begin(), r.size()); };
    arena->execute([&] {
        for (int i = 0; i < INCREMENT_TIMES; i++)
            tbb::parallel_for(range(0, all->count), body);
    });
}

vector pull(const body *bodies, size_t lo, size_t hi, vector place)
{
    if (hi - lo <= NBODY_LEAF)
        return nbody_pull(bodies, lo, hi, place);
    size_t middle = lo + (hi - lo) / 2;
    vector left, right;
    parallel_invoke([&] { left = pull(bodies, lo, middle, place); },
                    [&] { right = pull(bodies, middle, hi, place); });
    return vector_add(left, right);
}

void move(nbody *n, size_t lo, size_t hi)
{
    if (hi - lo == 1) {
        n->next[lo] = nbody_move(n->now[lo], pull(n->now, 0, n->count, n->now[lo].position));
        return;
    }
    size_t middle = lo + (hi - lo) / 2;
    parallel_invoke([=] { move(n, lo, middle); }, [=] { move(n, middle, hi); });
}

void nbody_run(void *data)
{
    auto n = static_cast<nbody *>(data);
    arena->execute([&] {
        for (int tick = 0; tick < NBODY_TICKS; tick++) {
            move(n, 0, n->count);
            nbody_swap(n);
        }
    });
}

long row(unsigned all, unsigned columns, unsigned left, unsigned right);

long candidates(unsigned all, unsigned columns, unsigned left, unsigned right, unsigned bits)
{
    unsigned queen = lowest_bit(bits), others = bits ^ queen;
    auto here = [=] {
        return row(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    };
    if (!others)
        return here();
    long one, more;
    parallel_invoke([&] { one = here(); },
                    [&] { more = candidates(all, columns, left, right, others); });
    return one + more;
}

long row(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned bits = all & ~(columns | left | right);
    return bits ? candidates(all, columns, left, right, bits) : 0;
}

void nqueens_run(void *data)
{
    auto q = static_cast<nqueens *>(data);
    arena->execute([&] { q->result = row(nqueens_all(q->n), 0, 0, 0); });
}

void quicksort(uint64_t *elements, size_t count)
{
    if (count <= SORT_LEAF) {
        sort_sequential(elements, count);
        return;
    }
    size_t first = sort_partition(elements, count);
    parallel_invoke([=] { quicksort(elements, first); },
                    [=] { quicksort(elements + first, count - first); });
}

void sort_run(void *data)
{
    auto s = static_cast<numbers *>(data);
    arena->execute([&] { quicksort(s->elements, s->count); });
}

void sorts_run(void *data)
{
    auto s = static_cast<sorts *>(data);
    arena->execute([&] { tbb::parallel_sort(s->elements, s->elements + s->count); });
}

void sorts_std_run(void *data)
{
    auto s = static_cast<sorts *>(data);
    std::sort(s->elements, s->elements + s->count);
}

uint64_t burst(uint64_t lo, uint64_t hi)
{
    if (hi - lo == 1)
        return bursty_leaf(lo);
    uint64_t middle = lo + (hi - lo) / 2, left, right;
    parallel_invoke([&] { left = burst(lo, middle); }, [&] { right = burst(middle, hi); });
    return left + right;
}

void bursty_run(void *data)
{
    auto b = static_cast<bursty *>(data);
    for (unsigned i = 0; i < b->bursts; i++) {
        uint64_t lo = uint64_t{i} * BURSTY_LEAVES;
        arena->execute([&] { b->result += burst(lo, lo + BURSTY_LEAVES); });
        clock_rest(BURSTY_PAUSE);
    }
}

void loops_for(const loops *l, size_t count)
{
    tbb::parallel_for(range(0, count),
                      [=](range r) { loops_range(l->numbers, r.begin(), r.end()); });
}

void for_run(void *data)
{
    auto l = static_cast<loops *>(data);
    arena->execute([&] {
        for (int i = 0; i < LOOPS_TIMES; i++)
            loops_for(l, l->count);
    });
}

void floats_run(void *data)
{
    auto l = static_cast<loops *>(data);
    arena->execute([&] {
        for (size_t i = 0; i < l->size; i++)
            loops_for(l, LOOPS_FLOATS);
    });
}

void short_run(void *data)
{
    auto l = static_cast<loops *>(data);
    arena->execute([&] {
        for (size_t i = 0; i < l->size; i++)
            loops_for(l, loops_short[i % 4]);
    });
}

void map_run(void *data)
{
    auto l = static_cast<loops *>(data);
    float *numbers = l->numbers;
    auto body = [=](range r) {
        for (size_t i = r.begin(); i < r.end(); i++)
            numbers[i] = loops_half(numbers[i]);
    };
    arena->execute([&] {
        for (int t = 0; t < LOOPS_TIMES; t++)
            tbb::parallel_for(range(0, l->count), body);
    });
}

void reduce_run(void *data)
{
    auto l = static_cast<loops *>(data);
    auto body = [=](range r, double sum) {
        return sum + loops_sum(l->numbers, r.begin(), r.end());
    };
    arena->execute([&] {
        for (int t = 0; t < LOOPS_TIMES; t++)
            l->result += tbb::parallel_reduce(range(0, l->count), 0.0, body, std::plus<double>());
    });
}

void scan_run(void *data)
{
    auto a = static_cast<arrays *>(data);
    auto body = [=](range r, uint64_t sum, bool is_final) {
        for (size_t i = r.begin(); i < r.end(); i++) {
            sum = arrays_add(sum, a->in[i]);
            if (is_final)
                a->out[i] = sum;
        }
        return sum;
    };
    arena->execute([&] {
        for (int t = 0; t < ARRAYS_TIMES; t++)
            tbb::parallel_scan(range(0, a->count), uint64_t{0}, body, std::plus<uint64_t>());
    });
}

/* How many were kept to the left says where the next one goes. */
void filter_run(void *data)
{
    auto a = static_cast<arrays *>(data);
    auto body = [=](range r, size_t kept, bool is_final) {
        for (size_t i = r.begin(); i < r.end(); i++) {
            bool keep = arrays_keep(a->in[i]);
            if (is_final && keep)
                a->out[kept] = a->in[i];
            kept += keep;
        }
        return kept;
    };
    arena->execute([&] {
        for (int t = 0; t < ARRAYS_TIMES; t++)
            a->result =
                tbb::parallel_scan(range(0, a->count), size_t{0}, body, std::plus<size_t>());
    });
}

size_t find_first(const arrays *a, uint64_t value)
{
    std::atomic<size_t> first{a->count};
    tbb::parallel_for(range(0, a->count), [&](range r) {
        size_t known = first.load(std::memory_order_relaxed);
        if (known < r.begin())
            return;
        size_t found = arrays_find(a->in, r.begin(), r.end(), value);
        while (found < r.end() && found < known && !first.compare_exchange_weak(known, found))
            ;
    });
    return first;
}

void find_run(void *data)
{
    auto a = static_cast<arrays *>(data);
    arena->execute([&] {
        for (int i = 0; i < ARRAYS_NEEDLES; i++)
            a->result += find_first(a, arrays_needle(a, i));
    });
}

void stencil_run(void *data)
{
    auto s = static_cast<stencil *>(data);
    auto body = [=](range r) { stencil_range(s->y, s->x, r.begin(), r.end()); };
    arena->execute([&] {
        for (int i = 0; i < STENCIL_STEPS; i++) {
            tbb::parallel_for(range(0, s->count), body);
            stencil_swap(s);
        }
    });
}

uint64_t fair_work(uint64_t seed, unsigned lo, unsigned hi)
{
    if (hi - lo == 1)
        return fair_leaf(seed, lo);
    unsigned middle = lo + (hi - lo) / 2;
    uint64_t left, right;
    parallel_invoke([&] { left = fair_work(seed, lo, middle); },
                    [&] { right = fair_work(seed, middle, hi); });
    return left + right;
}

void fair_greedy(fair *f, unsigned levels)
{
    if (fair_stopped(f))
        return;
    if (levels == 0) {
        fair_greedy_leaf(levels);
        return;
    }
    parallel_invoke([=] { fair_greedy(f, levels - 1); }, [=] { fair_greedy(f, levels - 1); });
}

/* One in which the client is none of the workers, as elsewhere. Of threads that are none, so many
 * find a place in it. Made on first use. */
tbb::task_arena *arena_beside(int places)
{
    static std::unique_ptr<tbb::task_arena> all;
    if (!all) {
        int workers = arena->max_concurrency();
        control.reset();
        control = std::make_unique<tbb::global_control>(
            tbb::global_control::max_allowed_parallelism, workers + 1);
        all = std::make_unique<tbb::task_arena>(workers + places, places);
    }
    return all.get();
}

void fair_run(void *data)
{
    auto request = [](fair_request *r, void *all) {
        static_cast<tbb::task_arena *>(all)->enqueue(
            [=] { fair_request_over(r, fair_work(r->seed, 0, FAIR_LEAVES)); });
    };
    auto greedy = [](fair *f, void *all) {
        static_cast<tbb::task_arena *>(all)->enqueue([=] {
            fair_greedy(f, FAIR_GREEDY_LEVELS);
            fair_greedy_over(f);
        });
    };
    fair_runtime runtime{request, greedy, arena_beside(0)};
    fair_client(static_cast<fair *>(data), &runtime);
}

void joins_fine_run(void *data)
{
    auto j = static_cast<joins *>(data);
    for (unsigned i = 0; i < j->runs; i++)
        arena->execute([] { parallel_invoke([] {}, [] {}); });
}

void joins_failing_run(void *data)
{
    auto j = static_cast<joins *>(data);
    for (unsigned i = 0; i < j->runs; i++)
        j->failed += arena->execute([] {
            tbb::task_group_context group;
            parallel_invoke([&] { group.cancel_group_execution(); }, [] {}, group);
            return group.is_group_execution_cancelled();
        });
}

void joins_throwing_run(void *data)
{
    auto j = static_cast<joins *>(data);
    for (unsigned i = 0; i < j->runs; i++) {
        try {
            arena->execute([] { parallel_invoke([] { throw 1; }, [] {}); });
        } catch (int) {
            j->failed++;
        }
    }
}

uint64_t captured_sum(uint64_t lo, uint64_t hi)
{
    if (hi - lo == 1)
        return captured_leaf(lo);
    uint64_t middle = lo + (hi - lo) / 2, left, right;
    parallel_invoke([&] { left = captured_sum(lo, middle); },
                    [&] { right = captured_sum(middle, hi); });
    return left + right;
}

/* The caller has a place of its own and computes, as a guest of weft's does. */
void captured_run(void *data)
{
    auto start = [](captured_task *task, void *all) {
        static_cast<tbb::task_arena *>(all)->enqueue([=] { captured_task_run(task); });
    };
    auto call = [](uint64_t first, void *all) {
        return static_cast<tbb::task_arena *>(all)->execute(
            [=] { return captured_sum(first, first + CAPTURED_LEAVES); });
    };
    captured_runtime runtime{start, call, arena_beside(1)};
    captured_client(static_cast<captured *>(data), &runtime);
}

// The graph is made in the first run, and used again in the others.
struct flow_graph {
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
    tbb::flow::graph graph;
    std::vector<std::unique_ptr<node>> nodes;
    std::vector<node *> sources;

    explicit flow_graph(const struct graph *g)
    {
        for (size_t i = 0; i < g->n; i++) {
            nodes.push_back(std::make_unique<node>(
                graph, [g, i](const tbb::flow::continue_msg &) { graph_node(g, i); }));
            for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
                tbb::flow::make_edge(*nodes[g->before[k]], *nodes[i]);
            if (g->first[i] == g->first[i + 1])
                sources.push_back(nodes[i].get());
        }
    }
};

void graph_run(void *data)
{
    auto g = static_cast<struct graph *>(data);
    arena->execute([&] {
        if (!g->own) {
            g->own = new flow_graph(g);
            g->own_drop = [](void *own) { delete static_cast<flow_graph *>(own); };
        }
        auto made = static_cast<flow_graph *>(g->own);
        for (auto source : made->sources)
            source->try_put(tbb::flow::continue_msg());
        made->graph.wait_for_all();
    });
}

void multiply(const product *p)
{
    if (p->n <= STRASSEN_LEAF) {
        strassen_leaf(p);
        return;
    }
    strassen_node node;
    strassen_split(p, &node);
    tbb::task_group group;
    for (auto &part : node.products)
        group.run([&part] { multiply(&part); });
    group.wait();
    strassen_combine(p, &node);
}

void strassen_run(void *data)
{
    product whole = strassen_whole(static_cast<strassen *>(data));
    arena->execute([&] { multiply(&whole); });
}

void combine(const fft_part *part, size_t begin, size_t end)
{
    if (end - begin <= FFT_PASS) {
        fft_combine(part, begin, end);
        return;
    }
    size_t middle = begin + (end - begin) / 2;
    parallel_invoke([=] { combine(part, begin, middle); }, [=] { combine(part, middle, end); });
}

void transform(const fft_part *part)
{
    if (part->n <= FFT_LEAF) {
        fft_transform(part);
        return;
    }
    fft_part even = fft_even(part), odd = fft_odd(part);
    parallel_invoke([&] { transform(&even); }, [&] { transform(&odd); });
    combine(part, 0, part->n / 2);
}

void fft_run(void *data)
{
    fft_part whole = fft_whole(static_cast<fft *>(data));
    arena->execute([&] { transform(&whole); });
}

void branch(bnb *b, size_t i, int64_t value, int64_t room)
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
    const bnb_item &item = b->items[i];
    parallel_invoke([&] { branch(b, i + 1, value + item.value, room - item.weight); },
                    [&] { branch(b, i + 1, value, room); });
}

void bnb_run(void *data)
{
    auto b = static_cast<bnb *>(data);
    arena->execute([&] { branch(b, 0, 0, b->capacity); });
}

void matmul_run(void *data)
{
    auto m = static_cast<matmul *>(data);
    arena->execute([&] {
        tbb::parallel_for(tbb::blocked_range2d<size_t>(0, m->n, 0, m->n), [=](auto &box) {
            for (size_t i = box.rows().begin(); i < box.rows().end(); i++)
                for (size_t j = box.cols().begin(); j < box.cols().end(); j++)
                    matmul_at(m, i, j);
        });
    });
}

void epoll_run(void *data)
{
    auto all = static_cast<server *>(data);
    auto start = [](server_request *request, void *of) {
        arena_beside(0)->enqueue([=] {
            server_compute(request);
            server_tell(static_cast<server *>(of), request);
        });
    };
    server_runtime runtime{start, all->over_fd, server_next, all};
    server_loop(all, &runtime);
}

using hash_map = tbb::concurrent_hash_map<uint64_t, uint64_t>;
using unordered_map = tbb::concurrent_unordered_map<uint64_t, uint64_t>;
using number_vector = tbb::concurrent_vector<uint64_t>;

template <class made> made *container(containers *c)
{
    auto own = new made;
    c->own = own;
    c->own_drop = [](void *old) { delete static_cast<made *>(old); };
    return own;
}

uint64_t value_of(const hash_map *map, uint64_t key)
{
    hash_map::const_accessor found;
    return map->find(found, key) ? found->second : 0;
}

uint64_t value_of(const unordered_map *map, uint64_t key)
{
    auto found = map->find(key);
    return found == map->end() ? 0 : found->second;
}

template <class map> void map_check(containers *c, const map *made, const uint64_t *keys)
{
    c->result = made->size();
    for (size_t i = 0; i < MAPS_PROBES && i < c->n; i++)
        c->result += value_of(made, keys[i]);
}

template <class map> void map_fill(const containers *c, map *made, size_t begin, size_t end)
{
    tbb::parallel_for(range(begin, end), [=](range r) {
        for (size_t i = r.begin(); i < r.end(); i++)
            made->insert({c->keys[i], c->values[i]});
    });
}

template <class map> void map_build_run(void *data)
{
    auto c = static_cast<containers *>(data);
    arena->execute([=] {
        auto made = container<map>(c);
        map_fill(c, made, 0, c->n);
        map_check(c, made, c->keys);
    });
}

void map_group_run(void *data)
{
    auto c = static_cast<containers *>(data);
    arena->execute([=] {
        auto made = container<hash_map>(c);
        tbb::parallel_for(range(0, c->n), [=](range r) {
            for (size_t i = r.begin(); i < r.end(); i++) {
                hash_map::accessor found;
                made->insert(found, c->groups[i]);
                found->second += c->values[i];
            }
        });
        map_check(c, made, c->groups);
    });
}

void map_merge_run(void *data)
{
    auto c = static_cast<containers *>(data);
    arena->execute([=] {
        auto into = container<unordered_map>(c);
        unordered_map from;
        map_fill(c, into, 0, c->n / 2);
        map_fill(c, &from, c->n / 2, c->n);
        tbb::parallel_for(from.range(), [=](const unordered_map::range_type &r) {
            for (auto &pair : r)
                into->insert(pair);
        });
        map_check(c, into, c->keys);
    });
}

template <class map> void map_look_up_run(void *data)
{
    auto c = static_cast<containers *>(data);
    arena->execute([=] {
        if (!c->own)
            map_fill(c, container<map>(c), 0, c->n);
        auto made = static_cast<const map *>(c->own);
        auto body = [=](range r, uint64_t sum) {
            for (size_t i = r.begin(); i < r.end(); i++)
                sum += value_of(made, containers_key(c, i));
            return sum;
        };
        c->result = tbb::parallel_reduce(range(0, c->n), uint64_t{0}, body, std::plus<uint64_t>());
    });
}

void vector_append_run(void *data)
{
    auto c = static_cast<containers *>(data);
    arena->execute([=] {
        auto made = container<number_vector>(c);
        auto body = [=](range r, uint64_t sum) {
            for (size_t i = r.begin(); i < r.end(); i++)
                sum += *made->push_back(c->keys[i]);
            return sum;
        };
        c->result = tbb::parallel_reduce(range(0, c->n), uint64_t{0}, body, std::plus<uint64_t>());
    });
}

} // namespace

extern "C" void runtime_open(unsigned workers)
{
    auto most = tbb::global_control::max_allowed_parallelism;
    control = std::make_unique<tbb::global_control>(most, workers);
    arena = std::make_unique<tbb::task_arena>(static_cast<int>(workers));
}

extern "C" const runtime_benchmark runtime_benchmarks[] = {
    {&fib_kernel, fib_run},
    {&treesum_kernel, treesum_run},
    {&join_kernel, join_run},
    {&increment_kernel, increment_run},
    {&nbody_kernel, nbody_run},
    {&nqueens_kernel, nqueens_run},
    {&sort_kernel, sort_run},
    {&bursty_kernel, bursty_run},
    {&sorts_kernel, sorts_run},
    {&sorts_std_kernel, sorts_std_run},
    {&for_kernel, for_run},
    {&map_kernel, map_run},
    {&reduce_kernel, reduce_run},
    {&scan_kernel, scan_run},
    {&filter_kernel, filter_run},
    {&find_kernel, find_run},
    {&floats_kernel, floats_run},
    {&short_kernel, short_run},
    {&stencil_kernel, stencil_run},
    {&graph_chain_kernel, graph_run},
    {&graph_tree_kernel, graph_run},
    {&graph_wavefront_kernel, graph_run},
    {&graph_dag_kernel, graph_run},
    {&fair_stream_kernel, fair_run},
    {&fair_stream_greedy_kernel, fair_run},
    {&fair_together_kernel, fair_run},
    {&fair_together_greedy_kernel, fair_run},
    {&joins_fine_kernel, joins_fine_run},
    {&joins_failing_kernel, joins_failing_run},
    {&joins_throwing_kernel, joins_throwing_run},
    {&captured_alone_kernel, captured_run},
    {&captured_beside_kernel, captured_run},
    {&strassen_kernel, strassen_run},
    {&fft_kernel, fft_run},
    {&bnb_kernel, bnb_run},
    {&matmul_kernel, matmul_run},
    {&epoll_kernel, epoll_run},
    {&hashmap_build_kernel, map_build_run<unordered_map>},
    {&hashmap_put_kernel, map_build_run<hash_map>},
    {&hashmap_group_kernel, map_group_run},
    {&hashmap_merge_kernel, map_merge_run},
    {&hashmap_get_kernel, map_look_up_run<hash_map>},
    {&hashmap_find_kernel, map_look_up_run<unordered_map>},
    {&vector_append_kernel, vector_append_run},
    {nullptr, nullptr},
};
