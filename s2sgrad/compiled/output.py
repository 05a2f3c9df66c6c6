"""The lowered function as statements, and these as text.

Nest((n0, n1), [Store(y, "=", x * 2.0)])      ->      for i in range(n0):
                                                          for j in range(n1):
                                                              y[i, j] = x[i, j] * 2.0
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from s2sgrad.compiled.values import ONE, Extent, Extents, Gather, Leaf, element

TRIP = "trip_"
_SHORT = ("i", "j", "k", "l", "m", "n", "o", "p")
INDICES = [f"{_SHORT[k] if k < len(_SHORT) else f'i{k}'}_" for k in range(64)]  # NumPy has no more axes


@dataclass
class Line:
    """One statement."""

    text: str


@dataclass
class Store:
    """Elements that are written.  `number`: what an element of the target is called in loops that fold into it alone."""

    target: Leaf | Gather
    op: str
    value: Any
    axes: tuple[int, ...] | None = None  # the axes of the loops that the target has; None for all of them
    number: str = ""

    def text(self, indices: list[str]) -> str:
        """The statement for these indices of the loops."""
        own = indices if self.axes is None else [indices[k] for k in self.axes]
        return f"{self.target.at(own)} {self.op} {element(self.value, indices)}"


@dataclass
class Nest:
    """Loops over all indices.  `numbers`: arrays that live in them alone, of which one number at a time is held.
    `parallel`: the trips of the outermost one are shared between threads."""

    extents: Extents
    stores: list[Store]
    numbers: set[str] = field(default_factory=set)
    parallel: bool = False


@dataclass
class Rows:
    """Loops that share the first `depth` of their loops."""

    depth: int
    nests: list[Nest]
    parallel: bool = False

    @property
    def extents(self) -> Extents:
        """Those of the shared loops."""
        return self.nests[0].extents[: self.depth]


@dataclass
class Fold:
    """Loops that fold all elements into a number; `step` is the statement, in which `{}` stands for the element."""

    extents: Extents
    value: Any
    step: str


@dataclass
class Block:
    """A compound statement."""

    head: str
    body: list[Any] = field(default_factory=list)
    orelse: list[Any] = field(default_factory=list)


def indices_of(extents: Extents) -> list[str]:
    """A name for the index of each loop; 0 where there is none."""
    return ["0" if e == ONE else i for i, e in zip(INDICES, extents, strict=False)]


def loops(extents: Extents, indices: list[str]) -> list[str]:
    """The heads of the loops, each indented below the one before."""
    heads = [f"for {i} in range({e}):" for i, e in zip(indices, extents, strict=True) if i != "0"]
    return ["    " * k + head for k, head in enumerate(heads)]


def written(statement: Any, depth: int = 0) -> list[str]:
    """The lines of a statement; of loops, those below the first `depth`."""
    if isinstance(statement, Line):
        return [statement.text]
    if isinstance(statement, Block):
        lines = [statement.head, *_indented(statement.body)]
        return lines + (["else:", *_indented(statement.orelse)] if statement.orelse else [])
    indices = indices_of(statement.extents)
    heads = loops(statement.extents[depth:], indices[depth:])
    indent = "    " * len(heads)
    if isinstance(statement, Fold):
        return [*heads, indent + statement.step.format(element(statement.value, indices))]
    if statement.parallel:  # numba counts such trips without a sign
        outer, _, ends = heads[0].removeprefix("for ").partition(" in ")
        heads[0:1] = [f"for {TRIP} in p{ends}", f"    {outer} = np.int64({TRIP})"]
    if isinstance(statement, Rows):
        return [*heads, *(indent + line for nest in statement.nests for line in written(nest, statement.depth))]
    texts = [store.text(indices) for store in statement.stores]
    for name in statement.numbers:
        texts = [re.sub(rf"\b{name}\[{', '.join(indices)}\]", name, text) for text in texts]
    before, texts, after = _held(statement.stores, texts, indices, depth)
    outside = indent.removeprefix("    ")
    return [*heads[:-1], *(outside + text for text in before), *heads[-1:], *(indent + text for text in texts),
            *(outside + text for text in after)]  # fmt: skip


def _held(stores: list[Store], texts: list[str], indices: list[str], depth: int) -> tuple[list[str], list[str], list[str]]:
    """The statements before, in and after an innermost loop in which folds are numbers: no store has to reach memory.

    for j: s[i] = s[i] + x[i, j]      ->      t = s[i]; for j: t = t + x[i, j]; s[i] = t
    """
    inner = next((i for i in reversed(indices[depth:]) if i != "0"), None)
    before, after = [], []
    for k, store in enumerate(stores):
        is_element = isinstance(store.target, Leaf) and bool(store.target.places)
        place = store.target.at(indices) if store.number and inner is not None and is_element else ""
        if place and inner not in re.findall(r"\w+", place):
            before.append(f"{store.number} = {place}")
            after.append(f"{place} = {store.number}")
            texts[k] = re.sub(rf"\b{re.escape(place)}", store.number, texts[k])
    return before, texts, after


def _indented(body: list[Any]) -> list[str]:
    return ["    " + line for s in body for line in written(s)] or ["    pass"]


def text_of(name: str, parameters: list[str], body: list[Any]) -> str:
    """The text of a lowered function, without superfluous parentheses."""
    text = "\n".join([f"def {name}({', '.join(parameters)}):", *_indented(body)])
    return ast.unparse(ast.parse(text)) + "\n"


def size_of(extents: Extents) -> str:
    """The number of elements."""
    return " * ".join(f"({e})" for e in extents) or "1"


def shape_of(extents: Extents) -> str:
    """The text of a shape."""
    return f"({', '.join(map(str, extents))},)"


__all__ = ["Block", "Extent", "Fold", "Line", "Nest", "Rows", "Store", "shape_of", "size_of", "text_of"]
