"""Desugars uses of containers: `map`, `dict(..)`, `.items()`, `.get()`, `.extend()`.

    for y in map(f, xs): s += y      ->      for v in xs: y = f(v); s += y
    for k, v in d.items(): s += v    ->      for k in keys_of(d): v = d[k]; s += v

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, xs):
...     d = dict(a=x)
...     for y in (v * v for v in filter(None, xs) if v < 3):
...         x = x + y
...     for name, v in d.items():
...         x = x * v
...     return sum(map(np.sin, xs), d.get("a", 0.0))
... ''', "library_desugaring"))
def f(x, xs):
    d = {'a': x}
    for item in xs:
        if item:
            if item < 3:
                y = item * item
                x = x + y
    for name in keys_of(d):
        v = d[name]
        x = x * v
    return sum([np.sin(item_) for item_ in xs], d['a'] if 'a' in d else 0.0)
"""

from __future__ import annotations

import builtins
import functools
import itertools
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.user_functions import is_generator
from s2sgrad.ir import notes
from s2sgrad.ir.quote import Transformer, assign, at, clone, expression, name, nodes, placed, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import dict_views, displays, instances, iterables, library, made_of, polynomials
from s2sgrad.normalize._calls import may_have_method
from s2sgrad.normalize.library.arrays import flat_places, flat_section, is_unbuffered, raveled, raveled_arguments
from s2sgrad.normalize.library.table import listed
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import is_named
from s2sgrad.runtime.structure import place_of


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `map`, `filter` and loops over generator expressions."""
    tree = polynomials.run(unit, made_of.run(unit, instances.run(unit, tree)))
    return _Desugarer(unit, tree).visit(tree)


def plainer(unit: Unit, statement: gast.AST) -> gast.AST:
    """One statement that another pass made, desugared."""
    nothing = gast.arguments([], [], None, [], [], None, [])
    return _Desugarer(unit, gast.FunctionDef("", nothing, [], [], None, None, [])).visit(statement)


class _Desugarer(Transformer):
    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.scope = library.Scope(unit, tree)
        self.endings, self.additions = self.scope.endings, self.scope.absorption.additions
        self.dicts = displays.dicts(unit, tree)
        self.records, self.objects = displays.records(unit, tree), displays.objects(unit, tree)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        target = self.unit.resolve(node.func)
        if target is not builtins.next and (catalogue.of(target).pure or is_one_of(target, iterables.LAZY)):
            node.args = raveled_arguments(self.unit, node, target)
        if (owner := self.list_of(node, list.index)) is not None:
            return at(node, gast.Call(name(self.unit.helper("place_of", place_of)), [owner, *node.args], []))[0]
        result = library.desugared(self.scope, node)
        if isinstance(result, gast.GeneratorExp) and id(node) in self.endings.looped:
            self.endings.looped.add(id(result))
        return self.joined(result) if isinstance(result, (gast.GeneratorExp, gast.DictComp)) else result  # `map` of `filter`

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        """`optimize.root(f, x0).x` as `optimize.root(f, x0)["x"]`: such a result has items alone."""
        is_item = isinstance(node.ctx, gast.Load) and displays.is_record(self.unit, node.value, self.records)
        if is_item and node.attr in self.objects:
            self.unit.no_rule(node, f"`{node.attr}` is a function that was found, of which no derivative is known: use the "
                                    "states at the mesh, `y`")  # fmt: skip
        self.generic_visit(node)
        return displays.item(node) if is_item and not hasattr(dict, node.attr) else node

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        return displays.united(node, self.dicts) or node

    def visit_SetComp(self, node: gast.SetComp) -> gast.AST:
        """`{e for v in xs}` as a set of a list; elements of sets have no derivative."""
        self.comprehension(node)
        return at(node, gast.Call(self.unit.builtin(set), [gast.ListComp(node.elt, node.generators)], []))[0]

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        if isinstance(node.ctx, gast.Store):
            node = flat_places(self.unit, node)
        else:
            node = flat_section(self.unit, node)
        if isinstance(node, gast.Subscript):
            node.value = raveled(self.unit, node.value)
        return self.generic_visit(node)

    def visit_Assign(self, statement: gast.Assign) -> gast.AST:
        """Unpacked generators and `map` become lists; `a, b = zip(*rows)` becomes the columns."""
        if is_unbuffered(self.unit, statement):
            owner, held = statement.targets[0].value.value, self.unit.temp()
            check = expression("f(n, x, v)", f=self.unit.helper("apart", runtime.apart), n=statement.lineno, x=clone(owner),
                               v=held)  # fmt: skip
            before = at(statement, assign(held, statement.value), gast.Expr(check))
            statement.value = at(statement, name(held))[0]
            return [*(self.visit(s) for s in before), self.generic_visit(statement)]
        unpacked = isinstance(statement.targets[0], (gast.Tuple, gast.List))
        if unpacked and len(statement.targets) == 1:
            statement.value = raveled(self.unit, statement.value)
        if unpacked and isinstance(statement.value, gast.Call):
            target = self.unit.resolve(statement.value.func)
            strict = any(getattr(k.value, "value", True) for k in statement.value.keywords)
            if target is builtins.zip and len(statement.value.args) == 1 and not strict:
                if isinstance(statement.value.args[0], gast.Starred):
                    return self.columns(statement, statement.value.args[0].value)
            if is_generator(target):
                statement.value = at(statement, gast.Call(self.unit.builtin(list), [statement.value], []))[0]
            self.generic_visit(statement)
            if isinstance(statement.value, gast.GeneratorExp):  # of `map`
                statement.value = listed(self.unit, statement.value)
            return self.unpacked(statement)
        if isinstance(statement.value, gast.GeneratorExp) and unpacked:
            statement.value = listed(self.unit, statement.value)
        view = dict_views.of(self.unit, statement.value)
        if view is not None and dict_views.is_path(view.owner):
            if self.scope.changes([view.owner]):
                self.unit.refuse(statement.value, f"`.{view.which}()` of a dict that changes is kept here, which cannot be "
                                                  "followed: call it where it is read, or make a list of it")  # fmt: skip
        self.generic_visit(statement)
        return self.unpacked(statement) if unpacked else statement

    def unpacked(self, statement: gast.Assign) -> gast.Assign:
        """`p, q = [f(v) for v in (a, b)]` as `p, q = f(a), f(b)`."""
        value = statement.value
        if len(statement.targets) > 1:
            return statement
        if is_one_of(self.unit.called(value), (tuple, list)) and len(value.args) == 1 and not value.keywords:
            value = value.args[0]
        items = displays.unrolled(statement.targets[0], value, self.bound_elsewhere)
        statement.value = statement.value if items is value else items
        return statement

    @functools.cached_property
    def bound_elsewhere(self) -> set[str]:
        """The names that nested functions bind."""
        return {n for part in self.scope.nodes if isinstance(part, (gast.Nonlocal, gast.Global)) for n in part.names}

    def columns(self, statement: gast.Assign, rows: gast.AST) -> list[gast.AST]:
        """`a, b = zip(*rows)`: `a = tuple([row[0] for row in rows])`, and so on."""
        table, row = self.unit.local("rows"), self.unit.local("row")
        count = len(statement.targets[0].elts)
        first = expression("f(rows[0], n)", f=self.unit.helper("unpackable", runtime.unpackable), rows=table, n=count)
        parts = [expression("tuple([r[k] for r in rows])", tuple=self.unit.builtin(tuple), r=row, k=k, rows=table)
                 for k in range(count)]  # fmt: skip
        out = [assign(table, rows), gast.Expr(first), gast.Assign(statement.targets, gast.Tuple(parts, gast.Load()), None)]
        return [self.visit(s) for s in at(statement, *out)]

    def visit_Expr(self, statement: gast.Expr) -> gast.AST:
        """`xs.extend(ys)` as a loop of `append`; `xs.remove(v)` of a list as `del` of its index."""
        self.generic_visit(statement)
        call = statement.value
        if isinstance(call, (gast.ListComp, gast.SetComp)):  # evaluated for its effects
            body: list[gast.AST] = at(statement, gast.Expr(call.elt))
            for each in reversed(call.generators):
                for test in reversed(each.ifs):
                    body = at(statement, gast.If(test, body, []))
                body = at(statement, gast.For(each.target, each.iter, body, [], None))
            return self.visit_For(body[0])
        if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and call.func.attr == "extend":
            owned = isinstance(call.func.value, gast.Name) and may_have_method(self.unit, call.func, list)
            if len(call.args) == 1 and not call.keywords and owned:
                return self.grown(statement, call.func.value, call.args[0], "extend")
        removed = self.removed(call)
        return statement if removed is None else at(statement, removed)[0]

    def removed(self, call: gast.AST) -> gast.AST | None:
        """`del xs[place_of(xs, v)]` for `xs.remove(v)`, if `xs` is always a list; None for anything else."""
        if (owner := self.list_of(call, list.remove)) is None:
            return None
        place = self.unit.helper("place_of", place_of)
        return statements("del xs[f(xs, v)]", xs=owner.id, v=call.args[0], f=place)[0]

    def list_of(self, call: gast.AST, method: Any) -> gast.Name | None:
        """The variable, always a list, on which this method is called with one argument."""
        called = call.func if isinstance(call, gast.Call) and len(call.args) == 1 and not call.keywords else None
        owner = called.value if isinstance(called, gast.Attribute) and is_named(called.attr, method) else None
        return owner if isinstance(owner, gast.Name) and owner.id in self.additions.lists else None

    def visit_AugAssign(self, statement: gast.AugAssign) -> gast.AST:
        """`xs += [..]`, if `xs` is always a list, and `d |= {..}`."""
        self.generic_visit(statement)
        updated = displays.updated(statement, self.dicts)
        if updated is not None:
            return updated
        target = statement.target
        if isinstance(target, gast.Name) and target.id in self.additions.lists and isinstance(statement.op, gast.Add):
            return self.additions.written(statement, self.grown)
        return statement

    def grown(self, statement: gast.AST, owner: gast.Name, more: gast.AST, method: str = "") -> gast.AST:
        """`owner.extend(more)` as a loop of `append`."""
        item = self.unit.local("item")
        append = gast.Expr(placed(statement, expression("xs.append(v)", xs=owner.id, v=item)))
        if method and owner.id not in self.additions.lists:
            notes.METHOD.put(append.value, method)  # `flatten` checks that the owner is a list, if its kind is unknown
        return self.visit_For(at(statement, gast.For(name(item, store=True), more, at(statement, append), [], None))[0])

    def comprehension(self, node: gast.AST) -> gast.AST:
        """Nested generator expressions are merged: `for v in (e for k in ks)` becomes `for k in ks`, with e for v."""
        self.generic_visit(node)
        return self.joined(node)

    def joined(self, node: gast.AST) -> gast.AST:
        """A desugared comprehension, merged with the generator expressions that it iterates over."""
        if isinstance(node, gast.GeneratorExp) and len(node.generators) > 1:
            self.endings.require(node, node)
        for n, generator in enumerate(node.generators):
            inner = generator.iter = raveled(self.unit, generator.iter)
            if not isinstance(inner, gast.GeneratorExp):
                continue
            parts = _aligned(generator.target, inner.elt)
            if parts is None or len(inner.generators) > 1:
                self.endings.require(node, inner)
                generator.iter = inner if id(node) in self.endings.looped else listed(self.unit, inner)
                continue
            (each,) = inner.generators
            for part in [*generator.ifs, *node.generators[n + 1 :], *_results(node)]:
                _replace(part, parts)
            for field in ("elt", "key", "value"):
                value = getattr(node, field, None)
                if isinstance(value, gast.Name) and value.id in parts:
                    setattr(node, field, clone(parts[value.id]))
            generator.ifs = [clone(parts[t.id]) if isinstance(t, gast.Name) and t.id in parts else t for t in generator.ifs]
            generator.target, generator.iter, generator.ifs = each.target, each.iter, [*each.ifs, *generator.ifs]
        return node

    visit_ListComp = visit_GeneratorExp = visit_DictComp = comprehension

    def visit_For(self, loop: gast.For) -> gast.AST:
        loop.iter = raveled(self.unit, loop.iter)
        self.over_dict(loop)
        self.require_other_neighbours(loop)
        self.generic_visit(loop)
        while isinstance(loop.iter, gast.GeneratorExp):
            if len(loop.iter.generators) > 1:
                loop.iter = listed(self.unit, loop.iter)
                break
            (generator,) = loop.iter.generators
            body = [*at(loop, assign(clone(loop.target), loop.iter.elt)), *loop.body]
            for test in reversed(generator.ifs):
                body = at(loop, gast.If(test, body, []))
            loop.target, loop.iter, loop.body = generator.target, generator.iter, body
        return loop

    def over_dict(self, loop: gast.For) -> None:
        """`for k, v in d.items()`, or `for i, v in enumerate(d.values())`, as a loop over the keys that reads each value in
        its trip."""
        asked, pair = loop.iter, loop.target
        is_pair = isinstance(pair, gast.Tuple) and len(pair.elts) == 2
        view = dict_views.of(self.unit, asked)
        if view is not None and view.which == "items" and is_pair and isinstance(pair.elts[0], gast.Name):
            if dict_views.is_path(view.owner):
                loop.body = at(loop, gast.Assign([pair.elts[1]], dict_views.value(view, pair.elts[0].id), None)) + loop.body
                loop.target, loop.iter = pair.elts[0], at(asked, dict_views.keys(self.unit, view.owner))[0]
            return
        called = self.unit.called(asked)
        counted = called is builtins.enumerate and len(asked.args) == 1
        view = dict_views.of(self.unit, asked.args[0]) if counted else None
        if view is not None and view.which != "keys" and is_pair and isinstance(view.owner, gast.Name):
            key = self.unit.local("key")
            loop.body = at(loop, gast.Assign([pair.elts[1]], dict_views.item(view, key), None)) + loop.body
            pair.elts[1], asked.args[0] = name(key, store=True), at(asked.args[0], dict_views.keys(self.unit, view.owner))[0]

    def require_other_neighbours(self, loop: gast.For) -> None:
        """Refuse a loop over `pairwise(xs)` that changes `xs`."""
        for part in nodes(loop.iter):
            if self.unit.called(part) is itertools.pairwise:
                if self.scope.names.may_change([part], loop.body):
                    self.unit.refuse(part, "a loop over the neighbours in what it mentions itself cannot be followed: loop "
                                           "over `zip(x, x[1:])`")  # fmt: skip


def _results(node: gast.AST) -> list[gast.AST]:
    return [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]


def _aligned(target: gast.AST, value: gast.AST) -> dict[str, gast.AST] | None:
    """The simple expression that each name of a target stands for; None if one is more than a lookup."""
    if isinstance(target, gast.Name):
        owner = value
        while isinstance(owner, gast.Subscript):
            owner = owner.value
        return {target.id: value} if isinstance(owner, gast.Name) else None
    if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts):
        parts = [_aligned(t, v) for t, v in zip(target.elts, value.elts, strict=True)]
        return None if None in parts else {k: v for part in parts if part is not None for k, v in part.items()}
    return None


def _replace(node: gast.AST, values: dict[str, gast.AST]) -> None:
    for part in nodes(node):
        for key, value in part.__dict__.items():
            if isinstance(value, gast.Name) and value.id in values:
                part.__dict__[key] = clone(values[value.id])
            elif isinstance(value, list):
                part.__dict__[key] = [
                    clone(values[v.id]) if isinstance(v, gast.Name) and v.id in values else v for v in value
                ]
