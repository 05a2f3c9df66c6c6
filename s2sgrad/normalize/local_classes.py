"""Classes defined in a function are made once, when the gradient is compiled, and become free names of the text.

    def f(x):
        class Box: ..        ->      def f(x): return Box(x).value      (`Box` is a name of the text's own)
        return Box(x).value

So are named tuples (`Point = namedtuple("Point", "x y")`).  Such a class may refer to other classes of the function, and to
names of the module.  Its methods may read variables of the function, as nested functions do: where they are inlined these
are in scope.  A class that reads one when it is made would be a different one in each call, and is refused.  So is one
that runs code of the user's then, for each call would run it.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, k):
...     class Scaled:
...         def __init__(self, v): self.v = v
...         def value(self): return self.v * k
...     s = Scaled(x)
...     k = k + 1.0
...     return s.value()
... ''', "flatten"))
def f(x, k):
    s_v = x
    t1 = None
    k = k + 1.0
    t2 = s_v * k
    result = t2
    return result
"""

from __future__ import annotations

import ast
import collections
import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import libraries
from s2sgrad.source.finding import FUTURE_FLAGS


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without the class definitions."""
    tree.body = _named_tuples(unit, tree)
    defined = {s.name: s for s in tree.body if isinstance(s, gast.ClassDef)}
    if not defined:
        return tree
    rest = [s for s in tree.body if not isinstance(s, gast.ClassDef)]
    bound = unit.locals - defined.keys()
    for name, statement in defined.items():
        if len(defined) + len(rest) != len(tree.body) or name in scoping.bound(rest):
            unit.refuse(statement, f"`{name}` is bound to several things in this function: give the class a name of its own")
        outside = [*statement.decorator_list, *statement.bases, *statement.keywords, *_at_once(statement.body)]
        read = {n.id for part in outside for n in nodes(part) if isinstance(n, gast.Name)} & bound
        read -= scoping.bound(statement.body)
        if read:
            unit.refuse(statement, f"the class `{name}` reads `{min(read)}`, a variable of the function, when it is made, "
                                   "which cannot be followed: read it in the methods")  # fmt: skip
        if _runs_code(unit, statement, defined):
            unit.refuse(statement, f"making the class `{name}` runs code (`__init_subclass__`, a metaclass, a decorator) "
                                   "in each call: define the class outside of the function")  # fmt: skip
    written = [s for s in unit.primal.tree.body if isinstance(s, gast.ClassDef)]  # before any renaming
    read = set().union(*(_free(unit.primal.function.__code__, name) for name in defined)) - defined.keys()
    for name, cls in _compiled_classes(unit, written, sorted(read)).items():
        unit.locals.discard(name)
        unit.helpers[name] = cls
    tree.body = rest
    return tree


def _named_tuples(unit: Unit, tree: gast.FunctionDef) -> list[gast.AST]:
    """The statements without those that make a named tuple of constants for a name that is bound once."""
    out, counts = [], scoping.all_bindings(tree)
    for statement in tree.body:
        name = bound_name(statement) or ""
        call = statement.value if counts[name] == 1 else None
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


def _at_once(body: list[gast.AST]) -> list[gast.AST]:
    """What runs when a class with this body is made: all but the bodies of its methods."""
    out: list[gast.AST] = []
    for statement in body:
        if isinstance(statement, gast.FunctionDef):
            out += [*statement.decorator_list, *statement.args.defaults, *filter(None, statement.args.kw_defaults)]
        else:
            out.append(statement)
    return out


def _runs_code(unit: Unit, statement: gast.ClassDef, defined: dict[str, gast.ClassDef]) -> bool:
    """Whether making a class runs functions of the user's, besides what its body calls."""
    decorators = [unit.resolve(getattr(d, "func", d)) for d in statement.decorator_list]
    if statement.keywords or not all(map(libraries.is_installed, decorators)):
        return True
    for base in statement.bases:
        own = defined.get(getattr(base, "id", ""))
        if own is not None and any(getattr(s, "name", "") == object.__init_subclass__.__name__ for s in own.body):
            return True
        if own is not None and own is not statement and _runs_code(unit, own, defined):
            return True
        if own is None and _hooks(unit.resolve(base)):
            return True
    return False


def _hooks(base: Any) -> bool:
    """Whether a class of the user's has a metaclass of its own, or a method that runs where a class is derived from it."""
    if not isinstance(base, type):
        return False
    makers = [c for c in base.__mro__ if object.__init_subclass__.__name__ in vars(c)]
    return not all(map(libraries.is_installed, (type(base), *makers)))


def _within(code: types.CodeType) -> Iterator[types.CodeType]:
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield part
            yield from _within(part)


def _compiled_classes(unit: Unit, classes: list[gast.ClassDef], read: list[str]) -> dict[str, type]:
    """The classes, made as the function makes them; their methods have the places of its text.  The variables `read` of the
    function are left unbound: nobody runs these methods."""
    function = unit.primal.function
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[], vararg=None, kwarg=None)
    names = ast.Tuple([ast.Name(c.name, ast.Load()) for c in classes], ast.Load())
    unbound = [part for n in read for part in (ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)),
                                               ast.Delete([ast.Name(n, ast.Del())]))]  # fmt: skip
    body = [*(gast.gast_to_ast(c) for c in classes), *unbound, ast.Return(names)]
    since_312: Any = {"type_params": []}
    home = ast.FunctionDef(name=function.__name__, args=empty, body=body, decorator_list=[], returns=None, **since_312)
    ast.copy_location(home, body[0])
    module = ast.fix_missing_locations(ast.Module([home], []))
    flags = function.__code__.co_flags & FUTURE_FLAGS
    code = compile(module, function.__code__.co_filename, "exec", flags, dont_inherit=True)
    (own,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
    unit.definitions.local_codes |= {*_within(own)}
    class_values = types.FunctionType(own, function.__globals__)()
    return {c.name: cls for c, cls in zip(classes, class_values, strict=True)}
