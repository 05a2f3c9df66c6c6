"""Calls that write an array become stores: `np.copyto`, `np.put`, `x.fill`, `x.sort`, ..

    x.fill(v)   ->   x[...] = v                np.multiply(a, b, out=c)   ->   c[...] = np.multiply(a, b)

The target is a variable, or is bound to one first, so that later passes know which memory it is.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(a, b, c):
...     np.copyto(a, c)
...     b[1:].fill(0.0)
...     a.T.sort(axis=0, kind="stable")
...     return a + np.exp(c, out=c)
... ''', "flatten"))
def f(a, b, c):
    a[...] = c
    t1 = b[1:]
    t1[...] = 0.0
    t2 = a.T
    t3 = np.sort(t2, axis=0)
    t2[...] = t3
    t4 = np.exp(c)
    c[...] = t4
    result = a + c
    return result
"""

from __future__ import annotations

import functools
import inspect
import operator
import random
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.ir import notes
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import assign, clone, constant, expression, name, nodes, statements
from s2sgrad.ir.reach import call, module_alias, numpy_function
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize import containers, out_arguments, ufunc_at
from s2sgrad.normalize._calls import callee, is_literal, may_be_array
from s2sgrad.primitives import catalogue, libraries, spellings
from s2sgrad.primitives.catalogue import Gives, may_write
from s2sgrad.runtime import checks
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.outside import distinct

Stores = list[gast.AST]
Writer = Callable[..., Stores]


def stores(unit: Unit, node: gast.AST) -> Stores | None:
    """The stores for a call whose value is unused; None for any other expression."""
    if not isinstance(node, gast.Call):
        return None
    if unit.primal.is_generated and unit.resolve(node.func) is distinct:
        return []  # added again by the compiler
    if unit.resolve(node.func) is runtime.put_back:  # in generated text
        return _written(unit, node, _put_back, node.args)
    found = _writer(unit, node)
    if found is not None:
        return _written(unit, node, *found)
    _refuse_unknown(unit, node)
    for part in nodes(node):
        if part is not node and isinstance(part, gast.Call):
            _refuse_value(unit, part)
    written = out_arguments.into(unit, node)
    return None if written is None else written[0]


def _put_back(unit: Unit, d: gast.Name, key: gast.AST, old: gast.AST) -> Stores:
    return [assign(d.id, call(unit, "put_back", runtime.put_back, d, key, old))]


def into(unit: Unit, node: gast.Call, atom: containers.Atom) -> containers.Written | None:
    """(stores, result) of a call with `out=`, or of a container method; None for any other call."""
    _refuse_value(unit, node)
    by_out = out_arguments.into(unit, node)
    return containers.written(unit, node, atom) if by_out is None else by_out


def _refuse_value(unit: Unit, node: gast.Call) -> None:
    """Refuse a writer that returns None where its value is used."""
    _refuse_unknown(unit, node)
    if _writer(unit, node) is not None:
        unit.refuse(node, f"`{callee(node.func)}` writes an array and returns None: make it a statement of its own")


def _writer(unit: Unit, node: gast.Call) -> tuple[Writer, list[gast.AST]] | None:
    """The function that makes the stores of a call, and the call's arguments, the array first."""
    target = unit.resolve(node.func)
    if target is MISSING:
        method = node.func.attr if isinstance(node.func, gast.Attribute) else None
        owners = (np.ndarray, *libraries.DRAWING)
        write = next(filter(None, (_FUNCTIONS.get(getattr(cls, method or "", None)) for cls in owners)), None)
        if write is _sort and any(k.arg in ("key", "reverse") for k in node.keywords):
            return None  # of a list
        if write is _partition and node.args and isinstance(getattr(node.args[0], "value", None), str):
            return None  # of a text
        return (write, [node.func.value, *node.args]) if write is not None and may_be_array(unit, node.func.value) else None
    ufunc = its(target, "__self__", None)
    if isinstance(ufunc, np.ufunc) and target.__name__ == "at":
        return functools.partial(ufunc_at.stores, ufunc=ufunc), node.args
    write = _get(_FUNCTIONS, target)
    return None if write is None else (write, node.args)


def _get(table: dict[Any, Any], target: Any) -> Any:
    try:
        return table.get(target)
    except TypeError:
        return None


def _written(unit: Unit, node: gast.Call, write: Writer, arguments: list[gast.AST]) -> Stores:
    """The stores of one call, after the assignments that evaluate its arguments once."""
    shown = callee(node.func)
    if any(isinstance(n, gast.NamedExpr) for n in nodes(node)):
        unit.refuse(node, f"`:=` in a call of `{shown}` is not differentiated: assign before it")
    try:
        bound = inspect.signature(write).bind(unit, *arguments, **{k.arg: k.value for k in node.keywords})
        if any(isinstance(a, gast.Starred) for a in arguments):
            raise TypeError
    except TypeError:
        unit.refuse(node, f"`{shown}` writes an array in a way that is not differentiated yet: write it as `x[i] = v`")
    setup: Stores = []
    for parameter, value in list(bound.arguments.items())[1:]:
        if not isinstance(value, gast.Name) and not is_literal(value):
            holder = unit.temp()
            setup.append(assign(holder, value))
            bound.arguments[parameter] = name(holder)
    if not isinstance(bound.args[1], gast.Name):
        unit.refuse(node, f"`{shown}` writes its argument, which is a constant")
    return setup + write(*bound.args, **bound.kwargs)


def _value(unit: Unit, node: gast.AST | None, default: Any, what: str) -> Any:
    """The value of an option that must be a constant."""
    if node is None:
        return default
    if not isinstance(node, gast.Constant):
        unit.refuse(node, f"`{what}=` of a call that writes an array is only known at run time: pass a constant")
    return node.value


def _text(unit: Unit, text: str, **holes: Any) -> Stores:
    if "np." in text:
        holes["np"] = module_alias(unit, np)
    return statements(text, **holes)


def _repeated(unit: Unit, value: gast.AST, turns: str, **holes: Any) -> gast.AST:
    """Entries of `value`, which is repeated cyclically: those at the positions `turns`, an array of integers."""
    if is_literal(value):
        return value
    (statement,) = _text(unit, f"np.take(v, {turns} % np.size(v))", v=value, **holes)
    return statement.value


# --- functions and methods that write their first argument: parameters have NumPy's names ---


def _copyto(
    unit: Unit, dst: gast.AST, src: gast.AST, casting: gast.AST | None = None, where: gast.AST | None = None
) -> Stores:
    if where is None or (isinstance(where, gast.Constant) and where.value is True):
        return statements("x[...] = v", x=dst, v=src)
    return _text(unit, "x[...] = np.where(m, v, x)", x=dst, m=where, v=src)


def _fill(unit: Unit, x: gast.AST, value: gast.AST) -> Stores:
    return statements("x[...] = v", x=x, v=value)


def _sort(
    unit: Unit,
    x: gast.AST,
    axis: gast.AST | None = None,
    kind: gast.AST | None = None,
    order: gast.AST | None = None,
    *,
    stable: gast.AST | None = None,
) -> Stores:
    if _value(unit, order, None, "order") is not None:
        unit.refuse(order, "sorting by fields is not differentiated: sort a plain array")
    if axis is None:
        return _text(unit, "x[:] = np.sort(x)", x=x)  # of an array, or of a list: `typed.list_sections`
    return _text(unit, "x[...] = np.sort(x, axis=n)", x=x, n=axis)


def _partition(unit: Unit, x: gast.AST, kth: gast.AST, axis: gast.AST | None = None, kind: gast.AST | None = None,
               order: gast.AST | None = None) -> Stores:  # fmt: skip
    if _value(unit, order, None, "order") is not None:
        unit.refuse(order, "sorting by fields is not differentiated: sort a plain array")
    return _text(unit, "x[...] = np.partition(x, k, axis=n)", x=x, k=kth, n=axis or constant(-1))


def _put(unit: Unit, a: gast.AST, ind: gast.AST, v: gast.AST, mode: gast.AST | None = None) -> Stores:
    places = expression("np.take(np.arange(np.size(x)), np.ravel(i))", x=a, i=ind, np=module_alias(unit, np))
    if _value(unit, mode, "raise", "mode") != "raise":
        places.keywords.append(gast.keyword("mode", mode))
    p = unit.temp()
    value = _repeated(unit, v, "np.arange(np.size(p))", p=p)
    return [assign(p, places), *_text(unit, "x[np.unravel_index(p, np.shape(x))] = v", x=a, p=p, v=value)]


def _put_method(unit: Unit, x: gast.AST, indices: gast.AST, values: gast.AST, mode: gast.AST | None = None) -> Stores:
    return _put(unit, x, indices, values, mode)


def _put_along_axis(unit: Unit, arr: gast.AST, indices: gast.AST, values: gast.AST, axis: gast.AST) -> Stores:
    p = unit.temp()
    if is_none(axis):
        values = _repeated(unit, values, "np.arange(np.size(p))", p=p)
    return _text(unit, "p = np.take_along_axis(np.reshape(np.arange(np.size(x)), np.shape(x)), i, axis=n)\n"
                       "x[np.unravel_index(p, np.shape(x))] = v", x=arr, p=p, i=indices, n=axis, v=values)  # fmt: skip


def _place(unit: Unit, arr: gast.AST, mask: gast.AST, vals: gast.AST) -> Stores:
    value = _repeated(unit, vals, "np.arange(np.count_nonzero(m))", m=mask)
    store = _text(unit, "x[np.nonzero(np.reshape(m, np.shape(x)))] = v", x=arr, m=mask, v=value)
    if is_literal(vals):
        return store
    line = constant(getattr(mask, "lineno", 0))  # NumPy reads them while it writes
    return [gast.Expr(call(unit, "apart", checks.apart, line, clone(arr), clone(vals))), *store]


def _putmask(unit: Unit, a: gast.AST, mask: gast.AST, values: gast.AST) -> Stores:
    value = _repeated(unit, values, "np.flatnonzero(m)", m=mask)
    return _text(unit, "x[np.nonzero(np.reshape(m, np.shape(x)))] = v", x=a, m=mask, v=value)


def _fill_diagonal(unit: Unit, a: gast.AST, val: gast.AST, wrap: gast.AST | None = None) -> Stores:
    if _value(unit, wrap, False, "wrap"):
        p = unit.temp()
        value = _repeated(unit, val, "np.arange(np.size(p))", p=p)
        return _text(unit, "p = np.arange(0, np.size(x), 1 + np.sum(np.cumprod(np.shape(x)[1:])))\n"
                           "x[np.unravel_index(p, np.shape(x))] = v", x=a, p=p, v=value)  # fmt: skip
    n = unit.temp()
    value = _repeated(unit, val, "np.arange(n)", n=n)
    return _text(unit, "if np.ndim(x) < 2:\n    raise ValueError('array must be at least 2-d')\n"
                       "n = min(np.shape(x))\nx[np.diag_indices(n, np.ndim(x))] = v",
                 x=a, n=n, v=value, min=unit.builtin(min), ValueError=unit.builtin(ValueError))  # fmt: skip


def _setitem(unit: Unit, x: gast.AST, index: gast.AST, value: gast.AST) -> Stores:
    return statements("x[i] = v", x=x, i=index, v=value)


def _operator(operation: Any) -> Writer:
    """`operator.imul(x, v)` of an array."""

    def write(unit: Unit, x: gast.AST, v: gast.AST) -> Stores:
        (statement,) = statements("x[...] = x", x=x)
        statement.value = gast.BinOp(clone(x), operation(), v)
        notes.CASTS.put(statement)
        return [statement]

    return write


def _shuffle(unit: Unit, x: gast.AST, draw: gast.AST, generator: gast.AST | None = None) -> Stores:
    """Draws a permutation of the rows."""
    order, line = unit.temp(), constant(getattr(x, "lineno", 0))
    asked = call(unit, "shuffled", checks.shuffled, x, generator or constant(None), line)
    drawn = gast.Call(draw, [expression("f(x)", f=unit.builtin(len), x=clone(x))], [])
    return [gast.Expr(asked), assign(order, drawn), *_text(unit, "x[...] = np.take(x, i, axis=0)", x=x, i=order)]


def _shuffle_by_module(unit: Unit, x: gast.AST) -> Stores:
    return _shuffle(unit, x, gast.Attribute(numpy_function(unit, "random"), "permutation", gast.Load()))


def _shuffle_by_generator(unit: Unit, generator: gast.AST, x: gast.AST) -> Stores:
    return _shuffle(unit, x, gast.Attribute(clone(generator), np.random.permutation.__name__, gast.Load()), generator)


_SHUFFLING = (np.random.Generator.shuffle, np.random.RandomState.shuffle)
_FUNCTIONS: dict[Any, Writer] = {
    np.copyto: _copyto, np.put: _put, np.fill_diagonal: _fill_diagonal, np.place: _place, np.putmask: _putmask,
    np.put_along_axis: _put_along_axis, np.ndarray.sort: _sort, np.ndarray.fill: _fill, np.ndarray.put: _put_method,
    np.ndarray.partition: _partition,
    np.ndarray.__setitem__: _setitem, operator.setitem: _setitem, np.random.shuffle: _shuffle_by_module,
    **dict.fromkeys(_SHUFFLING, _shuffle_by_generator),
}  # fmt: skip
for _operation in (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.FloorDiv, gast.Mod, gast.Pow):
    _spelled = "i" + spellings.OPERATORS[_operation.__name__][1].__name__
    _FUNCTIONS[getattr(operator, _spelled)] = _FUNCTIONS[getattr(np.ndarray, f"__{_spelled}__")] = _operator(_operation)

# --- writers that are refused, however they are called ---

_BUILD = "build a new array"
_OPERATOR = "write the operator itself, as in `x += e`"
_REFUSED: dict[Any, str] = {
    random.shuffle: _BUILD,
    np.ndarray.resize: "use np.resize, np.pad or a slice", np.ndarray.setfield: _BUILD, np.ndarray.setflags: "leave it out",
    operator.delitem: _BUILD,
}  # fmt: skip


def _way_out(function: Any) -> str | None:
    """The alternative to a writer that is not followed; None for anything else."""
    message = _get(_REFUSED, function)
    record = catalogue.of(function)
    in_place = record.writes and record.gives is Gives.OPERATOR
    return _OPERATOR if message is None and in_place else message


def _refuse_unknown(unit: Unit, node: gast.Call) -> None:
    target = unit.resolve(node.func)
    way = _way_out(target)
    if target is MISSING and isinstance(node.func, gast.Attribute) and may_be_array(unit, node.func.value):
        owners = (np.ndarray, *libraries.DRAWING)
        way = next(filter(None, (_way_out(getattr(cls, node.func.attr, None)) for cls in owners)), None)
    if way is not None:
        unit.refuse(node, f"`{callee(node.func)}` writes what it is given, which is not differentiated: {way}")


def refuse_kept(unit: Unit, node: gast.Attribute) -> None:
    """Refuse `h = x.sort`, for the writes of `h()` would be missed."""
    if may_write(node.attr):
        unit.refuse(node, f"the method `{node.attr}` is kept, and what its calls write cannot be followed: call it at once")
