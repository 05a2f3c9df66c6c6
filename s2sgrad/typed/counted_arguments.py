"""Calls with `*`, `**` or keywords, where only the running program knows the function, or what these stand for.

    y = f(*args)             ->      t1 = args[0]; t2 = args[1]; y = f(t1, t2), where `args` is a tuple of two
    y = f(x, *ys, w=e)       ->      t1 = closure(called_with, (f, (x,), ys, {"w": e}, {})); y = t1()

>>> import numpy as np
>>> from s2sgrad import grad
>>> def handed(f, *args):
...     return f(*args)
>>> def f(x, h):
...     return handed(h, x)
>>> bool(np.isclose(grad(f)(0.5, np.sin), np.cos(0.5)))
True
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from s2sgrad import standard
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Container, Number
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.primitive_calls import classify
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, constant, name, nested, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import mod_ref
from s2sgrad.primitives import catalogue, libraries, spellings
from s2sgrad.runtime.closures import closure


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Write the arguments of such calls one by one; whether there were any."""
    found = False
    for body in list(nested(tree.body)):
        for k in reversed(range(len(body))):
            call = getattr(body[k], "value", None)
            if isinstance(call, gast.Call) and (call.keywords or any(isinstance(a, gast.Starred) for a in call.args)):
                before = _written_out(unit, call, inference) if _is_by_place(unit.resolve(call.func)) else []
                if _needs_spread(unit, call, inference):
                    _require_result(unit, tree, body[k], inference)
                    before += _with_constants(unit, call, inference) + _spread(unit, call)
                body[k:k] = at(body[k], *before)
                found = found or bool(before)
    return found


def _is_by_place(target: Any) -> bool:
    """Whether what a function does with its arguments is not told by a rule, which knows them by their names."""
    return target is MISSING or (libraries.is_fixed(target) and catalogue.of(target).rule is None)


def _written_out(unit: Unit, call: gast.Call, inference: Inference) -> list[gast.AST]:
    """Replace the `*` in a call; the statements that must precede."""
    before: list[gast.AST] = []
    arguments: list[gast.AST] = []
    for argument in call.args:
        kind = inference.kind(argument.value) if isinstance(argument, gast.Starred) else None
        if not (isinstance(kind, Container) and kind.type is tuple and kind.items is not None):
            arguments.append(argument)
            continue
        for place in range(len(kind.items)):
            before.append(assign(item := unit.temp(), gast.Subscript(argument.value, constant(place), gast.Load())))
            arguments.append(name(item))
    call.args = arguments
    return before


def _needs_spread(unit: Unit, call: gast.Call, inference: Inference) -> bool:
    """Whether a call passes derivatives to what only the running program counts or names, or under keywords to a function
    that it alone knows; with one `*` at most, behind the other arguments."""
    places = [a.value if isinstance(a, gast.Starred) else a for a in call.args]
    stars = [isinstance(a, gast.Starred) for a in call.args]
    doubled = sum(k.arg is None for k in call.keywords)
    words = any(may_carry(inference.kind(k.value)) for k in call.keywords)
    target = unit.resolve(call.func)
    late = target is MISSING
    _require_unwritten(unit, call, target)
    if not late and _is_by_place(target):
        return False  # it has no derivative
    if (late and not isinstance(call.func, gast.Name)) or any(stars[:-1]) or doubled > 1:
        return False
    if not any(stars) and not doubled:
        return words and late
    carries = words or any(may_carry(inference.kind(a)) for a in places)
    return carries and classify(unit, call, inference.env).form == "opaque"


def _require_unwritten(unit: Unit, call: gast.Call, target: Any) -> None:
    """Raise Unsupported where a call may write an array that only its run tells, or a function that only its run knows."""
    written = next((k for k in call.keywords if target is MISSING and _receives(k)), None)
    if written is not None:
        unit.refuse(call, f"`{written.arg}=` of a function that is only known at run time may be written by it, as only its "
                          "run shows: assign its result to a name")  # fmt: skip
    if target is not MISSING and any(k.arg is None for k in call.keywords) and mod_ref.writes_out(call, target):
        unit.refuse(call, "`out=` may be given by `**` here, as only its run shows: name the keywords")


def _receives(keyword: gast.keyword) -> bool:
    """Whether a keyword gives a library function an array for its result, or lets it write its arguments."""
    value = getattr(keyword.value, "value", MISSING) if isinstance(keyword.value, gast.Constant) else MISSING
    if keyword.arg in spellings.RESULTS:
        return value is not None
    return bool(keyword.arg) and spellings.overwrites(keyword.arg) and not spellings.is_off(keyword.arg, value)


def _require_result(unit: Unit, tree: gast.FunctionDef, statement: gast.AST, inference: Inference) -> None:
    """Raise Unsupported where nobody reads the result of a call: it is called to change what it is given."""
    call, target = statement.value, bound_name(statement)
    given = [*call.args, *(k.value for k in call.keywords)]
    plain = all(isinstance(inference.kind(a), Number) for a in given)
    read = {n.id for n in nodes(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)}
    if not plain and not unit.primal.is_generated and (isinstance(statement, gast.Expr) or target not in {None, *read}):
        unit.refuse(call, "nobody reads the result of this call, which may change or keep what it is given under `*`, `**` "
                          "or keywords, as only its run shows: return a value from it")  # fmt: skip


def _with_constants(unit: Unit, call: gast.Call, inference: Inference) -> list[gast.AST]:
    """Give a library's function the keywords that have no derivative as a `partial`, for it may take them in no other way;
    the statements that must precede."""
    target = unit.resolve(call.func)
    rule = None if target is MISSING else catalogue.of(target).rule
    if rule is None:
        return []
    with_derivative = {*rule.differentiable, *rule.keyword_rules}
    words = [k for k in call.keywords if k.arg is not None and (
        k.arg not in with_derivative or not may_carry(inference.kind(k.value)))]  # fmt: skip
    if not words:
        return []
    made = gast.Call(name(unit.helper("partial", functools.partial)), [call.func], words)
    call.func = name(unit.temp())
    call.keywords = [k for k in call.keywords if k not in words]
    return [assign(call.func.id, made)]


def _spread(unit: Unit, call: gast.Call) -> list[gast.AST]:
    """Make a call one without arguments of a function that has them all; the statements that must precede."""
    places = [a for a in call.args if not isinstance(a, gast.Starred)]
    rest = [a.value for a in call.args if isinstance(a, gast.Starred)] or [gast.Tuple([], gast.Load())]
    words = [k for k in call.keywords if k.arg is not None]
    more = [k.value for k in call.keywords if k.arg is None] or [gast.Dict([], [])]
    before: list[gast.AST] = []

    def held(value: gast.AST) -> gast.Name:
        before.append(assign(holder := unit.temp(), value))
        return name(holder)

    first = held(gast.Tuple(places, gast.Load()))
    named = held(gast.Dict([constant(k.arg) for k in words], [k.value for k in words]))
    given = held(gast.Tuple([call.func, first, *map(held, rest), named, *map(held, more)], gast.Load()))
    called = name(unit.helper("called_with", standard.called_with))
    call.func = held(gast.Call(name(unit.helper("closure", closure)), [called, given], []))
    call.args, call.keywords = [], []
    return before
