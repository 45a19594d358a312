// SPDX-License-Identifier: MIT
use rayon::prelude::*;

fn fill(bytes: &mut [u8], state: &mut u64) {
    for byte in bytes {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *byte = (*state >> 56) as u8;
    }
}

fn digest(bytes: &[u8]) -> u64 {
    let mut sum: u64 = 14695981039346656037;
    for _ in 0..32 {
        for byte in bytes {
            sum = (sum ^ *byte as u64).wrapping_mul(1099511628211);
        }
    }
    sum
}

fn main() {
    // Rayon has no pipeline that keeps the order: batches do. Nothing is read while they are digested.
    let (mut state, mut all, mut left) = (1u64, 0u64, 1000);
    let mut batch = vec![vec![0u8; 4096]; 64];
    while left > 0 {
        let n = left.min(batch.len());
        for block in &mut batch[..n] {
            fill(block, &mut state);
        }
        let sums: Vec<u64> = batch[..n].par_iter().map(|block| digest(block)).collect();
        for sum in sums {
            all = all.wrapping_mul(31).wrapping_add(sum);
        }
        left -= n;
    }
    println!("{:016x}", all);
}
