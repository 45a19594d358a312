#!/bin/sh
# SPDX-License-Identifier: MIT
# html.sh FOLDER: the manual pages as HTML, and a page that lists them.
set -eu
out=$1
mkdir -p "$out"

# entry FILE: its line in the list.
entry()
{
    name=${1##*/}
    printf '<li><a href="%s.html">%s(%s)</a>: %s</li>\n' "$name" "${name%.*}" "${name##*.}" \
        "$(sed -n 's/^\.Nd //p' "$1" | sed 's/&/\&amp;/g; s/</\&lt;/g')"
}

for page in docs/man/*.[137]; do
    name=${page##*/}
    if [ -L "$page" ]; then # it shares its page with another name
        ln -sf "$(readlink "$page").html" "$out/$name.html"
    else
        mandoc -T html -O man=%N.%S.html "$page" >"$out/$name.html"
    fi
done
{
    echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>weft</title></head><body>'
    echo '<h1>The manual pages of weft</h1><ul>'
    for page in docs/man/*.[137]; do entry "$page"; done
    echo '</ul></body></html>'
} >"$out/index.html"
