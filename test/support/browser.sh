# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by tests that look at pages: drives a browser by its debugging protocol through two pipes, in
# which messages end with a zero. The test has a folder $work and a function fail; start_browser() has to be
# called first, and close_browser() whatever happens.

browser=
number=0
session=
start_browser() # WIDTH HEIGHT
{
    command -v chromium >/dev/null || { echo "chromium is missing (Debian: chromium)"; exit 77; }
    mkfifo "$work/to" "$work/from"
    HOME=$work chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --no-first-run --user-data-dir="$work/profile" --remote-debugging-pipe about:blank \
        3<"$work/to" 4>"$work/from" >"$work/chromium" 2>&1 &
    browser=$!
    exec 5>"$work/to" 6<"$work/from"
    call Target.createTarget '{"url":"about:blank"}'
    call Target.attachToTarget "{\"flatten\":true,\"targetId\":\"$(field targetId)\"}"
    session="\"sessionId\":\"$(field sessionId)\","
    set_size "$1" "$2"
}
close_browser()
{
    [ -z "$browser" ] || kill "$browser" 2>/dev/null || :
    [ -z "$browser" ] || wait "$browser" 2>/dev/null || :
}
end_browser() # well
{
    call Browser.close '{}'
    wait "$browser" || fail "the browser ended with status $?"
    browser=
}

# call METHOD PARAMETERS: sets `answer`. What the browser says meanwhile is in $work/events.
call()
{
    number=$((number + 1))
    printf '{"id":%d,%s"method":"%s","params":%s}\0' "$number" "$session" "$1" "$2" >&5
    while IFS= read -r -d '' -t 60 answer <&6; do
        case $answer in
        "{\"id\":$number,"*'"error":'*) fail "$1: $answer" ;;
        "{\"id\":$number,"*) return ;;
        *) printf '%s\n' "$answer" >>"$work/events" ;;
        esac
    done
    cat "$work/chromium"
    fail "$1: the browser does not answer"
}
field() # NAME: of the answer
{
    sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" <<<"$answer"
}
set_size() # WIDTH HEIGHT
{
    call Emulation.setDeviceMetricsOverride \
        "{\"width\":$1,\"height\":$2,\"deviceScaleFactor\":1,\"mobile\":false}"
}
set_look() # light or dark
{
    call Emulation.setEmulatedMedia \
        "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$1\"}]}"
}
# screenshot NAME: in $OUTPUT
screenshot()
{
    [ -z "${OUTPUT-}" ] || mkdir -p "$OUTPUT"
    call Page.captureScreenshot '{"captureBeyondViewport":true}'
    field data | base64 -d >"${OUTPUT:-$work}/$1.png"
    [ "$(head -c 4 "${OUTPUT:-$work}/$1.png" | tail -c 3)" = PNG ] || fail "$1 is no picture"
}
