/* SPDX-License-Identifier: MIT */
/* Light, dark, or as the system has it. The script of Debian's furo does this, too, but is written as
 * a module, and browsers refuse it. */
(function () {
    "use strict";
    var themes = ["auto", "dark", "light"];

    function show(theme) {
        document.body.dataset.theme = theme;
        try {
            localStorage.setItem("theme", theme);
        } catch (error) {
            /* a browser that keeps nothing */
        }
    }

    document.documentElement.classList.remove("no-js");
    document.addEventListener("DOMContentLoaded", function () {
        document.querySelectorAll(".theme-toggle").forEach(function (button) {
            button.addEventListener("click", function () {
                show(themes[(themes.indexOf(document.body.dataset.theme) + 1) % themes.length]);
            });
        });
    });
})();
