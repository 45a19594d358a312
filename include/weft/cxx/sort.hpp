/* SPDX-License-Identifier: MIT */
/* weft/cxx/sort.hpp: sorting. Part of weft.hpp.
 *
 *     weft::sort(w, first, last, less)          `less` is std::less<>() if it is left out;
 *     weft::stable_sort(w, first, last, less)   w may be left out; instead of first and last there
 *                                               may be a range
 *
 * For random access iterators. Elements that are plain data and lie in one block are sorted as by
 * WEFT_SORT_DEFINE, with `less` inlined; numbers without `less` as by weft_sort_u64() and its like.
 * Of all others pointers are sorted first, and then each element is moved twice: to where it
 * belongs in a second array, and back. With the pointer of a std::string goes how the string
 * begins, unless there is another `less`: so most comparisons stay inside the array of pointers.
 *
 * `less` is called by several threads at once. If it throws, the rest is cancelled, and the first
 * exception is thrown. The order of the elements is unspecified then, but each is still there,
 * once. The same holds if the computation is cancelled, or if there is no memory. If a move throws,
 * values may be lost, as in std::sort(). */
#ifndef WEFT_CXX_SORT_HPP
#define WEFT_CXX_SORT_HPP

#include "../sort.h"
#include "reduce.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft_cxx_
{

/* ---- Plain data, in one block ------------------------------------------------- */

/* To be copied is to have the same bytes, and nothing happens at the end. Such are pairs and tuples
 * of plain data, too, though they are not trivially copyable: they can be assigned to. */
template <class T>
inline constexpr bool is_plain =
    std::is_trivially_copy_constructible_v<T> &&std::is_trivially_destructible_v<T>;

/* What stands for an element where a T itself can't be made or assigned freely. */
template <class T> struct __attribute__((may_alias)) bytes_of {
    alignas(T) unsigned char bytes[sizeof(T)];
};

template <class T>
using sorted_as = std::conditional_t<std::is_trivially_copyable_v<T> &&
                                         std::is_trivially_default_constructible_v<T> &&
                                         std::is_copy_assignable_v<T>,
                                     T, bytes_of<T>>;

template <class Less> struct comparison {
    Less &less;
    failure &failed;

    /* On any thread. After an exception, any answer will do. */
    template <class T> bool operator()(const T &a, const T &b) const
    {
        bool answer = false;
        if (int code = failed.attempt([&] { answer = static_cast<bool>(less(a, b)); }))
            weft_fail(weft_here(), code);
        return answer;
    }
};

/* The loops of WEFT_SORT_DEFINE, as members. */
#pragma push_macro("WEFT_AHEAD_")
#undef WEFT_AHEAD_
#define WEFT_AHEAD_(declaration)
template <class T, class Less> struct sort_loops {
    static bool before(const void *a, const void *b, void *arg)
    {
        return (*static_cast<const comparison<Less> *>(arg))(*static_cast<const T *>(a),
                                                             *static_cast<const T *>(b));
    }
    WEFT_SORTER_LOOPS_(plain, sorted_as<T>, before(a_, b_, arg_))
    WEFT_SORTER_VALUES_(plain, plain_element_)

    static constexpr weft_sorter_ sorter(bool stable)
    {
        return {sizeof(T),
                WEFT_FEW_(T),
                plain_less_any_,
                plain_median_,
                stable ? plain_small_ : plain_values_,
                plain_split_less_,
                plain_split_least_,
                plain_merge_};
    }
};
#pragma pop_macro("WEFT_AHEAD_")

template <bool stable, class T, class Less>
inline void sort_plain(weft *w, T *base, std::size_t n, Less &less)
{
    static constexpr weft_sorter_ sorter = sort_loops<T, Less>::sorter(stable);
    weft_cxx_::in_own_scope(w, [&](failure &failed) {
        comparison<Less> by{less, failed};
        void *elements = const_cast<std::remove_cv_t<T> *>(base);
        if (stable)
            weft_sort_stable_by_(w, elements, n, &sorter, &by);
        else
            weft_sort_by_(w, elements, n, &sorter, &by);
    });
}

/* ---- Numbers ------------------------------------------------------------------ */

template <class T, class Less>
inline constexpr bool is_usual_order =
    std::is_same_v<Less, std::less<>> || std::is_same_v<Less, std::less<T>>;

/* True: they are sorted. A stable sort may see that two zeros differ. */
template <bool stable, class T> inline bool sort_numbers(weft *w, T *base, std::size_t n)
{
    if constexpr (std::is_same_v<T, float> && !stable)
        weft_sort_f32(w, base, n);
    else if constexpr (std::is_same_v<T, double> && !stable)
        weft_sort_f64(w, base, n);
    else if constexpr (std::is_same_v<T, std::uint32_t>)
        weft_sort_u32(w, base, n);
    else if constexpr (std::is_same_v<T, std::int32_t>)
        weft_sort_i32(w, base, n);
    else if constexpr (std::is_same_v<T, std::uint64_t>)
        weft_sort_u64(w, base, n);
    else if constexpr (std::is_same_v<T, std::int64_t>)
        weft_sort_i64(w, base, n);
    else
        return false;
    check_complete(w);
    return true;
}

/* ---- Everything else: by pointers ---------------------------------------------- */

/* Memory for n elements. Which of them exist is the caller's business. */
template <class T> class room
{
  public:
    explicit room(std::size_t n) : elements_(std::allocator<T>().allocate(n)), n_(n)
    {
    }
    ~room()
    {
        std::allocator<T>().deallocate(elements_, n_);
    }
    room(const room &) = delete;
    room &operator=(const room &) = delete;
    T *at(std::size_t i)
    {
        return elements_ + i;
    }

  private:
    T *elements_;
    std::size_t n_;
};

/* f(i) for each i below n, whatever happens: what is skipped because the computation is cancelled
 * is done afterwards. Half of a move would be a loss. */
template <class F> inline void for_all(weft *w, std::size_t n, F f)
{
    constexpr std::size_t some = 1024;
    auto run = [&](std::size_t k) noexcept {
        for (std::size_t i = k * some; i < n && i < (k + 1) * some; i++)
            f(i);
    };
    struct work {
        decltype(run) &part;
        std::unique_ptr<bool[]> done;
    } all{run, std::unique_ptr<bool[]>(new (std::nothrow) bool[n / some + 1]())};
    if (all.done)
        weft_for(
            w, 0, (n + some - 1) / some,
            [](weft *, std::size_t b, std::size_t e, void *arg) {
                work *of = static_cast<work *>(arg);
                for (std::size_t k = b; k < e; k++) {
                    of->part(k);
                    of->done[k] = true;
                }
            },
            &all);
    for (std::size_t k = 0; k * some < n; k++)
        if (!all.done || !all.done[k])
            run(k);
}

#if defined __cpp_lib_concepts
template <class I> inline constexpr bool is_in_one_block = std::contiguous_iterator<I>;
#else
template <class I>
inline constexpr bool is_in_one_block =
    std::is_pointer_v<I> || std::is_same_v<I, typename std::vector<value_of<I>>::iterator>;
#endif

/* What is sorted in place of an element. */
template <class T> struct pointer_to {
    static constexpr bool has_ties = true; /* equal elements have no order */
    T *element;

    static pointer_to make(T &of)
    {
        return {std::addressof(of)};
    }
    template <class Less> bool is_before(const pointer_to &other, Less &less) const
    {
        return less(std::as_const(*element), std::as_const(*other.element));
    }
};

/* The same for a text in the usual order. Most comparisons are decided by the first characters, and
 * need not look at the text, which is seldom in the cache. Equal ones are ordered by where they
 * are, so that any sort is stable, if they lie in one block. */
template <class T> struct beginning_of {
    static constexpr bool has_ties = false;
    std::uint64_t characters; /* the first one is the highest; zeros after the end */
    T *element;

    static beginning_of make(T &of)
    {
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < sizeof all; i++)
            all = all << 8 | (i < of.size() ? static_cast<unsigned char>(of[i]) : 0u);
        return {all, std::addressof(of)};
    }
    template <class Less> bool is_before(const beginning_of &other, Less &) const
    {
        if (characters != other.characters)
            return characters < other.characters;
        int order = element->compare(*other.element);
        return order ? order < 0 : std::less<T *>()(element, other.element);
    }
};

template <class T> inline constexpr bool is_text = false;
template <class A>
inline constexpr bool is_text<std::basic_string<char, std::char_traits<char>, A>> = true;

/* Moves that can't throw: all elements to a second array, in the right order, and back. */
template <bool stable, class T, class I, class Less>
inline void sort_by_pointers(weft *w, I first, std::size_t n, Less &less)
{
    constexpr bool by_beginning =
        is_text<T> && is_usual_order<T, std::remove_cv_t<Less>> && (is_in_one_block<I> || !stable);
    using stand_in = std::conditional_t<by_beginning, beginning_of<T>, pointer_to<T>>;
    std::unique_ptr<stand_in[]> order(new stand_in[n]);
    room<T> other(n);
    for (std::size_t i = 0; i < n; i++)
        order[i] = stand_in::make(*weft_cxx_::plus(first, i));
    auto by = [&less](const stand_in &a, const stand_in &b) -> bool {
        return a.is_before(b, less);
    };
    weft_cxx_::sort_plain<stable && stand_in::has_ties>(w, order.get(), n, by);
    weft_cxx_::for_all(w, n, [&](std::size_t i) {
        ::new (static_cast<void *>(other.at(i))) T(std::move(*order[i].element));
    });
    weft_cxx_::for_all(w, n, [&](std::size_t i) {
        *weft_cxx_::plus(first, i) = std::move(*other.at(i));
        other.at(i)->~T();
    });
}

/* Moves that may throw: one element after the other. Element i belongs where order[k] is i; then
 * the place that it came from is free, and so on, until the circle is closed. */
template <bool stable, class T, class I, class Less>
inline void sort_by_indices(weft *w, I first, std::size_t n, Less &less)
{
    std::unique_ptr<std::size_t[]> order(new std::size_t[n]);
    for (std::size_t i = 0; i < n; i++)
        order[i] = i;
    auto by = [&](std::size_t a, std::size_t b) -> bool {
        return less(*weft_cxx_::plus(first, a), *weft_cxx_::plus(first, b));
    };
    weft_cxx_::sort_plain<stable>(w, order.get(), n, by);
    for (std::size_t start = 0; start < n; start++) {
        if (order[start] == start)
            continue;
        T saved(std::move(*weft_cxx_::plus(first, start)));
        std::size_t to = start;
        for (std::size_t from; (from = order[to]) != start; to = from) {
            *weft_cxx_::plus(first, to) = std::move(*weft_cxx_::plus(first, from));
            order[to] = to;
        }
        *weft_cxx_::plus(first, to) = std::move(saved);
        order[to] = to;
    }
}

/* ---- Which of them ------------------------------------------------------------- */

template <bool stable> struct sort_ {
    template <class A, class... B> void operator()(weft *w, A &first, B &...rest) const
    {
        if constexpr (is_range<A, B...>)
            run(w, std::begin(first), weft_cxx_::end_of(first), rest...);
        else
            run(w, first, rest...);
    }
    template <class I> static void run(weft *w, I first, I last)
    {
        std::less<> less;
        run(w, first, last, less);
    }
    template <class I, class Less> static void run(weft *w, I first, I last, Less &less)
    {
        using T = value_of<I>;
        static_assert(expect_random_access<I>());
        static_assert(std::is_same_v<typename std::iterator_traits<I>::reference, T &>,
                      "weft: sort() needs elements that can be moved, and that have an address");
        std::size_t n = weft_cxx_::distance(first, last);
        if (n < 2)
            return;
        if constexpr (is_in_one_block<I> && is_plain<T>) {
            T *base = std::addressof(*first);
            if constexpr (is_usual_order<T, std::remove_cv_t<Less>>)
                if (weft_cxx_::sort_numbers<stable>(w, base, n))
                    return;
            weft_cxx_::sort_plain<stable>(w, base, n, less);
        } else if constexpr (std::is_nothrow_move_constructible_v<T> &&
                             std::is_nothrow_move_assignable_v<T>) {
            weft_cxx_::sort_by_pointers<stable, T>(w, first, n, less);
        } else {
            weft_cxx_::sort_by_indices<stable, T>(w, first, n, less);
        }
    }
};

} // namespace weft_cxx_

template <class... A> inline void weft::sort(A &&...args)
{
    weft_cxx_::in_job_with(weft_cxx_::sort_<false>(), args...);
}

template <class... A> inline void weft::stable_sort(A &&...args)
{
    weft_cxx_::in_job_with(weft_cxx_::sort_<true>(), args...);
}

#endif
