# SPDX-License-Identifier: MIT
# profile_terminal.py WEFT PROFILED: `weft profile` on a terminal: how far it is stands at the right margin, and
# Ctrl-C reaches the program once, and not weft.
import os, pty, re, sys

weft, profiled = sys.argv[1:]
os.environ["TERM"] = "xterm"
pid, fd = pty.fork()
if pid == 0:
    os.execv(weft, [weft, "profile", profiled, "waits", "1"])

text = b""


def read_until(what):
    """Up to what matches; the test's own time limit is the one of ctest."""
    global text
    while not re.search(what, text):
        try:
            more = os.read(fd, 65536)
        except OSError:  # the other side is closed
            more = b""
        assert more, text
        text += more


# Twice, so that it was drawn again; the cursor is kept.
read_until(rb"ready")
read_until(rb"(?s)(\x1b7\x1b\[\d+G\x1b\[K +profile: \d+\.\d s, trace \d+\.\d MiB, CPU \d+ %\x1b8.*){2}")
os.write(fd, b"\x03")
read_until(rb"got 02")
assert text.count(b"got 02") == 1, text
os.write(fd, b"\x03")  # it stands no more
read_until(rb"was killed by signal 2")
read_until(rb"The trace is in (\S+)\. ")
path = re.search(rb"The trace is in (\S+)\. ", text)[1]
after = text[text.index(b"was killed"):]
assert b"profile: " not in after.replace(b"weft profile: ", b""), after
_, status = os.waitpid(pid, 0)
assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 130, status
os.unlink(path)
os.rmdir(os.path.dirname(path))
