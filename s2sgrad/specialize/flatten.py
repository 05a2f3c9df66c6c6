"""One operation a statement: operands become names, conditional expressions become `if`.

Expressions that cannot carry a derivative (comparisons, `not`, f-strings, ...) stay whole.

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

import builtins
import itertools

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import assign, at, constant, name
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize import call_forms, comprehensions, containers, displays, index_tricks, loops, mutators, targets
from s2sgrad.normalize._calls import calls_user, linked, walruses
from s2sgrad.specialize import static_calls
from s2sgrad.specialize.partial_evaluation import Functions
from s2sgrad.specialize.section_stores import Sections
from s2sgrad.specialize.short_circuit import Conditions


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree in normal form (names of variables not yet split into webs)."""
    flattener = _Flattener(unit, tree)
    flattener.functions.open_given(tree)
    heads, flattener.out = flattener.out, []
    body = flattener.block(tree.body)
    tree.body = at(body[0], *heads, *flattener.functions.heads, *flattener.functions.separated()) + body
    if flattener.functions.plain_names:
        scoping.rename(tree, flattener.functions.plain_names)
    return tree


class _Flattener(Conditions, Sections):
    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.out: list[gast.AST] = []
        self.loops: list[int] = []  # those around the statement
        self.blocks: list[int] = []  # blocks around the statement, each with a number of its own
        self.numbers = itertools.count(1)
        self.functions = Functions(unit, tree, self)

    # --- statements ---

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        before, self.out = self.out, []
        self.blocks.append(next(self.numbers))
        for statement in body:
            start = len(self.out)
            with self.unit.calling(statement):
                self.statement(statement)
            at(statement, *(new for new in self.out[start:] if not hasattr(new, "lineno")))
        done, self.out = self.out, before
        self.blocks.pop()
        return done

    def statement(self, statement: gast.AST) -> None:
        getattr(self, f"write_{type(statement).__name__}", self.plain)(statement)

    def plain(self, statement: gast.AST) -> None:
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
        test = self.condition(statement.test)
        if isinstance(test, gast.Constant) and not isinstance(statement.test, gast.Constant):  # known here
            self.out += self.block(statement.body if test.value else statement.orelse)
            return
        statement.test = test
        statement.body, statement.orelse = self.block(statement.body), self.block(statement.orelse)
        self.out.append(statement)

    def write_While(self, loop: gast.While) -> None:
        if not walruses(loop.test) and not self.grows(loop.test):
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
        self.functions.asserted(statement) if self.functions.inside(statement) else self.plain(statement)

    def write_Return(self, statement: gast.Return) -> None:
        self.out.append(self.functions.returned(statement))

    def write_Nonlocal(self, statement: gast.Nonlocal) -> None:
        """What it says is known already."""

    def assign(self, statement: gast.Assign) -> None:
        (target,) = statement.targets
        if isinstance(target, gast.Name) and isinstance(statement.value, gast.IfExp):
            self.conditional(statement.value, target.id)
        elif effects.permutes(statement):
            if any(part.id in self.functions.values for part in statement.value.elts):
                self.unit.refuse(statement, "functions or objects that trade names cannot be followed: use other names")
            self.out.append(statement)
        elif isinstance(target, gast.Attribute):
            self.functions.store(target, statement)
        elif isinstance(target, gast.Subscript) and self.functions.is_object(target.value):
            self.functions.set_item(target, statement)
        elif not self.functions.bound_to_value(target, statement):
            self.bind(target, statement)

    def bind(self, target: gast.AST, statement: gast.Assign) -> None:
        """An assignment of data."""
        if isinstance(target, gast.Name):
            self.functions.require_data(target.id, statement)
            self.functions.data.add(target.id)
            statement.value = self.flat(statement.value, target.id)
            if isinstance(statement.value, gast.Name) and statement.value.id == target.id:
                return  # a comprehension, written out under this name
        elif isinstance(target, gast.Subscript):
            self.require_place(target, statement.value)
            statement.value = self.atom(statement.value)
            statement.targets = [self.section(target)]
        else:
            statement.value = self.atom(statement.value)
        self.out.append(statement)

    def write_Expr(self, statement: gast.Expr) -> None:
        value = statement.value
        if self.functions.appended(value):
            return
        taken = isinstance(value, gast.Call) and not value.args and getattr(value.func, "attr", "") == "pop"
        if taken or self.functions.stands_for(value):
            self.functions.evaluate(value)
            return
        stores = mutators.stores(self.unit, value)
        if stores is not None:
            for store in at(value, *stores):
                self.statement(store)
            return
        if isinstance(value, gast.NamedExpr) or containers.changes(self.unit, value):
            self.atom(value)
            return
        appends = isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "append"
        if appends or walruses(value) or calls_user(self.unit, value) or self.functions.inside(value):
            statement.value = self.flat(value)
        self.out.append(statement)

    def trip(self, loop: gast.For | gast.While) -> list[gast.AST]:
        """The body of a loop."""
        self.loops.append(id(loop))
        body = self.block(loop.body)
        self.loops.pop()
        return body

    def iterator(self, node: gast.AST) -> gast.AST:
        """`range(a, b)`, possibly cut and reversed, with atoms as bounds."""
        if isinstance(node, gast.Subscript):
            return gast.Subscript(self.iterator(node.value), self.index(node.slice), gast.Load())
        if self.unit.resolve(node.func) is reversed:
            return gast.Call(node.func, [self.iterator(node.args[0])], [])
        return at(node, gast.Call(node.func, self.atoms(node.args), []))[0]

    # --- expressions ---

    def atoms(self, given: list[gast.AST]) -> list[gast.AST]:
        """Operands evaluated from left to right; a name that a later operand rebinds is copied first."""
        out = []
        for k, node in enumerate(given):
            value = self.atom(node)
            later = set().union(*map(walruses, given[k + 1 :]))
            if isinstance(value, gast.Name) and value.id in later:
                value = self.hold(value)
            out.append(self.functions.kept(value, given[k + 1 :]))
        return out

    def hold(self, value: gast.AST) -> gast.Name:
        holder = self.unit.temp()
        self.out.append(assign(holder, value))
        self.functions.note_length(name(holder), value)
        return at(value, name(holder))[0]

    def atom(self, node: gast.AST) -> gast.AST:
        """A name, a constant, or a path through modules (np.pi) that holds the value."""
        if isinstance(node, (gast.Name, gast.Constant)):
            return self.functions.as_value(node)
        if isinstance(node, gast.Starred):
            return at(node, gast.Starred(self.atom(node.value), gast.Load()))[0]
        if isinstance(node, gast.UnaryOp) and isinstance(node.operand, gast.Constant):
            if isinstance(node.op, gast.USub) and type(node.operand.value) in (int, float):
                return at(node, constant(-node.operand.value))[0]
        elif isinstance(node, gast.Attribute) and self.unit.resolve(node) is not MISSING:
            return node
        elif isinstance(node, gast.NamedExpr):
            self.assign(at(node, gast.Assign([node.target], node.value, None))[0])
            return at(node, name(node.target.id))[0]
        elif isinstance(node, (gast.IfExp, gast.BoolOp)) and not self.is_whole(node):
            holder = self.unit.temp()
            self.conditional(node, holder) if isinstance(node, gast.IfExp) else self.boolean(node, holder)
            return at(node, name(holder))[0]
        value = self.flat(node)
        return value if isinstance(value, (gast.Name, gast.Constant)) else self.hold(value)

    def flat(self, node: gast.AST, target: str | None = None) -> gast.AST:
        """The node with atoms as operands: one operation, whose value will be bound to `target`."""
        if self.is_whole(node):
            self.require_own_methods(node)
            return self.functions.in_whole(node)
        if self.functions.stands_for(node):
            value = self.functions.evaluate(node)
            if isinstance(value, gast.AST):
                return value
            self.unit.refuse(node, "a function or an object is kept here, where it cannot be followed: bind it to a name")
        written = comprehensions.written_out(self.unit, node, target)
        if written is not None:
            before, value = written
            self.out += self.block(loops.block(self.unit, targets.block(self.unit, before)))
            return self.flat(value)
        flat = getattr(self, f"flat_{type(node).__name__}", self.atom)
        return flat(node)

    def flat_BinOp(self, node: gast.BinOp) -> gast.AST:
        if (united := displays.united(node)) is not None:
            return self.flat(united)
        node.left, node.right = self.atoms([node.left, node.right])
        return node

    def flat_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        if isinstance(node.operand, gast.Constant):
            return self.atom(node) if isinstance(node.op, gast.USub) else node
        node.operand = self.atom(node.operand)
        return node

    def flat_Compare(self, node: gast.Compare) -> gast.AST:
        if any(walruses(c) for c in node.comparators[1:]):
            self.unit.refuse(node, "`:=` behind a comparison that may not be reached: assign before it")
        if any(map(self.grows, node.comparators[1:])):
            return self.flat(linked(node, *self.atoms([node.left, node.comparators[0]])))
        node.left, *node.comparators = self.atoms([node.left, *node.comparators])
        return node

    def flat_Attribute(self, node: gast.Attribute) -> gast.AST:
        if self.unit.resolve(node) is MISSING:
            mutators.refuse_kept(self.unit, node)
            node.value = self.atom(node.value)
        return node

    def flat_Subscript(self, node: gast.Subscript) -> gast.AST:
        if (joined := index_tricks.joined(self.unit, node)) is not None:
            return self.flat(joined)
        node.value = self.functions.kept(self.atom(node.value), [node.slice])
        node.slice = self.index(node.slice)
        return node

    def flat_Call(self, node: gast.Call) -> gast.AST:
        if (known := static_calls.told(self.functions, node)) is not None:
            return known
        if (into := mutators.into(self.unit, node, self.atom)) is not None:
            return self.behind(node, *into)
        self.call(node)
        return node

    def flat_Tuple(self, node: gast.Tuple | gast.List) -> gast.AST:
        node.elts = self.atoms(node.elts)
        return node

    def flat_List(self, node: gast.List) -> gast.AST:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return self.flat(displays.concatenated(self.unit, node))
        return self.flat_Tuple(node)

    def flat_Dict(self, node: gast.Dict) -> gast.AST:
        if None in node.keys or containers.may_repeat(node.keys):
            return self.behind(node, *containers.joined(self.unit, node, self.atom))
        if any(map(walruses, node.keys)):
            self.unit.refuse(node, "`:=` in a dict is not differentiated: assign before it")
        if any(map(self.grows, node.keys)):
            pairs = self.atoms([n for pair in zip(node.keys, node.values, strict=True) for n in pair])
            node.keys, node.values = pairs[::2], pairs[1::2]
        node.values = self.atoms(node.values)
        return node

    def flat_JoinedStr(self, node: gast.JoinedStr) -> gast.AST:
        for part in (p for p in node.values if isinstance(p, gast.FormattedValue)):
            part.value = self.atom(part.value)
        return node

    def behind(self, node: gast.AST, before: list[gast.AST], value: gast.AST) -> gast.AST:
        """The value of an expression for which statements stand."""
        for statement in at(node, *before):
            self.statement(statement)
        return self.flat(at(node, value)[0])

    def call(self, node: gast.Call) -> None:
        self.functions.starred(node)
        call_forms.rewrite(self.unit, node)
        self.functions.require_bound(node.func)
        if len(node.args) == 1 and self.unit.resolve(node.func) not in (MISSING, builtins.len):
            node.args[0] = self.functions.listed(node.args[0], self.unit.resolve(node.func))
        if isinstance(node.func, gast.Attribute) and self.unit.resolve(node.func) is MISSING:
            node.func.value = self.functions.kept(self.atom(node.func.value), [*node.args, *node.keywords])
        elif not isinstance(node.func, (gast.Name, gast.Attribute)):
            node.func = self.atom(node.func)
        values = self.atoms(node.args + [k.value for k in node.keywords])
        node.args = values[: len(node.args)]
        for keyword, value in zip(node.keywords, values[len(node.args) :], strict=True):
            keyword.value = value
