// SPDX-License-Identifier: MIT
//! The functions of libweft that the crate `weft` calls, as they are in C: `weft.h` and the manual
//! pages say what they do. Programs should use the crate `weft`.
#![allow(non_camel_case_types)]

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_int, c_uint, c_void};

/// A context: passed along, never stored.
#[repr(C)]
pub struct weft {
    _opaque: [u8; 0],
    _of_one_thread: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct weft_pool {
    _opaque: [u8; 0],
    _by_pointer_only: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct weft_actor {
    _opaque: [u8; 0],
    _by_pointer_only: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C, align(8))]
pub struct weft_scope {
    pub opaque: [u8; 192],
}

/// The beginning of C's weft_config. The library takes a short one: the rest has its defaults.
#[repr(C)]
pub struct weft_config {
    pub size: usize,
    pub workers: c_uint,
    pub flags: c_uint,
}

pub type weft_fn = unsafe extern "C" fn(w: *mut weft, arg: *mut c_void);
pub type weft_range_fn =
    unsafe extern "C" fn(w: *mut weft, begin: usize, end: usize, arg: *mut c_void);

/// What sizes this crate was written with. The library compares it with its own, and ends the
/// process if it is another: see WEFT_LAYOUT_ in weft/inline.h.
pub const LAYOUT: c_uint = 2;

pub const ECANCELED: c_int = 125; // on Linux

extern "C" {
    pub fn weft_version() -> *const c_char;
    pub fn weft_strerror(error: c_int) -> *const c_char;

    pub fn weft_pool_create(pool: *mut *mut weft_pool, config: *const weft_config) -> c_int;
    pub fn weft_pool_destroy(pool: *mut weft_pool) -> c_int;
    pub fn weft_pool_workers(pool: *const weft_pool) -> c_uint;

    /// weft_run(), which is inline in C: with LAYOUT as the last argument.
    pub fn weft_run_(pool: *mut weft_pool, f: weft_fn, arg: *mut c_void, layout: c_uint) -> c_int;
    pub fn weft_fork(w: *mut weft, right: weft_fn, arg: *mut c_void) -> *mut weft;
    pub fn weft_merge(w: *mut weft) -> bool;

    pub fn weft_scope_open(w: *mut weft, scope: *mut weft_scope);
    pub fn weft_scope_close(w: *mut weft, scope: *mut weft_scope) -> c_int;
    pub fn weft_fail(w: *mut weft, code: c_int);

    pub fn weft_here() -> *mut weft;
    pub fn weft_actor_self(w: *mut weft) -> *mut weft_actor;

    pub fn weft_for(w: *mut weft, begin: usize, end: usize, body: weft_range_fn, arg: *mut c_void);

    pub fn weft_sort_u32(w: *mut weft, base: *mut u32, n: usize);
    pub fn weft_sort_i32(w: *mut weft, base: *mut i32, n: usize);
    pub fn weft_sort_u64(w: *mut weft, base: *mut u64, n: usize);
    pub fn weft_sort_i64(w: *mut weft, base: *mut i64, n: usize);
    pub fn weft_sort_f32(w: *mut weft, base: *mut f32, n: usize);
    pub fn weft_sort_f64(w: *mut weft, base: *mut f64, n: usize);
}
