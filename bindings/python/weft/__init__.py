# SPDX-License-Identifier: MIT
"""weft: fork-join parallelism. Loops, sums and sorts on several threads.

    import numpy, weft

    a = numpy.random.rand(10_000_000)
    weft.sum(a)                                     # the same bits, always
    weft.sort(a)                                    # in place
    out = numpy.empty_like(a)
    weft.for_(len(a), lambda lo, hi: numpy.sqrt(a[lo:hi], out=out[lo:hi]))

Use it as `import weft`: some names are those of built-in functions.
"""

from ._arrays import max, min, sort, sum
from ._library import Cancelled
from ._library import version as __version__
from ._loops import for_, for_native, map
from ._pool import Pool

__all__ = ["Cancelled", "Pool", "for_", "for_native", "map", "max", "min", "sort", "sum"]
