// SPDX-License-Identifier: MIT
//! What Rayon's users call; the data is that of bench/sort/patterns.c.
use crate::random::{fold, Random};
use crate::Kernel;
use rayon::prelude::*;
use rayon::ThreadPool;

/// As in bench/sort/sorts.h: a size says how many, and in which order.
const SIZES: usize = 100;

pub struct Sorts {
    elements: Vec<u64>,
    pattern: usize,
    stable: bool,
}

impl Sorts {
    pub fn new(size: usize, stable: bool) -> Sorts {
        Sorts { elements: vec![0; 1 << (size % SIZES)], pattern: size / SIZES, stable }
    }
}

fn element(pattern: usize, i: u64, n: u64, random: u64) -> u64 {
    match pattern {
        1 => i,
        2 => n - i,
        3 => random % 16,
        4 if i < n / 2 => i,
        4 => n - i,
        5 => i % (n / 8),
        6 if random % 1000 == 0 => random % n,
        6 => i,
        _ => random,
    }
}

impl Kernel for Sorts {
    fn reset(&mut self) {
        let (mut random, n, pattern) = (Random(1), self.elements.len() as u64, self.pattern);
        for (i, x) in self.elements.iter_mut().enumerate() {
            *x = element(pattern, i as u64, n, random.next());
        }
    }

    fn run(&mut self, pool: &ThreadPool) {
        let elements = &mut self.elements;
        match self.stable {
            true => pool.install(|| elements.par_sort()),
            false => pool.install(|| elements.par_sort_unstable()),
        }
    }

    fn checksum(&self) -> u64 {
        fold(&self.elements)
    }
}
