// SPDX-License-Identifier: MIT
// flame.js: time by stacks: a box is as wide as the time in which its label was open below the labels
// above it, on all threads together. A click makes a box as wide as the page.

const FLAME = {canvas: $("flame"), high: 19, boxes: []};

// Totals of all nodes; without waits, their own time counts as none.
function flameTotals() {
    const nodes = trace.flame, totals = new Float64Array(nodes.length);
    for (let i = nodes.length - 1; i >= 0; i--) {
        const kind = i > 0 ? trace.labels[nodes[i].label].kind : "";
        if (i > 0 && !(view.flameBusyOnly && STALLED.has(kind)))
            totals[i] += nodes[i].self;
        if (i > 0)
            totals[nodes[i].parent] += totals[i];
    }
    return totals;
}

function flameName(node) {
    return node == 0 ? "all threads" : trace.labels[trace.flame[node].label].name;
}

// From the root to the node.
function flameLine(node) {
    const line = [];
    for (; node >= 0; node = trace.flame[node].parent)
        line.unshift(node);
    return line;
}

// Boxes: what is above the chosen node, at full width; then what is below it.
function layOutFlame(width) {
    const totals = flameTotals(), boxes = [], root = view.flameRoot;
    const line = flameLine(root);
    line.slice(0, -1).forEach((node, depth) => boxes.push({node, x: 0, width, depth, above: true}));
    const put = (node, x, scale, depth) => {
        const wide = totals[node] * scale;
        if (wide < 0.4)
            return;
        boxes.push({node, x, width: wide, depth});
        const sorted = [...trace.flame[node].children].sort((a, b) => totals[b] - totals[a]);
        for (const child of sorted) {
            put(child, x, scale, depth + 1);
            x += totals[child] * scale;
        }
    };
    if (totals[root] > 0)
        put(root, 0, width / totals[root], line.length - 1);
    return {boxes, totals};
}

function drawFlame() {
    const canvas = FLAME.canvas, width = canvas.parentElement.clientWidth;
    const {boxes, totals} = layOutFlame(width);
    const deepest = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
    const height = Math.max((deepest + 1) * FLAME.high + 4, 3 * FLAME.high);
    canvas.style.height = height + "px";
    const context = prepare(canvas, width, height);
    context.font = TIMELINE.font;
    context.textBaseline = "middle";
    TIMELINE.letter = context.measureText("M").width;
    for (const box of boxes)
        drawFlameBox(context, box, totals);
    FLAME.boxes = boxes;
    FLAME.totals = totals;
    putCrumbs();
    putFlameNote(totals);
}

function drawFlameBox(context, box, totals) {
    const label = box.node > 0 ? trace.labels[trace.flame[box.node].label] : {kind: "guest", rank: -1};
    const y = 2 + box.depth * FLAME.high, colour = colourOf(label);
    const pale = box.above || (box.node > 0 && !isShown(label.index));
    context.globalAlpha = pale ? 0.3 : 1;
    context.fillStyle = fillOf(label);
    context.fillRect(box.x, y, Math.max(box.width - 0.7, 0.4), FLAME.high - 1);
    const room = Math.floor((box.width - 8) / TIMELINE.letter);
    context.globalAlpha = pale ? 0.7 : 1;
    if (room >= 3) {
        const name = flameName(box.node), share = " " + percent(totals[box.node], totals[0]);
        const text = name.length + share.length <= room ? name + share
            : name.length <= room ? name : name.slice(0, room - 1) + "…";
        if (STALLED.has(label.kind)) {
            context.fillStyle = colour;
            context.fillRect(box.x + 2, y + 2, text.length * TIMELINE.letter + 6, FLAME.high - 5);
        }
        context.fillStyle = pale ? theme.colours.text : inkOn(colour);
        context.fillText(text, box.x + 4, y + FLAME.high / 2);
    }
    if (box === FLAME.hover) {
        context.globalAlpha = 1;
        context.strokeStyle = theme.colours.text;
        context.strokeRect(box.x + 0.5, y + 0.5, Math.max(box.width - 2, 1), FLAME.high - 2);
    }
    context.globalAlpha = 1;
}

function setFlameRoot(node) {
    view.flameRoot = node;
    FLAME.hover = null;
    invalidate();
}

function putCrumbs() {
    const parts = flameLine(view.flameRoot).map(node => {
        const button = make("button", {title: flameName(node)}, flameName(node));
        button.addEventListener("click", () => setFlameRoot(node));
        return button;
    });
    $("crumbs").replaceChildren(...parts.flatMap((part, i) => i > 0 ? ["›", part] : [part]));
}

function putFlameNote(totals) {
    let text = "Stacks as they were on the threads: what a thread ran while it waited is below that wait, and " +
        "a stolen job begins a stack. Idle time is left out. All together: " + time(totals[0]) + ".";
    if (view.query) {
        let sum = 0;
        trace.flame.forEach((node, i) => { // outermost matches only: none is counted twice
            const inside = flameLine(node.parent).some(p => p > 0 && view.matches.has(trace.flame[p].label));
            if (i > 0 && view.matches.has(node.label) && !inside)
                sum += totals[i];
        });
        text += " Found: " + time(sum) + ", " + percent(sum, totals[0]) + ".";
    }
    if (trace.missingNodes > 0)
        text += " There were too many different stacks: " + countOf(trace.missingNodes, "interval") +
            " count for what was around them.";
    $("flame-note").textContent = text;
}

function describeNode(node) {
    const {label, count, self, children} = trace.flame[node], total = FLAME.totals[node];
    const head = make("h3", {}, flameName(node));
    if (node == 0)
        return [head, pairs([["total", time(total)], ["stacks", number(trace.flame.length - 1)]])];
    const parent = trace.flame[node].parent;
    return [head, pairs([
        ["what", KIND_WORDS[trace.labels[label].kind]],
        ["total", time(total) + ", " + percent(total, FLAME.totals[0]) + " of all"],
        ["", parent > 0 ? percent(total, FLAME.totals[parent]) + " of " + flameName(parent) : ""],
        ["self", time(self)],
        ["times", number(count)],
        ["mean", count > 0 ? time(total / count) : ""],
        ["below it", children.length > 0 ? countOf(children.length, "kind") : ""],
    ])];
}

function startFlame() {
    const canvas = FLAME.canvas;
    const boxAt = event => {
        const area = canvas.getBoundingClientRect();
        const x = event.clientX - area.left, depth = Math.floor((event.clientY - area.top - 2) / FLAME.high);
        return FLAME.boxes.find(box => box.depth == depth && x >= box.x && x < box.x + box.width);
    };
    canvas.addEventListener("pointermove", event => {
        const box = boxAt(event);
        if (box)
            showTip(event, null, describeNode(box.node));
        else
            hideTip();
        if (box !== FLAME.hover) {
            FLAME.hover = box;
            drawFlame();
            FLAME.hover = box && FLAME.boxes.find(one => one.node == box.node && one.depth == box.depth);
        }
    });
    canvas.addEventListener("pointerleave", () => {
        hideTip();
        FLAME.hover = null;
        invalidate();
    });
    canvas.addEventListener("click", event => {
        const box = boxAt(event);
        if (box)
            setFlameRoot(box.node);
    });
    $("busy-only").addEventListener("change", event => {
        view.flameBusyOnly = event.target.checked;
        invalidate();
    });
}
