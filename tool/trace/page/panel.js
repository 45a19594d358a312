// SPDX-License-Identifier: MIT
// panel.js: everything in words: the report, the table of functions, what was found, what is selected.

// ---- Tabs ----

function showTab(name) {
    view.tab = name;
    for (const one of ["timeline", "flame", "report"]) {
        $(one + "-view").hidden = one != name;
        $("tab-" + one).setAttribute("aria-selected", one == name);
        $("tab-" + one).tabIndex = one == name ? 0 : -1;
    }
    hideTip();
    invalidate();
}

// ---- The report ----

// Its lines up to "What to look at", the numbered points after that, and all of it.
function readReport(report) {
    const lines = report.split("\n"), at = lines.indexOf("What to look at:");
    const end = lines.indexOf("", at), advice = [];
    for (const line of at < 0 ? [] : lines.slice(at + 1, end < 0 ? lines.length : end)) {
        if (/^ {2}\d+\. /.test(line))
            advice.push(line.replace(/^ *\d+\. /, ""));
        else if (advice.length > 0)
            advice[advice.length - 1] += " " + line.trim();
        else
            advice.push(line.trim());
    }
    const numbered = at >= 0 && /^ {2}\d+\. /.test(lines[at + 1] || "");
    return {head: lines.slice(0, Math.max(at, 0)), advice, numbered};
}

// A text in which the names of functions can be clicked: the longest name that begins at each place.
function linkNames(text) {
    const names = trace.labels.filter(label => label.rank >= 0 && label.name.length > 2).slice(0, 300)
        .sort((a, b) => b.name.length - a.name.length);
    const parts = [];
    let plain = "";
    for (let at = 0; at < text.length;) {
        const word = /\w/.test(text[at - 1] || "");
        const label = word ? null : names.find(one => text.startsWith(one.name, at) &&
            !/\w/.test(text[at + one.name.length] || ""));
        if (!label) {
            plain += text[at++];
            continue;
        }
        const button = make("button", {className: "link", title: "Go to it"}, label.name);
        button.addEventListener("click", () => goToLongest(label.index));
        parts.push(plain, button);
        plain = "";
        at += label.name.length;
    }
    return [...parts, plain];
}

function goToLongest(label) {
    let best = null, most = -1;
    for (const thread of trace.threads)
        thread.lanes.forEach((lane, number) => {
            for (let index = 0; index < lane.count; index++)
                if (lane.label[index] == label && lane.end[index] - lane.begin[index] > most) {
                    most = lane.end[index] - lane.begin[index];
                    best = {thread: thread.index, lane: number, index};
                }
        });
    if (best)
        goTo(best);
}

function goTo(place) {
    const {begin, end} = intervalAt(place);
    showTab("timeline");
    select(place);
    zoomTo(begin, end);
    reveal(place);
}

function putReport() {
    const {head, advice, numbered} = readReport(trace.report);
    $("title").textContent = trace.program.split("/").pop() || "a program";
    document.title = $("title").textContent + ": weft trace";
    $("facts").textContent = clean(head[0] || "").replace(/^[^:]*: /, "");
    $("facts").title = trace.program;
    const notes = head.slice(1).join(" ").trim();
    $("notices").replaceChildren(...notes ? [make("p", {className: "notice"}, clean(notes))] : []);
    $("report").textContent = trace.report;
    $("advice").replaceChildren(...advice.map(text => {
        const colon = text.indexOf(": "), item = make("li", {className: numbered ? "" : "calm"});
        if (numbered && colon > 0)
            item.append(make("b", {}, clean(text.slice(0, colon + 1)) + " "));
        item.append(...linkNames(clean(numbered && colon > 0 ? text.slice(colon + 2) : text)));
        return item;
    }));
    const tiles = [
        [time(trace.length), "recorded"],
        [(trace.active > 0 ? trace.work / trace.active : 0).toFixed(2), "threads busy on average"],
        [number(trace.allThreads), "threads, " + countOf(trace.workers, "worker")],
        [time(trace.work), "work of all threads"],
        [time(trace.path), "critical path"],
        [number(trace.steals), "steals"],
    ];
    $("tiles").replaceChildren(...tiles.map(([value, name]) =>
        make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

// What is not on the page as it was.
function putMerged() {
    const drawn = trace.arrows.length, arrows = trace.arrowCounts.reduce((a, b) => a + b, 0), texts = [];
    if (trace.mergedIntervals > 0)
        texts.push(number(trace.mergedIntervals) + " of " + number(trace.allIntervals) + " intervals, all " +
            "shorter than " + time(trace.shortest) + ", are drawn together with their neighbours: boxes with " +
            "a comb at the bottom, ×N says how many. Sums in tables, in the flame view and in the report are " +
            "of all of them.");
    if (drawn < arrows)
        texts.push(number(drawn) + " of " + number(arrows) + " arrows are there.");
    if (trace.allThreads > trace.threads.length)
        texts.push("Only the first " + number(trace.threads.length) + " threads have rows.");
    if (trace.missingMarks > 0)
        texts.push(number(trace.missingMarks) + " marks are missing: they have too many different names.");
    if (trace.threads.length == 0)
        texts.push("There are no records in this trace: nothing was recorded, or nothing is left of it.");
    $("merged").textContent = texts.join(" ");
}

// ---- The table of functions ----

const COLUMNS = [
    ["name", "Name", label => label.name],
    ["count", "times", label => number(label.count)],
    ["self", "self", label => time(label.self)],
    ["total", "total", label => time(label.total)],
    ["most", "longest", label => time(label.most)],
];
const ROWS_FIRST = 40;
const table = {sort: "self", down: true, all: false};

function nameCell(label) {
    return make("div", {className: "name"}, swatch(label, 12, 12), make("span", {}, label.name,
        label.kind == "job" ? "" : make("small", {}, " " + KIND_WORDS[label.kind]),
        label.stolen > 0 ? make("small", {}, " " + number(label.stolen) + " stolen") : ""));
}

function sortedLabels() {
    const sign = table.down ? -1 : 1, key = table.sort;
    return trace.labels.filter(label => label.count > 0).sort((a, b) =>
        IDLE.has(a.kind) - IDLE.has(b.kind) || // idle time is not what people look for
        sign * (key == "name" ? a.name.localeCompare(b.name) : a[key] - b[key]) || a.index - b.index);
}

function putFunctions() {
    const head = make("tr");
    for (const [key, title] of COLUMNS) {
        const cell = make("th", {scope: "col"}, title);
        if (key == table.sort)
            cell.setAttribute("aria-sort", table.down ? "descending" : "ascending");
        cell.addEventListener("click", () => {
            table.down = key == table.sort ? !table.down : key != "name";
            table.sort = key;
            putFunctions();
        });
        head.append(cell);
    }
    const labels = sortedLabels(), some = table.all ? labels : labels.slice(0, ROWS_FIRST);
    $("functions").tHead.replaceChildren(head);
    $("functions").tBodies[0].replaceChildren(...some.map(label => {
        const row = make("tr", {title: "Show only this; click more of them to add them", tabIndex: 0});
        row.dataset.label = label.index;
        row.append(make("td", {}, nameCell(label)), ...COLUMNS.slice(1).map(([, , put]) =>
            make("td", {}, put(label))));
        row.addEventListener("click", () => toggleOnly(label.index));
        row.addEventListener("keydown", event => event.key == "Enter" && toggleOnly(label.index));
        return row;
    }));
    $("more-functions").hidden = some.length == labels.length;
    $("more-functions").textContent = "all " + number(labels.length);
    putFilter();
}

function putFilter() {
    const count = view.only.size;
    $("filter").hidden = count == 0;
    $("filter-state").textContent = count > 0 ? number(count) + " shown" : "click to filter";
    for (const row of $("functions").tBodies[0].rows) {
        const on = view.only.has(Number(row.dataset.label));
        row.classList.toggle("on", on);
        row.classList.toggle("off", count > 0 && !on);
        row.setAttribute("aria-selected", on);
    }
}

// ---- Search ----

function putMatches() {
    const found = sortedLabels().filter(label => view.matches.has(label.index));
    const sum = found.reduce((all, label) => all + label.total, 0);
    const times = found.reduce((all, label) => all + label.count, 0);
    $("found").textContent = !view.query ? "" : found.length == 0 ? "not found"
        : countOf(found.length, "name") + ", " + countOf(times, "time") + ", " + time(sum);
    $("matches").hidden = !view.query || found.length == 0;
    $("next-match").hidden = found.length == 0;
    const rows = found.slice(0, 50).map(label => {
        const row = make("tr", {title: "Go to the next one"}, make("td", {}, nameCell(label)),
            make("td", {}, number(label.count)), make("td", {}, time(label.total)));
        row.addEventListener("click", () => goToNext(one => one == label.index));
        return row;
    });
    $("matches").replaceChildren(make("h3", {}, "Found"), make("div", {className: "table"},
        make("table", {}, make("tbody", {}, ...rows))));
}

function goToMatch(backwards) {
    if (view.matches.size > 0)
        goToNext(label => view.matches.has(label), backwards);
}

// ---- What an interval is ----

function describe(place) {
    const interval = intervalAt(place), {begin, end, self, label, intervals} = interval, length = end - begin;
    const step = Math.max(length / 1000, 1);
    const common = [["thread", threadName(place.thread)], ["begin", moment(begin, step)], ["length", time(length)]];
    if (intervals > 1)
        return [make("h3", {}, number(intervals) + " short intervals"), pairs([
            ["mostly", label.kind == "several" ? "several" : label.name], ...common,
            ["filled", time(self) + ", " + percent(self, length)]])];
    return [make("h3", {}, label.name), pairs([["what", KIND_WORDS[label.kind]], ...common,
        ["self", IDLE.has(label.kind) ? "" : time(self) + ", " + percent(self, length)],
        ...causes(place, interval)])];
}

function describeMark(mark, t) {
    const point = mark.points.filter(one => one.begin <= t).pop();
    return [make("h3", {}, mark.name), pairs([
        ["value", point ? number(point.last) : ""],
        ["here", point && point.least != point.most ? number(point.least) + " … " + number(point.most) : ""],
        ["all", number(mark.least) + " … " + number(mark.most)],
        ["times", number(mark.count)]])];
}

function putDetails() {
    const place = view.selected, box = $("details");
    box.hidden = !place;
    if (!place)
        return;
    const {begin, end, label, intervals} = intervalAt(place);
    const button = (text, act) => {
        const one = make("button", {}, text);
        one.addEventListener("click", act);
        return one;
    };
    const buttons = make("div", {className: "buttons"}, button("Zoom to it", () => zoomTo(begin, end)));
    if (intervals == 1)
        buttons.append(button("Only this", () => toggleOnly(label.index)),
            button("Next", () => goToNext(one => one == label.index)));
    buttons.append(button("Close", () => select(null)));
    box.replaceChildren(...describe(place), buttons);
}

function showTip(event, place, content) {
    const tip = $("tip");
    tip.replaceChildren(...content);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 16 + box.width > innerWidth, low = event.clientY + 18 + box.height > innerHeight;
    tip.style.left = Math.max(4, right ? event.clientX - box.width - 12 : event.clientX + 16) + "px";
    tip.style.top = Math.max(4, low ? event.clientY - box.height - 12 : event.clientY + 18) + "px";
}

function hideTip() {
    $("tip").hidden = true;
}

// ---- Legends and lists ----

function putLegend() {
    const step = Math.max((view.end - view.begin) / 1000, 1);
    $("range").textContent = moment(view.begin, step, view.end) + " – " + moment(view.end, step) + " (" +
        time(view.end - view.begin) + "), " + busyIn(view.begin, view.end).toFixed(2) + " threads busy" +
        (view.tooManyArrows ? "; zoom in to see arrows" : "");
}

function putKinds() {
    const kinds = [["wait", "waits"], ["block", "blocked"], ["search", "searches"], ["sleep", "asleep"]];
    $("kinds").replaceChildren(...kinds.map(([kind, text]) =>
        make("span", {}, swatch({kind, rank: -1}, 18, 12), text)));
    $("arrows-legend").replaceChildren(...ARROW_WORDS.flatMap((word, kind) => {
        if (trace.arrowCounts[kind] == 0)
            return [];
        const box = make("input", {type: "checkbox", checked: view.arrows[kind]});
        box.addEventListener("change", () => {
            view.arrows[kind] = box.checked;
            invalidate();
        });
        const line = make("canvas"), context = prepare(line, 18, 12);
        context.strokeStyle = arrowColour(kind);
        context.lineWidth = 1.5;
        context.setLineDash(ARROW_DASHES[kind]);
        context.strokeRect(0, 6, 18, 0);
        return [make("label", {}, box, " ", line, word + "s (" + number(trace.arrowCounts[kind]) + ")")];
    }));
}

function putLongest() {
    const lists = [["Longest waits of jobs", trace.waits], ["Longest blocks", trace.blocks]];
    $("longest-box").replaceChildren(...lists.flatMap(([title, list]) => list.length == 0 ? [] : [
        make("h3", {}, title), make("ul", {}, ...list.map(one => {
            const words = (one.job ? one.job + " " : "") + one.text + ", " + threadName(one.thread);
            const button = make("button", {className: "link"}, words);
            button.addEventListener("click", () => goToInterval(one));
            return make("li", {}, make("span", {className: "soft"}, time(one.ns)), button);
        }))]));
}

// To the interval that begins there.
function goToInterval({thread, begin, ns}) {
    const lanes = trace.threads[thread] ? trace.threads[thread].lanes : [];
    for (let number = lanes.length - 1; number >= 0; number--) {
        const lane = lanes[number], index = firstAfter(lane, begin);
        if (index < lane.count && Math.abs(lane.begin[index] - begin) < 1 && STALLED.has(trace.labels[lane.label[index]].kind))
            return goTo({thread, lane: number, index});
    }
    showTab("timeline");
    zoomTo(begin, begin + ns);
}
