#!/bin/sh
# SPDX-License-Identifier: MIT
# matrix.sh CONFIGURATION...: builds and tests each in build/NAME, one line of result each,
# and stops at the first that fails. The last line is the total.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=$(nproc 2>/dev/null || echo 2)
all_passed=0
all_failed=0

finish()
{
    echo "$all_passed passed, $all_failed failed"
    [ "$all_failed" -eq 0 ]
    exit
}

# fail NAME WHY [LOG]
fail()
{
    [ $# -lt 3 ] || cat "$3"
    echo "$1: $2"
    all_failed=$((all_failed + 1))
    finish
}

# need PROGRAM PACKAGE
need()
{
    command -v "$1" >/dev/null || fail test "$1 is missing (Debian: $2)"
}

# What is special about a configuration. clang's goes without libhwloc, so that both ways
# are built.
# A setting is nothing to these, or they take too long.
once='cxx|lint|gdb|mpi|tool|bindings|outside|server|cost|check|example|guide|bench|stress|unit'
same='lint|guide|gdb|bindings|server|mpi' # the compiler of the library is nothing to these
toolbox='api.(parallel_.*|sort)' # makes pools of all kinds by itself
built='outside.(amalgamation|embed|static)' # builds the library once more
describe()
{
    directory=build/$1 cc=gcc options='' just=. only=. skip='^$' without='^$' setting=
    case $1 in
    gcc) skip=stress without="^(check.long|cxx.standards|$built)" ;;
    outside) directory=build/gcc just="^$built" ;;
    check) directory=build/gcc only=check ;;
    check-long) directory=build/gcc just='^check.long' ;;
    cxx) directory=build/gcc just='^cxx.standards' ;;
    stress) directory=build/gcc only=stress ;;
    lint) directory=build/gcc only=lint ;;
    spin0)
        directory=build/gcc just='api.(broadcast|fork|run|scope|sync|task)$|fault.(destroy|nested|waiters)$'
        setting='WEFT_SPIN=0 WEFT_QUANTUM_US=0 WEFT_SLEEP=counters'
        ;;
    eager)
        directory=build/gcc skip=$once without=$toolbox
        setting='WEFT_FORK=eager WEFT_SLEEP=tickle-seqcst'
        ;;
    tickle*|counters*|events-*) directory=build/gcc skip=$once setting=WEFT_SLEEP=$1 ;;
    clang) cc=clang options=-DWEFT_HWLOC=OFF skip="stress|check|$same" ;;
    asan*)
        directory=build/asan options='-DWEFT_SANITIZE=address -DCMAKE_BUILD_TYPE=Debug'
        if [ "$1" = asan ]; then skip="stress|bench|$same"; else just='stress.(actors|lifecycle)'; fi
        ;;
    tsan*)
        directory=build/tsan cc=clang options=-DWEFT_SANITIZE=thread
        without='stress.(deadlocks|reductions|sorts)'
        if [ "$1" = tsan ]; then only='unit|api|actor'; else skip='unit|api|actor|bench'; fi
        ;;
    *) fail "$1" "no such configuration" ;;
    esac
}

build()
{
    log=$directory/$name-build.log
    mkdir -p "$directory"
    # shellcheck disable=SC2086 # options are words
    cmake -S . -B "$directory" ${generator:+-G "$generator"} -DCMAKE_C_COMPILER=$cc \
        -DWEFT_TESTS=ON -DWEFT_WERROR=ON -DWEFT_PEERS=OFF $options >"$log" 2>&1 &&
        cmake --build "$directory" -j "$jobs" >>"$log" 2>&1
}

run_tests()
{
    for one in $setting; do export "${one?}"; done
    # One more than there are CPUs on a small machine: many tests wait.
    ctest --test-dir "$directory" -j 3 -R "$just" -L "$only" -LE "$skip" -E "$without" --output-on-failure \
        --no-tests=error >"$log" 2>&1
}

# Reads ctest's summary. A test that could not run has failed.
count()
{
    summary=$(sed -n 's/.*, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log" | tail -n 1)
    failed=${summary% *}
    skipped=$(grep -cE '^[[:space:]]+[0-9]+ - .* \((Skipped|Disabled)\)$' "$log")
    passed=$((${summary#* } - failed - skipped))
}

need cmake cmake
need pkg-config pkg-config
generator=
if command -v ninja >/dev/null; then generator=Ninja; else need make make; fi
for name in "$@"; do
    describe "$name"
    need $cc $cc
done

for name in "$@"; do
    describe "$name"
    build || fail "$name" "does not build" "$log"
    log=$directory/$name.log
    status=0
    (run_tests) || { status=1; cat "$log"; }
    count
    [ "$status" -eq 0 ] || [ "${failed:-0}" -gt 0 ] || fail "$name" "ctest fails"
    line="$name: $passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
    echo "$line"
    all_passed=$((all_passed + passed))
    all_failed=$((all_failed + failed))
    [ "$failed" -eq 0 ] || finish
done
finish
