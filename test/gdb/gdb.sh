#!/bin/sh
# SPDX-License-Identifier: MIT
# gdb.sh CASE: what tool/gdb/weft-gdb.py says of a program that stands still: run by gdb, as a core
# file, and attached to. $SHARED and $STATIC are `stands`, linked with either library; $SCRIPT is the
# script, which gdb finds by itself beside the shared library.
set -eu
case=$1
command -v gdb >/dev/null || { echo "gdb is missing (Debian: gdb)"; exit 77; }
gdb -nx -batch -ex 'python import gdb.unwinder' >log 2>&1 && ! grep -q . log ||
    { cat log; echo "this gdb has no Python"; exit 77; }
export DEBUGINFOD_URLS= MALLOC_ARENA_MAX=1 # small core files

# gdb, and what it says without thread numbers and addresses. The script is auto-loaded from here.
gdb_says()
{
    timeout 600 gdb -nx -batch -iex "add-auto-load-safe-path $(dirname "$SCRIPT")" -ex 'set width 0' \
        "$@" >log 2>&1 </dev/null || : # of a command that fails
    if grep -iE 'ptrace: |could not trace' log; then
        echo "gdb may not trace programs here"
        exit 77
    fi
    sed 's/ (thread [0-9]*)//g; s/0x[0-9a-f]*/ADDRESS/g' log >said
}

# says TEXT...: these lines follow each other. A line may stop early, and * stands for one word.
says()
{
    awk -v wanted="$(for line; do echo "$line"; done)" '
        BEGIN {
            count = split(wanted, lines, "\n")
            for (i = 1; i <= count; i++) {
                gsub(/[][().+?^$|\\]/, "\\\\&", lines[i])
                gsub(/\*/, "[^ ,;]+", lines[i])
                lines[i] = "^" lines[i]
            }
        }
        { before[NR] = $0 }
        NR >= count {
            for (i = 1; i <= count && before[NR - count + i] ~ lines[i]; i++);
            if (i > count) found = 1
        }
        END { exit !found }' said || { cat log; echo; echo "missing: $*"; exit 1; }
}

# each_way COMMAND...: gives the commands to gdb in each way, and calls `expect` for each.
each_way()
{
    for command; do
        set -- "$@" -ex "$command"
        shift
    done
    gdb_says -ex 'break stands_still' -ex run "$@" -ex 'gcore core' -ex kill --args "$SHARED" "$case"
    expect
    gdb_says "$@" "$SHARED" core
    rm core
    expect
    gdb_says -ex "source $SCRIPT" -ex 'break stands_still' -ex run "$@" -ex kill --args "$STATIC" "$case"
    expect
    attached "$@"
}

# A process that hangs. In some places gdb may run programs, but not attach to them.
attached()
{
    "$SHARED" "$case" >ready &
    process=$!
    trap 'kill -KILL $process' EXIT
    until [ -s ready ]; do
        kill -0 $process
        sleep 0.1
    done
    if timeout 600 gdb -nx -batch -p $process -ex detach 2>&1 | grep 'ptrace: '; then
        echo "gdb may not attach here"
    else
        gdb_says "$@" -p $process
        expect
        kill -0 $process # gdb has left it as it was
    fi
    trap - EXIT
    kill -KILL $process
}

# Each right side went to another thread; the left sides are no part of it.
expect_stolen()
{
    says '  #*  stands_still () at stands.c:' '  #*  last_right (' \
        '  -- last_right, taken by worker * from worker *; forked by' '  #*  middle_right (w=ADDRESS' \
        '  -- middle_right, taken by worker * from guest 3; forked by' '  #*  fork_and_merge (w=ADDRESS'
    says '  -- beginning, begun by weft_run of guest 3, in'
    says '  #*  main (' '  -- this is the root'
}

expect_deadlock()
{
    says 'weft pool "stands": 2 workers, '
    says '  guest 2: blocked, waits for mutex '\''second'\'', held by worker *; runs lock_crosswise; forks 1, pending 0; jobs 1'
    says 'guest 2 waits for mutex '\''second'\'', held by worker *' \
        '  worker * waits for mutex '\''first'\'', held by guest 2' \
        '    this is a circle: guest 2 -> worker * -> guest 2'
    says 'guest 2' '  #0  * () of weft' '  #1  lock_both (w=' '  #2  lock_crosswise (w='
}

expect_tasks()
{
    says 'worker * waits for a task (task), which worker * runs' \
        '  worker * waits for children of its scope, on worker *' \
        '    worker * is busy; runs child' '      here it ends: it waits for nobody; '
    says '  -- child, run by worker *, taken from worker *; a child of a scope of worker *, opened by' \
        '  #*  scope_of_one (' '  #*  task (' '  -- task, a task that was submitted from outside: this is the root'
}

expect_actors()
{
    says "actor 'reader': waits for a message; runs waits_for_message; executor *, messages 0" \
        '  #0  * () of weft' '  #1  waits_for_message (' "  -- this is the root: the actor's function"
    says "actor 'pong': waits for the end of an actor, 'ping'; runs waits_for_end"
    says '  #1  wait_for_other ('
    says "actor 'ping' waits for the end of an actor, 'pong'" \
        "  actor 'pong' waits for the end of an actor, 'ping'" \
        "    this is a circle: actor 'ping' -> actor 'pong' -> actor 'ping'"
    says 'level 1' # the selected frame is the same
}

expect_delegates()
{
    says "actor 'boss' waits for work that it gave to others, on worker *" \
        "  worker * is busy; runs actors of executor *, now actor 'boss'"
    says '  #*  right_of_actor (' '  -- a right side of the same actor; forked by' \
        '  #*  gives_away (w=ADDRESS' '  #*  boss (' "  -- this is the root: the actor's function"
}

expect_outside()
{
    says "worker 0 waits for mutex 'first', held by a thread outside the pool, which waits for a task" \
        '  a thread outside the pool waits for a task (lock_first), which worker 0 runs' \
        '    this is a circle: worker 0 -> a thread outside the pool -> worker 0'
}

# Clear words where it can't be done.
refuses()
{
    strip -g -o stripped "$STATIC"
    gdb_says -ex "source $SCRIPT" -ex 'break stands_still' -ex run -ex 'weft workers' -ex kill --args ./stripped actors
    says 'weft: the library has no debug information'
    gdb_says -ex "source $SCRIPT" -ex 'break stands_still' -ex 'python VERSION = "0.0.1"' -ex run -ex 'weft bt' \
        -ex kill --args "$STATIC" actors
    says 'weft: the library is of version *, and this script is for 0.0.1'
    gdb_says -ex "source $SCRIPT" -ex 'weft why' "$STATIC"
    says 'weft: the program does not run, and there is no core file'
    gdb_says -ex "source $SCRIPT" -ex starti -ex 'weft why' -ex kill "$(command -v sleep)"
    says 'weft: this program does not use weft, or has not loaded it yet'
    gdb_says -ex "source $SCRIPT" -ex 'help weft' -ex 'help weft why'
    says 'What weft does: ' && says 'Usage: weft why [WHO]'
}

expect() { "expect_$case"; }
case $case in
stolen) each_way 'thread apply all -q -s weft bt' ;;
deadlock) each_way 'weft workers' 'weft why guest 2' 'weft bt guest 2' ;;
tasks) each_way 'thread apply all -q -s weft why' 'weft workers' 'thread apply all -q -s weft bt' ;;
actors) each_way up-silently 'weft actors bt' 'weft why ping' 'python print("level", gdb.selected_frame().level())' ;;
delegates) each_way 'weft why boss' 'thread apply all -q -s weft bt' ;;
outside) each_way 'weft why worker 0' ;;
refuses) refuses ;;
esac
