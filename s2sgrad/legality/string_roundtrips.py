"""Numbers converted to text or bytes and back: their derivative would be lost silently.

    y = float(str(x)); return y * y      ->      Unsupported: this reads numbers off a text made of a differentiated value

Text that is only printed, logged, or used as a key is allowed.
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import calls_in, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import methods_named


def check(unit: Unit, tree: gast.FunctionDef, varied: set[str], kinds: dict[str, Kind]) -> None:
    """Raise Unsupported where numbers are parsed from text that was made from a value in `varied`."""
    texts: set[str] = set()
    carrying: list[gast.AST] = []
    before = -1
    while before < len(texts):
        before, carrying = len(texts), []
        for statement in effects.walk(tree.body):
            if _carries(unit, effects.header(statement), varied, texts):
                carrying.append(statement)
                texts |= set(binds(statement)) | ({statement.target.id} if isinstance(statement, gast.For) else set())
                section = effects.stored(statement)
                texts |= set() if section is None else {effects.base(section)}
                texts |= effects.changed_by_call(getattr(statement, "value", statement))
                texts -= {n for n in texts if isinstance(kinds.get(n), (Number, Array))}  # `len(str(x))`
    for statement in carrying:
        for call in calls_in(effects.header(statement)):
            if catalogue.of(callee(unit, call)).from_text and any(_carries(unit, a, varied, texts) for a in call.args):
                unit.refuse(call, "this reads numbers off a text, or off bytes, that were made of a differentiated value: "
                                  "keep the value itself, or use `stop_gradient(..)`")  # fmt: skip


def callee(unit: Unit, call: gast.Call) -> Any:
    """What a call calls: of `reads_only(f, ..)(x)`, `f`."""
    checked = isinstance(call.func, gast.Call) and unit.called(call.func) is runtime.reads_only
    return unit.resolve(call.func.args[0] if checked else call.func)


def _carries(unit: Unit, node: gast.AST, varied: set[str], texts: set[str]) -> bool:
    """Whether the value of an expression is or contains text made from a value in `varied`."""
    for part in nodes(node):
        if isinstance(part, gast.Name):
            if isinstance(part.ctx, gast.Load) and part.id in texts:
                return True
            continue
        method = part.func if isinstance(part, gast.Call) and isinstance(part.func, gast.Attribute) else None
        writes = (
            isinstance(part, gast.JoinedStr)
            or (isinstance(part, gast.Call) and catalogue.of(unit.resolve(part.func)).to_text)
            or (method is not None and any(m.to_text for m in methods_named(method.attr)))
            or (isinstance(part, gast.BinOp) and isinstance(part.op, gast.Mod) and _is_text(part.left))
        )
        if writes and any(n.id in varied for n in effects.loads(part)):
            return True
    return False


def _is_text(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, (str, bytes))
