"""Methods: what a transform makes of a function binds as the function does, and is then that of the bound method.

    class Net:
        @jacobian
        def out(self, x): ...         net.out(x)  ->  jacobian of the method, in `x`;  Net.out(net, x)  ->  in `self`

`self` is argument 0 of a function of a class, as of any function.  A bound method has no `self`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from s2sgrad.ir.signatures import is_method
from s2sgrad.runtime.asking import its


def as_bound(function: Any, instance: Any, owner: type | None = None) -> Any:
    """What attribute access gives where a class has this function; the function itself where it does not bind."""
    get = getattr(type(function), "__get__", None)
    return function if get is None or isinstance(function, functools.partial) else get(function, instance, owner)


def kind_of_binding(function: Any) -> str:
    """What attribute access binds, as for the function itself: "instance", "class", or "" for nothing."""
    if isinstance(function, Binds):
        return function._binds
    if isinstance(function, classmethod):
        return "class"
    return "instance" if isinstance(function, types.FunctionType) else ""


def receiver_of(function: Any) -> int:
    """How many of the arguments before those that are counted a function is given: the class, where `classmethod` stands
    around what a transform made."""
    is_plain = isinstance(function, types.FunctionType)
    names = function.__code__.co_varnames[: function.__code__.co_argcount] if is_plain else ()
    return int(names[:1] == ("cls",) and is_method(function, names))


def receiver_name(method: types.MethodType) -> str:
    """The name of the parameter that a bound method binds; empty if it is not known."""
    code = its(method.__func__, "__code__", None)
    return code.co_varnames[0] if code is not None and code.co_argcount else ""


class Binds:
    """A transform of a function `given`, by attribute access one of what the function gives there."""

    given: Any
    _binds = ""

    def of(self, function: Any) -> Any:
        """The same transform of another function."""
        raise NotImplementedError

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bound = as_bound(self.given, instance, owner)
        return self if bound is self.given else self.of(bound)


class Transformed(Binds):
    """A function that `make` makes of another one, as a transform of it."""

    def __init__(self, function: Any, make: Callable[[Any], Callable[..., Any]]) -> None:
        self.given, self._make, self._made = function, make, make(function)
        functools.update_wrapper(self, self._made, updated=())
        vars(self).pop("__wrapped__", None)

    def of(self, function: Any) -> Transformed:
        """The same transform of another function."""
        return Transformed(function, self._make)

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self._made(*args, **keywords)

    @property
    def followed(self) -> types.FunctionType | None:
        """The function that is read in the place of this one."""
        return self._made if isinstance(self._made, types.FunctionType) else None

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._made)


def transforms(make: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """Decorate a function that makes a function of its first argument: the result binds as that argument does."""

    @functools.wraps(make)
    def transformed(function: Any, *options: Any, **keywords: Any) -> Transformed:
        return Transformed(function, lambda f: make(f, *options, **keywords))

    return transformed


class OfInstances(property):
    """A property of instances only: the class itself has the attribute that it would have without."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            raise AttributeError
        return super().__get__(instance, owner)
