// SPDX-License-Identifier: MIT
//! What a join costs: fib without a cut-off, by a plain recursion, with contexts and without.
//!
//!     cargo run --release --example fib -- 32

use std::time::Instant;
use weft::Context;

fn plain(n: u64) -> u64 {
    if n < 2 {
        n
    } else {
        plain(n - 1) + plain(n - 2)
    }
}

fn with_context(cx: &mut Context, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = cx.join(|cx| with_context(cx, n - 1), |cx| with_context(cx, n - 2));
    a + b
}

fn without(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = weft::join(|| without(n - 1), || without(n - 2));
    a + b
}

fn measure(name: &str, f: impl Fn() -> u64) {
    let begin = Instant::now();
    let result = f();
    let joins = result as f64 * 1.618; // fib(n + 1), nearly
    let ns = begin.elapsed().as_nanos() as f64;
    println!("{name:13} {result:12}  {:8.1} ms  {:5.1} ns a join", ns / 1e6, ns / joins);
}

fn main() {
    let n = std::env::args().nth(1).map_or(32, |text| text.parse().expect("a number"));
    measure("plain", || plain(n));
    measure("cx.join", || weft::run(|cx| with_context(cx, n)));
    measure("weft::join", || weft::run(|_| without(n)));
}
