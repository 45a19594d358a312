#!/bin/sh
# SPDX-License-Identifier: MIT
# cxx.sh CXX LIBRARY SOURCE: compiles and runs a program of the guide in C++.
set -eu
cxx=$1
library=$2
source=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
grep -q '<weft.hpp>' "$source" && [ ! -f "$root/include/weft.hpp" ] &&
    { echo "weft.hpp is not here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cxx" -std=c++20 -Wall -Wextra -Werror -O1 -I "$root/include" "$source" -o "$folder/program" "$library" \
    -Wl,-rpath,"$(dirname "$library")"
sh "$root/test/guide/run.sh" "$source" "$folder/program"
