#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/words.md has at most forty words, and each is used in the file that it names. A bug that has a
# number is in docs/known-bugs.md, and is called a bug everywhere.
set -eu
cd "$(dirname "$0")/../.."
status=0

# complain TEXT...
complain()
{
    echo "$*"
    status=1
}

rows=$(sed -n 's/^| \([a-z -]*\) | [^|]* | `\([^`]*\)` |$/\2:\1/p' docs/words.md)
count=$(echo "$rows" | wc -l)
[ "$count" -ge 30 ] || complain "docs/words.md: only $count words were found"
[ "$count" -le 40 ] || complain "docs/words.md: $count words; at most forty"
[ "$(grep -c '^| ' docs/words.md)" -eq $((count + 2)) ] ||
    complain "docs/words.md: a line of the table is not '| word | meaning | \`file\` |'"
twice=$(echo "$rows" | cut -d: -f2 | sort | uniq -d)
[ -z "$twice" ] || complain "docs/words.md: twice: $twice"
while IFS=: read -r file word; do
    if [ ! -f "$file" ]; then
        complain "docs/words.md: $word: there is no $file"
    elif ! tr '\n_' '  ' <"$file" | tr -s ' *' ' ' | grep -qi "$word"; then
        complain "docs/words.md: $file does not use the word $word"
    fi
done <<END
$rows
END

old=$(grep -rnE '(^|[^e])faults? [0-9]' src check test --include='*.[ch]' --include=README.md |
    grep -vE 'default' || :)
[ -z "$old" ] || complain "$old
say 'bug N', as docs/known-bugs.md does"

for number in $(grep -rhoE '\bbugs? [0-9]{1,2}\b' src check test --include='*.[ch]' --include=README.md |
    grep -oE '[0-9]+' | sort -un); do
    grep -q "^| $number |" docs/known-bugs.md || complain "bug $number is not in docs/known-bugs.md"
done
exit $status
