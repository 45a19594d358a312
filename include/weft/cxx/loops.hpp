/* SPDX-License-Identifier: MIT */
/* weft/cxx/loops.hpp: loops that split by themselves. Part of weft.hpp.
 *
 *     weft::for_each_index(w, begin, end, f)    f(i) or f(w, i), for each integer from begin to
 *                                               end - 1
 *     weft::for_ranges(w, begin, end, f)        f(b, e) or f(w, b, e), for ranges that make up
 *                                               [begin, end)
 *     weft::for_each(w, first, last, f)         f(element) or f(w, element), for random access
 *     weft::for_each(w, range, f)               iterators; a range is what has them: a vector,
 *                                               a span, an array, a view of known size
 *
 * All may be called without w, as in weft::for_each(range, f): see join.hpp. Calls of f run in any
 * order and at the same time. If f throws, the rest of the loop is cancelled, what runs is waited
 * for, and the loop throws the first exception. If the computation around is cancelled, the loop is
 * not complete, and throws weft::cancelled. A loop whose f is noexcept starts a little faster. */
#ifndef WEFT_CXX_LOOPS_HPP
#define WEFT_CXX_LOOPS_HPP

#include "../parallel.h"
#include "scope.hpp"

#include <cstddef>
#include <iterator>
#include <vector>

namespace weft_cxx_
{

/* Runs body(failed) in a scope of its own: what fails in there ends this one call. */
template <class F> inline void in_own_scope(weft *w, F &&body)
{
    weft::scope scope(w);
    body(weft_cxx_scope_access_::failed(scope));
    scope.close();
}

/* After something that can't throw itself. */
inline void check_complete(weft *w)
{
    if (throws && weft_cancelled(w))
        raise(-ECANCELED);
}

/* body(w, begin, end) for parts of [0, n). */
template <class Body> inline void for_parts(weft *w, std::size_t n, Body &body)
{
    if constexpr (!throws ||
                  std::is_nothrow_invocable_v<Body &, weft *, std::size_t, std::size_t>) {
        weft_for(
            w, 0, n,
            [](weft *in, std::size_t b, std::size_t e, void *arg) {
                (*static_cast<Body *>(arg))(in, b, e);
            },
            &body);
        check_complete(w);
    } else {
        weft_cxx_::in_own_scope(w, [&](failure &failed) {
            struct loop {
                Body &body;
                failure &failed;
            } all{body, failed};
            weft_for(
                w, 0, n,
                [](weft *in, std::size_t b, std::size_t e, void *arg) {
                    loop *of = static_cast<loop *>(arg);
                    of->failed.attempt_in(in, [&] { of->body(in, b, e); });
                },
                &all);
        });
    }
}

/* f(args...) or f(w, args...). */
template <class F, class... A>
inline constexpr bool is_nothrow_part =
    std::is_invocable_v<F &, weft *, A...> ? std::is_nothrow_invocable_v<F &, weft *, A...>
                                           : std::is_nothrow_invocable_v<F &, A...>;

template <class F, class... A>
inline void call_part(F &f, weft *w, A &&...args) noexcept(is_nothrow_part<F, A...>)
{
    static_assert(std::is_invocable_v<F &, weft *, A...> || std::is_invocable_v<F &, A...>,
                  "weft: this function does not take what the loop passes to it");
    if constexpr (std::is_invocable_v<F &, weft *, A...>)
        (void)f(w, std::forward<A>(args)...);
    else
        (void)f(std::forward<A>(args)...);
}

template <class I> inline std::size_t distance(I begin, I end)
{
    if constexpr (std::is_integral_v<I>)
        return begin < end ? static_cast<std::size_t>(end) - static_cast<std::size_t>(begin) : 0;
    else
        return begin < end ? static_cast<std::size_t>(end - begin) : 0;
}

template <class I> inline I plus(I begin, std::size_t i)
{
    if constexpr (std::is_integral_v<I>)
        return static_cast<I>(static_cast<std::size_t>(begin) + i);
    else
        return begin + static_cast<typename std::iterator_traits<I>::difference_type>(i);
}

struct for_each_index_ {
    template <class I, class J, class F> void operator()(weft *w, I begin, J end, F &f) const
    {
        using index = std::common_type_t<I, J>;
        static_assert(std::is_integral_v<index>, "weft: for_each_index() counts by integers");
        index first = static_cast<index>(begin);
        auto body = [&f, first](weft *in, std::size_t b,
                                std::size_t e) noexcept(is_nothrow_part<F, index>) {
            for (std::size_t i = b; i < e; i++)
                weft_cxx_::call_part(f, in, weft_cxx_::plus(first, i));
        };
        weft_cxx_::for_parts(w, weft_cxx_::distance(first, static_cast<index>(end)), body);
    }
};

struct for_ranges_ {
    template <class I, class J, class F> void operator()(weft *w, I begin, J end, F &f) const
    {
        using index = std::common_type_t<I, J>;
        index first = static_cast<index>(begin);
        auto body = [&f, first](weft *in, std::size_t b,
                                std::size_t e) noexcept(is_nothrow_part<F, index, index>) {
            weft_cxx_::call_part(f, in, weft_cxx_::plus(first, b), weft_cxx_::plus(first, e));
        };
        weft_cxx_::for_parts(w, weft_cxx_::distance(first, static_cast<index>(end)), body);
    }
};

/* Those of views, such as std::views::iota(), have it only as a concept. */
template <class I>
inline constexpr bool is_random_access =
#if defined __cpp_lib_concepts
    std::random_access_iterator<I> ||
#endif
    std::is_base_of_v<std::random_access_iterator_tag,
                      typename std::iterator_traits<I>::iterator_category>;

template <class I> inline constexpr bool expect_random_access()
{
    static_assert(is_random_access<I>,
                  "weft: this needs random access iterators, as those of vectors and arrays");
    return true;
}

/* Threads write neighbouring elements at the same time. */
template <class I> inline constexpr bool expect_own_memory()
{
    static_assert(
        !std::is_same_v<typename std::iterator_traits<I>::reference, std::vector<bool>::reference>,
        "weft: elements of a std::vector<bool> share words of memory, and threads that "
        "write them overwrite each other; std::as_const() can be read");
    return true;
}

/* The end of a range, as an iterator: that of std::views::iota(0, 100L) is of another type. */
template <class R> inline auto end_of(R &range)
{
    if constexpr (std::is_same_v<decltype(std::begin(range)), decltype(std::end(range))>)
        return std::end(range);
    else
        return weft_cxx_::plus(std::begin(range), static_cast<std::size_t>(std::size(range)));
}

struct for_each_ {
    template <class I, class F> void operator()(weft *w, I first, I last, F &f) const
    {
        static_assert(expect_random_access<I>() && expect_own_memory<I>());
        using element = typename std::iterator_traits<I>::reference;
        auto body = [&f, first](weft *in, std::size_t b,
                                std::size_t e) noexcept(is_nothrow_part<F, element>) {
            for (std::size_t i = b; i < e; i++)
                weft_cxx_::call_part(f, in, *weft_cxx_::plus(first, i));
        };
        weft_cxx_::for_parts(w, weft_cxx_::distance(first, last), body);
    }
    template <class R, class F> void operator()(weft *w, R &range, F &f) const
    {
        (*this)(w, std::begin(range), weft_cxx_::end_of(range), f);
    }
};

} // namespace weft_cxx_

template <class... A> inline void weft::for_each_index(A &&...args)
{
    weft_cxx_::in_job_with(weft_cxx_::for_each_index_(), args...);
}

template <class... A> inline void weft::for_ranges(A &&...args)
{
    weft_cxx_::in_job_with(weft_cxx_::for_ranges_(), args...);
}

template <class... A> inline void weft::for_each(A &&...args)
{
    weft_cxx_::in_job_with(weft_cxx_::for_each_(), args...);
}

#endif
