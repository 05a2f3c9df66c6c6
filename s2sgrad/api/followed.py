"""The matrix of derivatives of a function as a function with source, which is differentiated in its turn.

    jacobian(jacobian(f))      ->      jacobian(f_jacobian) with

        def f_jacobian(x, k):
            columns = []
            for at in range(np.size(x)):
                e = np.zeros(np.size(x))
                e[at] = 1.0
                columns.append(jvp(f, (x, k), (np.reshape(e, np.shape(x)), None))[1])
            return np.reshape(np.stack(columns, axis=-1), np.shape(columns[0]) + np.shape(x))
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import pullbacks, runtime
from s2sgrad.ir.signatures import signature
from s2sgrad.source.making import made

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def by_columns(
    function: Callable[..., Any], primal: Callable[..., Any], argnum: int | str, name: str
) -> types.FunctionType | None:
    """The Jacobian in one argument, of a function of numbers and arrays that gives one and takes what `primal` takes.

    None for one that is given arguments otherwise than by position.
    """
    parameters = list(signature(primal).parameters.values())
    names = [p.name for p in parameters if p.kind in _POSITIONAL]
    x = argnum if isinstance(argnum, str) else names[argnum] if -len(names) <= argnum < len(names) else None
    if x not in names or any(p.name not in names and p.default is p.empty for p in parameters):
        return None
    name = name if name.isidentifier() else "matrix"
    own = {"columns": "columns", "at": "at", "e": "e"}
    helpers = {"np": np, "jvp": pullbacks.jvp, "checked": runtime.require_array, "f": function}
    word = {n: _free(n, names) for n in (*own, *helpers)}
    columns, at, e, np_, jvp, checked, f = (word[n] for n in (*own, *helpers))
    dots = "".join(f"{np_}.reshape({e}, {np_}.shape({x})), " if n == x else "None, " for n in names)
    text = (
        f"def {name}({', '.join(names)}):\n"
        f"    {columns} = []\n"
        f"    for {at} in range({np_}.size({checked}({x}))):\n"
        f"        {e} = {np_}.zeros({np_}.size({x}))\n"
        f"        {e}[{at}] = 1.0\n"
        f"        {columns}.append({checked}({jvp}({f}, ({''.join(f'{n}, ' for n in names)}), ({dots}))[1]))\n"
        f"    return {np_}.reshape({np_}.stack({columns}, axis=-1), {np_}.shape({columns}[0]) + {np_}.shape({x}))\n"
    )
    out = made(text, name, by_columns, {word[n]: value for n, value in helpers.items()}, set())
    out.__defaults__ = tuple(p.default for p in parameters if p.name in names and p.default is not p.empty)
    return out


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name
