"""A global that one function of a program writes must not be read by another: the reverse sweep would see a later value.

    def scaled(x): return x * rate       def f(x): global rate; rate = 2.0; y = scaled(x); rate = 3.0; return y

    ->  Unsupported: `rate` is written by `f` and read by `scaled` ...

The function that writes a global records its own reads; reads in other functions count as constants.  The same holds for
an object of the caller's whose attributes are written.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.reached_codes import TOO_MUCH, reached
from s2sgrad.errors import S2SGradError, Unsupported
from s2sgrad.ir.forms import appended_to
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.source import read

_ANY = object()  # an attribute with a name that only the run knows
_WAY = "pass it as an argument and return it"


def check(units: list[Unit], at_run_time: bool = False) -> None:
    """Raise Unsupported where one function writes a global and another, or one unknown so far, reads it.

    `at_run_time`: a function that was compiled earlier calls these.
    """
    _check_objects(units, at_run_time)
    _check_kept(units, at_run_time)
    _check_stand_ins(units)
    written = {(id(v.space), v.name): u for u in units for v in u.helpers.values() if isinstance(v, runtime.Global)}
    if not written:
        return
    for (_, name), writer in written.items():
        place = next(n for n in nodes(writer.primal.tree) if isinstance(n, gast.Global) and name in n.names)
        if at_run_time or any(v is runtime.vjp for u in units for v in u.helpers.values()):
            writer.refuse(place, f"the global `{name}` is written where a function is only known at run time, which is "
                                 f"not differentiated yet: {_WAY}")  # fmt: skip
    for unit in _reached(units):
        mine = {(id(v.space), v.name) for v in unit.helpers.values() if isinstance(v, runtime.Global)}
        for node in _inside(unit):
            key = _global(unit, node)
            if key in written and key not in mine:
                writer = written[key].primal.tree.name
                unit.refuse(node, f"the global `{key[1]}` is written by `{writer}` and read here, which is not "
                                  f"differentiated yet: {_WAY}")  # fmt: skip


def at_run_time(units: list[Unit]) -> Unsupported | None:
    """Why no function that was compiled earlier may call these."""
    try:
        check(units, at_run_time=True)
    except Unsupported as error:
        return error
    return None


def _check_kept(units: list[Unit], at_run_time: bool) -> None:
    """What is kept in a list or dict from outside and carries a derivative is read by nobody: it would be a constant."""
    kept = {name: unit for unit in units for name in unit.outside.loses_to}
    _check_unseen(units, kept, at_run_time)
    for unit in _reached(units) if kept else ():
        only_written = {id(owner) for node in _inside(unit) if (owner := _written_owner(node)) is not None}
        for node in _inside(unit):
            free = isinstance(node, gast.Name) and node.id not in unit.locals and id(node) not in only_written
            found = unit.resolve(node) if free else MISSING
            for name, writer in kept.items() if isinstance(found, (list, dict, tuple)) else ():
                if _is_or_holds(found, writer.resolve(gast.Name(name, gast.Load(), None, None))):
                    unit.refuse(node, f"`{node.id}` is read here, and `{writer.primal.tree.name}` keeps a differentiated "
                                      f"value in it, which is a constant here: {_WAY}")  # fmt: skip


def _check_unseen(units: list[Unit], kept: dict[str, Unit], at_run_time: bool) -> None:
    """Nor by a function that only the run knows, which another function of the program calls, or which calls this one."""
    for name, writer in kept.items():
        others = [(u, call) for u in units if u is not writer for call in u.outside.unseen]
        if at_run_time or others:
            unit, place = others[0] if others else (writer, writer.primal.tree)
            unit.refuse(place, f"`{writer.primal.tree.name}` keeps a differentiated value in `{name}`, which a function "
                               f"that is only known at run time may read as a constant: {_WAY}")  # fmt: skip


def _written_owner(node: gast.AST) -> gast.AST | None:
    """`xs` of `xs.append(e)` and `xs[k] = e`, which do not say what it holds."""
    if isinstance(node, gast.Subscript):
        return node.value if isinstance(node.ctx, gast.Store) else None
    return appended_to(node)


def _is_or_holds(value: Any, other: Any, depth: int = 4) -> bool:
    """Whether a value is another, or a container that holds it."""
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return value is other or (depth > 0 and any(_is_or_holds(item, other, depth - 1) for item in items))


def _check_stand_ins(units: list[Unit]) -> None:
    """Refuse what would tell that one container class stands in for another: tests, and attributes that the other lacks."""
    every = [u for unit in units for u in (unit, *unit.inlining.units)]
    pairs = set().union(*(u.outside.stand_ins for u in every))
    for unit in _reached(every) if pairs else ():
        _check_attributes(unit, pairs)
        for node in _inside(unit):
            if unit.called(node) in (isinstance, type):
                for cls, plain in (pair for pair in pairs if _tells_apart(unit, node, *pair)):
                    unit.refuse(node, f"a {plain.__name__} stands for each {cls.__name__}, and this may ask whether "
                                      f"something is one: use a {plain.__name__}")  # fmt: skip


def _check_attributes(unit: Unit, pairs: set[tuple[type, type]]) -> None:
    methods = {id(node.func) for node in _inside(unit) if isinstance(node, gast.Call)}
    for node in _inside(unit):
        asked = _asked(unit, node) if id(node) not in methods else None
        for cls, plain in pairs if asked is not None else ():
            if asked is None or asked is _ANY or hasattr(cls, asked) != hasattr(plain, asked):
                unit.refuse(node, f"a {plain.__name__} stands for each {cls.__name__}, and this may read an attribute "
                                  f"of one: use a {plain.__name__}")  # fmt: skip


def _asked(unit: Unit, node: gast.AST) -> Any:
    """The attribute that an expression reads or asks for, of what only the run knows; None for other expressions."""
    if isinstance(node, gast.Attribute):
        return node.attr if unit.resolve(node) is MISSING else None
    if unit.called(node) not in (hasattr, getattr) or len(node.args) < 2:
        return None
    return node.args[1].value if isinstance(node.args[1], gast.Constant) else _ANY


def _tells_apart(unit: Unit, call: gast.Call, cls: type, plain: type) -> bool:
    """Whether the answer may differ between an instance of one class and one of the other."""
    if unit.called(call) is type or len(call.args) != 2:
        return True
    asked = call.args[1].elts if isinstance(call.args[1], gast.Tuple) else [call.args[1]]
    classes = tuple(map(unit.resolve, asked))
    try:
        return issubclass(plain, classes) != issubclass(cls, classes)
    except TypeError:
        return True


def _check_objects(units: list[Unit], at_run_time: bool) -> None:
    """The same for objects whose attributes are written: only the writer may read a global that holds one of their class."""
    for writer in units:
        classes = tuple(writer.outside.separate)
        if not classes:
            continue
        if at_run_time:
            writer.refuse(writer.primal.tree, "attributes of the caller's objects are written where a function is only "
                                              "known at run time, which is not differentiated yet: return them")  # fmt: skip
        written_out = {id(u) for u in (writer, *writer.inlining.units)}
        for unit in _reached(units):
            for node in _inside(unit) if id(unit) not in written_out else ():
                free = isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and node.id not in unit.locals
                if free and any(isinstance(found, classes) or found is TOO_MUCH for found in reached([unit.resolve(node)])):
                    unit.refuse(node, f"`{node.id}` is read here, and attributes of an object of its class are written by "
                                      f"`{writer.primal.tree.name}`, which is not differentiated yet: {_WAY}")  # fmt: skip


def _global(unit: Unit, node: gast.AST) -> tuple[int, str] | None:
    """The global that a name, or an attribute of a module, reads."""
    if isinstance(node, gast.Name):
        free = isinstance(node.ctx, gast.Load) and node.id not in unit.primal.function.__code__.co_freevars
        return (id(unit.primal.function.__globals__), node.id) if free and node.id not in unit.locals else None
    if isinstance(node, gast.Attribute):
        owner = unit.resolve(node.value)
        return (id(vars(owner)), node.attr) if isinstance(owner, types.ModuleType) else None
    return None


def _inside(unit: Unit) -> Iterator[gast.AST]:
    """The nodes of a function without its decorators, which have already run."""
    return nodes(unit.primal.tree.args, *unit.primal.tree.body)


def _reached(units: list[Unit]) -> Iterator[Unit]:
    """The units, and those of the functions that they call without differentiating them."""
    waiting = list(units)
    seen = {id(u.primal.function) for u in units}
    while waiting:
        unit = waiting.pop()
        yield unit
        for node in _inside(unit):
            called = unit.called(node)
            if is_user_function(called) and id(called) not in seen and not is_ours(called):
                seen.add(id(called))
                try:
                    waiting.append(Unit.of(read(called))[0])
                except S2SGradError:
                    unit.refuse(node, "a function whose text is not to be had may read the global that is written here: "
                                      f"{_WAY}")  # fmt: skip
