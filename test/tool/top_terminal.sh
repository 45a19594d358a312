#!/bin/sh
# SPDX-License-Identifier: MIT
# top_terminal.sh WEFT STANDS: `weft top` in terminals of several sizes: what is on the screen, keys, a change
# of the size, and the end of the process that is watched.
set -eu
weft=$1
stands=$2
command -v tmux >/dev/null || exit 77
"$weft" top --help >/dev/null
work=$(mktemp -d)
pid=
terminals=0
trap 'exec 9>&-; ${tmux:-:} kill-server 2>/dev/null || :; [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :
    rm -rf "$work"' EXIT
TERM=xterm-256color
export TERM
unset TMUX NO_COLOR
mkfifo "$work/in"

await()
{
    for _ in $(seq 1200); do
        "$@" && return
        sleep 0.05
    done
    echo "'$*' did not come true; on the screen is:"
    cat "$work/screen"
    exit 1
}

begin()
{
    : >"$work/out"
    "$stands" "$1" <"$work/in" >"$work/out" &
    pid=$!
    exec 9>"$work/in"
    await grep -qs ready "$work/out"
}

# shows WORDS: on the screen.
shows()
{
    $tmux capture-pane -p >"$work/screen" 2>/dev/null && grep -q -e "$1" "$work/screen"
}

is_over()
{
    shows "exit [0-9]"
}

# terminal WIDTH HEIGHT ARGUMENTS. The server of tmux must not keep the program's input open. Each terminal has a
# server of its own: the one before may still be on its way out.
terminal()
{
    terminals=$((terminals + 1))
    tmux="tmux -f /dev/null -S $work/socket$terminals"
    $tmux new-session -d -x "$1" -y "$2" "'$weft' top $3; echo exit \$?; sleep 1000" 9>&-
}

quit()
{
    $tmux send-keys q
    await is_over
    shows "exit 0" || { cat "$work/screen"; exit 1; }
    $tmux kill-server
}

begin deadlock
: >"$work/screen"
if ! terminal 80 24 "-i 0.1 $pid"; then
    exit 77 # no terminal can be had here
fi
await shows 'THREAD  *STATE'
if shows 'built without ncurses'; then
    exit 77
fi
for words in 'POOL  *WORKERS' '^stuck  *2' 'A deadlock was reported' '^worker 0 .*blocked' 'h help'; do
    await shows "$words"
done
[ "$(wc -l <"$work/screen")" -eq 24 ]
# What does not fit is further down.
await shows 'more lines'
$tmux send-keys End
await shows 'on worker [01]'
$tmux send-keys Home
await shows '^POOL'
# Keys.
$tmux send-keys h
await shows 'any key leaves it'
$tmux send-keys x
await shows '^POOL'
$tmux send-keys s
await shows 'sort: busy'
$tmux send-keys p
await shows 'pool: stuck'
$tmux send-keys Space
await shows 'PAUSED'
$tmux send-keys Space
await shows ' sort: busy'
# Other sizes; nothing is too small.
$tmux resize-window -x 200 -y 60
await shows 'BLOCKED  CPU  *TID'
await shows 'in a circle: worker 0 -> worker 1 -> worker 0'
$tmux resize-window -x 20 -y 5
await shows 'THREAD\|POOL\|stuck\|tool-stands'
$tmux resize-window -x 80 -y 24
await shows 'POOL  *WORKERS'
# To the list, and back.
$tmux send-keys b
await shows 'PROGRAM'
await shows " $pid "
$tmux send-keys Home
for _ in $(seq 100); do # other programs may be there, too
    $tmux send-keys Enter
    await shows 'THREAD  *STATE'
    shows '^tool-stands '"$pid" && break
    $tmux send-keys b
    await shows 'PROGRAM'
    $tmux send-keys Down
done
# The process ends.
exec 9>&-
wait "$pid" || :
pid=
await shows 'the process has ended'
quit

# All in a wide one, without colours.
begin actors
NO_COLOR=1
export NO_COLOR
terminal 200 60 "-i 0.1 $pid"
await shows 'ACTOR  *STATE'
await shows '^talker  *runnable'
await shows '^worker [01]  *busy'
[ "$(wc -l <"$work/screen")" -eq 60 ]
quit
unset NO_COLOR

# Without a terminal it says what to do.
if "$weft" top "$pid" >"$work/screen" 2>&1 </dev/null; then
    exit 1
fi
grep -q -e '--once' "$work/screen"
exec 9>&-
wait "$pid"
pid=
