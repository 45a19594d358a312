#!/bin/sh
# SPDX-License-Identifier: MIT
# smoke.sh BUILD: the examples run, and so do the programs.
set -eu
cd "$1"
for example in examples/example-*; do
    echo "$example"
    timeout 120 "$example" >smoke.log 2>&1 </dev/null || { cat smoke.log; exit 1; }
done
./weft --version
./weft info
./weft check mutex-two
