// SPDX-License-Identifier: MIT
//! One program, because linking takes longer than testing.

mod actor;
mod arrays;
mod join;

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// Panics that `f` catches are not printed.
fn quietly(f: impl FnOnce()) {
    static HOOK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    panic::set_hook(hook);
    if let Err(payload) = result {
        panic::resume_unwind(payload);
    }
}
