"""Programs in which one of two arrays is written that may be views of one another, or copies: NumPy knows, and ours must.

`EXPRESSIONS` are what NumPy makes of an array `y`: every callable of `np` and `np.linalg`, every method and attribute of
arrays, and every form of an index, each with arguments that it takes, found by trial.  `program(..)` writes one.
"""

from __future__ import annotations

import copy
import functools
import itertools
import warnings
from typing import Any

import numpy as np

from s2sgrad.primitives import catalogue

LAYOUTS = {
    "line": "x * 1.5",
    "grid": "(x * 1.5).reshape(2, 3)",
    "columns": "(x * 1.5).reshape(3, 2).T",
    "section": "np.outer(x, x[:3])[1:5:2, ::-1]",
    "backwards": "(x * 1.5)[::-1]",
    "steps": "np.outer(x, x[:2])[:, 1]",
    "one": "x[:1] * 1.5",
    "one by one": "(x[:1] * 1.5).reshape(1, 1)",
    "row": "(x * 1.5)[None]",
    "cube": "np.outer(x, x[:4]).reshape(2, 3, 4)",
    "square": "np.outer(x[:3], x[3:]) + 3.0 * np.eye(3)",
    "no axes": "np.array(x[0] * 1.5)",
}
"""Arrays that are laid out in one way or another, made of the argument `x`, which has six elements."""

ARGUMENTS = """
    {y}|{y}, 0|{y}, 1|{y}, -1|{y}, 2|{y}, (1, 0)|{y}, (0,)|{y}, 0, 1|{y}, (6,)|{y}, -1, order='F'|{y}, (2, 3)|{y}, float
    {y}, axis=0|{y}, axis=-1|{y}, copy=False|{y}, copy=None|{y}, order='F'|{y}, dtype=float|{y}, ndmin=3
    {y}, [0, 0]|{y}, [1, 0], axis=0|{y}, {y} > 0.5|{y} > 0.5, {y}|{y} > 0.5, {y}, {y}|[{y}]|[{y}, {y}]|({y}, 0.5)|0, {y}
    {y}, {y}|0.5, {y}|[{y} > 0.5], [{y}]|{y}, 3, 0|'i->i', {y}|'ij->ji', {y}|'ij->ij', {y}
    'ii->i', {y}|lambda z: z, 0, {y}|lambda z: z[::-1], 0, {y}|lambda z, k: z, {y}, [0]|{y}, lambda z: z
"""

OF_METHODS = """
    |0|1|0, 1|-1|(6,)|(2, 3)|3, 2|float|axis=0|order='F'|[0, 0]|[1, 0], axis=0|{y} > 0.5|0.0, 9.0|{y}|float, copy=False
    'F'|np.float64
"""

SECTIONS = """
    0|-1|...|()|None|:|1:|::-1|::2|:, 0|..., 0|0, ...|:, None|None, 0|[0]|[0, 0]|[True, False]|:, [0]|{y} > 0.5|{y} > 99.0
    np.arange(1)|np.array(0)|np.int64(0)|slice(1, None)|(slice(None), slice(1))|np.s_[1:]|np.ix_([0])|np.newaxis, 0:1
    0:1, 0:1|..., None|True|[0], :|0, [0]|np.array([0])[:, None]|(0,) * {y}.ndim|(slice(None),) * {y}.ndim
"""

_SHAPED = ("{y}.T", "{y}.mT", "{y}.real", "{y}.imag", "{y}.flat", "{y}.base", "{y}.data")
_FLAT = ("{y}.flat[{i}]", "np.asarray({y}.flat)", "np.array({y}.flat)", "np.reshape({y}.flat, (-1,))", "list({y}.flat)",
         "np.atleast_1d({y}.flat)", "np.sort({y}.flat)", "np.ravel({y}.flat)")  # fmt: skip
_OTHER = """
    +{y}|-{y}|{y} + 0|{y} * 1|abs({y})|round({y}, 1)|({y} if x[0] > 0 else x)|[{y}][0]|({y},)[0]|dict(a={y})['a']|list({y})
    [r for r in {y}]|list({y})[0]|next(iter({y}))|(lambda z: z)({y})|(lambda z: z[::-1])({y})|same({y})|rolled({y})
    {y}.T.T|{y}[None][0]|{y}.ravel()[1:]|{y}.reshape(-1)[::-1]|{y}.T.ravel()|{y}.T.reshape(-1)|np.ravel({y}.T)|{y}[::-1].ravel()
    {y}.flatten()[1:]|np.asarray({y})[...]|np.asarray({y}.T)|np.ascontiguousarray({y}.T)|np.asfortranarray({y}.T)
    np.atleast_2d({y}).T|np.squeeze({y}[None])|np.broadcast_to({y}, (2,) + {y}.shape)[0]|memoryview({y})|{y}.view(float)
    np.split({y}, 1)[0]|np.split({y}.T, 1)[0]|np.hsplit({y}, 1)[0]|np.array_split({y}, 2)[1]|np.meshgrid({y})[0]
    np.meshgrid({y}, {y}, copy=False)[1]|np.nan_to_num({y}, copy=False)|np.nan_to_num({y}, False)|np.nan_to_num({y})
    np.array({y}, copy=False)|{y}.astype(float, copy=False)
    np.lib.stride_tricks.sliding_window_view({y}, 1, axis=0)[0]|np.lib.stride_tricks.as_strided({y}, (1,), (8,))
    np.copy({y})|copy.copy({y})|copy.deepcopy({y})|np.require({y}, requirements='F')|np.rot90({y}, 0)|np.rot90({y}, 4)
    np.rollaxis({y}, 0)|np.moveaxis({y}, 0, -1)|np.diag({y})|np.diagonal({y})|{y}.diagonal()|np.diag(np.diag({y}))
    np.triu({y}, -9)
    np.linalg.matrix_power({y}, 1)|np.concatenate([{y}])|np.stack([{y}])[0]|np.block([{y}])|np.tile({y}, 1)|np.repeat({y}, 1)
    np.roll({y}, 0)|np.pad({y}, 0)|np.insert({y}, 0, [])|np.delete({y}, [])|np.append({y}, [])|np.resize({y}, {y}.shape)
    np.take({y}, range({y}.shape[0]), axis=0)|np.compress([True], {y}, axis=0)|np.where(True, {y}, 0)|np.clip({y}, None, 99)
    np.unwrap({y} * 0.1)|np.trim_zeros({y})|np.real_if_close({y})|np.real({y})|np.conj({y})|{y}.conj()|np.fix({y})
    np.sort({y})
    np.cumsum({y})|np.diff({y}, 0)|np.maximum({y}, {y})|np.add({y}, 0)|np.positive({y})|np.array([{y}])[0]
    np.from_dlpack({y})|np.frombuffer({y})|np.ndarray({y}.shape, buffer={y})|np.asarray(memoryview({y}))|np.asanyarray({y})
"""


def same(z):
    return z


def rolled(z):
    return z.T[::-1]


HARMFUL = {"save", "savez", "savez_compressed", "savetxt", "tofile", "dump", "memmap", "fromfile", "seterr", "seterrcall",
           "setbufsize", "set_printoptions", "test", "info", "show_config", "show_runtime", "get_include", "printoptions",
           "source", "setflags", "errstate", "resize", "put", "putmask", "place", "copyto", "fill", "sort", "partition",
           "byteswap", "setfield", "itemset", "fill_diagonal", "empty", "empty_like", "vectorize", "frompyfunc", "matrix",
           "bmat", "asmatrix", "dumps", "tobytes", "tostring", "may_share_memory", "recarray", "nan_to_num"}  # fmt: skip
"""What has effects, writes, leaves memory as it was, or is written in `buffer_programs`."""


def split(text: str) -> list[str]:
    """The items of a list as it is written above."""
    return [item.strip() for line in text.strip().splitlines() for item in line.split("|")]


@functools.cache
def calls() -> tuple[tuple[str, Any], ...]:
    """(expression, what it calls) for every callable of NumPy, but ufuncs, and every method of arrays, with arguments that
    it takes."""
    found: list[tuple[str, Any]] = []
    for home, shown in ((np, "np"), (np.linalg, "np.linalg"), (np.lib.stride_tricks, "np.lib.stride_tricks")):
        for name in sorted({*dir(home)} - HARMFUL):
            function = getattr(home, name)
            is_error = isinstance(function, type) and issubclass(function, BaseException)
            if name[0] != "_" and callable(function) and not is_error and not isinstance(function, np.ufunc):
                found += [(f"{shown}.{name}({a})", function) for a in split(ARGUMENTS)]
    for name in sorted({*dir(np.ndarray)} - HARMFUL):
        method = getattr(np.ndarray, name)
        if name[0] != "_" and callable(method):
            found += [(f"{{y}}.{name}({a})", method) for a in split(OF_METHODS)]
    return tuple((e, f) for e, f in found if any(value(e, layout) is not None for layout in ("line", "grid", "square")))


def shares(expression: str, layout: str) -> bool | None:
    """Whether what an expression gives shares memory with its array; None where it gives no array of floats."""
    y = made(layout)
    out = value(expression, layout, y)
    return None if out is None else isinstance(out, np.ndarray) and np.shares_memory(y, out)


@functools.cache
def expressions() -> tuple[str, ...]:
    """The expressions of which a result may share memory, or is said to, and all other forms."""
    out = [e for e, f in calls() if catalogue.of(f).may_view or any(shares(e, layout) for layout in LAYOUTS)]
    out += ["{y}[" + i + "]" for i in split(SECTIONS)] + [*_SHAPED, *split(_OTHER)]
    out += [f.replace("{i}", i) for f in _FLAT for i in (split(SECTIONS) if "{i}" in f else [""])]
    return tuple(dict.fromkeys(out))


SPACE = {"np": np, "same": same, "rolled": rolled, "copy": copy}
X = np.array([0.8, 1.3, 0.4, 1.7, 0.6, 1.1])


def made(layout: str) -> Any:
    """An array of this layout."""
    return eval(LAYOUTS[layout], SPACE, {"x": X.copy()})


def value(expression: str, layout: str, y: Any = None):
    """What an expression gives, or the first item of that, if it is an array of floats; None if it is none, or raises."""
    y = made(layout) if y is None else y
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            out = eval(expression.replace("{y}", "y"), SPACE, {"x": X.copy(), "y": y})
            out = out[0] if isinstance(out, (list, tuple)) and out else out
    except Exception:
        return None
    is_float = isinstance(out, (np.ndarray, np.floating)) and out.dtype == np.float64
    return out if is_float and out.size and type(out) in (np.ndarray, np.float64) else None


WRITES = {
    "what it is made of": "y[...] = y * 0.5 + x[1]",
    "an element": "y[(0,) * y.ndim] *= x[1]",
    "the result": "v[...] = v * 0.5 + x[1]",
    "an update": "y *= x[1]",
    "an update of the result": "v *= x[1]",
}


def program(expression: str, layout: str, write: str) -> str | None:
    """The text of a program `f(x)`; None where NumPy runs none such."""
    found = value(expression, layout)
    if found is None or (isinstance(found, np.float64) and "result" in write):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run below tells which programs warn
        out = eval(expression.replace("{y}", "y"), SPACE, {"x": X.copy(), "y": made(layout)})
    item = "[0]" if isinstance(out, (list, tuple)) else ""
    lines = [f"y = {LAYOUTS[layout]}", "v = " + expression.replace("{y}", "y") + item,
             WRITES[write], "return np.sum(v * v) + np.sum(np.sin(y))"]  # fmt: skip
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in lines)
    space = dict(SPACE)
    exec(text, space)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return text if np.isfinite(space["f"](X.copy())) else None
    except Exception:
        return None


def all_programs():
    """(expression, layout, write) of all programs that may run."""
    return itertools.product(expressions(), LAYOUTS, WRITES)
