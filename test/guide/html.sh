#!/bin/sh
# SPDX-License-Identifier: MIT
# html.sh: the guide builds without a warning, and its links lead somewhere. Run in a folder of its
# own.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
sh "$root/docs/guide/build.sh" html

# Links to files: not to the network, nor to a place in the page.
find html -name '*.html' -exec grep -oH 'href="[^"#?]*' {} + | sed 's/href="//' |
    grep -v ':[a-z]*:' | grep -v ':$' | sort -u >links.txt
[ -s links.txt ] || { echo "no links"; exit 1; }
status=0
while IFS=: read -r page link; do
    [ -f "${page%/*}/$link" ] || { echo "$page: no $link"; status=1; }
done <links.txt

# Links to a place in the same page, or in another one.
find html -name '*.html' -exec grep -oH 'href="[^":?#]*#[^"]*' {} + | sed 's/href="//' | sort -u >places.txt
find html -name '*.html' -exec grep -oH 'id="[^"]*' {} + | sed 's/:id="/#/' | sort -u >ids.txt
awk '
    NR == FNR { ids[$0] = 1; next }
    {
        page = folder = substr($0, 1, index($0, ":") - 1)
        link = substr($0, index($0, ":") + 1)
        sub("[^/]*$", "", folder)
        place = (link ~ /^#/ ? page : folder) link
        while (sub("[^/]+/[.][.]/", "", place)) ;
        if (place !~ /#$/ && !(place in ids)) { print page ": no " link; bad = 1 }
    }
    END { exit bad }' ids.txt places.txt || status=1
[ -s places.txt ] || { echo "no links to places"; status=1; }
[ -f html/searchindex.js ] || { echo "no search"; status=1; }
exit $status
