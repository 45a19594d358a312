# SPDX-License-Identifier: MIT
"""Sums and sorts of NumPy arrays, and a loop over slices."""

import numpy
import weft

a = numpy.random.default_rng(1).random(1_000_000)
total = weft.sum(a)  # the same bits in every run, on any number of workers
print(f"sum {total}, from {weft.min(a)} to {weft.max(a)}")

roots = numpy.empty_like(a)
weft.for_(len(a), lambda lo, hi: numpy.sqrt(a[lo:hi], out=roots[lo:hi]))

weft.sort(a)  # in place
print(f"the median is {a[len(a) // 2]}")

try:
    weft.for_(len(a), lambda lo, hi: a[len(a) + lo])
except IndexError as error:
    print(f"an exception in a body ends the loop: {error}")
