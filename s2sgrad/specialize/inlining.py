"""Inlining: a call of a function value is replaced by the body of the function.

    g = lambda t: t * w; y = g(x) + g(2.0)      ->      y = x * w + 2.0 * w

The variables of the body are renamed at every call but the first; a parameter that is never rebound becomes its argument.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, w):
...     g = lambda t: t * w
...     return g(x) + g(2.0)
... ''', "flatten"))
def f(x, w):
    result_ = x * w
    t1 = 2.0 * w
    result = result_ + t1
    return result
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.ir import notes, refusals, scoping
from s2sgrad.ir.quote import assign, at, clone, constant, mentioned, name, nodes, place_of
from s2sgrad.ir.signatures import signature_of
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.ir.unit_records import WrittenOut
from s2sgrad.memory import behaviour
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.name_uses import keeps_its_keys
from s2sgrad.specialize.argument_objects import GivenObjects
from s2sgrad.specialize.callable_texts import returns_function
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.function_unions import Choices
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.static_values import Display, Function, Generator, Known, Object, Value, keep_objects, substitute
from s2sgrad.specialize.texts import Texts
from s2sgrad.specialize.yields import consumed

MOST = 400  # inlined calls per function


@dataclass
class _Text:
    """The body of a function value for one call; `renamed` maps its variables, `bindings` counts their bindings."""

    function: Function
    tree: gast.FunctionDef
    renamed: dict[str, str]
    bindings: Counter[str]


def _second_names(text: _Text, parameter: str, value: gast.AST) -> set[str]:
    """The parameter, if it is only another name for a variable, which the caller rebinds."""
    alone = text.bindings[parameter] == 1 and isinstance(value, gast.Name)
    return {parameter} if alone and parameter in text.renamed.values() else set()


class Inliner(Family):
    """Inlines calls."""

    def __init__(
        self, evaluator: Evaluator, texts: Texts, homes: Homes, choices: Choices, given_objects: GivenObjects
    ) -> None:
        super().__init__(evaluator)
        self.texts, self.homes, self.choices, self.given_objects = texts, homes, choices, given_objects
        self.calls = 0

    def written_out(
        self,
        function: Function,
        arguments: list[Any],
        keywords: dict[str, Any],
        node: gast.AST,
        at_yield: Callable[[gast.AST], list[gast.AST]] | None = None,
        left: str | None = None,
        around: tuple[Function, ...] | None = None,
    ) -> Any:
        """The value of an inlined call; of a generator, `at_yield` makes the statements for each value, and `left` is the
        flag that says no more are wanted."""
        self.require_end(function, node, tuple(f for f, _ in self.writer.running) if around is None else around)
        bound = self.bind(function, function.node, arguments, keywords, node)
        number, written, before = self.calls, self.writer.out, len(self.writer.out)
        text = self.text_for(function, bound, node, left)
        substituted = self.pass_arguments(text, bound)
        self.names.meet_text(text.tree.body, text.bindings)
        for statement in text.tree.body:
            substitute(statement, substituted)
        if at_yield is not None:
            for part in nodes(text.tree):
                if notes.LEAVES_EARLY.of(part):
                    assert left is not None
                    part.test = name(left)
            text.tree.body = consumed(text.tree.body, at_yield)
        self.writer.running.append((function, arguments[0] if arguments else None))
        try:
            for statement in text.tree.body[:-1]:
                with self.writer.at_place_of(statement):
                    self.evaluator.statement(statement)
            value = self.evaluator.evaluate(text.tree.body[-1].value)
        finally:
            self.writer.running.pop()
        if at_yield is None and not function.unit.is_of_library:
            standing: dict[str, str] = {}
            for p in parameters(function.node):
                called = notes.KEYWORD.of(p) or p.id
                self.standing(bound[p.id], called, standing)
                standing.setdefault(text.renamed.get(p.id, p.id), called)
            self.unit.inlining.bodies[number] = WrittenOut(function.node, node, self.writer.statement, standing)
            for statement in written[before:]:
                notes.BODY_OF.put(statement, (number, *notes.BODY_OF.of(statement)))
        return value

    def standing(self, value: Any, parameter: str, out: dict[str, str]) -> None:
        """Note the variables that stand for a parameter, or for attributes of the object that it is."""
        value = self.names.values.get(value.id, value) if isinstance(value, gast.Name) else value
        if isinstance(value, gast.Name):
            out.setdefault(value.id, parameter)
        for attribute, variable in value.attributes.items() if isinstance(value, Object) else ():
            self.standing(name(variable), attribute if parameter == "self" else f"{parameter}_{attribute}", out)

    def require_end(self, function: Function, node: gast.AST, around: tuple[Function, ...]) -> None:
        """Count an inlined call; refuse too many, and recursion."""
        self.calls += 1
        if self.calls > MOST:
            self.unit.refuse(node, "the calls of nested functions are too many to be written out: move them to module level")
        recursive = not yields(function.node) or function.name in mentioned(function.node)  # or a loop in a loop over it
        if recursive and any(function is running for running in around):
            self.unit.refuse(node, f"`{function.name}` calls itself and is not at module level, which is not differentiated "
                                   "yet: move it there and pass what it needs")  # fmt: skip

    def text_for(self, function: Function, bound: dict[str, Any], call: gast.AST, left: str | None) -> _Text:
        """The body of a function value for this call, with its own names and places."""
        tree = clone(self.texts.prepared(function, bound, left))
        own = scoping.bound(tree.body) | {p.id for p in parameters(tree)}
        anew = function.used or function.unit is not self.unit
        renamed = self.anew(function.unit, tree, own) if anew else {}
        self.unit.temps |= set() if anew else self.results_of(function.unit, tree, own)
        function.used = True
        placed = [node for node in nodes(tree) if hasattr(node, "lineno")]
        moved = {place_of(node): node for node in placed}
        for node in placed:
            node.written_out = self.calls
        if function.unit is not self.unit:
            self.adopt(function.unit, tree, own, renamed)
        primal = getattr(function.node, "primal", function.unit.primal)
        self.unit.inlining.callers[self.calls] = call, *self.unit.inlining.callers.get(getattr(call, "written_out", 0), ())
        self.unit.inlining.calls.append((call, function.name, primal, getattr(function.node, "lineno", 0)))
        if function.unit.is_of_library:  # the user cannot change its lines
            refusals.move(primal, tree, call, self.calls)
            self.unit.inlining.libraries[self.calls] = function.unit.primal.file
        self.unit.syntax.compound |= {place_of(moved[p]) for p in function.unit.syntax.compound & moved.keys()}
        bindings_ = Counter({renamed.get(n, n): count for n, count in scoping.bindings(tree.body).items()})
        scoping.rename(renamed, *tree.body, *parameters(tree))
        self.unit.locals |= {renamed.get(n, n) for n in own}
        return _Text(function, tree, renamed, bindings_)

    def pass_arguments(self, text: _Text, bound: dict[str, Any]) -> dict[str, gast.AST]:
        """Bind the parameters; returns those that are replaced by a name or a constant."""
        substituted: dict[str, gast.AST] = {}
        heads: list[gast.AST] = []
        place = next(iter(parameters(text.tree)), text.tree)
        first = next(iter(bound.values()), None)
        of_class = isinstance(first, Known) and isinstance(first.target, type)
        keeps = returns_function(text.function.node, text.function.unit.primal.function, of_class)
        for p, value in bound.items():
            local = text.renamed.get(p, p)
            anew = text.bindings[local]  # rebindings in the body
            if isinstance(value, Display) and value.mapping and not keeps_its_keys(self.unit, text.tree, local):
                value = self.as_dict(value, place)
            if isinstance(value, Value):
                if keeps:
                    self.homes.require_here(value, place)
                self.homes.moves(value)  # recorded as made here at the latest
                if keeps:
                    keep_objects(value)
                self.names.counts[local] += anew
                if not anew or not self.choices.choose(local, value, place):
                    self.names.values[local] = value
                    if isinstance(value, Generator):
                        self.unit.arguments.drawn_from.add(local)
                self.names.counts[local] -= anew
            elif not anew and self.may_stand(value, text) and not (keeps and self.moves_on(value)):
                substituted[local] = value
            else:
                if anew:
                    self.choices.arguments.add(local)
                elif isinstance(value, gast.Tuple) or (
                    isinstance(value, gast.Dict) and keeps_its_keys(self.unit, text.tree, local)
                ):
                    self.unit.syntax.displays[local] = value  # `*args`, `**kwargs`
                text.bindings[local] += 1
                self.unit.own_names |= _second_names(text, local, value)
                heads += at(place, assign(local, clone(value)))
        self.writer.out += sorted(heads, key=lambda s: text.bindings[s.targets[0].id])  # those that are bound anew last
        return substituted

    def as_dict(self, display: Display, node: gast.AST) -> gast.Dict:
        """A dict of keywords, whose keys are not known before the run."""
        items = [clone(item.node) if isinstance(item, Known) else item for item in display.items.values()]
        if not all(isinstance(item, gast.AST) for item in items):
            self.unit.refuse(node, "a dict of keywords holds a function or an object here, where it cannot be followed: "
                                   "name the keyword")  # fmt: skip
        return gast.Dict([constant(key) for key in display.items], items)

    def may_stand(self, value: gast.AST, text: _Text) -> bool:
        """Whether an argument has the same value wherever the body reads the parameter."""
        if not isinstance(value, gast.Name):
            return isinstance(value, gast.Constant)
        fixed = value.id not in self.unit.locals or self.names.is_fixed(value.id)
        if fixed and value.id not in self.names.shared:
            return True
        return _only_reads(text.function.unit, text.tree) and (fixed or not _is_left(text.tree))

    def moves_on(self, value: gast.AST) -> bool:
        """Whether an enclosing loop may rebind a variable while a closure that captures it is alive."""
        return isinstance(value, gast.Name) and self.writer.rebinds(value.id)

    def anew(self, unit: Unit, tree: gast.FunctionDef, own: set[str]) -> dict[str, str]:
        """New names for the variables of another function's body; those that are not the user's, such as that of its result,
        are values of subexpressions here."""
        ours = self.results_of(unit, tree, own)
        return {n: self.unit.temp() if n in ours else self.names.fresh(unit.bases.get(n, n)) for n in sorted(own)}

    def results_of(self, unit: Unit, tree: gast.FunctionDef, own: set[str]) -> set[str]:
        """The variables of a body that the user did not name, such as that of its result, if they are bound once."""
        times = scoping.bindings(tree.body)
        return {n for n in own & (unit.own_names | unit.temps) if times[n] == 1}

    def adopt(self, unit: Unit, tree: gast.FunctionDef, own: set[str], renamed: dict[str, str]) -> None:
        """Rename the free names of another function's body to the caller's names for the same objects."""
        for node in nodes(tree):
            if isinstance(node, gast.Name) and node.id not in renamed and node.id not in own:
                if node.id in unit.helpers:
                    renamed[node.id] = self.unit.helper(node.id, unit.helpers[node.id])
                elif node.id not in unit.locals:
                    value = unit.resolve(node)
                    if value is MISSING and node.id in unit.primal.function.__code__.co_freevars:
                        unit.refuse(node, f"`{node.id}` is a variable of the function that defines this class, which cannot "
                                          "be followed in its methods: pass its value to the method")  # fmt: skip
                    if value is not MISSING and self.unit.resolve(node) is not value:
                        unit.made.captured.add(node.id)
                        renamed[node.id] = self.unit.helper(node.id, value)
                    self.given_objects.meet(renamed.get(node.id, node.id), value)
                else:  # of a nested scope
                    renamed[node.id] = self.names.fresh(unit.bases.get(node.id, node.id))
            if hasattr(node, "lineno") and not unit.is_of_library:
                node.primal = getattr(node, "primal", unit.primal)

    def bind(
        self, function: Function, tree: gast.FunctionDef, arguments: list[Any], keywords: dict[str, Any], node: gast.AST
    ) -> dict[str, Any]:
        """The arguments of a call by parameter."""
        args = tree.args
        named = {notes.KEYWORD.of(p) or p.id: p.id for p in parameters(tree)}
        takes = signature_of(args, function.defaults)
        try:
            fitted = takes.bind(*arguments, **keywords)
        except TypeError:
            self.unit.refuse(node, f"this call does not fit the parameters of `{function.name}`")
        fitted.apply_defaults()
        bound = {named[n]: value for n, value in fitted.arguments.items()}
        by_word = [named[k] for k in keywords if k in named and named[k] in bound]  # in order of evaluation
        first = [p.id for p in [*args.posonlyargs, *args.args]][: len(arguments)]
        bound = {p: bound[p] for p in dict.fromkeys([*first, *by_word, *bound])}
        if args.vararg is not None:
            extra = bound.pop(args.vararg.id)
            bound[args.vararg.id] = self.gathered(extra, node)
        if args.kwarg is not None:
            others = bound.pop(args.kwarg.id)
            functions = any(isinstance(v, Value) for v in others.values())
            display = gast.Dict([constant(k) for k in others], list(others.values()))
            bound[args.kwarg.id] = Display(others, mapping=True) if functions else display
        return bound

    def gathered(self, extra: tuple[Any, ...], node: gast.AST) -> Any:
        """The tuple that `*rest` stands for; data where the text does not tell how many items it has."""
        if any(isinstance(v, Value) for v in extra):
            if stars := [v for v in extra if isinstance(v, gast.Starred)]:
                self.unit.refuse(stars[0], "`*` beside functions or objects cannot be followed: name the arguments")
            return Display(dict(enumerate(extra)))
        display = gast.Tuple(list(extra), gast.Load())
        shown = not any(isinstance(v, gast.Starred) for v in extra)
        return display if shown else self.evaluator.atom(at(node, display)[0])


def _is_left(tree: gast.FunctionDef) -> bool:
    """Whether a function may be left and go on later, or makes a function that may run later."""
    later = (gast.Yield, gast.YieldFrom, gast.Await, gast.Lambda, gast.FunctionDef, gast.GeneratorExp)
    return any(isinstance(node, later) for statement in tree.body for node in nodes(statement))


def _only_reads(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Whether a function writes no attribute and no outer variable, and calls only pure functions."""
    for node in nodes(tree):
        if isinstance(node, (gast.Nonlocal, gast.Global)):
            return False
        if isinstance(node, gast.Attribute) and not isinstance(node.ctx, gast.Load):
            return False
        if isinstance(node, gast.Call) and not behaviour.is_pure(unit, node):
            return False
    return True
