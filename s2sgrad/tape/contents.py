"""Values that contain Variables: lists and dicts of weights, objects that hold them as attributes.

model (an object with the Variable `w`)     ->      plain: a copy of it with an ndarray `w`; recorded: {"w": Array}
"""

from __future__ import annotations

from typing import Any

from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.runtime.structure import rebuilt, stored_in
from s2sgrad.tape.values import Operand

Copy = tuple[Any, Any, Any]
"""An original, its copy with plain values, and the items of the copy when it was made."""

_DEEPEST = 8
_MOST = 1000  # larger containers are not searched; a Variable in one is noticed when it is read


def holds(value: Any, depth: int = 0) -> bool:
    """Whether a value, its items, or the attributes of objects are or contain Arrays or Variables.

    Objects that the compiler treats as opaque (with hooks, or of a library's class) count as empty, because it would treat
    their attributes as constants.  Variables in them are noticed when the compiled code reads them.
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


def split(value: Any, operands: list[Any], copies: list[Copy] | None = None) -> tuple[Any, Any]:
    """The value twice, (recorded, plain): with Arrays, and with their plain values.  An object becomes a dict of its
    attributes, and a copy.

    Arrays are appended to `found`; copies of lists, dicts and objects to `copies`.
    """
    if isinstance(value, Operand):
        array = value._read()
        operands.append(array)
        return array, array._value
    if not holds(value):
        return value, value
    if isinstance(value, (list, tuple, dict)):
        parts = rebuilt(value, lambda item: split(item, operands, copies))
        plain = rebuilt(parts, lambda part: part[1])
        if copies is not None and not isinstance(value, tuple):
            copies.append((value, plain, _items(plain)))
        return rebuilt(parts, lambda part: part[0]), plain
    recorded, copy = {}, object.__new__(type(value))
    for name, item in (attributes_of(value) or {}).items():
        recorded[name], plain = split(item, operands, copies)
        object.__setattr__(copy, name, plain)
    if copies is not None:
        copies.append((value, copy, _items(copy)))
    return recorded, copy


def _items(copy: Any) -> Any:
    """A shallow copy of the content of a list, a dict or an object."""
    return list(copy) if isinstance(copy, list) else dict(copy if isinstance(copy, dict) else stored_in(copy) or {})


def write_back(copies: list[Copy]) -> None:
    """Apply the changes that were made to the copies to their originals."""
    originals = {id(copy): original for original, copy, _ in copies}
    for original, copy, before in copies:
        now = _items(copy)
        if isinstance(before, list):
            if len(now) != len(before) or any(a is not b for a, b in zip(now, before, strict=True)):
                originals_of = {**{id(a): b for a, b in zip(before, original, strict=True)}, **originals}
                original[:] = [originals_of.get(id(item), item) for item in now]
            continue
        is_dict = isinstance(original, dict)
        for key in before.keys() - now.keys():
            delete = dict.__delitem__ if is_dict else object.__delattr__
            delete(original, key)
        for key, item in now.items():
            if key not in before or item is not before[key]:
                put = dict.__setitem__ if is_dict else object.__setattr__
                put(original, key, originals.get(id(item), item))
