"""Whose `seed` it is, and what may be one; `argnums` that are no positions and names; parameters named like our own."""

from __future__ import annotations

import functools
import inspect
import linecache

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad, vjp
from s2sgrad.testing import check_grads


def own(x, seed):
    return x * x * seed


def keyword_only(x, *, seed=0):
    return x * x + np.random.default_rng(seed).normal()


def any_keyword(x, **options):
    return x * x * options.get("seed", 1.0)


def two(x, seed, seed_):
    return x * seed * seed_


def local(x):
    seed = x * x
    return seed * x


# --- whose it is -----------------------------------------------------------------------------------------------------


def test_a_parameter_called_seed_is_the_functions_own():
    assert grad(own)(2.0, 3.0) == grad(own)(2.0, seed=3.0) == 12.0
    assert grad(own, "seed")(2.0, seed=3.0) == 4.0
    assert value_and_grad(keyword_only)(2.0, seed=3) == (keyword_only(2.0, seed=3), 4.0)
    assert grad(grad(own))(2.0, seed=3.0) == 6.0
    assert vjp(own, 2.0, seed=3.0)[1](10.0) == (120.0,)
    check_grads(own, (2.0, 3.0), order=2)


def test_the_cotangent_is_seed_with_an_underscore_then():
    assert grad(own)(2.0, seed=3.0, seed_=10.0) == grad(own)(2.0, 3.0, seed_=10.0) == 120.0
    assert grad(keyword_only)(2.0, seed=3, seed_=2.0) == 8.0
    assert grad(grad(own))(2.0, 3.0, seed_=2.0) == 12.0
    assert grad(two)(2.0, seed=3.0, seed_=5.0) == 15.0
    assert grad(two)(2.0, 3.0, 5.0, seed__=2.0) == 30.0
    assert grad(own, output_gradients=2.0)(2.0, seed=3.0) == 24.0


def test_the_signature_and_the_text_say_it():
    assert str(inspect.signature(grad(own))) == "(x, seed, *, seed_=None)"
    assert "def own_grad(x, seed, *, seed_=1.0)" in grad(own).source_for(2.0, 3.0)
    assert str(inspect.signature(grad(local))) == "(x, *, seed=None)"


def test_a_local_variable_called_seed_changes_nothing():
    assert grad(local)(2.0, seed=2.0) == 24.0


def test_a_seed_that_might_be_either_is_refused():
    with pytest.raises(TypeError, match=r"`any_keyword` takes any keyword.*`seed_=` for the cotangent.*partial"):
        grad(any_keyword)(2.0, seed=3.0)
    assert grad(any_keyword)(2.0, seed_=3.0) == 12.0
    assert grad(functools.partial(any_keyword, seed=5.0))(2.0) == 20.0
    assert grad(functools.partial(any_keyword, seed=5.0))(2.0, seed_=2.0) == 40.0
    assert vjp(any_keyword, 2.0, seed=3.0)[1](1.0) == (12.0,)


def test_inside_of_a_differentiated_function():
    assert grad(lambda x: grad(own)(x, seed=3.0))(2.0) == 6.0
    assert grad(lambda x: grad(own)(x, seed=3.0, seed_=2.0))(2.0) == 12.0


class Method:
    @grad(argnums="x")
    def energy(self, x, seed=1.0):
        return x * x * seed


def test_methods():
    assert Method().energy(2.0, seed=3.0) == 12.0
    assert Method().energy(2.0, seed=3.0, seed_=2.0) == 24.0


WORDS = ["outputs", "argnums", "args", "kwargs", "self", "has_aux", "result", "value", "saved", "function", "f", "seed",
         "y_bar", "keywords", "primals", "x_bar", "returned", "t1", "aux", "output_gradients", "bars"]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_parameter_may_have_any_name(word):
    text = f"def g({word}, z=1.0):\n    return {word} * {word} * z\n"
    filename = f"<a parameter called {word}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    space = {}
    exec(compile(text, filename, "exec"), space)
    g = space["g"]
    assert grad(g)(3.0) == grad(g)(**{word: 3.0}) == grad(g, word)(3.0) == 6.0
    assert value_and_grad(g)(**{word: 3.0, "z": 2.0}) == (18.0, 12.0)
    assert grad(grad(g))(**{word: 3.0}) == 2.0
    assert vjp(g, 3.0, z=2.0)[1](1.0) == (12.0,)
    assert grad(lambda x: vjp(g, x)[1](1.0)[0])(3.0) == 2.0
    assert f"def g_grad({word}, z" in grad(g).source_for(**{word: 3.0})


def test_vjp_passes_on_a_keyword_called_f():
    assert vjp(lambda z, f: z * f, 3.0, f=2.0)[1](1.0) == (2.0,)


# --- what may be one -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [2, np.int64(2), np.float32(2.0), np.array(2.0), np.array(2)], ids=repr)
def test_the_seed_of_a_number_is_a_float(seed):
    for gradient in (grad(lambda x: 3.0 * x)(5.0, seed=seed), vjp(lambda x: 3.0 * x, 5.0)[1](seed)[0]):
        assert gradient == 6.0 and isinstance(gradient, float)


@pytest.mark.parametrize("seed", ["abc", 1j, {}, len], ids=repr)
def test_what_is_no_number_is_no_seed(seed):
    with pytest.raises(TypeError, match="the seed of a number must be a number, not"):
        grad(lambda x: x * x)(3.0, seed=seed)
    with pytest.raises(TypeError, match=r"seed.*number"):
        vjp(lambda x: x * x, 3.0)[1](seed)


@pytest.mark.parametrize("seed", [[1.0], np.ones(2)], ids=repr)
def test_an_array_is_no_seed_of_a_number(seed):
    with pytest.raises(ValueError, match=r"shape of the result, \(\), not"):
        grad(lambda x: x * x)(3.0, seed=seed)


@pytest.mark.parametrize("seed", [["a", "b"], np.array([1j, 2.0]), np.array([None, 2.0])], ids=repr)
def test_the_seed_of_an_array_is_made_of_floats(seed):
    with pytest.raises(TypeError, match="the seed must be made of floats"):
        grad(lambda x: x * x)(np.ones(2), seed=seed)


def test_none_in_a_seed_is_refused_where_the_result_is_a_number():
    def f(x):
        return x * x, None

    assert grad(f)(3.0, seed=(2.0, None)) == 12.0
    for seed in ((None, None), (None, 1.0)):
        with pytest.raises(TypeError, match=r"seed is None where the result is a number: write 0\.0"):
            grad(f)(3.0, seed=seed)
    with pytest.raises(TypeError, match="seed is None"):
        vjp(lambda x: x * x, 3.0)[1](None)


@pytest.mark.parametrize("bars", [(), (1.0, 2.0)])
def test_a_pullback_takes_one_cotangent(bars):
    with pytest.raises(TypeError, match=f"a pullback takes one cotangent, .* and not {len(bars)}"):
        vjp(lambda x: (x, x), 3.0)[1](*bars)


# --- argnums ---------------------------------------------------------------------------------------------------------


def product(x, y):
    return x * y


LINE = np.array([0.3, -0.7, 1.1])
NEITHER = [1.0, True, None, 1j, b"x", {0}, (0, (1,)), (False,), np.array([0, 1]), range(2)]


@pytest.mark.parametrize("argnums", NEITHER, ids=repr)
@pytest.mark.parametrize("way", [grad, value_and_grad])
def test_argnums_are_positions_and_names(way, argnums):
    with pytest.raises(TypeError, match=r"argnums is a position .an int., a parameter's name, or a tuple of these, not"):
        way(product, argnums)
    with pytest.raises(TypeError, match="argnums is a position"):
        way(argnums=argnums)


@pytest.mark.parametrize("argnums", [5, -3, (0, 2)], ids=repr)
def test_argnums_out_of_range_say_what_there_is(argnums):
    with pytest.raises(TypeError, match=r"argnums=-?\d is out of range: product has 2 arguments by position; it has x, y"):
        grad(product, argnums)(2.0, 3.0)


def test_parameters_by_keyword_are_named_where_a_position_is_out_of_range():
    def scaled(x, *, k):
        return k * x

    with pytest.raises(TypeError, match=r"by position; it has x; of those by keyword it has k: `argnums='k'`"):
        grad(scaled, 1)(2.0, k=3.0)
    assert grad(scaled, "k")(2.0, k=3.0) == 2.0


def test_of_a_method_without_arguments_the_object_may_be_meant():
    class Net:
        w = 2.0

        def loss(self):
            return self.w * self.w

    with pytest.raises(TypeError, match=r"pass it to the function of its class, `grad\(Net.loss\)\(object\)`"):
        grad(Net().loss)()


@pytest.mark.parametrize("argnums", ["z", "", ("x", "z")], ids=repr)
def test_unknown_names_say_what_there_is(argnums):
    with pytest.raises(TypeError, match=r"product has no parameter named '\w*', which argnums names; it has x, y"):
        grad(product, argnums)(2.0, 3.0)


def test_integers_of_numpy_and_the_same_argument_twice():
    assert grad(product, np.int64(1))(2.0, 3.0) == 2.0
    assert grad(product, [np.int64(1), 0, 0])(2.0, 3.0) == (2.0, 3.0, 3.0)


@pytest.mark.parametrize("line", [np.atleast_1d, np.ravel, lambda s: np.reshape(s, (1,)), lambda s: np.append(LINE[:0], s)])
def test_a_seed_is_not_changed_where_a_number_is_made_a_line_twice(line):
    def f(s):
        return line(s), np.sin(line(s)), np.concatenate((LINE, line(s)))

    seed = np.array([2.0]), np.array([3.0]), np.arange(1.0, 2.0 + LINE.size)
    kept = tuple(v.copy() for v in seed)
    gradient = grad(f)(0.7, seed=seed)
    assert gradient == pytest.approx(2.0 + 3.0 * np.cos(0.7) + seed[2][-1]) and isinstance(gradient, float)
    assert all(np.array_equal(v, w) for v, w in zip(seed, kept, strict=True))


def test_a_seed_is_not_cut_to_the_type_of_an_array_whose_type_only_the_run_knows():
    def f(x, kind):
        n = np.array([200, 100]).astype(kind)
        return np.sum(x * n) + np.sum(x * x * -n)

    x, n = np.array([1.5, 2.5]), np.array([200, 100])
    for kind in ("int64", "float32"):
        np.testing.assert_allclose(grad(f)(x, kind, seed=0.75), 0.75 * (n - 2.0 * x * n))


def turned_square(q, c):
    y = q @ q.T
    z = np.rot90(y)
    if q[0, 1] > c:
        z[1:] = z[:-1] * y[1, 1]
    return y.T @ y


@pytest.mark.parametrize("seed", [None, np.ones((2, 2))], ids=["none", "an array"])
def test_no_shape_is_asked_of_a_seed_that_may_be_none(seed):
    q = np.array([[-0.78458, 0.94408, -0.67943], [1.32285, 1.42779, 0.51711]])
    _, pullback = vjp(turned_square, q, 0.3)
    np.testing.assert_allclose(grad(turned_square)(q, 0.3, seed=seed), pullback(np.ones((2, 2)))[0])
