"""`GradientTape.gradient`: the numbers of TensorFlow's pages, and what may be a target or a source."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy import linalg

from s2sgrad import Array, GradientTape, Variable, constant
from s2sgrad.tape.array import apply

F = np.float32


def close(got, expected):
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6, atol=1e-12)


def watched(t, *values):
    t.watch(values)
    return values


def test_square_at_three():
    x = constant(3.0, dtype=F)
    with GradientTape() as t:
        t.watch(x)
        y = x * x
    g = t.gradient(y, x)
    assert isinstance(g, Array) and g.numpy() == 6.0 and g.dtype == F


def test_the_result_has_the_structure_of_the_sources():
    class Pair(NamedTuple):
        left: object
        right: object

    a, b = constant(2.0), constant([1.0, 3.0])
    with GradientTape(persistent=True) as t:
        t.watch([a, b])
        y = np.sum(a * b)
    assert t.gradient(y, a).numpy() == 4.0
    close(t.gradient(y, [a, b])[1], [2.0, 2.0])
    assert type(t.gradient(y, (a, b))) is tuple
    nested = t.gradient(y, {"w": [a, (b,)], "b": b})
    assert nested["w"][0].numpy() == 4.0 and type(nested["w"][1]) is tuple
    close(nested["b"], [2.0, 2.0])
    assert t.gradient(y, Pair(a, b)).left.numpy() == 4.0


def test_each_gradient_has_its_sources_shape():
    a, b = constant(np.ones((2, 1))), constant(np.ones((3,)))
    with GradientTape() as t:
        t.watch([a, b])
        y = np.sum(a * b)
    ga, gb = t.gradient(y, [a, b])
    assert ga.shape == (2, 1) and gb.shape == (3,)


def test_several_targets_are_summed():
    x1, x2 = constant(2.0), constant(5.0)
    with GradientTape(persistent=True) as t:
        t.watch([x1, x2])
        y1 = x1 * x2
        y2 = x1**2 + 3.0 * x2
    assert [g.numpy() for g in t.gradient([y1, y2], [x1, x2])] == [5.0 + 4.0, 2.0 + 3.0]
    assert [g.numpy() for g in t.gradient({"a": y1, "b": (y2,)}, [x1, x2])] == [9.0, 5.0]


@pytest.fixture
def cross_entropy():
    inputs = constant([[0.1, 0.0], [0.5, 0.51]], dtype=F)
    w = Variable([[0.1, 0.0], [0.5, 0.51]], dtype=F)
    b = Variable([0.0, 0.0], dtype=F)
    with GradientTape(persistent=True) as t:
        logits = inputs @ w + b
        shifted = logits - np.max(logits, axis=1, keepdims=True)
        log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
        losses = -log_p[np.arange(2), np.array([0, 1])]
        mean = np.mean(losses)
    return t, w, losses, mean


def test_cross_entropy_losses(cross_entropy):
    _, _, losses, mean = cross_entropy
    close(losses, [0.6881597, 0.71584916])
    close(mean, 0.70200443)
    assert losses.dtype == F


def test_gradient_of_the_vector_of_losses(cross_entropy):
    t, w, losses, _ = cross_entropy
    dw = t.gradient(losses, w)
    close(dw, [[0.20586157, -0.20586154], [0.2607238, -0.26072377]])
    assert dw.dtype == F


def test_gradient_of_the_mean_is_exactly_half(cross_entropy):
    t, w, losses, mean = cross_entropy
    dw = t.gradient(mean, w)
    close(dw, [[0.10293078, -0.10293077], [0.1303619, -0.13036188]])
    np.testing.assert_array_equal(dw.numpy() * 2, t.gradient(losses, w).numpy())


def test_output_gradients_weight_each_element(cross_entropy):
    t, w, losses, _ = cross_entropy
    whole = t.gradient(losses, w).numpy()
    first, second = (t.gradient(losses, w, output_gradients=e).numpy() for e in ([1.0, 0.0], np.array([0.0, 1.0])))
    close(first + second, whole)
    close(t.gradient(losses, w, output_gradients=constant([2.0, 2.0])), 2 * whole)


def test_output_gradients_of_several_targets():
    x = constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        a, b = x * x, 2.0 * x
    assert t.gradient([a, b], x, output_gradients=[10.0, None]).numpy() == 62.0


def test_ones_two_by_two():
    x = constant(np.ones((2, 2), F))
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = np.sum(x)
        z = y * y
    close(t.gradient(z, x), np.full((2, 2), 8.0))
    assert t.gradient(z, y).numpy() == 8.0  # an intermediate as source


def test_persistent_again_and_again():
    x = constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        z = y * y
    for _ in range(3):
        assert t.gradient(z, x).numpy() == 108.0
        assert t.gradient(y, x).numpy() == 6.0


@pytest.mark.parametrize(("y", "expected"), [(6, 12.0), (5, 12.0), (4, 4.0)])
def test_control_flow(y, expected):
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        output = 1.0
        for i in range(y):
            if i > 1 and i < 5:
                output = output * x
    assert t.gradient(output, x).numpy() == expected


def test_while_on_data():
    x = constant(1.5)
    with GradientTape() as t:
        t.watch(x)
        y = x
        while y < 10.0:
            y = y * x
    assert t.gradient(y, x).numpy() == pytest.approx(6 * 1.5**5)


def test_nested_tapes_of_a_variable_with_nothing_watched():
    x = Variable(1.0)
    with GradientTape() as t:
        with GradientTape() as t2:
            y = x * x * x
        dy = t2.gradient(y, x)
    assert dy.numpy() == 3.0
    assert t.gradient(dy, x).numpy() == 6.0


def test_gradient_inside_its_own_block_returns_the_value():
    x = constant(3.0)
    for persistent in (False, True):
        with GradientTape(persistent=persistent) as t:
            t.watch(x)
            y = x * x
            assert t.gradient(y, x).numpy() == 6.0


def test_a_variable_as_target():
    v, w = Variable(2.0), Variable(3.0)
    with GradientTape() as t:
        v * w
    g = t.gradient(v, [v, w])
    assert g[0].numpy() == 1.0 and g[1] is None


def test_a_target_that_is_its_own_source():
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
    close(t.gradient(x, x), [1.0, 1.0])


def test_the_result_is_cast_to_the_sources_dtype():
    x = constant([1.0, 2.0], dtype=F)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = np.sum(x * np.array([1.0, 0.1]))
    assert y.dtype == np.float64 and t.gradient(y, x).dtype == F
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = np.sum(x**2 * np.array([1.0, 0.1]))
        g = t.gradient(y, x)
    assert g.dtype == F and outer.gradient(g, x).dtype == F


def test_unconnected():
    x, z = constant([1.0, 2.0]), constant(np.ones((2, 3)))
    with GradientTape(persistent=True) as t:
        t.watch([x, z])
        y = x * x
    assert t.gradient(y, z) is None
    close(t.gradient(y, z, unconnected_gradients="zero"), np.zeros((2, 3)))


@pytest.mark.parametrize("how", ["none", "zero"])
def test_nothing_as_target_depends_on_nothing(how):
    x, n, z = constant([1.0, 2.0]), constant(3), Variable(1.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        np.sum(x * z)
    for nothing in ([], (), {}, [[], ()]):
        single, pair = t.gradient(nothing, x, unconnected_gradients=how), t.gradient(nothing, {"a": [n], "z": z}, None, how)
        if how == "none":
            assert single is None and pair == {"a": [None], "z": None}
        else:
            assert single.numpy().tolist() == [0.0, 0.0]
            assert pair["a"][0].numpy() == 0.0 and pair["z"].numpy() == 0.0
    with pytest.raises(ValueError, match="0 targets"):
        t.gradient([], x, output_gradients=[1.0])


def test_ints_are_constants():
    n, x = constant(3), constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = n * x
    assert t.gradient(y, [n, x])[0] is None


def test_third_derivative_of_a_power_is_zero_and_connected():
    x = constant(1.0)
    with GradientTape() as t3:
        t3.watch(x)
        with GradientTape() as t2:
            t2.watch(x)
            with GradientTape() as t1:
                t1.watch(x)
                y = x**2
            first = t1.gradient(y, x)
        second = t2.gradient(first, x)
    assert (first.numpy(), second.numpy(), t3.gradient(second, x).numpy()) == (2.0, 2.0, 0.0)


def test_a_power_never_evaluates_the_logarithm():
    x = constant([-2.0, 0.0, 3.0])
    with np.errstate(all="raise"), GradientTape() as t:
        t.watch(x)
        g = t.gradient(np.sum(x**3), x)
    close(g, [12.0, 0.0, 27.0])


@pytest.mark.parametrize("base", [-2.0, 0.0])
def test_an_exponent_that_is_a_source(base):
    n = constant(3.0)
    with GradientTape() as t:
        t.watch(n)
        y = abs(base) ** n
    expected = 0.0 if base == 0.0 else 8.0 * np.log(2.0)
    assert t.gradient(y, n).numpy() == pytest.approx(expected)


# --- errors ----------------------------------------------------------------------------------------------------------


def squared(persistent=False):
    x = constant([1.0, 2.0])
    with GradientTape(persistent) as t:
        t.watch(x)
        y = x * x
    return t, x, y


def test_a_second_gradient_of_a_tape_that_is_not_persistent():
    t, x, y = squared()
    t.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.gradient(y, x)


def test_unknown_unconnected_gradients():
    t, x, y = squared()
    with pytest.raises(ValueError, match="'none' or 'zero'"):
        t.gradient(y, x, unconnected_gradients="zeros")


@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0], np.ones((2, 2)), [np.ones(2), np.ones(2)]])
def test_weights_of_a_wrong_length_or_shape(weights):
    t, x, y = squared()
    with pytest.raises(ValueError):
        t.gradient(y, x, output_gradients=weights)


def test_weights_of_one_target_for_several():
    t, x, y = squared()
    with pytest.raises(ValueError, match="2 targets"):
        t.gradient([y, y], x, output_gradients=[y, y, y])


@pytest.mark.parametrize(("target", "named"), [
    (None, "None"), ([None], "None"), ("loss", "str"), (["loss"], "str"), (b"loss", "bytes"), (3, "int"), (True, "bool"),
    ([1, 2], "int"), (2.0, "float"), (np.float64(2.0), "float64"), (np.ones(2), "ndarray"), (np.array(["a"]), "ndarray"),
    (1j, "complex"), ({1.0}, "set"), (range(2), "range"), (object(), "object"), (constant(3), "int64"),
    ({"a": constant([1, 2])}, "int64"),
])  # fmt: skip
def test_targets_that_no_tape_can_follow(target, named):
    t, x, y = squared(persistent=True)
    for wrong in (target, [y, target]):
        for ask in (t.gradient, t.jacobian):
            with pytest.raises(TypeError, match=f"target .* {named}\\b" if ask == t.gradient else "target"):
                ask(wrong, x)


def test_a_loss_that_left_the_tape_is_no_target():
    x = constant([1.0, 2.0])
    with GradientTape(persistent=True) as t:
        t.watch(x)
        loss, best = np.sum(x * x).numpy(), np.argmax(x)
    with pytest.raises(TypeError, match="plain float64, which no tape can follow"):
        t.gradient(loss, x)
    with pytest.raises(TypeError, match="plain int64"):
        t.gradient(best, x)


@pytest.mark.parametrize("source", [3.0, np.ones(2), [1.0]])
def test_sources_without_identity(source):
    t, _, y = squared()
    with pytest.raises(ValueError, match="constant"):
        t.gradient(y, source)


def test_gradient_before_anything_is_recorded():
    with pytest.raises(RuntimeError):
        GradientTape().gradient(constant(1.0), constant(1.0))
    t, x = GradientTape(), constant(2.0)
    t.watch(x)
    y = x * x  # outside of the block
    with pytest.raises(RuntimeError, match="after its block has begun"):
        t.gradient(y, x)


def test_weights_go_by_the_keys_of_the_targets():
    a, b = constant(2.0), constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch([a, b])
        y = {"p": a * a, "q": [b * b, b]}
    got = t.gradient(y, [a, b], output_gradients={"q": [10.0, None], "p": 1.0})
    assert [g.numpy() for g in got] == [4.0, 61.0]
    with pytest.raises(ValueError, match="3 targets"):
        t.gradient(y, [a, b], output_gradients={"q": [10.0, None], "other": 1.0})


def test_a_single_target_in_a_list_takes_an_array_of_weights():
    x = constant([1.0, 2.0])
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    for weights in ([3.0, 4.0], np.array([3.0, 4.0]), [np.array([3.0, 4.0])], [[3.0, 4.0]]):
        close(t.gradient([y], x, output_gradients=weights), [6.0, 16.0])
        close(t.gradient(y, x, output_gradients=weights), [6.0, 16.0])


class Two(NamedTuple):
    left: object
    right: object


def twice(f, x):
    """The first and the second derivative, by nested tapes."""
    x = constant(x)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    return slope, outer.gradient(slope, x)


@pytest.mark.parametrize("hold", [lambda *v: v, lambda *v: [*v], Two, lambda *v: np.stack(v)])
def test_nested_tapes_follow_what_an_operand_holds(hold):
    slope, second = twice(lambda x: apply(math.dist, (hold(x, 4.0), hold(0.0, 0.0))), 3.0)
    close(slope, 3.0 / 5.0)
    close(second, 16.0 / 125.0)


def test_nested_tapes_follow_what_a_result_holds():
    slope, second = twice(lambda x: apply(linalg.cho_factor, (np.reshape(x, (1, 1)),))[0][0, 0], 4.0)
    close(slope, 1.0 / 4.0)
    close(second, -1.0 / 32.0)
