/* SPDX-License-Identifier: MIT */
/* weft/cxx/task.hpp: jobs that run by themselves. Part of weft.hpp.
 *
 *     weft::task<page> task = weft::submit([=](weft *w) { return render(w, url); });
 *     ...
 *     page result = task.get();
 *
 * submit(f) queues f in the default pool; submit(pool, f) and pool.submit(f) in another one. f is
 * moved or copied, and destroyed with the task. get() waits, and returns what f has returned, or
 * throws what it has thrown, once. If f has failed by weft_fail(), get() throws a weft::error; if
 * the task was cancelled before f had begun, weft::cancelled.
 *
 * The destructor of a task that was not waited for cancels the task, and waits. So f may refer to
 * what lives longer than the task. In coroutines there is co_await task; see co.hpp. */
#ifndef WEFT_CXX_TASK_HPP
#define WEFT_CXX_TASK_HPP

#include "../task.h"
#include "pool.hpp"
#include "sync.hpp"

#include <memory>

namespace weft_cxx_
{

/* Hands on a coroutine, or something else that is to go on in the pool, once: see co.hpp. */
using resume_fn = void(weft_pool *pool, void *what);

/* A task, and what became of it. */
template <class T> struct task_state {
    weft_task task;
    weft_pool *pool = nullptr;
    failure failed;
    maybe<typename result_of_<T>::type> made;
    std::atomic<void *> next{nullptr}; /* what waits for the end; `this`: it has come */
    resume_fn *resume = nullptr;       /* written before `next` */

    virtual ~task_state() = default;
    virtual void call(weft *w) = 0;

    static void run(weft *w, void *self)
    {
        task_state *state = static_cast<task_state *>(self);
        state->failed.attempt_in(w, [&] { state->call(w); });
    }
    /* The last touch of the state: `what` may wait for the task, and destroy it. */
    static void done(void *self, int)
    {
        task_state *state = static_cast<task_state *>(self);
        void *what = state->next.exchange(state, std::memory_order_acq_rel);
        if (what)
            state->resume(state->pool, what);
    }
    /* The coroutine is about to be destroyed. If the task is over, it is too late. */
    void resume_never(void *what)
    {
        next.compare_exchange_strong(what, nullptr, std::memory_order_acq_rel);
    }
    /* False: the task is over, or about to be. */
    bool resume_later(resume_fn *how, void *what)
    {
        void *none = nullptr;
        resume = how;
        return next.compare_exchange_strong(none, what, std::memory_order_acq_rel);
    }
};

template <class T, class F> struct task_of final : task_state<T> {
    F function;

    template <class G> explicit task_of(G &&f) : function(std::forward<G>(f))
    {
    }
    void call(weft *w) override
    {
        using R = typename result_of_<T>::type;
        this->made.make([&]() -> R { return weft_cxx_::call_for_result(function, w); });
    }
};

} // namespace weft_cxx_

/* Used by one thread at a time, as a std::future, but for cancel(). */
template <class T> class weft::task
{
  public:
    task() = default;
    task(task &&other) noexcept : state_(std::move(other.state_)), is_taken_(other.is_taken_)
    {
    }
    task &operator=(task &&other) noexcept
    {
        task old(std::move(other));
        std::swap(state_, old.state_);
        std::swap(is_taken_, old.is_taken_);
        return *this;
    }
    ~task()
    {
        if (!state_)
            return;
        weft_task_cancel(&state_->task);
        if (weft_task_wait(&state_->task) && !weft_task_done(&state_->task))
            std::terminate(); /* the task destroys itself, or another job waits for it */
    }

    /* Is there a task, whose result was not taken? */
    bool valid() const noexcept
    {
        return state_ && !is_taken_;
    }
    bool done() const
    {
        return weft_task_done(&expect()->task);
    }

    /* Waits until the task is over. Throws only if the caller can't wait. */
    void wait()
    {
        int error = weft_task_wait(&expect()->task);
        if (error && !done())
            weft_cxx_::raise(error);
    }
    /* The same until weft_now() is `when`, or a time of std::chrono::steady_clock. False: the task
     * goes on. In a job whose computation is cancelled meanwhile, throws weft::cancelled. */
    template <class M> bool wait_until(const M &when)
    {
        int error = weft_task_wait_until(&expect()->task, weft_cxx_::moment(when));
        if (error && error != -ETIMEDOUT && !done())
            weft_cxx_::raise(error);
        return done();
    }
    template <class Rep, class Period> bool wait_for(const std::chrono::duration<Rep, Period> &time)
    {
        return wait_until(weft_cxx_::moment_in(time));
    }

    /* If f has not begun, it never will. If it runs, weft::is_cancelled() is true in it. By any
     * thread, as long as this object is there. */
    void cancel()
    {
        if (state_)
            weft_task_cancel(&state_->task);
    }

    /* Waits, and takes the result: the task is not valid() any more. */
    T get()
    {
        wait();
        state *over = expect();
        is_taken_ = true;
        over->failed.check(weft_task_wait(&over->task));
        if constexpr (std::is_void_v<T>)
            return;
        else
            return over->made.has() ? over->made.take() : weft_cxx_::no_result<T>(-ECANCELED);
    }

#if defined __cpp_impl_coroutine
    auto operator co_await() &&; /* see co.hpp */
    auto operator co_await() &;
#endif

  private:
    using state = weft_cxx_::task_state<T>;
    friend struct weft_cxx_task_access_;

    state *expect() const
    {
        if (!valid()) {
            weft_cxx_::raise(-EINVAL);
            std::terminate(); /* without exceptions */
        }
        return state_.get();
    }

    std::unique_ptr<state> state_; /* stays after get(): another thread may cancel() just then */
    bool is_taken_ = false;
};

struct weft_cxx_task_access_ {
    template <class F> static auto submit(weft_pool *pool, F &&f)
    {
        using function = std::decay_t<F>;
        using R = decltype(weft_cxx_::call(std::declval<function &>(), nullptr));
        using T = std::conditional_t<std::is_void_v<R>, void, weft_cxx_::result<function>>;
        weft::task<T> task;
        std::unique_ptr<weft_cxx_::task_state<T>> state(
            new weft_cxx_::task_of<T, function>(std::forward<F>(f)));
        weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
        options.done = weft_cxx_::task_state<T>::done;
        state->pool = pool;
        weft_cxx_::check(weft_submit_with(pool, &state->task, weft_cxx_::task_state<T>::run,
                                          state.get(), &options));
        task.state_ = std::move(state);
        return task;
    }
    template <class T> static weft_cxx_::task_state<T> &state(weft::task<T> &task)
    {
        return *task.expect();
    }
};

namespace weft_cxx_
{

template <class F> inline auto submit_to(F &&f)
{
    return weft_cxx_task_access_::submit(nullptr, std::forward<F>(f));
}
template <class P, class F> inline auto submit_to(const P &pool, F &&f)
{
    return weft_cxx_task_access_::submit(weft_cxx_::pool_of(pool), std::forward<F>(f));
}

/* A function that nobody waits for. If it throws, std::terminate() is called, as for a thread. */
template <class F> inline void submit_alone(weft_pool *pool, F &&f)
{
    using function = std::decay_t<F>;
    std::unique_ptr<function> one(new function(std::forward<F>(f)));
    weft_fn *run = [](weft *w, void *arg) noexcept {
        std::unique_ptr<function> mine(static_cast<function *>(arg));
        (void)weft_cxx_::call(*mine, w);
    };
    check(weft_submit_detached(pool, run, one.get(), nullptr));
    (void)one.release();
}
template <class F> inline void submit_detached_to(F &&f)
{
    weft_cxx_::submit_alone(nullptr, std::forward<F>(f));
}
template <class P, class F> inline void submit_detached_to(const P &pool, F &&f)
{
    weft_cxx_::submit_alone(weft_cxx_::pool_of(pool), std::forward<F>(f));
}

} // namespace weft_cxx_

template <class... A> inline auto weft::submit(A &&...args)
{
    return weft_cxx_::submit_to(std::forward<A>(args)...);
}

/* Nobody waits for f but the end of the pool. */
template <class... A> inline void weft::submit_detached(A &&...args)
{
    weft_cxx_::submit_detached_to(std::forward<A>(args)...);
}

template <class F> inline auto weft::pool::submit(F &&f)
{
    return weft_cxx_task_access_::submit(pool_, std::forward<F>(f));
}

#endif
