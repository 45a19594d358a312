/* SPDX-License-Identifier: MIT */
/* Without its keywords, a Cilk program is a sequential C program that computes the same. So the
 * programs for OpenCilk can be compiled and tried where there is no OpenCilk. */
#define cilk_spawn
#define cilk_sync
#define cilk_for for
#define cilk_reducer(identity, reduce)
