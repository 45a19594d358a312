# SPDX-License-Identifier: MIT
# Sets `python` to an interpreter: one that has NumPy, if there is one. Skips if there is none.
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || continue
    python=${python:-$candidate}
    "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || { echo "skipped: no Python of version 3.9 or later"; exit 77; }
