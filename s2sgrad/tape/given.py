"""Functions of the user's that are one operation: `primitive`, `custom_jvp`, and `nondifferentiable` ones.

    @primitive                                     y = power(x, 3.0)  is called and never read, in compiled code and
    def power(x, n): ...                           on a tape; its derivative is what `power.defvjp` was given
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from s2sgrad.api import given as rules
from s2sgrad.rules import table
from s2sgrad.runtime.given import called, new
from s2sgrad.tape.array import apply
from s2sgrad.tape.values import Operand, unwrapped

_HOLDS = (list, tuple, dict)

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Rule = Callable[..., Any] | None


class _Called(Protocol[P, R]):
    """What type checkers are told of a function with rules of its own; of a method, that its object is bound."""

    __name__: str

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...

    def __get__(self, instance: Any, owner: Any = None) -> Callable[..., R]: ...

    def defvjp(self, *vjps: Rule, argnums: Any = None) -> None: ...


class Primitive(_Called[P, R], Protocol[P, R]):
    """A function that `primitive` made."""

    def defjvp(self, *jvps: Rule, argnums: Any = None) -> None: ...


class CustomJvp(_Called[P, R], Protocol[P, R]):
    """A function that `custom_jvp` made."""

    def defjvp(self, rule: F) -> F: ...

    def defjvps(self, *jvps: Rule, argnums: Any = None) -> None: ...


@overload
def primitive(f: Callable[P, R], /, *, elementwise: bool = ...) -> Primitive[P, R]: ...
@overload
def primitive(f: None = None, /, *, elementwise: bool = ...) -> Callable[[Callable[P, R]], Primitive[P, R]]: ...
def primitive(f: Callable[..., Any] | None = None, /, *, elementwise: bool = False) -> Any:
    """A function of the same value that is called and never read, with the derivative that you give it.

    It is for what has no Python source (C, numba, a simulator) or must not be differentiated line by line.  Its methods
    `defvjp` and `defjvp` are the functions of these names, for it.  It cannot write arrays that it is given, and what it
    returns is copied.  `elementwise` says that it
    broadcasts its arguments as NumPy's operators do: then the rules are written for numbers, and nobody has to sum over
    axes that broadcasting added.

    For a function that others call by its name, too, give the rule to that: `defvjp(f, ..)`.

    Raises TypeError for what is not callable, or takes any number of arguments.

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
    made = _made(f, "primitive", elementwise, True)
    given = rules.described(f, elementwise=elementwise)
    given.primitive, given.made = made, True
    rules.enter(given, new=True)
    made.defvjp = functools.partial(_give, rules.defvjp, made)
    made.defjvp = functools.partial(_give, rules.defjvp, made)
    return made


@overload
def custom_jvp(f: Callable[P, R], /) -> CustomJvp[P, R]: ...
@overload
def custom_jvp(f: None = None, /) -> Callable[[Callable[P, R]], CustomJvp[P, R]]: ...
def custom_jvp(f: Callable[..., Any] | None = None, /) -> Any:
    """A primitive whose derivative you give for forward mode, as in JAX: `f.defjvp(rule)` or, for each argument,
    `f.defjvps(*jvps)`.

    `rule(primals, tangents)` returns the value and its tangent.  Reverse mode needs a vjp, too: `f.defvjp(*vjps)`.

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
    made = primitive(f)
    made.defjvps = made.defjvp

    def defjvp(rule: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(rule):
            raise TypeError(f"defjvp of `{made.__name__}` needs a function of the primals and the tangents, not {rule!r}")
        given = table.given(made).given
        fresh, given.jvp = given.jvp is None, rules.guard_of_all(given, rule)
        rules.enter(given, fresh)
        return rule

    made.defjvp = defjvp
    return made


def _give(define: Callable[..., Any], made: Any, *functions: Any, argnums: Any = None) -> None:
    """Give a primitive a derivative."""
    define(made, *functions, argnums=argnums)


def nondifferentiable(f: F) -> F:
    """A function whose result counts as a constant: it is called and never read, and no derivative flows through it.

    `f` itself, known by the object, counts as such from then on, wherever compiled code calls it; what is returned takes
    the Arrays of a tape besides.  For a value, and not a function, there is `stop_gradient`.

    Raises TypeError for what is not callable, ValueError for what has a rule of ours.

    >>> import numpy as np
    >>> from s2sgrad import grad
    >>> @nondifferentiable
    ... def largest(x):
    ...     return np.max(np.abs(x))
    >>> grad(lambda x: np.sum(x / largest(x)))(np.array([1.0, -2.0]))
    array([0.5, 0.5])
    """
    made = _made(f, "nondifferentiable")
    if table.given(f) is None and table.lookup(f) is not None:
        name = made.__name__
        raise ValueError(f"`{name}` has a derivative rule of s2sgrad's: use stop_gradient({name}(..)) where its result is "
                         "to be a constant")  # fmt: skip
    if not isinstance(f, types.FunctionType):
        made = functools.update_wrapper(made, f, ("__name__", "__doc__"), ())
    for function in (f, made):
        table.give(function, table.Rule(function, lambda g, y: None, "flat", given=f), new=function is made)
    return made  # type: ignore[return-value]


def _made(f: Any, what: str, elementwise: bool = False, writes_nothing: bool = False) -> types.FunctionType:
    """A function that calls `f`, or records the call where a tape may follow an argument."""
    if not callable(f):
        raise TypeError(f"{what} needs a function, not {f!r}")

    def made(*args: Any, **keywords: Any) -> Any:
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
    """The result of an elementwise function, which has the shape that its arguments are broadcast to."""
    shape = np.broadcast_shapes(*map(np.shape, args), *map(np.shape, keywords.values()))
    if np.shape(y) != shape:
        raise ValueError(f"`{name}` is said to be elementwise, and returned shape {np.shape(y)} for arguments that "
                         f"broadcast to {shape}: leave out `elementwise=True`")  # fmt: skip
    return y[()] if isinstance(y, np.ndarray) and not shape else y


def _is_followed(value: Any) -> bool:
    return isinstance(value, Operand) or (isinstance(value, _HOLDS) and any(map(_is_followed, _items(value))))


def _items(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


for _function in (primitive, custom_jvp, nondifferentiable):
    _function.gives_rule = True  # type: ignore[attr-defined]
