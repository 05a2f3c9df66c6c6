"""Arguments in the text of a run: expressions for their leaves, and cotangents in their structure.

p = {"w": w, "b": 1.0}      ->      leaves "p['w']", "p['b']"; the gradient is {'w': p_w_bar, 'b': p_b_bar}
"""

from __future__ import annotations

import inspect
from typing import Any

from s2sgrad.recorded.derivatives import is_float
from s2sgrad.runtime.structure import attributes_of


def leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    """The leaves of an argument, with the expressions for them.

    >>> leaves({"w": 1.0, "b": [2.0, 3]}, "p")
    [("p['w']", 1.0), ("p['b'][0]", 2.0)]
    """
    if is_float(value):
        return [(path, value)]
    if isinstance(value, (list, tuple)):
        return [leaf for k, item in enumerate(value) for leaf in leaves(item, f"{path}[{k}]")]
    if isinstance(value, dict):
        return [leaf for k, item in value.items() for leaf in leaves(item, f"{path}[{k!r}]")]
    held = attributes_of(value)
    return [leaf for k, item in (held or {}).items() for leaf in leaves(item, f"{path}.{k}")]


def structure(value: Any, ready: Any) -> str:
    """The cotangents of an argument's leaves, in its structure; None for what is no float."""
    if is_float(value):
        bar: str = next(ready)
        return bar
    if isinstance(value, list):
        return f"[{', '.join(structure(item, ready) for item in value)}]"
    if isinstance(value, tuple):
        return f"({', '.join(structure(item, ready) for item in value)}{',' if len(value) == 1 else ''})"
    held = value if isinstance(value, dict) else attributes_of(value)
    if held is None:
        return "None"
    return f"{{{', '.join(f'{k!r}: {structure(item, ready)}' for k, item in held.items())}}}"


def named_arguments(
    parameters: list[inspect.Parameter], args: tuple, keywords: dict[str, Any]
) -> dict[int | str, tuple[str, Any]]:
    """(expression, value) of each argument, by position or keyword."""
    out: dict[int | str, tuple[str, Any]] = {}
    position = 0
    for p in parameters:
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and position < len(args) and p.name not in keywords:
            out[position] = p.name, args[position]
            position += 1
        elif p.kind is p.VAR_POSITIONAL:
            out |= {position + k: (f"{p.name}[{k}]", v) for k, v in enumerate(args[position:])}
            position = len(args)
        elif p.kind is p.VAR_KEYWORD:
            out |= {k: (f"{p.name}[{k!r}]", v) for k, v in keywords.items() if k not in out}
        elif p.name in keywords:
            out[p.name] = p.name, keywords[p.name]
    return out


def value_of(p: inspect.Parameter, args: tuple, keywords: dict[str, Any], parameters: list[inspect.Parameter]) -> Any:
    """The value of a parameter."""
    by_position = [q.name for q in parameters if q.kind in (q.POSITIONAL_ONLY, q.POSITIONAL_OR_KEYWORD)]
    if p.kind is p.VAR_POSITIONAL:
        return args[len(by_position) :]
    if p.kind is p.VAR_KEYWORD:
        return {k: v for k, v in keywords.items() if k not in {q.name for q in parameters}}
    return keywords[p.name] if p.name in keywords else args[by_position.index(p.name)]
