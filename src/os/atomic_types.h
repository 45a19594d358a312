/* SPDX-License-Identifier: MIT */
/* atomic_types.h: what atomic.h works on. */
#ifndef WEFT_OS_ATOMIC_TYPES_H
#define WEFT_OS_ATOMIC_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct atomic_bool {
    _Atomic(bool) value;
};
struct atomic_i32 {
    _Atomic(int32_t) value;
};
struct atomic_u32 {
    _Atomic(uint32_t) value;
};
struct atomic_i64 {
    _Atomic(int64_t) value;
};
struct atomic_u64 {
    _Atomic(uint64_t) value;
};
struct atomic_size {
    _Atomic(size_t) value;
};
struct atomic_uptr {
    _Atomic(uintptr_t) value;
};
struct atomic_ptr {
    _Atomic(void *) value;
};

/* What two threads write at the same time stays this far apart. */
#define WEFT__CACHE_LINE 64
#define WEFT__ALIGNED _Alignas(WEFT__CACHE_LINE)

#endif
