/* SPDX-License-Identifier: MIT */
/* weft.hpp: fork-join parallelism for C++17 and later. weft_cxx(7) is its manual page.
 *
 *     #include <weft.hpp>
 *
 *     static long fib(weft *w, long n)
 *     {
 *         if (n < 2)
 *             return n;
 *         auto [left, right] = weft::join(w, [=](weft *in) { return fib(in, n - 1); },
 *                                            [=](weft *in) { return fib(in, n - 2); });
 *         return left + right;
 *     }
 *
 *     long result = weft::run([](weft *w) { return fib(w, 38); });
 *
 * All of weft:: is a thin layer on top of the C interface, and can be mixed with it: the context is
 * the same `weft *`. `weft` is a type, not a namespace; so there is no `using namespace weft`. What
 * it adds is typed results, functions with captures, memory that is freed by itself, and exceptions
 * that travel to the thread that waits: error.hpp says how.
 *
 * Functions of the program take their context, `weft *w`, or nothing. Functions of weft:: take it
 * first, where it may be left out: then it is looked for (weft::here()), which takes longer; and a
 * thread outside becomes a guest of the default pool. */
#ifndef WEFT_HPP
#define WEFT_HPP

#if __cplusplus < 201703L
#error "weft.hpp needs C++17"
#endif

/* Parameters are called what they are, whatever the globals of the program are called; and the C
 * headers have casts of C. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#include "weft/cxx/actor.hpp"  /* actor, mailbox */
#include "weft/cxx/co.hpp"     /* co, resume_in (C++20) */
#include "weft/cxx/error.hpp"  /* error, cancelled */
#include "weft/cxx/graph.hpp"  /* graph */
#include "weft/cxx/join.hpp"   /* join */
#include "weft/cxx/loops.hpp"  /* for_each_index, for_ranges, for_each */
#include "weft/cxx/pool.hpp"   /* run, pool, here, is_cancelled, blocking */
#include "weft/cxx/reduce.hpp" /* reduce, transform_reduce, inclusive_scan, exclusive_scan */
#include "weft/cxx/scope.hpp"  /* scope, in_scope */
#include "weft/cxx/sort.hpp"   /* sort, stable_sort */
#include "weft/cxx/sync.hpp"   /* mutex, shared_mutex, condition, semaphore, event, channel */
#include "weft/cxx/task.hpp"   /* submit, submit_detached, task */
#pragma GCC diagnostic pop

#endif
