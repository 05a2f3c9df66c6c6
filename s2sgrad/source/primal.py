"""A function with its tree and text, and what its free names are bound to."""

from __future__ import annotations

import ast
import contextlib
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.errors import GENERATED, Place

_MISSING = object()


@dataclass(frozen=True, eq=False)
class Binding:
    """The value of a free name when it was looked up.  `where` is "cell", "global" or "builtin"."""

    value: Any
    where: str
    _name: str = field(default="", repr=False)
    _cell: types.CellType | None = field(default=None, repr=False)
    _globals: dict[str, Any] = field(default_factory=dict, repr=False)
    _builtins: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The name that was looked up."""
        return self._name

    @property
    def home(self) -> dict[str, Any]:
        """The globals in which it was looked up; empty for a cell."""
        return self._globals

    def holds(self) -> bool:
        """Whether the name still refers to the identical object."""
        if self._cell is not None:
            try:
                return self._cell.cell_contents is self.value
            except ValueError:  # the cell is empty
                return False
        if self.where == "global":
            return self._globals.get(self._name, _MISSING) is self.value
        return self._name not in self._globals and self._builtins.get(self._name, _MISSING) is self.value


def look_up(function: types.FunctionType, name: str) -> Binding | None:
    """The current binding of a free name; None for a local name, an empty cell, and an unbound name."""
    code = function.__code__
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return Binding(cell.cell_contents, "cell", name, cell)
        except ValueError:
            return None
    if name in code.co_varnames or name in code.co_cellvars:
        return None
    names, builtins = function.__globals__, getattr(function, "__builtins__")  # noqa: B009  (typeshed lacks it)
    for where, home in (("global", names), ("builtin", builtins)):
        value = home.get(name, _MISSING)
        if value is not _MISSING:
            return Binding(value, where, name, None, names, builtins)
    return None


def stands_for(wrapper: Any, how: str, function: Any) -> None:
    """Record on a function that we made what it was made from: `how` is "differentiated" or "custom_gradient"."""
    vars(wrapper).update({how: function, "made": wrapper})


def _is_made(value: Any, how: str) -> bool:
    """Whether we made this very function in this way; `functools.wraps` copies the attributes."""
    return isinstance(value, types.FunctionType) and how in vars(value) and vars(value).get("made") is value


def underlying(value: Any) -> Any:
    """The function from which `differentiable` made an operation; any other value unchanged."""
    return value.differentiated if _is_made(value, "differentiated") else value


def brings_gradient(value: Any) -> bool:
    """Whether a callable was made by `custom_gradient`, or is recorded, and so is called and not read."""
    return _is_made(value, "custom_gradient") or (bool(_recorded.codes) and is_recorded(value))


class _Recorded(threading.local):
    """Of a thread: the functions that the text calls to be recorded, in this compilation."""

    codes: frozenset[types.CodeType] = frozenset()


_recorded = _Recorded()


@contextlib.contextmanager
def recording(codes: frozenset[types.CodeType]) -> Iterator[None]:
    """The functions with these codes are called, not read: what they do is recorded when the text runs."""
    before, _recorded.codes = _recorded.codes, _recorded.codes | codes
    try:
        yield
    finally:
        _recorded.codes = before


def is_recorded(value: Any) -> bool:
    """Whether a function is one of these."""
    return type(value) is types.FunctionType and value.__code__ in _recorded.codes


def is_method_of(value: Callable[..., Any], owner: Any) -> bool:
    """Whether `value` is a method of `owner`, or a class method of the class `owner`: such calls pass the owner first."""
    homes = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    members = (member for home in homes for member in vars(home).values())
    return any(value is (member.__func__ if isinstance(member, classmethod) else member) for member in members)


@dataclass(frozen=True, eq=False)
class Primal:
    """A function, its gast tree, and its file.

    `tree` is shared: change only a `fresh_tree()`.  A lambda becomes a FunctionDef named `lambda_` that returns its body.
    Private names of a class are mangled.  `lines` are without their newlines.  `refusals` are the reasons and lines of the
    statements that raise in place of a branch, by position, `unbound` the names that such branches bind (`branches`).
    """

    function: types.FunctionType
    tree: gast.FunctionDef = field(repr=False)
    file: str
    lines: tuple[str, ...] = field(repr=False)
    refusals: dict[tuple[int, ...], tuple[str, int]] = field(default_factory=dict, repr=False)
    unbound: frozenset[str] = frozenset()

    @property
    def is_generated(self) -> bool:
        """Whether we wrote the function: its text keeps promises that a user's need not keep."""
        return self.file.startswith(GENERATED)

    def fresh_tree(self) -> gast.FunctionDef:
        """A deep copy of the tree."""
        return _copied(self.tree)

    def place(self, node: ast.AST) -> Place:
        """The place of `node`, columns in characters; of a node without a position, the place of its parts."""
        line, column, end_line, end_column = self._span(node)
        return Place(self.file, line, column, end_line, end_column, self._line(line))

    def text(self, node: ast.AST) -> str:
        """The source text of `node`; continuation lines lose the indentation of the first line."""
        line, column, end_line, end_column = self._span(node)
        if line == end_line:
            return self._line(line)[column:end_column]
        first = self._line(line)
        indent = first[: len(first) - len(first.lstrip())]
        inside = {  # lines that begin inside a string, whose white space must stay
            number
            for part in ast.walk(node)
            if isinstance(part, (gast.JoinedStr, ast.JoinedStr))
            or (isinstance(part, (gast.Constant, ast.Constant)) and isinstance(part.value, (str, bytes)))
            for number in range(getattr(part, "lineno", 0) + 1, (getattr(part, "end_lineno", 0) or 0) + 1)
        }
        parts = [first[column:]]
        for number in range(line + 1, end_line + 1):
            whole = self._line(number)
            whole = whole[:end_column] if number == end_line else whole
            parts.append(whole if number in inside else whole.removeprefix(indent))
        return "\n".join(parts)

    def lookup(self, name: str) -> Binding | None:
        """The current binding of a free name; None for a local name, an empty cell, and an unbound name."""
        return look_up(self.function, name)

    def _line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def _span(self, node: ast.AST) -> tuple[int, int, int, int]:
        """First line and column, last line and column; columns in characters."""
        placed: list[Any] = [node] if _is_placed(node) else [*filter(_is_placed, ast.walk(node))] or [self.tree]
        line, column = min((part.lineno, part.col_offset) for part in placed)
        end_line, end_column = max((part.end_lineno, part.end_col_offset) for part in placed)
        return line, _characters(self._line(line), column), end_line, _characters(self._line(end_line), end_column)


def _is_placed(node: ast.AST) -> bool:
    return getattr(node, "lineno", None) is not None and getattr(node, "end_lineno", None) is not None


def _characters(line: str, offset: int) -> int:
    """The column in characters for an `offset` in utf-8 bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def _copied(tree: Any) -> Any:
    """A deep copy of a tree, without recursion, so that deep trees can be copied."""
    root = [tree]
    todo: list[Any] = [root]
    while todo:
        owner = todo.pop()
        slots: Iterable[tuple[Any, Any]] = enumerate(owner) if isinstance(owner, list) else list(vars(owner).items())
        for key, value in slots:
            if isinstance(value, ast.AST):
                copy: Any = type(value).__new__(type(value))
                copy.__dict__.update(vars(value))
            elif isinstance(value, list):
                copy = list(value)
            else:
                continue
            if isinstance(owner, list):
                owner[key] = copy
            else:
                setattr(owner, key, copy)
            todo.append(copy)
    return root[0]
