"""What the sweep does with the entries of a run, as statements.

(pull_product, node of x, node of w, ..)      ->      x_bar = y_bar * w; w_bar = y_bar * x
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.api.run_formulas import bound, formula, inlined, slopes
from s2sgrad.api.run_names import NotShown, index_text
from s2sgrad.api.run_variables import PART, Variables, identifier, item
from s2sgrad.recorded import memory, operations
from s2sgrad.recorded.honest import Honest
from s2sgrad.recorded.patterns import Kept
from s2sgrad.recorded.runs import Root
from s2sgrad.rules.selections import picked


class Backward:
    """Writes what the sweep does with entries."""

    def __init__(self, variables: Variables) -> None:
        self.v = variables

    def write(self, place: int, entry: tuple) -> None:
        """Write what the sweep does with an entry."""
        self.v.place, pull = place, entry[0]
        if pull is memory.pull_store:
            return self._unstore(entry)
        if pull is memory.pull_stored_item:
            return self._unstore_item(entry)
        if pull in (operations.pull, operations.pull_fresh):
            return self._pull(entry)
        g = self.v.bars.pop(place, None)
        if g is None:
            return None
        if pull is memory.pull_item:
            self._begin(entry[1])
            return self.v.emit(f"{self.v.bars[entry[1]]}[{item(entry[1], entry[2])}] += {g}", None)
        if pull in (operations.pull_number, operations.pull_numbers):
            return self._pull_numbers(place, entry, g)
        for node, text in slopes(pull, g, self.v.nodes[place], entry, self.v.number):
            if node is not None:
                self.give_number(node, text)
        return None

    def _pull_numbers(self, place: int, entry: tuple, g: str) -> None:
        call, single = entry[1], entry[0] is operations.pull_number
        texts, places = ([self.v.nodes[entry[2]]], [entry[2]]) if single else (self.v.numbers(entry), entry[2])
        parts = self.parts(call, g, self.v.nodes[place], texts, {})
        for k in (0,) if single else call.wanted:
            if (part := parts(k)) is not None:
                self.give_number(places[k], part)

    def _pull(self, entry: tuple) -> None:
        _, call, operands, keywords, result, _ = entry
        g = self._arrived(result)
        if g is None:
            return
        if call.refusal is not None or call.keyword_pullbacks:
            raise NotShown("a call")
        texts, named = [self.v.then(o) for o in operands], {k: self.v.then(v) for k, v in keywords.items()}
        if call.primitive is picked and type(operands[0]) is Kept:
            index = self.v.index_of(named, texts)
            if _is_basic(self.v.now(named["index"] if "index" in named else texts[1])):
                self._begin_of(operands[0])
                return self.v.emit(f"{self.v.view(operands[0], True)}[{index}] += {g}", None)
        y = self.v.then(result) if type(result) is Kept else ", ".join(["(", *map(self.v.then, result), ")"])
        parts = self.parts(call, g, y, texts, named)
        for k in call.wanted:
            if (part := parts(k)) is not None:
                self.share(operands[k], part, call.elementwise)
        return None

    def _arrived(self, result: Any) -> str | None:
        """The cotangent of a result, which is used up."""
        if type(result) is Kept:
            key = result.node if result.root is None else result.root
            if key not in self.v.bars:
                return None
            text = self.v.bars[key] if result.root is None else self.v.view(result, True)
            del self.v.bars[key]
            return text
        texts = [self._arrived(r) if type(r) is Kept else None for r in result]
        if all(t is None for t in texts):
            return None
        zeros = [f"np.zeros_like({self.v.then(r)})" if type(r) is Kept else "None" for r in result]
        return f"({', '.join(t or z for t, z in zip(texts, zeros, strict=True))},)"

    def share(self, operand: Any, part: str, elementwise: bool) -> None:
        """Give an operand, or the items of one, their cotangent."""
        if type(operand) is Kept:
            self.give(operand, part, elementwise)
        elif type(operand) in (list, tuple):
            if not part.isidentifier():
                part = self.v.bind(PART, part)
            for k, item in enumerate(operand):
                self.share(item, f"{part}[{k}]", False)

    def give(self, kept: Kept, part: str, elementwise: bool) -> None:
        """Add to the cotangent of an operand, in its shape."""
        if not kept.followed:
            return
        shape = () if kept.root is None else kept.where.shape
        found = self.v.now(part)
        root = kept.root
        if np.shape(found) == () != shape and not elementwise:
            if root not in self.v.bars and kept.where is root.owner:  # type: ignore[union-attr]
                part = f"np.full_like({self.v.view(kept)}, {part})"
        elif np.shape(found) != shape:
            x = self.v.nodes[kept.node] if kept.root is None else self.v.view(kept)
            unbroadcast = self.v.names.of_object(runtime.unbroadcast) if elementwise else ""
            part = f"{unbroadcast}({part}, {x})" if elementwise else f"np.broadcast_to({part}, {x}.shape)"
        if root is None:
            return self.give_number(kept.node, part)
        found = self.v.now(part)
        if kept.where is not root.owner:
            self._begin(root)
            view = self.v.view(kept, True)
            return self.v.emit(f"{view} += {part}" if view.endswith("]") else f"{view}[...] += {part}", None)
        if root in self.v.bars:
            return self.v.emit(f"{self.v.bars[root]} += {part}", None)
        if not isinstance(found, np.ndarray) or found.dtype != root.owner.dtype:
            part = f"np.array({part}, dtype={self.v.roots[root]}.dtype)"
        elif not found.flags.writeable or self._is_shared(found):
            part = f"{part}.copy()" if re.fullmatch(r"[\w.\[\], :]+", part) else f"np.array({part})"
        self.v.bars[root] = self._bar(self.v.roots[root])
        return self.v.emit(f"{self.v.bars[root]} = {part}", self.v.bars[root])

    def give_number(self, node: int, part: str) -> None:
        """Add to the cotangent of a number."""
        if isinstance(self.v.now(part), np.ndarray):
            part = f"np.sum({part})"
        if node in self.v.bars:
            return self.v.emit(f"{self.v.bars[node]} += {part}", None)
        self.v.bars[node] = self._bar(self.v.nodes[node])
        return self.v.emit(f"{self.v.bars[node]} = {part}", self.v.bars[node])

    def _is_shared(self, found: np.ndarray) -> bool:
        return any(isinstance(v, np.ndarray) and np.may_share_memory(v, found) for v in list(self.v.names.space.values()))

    def _bar(self, name: str) -> str:
        return f"{name}_bar" if name.isidentifier() else f"{self.v.names.new(identifier(name))}_bar"

    def _begin(self, root: Root) -> None:
        """Zeros for the cotangent of a memory, unless something has arrived."""
        if root not in self.v.bars:
            self.v.bars[root] = self._bar(self.v.memory(root))
            self.v.emit(f"{self.v.bars[root]} = np.zeros_like({self.v.memory(root)})", self.v.bars[root])

    def _begin_of(self, kept: Kept) -> None:
        self._begin(kept.root)  # type: ignore[arg-type]

    def _unstore(self, entry: tuple) -> None:
        _, target, index, stored, shape = entry
        if target.root not in self.v.bars:
            return
        place = f"{self.v.view(target, True)}[{index_text(index)}]"
        _require_single(np.shape(target.where), index)
        part = place
        if stored is not None:
            found = np.shape(self.v.now(place))
            if len(shape) > len(found):
                part = f"{place}.reshape({shape})"
            if stored.root is target.root:
                part = self.v.bind(PART, f"{part}.copy()")
                self.v.emit(f"{place} = 0.0", None)
                return self.give(stored, part, True)
            self.give(stored, part, True)
        return self.v.emit(f"{place} = 0.0", None)

    def _unstore_item(self, entry: tuple) -> None:
        _, root, offset, node = entry
        if root in self.v.bars:
            place = f"{self.v.bars[root]}[{item(root, offset)}]"
            if node is not None:
                self.give_number(node, place)
            self.v.emit(f"{place} = 0.0", None)

    def parts(self, call: Any, g: str, y: str, operands: list[str], keywords: dict[str, str]) -> Callable[[int], str | None]:
        """The cotangents of the operands as expressions: the formula of the rule, or a call of it."""
        texts = [g, y, *operands]
        pullback = call.pullback.pullback if isinstance(call.pullback, Honest) else call.pullback
        tree = formula(pullback)
        values = bound(pullback, texts, keywords)
        if tree is not None and values is not None:
            body = tree.body[-1].value
            elements = body.elts if isinstance(body, gast.Tuple) and not call.single else None
            known = {k: inlined(e, values, pullback, self.v.names) for k, e in enumerate(elements or [body])}
            if elements is not None or call.single:
                return known.get
        named = [f"{k}={v}" for k, v in keywords.items()]
        text = f"{self.v.names.of_rule(pullback, f'{call.name}_pullback')}({', '.join([*texts, *named])})"
        if call.single:
            return lambda _: text
        name = self.v.bind("parts", text)
        return lambda k: None if self.v.now(f"{name}[{k}]") is None else f"{name}[{k}]"


def _is_basic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(k is None or k is ... or isinstance(k, (int, slice)) for k in parts)


def _require_single(shape: tuple[int, ...], index: Any) -> None:
    """An index that stores two values at one place is not shown."""
    places = np.arange(int(np.prod(shape))).reshape(shape)[index]
    if np.unique(places).size != places.size:
        raise NotShown("an index that repeats places")
