"""`map`, `filter` and `dict(..)` are generator expressions and displays; loops over generator expressions are loops.

    for y in map(f, xs): s += y      ->      for v in xs: y = f(v); s += y

>>> from s2sgrad.pipeline import shown
>>> print(shown('''
... def f(x, xs):
...     d = dict(a=x)
...     for y in (v * v for v in filter(None, xs) if v < 3):
...         x = x + y
...     return sum(map(np.sin, xs), d["a"])
... ''', "iterators"))
def f(x, xs):
    d = {'a': x}
    for item in xs:
        if item:
            v = item
            if v < 3:
                y = v * v
                x = x + y
    return sum([np.sin(item_2) for item_2 in xs], d['a'])
"""

from __future__ import annotations

import builtins

import gast

from s2sgrad.quote import assign, at, clone, constant, name
from s2sgrad.unit import Unit

_PLAIN = (gast.Name, gast.Attribute, gast.Lambda)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `map`, `filter` and loops over generator expressions."""
    return _Iterators(unit).visit(tree)


class _Iterators(gast.NodeTransformer):
    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        target = self.unit.resolve(node.func)
        plain = not node.keywords and not any(isinstance(a, gast.Starred) for a in node.args)
        if target is builtins.dict and not node.args and node.keywords and all(k.arg for k in node.keywords):
            values = [k.value for k in node.keywords]
            return at(node, gast.Dict([constant(k.arg) for k in node.keywords], values))[0]
        if target is builtins.map and plain and len(node.args) > 1 and isinstance(node.args[0], _PLAIN):
            f, *given = node.args
            items = [self.unit.local("item") for _ in given]
            over = given[0] if len(given) == 1 else gast.Call(self.unit.builtin(zip), given, [])
            stored = [name(i, store=True) for i in items]
            each = stored[0] if len(given) == 1 else gast.Tuple(stored, gast.Store())
            call = gast.Call(f, [name(i) for i in items], [])
            return at(node, gast.GeneratorExp(at(node, call)[0], [gast.comprehension(each, over, [], 0)]))[0]
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
            if isinstance(node.args[0], gast.GeneratorExp):
                node.args[0] = _listed(node.args[0])
                return node.args[0] if target is builtins.list else node
        return node

    def visit_For(self, loop: gast.For) -> gast.AST:
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


def _listed(node: gast.GeneratorExp) -> gast.ListComp:
    return at(node, gast.ListComp(node.elt, node.generators))[0]
