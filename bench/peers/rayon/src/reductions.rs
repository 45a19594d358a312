// SPDX-License-Identifier: MIT
use crate::random::Random;
use crate::Kernel;
use rayon::prelude::*;
use rayon::ThreadPool;

const LOG: usize = 27;

pub struct Reductions<T> {
    times: usize,
    numbers: Vec<T>,
    reduce: fn(&[T]) -> f64,
    result: f64,
}

fn prepare<T>(size: usize, number: fn(u64) -> T, reduce: fn(&[T]) -> f64) -> Reductions<T> {
    let mut random = Random(1);
    let numbers = (0..1 << size).map(|_| number(random.next())).collect();
    let times = if size < 16 { 8 } else { 1 << (LOG - size) };
    Reductions { times, numbers, reduce, result: 0.0 }
}

pub fn sum_f32(size: usize) -> Reductions<f32> {
    prepare(size, |r| (r % 2) as f32, |n| n.par_iter().sum::<f32>() as f64)
}

pub fn sum_f64(size: usize) -> Reductions<f64> {
    prepare(size, |r| (r % 2) as f64, |n| n.par_iter().sum::<f64>())
}

pub fn sum_i32(size: usize) -> Reductions<i32> {
    prepare(size, |r| (r % 2) as i32, |n| n.par_iter().sum::<i32>() as f64)
}

fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

fn max_of(numbers: &[f32]) -> f64 {
    numbers.par_iter().copied().reduce(|| f32::NEG_INFINITY, larger) as f64
}

pub fn max_f32(size: usize) -> Reductions<f32> {
    prepare(size, |r| (r >> 40) as f32, max_of)
}

impl<T: Send + Sync> Kernel for Reductions<T> {
    fn reset(&mut self) {
        self.result = 0.0;
    }

    fn run(&mut self, pool: &ThreadPool) {
        let (times, numbers, reduce) = (self.times, &self.numbers, self.reduce);
        self.result = pool.install(|| (0..times).map(|_| reduce(numbers)).sum());
    }

    fn checksum(&self) -> u64 {
        self.result as u64
    }
}
