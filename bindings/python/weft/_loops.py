# SPDX-License-Identifier: MIT
"""Loops over ranges, with bodies in Python or in C."""

import ctypes
import errno
import operator
import threading

from ._call import run
from ._library import RANGE_FN, for_min, for_min_native, quick
from ._pool import workers_of

# Into so many ranges for each worker, at most, is a loop cut. A call of a Python body costs some
# microseconds, most of it for the GIL: with fewer ranges it does not matter.
RANGES = 64


def for_(n, body, *, min=None, pool=None):
    """Calls body(lo, hi) for ranges that make up range(n), on several threads.

    Each element is in one range. The calls hold the GIL, as all Python code does; they run at the
    same time while the body is in code that lets go of it, such as NumPy's on slices.

    An exception in a body is raised here. Then calls that have not begun never do.

    min: the least number of elements in a call. Default: so many that there are at most 64 calls
    for each worker.
    """
    n = size_of(n, "n")
    if not callable(body):
        raise TypeError(f"weft: the body of a loop is a function of (lo, hi), not {body!r}")
    if min is None:
        min = -(-n // (RANGES * workers_of(pool)))
    least = size_of(min, "min")
    if n == 0:
        return
    left = n
    counting = threading.Lock()

    def job(call, whole):
        def step(w, lo, hi, _):
            nonlocal left
            try:
                body(lo, hi)
                with counting:
                    left -= hi - lo
            except BaseException as error:
                # First without a call: there may be no room for one.
                if call.error is None:
                    call.error = error
                quick.weft_fail(w, -errno.ECANCELED)  # what has not begun never does

        for_min(whole, 0, n, least, RANGE_FN(step), None)
        # If there is no room for the call of step() itself, Python prints RecursionError or
        # MemoryError and forgets it. So elements are counted.
        return left == 0

    run(job, pool)


def for_native(n, function, arg=None, *, min=1, pool=None):
    """The same with a body in C, which is called without the GIL:

        void body(weft *w, size_t lo, size_t hi, void *arg);

    function: its address; or a function of ctypes; or what has the address as `address`, as what
    numba.cfunc makes. arg: an address, or None. A wrong address or signature ends the process.
    """
    n = size_of(n, "n")
    least = size_of(min, "min")
    address = address_of(function)

    def job(_call, w):
        for_min_native(w, 0, n, least, address, arg)
        return True

    run(job, pool)


def map(function, items, *, pool=None):
    """A list of function(item) for each item, in order. Calls as those of for_()."""
    items = list(items)
    results = [None] * len(items)

    def body(lo, hi):
        for i in range(lo, hi):
            results[i] = function(items[i])

    for_(len(items), body, pool=pool)
    return results


def size_of(number, name):
    number = operator.index(number)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"weft: {name} is {number}")
    return number


def address_of(function):
    address = getattr(function, "address", function)
    if isinstance(address, ctypes._CFuncPtr):
        address = ctypes.cast(address, ctypes.c_void_p).value
    if isinstance(address, bool) or not isinstance(address, int) or address < 4096:
        raise TypeError(f"weft: {function!r} is neither a function of C nor its address")
    return address
