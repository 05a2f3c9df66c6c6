"""Powers of roots are powers: their derivatives are taken in what is under the root.

    r = np.sqrt(s); q = r / w; z = q ** 2       ->      z is differentiated as `s * w ** -2`
    n = np.linalg.norm(x); z = n * n            ->      z is differentiated as `np.sum(x * x)`

    m = np.abs(u); z = m ** 2, u complex        ->      z is differentiated as `u * np.conj(u)`

    w, V = np.linalg.eigh(S)                    ->      without `w`, what turns V among equal values of w is dropped

In steps the slope would be `2 * r * (1 / (2 * r))`, which is nan at 0, and 0 with a cotangent of 0.  The function itself
is computed as it is written.
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.kinds import Array, Container, Number
from s2sgrad.analysis.number_types import is_complex
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.singular import exponent
from s2sgrad.flow.counts import binding_counts, bound_once
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import is_none, number
from s2sgrad.ir.quote import COMPOUND, clone, constant, name, nested, placed
from s2sgrad.rules import monomials, singular, spectra
from s2sgrad.rules.powers import Monomial, combined, whole_number
from s2sgrad.rules.table import lookup
from s2sgrad.transform.paths import Paths

_DEEP = 6  # operations that are looked through


def run(paths: Paths) -> None:
    """Replace the operations that are powers of roots, and spectra whose vectors alone are used."""
    for statement in effects.walk(paths.tree.body):
        operation = paths.operations.get(id(statement))
        if operation is not None and is_one_of(operation.target, spectra.SPANS) and _uses_vectors_alone(paths, statement):
            operation.rule = spectra.SPANS[operation.target][0]
    _pair_spectra(paths)
    roots = singular.ROOTS | singular.NORMS | singular.POWERS | {np.cbrt}
    if any(is_one_of(o.target, roots) for o in paths.operations.values()):
        _Compounds(paths).run()


def run_of_complex(paths: Paths) -> None:
    """Replace the squares of moduli."""
    moduli = {np.absolute, abs}
    if any(is_one_of(o.target, moduli) for o in paths.operations.values()):
        compounds = _Compounds(paths)
        for statement in effects.walk(paths.tree.body):
            operation = paths.operations.get(id(statement))
            base = _squared(operation) if operation is not None and operation.form == "rule" else None
            made = compounds.once.get(getattr(base, "id", ""))
            modulus = paths.operations.get(id(made)) if made is not None else None
            if (
                operation is None
                or modulus is None
                or not is_one_of(modulus.target, moduli)
                or not compounds.is_before(made, statement)
            ):
                continue
            (z,) = modulus.operands
            if isinstance(z, gast.Name) and is_complex(paths.kinds.get(z.id)) and compounds.is_kept(z.id, made, statement):
                paths.operations[id(statement)] = _made(operation, monomials.square_of_modulus, [clone(z)], {})


def _squared(operation: Operation) -> gast.AST | None:
    """What an operation is the square of; None for any other."""
    first, *others = operation.operands or [None]
    if operation.target is np.multiply and len(others) == 1 and isinstance(first, gast.Name):
        return first if getattr(others[0], "id", "") == first.id else None
    squares = operation.target is np.square or (is_one_of(operation.target, singular.POWERS) and exponent(operation) == 2)
    return first if squares else None


class _Compounds:
    """The monomials of one function."""

    def __init__(self, paths: Paths) -> None:
        self.paths, self.operations, body = paths, paths.operations, paths.tree.body
        memory = paths.memory
        written = {n for w in memory.written for n in memory.with_memory_of(w)} | memory.lost
        self.once = {n: s for n, s in bound_once(body).items() if n not in written and isinstance(s.targets[0], gast.Name)}
        counts = binding_counts(body)
        self.steady = {n for n in paths.kinds if n not in written and counts[n] <= 1}
        self.facts = Facts(paths.tree)
        self.order: dict[int, int] = {}
        self.bound: dict[str, int] = {}  # where a name is bound
        self.around: dict[int, frozenset[int]] = {}  # by statement: the blocks that it stands in
        self._place(body, frozenset())

    def _place(self, body: list[gast.AST], around: frozenset[int]) -> None:
        """Note where the statements of a block stand."""
        around |= {id(body)}
        for statement in body:
            self.around[id(statement)], self.order[id(statement)] = around, len(self.order)
            target = getattr(statement, "target", None) if isinstance(statement, gast.For) else None
            for bound in [target.id] if target is not None else binds(statement):
                self.bound[bound] = len(self.order)
            for block in (getattr(statement, "body", None), getattr(statement, "orelse", None)):
                if block:
                    self._place(block, around)

    def run(self) -> None:
        """Replace operations, where a factor is a root."""
        for statement in effects.walk(self.paths.tree.body):
            operation = self.operations.get(id(statement))
            if isinstance(statement, gast.Assign) and operation is not None and operation.form == "rule":
                new = self._replaced(statement, operation)
                if new is not None:
                    self.operations[id(statement)] = new

    def _replaced(self, statement: gast.Assign, operation: Operation) -> Operation | None:
        """The operation in what is under a root; None where there is no root, or the power of it is less than 1."""
        norm = self._root_of_contraction(statement, operation)
        if norm is not None:
            return norm
        parts = [self._monomial(o, statement, statement) for o in operation.operands]
        whole = combined(operation.target, exponent(operation), parts)
        if whole is None or not 1 <= len(whole.powers) <= 2:
            return None
        if whole.signed and any(whole_number(p) != round(p) for p in whole.powers.values()):
            return None
        powers = {str(base): power for base, power in whole.powers.items()}  # of names
        for base, power in powers.items():
            norm = self._norm(base, statement)
            others = {b: p for b, p in powers.items() if b != base}
            if norm is not None and (power >= 2 if not others else power == 2):
                return self._of_norm(operation, norm, base, whole, others)
            rooted = any(m is not None and 0 < m.powers.get(base, 1) < 1 for m in parts)
            if whole_number(power) >= 1 and (rooted or operation.target is np.cbrt):
                return _of_powers(operation, whole, [base, *others])
        return None

    def _root_of_contraction(self, statement: gast.Assign, operation: Operation) -> Operation | None:
        """The norm that the root of `np.einsum("ij,ij->i", x, x)` is; None for anything else."""
        made = self.once.get(getattr(operation.operands[0], "id", "")) if operation.operands else None
        inner = self.operations.get(id(made)) if made is not None else None
        if inner is None or inner.target is not np.einsum or not singular.is_root(operation.target, exponent(operation)):
            return None
        axes = _contracted(inner.operands)
        if exponent(operation) not in (None, 0.5) or axes is None or inner.keywords or not self.is_before(made, statement):
            return None
        x = inner.operands[1]
        if not isinstance(self.paths.kinds.get(x.id), Array) or not self.is_kept(x.id, made, statement):
            return None
        return _made(operation, np.linalg.norm, [clone(x)], {"axis": axes})

    def _monomial(self, node: gast.AST, use: gast.AST, last: gast.AST, depth: int = 0) -> Monomial | None:
        """What an operand of a statement is as a monomial, in names that do not change before the `last` statement."""
        value = number(node)
        if value is not None:
            return Monomial(float(value), {})
        if not isinstance(node, gast.Name):
            return None
        made = self.once.get(node.id)
        operation = self.operations.get(id(made)) if made is not None else None
        if depth < _DEEP and operation is not None and operation.form == "rule" and self.is_before(made, use):
            found = combined(
                operation.target, exponent(operation), [self._monomial(o, made, last, depth + 1) for o in operation.operands]
            )
            if found is not None:
                return found
        numeric = isinstance(self.paths.kinds.get(node.id), (Number, Array))
        return Monomial(1.0, {node.id: 1.0}) if numeric and self.is_kept(node.id, use, last) else None

    def is_kept(self, variable: str, use: gast.AST, last: gast.AST) -> bool:
        """Whether a variable is the same where it is read and before the `last` statement."""
        body = next((b for b in nested(self.paths.tree.body) if any(s is last for s in b)), [])
        places = [k for k, s in enumerate(body) if s is use or s is last]
        alone = not places or (len(places) < 2 and use is not last)
        between = body[places[0] : places[-1]] if places else []
        straight = not alone and not any(isinstance(s, COMPOUND) for s in between)
        if variable in self.steady:
            # a tangent that nobody reads is dropped where paths part or meet
            read = straight or variable in self.facts.liveness.after(last)
            return read and self.bound.get(variable, 0) <= self.order[id(use)]
        shared = self.paths.memory.with_memory_of(variable)
        if variable in self.paths.memory.lost or not straight:
            return False
        return not any(variable in binds(s) or shared & self.paths.memory.changed(s) for s in between)

    def is_before(self, made: gast.AST, use: gast.AST) -> bool:
        """Whether a statement runs before another whenever that does."""
        return self.around[id(made)] <= self.around[id(use)] and self.order[id(made)] < self.order[id(use)]

    def _norm(self, base: str, use: gast.AST) -> Operation | None:
        """The operation of a norm of vectors that a base is; None for any other."""
        made = self.once.get(base)
        operation = self.operations.get(id(made)) if made is not None else None
        if operation is None or operation.target is not np.linalg.norm or not self.is_before(made, use):
            return None
        (x,), kind = operation.operands, operation.keywords.get("ord")
        plain = operation.keywords.keys() <= {"axis", "keepdims", "ord"} and (kind is None or is_none(kind))
        array = isinstance(x, gast.Name) and isinstance(self.paths.kinds.get(x.id), Array)
        return operation if plain and array and self.is_kept(x.id, made, use) else None

    def _of_norm(
        self, operation: Operation, norm: Operation, base: str, whole: Monomial, others: dict[str, float]
    ) -> Operation:
        """The power of a norm, perhaps with another factor."""
        keywords = {k: clone(v) for k, v in norm.keywords.items() if k != "ord"}
        x, y, factor = clone(norm.operands[0]), name(base), constant(whole_number(whole.factor))
        if others:
            ((other, power),) = others.items()
            operands = [x, name(other), y, factor, constant(whole_number(power))]
            return _made(operation, monomials.square_of_scaled_norm, operands, keywords)
        return _made(
            operation, monomials.power_of_norm, [x, y, factor, constant(whole_number(whole.powers[base]))], keywords
        )


def _pair_spectra(paths: Paths) -> None:
    """Differentiate the eigenvalues of a matrix, and the cotangent that they give it, in one frame."""
    found = [o for o in paths.operations.values() if o.form == "rule"]
    given = {getattr(o.operands[1], "id", None) for o in found if o.target is spectra.spectral} - {None}
    for operation in found if given else ():
        if operation.target is np.linalg.eigvalsh and getattr(operation.operands[0], "id", None) in given:
            operation.rule = spectra.eigvalsh_beside_spectral


def _uses_vectors_alone(paths: Paths, statement: gast.AST) -> bool:
    """Whether no derivative passes through the eigenvalues, or singular values, of a decomposition."""
    decomposition = paths.operations[id(statement)]
    (result, *others), values = binds(statement) or [""], spectra.SPANS[decomposition.target][1]
    if not isinstance(paths.kinds.get(result), Container):
        return False  # the result may be the values
    if others or binding_counts(paths.tree.body)[result] != 1:
        return False
    for use in effects.walk(paths.tree.body):
        if all(read.id != result for read in effects.loads(effects.header(use))):
            continue
        target = use.targets[0] if isinstance(use, gast.Assign) else None
        operation = paths.operations.get(id(use))
        if operation is not None and operation.form == "item":
            if number(operation.node.slice) in (None, values) and paths.active.intersection(binds(use)):
                return False
        elif not isinstance(target, gast.Tuple) or target.elts[values].id in paths.active:
            return False
    return True


def _contracted(operands: list[gast.AST]) -> gast.AST | None:
    """The axes over which an einsum of an array with itself sums the squares; None where it does anything else."""
    if len(operands) != 3 or not isinstance(operands[1], gast.Name) or getattr(operands[2], "id", "") != operands[1].id:
        return None
    text = getattr(operands[0], "value", None)
    given, arrow, kept = text.replace(" ", "").partition("->") if isinstance(text, str) else ("", "", "")
    first, _, second = given.partition(",")
    if not arrow or first != second or not first.isalpha() or len(set(first)) != len(first):
        return None
    gone = [k for k, letter in enumerate(first) if letter not in kept]
    if not gone or kept != "".join(letter for letter in first if letter in kept):
        return None
    return constant(gone[0]) if len(gone) == 1 else gast.Tuple([constant(k) for k in gone], gast.Load())


def _of_powers(operation: Operation, whole: Monomial, bases: list[str]) -> Operation:
    """A product of powers of one variable or two."""
    numbers = [constant(whole_number(v)) for v in (whole.factor, *(whole.powers[b] for b in bases))]
    if len(bases) == 2:
        return _made(operation, monomials.product_of_powers, [*map(name, bases), *numbers], {})
    if numbers[0].value == numbers[1].value == 1:
        return _made(operation, np.positive, [name(bases[0])], {})
    return _made(operation, monomials.monomial, [name(bases[0]), *numbers], {})


def _made(operation: Operation, function: Callable, operands: list[gast.AST], keywords: dict[str, gast.AST]) -> Operation:
    node = gast.Call(name(function.__name__), operands, [gast.keyword(k, v) for k, v in keywords.items()])
    return Operation("rule", placed(operation.node, node), operands, keywords, lookup(function), function)
