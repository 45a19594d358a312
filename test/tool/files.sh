#!/bin/sh
# SPDX-License-Identifier: MIT
# files.sh WEFT PLANTED: files that are no traces; programs that are killed, that fill the file, that
# fork; and the other formats.
set -eu
weft=$1
planted=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail()
{
    echo "$*"
    [ ! -f said ] || cat said
    exit 1
}

# refuses FILE WORDS: with status 1 and one line.
refuses()
{
    status=0
    "$weft" trace "$1" >said 2>&1 || status=$?
    [ "$status" -eq 1 ] || fail "$1: status $status"
    [ "$(wc -l <said)" -eq 1 ] || fail "$1: more than one line"
    grep -qF -e "$2" said || fail "$1: not '$2'"
}

says()
{
    "$weft" trace "$1" >said || fail "$1: status $?"
    grep -qF -e "$2" said || fail "$1: there is no '$2'"
}

: >empty
mkdir folder
echo "weft trace" >short
head -c 100000 /dev/zero >zeros
refuses missing "No such file"
refuses empty "it is empty"
refuses folder "not a file"
refuses short "too short"
refuses zeros "not a trace of weft"
status=0
"$weft" trace 2>said || status=$?
[ "$status" -eq 2 ] || fail "no file: status $status"

# A program that ends by a signal leaves what it has recorded.
status=0
"$planted" killed killed.trace 2>/dev/null || status=$?
[ "$status" -ne 0 ] || fail "it was not killed"
says killed.trace "The program did not end the trace"
grep -q 'span.* 100 ' said || fail "killed: not all spans"

"$planted" full full.trace
says full.trace "records were lost"
[ "$(wc -c <full.trace)" -le $((4096 + 4 * 65536)) ] || fail "the file is too long"

"$planted" forked forked.trace
says forked.trace "level"
! grep -q 'of the child' said || fail "the child wrote into its parent's file"
grep -q 'level  *200 ' said || fail "the parent did not go on"

# By the environment: where, and how much.
WEFT_TRACE=plain.%p.trace "$planted" plain none
mv plain.[0-9]*.trace plain.trace
says plain.trace level
grep -q 'level  *200 ' said || fail "not all marks"
WEFT_TRACE=large.trace WEFT_TRACE_MB=200 "$planted" plain none
says large.trace level
WEFT_TRACE=plain.trace WEFT_TRACE_MB=1 "$planted" full full.trace
says full.trace "records were lost"
for wrong in 0 -1 1x x " 1" 1.5 99999999999999999999 9999999999999; do
    rm -f plain.trace
    WEFT_TRACE=plain.trace WEFT_TRACE_MB=$wrong "$planted" plain none 2>said || fail "MB=$wrong: status $?"
    [ "$(wc -l <said)" -eq 1 ] || fail "MB=$wrong: not one line"
    grep -q "^weft: WEFT_TRACE_MB=$wrong: .*there is no trace" said || fail "MB=$wrong: not clear"
    [ ! -e plain.trace ] || fail "MB=$wrong: there is a trace"
done
WEFT_TRACE=nowhere/at/all "$planted" plain none 2>said || fail "no trace: status $?"
grep -q "^weft: WEFT_TRACE=nowhere/at/all: No such file.*there is no trace" said || fail "not clear"
WEFT_TRACE= WEFT_TRACE_MB=x "$planted" plain none 2>said
[ ! -s said ] || fail "nobody wants a trace"

# Names of functions need libelf, which may not be there; then they are places in files.
"$planted" named named.trace
says named.trace 'a "span" \'
grep -qE '^(spans|tool-planted\+0x[0-9a-f]+) ' said || fail "the job has no name"
grep -q '^Submissions: 1;' said || fail "no submission"

# The parts of Perfetto's format that it uses, by a strict parser; and the picture.
"$planted" mutex mutex.trace
for trace in named mutex killed full; do
    "$weft" trace --perfetto $trace.json --svg $trace.svg $trace.trace >said
    [ "$("$weft" trace --perfetto - $trace.trace | cksum)" = "$(cksum <$trace.json)" ] ||
        fail "$trace: --perfetto - is another one"
done
status=0
"$weft" trace --perfetto folder named.trace >said 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "a folder was written to"
command -v python3 >/dev/null || { echo "python3 is missing (Debian: python3)"; exit 77; }
python3 - named.json mutex.json killed.json full.json <<'END'
import json, sys, xml.dom.minidom

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    xml.dom.minidom.parse(name.replace(".json", ".svg"))
    depth, last, arrows = {}, {}, {}
    for e in events:
        thread = e["tid"]
        assert e["ts"] >= 0 and e["pid"] > 0, e
        if e["ph"] in "BE":
            assert e["ts"] >= last.get(thread, 0), e
            last[thread] = e["ts"]
            depth[thread] = depth.get(thread, 0) + (1 if e["ph"] == "B" else -1)
            assert depth[thread] >= 0, e
        if e["ph"] in "sf":
            arrows.setdefault(e["id"], []).append(e)
    assert not any(depth.values()), name
    for s, f in arrows.values():
        assert (s["ph"], f["ph"]) == ("s", "f") and s["tid"] != f["tid"] and s["ts"] <= f["ts"]
    names = {e["name"] for e in events if "name" in e}
    assert "thread_name" in names
    if name == "named.json":
        assert 'a "span" \\ é\xff\n' in names, names
        values = [e["args"]["value"] for e in events if e["ph"] == "C"]
        assert sorted(values) == sorted(2 * list(range(-50, 50)))
    if name == "mutex.json":
        assert {"steal", "waits for mutex 'popular'"} <= names, names
END
