"""Functions for Python's operators, and attributes named by strings.

    operator.add(x, y)            ->      x + y
    operator.itemgetter(1)        ->      lambda row: row[1]
    operator.itemgetter(k)        ->      lambda row, a0=k: row[a0]
    operator.methodcaller("go")   ->      lambda row: row.go()
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
from typing import TypeGuard

import gast

from s2sgrad.ir.quote import placed
from s2sgrad.normalize.library.table import LibraryCall, desugars, desugars_method

_BINARY = {operator.add: gast.Add, operator.sub: gast.Sub, operator.mul: gast.Mult, operator.truediv: gast.Div,
           operator.matmul: gast.MatMult, operator.pow: gast.Pow, operator.mod: gast.Mod,
           operator.floordiv: gast.FloorDiv}  # fmt: skip
_UNARY = {operator.neg: gast.USub, operator.pos: gast.UAdd}


@desugars(*_BINARY, takes=2)
def _operator(call: LibraryCall) -> gast.AST:
    left, right = call.args
    return placed(call.node, gast.BinOp(left, _BINARY[call.target](), right))


@desugars(*_UNARY, takes=1)
def _sign(call: LibraryCall) -> gast.AST:
    return placed(call.node, gast.UnaryOp(_UNARY[call.target](), call.args[0]))


@desugars(operator.abs, takes=1)
def _absolute(call: LibraryCall) -> gast.AST:
    return call.written("f(x)", f=call.unit.builtin(abs), x=call.args[0])


@desugars(operator.getitem, takes=2)
def _getitem(call: LibraryCall) -> gast.AST:
    return placed(call.node, gast.Subscript(*call.args, gast.Load()))


@desugars_method(None, "__getitem__")
def _item_of(call: LibraryCall) -> gast.AST | None:
    """`x[i]`, whatever `x` is; except for `super()`."""
    if len(call.args) != 1 or call.words or call.resolve(call.owner) is super:
        return None
    return placed(call.node, gast.Subscript(call.owner, call.args[0], gast.Load()))


@desugars(builtins.getattr, takes=2)
def _attribute(call: LibraryCall) -> gast.AST | None:
    """An attribute with a literal name."""
    path = getattr(call.args[1], "value", None)
    if not _is_path(path) or "." in path:
        return None
    return placed(call.node, gast.Attribute(call.args[0], path, gast.Load()))


@desugars(operator.itemgetter)
def _itemgetter(call: LibraryCall) -> gast.AST | None:
    if call.words or not call.args:
        return None
    return _taken(call, [f"row[a{k}]" for k in range(len(call.args))], call.args)


@desugars(operator.attrgetter)
def _attrgetter(call: LibraryCall) -> gast.AST | None:
    paths = [getattr(a, "value", None) for a in call.args]
    if call.words or not paths or not all(map(_is_path, paths)):
        return None
    return _taken(call, [f"row.{path}" for path in paths], [])


@desugars(operator.methodcaller)
def _methodcaller(call: LibraryCall) -> gast.AST | None:
    method = getattr(call.args[0], "value", None) if call.args else None
    if not _is_path(method) or "." in method:
        return None
    given = call.args[1:]
    shown = [f"a{k}" for k in range(len(given))]
    shown += [f"{word}=a{k}" for k, word in enumerate(call.words, len(given))]
    return _taken(call, [f"row.{method}({', '.join(shown)})"], [*given, *call.words.values()])


def _taken(call: LibraryCall, texts: list[str], arguments: list[gast.AST]) -> gast.AST:
    """A lambda of `row` whose value, or tuple of values, these texts write; in them `a0`, `a1`, .. are the arguments, which
    are evaluated where the function is made."""
    holes = {f"a{k}": a for k, a in enumerate(arguments)}
    late = [n for n, a in holes.items() if not isinstance(a, gast.Constant)]
    body = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    heads = "".join(f", {n}=given_{n}" for n in late)
    values = {n: a for n, a in holes.items() if n not in late} | {f"given_{n}": holes[n] for n in late}
    return call.written(f"lambda row{heads}: {body}", **values)


def _is_path(path: object) -> TypeGuard[str]:
    """Whether a text is a dotted path; two leading underscores would be mangled in a class."""
    words = path.split(".") if isinstance(path, str) else [""]
    plain = all(word.isidentifier() and not keyword.iskeyword(word) for word in words)
    return plain and not any(word.startswith("__") and not word.endswith("__") for word in words)
