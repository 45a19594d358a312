// SPDX-License-Identifier: MIT
"use strict";
// words.js: numbers and times in words, and elements of the page. Texts of a trace are put into the page
// as text, never as HTML.

const $ = (id) => document.getElementById(id);

// Control characters, and those that turn the direction of writing, say what they are not.
function clean(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

// 1.23 ms: three digits, as the report has them.
function time(ns) {
    const units = ["ns", "µs", "ms", "s"];
    let value = Math.abs(ns), unit = 0;
    for (; unit < 3 && value >= 999.5; unit++)
        value /= 1000;
    const digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return (ns < 0 ? "−" : "") + value.toFixed(digits) + " " + units[unit];
}

// As many digits as tell two moments apart that are `step` apart, in the unit of `like`.
function moment(ns, step, like = ns) {
    const units = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];
    let unit = 0;
    while (unit < 3 && Math.max(like, step) >= 1000 * units[unit][1])
        unit++;
    const digits = Math.max(0, Math.ceil(Math.log10(units[unit][1] / step) - 1e-9));
    return (ns / units[unit][1]).toFixed(Math.min(digits, 9)) + " " + units[unit][0];
}

function number(value) {
    return value.toLocaleString("en");
}

function percent(part, whole) {
    const share = whole > 0 ? 100 * part / whole : 0;
    return share.toFixed(share >= 9.95 || share == 0 ? 0 : 1) + "%";
}

function countOf(count, one) {
    return number(count) + " " + one + (count == 1 ? "" : "s");
}

// make("p", {className: "soft"}, "text", element, ...)
function make(tag, properties, ...children) {
    const element = document.createElement(tag);
    Object.assign(element, properties);
    element.append(...children);
    return element;
}

// [name, value], ...: as a list; pairs without a value are left out.
function pairs(list) {
    const dl = make("dl");
    for (const [name, value] of list)
        if (value !== "" && value !== undefined)
            dl.append(make("dt", {}, name), make("dd", {}, value));
    return dl;
}
