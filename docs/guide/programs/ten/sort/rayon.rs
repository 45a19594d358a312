// SPDX-License-Identifier: MIT
use rayon::prelude::*;

fn main() {
    let n: u32 = 1 << 22;
    let mut numbers: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2654435761)).collect();
    numbers.par_sort_unstable();
    assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]));
    println!("{}", numbers[n as usize / 2]);
}
