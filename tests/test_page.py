"""The page of `df.show(html=..)`: each line is tied to those that came from it, in both directions."""

from __future__ import annotations

import html
import html.parser
import importlib.util
import re
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest
from corpus import CASES

from s2sgrad import grad, jvp, value_and_grad
from s2sgrad.__main__ import main
from s2sgrad.explanation.highlight import for_page
from s2sgrad.explanation.page import page


def crowding(u, k):
    total = np.sum(u)
    return k * total * u


def growth(u, k, steps):
    for _ in range(steps):
        du = u - crowding(
            u, k
        )  # fmt: skip
        u = u + 0.1 * du
    return np.sum(u**2) + np.sum(crowding(u, k))


def composed(x, n):
    steps = []
    for k in range(n):
        steps.append(lambda t, k=k: t * np.sin(t) + k)
    for step in steps:
        x = step(x)
    return np.sum(x)


def unruly(x):
    return np.sum(np.sort_complex(x))


class Reader(html.parser.HTMLParser):
    """The lines of a page: (pane, tab, key, classes, text), and whether every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.lines, self.pane, self.tab, self.loaded = [], [], "", -1, []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.loaded += [given[k] for k in ("src", "href") if k in given]
        if given.get("class") in ("left", "right"):
            self.pane = given["class"]
        self.tab += tag == "section"
        if tag == "div" and "pre" in self.open:
            self.lines.append([self.pane, self.tab, given.get("data-at"), given.get("class", ""), ""])
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"div", "pre"} <= {*self.open} and "i" not in self.open and "ul" not in self.open:
            self.lines[-1][-1] += data


def tied(text):
    """Texts on the left and in each tab on the right, by key."""
    found = {}
    for pane, tab, key, _, line in Reader(text).lines:
        if key is not None:
            found.setdefault(key, {}).setdefault(tab if pane == "right" else "left", []).append(line.strip())
    return found


def test_lines_are_tied_to_those_that_came_from_them():
    text = page(grad(growth, ("u", "k")), (np.ones(3), 0.3, 4))
    found = tied(text)
    by_line = {lines["left"][0]: lines for lines in found.values()}
    assert by_line["du = u - crowding("]["left"] == ["du = u - crowding(", "u, k", ")  # fmt: skip"]
    gradient, forward, second = (by_line["u = u + 0.1 * du"][k] for k in range(3))
    assert gradient == ["u = u + 0.1 * du", "# u = u + 0.1 * du", "du_bar = u_bar * 0.1"]
    assert forward == ["u = u + 0.1 * du", "u_dot = u_dot + 0.1 * du_dot"] == second[:2]
    assert "total_bar = seed_u * k" in by_line["return k * total * u"][0]
    assert [*by_line["def crowding(u, k):"]] == ["left"]
    assert 'id="tab0" checked>Gradient' in text and "float64 (n,)" in text and "what `crowding` records" in text


def test_every_statement_of_ours_has_a_line_of_the_users():
    rows = Reader(page(grad(growth, ("u", "k")), (np.ones(3), 0.3, 4))).lines
    keys = {row[2] for row in rows if row[0] == "left"}
    lost = [row[4].strip() for row in rows if row[:2] == ["right", 0] and row[4].strip() and row[2] is None]
    assert {row[2] for row in rows if row[0] == "right"} - {None} <= keys
    plain = re.compile(r"import |from |def |return|#|\"\"\"|(tape|\w+_stack) = \[\]|u, k, total = saved")
    assert [line for line in lost if not plain.match(line)] == []
    assert [row[4].strip() for row in rows if "derived" in row[3] and row[1] == 0][-1] == "k_bar += k_bar_term"


@pytest.mark.sampled(one_in=200)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pages_of_the_corpus(case):
    gradient = grad(case.function, case.argnums)
    rows = Reader(page(gradient, tuple(case.fresh_args()))).lines
    assert "".join(f"{row[4]}\n" for row in rows if row[:2] == ["right", 0]) == gradient.source_for(*case.fresh_args())
    keys = {row[2] for row in rows if row[0] == "left"}
    ours = [row for row in rows if row[:2] == ["right", 0] and re.match(r"\s+[\w, ]+ [+*-]?= (?!seed_like)", row[4])]
    assert {row[2] for row in rows if row[0] == "right"} - {None} <= keys
    assert sum(row[2] is not None for row in ours) >= 0.6 * len(ours)


def test_the_tab_that_is_asked_for_is_open():
    args = np.ones(3), 0.3, 4
    cases = {"Second order": grad(grad(growth)), "Order 3": grad(grad(grad(growth))), "Gradient": value_and_grad(growth)}
    for name, derivative in {**cases, "Forward mode": jvp(growth)}.items():
        assert re.findall(r'id="tab\d" checked>([\w ]+)', page(derivative, args)) == [name]


def test_options_hold_in_every_tab():
    def aux(x):
        return np.sum(x * x), {"n": 1}

    def written(u, k):
        u *= k

    holomorphic = grad(lambda z: z * z, holomorphic=True), 1.0 + 2.0j
    cases = [(grad(aux, has_aux=True), np.ones(2)), (value_and_grad(aux, has_aux=True), np.ones(2)), holomorphic]
    cases += [(grad(written, "k", outputs="u"), np.ones(2), 2.0), (grad(lambda *xs: xs[0] * xs[1], (0, 1)), 2.0, 3.0)]
    cases += [(grad(np.sin), np.ones(2)), (grad(lambda z: np.abs(z) ** 2), 1.0 + 2.0j), (grad(lambda x: x, debug=True), 1.0)]
    for derivative, *args in cases:
        assert 'class="error"' not in page(derivative, tuple(args)), derivative


def test_one_file_that_loads_nothing():
    text = page(grad(growth), (np.ones(3), 0.3, 4))
    assert Reader(text).loaded == [] and not re.search(r"https?:|url\(|@import", text) and len(text) < 60_000
    script = re.search(r"<script>\n(.*)</script>", text, re.S)[1]
    assert len(script.splitlines()) <= 35


@pytest.mark.records
def test_what_is_recorded_and_what_is_refused():
    shown = tied(page(grad(composed), (np.ones(3), 2)))
    (line,) = [lines for lines in shown.values() if lines["left"][0].startswith("steps.append")]
    assert any("np.cos" in row or "np.sin" in row for row in line[0])
    text = page(grad(unruly, strict=True), (np.ones(3),))
    assert "has no derivative rule" in text and 'class="error"' in text and 'class="refused"' in text
    assert Reader(page(grad(composed))).lines


def test_methods_lambdas_and_text_that_looks_like_html():
    class Net:
        def __init__(self):
            self.w = 2.0

        def loss(self, x):
            return np.sum(x if np.all(x < 2.0) else "<b>" and x)

    assert "&lt;b&gt;" in page(grad(Net().loss), (np.ones(2),)) and "&lt;b&gt;" in page(grad(Net.loss), (Net(), np.ones(2)))
    assert Reader(page(grad(lambda x: x * x), (2.0,))).lines


def test_kinds_of_the_latest_call():
    df = grad(growth)
    assert "float64 (n,)" not in page(df)
    df(np.ones(3), 0.3, 4)
    assert "float64 (n,)" in page(df)


def test_in_a_notebook(monkeypatch):
    df = grad(growth)
    df(np.ones(3), 0.3, 4)
    framed = df._repr_html_()
    inside = html.unescape(re.match(r'<iframe srcdoc="([^"]*)"', framed)[1])
    assert "Forward mode" not in inside and "u_bar" in "".join(row[4] for row in Reader(inside).lines)
    assert grad(np.sin)._repr_html_() is None or "iframe" in grad(np.sin)._repr_html_()
    shown = []
    display = types.SimpleNamespace(display=lambda data, raw: shown.append(data))
    shell = types.SimpleNamespace(kernel=1)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, display=display))
    df.show()
    df.show(2.0, 0.3, 4)
    assert [sorted(data) for data in shown] == [["text/html", "text/plain"]] * 2
    assert "Forward mode" in shown[0]["text/html"]


def test_in_a_terminal_and_a_pipe(tmp_path, capsys, monkeypatch):
    df = grad(growth)
    df.show(np.ones(3), 0.3, 4)
    plain = capsys.readouterr().out
    assert plain.strip() == df.source_for(np.ones(3), 0.3, 4).strip()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "rich.console", None)  # as if it were not installed
        df.show(np.ones(3), 0.3, 4)
        assert capsys.readouterr().out == plain
    if importlib.util.find_spec("rich") is not None:
        monkeypatch.setenv("COLUMNS", "20")  # longer lines are neither cut nor filled up
        df.show(np.ones(3), 0.3, 4)
        coloured = capsys.readouterr().out
        assert re.search(r"\x1b\[[\d;]*mdef\x1b\[0m", coloured) and re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    df.show(np.ones(3), 0.3, 4)
    assert capsys.readouterr().out == plain
    df.show(np.ones(3), 0.3, 4, html=tmp_path / "page.html")
    assert "u_bar" in (tmp_path / "page.html").read_text()


def test_command(tmp_path):
    file = tmp_path / "paged.py"
    file.write_text("def f(x, y):\n    return x * y ** 2\n")
    assert main(["show", f"{file}:f", "--wrt", "x,y", "--args", "2.0, 3.0", "--html", str(tmp_path / "p.html")]) == 0
    assert "f_grad" in (tmp_path / "p.html").read_text()
    assert main(["show", f"{file}:f", "--html", str(tmp_path / "nowhere" / "p.html")]) == 2


def test_highlighting_keeps_the_text():
    text = 'def f(x):  # < & >\n    """a\n    b < c"""\n    return f"{x!r} {1.5}" if x in "ä" else 0x1f\n'
    assert [html.unescape(re.sub("<[^>]*>", "", line)) for line in for_page(text)] == text.splitlines()
    assert for_page("g(lambda x: x,") == ['g(<b class="keyword">lambda</b> x: x,']


def _contrast(*colours):
    """Of two colours, as the accessibility guidelines (WCAG 2) define it."""

    def luminance(colour):
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        levels = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        linear = [v / 12.92 if v <= 0.04 else ((v + 0.055) / 1.055) ** 2.4 for v in levels]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    darker, brighter = sorted(map(luminance, colours))
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_its_background(scheme):
    pairs = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", page(grad(growth), (np.ones(3), 0.3, 4)))
    colour = {name: of_schemes[scheme] for name, *of_schemes in pairs}
    for text in ("text", "soft", "keyword", "string", "number", "bad"):
        for back in ("back", "pane", "lit", "pin"):
            assert _contrast(colour[text], colour[back]) >= 4.5, (text, back)


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
@pytest.mark.parametrize(("width", "scheme"), [(500, 0), (1300, 1)])
def test_in_a_browser(width, scheme, tmp_path):
    """Pointing lights the lines of a statement on both sides, a click keeps them, a tab shows another text."""
    script = """
    const every = (selector) => [...document.querySelectorAll(selector)];
    const find = (side, text) => every(side + ' [data-at]').find((l) => l.textContent.includes(text));
    const lit = (k) => every('.' + k).filter((l) => l.offsetParent).map((l) => l.textContent).join('|');
    const out = [];
    find('.left', 'u + 0.1').dispatchEvent(new Event('pointerenter')); out.push(lit('lit'), about.textContent);
    find('.left', 'u + 0.1').dispatchEvent(new Event('pointerleave')); out.push(lit('lit'));
    find('.right', 'du_bar = u_bar').click(); out.push(lit('pinned'));
    document.getElementById('tab1').click(); out.push(lit('pinned'));
    out.push(innerWidth, document.documentElement.scrollWidth);
    document.getElementById('notes').click(); out.push(every('.left, .right').every((p) => p.scrollWidth <= p.clientWidth));
    document.getElementById('theme').click(); out.push(document.documentElement.dataset.theme);
    document.body.innerHTML = '<pre id="out"></pre>'; document.getElementById('out').textContent = JSON.stringify(out);
    """
    text = page(grad(growth, ("u", "k")), (np.ones(3), 0.3, 4))
    file = tmp_path / "page.html"
    file.write_text(text.replace("</body>", f"<script>window.onload = () => {{{script}}}</script></body>"))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command += [f"--window-size={width},900", f"--blink-settings=preferredColorScheme={scheme}"]
    command += ["--virtual-time-budget=2000", "--dump-dom"]
    done = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, timeout=120)
    lit, about, left, pinned, other, room, taken, fits, theme = eval(
        re.search(r'<pre id="out">(.*)</pre>', done.stdout, re.S)[1], {"true": True, "false": False}
    )
    assert "u = u + 0.1 * du" in lit and "du_bar = u_bar * 0.1" in lit and "crowding" not in lit
    assert "derivative u" in about and left == "" and pinned == lit
    assert "u_dot = u_dot + 0.1 * du_dot" in other and "du_bar" not in other and theme == ("light", "dark")[scheme]
    assert taken <= room == width and fits
