"""From a function object to its syntax tree, with the positions of the real file, and to what its free names mean.

>>> def area(r):
...     return 3.14 * r ** 2
>>> primal = read(area)
>>> primal.text(primal.tree.body[0].value)
'3.14 * r ** 2'
>>> print(primal.place(primal.tree.body[0].value.right).shown())
  File "<doctest s2sgrad.source[0]>", line 2
    return 3.14 * r ** 2
                  ^^^^^^
>>> primal.lookup("len").where
'builtin'

The function is found by its code object alone (`__wrapped__` is never followed): by the line it starts on, its name,
and, for lambdas that share a line, the columns of its instructions.  The text is then compiled once more and compared
with the running code, so that a file edited after its import is noticed.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import threading
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import gast

from s2sgrad.errors import NoSource, Place

__all__ = ["Binding", "Primal", "read"]

_MISSING = object()
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag
_SIGNATURE_FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # *args, **kwargs, generator, coroutine, async generator


# ---------------------------------------------------------------------------------------------------------------------
# What a name is bound to


@dataclass(frozen=True, eq=False)
class Binding:
    """What a free name was bound to when it was looked up.  `where` is "cell", "global" or "builtin"."""

    value: Any
    where: str
    _name: str = field(default="", repr=False)
    _cell: types.CellType | None = field(default=None, repr=False)
    _globals: dict[str, Any] = field(default_factory=dict, repr=False)
    _builtins: dict[str, Any] = field(default_factory=dict, repr=False)

    def holds(self) -> bool:
        """Whether the name still leads to the identical object."""
        if self._cell is not None:
            try:
                return self._cell.cell_contents is self.value
            except ValueError:  # the cell is empty
                return False
        if self.where == "global":
            return self._globals.get(self._name, _MISSING) is self.value
        return self._name not in self._globals and self._builtins.get(self._name, _MISSING) is self.value


# ---------------------------------------------------------------------------------------------------------------------
# A function with its text


@dataclass(frozen=True, eq=False)
class Primal:
    """A function, its gast tree, and the file that it stands in.

    `tree` is shared by all who hold the primal: change a `fresh_tree()` only.  A lambda comes as a FunctionDef named
    `lambda_` that returns its body.  Private names of a class are mangled.  `lines` are without their newlines.
    """

    function: types.FunctionType
    tree: gast.FunctionDef
    file: str
    lines: tuple[str, ...] = field(repr=False)

    def fresh_tree(self) -> gast.FunctionDef:
        """A deep copy of the tree."""
        return _copied(self.tree)

    def place(self, node: ast.AST) -> Place:
        """Where `node` stands, columns in characters.  A node without a position stands where its parts do."""
        line, column, end_line, end_column = self._span(node)
        return Place(self.file, line, column, end_line, end_column, self._line(line))

    def text(self, node: ast.AST) -> str:
        """The source text of `node`; the lines after its first lose the indentation of its first."""
        line, column, end_line, end_column = self._span(node)
        if line == end_line:
            return self._line(line)[column:end_column]
        first = self._line(line)
        indent = first[: len(first) - len(first.lstrip())]
        inside = {  # lines that begin inside a string, where white space is the string's own
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
        """What the free name `name` is bound to now; None for a local name, an empty cell, and an unbound name."""
        code = self.function.__code__
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return Binding(cell.cell_contents, "cell", name, cell)
            except ValueError:
                return None
        if name in code.co_varnames or name in code.co_cellvars:
            return None
        names, builtins = self.function.__globals__, self.function.__builtins__
        for where, home in (("global", names), ("builtin", builtins)):
            value = home.get(name, _MISSING)
            if value is not _MISSING:
                return Binding(value, where, name, None, names, builtins)
        return None

    def _line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def _span(self, node: ast.AST) -> tuple[int, int, int, int]:
        """First line and column, last line and column; columns in characters."""
        placed = [node] if _is_placed(node) else [part for part in ast.walk(node) if _is_placed(part)] or [self.tree]
        line, column = min((part.lineno, part.col_offset) for part in placed)
        end_line, end_column = max((part.end_lineno, part.end_col_offset) for part in placed)
        return line, _characters(self._line(line), column), end_line, _characters(self._line(end_line), end_column)


def _is_placed(node: ast.AST) -> bool:
    return getattr(node, "lineno", None) is not None and getattr(node, "end_lineno", None) is not None


def _characters(line: str, offset: int) -> int:
    """The column in characters of the column `offset` in utf-8 bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def _copied(tree: Any) -> Any:
    """A deep copy of a tree; no recursion, so that deep trees copy as well."""
    root = [tree]
    todo: list[Any] = [root]
    while todo:
        owner = todo.pop()
        slots = enumerate(owner) if isinstance(owner, list) else list(vars(owner).items())
        for key, value in slots:
            if isinstance(value, ast.AST):
                copy = type(value).__new__(type(value))
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


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def read(function: Any) -> Primal:
    """The function with its tree; of a method, the function behind it.  NoSource where the text is not to be had.

    >>> from math import sin
    >>> read(sin)
    Traceback (most recent call last):
    s2sgrad.errors.NoSource: <built-in function sin> has no Python source
    """
    if isinstance(function, (types.MethodType, staticmethod, classmethod)):
        return read(function.__func__)
    if not isinstance(function, types.FunctionType):
        raise NoSource(_no_function(function))
    code = function.__code__
    shown = function.__qualname__
    text = _text_of(function)
    if not text:
        raise NoSource(_no_text(shown, code.co_filename))
    lines = tuple((text[:-1] if text.endswith("\n") else text).split("\n"))
    try:
        file = _file(code.co_filename, text)
        found = _find(file, code)
        tree = _converted(found)
    except _Refusal as refusal:
        raise NoSource(f"{shown}: {refusal}", _line_place(code, lines)) from None
    except RecursionError:
        raise NoSource(
            f"{shown}: {code.co_filename} is nested too deeply to be read: split the expression or the function, "
            "or raise sys.setrecursionlimit",
            _line_place(code, lines),
        ) from None
    return Primal(function, tree, code.co_filename, lines)


class _Refusal(Exception):
    """Why a function is not found in its file; `read` adds the name and the place."""


_EDITED = "the running code is not what {} says: the file was edited after it was imported; reload it"


def _no_function(thing: Any) -> str:
    slots = types.WrapperDescriptorType, types.MethodDescriptorType, types.MethodWrapperType
    if isinstance(thing, (types.BuiltinFunctionType, *slots)):
        return f"{thing!r} has no Python source"
    if isinstance(thing, type):
        return f"{thing.__qualname__} is a class, not a function: it has no source to differentiate"
    kind = type(thing).__qualname__
    name = getattr(thing, "__name__", None) if not isinstance(thing, types.ModuleType) else None
    if isinstance(name, str):
        return f"{name} (an object of type {kind}) has no Python source"
    return f"an object of type {kind} has no Python source: pass a function, a lambda or a method"


def _no_text(shown: str, filename: str) -> str:
    if filename in ("<stdin>", "<string>"):
        how = "" if filename == "<stdin>" else " (or made by exec)"
        return f"{shown} was typed into an interpreter that keeps no source{how}: put it in a file or a notebook"
    if filename.startswith("<") and filename.endswith(">"):
        return (
            f"{shown} was compiled from a string under the name {filename}, and linecache holds no text of that name: "
            "put the function in a file or a notebook"
        )
    return f"{shown}: the file {filename} cannot be read"


def _line_place(code: types.CodeType, lines: tuple[str, ...]) -> Place | None:
    number = code.co_firstlineno
    if not 0 < number <= len(lines):
        return None
    line = lines[number - 1]
    return Place(code.co_filename, number, len(line) - len(line.lstrip()), number, len(line.rstrip()), line)


def _text_of(function: types.FunctionType) -> str:
    """The text of the whole file as it is now, newlines as `\\n`; empty if there is none."""
    filename = function.__code__.co_filename
    if not filename.startswith("<"):
        linecache.checkcache(filename)
    # By the module's attribute: doctest and IPython put their own getlines there.
    lines = linecache.getlines(filename, function.__globals__)
    if not lines and hasattr(linecache, "_getlines_from_code"):  # the interactive interpreter of 3.13 and later
        lines = linecache._getlines_from_code(function.__code__) or []
    return "".join(lines).replace("\r\n", "\n").replace("\r", "\n")


# ---------------------------------------------------------------------------------------------------------------------
# Parsed files


class _Found(NamedTuple):
    """A function's node in a file, and the class whose private names it uses."""

    node: Any
    class_name: str | None


class _File:
    """A parsed text: its functions by the line and name that their code has, and its code once compiled."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.module = ast.parse(text, name)
        self.functions: dict[tuple[int, str], list[_Found]] = {}
        self.compiled: dict[int, dict[tuple[int, str], list[types.CodeType]]] = {}
        todo: list[tuple[ast.AST, str | None]] = [(self.module, None)]
        while todo:
            node, class_name = todo.pop()
            if isinstance(node, _FUNCTIONS):
                decorators = getattr(node, "decorator_list", ())
                line = decorators[0].lineno if decorators else node.lineno
                self.functions.setdefault((line, getattr(node, "name", "<lambda>")), []).append(
                    _Found(node, class_name)
                )
            todo.extend(_scoped_children(node, class_name))

    def codes(self, flags: int) -> dict[tuple[int, str], list[types.CodeType]]:
        """The code objects of the file by first line and name, compiled with the given `__future__` flags."""
        if flags not in self.compiled:
            codes: dict[tuple[int, str], list[types.CodeType]] = {}
            todo = [self._compile(flags)]
            while todo:
                code = todo.pop()
                codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
                todo.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
            self.compiled[flags] = codes
        return self.compiled[flags]

    def _compile(self, flags: int) -> types.CodeType:
        try:
            return _quietly(compile, self.module, self.name, "exec", flags, True)
        except SyntaxError:  # a notebook's cell may await at its top level
            return _quietly(compile, self.module, self.name, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)


_warnings_lock = threading.RLock()


def _quietly(function: Any, *arguments: Any) -> Any:
    """Parse or compile without the warnings that the import has shown already."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


@lru_cache(maxsize=32)
def _parsed(filename: str, text: str) -> _File:
    return _quietly(_File, filename, text)


def _file(filename: str, text: str) -> _File:
    try:
        return _parsed(filename, text)
    except (SyntaxError, ValueError):
        raise _Refusal(_EDITED.format(filename)) from None


def _scoped_children(node: Any, class_name: str | None) -> Iterator[tuple[Any, str | None]]:
    """The children of a node, each with the class whose private names it uses."""
    for name, value in ast.iter_fields(node):
        # Only what stands in the body of a class is inside it: bases and decorators are not.
        inner = node.name if name == "body" and isinstance(node, (ast.ClassDef, gast.ClassDef)) else class_name
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                yield child, inner


# ---------------------------------------------------------------------------------------------------------------------
# Which node it is


def _find(file: _File, code: types.CodeType) -> _Found:
    key = code.co_firstlineno, code.co_name
    sharing = file.functions.get(key)
    if not sharing:
        raise _Refusal(_EDITED.format(file.name))
    try:
        codes = file.codes(code.co_flags & _FUTURE_FLAGS).get(key, ())
    except (SyntaxError, ValueError):  # what parses may still not compile
        raise _Refusal(_EDITED.format(file.name)) from None
    same = [fresh for fresh in codes if _same_code(code, fresh)]
    if not same:
        raise _Refusal(_EDITED.format(file.name))
    fitting = [found for found in _narrowed(code, sharing) if any(found in _narrowed(fresh, sharing) for fresh in same)]
    if len(fitting) > 1:
        # No columns: Python 3.12 gives none to a lambda that returns a constant, and -X no_debug_ranges none at all.
        # What a lambda compiles to on its own still tells them apart, unless it has names of an enclosing function.
        flags = code.co_flags & _FUTURE_FLAGS
        alone = [found for found in fitting if _same_code(code, _compiled_alone(found.node, file.name, flags))]
        fitting = alone if len(alone) == 1 else fitting
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise _Refusal(
            f"{len(sharing)} lambdas start on line {code.co_firstlineno} of {file.name}, and the code has no column "
            "positions to tell them apart (they were ambiguous): put each on its own line, or use def"
        )
    raise _Refusal(_EDITED.format(file.name))


def _narrowed(code: types.CodeType, sharing: list[_Found]) -> list[_Found]:
    """Of the nodes that share a line and a name, the one whose body holds the instructions; all if none is told apart.

    The instructions of a lambda stand in its body, and one at least outside the bodies of the lambdas in it (the one
    that makes the inner function spans the whole of it).
    """
    if len(sharing) == 1 or not isinstance(sharing[0].node, ast.Lambda):
        return sharing
    bodies = [_extent(found.node.body) for found in sharing]
    spots = {
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if None not in (line, end_line, column, end_column) and (line, column) != (end_line, end_column)
    }
    spots = {spot for spot in spots if any(_encloses(body, spot) for body in bodies)}
    around = [place for place, body in enumerate(bodies) if all(_encloses(body, spot) for spot in spots)]
    if not spots or not around:
        return sharing
    return [sharing[max(around, key=bodies.__getitem__)]]  # nested ones: the inner starts later


def _compiled_alone(node: ast.Lambda, filename: str, flags: int) -> types.CodeType:
    """The code of a lambda outside of its surroundings, its defaults left out."""
    given = node.args
    arguments = ast.arguments(
        posonlyargs=given.posonlyargs,
        args=given.args,
        vararg=given.vararg,
        kwonlyargs=given.kwonlyargs,
        kw_defaults=[None] * len(given.kwonlyargs),
        kwarg=given.kwarg,
        defaults=[],
    )
    alone = ast.Expression(ast.copy_location(ast.Lambda(args=arguments, body=node.body), node))
    code = _quietly(compile, alone, filename, "eval", flags, True)
    return next(const for const in code.co_consts if isinstance(const, types.CodeType))


_Extent = tuple[tuple[int, int], tuple[int, int]]


def _extent(node: Any) -> _Extent:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _encloses(outer: _Extent, inner: _Extent) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


# ---------------------------------------------------------------------------------------------------------------------
# Whether the running code is what the text says


GENERATED = "<s2sgrad "  # our own files are compiled from their text, with helpers as closure cells; nobody edits them


def _same_code(running: types.CodeType, fresh: types.CodeType) -> bool:
    if running.co_filename.startswith(GENERATED):
        return (running.co_name, running.co_firstlineno) == (fresh.co_name, fresh.co_firstlineno)
    count = running.co_argcount + running.co_kwonlyargcount + _extra_arguments(running)
    if (
        running.co_argcount != fresh.co_argcount
        or running.co_posonlyargcount != fresh.co_posonlyargcount
        or running.co_kwonlyargcount != fresh.co_kwonlyargcount
        or (running.co_flags ^ fresh.co_flags) & _SIGNATURE_FLAGS
        or running.co_freevars != fresh.co_freevars
        or running.co_varnames[:count] != fresh.co_varnames[:count]
    ):
        return False
    if any(name.startswith("@py") for name in running.co_names + running.co_varnames):
        # pytest rewrote the asserts of this one: its own names come on top, and the instructions differ.
        written = {name for name in running.co_varnames + running.co_cellvars if not name.startswith("@py")}
        return written == {*fresh.co_varnames, *fresh.co_cellvars} and set(running.co_names) >= set(fresh.co_names)
    return (
        running.co_code == fresh.co_code
        and running.co_names == fresh.co_names
        and running.co_varnames == fresh.co_varnames
        and running.co_cellvars == fresh.co_cellvars
        and _same_constant(running.co_consts, fresh.co_consts)
    )


def _extra_arguments(code: types.CodeType) -> int:
    return bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)


def _same_constant(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, types.CodeType):
        return one.co_name == other.co_name and _same_code(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    if isinstance(one, (float, complex)):
        return repr(one) == repr(other)  # tells 0.0 from -0.0, and nan is nan
    return one == other


# ---------------------------------------------------------------------------------------------------------------------
# The tree


def _converted(found: _Found) -> gast.FunctionDef:
    tree = gast.ast_to_gast(found.node)
    if isinstance(tree, gast.Lambda):
        given = {name: getattr(tree, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
        body = gast.Return(value=tree.body)
        gast.copy_location(body, tree.body)
        tree = gast.FunctionDef(
            name="lambda_",
            args=tree.args,
            body=[body],
            decorator_list=[],
            returns=None,
            type_comment=None,
            type_params=[],
        )
        for name, value in given.items():
            setattr(tree, name, value)
    if found.class_name is not None:
        _mangle(tree, found.class_name)
    return tree


# Where a tree keeps identifiers that Python mangles.  Names of keyword arguments in calls and of attributes in class
# patterns are taken as they are written.
_IDENTIFIERS = {
    "Name": ("id",),
    "Attribute": ("attr",),
    "FunctionDef": ("name",),
    "AsyncFunctionDef": ("name",),
    "ClassDef": ("name",),
    "Global": ("names",),
    "Nonlocal": ("names",),
    "MatchAs": ("name",),
    "MatchStar": ("name",),
    "MatchMapping": ("rest",),
    "TypeVar": ("name",),
    "ParamSpec": ("name",),
    "TypeVarTuple": ("name",),
}


def _mangle(tree: gast.FunctionDef, class_name: str) -> None:
    """Write out the private names of a class, in place.  The function itself keeps its name."""
    todo: list[tuple[Any, str | None]] = list(_scoped_children(tree, class_name))
    while todo:
        node, class_name = todo.pop()
        todo.extend(_scoped_children(node, class_name))
        kind = type(node).__name__
        fields = _IDENTIFIERS.get(kind, ())
        if kind == "alias":
            fields = ("asname",) if node.asname else ("name",)
        for name in fields:
            value = getattr(node, name)
            if isinstance(value, list):
                setattr(node, name, [_mangled(item, class_name) for item in value])
            elif isinstance(value, str):
                setattr(node, name, _mangled(value, class_name))


def _mangled(name: str, class_name: str | None) -> str:
    bare = (class_name or "").lstrip("_")
    if not bare or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{bare}{name}"
