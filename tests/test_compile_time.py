"""The work of compiling grows with the length of a function, and not faster: calls are counted, whoever else is at work."""

from __future__ import annotations

import cProfile
import importlib.util
import linecache
import pstats
import re
from pathlib import Path

import numpy as np
import pytest

from s2sgrad import checkpointed, grad, hessian, jvp
from s2sgrad.driver import attempts, compiled

_PATH = Path(__file__).parent / "benchmarks" / "compile_time.py"
_SPEC = importlib.util.spec_from_file_location("compile_time", _PATH)
compile_time = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(compile_time)

TIMES = 3  # as long
SHORT = {"loops": 2, "comprehensions": 2, "branches in a loop": 4}


def calls(make, size: int) -> int:
    """How many functions are called to compile a function of a family."""
    text = make(size)
    profile = cProfile.Profile()
    profile.runcall(compile_time.seconds, text, 1)
    return pstats.Stats(profile).total_calls


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("family", [name for name, (_, _, order) in compile_time.FAMILIES.items() if order == 1])
def test_work_grows_with_the_length(family):
    make, short = compile_time.FAMILIES[family][0], SHORT.get(family, 6)
    compile_time.seconds(make(short), 1)  # what is read once for all functions
    first, second, third = (calls(make, size) for size in (short, TIMES * short, TIMES * TIMES * short))
    assert third - second <= 1.2 * TIMES * (second - first)


def compilations(monkeypatch, f, *args) -> list[int]:
    """How many gradients are compiled for the first derivative, and then for the second."""
    made, counts = [], []
    compile_gradient = compiled.compile_gradient
    monkeypatch.setattr(compiled, "compile_gradient", lambda *given: made.append(given) or compile_gradient(*given))
    df = grad(f)
    for derivative in (df, grad(df)):
        derivative(*args)
        counts.append(len(made))
    return counts


def test_a_text_on_arrays_is_compiled_once_for_itself_and_for_the_second_derivative(monkeypatch):
    assert compilations(monkeypatch, lambda x: x * x * x, 2.0) == [1, 2]

    class Holder:
        __slots__ = ("v",)

        def __init__(self, v):
            self.v = v

    def of_objects(x):
        held = [Holder(x), Holder(x * 2.0)]
        for one in held:
            one.v *= held[0].v
        return held[1].v

    assert compilations(monkeypatch, of_objects, 2.0) == [1, 2]


def test_a_text_that_is_another_to_be_differentiated_again_is_compiled_for_that(monkeypatch):
    def on_lists(x):
        total = 0.0
        for k in range(len(x)):
            total = np.sin(total) * x[k]
        return total

    def of_states(x):
        for _ in checkpointed(range(10), slots=3):
            x = x * np.cos(x)
        return x

    assert compilations(monkeypatch, on_lists, np.ones(3)) == [1, 3]
    assert compilations(monkeypatch, of_states, 2.0) == [1, 3]


def made(lines: list[str]):
    """A function of `x` with these lines."""
    text = compile_time.function(lines)
    file, space = f"<compile time {len(lines)} {hash(text)}>", {"np": np}
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space["f"]


SOLVED = ["try:", "    try:", "        y = np.linalg.solve(A, y)", "    except ValueError:",
          "        y = np.linalg.pinv(A) @ y", "except np.linalg.LinAlgError:", "    y = y * 0.5"]  # fmt: skip


def nested(depth: int) -> list[str]:
    """A solver in so many `try`."""
    if depth == 0:
        return ["y = np.linalg.solve(A, y)"]
    inner = [f"    {line}" for line in nested(depth - 1)]
    return ["try:", *inner, "except np.linalg.LinAlgError:", f"    y = np.linalg.pinv(A) @ y * {depth}.0"]


@pytest.mark.records
@pytest.mark.parametrize("tried", [lambda n: SOLVED * n, nested], ids=["beside each other", "in each other"])
def test_work_grows_with_the_solvers_that_are_tried(tried):
    """What is tried is not compiled again for each `try` around it."""
    x, counts = np.array([0.7, 1.5, 0.4, 0.9, 0.2]), []
    for n in (1, 2, 4, 8):
        f, profile = made(["A = np.outer(x, x) + 2.0 * np.eye(5)", *tried(n)]), cProfile.Profile()
        step = 1e-6 * np.eye(5)
        wanted = [(f(x + d) - f(x - d)) / 2e-6 for d in step]
        gradient = profile.runcall(lambda f=f: grad(f)(x))
        np.testing.assert_allclose(gradient, wanted, rtol=1e-5, atol=1e-7)
        counts.append(pstats.Stats(profile).total_calls)
    assert counts[3] - counts[2] <= 1.3 * 4 * max(counts[2] - counts[1], 5000)


class Part:
    """A function that keeps others of its class in a list."""

    def __init__(self, w: float, *parts: Part) -> None:
        self.w, self.parts = w, list(parts)

    def __call__(self, x):
        y = np.tanh(self.w * x)
        for part in self.parts:
            y = part(y)
        return y

    def loss(self, x):
        return np.sum(self(x) ** 2)


def whole():
    return Part(2.0, Part(3.0), Part(0.5, Part(1.5)))


@pytest.mark.parametrize("derivative", [
    lambda part, x: grad(part.loss)(x),
    lambda part, x: grad(Part.loss, "x")(part, x),
    lambda part, x: grad(Part.loss)(part, x)["w"],
    lambda part, x: jvp(part.loss, (x,), (x,))[1],
    lambda part, x: hessian(part.loss)(x),
], ids=["bound", "unbound", "of self", "jvp", "hessian"])  # fmt: skip
@pytest.mark.records
def test_objects_that_keep_objects_of_their_class_are_compiled_once(monkeypatch, derivative):
    count, compiling, x = [], attempts.compiling, np.linspace(0.1, 1.0, 4)
    monkeypatch.setattr(attempts, "compiling", lambda *args: count.append(1) or compiling(*args))
    first, second = derivative(whole(), x), derivative(whole(), x)
    done = len(count)
    for _ in range(3):
        np.testing.assert_array_equal(derivative(whole(), x), first)
    assert len(count) == done
    np.testing.assert_array_equal(second, first)


def test_a_recursion_over_one_array_hands_one_adjoint_down():
    def squares(x, i):
        return 0.0 if i == len(x) else x[i] * x[i] + squares(x, i + 1)

    df = grad(lambda x: squares(x, 0))
    np.testing.assert_array_equal(df(np.ones(3)), [2.0, 2.0, 2.0])
    counts = []
    for n in (10, 40):
        x, profile = np.linspace(0.1, 1.0, n), cProfile.Profile()
        df(x)
        np.testing.assert_array_equal(profile.runcall(df, x), 2.0 * x)
        stats = pstats.Stats(profile).stats
        counts.append(sum(calls for (_, _, name), (_, calls, *_) in stats.items() if re.search("zeros|empty|copy", name)))
    assert 0 < counts[1] == counts[0]
