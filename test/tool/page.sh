#!/bin/bash
# SPDX-License-Identifier: MIT
# page.sh WEFT MADE PLANTED: the pages of `weft trace --html` in a browser, from files: what they show of
# traces of which everything is known, that keys, mouse, search and filter work, that texts of a trace are
# text, and that there is a page for every trace. Pictures are left in $OUTPUT.
set -eu
weft=$1
made=$2
planted=$3
work=$(mktemp -d)
fail()
{
    echo "$*"
    exit 1
}
. "$(dirname "$0")/../support/browser.sh"
trap 'close_browser; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
start_browser 1280 900
call Runtime.enable '{}'
call Log.enable '{}'
call Page.enable '{}'
call Network.enable '{}'

# A page of a trace in $work, in the browser. It has loaded nothing but itself.
show() # NAME
{
    "$weft" trace --html "$work/$1.html" "$work/$1" >"$work/said" || fail "$1: status $?"
    : >"$work/events"
    call Page.navigate "{\"url\":\"file://$work/$1.html\"}"
    check "$1" "the page is there" <<'END'
while (document.readyState != "complete")
    await new Promise(r => addEventListener("load", r, {once: true}));
equal(location.protocol, "file:");
END
    none_of "$1" '"method":"Runtime.exceptionThrown"' '"method":"Log.entryAdded"'
    requests=$(grep -o '"request":{"url":"[^"]*"' "$work/events" | grep -vc "file://$work/$1.html\"" || :)
    [ "$requests" -eq 0 ] || { cat "$work/events"; fail "$1: it has loaded something"; }
}
none_of() # PAGE EVENT...
{
    page=$1
    shift
    for event; do
        ! grep -F -e "$event" "$work/events" || fail "$page: $event"
    done
}
# check PAGE WHAT <JAVASCRIPT: it throws where something is wrong.
check()
{
    local script
    script=$(cat <<'END'
const equal = (a, b) => { if (String(a) !== String(b)) throw new Error(`${a} is not ${b}`); };
const is = (a) => { if (!a) throw new Error("it is not"); };
const picture = () => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
const key = (k) => document.dispatchEvent(new KeyboardEvent("keydown", {key: k}));
const pixel = (canvas, x, y) => [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].join();
END
        cat)
    script=$(sed 's/\\/\\\\/g; s/"/\\"/g' <<<"$script" | tr '\n' ' ')
    call Runtime.evaluate "{\"awaitPromise\":true,\"expression\":\"(async () => { $script; return 'well'; })()\"}"
    [ "$(field value)" = well ] || fail "$1: $2: $answer"
}

# ---- A trace of which everything is known ----

"$made" theft "$work/theft"
show theft
[ "$("$weft" trace --html - "$work/theft" | cksum)" = "$(cksum <"$work/theft.html")" ] ||
    fail "--html - is another one"
check theft "rows, labels and words" <<'END'
equal(trace.threads.map(t => t.name), "thief,owner");
equal(layout.rows.length, 3);
equal(trace.threads.map(t => t.lanes.length), "2,3");
equal($("title").textContent, "made-by-hand");
equal($("notices").textContent, "");
is($("advice").textContent.includes("one long job that another waits for:"));
is($("report").textContent.includes("Longest waits of jobs"));
equal(document.querySelectorAll("#functions tbody tr").length, 7);
is(document.querySelector("#functions tbody tr td").textContent.includes("0x2000"));
equal($("merged").textContent, "");
equal(trace.marks.map(m => [m.name, m.count, m.least, m.most]), "level,2,-3,8");
equal($("arrows-legend").textContent.trim().replace(/\s+/g, " "), "steals (1) merges (1) wake-ups (1)");
END
check theft "the same advice as the report" <<END
equal(trace.report.split("\n").includes("What to look at:"), true);
equal(trace.report.split("\n")[0], "$(head -n 1 "$work/said")");
END
check theft "hover and click" <<'END'
const area = plot(), box = TIMELINE.canvas.getBoundingClientRect();
const at = (ms, thread, lane) => ({bubbles: true, pointerId: 1,
    clientX: box.left + area.left + (ms * 1e6 - view.begin) * area.scale,
    clientY: box.top + laneY(layout.rows[thread], lane) - area.top + 5});
TIMELINE.canvas.dispatchEvent(new PointerEvent("pointermove", at(4, 0, 0)));
is(!$("tip").hidden);
for (const text of ["0x2000", "job", "thief", "2.000 ms", "8.00 ms", "6.00 ms, 75%", "stolen fromowner"])
    is($("tip").textContent.includes(text) || console.error(text));
TIMELINE.canvas.dispatchEvent(new PointerEvent("pointermove", at(8, 1, 2)));
for (const text of ["waits for a right side", "owner", "0x2000 on thief", "woken bythief"])
    is($("tip").textContent.includes(text) || console.error(text));
select(placeAt(at(4, 0, 1).clientX - box.left, at(4, 0, 1).clientY - box.top));
equal(intervalAt(view.selected).label.name, "part");
is($("details").textContent.includes("2.00 ms"));
key("z");
is(view.begin > 2e6 && view.begin < 3e6 && view.end > 5e6 && view.end < 6e6);
key("Escape");
is($("details").hidden);
END
check theft "zoom and move" <<'END'
key("0");
equal([view.begin, view.end], "0,12000000");
const box = TIMELINE.canvas.getBoundingClientRect(), area = plot(), x = box.left + area.left + area.width / 4;
const wheel = {deltaY: -500, clientX: x, clientY: box.top + 60, bubbles: true, cancelable: true};
TIMELINE.canvas.dispatchEvent(new WheelEvent("wheel", wheel));
is(view.end - view.begin < 6e6);
is(Math.abs(view.begin + (view.end - view.begin) / 4 - 3e6) < 1000);
const before = view.begin, length = view.end - view.begin;
key("ArrowRight");
is(view.begin > before && Math.abs(view.end - view.begin - length) < 1);
key("+");
is(view.end - view.begin < length);
key("-");
key("ArrowLeft");
is(Math.abs(view.begin - before) < 1);
for (let i = 0; i < 100; i++) key("+");
is(view.end - view.begin >= LEAST_RANGE - 0.001);
drawAll();
for (let i = 0; i < 100; i++) key("-");
equal([view.begin, view.end], "0,12000000");
const strip = OVERVIEW.canvas.getBoundingClientRect(), left = strip.left + gutter();
const drag = (type, share) => OVERVIEW.canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1,
    clientX: left + share * (strip.width - gutter()), clientY: strip.top + 20, bubbles: true}));
OVERVIEW.canvas.setPointerCapture = () => 0;
drag("pointerdown", 0.25);
drag("pointermove", 0.5);
drag("pointerup", 0.5);
is(Math.abs(view.begin - 3e6) < 1e4 && Math.abs(view.end - 6e6) < 1e4);
showAll();
await picture();
is($("range").textContent.includes("1.00 threads busy") || console.error($("range").textContent));
TIMELINE.canvas.setPointerCapture = () => 0;
const choose = (type, ms) => TIMELINE.canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, shiftKey: true,
    clientX: box.left + area.left + ms / 12 * area.width, clientY: box.top + 50, bubbles: true}));
choose("pointerdown", 6);
choose("pointermove", 4);
equal(view.choice.map(t => Math.round(t / 1e5)), "60,40");
choose("pointerup", 4);
equal([view.begin, view.end].map(t => Math.round(t / 1e5)), "40,60");
is(Math.abs(busyIn(4e6, 6e6) - 1) < 0.02 && Math.abs(busyIn(2e6, 4e6) - 2) < 0.02);
showAll();
END
check theft "search and filter" <<'END'
drawAll();
const all = view.drawn.boxes;
equal(view.drawn.pale, 0);
$("query").value = "PART";
$("query").dispatchEvent(new Event("input"));
await picture();
equal($("found").textContent, "1 name, 1 time, 2.00 ms");
equal([view.drawn.boxes, view.drawn.pale], [1, all - 1]);
key("n");
equal(intervalAt(view.selected).label.name, "part");
$("query").value = "nowhere";
$("query").dispatchEvent(new Event("input"));
equal($("found").textContent, "not found");
key("Escape");
key("Escape");
equal($("query").value, "");
document.querySelector("#functions tbody tr").click();
showAll();
await picture();
equal([view.drawn.boxes, view.drawn.pale], [1, all - 1]);
const row = layout.rows[1], area = plot(), place = [Math.round(area.left + area.width / 4), Math.round(laneY(row, 1) - area.top + 14)];
const pale = pixel(TIMELINE.canvas, ...place);
$("hide-others").click();
await picture();
const hidden = pixel(TIMELINE.canvas, ...place);
is(pale != hidden);
equal(hidden.split(",")[3], "0");
$("clear-filter").click();
$("hide-others").click();
await picture();
equal(view.drawn.boxes, all);
is(view.drawn.arrows >= 3);
toggleFold(1);
equal(layout.rows[1].height, TIMELINE.lane);
toggleFold(1);
END
check theft "the flame view" <<'END'
key("2");
await picture();
is(!$("flame-view").hidden && $("timeline-view").hidden);
equal(FLAME.totals[0], 18e6);
equal(trace.flame.slice(1).reduce((sum, node) => sum + node.self, 0), 18e6);
for (const [i, node] of trace.flame.entries())
    equal(FLAME.totals[i], (i ? node.self : 0) + node.children.reduce((sum, child) => sum + FLAME.totals[child], 0));
const job = FLAME.boxes.find(box => flameName(box.node) == "0x2000" && box.depth == 1);
const box = FLAME.canvas.getBoundingClientRect();
is(Math.abs(job.width / box.width - 8 / 18) < 0.01);
FLAME.canvas.dispatchEvent(new MouseEvent("click", {clientX: box.left + job.x + 5, clientY: box.top + 2 + 1.5 * FLAME.high}));
await picture();
equal(flameName(view.flameRoot), "0x2000");
is(Math.abs(FLAME.boxes.find(one => one.node == view.flameRoot).width - box.width) < 1);
key("0");
$("busy-only").click();
await picture();
equal(FLAME.totals[0], 12e6);
$("busy-only").click();
key("3");
is(!$("report-view").hidden);
key("1");
key("?");
is($("help").open);
$("help").close();
END
for look in light dark; do
    set_look $look
    check theft "it is $look" <<END
await picture();
equal(theme.isDark, $([ $look = dark ] && echo true || echo false));
equal(getComputedStyle(document.body).backgroundColor, "$([ $look = dark ] && echo 'rgb(15, 18, 23)' || echo 'rgb(243, 244, 247)')");
END
    screenshot "trace-$look"
done
check theft "the button beats the system" <<'END'
$("theme").click();
equal(theme.isDark, false);
equal(getComputedStyle(document.body).backgroundColor, "rgb(243, 244, 247)");
$("theme").click();
$("theme").click();
equal([theme.choice, theme.isDark], "auto,true");
END
set_look light

# ---- Texts of a trace are text ----

"$made" hostile "$work/hostile"
show hostile
grep -c '</script>' "$work/hostile.html" | grep -qx 2 || fail "hostile: not two ends of scripts"
! LC_ALL=C grep -q "$(printf '[\001-\010\016-\037\177]')" "$work/hostile.html" || fail "hostile: control characters"
iconv -f UTF-8 -t UTF-8 "$work/hostile.html" >"$work/said" || fail "hostile: it is not UTF-8"
check hostile "nothing ran" <<'END'
equal(typeof ran, "undefined");
const names = trace.labels.map(label => label.name);
for (const name of ["</script><script>window.ran = 1</script>", "<img src=x onerror='window.ran = 1'>", "__proto__",
    "not UTF-8 \u00ff\u00c0\ufffd \u00ed\u00a0\ufffd end", "control \ufffd\ufffd[31m\ufffd\ufffd\ufffd\ufffd end"])
    is(names.includes(name) || console.error(names));
is(!names.some(name => /[\u0000-\u001f\u202e]/.test(name)));
equal(document.querySelectorAll("img, svg, b[onclick]").length, 0);
equal(document.scripts.length, 2);
for (const tab of ["timeline", "flame", "report"]) {
    showTab(tab);
    drawAll();
}
showTab("timeline");
for (const label of trace.labels) {
    setQuery(label.name);
    goToMatch(false);
    if (view.selected)
        showTip({clientX: 1, clientY: 1}, null, describe(view.selected));
}
trace.marks.forEach(mark => showTip({clientX: 1, clientY: 1}, null, describeMark(mark, 5e6)));
await picture();
equal(typeof ran, "undefined");
const own = document.createElement("script");
own.textContent = "window.ran = 1";
document.body.append(own);
equal(typeof ran, "undefined");
END
grep -q "Content Security Policy" "$work/events" || fail "the policy lets other scripts run"

# ---- Every trace has a page ----

"$made" nothing "$work/nothing"
show nothing
check nothing "it says so" <<'END'
is($("merged").textContent.includes("There are no records"));
is($("advice").textContent.includes("no job was recorded"));
for (const tab of ["flame", "report", "timeline"]) { showTab(tab); drawAll(); }
key("+"); key("0"); key("n");
END
"$made" hung "$work/hung"
show hung
check hung "it goes on to the end" <<'END'
is($("notices").textContent.includes("did not end the trace"));
equal(trace.length, 9e6);
equal(trace.threads[0].lanes.map(lane => lane.end[0]), "9000000,9000000");
is($("longest-box").textContent.includes("waits for event 'never'"));
document.querySelector("#longest-box button").click();
equal(intervalAt(view.selected).label.kind, "block");
END
head -c 69000 "$work/theft" >"$work/cut"
show cut
check cut "it is cut" <<'END'
is($("notices").textContent.includes("cut off"));
equal(trace.threads.length, 1);
is(trace.threads[0].lanes.length >= 1);
END
"$made" threads "$work/threads"
show threads
check threads "two hundred rows" <<'END'
equal(trace.threads.length, 200);
equal(view.folded.size, 200);
is($("scroll").scrollHeight > 200 * TIMELINE.lane);
key("f");
equal(view.folded.size, 0);
goTo({thread: 150, lane: 1, index: 0});
await picture();
is($("scroll").scrollTop > 1000);
is(view.drawn.boxes > 0);
END
"$made" many "$work/many"
show many
[ "$(wc -c <"$work/many.html")" -lt 30000000 ] || fail "many: the page is too large"
check many "it says what was merged" <<'END'
equal(trace.allIntervals, 400484);
is(trace.mergedIntervals > 396000);
is($("merged").textContent.startsWith(number(trace.mergedIntervals) + " of 400,484 intervals, all shorter than"));
let sum = 0;
for (const thread of trace.threads)
    for (const lane of thread.lanes)
        sum += lane.intervals.reduce((all, n) => all + n, 0);
equal(sum, 400484);
equal(trace.labels.find(label => label.name == "often").count + trace.labels.find(label => label.name == "seldom").count, 400000);
showAll();
drawAll();
is(view.drawn.boxes > 50);
END

# ---- A program, at the width of a phone ----

"$planted" right_side "$work/right_side"
set_size 400 800
show right_side
check right_side "it fits, and finds the long job" <<'END'
is(document.documentElement.scrollWidth <= 400);
is(trace.steals >= 1);
is($("advice").textContent.includes("one long job that another waits for"));
const link = document.querySelector("#advice button");
link.click();
await picture();
is(view.selected && intervalAt(view.selected).label.name == link.textContent);
END
screenshot trace-phone
end_browser
