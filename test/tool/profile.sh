#!/bin/sh
# SPDX-License-Identifier: MIT
# profile.sh WEFT PROFILED: `weft profile` ends as the program does, leaves its input and output alone,
# passes signals on, and finds the trace, wherever it is told to keep it.
set -eu
weft=$1
profiled=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir 'tmp dir' "it's"
TMPDIR="$work/tmp dir"
export TMPDIR
unset WEFT_TRACE WEFT_TRACE_MB

fail()
{
    echo "$*"
    [ ! -f said ] || cat said
    exit 1
}

# ends STATUS ARGUMENT...: what it says is in `said`, what the program prints in `printed`.
ends()
{
    expected=$1
    shift
    status=0
    "$weft" profile "$@" >printed 2>said </dev/null || status=$?
    [ "$status" -eq "$expected" ] || fail "$*: status $status, not $expected"
}

says()
{
    grep -qF -e "$1" said || fail "there is no '$1'"
}

# The program's status, input and output; options after its name are its own.
printf 'one\ntwo\n' >input
for number in 0 3; do
    status=0
    "$weft" profile -- "$profiled" copies $number <input >printed 2>said || status=$?
    [ "$status" -eq $number ] || fail "status $status, not $number"
    [ "$(cat printed)" = "$(printf 'out one\nout two')" ] || fail "something else was printed"
    says "err two"
    says "copies" # its span
    says "1 guest"
done
says "ended with status 3"
says "The trace is in '$work/tmp dir/weft-profile-"
ends 0 "$profiled" works 1 --help -o
ends 0 sh -c "'$profiled' works 7; exit 0"
grep -q 'child  *7 ' said || fail "a script: not its program's trace"

# Signals are blocked and ignored as before.
for before in true 'trap "" INT CHLD USR1'; do
    (eval "$before"; exec grep -E '^Sig(Blk|Ign)' /proc/self/status) >expected
    (eval "$before"; exec "$weft" profile grep -E '^Sig(Blk|Ign)' /proc/self/status) >printed 2>said
    cmp -s expected printed || fail "after $before: $(cat expected printed)"
done

# What can't be run, and what is no program of weft's.
ends 127 ./missing
[ "$(wc -l <said)" -eq 1 ] || fail "missing: more than one line"
says "./missing: No such file"
: >plain
ends 126 ./plain
says "./plain: Permission denied"
for no in true "$profiled"; do
    ends 0 "$no" ends
    [ "$(wc -l <said)" -eq 1 ] || fail "$no: more than one line"
    says "left no trace: is it linked with weft"
done
ends 0 env -u WEFT_TRACE "$profiled" works
says "left no trace"
ends 2
ends 2 --size 0 true
ends 2 --size x true
ends 2 --strange true
ends 0 --help
grep -q 'Usage: weft profile' printed || fail "no help"
[ ! -s said ] || fail "help: not on standard output"

# Where there is no place.
rm -f printed
TMPDIR=/proc
ends 125 "$profiled" copies
says "there is no place for the trace"
[ "$(wc -l <said)" -eq 1 ] || fail "no place: more than one line"
TMPDIR=$work/missing
ends 125 true
TMPDIR="$work/tmp dir"
mkdir 'with %p'
ends 125 -o 'with %p/trace' true
says "there must be no %p"
ends 125 -o "it's" true
says "not a file"
ends 125 -o missing/trace true

# Where it is told to keep it. Nothing else is left.
mkdir out
ends 0 -o "it's/a trace" "$profiled" works
says "The trace is in 'it'\\''s/a trace'"
[ "$(ls "it's")" = "a trace" ] || fail "$(ls "it's") is left"
ends 0 --output=out/%p.trace "$profiled" works 5
[ "$(find out -name '[0-9]*.trace' | wc -l)" -eq 1 ] || fail "no number in the name"
echo old >out/again
ends 0 -o out/again "$profiled" works 5
"$weft" trace out/again >said || fail "the old file is there"
rm -rf out/*

# No longer than it may be: 200,000 spans of 72 bytes.
ends 0 --size 1 -o out/short "$profiled" works 200000
says "records were lost"
[ "$(wc -c <out/short)" -le $((4096 + 1048576)) ] || fail "$(wc -c <out/short) bytes, not 1 MiB"
rm -f out/*

# Children: the process with the most work, first the last one, then the parent; a list of the others.
ends 0 -o out/last "$profiled" children
grep -q 'child  *100 ' said || fail "not the child with the most work"
[ "$(grep -c '^  process [0-9]* *work .* out/last\.[0-9]*$' said)" -eq 3 ] || fail "not all processes"
[ "$(find out -name 'last*' | wc -l)" -eq 4 ] || fail "not four traces"
"$weft" trace out/last | grep -q 'child  *100 ' || fail "out/last is another one"
ends 0 -o out/parent "$profiled" children first
grep -q 'parent  *100 ' said || fail "not the parent, which has the most work"
[ "$(find out -name 'parent.*' | wc -l)" -eq 2 ] || fail "not two children"

# A crash is said first, and what was recorded is there.
ulimit -c 0
ends 134 "$profiled" crashes
head -n 1 said | grep -q "was killed by signal 6" || fail "the crash is not said first"
says "The program did not end the trace"
grep -q 'before  *50 ' said || fail "not all spans of the program that crashed"

# starts ARGUMENT...: the program, in the background, up to its line "ready"; $pid is that of weft.
# env: a shell may make its background jobs ignore SIGINT, and so would the program.
starts()
{
    rm -f pipe
    mkfifo pipe
    env --default-signal=INT "$weft" profile "$@" >pipe 2>said &
    pid=$!
    exec 3<pipe
    read -r line <&3 && [ "$line" = ready ] || fail "$*: it is not ready"
}

# is STATUS: that of what `starts` has started.
is()
{
    status=0
    wait "$pid" || status=$?
    exec 3<&-
    [ "$status" -eq "$1" ] || fail "status $status, not $1"
}

starts "$profiled" waits
kill -INT "$pid"
is 130
head -n 1 said | grep -q "was killed by signal 2" || fail "not killed by SIGINT"
says "waits"
starts "$profiled" waits 2
kill -INT "$pid"
read -r line <&3
[ "$line" = "got 02" ] || fail "SIGINT: $line"
kill -USR1 "$pid"
read -r line <&3
[ "$line" = "got 10" ] || fail "SIGUSR1: $line"
kill -TERM "$pid"
is 143
says "was killed by signal 15"
