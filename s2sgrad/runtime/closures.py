"""Function values as data (closure conversion): a lifted function, and its captured values, which come first among its
arguments.

    h = lambda t: f(g(t))      ->      h = closure(composed, (f, g))      of   def composed(f, g, t): return f(g(t))

The callee need not be known at compile time: a call passes the captured values, and the cotangent of a function value is
the cotangent of its captured values.

>>> h = closure(lambda w, t: w * t, (2.0,))
>>> h(3.0), h
(6.0, <<lambda> closing over 1 values>)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.unseen_functions import reads_only


class Closure:
    """`function`, called with the captured values `holds` before its arguments.

    The last `usual` of these are the defaults of its last parameters, which a call may give instead.
    """

    __slots__ = ("__weakref__", "carries", "function", "holds", "usual")

    spreads: Callable[..., Any] | None = None  # the function that calls its first argument with what its others hold

    def __init__(self, function: Callable[..., Any], holds: tuple, usual: int = 0) -> None:
        self.function = function
        self.holds = holds
        self.usual = usual
        self.carries: bool | None = None  # whether it captures floats; None: not determined yet

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        if keywords and self.is_read:
            values = self.holds + args
            called = [values[k] if isinstance(k, int) else keywords[k] for k in self.order(len(args), keywords)]
            return self.function(*called)
        if self.function is Closure.spreads:
            return self._spread()
        return self.function(*self.called_with(args), **keywords)

    def _spread(self) -> Any:
        """A call whose result carries no derivative; Refusal where it writes what it is given, as by `out=`."""
        f, *given = self.holds
        name = its(f.function if isinstance(f, Closure) else f, "__name__", "a function")
        return reads_only(lambda *_: self.function(f, *given), name, None)(its(f, "__self__", None), *given)

    @property
    def is_read(self) -> bool:
        """Whether the function is one of Python's, of parameters with names."""
        code = its(self.function, "__code__", None)
        return code is not None and not code.co_flags & inspect.CO_VARARGS

    def lacks(self, count: int) -> int:
        """The number of parameters without defaults, less that of arguments: negative where these are given for defaults."""
        return self.function.__code__.co_argcount - len(self.holds) - count if self.is_read else 0

    def called_with(self, args: tuple) -> tuple:
        """All arguments of `function`.

        >>> closure(lambda w, c, t: w * t + c, (2.0, 1.0), 1).called_with((3.0, 5.0))
        (2.0, 5.0, 3.0)
        """
        if self.lacks(len(args)) >= 0:
            return (*self.holds, *args)
        values = self.holds + args
        return tuple([values[k] for k in self.order(len(args), ())])

    def order(self, count: int, words: Iterable[str]) -> list[Any]:
        """What each parameter of `function` gets: the number of one of the captured values and the `count` arguments, or
        one of `words`; TypeError where Python raises it.

        >>> closure(lambda w, c, t: w * t + c, (2.0, 1.0), 1).order(0, ["t", "c"])
        [0, 'c', 't']
        """
        code, held = self.function.__code__, len(self.holds)
        names, free = code.co_varnames[: code.co_argcount], code.co_argcount - held
        out: list[Any] = [*range(held), *[None] * free]
        places = [*range(held, held + free), *range(held - self.usual, held)]
        if count > len(places):
            raise TypeError(f"{self.said} takes {len(places)} arguments, and {count} are given")
        for k, place in enumerate(places[:count]):
            out[place] = held + k
        left = {names[place]: place for place in places[count:]}
        for word in words:
            if word not in left and any(names[k] == word and out[k] != k for k in places):
                raise TypeError(f"{self.said} got multiple values for argument {word!r}")
            if word not in left:
                raise Refusal(None, f"{self.said}, which only the running program knows, is given `{word}` as a keyword, "
                                    "and has no such parameter besides those for keywords only: pass it by "
                                    "position")  # fmt: skip
            out[left.pop(word)] = word
        if None in out:
            raise TypeError(f"{self.said} is missing the argument {names[out.index(None)]!r}")
        return out

    def zero_cotangent(self, zeros: Callable[[Any], Any]) -> Any:
        """The zero cotangent of a function value: that of its captured values."""
        return self.held_in(zeros)

    def held_in(self, find: Callable[[tuple], Any]) -> Any:
        """`find` applied to the captured values; Refusal if they contain this closure itself."""
        try:
            return find(self.holds)
        except RecursionError:
            what = f"{self.said} reads a list or a dict that holds it, or too many functions within each other"
        raise Refusal(None, f"{what}, which cannot be differentiated: give it what it calls as a default")

    def __reduce__(self) -> tuple:
        require_found_again(self.function)
        return Closure, (self.function, self.holds, self.usual)

    def __repr__(self) -> str:
        return f"<{self.__name__} closing over {len(self.holds)} values>"

    @property
    def __signature__(self) -> inspect.Signature:
        """The parameters that a call gives, for libraries that count them.

        >>> str(inspect.signature(closure(lambda w, c, t: w * t + c, (2.0, 1.0), 1)))
        '(t, c=1.0)'
        """
        held, own = len(self.holds), list(inspect.signature(self.function).parameters.values())
        usual = [
            p.replace(default=v) for p, v in zip(own[held - self.usual : held], self.holds[held - self.usual :], strict=True)
        ]
        return inspect.Signature([*own[held:], *usual])

    @property
    def said(self) -> str:
        """The function's name for error messages."""
        return "a lambda" if self.__name__.startswith("lambda_") else f"`{self.__name__}`"

    @property
    def __name__(self) -> str:
        name: str = its(self.function, "__name__", "function")
        return name


def closure(function: Callable[..., Any], holds: tuple, usual: int = 0) -> Closure:
    """The function value that calls `function` with the captured values, then its arguments."""
    return Closure(function, holds, usual)


def require_found_again(function: Any) -> None:
    """Raise TypeError for a generated function that another process cannot import."""
    if "<locals>" in its(function, "__qualname__", ""):
        raise TypeError(f"`{function.__name__}` was made while this ran, and cannot be pickled: call the pullback here, and "
                        "send what it gives")  # fmt: skip


def call(f: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """`f(*args, **keywords)`; as an argument of `vjp` it makes `f` itself a differentiable input."""
    return f(*args, **keywords)


def by_name(primals: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments of `call(f, .., **keywords)`, by name those that are passed on: to a function with captures.  Refusal
    where this is a partial, whose parameters have other names."""
    f, *rest = primals
    if not isinstance(f, Closure):
        return (functools.partial(f, **keywords), *rest), {}
    if not f.is_read:
        raise Refusal(None, f"{f.said} is given `{min(keywords)}` by name, which cannot be followed where only the running "
                            "program knows the function: pass it by position")  # fmt: skip
    return primals, keywords


def is_called_otherwise(f: Any, count: int, keywords: dict[str, Any]) -> bool:
    """Whether a call gives a function with captures arguments for parameters with defaults, or by name."""
    return isinstance(f, Closure) and f.is_read and (bool(keywords) or f.lacks(count) < 0)
