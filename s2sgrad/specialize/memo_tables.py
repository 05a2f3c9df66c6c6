"""Functions that memoize their values in a dict, recognized by their text: the function without the dict.

    def fib(n, x, memo):                                 def fib(n):
        if n in memo: return memo[n]            ->           found = x[n] if n < 2 else fib(n - 1) + fib(n - 2)
        memo[n] = x[n] if n < 2 else fib(n - 1, x, memo) + ..    return found
        return memo[n]

The value must depend on `n` alone: the function stores only its value, only under its key, and passes the rest unchanged.

>>> import gast
>>> from s2sgrad import emit
>>> table = of(gast.parse('''
... def fib(n, x, memo):
...     if n in memo:
...         return memo[n]
...     memo[n] = x[n] if n < 2 else fib(n - 1, x, memo) + fib(n - 2, x, memo)
...     return memo[n]
... ''').body[0])
>>> table.memo, table.key, table.passed
('memo', ['n'], ['x'])
>>> print(emit.function(table.node).rstrip())
def fib(n):
    found = x[n] if n < 2 else fib(n - 1) + fib(n - 2)
    return found
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import Transformer, at, blocks, clone, constant, empty_arguments, name, nodes, rewritten
from s2sgrad.ir.unit import MISSING


@dataclass
class Table:
    """`node` is the function without its dict, with the `key` as its parameters; `passed` are the parameters that it passes
    on unchanged, and `memo` is the dict."""

    node: gast.FunctionDef
    memo: str
    key: list[str]
    passed: list[str] = field(default_factory=list)
    found: str = "found"  # the variable for its value


class _Other(Exception):
    """The function uses its dict in some other way."""


def of(node: gast.AST, resolve: Callable[[gast.AST], Any] = lambda name: MISSING) -> Table | None:
    """The memo table of a function; None if it has none, or uses it in some other way.  `resolve`: what free names are."""
    if not isinstance(node, gast.FunctionDef) or node.args.vararg or node.args.kwarg or node.args.posonlyargs:
        return None
    stores = [n for s in node.body for n in nodes(s) if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)]
    tables = {n.value.id: n.slice for n in stores if isinstance(n.value, gast.Name)}
    for memo, key in tables.items():
        try:
            return _without_memo(node, memo, key, resolve)
        except _Other:
            pass
    return None


def _without_memo(function: gast.FunctionDef, memo: str, index: gast.AST, resolve: Callable[[gast.AST], Any]) -> Table:
    """The function without the dict `memo` and its stores under `index`; raises _Other if it uses the dict otherwise."""
    node = clone(function)
    places = {p.id: k for k, p in enumerate(node.args.args)}
    key = [getattr(e, "id", "") for e in (index.elts if isinstance(index, gast.Tuple) else [index])]
    if memo in places:
        _drop_beginning(node, memo)
    _require_function_of(key, node)
    table = Table(node, memo, key, [p for p in places if p not in (*key, memo)])
    while _mentions(table.found, node):
        table.found += "_"
    _Without(table, places, resolve).visit(node)
    node.body = _decided(node.body)
    if _mentions(memo, node):
        raise _Other
    if _Returns(table.found).block(node.body) != "left":  # may fall off its end
        raise _Other
    _without_stores(node, table.found)
    node.args = empty_arguments()
    node.args.args = [gast.Name(p, gast.Param(), None, None) for p in key]
    return table


def _require_function_of(key: list[str], node: gast.FunctionDef) -> None:
    """Raise _Other unless the key is made of parameters that are never rebound, and the function is recursive, is only
    called, and returns a value."""
    places = {p.id for p in node.args.args}
    if not set(key) <= places or len(set(key)) < len(key) or node.args.kwonlyargs or scoping.bound(node.body) & places:
        raise _Other
    body = [n for s in node.body for n in nodes(s)]
    calls = [n for n in body if isinstance(n, gast.Call) and getattr(n.func, "id", "") == node.name]
    returns = any(isinstance(n, gast.Return) and n.value is not None for n in body)
    if not calls or len(calls) != len(_mentions(node.name, node)) or not returns:
        raise _Other


def _mentions(name: str, node: gast.FunctionDef) -> list[gast.Name]:
    """The occurrences of a name in the body of a function."""
    return [n for s in node.body for n in nodes(s) if isinstance(n, gast.Name) and n.id == name]


def _drop_beginning(node: gast.FunctionDef, memo: str) -> None:
    """Remove `if memo is None: memo = {}`."""
    for k, s in enumerate(node.body):
        alone = isinstance(s, gast.If) and not s.orelse and len(s.body) == 1
        if alone and _is_none(s.test, memo) and _makes(s.body[0], memo):
            del node.body[k]
            return


def _is_none(test: gast.AST, memo: str) -> bool:
    plain = isinstance(test, gast.Compare) and isinstance(test.ops[0], gast.Is) and getattr(test.left, "id", "") == memo
    return plain and isinstance(test.comparators[0], gast.Constant) and test.comparators[0].value is None


def _makes(statement: gast.AST, memo: str) -> bool:
    """Whether a statement is `memo = {}`."""
    if not isinstance(statement, gast.Assign) or getattr(statement.targets[0], "id", "") != memo:
        return False
    return isinstance(statement.value, gast.Dict) and not statement.value.keys


class _Without(Transformer):
    """Removes the dict, as if the requested key were never in it."""

    def __init__(self, table: Table, places: dict[str, int], resolve: Callable[[gast.AST], Any]) -> None:
        self.table, self.places, self.resolve = table, places, resolve

    def visit_If(self, node: gast.If | gast.IfExp) -> gast.AST | list[gast.AST]:
        self.generic_visit(node)
        return (node.body if node.test.value else node.orelse) if isinstance(node.test, gast.Constant) else node

    visit_IfExp = visit_If

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        asked = len(node.ops) == 1 and isinstance(node.ops[0], (gast.In, gast.NotIn)) and self.is_key(node.left)
        if asked and getattr(node.comparators[0], "id", "") == self.table.memo:
            return at(node, constant(isinstance(node.ops[0], gast.NotIn)))[0]
        return self.generic_visit(node)

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        if getattr(node.value, "id", "") == self.table.memo and self.is_key(node.slice):
            return at(node, name(self.table.found, store=isinstance(node.ctx, gast.Store)))[0]
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        if (found := self.missed(node)) is not None:
            return at(node, constant(found))[0]
        self.generic_visit(node)
        if isinstance(node.func, gast.Attribute) and getattr(node.func.value, "id", "") == self.table.memo:
            if node.func.attr != "get" or not node.args or not self.is_key(node.args[0]) or node.keywords:
                raise _Other
            return node.args[1] if len(node.args) > 1 else at(node, constant(None))[0]
        if getattr(node.func, "id", "") != self.table.node.name:
            return node
        arguments = dict(zip(self.places, node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
        left = self.places.keys() - arguments.keys()  # the dict may have a default
        if len(node.args) > len(self.places) or not arguments.keys() <= self.places.keys() or not left <= {self.table.memo}:
            raise _Other
        if any(getattr(arguments[p], "id", "") != p for p in (*self.table.passed, self.table.memo) if p in arguments):
            raise _Other
        node.args, node.keywords = [arguments[p] for p in self.table.key], []
        return node

    def missed(self, node: gast.Call) -> int | None:
        """Which handler is for the KeyError of `try: memo[key]`; None for any other call."""
        tried = node.args[0] if node.args and self.resolve(node.func) is runtime.raised else None
        read = tried.body if isinstance(tried, gast.Lambda) else None
        if not isinstance(read, gast.Subscript) or getattr(read.value, "id", "") != self.table.memo:
            return None
        if not self.is_key(read.slice):
            return None
        kinds = [self.resolve(kind) for kind in node.args[1:]]
        return next((k for k, kind in enumerate(kinds, 1) if isinstance(kind, type) and issubclass(KeyError, kind)), None)

    def is_key(self, node: gast.AST) -> bool:
        """Whether an expression is the key of the value being computed."""
        parts = node.elts if isinstance(node, gast.Tuple) else [node]
        return [getattr(p, "id", "") for p in parts] == self.table.key


def _decided(body: list[gast.AST]) -> list[gast.AST]:
    """A block in which an `if` that asks about the constant that the statement before it has bound is the arm that is taken:
    `r = None; if r is None: ..`."""
    out: list[gast.AST] = []
    for s in body:
        answer = _answer(out[-1], s.test) if out and isinstance(s, gast.If) else None
        out += [s] if answer is None else s.body if answer else s.orelse
    return out


def _answer(before: gast.AST, test: gast.AST) -> bool | None:
    """Whether a test holds behind this statement, if it asks about a constant that this binds."""
    held = before.value if isinstance(before, gast.Assign) else None
    if not isinstance(held, gast.Constant) or not isinstance(test, gast.Compare) or len(test.ops) > 1:
        return None
    asked, op = test.comparators[0], type(test.ops[0])
    alike = getattr(test.left, "id", "") == getattr(before.targets[0], "id", None)
    if not alike or not isinstance(asked, gast.Constant) or op not in (gast.Is, gast.Eq, gast.IsNot, gast.NotEq):
        return None
    same = type(held.value) is type(asked.value) and held.value == asked.value
    return same == (op in (gast.Is, gast.Eq))


class _Returns:
    """Raises _Other if a function may return anything but its stored value, or may read it before the store.

    The stored value at a point is an expression, "something" (unknown) or "nothing"; "perhaps": stored on some paths only.
    """

    def __init__(self, memo: str) -> None:
        self.found = memo

    def block(self, body: list[gast.AST], stored: Any = "nothing") -> Any:
        """The stored value after a block."""
        for s in body:
            stored = self.behind(s, stored)
        return stored

    def behind(self, s: gast.AST, stored: Any) -> Any:
        """The stored value after a statement."""
        inner = [b for b in blocks(s) if b]
        if stored in ("nothing", "perhaps") and self.reads(header(s) if inner else s):
            raise _Other
        if isinstance(s, gast.Return):
            if not self.is_stored(s.value, stored):
                raise _Other
            return "left"
        if isinstance(s, gast.If):
            return _joined([self.block(s.body, stored), self.block(s.orelse, stored)])
        if inner:
            if any(self.block(b, stored) is not stored for b in inner):
                raise _Other
            return stored
        if isinstance(s, gast.Assign) and any(getattr(t, "id", "") == self.found for t in s.targets):
            others = [t for t in s.targets if getattr(t, "id", self.found) != self.found]
            return others[0] if others else s.value
        changes = {self.found} | ({stored.id} if isinstance(stored, gast.Name) else set())
        return "something" if changes & scoping.bound([s]) else stored

    def is_stored(self, returned: gast.AST | None, stored: Any) -> bool:
        """Whether a returned value is the stored one, or nothing is stored."""
        called = getattr(returned, "id", "")
        return called == self.found or stored == "nothing" or (isinstance(stored, gast.Name) and called == stored.id)

    def reads(self, node: gast.AST | None) -> bool:
        """Whether an expression reads the remembered value."""
        names = (n for n in nodes(node) if isinstance(n, gast.Name)) if node is not None else ()
        return any(n.id == self.found and isinstance(n.ctx, gast.Load) for n in names)


def _joined(ends: list[Any]) -> Any:
    """The stored value where branches join."""
    ends = [e for e in ends if e != "left"]
    if not ends:
        return "left"
    return ends[0] if all(e is ends[0] for e in ends) else "perhaps"


def header(statement: gast.AST) -> gast.AST | None:
    """The expression that a compound statement evaluates itself."""
    return getattr(statement, "test", getattr(statement, "iter", None))


def _without_stores(node: gast.FunctionDef, memo: str) -> None:
    """Remove stores of the value if it is never read."""
    if any(isinstance(n.ctx, gast.Load) for n in _mentions(memo, node)):
        return

    def kept(s: gast.AST) -> list[gast.AST]:
        alone = isinstance(s, gast.Assign) and getattr(s.targets[0], "id", "") == memo and isinstance(s.value, gast.Name)
        return [] if alone else [s]

    node.body = rewritten(node.body, kept)
