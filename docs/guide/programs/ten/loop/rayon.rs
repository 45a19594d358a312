// SPDX-License-Identifier: MIT
use rayon::prelude::*;

fn main() {
    let mut numbers = vec![0u32; 1 << 20];
    numbers.par_iter_mut().enumerate().for_each(|(i, steps)| {
        let mut n = i as u64 + 1;
        let mut count = 0;
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            count += 1;
        }
        *steps = count;
    });
    println!("{}", numbers[837798]);
}
