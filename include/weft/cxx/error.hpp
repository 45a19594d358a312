/* SPDX-License-Identifier: MIT */
/* weft/cxx/error.hpp: what leaves a function of weft.hpp that fails. Part of weft.hpp.
 *
 * An exception that leaves a side of a join, a body of a loop, a child of a scope, a task, a node
 * of a graph or an actor is caught there, on whatever thread that was. It is thrown again in the
 * thread that waits: out of join(), the loop, close(), get(), run() or wait(). Before it is, all
 * that was started is over. The first failure counts, later ones are dropped.
 *
 *     weft::error       a failure of the C interface: value() is what weft_fail() was given, or
 * what a C function returned. It is a std::system_error, so that it can be compared with std::errc
 *     weft::cancelled   the same for -ECANCELED. There is no result, because a computation around
 *                       has failed, was cancelled or has passed its deadline; the reason is thrown
 *                       further out, where that computation is waited for
 *
 * With -fno-exceptions nothing is caught or thrown. What would leave a function as a weft::error
 * fails the computation around, as by weft_fail(), and in a thread outside ends the process, with
 * one line. What would have been returned is a value-initialised T then, as after a right side in C
 * that was skipped.
 *
 * A program may have files of both kinds. But no object of weft:: passes from one kind to the
 * other: functions that take or return one are not found by the linker. What C has, contexts and
 * pools, can be passed. */
#ifndef WEFT_CXX_ERROR_HPP
#define WEFT_CXX_ERROR_HPP

#include "../../weft.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant> /* std::monostate */

#ifndef WEFT_THROWS_ /* as in names.hpp */
#define weft_cxx_ weft_cxx_no_exceptions_
#define weft_cxx_scope_access_ weft_cxx_no_exceptions_scope_access_
#define weft_cxx_task_access_ weft_cxx_no_exceptions_task_access_
#endif

class weft::error : public std::system_error
{
  public:
    explicit error(int code)
        : std::system_error(std::error_code(positive(code), std::generic_category()),
                            std::string(weft_strerror(code))),
          value_(code)
    {
    }

    int value() const noexcept
    {
        return value_;
    }

  private:
    static int positive(int code) noexcept /* of INT_MIN, too */
    {
        return code < 0 ? static_cast<int>(0u - static_cast<unsigned>(code)) : code;
    }
    int value_;
};

class weft::cancelled : public weft::error, public weft_no_reason_
{
  public:
    cancelled() : error(-ECANCELED)
    {
    }
};

/* Programs must not use what is in here. */
namespace weft_cxx_
{

/* What a job fails with, as by weft_fail(), if an exception leaves it. No errno value. */
inline constexpr int has_thrown = -4097;

#ifdef WEFT_THROWS_
constexpr bool throws = true;

[[noreturn]] inline void raise(int code)
{
    if (code == -ECANCELED)
        throw weft::cancelled();
    throw weft::error(code);
}
#else
constexpr bool throws = false;

inline void raise(int code)
{
    if (weft *w = weft_here()) {
        weft_fail(w, code);
        return;
    }
    std::fprintf(stderr, "weft: %s, and there is no exception to say so\n", weft_strerror(code));
    std::abort();
}
#endif

inline void check(int code)
{
    if (code)
        raise(code);
}

/* Where there is no exception for it, a result that does not exist is a T{}. */
template <class T> [[maybe_unused]] inline T no_result(int code)
{
#ifdef WEFT_THROWS_
    raise(code);
#else
    static_assert(std::is_default_constructible_v<T>,
                  "weft: with -fno-exceptions, a result needs a default constructor");
    raise(code);
    return T{};
#endif
}

/* The first exception that was thrown in a computation. Each part is run by attempt(), and what
 * that returns is given to weft_fail(). The thread that has waited for all parts calls check() with
 * what the computation has failed with. */
class failure
{
  public:
    /* 0; or has_thrown; or -ECANCELED: the part has learnt that the computation has failed before.
     * No function of weft is called in a handler: an actor may leave the thread in any of them. */
    template <class F> int attempt(F &&part) noexcept(noexcept(part()))
    {
#ifdef WEFT_THROWS_
        if constexpr (noexcept(part())) {
            part();
            return 0;
        } else {
            try {
                part();
                return 0;
            } catch (const weft::cancelled &) {
                return -ECANCELED;
            } catch (...) {
                keep();
                return has_thrown;
            }
        }
#else
        part();
        return 0;
#endif
    }

    /* The same, and fails the computation of w. */
    template <class F> void attempt_in(weft *w, F &&part)
    {
        if (int code = attempt(part))
            weft_fail(w, code);
    }

    void check(int code)
    {
        if (code == 0)
            return;
#ifdef WEFT_THROWS_
        if (code == has_thrown && thrown_)
            std::rethrow_exception(thrown_); /* stays: an actor may be waited for again */
#endif
        raise(code);
    }

    void keep() noexcept
    {
#ifdef WEFT_THROWS_
        /* relaxed: the end of the computation publishes what is written here. */
        if (!is_kept_.exchange(true, std::memory_order_relaxed))
            thrown_ = std::current_exception();
#endif
    }

  private:
    std::atomic<bool> is_kept_{false};
    std::exception_ptr thrown_;
};

/* ---- Callables and their results --------------------------------------------- */

/* Functions of the program may take a context, or none. */
template <class F> inline constexpr bool takes_context = std::is_invocable_v<F &, weft *>;

template <class F>
inline decltype(auto) call(F &f, weft *w) noexcept(takes_context<F>
                                                       ? std::is_nothrow_invocable_v<F &, weft *>
                                                       : std::is_nothrow_invocable_v<F &>)
{
    static_assert(takes_context<F> || std::is_invocable_v<F &>,
                  "weft: this has to be callable as f(weft *) or as f()");
    if constexpr (takes_context<F>)
        return f(w);
    else
        return f();
}

/* Also for functions that may return void: monostate is the result then. References stay. */
template <class R> struct result_of_ {
    using type = std::remove_cv_t<R>;
};
template <class R> struct result_of_<R &> {
    using type = R &;
};
template <class R> struct result_of_<R &&> {
    using type = std::remove_cv_t<R>;
};
template <> struct result_of_<void> {
    using type = std::monostate;
};
template <class F>
using result = typename result_of_<decltype(weft_cxx_::call(std::declval<F &>(), nullptr))>::type;

template <class F> inline result<F> call_for_result(F &f, weft *w)
{
    if constexpr (std::is_void_v<decltype(weft_cxx_::call(f, w))>) {
        weft_cxx_::call(f, w);
        return {};
    } else {
        return weft_cxx_::call(f, w);
    }
}

/* A result that may exist or not. As std::optional, but for references, too, and movable out. */
template <class T> class maybe
{
  public:
    maybe() noexcept
    {
    }
    maybe(const maybe &) = delete;
    maybe &operator=(const maybe &) = delete;
    ~maybe()
    {
        if (has_)
            value_.~T();
    }

    template <class Make> void make(Make &&value)
    {
        ::new (static_cast<void *>(std::addressof(value_)))
            T(value()); /* no copy: T may be unmovable so far */
        has_ = true;
    }
    bool has() const
    {
        return has_;
    }
    T take()
    {
        return std::move(value_);
    }

  private:
    union {
        T value_;
    };
    bool has_ = false;
};

template <class T> class maybe<T &>
{
  public:
    template <class Make> void make(Make &&value)
    {
        value_ = std::addressof(value());
    }
    bool has() const
    {
        return value_ != nullptr;
    }
    T &take()
    {
        return *value_;
    }

  private:
    T *value_ = nullptr;
};

/* Is w given, or has it to be found? */
template <class... A> struct has_context_ : std::false_type {
};
template <class A, class... B>
struct has_context_<A, B...> : std::is_same<std::remove_cv_t<std::remove_reference_t<A>>, weft *> {
};
template <class... A> inline constexpr bool has_context = has_context_<A...>::value;

} // namespace weft_cxx_

#endif
