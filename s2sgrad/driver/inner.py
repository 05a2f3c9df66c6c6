"""What a closure captures, found again in the next closure of the same code: functions, and gradients of them.

    def hvp(f, x, v):                              a new `f`, a new `g` and a new lambda at every call, all of known codes:
        g = grad(f)                                the text for one lambda is right over what the cells of the next one
        return grad(lambda x: g(x) @ v)(x)         hold, and over what `grad` generates for that

`found` of a `Step` gets the next object from those before it; None where it differs from what the text was compiled for.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.unit_records import Derived
from s2sgrad.rules import table

Defaults = tuple[tuple[Callable[[Any], bool], ...], dict[str, Callable[[Any], bool]]]


def is_gradient(value: Any) -> bool:
    """Whether an object is a gradient."""
    return hasattr(type(value), "compiled_for")


def content(function: types.FunctionType, index: int) -> Any:
    """The content of a closure cell; None where it is empty."""
    try:
        return (function.__closure__ or ())[index].cell_contents
    except ValueError:
        return None


class InCell:
    """A function of known code in a cell of an earlier one."""

    def __init__(self, owner: int, index: int, value: types.FunctionType, defaults: Defaults) -> None:
        self.owner, self.index, self.defaults = owner, index, defaults
        self.code, self.space, self.name = weakref.ref(value.__code__), id(value.__globals__), value.__name__

    def found(self, objects: list[Any], inside: list[Any]) -> Any:
        """The function if it is still in the cell; None otherwise."""
        value = content(objects[self.owner], self.index)
        if type(value) is not types.FunctionType or value.__code__ is not self.code():
            return None
        if id(value.__globals__) != self.space or value.__name__ != self.name or not fit(value, self.defaults):
            return None
        return value


class GradientInCell:
    """A gradient in a cell, of whatever function: `Generated` checks that its code is known."""

    def __init__(self, owner: int, index: int, value: Any) -> None:
        self.owner, self.index, self.asked = owner, index, value.asked

    def found(self, objects: list[Any], inside: list[Any]) -> Any:
        """The gradient in the cell; None if there is none that was asked for alike."""
        value = content(objects[self.owner], self.index)
        return value if is_gradient(value) and value.asked == self.asked else None


class Primal:
    """The function of an earlier gradient, where what it is bound to matters: it may change what lives outside of it."""

    def __init__(self, of: int, function: types.FunctionType) -> None:
        self.of, self.code = of, weakref.ref(function.__code__)
        self.space, self.name = id(function.__globals__), function.__name__

    def found(self, objects: list[Any], inside: list[Any]) -> Any:
        """The function if it has the same code; None otherwise."""
        value = objects[self.of].primal
        if type(value) is not types.FunctionType or value.__code__ is not self.code():
            return None
        return value if id(value.__globals__) == self.space and value.__name__ == self.name else None


class Made:
    """A derivative that the compiled function itself takes of an earlier object."""

    def __init__(self, of: int, make: Callable[[Any], Any]) -> None:
        self.of, self.make = of, make

    def found(self, objects: list[Any], inside: list[Any]) -> Any:
        """The gradient, made again."""
        return self.make(objects[self.of])


class Generated:
    """What an earlier gradient generates for arguments of these kinds."""

    def __init__(self, of: int, kinds: Kinds, compiled: Any) -> None:
        self.of, self.kinds, self.code = of, kinds, weakref.ref(compiled.function.__code__)
        self.of_complex = compiled.recipe.complex

    def found(self, objects: list[Any], inside: list[Any]) -> Any:
        """The text that the gradient generates now; None if it is another one."""
        try:
            compiled = objects[self.of].compiled_for(dict(self.kinds.items), self.of_complex)
        except (S2SGradError, TypeError):
            return None
        if compiled.function.__code__ is not self.code():
            return None
        inside.append(compiled)
        return compiled.function


Step = InCell | GradientInCell | Primal | Made | Generated


def fit(function: types.FunctionType, expected: Defaults) -> bool:
    """Whether the defaults of a function are those that the text was compiled for."""
    positional, named = expected
    defaults, keywords = function.__defaults__ or (), function.__kwdefaults__ or {}
    if len(defaults) != len(positional) or keywords.keys() != named.keys():
        return False
    return all(accepts(v) for accepts, v in zip(positional, defaults, strict=True)) and all(
        accepts(keywords[name]) for name, accepts in named.items()
    )


def steps(
    names: Iterable[tuple[Any, str, Any]],
    derived: list[Derived],
    generated: list[tuple[Any, Kinds, Any]],
    asked: set[int],
    place: dict[int, int],
    add: Callable[[Any], int],
    defaults: Callable[[types.FunctionType], Defaults],
) -> list[Step]:
    """The steps that find everything in the cells of the entry; `add` gives each object a place.

    `names` are (function, name, value) of closure cells, `generated` are (gradient, kinds, compiled), `asked` are the
    functions in which names were looked up, by identity.
    """
    out: list[Step] = []

    def put(value: Any, step: Step) -> None:
        out.append(step)
        add(value)

    names = list(names)
    before = -1
    while before < len(out):
        before = len(out)
        for function, name, value in names:
            owner = place.get(id(function))
            if owner is None or id(value) in place:
                continue
            index = function.__code__.co_freevars.index(name)
            if type(value) is types.FunctionType and table.given(value) is None:  # of whose rule the code says nothing
                put(value, InCell(owner, index, value, defaults(value)))
            elif is_gradient(value) and value.asked is not None and any(g is value for g, _, _ in generated):
                put(value, GradientInCell(owner, index, value))
        for derivative in derived:
            if id(derivative.of) in place and id(derivative.gradient) not in place:
                put(derivative.gradient, Made(place[id(derivative.of)], derivative.make))
        for gradient, kinds, compiled in generated:
            if id(gradient) in place and id(compiled.function) not in place:
                put(compiled.function, Generated(place[id(gradient)], kinds, compiled))
            primal = gradient.primal
            if id(gradient) in place and type(primal) is types.FunctionType and id(primal) in asked - place.keys():
                put(primal, Primal(place[id(gradient)], primal))
    return out
