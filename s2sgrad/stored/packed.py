"""A compiled text as plain data, and back: the code, what it was made from, and the lookups that its guards follow from.

    Compiled   ->   (text, codes, ways, lookups, ..)   ->   Compiled, over the objects of this process

`opened` checks the mark of every lookup before it makes the guards from them again: these are then checked at every call,
like those of a text that this process compiled.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

from s2sgrad.backends import NUMPY, Backend
from s2sgrad.driver.guards import Guards
from s2sgrad.driver.plan import Part, Plan, registered
from s2sgrad.driver.recipe import Compiled, Facts, Recipe, Sources
from s2sgrad.errors import Place, raised
from s2sgrad.errors.wording import Wording
from s2sgrad.ir.lookups import Lookups, member_of
from s2sgrad.ir.unit import MISSING
from s2sgrad.runtime.traits import Slots, Traits
from s2sgrad.source import look_up
from s2sgrad.stored.marks import Unmarked, address, at, mark
from s2sgrad.stored.ways import Ways, found


class Stale(Exception):
    """What was kept is not what this process would compile."""


# --- to data ---


def packed(compiled: Compiled, sources: Sources, function: types.FunctionType, kinds: Any) -> tuple:
    """A compiled text as plain data; raises `Unmarked` where something of it belongs to this process alone."""
    recipe = compiled.recipe
    lookups = sources.lookups
    if recipe.until is not None or recipe.inside or recipe.lifted or recipe.bound or not sources.alone or lookups is None:
        raise Unmarked
    ways = Ways(function, kinds, lookups)
    looked_up = _lookups(lookups, sources.strict, ways)
    places = [ways.number(f) for f in compiled.functions]
    parts = [_part(part, ways) for part in recipe.plan.parts]
    name = recipe.plan.filename, recipe.plan.parts[recipe.entries[-1]].name
    marks = [mark(value, False) for value in ways.objects]
    return (name, recipe.plan.text, recipe.entries, _facts(recipe.facts), recipe.outside, recipe.complex, ways.ways, marks,
            looked_up, places, parts)  # fmt: skip


def _lookups(lookups: Lookups, strict: set[tuple[int, str]], ways: Ways) -> tuple:
    names = []
    for (owner, name), (function, _, binding) in lookups.names.items():
        now, exact = look_up(function, name), (owner, name) in strict
        where, value = ("", MISSING) if binding is None else (binding.where, binding.value)
        if (now is None) != (binding is None) or (now is not None and now.value is not value):
            raise Unmarked  # bound anew since
        names.append((ways.number(function), name, where, exact, *_told(value, exact, ways)))
    attributes = [(ways.number(o), n, *_told(v, False, ways)) for o, n, v in lookups.attributes.values()]
    members = [(ways.number(cls), n, *_told(v, False, ways)) for cls, n, v in lookups.members.values()]
    keys = [(ways.number(d), mark(given, True)) for d, given in lookups.keys.values()]
    return names, attributes, members, [*lookups.modules], keys


def _told(value: Any, exact: bool, ways: Ways) -> tuple[str, int | None]:
    """The mark of what was looked up, and its number, if it is an object that may stand under several names."""
    return ("", None) if value is MISSING else (mark(value, exact), ways.known(value))


def _part(part: Part, ways: Ways) -> tuple:
    places, derived, wording = raised.registered(part.code)
    if part.traits.origin is not None or any((part.traits.half_of, part.traits.transposes, part.traits.stands_for)):
        raise Unmarked
    slots: Any = tuple(part.traits.slots)
    said = part.traits._replace(slots=slots)
    closure = [(how, _held(how, what, ways)) for how, what in part.closure]
    defaults = {name: _constant(value) for name, value in part.defaults.items()}
    lines = {line: tuple(place) for line, place in places.items()}
    words = None if wording is None else (wording.of, wording.known, wording.words)
    return part.code, part.name, part.place, closure, tuple(said), defaults, part.doc, part.buffers, lines, derived, words


def _held(how: str, what: Any, ways: Ways) -> Any:
    if how == "held":
        return ways.number(what())
    if how != "cell":
        return what
    value = what.cell_contents
    if (known := address(value)) is not None:
        return known
    return (_constant(value),)


def _constant(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_constant, value))
    if type(value) not in (type(None), bool, int, float, complex, str, bytes):
        raise Unmarked
    return value


def _facts(facts: Facts | None) -> tuple | None:
    if facts is None:
        return None
    if facts.outside is not None:
        raise Unmarked
    gives_up_on = [error.__name__ for error in facts.backend.gives_up_on]
    return (facts.seed, facts.scalar, facts.written, facts.unsure, (facts.backend.name, gives_up_on), facts.dots,
            facts.divides_again, facts.again, None, facts.repeats, facts.along, facts.own_rules)  # fmt: skip


# --- and back ---


def opened(data: tuple, function: types.FunctionType, kinds: Any) -> Compiled:
    """The compiled text, over the objects of this process; raises `Stale` where one of them is another."""
    (filename, name), text, entries, facts, outside, of_complex, ways, marks, looked_up, places, parts = data
    objects = found(ways, function, kinds)
    if any(mark(value, False) != told for value, told in zip(objects, marks, strict=True)):
        raise Stale
    lookups, strict = _looked_up(looked_up, objects)
    guards = Guards(function, lookups, strict, [], [])
    for place, number in enumerate(places):
        if guards.place(objects[number]) != place:
            raise Stale
    made = [_made(part, objects, guards) for part in parts]
    if registered(name, text, len(made)) != filename:
        raise Stale
    for part, (*_, lines, derived, words) in zip(made, parts, strict=True):
        wording = None if words is None else Wording(*words)
        raised.register(part.code, {line: Place(*place) for line, place in lines.items()}, derived, wording)
    if facts is not None:
        seed, scalar, written, unsure, backend, *more = facts
        facts = Facts(seed, scalar, written, unsure, _backend(*backend), *more)
    recipe = Recipe(guards, Plan(text, filename, made), entries, facts, outside, of_complex)
    return recipe.sealed([])


def _looked_up(looked_up: tuple, objects: list[Any]) -> tuple[Lookups, set[tuple[int, str]]]:
    names, attributes, members, modules, keys = looked_up
    lookups, strict = Lookups(), set()
    for number, name, where, exact, told, same in names:
        owner = objects[number]
        binding = look_up(owner, name)
        if where != ("" if binding is None else binding.where):
            raise Stale
        _require(MISSING if binding is None else binding.value, exact, told, same, objects)
        lookups.names[id(owner), name] = owner, name, binding
        if exact:
            strict.add((id(owner), name))
    for number, name, told, same in attributes:
        value = getattr(objects[number], name, MISSING)
        _require(value, False, told, same, objects)
        lookups.attributes[id(objects[number]), name] = objects[number], name, value
    for number, name, told, same in members:
        value = member_of(objects[number], name)
        _require(value, False, told, same, objects)
        lookups.members[id(objects[number]), name] = objects[number], name, value
    lookups.modules = {name: sys.modules[name] for name in modules}
    for number, told in keys:
        if mark(tuple(objects[number]), True) != told:
            raise Stale
        lookups.keys[id(objects[number])] = objects[number], tuple(objects[number])
    return lookups, strict


def _require(value: Any, exact: bool, told: str, number: int | None, objects: list[Any]) -> None:
    """Raise `Stale` unless a value is what was looked up: by its mark, and the same object as under its other names."""
    if told != ("" if value is MISSING else mark(value, exact)):
        raise Stale
    if number is not None and value is not objects[number] and not isinstance(value, types.MethodType):
        raise Stale


def _made(part: tuple, objects: list[Any], guards: Guards) -> Part:
    code, name, place, closure, said, defaults, doc, buffers, *_ = part
    said = Traits(*said)
    said = said._replace(slots=Slots(*said.slots))

    def cell(how: str, what: Any) -> tuple[str, Any]:
        if how == "held":
            back = guards.helper(objects[what])
            return ("cell", types.CellType(objects[what])) if back is None else ("held", back)
        if how == "cell":
            return "cell", types.CellType(at(*what) if len(what) == 2 else what[0])
        return how, what

    return Part(code, name, place, tuple(cell(*each) for each in closure), said, defaults, doc, buffers)


def _backend(name: str, gives_up_on: list[str]) -> Backend:
    """What runs a text: of its backend, only what may be raised is left."""
    if name == NUMPY.name:
        return NUMPY
    backend = Backend()
    backend.name, backend.gives_up_on = name, tuple(getattr(builtins, error) for error in gives_up_on)
    return backend
