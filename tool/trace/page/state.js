// SPDX-License-Identifier: MIT
// state.js: what of the trace is shown. Whoever changes something calls invalidate(), and everything is
// drawn before the next picture.

const LEAST_RANGE = 20; // nanoseconds

const view = {
    tab: "timeline",
    begin: 0, end: Math.max(trace.length, LEAST_RANGE), // of the time
    only: new Set(), // labels; empty: all are shown
    hideOthers: false, // else they are pale
    query: "", matches: new Set(), // labels that have the text
    folded: new Set(), // threads that are one row
    arrows: [true, true, true, trace.arrowCounts[WAKE] <= 100], // by kind
    selected: null, hover: null, // {thread, lane, index}
    choice: null, // [begin, end] of a part of the time that is being chosen
    flameRoot: 0, flameBusyOnly: false,
    drawn: {boxes: 0, pale: 0, arrows: 0}, // in the last picture
};
const whole = view.end;

let pending = 0;
function invalidate() {
    pending ||= requestAnimationFrame(drawAll);
}

function setRange(begin, end) {
    const length = Math.min(Math.max(end - begin, LEAST_RANGE), whole);
    const middle = (begin + end) / 2;
    view.begin = Math.min(Math.max(middle - length / 2, 0), whole - length);
    view.end = view.begin + length;
    invalidate();
}

// The moment `at` stays where it is.
function zoom(factor, at = (view.begin + view.end) / 2) {
    const length = Math.min(Math.max((view.end - view.begin) * factor, LEAST_RANGE), whole);
    const share = (at - view.begin) / (view.end - view.begin);
    setRange(at - share * length, at + (1 - share) * length);
}

function move(share) {
    const by = share * (view.end - view.begin);
    setRange(view.begin + by, view.end + by);
}

function showAll() {
    setRange(0, whole);
}

// The part in which there is something else than idle threads.
function showBusy() {
    let begin = whole, end = 0;
    for (const thread of trace.threads)
        for (const lane of thread.lanes)
            for (let i = 0; i < lane.count; i++)
                if (!IDLE.has(trace.labels[lane.label[i]].kind)) {
                    begin = Math.min(begin, lane.begin[i]);
                    end = Math.max(end, lane.end[i]);
                }
    if (begin < end && end - begin < 0.8 * whole)
        setRange(begin - 0.04 * (end - begin), end + 0.04 * (end - begin));
}

// With something around it.
function zoomTo(begin, end) {
    const margin = Math.max((end - begin) * 0.15, LEAST_RANGE);
    setRange(begin - margin, end + margin);
}

// ---- Filter and search ----

function isShown(label) {
    return (view.only.size == 0 || view.only.has(label)) && (view.query == "" || view.matches.has(label));
}

function toggleOnly(label) {
    if (!view.only.delete(label))
        view.only.add(label);
    filterChanged();
}

function clearOnly() {
    view.only.clear();
    filterChanged();
}

function filterChanged() {
    putFilter();
    invalidate();
}

function setQuery(text) {
    const query = text.trim().toLowerCase();
    if (query == view.query)
        return;
    view.query = query;
    view.matches = new Set();
    for (const label of trace.labels)
        if (query && label.count > 0 && label.name.toLowerCase().includes(query))
            view.matches.add(label.index);
    putMatches();
    invalidate();
}

// ---- Intervals ----

function intervalAt(place) {
    const lane = trace.threads[place.thread].lanes[place.lane], i = place.index;
    return {begin: lane.begin[i], end: lane.end[i], self: lane.self[i], from: lane.from[i],
        label: trace.labels[lane.label[i]], intervals: lane.intervals[i]};
}

function isSame(a, b) {
    return a && b && a.thread == b.thread && a.lane == b.lane && a.index == b.index;
}

// The next interval, in the order of time, that `wanted` says yes to; after the last one the first.
function findNext(wanted, backwards) {
    const from = view.selected ? intervalAt(view.selected).begin : view.begin;
    const sign = backwards ? -1 : 1;
    let best = null, first = null;
    const order = (a, b) => sign * (a.begin - b.begin || a.thread - b.thread || a.lane - b.lane);
    const start = view.selected ? {...view.selected, begin: from} : {begin: from, thread: -1, lane: -1};
    for (const thread of trace.threads)
        thread.lanes.forEach((lane, number) => {
            for (let index = 0; index < lane.count; index++) {
                if (!wanted(lane.label[index]))
                    continue;
                const one = {thread: thread.index, lane: number, index, begin: lane.begin[index]};
                if (!first || order(one, first) < 0)
                    first = one;
                if (order(one, start) > 0 && (!best || order(one, best) < 0))
                    best = one;
            }
        });
    return best || first;
}

function goToNext(wanted, backwards = false) {
    const place = findNext(wanted, backwards);
    if (!place)
        return;
    showTab("timeline");
    select(place);
    const {begin, end} = intervalAt(place), length = view.end - view.begin;
    if (end - begin < length / 200 || end - begin > length)
        zoomTo(begin - 4 * (end - begin), end + 4 * (end - begin));
    else if (begin < view.begin || end > view.end)
        setRange(begin - length / 3, begin + length * 2 / 3);
    reveal(place);
}

function select(place) {
    view.selected = place;
    putDetails();
    invalidate();
}

// How many threads were busy in a part of the time, on average.
function busyIn(begin, end) {
    const [busy] = trace.bins, part = whole / busy.length;
    let sum = 0, length = 0;
    for (let i = Math.floor(begin / part); i < busy.length && i * part < end; i++) {
        const share = Math.min((i + 1) * part, end) - Math.max(i * part, begin);
        sum += busy[i] * share;
        length += share;
    }
    return length > 0 ? sum / length : 0;
}

function drawAll() {
    if (pending)
        cancelAnimationFrame(pending);
    pending = 0;
    if (view.tab == "timeline") {
        drawOverview();
        drawTimeline();
        putLegend();
    } else if (view.tab == "flame") {
        drawFlame();
    }
}
