"""`del x` of a local name is dropped, if the name is not read before it is bound again; `del` of items becomes a method.

    y = x * x; z = y + x; del y; return z       ->      y = x * x; z = y + x; return z
    del d["a"], xs[1:3]                         ->      d.pop("a"); xs[1:3] = []

Names are checked in the normal form, whose control flow shows every read after a `del`.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, n):
...     for i in range(n):
...         y = x * x
...         x = y
...         del y, i
...     return x
... ''', "deletes"))
def f(x, n):
    for i in range(n):
        y = x * x
        x = y
    result = x
    return result
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.flow.facts import Facts
from s2sgrad.ir.quote import assign, at, name, nodes, rewritten
from s2sgrad.ir.unit import Unit

_FUNCTIONS = (gast.Lambda, gast.FunctionDef)  # they read their free names when called


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `del`; raises Unsupported if the name may be read after it, or unbound before it."""
    if not any(isinstance(s, gast.Delete) for s in effects.walk(tree.body)):
        return tree
    marks: set[int] = set()
    later = {n.id for f in nodes(tree) if f is not tree and isinstance(f, _FUNCTIONS) for n in effects.loads(f)}
    tree.body = rewritten(tree.body, lambda s: _marked(s, marks) if isinstance(s, gast.Delete) else [s])
    facts = Facts(tree)
    for statement in effects.walk(tree.body):
        if id(statement) in marks:
            deleted = statement.value.id
            if facts.liveness.is_live(deleted, statement) or deleted in later:
                unit.refuse(statement, f"`{deleted}` may be read after this `del`: leave the `del` out")
            if facts.lifetimes.unbound_reads(statement):
                unit.refuse(statement, f"`{deleted}` may be unbound where it is deleted: bind it on every path, or leave "
                                       "the `del` out")  # fmt: skip
    tree.body = rewritten(tree.body, lambda s: [] if id(s) in marks else [s])
    return tree


def of_items(unit: Unit, statement: gast.Delete) -> list[gast.AST]:
    """The statements for a `del` of names and items: methods and stores for the items."""
    out: list[gast.AST] = []
    for target in statement.targets:
        parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else [target]
        if parts != [target]:
            out += of_items(unit, gast.Delete(parts))
        elif not isinstance(target, gast.Subscript):
            out.append(gast.Delete([target]))
        elif isinstance(target.slice, gast.Slice):
            out.append(assign(gast.Subscript(target.value, target.slice, gast.Store()), gast.List([], gast.Load())))
        else:
            out.append(gast.Expr(gast.Call(gast.Attribute(target.value, "pop", gast.Load()), [target.slice], [])))
    return out


def _marked(statement: gast.Delete, marks: set[int]) -> list[gast.AST]:
    """`del a, b` as reads of a and b, which must be bound."""
    names = [n.id for n in nodes(*statement.targets) if isinstance(n, gast.Name)]
    reads = at(statement, *(gast.Expr(name(n)) for n in names))
    marks |= set(map(id, reads))
    return reads
