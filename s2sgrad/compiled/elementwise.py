"""Operations on single numbers, by the object that is called: how the text of the result is made from those of the operands.

    np.maximum(x, 0.0)      ->      maximum(x[i], 0.0)

Each entry has the dtype of its result by those of its operands.  What is bound to no entry is not lowered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.compiled import loose, scalars
from s2sgrad.compiled.values import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    SINGLE,
    Extent,
    Gather,
    Leaf,
    Loose,
    Scalar,
    Tree,
    Unfit,
    is_array,
)
from s2sgrad.compiled.writer import Writer
from s2sgrad.runtime import slopes
from s2sgrad.runtime.asking import its


@dataclass(frozen=True)
class Operation:
    """How to write it; the dtype of the result: a dtype, or "same" for what the operands are converted to."""

    write: Callable[..., str]
    result: str = FLOAT
    check: str = ""  # what Python raises of numbers of its own: "math" for a result that is not finite
    integers: bool = True  # whether operands may be integers


def _call(function: Any) -> Callable[..., str]:
    name = function if isinstance(function, str) else function.__name__
    return lambda *operands: f"{name}({', '.join(operands)})"


def _infix(sign: str) -> Callable[..., str]:
    return lambda a, b: f"({a} {sign} {b})"


def _compared(sign: str) -> Operation:
    return Operation(_infix(sign), BOOL)


OF_MATH: dict[np.ufunc, Any] = {
    np.exp: math.exp, np.expm1: math.expm1, np.log: math.log, np.log1p: math.log1p, np.log2: math.log2,
    np.log10: math.log10, np.sqrt: math.sqrt, np.sin: math.sin, np.cos: math.cos, np.tan: math.tan,
    np.arcsin: math.asin, np.arccos: math.acos, np.arctan: math.atan, np.sinh: math.sinh, np.cosh: math.cosh,
    np.tanh: math.tanh, np.arcsinh: math.asinh, np.arccosh: math.acosh, np.arctanh: math.atanh, np.hypot: math.hypot,
    np.arctan2: math.atan2,
}  # fmt: skip

OPERATIONS: dict[Any, Operation] = {
    gast.Add: Operation(_infix("+"), "same"),
    gast.Sub: Operation(_infix("-"), "same"),
    gast.Mult: Operation(_infix("*"), "same"),
    gast.Div: Operation(_infix("/")),
    gast.USub: Operation(lambda a: f"(-{a})", "same"),
    gast.UAdd: Operation(lambda a: a, "same"),
    gast.Gt: _compared(">"), gast.GtE: _compared(">="), gast.Lt: _compared("<"), gast.LtE: _compared("<="),
    gast.Eq: _compared("=="), gast.NotEq: _compared("!="),
    np.add: Operation(_infix("+"), "same"), np.subtract: Operation(_infix("-"), "same"),
    np.multiply: Operation(_infix("*"), "same"), np.divide: Operation(_infix("/")),
    np.negative: Operation(lambda a: f"(-{a})", "same"), np.positive: Operation(lambda a: a, "same"),
    np.square: Operation(lambda a: _square(a), "same"),
    np.reciprocal: Operation(lambda a: f"(1.0 / {a})", integers=False),
    np.absolute: Operation(_call("abs"), "same"), np.fabs: Operation(_call("abs")), abs: Operation(_call("abs"), "same"),
    np.maximum: Operation(_call(scalars.maximum), "same"), np.minimum: Operation(_call(scalars.minimum), "same"),
    np.sign: Operation(_call(scalars.sign), integers=False),
    np.floor: Operation(_call(scalars.floor), integers=False), np.ceil: Operation(_call(scalars.ceil), integers=False),
    np.greater: _compared(">"), np.greater_equal: _compared(">="), np.less: _compared("<"), np.less_equal: _compared("<="),
    np.equal: _compared("=="), np.not_equal: _compared("!="),
    np.isnan: Operation(_call(scalars.is_nan), BOOL), np.isfinite: Operation(_call(scalars.is_finite), BOOL),
    runtime.over: Operation(_call(scalars.over), integers=False),
    runtime.times: Operation(_call(scalars.times), integers=False),
    slopes.product: Operation(_call(scalars.product), integers=False),
    slopes.log_or_zero: Operation(_call(scalars.log_or_zero), integers=False),
    **{f: Operation(_call(f)) for f in OF_MATH}, **{m: Operation(_call(f), check="math") for f, m in OF_MATH.items()},
    math.fabs: Operation(_call("abs"), check="math"),
}  # fmt: skip
LOGICAL = {
    np.logical_and: _infix("and"), np.logical_or: _infix("or"), gast.BitAnd: _infix("and"), gast.BitOr: _infix("or"),
    np.logical_not: lambda a: f"(not {a})", gast.Not: lambda a: f"(not {a})", gast.Invert: lambda a: f"(not {a})",
}  # fmt: skip
_CHECKED = {gast.Add: "added", gast.Sub: "subtracted", gast.Mult: "multiplied"}
_SAME = {np.add: gast.Add, np.subtract: gast.Sub, np.multiply: gast.Mult, np.divide: gast.Div, np.power: gast.Pow}


def apply(writer: Writer, operation: Any, operands: list[Any]) -> Any:
    """The result of an operation on numbers and arrays.

    >>> x = Scalar("x", FLOAT)
    >>> apply(None, np.exp, [apply(None, gast.Add, [x, x])]).text
    'exp((x + x))'
    """
    numbers = all(isinstance(o, Scalar) for o in operands)
    if numbers and operation in _SAME and operation is not np.power:
        return replace(apply(writer, _SAME[operation], operands), python=False, weak=False, own="")
    if (out := _of_unlike(writer, operation, operands)) is not None:
        return out
    by_name, operation = operation is np.power, _SAME.get(operation, operation)
    if operation in LOGICAL:
        return _logical(writer, operation, operands)
    if operation is gast.Pow:
        base, exponent = operands
        return (_power_of_numpy if by_name and numbers else _power)(writer, base, exponent, by_name)
    if operation in (gast.FloorDiv, gast.Mod):
        return _whole_quotient(writer, operation, *operands)
    if operation not in OPERATIONS:
        raise Unfit(f"`{its(operation, '__name__', operation)}`")
    what = OPERATIONS[operation]
    if numbers:
        return _of_numbers(writer, operation, operands)
    if what.check:
        raise Unfit("a function of math on an array")
    return _made_in_one_type(writer, operation, what.write, operands)


def _of_unlike(writer: Writer, operation: Any, operands: list[Any]) -> Any:
    """The result where operands are of several types, or of one that has rules of its own; else None."""
    if any(isinstance(o, Scalar) and o.whole for o in operands):
        return _of_whole(writer, operation, operands)
    if any(isinstance(o, Loose) for o in operands):
        operation = _SAME.get(operation, operation)
        operands, scales = loose.plain(writer, operation, operands)
        out = apply(writer, operation, operands)
        return out if scales is None else Loose(out, scales)
    if any(not isinstance(o, (Scalar, Leaf, Tree, Gather)) for o in operands):
        raise Unfit("an operand that is neither a number nor an array")
    if any(not isinstance(o, Scalar) for o in operands):
        return None
    if operation in _OF_COTANGENTS and all(map(_is_double, operands)):
        return _of_cotangents(writer, operation, [replace(o, own="") for o in operands])
    return _of_either(writer, operation, operands) if any(o.own for o in operands) else None


def _logical(writer: Writer, operation: Any, operands: list[Any]) -> Any:
    if any(o.dtype != BOOL for o in operands):
        raise Unfit("logic of what is no truth value")
    if operation is gast.Invert and isinstance(operands[0], Scalar) and operands[0].python:
        raise Unfit("`~` of a truth value of Python's, which is an integer")
    value = made(writer, LOGICAL[operation], operands, BOOL)
    return _weakly(value, operation is gast.Not or (_is_weak(operands) and operation in _OF_PYTHON))


_OF_COTANGENTS = (runtime.over, runtime.times, slopes.product)


def _is_double(o: Scalar) -> bool:
    return o.dtype == BOOL or (o.dtype == FLOAT and not (o.own and o.weak))


def _of_cotangents(writer: Writer, operation: Any, operands: list[Scalar]) -> Scalar:
    """The result of a helper for numbers: of floats one of Python's, unless NumPy divides by 0, whosever they are."""
    if operation is runtime.times and operands[0].dtype == BOOL:
        first, second = (writer.settled(o) for o in operands)
        return chosen_number(first.text, first.reads, second, Scalar("0.0", FLOAT, True, weak=True))
    if any(o.dtype == BOOL for o in operands):
        raise Unfit("arithmetic of truth values")
    if operation is runtime.over:
        operands = [*map(writer.settled, operands)]
    out: Scalar = made(writer, OPERATIONS[operation].write, operands, FLOAT)
    if operation is slopes.product:
        return replace(out, python=False)
    if operation is runtime.times or (is_number(operands[1].text) and float(operands[1].text)):
        return replace(out, python=True, weak=True)
    return replace(out, python=True, own=f"({operands[1].text} != 0.0)")


_EXACT_OF_WHOLE = (gast.Add, gast.Sub, gast.Mult, gast.USub, gast.UAdd, abs)


def _of_whole(writer: Writer, operation: Any, operands: list[Any]) -> Any:
    """The result where numbers are integers at times, and floats at others."""
    plain = [replace(o, whole="") if isinstance(o, Scalar) else o for o in operands]
    floats = any(o.dtype in FLOATS and not (isinstance(o, Scalar) and o.whole) for o in operands)
    what = OPERATIONS.get(operation) if not isinstance(operation, (list, dict)) else None
    if floats or operation in LOGICAL or (what is not None and what.result != "same" and not _may_be_of_integers(operation)):
        return apply(writer, operation, plain)
    if operation in _EXACT_OF_WHOLE and all(isinstance(o, Scalar) and o.dtype != BOOL for o in operands):
        whole = " and ".join(o.whole for o in operands if o.whole)
        out = apply(writer, operation, [*map(_exactly, plain)])
        reads = out.reads.union(*(o.reads for o in operands))
        return replace(out, text=f"as_integer({out.text}, {writer.asked(whole)})", whole=f"({whole})", reads=reads)
    return apply(writer, operation, [certain(writer, o) for o in operands])


def _may_be_of_integers(operation: Any) -> bool:
    """Whether NumPy's result for an integer is an integer, or of another type than that for a float."""
    return operation in (np.floor, np.ceil, np.sign)


def chosen_number(test: str, reads: frozenset[str], a: Scalar, b: Scalar) -> Scalar:
    """`a if test else b` of numbers.

    >>> chosen_number("c", frozenset(), Scalar("x", FLOAT), Scalar("2.0", FLOAT, True, weak=True)).own
    '(False if c else True)'
    """
    a, b = _held_alike(a, b), _held_alike(b, a)
    if a.dtype != b.dtype or (a.weak and a.own and not b.weak) or (b.weak and b.own and not a.weak):
        raise Unfit("a choice between numbers of two types")
    owns = [v.own or str(v.weak) for v in (a, b)]
    own = f"({owns[0]} if {test} else {owns[1]})" if a.own or b.own or a.weak != b.weak else ""
    whole = f"({a.whole or False} if {test} else {b.whole or False})" if a.whole or b.whole else ""
    is_array = a.is_array if a.is_array is b.is_array else None
    return Scalar(f"({a.text} if {test} else {b.text})", a.dtype, a.python or b.python, a.reads | b.reads | reads,
                  weak=a.weak and b.weak, is_array=is_array, own=own, whole=whole)  # fmt: skip


def _held_alike(value: Scalar, other: Scalar) -> Scalar:
    """A float32 beside a float of Python's: as it is held if it may be either."""
    if value.dtype != SINGLE or other.dtype != FLOAT or not other.weak:
        return value
    held: Scalar = replace(cast(value, FLOAT), python=True, weak=True, own="False")
    return held


def _of_either(writer: Writer, operation: Any, operands: list[Scalar]) -> Scalar:
    """The result for numbers that are Python's at times: both, of which one is computed.

    x * 2.0     ->      x * 2.0 if x_own else np.float64(np.float32(x) * np.float32(2.0))
    """
    firm = any(not (o.weak or o.own or o.dtype == BOOL) for o in operands)
    if not firm:
        operands = [o if o.text.isidentifier() else writer.settled(o) for o in operands]
    own = " and ".join(o.own for o in operands if o.own)
    a: Scalar = apply(writer, operation, [replace(o, own="", weak=o.weak or (not firm and o.own != "")) for o in operands])
    if firm:
        return a
    return _either(writer, own, a, apply(writer, operation, [_of_numpy(o) if o.own else o for o in operands]))


def _either(writer: Writer, own: str, a: Scalar, b: Scalar) -> Scalar:
    """A result of numbers of Python's, or the same of those of NumPy."""
    reads = a.reads | b.reads
    if a.dtype == b.dtype:
        text = a.text if a.text == b.text else f"({a.text} if {writer.asked(own)} else {b.text})"
        return replace(b, text=text, python=a.python or b.python, reads=reads, own=own if a.weak and not b.weak else "")
    if a.weak and b.dtype == SINGLE:
        text = f"({a.text} if {writer.asked(own)} else {cast_text(b.text, FLOAT)})"
        return replace(a, text=text, python=True, reads=reads, own=own)
    writer.line(f"of_numpy({writer.asked(own)})")
    return b


def _of_numpy(value: Scalar) -> Scalar:
    """A number that may be Python's where it is NumPy's: one that is weak is a float32 then."""
    out: Scalar = replace(cast(value, SINGLE) if value.weak else value, own="", weak=False)
    return out


def certain(writer: Writer, value: Any) -> Any:
    """The value, of which the dtype is certain: what is Python's at times, and float32 at others, is checked."""
    if isinstance(value, Scalar) and value.whole:
        writer.line(f"of_floats({writer.asked(value.whole)})")
        value = replace(value, whole="")
    if not isinstance(value, Scalar) or not value.own or not value.weak:
        return value
    writer.line(f"of_numpy({writer.asked(value.own)})")
    return _of_numpy(value)


def _of_numbers(writer: Writer, operation: Any, operands: list[Scalar]) -> Scalar:
    """The same of numbers: those of Python raise where NumPy's do not."""
    what, python = OPERATIONS[operation], all(o.python for o in operands)
    if _dtype(what, operands) == INT:
        return _integer(operation, what, operands)
    write = what.write
    if operation is gast.Div and python:
        write = lambda a, b: f"({a} / nonzero({b}))"  # noqa: E731
    if what.check:
        operands = [replace(o, text=f"(1.0 if {o.text} else 0.0)") if o.dtype == BOOL else o for o in operands]
        write = lambda *o: f"finite({what.write(*o)})"  # noqa: E731
    if what.result == BOOL and python and len(operands) == 2 and len({o.dtype for o in operands}) == 2:
        operands = [replace(o, text=exact_text(o)) if o.dtype == INT else o for o in operands]
    value: Scalar = _made_in_one_type(writer, operation, write, operands)
    if what.check:
        return replace(value, python=True, weak=True)
    python = python and not isinstance(operation, np.ufunc)
    return replace(value, python=python, weak=_is_weak(operands) and operation in _OF_PYTHON)


def _made_in_one_type(writer: Writer, operation: Any, write: Callable[..., str], operands: list[Any]) -> Any:
    """The elements, of operands that are converted to one type."""
    what = OPERATIONS[operation]
    dtype = _dtype(what, operands)
    operands, write = _in_one_type(operands, write, dtype, what.result == FLOAT and operation is not gast.Div)
    return made(writer, write, operands, dtype)


def _exactly(value: Scalar) -> Scalar:
    return replace(value, text=exact_text(value)) if value.dtype == INT else value


def exact_text(value: Scalar) -> str:
    """The text of an integer that a float has, too."""
    return value.text if _is_known(value) else f"exact({value.text})"


def _is_known(value: Scalar) -> bool:
    return value.affine is not None and value.affine.base is None


_OF_PYTHON = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.USub, gast.UAdd, abs, gast.Gt, gast.GtE, gast.Lt, gast.LtE,
              gast.Eq, gast.NotEq, gast.BitAnd, gast.BitOr, slopes.log_or_zero)  # fmt: skip


def _is_weak(operands: list[Any]) -> bool:
    return all(isinstance(o, Scalar) and o.weak for o in operands)


def common(operands: list[Any]) -> str | None:
    """The dtype of floats that operands are converted to, if there is a float32 among them: Python's numbers take it.

    >>> x = Scalar("x", SINGLE)
    >>> common([x, Scalar("2.0", FLOAT, True, weak=True)]), common([x, Scalar("y", FLOAT)])
    ('float32', 'float64')
    """
    if not any(o.dtype == SINGLE for o in operands):
        return None
    others = [o for o in operands if o.dtype not in (SINGLE, BOOL) and not (isinstance(o, Scalar) and o.weak)]
    if any(isinstance(o, Scalar) and o.python for o in others):
        raise Unfit("a number that may be Python's or NumPy's, beside float32")
    return FLOAT if others else SINGLE


def _in_one_type(
    operands: list[Any], write: Callable[..., str], result: str, wide: bool
) -> tuple[list[Any], Callable[..., str]]:
    """The operands in the type that they are converted to; `wide`: float32 is computed in float64, and rounded."""
    dtype = common(operands)
    if dtype is None:
        return operands, write
    rounds = wide and result == SINGLE
    operands = [cast(o, FLOAT if wide else dtype) for o in operands]
    return operands, (lambda *texts: cast_text(write(*texts), SINGLE)) if rounds else write


_CASTS = {FLOAT: "np.float64", SINGLE: "np.float32"}


def cast_text(text: str, dtype: str) -> str:
    """The text of a number as one of another type."""
    return f"{_CASTS[dtype]}({text})"


def converted_text(text: str, dtype: str, given: str) -> str:
    """The text of a number as one of another type; under numba `float` leaves a float32 what it is."""
    return f"float({text})" if dtype == FLOAT and given not in FLOATS else cast_text(text, dtype)


def held_text(value: Scalar, dtype: str) -> str:
    """The text of a number as a variable of another type holds it: an integer as a float that is equal."""
    text = exact_text(value) if value.dtype == INT and dtype in FLOATS else value.text
    return text if value.dtype == dtype else converted_text(text, dtype, value.dtype)


def cast(value: Any, dtype: str) -> Any:
    """A number or an array as one of floats of this type.

    >>> cast(Scalar("k", INT), SINGLE).text
    'np.float32(k)'
    """
    if value.dtype == dtype:
        return value
    if isinstance(value, Scalar):
        return Scalar(cast_text(value.text, dtype), dtype, False, value.reads)
    return Tree(lambda a: cast_text(a, dtype), (value,), value.extents, dtype)


def number(text: str, dtype: str) -> str:
    """The text of a constant of a type."""
    return cast_text(text, dtype) if dtype == SINGLE else text


def made(writer: Writer, write: Callable[..., str], operands: list[Any], dtype: str) -> Any:
    """The elements that `write` makes from those of the operands."""
    if all(isinstance(o, Scalar) for o in operands):
        reads = frozenset().union(*(o.reads for o in operands))
        python = all(o.python for o in operands)
        return Scalar(write(*(o.text for o in operands)), dtype, python, reads)
    extents = writer.broadcast([o.extents for o in operands])
    canonical = [tuple(map(writer.canonical, o.extents)) for o in operands]
    operands = [writer.settled(o) if isinstance(o, Scalar) else o for o in operands]
    once = [
        o if isinstance(o, (Scalar, Leaf)) or e == extents else writer.stored(o)
        for o, e in zip(operands, canonical, strict=True)
    ]
    return Tree(write, tuple(once), extents, dtype)


def _dtype(what: Operation, operands: list[Any]) -> str:
    dtypes = {o.dtype for o in operands}
    if what.result not in ("same", FLOAT) or what.check:
        return what.result
    if dtypes == {BOOL} or (not what.integers and not dtypes.issubset(FLOATS)):
        raise Unfit("arithmetic of truth values or integers")
    return common(operands) or (FLOAT if what.result == FLOAT or FLOAT in dtypes else INT)


def _integer(operation: Any, what: Operation, operands: list[Scalar]) -> Scalar:
    """Arithmetic of integers, which are of any size in Python: exact where it cannot get near the end of their range."""
    reads = frozenset().union(*(o.reads for o in operands))
    known = _sum_of_extents(operation, [o.affine for o in operands])
    weak = _is_weak(operands) and operation in _OF_PYTHON
    if known is not None:
        return replace(of_extent(known, reads), python=all(o.python for o in operands), weak=weak)
    write = _call(_CHECKED[operation]) if operation in _CHECKED else what.write
    return Scalar(write(*(o.text for o in operands)), INT, all(o.python for o in operands), reads, weak=weak)


def _sum_of_extents(operation: Any, known: list[Extent | None]) -> Extent | None:
    """The result as an extent, if it is one."""
    a, b = known[0], known[-1]
    if a is None or b is None:
        return None
    if operation is gast.USub and a.base is None:
        return Extent(None, -a.offset)
    if operation is gast.Add and (a.base is None or b.base is None):
        return Extent(a.base or b.base, a.offset + b.offset)
    if operation is gast.Sub and (b.base is None or a.base == b.base):
        return Extent(a.base if b.base is None else None, a.offset - b.offset)
    return Extent(None, a.offset * b.offset) if operation is gast.Mult and a.base is None and b.base is None else None


def of_extent(extent: Any, reads: frozenset[str] = frozenset()) -> Scalar:
    """An extent as a number."""
    text = str(extent)
    return Scalar(text if text.isidentifier() or text.isdigit() else f"({text})", INT, True, reads, extent, True)


_NUMBER = re.compile(r"[\d.]+(e[+-]?\d+)?")


def is_number(text: str) -> bool:
    """Whether a text is a number without a sign."""
    return _NUMBER.fullmatch(text) is not None


def _square(a: str) -> str:
    return f"({a} * {a})" if re.fullmatch(r"[\w.]+(\[[^\[\]()]*\])?", a) else f"squared({a})"


def _power(writer: Writer, base: Any, exponent: Any, by_name: bool = False) -> Any:
    """A power: the square as a product, as NumPy computes it."""
    known = _known_exponent(base, exponent)
    if base.dtype == INT or base.dtype == BOOL:
        raise Unfit("a power of integers")
    dtype = common([base, exponent]) or FLOAT
    (base,), weak = [cast(base, dtype)], _is_weak([base, exponent])
    if known == 2:
        return _weakly(made(writer, _square, [base], dtype), weak)
    if known == 1:
        return _weakly(made(writer, lambda a: a, [base], dtype), weak)
    if isinstance(base, Scalar) and isinstance(exponent, Scalar) and base.python and exponent.python:
        function = "finite(power" if known is not None and known >= 0 else "(power_of_number"
        return _weakly(made(writer, lambda a, p: f"{function}({a}, float({p})))", [base, exponent], FLOAT), weak)
    by_operator = is_array(base) and not by_name
    by_root = by_operator and isinstance(exponent, Scalar) and exponent.text == "0.5"
    function = "power_of_array" if by_operator and isinstance(exponent, Scalar) else "power"
    write = (lambda a, p: f"sqrt({a})") if by_root else (lambda a, p: f"{function}({a}, float({p}))")
    operands, write = _in_one_type([base, exponent], write, dtype, True)
    return made(writer, (lambda a: write(a, "")) if by_root else write, operands[:1] if by_root else operands, dtype)


def _power_of_numpy(writer: Writer, base: Scalar, exponent: Scalar, by_name: bool) -> Scalar:
    """`np.power` of numbers: one of NumPy's, of which no error is raised."""
    base, exponent = replace(base, python=False), replace(exponent, python=False)
    power: Scalar = _power(writer, base, exponent, by_name)
    return replace(power, python=False, weak=False)


def _known_exponent(base: Any, exponent: Any) -> int | None:
    """The integer that an exponent is known to be."""
    if not isinstance(exponent, Scalar):
        return None
    if exponent.text in ("2.0", "1.0") and not isinstance(base, Scalar):
        return int(exponent.text[0])
    return exponent.affine.offset if exponent.affine is not None and exponent.affine.base is None else None


def _weakly(value: Any, weak: bool) -> Any:
    return replace(value, weak=weak) if isinstance(value, Scalar) else value


def _whole_quotient(writer: Writer, operation: Any, a: Any, b: Any) -> Any:
    if not (isinstance(a, Scalar) and isinstance(b, Scalar) and a.dtype == b.dtype == INT):
        raise Unfit("`//` or `%` of what are no integers")
    sign = "//" if operation is gast.FloorDiv else "%"
    return replace(made(writer, lambda x, y: f"({x} {sign} nonzero({y}))", [a, b], INT), weak=a.weak and b.weak)


def chosen_by(writer: Writer, operands: list[Any]) -> Any:
    """`np.where(condition, a, b)`."""
    condition, a, b = operands[0], *(certain(writer, o) for o in operands[1:])
    if getattr(condition, "dtype", None) != BOOL:
        raise Unfit("np.where of what is no truth value")
    dtype = common([a, b]) or (FLOAT if FLOAT in (a.dtype, b.dtype) else a.dtype if a.dtype == b.dtype else None)
    if dtype is None:
        raise Unfit("np.where of numbers of two types")
    convert = {FLOAT: "float({})", SINGLE: "np.float32({})"}.get(dtype, "{}")
    texts = [convert if o.dtype != dtype else "{}" for o in (a, b)]
    write = lambda c, x, y: f"({texts[0].format(x)} if {c} else {texts[1].format(y)})"  # noqa: E731
    value = made(writer, write, [condition, a, b], dtype)
    return replace(value, python=False, is_array=True) if isinstance(value, Scalar) else value
