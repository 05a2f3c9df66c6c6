"""Additions of one array to shifted sections of another become one loop, which gathers them.

    for i in range(n): y[i] += t[i]                for i in range(n + 2):
    for i in range(n): y[i + 1] += t[i]     ->         y[i] = y[i] + t[i + 2] + t[i + 1] + t[i]
    for i in range(n): y[i + 2] += t[i]

The array lies between zeros, which are written once, before the loops around.  Each element gets its terms in the order
that they had.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from s2sgrad.compiled.memory import is_zero
from s2sgrad.compiled.output import Block, Line, Nest, Store, shape_of, written
from s2sgrad.compiled.values import Extents, Gather, Index, Leaf, Scalar, Tree

_ALLOCATES = re.compile(r"(\w+) = np\.empty\(\([^()]*\)(.*)\)")
_CHECKS = re.compile(r"(same|at_least)\([\w +\-,]*\)")
_BINDS = re.compile(r"(?:for )?((?:\w+, )*\w+) (?:=|in) ")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LEAST = 2  # so many additions are gathered

Share = Callable[[str, str], bool]


@dataclass
class _Term:
    """An array that is added to a section: the places of the section, what is added, and how."""

    target: Leaf
    value: Any
    source: Leaf
    write: Callable[..., str]

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where the section begins."""
        return tuple(int(p.start) for p in self.target.places)


def gathered(body: list[Any], share: Share, mentions: Counter[str]) -> list[Any]:
    """The statements of a function, with shifted additions gathered; `mentions`: of names in the function."""
    out = _gathered_within(body, share, mentions)
    made = _gathered_here(out, share, mentions)
    zeros = {s.text.partition(" = ")[0] for s in made if _is_zeros(s) and not any(s is t for t in out)}
    return [s for k, s in enumerate(made) if not isinstance(s, Nest) or not _fills_first(made, k, zeros)]


def _fills_first(body: list[Any], k: int, zeros: set[str]) -> bool:
    """Whether loops fill one of these arrays with the zeros that it begins with."""
    name = _fills(body[k])
    return name in zeros and not any(name in _words(s) for s in body[:k] if isinstance(s, Nest))


def _gathered_within(body: list[Any], share: Share, mentions: Counter[str]) -> list[Any]:
    """The statements, with shifted additions gathered where blocks have them."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            hoisted, s = _in_block(s, share, mentions)
            out += hoisted
        out.append(s)
    return out


def _fills(nest: Nest) -> str | None:
    """The array that loops fill with zeros, and nothing else."""
    store = nest.stores[0]
    is_fill = len(nest.stores) == 1 and isinstance(store.target, Leaf) and is_zero(store)
    return store.target.root if is_fill and isinstance(store.target, Leaf) else None


def _in_block(block: Block, share: Share, mentions: Counter[str]) -> tuple[list[Any], Block]:
    """A block, and the memory that is to be allocated before it."""
    before: list[Any] = []
    parts = []
    for body in (block.body, block.orelse):
        new = _gathered_within(body, share, mentions)
        if block.head.startswith(("for ", "while ")):
            new = _gathered_here(new, share, mentions)
        parts.append(new)
    bound = _bound([Block(block.head, *parts)])
    for new in parts:
        early = [s for s in new if _is_zeros(s) and bound.isdisjoint(_WORD.findall(s.text.partition(" = ")[2]))]
        before += early
        new[:] = [s for s in new if s not in early]
    return before, Block(block.head, *parts)


def _is_zeros(s: Any) -> bool:
    return isinstance(s, Line) and " = np.zeros(" in s.text


def _bound(body: list[Any]) -> set[str]:
    """The names that statements bind."""
    out: set[str] = set()
    for s in body:
        text = s.head if isinstance(s, Block) else s.text if isinstance(s, Line) else ""
        if (m := _BINDS.match(text)) is not None and not _is_zeros(s):
            out |= {*m[1].split(", ")}
        if isinstance(s, Block):
            out |= _bound(s.body) | _bound(s.orelse)
    return out


def _gathered_here(body: list[Any], share: Share, mentions: Counter[str]) -> list[Any]:
    """The statements of the body of a loop; memory of arrays between zeros is allocated where that of the arrays was."""
    by_source: dict[str, list[dict[int, _Term]]] = {}
    k = 0
    while k < len(body):
        run = _run(body, k, share)
        if len(run) >= _LEAST:
            by_source.setdefault(run[k].source.root, []).append(run)
        k = 1 + max(run, default=k)
    out = list(body)
    for name, runs in by_source.items():
        first, source = min(runs[0]), runs[0][min(runs[0])].source
        line = _allocation(body, first, source, mentions)
        if line is None:
            continue
        pads = tuple(map(max, zip(*(_apart(run) for run in runs), strict=True)))
        out = [_padded(s, name, pads) if isinstance(s, Nest) and name in _words(s) else s for s in out]
        for run in runs:
            for place in run:
                out[place] = Line("")
            out[max(run)] = _made([*run.values()], pads)
        memory = tuple(e.plus(2 * p) for e, p in zip(source.extents, pads, strict=True))
        place = next(j for j, s in enumerate(body) if isinstance(s, Line) and s.text == line[0])
        out[place] = Line(f"{name} = np.zeros({shape_of(memory)}{line[2]})")
    return [s for s in out if not isinstance(s, Line) or s.text]


def _apart(run: dict[int, _Term]) -> list[int]:
    """How far apart the sections of additions begin, along each axis."""
    return [max(starts) - min(starts) for starts in zip(*(t.offsets for t in run.values()), strict=True)]


def _run(body: list[Any], k: int, share: Share) -> dict[int, _Term]:
    """Neighbouring additions of one array to sections of another, from place `k` on, by their places."""
    first = _term(body[k])
    if first is None or share(first.target.root, first.source.root):
        return {}
    out = {}
    for j in range(k, len(body)):
        term = _term(body[j])
        if term is not None and (term.source, term.target.root) == (first.source, first.target.root):
            out[j] = term
        elif not (isinstance(body[j], Line) and _CHECKS.fullmatch(body[j].text)):
            break
    return out


def _term(s: Any) -> _Term | None:
    """What loops add, if that is all that they do."""
    store = s.stores[0] if isinstance(s, Nest) and len(s.stores) == 1 and not s.numbers else None
    if store is None or store.axes is not None or store.op != "=" or not _is_sum(store.target, store.value):
        return None
    target, added = store.target, store.value.operands[1]
    source = _source(added)
    if not isinstance(target, Leaf) or source is None:
        return None
    if source.extents != s.extents or not source.is_whole or source.dtype != target.dtype:
        return None
    return _Term(target, added, source, store.value.write) if _is_section(target) else None


def _is_sum(target: Any, value: Any) -> bool:
    """Whether a value is what is at the target already, plus or minus something."""
    if not isinstance(target, Leaf) or not isinstance(value, Tree) or value.places is not None:
        return False
    return len(value.operands) == 2 and value.operands[0] == target and value.write("a", "b") in ("(a + b)", "(a - b)")


def _is_section(target: Leaf) -> bool:
    """Whether a view begins at places that are known, and goes on one by one along each axis, of unknown lengths."""
    one_by_one = all(p.axis == k and p.stride == 1 and p.start.isdigit() for k, p in enumerate(target.places))
    return one_by_one and target.rank == len(target.places) and all(e.base is not None for e in target.extents)


def _source(value: Any) -> Leaf | None:
    """The array of which a value is a multiple."""
    if isinstance(value, Leaf):
        return value
    if not isinstance(value, Tree) or value.places is not None or value.dtype != "float64":
        return None
    found = [s for s in map(_source, value.operands) if s is not None]
    if len(found) != 1 or not _is_plain(value):
        return None
    return found[0] if _is_multiple(value) else None


def _is_plain(value: Any) -> bool:
    """Whether a value is made of arrays and numbers alone, at the same indices."""
    if isinstance(value, Tree):
        return value.places is None and all(map(_is_plain, value.operands))
    return isinstance(value, (Leaf, Scalar))


def _is_multiple(value: Tree) -> bool:
    """Whether the value for an element that is 0 is known, and 0."""

    def text(v: Any) -> str:
        return "0.0" if isinstance(v, Leaf) else v.text if isinstance(v, Scalar) else v.write(*map(text, v.operands))

    return re.fullmatch(r"[-\d.e+*() ]+", text(value)) is not None and eval(text(value), {}) == 0.0


def _made(terms: list[_Term], pads: tuple[int, ...]) -> Nest:
    """The loop that gathers, of an array that lies between so many zeros."""
    first, low = terms[0], [min(starts) for starts in zip(*(t.offsets for t in terms), strict=True)]
    apart = _apart(dict(enumerate(terms)))
    extents = tuple(e.plus(p) for e, p in zip(first.source.extents, apart, strict=True))
    target = replace(first.target, places=tuple(Index(a, str(b)) for a, b in enumerate(low)), extents=extents)
    value: Any = target
    for term in terms:
        by = tuple(b - o + p for b, o, p in zip(low, term.offsets, pads, strict=True))
        value = Tree(term.write, (value, _moved(term.value, first.source.root, by, extents)), extents, target.dtype)
    return Nest(extents, [Store(target, "=", value)])


def _allocation(body: list[Any], k: int, source: Leaf, mentions: Counter[str]) -> re.Match | None:
    """The statement that allocates an array, all of which is written by the first loops that mention it, before place `k`.

    Other loops of the body read it, and those before write it, and nothing else does.
    """
    name = source.root
    lines = [m for s in body if isinstance(s, Line) and (m := _ALLOCATES.fullmatch(s.text)) and m[1] == name]
    words = [(s, _words(s).count(name)) for s in body if isinstance(s, Nest)]
    nests = [s for s, n in words if n]
    if len(lines) != 1 or mentions[name] != 1 + sum(n for _, n in words):
        return None
    if not _is_set(nests[0], source) or not any(s is nests[0] for s in body[:k]):
        return None
    again = any(_target(store).root == name for s in body[k:] if isinstance(s, Nest) for store in s.stores)
    return None if again else lines[0]


def _words(nest: Nest) -> list[str]:
    return [w for text in written(nest) for w in _WORD.findall(text)]


def _target(store: Store) -> Any:
    return store.target.root if isinstance(store.target, Gather) else store.target


def _is_set(nest: Nest, source: Leaf) -> bool:
    """Whether loops write all of an array, and do not read it."""
    (store, *others) = nest.stores
    return not others and store.target == source and store.op == "=" and source.root not in store.value.reads


def _padded(nest: Nest, name: str, pads: tuple[int, ...]) -> Nest:
    """The loops, with an array that lies between zeros."""

    def moved(value: Any) -> Any:
        return _moved(value, name, pads, None)

    return Nest(nest.extents, [replace(s, target=moved(s.target), value=moved(s.value)) for s in nest.stores], nest.numbers)


def _moved(value: Any, name: str, by: tuple[int, ...], extents: Extents | None) -> Any:
    """A value that reads an array further on; `extents`: of the loops, where they are others."""
    if isinstance(value, Leaf) and value.root == name:
        starts = [p.start if not n else str(int(p.start) + n) if p.start.isdigit() else f"{p.start} + {n}"
                  for p, n in zip(value.places, by, strict=True)]  # fmt: skip
        places = tuple(replace(p, start=start) for p, start in zip(value.places, starts, strict=True))
        return replace(value, places=places, extents=value.extents if extents is None else extents, memory=())
    if isinstance(value, Tree):
        operands = tuple(_moved(o, name, by, extents) for o in value.operands)
        return replace(value, operands=operands, extents=value.extents if extents is None else extents)
    if isinstance(value, Gather):
        return replace(value, root=_moved(value.root, name, by, None), index=_moved(value.index, name, by, None))
    return value
