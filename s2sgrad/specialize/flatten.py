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
import itertools
from collections import Counter
from collections.abc import Iterator

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir import checkpoints, notes, refusals, scoping
from s2sgrad.ir.quote import assign, at, constant, name, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import containers, loops, mutators
from s2sgrad.normalize._calls import calls_user, walruses
from s2sgrad.specialize import written_classes
from s2sgrad.specialize.evaluation import Evaluator
from s2sgrad.specialize.partial_evaluation import Functions
from s2sgrad.specialize.section_stores import Sections
from s2sgrad.specialize.short_circuit import Conditions
from s2sgrad.specialize.static_values import Object, Value


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree in normal form, except that names are not yet split into webs."""
    return _Flattener(unit, tree).whole(tree)


class _Flattener(Conditions, Evaluator, Sections):
    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.out: list[gast.AST] = []
        self.loops: list[int] = []  # enclosing loops
        self.blocks: list[int] = []  # enclosing blocks, by unique number
        self.numbers = itertools.count(1)
        self.outer: list[list[gast.AST]] = []  # statements written so far for enclosing blocks
        self.rebound: list[Counter[str]] = []  # names that enclosing loops bind
        self.functions = Functions(unit, tree, self)

    def whole(self, tree: gast.FunctionDef) -> gast.FunctionDef:
        """Flatten the whole function."""
        written_classes.require_none(self.unit)
        self.functions.open_given(tree)
        heads, self.out = self.out, []
        body = self.block(tree.body)
        tree.body = at(body[0], *heads, *self.functions.heads, *self.functions.separated()) + body
        scoping.rename(self.functions.plain_names, tree)
        self.functions.require_unchanged(tree)
        return tree

    # --- statements ---

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        """The statements of a block, flattened."""
        with self.writing() as out:
            for statement in body:
                with self.at_place_of(statement):
                    self.statement(statement)
        return out

    @contextlib.contextmanager
    def writing(self) -> Iterator[list[gast.AST]]:
        """Write the statements of a block of its own."""
        before, self.out = self.out, []
        self.outer.append(before)
        self.blocks.append(next(self.numbers))
        yield self.out
        self.out = before
        self.outer.pop()
        self.blocks.pop()

    @contextlib.contextmanager
    def writing_else(self, branch: gast.If | None) -> Iterator[None]:
        """Write the `else` of a branch, or what stands where there is none, and the branch behind it."""
        with self.writing() as out:
            yield
        if branch is None:
            self.out += out
        else:
            branch.orelse = out
            self.out.append(branch)

    @contextlib.contextmanager
    def at_place_of(self, statement: gast.AST) -> Iterator[None]:
        """Give what is written for a statement its place."""
        start, out = len(self.out), self.out
        with self.unit.calling(statement):
            yield
        at(statement, *(new for new in out[start:] if not hasattr(new, "lineno")))

    def statement(self, statement: gast.AST) -> None:
        """Flatten one statement by its type."""
        if not isinstance(statement, gast.Expr) or not self.is_refused(statement):
            getattr(self, f"write_{type(statement).__name__}", self.plain)(statement)

    def plain(self, statement: gast.AST) -> None:
        """Keep a statement unchanged."""
        if walruses(statement):
            self.unit.refuse(statement, "`:=` in this statement is not differentiated: assign before it")
        self.out.append(statement)

    def write_Assign(self, statement: gast.Assign) -> None:
        self.assign(statement)

    def write_AugAssign(self, statement: gast.AugAssign) -> None:
        if isinstance(statement.target, gast.Subscript):
            self.augmented_section(statement)
            return
        if self.functions.updates(statement):
            return
        target = statement.target.id
        if self.functions.may_bind(target, [statement.value]):  # the old value is updated, in place
            statement.target.id = self.unit.local(target)
            self.out += at(statement, assign(statement.target.id, name(target)))
        elif target in walruses(statement.value):
            self.unit.refuse(statement, "the walrus rebinds the target of this augmented assignment")
        statement.value = self.atom(statement.value)
        self.out.append(statement)
        if statement.target.id != target:
            self.assign(at(statement, assign(target, name(statement.target.id)))[0])

    def write_If(self, statement: gast.If) -> None:
        """Write the arms of a chain of `elif`s one after the other: it may be longer than calls may nest."""
        with contextlib.ExitStack() as chain:
            while True:
                given = isinstance(statement.test, gast.Constant)
                test = self.condition(statement.test)
                known = isinstance(test, gast.Constant) and not given
                if known:
                    rest = statement.body if test.value else statement.orelse
                else:
                    statement.test, statement.body = test, self.block(statement.body)
                    rest = statement.orelse
                if len(rest) != 1 or not isinstance(rest[0], gast.If):
                    break
                chain.enter_context(self.writing_else(None if known else statement))
                (statement,) = rest
                chain.enter_context(self.at_place_of(statement))
            written = self.block(rest)
            if known:
                self.out += written
            else:
                statement.orelse = written
                self.out.append(statement)

    def write_While(self, loop: gast.While) -> None:
        if not walruses(loop.test) and not self.grows(loop.test) and not self.functions.asks_truth(loop.test):
            loop.body = self.trip(loop)
            self.out.append(loop)
            return
        loop.body = at(loop, gast.If(loop.test, loop.body, at(loop, gast.Break())))
        loop.test, loop.body = constant(True), self.trip(loop)
        self.out.append(loop)

    def write_For(self, loop: gast.For) -> None:
        trips = self.functions.unroll(loop)
        if self.functions.consume(loop):
            return
        if (
            self.unit.source_place(loop.iter) in self.unit.definitions.drawn_at
        ):  # where another call of this text draws from an object
            for statement in loops.indexed(self.unit, loop):
                self.statement(at(loop, statement)[0] if not hasattr(statement, "lineno") else statement)
            return
        if trips is not None:
            for trip in trips:
                self.statement(trip)
            return
        loop.iter = self.iterator(loop.iter)
        loop.body = self.trip(loop)
        self.out.append(loop)

    def write_FunctionDef(self, definition: gast.FunctionDef) -> None:
        self.functions.define(definition)

    def write_Assert(self, statement: gast.Assert) -> None:
        """An assertion about objects; its message may read them, but not call them."""
        if not self.functions.inside(statement):
            self.plain(statement)
            return
        calls = (n for n in nodes(statement.msg or gast.Pass()) if isinstance(n, gast.Call))
        if any(map(self.functions.expands, calls)):
            self.unit.refuse(statement, "the call in this message cannot be followed: raise the error in an `if`")
        statement.test = self.atom(statement.test)
        statement.msg = None if statement.msg is None else self.flat(statement.msg)
        self.out.append(statement)

    def write_Raise(self, statement: gast.Raise) -> None:
        """An error; what it is made of may read objects, but it is not itself one that could be followed."""
        if self.functions.inside(statement):
            for made in [part for part in (statement.exc, statement.cause) if isinstance(part, gast.Call)]:
                made.args = [self.flat(argument) for argument in made.args]
                for keyword in made.keywords:
                    keyword.value = self.flat(keyword.value)
        self.plain(statement)

    def write_Return(self, statement: gast.Return) -> None:
        self.out.append(self.functions.returned(statement))

    def write_Nonlocal(self, statement: gast.Nonlocal) -> None:
        """Nothing to write: `shared` has these variables."""

    def choose(self, target: str, statement: gast.Assign) -> None:
        """`g = a if c else b`; a name for several functions in turn stands for one that has a name of its own."""
        in_turn = target in self.functions.in_turn
        holder = self.unit.local(target) if in_turn else target
        self.functions.acting |= {holder} if in_turn else set()
        self.conditional(statement.value, holder)
        if in_turn:
            self.assign(at(statement, assign(target, name(holder)))[0])

    def assign(self, statement: gast.Assign) -> None:
        """Flatten an assignment."""
        (target,) = statement.targets
        if self.is_refused(statement):
            return
        if isinstance(target, gast.Name) and isinstance(statement.value, gast.IfExp):
            self.choose(target.id, statement)
        elif effects.permutes(statement):
            if any(part.id in self.functions.values for part in statement.value.elts):
                self.unit.refuse(statement, "functions or objects that trade names cannot be followed: use other names")
            self.out.append(statement)
        elif isinstance(target, gast.Attribute):
            self.functions.store(target, statement)
        elif isinstance(target, gast.Name):
            self.bind(target.id, statement)
        elif isinstance(target, gast.Tuple) and self.functions.spread_out(target, statement):
            return
        elif isinstance(target, gast.Subscript) and isinstance(self.functions.held(target.value), Object):
            self.functions.set_item(target, statement)
        else:
            if isinstance(target, gast.Subscript):
                self.require_place(target, statement.value)
            elif isinstance(target, gast.Tuple):
                statement.value = self.functions.listed(statement.value, tuple)
            statement.value = self.atom(statement.value)
            if isinstance(target, gast.Subscript):
                statement.targets = [self.section(target)]
            for bound in effects.targets(statement):
                self.functions.require_data(bound, statement)
                self.functions.data.add(bound)
            self.out.append(statement)

    def bind(self, target: str, statement: gast.Assign) -> None:
        """`target = value`: data is assigned; a static value gets a name and no statement."""
        value = self.functions.bound_value(target, statement.value)
        if isinstance(value, Value):
            self.functions.name(target, value, statement)
            return
        self.functions.require_data(target, statement)
        self.functions.data.add(target)
        if not isinstance(value, gast.Name) or value.id != target:  # a comprehension already writes to this name
            statement.value = value
            self.out.append(statement)

    def is_refused(self, statement: gast.Assign | gast.Expr) -> bool:
        """Whether the value is the refusal of an arm of a conditional expression, which is then raised."""
        refused = refusals.refused(self.unit, statement.value)
        if refused is not None:
            self.plain(at(statement, refused)[0])
        return refused is not None

    def write_Expr(self, statement: gast.Expr) -> None:
        value = self.functions.alone = statement.value
        if self.functions.appended(value):
            return
        call = isinstance(value, gast.Call)
        is_pop = call and not value.args and getattr(value.func, "attr", "") == "pop"
        if is_pop or (self.functions.may_be_known(value) and not call):
            self.operand(value)
            return
        if call and self.functions.called(value) is not None:
            return
        stores = mutators.stores(self.unit, value)
        if stores is not None:
            for store in at(value, *stores):
                self.statement(store)
            return
        if isinstance(value, gast.NamedExpr) or containers.changes(self.unit, value):
            self.atom(value)
            return
        appends = call and (getattr(value.func, "attr", "") == "append" or notes.CHANGES_FIRST.of(value.func))
        if appends or walruses(value) or calls_user(self.unit, value) or self.functions.inside(value):
            statement.value = self.flat(value)
        if not isinstance(statement.value, gast.Constant):
            self.out.append(statement)

    def trip(self, loop: gast.For | gast.While) -> list[gast.AST]:
        """The flattened body of a loop."""
        self.loops.append(id(loop))
        self.rebound.append(scoping.bindings([loop]))
        body = self.block(loop.body)
        self.rebound.pop()
        self.loops.pop()
        return body

    def iterator(self, node: gast.AST) -> gast.AST:
        """`range(..)`, possibly sliced and reversed, with atoms as bounds."""
        if isinstance(node, gast.Subscript):
            return gast.Subscript(self.iterator(node.value), self.index(node.slice), gast.Load())
        slots = checkpoints.slots_of(self.unit, node)
        if slots is not None:
            return at(node, checkpoints.with_slots(node, self.iterator(node.args[0]), self.atom(slots)))[0]
        if self.unit.resolve(node.func) is reversed:
            return gast.Call(node.func, [self.iterator(node.args[0])], [])
        return at(node, gast.Call(node.func, self.atoms(node.args), []))[0]
