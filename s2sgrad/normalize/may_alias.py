"""Whether a piece of a function may change what another one reads, under whatever name; before kinds are known.

    ys = xs; rows = [xs]; ..; ys[0] = 1.0; rows.append(ys)      ->      `xs` changes, for `ys[0] = ..`

Unification-based (Steensgaard's analysis): names that may stand for one object are in one class, and what is inside of these
objects, at any depth, is in another.

>>> from s2sgrad.source import read
>>> def f(x):
...     xs, out = list(x), []
...     ys = xs
...     for v in x:
...         out.append(v)
...         ys[0] = v
...     return xs, out
>>> unit, tree = Unit.of(read(f))
>>> names = MayAlias(unit, tree)
>>> [n for n in ("x", "xs", "ys", "out") if names.may_change([gast.Name(n, gast.Load(), None, None)], tree.body)]
['xs', 'ys', 'out']
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable

import gast
import numpy as np

from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour
from s2sgrad.normalize.iterables import is_ours
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import may_write
from s2sgrad.primitives.record import Gives

CHANGES_BETWEEN = ("what this function reads may change between the items that it is called with, which cannot be followed: "
                   "make a list of the items first")  # fmt: skip
_OUTSIDE = ""  # stands for all that is outside of the function
_INSIDE = {Gives.SHELL, Gives.ROWS, Gives.OPERATOR}  # new, of the same items
_PASSING = (gast.BoolOp, gast.IfExp, gast.NamedExpr)  # their value is that of a part
_HOLDING = (gast.List, gast.Tuple, gast.Set, gast.Dict, gast.Starred)
_NEW = (gast.Compare, gast.UnaryOp, gast.Constant, gast.JoinedStr)
Objects = tuple[set[str], set[str]]  # what an expression may be, and what may be inside of that; by names


def free(function: gast.AST) -> list[gast.AST]:
    """What a lambda reads besides its parameters."""
    if not isinstance(function, gast.Lambda):
        return []
    own = {p.id for p in nodes(function.args) if isinstance(p, gast.Name)}
    return [n for n in nodes(function.body) if isinstance(n, gast.Name) and n.id not in own]


class MayAlias:
    """The names of one function by the objects that they may stand for, and hold."""

    def __init__(self, unit: Unit, function: gast.AST) -> None:
        self.unit = unit
        self.nodes = list(nodes(function))
        self._class: dict[str, str] = {}

    def may_change(self, parts: list[gast.AST], body: list[gast.AST] | None = None) -> bool:
        """Whether statements, by default all, may change what these expressions read when they, or iterators over them, are
        evaluated."""
        written, attributes = self._ever if body is None else self.written(nodes(*body))
        for node in nodes(*parts):
            if isinstance(node, gast.NamedExpr) or (isinstance(node, gast.Attribute) and node.attr in attributes):
                return True
            path = isinstance(node, (gast.Name, gast.Attribute, gast.Subscript))
            if path and any(self._found(n) in written for n in self._value(node)[0]):
                return True
        return False

    def may_read(self, parts: list[gast.AST], local: str) -> bool:
        """Whether these expressions, or iterators over them, may read the object for which a variable stands."""
        self._linked  # noqa: B018
        paths = (n for n in nodes(*parts) if isinstance(n, (gast.Name, gast.Attribute, gast.Subscript)))
        return any(self._found(n) == self._found(local) for path in paths for n in set().union(*self._value(path)))

    def written(self, body: Iterable[gast.AST]) -> tuple[set[str], set[str]]:
        """The classes of the objects that nodes may write, and the attributes that they bind."""
        names, attributes = set[str](), set[str]()
        for node in body:
            if isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load):
                names |= self._value(node.value)[0]
            elif isinstance(node, gast.Attribute) and not isinstance(node.ctx, gast.Load):
                attributes.add(node.attr)
            elif isinstance(node, gast.AugAssign):
                names |= self._value(node.target)[0]
            elif isinstance(node, gast.Call):
                names |= self._written_by(node)
        self._linked  # noqa: B018
        return {self._found(n) for n in names}, attributes

    def _written_by(self, call: gast.Call) -> set[str]:
        """What a call may write; the text of a function within this one is seen by itself."""
        target = self.unit.resolve(call.func)
        if isinstance(call.func, gast.Attribute) and target is MISSING and catalogue.methods_named(call.func.attr):
            return self._value(call.func.value)[0] if may_write(call.func.attr) else set()
        if is_ours(target) or self._only_reads(target, call) or behaviour.is_pure_call(self.unit, call):
            return set()
        return {_OUTSIDE}.union(*(set().union(*self._value(a)) for a in self._operands(call)))

    def _only_reads(self, target: object, call: gast.Call) -> bool:
        """Whether what is known of a callable says that it writes none of its arguments."""
        record = catalogue.of(target)
        if record.gives is Gives.UNKNOWN or record.writes:
            return False
        passed = map(self.unit.resolve, (*call.args, *(k.value for k in call.keywords)))
        return not any(is_plain(f) and behaviour.of_callable(f).effect for f in passed)

    # --- objects ---

    def _value(self, node: gast.AST) -> Objects:
        """What an expression may stand for, and what may be inside of it."""
        if isinstance(node, gast.Name):
            names = {node.id} if node.id in self.unit.locals else {node.id, _OUTSIDE} if self._is_data(node.id) else set()
            return names, set(map(_inside, names))
        if isinstance(node, _PASSING):
            return _joined(map(self._value, _parts(node)))
        if isinstance(node, _HOLDING):
            objects, inside = _joined(map(self._value, _parts(node)))
            return set(), objects | inside
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            objects, inside = self._value(node.value)
            return inside | (objects if _is_view(node) else set()), inside
        if isinstance(node, gast.BinOp):
            return set(), self._value(node.left)[1] | self._value(node.right)[1]
        if isinstance(node, gast.Call):
            return self._result(node)
        if isinstance(node, _NEW):
            return set(), set()
        if isinstance(node, (gast.ListComp, gast.SetComp, gast.GeneratorExp)):
            return set(), set().union(*self._value(node.elt))
        names = {n.id for n in nodes(node) if isinstance(n, gast.Name)}  # a lambda, or a comprehension of a dict
        return names, names | set(map(_inside, names))

    def _is_data(self, free: str) -> bool:
        """Whether a free name may stand for something that is written: no module, class or function."""
        binding = None if free in self.unit.helpers else self.unit.primal.lookup(free)
        return binding is not None and not (callable(binding.value) or isinstance(binding.value, types.ModuleType))

    def _result(self, call: gast.Call) -> Objects:
        target = self.unit.resolve(call.func)
        objects, inside = _joined(map(self._value, self._operands(call)))
        record = catalogue.of(target) if target is not MISSING else None
        if record is None and isinstance(call.func, gast.Attribute):
            known = catalogue.methods_named(call.func.attr)
            kinds = {r.gives for r in known} or {Gives.UNKNOWN}
        else:
            kinds = {Gives.UNKNOWN if record is None else record.gives}
        if kinds <= {Gives.NEW}:
            return set(), set()
        return (set() if kinds <= _INSIDE else objects | inside), inside

    def _operands(self, call: gast.Call) -> list[gast.AST]:
        """The arguments of a call, and the object whose method it calls."""
        callee = call.func.value if isinstance(call.func, gast.Attribute) else call.func
        callees = [callee] if self.unit.resolve(call.func) is MISSING else []
        return [*callees, *call.args, *(k.value for k in call.keywords)]

    # --- classes ---

    @functools.cached_property
    def _ever(self) -> tuple[set[str], set[str]]:
        return self.written(self.nodes)

    @functools.cached_property
    def _linked(self) -> bool:
        """Unify what statements bind with what they bind it to."""
        for node in self.nodes:
            if isinstance(node, (gast.Assign, gast.AnnAssign, gast.NamedExpr, gast.AugAssign)) and node.value is not None:
                for target in getattr(node, "targets", None) or [node.target]:
                    self._bind(target, self._value(node.value))
            elif isinstance(node, (gast.For, gast.comprehension)):
                self._bind(node.target, (self._value(node.iter)[1],) * 2)
            elif isinstance(node, gast.withitem) and node.optional_vars is not None:
                self._bind(node.optional_vars, (set().union(*self._value(node.context_expr)),) * 2)
            elif isinstance(node, gast.FunctionDef):
                names = {n.id for s in node.body for n in nodes(s) if isinstance(n, gast.Name)}
                self._unify([node.name, *names & self.unit.locals] if node.name in self.unit.locals else [])
            elif isinstance(node, gast.Call) and self._written_by(node):
                self._unify(self._mixed_by(node))
        return True

    def _mixed_by(self, call: gast.Call) -> list[str]:
        """What a call may store in one another; a known method stores arguments in its object."""
        operands = list(map(self._value, self._operands(call)))
        method = isinstance(call.func, gast.Attribute) and catalogue.methods_named(call.func.attr)
        objects = [n for objects, _ in operands[1 if method else 0 :] for n in objects]
        return [*objects, *(n for _, inside in operands for n in inside)]

    def _bind(self, target: gast.AST, value: Objects) -> None:
        objects, inside = value
        if isinstance(target, gast.Name):
            self._unify([target.id, *objects])
            self._unify([_inside(target.id), *inside])
        elif isinstance(target, (gast.Tuple, gast.List, gast.Starred)):
            for part in _parts(target):
                self._bind(part, (objects | inside,) * 2)
        else:
            self._unify([*self._value(target.value)[1], *objects, *inside])

    def _unify(self, names: list[str]) -> None:
        for other in names[1:]:
            one, two = self._found(names[0]), self._found(other)
            if one != two:
                self._class[two] = one
                deep = _inside(one), _inside(two)
                if deep != (one, two):
                    self._unify([*deep])

    def _found(self, name: str) -> str:
        while name in self._class:
            name = self._class[name]
        return name


def _inside(name: str) -> str:
    return name if name.endswith("*") else f"{name}*"


def _joined(values: Iterable[Objects]) -> Objects:
    both = list(values)
    return set().union(*(o for o, _ in both)), set().union(*(i for _, i in both))


def _parts(node: gast.AST) -> list[gast.AST]:
    """The operands whose values an expression may have, or hold."""
    if isinstance(node, gast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, (gast.NamedExpr, gast.Starred)):
        return [node.value]
    return node.elts if hasattr(node, "elts") else node.values


def _is_view(node: gast.AST) -> bool:
    """Whether an item or an attribute of an array may be a view of it, of which the same items are read."""
    if isinstance(node, gast.Attribute):
        return hasattr(np.ndarray, node.attr)
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    return any(isinstance(p, gast.Slice) for p in parts)
