// SPDX-License-Identifier: MIT
//! A closure that C calls, at most once, on any thread.

use crate::Context;
use std::mem;
use std::os::raw::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::thread;
use weft_sys as sys;

pub(crate) enum Job<F, R> {
    Waiting(F),
    Running,
    Done(thread::Result<R>),
}

impl<F, R> Job<F, R>
where
    F: FnOnce(&mut Context<'_>) -> R,
{
    /// For C. `job` is a `*mut Self` that no other thread uses during the call.
    pub(crate) unsafe extern "C" fn call(w: *mut sys::weft, job: *mut c_void) {
        let job = &mut *job.cast::<Self>();
        if let Job::Waiting(f) = mem::replace(job, Job::Running) {
            *job = Job::Done(catch(|| f(&mut Context::new(w))));
        }
    }

    /// If no thread has called it, this does. (A right side is also skipped if a C program has
    /// cancelled the computation around it. Rust's caller needs the result all the same.)
    #[inline]
    pub(crate) fn result_in(self, cx: &mut Context<'_>) -> R {
        match self {
            Job::Waiting(f) => f(cx),
            Job::Done(Ok(result)) => result,
            Job::Done(Err(payload)) => panic::resume_unwind(payload),
            Job::Running => unreachable!("a job is over when its merge has returned"),
        }
    }
}

/// What panics in `f` is resumed by the caller's caller: nobody sees what `f` has left half done.
#[inline]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> thread::Result<R> {
    panic::catch_unwind(AssertUnwindSafe(f))
}
