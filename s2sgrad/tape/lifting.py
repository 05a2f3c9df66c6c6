"""Lambda lifting of functions that read Variables by name: one node on the tape needs these as arguments.

    def line(x): return m * x + b               def lifted(m, b, a0, a1):
    def loss(x, y):                     ->          def line(x): return m * x + b
        return np.sum((line(x) - y) ** 2)           def loss(x, y): return np.sum((line(x) - y) ** 2)
                                                    return loss(a0, a1)

A free name that leads to Variables (a Variable, a list of them, an object with them) becomes a parameter.  The functions
that read such a name are redefined inside, under the same names, so that they see the parameter instead of the global.
"""

from __future__ import annotations

import functools
import linecache
import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad import emit
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.quote import mentioned, nodes
from s2sgrad.rules import table
from s2sgrad.runtime.structure import attributes_of
from s2sgrad.source import look_up, read, underlying
from s2sgrad.tape.contents import holds
from s2sgrad.tape.values import Operand

_DEEPEST = 50
_MOST = 512
UNKNOWN_TO_COPIES = {"assign", "assign_add", "assign_sub", "read_value", "numpy", "trainable", "__dict__"}


class NotLifted(Exception):
    """The Variables of the function cannot be made its parameters."""


class Reads:
    """The free names of a function and its callees: `roots` lead to Variables, `functions` read roots."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.roots: dict[str, Any] = {}
        self.functions: dict[str, types.FunctionType] = {}
        self.looked_up: list[tuple[types.FunctionType, str, Any]] = []
        self._seen: dict[int, bool] = {}
        self.changes = False  # whether it uses what plain copies of Variables lack
        self._visit(function, 0)
        if self.roots and self.changes:
            raise NotLifted

    def hold(self) -> bool:
        """Whether all names still refer to the same objects."""
        for function, name, value in self.looked_up:
            binding = look_up(function, name)
            if binding is None or binding.value is not value:
                return False
        return True

    def _visit(self, function: types.FunctionType, depth: int) -> bool:
        """Whether a function reads roots, directly or through its callees."""
        if id(function) in self._seen:
            return self._seen[id(function)]
        self._seen[id(function)] = False
        reads = False
        for name in dict.fromkeys(_names(function.__code__)):
            binding = look_up(function, name)
            self.changes |= binding is None and name in UNKNOWN_TO_COPIES
            if binding is None or binding.where == "builtin":
                continue
            value = binding.value
            self.changes |= isinstance(value, type) and issubclass(value, Operand)  # `isinstance(w, Variable)`
            inner = underlying(value)
            if isinstance(inner, types.FunctionType):
                if depth > _DEEPEST or table.lookup(inner) is not None or not is_user_function(inner):
                    continue
                self.looked_up.append((function, name, value))
                if self._visit(inner, depth + 1):
                    reads = True
                    if inner is not self.function:
                        _agree(self.functions, name, inner)
                    elif name != self.function.__name__:
                        raise NotLifted
            elif _keeps(value, function.__code__):
                raise NotLifted
            elif holds(value):
                self.looked_up.append((function, name, value))
                _agree(self.roots, name, value)
                reads = True
            elif attributes_of(value) is not None:
                self.looked_up.append((function, name, value))
        self._seen[id(function)] = reads
        return reads


def _keeps(value: Any, code: types.CodeType) -> bool:
    """Whether a class or a module holds a Variable under a name that the code reads; it cannot become a parameter."""
    if not isinstance(value, (type, types.ModuleType)):
        return False
    members = vars(value)
    return any(isinstance(members.get(name), Operand) for name in _names(code))


def _agree(names: dict[str, Any], name: str, value: Any) -> None:
    """Enter a name; NotLifted if it already means something else."""
    if names.setdefault(name, value) is not value:
        raise NotLifted  # one name, but different values in two modules


def _names(code: types.CodeType) -> Iterator[str]:
    """The global and free names that a code object and those within it read."""
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _outside(reads: Reads, inner: dict[str, types.FunctionType]) -> dict[str, Any]:
    """The free names of the functions, except roots, each other, and globals of the first one."""
    outside: dict[str, Any] = {}
    for each in inner.values():
        for name in _names(each.__code__):
            binding = look_up(each, name)
            if binding is None or name in reads.roots or name in inner or binding.where == "builtin":
                continue
            here = reads.function.__globals__.get(name, outside)
            if binding.where == "cell" or binding.value is not here or name in outside:
                _agree(outside, name, binding.value)
    for each in inner.values():  # a parameter would shadow another function's global
        for name in outside:
            binding = look_up(each, name)
            if binding is not None and binding.value is not outside[name]:
                raise NotLifted
    return outside


def lifted(reads: Reads, count: int, keywords: tuple[str, ...]) -> types.FunctionType:
    """The lifted function: its parameters are the roots, then `count` positional arguments, then these keywords."""
    function = reads.function
    inner = {**reads.functions, function.__name__ if function.__name__.isidentifier() else "lambda_": function}
    if len(inner) != len(reads.functions) + 1 or set(inner) & set(reads.roots):
        raise NotLifted
    outside = _outside(reads, inner)
    if any(each.__defaults__ or each.__kwdefaults__ for each in reads.functions.values()):
        for name, each in reads.functions.items():
            for k, value in enumerate(each.__defaults__ or ()):
                outside[f"{name}_default{k}"] = value
            for keyword, value in (each.__kwdefaults__ or {}).items():
                outside[f"{name}_{keyword}_default"] = value
    codes = tuple((name, each.__code__) for name, each in inner.items())
    make = _maker(codes, tuple(reads.roots), tuple(outside), count, keywords, _Space(function))
    made: types.FunctionType = make(*outside.values())
    return made


class _Space:
    """A function as a cache key: equal for the same code and globals."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self._key = id(function.__code__), id(function.__globals__)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Space) and self._key == other._key


@functools.lru_cache(maxsize=_MOST)
def _maker(
    codes: tuple, roots: tuple[str, ...], outside: tuple[str, ...], count: int, keywords: tuple[str, ...], space: _Space
) -> Any:
    """The factory of a lifted function; its parameters are the values that the text reads from other modules and cells."""
    body: list[Any] = []
    for name, code in codes:
        tree = _tree(code, space.function.__globals__)
        _require_plain(tree, roots)
        tree.name, tree.decorator_list, tree.returns = name, [], None
        defaults = len(tree.args.defaults)
        tree.args.defaults = [_name(f"{name}_default{k}") for k in range(defaults)]
        tree.args.kw_defaults = [
            None if d is None else _name(f"{name}_{p.id}_default")
            for p, d in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
        ]
        if (name, code) == codes[-1]:
            tree.args.defaults, tree.args.kw_defaults = [], [None] * len(tree.args.kwonlyargs)
        for node in nodes(tree):
            node.__dict__.pop("annotation", None)
        body.append(tree)
    used = mentioned(*body) | set(roots) | set(outside)
    mark = "a"
    while any(n.startswith(mark) and n[len(mark) :].isdigit() for n in used):
        mark += "_"
    names = [f"{mark}{k}" for k in range(count + len(keywords))]
    call = ", ".join([*names[:count], *(f"{k}={a}" for k, a in zip(keywords, names[count:], strict=True))])
    text = f"def make({', '.join(outside)}):\n    def lifted({', '.join([*roots, *names])}):\n"
    for tree in body:
        text += "".join(f"        {line}\n" if line else "\n" for line in emit.function(tree).splitlines())
    text += f"        return {codes[-1][0]}({call})\n    return lifted\n"
    return made_from(text, f"<{codes[-1][0]} of its Variables {next(_count)}>", space.function.__globals__, "make")


_count = iter(range(1, 10**9))


def made_from(text: str, file: str, globals_: dict[str, Any], name: str) -> Any:
    """Execute a text, registered in linecache, and return the function `name` of it."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), globals_, space)
    return space[name]


def _tree(code: types.CodeType, globals_: dict[str, Any]) -> Any:
    """The syntax tree of a code object; NotLifted if there is no source."""
    cells = tuple(types.CellType() for _ in code.co_freevars)
    try:
        return read(types.FunctionType(code, globals_, closure=cells)).fresh_tree()
    except S2SGradError:
        raise NotLifted from None


def _require_plain(tree: Any, roots: tuple[str, ...]) -> None:
    """NotLifted for statements that cannot be moved into another function."""
    for node in nodes(tree):
        if isinstance(node, (gast.Global, gast.Nonlocal)) and set(node.names) & set(roots):
            raise NotLifted
        if isinstance(node, (gast.AsyncFunctionDef, gast.ClassDef)):
            raise NotLifted


def _name(text: str) -> Any:
    return gast.Name(text, gast.Load(), None, None)
