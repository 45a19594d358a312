// SPDX-License-Identifier: MIT
fn fib(n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    if n < 20 {
        // a join would cost more than it brings
        return fib(n - 1) + fib(n - 2);
    }
    let (left, right) = rayon::join(|| fib(n - 1), || fib(n - 2));
    left + right
}

fn main() {
    println!("{}", fib(36));
}
