"""`jacobian` and `batch_jacobian`."""

import numpy as np
import pytest

from s2sgrad import GradientTape, UnconnectedGradients, Variable, constant


def test_jacobian_of_a_vector_and_a_matrix():
    x, m = constant([1.0, 2.0]), Variable(np.arange(6.0).reshape(3, 2))
    with GradientTape() as t:
        t.watch(x)
        y = m @ x
    jx, jm = t.jacobian(y, [x, m])
    np.testing.assert_array_equal(jx, m.numpy())
    assert jm.shape == (3, 3, 2)
    np.testing.assert_array_equal(jm, np.einsum("ij,k->ijk", np.eye(3), [1.0, 2.0]))


def test_jacobian_of_a_number():
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
        y = np.sum(x**2)
    assert t.jacobian(y, x).numpy().tolist() == [2.0, 4.0]


def test_jacobian_unconnected():
    x, z = constant([1.0, 2.0]), constant(np.ones((2, 2)))
    with GradientTape(persistent=True) as t:
        t.watch([x, z])
        y = x * x
    assert t.jacobian(y, z) is None
    assert t.jacobian(y, {"z": z}, unconnected_gradients="zero")["z"].numpy().tolist() == np.zeros((2, 2, 2)).tolist()


def test_hessian_is_the_jacobian_of_a_gradient():
    x = constant([1.0, 2.0])
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = x[0] ** 2 * x[1] ** 3
        g = t.gradient(y, x)
    np.testing.assert_allclose(outer.jacobian(g, x), [[16.0, 24.0], [24.0, 12.0]])


def test_jacobians_are_recorded_too():
    x = constant([1.0, 2.0])
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = x**3
        j = t.jacobian(y, x)
        s = np.sum(j)
    np.testing.assert_allclose(outer.gradient(s, x), [6.0, 12.0])


def test_batch_jacobian():
    x = constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with GradientTape() as t:
        t.watch(x)
        y = np.stack([x[:, 0] * x[:, 1], x[:, 0], x[:, 1] ** 2], axis=1)
    j = t.batch_jacobian(y, x)
    assert j.shape == (3, 3, 2)
    for k, (a, b) in enumerate(x.numpy()):
        np.testing.assert_allclose(j.numpy()[k], [[b, a], [1.0, 0.0], [0.0, 2 * b]])


def test_batch_jacobian_of_arrays_of_higher_rank():
    x = constant(np.arange(8.0).reshape(2, 2, 2))
    with GradientTape() as t:
        t.watch(x)
        y = np.swapaxes(x, 1, 2) ** 2
    j = t.batch_jacobian(y, x).numpy()
    assert j.shape == (2, 2, 2, 2, 2)
    for b, i, k in np.ndindex(2, 2, 2):
        expected = np.zeros((2, 2))
        expected[k, i] = 2 * x.numpy()[b, k, i]
        np.testing.assert_array_equal(j[b, i, k], expected)


def test_batch_jacobian_of_other_batches():
    x = constant(np.ones((3, 2)))
    with GradientTape() as t:
        t.watch(x)
        y = x[:2]
    with pytest.raises(ValueError, match=r"the same batch, not of shapes \(2, 2\) and \(3, 2\)"):
        t.batch_jacobian(y, x)


@pytest.mark.parametrize("rank", [0, 1])
def test_batch_jacobian_of_too_small_a_rank(rank):
    x, s = constant(np.ones((3, 2))), constant(np.ones((3,) * rank))
    with GradientTape(persistent=True) as t:
        t.watch([x, s])
        y = np.sum(x, axis=1) if rank else np.sum(x)
        z = np.reshape(x * (s[:, None] if rank else s), (3, 2))
    for target, source in ((y, x), (z, s)):
        with pytest.raises(ValueError, match="a rank of 2 at least"):
            t.batch_jacobian(target, source)


def test_a_jacobian_uses_up_the_tape():
    x = constant([1.0])
    with GradientTape() as t:
        t.watch(x)
        y = x * x
    t.jacobian(y, x)
    with pytest.raises(RuntimeError):
        t.jacobian(y, x)


def test_jacobians_of_empty_targets_are_empty_and_connected():
    x, z = constant([1.0, 2.0]), constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch([x, z])
        y = x[:0] * 2.0
        rows = np.ones((0, 2)) * x
    assert t.jacobian(y, x).shape == (0, 2) and t.jacobian(y, z) is None
    assert t.jacobian(rows, x).shape == (0, 2, 2)


@pytest.mark.parametrize(("target", "source", "expected"), [
    ((1, 0), (1, 0), (1, 0, 0)), ((2, 0), (2, 0), (2, 0, 0)), ((0, 2), (0, 2), (0, 2, 2)), ((3, 0), (3, 2), (3, 0, 2)),
    ((3, 2), (3, 0), (3, 2, 0)),
])  # fmt: skip
def test_batch_jacobians_of_empty_arrays(target, source, expected):
    x = constant(np.ones(source))
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = np.ones(target) * np.sum(x)
    j = t.batch_jacobian(y, x)
    assert j.shape == expected and j.dtype == float
    assert t.batch_jacobian(constant(np.ones(target)), x).shape == expected


def test_zeros_for_ints_are_floats_as_in_gradient():
    n, x = constant([1, 2]), constant(1.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * 2.0
    for zeros in (t.jacobian(y, n, unconnected_gradients="zero"), t.gradient(y, n, unconnected_gradients="zero")):
        assert zeros.dtype == float and not zeros.numpy().any()


@pytest.mark.parametrize("zero", ["zero", UnconnectedGradients.ZERO])
def test_unconnected_rows_of_a_batch(zero):
    x, z = constant(np.ones((2, 3))), constant(np.ones((2, 4)))
    with GradientTape(persistent=True) as t:
        t.watch([x, z])
        y = x * x
    assert t.batch_jacobian(y, z).numpy().tolist() == np.zeros((2, 3, 4)).tolist()  # zeros anyway
    assert t.batch_jacobian(y, z, unconnected_gradients=zero).numpy().tolist() == np.zeros((2, 3, 4)).tolist()
    assert t.jacobian(y, z, unconnected_gradients=zero).shape == (2, 3, 2, 4)
    assert t.gradient(y, z, unconnected_gradients=zero).numpy().tolist() == np.zeros((2, 4)).tolist()


def test_tensorflows_options_have_no_effect():
    x = constant([[1.0], [2.0]])
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    plain, batch = t.jacobian(y, x), t.batch_jacobian(y, x)
    options = {"parallel_iterations": 4, "experimental_use_pfor": False}
    np.testing.assert_array_equal(t.jacobian(y, x, **options), plain)
    np.testing.assert_array_equal(t.batch_jacobian(y, x, **options), batch)
