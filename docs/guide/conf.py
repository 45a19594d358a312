# SPDX-License-Identifier: MIT
# How Sphinx builds the guide; docs/guide/build.sh calls it.
import os
import re

from docutils import nodes

project = "weft"
html_title = "The weft guide"
html_short_title = "weft"
version = release = os.environ.get("WEFT_VERSION", "")
html_theme = "furo"
extensions = ["myst_parser", "sphinx_inline_tabs"]
exclude_patterns = ["programs", "bindings", "drawings", "coming-from/cost.md"]
html_static_path = ["style"]
html_css_files = ["guide.css"]
html_js_files = ["guide.js"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# What is no language of programs is not coloured.
highlight_language = "none"
pygments_style = "tango"
pygments_dark_style = "native"
# All colours of the dark page: Debian's furo has its own for readers who ask for it on the page, and
# not for those whose system does.
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#14506e", "color-brand-content": "#14506e"},
    "dark_css_variables": {
        "color-brand-primary": "#7fc4e8",
        "color-brand-content": "#7fc4e8",
        "color-foreground-primary": "#d8dadd",
        "color-foreground-secondary": "#a3a8ae",
        "color-foreground-muted": "#858b92",
        "color-foreground-border": "#5f6468",
        "color-background-primary": "#15171a",
        "color-background-secondary": "#1b1e22",
        "color-background-hover": "#22262b",
        "color-background-hover--transparent": "#22262b00",
        "color-background-border": "#32363b",
        "color-background-item": "#44484d",
        "color-highlighted-background": "#0c3a5c",
        "color-highlight-on-target": "#2c2c0c",
        "color-admonition-background": "#1a1c20",
        "color-card-border": "#1b1e22",
        "color-card-background": "#1a1c20",
        "color-card-marginals-background": "#22262b",
        "color-problematic": "#ec6b6b",
    },
}


def drop_marks(app, doctree):
    """Pages show parts of programs between marks, and whole programs without these."""
    for block in doctree.findall(nodes.literal_block):
        text = re.sub(r"(?m)^[ \t]*(/\*|//|#) (\[[a-z0-9 ]+\]|SPDX-License-Identifier: MIT)( \*/)?\n", "",
                      block.rawsource)
        if text != block.rawsource:
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def setup(app):
    app.connect("doctree-read", drop_marks)
