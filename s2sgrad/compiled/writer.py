"""Writes a lowered function: fresh names, memory, loops, checks of sizes, and what is not computed yet.

t = x * 2.0; y[0] = 1.0; z = t + w      ->      `t` waits until it is used, or until what it reads is written
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from s2sgrad.compiled.output import Block, Line, Nest, Store, shape_of
from s2sgrad.compiled.values import (
    INT,
    ONE,
    Extent,
    Extents,
    Gather,
    Leaf,
    Object,
    Scalar,
    Tree,
    Unfit,
    is_array,
    leaves,
    mapped,
    whole,
)

_ATOM = re.compile(r"[A-Za-z_]\w*|\(?-?[\d.]+(e[+-]?\d+)?\)?|\([A-Za-z_]\w* [+-] \d+\)")
_DTYPES = {"float64": "", "float32": ", np.float32", "int64": ", np.int64", "bool": ", np.bool_"}


class Again(Exception):
    """Something was found out that changes what was written before: start over."""


UNKNOWN = "?"  # what says something of a number of a list, where nothing does yet; before a name, that of the list


@dataclass
class Numbers:
    """What is known of variables that are numbers.  `told`: what flags say, by variable, as something asks for it."""

    either: set[str] = field(default_factory=set)  # numbers of Python's at times
    whole: set[str] = field(default_factory=set)  # integers at times, and floats at others
    without_axes: dict[str, bool | None] = field(
        default_factory=dict
    )  # whether they are arrays without axes; None: at times
    told: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class Sharing:
    """Which names may stand for one memory: a union-find.  `is_news`: a pass joined some, and did not know it before."""

    groups: dict[str, str] = field(default_factory=dict)
    is_news: bool = False

    def group(self, root: str) -> str:
        """The representative of the memory under a name."""
        while root in self.groups:
            root = self.groups[root]
        return root

    def join(self, a: str, b: str) -> None:
        """Note that two names may stand for one memory: what was written so far did not know it, nor what it raises."""
        a, b = self.group(a), self.group(b)
        if a != b:
            self.groups[a] = b
            self.is_news = True


@dataclass
class Found:
    """What is known after a pass over the function, and assumed in the next one."""

    variables: set[str] = field(default_factory=set)  # besides those that are bound twice
    unrolled: set[str] = field(default_factory=set)  # variables of loops of which each trip is written
    types: dict[str, Any] = field(default_factory=dict)  # of variables
    sharing: Sharing = field(default_factory=lambda: Sharing())
    written: set[str] = field(default_factory=set)  # names of memory that is written
    assumed: set[str] = field(default_factory=set)  # of memory that is assumed not to be
    items: dict[tuple[str, int | str], str] = field(default_factory=dict)  # names of the items of tuples
    kept: dict[Any, str] = field(default_factory=dict)  # calls that NumPy computes, and why they have no loops
    unbound: set[str] = field(default_factory=set)  # variables that may be read before they are bound
    optional: set[str] = field(default_factory=set)  # variables that are None at times
    numbers: Numbers = field(default_factory=Numbers)
    lists: dict[str, Any] = field(default_factory=dict)  # what all items of a list have in common
    moving: set[str] = field(default_factory=set)  # lists whose views are written while they are collected
    mixed: set[str] = field(default_factory=set)  # lists whose items have several types
    flagged: set[str] = field(default_factory=set)  # lists of numbers beside which stands whether they are Python's

    def may_be_none(self, types: dict[str, Any]) -> None:
        """Note variables that are None at times, and their types at others."""
        self.optional |= {*types}
        self.unbound |= {*types}
        self.types.update({key: what for key, what in types.items() if what is not None})

    def join(self, a: str, b: str) -> None:
        """Note that two names may stand for one memory."""
        self.sharing.join(a, b)

    def share(self, a: str, b: str) -> bool:
        """Whether two names may stand for one memory."""
        return self.sharing.group(a) == self.sharing.group(b)


class Writer:
    """The statements so far.  `held`: tables of values under names, in which some are not computed yet."""

    def __init__(self, found: Found, taken: set[str]) -> None:
        self.found, self.taken = found, taken
        self.out: list[Any] = []
        self.held: list[dict[str, Any]] = []
        self.facts: dict[str, Extent] = {}  # sizes that are known to be equal to others
        self.checked: set[str] = set()  # the checks that were written, and still hold
        self.outermost: set[str] = set()  # sizes that are the same in the whole function
        self.lengths: set[str] = set()  # names of integers that are not negative
        self.pushed: list[tuple[str, int]] = []  # lists of several types, and which of these was pushed to them
        self.log: list[str] = []  # the memory that was written so far
        self.open: dict[str, tuple[str, list[Any], int]] = {}  # lists that only collect: names, statements, place in the log
        self.views: dict[str, set[str]] = {}  # the memory of which such lists have copies
        self._counts: dict[str, int] = {}
        self._lists: dict[str, int] = {}  # how often lists of a name began
        self._fresh: set[str] = set()

    # --- names and lines ---

    def fresh(self, stem: str) -> str:
        """A new name."""
        while True:
            self._counts[stem] = k = self._counts.get(stem, -1) + 1
            name = f"{stem}{k}"
            if name not in self.taken and name not in self.found.items.values():
                self._fresh.add(name)
                return name

    def item(self, name: str, k: int | str) -> str:
        """The name of an item of the tuple under a name."""
        if (name, k) not in self.found.items:
            own = f"{name}_{k}"
            while own in self.taken:
                own += "_"
            self.found.items[name, k] = own
            if own in self._fresh:
                raise Again
        return self.found.items[name, k]

    def name_of_list(self, name: str) -> str:
        """The name of a list that begins: another one where a loop of which each trip is written begins it anew."""
        self._lists[name] = count = self._lists.get(name, -1) + 1
        return self.item(name, f"again{count}") if count else name

    def asked(self, says: str) -> str:
        """What says whether a number is Python's, or an integer: the flags of variables that it reads are written."""
        if lists := re.findall(rf"{re.escape(UNKNOWN)}(\w+)", says):
            self.found.flagged.update(lists)
            raise Again
        if UNKNOWN in says:
            raise Unfit("what asks whether a number of a list is an integer")
        names, known = {*re.findall(r"\w+", says)}, self.found.numbers
        keys = [(key, "own") for key in known.either] + [(key, "whole") for key in known.whole]
        new = {(key, which) for key, which in keys if self.item(key, which) in names} - known.told
        if new:
            known.told |= new
            raise Again
        return says

    def named(self, value: Scalar, stem: str) -> Scalar:
        """A number under a new name, which nothing changes."""
        name = self.fresh(stem)
        self.line(f"{name} = {value.text}")
        own, whole = (_held(self, says, stem) for says in (value.own, value.whole))
        return replace(value, text=name, reads=frozenset(), affine=None, own=own, whole=whole)

    def line(self, text: str) -> None:
        """Write a statement."""
        self.out.append(Line(text))

    def once(self, text: str) -> None:
        """Write a check, unless it holds here already."""
        if text not in self.checked:
            self.checked.add(text)
            self.line(text)

    @contextmanager
    def block(self, head: str, into: Block | None = None) -> Iterator[Block]:
        """Write a compound statement; with `into`, its other branch."""
        outer, facts, checked = self.out, dict(self.facts), set(self.checked)
        block = into or Block(head)
        self.out = block.orelse if into else block.body
        yield block
        self.out, self.facts, self.checked = outer, facts, checked
        if into is None:
            outer.append(block)

    # --- sizes ---

    def canonical(self, extent: Extent) -> Extent:
        """The extent by the name that stands for all equal ones."""
        while (base := extent.base) is not None and base in self.facts:
            extent = self.facts[base].plus(extent.offset)
        return extent

    def same(self, a: Extent, b: Extent) -> Extent:
        """Check that two extents agree."""
        a, b = self.canonical(a), self.canonical(b)
        if a == b:
            return a
        if a.base == b.base:
            raise Unfit(f"sizes {a} and {b} do not agree")
        self.once(f"same({a}, {b})")
        if b.base is None or (b.base in self.outermost and a.base is not None and a.base not in self.outermost):
            a, b = b, a
        assert b.base is not None  # the bases differ
        self.facts[b.base] = a.plus(-b.offset)
        return a

    def at_least(self, extent: Extent, least: int) -> None:
        """Check that an extent is not less than an integer."""
        extent = self.canonical(extent)
        if extent.base is None:
            if extent.offset < least:
                raise Unfit(f"an axis of length {extent} is too short")
        elif least - extent.offset > 0:
            self.once(f"at_least({extent.base}, {least - extent.offset})")

    def extent(self, value: Any, least: int | None = None) -> Extent:
        """An integer as an extent: a name that is bound once, if it is not one yet."""
        if not isinstance(value, Scalar) or value.dtype != INT:
            raise Unfit("a size that is no integer")
        if value.affine is not None:
            if least is not None:
                self.at_least(value.affine, least)
            return self.canonical(value.affine)
        name = self.fresh("n")
        self.line(f"{name} = {value.text}")
        if least is not None:
            self.once(f"at_least({name}, {least})")
            self.lengths |= {name} if least >= 0 else set()
        return Extent(name)

    def broadcast(self, all_: Iterable[Extents]) -> Extents:
        """The extents of an operation on arrays of these extents."""
        out: list[Extent] = []
        for extents in all_:
            reverse = [self.canonical(e) for e in extents[::-1]]
            for k, e in enumerate(reverse):
                if k == len(out):
                    out.append(e)
                elif out[k] == ONE:
                    out[k] = e
                elif e != ONE:
                    out[k] = self.same(out[k], e)
        return tuple(out[::-1])

    # --- memory ---

    def allocate(self, name: str, extents: Extents, dtype: str) -> Leaf:
        """New memory under a name."""
        self.line(f"{name} = np.empty({shape_of(extents)}{_DTYPES[dtype]})")
        return whole(name, extents, dtype)

    def stored(self, value: Any, name: str | None = None) -> Leaf:
        """The elements of a value in new memory."""
        leaf = self.allocate(name or self.fresh("a"), tuple(map(self.canonical, value.extents)), value.dtype)
        self.out.append(Nest(leaf.extents, [Store(leaf, "=", value)]))
        return leaf

    def in_memory(self, value: Any) -> Any:
        """An array that is all of some memory, in its order; a number as it is."""
        if isinstance(value, (Tree, Gather)) or (isinstance(value, Leaf) and not value.is_whole):
            return self.stored(value)
        return value

    def write(self, target: Leaf, value: Any) -> None:
        """Write elements into memory that other names may share."""
        self.will_write(target.root)
        if isinstance(value, Scalar):
            value = self.settled(value)
        elif any(self.found.share(leaf.root, target.root) and leaf != target for leaf in leaves(value)) or (
            _reads_elsewhere(value) and any(self.found.share(r, target.root) for r in value.reads)
        ):
            value = self.stored(value)
        self.out.append(Nest(target.extents, [Store(target, "=", value)]))

    def will_write(self, root: str) -> None:
        """Compute what reads this memory, before it is written."""
        self.log.append(root)
        for stack, roots in self.views.items():
            if any(self.found.share(root, other) for other in roots):
                self.found.moving.add(stack)
                raise Again
        if root not in self.found.written:
            self.found.written.add(root)
            if any(self.found.share(root, other) for other in self.found.assumed):
                raise Again
        self.touch(lambda names: any(self.found.share(root, n) for n in names))

    def stays(self, root: str) -> bool:
        """Whether memory is never written: a copy of it is as good."""
        self.found.assumed.add(root)
        return not any(self.found.share(root, other) for other in self.found.written)

    # --- what is not computed yet ---

    def touch(self, concerns: Any) -> None:
        """Compute the values that read certain names."""
        for held in self.held:
            for name, value in [*held.items()]:
                if concerns(value.reads):
                    held[name] = self.settled(value, name)

    def settle(self) -> None:
        """Compute all that was not computed yet."""
        self.touch(lambda names: True)

    def settled(self, value: Any, stem: str = "t") -> Any:
        """The same value, computed here."""

        def settled(part: Any) -> Any:
            if isinstance(part, (Tree, Gather)):
                return self.stored(part, self.fresh(f"{stem}_"))
            if isinstance(part, Scalar) and part.affine is None and not _is_constant(part):
                named = self.named(part, f"{stem}_")
                return replace(named, affine=Extent(named.text) if part.dtype == INT else None)
            return part

        return mapped(settled, value)

    def rebound(self, names: set[str]) -> None:
        """Prepare for these variables to be bound anew: what reads them is computed, and views keep the old array."""
        self.touch(lambda reads: not names.isdisjoint(reads))
        old: dict[str, str] = {}
        for name in sorted({r for held in self.held for v in held.values() for r in v.reads} & names):
            old[name] = self.fresh(f"{name}_")
            self.line(f"{old[name]} = {name}")
            self.found.join(old[name], name)
        self.renamed(old)

    def renamed(self, names: dict[str, str]) -> None:
        """Let views be of the memory under other names."""

        def renamed(part: Any) -> Any:
            return replace(part, root=names[part.root]) if isinstance(part, Leaf) and part.root in names else part

        for held in self.held:
            held.update({n: mapped(renamed, v) for n, v in held.items() if not v.reads.isdisjoint(names)})


def _held(writer: Writer, says: str, stem: str) -> str:
    """What says something of a number, under a new name."""
    if not says or UNKNOWN in says:
        return says
    name = writer.fresh(stem)
    writer.line(f"{name} = {writer.asked(says)}")
    return name


def _is_constant(value: Scalar) -> bool:
    return (not value.reads and _ATOM.fullmatch(value.text) is not None) or value.text in ("np.inf", "(-np.inf)", "np.nan")


def _reads_elsewhere(value: Any) -> bool:
    """Whether elements are read at other places than they are written: of gathered rows, behind other indices, or one."""
    if isinstance(value, Tree):
        return value.places is not None or any(map(_reads_elsewhere, value.operands))
    return isinstance(value, Gather) or (isinstance(value, Scalar) and bool(value.reads))


def required_array(value: Any) -> Any:
    """The value, which is an array."""
    if not is_array(value):
        raise Unfit("what is no array" if not isinstance(value, Object) else f"{value.value!r} in place of an array")
    return value
