"""The adjoint of a recursion adds to one buffer: right, to any order; how often it calls itself, no more arrays are made."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from s2sgrad import grad, jvp, vjp
from s2sgrad.testing import check_grads

CHILDREN = {0: [1, 2, 3], 1: [4, 5], 3: [6]}


def tree(x, k):
    if k >= len(x):
        return 0.0
    return x[k] * np.sin(x[k]) + tree(x, 2 * k + 1) - 0.5 * tree(x, 2 * k + 2)


def over_a_tree(x):
    return tree(x, 0)


def segment(x, low, high):
    if high - low == 1:
        return x[low] * x[low]
    middle = (low + high) // 2
    return segment(x, low, middle) * 0.5 + np.tanh(segment(x, middle, high))


def over_segments(x):
    return segment(x, 0, len(x))


def over_halves(x):
    if len(x) == 1:
        return x[0] * x[0]
    m = len(x) // 2
    return over_halves(x[:m]) * 0.5 + np.tanh(over_halves(x[m:]))


def force(pos, m, k, s):
    if k >= len(m):
        return 0.0
    d = pos[k] - s
    here = m[k] * np.sum(d * d)
    return here + s * force(pos, m, 2 * k + 1, s * 0.9) + force(pos, m, 2 * k + 2, s)


def two_arrays_and_a_number(x):
    return force(np.stack([x, x * x], axis=1), np.cos(x), 0, x[0])


def walk(x, k):
    s = x[k] ** 2
    for c in CHILDREN.get(k, ()):
        s = s + np.sin(walk(x, c)) * x[c]
    return s


def children_in_a_loop(x):
    return walk(x, 0)


def even(x, k):
    return 0.0 if k >= len(x) else x[k] ** 2 + odd(x, k + 1)


def odd(x, k):
    return 0.0 if k >= len(x) else np.sin(x[k]) * even(x, k + 1)


def two_that_call_each_other(x):
    return even(x, 0)


def nested_function(x):
    def go(low, high):
        if high - low < 3:
            return np.sum(x[low:high] ** 2)
        m = (low + high) // 2
        a, b = go(low, m), go(m, high)
        return a * b / (a + b)

    return go(0, len(x))


def vector(x, k):
    return x * 2.0 if k == 0 else np.sin(vector(x, k - 1)) * x + x[::-1]


def whole_arrays(x):
    return np.sum(vector(x, 3) * x)


def tail(x, k, product):
    return product if k == 0 else tail(x, k - 1, product * np.cos(x[k]))


def tail_call(x):
    return tail(x, len(x) - 1, x[0])


def both(a, b, k):
    if k == 0:
        return np.sum(a * b)
    return both(a, b, k - 1) * np.sin(a[k]) + both(b, a, k - 1) * b[k - 1]


def one_array_as_two_arguments(x):
    return both(x, x, 3)


def overlapping(x):
    return x[0] ** 2 if len(x) < 3 else overlapping(x[:-1]) * x[1] + np.sin(overlapping(x[1:]))


def doubled(x, k):
    if k == 0:
        return np.sum(x**3)
    y = x * 2.0
    return doubled(y, k - 1) + doubled(x, k - 1)


def not_passed_on_unchanged(x):
    return doubled(x, 2)


def in_a_loop(x):
    s = 0.0
    for k in range(len(x)):
        s = s + tree(x, k) * x[k]
    return s


def partition(x):
    if len(x) < 2:
        return np.sum(x**2)
    p, r = x[0], x[1:]
    return partition(r[r < p]) * 0.5 + p * p + partition(r[r >= p])


ALL = [over_a_tree, over_segments, over_halves, two_arrays_and_a_number, children_in_a_loop, two_that_call_each_other,
       nested_function, whole_arrays, tail_call, one_array_as_two_arguments, overlapping, not_passed_on_unchanged, in_a_loop,
       partition]  # fmt: skip
X = np.array([0.7, -0.4, 1.1, 0.3, -0.9, 0.5, 1.3])


@pytest.mark.records  # the tangents of two calls of itself have records that nest ever deeper
@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_gradients_are_right_in_both_modes_and_to_second_order(f):
    check_grads(f, (X,), order=1, modes=("fwd", "rev"))
    check_grads(grad(f), (X,), order=1, modes=("fwd", "rev"))


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_a_second_call_and_a_pullback_give_the_same(f):
    df, (value, pullback) = grad(f), vjp(f, X)
    first = df(X)
    np.testing.assert_array_equal(first, df(X))
    np.testing.assert_allclose(first, pullback(1.0)[0], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(2.0 * first, pullback(2.0)[0], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(first @ X, jvp(f, (X,), (X,))[1], rtol=1e-12)
    assert value == f(X) and not np.shares_memory(first, df(X))


@pytest.mark.parametrize("f", [over_a_tree, over_segments, nested_function, in_a_loop], ids=lambda f: f.__name__)
def test_how_many_arrays_are_made_does_not_grow_with_the_calls(f, monkeypatch):
    df, made = grad(f), []
    zeros_like = np.zeros_like
    for n in (7, 31):
        x = np.linspace(0.1, 1.0, n)
        df(x)
        monkeypatch.setattr(np, "zeros_like", lambda *args, n=n: made.append(n) or zeros_like(*args))
        df(x)
        monkeypatch.undo()
    assert made.count(7) == made.count(31) > 0


def test_float32_stays_float32():
    x = X.astype(np.float32)
    assert grad(over_a_tree)(x).dtype == np.float32
    np.testing.assert_allclose(grad(over_a_tree)(x), grad(over_a_tree)(X), rtol=1e-5)


def random_recursion(seed):
    """The text of a recursion over one or two arrays, or sections of them, with some number besides."""
    rng = np.random.default_rng(seed)
    pick = lambda *options: options[rng.integers(len(options))]  # noqa: E731
    sections = bool(rng.integers(2))
    arrays = ["a", "b"][: 1 + rng.integers(2)]
    by_number = bool(rng.integers(2))

    def call():
        given = [pick(*arrays, n, n, n) for n in arrays]
        if sections:
            cut = pick("[1:]", "[:-1]", "[1:]", "[:h]", "[h:]")
            given = [n + cut for n in given]
        number = [pick("s", "s * 0.5", "np.sin(s)")] if by_number else []
        return f"r({', '.join([*given, 'k - 1', *number])})"

    def term():
        leaf = pick("a[0]", f"{arrays[-1]}[-1]", "np.sum(a)", *(["s"] if by_number else []))
        return pick(f"{call()}", f"{call()} * {leaf}", f"np.tanh({call()})", f"{leaf} ** 2", f"{leaf} * {arrays[-1]}[0]")

    lines = [f"    {v} = {call()}\n    if {v} > 0:\n        {v} = {v} * a[0]\n" for v in ("u", "v")[: rng.integers(3)]]
    names = [line.split()[0] for line in lines]
    sum_ = f" {pick('+', '-')} ".join([term(), term(), *names])
    head = ", ".join([*arrays, "k", *(["s"] if by_number else [])])
    start = pick(["x", "x"], ["x", "x[::-1]"], ["x", "x * x"])[: len(arrays)]
    start = ", ".join([*start, "2", *(["x[1]"] if by_number else [])])
    return (f"def r({head}):\n    h = len(a) // 2\n    if k == 0 or len(a) < 2:\n        return np.sum(a * {arrays[-1]})\n"
            f"{''.join(lines)}    return {sum_}\n\n\ndef f(x):\n    return r({start}) + x[0]\n")  # fmt: skip


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("seed", range(24))
def test_random_recursions(seed):
    text = random_recursion(seed)
    filename = f"<recursion {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space = {"np": np, "__name__": "recursion"}
    exec(compile(text, filename, "exec"), space)
    f, x = space["f"], X[:5] * 0.5
    np.testing.assert_allclose(grad(f)(x), vjp(f, x)[1](1.0)[0], rtol=1e-11, atol=1e-13, err_msg=text)
    check_grads(f, (x,), order=1, modes=("fwd", "rev"))
