"""Library callables that take or return function values and objects: a table by object.

    functools.partial(f, 2.0), grad(f)       return a function value
    functools.reduce(f, xs), vjp(f, x)       call one, and are expanded into statements
    len(layers), abs(vector)                 are constants, or calls of a method

With data as arguments they are ordinary calls.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from functools import partial, reduce
... def f(x):
...     scaled = partial(lambda k, t: k * t, 2.0)
...     return reduce(lambda a, b: a + scaled(b), [x, x * x])
... ''', "flatten"))
def f(x):
    t1 = x * x
    t2 = [x, t1]
    total = t2[0]
    t4 = t2[1:]
    t3 = sequence(t4)
    t5 = len(t3)
    for k_ in range(t5):
        item = t3[k_]
        a = total
        result_2 = 2.0 * item
        result_ = a + result_2
        total = result_
    result = total
    return result
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import gast
import numpy as np

from s2sgrad import pullbacks, runtime
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import at, constant, expression, name
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.runtime.asking import has
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.specialize.arguments import Arguments
from s2sgrad.specialize.callable_texts import makes_derivative, makes_matrix
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.evaluator import Evaluator
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.nested_gradients import Derivatives, kind_of
from s2sgrad.specialize.nested_matrices import Matrices
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.stars import Stars
from s2sgrad.specialize.static_values import Adapted, Display, Known, Object, Partial
from s2sgrad.specialize.unrolling import Unroller


class StaticCall(NamedTuple):
    """The treatment of calls of one callable.

    `applies`: whether the call may return a function value or an object, or expand to statements; `value`: the result,
    None if it is an ordinary call after all.
    """

    applies: Callable[[Any, gast.Call], bool]
    value: Callable[[Any, gast.Call], Any]


_TABLE: dict[Any, StaticCall] = {}


def _of(*targets: Any, when: Callable[[Any, gast.Call], bool]) -> Callable[[Callable], Callable]:
    """Register a treatment for calls of these callables that a predicate selects."""

    def note(value: Callable[[Any, gast.Call], Any]) -> Callable[[Any, gast.Call], Any]:
        _TABLE.update(dict.fromkeys(targets, StaticCall(when, value)))
        return value

    return note


def find(unit: Unit, node: gast.AST) -> StaticCall | None:
    """The treatment of a call; None if its callee is not in the table."""
    target = unit.resolve(node.func) if isinstance(node, gast.Call) else MISSING
    if makes_derivative(target):
        return _DERIVATIVE
    if makes_matrix(target):
        return _MATRIX
    return _TABLE.get(target) if is_one_of(target, _TABLE) else None


# --- which calls ---


def _always(lookahead: Any, node: gast.Call) -> bool:
    return True


def _takes_value(lookahead: Any, node: gast.Call) -> bool:
    """Whether the first argument is a function value or an object."""
    return bool(node.args) and lookahead.may_be_known(node.args[0])


def _takes_callable(lookahead: Any, node: gast.Call) -> bool:
    """Whether the first argument is a function value, or a callable from outside."""
    return _takes_value(lookahead, node) or (bool(node.args) and callable(lookahead.unit.resolve(node.args[0])))


def _takes_it_alone(lookahead: Any, node: gast.Call) -> bool:
    return len(node.args) == 1 and _takes_callable(lookahead, node)


def _is_derivative(lookahead: Any, node: gast.Call) -> bool:
    return _takes_value(lookahead, node) or (bool(node.args) and is_plain(lookahead.unit.resolve(node.args[0])))


def _makes_namespace(lookahead: Any, node: gast.Call) -> bool:
    """Whether this makes an object here."""
    return not node.args and all(k.arg for k in node.keywords)


def _is_unary_or_binary(lookahead: Any, node: gast.Call) -> bool:
    """`np.frompyfunc(f, 1, 1)` or `np.frompyfunc(f, 2, 1)`."""
    counts = [getattr(a, "value", None) for a in node.args[1:]]
    return counts in ([1, 1], [2, 1]) and not node.keywords and _takes_callable(lookahead, node)


def _joins_lists(lookahead: Any, node: gast.Call) -> bool:
    """`sum(rows, [])`."""
    return len(node.args) == 2 and isinstance(node.args[1], (gast.List, gast.Tuple))


def _has_tangent(lookahead: Any, node: gast.Call) -> bool:
    """`jvp(f, (x,), (x_dot,))` of a function value, or of a function from outside."""
    if _takes_value(lookahead, node):
        return True
    shown = len(node.args) == 3 and all(isinstance(a, (gast.Tuple, gast.List)) for a in node.args[1:])
    target = lookahead.unit.resolve(node.args[0]) if shown else MISSING
    return has(target, "compiled_for") or (is_plain(target) and is_user_function(target))


def _copies_object(lookahead: Any, node: gast.Call) -> bool:
    """`copy.copy(o)` of an object that is made here, or is the caller's."""
    return _asks_object(lookahead, node, 1, 2)


def _replaces_object(lookahead: Any, node: gast.Call) -> bool:
    """`dataclasses.replace(o, ..)` of such an object."""
    named = len(node.args) == 1 and all(k.arg for k in node.keywords)
    return named and _takes_value(lookahead, node)


def _asks_object(lookahead: Any, node: gast.Call, *counts: int) -> bool:
    """Whether an attribute is asked, or set, by name of what may be an object made here."""
    return len(node.args) in counts and not node.keywords and _takes_value(lookahead, node)


# --- what they give ---


class StaticCalls:
    """The families that evaluate these calls."""

    def __init__(
        self, evaluator: Evaluator, homes: Homes, objects: Objects, closures: Closures,
        derivatives: Derivatives, matrices: Matrices, stars: Stars, arguments: Arguments, unroller: Unroller,
    ) -> None:  # fmt: skip
        self.evaluator, self.unit, self.homes = evaluator, evaluator.unit, homes
        self.objects, self.closures = objects, closures
        self.derivatives, self.matrices = derivatives, matrices
        self.stars, self.shapes, self.arguments, self.unroller = stars, stars.shapes, arguments, unroller


_DERIVATIVE = StaticCall(_is_derivative, lambda tools, node: tools.derivatives.derivative(node))  # `grad(f)`
_MATRIX = StaticCall(_takes_callable, lambda tools, node: tools.matrices.matrix(node))  # `jacobian(f)`, `hessian(f)`
_TABLE |= {
    functools.reduce: StaticCall(_always, lambda tools, node: tools.unroller.reduce(node)),
    pullbacks.vjp: StaticCall(_takes_value, lambda tools, node: tools.derivatives.pulled_back(node)),
    pullbacks.jvp: StaticCall(_has_tangent, lambda tools, node: tools.derivatives.along(node)),
    pullbacks.jvp_again: StaticCall(_has_tangent, lambda tools, node: tools.derivatives.along(node)),
    pullbacks.hvp: StaticCall(_always, lambda tools, node: tools.derivatives.along_gradient(node)),
    pullbacks.linearize: StaticCall(
        lambda _, node: len(node.args) > 1, lambda tools, node: tools.derivatives.linearized(node)
    ),
}


@_of(functools.partial, when=lambda _, node: bool(node.args))
def _partial(tools: StaticCalls, node: gast.Call) -> Partial | gast.AST | None:
    if not _takes_callable(tools.evaluator.lookahead, node):  # the function is data
        if node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        called = Known(runtime.call, name(tools.unit.helper("call", runtime.call)))
        bound = Partial(called, [tools.homes.lasting(tools.evaluator.evaluate(a)) for a in node.args], {})
        return tools.evaluator.data(tools.closures.converted(bound, node, True) or bound, node)
    inner = tools.evaluator.callee(node.args[0])
    for a in node.args[1:]:
        if tools.unit.resolve(a) is getattr(functools, "Placeholder", MISSING) is not MISSING:
            tools.unit.refuse(a, "a partial with placeholders is not differentiated: write a lambda")
    given = [v for a in node.args[1:] for v in _positional(tools, a)]
    words: dict[Any, Any] = {n: value for k in node.keywords for n, value in _keywords(tools, k).items()}
    return Partial(
        inner, list(map(tools.homes.lasting, given)), {n: tools.homes.lasting(value) for n, value in words.items()}
    )


def _positional(tools: StaticCalls, argument: gast.AST) -> list[Any]:
    """The values of an argument that a partial keeps."""
    counted = isinstance(argument, gast.Starred) and tools.shapes.count_of(argument) is not None
    return tools.stars.spread(argument) if counted else [tools.evaluator.evaluate(argument)]


def _keywords(tools: StaticCalls, argument: gast.keyword) -> dict[str | None, Any]:
    """The values of keywords that a partial keeps; those of a dict whose keys only the run knows as a copy of it."""
    if argument.arg is not None:
        return {argument.arg: tools.evaluator.evaluate(argument.value)}
    if tools.shapes.shown(argument.value):
        return dict(tools.arguments.spread_keywords(argument.value).items())
    copied = gast.Call(tools.unit.builtin(dict), [argument.value], [])
    return {None: tools.evaluator.evaluate(at(argument.value, copied)[0])}


@_of(checkpoint, when=lambda lookahead, node: not node.keywords and _takes_it_alone(lookahead, node))
def _checkpoint(tools: StaticCalls, node: gast.Call) -> Any:
    """`checkpoint(f)` of a function value: a separate function, which is never inlined."""
    return tools.derivatives.checkpointed(node)


@_of(types.SimpleNamespace, when=_makes_namespace)
def _namespace(tools: StaticCalls, node: gast.Call) -> Any:
    return tools.objects.namespace({k.arg: tools.evaluator.evaluate(k.value) for k in node.keywords}, node)


@_of(np.vectorize, when=_takes_it_alone)
def _vectorize(tools: StaticCalls, node: gast.Call) -> Adapted:
    call = functools.partial(tools.derivatives.vectorized, kind_of(tools.unit, node))
    return Adapted(tools.homes.lasting(tools.evaluator.evaluate(node.args[0])), call)


@_of(np.frompyfunc, when=_is_unary_or_binary)
def _from_function(tools: StaticCalls, node: gast.Call) -> Adapted:
    """`np.frompyfunc(f, 1, 1)`: instead of an array of objects, an array of numbers."""
    call = functools.partial(tools.derivatives.vectorized, gast.Constant(None, None))
    return Adapted(tools.homes.lasting(tools.evaluator.evaluate(node.args[0])), call)


@_of(builtins.sum, when=_joins_lists)
def _sum(tools: StaticCalls, node: gast.Call) -> Any:
    node.args = [at(node, expression("lambda a, b: a + b"))[0], *node.args]
    return tools.unroller.reduce(node)


@_of(copy.copy, copy.deepcopy, when=_copies_object)
def _copied(tools: StaticCalls, node: gast.Call) -> Any:
    tools.unit.refuse(node, "a copy of an object cannot be followed: make a new one of its attributes")


@_of(dataclasses.replace, when=_replaces_object)
def _replaced(tools: StaticCalls, node: gast.Call) -> Any:
    return tools.objects.replaced(node)


@_of(getattr, setattr, hasattr, when=lambda lookahead, node: _asks_object(lookahead, node, 2, 3))
def _by_name(tools: StaticCalls, node: gast.Call) -> None:
    """An attribute by name; a read of one that the text names has been written out."""
    owner = tools.evaluator.operand(node.args[0])
    if isinstance(owner, Object):
        tools.unit.refuse(node, "which attribute of an object this is, or whether there is one, is known to the run alone: "
                                "write its name out, and set it in `__init__`")  # fmt: skip
    node.args[0] = tools.evaluator.data(owner, node.args[0])


@_of(abs, bool, float, len, round, when=_takes_value)
def _method(tools: StaticCalls, node: gast.Call) -> Any:
    """A builtin that calls a special method of an object, which may return another object."""
    target = tools.unit.resolve(node.func)
    owner = tools.evaluator.operand(node.args[0])
    if isinstance(owner, Object):
        return tools.evaluator.apply(tools.objects.method(owner, f"__{target.__name__}__", node), [], {}, node)
    if target is len and isinstance(owner, Display):
        return constant(len(owner.items))
    node.args[0] = tools.evaluator.data(owner, node.args[0])
    return None
