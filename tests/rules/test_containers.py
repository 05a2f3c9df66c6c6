"""Rules over lists and tuples are shown with arrays in them, too: what is right for numbers need not be for those."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sgrad import grad, jvp
from s2sgrad.rules.table import lookup

from .examples import EXAMPLES, Example
from .test_laws import is_real, kinds, leaves, mapped, run


def containers(e: Example) -> set[int]:
    """The places of the arguments that are lists or tuples with numbers that carry a derivative, or arrays, in them."""
    return {k for k, a in enumerate(e.args) if isinstance(a, (list, tuple)) and any(map(is_real, leaves(a)))}


def holds_arrays(x: Any) -> bool:
    return any(np.ndim(leaf) > 0 for leaf in leaves(x))


def with_arrays(e: Example, place: int) -> Example:
    """The call with an array in the place of every number of one container."""
    grown = mapped(lambda a: np.array([a, a + 1.0]) if is_real(a) else a, e.args[place])
    return Example(e.primitive, (*e.args[:place], grown, *e.args[place + 1 :]), e.keywords)


def test_containers_are_exampled_with_arrays():
    """A rule over a list or a tuple has an example with arrays in it, or the primitive takes none there."""
    over = {(lookup(e.primitive), place) for e in EXAMPLES for place in containers(e)}
    shown = {(lookup(e.primitive), k) for e in EXAMPLES for k in containers(e) if holds_arrays(e.args[k])}
    missing = []
    for e in EXAMPLES:
        for place in containers(e):
            rule = lookup(e.primitive)
            if (rule, place) in shown:
                continue
            try:
                run(with_arrays(e, place))
            except (TypeError, ValueError):
                continue
            if rule.refusal(kinds(rule, with_arrays(e, place), True)) is None:
                missing.append((str(e), place))
    assert over and not missing


def quintic(x):
    return np.einsum("i,i,i,i,i->", x, x, x, x, x)


@pytest.mark.sampled(one_in=3)
@pytest.mark.dear
def test_derivatives_of_einsum_to_the_fourth():
    """The cotangents of its operands are a list or a tuple, as it comes: they are added as such."""
    x, f = np.array([0.5, 1.5]), quintic
    for order, factor in enumerate((5.0, 20.0, 60.0, 120.0)):
        f = grad(summed(f)) if order else grad(f)
        np.testing.assert_allclose(f(x), factor * x ** (4 - order))


def summed(f):
    def total(x):
        return np.sum(f(x))

    return total


class Weights(NamedTuple):
    first: float
    second: float


SEQUENCES = {
    "list": [1.0, 2.0],
    "tuple": (1.0, 2.0),
    "named tuple": Weights(1.0, 2.0),
    "rows": Weights((1.0, 2.0), (3.0, 4.0)),
}
OPERATIONS = {
    "@": lambda w, x: w @ x, "reflected @": lambda w, x: x @ w, "*": lambda w, x: w * x, "/": lambda w, x: x / w,
    "**": lambda w, x: x**w, "dot": lambda w, x: np.dot(w, x), "inner": lambda w, x: np.inner(w, x),
    "outer": lambda w, x: np.outer(w, x), "maximum": lambda w, x: np.maximum(w, x), "norm": lambda w, x: np.hypot(w, x),
}  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@pytest.mark.parametrize("weights", SEQUENCES.values(), ids=SEQUENCES)
def test_sequences_beside_arrays(weights, operation):
    """What NumPy makes an array of, as a constant from outside of the function."""
    x, h = np.array([1.5, 2.5]), 1e-6
    wanted = [(np.sum(operation(weights, x + d)) - np.sum(operation(weights, x - d))) / (2.0 * h) for d in h * np.eye(2)]
    np.testing.assert_allclose(grad(lambda x: np.sum(operation(weights, x)))(x), wanted, rtol=1e-6)
    np.testing.assert_allclose(jvp(lambda x: operation(weights, x), (x,), (x,))[1].sum(), np.dot(wanted, x), rtol=1e-6)
