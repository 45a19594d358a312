// SPDX-License-Identifier: MIT
use crate::random::fold;
use crate::Kernel;
use rayon::ThreadPool;

const TIMES: usize = 20;
const LEAF: usize = 4096;

pub struct Increment {
    elements: Vec<u64>,
}

fn increment(elements: &mut [u64]) {
    if elements.len() <= LEAF {
        elements.iter_mut().for_each(|x| *x += 1);
        return;
    }
    let (left, right) = elements.split_at_mut(elements.len() / 2);
    rayon::join(|| increment(left), || increment(right));
}

impl Increment {
    pub fn new(size: usize) -> Increment {
        Increment { elements: vec![0; 1 << size] }
    }
}

impl Kernel for Increment {
    fn reset(&mut self) {
        for (i, x) in self.elements.iter_mut().enumerate() {
            *x = i as u64;
        }
    }

    fn run(&mut self, pool: &ThreadPool) {
        let elements = &mut self.elements;
        pool.install(|| (0..TIMES).for_each(|_| increment(elements)));
    }

    fn checksum(&self) -> u64 {
        fold(&self.elements)
    }
}
