"""Neighbouring loops over the same indices become one, and arrays that live in it alone become numbers.

    for i in range(n): t[i] = x[i] * w[i]          for i in range(n):
    for i in range(n): y[i] = t[i] + 1.0    ->         t = x[i] * w[i]
                                                       y[i] = t + 1.0

Two loops may be one if each element that one of them writes is read or written by the other at the same index, or not at
all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from s2sgrad.compiled.memory import handed_on, zeroed
from s2sgrad.compiled.outer import outermost_shared
from s2sgrad.compiled.output import Block, Fold, Line, Nest, Store, written
from s2sgrad.compiled.stencils import gathered
from s2sgrad.compiled.unread import without_unread
from s2sgrad.compiled.values import ONE, Gather, Index, Leaf, Tree

_ALLOCATES = re.compile(r"(\w+) = np\.empty\(")
_MOVES = re.compile(r"(same|at_least)\([\w +\-,]*\)|\w+ = np\.empty\(.*|n\d+ = [\w +\-*/(),]+")
_WORD = re.compile(r"[A-Za-z_]\w*")

_MOST_COMPARED = 8  # LLVM makes no vectors of loops with more

Share = Callable[[str, str], bool]


def fused(body: list[Any], share: Share, threads: bool = False) -> list[Any]:
    """The statements, with neighbouring loops merged; `share`: whether two names may stand for one memory.

    `threads`: each trip of an outermost loop has memory of its own.
    """
    body = without_unread(body, share)
    body = handed_on(body, share, _mentions(body))
    body = _merged(gathered(body, share, _mentions(body)), share)
    mentions = _mentions(body)
    gone = set(_contracted(body, mentions))
    body = _without(body, gone)
    return zeroed(outermost_shared(body, share, threads))


def _merged(body: list[Any], share: Share) -> list[Any]:
    out: list[Any] = []
    at = 0  # from this place on stand loops alone, which the next ones may join
    for s in body:
        if isinstance(s, Block):
            out.append(Block(s.head, _merged(s.body, share), _merged(s.orelse, share)))
            at = len(out)
        elif isinstance(s, Nest) and (joined := _joined(out[at:], s, share)) is not None:
            joined.stores.extend(s.stores)
        elif isinstance(s, Nest):
            out.append(Nest(s.extents, list(s.stores)))
        elif isinstance(s, Line) and _MOVES.fullmatch(s.text) and at < len(out):
            at = next((k + 1 for k in range(len(out) - 1, at - 1, -1) if not _is_apart(s, out[k])), at)
            out.insert(at, s)
            at += 1
        else:
            out.append(s)
            at = len(out)
    return out


def _joined(loops: list[Nest], nest: Nest, share: Share) -> Nest | None:
    """The loops that these join: the last ones, or earlier ones where the order of those between and these is free.

    Not across others if a compiler made vectors of the loops apart alone.
    """
    for k, before in enumerate(reversed(loops)):
        if _joins(before, nest, share) and (k == 0 or _remain_vectors(before, nest)):
            return before
        if not all(_is_free(s, t, share) for s in before.stores for t in nest.stores):
            return None
    return None


def _is_free(s: Store, t: Store, share: Share) -> bool:
    """Whether none of two stores writes what the other one reads or writes."""
    first, second = _target(s), _target(t)
    if first is None or second is None:
        return False
    ours, others = [first.root, *s.value.reads], [second.root, *t.value.reads]
    return not any(share(first.root, name) for name in others) and not any(share(second.root, name) for name in ours)


def _remain_vectors(a: Nest, b: Nest) -> bool:
    """Whether loops fold nothing, and have few pairs of arrays, one of which is written: a compiler compares places."""
    stores = [*a.stores, *b.stores]
    targets = [t for s in stores if (t := _target(s)) is not None and _is_injective(t, a)]
    written_ = {t.root for t in targets}
    read = {name for s in stores for name in s.value.reads} - written_
    compared = len(written_) * (len(written_) - 1) // 2 + len(written_) * len(read)
    return len(targets) == len(stores) and compared <= _MOST_COMPARED


def _is_apart(line: Line, nest: Nest) -> bool:
    """Whether a statement may stand before loops: they do not mention what it binds."""
    name = line.text.partition(" = ")[0]
    return not name.isidentifier() or all(name not in _WORD.findall(text) for text in written(nest))


def _joins(a: Nest, b: Nest, share: Share) -> bool:
    if a.extents != b.extents or not all(_agree(s, t, a, share) for s in a.stores for t in b.stores):
        return False
    first, second = ({axes for s in n.stores if (axes := _folded(s, n))} for n in (a, b))
    return not first or not second or first == second


def _folded(store: Store, nest: Nest) -> frozenset[int]:
    """The axes along which a store folds: the trips of other ones are independent."""
    target = _target(store)
    own = set() if target is None else {p.axis for p in target.places}
    return frozenset(k for k, e in enumerate(nest.extents) if e != ONE and k not in own)


def _agree(s: Store, t: Store, nest: Nest, share: Share) -> bool:
    """Whether a store may run at each index right before another one, and not at all indices before."""
    first, second = _target(s), _target(t)
    if first is None or second is None:
        return False
    for ours, others in ((first, [second, *_read(t.value)]), (second, _read(s.value))):
        for leaf in others:
            if not share(ours.root, leaf.root):
                continue
            if leaf.root != ours.root or not _is_same_element(leaf, ours) or not _is_injective(ours, nest):
                return False
    return not any(_is_moved(v.value) and any(share(w.root, r) for r in v.value.reads)
                   for v, w in ((s, second), (t, first)))  # fmt: skip


def _is_same_element(one: Leaf, other: Leaf) -> bool:
    """Whether two views of an array are at the same element at each index: an axis of length 1 is not moved along."""
    return one.places == other.places and one.extents == other.extents


def _target(store: Store) -> Leaf | None:
    return store.target if isinstance(store.target, Leaf) and store.axes is None else None


def _read(value: Any) -> list[Leaf]:
    """The views that a value reads."""
    if isinstance(value, Leaf):
        return [value]
    if isinstance(value, Gather):
        return [*_read(value.root), *_read(value.index)]
    return [leaf for o in value.operands for leaf in _read(o)] if isinstance(value, Tree) else []


def _is_moved(value: Any) -> bool:
    """Whether some element is read at another index than that of the loops."""
    if isinstance(value, Tree):
        return value.places is not None or any(map(_is_moved, value.operands))
    return not isinstance(value, Leaf) and bool(value.reads)


def _is_injective(leaf: Leaf, nest: Nest) -> bool:
    """Whether each index of the loops has an element of its own."""
    return {k for k, e in enumerate(nest.extents) if e != ONE} <= {p.axis for p in leaf.places}


def _mentions(body: list[Any]) -> Counter[str]:
    """How often names are mentioned."""
    out: Counter[str] = Counter()
    for s in body:
        if isinstance(s, Block):
            out += Counter(_WORD.findall(s.head)) + _mentions(s.body) + _mentions(s.orelse)
        elif not isinstance(s, (Line, Nest, Fold)):
            continue
        else:
            out.update(w for text in written(s) for w in _WORD.findall(text))
    return out


def _contracted(body: list[Any], mentions: Counter[str]) -> list[str]:
    """The arrays that live within loops; noted in these."""
    allocated = {m[1] for s in body if isinstance(s, Line) and (m := _ALLOCATES.match(s.text))}
    out: list[str] = []
    for s in body:
        if isinstance(s, Block):
            out += [*_contracted(s.body, mentions), *_contracted(s.orelse, mentions)]
        elif isinstance(s, Nest):
            texts = Counter(w for text in written(s) for w in _WORD.findall(text))
            for k, store in enumerate(s.stores):
                name = store.target.root if isinstance(store.target, Leaf) else ""
                if name in allocated and mentions[name] == texts[name] + 1 and _lives_in(name, s, k):
                    s.numbers.add(name)
                    out.append(name)
    return out


def _lives_in(name: str, nest: Nest, k: int) -> bool:
    """Whether all of an array is written by store `k` of loops, and read after it at the same index."""
    target = nest.stores[k].target
    if not isinstance(target, Leaf) or nest.stores[k].op != "=":
        return False
    if target.extents != nest.extents or target.memory != nest.extents:
        return False
    if target.places != tuple(Index(axis, "0") for axis in range(len(nest.extents))):
        return False
    reads = [leaf for j, store in enumerate(nest.stores) for leaf in _read(store.value) if leaf.root == name and j > k]
    early = any(leaf.root == name for store in nest.stores[: k + 1] for leaf in _read(store.value))
    again = sum((own := _target(store)) is None or own.root == name for store in nest.stores)
    moved = any(_is_moved(store.value) for store in nest.stores)
    return not early and again == 1 and not moved and all(_is_same_element(leaf, target) for leaf in reads)


def _without(body: list[Any], gone: set[str]) -> list[Any]:
    """The statements without the memory of arrays that became numbers."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            out.append(Block(s.head, _without(s.body, gone), _without(s.orelse, gone)))
        elif not (isinstance(s, Line) and (m := _ALLOCATES.match(s.text)) and m[1] in gone):
            out.append(s)
    return out
