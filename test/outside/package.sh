#!/bin/sh
# SPDX-License-Identifier: MIT
# A project that says find_package(weft), with both targets.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
project=$PWD/project
rm -rf "$project" && mkdir -p "$project"
cp "$here/fib.c" "$project"
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(outside C)
find_package(weft 0.2 REQUIRED)
add_executable(fib-shared fib.c)
target_link_libraries(fib-shared weft::weft)
add_executable(fib-static fib.c)
target_link_libraries(fib-static weft::weft_static)
END
cmake -S "$project" -B "$project/build" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_PREFIX_PATH="$PREFIX" >"$project/log"
cmake --build "$project/build" >>"$project/log" || { cat "$project/log"; exit 1; }
"$project/build/fib-shared"
"$project/build/fib-static"
