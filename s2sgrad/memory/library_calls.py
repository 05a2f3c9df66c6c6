"""Models of library functions and methods, for `points_to`: what they write and return; what has no model may do anything.

np.sin(y)   new                      np.ravel(y)   may be y               sorted(ys)   a new list of the items
np.copyto(y, v)   writes y           max([y], key=len)   an item          operator.getitem(ys, 0)   an item
"""

from __future__ import annotations

import functools
import itertools
import logging
import types
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.object_arrays import holds_objects
from s2sgrad.analysis.plain_classes import draws
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.signatures import by_keyword, by_position
from s2sgrad.ir.unit import MISSING
from s2sgrad.memory import container_calls
from s2sgrad.memory.arguments import Arguments, Points, meet_all, objects_of
from s2sgrad.memory.places import ANY, NONE, OUTSIDE, Place, Places
from s2sgrad.primitives import catalogue, libraries, methods, spellings
from s2sgrad.primitives.catalogue import VIEWS, Gives, Primitive, may_write, methods_named, on_stack
from s2sgrad.rules import table
from s2sgrad.runtime.asking import has, its

_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType, types.BuiltinFunctionType)
_PLAIN_CLASSES = (np.ndarray, list, dict, set, frozenset, tuple, str, bytes, int, float, complex)
_OBJECTS = "objects"  # the contents of an object array


def is_library_class(cls: Any) -> bool:
    """Whether a class is built in, or belongs to an installed library; of ours, only exceptions do."""
    package = libraries.package_of(cls)
    if not isinstance(cls, type) or package == "__main__" or not libraries.is_installed_package(package):
        return False
    return package != libraries.OURS or issubclass(cls, BaseException)


def calls_back(target: Any) -> bool:
    """Whether a library function is known to call one of its arguments, and with what."""
    record = catalogue.of(target)
    return record.called is not None or bool(record.called_name)


def hands_function(target: Any, call: gast.Call) -> bool:
    """Whether a call hands a library function what it calls: `min(xs)` does not, and `min(xs, key=f)` does."""
    record = catalogue.of(target)
    named = any(keyword.arg in (None, record.called_name) for keyword in call.keywords)
    return record.called is not None or (bool(record.called_name) and named)


def called(points: Points, target: Any, args: Arguments, node: gast.AST) -> Places:
    """The result of a call of a library's function or class, identified by the object."""
    record = catalogue.of(target)
    if record.unseen:
        return points.anything()
    owner = its(target, "__self__", None)
    of_function = record.writes and not has(target, "__objclass__")
    if of_function or (isinstance(owner, np.ufunc) and catalogue.of_bound(target).writes):
        return _writing(points, record, args)
    if isinstance(target, _METHODS) and not isinstance(owner, (types.ModuleType, type(None))):
        return _bound_method(points, target, owner, args, node)
    if isinstance(target, _METHODS[:2]):
        return _unbound_method(points, target, args, node)
    out = _into(points, target, args)
    if record.called is not None or record.called_name in args.named:
        return _calling(points, record, args, node)
    model = container_calls.model(target)
    if model is not None:
        return model(points, args, node)
    if record.gives is Gives.NEW and not record.pure:
        return {Place("new", id(node))} | objects_of(points, args.all())
    if record.is_given:
        return {Place("new", id(node))} | points.reached(args.all())
    if isinstance(target, type):
        return _instance(points, target, args, node)
    return out | (_computed(points, record, args, node) if record.pure else _unknown(points, target, args, node))


def _writing(points: Points, record: Primitive, args: Arguments) -> Places:
    """A function that writes its first argument, and may store the others into it."""
    every = args.all()
    first = args[0] if args.places else every
    points.write(first | (points.items(first) if record.gives is Gives.OPERATOR else set()))
    points.keep(first, every | points.items(every))
    return points.reached(every)


def _unbound_method(points: Points, target: Any, args: Arguments, node: gast.AST) -> Places:
    """`np.ndarray.sort(y)`: the method of its first argument, where that is data."""
    if target.__objclass__ not in _PLAIN_CLASSES or not args.places or not points.are_data(args[0]):
        return points.anything()
    args.nodes.pop(0)
    return plain_method(points, args.places.pop(0), target.__name__, args, node)


# --- functions that compute, and unknown ones ----------------------------------------------------------------------------


def _computed(points: Points, record: Primitive, args: Arguments, node: gast.AST) -> Places:
    """A pure function: its result is new, or a view of an argument if its record allows that."""
    every, out = args.all(), {Place("new", id(node))}
    target = record.function
    names = by_position(target)
    if target is np.nan_to_num and not _is_true(_option(args, names, "copy")):
        points.write(args[0] if args.places else every)
    views: Places = set()
    if record.may_view:
        place = record.viewed
        views = every if place is None else args[place] | set().union(args.unpacked or (), *args.named.values())
    elif _option(args, names, "copy") is not None:
        views = every
    if record.several:
        out |= points.shell(node, views)
    kind = _option(args, names, "dtype")
    if _fills(points, record, args, names) or (kind is not None and not _is_numeric(points, kind)):
        out |= points.shell(node, points.reached(every), _OBJECTS)
    return out | views | objects_of(points, every)


def _fills(points: Points, record: Primitive, args: Arguments, names: tuple[str, ...]) -> bool:
    """Whether the data for an array contains None, a dict or a set, so that it becomes an object array."""
    count = len(record.rule.differentiable) if record.rule is not None else 1
    data = set().union(*args.places[:count], *(args.named.get(name, ()) for name in names[:count]), args.unpacked or ())
    suspects = {p for p in points.reached(args.all()) if p == NONE or p.part in (_OBJECTS, "keyed")}
    of_objects = not suspects.isdisjoint(points.reached(data)) or (
        bool(suspects) and not suspects.isdisjoint(points.items(p for p in points.reached(args.all()) if p.kind == "shell"))
    )
    return of_objects or (record.fills and any(p.kind in ("own", "in") for p in data))


def _option(args: Arguments, names: tuple[str, ...], option: str) -> Any:
    """The expression of an option of a call, by name or by position; None if it is not passed."""
    if option in args.named_nodes:
        return args.named_nodes[option]
    place = names.index(option) if option in names else len(args.nodes)
    return args.nodes[place] if place < len(args.nodes) else None


def _is_true(node: Any) -> bool:
    return node is None or (isinstance(node, gast.Constant) and node.value is True)


def _is_numeric(points: Points, kind: gast.AST) -> bool:
    """Whether a dtype argument is known to be numeric."""
    if isinstance(kind, gast.Constant):
        found = kind.value
    else:
        found = points.unit.resolve(kind)
        if isinstance(kind, gast.Attribute) and kind.attr == "dtype" and points.are_data(points.value(kind.value)):
            return True
    return not holds_objects(found)


def _into(points: Points, target: Any, args: Arguments, skipped: int = 0) -> Places:
    """Note writes into the arrays that a call uses for its result, and return these."""
    names = by_position(target) if callable(target) else ()
    out: Places = set(args.unpacked or ()) if any(n in spellings.RESULTS for n in names) else set()  # `f(*args)`
    at_places = zip(names[skipped:], args.nodes, args.places, strict=False)
    by_name = (
        (key, args.named_nodes.get(key), places) for key, places in args.named.items()
    )  # that of a partial has no node
    for key, node, places in (*at_places, *by_name):
        if key in spellings.RESULTS:
            out |= places
        elif spellings.overwrites(key) and not (isinstance(node, gast.Constant) and spellings.is_off(key, node.value)):
            out |= args.all()
    if args.optional:  # `f(**options)`
        out |= args.optional if may_receive(target) else set()
        if any(map(spellings.overwrites, by_keyword(target) or ())):
            out |= args.all()
    points.write(points.reached(out))
    return out


def may_receive(target: Any) -> bool:
    """Whether a library function may be given an array for its result in `**options`.

    >>> may_receive(np.einsum), may_receive(np.floor), may_receive(np.shape), may_receive(dict)
    (True, True, False, False)
    """
    if is_ours(target):
        return False
    known = by_keyword(target)
    return libraries.is_numeric(target) if known is None else not known.isdisjoint(spellings.RESULTS)


def _by_key(points: Points, target: Any, args: Arguments, node: gast.AST) -> Places:
    """`sorted`, `min` and `max` with a `key`, which is called with each item."""
    held = points.items(args[0]) if len(args.places) == 1 else args.all()
    if not is_none(args.named_nodes["key"]):
        points.apply(args.named_nodes["key"], held)
    held = held | objects_of(points, args.all())
    return points.shell(node, held) if target is sorted else held | args.named.get("default", set())


def _calling(points: Points, record: Primitive, args: Arguments, node: gast.AST) -> Places:
    """A function that calls one of its arguments with items of others."""
    items, target = points.items, record.function
    if record.called is None:
        return _by_key(points, target, args, node)
    place = record.called
    function = args.nodes[place] if place < len(args.nodes) else args.named_nodes.get(record.called_name)
    rest = [p for k, p in enumerate(args.places) if k != place]
    held = items(set().union(*rest, *args.named.values(), args.unpacked or ()))
    if args.unpacked is not None or (function is None and target is not itertools.accumulate and place != 1):
        return points.anything()
    if function is not None and not is_none(function):
        if target in (functools.reduce, itertools.accumulate):
            held = _folded(points, function, held, set().union(*rest, *args.named.values()))
            return held if target is functools.reduce else points.shell(node, held)
        if target is itertools.starmap:
            return points.shell(node, points.apply(function, items(held), items(held)))
        if target is map:
            return points.shell(node, points.apply(function, *map(items, rest)))
        if target in (np.apply_along_axis, np.apply_over_axes, np.piecewise, np.fromfunction):
            result = points.anything() if isinstance(function, gast.List) else points.apply(function, args.all())
            return {Place("new", id(node))} | args.all() | {p for p in result if p == ANY}
        points.apply(function, held)
    return points.shell(node, held) | points.shell(node, points.shell(node, held, "group"))


def _folded(points: Points, function: gast.AST, held: Places, start: Places) -> Places:
    """The results and arguments of a function that is called with its last result and one more item."""
    before = None
    while before != held:
        before = set(held)
        held = held | start | points.apply(function, held, held)
    return held


def _bound_method(points: Points, target: Any, owner: Any, args: Arguments, node: gast.AST) -> Places:
    """A call of a bound method, by its object."""
    if isinstance(owner, np.ufunc):
        out = _into(points, target, args)
        return {Place("new", id(node))} | out | objects_of(points, args.all())
    if owner is itertools.chain:
        return points.shell(node, points.items(points.items(args.all())))
    if draws(owner):
        return drawing_method(points, target.__name__, args, node)
    if isinstance(owner, type):
        held = points.reached(args.all())
        return points.shell(node, held) | (held if owner not in _PLAIN_CLASSES else set())
    trust = trust_of_object(owner)
    if trust is not None and trust <= Trust.DATA:
        return plain_method(points, points.of_object(owner), target.__name__, args, node)
    if trust is None:
        return plain_method(points, set(), target.__name__, args, node)
    return _unknown(points, target, args, node)


def _instance(points: Points, cls: type, args: Arguments, node: gast.AST) -> Places:
    """An instance of a library's class."""
    every = args.all()
    if issubclass(cls, np.generic):
        return {Place("new", id(node))} | every
    if catalogue.of(cls).computes:
        return _computed(points, catalogue.of(cls), args, node)
    if cls in libraries.DRAWING:
        return {Place("drawing", id(node))}
    if issubclass(cls, BaseException):
        return points.shell(node, every)
    if cls is memoryview:
        return {Place("new", id(node))} | every
    own = table.has_own_operators(cls)  # which compute, as those of sparse arrays do
    place = Place("object", id(node), cls if own else None)
    points.keep({place}, points.reached(every))
    return {place} | points.reached(every)


def _unknown(points: Points, target: Any, args: Arguments, node: gast.AST) -> Places:
    """A library function without a record: it is assumed to write no array that is not passed for that purpose, and may
    return its arguments; a callable among them may do anything."""
    every = points.reached(args.all())
    package = libraries.package_of(target) or libraries.package_of(type(target))
    if not libraries.is_installed_package(package):
        return points.anything()
    calls = any(_may_be_called(points, n) for n in (*args.nodes, *args.named_nodes.values()))
    if calls or any(points.trust(p) == Trust.ANY for p in every):
        points.anything()
    if not libraries.library(package).computes:
        points.write(every)
    return every | {Place("new", id(node))} | points.shell(node, every)


def _may_be_called(points: Points, node: gast.AST | None) -> bool:
    """Whether an argument may be a user's function."""
    if not isinstance(node, (gast.Name, gast.Attribute, gast.Lambda)):
        return False
    found = MISSING if isinstance(node, gast.Lambda) else points.unit.resolve(node)
    if found is MISSING:
        return isinstance(node, gast.Lambda) or any(p == ANY or p.kind == "closure" for p in points.value(node))
    return callable(found) and not catalogue.of(found).pure and not isinstance(found, type)


def drawing_method(points: Points, name: str, args: Arguments, node: gast.AST) -> Places:
    """A method of a random generator: its result is new, except for items of what it chooses from."""
    every = args.all()
    out: Places = set()
    for cls in libraries.DRAWING:
        out |= _into(points, getattr(cls, name, None), args, 1)
    if may_write(name):
        points.write(every)
        points.keep(every, points.items(every))
    lists = {p for p in every if points.trust(p) != Trust.ARRAY}
    if methods.draws_items(name):
        out |= points.items(lists) | points.shell(node, points.items(lists)) if lists else set()
    return out | {Place("new", id(node))} | objects_of(points, every)


def method_of_object(points: Points, found: Any, args: Arguments, node: gast.AST) -> Places:
    """A method of a library object that lives outside; a logger only records its arguments."""
    every = points.reached(args.all())
    if every and not isinstance(found, logging.Logger):
        points.anything()
        every = every | {ANY}
    return every | {OUTSIDE, Place("new", id(node))}


def _aliased_besides(points: Points, owner: Places, name: str, args: Arguments, node: gast.AST) -> Places:
    """What a method that allocates may return besides: its `out=`, the array itself, or objects in it."""
    out = _into(points, getattr(np, name, None), args, 1)
    if not _is_true(_option(args, ("dtype", "order", "casting", "subok", "copy"), "copy")) and name == "astype":
        out |= owner
    kind = args.named_nodes.get("dtype") or (args.nodes[0] if name == "astype" and args.nodes else None)
    if kind is not None and not _is_numeric(points, kind):
        out |= points.shell(node, points.reached(owner))
    return out


def plain_method(points: Points, owner: Places, name: str, args: Arguments, node: gast.AST) -> Places:
    """A method of an array, a number, a string or a built-in container, by name."""
    every, new, items = args.all(), {Place("new", id(node))}, points.items
    meet_all(points, every)
    lists = {p for p in owner if points.trust(p) != Trust.ARRAY}
    if may_write(name):
        points.write(owner)
        points.keep(owner, every if on_stack(name) else every | items(every))
        if "key" in args.named_nodes:
            points.apply(args.named_nodes["key"], items(owner))
        return items(owner) | every | (owner if name.startswith("__") else set())
    gives = methods.may_be(name)
    if gives in (Gives.SHELL, Gives.ROWS):
        array = any(record.gives is Gives.NEW for record in methods_named(name))
        held = items(lists | {p for p in every if not array})
        if gives is Gives.ROWS:
            held = points.shell(node, held, "item")
        return (new if array else set()) | (points.shell(node, held) if lists else set())
    if gives is Gives.NEW:
        return new | _aliased_besides(points, owner, name, args, node)
    if gives in (*VIEWS, Gives.MAYBE):
        return owner | new
    if gives is Gives.ITEM:
        return items(owner) | every
    return points.anything()
