// SPDX-License-Identifier: MIT
//! Joins: results, panics, and who drops what.

use crate::quietly;
use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;
use weft::{Context, Pool};

const WIDTHS: [u32; 4] = [1, 2, 4, 16];

/// What a panic said.
fn message(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it should have panicked");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().expect("a text").to_string(),
    }
}

fn fib(cx: &mut Context, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = cx.join(|cx| fib(cx, n - 1), |cx| fib(cx, n - 2));
    a + b
}

fn plain_fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = weft::join(|| plain_fib(n - 1), || plain_fib(n - 2));
    a + b
}

#[test]
fn results() {
    for workers in WIDTHS {
        let pool = Pool::new(workers).unwrap();
        assert_eq!(pool.workers(), workers as usize);
        assert_eq!(pool.run(|cx| fib(cx, 20)), 6765);
        assert_eq!(pool.run(|_| plain_fib(18)), 2584);
    }
    assert_eq!(plain_fib(15), 610);
}

#[test]
fn both_sides_run_at_the_same_time() {
    let meeting = Barrier::new(2);
    let pool = Pool::new(2).unwrap();
    pool.run(|cx| cx.join(|_| meeting.wait(), |_| meeting.wait()));
}

#[test]
fn a_panic_travels_to_the_join() {
    quietly(|| {
        for workers in WIDTHS {
            let pool = Pool::new(workers).unwrap();
            for bad in 0..32 {
                let text = message(|| pool.run(|cx| leaf_panics(cx, 0, 32, bad)));
                assert_eq!(text, format!("leaf {bad}"));
            }
            assert_eq!(pool.run(|cx| fib(cx, 10)), 55); // the pool goes on
        }
    });
}

fn leaf_panics(cx: &mut Context, begin: usize, end: usize, bad: usize) {
    if end - begin == 1 {
        if begin == bad {
            panic!("leaf {bad}");
        }
        return;
    }
    let middle = (begin + end) / 2;
    cx.join(|cx| leaf_panics(cx, begin, middle, bad), |cx| leaf_panics(cx, middle, end, bad));
}

#[test]
fn of_two_panics_the_left_one_wins() {
    quietly(|| {
        let pool = Pool::new(2).unwrap();
        let meeting = Barrier::new(2); // so that the right side is really stolen
        let text = message(|| {
            pool.run(|cx| {
                cx.join(
                    |_| {
                        meeting.wait();
                        panic!("left")
                    },
                    |_| {
                        meeting.wait();
                        panic!("right")
                    },
                );
            })
        });
        assert_eq!(text, "left");
        assert_eq!(message(|| weft::join(|| (), || panic!("right")).1), "right");
    });
}

#[test]
fn a_right_side_that_nobody_has_begun_is_dropped() {
    quietly(|| {
        let pool = Pool::new(1).unwrap();
        let held = Arc::new(());
        let in_right = held.clone();
        let ran = AtomicUsize::new(0);
        let text = message(|| {
            pool.run(|cx| {
                cx.join(
                    |_| panic!("left"),
                    |_| {
                        let _in_right = in_right;
                        ran.fetch_add(1, SeqCst)
                    },
                );
            })
        });
        assert_eq!(text, "left");
        // A worker may have been faster: then it has run, once. Either way nothing is left.
        assert!(ran.load(SeqCst) <= 1);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

/// Counts how often it is dropped.
struct Counted<'a>(&'a AtomicUsize, String);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn results_that_own_memory_are_dropped_once() {
    let drops = AtomicUsize::new(0);
    for workers in WIDTHS {
        let pool = Pool::new(workers).unwrap();
        drops.store(0, SeqCst);
        let text = pool.run(|cx| strings(cx, 0, 256, &drops)).1.clone();
        assert_eq!(text.len(), 256);
        assert_eq!(drops.load(SeqCst), 511); // 256 leaves and 255 nodes
    }
}

fn strings<'a>(cx: &mut Context, begin: usize, end: usize, drops: &'a AtomicUsize) -> Counted<'a> {
    if end - begin == 1 {
        return Counted(drops, "x".into());
    }
    let middle = (begin + end) / 2;
    let (a, b) =
        cx.join(|cx| strings(cx, begin, middle, drops), |cx| strings(cx, middle, end, drops));
    Counted(drops, format!("{}{}", a.1, b.1))
}

#[test]
fn the_left_result_is_dropped_if_the_right_side_panics() {
    quietly(|| {
        let drops = AtomicUsize::new(0);
        message(|| drop(weft::join(|| Counted(&drops, String::new()), || panic!("right"))));
        assert_eq!(drops.load(SeqCst), 1);
    });
}

#[test]
fn big_closures_and_results() {
    let big = [7u8; 10_000];
    let (a, b) = weft::join(move || big, move || big);
    assert!(a.iter().chain(b.iter()).all(|&x| x == 7));
    #[repr(align(128))]
    #[derive(Clone, Copy)]
    struct Aligned(u8);
    let aligned = Aligned(3);
    let (a, b) = weft::join(move || aligned, move || aligned);
    assert_eq!((a.0, b.0), (3, 3));
    assert_eq!(&b as *const Aligned as usize % 128, 0);
}

#[test]
fn joins_a_thousand_deep() {
    fn left(cx: &mut Context, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let (a, b) = cx.join(|cx| left(cx, depth - 1), |_| 1);
        a + b
    }
    fn right(cx: &mut Context, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let (a, b) = cx.join(|_| 1, |cx| right(cx, depth - 1));
        a + b
    }
    fn plain(depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let (a, b) = weft::join(|| plain(depth - 1), || 1);
        a + b
    }
    let all = || {
        for workers in WIDTHS {
            let pool = Pool::new(workers).unwrap();
            assert_eq!(pool.run(|cx| left(cx, 1000)), 1000);
            assert_eq!(pool.run(|cx| right(cx, 1000)), 1000);
            assert_eq!(pool.run(|_| plain(1000)), 1000);
        }
    };
    // The caller's own stack is used, and that of a test is small for code that is not optimised.
    thread::Builder::new().stack_size(64 << 20).spawn(all).unwrap().join().unwrap();
}

#[test]
fn pools_in_pools() {
    let one = Pool::new(2).unwrap();
    let other = Pool::new(3).unwrap();
    let total = one.run(|cx| {
        let (a, b) = cx.join(|_| other.run(|cx| fib(cx, 12)), |_| other.run(|cx| fib(cx, 13)));
        a + b + weft::run(|cx| fib(cx, 10))
    });
    assert_eq!(total, 144 + 233 + 55);
}

#[test]
fn many_threads_at_once() {
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(plain_fib(16), 987));
        }
    });
}

#[test]
fn a_pool_that_can_not_be() {
    assert!(Pool::new(5000).is_err());
}

#[test]
fn closures_need_not_be_sync() {
    let cell = Cell::new(1);
    let (a, ()) = weft::join(move || cell.get(), || ());
    assert_eq!(a, 1);
}
