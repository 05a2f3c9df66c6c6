"""Views of a dict: `d.keys()`, `d.values()`, `d.items()`.

    for v in d.values(): ..                  ->      for k in keys_of(d): v = d[k]; ..
    {"a": x, "b": y}.items()                 ->      (("a", x), ("b", y))

The keys are read once, each value in its own trip: the value of a key may be replaced meanwhile.

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
    """A view of the dict `owner`; `which` is "keys", "values" or "items"."""

    owner: gast.AST
    which: str


def of(unit: Unit, node: gast.AST) -> View | None:
    """The dict view that an expression makes; None for anything else, and for methods of other classes."""
    method = node.func if isinstance(node, gast.Call) and not node.args and not node.keywords else None
    if not isinstance(method, gast.Attribute) or not is_named(method.attr, dict.keys, dict.values, dict.items):
        return None
    return View(method.value, method.attr) if may_have_method(unit, method, dict) else None


def is_path(node: gast.AST) -> bool:
    """Whether an expression is a name, or an attribute path from one, which may be evaluated twice."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)


def keys(unit: Unit, owner: gast.AST) -> gast.AST:
    """The list of the keys of a dict."""
    return expression("keys_of(d)", keys_of=unit.helper("keys_of", runtime.keys_of), d=owner)


def value(view: View, key: str | gast.AST) -> gast.AST:
    """The value under a key."""
    return gast.Subscript(clone(view.owner), _read(key), gast.Load())


def _read(key: str | gast.AST) -> gast.AST:
    return name(key) if isinstance(key, str) else clone(key)


def item(view: View, key: str | gast.AST) -> gast.AST:
    """The element of the view for a key."""
    if view.which == "keys":
        return _read(key)
    return value(view, key) if view.which == "values" else gast.Tuple([_read(key), value(view, key)], gast.Load())


def displayed(view: View) -> gast.Tuple | None:
    """The view of a dict display, as a tuple; None if keys may be equal."""
    shown = view.owner
    if not isinstance(shown, gast.Dict) or not all(isinstance(k, gast.Constant) for k in shown.keys):
        return None
    if len({k.value for k in shown.keys}) < len(shown.keys):
        return None
    if view.which != "items":
        return gast.Tuple(shown.keys if view.which == "keys" else shown.values, gast.Load())
    return gast.Tuple([gast.Tuple([k, v], gast.Load()) for k, v in zip(shown.keys, shown.values, strict=True)], gast.Load())
