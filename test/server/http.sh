#!/bin/sh
# SPDX-License-Identifier: MIT
# Requests share the workers fairly and fail alone: by what is answered, not by how fast.
set -eu
. "$(dirname "$0")/start.sh"
right='{"below":20000,"primes":2262}'

# is STATUS TEXT PATH
is()
{
    got=$(get "$3" --write-out '%{http_code}' | tr -d '\n')
    case $got in
    *"$2"*"$1") ;;
    *) fail "$3: \"$got\", and not $1 with \"$2\"" ;;
    esac
}

# Is this request alive?
lives()
{
    get /actors | grep -q "\"actors\":.*{\"id\":$1,.*\"recent\""
}

# turns ID: how many it has used. The list begins with those that live.
turns()
{
    get /actors | sed "s/\"recent\".*//; s/.*{\"id\":$1,[^}]*\"turns\":\([0-9]*\).*/\1/"
}

# until_true CONDITION...
until_true()
{
    deadline=$(($(date +%s) + 60))
    until "$@"; do
        [ "$(date +%s)" -lt $deadline ] || fail "in vain for a minute: $*"
    done
}
used_more() { [ "$(turns "$1")" -gt "$2" ]; }
somebody_lives() { get /actors | grep -q '"actors":\[{"id"'; }
is_gone() { ! lives "$1"; }

hundred_small()
{
    i=0
    while [ $i -lt 100 ]; do
        echo "url = \"${url}small\""
        i=$((i + 1))
    done >"$work/hundred"
    curl --silent --show-error --max-time 60 --parallel --parallel-max 8 --config "$work/hundred" \
        >"$work/answers" 2>"$work/log" || fail "curl: $(cat "$work/log")"
    n=$(grep -cxF "$right" "$work/answers") || :
    [ "$n" -eq 100 ] || { sort "$work/answers" | uniq -c; fail "$n of 100 small ones are right"; }
}

start_server --workers 2 --requests 12 --memory 16

# Greedy ones, more than there are workers, are there from before the first small one to after the
# last, and go on afterwards: the same three, since a number is used once.
first=$(get '/greedy?detach=1')
second=$(get '/greedy?detach=1')
get /greedy >"$work/third" &
third=$!
until_true used_more "$first" 0
hundred_small
for id in "$first" "$second"; do
    lives "$id" || fail "greedy $id is not there any more"
    until_true used_more "$id" "$(turns "$id")"
done

# One that wants too much memory is told so, at once or as it grows; the others go on.
is 507 'needs more memory than the 16 MiB' '/render?size=4096'
is 507 'needs more memory than the 16 MiB' /hog
is 200 "$right" /small
size=$(get '/render?size=64' --output "$work/picture" --write-out '%{size_download}')
[ "$size" -eq $((54 + 64 * 64 * 3)) ] || fail "the picture has $size bytes"

# No more than twelve at once; looking and killing is possible all the same.
more=
while [ "$(get '/greedy?detach=1' --output "$work/answer" --write-out '%{http_code}')" -eq 202 ]; do
    more="$more $(cat "$work/answer")"
done
grep -q '12 requests are being worked on' "$work/answer" || fail "$(cat "$work/answer")"
is 503 'try again, kill some' /small
for id in $more; do
    is 200 "Request $id will end" "/kill?id=$id"
    until_true is_gone "$id"
done
is 200 "$right" /small

# Killed is killed, and the next one is not.
is 200 "Request $first will end" "/kill?id=$first"
until_true is_gone "$first"
is 404 "No request $first is being worked on" "/kill?id=$first"
lives "$second" || fail "greedy $second was killed, too"

# The others end when they are told, and one of them has an answer.
is 200 '' /stop
wait "$third" || fail "curl: $?"
grep -qx '{"sweeps":[0-9]*}' "$work/third" || fail "greedy: $(cat "$work/third")"
until_true is_gone "$second"

# What makes no sense is said so.
is 400 'number from 16 to 16384' '/render?size=huge'
is 400 'number from 16 to 16384' '/render?size=15'
is 400 '0 or 1' '/small?detach=2'
is 400 'the number of a request' /kill
is 404 'There are' /nothing
got=$(get / --request POST --data x)
[ "$got" = 'Only GET is understood.' ] || fail "POST: $got"

# It ends with work left, and answers that first.
get /greedy >"$work/last" &
last=$!
until_true somebody_lives
stop_server
wait "$last" || fail "curl: $?"
grep -q 'was killed' "$work/last" || fail "the last answer is $(cat "$work/last")"
