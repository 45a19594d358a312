#!/bin/sh
# SPDX-License-Identifier: MIT
# probes.sh BUILT LIBRARY PLANTED FORMAT: there is a probe for each kind of record, all of them have one
# semaphore, and a program that looks at one from outside gets its arguments, without any trace. gdb
# does so; where it is missing, the rest is tested.
set -eu
built=$1 library=$2 planted=$3 format=$4
if [ "$built" != 1 ]; then
    echo "built without probes: sys/sdt.h is missing (Debian: systemtap-sdt-dev), or WEFT_USDT is OFF"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The enumerators, but for the first and the last one.
sed -n '/^enum weft_trace_kind {/,/^};/s/^ *WEFT_TRACE_\([A-Z_]*\).*/\1/p' "$format" |
    grep -vx -e NOTHING -e KINDS | tr 'A-Z' 'a-z' | sort >"$work/kinds"
[ "$(wc -l <"$work/kinds")" -ge 30 ] || { echo "no kinds in $format"; exit 1; }

for file in "$library" "$planted"; do
    readelf -nW "$file" >"$work/notes" 2>/dev/null
    sed -n 's/^ *Name: //p' "$work/notes" | sort >"$work/probes"
    diff "$work/kinds" "$work/probes" || { echo "$file: other probes than kinds"; exit 1; }
    if grep 'Provider:' "$work/notes" | grep -v 'Provider: weft$'; then
        echo "$file: another provider"
        exit 1
    fi
    semaphores=$(sed -n 's/.*Semaphore: //p' "$work/notes" | sort -u)
    case $semaphores in
    *[1-9a-f]*) [ "$(echo "$semaphores" | wc -l)" -eq 1 ] && continue ;;
    esac
    echo "$file: semaphores: $semaphores"
    exit 1
done

command -v gdb >/dev/null || { echo "gdb is missing (Debian: gdb)"; exit 77; }
gdb -batch -nx -ex 'set debuginfod enabled off' -ex 'break -probe-stap weft:mark' \
    -ex 'break -probe-stap weft:submit' -ex run -ex 'printf "mark %ld of %d\n", $_probe_arg0, $_probe_argc' \
    -ex 'printf "name %s\n", (char *)$_probe_arg1' -ex 'delete 1' -ex continue \
    -ex 'printf "submit %s\n", "here"' -ex 'info symbol (void *)$_probe_arg0' -ex kill \
    --args "$planted" plain "$work/none" >"$work/said" 2>&1 || true
if grep -q -e 'ptrace: Operation not permitted' -e 'Could not trace' "$work/said"; then
    echo "gdb may not trace a process here"
    exit 77
fi
for words in 'mark -50 of 2' 'name level' 'submit here' 'spans in section'; do
    grep -qF -e "$words" "$work/said" || { echo "no '$words':"; cat "$work/said"; exit 1; }
done
