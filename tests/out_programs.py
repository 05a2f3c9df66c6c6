"""Programs that write a result into an array: every function with `out=`, by every way to hand it, over every overlap.

    def g(m, u, o): np.ptp(m, **{"axis": 1, "out": o})       f: m = np.outer(x, x); o = m[0]; g(m, m[1], o); ..

`out_program(way)` is the text of a way of `SINGLE`: a function, how the array is handed, where, and what it overlaps.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

HEAD = """\
import functools

import numpy as np
from scipy import special

A = np.array([[1.0, 0.5, 0.2], [0.3, 1.5, 0.1], [0.2, 0.4, 2.0]])


class Writer:
    def __init__(self, scale):
        self.scale = scale

    def passes(self, call, *args, **options):
        return call(*args, **options)


def passes(call, *args, **options):
    return call(*args, **options)


"""


class Called(NamedTuple):
    """A function, the operands that it takes by position (of `m`, three rows, and `u`, one) and its keywords."""

    name: str
    operands: str
    keywords: str = ""


_ROWS = ("sum", "prod", "mean", "std", "var", "max", "min", "median", "ptp", "nansum", "nanprod", "nanmean", "nanstd",
         "nanvar", "nanmax", "nanmin", "nanmedian", "add.reduce", "multiply.reduce", "maximum.reduce")  # fmt: skip
_ALONG = ("cumsum", "cumprod", "nancumsum", "add.accumulate", "multiply.accumulate")
CALLS = {name: Called(f"np.{name}", "m", "axis=1") for name in _ROWS}
CALLS |= {name: Called(f"np.{name}", "u") for name in (*_ALONG, "sin", "square", "negative", "exp", "round", "fix")}
CALLS |= {name: Called(f"np.{name}", "m[1], u") for name in ("add", "multiply", "maximum", "hypot", "logaddexp")}
CALLS |= {
    "clip": Called("np.clip", "u, 0.5, 0.9"),
    "take": Called("np.take", "u, [2, 0, 1]"),
    "take_rows": Called("np.take", "m, 1", "axis=1"),
    "choose": Called("np.choose", "[0, 1, 2], m"),
    "compress": Called("np.compress", "[True, False, True, True], np.append(u, 1.0)"),
    "dot": Called("np.dot", "m, u"),
    "matmul": Called("np.matmul", "m, u"),
    "multi_dot": Called("np.linalg.multi_dot", "[m, A, u]"),
    "einsum": Called("np.einsum", "'ij,j->i', m, u"),
    "einsum_diagonal": Called("np.einsum", "'ii->i', m"),
    "concatenate": Called("np.concatenate", "(u[:1], u[:2])"),
    "stack": Called("np.stack", "(u[0], u[2], u[1])"),
    "quantile": Called("np.quantile", "m, 0.3", "axis=1"),
    "percentile": Called("np.percentile", "m, 30.0", "axis=1"),
    "nan_quantile": Called("np.nanquantile", "m, 0.3", "axis=1"),
    "reduceat": Called("np.add.reduceat", "u, [0, 1, 2]"),
    "expit": Called("special.expit", "u"),
    "xlogy": Called("special.xlogy", "m[1], u"),
    "frompyfunc_like": Called("np.power", "u, 2"),
    "trace": Called("np.trace", "np.stack([m, A, m.T], axis=-1)"),
    "divmod_part": Called("np.remainder", "m[1], u"),
}
HANDED = {
    "keyword": "{f}({a}, {k}out=o)",
    "tuple": "{f}({a}, {k}out=(o,))",
    "display": "{f}({a}, **{{{d}'out': o}})",
    "name": "options = dict({k}out=o)\n    ;{f}({a}, **options)",
    "stored": "options = {{}}\n    options['out'] = o\n    ;{f}({a}, {k}**options)",
    "both_stars": "args = ({a},)\n    ;{f}(*args, **dict({k}out=o))",
    "partial": "functools.partial({f}, {k}out=o)({a})",
    "lambda": "(lambda *a, **options: {f}(*a, **options))({a}, {k}out=o)",
    "helper": "passes({f}, {a}, {k}out=o)",
    "method": "Writer(1.0).passes({f}, {a}, {k}out=o)",
    "value": "call = {f}\n    ;call({a}, {k}out=o)",
    "table": "call = [{f}, {f}][int(u[0] > 0.0)]\n    ;call({a}, {k}out=o)",
    "loop": "for call in ({f},):\n        ;call({a}, {k}out=o)",
}
PLACES = ("here", "helper", "nested", "method")
OVERLAPS = {
    "fresh": "o = np.ones(3)",
    "operand": "o = u",
    "row": "o = m[0]",
    "other_row": "o = m[1]",
    "column": "o = m[:, 1]",
    "turned": "o = u[::-1]",
    "shifted": "o = w[1:4]",
}
RESULT = {"dropped": "", "read": "z = "}


def out_program(way: tuple[str, str, str, str, str]) -> str:
    """The text of a program; the function `f` takes a vector of three."""
    called, handed, place, overlap, result = way
    call = CALLS[called]
    words = f"{call.keywords}, " if call.keywords else ""
    items = "".join(f"'{w.partition('=')[0]}': {w.partition('=')[2]}, " for w in call.keywords.split(", ") if w)
    text = HANDED[handed].format(f=call.name, a=call.operands, k=words, d=items)
    before, _, last = text.rpartition(";")
    own = f"{before}{RESULT[result]}{last}\n"
    back = "    return z\n" if result == "read" else ""
    head, lines = HEAD, ["w = np.array([0.0, 0.0, 0.0, 0.7]) + np.append(x, x[0])", "u = w[:3]"]
    lines += ["m = np.outer(x, x) * A", OVERLAPS[overlap]]
    if place == "helper":
        head += f"def helper(m, u, o):\n    {own}{back}\n\n"
        lines.append(f"{RESULT[result]}helper(m, u, o)")
    elif place == "method":
        inner = own.replace("\n    ", "\n        ")
        head += f"class Own:\n    def run(self, m, u, o):\n        {inner}{'    ' * bool(back)}{back}\n\n"
        lines.append(f"{RESULT[result]}Own().run(m, u, o)")
    elif place == "nested":
        inner = own.replace("\n    ", "\n        ")
        lines.append(f"def inner(o):\n        {inner}{'    ' * bool(back)}{back}")
        lines.append(f"{RESULT[result]}inner(o)")
    else:
        lines.append(own.rstrip("\n"))
    lines.append(f"return np.sum(m * A) + np.sum(w * w) + np.sum(o * x * x){' + np.sum(z * x)' * (result == 'read')}")
    return f"{head}def f(x):\n    " + "\n    ".join(lines) + "\n"


SINGLE = [*itertools.product(CALLS, HANDED, PLACES, OVERLAPS, RESULT)]
