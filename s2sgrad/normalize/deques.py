"""`deque` becomes a list, whose left end is the first item (`containers`), or with `maxlen` an object that holds a list.

    q = deque(xs)                   q = list(xs)
    q = deque(xs, maxlen=3)  ->     q = Bounded(xs, 3)

`specialize` evaluates the methods of such an object like those of a class of the user's.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(xs):
...     from collections import deque
...     window = deque(maxlen=3)
...     for x in xs:
...         window.append(x)
...     return window[0] * window[-1]
... ''', "deques"))
def f(xs):
    window = Bounded([], 3)
    for x in xs:
        window.append(x)
    return window[0] * window[-1]
"""

from __future__ import annotations

import inspect
from collections import deque

import gast

from s2sgrad.ir.forms import is_none, whole_number
from s2sgrad.ir.quote import Transformer, at, calls_in, constant, name, placed
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize._calls import note_receivers
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives.catalogue import is_named
from s2sgrad.standard.containers import Bounded, Trimmed

_SIGNATURE = inspect.signature(lambda iterable=(), maxlen=None: None)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with such objects for deques with `maxlen`; the others are left to the evaluator."""
    if any(unit.called(call) is deque for call in calls_in(tree)):
        free = NameUses(tree).always(also=lambda value: _is_object(unit, written(unit, value)) is False)
        tree = _Bounded(unit, free).visit(tree)
        note_receivers(unit, tree)
    return tree


class _Bounded(Transformer):
    def __init__(self, unit: Unit, free: set[str]) -> None:
        self.unit, self.free = unit, free

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        made = written(self.unit, node)
        return made if _is_object(self.unit, made) else node

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        is_free = getattr(node.value, "id", None) in self.free and is_named(node.attr, deque.maxlen)
        return at(node, constant(None))[0] if is_free else self.generic_visit(node)


def _is_object(unit: Unit, made: gast.AST | None) -> bool | None:
    """Whether an object stands for a deque, and no list; None where there is no deque."""
    return None if made is None else unit.called(made) in (Bounded, Trimmed)


def written(unit: Unit, node: gast.AST) -> gast.AST | None:
    """What stands for a new deque, wherever it is made and whoever gets it; None for anything else."""
    arguments = _arguments(node) if unit.called(node) is deque else None
    if arguments is None:
        return None
    unit.outside.stand_ins.add((deque, list))
    items, most = arguments.get("iterable", gast.List([], gast.Load())), arguments.get("maxlen", constant(None))
    shown = isinstance(items, gast.List)
    made = items if shown else gast.Call(unit.builtin(list), [items], [])
    if is_none(most):
        return placed(node, made)
    known = whole_number(most)
    if known and known > 0 and not (shown and len(items.elts) <= known):
        made = gast.Subscript(made, gast.Slice(constant(-known), None, None), gast.Load())
    cls = Bounded if known and known > 0 else Trimmed
    return at(node, gast.Call(name(unit.helper(cls.__name__, cls)), [made, most], []))[0]


def _arguments(call: gast.Call) -> dict[str, gast.AST] | None:
    """The arguments of a call of `deque`, by parameter; None if they cannot be matched."""
    words = {k.arg: k.value for k in call.keywords}
    if None in words or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    try:
        return _SIGNATURE.bind(*call.args, **words).arguments
    except TypeError:
        return None
