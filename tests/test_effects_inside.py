"""What a function that is differentiated inside of another changes besides: followed, or refused, and never lost.

`y = np.sum(grad(lambda z: g(z))(x)); return y + sum(log)`, where `g` appends to `log`, by itself or by what it calls.
"""

from __future__ import annotations

import functools
import itertools
import textwrap

import numpy as np
import pytest
from judging import loaded

from s2sgrad import S2SGradError, grad, hessian, jvp, value_and_grad
from s2sgrad.memory import mod_ref

HEAD = """
import functools, heapq
import numpy as np
from s2sgrad import grad, value_and_grad, jvp, vjp, hessian
class Box:
    def __init__(self): self.v = 0.0; self.l = []; self.a = np.zeros(2)
    def put(self, t): self.l.append(np.sum(t)); return t
    def note(self, t): self.v = self.v + np.sum(t); return t
def push(l, t): l.append(np.sum(t)); return t
def store(d, t): d["k"] = np.sum(t); return t
def write(a, t): a[0] = np.sum(t); return t
def mark(o, t): o.v = np.sum(t); return t
def hof(f, t): return f(t)
"""
CHANGES = {
    "nothing": "t = t * 1.0", "nonlocal": "nonlocal num\nnum = num + np.sum(t)", "helper of a list": "t = push(log, t)",
    "helper of a dict": "t = store(dd, t)", "helper of an array": "t = write(buf, t)",
    "helper of an object": "t = mark(box, t)",
    "method of a list": "log.append(np.sum(t))", "method of an object": "t = box.put(t)", "noted": "t = box.note(t)",
    "attribute": "box.v = np.sum(t)", "updated attribute": "box.v += np.sum(t)", "out": "np.multiply(t, 2.0, out=buf)",
    "copyto": "np.copyto(buf, t)", "section": "log[:] = [np.sum(t)]", "heap": "heapq.heappush(log, np.sum(t))",
    "item": "dd['k'] = np.sum(t)", "update": "dd.update(k=np.sum(t))", "default": "dd.setdefault('z', np.sum(t))",
    "partial": "t = functools.partial(push, log)(t)", "handed on": "t = hof(box.put, t)",
    "lambda handed on": "t = hof(lambda q: push(log, q), t)", "comprehension": "[log.append(v) for v in t]",
    "map": "list(map(log.append, t))", "other name": "other = log\nother.append(np.sum(t))",
    "view": "v = buf[1:]\nv[0] = np.sum(t)",
    "bound method": "p = log.append\np(np.sum(t))", "list in a list": "rows[0].append(np.sum(t))",
    "array of an object": "box.a[0] = np.sum(t)", "at": "np.add.at(buf, [0], np.sum(t))",
    "set": "setattr(box, 'v', np.sum(t))",
}  # fmt: skip
DERIVATIVES = {
    "direct": "y = np.sum(np.sin(grad(g)(x)))",
    "of a user": "def twice(z): return g(z) * g(2.0 * z)\ny = np.sum(grad(twice)(x))",
    "of a lambda": "y = np.sum(grad(lambda z: g(z) + g(z * z))(x))",
    "value": "v, d = value_and_grad(lambda z: g(z))(x)\ny = v * np.sum(d)",
    "of a partial": "y = np.sum(grad(functools.partial(lambda k, z: g(k * z), 2.0))(x))",
    "tangent": "y = jvp(lambda z: g(z), (x,), (x * x,))[1]",
    "matrix": "y = np.sum(hessian(lambda z: g(z))(x))",
    "in a loop": "z = x\nfor k in range(2):\n    z = z - 0.1 * grad(lambda q: g(q))(z)\ny = np.sum(z * z)",
    "pullback": "v, pull = vjp(lambda z: g(z), x)\ny = np.sum(pull(1.0)[0])",
}
READ = "num + sum(log) + sum(dd.values()) + np.sum(buf) + box.v + sum(box.l) + np.sum(box.a) + sum(rows[0])"
MADE = "num, log, dd, buf, box, rows = 0.2, [0.5], {'q': 1.0}, np.zeros(2), Box(), [[0.1]]"
X = np.array([0.3097, 0.51588])
CASES = list(itertools.product(CHANGES, DERIVATIVES))


def program(change: str, derivative: str) -> str:
    """The text of a module with the function `f`."""
    inner = textwrap.indent(f"{CHANGES[change]}\nreturn np.sum(np.sin(t) * t)", "    ")
    lines = f"{MADE}\ndef g(t):\n{inner}\n{DERIVATIVES[derivative]}\nreturn y + 0.3 * ({READ})"
    return f"{HEAD}\ndef f(x):\n{textwrap.indent(lines, '    ')}\n"


@pytest.mark.records
@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize(("change", "derivative"), CASES, ids=["-".join(c) for c in CASES])
def test_effects(change, derivative):
    with loaded(program(change, derivative), "<inside>") as f:
        try:
            slopes = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
        except S2SGradError:
            slopes = None  # what the plain run refuses: arrays, and some objects, that live outside of `g`
        for derivative_of in (grad, lambda f: lambda x: np.array([jvp(f, (x,), (e,))[1] for e in np.eye(2)])):
            try:
                found = derivative_of(f)(X.copy())
            except S2SGradError:
                continue
            if slopes is not None:
                np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)


class Kept:
    def __init__(self):
        self.v = 0.0


def twice(g):
    return lambda z: g(z) * g(2 * z)


OF_A_CLOSURE = {
    "grad": lambda g, x: grad(g)(x),
    "of a lambda": lambda g, x: grad(lambda z: g(z))(x),
    "of a user": lambda g, x: grad(twice(g))(x),
    "jvp": lambda g, x: jvp(lambda z: g(z), (x,), (x,)),
    "hessian": lambda g, x: hessian(lambda z: g(z))(x),
    "value": lambda g, x: value_and_grad(lambda z: g(z))(x),
    "of a partial": lambda g, x: grad(functools.partial(lambda k, z: g(k * z), 1.0))(x),
}


@pytest.mark.parametrize("derivative", OF_A_CLOSURE.values(), ids=OF_A_CLOSURE)
def test_a_text_writes_the_object_of_each_closure(derivative):
    """One text serves closures of one code, each over an object of its own."""
    seen = []
    for k in (1.0, 2.0, 3.0):
        kept = Kept()
        derivative(noting(kept), np.array([0.3, 0.5]) * k)
        seen.append(kept.v)
    np.testing.assert_allclose(np.array(seen) / seen[0], [1.0, 2.0, 3.0])


def noting(kept):
    def note(t):
        kept.v = np.sum(t)
        return np.sum(np.sin(t) * t)

    return lambda t: note(t)


def push(held, t):
    held.append(t)
    return t


def hof(f, t):
    return f(t)


def lambda_in_a_nested_function(z, log):
    def g(t):
        return hof(lambda q: push(log, q), t)

    return g(z)


def function_in_a_nested_function(z, log):
    def g(t):
        def f(q):
            return push(log, q)

        return hof(f, t)

    return g(z)


def called_lambda_in_a_lambda(z, log):
    g = lambda t: (lambda q: push(log, q))(t)  # noqa: E731
    return g(z)


@pytest.mark.parametrize("f", [lambda_in_a_nested_function, function_in_a_nested_function, called_lambda_in_a_lambda])
def test_what_a_nested_function_hands_on_counts(f):
    assert "log" in mod_ref.of(f).arguments


class Buffered:
    def __init__(self):
        self.buffer = np.ones(3)

    def loss(self, x):
        b = self.buffer
        b[:] = x * 2.0
        return np.sum(b**2)


def test_an_attribute_that_a_method_writes_is_named():
    def f(w):
        held = Buffered()
        return np.sum(grad(held.loss)(w) ** 2) + np.sum(held.buffer * w)

    with pytest.raises(S2SGradError, match="the attribute `buffer` is changed by a function that is differentiated here"):
        grad(f)(np.array([0.3, 0.7, 1.1]))
