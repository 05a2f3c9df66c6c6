"""Objects of libraries that a recorded function makes of what carries derivatives: what they are made of goes to each call.

    rvs = [norm(m, s), gamma(a)]; rvs[0].logpdf(x)      ->      norm.logpdf(x, m, s)
    parts["s"] = CubicSpline(x, y); parts["s"](t)       ->      s = made(CubicSpline, y, x); at(s, y, t)

>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> f = defined('''
... def f(m):
...     from scipy import stats
...     laws = {"prior": stats.norm(m, 2.0)}
...     return laws["prior"].logpdf(0.0)
... ''')
>>> float(grad(f)(1.0))
-0.25
"""

from __future__ import annotations

import copy
import pickle
import types
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from s2sgrad.primitives import catalogue
from s2sgrad.recorded.applying import apply
from s2sgrad.recorded.made_of import Given
from s2sgrad.recorded.values import follows, handles_in, lost, plain
from s2sgrad.runtime.asking import its

_OWN = "__call__"


def instead(maker: Any, args: tuple, keywords: dict[str, Any], call: Callable[..., Any], make: Callable[..., Any]) -> Any:
    """What stands for the object that a library makes of these arguments; None where it is not known what would.

    `make(maker, args, keywords)` runs the code of the library, for a method that is not known.
    """
    if methods := catalogue.methods_of_made(maker):
        return Asked(maker, methods, args, keywords, call, make)
    known = catalogue.instances_of(maker)
    if known is None or len(args) < known.least:
        return None
    return Evaluated(maker, known, args, keywords, call, make)


class _StandIn:
    """`method(name)`: what is called in the place of a method; None where that is not known, and the object has its own."""

    def __init__(
        self, maker: Any, args: tuple, keywords: dict[str, Any], call: Callable[..., Any], make: Callable[..., Any]
    ) -> None:
        self._maker, self._call, self._make = maker, call, make
        self._given = Given(args, keywords)

    def _object(self, asked: str) -> Any:
        """The object, for a method, which holds what carries derivatives, and computes with it or refuses that."""
        raise NotImplementedError

    def _method(self, name: str) -> Callable[..., Any] | None:
        raise NotImplementedError

    def _refuse(self, name: str) -> NoReturn:
        made = getattr(self._maker, "name", None) or its(self._maker, "__name__", type(self._maker).__name__)
        lost(f"`.{name}` of what `{made}` makes" if name != _OWN else f"a call of what `{made}` makes")

    def _plain(self, *args: Any, **keywords: Any) -> Any:
        """The object of the library that is made of plain arguments."""
        return self._maker(*args, **keywords)

    def _current(self, name: str, given: tuple = (), options: Any = types.MappingProxyType({})) -> Any:
        """What the object is made of, where a method of it is called."""
        return self._given.current(self._plain, lambda own: getattr(own, name)(*plain(given), **plain(dict(options))))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._method(name) or getattr(self._object(name), name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        method = self._method(_OWN)
        return self._object(_OWN)(*args, **keywords) if method is None else method(*args, **keywords)


class Asked(_StandIn):
    """An object of which only methods are called, by functions that take what it was made of: a frozen distribution."""

    def __init__(self, maker: Any, methods: Any, *made: Any) -> None:
        super().__init__(maker, *made)
        self._methods = methods

    def _object(self, asked: str) -> Any:
        args, keywords = self._given.unwritten()
        return self._make(self._maker, args, keywords)

    def _method(self, name: str) -> Callable[..., Any] | None:
        return partial(self._asked, name) if name in self._methods else None

    def _asked(self, name: str, *given: Any, **options: Any) -> Any:
        known = self._methods[name]
        arranged = known.arranged
        if (options and arranged is None) or not 0 <= len(given) - known.takes <= known.options:
            self._refuse(name)
        args, keywords = self._current(name, given, options)
        if arranged is not None:
            words = arranged(self._maker, list(args), keywords) or self._refuse(name)
            held = {n: tuple(part) if isinstance(part, list) else part for n, part in words.items()}
            return self._call(getattr(self._maker, name), *given, **options, **held)
        if known.make is None:
            function = getattr(self._maker, name) if known.function is None else known.function
            return self._call(function, *given, *args, **keywords)
        made = known.make(self._maker, *map(plain, args), **keywords)
        return self._call(known.function, made, *args, *given, **keywords)


class Evaluated(_StandIn):
    """An object that is evaluated, such as a spline, or a derivative of one.  `steps`: the methods that made that."""

    def __init__(self, maker: Any, known: Any, args: tuple, keywords: dict[str, Any], *calls: Any) -> None:
        super().__init__(maker, args, keywords, *calls)
        self._known, self._order, self._steps = known, 0, list[tuple[str, int]]()
        rest = [a for place, a in enumerate(args) if place not in known.data]
        if any(map(follows, handles_in([*rest, *keywords.values()], []))):
            lost("what is made of data, in its places or its options,", "pass constants")
        self._parts = self._made_of(self._given.then)

    def _made_of(self, given: tuple[tuple, dict[str, Any]]) -> tuple[Any, Any]:
        """What stands for the object, and its data."""
        (args, keywords), known = given, self._known
        rest = [a for place, a in enumerate(args) if place not in known.data]
        each = [apply(np.array, (args[place],)) for place in known.data]
        data = each[0] if len(each) == 1 else apply(np.stack, (tuple(each),))
        return known.make(self._maker, plain(data), *map(plain, rest), **plain(keywords)), data

    def _method(self, name: str) -> Callable[..., Any] | None:
        if name in self._known.orders:
            return partial(self._derived, name)
        function = self._known.at if name == _OWN else self._known.methods.get(name)
        return partial(self._evaluated, name, function) if function is not None else None

    def _derived(self, name: str, n: int = 1) -> Evaluated:
        order = self._known.orders[name] * n
        if order * self._order < 0:
            self._refuse("derivative")
        current = self._given.current(self._plain, lambda own: _bits(getattr(own, name)(n)))
        derived = copy.copy(self)
        derived._order, derived._steps = self._order + order, [*self._steps, (name, n)]
        if current is not self._given.then:
            derived._given = Given(*current)
            derived._parts = derived._made_of(derived._given.then)
        return derived

    def _plain(self, *args: Any, **keywords: Any) -> Any:
        made = super()._plain(*args, **keywords)
        for name, n in self._steps:
            made = getattr(made, name)(n)
        return made

    def _object(self, asked: str) -> Any:
        return self._refuse(asked)  # what it computes, its own memory holds

    def _evaluated(self, name: str, function: Any, *given: Any, **options: Any) -> Any:
        if self._order and ("nu" in options or (function is self._known.at and len(given) > 1)):
            self._refuse("derivative")
        order = {"nu": self._order} if self._order else {}
        current = self._current(name, given, options)
        made, data = self._parts if current is self._given.then else self._made_of(current)
        return self._call(function, made, data, *given, **options, **order)


def _bits(made: Any) -> Any:
    """The state of an object."""
    return np.frombuffer(pickle.dumps(made), np.uint8)
