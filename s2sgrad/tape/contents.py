"""Values with Variables somewhere inside: lists and dicts of weights, objects that hold them as attributes.

    model (an object with the Variable `w`)     ->      plain: a copy of it with an ndarray `w`; recorded: {"w": Array}
"""

from __future__ import annotations

from typing import Any

from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.tape.values import Operand

Copy = tuple[Any, Any, Any]
"""An original, its copy with plain values, and the items that the copy was given."""

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


def split(value: Any, found: list[Any], copies: list[Copy] | None = None) -> tuple[Any, Any]:
    """(recorded, plain): Arrays in both's places; of objects that hold any, their attributes and a copy.

    The copies of lists, dicts and objects are added to `copies`.
    """
    if isinstance(value, Operand):
        array = value._read()
        found.append(array)
        return array, array._value
    if not holds(value):
        return value, value
    if isinstance(value, (list, tuple, dict)):
        parts = rebuilt(value, lambda item: split(item, found, copies))
        plain = rebuilt(parts, lambda part: part[1])
        if copies is not None and not isinstance(value, tuple):
            copies.append((value, plain, _items(plain)))
        return rebuilt(parts, lambda part: part[0]), plain
    recorded, copy = {}, object.__new__(type(value))
    for name, item in attributes_of(value).items():
        recorded[name], vars(copy)[name] = split(item, found, copies)
    if copies is not None:
        copies.append((value, copy, _items(copy)))
    return recorded, copy


def _items(copy: Any) -> Any:
    return list(copy) if isinstance(copy, list) else dict(copy if isinstance(copy, dict) else vars(copy))


def write_back(copies: list[Copy]) -> None:
    """Change the originals as their copies were changed since they were made."""
    originals = {id(copy): original for original, copy, _ in copies}
    for original, copy, given in copies:
        now = _items(copy)
        if isinstance(given, list):
            if len(now) != len(given) or any(a is not b for a, b in zip(now, given, strict=True)):
                known = {**{id(a): b for a, b in zip(given, original, strict=True)}, **originals}
                original[:] = [known.get(id(item), item) for item in now]
            continue
        held = original if isinstance(original, dict) else vars(original)
        for key in given.keys() - now.keys():
            del held[key]
        for key, item in now.items():
            if key not in given or item is not given[key]:
                held[key] = originals.get(id(item), item)
