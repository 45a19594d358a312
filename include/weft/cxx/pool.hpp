/* SPDX-License-Identifier: MIT */
/* weft/cxx/pool.hpp: pools, and how to get into them. Part of weft.hpp.
 *
 *     long n = weft::run([](weft *w) { return fib(w, 38); });       in the default pool
 *
 *     weft::pool pool(4);                                           or of a weft_config
 *     long m = pool.run([](weft *w) { return fib(w, 38); });        or weft::run(pool, ...)
 *
 * run() returns what the job returns, and throws what the job throws. If the job has failed in
 * another way (weft_fail()), it throws a weft::error: the first failure counts. In a job of the
 * same pool, run() is a call. */
#ifndef WEFT_CXX_POOL_HPP
#define WEFT_CXX_POOL_HPP

#include "error.hpp"

namespace weft_cxx_
{

/* A job that a thread waits for: the function, and what became of it. */
template <class F> struct waited_job {
    F &function;
    failure failed;
    maybe<result<F>> made;

    explicit waited_job(F &f) : function(f)
    {
    }

    static void run(weft *w, void *self)
    {
        waited_job *job = static_cast<waited_job *>(self);
        job->failed.attempt_in(w, [&] {
            job->made.make(
                [&]() -> result<F> { return weft_cxx_::call_for_result(job->function, w); });
        });
    }

    /* `code` is what the job has failed with. */
    decltype(auto) take(int code)
    {
        failed.check(code);
        if constexpr (std::is_void_v<decltype(weft_cxx_::call(function, nullptr))>)
            return;
        else
            return result<F>(made.has() ? made.take() : no_result<result<F>>(-ECANCELED));
    }
};

template <class F> inline decltype(auto) run(weft_pool *pool, F &f)
{
    waited_job<F> job(f);
    return job.take(weft_run(pool, waited_job<F>::run, &job));
}

/* Calls f(w) with the context of this thread; a thread outside becomes a guest. */
template <class F> inline decltype(auto) in_job(F &&f)
{
    if (weft *w = weft_here())
        return f(w);
    return weft_cxx_::run(nullptr, f);
}

/* The same with algorithm(w, args...), if w is not the first of them already. */
template <class F, class A, class... B>
inline decltype(auto) in_job_with(F algorithm, A &&first, B &&...rest)
{
    if constexpr (has_context<A>)
        return algorithm(first, std::forward<B>(rest)...);
    else
        return weft_cxx_::in_job([&](weft *w) -> decltype(auto) {
            return algorithm(w, std::forward<A>(first), std::forward<B>(rest)...);
        });
}

} // namespace weft_cxx_

/* The context of the calling thread; nullptr outside jobs. */
inline weft *weft::here()
{
    return weft_here();
}

/* For long loops; false outside jobs. */
inline bool weft::is_cancelled()
{
    weft *w = weft_here();
    return w && weft_cancelled(w);
}

class weft::pool
{
  public:
    /* So many workers; 0: as many as there are CPUs for them. */
    explicit pool(unsigned workers = 0)
    {
        weft_config config = WEFT_CONFIG_INIT;
        config.workers = workers;
        weft_cxx_::check(weft_pool_create(&pool_, &config));
    }
    explicit pool(const weft_config &config)
    {
        weft_cxx_::check(weft_pool_create(&pool_, &config));
    }

    /* Finishes what was submitted, then joins the workers. In a job of the same pool that can't be:
     * std::terminate() is called. */
    ~pool()
    {
        int error = pool_ ? weft_pool_destroy(pool_) : 0;
        if (error && error != -ECHILD) /* a forked child has no workers to join */
            weft_cxx_::raise(error);
    }
    pool(pool &&other) noexcept : pool_(std::exchange(other.pool_, nullptr))
    {
    }
    pool &operator=(pool &&other) noexcept
    {
        std::swap(pool_, other.pool_);
        return *this;
    }

    weft_pool *get() const noexcept
    {
        return pool_;
    }
    unsigned workers() const
    {
        return weft_pool_workers(pool_);
    }
    template <class F> decltype(auto) run(F &&f)
    {
        return weft_cxx_::run(pool_, f);
    }
    template <class F> auto submit(F &&f); /* see task.hpp */

  private:
    weft_pool *pool_ = nullptr;
};

namespace weft_cxx_
{

inline weft_pool *pool_of(weft_pool *pool)
{
    return pool;
}
inline weft_pool *pool_of(const weft::pool &pool)
{
    return pool.get();
}

template <class F> inline decltype(auto) run_in(F &f)
{
    return weft_cxx_::run(nullptr, f);
}
template <class P, class F> inline decltype(auto) run_in(P &pool, F &f)
{
    return weft_cxx_::run(weft_cxx_::pool_of(pool), f);
}

} // namespace weft_cxx_

template <class... A> inline decltype(auto) weft::run(A &&...args)
{
    static_assert(sizeof...(args) == 1 || sizeof...(args) == 2,
                  "weft::run(function) or weft::run(pool, function)");
    return weft_cxx_::run_in(args...);
}

/* Around code that blocks; see weft_block_begin(). */
class weft::blocking
{
  public:
    explicit blocking(weft *w = weft_here()) : w_(w)
    {
        weft_block_begin(w_);
    }
    ~blocking()
    {
        weft_block_end(w_);
    }
    blocking(const blocking &) = delete;
    blocking &operator=(const blocking &) = delete;

  private:
    weft *w_;
};

#endif
