"""Values with Variables somewhere inside: lists and dicts of weights, objects that hold them as attributes.

    model (an object with the Variable `w`)     ->      plain: a copy of it with an ndarray `w`; recorded: {"w": Array}
"""

from __future__ import annotations

from typing import Any

from s2sgrad.analysis.instances import attributes_of
from s2sgrad.structure import rebuilt
from s2sgrad.tape.values import Operand

_DEEPEST = 8
_MOST = 1000  # items of a container that are looked at; a Variable beyond them is noticed when it is read


def holds(value: Any, depth: int = 0) -> bool:
    """Whether there are Arrays or Variables in a value, in its items, or in the attributes of objects.

    Objects that the compiler does not take apart (with hooks, or of a library's class) count as empty: it would take their
    attributes for constants.  Variables in them are met when the compiled code runs.
    """
    if isinstance(value, Operand):
        return True
    if depth > _DEEPEST:
        return False
    if isinstance(value, (list, tuple, dict)):
        if len(value) > _MOST:
            return False
        return any(holds(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))
    held = attributes_of(value)
    return held is not None and len(held) <= _MOST and any(holds(item, depth + 1) for item in held.values())


def split(value: Any, found: list[Any]) -> tuple[Any, Any]:
    """(recorded, plain): Arrays in both's places; of objects that hold any, their attributes and a copy."""
    if isinstance(value, Operand):
        array = value._read()
        found.append(array)
        return array, array._value
    if not holds(value):
        return value, value
    if isinstance(value, (list, tuple, dict)):
        parts = rebuilt(value, lambda item: split(item, found))
        return rebuilt(parts, lambda part: part[0]), rebuilt(parts, lambda part: part[1])
    recorded, copy = {}, object.__new__(type(value))
    for name, item in attributes_of(value).items():
        recorded[name], plain = split(item, found)
        vars(copy)[name] = plain
    return recorded, copy
