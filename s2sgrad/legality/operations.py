"""Operations on the differentiated path that have no derivative, or no known one.

y = np.sort_complex(x)      ->      NoRule: `np.sort_complex` has no derivative rule: use functions that have one ...
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad import emit, runtime, source
from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Drawing, Foreign, Instance, Opaque, Unknown, is_numeric
from s2sgrad.analysis.plain_classes import draws
from s2sgrad.analysis.primitive_calls import Operation, is_known_late, is_user_function
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import nodes_of
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import MISSING
from s2sgrad.legality.context import Context
from s2sgrad.memory.sources import bound_sources
from s2sgrad.mirror.shadows import without_rule
from s2sgrad.rules import table
from s2sgrad.runtime import shadows
from s2sgrad.runtime.asking import has, its

_OPERANDS = (int, float, complex, np.generic, str, bytes, list, tuple, dict, set)
_DRAWN = (runtime.sequence, runtime.keys, runtime.keys_of, sorted, list, tuple)  # the items of their argument
_INDEXED = (np.ndarray, np.generic, list, tuple, dict, str, bytes)


def check_indices(context: Context, statement: gast.AST, inference: Inference) -> None:
    """Refuse `np.mgrid[0:x:5j]`, and `tables[k][x]` of unknown objects: what computes with its index has no rule."""
    for node in nodes_of(effects.header(statement), {gast.Subscript}):
        found = context.unit.resolve(node.value)
        if isinstance(found, _INDEXED) or not context.depends(node.slice):
            continue
        unknown = context.passes_on(node.slice) and _may_compute(inference, node) and not _is_key(context, node)
        if found is not MISSING or unknown:
            context.unit.no_rule(node, f"the index of `{emit.expression(node.value)}` has no derivative rule: use a "
                                       "function that has one, like np.linspace")  # fmt: skip


def _is_key(context: Context, node: gast.Subscript) -> bool:
    """Whether an index is drawn from the same value: `t[k]` under `for k in sorted(t)`, where `t` may be a dict."""
    drawn = context.once.get(getattr(node.slice, "id", ""))
    items = getattr(getattr(drawn, "value", None), "value", None)
    while (made := context.once.get(getattr(items, "id", ""))) is not None:
        if context.unit.called(made.value) not in _DRAWN or not made.value.args:
            return False
        (items, *_) = made.value.args
        if same(items, node.value):
            return True
    return False


def _may_compute(inference: Inference, node: gast.Subscript) -> bool:
    """Whether an item is of what may be an object of the user's, by what may be no integer."""
    owner, index = inference.kind(node.value), inference.kind(node.slice)
    if index is not None and is_numeric(index) and getattr(index, "type", None) in (int, bool):
        return False
    return type(owner) is Unknown or (isinstance(owner, Opaque) and not owner.quiet)


def check(context: Context, statement: gast.AST, operation: Operation) -> None:
    """Raise Unsupported or NoRule where an operation receives a derivative that it cannot propagate."""
    carriers = [s for s in activity.sources(operation) if s in context.varied]
    if not carriers or _is_view(context, statement, operation):
        return
    _methods(context, operation)
    if operation.target in _BY_PLACE and not context.unit.mirror.names.issuperset(binds(statement)):
        context.unit.refuse(operation.node, "what may be a view is read here after what it was made from has been written, "
                                            "which is not differentiated again: copy it first")  # fmt: skip
    if operation.form == "opaque":
        context.unit.refuse(operation.node, operation.why)
    if operation.why:
        context.unit.no_rule(operation.node, operation.why)
    _keywords(context, operation)
    _operands(context, operation)
    _constants(context, operation)
    _callee(context, statement, operation)


_BY_PLACE = (shadows.shadow_of, shadows.tangent_of)  # their results are tracked as views, or not at all


def _is_view(context: Context, statement: gast.AST, operation: Operation) -> bool:
    """Whether an operation without rule makes a view, as is checked at run time: what it views has the derivative."""
    bound = binds(statement)
    if not bound or not context.unit.mirror.names.issuperset(bound) or not without_rule(operation):
        return False
    return bool(bound_sources(context.unit, bound, operation.node, context.kinds))


def _methods(context: Context, operation: Operation) -> None:
    """Calls of methods of differentiated values, and of those that draw from them."""
    node = operation.node
    if operation.form == "call" and isinstance(node.func, gast.Attribute) and any(map(context.depends, operation.operands)):
        owner = its(operation.target, "__self__", None)
        if draws(owner) or (operation.target is MISSING and isinstance(context.kind(node.func.value), Drawing)):
            shown = emit.expression(node.func)
            context.unit.no_rule(node, f"`{shown}` of a differentiated value has no derivative rule: draw places, as in "
                                       "`x[rng.choice(len(x), 3)]`")  # fmt: skip
    if operation.form == "call" and isinstance(node.func, gast.Attribute) and operation.target is MISSING:
        if isinstance(context.kind(node.func.value), Foreign) and context.depends(node.func):
            shown = emit.expression(node.func)
            context.unit.no_rule(node, f"`{shown}`, a method of a sparse array, has no derivative rule: make the array of "
                                       "`(data, (i, j))` with new data, or an array of it by `toarray()`")  # fmt: skip
        if context.depends(node.func):
            context.unit.refuse(node, f"the method `{node.func.attr}` cannot be differentiated: use a NumPy function "
                                      "that has a rule")  # fmt: skip


def _keywords(context: Context, operation: Operation) -> None:
    """Keywords that depend on a differentiated value, and `dtype=object`."""
    for keyword, value in operation.keywords.items():
        if keyword == "dtype" and context.unit.resolve(value) is object:
            context.unit.refuse(value, "arrays of objects cannot be differentiated: use an array of floats")
        has_rule = operation.rule is not None and operation.rule.has_derivative_in(keyword, context.forward)
        if not has_rule and any(n.id in context.paths.active for n in effects.loads(value)):
            if operation.rule is not None and operation.rule.given is not None and keyword in operation.rule.keywords:
                context.unit.no_rule(value, operation.rule.given.unsaid(keyword, context.forward))
            context.unit.no_rule(value, f"the keyword `{keyword}` depends on a differentiated value, for which there is "
                                        "no rule: pass a constant")  # fmt: skip


def _operands(context: Context, operation: Operation) -> None:
    """Objects with operators of their own: `x * S` of a sparse matrix is not an elementwise product, and what an index gives
    is not told by NumPy's rules."""
    node = operation.node
    if operation.form == "item" and _is_foreign(context, node.value):
        shown = emit.expression(node.value)
        context.unit.no_rule(
            node, f"the items of `{shown}`, which is no array, have no derivative rule: use a product with it"
        )
    if context.unit.primal.is_generated or table.is_own_operator(operation.target):
        return
    operands: list[gast.AST] = []
    if isinstance(node, gast.BinOp) and not isinstance(node.op, gast.MatMult):
        operands, what = [node.left, node.right], "have no derivative rule: make an array of it"
    elif isinstance(node, gast.Call) and _is_of_numpy(operation):
        operands = [o for o in operation.operands if o is not node.func]
        what = "by this function have no derivative rule: call its own method, or make an array of it by `toarray()`"
    foreign = next((o for o in operands if _is_foreign(context, o) and not _is_own(context, o, operation.target)), None)
    if foreign is not None:
        shown = emit.expression(foreign)
        context.unit.no_rule(node, f"operators of `{shown}`, which is no number and no array, {what}")


def _is_of_numpy(operation: Operation) -> bool:
    """Whether a call is of a function of NumPy's, or of one of Python's that calls an operator, by its own rule."""
    target, rule = operation.target, operation.rule
    home = "numpy" if isinstance(target, np.ufunc) else its(target, "__module__", None) or ""
    return rule is not None and rule.given is None and home.partition(".")[0] in ("numpy", "builtins")


def _is_own(context: Context, operand: gast.AST, target: Any) -> bool:
    """Whether what is called is a method of an object from outside: `np.poly1d.__call__(p, x)`."""
    return any(target is method for cls in type(context.unit.resolve(operand)).__mro__ for method in vars(cls).values())


def _is_foreign(context: Context, operand: gast.AST) -> bool:
    if isinstance(operand, gast.Name) and isinstance(context.kind(operand), Foreign):
        return True
    found = context.unit.resolve(operand) if isinstance(operand, (gast.Name, gast.Attribute)) else MISSING
    return found is not MISSING and not has(found, "__array_ufunc__") and not isinstance(found, _OPERANDS)


def _constants(context: Context, operation: Operation) -> None:
    """Arguments in which a rule is not differentiable."""
    rule = operation.rule
    if rule is None:
        return
    for parameter, why in rule.constants.items():
        known = rule.given is not None and rule.has_derivative_in(parameter, context.forward)
        if not known and context.depends(operation.operands[rule.differentiable.index(parameter)]):
            why = why if rule.given is None else rule.given.unsaid(parameter, context.forward)
            context.unit.no_rule(operation.node, why)


def _callee(context: Context, statement: gast.AST, operation: Operation) -> None:
    """A call without rule or source; a method whose user-defined gradient omits its object."""
    owner = context.kind(operation.operands[0]) if operation.form == "call" and operation.operands else None
    if isinstance(owner, Instance) and source.brings_gradient(operation.target) and context.depends(operation.operands[0]):
        if source.is_method_of(operation.target, owner.cls):
            context.unit.no_rule(operation.node, f"the pullback of the method `{operation.target.__name__}` gives no "
                                                 "gradient in its object: make it a function of what it reads")  # fmt: skip
    if operation.form != "call" or is_known_late(operation.target) or is_user_function(operation.target):
        return
    if not context.pairs.has_source(operation.target):
        shown = emit.expression(operation.node.func)
        context.unit.no_rule(operation.node, f"`{shown}` has no derivative rule: use functions that have one, or give it "
                                             "one with `custom_gradient` or `defvjp`")  # fmt: skip
