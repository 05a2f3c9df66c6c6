"""Refuses constructs that no later pass handles, at their places; drops docstrings and other statements without effect.

    "the model"; return x   ->   return x

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     "the model"
...     return x
... ''', "check"))
def f(x):
    return x
"""

from __future__ import annotations

import ast
import collections
import inspect

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import at, constant, name, nested, nodes
from s2sgrad.ir.unit import Unit, parameters

_STATEMENTS = {
    gast.AsyncFunctionDef: ("an async function", "differentiate a plain function"),
    gast.ClassDef: ("a class definition in a function", "move it to module level"),
    gast.AsyncWith: ("`async with`", "differentiate a plain function"),
    gast.AsyncFor: ("`async for`", "differentiate a plain function"),
    gast.Try: ("`except`", "test for the case with `if` before it arises"),
    gast.TryStar: ("`try`", "test for the case with `if` before it arises"),
}
_EXPRESSIONS = {
    gast.Await: ("`await`", "differentiate a plain function"),
    gast.Yield: ("the value of `yield`", "make `yield` a statement of its own"),
    gast.YieldFrom: ("the value of `yield from`", "write a loop with `yield`"),
}
_KNOWN = {
    gast.Attribute, gast.BinOp, gast.BoolOp, gast.Call, gast.Compare, gast.Constant, gast.Dict, gast.DictComp,
    gast.FormattedValue, gast.GeneratorExp, gast.IfExp, gast.JoinedStr, gast.Lambda, gast.List, gast.ListComp, gast.Name,
    gast.NamedExpr, gast.Set, gast.SetComp, gast.Slice, gast.Starred, gast.Subscript, gast.Tuple, gast.UnaryOp,
}  # fmt: skip
"""Expressions that later passes handle; those of newer versions of Python are refused."""
_YOUNGER = {"TemplateStr": "t-strings"}
_KEPT = (
    gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.If, gast.For, gast.While, gast.Return, gast.Break,
    gast.Continue, gast.Pass, gast.Assert, gast.Raise, gast.FunctionDef, gast.Nonlocal, gast.Delete,
)  # fmt: skip


def no_generator(unit: Unit, tree: gast.FunctionDef) -> None:
    """Refuse a generator function as the differentiated one: differentiate its consumer."""
    if _is_generator(unit):
        unit.refuse(tree, "a generator cannot be differentiated: differentiate a function that consumes it")


def _is_generator(unit: Unit) -> bool:
    return bool(unit.primal.function.__code__.co_flags & inspect.CO_GENERATOR)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without docstring; raises Unsupported at a construct that is not differentiated."""
    if isinstance(tree, gast.AsyncFunctionDef):
        unit.refuse(tree, f"`{tree.name}` is an async function; differentiate a plain function")
    for parameter in parameters(tree):
        parameter.annotation = None
    tree.returns = None
    _blocks(unit, tree.body, _is_generator(unit))
    return tree


def _blocks(unit: Unit, body: list[gast.AST], in_generator: bool) -> None:
    for block in nested(body):
        block[:] = [kept for statement in block for kept in _statement(unit, statement, in_generator)]


def _statement(unit: Unit, statement: gast.AST, in_generator: bool) -> list[gast.AST]:
    """The statements that are kept of a statement."""
    _require_kept(unit, statement)
    value = alone(statement)
    if in_generator and isinstance(value, gast.Yield):
        _expression(unit, value.value or constant(None))
        return [statement]
    if in_generator and isinstance(value, gast.YieldFrom):
        _expression(unit, value.value)
        item = unit.local("item")
        each = at(statement, gast.Expr(at(statement, gast.Yield(name(item)))[0]))
        return at(statement, gast.For(name(item, store=True), value.value, each, [], None))
    for field in ("test", "iter", "value", "target", "targets", "exc", "msg"):
        for part in _parts(getattr(statement, field, None)):
            _expression(unit, part)
    if isinstance(statement, gast.Pass) or isinstance(value, gast.Constant):
        return []
    if isinstance(statement, gast.FunctionDef):
        _blocks(unit, statement.body, yields(statement))
    return [statement]


def _require_kept(unit: Unit, statement: gast.AST) -> None:
    """Refuse a statement that no later pass handles, whatever it contains."""
    if isinstance(statement, gast.Nonlocal) and set(unit.primal.function.__code__.co_freevars) & set(statement.names):
        unit.refuse(statement, "`nonlocal` binds a variable outside of the function, which is not differentiated: pass "
                               "the value as an argument and return it")  # fmt: skip
    if type(statement) in _STATEMENTS:
        what, way = _STATEMENTS[type(statement)]
        unit.refuse(statement, f"{what} cannot be differentiated yet: {way}")
    if not isinstance(statement, _KEPT):
        unit.refuse(statement, f"`{type(statement).__name__}` statements cannot be differentiated yet")
    if isinstance(statement, gast.Delete):
        _delete(unit, statement)


def _delete(unit: Unit, statement: gast.Delete) -> None:
    for target in statement.targets:
        for part in nodes(target):
            if isinstance(part, gast.Attribute) and isinstance(part.ctx, gast.Del):
                unit.refuse(target, "`del` of an attribute changes an object, which is not differentiated yet: build a new "
                                    "one")  # fmt: skip
            if isinstance(part, gast.Name) and isinstance(part.ctx, gast.Del) and part.id not in unit.locals:
                unit.refuse(target, f"`del` of the global `{part.id}` cannot be differentiated yet: leave it out")


def yields(function: gast.AST) -> bool:
    """Whether a nested function is a generator function."""
    body = function.body if isinstance(function, gast.FunctionDef) else []
    return any(isinstance(node, (gast.Yield, gast.YieldFrom)) for node in scoping.own_nodes(body))


def _parts(value: gast.AST | list[gast.AST] | None) -> list[gast.AST]:
    return value if isinstance(value, list) else [value] if value is not None else []


def _expression(unit: Unit, node: gast.AST) -> None:
    for part in nodes(node):
        if type(part) in _EXPRESSIONS:
            what, way = _EXPRESSIONS[type(part)]
            unit.refuse(part, f"{what} cannot be differentiated: {way}")
        if isinstance(part, gast.Call) and unit.called(part) is collections.namedtuple:
            what, way = _STATEMENTS[gast.ClassDef]
            unit.refuse(part, f"{what} cannot be differentiated yet: {way}")
        if isinstance(part, ast.expr) and type(part) not in _KNOWN:
            what = _YOUNGER.get(type(part).__name__, f"`{type(part).__name__}` expressions")
            unit.refuse(part, f"{what} cannot be differentiated yet: pass the value as an argument")
