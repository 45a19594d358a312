// SPDX-License-Identifier: MIT
//! Reductions. The tree of joins depends on the range and the block only: so does the result, bit
//! for bit, whatever the workers do.

use crate::Context;
use std::ops::Range;

impl Context<'_> {
    /// Cuts the range into blocks, calls `map` for each block, and combines the results, neighbours
    /// with neighbours. None: the range is empty.
    ///
    /// `combine` has to be associative, except for rounding. A block should take some microseconds
    /// at least: for a few nanoseconds an element, 8192 elements.
    pub fn reduce<T, M, C>(
        &mut self,
        range: Range<usize>,
        block: usize,
        map: M,
        combine: C,
    ) -> Option<T>
    where
        T: Send,
        M: Fn(Range<usize>) -> T + Sync,
        C: Fn(T, T) -> T + Sync,
    {
        assert!(block > 0, "weft: a block has at least one element");
        if range.is_empty() {
            return None;
        }
        Some(tree(self, range, block, &map, &combine))
    }
}

fn tree<T, M, C>(cx: &mut Context<'_>, range: Range<usize>, block: usize, map: &M, combine: &C) -> T
where
    T: Send,
    M: Fn(Range<usize>) -> T + Sync,
    C: Fn(T, T) -> T + Sync,
{
    if range.len() <= block {
        return map(range);
    }
    let blocks = (range.len() - 1) / block + 1;
    let middle = range.start + blocks / 2 * block;
    let (left, right) = (range.start..middle, middle..range.end);
    let (a, b) = cx
        .join(|cx| tree(cx, left, block, map, combine), |cx| tree(cx, right, block, map, combine));
    combine(a, b)
}
