#!/bin/sh
# SPDX-License-Identifier: MIT
# smoke.sh WEFT [PEERS]: `weft bench --quick` runs every benchmark, its JSON is well formed, and
# all contenders of a benchmark have the same checksum. Says nothing about speed.
set -eu
weft=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out

timeout 600 "$weft" bench --quick --json --peers "${2:-none}" >"$out" 2>"$work/errors" ||
    { echo "weft bench fails with status $?:"; cat "$out" "$work/errors"; exit 1; }

name='"[^"\\]+"'
number='-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?'
line="\\{\"bench\":$name,\"peer\":$name,\"workers\":[0-9]+,\"reps\":[0-9]+,"
line="$line\"seconds_min\":$number,\"seconds_median\":$number,\"ns_per_op\":$number,"
line="$line\"cpu_seconds\":$number,\"checksum\":\"[0-9a-f]+\"(,\"steals\":[0-9]+)?"
line="$line(,\"value\":$number)?\\}"
if grep -vxE "$line" "$out"; then
    echo "that is not the JSON that was expected"
    exit 1
fi

cxx=$(grep -q '"bench":"fib-cxx"' "$out" && echo fib-cxx nqueens-cxx || :) # without C++ there is none
for bench in $cxx fib treesum join-recursively increment-all nbody-parreduce nqueens dfs-2 dfs-8 dfs-400 spawn sparselu health \
    strassen fft bnb matmul walk epoll sort \
    sorts/random bursty for map map-calls reduce sum-f32 sum-f64 sum-i32 max-f32 \
    sum-f32-cached sum-f64-cached sum-i32-cached max-f32-cached scan filter find for-each histogram histogram-calls \
    partition unique merge scan-exclusive ordmap-build ordmap-union \
    ordmap-reduce hashmap-build hashmap-put hashmap-group hashmap-merge hashmap-get hashmap-find vector-append lines words pipeline graph-chain graph-tree graph-wavefront graph-dag \
    flow-chain flow-tree flow-wavefront flow-dag 2000-floats short-loops stencil/25us captured mutex \
    sleep/join-recursively sleep/increment-all sleep/nbody-parreduce sleep/noop sleep/idle \
    sleep/bursty sleep/bursty-eager sleep/long-job sleep/long-job-guest \
    sleep/join-recursively-lazy sleep/dense-join sleep/dense-increment-lazy sleep/dense-nbody \
    sleep/noop-eager sleep/spin-noop-lazy-0 sleep/spin-bursty-eager-8 \
    actors/fair-stream actors/fair-together actors/fib actors/treesum actors/nqueens; do
    line="\\{\"bench\":\"$bench\".*\"reps\":[1-9].*\"checksum\":\"([0-9a-f]+)\".*"
    sums=$(sed -nE "s|^$line|\\1|p" "$out")
    contenders=$(echo "$sums" | wc -l)
    different=$(echo "$sums" | sort -u | wc -l)
    [ "$contenders" -ge 2 ] || { echo "$bench: $contenders contenders"; exit 1; }
    [ "$different" -eq 1 ] || { echo "$bench: $different different checksums"; exit 1; }
done
# Where there are not two CPUs, there is no second worker to wake, nor to find anything.
two_cpus=$(grep -q '"bench":"wake","peer":"the right side of a fork' "$out" && echo found || :)
for bench in wake idle neighbours actors/costs actors/memory actors/many $two_cpus; do
    grep -q "^{\"bench\":\"$bench\"" "$out" || { echo "$bench: nothing"; exit 1; }
done
