"""Memory that nothing reads is not written, and memory that holds one number everywhere is that number.

    for i in range(n): s[i] = 1.0
    for i in range(n): out[i] = exp(x[i])      ->      for i in range(n): y[i] = 1.0 * x[i]
    for i in range(n): y[i] = s[i] * x[i]

What may raise is computed all the same.
"""

from __future__ import annotations

import dis
import functools
import re
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from s2sgrad.compiled import scalars
from s2sgrad.compiled.output import Block, Line, Nest, Store, indices_of, written
from s2sgrad.compiled.values import Leaf, Scalar, Tree, element

_ALLOCATES = re.compile(r"(\w+) = np\.(?:empty|zeros)\(")
_NUMBER = re.compile(r"\(?-?[\d.]+(?:e[+-]?\d+)?\)?|np\.float32\([\d.]+\)|True|False")
_WORD = re.compile(r"[A-Za-z_]\w*")

Share = Callable[[str, str], bool]


def without_unread(body: list[Any], share: Share) -> list[Any]:
    """The statements of a function without stores that nobody sees."""
    body = _with_numbers(body, share)
    own, seen, stores = _Words.of(body)
    while new := {n for target, words in stores if target in seen or target not in own for n in words} - seen:
        seen |= new
    unread = _alone({*own} - seen, own.keys() | seen, share)
    return _without(body, unread) if unread else body


def _alone(names: set[str], others: set[str], share: Share) -> set[str]:
    """Those whose memory none of the others may stand for."""
    return {n for n in names if not any(share(n, other) for other in others if other != n)}


class _Words:
    """The words of the statements of a function.  `own`: how often memory is allocated under a name; `seen`: all that is
    mentioned besides stores; `stores`: the memory that each writes, and what else it mentions."""

    def __init__(self) -> None:
        self.own: Counter[str] = Counter()
        self.seen: set[str] = set()
        self.stores: list[tuple[str, set[str]]] = []

    @classmethod
    def of(cls, body: list[Any]) -> tuple[Counter[str], set[str], list[tuple[str, set[str]]]]:
        """Those of all statements."""
        words = cls()
        for s in _all(body):
            words.add(s)
        return words.own, words.seen, words.stores

    def add(self, s: Any) -> None:
        """Those of one statement."""
        if isinstance(s, Line) and (m := _ALLOCATES.match(s.text)) is not None:
            self.own[m[1]] += 1
            self.seen.update(_WORD.findall(s.text[m.end() :]))
        elif isinstance(s, Block):
            self.seen.update(_WORD.findall(s.head))
        elif isinstance(s, Nest):
            for extent in s.extents:
                self.seen.update({extent.base} if extent.base else ())
            for store in s.stores:
                text = store.text(indices_of(s.extents))
                target = store.target.root if isinstance(store.target, Leaf) else ""
                found = {*_WORD.findall(text)}
                if not target or not found.isdisjoint(raising()):
                    self.seen |= found
                else:
                    self.stores.append((target, found - {target}))
        else:
            self.seen.update(w for text in written(s) for w in _WORD.findall(text))


def _all(body: list[Any]) -> Iterator[Any]:
    """The statements, with those inside of others."""
    for s in body:
        yield s
        if isinstance(s, Block):
            yield from _all(s.body)
            yield from _all(s.orelse)


@functools.cache
def raising() -> frozenset[str]:
    """The functions of single numbers that may raise."""
    functions = {n: f for n, f in vars(scalars).items() if isinstance(f, types.FunctionType)}
    out = {n for n, f in functions.items() if any(i.opname == "RAISE_VARARGS" for i in dis.get_instructions(f))}
    while more := {n for n, f in functions.items() if n not in out and not out.isdisjoint(f.__code__.co_names)}:
        out |= more
    return frozenset(out)


def _without(body: list[Any], unread: set[str]) -> list[Any]:
    """The statements without this memory."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            out.append(Block(s.head, _without(s.body, unread), _without(s.orelse, unread)))
        elif isinstance(s, Nest):
            stores = [t for t in s.stores if not isinstance(t.target, Leaf) or t.target.root not in unread]
            if stores:
                out.append(replace(s, stores=stores))
        elif not (isinstance(s, Line) and (m := _ALLOCATES.match(s.text)) is not None and m[1] in unread):
            out.append(s)
    return out


def _with_numbers(body: list[Any], share: Share) -> list[Any]:
    """The statements with numbers in place of memory that is filled with them, and written nowhere else."""
    own, seen, _ = _Words.of([s for s in _all(body) if not isinstance(s, (Nest, Block))])
    heads = {w for s in _all(body) if isinstance(s, Block) for w in _WORD.findall(s.head)}
    stores = [(s, t, t.target) for s in _all(body) if isinstance(s, Nest) for t in s.stores if isinstance(t.target, Leaf)]
    times = Counter(target.root for *_, target in stores)
    filled = {to.root: Scalar(text, to.dtype) for s, t, to in stores if (text := _filled(s, t)) is not None}
    names = {n for n in filled if times[n] == own[n] == 1} - seen - heads
    numbers = {n: filled[n] for n in _alone(names, own.keys() | seen, share)}
    return _replaced(body, numbers) if numbers else body


def _filled(nest: Nest, store: Store) -> str | None:
    """The number with which loops fill all of some memory, as text."""
    target, value = store.target, store.value
    if not isinstance(target, Leaf) or not target.is_whole or target.extents != nest.extents or store.axes is not None:
        return None
    if store.op != "=" or value.reads or value.dtype != target.dtype:
        return None
    text = element(value, ["?"] * target.rank)
    return text if _NUMBER.fullmatch(text) is not None else None


def _replaced(body: list[Any], numbers: dict[str, Scalar]) -> list[Any]:
    """The statements with numbers in place of the memory under these names, where it is read."""

    def of(value: Any) -> Any:
        if isinstance(value, Leaf):
            return numbers.get(value.root, value)
        if isinstance(value, Tree) and not value.reads.isdisjoint(numbers):
            return replace(value, operands=tuple(map(of, value.operands)))
        return value

    out: list[Any] = []
    for s in body:
        if isinstance(s, Block):
            out.append(Block(s.head, _replaced(s.body, numbers), _replaced(s.orelse, numbers)))
        elif isinstance(s, Nest):
            out.append(replace(s, stores=[t if _is_own(t, numbers) else replace(t, value=of(t.value)) for t in s.stores]))
        else:
            out.append(s)
    return out


def _is_own(store: Store, numbers: dict[str, Scalar]) -> bool:
    return isinstance(store.target, Leaf) and store.target.root in numbers
