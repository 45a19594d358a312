/* SPDX-License-Identifier: MIT */
/* The peer std: the parallel algorithms of libstdc++, which run on oneTBB. */
#include "../common/runtime.h"

#include "../../arrays/arrays.h"
#include "../../loops/loops.h"

#include <algorithm>
#include <execution>
#include <functional>
#include <memory>
#include <numeric>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

using std::execution::par;

namespace
{

std::unique_ptr<tbb::global_control> control;
std::unique_ptr<tbb::task_arena> arena;

void for_run(void *data)
{
    auto l = static_cast<loops *>(data);
    arena->execute([&] {
        for (int t = 0; t < LOOPS_TIMES; t++)
            std::for_each(par, l->numbers, l->numbers + l->count,
                          [](float &number) { number = loops_half(number); });
    });
}

void map_run(void *data)
{
    auto l = static_cast<loops *>(data);
    arena->execute([&] {
        for (int t = 0; t < LOOPS_TIMES; t++)
            std::transform(par, l->numbers, l->numbers + l->count, l->numbers,
                           [](float number) { return loops_half(number); });
    });
}

void reduce_run(void *data)
{
    auto l = static_cast<loops *>(data);
    auto wide = [](float number) { return static_cast<double>(number); };
    arena->execute([&] {
        for (int t = 0; t < LOOPS_TIMES; t++)
            l->result += std::transform_reduce(par, l->numbers, l->numbers + l->count, 0.0,
                                               std::plus<double>(), wide);
    });
}

void scan_run(void *data)
{
    auto a = static_cast<arrays *>(data);
    arena->execute([&] {
        for (int t = 0; t < ARRAYS_TIMES; t++)
            std::inclusive_scan(par, a->in, a->in + a->count, a->out, std::plus<uint64_t>());
    });
}

void filter_run(void *data)
{
    auto a = static_cast<arrays *>(data);
    arena->execute([&] {
        for (int t = 0; t < ARRAYS_TIMES; t++)
            a->result = static_cast<uint64_t>(
                std::copy_if(par, a->in, a->in + a->count, a->out,
                             [](uint64_t number) { return arrays_keep(number); }) -
                a->out);
    });
}

void find_run(void *data)
{
    auto a = static_cast<arrays *>(data);
    arena->execute([&] {
        for (int i = 0; i < ARRAYS_NEEDLES; i++) {
            uint64_t value = arrays_needle(a, i);
            auto is_it = [=](uint64_t number) { return number == value; };
            a->result +=
                static_cast<uint64_t>(std::find_if(par, a->in, a->in + a->count, is_it) - a->in);
        }
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
    {&for_kernel, for_run},   {&map_kernel, map_run},       {&reduce_kernel, reduce_run},
    {&scan_kernel, scan_run}, {&filter_kernel, filter_run}, {&find_kernel, find_run},
    {nullptr, nullptr},
};
