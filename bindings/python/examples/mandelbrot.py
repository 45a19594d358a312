# SPDX-License-Identifier: MIT
"""A body that is NumPy code on slices: it lets go of the GIL, so rows are computed in parallel."""

import numpy
import weft

WIDTH, HEIGHT, STEPS = 240, 160, 60


def rows(lo, hi):
    """The rows lo to hi - 1: after how many steps each point is far away."""
    y, x = numpy.mgrid[lo:hi, 0:WIDTH]
    c = (x / WIDTH * 3 - 2) + 1j * (y / HEIGHT * 2 - 1)
    z = numpy.zeros_like(c)
    for _ in range(STEPS):
        near = z.real**2 + z.imag**2 < 4
        z = numpy.where(near, z * z + c, z)
        steps[lo:hi] += near


steps = numpy.zeros((HEIGHT, WIDTH), dtype="u1")
weft.for_(HEIGHT, rows)
print(f"{weft.sum(steps)} steps; {int((steps == STEPS).sum())} points stay near")
