"""A text that is refused as it runs: every derivative begins again, recorded, where a second run does the same."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, linearize, value_and_grad, value_and_jacobian, vjp
from s2sgrad.errors import Refused

X = np.array([1.0, 2.0, 0.5])
RUNS = []


def grows(x):
    y = np.sin(x)
    if y[0] > 0.1:
        todo = [y[0], y[1]]
        total = 0.0
        for v in todo:
            total = total + v * v
            if len(todo) < 5:
                todo.append(v * 0.5)
        return total
    return np.sum(y)


def vector(x):
    return np.array([grows(x), x[0] * x[1]])


def leaves_traces(x):
    RUNS.append(1)
    return grows(x)


def slopes(f, x, h=1e-6):
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))], axis=-1)


def second(x):
    return slopes(lambda x: slopes(grows, x, 1e-5), x, 1e-4)


DERIVATIVES = {
    "grad": lambda: (grad(grows)(X), slopes(grows, X)),
    "value_and_grad": lambda: (value_and_grad(grows)(X)[1], slopes(grows, X)),
    "jvp": lambda: (jvp(grows, (X,), (X,))[1], slopes(grows, X) @ X),
    "vjp": lambda: (vjp(grows, X)[1](1.0)[0], slopes(grows, X)),
    "vjp, has_aux": lambda: (vjp(lambda x: (vector(x), 1), X, has_aux=True)[1](X[:2])[0], X[:2] @ slopes(vector, X)),
    "linearize": lambda: (linearize(vector, X)[1](X), slopes(vector, X) @ X),
    "jacobian": lambda: (jacobian(vector)(X), slopes(vector, X)),
    "jacrev": lambda: (jacrev(vector)(X), slopes(vector, X)),
    "jacfwd": lambda: (jacfwd(vector)(X), slopes(vector, X)),
    "value_and_jacobian": lambda: (value_and_jacobian(grows)(X)[1], slopes(grows, X)),
    "hessian": lambda: (hessian(grows)(X), second(X)),
    "hvp": lambda: (hvp(grows, (X,), (X,)), second(X) @ X),
    "vjp of grad": lambda: (vjp(grad(grows), X)[1](X)[0], second(X) @ X),
    "jacobian of grad": lambda: (jacobian(grad(grows))(X), second(X)),
    "by keyword": lambda: (jacrev(lambda x, k: k * vector(x))(X, k=2.0), 2.0 * slopes(vector, X)),
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_each_derivative(name):
    found, expected = DERIVATIVES[name]()
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_pullback_is_called_again():
    value, pullback = vjp(vector, X)
    assert np.array_equal(value, vector(X))
    for seed in np.eye(2):
        assert np.allclose(pullback(seed)[0], seed @ slopes(vector, X), atol=1e-7)


@pytest.mark.parametrize("derivative", [lambda f: grad(f)(X), lambda f: vjp(f, X), lambda f: jacrev(f)(X)])
def test_not_where_a_second_run_is_seen(derivative):
    RUNS.clear()
    with pytest.raises(Refused, match="a loop runs over changes") as error:
        derivative(leaves_traces)
    assert error.value.place.line == 23
    assert len(RUNS) == 1


class Counter:
    def __init__(self):
        self.calls = 0


def writes_its_arguments(x, rows, n):
    x[0] = 2.0 * x[1]
    rows.append(x * x[2])
    return grows(x) + np.sum(rows[n])


def counts_its_calls(counter, x):
    counter.calls += 1
    return grows(x) * counter.calls


@pytest.mark.parametrize("way", ["grad", "by keyword", "jvp"])
def test_what_a_text_got_copies_of_may_be_written(way):
    x, rows = X.copy(), [X * 2.0]
    expected = slopes(lambda x: writes_its_arguments(x.copy(), [*rows], 1), X)
    if way == "jvp":
        found, expected = jvp(writes_its_arguments, (x, rows, 1), (X, None, None))[1], expected @ X
    else:
        found = (
            grad(writes_its_arguments)(x, rows, 1)
            if way == "grad"
            else grad(writes_its_arguments)(x, n=1, rows=rows, seed=1.0)
        )
    assert np.allclose(found, expected, atol=1e-7)
    assert np.array_equal(x, X) and len(rows) == 1


def test_an_object_of_the_callers_is_written_once():
    counter = Counter()
    with pytest.raises(Refused, match="a loop runs over changes"):
        grad(counts_its_calls, 1)(counter, X)
    assert counter.calls == 1


GENERATOR = np.random.default_rng(0)


def divided(x):
    if x[0] > 0.1:
        try:
            x = x * 2.0 / (1 // len(x[3:]))
        except ZeroDivisionError:
            x = x * 3.0
    return np.sum(x * x)


def puts_rows_into_lists(x):
    rows = [x * 1.0]
    rows.append(rows[0] * x[1])
    rows[0][1] = x[2]
    return divided(rows[0]) + np.sum(rows[1]) + divided(x)


def draws(x):
    return GENERATOR.normal() * 0.0 + divided(x)


def takes_an_item(x, items):
    return next(items) * divided(x)


def calls_what_it_is_given(x, count):
    return count() * divided(x)


def test_a_branch_behind_what_only_computes():
    found, expected = grad(puts_rows_into_lists)(X), slopes(lambda x: puts_rows_into_lists(x.copy()), X)
    assert np.allclose(found, expected, atol=1e-5)


def test_a_branch_behind_what_happens_once():
    """Drawn, taken or counted once, whether the derivative is refused or recorded from the beginning."""
    state = GENERATOR.bit_generator.state["state"]["state"]
    items, calls = iter([1.0, 2.0]), []
    for function, given in (
        (draws, ()),
        (takes_an_item, (items,)),
        (calls_what_it_is_given, (lambda: calls.append(1) or 1.0,)),
    ):
        try:
            found = grad(function)(X, *given)
        except Refused:
            continue
        assert np.allclose(found, slopes(divided, X), atol=1e-5)
    assert next(items) == 2.0 and calls == [1]
    again = np.random.default_rng(0)
    assert again.bit_generator.state["state"]["state"] == state
    again.normal()
    assert again.bit_generator.state == GENERATOR.bit_generator.state
