// SPDX-License-Identifier: MIT
//! Pools of worker threads.

use crate::job::Job;
use crate::{here, meaning, Context};
use std::cell::UnsafeCell;
use std::os::raw::c_uint;
use std::{io, mem, panic, ptr};
use weft_sys as sys;

/// A pool of its own. Programs rarely need one: [`crate::run`] has the default pool.
#[derive(Debug)]
pub struct Pool {
    pool: *mut sys::weft_pool,
}

// The functions of a pool may be called on any thread, at the same time.
unsafe impl Send for Pool {}
unsafe impl Sync for Pool {}

impl Pool {
    /// 0 workers: as many as the default pool has.
    pub fn new(workers: u32) -> io::Result<Pool> {
        let config = sys::weft_config {
            size: mem::size_of::<sys::weft_config>(),
            workers: workers as c_uint,
            flags: 0,
        };
        let mut pool = ptr::null_mut();
        match unsafe { sys::weft_pool_create(&mut pool, &config) } {
            0 => Ok(Pool { pool }),
            code => Err(io::Error::from_raw_os_error(-code)),
        }
    }

    pub fn workers(&self) -> usize {
        unsafe { sys::weft_pool_workers(self.pool) as usize }
    }

    /// Calls `f` in this pool: the calling thread runs it, and the workers help.
    pub fn run<F, R>(&self, f: F) -> R
    where
        F: FnOnce(&mut Context<'_>) -> R + Send,
        R: Send,
    {
        here(); // refuses actors
        enter(self.pool, f)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // It fails only in a process that was forked since: there the pool has no threads. It is
        // not dropped in one of its own jobs: run() borrows it.
        unsafe { sys::weft_pool_destroy(self.pool) };
    }
}

/// NULL: the default pool.
pub(crate) fn enter<F, R>(pool: *mut sys::weft_pool, f: F) -> R
where
    F: FnOnce(&mut Context<'_>) -> R + Send,
    R: Send,
{
    let job = UnsafeCell::new(Job::Waiting(f));
    let code = unsafe { sys::weft_run_(pool, Job::<F, R>::call, job.get().cast(), sys::LAYOUT) };
    match job.into_inner() {
        Job::Done(Ok(result)) => result,
        Job::Done(Err(payload)) => panic::resume_unwind(payload),
        _ => panic!("weft: nothing was run: {}", meaning(code)),
    }
}
