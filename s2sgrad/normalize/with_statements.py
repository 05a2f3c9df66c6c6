"""`with` becomes statements that enter and leave the context, in one block; exits from inside come after it is left.

    with np.errstate(all="ignore"):       ->      context = np.errstate(all="ignore"); context.__enter__()
        return np.log(x)                          value = np.log(x)
                                                  context.__exit__(None, None, None); return value

    try: y = f(x)                         ->      attempt = nullcontext(); attempt.__enter__(); y = f(x)
    finally: lock.release()                       attempt.__exit__(..); lock.release(); attempt.__exit__(..)

No manager suppresses an exception (`context_managers`), so what follows runs after the whole body.  At the end
`cleanup.with_statements` restores the `with`, so that the context is also left on an exception.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, n):
...     for i in range(n):
...         with np.errstate(divide="ignore"):
...             y = 1.0 / x
...             if y > 2.0:
...                 break
...         x = y
...     return x
... ''', "with_statements"))
def f(x, n):
    for i in range(n):
        broke = False
        context = np.errstate(divide='ignore')
        context.__enter__()
        y = 1.0 / x
        if y > 2.0:
            broke = True
        context.__exit__(None, None, None)
        if broke:
            break
        x = y
    return x
"""

from __future__ import annotations

import contextlib
import threading
import warnings

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.with_regions import ENTER, EXIT, closed, opened
from s2sgrad.ir.exits import always_leaves, leaves
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.notes import CLEANS_UP
from s2sgrad.ir.quote import assign, at, constant, mentioned, name, nested, nodes, place_of, rewritten, stored
from s2sgrad.ir.scoping import own_nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import behaviour
from s2sgrad.normalize import context_managers, tapes
from s2sgrad.normalize._calls import is_literal
from s2sgrad.normalize.single_exit import bind_results, nest, replace_exits, returns_behind_loops

SETTINGS = (np.errstate, np.printoptions, warnings.catch_warnings)
_LOCKS = (type(threading.Lock()), type(threading.RLock()))


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `with`; raises Unsupported if the effects of a context manager are unknown."""
    tapes.require_none(unit, tree)
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        function.body = rewritten(function.body, lambda statement: _statement(unit, statement))
    return tree


def _statement(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    if isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Call):
        if getattr(statement.value.func, "attr", "") in (ENTER, EXIT):
            unit.refuse(statement, "a context is differentiated only where it is entered by `with`: write it so")
    if isinstance(statement, gast.With) or (isinstance(statement, gast.Try) and statement.finalbody):
        for node in own_nodes(statement.body):
            if isinstance(node, gast.Yield):
                CLEANS_UP.put(node)
    if isinstance(statement, gast.With):
        return _lowered(unit, statement)
    return _attempted(unit, statement) if isinstance(statement, gast.Try) and not statement.handlers else [statement]


def _lowered(unit: Unit, statement: gast.With) -> list[gast.AST]:
    """A `with` as statements; those inside have this form already."""
    unit.syntax.compound.add(place_of(statement))
    before, body, after = without_exits(unit, statement)
    for item in reversed(statement.items):
        body = _item(unit, statement, item, body)
    return before + body + after


def _attempted(unit: Unit, statement: gast.Try) -> list[gast.AST]:
    """`try` with `finally`: what `finally` does must not depend on how far the body got.

    A `finally` that only binds local variables just follows the body: an exception would discard them anyway.
    """
    unit.syntax.compound.add(place_of(statement))
    if statement.finalbody and all(_only_local(unit, s) for s in statement.finalbody):
        before, body, after = without_exits(unit, statement)
        return [*before, *body, *statement.finalbody, *after]
    local_names = mentioned(*statement.body) & unit.locals
    for final in statement.finalbody:
        for node in nodes(final):
            if isinstance(node, gast.stmt) and not isinstance(node, (gast.Expr, gast.If, gast.Pass, gast.Assign)):
                unit.refuse(node, "this statement in `finally` cannot be differentiated yet: only calls can, and "
                                  "assignments")  # fmt: skip
            if isinstance(node, gast.Name) and node.id in local_names:
                unit.refuse(node, f"`{node.id}` is used in `try` and in `finally`, which cannot be differentiated yet: give "
                                  "`finally` a name of its own")  # fmt: skip
    before, body, after = without_exits(unit, statement)
    return [*before, *_finally(unit, statement, body, statement.finalbody), *after]


def _finally(unit: Unit, statement: gast.AST, body: list[gast.AST], final: list[gast.AST]) -> list[gast.AST]:
    """`try: body; finally: final`, in one block."""
    attempt = unit.local("attempt")
    manager = gast.Call(name(unit.helper("nullcontext", contextlib.nullcontext)), [], [])
    opening, closing, end = opened(attempt, manager), closed(attempt), closed(attempt)
    return [*at(statement, *opening), *body, *at(statement, *closing), *final, *at(statement, *end)]


def _only_local(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement only binds variables of the function, or changes what they hold."""
    if isinstance(statement, (gast.If, gast.For)):
        asked = statement.test if isinstance(statement, gast.If) else statement.iter
        inside = [*statement.body, *statement.orelse]
        return behaviour.is_pure(unit, asked) and all(_only_local(unit, s) for s in inside)
    if isinstance(statement, gast.Expr):
        call = statement.value
        changed = effects.changed_by_call(call) if isinstance(call, gast.Call) else set()
        return bool(changed & unit.locals) and all(behaviour.is_pure(unit, a) for a in arguments_of(call))
    if isinstance(statement, gast.Assign):
        targets = list(nodes(*statement.targets))
    elif isinstance(statement, gast.AugAssign):
        targets = [statement.target]
    else:
        return isinstance(statement, gast.Pass)
    return all(_is_local(unit, t) for t in targets) and behaviour.is_pure(unit, statement.value)


def _is_local(unit: Unit, target: gast.AST) -> bool:
    """Whether a part of a target binds a variable, or stores into the value of one."""
    if not isinstance(getattr(target, "ctx", None), gast.Store) or isinstance(target, (gast.Name, gast.Tuple, gast.List)):
        return True
    if isinstance(target, gast.Attribute):
        return isinstance(target.value, gast.Name) and target.value.id in unit.definitions.receivers
    if not isinstance(target, gast.Subscript) or not isinstance(target.value, gast.Name):
        return False
    return target.value.id in unit.locals and behaviour.is_pure(unit, target.slice)


def _item(unit: Unit, statement: gast.With, item: gast.withitem, body: list[gast.AST]) -> list[gast.AST]:
    """The body inside one context manager."""
    manager = item.context_expr
    called = unit.called(manager)
    if called is contextlib.nullcontext:
        arguments = arguments_of(manager)
        value = arguments[0] if arguments else constant(None)
        bound = [gast.Expr(value)] if item.optional_vars is None else [gast.Assign([item.optional_vars], value, None)]
        return at(statement, *bound) + body
    if called in SETTINGS:
        for value in arguments_of(manager):
            if not is_literal(value):
                unit.refuse(value, "the settings of a context must be constants to be differentiated: write them out")
    elif not isinstance(unit.resolve(manager), _LOCKS):
        if mentioned(manager) & stored(*statement.body):
            unit.refuse(manager, "this context manager is bound anew inside of its `with`, which cannot be followed: use "
                                 "two names")  # fmt: skip
        context_managers.require_followed(unit, manager)
    value = item.optional_vars
    if value is not None and not isinstance(value, gast.Name):
        unit.refuse(value, "`as` with several names in this `with` cannot be differentiated yet: use one name")
    context = unit.local("context")
    opening = at(statement, *opened(context, manager, None if value is None else value.id))
    if called not in SETTINGS and context_managers.is_object(unit, manager):  # its methods are inlined
        return [*opening, *_finally(unit, statement, body, at(statement, *closed(context)))]
    closing = at(statement, *closed(context))
    return [*opening, *body, *closing]


def without_exits(unit: Unit, statement: gast.With | gast.Try) -> tuple[list[gast.AST], list[gast.AST], list[gast.AST]]:
    """Statements before; the body without exits; and the statements after it that leave instead."""
    body = statement.body
    flagged: list[gast.AST] = []
    if any(map(_leaves_from_loop, nested(body))):
        body, flagged = returns_behind_loops(unit, body, unit.local("value"))
    if not leaves(body):
        return flagged, body, []
    body = nest(unit, body)
    if always_leaves(body) and not leaves(body, (gast.Break, gast.Continue)):
        value = unit.local("value")
        return flagged, bind_results(body, value), at(statement, gast.Return(name(value)))
    flags: dict[type, str] = {}
    values: dict[type, str] = {}
    body = replace_exits(unit, body, flags, values)
    before, after = flagged, []
    for kind, flag in flags.items():
        before += at(statement, assign(flag, constant(False)))
        leave = gast.Return(name(values[kind])) if kind is gast.Return else kind()
        after += at(statement, gast.If(name(flag), at(statement, leave), []))
    return before, body, after


def _leaves_from_loop(block: list[gast.AST]) -> bool:
    """Whether a loop of a block contains a `return`, or has an `else` that leaves an enclosing loop."""
    loops = [s for s in block if isinstance(s, (gast.For, gast.While))]
    inside = nodes(*loops)
    return any(isinstance(n, gast.Return) for n in inside) or any(leaves(loop.orelse) for loop in loops)
