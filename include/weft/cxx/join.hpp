/* SPDX-License-Identifier: MIT */
/* weft/cxx/join.hpp: two sides, perhaps at the same time. Part of weft.hpp.
 *
 *     auto [left, right] = weft::join(w, [=](weft *w) { return fib(w, n - 1); },
 *                                        [=](weft *w) { return fib(w, n - 2); });
 *
 * Each side is called with its context, or without if it takes none, and has to use that context,
 * not the w of the join. The result is a std::pair of both results: moved, never copied; a
 * reference stays one, and void becomes std::monostate. Nothing is allocated, and what no thread
 * has taken is run by a plain call, which the compiler can inline.
 *
 * Without w, as weft::join(f, g), the context is looked for, which takes longer the more forks are
 * open; a thread outside becomes a guest of the default pool.
 *
 * Exceptions. If the left side throws, the right side is not run. If another thread has begun it,
 * it is cancelled, with all that it has forked, and waited for (weft_fork_cancel()). If the right
 * side throws while another thread is in the left side, that is cancelled in the same way; in an
 * actor it is not, because what an actor does must not depend on who runs it. In both cases the
 * exception leaves join(). If both sides throw, that of the left side does, unless it is a
 * weft::cancelled: the reason is the other one then. The computation around does not fail: who
 * catches the exception may go on in w.
 *
 * In a computation that has failed or was cancelled, a right side that has not begun is skipped, as
 * in C. Its result does not exist, and join() throws weft::cancelled, also if the result is void.
 * The left side is always run. */
#ifndef WEFT_CXX_JOIN_HPP
#define WEFT_CXX_JOIN_HPP

#include "error.hpp"
#include "pool.hpp"

namespace weft_cxx_
{

/* How a right side is seen by the thread that takes it. A small rvalue is copied: then the original
 * can stay in registers, for the thread that forks. */
template <class F>
inline constexpr bool
    is_copied = std::is_trivially_copyable_v<F> &&std::is_copy_constructible_v<F> &&
                sizeof(F) <= 64;
template <class F> inline constexpr bool is_copied<F &> = false;

template <class F> class right_side
{
    using function = std::remove_reference_t<F>;
    using T = result<function>;

  public:
    explicit right_side(function &f) noexcept : function_(pass(f))
    {
    }
    right_side(const right_side &) = delete;
    right_side &operator=(const right_side &) = delete;
    ~right_side()
    {
    }

    static void run(weft *w, void *self)
    {
        right_side *side = static_cast<right_side *>(self);
        function &f = side->get();
#ifdef WEFT_THROWS_
        try {
            side->keep(f, w);
        } catch (...) {
            ::new (static_cast<void *>(&side->thrown_))
                std::exception_ptr(std::current_exception());
            side->state_ = state::threw;
        }
        if (side->state_ == state::threw) /* not in the handler: see failure */
            weft_right_failed_(w);
#else
        side->keep(f, w);
#endif
    }

    struct destroyer {
        right_side *side;
        ~destroyer()
        {
            side->drop();
        }
    };

    /* The right side is over. */
    [[gnu::noinline, gnu::cold]] T take()
    {
        destroyer end{this};
        if (state_ == state::returned)
            return result_.take();
#ifdef WEFT_THROWS_
        if (state_ == state::threw)
            std::rethrow_exception(thrown_);
#endif
        return no_result<T>(-ECANCELED);
    }

    bool has_thrown() const noexcept
    {
        return state_ == state::threw;
    }

    /* Nobody wants it any more. */
    void drop() noexcept
    {
        if (state_ == state::returned)
            result_.~maybe<T>();
        else if (state_ == state::threw)
            thrown_.~exception_ptr();
        state_ = state::skipped;
    }

  private:
    enum class state : unsigned char { skipped, returned, threw };

    static auto pass(function &f) noexcept
    {
        if constexpr (is_copied<F>)
            return f;
        else
            return &f;
    }
    function &get()
    {
        if constexpr (is_copied<F>)
            return function_;
        else
            return *function_;
    }
    void keep(function &f, weft *w)
    {
        ::new (static_cast<void *>(&result_)) maybe<T>;
        result_.make([&]() -> T { return weft_cxx_::call_for_result(f, w); });
        state_ = state::returned;
    }

    std::conditional_t<is_copied<F>, std::remove_const_t<function>, function *> function_;
    union {
        maybe<T> result_;
        std::exception_ptr thrown_;
    };
    state state_ = state::skipped;
};

#ifdef WEFT_THROWS_
/* An exception that waits for its handler to be left. */
union pending_exception {
    std::exception_ptr thrown;
    pending_exception() noexcept
    {
    }
    ~pending_exception()
    {
    }
};

inline bool has_a_reason(const std::exception_ptr &thrown)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const weft_no_reason_ &) {
        return false;
    } catch (...) {
        return true;
    }
}

/* The left side has thrown. Both are over when an exception goes on. */
template <class Side>
[[noreturn, gnu::noinline, gnu::cold]] void leave(weft *w, Side &side, pending_exception &pending)
{
    std::exception_ptr thrown = std::move(pending.thrown);
    pending.thrown.~exception_ptr();
    weft_fork_cancel(w);
    if (side.has_thrown() && !weft_cxx_::has_a_reason(thrown))
        side.take();
    side.drop();
    std::rethrow_exception(std::move(thrown));
}
#endif

template <class L, class R>
inline std::pair<result<L>, result<std::remove_reference_t<R>>>
join(weft *w, L &left, std::remove_reference_t<R> &right)
{
    right_side<R> side(right);
    maybe<result<L>> first;
    weft *in = weft_fork(w, right_side<R>::run, &side);
    auto run_left = [&]() -> result<L> { return weft_cxx_::call_for_result(left, in); };
#ifdef WEFT_THROWS_
    pending_exception pending;
    bool threw = false;
    try {
        first.make(run_left);
    } catch (...) {
        ::new (static_cast<void *>(&pending.thrown)) std::exception_ptr(std::current_exception());
        threw = true;
    }
    if (threw)
        weft_cxx_::leave(w, side, pending);
#else
    first.make(run_left);
#endif
    if (weft_merge(w)) {
        if constexpr (std::is_nothrow_move_constructible_v<result<L>>) {
            return {first.take(), side.take()};
        } else { /* moving the left result may throw before the right one is taken */
            typename right_side<R>::destroyer end{&side};
            return {first.take(), side.take()};
        }
    }
    return {first.take(), weft_cxx_::call_for_result(right, w)};
}

} // namespace weft_cxx_

template <class L, class R> inline auto weft::join(weft *w, L &&left, R &&right)
{
    return weft_cxx_::join<std::remove_reference_t<L>, R>(w, left, right);
}

template <class L, class R> inline auto weft::join(L &&left, R &&right)
{
    return weft_cxx_::in_job(
        [&](weft *w) { return weft_cxx_::join<std::remove_reference_t<L>, R>(w, left, right); });
}

#endif
