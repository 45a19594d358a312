// SPDX-License-Identifier: MIT
use crate::Kernel;
use rayon::ThreadPool;

pub struct Nqueens {
    n: usize,
    result: i64,
}

/// What the queens so far forbid in the next row: a bit for each column.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Board {
    fn place(self, column: u32) -> Board {
        Board {
            all: self.all,
            columns: self.columns | column,
            left: (self.left | column) << 1,
            right: (self.right | column) >> 1,
        }
    }
}

fn candidates(b: Board, bits: u32) -> i64 {
    let first = bits & bits.wrapping_neg();
    let others = bits ^ first;
    if others == 0 {
        return row(b.place(first));
    }
    let (left, right) = rayon::join(|| row(b.place(first)), || candidates(b, others));
    left + right
}

fn row(b: Board) -> i64 {
    if b.columns == b.all {
        return 1;
    }
    let bits = b.all & !(b.columns | b.left | b.right);
    if bits != 0 {
        candidates(b, bits)
    } else {
        0
    }
}

impl Nqueens {
    pub fn new(n: usize) -> Nqueens {
        Nqueens { n, result: 0 }
    }
}

impl Kernel for Nqueens {
    fn reset(&mut self) {
        self.result = 0;
    }

    fn run(&mut self, pool: &ThreadPool) {
        let empty = Board { all: (1 << self.n) - 1, columns: 0, left: 0, right: 0 };
        self.result = pool.install(|| row(empty));
    }

    fn checksum(&self) -> u64 {
        self.result as u64
    }
}
