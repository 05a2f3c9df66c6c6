"""A function beside its derivatives, as one HTML file: each line is tied to those that came from it.

    h = np.tanh(x @ W + b)      <-->      h = np.tanh(x @ W + b)
                                          t1 = h_bar * (1.0 - h * h)

On the left stands the user's function with what `explain` knows, on the right a text for each tab.
"""

from __future__ import annotations

import ast
import html
import re
import string
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.analysis.kinds_key import Forgotten, Kinds
from s2sgrad.analysis.value_kinds import kinds_by_name
from s2sgrad.api import grad
from s2sgrad.api.arguments import has_floats
from s2sgrad.api.derivative import Derivative
from s2sgrad.api.forward import Along, Jvp
from s2sgrad.api.gradient import Gradient
from s2sgrad.api.saving import functions_of_file
from s2sgrad.api.whole import Whole, text_for, written_or_recorded
from s2sgrad.errors import S2SGradError, raised
from s2sgrad.explanation import Explanation, explained
from s2sgrad.explanation.highlight import for_page
from s2sgrad.explanation.listing import LABELS, Line
from s2sgrad.ir.signatures import signature

_TEMPLATE = Path(__file__).with_suffix(".html")
_FRAME = '<iframe srcdoc="{}" style="width: 100%; height: {}px; border: 1px solid #8884"></iframe>'
_OF_RUN = re.compile(r"\s*# line (\d+): ")  # in the text of a run: the statement behind what follows


@dataclass(frozen=True)
class Tab:
    """A generated text: the statement of the user's behind each line, and which lines compute a derivative of it; or an
    error instead."""

    name: str
    text: str = ""
    behind: dict[int, tuple[str, int]] | None = None
    derived: frozenset[int] = frozenset()
    error: str = ""


def page(derivative: Any, args: tuple | None = None, keywords: dict[str, Any] | None = None) -> str:
    """The page of a gradient or a tangent, for arguments like these, for those of its latest call, or of any kind."""
    return _page(derivative, args, keywords or {}, alone=False)[0]


def frame(derivative: Any, args: tuple | None = None, keywords: dict[str, Any] | None = None, alone: bool = False) -> str:
    """The page as a notebook shows it, in a frame; `alone`: with this derivative alone, which is compiled already."""
    text, rows = _page(derivative, args, keywords or {}, alone)
    return _FRAME.format(html.escape(text), min(640, 180 + 21 * max(12, rows)))


def _page(derivative: Any, args: tuple | None, keywords: dict[str, Any], alone: bool) -> tuple[str, int]:
    """(the page, how many rows the open text has)."""
    if isinstance(derivative, Jvp):
        floats = [k for k, x in enumerate(args or ()) if has_floats(x)]
        derivative = derivative.along(tuple(floats)) if floats else derivative._latest or derivative.along((0,))
    opened, gradient = _reverse(derivative)
    key = _key(gradient, args, keywords, derivative)
    made = {
        "Gradient": lambda: gradient,
        "Forward mode": lambda: _forward(gradient),
        "Second order": lambda: _second(gradient),
    }
    made = {opened: lambda: derivative} if alone else {**made, opened: lambda: derivative}
    tabs = [_tab(name, make, key, args, keywords) for name, make in made.items()]
    rows = next(tab.text.count("\n") for tab in tabs if tab.name == opened)
    return _filled(explained(gradient, None, key=key), tabs, opened), rows


def _reverse(derivative: Derivative) -> tuple[str, Gradient]:
    """(the tab that shows a derivative, the gradient of the user's own function that it belongs to)."""
    below, order = derivative.primal, 1
    while isinstance(below, Gradient):
        derivative, below, order = below, below.primal, order + 1
    if isinstance(derivative, Along):
        return "Forward mode", grad(below, derivative._request.argnums)
    assert isinstance(derivative, Gradient)
    return ("Gradient", "Second order")[order - 1] if order < 3 else f"Order {order}", derivative


def _forward(gradient: Gradient) -> Along:
    names = list(signature(gradient._request.function).parameters)[len(gradient._request.lead) :]
    wrt = dict.fromkeys(n.partition("[")[0] for n in gradient._request.wrt())
    options = gradient._request.options
    return Jvp(gradient.primal, options.outputs, options.has_aux).along(tuple(map(names.index, wrt)))


def _second(gradient: Gradient) -> Gradient:
    argnums, options = gradient._request.argnums, gradient._request.options
    inner = grad(gradient.primal, argnums, has_aux=options.has_aux, outputs=options.outputs) if options.value else gradient
    return grad(inner, argnums, has_aux=options.has_aux)


def _key(gradient: Gradient, args: tuple | None, keywords: dict[str, Any], asked: Derivative) -> Kinds:
    """The kinds of the arguments."""
    request = gradient._request
    if args is not None:
        args, keywords = request.lead + args, {**request.keywords, **keywords}
        given = request.arguments(args, keywords)
        request.require_floats(request.wrt(), given)
        return Kinds(tuple(kinds_by_name(given, {*list(given)[: len(args)], *keywords}).items()))
    key: Kinds | None = getattr(asked._latest, "key", None) if asked is gradient else None
    try:
        if key is not None and key.items:
            return key
    except Forgotten:
        pass
    return Kinds(tuple((name, UNKNOWN) for name in signature(request.function).parameters))


def _tab(name: str, make: Any, key: Kinds, args: tuple | None, keywords: dict[str, Any]) -> Tab:
    """The text of a derivative with the user's statement behind each of its lines."""
    try:
        derivative = make()
        compiled = written_or_recorded(derivative, key)
        if isinstance(compiled, Whole):
            text = compiled.text if args is None else text_for(compiled, derivative._request.lead + args, keywords)
            return Tab(name, text, *_of_run(text, raised.head(derivative._request.function)))
        return Tab(name, compiled.text, *_of_text(compiled))
    except (S2SGradError, TypeError, ValueError) as error:
        return Tab(name, error=f"{type(error).__name__}: {error}")


def _of_text(compiled: Any) -> tuple[dict[int, tuple[str, int]], frozenset[int]]:
    """The places behind the lines of a compiled text, and which lines are derived: the rest of a statement belongs to its
    first line, a comment to the statement below it."""
    places, derived = {}, set()
    for code in {f.__code__ for f in functions_of_file(compiled.function)}:
        for number, place in raised.places(code).items():
            places[number] = place.file, place.line
            derived |= {number} if raised.is_derived(code, number) else set()
    for first, last, around in _extents(compiled.text):
        if first not in places and around in places:  # what the compiler has put into a block belongs to its head
            places[first] = places[around]
            derived |= {first} if around in derived else set()
        if first in places:
            places |= dict.fromkeys(range(first, last + 1), places[first])
            derived |= set(range(first, last + 1)) if first in derived else set()
    lines = compiled.text.splitlines()
    for number in range(len(lines), 0, -1):
        if lines[number - 1].lstrip().startswith("#") and number + 1 in places and not lines[number - 1].endswith(" sweep"):
            places.setdefault(number, places[number + 1])
    return places, frozenset(derived)


def _of_run(text: str, head: Any) -> tuple[dict[int, tuple[str, int]], frozenset[int]]:
    """The same of the text of a run, whose comments say which line each statement is of."""
    places, derived, line, backwards = {}, set(), 0, False
    for number, row in enumerate(text.splitlines(), 1):
        found = _OF_RUN.match(row)
        line = int(found[1]) if found else 0 if not row.strip() or row.lstrip().startswith("return") else line
        backwards = backwards or row.strip() == "# backwards"
        if line and head is not None:
            places[number] = head.file, line
            derived |= {number} if backwards else set()
    return places, frozenset(derived)


def _extents(text: str) -> Iterator[tuple[int, int, int]]:
    """The first and last line of each statement, and the first of the one around it; of one with a block, the last line of
    its head.  Inner statements come later."""
    try:
        waiting: list[tuple[ast.AST, int]] = [(ast.parse(textwrap.dedent(text)), 0)]
    except SyntaxError:  # a lambda within a line
        return
    for outer, around in waiting:
        for node in ast.iter_child_nodes(outer):
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                yield node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or 0, around
            waiting.append((node, node.lineno if isinstance(node, ast.stmt) else around))


def _filled(explanation: Explanation, tabs: list[Tab], opened: str) -> str:
    """The file."""
    functions = [explanation, *explanation.calls]
    keys: dict[tuple[str, int], str] = {}  # by file and line: the statement it is part of
    for n, function in enumerate(functions):
        first = function.lines[0].number if function.lines else 1
        starts = {k: a for a, b, _ in _extents("\n".join(line.text for line in function.lines)) for k in range(a, b + 1)}
        keys |= {
            (function.path, line.number): f"{n}-{starts.get(k, k) - 1 + first}" for k, line in enumerate(function.lines, 1)
        }
    given = {
        "title": f"{explanation.name}: {explanation.purpose}",
        "tabs": "".join(
            f'<label><input type="radio" name="tab" id="tab{k}"{" checked" if tab.name == opened else ""}>{tab.name}</label>'
            for k, tab in enumerate(tabs)
        ),
        "chosen": "\n".join(
            f"body:has(#tab{k}:checked) section:nth-child({k + 1}) {{ display: block; }}" for k in range(len(tabs))
        ),
        "left": "".join(_listed(function, keys) for function in functions),
        "right": "".join(_shown(tab, keys) for tab in tabs),
    }
    given["title"] = html.escape(given["title"])
    return string.Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(given)


def _listed(function: Explanation, keys: dict[tuple[str, int], str]) -> str:
    """A function of the user's with its notes."""
    margin = min((len(line.text) - len(line.text.lstrip()) for line in function.lines if line.text.strip()), default=0)
    texts = for_page("\n".join(line.text[margin:] for line in function.lines))
    first = function.lines[0].number if function.lines else 0
    rows = [_row(line, text, keys[function.path, line.number]) for line, text in zip(function.lines, texts, strict=True)]
    return f"<h2>{html.escape(f'{function.file}, line {first}')}</h2><pre>{''.join(rows)}</pre>"


def _row(line: Line, text: str, key: str) -> str:
    kinds = {note.kind for note in line.notes}
    shown = (
        "refused"
        if "refused" in kinds
        else "stored"
        if kinds & {"recorded", "run"}
        else "active"
        if "active" in kinds
        else ""
    )
    notes = [(LABELS[note.kind], str(note)) for note in line.notes]
    notes += [("kinds", ", ".join(f"{name}: {kind}" for name, kind in line.kinds))] if line.kinds else []
    items = "".join(f"<li><b>{label}</b> {html.escape(said)}</li>" for label, said in notes)
    return (
        f'<div data-at="{key}" id="L{line.number}" class="{shown}" tabindex="0"><i>{line.number}</i>{text}'
        f"{f'<ul>{items}</ul>' if items else ''}</div>"
    )


def _shown(tab: Tab, keys: dict[tuple[str, int], str]) -> str:
    """A text of ours."""
    if tab.error:
        return f'<section><p class="error">{html.escape(tab.error)}</p></section>'
    rows = []
    for number, text in enumerate(for_page(tab.text), 1):
        key = keys.get((tab.behind or {}).get(number, ("", 0)))
        at = "" if key is None else f' data-at="{key}"'
        rows.append(f"<div{at}{' class=derived' if number in tab.derived else ''}><i>{number}</i>{text}</div>")
    return f"<section><pre>{''.join(rows)}</pre></section>"
