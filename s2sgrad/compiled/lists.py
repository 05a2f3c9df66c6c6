"""Lists: those that grow, such as the records of a loop, stay lists; those of fixed length become arrays.

tape.append((h, x[i])); h, t = tape.pop()      ->      the same, each array in memory of its own
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from s2sgrad.compiled import collected, loose, mixed
from s2sgrad.compiled.lowering import Lowering
from s2sgrad.compiled.output import Nest, Store
from s2sgrad.compiled.rows import row_of
from s2sgrad.compiled.values import (
    INT,
    SINGLE,
    Extent,
    Follows,
    Gather,
    Items,
    Leaf,
    Loose,
    Object,
    Scalar,
    Stack,
    Tree,
    Unfit,
    whole,
)
from s2sgrad.compiled.writer import UNKNOWN, Again


def push(self: Lowering, stack: Any, value: Any) -> Any:
    """`stack.append(value)`."""
    if not isinstance(stack, Stack):
        raise Unfit("a list that is not one of ours")
    text, item = _pushed(self, stack, value, stack.name)
    part = mixed.part_for(self.writer, stack, item) if stack.name in self.found.mixed else stack
    if not mixed.fits(part.item, item):
        self.found.mixed.add(stack.name)
        raise Again
    _hold(self, part, item, stack.name)
    stack.item = stack.item or item
    self.writer.touch(lambda reads: stack.name in reads)
    self.writer.line(f"{part.name}.append({text})")
    return Object(None)


def _hold(self: Lowering, stack: Stack, item: Any, key: str) -> None:
    """Note what all items of a list have in common: also those that a later trip of a loop pops."""
    lists = self.found.lists
    known = lists.get(stack.name) if mixed.fits(lists.get(stack.name), item) else None
    stack.item = item if known is None else _joined(known, item, key)
    if stack.item != lists.get(stack.name):
        was_known = stack.name in lists
        lists[stack.name] = stack.item
        if was_known:
            raise Again


def _pushed(self: Lowering, stack: Stack, value: Any, key: str) -> tuple[str, Any]:
    """The text of what is pushed, and what is known of it."""
    if isinstance(value, Items):
        parts = [_pushed(self, stack, v, f"{key}_{k}") for k, v in enumerate(value.items)]
        return f"({', '.join(t for t, _ in parts)},)", value.of(i for _, i in parts)
    if isinstance(value, Scalar):
        if value.own and value.weak:
            return f"single({value.text})", Scalar("", SINGLE, True)
        item = Scalar("", value.dtype, value.python, weak=value.weak, whole=UNKNOWN * bool(value.whole))
        if key in self.found.flagged and value.dtype != SINGLE:
            own = self.writer.asked(value.own or str(value.weak))
            return f"({value.text}, {own})", replace(item, weak=False, own=UNKNOWN + key)
        return value.text, replace(item, own=UNKNOWN + key if value.own else "")
    if isinstance(value, Object) and value.value is None:
        return "None", value
    if isinstance(value, Object) and isinstance(value.value, tuple):  # a slice
        return _pushed(self, stack, Items(tuple(Object(None) if e is None else e for e in value.value), slice), key)
    if isinstance(value, Loose):
        text, _ = _pushed(self, stack, value.value, key)
        return text, Loose(whole(key, (Extent("?"),) * value.rank, value.dtype), value.rank * ("?",))
    return _pushed_array(self, stack, value, key)


def _pushed_array(self: Lowering, stack: Stack, value: Any, key: str) -> tuple[str, Any]:
    writer = self.writer
    if isinstance(value, (Tree, Gather)):
        value = writer.stored(value)
    if not isinstance(value, Leaf):
        raise Unfit("a list of these")
    text = value.in_order
    if text is None:
        if not collected.may_copy(writer, stack, value.root) and not (writer.stays(value.root) and writer.stays(key)):
            raise Unfit("a view that is kept in a list")
        value = writer.stored(value)
        text = value.root
    self.found.join(value.root, key)
    extents = tuple(
        e if e.base is None or e.base in writer.outermost else Extent("?") for e in map(writer.canonical, value.extents)
    )
    return text, whole(key, extents, value.dtype)


def _joined(a: Any, b: Any, key: str) -> Any:
    """What is known of the items of a list, from two of them that fit together."""
    if isinstance(a, Items):
        return a.of(_joined(x, y, f"{key}_{k}") for k, (x, y) in enumerate(zip(a.items, b.items, strict=True)))
    if isinstance(a, Scalar):
        own = a.own or b.own or (UNKNOWN + key if a.weak != b.weak and a.dtype != SINGLE else "")
        weak = a.weak and b.weak and not own
        return replace(a, python=a.python or b.python, weak=weak, own=own, whole=a.whole or b.whole)
    if isinstance(a, Leaf):
        extents = tuple(m if m == n else Extent("?") for m, n in zip(a.extents, b.extents, strict=True))
        return whole(a.root, extents, a.dtype)
    return a


def pop(self: Lowering, stack: Any) -> Any:
    """`stack.pop()`."""
    if not isinstance(stack, Stack) or stack.item is None:
        raise (Follows if self.reasons else Unfit)("a list that is not one of ours, or to which nothing is appended before")
    self.writer.touch(lambda reads: stack.name in reads)
    part = mixed.part_of(self.writer, stack) if stack.sorts else stack
    self.writer.line(f"at_least(len({part.name}), 1)")
    return taken(self, part.item, f"{part.name}.pop()")


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
        return f"({', '.join(n for n, _ in parts)},)" if parts else writer.fresh("t"), item.of(v for _, v in parts)
    if isinstance(item, Scalar):
        name = writer.fresh("t")
        value = replace(item, text=name, affine=Extent(name) if item.dtype == INT else None)
        if item.own.removeprefix(UNKNOWN) not in writer.found.flagged:
            return name, value
        own = writer.fresh("t")
        return f"({name}, {own})", replace(value, own=own)
    if isinstance(item, Object):
        return writer.fresh("t"), item
    if isinstance(item, Loose):
        name, value = _named(self, item.value)
        return name, replace(item, value=value)
    name = writer.fresh("r")
    self.found.join(name, item.root)
    return name, replace(item, root=name)


def _measured(self: Lowering, value: Any) -> Any:
    """The value, the extents of its arrays read where they are not known."""
    if isinstance(value, Items) and value.type is slice:
        return Object(tuple(None if isinstance(v, Object) else v for v in value.items))
    if isinstance(value, Items):
        return value.of(_measured(self, v) for v in value.items)
    if isinstance(value, Loose):
        return loose.measured(self.writer, _measured(self, value.value))
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
    if stack.sorts:
        raise Unfit("an array of this list")
    if isinstance(item, Scalar):
        if item.own.removeprefix(UNKNOWN) in writer.found.flagged:
            raise Unfit("an array of this list")
        writer.asked(item.whole)
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
        writer.out.append(Nest(extents, [Store(row_of(out, k), "=", whole(row, extents, item.dtype))]))
    return out
