#!/bin/sh
# SPDX-License-Identifier: MIT
# weft.h is for people: under 300 lines. Public headers include each other one way: base.h <- config.h,
# info.h, inline.h <- weft.h <- define.h <- parallel.h <- the others.
set -eu
cd "$(dirname "$0")/../../include"
status=0

lines=$(wc -l <weft.h)
[ "$lines" -lt 300 ] || { echo "include/weft.h has $lines lines"; status=1; }

# may_include ALLOWED HEADER...
may_include()
{
    allowed=$1
    shift
    wrong=$(grep -HnE '^# *include *"' "$@" | grep -vE "\"($allowed)\"" || :)
    [ -z "$wrong" ] || { echo "$wrong"; echo "these may include $allowed"; status=1; }
}
may_include 'nothing' weft/base.h
may_include 'base\.h' weft/config.h weft/info.h
may_include 'base\.h|cxx/names\.hpp' weft/inline.h
may_include 'weft/(base\.h|config\.h|info\.h|inline\.h|guards\.hpp)' weft.h
may_include '\.\./weft\.h' weft/define.h weft/sync.h weft/actor.h weft/graph.h weft/task.h weft/timer.h weft/vector.h
may_include '\.\./weft\.h|define\.h' weft/parallel.h
may_include 'parallel\.h' weft/sort.h weft/lines.h weft/ordmap.h weft/pipeline.h weft/hashmap.h weft/local.h
exit $status
