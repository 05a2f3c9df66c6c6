"""Forward mode: the whole corpus, all kernels and random programs against differences and against reverse mode."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import itertools

import numpy as np
import pytest
from corpus import CASES
from differences import STEP, assert_value, inner, leaves
from judging import Rejected, assert_tangent, check, explained
from kernels import KERNELS
from programs import program_from_seed

from s2sgrad import Unsupported, grad, hvp, jvp

SECOND = [entry for entry in CASES if entry.second is True]


@pytest.fixture(autouse=True)
def quiet():
    """What the programs print is not for us."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def tangent_like(x, rng):
    """A random tangent of an argument; None for what has no floats."""
    if isinstance(x, np.ndarray):
        return rng.standard_normal(x.shape).astype(x.dtype) if x.dtype.kind == "f" else np.zeros(x.shape)
    if isinstance(x, dict):
        return {k: tangent_like(v, rng) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        items = [tangent_like(item, rng) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return float(rng.standard_normal()) if isinstance(x, (float, np.floating)) else None


def moved(x, v, h):
    """An argument, so far along its tangent."""
    if v is None or (isinstance(x, np.ndarray) and x.dtype.kind != "f"):
        return x
    if isinstance(x, dict):
        return type(x)((k, moved(x[k], v[k], h)) for k in x)
    if isinstance(x, (tuple, list)):
        items = [moved(a, b, h) for a, b in zip(x, v, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return (x + h * v).astype(x.dtype) if isinstance(x, np.ndarray) else x + h * v


def tangents_for(args, numbers):
    rng = np.random.default_rng(3)
    return tuple(tangent_like(x, rng) if k in numbers else None for k, x in enumerate(args))


def flat(value):
    """All numbers of a result in a row."""
    return np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in leaves(value)] or [np.zeros(0)])


def paired(gradient, tangent) -> float:
    """The inner product of a gradient and a tangent, leaves without floats left out."""
    if isinstance(tangent, dict):
        return sum(paired(gradient[k], tangent[k]) for k in tangent)
    if isinstance(tangent, (tuple, list)):
        return sum(paired(g, t) for g, t in zip(gradient, tangent, strict=True))
    return 0.0 if tangent is None or gradient is None else inner(gradient, tangent)


@pytest.mark.sampled(one_in=96, turn=2)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_tangent_agrees_with_differences_and_with_the_gradient(entry):
    args, before = entry.fresh_args(), entry.fresh_args()
    along = tangents_for(args, entry.argnums)
    value, tangent = jvp(entry.function, args, along)
    for arg, old in zip(args, before, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(leaves(arg), leaves(old), strict=True))
    assert_value(value, entry.function(*entry.fresh_args()))
    gradient = grad(entry.function, entry.argnums)(*entry.fresh_args())
    expected = sum(paired(g, along[k]) for k, g in zip(entry.argnums, gradient, strict=True))
    np.testing.assert_allclose(np.sum(flat(tangent)), expected, rtol=1e-8, atol=1e-8)
    high, low = (
        flat(entry.function(*(moved(x, v, h) for x, v in zip(entry.fresh_args(), along, strict=True))))
        for h in (STEP, -STEP)
    )
    np.testing.assert_allclose(flat(tangent), (high - low) / (2.0 * STEP), rtol=1e-4, atol=1e-5)


REFUSED_AGAIN = {"partials_of_the_module"}  # the pullback of a function known at run time may hold what is then updated


@pytest.mark.sampled(one_in=200, turn=3)
@pytest.mark.parametrize("entry", SECOND, ids=lambda entry: entry.name)
def test_tangent_of_the_gradient_agrees_with_differences(entry):
    number = entry.argnums[0]
    args = entry.fresh_args()
    along = tangents_for(args, (number,))
    gradient = grad(entry.function, number)
    if entry.name in REFUSED_AGAIN:
        with pytest.raises(Unsupported, match="may share its memory"):
            jvp(gradient, args, along)
        return
    value, tangent = jvp(gradient, args, along)
    np.testing.assert_allclose(flat(value), flat(gradient(*entry.fresh_args())), rtol=1e-12, atol=1e-12)
    high, low = (
        flat(gradient(*(moved(x, v, h) for x, v in zip(entry.fresh_args(), along, strict=True)))) for h in (1e-5, -1e-5)
    )
    expected = (high - low) / 2e-5
    np.testing.assert_allclose(flat(tangent), expected, rtol=1e-4, atol=1e-4 * max(1.0, np.max(np.abs(expected), initial=0)))


@pytest.mark.sampled(one_in=8, turn=0)
@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.name)
def test_tangent_of_a_kernel(entry):
    args = entry.args()
    along = tangents_for(args, entry.places)
    value, tangent = jvp(entry.function, args, along, outputs=entry.outputs or None)
    assert_value(value, entry.result(*entry.args()))
    gradient = grad(entry.function, **entry.options)(*entry.args())
    expected = sum(paired(g, along[k]) for k, g in zip(entry.places, gradient, strict=True))
    np.testing.assert_allclose(np.sum(flat(tangent)), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.sampled(one_in=6, by="seed")
@pytest.mark.parametrize("seed", range(5000, 5040))
def test_tangent_of_a_random_program(seed):
    program = program_from_seed(seed)
    try:
        check(program, assert_tangent)
    except Rejected:
        pytest.skip("differences cannot judge it")
    except Exception as error:
        pytest.fail(explained(program, error, 0))


# --- orders, mixed ---------------------------------------------------------------------------------------------------


def bumpy(x):
    y = np.sin(x) * x**3
    for k in range(3):
        y = y * np.cos(0.3 * x) + 0.1 * k * x
    return y


def reverse(f):
    return grad(f)


def forward(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def mixes(*orders):
    return ["".join(m) for k in orders for m in itertools.product("fr", repeat=k)]


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("modes", mixes(2, 3))
def test_any_mix_of_modes(modes):
    agree(modes)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("modes", mixes(4))
def test_any_mix_of_four_modes(modes):
    agree(modes)


def agree(modes):
    """A derivative of any order, whichever modes it is made by, is the one by reverse mode alone."""
    f = plain = bumpy
    for mode in modes:
        f = {"f": forward, "r": reverse}[mode](f)
        plain = grad(plain)
    assert np.isclose(f(0.7), plain(0.7), rtol=1e-10)


def test_perturbations_are_not_confused():
    f = lambda x: x * jvp(lambda y: x + y, (1.0,), (1.0,))[1]  # noqa: E731
    assert jvp(f, (1.0,), (1.0,)) == (1.0, 1.0)
    assert grad(f)(1.0) == 1.0
    g = lambda x: x * jvp(lambda y: x * y * y, (x,), (2.0,))[1]  # noqa: E731
    assert np.isclose(grad(g)(1.5), 12.0 * 1.5**2)
    assert np.isclose(jvp(g, (1.5,), (1.0,))[1], 12.0 * 1.5**2)


def test_what_a_nested_function_closes_over():
    def f(x, w):
        value, dot = jvp(lambda t: np.sum(w * np.exp(t)), (x,), (x * x,))
        return value * dot

    x = np.array([0.3, 0.7, 1.1])
    by_differences = [(f(x, 2.0 + h) - f(x, 2.0 - h)) / (2.0 * h) for h in (1e-6,)]
    assert np.isclose(grad(f, 1)(x, 2.0), by_differences[0], rtol=1e-7)
    assert np.isclose(jvp(f, (x, 2.0), (None, 1.0))[1], by_differences[0], rtol=1e-7)
    assert np.allclose(hvp(lambda v: f(v, 2.0), (x,), (x,)), jvp(grad(f), (x, 2.0), (x, None))[1])


# --- what is given and returned --------------------------------------------------------------------------------------


def test_results_are_in_memory_of_their_own():
    x, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    spread = lambda x: np.broadcast_to(x, (2, 2))  # noqa: E731
    for f in (lambda x: x, lambda x: x + 2.0, lambda x: x[::-1], lambda x: [x, x], np.ravel, spread):
        _, tangent = jvp(f, (x,), (v,))
        assert not any(np.may_share_memory(leaf, v) for leaf in leaves(tangent))


def test_written_copies_have_tangents_of_their_own():
    def f(x):
        y = x + 1.0
        y[0] = 5.0
        z = y
        z[1] *= x[1]
        return y * x

    x, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    value, tangent = jvp(f, (x,), (v,))
    assert value.tolist() == [5.0, 12.0]
    assert v.tolist() == [3.0, 4.0] and x.tolist() == [1.0, 2.0]
    assert np.allclose(tangent, (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6)


def test_dtype_and_structure():
    x = np.ones(3, np.float32)
    value, tangent = jvp(lambda x: {"a": x * 2.0, "b": (np.sum(x), "text")}, (x,), (np.ones(3),))
    assert value["a"].dtype == tangent["a"].dtype == np.float32
    assert isinstance(tangent["b"], tuple) and tangent["b"][1] is None
    assert jvp(lambda x, n: x**n, (2.0, 3), (1.0, None)) == (8.0, 12.0)
    assert jvp(lambda *xs: sum(xs) * xs[0], (2.0, 3.0), (None, 1.0)) == (10.0, 2.0)
    assert jvp(lambda x: 3.0, (2.0,), (1.0,)) == (3.0, 0.0)
    assert jvp(lambda x, k: (x * k, k), (2.0, 3.0), (1.0, None), has_aux=True) == (6.0, 3.0, 3.0)


def test_methods_partials_and_keywords():
    class Model:
        def __init__(self, w):
            self.w = w

        def loss(self, x, *, scale=1.0):
            return self.w * x * x * scale

    assert jvp(Model(2.0).loss, (3.0,), (1.0,)) == (18.0, 12.0)
    assert jvp(Model(2.0).loss)((3.0,), (1.0,), scale=2.0) == (36.0, 24.0)
    assert jvp(functools.partial(Model(2.0).loss, scale=0.5), (3.0,), (1.0,)) == (9.0, 6.0)
    assert jvp(np.sin, (0.0,), (2.0,)) == (0.0, 2.0)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((lambda x: x, (1.0, 2.0), (1.0,)), TypeError, "a tangent for each primal"),
        ((lambda x: x, np.ones(2), (1.0,)), TypeError, "primals is a tuple"),
        ((lambda x: x, (np.ones(2),), (np.ones(3),)), ValueError, r"tangents\[0\], that of `x`, must have the shape of its"),
        ((lambda x: x, ({"a": 1.0},), ({"b": 1.0},)), ValueError, r"tangents\[0\], that of `x`, must have the structure"),
        ((lambda x: x, ({"a": [1.0]},), ({"a": [np.ones(2)]},)), ValueError, r"tangents\[0\]\['a'\]\[0\], that of `x`"),
        ((lambda x: x, (np.ones(2),), (np.array(["a", "b"]),)), TypeError, r"tangents\[0\], that of `x`, must be made of"),
        ((lambda n: 2.0 * n, (3,), (1.0,)), TypeError, "pass a float"),
        ((lambda x: x, (1.0,)), TypeError, "primals and tangents, or neither"),
        ((3.0, (1.0,), (1.0,)), TypeError, "needs a function"),
        ((lambda x: "text", (1.0,), (1.0,)), TypeError, "text"),
    ],
)
def test_bad_input_names_the_argument(given, error, words):
    with pytest.raises(error, match=words):
        jvp(*given)


def test_the_text():
    def heat(u, c, n):
        u = u.copy()
        for _ in range(n):
            u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return u

    text = jvp(heat).source_for(np.ones(8), 0.1, 3)
    assert (
        text.split("Generated by s2sgrad.")[1]
        == '''"""
    u = u.copy()
    u_dot = u_dot.copy()
    for _ in range(n):
        total = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u_dot[1:-1] += c_dot * total + c * (u_dot[2:] - 2.0 * u_dot[1:-1] + u_dot[:-2])
        u[1:-1] += c * total
    return u, u_dot
'''
    )


@pytest.mark.parametrize(
    "reduction",
    [np.max, lambda x: np.min(-x), np.median, lambda x: np.quantile(x, 0.75), lambda x: np.sort(x)[2], np.nanmax,
     lambda x: np.nanmedian(x), lambda x: np.max(x[:, None] * np.ones(2), axis=0)[0], lambda x: np.maximum.reduce(x),
     lambda x: np.maximum(x, 1.5)[0], lambda x: np.clip(x, 1.0, 9.0)[0], lambda x: np.where(x > 1, x, 1.0)[0]],
)  # fmt: skip
def test_what_is_passed_over_leaves_no_nan(reduction):
    """The slope of the root is infinite at 0, where the reduction does not look."""
    f = lambda x: reduction(np.sqrt(x))  # noqa: E731
    x, v = np.array([0.0, 4.0, 9.0, 1.0, 16.0]), np.ones(5)
    with np.errstate(all="ignore"):
        _, tangent = jvp(f, (x,), (v,))
        assert np.isclose(tangent, np.sum(grad(f)(x)))


def test_a_local_has_the_name_of_a_tangent():
    def helper(c, a_dot):
        c_dot = np.sin(c) * a_dot
        return c_dot * 2.0

    def f(x):
        x_dot = np.sin(x)
        return x_dot * helper(x, x * x)

    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], grad(f)(0.7))


@dataclasses.dataclass
class Spring:
    stiffness: float
    lengths: np.ndarray
    count: int = 3


def test_the_tangent_of_an_object():
    """It is an object of the class, as a gradient in it is, or a dict of the attributes that have one."""

    def energy(spring, x):
        return spring.stiffness * np.sum(spring.lengths * x) * spring.count

    spring, x = Spring(2.0, np.ones(2)), np.array([1.0, 2.0])
    gradient = grad(energy)(spring, x)
    for tangent, expected in (
        (gradient, 9.0 * 9.0 + 6.0 * 6.0 + 12.0 * 12.0),
        (Spring(1.0, np.zeros(2)), 9.0),
        ({"stiffness": 1.0}, 9.0),
    ):
        assert jvp(energy, (spring, x), (tangent, None)) == (18.0, expected)
    for tangent in (5.0, {"mass": 1.0}):
        with pytest.raises(ValueError, match=r"tangents\[0\], that of `spring`, must be a Spring, as its primal is"):
            jvp(energy, (spring, x), (tangent, None))
