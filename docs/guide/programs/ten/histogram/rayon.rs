// SPDX-License-Identifier: MIT
use rayon::prelude::*;

const BINS: usize = 1024;

fn bin_of(mut x: u64) -> usize {
    x = (x ^ x >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d049bb133111eb);
    (x ^ x >> 31) as usize % BINS
}

fn main() {
    let counts = (0..1u64 << 26)
        .into_par_iter()
        .fold(
            || vec![0i64; BINS], // one for each part, not for each thread
            |mut table, i| {
                table[bin_of(i)] += 1;
                table
            },
        )
        .reduce(
            || vec![0i64; BINS],
            |mut left, right| {
                for (l, r) in left.iter_mut().zip(right) {
                    *l += r;
                }
                left
            },
        );
    println!("{} {}", counts[0], counts[BINS - 1]);
}
