// SPDX-License-Identifier: MIT
// keys.js: the keyboard, and the page that lists its keys.

const KEYS = {
    ArrowLeft: () => move(-0.2),
    ArrowRight: () => move(0.2),
    ArrowUp: () => TIMELINE.scroll.scrollTop -= 3 * TIMELINE.lane,
    ArrowDown: () => TIMELINE.scroll.scrollTop += 3 * TIMELINE.lane,
    "+": () => zoom(0.6),
    "=": () => zoom(0.6),
    "-": () => zoom(1 / 0.6),
    0: () => view.tab == "flame" ? setFlameRoot(0) : showAll(),
    "/": () => $("query").focus(),
    n: () => goToMatch(false),
    N: () => goToMatch(true),
    f: () => toggleAllFolds(),
    z: () => view.selected && zoomTo(intervalAt(view.selected).begin, intervalAt(view.selected).end),
    1: () => showTab("timeline"),
    2: () => showTab("flame"),
    3: () => showTab("report"),
    Escape: () => clearStep(),
    "?": () => $("help").showModal(),
};

const HELP = [
    ["wheel", "zoom, where the pointer is"],
    ["drag", "move; with shift: choose a part of the time"],
    ["shift + wheel", "scroll the threads"],
    ["click", "what it is, and why; on a thread's name: fold it"],
    ["double click", "zoom to it"],
    ["← →   ↑ ↓", "move in time; scroll the threads"],
    ["+   −   0", "zoom in, out, all"],
    ["/   n   N", "search; next and previous match"],
    ["z   f", "zoom to what is selected; fold all threads"],
    ["1  2  3", "timeline, flame, report"],
    ["Esc", "undo the selection, the search, the filter"],
];

// The newest of what is chosen goes first.
function clearStep() {
    if (view.selected)
        select(null);
    else if (view.query) {
        $("query").value = "";
        setQuery("");
    } else if (view.only.size > 0)
        clearOnly();
    else if (view.flameRoot > 0)
        setFlameRoot(0);
}

function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open)
        return;
    if (event.target.tagName == "INPUT" && event.target.type != "checkbox") {
        if (event.key == "Enter")
            goToMatch(event.shiftKey);
        else if (event.key == "Escape")
            event.target.blur();
        return;
    }
    if (event.target.getAttribute?.("role") == "tab" && event.key.startsWith("Arrow"))
        return moveTab(event);
    if (!Object.hasOwn(KEYS, event.key))
        return;
    event.preventDefault();
    KEYS[event.key]();
}

function moveTab(event) {
    const names = ["timeline", "flame", "report"], by = event.key == "ArrowRight" ? 1 : 2;
    const next = names[(names.indexOf(view.tab) + by) % 3];
    showTab(next);
    $("tab-" + next).focus();
}

function startKeys() {
    document.addEventListener("keydown", onKey);
    $("help-list").replaceChildren(...HELP.flatMap(([keys, text]) =>
        [make("dt", {}, keys), make("dd", {}, text)]));
}
