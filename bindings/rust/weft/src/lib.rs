// SPDX-License-Identifier: MIT
//! Fork-join parallelism: forks that cost a few nanoseconds, on the workers of libweft.
//!
//! ```
//! use weft::Context;
//!
//! fn fib(cx: &mut Context, n: u64) -> u64 {
//!     if n < 2 {
//!         return n;
//!     }
//!     let (a, b) = cx.join(|cx| fib(cx, n - 1), |cx| fib(cx, n - 2));
//!     a + b
//! }
//!
//! assert_eq!(weft::run(|cx| fib(cx, 20)), 6765);
//! ```
//!
//! Everything is there twice: as a method of [`Context`], which is faster, and as a function that
//! finds the context by itself, such as [`join`].
//!
//! A panic in any part travels to the caller, as it would through an ordinary call.
//!
//! # Why a context can't be misused
//!
//! A [`Context`] is the top of a stack of pending forks. Code below that top must not fork. So all
//! closures that run while a fork is pending are `Send`, and a `Context` is not: no closure can
//! have the context of the code around it. Its lifetime is that of one call, so it can't be kept.
//!
//! ```compile_fail
//! weft::run(|outer| {
//!     outer.join(|_| outer.join(|_| 1, |_| 2), |_| 3);
//! });
//! ```
//! ```compile_fail
//! weft::run(|outer| {
//!     weft::run(|_| outer.join(|_| 1, |_| 2));
//! });
//! ```
//! ```compile_fail
//! let shared = std::rc::Rc::new(1);
//! weft::join(|| shared.clone(), || 2);
//! ```

mod job;
mod loops;
mod pool;
mod reduce;
mod sort;

pub use pool::Pool;
pub use sort::Number;

use job::Job;
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::Range;
use std::os::raw::c_int;
use std::panic;
use std::ptr;
use weft_sys as sys;

/// Where code runs: inside a pool, on the stack of one thread.
pub struct Context<'w> {
    w: *mut sys::weft,
    _of_one_call: PhantomData<*mut &'w ()>, // neither Send nor Sync, and no other lifetime
}

impl<'w> Context<'w> {
    /// `w` must be the context of the calling function, and stay so as long as `self` is used.
    unsafe fn new(w: *mut sys::weft) -> Self {
        Context { w, _of_one_call: PhantomData }
    }

    /// Runs both closures, perhaps at the same time, and returns both results.
    ///
    /// If one panics, so does this, when both are over. If both do, it is with the panic of `left`.
    /// If `left` panics before a thread has begun `right`, `right` is dropped.
    #[inline]
    pub fn join<A, B, L, R>(&mut self, left: A, right: B) -> (L, R)
    where
        A: FnOnce(&mut Context<'_>) -> L + Send,
        B: FnOnce(&mut Context<'_>) -> R + Send,
        L: Send,
        R: Send,
    {
        let right = UnsafeCell::new(Job::Waiting(right));
        // A thief, if there is one, is done with `right` when merge() has returned; and no panic
        // passes by the merge.
        let inner = unsafe { sys::weft_fork(self.w, Job::<B, R>::call, right.get().cast()) };
        let left = job::catch(|| left(&mut unsafe { Context::new(inner) }));
        unsafe { sys::weft_merge(self.w) };
        let right = right.into_inner();
        match left {
            Ok(left) => (left, right.result_in(self)),
            Err(payload) => {
                drop(right);
                panic::resume_unwind(payload)
            }
        }
    }
}

/// Calls `f` in the pool of the caller, or else in the default pool, which has as many workers as
/// the process has CPUs, or as the environment variable WEFT_WORKERS says.
///
/// Panics in an actor of a C program: see the README.
#[inline]
pub fn run<F, R>(f: F) -> R
where
    F: FnOnce(&mut Context<'_>) -> R + Send,
    R: Send,
{
    match here() {
        Some(w) => f(&mut unsafe { Context::new(w) }),
        None => pool::enter(ptr::null_mut(), f),
    }
}

/// [`Context::join`], for closures that don't need a context.
#[inline]
pub fn join<A, B, L, R>(left: A, right: B) -> (L, R)
where
    A: FnOnce() -> L + Send,
    B: FnOnce() -> R + Send,
    L: Send,
    R: Send,
{
    run(|cx| cx.join(|_| left(), |_| right()))
}

/// [`Context::for_each_range`].
pub fn for_each_range<F: Fn(Range<usize>) + Sync>(range: Range<usize>, body: F) {
    run(|cx| cx.for_each_range(range, &body))
}

/// [`Context::for_each_index`].
pub fn for_each_index<F: Fn(usize) + Sync>(range: Range<usize>, body: F) {
    run(|cx| cx.for_each_index(range, &body))
}

/// [`Context::for_each_chunk_mut`].
pub fn for_each_chunk_mut<T: Send, F: Fn(&mut [T]) + Sync>(elements: &mut [T], body: F) {
    run(|cx| cx.for_each_chunk_mut(elements, &body))
}

/// [`Context::reduce`].
pub fn reduce<T, M, C>(range: Range<usize>, block: usize, map: M, combine: C) -> Option<T>
where
    T: Send,
    M: Fn(Range<usize>) -> T + Sync,
    C: Fn(T, T) -> T + Sync,
{
    run(|cx| cx.reduce(range, block, &map, &combine))
}

/// [`Context::sort`].
pub fn sort<T: Number>(numbers: &mut [T]) {
    run(|cx| cx.sort(numbers))
}

/// The context of the calling code; None outside pools.
#[inline]
fn here() -> Option<*mut sys::weft> {
    let w = unsafe { sys::weft_here() };
    if w.is_null() {
        return None;
    }
    if !unsafe { sys::weft_actor_self(w) }.is_null() {
        refuse_actor();
    }
    Some(w)
}

#[cold]
fn refuse_actor() -> ! {
    panic!(
        "weft: Rust can't compute in an actor: it may go on with another thread after each fork, \
         but Rust takes thread-locals and values that are not Send to stay with their thread, and \
         a killed actor ends without running destructors"
    )
}

/// What a code of the library means.
fn meaning(code: c_int) -> String {
    unsafe { CStr::from_ptr(sys::weft_strerror(code)) }.to_string_lossy().into_owned()
}
