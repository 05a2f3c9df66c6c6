"""check_grads finds what is wrong and accepts what is right."""

import re
from dataclasses import dataclass, field

import numpy as np
import pytest

from s2sgrad import custom_gradient, custom_jvp
from s2sgrad.testing import check_grads, comparisons, unchecked
from s2sgrad.testing.differences import careful, quick

VECTOR = np.array([0.5, -1.5, 2.0])


def energy(x, k):
    return 0.5 * k * np.sum(x**2)


def nested(parameters, x):
    hidden = np.tanh(x @ parameters["w"] + parameters["pair"][0])
    return {"loss": np.sum(hidden * parameters["pair"][1]), "hidden": hidden}


def rounded(x):
    return np.sum(np.floor(x) * x)


def powers(x, n):
    return x**n, n


halved = custom_gradient(lambda x: (x * x, lambda g: g * x))


def shifts(first, *rest):
    return first * rest[0] + rest[1]


def test_right_to_second_order():
    check_grads(energy, (VECTOR, 3.0), order=2)


def test_third_order():
    check_grads(lambda x: np.sum(np.sin(x)), (VECTOR,), order=3)


def test_containers():
    rng = np.random.default_rng(0)
    parameters = {"w": rng.standard_normal((4, 3)), "pair": (np.zeros(3), rng.standard_normal(3))}
    check_grads(nested, (parameters, rng.standard_normal((5, 4))))


def test_wrong_is_reported():
    with pytest.raises(AssertionError, match=r"argument `x`, element \[0\]: the function jumps; gradient 1\n"):
        check_grads(rounded, (np.array([1.0, 2.5]),))
    with pytest.raises(AssertionError, match=r"not what differences give:\n  argument `x`: gradient 2, differences 4 \("):
        check_grads(lambda x: halved(x), (2.0,))


def test_integers_are_constants():
    assert {c.argument for c in comparisons(powers, (1.5, 3))} == {"x"}


def test_argnums():
    assert {c.argument for c in comparisons(energy, (VECTOR, 3.0), argnums=1)} == {"k"}
    assert {c.argument for c in comparisons(energy, (VECTOR, 3.0), argnums=(0, 1))} == {"x", "k"}


def test_variadic_arguments_have_names():
    assert [c.argument for c in comparisons(shifts, (1.5, 2.0, 3.0))] == ["first", "rest[0]", "rest[1]"]


def test_single_precision():
    check_grads(energy, (VECTOR.astype(np.float32), np.float32(3.0)))


def test_many_numbers_in_random_directions():
    found = comparisons(energy, (np.linspace(-1.0, 1.0, 50), 3.0))
    assert [c.argument for c in found].count("x") == 4


def test_arguments_are_not_changed():
    x = VECTOR.copy()
    check_grads(energy, (x, 3.0))
    np.testing.assert_array_equal(x, VECTOR)


def test_curried():
    check_grads(energy, modes=["rev"], order=2)(VECTOR, 3.0)
    with pytest.raises(AssertionError):
        check_grads(rounded)(np.array([1.0, 2.5]))


def test_nothing_to_differentiate():
    with pytest.raises(ValueError, match="nothing to differentiate"):
        check_grads(powers, (2, 3))
    with pytest.raises(ValueError, match="order"):
        check_grads(powers, (2.0, 3), order=0)


def test_large_and_small_numbers():
    check_grads(energy, (np.array([1e6, 1e-3]), 2e-4))


@pytest.mark.parametrize("scale", [1e-5, 1e-8, 1e-12])
def test_a_gradient_that_is_small_all_over_is_not_right_for_that(scale):
    check_grads(lambda x: np.sum(np.sin(x) ** 2), (scale * np.arange(1.0, 4.0),))
    check_grads(lambda x: scale * np.sum(np.sin(x) ** 2), (np.array([0.0, 1.0, 2.0]),))
    wrong = custom_gradient(lambda x: (x * x, lambda g: g * x))
    for f, x in ((lambda x: np.sum(wrong(x)), scale), (lambda x: scale * np.sum(wrong(x)), 1.0)):
        with pytest.raises(AssertionError, match="is not what differences give"):
            check_grads(f, (x * np.arange(1.0, 4.0),))


def test_nan_is_wrong():
    with pytest.raises(AssertionError):
        check_grads(lambda x: x * np.nan, (1.0,))


def test_both_modes():
    check_grads(lambda p, y: [p["w"] * np.sin(y), {"a": p["b"] @ p["w"]}],
                ({"w": VECTOR, "b": np.outer(VECTOR, VECTOR), "n": 3}, 2.0), order=2, modes=("fwd", "rev"))  # fmt: skip
    check_grads(np.tanh, (np.ones(20),), order=2, modes="fwd")
    with pytest.raises(AssertionError, match="forward mode, argument `x`: the function jumps; tangent 2"):
        check_grads(lambda x: np.floor(x) * x, (2.0,), modes="fwd")
    with pytest.raises(ValueError, match="there is no mode"):
        check_grads(np.tanh, (1.0,), modes=("both",))


def message(f, *args, **keywords):
    with pytest.raises(AssertionError) as caught:
        check_grads(f, args, **keywords)
    return str(caught.value)


def test_the_wrong_element_is_named():
    def wrong_in_one(w, x):
        part = halved(w[2:3, 1:2])
        return np.sum(w * w) - np.sum(w[2:3, 1:2] * w[2:3, 1:2]) + np.sum(part) + np.sum(x)

    w = np.linspace(0.1, 2.0, 12).reshape(4, 3)
    said = message(wrong_in_one, w, np.ones(40))
    assert said.splitlines()[1].startswith(f"  argument `w`, element [2, 1]: gradient {w[2, 1]:.10g}, differences ")
    assert len([row for row in said.splitlines() if "element" in row]) == 2 and "`x`" not in said
    large = np.linspace(0.1, 2.0, 3000).reshape(1000, 3)  # found by halves
    assert "element [2, 1]" in message(wrong_in_one, large, np.ones(40))


def test_parts_of_containers_are_named_by_their_path():
    def f(params):
        return np.sum(params["w"][0]) + np.sum(halved(params["w"][1])) + params["b"]

    said = message(f, {"w": [np.ones(20), np.array([3.0])], "b": 1.0, "name": "linear"})
    assert "argument `params['w'][1]`, element [0]: gradient 3, differences 6" in said


def test_a_wrong_tangent_is_named():
    @custom_jvp
    def square(x):
        return x * x

    square.defjvp(lambda primals, tangents: (primals[0] * primals[0], primals[0] * tangents[0]))
    said = message(lambda x: np.sum(square(x)), np.array([3.0]), modes=("fwd",))
    assert "forward mode, argument `x`, element [0]: tangent 3, differences 6" in said


def test_second_order_is_named():
    cubed = custom_gradient(lambda x: (x**3, lambda g: g * 3.0 * stopped(x) * x))
    stopped = custom_gradient(lambda x: (x * 1.0, lambda g: g * 0.0))
    check_grads(lambda x: cubed(x), (2.0,))
    assert "order 2, argument `x`: gradient 6, differences 12" in message(lambda x: cubed(x), 2.0, order=2)


@pytest.mark.parametrize(
    ("f", "at", "said"),
    [
        (lambda x: max(x, 0.0), 0.0, "the slope is 0 to the left and 1 to the right"),
        (lambda x: x if x > 0.0 else -3.0 * x, 0.0, "the slope is -3 to the left and 1 to the right"),
        (lambda x: 5.0 + x if x >= 1.0 else x, 1.0, "the function jumps"),
        (lambda x: x + 1e-3 * np.floor(x * 1e5), 0.7123, "jumps|settle|slope"),
    ],
)
def test_points_that_cannot_be_compared(f, at, said):
    text = message(f, at)
    assert "cannot be compared with differences here" in text
    assert re.search(said, text), text


def test_kinks_nearby_do_not_matter():
    check_grads(lambda x: np.abs(x - 1.00005) + x, (1.0,))
    check_grads(np.abs, (np.array([2.0, 0.0]),))  # half of each side, as the gradient says


def test_the_step_is_found():
    check_grads(lambda x: np.sin(1e4 * x), (1.0,))
    check_grads(lambda x: np.sin(1e5 * x) * 1e-5, (0.3,))
    assert abs(careful(lambda t: np.exp(3.0 * t) + 1e6).value - 3.0) < 1e-3
    assert abs(quick(np.sin).value - 1.0) < 1e-12


def test_a_function_that_changes_is_no_function():
    rng = np.random.default_rng(0)
    said = message(lambda x: x * rng.standard_normal(), 2.0)
    assert "is not the same function twice: called with the same arguments, it gives " in said
    check_grads(lambda x, r: x * r.standard_normal(), (2.0, np.random.default_rng(0)))  # a copy for each call


def test_functions_that_write_their_arguments():
    def doubled(x, out):
        out[:] = x * x
        x *= 2.0
        return np.sum(out) + np.sum(x)

    x, out = VECTOR.copy(), np.zeros(3)
    check_grads(doubled, (x, out), order=2, modes=("fwd", "rev"))
    np.testing.assert_array_equal(x, VECTOR)
    np.testing.assert_array_equal(out, 0.0)


@pytest.mark.parametrize("modes", ["rev", "fwd", "tape"])
def test_results_without_numbers(modes):
    for value in (None, "text", 3, [1, 2], {}):
        with pytest.raises(TypeError, match="which has no derivative"):
            check_grads(lambda x, value=value: value, (2.0,), modes=modes)
    assert "is nan at this point" in message(lambda x: x * np.nan, 2.0, modes=modes)
    assert "is inf at ['a'][1] at this point" in message(lambda x: {"a": [x, x * np.inf]}, 2.0, modes=modes)


def test_a_tape():
    rng = np.random.default_rng(0)
    parameters = {"w": rng.standard_normal((4, 3)), "pair": (np.zeros(3), rng.standard_normal(3)), "n": 3}
    check_grads(nested, (parameters, rng.standard_normal((5, 4))), modes=("rev", "fwd", "tape"), order=2)
    check_grads(energy, (VECTOR.astype(np.float32), np.float32(3.0)), modes="tape")
    assert "tape, argument `x`: gradient 2, differences 4" in message(lambda x: halved(x), 2.0, modes="tape")


# --- every leaf, and nothing that is not checked ------------------------------------------------------------------------


class Slots:
    __slots__ = ("n", "scale", "w")

    def __init__(self, w):
        self.w, self.scale, self.n = w, 0.4, 3


@dataclass
class Layer:
    inner: Slots
    parts: list = field(default_factory=lambda: [0.5, {"b": np.array([0.1, 0.2])}])
    name: str = "layer"


class Hidden:  # its attributes are not followed
    def __init__(self, w):
        self.__dict__["w"] = w

    def __getattr__(self, name):
        raise AttributeError(name)


class ArrayOfOthers:
    def __array__(self, dtype=None, copy=None):
        return np.ones(2)

    def __array_ufunc__(self, *args, **keywords):
        return NotImplemented

    def mean(self):
        return 1.0


def of_layer(layer):
    inner, (first, second) = layer.inner, layer.parts[:2]
    return np.sum(np.sin(inner.w)) * inner.scale**inner.n + first * np.sum(second["b"] ** 2)


LEAVES = ["layer.inner.scale", "layer.inner.w", "layer.parts[0]", "layer.parts[1]['b']"]


@pytest.mark.parametrize("wrong", LEAVES)
def test_each_leaf_of_objects_is_checked(wrong):
    def spoilt(layer):
        leaf = layer.inner.w if wrong == LEAVES[1] else layer.inner.scale if wrong == LEAVES[0] else layer.parts[0]
        leaf = layer.parts[1]["b"] if wrong == LEAVES[3] else leaf
        return of_layer(layer) + np.sum(halved(leaf))

    layer = Layer(Slots(np.array([0.3, 0.9])))
    check_grads(of_layer, (layer,), order=2, modes=("rev", "fwd", "vjp"))
    check_grads(of_layer, (layer,), modes="tape")
    found = comparisons(of_layer, (layer,))
    assert sorted({c.argument for c in found}) == LEAVES and all(c.agrees for c in found)
    for mode in ("rev", "vjp"):
        with pytest.raises(AssertionError, match=re.escape(f"argument `{wrong}`")):
            check_grads(spoilt, (layer,), modes=mode)
    with pytest.raises(AssertionError, match=re.escape(f"forward mode, argument `{wrong}`")):
        check_grads(spoilt, (layer,), modes="fwd")
    assert layer.inner.scale == 0.4 and layer.parts[0] == 0.5  # the check has its own copies


def test_a_check_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="nothing to differentiate"):
        check_grads(lambda n: n * 2.0, (3,))
    with pytest.raises(ValueError, match="nothing to compare"):
        check_grads(lambda x: np.sum(x) + 1.0, (np.zeros(0),))
    with pytest.raises(ValueError, match="nothing to compare"):
        check_grads(lambda x: np.sum(x[0]) + 1.0, ([np.zeros((0, 2))],))


def test_what_cannot_be_checked_is_named():
    def scaled(x, other):
        return x * 2.0

    others = (Hidden(2.0), "a Hidden"), (ArrayOfOthers(), "a ArrayOfOthers")
    for other, name in others:
        with pytest.raises(TypeError, match=re.escape(name) + ".*`argnums` names the arguments"):
            check_grads(scaled, (1.5, other))
        check_grads(scaled, (1.5, other), argnums=0)
    for other in (3, "text", None, np.random.default_rng(0), np.sin, np.arange(3), Hidden(3)):
        check_grads(scaled, (1.5, other))
    layer = Layer(Slots(np.ones(2)), parts=[0.5, {"b": np.ones(2)}, ArrayOfOthers()])
    assert unchecked(of_layer, (layer,)) == ["`layer.parts[2]`, a ArrayOfOthers"]
    layer.parts[2] = Hidden(2.0)  # read by nobody: no difference, and no derivative
    assert "layer.parts[2].w" in {c.argument for c in comparisons(of_layer, (layer,), order=2)}


def test_the_pullback_is_a_mode():
    assert {c.mode for c in comparisons(energy, (VECTOR, 3.0), order=2, modes=("vjp",))} == {"vjp"}
    with pytest.raises(AssertionError, match="pullback, argument `x`"):
        check_grads(lambda x: halved(x), (2.0,), modes="vjp")
