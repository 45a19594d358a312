// SPDX-License-Identifier: MIT
// data.js: what tool/trace/html.c has written, as arrays that are fast to look through. Times are in
// nanoseconds from the beginning of the trace.

const IDLE = new Set(["search", "sleep", "guest"]);
const STALLED = new Set(["wait", "block"]);
const KIND_WORDS = {
    job: "job", span: "span", turn: "turn of an actor", wait: "wait", block: "blocked",
    search: "looks for work", sleep: "asleep", guest: "guest", several: "several", other: "other",
};
const ARROW_WORDS = ["steal", "merge", "submission", "wake-up"];
const [STEAL, MERGE, SUBMIT, WAKE] = [0, 1, 2, 3];

const trace = readTrace(JSON.parse($("data").textContent));

// No interval of a lane begins before the one before it has ended.
function readLane(flat, unit) {
    const count = flat.length / 6;
    const lane = {
        count, begin: new Float64Array(count), end: new Float64Array(count), self: new Float64Array(count),
        label: new Uint16Array(count), from: new Int32Array(count), intervals: new Float64Array(count),
    };
    let begin = 0;
    for (let i = 0, at = 0; i < count; i++, at += 6) {
        begin += flat[at] * unit;
        lane.begin[i] = begin;
        lane.end[i] = begin + flat[at + 1] * unit;
        lane.self[i] = flat[at + 2] * unit;
        lane.label[i] = flat[at + 3];
        lane.from[i] = flat[at + 4] - 1;
        lane.intervals[i] = flat[at + 5];
    }
    return lane;
}

function readLabel([kind, name, count, total, self, most, stolen], index, unit) {
    return {index, kind, name: clean(name) || "(no name)", count, total: total * unit, self: self * unit,
        most: most * unit, stolen};
}

// Nodes come after their parents.
function readFlame(flat, unit) {
    const nodes = [{parent: -1, label: -1, count: 0, self: 0, children: [], depth: 0}];
    for (let at = 0; at < flat.length; at += 4) {
        const [parent, label, count, self] = flat.slice(at, at + 4);
        nodes[parent].children.push(nodes.length);
        nodes.push({parent, label, count, self: self * unit, children: [], depth: nodes[parent].depth + 1});
    }
    return nodes;
}

function readArrows(flat, unit, threads) {
    const arrows = [];
    for (const thread of threads)
        thread.arrows = []; // that end here
    for (let at = 0; at < flat.length; at += 5) {
        const begin = flat[at + 3] * unit;
        const arrow = {kind: flat[at], from: flat[at + 1], to: flat[at + 2], begin,
            end: begin + flat[at + 4] * unit};
        arrows.push(arrow);
        threads[arrow.to].arrows.push(arrow);
    }
    return arrows; // by their ends
}

function readMark([name, count, flat], index, raw) {
    const part = raw.length * raw.unit / raw.points, points = [];
    for (let at = 0; at < flat.length; at += 4)
        points.push({begin: flat[at] * part, end: (flat[at] + 1) * part, least: flat[at + 1],
            most: flat[at + 2], last: flat[at + 3]});
    return {index, name: clean(name) || "(no name)", count, points,
        least: Math.min(...points.map(p => p.least)), most: Math.max(...points.map(p => p.most))};
}

function readTrace(raw) {
    const unit = raw.unit;
    const threads = raw.threads.map(({name, number, lanes}, index) => ({
        index, name: clean(name), number, lanes: lanes.map(lane => readLane(lane, unit)),
    }));
    const names = new Set(), twice = new Set();
    for (const {name} of threads)
        (names.has(name) ? twice : names).add(name);
    for (const thread of threads)
        if (twice.has(thread.name))
            thread.name += " " + thread.number;
    const longest = ([thread, begin, ns, job, text]) => ({
        thread, begin: begin * unit, ns: ns * unit, job: clean(job), text: clean(text),
    });
    return {
        program: clean(raw.program), length: raw.length * unit, events: raw.events, report: raw.report,
        workers: raw.workers, allThreads: raw.allThreads, work: raw.work * unit, active: raw.active * unit,
        path: raw.path * unit, steals: raw.steals, allIntervals: raw.allIntervals,
        mergedIntervals: raw.mergedIntervals, shortest: raw.shortest * unit,
        missingMarks: raw.missingMarks, missingNodes: raw.missingNodes,
        waits: raw.waits.map(longest), blocks: raw.blocks.map(longest),
        threads, labels: raw.labels.map((label, i) => readLabel(label, i, unit)),
        flame: readFlame(raw.flame, unit), arrows: readArrows(raw.arrows, unit, threads),
        arrowCounts: raw.arrowCounts, marks: raw.marks.map((mark, i) => readMark(mark, i, raw)),
        bins: raw.bins,
    };
}

// The first interval that ends after t.
function firstAfter(lane, t) {
    let low = 0, high = lane.count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (lane.end[middle] > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// How many intervals are open at t: the lane of the innermost one is one less.
function depthAt(thread, t) {
    let depth = 0;
    for (const lane of thread.lanes) {
        const i = firstAfter(lane, t);
        if (i == lane.count || lane.begin[i] > t)
            break;
        depth++;
    }
    return depth;
}
