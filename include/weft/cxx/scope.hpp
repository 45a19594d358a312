/* SPDX-License-Identifier: MIT */
/* weft/cxx/scope.hpp: any number of children. Part of weft.hpp.
 *
 *     weft::in_scope(w, [&](weft::scope &scope) {
 *         for (auto &page : pages)
 *             scope.spawn([&page, name = std::move(names[i])](weft *w) { render(w, page, name); });
 *     });
 *
 * in_scope() returns when all children are over. It throws what its function or a child has thrown,
 * whichever was first; the others are cancelled then: children that have not begun never do, and
 * weft::is_cancelled() is true in those that run.
 *
 * The same by hand: a weft::scope is closed by close(), which throws. A scope that is left in any
 * other way, by an exception or a return, is cancelled by its destructor, which waits and drops
 * failures. */
#ifndef WEFT_CXX_SCOPE_HPP
#define WEFT_CXX_SCOPE_HPP

#include "pool.hpp"

#include <memory>

class weft::scope
{
  public:
    /* Lives in the frame of the job that opens it. */
    explicit scope(weft *w = weft_here()) : w_(w)
    {
        weft_scope_open(w, &scope_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope()
    {
        if (w_) {
            weft_fail(w_, -ECANCELED);
            (void)end();
        }
    }

    /* Runs f(w) or f() sometime before the scope is closed. f is moved or copied into the child,
     * and destroyed when the child is over or was skipped. By the job that has opened the scope,
     * and by its children; `w` is the context of the job that spawns. If f can't be copied, or
     * there is no memory, spawn() throws and there is no child. */
    template <class F> void spawn(weft *w, F &&f)
    {
        using function = std::decay_t<F>;
        if constexpr (std::is_trivially_copyable_v<function> &&
                      std::is_trivially_destructible_v<function> &&
                      alignof(child<function>) <= alignof(std::max_align_t)) {
            child<function> one{&failed_, std::forward<F>(f)};
            weft_cxx_::check(
                weft_spawn_copy(w, &scope_, run_copy<function>, &one, sizeof one, nullptr));
        } else {
            std::unique_ptr<child<function>> one(new child<function>{&failed_, std::forward<F>(f)});
            int error = weft_spawn_drop(w, &scope_, run_owned<function>, one.get(), drop<function>);
            if (!error)
                (void)one.release();
            weft_cxx_::check(error);
        }
    }
    template <class F> void spawn(F &&f)
    {
        spawn(weft_here(), std::forward<F>(f));
    }

    /* Cancels the scope with -ETIMEDOUT once weft_now() passes `when`. */
    void deadline(uint64_t when)
    {
        weft_scope_deadline(&scope_, when);
    }

    /* By the job that has opened it. */
    void close()
    {
        failed_.check(end());
    }

  private:
    template <class F> struct child {
        weft_cxx_::failure *failed;
        F function;
        void run(weft *w)
        {
            failed->attempt_in(w, [&]() -> void { weft_cxx_::call(function, w); });
        }
    };
    template <class F> static void run_copy(weft *w, void *one)
    {
        static_cast<child<F> *>(one)->run(w);
    }
    /* What the child has captured is destroyed before the scope can be closed. */
    template <class F> static void run_owned(weft *w, void *one)
    {
        std::unique_ptr<child<F>>(static_cast<child<F> *>(one))->run(w);
    }
    template <class F> static void drop(weft *, void *one)
    {
        delete static_cast<child<F> *>(one);
    }
    [[nodiscard]] int end()
    {
        return weft_scope_close(std::exchange(w_, nullptr), &scope_);
    }

    weft_scope scope_;
    weft *w_; /* nullptr: closed */
    weft_cxx_::failure failed_;

    friend struct weft_cxx_scope_access_;
};

/* What in_scope() and the loops need of a scope. */
struct weft_cxx_scope_access_ {
    static weft_cxx_::failure &failed(weft::scope &scope)
    {
        return scope.failed_;
    }
};

namespace weft_cxx_
{

template <class F> inline decltype(auto) in_scope(weft *w, F &f)
{
    weft::scope scope(w);
    auto body = [&]() -> decltype(auto) {
        if constexpr (std::is_invocable_v<F &, weft::scope &, weft *>)
            return f(scope, w);
        else
            return f(scope);
    };
    maybe<result<decltype(body)>> made;
    weft_cxx_scope_access_::failed(scope).attempt_in(w, [&] {
        made.make([&]() -> result<decltype(body)> { return weft_cxx_::call_for_result(body, w); });
    });
    scope.close();
    if constexpr (!std::is_void_v<decltype(body())>)
        return result<decltype(body)>(made.has() ? made.take()
                                                 : no_result<result<decltype(body)>>(-ECANCELED));
}

} // namespace weft_cxx_

template <class... A> inline decltype(auto) weft::in_scope(A &&...args)
{
    return weft_cxx_::in_job_with(
        [](weft *w, auto &f) -> decltype(auto) { return weft_cxx_::in_scope(w, f); }, args...);
}

#endif
