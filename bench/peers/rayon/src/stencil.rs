// SPDX-License-Identifier: MIT
use crate::random::fold;
use crate::Kernel;
use rayon::prelude::*;
use rayon::ThreadPool;

const STEPS: usize = 500;
const WIDTH: usize = 3;

pub struct Stencil {
    count: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Three slices instead of windows: that becomes a vectorised loop.
fn step(y: &mut [f64], x: &[f64]) {
    let n = y.len();
    y.par_iter_mut()
        .zip(&x[..n])
        .zip(&x[1..n + 1])
        .zip(&x[2..n + 2])
        .for_each(|(((y, a), b), c)| *y = (a + b + c) * (1.0 / WIDTH as f64));
}

impl Stencil {
    pub fn new(size: usize) -> Stencil {
        let room = size + WIDTH - 1;
        Stencil { count: size, x: vec![0.0; room], y: vec![0.0; room] }
    }
}

impl Kernel for Stencil {
    fn reset(&mut self) {
        for (i, (x, y)) in self.x.iter_mut().zip(&mut self.y).enumerate() {
            *x = (i % 1000) as f64;
            *y = *x;
        }
    }

    fn run(&mut self, pool: &ThreadPool) {
        pool.install(|| {
            for _ in 0..STEPS {
                step(&mut self.y[..self.count], &self.x);
                std::mem::swap(&mut self.x, &mut self.y);
            }
        });
    }

    fn checksum(&self) -> u64 {
        let bits: Vec<u64> = self.x[..self.count].iter().map(|x| x.to_bits()).collect();
        fold(&bits)
    }
}
