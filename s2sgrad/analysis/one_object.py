"""Points-to analysis of the names of a function: which lists and dicts may be one object, or stand in one another.

    c = a if x > 0 else b; c.append(x)      ->      {a, b, c}: the kind of an item is one for all of them
    rows = [a]; rows[0].append(x)           ->      `a` is in what `rows` stands for

Each expression that makes something stands for one object (Andersen's analysis): a name has a set of them, and so has all
that is inside of an object.  A name has one set for each binding, and one where branches or trips meet.

>>> import gast
>>> from s2sgrad.driver.pipeline import normalizing
>>> from s2sgrad.source import read
>>> def f(x):
...     a, b, other = [], [], []
...     c = a if x > 0.0 else b
...     c.append(x)
...     rows = [c]
...     return a, b, rows[0], other
>>> *_, (_, unit, tree) = normalizing(read(f))
>>> same = OneObject(unit, tree.body)
>>> sorted(n for n in same.named("c") if n in "abc"), sorted(n for n in same.named("a") if n in "abc")
(['a', 'b', 'c'], ['a', 'c'])
>>> sorted(same.around("a")), "other" in same.named("a")
(['result', 'rows'], False)
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.flow.counts import binding_counts
from s2sgrad.ir.forms import appended_to, arguments_of, bound_name
from s2sgrad.ir.quote import IS_COMPOUND, LOOPS
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue, methods
from s2sgrad.primitives.record import Gives

_ALONE = (Gives.NEW, Gives.VIEW, Gives.CONTIGUOUS)  # of what is in no list or dict
_MOST = 20  # rounds
_FIRST = 2  # the sign of the first part of a tuple
_EVER = 0  # the version of a name for all of its bindings
Objects = set[int]
Version = tuple[str, int]  # a name, with the identity of where it is bound, or where bindings meet
Returned = Callable[[Any, gast.Call], Any]  # as `mod_ref.returned_arguments`
Key = TypeVar("Key")


class OneObject:
    """The objects for which the names of a function may stand, whenever that is; `returned` says which arguments the result
    of a call of a user's function may alias, and of which only the contents.
    """

    def __init__(
        self, unit: Unit, body: list[gast.AST], returned: Returned = lambda function, call: None
    ) -> None:  # fmt: skip
        self.unit, self.returned = unit, returned
        self._names: dict[Version, Objects] = {}
        self._insides: dict[int, Objects] = {}
        self._parts: dict[int, list[Objects]] = {}  # of tuples of which each part is known
        self._given: dict[str, int] = {}  # what was there before
        self._around: list[int] = [_EVER]  # the compound statements in which the one that is read stands
        self._changed = True
        for _ in range(_MOST):
            if not self._changed:
                return
            self._changed = False
            self._now: dict[str, Version | None] = {}  # the bindings that reach the statement that is read
            self._block(body)
        everything = set().union(*self._names.values())
        self._names = {version: set(everything) for version in self._names}
        self._insides = dict.fromkeys(everything, everything)

    # --- questions ---

    def named(self, name: str) -> set[str]:
        """The names that may stand for an object for which this one may stand."""
        return {name}.union(*(self._names_of[o] for o in self._ever(name)))

    def around(self, name: str) -> set[str]:
        """The names of what such an object may stand in."""
        owners = set().union(*(self._owners_of.get(o, ()) for o in self._ever(name)))
        return set().union(*(self._names_of.get(o, ()) for o in owners)) - {name}

    def _ever(self, name: str) -> Objects:
        return self._names.get((name, _EVER), set())

    @functools.cached_property
    def _names_of(self) -> dict[int, set[str]]:
        """By object: the names that may stand for it."""
        return _inverted({name: objects for (name, version), objects in self._names.items() if version == _EVER})

    @functools.cached_property
    def _owners_of(self) -> dict[int, Objects]:
        """By object: the objects that it may stand in."""
        return _inverted(self._insides)

    # --- statements ---

    def _block(self, body: list[gast.AST]) -> None:
        for statement in body:
            self._compound(statement) if type(statement) in IS_COMPOUND else self._read(statement)

    def _compound(self, statement: gast.AST) -> None:
        """A branch or a loop; any binding in it, or before it, reaches what follows, and of a loop the next trip."""
        bound = binding_counts([statement])
        before, after = {n: self._now.get(n) for n in bound}, {n: (n, id(statement)) for n in bound}
        for name, version in after.items():
            self._grow(self._names.setdefault(version, set()), self._named_now(name))
        self._around.append(id(statement))
        outside = dict(self._now)
        for block in (statement.body, statement.orelse):
            self._now = outside | (after if isinstance(statement, LOOPS) else before)
            self._block(block)
        self._around.pop()
        self._now = outside | after

    def _read(self, statement: gast.AST) -> None:
        if effects.accumulates(self.unit, statement) is not None and bound_name(statement) in self._now:
            owner, *_, item = statement.value.args
            if self.unit.called(statement.value) not in effects.DEEP:
                self._put(self._value(owner), self._value(item))
        elif isinstance(statement, gast.Assign):
            for target in statement.targets:
                self._assign(target, statement.value)
        elif isinstance(statement, gast.AugAssign):
            self._put(self._value(statement.target), self._inside(self._value(statement.value)))
        elif isinstance(statement, gast.Expr) and isinstance(call := statement.value, gast.Call):
            owner = appended_to(call)
            if owner is None and len(call.args) == 2 and self.unit.resolve(call.func) is runtime.push:
                owner = call.args[0]
            if owner is not None:
                self._put(self._value(owner), self._value(call.args[-1]))

    def _assign(self, target: gast.AST, value: gast.AST) -> None:
        parts = (target.elts, value.elts) if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) else ((), ())
        values = [self._value(v) for v in parts[1]]
        if not values or len(values) != len(parts[0]):
            self._bind(target, self._value(value))
        for part, held in zip(parts[0], values, strict=False):
            self._bind(part, held)

    def _bind(self, target: gast.AST, value: Objects) -> None:
        if isinstance(target, gast.Name):
            self._now[target.id] = (target.id, id(target))
            for version in (id(target), *self._around):
                self._grow(self._names.setdefault((target.id, version), set()), value)
        elif isinstance(target, gast.Subscript):
            section = isinstance(target.slice, gast.Slice)
            self._put(self._value(target.value), self._inside(value) if section else value)
        elif isinstance(target, (gast.Tuple, gast.List)):
            for k, part in enumerate(target.elts):
                self._bind(part, set().union(*(self._part(o, k, len(target.elts)) for o in value)))

    # --- expressions ---

    def _value(self, node: gast.AST) -> Objects:
        if isinstance(node, gast.Name):
            return self._named_now(node.id)
        if isinstance(node, gast.Subscript):
            items = self._inside(self._value(node.value))
            return self._shell(node, items) if isinstance(node.slice, gast.Slice) else items
        if isinstance(node, (gast.Tuple, gast.List, gast.Dict)):
            return self._shell(node, self._all(node.values if isinstance(node, gast.Dict) else node.elts))
        if isinstance(node, gast.Call):
            return self._call(node)
        if isinstance(node, gast.BoolOp):
            return self._all(node.values)
        if isinstance(node, gast.IfExp):
            return self._all([node.body, node.orelse])
        parts = [node.left, node.right] if isinstance(node, gast.BinOp) else []  # of lists: the items of both
        return self._shell(node, self._inside(self._all(parts)))

    def _all(self, parts: Iterable[gast.AST]) -> Objects:
        return set().union(*(self._value(p) for p in parts if not isinstance(p, gast.Constant)))

    def _call(self, node: gast.Call) -> Objects:
        """What a call gives: something new, an item of what it is given, or any of this and of what is in it."""
        target = self.unit.resolve(node.func)
        given = [a.value if isinstance(a, gast.Starred) else a for a in arguments_of(node)]
        record = catalogue.of(target)
        gives = record.gives
        if isinstance(node.func, gast.Attribute) and target is MISSING:
            given.insert(0, node.func.value)
            gives = Gives.ITEM if catalogue.on_stack(node.func.attr) else methods.may_be(node.func.attr)
        elif record.shared in range(len(node.args)):
            given = given[record.shared : record.shared + 1]
        if gives in _ALONE or (gives is Gives.MAYBE and record.gives_array and record.shared is None):
            return self._shell(node, set())
        if record.keeps_kind:
            return self._all(given)
        if gives is Gives.SHELL:
            return self._shell(node, self._inside(self._all(given)))
        if gives is Gives.ROWS:
            row = self._shell(node, self._inside(self._all(given)), -1)
            return self._shell(node, row)
        if gives is Gives.ITEM:
            return self._inside(self._all(given[:1])) | self._all(given[1:])
        if record.viewed is not None and gives is not Gives.UNKNOWN and target is not MISSING:
            given = given[record.viewed : record.viewed + 1]
        return self._returned(node, target, given)

    def _returned(self, node: gast.Call, target: Any, given: list[gast.AST]) -> Objects:
        """What a call gives that may return an argument, or what is in it, however deep, or something new that holds it."""
        returned = self.returned(target, node) if isinstance(target, types.FunctionType) else None
        whole, inside, parts = (given, [], ()) if returned is None else returned
        out = self._reached(whole, inside)
        (made,) = self._shell(node, out)
        if parts:
            found = (self._reached(part.whole, part.inside) for part in parts)
            self._parts[made] = [out | self._shell(node, out, k) for k, out in enumerate(found, _FIRST)]
        return {made} if parts else out | {made}

    def _reached(self, whole: list[gast.AST], inside: list[gast.AST]) -> Objects:
        """What some expressions give, with what is in it, and what is in others."""
        out = self._all(whole) | self._inside(self._all(inside))
        while (more := out | self._inside(out)) != out:
            out = more
        return out

    def _part(self, owner: int, k: int, n: int) -> Objects:
        """What part `k` of what is unpacked into `n` may be."""
        parts = self._parts.get(owner, ())
        return parts[k] if len(parts) == n else self._insides.get(owner, set())

    # --- objects ---

    def _named_now(self, name: str) -> Objects:
        """What a name stands for here; of what it stands for from the beginning, one object is all that is in it."""
        version = self._now.get(name)
        if version is not None:
            return self._names[version]
        found = self._given.setdefault(name, -2 - 2 * len(self._given))
        self._insides.setdefault(found, {found - 1})
        self._insides.setdefault(found - 1, {found - 1})
        self._names.setdefault((name, _EVER), set()).add(found)
        return {found}

    def _shell(self, node: gast.AST, items: Objects, sign: int = 1) -> Objects:
        """The new object that an expression makes."""
        made = sign * id(node)
        self._grow(self._insides.setdefault(made, set()), items)
        return {made}

    def _inside(self, objects: Objects) -> Objects:
        return set().union(*(self._insides.get(o, ()) for o in objects))

    def _put(self, owners: Objects, items: Objects) -> None:
        for owner in set(owners):
            self._grow(self._insides.setdefault(owner, set()), items)

    def _grow(self, held: Objects, more: Objects) -> None:
        if not more <= held:
            held |= more
            self._changed = True


def _inverted(relation: dict[Key, Objects]) -> dict[int, set[Key]]:
    out: dict[int, set[Key]] = {}
    for key, objects in relation.items():
        for one in objects:
            out.setdefault(one, set()).add(key)
    return out
