/* SPDX-License-Identifier: MIT */
/* weft/cxx/sync.hpp: locks and channels that a pool knows of. Part of weft.hpp.
 *
 * The locks are those of weft/sync.h, in the shape of the standard library's: std::lock_guard,
 * std::unique_lock and std::shared_lock hold them. They are for jobs, actors and threads outside.
 * All functions take the caller's context, or find it, as lock_guard does; what is said in
 * weft/sync.h holds here. A time is what weft_now() counts, or a std::chrono::steady_clock's.
 *
 * Waits with a time limit return false if it was reached, and throw weft::cancelled if the caller's
 * computation is cancelled meanwhile. */
#ifndef WEFT_CXX_SYNC_HPP
#define WEFT_CXX_SYNC_HPP

#include "../sync.h"
#include "error.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

namespace weft_cxx_
{

inline std::uint64_t moment(std::uint64_t when)
{
    return when;
}

/* Both clocks count from the same moment: CLOCK_MONOTONIC. */
template <class D>
inline std::uint64_t moment(const std::chrono::time_point<std::chrono::steady_clock, D> &when)
{
    auto since = std::chrono::ceil<std::chrono::nanoseconds>(when.time_since_epoch()).count();
    return since < 0 ? 0 : static_cast<std::uint64_t>(since);
}

template <class Rep, class Period>
inline std::uint64_t moment_in(const std::chrono::duration<Rep, Period> &wait)
{
    return moment(std::chrono::steady_clock::now() + wait);
}

/* True: 0. False: the time limit was reached. */
inline bool in_time(int error)
{
    if (error && error != -ETIMEDOUT)
        raise(error);
    return error == 0;
}

} // namespace weft_cxx_

/* ---- Locks -------------------------------------------------------------------- */

class weft::mutex
{
  public:
    explicit mutex(const char *name = nullptr) /* for reports */
    {
        weft_mutex_init(&mutex_, name);
    }
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;

    void lock(weft *w = nullptr)
    {
        weft_mutex_lock(w, &mutex_);
    }
    bool try_lock(weft *w = nullptr)
    {
        return weft_mutex_trylock(w, &mutex_);
    }
    template <class T> bool try_lock_until(const T &when, weft *w = nullptr)
    {
        return weft_cxx_::in_time(weft_mutex_lock_until(w, &mutex_, weft_cxx_::moment(when)));
    }
    template <class T> bool try_lock_for(const T &wait, weft *w = nullptr)
    {
        return try_lock_until(weft_cxx_::moment_in(wait), w);
    }
    void unlock(weft *w = nullptr)
    {
        weft_mutex_unlock(w, &mutex_);
    }
    weft_mutex *native_handle()
    {
        return &mutex_;
    }

  private:
    weft_mutex mutex_;
};

class weft::shared_mutex
{
  public:
    explicit shared_mutex(const char *name = nullptr)
    {
        weft_rwlock_init(&lock_, name);
    }
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    void lock(weft *w = nullptr)
    {
        weft_rwlock_lock_write(w, &lock_);
    }
    bool try_lock(weft *w = nullptr)
    {
        return weft_rwlock_trylock_write(w, &lock_);
    }
    template <class T> bool try_lock_until(const T &when, weft *w = nullptr)
    {
        return weft_cxx_::in_time(weft_rwlock_lock_write_until(w, &lock_, weft_cxx_::moment(when)));
    }
    template <class T> bool try_lock_for(const T &wait, weft *w = nullptr)
    {
        return try_lock_until(weft_cxx_::moment_in(wait), w);
    }
    void unlock(weft *w = nullptr)
    {
        weft_rwlock_unlock(w, &lock_);
    }
    void lock_shared(weft *w = nullptr)
    {
        weft_rwlock_lock_read(w, &lock_);
    }
    bool try_lock_shared(weft *w = nullptr)
    {
        return weft_rwlock_trylock_read(w, &lock_);
    }
    template <class T> bool try_lock_shared_until(const T &when, weft *w = nullptr)
    {
        return weft_cxx_::in_time(weft_rwlock_lock_read_until(w, &lock_, weft_cxx_::moment(when)));
    }
    template <class T> bool try_lock_shared_for(const T &wait, weft *w = nullptr)
    {
        return try_lock_shared_until(weft_cxx_::moment_in(wait), w);
    }
    void unlock_shared(weft *w = nullptr)
    {
        weft_rwlock_unlock(w, &lock_);
    }
    weft_rwlock *native_handle()
    {
        return &lock_;
    }

  private:
    weft_rwlock lock_;
};

/* As std::condition_variable. */
class weft::condition
{
  public:
    explicit condition(const char *name = nullptr)
    {
        weft_condition_init(&condition_, name);
    }
    condition(const condition &) = delete;
    condition &operator=(const condition &) = delete;

    void wait(std::unique_lock<weft::mutex> &held, weft *w = nullptr)
    {
        weft_condition_wait(w, &condition_, held.mutex()->native_handle());
    }
    template <class P, class = std::enable_if_t<std::is_invocable_r_v<bool, P &>>>
    void wait(std::unique_lock<weft::mutex> &held, P is_so, weft *w = nullptr)
    {
        while (!is_so())
            wait(held, w);
    }
    template <class T>
    bool wait_until(std::unique_lock<weft::mutex> &held, const T &when, weft *w = nullptr)
    {
        return weft_cxx_::in_time(weft_condition_wait_until(
            w, &condition_, held.mutex()->native_handle(), weft_cxx_::moment(when)));
    }
    void notify_one(weft *w = nullptr)
    {
        weft_condition_signal(w, &condition_);
    }
    void notify_all(weft *w = nullptr)
    {
        weft_condition_broadcast(w, &condition_);
    }

  private:
    weft_condition condition_;
};

class weft::semaphore
{
  public:
    explicit semaphore(std::size_t count = 0, const char *name = nullptr)
    {
        weft_semaphore_init(&semaphore_, name, count);
    }
    semaphore(const semaphore &) = delete;
    semaphore &operator=(const semaphore &) = delete;

    void acquire(weft *w = nullptr)
    {
        weft_semaphore_acquire(w, &semaphore_);
    }
    bool try_acquire(weft *w = nullptr)
    {
        return weft_semaphore_try_acquire(w, &semaphore_);
    }
    template <class T> bool try_acquire_until(const T &when, weft *w = nullptr)
    {
        return weft_cxx_::in_time(
            weft_semaphore_acquire_until(w, &semaphore_, weft_cxx_::moment(when)));
    }
    void release(std::size_t n = 1, weft *w = nullptr)
    {
        weft_semaphore_release(w, &semaphore_, n);
    }

  private:
    weft_semaphore semaphore_;
};

class weft::event
{
  public:
    explicit event(const char *name = nullptr)
    {
        weft_event_init(&event_, name);
    }
    event(const event &) = delete;
    event &operator=(const event &) = delete;

    void wait(weft *w = nullptr)
    {
        weft_event_wait(w, &event_);
    }
    template <class T> bool wait_until(const T &when, weft *w = nullptr)
    {
        return weft_cxx_::in_time(weft_event_wait_until(w, &event_, weft_cxx_::moment(when)));
    }
    void set(weft *w = nullptr)
    {
        weft_event_set(w, &event_);
    }
    void reset(weft *w = nullptr)
    {
        weft_event_reset(w, &event_);
    }
    bool is_set() const
    {
        return weft_event_is_set(&event_);
    }
    void from_outside() /* threads outside set it, too */
    {
        weft_event_from_outside(&event_);
    }

  private:
    weft_event event_;
};

/* ---- Messages ------------------------------------------------------------------ */

namespace weft_cxx_
{

/* What travels through C: the value itself if it is plain data of at most `most` bytes, otherwise
 * the address of a value of its own. */
template <class T, std::size_t most> struct parcel {
    static constexpr bool is_value = std::is_trivially_copyable_v<T> &&
                                     std::is_trivially_destructible_v<T> && sizeof(T) <= most &&
                                     alignof(T) <= alignof(std::max_align_t);
    using type = std::conditional_t<is_value, T, T *>;

    template <class U> static type wrap(U &&value)
    {
        if constexpr (is_value)
            return T(std::forward<U>(value));
        else
            return new T(std::forward<U>(value));
    }
    static T unwrap(type &&sent)
    {
        if constexpr (is_value)
            return std::move(sent);
        else
            return std::move(*std::unique_ptr<T>(sent));
    }
    static void drop(const type &sent)
    {
        if constexpr (!is_value)
            delete sent;
    }
};

} // namespace weft_cxx_

/* Values of any movable type, first in, first out. Values that were not received are destroyed with
 * the channel. */
template <class T> class weft::channel
{
  public:
    /* At most so many values wait in it; 0: a sender waits for its receiver; WEFT_UNLIMITED. */
    explicit channel(std::size_t capacity = 0, const char *name = nullptr)
    {
        weft_cxx_::check(weft_channel_init(&channel_, name, sizeof(sent), capacity));
    }
    ~channel()
    {
        weft_channel_close(nullptr, &channel_);
        place left;
        while (weft_channel_try_receive(nullptr, &channel_, std::addressof(left.one)) == 0)
            parcel::drop(left.one);
        weft_channel_destroy(&channel_);
    }
    channel(const channel &) = delete;
    channel &operator=(const channel &) = delete;

    /* False: it is closed, and the value is destroyed. */
    template <class U> bool send(U &&value, weft *w = nullptr)
    {
        return put(std::forward<U>(value),
                   [&](const sent *one) { return weft_channel_send(w, &channel_, one); });
    }
    /* False: closed, or it is full now. */
    template <class U> bool try_send(U &&value, weft *w = nullptr)
    {
        return put(std::forward<U>(value),
                   [&](const sent *one) { return weft_channel_try_send(w, &channel_, one); });
    }
    /* False: closed, or the time limit was reached. */
    template <class U, class M> bool send_until(U &&value, const M &when, weft *w = nullptr)
    {
        return put(std::forward<U>(value), [&](const sent *one) {
            return weft_channel_send_until(w, &channel_, one, weft_cxx_::moment(when));
        });
    }

    /* Nothing: it is closed, and all was received. */
    std::optional<T> receive(weft *w = nullptr)
    {
        return get([&](sent *one) { return weft_channel_receive(w, &channel_, one); });
    }
    std::optional<T> try_receive(weft *w = nullptr)
    {
        return get([&](sent *one) { return weft_channel_try_receive(w, &channel_, one); });
    }
    template <class M> std::optional<T> receive_until(const M &when, weft *w = nullptr)
    {
        return get([&](sent *one) {
            return weft_channel_receive_until(w, &channel_, one, weft_cxx_::moment(when));
        });
    }

    void close(weft *w = nullptr)
    {
        weft_channel_close(w, &channel_);
    }
    void from_outside() /* threads outside use it, too */
    {
        weft_channel_from_outside(&channel_);
    }

  private:
    using parcel = weft_cxx_::parcel<T, 64>;
    using sent = typename parcel::type;
    union place { /* for a value that comes */
        sent one;
        place()
        {
        }
    };

    static bool has_passed(int error)
    {
        if (error && error != -EPIPE && error != -EAGAIN && error != -ETIMEDOUT)
            weft_cxx_::raise(error);
        return error == 0;
    }
    template <class U, class F> static bool put(U &&value, F send)
    {
        sent one = parcel::wrap(std::forward<U>(value));
        int error = send(std::addressof(one));
        if (error)
            parcel::drop(one);
        return has_passed(error);
    }
    template <class F> static std::optional<T> get(F receive)
    {
        place got;
        if (!has_passed(receive(std::addressof(got.one))))
            return std::nullopt;
        return std::optional<T>(parcel::unwrap(std::move(got.one)));
    }

    weft_channel channel_;
};

#endif
