#!/bin/sh
# SPDX-License-Identifier: MIT
# Comments in src/ name the partners of a synchronisation: `release L1` here, `acquire L1`
# there; acq_rel, seq_cst and fence are both sides. Each tag needs two places, both sides and
# a line in a README.md under src/; a pair that a README.md names has to exist.
set -eu
cd "$(dirname "$0")/../.."

pair='\<(release|acquire|acq_rel|seq_cst|fence) [A-Z]+[0-9]+\>'
pairs=$(find src -name '*.[ch]' -exec grep -ohE "$pair" {} + || :)
readmes=$(find src -name README.md -exec cat {} +)

{
    echo "$pairs" | sed 's/^/code /'
    echo "$readmes" | grep -oE "$pair" | sed 's/^/text /'
    echo "$readmes" | grep -oE '\<[A-Z]+[0-9]+\>' | sed 's/^/text mention /'
} | awk '
    NF < 3               { next }
    $2 == "mention"      { mentioned[$3] = 1; next }
    $1 == "text"         { claimed[$2 " " $3] = 1; next }
                         { places[$3]++; written[$2 " " $3] = 1 }
    $2 != "acquire"      { released[$3] = 1 }
    $2 != "release"      { acquired[$3] = 1 }
    function complain(s) { print "src: " s; bad = 1 }
    END {
        for (tag in places) {
            if (!released[tag]) complain(tag " is acquired but never released")
            else if (!acquired[tag]) complain(tag " is released but never acquired")
            else if (places[tag] < 2) complain(tag " has no partner")
            if (!mentioned[tag]) complain(tag " is in no README.md")
        }
        for (pair in claimed)
            if (!written[pair]) complain("a README.md speaks of `" pair "`, the code does not")
        exit bad
    }'
