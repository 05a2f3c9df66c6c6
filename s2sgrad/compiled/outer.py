"""Neighbouring loops share their outer ones; of an array that lives in these alone, one row is held, or one number.

    for i in range(n):                                   for i in range(n):
        for j in range(m): e[i, j] = exp(x[i, j])            for j in range(m): e[j] = exp(x[i, j])
    for i in range(n): s[i] = 0.0                            s = 0.0
    for i in range(n):                                       for j in range(m): s = s + e[j]
        for j in range(m): s[i] = s[i] + e[i, j]    ->       for j in range(m): y[i, j] = e[j] / s
    for i in range(n):
        for j in range(m): y[i, j] = e[i, j] / s[i]

Large arrays are read and written once, and rows stay in the cache.  Outer loops may be one if what one of the inner ones
writes is read or written by others in the same trip alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from s2sgrad.compiled.output import Block, Fold, Line, Nest, Rows, Store, shape_of, written
from s2sgrad.compiled.threads import is_independent
from s2sgrad.compiled.values import ONE, SINGLE, Extent, Gather, Index, Leaf, Tree

_ALLOCATES = re.compile(r"(\w+) = np\.empty\(\([^()]*\)(.*)\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_BY_VECTORS = re.compile(r"\b(exp|tanh|log)\(")  # several numbers at once, in an innermost loop

Share = Callable[[str, str], bool]


def outermost_shared(body: list[Any], share: Share, threads: bool) -> list[Any]:
    """The statements, with outer loops shared; `share`: whether two names may stand for one memory.

    `threads`: trips of an outermost loop may run at once.
    """
    out = _grouped(body, share, threads)
    held = _held_rows(out, _mentions(out), threads)
    return _fills_apart(_with_rows(out, held), {*held})


# --- which loops share their outer ones --------------------------------------------------------------------------------


def _grouped(body: list[Any], share: Share, threads: bool) -> list[Any]:
    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            s = Block(s.head, _grouped(s.body, share, threads), _grouped(s.orelse, share, threads))
        elif isinstance(s, Nest) and out and (joined := _joined(out[-1], s, share, threads)) is not None:
            out[-1] = joined
            continue
        out.append(s)
    return out


def _joined(before: Any, nest: Nest, share: Share, threads: bool) -> Rows | None:
    """The loops with others behind them; None where they share no loop."""
    if not isinstance(before, (Nest, Rows)):
        return None
    nests = before.nests if isinstance(before, Rows) else [before]
    if threads and is_independent(nests[0]) is not is_independent(nest):
        return None
    if not _is_fill(nest) and {*_roots(nest)}.isdisjoint(root for own in nests for root in _roots(own)):
        return None  # nothing would be gained
    if isinstance(before, Rows):
        return Rows(before.depth, [*nests, nest]) if _may_share(nests, nest, before.depth, share) else None
    for depth in range(min(len(before.extents), len(nest.extents)), 0, -1):
        if _is_within(before, depth) + _is_within(nest, depth) < 2 and _may_share(nests, nest, depth, share):
            return Rows(depth, [before, nest])
    return None


def _roots(nest: Nest) -> list[str]:
    """The memory that loops write and read."""
    return [name for store in nest.stores for name in _met(store)]


def _met(store: Store) -> list[str]:
    """The memory that a store writes and reads."""
    if isinstance(store.target, Leaf):
        return [store.target.root, *store.value.reads]
    return [*store.target.reads, *store.value.reads]


def _is_fill(nest: Nest) -> bool:
    """Whether loops read nothing."""
    return all(isinstance(s.target, Leaf) and s.op == "=" and not s.value.reads for s in nest.stores)


def _is_within(nest: Nest, depth: int) -> bool:
    """Whether nothing is left of loops below outer ones."""
    return all(e == ONE for e in nest.extents[depth:])


def _may_share(nests: list[Nest], nest: Nest, depth: int, share: Share) -> bool:
    """Whether each trip of outer loops may run all of these at once."""
    outer = nests[0].extents[:depth]
    if nest.extents[:depth] != outer or all(e == ONE for e in outer):
        return False
    for own in (*nests, nest):
        if _is_within(own, depth) and any(map(_BY_VECTORS.search, written(own))):
            return False
    return all(
        _is_apart(_Access(s, a, depth), _Access(t, nest, depth), share)
        for a in nests for s in a.stores for t in nest.stores
    )  # fmt: skip


@dataclass
class _Access:
    """A store in loops of which the first `depth` are to be shared."""

    store: Store
    nest: Nest
    depth: int

    @property
    def target(self) -> Leaf | None:
        """What is written, if its axes are those of the loops."""
        return self.store.target if isinstance(self.store.target, Leaf) and self.store.axes is None else None

    def outer(self, leaf: Leaf) -> dict[int, tuple[int, str, int]]:
        """By axis of memory, the outer loop along which a view moves there, from where, and how fast."""
        ahead = len(self.nest.extents) - leaf.rank
        return {
            k: (p.axis + ahead, p.start, p.stride)
            for k, p in enumerate(leaf.places)
            if p.axis is not None and leaf.extents[p.axis] != ONE and p.axis + ahead < self.depth
        }


def _is_apart(a: _Access, b: _Access, share: Share) -> bool:
    """Whether no trip of the outer loops reads or writes what another one writes."""
    return _leaves_apart(a, b, share) and _leaves_apart(b, a, share)


def _leaves_apart(one: _Access, other: _Access, share: Share) -> bool:
    """Whether what a store writes is read or written by another one in the same trip alone."""
    if one.target is None or other.target is None:
        return False
    root, own = one.target.root, one.outer(one.target)
    reads = {r for r in other.store.value.reads if share(r, root)}
    if reads and (reads != {root} or _is_moved(other.store.value)):
        return False
    met = [leaf for leaf in (other.target, *_read(other.store.value)) if share(leaf.root, root)]
    trips = {k for k, e in enumerate(one.nest.extents[: one.depth]) if e != ONE}
    places = ({axis for k, (axis, *_) in own.items() if other.outer(leaf).get(k) == own[k]} for leaf in met)
    return all(leaf.root == root and trips <= along for leaf, along in zip(met, places, strict=True))


def _read(value: Any) -> list[Leaf]:
    """The views that a value reads at the indices of the loops."""
    if isinstance(value, Leaf):
        return [value]
    return [leaf for o in value.operands for leaf in _read(o)] if isinstance(value, Tree) else []


def _is_moved(value: Any) -> bool:
    """Whether some element is read at other indices than those of the loops."""
    if isinstance(value, Tree):
        return value.places is not None or any(map(_is_moved, value.operands))
    return not isinstance(value, Leaf) and bool(value.reads)


# --- of which arrays a row is held -------------------------------------------------------------------------------------


def _mentions(body: list[Any]) -> Counter[str]:
    """How often names are mentioned."""
    out: Counter[str] = Counter()
    for s in body:
        if isinstance(s, Block):
            out += Counter(_WORD.findall(s.head)) + _mentions(s.body) + _mentions(s.orelse)
        elif isinstance(s, (Line, Nest, Fold, Rows)):
            out.update(w for text in written(s) for w in _WORD.findall(text))
    return out


def _held_rows(body: list[Any], mentions: Counter[str], threads: bool) -> dict[str, tuple[Extent, ...]]:
    """What is left of the memory of arrays that live in outer loops; they are made rows there."""
    allocated = {m[1] for s in body if isinstance(s, Line) and (m := _ALLOCATES.fullmatch(s.text))}
    out: dict[str, tuple[Extent, ...]] = {}
    for s in body:
        if isinstance(s, Block):
            out |= _held_rows(s.body, mentions, threads) | _held_rows(s.orelse, mentions, threads)
        elif isinstance(s, Rows):
            here = Counter(w for text in written(s) for w in _WORD.findall(text))
            for name in allocated & {*here}:
                memory = _row(name, s) if mentions[name] == here[name] + 1 else None
                if memory is not None:
                    kept = slice(0, _kept(s) if threads and memory else 0)
                    s.nests = [_of_rows(nest, name, kept, s.depth) for nest in s.nests]
                    out[name] = (*s.extents[kept], *memory)
    return out


def _kept(rows: Rows) -> int:
    """How many axes of an array are kept so that each trip of the outermost loop has a row of its own."""
    return 1 + next(k for k, e in enumerate(rows.extents) if e != ONE)


def _row(name: str, rows: Rows) -> tuple[Extent, ...] | None:
    """The extents of a row of an array, if each trip writes one as a whole before it reads it, and no other one."""
    memory: tuple[Extent, ...] | None = None
    for nest in rows.nests:
        for store in nest.stores:
            if memory is None and _target(store) == name and name not in store.value.reads:
                memory = _whole(store, nest, rows.depth)
            if not _is_of_trip(name, store, nest, rows.depth) or (memory is None and name in _met(store)):
                return None
            if memory == () and not _is_number(name, store):
                return None
    return memory


def _target(store: Store) -> str | None:
    """The name of the memory of which loops write the elements at their indices."""
    return store.target.root if isinstance(store.target, Leaf) and store.axes is None else None


def _is_number(name: str, store: Store) -> bool:
    """Whether what is stored as an array's element may be a number: it would not be rounded."""
    return _target(store) != name or (store.target.dtype != SINGLE and store.value.dtype == store.target.dtype)


def _fills_apart(body: list[Any], held: set[str]) -> list[Any]:
    """The statements; what loops fill of arrays that are no rows is filled before them: a library does it at once."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            s = Block(s.head, _fills_apart(s.body, held), _fills_apart(s.orelse, held))
        elif isinstance(s, Rows):
            kept: list[Nest] = []
            for nest in s.nests:
                before = {root for own in kept for root in _roots(own)}
                is_apart = _is_fill(nest) and before.isdisjoint(_roots(nest)) and held.isdisjoint(_roots(nest))
                (out if is_apart else kept).append(nest)
            if not kept:
                continue
            s = replace(s, nests=kept) if len(kept) > 1 else kept[0]
        out.append(s)
    return out


def _whole(store: Store, nest: Nest, depth: int) -> tuple[Extent, ...] | None:
    """The extents of the row that a store writes all of; None where it does not."""
    target = store.target
    assert isinstance(target, Leaf)
    every = tuple(Index(axis, "0") for axis in range(len(nest.extents)))
    is_whole = store.op == "=" and target.extents == target.memory == nest.extents and target.places == every
    return target.memory[depth:] if is_whole else None


def _is_of_trip(name: str, store: Store, nest: Nest, depth: int) -> bool:
    """Whether a store meets an array, if at all, in the row that belongs to the trip of outer loops."""
    read = [leaf for leaf in _read(store.value) if leaf.root == name]
    is_elsewhere = name in store.value.reads and (not read or _is_moved(store.value))
    if is_elsewhere or (_target(store) is None and name in _met(store)) or name in nest.numbers:
        return False
    met = [store.target, *read] if _target(store) == name else read
    return all(_is_row(leaf, nest, depth) for leaf in met if isinstance(leaf, Leaf))


def _is_row(leaf: Leaf, nest: Nest, depth: int) -> bool:
    """Whether a view is of the row that belongs to the trip of outer loops."""
    ahead = len(nest.extents) - leaf.rank
    axes = [None if p.axis is None else p.axis + ahead for p in leaf.places]
    first = all(axes[k : k + 1] == [k] and leaf.places[k].start == "0" and leaf.places[k].stride == 1 for k in range(depth))
    if not first or any(a is not None and a < depth for a in axes[depth:]):
        return False
    return all((leaf.extents[k - ahead] == ONE) == (nest.extents[k] == ONE) for k in range(depth))


def _of_rows(nest: Nest, name: str, kept: slice, depth: int) -> Nest:
    """The loops, with the row of an array in its place, and the first axes that are kept."""

    def row(value: Any) -> Any:
        if isinstance(value, Leaf) and value.root == name:
            places, memory = ((*v[kept], *v[depth:]) for v in (value.places, value.memory))
            return replace(value, places=places, memory=memory)
        if isinstance(value, Tree):
            return replace(value, operands=tuple(map(row, value.operands)))
        return replace(value, root=row(value.root), index=row(value.index)) if isinstance(value, Gather) else value

    return replace(nest, stores=[replace(s, target=row(s.target), value=row(s.value)) for s in nest.stores])


def _with_rows(body: list[Any], memory: dict[str, tuple[Extent, ...]]) -> list[Any]:
    """The statements with the memory of rows in place of that of arrays."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            s = Block(s.head, _with_rows(s.body, memory), _with_rows(s.orelse, memory))
        elif isinstance(s, Line) and (m := _ALLOCATES.fullmatch(s.text)) is not None and m[1] in memory:
            if not memory[m[1]]:
                continue
            s = Line(f"{m[1]} = np.empty({shape_of(memory[m[1]])}{m[2]})")
        out.append(s)
    return out
