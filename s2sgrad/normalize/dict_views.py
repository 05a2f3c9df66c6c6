"""What a dict shows of itself: `d.keys()`, `d.values()`, `d.items()`.

    for v in d.values(): ..                  ->      for k in keys_of(d): v = d[k]; ..
    {"a": x, "b": y}.items()                 ->      (("a", x), ("b", y))

The keys are taken once, a value is read when its turn comes: that of a key may be stored anew meanwhile.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(d):
...     total = 0.0
...     for name, v in d.items():
...         total = total + v
...     return total + sum(d.values())
... ''', "library_desugaring"))
def f(d):
    total = 0.0
    for name in keys_of(d):
        v = d[name]
        total = total + v
    return total + sum(d[key] for key in keys_of(d))
"""

from __future__ import annotations

from typing import NamedTuple

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import clone, expression, name
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize._calls import may_have_method
from s2sgrad.primitives.catalogue import is_named


class View(NamedTuple):
    """`which` is "keys", "values" or "items"."""

    owner: gast.AST
    which: str


def of(unit: Unit, node: gast.AST) -> View | None:
    """What an expression shows of a dict; None where it does not, or calls a method of another class."""
    method = node.func if isinstance(node, gast.Call) and not node.args and not node.keywords else None
    if not isinstance(method, gast.Attribute) or not is_named(method.attr, dict.keys, dict.values, dict.items):
        return None
    return View(method.value, method.attr) if may_have_method(unit, method, dict) else None


def is_path(node: gast.AST) -> bool:
    """Whether an expression is a name, or an attribute of what a name stands for: it may be read more than once."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)


def keys(unit: Unit, owner: gast.AST) -> gast.AST:
    """The list of the keys."""
    return expression("keys_of(d)", keys_of=unit.helper("keys_of", runtime.keys_of), d=owner)


def value(view: View, key: str | gast.AST) -> gast.AST:
    """What the dict holds under a key."""
    return gast.Subscript(clone(view.owner), _read(key), gast.Load())


def _read(key: str | gast.AST) -> gast.AST:
    return name(key) if isinstance(key, str) else clone(key)


def item(view: View, key: str | gast.AST) -> gast.AST:
    """What is shown of a key."""
    if view.which == "keys":
        return _read(key)
    return value(view, key) if view.which == "values" else gast.Tuple([_read(key), value(view, key)], gast.Load())


def displayed(view: View) -> gast.Tuple | None:
    """What is shown of a dict in the text, as a tuple; None where keys may be equal."""
    shown = view.owner
    if not isinstance(shown, gast.Dict) or not all(isinstance(k, gast.Constant) for k in shown.keys):
        return None
    if len({k.value for k in shown.keys}) < len(shown.keys):
        return None
    if view.which != "items":
        return gast.Tuple(shown.keys if view.which == "keys" else shown.values, gast.Load())
    return gast.Tuple([gast.Tuple([k, v], gast.Load()) for k, v in zip(shown.keys, shown.values, strict=True)], gast.Load())
