"""Function values that are known where they are called are written out there: what they close over is then in scope.

    f = lambda t: w * t; y = f(2.0); w = w * w; return y + f(3.0)      ->      y = w * 2.0; w = w * w; return y + w * 3.0

Lambdas, nested functions, `functools.partial`, functions that are passed to a function or returned by one.  A name
inside a function value is read when the function is called, as in Python; defaults are evaluated where it is defined.

>>> from s2sgrad.pipeline import shown
>>> print(shown('''
... def compose(f, g):
...     return lambda t: f(g(t))
... def f(x):
...     def scaled(t, by=2.0):
...         if t < 0.0:
...             return 0.0
...         return t * x * by
...     return compose(np.sin, scaled)(x)
... ''', "flatten"))
def f(x):
    t = x
    t3 = t < 0.0
    if t3:
        result_ = 0.0
    else:
        t4 = t * x
        result_ = t4 * 2.0
    t5 = np.sin(result_)
    result = t5
    return result
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
import weakref
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

import gast

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.errors import S2SGradError
from s2sgrad.normalize import check, exits, iterators, lifting, loops, scopes, targets
from s2sgrad.quote import assign, at, clone, constant, name, nodes
from s2sgrad.rules import table
from s2sgrad.source import read
from s2sgrad.unit import MISSING, Unit, parameters

_GIVING: weakref.WeakKeyDictionary[types.FunctionType, bool] = weakref.WeakKeyDictionary()
_MOST = 400  # calls written out in one function


@dataclass(eq=False)
class Function:
    """A lambda or a function definition; `unit` is that of the function whose text it stands in."""

    node: gast.FunctionDef | gast.Lambda
    unit: Unit
    defaults: dict[str, Any] = field(default_factory=dict)
    tree: gast.FunctionDef | None = None
    used: bool = False

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "lambda")


@dataclass(eq=False)
class Partial:
    """`functools.partial(inner, *given, **keywords)`."""

    inner: Any
    given: list[Any]
    keywords: dict[str, Any]


@dataclass(eq=False)
class Known:
    """A function from outside, under the name (or path) by which the text reaches it."""

    target: Any
    node: gast.AST


@dataclass(eq=False)
class Derivative:
    """`grad(f)` of a function value: `known` is the gradient of `f` lifted, which takes what f closes over by keyword."""

    known: Known
    captured: list[str]
    defaults: dict[str, Any]


@dataclass(eq=False)
class Display:
    """A tuple, list or dict with functions in it that is never changed; `items` by index or key."""

    items: dict[Any, Any]


Value = Function | Partial | Known | Derivative | Display


class Flattener(Protocol):
    """What writes the statements."""

    unit: Unit
    out: list[gast.AST]

    def statement(self, statement: gast.AST) -> None: ...

    def atom(self, node: gast.AST) -> gast.AST: ...

    def flat(self, node: gast.AST, target: str | None = None) -> gast.AST: ...


class Functions:
    """The function values of one function that is being flattened; `values` are those that have a name."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, flattener: Flattener) -> None:
        self.unit, self.flattener = unit, flattener
        self.values: dict[str, Value] = {}
        self.running: list[Any] = []
        self.calls = 0
        self.counts = _bindings(tree.body)
        self.given = {p.id for p in parameters(tree)}
        self.known: dict[Any, Function] = {}
        self.lifted: dict[Function, tuple[Known, list[str]]] = {}

    # --- what is a function value ---

    def is_function(self, node: gast.AST) -> bool:
        """Whether an expression is a function value that is known here."""
        if isinstance(node, gast.Name):
            return node.id in self.values
        if isinstance(node, gast.Lambda):
            return True
        if isinstance(node, (gast.Tuple, gast.List)):
            return any(map(self.is_function, node.elts))
        if isinstance(node, gast.Dict):
            return any(map(self.is_function, node.values))
        if isinstance(node, gast.Subscript):
            return isinstance(node.value, gast.Name) and isinstance(self.values.get(node.value.id), Display)
        if not isinstance(node, gast.Call):
            return False
        if self.differentiates(node):
            return self.is_function(node.args[0]) or _is_plain(self.unit.resolve(node.args[0]))
        if self.unit.resolve(node.func) is functools.partial and node.args:
            return self.is_function(node.args[0]) or callable(self.unit.resolve(node.args[0]))
        return self.gives_function(node.func)

    def gives_function(self, callee: gast.AST) -> bool:
        """Whether what is called returns a function value."""
        if isinstance(callee, gast.Name) and callee.id in self.values:
            value = self.values[callee.id]
            while isinstance(value, Partial):
                value = value.inner
            return isinstance(value, Function) and _returns_function(value.node)
        if isinstance(callee, gast.Lambda):
            return _returns_function(callee)
        target = self.unit.resolve(callee)
        if _is_plain(target):
            return _function_returns_function(target)
        return isinstance(callee, gast.Call) and self.is_function(callee) and _curried(callee, self)

    def differentiates(self, node: gast.Call) -> bool:
        """Whether a call is `grad(f)` or `value_and_grad(f)`."""
        target = self.unit.resolve(node.func)
        ours = getattr(target, "__module__", "") == "s2sgrad.api" and isinstance(target, types.FunctionType)
        return ours and target.__name__ in ("grad", "value_and_grad") and len(node.args) > 0

    def expands(self, node: gast.AST) -> bool:
        """Whether a call is one of a function value, or hands one to a function that can be read."""
        if not isinstance(node, gast.Call):
            return False
        if self.is_function(node.func):
            return True
        target = self.unit.resolve(node.func)
        if target is functools.reduce:
            return True
        given = [*node.args, *(k.value for k in node.keywords)]
        if not _is_plain(target):
            return False
        takes_any = target.__code__.co_flags & inspect.CO_VARKEYWORDS
        return any(map(self.is_function, given)) or bool(takes_any) or _function_returns_function(target)

    def inside(self, node: gast.AST) -> bool:
        """Whether a part of an expression is such a call."""
        return any(self.expands(part) for part in nodes(node) if isinstance(part, gast.Call))

    def as_value(self, node: gast.AST) -> gast.AST:
        """A name where it is no callee."""
        if not isinstance(node, gast.Name) or node.id not in self.values:
            return node
        value = self.values[node.id]
        if not isinstance(value, Known):
            self.unit.refuse(node, f"the function `{node.id}` is used as a value here, where it cannot be followed: call it, or "
                                   "move it to module level")  # fmt: skip
        return clone(value.node)

    def in_whole(self, node: gast.AST) -> gast.AST:
        """An expression that is kept as it stands, without the names of function values."""
        if isinstance(node, gast.Compare) and isinstance(node.left, gast.Name) and node.left.id in self.values:
            if isinstance(node.ops[0], (gast.Is, gast.IsNot)) and getattr(node.comparators[0], "value", 0) is None:
                return constant(isinstance(node.ops[0], gast.IsNot))
        _substitute(node, {n.id: self.as_value(n) for n in nodes(node) if isinstance(n, gast.Name) and n.id in self.values})
        return node

    # --- definitions ---

    def define(self, statement: gast.FunctionDef) -> None:
        """A nested function: its text waits for its calls."""
        if statement.decorator_list:
            self.unit.refuse(statement, f"the decorator of the nested function `{statement.name}` cannot be followed: call "
                                        "it without, or move it to module level")  # fmt: skip
        self.name(statement.name, self.function(statement), statement)

    def function(self, node: gast.FunctionDef | gast.Lambda) -> Function:
        args = node.args
        plain = [*args.posonlyargs, *args.args]
        pairs = [*zip(plain[len(plain) - len(args.defaults) :], args.defaults, strict=True)]
        pairs += [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        return Function(node, self.unit, {p.id: self.lasting(self.evaluate(d)) for p, d in pairs})

    def lasting(self, value: Any) -> Any:
        """The value, under a name that keeps it."""
        if isinstance(value, gast.Name) and value.id in self.unit.locals and not self.is_fixed(value.id):
            holder = self.unit.local(value.id)
            self.flattener.out.append(assign(holder, value))
            return name(holder)
        return value

    def name(self, target: str, value: Value, statement: gast.AST) -> None:
        if self.counts[target] > 1:
            self.unit.refuse(statement, f"`{target}` is bound to a function here and to something else elsewhere, which "
                                        "cannot be followed: use two names")  # fmt: skip
        self.values[target] = value

    def is_fixed(self, local: str) -> bool:
        """Whether a variable is never bound anew."""
        return self.counts[local] <= (0 if local in self.given else 1)

    # --- values ---

    def evaluate(self, node: gast.AST) -> Any:
        """A function value, or an atom that holds the value."""
        if isinstance(node, gast.Name) and node.id in self.values:
            return self.values[node.id]
        if isinstance(node, gast.Lambda):
            return self.function(node)
        if isinstance(node, (gast.Tuple, gast.List)) and self.is_function(node):
            return Display(dict(enumerate(self.lasting(self.evaluate(e)) for e in node.elts)))
        if isinstance(node, gast.Dict) and self.is_function(node) and all(isinstance(k, gast.Constant) for k in node.keys):
            return Display({k.value: self.lasting(self.evaluate(v)) for k, v in zip(node.keys, node.values, strict=True)})
        if isinstance(node, gast.Subscript) and self.is_function(node):
            return self.item(node)
        if isinstance(node, (gast.Name, gast.Attribute)):
            target = self.unit.resolve(node)
            if target is not MISSING and callable(target):
                return Known(target, node)
        if isinstance(node, gast.Call) and (self.is_function(node) or self.expands(node)):
            return self.call(node)
        return self.flattener.atom(node)

    def item(self, node: gast.Subscript) -> Any:
        items = self.values[node.value.id].items
        index = node.slice
        if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub) and isinstance(index.operand, gast.Constant):
            index = constant(len(items) - index.operand.value)
        if isinstance(index, gast.Constant) and index.value in items:
            return items[index.value]
        self.unit.refuse(node, f"which function of `{node.value.id}` this is cannot be followed: call them by constant indices")

    def derivative(self, node: gast.Call) -> Derivative:
        """`grad(f, ..)` of a function value, made when the text is compiled."""
        try:
            given = [ast.literal_eval(emit.expression(a)) for a in node.args[1:]]
            words = {k.arg: ast.literal_eval(emit.expression(k.value)) for k in node.keywords}
        except ValueError:
            self.unit.refuse(node, "the options of `grad` inside of a differentiated function must be constants")
        make = self.unit.resolve(node.func)
        f = self.callee(node.args[0])
        captured, defaults = [], {}
        if isinstance(f, Function):
            defaults = {getattr(p, "keyword", p.id): f.defaults[p.id] for p in parameters(f.node) if p.id in f.defaults}
            target, captured = lifting.lifted(self.unit, f.node, self.values)
        elif isinstance(f, Known):
            target = f.target
        elif isinstance(f, Derivative):
            target, captured, defaults = f.known.target, f.captured, f.defaults
        else:
            self.unit.refuse(node, "what is differentiated here cannot be followed: name the function")
        gradient = make(target, *given, **words)
        return Derivative(Known(gradient, name(self.unit.helper(gradient.__name__, gradient))), captured, defaults)

    def callee(self, node: gast.AST) -> Any:
        if self.is_function(node):
            return self.evaluate(node)
        return Known(self.unit.resolve(node), node)

    def call(self, node: gast.Call) -> Any:
        """The value of a call, whose statements are written."""
        if self.unit.resolve(node.func) is functools.reduce:
            return self.reduce(node)
        if self.differentiates(node):
            return self.derivative(node)
        if self.unit.resolve(node.func) is functools.partial:
            inner = self.callee(node.args[0])
            given = [self.lasting(self.evaluate(a)) for a in node.args[1:]]
            return Partial(inner, given, {k.arg: self.lasting(self.evaluate(k.value)) for k in node.keywords})
        callee = self.callee(node.func)
        given: list[Any] = []
        keywords: dict[str, Any] = {}
        for argument in node.args:
            given += self.spread(argument) if isinstance(argument, gast.Starred) else [self.evaluate(argument)]
        for keyword in node.keywords:
            if keyword.arg is None:
                keywords |= self.spread_keywords(keyword.value)
            else:
                keywords[keyword.arg] = self.evaluate(keyword.value)
        return self.apply(callee, given, keywords, node)

    def spread(self, argument: gast.Starred) -> list[Any]:
        value = argument.value
        if isinstance(value, (gast.Tuple, gast.List)):
            return [self.evaluate(e) for e in value.elts]
        display = self.display(value)
        if isinstance(display, (gast.Tuple, gast.List)):
            items = [gast.Subscript(name(value.id), constant(k), gast.Load()) for k in range(len(display.elts))]
            return [self.evaluate(at(argument, item)[0]) for item in items]
        self.unit.refuse(argument, "`*` before a value whose length is not in the text cannot be followed: name the arguments")

    def spread_keywords(self, value: gast.AST) -> dict[str, Any]:
        if isinstance(value, gast.Dict) and all(isinstance(k, gast.Constant) for k in value.keys):
            return {k.value: self.evaluate(v) for k, v in zip(value.keys, value.values, strict=True)}
        display = self.display(value)
        if isinstance(display, gast.Dict) and all(isinstance(k, gast.Constant) for k in display.keys):
            items = {k.value: gast.Subscript(name(value.id), clone(k), gast.Load()) for k in display.keys}
            return {k: self.evaluate(at(value, item)[0]) for k, item in items.items()}
        self.unit.refuse(value, "`**` before a value whose keys are not in the text cannot be followed: name the keywords")

    def starred(self, node: gast.Call) -> None:
        """Name the arguments of a call that `*` and `**` stand for, where the text says what they are."""
        args: list[gast.AST] = []
        for argument in node.args:
            known = isinstance(argument, gast.Starred) and self.display(argument.value) is not None
            args += self.spread(argument) if known else [argument]
        words: list[gast.keyword] = []
        for keyword in node.keywords:
            known = keyword.arg is None and self.display(keyword.value) is not None
            spread = self.spread_keywords(keyword.value) if known else {}
            words += [gast.keyword(k, v) for k, v in spread.items()] if known else [keyword]
        node.args, node.keywords = args, words

    def display(self, node: gast.AST) -> gast.AST | None:
        """The tuple, list or dict that a name stands for and keeps standing for."""
        return self.unit.displays.get(node.id) if isinstance(node, gast.Name) else None

    def apply(self, callee: Any, given: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """The value of a call of a function value."""
        if isinstance(callee, Partial):
            return self.apply(callee.inner, [*callee.given, *given], {**callee.keywords, **keywords}, node)
        if isinstance(callee, Derivative):
            closed = {c: name(c) for c in callee.captured}
            defaults = {k: v for k, v in callee.defaults.items() if k not in keywords}
            return self.plain(callee.known, given, {**defaults, **keywords, **closed}, node)
        if isinstance(callee, Known):
            functions = any(isinstance(v, Value) and not isinstance(v, Known) for v in (*given, *keywords.values()))
            if not _is_plain(callee.target) or not (
                functions
                or callee.target.__code__.co_flags & inspect.CO_VARKEYWORDS
                or _function_returns_function(callee.target)
            ):
                return self.plain(callee, given, keywords, node)
            callee = self.read(callee.target)
        if not isinstance(callee, Function):
            self.unit.refuse(node, "what is called here is not known to be a function")
        if lifting.calls_itself(callee.node):
            return self.recursive(callee, given, keywords, node)
        return self.written_out(callee, given, keywords, node)

    def recursive(self, callee: Function, given: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call of a nested function that calls itself."""
        if callee not in self.lifted:
            target, captured = lifting.lifted(self.unit, callee.node, self.values)
            self.lifted[callee] = Known(target, name(self.unit.helper(callee.name, target))), captured
        known, captured = self.lifted[callee]
        bound = self.bind(callee, callee.node, given, keywords, node)
        return self.plain(known, [], {**bound, **{c: name(c) for c in captured}}, node)

    def plain(self, callee: Known, given: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call of a function from outside, as it stands."""
        for value in (*given, *keywords.values()):
            if isinstance(value, Value) and not isinstance(value, Known):
                self.unit.refuse(node, "a nested function or lambda that is handed to this function cannot be followed: "
                                       "move it to module level")  # fmt: skip
        atoms = [v.node if isinstance(v, Known) else v for v in given]
        words = [gast.keyword(k, v.node if isinstance(v, Known) else v) for k, v in keywords.items()]
        return self.flattener.atom(at(node, gast.Call(clone(callee.node), atoms, words))[0])

    def reduce(self, node: gast.Call) -> Any:
        """`functools.reduce(f, xs, first)`, as a loop."""
        if len(node.args) not in (2, 3) or node.keywords:
            self.unit.refuse(node, "`reduce` takes a function, a sequence and a first value")
        f, items = node.args[0], self.flattener.atom(node.args[1])
        total = self.unit.local("total")
        rest: gast.AST = items
        if len(node.args) == 3:
            self.flattener.out.append(assign(total, self.flattener.atom(node.args[2])))
        else:
            self.flattener.statement(at(node, assign(total, gast.Subscript(items, constant(0), gast.Load())))[0])
            rest = gast.Subscript(clone(items), gast.Slice(constant(1), None, None), gast.Load())
        item = self.unit.local("item")
        if self.is_function(f) and not isinstance(f, (gast.Name, gast.Lambda)):
            held = self.unit.local("f")
            self.name(held, self.evaluate(f), node)
            f = name(held)
        step = assign(total, gast.Call(clone(f), [name(total), name(item)], []))
        loop = at(node, gast.For(name(item, store=True), rest, at(node, step), [], None))
        self.counts[total] += 2
        for statement in loops.block(self.unit, loop):
            self.flattener.statement(at(node, statement)[0] if not hasattr(statement, "lineno") else statement)
        return name(total)

    # --- writing out ---

    def read(self, target: types.FunctionType) -> Function:
        """A function from outside, as a function value."""
        if target in self.known:
            return self.known[target]
        unit, tree = Unit.of(read(target))
        for run in (check.run, iterators.run, scopes.run):
            tree = run(unit, tree)
        self.unit.inlined.append(unit)
        function = self.known[target] = Function(tree, unit)
        spec = target.__defaults__ or ()
        plain = [*tree.args.posonlyargs, *tree.args.args]
        for p, value in zip(plain[len(plain) - len(spec) :], spec, strict=True):
            function.defaults[p.id] = self.outside(p.id, value)
        for p in tree.args.kwonlyargs:
            if p.id in (target.__kwdefaults__ or {}):
                function.defaults[p.id] = self.outside(p.id, target.__kwdefaults__[p.id])
        return function

    def outside(self, base: str, value: Any) -> Any:
        if isinstance(value, (float, int, str, bool, type(None))):
            return constant(value)
        node = name(self.unit.helper(base, value))
        return Known(value, node) if callable(value) else node

    def prepared(self, function: Function) -> gast.FunctionDef:
        """The body of a function value with one exit."""
        if function.tree is None:
            node = clone(function.node)
            body = node.body if isinstance(node, gast.FunctionDef) else at(node, gast.Return(node.body))
            tree = gast.FunctionDef(function.name, node.args, body, [], None, None, [])
            at(function.node, tree)
            unit = function.unit
            tree.body = loops.block(unit, targets.block(unit, tree.body))
            function.tree = exits.run(unit, tree)
        return function.tree

    def written_out(self, function: Function, given: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        self.calls += 1
        if self.calls > _MOST:
            self.unit.refuse(node, "the calls of nested functions are too many to be written out: move them to module level")
        if any(function is running for running in self.running):
            self.unit.refuse(node, f"`{function.name}` calls itself and is not at module level, which is not differentiated "
                                   "yet: move it there and pass what it needs")  # fmt: skip
        tree = clone(self.prepared(function))
        own = scopes.bound(tree.body) | {p.id for p in parameters(tree)}
        renamed: dict[str, str] = {}
        if function.used or function.unit is not self.unit:
            renamed = {n: self.fresh(function.unit.bases.get(n, n)) for n in sorted(own)}
        function.used = True
        if function.unit is not self.unit:
            self.adopt(function.unit, tree, own, renamed)
        bound = self.bind(function, tree, given, keywords, node)
        inner = Counter({renamed.get(n, n): count for n, count in _bindings(tree.body).items()})
        for part in [*tree.body, *parameters(tree)]:
            scopes.rename(part, renamed)
        self.unit.locals |= {renamed.get(n, n) for n in own}
        substituted: dict[str, gast.AST] = {}
        for p, value in bound.items():
            local = renamed.get(p, p)
            if isinstance(value, Value):
                self.values[local] = value
            elif not inner[local] and (isinstance(value, gast.Constant) or (
                isinstance(value, gast.Name) and (value.id not in self.unit.locals or self.is_fixed(value.id))
            )):  # fmt: skip
                substituted[local] = value
            else:
                inner[local] += 1
                self.flattener.out += at(node, assign(local, value))
        self.counts.update(inner)
        for statement in tree.body:
            _substitute(statement, substituted)
        self.running.append(function)
        try:
            for statement in tree.body[:-1]:
                start = len(self.flattener.out)
                self.flattener.statement(statement)
                for new in self.flattener.out[start:]:
                    if not hasattr(new, "lineno"):
                        at(statement, new)
            value = tree.body[-1].value
            return self.evaluate(value)
        finally:
            self.running.pop()

    def fresh(self, base: str) -> str:
        fresh = self.unit.names.fresh(base)
        self.unit.locals.add(fresh)
        self.unit.bases[fresh] = base
        return fresh

    def adopt(self, unit: Unit, tree: gast.FunctionDef, own: set[str], renamed: dict[str, str]) -> None:
        """The text of another function, with the caller's names for what it reaches, and its own places."""
        for node in nodes(tree):
            if isinstance(node, gast.Name) and node.id not in renamed and node.id not in own:
                if node.id in unit.helpers:
                    renamed[node.id] = self.unit.helper(node.id, unit.helpers[node.id])
                elif node.id not in unit.locals:
                    value = unit.resolve(node)
                    if value is not MISSING and self.unit.resolve(node) is not value:
                        unit.captured.add(node.id)
                        renamed[node.id] = self.unit.helper(node.id, value)
                else:  # of a scope within
                    renamed[node.id] = self.fresh(unit.bases.get(node.id, node.id))
            if hasattr(node, "lineno") and not hasattr(node, "primal"):
                node.primal = unit.primal
        self.unit.compound |= unit.compound

    def bind(
        self, function: Function, tree: gast.FunctionDef, given: list[Any], keywords: dict[str, Any], node: gast.AST
    ) -> dict[str, Any]:
        """The arguments of a call by the parameters."""
        args = tree.args
        plain = [*args.posonlyargs, *args.args]
        words = {getattr(p, "keyword", p.id): p.id for p in [*args.args, *args.kwonlyargs]}
        bound: dict[str, Any] = {p.id: v for p, v in zip(plain, given, strict=False)}
        extra = given[len(plain) :]
        others = {k: v for k, v in keywords.items() if k not in words}
        twice = [k for k in keywords if k in words and words[k] in bound]
        bound |= {words[k]: v for k, v in keywords.items() if k in words}
        missing = [p.id for p in [*plain, *args.kwonlyargs] if p.id not in bound and p.id not in function.defaults]
        if (extra and args.vararg is None) or (others and args.kwarg is None) or missing or twice:
            self.unit.refuse(node, f"this call does not fit the parameters of `{function.name}`")
        for p in [*plain, *args.kwonlyargs]:
            bound.setdefault(p.id, function.defaults.get(p.id))
        if any(isinstance(v, Value) for v in [*extra, *others.values()]):
            self.unit.refuse(node, f"a function among the `*` or `**` arguments of `{function.name}` cannot be followed")
        if args.vararg is not None:
            bound[args.vararg.id] = gast.Tuple(extra, gast.Load())
        if args.kwarg is not None:
            bound[args.kwarg.id] = gast.Dict([constant(k) for k in others], list(others.values()))
        return bound


def _substitute(statement: gast.AST, values: dict[str, gast.AST]) -> None:
    """Put atoms in the place of parameters that are never bound anew."""
    if not values:
        return
    for node in nodes(statement):
        for key, value in node.__dict__.items():
            if isinstance(value, gast.Name) and value.id in values:
                node.__dict__[key] = at(value, clone(values[value.id]))[0]
            elif isinstance(value, list):
                for k, item in enumerate(value):
                    if isinstance(item, gast.Name) and item.id in values:
                        value[k] = at(item, clone(values[item.id]))[0]


def _bindings(body: list[gast.AST]) -> Counter[str]:
    """How often the text binds each name."""
    out: Counter[str] = Counter()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, gast.Name):
            out[node.id] += isinstance(node.ctx, gast.Store)
            continue
        if isinstance(node, gast.FunctionDef):  # what it binds for itself is counted where it is written out
            out[node.name] += 1
            out.update(2 * [n for part in nodes(node) if isinstance(part, gast.Nonlocal) for n in part.names])
            continue
        for value in node.__dict__.values():
            if isinstance(value, list):
                waiting += [part for part in value if isinstance(part, gast.AST)]
            elif isinstance(value, gast.AST) and not isinstance(value, gast.expr_context):
                waiting.append(value)
    return out


def _is_plain(target: Any) -> bool:
    """Whether a callable is a Python function of the user's, to be read."""
    if not isinstance(target, types.FunctionType) or effects.is_library(target) or table.lookup(target) is not None:
        return False
    return not (target.__module__ or "").startswith("s2sgrad.")


def _returns_function(node: gast.FunctionDef | gast.Lambda) -> bool:
    """Whether the value of a function value is a function value, by its text."""
    if isinstance(node, gast.Lambda):
        return isinstance(node.body, gast.Lambda)
    within = {n.name for n in node.body if isinstance(n, gast.FunctionDef)}
    within |= {
        t.id
        for n in node.body
        if isinstance(n, gast.Assign) and isinstance(n.value, gast.Lambda)
        for t in n.targets
        if isinstance(t, gast.Name)
    }
    waiting = list(node.body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, gast.Return):
            value = part.value
            if isinstance(value, gast.Lambda) or (isinstance(value, gast.Name) and value.id in within):
                return True
            if isinstance(value, gast.Call) and getattr(value.func, "id", getattr(value.func, "attr", "")) == "partial":
                return True
        elif isinstance(part, (gast.If, gast.For, gast.While)):
            waiting += part.body + part.orelse
    return False


def _function_returns_function(target: types.FunctionType) -> bool:
    if target not in _GIVING:
        try:
            primal = read(target)
            _GIVING[target] = not primal.is_generated and _returns_function(primal.tree)
        except S2SGradError:  # no source: it is not written out
            _GIVING[target] = False
    return _GIVING[target]


def _curried(callee: gast.Call, functions: Functions) -> bool:
    """Whether `f(a)(b)` gives a function again: `lambda a: lambda b: lambda c: ..`."""
    depth, node = 1, callee.func
    while isinstance(node, gast.Call):
        depth, node = depth + 1, node.func
    value: Any = functions.values.get(node.id) if isinstance(node, gast.Name) else node
    inner = value.node if isinstance(value, Function) else value
    for _ in range(depth):
        inner = getattr(inner, "body", None)
    return isinstance(inner, gast.Lambda) and isinstance(inner.body, gast.Lambda)
