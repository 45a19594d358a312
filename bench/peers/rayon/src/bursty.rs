// SPDX-License-Identifier: MIT
use crate::Kernel;
use rayon::ThreadPool;
use std::time::Duration;

const LEAVES: u64 = 512;
const ROUNDS: usize = 64;
const PAUSE: Duration = Duration::from_millis(1);

pub struct Bursty {
    bursts: u64,
    result: u64,
}

fn leaf(mut x: u64) -> u64 {
    for _ in 0..ROUNDS {
        x = (x ^ x >> 29).wrapping_mul(0x9e3779b97f4a7c15);
    }
    x
}

fn burst(lo: u64, hi: u64) -> u64 {
    if hi - lo == 1 {
        return leaf(lo);
    }
    let middle = lo + (hi - lo) / 2;
    let (left, right) = rayon::join(|| burst(lo, middle), || burst(middle, hi));
    left.wrapping_add(right)
}

impl Bursty {
    pub fn new(size: usize) -> Bursty {
        Bursty { bursts: size as u64, result: 0 }
    }
}

impl Kernel for Bursty {
    fn reset(&mut self) {
        self.result = 0;
    }

    fn run(&mut self, pool: &ThreadPool) {
        for lo in (0..self.bursts).map(|i| i * LEAVES) {
            let sum = pool.install(|| burst(lo, lo + LEAVES));
            self.result = self.result.wrapping_add(sum);
            std::thread::sleep(PAUSE);
        }
    }

    fn checksum(&self) -> u64 {
        self.result
    }
}
