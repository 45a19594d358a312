/* SPDX-License-Identifier: MIT */
/* weft/guards.hpp: forks and scopes that exceptions may leave. Part of weft.h, in C++. */
#ifndef WEFT_GUARDS_HPP
#define WEFT_GUARDS_HPP

#ifndef WEFT_H
#error "weft/guards.hpp is a part of weft.h: include that"
#endif

#include <exception>

/* Parameters are called what they are, whatever the globals of the program are called. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

/* If an exception leaves the left side of a fork, no merge is called, and a thief of the right side
 * uses a frame that is gone. A guard merges in any case: its destructor takes the right side back,
 * or cancels it and waits for the thief (weft_fork_cancel()). What a right side throws on another
 * thread cancels the left side (weft_right_failed_()), and leaves merge(). weft(3) says what is
 * promised.
 *
 *     weft::fork_guard right(w, right_fn, &r);
 *     left = compute(right.context(), ...);
 *     if (!right.merge())
 *         r.result = compute(w, ...);
 */
#if WEFT_DEBUG
#define WEFT_GUARD_WHERE_ "weft::fork_guard" /* for messages */
#else
#define WEFT_GUARD_WHERE_ nullptr /* nothing is checked */
#endif

/* What weft::cancelled is, too, which only weft.hpp has: an exception that has no reason of its
 * own. */
struct WEFT_SETTING_ weft_no_reason_ {
};

class weft::fork_guard
{
  public:
    fork_guard(weft *w, weft_fn *right, void *arg, const char *where = WEFT_GUARD_WHERE_)
        : right_(right), arg_(arg), w_(w)
    {
        if (where)
            in_ = weft_fork_checked_(w, right ? run : nullptr, this, where);
        else
            in_ = (weft_fork)(w, run, this);
    }

    ~fork_guard()
    {
        if (w_)
            weft_fork_cancel(w_); /* an exception of the right side is dropped */
    }

    fork_guard(const fork_guard &) = delete;
    fork_guard &operator=(const fork_guard &) = delete;

    /* The left side's, until merge(). */
    weft *context() const
    {
        return in_;
    }

#ifdef WEFT_THROWS_
    /* The left side, which has nothing more to do with the guard. If it ends without a reason of
     * its own, the reason may be what the right side has thrown. */
    void run_left_(weft_fn *left, void *l)
    {
        std::exception_ptr ended;
        try {
            left(in_, l);
        } catch (const weft_no_reason_ &) {
            ended = std::current_exception();
        }
        if (ended) {
            weft *w = w_;
            w_ = nullptr;
            weft_fork_cancel(w);
            std::rethrow_exception(thrown_ ? thrown_ : ended);
        }
    }
#endif

    WEFT_MUST_USE bool merge(const char *where = WEFT_GUARD_WHERE_)
    {
        weft *w = w_;
        w_ = nullptr;
        bool over = where ? weft_merge_checked_(w, where) : (weft_merge)(w);
        if (over && thrown_)
            std::rethrow_exception(thrown_);
        return over;
    }

  private:
    static void run(weft *w, void *self)
    {
        fork_guard *guard = static_cast<fork_guard *>(self);
#ifdef WEFT_THROWS_
        try {
            guard->right_(w, guard->arg_);
        } catch (...) {
            guard->thrown_ = std::current_exception();
        }
        if (guard->thrown_) /* not in the handler: an actor may wait here */
            weft_right_failed_(w);
#else
        guard->right_(w, guard->arg_);
#endif
    }

    weft_fn *right_;
    void *arg_;
    weft *w_;                   /* nullptr: merged */
    weft *in_;                  /* the left side's */
    std::exception_ptr thrown_; /* by the thief; read after the merge */
};

#ifdef WEFT_THROWS_
inline void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r)
{
    weft::fork_guard guard(w, right, r, nullptr);
    guard.run_left_(left, l);
    if (!guard.merge(nullptr))
        right(w, r);
}

#if WEFT_DEBUG
static inline void weft_join_guarded_(weft *w, weft_fn *left, void *l, weft_fn *right, void *r,
                                      const char *where)
{
    weft::fork_guard guard(w, left ? right : nullptr, r, where);
    guard.run_left_(left, l);
    if (!guard.merge(where))
        right(w, r);
}
#define weft_join(...) weft_join_guarded_(__VA_ARGS__, WEFT_WHERE_)
#endif
#endif

/* A scope that is closed in any case: the destructor waits for all children. close() is
 * weft_scope_close(). */
class weft::scope_guard : public weft_scope
{
  public:
    explicit scope_guard(weft *w) : w_(w)
    {
        weft_scope_open(w, this);
    }

    ~scope_guard()
    {
        if (w_ && close())
            return; /* the failure is dropped: a destructor returns nothing */
    }

    scope_guard(const scope_guard &) = delete;
    scope_guard &operator=(const scope_guard &) = delete;

    WEFT_MUST_USE int close()
    {
        weft *w = w_;
        w_ = nullptr;
        return weft_scope_close(w, this);
    }

  private:
    weft *w_; /* nullptr: closed */
};

#pragma GCC diagnostic pop

#endif
