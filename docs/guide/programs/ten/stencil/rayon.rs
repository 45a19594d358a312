// SPDX-License-Identifier: MIT
use rayon::prelude::*;

const N: usize = 1024;

fn main() {
    let mut from = vec![0f32; N * N];
    from[..N].fill(1.0);
    let mut to = from.clone();
    for _ in 0..200 {
        let old = &from;
        to.par_chunks_mut(N).enumerate().skip(1).take(N - 2).for_each(|(y, row)| {
            for x in 1..N - 1 {
                let i = y * N + x;
                row[x] = (old[i - N] + old[i + N] + old[i - 1] + old[i + 1]) / 4.0;
            }
        });
        std::mem::swap(&mut from, &mut to);
    }
    println!("{:.6}", from[5 * N + N / 2]);
}
