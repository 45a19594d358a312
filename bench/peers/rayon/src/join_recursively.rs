// SPDX-License-Identifier: MIT
use crate::random::fold;
use crate::Kernel;
use rayon::ThreadPool;

const TIMES: usize = 20;

pub struct Join {
    elements: Vec<u64>,
}

fn split(elements: &mut [u64]) {
    if elements.len() == 1 {
        elements[0] += 1;
        return;
    }
    let (left, right) = elements.split_at_mut(elements.len() / 2);
    rayon::join(|| split(left), || split(right));
}

impl Join {
    pub fn new(size: usize) -> Join {
        Join { elements: vec![0; 1 << size] }
    }
}

impl Kernel for Join {
    fn reset(&mut self) {
        for (i, x) in self.elements.iter_mut().enumerate() {
            *x = i as u64;
        }
    }

    fn run(&mut self, pool: &ThreadPool) {
        let elements = &mut self.elements;
        pool.install(|| (0..TIMES).for_each(|_| split(elements)));
    }

    fn checksum(&self) -> u64 {
        fold(&self.elements)
    }
}
