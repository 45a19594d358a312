// SPDX-License-Identifier: MIT
use crate::random::{fold, Random};
use crate::Kernel;
use rayon::ThreadPool;

const SMALL: usize = 24;
const LEAF: usize = 1024;

pub struct Sort {
    elements: Vec<u64>,
}

fn small(a: &mut [u64]) {
    for i in 1..a.len() {
        let value = a[i];
        let mut j = i;
        while j > 0 && a[j - 1] > value {
            a[j] = a[j - 1];
            j -= 1;
        }
        a[j] = value;
    }
}

fn median(a: u64, b: u64, c: u64) -> u64 {
    let (low, high) = (a.min(b), a.max(b));
    c.clamp(low, high)
}

/// As in bench/sort/sort.h, which says why both parts have elements, and so why the indices
/// stay inside: without checks, as there.
fn partition(a: &mut [u64]) -> usize {
    let pivot = median(a[0], a[a.len() / 2], a[a.len() - 1]);
    let (mut i, mut j) = (0, a.len() - 1);
    loop {
        unsafe {
            while *a.get_unchecked(i) < pivot {
                i += 1;
            }
            while *a.get_unchecked(j) > pivot {
                j -= 1;
            }
            if i >= j {
                return j + 1;
            }
            std::ptr::swap(a.get_unchecked_mut(i), a.get_unchecked_mut(j));
        }
        i += 1;
        j -= 1;
    }
}

fn sequential(a: &mut [u64]) {
    if a.len() <= SMALL {
        return small(a);
    }
    let first = partition(a);
    let (left, right) = a.split_at_mut(first);
    sequential(left);
    sequential(right);
}

fn sort(a: &mut [u64]) {
    if a.len() <= LEAF {
        return sequential(a);
    }
    let first = partition(a);
    let (left, right) = a.split_at_mut(first);
    rayon::join(|| sort(left), || sort(right));
}

impl Sort {
    pub fn new(size: usize) -> Sort {
        Sort { elements: vec![0; 1 << size] }
    }
}

impl Kernel for Sort {
    fn reset(&mut self) {
        let mut random = Random(1);
        self.elements.iter_mut().for_each(|x| *x = random.next());
    }

    fn run(&mut self, pool: &ThreadPool) {
        let elements = &mut self.elements;
        pool.install(|| sort(elements));
    }

    fn checksum(&self) -> u64 {
        fold(&self.elements)
    }
}
