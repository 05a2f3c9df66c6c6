"""Functions in lists, dicts and attributes, functions of functions, and callbacks."""

# ruff: noqa: C417

import functools
import math

import numpy as np

from s2sgrad import grad

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])


@case(VECTOR)
def reduce_with_a_lambda(v):
    return functools.reduce(lambda a, b: a * b + a, v, 1.0)


@case(VECTOR)
def mapped_lambda(v):
    ys = list(map(lambda t: t * t + v[0], v))
    return ys[0] * ys[1] + ys[2]


@case(VECTOR)
def filtered_by_a_lambda(v):
    positive = list(filter(lambda t: t > 0.0, v))
    return positive[0] * positive[1] + len(positive) * v[1]


@case(1.3, 0.7)
def strategy_from_a_dict(x, y):
    table = {"sum": lambda a, b: a + b, "product": lambda a, b: a * b, "power": lambda a, b: a**b}
    return table["sum"](x, y) * table["power"](x, y) + table["product"](x, x)


@case(1.3)
def callback_is_called_in_each_step(x):
    seen = []

    def on_step(k, v):
        seen.append(v * k)

    def run(callback):
        v = x
        for k in range(4):
            v = np.sin(v) + 0.5 * v
            callback(k, v)
        return v

    last = run(on_step)
    return last * sum(seen)


@case(1.3)
def callback_is_none(x):
    def run(v, callback=None):
        for _ in range(2):
            v = v * v
            if callback is not None:
                v = callback(v)
        return v

    return run(x) + run(x, lambda t: np.sin(t) * x)


@case(1.3)
def counter_made_by_a_function(x):
    def make():
        total = x

        def add(v):
            nonlocal total
            total = total + v * total
            return total

        return add

    a, b = make(), make()
    return a(1.0) * a(x) + b(2.0)


@case(1.3)
def closure_returns_a_closure_over_a_local(x):
    def power_of(n):
        base = x

        def power(scale):
            out = scale
            for _ in range(n):
                out = out * base
            return out

        return power

    return power_of(2)(x) + power_of(3)(2.0)


@case(1.3, 0.7)
def condition_inside_a_closure_reads_a_rebound_flag(x, y):
    flag = True

    def choose():
        return x * x if flag else y * y

    first = choose()
    flag = False
    return first * choose()


@case(1.3)
def pipeline_of_functions(x):
    fs = [lambda t: t * x, np.sin, lambda t: t + 1.0]
    h = x
    for f in fs:
        h = f(h)
    return h * fs[0](x) * fs[-1](fs[1](x))


@case(1.3)
def functions_by_the_number_of_the_step(x):
    fs = (np.sin, np.cos, np.exp)
    h = x
    for k in range(3):
        h = fs[k](h) * x
    return h


@case(1.3)
def account_with_two_operations(x):
    def account(balance):
        def deposit(v):
            nonlocal balance
            balance = balance + v
            return balance

        def interest(rate):
            nonlocal balance
            balance = balance * (1.0 + rate)
            return balance

        return {"deposit": deposit, "interest": interest}

    a = account(x)
    a["deposit"](x * x)
    return a["interest"](0.1) * a["deposit"](1.0)


@case(1.3, 3)
def repeated_application(x, n):
    def power(f, n):
        def g(t):
            for _ in range(n):
                t = f(t)
            return t

        return g

    return power(lambda t: np.sin(t) * x, n)(x)


def through(*functions):
    def composed(t):
        for f in functions:
            t = f(t)
        return t

    return composed


@case(1.3)
def composition_of_any_number(x):
    return through(np.sin, lambda t: t * x, np.exp)(x)


def scaled_square(t, by=1.0):
    return by * t * t


half_square = functools.partial(scaled_square, by=0.5)
tripled = functools.partial(np.multiply, 3.0)


@case(1.3)
def partials_of_the_module(x):
    total = tripled(x)
    for k in range(3):
        total += half_square(x * k) * half_square(total)
    return total


def handing_on(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


@handing_on
def decorated_power(t, p=2.0, *, scale=1.0):
    return scale * t**p


@case(1.3)
def decorators_that_hand_arguments_on(x):
    return decorated_power(x, 3.0) * x + decorated_power(x, scale=x) + decorated_power(x, p=x, scale=2.0)


# --- functions in containers, and functions that give some -------------------------------------------------------------


def differentiated(f):
    return grad(f)


def differentiated_twice(f):
    slope = grad(f)
    return grad(slope)


def made_in_a_dict(k):
    return {"scaled": lambda t: t * k, "sine": np.sin}


def made_in_a_list(k):
    def cubed(t):
        return k * t**3

    return [cubed, np.sin]


def spring(k):
    return Spring(k)


class Spring:
    def __init__(self, k):
        self.k = k

    def force(self, x):
        return -self.k * x * x


@case(0.7)
def gradient_made_by_a_helper(x):
    return differentiated(lambda t: t**3)(x) * x + differentiated_twice(lambda t: x * t**4)(x)


@case(0.7)
def gradient_of_a_library_function_made_by_a_helper(x):
    slope = differentiated(np.sin)
    return slope(x) * differentiated(math.exp)(x)


@case(0.7)
def function_picked_from_a_list_at_once(x):
    return [lambda t: t**3, lambda t: t][0](x) * (np.sin, lambda t: t * x)[-1](x)


@case(0.7)
def function_picked_from_a_dict_at_once(x):
    return {"a": np.sin, "b": lambda t: t * x}["b"](x) * {"a": {"b": lambda t: t + x}}["a"]["b"](x)


@case(0.7)
def library_functions_picked_from_displays_at_once(x):
    return {"a": np.sin, "b": np.cos}["a"](x) * (np.exp, np.tanh)[1](x)


@case(0.7)
def functions_returned_in_a_dict(x):
    made = made_in_a_dict(x)
    return made["scaled"](x) * made_in_a_dict(2.0)["sine"](x)


@case(0.7)
def functions_returned_in_a_list_and_unpacked(x):
    cubed, sine = made_in_a_list(x)
    return cubed(x) * sine(x) + made_in_a_list(2.0)[0](x)


@case(0.7)
def functions_in_a_dict_one_after_the_other(x):
    functions = {"sine": np.sin, "scaled": lambda t: t * x}
    total = 0.0
    for name in functions:
        total = total + functions[name](x)
    for f in functions.values():
        total = total * f(x)
    for name, f in functions.items():
        total = total + f(x) * len(name)
    return total


@case(0.7)
def functions_in_a_dict_that_has_no_name(x):
    y = x
    for _, f in {"a": np.sin, "b": lambda t: t * x}.items():
        y = f(y)
    return y * sum(f(x) for f in {"a": np.sin, "b": np.cos}.values())


@case(0.7)
def objects_made_by_a_helper_and_in_containers(x):
    held = spring(x)
    made = [Spring(x), Spring(2.0)][0].force(x) + {"a": Spring(x * x)}["a"].force(2.0)
    return held.force(x) + spring(2.0 * x).force(x) + made


def is_large(v):
    return v[0] > 0.5


@case(VECTOR, is_large)
def asked_of_a_function_that_is_an_argument(v, large):
    y = v * 2.0
    n = 0
    while not large(y) and n < 3:
        y[0] *= 2.0
        n += 1
    return np.sum(y**3) if large([y[1], y]) else np.sum(y)


class Activated:
    def __init__(self, w, act=None):
        self.w, self.act = w, act

    def __call__(self, x):
        y = self.w * x
        return self.act(y) if self.act else y


def activated(x, act=None):
    if not act:
        return 2.0 * x
    return act(x)


@case(0.6)
def activation_that_is_there_or_is_not(x):
    return Activated(x, np.tanh)(x) * Activated(x)(x) * activated(x) * activated(x, lambda t: t * x)


@case(0.6)
def tests_of_functions_beside_those_of_data(x):
    tools = [lambda t: t * x, np.sin]
    first = tools[0](x) if tools and x > 0.0 else x
    second = x if x > 5.0 or not tools else tools[1](x)
    layer = Activated(x)
    third = x if x > 0.0 and layer is None else 3.0 * x
    return first * second * third


@case(VECTOR)
def composed_by_reduce_from_a_first_function(x):
    first = lambda t: np.tanh(t * x[0])  # noqa: E731
    f = np.sin
    f = functools.reduce(lambda q, c: lambda t: np.sin(q(t) * c), x, first)
    return f(0.3) * x[1]


class Gain:
    def __init__(self, c):
        self.c, self.by = c, (0.5, c * c)

    def run(self, t):
        return np.tanh(self.c * t + self.by[1])


@case(np.array([0.7, 0.2, 0.9]))
def methods_of_the_objects_of_each_trip(x):
    s, kept, fs = x[0], np.sin, [np.cos]
    table = {"a": np.sin, "b": np.cos}
    for k in range(3):
        m = Gain(x[k]).run
        if x[k] > 0.3:
            kept = m
            fs = fs + [Gain(s).run]
            table = {"a": Gain(x[k] * 0.5).run, "b": table["a"]}
        s = np.tanh(s + kept(x[1]) + fs[-1](s) * table["b"](s))
    return s


def put(u, e):
    u[1] = e


def raised(u, e):
    u += 0.1 * e


@case(np.array([0.7, 0.2, 0.9]))
def functions_called_for_their_effect_in_several_loops(x):
    u, f = x * 1.0, np.sin
    for w in x:
        f = (lambda g, w: lambda t: g(t) * w)(f, w)
    for op in (put, raised):
        op(u, f(x[0]))
    for w in x:
        for change in (raised, put, raised):
            change(u, f(w))
    return np.sum(u * u)


@case(np.array([0.7, 0.2, 0.9]))
def function_called_for_its_effect_that_a_condition_chooses(x):
    u = x * 0.7
    for w in x:
        if w > 0.1:
            op = put if x[0] > x[1] else raised
            op(u, w * w)
    return np.sum(u * x)


@case(VECTOR)
def lists_of_functions_in_a_dict(v):
    handlers = {"a": [], "b": []}
    handlers["a"].append(lambda t: t * v[0])
    handlers["a"].append(lambda t: t**2)
    handlers["b"].append(np.sin)
    total = 0.0
    for name, t in zip("aba", v, strict=True):
        for h in handlers[name]:
            total += h(t)
    return total


def affine(a, b, t):
    return np.tanh(a * t + b)


@case(VECTOR)
def arguments_bound_one_after_the_other(v):
    f = affine
    for w in v[:2]:
        f = functools.partial(f, w)
    g = functools.partial(affine, v[2])
    for w in v:
        g = functools.partial(g, w * 0.5) if w > 1.0 else g
    return f(v[2]) * g(v[0])


class Layer:
    def __init__(self, w):
        self.w = w

    def run(self, t):
        return np.tanh(self.w * t)


class Shift(Layer):
    def run(self, t):
        return self.w + t


@case(VECTOR)
def methods_kept_of_objects_in_a_list(x):
    layers = [Layer(x[0]), Shift(x[1]), Layer(x[2])]
    kept = [layer.run for layer in layers]
    for layer in layers:
        kept.append(layer.run)
        layer.w = layer.w * x[0]
    total = x[1]
    for run in kept:
        total = run(total) + 0.1
    return total


def spread_out(f, *args):
    return f(*args)


@case(VECTOR)
def function_as_data_handed_on_with_its_arguments(x):
    h = np.sin
    for w in x:
        h = lambda t, h=h, w=w: h(w * t)  # noqa: E731
    return spread_out(h, x[0]) * x[1]


def bent(t, c=0.3, w=2.0):
    return np.sin(c * t) * w


@case(VECTOR)
def calls_in_a_list_with_their_arguments_and_keywords(x):
    calls = []
    for v in x:
        calls.append((bent, [v, 0.4], {"w": v}))
        calls.append((lambda t, c, w, v=v: t * c * w + v, [v], {"w": x[0], "c": v}))
    return sum(f(*args, **words) for f, args, words in calls)


@case(VECTOR)
def function_as_data_called_with_keywords(x):
    total = x[0]
    for f in [bent, lambda t, c, w: t * c * w * x[0]]:
        total = f(total, w=x[1], c=x[2])
    return total


class Halved:
    def run(self, t):
        return 0.5 * t


@case(VECTOR)
def objects_without_attributes_in_a_list(x):
    layers = []
    for w in x:
        layers.append(Layer(w))
        layers.append(Halved() if w > 0.0 else Shift(x[0]))
    total = x[1]
    for layer in layers:
        total = layer.run(total) + 0.1
    return total


@case(VECTOR)
def method_kept_while_the_name_of_its_object_changes(x):
    layer = Layer(x[0])
    run = layer.run
    layer = Layer(3.0 * x[1])
    return run(x[2]) * layer.w


@case(VECTOR, second=False)
def method_kept_in_the_first_trip(x):
    total = 0.0
    for k in range(3):
        shift = Shift(x[k])
        if k == 0:
            run = shift.run
        total = total + run(2.0) * x[k]
    return total


def statistics_of(data, robust):
    return (np.median, np.sum) if robust else (np.mean, np.max)


@case(VECTOR)
def keyword_of_library_functions_that_a_callee_chooses(x):
    middle, total = statistics_of(x, True)
    m = middle(x, axis=0)
    return total((x - m) ** 2, keepdims=True)[0] * m


def _affine(a, b, t):
    return a * t + b


@case(np.array([-0.3, -0.6, 0.8, -1.1]), second="recorded")
def function_of_the_trip_before_is_called_last(x):
    h = functools.partial(_affine, 0.5, x[0])
    for k in range(1, 4):
        g = h
        h = functools.partial(_affine, x[k], 2.0)
    return g(x[2]) + h(x[0])


@case(np.array([-0.3, -0.6, 0.8, -1.1]), second="recorded")
def name_read_by_the_trips_after_the_one_that_binds_it(x):
    y = 0.1 * x[0]
    for k in range(1, 4):
        if k > 1:
            y = y + g(x[k])  # noqa: F821
        h = functools.partial(_affine, x[k], y)
        g = h
    return y + g(x[2])
