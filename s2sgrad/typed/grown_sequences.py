"""A loop over a list or dict that its trips may make longer or shorter, under whatever name: refused, or checked where it
runs.

    for k in range(len(t)): y = t[k]; zs.append(y)      with `t = sequence(ys)`
    ->      n = len(t); for k in range(len(t)): y = t[k]; zs.append(y); lasts(t, n, line)

    for k in range(len(t)): key = t[k]; d["b"] = 1.0        with `t = sequence(d)`
    ->      n = len(t); for k in range(len(t)): key = t[k]; d["b"] = 1.0; lasts(d, n, line)

Python looks before each trip whether there is another item; the loop over `range(len(t))` runs as often as there were items
when it began.

>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> f = defined('''
... def f(x):
...     rows = {"a": [x], "b": []}
...     for y in rows["a"]:
...         rows["b" if x < 3.0 else "a"].append(y * 0.5)
...     return rows["b"][-1]
... ''')
>>> grad(f)(2.0)
0.5
>>> try: grad(f, strict=True)(4.0)
... except TypeError as error: print(str(error).splitlines()[0])
what a loop runs over changes in it, which cannot be followed: loop over a copy of it
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container, Kind
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.flow.graph import binds
from s2sgrad.inplace.alias_conflicts import resized
from s2sgrad.inplace.rebind_markers import is_marker
from s2sgrad.ir.quote import assign, at, constant, expression, mentioned, name, nested
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit
from s2sgrad.memory import mod_ref
from s2sgrad.memory.one_object import OneObject
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import checks


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> None:
    """Check, where a trip may change the length of what its loop runs over, that it does not; raise Unsupported if it
    does."""
    over = _walked(unit, tree, runtime.sequence, inference.env)
    if not over:
        return
    keys = _walked(unit, tree, runtime.keys_of, inference.env)
    dicts = {t: keys.get(owner, owner) for t, owner in over.items() if owner in keys or _is_dict(inference.env.get(owner))}
    _lists(unit, tree, inference.env, {t: owner for t, owner in over.items() if owner not in keys}, dicts)
    _dicts(unit, tree, inference.env, dicts)


def _lists(
    unit: Unit, tree: gast.FunctionDef, kinds: Mapping[str, Kind], over: dict[str, str], dicts: dict[str, str]
) -> None:
    """Check or refuse what changes the lists that loops run over, and what takes keys out of dicts."""
    same: OneObject | None = None
    for body in nested(tree.body):
        for loop in [s for s in body if isinstance(s, gast.For)]:
            bound = {n for s in effects.walk(loop.body) for n in binds(s)}
            walked = sorted(mentioned(*loop.body) & (over.keys() | dicts.keys()) - bound)
            changes = [s for s in effects.walk(loop.body) if _changed(unit, s, kinds)] if walked else []
            if not changes:
                continue
            same = same or OneObject(unit, tree.body, kinds)
            for t in walked:
                _refuse_keys(unit, changes, dicts.get(t))
                if t in over:
                    changed = same.named(over[t])
                    _check(unit, body, loop, [s for s in changes if changed & _changed(unit, s, kinds)], t, over[t])


def _dicts(unit: Unit, tree: gast.FunctionDef, kinds: Mapping[str, Kind], dicts: dict[str, str]) -> None:
    """Check the number of keys of the dicts that loops run over, where a trip may add some."""
    same: OneObject | None = None
    for body in nested(tree.body) if dicts else ():
        for loop in [s for s in body if isinstance(s, gast.For)]:
            stores = [s for s in effects.walk(loop.body) if effects.stored(s) or _changed(unit, s, kinds)]
            bound = {n for s in effects.walk(loop.body) for n in binds(s)}
            for t in sorted(mentioned(*loop.body) & dicts.keys() - bound) if stores else ():
                same = same or OneObject(unit, tree.body, kinds)
                names = same.named(dicts[t])
                drawn = _drawn(tree, {other for other, owner in dicts.items() if owner in names})
                if any(_may_grow(unit, s, names, drawn, kinds) for s in stores):
                    _check_dict(unit, body, loop, t, dicts[t])


def _is_dict(kind: Kind | None) -> bool:
    return isinstance(kind, Container) and issubclass(kind.type, dict)


def _drawn(tree: gast.FunctionDef, walked: set[str]) -> set[str]:
    """The names that stand for nothing but items of these."""
    items: set[str] = set()
    others: set[str] = set()
    for statement in effects.walk(tree.body):
        value = getattr(statement, "value", None)
        is_item = isinstance(value, gast.Subscript) and getattr(value.value, "id", None) in walked
        (items if is_item else others).update(binds(statement))
    return items - others


def _may_grow(unit: Unit, statement: gast.AST, same: set[str], keys: set[str], kinds: Mapping[str, Kind]) -> bool:
    """Whether a statement may add a key to a dict of these names, but those that its loops have drawn."""
    section = effects.stored(statement)
    if section is None:
        return not same.isdisjoint(_changed(unit, statement, kinds))
    return getattr(section.value, "id", None) in same and getattr(section.slice, "id", None) not in keys


def _check_dict(unit: Unit, body: list[gast.AST], loop: gast.For, t: str, owner: str) -> None:
    """Check at the end of each trip that the dict still has as many keys as were drawn from it, as Python does."""
    last: gast.AST = getattr(loop.body[-1], "value", None)
    if unit.called(last) is checks.lasts and last.args[0].id == owner:
        return
    length = unit.temp()
    body[(k := body.index(loop)) : k] = at(loop, assign(length, expression("len(t)", len=unit.builtin(len), t=t)))
    for inner in nested(loop.body):
        for end in [s for s in inner if isinstance(s, gast.Continue)]:
            inner[(k := inner.index(end)) : k] = at(end, _lasts(unit, loop, owner, length))
    loop.body += at(loop, _lasts(unit, loop, owner, length))


def _lasts(unit: Unit, loop: gast.For, owner: str, length: str) -> gast.AST:
    line = constant(getattr(loop, "lineno", 0))
    return gast.Expr(call(unit, "lasts", checks.lasts, name(owner), name(length), line))


def _refuse_keys(unit: Unit, changes: list[gast.AST], walked: str | None) -> None:
    """Refuse to take keys out of the dict that a loop runs over, for which Python raises at the next trip."""
    for statement in changes if walked is not None else ():
        if resized(unit, statement) == walked:
            unit.refuse(statement, checks.CHANGES)


def _walked(unit: Unit, tree: gast.FunctionDef, helper: Any, kinds: Mapping[str, Kind]) -> dict[str, str]:
    """The names that stand for what loops run over, or for the keys of the dicts that they run over, with what has these; an
    array keeps its length."""
    out: dict[str, str] = {}
    for statement in effects.walk(tree.body):
        value: gast.AST = getattr(statement, "value", None)
        if unit.called(value) is helper and isinstance(value.args[0], gast.Name):
            out |= dict.fromkeys(binds(statement), value.args[0].id)
    return {t: owner for t, owner in out.items() if not isinstance(kinds.get(owner), Array)}


def _check(unit: Unit, body: list[gast.AST], loop: gast.For, changes: list[gast.AST], t: str, owner: str) -> None:
    """Check behind each of these statements that the length is still what it was before the loop."""
    checked = {id(before) for inner in nested(loop.body) for before, s in itertools.pairwise(inner)
               if unit.called(getattr(s, "value", None)) is checks.lasts and s.value.args[0].id == t}  # fmt: skip
    changes = [s for s in changes if id(s) not in checked]
    for statement in changes:
        if owner == resized(unit, statement) or is_marker(unit, statement):
            unit.refuse(statement, checks.CHANGES)
    if not changes:
        return
    length = unit.temp()
    body[(k := body.index(loop)) : k] = at(loop, assign(length, expression("len(t)", len=unit.builtin(len), t=t)))
    for inner in nested(loop.body):
        for statement in [s for s in inner if any(s is c for c in changes)]:
            line = constant(getattr(statement, "lineno", 0))
            made = gast.Expr(call(unit, "lasts", checks.lasts, name(t), name(length), line))
            inner[(k := inner.index(statement) + 1) : k] = at(statement, made)


def _changed(unit: Unit, statement: gast.AST, kinds: Mapping[str, Kind]) -> set[str]:
    """The lists whose length a statement may change."""
    changed = resized(unit, statement)
    value: gast.AST = getattr(statement, "value", None)
    if changed is not None:
        method = getattr(getattr(value, "func", None), "attr", None)
        return {changed} if method is None or catalogue.of(getattr(list, method, None)).resizes else set()
    target = unit.called(value)
    if not is_plain(target) or not mod_ref.of_call(unit, target, value, kinds).arguments:
        return set()
    return {n.id for n in value.args if isinstance(n, gast.Name)}
