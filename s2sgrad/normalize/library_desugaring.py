"""Plainer words for what containers offer: `map`, `dict(..)`, `.items()`, `.get()`, `.extend()`.

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

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.ir.quote import Transformer, assign, at, clone, constant, expression, name, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize import library_tools
from s2sgrad.normalize.additions import Additions
from s2sgrad.normalize.endings import Endings
from s2sgrad.normalize.static_values import is_generator

_OPERATORS = {
    "add": gast.Add, "sub": gast.Sub, "mul": gast.Mult, "truediv": gast.Div, "matmul": gast.MatMult, "pow": gast.Pow,
}  # fmt: skip
_PLAIN = (gast.Name, gast.Attribute, gast.Lambda)
_READERS = (len, list, tuple, sorted, sum, zip, enumerate, reversed, min, max, range, float, int, itertools.chain,
            itertools.chain.from_iterable, itertools.pairwise)  # fmt: skip


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `map`, `filter` and loops over generator expressions."""
    return _Iterators(unit, tree).visit(tree)


def plainer(unit: Unit, statement: gast.AST) -> gast.AST:
    """One statement of ours, in plainer words."""
    nothing = gast.arguments([], [], None, [], [], None, [])
    return _Iterators(unit, gast.FunctionDef("", nothing, [], [], None, None, [])).visit(statement)


class _Iterators(Transformer):
    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.changed = _changed(unit, tree)  # dicts, among others
        self.consumed, self.endings = library_tools.consumed(unit, tree), Endings(unit, tree)
        self.additions = Additions(unit, tree)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        at_once = id(node) in self.consumed
        node = library_tools.spelled(self.unit, node, at_once)
        if not isinstance(node, gast.Call):
            return node
        target = self.unit.resolve(node.func)
        owner = node.func.value if target is MISSING and isinstance(node.func, gast.Attribute) else None
        if owner is not None and (_is_path(owner) or library_tools.displayed(owner, node.func.attr) is not None):
            return self.method(node)
        plain = not node.keywords and not any(isinstance(a, gast.Starred) for a in node.args)
        if plain and len(node.args) == 2 and getattr(target, "__module__", "") == "_operator":
            made = _OPERATORS.get(target.__name__)
            if made is not None:
                return at(node, gast.BinOp(node.args[0], made(), node.args[1]))[0]
        if target is builtins.dict and not node.args and node.keywords and all(k.arg for k in node.keywords):
            values = [k.value for k in node.keywords]
            return at(node, gast.Dict([constant(k.arg) for k in node.keywords], values))[0]
        if target is builtins.dict and len(node.args) == 1 and node.keywords and all(k.arg for k in node.keywords):
            keys, values = [constant(k.arg) for k in node.keywords], [k.value for k in node.keywords]
            if not isinstance(node.args[0], gast.Starred):
                return at(node, gast.Dict([None, *keys], [*node.args, *values]))[0]
        if target is builtins.dict and plain and len(node.args) == 1 and _holds_pairs(node.args[0]):
            pairs = [pair.elts for pair in node.args[0].elts]
            return at(node, gast.Dict([k for k, _ in pairs], [v for _, v in pairs]))[0]
        if target is builtins.dict and plain and len(node.args) == 1 and isinstance(node.args[0], gast.Call):
            zipped = node.args[0]
            if self.unit.resolve(zipped.func) is builtins.zip and len(zipped.args) == 2 and not zipped.keywords:
                key, item = self.unit.local("key"), self.unit.local("item")
                stored = gast.Tuple([name(key, store=True), name(item, store=True)], gast.Store())
                each = [gast.comprehension(stored, zipped, [], 0)]
                return at(node, gast.DictComp(name(key), name(item), each))[0]
        if target is builtins.map and plain and len(node.args) > 1 and isinstance(node.args[0], _PLAIN):
            f, *given = node.args
            items = [self.unit.local("item") for _ in given]
            over = given[0] if len(given) == 1 else gast.Call(self.unit.builtin(zip), given, [])
            stored = [name(i, store=True) for i in items]
            each = stored[0] if len(given) == 1 else gast.Tuple(stored, gast.Store())
            call = gast.Call(f, [name(i) for i in items], [])
            return at(node, gast.GeneratorExp(at(node, call)[0], [gast.comprehension(each, over, [], 0)]))[0]
        if target is itertools.pairwise and plain and isinstance(node.args[0], gast.Name):
            return at(node, expression("zip(x, x[1:])", zip=self.unit.builtin(zip), x=node.args[0]))[0]
        spread = len(node.args) == 1 and isinstance(node.args[0], gast.Starred) and not node.keywords
        chained = (spread or plain) and (target is itertools.chain or target == itertools.chain.from_iterable)
        if chained and at_once and not self._changes(node.args) and not self.endings.waits(node):
            whole = node.args[0].value if spread else node.args[0] if target is not itertools.chain else gast.Tuple(
                node.args, gast.Load())  # fmt: skip
            part, item = self.unit.local("part"), self.unit.local("item")
            each = [gast.comprehension(name(part, store=True), whole, [], 0),
                    gast.comprehension(name(item, store=True), name(part), [], 0)]  # fmt: skip
            return at(node, gast.ListComp(name(item), each))[0]
        if target is np.clip and {k.arg for k in node.keywords} & {"min", "max"} and len(node.args) < 3:
            words = {k.arg: k.value for k in node.keywords}
            bounds = [*node.args[1:], words.pop("min", constant(None)), words.pop("max", constant(None))]
            node.args, node.keywords = [*node.args[:1], *bounds[:2]], [gast.keyword(w, v) for w, v in words.items()]
        if target is functools.reduce:  # which runs through it at once
            node.args = [_listed(a) if isinstance(a, gast.GeneratorExp) else a for a in node.args]
        if target in (builtins.enumerate, builtins.zip):  # side by side with what is indexed
            node.args = [
                _listed(a) if isinstance(a, gast.GeneratorExp) and not self._changes([a]) else a for a in node.args
            ]
        if target is builtins.filter and plain and len(node.args) == 2:
            f, over = node.args
            item = self.unit.local("item")
            nothing = isinstance(f, gast.Constant) and f.value is None
            if nothing or isinstance(f, _PLAIN):
                test = name(item) if nothing else gast.Call(f, [name(item)], [])
                each = gast.comprehension(name(item, store=True), over, [at(node, test)[0]], 0)
                return at(node, gast.GeneratorExp(name(item), [each]))[0]
        if target is builtins.sum and len(node.args) == 2 and isinstance(node.args[0], gast.GeneratorExp):
            node.args[0] = _listed(node.args[0])
        if target in (builtins.list, builtins.tuple) and plain and len(node.args) == 1:
            zipped = node.args[0]
            tool = self.unit.resolve(zipped.func) if isinstance(zipped, gast.Call) else None
            zips = (tool is builtins.zip or tool is builtins.enumerate) and bool(zipped.args)
            if zips and any(isinstance(a, gast.Starred) for a in zipped.args):
                column = self.unit.local("column")
                each = gast.comprehension(name(column, store=True), zipped, [], 0)
                made = gast.Call(self.unit.builtin(tuple), [name(column)], [])
                node.args[0] = at(zipped, gast.GeneratorExp(at(zipped, made)[0], [each]))[0]
            elif zips:
                items = [self.unit.local("item") for _ in (zipped.args if tool is builtins.zip else range(2))]
                stored = gast.Tuple([name(i, store=True) for i in items], gast.Store())
                each = gast.comprehension(stored, zipped, [], 0)
                node.args[0] = at(zipped, gast.GeneratorExp(gast.Tuple([name(i) for i in items], gast.Load()), [each]))[0]
            if isinstance(node.args[0], gast.GeneratorExp):
                node.args[0] = _listed(node.args[0])
                return node.args[0] if target is builtins.list else node
        return node

    def _changes(self, parts: list[gast.AST]) -> bool:
        """Whether something in the function changes what these expressions read, or calls what may."""
        mentioned = {getattr(n, "id", getattr(n, "attr", None)) for p in parts for n in nodes(p)} & self.changed
        return bool(mentioned) or any(isinstance(n, gast.NamedExpr) for p in parts for n in nodes(p))

    def method(self, node: gast.Call) -> gast.AST:
        """`d.get(k, v)`, and `d.items()` where it is no loop that asks for it."""
        owner, attribute = node.func.value, node.func.attr
        called = [n for a in node.args for n in nodes(a) if isinstance(n, gast.Call)]  # Python calls all of them
        if attribute == "get" and len(node.args) in (1, 2) and not node.keywords and not called:
            asked = key = node.args[0]
            if not isinstance(key, (gast.Constant, gast.Name)):
                key = name(self.unit.local("key"))
                asked = gast.NamedExpr(name(key.id, store=True), node.args[0])
            test = gast.Compare(clone(asked), [gast.In()], [clone(owner)])
            default = node.args[1] if len(node.args) == 2 else constant(None)
            return at(node, gast.IfExp(test, gast.Subscript(owner, clone(key), gast.Load()), default))[0]
        if attribute == "clip" and {k.arg for k in node.keywords} <= {"min", "max"} and node.keywords and len(node.args) < 2:
            words = {k.arg: k.value for k in node.keywords}
            least = node.args[0] if node.args else words.get("min", constant(None))
            node.args, node.keywords = [least, words.get("max", constant(None))], []
            return node
        if attribute == "_replace" and not node.args and node.keywords and all(k.arg for k in node.keywords):
            names = gast.Tuple([constant(k.arg) for k in node.keywords], gast.Load())
            made = name(self.unit.helper("with_fields", runtime.with_fields))
            return at(node, gast.Call(made, [owner, names, *(k.value for k in node.keywords)], []))[0]
        if node.args or node.keywords or attribute not in ("items", "keys", "values"):
            return node
        if (shown := library_tools.displayed(owner, attribute)) or attribute == "keys":
            return at(node, shown or self.keys(owner))[0]
        key = self.unit.local("key")
        value = gast.Subscript(clone(owner), name(key), gast.Load())
        item = value if attribute == "values" else gast.Tuple([name(key), value], gast.Load())
        each = gast.comprehension(name(key, store=True), self.keys(owner), [], 0)
        return at(node, gast.GeneratorExp(at(node, item)[0], [each]))[0]

    def keys(self, owner: gast.AST) -> gast.AST:
        return expression("keys_of(d)", keys_of=self.unit.helper("keys_of", runtime.keys_of), d=owner)

    def visit_Assign(self, statement: gast.Assign) -> gast.AST:
        """`a, b = (..)`: a list is unpacked as well; `a, b = zip(*rows)`: the columns."""
        unpacked = isinstance(statement.targets[0], (gast.Tuple, gast.List))
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
                statement.value = _listed(statement.value)
            return statement
        if isinstance(statement.value, gast.GeneratorExp) and isinstance(statement.targets[0], (gast.Tuple, gast.List)):
            statement.value = _listed(statement.value)
        asked = statement.value.func if isinstance(statement.value, gast.Call) else None
        if isinstance(asked, gast.Attribute) and asked.attr in ("keys", "values", "items"):
            if _is_path(asked.value) and getattr(asked.value, "id", getattr(asked.value, "attr", "")) in self.changed:
                self.unit.refuse(statement.value, f"`.{asked.attr}()` of a dict that changes is kept here, which cannot be "
                                                  "followed: call it where it is read, or make a list of it")  # fmt: skip
        return self.generic_visit(statement)

    def columns(self, statement: gast.Assign, rows: gast.AST) -> list[gast.AST]:
        """`a, b = zip(*rows)`: `a = [row[0] for row in rows]`, and so on."""
        held, row = self.unit.local("rows"), self.unit.local("row")
        count = len(statement.targets[0].elts)
        first = expression("f(rows[0], n)", f=self.unit.helper("unpackable", runtime.unpackable), rows=held, n=count)
        parts = [expression("tuple([r[k] for r in rows])", tuple=self.unit.builtin(tuple), r=row, k=k, rows=held)
                 for k in range(count)]  # fmt: skip
        made = [assign(held, rows), gast.Expr(first), gast.Assign(statement.targets, gast.Tuple(parts, gast.Load()), None)]
        return [self.visit(s) for s in at(statement, *made)]

    def visit_Expr(self, statement: gast.Expr) -> gast.AST:
        """`xs.extend(ys)` as a loop of `append`."""
        self.generic_visit(statement)
        call = statement.value
        if isinstance(call, (gast.ListComp, gast.SetComp)):  # for its effects
            body: list[gast.AST] = at(statement, gast.Expr(call.elt))
            for each in reversed(call.generators):
                for test in reversed(each.ifs):
                    body = at(statement, gast.If(test, body, []))
                body = at(statement, gast.For(each.target, each.iter, body, [], None))
            return self.visit_For(body[0])
        if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and call.func.attr == "extend":
            if len(call.args) == 1 and not call.keywords and isinstance(call.func.value, gast.Name):
                return self.grown(statement, call.func.value, call.args[0])
        return statement

    def visit_AugAssign(self, statement: gast.AugAssign) -> gast.AST:
        """`xs += [..]` of what is a list by its text."""
        self.generic_visit(statement)
        made = library_tools.merged(statement)
        if made is not statement:
            return made
        target = statement.target
        if isinstance(target, gast.Name) and target.id in self.additions.lists and isinstance(statement.op, gast.Add):
            return self.additions.written(statement, self.grown)
        return statement

    def grown(self, statement: gast.AST, owner: gast.Name, more: gast.AST) -> gast.AST:
        item = self.unit.local("item")
        append = gast.Expr(expression("xs.append(v)", xs=owner.id, v=item))
        return self.visit_For(at(statement, gast.For(name(item, store=True), more, at(statement, append), [], None))[0])

    def comprehension(self, node: gast.AST) -> gast.AST:
        """`for v in (e for k in ks)` inside a comprehension is `for k in ks`, with e for v."""
        self.generic_visit(node)
        if isinstance(node, gast.GeneratorExp) and len(node.generators) > 1:
            self.endings.require(node, node)
        for n, generator in enumerate(node.generators):
            inner = generator.iter
            if not isinstance(inner, gast.GeneratorExp):
                continue
            parts = _aligned(generator.target, inner.elt)
            if parts is None or len(inner.generators) > 1:
                self.endings.require(node, inner)
                generator.iter = inner if id(node) in self.endings.looped else _listed(inner)
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

    visit_ListComp = visit_GeneratorExp = visit_DictComp = visit_SetComp = comprehension

    def visit_For(self, loop: gast.For) -> gast.AST:
        asked = loop.iter
        if isinstance(asked, gast.Call) and getattr(asked.func, "attr", "") == "items" and not asked.args:
            pair = loop.target
            owner = asked.func.value
            simple = isinstance(pair, gast.Tuple) and len(pair.elts) == 2 and isinstance(pair.elts[0], gast.Name)
            if simple and _is_path(owner) and self.unit.resolve(asked.func) is MISSING:
                value = gast.Subscript(clone(owner), name(pair.elts[0].id), gast.Load())
                loop.body = at(loop, gast.Assign([pair.elts[1]], value, None)) + loop.body
                loop.target, loop.iter = pair.elts[0], at(asked, self.keys(owner))[0]
        if isinstance(asked, gast.Call) and self.unit.resolve(asked.func) is builtins.enumerate and len(asked.args) == 1:
            self.enumerated(loop, asked)
        for part in nodes(asked):
            if isinstance(part, gast.Call) and self.unit.resolve(part.func) is itertools.pairwise:
                over = {n.id for n in nodes(part) if isinstance(n, gast.Name)}
                if any(isinstance(n, gast.Name) and n.id in over for s in loop.body for n in nodes(s)):
                    self.unit.refuse(part, "a loop over the neighbours in what it mentions itself cannot be followed: loop "
                                           "over `zip(x, x[1:])`")  # fmt: skip
        self.generic_visit(loop)
        while isinstance(loop.iter, gast.GeneratorExp):
            if len(loop.iter.generators) > 1:
                loop.iter = _listed(loop.iter)
                break
            (generator,) = loop.iter.generators
            body = [*at(loop, assign(clone(loop.target), loop.iter.elt)), *loop.body]
            for test in reversed(generator.ifs):
                body = at(loop, gast.If(test, body, []))
            loop.target, loop.iter, loop.body = generator.target, generator.iter, body
        return loop

    def enumerated(self, loop: gast.For, asked: gast.Call) -> None:
        """`for i, (k, v) in enumerate(d.items())` over the keys, of which each value is read when its turn comes."""
        inner, pair = asked.args[0], loop.target
        method = inner.func.attr if isinstance(inner, gast.Call) and isinstance(inner.func, gast.Attribute) else ""
        if method not in ("items", "values") or inner.args or self.unit.resolve(inner.func) is not MISSING:
            return
        owner = inner.func.value
        if isinstance(owner, gast.Name) and isinstance(pair, gast.Tuple) and len(pair.elts) == 2:
            key = self.unit.local("key")
            value: gast.AST = gast.Subscript(clone(owner), name(key), gast.Load())
            value = value if method == "values" else gast.Tuple([name(key), value], gast.Load())
            loop.body = at(loop, gast.Assign([pair.elts[1]], value, None)) + loop.body
            pair.elts[1], asked.args[0] = name(key, store=True), at(inner, self.keys(owner))[0]


def _listed(node: gast.GeneratorExp) -> gast.ListComp:
    return at(node, gast.ListComp(node.elt, node.generators))[0]


def _results(node: gast.AST) -> list[gast.AST]:
    return [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]


def _aligned(target: gast.AST, value: gast.AST) -> dict[str, gast.AST] | None:
    """Which plain expression each name of a target stands for; None where one is more than a look-up."""
    if isinstance(target, gast.Name):
        owner = value
        while isinstance(owner, gast.Subscript):
            owner = owner.value
        return {target.id: value} if isinstance(owner, gast.Name) else None
    if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts):
        parts = [_aligned(t, v) for t, v in zip(target.elts, value.elts, strict=True)]
        return None if None in parts else {k: v for part in parts for k, v in part.items()}
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


def _holds_pairs(node: gast.AST) -> bool:
    """Whether an expression is a list of pairs in the text."""
    shown = isinstance(node, (gast.List, gast.Tuple))
    return shown and all(isinstance(e, (gast.List, gast.Tuple)) and len(e.elts) == 2 for e in node.elts)


def _is_path(node: gast.AST) -> bool:
    """Whether an expression is a name, or an attribute of what a name stands for."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)


def _changed(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The names that a store, a method or a call may change."""
    out: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load):
            out |= {getattr(node.value, "id", getattr(node.value, "attr", ""))}
        elif isinstance(node, gast.Call):
            method = node.func.attr if isinstance(node.func, gast.Attribute) else ""
            owners = [node.func.value] if method in effects.MUTATING_METHODS else []
            target = unit.resolve(node.func)
            handed = [] if effects.is_one_of(target, _READERS) or effects.is_pure_function(target) else node.args
            out |= {getattr(n, "id", getattr(n, "attr", "")) for n in (*owners, *handed)}
    return out
