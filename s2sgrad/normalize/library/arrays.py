"""NumPy functions whose rules expect another form of the arguments, or that call a function.

    np.clip(x, min=0.0)       ->      np.clip(x, 0.0, None)
    np.ndarray(4, buffer=x)   ->      np.frombuffer(x)[:np.prod(4)].reshape(4)
    np.vectorize(f)(x)        ->      vectorized(f, None, x)
    np.linalg.cond(x, 1)      ->      condition(x, 1)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     return np.clip(x, max=1.0) + x.clip(min=0.5)
... ''', "library_desugaring"))
def f(x):
    return np.clip(x, None, 1.0) + x.clip(0.5, None)
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import standard
from s2sgrad.ir.quote import clone, constant, expression, name, nodes, placed
from s2sgrad.ir.reach import module_alias
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.behaviour import is_pure
from s2sgrad.normalize._calls import may_have_method
from s2sgrad.normalize.library.table import LibraryCall, desugars, desugars_instances, desugars_method
from s2sgrad.primitives import catalogue


@desugars(np.clip)
def _clip(call: LibraryCall) -> None:
    if call.words.keys() & {"min", "max"} and len(call.args) < 3:
        bounds = [call.words.pop(word, constant(None)) for word in ("min", "max")]
        whole, *bounds_given = call.args or [None]
        call.node.args = [*([whole] if call.args else []), *[*bounds_given, *bounds][:2]]
        call.node.keywords = [gast.keyword(w, v) for w, v in call.words.items()]


@desugars_method(np.ndarray, "clip")
def _clip_method(call: LibraryCall) -> None:
    if call.words.keys() <= {"min", "max"} and len(call.args) < 2:
        least = call.args[0] if call.args else call.words.get("min", constant(None))
        call.node.args, call.node.keywords = [least, call.words.get("max", constant(None))], []


@desugars(np.ndarray)
def _ndarray(call: LibraryCall) -> gast.AST | None:
    """A view of the doubles at the beginning of a buffer, or new memory."""
    if len(call.args) != 1 or not call.words.keys() <= {"buffer"}:
        return None
    shape, buffer, module = call.args[0], call.words.get("buffer"), module_alias(call.unit, np)
    if buffer is None:
        return call.written("np.empty(shape)", np=module, shape=shape)
    if any(isinstance(n, (gast.Call, gast.NamedExpr)) for n in nodes(shape)):
        return None
    return call.written("np.frombuffer(b)[:np.prod(shape)].reshape(shape)", np=module, b=buffer, shape=shape)


_AT_LEAST = {1: "np.atleast_1d(x)", 2: "np.atleast_2d(x)"}


@desugars(np.array)
def _array(call: LibraryCall) -> gast.AST | None:
    """`np.array(x, ndmin=2)` as `np.atleast_2d(np.array(x))`."""
    least = getattr(call.words.get("ndmin"), "value", None)
    if type(least) is not int or least not in _AT_LEAST:
        return None
    call.node.keywords = [k for k in call.node.keywords if k.arg != "ndmin"]
    return call.written(_AT_LEAST[least], x=call.node, np=module_alias(call.unit, np))


@desugars(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def _each_at_least(call: LibraryCall) -> gast.AST | None:
    """`np.atleast_2d(a, b)` as `(np.atleast_2d(a), np.atleast_2d(b))`, a list in old versions of NumPy."""
    if len(call.args) < 2 or call.words or call.is_spread:
        return None
    items = [gast.Call(clone(call.node.func), [a], []) for a in call.args]
    shown = gast.Tuple if isinstance(np.atleast_1d(0, 0), tuple) else gast.List
    return placed(call.node, shown(items, gast.Load()))


@desugars(np.ndenumerate)
def _ndenumerate(call: LibraryCall) -> gast.AST | None:
    if len(call.args) != 1 or call.words or not call.at_once:
        return None
    (array,) = call.args
    bound = [n for n in call.scope.nodes if isinstance(n, gast.Name) and n.id == getattr(array, "id", "")
             and not isinstance(n.ctx, gast.Load)]  # fmt: skip
    if not isinstance(array, gast.Name) or len(bound) > 1:
        return call.calling(standard.places, [array])
    return call.written("((k, x[k]) for k in np.ndindex(np.shape(x)))", k=call.unit.local("place"), x=array,
                        np=module_alias(call.unit, np))  # fmt: skip


def raveled(unit: Unit, node: gast.AST) -> gast.AST:
    """`x.flat`, where it is indexed or iterated from the start, as `np.ravel(x)`; any other expression unchanged.

    >>> from s2sgrad.driver.pipeline import shown
    >>> print(shown('''
    ... def f(m):
    ...     return sum(v * v for v in m.flat) * m.flat[2]
    ... ''', "library_desugaring"))
    def f(m):
        return sum(v * v for v in np.ravel(m)) * np.ravel(m)[2]
    """
    if not _is_flat(unit, node):
        return node
    return placed(node, expression("np.ravel(x)", np=module_alias(unit, np), x=node.value))


def _is_flat(unit: Unit, node: gast.AST) -> bool:
    return isinstance(node, gast.Attribute) and node.attr == "flat" and may_have_method(unit, node, np.ndarray)


def flat_section(unit: Unit, node: gast.Subscript) -> gast.AST:
    """`x.flat[k]` that is read, as a copy of `np.ravel(x)[k]` unless that is an element; any other section unchanged.

    >>> from s2sgrad.driver.pipeline import shown
    >>> print(shown('''
    ... def f(m):
    ...     return m.flat[1:] * m.flat[0]
    ... ''', "library_desugaring"))
    def f(m):
        return np.ravel(m)[1:].copy() * np.ravel(m)[0]
    """
    one = isinstance(node.slice, (gast.BinOp, gast.UnaryOp)) or isinstance(getattr(node.slice, "value", None), int)
    if one or not _is_flat(unit, node.value):
        return node
    np_ = module_alias(unit, np)
    return placed(node, expression("np.ravel(x)[k].copy()", np=np_, x=node.value.value, k=node.slice))


def raveled_arguments(unit: Unit, node: gast.Call, target: Any) -> list[gast.AST]:
    """The arguments of a call, `x.flat` as `np.ravel(x)`; what copies an array may give a view of `x` for `x.flat`, as
    `np.array` does, and gets it as it is."""
    if any(_is_flat(unit, a) for a in node.args) and not catalogue.of(target).may_view and _views_flat(target):
        given: list[gast.AST] = node.args
        return given
    return [raveled(unit, a) for a in node.args]


def _views_flat(target: Any) -> bool:
    line = np.ones(2)
    try:
        return np.shares_memory(line, target(line.flat))
    except Exception:
        return False


def _require_twice(unit: Unit, flat: gast.Attribute) -> None:
    if not is_pure(unit, flat.value):
        unit.refuse(flat, "`flat` of what a call gives is written here: give the array a name first")


def is_unbuffered(unit: Unit, statement: gast.Assign) -> bool:
    """Whether this stores to places of `x.flat` what may be a view of `x`: NumPy stores one item after the other."""
    (target, *others), value = statement.targets, statement.value
    if others or not isinstance(target, gast.Subscript) or not _is_flat(unit, target.value):
        return False
    one = isinstance(getattr(target.slice, "value", None), int)
    return not one and not isinstance(value, (gast.Constant, gast.BinOp, gast.UnaryOp))


def flat_places(unit: Unit, node: gast.Subscript) -> gast.Subscript:
    """`x.flat[k]` that is stored to, as a section of `x`, however `x` lies in memory (`np.ravel` may copy); any other
    section unchanged.

    >>> from s2sgrad.driver.pipeline import shown
    >>> print(shown('''
    ... def f(m, x):
    ...     m.T.flat[2] = 1.0
    ...     m.flat[:2] += x
    ... ''', "library_desugaring"))
    def f(m, x):
        m.T[np.unravel_index(2, np.shape(m.T))] = 1.0
        m[np.unravel_index(np.arange(np.size(m))[:2], np.shape(m))] += x
    """
    if not _is_flat(unit, node.value):
        return node
    _require_twice(unit, node.value)
    owner, place = node.value.value, node.slice
    if type(getattr(place, "value", None)) is not int or place.value < 0:
        place = expression("np.arange(np.size(x))[k]", np=module_alias(unit, np), x=clone(owner), k=place)
    section = expression("x[np.unravel_index(k, np.shape(y))]", np=module_alias(unit, np), x=owner, y=clone(owner), k=place)
    section.ctx = gast.Store()
    return placed(node, section)


@desugars_method(np.ndarray, "compress")
def _compress_method(call: LibraryCall) -> gast.AST | None:
    """`x.compress(mask, axis)` as `np.compress(mask, x, axis)`."""
    condition = call.args[0] if call.args else call.words.get("condition")
    axis = call.args[1] if len(call.args) == 2 else call.words.get("axis", constant(None))
    if condition is None or len(call.args) > 2 or not call.words.keys() <= {"condition", "axis"}:
        return None
    compress = name(call.unit.helper("compress", np.compress))
    return call.written("f(c, x, a)", f=compress, c=condition, x=call.owner, a=axis)


@desugars(np.linalg.cond)
def _cond(call: LibraryCall) -> gast.AST | None:
    """The condition in a norm that is named: by the norms of the matrix and of its inverse."""
    order = call.args[1] if len(call.args) == 2 else call.words.get("p")
    written = order.operand if isinstance(order, gast.UnaryOp) and isinstance(order.op, gast.USub) else order
    known = written.value if isinstance(written, gast.Constant) else call.unit.resolve(written)
    if not call.args or not isinstance(known, (float, int, str)) or known not in (1, np.inf, "fro", "nuc"):
        return None
    return call.calling(standard.condition, [call.args[0], order])


@desugars_instances(np.vectorize)
def _vectorized(call: LibraryCall) -> gast.AST:
    kinds = {None: constant(None), "d": call.unit.builtin(float)}
    tool = call.target
    if tool.otypes not in kinds or tool.excluded or tool.signature is not None:
        call.unit.refuse(call.node, "the options of this `np.vectorize` are not differentiated: leave them out, or write a "
                                    "loop")  # fmt: skip
    if call.words or len(call.args) not in (1, 2):
        call.unit.refuse(call.node, "a function of `np.vectorize` is differentiated with one or two arguments: write a loop")
    replacement = standard.vectorized if len(call.args) == 1 else standard.vectorized_of_two
    return call.calling(replacement, [name(call.unit.helper("function", tool.pyfunc)), kinds[tool.otypes], *call.args])
