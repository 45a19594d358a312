// SPDX-License-Identifier: MIT
//! The peer rayon: `rayon::join` in a pool of so many threads. Speaks the protocol of
//! bench/peer.h; the data, the forks and the checksums are those of the C versions.
mod bursty;
mod captured;
mod fib;
mod increment_all;
mod join_recursively;
mod joins;
mod nbody;
mod nqueens;
mod random;
mod reductions;
mod sort;
mod sorts;
mod stencil;
mod treesum;

use rayon::ThreadPool;
use std::io::{BufRead, Write};
use std::time::Instant;

/// Exit status: no such benchmark.
const UNKNOWN: i32 = 77;

pub trait Kernel {
    fn reset(&mut self);
    fn run(&mut self, pool: &ThreadPool);
    fn checksum(&self) -> u64;
    /// What its parts took, in seconds, if that is what counts.
    fn times(&self) -> &[f64] {
        &[]
    }
}

fn kernel(name: &str, size: usize) -> Option<Box<dyn Kernel>> {
    Some(match name {
        "fib" => Box::new(fib::Fib::new(size)),
        "treesum" => Box::new(treesum::Treesum::new(size)),
        "join-recursively" => Box::new(join_recursively::Join::new(size)),
        "increment-all" => Box::new(increment_all::Increment::new(size)),
        "nbody-parreduce" => Box::new(nbody::Nbody::new(size)),
        "nqueens" => Box::new(nqueens::Nqueens::new(size)),
        "sort" => Box::new(sort::Sort::new(size)),
        "sorts" => Box::new(sorts::Sorts::new(size, false)),
        "sorts-stable" => Box::new(sorts::Sorts::new(size, true)),
        "stencil" => Box::new(stencil::Stencil::new(size)),
        "bursty" => Box::new(bursty::Bursty::new(size)),
        "joins-fine" => Box::new(joins::Joins::new(size, joins::End::Fine)),
        "joins-failing" => Box::new(joins::Joins::new(size, joins::End::Failing)),
        "joins-throwing" => Box::new(joins::Joins::new(size, joins::End::Throwing)),
        "captured-alone" => Box::new(captured::Captured::new(size, false)),
        "captured-beside" => Box::new(captured::Captured::new(size, true)),
        "sum-f32" | "sum-f32-cached" => Box::new(reductions::sum_f32(size)),
        "sum-f64" | "sum-f64-cached" => Box::new(reductions::sum_f64(size)),
        "sum-i32" | "sum-i32-cached" => Box::new(reductions::sum_i32(size)),
        "max-f32" | "max-f32-cached" => Box::new(reductions::max_f32(size)),
        _ => return None,
    })
}

/// CPU time of the whole process, in seconds.
fn cpu() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 4 {
        eprintln!("usage: {} BENCHMARK SIZE WORKERS; see bench/peer.h", arguments[0]);
        std::process::exit(2);
    }
    let size = arguments[2].parse().expect("a size");
    let workers = arguments[3].parse().expect("a number of workers");
    let mut kernel = match kernel(&arguments[1], size) {
        Some(kernel) => kernel,
        None => std::process::exit(UNKNOWN),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("a pool");
    let mut out = std::io::stdout();
    writeln!(out, "ready")?;
    for line in std::io::stdin().lock().lines() {
        line?;
        kernel.reset();
        let (cpu_before, start) = (cpu(), Instant::now());
        kernel.run(&pool);
        let seconds = start.elapsed().as_secs_f64();
        let cpu = cpu() - cpu_before;
        write!(out, "{:.9} {:.9} {:x}", seconds, cpu, kernel.checksum())?;
        kernel.times().iter().try_for_each(|time| write!(out, " {:.9}", time))?;
        writeln!(out)?;
    }
    Ok(())
}
