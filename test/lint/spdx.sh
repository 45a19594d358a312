#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file carries its licence in one line.
set -eu
cd "$(dirname "$0")/../.."

without=$(find . \( -name .git -o -path ./build \) -prune -o -type f \( \
    -name '*.[chS]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.awk' -o -name '*.patch' -o \
    -name '*.py' -o -name '*.rs' -o -name '*.toml' -o -name '*.cmake' -o -name '*.in' -o \
    -name '*.map' -o -name '*.[1-9]' -o -name CMakeLists.txt -o -name Makefile -o -name run -o \
    -name packages -o -name LICENSE -o -name .clang-format -o -name .gitignore \) \
    -exec grep -L 'SPDX-License-Identifier: MIT' {} +) || :
[ -z "$without" ] || { echo "no SPDX line in:"; echo "$without"; exit 1; }
