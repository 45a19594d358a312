#!/bin/sh
# SPDX-License-Identifier: MIT
# cost.sh [--check | --cpu] BUILD: builds the ten programs for each runtime that is here, in BUILD/ten, with the
# static library in BUILD, and runs them, each beside the others. Standard output is a table in
# Markdown: how many times as long as weft each takes, the median of REPS (9) rounds. The whole
# process is measured, with its start and its end. --check: every program runs once, and prints what it
# should; nothing is measured. --cpu: CPU time of all threads, which tells apart what a program does
# and what it waits for, and says something on a machine that others use, too. Rounds can be many and
# programs few: REPS=30 PROGRAMS='fib sum'.
set -eu
check='' cpu=''
case ${1-} in
--check) check=1; shift ;;
--cpu) cpu=' --cpu'; shift ;;
esac
build=$(cd "${1:?the folder where weft was built}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
programs=${PROGRAMS:-fib loop sum stencil sort tree pipeline graph future histogram}
runtimes='weft openmp tbb rayon pthreads'
out=$build/ten
# A short loop may take a fifth longer at another address, which is nothing of a runtime's.
fast='-O3 -falign-functions=64 -falign-loops=64'
mkdir -p "$out"

# has TOOL...: are they there?
has()
{
    for tool; do command -v "$tool" >/dev/null || return 1; done
}

# build_rayon: all at once, from Debian's crates.
build_rayon()
{
    crates=/usr/share/cargo/registry
    has cargo rustc && [ -d $crates ] && ls -d $crates/rayon-1.* >/dev/null 2>&1 || return 0
    mkdir -p "$out/rayon"
    {
        printf '[package]\nname = "ten"\nversion = "0.0.0"\nedition = "2021"\n'
        printf '[dependencies]\nrayon = "1"\n[profile.release]\ncodegen-units = 1\nlto = true\n'
        for program in $programs; do
            printf '[[bin]]\nname = "%s"\npath = "%s"\n' "$program" "$here/$program/rayon.rs"
        done
    } >"$out/rayon/Cargo.toml"
    rm -f "$out/rayon/Cargo.lock"
    CARGO_HOME=$out/rayon/home cargo build --quiet --release --offline \
        --config "source.crates-io.replace-with='debian'" \
        --config "source.debian.directory='$crates'" \
        --manifest-path "$out/rayon/Cargo.toml" --target-dir "$out/rayon/target" >&2
    for program in $programs; do
        cp "$out/rayon/target/release/$program" "$out/$program-rayon"
    done
}

# build_one RUNTIME PROGRAM
# shellcheck disable=SC2046,SC2086 # flags are words
build_one()
{
    source=$here/$2/$1
    to=$out/$2-$1
    case $1 in
    weft)
        gcc -std=c17 -Wall -Wextra $fast -I "$root/include" "$source.c" -o "$to" "$build/libweft.a" -pthread \
            $(pkg-config --libs hwloc 2>/dev/null)
        ;;
    openmp) gcc -std=c17 -Wall -Wextra $fast -fopenmp "$source.c" -o "$to" ;;
    pthreads) gcc -std=c17 -Wall -Wextra $fast "$source.c" -o "$to" -pthread ;;
    tbb)
        has g++ && [ -f /usr/include/tbb/tbb.h ] || return 0
        g++ -std=c++17 -Wall -Wextra $fast "$source.cpp" -o "$to" -ltbb
        ;;
    cilk | dispatch) gcc -std=c17 -Wall -Wextra -Wno-unused-function -O2 -I "$here/stand-ins" "$source.c" -o "$to" ;;
    esac
}

[ -z "$check" ] || runtimes="$runtimes cilk dispatch"
rm -f "$out"/*-weft "$out"/*-rayon
build_rayon
for program in $programs; do
    for runtime in $runtimes; do
        [ "$runtime" = rayon ] || build_one "$runtime" "$program"
        [ ! -x "$out/$program-$runtime" ] || [ "$("$out/$program-$runtime")" = "$(cat "$here/$program/weft.out")" ] ||
            { echo "$program, $runtime: a wrong result" >&2; exit 1; }
    done
done
[ -z "$check" ] || { echo "all results are right"; exit 0; }

# spent FILE FILE: what children used between two calls of times(1), in ns.
spent()
{
    cat "$1" "$2" | awk '{ split($1, u, "[ms]"); split($2, s, "[ms]") }
        NR % 2 == 0 { now = u[1] * 60 + u[2] + s[1] * 60 + s[2]; if (NR == 2) before = now }
        END { printf "%d\n", (now - before) * 1e9 }'
}

# Rounds: each program in each runtime once, one runtime after the other.
times=$out/times.txt
: >"$times"
round=0
while [ $round -lt "${REPS:-9}" ]; do
    for program in $programs; do
        for runtime in $runtimes; do
            [ -x "$out/$program-$runtime" ] || continue
            begin=$(date +%s%N)
            times >"$out/before"
            "$out/$program-$runtime" >/dev/null
            times >"$out/after"
            end=$(date +%s%N)
            took=$((end - begin))
            [ -z "$cpu" ] || took=$(spent "$out/before" "$out/after")
            echo "$round $program $runtime $took" >>"$times"
        done
    done
    # Another one begins.
    runtimes="${runtimes#* } ${runtimes%% *}"
    round=$((round + 1))
done

awk -v programs="$programs" -v cpu="$cpu" -v cpus="$(nproc)" -v when="$(date -u +%Y-%m-%d)" \
    -v model="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" '
function median(list, n,    i, j, x) {
    for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i - 1; j > 0 && list[j] > x; j--)
            list[j + 1] = list[j]
        list[j + 1] = x
    }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
{ time[$1, $2, $3] = $4; seen[$2, $3]++; rounds = $1 + 1 }
END {
    split(programs, p, " ")
    columns = split("openmp tbb rayon pthreads", r, " ")
    print "`sh docs/guide/programs/ten/cost.sh" cpu " build/release`, " when ", " cpus " CPUs, " model ": how many"
    print "times as long as weft, the median of " rounds " rounds; more is slower.\n"
    print "| program | weft | OpenMP | oneTBB | Rayon | pthreads |"
    print "| --- | --- | --- | --- | --- | --- |"
    for (i = 1; i in p; i++) {
        n = 0
        for (k = 0; k < rounds; k++)
            list[++n] = time[k, p[i], "weft"]
        line = sprintf("| %s | 1 (%.0f ms) |", p[i], median(list, n) / 1e6)
        for (c = 1; c <= columns; c++) {
            if (!seen[p[i], r[c]]) {
                line = line " – |"
                continue
            }
            n = 0
            for (k = 0; k < rounds; k++)
                list[++n] = time[k, p[i], r[c]] / time[k, p[i], "weft"]
            line = line sprintf(" %.2f |", median(list, n))
        }
        print line
    }
}' "$times"
