#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles on its own, as C11, C17 and C++17, without a warning.
set -eu
cd "$INCLUDEDIR"
set -- -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only
for header in weft.h weft/*.h; do
    [ -f "$header" ] || continue
    for debug in 0 1; do
        for std in c11 c17; do
            echo "#include <$header>" |
                $CC -std=$std "$@" -DWEFT_DEBUG=$debug -x c -
        done
        echo "#include <$header>" |
            $CXX -std=c++17 "$@" -DWEFT_DEBUG=$debug -x c++ -
    done
done
