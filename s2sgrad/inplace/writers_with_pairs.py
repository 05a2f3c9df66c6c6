"""A function that writes its arguments and has a pair: it gets copies to write, and returns their final values.

    def walk(n, out):                             def walk_written(n, out):
        out.append(n * n)                             out_written = list(out)
        if n > 0:                         ->          out_written.append(n * n)
            walk(n - 1, out)                          if n > 0: walk(n - 1, out_written)
                                                      return out_written

    walk(3, out)      ->      resizes(out); out_written = walk_written(3, out); out = out_written

An array is overwritten with the returned one, `u[...] = u_written`; a list or dict, which must have no other name, is
rebound.  A recursive call is rewritten in the same way.  What the function returns precedes the final values.  A copy has
a memory layout of its own, for which no such function may ask (`memory_layout`).
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple, NoReturn

import gast
import numpy as np

from s2sgrad import emit, runtime
from s2sgrad.analysis.kinds import Array, Container, Kind, Set
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.errors import S2SGradError
from s2sgrad.flow.graph import binds
from s2sgrad.inplace.memory_layout import asks_layout
from s2sgrad.ir import scoping
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.names import Namer
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import assign, at, constant, expression, name, nodes, rewritten, statements, statements_in
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.places import Summary
from s2sgrad.memory.sources import has_memory
from s2sgrad.runtime.copies import copied
from s2sgrad.source import read
from s2sgrad.source.making import made

_REFERRED: dict[types.FunctionType, set[types.FunctionType]] = {}
forgotten_after(_REFERRED.clear)


def calls_itself(function: types.FunctionType) -> bool:
    """Whether a user's function may call itself, by the source of the functions that it refers to."""
    met: set[types.FunctionType] = set()
    waiting = [function]
    while waiting:
        found = _referred_to(waiting.pop())
        if function in found:
            return True
        waiting += found - met
        met |= found
    return False


def _referred_to(function: types.FunctionType) -> set[types.FunctionType]:
    """The user's functions that a function refers to; none where it has no source."""
    if function not in _REFERRED:
        try:
            unit, tree = Unit.of(read(function))
        except S2SGradError:
            found = []
        else:
            found = [unit.resolve(n) for n in nodes(*tree.body) if isinstance(n, (gast.Name, gast.Attribute))]
        _REFERRED[function] = {f for f in found if isinstance(f, types.FunctionType) and is_user_function(f)}
    return _REFERRED[function]


class Form(NamedTuple):
    """How an argument is copied: the type of the copy, and whether what it holds is copied as well."""

    type: type
    whole: bool = True


def form_of(kind: Kind | None, inside: bool) -> Form | None:
    """How to copy an argument of this kind; None where it is unknown, or where its items are written (`inside`)."""
    if isinstance(kind, (Array, Set)):
        return Form(np.ndarray if isinstance(kind, Array) else set)
    if not isinstance(kind, Container) or kind.type not in (list, dict):
        return None
    element = kind.element()
    holds = element is not None and has_memory(element)
    return None if inside and holds else Form(kind.type, not holds)


def written(function: types.FunctionType, forms: dict[str, Form]) -> tuple[types.FunctionType, gast.FunctionDef]:
    """A function that returns its value and the final values of the parameters in `forms`; and its tree, with the user's
    source positions.
    """
    primal = read(function)
    tree = primal.fresh_tree()
    tree.decorator_list = []
    for node in nodes(tree):
        node.primal = getattr(node, "primal", primal)
    names = Namer({n for part in (tree.args, *tree.body) for n in scoping.names(part)})
    after = {p: names.fresh(f"{p}_written") for p in forms}
    rebound = scoping.bound([s for s in statements_in(tree.body) if not isinstance(s, gast.AugAssign)])
    inside = {p: names.fresh(p) if p in rebound else after[p] for p in forms}
    scoping.rename(inside, *tree.body)
    last = [name(n) for n in after.values()]
    gives = gives_value(function)

    def leaving(value: gast.AST | None) -> gast.Return:
        parts = [value or constant(None), *last] if gives else last
        return gast.Return(parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load()))

    def ends(statement: gast.AST) -> list[gast.AST]:
        return at(statement, leaving(statement.value)) if isinstance(statement, gast.Return) else [statement]

    heads = []
    copy = names.fresh("copied")
    for p, form in forms.items():
        whole = form.whole and form.type is not np.ndarray
        heads += [assign(after[p], expression("c(u)", c=copy, u=p) if whole else expression("u.copy()", u=p))]
        heads += [assign(inside[p], name(after[p]))] if inside[p] != after[p] else []
    tree.body = [*heads, *rewritten(tree.body, ends), *at(tree.body[-1], leaving(None))]
    tree.name = f"{function.__name__}_written" if function.__name__.isidentifier() else "written"
    cells = set(function.__code__.co_freevars)
    tree.args.defaults, tree.args.kw_defaults = [], [None] * len(tree.args.kwonlyargs)
    made_ = made(emit.function(tree), tree.name, function, {copy: copied}, cells, tree, primal.place)
    made_.__qualname__ = function.__qualname__
    made_.__defaults__, made_.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made_, tree


def call(unit: Unit, statement: gast.AST, function: types.FunctionType, gives: bool, passed: dict[str, Any],
         forms: dict[str, Form], same: str | None, apart: bool, kinds: dict[str, Kind]) -> list[gast.AST]:  # fmt: skip
    """The statements for a call of `function`, which returns the final values of the arguments that it writes, behind its
    own value if it `gives` one.  That value is the argument for the parameter `same`, if that is not None.  `apart`: no two
    arguments alias.
    """
    unit.made.lifted.append(function)
    shared = mod_ref.returned_arguments(unit, function, statement.value, kinds)
    # otherwise the aliases of the list in the tuple are unknown
    alone = len(forms) == 1 and shared is not None and not shared.whole and not shared.inside
    arrays = all(form.type is np.ndarray for form in forms.values())
    direct = len(forms) == 1 and not gives and arrays
    held = {p: unit.temp() if direct else unit.local(f"{p}_written") for p in forms}
    before = [check for p, form in forms.items() for check in _checks(unit, statement, p, form, passed, apart)]
    back = [_taken_back(unit, passed[p].id, held[p], form, alone) for p, form in forms.items()]
    called = gast.Call(name(unit.helper(function.__name__, function)), statement.value.args, statement.value.keywords)
    given = unit.temp() if gives else None
    made = _unpacked(unit, called, [n for n in (given, *held.values()) if n is not None])
    result: list[gast.AST] = []
    if isinstance(statement, gast.Assign):
        value = constant(None) if given is None else name(given if same is None else passed[same].id)
        result = [gast.Assign(statement.targets, value, None)]
    return at(statement, *before, *made, *back, *result)


def _checks(
    unit: Unit, statement: gast.AST, parameter: str, form: Form, passed: dict[str, Any], apart: bool
) -> list[gast.AST]:
    """What is checked before an argument is written: that it aliases no other, or has no other name."""
    u = passed[parameter].id
    if form.type is not np.ndarray:
        return statements("f(u)", f=unit.helper("resizes", runtime.resizes), u=u)
    others = [name(n.id) for q, n in passed.items() if q != parameter and isinstance(n, gast.Name) and n.id in unit.locals]
    if apart or not others:
        return []
    line = constant(getattr(statement, "lineno", 0))
    return [gast.Expr(gast.Call(name(unit.helper("apart", runtime.apart)), [line, name(u), *others], []))]


def _taken_back(unit: Unit, u: str, written: str, form: Form, alone: bool) -> gast.AST:
    """The statement by which an argument gets its final value."""
    if form.type is np.ndarray:
        return gast.Assign([gast.Subscript(name(u), constant(Ellipsis), gast.Store())], name(written), None)
    value = name(written)
    return assign(u, value if alone else gast.Call(unit.builtin(form.type), [value], []))


def _unpacked(unit: Unit, called: gast.Call, parts: list[str]) -> list[gast.AST]:
    """The statements that bind what a call returns."""
    if len(parts) == 1:
        return [assign(parts[0], called)]
    together = unit.temp()
    targets = gast.Tuple([name(n, store=True) for n in parts], gast.Store())
    return [assign(together, called), gast.Assign([targets], name(together), None)]


def gives_value(function: types.FunctionType) -> bool:
    """Whether a function returns something else than None."""
    returns = [s for s in statements_in(read(function).tree.body) if isinstance(s, gast.Return)]
    return any(s.value is not None and not is_none(s.value) for s in returns)


def copy_forms(unit: Unit, target: Any, passed: dict[str, Any], summary: Summary, kinds: dict[str, Kind],
             statement: gast.AST) -> dict[str, Form] | str:  # fmt: skip
    """How each written argument is copied; or why that is not supported."""
    if any(place.kind == "any" for place in summary.written) or any(isinstance(n, list) for n in passed.values()):
        return "and what it writes is not known"
    inside = {place.key for place in summary.written if place.kind == "in"}
    names = [n.id for n in passed.values() if isinstance(n, gast.Name)]
    forms: dict[str, Form] = {}
    for parameter, node in _written(passed, summary, kinds).items():
        if names.count(node.id) > 1:
            return f"and `{node.id}` is two of them"
        form = form_of(kinds.get(node.id), parameter in inside) if node.id in unit.locals else None
        if form is None:
            return f"and `{parameter}` is no array, no set, and no list or dict of numbers, as far as is known"
        forms[parameter] = form
    if any(form.type is np.ndarray for form in forms.values()) and asks_layout(target):
        return "and what it writes may depend on how the memory of an array is laid out"
    bound = [kinds[n] for n in binds(statement) if n in kinds]
    if any(map(has_memory, bound)) and _may_return(target, summary, forms):
        return "and may return what it writes"
    return forms


def _written(passed: dict[str, Any], summary: Summary, kinds: dict[str, Kind]) -> dict[str, gast.Name]:
    """The arguments with memory that a call writes, or of which it writes the contents."""
    places = {place.key for place in summary.written if place.kind in ("own", "in")}
    named = {p: n for p, n in passed.items() if p in places and isinstance(n, gast.Name)}
    return {p: n for p, n in named.items() if has_memory(kinds.get(n.id))}


def _may_return(target: Any, summary: Summary, forms: dict[str, Form]) -> bool:
    """Whether a function may return some of the arguments that it writes, but not always the same."""
    held = {place.key for place in summary.returns | summary.holds if place.kind in ("own", "in")}
    return bool(held & forms.keys()) and returned(target, summary, forms) is None


def returned(function: types.FunctionType, summary: Summary, forms: dict[str, Form]) -> str | None:
    """The parameter in `forms` whose argument a function always returns; None where it may return something else."""
    alone = len(summary.returns) == 1 and not summary.makes
    p = next((place.key for place in summary.returns if alone and place.kind == "own"), None)
    return p if p in forms and (forms[p].type is not np.ndarray or _hands_back(function, p)) else None


def _hands_back(function: types.FunctionType, p: str) -> bool:
    """Whether every `return` gives the argument itself, and no view of it, or what the function gives for it."""
    unit, tree = Unit.of(read(function))

    def is_it(value: gast.AST | None) -> bool:
        if isinstance(value, gast.IfExp):
            return is_it(value.body) and is_it(value.orelse)
        if isinstance(value, gast.Call) and unit.resolve(value.func) is function:
            return is_it((mod_ref.arguments(function, value) or {}).get(p))
        return isinstance(value, gast.Name) and value.id == p

    rebound = scoping.bound([s for s in statements_in(tree.body) if not isinstance(s, gast.AugAssign)])
    return p not in rebound and all(is_it(s.value) for s in statements_in(tree.body) if isinstance(s, gast.Return))


def refuse(unit: Unit, statement: gast.AST, target: Any, why: str) -> NoReturn:
    """Refuse a recursive function."""
    unit.refuse(statement, f"`{target.__name__}` may write its arguments and calls itself, {why}, which cannot be followed: "
                           "write it as a loop, or return new arrays", mod_ref.places_of_writes(target))  # fmt: skip
