"""`*` and `**` in calls: every way to spread, before every sort of callee, is the call that is written out."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, jvp, value_and_grad

# --- callees of two arguments or three; `c` may be given by keyword ---


def usual(a, b, c=2.0):
    return a * b + np.sin(b) * c


def any_number(*a, c=1.5):
    return a[0] * a[1] ** 2 + sum(a) * c


def first_and_rest(a, *rest, c=3.0, **more):
    return a * c * more.get("d", 2.0) + np.prod(np.array(rest)) * a


class Method:
    def __init__(self, *scale, **words):
        self.scale, self.c = scale, words.get("c", 0.5)

    def called(self, a, b, c=None):
        return usual(*self.scale, a) * b * (self.c if c is None else c)

    def __call__(self, *a, **k):
        return self.called(*a, **k)


CALLEES = {
    "usual": usual, "any_number": any_number, "first_and_rest": first_and_rest, "object": Method(1.5, 0.7),
    "partial": partial(any_number, 1.2), "lambda": lambda a, b, c=2.5: usual(b, a, c=c),
    "made": lambda a, b, c=1.0: Method(a)(b, c),
}  # fmt: skip
OPTIONS = {"nothing": {}, "c": {"c": 0.8}}

# --- ways to call one with `x` and a number ---


def sliced(f, args, k, options):
    return lambda x: f(*args[:k], x, *args[k + 1 :], **options)


def added(f, args, k, options):
    return lambda x: f(*(args[:k] + (x,) + args[k + 1 :]), **options)


def replaced(f, args, k, options):
    def call(x):
        items = list(args)
        items[k] = x
        return f(*items, **options)

    return call


def grown(f, args, k, options):
    def call(x):
        given = ()
        for i, a in enumerate(args):
            given += (x if i == k else a,)
        return f(*given, **options)

    return call


def wrapped(f, args, k, options):
    def w(*a, **words):
        return f(*a, **words)

    return lambda x: w(*args[:k], x, *args[k + 1 :], **options)


def wrapped_twice(f, args, k, options):
    def w(*a, **words):
        return f(*a, **words)

    def v(*a, **words):
        return w(*a, **words)

    return (lambda x: v(x, args[1], **options)) if k == 0 else lambda x: v(args[0], x, **options)


def by_parts(f, args, k, options):
    return (lambda x: partial(f, x)(*args[1:], **options)) if k == 0 else lambda x: partial(f, *args[:1], **options)(x)


WAYS = [sliced, added, replaced, grown, wrapped, wrapped_twice, by_parts]


def slope(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2.0 * h)


@pytest.mark.sampled(one_in=20)
@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("options", list(OPTIONS))
@pytest.mark.parametrize("callee", list(CALLEES))
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_spread_before_every_callee(way, callee, options, k):
    call = way(CALLEES[callee], (1.3, 0.4), k, OPTIONS[options])
    x = (1.3, 0.4)[k]
    try:
        value, gradient = value_and_grad(call)(x)
    except S2SGradError:  # what is not in the text, and only the run may name its parameters
        assert callee in ("object", "partial") or way is by_parts
        return
    assert value == call(x)
    assert gradient == pytest.approx(slope(call, x), rel=1e-6)
    assert jvp(call, (x,), (1.0,)) == pytest.approx((value, gradient))


A = np.linspace(0.5, 2.0, 6).reshape(2, 3)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(("f", "args", "options"), [
    (np.sum, (A,), {"axis": 0, "keepdims": True}), (np.sum, (A, 1), {}), (np.var, (A, 0), {"ddof": 1}),
    (np.hypot, (A, A + 1.0), {}), (np.tensordot, (A, A.T), {"axes": 1}), (np.einsum, ("ij,jk->ik", A, A.T), {}),
    (np.clip, (A, 0.7, 1.5), {}), (np.where, (A > 1.0, A, 2.0 * A), {}), (np.linalg.norm, (A,), {"axis": 1}),
])  # fmt: skip
def test_a_function_of_the_library(f, args, options):
    k = next(k for k, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype == float)
    want = grad(partial(f, **options), k)(*args)
    moved = np.sin(np.arange(args[k].size)).reshape(args[k].shape)
    along = slope(lambda t: np.sum(f(*args[:k], args[k] + t * moved, *args[k + 1 :], **options)), 0.0)
    assert np.sum(want * moved) == pytest.approx(along, rel=1e-5)
    for way in (sliced, replaced, wrapped):
        call = way(f, args, k, options)
        assert np.allclose(grad(call)(args[k]), want)
        value, tangent = jvp(call, (args[k],), (moved,))
        assert np.array_equal(value, call(args[k])) and np.sum(tangent) == pytest.approx(along, rel=1e-5)
    assert np.allclose(grad(f, k)(*args, **options), want)


def test_a_function_of_the_library_takes_by_position_what_its_own_order_says():
    assert np.allclose(grad(np.sum)(A, 0, keepdims=True), 1.0)
    with pytest.raises(TypeError, match="too many positional"):
        grad(np.sum)(A, 0, None, None, True)  # our order would be another


@pytest.mark.parametrize("args", [(1,), (1, "edge"), (((1, 0), (2, 1)), "reflect")])
def test_a_function_that_takes_other_keywords_in_other_modes(args):
    want = grad(lambda x: np.pad(x, *args))(A)
    assert np.allclose(grad(np.pad)(A, *args), want)
    assert np.allclose(grad(sliced(np.pad, (A, *args), 0, {}))(A), want)
    with pytest.raises(TypeError, match="unexpected keyword"):
        grad(np.pad)(A, 1, constant_values=2.0)


def test_what_a_partial_binds_may_be_among_any_number_of_arguments():
    def called(f, x):
        return f(x, x)

    for given in ((), (1.2,), (1.2, 1.5)):
        for f in (any_number, usual, first_and_rest):
            if f is usual and len(given) > 1:
                continue
            g = partial(f, *given)
            assert grad(called, 1)(g, 0.7) == pytest.approx(slope(lambda x: called(g, x), 0.7))
            assert jvp(called, (g, 0.7), (None, 1.0))[1] == pytest.approx(slope(lambda x: called(g, x), 0.7))


def test_what_stands_behind_two_stars_is_that_of_this_call():
    options = {"c": 3.0}

    def f(x):
        return first_and_rest(x, 2.0, **options)

    df = grad(f)
    for now in ({"c": 3.0}, {"d": 4.0}, {}, {"c": 1.0, "d": 2.0}):
        options.clear()
        options.update(now)
        assert df(0.7) == pytest.approx(slope(f, 0.7))


def test_an_argument_behind_two_stars():
    def f(x, d):
        return first_and_rest(x, 2.0, **d)

    for d in ({"c": 3.0}, {"d": 4.0}, {}):
        assert grad(f)(0.7, d) == pytest.approx(slope(lambda x: f(x, d), 0.7))
    assert grad(f, "d")(0.7, {"c": 3.0, "d": 4.0}) == pytest.approx({"c": 2.8, "d": 2.1})


def test_keys_that_change_on_the_way_are_refused():
    def f(x, d):
        d["c"] = 2.0
        return first_and_rest(x, 2.0, **d)

    with pytest.raises(S2SGradError, match="name the keywords"):
        grad(f)(0.7, {"d": 4.0})


@pytest.mark.records
def test_map_of_a_function_that_is_made_here():
    def scaled(k):
        return lambda t: t * k

    programs = [
        lambda x: sum(map(partial(usual, x), [1.0, x])),
        lambda x: sum(map(partial(usual, b=x, c=x), np.arange(3.0))),
        lambda x: sum(map(partial(partial(usual, x), c=x), [1.0, 2.0])),
        lambda x: sum(map(partial(usual, x), [1.0, 2.0], (x, 3.0))),
        lambda x: sum(map(scaled(x), [1.0, x])),
        lambda x: sum(filter(partial(np.less, 0.0), [x, -x, 2.0 * x])),
        lambda x: reduce(lambda a, b: a * b, (x,) + (2.0, x)),
    ]
    for f in programs:
        assert grad(f)(0.7) == pytest.approx(slope(f, 0.7))
        assert jvp(f, (0.7,), (1.0,))[1] == pytest.approx(slope(f, 0.7))


@pytest.mark.records
def test_map_in_a_loop_that_rebinds_what_its_function_was_made_of():
    def f(x):
        total, w = 0.0, x
        for v in map(partial(usual, w), [1.0, 2.0, 3.0]):
            w = v * 0.1
            total += v * w
        return total

    assert grad(f)(0.7) == pytest.approx(slope(f, 0.7))


def test_the_pullback_of_a_lambda_in_a_pullback():
    def made(f, x):
        from s2sgrad import vjp

        value, pullback = vjp(f, x)
        return lambda g: pullback(g)[0] * value

    square = lambda t: t * t  # noqa: E731
    assert grad(lambda x: made(square, x)(2.0))(0.7) == pytest.approx(12.0 * 0.7**2)
