# SPDX-License-Identifier: MIT
"""How Python code gets into a pool, and its exceptions out of it.

    run() ── submits a task ──▶ any worker ──▶ Call.enter ──▶ job(w) ──▶ weft_for ──▶ bodies

Python runs its signal handlers on the main thread, between any two instructions: also in the first
one of a callback, where no `try` can catch what the handler raises, and ctypes then prints the
exception and forgets it. So the main thread runs no callbacks. It waits for the end of the task in
poll(2), which Ctrl-C interrupts; then it cancels the task, waits until the bodies that run have
returned, and lets the exception go on. Other threads have no signal handlers: they wait inside the
library, and help there.
"""

import atexit
import ctypes
import os
import select
import threading

from ._library import FN, Task, error_of, quick, slow


class Call:
    """One computation. The library uses `fn` and `task`, so they stay until the task is over."""

    def __init__(self, job, pool):
        self.job = job
        self.pool = pool
        self.fn = FN(self.enter)
        self.task = Task()
        self.address = ctypes.addressof(self.task)
        self.error = None  # the first exception; raised by the thread that waits
        self.complete = False
        self.over = True

    def enter(self, w, _):
        try:
            self.complete = self.job(self, w)
        except BaseException as error:
            if self.error is None:
                self.error = error

    def is_over(self):
        return self.over or quick.weft_task_done(self.address)

    def end(self, code):
        error, self.error = self.error, None
        self.job = self.fn = None  # they refer to this call
        if error is not None:
            try:
                raise error
            finally:
                del error  # or it would refer to itself, by way of this frame
        if code:
            raise error_of(code)
        if not self.complete:
            # RecursionError or MemoryError, as a rule: there was no room for the callback itself.
            raise RuntimeError(
                "weft: Python did not begin a callback; it has written the reason to stderr"
            )


# All calls that the library may still use. Guarded by the lock, like `closing`.
calls = set()
closing = False
lock = threading.Lock()


def run(job, pool=None):
    """Calls job(call, w) in the pool. Returns when it, and all that it has forked, is over. The job
    returns whether it has done everything."""
    w = quick.weft_here()
    refuse_actor(w)
    call = Call(job, pool)
    if w is not None:
        code = run_inside(call)
    else:
        code = run_outside(call)
    call.end(code)


def refuse_actor(w):
    if w is not None and quick.weft_actor_self(w) is not None:
        raise RuntimeError(
            "weft: Python can't compute in an actor. An actor may go on with another thread after "
            "each fork or wait, and the interpreter ties every frame to one thread. Let the actor "
            "send its data to a Python thread, and call weft there"
        )


def add(call):
    """With the lock held. Returns the pool to use."""
    if closing:
        raise RuntimeError("weft: the interpreter is exiting")
    handle = call.pool.use() if call.pool else None
    # Ctrl-C may have come between the end of a call and its removal.
    calls.difference_update([old for old in list(calls) if old.is_over()])
    calls.add(call)
    return handle


def run_inside(call):
    """In a callback: nothing is handed over, this thread goes on with the new computation."""
    with lock:
        handle = add(call)
        call.over = False
    try:
        return slow.weft_run(handle, call.fn, None)
    finally:
        call.over = True
        calls.discard(call)


def run_outside(call):
    is_main = threading.get_ident() == threading.main_thread().ident
    try:
        with lock:
            handle = add(call)
            call.over = False  # Python runs no signal handler between this and the next call
            code = slow.weft_submit(handle, call.address, call.fn, None)
            call.over = code != 0
        if is_main and not code:
            poll(call)
    except BaseException:
        slow.weft_task_cancel(call.address)
        raise
    finally:
        # First of all: whatever interrupts this thread, the library is done with the task. A task
        # that was not submitted is -EINVAL.
        waited = slow.weft_task_wait(call.address)
        calls.discard(call)
    if closing and not is_main:
        threading.Event().wait()  # for ever: a daemon thread has no more to do
    return code or waited


def poll(call):
    """Waits for the end where a signal handler of Python may interrupt."""
    descriptor = quick.weft_task_fd(call.address)
    if descriptor >= 0:  # else: too many are open; then the wait can't be interrupted
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        # A signal that comes just before poll(2) does not interrupt it. So it is not one long wait.
        while not poller.poll(100):
            pass


def close():
    """Before the interpreter ends: a worker that asks for the GIL later would never get it. So
    computations of daemon threads are cancelled, and new ones are refused."""
    global closing
    with lock:
        closing = True
        pending = list(calls)
    for call in pending:
        slow.weft_task_cancel(call.address)
    for call in pending:
        slow.weft_task_wait(call.address)


def start_child():
    """In a forked child. Another thread may have held the lock. Calls of the parent stay where they
    are: one of them may be the caller of os.fork(), and the library answers for the others."""
    global lock
    lock = threading.Lock()


atexit.register(close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=start_child)
