// SPDX-License-Identifier: MIT
//! Loops, reductions and sorts.

use crate::quietly;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use weft::Pool;

/// The same numbers in every run.
fn numbers(n: usize) -> impl Iterator<Item = u64> {
    let mut x = 88172645463325252u64;
    (0..n).map(move |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    })
}

#[test]
fn every_index_once() {
    for n in [0, 1, 2, 1000, 100_000] {
        let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        weft::for_each_index(0..n, |i| {
            seen[i].fetch_add(1, SeqCst);
        });
        assert!(seen.iter().all(|count| count.load(SeqCst) == 1));
    }
    weft::for_each_index(7..7, |_| unreachable!());
    #[allow(clippy::reversed_empty_ranges)]
    weft::for_each_index(7..3, |_| unreachable!());
}

#[test]
fn the_whole_range_of_usize() {
    let sum = AtomicUsize::new(0);
    weft::for_each_range(0..usize::MAX, |range| {
        sum.fetch_add(range.len(), SeqCst);
    });
    assert_eq!(sum.load(SeqCst), usize::MAX);
}

#[test]
fn chunks() {
    let mut strings: Vec<String> = (0..10_000).map(|i| i.to_string()).collect();
    weft::for_each_chunk_mut(&mut strings, |chunk| {
        assert!(!chunk.is_empty());
        chunk.iter_mut().for_each(|text| text.push('!'));
    });
    assert!(strings.iter().enumerate().all(|(i, text)| *text == format!("{i}!")));
    weft::for_each_chunk_mut(&mut [(); 1000], |_| ());
    weft::for_each_chunk_mut::<u8, _>(&mut [], |_| unreachable!());
}

#[test]
fn loops_in_loops() {
    let count = AtomicUsize::new(0);
    weft::for_each_index(0..100, |_| {
        weft::for_each_index(0..100, |_| {
            weft::join(|| count.fetch_add(1, SeqCst), || count.fetch_add(1, SeqCst));
        })
    });
    assert_eq!(count.load(SeqCst), 20_000);
}

#[test]
fn a_panic_ends_a_loop_and_nothing_else() {
    quietly(|| {
        for workers in [1, 2, 16] {
            let pool = Pool::new(workers).unwrap();
            let (panicked, sum) = pool.run(|cx| {
                cx.join(
                    |_| {
                        catch_unwind(AssertUnwindSafe(|| {
                            weft::for_each_index(0..usize::MAX, |i| assert!(i != 1000, "at 1000"))
                        }))
                    },
                    |cx| cx.reduce(0..1000, 10, |range| range.sum::<usize>(), |a, b| a + b),
                )
            });
            assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"at 1000"));
            assert_eq!(sum, Some(499_500));
        }
    });
}

#[test]
fn a_reduction_has_the_same_bits_for_any_number_of_workers() {
    let floats: Vec<f64> = numbers(100_000).map(|x| x as f64 / 1e10).collect();
    let sum = |range: std::ops::Range<usize>| floats[range].iter().sum::<f64>();
    let want = weft::reduce(0..floats.len(), 1000, sum, |a, b| a + b).unwrap();
    for workers in [1, 2, 3, 16] {
        let pool = Pool::new(workers).unwrap();
        let got = pool.run(|cx| cx.reduce(0..floats.len(), 1000, sum, |a, b| a + b)).unwrap();
        assert_eq!(got.to_bits(), want.to_bits());
    }
}

#[test]
fn a_reduction_keeps_the_order() {
    for n in [0, 1, 9, 10, 11, 1000] {
        let text = weft::reduce(
            0..n,
            10,
            |range| range.map(|i| format!("{i},")).collect(),
            |a, b| {
                let _: &String = &a;
                a + &b
            },
        );
        let want: String = (0..n).map(|i| format!("{i},")).collect();
        assert_eq!(text.unwrap_or_default(), want);
    }
    assert!(weft::reduce(5..5, 1, |_| 1, |a, b| a + b).is_none());
    assert_eq!(
        weft::reduce(0..usize::MAX, usize::MAX, |range| range.len(), |a, b| a + b),
        Some(usize::MAX)
    );
}

#[test]
fn sorts() {
    for n in [0, 1, 2, 1000, 50_000] {
        macro_rules! check {
            ($type:ty, $compare:expr) => {
                let mut a: Vec<$type> = numbers(n).map(|x| x as $type).collect();
                let mut b = a.clone();
                weft::sort(&mut a);
                b.sort_by($compare);
                assert!(a.iter().zip(&b).all(|(x, y)| x.to_ne_bytes() == y.to_ne_bytes()));
            };
        }
        check!(u32, u32::cmp);
        check!(i32, i32::cmp);
        check!(u64, u64::cmp);
        check!(i64, i64::cmp);
        check!(f32, f32::total_cmp);
        check!(f64, f64::total_cmp);
    }
    let mut odd = [f64::NAN, 1.0, -f64::NAN, 0.0, -0.0, f64::NEG_INFINITY];
    let mut want = odd;
    weft::sort(&mut odd);
    want.sort_by(f64::total_cmp);
    assert!(odd.iter().zip(&want).all(|(x, y)| x.to_bits() == y.to_bits()));
}

/// A panic whose payload panics when it is dropped.
struct Nasty;

impl Drop for Nasty {
    fn drop(&mut self) {
        panic!("while it is dropped");
    }
}

#[test]
fn panics_in_every_call_of_a_loop() {
    quietly(|| {
        let pool = Pool::new(16).unwrap();
        for _ in 0..20 {
            let payload = catch_unwind(AssertUnwindSafe(|| {
                pool.run(|cx| cx.for_each_range(0..1000, |_| std::panic::panic_any(Nasty)))
            }));
            std::mem::forget(payload);
        }
    });
}
