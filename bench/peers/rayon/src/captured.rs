// SPDX-License-Identifier: MIT
//! The client of bench/captured/sequential.c once more; calls by `install`, long tasks by `spawn`.
use crate::random::Random;
use crate::Kernel;
use rayon::ThreadPool;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::{Duration, Instant};

const LEAVES: u64 = 256;
const ROUNDS: usize = 5000;
const CALLS_MAX: usize = 1000;
const LONG: Duration = Duration::from_millis(50);
const SETTLE: Duration = Duration::from_millis(20);
const PAUSE: Duration = Duration::from_micros(20);
const PAUSES: u64 = 1000;

pub struct Captured {
    workers: usize,
    beside: bool,
    took: Vec<f64>,
    result: u64,
}

fn leaf(mut x: u64) -> u64 {
    for _ in 0..ROUNDS {
        x = (x ^ x >> 29).wrapping_mul(0x9e3779b97f4a7c15);
    }
    x
}

fn sum(lo: u64, hi: u64) -> u64 {
    if hi - lo == 1 {
        return leaf(lo);
    }
    let middle = lo + (hi - lo) / 2;
    let (left, right) = rayon::join(|| sum(lo, middle), || sum(middle, hi));
    left.wrapping_add(right)
}

fn compute(stop: &AtomicBool) {
    let start = Instant::now();
    while start.elapsed() < LONG && !stop.load(Ordering::Relaxed) {}
}

/// Starts `count` long tasks, and another one whenever one is over, until all are to stop.
fn feed(pool: &ThreadPool, count: usize, stop: &Arc<AtomicBool>) {
    let (over, overs) = mpsc::channel();
    let start = || {
        let (over, stop) = (over.clone(), stop.clone());
        pool.spawn(move || {
            compute(&stop);
            over.send(()).expect("a feeder");
        });
    };
    (0..count).for_each(|_| start());
    let mut left = count;
    while left > 0 {
        overs.recv().expect("a long task");
        match stop.load(Ordering::Relaxed) {
            true => left -= 1,
            false => start(),
        }
    }
}

impl Captured {
    pub fn new(size: usize, beside: bool) -> Captured {
        let (workers, calls) = (size / CALLS_MAX, size % CALLS_MAX);
        Captured { workers, beside, took: vec![0.0; calls], result: 0 }
    }

    fn make_calls(&mut self, pool: &ThreadPool) {
        let mut random = Random(1);
        for (i, took) in self.took.iter_mut().enumerate() {
            thread::sleep(PAUSE * (random.next() % PAUSES) as u32);
            let (start, first) = (Instant::now(), i as u64 * LEAVES);
            self.result = self.result.wrapping_add(pool.install(|| sum(first, first + LEAVES)));
            *took = start.elapsed().as_secs_f64();
        }
    }
}

impl Kernel for Captured {
    fn reset(&mut self) {
        self.result = 0;
    }

    fn run(&mut self, pool: &ThreadPool) {
        let (stop, count) = (Arc::new(AtomicBool::new(false)), 2 * self.workers);
        thread::scope(|scope| {
            if self.beside {
                scope.spawn(|| feed(pool, count, &stop));
                thread::sleep(SETTLE);
            }
            self.make_calls(pool);
            stop.store(true, Ordering::Relaxed);
        });
    }

    fn checksum(&self) -> u64 {
        self.result
    }

    fn times(&self) -> &[f64] {
        &self.took
    }
}
