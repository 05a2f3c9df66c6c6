"""The text of a run: it runs by itself, and gives what the sweep over the record gives."""

import contextlib
import functools
import io
import types

import numpy as np
import pytest
from corpus import ALL

from s2sgrad import S2SGradError, grad, value_and_grad
from s2sgrad.errors import Unsupported

X = np.array([0.5, 1.5, 2.5])


def dispatch(e, x):
    return TABLE[e[0]](e, x)


TABLE = {
    "x": lambda e, x: x,
    "c": lambda e, x: e[1],
    "+": lambda e, x: dispatch(e[1], x) + dispatch(e[2], x),
    "*": lambda e, x: dispatch(e[1], x) * dispatch(e[2], x),
    "sin": lambda e, x: np.sin(dispatch(e[1], x)),
}


def table_of_functions(x):
    tree = ("+", ("*", ("x",), ("sin", ("x",))), ("*", ("c", 3.0), ("x",)))
    return np.sum(dispatch(tree, x))


def parser_with_a_stack(x):
    stack = []
    for token in ["a", "b", "*", "2.0", "+", "a", "b", "/", "-"]:
        if token in "+-*/":
            right, left = stack.pop(), stack.pop()
            stack.append({"+": left + right, "-": left - right, "*": left * right, "/": left / right}[token])
        else:
            stack.append({"a": x[0], "b": x[2]}.get(token) or float(token))
    return stack.pop()


def iterators_in_a_list(x):
    sources = [iter([1.0, 2.0, 3.0]), iter([2.0, 5.0])]
    total = 0.0
    for _ in range(3):
        for source in sources:
            try:
                total += next(source) * np.sum(x**2)
            except StopIteration:
                total *= 0.5
    return total


def remembers(x):
    known = {}

    def fib(n):
        if n not in known:
            known[n] = x[n] if n < 2 else fib(n - 1) * x[2] + fib(n - 2)
        return known[n]

    return fib(6)


class Body:
    def __init__(self, **kw):
        self.__dict__.update(kw)

    def step(self, pull, dt):
        for name in ("speed", "place"):
            setattr(self, name, getattr(self, name) + dt * (-pull * self.place if name == "speed" else self.speed))


def objects_in_a_list(x):
    bodies = [Body(place=x[k], speed=0.0) for k in range(2)]
    for _ in range(3):
        for body in bodies:
            body.step(x[2], 0.1)
    return sum(body.place for body in bodies)


def stores_into_a_buffer(x):
    out = np.zeros((2, 3))
    try:
        out[0] = x
        out[1, 1:] = out[0, :2] * x[0]
        out[1, 0] = np.sum(out[0])
        out[5] = 1.0
    except IndexError:
        out[0, 0] = 7.0
    return np.sum(out**2)


def overwritten_after_it_was_used(x):
    box = [x.copy()]
    y = np.sin(box[0])
    z = box[0] * box[0]
    for part in iter(lambda: len(box) < 3, False):
        box[0][1:] = 2.0
        box.append(part)
    return np.sum(y * z) + np.sum(box[0] ** 3)


def exceptions_choose(x):
    total = 0.0
    for v in x:
        try:
            if v > 1.0:
                raise ValueError(v)
            total += np.exp(v)
        except ValueError as error:
            total += error.args[0] ** 3
    return total


def joins_and_splits(x):
    parts = dict(zip("ab", np.split(np.concatenate([x, 2.0 * x, [1.0]]), [2]), strict=True))
    holder = types.SimpleNamespace(**parts)
    return np.dot(holder.a, x[:2]) + np.sum(parts["b"] ** 2)


def matrices_in_a_queue(x):
    queue = [np.outer(x, x), np.eye(3)]
    while len(queue) < 5:
        queue.append(np.tanh(queue[-1] @ queue[-2].T) + x)
    return np.mean(queue[-1][:, 1]) + queue[2][0, 2]


def sorted_and_picked(x):
    ranked = sorted([(v, k) for k, v in enumerate(x * np.array([1.0, -1.0, 0.5]))], reverse=True)
    return functools.reduce(lambda a, pair: a * 0.5 + pair[0] * pair[1], ranked, 0.0) + np.max(x)


def updated_by_functions_from_a_table(x):
    y = x * 2.0
    for k, v in enumerate(x):
        WRITERS["times" if v > 0.8 else "plus"](y, x[k])
    return np.sum(y * y) + np.hypot(y[0], x[1]) + np.sum(np.sqrt(x))


def _times(u, c):
    u *= c


def _plus(u, c):
    u += c


WRITERS = {"times": _times, "plus": _plus}


def recursive_generator(x):
    def walk(k):
        yield x[k] * (k + 1)
        if k < 2:
            yield from walk(k + 1)

    return sum(walk(0)) + max(walk(1))


PROGRAMS = [table_of_functions, parser_with_a_stack, iterators_in_a_list, remembers, objects_in_a_list, stores_into_a_buffer,
            overwritten_after_it_was_used, exceptions_choose, joins_and_splits, matrices_in_a_queue, sorted_and_picked,
            recursive_generator, updated_by_functions_from_a_table]  # fmt: skip


def shown(df, *args):
    """(the text of a run, what it gives)."""
    text = df.source_for(*args)
    space = {}
    exec(compile(text, "<run>", "exec"), space)
    return text, space[df.__name__](*args)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_text_of_a_run_gives_its_gradient(f, monkeypatch):
    monkeypatch.setattr("s2sgrad.api.gradient.Gradient._of_kinds", refusing)
    df = grad(f)
    text, found = shown(df, X)
    assert "pullback" not in text.partition("def ")[2].splitlines()[1]
    assert "This is the run for these arguments" in text
    eps, numeric = 1e-6, np.zeros(3)
    for k in range(3):
        step = np.zeros(3)
        step[k] = eps
        numeric[k] = (f(X + step) - f(X - step)) / (2 * eps)
    np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found, df(X), rtol=1e-12)


def refusing(self, key):
    """As if the compiler could not write the function."""
    raise Unsupported("this is refused, for the test", None)


def test_the_text_of_a_run_reads_as_a_person_would_write_it(monkeypatch):
    monkeypatch.setattr("s2sgrad.api.gradient.Gradient._of_kinds", refusing)

    def slope(x, w, n=2):
        total = 0.0
        for _ in range(n):
            total = total + np.sin(x * w)
        return total

    text, found = shown(value_and_grad(slope, ("x", "w")), 0.5, 1.5)
    assert np.allclose(found[1], (2 * np.cos(0.75) * 1.5, 2 * np.cos(0.75) * 0.5))
    lines = [line.strip() for line in text.partition("def ")[2].splitlines()]
    assert lines[0] == "slope_value_and_grad(x, w, n=2, seed=1.0):"
    assert "total_2 = total + np.sin(t_3)" in lines
    assert "x_bar = t_3_bar * w" in lines and "x_bar += t_bar * w" in lines
    assert lines[-1] == "return total_2, (x_bar, w_bar)"
    assert sum(line.endswith("total = total + np.sin(x * w)") for line in lines) == 2


class Weights:
    def __init__(self, w, b):
        self.w, self.b = w, b


def parts_of(g):
    return list(g.values()) if isinstance(g, dict) else g if isinstance(g, list) else [g.w, g.b]


@pytest.mark.parametrize("params", [
    {"w": np.array([1.0, -0.5, 0.25]), "b": 0.5}, [np.array([1.0, -0.5, 0.25]), 0.5],
    Weights(np.array([1.0, -0.5, 0.25]), 0.5),
])  # fmt: skip
def test_arguments_with_parts_are_named_by_their_paths(params, monkeypatch):
    monkeypatch.setattr("s2sgrad.api.gradient.Gradient._of_kinds", refusing)

    def loss(p, data, rate=0.1):
        w, b = (p["w"], p["b"]) if isinstance(p, dict) else p if isinstance(p, list) else (p.w, p.b)
        return sum([np.tanh(np.dot(w, row) + b) * rate for row in data])

    df = grad(loss)
    text, found = shown(df, params, np.arange(6.0).reshape(2, 3) / 5.0)
    assert "data[0]" in text and "* rate" in text
    expected = df(params, np.arange(6.0).reshape(2, 3) / 5.0)
    for a, b in zip(*map(parts_of, (found, expected)), strict=True):
        np.testing.assert_allclose(a, b)


def test_a_long_run_is_not_shown(monkeypatch):
    monkeypatch.setattr("s2sgrad.api.gradient.Gradient._of_kinds", refusing)

    def long(x):
        for _ in range(200):
            x = x * 0.99 + 0.01
        return x

    assert "y, pullback = vjp(long, x)" in grad(long).source_for(1.0)


def test_an_argument_is_not_written_by_the_text(monkeypatch):
    monkeypatch.setattr("s2sgrad.api.gradient.Gradient._of_kinds", refusing)

    def writes(x):
        x[0] = x[1] * x[2]
        return np.sum(x * x)

    given = X.copy()
    text, found = shown(grad(writes), given)
    assert "x = x.copy()" in text
    np.testing.assert_array_equal(given, X)
    np.testing.assert_allclose(found, [0.0, 2 * (X[1] + X[1] * X[2] ** 2), 2 * (X[2] + X[2] * X[1] ** 2)])


@pytest.mark.sampled(one_in=40)
@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_text_runs_or_there_are_two_lines(entry, monkeypatch):
    """Each text is compared with the sweep before it is shown."""
    monkeypatch.setattr("s2sgrad.api.gradient.Gradient._of_kinds", refusing)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(S2SGradError):
        text = grad(entry.function, entry.argnums).source_for(*entry.args)
        assert ("This is the run" in text) != ("\n    y, pullback = vjp(" in text)
