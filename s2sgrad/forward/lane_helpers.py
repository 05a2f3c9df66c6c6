"""Forms with lanes for runtime helpers in the text of reverse mode, when that is differentiated again.

unbroadcast(y_bar_dot, b)   ->   unbroadcast_lanes(y_bar_dot, b), or `y_bar_dot` if the shapes are known to agree
add_at(x_bar_dot, i, e)     ->   add_at(x_bar_dot, (slice(None), i), e)
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Container, Kind
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.forward.lane_forms import Forms, NoForm, form
from s2sgrad.forward.rule_tangent import with_parts
from s2sgrad.ir.forms import is_none, parts_of
from s2sgrad.ir.quote import clone, constant
from s2sgrad.ir.reach import call
from s2sgrad.rules import helpers
from s2sgrad.runtime import lanes as of_lanes
from s2sgrad.transform.unbroadcasting import relation


@form(runtime.unbroadcast, helpers.fit)
def _unbroadcast(forms: Forms, operation: Operation) -> gast.AST:
    g, x = operation.operands
    if relation(forms.kind(g), forms.kind(x)) == "same":
        return forms.lifted(g)
    forms.rank(g), forms.rank(x)
    return call(forms.unit, "unbroadcast_lanes", of_lanes.unbroadcast_lanes, forms.lifted(g), clone(x))


@form(runtime.unreduce)
def _unreduce(forms: Forms, operation: Operation) -> gast.AST:
    g, x = operation.operands
    new = call(forms.unit, "unreduce_lanes", of_lanes.unreduce_lanes, forms.lifted(g), clone(x))
    forms.rank(g), forms.rank(x)
    new.keywords = [gast.keyword(k, clone(v)) for k, v in operation.keywords.items() if not is_none(v)]
    return new


@form(runtime.like)
def _like(forms: Forms, operation: Operation) -> gast.AST:
    x, x_dot = operation.operands
    if not isinstance(forms.kind(x), Container):
        forms.rank(x_dot)
    return call(forms.unit, "like_lanes", of_lanes.like_lanes, clone(x), forms.carried(x_dot))


@form(runtime.projected, runtime.wide)
def _of_the_numbers_of(forms: Forms, operation: Operation) -> gast.AST:
    """As real or complex as a value is."""
    x_dot, x = operation.operands
    if forms.reads(x):
        raise NoForm("what is as real as a tangent")
    return with_parts(operation.node, {id(x_dot): forms.carried(x_dot)})


@form(runtime.add)
def _add(forms: Forms, operation: Operation) -> gast.AST:
    a, b = operation.operands
    if not _alike(forms.kind(a), forms.kind(b)):
        raise NoForm("a sum of tangents of unknown structure")
    return with_parts(operation.node, {id(o): forms.carried(o) for o in operation.operands})


def _alike(a: Kind, b: Kind) -> bool:
    """Whether two values have the same structure, with numbers and arrays of equal ranks."""
    if isinstance(a, Container) and isinstance(b, Container) and a.items is not None and b.items is not None:
        return len(a.items) == len(b.items) and all(map(_alike, a.items, b.items))
    return a.rank is not None and a.rank == b.rank


@form(runtime.add_at)
def _add_at(forms: Forms, operation: Operation) -> gast.AST:
    owner, index, value = operation.node.args
    new = forms.item(gast.Subscript(owner, index, gast.Load()))
    section = gast.Subscript(owner, index, gast.Load())
    if isinstance(forms.kind(owner), Container):
        forms.rank(section), forms.rank(value)
        added = forms.expanded(value, forms.rank(section)) if forms.reads(value) else forms.carried(value)
        return with_parts(operation.node, {id(owner): forms.carried(owner), id(value): added})
    _, *parts = parts_of(new.slice)
    whole = gast.Tuple([gast.Call(forms.unit.builtin(slice), [constant(None)], []), *parts], gast.Load())
    added = forms.expanded(value, forms.rank(section))
    return gast.Call(operation.node.func, [forms.carried(owner), whole, added], [])
