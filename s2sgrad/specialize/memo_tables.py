"""A function that keeps its values in a dict of its own making, by its text: what it is without the dict.

    def fib(n, x, memo):                                 def fib(n):
        if n in memo: return memo[n]            ->           found = x[n] if n < 2 else fib(n - 1) + fib(n - 2)
        memo[n] = x[n] if n < 2 else fib(n - 1, x, memo) + ..    return found
        return memo[n]

What it is given for `n` says what it returns: it stores nothing but that, under nothing but that, and hands on the rest.

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

from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.quote import Transformer, at, blocks, clone, constant, empty_arguments, name, nodes, rewritten


@dataclass
class Table:
    """`node` is the function without its dict; its parameters are the `key` under which it keeps its values; it had those
    that are `passed` on as they are, and perhaps the `memo`, which is the dict."""

    node: gast.FunctionDef
    memo: str
    key: list[str]
    passed: list[str] = field(default_factory=list)
    found: str = "found"  # the variable that stands for its value


class _Other(Exception):
    """The text does something else with its dict."""


def of(node: gast.AST) -> Table | None:
    """What a function keeps its values in; None where it does something else."""
    if not isinstance(node, gast.FunctionDef) or node.args.vararg or node.args.kwarg or node.args.posonlyargs:
        return None
    stores = [n for s in node.body for n in nodes(s) if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)]
    tables = {n.value.id: n.slice for n in stores if isinstance(n.value, gast.Name)}
    for memo, key in tables.items():
        try:
            return _taken_out(node, memo, key)
        except _Other:
            pass
    return None


def _taken_out(given: gast.FunctionDef, memo: str, index: gast.AST) -> Table:
    node = clone(given)
    places = {p.id: k for k, p in enumerate(node.args.args)}
    key = [getattr(e, "id", "") for e in (index.elts if isinstance(index, gast.Tuple) else [index])]
    if memo in places:
        _drop_beginning(node, memo)
    _require_function_of(key, node)
    table = Table(node, memo, key, [p for p in places if p not in (*key, memo)])
    while _mentions(table.found, node):
        table.found += "_"
    _Without(table, places).visit(node)
    if _mentions(memo, node):
        raise _Other
    if _Returns(table.found).block(node.body) != "left":  # it may return nothing
        raise _Other
    _without_stores(node, table.found)
    node.args = empty_arguments()
    node.args.args = [gast.Name(p, gast.Param(), None, None) for p in key]
    return table


def _require_function_of(key: list[str], node: gast.FunctionDef) -> None:
    """Raise where the key is not made of parameters that stay what they are, or where the function does not call itself, is
    handed on, or returns nothing."""
    places = {p.id for p in node.args.args}
    if not set(key) <= places or len(set(key)) < len(key) or node.args.kwonlyargs or scoping.bound(node.body) & places:
        raise _Other
    body = [n for s in node.body for n in nodes(s)]
    calls = [n for n in body if isinstance(n, gast.Call) and getattr(n.func, "id", "") == node.name]
    returns = any(isinstance(n, gast.Return) and n.value is not None for n in body)
    if not calls or len(calls) != len(_mentions(node.name, node)) or not returns:
        raise _Other


def _mentions(name: str, node: gast.FunctionDef) -> list[gast.Name]:
    """Where a name stands in the body of a function."""
    return [n for s in node.body for n in nodes(s) if isinstance(n, gast.Name) and n.id == name]


def _drop_beginning(node: gast.FunctionDef, memo: str) -> None:
    """Leave out `if memo is None: memo = {}`."""
    for k, s in enumerate(node.body):
        alone = isinstance(s, gast.If) and not s.orelse and len(s.body) == 1
        if alone and _is_none(s.test, memo) and _makes(s.body[0], memo):
            del node.body[k]
            return


def _is_none(test: gast.AST, memo: str) -> bool:
    plain = isinstance(test, gast.Compare) and isinstance(test.ops[0], gast.Is) and getattr(test.left, "id", "") == memo
    return plain and isinstance(test.comparators[0], gast.Constant) and test.comparators[0].value is None


def _makes(statement: gast.AST, memo: str) -> bool:
    """Whether this is `memo = {}`."""
    if not isinstance(statement, gast.Assign) or getattr(statement.targets[0], "id", "") != memo:
        return False
    return isinstance(statement.value, gast.Dict) and not statement.value.keys


class _Without(Transformer):
    """Takes the dict out: what is in there is not computed again, so the name that is asked for is not in there."""

    def __init__(self, table: Table, places: dict[str, int]) -> None:
        self.table, self.places = table, places

    def visit_If(self, node: gast.If) -> gast.AST | list[gast.AST]:
        self.generic_visit(node)
        return (node.body if node.test.value else node.orelse) if isinstance(node.test, gast.Constant) else node

    def visit_IfExp(self, node: gast.IfExp) -> gast.AST:
        self.generic_visit(node)
        return (node.body if node.test.value else node.orelse) if isinstance(node.test, gast.Constant) else node

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
        self.generic_visit(node)
        if isinstance(node.func, gast.Attribute) and getattr(node.func.value, "id", "") == self.table.memo:
            if node.func.attr != "get" or not node.args or not self.is_key(node.args[0]) or node.keywords:
                raise _Other
            return node.args[1] if len(node.args) > 1 else at(node, constant(None))[0]
        if getattr(node.func, "id", "") != self.table.node.name:
            return node
        given = dict(zip(self.places, node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
        left = self.places.keys() - given.keys()  # the dict may be a default
        if len(node.args) > len(self.places) or not given.keys() <= self.places.keys() or not left <= {self.table.memo}:
            raise _Other
        if any(getattr(given[p], "id", "") != p for p in (*self.table.passed, self.table.memo) if p in given):
            raise _Other
        node.args, node.keywords = [given[p] for p in self.table.key], []
        return node

    def is_key(self, node: gast.AST) -> bool:
        """Whether an expression is the key under which the function keeps its value."""
        parts = node.elts if isinstance(node, gast.Tuple) else [node]
        return [getattr(p, "id", "") for p in parts] == self.table.key



class _Returns:
    """Raises where a function returns something else than what it has stored, or reads what it may not have stored.

    What is stored at a point is an expression, "something" or "nothing"; "perhaps" is not known.
    """

    def __init__(self, found: str) -> None:
        self.found = found

    def block(self, body: list[gast.AST], stored: Any = "nothing") -> Any:
        """What is stored behind a block."""
        for s in body:
            stored = self.behind(s, stored)
        return stored

    def behind(self, s: gast.AST, stored: Any) -> Any:
        """What is stored behind a statement."""
        inner = [b for b in blocks(s) if b]
        if stored in ("nothing", "perhaps") and self.reads(header(s) if inner else s):
            raise _Other
        if isinstance(s, gast.Return):
            if not self.is_stored(s.value, stored):
                raise _Other
            return "left"
        if isinstance(s, gast.If):
            return _met([self.block(s.body, stored), self.block(s.orelse, stored)])
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
        """Whether what is returned is what is stored by then; where nothing is, it need not be."""
        called = getattr(returned, "id", "")
        return called == self.found or stored == "nothing" or (isinstance(stored, gast.Name) and called == stored.id)

    def reads(self, node: gast.AST | None) -> bool:
        names = (n for n in nodes(node) if isinstance(n, gast.Name)) if node is not None else ()
        return any(n.id == self.found and isinstance(n.ctx, gast.Load) for n in names)


def _met(ends: list[Any]) -> Any:
    """What is stored where the ends of branches meet."""
    ends = [e for e in ends if e != "left"]
    if not ends:
        return "left"
    return ends[0] if all(e is ends[0] for e in ends) else "perhaps"


def header(statement: gast.AST) -> gast.AST | None:
    """What a compound statement evaluates itself."""
    return getattr(statement, "test", getattr(statement, "iter", None))


def _without_stores(node: gast.FunctionDef, found: str) -> None:
    """Leave out the stores of a value that is not read there."""
    if any(isinstance(n.ctx, gast.Load) for n in _mentions(found, node)):
        return

    def kept(s: gast.AST) -> list[gast.AST]:
        alone = isinstance(s, gast.Assign) and getattr(s.targets[0], "id", "") == found and isinstance(s.value, gast.Name)
        return [] if alone else [s]

    node.body = rewritten(node.body, kept)
