/* SPDX-License-Identifier: MIT */
/* weft/cxx/reduce.hpp: one value of many, and running totals. Part of weft.hpp.
 *
 *     weft::reduce(w, first, last, init, op)
 *     weft::transform_reduce(w, first, last, init, op, f)
 *     weft::inclusive_scan(w, first, last, out, op)
 *     weft::exclusive_scan(w, first, last, out, init, op)
 *
 * Instead of first and last there may be a range. w may be left out; so may op, which is
 * std::plus<>() then, but not in transform_reduce(). op has to be associative; it need not be
 * commutative: elements are combined from left to right. A result is the same for any number of
 * workers, bit for bit, except for scans that round.
 *
 * The type of a reduction is that of init. It has to be movable; no value of it is copied. op gets
 * its left argument as an rvalue, so that a string can grow in place.
 *
 * `out` is an iterator; it may be `first`. In the end, out[i] is the combination of the elements 0
 * to i; exclusive: of init and the elements 0 to i - 1.
 *
 * If op or f throws, the rest is cancelled, and the first exception is thrown. What a scan has
 * written is unspecified then. */
#ifndef WEFT_CXX_REDUCE_HPP
#define WEFT_CXX_REDUCE_HPP

#include "loops.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

namespace weft_cxx_
{

struct same {
    template <class T> T &&operator()(T &&value) const noexcept
    {
        return std::forward<T>(value);
    }
};

/* A number that becomes another kind of number, as the sum of two shorts does, is no mistake here.
 */
template <class T, class V>
inline constexpr bool is_number_for =
    std::is_arithmetic_v<T> &&std::is_arithmetic_v<std::remove_cv_t<std::remove_reference_t<V>>>;

/* op(a, b), as a new T: op may return a reference to one of its arguments, and to move a value into
 * itself may destroy it. */
template <class T, class Op, class A, class B> inline T combined(Op &op, A &&a, B &&b)
{
    using R = decltype(op(std::forward<A>(a), std::forward<B>(b)));
    if constexpr (is_number_for<T, R>)
        return static_cast<T>(op(std::forward<A>(a), std::forward<B>(b)));
    else
        return op(std::forward<A>(a), std::forward<B>(b));
}

/* ---- Reductions -------------------------------------------------------------- */

/* An accumulator is what is collected of neighbouring elements; empty, if there are none. */
template <class T, class I, class Op, class F> struct reduction {
    using accumulator = std::optional<T>;
    static_assert(alignof(accumulator) <= alignof(std::max_align_t),
                  "weft: reductions need values of usual alignment");

    I first;
    Op &op;
    F &transform;
    failure &failed;

    static void make(weft *, void *place, void *)
    {
        ::new (place) accumulator();
    }
    static void drop(weft *, void *place, void *)
    {
        static_cast<accumulator *>(place)->~accumulator();
    }
    static void fold(weft *w, std::size_t begin, std::size_t end, void *place, void *arg)
    {
        const reduction &of = *static_cast<reduction *>(arg);
        accumulator &all = *static_cast<accumulator *>(place);
        of.failed.attempt_in(w, [&] {
            std::size_t i = begin;
            if (!all)
                all.emplace(of.transform(*weft_cxx_::plus(of.first, i++)));
            T sum(std::move(*all)); /* in registers */
            for (; i < end; i++)
                sum = weft_cxx_::combined<T>(of.op, std::move(sum),
                                             of.transform(*weft_cxx_::plus(of.first, i)));
            *all = std::move(sum);
        });
    }
    static void move(weft *w, void *place, void *other, void *arg)
    {
        const reduction &of = *static_cast<reduction *>(arg);
        accumulator &left = *static_cast<accumulator *>(place);
        accumulator &right = *static_cast<accumulator *>(other);
        if (left && right)
            of.failed.attempt_in(w, [&] {
                *left = weft_cxx_::combined<T>(of.op, std::move(*left), std::move(*right));
            });
        right.~accumulator();
    }
};

/* Elements of a block are not split: sums have long blocks, of other functions nobody knows how
 * long they take. */
template <class T, class F>
inline constexpr std::size_t reduction_block =
    std::is_arithmetic_v<T> &&std::is_same_v<F, same> ? 0 : 32;

template <class T, class I, class Op, class F>
inline T reduce_all(weft *w, I first, I last, T init, Op &op, F &transform)
{
    static_assert(expect_random_access<I>());
    using all = reduction<T, I, Op, F>;
    static const weft_reducer reducer = {sizeof(typename all::accumulator),
                                         nullptr,
                                         all::fold,
                                         nullptr,
                                         reduction_block<T, F>,
                                         nullptr,
                                         all::make,
                                         all::drop,
                                         all::move};
    union place {
        typename all::accumulator total;
        place() : total()
        {
        }
        ~place()
        {
            total.~optional();
        }
    } result;
    weft_cxx_::in_own_scope(w, [&](failure &failed) {
        all of{first, op, transform, failed};
        weft_reduce(w, 0, weft_cxx_::distance(first, last), &reducer, &of, &result.total);
    });
    if (result.total)
        return weft_cxx_::combined<T>(op, std::move(init), std::move(*result.total));
    return init;
}

template <class I> using value_of = typename std::iterator_traits<I>::value_type;
template <class R> using iterator_of = decltype(std::begin(std::declval<R &>()));

/* Is it a range, and not an iterator? */
template <class R, class = void> struct is_range_ : std::false_type {
};
template <class R>
struct is_range_<R, std::void_t<decltype(std::begin(std::declval<R &>()))>> : std::true_type {
};
/* An array is none where the address of its end follows, as in sort(numbers, numbers + 3). */
template <class R, class... Next> struct is_begin_ : std::false_type {
};
template <class R, class Next, class... Rest>
struct is_begin_<R, Next, Rest...>
    : std::bool_constant<std::is_array_v<std::remove_reference_t<R>> &&
                         std::is_same_v<std::decay_t<R>, std::decay_t<Next>>> {
};
template <class R, class... Next>
inline constexpr bool is_range = is_range_<R>::value && !is_begin_<R, Next...>::value;

/* Before a scan, the next may be an array to write to. */
template <class R, class...> inline constexpr bool is_scanned_range = is_range<R>;
template <class R, class End, class Out, class... Rest>
inline constexpr bool is_scanned_range<R, End, Out, Rest...> =
    std::is_pointer_v<std::decay_t<Out>> ? is_range<R, End> : is_range<R>;

struct reduce_ {
    template <class A, class... B> auto operator()(weft *w, A &&first, B &&...rest) const
    {
        if constexpr (is_range<A, B...>)
            return run(w, std::begin(first), weft_cxx_::end_of(first), std::forward<B>(rest)...);
        else
            return run(w, first, std::forward<B>(rest)...);
    }
    template <class I, class T> static std::decay_t<T> run(weft *w, I first, I last, T &&init)
    {
        std::plus<> op;
        return run(w, first, last, std::forward<T>(init), op);
    }
    template <class I, class T, class Op>
    static std::decay_t<T> run(weft *w, I first, I last, T &&init, Op &&op)
    {
        const same transform;
        return weft_cxx_::reduce_all<std::decay_t<T>>(w, first, last, std::forward<T>(init), op,
                                                      transform);
    }
};

struct transform_reduce_ {
    template <class A, class... B> auto operator()(weft *w, A &&first, B &&...rest) const
    {
        if constexpr (is_range<A, B...>)
            return run(w, std::begin(first), weft_cxx_::end_of(first), std::forward<B>(rest)...);
        else
            return run(w, first, std::forward<B>(rest)...);
    }
    template <class I, class T, class Op, class F>
    static std::decay_t<T> run(weft *w, I first, I last, T &&init, Op &&op, F &&transform)
    {
        return weft_cxx_::reduce_all<std::decay_t<T>>(w, first, last, std::forward<T>(init), op,
                                                      transform);
    }
};

/* ---- Scans ------------------------------------------------------------------- */

/* Are its elements Ts in memory? Others may throw when they are read or written, or not be what was
 * written. */
template <class I, class T>
inline constexpr bool refers_to =
    std::is_lvalue_reference_v<typename std::iterator_traits<I>::reference>
        &&std::is_same_v<value_of<I>, T>;

/* One loop, as long as no thread takes a part of it; see weft_scan_inclusive(). The elements of
 * both ranges are plain data in memory: only op throws. */
template <class T, class I, class O, class Op> struct carried_scan {
    I first;
    O out;
    Op &op;
    failure &failed;

    static void scan(weft *w, std::size_t i, std::size_t end, void *carry, bool has_carry,
                     void *arg)
    {
        const carried_scan &of = *static_cast<carried_scan *>(arg);
        T *place = static_cast<T *>(carry);
        if (!has_carry) { /* the carry has a value in any case, even if op throws */
            ::new (carry) T(*weft_cxx_::plus(of.first, i));
            *weft_cxx_::plus(of.out, i++) = *place;
        }
        of.failed.attempt_in(w, [&] {
            T all = *place;
            for (; i < end; i++)
                *weft_cxx_::plus(of.out, i) = all =
                    weft_cxx_::combined<T>(of.op, all, *weft_cxx_::plus(of.first, i));
            *place = all;
        });
    }
    static void repair(weft *w, std::size_t begin, std::size_t end, const void *before, void *arg)
    {
        const carried_scan &of = *static_cast<carried_scan *>(arg);
        const T all = *static_cast<const T *>(before);
        of.failed.attempt_in(w, [&] {
            for (std::size_t i = begin; i < end; i++)
                *weft_cxx_::plus(of.out, i) =
                    weft_cxx_::combined<T>(of.op, all, *weft_cxx_::plus(of.out, i));
        });
    }
    static void combine(weft *w, void *place, const void *other, void *arg)
    {
        const carried_scan &of = *static_cast<carried_scan *>(arg);
        T *left = static_cast<T *>(place);
        of.failed.attempt_in(w, [&] {
            *left = weft_cxx_::combined<T>(of.op, *left, *static_cast<const T *>(other));
        });
    }
    static void run(weft *w, I begin, I end, O to, Op &combine_two)
    {
        static const weft_scanner_ scanner = {sizeof(T), scan, repair, combine};
        weft_cxx_::in_own_scope(w, [&](failure &failed_here) {
            carried_scan of{begin, to, combine_two, failed_here};
            weft_scan_by_(w, weft_cxx_::distance(begin, end), &scanner, &of);
        });
    }
};

/* For any type, and exclusive: blocks are reduced, then each is scanned, beginning with what comes
 * before it. */
template <bool inclusive, class T, class I, class O, class Op> struct block_scan {
    I first;
    std::size_t n;
    O out;
    Op &op;
    std::size_t blocks;
    std::unique_ptr<std::optional<T>[]> before;

    std::size_t begin_of(std::size_t k) const
    {
        return n / blocks * k + (std::min)(k, n % blocks);
    }
    void write(std::size_t i, const T &value)
    {
        if constexpr (is_number_for<value_of<O>, T>)
            *weft_cxx_::plus(out, i) = static_cast<value_of<O>>(value);
        else
            *weft_cxx_::plus(out, i) = value;
    }
    void reduce(std::size_t k)
    {
        T sum(static_cast<T>(*weft_cxx_::plus(first, begin_of(k))));
        for (std::size_t i = begin_of(k) + 1; i < begin_of(k + 1); i++)
            sum = weft_cxx_::combined<T>(op, std::move(sum), *weft_cxx_::plus(first, i));
        before[k + 1].emplace(std::move(sum));
    }
    void scan(std::size_t k)
    {
        std::optional<T> sum(std::move(before[k]));
        for (std::size_t i = begin_of(k); i < begin_of(k + 1); i++) {
            std::optional<T> next;
            if (sum)
                next.emplace(
                    weft_cxx_::combined<T>(op, std::as_const(*sum), *weft_cxx_::plus(first, i)));
            else
                next.emplace(*weft_cxx_::plus(first, i));
            write(i, inclusive ? std::as_const(*next) : std::as_const(*sum));
            sum = std::move(next);
        }
    }
    void run(weft *w, std::optional<T> init)
    {
        unsigned workers = weft_pool_workers(weft_pool_of(w));
        blocks = workers == 1 ? 1 : (std::min)(n / 16 + 1, std::size_t{4} * workers);
        before.reset(new std::optional<T>[blocks]);
        before[0] = std::move(init);
        auto reduce_block = [this](std::size_t k) { reduce(k); };
        auto scan_block = [this](std::size_t k) { scan(k); };
        for_each_index_()(w, std::size_t{0}, blocks - 1, reduce_block);
        for (std::size_t k = 1; k < blocks; k++)
            if (before[k - 1])
                before[k].emplace(weft_cxx_::combined<T>(op, std::as_const(*before[k - 1]),
                                                         std::move(*before[k])));
        for_each_index_()(w, std::size_t{0}, blocks, scan_block);
    }
};

struct inclusive_scan_ {
    template <class A, class... B> void operator()(weft *w, A &&first, B &&...rest) const
    {
        if constexpr (is_scanned_range<A, B...>)
            run(w, std::begin(first), weft_cxx_::end_of(first), std::forward<B>(rest)...);
        else
            run(w, first, std::forward<B>(rest)...);
    }
    template <class I, class O> static void run(weft *w, I first, I last, O out)
    {
        std::plus<> op;
        run(w, first, last, out, op);
    }
    template <class I, class O, class Op> static void run(weft *w, I first, I last, O out, Op &&op)
    {
        static_assert(expect_random_access<I>() && expect_random_access<O>() &&
                      expect_own_memory<O>());
        using T = value_of<I>;
        if (!(first < last))
            return;
        if constexpr (refers_to<I, T> && refers_to<O, T> && std::is_trivially_copyable_v<T> &&
                      std::is_copy_assignable_v<T> && alignof(T) <= alignof(std::max_align_t))
            carried_scan<T, I, O, std::remove_reference_t<Op>>::run(w, first, last, out, op);
        else
            block_scan<true, T, I, O, std::remove_reference_t<Op>>{
                first, weft_cxx_::distance(first, last), out, op, 0, nullptr}
                .run(w, std::nullopt);
    }
};

struct exclusive_scan_ {
    template <class A, class... B> void operator()(weft *w, A &&first, B &&...rest) const
    {
        if constexpr (is_scanned_range<A, B...>)
            run(w, std::begin(first), weft_cxx_::end_of(first), std::forward<B>(rest)...);
        else
            run(w, first, std::forward<B>(rest)...);
    }
    template <class I, class O, class T> static void run(weft *w, I first, I last, O out, T &&init)
    {
        std::plus<> op;
        run(w, first, last, out, std::forward<T>(init), op);
    }
    template <class I, class O, class T, class Op>
    static void run(weft *w, I first, I last, O out, T &&init, Op &&op)
    {
        static_assert(expect_random_access<I>() && expect_random_access<O>() &&
                      expect_own_memory<O>());
        if (first < last)
            block_scan<false, std::decay_t<T>, I, O, std::remove_reference_t<Op>>{
                first, weft_cxx_::distance(first, last), out, op, 0, nullptr}
                .run(w, std::forward<T>(init));
    }
};

} // namespace weft_cxx_

template <class... A> inline auto weft::reduce(A &&...args)
{
    return weft_cxx_::in_job_with(weft_cxx_::reduce_(), std::forward<A>(args)...);
}

template <class... A> inline auto weft::transform_reduce(A &&...args)
{
    return weft_cxx_::in_job_with(weft_cxx_::transform_reduce_(), std::forward<A>(args)...);
}

template <class... A> inline void weft::inclusive_scan(A &&...args)
{
    weft_cxx_::in_job_with(weft_cxx_::inclusive_scan_(), std::forward<A>(args)...);
}

template <class... A> inline void weft::exclusive_scan(A &&...args)
{
    weft_cxx_::in_job_with(weft_cxx_::exclusive_scan_(), std::forward<A>(args)...);
}

#endif
