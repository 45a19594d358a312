# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced by the tests: starts the server, whose program is $SERVER, with the options given, and
# sets `url`. Whatever happens, it is ended with the test, and has to end well.

need() # PROGRAM PACKAGE
{
    command -v "$1" >/dev/null || { echo "$1 is missing (Debian: $2)"; exit 77; }
}

fail()
{
    echo "$*"
    exit 1
}

[ -n "${SERVER-}" ] || { echo "libmicrohttpd is missing (Debian: libmicrohttpd-dev)"; exit 77; }
need curl curl

work=$(mktemp -d)
server=
stop_server()
{
    [ -n "$server" ] || return 0
    kill "$server"
    status=0
    wait "$server" || status=$?
    server=
    [ "$status" -eq 0 ] || { cat "$work/errors"; fail "the server ended with status $status"; }
}
clean_up()
{
    [ -z "$server" ] || kill "$server" || :
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

start_server()
{
    mkfifo "$work/address"
    # Even if the test is killed, the server does not stay.
    timeout --signal=KILL 1500 ${LAUNCHER-} "$SERVER" --port 0 "$@" >"$work/address" 2>"$work/errors" &
    server=$!
    read -r url <"$work/address" || { cat "$work/errors"; fail "the server did not start"; }
    rm "$work/address"
}

# Long enough for anything on any machine: it is there so that a hang is a failure.
get() # PATH [CURL'S OPTIONS]
{
    path=$1
    shift
    curl --silent --show-error --max-time 60 "$@" "$url${path#/}"
}
