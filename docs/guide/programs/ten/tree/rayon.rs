// SPDX-License-Identifier: MIT
use rayon::prelude::*;

fn mix(mut x: u64) -> u64 {
    for _ in 0..200 {
        x ^= x >> 31;
        x = x.wrapping_mul(0x9e3779b97f4a7c15);
    }
    x ^ x >> 29
}

fn walk(seed: u64, depth: u32) -> u64 {
    let x = mix(seed);
    let children = if depth < 26 { x % 4 } else { 0 };
    1 + (0..children)
        .into_par_iter()
        .map(|i| walk(x.wrapping_add(i), depth + 1))
        .sum::<u64>()
}

fn main() {
    println!("{}", walk(32, 0));
}
