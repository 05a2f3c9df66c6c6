"""User functions that are a single, opaque operation: `primitive`, `custom_jvp` and `nondifferentiable`.

@primitive                                     y = power(x, 3.0)  is called and never inlined, in compiled code and
def power(x, n): ...                           on a tape; its derivative is the argument of `power.defvjp`
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from s2sgrad.api import given as rules
from s2sgrad.errors.raised import trimmed
from s2sgrad.rules import table
from s2sgrad.runtime.given import called, new
from s2sgrad.tape.array import apply
from s2sgrad.tape.handed import require_none_held
from s2sgrad.tape.values import Operand, unwrapped

_HOLDS = (list, tuple, dict)

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Rule = Callable[..., Any] | None


class _Called(Protocol[P, R]):
    """The type of a function with its own rules, for type checkers; as a method it binds its object."""

    __name__: str

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...

    def __get__(self, instance: Any, owner: Any = None) -> Callable[..., R]: ...

    def defvjp(self, *vjps: Rule, argnums: Any = None) -> None:
        """Give the pullbacks of the arguments, in order or those of `argnums`."""


class Primitive(_Called[P, R], Protocol[P, R]):
    """The type of the functions that `primitive` returns."""

    def defjvp(self, *jvps: Rule, argnums: Any = None) -> None:
        """Give the tangents of the arguments, in order or those of `argnums`."""


class CustomJvp(_Called[P, R], Protocol[P, R]):
    """The type of the functions that `custom_jvp` returns."""

    def defjvp(self, rule: F) -> F:
        """Give value and tangent by one function of the primals and the tangents."""

    def defjvps(self, *jvps: Rule, argnums: Any = None) -> None:
        """Give the tangents of the arguments one by one."""


@overload
def primitive(f: Callable[P, R], /, *, elementwise: bool = ...) -> Primitive[P, R]: ...
@overload
def primitive(f: None = None, /, *, elementwise: bool = ...) -> Callable[[Callable[P, R]], Primitive[P, R]]: ...
def primitive(f: Callable[..., Any] | None = None, /, *, elementwise: bool = False) -> Any:
    """A function with the same value that is opaque to the compiler, with the derivative that you define for it.

    Use it for functions without Python source (C, numba, a simulator), or that must not be differentiated line by line.  Its
    methods `defvjp` and `defjvp` are the functions of these names, applied to it.  It cannot write arrays among its
    arguments, and its result is copied.  `elementwise` says that it broadcasts its arguments as NumPy's operators do: then
    the rules are written for numbers and need not sum over broadcast axes.

    For a function that others also call under its own name, attach the rule to that: `defvjp(f, ..)`.

    Raises TypeError if `f` is not callable, or takes arbitrarily many arguments.

    >>> import numpy as np
    >>> from s2sgrad import grad
    >>> @primitive
    ... def power(x, n):
    ...     return x ** n
    >>> power.defvjp(lambda g, y, x, n: g * n * x ** (n - 1), lambda g, y, x, n: g * y * np.log(x))
    >>> grad(power)(2.0, 3.0)
    12.0
    """
    if f is None:
        return functools.partial(primitive, elementwise=elementwise)
    wrapper: Any = _wrapper(f, "primitive", elementwise, True)
    spec = rules.described(f, elementwise=elementwise)
    spec.primitive, spec.made = wrapper, True
    rules.enter(spec, new=True)
    wrapper.defvjp = functools.partial(_give, rules.defvjp, wrapper)
    wrapper.defjvp = functools.partial(_give, rules.defjvp, wrapper)
    return wrapper


@overload
def custom_jvp(f: Callable[P, R], /) -> CustomJvp[P, R]: ...
@overload
def custom_jvp(f: None = None, /) -> Callable[[Callable[P, R]], CustomJvp[P, R]]: ...
def custom_jvp(f: Callable[..., Any] | None = None, /) -> Any:
    """A primitive with a derivative for forward mode, as in JAX: `f.defjvp(rule)` or, per argument, `f.defjvps(*jvps)`.

    `rule(primals, tangents)` returns the value and its tangent.  Reverse mode also needs a vjp: `f.defvjp(*vjps)`.

    >>> import numpy as np
    >>> @custom_jvp
    ... def sinus(x):
    ...     return np.sin(x)
    >>> @sinus.defjvp
    ... def sinus_jvp(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return np.sin(x), t * np.cos(x)
    """
    if f is None:
        return custom_jvp
    wrapper: Any = primitive(f)
    wrapper.defjvps = wrapper.defjvp

    def defjvp(rule: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(rule):
            raise TypeError(f"defjvp of `{wrapper.__name__}` needs a function of the primals and the tangents, not {rule!r}")
        spec = table.rule_of(wrapper).given
        fresh, spec.jvp = spec.jvp is None, rules.guard_of_all(spec, rule)
        rules.enter(spec, fresh)
        return rule

    wrapper.defjvp = defjvp
    return wrapper


@trimmed
def _give(define: Callable[..., Any], wrapper: Any, *functions: Any, argnums: Any = None) -> None:
    """Define a derivative of a primitive: the methods `defvjp` and `defjvp`."""
    define(wrapper, *functions, argnums=argnums)


def nondifferentiable(f: F) -> F:
    """A function whose result counts as a constant: it is opaque, and no derivative flows through it.

    From then on the object `f` itself counts as such too, wherever compiled code calls it; the returned function also takes
    the Arrays of a tape.  To stop the gradient of a value, use `stop_gradient`.

    Raises TypeError if `f` is not callable, ValueError if s2sgrad has a rule for it.

    >>> import numpy as np
    >>> from s2sgrad import grad
    >>> @nondifferentiable
    ... def largest(x):
    ...     return np.max(np.abs(x))
    >>> grad(lambda x: np.sum(x / largest(x)))(np.array([1.0, -2.0]))
    array([0.5, 0.5])
    """
    wrapper: Any = _wrapper(f, "nondifferentiable")
    if table.given(f) is None and table.lookup(f) is not None:
        name = wrapper.__name__
        raise ValueError(f"`{name}` has a derivative rule of s2sgrad's: use stop_gradient({name}(..)) where its result is "
                         "to be a constant")  # fmt: skip
    if not isinstance(f, types.FunctionType):
        wrapper = functools.update_wrapper(wrapper, f, ("__name__", "__doc__"), ())
    for function in (f, wrapper):
        table.give(function, table.Rule(function, lambda g, y: None, "flat", given=f), new=function is wrapper)
    out: F = wrapper
    return out


def _wrapper(f: Any, what: str, elementwise: bool = False, writes_nothing: bool = False) -> Callable[..., Any]:
    """A wrapper that calls `f`, or records the call where an argument may be followed by a tape."""
    if not callable(f):
        raise TypeError(f"{what} needs a function, not {f!r}")

    def made(*args: Any, **keywords: Any) -> Any:
        if not table.is_flat(made):
            require_none_held(made.__name__, args, keywords)
        if any(map(_is_followed, args)) or any(map(_is_followed, keywords.values())):
            if table.is_flat(made):
                return f(*map(unwrapped, args), **{k: unwrapped(v) for k, v in keywords.items()})
            return apply(made, args, keywords)
        y = new(called(f"`{made.__name__}`", f, *args, **keywords) if writes_nothing else f(*args, **keywords))
        return _stretched(made.__name__, y, args, keywords) if elementwise else y

    functools.update_wrapper(made, f)
    if not hasattr(f, "__name__"):
        made.__name__ = made.__qualname__ = type(f).__name__
    return made


def _stretched(name: str, y: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """The result of an elementwise function, checked to have the broadcast shape of its arguments; ValueError if not."""
    shape = np.broadcast_shapes(*map(np.shape, args), *map(np.shape, keywords.values()))
    if np.shape(y) != shape:
        raise ValueError(f"`{name}` is said to be elementwise, and returned shape {np.shape(y)} for arguments that "
                         f"broadcast to {shape}: leave out `elementwise=True`")  # fmt: skip
    return y[()] if isinstance(y, np.ndarray) and not shape else y


def _is_followed(value: Any) -> bool:
    return isinstance(value, Operand) or (isinstance(value, _HOLDS) and any(map(_is_followed, _items(value))))


def _items(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


_function: Any
for _function in (primitive, custom_jvp, nondifferentiable):
    _function.gives_rule = True
