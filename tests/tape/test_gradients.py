"""Graph mode: `function` and `gradients`, with the numbers of TensorFlow's pages."""

import numpy as np
import pytest

from s2sgrad import Array, GradientTape, UnconnectedGradients, Variable, constant, function, grad, gradients, stop_gradient

F = np.float32


def values(result):
    return [None if g is None else g.numpy().tolist() for g in result]


def test_total_and_partial_derivatives():
    @function
    def both():
        a = constant(0.0)
        b = 2 * a
        return gradients(a + b, [a, b]), gradients(a + b, [a, b], stop_gradients=[a, b])

    total, partial = both()
    assert values(total) == [3.0, 1.0] and values(partial) == [1.0, 1.0]


def test_partial_derivatives_written_with_stop_gradient():
    @function
    def partial():
        a = stop_gradient(constant(0.0))
        b = stop_gradient(2 * a)
        return gradients(a + b, [a, b])

    assert values(partial()) == [1.0, 1.0]


def test_both_ways_to_stop_end_at_whichever_comes_first():
    @function
    def combined():
        a = constant(1.0)
        b = 3.0 * a
        c = stop_gradient(b) + a
        return gradients(c, [a, b], stop_gradients=[c]), gradients(c * b, [a, b, c], stop_gradients=[b])

    first, second = combined()
    assert values(first) == [None, None]
    assert values(second) == [3.0, 4.0, 3.0]


def test_integers_are_constants():
    @function
    def of_ints():
        n, x = constant(2), constant(3.0)
        y = n * x
        return gradients(y, [n, x])

    assert values(of_ints()) == [None, 2.0]


def test_unconnected():
    @function
    def unconnected(how):
        x, y = constant(np.ones((1, 2))), constant(np.ones((3, 1)))
        return gradients([y], [x], unconnected_gradients=how)

    assert values(unconnected("none")) == [None]
    assert values(unconnected(UnconnectedGradients.ZERO)) == [[[0.0, 0.0]]] == values(unconnected("zero"))
    with pytest.raises(ValueError, match="unconnected_gradients"):
        unconnected("zeros")


W = [[1.0, 2.0, 3.0]] * 4


@pytest.mark.parametrize(("grad_ys", "expected"), [
    ([[2.0, 2.0, 3.0], [3.0, 2.0, 4.0]], [[2, 2, 3], [2, 2, 3], [5, 4, 7], [3, 2, 4]]),
    ([None, [3.0, 2.0, 4.0]], [[1, 1, 1], [1, 1, 1], [4, 3, 5], [3, 2, 4]]),
    (None, [[1, 1, 1], [1, 1, 1], [2, 2, 2], [1, 1, 1]]),
])  # fmt: skip
def test_grad_ys(grad_ys, expected):
    @function
    def weighted():
        w1, w2, w3, w4 = (constant(w) for w in W)
        z1, z2 = w1 + w2 + w3, w3 + w4
        return gradients([z1, z2], [w1, w2, w3, w4], grad_ys=grad_ys)

    assert values(weighted()) == expected


def test_grad_ys_of_another_length_or_shape():
    @function
    def wrong(grad_ys):
        x = constant([1.0, 2.0])
        return gradients([x * x, x], [x], grad_ys=grad_ys)

    for number in ([None], [], [None] * 3, 1.0, np.ones(2), constant(1.0)):
        with pytest.raises(ValueError, match="2 ys"):
            wrong(number)
    with pytest.raises(ValueError, match="shape"):
        wrong([np.ones(3), None])


def test_grad_ys_of_a_single_y_in_a_list():
    @function
    def weighted(weight):
        x = constant([1.0, 2.0])
        return gradients([x * x], x, grad_ys=weight)

    for weight in (np.array([3.0, 4.0]), [np.array([3.0, 4.0])], [[3.0, 4.0]], [constant([3.0, 4.0])]):
        assert values(weighted(weight)) == [[6.0, 16.0]]


@pytest.mark.parametrize(("ask", "message"), [
    (lambda x: gradients(x * x), "needs `xs`"),
    (lambda x: gradients(x * x, "x"), "type str"),
    (lambda x: gradients(x * x, [x, 0]), "type int"),
    (lambda x: gradients(x * x, x, unconnected_gradients="all"), "'none' or 'zero'"),
    (lambda x: gradients(x * x, x, grad_ys=[1.0, 2.0]), "shape"),
])  # fmt: skip
def test_what_gradients_cannot_be_asked(ask, message):
    with pytest.raises(ValueError, match=message):
        function(ask)(3.0)


@pytest.mark.parametrize("ys", [None, [None], "x * x", 3, [2.0], np.ones(2), constant(3)])
def test_ys_that_are_no_arrays(ys):
    with pytest.raises(TypeError, match="target"):
        function(lambda x: gradients(ys, x))(3.0)


def test_nothing_depends_on_nothing():
    assert values(function(lambda x: gradients([], [x, 2.0 * x]))(3.0)) == [None, None]
    assert values(function(lambda x: gradients([], x, unconnected_gradients="zero"))(3.0)) == [0.0]
    assert function(lambda x: gradients(x * x, []))(3.0) == []


@pytest.mark.parametrize("batch", [4, 1, 7])
def test_sums_over_a_batch_of_any_size(batch):
    """Whole numbers are fed to a float input; the gradient of a stack is summed."""
    fed = np.arange(batch * 3).reshape(batch, 3)

    @function
    def slopes(fed):
        x = constant(fed, dtype=F)
        y = 2 * x**2
        z = np.stack([y, y])
        return gradients(y, x), gradients(z, x)

    once, twice = slopes(fed)
    assert len(once) == 1 and once[0].dtype == F
    np.testing.assert_array_equal(once[0], 4.0 * fed)
    np.testing.assert_array_equal(twice[0], 8.0 * fed)


def test_third_derivative_of_a_power():
    @function
    def thrice():
        a = constant(1.0)
        b = np.power(a, 2)
        first = gradients(b, a)
        second = gradients(first, a)
        return first, second, gradients(second, a)

    assert [values(g) for g in thrice()] == [[2.0], [2.0], [0.0]]


def test_single_values_give_a_list():
    result = function(lambda x: gradients(x * x, x))(3.0)
    assert isinstance(result, list) and isinstance(result[0], Array)


def test_variables_and_intermediates():
    v = Variable(3.0)

    @function
    def of_variable():
        y = v * v
        z = y * 2.0
        return gradients(z, [v, y])

    assert values(of_variable()) == [12.0, 2.0]


def test_the_graph_options_have_no_effect():
    @function
    def with_options(x):
        return gradients(x * x, x, name="g", colocate_gradients_with_ops=True, gate_gradients=True, aggregation_method=2)

    assert values(with_options(3.0)) == [6.0]


def test_outside_of_a_function():
    x = constant(1.0)
    with pytest.raises(RuntimeError, match="function"):
        gradients(x * x, x)
    with GradientTape(), pytest.raises(RuntimeError, match="function"):
        gradients(x * x, x)


def test_a_tape_inside_of_a_function():
    @function
    def inside(x):
        with GradientTape() as t:
            t.watch(x)
            y = x**3
        g = t.gradient(y, x)
        return g, gradients(g, x)

    g, (second,) = inside(2.0)
    assert (g.numpy(), second.numpy()) == (12.0, 12.0)


def test_the_member_is_taken_for_the_string():
    df = grad(lambda x, y: np.sum(x), "y", unconnected_gradients=UnconnectedGradients.NONE)
    assert df(1.0, 2.0) is None


# --- stop_gradient ---------------------------------------------------------------------------------------------------


def test_stopped_factor_on_a_tape():
    w1, w2 = Variable(2.0), Variable(2.0)
    with GradientTape(persistent=True) as t:
        a = w1 * 3
        b = stop_gradient(a) * w2
        e = stop_gradient(a + b) + (a + b)
    assert values(t.gradient(b, [w1, w2])) == [None, 6.0]
    assert values(t.gradient(e, [a, b])) == [1.0, 1.0]


def test_stop_gradient_keeps_value_and_structure():
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
        inside = stop_gradient({"x": [x, 3.0], "n": None}, name="ignored")
        y = np.sum(inside["x"][0] * x)
    assert inside["x"][1] == 3.0 and inside["n"] is None
    assert t.gradient(y, x).numpy().tolist() == [1.0, 2.0]
    plain = np.ones(2)
    assert stop_gradient(plain) is not plain and stop_gradient(2.0) == 2.0


def test_plain_numbers_among_stop_gradients_are_constants_anyway():
    assert values(function(lambda x: gradients(x * x, x, stop_gradients=[2.0, np.ones(2)]))(3.0)) == [6.0]
