"""The site: `pip install '.[docs]'`, then `python -m sphinx -W docs site`."""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from pygments.lexers import PythonLexer
from pygments.token import Error, Text

import s2sgrad

project, author, release = "s2sgrad", "s2sgrad", s2sgrad.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "s2sgrad"
html_static_path, html_css_files = ["static"], ["site.css"]
pygments_dark_style = "github-dark"
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
default_role = "code"
highlight_language = "text"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
exclude_patterns = ["site"]


def as_text(app, what, name, obj, options, lines):
    """Docstrings are plain text: code in single backticks, lists, examples; a list opens a paragraph."""
    out = []
    for line in lines:
        item = re.match(r"\s*- ", line)
        if item and out and out[-1].strip() and not re.match(r"\s*(- |  )", out[-1]):
            out.append("")
        out.append(re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line).replace("**keywords", r"\*\*keywords"))
    lines[:] = out


def as_titles(app, document, name):
    """A link that shows the name of a file, as on a forge, shows the title of the page on the site."""
    titles = {f"{page}.md": title.astext() for page, title in app.env.titles.items()}
    for link in document.findall(nodes.reference):
        if link.astext() in titles:
            link[:] = [nodes.Text(titles[link.astext()])]


class Console(PythonLexer):
    """Commands behind `$`. What they print is Python, for the most part."""

    name, aliases = "console", ("console",)

    def get_tokens_unprocessed(self, *text: Any) -> Iterator[tuple[int, Any, str]]:
        for place, kind, value in super().get_tokens_unprocessed(*text):
            yield place, Text if kind is Error else kind, value


def setup(app):
    app.add_lexer("console", Console)
    app.connect("autodoc-process-docstring", as_text)
    app.connect("doctree-resolved", as_titles)
