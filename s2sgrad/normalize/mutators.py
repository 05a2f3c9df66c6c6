"""Calls that write an array become stores: `out=`, `np.copyto`, `x.fill`, `np.add.at` and their kin.

    np.multiply(a, b, out=c)   ->   c[...] = np.multiply(a, b)        x.fill(v)   ->   x[...] = v

>>> from s2sgrad.pipeline import shown
>>> print(shown('''
... def f(a, b, c):
...     np.multiply(a, b, out=c[1:])
...     np.copyto(a, c)
...     b.fill(0.0)
...     return a + np.exp(c, c)
... ''', "flatten"))
def f(a, b, c):
    t1 = np.multiply(a, b)
    c[1:] = t1
    a[...] = c
    b[...] = 0.0
    t2 = np.exp(c)
    c[...] = t2
    t3 = c
    result = a + t3
    return result
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.quote import assign, clone, constant, expression
from s2sgrad.unit import MISSING, Unit

Stores = list[gast.AST]


def stores(unit: Unit, node: gast.AST) -> Stores | None:
    """The stores that a call made for its effect stands for; None for any other expression."""
    if not isinstance(node, gast.Call):
        return None
    target = unit.resolve(node.func)
    owner, kind = _ufunc_method(unit, node)
    if kind == "at" and owner in _AT and len(node.args) == 3 and not node.keywords:
        return _accumulated(unit, owner, *node.args)
    if target is MISSING and isinstance(node.func, gast.Attribute) and node.func.attr in _METHODS:
        return _written(unit, _METHODS[node.func.attr], node, [node.func.value, *node.args])
    try:
        write = _FUNCTIONS.get(target)
    except TypeError:
        return None
    if write is not None:
        return _written(unit, write, node, node.args)
    written = into(unit, node)
    return None if written is None else [written[0]]


def into(unit: Unit, node: gast.Call) -> tuple[gast.AST, gast.AST] | None:
    """(store, what the call returns) of a call with `out=`; None where there is none."""
    place = _out(unit, node)
    if place is None:
        return None
    out = place.value if isinstance(place, gast.keyword) else place
    if isinstance(out, gast.Constant) and out.value is None:
        _without(node, place)
        return None
    if isinstance(out, gast.Tuple) and len(out.elts) == 1:
        out = out.elts[0]
    if not isinstance(out, (gast.Name, gast.Subscript)):
        unit.refuse(out, "`out=` is differentiated for a name or a section of one: bind the array to a name first")
    if any(k.arg in ("where", "casting") for k in node.keywords):
        unit.refuse(node, "`out=` together with `where=` or `casting=` is not differentiated: assign np.where(...) instead")
    _without(node, place)
    out = clone(out)
    target = clone(out) if isinstance(out, gast.Subscript) else expression("x[...]", x=out)
    target.ctx = gast.Store()
    return gast.Assign([target], node, None), out


def _without(node: gast.Call, place: gast.AST) -> None:
    node.args = [a for a in node.args if a is not place]
    node.keywords = [k for k in node.keywords if k is not place]


def _out(unit: Unit, node: gast.Call) -> gast.AST | None:
    """The `out` argument of a call of NumPy's, a keyword or an expression."""
    target = unit.resolve(node.func)
    is_method = target is MISSING and isinstance(node.func, gast.Attribute)
    if any(isinstance(a, gast.Starred) for a in node.args):
        return None
    for keyword in node.keywords:
        if keyword.arg == "out" and (is_method or _is_numpy(target)):
            return keyword
    if isinstance(target, np.ufunc):
        return node.args[target.nin] if target.nout == 1 and len(node.args) > target.nin else None
    if not _is_numpy(target):
        return None
    try:
        names = list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        return None
    place = names.index("out") if "out" in names else len(node.args)
    return node.args[place] if place < len(node.args) else None


def _is_numpy(target: Any) -> bool:
    if isinstance(target, np.ufunc) or isinstance(getattr(target, "__self__", None), np.ufunc):
        return True
    return (getattr(target, "__module__", None) or "").split(".")[0] == "numpy"


def _ufunc_method(unit: Unit, node: gast.Call) -> tuple[Any, str]:
    if isinstance(node.func, gast.Attribute):
        owner = unit.resolve(node.func.value)
        if isinstance(owner, np.ufunc):
            return owner, node.func.attr
    return None, ""


_AT = (np.add, np.subtract)


def _accumulated(unit: Unit, ufunc: np.ufunc, x: gast.AST, index: gast.AST, value: gast.AST) -> Stores:
    """`np.add.at(x, i, v)`: every occurrence of a position counts."""
    if not isinstance(x, gast.Name):
        unit.refuse(x, "`np.add.at` is differentiated for an array with a name: bind it to one first")
    if ufunc is np.subtract:
        value = gast.UnaryOp(gast.USub(), value)
    add_at = unit.helper("add_at", runtime.add_at)
    return [assign(x.id, expression("add_at(x, i, v)", add_at=add_at, x=x.id, i=index, v=value))]


# --- functions and methods that write their first argument ---


def _written(unit: Unit, write: Callable[..., Stores], node: gast.Call, arguments: list[gast.AST]) -> Stores:
    if any(isinstance(a, gast.Starred) for a in arguments) or not isinstance(arguments[0], (gast.Name, gast.Subscript)):
        unit.refuse(node, "this call writes its argument, which is differentiated for a name or a section of one only")
    first, *rest = arguments
    try:
        return write(unit, first, *rest, **{k.arg: k.value for k in node.keywords})
    except TypeError:
        unit.refuse(node, "this call writes its argument in a way that is not differentiated yet: write it as `x[i] = v`")


def _store(x: gast.AST, index: gast.AST | None, value: gast.AST) -> Stores:
    target = gast.Subscript(clone(x), constant(Ellipsis) if index is None else index, gast.Store())
    return [gast.Assign([target], value, None)]


def _numpy(unit: Unit, path: str) -> str:
    """A name under which the text reaches one of NumPy's functions."""
    return unit.helper(path, getattr(np, path))


def _copyto(unit: Unit, x: gast.AST, value: gast.AST, where: gast.AST | None = None) -> Stores:
    if where is not None:
        value = expression("where(m, v, x)", where=_numpy(unit, "where"), m=where, v=value, x=clone(x))
    return _store(x, None, value)


def _fill(unit: Unit, x: gast.AST, value: gast.AST) -> Stores:
    return _store(x, None, value)


def _sort(unit: Unit, x: gast.AST, axis: gast.AST | None = None) -> Stores:
    value = expression("sort(x)", sort=_numpy(unit, "sort"), x=clone(x))
    if axis is not None:
        value.args.append(axis)
    return _store(x, None, value)


def _put(unit: Unit, x: gast.AST, index: gast.AST, value: gast.AST) -> Stores:
    where = expression("unravel_index(i, shape(x))", unravel_index=_numpy(unit, "unravel_index"), i=index, x=clone(x),
                       shape=_numpy(unit, "shape"))  # fmt: skip
    return _store(x, where, value)


def _fill_diagonal(unit: Unit, x: gast.AST, value: gast.AST) -> Stores:
    holder = unit.temp()
    steps = expression("arange(min(shape(x)))", arange=_numpy(unit, "arange"), min=unit.builtin(min), x=clone(x),
                       shape=_numpy(unit, "shape"))  # fmt: skip
    places = gast.Tuple([gast.Name(holder, gast.Load(), None, None) for _ in range(2)], gast.Load())
    return [assign(holder, steps), *_store(x, places, value)]


def _place(unit: Unit, x: gast.AST, mask: gast.AST, value: gast.AST) -> Stores:
    return _store(x, mask, value)


_FUNCTIONS: dict[Any, Callable[..., Stores]] = {
    np.copyto: _copyto, np.put: _put, np.fill_diagonal: _fill_diagonal, np.place: _place,
}  # fmt: skip
_METHODS: dict[str, Callable[..., Stores]] = {"fill": _fill, "sort": _sort, "put": _put}
