"""`Variable`: a value that a program updates, such as a weight.  Reading it gives an Array with the current value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sgrad.primitives.record import know_methods
from s2sgrad.runtime.structure import attributes_of
from s2sgrad.tape.array import Array, NumericOperand, apply
from s2sgrad.tape.recording import STATE, numbers
from s2sgrad.tape.values import unwrapped


class Variable(NumericOperand):
    """A number or an array that can be reassigned; operators and NumPy's functions accept it like an Array.

    A tape watches the trainable Variables that are read while it records.  Each read is a snapshot: computed results keep
    the value that was read, and `assign` replaces the value instead of writing into it.

    `initial_value` is copied and keeps its NumPy dtype unless `dtype` is given.  `trainable=False`: watched on request only.

    >>> w = Variable(2.0, name="w")
    >>> w.assign_sub(0.5)
    Variable(1.5)
    >>> w * w
    Array(2.25)
    """

    assigning = frozenset({"assign", "assign_add", "assign_sub"})  # the methods that change it
    __slots__ = ("__weakref__", "_now", "name", "trainable", "uid")

    def __init__(self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        self._now = Array(unwrapped(initial_value), dtype)
        self.trainable, self.name = trainable, name
        self.uid = next(numbers)

    @property
    def _value(self) -> Any:
        """The plain value."""
        return self._present()._value

    def _present(self) -> Array:
        """The current value; during a recomputation, the value of the first run."""
        then = STATE.instead
        return self._now if then is None else then.get(self.uid, self._now)

    def _read(self) -> Array:
        """The current value; tapes and the journal are notified."""
        now = self._present()
        if STATE.journal is not None:
            STATE.journal.setdefault(self.uid, (self, now))
        for tape in STATE.tapes:
            tape.read(self, now)
        return now

    def read_value(self) -> Array:
        """The current value as a new Array, which later assignments do not change."""
        x = self._read()
        return apply(np.positive, (x,)) if x._value.dtype.kind in "fc" else x

    def assign(self, value: Any) -> Variable:
        """Replace the value; return the Variable itself.

        The value is converted to the Variable's dtype.  Raises ValueError for another shape, TypeError if a Variable of ints
        would lose the fractions of floats.
        """
        plain, now = np.asarray(unwrapped(value)), self._value
        if plain.dtype.kind in "fc" and now.dtype.kind not in "fc":
            raise TypeError(f"a Variable of {now.dtype} cannot hold {plain.dtype}: make the Variable of floats")
        if plain.shape != now.shape:
            raise ValueError(f"the Variable has the shape {now.shape}, the value {plain.shape}: assign one of its shape")
        if STATE.journal is not None:
            STATE.journal.setdefault(self.uid, (self, self._present()))
        array = Array(plain, now.dtype)
        if STATE.instead is None:
            self._now = array
        else:  # a recomputation: the first run has already assigned it
            STATE.instead[self.uid] = array
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add `delta`, which broadcasts to the Variable's shape."""
        return self.assign(self._value + unwrapped(delta))

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract `delta`, which broadcasts to the Variable's shape."""
        return self.assign(self._value - unwrapped(delta))

    def _not_in_place(self, other: Any) -> Any:
        raise RuntimeError(
            "`v += x` would bind `v` to an Array and leave the Variable as it is: use `v.assign_add(x)`, `v.assign_sub(x)`, "
            "`v.assign(..)`, or write `y = v + x`"
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = __imatmul__ = _not_in_place

    def __reduce__(self) -> tuple:
        return Variable, (self._value, self.trainable, self.name)


def trainable_variables(obj: Any) -> tuple[Variable, ...]:
    """The trainable Variables in nested lists, tuples and dicts, and in attributes of objects; each once.

    >>> trainable_variables({"w": Variable(1.0), "fixed": Variable(2.0, trainable=False)})
    (Variable(1.0),)
    """
    by_uid = {v.uid: v for v in _variables(obj, set()) if v.trainable}
    return tuple(by_uid.values())


def _variables(value: Any, seen: set[int]) -> Iterator[Variable]:
    if isinstance(value, Variable):
        yield value
        return
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    if items is None:
        items = _attributes(value)
    if items and id(value) not in seen:
        seen.add(id(value))
        for item in items:
            yield from _variables(item, seen)


know_methods(Variable, " ".join(sorted(Variable.assigning)), writes=(0,))


def _attributes(value: Any) -> list[Any]:
    """The attributes of an instance of a user's class, including slots."""
    if isinstance(value, NumericOperand):
        return []
    return list((attributes_of(value) or {}).values())
