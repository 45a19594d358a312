/* SPDX-License-Identifier: MIT */
/* The peer std: the parallel algorithms of libstdc++, which run on oneTBB. */
#include "../common/runtime.h"

#include "../../arrays/arrays.h"
#include "../../loops/loops.h"
#include "../../reductions/reductions.h"

#include <algorithm>
#include <execution>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

using std::execution::par;
using std::execution::par_unseq;

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

template <typename T, typename F> void numbers_run(void *data, T first, F combine)
{
    auto r = static_cast<reductions *>(data);
    auto numbers = static_cast<const T *>(r->numbers);
    arena->execute([&] {
        for (size_t t = 0; t < r->times; t++)
            r->result += static_cast<double>(
                std::reduce(par_unseq, numbers, numbers + r->count, first, combine));
    });
}

void sum_f32_run(void *data)
{
    numbers_run(data, 0.0f, std::plus<float>());
}

void sum_f64_run(void *data)
{
    numbers_run(data, 0.0, std::plus<double>());
}

void sum_i32_run(void *data)
{
    numbers_run(data, int32_t{0}, std::plus<int32_t>());
}

void max_f32_run(void *data)
{
    numbers_run(data, -std::numeric_limits<float>::infinity(),
                [](float a, float b) { return reductions_larger(a, b); });
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
    {&for_kernel, for_run},
    {&map_kernel, map_run},
    {&reduce_kernel, reduce_run},
    {&scan_kernel, scan_run},
    {&filter_kernel, filter_run},
    {&find_kernel, find_run},
    {&sum_f32_kernel, sum_f32_run},
    {&sum_f32_cached_kernel, sum_f32_run},
    {&sum_f64_kernel, sum_f64_run},
    {&sum_f64_cached_kernel, sum_f64_run},
    {&sum_i32_kernel, sum_i32_run},
    {&sum_i32_cached_kernel, sum_i32_run},
    {&max_f32_kernel, max_f32_run},
    {&max_f32_cached_kernel, max_f32_run},
    {nullptr, nullptr},
};
