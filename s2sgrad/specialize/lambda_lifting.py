"""Lambda lifting: a nested function becomes a separate one, and its captures become keyword arguments.

    def p(n): return 1.0 if n == 0 else x * p(n - 1)     ->     def p(n, *, x): return 1.0 if n == 0 else x * p(n - 1, x=x)

This is for functions that cannot be inlined: those that are recursive, or are differentiated inside of another one.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, n):
...     def power(k):
...         return 1.0 if k == 0 else x * power(k - 1)
...     return power(n)
... ''', "flatten"))
def f(x, n):
    t1 = power_(k=n, x=x)
    result = t1
    return result
"""

from __future__ import annotations

import keyword
import types
import weakref
from collections.abc import Iterable
from typing import Any

import gast

from s2sgrad import emit
from s2sgrad.analysis.reached_classes import content
from s2sgrad.ir import notes, scoping
from s2sgrad.ir.quote import clone, empty_arguments, mentioned, name, nodes
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.primitives.catalogue import may_write
from s2sgrad.source.making import made


def calls_itself(node: gast.FunctionDef | gast.Lambda) -> bool:
    """Whether a nested function refers to itself, but to read or write its attributes."""
    if not isinstance(node, gast.FunctionDef):
        return False
    owners = {id(n.value) for n in nodes(*node.body) if isinstance(n, gast.Attribute)}
    return any(isinstance(n, gast.Name) and n.id == node.name and id(n) not in owners for n in nodes(*node.body))


def lifted(
    unit: Unit,
    node: gast.FunctionDef | gast.Lambda,
    values: dict[str, Any],
    last: bool = False,
    first: bool = False,
    also: Iterable[str] = (),
) -> tuple[types.FunctionType, list[str]]:
    """The lifted function, and the variables to pass by keyword, `also` among them; `values` has function values by name.

    With `last` these come after all other arguments, which are then positional; with `first` they come before the others,
    followed by the parameters with defaults.
    """
    node = clone(node)
    base = getattr(node, "name", "lambda_")
    body = node.body if isinstance(node, gast.FunctionDef) else [gast.Return(node.body)]
    within = _used(unit, node, body, base, values)
    _require_followed(unit, node, [body, *(inner.body for inner in within)], base)
    own = {base} | scoping.bound(body) | {p.id for p in parameters(node)}
    for inner in within:
        own |= scoping.bound([inner]) | scoping.bound(inner.body) | {p.id for p in parameters(inner)}
    whole = [*within, *body]
    free = mentioned(*whole) - own - _scoped(whole)
    captured = sorted((free & unit.locals) | _data_in_cells(unit, free) | set(also))
    for call in (n for n in nodes(*whole) if isinstance(n, gast.Call)):
        if isinstance(call.func, gast.Name) and call.func.id == base:
            call.keywords += [gast.keyword(c, name(c)) for c in captured]
    node.args.defaults, usual = [], len(node.args.defaults)
    places, words = [*node.args.posonlyargs, *node.args.args], node.args.kwonlyargs
    if first:
        named = (p for p, d in zip(words, node.args.kw_defaults, strict=True) if d is not None)
        ahead = [*named, *places[len(places) - usual :]]
        return _lifted_function(unit, base, node.args, [*_parameters(captured), *ahead], whole, free), captured
    target = _defined(unit, base, node.args, places, [*words, *_parameters(captured)], whole, free, last)
    if not last:
        _CAPTURES[target] = tuple(captured)
    return target, captured


_CAPTURES: weakref.WeakKeyDictionary[types.FunctionType, tuple[str, ...]] = weakref.WeakKeyDictionary()


def with_captures(unit: Unit, target: Any, keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call; a lifted function that calls itself, under whatever name, passes its captures on."""
    captured = _CAPTURES.get(target, ()) if target is unit.primal.function else ()
    return {**{c: name(c) for c in captured}, **keywords}


def function(
    unit: Unit,
    base: str,
    body: list[gast.AST],
    mine: dict[str, str],
    count: int,
    captured: set[str],
    last: bool,
    first: tuple[str, ...] | None = None,
) -> tuple[types.FunctionType, list[str]]:
    """A function with this body, and what to pass to it as in `lifted`.  Its parameters are `mine`, by their names in the
    body, `count` of them positional; captures and the parameters `first` come first."""
    used = mentioned(*body)
    while base in used or keyword.iskeyword(base):  # the body uses this name
        base += "_"
    shown = {held: p for p, held in mine.items() if p not in used}
    body = [clone(s) for s in body]
    scoping.rename(shown, *body)
    places = _parameters(shown.get(held, held) for held in mine.values())
    free = used - set(mine.values()) - captured - scoping.bound(body)
    passed = sorted(captured | _data_in_cells(unit, free))
    if first is not None:
        arguments = empty_arguments()
        arguments.args, arguments.kwonlyargs = places[:count], places[count:]
        held = {p: place for (p, _), place in zip(mine.items(), places, strict=True)}
        ahead = [held[p] for p in first]
        return _lifted_function(unit, base, arguments, [*_parameters(passed), *ahead], body, free), passed
    words = [*places[count:], *_parameters(passed)]
    return _defined(unit, base, empty_arguments(), places[:count], words, body, free, last), passed


def _defined(
    unit: Unit, base: str, arguments: gast.arguments, places: list[gast.Name], words: list[gast.Name],
    body: list[gast.AST], free: set[str], last: bool,
) -> types.FunctionType:  # fmt: skip
    """A function beside the compiled one, with its free names; with `last` it has no keyword-only parameters."""
    arguments.args = [*places[len(arguments.posonlyargs) :], *(words if last else [])]
    arguments.kwonlyargs = [] if last else words
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    left = free - _data_in_cells(unit, free)
    if unbound := left & unbound_cells(unit.primal.function):
        unit.refuse(unit.primal.tree, f"`{base}` calls itself, or is differentiated here, and reads `{min(unbound)}`, a "
                                      "variable of the function around its class, which cannot be followed: pass its "
                                      "value")  # fmt: skip
    unit.made.bound = unit.made.bound or not left.isdisjoint(unit.primal.function.__code__.co_freevars)
    helpers = {n: unit.helpers[n] for n in free if n in unit.helpers}
    tree = gast.FunctionDef(base, arguments, body, [], None, None, [])
    explained = unit.explained(mentioned(tree))._replace(of="")  # no derivative
    target = made(emit.function(tree), base, unit.primal.function, helpers, left, tree, unit.place, explained)
    unit.made.lifted.append(target)
    return target


def _lifted_function(
    unit: Unit, base: str, arguments: gast.arguments, ahead: list[gast.Name], body: list[gast.AST], free: set[str]
) -> types.FunctionType:
    """Like `_defined`, with these parameters before all others, under the names by which calls may give them."""
    free = free | (mentioned(*body) & unit.helpers.keys())
    own = {p.id for p in ahead}
    places = [p for p in [*arguments.posonlyargs, *arguments.args] if p.id not in own]
    words = [p for p in arguments.kwonlyargs if p.id not in own]
    arguments.posonlyargs = []
    _call_as_declared(unit, [*ahead, *places, *words], body)
    return _defined(unit, base, arguments, [*ahead, *places], words, body, free, False)


def _call_as_declared(unit: Unit, places: list[gast.Name], body: list[gast.AST]) -> None:
    """Give parameters the names back by which calls may give them; other variables of these names get new ones."""
    mine = scoping.bound(body) | _scoped(body) | {p.id for p in places}
    back = {p.id: old for p in places if (old := notes.KEYWORD.of(p) or p.id) != p.id}
    taken = {*back.values()} & (mentioned(*body) | mine) - back.keys()
    back = {p: n for p, n in back.items() if n not in taken - mine} | {n: unit.names.fresh(n) for n in taken & mine}
    scoping.rename(back, *body, *places)


def _parameters(names: Iterable[str]) -> list[gast.Name]:
    return [gast.Name(n, gast.Param(), None, None) for n in names]


def _require_followed(unit: Unit, node: gast.FunctionDef | gast.Lambda, bodies: list[list[gast.AST]], base: str) -> None:
    """Refuse a function that binds variables of its surroundings, or is variadic; `bodies`: its own, and those of the nested
    functions that it uses."""
    if any(isinstance(part, gast.Nonlocal) for body in bodies for part in nodes(*body)):
        unit.refuse(node, f"`{base}` calls itself, or is differentiated here, and binds variables of the function "
                          "around it, which cannot be followed: return their values from it")  # fmt: skip
    if node.args.vararg is not None or node.args.kwarg is not None:
        unit.refuse(node, f"`{base}` calls itself, or is differentiated here, and takes `*` or `**` arguments, which "
                          "cannot be followed: name them")  # fmt: skip


def _data_in_cells(unit: Unit, free: set[str]) -> set[str]:
    """The names that are closure cells of the compiled function and hold data: these are passed like its variables."""
    function = unit.primal.function
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {n for n, cell in cells if n in free and _is_data(cell)}


def is_lifted(node: gast.FunctionDef | gast.Lambda, values: dict[str, Any]) -> bool:
    """Whether a function can be lifted: it uses no function values except nested functions without defaults."""
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        for part in nodes(waiting.pop()):
            if isinstance(part, gast.Name) and part.id in values and part.id not in seen:
                seen.add(part.id)
                value = values[part.id]
                inner = getattr(value, "node", None)
                if not isinstance(inner, (gast.FunctionDef, gast.Lambda)) or value.defaults or calls_itself(inner):
                    return False
                waiting.append(inner)
    return True


def require_no_writes(unit: Unit, node: gast.FunctionDef | gast.Lambda, values: dict[str, Any]) -> None:
    """Refuse a function that is differentiated inside and writes its captures, itself or by a nested function that it calls:
    its gradient works on copies."""
    body = node.body if isinstance(node, gast.FunctionDef) else [gast.Return(node.body)]
    within = _used(unit, node, body, getattr(node, "name", "lambda_"), values)
    whole = [*body, *(s for inner in within for s in inner.body)]
    own = scoping.bound(whole) | {p.id for function in (node, *within) for p in parameters(function)}
    for part in nodes(*whole):
        written = part if isinstance(part, (gast.Subscript, gast.Attribute)) and isinstance(part.ctx, gast.Store) else None
        method = part.func if isinstance(part, gast.Call) and isinstance(part.func, gast.Attribute) else None
        if method is not None and may_write(method.attr):
            written = part.func
        while isinstance(written, (gast.Subscript, gast.Attribute)):
            written = written.value
        if isinstance(written, gast.Name) and written.id in unit.locals and written.id not in own:
            unit.refuse(part, f"`{written.id}` is changed by a function that is differentiated here, which cannot be "
                              "followed: return the value from it")  # fmt: skip


def unbound_cells(function: types.FunctionType) -> set[str]:
    """The free variables of a function that are not bound."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {n for n, cell in cells if content(cell, MISSING) is MISSING}


def _is_data(cell: types.CellType) -> bool:
    """Whether a closure cell holds data."""
    try:
        value = cell.cell_contents
    except ValueError:
        return False
    return not callable(value) and not isinstance(value, types.ModuleType)


def _scoped(body: list[gast.AST]) -> set[str]:
    """The variables of nested scopes, whose names are unique after `alpha_renaming`."""
    out: set[str] = set()
    for statement in body:
        for node in nodes(statement):
            if isinstance(node, gast.FunctionDef):
                out |= scoping.bound(node.body) | {p.id for p in parameters(node)}
            elif isinstance(node, gast.Lambda):
                out |= {p.id for p in parameters(node)}
            elif isinstance(node, gast.comprehension):
                out |= mentioned(node.target)
    return out


def _used(unit: Unit, node: gast.AST, body: list[gast.AST], base: str, values: dict[str, Any]) -> list[gast.FunctionDef]:
    """The other nested functions that a body calls, as definitions."""
    out: dict[str, gast.FunctionDef] = {}
    waiting = list(body)
    while waiting:
        for part in nodes(waiting.pop()):
            if not isinstance(part, gast.Name) or part.id not in values or part.id == base or part.id in out:
                continue
            value = values[part.id]
            inner = getattr(value, "node", None)
            if not isinstance(inner, (gast.FunctionDef, gast.Lambda)) or value.defaults or calls_itself(inner):
                unit.refuse(node, f"`{base}` calls itself, or is differentiated here, and uses the function `{part.id}`, "
                                  "which cannot be followed: move them to module level")  # fmt: skip
            inner = clone(inner)
            inner_body = inner.body if isinstance(inner, gast.FunctionDef) else [gast.Return(inner.body)]
            out[part.id] = gast.FunctionDef(part.id, inner.args, inner_body, [], None, None, [])
            waiting += inner_body
    return list(reversed(out.values()))
