"""Products of matrices and vectors: the instructions that call BLAS.

    np.dot(a, b.T)      ->      numba_xxgemm("d", "t", "n", ..)

The library, and its functions in C, are those of numba.  What numba writes for `np.dot` is inferred anew for any order of
the elements: it takes a compiler three times as long, and a call of few numbers twice.
"""

from __future__ import annotations

import importlib
from typing import Any

_FEW = 0  # products of numbers, which take less time than a call
_MOST = 2**31 - 1  # the largest integer of BLAS


def product() -> Any:
    """What numba calls for `np.dot` of vectors and matrices whose elements lie in order, by rows or columns."""
    intrinsic = importlib.import_module("numba.extending").intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def dot(typing: Any, a: Any, b: Any) -> Any:
        kinds = importlib.import_module("numba.core.types")
        importlib.import_module("numba.np.linalg").ensure_blas()
        ranks = a.ndim, b.ndim
        if ranks not in ((2, 2), (2, 1), (1, 2)) or a.dtype != b.dtype or not {a.layout, b.layout} <= {"C", "F"}:
            raise TypeError("a product of these")
        out = kinds.Array(a.dtype, sum(ranks) - 2, "C")

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            operands = (_Matrix(context, builder, t, x) for t, x in zip((a, b), args, strict=True))
            return _Product(context, builder, out).of(*operands)

        return out(a, b), generate

    return dot


class _Matrix:
    """An operand: its type, data and lengths, and whether BLAS, which has matrices column by column, takes it as it is."""

    def __init__(self, context: Any, builder: Any, type_: Any, value: Any) -> None:
        members = context.make_array(type_)(context, builder, value)
        self.type, self.data = type_, members.data
        self.shape = [builder.extract_value(members.shape, k) for k in range(type_.ndim)]
        self.by_columns = type_.layout == "F" and type_.ndim > 1

    @property
    def apart(self) -> Any:
        """How far apart the columns are that BLAS sees."""
        return self.shape[0] if self.by_columns else self.shape[1]


class _Product:
    """Writes the product of two operands where the builder stands."""

    def __init__(self, context: Any, builder: Any, out: Any) -> None:
        self.context, self.builder, self.out = context, builder, out
        self.ir, self.utils = importlib.import_module("llvmlite.ir"), importlib.import_module("numba.core.cgutils")
        self.letter, self.integer = self.ir.IntType(8), self.ir.IntType(64)

    def of(self, a: _Matrix, b: _Matrix) -> Any:
        """The array."""
        builder, arrays = self.builder, importlib.import_module("numba.np.arrayobj")
        wrong = builder.icmp_signed("!=", a.shape[-1], b.shape[0])
        for n in (*a.shape, *b.shape[1:]):
            wrong = builder.or_(wrong, builder.icmp_signed(">", n, self._of(_MOST)))
        with builder.if_then(wrong, likely=False):
            self.context.call_conv.return_user_exc(builder, ValueError, ("sizes of a product",))
        made = arrays._empty_nd_impl(self.context, builder, self.out, [*a.shape[:-1], *b.shape[1:]])
        with builder.if_else(builder.icmp_signed("==", b.shape[0], self._of(0))) as (nothing, something):
            with nothing:
                self.utils.memset(builder, made.data, builder.mul(made.nitems, made.itemsize), 0)
            with something:
                self._write(a, b, made.data)
        return made._getvalue()

    def _of(self, n: int) -> Any:
        return self.ir.Constant(self.integer, n)

    def _write(self, a: _Matrix, b: _Matrix, out: Any) -> None:
        """A call of BLAS: of the transpose of the result, from those of the operands."""
        kind = importlib.import_module("numba.np.linalg").get_blas_kind(self.out.dtype)
        one, zero = (self.utils.alloca_once_value(self.builder, self.ir.Constant(out.type.pointee, x)) for x in (1.0, 0.0))
        if a.type.ndim == b.type.ndim:
            (m, count), n = a.shape, b.shape[1]
            letters = kind + "".join("t" if x.by_columns else "n" for x in (b, a))
            self._call("numba_xxgemm", letters, n, m, count, one, b.data, b.apart, a.data, a.apart, zero, out, n)
        else:
            matrix, vector = (a, b) if a.type.ndim == 2 else (b, a)
            turned = "n" if (matrix is a) is matrix.by_columns else "t"
            lengths = matrix.shape if matrix.by_columns else matrix.shape[::-1]
            self._call("numba_xxgemv", kind + turned, *lengths, one, matrix.data, matrix.apart, vector.data, zero, out)

    def _call(self, name: str, letters: str, *given: Any) -> None:
        passed = [self.ir.Constant(self.letter, ord(c)) for c in letters]
        passed += [x if x.type == self.integer else self.builder.bitcast(x, self.letter.as_pointer()) for x in given]
        form = self.ir.FunctionType(self.ir.IntType(32), [x.type for x in passed])
        self.builder.call(self.utils.get_or_insert_function(self.builder.module, form, name), passed)
