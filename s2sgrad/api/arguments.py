"""The arguments of a gradient: quick keys, and checks that they can be differentiated.

df(np.ones(3), 2.0)   ->   cached under ((float64, (3,)), float);   df(3)   ->   TypeError: ... pass a float
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from s2sgrad.analysis.kinds import Unknown
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.plain_classes import attributes_of
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.errors import Unsupported
from s2sgrad.errors.cycles import cycle, refers_to_itself
from s2sgrad.runtime import Pullback, is_sparse, structure
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checks import Refusal, has_methods_of_its_own, holds_complex
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.guests import is_array_of_others, refused_guest
from s2sgrad.runtime.subclasses import NUMBERS, is_otherwise, plain_of, reads_otherwise

_LASTING = (np.ndarray, np.generic, float, int, str, type(None), FunctionType, BuiltinFunctionType, np.ufunc)


def require_floats(parameter: str, arguments: dict[str, Any], function: str, derivative: str) -> None:
    """Raise TypeError if the argument of a differentiated parameter has no floats; `function` is the name of the function,
    `derivative` what was requested."""
    name, _, place = parameter.partition("[")
    value, asked = arguments.get(name, ()), f"the {derivative} of `{function}` in `{parameter}` was asked for"
    if place:
        if int(place[:-1]) >= len(value):
            raise TypeError(
                f"{asked}, but `*{name}` has {len(value)} arguments in this call: pass more of them, or change argnums"
            )
        value = value[int(place[:-1])]
    if (refused := _refused_in(value, parameter) or _unfollowed_in(value, parameter, [])) is not None:
        raise TypeError(f"{asked}, but {refused}")
    if not has_floats(value):
        raise TypeError(f"{asked}, but its value is {_described(value)}: {_way(value, name, arguments, derivative)}")


def require_followed_leaves(value: Any, name: str) -> None:
    """Raise TypeError for a primal that is or holds a structured array, or a list that is read by methods of its own."""
    if not isinstance(value, _LASTING) or isinstance(value, (np.ndarray, np.void)) or is_otherwise(type(value)):
        refused = _refused_in(value, name, False) or _unfollowed_in(value, name, [])
        if refused is not None:
            raise TypeError(refused)


def _way(value: Any, name: str, arguments: dict[str, Any], derivative: str) -> str:
    """What to pass in the place of a value without floats, or what else to ask for."""
    way = "pass a float, or an array of floats"
    if isinstance(value, np.ndarray) and value.dtype == object:
        return f"{way}; of several arrays a list, `list({name})`"
    numbers = isinstance(value, (int, np.ndarray, np.integer))
    others = [] if numbers or derivative != "gradient" else [n for n, v in arguments.items() if n != name and has_floats(v)]
    return f'{way}, or ask for another one, argnums="{others[0]}"' if others else way


def without_floats(value: Any, name: str) -> str:
    """What is wrong with an argument without floats, and the way out."""
    refused = _refused_in(value, name)
    return "an argument without floats: pass a float" if refused is None else f"but {refused}"


def require_trees(wrt: tuple[str, ...], arguments: dict[str, Any]) -> None:
    """Raise TypeError where a differentiated argument refers to itself, or where a list or dict does in any argument."""
    asked = {parameter.partition("[")[0] for parameter in wrt}
    for name, value in arguments.items():
        met = None if isinstance(value, _LASTING) else cycle(value, name)
        if met is not None and (met.of_containers or name in asked):
            raise refers_to_itself(met)


def require_real(parameter: str, value: Any) -> None:
    """Raise Unsupported for an argument that is complex, or a container of complex numbers; what an object holds is asked
    about where the function reads it."""
    if holds_complex(value):
        what = "holds complex numbers" if isinstance(value, (list, tuple, dict)) else "is complex"
        raise Unsupported(f"`{parameter}` {what}, which cannot be differentiated yet: pass its real and imaginary parts as "
                          "two float arguments")  # fmt: skip


def has_floats(value: Any) -> bool:
    """Whether a value is, contains, or may contain floats."""
    if isinstance(value, Closure):
        return _holds_floats(value)
    if isinstance(value, Pullback):  # whose record is what it holds
        return has_floats(value.saved)
    if type(value) is np.ndarray and value.dtype.kind == "f":
        return True
    if type(value) is float or type(value) is np.float64:
        return True
    (kind,) = kinds_of([value])
    if not isinstance(kind, Unknown):
        return may_carry(kind)
    attributes = attributes_of(value)
    if attributes is not None:
        return any(map(has_floats, attributes.values()))
    if is_array_of_others(type(value)):
        return _refused_in(value, "") is not None
    if isinstance(value, (list, tuple, dict)):
        return any(map(has_floats, value.values() if isinstance(value, dict) else value))
    if not has(value, "__array_ufunc__"):
        return False
    return getattr(getattr(value, "dtype", None), "kind", "f") in "fc"


def _holds_floats(f: Closure) -> bool:
    """Whether a closure holds floats at this moment; if it holds a list, that may change."""
    if f.carries is None:
        any_floats: bool
        any_floats, lasting = f.held_in(_floats_among)
        f.carries = any_floats if lasting else None
        return any_floats
    return f.carries


def _floats_among(holds: tuple) -> tuple[bool, bool]:
    """Whether there are floats among these values, and whether the answer is permanent."""
    any_floats, lasting = False, True
    for value in holds:
        here = has_floats(value) or _has_sparse(value)
        stays = value.carries is not None if type(value) is Closure else isinstance(value, _LASTING)
        if here and stays:
            return True, True
        any_floats, lasting = any_floats or here, lasting and stays
    return any_floats, lasting


def _has_sparse(value: Any) -> bool:
    """Whether a value is or contains a sparse array, which carries derivatives within a function alone."""
    if isinstance(value, (list, tuple, dict)):
        return any(map(_has_sparse, value.values() if isinstance(value, dict) else value))
    held = None if isinstance(value, _LASTING) else attributes_of(value)
    return is_sparse(value) if held is None else any(_has_sparse(v) for v in held.values() if v is not value)


def _refused_in(value: Any, name: str, guests: bool = True) -> str | None:
    """The path in a nested value to what has no derivative that could be followed, and the way out; None where there is
    none that may hold floats.  These are lists that are read by methods of their own, structured arrays, and `guests`,
    arrays of other libraries."""
    if reads_otherwise(type(value)):
        plain = plain_of(type(value))
        return f"items of `{name}`, a {type(value).__name__}, are read by methods of its own: pass a plain {plain}"
    if isinstance(value, NUMBERS) and is_otherwise(type(value)):
        shown, plain = type(value).__name__, plain_of(type(value))
        return f"operators of a {shown} mean something else than a number's: pass `{plain}({name})`"
    if isinstance(value, (list, tuple, dict)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if (found := _refused_in(item, f"{name}[{key!r}]", guests)) is not None:
                return found
    elif isinstance(value, (np.ndarray, np.void)):
        return f"`{name}` is a structured array: pass an array for each of its fields" if value.dtype.names else None
    elif guests and not isinstance(value, _LASTING) and is_array_of_others(type(value)) and attributes_of(value) is None:
        dtype = getattr(value, "dtype", None)
        return refused_guest(type(value), f"`{name}`") if getattr(dtype, "kind", "f") in "fcO" else None
    return None


def _unfollowed_in(value: Any, name: str, above: list[Any]) -> str | None:
    """The path in a nested value to an object that holds floats and whose cotangent would be zeros; None where there is
    none.  That is one that is no plain instance, and stands alone, cannot be made again, or has items of its own."""
    if isinstance(value, _LASTING) or callable(value) or any(value is holder for holder in above):
        return None
    held = value if isinstance(value, (list, tuple, dict)) else attributes_of(value)
    if held is None:
        return _unfollowed(value, name, bool(above))
    for key, part in held.items() if isinstance(held, dict) else enumerate(held):
        if not isinstance(part, _LASTING):
            place = f"{name}[{key!r}]" if held is value else f"{name}.{key}"
            if (found := _unfollowed_in(part, place, [*above, value])) is not None:
                return found
    return None


def _unfollowed(value: Any, name: str, inside: bool) -> str | None:
    """Why an object that is no plain instance has no cotangent; None where it has one, or needs none."""
    cls = type(value)
    if isinstance(value, Mapping) and cls is not MappingProxyType:
        floats = any(_keeps_floats(part, [value]) for part in value.values())
        return f"items of `{name}`, a {cls.__name__}, are not followed: pass a plain dict" if floats else None
    remade = inside and its(cls, "__new__") is object.__new__
    if remade or is_array_of_others(cls) or not _keeps_floats(structure.attributes_of(value), []):
        return None
    return (
        f"attributes of `{name}`, a {cls.__name__}, are not followed, as its class may read them otherwise: pass its numbers"
    )


def _keeps_floats(value: Any, above: list[Any]) -> bool:
    """Whether a value is or stores floats, in whatever object."""
    if isinstance(value, _LASTING):
        return has_floats(value)
    held = value if isinstance(value, (list, tuple, dict)) else structure.attributes_of(value)
    if held is None or any(value is holder for holder in above):
        return False
    return any(_keeps_floats(v, [*above, value]) for v in (held.values() if isinstance(held, dict) else held))


def _described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    name = type(value).__name__
    return f"a {name} without floats" if isinstance(value, (list, tuple, dict)) else f"of type {name}"


_MUTABLE, _NUMBERS = (np.ndarray, list, dict), (float, int, bool, str, np.float64)
_WITHOUT_FUNCTIONS = {np.ndarray, type(None), *_NUMBERS}


def require_separate(arguments: dict[str, Any], written: tuple[str, ...], function: Any, outside: dict[str, Any]) -> None:
    """Raise ValueError if an argument that the function writes shares memory with another one, or with what is outside.

    The same for a list or a dict that occurs in that argument twice, or also in another one.

    The function would see its writes through the other argument; its gradient works on copies and would not.
    """
    leaves = {p: list(_mutable(v)) for p, v in {**outside, **arguments}.items()}
    for p in written:
        for x in leaves[p]:
            if has_methods_of_its_own(x):
                plain = "list" if isinstance(x, list) else "dict"
                what = f"writes its argument `{p}`, a {type(x).__name__} with methods of its own"
                raise Refusal(None, f"`{function.__name__}` {what}: pass a {plain}")
        for other, arrays in leaves.items():
            for k, x in enumerate(leaves[p]):
                for m, y in enumerate(arrays):
                    if (other != p or k < m) and _shared(x, y):
                        raise ValueError(
                            f"`{function.__name__}` writes its argument `{p}`, which shares memory with `{other}`: pass "
                            "a copy of one of them"
                        )
    for name, value in {**outside, **arguments}.items():
        for p in written if type(value) not in _WITHOUT_FUNCTIONS else ():
            if _may_refer(value, leaves[p]):
                raise ValueError(
                    f"`{function.__name__}` writes its argument `{p}`, to which `{name}` may refer: pass a copy of it"
                )


def pairs_of_arrays(arguments: dict[str, Any], written: tuple[str, ...]) -> list[tuple[int, int]] | None:
    """The places of arrays of which `require_separate` asks whether they share memory; None where it asks more.

    >>> pairs_of_arrays({"x": np.ones(2), "n": 3, "y": np.ones(2)}, ("y",)), pairs_of_arrays({"x": []}, ("x",))
    ([(0, 2)], None)
    """
    if not all(type(v) in _WITHOUT_FUNCTIONS for v in arguments.values()):
        return None
    arrays = {p: k for k, (p, v) in enumerate(arguments.items()) if type(v) is np.ndarray}
    pairs = {tuple(sorted((arrays[p], k))) for p in written if p in arrays for other, k in arrays.items() if other != p}
    return sorted(pairs)  # type: ignore[arg-type]


def require_unreferred(written: str, x: Any, others: tuple) -> None:
    """Raise ValueError if one of these values shares memory with an argument that a gradient copies, or refers to it."""
    leaves = list(_mutable(x))
    shared = any(_shared(found, leaf) for other in others for found in _mutable(other) for leaf in leaves)
    if shared or _may_refer((x, *others), leaves):
        raise ValueError(f"the argument `{written}` is written, and something else may refer to it: pass a copy of it")


def _may_refer(value: Any, written: list[Any]) -> bool:
    """Whether a function in a value may refer to what is written: it would not see the writes to a copy."""
    from s2sgrad.analysis.reached_codes import TOO_MUCH, functions_in, reached

    for found in reached(functions_in([value])):
        if found is TOO_MUCH or (isinstance(found, _MUTABLE) and any(_shared(found, x) for x in written)):
            return True
    return False


def _mutable(value: Any, depth: int = 6) -> Iterator[Any]:
    """The arrays, lists and dicts that a value is or contains."""
    if type(value) in _NUMBERS:
        return
    if isinstance(value, _MUTABLE):
        yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    if items is None and not isinstance(value, np.ndarray):
        items = (attributes_of(value) or {}).values()
    for item in items if depth and items is not None else ():
        yield from _mutable(item, depth - 1)


def _shared(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return np.may_share_memory(x, y)
    return x is y
