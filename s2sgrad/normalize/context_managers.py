"""Decides which of the user's context managers can be entered.

    @contextlib.contextmanager                       with timed("product"):
    def timed(what):                                     y = A @ x
        start = time.perf_counter()          ->      stays as it is, in the forward sweep alone
        yield
        print(what, time.perf_counter() - start)

A manager that suppresses an exception would let the text continue with half of its records, and one that changes state
outside of itself may change what the reverse sweep reads: both are refused.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import contextlib, io
... def f(x):
...     with contextlib.redirect_stdout(io.StringIO()):
...         y = x * x
...     return y
... ''', "flatten"))
def f(x):
    t1 = io.StringIO()
    context = contextlib.redirect_stdout(t1)
    context.__enter__()
    y = x * x
    context.__exit__(None, None, None)
    result = y
    return result
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
import tempfile
import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import at, nodes
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory import mod_ref
from s2sgrad.source import read

_LIBRARY = (builtins.open, contextlib.redirect_stdout, contextlib.redirect_stderr, tempfile.TemporaryDirectory)
_METHODS = ("__init__", "__enter__", "__exit__")
_WAY = "enter the context around the call of the gradient"


def require_followed(unit: Unit, manager: gast.AST) -> None:
    """Raise Unsupported if a context manager may do what cannot be followed."""
    target = unit.called(manager)
    if any(target is known for known in _LIBRARY):
        return
    targets = _classes(unit, manager) if isinstance(manager, gast.Name) else [target]
    functions = [f for t in targets for f in _functions(t)]
    if not functions or not all(any(_functions(t)) for t in targets):
        unit.refuse(manager, f"`with` of this context manager cannot be differentiated yet: {_WAY}")
    for function in functions:
        writes = mod_ref.of(function)
        own = set(function.__code__.co_varnames[:1]) if function.__name__ in _METHODS else set()
        if writes.outside or writes.arguments - own:
            unit.refuse(manager, f"this context manager may change what lives outside of it (`{function.__qualname__}`), "
                                 f"which cannot be followed: {_WAY}")  # fmt: skip
        if _hides(function):
            unit.refuse(manager, f"this context manager may hide an exception (`{function.__qualname__}`), which cannot be "
                                 f"followed: {_WAY}")  # fmt: skip


def suppressed(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    """`with suppress(E): ..` as `try: .. except E: pass`."""
    if not isinstance(statement, gast.With):
        return [statement]
    for k, item in enumerate(statement.items):
        if unit.called(item.context_expr) is contextlib.suppress and item.optional_vars is None:
            inner = gast.With(statement.items[k + 1 :], statement.body, None)
            body = suppressed(unit, at(statement, inner)[0]) if inner.items else statement.body
            kinds = arguments_of(item.context_expr)
            if kinds:
                handler = gast.ExceptHandler(gast.Tuple(kinds, gast.Load()), None, at(statement, gast.Pass()))
                body = at(statement, gast.Try(body, at(statement, handler), [], []))
            return body if k == 0 else at(statement, gast.With(statement.items[:k], body, None))
    return [statement]


def is_object(unit: Unit, manager: gast.AST) -> bool:
    """Whether a context manager is an instance of a user's class."""
    target = unit.called(manager)
    if isinstance(manager, gast.Name):
        return manager.id in unit.definitions.receivers
    return isinstance(target, type) and target not in _LIBRARY and any(_functions(target))


def _classes(unit: Unit, manager: gast.Name) -> list[type]:
    """The classes that an object with a name may be of: that of a new one, or for the object of a method, those derived
    from its class as well."""
    cls = unit.definitions.receivers.get(manager.id)
    found = [] if cls is None else [cls]
    if manager.id in unit.primal.function.__code__.co_varnames[:1]:
        for known in found:  # which grows
            found += known.__subclasses__()
    return found


def _functions(target: Any) -> Iterator[types.FunctionType]:
    """The functions that a context manager runs; none if they are unknown."""
    if isinstance(target, types.FunctionType) and target.__code__ is effects.CONTEXT_MANAGER:
        yield inspect.unwrap(target)
    elif isinstance(target, type):
        members = {n: inspect.getattr_static(target, n, None) for n in _METHODS}
        if all(isinstance(members[n], types.FunctionType) for n in ("__enter__", "__exit__")):
            init = members["__init__"]
            written = isinstance(init, types.FunctionType) and init.__code__.co_filename != "<string>"
            yield from (members["__enter__"], members["__exit__"], *([init] if written else []))


def _hides(function: types.FunctionType) -> bool:
    """Whether a function may swallow an exception: by a `try` around `yield`, or by the result of `__exit__`."""
    try:
        tree = read(function).fresh_tree()
    except S2SGradError:
        return True
    inside = list(nodes(*tree.body))
    return _may_hide_at_exit(tree, inside) if function.__name__ == "__exit__" else any(map(_catches_at_yield, inside))


def _may_hide_at_exit(tree: gast.FunctionDef, inside: list[gast.AST]) -> bool:
    """Whether `__exit__` reads the exception, or returns something that may be true."""
    asked = {p.id for p in parameters(tree)[1:]}
    if any(isinstance(n, gast.Name) and n.id in asked for n in inside):
        return True
    returned = [n.value for n in inside if isinstance(n, gast.Return)]
    return any(v is not None and getattr(v, "value", True) not in (None, False) for v in returned)


def _catches_at_yield(statement: gast.AST) -> bool:
    """Whether a statement may catch an exception raised at a `yield` inside it."""
    guarded = statement.body if isinstance(statement, gast.Try) and statement.handlers else []
    guarded = [statement] if isinstance(statement, gast.With) else guarded
    return any(isinstance(part, gast.Yield) for part in nodes(*guarded))
