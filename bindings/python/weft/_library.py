# SPDX-License-Identifier: MIT
"""libweft.so, and the functions of it that this package calls."""

import ctypes
import errno
import os
from ctypes import POINTER, c_bool, c_char_p, c_double, c_float, c_int, c_int64, c_size_t
from ctypes import c_uint, c_uint64, c_void_p

SONAME = "libweft.so.0.2"
RELEASE = "0.2."  # what is written down here holds for these releases

FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
RANGE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_size_t, c_void_p)


class Config(ctypes.Structure):
    """The beginning of weft_config. The library takes a short one: the rest has its defaults."""

    _fields_ = [("size", c_size_t), ("workers", c_uint), ("flags", c_uint)]


def load():
    name = os.environ.get("WEFT_LIBRARY") or SONAME
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"weft: the C library was not loaded: {error}. Install it (cmake --install, then "
            f"ldconfig), or set the environment variable WEFT_LIBRARY to the path of {SONAME}"
        ) from None
    try:
        library.weft_version.restype = c_char_p
        version = library.weft_version().decode()
    except AttributeError:
        raise ImportError(f"weft: {name} is another library: it has no weft_version()") from None
    if not version.startswith(RELEASE):
        raise ImportError(
            f"weft: {name} is release {version}, but this package is for {RELEASE}x. Install the "
            "two of one release, or set WEFT_LIBRARY to the path of the other library"
        )
    return library, version


library, version = load()

# A task, in words: it is aligned to 8 bytes.
library.weft_sizeof.restype = c_size_t
TASK_SIZE = library.weft_sizeof(b"weft_task")
Task = c_uint64 * (TASK_SIZE // 8)

# The same library twice. ctypes lets go of the GIL in calls of `slow`, and keeps it in calls of
# `quick`: these neither wait nor take long.
slow = library
quick = ctypes.PyDLL(None, handle=library._handle)

NUMBERS = {
    "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16, "u16": ctypes.c_uint16,
    "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": c_int64, "u64": c_uint64,
    "f32": c_float, "f64": c_double,
}
SORTED = ("u32", "i32", "u64", "i64", "f32", "f64")


def declare(dll, name, result, *arguments):
    function = getattr(dll, name)
    function.restype = result
    function.argtypes = arguments


declare(quick, "weft_here", c_void_p)
declare(quick, "weft_actor_self", c_void_p, c_void_p)
declare(quick, "weft_fail", None, c_void_p, c_int)
declare(quick, "weft_strerror", c_char_p, c_int)
declare(quick, "weft_pool_workers", c_uint, c_void_p)
declare(quick, "weft_task_done", c_bool, c_void_p)
declare(quick, "weft_task_fd", c_int, c_void_p)
declare(slow, "weft_pool_create", c_int, POINTER(c_void_p), POINTER(Config))
declare(slow, "weft_pool_destroy", c_int, c_void_p)
declare(slow, "weft_pool_default", c_void_p)
declare(slow, "weft_run", c_int, c_void_p, FN, c_void_p)
declare(slow, "weft_submit", c_int, c_void_p, c_void_p, FN, c_void_p)
declare(slow, "weft_task_wait", c_int, c_void_p)
declare(slow, "weft_task_cancel", c_int, c_void_p)
# Twice: for bodies in Python, and in C.
for_min = slow["weft_for_min"]
for_min.restype = None
for_min.argtypes = c_void_p, c_size_t, c_size_t, c_size_t, RANGE_FN, c_void_p
for_min_native = slow["weft_for_min"]
for_min_native.restype = None
for_min_native.argtypes = c_void_p, c_size_t, c_size_t, c_size_t, c_void_p, c_void_p
for _name, _type in NUMBERS.items():
    _sum = c_double if _name[0] == "f" else c_int64 if _name[0] == "i" else c_uint64
    declare(slow, f"weft_sum_{_name}", _sum, c_void_p, c_void_p, c_size_t)
    declare(slow, f"weft_min_{_name}", _type, c_void_p, c_void_p, c_size_t)
    declare(slow, f"weft_max_{_name}", _type, c_void_p, c_void_p, c_size_t)
for _name in SORTED:
    declare(slow, f"weft_sort_{_name}", None, c_void_p, c_void_p, c_size_t)


class Cancelled(Exception):
    """The computation around this call has failed or was cancelled, so this call did not finish."""


def error_of(code):
    """The exception for what a function of the library returned."""
    meaning = quick.weft_strerror(code).decode()
    if code == -errno.ENOMEM:
        return MemoryError(meaning)
    if code == -errno.ECANCELED:
        return Cancelled(meaning)
    if code < 0:
        return OSError(-code, meaning)
    return RuntimeError(f"the computation failed with {code}")
