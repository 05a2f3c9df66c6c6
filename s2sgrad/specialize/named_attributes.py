"""Attributes whose names a program computes: `getattr` and `setattr` of objects that are followed.

    for name in ("a", "b"): setattr(p, name, x)    ->      p.a = x; p.b = x
    getattr(self, "visit_" + kind)(x)              ->      which = number_named(..), and the body of each method under a test

A loop over names that the text writes out is unrolled.  Of a name known only when the program runs, the text may tell how it
begins and ends; the members of the class with such names are the ones that may be meant.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Machine:
...     def __init__(self, values):
...         for name, v in zip(("gain", "shift"), values):
...             setattr(self, name, v)
...     def do_scale(self, x): return self.gain * x
...     def do_move(self, x): return self.shift + x
... def f(x, what):
...     return getattr(Machine(x), "do_" + what)(x[0])
... ''', "flatten"))
def f(x, what):
    t2_ = sequence(x)
    t3 = len(t2_) > 0
    if t3:
        name = 'gain'
        v = t2_[0]
        result_gain = v
    t4 = len(t2_) > 1
    if t4:
        name = 'shift'
        v = t2_[1]
        result_shift = v
    t2 = None
    t5 = 'do_' + what
    which = number_named(t5, ('do_move', 'do_scale'), 'Machine')
    t6 = x[0]
    t9 = which == 0
    if t9:
        t7 = result_shift + t6
        value = t7
    else:
        t8 = result_gain * t6
        value = t8
    result = value
    return result
"""

from __future__ import annotations

import builtins
import types
from collections import Counter
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import CALLS, assign, at, clone, constant, mentioned, name, nodes_of, statements_in
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import references
from s2sgrad.specialize.static_values import Adapted, Choice, Display, Object, Value, chosen


class NamedAttributes:
    """`getattr` and `setattr`; `spelling`: the variables of lists and dicts whose items or keys are names of attributes."""

    unit: Unit
    flattener: Any
    counts: Counter[str]
    spelling: set[str]
    called_by: gast.AST | None = None  # what the call that is being evaluated calls

    def note_spelling(self, body: list[gast.AST]) -> None:
        """Find the lists and dicts whose items or keys name attributes."""
        self.spelling |= spelled(self.unit, body)

    def names_listed(self, target: str, node: gast.AST) -> Display | None:
        """The names of attributes that a literal list or tuple bound to `target` consists of; None for anything else."""
        if target not in self.spelling or not isinstance(node, gast.Call) or self.unit.called(node) is not runtime.sequence:
            return None
        items = getattr(node.args[0], "elts", [constant(None)])
        shown = all(isinstance(e, gast.Constant) and isinstance(e.value, str) for e in items)
        return Display(dict(enumerate(items)), literal=gast.Tuple) if shown else None

    def keywords_spelled(self, local: str, value: Any, body: list[gast.AST]) -> Any:
        """The argument for a parameter; where it is `**words`, and these name attributes, the dict is static."""
        if not isinstance(value, gast.Dict) or local not in spelled(self.unit, body):
            return value
        return Display({k.value: item for k, item in zip(value.keys, value.values, strict=True)}, mapping=True)

    def named_attribute(self, node: gast.Call) -> Any:
        """`getattr(owner, word)` or `getattr(owner, word, otherwise)`; None where it is an ordinary call."""
        word = text_of(node.args[1])
        if word is not None and len(node.args) == 2:
            return self.flattener.value(at(node, gast.Attribute(node.args[0], word, gast.Load()))[0])
        owner = self.flattener.operand(node.args[0])
        otherwise = [self.evaluate(a) for a in node.args[2:]]
        if word is not None and isinstance(owner, Object):
            if word in {*self.fields_held(owner), *dir(owner.cls)}:
                return self.get(owner, word, node)
            self.require_straight_line(owner, node)
            return otherwise[0]
        methods, fields = (list(among(node.args[1], had)) for had in (self.methods_held(owner), self.fields_held(owner)))
        fields = [] if methods and node is self.called_by else fields
        if not methods and not fields:
            node.args = [self.flattener.data(owner, node.args[0]), *node.args[1:]]
            return None
        if methods and fields:
            self.unit.refuse(node, f"whether `{methods[0]}` or `{fields[0]}` is asked for, a method or a value, is known "
                                   "only when this runs, which cannot be followed: give the methods a prefix")  # fmt: skip
        if otherwise and fields:
            self.require_straight_line(owner if isinstance(owner, Object) else None, node)
        cls = None if otherwise else getattr(getattr(owner, "cls", object), "__name__", "")
        which = self.number_named(node.args[1], methods or fields, cls, node)
        if methods:
            return Choice(which, [*(self.method_named(owner, word, node) for word in methods), *otherwise])
        return self.field_named(which, owner, fields, otherwise, node)

    def field_named(self, which: str, owner: Any, fields: list[str], otherwise: list[Any], node: gast.AST) -> gast.AST:
        """The value of the field that a variable numbers, or of the one behind them."""
        holder = self.unit.local("value")
        arms = []
        for word in (*fields, *[None] * len(otherwise)):
            with self.flattener.writing() as arm:
                value = otherwise[0] if word is None else self.field(owner, word, node)
            arms.append([*arm, assign(holder, self.flattener.data(value, node))])
        self.counts[holder] += len(arms)
        self.flattener.out += chosen(self.unit, which, arms, node)
        return at(node, name(holder))[0]

    def has_named(self, node: gast.Call) -> Any:
        """`hasattr(owner, word)`; None where it is an ordinary call."""
        word, owner = text_of(node.args[1]), self.flattener.operand(node.args[0])
        if isinstance(owner, Object):
            if word is not None and hasattr(owner.cls, word):
                self.looked_up(owner.cls, word)
                return constant(True)
            self.require_straight_line(None if word is None or word in owner.attributes else owner, node)
            return constant(False)
        owner = self.flattener.data(owner, node.args[0])
        if word is None or any(word in self.held_by[c] for c in self.classes_of(owner)):
            self.unit.refuse(node, "whether what may be an object that is made here has this attribute cannot be followed: "
                                   "ask for its class")  # fmt: skip
        helper = name(self.unit.helper("has_member", references.has_member))
        return self.flattener.hold(at(node, gast.Call(helper, [owner, constant(word)], []))[0])

    def require_straight_line(self, owner: Object | None, node: gast.AST) -> None:
        """Refuse to say that an object lacks an attribute where a branch, or an earlier trip of a loop, may have set it."""
        if owner is None or owner.given is not None or tuple(self.flattener.loops) != owner.loops:
            self.unit.refuse(node, "whether an object has this attribute by now cannot be followed: set it to None in "
                                   "`__init__`, and ask for that")  # fmt: skip

    def set_named(self, node: gast.Call) -> gast.AST:
        """`setattr(owner, word, value)`."""
        word, value = text_of(node.args[1]), self.evaluate(node.args[2])
        if isinstance(value, Value):
            holder = self.unit.local("value")
            self.values[holder], value = value, name(holder)
        owner = self.flattener.operand(node.args[0])
        if word is not None:
            self.set_to(node, word, value)
            return constant(None)
        fields = list(among(node.args[1], self.fields_held(owner)))
        if not fields:
            self.unit.refuse(node, "which attribute this sets is known only when it runs, which cannot be followed: loop "
                                   "over names that are written out where the loop begins")  # fmt: skip
        which = self.number_named(node.args[1], fields, "", node)
        arms = []
        for word in fields:
            with self.flattener.writing() as arm:
                self.set_to(node, word, value)
            arms.append(arm)
        self.flattener.out += chosen(self.unit, which, arms, node)
        return constant(None)

    def set_to(self, node: gast.Call, word: str, value: gast.AST) -> None:
        """`owner.word = value`."""
        target = gast.Attribute(clone(node.args[0]), word, gast.Store())
        self.flattener.statement(at(node, gast.Assign([target], clone(value), None))[0])

    def number_named(self, word: gast.AST, names: list[str], cls: str | None, node: gast.AST) -> str:
        """A variable for the place among `names` of the name that is asked for of a `cls`, or set (empty)."""
        which = self.unit.local("which")
        self.counts[which] += 2
        shown = gast.Tuple([constant(n) for n in names], gast.Load())
        helper = name(self.unit.helper("number_named", references.number_named))
        call = gast.Call(helper, [self.flattener.atom(word), shown, constant(cls)], [])
        self.flattener.out += at(node, assign(which, call))
        return which

    def method_named(self, owner: Any, word: str, node: gast.AST) -> Any:
        """The method of this name; of a reference, it is looked up where it is called."""
        if isinstance(owner, Object):
            return self.get(owner, word, node)

        def called(_: Any, arguments: list[Any], keywords: dict[str, Any], call: gast.AST) -> Any:
            return self.apply(self.field(owner, word, node), arguments, keywords, call)

        return Adapted(None, called)

    def field(self, owner: Any, word: str, node: gast.AST) -> Any:
        """`owner.word`."""
        if isinstance(owner, Object):
            return self.get(owner, word, node)
        return self.of_data(at(node, gast.Attribute(clone(owner), word, gast.Load()))[0])

    def classes_of(self, owner: Any) -> list[type]:
        """The classes that an object may be of."""
        if isinstance(owner, Object):
            return [owner.cls]
        exact = self.of_exactly.get(getattr(owner, "id", ""), ())
        return list(exact or (self.followed if isinstance(owner, gast.AST) else ()))

    def methods_held(self, owner: Any) -> set[str]:
        """The names of the methods that an object may have."""
        held = {a: f for c in self.classes_of(owner) for k in c.__mro__[:-1] for a, f in vars(k).items()}
        return {a for a, f in held.items() if isinstance(f, types.FunctionType) and not a.startswith("__")}

    def fields_held(self, owner: Any) -> set[str]:
        """The names of the other attributes that it may have."""
        if isinstance(owner, Object):
            return {*owner.attributes}
        return {a for c in self.classes_of(owner) for a in self.held_by[c]}


def spelled(unit: Unit, body: list[gast.AST]) -> set[str]:
    """The variables of lists and dicts that loops walk over to name attributes by their items or keys."""
    calls = [n for n in nodes_of(gast.Module([*body], []), CALLS) if unit.called(n) in _BY_NAME]
    words = {w for call in calls for w in mentioned(*call.args[1:2])}
    bound = [(local, s.value) for s in statements_in(body) if (local := bound_name(s)) is not None] if words else []
    walked = {owner for word, value in bound if word in words and (owner := _owner(value))}
    walks = (n for local, value in bound if local in walked for n in nodes_of(value, CALLS))
    return walked | {a.id for n in walks if unit.called(n) is runtime.keys_of for a in n.args if isinstance(a, gast.Name)}


def _owner(value: gast.AST) -> str:
    """The variable of which an expression is an item; empty for other expressions."""
    is_item = isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)
    return value.value.id if is_item else ""


_BY_NAME = (builtins.getattr, builtins.setattr)


def text_of(node: gast.AST) -> str | None:
    """The text that an expression of constants writes; None for any other."""
    parts = _parts(node)
    return None if None in parts else "".join(parts)


def among(node: gast.AST, names: set[str]) -> Iterator[str]:
    """Those of the names that begin and end as the text of an expression does, in order."""
    parts = _parts(node)
    first, last = parts[0] or "", parts[-1] or ""
    return (n for n in sorted(names) if n.startswith(first) and n.endswith(last) and len(n) >= len(first) + len(last))


def _parts(node: gast.AST) -> list[str | None]:
    """The pieces of a text in order; None for those that are not known."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
        return [*_parts(node.left), *_parts(node.right)]
    if isinstance(node, gast.JoinedStr):
        return [p for value in node.values for p in _parts(value)]
    if isinstance(node, gast.FormattedValue) and node.format_spec is None and node.conversion == -1:
        return _parts(node.value)
    value = getattr(node, "value", None) if isinstance(node, gast.Constant) else None
    return [value if isinstance(value, str) else None]
