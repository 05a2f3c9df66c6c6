"""A list inside of a list or dict that grows or shrinks is taken out, changed as one of its own, and put back.

    t = groups[k]; t.append(x)      ->      t = list(groups[k]); t.append(x); groups[k] = t

Right where the inner list stands in there once, which is checked when it runs, and has no other name.
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.lifetimes import Block, binds
from s2sgrad.inplace.sharing import Clash
from s2sgrad.quote import assign, at, clone, constant, name
from s2sgrad.unit import Unit


def put_back(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], clash: Clash) -> bool:
    """Whether the list that a statement changes was one of those; the tree is changed."""
    inner = clash.written
    call = getattr(clash.statement, "value", None)
    if inner not in unit.temps or not isinstance(call, gast.Call) or inner not in effects.changed_by_call(call):
        return False
    mentions = [s for s in effects.walk(tree.body) if inner in effects.reads(s) or inner in binds(s)]
    if len(mentions) != 2 or mentions[1] is not clash.statement:
        return False
    taken = mentions[0]
    value = taken.value if isinstance(taken, gast.Assign) else None
    if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name) or value.value.id not in unit.locals:
        return False
    outer = kinds.get(value.value.id)
    if not isinstance(value.slice, (gast.Name, gast.Constant)) or not isinstance(outer, Container) or outer.type is tuple:
        return False
    body = _block(tree.body, taken)
    if body is None or not any(s is clash.statement for s in body):
        return False
    first, last = (next(k for k, s in enumerate(body) if s is wanted) for wanted in (taken, clash.statement))
    changed = set().union(*(effects.writes(s) for s in effects.walk(body[first + 1 : last])))
    if changed & {n.id for n in effects.loads(value)}:
        return False
    holder = unit.temp()
    line = constant(getattr(taken, "lineno", 0))
    check = gast.Call(name(unit.helper("once", runtime.once)), [clone(value.value), clone(value.slice), line], [])
    copied = gast.Call(unit.builtin(list), [name(holder)], [])
    back = gast.Assign([gast.Subscript(clone(value.value), clone(value.slice), gast.Store())], name(inner), None)
    back.inner = True
    body[last + 1 : last + 1] = at(clash.statement, back)
    body[first : first + 1] = at(taken, gast.Expr(check), assign(holder, value), assign(inner, copied))
    return True


def _block(body: Block, wanted: gast.AST) -> Block | None:
    """The block that a statement stands in."""
    if any(s is wanted for s in body):
        return body
    inner = (b for s in body if isinstance(s, (gast.If, gast.For, gast.While)) for b in (s.body, s.orelse))
    return next((found for b in inner if (found := _block(b, wanted)) is not None), None)
