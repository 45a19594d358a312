#!/bin/sh
# SPDX-License-Identifier: MIT
# ports.sh [PORT...]: other processors, another libc and other ways to build, one line of result each, in
# build/ports. What can't be done here is skipped, with a reason. The last line is the total.
set -u
cd "$(dirname "$0")/.." || exit 1
. test/ports/steps.sh

# What every build here has: neither programs nor the checker, and cmocka's stand-in.
plain='-DWEFT_TESTS=ON -DWEFT_WERROR=ON -DWEFT_PEERS=OFF -DWEFT_PROGRAM=OFF -DWEFT_CHECKER=OFF'
stand_in="-DCMOCKA_INCLUDE_DIR=$PWD/test/ports -DCMOCKA_LIBRARY=c"

# ---- Other processors, which qemu stands in for ---------------------------------

# cross PROCESSOR PACKAGE TARGETS LABELS
cross()
{
    need "$1-linux-gnu-gcc" "gcc-$2-linux-gnu" || return
    need "qemu-$(echo "$1" | sed s/powerpc/ppc/)" qemu-user || return
    [ -f "/usr/$1-linux-gnu/include/stdio.h" ] || { skipped "its libc is missing (Debian: libc6-dev-...-cross)"; return; }
    # shellcheck disable=SC2086 # options are words
    configure --toolchain test/ports/toolchain.cmake -DPORT="$1" $plain $stand_in &&
        build $3 || { failed "does not build"; return; }
    WEFT_TEST_EMULATED=1 tests -L "$4" -j 3 -E "$not_emulated"
}

# These take minutes there, and test nothing that depends on the processor. cxx.none forks beside a pool,
# which qemu can't; test/ports/emulated.c knows of such tests in C.
not_emulated='^(api.found|api.parallel_ordmap|unit.ordmap|actor.properties_.*|fault.ordmap|cxx.none)$'

aarch64() { cross aarch64 aarch64 all '^(unit|actor|api|fault|example|cxx)$'; }
riscv64() { cross riscv64 riscv64 "$api" '^api$'; }
powerpc64le() { cross powerpc64le powerpc64le "$api" '^api$'; }
s390x() { cross s390x s390x "$api" '^api$'; }
api=$(for file in test/api/*.c; do echo "api-$(basename "$file" .c)"; done)

# ---- Another libc, and one file -------------------------------------------------

# one_file CC FLAG...: the amalgamation compiles without a warning, and the tests in $few pass with it.
few='fork run scope task sync error pool broadcast actor actor_killed parallel_for parallel_reduce sort timer'
one_file()
{
    cc=$1
    shift
    sh cmake/amalgamate.sh "$directory" >>"$log" 2>&1 &&
        $cc "$@" -O2 -Wall -Wextra -Werror -fexceptions -c "$directory/weft.c" -o "$directory/weft.o" >>"$log" 2>&1 ||
        { failed "weft.c does not compile"; return; }
    $cc "$@" -O1 -I"$directory" test/outside/fib.c $more "$directory/weft.o" -o "$directory/fib" -pthread \
        >>"$log" 2>&1 || { failed "a program with nothing but weft.h and weft.c does not build"; return; }
    step fib "$directory/fib"
    set -- "$@" -D_GNU_SOURCE= -O1 -fexceptions -Iinclude -Itest -Itest/support -Itest/ports
    for file in test/support/*.c test/ports/emulated.c; do
        $cc "$@" -c "$file" -o "$directory/support-$(basename "$file" .c).o" >>"$log" 2>&1 ||
            { failed "$file does not compile"; return; }
    done
    for test in $few; do
        $cc "$@" "test/api/$test.c" $more "$directory"/*.o -o "$directory/api-$test" -pthread -lm \
            >>"$log" 2>&1 || { failed "test/api/$test.c does not build"; return; }
        step "api.$test" "$directory/api-$test"
    done
    passes
}

amalgamation() { more='' one_file gcc; }
amalgamation_clang() { need clang clang && more='' one_file clang; }
musl()
{
    need musl-gcc musl-tools || return
    configure -DCMAKE_C_COMPILER=musl-gcc -DWEFT_WERROR=ON -DWEFT_PEERS=OFF && build all ||
        { failed "does not build"; return; }
    more=test/ports/musl.c one_file musl-gcc -static
}

# ---- Other ways to build --------------------------------------------------------

# tuned CC OPTION...: the libraries, and tests of the shared one.
tuned()
{
    need "$1" "$1" || return
    cc=$1
    shift
    # shellcheck disable=SC2086
    configure -DCMAKE_C_COMPILER="$cc" $plain $stand_in "$@" &&
        build weft_static weft_shared unit-strand $(for test in $few; do echo "api-$test"; done) ||
        { failed "does not build"; return; }
    tests -R "^(unit.strand|api.($(echo "$few" | tr ' ' '|')))\$" -j 3
}

lto() { tuned gcc -DCMAKE_C_FLAGS=-flto=auto; }
lto_clang() { need llvm-ar-14 llvm && tuned clang -DCMAKE_C_FLAGS=-flto; }
unity() { tuned gcc -DCMAKE_UNITY_BUILD=ON; }
ucontext() { tuned gcc -DWEFT_STRAND_UCONTEXT=ON; }

# 32 bits: one line when it is configured, and one from the header.
bits32()
{
    configure -DCMAKE_C_FLAGS=-m32 -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY
    step configure grep -q 'weft: needs Linux on a 64-bit processor; this is Linux, 32 bits' "$log"
    echo '#include <weft.h>' >"$directory/bits.c"
    gcc -m32 -Iinclude -fsyntax-only "$directory/bits.c" >"$directory/said" 2>&1
    step header grep -q 'error.*weft needs Linux on a 64-bit processor' "$directory/said"
    passes
}

# Another kernel: likewise.
freebsd()
{
    configure -DCMAKE_SYSTEM_NAME=FreeBSD
    step configure grep -q 'weft: needs Linux on a 64-bit processor; this is FreeBSD, 64 bits' "$log"
    echo '#include <weft.h>' >"$directory/kernel.c"
    gcc -U__linux__ -Iinclude -fsyntax-only "$directory/kernel.c" >"$directory/said" 2>&1
    step header grep -q 'error.*weft needs Linux on a 64-bit processor' "$directory/said"
    passes
}

# ---- A Debian with nothing else installed ----------------------------------------

# The oldest that weft builds on: CMake 3.18, and dladdr() in libdl (glibc 2.31).
bullseye() { script test/outside/chroot.sh bullseye "$directory"; }
bookworm() { script test/outside/chroot.sh bookworm "$directory"; }
trixie() { script test/outside/chroot.sh trixie "$directory"; }

# script FILE ARGUMENT...: one test. If it can't run here, its last line says why.
script()
{
    sh "$@" >"$log" 2>&1
    case $? in
    0) step script true && passes ;;
    77) skipped "$(tail -n 1 "$log")" ;;
    *) failed "$1 fails" ;;
    esac
}

# ---- Packages --------------------------------------------------------------------

deb() { script packaging/deb.sh; }
meson() { script packaging/meson/try.sh; }
recipes() { script packaging/recipes.sh; }

[ $# -gt 0 ] || set -- aarch64 riscv64 powerpc64le s390x musl lto lto_clang unity ucontext bits32 \
    freebsd amalgamation amalgamation_clang bullseye bookworm trixie deb meson recipes
for name; do
    begin "$name"
    "$name"
done
finish
