#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh FOLDER: builds the guide there, as HTML. The pages are copied first, because the manual
# pages are put beside them: one page each, so that the search knows them, too. A warning is an
# error. Exit code 77: something is missing.
set -eu
out=${1:?the folder for the pages}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

# Debian's own, whatever other Python comes first in PATH.
python=
for try in /usr/bin/python3 python3; do
    if $try -c 'import sphinx, furo, myst_parser, sphinx_inline_tabs' 2>/dev/null; then
        python=$try
        break
    fi
done
[ "$python" ] || {
    echo "the guide needs Sphinx (Debian: python3-sphinx furo python3-myst-parser" \
        "python3-sphinx-inline-tabs)"
    exit 77
}
command -v mandoc >/dev/null || { echo "the guide needs mandoc (Debian: mandoc)"; exit 77; }

[ ! -f "$out/.buildinfo" ] || rm -rf "$out" # what was built before
mkdir -p "$out"
out=$(cd "$out" && pwd)
source=$out.source
rm -rf "$source"
mkdir -p "$source/man"
cp -R "$here/." "$source"
cp -R "$root/bindings" "$source" # pages show their examples

# A function that shares its manual page with others is a symbolic link there: links lead to the page.
for manual in "$root"/docs/man/*.[137]; do
    target=$(basename "$(readlink -f "$manual")")
    echo "s|man/${manual##*/})|man/$target.rst)|g; s|href=\"${manual##*/}.html|href=\"$target.html|g"
done >"$source/links.sed"
# Pages of the system, malloc(3) and so on, are not here.
echo 's/href="[^w"#][^"]*\.[1-8]\.html"//g' >>"$source/links.sed"

# page TITLE: standard input is its body, in HTML.
page()
{
    printf ':orphan:\n\n%s\n' "$1"
    echo "$1" | sed 's/./=/g'
    printf '\n.. raw:: html\n\n'
    sed 's/^/   /'
}
# "see Waits with a limit in weft(3)": mandoc takes it for a part of the same page. Where that has none,
# the link leads to the page that is named next.
elsewhere()
{
    awk '
        {
            line[NR] = $0
            for (rest = $0; match(rest, /id="[^"]*"/); rest = substr(rest, RSTART + RLENGTH))
                here[substr(rest, RSTART + 4, RLENGTH - 5)] = 1
        }
        END {
            for (i = NR; i > 0; i--) {
                if (match(line[i], /href="[^"#]*[.][137][.]html"/))
                    next_page = substr(line[i], RSTART + 6, RLENGTH - 7)
                if (match(line[i], /class="Sx" href="#[^"]*"/)) {
                    place = substr(line[i], RSTART + 18, RLENGTH - 19)
                    if (!(place in here))
                        line[i] = substr(line[i], 1, RSTART + 16) next_page substr(line[i], RSTART + 17)
                }
            }
            for (i = 1; i <= NR; i++) print line[i]
        }'
}
for manual in "$root"/docs/man/*.[137]; do
    [ ! -L "$manual" ] || continue
    name=${manual##*/}
    mandoc -T html -O fragment,man=%N.%S.html "$manual" | sed -f "$source/links.sed" | elsewhere |
        page "${name%.*}(${name##*.})" >"$source/man/$name.rst"
done
# Pages that manual.md has not put under a topic.
more=$(for manual in "$root"/docs/man/*.[137]; do
    name=${manual##*/}
    [ -L "$manual" ] || grep -qF "../man/$name)" "$here/manual.md" ||
        echo "- [${name%.*}(${name##*.})](../man/$name): $(sed -n 's/^\.Nd //p' "$manual")"
done)
[ -z "$more" ] || printf '\n## More\n\n%s\n' "$more" >>"$source/manual.md"
# In the sources, links lead to docs/man and bindings; here these are folders of the guide.
for page in "$source"/*.md "$source"/coming-from/*.md; do
    [ -f "$page" ] || continue
    sed -e 's|\(](\(\.\./\)*\)\.\./man/|\1man/|g' -e 's|^\(```.* \)\.\./\.\./bindings/|\1bindings/|' "$page" | sed -f "$source/links.sed" >"$source/page"
    mv "$source/page" "$page"
done

WEFT_VERSION=$(sed -n 's/^#define WEFT_VERSION_[A-Z]* //p' "$root/include/weft.h" | paste -sd.)
export WEFT_VERSION
"$python" -m sphinx -q -W --keep-going -j 2 -b html -d "$out.cache" "$source" "$out"
