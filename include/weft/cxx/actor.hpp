/* SPDX-License-Identifier: MIT */
/* weft/cxx/actor.hpp: computations that share a pool fairly, and their messages. Part of weft.hpp.
 *
 *     weft::actor<std::string> log(pool, [](weft *w, weft::mailbox<std::string> &mail) {
 *         for (std::string line = mail.receive(w); line != "end"; line = mail.receive(w))
 *             std::puts(line.c_str());
 *     });
 *     log.run();
 *     log.send("a line");
 *     log.send("end");
 *     log.wait();
 *
 * The function takes (w, mail), (w), (mail) or nothing, and returns nothing or an int: 0, or what
 * the actor fails with. It is moved or copied into the actor, and destroyed when the actor is over
 * and its handle is gone. Messages may be of any movable type; those that were not received are
 * destroyed. An actor without messages is a weft::actor<>.
 *
 * wait() throws what the function has thrown, or a weft::error if the actor has ended for another
 * reason: see weft_actor_wait(). The destructor kills the actor, and waits; after detach() it goes
 * on alone. Mind that an actor that is killed ends as if by longjmp(): destructors of what is on
 * its stack are not called; weft_defer() is for that. So end actors by a message where you can. */
#ifndef WEFT_CXX_ACTOR_HPP
#define WEFT_CXX_ACTOR_HPP

#include "../actor.h"
#include "pool.hpp"
#include "sync.hpp"

#include <memory>

namespace weft_cxx_
{

/* A message is a pointer in C. */
template <class M> struct letter {
    using parcel = weft_cxx_::parcel<M, sizeof(void *)>;
    using type = typename parcel::type;

    template <class U> static void *wrap(U &&value)
    {
        void *message = nullptr;
        type sent = parcel::wrap(std::forward<U>(value));
        std::memcpy(&message, std::addressof(sent), sizeof sent);
        return message;
    }
    union place {
        type one;
        explicit place(void *message)
        {
            std::memcpy(static_cast<void *>(std::addressof(one)), &message, sizeof(type));
        }
    };
    static M unwrap(void *message)
    {
        return parcel::unwrap(place(message).one);
    }
    static void drop(void *message, void *)
    {
        parcel::drop(place(message).one);
    }
};

/* What the handle and the actor share. The second of them to go deletes it. */
struct actor_state {
    failure failed;
    std::atomic<int> holds{2};

    virtual ~actor_state() = default;
    virtual int call(weft *w) = 0;

    void let_go()
    {
        if (holds.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
    static int run(weft *w, void *self)
    {
        actor_state *state = static_cast<actor_state *>(self);
        int reason = 0;
        int code = state->failed.attempt([&] { reason = state->call(w); });
        return code ? code : reason;
    }
    static void is_over(weft_actor *, int, void *self)
    {
        static_cast<actor_state *>(self)->let_go();
    }
};

} // namespace weft_cxx_

/* The messages of the actor that has it. */
template <class M> class weft::mailbox
{
  public:
    /* Waits for a message. */
    M receive(weft *w = weft_here())
    {
        void *message = nullptr;
        int error = weft_receive(w, &message);
        return error ? weft_cxx_::no_result<M>(error) : weft_cxx_::letter<M>::unwrap(message);
    }
    std::optional<M> try_receive(weft *w = weft_here())
    {
        void *message = nullptr;
        return opened(weft_try_receive(w, &message), message);
    }
    /* Nothing: there was none until `when`. */
    template <class T> std::optional<M> receive_until(const T &when, weft *w = weft_here())
    {
        void *message = nullptr;
        return opened(weft_receive_until(w, &message, weft_cxx_::moment(when)), message);
    }

  private:
    static std::optional<M> opened(int error, void *message)
    {
        if (error && error != -EAGAIN && error != -ETIMEDOUT)
            weft_cxx_::raise(error);
        if (error)
            return std::nullopt;
        return std::optional<M>(weft_cxx_::letter<M>::unwrap(message));
    }
};

template <> class weft::mailbox<void>
{
};

namespace weft_cxx_
{

template <class M, class F> struct actor_of final : actor_state {
    F function;
    weft::mailbox<M> mail;

    template <class G> explicit actor_of(G &&f) : function(std::forward<G>(f))
    {
    }
    decltype(auto) invoke(weft *w)
    {
        if constexpr (std::is_invocable_v<F &, weft *, weft::mailbox<M> &>)
            return function(w, mail);
        else if constexpr (std::is_invocable_v<F &, weft::mailbox<M> &>)
            return function(mail);
        else
            return weft_cxx_::call(function, w);
    }
    int call(weft *w) override
    {
        if constexpr (std::is_void_v<decltype(invoke(w))>) {
            invoke(w);
            return 0;
        } else {
            return static_cast<int>(invoke(w));
        }
    }
};

} // namespace weft_cxx_

template <class M> class weft::actor
{
  public:
    /* The actor does nothing until run(), or its first message. Of a configuration, `drop`,
     * `supervisor` and `data` are not used. */
    template <class F>
    actor(weft_pool *pool, F &&f, weft_actor_config config = WEFT_ACTOR_CONFIG_INIT)
    {
        using function = std::decay_t<F>;
        auto *state = new weft_cxx_::actor_of<M, function>(std::forward<F>(f));
        config.supervisor = weft_cxx_::actor_state::is_over;
        config.data = static_cast<weft_cxx_::actor_state *>(state);
        config.drop = nullptr;
        if constexpr (!std::is_void_v<M>)
            config.drop = weft_cxx_::letter<M>::drop;
        int error =
            weft_actor_create(&actor_, pool, weft_cxx_::actor_state::run, config.data, &config);
        if (error)
            delete state;
        else
            state_ = state;
        weft_cxx_::check(error);
    }
    template <class F>
    actor(const weft::pool &pool, F &&f, weft_actor_config config = WEFT_ACTOR_CONFIG_INIT)
        : actor(pool.get(), std::forward<F>(f), config)
    {
    }
    actor(actor &&other) noexcept
        : actor_(std::exchange(other.actor_, nullptr)), state_(std::exchange(other.state_, nullptr))
    {
    }
    actor &operator=(actor &&other) noexcept
    {
        actor old(std::move(other));
        std::swap(actor_, old.actor_);
        std::swap(state_, old.state_);
        return *this;
    }
    ~actor()
    {
        if (!actor_)
            return;
        kill();
        (void)weft_actor_wait(nullptr, actor_); /* or it is itself: then it ends soon */
        detach();
    }

    void run()
    {
        int error = weft_actor_run(actor_);
        if (error && error != -EALREADY)
            weft_cxx_::raise(error);
    }
    void kill()
    {
        weft_actor_kill(actor_);
    }
    bool done() const
    {
        return weft_actor_done(actor_);
    }
    void wait(weft *w = weft_here())
    {
        state_->failed.check(weft_actor_wait(w, actor_));
    }
    /* The actor goes on alone, and this handle is empty. */
    void detach()
    {
        weft_actor_release(std::exchange(actor_, nullptr));
        std::exchange(state_, nullptr)->let_go();
    }

    /* False: the actor is over, and the message is destroyed. Waits for room in the mailbox. */
    template <class U> bool send(U &&message, weft *w = weft_here())
    {
        return post(std::forward<U>(message),
                    [&](void *one) { return weft_actor_send(w, actor_, one); });
    }
    /* False: it is over, or the mailbox is full. */
    template <class U> bool try_send(U &&message, weft *w = weft_here())
    {
        return post(std::forward<U>(message),
                    [&](void *one) { return weft_actor_try_send(w, actor_, one); });
    }
    weft_actor *get() const noexcept
    {
        return actor_;
    }

  private:
    template <class U, class F> bool post(U &&message, F send)
    {
        void *one = weft_cxx_::letter<M>::wrap(std::forward<U>(message));
        int error = send(one);
        if (error)
            weft_cxx_::letter<M>::drop(one, nullptr);
        if (error && error != -EPIPE && error != -EAGAIN)
            weft_cxx_::raise(error);
        return error == 0;
    }

    weft_actor *actor_ = nullptr;
    weft_cxx_::actor_state *state_ = nullptr;
};

#endif
