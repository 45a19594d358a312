# SPDX-License-Identifier: MIT
"""Sums and sorts of numbers that lie in memory one after the other.

Whatever has a buffer will do: NumPy arrays, array.array, memoryview. The buffer is held during the
call, so that its owner can neither move nor free it.
"""

import ctypes
import sys
from contextlib import contextmanager
from ctypes import POINTER, c_char, c_char_p, c_int, c_ssize_t, c_void_p

from ._call import run
from ._library import NUMBERS, SORTED, slow


class View(ctypes.Structure):
    """Py_buffer, which is part of Python's stable ABI."""

    _fields_ = [
        ("address", c_void_p), ("object", c_void_p), ("bytes", c_ssize_t),
        ("item", c_ssize_t), ("read_only", c_int), ("dimensions", c_int), ("format", c_char_p),
        ("shape", POINTER(c_ssize_t)), ("strides", POINTER(c_ssize_t)),
        ("suboffsets", POINTER(c_ssize_t)), ("internal", c_void_p),
    ]


FULL = 0x011C  # PyBUF_FULL_RO: any layout, with its format

get_buffer = ctypes.pythonapi.PyObject_GetBuffer
get_buffer.argtypes = ctypes.py_object, POINTER(View), c_int
release_buffer = ctypes.pythonapi.PyBuffer_Release
release_buffer.argtypes = (POINTER(View),)
release_buffer.restype = None
is_contiguous = ctypes.pythonapi.PyBuffer_IsContiguous
is_contiguous.argtypes = POINTER(View), c_char

NATIVE = "@=<" if sys.byteorder == "little" else "@=>!"
KINDS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), "f": "f", "d": "f"}


def type_of(view):
    """The name that the library has for the type of the elements: "f64"."""
    text = view.format.decode() if view.format else "B"
    code = text[1:] if text[:1] and text[0] in NATIVE else text
    name = f"{KINDS[code]}{8 * view.item}" if code in KINDS else None
    if name not in NUMBERS:
        raise TypeError(
            f"weft: elements of format {text!r}: they have to be integers, float32 or float64, in "
            "this machine's byte order"
        )
    return name


@contextmanager
def numbers(array):
    """The View of an array, its length, and the name of its type."""
    view = View()
    try:
        get_buffer(array, view, FULL)
        name = type_of(view)
        if not is_contiguous(view, b"A"):
            raise ValueError("weft: the array has gaps; numpy.ascontiguousarray() makes a copy")
        if view.bytes and view.address % view.item:
            raise ValueError("weft: the array is not aligned; array.copy() is")
        yield view, view.bytes // view.item, name
    finally:
        release_buffer(view)  # of a view that was not filled: nothing


def reduce(kind, array, pool):
    with numbers(array) as (view, n, name):
        if n == 0 and kind != "sum":
            raise ValueError(f"weft: the {kind} of no numbers")
        function = getattr(slow, f"weft_{kind}_{name}")
        result = None

        def job(_call, w):
            nonlocal result
            result = function(w, view.address, n)
            return True

        run(job, pool)
        return result


def sum(array, *, pool=None):
    """The sum of all elements. Of integers: an int of 64 bits, which wraps around. Of floats: a
    float, added up as float64, with the same bits for any number of workers."""
    return reduce("sum", array, pool)


def min(array, *, pool=None):
    """The least element. NaNs are ignored; if there is nothing else, it is infinity."""
    return reduce("min", array, pool)


def max(array, *, pool=None):
    """The greatest element. NaNs are ignored; if there is nothing else, it is -infinity."""
    return reduce("max", array, pool)


def sort(array, *, pool=None):
    """Sorts a one-dimensional array in place: of integers of 32 or 64 bits, float32 or float64.

    Floats are in the total order of IEEE 754: NaNs come last, those with a sign bit first. If it is
    interrupted or there is no memory, the elements are all there, in any order.
    """
    with numbers(array) as (view, n, name):
        if view.read_only:
            raise ValueError("weft: the array is read-only")
        if view.dimensions != 1:
            raise ValueError(f"weft: sort() needs 1 dimension, the array has {view.dimensions}")
        if name not in SORTED:
            raise TypeError(f"weft: sort() is for {', '.join(SORTED)}, the array has {name}")
        function = getattr(slow, f"weft_sort_{name}")

        def job(_call, w):
            function(w, view.address, n)
            return True

        run(job, pool)
