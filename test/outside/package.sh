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

# Another minor version may be another library; a newer patch may have what this one lacks.
version=$("$project/build/fib-shared" | sed 's/:.*//')
cat >"$project/version.cmake" <<'END'
string(REPLACE "." ";" parts ${wanted})
list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)
list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)
set(PACKAGE_FIND_VERSION ${wanted})
include(${folder}/weft-config-version.cmake)
if(NOT PACKAGE_VERSION STREQUAL version)
    message(FATAL_ERROR "weft-config-version.cmake says ${PACKAGE_VERSION}, and the library ${version}")
elseif(NOT "${PACKAGE_VERSION_COMPATIBLE}" STREQUAL expected)
    message(FATAL_ERROR "find_package(weft ${wanted}): ${PACKAGE_VERSION_COMPATIBLE}")
endif()
END
minor=${version#*.} && minor=${minor%.*}
major=${version%%.*}
accepts()
{
    cmake -D folder="$LIBDIR/cmake/weft" -D version="$version" -D wanted="$1" -D expected="$2" \
        -P "$project/version.cmake"
}
accepts "$version" TRUE
accepts "$major.$minor" TRUE
accepts "$major.$minor.$((${version##*.} + 1))" FALSE
accepts "$major.$((minor + 1))" FALSE
accepts "$major.$((minor - 1))" FALSE
accepts "$((major + 1)).$minor" FALSE
