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
import functools
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import pullbacks, standard
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import at, constant, expression, name
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.runtime.checkpoints import checkpoint
from s2sgrad.specialize.callable_texts import makes_derivative, makes_gradient, makes_matrix
from s2sgrad.specialize.static_values import Adapted, Display, Known, Object, Partial


class StaticCall:
    """The treatment of calls of one callable."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        """Whether the call may return a function value or an object, or expand to statements."""
        return bool(node.args) and functions.may_be_known(node.args[0])

    def value(self, functions: Any, node: gast.Call) -> Any:
        """The result; None if it is an ordinary call after all."""
        raise NotImplementedError


_TABLE: dict[Any, StaticCall] = {}


def _of(*targets: Any) -> Callable[[type[StaticCall]], type[StaticCall]]:
    """Register a treatment for these callables."""
    def note(kind: type[StaticCall]) -> type[StaticCall]:
        _TABLE.update(dict.fromkeys(targets, kind()))
        return kind

    return note


def find(unit: Unit, node: gast.AST) -> StaticCall | None:
    """The treatment of a call; None if its callee is not in the table."""
    target = unit.resolve(node.func) if isinstance(node, gast.Call) else MISSING
    if makes_derivative(target):
        return _DERIVATIVE
    if makes_matrix(target):
        return _MATRIX
    return _TABLE.get(target) if is_one_of(target, _TABLE) else None


def _takes_callable(functions: Any, node: gast.Call) -> bool:
    """Whether the first argument is a function value, or a callable from outside."""
    return bool(node.args) and (functions.may_be_known(node.args[0]) or callable(functions.unit.resolve(node.args[0])))


class _Derivative(StaticCall):
    """`grad(f)`, `value_and_grad(f)`."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        if functions.as_data and self.of_data(functions, node):
            return True
        return super().applies(functions, node) or (bool(node.args) and is_plain(functions.unit.resolve(node.args[0])))

    def of_data(self, functions: Any, node: gast.Call) -> bool:
        """Whether this is the gradient of a function that is data."""
        plain = makes_gradient(functions.unit.resolve(node.func)) and len(node.args) == 1 and not node.keywords
        return plain and isinstance(node.args[0], gast.Name) and node.args[0].id in functions.data

    def value(self, functions: Any, node: gast.Call) -> Any:
        if self.of_data(functions, node):
            known = Known(standard.gradient_at, name(functions.unit.helper("gradient_at", standard.gradient_at)))
            return Partial(known, [node.args[0]], {})
        return functions.derivative(node)


_DERIVATIVE = _Derivative()


class _Matrix(StaticCall):
    """`jacobian(f)`, `hessian(f)` of a function value, or of a function from outside."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        return _takes_callable(functions, node)

    def value(self, functions: Any, node: gast.Call) -> Adapted:
        return functions.matrix(node)


_MATRIX = _Matrix()


@_of(functools.partial)
class _Partial(StaticCall):
    def applies(self, functions: Any, node: gast.Call) -> bool:
        return _takes_callable(functions, node)

    def value(self, functions: Any, node: gast.Call) -> Partial:
        inner = functions.callee(node.args[0])
        for a in node.args[1:]:
            if functions.unit.resolve(a) is getattr(functools, "Placeholder", MISSING) is not MISSING:
                functions.unit.refuse(a, "a partial with placeholders is not differentiated: write a lambda")
        given = [functions.lasting(functions.evaluate(a)) for a in node.args[1:]]
        return Partial(inner, given, {k.arg: functions.lasting(functions.evaluate(k.value)) for k in node.keywords})


@_of(checkpoint)
class _Checkpoint(StaticCall):
    """`checkpoint(f)` of a function value: a separate function, which is never inlined."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        return len(node.args) == 1 and not node.keywords and _takes_callable(functions, node)

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.checkpointed(node)


@_of(types.SimpleNamespace)
class _Namespace(StaticCall):
    """`SimpleNamespace(a=x)`: an object made here, unless objects are references."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        return not node.args and all(k.arg for k in node.keywords) and not functions.in_columns

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.namespace({k.arg: functions.evaluate(k.value) for k in node.keywords}, node)


@_of(np.vectorize)
class _Vectorize(StaticCall):
    def applies(self, functions: Any, node: gast.Call) -> bool:
        return len(node.args) == 1 and _takes_callable(functions, node)

    def value(self, functions: Any, node: gast.Call) -> Adapted:
        kind = functions.kind_of(node)
        call = functools.partial(functions.vectorized, kind)
        return Adapted(functions.lasting(functions.evaluate(node.args[0])), call)


@_of(np.frompyfunc)
class _FromFunction(StaticCall):
    """`np.frompyfunc(f, 1, 1)`: instead of an array of objects, an array of numbers."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        counts = [getattr(a, "value", None) for a in node.args[1:]]
        return counts in ([1, 1], [2, 1]) and not node.keywords and _takes_callable(functions, node)

    def value(self, functions: Any, node: gast.Call) -> Adapted:
        call = functools.partial(functions.vectorized, gast.Constant(None, None))
        return Adapted(functions.lasting(functions.evaluate(node.args[0])), call)


@_of(functools.reduce)
class _Reduce(StaticCall):
    def applies(self, functions: Any, node: gast.Call) -> bool:
        return True

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.reduce(node)


@_of(builtins.sum)
class _Sum(_Reduce):
    """`sum(rows, [])`, which joins lists."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        return len(node.args) == 2 and isinstance(node.args[1], (gast.List, gast.Tuple))

    def value(self, functions: Any, node: gast.Call) -> Any:
        node.args = [at(node, expression("lambda a, b: a + b"))[0], *node.args]
        return functions.reduce(node)


@_of(pullbacks.vjp)
class _PullBack(StaticCall):
    """`vjp(f, ..)` of a function value."""

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.pulled_back(node)


@_of(pullbacks.jvp)
class _Along(_PullBack):
    """`jvp(f, (x,), (x_dot,))` of a function value, or of a function from outside."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        if super().applies(functions, node):
            return True
        shown = len(node.args) == 3 and all(isinstance(a, (gast.Tuple, gast.List)) for a in node.args[1:])
        target = functions.unit.resolve(node.args[0]) if shown else MISSING
        return hasattr(target, "compiled_for") or (is_plain(target) and is_user_function(target))

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.along(node)


@_of(pullbacks.hvp)
class _HessianProduct(StaticCall):
    """`hvp(f, (x,), (v,))`: the tangent of the gradient."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        return True

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.along_gradient(node)


@_of(pullbacks.linearize)
class _Linearize(StaticCall):
    """`linearize(f, x)`: the value, and a function of tangents."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        return len(node.args) > 1

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.linearized(node)


@_of(isinstance, type)
class _OfClass(StaticCall):
    """`isinstance(x, C)` or `type(x)`, where `x` may be a reference."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        count = 2 if functions.unit.resolve(node.func) is isinstance else 1
        return functions.in_columns and len(node.args) == count and not functions.may_be_known(node.args[0])

    def value(self, functions: Any, node: gast.Call) -> Any:
        return functions.asked_for_class(node)


@_of(callable)
class _Callable(StaticCall):
    """`callable(x)`, where `x` may be a reference."""

    def applies(self, functions: Any, node: gast.Call) -> bool:
        return functions.in_columns

    def value(self, functions: Any, node: gast.Call) -> Any:
        functions.unit.refuse(node, "`callable` of what may be an object made here cannot be followed: ask its class")


@_of(abs, bool, float, len, round)
class _Method(StaticCall):
    """A builtin that calls a special method of an object, which may return another object."""

    def value(self, functions: Any, node: gast.Call) -> Any:
        target = functions.unit.resolve(node.func)
        owner = functions.flattener.operand(node.args[0])
        if isinstance(owner, Object):
            return functions.apply(functions.method(owner, f"__{target.__name__}__", node), [], {}, node)
        if target is len and isinstance(owner, Display):
            return constant(len(owner.items))
        node.args[0] = functions.flattener.data(owner, node.args[0])
        return None
