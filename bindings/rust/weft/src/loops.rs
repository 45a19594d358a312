// SPDX-License-Identifier: MIT
//! Loops. The library decides how long a range is: about 20 microseconds, by the clock.

use crate::job::catch;
use crate::{meaning, Context};
use std::any::Any;
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::os::raw::c_void;
use std::panic;
use std::slice;
use std::sync::Mutex;
use weft_sys as sys;

struct Loop<'a, F> {
    body: &'a F,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// For C. `arg` is a `&Loop<F>`, which several threads use.
unsafe extern "C" fn call<F: Fn(Range<usize>) + Sync>(
    w: *mut sys::weft,
    begin: usize,
    end: usize,
    arg: *mut c_void,
) {
    let all = &*arg.cast::<Loop<F>>();
    if let Err(payload) = catch(|| (all.body)(begin..end)) {
        let mut first = all.panic.lock().unwrap();
        match *first {
            None => *first = Some(payload),
            Some(_) => mem::forget(payload), // its destructor might panic, and the caller is C
        }
        drop(first);
        sys::weft_fail(w, -sys::ECANCELED); // what has not begun never does
    }
}

/// An address that several threads may use, each for other elements.
struct Base<T>(*mut T);

unsafe impl<T: Send> Sync for Base<T> {}

impl<T> Base<T> {
    /// The elements must be there, and be the caller's alone.
    #[allow(clippy::mut_from_ref)] // that is what it is for
    unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        slice::from_raw_parts_mut(self.0.add(range.start), range.len())
    }
}

impl Context<'_> {
    /// Calls `body` for ranges that make up `range`, on several threads.
    ///
    /// If a call panics, so does this, with the first panic; calls that have not begun never do.
    pub fn for_each_range<F: Fn(Range<usize>) + Sync>(&mut self, range: Range<usize>, body: F) {
        if range.is_empty() {
            return;
        }
        let all = Loop { body: &body, panic: Mutex::new(None) };
        let arg: *const Loop<F> = &all;
        let code = self.in_scope(|w| unsafe {
            sys::weft_for(w, range.start, range.end, call::<F>, arg as *mut c_void)
        });
        if let Some(payload) = all.panic.into_inner().unwrap() {
            panic::resume_unwind(payload);
        }
        expect_complete(code);
    }

    /// Calls `body` for each index.
    pub fn for_each_index<F: Fn(usize) + Sync>(&mut self, range: Range<usize>, body: F) {
        self.for_each_range(range, |range| range.for_each(&body))
    }

    /// Cuts the slice into chunks and calls `body` for each.
    pub fn for_each_chunk_mut<T, F>(&mut self, elements: &mut [T], body: F)
    where
        T: Send,
        F: Fn(&mut [T]) + Sync,
    {
        let base = Base(elements.as_mut_ptr());
        let base = &base;
        // No element is in two ranges.
        self.for_each_range(0..elements.len(), |range| body(unsafe { base.part(range) }))
    }

    /// Calls a function of the library in a scope, so that its failure ends this call only. Returns
    /// what it failed with.
    pub(crate) fn in_scope(&mut self, f: impl FnOnce(*mut sys::weft)) -> i32 {
        let mut scope = MaybeUninit::<sys::weft_scope>::uninit();
        unsafe {
            sys::weft_scope_open(self.w, scope.as_mut_ptr());
            f(self.w);
            sys::weft_scope_close(self.w, scope.as_mut_ptr())
        }
    }
}

/// There was no memory, or a C program has cancelled the computation around this one.
pub(crate) fn expect_complete(code: i32) {
    if code != 0 {
        panic!("weft: not all was done: {}", meaning(code));
    }
}
