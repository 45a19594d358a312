// SPDX-License-Identifier: MIT
use crate::Kernel;
use rayon::ThreadPool;

pub struct Fib {
    n: i64,
    result: i64,
}

fn fib(n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (left, right) = rayon::join(|| fib(n - 1), || fib(n - 2));
    left + right
}

impl Fib {
    pub fn new(size: usize) -> Fib {
        Fib { n: size as i64, result: 0 }
    }
}

impl Kernel for Fib {
    fn reset(&mut self) {
        self.result = 0;
    }

    fn run(&mut self, pool: &ThreadPool) {
        self.result = pool.install(|| fib(self.n));
    }

    fn checksum(&self) -> u64 {
        self.result as u64
    }
}
