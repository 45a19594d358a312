// SPDX-License-Identifier: MIT
//! Small computations that succeed or fail, as in bench/neighbours/joins.h.
use crate::Kernel;
use rayon::ThreadPool;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

#[derive(Clone, Copy, PartialEq)]
pub enum End {
    Fine,
    Failing,
    Throwing,
}

pub struct Joins {
    runs: usize,
    end: End,
    failed: u64,
}

/// Without the panic hook, which would print something.
fn left(end: End) -> Result<(), i32> {
    match end {
        End::Fine => Ok(()),
        End::Failing => Err(1),
        End::Throwing => resume_unwind(Box::new(1)),
    }
}

fn both(end: End) -> Result<(), i32> {
    let (l, r) = rayon::join(|| left(end), || Ok(()));
    l.and(r)
}

impl Joins {
    pub fn new(size: usize, end: End) -> Joins {
        Joins { runs: size, end, failed: 0 }
    }
}

impl Kernel for Joins {
    fn reset(&mut self) {
        self.failed = 0;
    }

    fn run(&mut self, pool: &ThreadPool) {
        let end = self.end;
        for _ in 0..self.runs {
            let result = match end {
                End::Throwing => catch_unwind(AssertUnwindSafe(|| pool.install(|| both(end)))),
                _ => Ok(pool.install(|| both(end))),
            };
            self.failed += !matches!(result, Ok(Ok(()))) as u64;
        }
    }

    fn checksum(&self) -> u64 {
        self.failed
    }
}
