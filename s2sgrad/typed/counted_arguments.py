"""A call with `*` before a tuple of a known length, of a function that only the running program knows.

    y = f(*args)      ->      t1 = args[0]; t2 = args[1]; y = f(t1, t2), where `args` is a tuple of two

>>> import numpy as np
>>> from s2sgrad import grad
>>> def handed(f, *args):
...     return f(*args)
>>> def f(x):
...     h = np.sin
...     for w in (x, 2.0):
...         h = lambda t, h=h, w=w: h(w * t)
...     return handed(h, x)
>>> bool(np.isclose(grad(f)(0.5), 2.0 * np.cos(0.5)))
True
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Container
from s2sgrad.ir.quote import assign, at, constant, name, nested
from s2sgrad.ir.unit import MISSING, Unit


def run(unit: Unit, tree: gast.FunctionDef, inference: Inference) -> bool:
    """Write the arguments of such calls one by one; whether there were any."""
    found = False
    for body in list(nested(tree.body)):
        for k in reversed(range(len(body))):
            call = getattr(body[k], "value", None)
            if isinstance(call, gast.Call) and unit.resolve(call.func) is MISSING:
                before = _written_out(unit, call, inference)
                body[k:k] = at(body[k], *before)
                found = found or bool(before)
    return found


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
