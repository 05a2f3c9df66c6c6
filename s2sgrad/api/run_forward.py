"""What the entries of a run did, as statements.

(pull_product, node of x, node of w, ..)      ->      y = x * w
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.api.run_names import NotShown, constant, index_text
from s2sgrad.api.run_variables import Variables, item
from s2sgrad.recorded import arithmetic, memory, operations
from s2sgrad.recorded.patterns import Kept
from s2sgrad.rules.selections import picked
from s2sgrad.runtime.asking import its

_SYMBOLS = {arithmetic.pull_sum: "+", arithmetic.pull_difference: "-", arithmetic.pull_product: "*",
            arithmetic.pull_quotient: "/", arithmetic.pull_remainder: "%"}  # fmt: skip
_OF_NUMBERS = {*_SYMBOLS, arithmetic.pull_negative, arithmetic.pull_power}
_OPERATORS = {np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/", np.matmul: "@", np.power: "**"}


class Forward:
    """Writes what entries did."""

    def __init__(self, variables: Variables) -> None:
        self.v = variables

    def write(self, place: int, entry: tuple) -> None:
        """Write what an entry did."""
        self.v.place, pull = place, entry[0]
        if len(entry) == 5 and pull in _OF_NUMBERS:
            self._bind_node(place, self._operator(entry))
        elif pull is memory.pull_item:
            self._bind_node(place, f"{self.v.memory(entry[1])}[{item(entry[1], entry[2])}]")
        elif pull is memory.pull_stored_item:
            value = self.v.nodes.get(entry[3])
            if value is None:
                value = constant(self.v.told.stored[place])
            self.v.stored(entry[1], f"{self.v.memory(entry[1])}[{item(entry[1], entry[2])}] = {value}")
        elif pull is memory.pull_store:
            stored = constant(self.v.told.stored[place]) if entry[3] is None else self.v.operand(entry[3])
            self.v.stored(entry[1].root, f"{self.v.view(entry[1])}[{index_text(entry[2])}] = {stored}")
        elif pull is operations.pull_number:
            self._bind_node(place, self.called(entry[1].primitive, [self.v.nodes[entry[2]]], {}))
        elif pull is operations.pull_numbers:
            self._bind_node(place, self.called(entry[1].primitive, self.v.numbers(entry), {}))
        elif pull in (operations.pull, operations.pull_fresh):
            self._call(place, entry)
        else:
            raise NotShown("an entry")

    def _operator(self, entry: tuple) -> str:
        pull, a, b, x, y = entry
        if pull is arithmetic.pull_negative:
            return f"-{self.v.nodes[a]}"
        if pull is arithmetic.pull_power:
            return f"{self.v.nodes[a]} ** {y}"
        return f"{self.v.number(a, x)} {_SYMBOLS[pull]} {self.v.number(b, y)}"

    def _bind_node(self, place: int, text: str) -> None:
        self.v.nodes[place] = self.v.bind(self.v.told.names.get(place, "t"), text)

    def _call(self, place: int, entry: tuple) -> None:
        _, call, operands, keywords, result, _ = entry
        texts, named = [self.v.operand(o) for o in operands], {k: self.v.operand(v) for k, v in keywords.items()}
        for operand in (*operands, *keywords.values()):
            self.v.snapshot(operand)
        text = self.called(call.primitive, texts, named)
        wish = self.v.told.names.get(place, "t")
        if type(result) is Kept:
            self._named(result, self.v.bind(wish, text))
        elif type(result) in (list, tuple) or isinstance(result, tuple):
            names = [self.v.names.new(wish) for _ in result]
            self.v.emit(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}", None)
            for r, name in zip(result, names, strict=True):
                if type(r) is Kept:
                    self._named(r, name)
        else:
            raise NotShown("a result")
        self.v.snapshot(result)

    def _named(self, result: Kept, name: str) -> None:
        if result.root is None:
            self.v.nodes[result.node] = name
        elif result.root.owner is not result.where:
            raise NotShown("a result that is a view")
        else:
            self.v.roots[result.root] = name

    def called(self, primitive: Any, operands: list[str], keywords: dict[str, str]) -> str:
        """A call of a primitive, as a person would write it."""
        if primitive is picked:
            index = self.v.index_of(keywords, operands)
            return f"{operands[0]}[{index}]"
        if primitive in _OPERATORS and len(operands) == 2 and not keywords:
            return f"{operands[0]} {_OPERATORS[primitive]} {operands[1]}"
        if primitive is np.negative and len(operands) == 1:
            return f"-{operands[0]}"
        words = [f"{k}={v}" for k, v in keywords.items()]
        if its(primitive, "__objclass__", None) is np.ndarray:
            return f"{operands[0]}.{primitive.__name__}({', '.join([*operands[1:], *words])})"
        return f"{self.v.names.of_object(primitive)}({', '.join([*operands, *words])})"
