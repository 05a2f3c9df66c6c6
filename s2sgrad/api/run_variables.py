"""Variables in the text of a run: of numbers, of memories, of their cotangents, and of what was overwritten.

Each statement is run as it is written: so shapes and sharing are known.
"""

from __future__ import annotations

import re
import types
from typing import Any

import numpy as np

from s2sgrad.api.run_folding import Statement
from s2sgrad.api.run_names import Names, constant, index_text, view_text
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.patterns import Kept
from s2sgrad.recorded.runs import Root
from s2sgrad.recorded.told import Told

PART = "part"


class Variables:
    """The statements of a run, and the variables in them.  `paths`: expressions for the leaves of the arguments that are
    differentiated; `given`: expressions and values of all leaves."""

    def __init__(self, recorded: Recorded, told: Told, paths: list[str], given: list[tuple[str, Any]], names: Names) -> None:
        self.told, self.names, self.given = told, names, given
        self.statements: list[Statement] = []
        self.place, self.back = -1, False
        self.nodes: dict[int, str] = {}
        self.roots: dict[Root, str] = {}
        self.bars: dict[Any, str] = {}  # of a node or of a root: the variable of its cotangent, where one has arrived
        self.saved: dict[tuple[int, int], str] = {}  # by snapshot and stores before it: a copy, for it is overwritten
        self.needed: dict[tuple[int, int], str] = {}  # by entry and snapshot: that copy
        self.stores: dict[Root, int] = {}
        for leaf, path in zip(recorded.record.leaves, paths, strict=True):
            if leaf.root is None:
                self.nodes[leaf.node] = path
            elif leaf.root.written:
                self.roots[leaf.root] = self._local(path)
            else:
                self.roots[leaf.root] = path
            told.made.add(leaf.root)  # type: ignore[arg-type]

    def _local(self, path: str) -> str:
        """A variable for a copy of an argument that is written."""
        name = path if path.isidentifier() else self.names.new(identifier(path))
        self.emit(f"{name} = {path}.copy()", None)
        return name

    # --- statements ---

    def emit(self, text: str, binds: str | None) -> None:
        """Add a statement, and run it."""
        base = (binds or "").removesuffix("_bar").partition("_")[0]
        self.statements.append(Statement(text, binds, self.place, self.back, base in ("t", PART)))
        exec(text, self.names.space)

    def bind(self, wish: str, text: str) -> str:
        """Bind a new name to an expression."""
        name = self.names.new(wish)
        self.emit(f"{name} = {text}", name)
        return name

    def now(self, text: str) -> Any:
        """What an expression is here."""
        return eval(text, self.names.space)

    # --- operands ---

    def number(self, node: int | None, value: Any) -> str:
        """A number: the variable of its node, an argument, or a constant."""
        if node is not None:
            return self.nodes[node]
        found = next((path for path, v in self.given if v is value and type(v) is float), None)
        return found or constant(value)

    def numbers(self, entry: tuple) -> list[str]:
        """The operands of a call with numbers alone."""
        return [self.nodes[n] if n >= 0 else self.number(None, v) for n, v in zip(entry[2], entry[3], strict=True)]

    def operand(self, value: Any) -> str:
        """An operand of the entry at hand."""
        if type(value) is Kept:
            if value.root is None:
                return self.nodes[value.node]
            return self.view(value) if value.followed else self.array(self.told.held[self.place, id(value)])
        if type(value) in (list, tuple):
            inner = ", ".join(map(self.operand, value))
            return f"[{inner}]" if type(value) is list else f"({inner}{',' if len(value) == 1 else ''})"
        if isinstance(value, np.ndarray) and value.ndim:
            return self.array(value)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | type | np.ufunc):
            return self.names.of_object(value)
        return self.number(None, value)

    def array(self, value: np.ndarray) -> str:
        """A constant array: an argument, a row of one, or written out."""
        for path, v in self.given:
            if isinstance(v, np.ndarray) and v.size > 1:
                if v.shape == value.shape and np.array_equal(v, value):
                    return path
                if v.shape[1:] == value.shape and value.size > 1:
                    for k, row in enumerate(v):
                        if np.array_equal(row, value):
                            return f"{path}[{k}]"
        return constant(value)

    def view(self, kept: Kept, bar: bool = False) -> str:
        """A part of a memory, or of its cotangent."""
        root = kept.root
        assert root is not None
        name = self.bars[root] if bar else self.memory(root)
        where = kept.where
        offset = 0 if where is root.owner else root.offset(where)
        return view_text(name, root.owner, where, offset)

    def memory(self, root: Root) -> str:
        """The variable of a memory; of one that no entry made, with what it held."""
        if root not in self.roots:
            self.roots[root] = self.bind(self.told.variables.get(root) or "buffer", constant(self.told.before[root]))
        return self.roots[root]

    def snapshot(self, kept: Any) -> None:
        """Keep a copy of what will be overwritten although a slope needs it."""
        if type(kept) is Kept and kept.followed and kept.root is not None:
            if np.shares_memory(kept.value, kept.root.owner):
                return
            key = id(kept), self.stores.get(kept.root, 0)
            if key not in self.saved:
                expression = self.view(kept)
                self.saved[key] = self.bind(f"{identifier(expression)}_then", f"{expression}.copy()")
            self.needed[self.place, id(kept)] = self.saved[key]
        elif type(kept) in (list, tuple):
            for item in kept:
                self.snapshot(item)

    def then(self, value: Any) -> str:
        """An operand as it was when the entry was made."""
        if type(value) in (list, tuple):
            inner = ", ".join(map(self.then, value))
            return f"[{inner}]" if type(value) is list else f"({inner}{',' if len(value) == 1 else ''})"
        return self.needed.get((self.place, id(value))) or self.operand(value)

    def stored(self, root: Root, text: str) -> None:
        """Add a store into a memory."""
        self.stores[root] = self.stores.get(root, 0) + 1
        self.emit(text, None)

    def index_of(self, keywords: dict[str, str], operands: list[str]) -> str:
        """The index of a selection, between brackets."""
        value = self.now(keywords["index"] if "index" in keywords else operands[1])
        return index_text(value)


def identifier(path: str) -> str:
    """A path as a name."""
    return re.sub(r"\W+", "_", path).strip("_") or "t"


def item(root: Root, offset: int) -> str:
    """The index of an item at a place of a memory."""
    owner = root.owner
    index, rest = [0] * owner.ndim, offset
    for stride, axis in sorted(((s // owner.itemsize, k) for k, s in enumerate(owner.strides)), reverse=True):
        index[axis], rest = divmod(rest, stride) if owner.shape[axis] > 1 else (0, rest)
    return ", ".join(map(str, index)) if index else "()"
