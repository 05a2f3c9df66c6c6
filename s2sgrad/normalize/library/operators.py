"""Functions for Python's operators, and attributes named by strings.

    operator.add(x, y)            ->      x + y
    operator.itemgetter(1)        ->      lambda row: row[1]
    xs.__getitem__(0)             ->      xs[0]
    getattr(model, "weights")     ->      model.weights

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

import builtins
import keyword
import operator

import gast

from s2sgrad.ir.quote import name, placed
from s2sgrad.normalize.library.table import LibraryCall, desugars, desugars_method

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


@desugars_method(None, "__getitem__")
def _item_of(call: LibraryCall) -> gast.AST | None:
    """`x[i]`, whatever `x` is; except for `super()`."""
    if len(call.args) != 1 or call.words or call.resolve(call.owner) is super:
        return None
    return placed(call.node, gast.Subscript(call.owner, call.args[0], gast.Load()))


@desugars(builtins.getattr)
def _attribute(call: LibraryCall) -> gast.AST | None:
    """An attribute with a literal name; two leading underscores would be mangled in a class."""
    path = getattr(call.args[1], "value", None) if len(call.args) == 2 and not call.words else None
    plain = isinstance(path, str) and path.isidentifier() and not keyword.iskeyword(path)
    if not plain or (path.startswith("__") and not path.endswith("__")):
        return None
    return placed(call.node, gast.Attribute(call.args[0], path, gast.Load()))


@desugars(operator.itemgetter)
def _itemgetter(call: LibraryCall) -> gast.AST | None:
    return call.written("lambda row: row[k]", k=call.args[0]) if len(call.args) == 1 else None


@desugars(operator.attrgetter)
def _attrgetter(call: LibraryCall) -> gast.AST | None:
    path = getattr(call.args[0], "value", None) if len(call.args) == 1 else None
    if not isinstance(path, str):
        return None
    return call.written("lambda row: v", v=gast.Attribute(name("row"), path, gast.Load()))
