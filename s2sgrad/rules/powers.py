"""Monomials: what products, quotients, powers and roots make of a variable or two.

np.sqrt(s) / w; .. ** 2      ->      s ** 1 * w ** -2
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from s2sgrad.rules import singular


@dataclass(frozen=True)
class Monomial:
    """`factor * base ** power * ..`"""

    factor: float
    powers: dict[Hashable, float]
    signed: bool = False  # by a cube root, which negative numbers have as well

    def times(self, other: Monomial, sign: int = 1) -> Monomial:
        powers = dict(self.powers)
        for base, power in other.powers.items():
            powers[base] = powers.get(base, 0.0) + sign * power
        return Monomial(self.factor * other.factor**sign, powers, self.signed or other.signed)

    def raised(self, power: float) -> Monomial | None:
        """A power of the product; None where the sign of what is under a root is not known."""
        root = not float(power).is_integer()  # of a product of two, or of an even power, either may be negative
        even = any(p % 2 == 0 for p in self.powers.values())
        if root and (self.signed or self.factor <= 0 or len(self.powers) > 1 or even):
            return None
        try:
            factor = self.factor**power
        except ArithmeticError:  # the program's own number is infinite, or raises too
            return None
        return Monomial(factor, {base: p * power for base, p in self.powers.items()}, self.signed)

    def cube_root(self) -> Monomial | None:
        if any(p % 2 != 1 for p in self.powers.values()):
            return None
        return Monomial(math.copysign(abs(self.factor) ** (1.0 / 3.0), self.factor),
                         {base: p / 3.0 for base, p in self.powers.items()}, True)  # fmt: skip


def combined(primitive: object, exponent: float | None, parts: list[Monomial | None]) -> Monomial | None:
    """The monomial that a primitive makes of others; None where it makes none.  `exponent`: of a power, if it is known.

    >>> combined(np.sqrt, None, [Monomial(4.0, {"x": 1.0})])
    Monomial(factor=2.0, powers={'x': 0.5}, signed=False)
    """
    if not parts or parts[0] is None:
        return None
    first = parts[0]
    if _is_one_of(primitive, singular.PRODUCTS):
        second, sign = parts[1], 1 if primitive is np.multiply else -1
        return None if second is None or (sign < 0 and not second.factor) else first.times(second, sign)
    if _is_one_of(primitive, singular.POWERS):
        return None if exponent is None else first.raised(exponent)
    if _is_one_of(primitive, singular.ROOTS):
        return first.raised(0.5)
    if primitive is np.negative:
        return Monomial(-first.factor, first.powers, first.signed)
    if primitive is np.cbrt:
        return first.cube_root()
    known = (np.square, 2.0), (np.positive, 1.0), (float, 1.0), (np.reciprocal, -1.0)
    fixed = [p for f, p in known if primitive is f]
    return first.raised(fixed[0]) if fixed else None


def _is_one_of(primitive: object, functions: Iterable[object]) -> bool:
    return any(primitive is f for f in functions)


def whole_number(value: float) -> float | int:
    """A whole number as such, and what differs from one by rounding."""
    near = round(value) if math.isfinite(value) else 0
    return near if abs(value - near) < 1e-12 else value
