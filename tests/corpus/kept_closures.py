"""Nested functions that are kept in lists, dicts and attributes, and write what they close over: they become objects."""

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])


class Value:
    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents
        self._backward = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def backward(self):
        order, seen = [], []

        def visit(v):
            if v not in seen:
                seen.append(v)
                for parent in v.parents:
                    visit(parent)
                order.append(v)

        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            v._backward()


@case(VECTOR)
def closures_propagate_gradients(x):
    a, b, c = Value(x[0]), Value(x[1]), Value(x[2])
    y = a * b + c * a * a
    y.backward()
    return a.grad + 2.0 * b.grad + c.grad * y.data


@case(VECTOR)
def closures_undo_what_is_written(x):
    table = {"a": x[0], "b": x[1]}
    undo = []

    def put(key, new):
        old = table[key]

        def back(scale=1.0):
            table[key] = old * scale

        undo.append(back)
        table[key] = new

    put("a", x[0] * x[1])
    put("b", table["a"] + x[2])
    y = table["a"] * table["b"]
    undo.pop()(0.5)
    y += table["a"] * table["b"]
    while undo:
        undo.pop()()
    return y * table["a"] + table["b"]


class Layer:
    def __init__(self, w):
        self.w, self.hooks = w, []

    def __call__(self, v):
        y = np.tanh(self.w * v)
        for hook in self.hooks:
            y = hook(self, v, y)
        return y


@case(VECTOR)
def lambdas_as_hooks_of_an_object(x):
    layer = Layer(x[0])
    layer.hooks.append(lambda owner, v, y: y + owner.w * v)
    layer.hooks.append(lambda owner, v, y: y * x[1])
    return layer(x[2]) + layer(x[1])


def listeners(heard, v):
    w = v * 2.0
    return [lambda t: heard.append(t * w), lambda t, by=v: heard.append(t + by)]


@case(VECTOR)
def closures_made_by_a_function_write_its_argument(x):
    heard = []
    table = {"a": listeners(heard, x[0]), "b": listeners(heard, x[1])}
    for key in ("a", "b", "a"):
        for listener in table[key]:
            listener(x[2])
    return sum(h * (k + 1) for k, h in enumerate(heard))


@case(VECTOR)
def closures_read_what_a_loop_binds_last(x):
    total = [0.0]
    hooks = []
    w = x[0]
    for v in x:

        def hook(t):
            total[0] += t * v * w

        hooks.append(hook)
    hooks[0](2.0)
    w = w * x[1]
    for hook in hooks:
        hook(x[0])
    return total[0]


class Scaled:
    def __init__(self, value):
        self.value = value
        self.at = lambda t: t * value


class By:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, part):
        return part.value * self.factor


@case(VECTOR)
def objects_are_sorted_by_what_an_object_of_a_list_gives(x):
    parts, orders = [Scaled(v) for v in x], [By(1.0 + v * v) for v in x]
    parts.sort(key=lambda part: part.value)
    first = max(parts, key=orders[1])
    return parts[0].at(x[1]) + sorted(parts, key=orders[0])[1].value * first.value
