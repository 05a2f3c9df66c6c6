"""Copies of arguments that a function writes, made on entry: the caller's arrays stay unchanged.

def f(x): x *= 2.0; return np.sum(x)      ->      x2 = x.copy(); x2 *= 2.0; return np.sum(x2)
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Instance, Kind
from s2sgrad.analysis.reached_codes import may_hold
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import assign, at, constant, expression, name, nodes
from s2sgrad.ir.reach import call
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.mirror.shadows import Shadows
from s2sgrad.runtime import shadows, unseen_functions
from s2sgrad.runtime.copies import copied, copied_as_laid
from s2sgrad.runtime.traits import traits


def run(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], written: dict[str, gast.AST]) -> None:
    """Copy the arguments whose memory the function writes."""
    heads: list[gast.AST] = []
    lie_alike = Shadows(unit, tree, kinds, unit.mirror.names, str).lie_alike
    for parameter in parameters(tree):
        p = parameter.id
        if p not in written:
            continue
        if unit.outside.separate and isinstance(kinds.get(p), Instance):
            unit.refuse(written[p], f"an array of the object `{p}` is written in place, and attributes are written too, "
                                    "which is not differentiated yet: bind new arrays, as in `o.w = o.w + x`")  # fmt: skip
        fresh = unit.names.fresh(p)
        unit.locals.add(fresh)
        unit.bases[fresh] = unit.bases.get(p, p)
        unit.arguments.own_copies.add(fresh)
        kinds[fresh] = kinds[p]
        laid = p in unit.mirror.names and lie_alike  # views depend on the memory layout
        if p in unit.mirror.names:
            unit.mirror.names ^= {p, fresh}
        for statement in effects.walk(tree.body):  # the layout of the caller's array decides
            if _checks_layout(unit, statement, p):
                heads += at(
                    statement, gast.Expr(expression("f(x, n)", f=statement.value.func, x=p, n=statement.value.args[1]))
                )
        rename({p: fresh}, *tree.body)
        if isinstance(kinds[p], Array):
            held = call(unit, "laid_like", shadows.laid_like, name(p), name(p)) if laid else expression("x.copy()", x=p)
        else:
            copy = copied_as_laid if laid else copied
            held = call(unit, copy.__name__, copy, name(p))
        heads.append(assign(fresh, held))
    tree.body = at(tree.body[0], *heads) + tree.body if tree.body else heads


def check_copied(unit: Unit, tree: gast.FunctionDef) -> None:
    """Check, in a gradient that a differentiated function calls, that nothing else that it reads refers to the arguments
    that it copies: the function that it was made from would see its writes there."""
    copies = traits(unit.primal.function).copies
    read = {n.id for s in tree.body for n in nodes(s) if isinstance(n, gast.Name)} if copies else set()
    found = {n: unit.resolve(name(n)) for n in sorted(read)}
    outside = [n for n, v in found.items() if v is not MISSING and (may_hold(v) or isinstance(v, types.FunctionType))]
    others = [*(p.id for p in parameters(tree)), *(n for n in outside if n not in unit.helpers)]
    checked = [
        call(unit, "unreferred", unseen_functions.unreferred, constant(p), name(p), *(name(n) for n in others if n != p))
        for p in copies
    ]
    tree.body[:0] = at(tree.body[0], *map(gast.Expr, checked))


def _checks_layout(unit: Unit, statement: gast.AST, p: str) -> bool:
    """Whether a statement checks that the parameter is contiguous."""
    call: Any = alone(statement)
    if unit.called(call) is not runtime.contiguous:
        return False
    return isinstance(call.args[0], gast.Name) and call.args[0].id == p
