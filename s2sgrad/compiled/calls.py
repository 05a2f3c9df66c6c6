"""Calls, by the object that is called: library functions and helpers of generated text that have loops of their own.

    x.sum(axis=0)      ->      s[j] = 0.0, then s[j] += x[i, j]

What has no entry here and none in `elementwise` is not lowered, but functions of the user's are written out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.compiled import elementwise, kept, library, lists, loose, masks, mixed, picked, products, reductions, systems
from s2sgrad.compiled.elementwise import of_extent
from s2sgrad.compiled.frames import Frame
from s2sgrad.compiled.indexing import indexed
from s2sgrad.compiled.lowering import Lowering, constant, converted, scatter_add, store, transposed
from s2sgrad.compiled.rows import index_parts, stacked
from s2sgrad.compiled.values import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    ONE,
    SINGLE,
    Extent,
    Extents,
    Gather,
    Index,
    Items,
    Leaf,
    Loose,
    Object,
    Places,
    Scalar,
    Stack,
    Tree,
    Unfit,
    is_array,
    mapped,
    unchanged,
)
from s2sgrad.compiled.writer import required_array
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING
from s2sgrad.rules import choices
from s2sgrad.rules.linalg import cofactors
from s2sgrad.rules.reductions import tie_weights
from s2sgrad.runtime import checks, shadows
from s2sgrad.runtime.asking import has, its
from s2sgrad.source import GENERATED

Call = Callable[..., Any]


def called(self: Lowering, frame: Frame, node: gast.Call) -> Any:
    """The value of a call."""
    target, arguments = _target(self, frame, node)
    if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise Unfit("a call with `*`")
    arguments += [self.value(frame, a) for a in node.args]
    keywords = {k.arg: self.value(frame, k.value) for k in node.keywords}
    try:
        form = _CALLS.get(target)
        known = target in elementwise.OPERATIONS or target in elementwise.LOGICAL or target is np.power
    except TypeError:
        form, known = None, False
    if not known and _is_of_library(target):
        arguments = [mapped(lambda a: elementwise.certain(self.writer, a), a) for a in arguments]

    def by_loops() -> Any:
        if form is not None:
            return _fitting(form, self, arguments, keywords, target)
        if known and not keywords:
            return elementwise.apply(self.writer, target, arguments)
        if is_user_function(target) or _is_generated(target):
            return self.inlined(target, _bound(target, arguments, keywords))
        raise Unfit(f"`{its(target, '__name__', getattr(node.func, 'attr', '?'))}`")

    return kept.lowered_or_kept(self, target, arguments, keywords, by_loops)


def _target(self: Lowering, frame: Frame, node: gast.Call) -> tuple[Any, list[Any]]:
    """What is called, and the receiver of a method."""
    target = frame.unit.resolve(node.func)
    if target is not MISSING:
        return target, []
    if isinstance(node.func, gast.Attribute):
        receiver = self.value(frame, node.func.value)
        of_numpy = is_array(receiver) or (isinstance(receiver, Scalar) and not receiver.python)
        owner = list if isinstance(receiver, Stack) else np.ndarray if of_numpy else None
        return getattr(owner, node.func.attr, MISSING), [receiver]
    callee = self.value(frame, node.func)
    return (callee.value if isinstance(callee, Object) else MISSING), []


def _is_of_library(target: Any) -> bool:
    """Whether a function asks NumPy for the type of a number, and converts to none that is said."""
    home = getattr(target, "__module__", None) or ""
    return isinstance(target, np.ufunc) or (not isinstance(target, type) and home.partition(".")[0] in ("numpy", "scipy"))


def _is_generated(target: Any) -> bool:
    return getattr(its(target, "__code__", None), "co_filename", "").startswith(GENERATED)


def _fitting(form: Call, self: Lowering, arguments: list[Any], keywords: dict[str, Any], target: Any) -> Any:
    try:
        return form(self, *arguments, **keywords)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        raise Unfit(f"these arguments of `{target.__name__}`") from None


def _bound(target: Any, arguments: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    bound = signature(target).bind(*arguments, **keywords)
    out = dict(bound.arguments)
    for p in signature(target).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise Unfit("a function with `*` or `**`")
        if p.name not in out:
            if isinstance(p.default, np.ndarray):
                raise Unfit("a default value that is an array")
            out[p.name] = constant(p.default)
    return out


# --- new arrays ---


def filled(text: str, extents: Extents, dtype: str = FLOAT) -> Tree:
    """An array of one number."""
    text = elementwise.number(text, dtype)
    return Tree(lambda: text, (), extents, dtype)


def _extents(self: Lowering, shape: Any) -> Extents:
    return tuple(self.writer.extent(n, least=0) for n in (shape.items if isinstance(shape, Items) else (shape,)))


def dtype_of(dtype: Any) -> str:
    """The dtype that an argument asks for."""
    if dtype is None or (isinstance(dtype, Object) and dtype.value is None):
        return FLOAT
    try:
        name: str = np.dtype(dtype.value).name
    except (TypeError, AttributeError):
        raise Unfit("this dtype") from None
    if name not in (*FLOATS, INT, BOOL):
        raise Unfit(f"arrays of {name}")
    return name


_ZERO = {FLOAT: "0.0", SINGLE: "0.0", INT: "0", BOOL: "False"}
_ONE = {FLOAT: "1.0", SINGLE: "1.0", INT: "1", BOOL: "True"}


def _new(texts: dict[str, str]) -> Call:
    def form(self: Lowering, shape: Any, dtype: Any = None) -> Any:
        extents = _extents(self, shape)
        if not extents:
            raise Unfit("an array without axes")
        return filled(texts[dtype_of(dtype)], extents, dtype_of(dtype))

    return form


def _new_like(texts: dict[str, str]) -> Call:
    def form(self: Lowering, x: Any, dtype: Any = None) -> Any:
        if not is_array(x):
            raise Unfit("an array without axes")
        kind = x.dtype if dtype is None else dtype_of(dtype)
        return filled(texts[kind], x.extents, kind)

    return form


def _empty(self: Lowering, shape: Any, dtype: Any = None) -> Any:
    extents = _extents(self, shape)
    if not extents:
        raise Unfit("an array without axes")
    return self.writer.allocate(self.writer.fresh("a"), extents, dtype_of(dtype))


def _empty_like(self: Lowering, x: Any, dtype: Any = None) -> Any:
    if not is_array(x):
        raise Unfit("an array without axes")
    return self.writer.allocate(self.writer.fresh("a"), x.extents, x.dtype if dtype is None else dtype_of(dtype))


def _full(self: Lowering, shape: Any, value: Any, dtype: Any = None) -> Any:
    if not isinstance(value, Scalar):
        raise Unfit("np.full with an array")
    if dtype is not None and value.dtype in FLOATS and dtype_of(dtype) in FLOATS:
        value = elementwise.cast(value, dtype_of(dtype))
    if (value.dtype if dtype is None else dtype_of(dtype)) != value.dtype:
        raise Unfit("np.full that converts")
    return Tree(lambda v: v, (value,), _extents(self, shape), value.dtype)


def _full_like(self: Lowering, x: Any, value: Any) -> Any:
    if (
        not is_array(x)
        or not isinstance(value, Scalar)
        or value.dtype == BOOL != x.dtype
        or (x.dtype == INT and value.dtype in FLOATS)
    ):
        raise Unfit("np.full_like of these")
    value = elementwise.cast(value, x.dtype) if x.dtype == SINGLE else value
    return Tree(lambda v: v, (value,), x.extents, x.dtype)


def _placed(self: Lowering, write: Callable[..., str], extents: Extents, dtype: str) -> Any:
    return self.writer.stored(Places(write, extents, dtype))


def _arange(self: Lowering, start: Any, stop: Any = None, step: Any = None) -> Any:
    low, high = (constant(0), start) if stop is None else (start, stop)
    if any(not isinstance(v, Scalar) for v in (low, high)):
        raise Unfit("np.arange of these")
    by = constant(1) if step is None else step
    if any(v.dtype != INT for v in (low, high, by)):
        return _even_steps(self, low, high, by)
    if step is not None and step.text != "1":
        raise Unfit("np.arange by steps of integers")
    difference = elementwise.apply(self.writer, gast.Sub, [high, low])
    extent = self.writer.extent(difference, least=0)
    first = str(self.writer.extent(low))
    return _placed(self, lambda i: f"{i} + {first}", (extent,), INT)


def _even_steps(self: Lowering, low: Any, high: Any, step: Any) -> Any:
    """`np.arange` of floats: as many as fit in, by the step that separates the first two."""
    if any(not isinstance(v, Scalar) or v.dtype not in (FLOAT, INT) for v in (low, high, step)):
        raise Unfit("np.arange of these")
    writer = self.writer
    a, b, h, d = (writer.fresh("t") for _ in range(4))
    for name, value in ((a, low), (b, high), (h, step)):
        writer.line(f"{name} = float({value.text})")
    writer.line(f"{d} = {a} + {h} - {a}")
    n = writer.fresh("n")
    writer.line(f"{n} = length(0, integer(ceil(({b} - {a}) / nonzero({h}))))")
    writer.lengths.add(n)
    return _placed(self, lambda i: f"{a} + ({i}) * {d}", (Extent(n),), FLOAT)


def _identity_matrix(self: Lowering, n: Any, m: Any = None) -> Any:
    extents = _extents(self, Items((n, n if m is None else m)))
    return _placed(self, lambda i, j: f"1.0 if {i} == {j} else 0.0", extents, FLOAT)


def copy(self: Lowering, x: Any) -> Any:
    """New memory with the same elements."""
    if isinstance(x, Items):
        return x.of(copy(self, i) for i in x.items)
    if isinstance(x, Loose):
        return Loose(copy(self, x.value), x.scales)
    return Tree(unchanged, (x,), x.extents, x.dtype) if is_array(x) else x


def _array(self: Lowering, x: Any, dtype: Any = None) -> Any:
    if isinstance(x, Stack):
        return lists.joined(self, x)
    if isinstance(x, Items):
        return stacked(self.writer, x)
    if not is_array(x):
        raise Unfit("np.array of these")
    return copy(self, _of_dtype(x, dtype))


def _of_dtype(x: Any, dtype: Any) -> Any:
    if dtype is None or dtype_of(dtype) == x.dtype:
        return x
    if {dtype_of(dtype), x.dtype} == {*FLOATS}:
        return elementwise.cast(x, dtype_of(dtype))
    raise Unfit("an array of another dtype")


def _stack(self: Lowering, x: Any) -> Any:
    """`np.stack` along the first axis."""
    if not isinstance(x, Items):
        raise Unfit("np.stack of these")
    return stacked(self.writer, x)


def _asarray(self: Lowering, x: Any, dtype: Any = None) -> Any:
    if not is_array(x):
        raise Unfit("np.asarray of what is no array")
    return _of_dtype(x, dtype)


# --- shapes ---


def _len(self: Lowering, x: Any) -> Any:
    if isinstance(x, Items):
        return of_extent(Extent(None, len(x.items)))
    if isinstance(x, Stack):
        x.is_counted = True
        return Scalar(f"len({mixed.counted(x)})", INT, True, frozenset((x.name,)), weak=True)
    return of_extent(required_array(x).extents[0])


def _size(self: Lowering, x: Any, axis: Any = None) -> Any:
    if isinstance(x, Scalar):
        return constant(1)
    x = required_array(x)
    if axis is not None:
        return of_extent(x.extents[reductions.axes_of(x.rank, axis)[0]])
    return reductions.count(self.writer, x.extents)


def _transpose(self: Lowering, x: Any, order: Any = None) -> Any:
    axes = tuple(range(required_array(x).rank))[::-1] if order is None else reductions.axes_of(x.rank, order)
    return transposed(self.writer, x, axes)


def _flip(self: Lowering, x: Any, axis: Any = None) -> Any:
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
    axes = reductions.axes_of(x.rank, axis)
    steps = tuple(constant(-1) if k in axes else None for k in range(x.rank))
    return indexed(self.writer, self.bounds, x, tuple(Object((None, None, step)) for step in steps))


def _expand_dims(self: Lowering, x: Any, axis: Any) -> Any:
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
    count = len(axis.items) if isinstance(axis, Items) else 1
    axes = reductions.axes_of(x.rank + count, axis)
    if len(set(axes)) < count:
        raise Unfit("an axis that is added twice")
    index = tuple(Object(None) if k in axes else Object((None, None, None)) for k in range(x.rank + count))
    return indexed(self.writer, self.bounds, x, index)


def _broadcast_to(self: Lowering, x: Any, shape: Any) -> Any:
    extents = _extents(self, shape)
    if not extents:
        raise Unfit("an array without axes")
    return Tree(unchanged, (x,), spread(self, extents, x), x.dtype)


def _concatenate(self: Lowering, parts: Any, axis: Any = None) -> Any:
    """The parts one after the other along the first axis."""
    writer = self.writer
    arrays = parts.items if isinstance(parts, Items) else ()
    if (
        not arrays
        or not all(map(is_array, arrays))
        or (axis is not None and reductions.axes_of(arrays[0].rank, axis) != (0,))
    ):
        raise Unfit("np.concatenate of these")
    if len({a.rank for a in arrays}) > 1 or len({a.dtype for a in arrays}) > 1:
        raise Unfit("np.concatenate of these")
    total = constant(0)
    for a in arrays:
        total = elementwise.apply(writer, gast.Add, [total, of_extent(a.extents[0])])
    out = writer.allocate(writer.fresh("a"), (writer.extent(total), *arrays[0].extents[1:]), arrays[0].dtype)
    start = constant(0)
    for a in arrays:
        end = elementwise.apply(writer, gast.Add, [start, of_extent(a.extents[0])])
        place = str(writer.extent(start))
        target = Leaf(out.root, (Index(0, place), *out.places[1:]), a.extents, a.dtype, out.memory)
        writer.broadcast([target.extents[1:], out.extents[1:]])
        writer.write(target, a)
        start = of_extent(writer.extent(end))
    return out


def _split(self: Lowering, x: Any, sections: Any) -> Any:
    """Equal parts, which are views, along the first axis."""
    count = sections.affine.offset if isinstance(sections, Scalar) and sections.affine and not sections.affine.base else 0
    x = self.writer.stored(x) if isinstance(x, (Tree, Gather)) else required_array(x)
    if count < 1:
        raise Unfit("np.split at these places")
    whole_ = self.writer.canonical(x.extents[0])
    n = self.writer.fresh("n")
    self.writer.line(f"{n} = {whole_} // {count}")
    self.writer.line(f"same({n} * {count}, {whole_})")
    parts = []
    for k in range(count):
        start = self.writer.fresh("k")
        self.writer.line(f"{start} = {k} * {n}")
        places = tuple(p.then(Index(0, start)) if p.axis == 0 else p for p in x.places)
        parts.append(replace(x, places=places, extents=(Extent(n), *x.extents[1:])))
    return Items(tuple(parts), list)


# --- helpers of generated text ---


def _like(self: Lowering, x: Any, bar: Any) -> Any:
    if isinstance(bar, Object) and bar.value is None:
        return zeros(self, x)
    if isinstance(x, Items):
        if not isinstance(bar, Items) or len(x.items) != len(bar.items) or x.keys != bar.keys:
            raise Unfit("a gradient of another structure than its argument")
        return x.of(_like(self, a, b) for a, b in zip(x.items, bar.items, strict=True))
    if isinstance(x, Scalar):
        if not isinstance(bar, Scalar) or x.dtype not in FLOATS or bar.dtype not in FLOATS:
            raise Unfit("a gradient of another rank than its argument")
        if x.weak and bar.weak:
            return replace(bar, weak=bar.own == "")
        return bar if x.weak and bar.own else replace(elementwise.cast(bar, x.dtype), weak=False, own="")
    if not is_array(x) or x.dtype not in FLOATS or bar.rank > x.rank:
        raise Unfit("a gradient of another type than its argument")
    bar = elementwise.cast(bar, x.dtype) if SINGLE in (x.dtype, bar.dtype) else bar
    return Tree(unchanged, (bar,), spread(self, x.extents, bar), x.dtype)


def spread(self: Lowering, extents: Extents, value: Any) -> Extents:
    """The extents, to which those of a value are to broadcast."""
    if value.rank > len(extents):
        raise Unfit("more axes than there are")
    out = self.writer.broadcast([extents, value.extents])
    if any(self.writer.canonical(a) != self.writer.canonical(b) for a, b in zip(out, extents, strict=True)):
        raise Unfit("axes that are stretched")
    return extents


def zeros(self: Lowering, x: Any) -> Any:
    """The zero cotangent of a value."""
    if isinstance(x, Items):
        return x.of(zeros(self, i) for i in x.items)
    if is_array(x):
        return filled("0.0", x.extents, SINGLE if x.dtype == SINGLE else FLOAT)
    if isinstance(x, Scalar):
        zero = constant(
            0.0 if x.weak or x.own or x.dtype == INT else np.float32(0.0) if x.dtype == SINGLE else np.float64(0.0)
        )
        return _of_the_type_of(x, zero)
    if isinstance(x, Object) and x.value is None:
        return x
    if isinstance(x, Loose):
        return Loose(zeros(self, x.value), x.scales)
    raise Unfit("the cotangent of an object")


def _of_the_type_of(x: Scalar, number: Scalar) -> Scalar:
    """A number of Python's, which is a float32 where another one is."""
    return replace(number, own=x.own, reads=x.reads, weak=x.weak) if x.own else number


def _seed_like(self: Lowering, y: Any, seed: Any = None) -> Any:
    if isinstance(y, Items):
        none = seed is None or isinstance(seed, Object)
        if not none and not (isinstance(seed, Items) and len(seed.items) == len(y.items) and seed.keys == y.keys):
            raise Unfit("a seed of another structure")
        seeds = [None] * len(y.items) if none else seed.items
        return y.of(_seed_like(self, a, b) for a, b in zip(y.items, seeds, strict=True))
    if not (isinstance(y, Scalar) or is_array(y)) or y.dtype not in FLOATS:
        raise Unfit("a seed of what is no float")
    if seed is None or isinstance(seed, Object):
        if is_array(y):
            return filled("1.0", y.extents, y.dtype)
        return _one_like(y)
    if seed.rank != y.rank or seed.dtype not in FLOATS:
        raise Unfit("a seed of another type or rank")
    if isinstance(y, Scalar):
        return seed if seed.dtype == FLOAT else replace(elementwise.cast(seed, FLOAT), python=True, weak=True)
    self.writer.broadcast([y.extents, seed.extents])
    return elementwise.cast(seed, y.dtype)


def _one_like(y: Scalar) -> Scalar:
    one = constant(1.0 if y.weak or y.own else np.float64(1.0) if y.dtype == FLOAT else np.float32(1.0))
    return replace(_of_the_type_of(y, one), is_array=y.is_array)


def _unbroadcast(self: Lowering, g: Any, x: Any) -> Any:
    if isinstance(x, Loose):
        return loose.summed_to(self.writer, g, x)
    if isinstance(g, Loose) and (is_array(x) or isinstance(x, Scalar)):
        return loose.matched(self.writer, g, x)
    if not (is_array(g) or isinstance(g, Scalar)) or not (is_array(x) or isinstance(x, Scalar)):
        raise Unfit("a cotangent of what is no number or array")
    if g.rank < x.rank:
        return Tree(unchanged, (g,), spread(self, x.extents, g), g.dtype)
    lead = g.rank - x.rank
    axes = [*range(lead)]
    for k, n in enumerate(x.extents):
        own, n = self.writer.canonical(g.extents[lead + k]), self.writer.canonical(n)
        if n == ONE and own != ONE:
            axes.append(lead + k)
        elif own != ONE:
            self.writer.same(own, n)
        elif n != ONE:
            raise Unfit("a cotangent that is to be repeated")
    if not axes:
        return g
    out = reductions.summed(self, g, tuple(axes), keep=True) if x.rank else reductions.summed(self, g, tuple(axes), False)
    if lead and x.rank:
        out = self.writer.stored(out) if isinstance(out, Tree) else out
        out = indexed(self.writer, self.bounds, out, (constant(0),) * lead)
    return out


def _keys_of(self: Lowering, x: Any) -> Any:
    """The keys of a dict."""
    if not isinstance(x, Items) or x.type is not dict:
        raise Unfit("the keys of what is no dict")
    return Items(tuple(map(Object, x.keys)), list)


def _bound_here(self: Lowering, x: Any, name: Any) -> Any:
    """A check that a variable is bound, which was looked at when it was read."""
    if not (is_array(x) or isinstance(x, Scalar)):
        raise Unfit("a check of what is no number or array")
    return Object(None)


def _plain(self: Lowering, x: Any, name: Any, line: Any, sparse: Any = None) -> Any:
    """A check of what class a value has: the text is for the types of these arguments, and what is lowered has no other."""
    if isinstance(x, Object) and x.value is not None:
        raise Unfit("a check of an object")
    return Object(None)


def _add_at(self: Lowering, bar: Any, index: Any, e: Any) -> Any:
    if isinstance(e, Object) and e.value is None:
        return bar
    if isinstance(bar, Items):
        k = index.affine.offset if isinstance(index, Scalar) and index.affine and index.affine.base is None else None
        k = bar.place(index) if bar.type is dict else k
        if k is None or not -len(bar.items) <= k < len(bar.items):
            raise Unfit("a place in a tuple that is not known")
        items = list(bar.items)
        items[k] = _added(self, items[k], e)
        return bar.of(self.writer.settled(i) for i in items)
    if not isinstance(bar, Leaf):
        raise Unfit("a cotangent that is no array")
    parts = index_parts(self.writer, index)
    if picked.is_picked(bar, parts):
        picked.put(self.writer, bar, parts, converted(e, bar.dtype), "put_sum")
        return bar
    if masks.is_mask(parts):
        old: Leaf | Scalar = masks.read(self, bar, index)
        masks.store(self, bar, index, elementwise.apply(self.writer, gast.Add, [old, e]))
        return bar
    view = indexed(self.writer, self.bounds, bar, parts)
    if isinstance(view, Gather):
        scatter_add(self, view, converted(e, bar.dtype))
    elif view.rank:
        store(self, bar, parts, elementwise.apply(self.writer, gast.Add, [view, e]))
    else:
        old = Scalar(view.at([]), view.dtype, False, view.reads)
        store(self, bar, parts, elementwise.apply(self.writer, gast.Add, [old, e]))
    return bar


def _add_into(self: Lowering, bar: Any, e: Any) -> Any:
    """Add to the arrays of a list, in place."""
    if isinstance(e, Object) and e.value is None:
        return bar
    if not isinstance(bar, Items) or not isinstance(e, Items) or len(bar.items) != len(e.items):
        raise Unfit("cotangents of this list")
    for own, more in zip(bar.items, e.items, strict=True):
        if isinstance(own, Items) and own.type is list:
            _add_into(self, own, more)
        elif not isinstance(own, Leaf) or own.dtype not in FLOATS:
            raise Unfit("cotangents of this list")
        elif not (isinstance(more, Object) and more.value is None):
            store(self, own, (Object(Ellipsis),), elementwise.apply(self.writer, gast.Add, [own, more]))
    return bar


def _added(self: Lowering, a: Any, b: Any) -> Any:
    if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items) and a.keys == b.keys:
        return a.of(_added(self, x, y) for x, y in zip(a.items, b.items, strict=True))
    return elementwise.apply(self.writer, gast.Add, [a, b])


# --- numbers ---


def _float(self: Lowering, x: Any) -> Any:
    if not isinstance(x, Scalar):
        raise Unfit("float() of what is no number")
    text = (
        x.text
        if x.dtype == FLOAT
        else f"(1.0 if {x.text} else 0.0)"
        if x.dtype == BOOL
        else elementwise.converted_text(x.text, FLOAT, x.dtype)
    )
    return Scalar(text, FLOAT, True, x.reads, weak=True)


def _of_numpy(self: Lowering, x: Any) -> Any:
    return replace(_float(self, x), python=False, weak=False)


def _single(self: Lowering, x: Any) -> Any:
    return elementwise.cast(x if is_array(x) and x.dtype in FLOATS else _float(self, x), SINGLE)


def _int(self: Lowering, x: Any) -> Any:
    if not isinstance(x, Scalar):
        raise Unfit("int() of what is no number")
    return (
        replace(x, python=True, weak=True, own="", is_array=False)
        if x.dtype == INT
        else Scalar(f"integer({x.text})", INT, True, x.reads, weak=True)
    )


def _bool(self: Lowering, x: Any) -> Any:
    if not isinstance(x, Scalar):
        raise Unfit("bool() of what is no number")
    return Scalar(x.text if x.dtype == BOOL else f"({x.text} != 0)", BOOL, True, x.reads, weak=True)


def _extreme(operation: type) -> Call:
    def form(self: Lowering, a: Any, b: Any) -> Any:
        if not (isinstance(a, Scalar) and isinstance(b, Scalar)):
            raise Unfit("max() or min() of these")
        a, b = self.writer.settled(a), self.writer.settled(b)
        test = elementwise.apply(self.writer, operation, [b, a])
        return elementwise.chosen_number(test.text, test.reads, b, a)

    return form


def _negative(self: Lowering, x: Any) -> Any:
    if isinstance(x, Items):  # how far axes are rolled
        return Items(tuple(elementwise.apply(self.writer, gast.USub, [i]) for i in x.items), x.type)
    return elementwise.apply(self.writer, np.negative, [x])


def _where(self: Lowering, condition: Any, a: Any, b: Any) -> Any:
    return elementwise.chosen_by(self.writer, [condition, a, b])


def _clip(self: Lowering, x: Any, low: Any, high: Any) -> Any:
    """`np.clip(x, low, high)`: of two zeros, `x` between two numbers, and else the bound."""
    stays = isinstance(low, Scalar) and isinstance(high, Scalar)
    for bound, which in ((low, np.maximum), (high, np.minimum)):
        if not (isinstance(bound, Object) and bound.value is None):
            x = elementwise.apply(self.writer, which, [bound, x] if stays else [x, bound])
    return x


_CALLS: dict[Any, Call] = {
    np.zeros: _new(_ZERO), np.ones: _new(_ONE), np.zeros_like: _new_like(_ZERO), np.ones_like: _new_like(_ONE),
    np.empty: _empty, np.empty_like: _empty_like, np.full: _full, np.full_like: _full_like, np.eye: _identity_matrix,
    np.identity: _identity_matrix, np.arange: _arange, np.array: _array, np.asarray: _asarray, np.copy: copy,
    np.ndarray.copy: copy, len: _len, np.size: _size, np.where: _where, np.clip: _clip, np.ndarray.clip: _clip,
    np.shape: lambda self, x: Items(tuple(map(of_extent, required_array(x).extents))),
    np.transpose: _transpose, np.ndarray.transpose: _transpose, np.flip: _flip, np.expand_dims: _expand_dims,
    np.broadcast_to: _broadcast_to, np.concatenate: _concatenate,
    np.split: _split, runtime.own: copy, runtime.like: _like, runtime.zeros: zeros, runtime.seed_like: _seed_like,
    runtime.unbroadcast: _unbroadcast, runtime.add_at: _add_at, runtime.copies.copied: copy,
    float: _float, int: _int, bool: _bool, max: _extreme(gast.Gt), min: _extreme(gast.Lt), np.float64: _of_numpy,
    np.float32: _single,
    np.sum: reductions.sum_of, np.ndarray.sum: reductions.sum_of, np.mean: reductions.mean, np.ndarray.mean: reductions.mean,
    np.max: reductions.largest, np.ndarray.max: reductions.largest, np.amax: reductions.largest,
    np.min: reductions.least, np.ndarray.min: reductions.least, np.amin: reductions.least,
    np.add.reduce: reductions.sum_of,
    np.dot: products.dot, np.ndarray.dot: products.dot, np.matmul: products.matmul, np.vdot: products.vdot,
    np.inner: products.inner, np.outer: products.outer, np.einsum: products.einsum, np.tensordot: products.tensordot,
    np.linalg.solve: systems.solved, np.linalg.inv: systems.inverse, np.linalg.det: systems.determinant,
    np.linalg.cholesky: systems.cholesky, cofactors: systems.cofactors,
    np.var: library.variance, np.ndarray.var: library.variance, np.std: library.deviation,
    np.ndarray.std: library.deviation, np.linalg.norm: library.norm, np.diff: library.difference,
    np.cumsum: library.running_sum, np.ndarray.cumsum: library.running_sum, np.argmax: library.place_of(">"),
    np.ndarray.argmax: library.place_of(">"), np.argmin: library.place_of("<"), np.ndarray.argmin: library.place_of("<"),
    np.any: library.any_or_all("or", "False"), np.all: library.any_or_all("and", "True"),
    np.prod: reductions.product, np.ndarray.prod: reductions.product,
    np.reshape: library.reshaped, np.ndarray.reshape: library.reshaped, np.ravel: library.flat,
    np.ndarray.ravel: library.flat, np.ndarray.flatten: library.flattened, np.ndarray.astype: library.converted,
    isinstance: library.is_instance, type: library.type_of, hasattr: library.has_attribute, has: library.has_attribute,
    np.ndim: library.rank_of, np.ndarray: _empty, np.stack: _stack,
    tie_weights: library.tie_weights,
    np.triu: library.triangle(">="), np.tril: library.triangle("<="), np.moveaxis: library.axis_moved,
    np.swapaxes: library.axes_swapped, np.ndarray.swapaxes: library.axes_swapped,
    np.negative: _negative, np.roll: library.rolled, slice: library.section,
    choices.chosen: library.chosen, choices.shares: library.shares,
    checks.bound: _bound_here, checks.no_subclass: _plain, checks.no_subclass_itself: _plain, runtime.no_guest: _plain,
    runtime.keys_of: _keys_of, runtime.keys: _keys_of, shadows.add_into: _add_into,
    list.append: lists.push, list.pop: lists.pop,
    math.floor: lambda self, x: _int(self, elementwise.apply(self.writer, np.floor, [x])),
}  # fmt: skip
