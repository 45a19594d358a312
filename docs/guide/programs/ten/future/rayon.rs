// SPDX-License-Identifier: MIT
use std::sync::mpsc;

// How many steps do the numbers of a range take to come down to 1?
fn steps(begin: u64, end: u64) -> u64 {
    let mut all = 0;
    for i in begin..end {
        let mut n = i;
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            all += 1;
        }
    }
    all
}

fn main() {
    let (send, receive) = mpsc::channel();
    rayon::spawn(move || send.send(steps(1, 300000)).unwrap());
    let now = steps(300000, 600000); // meanwhile
    println!("{}", now + receive.recv().unwrap());
}
