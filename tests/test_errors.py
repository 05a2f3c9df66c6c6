"""What is refused, is refused by name, at its line, with a way out; and nothing at all makes the compiler itself fail."""

from __future__ import annotations

import collections
import copy
import functools
import importlib.util
import inspect
import itertools
import pathlib
import pickle
import re
import sys
import textwrap
import traceback
import warnings

import numpy as np
import pytest
from corpus.refused import REFUSED as CORPUS_REFUSED
from differences import central_difference, copied
from scipy import signal
from unruled import first_of_module

import s2sgrad
from s2sgrad import NoRule, NoSource, S2SGradError, Unsupported, grad, hessian, hvp, jvp, value_and_grad
from s2sgrad.errors import Defect, Refused
from s2sgrad.recorded.derivatives import vjp as recorded_vjp

PACKAGE = pathlib.Path(s2sgrad.__file__).resolve().parent
_serial = itertools.count()
HEAD = "import math\nimport numpy as np\n\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module from text and import it."""

    def write_and_import(text, name=None):
        name = name or f"module_of_errors_{next(_serial)}"
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, made)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # younger Pythons warn of texts that are refused here
            spec.loader.exec_module(made)
        return made

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return write_and_import


def assert_points_at(error, file, line, way=True):
    """The message names the file and the line, has a caret under the construct, and says more than a name."""
    shown = str(error)
    assert f'File "{file}", line {line}\n' in shown, shown
    location, text, caret = shown.splitlines()[-3:]
    assert location.strip().startswith("File")
    assert re.fullmatch(r" *\^+", caret), shown
    source = pathlib.Path(file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
    assert text.strip() == source, shown
    assert len(caret) <= len(text) and caret.index("^") >= 4, shown
    assert error.place.line == line and error.place.file == str(file)
    message = error.message
    assert "\n" not in message and len(message) > 10
    if way:
        assert re.search(r"[:;,] *\w+ *\w+", message), f"no way out in: {message}"


# --- what is unsupported ---------------------------------------------------------------------------------------------
# name: (error, text of the module with a marker at the line that is to be named, arguments)

V = np.array([0.5, 1.5, 2.5])

REFUSED = {
    "store into an attribute of an array": (Unsupported, """
        def f(x):
            y = x * 2.0
            y.shape = (3, 1)  # <-
            return np.sum(y)
    """, (V,)),
    "insert into a list of another name": (Unsupported, """
        def f(x):
            xs = [x, 2.0 * x]
            ys = xs
            xs.insert(0, x * x)  # <-
            return ys[0]
    """, (2.0,)),
    "class of an object in a list, changed": (Unsupported, """
        class Plate:
            def __init__(self, a):
                self.a = a

        class Disc(Plate):
            pass

        def f(x):
            plates = [Plate(v) for v in x]  # <-
            plates[int(x[0] > 1.0)].__class__ = Disc
            return plates[0].a * plates[1].a
    """, (np.array([0.5, 2.0]),)),
    "list that is kept in an object and then grows": (Unsupported, """
        class Box:
            pass

        box = Box()

        def f(x):
            box.items = []
            box.items.append(x)  # <-
            return box.items[0] * x
    """, (2.0,)),
    "global dict that is updated": (Unsupported, """
        kept = {}

        def f(x):
            kept.update(a=x)  # <-
            return kept["a"] * x
    """, (2.0,)),
    "property that is cached": (Unsupported, """
        import functools

        class Box:
            value = 1.0

            @functools.cached_property
            def doubled(self):
                return self.value * 2.0

        box = Box()

        def f(x):
            box.value = x
            return box.doubled * x  # <-
    """, (2.0,)),
    "list that grows in a function that is differentiated inside": (Unsupported, """
        from s2sgrad import grad

        def f(x):
            log = []

            @grad
            def g(v):
                log.append(v * x)  # <-
                return v * v * x

            return g(x) * len(log)
    """, (2.0,)),
    "append inside an expression": (Unsupported, """
        def f(x):
            values = []
            any(values.append(v) for v in (x, x * x))  # <-
            return values[0] * values[1]
    """, (2.0,)),
    "object that is written and returned": (Unsupported, """
        class Box:
            pass

        box = Box()

        def f(x):
            box.value = x * x
            return box  # <-
    """, (2.0,)),
    "array of an object that is kept and then written": (Unsupported, """
        class Box:
            pass

        box = Box()

        def f(x):
            u = x * 2.0
            box.value = u
            u[0] = 1.0  # <-
            return np.sum(u * x)
    """, (V,)),
    "object that is made and kept in one of the caller's": (Unsupported, """
        class Box:
            pass

        box = Box()

        def f(x):
            inner = Box()
            inner.value = x
            box.inner = inner  # <-
            return x * x
    """, (2.0,)),
    "nested def that calls itself and binds a variable around it": (Unsupported, """
        def f(x):
            total = 0.0
            def walk(n):  # <-
                nonlocal total
                total = total + x * n
                if n > 0:
                    walk(n - 1)
            walk(3)
            return total
    """, (2.0,)),
    "decorator of a nested def": (Unsupported, """
        import functools

        def f(x):
            @functools.singledispatch
            def g(n):  # <-
                return x * n
            return g(2) * g(3)
    """, (2.0,)),
    "function that remembers its results": (Unsupported, """
        import functools

        def f(x):
            @functools.cache  # <-
            def g(n):
                return x if n == 0 else g(n - 1) * x
            return g(3)
    """, (2.0,)),
    "recursion that makes a list longer": (Unsupported, """
        def halved(n, xs):
            if n > 0:
                xs.insert(0, xs[-1] * 0.5)
                halved(n - 1, xs)

        def f(x):
            xs = list(x)
            halved(2, xs)  # <-
            return sum(xs)
    """, ([1.0, 2.0],)),
    "gradient of a function value in a function that it is passed to": (Unsupported, """
        from s2sgrad import grad

        def slope(f, t):
            return grad(f)(t)

        def f(x):
            h = np.sin
            for w in x:
                h = (lambda g, w: lambda t: g(w * t))(h, w)  # <-
            return slope(h, x[0])
    """, (V,)),
    "method in a list that writes its object": (Unsupported, """
        class Total:
            def __init__(self, w):
                self.w = w

            def add(self, t):
                self.w = self.w + t
                return self.w

        def f(x):
            fs = []
            for w in x:
                fs.append(Total(w).add)  # <-
            return fs[0](x[1]) * fs[0](x[2])
    """, (V,)),
    "lambda handed to a library function": (Unsupported, """
        def f(x):
            return np.sum(np.fromfunction(lambda i: i * x[0], (3,)))  # <-
    """, (V,)),
    "set comprehension": (NoRule, """
        def f(x):
            return sum({x * k for k in range(3)})  # <-
    """, (2.0,)),
    "list that grows under a loop": (Refused, """
        def f(x):
            ys = [x, 2.0]
            for y in ys:
                if len(ys) < 4:
                    ys.append(y * x)  # <-
            return ys[3]
    """, (2.0,)),
    "finally that reads what try binds": (Unsupported, """
        def f(x):
            y = 0.0
            try:
                y = x * x
            finally:
                print(y)  # <-
            return y
    """, (2.0,)),
    "finally that stores": (Unsupported, """
        def f(x):
            y = np.zeros(2)
            try:
                y[0] = x * x
            finally:
                y[1] = print("done") or 3.0  # <-
            return y[0] * y[1]
    """, (2.0,)),
    "finally that returns": (Unsupported, """
        def f(x):
            try:
                y = x * x
            finally:
                return 3.0  # <-
    """, (2.0,)),
    "with a manager that hides exceptions": (Unsupported, """
        class Timer:
            def __enter__(self):
                return self

            def __exit__(self, *error):
                return True

        def f(x):
            with Timer():  # <-
                y = x * x
            return y
    """, (2.0,)),
    "with settings that are computed": (Unsupported, """
        def f(x, mode):
            with np.errstate(all=mode):  # <-
                return x * x
    """, (2.0, "ignore")),
    "object that is bound anew behind a gradient of its method": (Unsupported, """
        from s2sgrad import grad

        class Spring:
            def __init__(self, k):
                self.k = k

            def energy(self, q):
                return self.k * q**4

        def f(x):
            spring = Spring(x)
            slope = grad(spring.energy)
            spring = Spring(x * 2.0)  # <-
            return slope(1.5) * spring.k
    """, (2.0,)),
    "vectorize with options": (Unsupported, """
        def f(x):
            g = np.vectorize(lambda a: a * a, cache=True)  # <-
            return np.sum(g(x))
    """, (V,)),
    "with and several names": (Unsupported, """
        def f(x):
            with np.errstate(all="ignore") as (old, new):  # <-
                return x * x
    """, (2.0,)),
    "with a manager that looks at the exception": (Unsupported, """
        class Committed:
            def __enter__(self):
                return self

            def __exit__(self, kind, value, traceback):
                if kind is None:
                    print("committed")

        def f(x):
            with Committed():  # <-
                y = x * x
            return y
    """, (2.0,)),
    "with a generator that catches": (Unsupported, """
        import contextlib

        @contextlib.contextmanager
        def quiet():
            try:
                yield
            except ValueError:
                pass

        def f(x):
            with quiet():  # <-
                y = x * x
            return y
    """, (2.0,)),
    "with a manager that writes its argument": (Unsupported, """
        import contextlib

        @contextlib.contextmanager
        def cleared(a):
            yield
            a[:] = 0.0

        def f(x):
            y = x * 2.0
            with cleared(y):  # <-
                z = y * y
            return np.sum(z)
    """, (V,)),
    "number that comes back from a text": (Unsupported, """
        def f(x):
            label = f"{x:.3f}"
            print(len(label))
            return x * float(label)  # <-
    """, (2.0,)),
    "array that comes back from bytes": (Unsupported, """
        def f(x):
            data = (x * 2.0).tobytes()
            return np.sum(np.frombuffer(data) * x)  # <-
    """, (V,)),
    "context entered by hand": (Unsupported, """
        def f(x):
            state = np.errstate(all="ignore")
            state.__enter__()  # <-
            return x * x
    """, (2.0,)),
    "match, more patterns than values": (Unsupported, """
        def f(x):
            match x, x > 1.0:
                case a, b, c:  # <-
                    return a
            return x * x
    """, (2.0,)),
    "match, a sequence pattern for a constant": (Unsupported, """
        def f(x):
            match 3:
                case (a, b):  # <-
                    return a
            return x * x
    """, (2.0,)),
    "match, a class known at run time": (Unsupported, """
        def f(x, cls):
            match x:
                case cls():  # <-
                    return x * x
            return x
    """, (2.0, float)),
    "match, an attribute that is computed": (Unsupported, """
        class Box:
            @property
            def value(self):
                return 3.0

        def f(x, box):
            match box:
                case Box(value=v):  # <-
                    return x * v
            return x
    """, (2.0, None)),
    "match, too many positional patterns": (Unsupported, """
        class Box:
            pass

        def f(x, box):
            match box:
                case Box(v):  # <-
                    return x * v
            return x
    """, (2.0, None)),
    "objects that are put in order by their class": (Unsupported, """
        import dataclasses

        @dataclasses.dataclass(order=True)
        class Item:
            key: float
            value: float

        def f(x):
            items = sorted(Item(-k, v) for k, v in enumerate(x))  # <-
            return items[0].value * items[1].value
    """, ([1.0, 2.0],)),
    "named objects that are put in order": (Unsupported, """
        class Item:
            def __init__(self, key):
                self.key = key

            def __lt__(self, other):
                return self.key < other.key

        def f(x):
            a, b = Item(x), Item(x * x)
            return sorted([a, b])[1].key  # <-
    """, (2.0,)),
    "class in a block": (Refused, """
        def f(x):
            if x > 0.0:
                class Box:  # <-
                    value = 3.0
            return x * Box.value
    """, (2.0,)),
    "import bound in one branch": (Unsupported, """
        def f(x):
            if x > 1.0:
                import math
            return math.sin(x)  # <-
    """, (2.0,)),
    "differentiated value in a global": (Unsupported, """
        total = 0.0

        def f(x):
            global total
            total = x * x  # <-
            return total
    """, (2.0,)),
    "array in a global": (Unsupported, """
        state = None

        def f(x):
            global state
            y = np.zeros(3)
            state = y  # <-
            y[0] = x
            return np.sum(y)
    """, (2.0,)),
    "list in a global grows": (Unsupported, """
        names = []

        def f(x):
            global names
            names += ["f"]  # <-
            return x * x
    """, (2.0,)),
    "global as the variable of a loop": (Unsupported, """
        k = 0

        def f(x):
            global k
            for k in range(3):  # <-
                x = x * x
            return x
    """, (1.1,)),
    "del of a global": (Unsupported, """
        k = 0

        def f(x):
            global k
            del k  # <-
            return x
    """, (2.0,)),
    "global in a lambda": (Unsupported, """
        k = 0

        def f(x):
            global k
            k = 3
            scaled = lambda y: k * y  # <-
            return scaled(x)
    """, (2.0,)),
    "global written here and read by a callee": (Unsupported, """
        rate = 1.0

        def scaled(x):
            return x * rate  # <-

        def f(x):
            global rate
            rate = 2.0
            y = scaled(x)
            rate = 3.0
            return y
    """, (2.0,)),
    "global written by a callee and read here": (Unsupported, """
        rate = 1.0

        def squared(x):
            global rate
            rate = 5.0
            return x * x

        def f(x):
            y = x * rate  # <-
            return squared(x) * y
    """, (2.0,)),
    "global written next to a function known at run time": (Unsupported, """
        rate = 1.0

        def scaled(x):
            return x * rate  # <-

        def f(x):
            global rate
            rate = 2.0
            y = {"scaled": scaled}["scaled"](x)
            rate = 3.0
            return y
    """, (2.0,)),
    "nonlocal": (Unsupported, """
        def outer():
            k = 0

            def f(x):
                nonlocal k  # <-
                k = k + 1
                return x * k
            return f

        f = outer()
    """, (2.0,)),
    "read after del": (Refused, """
        def f(x):
            y = x * x
            if y > 9.0:
                del y  # <-
            return x * y
    """, (4.0,)),
    "del in a loop, bound before it": (Unsupported, """
        def f(x):
            y = x * x
            for _ in range(2):
                x = x * x
                del y  # <-
            return x
    """, (2.0,)),
    "del of what may be unbound": (Unsupported, """
        def f(x):
            if x > 3.0:
                y = x * x
            del y  # <-
            return x
    """, (2.0,)),
    "del of an attribute": (Unsupported, """
        def f(x, box):
            del box.value  # <-
            return x * x
    """, (2.0, None)),
    "yield": (Unsupported, """
        def f(x):  # <-
            y = x * x
            yield y
    """, (2.0,)),
    "yield from": (Unsupported, """
        def f(x):  # <-
            yield from [x, x]
    """, (2.0,)),
    "async def": (Unsupported, """
        async def f(x):  # <-
            return x * x
    """, (2.0,)),
    "import of what is not imported yet": (Unsupported, """
        def f(x):
            import no_module_of_this_name  # <-
            return x * no_module_of_this_name.value
    """, (2.0,)),
    "import from a module without the name": (Unsupported, """
        def f(x):
            from math import no_function_of_this_name  # <-
            return no_function_of_this_name(x)
    """, (2.0,)),
    "import of a name that is bound elsewhere": (Unsupported, """
        def f(x):
            from math import sin  # <-
            if x > 3.0:
                sin = np.cos
            return sin(x)
    """, (2.0,)),
    "import after its use": (Unsupported, """
        def f(x):
            for _ in range(2):
                x = sin(x)  # <-
                from math import sin
            return x
    """, (2.0,)),
    "star call of an array beside a keyword": (Unsupported, """
        def g(a, *rest):
            return a * sum(rest)

        def f(x):
            return g(*x, **{"a": 2.0})  # <-
    """, (V,)),
    "complex intermediate values": (S2SGradError, """
        def f(x):
            y = x * 2.0
            return np.sum(np.fft.fft(y))  # <-
    """, (V,)),
    "NumPy function without a rule": (NoRule, """
        def f(x):
            y = x * 2.0
            return np.sum(np.sort_complex(y).real)  # <-
    """, (V,)),
    "NumPy function of several results without a rule": (NoRule, """
        def f(x):
            h, edges, others = np.histogram2d(x, x)  # <-
            return np.sum(edges)
    """, (V,)),
    "einsum with axis numbers in a variable": (NoRule, """
        def f(x):
            labels = [0]
            return np.einsum(x, labels, x, labels, [])  # <-
    """, (V,)),
    "polynomial with arrays for coefficients": (NoRule, """
        def f(x):
            return np.sum(np.polyval([x, x * x], 2.0))  # <-
    """, (V,)),
    "draw whose shape depends on the argument": (NoRule, """
        def f(x):
            return np.sum(np.random.gamma(x, 1.0))  # <-
    """, (V,)),
    "draw from the argument": (NoRule, """
        def f(x):
            return np.sum(np.random.choice(x, 2))  # <-
    """, (V,)),
    "draw of a generator by a method without a rule": (NoRule, """
        def f(x):
            return np.sum(np.random.default_rng(0).multivariate_normal(x, np.eye(len(x))))  # <-
    """, (V,)),
    "draw by a method that a global holds": (NoRule, """
        draw = np.random.gamma

        def f(x):
            return np.sum(draw(x))  # <-
    """, (V,)),
    "function in a table of nested functions that is defined after them": (Unsupported, """
        def f(x):
            def both(n):
                return of(n[1]) + of(n[2])  # <-

            table = {"both": both, "one": lambda n: x[n[1]] ** 2}

            def of(n):
                return table[n[0]](n)

            return of(("both", ("one", 0), ("one", 1)))
    """, (V,)),
    "table of functions that is asked for what to do with an object": (Unsupported, """
        class Node:
            def __init__(self, kind, left, right):
                self.kind, self.left, self.right = kind, left, right

        def of(n):
            return 2.0 if n is None else TABLE[n.kind](n)

        def both(n):
            return of(n.left) + of(n.right)

        TABLE = {"both": both, "none": lambda n: 1.0}

        def f(x):
            nodes = [Node("both", None, None)]
            for v in x:
                nodes.append(Node("both", nodes[-1], None))  # <-
            return of(nodes[-1]) * x[0]
    """, (V,)),
    "SciPy function without a rule": (NoRule, f"""
        from scipy.signal import {first_of_module(signal)} as unruled

        def f(x):
            y = unruled(x)  # <-
            return np.sum(y)
    """, (V,)),
    "SciPy function without a rule, a ufunc": (NoRule, """
        import scipy.special

        def f(x):
            return np.sum(scipy.special.itstruve0(x))  # <-
    """, (V,)),
    "unknown keyword dtype": (NoRule, """
        def f(x):
            return np.sum(x, dtype=np.float32)  # <-
    """, (V,)),
    "unknown keyword of a ufunc": (NoRule, """
        def f(x):
            return np.sum(np.sin(x, where=x > 1.0))  # <-
    """, (V,)),
    "unknown method of an array": (S2SGradError, """
        def f(x):
            y = x * 2.0
            y.setfield(1.0, float)  # <-
            return y[0]
    """, (V,)),
    "method of an array without a rule": (S2SGradError, """
        def f(x):
            y = x * 2.0
            return np.sum(y.byteswap())  # <-
    """, (V,)),
    "attribute that an array has not": (S2SGradError, """
        def f(x):
            y = x * 2.0
            return y.total * x  # <-
    """, (V,)),
    "store into a global array": (Unsupported, """
        table = np.ones(3)

        def f(x):
            table[0] = x[0]  # <-
            return np.sum(table * x)
    """, (V,)),
    "store into an array of a global object": (Unsupported, """
        import types

        box = types.SimpleNamespace(u=np.ones(3))

        def f(x):
            box.u[0] = x[0]  # <-
            return np.sum(box.u * x)
    """, (V,)),
    "in place on an array of a global object": (Unsupported, """
        import types

        box = types.SimpleNamespace(u=np.ones(3))

        def f(x):
            u = box.u
            u *= x  # <-
            return np.sum(u)
    """, (V,)),
    "store into what a function of no arguments returns": (Unsupported, """
        kept = np.ones(3)

        def table():
            return kept

        def f(x):
            table()[0] = x[0]  # <-
            return np.sum(kept * x)
    """, (V,)),
    "in place on an alias of a global array": (Unsupported, """
        table = np.ones(3)

        def f(x):
            t = table
            t *= x  # <-
            return np.sum(t)
    """, (V,)),
    "writer that calls itself, of a list of lists": (Unsupported, """
        def halve(rows, n):
            if n > 0:
                rows[n][0] *= rows[0][0]
                halve(rows, n - 1)

        def f(x):
            rows = [[v] for v in x]
            halve(rows, 2)  # <-
            return rows[0][0] * rows[1][0]
    """, (V,)),
    "writer known only at run time": (Unsupported, """
        def scale(u, v):
            u *= v

        def f(x):
            y = x * 2.0
            for key in ("scale", "scale"):
                TABLE[key](y, x)  # <-
            return np.sum(y)

        TABLE = {"scale": scale}
    """, (V,)),
    "writer known only at run time, in forward mode": (Unsupported, """
        from s2sgrad import jvp

        def f(x):
            return jvp(g, (x,), (x,))[1]

        def g(x):
            u = x * 2.0
            y = apply[0](u)  # <-
            return np.sum(y * u[0])

        def scale(u):
            u *= 2.0
            return u

        apply = [scale]
    """, (V,)),
    "grad of a function value that closes over what is differentiated, within a helper": (Unsupported, """
        from s2sgrad import grad

        def slope(h, t):
            return grad(h)(t)  # <-

        def f(x):
            h = np.sin
            for w in x:
                h = lambda t, h=h, w=w: h(w * t)
            return slope(h, 0.5)
    """, (V,)),
    "function that gives back the array that is written behind it": (Unsupported, """
        def f(x):
            u = x * 2.0
            fs = [np.sin]
            for _ in range(2):
                fs.append(lambda t: u)  # <-
            z = fs[1](1.0)
            u[0] = x[1] * x[2]
            return np.sum(z * x)
    """, (V,)),
    "result of a method that writes": (Unsupported, """
        def f(x):
            y = x * 2.0
            z = y.fill(1.0)  # <-
            return np.sum(y)
    """, (V,)),
    "method that resizes": (Unsupported, """
        def f(x):
            y = x * 2.0
            y.resize(2)  # <-
            return np.sum(y)
    """, (V,)),
    "shuffled list": (Unsupported, """
        def f(x):
            y = [x[0], x[1], 2.0]
            np.random.shuffle(y)  # <-
            return y[0]
    """, (V,)),
    "string method on a differentiated value": (S2SGradError, """
        def f(x):
            return float.fromhex(x.hex()) * x  # <-
    """, (2.0,)),
    "callee with an unsupported construct": (Unsupported, """
        def helper(a):
            b = a * a
            with memoryview(b""):  # <-
                c = b * a
            return c

        def f(x):
            return helper(x) * x
    """, (2.0,)),
    "callee of a callee with a function without a rule": (NoRule, """
        def deepest(a):
            return np.sort_complex(a).real  # <-

        def helper(a):
            return deepest(a) * 2.0

        def f(x):
            return np.sum(helper(x))
    """, (V,)),
    "callee with complex values": (S2SGradError, """
        def helper(a):
            return np.fft.fft(a)  # <-

        def f(x):
            return np.sum(helper(x))
    """, (V,)),
    "call that does not fit its callee": (S2SGradError, """
        def helper(a):
            return a * a

        def f(x):
            return helper(x, x)  # <-
    """, (2.0,)),
    "call of a callee with a wrong keyword": (S2SGradError, """
        def helper(a):
            return a * a

        def f(x):
            return helper(x, b=3.0)  # <-
    """, (2.0,)),
    "eval": (S2SGradError, """
        def f(x):
            return eval("x * x", {"x": x})  # <-
    """, (2.0,)),
    "set of differentiated values": (S2SGradError, """
        def f(x):
            s = {x, x * 2.0}  # <-
            return sum(s)
    """, (2.0,)),
    "partial of the module that writes its argument": (Unsupported, """
        import functools

        def scale(k, u):
            u[0] = u[0] * k

        doubled = functools.partial(scale, 2.0)

        def f(x):
            u = x * 1.0
            doubled(u)  # <-
            return u[0] * u[1]
    """, (V,)),
    "method that writes, under a name": (Unsupported, """
        def f(x):
            u = x * 1.0
            sort = u.sort  # <-
            sort()
            return u[0] * u[1] ** 2
    """, (V,)),
    "method that writes, through its class": (Unsupported, """
        def f(x):
            u = [x, x * x]
            list.append(u, x ** 3)  # <-
            return u[-1]
    """, (2.0,)),
    "partial of a method that writes": (Unsupported, """
        import functools

        ordered = functools.partial(np.ndarray.sort)

        def f(x):
            u = x * 1.0
            ordered(u)  # <-
            return u[0] * u[1] ** 2
    """, (V,)),
    "object that is returned": (Unsupported, """
        class Point:
            def __init__(self, x):
                self.x = x

        def f(x):
            return Point(x)  # <-
    """, (2.0,)),
}


# programs that may be refused, but never give another number
RIGHT_OR_REFUSED = {
    "in place on an element": """
        def f(x):
            y = x * 2.0
            y[0] += x[1]
            return np.sum(y * y)
    """,
    "in place on an element, twice the same": """
        def f(x):
            y = x * 2.0
            y[[0, 0]] += x[1:]
            return np.sum(y * y)
    """,
    "in place on an element of an alias": """
        def f(x):
            y = x * 2.0
            z = y
            z[0] += x[1]
            return np.sum(y * z)
    """,
    "in place times an element": """
        def f(x):
            y = x * 2.0
            y[1:] *= x[1:]
            return np.sum(y * y)
    """,
    "append": """
        def f(x):
            xs = []
            for v in x:
                xs.append(v * v)
            return xs[0] * xs[2]
    """,
    "append through an alias": """
        def f(x):
            xs = []
            ys = xs
            ys.append(x)
            return np.sum(xs[0] * x)
    """,
    "append to an argument of a helper": """
        def helper(xs, v):
            xs.append(v * v)

        def f(x):
            xs = []
            helper(xs, x)
            return np.sum(xs[0] * x)
    """,
    "append to a global": """
        history = []

        def f(x):
            history.append(x * x)
            return np.sum(history[-1] * x)
    """,
    "extend": """
        def f(x):
            xs = [x]
            xs.extend([x * x])
            return np.sum(xs[1])
    """,
    "helper that writes its argument": """
        def helper(y):
            y[0] = 0.0

        def f(x):
            y = x * x
            helper(y)
            return np.sum(y)
    """,
    "helper that returns its argument, then in place": """
        def helper(y):
            return y

        def f(x):
            y = x * x
            z = helper(y)
            z *= 2.0
            return np.sum(y * z)
    """,
    "lambda that captures a differentiated value": """
        def f(x):
            y = x * x
            g = lambda k: y * k
            return np.sum(g(3.0))
    """,
    "lambda that captures the argument": """
        def f(x):
            g = lambda: x * x
            return np.sum(g())
    """,
    "comprehension that captures": """
        def f(x):
            y = x * x
            zs = [y for k in range(2)]
            return np.sum(zs[0])
    """,
    "map": """
        def f(x):
            ys = list(map(lambda v: v * v, x))
            return ys[0] * ys[1]
    """,
    "sorted": """
        def f(x):
            ys = sorted(x * x)
            return ys[0] * 2.0 + ys[2]
    """,
    "function known only at run time": """
        def f(x):
            table = {"a": np.sin}
            return np.sum(table["a"](x))
    """,
    "function passed as an argument": """
        def apply(g, v):
            return g(v)

        def f(x):
            return np.sum(apply(np.sin, x))
    """,
    "out of a ufunc": """
        def f(x):
            y = np.zeros(3)
            np.multiply(x, x, out=y)
            return np.sum(y)
    """,
    "out by position": """
        def f(x):
            y = np.zeros(3)
            np.multiply(x, x, y)
            return np.sum(y)
    """,
    "copyto": """
        def f(x):
            y = np.zeros(3)
            np.copyto(y, x)
            return np.sum(y * y)
    """,
    "fill_diagonal": """
        def f(x):
            y = np.outer(x, x)
            np.fill_diagonal(y, 0.0)
            return np.sum(y)
    """,
    "ufunc.at": """
        def f(x):
            y = np.zeros(3)
            np.add.at(y, [0, 0, 1], x)
            return np.sum(y * y)
    """,
    "ufunc.reduce": """
        def f(x):
            return np.multiply.reduce(x) + np.add.reduce(x)
    """,
    "fill": """
        def f(x):
            y = x * x
            y.fill(2.0)
            return np.sum(y * x)
    """,
    "put": """
        def f(x):
            y = x * x
            y.put([0], 5.0)
            return np.sum(y)
    """,
    "shuffled in place": """
        def f(x):
            y = x * x
            np.random.default_rng(0).shuffle(y)
            return y[0]
    """,
    "exec": """
        def f(x):
            space = {"x": x}
            exec("y = x * x", space)
            return np.sum(space["y"])
    """,
    "locals": """
        def f(x):
            y = x * x
            return np.sum(locals()["y"])
    """,
    "object array made inside": """
        def f(x):
            y = np.array([x[0], x[1]], dtype=object)
            return y[0] * y[1]
    """,
    "astype of an integer": """
        def f(x):
            return np.sum(x.astype(np.int64) * x)
    """,
    "byteswap": """
        def f(x):
            return np.sum(x.byteswap().byteswap() * x)
    """,
    "view of the bits": """
        def f(x):
            return np.sum((x * x).view(np.int64) * x)
    """,
    "tolist": """
        def f(x):
            y = (x * x).tolist()
            return y[0] * y[1]
    """,
    "item": """
        def f(x):
            return (x * x).item(1) * x[0]
    """,
    "flat": """
        def f(x):
            return (x * x).flat[1] * x[0]
    """,
    "global list that holds the argument": """
        kept = []

        def keep(v):
            kept.append(v)
            return len(kept)

        def f(x):
            keep(x * x)
            return np.sum(kept[-1])
    """,
}


@pytest.mark.parametrize("name", RIGHT_OR_REFUSED)
def test_right_or_refused(name, module):
    made = module(HEAD + textwrap.dedent(RIGHT_OR_REFUSED[name]))
    (expected,) = central_difference(made.f, (V,), 0)
    x = V.copy()
    try:
        gradient = grad(made.f)(x)
    except S2SGradError as error:
        assert 'File "' in str(error) and "^" in str(error)
    else:
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(x, V)


def lines_marked(text):
    return [number for number, line in enumerate(text.splitlines(), 1) if "# <-" in line]


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, module):
    kind, text, args = REFUSED[name]
    text = HEAD + textwrap.dedent(text)
    made = module(text)
    (line,) = lines_marked(text)
    keywords = {}
    if isinstance(args[-1], dict):
        *args, keywords = args
    before = [np.array(arg) for arg in args]
    with pytest.raises(S2SGradError) as caught:
        grad(made.f)(*args, **keywords)
    assert isinstance(caught.value, kind), f"{type(caught.value).__name__}: {caught.value}"
    assert_points_at(caught.value, made.__file__, line)
    for arg, old in zip(args, before, strict=True):
        np.testing.assert_array_equal(arg, old)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_the_call_or_not_at_all(name, module):
    """The generic text is refused at the same line, or compiles: then the error comes with the call."""
    _, text, _ = REFUSED[name]
    text = HEAD + textwrap.dedent(text)
    made = module(text)
    try:
        assert "def f_grad(" in grad(made.f).source
    except S2SGradError as error:
        assert error.place.line == lines_marked(text)[0], error


def last_marked(function):
    """The last line marked with `# <-` up to the end of a function of a module: in the function, or in a helper above it."""
    lines, first = inspect.getsourcelines(function)
    text = pathlib.Path(function.__code__.co_filename).read_text(encoding="utf-8").splitlines()
    return max(lines_marked("\n".join(text[: first + len(lines) - 1])))


@pytest.mark.parametrize(("function", "args", "words"), CORPUS_REFUSED, ids=[entry[0].__name__ for entry in CORPUS_REFUSED])
def test_refused_of_the_corpus(function, args, words):
    """If this fails because the gradient is right: make it a case of the corpus."""
    function(*copied(args))
    given = copied(args)
    with pytest.raises((Unsupported, Refused), match=re.escape(words)) as caught:
        grad(function)(*given)
    assert_points_at(caught.value, function.__code__.co_filename, last_marked(function))
    for arg, old in zip(given, args, strict=True):
        np.testing.assert_array_equal(arg, old)


WRITTEN_UNSEEN = {
    "append to a list that stands twice in a list": ("more than once", """
        def f(x):
            rows = [[x]] * 2
            rows[0].append(x * x)  # <-
            return np.sum(rows[1][1])
    """),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN_UNSEEN)
def test_what_only_the_arrays_tell_is_refused_when_it_runs(name, module):
    """A list that stands twice in another one: a TypeError that names the line, never a wrong number."""
    word, text = WRITTEN_UNSEEN[name]
    text = HEAD + textwrap.dedent(text)
    made = module(text)
    x = np.arange(12.0).reshape(3, 4)
    with pytest.raises(Refused, match=word) as caught:
        grad(made.f)(x)
    assert isinstance(caught.value, TypeError)
    assert_points_at(caught.value, made.__file__, *lines_marked(text))
    np.testing.assert_array_equal(x, np.arange(12.0).reshape(3, 4))


def row_of_rows(x, rows):
    rows[0][0] = x * x
    return rows[1][0] * x


def row_of_another_argument(x, rows, row):
    rows["a"][0] = x * x
    return row[0] * x


def list_of_another_name(x, a, b):
    a.append(x)
    return b[-1] * x


def array_of_an_object(x, box, h):
    box.h[0] = x * x
    return np.sum(h * x)


class Box:
    def __init__(self):
        self.h = np.array([0.1, 0.2])


ROW = [0.3, 0.5]
BOX = Box()


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (array_of_an_object, (BOX, BOX.h)), (array_of_an_object, (BOX, np.transpose(BOX.h))),
        (row_of_rows, ([ROW, ROW],)), (row_of_another_argument, ({"a": ROW}, ROW)), (list_of_another_name, (ROW, ROW)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_arguments_that_share_lists_are_refused(f, args):
    with pytest.raises(ValueError, match="shares memory"):
        grad(f)(0.6, *args)
    assert ROW == [0.3, 0.5]


KNOWN_OUTSIDE, KNOWN_ARRAY = [9.0], np.array([9.0, 1.0])


def reads_it_by_name(x, f, kept):
    kept[0] = x[0]
    return x[1] * KNOWN_OUTSIDE[0] * kept[0]


def of_what_is_outside(v):
    return v * KNOWN_OUTSIDE[0]


def reads_it_by_a_helper(x, f, kept):
    kept[0] = x[0]
    return of_what_is_outside(x[1]) * kept[0]


def reads_it_by_an_argument(x, f, kept):
    kept[0] = x[0]
    return f(x[1]) * kept[0]


def default_that_is_written(x, f=None, kept=[1.0]):  # noqa: B006
    kept[0] = x[0]
    return x[1] * kept[0]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(
    ("f", "g", "kept"),
    [
        (reads_it_by_name, None, KNOWN_OUTSIDE),
        (reads_it_by_a_helper, None, KNOWN_OUTSIDE),
        (reads_it_by_an_argument, of_what_is_outside, KNOWN_OUTSIDE),
        (reads_it_by_an_argument, lambda v: v * KNOWN_ARRAY[0], KNOWN_ARRAY),
        (reads_it_by_an_argument, lambda v, held=(KNOWN_ARRAY[1:], KNOWN_ARRAY[:1]): v * held[1][0], KNOWN_ARRAY),
    ],
)
def test_what_is_written_as_an_argument_and_read_from_outside_is_refused(f, g, kept):
    x = np.array([0.7, 1.3])
    ways = [grad(f), lambda *a: jvp(f, a, (x, None, None)), lambda *a: recorded_vjp(f, a, {}, (0,))]
    ways += [lambda *a: hvp(f, a, (x, None, None)), *([hessian(f)] if g is None else [])]
    for derivative in ways:
        with pytest.raises((ValueError, TypeError), match="pass a copy"):
            derivative(x, g, kept)
        if g is None:
            derivative(x, g, [1.0])
        with pytest.raises((ValueError, TypeError), match="pass a copy"):
            derivative(x, g, kept)
    np.testing.assert_allclose(grad(default_that_is_written)(x), x[::-1])



def test_arguments_that_share_memory_are_refused(module):
    made = module("""
        import numpy as np

        def f(x, y):
            x[1:] = y[:-1] * x[1:]
            return np.sum(x * y)
    """)
    x = V.copy()
    with pytest.raises(ValueError, match="shares memory with"):
        grad(made.f)(x, x[::-1])
    np.testing.assert_array_equal(x, V)


def test_nonlocal_is_refused(module):
    made = module(HEAD + textwrap.dedent("""
        def outer():
            k = 0.0
            def f(x):
                nonlocal k  # <-
                k = x * x
                return k
            return f
        f = outer()
    """))
    with pytest.raises(Unsupported) as caught:
        grad(made.f)(2.0)
    assert_points_at(caught.value, made.__file__, 8)


def test_await_is_refused(module):
    made = module("""
        async def f(x):
            return await x
    """)
    with pytest.raises(Unsupported) as caught:
        grad(made.f)(2.0)
    assert "async" in str(caught.value) or "await" in str(caught.value)


def test_the_callees_file_is_named(module):
    callee = module("""
        def helper(a):
            class B:
                value = a
            return B.value
    """)
    caller = module("""
        helper = None

        def f(x):
            return helper(x) * x
    """)
    caller.helper = callee.helper
    with pytest.raises(Unsupported) as caught:
        grad(caller.f)(2.0)
    assert_points_at(caught.value, callee.__file__, 3)


LEADING_TO_A_LIBRARY = {
    "written out where it is called": ("""
        @functools.singledispatch
        def energy(v, k):
            return np.sum(v * v) * k

        def f(x):
            return energy(x, 2.0)
    """, 9, "functools.py"),
    "a function of its own": ("""
        def f(x):
            return statistics.harmonic_mean([x[0], x[1]])
    """, 5, "statistics.py"),
    "of a loop": ("""
        def f(x):
            for v in x:
                v = v + statistics.harmonic_mean([v, v])
            return v
    """, 6, "statistics.py"),
    "around the function": ("""
        @np.errstate(all="ignore")
        def f(x):
            return np.sum(np.sqrt(x))
    """, 4, "numpy"),
    "around what is called": ("""
        @contextlib.contextmanager
        def entered():
            yield

        @entered()
        def energy(x):
            return np.sum(x * x)

        def f(x):
            return energy(x) * 2.0
    """, 13, "contextlib.py"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEADING_TO_A_LIBRARY)
def test_what_a_library_does_is_refused_where_the_user_calls_it(name, module):
    text, line, library = LEADING_TO_A_LIBRARY[name]
    head = "import contextlib, functools, statistics\nimport numpy as np\n\n"
    made = module(head + textwrap.dedent(text).lstrip("\n"))
    with pytest.raises(Unsupported, match=r"this leads to .*, where .*`custom_gradient`") as caught:
        grad(made.f)(V)
    assert_points_at(caught.value, made.__file__, line)
    assert library in str(caught.value) or library == "numpy"


WITHOUT_AN_END = [
    "for v in (k * u * x for k in itertools.count(1) for u in (1, 2)):\n        if v > 4.0:\n            return v",
    "for v in (k * u * x for k in naturals() for u in (1, 2)):\n        if v > 4.0:\n            break\n    return v",
    "return x if any(v > 4.0 for v in (k * x for k in naturals())) else x * x",
    "return next(k * u * x for k in naturals() for u in (1, 2))",
    "return x if 4.0 in (round(v) for v in (k * x for k in naturals())) else x * x",
]


@pytest.mark.parametrize("text", WITHOUT_AN_END)
def test_what_may_have_no_end_is_no_list(text, module):
    head = "import itertools\n\n\ndef naturals():\n    k = 1\n    while True:\n        yield k\n        k += 1\n\n\n"
    made = module(f"{head}def f(x):\n    {text}\n")
    words = "which item of this iterator is next" if "for u in (1, 2)" in text else "no end"
    with pytest.raises(Unsupported, match=words) as caught:
        grad(made.f)(1.3)
    assert_points_at(caught.value, made.__file__, 12)


def test_the_caret_is_under_the_construct(module):
    made = module("""
        import numpy as np

        def f(x):
            return 2.0 * np.sum(x) + np.sort_complex(x)[0].real
    """)
    with pytest.raises(NoRule) as caught:
        grad(made.f)(V)
    text, caret = str(caught.value).splitlines()[-2:]
    start, end = caret.index("^"), len(caret)
    assert text[start:end] == "np.sort_complex(x)"


def test_the_caret_in_a_line_with_letters_outside_ascii(module):
    made = module("""
        import numpy as np

        def f(größe):
            return "äöü" * 0, größe * 1.0, np.sort_complex(größe)
    """)
    with pytest.raises(S2SGradError) as caught:
        grad(made.f)(V)
    text, caret = str(caught.value).splitlines()[-2:]
    assert text[caret.index("^") : len(caret)].startswith(("np.sort_complex(größe)", '"äöü"'))


HEADS = (
    "def f(x):\n", "@same\ndef f(x):\n", "@same\n@telling(1,\n    2)\n\ndef f(x):\n", "@same\n@same\n@same\ndef f(x):\n",
)  # fmt: skip
REFUSED_IN_THE_MIDDLE = {
    "a number that is filled": "y = np.sum(x)\ny.fill(3.0)\nreturn y * x[0]",
    "a keyword without a rule": "z = x * 2\nreturn np.sum(np.ediff1d(z, to_begin=x[0]))",
    "a function without a rule": "z = x * 2\nreturn np.sum(np.packbits(z))",
    "shapes that do not fit": "z = x * 2\nz = z @ np.ones((7, 7))\nreturn np.sum(z)",
    "an error of the user's own": "z = x * 2\nif z[0] > 0:\n    raise ValueError('no')\nreturn np.sum(z)",
    "an index out of range": "z = x * 2\nw = z[11]\nreturn w",
    "nothing returned": "z = x * 2\nz = z + 1",
    "a result that is no number": "z = x * 2\nreturn z",
    "the bits of numbers": "z = x.astype(int)\nreturn np.sum(z.view(np.uint8) * x[0])",
    "a text that is evaluated": "z = x * 2\nq = eval('z * 2')\nreturn np.sum(np.packbits(q))",
    "two draws": "z = x * 2\ndef g():\n    yield z\nq = g()\nw = next(q)\nreturn np.sum(np.packbits(next(q)))",
    "in a nested one": "z = x * 2\n@same\ndef g(z):\n    w = z * 2\n    return np.packbits(w)\nreturn np.sum(g(z))",
    "in a method of a list": "z = [x * 2]\n@same\ndef g(z):\n    w = z\n    return w.nothing()\nreturn np.sum(g(z.pop()))",
}  # fmt: skip
IN_EACH_MODE = {
    "grad": grad,
    "value_and_grad": value_and_grad,
    "hessian": hessian,
    "jacrev": s2sgrad.jacrev,
    "jacfwd": s2sgrad.jacfwd,
    "jvp": lambda f: lambda x: jvp(f, (x,), (x,)),
}


@pytest.mark.records
@pytest.mark.parametrize("mode", IN_EACH_MODE)
@pytest.mark.parametrize("body", REFUSED_IN_THE_MIDDLE)
def test_decorated_functions_are_refused_at_the_same_lines(module, body, mode):
    """A decorator stands above the `def`, and changes neither the words nor the line that they name."""
    seen = set()
    for head in HEADS:
        before = "import numpy as np\n\ndef same(f): return f\ndef telling(*args): return same\n" + head
        made = module(before + textwrap.indent(REFUSED_IN_THE_MIDDLE[body], "    "))
        lines = pathlib.Path(made.__file__).read_text().splitlines()
        try:
            IN_EACH_MODE[mode](made.f)(V)
        except Exception as error:
            said = "\n".join([str(error), *getattr(error, "__notes__", ())])
            left = [t.lineno for t in traceback.extract_tb(error.__traceback__) if t.filename == made.__file__]
            named = [*map(int, re.findall(r"line (\d+)", said)), *left]
            seen.add((type(error), said.partition("\n")[0], *(lines[k - 1] for k in named)))
        else:
            seen.add(None)
    assert len(seen) == 1, seen


def test_a_number_that_is_filled_is_refused_in_plain_words(module):
    body = textwrap.indent(REFUSED_IN_THE_MIDDLE["a number that is filled"], "    ")
    made = module("import numpy as np\n\ndef f(x):\n" + body)
    with pytest.raises(Unsupported, match="a number has no items that could be written") as caught:
        grad(made.f)(V)
    assert_points_at(caught.value, made.__file__, 5)


def test_errors_show_in_tracebacks_and_pickle(module):
    made = module("""
        def f(x):
            del x.value
            return 1.0
    """)
    with pytest.raises(Unsupported) as caught:
        grad(made.f)(2.0)
    shown = "".join(traceback.format_exception_only(caught.value))
    assert "line 3" in shown and "del x.value" in shown and "^" in shown
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.place == caught.value.place
    assert isinstance(caught.value, SyntaxError) and caught.value.lineno == 3


def test_an_error_comes_again_at_the_next_call_and_goes_when_it_is_mended(module):
    made = module("""
        import numpy as np

        def helper(x):
            return np.sort_complex(x).real

        def f(x):
            return helper(x) * 2.0
    """)
    df = grad(made.f)
    for _ in range(2):
        with pytest.raises(NoRule):
            df(V)
    made.helper = np.sin
    np.testing.assert_allclose(df(V), 2.0 * np.cos(V))


def advice_of(function, *args):
    """The notes of the error for a function without a rule, and the lines to copy that they have."""
    with pytest.raises(NoRule) as caught:
        grad(function)(*args)
    notes = "\n".join(caught.value.__notes__)
    return notes, "\n".join(line.strip() for line in notes.splitlines() if line.startswith("  "))


def test_advice_for_a_method_of_a_library_can_be_followed(module):
    stats = pytest.importorskip("scipy.stats")
    made = module("""
        from scipy import stats

        def f(m):
            return stats.norm.moment(2, m, 1.3)

        def fitted(x):
            return stats.gumbel_r.fit(x)[0]
    """)
    notes, lines = advice_of(made.f, 0.3)
    assert "Of scipy.stats.norm these have rules: cdf, " in notes
    space = {"scipy": __import__("scipy.stats")}
    lines = lines.replace("*[g * ... for a in args]", "*[g * s for s in (2 * args[0], 2 * args[1])]")
    exec(lines.replace("g * ...", "None"), space)
    assert abs(grad(lambda m: space["my_moment"](2, m, 1.3))(0.3) - 0.6) < 1e-12
    assert "minimize(" in advice_of(made.fitted, stats.gumbel_r.rvs(size=9, random_state=1))[0]


def test_advice_for_a_class_of_a_library_can_be_followed(module):
    interpolate = pytest.importorskip("scipy.interpolate")
    made = module("""
        from scipy import interpolate

        def f(y):
            return interpolate.Rbf([0.0, 1.0, 3.0], y)(0.4)
    """)
    notes, lines = advice_of(made.f, V)
    assert "for `ask`" in notes and "place of both" in notes
    space = {"interpolate": interpolate, "ask": lambda made: made(0.4)}
    exec(lines.replace("...", "shares"), space)
    space["shares"] = [interpolate.Rbf([0.0, 1.0, 3.0], row)(0.4) for row in np.eye(3)]
    space["shares"] = np.array(space["shares"])
    np.testing.assert_allclose(grad(lambda y: space["my_Rbf"]([0.0, 1.0, 3.0], y))(V), space["shares"])


# --- arguments and functions -----------------------------------------------------------------------------------------


def squared(x, n=2):
    return x * x * n


@pytest.mark.parametrize("wrong", [1j, np.complex128(1j), np.array([1j, 2.0])], ids=str)
def test_complex_arguments(wrong):
    with pytest.raises((Unsupported, TypeError), match="complex"):
        grad(squared)(wrong)


@pytest.mark.parametrize(
    "wrong",
    [np.array([1.0, 2.0], object), np.array([1.0, None], object), np.array(["a"]), np.array(["2020"], "M8[D]"), "t", None],
    ids=repr,
)
def test_arguments_that_are_no_floats(wrong):
    with pytest.raises((S2SGradError, TypeError), match=r"`x`"):
        grad(squared)(wrong)


@pytest.mark.parametrize("wrong", [3, True, np.arange(3), np.int8(3)], ids=repr)
def test_integers_are_named(wrong):
    with pytest.raises(TypeError, match=r"`x`.*float"):
        grad(squared)(wrong)
    with pytest.raises(TypeError, match=r"`n`.*float"):
        grad(squared, "n")(1.5, n=wrong)


def doubled_list(x):
    y = [x[0], x[1]] * np.float64(2.0)
    return y[0] * y[1]


def test_a_list_times_a_float_of_numpy_is_the_error_of_python():
    with pytest.raises(TypeError, match="can't multiply sequence"):
        grad(doubled_list)(np.array([0.3, 0.6]))


def test_functions_from_text():
    space = {}
    exec("def f(x):\n    return x * x\n", space)
    with pytest.raises(NoSource, match=r"\bf\b") as caught:
        grad(space["f"])(2.0)
    assert str(caught.value).rstrip().endswith(("line 1", "line 1)")) and "^" not in str(caught.value)
    with pytest.raises(NoSource):
        _ = grad(eval("lambda x: x * x")).source


def test_a_callee_from_text(module):
    made = module("""
        exec("def helper(x):\\n    return x * x")

        def f(x):
            return helper(x) * 3.0
    """)
    with pytest.raises(S2SGradError) as caught:
        grad(made.f)(2.0)
    assert isinstance(caught.value, NoSource)
    assert "helper" in str(caught.value)


@pytest.mark.parametrize(
    "function", [print, len, dict.get, np.sort_complex, functools.reduce, int], ids=lambda f: f.__name__
)
def test_builtins_and_library_functions_without_rules(function):
    with pytest.raises((S2SGradError, TypeError)) as caught:
        grad(function)(2.0)
    assert len(str(caught.value)) > 10
    assert internal(caught.value) is None


def test_an_edited_file(module):
    made = module("""
        def f(x):
            return x * x
    """)
    path = pathlib.Path(made.__file__)
    path.write_text("def f(x):\n    y = x * x * x\n    return y\n")
    with pytest.raises(NoSource, match=r"edited|changed|reload"):
        grad(made.f)(2.0)


def test_a_file_that_is_gone(module):
    made = module("""
        def f(x):
            return x * x
    """)
    pathlib.Path(made.__file__).unlink()
    with pytest.raises(NoSource):
        grad(made.f)(2.0)


def test_a_class_is_no_function():
    class Box:
        def __init__(self, x):
            self.x = x

    with pytest.raises((S2SGradError, TypeError)):
        grad(Box)(2.0)


# --- nothing makes the compiler itself fail --------------------------------------------------------------------------


def internal(error):
    """The line of the compiler that failed; None where the error was raised on purpose, or by the program itself."""
    if isinstance(error, Defect):
        return traceback.extract_tb(error.__cause__.__traceback__)[-1]
    if isinstance(error, (S2SGradError, TypeError, ValueError)) and not isinstance(error, UnicodeError):
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1]
        if isinstance(error, S2SGradError):
            return None
        raised = (last.line or "").lstrip().startswith("raise")
        return None if raised or not pathlib.Path(last.filename).is_relative_to(PACKAGE) else last
    last = traceback.extract_tb(error.__traceback__)[-1]
    if isinstance(error, SyntaxError):  # of a text that we wrote
        return last
    if isinstance(error, UnboundLocalError) and last.name == "bound":  # what the user's function raises
        return None
    if isinstance(error, RecursionError):
        frames = traceback.extract_tb(error.__traceback__)
        return next((f for f in frames[-50:] if pathlib.Path(f.filename).is_relative_to(PACKAGE)), None)
    inside = pathlib.Path(last.filename).is_relative_to(PACKAGE)
    third = any(part in last.filename for part in ("/gast/", "/astunparse/", "/inspect.py", "/linecache.py", "/ast.py"))
    return last if inside or third else None


def elif_chain(count):
    lines = ["def f(x):", "    if x < 0.0:", "        y = x"]
    for k in range(1, count):
        lines += [f"    elif x < {k}.0:", f"        y = x * {k}.0"]
    return "\n".join([*lines, "    else:", "        y = x * x", "    return y", ""])


def nested_ifs(count):
    lines = ["def f(x):", "    y = x"]
    lines += [f"{'    ' * (k + 1)}if x > -{k}.0:" for k in range(count)]
    return "\n".join([*lines, f"{'    ' * (count + 1)}y = x * x", "    return y", ""])


def nested_loops(count):
    lines = ["def f(x):", "    y = x"]
    lines += [f"{'    ' * (k + 1)}for i{k} in range(1):" for k in range(count)]
    return "\n".join([*lines, f"{'    ' * (count + 1)}y = y * x", "    return y", ""])


def long_function(count):
    lines = ["def f(x):", "    y0 = x"]
    lines += [f"    y{k + 1} = np.sin(y{k}) * x + {k}.0" if k % 2 else f"    y{k + 1} = y{k} * 0.5" for k in range(count)]
    return "\n".join([*lines, f"    return y{count}", ""])


def many_parameters(count):
    names = ", ".join(f"p{k}" for k in range(count))
    terms, given = " + ".join(f"p{k} * {k}.0" for k in range(count)), ", ".join(["x"] * count)
    return f"def g({names}):\n    return {terms}\n\ndef f(x):\n    return g({given})\n"


POINT = 1.7  # where no program has a kink

# name: text; `f` is called at POINT
NASTY = {
    "only pass": "def f(x):\n    pass\n",
    "only a docstring": 'def f(x):\n    """Nothing."""\n',
    "only an ellipsis": "def f(x): ...\n",
    "return without a value": "def f(x):\n    return\n",
    "return of None": "def f(x):\n    y = x * x\n    return None\n",
    "None in one arm": "def f(x):\n    if x > 5.0:\n        return x\n",
    "None in a tuple": "def f(x):\n    return x * x, None\n",
    "a string as the result": "def f(x):\n    return 'text'\n",
    "a string beside a number": "def f(x):\n    return x * x, 'text'\n",
    "an empty tuple": "def f(x):\n    return ()\n",
    "an empty list": "def f(x):\n    return []\n",
    "an empty dict": "def f(x):\n    return {}\n",
    "a module as the result": "def f(x):\n    return np\n",
    "a function as the result": "def f(x):\n    return np.sin\n",
    "the argument itself": "def f(x):\n    return x\n",
    "a comparison as the result": "def f(x):\n    return x > 1.0\n",
    "return in the middle": "def f(x):\n    y = x * x\n    return y\n    z = y * x\n    return z\n",
    "code after a return in a loop": """
        def f(x):
            for i in range(3):
                return x * x
                x = x * 2.0
            return x
    """,
    "code after a raise": """
        def f(x):
            if x < 0.0:
                raise ValueError('x')
                x = 3.0
            return x * x
    """,
    "only a raise": "def f(x):\n    raise ValueError('always')\n",
    "raise without anything": "def f(x):\n    if x < 0.0:\n        raise\n    return x * x\n",
    "infinite recursion": "def f(x):\n    return f(x) * x\n",
    "infinite mutual recursion": """
        def g(x):
            return f(x) + 1.0

        def f(x):
            return g(x) * x
    """,
    "recursion by a default": """
        def f(x, g=None):
            if g is None:
                return f(x, 1)
            return x * x
    """,
    "unpacking too many": "def f(x):\n    a, b = x, x, x\n    return a * b\n",
    "unpacking too few": "def f(x):\n    a, b, c = x, x\n    return a * b\n",
    "unpacking a number": "def f(x):\n    a, b = x\n    return a * b\n",
    "unpacking a call": """
        def g(x):
            return x, x, x

        def f(x):
            a, b = g(x)
            return a * b
    """,
    "starred unpacking of too few": "def f(x):\n    a, b, *c = (x,)\n    return a * b\n",
    "a loop that is not used": """
        def f(x):
            for i in range(10):
                y = i * i
            return x * x
    """,
    "a loop with an unused differentiated value": """
        def f(x):
            for i in range(3):
                y = x * i
            return x * x
    """,
    "a loop that never runs": """
        def f(x):
            for i in range(0):
                x = x * x
            return x
    """,
    "a value of a loop that never runs": """
        def f(x):
            for i in range(0):
                y = x * x
            return y
    """,
    "a loop variable of a loop that never runs": """
        def f(x):
            for i in range(0):
                pass
            return x * i
    """,
    "a loop over nothing": "def f(x):\n    for v in []:\n        x = x * v\n    return x * x\n",
    "break first": """
        def f(x):
            for i in range(3):
                break
                x = x * x
            return x * x
    """,
    "continue first": """
        def f(x):
            for i in range(3):
                continue
                x = x * x
            return x * x
    """,
    "break alone in while True": "def f(x):\n    while True:\n        break\n    return x * x\n",
    "while False": "def f(x):\n    while False:\n        x = x * x\n    return x * x\n",
    "while 0 with else": """
        def f(x):
            while 0:
                x = x + 1.0
            else:
                x = x * x
            return x
    """,
    "nested while True": """
        def f(x):
            n = 0
            while True:
                while True:
                    while True:
                        x = x * 1.1
                        n = n + 1
                        if n > 2:
                            break
                    if n > 4:
                        break
                if n > 6:
                    return x
    """,
    "if True": "def f(x):\n    if True:\n        return x * x\n    else:\n        return x\n",
    "if with only pass": """
        def f(x):
            if x > 0.0:
                pass
            else:
                pass
            return x * x
    """,
    "a condition that is an array": """
        def f(x):
            if np.array([x]):
                return x * x
            return x
    """,
    "a name never bound": "def f(x):\n    return x * missing\n",
    "a name bound in one arm": "def f(x):\n    if x > 5.0:\n        y = x\n    return y * x\n",
    "a name read before it is bound": "def f(x):\n    y = z * x\n    z = x\n    return y * z\n",
    "500 terms": "def f(x):\n    return " + " + ".join(f"x * {k}.0" for k in range(500)) + "\n",
    "300 factors": "def f(x):\n    return " + " * ".join(["x"] * 300) + " * 1e-80\n",
    "300 arguments of max": "def f(x):\n    return max(" + ", ".join(f"x - {k}.0" for k in range(300)) + ")\n",
    "200 nested calls": "def f(x):\n    return " + "np.sin(" * 80 + "x" + ")" * 80 + "\n",
    "80 nested parentheses": "def f(x):\n    return " + "(x * " * 80 + "x" + ")" * 80 + "\n",
    "60 nested ifs": nested_ifs(60),
    "15 nested loops": nested_loops(15),
    "elif chain of 250": elif_chain(250),
    "1,000 lines": long_function(1000),
    "a function with 200 parameters": many_parameters(200),
    "names of underscores": """
        def f(_):
            __x = _ * _
            ___ = __x * _
            _1 = ___ + __x
            return _1
    """,
    "names outside ASCII": """
        def f(größe):
            λ = größe * größe
            été = np.sin(λ)
            return λ * été
    """,
    "names that normalise": "def f(ﬁ):\n    fi = ﬁ * ﬁ\n    return fi\n",
    "sum is a number": "def f(x):\n    sum = 3.0\n    return x * sum\n",
    "sum is a function of ours": "def sum(x):\n    return x * x\n\ndef f(x):\n    return sum(x)\n",
    "range is a parameter": """
        def f(range):
            for i in (1, 2):
                range = range * i
            return range * range
    """,
    "range is a parameter and called": """
        def f(x, range=lambda n: [n]):
            for i in range(3):
                x = x * i
            return x
    """,
    "len is rebound": "def len(x):\n    return 5.0\n\ndef f(x):\n    return x * len(x)\n",
    "np is a local": "def f(x):\n    np = x * x\n    return np * x\n",
    "np is a parameter": "def f(np):\n    return np * np\n",
    "reversed is rebound": """
        def reversed(x):
            return x

        def f(x):
            y = x
            for i in range(3):
                y = y * x
            return y
    """,
    "append is rebound": """
        def f(x):
            x_stack = x
            for i in range(3):
                x = x * x_stack
            return x
    """,
    "global constant arrays": """
        A = np.array([1.0, 2.0])
        B = [A, 3.0]

        def f(x):
            return np.sum(A * x) + B[1] * x + B[0][1] * x
    """,
    "global dict": """
        P = {'k': 2.0, 'w': np.ones(2)}

        def f(x):
            return np.sum(P['w'] * x) * P['k']
    """,
    "default that is an array": "def f(x, w=np.array([1.0, 2.0])):\n    return np.sum(w * x * x)\n",
    "default that is a list": "def f(x, w=[1.0, 2.0]):\n    return w[0] * x * x\n",
    "parameter called seed": "def f(x, seed=2.0):\n    return x * x * seed\n",
    "keyword-only parameter called seed": "def f(x, *, seed=2.0):\n    return x * x * seed\n",
    "a star parameter called seed": "def f(x, *seed):\n    return x * x\n",
    "**kwargs that are not used": "def f(x, **kwargs):\n    return x * x\n",
    "names that we write": """
        def f(x):
            x_bar = x * x
            x_stack = x_bar * x
            t1 = x_stack * 2.0
            seed = t1 + x
            result = seed * x_bar
            value = result * t1
            unbroadcast = value * x
            like = unbroadcast + x
            seed_like = like * 2.0
            trips = seed_like
            for i in range(3):
                trips = trips * x * 0.1
            saved = trips
            y = saved * like
            return y
    """,
    "a helper called like its pair": """
        def g(x):
            return x * x

        def g_fwd(x):
            return g(x) * x

        def g_bwd(x, seed):
            return g_fwd(x) * seed

        def f(x):
            return g_bwd(g_fwd(x) * g(x), x)
    """,
    "a function called f_grad": """
        def f_grad(x):
            return x * x

        def f(x):
            return f_grad(x) * x
    """,
    "semicolons": "def f(x): y = x * x; z = y * x; return z\n",
    "line continuations": "def f(x):\n    y = x * \\\n        x\n    return (y\n            * x)\n",
    "tabs": "def f(x):\n\ty = x * x\n\treturn y\n",
    "form feed": "def f(x):\n    y = x * x\n\f\n    return y\n",
    "comments everywhere": """
        def f(x):  # one
            # two
            y = x * x  # three
            # four
            return y  # five
        # six
    """,
    "a triple-quoted string in the middle": (
        "def f(x):\n    \"\"\"doc\"\"\"\n    y = x * x\n"
        "    \"\"\"\n    def g(x):\n    \"\"\"\n    return y\n"
    ),
    "braces and percents in text": """
        def f(x):
            print(f'{x:{10}.2f} {{}} %s')
            return x * x
    """,
    "constants": """
        def f(x):
            return x * 1e400 if x < 0.0 else x * 10**30 * 0x10 * 1_000 * 1e-40
    """,
    "complex constants": "def f(x):\n    return (x * 1j).imag\n",
    "negative powers": "def f(x):\n    return x ** -2 + (-x) ** 2 + 2 ** -x\n",
    "shadowed parameter": "def f(x):\n    x = 3.0\n    return x * x\n",
    "a chain of comparisons": """
        def f(x):
            return x * (0 < x < 3 < 5) + (x if 1 < x != 3 else 0.0)
    """,
    "a walrus in everything": """
        def f(x):
            return (y := x * x) + (z := y * x) * (y := z + y) + y
    """,
    "ternaries in ternaries": """
        def f(x):
            return (x if x > 1 else -x) if (x > 0 if x < 9 else x > 20) else (0.0 if x else x)
    """,
    "a lambda that is not differentiated": """
        def f(x):
            key = lambda n: -n
            order = sorted([1, 2], key=key)
            return x * order[0]
    """,
    "a comprehension that is not differentiated": """
        def f(x):
            ks = [k * k for k in range(4)]
            return x * ks[2]
    """,
    "assert with a message that is computed": """
        def f(x):
            assert x > 0, f'{x} is not {"positive"}'
            return x * x
    """,
    "an annotation without a value": """
        def f(x: float) -> float:
            y: float
            y = x * x
            return y
    """,
    "annotations that do not exist": """
        from __future__ import annotations

        def f(x: Missing) -> Gone:
            y: Nowhere = x * x
            return y
    """,
    "is and in": "def f(x):\n    return x * (x is not None) * (3 in [1, 3]) + x * (x in (9.0,))\n",
    "integer division by a number": "def f(x):\n    return x // 1 * x % 3 + divmod(7, 2)[1] * x\n",
    "bit operations on integers": """
        def f(x):
            n = 5 & 3 | 8 ^ 2
            return x * (n << 2) * ~n
    """,
    "bit operations on the argument": "def f(x):\n    return x << 2\n",
    "matmul of numbers": "def f(x):\n    return x @ x\n",
    "subscript of a number": "def f(x):\n    return x[0] * x\n",
    "iteration of a number": """
        def f(x):
            y = 0.0
            for v in x:
                y = y + v
            return y
    """,
    "call of a number": "def f(x):\n    return x(3.0)\n",
    "attribute of a number": "def f(x):\n    return x.real * x\n",
    "range of a float": "def f(x):\n    for i in range(x):\n        x = x * x\n    return x\n",
    "range with step 0": """
        def f(x):
            for i in range(0, 3, 0):
                x = x * x
            return x
    """,
    "range in a variable": """
        def f(x):
            r = range(3)
            for i in r:
                x = x * 1.5
            return x * len(r)
    """,
    "zip of one": """
        def f(x):
            y = x
            for (i,) in zip(range(3)):
                y = y * x
            return y
    """,
    "zip of nothing": "def f(x):\n    for pair in zip():\n        x = x * x\n    return x * x\n",
    "zip strict": """
        def f(x):
            for i, j in zip(range(2), range(2), strict=True):
                x = x * 1.5
            return x
    """,
    "enumerate of a dict": """
        def f(x):
            for i, k in enumerate({'a': 1}):
                x = x * 1.5
            return x
    """,
    "loop over a string": "def f(x):\n    for c in 'abc':\n        x = x * 1.5\n    return x\n",
    "loop over a dict's items": """
        def f(x):
            for k, v in {'a': 2.0}.items():
                x = x * v
            return x
    """,
    "loop over a set": "def f(x):\n    for v in {2.0}:\n        x = x * v\n    return x\n",
    "loop over a generator": """
        def f(x):
            for v in (k for k in range(3)):
                x = x * 1.5
            return x
    """,
    "loop over map": """
        def f(x):
            for v in map(float, [1, 2]):
                x = x * v
            return x
    """,
    "loop target that is an element": """
        def f(x):
            a = [0.0]
            for a[0] in range(3):
                x = x * 1.5
            return x
    """,
    "loop target that is starred": """
        def f(x):
            for a, *b in [(1, 2, 3)]:
                x = x * a * b[0]
            return x
    """,
    "list methods": """
        def f(x):
            a = [x]
            a.append(x * x)
            a.insert(0, x)
            b = a.pop()
            return b * len(a)
    """,
    "list arithmetic": "def f(x):\n    a = [x] * 3 + [x * x]\n    return a[0] * a[-1]\n",
    "tuple arithmetic": "def f(x):\n    a = (x,) + (x * x,)\n    return a[0] * a[1]\n",
    "augmented list": "def f(x):\n    a = [x]\n    a += [x * x]\n    return a[0] * a[1]\n",
    "a dict that is changed": "def f(x):\n    d = {}\n    d['a'] = x\n    return d['a'] * x\n",
    "a dict unpacked": """
        def f(x):
            d = {'a': x}
            e = {**d, 'b': x * x}
            return e['a'] * e['b']
    """,
    "a list unpacked": "def f(x):\n    a = [x, x]\n    b = [*a, x]\n    return b[2] * b[0]\n",
    "type and isinstance": """
        def f(x):
            if isinstance(x, float) and type(x) is float:
                return x * x
            return x
    """,
    "getattr": "def f(x):\n    return getattr(np, 'sin')(x)\n",
    "print with options": "def f(x):\n    print(x, end='')\n    return x * x\n",
    "random draws": """
        rng = np.random.default_rng(0)

        def f(x):
            return x * rng.normal() * 0.0 + x * x
    """,
    "functools.reduce": """
        import functools

        def f(x):
            return functools.reduce(lambda a, b: a * b, [x, x])
    """,
    "a decorated function": """
        import functools

        @functools.lru_cache
        def f(x):
            return x * x
    """,
    "a decorated helper": """
        import functools

        @functools.lru_cache
        def g(x):
            return x * x

        def f(x):
            return g(x) * x
    """,
    "a partial helper": """
        import functools

        def g(a, b):
            return a * b

        h = functools.partial(g, 3.0)

        def f(x):
            return h(x) * x
    """,
    "a class called": """
        class Box:
            def __init__(self, v):
                self.v = v

        def f(x):
            return Box(x).v * x
    """,
    "a method of an object": """
        class Box:
            k = 3.0
            def times(self, v):
                return v * self.k

        box = Box()

        def f(x):
            return box.times(x) * x
    """,
    "an attribute of an object": """
        class Box:
            k = 3.0

        box = Box()

        def f(x):
            return box.k * x * x
    """,
    "a gradient inside": """
        from s2sgrad import grad

        def g(x):
            return x * x * x

        dg = grad(g)

        def f(x):
            return dg(x) * x
    """,
    "grad inside": """
        from s2sgrad import grad

        def g(x):
            return x * x * x

        def f(x):
            return grad(g)(x) * x
    """,
    "a lambda with defaults": "f = lambda x, k=3.0, *a, **b: x * x * k\n",
    "a lambda in a dict": """
        table = {'a': lambda x: x * x, 'b': lambda x: x * 3.0}
        f = table['a']
    """,
    "a function that was renamed": "def g(x):\n    return x * x\n\nf = g\ng = None\n",
    "a function without its name": "def f(x):\n    return x * x\n\nf.__name__ = 'no name at all'\n",
    "a helper without its name": """
        def g(x):
            return x * x * x

        g.__name__ = g.__qualname__ = '<strange>'

        def f(x):
            return g(x) * x
    """,
    "a helper that is a lambda": "g = lambda a: a * a\n\ndef f(x):\n    return g(x) * x\n",
    "a helper whose name is a keyword": """
        def g(x):
            return np.sin(x) * x

        g.__name__ = 'lambda'

        def f(x):
            return g(x) * x
    """,
}  # fmt: skip


def text_of(name):
    text = textwrap.dedent(NASTY[name]).lstrip("\n")
    return text if text.startswith("from __future__") else HEAD + text


# Of them at least these have a gradient: a refusal of everything would not be noticed otherwise.
DIFFERENTIATED = [
    "the argument itself", "return in the middle", "a loop that is not used", "break first", "nested while True",
    "500 terms", "60 nested ifs", "elif chain of 250", "a function with 200 parameters", "names of underscores",
    "names outside ASCII", "sum is a number", "range is a parameter", "np is a local", "global constant arrays",
    "default that is an array", "parameter called seed", "keyword-only parameter called seed", "names that we write",
    "a helper called like its pair", "semicolons", "line continuations", "a walrus in everything", "1,000 lines",
    "a helper that is a lambda", "reversed is rebound", "zip of one", "a name bound in one arm", "a lambda in a dict",
    "a function called f_grad", "shadowed parameter", "15 nested loops", "80 nested parentheses", "300 factors",
]  # fmt: skip


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", NASTY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nasty_programs_give_the_gradient_or_an_error_of_ours(name, module, capsys, monkeypatch):
    monkeypatch.setenv("S2SGRAD_DEBUG", "1")
    made = module(text_of(name))
    try:
        value = made.f(POINT)
        raised = None
    except Exception as error:
        value, raised = None, error
    try:
        again, gradient = value_and_grad(made.f)(POINT)
    except Exception as error:
        line = internal(error)
        assert line is None, f"{type(error).__name__}: {error}, raised inside the compiler at {line}"
        assert name not in DIFFERENTIATED or isinstance(raised, UnboundLocalError), error
        if isinstance(error, S2SGradError):
            assert isinstance(error, NoSource) or 'File "' in str(error)
        elif raised is None and "has no derivative" in str(error):  # it returns nothing that could have one
            assert isinstance(error, TypeError) and "`f` returns" in str(error)
            assert np.asarray(value).dtype.kind != "f" or np.size(value) == 0
        else:  # the program's own error, raised by the statement that raises it in the primal
            assert raised is not None, f"{type(error).__name__}: {error}; the function itself returns {value!r}"
            assert type(error) is type(raised), f"{type(error).__name__}, not {type(raised).__name__}"
        return
    assert raised is None, f"a gradient of {gradient!r} where the function raises {raised!r}"
    assert repr(again) == repr(value) or np.isclose(again, value, rtol=1e-14, atol=0.0)
    (expected,) = central_difference(made.f, (POINT,), 0)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_those_with_a_gradient_are_nasty_programs():
    assert set(DIFFERENTIATED) <= set(NASTY)


GENERIC = [name for name in NASTY if name not in ("infinite recursion", "infinite mutual recursion")]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", GENERIC)
def test_nasty_programs_as_generic_text(name, module, monkeypatch):
    monkeypatch.setenv("S2SGRAD_DEBUG", "1")
    made = module(text_of(name))
    try:
        text = grad(made.f).source
    except Exception as error:
        line = internal(error)
        assert line is None, f"{type(error).__name__}: {error}, raised inside the compiler at {line}"
    else:
        compile(text, "<text>", "exec")


OR = "def f(x):\n    return x * (x" + "".join(f" or x + {k}.0" for k in range(150)) + ")\n"


@pytest.mark.parametrize("text", [elif_chain(600), OR], ids=["elif", "or"])
def test_what_nests_too_deeply_is_refused(module, text):
    made, before = module(text), sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # which what ran before in this process may have raised
    try:
        with pytest.raises(Unsupported, match="nests too deeply") as caught:
            grad(made.f)(POINT)
        assert sys.getrecursionlimit() == 1000
    finally:
        sys.setrecursionlimit(before)
    assert caught.value.place.text == "def f(x):"


def test_what_a_deep_expression_evaluates_first_stays_first(module):
    made = module(f"""
        def f(x):
            seen = []
            def note(v):
                seen.append(v)
                return v * x
            y = {" + ".join(f"note({k}.0)" for k in range(120))}
            return y * seen[0] + y * seen[-1] + len(seen)
    """)
    assert grad(made.f)(POINT) == pytest.approx(sum(range(120)) * 119.0)


def test_infinite_recursion_ends_in_a_recursion_error(module):
    made = module("def f(x):\n    return f(x) * x\n")
    with pytest.raises((RecursionError, S2SGradError)):
        grad(made.f)(2.0)
    assert grad(lambda x: x * x)(3.0) == 6.0


# --- lists and dicts with methods of their own -----------------------------------------------------------------------


class Doubling(list):
    def append(self, value):
        list.append(self, 2.0 * value)


class Backwards(list):
    def __iter__(self):
        return iter(self[::-1])


class Summing(dict):
    def update(self, *args, **keywords):
        for key, value in dict(*args, **keywords).items():
            self[key] = self.get(key, 0.0) + value


def counter_updated(x):
    c = collections.Counter()
    c["a"] = x
    c.update({"a": x})
    return c["a"]


def counter_updated_by_a_text(x):
    c = collections.Counter()
    c.update("ab")
    return c["a"] * x


def argument_updated(x, d):
    d.update(a=x)
    return d["a"]


def argument_appended_to(x, xs):
    xs.append(x)
    return xs[-1]


def list_of_its_own_made(x):
    xs = Backwards()
    xs.append(x)
    return xs[-1]


@pytest.mark.parametrize(
    ("f", "args", "word", "line"),
    [
        (counter_updated, (), "`update` of a Counter", 3),
        (counter_updated_by_a_text, (), "`update` of a Counter", 2),
        (argument_updated, (Summing(a=1.0),), "a Summing with methods of its own", 0),
        (argument_appended_to, (Doubling([1.0]),), "a Doubling with methods of its own", 0),
        (list_of_its_own_made, (), "`Backwards` makes a list or a dict with methods of its own", 1),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_method_is_known_by_its_object_and_not_by_its_name(f, args, word, line):
    f(2.0, *copy.deepcopy(args))
    with pytest.raises(S2SGradError, match=re.escape(word)) as caught:
        grad(f)(2.0, *copy.deepcopy(args))
    assert_points_at(caught.value, __file__, f.__code__.co_firstlineno + line)


def ordered(x):
    d = collections.OrderedDict(a=1.0)
    d.update(a=x * x)
    return d["a"]


class Parameters(dict):
    """A name for a dict, and nothing more."""


def test_a_subclass_without_methods_of_its_own_is_a_dict():
    assert grad(ordered)(3.0) == 6.0
    assert grad(argument_updated)(3.0, Parameters(a=1.0)) == 1.0


def one_of_two_written(x, n):
    a, b = x * 1.5, x * 2.0
    for k in range(n):
        z = a if x[k] > 0.4 else b
    z[:] = 0.4
    return np.sum(a * a) + np.sum(z) + np.sum(b)


def rows_of_one_of_two_written(x, n):
    a, b = x * 1.5, x * 2.0
    for k in range(n):
        rows = [a, b] if x[k] > 0.4 else [b, a]
    rows[0][:] = 0.4
    return np.sum(a * a) + np.sum(b)


@pytest.mark.parametrize("f", [one_of_two_written, rows_of_one_of_two_written])
def test_a_variable_with_a_shadow_that_no_trip_binds_is_unbound(f):
    x = np.array([0.3, 0.5])
    assert np.all(np.isfinite(grad(f)(x, 1)))
    for function in (f, grad(f)):
        with pytest.raises(UnboundLocalError):
            function(x, 0)


@pytest.mark.parametrize(
    "read", ['getattr(s, "h", 1.0)', 's.h if hasattr(s, "h") else 1.0']
)
def test_an_attribute_that_an_earlier_trip_may_have_set(module, read):
    f = module(HEAD + textwrap.dedent(f"""
        class Spring:
            def __init__(self, w):
                self.w = w

        def f(x):
            s, out = Spring(x[0]), 0.0
            for k in range(3):
                out = out + ({read}) * x[1]
                s.h = out * s.w
            return out
    """)).f
    with pytest.raises(S2SGradError, match="or whether there is one, is known to the run alone"):
        grad(f)(V)
