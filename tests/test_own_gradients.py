"""`custom_gradient` in compiled code: what is wrong is said by name, and what a missing rule advises works when pasted."""

from __future__ import annotations

import importlib.util
import itertools

import numpy as np
import pytest

from s2sgrad import NoRule, NoSource, S2SGradError, custom_gradient, grad, vjp
from s2sgrad.testing import check_grads

_serial = itertools.count()


def brings(function, x=2.0):
    """The ways to ask for the gradient of a function with a gradient of its own, alone and within compiled code."""

    def within(x):
        z = function(x)
        return z * 2.0

    return [lambda: grad(function)(x), lambda: grad(within)(x), lambda: vjp(function, x)[1](1.0)]


# --- what is wrong with a gradient of one's own ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "what"),
    [
        (lambda x: x * x, "a float"),
        (lambda x: None, "None"),
        (lambda x: (x * x, lambda g: g, 1), "a tuple of 3"),
        (lambda x: (x * x, 2.0 * x), "a value and a float"),
        (lambda x: [x * x, lambda g: g], "a list"),
    ],
)
def test_what_is_no_pair_is_refused_by_name(returned, what):
    @custom_gradient
    def squared(x):
        return returned(x)

    for way in (*brings(squared), lambda: squared(2.0)):
        with pytest.raises(TypeError, match=f"`squared` .* must return its value .*; it returns {what}(\n|$)") as caught:
            way()
        assert not isinstance(caught.value, S2SGradError)


@pytest.mark.parametrize(
    ("pullback", "error", "said"),
    [
        (lambda g: (g, g), ValueError, r"returned 2 gradients for 1 arguments: return one for each"),
        (lambda g: (), ValueError, r"returned 0 gradients for 1 arguments: return one for each"),
        (lambda g: None, TypeError, r"returned None: `return` a gradient for each argument"),
        (lambda g: "a", ValueError, r"returned a str for an argument `x` of shape \(\)"),
        (lambda g: {"x": g}, ValueError, r"returned a dict for an argument `x` of shape \(\)"),
        (lambda g: g * np.ones(3), ValueError, r"returned a gradient of shape \(3,\) for an argument `x` of shape \(\)"),
        (lambda: 1.0, TypeError, r"must take one cotangent for each value that it returns, 1 here"),
        (lambda g, h: 1.0, TypeError, r"must take one cotangent for each value that it returns, 1 here"),
    ],
)
def test_what_a_pullback_returns_is_checked(pullback, error, said):
    @custom_gradient
    def squared(x):
        return x * x, pullback

    for way in brings(squared):
        with pytest.raises(error, match=f"the pullback of `squared` {said}"):
            way()


def test_the_shape_of_an_array_is_checked():
    @custom_gradient
    def total(x, p):
        return np.sum(x) * p["w"][0], lambda g: (g * np.ones(7), {"w": [g]})

    with pytest.raises(ValueError, match=r"the pullback of `total` returned a gradient of shape \(7,\) .* of shape \(3,\)"):
        grad(lambda x: total(x, {"w": [2.0]}))(np.ones(3))


def test_the_structure_of_an_argument_is_checked():
    @custom_gradient
    def total(x, p):
        return x * p["w"], lambda g: (g * p["w"], {"v": g * x})

    with pytest.raises(ValueError, match="the pullback of `total` returned a dict for the argument `p`, a dict of 1"):
        grad(lambda x: total(x, {"w": 2.0}))(3.0)


class Model:
    @custom_gradient
    def total(self, x, *more):
        return x * more[0], lambda g: (g * more[0], np.ones(3))


MODEL = Model()


def test_the_argument_of_a_method_is_named():
    with pytest.raises(ValueError, match=r"the pullback of `total` returned a gradient of shape \(3,\) for .* `more\[0\]`"):
        grad(lambda x: MODEL.total(x, 2.0 * x))(3.0)


def test_an_error_inside_of_a_pullback_is_its_own():
    @custom_gradient
    def squared(x):
        return x * x, lambda g: g / 0

    for way in brings(squared):
        with pytest.raises(ZeroDivisionError):
            way()


def test_a_number_for_an_array_counts_for_each_element():
    @custom_gradient
    def summed(x):
        return np.sum(x), lambda g: g

    assert grad(lambda s: summed(s + np.ones(3)))(1.0) == 3.0
    np.testing.assert_array_equal(grad(lambda v: summed(np.outer(v, v)))(np.ones(2)), [4.0, 4.0])
    check_grads(lambda v: summed(v * v) * v[0], (np.array([1.0, 2.0]),))


@pytest.mark.parametrize("function", [3, None, np, "f", [1.0]], ids=repr)
def test_only_functions_have_gradients_of_their_own(function):
    with pytest.raises(TypeError, match="custom_gradient needs a function that returns its value and its pullback, not"):
        custom_gradient(function)


def test_the_place_is_that_of_the_users_function():
    @custom_gradient
    def squared(x):
        return x * x

    for way in (lambda: grad(squared)(2.0), lambda: vjp(squared, 2.0)):
        with pytest.raises(TypeError) as caught:
            way()
        assert any("test_own_gradients.py" in note for note in caught.value.__notes__)
        assert not any("s2sgrad/tape" in note or "<s2sgrad" in note for note in caught.value.__notes__)


# --- what is advised where a rule is missing -------------------------------------------------------------------------

HEAD = "import math\nimport numpy as np\nimport operator\n"

MISSING = {  # text, call to be replaced, call in its place, derivatives for the dots, argument
    "a function of C": (
        "def f(x):\n    return x * math.nextafter(x * x, 9.0)\n",
        "math.nextafter(x * x, 9.0)", "my_nextafter(x * x, 9.0)", ["1.0"], 2.0,
    ),
    "a callable object": (
        "class Square:\n    __slots__ = ()\n    def __call__(self, x): return eval('x * x')\n"
        "square = Square()\ndef f(x):\n    return square(np.sin(x)) * 3.0\n",
        "square(np.sin(x))", "my_square(np.sin(x))", ["2.0 * a"], 0.7,
    ),
    "keywords": (
        "def power(a, n):\n    return eval('a ** n')\n"
        "class Power:\n    __slots__ = ()\n    def __call__(self, a, *, n, b): return power(a, n) * b\n"
        "raised = Power()\ndef f(x, k=3):\n    return raised(x + 1.0, n=k, b=2.0)\n",
        "raised(x + 1.0, n=k, b=2.0)", "my_raised(x + 1.0, n=k)", ["2.0 * n * a ** (n - 1)"], 1.5,
    ),
    "a lambda that is handed on": (
        "class Half:\n    __slots__ = ()\n    def __call__(self, f): return 0.5 * f(2.0)\n"
        "half = Half()\ndef f(x):\n    return x * half(lambda t: t * x)\n",
        "half(lambda t: t * x)", "my_half(x)", ["1.0"], 1.5,
    ),
}  # fmt: skip


def imported(tmp_path, text):
    path = tmp_path / f"advised_{next(_serial)}.py"
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines_of(error):
    """The two lines that the error advises."""
    (note,) = (note for note in error.__notes__ if "custom_gradient" in note)
    head, *lines = note.splitlines()
    assert head.startswith("Outside of the function, with the derivative for `...`")
    assert len(lines) == 2 or (len(lines) == 4 and lines[2].startswith("  # or by differences"))
    lines = lines[:2]
    return "\n".join(line.strip() for line in lines) + "\n"


def with_derivatives(lines, derivatives):
    for derivative in derivatives:
        lines = lines.replace("...", derivative, 1)
    assert "..." not in lines
    return lines


def lines_by_differences(error):
    """The lines that it advises where no derivative is at hand."""
    (note,) = (note for note in error.__notes__ if "custom_gradient" in note)
    _, first, made, _, instead = note.splitlines()
    head = made.partition("lambda g: ")[0]
    instead = instead.strip().removeprefix("#").strip()
    assert instead.startswith("lambda *g: ")
    return f"{first.strip()}\nfrom s2sgrad.testing import by_differences\n{head.strip()} {instead}))\n"


@pytest.mark.parametrize("name", MISSING)
def test_the_advice_works_by_differences(name, tmp_path):
    text, call, instead, _, x = MISSING[name]
    with pytest.raises(S2SGradError, match="custom_gradient") as caught:
        grad(imported(tmp_path, text).f)(x)
    definitions, _, function = text.rpartition("def f(")
    module = imported(tmp_path, f"{definitions}{lines_by_differences(caught.value)}def f({function.replace(call, instead)}")
    check_grads(module.f, (x,), order=1, modes="rev")


@pytest.mark.parametrize("name", MISSING)
def test_the_advice_works_as_it_is_pasted(name, tmp_path):
    text, call, instead, derivatives, x = MISSING[name]
    with pytest.raises(S2SGradError, match="custom_gradient") as caught:
        grad(imported(tmp_path, text).f)(x)
    lines = with_derivatives(lines_of(caught.value), derivatives)
    definitions, _, function = text.rpartition("def f(")
    module = imported(tmp_path, f"{definitions}{lines}def f({function.replace(call, instead)}")
    check_grads(module.f, (x,), order=1)
    assert module.f(x) == imported(tmp_path, text).f(x)


def test_the_advice_takes_what_is_read_of_a_result(tmp_path):
    text = "from scipy import linalg\ndef f(x):\n    return np.sum(linalg.qz(x, np.diag([1.0, 2.0, 3.0]))[0] ** 2)\n"
    with pytest.raises(NoRule) as caught:
        grad(imported(tmp_path, text).f)(np.eye(3))
    assert "and `my_qz` called in place of it and of `[0]`" in str(caught.value.__notes__)
    call = "linalg.qz(x, np.diag([1.0, 2.0, 3.0]))[0]"
    space, _, function = text.replace(call, "my_qz(x, np.diag([1.0, 2.0, 3.0]))").partition("def f")
    module = imported(tmp_path, f"{space}{lines_by_differences(caught.value)}def f{function}")
    check_grads(module.f, (np.cos(np.arange(9.0) ** 2).reshape(3, 3),), modes="rev", rtol=1e-4)


def test_the_advice_works_for_scipy(tmp_path):
    pytest.importorskip("scipy.special")
    space, text = "from scipy import special\n", "def f(x):\n    return np.sum(special.itstruve0(x * 2.0)) * x[0]\n"
    x = np.array([0.3, 0.8])
    with pytest.raises(NoRule, match=r"`special\.itstruve0` has no derivative rule.*custom_gradient") as caught:
        grad(imported(tmp_path, space + text).f)(x)
    lines = with_derivatives(lines_of(caught.value), ["special.struve(0, a)"])
    check_grads(imported(tmp_path, space + lines + text.replace("special.itstruve0", "my_itstruve0")).f, (x,))


def test_the_advice_works_for_what_has_no_text_and_is_differentiated_itself():
    import zlib

    with pytest.raises(NoSource, match=r"crc32.* has no Python source: .*`custom_gradient`") as caught:
        grad(zlib.crc32)(2.0)
    assert "my_crc32 = custom_gradient(lambda data: (crc32(data), lambda g: g * ...))" in lines_of(caught.value)
    cube = eval("lambda x: x ** 3")
    with pytest.raises(NoSource, match="in a file or a notebook, or give it a gradient of its own with `custom_gradient`"):
        grad(lambda x: cube(x) * 2.0)(2.0)
    my_cube = custom_gradient(lambda a: (cube(a), lambda g: g * 3.0 * a**2))
    assert grad(my_cube)(2.0) == 12.0 and grad(lambda x: my_cube(x) * 2.0)(2.0) == 24.0


def test_the_advice_is_in_the_traceback():
    with pytest.raises(NoRule) as caught:
        grad(lambda x: np.sum(np.sort_complex(x).real))(np.eye(2))
    assert "`np.sort_complex` has no derivative rule: use functions that have one, or give it one" in str(caught.value)
    assert "my_sort_complex = custom_gradient(lambda a: (np.sort_complex(a).real, lambda g: g * ...))" in lines_of(
        caught.value
    )
    assert "The nearest function with a rule: numpy.sort; docs/functions.md lists all." in caught.value.__notes__


def test_what_was_given_to_a_function_with_its_own_gradient_is_overwritten():
    """The value is new memory, and the pullback keeps what the function was given."""
    squared = custom_gradient(lambda a: (a * a, lambda g: 2.0 * g * a))
    same = custom_gradient(lambda a: (a, lambda g: g))

    def overwritten(x):
        y = x * 2.0
        z = squared(y)
        y[:] = 5.0
        return np.sum(z * x)

    def an_item(x):
        y = x * 2.0
        z = squared(y[1:])
        y[1] = x[0]
        return np.sum(z) * y[1]

    def added_to(x):
        y = x * 1.0
        for _ in range(3):
            z = squared(y)
            y += z
            z *= x
            y *= z
        return np.sum(y)

    def the_same(x):
        y = x * 1.0
        z = same(y)
        y *= x
        return np.sum(z * y)

    x = np.array([0.5, 0.7, 0.4])
    for f in (overwritten, an_item, the_same):
        check_grads(f, (x,), order=2)
    check_grads(added_to, (x,))
