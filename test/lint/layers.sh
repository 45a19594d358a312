#!/bin/sh
# SPDX-License-Identifier: MIT
# Includes point down: os <- sleep <- core <- sync, parallel <- actor. A folder may include itself and
# what is below it. Public headers are below all. Nothing in src/ knows of weft check, which brings
# headers of its own for some of src/os.
set -eu
cd "$(dirname "$0")/../.."

find src -name '*.[chS]' -exec awk '
    BEGIN {
        below["os"] = " os weft "
        below["sleep"] = " weft os sleep "
        below["core"] = " weft os sleep core "
        below["sync"] = " weft os sleep core sync "
        below["parallel"] = " weft os sleep core parallel "
        below["actor"] = " weft os sleep core sync parallel actor "
    }
    /^#[ ]*include[ ]*"/ {
        split(FILENAME, path, "/")
        split($0, quoted, "\"")
        split(quoted[2], included, /[\/.]/)
        if (index(below[path[2]], " " included[1] " ") == 0) {
            print FILENAME ":" FNR ": " path[2] " includes " quoted[2] ", which is not below it"
            bad = 1
        }
    }
    END { exit bad }' {} +

if grep -rnE '(^|[^a-z_])model_|WEFT_MODEL|WEFT__FAULT' src --include='*.[chS]'; then
    echo "this belongs into check/os"
    exit 1
fi
