"""What LAPACK computes in place, called from machine code without a way back to Python.

    solve_in_place(a, b)      ->      info = numba_xgesv("d", n, rows of b, a, n, pivots, b, n)

The library is the one that numba takes for `np.linalg`, by its own functions in C.  Here are no copies, and no checks but
for what LAPACK says: a lowered text makes the memory.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.compiled import scalars

FUNCTIONS = (scalars.solve_in_place.__name__, scalars.cholesky_in_place.__name__, scalars.determinant.__name__)


def functions(jitted: Callable[..., Any]) -> dict[str, Any]:
    """The functions of these names."""
    gesv, potrf, getrf, pivot = _routines()

    def solve_in_place(a: Any, b: Any) -> None:
        n, ld = a.shape[0], max(a.shape[0], 1)
        if gesv(n, b.size // ld, a, ld, np.empty(n, np.int64), b, ld) != 0:
            raise ValueError("a singular matrix")

    def cholesky_in_place(a: Any) -> None:
        if potrf(a.shape[0], a, max(a.shape[0], 1)) != 0:
            raise ValueError("a matrix that is not positive definite")

    def determinant(a: Any) -> Any:
        n = a.shape[0]
        pivots = np.empty(n, np.int64)
        if getrf(n, n, a, max(n, 1), pivots) != 0:
            return 0.0
        sign, logarithm = 1.0, 0.0
        for k in range(n):
            if pivot(pivots, k) != k + 1:
                sign = -sign
            if a[k, k] < 0.0:
                sign = -sign
            logarithm += math.log(abs(a[k, k]))
        return sign * math.exp(logarithm)

    return {f.__name__: jitted(f) for f in (solve_in_place, cholesky_in_place, determinant)}


def _routines() -> tuple[Any, ...]:
    """What calls numba's functions, and what reads a pivot, which is an integer of LAPACK's."""
    intrinsic = importlib.import_module("numba.extending").intrinsic
    kinds, ir = importlib.import_module("numba.core.types"), importlib.import_module("llvmlite.ir")

    @intrinsic  # type: ignore[untyped-decorator]
    def gesv(typing: Any, n: Any, count: Any, a: Any, lda: Any, pivots: Any, b: Any, ldb: Any) -> Any:
        return _call("numba_xgesv", "", a, n, count, a, lda, pivots, b, ldb)

    @intrinsic  # type: ignore[untyped-decorator]
    def potrf(typing: Any, n: Any, a: Any, lda: Any) -> Any:
        return _call("numba_xxpotrf", "L", a, n, a, lda)

    @intrinsic  # type: ignore[untyped-decorator]
    def getrf(typing: Any, m: Any, n: Any, a: Any, lda: Any, pivots: Any) -> Any:
        return _call("numba_xxgetrf", "", a, m, n, a, lda, pivots)

    @intrinsic  # type: ignore[untyped-decorator]
    def pivot(typing: Any, pivots: Any, k: Any) -> Any:
        own = ir.IntType(importlib.import_module("numba.np.linalg").F_INT_nbtype.bitwidth)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(pivots)(context, builder, args[0]).data
            place = builder.gep(builder.bitcast(data, own.as_pointer()), [args[1]])
            return builder.sext(builder.load(place), ir.IntType(64)) if own.width < 64 else builder.load(place)

        return kinds.int64(pivots, kinds.int64), generate

    return gesv, potrf, getrf, pivot


def _call(name: str, letters: str, like: Any, *given: Any) -> Any:
    """A call of a function in C, which takes the letter of a type, these letters, integers and arrays, and gives `info`."""
    linalg, kinds = importlib.import_module("numba.np.linalg"), importlib.import_module("numba.core.types")
    ir, utils = importlib.import_module("llvmlite.ir"), importlib.import_module("numba.core.cgutils")
    linalg.ensure_lapack()
    own = [t if isinstance(t, kinds.Array) else kinds.intp for t in given]
    letter = ir.IntType(8)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        passed = [ir.Constant(letter, ord(c)) for c in linalg.get_blas_kind(like.dtype) + letters]
        for type_, value in zip(signature.args, args, strict=True):
            if isinstance(type_, kinds.Array):
                value = builder.bitcast(context.make_array(type_)(context, builder, value).data, letter.as_pointer())
            passed.append(value)
        form = ir.FunctionType(ir.IntType(32), [value.type for value in passed])
        return builder.call(utils.get_or_insert_function(builder.module, form, name), passed)

    return kinds.intc(*own), generate
