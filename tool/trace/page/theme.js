// SPDX-License-Identifier: MIT
// theme.js: colours, in light and dark. The functions that were busy longest have a colour each; these
// differ in brightness, too, and reds and greens are not beside each other. All other functions are
// grey. What is not work has a pattern: waits are striped, blocks are crossed.

const FUNCTION_COLOURS = {
    light: ["#2f6fc9", "#f0a43a", "#12866a", "#d583b4", "#7cc7ee", "#6a4fb0", "#9a7433", "#3d4c63"],
    dark: ["#5b97ee", "#f2b155", "#2fae8b", "#e29ac6", "#9bd8f7", "#9179d9", "#b8924f", "#6d7f9b"],
};
const COLOURS = {
    light: {
        card: "#ffffff", page: "#f3f4f7", line: "#dde1e8", track: "#f4f6f9", text: "#18202e", soft: "#596376",
        accent: "#1d5fc4", other: "#a3adbb", wait: "#fbe9a9", waitLine: "#d0a200", block: "#f4b39d",
        blockLine: "#c23c12", search: "#dbe6f3", sleep: "#eceff3", guest: "#e3e0f1", busy: "#2f6fc9",
        shade: "#18202e22",
    },
    dark: {
        card: "#171b22", page: "#0f1217", line: "#2a313c", track: "#1c222b", text: "#e6e9ef", soft: "#98a2b3",
        accent: "#7fb0ff", other: "#69748a", wait: "#544610", waitLine: "#e0b83a", block: "#66261a",
        blockLine: "#ff8a63", search: "#2a3a50", sleep: "#20262f", guest: "#2f2c45", busy: "#5b97ee",
        shade: "#00000066",
    },
};

const theme = {choice: "auto", isDark: false, colours: COLOURS.light, patterns: new Map()};
const darkMedia = matchMedia("(prefers-color-scheme: dark)");

// The rank of a label among those that are work; -1: it is none.
function rankLabels(labels) {
    for (const label of labels)
        label.rank = -1;
    labels.filter(label => !IDLE.has(label.kind) && !STALLED.has(label.kind) && label.kind != "several")
        .sort((a, b) => b.self - a.self)
        .forEach((label, rank) => label.rank = rank);
}

function colourOf(label) {
    const colours = theme.colours;
    if (label.rank >= 0)
        return FUNCTION_COLOURS[theme.isDark ? "dark" : "light"][label.rank] || colours.other;
    return colours[label.kind] || colours.other;
}

// Black or white, whichever can be read on this colour.
function inkOn(colour) {
    const [r, g, b] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#10151d" : "#ffffff";
}

// Stripes for waits, crosses for blocks; the colour itself for all others.
function fillOf(label) {
    const kind = label.kind;
    if (!STALLED.has(kind))
        return colourOf(label);
    if (!theme.patterns.has(kind))
        theme.patterns.set(kind, makePattern(kind));
    return theme.patterns.get(kind);
}

function makePattern(kind) {
    const ratio = Math.max(1, Math.round(devicePixelRatio)), size = 6 * ratio;
    const canvas = make("canvas", {width: size, height: size}), context = canvas.getContext("2d");
    context.fillStyle = theme.colours[kind];
    context.fillRect(0, 0, size, size);
    context.strokeStyle = theme.colours[kind + "Line"];
    context.globalAlpha = kind == "wait" ? 0.5 : 0.75;
    context.lineWidth = 0.9 * ratio;
    context.beginPath();
    for (const at of [-size, 0, size]) {
        context.moveTo(at, size);
        context.lineTo(at + size, 0);
        if (kind == "block") {
            context.moveTo(at, 0);
            context.lineTo(at + size, size);
        }
    }
    context.stroke();
    const pattern = context.createPattern(canvas, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / ratio));
    return pattern;
}

// A small picture of a label's colour.
function swatch(label, width, height) {
    const canvas = make("canvas", {className: "swatch"});
    const context = prepare(canvas, width, height);
    context.fillStyle = fillOf(label);
    context.fillRect(0, 0, width, height);
    return canvas;
}

// A canvas of so many CSS pixels, sharp on any screen, empty.
function prepare(canvas, width, height) {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (canvas.width != w || canvas.height != h) {
        canvas.width = w;
        canvas.height = h;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

function applyTheme() {
    theme.isDark = theme.choice == "dark" || (theme.choice == "auto" && darkMedia.matches);
    theme.colours = theme.isDark ? COLOURS.dark : COLOURS.light;
    theme.patterns.clear();
    document.documentElement.style.colorScheme = theme.choice == "auto" ? "light dark" : theme.choice;
    $("theme").textContent = {auto: "Auto", light: "Light", dark: "Dark"}[theme.choice];
}

function nextTheme() {
    const other = darkMedia.matches ? "light" : "dark", same = darkMedia.matches ? "dark" : "light";
    theme.choice = {auto: other, [other]: same, [same]: "auto"}[theme.choice];
    applyTheme();
    drawAll();
}
