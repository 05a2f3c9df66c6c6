"""Powers of roots are powers: their derivatives are taken in what is under the root.

    r = np.sqrt(s); q = r / w; z = q ** 2       ->      z is differentiated as `s * w ** -2`
    n = np.linalg.norm(x); z = n * n            ->      z is differentiated as `np.sum(x * x)`

    d = np.std(x); z = d ** 2                   ->      z is differentiated as `np.var(x)`, and so for `np.hypot` and `abs`
    r = np.sqrt(x); y = r; z = r @ y            ->      z is differentiated as `np.sum(x)`
    m = np.abs(u); z = m ** 2, u complex        ->      z is differentiated as `u * np.conj(u)`

    w, V = np.linalg.eigh(S)                    ->      without `w`, what turns V among equal values of w is dropped

In steps the slope would be `2 * r * (1 / (2 * r))`, which is nan at 0, and 0 with a cotangent of 0.  The function itself
is computed as it is written.  Copies count as what they copy, and two values that are computed alike count as one.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def f(x):
...     r = np.sqrt(x @ x)
...     s = r
...     return s * np.sqrt(x @ x)
... '''))
>>> print(df.source_for(np.zeros(2)).splitlines()[-1])
    return 2.0 * seed * x
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

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
from s2sgrad.ir.quote import COMPOUND, clone, constant, name, nested, placed, substitute
from s2sgrad.primitives import catalogue
from s2sgrad.rules import monomials, singular, spectra
from s2sgrad.rules.powers import Monomial, combined, whole_number
from s2sgrad.rules.table import lookup
from s2sgrad.transform.paths import Paths

_DEEP = 6  # operations that are looked through
_FAR = 200  # statements of a block in which a definition is looked for


def run(paths: Paths) -> None:
    """Replace the operations that are powers of roots, and spectra whose vectors alone are used."""
    for statement in effects.walk(paths.tree.body):
        operation = paths.operations.get(id(statement))
        if operation is not None and is_one_of(operation.target, spectra.SPANS) and _uses_vectors_alone(paths, statement):
            operation.rule = spectra.SPANS[operation.target][0]
    _pair_spectra(paths)
    roots = singular.ROOTS | singular.NORMS | singular.POWERS | singular.MODULI | {np.cbrt, np.std}
    if any(is_one_of(o.target, roots) for o in paths.operations.values()):
        Compounds(paths).run()


def run_of_complex(paths: Paths) -> None:
    """Replace the squares of moduli."""
    moduli = {np.absolute, abs}
    if any(is_one_of(o.target, moduli) for o in paths.operations.values()):
        compounds = Compounds(paths)
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
                paths.operations[id(statement)] = in_place_of(operation, monomials.square_of_modulus, [clone(z)], {})


def _squared(operation: Operation) -> gast.AST | None:
    """What an operation is the square of; None for any other."""
    first, *others = operation.operands or [None]
    if operation.target is np.multiply and len(others) == 1 and isinstance(first, gast.Name):
        return first if getattr(others[0], "id", "") == first.id else None
    squares = operation.target is np.square or (is_one_of(operation.target, singular.POWERS) and exponent(operation) == 2)
    return first if squares else None


class Compounds:
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
        self.blocks: dict[int, tuple[list[gast.AST], int]] = {}  # by statement: its block, and where it stands there
        self._place(body, frozenset())

    def _place(self, body: list[gast.AST], around: frozenset[int]) -> None:
        """Note where the statements of a block stand."""
        around |= {id(body)}
        for place, statement in enumerate(body):
            self.blocks[id(statement)] = body, place
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
            if isinstance(statement, (gast.Assign, gast.AugAssign)) and operation is not None and operation.form == "rule":
                new = self._replaced(statement, operation)
                if new is not None:
                    self.operations[id(statement)] = new

    def _replaced(self, statement: gast.Assign | gast.AugAssign, operation: Operation) -> Operation | None:
        """The operation in what is under a root; None where there is no root, or the power of it is less than 1."""
        whole = self._root_of_contraction(statement, operation) or self._sum_of_powers(statement, operation)
        if whole is not None:
            return whole
        parts = [self._monomial(o, statement, statement) for o in operation.operands]
        monomial = combined(operation.target, exponent(operation), parts)
        if monomial is None or not monomial.powers:
            return None
        monomial = self._without_moduli(self._merged(monomial, statement), statement)
        broken = monomial.signed and any(whole_number(p) != round(p) for p in monomial.powers.values())
        if len(monomial.powers) > 2 or broken:
            return None
        for base in map(str, monomial.powers):
            new = self._of_norm_in(base, statement, operation, monomial)
            if new is None and whole_number(monomial.powers[base]) >= 1 and _is_rooted(base, operation, parts):
                new = _of_powers(operation, monomial, [base, *(str(b) for b in monomial.powers if b != base)])
            if new is not None:
                return new
        return None

    def _of_norm_in(self, base: str, statement: gast.AST, operation: Operation, whole: Monomial) -> Operation | None:
        """The operation in what a factor is the norm, the distance or the deviation of; None for any other factor."""
        norm, power = self._norm(base, statement), whole.powers[base]
        others = {str(b): p for b, p in whole.powers.items() if b != base}
        if norm is None or not (power >= 2 if not others else power == 2):
            return None
        if norm.target in singular.VECTOR_NORMS:
            return self._of_norm(operation, norm, base, whole, others)
        return None if others or (power > 2 and norm.target is np.std) else _of_root_of_squares(operation, norm, base, whole)

    def _root_of_contraction(self, statement: gast.Assign, operation: Operation) -> Operation | None:
        """The norm that the root of `np.einsum("ij,ij->i", x, x)` is; None for anything else."""
        made = self.definition(getattr(operation.operands[0], "id", ""), statement) if operation.operands else None
        inner = self.operations.get(id(made)) if made is not None else None
        if inner is None or inner.target is not np.einsum or not singular.is_root(operation.target, exponent(operation)):
            return None
        axes = _contracted(inner.operands)
        if exponent(operation) not in (None, 0.5) or axes is None or inner.keywords:
            return None
        x = inner.operands[1]
        if getattr(inner.operands[2], "id", "") != x.id:
            return None
        if not isinstance(self.paths.kinds.get(x.id), Array) or not self.is_kept(x.id, made, statement):
            return None
        return in_place_of(operation, np.linalg.norm, [clone(x)], {"axis": axes})

    def _monomial(self, node: gast.AST, use: gast.AST, last: gast.AST, depth: int = 0) -> Monomial | None:
        """What an operand of a statement is as a monomial, in names that do not change before the `last` statement."""
        value = number(node)
        if value is not None:
            return Monomial(float(value), {})
        if not isinstance(node, gast.Name):
            return None
        made = self.definition(node.id, use)
        operation = self.operations.get(id(made)) if made is not None else None
        if depth < _DEEP and operation is not None and operation.form == "atom":
            return self._monomial(operation.node, made, last, depth + 1)
        if depth < _DEEP and operation is not None and operation.form == "rule":
            for inner in (self._monomial, self._variable):  # what an operand is made of, or the operand as it is
                parts = [inner(o, made, last, depth + 1) for o in operation.operands]
                found = combined(operation.target, exponent(operation), parts)
                if found is not None:
                    return found
        return self._variable(node, use, last)

    def _variable(self, node: gast.AST, use: gast.AST, last: gast.AST, depth: int = 0) -> Monomial | None:
        """A variable or a number as a monomial, looked through no further."""
        if not isinstance(node, gast.Name):
            value = number(node)
            return None if value is None else Monomial(float(value), {})
        numeric = isinstance(self.paths.kinds.get(node.id), (Number, Array))
        return Monomial(1.0, {node.id: 1.0}) if numeric and self.is_kept(node.id, use, last) else None

    def definition(self, variable: str, use: gast.AST) -> gast.AST | None:
        """The statement whose value a variable has where it is read: the only one, or the last one in a straight block."""
        made = self.once.get(variable)
        if made is not None:
            return made if self.is_before(made, use) else None
        memory = self.paths.memory
        alone = variable not in memory.lost and memory.with_memory_of(variable) <= {variable}
        if not isinstance(self.paths.kinds.get(variable), Number) and not alone:
            return None
        body, place = self.blocks[id(use)]
        for statement in reversed(body[max(place - _FAR, 0) : place]):
            if variable in binds(statement):
                return None if isinstance(statement, COMPOUND) else statement
            if any(variable in binds(part) or variable in memory.changed(part) for part in effects.walk([statement])):
                return None
        return None

    def _merged(self, whole: Monomial, statement: gast.AST) -> Monomial:
        """A monomial in which two bases that are computed alike are one."""
        if len(whole.powers) < 2:
            return whole
        first: dict[Hashable, str] = {}
        powers: dict[Hashable, float] = {}
        for base in sorted(map(str, whole.powers), key=lambda b: self.bound.get(b, 0)):
            one = first.setdefault(self._value(base, statement), base)
            powers[one] = powers.get(one, 0.0) + whole.powers[base]
        return replace(whole, powers=powers) if len(powers) < len(whole.powers) else whole

    def _value(self, variable: str, use: gast.AST) -> Hashable:
        """What is equal for two variables that the same functions make of the same values."""
        made = self.once.get(variable)
        operation = self.operations.get(id(made)) if made is not None and self.is_before(made, use) else None
        if operation is not None and operation.form == "atom" and isinstance(operation.node, gast.Name):
            return self._value(operation.node.id, made)
        if operation is None or not _is_function(operation):
            return variable
        parts = [*operation.operands, *operation.keywords.values()]
        if operation.form != "rule":
            parts = [operation.node]
        read = [n.id for part in parts for n in effects.loads(part) if n.id in self.paths.kinds]
        if not self.steady.issuperset(read):
            return variable
        texts = [gast.dump(substitute(part, dict.fromkeys(read, "_"))) for part in parts]
        function = operation.form, id(operation.target), *operation.keywords
        return function, *texts, *[self._value(n, made) for n in read]

    def _without_moduli(self, whole: Monomial, statement: gast.AST) -> Monomial:
        """A monomial in which an even power of a modulus is one of the number itself."""
        powers: dict[Hashable, float] = {}
        for base, power in whole.powers.items():
            made = self.definition(str(base), statement)
            modulus = self.operations.get(id(made)) if made is not None else None
            if power > 0 and power % 2 == 0 and modulus is not None and is_one_of(modulus.target, singular.MODULI):
                inner = modulus.operands[0]
                if isinstance(inner, gast.Name) and self.is_kept(inner.id, made, statement):
                    base = inner.id
            powers[base] = powers.get(base, 0.0) + power
        return replace(whole, powers=powers)

    def _sum_of_powers(self, statement: gast.AST, operation: Operation) -> Operation | None:
        """The sum of what is under a root: for a vector of roots times itself, and for the square of its norm."""
        found = self._product_summed(statement, operation)
        if found is None:
            return None
        pair, factor, keywords = found
        parts = [self._monomial(o, statement, statement) for o in pair]
        whole = combined(np.multiply, None, parts)
        if whole is None or not whole.powers:
            return None
        whole = self._merged(whole, statement)
        ((base, power), *others) = whole.powers.items()
        rooted = any(m is not None and 0 < m.powers.get(base, 1) < 1 for m in parts)
        if others or not rooted or whole_number(power) < 1 or not isinstance(self.paths.kinds.get(str(base)), Array):
            return None
        factor, power = whole_number(whole.factor * factor), whole_number(power)
        return in_place_of(
            operation, monomials.sum_of_powers, [name(str(base)), constant(factor), constant(power)], keywords
        )

    def _product_summed(
        self, statement: gast.AST, operation: Operation
    ) -> tuple[list[gast.AST], float, dict[str, gast.AST]] | None:
        """Two arrays whose elementwise product an operation sums, a factor, and over which axes; None for any other."""
        vectors = [o for o in operation.operands if self._is_vector(o)]
        if len(vectors) == 2 and is_one_of(operation.target, singular.PRODUCTS_OF_VECTORS):
            further = [*operation.operands[2:], *operation.keywords.values()]
            return (vectors, 1.0, {}) if all(number(a) == 1 for a in further) and len(further) < 2 else None
        if operation.target is np.einsum and not operation.keywords and len(operation.operands) == 3:
            axes = _contracted(operation.operands)
            arrays = [
                isinstance(o, gast.Name) and isinstance(self.paths.kinds.get(o.id), Array) for o in operation.operands[1:]
            ]
            return (operation.operands[1:], 1.0, {"axis": axes}) if axes is not None and all(arrays) else None
        return self._square_of_norm(statement, operation)

    def _is_vector(self, node: gast.AST) -> bool:
        """Whether an operand is an array of one axis."""
        kind = self.paths.kinds.get(node.id) if isinstance(node, gast.Name) else None
        return isinstance(kind, Array) and kind.dims is not None and len(kind.dims) == 1

    def _square_of_norm(
        self, statement: gast.AST, operation: Operation
    ) -> tuple[list[gast.AST], float, dict[str, gast.AST]] | None:
        """The array of which an operation is the square of the norm, twice, with a factor and the axes."""
        if not is_one_of(operation.target, singular.PRODUCTS | singular.POWERS | {np.square}):
            return None
        parts = [self._monomial(o, statement, statement) for o in operation.operands]
        whole = combined(operation.target, exponent(operation), parts)
        if whole is None or not whole.powers:
            return None
        ((base, power), *others) = self._merged(whole, statement).powers.items()
        norm = self._norm(str(base), statement) if power == 2 and not others else None
        if norm is None or norm.target not in singular.VECTOR_NORMS:
            return None
        x = norm.operands[0]
        return [x, x], whole.factor, {k: clone(v) for k, v in norm.keywords.items() if k not in ("ord", "check_finite")}

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
        made = self.definition(base, use)
        operation = self.operations.get(id(made)) if made is not None else None
        if operation is None or not is_one_of(operation.target, singular.NORMS | {np.std}):
            return None
        if any(isinstance(x, gast.Name) and not self.is_kept(x.id, made, use) for x in operation.operands):
            return None
        if operation.target is np.std:
            return operation if "where" not in operation.keywords else None
        if operation.target not in singular.VECTOR_NORMS:
            return operation if len(operation.operands) == 2 else None
        (x, *_), kind = operation.operands, operation.keywords.get("ord")
        plain = operation.keywords.keys() <= {"axis", "keepdims", "ord", "check_finite"} and len(operation.operands) == 1
        euclidean = kind is None or is_none(kind) or (number(kind) == 2 and self._is_vector(x))
        array = isinstance(x, gast.Name) and isinstance(self.paths.kinds.get(x.id), Array)
        return operation if plain and array and euclidean else None

    def _of_norm(
        self, operation: Operation, norm: Operation, base: str, whole: Monomial, others: dict[str, float]
    ) -> Operation:
        """The power of a norm, perhaps with another factor."""
        keywords = {k: clone(v) for k, v in norm.keywords.items() if k not in ("ord", "check_finite")}
        x, y, factor = clone(norm.operands[0]), name(base), constant(whole_number(whole.factor))
        if others:
            ((other, power),) = others.items()
            operands = [x, name(other), y, factor, constant(whole_number(power))]
            return in_place_of(operation, monomials.square_of_scaled_norm, operands, keywords)
        return in_place_of(
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
    """The axes over which an einsum of two arrays sums their elementwise product; None where it does anything else."""
    if len(operands) != 3 or not isinstance(operands[1], gast.Name) or not isinstance(operands[2], gast.Name):
        return None
    text = getattr(operands[0], "value", None)
    given, _, kept = text.replace(" ", "").partition("->") if isinstance(text, str) else ("", "", "")
    first, _, second = given.partition(",")
    if first != second or not first.isalpha() or len(set(first)) != len(first):
        return None
    gone = [k for k, letter in enumerate(first) if letter not in kept]
    if not gone or kept != "".join(letter for letter in first if letter in kept):
        return None
    return constant(gone[0]) if len(gone) == 1 else gast.Tuple([constant(k) for k in gone], gast.Load())


def _is_function(operation: Operation) -> bool:
    """Whether an operation has the same result for the same operands."""
    if operation.form != "rule" or operation.rule is None:
        return operation.form in ("item", "display")
    return operation.rule.given is None and catalogue.of(operation.target).pure


def _is_rooted(base: str, operation: Operation, parts: list[Monomial | None]) -> bool:
    """Whether an operand is a root of a factor, or its modulus."""
    powers = [m.powers for m in parts if m is not None]
    return operation.target is np.cbrt or any(0 < p.get(base, 1) < 1 for p in powers) or all(base not in p for p in powers)


def _of_root_of_squares(operation: Operation, root: Operation, base: str, whole: Monomial) -> Operation:
    """The power of a distance of two numbers, or the square of a standard deviation."""
    factor = constant(whole_number(whole.factor))
    if root.target is np.std:
        keywords = {k: clone(v) for k, v in root.keywords.items()}
        if factor.value == 1:
            return in_place_of(operation, np.var, [*map(clone, root.operands)], keywords)
        return in_place_of(operation, monomials.scaled_variance, [clone(root.operands[0]), factor], keywords)
    operands = [*map(clone, root.operands), name(base), factor, constant(whole_number(whole.powers[base]))]
    return in_place_of(operation, monomials.power_of_distance, operands, {})


def _of_powers(operation: Operation, whole: Monomial, bases: list[str]) -> Operation:
    """A product of powers of one variable or two."""
    numbers = [constant(whole_number(v)) for v in (whole.factor, *(whole.powers[b] for b in bases))]
    if len(bases) == 2:
        return in_place_of(operation, monomials.product_of_powers, [*map(name, bases), *numbers], {})
    if numbers[0].value == numbers[1].value == 1:
        return in_place_of(operation, np.positive, [name(bases[0])], {})
    return in_place_of(operation, monomials.monomial, [name(bases[0]), *numbers], {})


def in_place_of(
    operation: Operation, function: Callable, operands: list[gast.AST], keywords: dict[str, gast.AST]
) -> Operation:
    node = gast.Call(name(function.__name__), operands, [gast.keyword(k, v) for k, v in keywords.items()])
    return Operation("rule", placed(operation.node, node), operands, keywords, lookup(function), function)
