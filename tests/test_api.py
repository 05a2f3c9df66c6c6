"""`grad` and `value_and_grad` as people use them: how they are made, called, looked at, and what they promise."""

from __future__ import annotations

import contextlib
import decimal
import functools
import gc
import importlib.util
import inspect
import io
import itertools
import linecache
import os
import pathlib
import pydoc
import re
import subprocess
import sys
import textwrap
import threading
import traceback
from collections import namedtuple

import numpy as np
import pytest
from differences import central_difference, leaves

import s2sgrad
from s2sgrad import S2SGradError, grad, jvp, value_and_grad
from s2sgrad.driver.text import whereabouts
from s2sgrad.rules import table

ROOT = pathlib.Path(s2sgrad.__file__).resolve().parent.parent
_serial = itertools.count()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module from text and import it."""

    def write_and_import(text, name=None):
        name = name or f"module_of_api_{next(_serial)}"
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        spec = importlib.util.spec_from_file_location(name, path)
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return write_and_import


def product(x, y):
    return x * y


def three(x, y, z):
    return x * y + y * z * z


def weighted(x, w):
    return np.sum(w * x * x)


# --- three ways to make one ------------------------------------------------------------------------------------------


def test_bare_decorator():
    @grad
    def f(x, k=3.0):
        return k * x**2

    assert f(2.0) == 12.0
    assert f(2.0, 1.0) == 4.0
    assert f.primal(2.0) == 12.0
    assert f.__name__ == "f_grad"


def test_decorator_with_options():
    @grad(argnums=("y", "x"))
    def f(x, y):
        return x * y * y

    assert f(2.0, 3.0) == (12.0, 9.0)

    @grad()
    def g(x):
        return x * x

    assert g(2.0) == 4.0

    @value_and_grad(argnums=1)
    def h(x, y):
        return x * y * y

    assert h(2.0, 3.0) == (18.0, 12.0)


def test_call():
    assert grad(product)(2.0, 3.0) == 3.0
    assert grad(product, 1)(2.0, 3.0) == 2.0
    assert value_and_grad(product)(2.0, 3.0) == (6.0, 3.0)
    assert product(2.0, 3.0) == 6.0


def test_lambdas_closures_and_library_functions():
    k = 4.0
    assert grad(lambda x: k * x * x)(2.0) == 16.0
    first, second = grad(lambda x: x * 2.0), grad(lambda x: x * 3.0)
    assert (first(1.0), second(1.0)) == (2.0, 3.0)
    np.testing.assert_allclose(grad(np.sin)(0.3), np.cos(0.3), rtol=1e-15)
    np.testing.assert_allclose(grad(np.sum)(np.ones(3)), np.ones(3))


def test_a_closure_is_read_when_it_is_called():
    def make(k):
        def f(x):
            return k * x * x

        def change(value):
            nonlocal k
            k = value

        return f, change

    f, change = make(2.0)
    df = grad(f)
    assert df(3.0) == 12.0
    change(5.0)
    assert df(3.0) == 30.0
    g, _ = make(7.0)
    assert grad(g)(3.0) == 42.0
    assert df(3.0) == 30.0


def test_what_is_no_function_is_refused():
    for wrong in (3.0, "f", None.__class__, [product]):
        if callable(wrong):
            continue
        with pytest.raises(TypeError, match="function"):
            grad(wrong)


def test_nothing_is_read_before_the_first_call(module):
    made = module("""
        from s2sgrad import grad

        @grad
        def f(x):
            return helper(x) * 2.0

        def helper(x):
            return x * x
    """)
    assert made.f(3.0) == 12.0


def test_a_lambda_as_a_helper():
    square = lambda a: a * a  # noqa: E731
    half = lambda a: np.sin(a) * np.exp(np.sin(a))  # noqa: E731
    df = grad(lambda x: square(x) * half(x) * half(square(x)))
    np.testing.assert_allclose(df(0.7), central_difference(df.primal, (0.7,), 0)[0], rtol=1e-7)
    assert "def lambda__bwd(" in df.source and "<lambda>_" not in df.source


@pytest.mark.parametrize("name", ["a name with blanks", "class", "3d", "", "ﬁ", "x-y", "<locals>"])
def test_functions_with_strange_names(name):
    def helper(x):
        return np.sin(x) * np.exp(np.sin(x))

    def f(x):
        return helper(x) * helper(x * x)

    expected = grad(f)(0.7)
    f.__name__ = helper.__name__ = name
    df = grad(f)
    assert df(0.7) == expected
    assert "def function_grad(" in df.source and "def function_bwd(" in df.source


def test_names_in_other_letters():
    def énergie_λ(x):
        return x * x

    assert "def énergie_λ_grad(" in grad(énergie_λ).source


def test_generated_names_stay_away_from_names_that_the_functions_mention():
    def f_grad(x):
        return x * 3.0

    def helper_fwd(x):
        return x * np.sin(x)

    def helper(x):
        helper_bwd = np.sin(x) * x
        return helper_bwd * np.cos(helper_bwd) * helper_fwd(x)

    def f(x):
        return f_grad(x) * helper(x) * x

    df = grad(f)
    np.testing.assert_allclose(df(0.7), central_difference(f, (0.7,), 0)[0], rtol=1e-7)
    assert "def f_grad_(" in df.source
    np.testing.assert_allclose(pasted(df, {**globals(), **locals()})(0.7), df(0.7), rtol=1e-15)


def user_grad(x):
    return x * 3.0


def user(x):
    return user_grad(x) * x


def test_a_global_helper_named_like_the_gradient():
    assert grad(user)(2.0) == 12.0
    assert value_and_grad(user)(2.0) == (12.0, 12.0)
    assert grad(grad(user))(2.0) == 6.0


def test_a_caller_whose_local_has_the_name_of_a_pair():
    def helper(x):
        return np.sin(x) * np.exp(np.sin(x))

    def other(x):
        helper_bwd = helper(x) * x
        return helper_bwd * np.cos(helper_bwd)

    def f(x):
        return helper(x) * other(x)

    df = grad(f)
    np.testing.assert_allclose(df(0.7), central_difference(f, (0.7,), 0)[0], rtol=1e-7)
    np.testing.assert_allclose(pasted(df, {**globals(), **locals()})(0.7), df(0.7), rtol=1e-15)


# --- argnums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        (0, 3.0),
        (1, 2.0 + 25.0),
        (2, 30.0),
        ("x", 3.0),
        ("z", 30.0),
        (-1, 30.0),
        (-3, 3.0),
        ((0,), (3.0,)),
        ((2, 0), (30.0, 3.0)),
        ([0, 1], (3.0, 27.0)),
        (["z"], (30.0,)),
        (("y", -1, 0), (27.0, 30.0, 3.0)),
        ((0, 0), (3.0, 3.0)),
        ([2, "z", -1], (30.0, 30.0, 30.0)),
    ],
    ids=str,
)
def test_argnums(argnums, expected):
    result = grad(three, argnums)(2.0, 3.0, 5.0)
    assert type(result) is type(expected)
    assert result == expected
    value, again = value_and_grad(three, argnums)(2.0, 3.0, 5.0)
    assert value == 81.0
    assert again == expected and type(again) is type(expected)


@pytest.mark.parametrize("argnums", [3, -4, "w", (0, 7), ("x", "w")], ids=str)
def test_argnums_that_do_not_exist(argnums):
    with pytest.raises(TypeError, match=r"argnums|parameter"):
        grad(three, argnums)(2.0, 3.0, 5.0)


# --- seeds -----------------------------------------------------------------------------------------------------------

RESULTS = {
    "scalar": (lambda x: x[0] * x[1] * x[1], 2.0),
    "array": (lambda x: x * x, np.array([1.0, -2.0, 0.5])),
    "matrix": (lambda x: np.outer(x, x), np.arange(9.0).reshape(3, 3)),
    "tuple": (lambda x: (x[0] * x[1], x * 3.0), (2.0, np.array([1.0, 0.0, -1.0]))),
    "list": (lambda x: [x[0] ** 2, x[1] ** 3], [0.5, 3.0]),
    "dict": (lambda x: {"a": x[0] * x[2], "b": x * x}, {"a": 3.0, "b": np.array([1.0, 2.0, 3.0])}),
    "nested": (
        lambda x: {"a": (x[0] * x[1], [x * x, x[2]]), "b": np.sin(x)},
        {"a": (1.5, [np.array([1.0, 2.0, 3.0]), -1.0]), "b": np.array([0.5, 0.0, 2.0])},
    ),
}
POINT = np.array([0.7, -1.2, 2.1])


@pytest.mark.parametrize("kind", RESULTS)
def test_seeds_of_ones_sum_all_leaves(kind):
    f, _ = RESULTS[kind]
    (expected,) = central_difference(f, (POINT,), 0)
    gradient = grad(f)(POINT.copy())
    assert type(gradient) is np.ndarray and gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)


def dotted(value, seed):
    """The inner product of a result with a seed."""
    return sum(np.sum(np.multiply(a, b)) for a, b in zip(leaves(value), leaves(seed), strict=True))


@pytest.mark.parametrize("kind", RESULTS)
def test_seed_at_the_call_and_output_gradients(kind):
    f, seed = RESULTS[kind]
    (expected,) = central_difference(lambda x: dotted(f(x), seed), (POINT,), 0)
    np.testing.assert_allclose(grad(f)(POINT.copy(), seed=seed), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(grad(f, output_gradients=seed)(POINT.copy()), expected, rtol=1e-7, atol=1e-8)
    value, gradient = value_and_grad(f, output_gradients=seed)(POINT.copy())
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
    assert type(value) is type(f(POINT))


def test_the_seed_of_a_call_replaces_output_gradients():
    df = grad(product, output_gradients=10.0)
    assert df(2.0, 3.0) == 30.0
    assert df(2.0, 3.0, seed=2.0) == 6.0
    assert df(2.0, 3.0) == 30.0
    assert grad(product)(2.0, 3.0, seed=0.0) == 0.0


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("scalar", np.ones(3)),
        ("scalar", np.ones((1, 1))),
        ("scalar", (1.0,)),
        ("array", 1.0),
        ("array", np.ones(4)),
        ("array", np.ones((3, 1))),
        ("array", (1.0, 1.0, 1.0, 1.0)),
        ("tuple", (1.0,)),
        ("tuple", (1.0, 1.0)),
        ("tuple", (1.0, np.ones(3), 1.0)),
        ("tuple", 1.0),
        ("tuple", {"a": 1.0, "b": np.ones(3)}),
        ("list", [1.0]),
        ("list", 2.0),
        ("dict", {"a": 1.0}),
        ("dict", {"a": 1.0, "c": np.ones(3)}),
        ("dict", {"a": 1.0, "b": np.ones(2)}),
        ("dict", (1.0, np.ones(3))),
        ("nested", {"a": (1.5, [np.ones(3)]), "b": np.ones(3)}),
        ("nested", {"a": (1.5, [np.ones(3), np.ones(3)]), "b": np.ones(3)}),
    ],
    ids=str,
)
def test_a_seed_of_the_wrong_structure_or_shape(kind, wrong):
    f, _ = RESULTS[kind]
    with pytest.raises(ValueError, match="seed"):
        grad(f)(POINT.copy(), seed=wrong)
    with pytest.raises(ValueError, match="seed"):
        grad(f, output_gradients=wrong)(POINT.copy())


def test_a_seed_of_the_wrong_shape_for_a_number():
    with pytest.raises(ValueError, match="seed"):
        grad(product)(2.0, 3.0, seed=np.ones(2))
    with pytest.raises(ValueError, match="seed"):
        grad(product)(2.0, 3.0, seed=[1.0])


# --- arguments -------------------------------------------------------------------------------------------------------


def with_defaults(x, y=2.0, *rest, k=3.0, n=1):
    total = x * y * k**n
    for r in rest:
        total = total + r * x
    return total


def test_defaults_and_keywords():
    df = grad(with_defaults)
    assert df(1.0) == 6.0
    assert df(1.0, 5.0) == 15.0
    assert df(1.0, y=5.0) == 15.0
    assert df(x=1.0) == 6.0
    assert df(1.0, k=1.0) == 2.0
    assert df(1.0, n=2, k=2.0) == 8.0
    assert df(y=1.0, x=2.0, k=4.0) == 4.0


def test_gradients_in_defaults_and_keyword_only_parameters():
    assert grad(with_defaults, "y")(1.5) == 4.5
    assert grad(with_defaults, "k")(1.5) == 3.0
    assert grad(with_defaults, "k")(1.5, k=9.0) == 3.0
    assert grad(with_defaults, ("k", "x"))(1.5, n=2, k=2.0) == (12.0, 8.0)


def test_star_parameters():
    assert grad(with_defaults)(1.0, 2.0, 10.0, 20.0) == 36.0
    assert grad(with_defaults, 2)(1.5, 2.0, 10.0, 20.0) == 1.5
    assert grad(with_defaults, 3)(1.5, 2.0, 10.0, 20.0) == 1.5
    assert grad(with_defaults, (0, 3))(1.5, 2.0, 10.0, 20.0) == (36.0, 1.5)

    def total(*xs):
        result = 1.0
        for x in xs:
            result = result * x
        return result

    assert grad(total, (0, 1, 2))(2.0, 3.0, 5.0) == (15.0, 10.0, 6.0)
    assert grad(total)(7.0) == 1.0


def test_a_star_argument_that_is_not_there():
    df = grad(with_defaults, (0, 5))
    for _ in range(2):
        with pytest.raises(TypeError, match=r"`rest\[3\]`.*`\*rest` has 1 argument"):
            df(1.5, 2.0, 10.0)
    assert df(1.5, 2.0, 1.0, 1.0, 1.0, 10.0) == (19.0, 1.5)
    with pytest.raises(TypeError, match=r"`rest\[3\]`"):
        df(1.5, 2.0, 10.0)
    with pytest.raises(TypeError, match=r"`rest\[0\]`.*float"):
        grad(with_defaults, 2)(1.5, 2.0, 10, 3.0)


def test_positional_only_parameters():
    def f(x, /, y):
        return x * y

    assert grad(f)(2.0, 3.0) == 3.0
    assert grad(f, "x")(2.0, y=3.0) == 3.0


@pytest.mark.parametrize(
    ("args", "keywords"), [((), {}), ((1.0,) * 4, {}), ((1.0,), {"q": 1.0}), ((1.0, 2.0), {"x": 1.0})], ids=str
)
def test_calls_that_do_not_fit_the_signature(args, keywords):
    with pytest.raises(TypeError):
        grad(three)(*args, **keywords)


def test_a_default_that_is_an_array_is_not_written():
    def f(x, w=np.array([1.0, 2.0])):  # noqa: B008
        return np.sum(x * w * w)

    (default,) = f.__defaults__
    np.testing.assert_array_equal(grad(f)(np.ones(2)), [1.0, 4.0])
    np.testing.assert_array_equal(grad(f, "w")(np.ones(2)), [2.0, 4.0])
    np.testing.assert_array_equal(default, [1.0, 2.0])


# --- methods ---------------------------------------------------------------------------------------------------------


class Spring:
    stiffness = 2.0

    def __init__(self, length):
        self.length = length

    def energy(self, x, y=1.0):
        return 0.5 * (x - self.length) ** 2 * y

    @grad
    def force(self, x, y=1.0):
        return 0.5 * (x - self.length) ** 2 * y

    @grad(argnums=1)
    def other_force(self, x, y=1.0):
        return 0.5 * (x - self.length) ** 2 * y

    @staticmethod
    @grad
    def inner_static(x, k):
        return k * x * x

    @grad
    @staticmethod
    def outer_static(x, k):
        return k * x * x

    @classmethod
    @grad
    def inner_class(cls, x):
        return cls.stiffness * x * x

    @grad
    @classmethod
    def outer_class(cls, x):
        return cls.stiffness * x * x

    @grad(argnums=(1, "x"))
    @classmethod
    def outer_class_in_two(cls, x, y):
        return cls.stiffness * x * y * y

    @grad
    @staticmethod
    def outer_static_of_one_called_self(self, x):
        return self * self * x

    @grad
    @classmethod
    def outer_class_of_another_name(kind, x):
        return kind.stiffness * x * x

    @grad
    @grad
    def curvature(self, x):
        return x**3 * self.length

    @grad
    def named_otherwise(this, x):
        return x * x * this.length

    def __call__(self, x):
        return x * x * self.length


class StiffSpring(Spring):
    stiffness = 20.0


def test_grad_of_a_bound_method():
    spring = Spring(1.5)
    assert grad(spring.energy)(3.5) == 2.0
    assert grad(spring.energy, 1)(3.5, 4.0) == 2.0
    assert grad(spring.energy, "y")(3.5, 4.0) == 2.0
    assert grad(Spring(0.5).energy)(3.5) == 3.0


def test_grad_of_an_unbound_method_counts_self():
    assert grad(Spring.energy)(Spring(1.5), 3.5) == {"length": -2.0}
    assert grad(Spring.energy, 1)(Spring(1.5), 3.5) == 2.0
    assert grad(Spring.energy, "x")(Spring(1.5), 3.5) == 2.0


def test_decorated_methods():
    spring, other = Spring(1.5), Spring(2.5)
    assert spring.force(3.5) == 2.0
    assert other.force(3.5) == 1.0
    assert spring.force(3.5, 2.0) == 4.0
    assert spring.other_force(3.5) == 2.0
    assert Spring.force(spring, 3.5) == {"length": -2.0}


def test_static_methods_in_both_orders():
    spring = Spring(1.0)
    assert Spring.inner_static(3.0, 2.0) == 12.0
    assert spring.inner_static(3.0, 2.0) == 12.0
    assert Spring.outer_static(3.0, 2.0) == 12.0
    assert spring.outer_static(3.0, 2.0) == 12.0


def test_class_methods_in_both_orders():
    assert Spring.inner_class(3.0) == 12.0
    assert Spring(1.0).inner_class(3.0) == 12.0
    assert StiffSpring.inner_class(3.0) == 120.0
    assert Spring.outer_class(3.0) == 12.0
    assert Spring(1.0).outer_class(3.0) == 12.0
    assert StiffSpring(1.0).outer_class(3.0) == 120.0


def test_static_and_class_methods_count_their_own_arguments():
    assert Spring.outer_class_in_two(3.0, 2.0) == (24.0, 8.0)
    assert StiffSpring(1.0).outer_class_in_two(3.0, 2.0) == (240.0, 80.0)
    assert Spring.outer_static_of_one_called_self(3.0, 2.0) == 12.0
    assert Spring(1.0).outer_static_of_one_called_self(3.0, 2.0) == 12.0
    assert StiffSpring.outer_class_of_another_name(3.0) == 120.0
    assert Spring(1.5).named_otherwise(3.0) == 9.0


def test_a_gradient_of_a_gradient_as_a_method():
    assert Spring(1.5).curvature(2.0) == 18.0
    assert Spring(2.5).curvature(2.0) == 30.0
    np.testing.assert_allclose(grad(Spring(1.5).force)(7.0), 1.0)


def test_a_bound_gradient_as_an_attribute_of_a_class():
    class Other:
        pull = grad(Spring(1.5).energy)
        wave = grad(np.sin)

    assert Other().pull(3.5) == Other.pull(3.5) == 2.0
    assert Other().wave(0.0) == 1.0


def test_methods_compile_once_for_all_instances(compilations):
    class Fresh:
        def __init__(self, k):
            self.k = k

        @grad
        def slope(self, x):
            return self.k * x * x

    assert [Fresh(k).slope(3.0) for k in (1.0, 2.0, 3.0)] == [6.0, 12.0, 18.0]
    assert compilations == ["slope"]


def test_callable_objects_and_their_changes():
    spring = Spring(1.5)
    df = grad(spring)
    assert df(2.0) == 6.0
    spring.length = 2.5
    assert df(2.0) == 10.0


# --- kinds of arguments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong", [3, True, np.int64(3), np.bool_(True), np.arange(3), np.array([True, False]), "text", None], ids=repr
)
def test_an_argument_without_floats_is_refused_by_name(wrong):
    with pytest.raises(TypeError, match=r"`width`.*float"):
        grad(lambda height, width: height * width, 1)(2.0, wrong)
    with pytest.raises(TypeError, match=r"`width`.*float"):
        grad(lambda height, width: height * width, ("height", "width"))(2.0, wrong)


class Plain:
    pass


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([1.0, 2.0], object), np.array(["a"]), np.array(["2020-01-01"], "M8[D]"), np.datetime64("2020-01-01"),
        np.timedelta64(3, "D"), b"bytes", Plain(), Plain, print, {1.0, 2.0}, (1, "a"), [], {"a": None}, {1.5: 2}, range(3),
        np.array([(1.0, 2)], "f8,i4"), decimal.Decimal("1.5"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_other_arguments_without_floats_are_refused_by_name(wrong):
    for df in (grad(lambda height, width: height * width, 1), grad(lambda height, *width: height * width[0], 1)):
        for _ in range(2):
            with pytest.raises(TypeError, match=r"`width.*pass (a float, or an array of floats|an array for each)"):
                df(2.0, wrong)


class Tagged(np.ndarray):
    """An array that computes like any other."""


class Saturating(float):
    def __add__(self, other):
        return min(float(self) + other, 1.0)


@pytest.mark.parametrize("value", [np.ma.array([1.0, 2.0], mask=[0, 1]), np.ones(2).view(np.matrix), Saturating(2.0)])
def test_arguments_with_operators_of_their_own_are_refused(value):
    with pytest.raises(TypeError, match=r"operators of a .* mean something else than .*: pass "):
        grad(lambda x: np.sum(x * x))(value)


def test_a_default_that_changes_is_noticed():
    def scaled(x, k=2.0, *, shift=1.0):
        return x * k * shift

    def outer(x):
        return scaled(x) * x

    inner_gradient, gradient = grad(scaled), grad(outer)
    assert (inner_gradient(1.0), gradient(1.0)) == (2.0, 4.0)
    scaled.__defaults__ = (3.0,)
    assert (inner_gradient(1.0), gradient(1.0)) == (3.0, 6.0)
    scaled.__kwdefaults__["shift"] = 2.0
    assert (inner_gradient(1.0), gradient(1.0)) == (6.0, 12.0)


def test_an_argument_is_looked_at_in_every_call():
    df = grad(lambda x: x * 2.0)
    np.testing.assert_array_equal(df(np.ones(2).view(Tagged)), [2.0, 2.0])
    with pytest.raises(TypeError, match=r"`x`.*array of object"):
        df(np.array([1.0, 2.0], object))
    np.testing.assert_array_equal(df(np.ones(2)), [2.0, 2.0])
    with pytest.raises(TypeError, match=r"`x`.*array of int64"):
        df(np.ones(2, np.int64))
    with pytest.raises(TypeError, match=r"`x`.*None"):
        df(None)


def test_the_byte_order_does_not_matter():
    df = grad(weighted)
    for _ in range(2):
        np.testing.assert_array_equal(df(np.arange(3.0).astype(">f8"), 2.0), [0.0, 4.0, 8.0])
        np.testing.assert_array_equal(df(np.arange(3.0), 2.0), [0.0, 4.0, 8.0])


@pytest.mark.parametrize("value", [1j, np.complex64(1j), np.ones(2) * 1j], ids=str)
def test_complex_arguments(value):
    np.testing.assert_array_equal(grad(lambda x: np.sum(abs(x)))(value), -value)


def test_an_integer_beside_a_float_is_a_constant():
    assert grad(product)(2.0, 3) == 3.0
    np.testing.assert_array_equal(grad(product)(np.ones(3), np.arange(3)), [0.0, 1.0, 2.0])


def test_an_argument_that_does_not_reach_the_result():
    def f(x, y):
        return x * 2.0

    assert grad(f, 1)(1.0, 5.0) == 0.0
    assert isinstance(grad(f, 1)(1.0, 5.0), float)
    assert grad(f, 1, unconnected_gradients="none")(1.0, 5.0) is None
    assert grad(f, (0, 1), unconnected_gradients="none")(1.0, 5.0) == (2.0, None)
    zeros = grad(f, 1)(1.0, np.ones((2, 3), np.float32))
    assert zeros.shape == (2, 3) and zeros.dtype == np.float32 and not zeros.any()
    assert grad(f, 1, unconnected_gradients="none")(1.0, np.ones(3)) is None
    assert value_and_grad(f, 1, unconnected_gradients="none")(1.0, 5.0) == (2.0, None)


def test_a_flat_function_does_not_connect():
    def f(x, y):
        return x * np.floor(y) + (1.0 if y > 0 else 2.0)

    assert grad(f, 1)(1.0, 5.5) == 0.0
    assert grad(f, 1, unconnected_gradients="none")(1.0, 5.5) is None


def test_a_constant_result():
    assert grad(lambda x: 3.0)(2.0) == 0.0
    np.testing.assert_array_equal(grad(lambda x: 3.0)(np.ones(2)), np.zeros(2))
    assert grad(lambda x: 3.0, unconnected_gradients="none")(2.0) is None


def test_unconnected_gradients_takes_two_words():
    with pytest.raises(ValueError, match="unconnected_gradients"):
        grad(product, unconnected_gradients="zeros")


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_the_dtype_of_the_argument_is_kept(dtype):
    x, w = np.array([1.0, 2.0, 3.0], dtype), np.array([0.5, 0.25, 2.0])
    gradient = grad(weighted)(x, w)
    assert gradient.dtype == dtype and gradient.shape == (3,)
    np.testing.assert_allclose(gradient, 2.0 * w * [1.0, 2.0, 3.0], rtol=1e-3 if dtype == np.float16 else 1e-6)
    both = grad(weighted, (0, 1))(x, w)
    assert [part.dtype for part in both] == [np.dtype(dtype), np.dtype(np.float64)]
    scalar = grad(product)(dtype(2.0), 3.0)
    assert type(scalar) is dtype or (dtype is np.float64 and isinstance(scalar, float))
    assert scalar == 3.0


def test_a_python_float_gives_a_float():
    for f in (product, lambda x, y: np.sin(x) * y, lambda x, y: np.sum(x * np.ones(3)) * y):
        assert isinstance(grad(f)(2.0, 3.0), float)


def test_numpy_scalars_and_arrays_of_no_axes():
    assert grad(product)(np.float64(2.0), np.float64(3.0)) == 3.0
    gradient = grad(product)(np.array(2.0), 3.0)
    assert np.shape(gradient) == () and gradient == 3.0
    gradient = grad(product)(np.array(2.0), np.array([1.0, 2.0]))
    assert np.shape(gradient) == () and gradient == 3.0


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)], ids=str)
def test_arrays_without_elements(shape):
    gradient = grad(weighted)(np.zeros(shape), 2.0)
    assert gradient.shape == shape
    assert grad(weighted, 1)(np.zeros(shape), 2.0) == 0.0


def test_non_contiguous_inputs():
    whole = np.arange(24.0).reshape(4, 6)
    for x in (whole[::2, ::-1], whole.T, np.asfortranarray(whole), whole[:, 1], np.broadcast_to(np.arange(3.0), (2, 3))):
        np.testing.assert_allclose(grad(weighted)(x, 0.5), x, rtol=1e-15)
        assert grad(weighted)(x, 0.5).flags.writeable


def test_read_only_inputs():
    x, w = np.arange(3.0), np.ones(3)
    x.flags.writeable = w.flags.writeable = False
    np.testing.assert_array_equal(grad(weighted)(x, w), 2.0 * x)
    assert grad(weighted)(x, w).flags.writeable


def test_subclasses_of_float():
    class Meters(float):
        pass

    assert grad(product)(Meters(2.0), 3.0) == 3.0


def test_containers_as_arguments():
    def f(params, x):
        w, b = params
        return np.sum(w * x) + b * b

    gradient = grad(f)((np.ones(2), 3.0), np.array([5.0, 7.0]))
    assert type(gradient) is tuple
    np.testing.assert_array_equal(gradient[0], [5.0, 7.0])
    assert gradient[1] == 6.0
    gradient = grad(f)([np.ones(2), 3.0], np.array([5.0, 7.0]))
    assert type(gradient) is list and gradient[1] == 6.0

    def g(params, x):
        return np.sum(params["w"] * x) + params["b"] ** 2

    gradient = grad(g)({"w": np.ones(2), "b": 3.0}, np.array([5.0, 7.0]))
    assert list(gradient) == ["w", "b"] and gradient["b"] == 6.0
    np.testing.assert_array_equal(gradient["w"], [5.0, 7.0])


def test_namedtuples_as_arguments():
    Params = namedtuple("Params", "w b")

    def f(params):
        return params[0] * params[1] * params[1]

    gradient = grad(f)(Params(2.0, 3.0))
    assert gradient == Params(9.0, 12.0) and type(gradient) is Params


# --- memory ----------------------------------------------------------------------------------------------------------

ALIASING = {
    "identity": lambda x, y: x,
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "twice": lambda x, y: (x, x),
    "both": lambda x, y: (x, y),
    "product": lambda x, y: x * y,
    "reshaped": lambda x, y: x.reshape(3, 1) + y.reshape(3, 1),
    "transposed": lambda x, y: (x.T, y.T),
    "sliced": lambda x, y: (x[:], y[::-1]),
    "reduced": lambda x, y: np.sum(x) + np.sum(y),
    "dotted": lambda x, y: x @ y,
    "joined": lambda x, y: np.concatenate([x, y]),
    "stacked": lambda x, y: np.stack([x, y]),
    "branch": lambda x, y: x if np.sum(x) > -100 else y,
}


@pytest.mark.parametrize("name", ALIASING)
def test_gradients_alias_nothing_and_nothing_is_written(name):
    f = ALIASING[name]
    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    value = f(x, y)
    seed = (
        np.ones_like(value)
        if isinstance(value, np.ndarray)
        else tuple(map(np.ones_like, value))
        if isinstance(value, tuple)
        else 1.0
    )
    before = [leaf.copy() for leaf in (x, y, *leaves(seed)) if isinstance(leaf, np.ndarray)]
    for keywords in ({}, {"seed": seed}):
        given = [leaf for leaf in (x, y, *leaves(seed)) if isinstance(leaf, np.ndarray)]
        gradients = grad(f, (0, 1))(x, y, **keywords)
        for number, gradient in enumerate(gradients):
            assert gradient.flags.writeable
            assert not any(np.shares_memory(gradient, other) for other in (*given, *gradients[:number]))
        for gradient in gradients:
            gradient[...] = 99.0
        for now, then in zip(given, before, strict=True):
            np.testing.assert_array_equal(now, then)
        again = grad(f, (0, 1))(x, y, **keywords)
        assert not any((part == 99.0).any() for part in again)


def test_an_argument_asked_for_twice_gives_two_arrays():
    for x in (np.ones(2), np.ones(2, np.float32), [np.ones(2)]):
        for f in (lambda x: np.sum(x[0] * x[0]), lambda x: np.sum(x[0] + x[0]), lambda x: 3.0):
            parts = grad(f, ("x", 0, -1))(x)
            for left, right in itertools.combinations(map(np.asarray, parts), 2):
                np.testing.assert_array_equal(left, right)
                assert not np.shares_memory(left, right)


def test_one_array_as_two_arguments():
    x = np.array([1.0, 2.0])
    left, right = grad(lambda a, b: np.sum(a * b * b), (0, 1))(x, x)
    np.testing.assert_array_equal(left, x * x)
    np.testing.assert_array_equal(right, 2.0 * x * x)
    assert not np.shares_memory(left, right) and not np.shares_memory(left, x)


# --- value_and_grad --------------------------------------------------------------------------------------------------


def test_value_and_grad_of_an_array_result():
    x = np.array([1.0, 2.0])
    value, gradient = value_and_grad(lambda x: x * x)(x)
    np.testing.assert_array_equal(value, [1.0, 4.0])
    np.testing.assert_array_equal(gradient, [2.0, 4.0])


def test_value_and_grad_returns_containers_as_they_were():
    value, gradient = value_and_grad(lambda x: {"a": (x, [x * x])})(3.0)
    assert value == {"a": (3.0, [9.0])}
    assert gradient == 7.0


def test_the_primal_runs_once(module):
    made = module("""
        count = []

        def f(x):
            print("once")
            return x * x
    """)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert value_and_grad(made.f)(3.0) == (9.0, 6.0)
    assert out.getvalue() == "once\n"


# --- looking ---------------------------------------------------------------------------------------------------------


def looked_at(x, y):
    """What it says."""
    z = np.sin(x) * y
    return z * z


def test_source_before_and_after_a_call():
    df = grad(looked_at)
    before = df.source
    assert "for arguments of any kind" in before
    df(0.5, 2.0)
    after = df.source
    assert "x: float" in after and "y: float" in after and after != before
    df(np.ones(3), 2.0)
    assert "float64" in df.source
    df(0.5, 2.0)
    assert df.source == after


def test_source_for_compiles_without_calling():
    ran = []

    def f(x):
        ran.append(x) if ran is None else None
        return x * x

    df = grad(looked_at)
    generic = df.source
    text = df.source_for(0.5, 2.0)
    assert "x: float" in text
    assert df.source == generic
    assert text == df.source_for(1.5, y=-2.0)
    assert text != df.source_for(np.ones(2), 2.0)
    assert not ran


def test_source_is_python_that_gives_the_gradient():
    df = grad(looked_at)
    text = df.source_for(0.5, 2.0)
    space = {"np": np}
    exec(text, space)
    assert space["looked_at_grad"](0.5, 2.0) == df(0.5, 2.0)
    assert "def looked_at_grad(x, y, *, seed=1.0):" in text
    assert "# z = np.sin(x) * y" in text
    assert all(len(line) <= 125 for line in text.splitlines())


def pasted(df, space):
    """The function that `.source` defines beside the user's functions."""
    space = dict(space)
    exec(df.source, space)
    return space[re.findall(r"^def (\w+)", df.source, re.MULTILINE)[-1]]


def whole_of_rules():
    """Functions whose text takes helpers from several rooms."""
    z = np.array([0.3, -1.2, 2.5, 0.7])
    m = np.array([[2.0, 0.5], [0.25, 1.5]])
    return {
        "tie_weights": (lambda z: np.max(z) * np.sum(z), z),
        "split_like": (lambda z: np.sum(np.concatenate([z, 2.0 * z]) ** 2), z),
        "scan": (lambda z: np.sum(np.cumprod(z) * np.cumsum(z)), z),
        "linalg": (lambda z: np.linalg.det(z) + np.linalg.norm(z) + np.sum(np.linalg.inv(z)), m),
        "cholesky": (lambda z: np.sum(np.linalg.cholesky(z @ z.T)), m),
        "einsum": (lambda z: np.sum(np.einsum("ij,jk->ik", z, z) ** 2), m),
        "median": (lambda z: np.median(z) * np.std(z) * np.prod(z), z),
        "selection": (lambda z: np.sum(np.take(z, [0, 0, 2]) * np.pad(z, 1)[:3] * np.tile(z, 2)[1:4]), z),
        "sort": (lambda z: np.sum(np.sort(z) * np.append(np.diff(z), 1.0)), z),
        "container": (lambda z: sum([z[0] * z[1], z[2]]) + max(z[0], z[3]), z),
    }


@pytest.mark.parametrize("name", whole_of_rules())
def test_pasted_text_brings_its_imports(name):
    f, z = whole_of_rules()[name]
    df = grad(f)
    expected = df(z)
    for text_of_kind in ("this kind", "any kind"):
        if text_of_kind == "any kind":
            df = grad(f)
        made = pasted(df, {"np": np})
        np.testing.assert_allclose(made(z), expected, rtol=1e-12)
        lines = df.source.split("\n")
        top = list(itertools.takewhile(lambda line: not line.startswith(("def", "#")), lines))
        imports = [line for line in top if line.startswith(("import", "from"))]
        assert sorted(imports, key=lambda line: (line.startswith("from"), line)) == imports
        assert not top or top[0]
        for number, line in enumerate(lines):
            if number and line.startswith(("def", "#")) and not lines[number - 1].startswith("#"):
                assert lines[number - 3 : number][1:] == ["", ""] and lines[number - 3]
        assert "\n\n\n\n" not in df.source
    assert grad(f).source == grad(f).source


def test_every_helper_of_every_rule_can_be_imported():
    pytest.importorskip("scipy.special")
    from s2sgrad.rules.scipy import sparse, waves  # rules that are entered where a function of SciPy is met

    assert sparse and waves
    for rule in set(table.rules().values()):
        for pullback in (rule.pullback, *(refined for _, refined in rule.refinements)):
            needed = [pullback.__globals__.get(name) for name in pullback.__code__.co_names]
            needed = [v for v in needed if v is not None and not isinstance(v, (type(np), table.Rule))]
            for value in (pullback, *needed):
                module, attribute, path = whereabouts(value)
                space = {}
                line = f"from {module} import {attribute} as it" if attribute else f"import {module}\nit = {module}.{path}"
                exec(line, space)
                assert space["it"] is value


def test_inspect_getsource():
    df = grad(looked_at)
    df(0.5, 2.0)
    assert inspect.getsource(df).startswith("def looked_at_grad(x, y, *, seed=1.0):\n")
    assert df.source.endswith(inspect.getsource(df))
    assert inspect.getsource(df) == inspect.getsource(df.__wrapped__)
    assert df.primal is looked_at
    assert inspect.unwrap(df) is not looked_at


def test_signature():
    assert str(inspect.signature(grad(looked_at))) == "(x, y, *, seed=None)"
    df = grad(with_defaults)
    assert list(inspect.signature(df).parameters) == ["x", "y", "rest", "k", "n", "seed"]
    assert inspect.signature(df).parameters["k"].default == 3.0
    assert inspect.signature(df).parameters["seed"].kind is inspect.Parameter.KEYWORD_ONLY
    spring = Spring(1.0)
    for bound in (spring.force, grad(spring.energy), grad(grad(spring.energy)), grad(spring.force)):
        assert list(inspect.signature(bound).parameters) == ["x", "y", "seed"]
        bound(2.0)
        assert list(inspect.signature(bound).parameters) == ["x", "y", "seed"]
    assert list(inspect.signature(Spring.force).parameters) == ["self", "x", "y", "seed"]
    assert list(inspect.signature(Spring.outer_class).parameters) == ["x", "seed"]
    assert list(inspect.signature(Spring.outer_static).parameters) == ["x", "k", "seed"]
    assert str(inspect.signature(grad(lambda x, *, k, **rest: x))) == "(x, *, k, seed_=None, **rest)"
    assert str(inspect.signature(grad(lambda seed, x: x))) == "(seed, x, *, seed_=None)"
    assert list(inspect.signature(s2sgrad.api.Gradient).parameters)[:2] == ["function", "argnums"]


def test_what_cannot_be_compiled_can_be_looked_at():
    hopeless = grad(lambda x: np.sort_complex(x))
    assert str(inspect.signature(hopeless)) == "(x, *, seed=None)"
    assert not hasattr(hopeless, "__wrapped__")
    with pytest.raises(S2SGradError):
        _ = hopeless.source


def test_help():
    df = grad(looked_at)
    df(0.5, 2.0)
    shown = pydoc.plain(pydoc.render_doc(df))
    assert "looked_at_grad(x, y, *, seed" in shown
    assert "Gradient of `looked_at`" in shown
    for bound, signature in ((Spring(1.0).force, "(x, y=1.0, *, seed=None)"), (Spring.outer_class, "(x, *, seed=None)")):
        shown = pydoc.plain(pydoc.render_doc(bound))
        assert signature in shown and "Gradient of `" in shown
    assert "Nothing is read or compiled" in pydoc.plain(pydoc.render_doc(s2sgrad.api.Gradient))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        help(df)
    assert "looked_at_grad" in out.getvalue()


def test_repr():
    assert repr(grad(looked_at, ("x", 1))) == "<gradient of looked_at in ('x', 1)>"
    assert "value" in repr(value_and_grad(looked_at)) and "looked_at" in repr(value_and_grad(looked_at))
    assert "Spring.energy" in repr(grad(Spring(1.0).energy))
    assert " at 0x" not in repr(grad(lambda x: x))


def test_names():
    df = grad(looked_at)
    assert (df.__name__, df.__module__) == ("looked_at_grad", __name__)
    assert "Gradient of `looked_at`" in df.__doc__ and df.__doc__.endswith(inspect.getdoc(looked_at) or ".source`.")
    assert value_and_grad(looked_at).__name__ == "looked_at_value_and_grad"
    assert "def lambda__grad(" in grad(lambda x: x * x).source


def test_a_derivative_says_what_its_function_says_and_lists_what_users_call():
    def spring(x):
        """Energy of a spring."""
        return x * x

    derivatives = [grad(spring), grad(grad(spring)), value_and_grad(spring), jvp(spring), s2sgrad.hessian(spring)]
    for derivative in derivatives:
        assert derivative.__doc__.endswith("Energy of a spring.")
        assert not [n for n in dir(derivative) if n.startswith("_") and not n.startswith("__")]
    assert [n for n in dir(grad(spring)) if n[0] != "_"] == [
        "compiled_source", "explain_compile", "prepare", "primal", "save", "show", "source", "source_for",
    ]  # fmt: skip


def test_help_begins_with_what_users_call():
    lines = pydoc.render_doc(grad, renderer=pydoc.plaintext).splitlines()
    rows = len(inspect.signature(grad).parameters) + 1 if sys.version_info >= (3, 13) else 0  # one for each parameter
    assert len(lines) <= 42 + rows and sum(line.strip().startswith(">>> ") for line in lines) >= 3
    first = "\n".join(pydoc.render_doc(s2sgrad, renderer=pydoc.plaintext).splitlines()[:40])
    assert all(name in first for name in ("value_and_grad", "jvp", "hessian", "checkpoint", "explain", "Unsupported"))


def test_tracebacks_show_the_lines_of_the_user():
    def f(x, y):
        z = x * 2.0
        return z[y] * z[y]

    with pytest.raises(IndexError) as caught:
        grad(f)(np.ones(3), 7)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.line) == (__file__, "return z[y] * z[y]")
    assert last.name == "gradient of f"


def test_exceptions_of_the_user_are_raised_by_the_gradient():
    def f(x):
        if x < 0:
            raise ArithmeticError("negative")
        assert x < 10.0, "large"
        return x * x

    df = grad(f)
    assert df(3.0) == 6.0
    with pytest.raises(ArithmeticError, match="negative"):
        df(-1.0)
    with pytest.raises(AssertionError, match="large"):
        df(11.0)


# --- determinism -----------------------------------------------------------------------------------------------------

DETERMINED = """
import numpy as np
from s2sgrad import grad, value_and_grad

def helper(a, b):
    c = np.sin(a) * b
    d = np.exp(c) + a
    return {"c": c, "d": d}

def f(alpha, beta, gamma, n):
    total, other, third = alpha, beta, gamma
    for i in range(n):
        if total > 1.0:
            total, other = other * gamma, total * alpha
        else:
            third = third * other + np.cos(total)
            if third > 50.0:
                break
        parts = helper(total, third)
        total = total + parts["c"] * parts["d"]
    return total * other + third

if __name__ == "__main__":
    df = value_and_grad(f, ("alpha", "gamma", "beta"))
    print(df.source)
    print(df.source_for(1.0, 2.0, 0.5, 3))
    print(df.source_for(np.ones(3), np.ones((2, 3)), 0.5, 3))
    print(df(1.0, 2.0, 0.5, 3))
"""


def run_python(args, directory, **environment):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        [sys.executable, *args], cwd=directory, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_text_is_the_same_on_every_run_and_holds_no_path(tmp_path):
    texts = []
    for name, seed in (("one", "1"), ("a different place", "4242")):
        directory = tmp_path / name
        directory.mkdir()
        (directory / "determined.py").write_text(DETERMINED)
        done = run_python(["-W", "error", "-X", "dev", "determined.py"], directory, PYTHONHASHSEED=seed)
        assert (done.returncode, done.stderr) == (0, "")
        texts.append(done.stdout)
        assert str(tmp_path) not in done.stdout and str(ROOT) not in done.stdout and ".py" not in done.stdout
    assert texts[0] == texts[1]
    assert texts[0].count("def f_value_and_grad(") == 3


def test_the_text_does_not_depend_on_what_was_compiled_before():
    first = grad(looked_at).source_for(0.5, 2.0)
    grad(three, (0, 1, 2))(1.0, 2.0, 3.0)
    assert grad(looked_at).source_for(0.5, 2.0) == first


# --- caching ---------------------------------------------------------------------------------------------------------


def test_the_same_shapes_compile_once(compilations):
    df = grad(weighted)
    for k in range(5):
        df(np.full(3, float(k)), 2.0)
    assert compilations == ["weighted"]
    df(np.ones((2, 2)), 2.0)
    assert len(compilations) == 2
    df(np.ones(3), w=2.0)
    df(np.ones(3), 2.0, seed=3.0)
    assert len(compilations) == 2


def test_other_sizes_of_one_pattern_compile_once(compilations):
    df = grad(weighted)
    for n in range(2, 30):
        np.testing.assert_array_equal(df(np.ones(n), 2.0), np.full(n, 4.0))
    assert len(compilations) <= 2


def test_axes_of_one_are_another_pattern():
    def f(x, y):
        return np.sum(x * y)

    df = grad(f, (0, 1))
    for shape in ((3, 4), (3, 1), (1, 4), (1, 1), (4,), (1,)):
        x, y = np.full((3, 4), 2.0), np.full(shape, 5.0)
        left, right = df(x, y)
        np.testing.assert_array_equal(left, np.full((3, 4), 5.0))
        assert right.shape == shape and np.sum(right) == 24.0


def test_a_gradient_is_right_for_every_kind_in_turn():
    df = grad(product, (0, 1))
    for _ in range(2):
        assert df(2.0, 3.0) == (3.0, 2.0)
        left, right = df(np.array([1.0, 2.0]), 3.0)
        np.testing.assert_array_equal(left, [3.0, 3.0])
        assert right == 3.0
        left, right = df(np.array([1.0, 2.0], np.float32), np.ones((2, 1)))
        assert left.dtype == np.float32 and right.shape == (2, 1)


def test_a_rebound_global_number_is_seen(module):
    made = module("""
        k = 2.0

        def f(x):
            return k * x * x
    """)
    df = grad(made.f)
    assert df(3.0) == 12.0
    made.k = 5.0
    assert df(3.0) == 30.0
    made.k = np.array([1.0, 2.0])
    assert df(3.0) == 18.0
    made.k = 7
    assert df(3.0) == 42.0


def test_a_rebound_helper_is_seen(module):
    made = module("""
        import numpy as np

        def helper(x):
            return x * x

        def middle(x):
            return helper(x) * 2.0

        def f(x):
            return middle(x) + x

        def cube(x):
            return x * x * x
    """)
    df = grad(made.f)
    assert df(3.0) == 13.0
    made.helper = made.cube
    assert df(3.0) == 55.0
    made.middle = made.cube
    assert df(3.0) == 28.0
    made.helper = np.sin
    made.middle = lambda x: made.helper(x) if False else x * 7.0
    assert df(3.0) == 8.0


def test_another_function_in_a_namespace_is_seen(module):
    made = module("""
        import types

        class Net:
            def __init__(self, act):
                self.act = act

        def square(x):
            return x * x

        tools, net = types.SimpleNamespace(act=square), Net(square)

        def f(x):
            return tools.act(x) + net.act(x)
    """)
    df = grad(made.f)
    assert df(3.0) == 12.0
    made.tools.act = lambda x: 7.0 * x
    assert df(3.0) == 13.0
    made.net.act = lambda x: 2.0 * x
    assert df(3.0) == 9.0
    made.tools = made.types.SimpleNamespace(act=made.square)
    made.net = made.Net(made.square)
    assert df(3.0) == 12.0


def test_a_rebound_numpy_function_is_seen(module):
    made = module("""
        from numpy import sin as wave

        def f(x):
            return wave(x)
    """)
    df = grad(made.f)
    np.testing.assert_allclose(df(0.5), np.cos(0.5))
    made.wave = np.cos
    np.testing.assert_allclose(df(0.5), -np.sin(0.5))


def test_a_shadowed_builtin_is_seen(module):
    made = module("""
        def f(x):
            return abs(x) * 2.0
    """)
    df = grad(made.f)
    assert df(-3.0) == -2.0
    made.abs = lambda x: x * x
    assert df(-3.0) == -12.0
    del made.abs
    assert df(-3.0) == -2.0


def test_equal_text_on_equal_lines_of_two_modules(module):
    text = """
        def f(x):
            return k * helper(x)

        def helper(x):
            return x * x + OFFSET * x
    """
    one, two = module(text, "equal_one"), module(text, "equal_two")
    one.k, two.k, one.OFFSET, two.OFFSET = 2.0, 5.0, 0.0, 1.0
    assert one.f.__code__ == two.f.__code__.replace(co_filename=one.f.__code__.co_filename)
    first, second = grad(one.f), grad(two.f)
    assert (first(3.0), second(3.0)) == (12.0, 35.0)
    two.helper = lambda x: x * 4.0
    assert (first(3.0), second(3.0)) == (12.0, 20.0)
    assert (grad(one.f)(3.0), grad(two.f)(3.0)) == (12.0, 20.0)


def test_functions_made_by_one_factory():
    def power(n):
        def f(x):
            return x**n

        return f

    assert [grad(power(n))(2.0) for n in (1, 2, 3)] == [1.0, 4.0, 12.0]


def test_nothing_is_written_into_the_module(module):
    made = module("""
        import numpy as np

        def helper(x, n):
            for i in range(n):
                x = np.sin(x) * x
            return x

        def f(x, y):
            return helper(x, 3) + np.sum(x * y)
    """)
    before = set(vars(made))
    grad(made.f)(0.5, np.ones(3))
    assert set(vars(made)) == before


@pytest.mark.dear
def test_linecache_forgets_texts_whose_functions_are_gone(module):
    def held():
        gc.collect()
        return {name for name in linecache.cache if name.startswith("<s2sgrad f_") and "_grad " in name}

    text = "import numpy as np\ndef helper(x):\n    return np.sin(x) * np.exp(np.sin(x))\n"
    made = module(text + "".join(f"def f_{k}(x):\n    return helper(x) * {k}.5\n" for k in range(40)))
    before = held()
    for k in range(40):
        df = grad(getattr(made, f"f_{k}"))
        df(0.5)
        df(np.ones(2))
        assert k % 8 or grad(df)(0.5) != 0.0
    assert len(held()) == len(before) + 85
    del df, made
    assert held() == before  # with the functions, not with their gradients


def test_linecache_keeps_a_text_while_one_function_needs_it(module):
    f = module("def f(x):\n    return x * x * 1.75\n").f
    first, second = grad(f), grad(f)
    assert first(2.0) == second(2.0) == 7.0
    file = first.__wrapped__.__code__.co_filename
    assert file == second.__wrapped__.__code__.co_filename
    kept = first.__wrapped__
    del first, f
    gc.collect()
    assert inspect.getsource(kept) == inspect.getsource(second)
    del kept
    gc.collect()
    assert inspect.getsource(second).startswith("def f_grad(")
    del second
    gc.collect()
    assert file not in linecache.cache


def test_the_overhead_of_a_call():
    """A call of a compiled gradient checks its guards, in one function, and runs the text; it is counted, not timed."""
    df = grad(product)
    for _ in range(2):
        df(2.0, 3.0)
    called: list[str] = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        df(2.0, 3.0)
    finally:
        sys.setprofile(None)
    assert called == ["__call__", "front", "product_grad"]  # about 0.3e-6 s


# --- recursion and threads -------------------------------------------------------------------------------------------


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def test_recursion():
    df = grad(power)
    np.testing.assert_allclose(df(1.5, 4), 4 * 1.5**3, rtol=1e-14)
    assert df(1.5, 0) == 0.0
    np.testing.assert_allclose(df(1.01, 100), 100 * 1.01**99, rtol=1e-12)
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(df(x, 3), 3 * x * x, rtol=1e-14)


def test_threads_that_call_a_fresh_gradient_at_once():
    for f, args, expected in ((power, (1.5, 4), 13.5), (looked_at, (0.5, 2.0), None)):
        df = grad(f)
        expected = grad(f)(*args) if expected is None else expected
        barrier, results = threading.Barrier(8), []

        def work(df=df, args=args, barrier=barrier, results=results):
            barrier.wait()
            for k in range(20):
                kinds = args if k % 2 else (np.full(2, args[0]), args[1])
                results.append(float(np.mean(df(*kinds))))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(results) == 160
        np.testing.assert_allclose(results, expected, rtol=1e-14)


def test_the_recursion_limit_is_left_as_it_was():
    before = sys.getrecursionlimit()
    grad(power)(1.5, 2)
    with pytest.raises(S2SGradError):
        grad(lambda x: np.sort_complex(x)[0])(np.eye(2))
    assert sys.getrecursionlimit() == before


# --- wrappers --------------------------------------------------------------------------------------------------------


def test_a_wrapped_function_is_never_silently_unwrapped():
    def twice(f):
        @functools.wraps(f)
        def inner(x):
            return 2.0 * f(x)

        return inner

    @twice
    def f(x):
        return x * x

    assert f(3.0) == 18.0
    try:
        gradient = grad(f)(3.0)
    except S2SGradError as error:
        assert "^" in str(error)
    else:
        assert gradient == 12.0


def test_a_partial_is_right_or_refused():
    partial = functools.partial(product, 2.0)
    try:
        gradient = grad(partial)(3.0)
    except S2SGradError:
        return
    assert gradient == 2.0


@pytest.mark.parametrize("enabled", [True, False])
def test_compiling_leaves_the_collector_as_it_was(enabled):
    def fine(x):
        return x * x

    def refused(x):
        yield x

    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert grad(fine)(3.0) == 6.0
        assert gc.isenabled() == enabled
        with pytest.raises(S2SGradError):
            grad(refused)(3.0)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


# --- importing -------------------------------------------------------------------------------------------------------


def test_importing_prints_nothing_makes_no_files_and_does_not_warn(tmp_path):
    done = run_python(["-W", "error", "-c", "import s2sgrad"], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_importing_makes_no_temporary_files_and_leaves_global_state(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    code = """if True:
        import sys, warnings, numpy as np
        before = sys.getrecursionlimit(), list(warnings.filters), np.geterr(), sys.gettrace(), np.random.get_state()[1].sum()
        import s2sgrad
        after = sys.getrecursionlimit(), list(warnings.filters), np.geterr(), sys.gettrace(), np.random.get_state()[1].sum()
        assert before == after
    """
    done = run_python(["-W", "error", "-c", code], tmp_path, TMPDIR=str(temporary), HOME=str(temporary))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(temporary.iterdir()) == []


def test_importing_loads_neither_scipy_nor_test_tools(tmp_path):
    code = "import sys, s2sgrad; print([m for m in ('scipy', 'pytest', 'hypothesis', 'numba') if m in sys.modules])"
    assert run_python(["-c", code], tmp_path).stdout == "[]\n"


@pytest.mark.dear
@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(
    "first", ["tape", "testing", "api.given", "api.matrices", "explanation", "rules", "solvers.roots", "solvers.fits"]
)
def test_any_part_may_be_the_first_that_is_imported_after_scipy(first, tmp_path):
    code = f"import scipy.optimize, scipy.integrate, s2sgrad.{first}; print(s2sgrad.grad(lambda x: x * x)(3.0))"
    assert run_python(["-c", code], tmp_path).stdout == "6.0\n"


PUBLIC = [name for name in dir(s2sgrad) if name[0] != "_" and name not in s2sgrad._ROOMS]


@pytest.mark.parametrize("room", s2sgrad._ROOMS)
def test_a_room_is_imported_where_it_is_named_first(room, tmp_path):
    code = f"import s2sgrad; print(s2sgrad.{room}.__name__)"
    assert run_python(["-c", code], tmp_path).stdout == f"s2sgrad.{room}\n"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f, x: s2sgrad.grad(f, x, x), "the arguments are for the function that it returns, `grad(f)(x, y)`"),
        (lambda f, x: s2sgrad.jacobian(f, x, x), "the arguments are for the function that it returns, `jacobian(f)(x, y)`"),
        (lambda f, x: s2sgrad.grad(f, x), "the arguments are for the function that is returned, `grad(f)(x)`"),
        (lambda f, x: s2sgrad.hvp(f)(x, x, x), "the primals are a tuple, and so are the tangents"),
        (lambda f, x: s2sgrad.jvp(f, x, x, x, x), "the primals are a tuple, and so are the tangents"),
        (lambda f, x: s2sgrad.grad(f)(x, z=x), "product() got an unexpected keyword argument 'z': it has x, y"),
        (lambda f, x: s2sgrad.hessian(f)(x, z=x), "product() got an unexpected keyword argument 'z': it has x, y"),
    ],
)
def test_arguments_in_the_wrong_place_are_told_where_they_belong(call, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        call(product, np.ones(2))


def test_public_names():
    assert {"grad", "value_and_grad", "S2SGradError", "Unsupported", "NoRule", "NoSource"} <= set(dir(s2sgrad))
    assert all(getattr(s2sgrad, name).__name__ == name for name in PUBLIC) and {*s2sgrad.__all__} == {*PUBLIC} - {"compile"}
    space = {}
    exec("from s2sgrad import *", space)
    assert space.keys() - {"__builtins__"} == {*s2sgrad.__all__}
    assert issubclass(s2sgrad.Unsupported, SyntaxError) and issubclass(s2sgrad.NoRule, LookupError)
    assert issubclass(s2sgrad.NoSource, OSError)


def test_help_begins_with_all_that_a_user_calls():
    screen = pydoc.render_doc(s2sgrad, renderer=pydoc.plaintext).splitlines()[:40]
    said = "\n".join(screen)
    assert all(re.search(rf"\b{name}\b", said) for name in PUBLIC)
    assert any(row.strip().startswith("grad, value_and_grad") for row in screen[:15])
    assert "PACKAGE CONTENTS" not in "\n".join(screen[:30])
    assert len(pydoc.render_doc(s2sgrad, renderer=pydoc.plaintext).splitlines()) <= 3 * 55


def test_a_pullback_is_called_again_and_again():
    def grow(x, n):
        for _ in range(n):
            x = x * x
        return x

    value, pullback = s2sgrad.vjp(grow, 1.1, 3)
    first, again = pullback(1.0), pullback(2.0)
    assert value == grow(1.1, 3)
    assert first[1] == 0.0
    assert np.isclose(first[0], 8 * 1.1**7)
    assert np.isclose(again[0], 16 * 1.1**7)


def test_a_function_that_arrives_as_an_argument():
    def apply(f, x):
        y = f(x)
        return y * y

    def square(x):
        return x * x

    assert np.isclose(grad(apply, 1)(np.sin, 0.7), 2 * np.sin(0.7) * np.cos(0.7))
    assert np.isclose(grad(apply, 1)(square, 0.7), 4 * 0.7**3)


@pytest.mark.sampled(one_in=3, turn=1)
def test_derivatives_up_to_the_fourth_of_a_function_that_arrives_as_an_argument():
    def apply(f, x, n):
        s = 0.0
        for k in range(n):
            s = s + f(x * k) ** 2
        return s

    def loop(x):
        for _ in range(2):
            x = x * np.sin(x)
        return x

    df, step = grad(apply, 1), 1e-6
    for _ in range(3):
        expected = (df(loop, 0.9 + step, 3) - df(loop, 0.9 - step, 3)) / (2 * step)
        df = grad(df, 1)
        assert np.isclose(df(loop, 0.9, 3), expected, rtol=1e-6)


def test_a_method_of_an_object_is_not_taken_for_that_of_an_array():
    class Model:
        def dot(self, x):
            return np.sum(x**2)

    def f(model, x):
        return model.dot(x)

    np.testing.assert_array_equal(grad(f, 1)(Model(), np.array([1.0, 2.0])), [2.0, 4.0])


class Coil:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def force(self, x):
        return self.stiffness * x

    @property
    def double(self):
        return 2.0 * self.stiffness


class Stiffening(Coil):
    def force(self, x):
        return super().force(x) * self.double

    @property
    def double(self):
        return super().double + 1.0


def test_a_method_that_asks_for_its_base_class_is_differentiated_itself():
    """Of the force 2 k (2 k + 1) x / 2 of an object, and by its class; in the object too."""
    spring = Stiffening(0.75)
    assert grad(spring.force)(3.0) == s2sgrad.jvp(spring.force, (3.0,), (1.0,))[1] == 0.75 * 2.5
    in_spring, in_x = s2sgrad.vjp(Stiffening.force, spring, 3.0)[1](1.0)
    assert in_x == 0.75 * 2.5
    assert in_spring == {"stiffness": 3.0 * (4.0 * 0.75 + 1.0)}


def test_gradients_that_are_allocated_are_not_copied_again():
    """`b_bar` is used by `A_bar`, too, and is returned as it is; what is returned twice is copied."""

    def solved(A, b):
        return np.sum(np.linalg.solve(A, b) ** 2)

    def twice(a, b):
        return np.sum(np.exp(a + b))

    A, b = np.array([[2.0, 1.0], [0.0, 3.0]]), np.array([1.0, -1.0])
    text = grad(solved, (0, 1)).source_for(A, b)
    assert "like(" not in text and ".copy()" not in text, text
    for f, args in ((solved, (A, b)), (twice, (b, b))):
        parts = grad(f, (0, 1))(*args)
        assert not np.shares_memory(*parts) and not any(np.shares_memory(p, a) for p in parts for a in args)
