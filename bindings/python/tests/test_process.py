# SPDX-License-Identifier: MIT
"""Signals, forks, the end of the interpreter, a missing library: each in a process of its own."""

import os
import subprocess
import sys
import textwrap
import unittest


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, timeout=300, env={**os.environ, **environment},
    )


class Process(unittest.TestCase):
    def check(self, program, code=0, out="", **environment):
        ended = run(program, **environment)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (code, out, ""))

    def test_ctrl_c_ends_a_loop(self):
        self.check(
            """
            import os, signal, time, weft
            from weft import _call
            def body(lo, hi):
                if lo == 0:
                    os.kill(os.getpid(), signal.SIGINT)
                time.sleep((hi - lo) / 1e6)  # 1000 seconds in all
            for _ in range(20):
                try:
                    weft.for_(10**9, body, min=1)
                except KeyboardInterrupt:
                    print("interrupted")
            weft.for_(10, lambda lo, hi: None)
            assert not _call.calls
            """,
            out="interrupted\n" * 20,
        )

    def test_any_signal_handler_may_end_a_loop(self):
        self.check(
            """
            import signal, time, weft
            def late(*_):
                raise TimeoutError("late")
            signal.signal(signal.SIGALRM, late)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                weft.for_(10**9, lambda lo, hi: time.sleep((hi - lo) / 1e6), min=1)
            except TimeoutError as error:
                print(error)
            """,
            out="late\n",
        )

    def test_exit_in_a_body(self):
        self.check("import sys, weft; weft.for_(9, lambda lo, hi: sys.exit(4))", code=4)

    def test_the_interpreter_ends_while_daemon_threads_compute(self):
        self.check(
            """
            import threading, time, weft
            busy = threading.Barrier(4)
            def work():
                first = True
                def body(lo, hi):
                    nonlocal first
                    if first:
                        first = False
                        busy.wait()
                    time.sleep((hi - lo) / 1e6)
                weft.for_(10**9, body, min=1)
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            busy.wait()
            """
        )

    def test_calls_after_the_end_are_refused(self):
        self.check(
            """
            import atexit
            def late():
                try:
                    weft.for_(3, print)
                except RuntimeError as error:
                    print(error)
            atexit.register(late)  # called after weft's own
            import weft
            """,
            out="weft: the interpreter is exiting\n",
        )

    def test_a_forked_child_has_a_pool_of_its_own(self):
        self.check(
            """
            import os, sys, threading, weft
            from weft import _call
            busy, stop = threading.Event(), threading.Event()
            def body(lo, hi):  # at rest: CPython 3.11 does not bear it otherwise, see the README
                busy.set()
                stop.wait()
            thread = threading.Thread(target=weft.for_, args=(1, body))
            thread.start()
            busy.wait()
            with weft.Pool(2) as pool:
                for _ in range(5):
                    lock = _call.lock
                    lock.acquire()  # as if by another thread
                    pid = os.fork()
                    if pid == 0:
                        assert weft.map(str, range(9)) == list("012345678")
                        try:
                            weft.for_(3, print, pool=pool)
                        except ChildProcessError:
                            sys.exit(5)
                    lock.release()
                    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
            stop.set()
            """
        )

    def test_a_child_of_a_body(self):
        self.check(
            """
            import os, weft
            def body(lo, hi):
                pid = os.fork()
                if pid == 0:
                    os._exit(6)
                assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 6
            with weft.Pool(1) as pool:
                weft.for_(3, body, min=1, pool=pool)
            """
        )

    def test_a_missing_library(self):
        ended = run("import weft", WEFT_LIBRARY="/nowhere/libweft.so")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("ImportError: weft: the C library was not loaded", ended.stderr)
        self.assertIn("set the environment variable WEFT_LIBRARY", ended.stderr)

    def test_another_library(self):
        ended = run("import weft", WEFT_LIBRARY="libm.so.6")
        self.assertIn("ImportError: weft: libm.so.6 is another library", ended.stderr)

    def test_no_file_descriptors_are_left(self):
        # A wait without a descriptor can't be interrupted, but ends.
        self.check(
            """
            import os, resource, weft
            weft.for_(3, lambda lo, hi: None)
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
            print(weft.map(str, range(3)))
            """,
            out="['0', '1', '2']\n",
        )


if __name__ == "__main__":
    unittest.main()
