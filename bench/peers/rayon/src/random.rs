// SPDX-License-Identifier: MIT
/// splitmix64, as in bench/kernel.h.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }
}

/// The checksum over an array.
pub fn fold(elements: &[u64]) -> u64 {
    elements.iter().fold(0, |sum: u64, x| sum.wrapping_mul(31).wrapping_add(*x))
}
