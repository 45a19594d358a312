/* SPDX-License-Identifier: MIT */
/* weft/cxx/co.hpp: coroutines, where the compiler has them (C++20). Part of weft.hpp.
 *
 *     weft::co<page> fetch(weft::pool &pool, url where)
 *     {
 *         auto load = [=] { return download(where); };
 *         std::string text = co_await pool.submit(load);
 *         auto draw = [=](weft *w) { return render(w, text); };
 *         co_return co_await pool.submit(draw);
 *     }
 *     page result = fetch(pool, where).get(pool);
 *
 * co_await task suspends any kind of coroutine until the task is over, and is what get() would
 * return, or throws what it would throw: weft::cancelled, if the task is cancelled meanwhile. The
 * coroutine goes on as a job of the task's pool; or where it is, if the task is over already.
 * co_await weft::resume_in(pool) lets it go on in the pool at once.
 * A coroutine that is destroyed while it waits for a task is not resumed; but it must not be
 * destroyed when it may go on already, because the task is over.
 *
 * A weft::co<T> begins when another coroutine awaits it, or when get(pool) does: as a job of the
 * pool, or of the default pool. Between two co_awaits a coroutine is a part of a job: it may fork,
 * and finds its context by weft::here(). After a co_await the context is another one,
 * and so may be the thread: hold no weft::mutex across a co_await.
 *
 * Give a function with captures a name before the co_await, as above: gcc 12 may destroy the
 * captures of a lambda twice if it is made inside the expression that is awaited. */
#ifndef WEFT_CXX_CO_HPP
#define WEFT_CXX_CO_HPP

#include "task.hpp"

#if defined __cpp_impl_coroutine && __has_include(<coroutine>)
#include <coroutine>

namespace weft_cxx_
{

inline void resume_job(weft *, void *coroutine)
{
    std::coroutine_handle<>::from_address(coroutine).resume();
}

/* Called when a task ends. It is too late for an error: a pool that is being destroyed takes jobs
 * only from its own jobs, and if there is none, the default pool has to do. */
inline void resume_after(weft_pool *pool, void *coroutine)
{
    int error = weft_submit_detached(pool, resume_job, coroutine, nullptr);
    weft *w = error ? weft_here() : nullptr;
    if (w)
        error = weft_spawn_detached(w, resume_job, coroutine);
    if (error)
        error = weft_submit_detached(nullptr, resume_job, coroutine, nullptr);
    if (error)
        std::terminate(); /* no memory */
}

template <class T> class task_awaiter
{
  public:
    explicit task_awaiter(weft::task<T> &task) : task_(task)
    {
    }
    task_awaiter(const task_awaiter &) = delete;
    task_awaiter &operator=(const task_awaiter &) = delete;
    ~task_awaiter() /* also if the coroutine is destroyed while it waits */
    {
        if (awaited_)
            awaited_->resume_never(coroutine_);
    }

    bool await_ready()
    {
        return task_.done();
    }
    /* Once resume_later() has told the task, the coroutine may run on another thread. */
    bool await_suspend(std::coroutine_handle<> coroutine)
    {
        task_state<T> *awaited = awaited_ = &weft_cxx_task_access_::state(task_);
        coroutine_ = coroutine.address();
        return awaited->resume_later(resume_after, coroutine.address());
    }
    T await_resume()
    {
        awaited_ = nullptr;
        return task_.get();
    }

  private:
    weft::task<T> &task_;
    task_state<T> *awaited_ = nullptr; /* the coroutine is suspended */
    void *coroutine_ = nullptr;
};

/* What promises of all types have. */
struct co_promise_base {
    std::coroutine_handle<> next;      /* the coroutine that waits; or */
    std::shared_ptr<weft::event> over; /* what a thread or job waits for */
    std::exception_ptr thrown;

    struct end {
        bool await_ready() noexcept
        {
            return false;
        }
        /* The last touch of the coroutine: it may be destroyed once the event is set. */
        template <class P>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<P> coroutine) noexcept
        {
            co_promise_base &promise = coroutine.promise();
            if (promise.next)
                return promise.next;
            std::shared_ptr<weft::event> kept = std::move(promise.over);
            kept->set();
            return std::noop_coroutine();
        }
        void await_resume() noexcept
        {
        }
    };
    std::suspend_always initial_suspend() noexcept
    {
        return {};
    }
    end final_suspend() noexcept
    {
        return {};
    }
    void unhandled_exception() noexcept
    {
        thrown = std::current_exception();
    }
    void check()
    {
#ifdef WEFT_THROWS_
        if (thrown)
            std::rethrow_exception(std::move(thrown));
#endif
    }
};

template <class T> struct co_promise : co_promise_base {
    maybe<T> made;

    weft::co<T> get_return_object();
    template <class U = T> void return_value(U &&value) /* also { braces } */
    {
        made.make([&]() -> T { return std::forward<U>(value); });
    }
    T take()
    {
        check();
        return made.take();
    }
};

template <> struct co_promise<void> : co_promise_base {
    weft::co<void> get_return_object();
    void return_void() noexcept
    {
    }
    void take()
    {
        check();
    }
};

} // namespace weft_cxx_

template <class T> inline auto weft::task<T>::operator co_await() &
{
    return weft_cxx_::task_awaiter<T>(*this);
}

template <class T> inline auto weft::task<T>::operator co_await() &&
{
    return weft_cxx_::task_awaiter<T>(*this);
}

/* co_await weft::resume_in(pool); */
class weft::resume_in
{
  public:
    explicit resume_in(const weft::pool &pool) : pool_(pool.get())
    {
    }
    explicit resume_in(weft_pool *pool = nullptr) : pool_(pool)
    {
    }
    bool await_ready() noexcept
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> coroutine)
    {
        weft_cxx_::check(
            weft_submit_detached(pool_, weft_cxx_::resume_job, coroutine.address(), nullptr));
    }
    void await_resume() noexcept
    {
    }

  private:
    weft_pool *pool_;
};

template <class T> class weft::co
{
  public:
    using promise_type = weft_cxx_::co_promise<T>;

    co(co &&other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr))
    {
    }
    co &operator=(co &&other) noexcept
    {
        co old(std::move(other));
        std::swap(coroutine_, old.coroutine_);
        return *this;
    }
    ~co()
    {
        if (coroutine_)
            coroutine_.destroy();
    }

    /* Once. Begins it, in the thread of the coroutine that awaits it. */
    auto operator co_await() &&
    {
        struct awaiter {
            std::coroutine_handle<promise_type> coroutine;
            bool await_ready() noexcept
            {
                return false;
            }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> next) noexcept
            {
                coroutine.promise().next = next;
                return coroutine;
            }
            T await_resume()
            {
                return coroutine.promise().take();
            }
        };
        return awaiter{expect()};
    }

    /* Once. Begins it in the pool, and waits: by a thread outside, or by a job. */
    T get(weft_pool *pool = nullptr)
    {
        std::coroutine_handle<promise_type> coroutine = expect();
        auto over = std::make_shared<weft::event>("the end of a coroutine");
        over->from_outside(); /* what it waits for may be anything */
        coroutine.promise().over = over;
        weft_cxx_::check(
            weft_submit_detached(pool, weft_cxx_::resume_job, coroutine.address(), nullptr));
        over->wait();
        co begun(std::move(*this));
        return coroutine.promise().take();
    }
    T get(const weft::pool &pool)
    {
        return get(pool.get());
    }

  private:
    friend promise_type;
    std::coroutine_handle<promise_type> expect() const
    {
        if (!coroutine_) {
            weft_cxx_::raise(-EINVAL);
            std::terminate(); /* without exceptions */
        }
        return coroutine_;
    }
    explicit co(promise_type &promise)
        : coroutine_(std::coroutine_handle<promise_type>::from_promise(promise))
    {
    }

    std::coroutine_handle<promise_type> coroutine_;
};

template <class T> inline weft::co<T> weft_cxx_::co_promise<T>::get_return_object()
{
    return weft::co<T>(*this);
}

inline weft::co<void> weft_cxx_::co_promise<void>::get_return_object()
{
    return weft::co<void>(*this);
}

#endif
#endif
