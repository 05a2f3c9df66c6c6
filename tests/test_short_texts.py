"""What a person would not have written: a second name, a line a list, a record of what is only an operand of a value."""

from __future__ import annotations

import numpy as np
import pytest
from kernels import kernel_of

from s2sgrad import grad
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(5)
W, Y = 0.4 * RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))


def errors_of_a_recurrence(W, y):
    h, s = np.ones(3), 0.0
    for t in range(len(y)):
        h = np.tanh(W @ h)
        e = W @ h - y[t]
        s = s + e @ e
    return s


def errors_by_item(W, y):
    h, s = np.ones(3), 0.0
    for row in y:
        h = np.tanh(W @ h)
        e = row - W @ h
        s = s + e @ e
    return s


def errors_of_what_changes(W, y):
    y = y.copy()
    h, s = np.ones(3), 0.0
    for t in range(len(y)):
        h = np.tanh(W @ h)
        e = W @ h - y[t]
        y[t] = 0.5 * h
        s = s + e @ e + np.sum(y[t] ** 3)
    return s


def errors_of_a_scale_that_changes(W, y):
    h, s, c = np.ones(3), 0.0, 1.0
    for t in range(len(y)):
        h = np.tanh(W @ h)
        e = (W @ h - y[t]) * c
        c = 0.5 * c + 0.1 * h[0]
        s = s + e @ e
    return s


def text(function, *args, argnums=(0, 1)):
    return grad(function, argnums).source_for(*args)


@pytest.mark.parametrize(
    "function", [errors_of_a_recurrence, errors_by_item, errors_of_what_changes, errors_of_a_scale_that_changes]
)
def test_results_are_recorded_as_they_are_read(function):
    check_grads(function, (W, Y), argnums=(0, 1), order=2)
    check_grads(function, (W, Y[:0]), argnums=(0, 1))


def test_a_difference_is_recorded_and_not_what_it_is_taken_of():
    rope = kernel_of("hanging_rope")
    assert "tape.append((dx, dy, " in grad(rope.function, **rope.options).source_for(*rope.args())


def test_an_error_is_recorded_and_not_its_prediction():
    assert "append(W @ h - y[t])" in text(errors_of_a_recurrence, W, Y)


def test_what_changes_between_the_sweeps_is_not_recorded_with_it():
    assert "- y[t])" not in text(errors_of_what_changes, W, Y).split("# reverse sweep")[0].replace("e = ", "")


def test_a_restored_value_needs_no_second_name():
    found = text(errors_of_a_recurrence, W, Y)
    assert "h_new" not in found
    assert "(1.0 - h * h)" in found


def drifting(x, v, n):
    for _ in range(n):
        v = v - 0.1 * np.sin(x)
        x = x + 0.1 * v
    return x @ x


def test_an_adjoint_has_one_name():
    found = text(drifting, Y[0], Y[1], 3)
    assert "v_bar2" not in found and "v2_bar" not in found
    check_grads(lambda x, v: drifting(x, v, 3), (Y[0], Y[1]), argnums=(0, 1))


def test_short_gradients_are_returned_without_names():
    def weighted(a, b):
        return a * b

    assert text(weighted, 2.0, 3.0).endswith("    return seed * b, seed * a\n")


def test_long_gradients_keep_their_names():
    def long(first, second):
        return np.sum(np.exp(first * first * second) * np.sin(first * second + second * second * second))

    assert "return first_bar, second_bar" in text(long, Y[0], Y[1])


def test_lists_of_one_sweep_begin_in_one_line():
    lines = [line for line in text(errors_of_what_changes, W, Y).splitlines() if line.strip().endswith("[]")]
    assert len([line for line in lines if "columns" not in line]) == 1


def squares_in_a_section(x, i):
    y = x * x
    return y[i + 1 : i + 3] @ x[i + 1 : i + 3] + np.sum(x[i + 1 : i + 3] ** 3)


def element_that_is_written_between(x, y, n):
    y = y.copy()
    for i in range(n):
        y[i] = x[i] * y[i]
        y[i + 1] += y[i] * y[i]
    return y @ y


def test_sections_and_elements_are_read_again_only_as_long_as_they_are_the_same():
    check_grads(lambda x: squares_in_a_section(x, 1), (RNG.normal(size=6),))
    check_grads(
        lambda x, y: element_that_is_written_between(x, y, 4), (RNG.normal(size=5), RNG.normal(size=5)), argnums=(0, 1)
    )


def nearest(b, c):
    d = b * b - c
    if d <= 0.0:
        return 0.0
    t = b - np.sqrt(d)
    if t < 1e-4:
        return 0.0
    return t


def test_what_a_branch_needs_again_for_its_derivative_is_computed_once():
    found = "".join(line for line in text(nearest, 3.0, 1.0).splitlines(True) if line.strip()[:1] != "#")
    assert found.count("b * b - c") == 1
    assert found.count("np.sqrt(") == 1
    for b, c in ((3.0, 1.0), (1.0, 3.0), (1.0, 0.0), (2.0, 4.0)):
        assert np.all(np.isfinite(grad(nearest, (0, 1))(b, c)))


def test_branches_that_say_the_same_are_one():
    def helper(b, c):
        return nearest(b, c) * 2.0

    assert " or " in text(helper, 3.0, 1.0)


SHIFTS = np.array([1, -1, 2])


def streamed(f, n):
    for _ in range(n):
        rho = np.sum(f, axis=0)
        u = np.tensordot(SHIFTS, f, axes=1) / rho
        f = f - 0.1 * (f - u * rho)
        for k in range(3):
            f[k] = np.roll(f[k], SHIFTS[k], axis=0)
    return np.sum(f[0] ** 2) + np.sum(f[1] ** 3)


def test_what_is_rolled_or_contracted_has_a_known_shape():
    f = RNG.uniform(1.0, 2.0, size=(3, 4))
    check_grads(lambda f: streamed(f, 2), (f,))
    assert "unbroadcast" not in grad(streamed).source_for(f, 2)


def relaxed(b, sweeps):
    p = np.zeros_like(b)
    for _ in range(sweeps):
        q = p.copy()
        q[1:-1] = 0.5 * (p[2:] + p[:-2]) - b[1:-1]
        p = q
    return np.sum(p**2)


def relaxed_and_squared(b, sweeps):
    p = 0.1 * b
    for _ in range(sweeps):
        q = p.copy()
        q[1:-1] = 0.5 * (p[2:] + p[:-2] ** 2) - b[1:-1]
        p = q
    return np.sum(p**2)


def test_sections_are_restored_only_where_something_reads_the_array():
    b = RNG.normal(size=6)
    for function in (relaxed, relaxed_and_squared):
        check_grads(lambda b, function=function: function(b, 3), (b,))
    assert "q_stack" not in grad(relaxed).source_for(b, 3)


def numbered(x):
    s = 0.0
    for i, y in enumerate(x, start=1):
        s = s + i * y * y
    return s


def test_a_number_has_no_name():
    found = grad(numbered).source_for(Y[0])
    assert "= 1\n" not in found
    check_grads(numbered, (Y[0],))


def damped(x, v, n):
    for _ in range(n):
        f = -np.sin(x)
        v = 0.99 * (v + 0.1 * f)
        x = x + 0.1 * v
    return x @ x + v @ v


def test_what_has_one_name_is_computed_in_one_statement():
    check_grads(lambda x, v: damped(x, v, 3), (Y[0], Y[1]), argnums=(0, 1), order=2)
    assert "v_bar = (v_bar + " in text(damped, Y[0], Y[1], 3)
    epidemic = kernel_of("epidemic")
    assert "S_bar = own(seed[0])" in grad(epidemic.function, **epidemic.options).source_for(*epidemic.args())


def test_positions_are_as_the_user_wrote_them():
    syrk = kernel_of("syrk")
    found = grad(syrk.function, **syrk.options).source_for(*syrk.args())
    assert "C[i, :i + 1] *= beta" in found and "i_plus_one" not in found
