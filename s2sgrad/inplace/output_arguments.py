"""A function differentiated in the final values of its arguments: `grad(kernel, "A", outputs=("A",))`.

def kernel(A, n):                        def kernel(A, n):
    for k in range(n):                       A_end = A
        A[1:] = A[:-1] * A[1:]       ->      for k in range(n):
                                                 A[1:] = A[:-1] * A[1:]
                                             return (A_end,)
"""

from __future__ import annotations

import gast

from s2sgrad.ir.quote import assign, at, name
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef, outputs: str | tuple[str, ...]) -> None:
    """Make the function return its arguments `outputs` instead of its result: one of them, or a tuple."""
    ends = {p: unit.local(f"{p}_end") for p in (outputs if isinstance(outputs, tuple) else (outputs,))}
    result = unit.local("result")
    value = name(ends[outputs]) if isinstance(outputs, str) else gast.Tuple([name(e) for e in ends.values()], gast.Load())
    last = tree.body[-1]
    tree.body = [
        *(assign(end, name(p)) for p, end in ends.items()),
        *tree.body[:-1],
        *at(last, assign(result, value), gast.Return(name(result))),
    ]
