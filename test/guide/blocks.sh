#!/bin/sh
# SPDX-License-Identifier: MIT
# blocks.sh CC LIBRARY: looks at every code block of the guide. It is one of these:
#   a part of a file, by literalinclude: the file is there, and so are the marks; and the file is
#     built and run by a test, as all in docs/guide/programs are
#   a whole program in C: compiled here, and run; if a block of text follows, that is what it prints
#   shell, console, or text
# Anything else might be wrong, and no test would notice. Run in a folder of its own.
set -eu
cc=${1:-cc}
library=${2-}
root=$(cd "$(dirname "$0")/../.." && pwd)
guide=$root/docs/guide
rm -f block-*

# Writes whole programs to block-N.c, what they print to block-N.out, and complains.
find "$guide" -name '*.md' | sort | xargs awk -v guide="$guide" '
function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
function has(file, text,    line, found) {
    while ((getline line < file) > 0)
        found = found || index(line, text)
    close(file)
    return found
}
function option(    text) {
    text = $0
    sub(/^:[a-z-]*: */, "", text)
    gsub(/^"|"$/, "", text)
    return text
}
function finish() {
    if (kind == "c") {
        if (body !~ /int main\(/)
            complain("a part of a program: put the program into docs/guide/programs, and include it")
        file = "block-" ++count ".c"
        printf "%s", body > file
        close(file)
    } else if (kind == "text" && last == "c" && FNR - last_line <= 3 + lines) {
        printf "%s", body > ("block-" count ".out")
        close("block-" count ".out")
    }
    last = kind
    last_line = FNR
    kind = ""
}
FNR == 1 && kind != "" { complain("the block before has no end"); kind = "" }
kind != "" && $0 == fence { finish(); next }
kind == "include" && /^:(start-after|start-at|end-before|end-at):/ {
    if (!has(file, option())) complain(file " has no " option())
    next
}
kind != "" { body = body $0 "\n"; lines++; next }
/^~~~/ || (blank && /^(    |\t)/) { complain("a block without a language: write ``` and what it is") }
/^\|/ { # a | inside a cell would make one more
    if (table && gsub(/\|/, "|") != table) complain("a row of another length")
    table = gsub(/\|/, "|")
}
!/^\|/ { table = 0 }
{ blank = $0 == "" }
match($0, /^(```+|:::+)/) {
    fence = substr($0, 1, RLENGTH)
    kind = substr($0, RLENGTH + 1)
    body = ""
    lines = 0
    if (kind ~ /^{literalinclude} / || kind ~ /^{include} /) {
        file = kind
        sub(/^{[a-z]*} /, "", file)
        folder = FILENAME
        sub(/[^\/]*$/, "", folder)
        file = folder file
        if ((getline line < file) < 0) complain("there is no " file)
        close(file)
        kind = "include"
    } else if (kind ~ /^{(toctree|raw|image|tab|note|warning|contents)}/) {
        kind = kind ~ /^{(tab|note|warning)}/ ? "" : "directive" # a tab has blocks inside
    } else if (fence ~ /^:/) {
        kind = ""                                                # its end
    } else if (kind !~ /^(c|sh|console|text)$/) {
        complain("a block of \"" kind "\": not one that is tested")
        kind = "other"
    }
}
END { exit bad }'

for source in block-*.c; do
    [ -f "$source" ] && [ "$library" ] || continue
    program=./${source%.c}
    "$cc" -std=c17 -Wall -Wextra -Werror -O2 -I "$root/include" "$source" -o "$program" "$library" \
        -Wl,-rpath,"$(dirname "$library")"
    sh "$root/test/guide/run.sh" "$source" "$program"
done

# Every program is shown somewhere, and every output has a program.
status=0
for file in $(cd "$guide" && find programs -type f \( -name '*.c' -o -name '*.cpp' -o -name '*.rs' -o -name '*.py' \)); do
    grep -rqF "$file" "$guide" --include='*.md' || { echo "no page shows $file"; status=1; }
done
for file in "$guide"/programs/*.out "$guide"/programs/*.like; do
    name=${file%.*}
    [ ! -f "$file" ] || [ -f "$name.c" ] || [ -f "$name.cpp" ] || [ -f "$name.py" ] || { echo "$file: of which program?"; status=1; }
done
exit $status
