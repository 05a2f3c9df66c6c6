"""Lists and tuples that only the run knows, given to functions that make arrays of them.

    y = np.multiply(t, 2)      ->      require_array(t); y = np.multiply(t, 2)        `t` of unknown kind

The derivative of a product or sum is written with operators, `2 * t_dot`, which repeat and join lists.  A known array beside
them makes arrays of them.

>>> import numpy as np
>>> from s2sgrad import grad
>>> def f(x):
...     t = x[:2]
...     for k in range(2):
...         t = t[0] * 3.0, t[1]
...     return np.multiply(t, 2)[0]
>>> text = grad(f).source_for(np.ones(3))
>>> print(text[text.index("    require") : text.index("    # reverse")], end="")
    require_array(t)
    multiply_t = np.multiply(t, 2)
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array, Unknown, operand
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.quote import name
from s2sgrad.legality.context import Context


def check(context: Context, operation: Operation) -> list[gast.AST]:
    """The checks of the operands of a call, of several, that may be lists."""
    rule = operation.rule
    if rule is None or rule.tag != "elementwise" or not isinstance(operation.node, gast.Call) or len(operation.operands) < 2:
        return []
    kinds = [operand(context.kind(o)) for o in operation.operands]
    if context.unit.primal.is_generated or any(isinstance(k, Array) for k in kinds):
        return []
    unknown = {
        o.id: None
        for o, k in zip(operation.operands, kinds, strict=True)
        if type(k) is Unknown and isinstance(o, gast.Name) and o.id in context.varied
    }
    helper = runtime.require_array
    return [gast.Expr(gast.Call(name(context.unit.helper("require_array", helper)), [name(n)], [])) for n in unknown]
