# SPDX-License-Identifier: MIT
"""A binding in thirty lines: the library by ctypes. LIBWEFT names it, else libweft.so.0.2."""
import ctypes
import os

# [load]
lib = ctypes.CDLL(os.environ.get("LIBWEFT", "libweft.so.0.2"))
job = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)  # void fn(weft *w, void *arg)
lib.weft_run.argtypes = [ctypes.c_void_p, job, ctypes.c_void_p]
lib.weft_sum_f64.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
lib.weft_sum_f64.restype = ctypes.c_double
lib.weft_strerror.restype = ctypes.c_char_p
# [end]


# [sum]
def total(numbers):
    """The sum of an array of doubles, on all CPUs."""
    results = []

    @job
    def run(w, arg):  # holds the GIL; w is valid until it returns
        try:
            results.append(lib.weft_sum_f64(w, numbers, len(numbers)))  # the GIL is released
        except BaseException as error:  # must not pass through C
            results.append(error)

    error = lib.weft_run(None, run, None)
    if error:
        raise OSError(-error, lib.weft_strerror(error).decode())
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]
# [end]


print(total((ctypes.c_double * 100000)(*range(100000))))
