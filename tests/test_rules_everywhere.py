"""Rules of the user's in every kind of derivative: right, or an error that says why; at first and second order.

Each program calls functions with rules in a way of its own; each operator gives what differences give.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from s2sgrad import (
    GradientTape,
    S2SGradError,
    checkpoint,
    checkpointed,
    constant,
    custom_gradient,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    nondifferentiable,
    primitive,
    stop_gradient,
    vjp,
)

X = np.array([0.7, 1.3, 0.9])

# --- functions with rules ----------------------------------------------------------------------------------------------


@custom_gradient
def scaled(a):
    s = np.sum(a * a)

    def back(g):
        return g * s + 2.0 * a * np.sum(g * a)

    return a * s, back


@custom_gradient
def product_and_sum(a, b):
    return (a * b, a + b), lambda g, h: (g * b + h, g * a + h)


@custom_gradient
def doubled_head(a):
    y = a.copy()
    y[0] *= 2.0
    y[1:] *= y[0]

    def back(g):
        out = np.empty_like(a)
        out[0] = 2.0 * g[0] + 2.0 * np.sum(g[1:] * a[1:])
        out[1:] = g[1:] * 2.0 * a[0]
        return out

    return y, back


@custom_gradient
def product_with(m, b):
    return m @ b, lambda g: (np.outer(g, b), m.T @ g)


@custom_gradient
def by_branches(a, *, weight):
    if a[0] > 0.0:
        return weight * a * a, lambda g: 2.0 * weight * g * a
    return a, lambda g: g


@primitive
def cube(a):
    return np.asarray(a) ** 3


cube.defvjp(lambda g, y, a: 3.0 * g * a**2)


@custom_gradient
def scaled_cube(a):
    return scaled(cube(a)), lambda g: 3.0 * a**2 * (g * np.sum(cube(a) ** 2) + 2.0 * cube(a) * np.sum(g * cube(a)))


@primitive(elementwise=True)
def square_times(a, b):
    return np.multiply(a, a) * b


square_times.defvjp(lambda g, y, a, b: 2.0 * g * a * b, lambda g, y, a, b: g * a * a)


@primitive
def weighed(d):
    return d["a"].sum() * d["b"]


weighed.defvjp(lambda g, y, d: {"a": np.full_like(d["a"], g * d["b"]), "b": g * d["a"].sum()})


@primitive
def sine(a):
    return np.sin(a)


sine.defvjp(lambda g, y, a: g * np.cos(a))
sine.defjvp(lambda t, y, a: t * np.cos(a))


@primitive
def unread(a):
    return np.array(eval("a * a * a"))


unread.defvjp(lambda g, y, a: 3.0 * g * a * a)


@nondifferentiable
def rounded(a):
    return np.round(10.0 * a) / 10.0


class Layer:
    def __init__(self, w):
        self.w = w

    @primitive
    def applied(self, a):
        return a * self.w

    applied.defvjp(lambda g, y, self, a: g * self.w, argnums="a")


layer = Layer(2.5)


@checkpoint
def step(a):
    return cube(a) * 0.5 + sine(a)


# --- programs ----------------------------------------------------------------------------------------------------------


def of_a_closure(x):
    return np.sum(scaled(x) * x)


def of_two_results(x):
    u, v = product_and_sum(x, x[::-1])
    return np.sum(u * v)


def of_one_of_two_results(x):
    u, _ = product_and_sum(x, x * x)
    return np.sum(u)


def of_a_kept_pair(x):
    t = product_and_sum(x, x * x)
    return np.sum(t[0]) * np.sum(t[1])


def of_a_partial(x):
    return np.sum(functools.partial(product_and_sum, x)(x * x)[0])


def of_a_table(x):
    return np.sum(cube(np.outer(x, x)))


def that_broadcasts(x):
    return np.sum(square_times(np.outer(x, x), x) * square_times(x[0], 2.0))


def of_a_dict(x):
    return weighed({"a": x * x, "b": x[0]})


def of_both_modes(x):
    return np.sum(sine(x) * sine(x * x))


def without_text(x):
    return np.sum(unread(x) * x)


def in_a_loop(x):
    total = 0.0
    for _ in range(3):
        x = cube(x) * 0.5 + scaled(x) * 0.1
        total += np.sum(x)
    return total


def of_a_method(x):
    return np.sum(layer.applied(x) ** 2)


def that_writes_inside(x):
    return np.sum(doubled_head(x) ** 2)


def nested(x):
    return np.sum(scaled_cube(x))


def of_two_arrays(x):
    return np.sum(product_with(np.outer(x, x), x) ** 2)


def stored(x):
    y = np.zeros(3)
    y[1:] = cube(x[1:])
    y[0] = np.sum(scaled(y))
    y *= sine(y)
    return np.sum(y)


def under_checkpoint(x):
    return np.sum(step(x) * step(x * x))


def in_a_checkpointed_loop(x):
    for _ in checkpointed(range(6), slots=2):
        x = cube(x) * 0.3 + sine(x) * 0.5
    return np.sum(x)


def item_by_item(x):
    return sum([cube(v) * v for v in x])


def under_a_mask(x):
    return np.sum(np.where(x > 0.8, cube(np.log(x)), 0.0))


def in_a_part(x):
    return np.sum(cube(np.log(x)), where=x > 0.8)


def of_a_rule_of_another_form(x):
    return np.sum(by_branches(x, weight=2.0) * x)


def of_numbers(x):
    return cube(x[0]) * sine(x[1]) * square_times(x[2], x[0])


def through_a_pullback(x):
    y, pullback = vjp(in_a_loop, x)
    return y * np.sum(pullback(1.0)[0])


def chosen_by_a_branch(x):
    f = cube if x[0] > 0.0 else sine
    return np.sum(f(x) * x)


PROGRAMS = [
    of_a_closure, of_two_results, of_one_of_two_results, of_a_kept_pair, of_a_partial, of_a_table, that_broadcasts,
    of_a_dict, of_both_modes, without_text, in_a_loop, of_a_method, that_writes_inside, nested, of_two_arrays, stored,
    under_checkpoint, in_a_checkpointed_loop, item_by_item, under_a_mask, in_a_part, of_numbers, through_a_pullback,
    chosen_by_a_branch, of_a_rule_of_another_form,
]  # fmt: skip


def on_tape(f, x):
    with GradientTape() as tape:
        v = constant(x)
        tape.watch(v)
        y = f(v)
    return tape.gradient(y, v).numpy()


FIRST = {
    "grad": lambda f, x: grad(f)(x),
    "vjp, called again": lambda f, x: again(vjp(f, x)[1]),
    "jvp": lambda f, x: np.array([jvp(f, (x,), (u,))[1] for u in np.eye(3)]),
    "linearize": lambda f, x: np.array([linearize(f, x)[1](u) for u in np.eye(3)]),
    "jacobian": lambda f, x: jacobian(f)(x),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "jacrev": lambda f, x: jacrev(f)(x),
    "tape": on_tape,
}
SECOND = {
    "hessian": lambda f, x: hessian(f)(x),
    "jacobian": lambda f, x: jacobian(grad(f))(x),
    "jacrev": lambda f, x: jacrev(grad(f))(x),
    "hvp": lambda f, x: np.array([hvp(f, (x,), (u,)) for u in np.eye(3)]),
    "grad of grad": lambda f, x: np.array([grad(weighing(f, u))(x) for u in np.eye(3)]),
}
REFUSED = {"tape": {stored, that_writes_inside}}  # a tape knows no stores


# The second is that of a pullback, or of a text of another form (docs/your-own-rules.md).
ONCE = {through_a_pullback, of_a_rule_of_another_form}


def again(pullback):
    pullback(1.0)
    return pullback(1.0)[0]


def weighing(f, u):
    gradient = grad(f)
    return lambda x: np.sum(gradient(x) * u)


def by_differences(f, x, step_=1e-6):
    return np.array([(np.asarray(f(x + step_ * u)) - np.asarray(f(x - step_ * u))) / (2.0 * step_) for u in np.eye(3)])


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_first_order(program):
    expected = by_differences(program, X)
    for name, way in FIRST.items():
        judge(program, name, way, expected, 1e-6)


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p not in ONCE], ids=lambda f: f.__name__)
def test_second_order(program):
    expected = by_differences(grad(program), X)
    for name, way in SECOND.items():
        judge(program, name, way, expected, 1e-5)


def judge(program, name, way, expected, rtol):
    if program in REFUSED.get(name, ()):
        with pytest.raises((S2SGradError, TypeError)):
            way(program, X)
        return
    np.testing.assert_allclose(way(program, X), expected, rtol=rtol, atol=rtol, err_msg=name)


def test_constants_among_them():
    """What is flat has no share in any derivative."""

    def f(x):
        return np.sum(rounded(x) * x * x) + np.sum(stop_gradient(cube(x)) * x)

    for name, way in FIRST.items():
        np.testing.assert_allclose(way(f, X), 2.0 * rounded(X) * X + X**3, rtol=1e-12, err_msg=name)
    for name, way in SECOND.items():
        np.testing.assert_allclose(way(f, X), np.diag(2.0 * rounded(X)), rtol=1e-12, atol=1e-12, err_msg=name)


def test_a_pullback_keeps_no_memory_of_the_primals():
    """That of the user's closes over what it was given."""
    for way in (vjp, linearize):
        for f in (scaled, lambda x: scaled(x) * x):
            x = X.copy()
            _, map_ = way(f, x)
            expected = map_(np.ones(3))
            x[:] = 9.0
            np.testing.assert_array_equal(map_(np.ones(3)), expected)


def test_a_pullback_is_differentiated_in_its_cotangent():
    """It is linear: its derivative is its transpose."""
    for f in (of_a_closure, in_a_loop, stored, nested, lambda x: np.sum(np.sin(x) * x)):
        _, pullback = vjp(f, X)
        value, transpose = vjp(pullback, 1.0)
        np.testing.assert_allclose(value[0], grad(f)(X))
        for u in np.eye(3):
            np.testing.assert_allclose(transpose((u,))[0], grad(f)(X) @ u)
        assert np.allclose(grad(lambda g, p: np.sum(p(g)[0] ** 2))(2.0, pullback), 4.0 * np.sum(value[0] ** 2))
        y, y_dot = jvp(lambda g, p: p(g)[0], (2.0, pullback), (3.0, None))
        np.testing.assert_allclose((y, y_dot), (2.0 * value[0], 3.0 * value[0]))


def test_a_pullback_without_text_is_refused():
    odd = custom_gradient(lambda a: (a * a, eval("lambda g: 2.0 * g * a", {"a": a})))
    for way in ("jvp", "linearize"):
        with pytest.raises(S2SGradError, match="keeps no source"):
            FIRST[way](lambda x: np.sum(odd(x) * x), X)
    np.testing.assert_allclose(grad(lambda x: np.sum(odd(x)))(X), 2.0 * X)
