#!/bin/sh
# SPDX-License-Identifier: MIT
# html.sh: the guide builds without a warning, and its links lead somewhere. Run in a folder of its
# own.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
sh "$root/docs/guide/build.sh" html

status=0
for page in html/*.html html/coming-from/*.html html/man/*.html; do
    # Links to files; not to the network, nor to a place in the page.
    for link in $(grep -o 'href="[^"#]*' "$page" | cut -c 7- | grep -v '^[a-z]*:' | sort -u); do
        [ -f "$(dirname "$page")/$link" ] || { echo "$page: no $link"; status=1; }
    done
done
[ -f html/searchindex.js ] || { echo "no search"; status=1; }
exit $status
