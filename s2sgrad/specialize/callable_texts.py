"""Properties of a function that its text determines: whether it returns functions, or changes the length of its arguments.

    def scaled(w): return lambda t: w * t              ->      gives_function: it is inlined
    def queue(xs, v): xs.insert(0, v)                  ->      resizes_argument

>>> from s2sgrad import grad
>>> makes_derivative(grad), makes_derivative(len)
(True, False)
"""

from __future__ import annotations

import collections
import contextlib
import functools
import types
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.analysis import outside
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.plain_classes import attributes_of, is_container_of_its_own, is_plain_class
from s2sgrad.analysis.reached import named
from s2sgrad.analysis.reached_classes import functions_of, walked
from s2sgrad.analysis.user_functions import is_generator, is_plain
from s2sgrad.errors import S2SGradError
from s2sgrad.ir import scoping
from s2sgrad.ir.forms import appended_to
from s2sgrad.ir.one_compilation import forgotten_after
from s2sgrad.ir.quote import children, nodes, statements_in
from s2sgrad.ir.unit import parameters
from s2sgrad.normalize import containers
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.iterator_kinds import LAZY
from s2sgrad.source import read

MATRICES = "s2sgrad.api.matrices"
_CONTAINERS = frozenset({collections.defaultdict, collections.deque})  # which do more than lists and dicts


def _functional_locals(node: gast.FunctionDef, home: types.FunctionType, objects: bool) -> set[str]:
    """The variables of a function that are bound to function values, or with `objects` to new objects and lists of them."""
    within = {n.name for n in statements_in(node.body) if isinstance(n, gast.FunctionDef)}
    for n in nodes(*node.body):
        if isinstance(n, gast.Assign) and _is_functional(n.value, within, home, objects):
            within |= {t.id for t in n.targets if isinstance(t, gast.Name)}
    for n in nodes(*node.body) if objects else ():
        owner = appended_to(n)
        if isinstance(owner, gast.Name) and _is_functional(n.args[0], within, home, objects):
            within.add(owner.id)
    return within


def returns_function(
    node: gast.FunctionDef | gast.Lambda, home: types.FunctionType, of_class: bool = False, objects: bool = False
) -> bool:
    """Whether a function returns a function value, or with `objects` a new object, judged by its text; `home` is the
    function that contains it, `of_class`: it is a class method."""
    if isinstance(node, gast.Lambda):
        return isinstance(node.body, gast.Lambda)
    within = _functional_locals(node, home, objects)
    values = [part.value for part in statements_in(node.body) if isinstance(part, gast.Return) and part.value is not None]
    own = next((p.id for p in parameters(node)), "") if of_class else ""
    calls_itself = any(isinstance(v, gast.Call) and getattr(v.func, "id", None) == own for v in values)
    return calls_itself or any(_is_functional(value, within, home, objects) for value in values)


def _is_functional(value: gast.AST, within: set[str], home: types.FunctionType, objects: bool) -> bool:
    """Whether an expression is, or contains, a function value, judged by its text; `within` are names of function values."""
    if isinstance(value, gast.Lambda) or (isinstance(value, gast.Name) and value.id in within):
        return True
    shown = isinstance(value, (gast.Tuple, gast.List))
    parts = value.values if isinstance(value, gast.Dict) else value.elts if shown else []
    if objects and isinstance(value, (gast.IfExp, gast.ListComp, gast.Subscript)):
        parts = [value.body, value.orelse] if isinstance(value, gast.IfExp) else [getattr(value, "elt", None) or value.value]
    if any(_is_functional(part, within, home, objects) for part in parts):
        return True
    return isinstance(value, gast.Call) and _call_gives_function(value, home, objects)


def _call_gives_function(call: gast.Call, home: types.FunctionType, objects: bool) -> bool:
    """Whether a call returns a function value, or with `objects` a new object; a method, if one of that name does in any
    class to which `home` refers."""
    target = named(call.func, home)
    makes = objects and (is_plain_class(target) or is_one_of(target, _CONTAINERS) or is_container_of_its_own(target))
    if target is functools.partial or makes_derivative(target) or makes:
        return True
    if isinstance(target, types.MethodType):
        method: Any = target.__func__
        return is_plain_class(target.__self__) and method_gives_function(method)
    if objects and target is None and isinstance(call.func, gast.Attribute):
        return call.func.attr in (_methods_that_give_functions(home) or ())
    return is_plain(target) and gives_function(target)


def makes_derivative(target: Any) -> bool:
    """Whether a callable is `grad`, `value_and_grad` or `elementwise_grad`."""
    return _is_of("s2sgrad.api", target, "grad", "value_and_grad") or _is_of(MATRICES, target, "elementwise_grad")


def makes_matrix(target: Any) -> bool:
    """Whether a callable makes a function that returns a matrix of derivatives."""
    return _is_of(MATRICES, target, "jacobian", "jacfwd", "jacrev", "hessian", "value_and_jacobian")


def _is_of(module: str, target: Any, *names: str) -> bool:
    """Whether a callable is our own function of this module with one of these names."""
    return isinstance(target, types.FunctionType) and target.__module__ == module and target.__name__ in names


def _cached_predicate(ask: Callable[[types.FunctionType], Any]) -> Callable[[types.FunctionType], Any]:
    """Cache a predicate on the text of a user's function.  The answer is no without source, for our own functions, and for
    recursive calls of the predicate."""
    answers: dict[types.FunctionType, Any] = {}
    forgotten_after(answers.clear)

    @functools.wraps(ask)
    def answer(target: types.FunctionType) -> Any:
        if target not in answers:
            answers[target] = False
            with contextlib.suppress(S2SGradError):
                answers[target] = not read(target).is_generated and ask(target)
        return answers[target]

    return answer


@_cached_predicate
def resizes_argument(target: types.FunctionType) -> bool:
    """Whether a user's function changes the length of a list or dict that it receives."""
    tree = read(target).tree
    names = {p.id for p in parameters(tree)}
    return any(isinstance(n, gast.Call) and _resizes(target, n, names) for n in nodes(tree))


@_cached_predicate
def gives_function(target: types.FunctionType) -> bool:
    """Whether a function returns a function value."""
    return returns_function(read(target).tree, target, objects=True)


@_cached_predicate
def gives_iterator(target: types.FunctionType) -> bool:
    """Whether a function returns a generator, or another iterator."""
    tree = read(target).tree
    made = {n.name for n in statements_in(tree.body) if isinstance(n, gast.FunctionDef) and yields(n)}
    kept = {t.id for n in nodes(*tree.body) if isinstance(n, gast.Assign) and _is_lazy(n.value, made, set(), target)
            for t in n.targets if isinstance(t, gast.Name)}  # fmt: skip
    values = [part.value for part in statements_in(tree.body) if isinstance(part, gast.Return) and part.value is not None]
    return any(_is_lazy(value, made, kept, target) for value in values)


def _is_lazy(value: gast.AST, made: set[str], kept: set[str], home: types.FunctionType) -> bool:
    """Whether an expression is, or holds, an iterator; `made`: nested generator functions, `kept`: names of iterators."""
    parts = list(children(value)) if isinstance(value, (gast.Tuple, gast.List, gast.Dict, gast.IfExp, gast.BoolOp)) else []
    if isinstance(value, gast.Call):
        target = named(value.func, home)
        lazy = is_one_of(target, LAZY) or is_generator(target) or (is_plain(target) and gives_iterator(target))
        return lazy or (isinstance(value.func, gast.Name) and value.func.id in made)
    kept_here = isinstance(value, gast.Name) and value.id in kept
    return kept_here or isinstance(value, gast.GeneratorExp) or any(_is_lazy(part, made, kept, home) for part in parts)


@_cached_predicate
def method_gives_function(target: types.FunctionType) -> bool:
    """Whether a method, or a class method, returns a function value."""
    return returns_function(read(target).tree, target, of_class=True, objects=True)


@_cached_predicate
def _methods_that_give_functions(target: types.FunctionType) -> set[str]:
    """The names of methods that return function values, of the classes to which a function can refer."""
    _, classes = walked((target,))
    return {f.__name__ for cls in classes for f in functions_of(cls) if method_gives_function(f)}


@_cached_predicate
def owners_written(target: types.FunctionType) -> list[Any]:
    """The objects and classes that live outside of a function of which it writes attributes, itself or in what it calls."""
    free = _free(target)
    owners = (outside.attribute_owner(free, n) for n in nodes(*read(target).tree.body))
    return [o for o in owners if o is not None] + [o for f in _called(target) for o in owners_written(f) or ()]


@_cached_predicate
def objects_named(target: types.FunctionType) -> list[tuple[str, Any]]:
    """The objects that live outside of a function and have names in its text, or in the text of what it calls."""
    free, names = _free(target), (n for n in nodes(*read(target).tree.body) if isinstance(n, gast.Name))
    objects = [(n.id, o) for n in names if attributes_of(o := free(n)) is not None]
    return objects + [pair for f in _called(target) for pair in objects_named(f) or ()]


def _called(target: types.FunctionType) -> list[types.FunctionType]:
    """The functions of the user's that the text of a function calls by their names."""
    calls = (n for n in nodes(*read(target).tree.body) if isinstance(n, gast.Call))
    return [f for f in (named(call.func, target) for call in calls) if is_plain(f)]


def _free(target: types.FunctionType) -> outside.Resolve:
    """What names stand for that a function does not bind."""
    bound = scoping.bound(read(target).tree.body) | {p.id for p in parameters(read(target).tree)}
    return lambda node: None if node.id in bound else named(node, target)


def _resizes(target: types.FunctionType, call: gast.Call, names: set[str]) -> bool:
    """Whether a call in a function changes the length of one of the arguments `given`, itself or through its callee."""
    if isinstance(call.func, gast.Attribute) and isinstance(call.func.value, gast.Name) and call.func.value.id in names:
        return containers.rebinds(call)
    hands_on = any(isinstance(n, gast.Name) and n.id in names for n in nodes(*call.args))
    called = named(call.func, target)
    return hands_on and is_plain(called) and resizes_argument(called)
