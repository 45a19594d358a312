// SPDX-License-Identifier: MIT
// timeline.js: a row for each thread, with a lane for each depth of what is open on it; then a row for
// each mark. What is narrower than a pixel is drawn together, as dense as it is.

const TIMELINE = {canvas: $("timeline"), scroll: $("scroll"), ruler: 24, lane: 17, gap: 9, mark: 48,
    font: "11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace", letter: 6.6};

function gutter() {
    return TIMELINE.canvas.clientWidth < 520 ? 58 : 112;
}

// ---- Where things are ----

// Of each row: {y, height, thread} or {y, height, mark}, from the top of all rows.
function layOut() {
    const rows = [];
    let y = 4;
    for (const thread of trace.threads) {
        const lanes = view.folded.has(thread.index) ? 1 : Math.max(thread.lanes.length, 1);
        rows.push({y, height: lanes * TIMELINE.lane, thread});
        y += lanes * TIMELINE.lane + TIMELINE.gap;
    }
    for (const mark of trace.marks) {
        rows.push({y, height: TIMELINE.mark, mark});
        y += TIMELINE.mark + TIMELINE.gap;
    }
    return {rows, height: y};
}

// Lanes are higher where there are few.
function layOutAll() {
    TIMELINE.lane = 23;
    const roomy = layOut();
    if (roomy.height <= 400)
        return roomy;
    TIMELINE.lane = 17;
    return layOut();
}

let layout = layOutAll();

function layoutChanged() {
    layout = layOutAll();
    const most = Math.max(260, Math.min(innerHeight * 0.66, 900));
    const height = Math.max(70, Math.min(layout.height + TIMELINE.ruler, most));
    TIMELINE.scroll.style.height = height + 2 + "px";
    $("spacer").style.height = Math.max(0, layout.height + TIMELINE.ruler - height) + "px";
    invalidate();
}

function plot() { // the part of the canvas that has times
    const width = TIMELINE.canvas.clientWidth, left = gutter();
    return {left, width: Math.max(width - left, 10), scale: Math.max(width - left, 10) / (view.end - view.begin),
        height: TIMELINE.scroll.clientHeight, top: TIMELINE.scroll.scrollTop - TIMELINE.ruler};
}

function laneY(row, lane) {
    return row.y + (view.folded.has(row.thread.index) ? 0 : lane * TIMELINE.lane);
}

function reveal(place) {
    const y = laneY(layout.rows[place.thread], place.lane), scroll = TIMELINE.scroll;
    if (y < scroll.scrollTop || y > scroll.scrollTop + scroll.clientHeight - 60)
        scroll.scrollTop = y - scroll.clientHeight / 3;
}

// ---- Drawing ----

function drawTimeline() {
    const area = plot(), canvas = TIMELINE.canvas, width = canvas.clientWidth;
    canvas.style.height = area.height + "px";
    const context = prepare(canvas, width, area.height);
    view.drawn = {boxes: 0, pale: 0, arrows: 0};
    context.font = TIMELINE.font;
    TIMELINE.letter = context.measureText("M").width;
    context.textBaseline = "middle";
    drawGrid(context, area);
    context.save();
    context.beginPath();
    context.rect(area.left, TIMELINE.ruler, area.width, area.height - TIMELINE.ruler);
    context.clip();
    const seen = layout.rows.filter(row => row.y + row.height > area.top + TIMELINE.ruler &&
        row.y < area.top + area.height);
    for (const row of seen)
        if (row.thread)
            row.thread.lanes.forEach((lane, i) => drawLane(context, area, lane, laneY(row, i) - area.top));
        else
            drawMark(context, area, row.mark, row.y - area.top, row.height);
    drawArrows(context, area);
    drawPlaces(context, area);
    drawChoice(context, area);
    context.restore();
    drawNames(context, area, seen, width);
    drawRuler(context, area, width);
}

// Boxes of a lane. `dense`: what is in the pixel at hand, and not drawn yet.
function drawLane(context, area, lane, y) {
    const dense = {x: -1, cover: 0, longest: 0, label: 0, shown: false};
    for (let i = firstAfter(lane, view.begin); i < lane.count && lane.begin[i] < view.end; i++) {
        const x1 = area.left + (lane.begin[i] - view.begin) * area.scale;
        const x2 = area.left + (lane.end[i] - view.begin) * area.scale;
        if (x2 - x1 >= 1.5) {
            drawDense(context, dense, y);
            drawBox(context, area, lane, i, x1, x2, y);
            continue;
        }
        const x = Math.floor(x1), shown = isShown(lane.label[i]);
        if (x != dense.x) {
            drawDense(context, dense, y);
            dense.x = x;
        }
        dense.cover += lane.intervals[i] > 1 ? lane.self[i] * area.scale : x2 - x1;
        const length = lane.end[i] - lane.begin[i];
        if ((shown && !dense.shown) || (shown == dense.shown && length >= dense.longest)) {
            dense.longest = length;
            dense.label = lane.label[i];
            dense.shown = shown;
        }
    }
    drawDense(context, dense, y);
}

function alphaOf(shown) {
    view.drawn[shown ? "boxes" : "pale"]++;
    return shown ? 1 : view.hideOthers && view.only.size > 0 ? 0 : 0.13;
}

function drawDense(context, dense, y) {
    if (dense.x >= 0) {
        context.globalAlpha = alphaOf(dense.shown) * Math.min(1, 0.25 + 0.75 * dense.cover);
        context.fillStyle = fillOf(trace.labels[dense.label]);
        context.fillRect(dense.x, y, 1, TIMELINE.lane - 1);
        context.globalAlpha = 1;
    }
    Object.assign(dense, {x: -1, cover: 0, longest: 0, shown: false});
}

function drawBox(context, area, lane, i, x1, x2, y) {
    const label = trace.labels[lane.label[i]], run = lane.intervals[i] > 1;
    const left = Math.max(x1, area.left - 2), right = Math.min(x2, area.left + area.width + 2);
    const high = TIMELINE.lane - 1, shown = isShown(lane.label[i]);
    const share = run ? lane.self[i] / (lane.end[i] - lane.begin[i]) : 1;
    context.globalAlpha = alphaOf(shown) * (run ? 0.3 + 0.5 * Math.min(1, share) : 1);
    context.fillStyle = fillOf(label);
    context.fillRect(left, y, Math.max(right - left - 0.6, 1), high);
    if (run && right - left > 3) { // a comb: it is many
        context.globalAlpha = alphaOf(shown) ? 0.9 : 0;
        view.drawn[shown ? "boxes" : "pale"]--;
        for (let x = left; x < right - 2; x += 4)
            context.fillRect(x, y + high - 3, 2, 3);
    }
    context.globalAlpha = shown ? 1 : 0;
    const room = Math.floor((right - left - 8) / TIMELINE.letter);
    if (room >= 3 && shown)
        drawBoxText(context, label, run ? "×" + number(lane.intervals[i]) + " " : "", left, y, room, run);
    context.globalAlpha = 1;
}

function drawBoxText(context, label, before, x, y, room, run) {
    const text = before + label.name;
    const colour = colourOf(label);
    context.fillStyle = run ? theme.colours.text : inkOn(colour);
    if (STALLED.has(label.kind) && !run) { // a place without stripes
        context.fillStyle = colour;
        context.fillRect(x + 2, y + 2, Math.min(text.length, room) * TIMELINE.letter + 5, TIMELINE.lane - 5);
        context.fillStyle = inkOn(colour);
    } else if (IDLE.has(label.kind)) {
        context.fillStyle = theme.colours.soft;
    }
    context.textAlign = "left";
    context.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, x + 4, y + TIMELINE.lane / 2);
}

// The interval that is selected, and the one below the pointer.
function drawPlaces(context, area) {
    for (const [place, colour, thick] of [[view.hover, theme.colours.text, 1], [view.selected, theme.colours.accent, 2]]) {
        if (!place)
            continue;
        const {begin, end} = intervalAt(place), y = laneY(layout.rows[place.thread], place.lane) - area.top;
        const x1 = Math.max(area.left + (begin - view.begin) * area.scale, area.left - 4);
        const x2 = Math.min(area.left + (end - view.begin) * area.scale, area.left + area.width + 4);
        if (x2 < area.left || x1 > area.left + area.width)
            continue;
        context.strokeStyle = colour;
        context.lineWidth = thick;
        context.strokeRect(x1, y - 0.5, Math.max(x2 - x1 - 0.6, 2), TIMELINE.lane);
    }
}

function drawChoice(context, area) {
    if (!view.choice)
        return;
    const [x1, x2] = view.choice.map(t => area.left + (t - view.begin) * area.scale);
    context.fillStyle = theme.colours.accent;
    context.globalAlpha = 0.2;
    context.fillRect(x1, 0, x2 - x1, area.height);
    context.globalAlpha = 1;
    context.fillStyle = theme.colours.text;
    context.textAlign = "center";
    context.fillText(time(Math.abs(view.choice[1] - view.choice[0])), (x1 + x2) / 2, area.height - 12);
}

function drawMark(context, area, mark, y, height) {
    const range = mark.most - mark.least || 1;
    const toY = value => y + height - 3 - (value - mark.least) / range * (height - 6);
    context.fillStyle = theme.colours.track;
    context.fillRect(area.left, y, area.width, height);
    context.strokeStyle = context.fillStyle = theme.colours.accent;
    context.lineWidth = 1.3;
    context.beginPath();
    let last = null;
    for (const point of mark.points) {
        const x1 = area.left + (point.begin - view.begin) * area.scale;
        const x2 = area.left + (point.end - view.begin) * area.scale, x = (x1 + x2) / 2;
        if (last !== null)
            context.lineTo(x, last);
        else
            context.moveTo(x, toY(point.least));
        context.lineTo(x, toY(point.least));
        context.lineTo(x, toY(point.most));
        context.lineTo(x, last = toY(point.last));
    }
    context.stroke();
    if (mark.points.length == 1)
        context.fillRect(area.left + (mark.points[0].begin - view.begin) * area.scale - 2, last - 2, 4, 4);
}

function drawNames(context, area, seen, width) {
    context.fillStyle = theme.colours.card;
    context.fillRect(0, 0, area.left, area.height);
    context.font = "12px system-ui, 'Segoe UI', sans-serif";
    context.textAlign = "left";
    context.save();
    context.beginPath();
    context.rect(0, TIMELINE.ruler, width, area.height);
    context.clip();
    for (const row of seen) {
        const y = row.y - area.top;
        context.fillStyle = theme.colours.line;
        context.fillRect(0, y + row.height + TIMELINE.gap / 2 - 0.5, width, 1);
        context.fillStyle = theme.colours.text;
        const folds = row.thread && row.thread.lanes.length > 1;
        const sign = !folds ? "" : view.folded.has(row.thread.index) ? "▸ " : "▾ ";
        const text = sign + (row.thread ? row.thread.name : row.mark.name);
        context.save();
        context.beginPath();
        context.rect(0, y - 2, area.left - 6, row.height + 4);
        context.clip();
        context.fillText(text, 6, y + Math.min(TIMELINE.lane, 20) / 2);
        if (row.mark) {
            context.fillStyle = theme.colours.soft;
            context.fillText("≤ " + number(row.mark.most), 6, y + 25);
            context.fillText("≥ " + number(row.mark.least), 6, y + 40);
        } else if (row.height > TIMELINE.lane) {
            context.fillStyle = theme.colours.soft;
            context.fillText("thread " + row.thread.number, 6, y + 1.5 * Math.min(TIMELINE.lane, 20));
        }
        context.restore();
    }
    context.restore();
}

// ---- Ruler ----

// A step of 1, 2 or 5 times a power of ten that leaves room for its text.
function rulerStep(area) {
    const least = 96 / area.scale, power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].find(n => n * power >= least) * power;
}

function eachTick(area, put) {
    const step = rulerStep(area);
    for (let i = Math.ceil(view.begin / step); i * step <= view.end; i++)
        put(Math.round(area.left + (i * step - view.begin) * area.scale) + 0.5, i * step, step);
}

function drawGrid(context, area) {
    context.strokeStyle = theme.colours.line;
    context.lineWidth = 1;
    context.beginPath();
    eachTick(area, x => {
        context.moveTo(x, TIMELINE.ruler);
        context.lineTo(x, area.height);
    });
    context.stroke();
}

function drawRuler(context, area, width) {
    context.fillStyle = theme.colours.card;
    context.fillRect(0, 0, width, TIMELINE.ruler);
    context.fillStyle = theme.colours.line;
    context.fillRect(0, TIMELINE.ruler - 1, width, 1);
    context.fillStyle = theme.colours.soft;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    eachTick(area, (x, t, step) => {
        context.fillRect(x - 0.5, TIMELINE.ruler - 7, 1, 6);
        context.fillText(moment(t, step, view.end), x + 4, TIMELINE.ruler / 2);
    });
    context.fillStyle = theme.colours.card;
    context.fillRect(0, 0, area.left, TIMELINE.ruler - 1);
}

// ---- What is below the pointer ----

// {thread, lane, index}, or {mark}, or null.
function placeAt(x, y) {
    const area = plot(), at = y + area.top;
    const row = y < TIMELINE.ruler ? null : layout.rows.find(r => at >= r.y - 2 && at < r.y + r.height + 2);
    if (!row || x < area.left)
        return row && row.thread ? {gutter: row.thread} : null;
    if (row.mark)
        return {mark: row.mark};
    const folded = view.folded.has(row.thread.index), t = view.begin + (x - area.left) / area.scale;
    const last = row.thread.lanes.length - 1;
    const lane = folded ? last : Math.min(Math.floor((at - row.y) / TIMELINE.lane), last);
    for (let i = lane; i >= 0; i--) { // a folded row shows the innermost
        const index = nearest(row.thread.lanes[i], t, 2.5 / area.scale);
        if (index >= 0)
            return {thread: row.thread.index, lane: i, index};
        if (!folded)
            break;
    }
    return null;
}

// The interval that t is in, or else one that is not farther away than `slack`; -1: there is none.
function nearest(lane, t, slack) {
    const i = firstAfter(lane, t);
    const after = i < lane.count ? lane.begin[i] - t : Infinity;
    const before = i > 0 ? t - lane.end[i - 1] : Infinity;
    if (Math.min(after, before) > slack)
        return -1;
    return after <= before ? i : i - 1;
}

function wheelSteps(event) { // in pixels, whatever the mouse counts in
    return event.deltaY * [1, 24, 240][event.deltaMode];
}

// ---- Pointer ----

function startTimeline() {
    const canvas = TIMELINE.canvas, pointers = new Map();
    let drag = null;
    const at = event => {
        const box = canvas.getBoundingClientRect();
        return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    const timeAt = x => view.begin + (x - plot().left) / plot().scale;

    canvas.addEventListener("pointerdown", event => {
        const {x, y} = at(event);
        pointers.set(event.pointerId, x);
        canvas.setPointerCapture(event.pointerId);
        drag = {x, y, begin: view.begin, end: view.end, top: TIMELINE.scroll.scrollTop, moved: false,
            chooses: event.shiftKey, from: timeAt(x)};
        hideTip();
    });
    canvas.addEventListener("pointermove", event => {
        const {x, y} = at(event);
        if (pointers.size == 2 && pointers.has(event.pointerId))
            pinch(pointers, event.pointerId, x, timeAt);
        else if (drag)
            dragTo(drag, x, y, event.pointerType == "mouse", timeAt(x));
        else
            hoverAt(event, x, y);
    });
    const stop = event => {
        const {x, y} = at(event);
        if (drag && !drag.moved && event.type == "pointerup" && pointers.size == 1)
            clickAt(x, y);
        else if (drag && drag.chooses && drag.moved && event.type == "pointerup")
            setRange(Math.min(drag.from, timeAt(x)), Math.max(drag.from, timeAt(x)));
        view.choice = null;
        pointers.delete(event.pointerId);
        drag = null;
        canvas.classList.remove("drags");
    };
    canvas.addEventListener("pointerup", stop);
    canvas.addEventListener("pointercancel", stop);
    canvas.addEventListener("pointerleave", () => {
        hideTip();
        setHover(null);
    });
    canvas.addEventListener("dblclick", event => {
        const {x, y} = at(event), place = placeAt(x, y);
        if (place && place.lane !== undefined)
            zoomTo(intervalAt(place).begin, intervalAt(place).end);
    });
    canvas.addEventListener("wheel", event => {
        event.preventDefault();
        hideTip();
        if (event.shiftKey)
            TIMELINE.scroll.scrollTop += wheelSteps(event) || event.deltaX;
        else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
            move(event.deltaX / plot().width);
        else
            zoom(Math.exp(wheelSteps(event) * 0.0022), timeAt(at(event).x));
    }, {passive: false});
    TIMELINE.scroll.addEventListener("scroll", invalidate);
}

function pinch(pointers, id, x, timeAt) {
    const [other] = [...pointers].filter(([key]) => key != id).map(([, value]) => value);
    const before = Math.abs(pointers.get(id) - other), after = Math.abs(x - other);
    pointers.set(id, x);
    if (before > 4 && after > 4)
        zoom(before / after, timeAt((x + other) / 2));
}

function dragTo(drag, x, y, vertically, t) {
    const dx = x - drag.x, dy = y - drag.y;
    drag.moved ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (!drag.moved)
        return;
    if (drag.chooses) {
        view.choice = [drag.from, t];
        return invalidate();
    }
    TIMELINE.canvas.classList.add("drags");
    const by = -dx / plot().scale;
    setRange(drag.begin + by, drag.end + by);
    if (vertically)
        TIMELINE.scroll.scrollTop = drag.top - dy;
}

function clickAt(x, y) {
    const place = placeAt(x, y);
    if (place && place.gutter)
        toggleFold(place.gutter.index);
    else
        select(place && place.lane !== undefined ? place : null);
}

function toggleFold(index) {
    if (!view.folded.delete(index))
        view.folded.add(index);
    layoutChanged();
}

function toggleAllFolds() {
    const all = trace.threads.length > view.folded.size;
    view.folded = new Set(all ? trace.threads.map(thread => thread.index) : []);
    layoutChanged();
}

function setHover(place) {
    const next = place && place.lane !== undefined ? place : null;
    TIMELINE.canvas.classList.toggle("points", Boolean(place && !place.mark));
    if (isSame(next, view.hover) || next === view.hover)
        return;
    view.hover = next;
    invalidate();
}

function hoverAt(event, x, y) {
    const place = placeAt(x, y);
    setHover(place);
    if (place && place.lane !== undefined)
        showTip(event, place, describe(place));
    else if (place && place.mark)
        showTip(event, null, describeMark(place.mark, view.begin + (x - plot().left) / plot().scale));
    else
        hideTip();
}
