"""Verifies the normal form; the tests run this after every pass.

A function in normal form is a block that ends with its only `return`.  A block contains assignments to one target, augmented
assignments, expression statements, `if`, `for` over a range by one name, `while`, `break`, `assert` and `raise`.  No loop
has an `else`, and no statement occurs twice in the tree: facts about statements are keyed by identity.

>>> import gast
>>> problems(gast.parse('''
... def f(x):
...     for a, b in x:
...         return a
...     return x
... ''').body[0])
['line 3: a loop binds more than one name', 'line 4: a `return` that does not end the function']
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.graph import binds
from s2sgrad.ir.exits import own_statements
from s2sgrad.ir.quote import LOOPS

_STATEMENTS = (gast.Assign, gast.AugAssign, gast.Expr, gast.If, gast.For, gast.While, gast.Break, gast.Assert, gast.Raise,
               gast.Return)  # fmt: skip


def problems(tree: gast.FunctionDef, bound: Collection[str] | None = None, known_names: Collection[str] = ()) -> list[str]:
    """Violations of the normal form, each with its line; an empty list if there are none.

    With `bound`, the local names, every other name that is bound is one too; with `known` as well, the free names, so is
    every other name that is read.
    """
    found_problems = [*_of_shape(tree), *(() if bound is None else _of_names(tree, set(bound), set(known_names)))]
    return [f"line {getattr(s, 'lineno', 0)}: {text}" for s, text in found_problems]


def _of_shape(tree: gast.FunctionDef) -> Iterator[tuple[gast.AST, str]]:
    seen: set[int] = set()
    loops = [s for s in effects.walk(tree.body) if isinstance(s, LOOPS)]
    in_loop = {id(s) for loop in loops for s in own_statements(loop.body)}
    for statement in effects.walk(tree.body):
        if id(statement) in seen:
            yield statement, "a statement that stands in two places"
        seen.add(id(statement))
        if isinstance(statement, gast.Break) and id(statement) not in in_loop:
            yield statement, "a `break` outside of a loop"
        if isinstance(statement, gast.Return) and statement is not tree.body[-1]:
            yield statement, "a `return` that does not end the function"
        for text in _of_statement(statement):
            yield statement, text
    if not tree.body or not isinstance(tree.body[-1], gast.Return):
        yield tree, "a function that does not end with `return`"


def _of_statement(statement: gast.AST) -> Iterator[str]:
    """Violations by a single statement."""
    if not isinstance(statement, _STATEMENTS):
        yield f"a statement of class {type(statement).__name__}"
    if isinstance(statement, gast.Assign) and len(statement.targets) != 1:
        yield "an assignment to several targets"
    if isinstance(statement, (gast.For, gast.While)) and statement.orelse:
        yield "a loop with an `else`"
    if isinstance(statement, gast.For):
        if not isinstance(statement.target, gast.Name):
            yield "a loop binds more than one name"
        elif not _may_be_range(statement.iter):
            yield "a loop over something else than a range"


def _may_be_range(node: gast.AST) -> bool:
    """Whether an iterable may be `range(..)`, `reversed(range(..))` or `range(..)[..]`, judged as a call."""
    return isinstance(node.value if isinstance(node, gast.Subscript) else node, gast.Call)


def _of_names(tree: gast.FunctionDef, bound: set[str], known_names: set[str]) -> Iterator[tuple[gast.AST, str]]:
    for statement in effects.walk(tree.body):
        one = not isinstance(statement, gast.Assign) or len(statement.targets) == 1
        for name in binds(statement) if one else ():
            if name not in bound:
                yield statement, f"`{name}` is bound and not local"
        for node in effects.loads(effects.header(statement)) if known_names else ():
            if node.id not in bound | known_names:
                yield statement, f"`{node.id}` is read and stands for nothing"
