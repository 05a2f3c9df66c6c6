"""Closure conversion: a function value that is handed to a function which is called as it is becomes data, a lifted function
and its captures.

    y = solve(lambda t: w * t, x)      ->      y = solve(closure(lambda_, (w,)), x)      of   def lambda_(w, t): return w * t

A Python closure reads its variables when it is called, but captures are values: what is captured must not change while the
function may be called.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, w, solve):
...     return solve(lambda t, c=2.0: w * t + c, x)
... ''', "flatten"))
def f(x, w, solve):
    t1 = w, 2.0
    t2 = closure(lambda_, t1, 1)
    result = solve(t2, x)
    return result
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.analysis import early_numbers, effects
from s2sgrad.analysis.libraries import is_given
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import at, calls_in, clone, constant, mentioned, name, nodes
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.signatures import signature, signature_of
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.aliasing import Memory
from s2sgrad.normalize import library
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import closures
from s2sgrad.runtime.asking import its
from s2sgrad.source import read
from s2sgrad.specialize import lambda_lifting, nesting
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_values import Derivative, Function, Known, Object, Partial, Value
from s2sgrad.specialize.texts import Texts

_CHANGEABLE = (gast.List, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp)


@dataclass
class Lifted:
    """A function value as a separate function: `captured` are the variables that it receives by keyword (`last`: after its
    arguments), `defaults` the values of missing parameters, `order` its positional parameters."""

    target: Any
    captured: list[str] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)


class Closures(Family):
    """Converts function values to data, and to functions of their own."""

    def __init__(self, evaluator: Evaluator, texts: Texts, objects: Objects) -> None:
        super().__init__(evaluator)
        self.texts, self.objects = texts, objects
        self.holding: list[gast.Tuple] = []  # the captures of functions

    def handed(self, value: Any, node: gast.AST, callee: gast.AST) -> gast.AST | None:
        """An atom for a function value that is handed to a function which is called as it is. None where it is none, or the
        callee is one of the library's, or a method of a container, which keeps it."""
        target = self.unit.resolve(callee)
        if target is MISSING and isinstance(callee, gast.Attribute) and catalogue.methods_named(callee.attr):
            return None
        if target is not MISSING and not is_given(target) and not is_plain(target):
            return None
        return self.converted(value, node, not is_given(target))

    def converted(self, value: Any, node: gast.AST, lasts: bool) -> gast.AST | None:
        """An atom for a function value; None for any other.  `lasts`: it may be called later than now."""
        if isinstance(value, Partial) and isinstance(value.inner, Known) and not value.keywords:
            function_name, captured, defaults, usual = value.inner.node, [], value.given, 0
        elif isinstance(value, (Derivative, Function, Partial)):
            f = self.as_function(value, node, first=True)
            function_name = name(self.unit.helper(its(f.target, "__name__", "function"), f.target))
            captured, defaults, usual = f.captured, [*f.defaults.values()], sum(p in f.defaults for p in f.order)
        else:
            return None
        kept = [self.converted(v, node, lasts) or v for v in defaults]
        if not all(isinstance(v, (gast.AST, Known)) for v in kept):
            return None
        self.require_settled(captured, node, lasts)
        holds = [*map(name, captured), *(clone(v.node) if isinstance(v, Known) else v for v in kept)]
        if not holds and its(self.unit.resolve(function_name), "__closure__", None) is None:
            return at(node, clone(function_name))[0]
        self.holding.append(at(node, gast.Tuple(holds, gast.Load()))[0])
        captures = self.writer.hold(self.holding[-1])
        helper = name(self.unit.helper("closure", closures.closure))
        arguments = [clone(function_name), captures, *([constant(usual)] if usual else [])]
        return self.writer.hold(at(node, gast.Call(helper, arguments, []))[0])

    def require_settled(self, names: list[str], node: gast.AST, lasts: bool) -> None:
        """Refuse captured variables that are unbound, or may be rebound while the function may be called; `lasts`: in later
        trips of a loop, too."""
        so_far = self.writer.bound_so_far()
        for captured in names:
            times = so_far[captured] + (captured in self.names.given)
            anew = self.names.counts[captured] + (captured in self.names.given) > max(1, times)
            in_loop = lasts and (self.writer.rebinds(captured) or captured in self.names.again)
            if in_loop or anew or not times or captured in self.names.shared:
                self.unit.refuse(node, f"`{captured}` may be bound anew while a function lives that reads it, which cannot "
                                       f"be followed: give the function its value, as in `lambda t, {captured}={captured}: "
                                       "..`")  # fmt: skip

    def require_unchanged(self, tree: gast.FunctionDef) -> None:
        """Refuse captured values that are written in place, by whatever name, in the flattened function."""
        if not self.holding:
            return
        numbers = early_numbers.of(self.unit, tree)
        memory = Memory(self.unit, tree, numbers)
        written = {n for statement in effects.walk(tree.body) for n in _written(self.unit, statement)}
        changed = {m for n in written for m in memory.with_memory_of(n)} - numbers.keys()
        for captured in (part for held in self.holding for part in held.elts):
            if isinstance(captured, gast.Name) and captured.id in changed:
                self.unit.refuse(captured, f"`{captured.id}` is written in place in the function that hands on another one "
                                           "which reads it, which cannot be followed: give that a copy")  # fmt: skip

    def visible(self) -> set[str]:
        """The variables that may be bound at this point, and those that other functions bind."""
        return {n for n, times in self.writer.bound_so_far().items() if times} | self.names.given | self.names.shared

    def as_function(self, f: Any, node: gast.AST, last: bool = False, first: bool = False) -> Lifted:
        """A function value as a separate function; with `first`, captures and defaults come before its arguments."""
        if isinstance(f, Known):
            return Lifted(f.target)
        if isinstance(f, Derivative) and not first:
            return Lifted(f.known.target, f.captured, f.defaults, f.order)
        if isinstance(f, Object):
            f = self.objects.method(f, "__call__", node)
        if not isinstance(f, (Function, Partial)) and not first:
            self.unit.refuse(node, "what is differentiated here cannot be followed: name the function")
        is_recursive = isinstance(f, Function) and lambda_lifting.calls_itself(f.node)
        lifted = is_recursive or (isinstance(f, Function) and lambda_lifting.is_lifted(f.node, self.names.values))
        if not lifted or (first and is_recursive):
            return self.written(f, node, last, first)
        lambda_lifting.require_no_writes(self.unit, f.node, self.names.values)
        words = f.node.args.kwonlyargs
        places = [*f.node.args.posonlyargs, *f.node.args.args]
        defaults = {_keyword(p): f.defaults[p.id] for p in (*words, *places) if p.id in f.defaults}
        target, captured = lambda_lifting.lifted(self.unit, f.node, self.names.values, last, first)
        self.require_unwritten(target, captured, node)
        order = [_keyword(p) for p in [*places, *(words if last else [])]]
        return Lifted(target, captured, defaults, order)

    def written(self, f: Any, node: gast.AST, last: bool, first: bool = False) -> Lifted:
        """A method, a partial, or a user of these, flattened over the parameters that are still free."""
        words: set[str] = set()
        inner, bound = f, 0
        while isinstance(inner, Partial):
            inner, bound, words = inner.inner, bound + len(inner.given), words | set(inner.keywords)
        base, order, keywords, defaults = self.open_parameters(inner, bound, words, node)
        mine = {p: self.unit.local(p) for p in (*order, *keywords)}
        before = self.unit.locals - set(mine.values())
        kept, self.writer.out = self.writer.out, []
        value = self.evaluator.apply(f, [name(mine[p]) for p in order], {p: name(mine[p]) for p in keywords}, node)
        value = (self.converted(value, node, True) or value) if first else value
        body, self.writer.out = self.writer.out, kept
        before -= {n for n, times in bindings(body).items() if times} - self.visible()
        if isinstance(value, Value):
            self.unit.refuse(node, f"`{base}`, which is differentiated here, returns a function or an object, which cannot "
                                   "be followed: return numbers and arrays")  # fmt: skip
        for statement in effects.walk(body):
            for changed in effects.writes(statement) & before:
                word = self.unit.word(changed)
                self.unit.refuse(node, f"{word} is changed by a function that is differentiated here, which cannot be "
                                       "followed: return the value from it")  # fmt: skip
        body.append(gast.Return(value))
        nesting.require_updates(self.unit, body, base)
        read = mentioned(*body) & before
        if last:
            order, keywords = [*order, *keywords], []
        ahead = tuple(defaults) if first else None
        target, captured = lambda_lifting.function(self.unit, base, body, mine, len(order), read, last, ahead)
        self.require_unwritten(target, captured, node)
        return Lifted(target, captured, defaults, order)

    def require_unwritten(self, target: Any, captured: list[str], node: gast.AST) -> None:
        """Refuse a function that is differentiated inside and changes what it captures, by whatever function: its gradient
        works on copies."""
        writes = mod_ref.of(target).arguments
        changed = writes & {*captured}
        called = {getattr(call.func, "id", None) for call in calls_in(read(target).tree)}
        if mod_ref.ANY in writes or called & {*captured}:  # a function that is not known changes what can be changed
            changed = frozenset(filter(self.is_made_here, changed))
        if changed:
            word = self.unit.word(min(changed))
            self.unit.refuse(node, f"{word} is changed by a function that is differentiated here, which cannot be "
                                   "followed: return the value from it")  # fmt: skip

    def is_made_here(self, local: str) -> bool:
        """Whether the user binds a variable to a list, dict or set, written out or made of something."""
        base = self.unit.bases.get(local, local)
        bound = [s.value for s in nodes(self.unit.primal.tree) if isinstance(s, gast.Assign) and bound_name(s) == base]
        return any(isinstance(v, _CHANGEABLE) or self.unit.called(v) in (list, dict, set) for v in bound)

    def declared(self, f: Any, node: gast.AST) -> tuple[str, Iterable[inspect.Parameter]]:
        """The name and the declared parameters of a function."""
        if isinstance(f, Function):
            return f.name, signature_of(f.node.args, f.defaults).parameters.values()
        if isinstance(f, Known) and inspect.isfunction(f.target):
            return f.target.__name__, signature(f.target).parameters.values()
        self.unit.refuse(node, "what is differentiated here cannot be followed: name the function")

    def open_parameters(
        self, f: Any, bound: int, words: set[str], node: gast.AST
    ) -> tuple[str, list[str], list[str], dict[str, Any]]:
        """The name of a function, its free parameters (positional, keyword), and their defaults."""
        if isinstance(f, Derivative):
            return f.known.target.__name__, f.order, [], f.defaults
        base, known = self.declared(f, node)
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in known):
            self.unit.refuse(node, f"`{base}` is differentiated here and takes `*` or `**` arguments, which cannot be "
                                   "followed: name them")  # fmt: skip
        order = [p.name for p in known if p.kind is not p.KEYWORD_ONLY][bound:]
        keywords = [p.name for p in known if p.kind is p.KEYWORD_ONLY]
        defaults = {p.name: p.default for p in known if p.default is not p.empty}
        if isinstance(f, Known):
            defaults = {p: self.texts.outside(p, value) for p, value in defaults.items()}
        first = next((k for k, p in enumerate(order) if p in words), len(order))  # the rest by keyword only
        keywords = [p for p in (*order[first:], *keywords) if p not in words]
        return base, order[:first], keywords, {p: defaults[p] for p in (*keywords, *order[:first]) if p in defaults}

    def plain(self, callee: Known, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call that is kept as a call."""
        arguments = [self.handed(v, node, callee.node) or v for v in arguments]
        keywords = {k: self.handed(v, node, callee.node) or v for k, v in keywords.items()}
        for value in (*arguments, *keywords.values()):
            if isinstance(value, Value) and not isinstance(value, Known):
                self.unit.refuse(node, "a nested function or lambda that is handed to this function cannot be followed: "
                                       "move it to module level")  # fmt: skip
        atoms = [v.node if isinstance(v, Known) else v for v in arguments]
        words = [gast.keyword(k, v.node if isinstance(v, Known) else v) for k, v in keywords.items()]
        call = at(node, gast.Call(clone(callee.node), atoms, words))[0]
        return self.evaluator.atom(library.of_found(self.unit, call))


def _written(unit: Unit, statement: gast.AST) -> set[str]:
    """The names whose values a statement may write in place, itself or by a function that it calls."""
    targets = statement.targets if isinstance(statement, gast.Assign) else [getattr(statement, "target", None)]
    is_updated = isinstance(statement, gast.AugAssign)
    places = [t for t in targets if is_updated or isinstance(t, (gast.Subscript, gast.Attribute))]
    if not isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)):
        return set()
    places += [a for call in calls_in(statement.value) for a in mod_ref.written_by(unit, call)]
    return {_root(place) for place in places} | effects.changed_by_call(statement.value)


def _root(node: gast.AST) -> str:
    """The variable that an expression is, or is a part of; empty for other expressions."""
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    return getattr(node, "id", "")


def _keyword(parameter: gast.Name) -> str:
    """The keyword for a parameter."""
    return str(notes.KEYWORD.of(parameter) or parameter.id)
