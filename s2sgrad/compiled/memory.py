"""Copies of what is not read again are the memory itself, and memory that begins as zeros is allocated so.

y = np.empty((n,))                             y = np.zeros((n,))
for i in range(n): y[i] = 0.0                  for i in range(n): y[k[i]] += x[i]
for i in range(n): y[k[i]] += x[i]     ->      t = y
t = np.empty((n,))                             return t
for i in range(n): t[i] = y[i]
return t
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from s2sgrad.compiled.output import Block, Line, Nest, written
from s2sgrad.compiled.values import Leaf, Tree, element, unchanged

_ALLOCATES = re.compile(r"(\w+) = np\.empty\(")
_MAKES = re.compile(r"(\w+) = np\.(empty|dot)\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ZEROS = {"float64": "0.0", "float32": "np.float32(0.0)", "int64": "0", "bool": "False"}

Share = Callable[[str, str], bool]


def handed_on(body: list[Any], share: Share, mentions: Counter[str]) -> list[Any]:
    """The statements without copies of memory that nothing mentions afterwards; `mentions`: of names in the function."""
    out: list[Any] = []
    seen: Counter[str] = Counter()
    made: set[str] = set()  # memory of this block
    for s in body:
        words = Counter(_words(s))
        if isinstance(s, Block):
            s = Block(s.head, handed_on(s.body, share, mentions), handed_on(s.orelse, share, mentions))
        elif isinstance(s, Line) and (m := _MAKES.match(s.text)) is not None:
            made.add(m[1])
        elif isinstance(s, Nest) and (names := _copied(s)) is not None:
            old, new = names
            is_last = old in made and new in made and seen[old] + words[old] == mentions[old]
            if is_last and seen[new] == 1 and not any(share(old, n) for n in mentions if n != old):
                out = [o for o in out if not (isinstance(o, Line) and o.text.startswith(f"{new} = np.empty("))]
                s = Line(f"{new} = {old}")
        seen += words
        out.append(s)
    return out


def _copied(nest: Nest) -> tuple[str, str] | None:
    """The names of memory of which all is copied, and of its copy, if that is all that loops do."""
    (store, *others) = nest.stores
    target, value = store.target, store.value
    if others or store.op != "=" or store.axes is not None or not isinstance(target, Leaf) or nest.numbers:
        return None
    while isinstance(value, Tree) and value.write is unchanged and value.places is None:
        (value,) = value.operands
    if not isinstance(value, Leaf) or not value.is_whole or not target.is_whole or value.dtype != target.dtype:
        return None
    return (value.root, target.root) if value.extents == target.extents == nest.extents else None


def zeroed(body: list[Any]) -> list[Any]:
    """The statements, with memory that is filled with zeros before anything else allocated as zeros."""
    out: list[Any] = []
    fresh: dict[str, int] = {}  # where memory is allocated that was not mentioned since
    for s in body:
        if isinstance(s, Block):
            s = Block(s.head, zeroed(s.body), zeroed(s.orelse))
        if isinstance(s, Nest):
            for name in _filled(s, {*fresh}):
                line = out[fresh[name]]
                out[fresh[name]] = Line(line.text.replace("np.empty(", "np.zeros(", 1))
                first = next(k for k, t in enumerate(s.stores) if isinstance(t.target, Leaf) and t.target.root == name)
                kept = [*s.stores[:first], *s.stores[first + 1 :]]  # it may be filled again behind
                s = replace(s, stores=kept)
        for word in _words(s):
            fresh.pop(word, None)
        if isinstance(s, Line) and (m := _ALLOCATES.match(s.text)) is not None:
            fresh[m[1]] = len(out)
        if not isinstance(s, Nest) or s.stores:
            out.append(s)
    return out


def _filled(nest: Nest, fresh: set[str]) -> list[str]:
    """The memory among `fresh` that loops fill with zeros before they read or write it otherwise."""
    out, mentioned = [], set(nest.numbers)
    for store in nest.stores:
        target = store.target
        name = target.root if isinstance(target, Leaf) and target.is_whole and target.extents == nest.extents else ""
        if name in fresh and name not in mentioned and is_zero(store):
            out.append(name)
        mentioned |= {*_words(Nest(nest.extents, [store]))}
    return out


def is_zero(store: Any) -> bool:
    """Whether zeros are written."""
    value = store.value
    if store.op != "=" or store.axes is not None or value.reads or value.dtype != store.target.dtype:
        return False
    return element(value, ["?"] * store.target.rank) == _ZEROS[value.dtype]


def _words(s: Any) -> list[str]:
    if isinstance(s, Block):
        return [*_WORD.findall(s.head), *(w for part in (*s.body, *s.orelse) for w in _words(part))]
    return [w for text in written(s) for w in _WORD.findall(text)] if not isinstance(s, Nest) or s.stores else []
