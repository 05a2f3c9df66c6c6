"""What the methods `__iter__` and `__next__` of a class give, as something to loop over.

    def __iter__(self): return iter(self.rows)      ->      return self.rows
    def __next__(self):                             ->      while True:
        if self.left == 0: raise StopIteration                  if self.left == 0: return
        return self.value                                       yield self.value; continue

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Rows:
...     def __init__(self, rows): self.rows = rows
...     def __iter__(self): return iter(self.rows)
... def f(x):
...     total = 0.0
...     for row in Rows([x, x * 2.0]):
...         total = total + row
...     return total
... ''', "flatten"))
def f(x):
    total = 0.0
    t2 = x * 2.0
    t3 = [x, t2]
    rows_rows = t3
    t4 = None
    t5 = rows_rows
    t1 = sequence(t5)
    t6 = len(t1)
    for k in range(t6):
        row = t1[k]
        total = total + row
    result = total
    return result
"""

from __future__ import annotations

import builtins
from dataclasses import replace

import gast

from s2sgrad.ir.exits import always_leaves, returns
from s2sgrad.ir.quote import at, clone, constant, nodes, rewritten, statements_in
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.check import yields
from s2sgrad.specialize.static_values import Function


def without_iter(unit: Unit, tree: gast.FunctionDef) -> None:
    """Return from `__iter__` what is looped over, and no iterator over it."""
    for statement in statements_in(tree.body) if not yields(tree) else ():
        value = statement.value if isinstance(statement, gast.Return) else None
        if unit.called(value) is builtins.iter and len(value.args) == 1:
            statement.value = value.args[0]


def as_generator(method: Function) -> Function | None:
    """`__next__` as a generator function that runs until it raises StopIteration; None if it returns out of a loop."""
    tree = clone(method.node)
    inner = [s for s in nodes(*tree.body) if isinstance(s, (gast.For, gast.While))]
    if yields(tree) or any(returns(loop.body) for loop in inner):
        return None

    def drawn(statement: gast.AST) -> list[gast.AST]:
        if isinstance(statement, gast.Return):
            item = statement.value or constant(None)
            return at(statement, gast.Expr(at(statement, gast.Yield(item))[0]), gast.Continue())
        raised = statement.exc if isinstance(statement, gast.Raise) else None
        cls = raised.func if isinstance(raised, gast.Call) else raised
        ends = cls is not None and method.unit.resolve(cls) is StopIteration
        return at(statement, gast.Return(None)) if ends else [statement]

    falls_through = not always_leaves(tree.body)
    body = rewritten(tree.body, drawn)
    if falls_through:
        body += at(tree, gast.Expr(gast.Yield(constant(None))))
    tree.body = at(tree, gast.While(constant(True), body, []))
    return replace(method, node=tree, tree=None)
