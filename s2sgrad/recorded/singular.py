"""The sweep that knows how a slope was made: of roots at 0, of powers of roots, and of what has overflowed.

    r = np.sqrt(s), s = x ** 2 at 0        ->     the slope of the root is infinite, that of `s` is 0, which wins
    z = np.sqrt(x) ** 2                    ->     an entry for `x ** 1`, in the place of that of the power
    y = 1.0 / d, d = 1.0 + np.exp(-x)      ->     where `d` has overflowed, nothing counts behind it

These are the conventions of texts (docs/singular-points.md).  Used where another sweep has met a nan, and where the sweep
itself is recorded and such a point is in the record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from s2sgrad.recorded import arithmetic, memory, operations
from s2sgrad.recorded.applying import apply
from s2sgrad.recorded.careful import Marks
from s2sgrad.recorded.honest import bottoms
from s2sgrad.recorded.patterns import Kept, Prepared, known
from s2sgrad.recorded.sweep import Forms, Sweep
from s2sgrad.recorded.values import FLOATS, bottom
from s2sgrad.rules import monomials, singular, spectra, table
from s2sgrad.rules.powers import Monomial, combined, whole_number

_DEEP = 6  # operations that are looked through
_SYMBOLS = {
    arithmetic.pull_sum: np.add, arithmetic.pull_difference: np.subtract, arithmetic.pull_product: np.multiply,
    arithmetic.pull_quotient: np.divide, arithmetic.pull_power: np.power, arithmetic.pull_negative: np.negative,
}  # fmt: skip
_MADE_OF_ROOTS = singular.PRODUCTS | singular.POWERS | singular.ROOTS | {np.square, np.cbrt, np.reciprocal}
_SUSPECTS = singular.POWERS | singular.ROOTS | singular.OVERFLOWING | {np.cbrt}
_LOGARITHMS = frozenset({np.log, np.log1p})
_EXPONENTIALS = frozenset({np.exp, np.expm1})


class Operation(NamedTuple):
    """What an entry did.  `operands` are recorded ones and constants; `result` is None for what has no single result."""

    primitive: Any
    operands: tuple
    keywords: dict[str, Any]
    result: Kept | None


def operation(place: int, entry: tuple) -> Operation | None:
    """What an entry did, if it called a primitive with a rule."""
    pull = entry[0]
    if pull is operations.pull or pull is operations.pull_fresh:
        _, call, operands, keywords, result, _ = entry
        treated = call.refusal is None and call.rule.given is None and type(result) is Kept
        return Operation(call.primitive, operands, keywords, result) if treated else None
    if pull is operations.pull_number:
        _, call, node, x, y = entry
        return Operation(call.primitive, (Kept(x, node, None, True),), {}, Kept(y, place, None, True))
    if pull is operations.pull_numbers:
        _, call, nodes, values, y = entry
        given = tuple([v if n < 0 else Kept(v, n, None, True) for n, v in zip(nodes, values, strict=True)])
        return Operation(call.primitive, given, {}, Kept(y, place, None, True))
    if pull not in _SYMBOLS:
        return None
    _, a, b, x, y = entry
    given = tuple([v if n is None else Kept(v, n, None, True) for n, v in ((a, x), (b, y))])
    return Operation(_SYMBOLS[pull], given[:1] if pull is arithmetic.pull_negative else given, {}, None)


def has_singular_points(entries: list[Any]) -> bool:
    """Whether a root is taken of 0, an exponential has overflowed, or there are vectors that may turn."""
    for entry in entries:
        call = entry[1] if entry is not None and len(entry) > 4 else None
        if type(call) is not Prepared or call.rule is None or call.rule.given is not None:
            continue
        if call.primitive in spectra.SPANS:
            return True
        if call.primitive not in _SUSPECTS and call.primitive not in singular.NORMS:
            continue
        result = entry[4]
        value = bottom(result.value if type(result) is Kept else result)
        if type(value) in FLOATS or type(value) is np.ndarray:
            if np.any(np.equal(value, 0.0)) or np.any(np.isinf(value)):
                return True
    return False


def _key(operand: Any) -> Any:
    """What tells the number or the memory of an operand."""
    return operand.node if operand.root is None else operand.root


def _is_steady(operand: Any) -> bool:
    """Whether an operand is a number, or a whole array that nobody writes."""
    if type(operand) is not Kept or not operand.followed:
        return False
    root = operand.root
    return root is None or (bottom(operand.where) is root.owner and not root.written)


def _exponent(primitive: Any, operands: tuple) -> float | None:
    value = operands[1] if primitive in singular.POWERS and len(operands) == 2 else None
    return float(value) if isinstance(value, (int, float)) else None


class Facts:
    """What is known of the entries of a record: `instead`: those that take the place of powers of roots; `overflowing`: the
    numbers and memories that may have overflowed."""

    def __init__(self, entries: list[Any]) -> None:
        self.made: dict[Any, Operation] = {}
        self.overflowing: set[Any] = set()
        self.instead: dict[int, tuple] = {}
        for place, entry in enumerate(entries):
            if entry is None:
                continue
            found = operation(place, entry)
            if found is None:
                self._moved(place, entry)
                continue
            result = place if found.result is None else _key(found.result)
            if self._overflows(found):
                self.overflowing.add(result)
            if found.result is None or _is_steady(found.result):
                self.made[result] = found
            if not found.keywords and (new := self._replaced(found)) is not None:
                outcome = found.result or Kept(0.0, place, None, True)
                call, operands, keywords = known(new.primitive).prepared(new.operands, new.keywords)
                self.instead[place] = operations.pull, call, operands, keywords, outcome, None

    def _moved(self, place: int, entry: tuple) -> None:
        """An item that is read, or a part that is written: it overflows as what it is moved from."""
        pull = entry[0]
        if pull is memory.pull_item and entry[1] in self.overflowing:
            self.overflowing.add(place)
        elif pull is memory.pull_stored_item and entry[3] in self.overflowing:
            self.overflowing.add(entry[1])
        elif pull is memory.pull_store and entry[3] is not None and _key(entry[3]) in self.overflowing:
            self.overflowing.add(entry[1].root)

    def _overflows(self, found: Operation) -> bool:
        if found.primitive in singular.OVERFLOWING and found.result is not None:
            return bool(np.any(np.isinf(bottom(found.result.value))))
        power = _exponent(found.primitive, found.operands)
        return any(
            type(o) is Kept and _key(o) in self.overflowing and _grows(found.primitive, k, power)
            for k, o in enumerate(found.operands)
        )

    def is_flat(self, primitive: Any, operands: Any, k: int) -> bool:
        """Whether a function levels off where this operand has overflowed."""
        if type(operands[k]) is not Kept or _key(operands[k]) not in self.overflowing:
            return False
        if singular.levels_off(primitive) or (primitive is monomials.level and k == 0):
            return True
        others = any(type(o) is Kept and _key(o) in self.overflowing for n, o in enumerate(operands) if n != k)
        return singular.divides(primitive, k, _exponent(primitive, operands)) and not others

    # --- powers of roots ---

    def _replaced(self, found: Operation) -> Operation | None:
        """An operation in what is under a root that is 0 somewhere; None where there is none."""
        if found.primitive in _LOGARITHMS:
            return self._of_overflown(found)
        if found.primitive not in _MADE_OF_ROOTS:
            return None
        bases: dict[Any, Kept] = {}
        power = _exponent(found.primitive, found.operands)
        parts = [self._monomial(o, bases) for o in found.operands]
        whole = combined(found.primitive, power, parts)
        if whole is None or not 1 <= len(whole.powers) <= 2:
            return None
        if whole.signed and any(whole_number(p) != round(p) for p in whole.powers.values()):
            return None
        return self._in_bases(found, whole, parts, bases)

    def _in_bases(
        self, found: Operation, whole: Monomial, parts: list[Monomial | None], bases: dict[Any, Kept]
    ) -> Operation | None:
        """The monomial by what is under a root of it; None where no root is taken of 0."""
        for base, p in whole.powers.items():
            others = [b for b in whole.powers if b != base]
            norm = self.made.get(base)
            if norm is not None and norm.primitive in singular.VECTOR_NORMS and (p >= 2 if not others else p == 2):
                return _of_norm(norm, bases, base, whole, others)
            rooted = any(m is not None and 0 < m.powers.get(base, 1) < 1 for m in parts)
            zero = bool(np.any(np.equal(bottom(bases[base].value), 0.0)))
            if zero and whole_number(p) >= 1 and (rooted or found.primitive is np.cbrt):
                return _of_powers(whole, bases, [base, *others])
        return None

    def _monomial(self, operand: Any, bases: dict[Any, Kept], depth: int = 0) -> Monomial | None:
        """What an operand is as a monomial."""
        if isinstance(operand, (int, float)):
            return Monomial(float(operand), {})
        if not _is_steady(operand):
            return None
        key = _key(operand)
        made = self.made.get(key)
        if made is not None and depth < _DEEP and not made.keywords:
            parts = [self._monomial(o, bases, depth + 1) for o in made.operands]
            found = combined(made.primitive, _exponent(made.primitive, made.operands), parts)
            if found is not None:
                return found
        bases.setdefault(key, operand)
        return Monomial(1.0, {key: 1.0})

    def _of_overflown(self, found: Operation) -> Operation | None:
        """The logarithm of a sum with an exponential that has overflowed."""
        (d,) = found.operands
        if type(d) is not Kept or _key(d) not in self.overflowing:
            return None
        e: Kept | None = d
        made = self.made.get(_key(d))
        if made is not None and made.primitive is np.add:
            grown = [o for o in made.operands if type(o) is Kept and _key(o) in self.overflowing]
            e = grown[0] if len(grown) == 1 else None
        inner = self.made.get(_key(e)) if e is not None else None
        if inner is None or inner.primitive not in _EXPONENTIALS:
            return None
        (u,) = inner.operands
        same = type(u) is Kept and np.shape(bottom(u.value)) == np.shape(bottom(d.value))
        return Operation(monomials.level, (d, u, float(found.primitive is np.log1p)), {}, None) if same else None


def _grows(primitive: Any, k: int, power: float | None) -> bool:
    """Whether a result overflows where this operand does."""
    rule = table.lookup(primitive)
    if primitive in singular.POWERS:
        return k == 0 and (power or 0.0) >= 1.0
    passes = primitive in singular.ADDITIVE or (rule is not None and rule.tag in ("linear", "bilinear"))
    return passes or primitive is np.multiply or (primitive is np.divide and k == 0) or primitive is np.square


def _of_powers(whole: Monomial, bases: dict[Any, Kept], keys: list[Any]) -> Operation:
    numbers = [whole_number(v) for v in (whole.factor, *(whole.powers[k] for k in keys))]
    primitive = monomials.monomial if len(keys) == 1 else monomials.product_of_powers
    return Operation(primitive, (*[bases[k] for k in keys], *numbers), {}, None)


def _of_norm(norm: Operation, bases: dict[Any, Kept], base: Any, whole: Monomial, others: list[Any]) -> Operation | None:
    """The power of a norm of vectors, perhaps with another factor."""
    keywords = {k: v for k, v in norm.keywords.items() if k not in ("ord", "check_finite")}
    x = norm.operands[0]
    plain = keywords.keys() <= {"axis", "keepdims"} and norm.keywords.get("ord") is None
    if not plain or len(norm.operands) != 1 or not _is_steady(x) or x.root is None:
        return None
    y, factor = bases[base].value, whole_number(whole.factor)
    if others:
        given = (x, bases[others[0]], y, factor, whole_number(whole.powers[others[0]]))
        return Operation(monomials.square_of_scaled_norm, given, keywords, None)
    return Operation(monomials.power_of_norm, (x, y, factor, whole_number(whole.powers[base])), keywords, None)


class _Scratch:
    """Where one entry of numbers gives its cotangents."""

    nested = False
    forms = Forms(False)

    def __init__(self, place: int, bar: Any) -> None:
        self.nodes: Any = _Nodes({place: bar})


class _Nodes(dict):
    def __missing__(self, node: int) -> None:
        return None


class Slopes(Marks):
    """The marks of a sweep by these conventions.  `here`: the entry that is pulled.  `foreign`: something but a root has
    given an infinite cotangent."""

    __slots__ = ("facts", "foreign", "here")

    def __init__(self) -> None:
        super().__init__()
        self.facts = Facts([])
        self.foreign = False
        self.here: tuple = ()

    def limited(self, sweep: Sweep, call: Prepared, parts: Any, given: tuple) -> Any:
        """The cotangents of the operands of a call; where an infinite one of a root meets a slope of 0, 0."""
        arrived, y, values, named = given
        b = bottom(arrived)
        if isinstance(b, (list, tuple, dict)):
            return parts
        infinite = np.isinf(b)
        every = [p for p in ((parts,) if call.single else parts) if p is not None]
        if not np.any(infinite):
            root = singular.is_root(call.primitive, _exponent(call.primitive, tuple(bottoms(values))))
            if not root and not self.foreign:
                self.foreign = any(np.any(np.isinf(bottom(p))) for p in every if not isinstance(p, (list, tuple, dict)))
            return parts
        if self.foreign:
            return parts
        ends = np.where(infinite, np.sign(b), 0.0)[()]
        finite = apply(np.where, (infinite, 0.0, arrived))
        rest = sweep.forms.formula(call.formula)(finite, y, *values, **named)
        slopes = call.formula(ends, *bottoms((y, *values)), **bottoms(named))
        limit = apply(np.sum, (apply(np.where, (infinite, apply(np.multiply, (arrived, ends)), 0.0)),))  # of any of them
        if call.single:
            return _joined(rest, slopes, limit)
        return tuple([_joined(r, s, limit) for r, s in zip(rest, slopes, strict=True)])

    def branch(self, call: Prepared, k: int, args: tuple, mask: Any) -> Any:
        found = super().branch(call, k, args, mask)
        operands = self.here[2]
        if not (call.elementwise and self.facts.is_flat(call.primitive, operands, k)):
            return found
        y = bottom(args[1])
        level = np.isinf(np.broadcast_to(bottom(args[2][k]), np.shape(y)))
        if call.primitive is not monomials.level:
            level = level & np.isfinite(y)
        mask = getattr(found, "mask", found)
        return ~level if mask is None else ~level & mask


class Singular(Sweep):
    """A sweep by these conventions."""

    __slots__ = ("slopes",)

    def __init__(self, size: int) -> None:
        self.slopes = Slopes()
        super().__init__(size, self.slopes)

    def over(self, entries: list[Any], start: int, stop: int) -> None:
        self.slopes.facts = Facts(entries[:stop])
        for place in range(stop - 1, start - 1, -1):
            entry = entries[place]
            if entry is None:
                continue
            entry = self.slopes.facts.instead.get(place, entry)
            if entry[0] is operations.pull and entry[1].rule is not None and entry[1].rule.given is None:
                entry = _of_vectors_alone(self, entry)
            if entry[0] is operations.pull or entry[0] is operations.pull_fresh:
                self.slopes.here = entry
                entry[0](self, place, entry)
            elif place < len(self.nodes) and self.nodes[place] is not None:
                self._number(place, entry)
            else:
                entry[0](self, place, entry)

    def _number(self, place: int, entry: tuple) -> None:
        """An entry whose operands are numbers, and what it reads or stores."""
        found, g = operation(place, entry), bottom(self.nodes[place])
        if found is None:
            entry[0](self, place, entry)
            return
        operands = [o for o in found.operands if type(o) is Kept]
        if np.isinf(g) and not self.slopes.foreign:
            arrived, self.nodes[place] = self.nodes[place], None
            scratch = _Scratch(place, np.sign(g))
            entry[0](scratch, place, _plain(entry))
            for node, slope in scratch.nodes.items():
                if slope is not None and node != place:
                    bar = slope * (arrived * np.sign(g)) if slope else 0.0
                    self.give(Kept(0.0, node, None, True), bar, None)
            return
        flat = [k for k, o in enumerate(found.operands) if type(o) is Kept and _is_flat_at(self.slopes.facts, found, k)]
        kept = [(found.operands[k].node, self.nodes[found.operands[k].node]) for k in flat]
        entry[0](self, place, entry)
        for node, before in kept:
            self.nodes[node] = before
        if np.isfinite(g) and not singular.is_root(found.primitive, _exponent(found.primitive, found.operands)):
            given = [bottom(self.nodes[o.node]) for o in operands if self.nodes[o.node] is not None]
            self.slopes.foreign = self.slopes.foreign or any(map(np.isinf, given))


def _of_vectors_alone(sweep: Singular, entry: tuple) -> tuple:
    """The entry of a decomposition by the rule of its vectors, where no cotangent has arrived at its values."""
    pull, call, operands, keywords, result, _ = entry
    if call.primitive not in spectra.SPANS:
        return entry
    rule, at = spectra.SPANS[call.primitive]
    values = result[at] if isinstance(result, tuple) else result
    if type(values) is not Kept or values is result or (values.root is not None and sweep.has(values.root)):
        return entry
    return pull, Prepared(call.primitive, rule, operands, keywords), *entry[2:]


def _is_flat_at(facts: Facts, found: Operation, k: int) -> bool:
    """Whether a number has overflowed where a function of it levels off."""
    return facts.is_flat(found.primitive, found.operands, k) and bool(np.isinf(bottom(found.operands[k].value)))


def _plain(entry: tuple) -> tuple:
    """The entry with plain values."""
    return tuple([bottom(v) if not isinstance(v, list) else list(map(bottom, v)) for v in entry])


def _joined(rest: Any, slope: Any, limit: Any) -> Any:
    """A cotangent, and an infinite one times a slope."""
    if rest is None or slope is None or isinstance(rest, (list, tuple, dict)):
        return rest
    return rest + apply(np.where, (np.equal(slope, 0.0), 0.0, apply(np.multiply, (slope, limit))))
