// SPDX-License-Identifier: MIT
use rayon::prelude::*;

const L: usize = 16384;
const B: usize = 256;
const BLOCKS: usize = L / B;

// The longest common subsequence: a block needs the block above and the block on its left.
fn block(a: &[u8], b: &[u8], h: &mut [i32], v: &mut [i32], mut corner: i32) {
    for y in 0..B {
        let mut diagonal = corner;
        let mut left = v[y];
        corner = left;
        for x in 0..B {
            let up = h[x];
            left = if a[y] == b[x] { diagonal + 1 } else { up.max(left) };
            h[x] = left;
            diagonal = up;
        }
        v[y] = left;
    }
}

fn letters(factor: u32) -> Vec<u8> {
    (0..L as u32).map(|i| (i.wrapping_mul(factor) >> 24 & 3) as u8).collect()
}

fn main() {
    let (a, b) = (letters(2654435761), letters(2246822519));
    let (mut h, mut v) = (vec![0; L], vec![0; L]);
    let mut corner = vec![vec![0; BLOCKS + 1]; BLOCKS + 1];
    // Rayon has no graphs: one diagonal after the other. Each waits for the last block of the one before.
    for d in 0..2 * BLOCKS - 1 {
        let rows = d.saturating_sub(BLOCKS - 1)..(d + 1).min(BLOCKS);
        let columns = d + 1 - rows.end..d + 1 - rows.start;
        let old = &corner;
        let ends: Vec<i32> = v[rows.start * B..rows.end * B]
            .par_chunks_mut(B)
            .zip(h[columns.start * B..columns.end * B].par_chunks_mut(B).rev())
            .enumerate()
            .map(|(k, (v, h))| {
                let (row, column) = (rows.start + k, d - rows.start - k);
                block(&a[row * B..], &b[column * B..], h, v, old[row][column]);
                v[B - 1]
            })
            .collect();
        for (k, end) in ends.into_iter().enumerate() {
            corner[rows.start + k + 1][d - rows.start - k + 1] = end;
        }
    }
    println!("{}", h[L - 1]);
}
