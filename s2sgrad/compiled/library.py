"""Library functions that follow from others: each is written with the operations of the rest of this room.

np.var(x)      ->      the mean of (x - mean(x)) squared
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sgrad.compiled import elementwise, reductions, scalars
from s2sgrad.compiled.elementwise import of_extent
from s2sgrad.compiled.indexing import constant_of, indexed
from s2sgrad.compiled.lowering import Lowering, constant, transposed
from s2sgrad.compiled.output import Nest, Store
from s2sgrad.compiled.values import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    ONE,
    SINGLE,
    Extent,
    Gather,
    Index,
    Items,
    Leaf,
    Object,
    Places,
    Scalar,
    Tree,
    Unfit,
    element,
    is_array,
    unchanged,
    whole,
)
from s2sgrad.compiled.writer import required_array

_YES, _NO = Scalar("True", BOOL, True), Scalar("False", BOOL, True)


def variance(self: Lowering, x: Any, axis: Any = None, ddof: Any = None, keepdims: Any = _NO) -> Any:
    """`np.var`."""
    if ddof is not None and constant_of(ddof) != 0:
        raise Unfit("a variance with ddof")
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
    centre = reductions.mean(self, x, axis, _YES)
    deviation = elementwise.apply(self.writer, gast.Sub, [x, centre])
    return reductions.mean(self, elementwise.apply(self.writer, np.square, [deviation]), axis, keepdims)


def deviation(self: Lowering, x: Any, axis: Any = None, ddof: Any = None, keepdims: Any = _NO) -> Any:
    """`np.std`."""
    return elementwise.apply(self.writer, np.sqrt, [variance(self, x, axis, ddof, keepdims)])


def norm(self: Lowering, x: Any) -> Any:
    """`np.linalg.norm` of all elements."""
    if required_array(x).dtype not in FLOATS or x.rank > 2:
        raise Unfit("a norm of these")
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else x
    squares = reductions.sum_of(self, elementwise.apply(self.writer, np.square, [x]))
    return elementwise.apply(self.writer, np.sqrt, [squares])


def difference(self: Lowering, x: Any) -> Any:
    """`np.diff` along the last axis."""
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
    self.writer.at_least(x.extents[-1], 1)
    rest = Object(Ellipsis)
    later = indexed(self.writer, self.bounds, x, (rest, Object((constant(1), None, None))))
    earlier = indexed(self.writer, self.bounds, x, (rest, Object((None, constant(-1), None))))
    return elementwise.apply(self.writer, gast.Sub, [later, earlier])


def running_sum(self: Lowering, x: Any, axis: Any = None) -> Any:
    """`np.cumsum` of a vector."""
    if required_array(x).rank != 1 or x.dtype not in FLOATS or (axis is not None and reductions.axes_of(1, axis) != (0,)):
        raise Unfit("np.cumsum of these")
    writer = self.writer
    out = writer.allocate(writer.fresh("a"), x.extents, x.dtype)
    total, k = writer.fresh("s"), writer.fresh("k")
    writer.line(f"{total} = {elementwise.number('0.0', x.dtype)}")
    with writer.block(f"for {k} in range({out.extents[0]}):"):
        writer.line(f"{total} = {total} + {element(x, [k])}")
        writer.line(f"{out.root}[{k}] = {total}")
    return out


def place_of(sign: str) -> Any:
    """`np.argmax` and `np.argmin` of a vector: the first place of the largest or smallest element, or of nan."""

    def form(self: Lowering, x: Any, axis: Any = None) -> Any:
        if (
            required_array(x).rank != 1
            or x.dtype not in FLOATS
            or (axis is not None and reductions.axes_of(1, axis) != (0,))
        ):
            raise Unfit("the place of the largest or smallest of these")
        writer = self.writer
        extent = writer.canonical(x.extents[0])
        writer.at_least(extent, 1)
        x = writer.stored(x) if isinstance(x, (Tree, Gather)) else x
        best, k = writer.fresh("p"), writer.fresh("k")
        writer.line(f"{best} = 0")
        with writer.block(f"for {k} in range(1, {extent}):"):
            old, new = element(x, [best]), element(x, [k])
            with writer.block(f"if {new} {sign} {old} or ({new} != {new} and {old} == {old}):"):
                writer.line(f"{best} = {k}")
        name = writer.fresh("p")
        writer.line(f"{name} = {best}")
        return Scalar(name, INT, False, affine=Extent(name))

    return form


def any_or_all(word: str, start: str) -> Any:
    """`np.any` and `np.all` of truth values."""

    def form(self: Lowering, x: Any) -> Any:
        if required_array(x).dtype != BOOL:
            raise Unfit("np.any or np.all of what are no truth values")
        value = reductions.folded(self, x, tuple(range(x.rank)), False, BOOL, start, lambda a, b: f"{a} {word} {b}")
        return value

    return form


def reshaped(self: Lowering, x: Any, *shape: Any, order: Any = None) -> Any:
    """`x.reshape(shape)`: the same memory under other indices."""
    if order is not None or not shape:
        raise Unfit("a reshape by order")
    writer = self.writer
    sizes = shape[0].items if isinstance(shape[0], Items) else shape
    old = required_array(x).extents
    if not sizes:
        raise Unfit("a reshape to a number")
    if isinstance(x, (Tree, Gather)) or not x.is_whole:
        if not isinstance(x, (Tree, Gather)) and not writer.stays(x.root):
            raise Unfit("a reshape of a view")
        x = writer.stored(x)
    total = writer.extent(reductions.count(writer, old))
    open_ = [k for k, s in enumerate(sizes) if constant_of(s) == -1]
    extents = [writer.extent(s, least=0) for k, s in enumerate(sizes) if k not in open_]
    known = writer.extent(reductions.count(writer, tuple(extents)))
    if len(open_) == 1:
        name = writer.fresh("n")
        writer.line(f"{name} = {total} // nonzero({known})")
        writer.lengths.add(name)
        writer.line(f"same({name} * ({known}), {total})")
        extents.insert(open_[0], Extent(name))
    elif open_:
        raise Unfit("a reshape to several unknown lengths")
    else:
        writer.same(total, known)
    name = writer.fresh("r")
    writer.line(f"{name} = {x.root}.reshape(({', '.join(map(str, extents))},))")
    self.found.join(name, x.root)
    return whole(name, tuple(extents), x.dtype)


def flat(self: Lowering, x: Any) -> Any:
    """`np.ravel`."""
    return reshaped(self, x, constant(-1)) if required_array(x).rank != 1 else x


def flattened(self: Lowering, x: Any) -> Any:
    """`x.flatten()`: new memory."""
    return flat(self, Tree(unchanged, (required_array(x),), x.extents, x.dtype))


def converted(self: Lowering, x: Any, dtype: Any) -> Any:
    """`x.astype(dtype)`."""
    try:
        name = np.dtype(dtype.value).name
    except (TypeError, AttributeError):
        raise Unfit("this dtype") from None
    x = required_array(x)
    if name == x.dtype:
        return Tree(unchanged, (x,), x.extents, x.dtype)
    if name == FLOAT and x.dtype != SINGLE:
        return Tree(lambda a: f"float({a})" if x.dtype == INT else f"(1.0 if {a} else 0.0)", (x,), x.extents, FLOAT)
    if name in FLOATS:
        return elementwise.cast(x, name)
    if name == INT and x.dtype in FLOATS:
        return Tree(lambda a: f"integer({a})", (x,), x.extents, INT)
    raise Unfit(f"a conversion to {name}")


def triangle(sign: str) -> Any:
    """`np.triu` and `np.tril`: 0 on one side of a diagonal."""

    def form(self: Lowering, x: Any, k: Any = None) -> Any:
        x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
        shift = 0 if k is None else constant_of(k)
        if x.rank < 2 or x.dtype == BOOL or shift is None:
            raise Unfit("a triangle of these")
        zero = elementwise.number("0" if x.dtype == INT else "0.0", x.dtype)
        inside = Places(lambda i, j: f"({j}) - ({i}) {sign} {shift}", x.extents[-2:], BOOL)
        return Tree(lambda inside, a: f"({a} if {inside} else {zero})", (inside, x), x.extents, x.dtype)

    return form


def axis_moved(self: Lowering, x: Any, source: Any, destination: Any) -> Any:
    """`np.moveaxis`."""
    axes = reductions.axes_of(required_array(x).rank, source)
    order = [k for k in range(x.rank) if k not in axes]
    for place, axis in sorted(zip(reductions.axes_of(x.rank, destination), axes, strict=True)):
        order.insert(place, axis)
    return transposed(self.writer, x, tuple(order))


def axes_swapped(self: Lowering, x: Any, first: Any, second: Any) -> Any:
    """`np.swapaxes`."""
    (a,), (b,) = (reductions.axes_of(required_array(x).rank, axis) for axis in (first, second))
    return transposed(self.writer, x, tuple({a: b, b: a}.get(k, k) for k in range(x.rank)))


def is_instance(self: Lowering, x: Any, types: Any) -> Any:
    """`isinstance`, where it is the same for all types that the value may be of."""
    asked = types.items if isinstance(types, Items) else (types,)
    if not all(isinstance(t, Object) and isinstance(t.value, type) for t in asked):
        raise Unfit("isinstance by what is not known")
    answers = {issubclass(p, tuple(t.value for t in asked)) for p in _possible(x)}
    if len(answers) > 1:
        raise Unfit("isinstance of a number that may be Python's or NumPy's")
    return Object(answers.pop())


def has_attribute(self: Lowering, x: Any, name: Any) -> Any:
    """`hasattr`, where it is the same for all types that the value may be of."""
    if not isinstance(name, Object) or not isinstance(name.value, str):
        raise Unfit("hasattr by what is not known")
    answers = {hasattr(p, name.value) for p in _possible(x)}
    if len(answers) > 1 or isinstance(x, Object):
        raise Unfit("hasattr of what is not known")
    return Object(answers.pop())


def type_of(self: Lowering, x: Any) -> Any:
    """`type`, where it is known."""
    possible = _possible(x)
    if len(possible) > 1:
        raise Unfit("the type of a number that may be Python's or NumPy's")
    return Object(possible[0])


def _possible(x: Any) -> tuple[type, ...]:
    """The types that a value may be of."""
    if isinstance(x, Scalar):
        if x.whole:
            raise Unfit("the type of a number that may be an integer or a float")
        pairs = {FLOAT: (np.float64, float), SINGLE: (np.float32, float), INT: (np.int64, int), BOOL: (np.bool_, bool)}
        return pairs[x.dtype] if x.python else pairs[x.dtype][:1]
    if is_array(x):
        return (np.ndarray,)
    if isinstance(x, Items):
        return (x.type,)
    if isinstance(x, Object) and not isinstance(x.value, tuple):
        return (type(x.value),)
    raise Unfit("the type of this value")


def rank_of(self: Lowering, x: Any) -> Any:
    """`np.ndim`."""
    if not isinstance(x, Scalar):
        required_array(x)
    return of_extent(Extent(None, x.rank))


def tie_weights(self: Lowering, x: Any, y: Any, axis: Any = None, keepdims: Any = _NO) -> Any:
    """1 where `x` is the extreme value `y` of its axis, shared by ties; an extreme value that is nan ties with each nan."""
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
    axes = reductions.axes_of(x.rank, axis)
    if not isinstance(y, Scalar) and y.rank != x.rank:
        y = self.writer.stored(y) if isinstance(y, (Tree, Gather)) else required_array(y)
        kept = [k for k in range(x.rank) if k not in axes]
        if y.rank != len(kept):
            raise Unfit("weights of ties of another rank")
        y = y.over(tuple(kept), tuple(ONE if k in axes else y.extents[kept.index(k)] for k in range(x.rank)))
    y = self.writer.stored(y) if isinstance(y, (Tree, Gather)) else y
    is_tie = elementwise.made(self.writer, lambda a, b: f"({a} == {b} or ({a} != {a} and {b} != {b}))", [x, y], BOOL)
    ties = self.writer.stored(is_tie)
    numbers = elementwise.made(self.writer, lambda tie: f"(1.0 if {tie} else 0.0)", [ties], FLOAT)
    count = reductions.summed(self, numbers, axes, True)
    weights = elementwise.made(self.writer, lambda tie, n: f"(1.0 / {n} if {tie} else 0.0)", [ties, count], FLOAT)
    return elementwise.cast(weights, x.dtype)


def rolled(self: Lowering, x: Any, shift: Any, axis: Any = None) -> Any:
    """`np.roll` along one axis."""
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
    if isinstance(shift, Items) and isinstance(axis, Items) and len(shift.items) == len(axis.items):
        for one, along in zip(shift.items, axis.items, strict=True):
            x = rolled(self, x, one, along)
        return x
    if not isinstance(shift, Scalar) or shift.dtype != INT or (axis is None and x.rank > 1):
        raise Unfit("np.roll along these axes")
    axes = reductions.axes_of(x.rank, axis)
    if len(axes) != 1:
        raise Unfit("np.roll along several axes")
    (k,), by = axes, self.writer.settled(shift)
    extent = self.writer.canonical(x.extents[k])
    if extent == ONE:
        return Tree(unchanged, (x,), x.extents, x.dtype)
    shifted = self.writer.fresh("n")
    self.writer.line(f"{shifted} = {scalars.turned.__name__}({by.text}, {extent})")
    self.writer.lengths.add(shifted)
    if k == x.rank - 1:
        return _rolled_rows(self, x, Extent(shifted))

    def places(indices: list[str]) -> list[str]:
        return [
            f"{scalars.wrapped.__name__}({i} - {shifted}, {extent})" if axis == k else i for axis, i in enumerate(indices)
        ]

    return Tree(unchanged, (x,), x.extents, x.dtype, places)


def _rolled_rows(self: Lowering, x: Leaf, first: Extent) -> Leaf:
    """The elements of each row, in two sections: so many are the last ones of `x`."""
    writer, name = self.writer, self.writer.fresh("n")
    writer.line(f"{name} = {writer.canonical(x.extents[-1])} - {first}")
    writer.lengths.add(name)
    out, rest = writer.allocate(writer.fresh("a"), tuple(map(writer.canonical, x.extents)), x.dtype), Extent(name)
    for length, there, here in ((first, "0", name), (rest, str(first), "0")):
        target, source = _from(out, there, length), _from(x, here, length)
        writer.out.append(Nest(target.extents, [Store(target, "=", source)]))
    return out


def _from(x: Leaf, start: str, length: Extent) -> Leaf:
    """A section of each row."""
    last = x.rank - 1
    places = tuple(p.then(Index(last, start)) if p.axis == last else p for p in x.places)
    return Leaf(x.root, places, (*x.extents[:-1], length), x.dtype, x.memory)


def section(self: Lowering, *ends: Any) -> Any:
    """`slice(start, stop, step)`."""
    if not 1 <= len(ends) <= 3:
        raise Unfit("this slice")
    start, stop, step = (None, ends[0], None) if len(ends) == 1 else (*ends, None)[:3]
    return Object(tuple(None if isinstance(e, Object) and e.value is None else e for e in (start, stop, step)))


def chosen(self: Lowering, g: Any, first: Any, tied: Any) -> Any:
    """The cotangent of what a maximum may take: all of it where it is first, half where it ties."""
    return _picked(self, "picked", [g, first, tied])


def shares(self: Lowering, g: Any, first: Any, tied: Any) -> Any:
    """The same, and the rest of it."""
    if isinstance(g, Scalar):
        g = replace(g, text=f"finite({g.text})")
    operands = [self.writer.settled(v) for v in (g, first, tied)]
    parts = (_picked(self, "picked", operands), _picked(self, "left_over", operands))
    if all(isinstance(o, Scalar) for o in operands):
        weak = all(o.weak for o in operands)
        parts = tuple(replace(p, weak=weak, python=weak, is_array=False) for p in parts)
    return Items(parts)


def _picked(self: Lowering, function: str, operands: list[Any]) -> Any:
    numeric = [isinstance(v, Scalar) or is_array(v) for v in operands]
    if not all(numeric) or operands[0].dtype not in FLOATS or [v.dtype for v in operands[1:]] != [BOOL, BOOL]:
        raise Unfit("a choice by what are no truth values")
    dtype = operands[0].dtype

    def write(g: str, first: str, tied: str) -> str:
        return elementwise.number(f"{function}({g}, {first}, {tied})", dtype)

    value = elementwise.made(self.writer, write, operands, dtype)
    return replace(value, python=False, is_array=True) if isinstance(value, Scalar) else value
