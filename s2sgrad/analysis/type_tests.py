"""What kinds decide about tests of types: `isinstance(x, C)`, `type(x) is C`, `hasattr(x, "name")`, `np.isscalar(x)`.

>>> import collections.abc
>>> is_instance(Array("float64", (3,)), (list, dict)), is_instance(Array("float64", (3,)), (collections.abc.Iterable,))
(False, True)
>>> is_instance(Number(float), (np.ndarray,)), is_instance(Number(int), (float,)), is_instance(None, (dict,))
(False, None, None)
>>> has_attribute(Array("float64", (3,)), "columns"), has_attribute(Text(), "upper"), has_attribute(Text(), "value")
(False, True, None)
"""

from __future__ import annotations

import abc
import sys
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, Text
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import libraries

_NUMBERS = (float, int, bool, complex, np.float64, np.float32, np.int64, np.bool_, np.complex128)
_BUILT_IN = frozenset({dict, list, tuple, str, bytes, set, frozenset, np.ndarray, np.generic, *_NUMBERS})
"""Types of which no object has two."""
_PLAIN_METACLASSES = (type.__instancecheck__, abc.ABCMeta.__instancecheck__)


def decided(
    unit: Unit, test: gast.AST, kind: Callable[[gast.AST], Kind | None], values: Mapping[str, gast.AST]
) -> bool | None:
    """The result of a test of a type; None where it is none, or unknown.  `kind` gives the kinds of operands, `values` what
    names are bound to that stand for classes."""
    if isinstance(test, gast.Compare):
        return _same_type(unit, test, kind)
    if not isinstance(test, gast.Call) or test.keywords:
        return None
    target, arguments = unit.called(test), test.args
    if target is isinstance and len(arguments) == 2:
        return is_instance(kind(arguments[0]), _classes(unit, values.get(getattr(arguments[1], "id", ""), arguments[1])))
    if target is hasattr and len(arguments) == 2 and isinstance(arguments[1], gast.Constant):
        return has_attribute(kind(arguments[0]), arguments[1].value)
    if target is np.isscalar and len(arguments) == 1:
        return is_scalar(kind(arguments[0]))
    return None


def operand_asked(unit: Unit, node: gast.AST) -> gast.AST | None:
    """The expression of whose type a test asks; None for anything else."""
    if isinstance(node, gast.Compare) and unit.called(node.left) is type and len(node.left.args) == 1:
        return node.left.args[0]
    asks = isinstance(node, gast.Call) and any(unit.called(node) is t for t in (isinstance, hasattr, np.isscalar))
    return node.args[0] if asks and node.args else None


def coarse(kind: Kind | None, spread: bool = False) -> Kind | None:
    """A kind as far as tests of types ask, and calls if it is `spread` by `*` or `**`; None where they learn nothing from
    it."""
    if isinstance(kind, Array):
        return Array(None, None)
    if isinstance(kind, Container) and spread and kind.items is not None:
        return Container(kind.type, (UNKNOWN,) * len(kind.items), kind.keys)
    if isinstance(kind, Container):
        return Container(kind.type, None, kind.keys if kind.type is tuple else None)
    if isinstance(kind, Number):
        return Number(kind.type)
    return kind if isinstance(kind, Text) or (isinstance(kind, Known) and kind.value is None) else None


def is_instance(kind: Kind | None, classes: tuple[Any, ...]) -> bool | None:
    """Whether values of a kind are instances of one of these classes; None where that is unknown."""
    candidates = _types(kind)
    if not candidates or not classes or not all(map(_is_plain, classes)):
        return None
    if isinstance(kind, Number) and any(issubclass(c, n) and c is not np.generic for c in classes for n in _NUMBERS):
        return None  # the type of a number is known as far as derivatives need it
    if any(issubclass(c, t) and c is not t for c in classes for t in candidates if t is not np.ndarray):
        return None  # a list may be of a subclass
    verdicts = {issubclass(t, classes) for t in candidates}
    if verdicts == {False} and not _is_exact(kind) and not _BUILT_IN.issuperset(classes):
        return None  # a subclass may have other bases, as a string that is a member of an Enum
    return verdicts.pop() if len(verdicts) == 1 else None


def has_attribute(kind: Kind | None, name: Any) -> bool | None:
    """Whether values of a kind have an attribute; None where that is unknown."""
    verdicts = {any(name in vars(k) for k in t.__mro__) for t in _types(kind)}
    if verdicts == {False} and (isinstance(kind, Container) or not _is_exact(kind)):
        return None  # a subclass, as `defaultdict` is one, may have it
    return verdicts.pop() if len(verdicts) == 1 else None


def is_scalar(kind: Kind | None) -> bool | None:
    """The result of `np.isscalar`; None where it is unknown."""
    if not _types(kind):
        return None
    return isinstance(kind, (Number, Text))


def _is_exact(kind: Kind | None) -> bool:
    """Whether values of a kind are of its type itself, or of one of its subclasses in Python's library."""
    if isinstance(kind, Number):
        return isinstance(kind.type, type) and (kind.type in _NUMBERS or issubclass(kind.type, np.generic))
    if isinstance(kind, Container):
        return kind.type is not tuple or kind.keys is None  # not a named tuple
    return not isinstance(kind, Text)


def _same_type(unit: Unit, test: gast.Compare, kind: Callable[[gast.AST], Kind | None]) -> bool | None:
    """The result of `type(x) is C`; None where it is unknown."""
    owner = operand_asked(unit, test)
    if owner is None or len(test.ops) > 1 or not isinstance(test.ops[0], (gast.Is, gast.IsNot, gast.Eq, gast.NotEq)):
        return None
    asked = unit.resolve(test.comparators[0])
    same = is_instance(kind(owner), (asked,))
    if same is None or (same and asked is not np.ndarray):  # or of a subclass
        return None
    return same == isinstance(test.ops[0], (gast.Is, gast.Eq))


def _types(kind: Kind | None) -> tuple[type, ...]:
    """The types that values of a kind may have, subclasses of lists, strings and the like aside; empty where unknown."""
    if isinstance(kind, Array):
        return (np.ndarray,)
    if isinstance(kind, Number):
        if not isinstance(kind.type, type):
            return _NUMBERS
        return tuple(t for t in (*_NUMBERS, kind.type) if issubclass(t, np.generic) == issubclass(kind.type, np.generic))
    if isinstance(kind, Container) and kind.type in (list, dict, tuple):
        return (kind.type,)
    if isinstance(kind, Text):
        return (str,)
    return (type(None),) if isinstance(kind, Known) and kind.value is None else ()


def _classes(unit: Unit, node: gast.AST) -> tuple[Any, ...]:
    """The objects in a display of classes, or in a union of them."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitOr):
        return _classes(unit, node.left) + _classes(unit, node.right)
    found = [unit.resolve(part) for part in parts_of(node)]
    return tuple(part for c in found for part in (c if isinstance(c, tuple) else (c,)))


def _is_plain(cls: Any) -> bool:
    """Whether `isinstance` of this class asks for nothing but the classes that a type derives from."""
    if not isinstance(cls, type) or type(cls).__instancecheck__ not in _PLAIN_METACLASSES:
        return False
    return type(cls) is type or libraries.package(cls.__module__) in sys.stdlib_module_names  # nothing registers there
