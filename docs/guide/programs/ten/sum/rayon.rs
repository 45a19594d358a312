// SPDX-License-Identifier: MIT
use rayon::prelude::*;

const N: u64 = 50_000_000;

fn main() {
    let sum: f64 = (0..N)
        .into_par_iter()
        .map(|i| {
            let x = (i as f64 + 0.5) / N as f64;
            4.0 / (1.0 + x * x)
        })
        .sum(); // the last bits depend on how it was split
    println!("{:.9}", sum / N as f64);
}
