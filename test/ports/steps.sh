# SPDX-License-Identifier: MIT
# steps.sh: what the parts of ports.sh are written with. Each part has a folder and a log, and ends
# with passes, failed, skipped or tests.
jobs=$(nproc 2>/dev/null || echo 2)
generator=
if command -v ninja >/dev/null; then generator=Ninja; fi
all_passed=0
all_failed=0

begin()
{
    name=$1
    directory=build/ports/$name
    log=$directory/log
    mkdir -p "$directory"
    : >"$log"
    passed=0
}

finish()
{
    echo "$all_passed passed, $all_failed failed"
    [ "$all_failed" -eq 0 ]
    exit
}

# need PROGRAM PACKAGE
need()
{
    command -v "$1" >/dev/null && return
    skipped "$1 is missing (Debian: $2)"
    return 1
}

skipped()
{
    echo "$name: skipped: $1"
}

failed()
{
    tail -n 30 "$log"
    echo "$name: $passed passed, 1 failed: $1 ($log)"
    all_passed=$((all_passed + passed))
    all_failed=$((all_failed + 1))
}

# step WHAT COMMAND...: one test. What fails is told by passes.
step()
{
    what=$1
    shift
    if timeout 900 "$@" >>"$log" 2>&1; then
        passed=$((passed + 1))
    else
        broken="${broken-} $what"
    fi
}

passes()
{
    if [ -n "${broken-}" ]; then
        failed "fails:$broken"
        broken=
        return
    fi
    echo "$name: $passed passed, 0 failed"
    all_passed=$((all_passed + passed))
}

configure()
{
    cmake -S . -B "$directory" ${generator:+-G "$generator"} "$@" >>"$log" 2>&1
}

build()
{
    cmake --build "$directory" -j "$jobs" --target "$@" >>"$log" 2>&1
}

# tests OPTION...: ctest's.
tests()
{
    (cd "$directory" && ctest --no-tests=error --output-on-failure --timeout 900 "$@") >"$log" 2>&1
    summary=$(sed -n 's/.*, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log" | tail -n 1)
    skips=$(grep -cE '^[[:space:]]+[0-9]+ - .* \((Skipped|Disabled)\)$' "$log")
    bad=${summary% *}
    if [ -z "$summary" ]; then
        failed "ctest fails"
        return
    fi
    passed=$((${summary#* } - bad - skips))
    line="$name: $passed passed, $bad failed"
    [ "$skips" -eq 0 ] || line="$line, $skips skipped"
    [ "$bad" -eq 0 ] || sed -n '/The following tests FAILED/,$p' "$log"
    echo "$line"
    all_passed=$((all_passed + passed))
    all_failed=$((all_failed + bad))
}
