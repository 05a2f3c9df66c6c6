"""Lists: those that grow, such as the records of a loop, stay lists; those of fixed length become arrays.

tape.append((h, x[i])); h, t = tape.pop()      ->      the same, each array in memory of its own
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from s2sgrad.compiled import elementwise
from s2sgrad.compiled.lowering import Lowering
from s2sgrad.compiled.output import Nest, Store
from s2sgrad.compiled.values import (
    FLOAT,
    FLOATS,
    INT,
    Extent,
    Follows,
    Gather,
    Index,
    Items,
    Leaf,
    Object,
    Scalar,
    Stack,
    Tree,
    Unfit,
    is_array,
    whole,
)


def push(self: Lowering, stack: Any, value: Any) -> Any:
    """`stack.append(value)`."""
    if not isinstance(stack, Stack):
        raise Unfit("a list that is not one of ours")
    text, item = _pushed(self, stack, value, stack.name)
    if stack.item is not None:
        item = _joined(self, stack.item, item)
    stack.item = item
    self.writer.touch(lambda reads: stack.name in reads)
    self.writer.line(f"{stack.name}.append({text})")
    return Object(None)


def _pushed(self: Lowering, stack: Stack, value: Any, key: str) -> tuple[str, Any]:
    """The text of what is pushed, and what is known of it."""
    writer = self.writer
    if isinstance(value, Items):
        parts = [_pushed(self, stack, v, f"{key}_{k}") for k, v in enumerate(value.items)]
        return f"({', '.join(t for t, _ in parts)},)", Items(tuple(i for _, i in parts), value.type)
    if isinstance(value, Scalar):
        return value.text, Scalar("", value.dtype, value.python, weak=value.weak)
    if isinstance(value, Object) and value.value is None:
        return "None", value
    if isinstance(value, Object) and isinstance(value.value, tuple):  # a slice
        return _pushed(self, stack, Items(tuple(Object(None) if e is None else e for e in value.value), slice), key)
    if isinstance(value, (Tree, Gather)):
        value = writer.stored(value)
    if not isinstance(value, Leaf):
        raise Unfit("a list of these")
    text = value.in_order
    if text is None:
        if not writer.stays(value.root) or not writer.stays(key):
            raise Unfit("a view that is kept in a list")
        value = writer.stored(value)
        text = value.root
    self.found.join(value.root, key)
    extents = tuple(
        e if e.base is None or e.base in writer.outermost else Extent("?") for e in map(writer.canonical, value.extents)
    )
    return text, whole(key, extents, value.dtype)


def _joined(self: Lowering, a: Any, b: Any) -> Any:
    """What is known of the items of a list, from two of them."""
    if type(a) is not type(b):
        raise Unfit("a list of values of several types")
    if isinstance(a, Items) and len(a.items) == len(b.items) and a.type is b.type:
        return Items(tuple(_joined(self, x, y) for x, y in zip(a.items, b.items, strict=True)), a.type)
    if isinstance(a, Scalar) and a.dtype == b.dtype:
        return replace(a, python=a.python or b.python, weak=a.weak and b.weak)
    if isinstance(a, Leaf) and (a.dtype, a.rank) == (b.dtype, b.rank):
        extents = tuple(m if m == n else Extent("?") for m, n in zip(a.extents, b.extents, strict=True))
        return whole(a.root, extents, a.dtype)
    if isinstance(a, Object) and a.value is b.value:
        return a
    raise Unfit("a list of values of several types")


def pop(self: Lowering, stack: Any) -> Any:
    """`stack.pop()`."""
    if not isinstance(stack, Stack) or stack.item is None:
        raise (Follows if self.reasons else Unfit)("a list that is not one of ours, or to which nothing is appended before")
    self.writer.touch(lambda reads: stack.name in reads)
    self.writer.line(f"at_least(len({stack.name}), 1)")
    return taken(self, stack.item, f"{stack.name}.pop()")


def taken(self: Lowering, item: Any, text: str) -> Any:
    """An item of a list, under names of its own."""
    if isinstance(item, Items) and not item.items:
        self.writer.line(text)
        return item
    name, value = _named(self, item)
    self.writer.line(f"{name} = {text}")
    return _measured(self, value)


def _named(self: Lowering, item: Any) -> tuple[str, Any]:
    writer = self.writer
    if isinstance(item, Items):
        parts = [_named(self, i) for i in item.items]
        return f"({', '.join(n for n, _ in parts)},)" if parts else writer.fresh("t"), Items(
            tuple(v for _, v in parts), item.type
        )
    if isinstance(item, Scalar):
        name = writer.fresh("t")
        return name, replace(item, text=name, affine=Extent(name) if item.dtype == INT else None)
    if isinstance(item, Object):
        return writer.fresh("t"), item
    name = writer.fresh("r")
    self.found.join(name, item.root)
    return name, replace(item, root=name)


def _measured(self: Lowering, value: Any) -> Any:
    """The value, the extents of its arrays read where they are not known."""
    if isinstance(value, Items) and value.type is slice:
        return Object(tuple(None if isinstance(v, Object) else v for v in value.items))
    if isinstance(value, Items):
        return Items(tuple(_measured(self, v) for v in value.items), value.type)
    if not isinstance(value, Leaf):
        return value
    extents = []
    for axis, e in enumerate(value.extents):
        if e.base == "?":
            e = Extent(self.writer.fresh("n"))
            self.writer.line(f"{e} = {value.root}.shape[{axis}]")
        extents.append(e)
    return whole(value.root, tuple(extents), value.dtype)


def joined(self: Lowering, stack: Stack) -> Any:
    """`np.array(stack)`."""
    writer, item = self.writer, stack.item
    if isinstance(item, Scalar):
        n = writer.fresh("n")
        writer.line(f"{n} = len({stack.name})")
        writer.settle()
        return writer.stored(whole(stack.name, (Extent(n),), item.dtype))
    if not isinstance(item, Leaf):
        raise Unfit("an array of this list")
    n, first = writer.fresh("n"), writer.fresh("r")
    writer.line(f"{n} = len({stack.name})")
    writer.once(f"at_least({n}, 1)")
    writer.line(f"{first} = {stack.name}[0]")
    extents = _measured(self, replace(item, root=first)).extents
    out = writer.allocate(writer.fresh("a"), (Extent(n), *extents), item.dtype)
    k = writer.fresh("k")
    with writer.block(f"for {k} in range({n}):"):
        row = writer.fresh("r")
        writer.line(f"{row} = {stack.name}[{k}]")
        for axis, e in enumerate(extents):
            if item.extents[axis].base == "?":
                writer.line(f"same({row}.shape[{axis}], {e})")
        writer.out.append(Nest(extents, [Store(_row(out, k), "=", whole(row, extents, item.dtype))]))
    return out


def stacked(self: Lowering, x: Items) -> Any:
    """`np.array` of several numbers or arrays."""
    writer = self.writer
    if not x.items or not all(isinstance(i, Scalar) or is_array(i) for i in x.items):
        raise Unfit("an array of these")
    dtypes = {i.dtype for i in x.items}
    if not dtypes <= {*FLOATS, INT} or len({i.rank for i in x.items}) > 1:
        raise Unfit("an array of these")
    extents = writer.broadcast([i.extents for i in x.items])
    if any(writer.canonical(a) != b for i in x.items for a, b in zip(i.extents, extents, strict=True)):
        raise Unfit("an array of rows of several lengths")
    dtype = dtypes.pop() if len(dtypes) == 1 else FLOAT
    out = writer.allocate(writer.fresh("a"), (Extent(None, len(x.items)), *extents), dtype)
    for k, item in enumerate(x.items):
        item = elementwise.cast(item, dtype) if dtype != INT else item
        if isinstance(item, Scalar):
            writer.line(f"{out.root}[{k}] = {item.text}")
        else:
            writer.out.append(Nest(extents, [Store(_row(out, str(k)), "=", item)]))
    return out


def _row(x: Leaf, k: str) -> Leaf:
    """A row of an array that lies in memory in order."""
    places = (Index(None, k), *(Index(axis, "0") for axis in range(x.rank - 1)))
    return Leaf(x.root, places, x.extents[1:], x.dtype, x.memory)
