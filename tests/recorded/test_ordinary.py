"""Ordinary Python that only the run knows: each program by its gradient, its tangent and its Hessian, as users see them."""

from __future__ import annotations

import asyncio
import bisect
import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator

import numpy as np
import pytest

from s2sgrad import grad, hessian, jvp, value_and_grad

X = np.array([0.7, 1.3, 0.4])
V = np.array([1.0, -1.0, 0.5])
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def lists_and_dicts_by_the_methods_of_their_class(x):
    a, d = [1], {"a": 1}
    list.append(a, x[0])
    list.__setitem__(a, 0, x[2])
    dict.update(d, a=x[1])
    return sum(a) * d["a"]


@program
def result_is_an_item_by_the_method_of_its_class(x):
    a = [1]
    list.append(a, x[0])
    return sum(a)


@program
def many_items_kept_sorted(x):
    kept = []
    for k in range(60):
        bisect.insort(kept, x[k % 3] * (k % 7))
    return sum(v * k for k, v in enumerate(kept, 1))


@program
def table(x):
    ops = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}

    def ev(t):
        if isinstance(t, int):
            return x[t]
        return ops[t[0]](ev(t[1]), ev(t[2]))

    return ev(("+", ("*", 0, 1), ("*", 2, ("+", 0, 1))))


def derivative(f):
    return grad(f)


@program
def derivatives_of_library_functions(x):
    slopes = [derivative(np.sin)]
    slopes.append(derivative(math.exp))
    while len(slopes) < 4:
        slopes.append(slopes[len(slopes) % 2])
    return slopes[2](x[0]) * slopes[3](x[1]) + grad(np.tanh)(x[2])


OPERATIONS = {"+": lambda a, b: a + b, "*": lambda a, b: a * b, "sin": lambda a, b: np.sin(a) * b}


def evaluated(tree, x):
    if isinstance(tree, int):
        return x[tree]
    name, left, right = tree
    return OPERATIONS[name](evaluated(left, x), evaluated(right, x))


@program
def chosen_by_a_generator(x):
    rng = np.random.default_rng(3)
    rows = rng.choice(np.outer(x, x), 2, axis=1)
    return np.sum(rng.choice(x, 4) ** 2) + np.sum(rng.permutation(x)[:2] ** 3) + np.sum(rows) * np.sum(rng.permuted(x)[1:])


@program
def chosen_by_the_module(x):
    np.random.seed(5)
    return np.sum(np.random.choice(x, 4) ** 2) + np.sum(np.random.permutation(x)[:2] ** 3)


@program
def table_of_the_module(x):
    return evaluated(("+", ("*", 0, ("sin", 1, 2)), ("sin", ("+", 0, 2), 1)), x)


@program
def parser(x):
    toks = ["0", "1", "+", "2", "*", "0", "*"][::-1]
    st = []
    while toks:
        t = toks.pop()
        if t == "+":
            st.append(st.pop() + st.pop())
        elif t == "*":
            st.append(st.pop() * st.pop())
        else:
            st.append(x[int(t)])
    return st.pop()


def walk(t):
    if isinstance(t, tuple):
        for k in t:
            yield from walk(k)
    else:
        yield t


@program
def recursive_generator(x):
    return sum(v * v * (k + 1) for k, v in enumerate(walk(((x[0], (x[1],)), x[2]))))


@program
def setattrs(x):
    class A:
        pass

    a = A()
    for k, v in enumerate(x):
        setattr(a, f"w{k}", v * v)
    return a.w0 * a.w1 + a.w2


class K:
    def __init__(self, **kw):
        self.__dict__.update(kw)


@program
def dictupdate(x):
    k = K(a=x[0], b=x * 2)
    return k.a * np.sum(k.b)


Pt = collections.namedtuple("Pt", "p v")


@program
def replaced(x):
    ps = [Pt(x[k], 0.0) for k in range(3)]
    for _ in range(4):
        ps = [p._replace(v=p.v - 0.1 * p.p) for p in ps]
        ps = [p._replace(p=p.p + 0.1 * p.v) for p in ps]
    return sum(p.p**2 for p in ps)


@program
def coroutine(x):
    def avg():
        t = 0.0
        n = 0
        while True:
            v = yield (t / n if n else 0.0)
            t += v
            n += 1

    c = avg()
    next(c)
    out = 0.0
    for v in x:
        out += c.send(v * v)
    return out


@program
def tee(x):
    a, b = itertools.tee(iter(x))
    next(b)
    return sum(p * q for p, q in zip(a, b, strict=False))


@functools.singledispatch
def area(s):
    raise TypeError


class Sq:
    def __init__(s, a):
        s.a = a


class Ci:
    def __init__(s, r):
        s.r = r


@area.register
def _(s: Sq):
    return s.a**2


@area.register
def _(s: Ci):
    return math.pi * s.r**2


@program
def dispatch(x):
    return sum(area(s) for s in [Sq(x[0]), Ci(x[1]), Sq(x[2])])


class Log:
    def __init__(s):
        s.items = []

    def __enter__(s):
        return s

    def __exit__(s, *a):
        s.items.append(s.v * 2.0)
        return False


@program
def manager(x):
    log = Log()
    for k in range(3):
        with log as m:
            m.v = x[k] ** 2
    return sum(log.items)


@program
def nested_try(x):
    t = 0.0
    for v in [x[0], None, x[1]]:
        try:
            try:
                t += v * v
            except TypeError:
                t += x[2]
                raise KeyError("k") from None
            else:
                t *= 1.5
        except KeyError:
            t += 0.5 * x[0]
        finally:
            t += 0.1 * x[1]
    return t


@program
def memo(x):
    cache = {}

    def fib(n):
        if n < 2:
            return x[n]
        if n not in cache:
            cache[n] = fib(n - 1) * 0.5 + fib(n - 2)
        return cache[n]

    return fib(12)


@program
def lru(x):
    @functools.lru_cache(None)
    def c(i, j):
        if i == 0 or j == 0:
            return x[(i + j) % 3]
        return 0.3 * c(i - 1, j) + 0.7 * c(i, j - 1)

    return c(4, 4)


@dataclasses.dataclass
class Body:
    pos: np.ndarray
    vel: np.ndarray

    def step(self, dt):
        self.vel = self.vel - dt * self.pos
        self.pos = self.pos + dt * self.vel


@program
def bodies(x):
    bs = [Body(x * k, np.zeros(3)) for k in range(1, 4)]
    for _ in range(5):
        for b in bs:
            b.step(0.1)
    return sum(float(np.sum(b.pos**2)) for b in bs)


@program
def heap(x):
    h = []
    for v in x:
        heapq.heappush(h, v * v)
    return heapq.heappop(h) * 2 + heapq.heappop(h)


@program
def deque_bfs(x):
    q = collections.deque([(0, x[0])])
    tot = 0.0
    while q:
        d, v = q.popleft()
        tot += v * v
        if d < 3:
            q.append((d + 1, v * x[1]))
            q.append((d + 1, v + x[2]))
    return tot


@program
def buffers_in_dict(x):
    d = {"a": np.zeros(3), "b": np.ones(3)}
    for k, b in d.items():
        b[:] = b + x * (2 if k == "a" else 3)
    v = d["a"].reshape(3, 1)
    v[0, 0] *= x[1]
    return np.sum(d["a"] * d["b"])


@program
def while_exc(x):
    it = iter(x.tolist())
    s = 1.0
    while True:
        try:
            s *= next(it) + 1.0
        except StopIteration:
            return s


@program
def closures(x):
    fs = []
    for k in range(3):
        fs.append(lambda t, k=k: t * x[k])
    return functools.reduce(lambda a, f: f(a) + 1.0, fs, 1.0)


@program
def decorators(x):
    def twice(f):
        @functools.wraps(f)
        def g(*a):
            return f(f(*a))

        return g

    @twice
    def h(v):
        return np.sin(v) * x[0]

    return np.sum(h(x))


@program
def sorted_objects(x):
    ps = sorted((Pt(v, k) for k, v in enumerate(x)), key=operator.attrgetter("p"))
    return sum(p.p * (k + 1) for k, p in enumerate(ps))


@program
def chained(x):
    return sum(map(operator.mul, itertools.chain(x[:2], [2.0]), itertools.accumulate(x)))


@program
def matrix_mlp(x):
    layers = [(np.outer(x, x), x), (np.ones((3, 3)) * x[0], x * 2)]
    h = x
    for it in [iter(layers)]:
        for W, b in it:
            h = np.tanh(W @ h + b)
    return np.sum(h)


class Squared:
    """A descriptor that takes precedence over what an object holds."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, of, cls=None):
        return self if of is None else 2.0 * getattr(of, self.name)

    def __set__(self, of, value):
        setattr(of, self.name, value * value)


class Held:
    a = Squared()
    b = Squared()

    def __init__(self, a, b):
        self.a = a
        self.b = b


@program
def descriptors(x):
    held = Held(x[0], x[1])
    held.a = held.a + held.b
    return held.a * held.b + Held(x[2], x[2]).b


class Parabola:
    def __getitem__(self, key):
        return key * key


class Lines:
    def __getitem__(self, key):
        return lambda v: v * key


PARABOLAS, LINES = [Parabola(), Parabola()], (Lines(), Lines())


@program
def objects_that_compute_with_their_index(x):
    total = x[0]
    for parabola, line, w in zip(PARABOLAS, LINES, x[:2], strict=True):
        total = line[w](total) + parabola[w]
    return total * PARABOLAS[0][x[2]]


class Called(type):
    def __getitem__(cls, w):
        return cls(w)


class Twice(metaclass=Called):
    def __init__(self, w):
        self.w = w

    def of(self, v):
        return self.w * v * 2.0


class Shifted(Twice):
    def of(self, v):
        return super().of(v) + np.sin(v)


LAYERS = [Twice, Shifted]


@program
def classes_that_are_indexed(x):
    v = x[0]
    for cls, w in zip(LAYERS, (x[1], x[2]), strict=True):
        v = cls[w].of(v)
    return v


async def product(a, b):
    await asyncio.sleep(0)
    return a * b


@program
def coroutines_of_the_library(x):
    async def both():
        first = await product(x[0], x[1])
        later = await asyncio.gather(product(first, x[2]), product(first, first))
        return later[0] + later[1] ** 2

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(both())
    finally:
        loop.close()


class Sized:
    def __init__(self, value):
        self.value, self.size = value, lambda: value * value

    def shape(self):
        return self.value * 2.0


@program
def methods_named_as_attributes_of_arrays(x):
    things = [Sized(x[k]) for k in range(len(x))]
    return sum(t.size() * t.shape() for t in things)


@program
def copies_of_a_set_and_of_an_iterator(x):
    things = {Sized(x[0]), Sized(x[1])}
    items = iter([x[0], x[1], x[2]])
    later = copy.copy(items)
    return sum(t.value for t in copy.copy(things)) ** 2 * next(later) + next(items) * next(items)


@program
def list_that_grows_and_shrinks_under_its_loop(x):
    left, total = [x[0], x[1]], 0.0
    for v in left:
        total = total + v * v * len(left)
        if len(left) < 5:
            left.append(v * x[2])
        else:
            left.remove(v)
    return total


@program
def one_array_three_times_in_a_list(x):
    rows = [x * 1.0] * 3
    rows[0] += 1.0
    row = rows[1]
    row *= x[0]
    return np.sum(rows[2] ** 2)


RULES = {}


def rule(name):
    return lambda function: RULES.setdefault(name, function)


@rule("add")
def added(env, a, b):
    return of_rules(env, a) + of_rules(env, b)


@rule("mul")
def multiplied(env, a, b):
    return of_rules(env, a) * of_rules(env, b)


@rule("let")
def bound(env, name, a, b):
    return of_rules({**env, name: of_rules(env, a)}, b)


def of_rules(env, tree):
    if isinstance(tree, str):
        return env[tree]
    return RULES[tree[0]](env, *tree[1:]) if isinstance(tree, tuple) else tree


@program
def recursion_over_a_table_of_functions(x):
    tree = ("let", "t", ("mul", "a", ("add", "b", 2)), ("add", ("mul", "t", "t"), "c"))
    return of_rules({"a": x[0], "b": x[1], "c": x[2]}, tree)


@program
def local_classes_that_register_themselves(x):
    found = {}

    class Base:
        def __init_subclass__(cls, scale=1.0, **more):
            super().__init_subclass__(**more)
            found[cls.__name__] = cls
            cls.scale = scale

        def run(self, v):
            return self.scale * v * v

    class First(Base, scale=2.0):
        pass

    class Second(Base):
        def run(self, v):
            return super().run(v) + self.scale

    return sum(found[name]().run(v) for name, v in zip(("First", "Second"), x, strict=False)) * x[2]


@program
def local_classes_made_by_a_metaclass_and_a_decorator(x):
    made = []

    class Counting(type):
        def __new__(cls, name, bases, body):
            made.append(name)
            return super().__new__(cls, name, bases, {**body, "weight": 1.0 + len(made)})

    def noted(cls):
        made.append(cls.__name__)
        return cls

    class First(metaclass=Counting):
        def of(self, v):
            return v * v * self.weight

    @noted
    class Second(First):
        pass

    return First().of(x[0]) * Second().of(x[1]) * len(made) + x[2] ** 2


MADE = []


@program
def each_call_makes_a_class(x):
    class Own(Registered):
        def of(self, v):
            return v * v * x[2]

    return sum(MADE.pop()().of(v) for v in x[:1])


class Registered:
    def __init_subclass__(cls):
        MADE.append(cls)


def cleaning_up(x, noted):
    try:
        yield x[0]
        yield x[1]
    finally:
        noted[0] += x[2]


@program
def generators_are_left_before_their_ends(x):
    noted, total = np.ones(1), 1.0
    for v in cleaning_up(x, noted):
        total = total * v
        if v > 0.5:
            break
    return total * noted[0]


@program
def a_function_returns_from_within_a_generator(x):
    noted = np.ones(1)

    def first():
        for v in cleaning_up(x, noted):
            return v * 2.0

    return first() * noted[0]


@program
def the_first_of_a_generator_that_cleans_up(x):
    noted = np.ones(1)
    return next(cleaning_up(x, noted)) * noted[0]


@program
def a_generator_in_a_context_is_left(x):
    class Noting:
        def __enter__(self):
            return x[0]

        def __exit__(self, *error):
            noted.append(x[2])

    def drawn():
        with Noting() as v:
            yield v * x[1]
            yield v

    noted = []
    for v in drawn():  # noqa: B007
        break
    return v * (1.0 + sum(noted))


@program
def each_trip_of_a_generator_cleans_up(x):
    noted = np.ones(1)

    def drawn():
        for v in x:
            try:
                yield v
            finally:
                noted[0] += v * x[2]

    total = 0.0
    for v in drawn():
        total = total + v
        if total > 1.0:
            break
    return total * noted[0]


def differences(f, step=1e-6):
    return np.array([(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(3)])


@pytest.mark.sampled(one_in=7)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_ordinary_programs(f):
    x = X.copy()
    value, gradient = value_and_grad(f)(x)
    np.testing.assert_array_equal(x, X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-6, atol=1e-8)
    same, dot = jvp(f, (X,), (V,))
    assert same == value
    np.testing.assert_allclose(dot, gradient @ V, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(hessian(f)(X), differences(grad(f), 1e-5).T, rtol=1e-5, atol=1e-7)
