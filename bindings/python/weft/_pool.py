# SPDX-License-Identifier: MIT
"""Pools of worker threads."""

import ctypes
import errno
import operator

from . import _call
from ._library import Config, error_of, quick, slow


class Pool:
    """A pool of its own, for calls with pool=...; without one they use the default pool, which has
    as many workers as the process has CPUs, or as the environment variable WEFT_WORKERS says."""

    def __init__(self, workers=0):
        self.handle = None
        workers = operator.index(workers)
        if not 0 <= workers < 1 << 32:
            raise ValueError(f"weft: a pool can't have {workers} workers")
        config = Config(size=ctypes.sizeof(Config), workers=workers)
        handle = ctypes.c_void_p()
        code = slow.weft_pool_create(handle, config)
        if code:
            raise error_of(code)
        self.handle = handle.value

    @property
    def workers(self):
        with _call.lock:
            return quick.weft_pool_workers(self.use())

    def use(self):
        """With the lock held."""
        if self.handle is None:
            raise ValueError("weft: the pool is closed")
        return self.handle

    def close(self):
        """Ends the workers. RuntimeError: a computation still runs in the pool."""
        with _call.lock:
            if any(call.pool is self and not call.is_over() for call in list(_call.calls)):
                raise RuntimeError("weft: the pool is in use, so it can't be closed")
            handle, self.handle = self.handle, None
        if handle is not None:
            code = slow.weft_pool_destroy(handle)
            if code not in (0, -errno.ECHILD):  # in a forked child it has no threads
                raise error_of(code)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        # No call uses it, or the call would keep it alive. The lock is not taken: the collector may
        # run in a thread that has it.
        handle, self.handle = getattr(self, "handle", None), None
        if handle is not None and slow is not None:
            slow.weft_pool_destroy(handle)


def workers_of(pool):
    """1: there is no default pool, and the call itself will say why."""
    return pool.workers if pool else quick.weft_pool_workers(slow.weft_pool_default()) or 1
