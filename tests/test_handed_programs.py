"""Functions that are handed to derivative rules: the right gradient in every mode, or a refusal that says what is lost.

`S2SGRAD_HANDED` says how many programs of `handed_programs` are judged.
"""

from __future__ import annotations

import functools
import os

import numpy as np
import pytest
from handed_programs import CALLS, COUNT, GIVEN, HELD, KINDS, RULES, UNSURE, VALUES, WAYS, calling_program, handed_program
from judging import loaded
from scipy import optimize

from s2sgrad import (
    GradientTape,
    S2SGradError,
    constant,
    custom_gradient,
    custom_jvp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    nondifferentiable,
    primitive,
    stop_gradient,
    value_and_grad,
    vjp,
)
from s2sgrad.compat.autograd.misc.fixed_points import fixed_point
from s2sgrad.compat.autograd.scipy.integrate import odeint
from s2sgrad.runtime.checks import Refusal

PROGRAMS = int(os.environ.get("S2SGRAD_HANDED", "24"))
POINT = (1.3, 0.8)
REFUSED = (S2SGradError, Refusal)
FIRST = {
    "grad": lambda f: grad(f, (0, 1))(*POINT),
    "jvp": lambda f: [jvp(f, POINT, t)[1] for t in ((1.0, 0.0), (0.0, 1.0))],
    "vjp": lambda f: vjp(f, *POINT)[1](1.0),
    "jacobian": lambda f: jacobian(f, (0, 1))(*POINT),
    "jacfwd": lambda f: jacfwd(lambda x: f(x[0], x[1]))(np.array(POINT)),
}
SECOND = {
    "hessian": lambda f: hessian(lambda x: f(x[0], x[1]))(np.array(POINT)),
    "grad of grad": lambda f: [grad(grad(f, k), (0, 1))(*POINT) for k in (0, 1)],
    "grad of jvp": lambda f: [
        grad(lambda k, s: jvp(f, (k, s), (1.0, 0.0))[1], (0, 1))(*POINT),
        grad(lambda k, s: jvp(f, (k, s), (0.0, 1.0))[1], (0, 1))(*POINT),
    ],
}


def slopes(f, step=1e-5):
    """The gradient at the point, by central differences."""
    x = np.array(POINT)
    return np.array([(f(*(x + step * e)) - f(*(x - step * e))) / (2 * step) for e in np.eye(2)])


def curvatures(f):
    """The second derivatives at the point."""
    return (
        np.array(
            [
                [
                    slopes(lambda *x, e=e: f(*(np.array(x) + 1e-4 * e)), 1e-4)
                    - slopes(lambda *x, e=e: f(*(np.array(x) - 1e-4 * e)), 1e-4)
                ]
                for e in np.eye(2)
            ]
        )[:, 0]
        / 2e-4
    )


def outcome(derivative, f, wanted, name):
    """ "right", or why it is refused; the test fails where the number is wrong."""
    try:
        found = np.array(derivative(f))
    except REFUSED as error:
        return str(error)
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-5), f"{name}: {found} for {wanted}"
    return "right"


@pytest.mark.dear
@pytest.mark.sampled(one_in=6, by="number")
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_right_or_refused(number):
    program = handed_program(number)
    with loaded(program.source, f"<handed {number}>") as f:
        first = slopes(f)
        found = {name: outcome(FIRST[name], f, first, name) for name in ("grad", "jvp")}
        more = [*FIRST, *SECOND][2:][number % (len(FIRST) + len(SECOND) - 2)]  # one of the others for each program
        derivative, wanted = (FIRST[more], first) if more in FIRST else (SECOND[more], curvatures(f))
        outcome(derivative, f, wanted, more)
        if UNSURE.intersection(program):
            return
        if program.rule in GIVEN or program.held in ("constant", "outside"):
            assert set(found.values()) == {"right"}, found
            assert value_and_grad(f)(*POINT)[0] == f(*POINT)
        else:
            assert "right" not in found.values(), found


@pytest.mark.dear
@pytest.mark.sampled(one_in=12)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("call", [call.strip() for line in CALLS.strip().split("\n") for call in line.split("|")])
def test_functions_of_libraries_that_take_functions(call, value):
    with loaded(calling_program(value, call), f"<calling {value} {call}>") as f:
        first = slopes(f)
        for name in ("grad", "jvp"):
            outcome(FIRST[name], f, first, name)


def test_programs_are_all_there():
    tried = {handed_program(k)[1:] for k in range(COUNT)}
    assert len(tried) == COUNT
    assert {part for program in tried for part in program} == {*KINDS, *WAYS, *RULES, *HELD}


# --- what the error says, and what is no error ---------------------------------------------------------------------------


@custom_gradient
def midpoint(rate, state):
    return state + 0.1 * rate(state), lambda g: (None, g)


@primitive
def opaque(rate, state):
    return state + 0.1 * rate(state)


opaque.defvjp(None, lambda g, y, rate, state: g)


@custom_jvp
def along(rate, state):
    return state + 0.1 * rate(state)


@along.defjvp
def along_jvp(primals, tangents):
    return along(*primals), tangents[1]


along.defvjp(None, lambda g, y, rate, state: g)
EVERY = pytest.mark.parametrize("rule", [midpoint, opaque, along], ids=lambda rule: rule.__name__)
CONSTANT = 0.7


def differentiated(f, x):
    yield lambda: grad(f)(x)
    yield lambda: jvp(f, (x,), (1.0,))
    yield lambda: hessian(f)(x)
    yield lambda: hvp(f, (x,), (1.0,))
    yield lambda: vjp(f, x)[1](1.0)
    yield lambda: jacfwd(f)(x)
    yield lambda: jacrev(f)(x)


@EVERY
def test_the_error_names_what_the_function_closes_over(rule):
    def drive(k):
        w, c = k * k, 2.0

        def rate(state):
            return -w * state * c

        return rule(rate, 2.0)

    for derivative in differentiated(drive, 1.5):
        with pytest.raises(REFUSED, match=r"gradient of `w`, which its argument `rate` closes over .* pass it as an"):
            derivative()


class Law:
    def __init__(self, k):
        self.k = k

    def __call__(self, state):
        return self.k * state

    def at(self, state):
        return self.k * state

    def drive(self, state):
        return midpoint(self.at, state)


@custom_gradient
def midpoint(rate, state):
    return state + 0.1 * rate(state), lambda g: (None, g)


def _of_a_class_made_here(k):
    class Own:
        def __call__(self, state):
            return k * state

    return midpoint(Own(), 2.0)


class Decay(Law):
    def __call__(self, y, t):
        return -self.k * y


HOLDERS = {
    "an object made here": lambda k: midpoint(Law(k), 2.0),
    "beside a state that is differentiated": lambda k: midpoint(Law(k), 2.0 * k),
    "an object in a list": lambda k: midpoint([Law(k)][0], 2.0),
    "its method": lambda k: midpoint(Law(k).at, 2.0),
    "a partial of its method": lambda k: midpoint(functools.partial(Law(k).at), 2.0),
    "a method of its own": lambda k: Law(k).drive(2.0),
    "an object of a class made here": _of_a_class_made_here,
}


@pytest.mark.records
@pytest.mark.parametrize("f", HOLDERS.values(), ids=HOLDERS)
def test_the_error_names_what_an_object_holds(f):
    for derivative in differentiated(f, 1.5):
        with pytest.raises(
            REFUSED, match=r"gradient of `k`, which its argument `rate` closes over .* pass it as an"
        ) as caught:
            derivative()
        assert caught.value.place is not None and "midpoint(" in caught.value.place.text


@pytest.mark.records
def test_the_error_names_what_is_handed_to_a_library_beside_another_function():
    def smallest(k):
        law = Decay(k)
        return optimize.minimize(lambda x: np.sum((x - law.k) ** 2), [0.3], jac=lambda x: 2.0 * (x - law.k)).x[0]

    for derivative in differentiated(smallest, 1.5):
        with pytest.raises(REFUSED, match=r"gradient of `k`, which its argument `fun` closes over .* pass it as an"):
            derivative()


@EVERY
def test_an_object_that_is_called(rule):
    """One that is an argument holds what is differentiated; one of the module is a constant."""
    law = Law(2.0)
    assert np.isclose(grad(lambda s: rule(LAW, s) * s)(1.5), 2.0 * 1.5 + 0.1 * 2.0 * 1.5)

    def of(law):
        return rule(law, 2.0)

    for derivative in (lambda: grad(of)(law), lambda: jvp(of, (law,), (law,))):
        with pytest.raises(REFUSED, match="gradient of `k`"):
            derivative()


LAW = Law(2.0)


@EVERY
def test_an_object_that_is_made_here_is_refused(rule):
    with pytest.raises(REFUSED, match="cannot be followed"):
        grad(lambda k: rule(Law(k), 2.0))(1.5)
    with pytest.raises(REFUSED):
        grad(lambda k: rule(Law(k).at, 2.0))(1.5)


@EVERY
def test_what_is_no_error(rule):
    def constant_capture(s):
        w = 3.0 * CONSTANT
        return rule(lambda t: w * t, s)

    def stopped(k):
        return rule(stop_gradient(lambda t: k * t), k)

    def another_of_the_list(k):
        w = 3.0
        rates = [lambda t: w * t, lambda t: k * t]
        return rule(rates[0], k) + rates[1](2.0)

    def that_holds_functions(s):
        inner = np.tanh
        return rule(lambda t: inner(t), s)

    for f, slope in ((constant_capture, 1.0), (stopped, 1.0), (another_of_the_list, 3.0), (that_holds_functions, 1.0)):
        assert grad(f)(1.5) == jvp(f, (1.5,), (1.0,))[1] == slope, f.__name__


def test_what_counts_as_a_constant_is_none():
    @nondifferentiable
    def value(rate, state):
        return rate(state)

    assert grad(lambda k: k * value(lambda t: k * t, 2.0))(1.5) == 3.0


def test_a_zero_tangent_of_what_a_function_closes_over_is_no_error():
    def f(k, s):
        return opaque(lambda t: k * t, s)

    assert jvp(f, (1.5, 2.0), (None, 1.0))[1] == 1.0
    assert grad(f, "s")(1.5, 2.0) == 1.0


def test_a_rule_gives_a_gradient_for_what_a_function_closes_over():
    @custom_gradient
    def squared(rate, state):
        y, pull = vjp(lambda rate, state: rate(state) ** 2, rate, state)
        return y, lambda g: pull(g)

    def f(k):
        w = np.array([k, k * k])

        def inner(t):
            return w * t

        return np.sum(squared(lambda t: inner(t) + k, 2.0 * k))

    wanted = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    assert np.isclose(grad(f)(1.3), wanted)
    assert np.isclose(jvp(f, (1.3,), (1.0,))[1], wanted)
    assert np.isclose(jacfwd(f)(1.3), wanted)
    assert np.isclose(grad(grad(f))(1.3), (grad(f)(1.3 + 1e-5) - grad(f)(1.3 - 1e-5)) / 2e-5)


def test_a_rule_gives_a_gradient_of_another_structure():
    @custom_gradient
    def wrong(rate, state):
        return rate(state), lambda g: ((g, g), g)

    with pytest.raises(ValueError, match="returned a tuple for the argument `rate`"):
        grad(lambda k: wrong(lambda t: k * t, 2.0))(1.5)


def test_a_rule_is_called_by_keywords():
    @custom_gradient
    def shifted(x, by=2.0, scale=3.0):
        return (x + by) * scale, lambda g: (g * scale, g * scale, g * (x + by))

    for f in (lambda x: shifted(scale=x, x=2.0), lambda x: shifted(x, scale=x * x), lambda x: shifted(scale=x, by=x, x=x)):
        wanted = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
        assert np.isclose(grad(f)(1.3), wanted)
        assert np.isclose(jvp(f, (1.3,), (1.0,))[1], wanted)


@primitive
def with_options(x, options):
    return x + options["rate"](0.5) * options["w"]


with_options.defvjp(lambda g, y, x, options: g,
                    lambda g, y, x, options: {"rate": None, "w": g * options["rate"](0.5)})  # fmt: skip


@primitive
def by_name_alone(x, *, rate, w=1.0):
    return x * w + rate(0.5)


by_name_alone.defvjp(lambda g, y, x, rate, w: g * w, None, lambda g, y, x, rate, w: g * x)


def test_a_rule_that_gives_a_gradient_for_a_part_of_its_argument():
    def of_parts(k):
        return with_options(k, {"rate": np.sin, "w": k})

    assert grad(of_parts)(1.3) == jvp(of_parts, (1.3,), (1.0,))[1] == 1.0 + np.sin(0.5)
    for derivative in differentiated(lambda k: with_options(k, {"rate": lambda t: k * t, "w": k}), 1.3):
        with pytest.raises(REFUSED, match="cannot be followed"):
            derivative()


def test_functions_that_are_given_by_name_alone():
    def of_a_constant(k):
        return by_name_alone(k, w=k, rate=lambda t: 2.0 * t)

    assert grad(of_a_constant)(1.3) == jvp(of_a_constant, (1.3,), (1.0,))[1] == 2.6
    for derivative in differentiated(lambda k: by_name_alone(k, rate=lambda t: k * t), 1.3):
        with pytest.raises(REFUSED, match="gradient of `k`"):
            derivative()


TIMES = np.linspace(0.0, 1.0, 4)


@pytest.mark.parametrize("f", [
    lambda k: np.sum(odeint(lambda y, t: -k * y, np.array([2.0]), TIMES)),
    lambda k: np.sum(odeint(lambda y, t, b: -np.array([k, b]) * y * k, np.array([2.0, k]), TIMES, (k,))),
    lambda k: fixed_point(lambda a: lambda x: 0.5 * (x + a / x), k, 1.0, lambda x, y: abs(x - y), 1e-12),
    lambda k: fixed_point(lambda a: lambda x: 0.5 * (x + k * a / x), 1.0, 1.0, lambda x, y: abs(x - y), 1e-12),
])  # fmt: skip
def test_what_is_ported_gives_one(f):
    wanted = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
    assert np.isclose(grad(f)(1.3), wanted, rtol=1e-5)
    assert np.isclose(vjp(f, 1.3)[1](1.0)[0], wanted, rtol=1e-5)


@pytest.mark.parametrize("f", [
    lambda k: np.sum(odeint(lambda y, t: -k * y, np.array([2.0]), TIMES)),
    lambda k: np.sum(odeint(functools.partial(lambda a, y, t: -a * y, k), np.array([2.0]), TIMES)),
    pytest.param(lambda k: np.sum(odeint(Decay(k).__call__, np.array([2.0]), TIMES)), marks=pytest.mark.records),
    pytest.param(lambda k: np.sum(odeint(Decay(k), np.array([2.0]), TIMES)), marks=pytest.mark.records),
], ids=["lambda", "partial", "method", "object"])  # fmt: skip
def test_the_ported_equation_gives_what_its_function_closes_over_in_both_modes(f):
    wanted = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
    for derivative in (grad(f), jacfwd(f), jacrev(f), lambda k: jvp(f, (k,), (1.0,))[1]):
        assert np.isclose(derivative(1.3), wanted, rtol=1e-5)


def by_a_default(k):
    return lambda t, k=k: k * t


@EVERY
@pytest.mark.parametrize("hold", [
    lambda k: lambda t: k * t, lambda k: lambda t: by_a_default(k)(t), by_a_default, lambda k: Law(k), lambda k: Law(k).at,
    lambda k: functools.partial(np.multiply, k), lambda k: functools.partial(lambda t, w: w * t, w=k),
])  # fmt: skip
def test_on_a_tape(rule, hold):
    k, s = constant(1.5), constant(2.0)
    with GradientTape() as tape:
        tape.watch([k, s])
        with pytest.raises(TypeError, match="an Array that a tape follows, and its rule gives no gradient"):
            rule(hold(k), s)
        y = rule(hold(0.7), s)
    assert tape.gradient(y, s).item() == 1.0
