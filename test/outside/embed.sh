#!/bin/sh
# SPDX-License-Identifier: MIT
# A project that says add_subdirectory(weft): it gets the library and nothing else. No build type is
# set for it, no program is built, nothing installed, and BUILD_SHARED_LIBS decides the kind. And
# `cmake .` in the source folder is refused.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
rm -rf project && mkdir project
cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.18)
project(outside C)
add_subdirectory($source weft)
add_executable(fib $here/fib.c)
target_link_libraries(fib weft::weft)
install(TARGETS fib)
if(CMAKE_BUILD_TYPE)
    message(FATAL_ERROR "weft has set the build type to \${CMAKE_BUILD_TYPE}")
endif()
END

# fail TEXT
fail()
{
    cat log
    echo "$1"
    exit 1
}

for shared in '' ON OFF; do
    rm -rf embedded
    cmake -S project -B embedded -DCMAKE_C_COMPILER="$CC" ${shared:+-DBUILD_SHARED_LIBS=$shared} >log 2>&1 ||
        fail "add_subdirectory() fails"
    targets=$(cmake --build embedded --target help)
    if echo "$targets" | grep -E 'weft_(tool|check|peer)|example-|api-|unit-'; then
        fail "there is more than the library"
    fi
    wanted=weft_static other=weft_shared
    [ "$shared" != ON ] || wanted=weft_shared other=weft_static
    echo "$targets" | grep -q $wanted || fail "BUILD_SHARED_LIBS=$shared: no $wanted"
    if echo "$targets" | grep -q $other; then fail "BUILD_SHARED_LIBS=$shared: $other, too"; fi
done

# Once to the end.
cmake --build embedded -j 2 >log 2>&1 || fail "does not build"
./embedded/fib
rm -rf stage
DESTDIR=$PWD/stage cmake --install embedded >log 2>&1 || fail "does not install"
[ "$(find stage -type f | wc -l)" -eq 1 ] || fail "more is installed than the project's own program"

# weft alone, without its tests, as packages say that.
rm -rf plain
cmake -S "$source" -B plain -DCMAKE_C_COMPILER="$CC" -DBUILD_TESTING=OFF >log 2>&1 || fail "does not configure"
if grep -q BUILD_TESTING log; then fail "BUILD_TESTING is not used"; fi
if cmake --build plain --target help | grep -E 'api-|unit-'; then fail "BUILD_TESTING=OFF: there are tests"; fi

rm -rf copy && mkdir copy
(cd "$source" && tar cf - --exclude=./build --exclude=./.git .) | tar xf - -C copy
before=$(cksum <copy/Makefile)
if (cd copy && cmake . >../log 2>&1); then fail "cmake . builds in the source folder"; fi
grep -q 'weft: build it in a folder of its own' log || fail "cmake . in the source folder is not explained"
[ "$before" = "$(cksum <copy/Makefile)" ] || fail "cmake . has overwritten Makefile"
