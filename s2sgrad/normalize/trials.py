"""Trial expressions: for a statement in `try`, a pure expression that raises what the statement would, evaluated before it.

    x[i] = f(y)                 ->      stored(f(y), x, i)
    s += f(y)                   ->      updated(s, '+=', f(y))
    ys.append(f(y))             ->      scratch(ys).append(f(y))
    a = f(y); b = g(a)          ->      (lambda a: g(a))(f(y))
"""

from __future__ import annotations

import builtins
import inspect
import types
from collections import deque

import gast

from s2sgrad import emit, runtime
from s2sgrad.analysis import effects
from s2sgrad.ir import scoping
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import at, clone, constant, expression, loaded, mentioned, name, nodes, stored
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory import behaviour, mod_ref
from s2sgrad.normalize.deferred import Deferred
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import is_named
from s2sgrad.runtime import trials
from s2sgrad.source.making import made

_ITERATORS = (iter, zip, map, filter, reversed, enumerate, open)
_PLAIN_INITS = {e.__init__ for e in vars(builtins).values() if isinstance(e, type) and issubclass(e, BaseException)}
_SYMBOLS = {
    gast.Add: "+=", gast.Sub: "-=", gast.Mult: "*=", gast.Div: "/=", gast.FloorDiv: "//=", gast.Mod: "%=", gast.Pow: "**=",
    gast.MatMult: "@=", gast.BitAnd: "&=", gast.BitOr: "|=", gast.BitXor: "^=", gast.LShift: "<<=", gast.RShift: ">>=",
}  # fmt: skip
WAY = "which cannot be tried before it is done: take this out of `try`"


class Trials:
    """Makes pure expressions that raise what statements of a function raise."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit, self.tree = unit, tree
        named = {n.name for n in nodes(tree) if isinstance(n, gast.FunctionDef)}
        self.deferred = Deferred(unit, named)
        self.nested = _computing(unit, tree) | (unit.locals - named)  # `specialize.attempts` looks at what these are

    def is_binding(self, statement: gast.AST) -> bool:
        """Whether a statement binds a name to a pure value, returns one, or evaluates one."""
        if isinstance(statement, gast.Assign):
            named = len(statement.targets) == 1 and isinstance(statement.targets[0], gast.Name)
            return named and self.computes(statement.value)
        if not isinstance(statement, (gast.Return, gast.Expr)):
            return False
        return statement.value is None or self.computes(statement.value)

    def bindings(self, run: list[gast.AST]) -> gast.AST:
        """The last value of a run of bindings: each value is the argument of a lambda around the later ones."""
        value: gast.AST = constant(None)
        for statement in reversed(run):
            argument = constant(None) if statement.value is None else clone(statement.value)
            if statement is run[-1]:
                value = argument
            else:
                parameter = gast.Name(statement.targets[0].id, gast.Param(), None, None)
                one = gast.arguments([parameter], [], None, [], [], None, [])
                value = gast.Call(gast.Lambda(one, value), [argument], [])
        return value

    def assignment(self, target: gast.AST, value: gast.AST) -> gast.AST:
        """The trial of `target = value`."""
        self.require_computed(value)
        if isinstance(target, gast.Name):
            return clone(value)
        if isinstance(target, gast.Subscript):
            return self.store(target, clone(value))
        if isinstance(target, gast.Attribute):
            self.require_computed(target.value)
            if isinstance(target.value, gast.Name):
                return clone(value)
            return gast.Tuple([clone(value), clone(target.value)], gast.Load())
        if not isinstance(target, (gast.Tuple, gast.List)) or not all(isinstance(e, gast.Name) for e in target.elts):
            self.unit.refuse(target, f"this binds several targets, {WAY}")
        if isinstance(value, (gast.Tuple, gast.List)) and len(value.elts) == len(target.elts):
            return clone(value)
        unpackable = self.unit.helper("unpackable", runtime.unpackable)
        return expression("f(x, n)", f=unpackable, x=clone(value), n=len(target.elts))

    def store(self, target: gast.Subscript, value: gast.AST) -> gast.AST:
        """The trial of `x[i] = value`; as in Python, the value is evaluated first."""
        self.require_computed(target)
        owner, index = loaded(target.value), self.index(target.slice)
        return expression("f(v, x, i)", f=self.unit.helper("stored", trials.stored), v=value, x=owner, i=index)

    def index(self, node: gast.AST) -> gast.AST:
        """An index as a value expression."""
        if isinstance(node, gast.Tuple):
            return gast.Tuple([self.index(e) for e in node.elts], gast.Load())
        if isinstance(node, gast.Slice):
            ends = [constant(None) if e is None else clone(e) for e in (node.lower, node.upper, node.step)]
            return gast.Call(self.unit.builtin(slice), ends, [])
        return clone(node)

    def update(self, statement: gast.AugAssign) -> gast.AST:
        """The trial of `target op= value`."""
        target, value = statement.target, statement.value
        self.require_computed(value)
        old = loaded(target)
        if isinstance(target, gast.Name) and self.is_number(target.id):
            return gast.BinOp(old, statement.op, clone(value))
        updated, symbol = self.unit.helper("updated", trials.updated), _SYMBOLS[type(statement.op)]
        new = expression("f(x, op, v)", f=updated, x=old, op=constant(symbol), v=clone(value))
        return self.store(target, new) if isinstance(target, gast.Subscript) else new

    def is_number(self, local: str) -> bool:
        """Whether a name is bound only to literal numbers and updated."""
        bound = [s for s in nodes(self.tree) if isinstance(s, (gast.stmt, gast.NamedExpr, gast.comprehension))
                 and not isinstance(s, gast.AugAssign) and local in _bound(s)]  # fmt: skip
        alone = bool(bound) and local not in {p.id for p in parameters(self.tree)}
        return alone and all(isinstance(getattr(s, "value", None), gast.Constant) for s in bound)

    def scratch(self, node: gast.AST) -> gast.AST:
        """A copy of an object that a trial may change."""
        return gast.Call(name(self.unit.helper("scratch", trials.scratch)), [node], [])

    def call(self, call: gast.Call) -> gast.AST:
        """The trial of a call that changes its object or arguments, or prints."""
        for part in [*call.args, *(k.value for k in call.keywords)]:
            self.require_computed(part.value if isinstance(part, gast.Starred) else part)
        target = self.unit.resolve(call.func)
        if target is builtins.print:
            return gast.Tuple(clone(arguments_of(call)), gast.Load())
        if target is MISSING and isinstance(call.func, gast.Attribute) and catalogue.may_write(call.func.attr):
            self.require_computed(call.func.value)
            out = clone(call)
            out.func.value = self.scratch(out.func.value)
            return out
        written = catalogue.of(target).writes or catalogue.of_bound(target).writes
        if target is not MISSING and written:
            shift = 0 if catalogue.of(target).writes else 1
            out = clone(call)
            for k in (k - shift for k in written):
                if not 0 <= k < len(out.args) or any(isinstance(a, gast.Starred) for a in out.args):
                    break
                out.args[k] = self.scratch(out.args[k])
            else:
                return out
        if isinstance(target, types.FunctionType) and not effects.is_library(target):
            return self.writer(call, target)
        self.unit.refuse(call, f"this call may do something besides computing, {WAY}")

    def writer(self, call: gast.Call, function: types.FunctionType) -> gast.AST:
        """The trial of a user's function that writes its arguments."""
        writes = mod_ref.of_call(self.unit, function, call, behaviour.kinds_of_data(self.unit))
        names = [*inspect.signature(function).parameters]
        positional = not call.keywords and not any(isinstance(a, gast.Starred) for a in call.args)
        again = behaviour.with_functions(self.unit, function, call).is_repeatable
        changes = writes.outside or not writes.arguments <= set(names) or not again
        if changes or not positional:
            self.unit.refuse(call, f"`{function.__name__}` may do something besides computing, {WAY}")
        attempted = self.unit.helper("attempted", trials.attempted)
        places = gast.Tuple([constant(k) for k, n in enumerate(names) if n in writes.arguments], gast.Load())
        arguments = gast.Tuple(clone(call.args), gast.Load())
        trial = expression("f(g, a, w, n)", f=attempted, g=clone(call.func), a=arguments, w=places, n=call.lineno)
        return at(call, trial)[0]

    def computes(self, node: gast.AST) -> bool:
        """Whether an expression is pure, and may be evaluated twice."""
        return self.is_pure(node) and not self.deferred.among(node)

    def is_pure(self, node: gast.AST) -> bool:
        """The same, where no method of an object is among it."""
        return only_computes(self.unit, node, self.nested)

    def apart(self, node: gast.AST, before: tuple[_Operand, ...] = ()) -> gast.Assign | None:
        """Extract the impure call of an expression, or an operand that it may change, into an assignment before it, replaced
        by a name; None if there is none, or the order of evaluation forbids it."""
        for operand in operands(node):
            part = operand[-1]
            if self.computes(part):
                before = (*before, operand)
                continue
            is_last = isinstance(part, gast.Call) or self.deferred.is_one(part)
            if not is_last or not all(self.computes(p) for *_, p in operands(part)):
                return self.apart(part, before)
            return self.extracted(next((early for early in before if not self.is_apart(early[-1], part)), operand))
        return None

    def extracted(self, operand: _Operand) -> gast.Assign:
        """An assignment of an operand to a name, which takes its place."""
        holder, field, k, part = operand
        temporary = name(self.unit.temp())
        if k is None:
            setattr(holder, field, temporary)
        else:
            getattr(holder, field)[k] = temporary
        return gast.Assign([name(temporary.id, store=True)], part, None)

    def is_apart(self, early: gast.AST, call: gast.Call) -> bool:
        """Whether an operand may be evaluated after a call that follows it."""
        if isinstance(early, gast.Constant) or (isinstance(early, gast.Name) and early.id in self.unit.locals):
            return True
        if isinstance(self.unit.resolve(early), (types.ModuleType, type)):
            return True
        plain = all(isinstance(n, (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp)) for n in nodes(early))
        if not isinstance(call, gast.Call):
            return False
        owner = call.func.value if isinstance(call.func, gast.Attribute) else None
        is_pop = isinstance(owner, gast.Name) and is_named(call.func.attr, list.pop, dict.pop, deque.popleft)
        return plain and is_pop and owner.id not in mentioned(early)

    def require_computed(self, node: gast.AST) -> None:
        """Refuse an impure expression."""
        if not self.computes(node):
            self.unit.refuse(node, f"this may do something besides computing, {WAY}")

    def require_raised(self, error: gast.AST) -> None:
        """Refuse an exception with impure arguments."""
        for part in arguments_of(error) if isinstance(error, gast.Call) else ():
            self.require_computed(part)

    def require_iterable(self, node: gast.AST) -> None:
        """Refuse a loop over an iterable that runs code between items, which may raise there."""
        self.require_computed(node)
        for part in nodes(node):
            target = self.unit.called(part)
            lazy = isinstance(part, gast.GeneratorExp) or target in (map, filter) or inspect.isgeneratorfunction(target)
            if lazy or getattr(target, "__module__", "") == "itertools":
                self.unit.refuse(part, "what runs from item to item of a loop in `try` cannot be followed: make a list")


def _bound(statement: gast.AST) -> set[str]:
    """The names that a statement itself binds."""
    if isinstance(statement, gast.FunctionDef):
        return {statement.name}
    fields = ("targets", "target", "items")
    parts = [part for field in fields for part in _list(getattr(statement, field, None))]
    return stored(*parts) | set(getattr(statement, "names", ()) if isinstance(statement, gast.Nonlocal) else ())


def _list(value: object) -> list[gast.AST]:
    return value if isinstance(value, list) else [] if value is None else [value]


def may_raise(node: gast.AST) -> tuple[type, ...]:
    """The exceptions that evaluating an expression may raise.

    >>> may_raise(gast.parse("k > 2").body[0].value), may_raise(gast.parse("k").body[0].value)
    ((<class 'TypeError'>, <class 'ValueError'>), ())
    """
    if isinstance(node, (gast.Constant, gast.Name, gast.Lambda)):
        return ()
    if isinstance(node, (gast.Tuple, gast.List)) and not any(map(may_raise, node.elts)):
        return ()
    parts = node.values if isinstance(node, gast.BoolOp) else [node.operand] if isinstance(node, gast.UnaryOp) else []
    if isinstance(node, gast.Compare):
        parts = [node.left, *node.comparators]
    if parts and all(set(may_raise(p)) <= {TypeError, ValueError} for p in parts):
        return (TypeError, ValueError)
    return (BaseException,)


_ORDER = {
    gast.BinOp: ("left", "right"), gast.UnaryOp: ("operand",), gast.Subscript: ("value", "slice"), gast.Tuple: ("elts",),
    gast.Attribute: ("value",), gast.List: ("elts",), gast.Call: ("args",),
    gast.Compare: ("left", "comparators"),
    **dict.fromkeys((gast.Assign, gast.AugAssign, gast.Return, gast.Expr), ("value",)),
}  # fmt: skip


_Operand = tuple[gast.AST, str, int | None, gast.AST]  # what has it, the field, the index in that, and the operand


def operands(node: gast.AST) -> list[_Operand]:
    """The operands of an expression or statement in order of evaluation."""
    out: list[_Operand] = []
    if isinstance(node, gast.Compare) and len(node.ops) > 1:
        return []  # the later ones may not be reached
    if isinstance(node, gast.Call) and (node.keywords or any(isinstance(a, gast.Starred) for a in node.args)):
        return []
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        out += operands(node.func)
    for field in _ORDER.get(type(node), ()):
        value = getattr(node, field)
        several = isinstance(value, list)
        out += [(node, field, k, part) for k, part in enumerate(value)] if several else [(node, field, None, value)]
    return [part for part in out if part[-1] is not None]


def _computing(unit: Unit, tree: gast.FunctionDef) -> frozenset[str]:
    """The nested functions that are pure."""
    bound = scoping.all_bindings(tree)
    computing = {n.name: n for n in nodes(*tree.body) if isinstance(n, gast.FunctionDef) and bound[n.name] == 1}
    while left := {n for n, function in computing.items() if not is_computing(unit, function, frozenset(computing))}:
        computing = {n: function for n, function in computing.items() if n not in left}
    return frozenset(computing)


def moved_out(unit: Unit, tree: gast.FunctionDef) -> None:
    """Move nested functions that are called in trials to the outer level; the variables that they read become arguments."""
    attempts = [part for n in nodes(tree) if isinstance(n, gast.Try) and n.handlers for part in nodes(*n.body)]
    called = {n.func.id for n in attempts if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)}
    for function in [s for s in tree.body if isinstance(s, gast.FunctionDef) and s.name in called]:
        plain = not function.args.defaults and not any(function.args.kw_defaults) and function.args.kwarg is None
        if plain and function.name in _computing(unit, tree):
            _move_out(unit, tree, function)


def _move_out(unit: Unit, tree: gast.FunctionDef, function: gast.FunctionDef) -> None:
    own, base = {p.id for p in parameters(function)} | stored(*function.body), function.name
    read_ = mentioned(*function.body) - own
    captured = sorted(read_ & (unit.locals - {base}))
    calls = [n for n in nodes(tree) if isinstance(n, gast.Call) and getattr(n.func, "id", None) == base]
    mentions = [n for n in nodes(tree) if isinstance(n, gast.Name) and n.id == base]
    if len(mentions) != len(calls) or not _hidden(tree, function).isdisjoint(captured):
        return
    for call in calls:
        call.keywords += [gast.keyword(c, name(c)) for c in captured]
    function.args.kwonlyargs += [gast.Name(c, gast.Param(), None, None) for c in captured]
    function.args.kw_defaults += [None] * len(captured)
    reached = read_ & set(unit.primal.function.__code__.co_freevars)
    helpers = {n: unit.helpers[n] for n in read_ if n in unit.helpers}
    outside = made(emit.function(function), base, unit.primal.function, helpers, reached, function, unit.place)
    tree.body.remove(function)
    unit.locals.discard(base)
    unit.helpers[base] = outside
    unit.bound = unit.bound or bool(reached)
    unit.lifted.append(outside)


def _hidden(tree: gast.FunctionDef, function: gast.FunctionDef) -> set[str]:
    """The names that other scopes in a function may bind for themselves, and those of its nested functions."""
    scopes = (n for n in nodes(tree) if isinstance(n, (*scoping.COMPREHENSIONS, *scoping.FUNCTIONS)) and n is not tree)
    functions = {n.name for n in nodes(tree) if isinstance(n, gast.FunctionDef)}
    return functions.union(*(scoping.variables(n) for n in scopes if n is not function))


def is_computing(unit: Unit, function: gast.FunctionDef | gast.Lambda, nested: frozenset[str] = frozenset()) -> bool:
    """Whether a nested function or a lambda is pure; `nested` are assumed to be."""
    if isinstance(function, gast.Lambda):
        return only_computes(unit, function.body, nested)
    inside = list(nodes(*function.body))
    stores = any(isinstance(n, (gast.Subscript, gast.Attribute)) and not isinstance(n.ctx, gast.Load) for n in inside)
    binding = (gast.Nonlocal, gast.Global, gast.AugAssign, gast.FunctionDef, gast.ClassDef, gast.With)
    if stores or any(isinstance(n, binding) for n in inside):
        return False
    return not function.decorator_list and only_computes(unit, gast.Module(function.body, []), nested)


def only_computes(unit: Unit, node: gast.AST, nested: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is pure: it changes nothing, and depends on its operands alone; `nested` functions are assumed
    to be pure."""
    if any(isinstance(n, (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)) for n in nodes(node)):
        return False
    if any(isinstance(op, (gast.In, gast.NotIn)) for n in nodes(node) if isinstance(n, gast.Compare) for op in n.ops):
        return False  # `in` consumes an iterator
    calls = [call for call in nodes(node) if isinstance(call, gast.Call)]
    return all(getattr(call.func, "id", None) in nested or _call_computes(unit, call) for call in calls)


def _call_computes(unit: Unit, call: gast.Call) -> bool:
    if behaviour.is_pure(unit, gast.Call(call.func, [], [])):
        return True
    target = unit.resolve(call.func)
    if isinstance(target, type) and issubclass(target, Exception) and target.__init__ in _PLAIN_INITS:
        return True
    if not isinstance(target, types.FunctionType) or effects.is_library(target):
        return False
    writes = mod_ref.of_call(unit, target, call, behaviour.kinds_of_data(unit))
    return writes == mod_ref.Writes(frozenset(), False) and behaviour.with_functions(unit, target, call).is_repeatable


def used_up(unit: Unit, tree: gast.FunctionDef, body: list[gast.AST]) -> set[str]:
    """The iterators that some statements read, which a trial of these would exhaust."""
    read_ = {n.id for n in nodes(*body) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)}
    names_used = set()
    for node in nodes(tree):
        kept = isinstance(node, gast.Assign) and not isinstance(node.targets[0], (gast.Tuple, gast.List))
        value = node.value if kept else None  # what is unpacked has been used up there
        ends = isinstance(value, gast.GeneratorExp)
        if isinstance(value, gast.Call):
            target = unit.resolve(value.func)
            ends = any(target is kind for kind in _ITERATORS) or inspect.isgeneratorfunction(target)
        names_used |= stored(node) & read_ if ends else set()
    return names_used


__all__ = ["Trials", "may_raise", "only_computes", "used_up"]
