"""Classes defined in a function are made once, when the gradient is compiled, and become free names of the text.

    def f(x):
        class Box: ..        ->      def f(x): return Box(x).value      (`Box` is a name of the text's own)
        return Box(x).value

So are named tuples (`Point = namedtuple("Point", "x y")`).  Such a class may refer to other classes of the function, and to
names of the module.  A class that reads a variable of the function would be a different one in each call, and is refused.
"""

from __future__ import annotations

import ast
import collections
import types
from collections import Counter
from typing import Any

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.source.finding import FUTURE_FLAGS


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without the class definitions."""
    tree.body = _named_tuples(unit, tree.body)
    defined = {s.name: s for s in tree.body if isinstance(s, gast.ClassDef)}
    if not defined:
        return tree
    rest = [s for s in tree.body if not isinstance(s, gast.ClassDef)]
    bound = unit.locals - defined.keys()
    for name, statement in defined.items():
        if len(defined) + len(rest) != len(tree.body) or name in scoping.bound(rest):
            unit.refuse(statement, f"`{name}` is bound to several things in this function: give the class a name of its own")
        read = _free(unit.primal.function.__code__, name) - defined.keys()
        outside = [*statement.decorator_list, *statement.bases, *statement.keywords]
        read |= {n.id for part in outside for n in nodes(part) if isinstance(n, gast.Name)} & bound
        if read:
            unit.refuse(statement, f"the class `{name}` reads `{min(read)}`, a variable of the function, which cannot be "
                                   "followed: pass its value to the methods")  # fmt: skip
    written = [s for s in unit.primal.tree.body if isinstance(s, gast.ClassDef)]  # before any renaming
    for name, cls in _compiled_classes(unit.primal.function, written).items():
        unit.locals.discard(name)
        unit.helpers[name] = cls
    tree.body = rest
    return tree


def _named_tuples(unit: Unit, body: list[gast.AST]) -> list[gast.AST]:
    """The statements without those that make a named tuple of constants for a name that is bound once."""
    out, counts = [], Counter(n.id for n in nodes(*body) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load))
    for statement in body:
        name = bound_name(statement)
        call = statement.value if name is not None and counts[name] == 1 else None
        if unit.called(call) is collections.namedtuple and (given := _constants(call)) is not None:
            unit.locals.discard(name)
            unit.helpers[name] = collections.namedtuple(*given[0], **{"module": unit.primal.function.__module__, **given[1]})
        else:
            out.append(statement)
    return out


def _constants(call: gast.Call) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call, where all of them are constants."""
    try:
        given = [ast.literal_eval(gast.gast_to_ast(a)) for a in call.args]
        return given, {k.arg: ast.literal_eval(gast.gast_to_ast(k.value)) for k in call.keywords}
    except (ValueError, TypeError):
        return None


def _free(code: types.CodeType, name: str) -> set[str]:
    """The names that a class defined in a function reads from enclosing scopes."""
    class_codes = [c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name]
    return {free for c in class_codes for free in c.co_freevars}


def _compiled_classes(function: types.FunctionType, classes: list[gast.ClassDef]) -> dict[str, type]:
    """The classes, made as the function makes them; their methods have the places of its text."""
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[], vararg=None, kwarg=None)
    names = ast.Tuple([ast.Name(c.name, ast.Load()) for c in classes], ast.Load())
    body = [*(gast.gast_to_ast(c) for c in classes), ast.Return(names)]
    home = ast.FunctionDef(name=function.__name__, args=empty, body=body, decorator_list=[], returns=None, type_params=[])
    ast.copy_location(home, body[0])
    module = ast.fix_missing_locations(ast.Module([home], []))
    flags = function.__code__.co_flags & FUTURE_FLAGS
    code = compile(module, function.__code__.co_filename, "exec", flags, dont_inherit=True)
    (own,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
    class_values = types.FunctionType(own, function.__globals__)()
    return {c.name: cls for c, cls in zip(classes, class_values, strict=True)}
