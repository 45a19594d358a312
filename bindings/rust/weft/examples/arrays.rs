// SPDX-License-Identifier: MIT
//! Loops, a reduction and a sort.

fn main() {
    let mut squares = vec![0u64; 1_000_000];
    weft::for_each_chunk_mut(&mut squares, |chunk| chunk.fill(1));

    let odd = weft::reduce(
        0..squares.len(),
        8192,
        |range| range.map(|i| i as u64 * squares[i]).filter(|x| x % 2 == 1).count(),
        |a, b| a + b,
    );
    assert_eq!(odd, Some(500_000));

    let mut numbers: Vec<f64> = (0..1_000_000u64).map(|i| (i * 7919 % 1_000_003) as f64).collect();
    weft::sort(&mut numbers);
    assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]));
    println!("{} odd ones; the median is {}", odd.unwrap(), numbers[numbers.len() / 2]);
}
