/* SPDX-License-Identifier: MIT */
/* weft/cxx/names.hpp: the names of weft.hpp. Part of weft/inline.h.
 *
 * `weft` is a type in C, so C++ can't have a namespace of that name. But a type has members: all of
 * weft:: is declared here, inside of struct weft, and defined by weft.hpp. */
#if defined WEFT_INLINE_H && __cplusplus >= 201703L

/* Errors, see error.hpp. */
class error;
class cancelled;

/* Where am I; see pool.hpp. */
static inline weft *here();
static inline bool is_cancelled();
class pool;
class blocking;
template <class... A> static decltype(auto) run(A &&...args);

/* Two sides, see join.hpp. */
template <class L, class R> static auto join(weft *w, L &&left, R &&right);
template <class L, class R> static auto join(L &&left, R &&right);

/* Any number of children, see scope.hpp. */
class scope;
template <class... A> static decltype(auto) in_scope(A &&...args);

/* Loops, see loops.hpp; reductions and scans, see reduce.hpp; sorting, see sort.hpp. */
template <class... A> static void for_each_index(A &&...args);
template <class... A> static void for_ranges(A &&...args);
template <class... A> static void for_each(A &&...args);
template <class... A> static auto reduce(A &&...args);
template <class... A> static auto transform_reduce(A &&...args);
template <class... A> static void inclusive_scan(A &&...args);
template <class... A> static void exclusive_scan(A &&...args);
template <class... A> static void sort(A &&...args);
template <class... A> static void stable_sort(A &&...args);

/* Jobs that run by themselves, see task.hpp; coroutines, see co.hpp (C++20). */
template <class T> class task;
template <class... A> static auto submit(A &&...args);
template <class... A> static void submit_detached(A &&...args);
template <class T = void> class co;
class resume_in;

/* Jobs that wait for other jobs, see graph.hpp. */
class graph;

/* Locks and channels, see sync.hpp. */
class mutex;
class shared_mutex;
class condition;
class semaphore;
class event;
template <class T> class channel;

/* Actors, see actor.hpp. */
template <class M = void> class actor;
template <class M = void> class mailbox;

#endif
