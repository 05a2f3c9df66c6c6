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
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from s2sgrad.primitives import catalogue
from s2sgrad.recorded.applying import apply
from s2sgrad.recorded.values import Array, follows, handles_in, is_handle, lost, plain

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

    def __init__(self, maker: Any, call: Callable[..., Any], make: Callable[..., Any]) -> None:
        self._maker, self._call, self._make = maker, call, make

    def _object(self, asked: str) -> Any:
        """The object, for a method, which holds what carries derivatives, and computes with it or refuses that."""
        raise NotImplementedError

    def _method(self, name: str) -> Callable[..., Any] | None:
        raise NotImplementedError

    def _refuse(self, name: str) -> NoReturn:
        made = getattr(self._maker, "name", None) or getattr(self._maker, "__name__", type(self._maker).__name__)
        lost(f"`.{name}` of what `{made}` makes" if name != _OWN else f"a call of what `{made}` makes")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._method(name) or getattr(self._object(name), name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        method = self._method(_OWN)
        return self._object(_OWN)(*args, **keywords) if method is None else method(*args, **keywords)


class Asked(_StandIn):
    """An object of which only methods are called, by functions that take what it was made of: a frozen distribution."""

    def __init__(
        self,
        maker: Any,
        methods: Any,
        args: tuple,
        keywords: dict[str, Any],
        call: Callable[..., Any],
        make: Callable[..., Any],
    ) -> None:
        super().__init__(maker, call, make)
        self._methods, keep = methods, any(m.copies or m.make is not None for m in methods.values())
        self._args = tuple(map(_copied, args)) if keep else args
        self._keywords = {k: _copied(v) for k, v in keywords.items()} if keep else keywords

    def _object(self, asked: str) -> Any:
        return self._make(self._maker, self._args, self._keywords)

    def _method(self, name: str) -> Callable[..., Any] | None:
        return partial(self._asked, name) if name in self._methods else None

    def _asked(self, name: str, *given: Any, **options: Any) -> Any:
        known = self._methods[name]
        if options or not 0 <= len(given) - known.takes <= known.options:
            self._refuse(name)
        if known.make is None:
            function = getattr(self._maker, name) if known.function is None else known.function
            return self._call(function, *given, *self._args, **self._keywords)
        made = known.make(self._maker, *map(plain, self._args), **self._keywords)
        return self._call(known.function, made, *self._args, *given, **self._keywords)


class Evaluated(_StandIn):
    """An object that is evaluated, such as a spline, or a derivative of one."""

    def __init__(
        self,
        maker: Any,
        known: Any,
        args: tuple,
        keywords: dict[str, Any],
        call: Callable[..., Any],
        make: Callable[..., Any],
    ) -> None:
        super().__init__(maker, call, make)
        self._known, self._order = known, 0
        rest = [a for place, a in enumerate(args) if place not in known.data]
        if any(map(follows, handles_in([*rest, *keywords.values()], []))):
            lost("what is made of data, in its places or its options,", "pass constants")
        data = [apply(np.array, (args[place],)) for place in known.data]
        self._data = data[0] if len(data) == 1 else apply(np.stack, (tuple(data),))
        self._made = known.make(maker, plain(self._data), *map(plain, rest), **plain(keywords))

    def _method(self, name: str) -> Callable[..., Any] | None:
        if name in self._known.orders:
            return partial(self._derived, self._known.orders[name])
        function = self._known.at if name == _OWN else self._known.methods.get(name)
        return partial(self._evaluated, function) if function is not None else None

    def _derived(self, step: int, n: int = 1) -> Evaluated:
        order = step * n
        if order * self._order < 0:
            self._refuse("derivative")
        derived = copy.copy(self)  # of the data as they were, whatever is written into them since
        derived._order = self._order + order
        return derived

    def _object(self, asked: str) -> Any:
        return self._refuse(asked)  # what it computes, its own memory holds

    def _evaluated(self, function: Any, *given: Any, **options: Any) -> Any:
        if self._order and ("nu" in options or (function is self._known.at and len(given) > 1)):
            self._refuse("derivative")
        order = {"nu": self._order} if self._order else {}
        return self._call(function, self._made, self._data, *given, **options, **order)


def _copied(value: Any) -> Any:
    """A copy of an array: the object has one of its own."""
    if is_handle(value):
        return apply(np.copy, (value,)) if type(value) is Array else value
    return value.copy() if isinstance(value, np.ndarray) else value
