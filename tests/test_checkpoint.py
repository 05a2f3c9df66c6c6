"""`checkpoint` and `checkpointed`: calls and loops that are run again, and the same gradient to the last bit."""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import pickle
import re
import textwrap
import tracemalloc

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import (
    S2SGradError,
    Unsupported,
    checkpoint,
    checkpointed,
    defvjp,
    grad,
    hessian,
    hvp,
    jvp,
    linearize,
    nondifferentiable,
    value_and_grad,
    vjp,
)
from s2sgrad.runtime.checkpoints import Checkpoints

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


def row_that_may_be_unbound(w, h):
    for row in w:  # noqa: B007
        w = 0.7 * w * w
    return np.sum(row * row) * (w @ h)


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
    "one that is bound anew, and a check": (
        lambda w, h: np.sum(checkpoint(row_that_may_be_unbound)(w, h)),
        lambda w, h: np.sum(row_that_may_be_unbound(w, h)), (W, H)),
    "known at run time alone": (pulled_back(power), pulled_back(power_plain), (0.4,)),
    "one in another": (nested, lambda x: power_plain(x, 2) * x * x, (0.4,)),
    "a comprehension": (
        lambda x: sum([power(x * k, 1) for k in range(3)]),
        lambda x: sum([power_plain(x * k, 1) for k in range(3)]), (0.4,)),
    "a function of a library": (lambda x: checkpoint(np.sin)(x), np.sin, (0.4,)),
    "a partial": (lambda x: checkpoint(functools.partial(power_plain, n=2))(x), lambda x: power_plain(x, 2), (0.4,)),
}  # fmt: skip


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_the_same(name):
    f, g, args = CASES[name]
    assert repr(value_and_grad(f)(*args)) == repr(value_and_grad(g)(*args))


@pytest.mark.sampled(one_in=10)
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


def uses_up(u, rates):
    return u * sum(rates)


def uses_up_deeper(u, rates):
    return u * total(rates, 2)


def total(rates, depth):
    return sum(rates) if depth == 0 else total(rates, depth - 1)


@pytest.mark.parametrize("f", [uses_up, uses_up_deeper])
def test_an_iterator_that_the_first_run_uses_up_is_refused(f):
    with pytest.raises(S2SGradError, match="use up iterators"):
        grad(lambda h: np.sum(checkpoint(f)(h, iter((0.5, 0.7)))))(H)
    with pytest.raises(S2SGradError, match="use up iterators"):
        grad(lambda h, rates: np.sum(checkpoint(f)(h, rates)))(H, iter((0.5, 0.7)))
    gradient = grad(lambda h, rates: np.sum(checkpoint(f)(h, rates)))(H, (0.5, 0.7))
    np.testing.assert_allclose(gradient, np.full_like(H, 1.2))


# --- loops ---


def heat(u, c, n, slots):
    for _ in checkpointed(range(n), slots=slots):
        u[1:-1] += c * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_plain(u, c, n, slots):
    for _ in range(n):
        u[1:-1] += c * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def step(u, c):
    return u + c * np.sin(u) * np.roll(u, 1)


def steps(u, c, n, slots):
    total = 0.0
    for _ in checkpointed(range(n), slots=slots):
        u = step(u, c)
        total += np.sum(u)
    return np.sum(u * u) + total


def steps_plain(u, c, n, slots):
    total = 0.0
    for _ in range(n):
        u = step(u, c)
        total += np.sum(u)
    return np.sum(u * u) + total


def leapfrog(u, c, n, slots):
    v = u * 0.5
    for _ in checkpointed(range(n), slots=slots):
        v[1:-1] = 2 * u[1:-1] - v[1:-1] * u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * v)


def leapfrog_plain(u, c, n, slots):
    v = u * 0.5
    for _ in range(n):
        v[1:-1] = 2 * u[1:-1] - v[1:-1] * u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * v)


LOOPS = {"stores": (heat, heat_plain), "a call": (steps, steps_plain), "a swap": (leapfrog, leapfrog_plain)}
U = np.linspace(0.1, 0.9, 7)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("trips", [0, 1, 2, 7, 12])
def test_a_loop_has_the_same_gradient_with_any_number_of_states(name, trips):
    f, g = LOOPS[name]
    wanted = repr(value_and_grad(g, (0, 1))(U, 0.1, trips, 0))
    df = value_and_grad(f, (0, 1))
    for slots in range(1, trips + 3):
        assert repr(df(U, 0.1, trips, slots)) == wanted, slots
    assert f(U.copy(), 0.1, trips, 3) == g(U.copy(), 0.1, trips, 3)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_has_the_same_other_derivatives(name):
    f, g = LOOPS[name]
    args, along = (U, 0.1, 9, 3), (np.ones_like(U), None, None, None)
    for what in (jvp, hvp):
        np.testing.assert_allclose(what(f, args, along), what(g, args, along), rtol=1e-12)
    np.testing.assert_allclose(hessian(f)(*args), hessian(g)(*args), rtol=1e-12)
    np.testing.assert_allclose(grad(grad(f))(*args), grad(grad(g))(*args), rtol=1e-12)


def test_a_pullback_of_a_loop_can_be_called_again():
    def f(u, n):
        for _ in checkpointed(range(n), slots=2):
            u = np.sin(u) * 1.1
        return u

    _, pullback = vjp(f, U, 9)
    once, again_, more = pullback(np.ones(7)), pullback(2.0 * np.ones(7)), pullback(np.ones(7))
    assert once[0].tolist() == more[0].tolist() and (2.0 * once[0]).tolist() == again_[0].tolist()


@functools.cache
def fewest(count, slots):
    """The fewest steps that are run to come to others, of so many that are reversed with so many states."""
    if count <= 1:
        return 0
    if slots == 1:
        return count * (count - 1) // 2
    return min(m + fewest(count - m, slots - 1) + fewest(m, slots) for m in range(1, count))


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 9, 40])
def test_no_schedule_runs_fewer_trips(slots):
    for trips in range(1, 30):
        ran = []

        def trip(u, ran=ran):
            ran.append(1)
            return u + 1

        states, u, most = Checkpoints(trips, slots), 0, 0
        for k in range(trips):
            states.keep(k, u)
            u = trip(u)
            most = max(most, len(states.held))
        for k in reversed(range(trips)):
            first, u = states.latest(k)
            assert u == first
            for j in range(first, k):
                states.keep(j, u)
                u = trip(u)
                most = max(most, len(states.held))
            assert u == k
        assert len(ran) == fewest(trips + 1, slots)  # what follows the loop is the last step
        assert most <= slots


def test_so_many_states_are_kept_and_no_more():
    u = np.full(1000, 0.1)
    df = grad(heat)
    df(u, 0.1, 4, 2)
    tracemalloc.start()
    df(u, 0.1, 400, 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * u.nbytes  # ten states, and what one trip takes


def test_the_state_is_what_the_adjoint_needs():
    text = grad(steps).source_for(U, 0.1, 9, 3)
    assert "states.keep(k, u)" in text and "first, u = states.latest(k)" in text and "total" not in text.split("reverse")[0]
    text = grad(lambda x, n: x * count_up(n)).source_for(2.0, 3)
    assert "Checkpoints" not in text


def count_up(n):
    total = 0.0
    for k in checkpointed(range(n), slots=2):
        total += k
    return total


def bodies():
    """Loops, `over` what they run over, each with arguments."""

    def left_early(u, n, over=checkpointed):
        for _ in over(range(n), slots=3):
            u = u * 0.3 + np.sin(u)
            if np.sum(u) > 4.0:
                break
            u = u * 1.1
        return np.sum(u * u)

    def returned_from(u, n, over=checkpointed):
        for k in over(range(n), slots=3):
            u = u * 0.3 + np.sin(u)
            if k == 4:
                return np.sum(u)
            u = u * 1.1
        return np.sum(u * u)

    def one_in_another(u, n, over=checkpointed):
        for i in over(range(n), slots=2):
            for j in over(range(i), slots=2):
                u = u * np.sin(u) + u[j % 5]
            u = u * 0.5
        return np.sum(u)

    def in_a_plain_one(u, n, over=checkpointed):
        for i in range(n):
            for j in over(range(i), slots=2):
                u = u * np.sin(u) + u[j % 5]
            u = u * 0.5
        return np.sum(u)

    def around_a_plain_one(u, n, over=checkpointed):
        for i in over(range(n), slots=2):
            for j in range(i):
                u = u * np.sin(u) + u[j % 5]
            u = u * 0.5
        return np.sum(u)

    def values_from_before(u, n, over=checkpointed):
        w = u * u
        s = np.sum(w * w * w)
        for _ in over(range(n), slots=2):
            w *= np.sin(u)
            w[1:] += w[:-1] * u[1:]
        return np.sum(w * w) * s

    def a_view_from_before(u, n, over=checkpointed):
        w = u * 1.0
        t = w[1:]
        s = np.sum(t * t)
        for _ in over(range(n), slots=2):
            w[1:] *= u[1:] * w[:-1]
        return np.sum(w) * s

    def appended(u, n, over=checkpointed):
        h = []
        for k in over(range(n), slots=2):
            u = np.sin(u) * u
            if k % 2:
                h.append(np.sum(u * u))
        return sum(h) * h[0]

    def appended_and_read(u, n, over=checkpointed):
        h = [np.sum(u)]
        for _ in over(range(n), slots=2):
            u = np.sin(u) * u
            h.append(h[-1] * np.sum(u * u))
        return h[-1] * h[1]

    def taken_off(u, n, over=checkpointed):
        h, a = [u[0], u[1] * u[0], np.sin(u[2])], 1.0
        for _ in over(range(len(h)), slots=2):
            a = a * np.sin(h.pop()) + a
        return a

    def a_list(u, n, over=checkpointed):
        s = [u, u * 2.0]
        for _ in over(range(n), slots=2):
            s[0] = s[0] * s[1]
            s[1] = np.sin(s[1])
        return np.sum(s[0] * s[1])

    def a_dict(u, n, over=checkpointed):
        d = {"a": u, "b": u * 2.0}
        for _ in over(range(n), slots=2):
            d["a"] = np.sin(d["a"]) * d["b"]
        return np.sum(d["a"])

    def bound_in_the_first_trip(u, n, over=checkpointed):
        for k in over(range(n), slots=2):
            if k == 0:
                w = u * u
            else:
                w = w * np.sin(u)
            u = u + w
        return np.sum(u * w)

    def read_afterwards(u, n, over=checkpointed):
        k = 0
        for k in over(range(n), slots=2):
            u = u * 0.9 + k
            w = np.sin(u)
        u = u + w * k
        u[0] = 3.0
        return np.sum(u * w)

    def backwards_over_pairs(u, n, over=checkpointed):
        s = 1.0
        for k, (a, b) in over(enumerate(zip(u, u[::-1], strict=True)), slots=2):
            s = s * np.sin(a + b * k) + a
        for k in over(reversed(range(1, 5)), slots=2):
            s = s * np.sin(u[k] + s)
        return s

    def shown(u, n, over=checkpointed):
        for _ in over(range(n), slots=2):
            u = np.sin(u) * u
            print("trip", end=" ")
        return np.sum(u)

    def with_a_method(u, n, over=checkpointed):
        p = Particle(u)
        for _ in over(range(n), slots=2):
            p.move(u)
        return np.sum(p.u) * p.t

    return {f.__name__: f for f in list(locals().values())}


class Particle:
    def __init__(self, u):
        self.u, self.t = u, 0.0

    def move(self, v):
        self.u = np.sin(self.u) * v
        self.t += np.sum(self.u)


def plain_text(f):
    """The same loop over the bare iterable."""
    text = textwrap.dedent(inspect.getsource(f)).replace(", over=checkpointed", "")
    bare = re.sub(r"over\((.*), slots=\d\)", r"\1", text)
    kept = text.replace("over(", "checkpointed(")
    made = []
    for which, lines in (("kept", kept), ("plain", bare)):
        name = f"<{which} {f.__name__}>"
        linecache.cache[name] = (len(lines), None, lines.splitlines(keepends=True), name)
        space = {"np": np, "checkpointed": checkpointed, "Particle": Particle}
        exec(compile(lines, name, "exec"), space)
        made.append(space[f.__name__])
    return made


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", bodies())
def test_a_body_has_the_same_gradient(name, capsys):
    kept, plain = plain_text(bodies()[name])
    u = np.linspace(0.2, 1.1, 5)
    wanted, said = value_and_grad(plain)(u, 6), capsys.readouterr().out
    assert repr(value_and_grad(kept)(u, 6)) == repr(wanted)
    assert capsys.readouterr().out == said
    assert "Checkpoints" in grad(kept).source_for(u, 6)


def test_outer_products_are_not_put_off_until_the_loop_has_ended():
    def network(w, n):
        h = np.ones(3)
        for _ in checkpointed(range(n), slots=2):
            h = np.tanh(w @ h)
        return np.sum(h)

    text = grad(network).source_for(W, 9)
    assert "np.outer" in text and "columns" not in text


def draws_in_the_loop(u, n):
    for _ in checkpointed(range(n), slots=2):
        u = np.sin(u) * RNG.random()
    return np.sum(u)


def unknown_in_the_loop(u, f):
    for _ in checkpointed(range(3), slots=2):
        u = f(u)
    return np.sum(u)


def writes_a_shared_array(u, n):
    w = u * 1.0
    v = w[1:]
    for _ in checkpointed(range(n), slots=2):
        w[1:] *= u[1:]
        w = w * 2.0
    return np.sum(w) + np.sum(v)


def test_a_loop_without_a_derivative_runs_once():
    def f(x, rng, n):
        s = 0.0
        for _ in checkpointed(range(n), slots=2):
            s = s + rng.random()
            print("drawn", end=" ")
        return x * x * s

    wanted = 2.0 * 3.0 * np.sum(np.random.default_rng(4).random(5))
    rng = np.random.default_rng(4)
    np.testing.assert_allclose(grad(f)(3.0, rng, 5), wanted, rtol=1e-12)
    assert rng.random() == np.random.default_rng(4).random(6)[5]


def two_containers(u, n):
    s, d = [u, u * 2.0], [u, u]
    for k in checkpointed(range(n), slots=2):
        s[k % 2] = s[k % 2] * s[1]
        d[k % 2] = np.sin(d[k % 2]) * s[0]
    return np.sum(s[0] * d[1])


def two_containers_with_known_places(u, n):
    s, d = [u, u * 2.0], {"a": u}
    for _ in checkpointed(range(n), slots=2):
        s[0] = s[0] * s[1]
        d["a"] = np.sin(d["a"]) * s[0]
    return np.sum(s[0] * d["a"])


def a_container_in_another(u, n):
    s = [u, u * 2.0]
    d = {"a": s}
    for k in checkpointed(range(n), slots=2):
        s[k % 2] = s[k % 2] * s[1]
        d["a"][k % 2] = np.sin(d["a"][k % 2]) * s[0]
    return np.sum(s[0] * d["a"][1])


@pytest.mark.parametrize("f", [two_containers_with_known_places, a_container_in_another])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_containers_that_hold_the_same(f, n):
    u = 0.4 + 0.5 * U
    (slopes,) = central_difference(f, (u, n), (0,))
    np.testing.assert_allclose(grad(f)(u, n), slopes, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (u, n), (U, None))[1], slopes @ U, rtol=1e-6)


def endless(u, n):
    for k in checkpointed(itertools.count(), slots=2):
        u = np.sin(u)
        if k == n:
            break
    return np.sum(u)


def not_in_the_head(u, n):
    trips = checkpointed(range(n), slots=2)
    for _ in trips:
        u = np.sin(u)
    return np.sum(u)


def inside_another(u, n):
    for _, v in zip(checkpointed(range(n), slots=2), u[:n], strict=True):
        u = np.sin(u) * v
    return np.sum(u)


@pytest.mark.parametrize(
    ("f", "given", "told"),
    [
        (draws_in_the_loop, 3, "`RNG.random` in a loop over `checkpointed`"),
        (unknown_in_the_loop, lambda v: v * v, "`f` in a loop over `checkpointed`"),
        (writes_a_shared_array, 3, "`w` may stand for memory that has another name"),
        (two_containers, 3, "`d`, which this loop over `checkpointed` writes in place, may share its memory with `s`"),
        (endless, 3, "leave it by `break`"),
        (not_in_the_head, 3, "stands around all that a `for` loop runs over"),
        (inside_another, 3, "stands around all that a `for` loop runs over"),
    ],
)
def test_a_loop_that_cannot_be_run_again_is_refused(f, given, told):
    with pytest.raises(S2SGradError, match=told):
        grad(f)(U, given)


@pytest.mark.parametrize(("slots", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_the_number_of_states_is_checked(slots, error):
    with pytest.raises(error, match="slots"):
        checkpointed(range(3), slots=slots)
    with pytest.raises(error, match="slots"):
        grad(heat)(U, 0.1, 3, slots)


def elements(u, c, n):
    for _ in checkpointed(range(n), slots=3):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * u[i] * (u[i + 1] - 2 * u[i] + u[i - 1])
    return np.sum(u)


def elements_plain(u, c, n):
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * u[i] * (u[i + 1] - 2 * u[i] + u[i - 1])
    return np.sum(u)


def test_elements_are_on_lists_beside_states():
    u = np.linspace(0.1, 1.0, 60)
    df = value_and_grad(elements, (0, 1))
    assert repr(df(u, 0.1, 8)) == repr(value_and_grad(elements_plain, (0, 1))(u, 0.1, 8))
    assert "u_list" in df.source and "states.keep" in df.source


def kept_steps(x):
    for _ in checkpointed(range(10), slots=3):
        x = np.sin(x) * x
    return np.sum(x)


def steps_of_records(x):
    for _ in range(10):
        x = np.sin(x) * x
    return np.sum(x)


def slope_of(f):
    def slope(x):
        y, pullback = vjp(f, x)
        return y * np.sum(pullback(1.0)[0])

    return slope


@pytest.mark.sampled(one_in=3, turn=1)
def test_pullbacks_of_loops_are_differentiated_where_they_are_made():
    x, u = np.array([1.7, 2.1, 1.9]), np.array([0.3, -1.0, 0.5])
    mine, plain = slope_of(kept_steps), slope_of(steps_of_records)
    np.testing.assert_allclose(grad(mine)(x), grad(plain)(x), rtol=1e-12)
    np.testing.assert_allclose(hessian(mine)(x), hessian(plain)(x), rtol=1e-10)
    for a, b in zip(jvp(mine, (x,), (u,)), jvp(plain, (x,), (u,)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    y, along = linearize(kept_steps, x)
    assert y == kept_steps(x)
    for direction in (u, 2.0 * u):
        np.testing.assert_allclose(along(direction), jvp(steps_of_records, (x,), (direction,))[1], rtol=1e-12)


def test_a_pullback_that_is_differentiated_is_another_text_than_one_that_is_not():
    """The pullback of `vjp` keeps states before and after one of the same function has been differentiated."""
    x = np.array([1.7, 2.1, 1.9])
    first = vjp(kept_steps, x)[1](1.0)[0]
    grad(slope_of(kept_steps))(x)
    pullback = vjp(kept_steps, x)[1]
    np.testing.assert_array_equal(pullback(1.0)[0], first)
    assert any(isinstance(kept, Checkpoints) for kept in pullback.saved)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pullback))(1.0)[0], first)


def test_a_pullback_that_is_an_argument_keeps_states():
    def called(g, pullback):
        return np.sum(pullback(g)[0])

    pullback = vjp(kept_steps, np.array([1.7, 2.1, 1.9]))[1]
    for _ in range(2):  # it is linear
        np.testing.assert_allclose(grad(called)(3.0, pullback), called(1.0, pullback), rtol=1e-12)


def test_a_function_with_a_rule_keeps_it_under_checkpoint():
    """It is called and never read, so that nothing of it is run again: decorated, called so, looked up, in both modes."""

    def floored(h):
        return np.floor(h)

    defvjp(floored, lambda g, y, h: 3.0 * g)
    under = checkpoint(floored)
    x = np.array([0.5, 1.5])
    for f in (under, lambda x: under(x), lambda x: checkpoint(floored)(x), lambda x, f=under: f(x)):
        np.testing.assert_array_equal(grad(f)(x), [3.0, 3.0])
        np.testing.assert_array_equal(jvp(f, (x,), (x,))[1], 3.0 * x)
        np.testing.assert_array_equal(vjp(f, x)[1](x)[0], 3.0 * x)
        np.testing.assert_array_equal(linearize(f, x)[1](x), 3.0 * x)


def test_what_is_a_constant_is_looked_into_where_it_is_run_again():
    tenths, noise = nondifferentiable(lambda h: np.round(10.0 * h) / 10.0), np.random.default_rng(0)
    drawn = nondifferentiable(lambda h: h * noise.normal())

    def steps(x):
        for _ in checkpointed(range(5), slots=2):
            x = np.sin(x) * tenths(x)
        return np.sum(x)

    def noisy(x):
        for _ in checkpointed(range(5), slots=2):
            x = np.sin(x) * drawn(x)
        return np.sum(x)

    x = np.array([0.51, 1.53])
    plain = grad(lambda x: [x := np.sin(x) * tenths(x) for _ in range(5)][-1])
    np.testing.assert_array_equal(grad(steps)(x), plain(x))
    with pytest.raises(Unsupported, match="draw random numbers"):
        grad(noisy)(x)
