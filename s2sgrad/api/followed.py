"""The matrix of derivatives of a function as a function with source, which can be differentiated in turn.

jacobian(jacobian(f))      ->      jacobian(f_jacobian), with the text of `specialize.nested_matrices`
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from s2sgrad import standard
from s2sgrad.ir.signatures import signature
from s2sgrad.source.making import made
from s2sgrad.specialize.nested_matrices import LOCALS, WORDS, text_of

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def by_columns(
    functions: list[Callable[..., Any]], primal: Callable[..., Any], asked: tuple[int | str, ...], single: bool, name: str
) -> types.FunctionType | None:
    """The Jacobians of `functions` in the arguments `asked`: one matrix, or a tuple of them; for several functions a tuple
    of these.  The functions map arrays to an array, and take the arguments of `primal`.

    None if arguments must be passed other than by position.
    """
    parameters = list(signature(primal).parameters.values())
    names = [p.name for p in parameters if p.kind in _POSITIONAL]
    at = [a if isinstance(a, str) else names[a] if -len(names) <= a < len(names) else "" for a in asked]
    if not {*at} <= {*names} or any(p.name not in names and p.default is p.empty for p in parameters):
        return None
    name = name if name.isidentifier() else "matrix"
    functions_by_name = {f"f{k}" if len(functions) > 1 else "f": f for k, f in enumerate(functions)}
    words = {n: _free(n, names) for n in (*LOCALS, *functions_by_name, *WORDS)}
    parts = [[(words[f], x) for x in at] for f in functions_by_name]
    text = text_of(name, names, parts, [], single, words=words)
    helpers = {words[n]: value for n, value in (functions_by_name | WORDS).items()}
    out = made(text, name, standard.vectorized, helpers, set())
    out.__defaults__ = tuple(p.default for p in parameters if p.name in names and p.default is not p.empty)
    return out


def _free(name: str, used: list[str]) -> str:
    while name in used:
        name += "_"
    return name
