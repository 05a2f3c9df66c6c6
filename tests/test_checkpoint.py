"""`checkpoint`: a call of which nothing is recorded, and the same gradient to the last bit."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from s2sgrad import S2SGradError, checkpoint, grad, hessian, hvp, jvp, value_and_grad, vjp

RNG = np.random.default_rng(3)
W, H = RNG.standard_normal((3, 3)), RNG.standard_normal(3)


def layer(w, h, act=np.tanh):
    a = np.sin(h)
    if a[0] > 0.0:
        a = a * 2.0
    return act(w @ a) * np.exp(a)


again = checkpoint(layer)


class Net:
    def __init__(self, w):
        self.w = w

    def plain(self, h):
        return np.tanh(self.w @ np.sin(h))

    @checkpoint
    def layer(self, h):
        return np.tanh(self.w @ np.sin(h))

    def __call__(self, h):
        return self.plain(h)


NET = Net(W)


def power_plain(x, n):
    return x if n == 0 else np.sin(x) * power_plain(x, n - 1)


@checkpoint
def power(x, n):
    return x if n == 0 else np.sin(x) * power(x, n - 1)


def smooth(u):
    un = u.copy()
    for _ in range(3):
        un[1:] += un[:-1] * un[1:]
    return un


def several(*hs, k=2.0):
    return sum([np.sin(h) * k for h in hs])


def network(parameters, h):
    for w, b in parameters:
        h = np.tanh(w @ h + b)
    return h, {"sum": np.sum(h)}


def in_a_loop(f):
    def loss(w, h):
        for _ in range(3):
            h = f(w, h)
        return np.sum(h)

    return loss


def written_later(f):
    def loss(w, h):
        u = h * 1.0
        y = f(w, u)
        u[0] = 5.0
        return np.sum(y * y) + np.sum(u)

    return loss


def rebound(w, h):
    w = w * 2.0
    h = w @ h
    return np.sin(h)


def pulled_back(f):
    def loss(x):
        y, pullback = vjp(f, x, 2)
        return y * pullback(1.0)[0]

    return loss


def of_a_tree(f):
    def loss(parameters, h):
        y, more = f(parameters, h)
        return np.sum(y) * more["sum"]

    return loss


def nested(x):
    @checkpoint
    def outer(y):
        return power(y, 2) * x

    return outer(x) * x


CASES = {
    "in a loop": (in_a_loop(again), in_a_loop(layer), (W, H)),
    "in the text": (lambda w, h: np.sum(checkpoint(layer)(w, h)), lambda w, h: np.sum(layer(w, h)), (W, H)),
    "a lambda over variables": (
        lambda w, h: np.sum(checkpoint(lambda t: np.tanh(w @ t))(h)), lambda w, h: np.sum(np.tanh(w @ h)), (W, H)),
    "keywords": (lambda w, h: np.sum(again(h=h, w=w)), lambda w, h: np.sum(layer(h=h, w=w)), (W, H)),
    "a function as an argument": (
        lambda w, h: np.sum(again(w, h, np.cos)), lambda w, h: np.sum(layer(w, h, np.cos)), (W, H)),
    "a lambda as an argument": (
        lambda w, h: np.sum(again(w, h, lambda t: t * w[0, 0])),
        lambda w, h: np.sum(layer(w, h, lambda t: t * w[0, 0])), (W, H)),
    "a method of an object that is made": (
        lambda w, h: np.sum(Net(w).layer(h)), lambda w, h: np.sum(Net(w).plain(h)), (W, H)),
    "a bound method": (
        lambda w, h: np.sum(checkpoint(Net(w).plain)(h)), lambda w, h: np.sum(Net(w).plain(h)), (W, H)),
    "a method of a global": (lambda h: np.sum(NET.layer(h)), lambda h: np.sum(NET.plain(h)), (H,)),
    "an object": (lambda h: np.sum(checkpoint(NET)(h)), lambda h: np.sum(NET(h)), (H,)),
    "a recursion": (lambda x: power(x, 3), lambda x: power_plain(x, 3), (0.4,)),
    "stores of its own": (
        lambda h: np.sum(checkpoint(smooth)(h) ** 2), lambda h: np.sum(smooth(h) ** 2), (H,)),
    "any number of arguments": (
        lambda x: checkpoint(several)(x, x * x, k=x), lambda x: several(x, x * x, k=x), (0.4,)),
    "a tree": (of_a_tree(checkpoint(network)), of_a_tree(network), ([(W, H), (W.T, H)], H)),
    "an argument that is written later": (written_later(again), written_later(layer), (W, H)),
    "parameters that are bound anew": (
        lambda w, h: np.sum(checkpoint(rebound)(w, h)), lambda w, h: np.sum(rebound(w, h)), (W, H)),
    "known at run time alone": (pulled_back(power), pulled_back(power_plain), (0.4,)),
    "one in another": (nested, lambda x: power_plain(x, 2) * x * x, (0.4,)),
    "a comprehension": (
        lambda x: sum([power(x * k, 1) for k in range(3)]),
        lambda x: sum([power_plain(x * k, 1) for k in range(3)]), (0.4,)),
    "a function of a library": (lambda x: checkpoint(np.sin)(x), np.sin, (0.4,)),
    "a partial": (lambda x: checkpoint(functools.partial(power_plain, n=2))(x), lambda x: power_plain(x, 2), (0.4,)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_the_same(name):
    f, g, args = CASES[name]
    assert repr(value_and_grad(f)(*args)) == repr(value_and_grad(g)(*args))


@pytest.mark.parametrize("name", [name for name in CASES if name != "a tree"])
def test_other_derivatives_are_the_same(name):
    f, g, args = CASES[name]
    direction = (np.ones_like(args[0]) * 0.3, *[None] * (len(args) - 1))
    for along in (jvp, hvp):
        np.testing.assert_allclose(along(f, args, direction), along(g, args, direction), rtol=1e-12)
    np.testing.assert_allclose(grad(grad(f))(*args), grad(grad(g))(*args), rtol=1e-12)


def test_a_hessian():
    f, g, args = CASES["in a loop"]
    np.testing.assert_allclose(hessian(f, "h")(*args), hessian(g, "h")(*args), rtol=1e-12)


def test_it_is_the_function():
    assert again(W, H).tolist() == layer(W, H).tolist() and again.__name__ == "layer" and again.__doc__ == layer.__doc__
    assert checkpoint(functools.partial(power_plain, n=2))(0.3) == power_plain(0.3, 2)
    assert Net(W).layer(H).tolist() == NET(H).tolist() == checkpoint(NET)(H).tolist()
    assert checkpoint(np.sin) is np.sin
    for wrong in (3.0, "f", None):
        with pytest.raises(TypeError, match="needs a function"):
            checkpoint(wrong)
    with pytest.raises(TypeError, match="generator"):
        checkpoint(lambda: (yield))


def test_arguments_alone_are_kept():
    text = grad(CASES["in a loop"][0]).source_for(W, H)
    assert "h_stack.append(h)" in text and "layer_bwd(w, h, h_bar)" in text and "layer_fwd" not in text


COUNT, CALLS = [0], []


def counts(u):
    CALLS.append(1)
    return u * len(CALLS)


def draws(u):
    return u * np.random.random()


def doubles(u):
    u *= 2.0
    return u * u


def shows(u):
    print(u)
    return u * u


def through_another(u):
    return shows(u) * u


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (draws, "`np.random.random` in a function under `checkpoint`"),
        (lambda u: u * RNG.normal(), "`RNG.normal` in a function under `checkpoint`"),
        (shows, "`print` in a function"),
        (through_another, "`shows` in a function"),
        (doubles, "may write its argument"),
        (counts, "`CALLS.append` in a function"),
    ],
)
def test_what_may_do_something_else_the_second_time_is_refused(f, told):
    with pytest.raises(S2SGradError, match=told):
        grad(lambda h: np.sum(checkpoint(f)(h)))(H)
