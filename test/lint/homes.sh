#!/bin/sh
# SPDX-License-Identifier: MIT
# The header of a function is the header of its file: what is defined in src/core/search.c is declared in
# src/core/search.h, and nowhere else.
set -eu
cd "$(dirname "$0")/../.."

# A declaration or definition begins in the first column, and goes on to the first `;` or `{`.
find src -name '*.[ch]' -exec awk '
    FNR == 1 { text = "" }
    text == "" && !/^[a-z].*[^a-z0-9_]\**weft__[a-z0-9_]+\(/ { next }
    text == "" && /^(static|typedef|extern)/ { next }
    { text = text $0 }
    !/[;{]/ && !/^\{/ { next }
    {
        match(text, /weft__[a-z0-9_]+\(/)
        name = substr(text, RSTART, RLENGTH - 1)
        home = FILENAME
        sub(/\.[ch]$/, "", home)
        if (text ~ /\{/ && FILENAME ~ /c$/) defined[name] = home
        else if (text !~ /\{/) declared[name] = declared[name] " " home
        text = ""
    }
    END {
        for (name in defined) {
            n = split(declared[name], homes, " ")
            for (i = 1; i <= n; i++) {
                checked++
                if (homes[i] == defined[name]) continue
                print defined[name] ".c: " name "() is declared in " homes[i] ".h"
                bad = 1
            }
        }
        if (checked < 200) { print "only " checked " functions were found"; bad = 1 }
        exit bad
    }' {} +
