"""A callee returns its tangent alone where nobody reads its value.

    y, y_dot = helper_jvp(x, x_dot=x_dot)      ->      y_dot = helper_jvp(x, x_dot=x_dot)
    return y_dot                                       return y_dot

Values of gradients are such: of a gradient of a gradient, the tangent is all that is asked for.

>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(grad(defined('''
... def cube(x):
...     z = x * x
...     return z * x
... def f(x, y):
...     return cube(x * y) * cube(x) * y
... ''')))
>>> df(1.0, 2.0), "t4 = cube_bwd_jvp(" in df.source
(480.0, True)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects
from s2sgrad.cleanup import deadcode, forward_substitution
from s2sgrad.driver.emitted import Emitted, reached
from s2sgrad.driver.program import Program
from s2sgrad.ir.quote import nodes
from s2sgrad.memory import behaviour


@dataclass
class _Site:
    """A call, in the function `caller`: a statement that binds the value and the tangent, of which it reads the latter."""

    caller: Emitted
    statement: gast.Assign


def run(program: Program, entry: Emitted) -> None:
    """Let the tangents of a program return no value that is not read."""
    left = [e for e in program.tangents if e.tree is not None]
    before = -1
    while before != len(left):
        before, functions = len(left), reached(program.functions, [entry])
        for callee in [*left]:
            sites = [site for caller in functions for site in _sites(caller, callee)]
            plain = [site for site in sites if site is not None]
            if sites and len(plain) == len(sites) and _returns_pair(callee):
                left.remove(callee)
                _without_value(callee)
                for site in plain:
                    site.statement.targets = [site.statement.targets[0].elts[1]]


def _sites(caller: Emitted, callee: Emitted) -> Iterator[_Site | None]:
    """The calls of a callee; None for one whose value is read, and for any other use."""
    names = {n for n, value in caller.unit.helpers.items() if value is callee}
    if not names:
        return
    read = {n for statement in effects.walk(caller.tree.body) for n in effects.reads(statement)}  # `y += e` reads `y`
    for statement in effects.walk(caller.tree.body):
        uses = sum(isinstance(n, gast.Name) and n.id in names for n in nodes(effects.header(statement)))
        if uses:
            yield _Site(caller, statement) if uses == 1 and _binds_pair(statement, names, read) else None


def _binds_pair(statement: gast.AST, names: set[str], read: set[str]) -> bool:
    """Whether a statement is `y, y_dot = f(..)`, where `y` is not read."""
    if not isinstance(statement, gast.Assign) or not isinstance(statement.value, gast.Call):
        return False
    (target,), called = statement.targets, statement.value.func
    is_pair = isinstance(target, gast.Tuple) and isinstance(target.elts[0], gast.Name) and target.elts[0].id not in read
    return is_pair and isinstance(called, gast.Name) and called.id in names


def _returns_pair(callee: Emitted) -> bool:
    """Whether a callee ends with the value and the tangent, and only binds names: that late, nothing is known of memory."""
    *statements, last = callee.tree.body[1:]
    if not isinstance(last, gast.Return) or not isinstance(last.value, gast.Tuple) or len(last.value.elts) != 2:
        return False
    plain = all(isinstance(s, gast.Assign) and effects.stored(s) is None for s in statements)
    return plain and all(behaviour.is_pure(callee.unit, effects.header(s)) for s in callee.tree.body[1:])


def _without_value(callee: Emitted) -> None:
    """Let a callee return the tangent alone."""
    tree = callee.tree
    last = tree.body[-1]
    last.value = last.value.elts[1]
    callee.tree = forward_substitution.run(callee.unit, deadcode.run(callee.unit, tree))
    doc = callee.tree.body[0].value
    doc.value = doc.value.replace("Value of", "Tangent of").replace(", and its tangent along", " along")
