#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python binding as pip installs it, without a network. pip builds beside the sources: in a copy.
set -eu
. "$(dirname "$0")/which.sh"
for module in pip setuptools wheel; do # one at a time: they do not like each other
    "$python" -c "import $module" 2>/dev/null || { echo "skipped: no $module"; exit 77; }
done

rm -rf copy installed
cp -r "$SOURCE/python" copy
"$python" -m pip install --quiet --no-index --no-build-isolation --no-deps --no-compile \
    --disable-pip-version-check --root-user-action ignore --target installed ./copy
cd installed
PYTHONPATH=$PWD "$python" -c '
import os, weft
assert os.path.realpath(weft.__file__).startswith(os.path.realpath("."))
assert weft.map(str, range(3)) == ["0", "1", "2"]
print("installed, for weft", weft.__version__)'
