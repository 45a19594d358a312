// SPDX-License-Identifier: MIT
// overview.js: the strip above: how many threads were busy, waited or were blocked, over all of the time,
// and which part of it the timeline shows. Drag to choose another part.

const OVERVIEW = {height: 68, top: 8, bottom: 2, canvas: $("overview")};

// The greatest number of threads that it has room for.
function overviewMost() {
    const [busy, waiting, blocked] = trace.bins;
    let most = 1;
    for (let i = 0; i < busy.length; i++)
        most = Math.max(most, busy[i] + waiting[i] + blocked[i]);
    return Math.ceil(most - 0.05);
}

function drawOverview() {
    const width = OVERVIEW.canvas.clientWidth, left = gutter();
    const context = prepare(OVERVIEW.canvas, width, OVERVIEW.height);
    const most = overviewMost(), high = OVERVIEW.height - OVERVIEW.top - OVERVIEW.bottom;
    const colours = theme.colours;
    context.fillStyle = colours.track;
    context.fillRect(left, OVERVIEW.top, width - left, high);
    drawBins(context, left, width - left, high / most);
    drawScale(context, left, width, most, high);
    drawBrush(context, left, width - left);
}

function drawBins(context, left, width, scale) {
    const [busy, waiting, blocked] = trace.bins, base = OVERVIEW.height - OVERVIEW.bottom;
    const fills = [theme.colours.busy, fillOf({kind: "wait"}), fillOf({kind: "block"})];
    const below = new Float64Array(busy.length);
    [busy, waiting, blocked].forEach((bins, layer) => {
        context.fillStyle = fills[layer];
        context.beginPath();
        for (let i = 0; i < bins.length; i++) {
            if (bins[i] <= 0)
                continue;
            const x = left + i / bins.length * width;
            context.rect(x, base - (below[i] + bins[i]) * scale, width / bins.length + 0.3, bins[i] * scale);
            below[i] += bins[i];
        }
        context.fill();
    });
}

function drawScale(context, left, width, most, high) {
    context.fillStyle = theme.colours.soft;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(number(most), left - 6, OVERVIEW.top + 4);
    context.fillText("0", left - 6, OVERVIEW.height - 7);
    if (left > 60)
        context.fillText("busy", left - 6, OVERVIEW.top + high / 2);
    context.strokeStyle = theme.colours.text;
    context.globalAlpha = 0.12;
    for (let i = 1; i <= most && most <= 8; i++)
        context.strokeRect(left, OVERVIEW.top + high - i / most * high, width - left, 0);
    context.globalAlpha = 1;
}

function drawBrush(context, left, width) {
    const x1 = left + view.begin / whole * width, x2 = Math.max(left + view.end / whole * width, x1 + 2);
    context.fillStyle = theme.isDark ? "#0f1217b0" : "#f3f4f7b8";
    context.fillRect(left, 0, x1 - left, OVERVIEW.height);
    context.fillRect(x2, 0, left + width - x2, OVERVIEW.height);
    context.strokeStyle = theme.colours.accent;
    context.lineWidth = 1.5;
    context.strokeRect(x1 + 0.75, 4.75, Math.max(x2 - x1 - 1.5, 1), OVERVIEW.height - 5.5);
    context.fillStyle = theme.colours.accent;
    for (const x of x2 - x1 > 16 ? [x1, x2 - 5] : [])
        context.fillRect(x, OVERVIEW.height / 2 - 8, 5, 18);
}

function overviewTime(event) {
    const box = OVERVIEW.canvas.getBoundingClientRect(), left = gutter();
    return (event.clientX - box.left - left) / (box.width - left) * whole;
}

// What a drag that begins here does: an edge, the whole part, or a new one.
function brushPart(event) {
    const t = overviewTime(event), near = 7 / OVERVIEW.canvas.clientWidth * whole;
    if (Math.abs(t - view.begin) < near)
        return "begin";
    if (Math.abs(t - view.end) < near)
        return "end";
    const all = view.end - view.begin > 0.999 * whole;
    return t > view.begin && t < view.end && !all ? "move" : "new";
}

function startOverview() {
    const canvas = OVERVIEW.canvas;
    let drag = null;
    canvas.addEventListener("pointerdown", event => {
        canvas.setPointerCapture(event.pointerId);
        drag = {part: brushPart(event), from: overviewTime(event), begin: view.begin, end: view.end};
    });
    canvas.addEventListener("pointermove", event => {
        if (!drag) {
            canvas.style.cursor = {begin: "ew-resize", end: "ew-resize", move: "grab", new: "crosshair"}[
                brushPart(event)];
            return;
        }
        const t = overviewTime(event), by = t - drag.from;
        if (drag.part == "move")
            setRange(drag.begin + by, drag.end + by);
        else if (drag.part == "begin")
            setRange(Math.min(t, drag.end), Math.max(t, drag.end));
        else if (drag.part == "end")
            setRange(Math.min(t, drag.begin), Math.max(t, drag.begin));
        else if (Math.abs(by) > whole / 400)
            setRange(Math.max(Math.min(t, drag.from), 0), Math.min(Math.max(t, drag.from), whole));
    });
    const stop = () => drag = null;
    canvas.addEventListener("pointerup", stop);
    canvas.addEventListener("pointercancel", stop);
    canvas.addEventListener("dblclick", showAll);
    canvas.addEventListener("wheel", event => {
        event.preventDefault();
        zoom(Math.exp(wheelSteps(event) * 0.0022), overviewTime(event));
    }, {passive: false});
}
