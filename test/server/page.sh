#!/bin/bash
# SPDX-License-Identifier: MIT
# The page in a browser: it shows the actors that live, its buttons work, and it has a look in
# light and dark. Pictures of it are left in $OUTPUT.
set -eu
. "$(dirname "$0")/start.sh"
need chromium chromium
start_server --workers 2 --memory 20

. "$(dirname "$0")/../support/browser.sh"
end_both()
{
    close_browser
    clean_up
}
trap end_both EXIT
start_browser 1240 1000

# wait_for WHAT JAVASCRIPT: until it is true, without double quotes in it.
wait_for()
{
    local loop="for (let i = 0; i < 600 && !($2); i++) await new Promise(r => setTimeout(r, 50))"
    local result="($2) ? 'yes' : document.body.innerText"
    call Runtime.evaluate \
        "{\"awaitPromise\":true,\"expression\":\"(async () => { $loop; return $result; })()\"}"
    [ "$(field value)" = yes ] || fail "not on the page: $1. $answer"
}
click() # SELECTOR
{
    call Runtime.evaluate "{\"expression\":\"document.querySelector('$1').click()\"}"
}
# An actor that was there before the page, and others that the page starts.
id=$(get '/greedy?detach=1')
call Page.navigate "{\"url\":\"$url\"}"
row="document.querySelector('#actor-$id')"
wait_for "the row of greedy $id" "$row && $row.innerText.includes('greedy $id')"
wait_for "its memory" "$row.innerText.includes('4.0 of 16 MiB')"
wait_for "its share" "$row.querySelector('.share').innerText.startsWith('100')"
wait_for "a small request meanwhile" "document.querySelector('#spark i')"

click '#greedy'
wait_for "a second row" "document.querySelectorAll('#actors tr').length >= 2"
wait_for "both shares" "document.querySelectorAll('#shares [data-id]').length >= 2"
click '#picture'
wait_for "the picture" "document.querySelector('#pictures img')?.naturalWidth == 1024"
click '#large'
wait_for "why it failed" "document.querySelector('#answer.bad')?.innerText.includes('507')"
click '#small'
wait_for "a hundred small ones" \
    "document.querySelector('#answer').innerText.includes('100 of 100 small requests')"
click '#hog'
click '#pictures8'
wait_for "three pictures at work" "document.querySelectorAll('#actors tr').length >= 5"

for look in light dark; do
    set_look $look
    call Runtime.evaluate '{"expression":"getComputedStyle(document.body).backgroundColor"}'
    backgrounds="${backgrounds-} $(field value)"
    screenshot "$look"
done
[ "$backgrounds" = ' rgb(244, 245, 248) rgb(16, 19, 25)' ] || fail "light and dark:$backgrounds"

hogs="Array.from(document.querySelectorAll('#ended tr')).filter(r => r.innerText.includes('hog'))"
wait_for "the hog's end" "$hogs[0]?.innerText.includes('past its memory')"
wait_for "the one that was too large" \
    "(document.querySelector('#ended').innerText.match(/past its memory/g) || []).length == 2"
click "#actor-$id button"
wait_for "the row to go" "!$row"
click '#killall'
wait_for "nobody to be left" "!document.querySelector('#none').hidden"
stop_server
wait_for "that the server is gone" "document.querySelector('#live.lost')"
end_browser
