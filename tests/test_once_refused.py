"""Programs that were refused once, as they were written to be refused: their gradients are right.

What is found right among the programs of test_errors.py moves here.
"""

from __future__ import annotations

import functools
import linecache
import textwrap

import numpy as np
import pytest
from differences import central_difference
from scipy.integrate import odeint

from s2sgrad import S2SGradError, grad, jacfwd, jacrev, jvp, vjp

V = np.array([0.5, 1.5, 2.5])
HEAD = "import math\nimport numpy as np\n\n"

PROGRAMS = {
    "argument that is bound to a function in a loop": ("""
        def f(x, act=None):
            for i in range(2):
                if act is None:
                    act = lambda t: t * x
                else:
                    x = x * 3.0
            return act(x)
    """, (2.0,)),
    "function that reads what is bound anew": ("""
        def f(x):
            fs = []
            for w in x:
                fs.append(lambda t: w * t)
            return fs[0](x[1]) + fs[-1](x[0])
    """, (V,)),
    "array that stands twice in a list, updated in a loop": ("""
        def f(x):
            u = x * 1.0
            m = [u, u]
            for a in m:
                a *= x
            return np.sum(m[0] * m[1])
    """, (V,)),
    "item that is made another one, and updated": ("""
        def f(x):
            m = [x * 1.0, x * 2.0]
            m[0] = m[1]
            m[0] += x
            return np.sum(m[0] * m[1])
    """, (V,)),
    "array that stands twice in a dict, updated by a function that is called": ("""
        def add(d, k, x):
            d[k] += x
        def f(x):
            u = x * 1.0
            d = {0: u, 1: u}
            add(d, 0, x)
            return np.sum(d[1] * x)
    """, (V,)),
    "sum of a part of an array": ("""
        def f(x):
            return np.sum(x * x, where=x > 1.0)
    """, (V,)),
    "shuffle": ("""
        def f(x):
            y = x * 2.0
            np.random.default_rng(3).shuffle(y)
            return y[0] * x[1]
    """, (V,)),
    "list that a function gives twice, written under one of the names": ("""
        def twice(x):
            items = [x * x, x + 1.0]
            return items, items
        def f(x):
            a, b = twice(x)
            a[0] = a[1] * x
            return np.sum(b[0] * b[1])
    """, (V,)),
    "list in two dicts, written through one": ("""
        def f(x):
            row = [x, 1.0]
            a, b = {"row": row}, {"row": row}
            a["row"][1] = x * x
            return b["row"][1] * b["row"][0]
    """, (2.0,)),
    "row written through a slice of the rows": ("""
        def f(x):
            m = [[x, 1.0], [2.0, x * x], [3.0, x]]
            s = m[1:]
            s[0][0] = x * x
            return m[1][0] * s[1][0]
    """, (2.0,)),
    "entry written through a shallow copy of the dict": ("""
        def f(x):
            d = {"a": {"w": x}}
            c = d.copy()
            c["a"]["w"] = x * x
            return d["a"]["w"] * x
    """, (2.0,)),
    "row written through a copy of the list": ("""
        def f(x):
            m = [[x, 1.0], [2.0, x * x]]
            c = list(m)
            c[0][0] = x * x
            return m[0][0] * m[1][1]
    """, (2.0,)),
    "array in a copy of a list, updated through the list": ("""
        def f(x):
            m = [x * 1.0, x * 2.0]
            s = m + [x]
            m[0] += x * x
            return np.sum(s[0] * x)
    """, (V,)),
    "history of a state that is updated": ("""
        def f(x):
            state, history = {"h": np.zeros(3)}, []
            for i in range(3):
                state["h"] += x * (i + 1)
                history.append(state["h"])
            return np.sum(history[0] * history[1])
    """, (V,)),
    "heap": ("""
        import heapq

        def f(x):
            heap = []
            heapq.heappush(heap, x)
            return heap[0] * x
    """, (2.0,)),
    "rows replaced while a loop runs over them": ("""
        def f(x):
            rows, total = [[x], [x * x]], 0.0
            for row in rows:
                rows[0] = [3.0]
                total += row[0]
            return total
    """, (2.0,)),
    "generator used twice": ("""
        def f(x):
            def powers():
                for k in range(3):
                    yield x**k
            ys = powers()
            return sum(ys) + sum(ys)
    """, (2.0,)),
    "try around an effect": ("""
        def f(x):
            try:
                print(x)
                y = x * x
            except ValueError:
                y = x
            return y
    """, (2.0,)),
    "try that binds what is read after it": ("""
        def f(x):
            try:
                a = x * x
                b = np.log(x)
            except ValueError:
                b = x
            return a * b
    """, (2.0,)),
    "exception that is read": ("""
        def f(x):
            try:
                y = x * x
            except ValueError as error:
                y = x * len(str(error))
            return y
    """, (2.0,)),
    "name of try that its next trip reads": ("""
        def f(x):
            a, total = x, 0.0
            for k in range(4):
                try:
                    a = a * 2.0
                    b = np.sqrt(x - 0.4 * k) * a
                except ValueError:
                    b = 1.0
                total = total + b
            return total
    """, (2.0,)),
    "name of try that a closure reads": ("""
        def f(x):
            y = x
            g = lambda: y * y
            try:
                y = x * 3.0
                z = np.log(x)
            except ValueError:
                return g()
            return z * y
    """, (2.0,)),
    "name of try that a handler updates": ("""
        def f(x):
            y = x
            try:
                y = x * 3.0
                z = np.log(x)
            except ValueError:
                y += 1.0
                z = x
            return z * y
    """, (2.0,)),
    "with a manager that may hide exceptions": ("""
        import contextlib

        def f(x):
            with contextlib.suppress(ValueError):
                y = x * x
            return y
    """, (2.0,)),
    "return from a loop inside with": ("""
        def f(x):
            with np.errstate(all="ignore"):
                for _ in range(3):
                    x = x * x
                    if x > 9.0:
                        return x
            return x
    """, (2.0,)),
    "exit from the else of a loop inside with": ("""
        def f(x):
            for _ in range(2):
                with np.errstate(all="ignore"):
                    for _ in range(3):
                        x = x * x
                    else:
                        break
            return x
    """, (1.1,)),
    "del of an item": ("""
        def f(x):
            y = [x, x * x]
            del y[0]
            return y[0]
    """, (2.0,)),
    "in place on an array held by a tuple": ("""
        def f(x):
            y = x * 2.0
            pair = (y, x)
            y += x
            return np.sum(pair[0])
    """, (V,)),
    "store into an array kept in a list": ("""
        def f(x):
            y = x * 2.0
            ys = [y, x]
            y[0] = x[1]
            return np.sum(ys[0])
    """, (V,)),
    "store through a dict": ("""
        def f(x):
            y = x * 2.0
            d = {"y": y}
            d["y"][0] = x[1]
            return np.sum(y)
    """, (V,)),
    "store into a view of one of two arrays": ("""
        def f(x):
            y, z = x * 2.0, x * 3.0
            if x[0] > 0.0:
                v = y[1:]
            else:
                v = z[1:]
            v[0] = x[1]
            return np.sum(y * z)
    """, (V,)),
    "store through the method view": ("""
        def f(x):
            y = x * 2.0
            v = y.view()
            v[0] = x[1]
            return np.sum(y)
    """, (V,)),
    "table of one function": ("""
        def f(x, name="square"):
            table = {"square": lambda t: t * t}
            return table[name](x)
    """, (2.0,)),
    "nothing in the place of a function that a loop binds": ("""
        def f(x):
            act = None
            for i in range(3):
                if act is not None:
                    x = act(x)
                act = (lambda t, i=i: t * t + i) if i < 1 else np.sin
            return act(x)
    """, (2.0,)),
    "store through the real part": ("""
        def f(x):
            y = x * 2.0
            y.real[0] = x[1]
            return np.sum(y)
    """, (V,)),
    "object that a default keeps, whose name is bound anew": ("""
        class Box:
            def __init__(self, w):
                self.w = w

        def f(x):
            box = Box(x)
            scaled = lambda t, box=box: t * box.w
            y = scaled(x)
            box = Box(3.0 * x)
            return scaled(x) * y * box.w
    """, (2.0,)),
    "object that a returned function closes over, whose name is bound anew": ("""
        class Box:
            def __init__(self, w):
                self.w = w

            def scaled(self, t):
                return t * self.w

        def f(x):
            box = Box(x)

            def make(b):
                return lambda t: b.scaled(t)

            g = make(box)
            box = Box(3.0 * x)
            return g(x) * box.w
    """, (2.0,)),
    "name of an object that some trips keep": ("""
        class Box:
            def __init__(self, w):
                self.w = w

            def scaled(self, t):
                return t * self.w

        def f(x):
            for w in (x, 2.0 * x):
                box = Box(w)
                if w < 3.0:
                    kept = box
            return kept.scaled(x) * box.w
    """, (2.0,)),
    "nothing in the place of an object that a loop makes": ("""
        class Box:
            def __init__(self, w):
                self.w = w

            def scaled(self, t):
                return t * self.w

        def f(x):
            box = None
            for i in range(3):
                if box is None:
                    box = Box(x)
                else:
                    box.w = box.w * x
            return box.w
    """, (2.0,)),
    "argument in the place of an object that is made": ("""
        class Box:
            def __init__(self, w):
                self.w = w

            def scaled(self, t):
                return t * self.w

        def f(x, box=None):
            if box is None:
                box = Box(x)
            return box.scaled(x)
    """, (2.0,)),
    "store into an object that two names stand for in turn": ("""
        class Box:
            def __init__(self, value):
                self.value = value

        def f(x):
            p = Box(x)
            q = p
            p = Box(x * x)
            q.value = q.value * x
            return p.value * q.value
    """, (2.0,)),
    "tree that a function sums up by calling itself": ("""
        class Node:
            def __init__(self, value):
                self.value, self.left, self.right = value, None, None

        def total(node, depth):
            if node is None:
                return 0.0
            return node.value * depth + total(node.left, depth + 1) + total(node.right, depth + 1)

        def f(x):
            root = Node(x[0])
            for v in x[1:]:
                n = root
                while True:
                    if v < n.value:
                        if n.left is None:
                            n.left = Node(v)
                            break
                        n = n.left
                    else:
                        if n.right is None:
                            n.right = Node(v)
                            break
                        n = n.right
            return total(root, 1.0)
    """, (np.array([0.5, 0.8, 0.3, 0.9, 0.1]),)),
    "class in a function": ("""
        def f(x):
            class Box:
                value = 2.0
            return x * Box.value
    """, (2.0,)),
    "append to a list of a list, seen by its own name": ("""
        def f(x):
            row = [x]
            rows = [row]
            rows[0].append(x * x)
            return row[1] * 2.0
    """, (2.0,)),
    "list in two dicts, grown through one": ("""
        def f(x):
            row = [x, 1.0]
            a, b = {"row": row}, {"row": row}
            a["row"].append(x * x)
            return b["row"][-1] * len(b["row"])
    """, (2.0,)),
    "object that is written, and that a callee reads": ("""
        class Box:
            value = 1.0

        box = Box()

        def f(x):
            box.value = x * x
            return read() * x

        def read():
            return box.value
    """, (2.0,)),
    "reshape of a strided section written": ("""
        def f(x):
            s = x[:, ::2]
            s.reshape(-1)[0] = 7.0
            return np.sum(x * s[0, 0])
    """, (np.arange(12.0).reshape(3, 4),)),
    "store into a ravel that is a copy": ("""
        def f(x):
            s = x[:, ::2]
            v = s.ravel()
            v[0] = 7.0
            s[0, 0] = s[0, 1] * 2.0
            return np.sum(s * s) + np.sum(v * v)
    """, (np.arange(12.0).reshape(3, 4),)),
}  # fmt: skip


@pytest.fixture(params=PROGRAMS)
def program(request):
    """The function of a program, and its arguments."""
    text, args = PROGRAMS[request.param]
    text, name = HEAD + textwrap.dedent(text), f"<once refused: {request.param}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"__name__": "once_refused"}
    exec(compile(text, name, "exec"), space)
    return space["f"], args


@pytest.mark.records
def test_the_gradient_is_right(program):
    f, args = program
    np.testing.assert_allclose(grad(f)(*args), central_difference(f, args, 0)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.records
def test_what_a_pattern_binds():
    def alternatives(p):
        match p:
            case (a, 0.0) | (0.0, a):
                return a * a
        return p[0]

    def rest_of_a_mapping(x, options):
        match options:
            case {"k": k, **rest}:
                return x * k * len(rest)
        return x

    assert grad(alternatives)((2.0, 0.0)) == (4.0, 0.0)
    assert grad(rest_of_a_mapping)(2.0, {"k": 3.0, "l": 1.0}) == 3.0


def _second_item(x):
    items = iter([x, x * x])
    next(items)
    return next(items)


_helper = _second_item


def _by_a_helper(x):
    return _helper(x) * 1.0


@pytest.mark.records
def test_a_function_that_is_recorded_has_a_text_once_its_helper_has_one(monkeypatch):
    slope = grad(_by_a_helper)
    assert slope(3.0) == 6.0 and slope.source.startswith("# Recorded")
    monkeypatch.setitem(globals(), "_helper", lambda x: 5.0 * x)
    assert slope(3.0) == 5.0 and not slope.source.startswith("# Recorded")
    monkeypatch.setitem(globals(), "_helper", _second_item)
    assert slope(3.0) == 6.0 and slope.source.startswith("# Recorded")


T = np.linspace(0.0, 1.0, 4)


class Decay:
    def __init__(self, k):
        self.k = k

    def __call__(self, y, t):
        return -self.k * y


def of_an_object(k):
    law, ones = Decay(k), iter(np.ones(10_000))
    return np.sum(odeint(lambda y, t: law(y, t) * next(ones), np.array([1.0, 2.0]), T))


def of_a_lambda(k):
    d = {"k": k}
    return np.sum(odeint(lambda y, t: -d["k"] * y, np.array([1.0, 2.0]), T))


class Holder:
    def __init__(self, f):
        self.f = f


def by_a_cell(f):
    return lambda z: f(z)


def by_a_default(f):
    return lambda z, f=f: f(z)


def by_an_attribute(f):
    held = Holder(f)
    return lambda z: held.f(z)


def by_an_item(f):
    held = [f]
    return lambda z: held[0](z)


def by_a_partial(f):
    held = functools.partial(f)
    return lambda z: held(z)


WAYS = (by_a_cell, by_a_default, by_an_attribute, by_an_item, by_a_partial)
OF_A_NUMBER = {
    "grad": lambda f, x: grad(f)(x),
    "vjp": lambda f, x: vjp(f, x)[1](1.0)[0],
    "jvp": lambda f, x: jvp(f, (x,), (1.0,))[1],
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "jacrev": lambda f, x: jacrev(f)(x),
    "a gradient in a function": lambda f, x: grad(lambda z: grad(f)(z) * 0.0 + f(z))(x),
}
DEAR = {"a gradient in a function"}


@pytest.mark.records
@pytest.mark.parametrize(
    "mode", [pytest.param(m, marks=pytest.mark.sampled(one_in=4)) if m in DEAR else m for m in OF_A_NUMBER]
)
@pytest.mark.parametrize("way", WAYS, ids=lambda f: f.__name__)
def test_a_refusal_is_not_remembered_of_another_function(way, mode):
    """Two functions of one code, which reach two functions of the user's: each has its own derivative, or refusal."""
    asked = OF_A_NUMBER[mode]
    for bad, good, want in ((of_an_object, of_a_lambda, -3.5358237745973975), (of_an_object, np.sin, np.cos(0.7))):
        for _ in range(2):
            with pytest.raises(S2SGradError):
                asked(way(bad), 0.7)
            try:
                got = asked(way(good), 0.7)
            except S2SGradError as error:
                assert "of_an_object" not in str(error) and "Decay" not in str(error), error
            else:
                np.testing.assert_allclose(got, want, rtol=1e-6)
