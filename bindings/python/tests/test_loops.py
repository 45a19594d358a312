# SPDX-License-Identifier: MIT
"""Loops with bodies in Python and in C: every element once, or an exception."""

import ctypes
import gc
import os
import sys
import threading
import time
import unittest
import weakref
from unittest import mock

import weft
from weft import _call, _loops

WIDTHS = (1, 2, 4, 16)


class Count:
    """What a body has done. Bodies run on several threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ranges = []

    def __call__(self, lo, hi):
        with self.lock:
            self.ranges.append((lo, hi))

    def covers(self, n):
        end = 0
        for lo, hi in sorted(self.ranges):
            if lo != end or hi <= lo:
                return False
            end = hi
        return end == n


class Loops(unittest.TestCase):
    def test_every_element_is_in_one_range(self):
        for workers in WIDTHS:
            with weft.Pool(workers) as pool:
                for n in (0, 1, 2, 3, 1000, 10**12):
                    for least in (None, 0, 1, 7, 10**11):
                        if n == 10**12 and least != 10**11 and least is not None:
                            continue  # too many calls
                        count = Count()
                        weft.for_(n, count, min=least, pool=pool)
                        self.assertTrue(count.covers(n), (n, least))

    def test_no_more_than_64_ranges_for_each_worker(self):
        with weft.Pool(2) as pool:
            for n in (127, 129, 255, 10**9):
                count = Count()
                weft.for_(n, lambda lo, hi: (count(lo, hi), time.sleep(0.0001)), pool=pool)
                self.assertLessEqual(len(count.ranges), 128)
                self.assertTrue(count.covers(n))

    def test_an_exception_travels_to_the_caller(self):
        for workers in WIDTHS:
            with weft.Pool(workers) as pool:
                for bad in range(0, 1000, 111):

                    def body(lo, hi):
                        if lo <= bad < hi:
                            raise KeyError(bad)

                    with self.assertRaises(KeyError) as caught:
                        weft.for_(1000, body, min=1, pool=pool)
                    self.assertEqual(caught.exception.args, (bad,))

    def test_an_exception_cancels_the_rest(self):
        calls = []

        def body(lo, hi):
            calls.append(lo)
            raise SystemExit(3)

        with weft.Pool(1) as pool:
            with self.assertRaises(SystemExit):
                weft.for_(10**6, body, min=1, pool=pool)
        self.assertEqual(len(calls), 1)

    def test_bodies_call_weft_again(self):
        def leaves(depth):
            if depth == 0:
                return 1
            return sum(weft.map(leaves, [depth - 1] * 3))

        self.assertEqual(leaves(5), 243)
        with weft.Pool(2) as one, weft.Pool(3) as other:
            count = Count()

            def body(lo, hi):
                for _ in range(lo, hi):
                    weft.for_(10, count, pool=other)

            weft.for_(20, body, pool=one)
            self.assertEqual(sum(hi - lo for lo, hi in count.ranges), 200)

    def test_an_exception_passes_through_all_loops_around_it(self):
        def deep(depth):
            if depth == 0:
                raise LookupError("the bottom")
            weft.for_(3, lambda lo, hi: deep(depth - 1), min=1)

        with self.assertRaisesRegex(LookupError, "the bottom"):
            deep(8)

    def test_what_an_inner_loop_raises_may_be_caught(self):
        def body(lo, hi):
            with self.assertRaises(ZeroDivisionError):
                weft.for_(5, lambda lo, hi: 1 / 0)
            count(lo, hi)

        count = Count()
        weft.for_(50, body, min=1)
        self.assertTrue(count.covers(50))

    def test_loops_in_a_cancelled_loop_end_as_well(self):
        raised = threading.Event()

        def body(lo, hi):
            if lo == 0:
                raised.set()
                raise ValueError
            raised.wait()
            while True:  # the outer loop is cancelled meanwhile
                weft.for_(100, lambda lo, hi: None, min=1)

        with weft.Pool(2) as pool, self.assertRaises(ValueError):
            weft.for_(2, body, min=1, pool=pool)

    def test_at_the_recursion_limit_no_element_is_lost_silently(self):
        ends = {"done": 0, "refused": 0}

        def at_depth(depth, left):
            if left:
                return at_depth(depth, left - 1)
            count = Count()
            try:
                weft.for_(4, count, min=1)
            except (RecursionError, RuntimeError, ctypes.ArgumentError):
                ends["refused"] += 1
            else:
                ends["done"] += 1
                self.assertTrue(count.covers(4), depth)

        def body(lo, hi):
            for depth in range(limit - 40, limit - 2):
                try:
                    at_depth(depth, depth)
                except RecursionError:
                    pass

        limit = sys.getrecursionlimit()
        hook, sys.unraisablehook = sys.unraisablehook, id  # says nothing
        try:
            weft.for_(1, body)
        finally:
            sys.unraisablehook = hook
        self.assertGreater(ends["done"], 0)
        self.assertGreater(ends["refused"], 0)
        weft.for_(10, lambda lo, hi: None)

    def test_a_callback_that_python_does_not_begin(self):
        """As if there were no memory for its frame: ctypes prints that, and goes on."""

        def not_first(kind):
            def make(callback):
                def called(*arguments):
                    if missed:
                        return callback(*arguments)
                    missed.append(True)
                    raise MemoryError

                return kind(called)

            return make

        for place, name in ((_loops, "RANGE_FN"), (_call, "FN")):
            missed = []
            with mock.patch.object(place, name, not_first(getattr(place, name))), mock.patch(
                "sys.unraisablehook", id
            ), self.assertRaisesRegex(RuntimeError, "did not begin a callback"):
                weft.for_(1000, lambda lo, hi: None, min=1)

    def test_a_call_whose_end_was_interrupted(self):
        call = _call.Call(None, None)
        _call.calls.add(call)
        weft.for_(1, lambda lo, hi: None)
        self.assertNotIn(call, _call.calls)

    def test_many_threads_at_once(self):
        def work():
            for _ in range(10):
                count = Count()
                weft.for_(500, count, min=1)
                good.append(count.covers(500))
                try:
                    weft.for_(100, lambda lo, hi: 1 / 0)
                except ZeroDivisionError:
                    good.append(True)

        good = []
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        work()
        for thread in threads:
            thread.join()
        self.assertEqual(good, [True] * 180)

    def test_bodies_run_at_the_same_time(self):
        meeting = threading.Barrier(2)
        with weft.Pool(2) as pool:
            weft.for_(2, lambda lo, hi: meeting.wait(), min=1, pool=pool)

    def test_nothing_is_kept(self):
        def failing(lo, hi):
            raise ValueError

        def fine(lo, hi):
            pass

        kept = [weakref.ref(fine), weakref.ref(failing)]
        gc.disable()  # nothing waits for the collector
        try:
            weft.for_(100, fine, min=1)
            try:
                weft.for_(100, failing, min=1)
            except ValueError:
                pass
            del fine, failing
            self.assertEqual([ref() for ref in kept], [None, None])
        finally:
            gc.enable()

    def test_map(self):
        self.assertEqual(weft.map(str, range(1000)), [str(i) for i in range(1000)])
        self.assertEqual(weft.map(str, []), [])

    def test_bad_arguments(self):
        for n in (-1, 2**63):
            with self.assertRaises(ValueError):
                weft.for_(n, print)
        with self.assertRaises(TypeError):
            weft.for_(1.5, print)
        with self.assertRaises(TypeError):
            weft.for_(1, 7)
        with self.assertRaises(ValueError):
            weft.for_(1, print, min=-1)
        for function in (True, 0, 5, None, print, "x"):
            with self.assertRaises(TypeError):
                weft.for_native(1, function)


class Pools(unittest.TestCase):
    def test_a_pool_in_use_is_not_closed(self):
        with weft.Pool(1) as pool, self.assertRaisesRegex(RuntimeError, "in use"):
            weft.for_(1, lambda lo, hi: pool.close(), pool=pool)

    def test_a_closed_pool_says_so(self):
        pool = weft.Pool(1)
        pool.close()
        pool.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            weft.for_(1, print, pool=pool)
        with self.assertRaisesRegex(ValueError, "closed"):
            pool.workers

    def test_workers(self):
        with weft.Pool(3) as pool:
            self.assertEqual(pool.workers, 3)
        for workers in (-1, 5000, 2**40):
            with self.assertRaises((ValueError, OSError)):
                weft.Pool(workers)


@unittest.skipUnless("WEFT_TEST_NATIVE" in os.environ, "WEFT_TEST_NATIVE names no library")
class Native(unittest.TestCase):
    def setUp(self):
        self.library = ctypes.CDLL(os.environ["WEFT_TEST_NATIVE"])
        self.numbers = (ctypes.c_uint64 * 100000)()
        self.at = ctypes.addressof(self.numbers)

    def test_a_body_in_c(self):
        class Compiled:  # as numba.cfunc makes it
            address = ctypes.cast(self.library.fill, ctypes.c_void_p).value

        for function in (self.library.fill, Compiled.address, Compiled):
            ctypes.memset(self.at, 0, ctypes.sizeof(self.numbers))
            weft.for_native(len(self.numbers), function, self.at)
            self.assertEqual(list(self.numbers), list(range(len(self.numbers))))

    def test_a_body_in_c_that_fails(self):
        with self.assertRaises(BrokenPipeError):
            weft.for_native(1000, self.library.fail_with_epipe)

    def test_a_loop_in_an_actor_is_refused(self):
        messages = []

        def callback():
            for call in (
                lambda: weft.for_(10, print),
                lambda: weft.for_native(10, self.library.fill),
                lambda: weft.sum(bytes(10)),
            ):
                try:
                    call()
                except RuntimeError as error:
                    messages.append(str(error))

        # It runs on the stack of an actor, and neither forks nor waits there.
        thunk = ctypes.CFUNCTYPE(None)(callback)
        self.assertEqual(self.library.call_in_actor(thunk), 0)
        self.assertEqual(len(messages), 3)
        for message in messages:
            self.assertIn("can't compute in an actor", message)


if __name__ == "__main__":
    unittest.main()
