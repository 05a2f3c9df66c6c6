"""Recursive functions that make, read or write objects: they receive the lists of the attributes.

    total(root)      ->      total(root, node_left=node_left, node_right=node_right, node_weight=node_weight)

Such a function is flattened where it is called, with the lists of its caller.  Of which classes the objects are that the
lists hold, and that it returns, is found as a fixed point, for it calls itself.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Cons:
...     def __init__(self, head, tail): self.head, self.tail = head, tail
... def make(x, n):
...     return None if n == 0 else Cons(x * n, make(x, n - 1))
... def f(x):
...     return make(x, 3).tail.head
... ''', "flatten"))
def f(x):
    cons_head = []
    cons_tail = []
    t1 = make_(x=x, n=3, cons_head=cons_head, cons_tail=cons_tail)
    t2 = place(t1, 'tail')
    t3 = cons_tail[t2]
    t4 = place(t3, 'head')
    t5 = cons_head[t4]
    result = t5
    no_object(result, 7)
    return result
"""

from __future__ import annotations

import contextlib
import types
import weakref
from collections import Counter
from typing import Any, NamedTuple

import gast

from s2sgrad import emit
from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.reached_classes import RESULT, RESULTS, codes_of, reached, reached_by_name, walked
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.errors import S2SGradError
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import assign, constant, expression, mentioned, name, nodes
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.normalize.definitions import DEFINITION, STATEMENTS
from s2sgrad.runtime import references
from s2sgrad.source import read
from s2sgrad.source.making import made
from s2sgrad.specialize.static_values import Function
from s2sgrad.specialize.ways import Ways

_RECEIVER = "(receiver)"  # the object of a method, beside the columns


class LiftedColumns:
    """Passes columns to functions that are not inlined; `holds`: the classes of the objects in each, as they are called."""

    unit: Unit
    flattener: Any
    in_columns: bool
    columns: dict[str, dict[str, str]]
    members: dict[str, list[type]]
    families: dict[type, str]
    followed: list[type]
    held_by: dict[type, Any]
    holds: dict[str, set[type]]
    seen_texts: dict[Any, bool]

    def inherited(self) -> Inherited | None:
        """What a lifted function, whose objects are those of its caller, has from it."""
        return _INHERITED.get(self.unit.primal.function)

    def held_after(self, target: Any) -> dict[str, set[type]] | None:
        """The classes of the objects that a lifted function returns and leaves in the lists; None for other functions."""
        inherited = _INHERITED.get(target) if isinstance(target, types.FunctionType) else None
        return None if inherited is None else inherited.holds

    def passed_columns(self, value: Function) -> list[str]:
        """The lists passed to a function that is not inlined, for the attributes of all objects that it may make or read."""
        if not self.in_columns:
            return []
        named = [value.unit.resolve(n) for n in nodes(value.node) if isinstance(n, gast.Name)]
        words = {n.attr for n in nodes(value.node) if isinstance(n, gast.Attribute)}
        classes, asked = reached_by_name({f for f in named if is_plain(f) or is_plain_class(f)}, words, self.followed)
        families_ = {self.families[c] for c in classes if c in self.families}
        families_ |= {self.families[c] for a in asked & self.members.keys() for c in self.members[a]}
        for cls in self.followed:
            if self.families[cls] in families_ and self.held_by[cls]:
                self.column(cls, self.held_by[cls][0])
        return sorted(local for family in families_ for local in self.columns.get(family, {}).values())

    def told(self) -> list[gast.AST]:
        """Statements that say what the columns of a lifted function hold, and of which classes its arguments are."""
        out, helper = [], self.unit.helper("reference", references.reference) if self.holds else ""
        for local, classes in self.holds.items() if helper else ():
            classes = sorted(classes, key=self.followed.index)
            made_ = [name(f"({local} {k})") for k in range(len(classes))]
            made_calls = [expression("f(c, 0)", f=helper, c=self.class_name(cls)) for cls in classes]
            out += [assign(n.id, call) for n, call in zip(made_, made_calls, strict=True)]
            out.append(assign(local, gast.List(made_, gast.Load())))
        given = [p.id for p in parameters(self.unit.primal.tree)] if self.holds else []
        places = {p: f"({p})" for p in given if self.holds.get(f"({p})")}
        places |= {p: _RECEIVER for p in given[:1] if self.holds.get(_RECEIVER)}
        return [*out, *(assign(p, gast.Subscript(name(held), constant(0), gast.Load())) for p, held in places.items())]

    def note_held(self, inherited: Inherited, value: gast.AST | None) -> None:
        """Record what the lists hold where a lifted function returns a value."""
        flow = self.flow()
        inherited.found.update({local: flow.classes_inside(local) for local in self.every_column()})
        if isinstance(value, gast.Name):
            inherited.found.update({RESULT: flow.classes(value.id), RESULTS: flow.classes_inside(value.id)})

    def in_columns_too(self, target: types.FunctionType, key: str) -> tuple[types.FunctionType, set[str]]:
        """A lifted function that receives those lists of attributes that it needs, with attribute reads rewritten to these,
        and other lists that it must receive; `key` names the recursive method or function that it opens."""
        flow, receiver = self.flow(), [*self.members.get(key[1:], ())] if key[:1] == "." else []
        around = (getattr(self.inherited(), "around", frozenset()) | {key}) - {""}
        held = {local: flow.classes_inside(local) for local in self.every_column()} | {_RECEIVER: {*receiver}}
        held |= self.passed.get(key, {})
        while True:
            told = _INHERITED[target] = Inherited(
                self.followed, dict(self.columns), self.names_on_classes(), held, self.ways, key, around, {}
            )
            unit, tree = Unit.of(read(target))
            unit.drawn_at = self.unit.drawn_at
            for _, run in (*DEFINITION, *STATEMENTS):
                tree = run(unit, tree)
            tree = self.flattener.another(unit, tree)
            if all(found <= held.get(local, set()) for local, found in told.found.items()):
                break
            held = {local: held.get(local, set()) | told.found.get(local, set()) for local in (*held, *told.found)}
        if missing := self.not_received(tree, told.columns):
            return target, missing
        own = {n for n, helper in unit.helpers.items() if helper is target}
        tree.name = next(iter(own), target.__name__)
        _drop_idle(tree, own | {tree.name}, {local for used in told.columns.values() for local in used.values()})
        helpers = {n: helper for n, helper in unit.helpers.items() if n not in own}
        cells = set(target.__code__.co_freevars) - {target.__name__, *unit.helpers}
        words = unit.explained(mentioned(tree))._replace(of="")
        new = made(emit.function(tree), tree.name, target, helpers, cells, tree, unit.place, words)
        self.unit.inlined.append(unit)
        _INHERITED[new] = told
        return new, set()

    def not_received(self, tree: gast.FunctionDef, used: dict[str, dict[str, str]]) -> set[str]:
        """The lists that a lifted function mentions, or makes, and does not receive."""
        free = mentioned(*tree.body) - {p.id for p in parameters(tree)}
        missing = [cls for cls in self.followed if (family := self.families[cls]) in used.keys() - self.columns.keys()
                   or not free.isdisjoint(self.columns.get(family, {}).values())]  # fmt: skip
        held = [self.column(cls, self.held_by[cls][0]) for cls in missing if self.held_by[cls]]
        return {local for cls in missing if held for local in self.columns[self.families[cls]].values()}

    def has_objects(self, target: Any) -> bool:
        """Whether a user's function may receive references, and read attributes of them or call them."""
        if not self.in_columns or not is_plain(target) or target is self.unit.primal.function or target in _INHERITED:
            return False
        if target not in self.seen_texts:
            classes, asked = reached(target, also=self.closures_among)
            asks = any(c in self.families for c in classes) or any(a in self.members for a in asked)
            functions = walked((target,), self.closures_among)[0]
            calls = "__call__" in self.members and any(map(_calls_values, functions))
            self.seen_texts[target] = asks or calls or any(map(_asks_what_it_is, functions))
        return self.seen_texts[target]


class Inherited(NamedTuple):
    """The classes and columns that a lifted function inherits."""

    followed: list[type]
    columns: dict[str, dict[str, str]]
    on_classes: set[str]
    holds: dict[str, set[type]]  # by column: the classes of the objects in it
    ways: Ways
    opened: str  # `recursive_methods`: the method that it opens, and those around it
    around: frozenset[str]
    found: dict[str, set[type]]  # as `holds`, at the end of the function; of its RESULT, and of what is in it


_INHERITED: weakref.WeakKeyDictionary[types.FunctionType, Inherited] = weakref.WeakKeyDictionary()


def _drop_idle(tree: gast.FunctionDef, own: set[str], columns: set[str]) -> None:
    """Drop the lists that a function, called `own`, only hands to itself: no call of it reads or writes them."""
    calls = [n for n in nodes(*tree.body) if isinstance(n, gast.Call) and getattr(n.func, "id", None) in own]
    handed = Counter(k.arg for call in calls for k in call.keywords if getattr(k.value, "id", None) == k.arg)
    idle = columns - (Counter(n.id for n in nodes(*tree.body) if isinstance(n, gast.Name)) - handed).keys()
    tree.args.kwonlyargs = [p for p in tree.args.kwonlyargs if p.id not in idle]
    tree.args.kw_defaults = [None] * len(tree.args.kwonlyargs)
    for call in calls:
        call.keywords = [k for k in call.keywords if k.arg not in idle]


def _asks_what_it_is(function: types.FunctionType) -> bool:
    """Whether a user's function asks something for its class or its members: a reference has none of the object's."""
    names_ = {n for code in codes_of(function.__code__) for n in code.co_names} - function.__globals__.keys()
    return not names_.isdisjoint(("type", "hasattr", "getattr", "vars", "dir"))


def _calls_values(function: types.FunctionType) -> bool:
    """Whether a user's function calls what one of its variables is, other than a function that it defines."""
    with contextlib.suppress(S2SGradError):
        tree = read(function).tree
        inner = {n.name for n in nodes(*tree.body) if isinstance(n, gast.FunctionDef)}
        local = (scoping.bound(tree.body) | {p.id for p in parameters(tree)}) - inner
        return any(isinstance(n, gast.Call) and getattr(n.func, "id", None) in local for n in nodes(*tree.body))
    return False
