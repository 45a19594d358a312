// SPDX-License-Identifier: MIT
// arrows.js: from the owner of a job to its thief, from the end of a stolen job to the wait for it, from
// a submission to where its task began, from a waker to the thread that it wakes. Each kind has its
// own dashes. If there are too many in view, or of a kind that is switched off, only those of the
// interval below the pointer are drawn.

const ARROWS_IN_VIEW = 300;
const ARROW_DASHES = [[], [7, 3], [7, 3, 2, 3], [2, 3]];

function arrowColour(kind) {
    return theme.isDark ? ["#ffffff", "#63d3a6", "#c9a6ff", "#b4becd"][kind]
        : ["#10151d", "#0b6b4b", "#5a2ea6", "#5b6575"][kind];
}

function firstArrow(list, t) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle].end >= t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Those that end in view; a long one may begin before it.
function arrowsInView() {
    const found = [];
    for (let i = firstArrow(trace.arrows, view.begin); i < trace.arrows.length; i++) {
        const arrow = trace.arrows[i];
        if (arrow.end > view.end)
            break;
        if (view.arrows[arrow.kind])
            found.push(arrow);
        if (found.length > ARROWS_IN_VIEW)
            return null;
    }
    return found;
}

// Those that lead to this interval, or away from it.
function arrowsOf(place) {
    const {begin, end} = intervalAt(place), slack = 1000;
    return trace.arrows.slice(firstArrow(trace.arrows, begin - slack)).filter((arrow, i) => i < 20000 &&
        ((arrow.to == place.thread && arrow.end >= begin - slack && arrow.end <= end + slack) ||
         (arrow.from == place.thread && arrow.begin >= begin && arrow.begin <= end))).slice(0, 200);
}

// The innermost lane of a thread at that moment.
function arrowY(thread, t, area) {
    const row = layout.rows[thread], depth = Math.max(depthAt(row.thread, t), 1);
    return laneY(row, Math.min(depth, Math.max(row.thread.lanes.length, 1)) - 1) - area.top + TIMELINE.lane / 2;
}

function drawArrows(context, area) {
    const inView = arrowsInView();
    view.tooManyArrows = !inView;
    const chosen = view.hover || view.selected;
    const strong = new Set(chosen ? arrowsOf(chosen) : []);
    const alpha = Math.max(0.25, 0.8 * Math.min(1, Math.sqrt(25 / (inView || []).length)));
    for (const arrow of inView || [])
        if (!strong.has(arrow))
            drawArrow(context, area, arrow, alpha);
    for (const arrow of strong)
        drawArrow(context, area, arrow, 0.9);
    context.setLineDash([]);
    context.globalAlpha = 1;
}

function drawArrow(context, area, arrow, alpha) {
    const x1 = area.left + (arrow.begin - view.begin) * area.scale;
    const x2 = area.left + (arrow.end - view.begin) * area.scale;
    const y1 = arrowY(arrow.from, arrow.begin, area), y2 = arrowY(arrow.to, arrow.end + 1, area);
    const bend = Math.min(18, Math.abs(y2 - y1) / 4) + 3, dx = (x2 - x1) / 2, dy = (y2 - y1) / 4;
    const sign = Math.sign(y2 - y1) || 1;
    if (Math.max(y1, y2) < 0 || Math.min(y1, y2) > area.height)
        return;
    view.drawn.arrows++;
    context.strokeStyle = context.fillStyle = arrowColour(arrow.kind);
    context.globalAlpha = alpha;
    context.lineWidth = 1.2;
    context.setLineDash(ARROW_DASHES[arrow.kind]);
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + dx - bend, y1 + dy, x2 - dx - bend, y2 - dy, x2, y2);
    context.stroke();
    context.beginPath(); // the head comes from the left
    context.moveTo(x2 + 1, y2);
    context.lineTo(x2 - 6, y2 - sign * 6);
    context.lineTo(x2 - 7, y2 + sign * 0.5);
    context.fill();
}

// ---- In words ----

function threadName(index) {
    return index >= 0 && index < trace.threads.length ? trace.threads[index].name : "another thread";
}

// The last arrow of a kind that ends on this thread in an interval.
function lastArrow(kind, thread, begin, end) {
    const list = trace.threads[thread].arrows;
    let found = null;
    for (let i = firstArrow(list, begin), n = 0; i < list.length && list[i].end <= end && n < 100000; i++, n++)
        if (list[i].kind == kind)
            found = list[i];
    return found;
}

// The job that was open on a thread just before t, and ended then.
function jobBefore(thread, t) {
    let name = "";
    for (const lane of trace.threads[thread].lanes) {
        const i = firstAfter(lane, t - 1);
        if (i < lane.count && Math.abs(lane.end[i] - t) < 1 && trace.labels[lane.label[i]].kind == "job")
            name = trace.labels[lane.label[i]].name;
    }
    return name;
}

// [name, value] for each arrow that says why this interval began or ended.
function causes(place, interval) {
    const {begin, end, label, from} = interval, list = [];
    if (from >= 0)
        list.push(["stolen from", threadName(from)]);
    const submit = label.kind == "job" ? lastArrow(SUBMIT, place.thread, begin - 1000, begin) : null;
    if (submit)
        list.push(["submitted by", threadName(submit.from) + ", " + time(begin - submit.begin) + " before"]);
    if (!STALLED.has(label.kind) && label.kind != "sleep")
        return list;
    const merge = lastArrow(MERGE, place.thread, end, end);
    const wake = lastArrow(WAKE, place.thread, begin, end);
    if (merge) {
        const job = jobBefore(merge.from, merge.begin);
        list.push(["waits for", (job ? job + " on " : "a job on ") + threadName(merge.from)]);
        list.push(["went on", time(end - merge.begin) + " after that had ended"]);
    }
    if (wake)
        list.push(["woken by", threadName(wake.from) + ", " + time(end - wake.end) + " before its end"]);
    return list;
}
