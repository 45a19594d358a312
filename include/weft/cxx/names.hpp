/* SPDX-License-Identifier: MIT */
/* weft/cxx/names.hpp: the names of weft.hpp. Part of weft/inline.h.
 *
 * `weft` is a type in C, so C++ can't have a namespace of that name. But a type has members: all of
 * weft:: is declared here, inside of struct weft, and defined by weft.hpp.
 *
 * Files that are compiled with -fno-exceptions have other names for the linker: so they can be a
 * part of a program that has exceptions elsewhere. */
#if defined WEFT_INLINE_H && __cplusplus >= 201703L

/* Errors, see error.hpp. */
class WEFT_SETTING_ error;
class WEFT_SETTING_ cancelled;

/* Where am I; see pool.hpp. */
WEFT_SETTING_ static inline weft *here();
WEFT_SETTING_ static inline bool is_cancelled();
class WEFT_SETTING_ pool;
class WEFT_SETTING_ blocking;
template <class... A> WEFT_SETTING_ static decltype(auto) run(A &&...args);

/* Two sides, see join.hpp. */
template <class L, class R> WEFT_SETTING_ static auto join(weft *w, L &&left, R &&right);
template <class L, class R> WEFT_SETTING_ static auto join(L &&left, R &&right);

/* Any number of children, see scope.hpp. */
class WEFT_SETTING_ scope;
template <class... A> WEFT_SETTING_ static decltype(auto) in_scope(A &&...args);

/* Loops, see loops.hpp; reductions and scans, see reduce.hpp; sorting, see sort.hpp. */
template <class... A> WEFT_SETTING_ static void for_each_index(A &&...args);
template <class... A> WEFT_SETTING_ static void for_ranges(A &&...args);
template <class... A> WEFT_SETTING_ static void for_each(A &&...args);
template <class... A> WEFT_SETTING_ static auto reduce(A &&...args);
template <class... A> WEFT_SETTING_ static auto transform_reduce(A &&...args);
template <class... A> WEFT_SETTING_ static void inclusive_scan(A &&...args);
template <class... A> WEFT_SETTING_ static void exclusive_scan(A &&...args);
template <class... A> WEFT_SETTING_ static void sort(A &&...args);
template <class... A> WEFT_SETTING_ static void stable_sort(A &&...args);

/* Jobs that run by themselves, see task.hpp; coroutines, see co.hpp (C++20). */
template <class T> class WEFT_SETTING_ task;
template <class... A> WEFT_SETTING_ static auto submit(A &&...args);
template <class... A> WEFT_SETTING_ static void submit_detached(A &&...args);
template <class T = void> class WEFT_SETTING_ co;
class WEFT_SETTING_ resume_in;

/* Jobs that wait for other jobs, see graph.hpp. */
class WEFT_SETTING_ graph;

/* Locks and channels, see sync.hpp. */
class WEFT_SETTING_ mutex;
class WEFT_SETTING_ shared_mutex;
class WEFT_SETTING_ condition;
class WEFT_SETTING_ semaphore;
class WEFT_SETTING_ event;
template <class T> class WEFT_SETTING_ channel;

/* Actors, see actor.hpp. */
template <class M = void> class WEFT_SETTING_ actor;
template <class M = void> class WEFT_SETTING_ mailbox;

#endif
