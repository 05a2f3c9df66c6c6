"""Whether a program writes attributes of classes, whose values all objects share, wherever they are.

Lin.count += 1; type(self).last = x; cls.count = 0      ->      these stores; the function is recorded
"""

from __future__ import annotations

import types
from collections.abc import Iterator

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.reached_classes import codes_of, stores_in, walked
from s2sgrad.errors import NoSource
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.source import read


def require_none(unit: Unit) -> None:
    """Refuse a function that may write an attribute of a class, itself or in what it calls."""
    home = unit.primal.function
    made_here = [v for v in unit.helpers.values() if is_plain_class(v)]
    if not made_here and not any(map(is_plain_class, home.__globals__.values())):
        return
    functions, classes = walked((home, *made_here))
    of_class = {f.__func__ for c in classes for k in c.__mro__[:-1] for f in vars(k).values() if isinstance(f, classmethod)}
    for function in functions:
        for of, store in _stores(function, function in of_class):
            of.refuse(store, f"the attribute `{store.attr}` of a class is written, which all its objects share, and which "
                             "cannot be followed: keep it in an object")  # fmt: skip


def _stores(function: types.FunctionType, of_class: bool) -> Iterator[tuple[Unit, gast.Attribute]]:
    """The stores into attributes of a class in the text of a function, which may be a class method."""
    if not any(True for code in codes_of(function.__code__) for _ in stores_in(code)):
        return
    try:
        unit, tree = Unit.of(read(function))
    except NoSource:  # the `__init__` of a dataclass, which writes its object
        return
    own = function.__code__.co_varnames[:1] if of_class else ()
    for node in nodes(tree):
        if isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Store) and _is_class(unit, node.value, own):
            yield unit, node


def _is_class(unit: Unit, node: gast.AST, own: tuple[str, ...]) -> bool:
    """Whether an expression stands for a class."""
    if isinstance(node, gast.Name) and node.id in own:
        return True
    asked = unit.called(node) is type or (isinstance(node, gast.Attribute) and node.attr == "__class__")
    return asked or isinstance(unit.resolve(node), type)
