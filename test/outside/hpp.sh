#!/bin/sh
# SPDX-License-Identifier: MIT
# weft.hpp as it is installed: each of its headers compiles on its own, and a program is built with
# pkg-config and with find_package.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PKG_CONFIG_PATH="$LIBDIR/pkgconfig"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"

for header in weft.hpp weft/cxx/error.hpp weft/cxx/sort.hpp weft/cxx/co.hpp weft/cxx/actor.hpp weft/cxx/graph.hpp; do
    # shellcheck disable=SC2086 # flags are words
    echo "#include <$header>" | $CXX -std=c++20 $warnings -I"$INCLUDEDIR" -fsyntax-only -x c++ -
done
# shellcheck disable=SC2046,SC2086
$CXX -std=c++17 -O2 $warnings "$here/hpp.cpp" -o hpp $(pkg-config --cflags --libs weft)
LD_LIBRARY_PATH=$LIBDIR ./hpp

# What would be a race does not compile, and says why.
for call in 'weft::for_each(bits, [](auto &&bit) { bit = true; })' 'weft::inclusive_scan(flags, bits.begin())'; do
    echo "#include <weft.hpp>
        void f(std::vector<bool> &bits, std::vector<int> &flags) { flags.size(); $call; }" >race.cpp
    if $CXX -std=c++17 -I"$INCLUDEDIR" -fsyntax-only race.cpp 2>race.log; then
        echo "compiles: $call"
        exit 1
    fi
    grep -q 'share words of memory' race.log || { cat race.log; exit 1; }
done

project=$PWD/project
rm -rf "$project" && mkdir -p "$project"
cp "$here/hpp.cpp" "$project"
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(outside CXX)
find_package(weft 0.2 REQUIRED)
add_executable(hpp hpp.cpp)
target_compile_features(hpp PRIVATE cxx_std_20)
target_link_libraries(hpp weft::weft)
END
cmake -S "$project" -B "$project/build" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_PREFIX_PATH="$PREFIX" >"$project/log"
cmake --build "$project/build" >>"$project/log" || { cat "$project/log"; exit 1; }
"$project/build/hpp"

# The example of the manual page.
sed -n '/^\.Bd -literal/,/^\.Ed/p' "$MANDIR/man7/weft_cxx.7" | sed '1d;$d;s/\\-/-/g;s/\\e/\\/g' >page.cpp
# shellcheck disable=SC2046,SC2086
$CXX -std=c++17 -O2 $warnings page.cpp -o page $(pkg-config --cflags --libs weft)
[ "$(LD_LIBRARY_PATH=$LIBDIR ./page)" = "832040 loom" ]
