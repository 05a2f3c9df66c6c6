"""What cancels in all that is made of it has no derivative: the greatest term that is taken out of exponentials.

    m = np.max(z); e = np.exp(z - m); s = np.sum(e); p = e / s        ->      `p` does not depend on `m`
    m = np.max(z); e = np.exp(z - m); y = np.log(np.sum(e)) + m       ->      neither does `y`

A value is `v + c * m` or `v * exp(c * m)`, where `v` does not depend on `m`.  The number `c` is followed from operation to
operation, together with the axes of the value along which `m` is constant.  If `c` is 0 in all that anything else reads,
then `m` counts as a constant.  The function itself is computed as it is written.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def f(z):
...     m = np.max(z)
...     return np.log(np.sum(np.exp(z - m))) + m
... '''))
>>> print(df.source_for(np.zeros(3)).partition("sweep\\n    # reverse")[0].splitlines()[-1])
    return seed / exp_z_minus_m.sum() * exp_z_minus_m
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.kinds import Number
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.counts import binding_counts, read_counts
from s2sgrad.flow.graph import Block
from s2sgrad.ir.forms import bound_name, is_none, number, parts_of, whole_number
from s2sgrad.ir.quote import nested
from s2sgrad.rules import singular
from s2sgrad.rules.reductions import EXTREMES
from s2sgrad.transform.paths import Paths

_SUMS = (np.sum, np.mean)


@dataclass(frozen=True)
class _Power:
    """`v + c * m`, or `v * exp(c * m)` if `multiplied`.  `axes`: from the last axis of the value backwards, whether `m`
    varies along it; it is constant along all axes before those.
    """

    c: Fraction
    multiplied: bool
    axes: tuple[bool, ...]


class _Unknown(Exception):
    """A value is neither of the two."""


def run(paths: Paths) -> None:
    """Take extremes that cancel for constants."""
    found = [o for o in paths.operations.values() if is_one_of(o.target, EXTREMES)]
    if not found or not any(is_one_of(o.target, singular.EXPONENTIALS) for o in paths.operations.values()):
        return
    counts, reads = binding_counts(paths.tree.body), read_counts(paths.tree.body)
    written = {n for w in paths.memory.written for n in paths.memory.with_memory_of(w)} | paths.memory.lost
    steady = {n for n in paths.kinds if counts[n] == 1 and n not in written}
    changed = False
    for block in nested(paths.tree.body):
        for place, statement in enumerate(block):
            operation, name = paths.operations.get(id(statement)), bound_name(statement)
            if name in paths.active & steady and operation is not None and is_one_of(operation.target, EXTREMES):
                start = _axes_of_extreme(paths, operation, name)
                if start is not None and _Followed(paths, steady, reads).cancels(block[place + 1 :], name, start):
                    paths.operations[id(statement)] = Operation("flat", operation.node)
                    changed = True
    if changed:
        paths.settle()


def _axes_of_extreme(paths: Paths, operation: Operation, name: str) -> tuple[bool, ...] | None:
    """Along which axes of the operand a result may vary, from the last one backwards; None where that is not known."""
    rank, kept = _rank(paths, operation.operands[0]), getattr(operation.keywords.get("keepdims"), "value", False)
    if rank is None or not operation.keywords.keys() <= {"axis", "keepdims"} or not isinstance(kept, bool):
        return None
    gone = _places(operation.keywords.get("axis"), rank)
    return None if gone is None else _short(k not in gone for k in reversed(range(rank)) if kept or k not in gone)


def _short(varies: Iterable[bool]) -> tuple[bool, ...]:
    """Such axes without the first ones of the value, along which the variable is constant."""
    axes = [*varies]
    while axes and not axes[-1]:
        axes.pop()
    return tuple(axes)


def _places(axis: gast.AST | None, rank: int) -> set[int] | None:
    """The axes that a reduction names; None where these are not known."""
    if axis is None or is_none(axis):
        return {*range(rank)}
    named = [whole_number(a) for a in (axis.elts if isinstance(axis, gast.Tuple) else [axis])]
    inside = {k % rank for k in named if k is not None and -rank <= k < rank}
    return inside if len(inside) == len(named) else None


def _rank(paths: Paths, node: gast.AST) -> int | None:
    kind = paths.kinds.get(node.id) if isinstance(node, gast.Name) else None
    return 0 if isinstance(kind, Number) or isinstance(node, gast.Constant) else getattr(kind, "rank", None)


class _Followed:
    """The values that are made of one variable, by name."""

    def __init__(self, paths: Paths, steady: set[str], reads: Any) -> None:
        self.paths, self.steady, self.reads = paths, steady, reads
        self.powers: dict[str, _Power] = {}

    def cancels(self, block: Block, name: str, axes: tuple[bool, ...]) -> bool:
        """Whether nothing that reads the variable, bound before this block, or what is made of it, depends on it."""
        self.powers[name] = _Power(Fraction(1), False, axes)
        left = dict.fromkeys(self.powers, self.reads[name])
        for statement in block:
            read = [n.id for n in effects.loads(effects.header(statement)) if n.id in self.powers]
            if not read:
                continue
            operation = self.paths.operations.get(id(statement))
            for n in read:
                left[n] -= 1
            if operation is not None and operation.form == "flat":
                continue
            bound = bound_name(statement)
            if operation is None or bound not in self.steady:
                return False
            try:
                made = self._made(operation)
            except _Unknown:
                return False
            if made.c:
                self.powers[bound], left[bound] = made, self.reads[bound]
        return not any(left.values())

    def _made(self, operation: Operation) -> _Power:
        """What an operation of such values gives."""
        first, *others = operation.operands or [operation.node]
        if operation.form == "atom" or operation.target is np.positive:
            return self._of(first)
        if operation.form == "item":
            return self._item(first, operation.node.slice)
        if operation.form != "rule":
            raise _Unknown
        if is_one_of(operation.target, _SUMS):
            return self._reduced(first, operation.keywords)
        make = _OPERATIONS.get(operation.target)
        if make is None or operation.keywords or len(others) > 1:
            raise _Unknown
        return make(*(self._of(operand) for operand in operation.operands))

    def _of(self, node: gast.AST) -> _Power:
        """An operand, which may be one that does not depend on the variable."""
        return self.powers.get(getattr(node, "id", ""), _NOTHING)

    def _item(self, owner: gast.AST, index: gast.AST) -> _Power:
        """A section: whole axes, and any part of those along which the variable is constant."""
        power, rank = self._of(owner), _rank(self.paths, owner)
        parts = parts_of(index)
        if rank is None or any(getattr(p, "value", None) is Ellipsis for p in parts):
            raise _Unknown
        varies = [False] * (rank - len(power.axes)) + [*reversed(power.axes)]
        out, axis = [], 0
        for part in parts:
            if is_none(part) or (isinstance(part, gast.Attribute) and self.paths.unit.resolve(part) is None):
                out.append(False)
                continue
            whole = isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None
            single = isinstance(self.paths.kinds.get(getattr(part, "id", "")), Number) or type(number(part)) is int
            if axis >= rank or not (whole or ((single or isinstance(part, gast.Slice)) and not varies[axis])):
                raise _Unknown
            out += [varies[axis]] if isinstance(part, gast.Slice) else []
            axis += 1
        return replace(power, axes=_short(reversed([*out, *varies[axis:]])))

    def _reduced(self, operand: gast.AST, keywords: dict[str, gast.AST]) -> _Power:
        """A sum along axes along which the variable is constant."""
        power, rank = self._of(operand), _rank(self.paths, operand)
        kept = getattr(keywords.get("keepdims"), "value", False)
        gone = None if rank is None else _places(keywords.get("axis"), rank)
        if not power.multiplied or rank is None or gone is None or not keywords.keys() <= {"axis", "keepdims"}:
            raise _Unknown
        varies = [False] * (rank - len(power.axes)) + [*reversed(power.axes)]
        if not isinstance(kept, bool) or any(varies[k] for k in gone):
            raise _Unknown
        return replace(power, axes=_short(varies[k] for k in reversed(range(rank)) if kept or k not in gone))


_NOTHING = _Power(Fraction(0), False, ())


def _alike(one: _Power, other: _Power) -> tuple[bool, ...]:
    """The axes of two values that are combined; those of the one that depends on the variable if only one does."""
    if one.c and other.c and one.axes != other.axes:
        raise _Unknown
    return one.axes if one.c else other.axes


def _added(sign: int) -> Callable[[_Power, _Power], _Power]:
    def made(one: _Power, other: _Power) -> _Power:
        axes = _alike(one, other)
        if (one.c and one.multiplied) or (other.c and other.multiplied):
            if one.c != other.c or not (one.multiplied and other.multiplied):
                raise _Unknown
            return one
        return _Power(one.c + sign * other.c, False, axes)

    return made


def _times(sign: int) -> Callable[[_Power, _Power], _Power]:
    def made(one: _Power, other: _Power) -> _Power:
        axes = _alike(one, other)
        if (one.c and not one.multiplied) or (other.c and not other.multiplied):
            raise _Unknown
        return _Power(one.c + sign * other.c, True, axes)

    return made


def _negative(one: _Power) -> _Power:
    return one if one.multiplied else replace(one, c=-one.c)


def _turned(before: bool) -> Callable[[_Power], _Power]:
    """An exponential of a sum is a product, a logarithm of a product is a sum."""

    def made(one: _Power) -> _Power:
        if one.multiplied is not before:
            raise _Unknown
        return replace(one, multiplied=not before)

    return made


_OPERATIONS: dict[Any, Callable[..., _Power]] = {
    np.add: _added(1), np.subtract: _added(-1), np.multiply: _times(1), np.divide: _times(-1),
    np.negative: _negative, np.exp: _turned(False), np.log: _turned(True),
}  # fmt: skip
