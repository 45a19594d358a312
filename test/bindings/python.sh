#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests of the Python binding, and its examples, straight from the source tree.
set -eu
. "$(dirname "$0")/which.sh"

export PYTHONPATH="$SOURCE/python" PYTHONDONTWRITEBYTECODE=1
"$python" -X faulthandler -m unittest discover -v -s "$SOURCE/python/tests" 2>&1
"$python" -c 'import numpy' 2>/dev/null || { echo "the examples are skipped: no NumPy"; exit 0; }
for example in "$SOURCE"/python/examples/*.py; do
    "$python" "$example"
done
