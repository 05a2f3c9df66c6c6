"""`out=`: a call that writes its result into an array becomes a store.

    np.multiply(a, b, out=c)   ->   c[...] = np.multiply(a, b)    np.sqrt(a, out=c, where=m)   ->   c[m] = np.sqrt(a[m])

Only the elements that `where=` selects are computed: elsewhere the derivative may be infinite, and 0 times it is nan.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(a, b, c):
...     np.multiply(a, b, out=c[1:])
...     np.sqrt(c, out=c, where=b > 0.0)
...     np.sum(a, 0, None, c.T)
...     return np.exp(c, c)
... ''', "flatten"))
def f(a, b, c):
    t1 = np.multiply(a, b)
    c[1:] = t1
    t3 = b > 0.0
    t4 = np.shape(c)
    t2 = np.broadcast_to(t3, t4)
    t5 = c[t2]
    t6 = np.sqrt(t5)
    c[t2] = t6
    t8 = np.sum(a, 0)
    t7 = c.T
    t7[...] = t8
    t9 = np.exp(c)
    c[...] = t9
    result = c
    return result
"""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.asked_objects import may_ask
from s2sgrad.ir import notes
from s2sgrad.ir.forms import is_none, parts_of
from s2sgrad.ir.quote import as_target, assign, clone, constant, expression, name, nodes
from s2sgrad.ir.reach import call, module_alias
from s2sgrad.ir.signatures import by_position
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize._calls import is_literal, may_be_array
from s2sgrad.primitives import buffers, catalogue
from s2sgrad.runtime.asking import its


def into(unit: Unit, node: gast.Call) -> tuple[list[gast.AST], gast.AST] | None:
    """(stores, result) for a call with `out=`, which is removed from the call; None if it has no `out`."""
    target, method = _target(unit, node)
    if target is None or any(isinstance(a, gast.Starred) for a in node.args):
        return None
    names = by_position(target)[1:] if method else by_position(target)
    out = _repaired(node) if target is np.nan_to_num else _pop_out(node, names)
    if isinstance(out, gast.Tuple) and len(out.elts) == 1:
        out = out.elts[0]
    if _is_idle(target, out):
        return None
    _require_one(unit, node, target, out)
    held, out = _held_if_none(unit, out)
    _without_defaults(node, target, names)
    if target is np.take:
        _without_mode(unit, node, method)
    if catalogue.of(target).accumulates:
        _without_dtype(unit, node, method, names)
    mask = _mask(unit, node, target)
    early = catalogue.of(target).joins or buffers.sums_rows(target) or buffers.reads_later(target)
    if mask is None and not early and isinstance(out, gast.Subscript) and _is_section(out.slice):
        store = gast.Assign([as_target(out)], node, None)
        notes.CASTS.put(store)
        return [store], clone(out)
    place = _Held(unit, out)
    if mask is not None:
        return [_selected(unit, node, place, mask)], place()
    checks = [_apart(unit, node, place)] if early else []
    store = gast.Assign([as_target(expression("x[...]", x=place()))], node, None)
    notes.CASTS.put(store)
    if held or getattr(out, "id", None) in _optional(unit, node):
        stores, result = _if_given(unit, node, out, [*checks, store])
        return [*held, *stores], result
    return [*checks, store], _given_back(unit, node, target, place())


def _is_idle(target: Any, out: gast.AST | None) -> bool:
    """Whether nothing is written: there is no `out`, or the function leaves it alone."""
    return out is None or is_none(out) or buffers.leaves_out(target)


def _given_back(unit: Unit, node: gast.Call, target: Any, out: gast.AST) -> gast.AST:
    """What a call returns that has written `out`: `np.nan_to_num` gives a number for an array without axes, and `out` itself
    for others, of which `x[()]` is a view."""
    if target is not np.nan_to_num:
        return out
    if may_ask([unit.primal.function]):
        unit.refuse(node, "this gives its argument itself, and the program asks which object a value is, which cannot be "
                          "followed: write `x[...] = np.nan_to_num(x)`")  # fmt: skip
    return expression("x[()]", x=out)


def _apart(unit: Unit, node: gast.Call, place: _Held) -> gast.AST:
    """The check that a function which writes before it has read all of its arguments writes none of them."""
    if not node.args:
        unit.refuse(node, "`out=` of this function is not differentiated where its arrays are a keyword: give them first")
    arrays = [_Held(unit, arg) for arg in node.args]
    check = call(unit, "apart", runtime.apart, constant(node.lineno), place(), *(array() for array in arrays))
    node.args[:] = [array() for array in arrays]
    return gast.Expr(check)


def _require_one(unit: Unit, node: gast.Call, target: Any, out: gast.AST) -> None:
    """Raise Unsupported if the result cannot be written by one store."""
    if isinstance(out, gast.Tuple) or (isinstance(target, np.ufunc) and target.nout > 1):
        unit.refuse(out, "`out=` of several results is not differentiated: assign the results to names")
    if not isinstance(out, gast.Name) and any(isinstance(n, gast.NamedExpr) for n in nodes(node, out)):
        unit.refuse(out, "`:=` in a call with `out=` is not differentiated: assign before it")


class _Held:
    """An expression used in several places: evaluated at the first, where it is bound to a name for the others."""

    def __init__(self, unit: Unit, value: gast.AST) -> None:
        self.value: gast.AST | None = None if isinstance(value, gast.Name) else value
        self.name = value.id if isinstance(value, gast.Name) else unit.temp()

    def __call__(self) -> gast.AST:
        value, self.value = self.value, None
        return name(self.name) if value is None else gast.NamedExpr(name(self.name, store=True), value)


def _is_section(index: gast.AST) -> bool:
    """Whether an index always makes a view: slices, numbers, None and ..., with at least one slice or ellipsis."""
    parts = parts_of(index)
    plain = all(isinstance(p, gast.Slice) or (isinstance(p, gast.Constant) and not isinstance(p.value, bool)) for p in parts)
    return plain and any(isinstance(p, gast.Slice) or p.value is Ellipsis for p in parts)


# --- finding the argument ---


def _target(unit: Unit, node: gast.Call) -> tuple[Any, bool]:
    """The NumPy function that may have `out`, and whether it is called as an array method; None for any other callee."""
    target = unit.resolve(node.func)
    if target is MISSING:
        function = _of_method(node.func.attr) if isinstance(node.func, gast.Attribute) else None
        return (None, False) if function is None or not may_be_array(unit, node.func.value) else (function, True)
    if isinstance(target, np.ufunc) or isinstance(its(target, "__self__", None), np.ufunc):
        return target, False
    module = its(target, "__module__", None) or ""
    return (target if isinstance(module, str) and module.split(".")[0] == "numpy" else None), False


def _of_method(name: str) -> Any:
    """The function with `out` for an array method, which lacks the first argument; None for other methods."""
    function = getattr(np, name, None) if hasattr(np.ndarray, name) else None
    takes = callable(function) and not isinstance(function, np.ufunc) and "out" in by_position(function)
    return function if takes else None


def _pop_out(node: gast.Call, names: tuple[str, ...]) -> gast.AST | None:
    """The value of `out`, removed from the call."""
    for keyword in node.keywords:
        if keyword.arg == "out":
            node.keywords.remove(keyword)
            return keyword.value
    if "out" not in names or len(node.args) <= names.index("out"):
        return None
    place = names.index("out")
    later = zip(names[place + 1 :], node.args[place + 1 :], strict=False)
    node.keywords += [gast.keyword(n, value) for n, value in later]
    out = node.args[place]
    del node.args[place:]
    return out


def _repaired(node: gast.Call) -> gast.AST | None:
    """The array that `np.nan_to_num(x, copy=False)` writes; `copy` is removed from the call."""
    if len(node.args) > 1:
        names = by_position(np.nan_to_num)
        node.keywords += [gast.keyword(n, value) for n, value in zip(names[1:], node.args[1:], strict=False)]
        del node.args[1:]
    for keyword in node.keywords:
        if keyword.arg == "copy" and isinstance(keyword.value, gast.Constant) and node.args:
            node.keywords.remove(keyword)
            return None if keyword.value.value else clone(node.args[0])
    return None


def _optional(unit: Unit, node: gast.Call) -> set[str]:
    """The names that may be None at `node`: parameters with that default that are not bound before, and what is bound to it
    anywhere."""
    a = unit.primal.tree.args
    positional = a.posonlyargs + a.args
    pairs = [*zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True),
             *zip(a.kwonlyargs, a.kw_defaults, strict=True)]  # fmt: skip
    missing = {p.id for p, default in pairs if is_none(default)}
    emptied = {n for s in nodes(unit.primal.tree) if isinstance(s, gast.Assign) for n in _emptied(s)}
    if not missing:
        return emptied
    line = getattr(node, "lineno", 0)
    stores = (n for n in nodes(unit.primal.tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store))
    return missing - {n.id for n in stores if n.lineno < line} | emptied


def _emptied(statement: gast.Assign) -> list[str]:
    """The names that a statement binds to None: `x = None`, `x, y = None, 0.0`."""
    pairs = [(target, statement.value) for target in statement.targets]
    for target, value in pairs:  # grows
        if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple):
            pairs += zip(target.elts, value.elts, strict=False)
    return [t.id for t, value in pairs if isinstance(t, gast.Name) and _may_be_none(value)]


def _may_be_none(value: gast.AST) -> bool:
    """Whether an expression is None, or chooses between None and others."""
    if isinstance(value, gast.IfExp):
        return _may_be_none(value.body) or _may_be_none(value.orelse)
    if isinstance(value, gast.BoolOp):
        return any(map(_may_be_none, value.values))
    return is_none(value)


def _held_if_none(unit: Unit, out: gast.AST) -> tuple[list[gast.AST], gast.AST]:
    """An expression that may be None, bound to a name, and that name; none and the expression for others."""
    if isinstance(out, gast.Name) or not _may_be_none(out):
        return [], out
    holder = unit.temp()
    return [assign(holder, out)], name(holder)


def _if_given(unit: Unit, node: gast.Call, out: gast.Name, stores: list[gast.AST]) -> tuple[list[gast.AST], gast.AST]:
    """The stores if the parameter `out` is an array; a new array if it is None."""
    result = unit.temp()
    fresh, same = assign(result, clone(node)), assign(result, clone(out))
    return [gast.If(expression("x is None", x=out.id), [fresh], [*stores, same])], name(result)


# --- the other options ---


def _without_defaults(node: gast.Call, target: Any, names: tuple[str, ...]) -> None:
    """Drop options that are at their defaults, and those that only affect how the result is stored."""
    defaults: dict[str, Any] = {"casting": Ellipsis, "order": Ellipsis, "subok": Ellipsis, "dtype": None, "signature": None}
    if not isinstance(target, np.ufunc):
        defaults = {"casting": Ellipsis, "axis": 0, "dtype": None}  # for functions without a signature
        with contextlib.suppress(TypeError, ValueError):
            defaults |= {p.name: p.default for p in inspect.signature(target).parameters.values()}

    def says_nothing(key: str, value: gast.AST) -> bool:
        if not isinstance(value, gast.Constant) or key not in defaults:
            return False
        default = defaults[key]
        return default is Ellipsis or (type(value.value) is type(default) and value.value == default)

    node.keywords = [k for k in node.keywords if not says_nothing(k.arg, k.value)]
    while not isinstance(target, np.ufunc) and 0 < len(node.args) <= len(names):
        if not says_nothing(names[len(node.args) - 1], node.args[-1]):
            break
        node.args.pop()


def _without_dtype(unit: Unit, node: gast.Call, method: bool, names: tuple[str, ...]) -> None:
    """`np.cumsum(x, dtype=float)` as `np.cumsum(np.array(x, dtype=float))`."""
    place = names.index("dtype")
    dtypes = [k for k in node.keywords if k.arg == "dtype"]
    dtype = dtypes[0].value if dtypes else node.args[place] if len(node.args) == place + 1 else None
    if dtype is None or unit.resolve(dtype) not in (float, np.float64):
        return
    node.keywords = [k for k in node.keywords if k not in dtypes]
    if not dtypes:
        node.args.pop()
    array = expression("np.array(x, dtype=kind)", np=module_alias(unit, np), x=_first(node, method), kind=dtype)
    _set_first(node, method, array)


def _without_mode(unit: Unit, node: gast.Call, method: bool) -> None:
    """`np.take(x, i, mode=m)` as `np.take(x, j)`, where j are the indices i as the mode maps them."""
    keywords = {k.arg: k.value for k in node.keywords}
    if "mode" not in keywords:
        return
    arguments = dict(zip(by_position(np.take)[1 if method else 0 :], node.args, strict=False)) | keywords
    array, axis, indices = _Held(unit, _first(node, method)), arguments.get("axis"), arguments["indices"]
    np_ = module_alias(unit, np)
    _set_first(node, method, array())
    count = expression("np.size(x)", np=np_, x=array())
    if axis is not None and not is_none(axis):
        count = expression("np.shape(x)[n]", np=np_, x=array(), n=axis)
    places = expression("np.take(np.arange(n), i, mode=m)", np=np_, n=count, i=indices, m=keywords["mode"])
    node.args = [places if a is indices else a for a in node.args]
    node.keywords = [k for k in node.keywords if k.arg != "mode"]
    for keyword in node.keywords:
        if keyword.value is indices:
            keyword.value = places


def _first(node: gast.Call, method: bool) -> gast.AST:
    return node.func.value if method else node.args[0]


def _set_first(node: gast.Call, method: bool, value: gast.AST) -> None:
    if method:
        node.func.value = value
    else:
        node.args[0] = value


# --- where ---


def _mask(unit: Unit, node: gast.Call, target: Any) -> gast.AST | None:
    """The `where=` of an elementwise function, removed from the call."""
    for keyword in node.keywords:
        if keyword.arg == "where" and (isinstance(target, np.ufunc) or target is np.clip):
            if not isinstance(target, np.ufunc) or target.signature is not None:
                unit.refuse(keyword.value, "`where=` of this function is not differentiated: assign np.where(...) instead")
            node.keywords.remove(keyword)
            return None if isinstance(keyword.value, gast.Constant) and keyword.value.value is True else keyword.value
    return None


def _selected(unit: Unit, node: gast.Call, place: _Held, mask: gast.AST) -> gast.AST:
    """The store of the results for the selected elements."""
    np_ = module_alias(unit, np)

    def wide(value: gast.AST) -> gast.AST:
        return expression("np.broadcast_to(v, np.shape(x))", np=np_, v=value, x=place())

    chosen = None
    for k, operand in enumerate(node.args):
        if is_literal(operand):
            continue
        if place.value is None and isinstance(operand, gast.Name) and operand.id == place.name:
            chosen = chosen or _Held(unit, wide(mask))
            node.args[k] = expression("x[m]", x=operand, m=chosen())
            continue
        each = _Held(unit, operand)  # selected by index, because a view must not outlive a write
        source_values = each()
        places = wide(expression("np.reshape(np.arange(np.size(v)), np.shape(v))", np=np_, v=each()))
        chosen = chosen or _Held(unit, wide(mask))
        node.args[k] = expression("np.take(v, i[m])", np=np_, v=source_values, i=places, m=chosen())
    chosen = chosen or _Held(unit, wide(mask))
    return gast.Assign([gast.Subscript(place(), chosen(), gast.Store())], node, None)
