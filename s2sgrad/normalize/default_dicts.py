"""`defaultdict` becomes a dict: reading a key stores its default first.

    d = defaultdict(list)           d = {}
    d[k].append(v)          ->      d.setdefault(k, []).append(v)
    s = s + d[n]                    s = s + d.setdefault(n, [])

A variable is a `defaultdict` if everything it is bound to is one: a call of `defaultdict`, another such variable, or a
call of a function that returns one.  A callee that receives one is specialised to a variant whose parameter is one.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(xs):
...     from collections import defaultdict
...     d = defaultdict(float)
...     for k, x in xs:
...         d[k] += x * x
...     return d["a"]
... ''', "default_dicts"))
def f(xs):
    d = {}
    for k, x in xs:
        d.setdefault(k, 0.0)
        d[k] += x * x
    return d.setdefault('a', 0.0)
"""

from __future__ import annotations

import contextlib
import types
import weakref
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import gast

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import Transformer, assign, at, clone, constant, expression, name, nodes, placed, statements
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives.catalogue import is_named
from s2sgrad.source import read
from s2sgrad.source.making import made

_READERS = (len, sorted, list, dict, set, tuple, enumerate, sum, max, min, any, all, bool, iter, reversed)
_METHODS = (dict.items, dict.keys, dict.values, dict.get, dict.pop, dict.setdefault, dict.update, dict.clear)
_PLAIN = {float: constant(0.0), int: constant(0), list: gast.List([], gast.Load()), dict: gast.Dict([], []),
          bool: constant(False)}  # fmt: skip
_running: set[types.FunctionType] = set()
_variants: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class Default:
    """The default for a missing key; `inner`: it is a `defaultdict` itself, with this default."""

    text: str
    inner: Default | None = None

    def node(self) -> gast.AST:
        """The default as an expression."""
        return expression(self.text)


Known = dict[str, Default]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `defaultdict`, where it can be followed; what remains is refused later."""
    return _written(unit, tree, _all_defaults(unit, tree, {})) if _is_met(unit, tree) else tree


def _is_met(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Whether the text, or that of a function which it calls, however deep, mentions `defaultdict`."""
    waiting, seen = [(unit, tree)], {unit.primal.function}
    while waiting:
        own, text = waiting.pop()
        if any(own.resolve(n) is defaultdict for n in nodes(text) if isinstance(n, (gast.Name, gast.Attribute))):
            return True
        called = {f for f in map(own.called, nodes(text)) if isinstance(f, types.FunctionType)} - seen
        seen |= called
        for function in called:
            with contextlib.suppress(S2SGradError):
                waiting += [] if effects.is_library(function) else [Unit.of(read(function))]
    return False


def _all_defaults(unit: Unit, tree: gast.FunctionDef, initial: Known) -> Known:
    """The variables that are always a `defaultdict`, and of which all uses can be followed; and under `f()` the result of a
    nested function `f`."""
    values = _values(tree, initial)
    found, before = dict(initial), None
    while found != before:  # grow: the values imply it
        before = dict(found)
        for variable, bound in values.items():
            defaults = {_default_of(unit, value, found) for value in bound} - {None}
            if len(defaults) == 1:
                found.setdefault(variable, defaults.pop())
    while True:  # shrink: nothing contradicts it
        odd = {v for v in found if any(_default_of(unit, value, found) != found[v] for value in values.get(v, ()))}
        odd |= {v for v in found if not _is_followed(unit, tree, v, found)} | _escaping(unit, tree, found)
        if not odd:
            return found
        found = {v: d for v, d in found.items() if v not in odd}


def _values(tree: gast.FunctionDef, initial: Known) -> dict[str, list[gast.AST]]:
    """The values of each variable, if all are assigned; and the results of nested functions that are only called."""
    uses = NameUses(tree)
    outside = {n for node in nodes(tree) if isinstance(node, (gast.Global, gast.Nonlocal)) for n in node.names}
    values = {v: a for v, a in uses.assigned.items() if uses.bound[v] == len(a) + (v in initial) and v not in outside}
    for function in (n for n in nodes(*tree.body) if isinstance(n, gast.FunctionDef)):
        calls = [n for n in nodes(tree) if isinstance(n, gast.Call) and getattr(n.func, "id", None) == function.name]
        if uses.bound[function.name] == 1 and len(calls) == len(uses.reads[function.name]):
            values[f"{function.name}()"] = [n.value for n in _ends(function)]
    return values


def _escaping(unit: Unit, tree: gast.FunctionDef, defaults: Known) -> set[str]:
    """The variables returned by a function that does not always return such a dict: its callers do not expect one."""
    out: set[str] = set()
    for function in (n for n in nodes(tree) if isinstance(n, gast.FunctionDef)):
        returned = {n.value.id for n in _ends(function) if isinstance(n.value, gast.Name) and n.value.id in defaults}
        alike = len({n.value and _default_of(unit, n.value, defaults) for n in _ends(function)}) == 1
        told = all(_is_closed(defaults[v]) for v in returned) if function is tree else f"{function.name}()" in defaults
        out |= set() if alike and told else returned
    return out


def _ends(tree: gast.FunctionDef) -> list[gast.Return]:
    """The returns of a function, without those of nested functions."""
    inside = {id(n) for f in nodes(*tree.body) if isinstance(f, (gast.FunctionDef, gast.Lambda)) for n in nodes(f)}
    return [n for n in nodes(tree) if isinstance(n, gast.Return) and id(n) not in inside]


def _default_of(unit: Unit, node: gast.AST, defaults: Known) -> Default | None:
    """The default of the `defaultdict` that an expression evaluates to; None if it may be something else."""
    if isinstance(node, gast.Name):
        return defaults.get(node.id)
    if isinstance(node, gast.Subscript):
        owner = _default_of(unit, node.value, defaults)
        return None if owner is None else owner.inner
    target = unit.called(node)
    if target is MISSING and isinstance(node, gast.Call):
        return defaults.get(f"{getattr(node.func, 'id', '')}()")
    if target is defaultdict:
        return _default_of_call(unit, node)
    if not isinstance(target, types.FunctionType):
        return None
    return _returned(target, {p: defaults[a.id] for p, a in _handed(unit, node, defaults).items()})


def _default_of_call(unit: Unit, call: gast.Call) -> Default | None:
    """The default of a new `defaultdict`, by its factory; None if that cannot be followed."""
    factory = call.args[0] if call.args else None
    if factory is None or isinstance(factory, gast.Starred):
        return None
    if isinstance(factory, gast.Lambda):
        a = factory.args
        if [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]:
            return None
        inner = _default_of_call(unit, factory.body) if unit.called(factory.body) is defaultdict else None
        return Default(emit.expression(factory.body), None) if inner is None else Default("{}", inner)
    target = unit.resolve(factory)
    plain = None if target is MISSING else next((node for kind, node in _PLAIN.items() if target is kind), None)
    return None if plain is None else Default(emit.expression(plain))


def _returned(function: types.FunctionType, arguments: Known) -> Default | None:
    """The default of the `defaultdict` that a function returns for these arguments; None if it may return something else."""
    if function in _running or effects.is_library(function):
        return None
    _running.add(function)
    try:
        unit, tree = Unit.of(read(function))
        defaults_in = _all_defaults(unit, tree, arguments)
        defaults = {n.value and _default_of(unit, n.value, defaults_in) for n in _ends(tree)}
    except (S2SGradError, OSError, TypeError):
        return None
    finally:
        _running.discard(function)
    (default,) = defaults if len(defaults) == 1 else (None,)
    return default if default is not None and _is_closed(default) else None


def _is_closed(default: Default) -> bool:
    """Whether a default means the same in another function."""
    closed = not any(isinstance(n, (gast.Name, gast.Lambda)) for n in nodes(default.node()))
    return closed and (default.inner is None or _is_closed(default.inner))


# --- uses of a defaultdict ------------------------------------------------------------------------------------------------


def _is_followed(unit: Unit, tree: gast.FunctionDef, variable: str, defaults: Known) -> bool:
    """Whether every use of the variable is one that can be rewritten."""
    mentions = {id(n) for n in nodes(tree) if isinstance(n, gast.Name) and n.id == variable}
    mentions -= {id(p) for p in parameters(tree)}
    return mentions <= set(map(id, _followed(unit, tree, defaults)))


def _followed(unit: Unit, tree: gast.FunctionDef, defaults: Known) -> Iterator[gast.AST]:
    """The nodes that are only read or stored by item, or passed where they are followed."""
    for node in nodes(tree):
        if isinstance(node, gast.Subscript) or (isinstance(node, gast.Attribute) and is_named(node.attr, *_METHODS)):
            yield node.value
        elif isinstance(node, gast.Compare):
            yield from node.comparators
        elif isinstance(node, (gast.For, gast.comprehension)):
            yield node.iter
        elif isinstance(node, (gast.If, gast.While, gast.IfExp, gast.UnaryOp)):
            yield node.operand if isinstance(node, gast.UnaryOp) else node.test
        elif isinstance(node, gast.Return) and isinstance(node.value, gast.Name):
            yield node.value
        elif bound_name(node) in defaults:
            yield from (node.targets[0], node.value)
        elif isinstance(node, gast.Call):
            if any(unit.resolve(node.func) is reader for reader in _READERS):
                yield from node.args
            yield from _handed(unit, node, defaults).values()


def _handed(unit: Unit, call: gast.Call, defaults: Known) -> dict[str, gast.Name]:
    """The variables that are passed to a user's function which can be specialised to them, by parameter."""
    arguments = [*call.args, *(k.value for k in call.keywords)]
    if not any(_is_told(a, defaults) for a in arguments) or any(isinstance(a, gast.Starred) for a in arguments):
        return {}
    target = unit.resolve(call.func)
    if not isinstance(target, types.FunctionType) or effects.is_library(target):
        return {}
    try:
        bound = signature(target).bind(*call.args, **{k.arg: k.value for k in call.keywords}).arguments
        own, tree = Unit.of(read(target))
    except (S2SGradError, TypeError):  # `**` raises it too
        return {}
    handed = {p: a for p, a in bound.items() if _is_told(a, defaults)}
    if target in _running:
        return handed
    _running.add(target)
    try:
        followed = _all_defaults(own, tree, {p: defaults[a.id] for p, a in handed.items()})
    finally:
        _running.discard(target)
    return {p: a for p, a in handed.items() if p in followed}


def _is_told(node: gast.AST, defaults: Known) -> bool:
    """Whether an argument is one of these variables, with a default that another function can use."""
    return isinstance(node, gast.Name) and node.id in defaults and _is_closed(defaults[node.id])


# --- rewriting ------------------------------------------------------------------------------------------------------------


def _written(unit: Unit, tree: gast.FunctionDef, defaults: Known) -> gast.FunctionDef:
    return _Asked(unit, defaults).visit(tree) if defaults else tree


class _Asked(Transformer):
    """Rewrites reads of items into `setdefault`."""

    def __init__(self, unit: Unit, defaults: Known) -> None:
        self.unit, self.known = unit, defaults

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        default = _default_of(self.unit, node.value, self.known)
        self.generic_visit(node)
        if default is None or not isinstance(node.ctx, gast.Load):
            return node
        return placed(node, expression("d.setdefault(k, v)", d=node.value, k=node.slice, v=default.node()))

    def visit_AugAssign(self, statement: gast.AugAssign) -> gast.AST | list[gast.AST]:
        target = statement.target
        default = _default_of(self.unit, target.value, self.known) if isinstance(target, gast.Subscript) else None
        self.generic_visit(statement)
        if default is None:
            return statement
        before: list[gast.AST] = []
        place = target.slice  # updates are matched by place, so these share it
        if not isinstance(target.slice, (gast.Name, gast.Constant)):
            key = self.unit.local("key")
            before, target.slice = at(statement, assign(key, target.slice)), at(target, name(key))[0]
        if not isinstance(target.value, gast.Name):
            inner = self.unit.local("inner")
            before += at(place, assign(inner, target.value))
            target.value = at(target, name(inner))[0]
        asked = statements("d.setdefault(k, v)", d=clone(target.value), k=clone(target.slice), v=default.node())
        return [*before, *at(place, *asked), statement]

    def visit_Call(self, call: gast.Call) -> gast.AST:
        if self.unit.called(call) is defaultdict and _default_of_call(self.unit, call) in self.known.values():
            self.unit.stand_ins.add((defaultdict, dict))
            more = [*map(self.visit, call.args[1:])]
            dict_ = gast.Call(self.unit.builtin(dict), more, call.keywords)
            return placed(call, dict_ if more or call.keywords else gast.Dict([], []))
        handed = _handed(self.unit, call, self.known)
        if handed:
            target = self.unit.resolve(call.func)
            other = _variant(self.unit, target, {p: self.known[a.id] for p, a in handed.items()})
            call.func = at(call.func, name(self.unit.helper(target.__name__, other)))[0]
        return self.generic_visit(call)


def _variant(unit: Unit, function: types.FunctionType, arguments: Known) -> types.FunctionType:
    """A variant of a user's function whose parameters are these `defaultdict`s."""
    key = tuple(sorted(arguments.items(), key=lambda item: item[0]))
    variants = _variants.setdefault(function, {})
    if key not in variants:
        own, tree = Unit.of(read(function))
        tree.name = function.__name__
        tree = _written(own, tree, _all_defaults(own, tree, arguments))
        helpers = {n: v for n, v in own.helpers.items() if any(isinstance(m, gast.Name) and m.id == n for m in nodes(tree))}
        variants[key] = made(emit.function(tree), tree.name, function, helpers, set(function.__code__.co_freevars), tree,
                          own.place)  # fmt: skip
        variants[key].__defaults__, variants[key].__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    unit.lifted.append(variants[key])
    return variants[key]


