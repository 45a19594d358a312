// SPDX-License-Identifier: MIT
// page.js: puts everything together.

const FOLD_ABOVE = 40; // threads: then each is one row at first

function onClick(id, act) {
    $(id).addEventListener("click", act);
}

function themeChanged() {
    applyTheme();
    putFunctions();
    putMatches();
    putKinds();
    drawAll();
}

function start() {
    rankLabels(trace.labels);
    if (trace.threads.length > FOLD_ABOVE)
        toggleAllFolds();
    for (const tab of ["timeline", "flame", "report"])
        onClick("tab-" + tab, () => showTab(tab));
    onClick("all", KEYS[0]);
    onClick("zoom-in", () => zoom(0.6));
    onClick("zoom-out", () => zoom(1 / 0.6));
    onClick("help-button", () => $("help").showModal());
    onClick("theme", () => {
        nextTheme();
        themeChanged();
    });
    onClick("clear-filter", clearOnly);
    onClick("next-match", () => goToMatch(false));
    onClick("more-functions", () => {
        table.all = true;
        putFunctions();
    });
    $("hide-others").addEventListener("change", event => {
        view.hideOthers = event.target.checked;
        invalidate();
    });
    $("query").addEventListener("input", event => setQuery(event.target.value));
    darkMedia.addEventListener("change", themeChanged);
    addEventListener("resize", layoutChanged);
    startOverview();
    startTimeline();
    startFlame();
    startKeys();
    putReport();
    putMerged();
    putLongest();
    layoutChanged();
    showBusy();
    showTab("timeline");
    themeChanged();
}

start();
