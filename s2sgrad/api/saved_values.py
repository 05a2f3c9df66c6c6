"""Literals for values: the constants and closures of a function in a saved module.

np.array([1.0, 2.0])      ->      np.array([1.0, 2.0])
float("inf")              ->      float("inf")
"""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGEST = 1000  # elements of a literal array
_DEEPEST = 20  # nesting of containers, which may be cyclic
_PLAIN = (bool, int, str, bytes, type(None), type(Ellipsis))


def literal(value: Any, depth: int = 0) -> str | None:
    """The literal of a value, with NumPy as `np`; None for a value without literal.

    >>> literal({"a": (1, float("nan"))}), literal(np.float32(0.5)), literal(np.zeros((0, 2)))
    ("{'a': (1, float('nan'))}", 'np.float32(0.5)', "np.zeros((0, 2), dtype='float64')")
    >>> literal(object()), literal(np.zeros(5000))
    (None, None)
    """
    if type(value) in _PLAIN:
        return repr(value)
    if type(value) is float:
        return repr(value) if np.isfinite(value) else f"float({repr(value)!r})"
    if type(value) is slice:
        return _call("slice({})", (value.start, value.stop, value.step), depth)
    if type(value) is range:
        return repr(value)
    if type(value) in (list, tuple, set, frozenset, dict):
        return _container(value, depth) if depth < _DEEPEST else None
    if isinstance(value, np.generic) and value.dtype.kind in "fiub":
        return f"np.{type(value).__name__}({literal(value.item())})" if value.dtype != np.longdouble else None
    if type(value) is np.dtype and value.kind in "fiub":
        return f"np.dtype({value.name!r})"
    if type(value) is np.ndarray and value.dtype.kind in "fiub" and value.dtype != np.longdouble and value.size <= _LARGEST:
        if not value.size:
            return f"np.zeros({value.shape}, dtype={value.dtype.name!r})"
        return f"np.array({literal(value.tolist())}, dtype={value.dtype.name!r})"
    return None


def _container(value: Any, depth: int) -> str | None:
    if type(value) is dict:
        keys, items = ([literal(v, depth + 1) for v in part] for part in (value, value.values()))
        if None in keys or None in items:
            return None
        return "{" + ", ".join(f"{k}: {v}" for k, v in zip(keys, items, strict=True)) + "}"
    if type(value) is tuple:
        return _call("({},)" if len(value) == 1 else "({})", value, depth)
    if type(value) is list:
        return _call("[{}]", value, depth)
    if not value:
        return f"{type(value).__name__}()"
    return _call("{{{}}}" if type(value) is set else "frozenset({{{}}})", sorted(value, key=repr), depth)


def _call(form: str, items: Any, depth: int) -> str | None:
    written = [text for v in items if (text := literal(v, depth + 1)) is not None]
    return form.format(", ".join(written)) if len(written) == len(items) else None
