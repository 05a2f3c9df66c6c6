"""One operation per statement: operands become names, conditional expressions become `if`.

Expressions that cannot carry a derivative (comparisons, `not`, f-strings, ...) are not split.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, n):
...     y = np.sin(x * n) + (x if n > 2 and x > 0 else -1.0)
...     while y > 1.0:
...         y = y / (n := n + 1)
...     return y
... ''', "flatten"))
def f(x, n):
    t1 = x * n
    t2 = np.sin(t1)
    t4 = n > 2 and x > 0
    if t4:
        t3 = x
    else:
        t3 = -1.0
    y = t2 + t3
    while y > 1.0:
        n = n + 1
        y = y / n
    result = y
    return result
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.ir import checkpoints, notes, scoping
from s2sgrad.ir.quote import at, clone, constant, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import containers, loops, mutators
from s2sgrad.normalize._calls import calls_user, walruses
from s2sgrad.specialize import static_calls, written_classes
from s2sgrad.specialize.argument_objects import GivenObjects
from s2sgrad.specialize.arguments import Arguments
from s2sgrad.specialize.assignments import Assignments
from s2sgrad.specialize.binding_time import Lookahead
from s2sgrad.specialize.bindings import Bindings
from s2sgrad.specialize.call_shapes import CallShapes
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.evaluation import Expressions
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.fixed_functions import FixedFunctions
from s2sgrad.specialize.function_calls import FunctionCalls
from s2sgrad.specialize.function_unions import Choices
from s2sgrad.specialize.generators import Generators
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.inlining import Inliner
from s2sgrad.specialize.named_tuples import NamedTuples
from s2sgrad.specialize.names import Names
from s2sgrad.specialize.nested_definitions import Definitions
from s2sgrad.specialize.nested_gradients import Derivatives
from s2sgrad.specialize.nested_matrices import Matrices
from s2sgrad.specialize.object_names import ObjectNames
from s2sgrad.specialize.object_operators import Operators
from s2sgrad.specialize.object_updates import ObjectUpdates
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.partial_evaluation import Calls
from s2sgrad.specialize.parts import Parts
from s2sgrad.specialize.section_stores import Sections
from s2sgrad.specialize.short_circuit import Conditions
from s2sgrad.specialize.stars import Stars
from s2sgrad.specialize.static_calls import StaticCalls
from s2sgrad.specialize.static_containers import Collections
from s2sgrad.specialize.static_values import Choice, Derivative, Display, Function, Generator, Known, Object, Value
from s2sgrad.specialize.statics import Statics
from s2sgrad.specialize.texts import Texts
from s2sgrad.specialize.tuple_methods import TupleMethods
from s2sgrad.specialize.unrolling import Unroller
from s2sgrad.specialize.writer import Writer


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree in normal form, except that names are not yet split into webs."""
    names, texts, tuples = Names(unit, tree), Texts(unit), NamedTuples(unit)
    statics = Statics(unit, names)
    writer = Writer(unit, statics)
    lookahead = Lookahead(unit, names, statics, tuples, functools.partial(static_calls.find, unit))
    evaluator = Evaluator(unit, names, statics, writer, lookahead)
    # objects and containers
    homes, object_names = Homes(unit, names, writer), ObjectNames(evaluator)
    collections = Collections(evaluator, homes)
    objects = Objects(evaluator, texts, homes, collections)
    operators, updates = Operators(evaluator, objects), ObjectUpdates(evaluator, objects)
    given = GivenObjects(evaluator, texts, objects)
    # functions
    choices = Choices(evaluator, texts)
    inliner = Inliner(evaluator, texts, homes, choices, given)
    generators = Generators(evaluator, objects, inliner)
    closures = Closures(evaluator, texts, objects)
    derivatives = Derivatives(evaluator, inliner, closures, FixedFunctions(inliner, closures))
    matrices = Matrices(evaluator, objects, closures)
    # names and calls
    bindings = Bindings(evaluator, homes, object_names, choices)
    definitions = Definitions(evaluator, homes, derivatives, bindings)
    shapes = CallShapes(evaluator, texts)
    stars = Stars(evaluator, shapes)
    arguments = Arguments(evaluator, texts, objects, closures, generators, shapes, stars)
    unroller = Unroller(evaluator, collections, bindings)
    parts = Parts(evaluator, collections, objects, TupleMethods(evaluator, texts, tuples), choices)
    tools = StaticCalls(evaluator, homes, objects, closures, derivatives, matrices,
                        stars, arguments, unroller)  # fmt: skip
    called = FunctionCalls(evaluator, texts, homes, objects, inliner, closures, derivatives)
    by_class: dict[type, Callable[..., Any]] = {
        Choice: choices.apply_choice, Derivative: derivatives.call_derivative, Function: called.call_function,
        Known: called.call_known,
    }  # fmt: skip
    calls = Calls(evaluator, texts, objects, operators, closures, arguments, parts, tools, by_class)
    # expressions and statements
    conditions, sections = Conditions(evaluator, operators, bindings), Sections(evaluator, updates, arguments)
    expressions = Expressions(evaluator, collections, operators, bindings, definitions, arguments, parts, calls, conditions,
                              sections)  # fmt: skip
    assignments = Assignments(evaluator, collections, objects, updates, generators, bindings, arguments, unroller,
                              conditions, sections)  # fmt: skip
    statements = Statements(evaluator, collections, closures, generators, definitions, unroller, calls, conditions, sections,
                            assignments)  # fmt: skip
    evaluator.open(expressions, statements, calls)

    written_classes.require_none(unit)
    given.open_given(tree)
    heads, writer.out = writer.out, []
    body = statements.block(tree.body)
    tree.body = at(body[0], *heads, *choices.heads, *given.separated()) + body
    scoping.rename(choices.plain_names, tree)
    closures.require_unchanged(tree)
    return tree


class Statements(Family):
    """Flattens statements by their type."""

    def __init__(
        self, evaluator: Evaluator, collections: Collections, closures: Closures, generators: Generators,
        definitions: Definitions, unroller: Unroller, calls: Calls, conditions: Conditions, sections: Sections,
        assignments: Assignments,
    ) -> None:  # fmt: skip
        super().__init__(evaluator)
        self.collections, self.closures, self.generators, self.definitions = collections, closures, generators, definitions
        self.unroller, self.calls, self.conditions, self.sections = unroller, calls, conditions, sections
        self.assignments = assignments

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        """The statements of a block, flattened."""
        with self.writer.writing() as out:
            for statement in body:
                with self.writer.at_place_of(statement):
                    self.statement(statement)
        return out

    def statement(self, statement: gast.AST) -> None:
        """Flatten one statement by its type."""
        if not isinstance(statement, gast.Expr) or not self.assignments.is_refused(statement):
            getattr(self, f"write_{type(statement).__name__}", self.plain)(statement)

    def plain(self, statement: gast.AST) -> None:
        """Keep a statement unchanged."""
        if walruses(statement):
            self.unit.refuse(statement, "`:=` in this statement is not differentiated: assign before it")
        self.writer.out.append(statement)

    def write_Assign(self, statement: gast.Assign) -> None:
        self.assignments.assign(statement)

    def write_AugAssign(self, statement: gast.AugAssign) -> None:
        self.assignments.update(statement)

    def write_If(self, statement: gast.If) -> None:
        """Write the arms of a chain of `elif`s one after the other: it may be longer than calls may nest."""
        with contextlib.ExitStack() as chain:
            while True:
                given = isinstance(statement.test, gast.Constant)
                test = self.conditions.condition(statement.test)
                known = isinstance(test, gast.Constant) and not given
                if known:
                    rest = statement.body if test.value else statement.orelse
                else:
                    statement.test, statement.body = test, self.block(statement.body)
                    rest = statement.orelse
                if len(rest) != 1 or not isinstance(rest[0], gast.If):
                    break
                chain.enter_context(self.writer.writing_else(None if known else statement))
                (statement,) = rest
                chain.enter_context(self.writer.at_place_of(statement))
            written = self.block(rest)
            if known:
                self.writer.out += written
            else:
                statement.orelse = written
                self.writer.out.append(statement)

    def write_While(self, loop: gast.While) -> None:
        if not walruses(loop.test) and not self.conditions.grows(loop.test) and not self.statics.asks_truth(loop.test):
            loop.body = self.trip(loop)
            self.writer.out.append(loop)
            return
        loop.body = at(loop, gast.If(loop.test, loop.body, at(loop, gast.Break())))
        loop.test, loop.body = constant(True), self.trip(loop)
        self.writer.out.append(loop)

    def write_For(self, loop: gast.For) -> None:
        trips = self.unroller.unroll(loop)
        if self.generators.consume(loop):
            return
        if self.unit.draws(loop.iter):  # where another call of this text draws from an object
            for statement in loops.indexed(self.unit, loop):
                self.statement(at(loop, statement)[0] if not hasattr(statement, "lineno") else statement)
            return
        if trips is not None:
            for trip in trips:
                self.statement(trip)
            return
        loop.iter = self.iterator(loop.iter)
        loop.body = self.trip(loop)
        self.writer.out.append(loop)

    def write_FunctionDef(self, definition: gast.FunctionDef) -> None:
        self.definitions.define(definition)

    def write_Assert(self, statement: gast.Assert) -> None:
        """An assertion about objects; its message may read them, but not call them."""
        if not self.lookahead.inside(statement):
            self.plain(statement)
            return
        calls = (n for n in nodes(statement.msg or gast.Pass()) if isinstance(n, gast.Call))
        if any(map(self.lookahead.expands, calls)):
            self.unit.refuse(statement, "the call in this message cannot be followed: raise the error in an `if`")
        statement.test = self.evaluator.atom(statement.test)
        statement.msg = None if statement.msg is None else self.evaluator.flat(statement.msg)
        self.writer.out.append(statement)

    def write_Raise(self, statement: gast.Raise) -> None:
        """An error; what it is made of may read objects, but it is not itself one that could be followed."""
        if self.lookahead.inside(statement):
            for made in [part for part in (statement.exc, statement.cause) if isinstance(part, gast.Call)]:
                made.args = [self.evaluator.flat(argument) for argument in made.args]
                for keyword in made.keywords:
                    keyword.value = self.evaluator.flat(keyword.value)
        self.plain(statement)

    def write_Return(self, statement: gast.Return) -> None:
        self.writer.out.append(self.returned(statement))

    def write_Nonlocal(self, statement: gast.Nonlocal) -> None:
        """Nothing to write: `shared` has these variables."""

    def write_Expr(self, statement: gast.Expr) -> None:
        value = self.lookahead.alone = statement.value
        if self.collections.appended(value):
            return
        call = isinstance(value, gast.Call)
        is_pop = call and not value.args and getattr(value.func, "attr", "") == "pop"
        if is_pop or (self.lookahead.may_be_known(value) and not call):
            self.evaluator.operand(value)
            return
        if call and self.calls.called(value) is not None:
            return
        stores = mutators.stores(self.unit, value)
        if stores is not None:
            for store in at(value, *stores):
                self.statement(store)
            return
        if isinstance(value, gast.NamedExpr) or containers.changes(self.unit, value):
            self.evaluator.atom(value)
            return
        appends = call and (getattr(value.func, "attr", "") == "append" or notes.CHANGES_FIRST.of(value.func))
        if appends or walruses(value) or calls_user(self.unit, value) or self.lookahead.inside(value):
            statement.value = self.evaluator.flat(value)
        if not isinstance(statement.value, gast.Constant):
            self.writer.out.append(statement)

    def trip(self, loop: gast.For | gast.While) -> list[gast.AST]:
        """The flattened body of a loop."""
        self.writer.loops.append(id(loop))
        self.writer.rebound.append(scoping.bindings([loop]))
        body = self.block(loop.body)
        self.writer.rebound.pop()
        self.writer.loops.pop()
        return body

    def iterator(self, node: gast.AST) -> gast.AST:
        """`range(..)`, possibly sliced and reversed, with atoms as bounds."""
        if isinstance(node, gast.Subscript):
            return gast.Subscript(self.iterator(node.value), self.sections.index(node.slice), gast.Load())
        slots = checkpoints.slots_of(self.unit, node)
        if slots is not None:
            return at(node, checkpoints.with_slots(node, self.iterator(node.args[0]), self.evaluator.atom(slots)))[0]
        if self.unit.resolve(node.func) is reversed:
            return gast.Call(node.func, [self.iterator(node.args[0])], [])
        return at(node, gast.Call(node.func, self.evaluator.in_order(node.args, self.evaluator.atom), []))[0]

    def returned(self, statement: gast.Return) -> gast.Return:
        """The `return` of the function: data, or objects of the caller."""
        value = self.statics.held(statement.value) if statement.value is not None else None
        whole = value.as_data() if isinstance(value, Display) else None
        if whole is not None:
            statement.value = self.writer.hold(at(statement, whole)[0])
        elif isinstance(value, Generator):
            self.unit.refuse(statement, "the iterator that is returned here is drawn from as the program runs, which cannot "
                                        "be followed: return a list")  # fmt: skip
        elif (data := self.closures.converted(value, statement, True)) is not None:
            statement.value = data
        elif isinstance(value, Value) and not isinstance(value, Known) and getattr(value, "given", None) is None:
            self.unit.refuse(statement, "a function or an object that is made here is returned, which is not supported: "
                                        "return numbers, arrays, lists or dicts")  # fmt: skip
        if isinstance(value, (Object, Display)):
            self.names.loose.append((statement, value))
        if isinstance(value, Object) and value.given is not None:
            statement.value = self.writer.hold(at(statement, clone(value.given))[0])
        return statement
