"""`try` with `except`: what `try` computes is tried first, and then computed, or the handler runs.

    try: y = np.log(f(x))             which = raised(lambda: np.log(f(x)), ValueError)
    except ValueError: y = 0.0   ->   if which == 0: y = np.log(f(x))
                                      else: y = 0.0

The body runs twice where it succeeds; so it holds nothing but assignments of new values, of calls that only compute.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(K, y):
...     try:
...         L = np.linalg.cholesky(K)
...         return np.sum(np.linalg.solve(L, y))
...     except np.linalg.LinAlgError:
...         return 0.0
... ''', "try_except"))
def f(K, y):
    which = raised(
        lambda: (lambda L: np.sum(np.linalg.solve(L, y)))(np.linalg.cholesky(K)),
        np.linalg.LinAlgError
    )
    if which == 0:
        L = np.linalg.cholesky(K)
        return np.sum(np.linalg.solve(L, y))
    else:
        return 0.0
"""

from __future__ import annotations

import builtins
import inspect
import types

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.quote import assign, at, blocks, clone, constant, name, nodes, stored
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.source import read

_LEAVES = (gast.Return, gast.Raise)
_ITERATORS = (iter, zip, map, filter, reversed, enumerate, open)
_DEEPEST = 8  # functions within functions


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `except`; Unsupported where the body does more than compute new values."""
    tree.body = _block(unit, tree, tree.body)
    return tree


def _block(unit: Unit, tree: gast.FunctionDef, body: list[gast.AST]) -> list[gast.AST]:
    out: list[gast.AST] = []
    for statement in body:
        if isinstance(statement, gast.FunctionDef):
            statement.body = _block(unit, statement, statement.body)
        for inner in blocks(statement):
            inner[:] = _block(unit, tree, inner)
        if isinstance(statement, gast.Try) and statement.handlers:
            for handler in statement.handlers:
                handler.body = _block(unit, tree, handler.body)
            made = _attempt(unit, tree, statement)
            if statement.finalbody:
                made = at(statement, gast.Try(made, [], [], statement.finalbody))
            out += made
        else:
            out.append(statement)
    return out


def _attempt(unit: Unit, tree: gast.FunctionDef, statement: gast.Try) -> list[gast.AST]:
    _require_own_names(unit, tree, statement)
    _require_no_iterators(unit, tree, statement)
    which = unit.local("which")
    tried = gast.Lambda(gast.arguments([], [], None, [], [], None, []), _tried(unit, statement.body))
    kinds = [h.type or name(unit.helper("Exception", Exception)) for h in statement.handlers]
    raised = gast.Call(name(unit.helper("raised", runtime.raised)), [tried, *kinds], [])
    rest = _handled(unit, statement.handlers[-1])
    for k in range(len(statement.handlers) - 1, 0, -1):
        rest = at(statement, gast.If(_is(which, k), _handled(unit, statement.handlers[k - 1]), rest))
    chosen = gast.If(_is(which, 0), [*statement.body, *statement.orelse], rest)
    return at(statement, assign(which, at(statement, raised)[0]), chosen)


def _is(which: str, k: int) -> gast.Compare:
    return gast.Compare(name(which), [gast.Eq()], [constant(k)])


def _tried(unit: Unit, body: list[gast.AST]) -> gast.AST:
    """The body as an expression: each new value is the argument of a function of what comes after it."""
    value: gast.AST = constant(None)
    for statement in reversed(body):
        given = getattr(statement, "value", None)
        target = statement.targets[0] if isinstance(statement, gast.Assign) and len(statement.targets) == 1 else None
        last = statement is body[-1]
        named = isinstance(target, gast.Name)
        if not (named or (isinstance(statement, (gast.Return, gast.Expr)) and last)) or (
            given is not None and not _only_computes(unit, given)
        ):
            unit.refuse(statement, "`try` with `except` is differentiated where it holds nothing but assignments of new "
                                   "values, of calls that only compute: take this out of it")  # fmt: skip
        given = constant(None) if given is None else clone(given)
        if last:
            value = given
        else:
            parameters = gast.arguments([gast.Name(target.id, gast.Param(), None, None)], [], None, [], [], None, [])
            value = gast.Call(gast.Lambda(parameters, value), [given], [])
    return value


def _handled(unit: Unit, handler: gast.ExceptHandler) -> list[gast.AST]:
    caught = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
    for node in (n for s in handler.body for n in nodes(s)):
        if isinstance(node, gast.Raise) and isinstance(node.cause, gast.Name) and node.cause.id == caught:
            node.cause = None
        if isinstance(node, gast.Raise) and node.exc is None:
            unit.refuse(node, "`raise` of the exception that was caught cannot be differentiated yet: name the exception")
    for node in (n for s in handler.body for n in nodes(s)):
        if isinstance(node, gast.Name) and node.id == caught:
            unit.refuse(node, f"the exception `{caught}` is used, which cannot be differentiated yet: leave it out")
    return handler.body


def _require_own_names(unit: Unit, tree: gast.FunctionDef, statement: gast.Try) -> None:
    """What the body has bound before a later statement of it raises must not be read then.

    Python keeps it, and here it is not bound at all.
    """
    leave = all(h.body and isinstance(h.body[-1], _LEAVES) for h in statement.handlers)
    for k, early in enumerate(statement.body[:-1]):
        later = [*statement.body[k + 1 :], *statement.orelse]
        allowed = {id(n) for s in later for n in nodes(s)}
        for local in stored(early):
            for node in nodes(tree):
                if not isinstance(node, gast.Name) or node.id != local or id(node) in allowed:
                    continue
                read_ = isinstance(node.ctx, gast.Load) or _updated(tree, node)
                if read_ and not (leave and _comes_after(tree, statement, node)):
                    unit.refuse(statement, f"`{local}` is bound in `try` and may be read after an exception, which cannot "
                                           "be followed: use a name of its own in `try`")  # fmt: skip


def _require_no_iterators(unit: Unit, tree: gast.FunctionDef, statement: gast.Try) -> None:
    """What is run twice must not use up what it reads."""
    read_ = {n.id for s in statement.body for n in nodes(s) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)}
    for node in nodes(tree):
        value = node.value if isinstance(node, gast.Assign) else None
        used_up = isinstance(value, gast.GeneratorExp)
        if isinstance(value, gast.Call):
            target = unit.resolve(value.func)
            used_up = any(target is kind for kind in _ITERATORS) or inspect.isgeneratorfunction(target)
        bound = stored(node) if isinstance(node, gast.Assign) else set()
        if used_up and bound & read_:
            unit.refuse(statement, f"`{min(bound & read_)}` is used up by what `try` runs twice, which cannot be followed: "
                                   "make it a list")  # fmt: skip


def _updated(tree: gast.FunctionDef, target: gast.Name) -> bool:
    return any(isinstance(n, gast.AugAssign) and n.target is target for n in nodes(tree))


def _comes_after(tree: gast.FunctionDef, statement: gast.Try, node: gast.Name) -> bool:
    """Whether a read is in a statement of the function itself that follows `try`, in its block or in one around it."""
    handlers = {id(n) for h in statement.handlers for s in h.body for n in nodes(s)}
    inner = (n for n in nodes(tree) if isinstance(n, (gast.FunctionDef, gast.Lambda)) and n is not tree)
    closed = {id(part) for n in inner for part in nodes(n)}
    place = getattr(node, "lineno", 0) > getattr(statement, "lineno", 0)
    return place and id(node) not in handlers and id(node) not in closed and not _in_loop(tree, statement)


def _in_loop(tree: gast.FunctionDef, statement: gast.Try) -> bool:
    loops = (n for n in nodes(tree) if isinstance(n, (gast.For, gast.While)))
    return any(part is statement for loop in loops for s in loop.body for part in nodes(s))


def _only_computes(unit: Unit, node: gast.AST, depth: int = _DEEPEST) -> bool:
    """Whether an expression may be run twice: it changes nothing, and depends on its operands alone."""
    if any(isinstance(n, (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)) for n in nodes(node)):
        return False
    if any(isinstance(op, (gast.In, gast.NotIn)) for n in nodes(node) if isinstance(n, gast.Compare) for op in n.ops):
        return False  # of an iterator, which it consumes
    for call in (n for n in nodes(node) if isinstance(n, gast.Call)):
        alone = gast.Call(call.func, [], [])
        if effects.is_pure(unit, alone):
            continue
        target = unit.resolve(call.func)
        if not isinstance(target, types.FunctionType) or effects.is_library(target) or not depth:
            return False
        if mod_ref.of(target) != mod_ref.Writes(frozenset(), False) or not _function_computes(target, depth - 1):
            return False
    return True


def _function_computes(function: types.FunctionType, depth: int) -> bool:
    try:
        unit, tree = Unit.of(read(function))
    except S2SGradError:
        return False
    calls = (n for s in tree.body for n in nodes(s) if isinstance(n, gast.Call))
    return all(_is_exception(unit, c) or _only_computes(unit, gast.Call(c.func, [], []), depth) for c in calls)


def _is_exception(unit: Unit, call: gast.Call) -> bool:
    target = unit.resolve(call.func)
    return isinstance(target, type) and issubclass(target, builtins.BaseException)
