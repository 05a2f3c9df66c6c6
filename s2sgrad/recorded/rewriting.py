"""A function whose calls are followed: the same statements, lines and names, with every call handed to a hook.

    def f(x): return g(x) + math.sin(x)     ->     def f(x): return call(g, x) + call(math.sin, x)
    if x is A or x in xs: ..                ->     if itself(x) is itself(A) or x in Holding(xs): ..

Nothing else changes: not the globals, not the cells, not the defaults.  A function without source stays as it is, and its
values are followed by the handles alone.
"""

from __future__ import annotations

import ast
import copy
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from s2sgrad.analysis.libraries import is_library
from s2sgrad.errors import NoSource
from s2sgrad.recorded import identity
from s2sgrad.source.files import Found, file_of, quietly, text_of
from s2sgrad.source.finding import FUTURE_FLAGS, find
from s2sgrad.source.refusing import Refusal
from s2sgrad.source.typed_in import text_of as typed_text

HOOK = "_s2s_call"
_CELL = types.CellType()
_OF_FRAMES = ("super", "locals", "globals", "vars", "dir")
"""Builtins that ask the frame which called them."""
_READING = ("eval", "exec")

_MADE: dict[int, tuple[types.CodeType, types.CodeType, tuple[int, ...]]] = {}
"""By the identity of a code object: itself, so that no identity is used again, what was made of it, and where the cells of
that stand among its own, -1 for the hook."""
FOLLOWED: set[int] = set()
"""Identities of code objects whose calls are followed: equal ones may differ in that."""


def set_hook(call: Callable[..., Any]) -> None:
    """Name the function that all calls are handed to."""
    call.key = _Key()  # type: ignore[attr-defined]
    call.itself, call.holding = identity.itself, identity.Holding  # type: ignore[attr-defined]
    _CELL.cell_contents = call


def is_followed(function: Any) -> bool:
    """Whether calls in a function are handed to the hook."""
    return id(function.__code__) in FOLLOWED


def followed(function: Any) -> Any:
    """The function with its calls handed to the hook; itself where that cannot be."""
    if type(function) is not types.FunctionType or id(function.__code__) in FOLLOWED:
        return function
    code = function.__code__
    if id(code) not in _MADE:
        made = _rewritten(function) or code
        free = code.co_freevars
        _MADE[id(code)] = code, made, tuple([-1 if name == HOOK else free.index(name) for name in made.co_freevars])
        if made is not code:
            _note(made)
    _, made, places = _MADE[id(code)]
    if made is code:
        return function
    own = function.__closure__ or ()
    cells = tuple([_CELL if k < 0 else own[k] for k in places])
    new = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, cells)
    new.__kwdefaults__ = function.__kwdefaults__
    new.__dict__ = function.__dict__
    new.__qualname__, new.__module__, new.__doc__ = function.__qualname__, function.__module__, function.__doc__
    return new


def _note(code: types.CodeType) -> None:
    FOLLOWED.add(id(code))
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            _note(const)


class _Key:
    """The index of a subscript, as a value."""

    def __getitem__(self, key: Any) -> Any:
        return key


def _indexes_by_code(value: Any) -> bool:
    """Whether a library wrote in Python what the subscripts of an object do: `np.r_`."""
    item = getattr(type(value), "__getitem__", None)
    return type(item) is types.FunctionType and is_library(item)


class _Calls(ast.NodeTransformer):
    """Hands each call to the hook; and subscripts that are calls."""

    def __init__(self, globals_: dict[str, Any], own: set[str]) -> None:
        self.globals, self.own = globals_, own

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and _indexes_by_code(self._found(node.value)):
            key = ast.Subscript(_of_hook("key"), node.slice, ast.Load())
            return _call(node, ast.Attribute(node.value, "__getitem__", ast.Load()), key)
        return node

    def _found(self, node: ast.AST) -> Any:
        """What a global name, or an attribute of a module, is now; None for anything else."""
        if isinstance(node, ast.Name):
            return None if node.id in self.own else self.globals.get(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        home = self._found(node.value)
        return getattr(home, node.attr, None) if type(home) is types.ModuleType else None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _READING and node.args:
            node.args[0] = _call(node.args[0], ast.Constant("text"), node.args[0])
        if name in _OF_FRAMES or name in _READING:
            return node
        return _call(node, node.func, *node.args, keywords=node.keywords)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        asked = {k + i for k, op in enumerate(node.ops) for i in (0, 1) if isinstance(op, _IDENTITY)
                 and not any(isinstance(side, ast.Constant) for side in sides[k : k + 2])}  # fmt: skip
        node.left, *node.comparators = [_by_hook("itself", s) if k in asked else s for k, s in enumerate(sides)]
        if isinstance(node.ops[-1], (ast.In, ast.NotIn)) and not any(map(_is_constant, sides[-2:])):
            node.comparators[-1] = _by_hook("holding", sides[-1])
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.args = self.visit(node.args)
        node.body = [self.visit(s) for s in node.body]
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        return node  # without annotations

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


_IDENTITY = (ast.Is, ast.IsNot)


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, (ast.Tuple, ast.Set)) and all(map(_is_constant, node.elts)))


def _of_hook(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(HOOK, ast.Load()), name, ast.Load())


def _by_hook(name: str, value: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(_of_hook(name), [value], []), value)


def _call(place: ast.AST, *args: Any, keywords: Any = ()) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(HOOK, ast.Load()), list(args), list(keywords)), place)


def _rewritten(function: types.FunctionType) -> types.CodeType | None:
    """The code of the function with its calls handed to the hook; None where there is no source."""
    code = function.__code__
    try:
        text = text_of(function) or typed_text(function)
        if not text:
            return None
        found = find(file_of(code.co_filename, text), code)
        return _compiled(found, function, code.co_flags & FUTURE_FLAGS)
    except (Refusal, NoSource, RecursionError, SyntaxError, ValueError):
        return None


def _compiled(found: Found, function: types.FunctionType, flags: int) -> types.CodeType | None:
    code = function.__code__
    own = {n.id for n in ast.walk(found.node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    own |= {n.arg for n in ast.walk(found.node) if isinstance(n, ast.arg)} | {*code.co_freevars}
    node = _Calls(function.__globals__, own).visit(copy.deepcopy(found.node))
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Expr(node), node)]
    else:
        node.decorator_list = _never_applied(node.decorator_list[:1])
        node.returns = None
        body = [node]
        if found.class_name is None and node.name not in code.co_freevars:
            body = [ast.Global([node.name]), node]
    free = [name for name in code.co_freevars if name != "__class__" or found.class_name is None]
    if found.class_name is not None:  # for private names, and `super()`
        body = [ast.copy_location(ast.ClassDef(found.class_name, [], [], body, [], **_TYPE_PARAMETERS), node)]
        if found.class_name not in code.co_freevars:  # methods find their class where it was
            body = [ast.Global([found.class_name]), *body]
    arguments = ast.arguments([], [ast.arg(name) for name in [*free, HOOK]], None, [], [], None, [])
    outer = ast.FunctionDef("_s2s_outer", arguments, body, [], **_TYPE_PARAMETERS)
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    compiled = quietly(compile, module, code.co_filename, "exec", flags, True)
    fresh = next((c for c in _codes(compiled) if c.co_firstlineno == code.co_firstlineno and _is_of(c, code)), None)
    if fresh is None or not {*code.co_freevars} >= {*fresh.co_freevars} - {HOOK}:
        return None
    flags = fresh.co_flags | code.co_flags & inspect.CO_ITERABLE_COROUTINE  # of `types.coroutine`
    return fresh.replace(co_qualname=code.co_qualname, co_flags=flags)


def _never_applied(decorators: list[ast.expr]) -> list[ast.expr]:
    """What stands for decorators that have been applied: the lines of a code are counted from that of its first one."""
    return [ast.copy_location(ast.Constant(None), d) for d in decorators]


_TYPE_PARAMETERS: dict[str, Any] = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from _codes(const)


def _is_of(fresh: types.CodeType, code: types.CodeType) -> bool:
    count = code.co_argcount + code.co_kwonlyargcount
    return (
        fresh.co_name == code.co_name
        and fresh.co_varnames[:count] == code.co_varnames[:count]
        and fresh.co_argcount == code.co_argcount
    )
