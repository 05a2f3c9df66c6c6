"""What a call may write and return, for `points_to`: a user's function by its own source, a library's by what is known about
the object, a method by the class of its object.

    list(ys)          a new list of the items of ys          ys.copy(), ys a built-in list   the same
    np.asarray(y)     may be y                               OBJ.array(y)                    what that method does
    f(y), f unknown   may do anything
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import sys
import types
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.libraries import is_given, is_ours
from s2sgrad.analysis.plain_classes import runs_nothing
from s2sgrad.analysis.trust import CONTAINERS, Trust, trust_of_object
from s2sgrad.ir.checkpoints import under_checkpoint
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.lookups import note_attribute, note_member
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.signatures import Parameters, defaults_of
from s2sgrad.ir.unit import MISSING
from s2sgrad.memory import container_calls, library_calls
from s2sgrad.memory.arguments import Arguments, Points, meet_all
from s2sgrad.memory.closures import are_closures
from s2sgrad.memory.places import ANY, NONE, NUMBERS, OUTSIDE, TOLD, Place, Places, Summary, told_of
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.primitives.catalogue import Gives
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.structure import stored_in

_SHOWS = {"__str__", "__repr__"}
_PLAIN_MEMBERS = (types.FunctionType, types.MemberDescriptorType, types.GetSetDescriptorType, staticmethod, classmethod,
                  types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType)  # fmt: skip


def called(points: Points, node: gast.Call) -> Places:
    """The result of a call; its effects are noted in `points`."""
    plain = under_checkpoint(points.unit, node.func)
    if plain is not None:
        args, found = Arguments(points, node), points.unit.resolve(plain)
        if found is not MISSING:
            return call(points, found, args, node)
        return points.anything() if args.named or args.unpacked else apply(points, plain, *args.places)
    if _told(points, node.func) is NUMBERS:
        Arguments(points, node)
        return set()  # it raises
    target = points.unit.resolve(node.func)
    if target is MISSING and isinstance(node.func, gast.Attribute):
        module = _told(points, node.func.value)
        target = getattr(module, node.func.attr, MISSING) if isinstance(module, types.ModuleType) else MISSING
    elif target is MISSING:
        target = MISSING if (function := _told(points, node.func)) is None else function
    if target is MISSING:
        if isinstance(node.func, gast.Attribute):
            return _method(points, node, node.func)
        function, args = points.value(node.func), Arguments(points, node)
        if are_closures(function):
            returned: Places = points.closures.called(function, args, node)
            return returned
        return _unknown(points, function, args, node)
    args = Arguments(points, node, library_calls.calls_back(target))
    meet_all(points, args.all())  # the callee may use their operators
    return call(points, target, args, node)


def call(points: Points, target: Any, args: Arguments, node: gast.AST) -> Places:
    """The result of calling an object."""
    if isinstance(target, functools.partial):
        for key, value in target.keywords.items():
            args.named.setdefault(key, points.of_object(value))
        return call(points, target.func, args.before(*map(points.of_object, target.args)), node)
    if _is_read(target):
        return call(points, target.__func__, args.before(points.of_object(target.__self__)), node)
    if isinstance(target, types.FunctionType):
        if its(target, "__code__", None) is effects.CONTEXT_MANAGER:
            return call(points, vars(target)["__wrapped__"], args, node)
        if not effects.is_library(target) and not is_ours(target):
            return _of_user(points, target, args, node)
    if isinstance(target, type) and not library_calls.is_library_class(target):
        if has(target, "_fields") and runs_nothing(target):
            return points.shell(node, args.all())
        return _construct(points, target, args, node)
    if catalogue.of(target).copies and points.are_data(points.reached(args.all())):
        return container_calls.alike(points, args.all(), node)
    if is_ours(target) or (is_given(target) and catalogue.of(target).gives is not Gives.NEW):
        return _of_ours(points, target, args, node)
    start = inspect.getattr_static(type(target), "__call__", None)
    if isinstance(start, types.FunctionType) and not effects.is_library(start):
        return _of_user(points, start, args.before(points.of_object(target)), node)
    meet_all(points, args.all())
    return library_calls.called(points, target, args, node)


def _is_read(target: Any) -> bool:
    """Whether a bound method is the function of its class, with its object; one of a distribution may have a rule itself."""
    if not isinstance(target, types.MethodType) or not isinstance(target.__func__, types.FunctionType):
        return False
    return catalogue.of(target).rule is None or not effects.is_library(target.__func__)


def _of_ours(points: Points, target: Any, args: Arguments, node: gast.AST) -> Places:
    """A function of ours, or one with a rule of the user's: by its record, or all that it reaches."""
    record, new = catalogue.of(target), {Place("new", id(node))}
    if is_given(target) or (record.rule is None and not record.is_flat):  # those with a rule, and flat ones, return data
        new.add(Place("object", id(node)))
    if not is_ours(target) or record.sharing is None:
        return new | points.reached(args.all())
    if record.sharing is Gives.NEW:
        return new | points.shell(node, new)
    if record.keeps_kind:
        same = args.aliased(record.viewed)
        lists = {p for p in same if points.trust(p) != Trust.ARRAY}
        copied = points.shell(node, points.items(lists)) if lists else set()
        return same | copied | (set() if container_calls.are_containers(points, same) else new)
    model = container_calls.model(target)
    if model is None:
        return new | points.reached(args.aliased(record.viewed))
    return {p for p in new if p.kind == "object"} | model(points, args, node)


def _told(points: Points, node: gast.AST | None) -> Any:
    """The module or function that an argument of this function is, or that a global name refers to; `NUMBERS` of an argument
    that is known to be such; else None."""
    if isinstance(node, gast.Name) and node.id in points.objects:
        alone = points.names.get(node.id) == {Place("own", node.id)}
        return points.objects[node.id] if alone else None
    behind = points.named.get(node.id, node) if isinstance(node, gast.Name) else node
    found = points.unit.resolve(behind) if isinstance(behind, (gast.Name, gast.Attribute)) else None
    fixed = behind is not node and found is not MISSING and callable(found) and libraries.is_fixed(found)
    return found if fixed or isinstance(found, TOLD) else None


def _unknown(points: Points, function: Places, args: Arguments, node: gast.AST) -> Places:
    """The result of an unknown function: it writes its arguments, what it refers to, and global memory."""
    met = points.reached(function | args.all()) | {OUTSIDE}
    points.write(met)
    points.keep(met, met)
    return met | {Place("new", id(node)), Place("object", id(node))}


def apply(points: Points, function: gast.AST | None, *places: Places) -> Places:
    """The result of a function argument that a library calls with these locations."""
    if isinstance(function, gast.Lambda):
        parameters = function.args.posonlyargs + function.args.args
        for k, parameter in enumerate(parameters):
            points.names.setdefault(parameter.id, set()).update(places[k] if k < len(places) else ())
        for parameter, default in zip(reversed(parameters), reversed(function.args.defaults), strict=False):
            points.names.setdefault(parameter.id, set()).update(points.value(default))
        if len(parameters) < len(places) or function.args.vararg or function.args.kwonlyargs:
            return points.anything()
        return points.value(function.body)
    target = points.unit.resolve(function) if isinstance(function, (gast.Name, gast.Attribute)) else MISSING
    if target is MISSING:
        found = points.value(function) if isinstance(function, gast.Name) else set()
        if are_closures(found):
            returned: Places = points.closures.called(found, Arguments.of(points, *places), function)
            return returned
        return set() if is_none(function) else points.anything()
    return call(points, target, Arguments.of(points, *places), function)


def enters_quietly(points: Points, manager: gast.AST) -> bool:
    """Whether entering and leaving a context has no effects beyond those noted."""
    target = points.unit.called(manager)
    if target is MISSING:
        return False
    if its(target, "__code__", None) is effects.CONTEXT_MANAGER:
        return True  # the call that makes the context has covered its body
    if isinstance(target, type) and not library_calls.is_library_class(target):
        place = Place("object", id(manager), target)
        for name in ("__enter__", "__exit__"):
            _of_class(points, place, name, Arguments.of(points, *([{ANY}] * 3 if name == "__exit__" else [])), manager)
        return True
    return effects.is_library(target) and libraries.library(libraries.package_of(target)).quiet_managers


def _of_user(points: Points, function: types.FunctionType, args: Arguments, node: gast.AST) -> Places:
    """A user's function, by its summary."""
    bound = _bound(points, function, args, node)
    summary: Summary = points.summary_of(function, _trusts(points, function, args, bound))

    def here(places: Any) -> Places:
        out: Places = set()
        for place in places:
            if place.kind in ("own", "in"):
                given_ = bound.get(place.key, set())
                out |= given_ if place.kind == "own" else points.reached(points.items(given_))
            else:
                out.add(place)
        return out

    for owner, value in summary.puts:
        points.keep(here((owner,)), here((value,)))
    points.write(here(summary.written))
    out = here(summary.returns)
    held = here(summary.holds)
    if summary.makes & {"new", "kept"}:
        out.add(Place("new", id(node)))
        held.add(Place("new", id(node)))
    if "none" in summary.makes:
        out.add(NONE)
        held.add(NONE)
    if "drawing" in summary.makes:
        out.add(Place("drawing", id(node)))
    if summary.makes & {"shell", "kept"}:
        made = points.shell(node, held)
        points.tangled |= made if summary.tangles else set()
        out |= made
    if "object" in summary.makes:
        out.add(Place("object", id(node)))
        points.keep({Place("object", id(node))}, held)
    return out


def _trusts(points: Points, function: types.FunctionType, args: Arguments, bound: dict[str, Places]) -> dict[str, Any]:
    """What a callee is told of its arguments, by parameter."""
    left = bound.keys() - args.named.keys() - {*Parameters.of(function.__code__).positional[: len(args.places)]}
    trusts: dict[str, Any] = {
        p: max((Trust.ARRAY, *map(points.trust, points.reached(places)))) for p, places in bound.items()
    }
    passed = zip(Parameters.of(function.__code__).positional, args.nodes, strict=False)
    for p, value in (*passed, *args.named_nodes.items()):
        trusts[p] = _told(points, value) or trusts.get(p, Trust.ANY)
    for p, value in defaults_of(function).items() if not args.unpacked else ():
        if p in left and (found := told_of(value)) is not None:
            trusts[p] = found
    return trusts


def _bound(points: Points, function: types.FunctionType, args: Arguments, node: gast.AST) -> dict[str, Places]:
    """The locations of a function's arguments, by parameter."""
    parameters = Parameters.of(function.__code__)
    defaults = defaults_of(function)
    out: dict[str, Places] = dict(zip(parameters.positional, args.places, strict=False))
    for name in (*parameters.positional, *parameters.named):
        if name in args.named and name not in out:
            out[name] = args.named[name]
        elif name not in out:
            out[name] = points.of_object(defaults[name]) if name in defaults else set()
        out[name] = out[name] | (args.unpacked or set())
    rest = set().union(args.unpacked or (), *args.places[len(parameters.positional) :])
    if parameters.variadic is not None:
        out[parameters.variadic] = points.shell(node, rest, "*")
    if parameters.keyworded is not None:
        left = (places for name, places in args.named.items() if name not in out)
        out[parameters.keyworded] = points.shell(node, rest.union(*left), "**")
    return out


# --- methods ---


def _method(points: Points, node: gast.Call, function: gast.Attribute) -> Places:
    """A method call: by the object if it is known, by the trust of its owner, or by the class of an instance made here."""
    found = _object_of(points, function.value)
    if found is not MISSING and trust_of_object(found) in (None, Trust.ANY):
        return _of_object(points, found, function.attr, Arguments(points, node), node)
    owner = points.value(function.value) - {NONE}
    args = Arguments(points, node, calls=function.attr == "sort")
    meet_all(points, args.all())
    trusts = {points.trust(place) for place in owner}
    if not trusts or max(trusts) <= Trust.DATA:
        return library_calls.plain_method(points, owner, function.attr, args, node)
    if trusts == {Trust.DRAWING}:
        return library_calls.drawing_method(points, function.attr, args, node)
    out: Places = set()
    for place in owner:
        if place.kind != "object" or place.part is None or _is_stored(points.tree, function.attr):
            return points.anything()
        out |= _of_class(points, place, function.attr, args, node)
    return out


def _object_of(points: Points, node: gast.AST) -> Any:
    """The object that a path from a free name refers to; MISSING where it is unknown."""
    if isinstance(node, gast.Name):
        local = node.id in points.names or node.id in points.unit.locals
        return MISSING if local else points.unit.resolve(node)
    if not isinstance(node, gast.Attribute):
        return MISSING
    found = points.unit.resolve(node)
    owner = _object_of(points, node.value) if found is MISSING else MISSING
    if owner is MISSING or not _is_looked_up_plainly(owner):
        return found
    held = stored_in(owner)
    if not isinstance(held, dict) or node.attr not in held:
        return MISSING
    note_attribute(owner, node.attr, held[node.attr])
    return held[node.attr]


def _is_looked_up_plainly(owner: Any) -> bool:
    """Whether attribute lookup on an object runs no hook of the user's."""
    user = [k for k in type(owner).__mro__ if not library_calls.is_library_class(k)]
    return not any(hook in vars(k) for k in user for hook in ("__getattribute__", "__getattr__"))


def _of_object(points: Points, found: Any, name: str, args: Arguments, node: gast.AST) -> Places:
    """A method of an object from outside."""
    held = stored_in(found)
    if isinstance(found, (str, int, float, complex, bytes, np.generic)):
        return library_calls.plain_method(points, set(), name, args, node)
    if isinstance(held, dict) and name in held and _is_looked_up_plainly(found):
        note_attribute(found, name, held[name])
        return call(points, held[name], args, node)
    home = type(found).__module__.split(".")[0]
    if library_calls.is_library_class(type(found)):
        return library_calls.method_of_object(points, found, args, node) if home in sys.modules else points.anything()
    return _of_class(points, OUTSIDE, name, args, node, type(found))


def _of_class(points: Points, place: Place, name: str, args: Arguments, node: gast.AST, cls: type | None = None) -> Places:
    """A method that the class of an object defines."""
    cls = cls or place.part
    note_member(cls, name)
    member = next((vars(k)[name] for k in cls.__mro__ if name in vars(k)), None)
    if any(_stores(k, name) for k in cls.__mro__) or hasattr(cls, "__getattr__"):
        return points.anything()
    if isinstance(member, staticmethod):
        return call(points, member.__func__, args, node)
    if isinstance(member, classmethod):
        return call(points, member.__func__, args.before(set()), node)
    if isinstance(member, types.FunctionType):
        return call(points, member, args.before({place}), node)
    if isinstance(member, (types.MethodDescriptorType, types.WrapperDescriptorType)) and issubclass(cls, CONTAINERS):
        return library_calls.plain_method(points, {place}, name, args, node)
    return points.anything()


def looked_up(points: Points, place: Place, node: gast.Attribute) -> None:
    """The effects of reading an attribute: a property runs its getter."""
    if place.kind != "object" or place.part is None:
        return
    note_member(place.part, node.attr)
    member = next((vars(k)[node.attr] for k in place.part.__mro__ if node.attr in vars(k)), None)
    if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
        points.write(points.reached(call(points, member.fget, Arguments.of(points, {place}), node)) & {ANY})
    elif hasattr(type(member), "__get__") and not isinstance(member, _PLAIN_MEMBERS):
        points.anything()


def set_(points: Points, place: Place, node: gast.Attribute, value: Places) -> None:
    """The effects of setting an attribute: a property runs its setter."""
    member = inspect.getattr_static(place.part, node.attr, None) if place.kind == "object" and place.part else None
    if isinstance(member, property) and isinstance(member.fset, types.FunctionType):
        call(points, member.fset, Arguments.of(points, {place}, value), node)
    elif hasattr(type(member), "__set__") and not isinstance(member, _PLAIN_MEMBERS):
        points.anything()


def _stores(cls: type, name: str) -> bool:
    """Whether a method of a class stores an attribute of this name in an object."""
    methods = [m for m in vars(cls).values() if isinstance(m, types.FunctionType)]
    return any(i.opname == "STORE_ATTR" and i.argval == name for m in methods for i in dis.get_instructions(m))


def _is_stored(tree: gast.FunctionDef, name: str) -> bool:
    return any(isinstance(n, gast.Attribute) and n.attr == name and isinstance(n.ctx, gast.Store) for n in nodes(tree))


def _runs_only_init(cls: type, users: list[type]) -> bool:
    """Whether creating an instance runs only `__init__`; `users` are its classes outside of libraries."""
    bases = set(cls.__mro__) - {*users, object}
    made = any("__new__" in vars(k) for k in users) and not hasattr(cls, "_fields")
    plain = all(issubclass(k, (*CONTAINERS, BaseException)) for k in bases)
    return plain and not made and type(cls).__call__ is type.__call__


def _construct(points: Points, cls: type, args: Arguments, node: gast.AST) -> Places:
    """An instance of a user's class."""
    place = Place("object", id(node), cls)
    users = [k for k in cls.__mro__ if not library_calls.is_library_class(k)]
    if not _runs_only_init(cls, users):
        return points.anything()
    data = (v for k in users for n, v in vars(k).items() if not n.startswith("__") and not hasattr(type(v), "__get__"))
    trusts = {trust_of_object(v) for v in data if not callable(v)}
    points.keep({place}, {Place("outside", t) for t in trusts if t is not None})
    start = inspect.getattr_static(cls, "__init__")
    if not isinstance(start, types.FunctionType):
        points.keep({place}, args.all() | points.items(args.all()))
    elif dataclasses.is_dataclass(cls) and start.__code__.co_filename == "<string>":
        points.keep({place}, args.all())
        if hasattr(cls, "__post_init__"):
            _of_class(points, place, "__post_init__", Arguments.of(points), node)
    else:
        _of_user(points, start, args.before({place}), node)
    _implicit_effects(points, place, users, points.reached(args.all()), node)
    return {place}


def _implicit_effects(points: Points, place: Place, users: list[type], args: Places, node: gast.AST) -> None:
    """The effects that a new object may have later wherever it is passed: when it is printed, or its properties are used."""
    for name, member in {n: m for k in reversed(users) for n, m in vars(k).items()}.items():
        if isinstance(member, property):
            for function, places in ((member.fget, ({place},)), (member.fset, ({place}, args))):
                if isinstance(function, types.FunctionType):
                    call(points, function, Arguments.of(points, *places), node)
        elif name in _SHOWS and isinstance(member, types.FunctionType) and member.__code__.co_filename != "<string>":
            call(points, member, Arguments.of(points, {place}), node)
