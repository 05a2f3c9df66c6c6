"""The operators of Python that have names.

    operator.add(x, y)        ->      x + y
    operator.itemgetter(1)    ->      lambda row: row[1]

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(rows, x):
...     import operator
...     return max(rows, key=operator.itemgetter(1)), operator.mul(x, x)
... ''', "library_desugaring"))
def f(rows, x):
    return largest(rows, lambda row: row[1]), x * x
"""

from __future__ import annotations

import operator

import gast

from s2sgrad.ir.quote import name, placed
from s2sgrad.normalize.library.table import LibraryCall, desugars

_BINARY = {operator.add: gast.Add, operator.sub: gast.Sub, operator.mul: gast.Mult, operator.truediv: gast.Div,
           operator.matmul: gast.MatMult, operator.pow: gast.Pow}  # fmt: skip


@desugars(*_BINARY)
def _operator(call: LibraryCall) -> gast.AST | None:
    if len(call.args) != 2 or call.words:
        return None
    left, right = call.args
    return placed(call.node, gast.BinOp(left, _BINARY[call.target](), right))


@desugars(operator.getitem)
def _getitem(call: LibraryCall) -> gast.AST | None:
    if len(call.args) != 2 or call.words:
        return None
    return placed(call.node, gast.Subscript(*call.args, gast.Load()))


@desugars(operator.itemgetter)
def _itemgetter(call: LibraryCall) -> gast.AST | None:
    return call.written("lambda row: row[k]", k=call.args[0]) if len(call.args) == 1 else None


@desugars(operator.attrgetter)
def _attrgetter(call: LibraryCall) -> gast.AST | None:
    path = getattr(call.args[0], "value", None) if len(call.args) == 1 else None
    if not isinstance(path, str):
        return None
    return call.written("lambda row: v", v=gast.Attribute(name("row"), path, gast.Load()))
