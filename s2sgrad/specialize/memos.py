"""Memoized recursive functions: their values are computed one after the other, in order of dependence.

    @cache                                          memo = {}
    def fib(n):                                     for n in calls_made(fib, memo, (6,), x=x):
        if n < 2: return x[n]             ->            if n < 2: memo[n] = x[n]
        return fib(n - 1) + x[2] * fib(n - 2)           else: memo[n] = memo[n - 1] + x[2] * memo[n - 2]
    return fib(6)                                   return memo[6]

The keys and their order are found by running the function, which must therefore be pure.  Dicts that a function fills itself
are recognized by `memo_tables`.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from functools import cache
... def f(x):
...     @cache
...     def power(n):
...         return x if n == 1 else x * power(n - 1)
...     return power(5)
... ''', "flatten"))
def f(x):
    power_memo = {}
    t2 = 5,
    t3 = calls_made(power_, power_memo, t2, x=x)
    t1 = sequence(t3)
    t4 = len(t1)
    for k in range(t4):
        n_ = t1[k]
        t5 = n_ == 1
        if t5:
            result_ = x
        else:
            t6 = n_ - 1
            t7 = power_memo[t6]
            result_ = x * t7
        power_memo[n_] = result_
    t8 = power_memo[5]
    result = t8
    return result
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import Transformer, assign, at, clone, name, nodes
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory import behaviour, mod_ref
from s2sgrad.normalize import loops, targets
from s2sgrad.runtime import memos
from s2sgrad.specialize import lambda_lifting, memo_tables
from s2sgrad.specialize.static_values import Function, Known, Memoized


class Memos:
    """Makes memoized functions, and calls them."""

    remembering: dict[Function, Memoized | None]  # recursive functions that fill a dict
    mentions: Counter[str]  # occurrences of the variables of the text

    def is_cache(self, decorator: gast.AST) -> bool:
        """Whether a decorator is `cache` or `lru_cache`, with or without constant options."""
        tool = decorator
        if isinstance(decorator, gast.Call):
            options = all(isinstance(n, gast.Constant) for n in (*decorator.args, *(k.value for k in decorator.keywords)))
            tool = decorator.func if options else decorator
        return self.unit.resolve(tool) in (functools.cache, functools.lru_cache)

    def memoized(self, value: Any, decorator: gast.AST) -> Any:
        """A function decorated with `cache`: its values are keyed by all arguments."""
        if not isinstance(value, Function) or not isinstance(value.node, gast.FunctionDef):
            return None
        holder = None
        if lambda_lifting.calls_itself(value.node):
            holder = self.unit.local(f"{value.name}_memo")
            self.counts[holder] += 1
            self.flattener.out += at(decorator, assign(holder, gast.Dict([], [])))
        memo_function = Memoized(value, holder)
        self.moves(memo_function)  # record where it is made
        return memo_function

    def as_memoized(self, function: Function) -> Memoized | None:
        """A function that memoizes in a dict of its own; None if it does not."""
        if function not in self.remembering:
            table = memo_tables.of(function.node, function.unit.resolve)
            own = table is not None and self.is_its_own(function, table)
            self.remembering[function] = Memoized(function, None, table) if own else None
        return self.remembering[function]

    def is_its_own(self, function: Function, table: memo_tables.Table) -> bool:
        """Whether only the function uses its dict; for a parameter, the caller decides."""
        if any(p.id == table.memo for p in parameters(function.node)):
            default = function.defaults.get(table.memo)
            return function.unit is self.unit or default is None or isinstance(default, gast.Constant)
        inside = sum(isinstance(n, gast.Name) and n.id == table.memo for n in nodes(function.node))
        return function.unit is self.unit and self.mentions[table.memo] == inside + 1 and table.memo in self.unit.locals

    def call_memoized(self, callee: Memoized, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call from outside: a loop that computes all needed values, and then a lookup."""
        function = callee.function
        if callee.step is None:
            self.take_apart(callee, node)
        if callee.plain is None:  # not recursive
            return self.written_out(function, arguments, keywords, node)
        bound = self.bind(function, function.node, arguments, keywords, node)
        if any(not isinstance(v, gast.AST) for v in bound.values()):
            self.unit.refuse(node, f"`{function.name}` remembers its values and is given a function or an object, which "
                                   "cannot be followed: let it read that from outside")  # fmt: skip
        memo = self.memo_of(callee, bound, node)
        asked = [bound[p] for p in callee.key]
        passed = {p: bound[p] for p in callee.passed}
        helper = name(self.unit.helper("calls_made", memos.calls_made))
        captures = [gast.keyword(p, clone(v)) for p, v in ({c: name(c) for c in callee.captured} | passed).items()]
        calls = gast.Call(helper, [clone(callee.plain.node), name(memo), gast.Tuple(clone(asked), gast.Load())], captures)
        mine = [self.unit.local(p) for p in callee.key]
        step = self.unit.local(function.name)
        self.values[step] = callee.step
        words = [gast.keyword(p, clone(v)) for p, v in passed.items()] + [gast.keyword(callee.looked, name(memo))]
        value = gast.Call(name(step), [name(m) for m in mine], words)
        target: Any = [name(m, store=True) for m in mine]
        target = target[0] if len(target) == 1 else gast.Tuple(target, gast.Store())
        loop = gast.For(target, calls, [gast.Assign([_entry(memo, [name(m) for m in mine], True)], value, None)], [], None)
        self.flattener.out += self.flattener.block(loops.block(self.unit, targets.block(self.unit, at(node, loop))))
        return self.flattener.hold(at(node, _entry(memo, asked))[0])

    def memo_of(self, callee: Memoized, bound: dict[str, Any], node: gast.AST) -> str:
        """The variable for the dict of a function: shared by all calls, or made for this one."""
        if callee.memo is not None:
            return callee.memo
        memo = bound.get(callee.table.memo, name(callee.table.memo))
        if isinstance(memo, gast.Name):
            if callee.table.memo in bound and not self.is_alone(memo, callee):
                self.unit.refuse(node, f"`{callee.function.name}` keeps its values in `{callee.table.memo}`, which is read "
                                       "elsewhere, and cannot be followed: hand over `{}`, or use `cache`")  # fmt: skip
            return memo.id
        holder = self.unit.local(f"{callee.function.name}_memo")
        self.flattener.out += at(node, assign(holder, gast.Dict([], [])))
        return holder

    def is_alone(self, memo: gast.Name, callee: Memoized) -> bool:
        """Whether a dict is bound once, and occurs only in this call."""
        default = memo is callee.function.defaults.get(callee.table.memo)
        times = self.mentions[memo.id] - (memo.id not in self.given and memo.id not in self.unit.temps)
        return default or times == (memo.id not in self.unit.temps)

    def take_apart(self, callee: Memoized, node: gast.AST) -> None:
        """Split a function: `plain` calls a function parameter instead of itself, `step` reads the memo."""
        function, table = callee.function, callee.table
        plain = function.node
        if table is None:
            callee.key = [p.id for p in parameters(plain)]
            plain = clone(plain)
            _Positional(self, function).visit(plain)
            plain.args.defaults, plain.args.kw_defaults = [], []
            plain.args.args, plain.args.kwonlyargs = [*plain.args.args, *plain.args.kwonlyargs], []
        else:
            callee.key, callee.passed, plain = table.key, table.passed, clone(table.node)
        step = clone(plain)
        self.require_computes(step, function)
        callee.looked = function.unit.local("memo")
        step.args.args += [gast.Name(p, gast.Param(), None, None) for p in (*callee.passed, callee.looked)]
        _LookedUp(function.name, callee.looked).visit(step)
        callee.step = Function(step, function.unit)
        if not lambda_lifting.calls_itself(plain):
            return
        words = [function.name, *callee.passed]
        plain.name = self.unit.names.fresh(function.name)
        plain.args.kwonlyargs = [gast.Name(p, gast.Param(), None, None) for p in words]
        plain.args.kw_defaults = [None] * len(words)
        others = {n: v for n, v in self.values.items() if n != function.name}
        target, callee.captured = lambda_lifting.lifted(function.unit, plain, others)
        if callee.captured and function.unit is not self.unit:
            self.unit.refuse(node, f"`{function.name}` remembers its values and reads `{callee.captured[0]}` of the "
                                   "function around it, which cannot be followed: pass it")  # fmt: skip
        self.unit.helpers[plain.name] = target
        callee.plain = Known(target, name(plain.name))

    def require_computes(self, step: gast.FunctionDef | gast.Lambda, function: Function) -> None:
        """Refuse an impure function, nested callees included: its body will run once per key."""
        unit, name_ = function.unit, function.name
        lambda_lifting.require_no_writes(unit, step)
        read = clone(step)
        if not isinstance(read, gast.FunctionDef):
            read = gast.FunctionDef(name_, read.args, [gast.Return(read.body)], [], None, None, [])
        within = {n.id: self.values.get(n.id) for n in nodes(step) if isinstance(n, gast.Name)}
        within = {n: f for n, f in within.items() if isinstance(f, Function) and f is not function and f.unit is unit}
        for called in (name_, *within):
            _LookedUp(called, "_").visit(read)
        with behaviour.of_data(unit, "_"):
            self.require_pure(unit, read, name_)
            free = {n.id for s in read.body for n in nodes(s) if isinstance(n, gast.Name) and n.id in unit.locals}
            free |= {p.id for p in parameters(read)}
            if mod_ref.of_body(unit, read.body, free - scoping.bound(read.body)).arguments:
                unit.refuse(step, f"`{name_}` remembers its values and may write an array or a list that it is given, which "
                                  "cannot be followed: copy it first")  # fmt: skip
        for other in within.values():
            if lambda_lifting.calls_itself(other.node):
                unit.refuse(step, f"`{name_}` remembers its values and calls `{other.name}`, which calls itself, which "
                                  "cannot be followed: let that remember its values too")  # fmt: skip
            self.require_computes(other.node, other)

    def require_pure(self, unit: Unit, read: gast.FunctionDef, called: str) -> None:
        """Refuse effects other than changes of the function's own variables."""
        own = scoping.bound(read.body)
        for part in (p for s in read.body for p in nodes(s)):
            changes = isinstance(part, (gast.Nonlocal, gast.Global, gast.Delete)) or (
                isinstance(part, gast.Attribute) and not isinstance(part.ctx, gast.Load)
            )
            changed = effects.changed_by_call(part)
            acts = isinstance(part, gast.Call) and not behaviour.is_pure_call(unit, part)
            if changes or (acts and not (changed and changed <= own)):
                unit.refuse(part, f"`{called}` remembers its values and does something besides computing, which cannot be "
                                  "followed: let it do that elsewhere")  # fmt: skip
            if isinstance(part, gast.Name) and part.id == called:
                unit.refuse(part, f"`{called}` remembers its values and hands itself on, which cannot be followed: call it")


def _entry(memo: str, key_parts: list[gast.AST], store: bool = False) -> gast.Subscript:
    """The entry of the memo for these arguments."""
    key_parts = clone(key_parts)
    key = key_parts[0] if len(key_parts) == 1 else gast.Tuple(key_parts, gast.Load())
    return gast.Subscript(name(memo), key, gast.Store() if store else gast.Load())


class _LookedUp(Transformer):
    """Replaces recursive calls by lookups in the memo."""

    def __init__(self, called: str, memo: str) -> None:
        self.called, self.memo = called, memo

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        if getattr(node.func, "id", "") != self.called:
            return node
        return at(node, _entry(self.memo, [*node.args, *(k.value for k in node.keywords)]))[0]


class _Positional(Transformer):
    """Makes the arguments of recursive calls positional."""

    def __init__(self, functions: Memos, function: Function) -> None:
        self.functions, self.function = functions, function

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        if getattr(node.func, "id", "") == self.function.name:
            words = {k.arg: k.value for k in node.keywords}
            bound = self.functions.bind(self.function, self.function.node, node.args, words, node)
            node.args, node.keywords = [clone(bound[p.id]) for p in parameters(self.function.node)], []
        return node
