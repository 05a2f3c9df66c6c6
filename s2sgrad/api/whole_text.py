"""The text of a derivative that is recorded: two lines, which say what happens, under the reason.

# Recorded as it runs, and swept backwards from its record.  model.py, line 7, has no text:
#         total += next(it)
# iterators are kept in a list
def loss_grad(x, n, loss_bar=1.0):
    y, pullback = vjp(loss, x, n)
    return pullback(loss_bar)[0]
"""

from __future__ import annotations

import inspect
import os
import textwrap
from typing import Any

from s2sgrad.errors import S2SGradError
from s2sgrad.ir.signatures import signature

_WIDTH = 110
_BOTH = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def of(gradient: Any, error: S2SGradError) -> str:
    """The text of the derivative of a function that the compiler refused with this error."""
    parameters = list(signature(gradient._request.function).parameters.values())
    more, given = (_along if gradient._request.options.forward else _pulled)(gradient, parameters)
    return "\n".join([*reason(error), head(gradient, parameters, more), *(f"    {line}" for line in given)]) + "\n"


def _along(gradient: Any, parameters: list[inspect.Parameter]) -> tuple[list[inspect.Parameter], list[str]]:
    """(the parameters for tangents, the lines)."""
    positions = [p.name for p in parameters if p.kind in _BOTH]
    names = dict.fromkeys(p.partition("[")[0] for p in gradient._request.wrt())
    comma = "," if len(positions) == 1 else ""
    dots = ", ".join(f"{p}_dot" if p in names else "None" for p in positions)
    called = [
        name_of(gradient._request.shown_name),
        f"({', '.join(positions)}{comma})",
        f"({dots}{comma})",
        *_named(parameters),
    ]
    more = [inspect.Parameter(f"{n}_dot", inspect.Parameter.KEYWORD_ONLY) for n in names]
    value = "y, " if gradient._request.options.value else ""
    return more, [f"y, y_dot = jvp({', '.join(called)})", f"return {value}y_dot"]


def _pulled(gradient: Any, parameters: list[inspect.Parameter]) -> tuple[list[inspect.Parameter], list[str]]:
    """(the parameter for the cotangent, the lines)."""
    seed, value = gradient._request.word.name, "y, " if gradient._request.options.value else ""
    inputs = [name_of(gradient._request.shown_name), *(p.name for p in parameters if p.kind in _BOTH), *_named(parameters)]
    bars = [f"pullback({seed}){_place(parameters, n.partition('[')[0])}" for n in gradient._request.wrt()]
    result = bars[0] if len(bars) == 1 else f"({', '.join(bars)})" if value else ", ".join(bars)
    more = [inspect.Parameter(seed, inspect.Parameter.KEYWORD_ONLY, default=1.0)]
    return more, [f"y, pullback = vjp({', '.join(inputs)})", f"return {value}{result}"]


def reason(error: S2SGradError) -> list[str]:
    """Why there is no text, as comments: the line of the user's, and what was said of it."""
    place = error.place
    lines = ["# Recorded as it runs, and swept backwards from its record: there is no text"]
    if place is None:
        lines[0] += " for it."
    else:
        lines[0] += f" for line {place.line} of {os.path.basename(place.file)},"
        lines.append(f"#     {place.text.strip()}")
    for line in error.message.splitlines():
        lines += [f"# {part}" for part in textwrap.wrap(line, _WIDTH)]
    return lines


def sentence(error: S2SGradError) -> str:
    """The reason in one line."""
    where = "" if error.place is None else f"line {error.place.line} of {os.path.basename(error.place.file)}: "
    return where + " ".join(error.message.split())


def head(gradient: Any, parameters: list[inspect.Parameter], more: list[inspect.Parameter]) -> str:
    """`def` with the parameters of the function, without what no text can say of them."""
    own = [p.replace(annotation=p.empty, default=p.default if _is_short(p.default) else p.empty) for p in parameters]
    lacking = [k for k, p in enumerate(own) if p.default is p.empty and p.kind in _BOTH]
    if lacking:  # no default before a parameter that has none
        own[: lacking[-1]] = [p.replace(default=p.empty) for p in own[: lacking[-1]]]
    last = [own.pop()] if own and own[-1].kind is inspect.Parameter.VAR_KEYWORD else []
    keyword = any(p.kind not in _BOTH for p in own)
    more = [p if keyword or p.default is p.empty else p.replace(kind=_BOTH[1]) for p in more]
    return f"def {name_of(gradient.__name__)}{inspect.Signature([*own, *more, *last])}:"


def name_of(shown: str) -> str:
    """The name of a function, in a text."""
    return shown if shown.isidentifier() else shown.replace("<lambda>", "f").replace("<", "").replace(">", "")


def _is_short(value: Any) -> bool:
    return type(value) in (int, float, bool, str, type(None)) or value is inspect.Parameter.empty


def _named(parameters: list[inspect.Parameter]) -> list[str]:
    """Arguments that are not given one by one by position."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    others = [p for p in parameters if p.kind not in _BOTH]
    return [f"{stars[p.kind]}{p.name}" if p.kind in stars else f"{p.name}={p.name}" for p in others]


def _place(parameters: list[inspect.Parameter], name: str) -> str:
    """Where the cotangent of a parameter is in what a pullback gives."""
    positions = [p.name for p in parameters if p.kind in _BOTH]
    return f"[{positions.index(name)}]" if name in positions else f"[{len(positions)}:]" if positions else ""
