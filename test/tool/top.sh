#!/bin/sh
# SPDX-License-Identifier: MIT
# top.sh WEFT STANDS: programs in known states, and what `weft top` says about them.
set -eu
weft=$1
stands=$2
work=$(mktemp -d)
pid=
trap 'exec 9>&-; [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :; rm -rf "$work"' EXIT
status=0
mkfifo "$work/in"

# Waits for a condition: a command that succeeds.
await()
{
    for _ in $(seq 1200); do
        "$@" && return
        sleep 0.05
    done
    echo "'$*' did not come true"
    exit 1
}

# begin STATE: starts the program, and waits until it is there.
begin()
{
    state=$1
    : >"$work/out"
    "$stands" "$state" <"$work/in" >"$work/out" &
    pid=$!
    exec 9>"$work/in"
    await grep -qs ready "$work/out"
}

end()
{
    exec 9>&-
    wait "$pid" || { echo "$state: exit status $?"; status=1; }
    pid=
}

# looks [PID]: as JSON, one thing a line.
look()
{
    "$weft" top --once --json --interval 0.05 "${1:-$pid}" >"$work/json"
    sed 's/[{[]/&\n/g; s/[]}],/&\n/g' "$work/json" >"$work/said"
}

# says WORDS: in one line.
says()
{
    look
    grep -q -e "$1" "$work/said"
}

finds()
{
    for words; do
        grep -q -e "$words" "$work/said" && continue
        echo "$state: there is no '$words' in"
        cat "$work/said"
        status=1
    done
}

lacks()
{
    ! grep -q -e "$1" "$work/said" || { echo "$state: there is '$1' in"; cat "$work/said"; status=1; }
}

refuses()
{
    if "$weft" top --once "$1" >"$work/said" 2>&1; then
        echo "$state: it was shown"
        status=1
    fi
    finds "$2"
}

begin asleep
await says '"name":"worker 0".*"state":"asleep"'
await says '"name":"worker 1".*"state":"asleep"'
finds '"pid":'"$pid," '"stands_still":false' '"name":"sleepy".*"workers":2,.*"queued":0' '"circle":\[$'
# Found without its number, too.
"$weft" top --once --interval 0 >"$work/said"
finds " $pid "
"$weft" top --once --json --interval 0 >"$work/said"
finds "\"pid\":$pid,"
end

begin busy
await says '"state":"asleep"'
finds '"kind":"worker".*"state":"busy".*"busy":1,.*"waits":null,"waits_for":null'
grep -q '"runs":"[^"]*+0x' "$work/said" || finds '"runs":"compute_for_ever"'
lacks '"stands_still":true'
end

begin blocked
await says '"state":"blocked",.*"blocked":1,.*"waits":"is blocked in code of its own"'
finds '"name":"pipes".*"threads_blocked":1'
end

begin deadlock
await says '"stands_still":true'
finds '"state":"blocked".*"waits":"waits for mutex .left., held by worker \([01]\)","waits_for":"worker \1"'
finds '"state":"blocked".*"waits":"waits for mutex .right., held by worker \([01]\)","waits_for":"worker \1"'
finds '^"worker 0","worker 1"\],' '"deadlock":"weft: deadlock in pool .*stuck' '"deadlocks":1'
"$weft" top --once --interval 0 "$pid" >"$work/said"
finds 'A deadlock was reported' 'WHO WAITS FOR WHOM' '^worker 0 waits for mutex' \
    'in a circle: worker 0 -> worker 1 -> worker 0' 'WHAT WAS REPORTED'
end

begin handed_on
await says '"state":"blocked".*"waits":"waits for mutex .passed on., held by'
await says '"state":"asleep"'
holder=$(sed -n 's/.*"waits_for":"\([^"]*\)".*/\1/p' "$work/said")
finds "\"name\":\"$holder\".*\"state\":\"busy\""
lacks '"stands_still":true'
end

begin children
await says '"state":"waiting".*"waits":"waits for children of its scope, on worker \([01]\)","waits_for":"worker \1"'
end

begin actors
await says '"name":"listener".*"state":"waiting".*"waits":"waits for a message"'
await says '"name":"talker".*"state":"runnable",.*"share":[01][.0-9]*,.*"turns_per_second":[0-9]*[1-9]'
finds '"name":"talker".*"memory_limit":[1-9]' '"actors_not_shown":0'
lacks '"stands_still":true'
end

begin many_actors
await says '"actors_not_shown":138'
shown=$(grep -c '"memory_limit"' "$work/said")
[ "$shown" -eq 64 ] || { echo "$state: $shown actors are shown"; status=1; }
end

begin many_pools
look
finds '"pools_not_shown":8' '"name":"pool-0"'
end

# A child is not its parent.
begin forked_without
child=$(sed -n 's/child //p' "$work/out")
refuses "$child" 'WEFT_STATS=0'
look
finds '"pid":'"$pid," '"name":"parent".*"workers":1,'
end

begin forked_with
child=$(sed -n 's/child //p' "$work/out")
look
finds '"pid":'"$pid," '"name":"parent".*"workers":1,'
lacks '"name":"child"'
look "$child"
finds '"pid":'"$child," '"name":"child".*"workers":3,'
lacks '"name":"parent"'
end

# Programs that show nothing.
begin no_pool
refuses "$pid" 'it does not use weft'
end
begin closed
if [ "$(id -u)" -eq 0 ]; then # nothing is closed to root, if it has its usual rights
    "$weft" top --once --interval 0 "$pid" >"$work/said" 2>&1 || finds 'only root'
else
    refuses "$pid" 'only root'
fi
end
WEFT_STATS=0
export WEFT_STATS
begin asleep
refuses "$pid" 'WEFT_STATS=0'
end
unset WEFT_STATS
state='a process that is none'
refuses 2147483647 'there is no process'
state='this shell'
refuses $$ 'it does not use weft'

# Killed, it leaves nothing behind: neither a file nor a page.
begin busy
kill -9 "$pid"
wait "$pid" 2>/dev/null || :
refuses "$pid" 'there is no process'
exec 9>&-
pid=

# Stopped in the middle of something, it is shown all the same.
begin busy
kill -STOP "$pid"
look
finds '"name":"halfway"'
"$weft" top --once --interval 0 "$pid" >"$work/said"
kill -CONT "$pid"
finds 'The process is stopped'
end

exit $status
