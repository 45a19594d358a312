#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that uses libweft-mpi, found with pkg-config, with find_package(weft COMPONENTS mpi), and
# with mpicc; C and C++ compilers both read its header. The core library does not need MPI.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
run=$here/../mpi/run.sh
export PKG_CONFIG_PATH="$LIBDIR/pkgconfig" LD_LIBRARY_PATH="$LIBDIR"

# shellcheck disable=SC2046 # flags are words
$CC -std=c17 -Wall -Wextra -Werror -O2 "$here/mpi.c" -o mpi-pc $(pkg-config --cflags --libs weft-mpi)
readelf -d mpi-pc | grep -q 'libweft-mpi\.so' || { echo "not linked with libweft-mpi"; exit 1; }
! readelf -d "$LIBDIR/libweft.so" | grep -q libmpi || { echo "libweft.so needs MPI"; exit 1; }
echo '#include <weft/mpi.h>' >header.cpp
# shellcheck disable=SC2046
$CXX -std=c++17 -fsyntax-only -DOMPI_SKIP_MPICXX header.cpp $(pkg-config --cflags weft-mpi)

project=$PWD/project
rm -rf "$project" && mkdir -p "$project"
cp "$here/mpi.c" "$project"
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(outside C)
find_package(weft 0.2 REQUIRED COMPONENTS mpi)
add_executable(mpi-cmake mpi.c)
target_link_libraries(mpi-cmake weft::mpi)
END
cmake -S "$project" -B "$project/build" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_PREFIX_PATH="$PREFIX" >"$project/log"
cmake --build "$project/build" >>"$project/log" || { cat "$project/log"; exit 1; }

# Without the component nobody has to have MPI, and what is not there is said to be missing.
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(outside C)
find_package(weft 0.2 QUIET COMPONENTS nonsense)
if(weft_FOUND)
    message(FATAL_ERROR "a component was found that there is not")
endif()
find_package(weft 0.2 REQUIRED)
if(TARGET weft::mpi)
    message(FATAL_ERROR "weft::mpi is there, but was not asked for")
endif()
END
cmake -S "$project" -B "$project/other" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_PREFIX_PATH="$PREFIX" >"$project/log"

sh "$run" 2 ./mpi-pc
sh "$run" 2 "$project/build/mpi-cmake"
