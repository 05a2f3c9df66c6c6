"""What a function returns must be something to differentiate: where it is not, the error names the function and says so."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from s2sgrad import GradientTape, constant, differentiable, function, grad, gradients, value_and_grad, vjp
from s2sgrad.cli import main
from s2sgrad.testing import check_grads


def forgotten(x):
    y = x * x  # noqa: F841


def none(x):
    x * x
    return None


def bare(x):
    x * x
    return


def prints(x):
    print(x * x)


def only_a_docstring(x):
    """Nothing else."""


def of_another(x):
    return forgotten(x)


def text(x):
    return f"{x * x}"


def dict_of_texts(x):
    return {"loss": str(x), "name": "f"}


def empty_tuple(x):
    return ()


def empty_list(x):
    return []


def truncated(x):
    return int(x)


def compared(x):
    return x > 0


def counted(x):
    return len(str(x))


def rounded(x):
    return round(x * x)


def first_place(x):
    return np.argmax(np.array([x, 2.0 * x]))


def compared_elements(x):
    return np.array([x, 2.0]) > 1.0


def ints_in_a_dict(x):
    return {"n": int(x), "positive": x > 0, "name": None}


def appended_ints(x):
    ns = []
    for k in range(3):
        ns.append(int(x * k))
    return ns


def module(x):
    return np


NOTHING = {
    forgotten: "None", none: "None", bare: "None", prints: "None", only_a_docstring: "None", of_another: "None",
    text: "a str", dict_of_texts: "a dict without floats", empty_tuple: "an empty tuple", empty_list: "an empty list",
    truncated: "an int", compared: "a bool", counted: "an int", rounded: "an int", first_place: "an int64",
    compared_elements: "an array of bool", ints_in_a_dict: "a dict without floats", module: "a module",
    appended_ints: "a list without floats",
}  # fmt: skip

WAYS = {
    "grad": lambda f: grad(f)(2.5),
    "value_and_grad": lambda f: value_and_grad(f)(2.5),
    "vjp": lambda f: vjp(f, 2.5),
    "check_grads": lambda f: check_grads(f, (2.5,)),
    "gradients": lambda f: gradients(f, xs=[0])(2.5),
    "grad of grad": lambda f: grad(grad(f))(2.5),
}


def recorded(f):
    with GradientTape() as tape:
        x = constant(2.5)
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


TAPES = {
    "tape": recorded,
    "function": lambda f: recorded(function(f)),
    "in a function": lambda f: function(lambda x: gradients(f(x), x))(2.5),
    "differentiable": lambda f: recorded(differentiable(f)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", NOTHING, ids=lambda f: f.__name__)
def test_a_result_without_floats_is_named(f, way):
    with pytest.raises(TypeError, match=f"`{f.__name__}` returns {NOTHING[f]}, which has no derivative: `return`"):
        WAYS[way](f)


@pytest.mark.parametrize("f", NOTHING, ids=lambda f: f.__name__)
def test_its_text_says_the_same(f):
    if f is not appended_ints:  # only its run shows
        with pytest.raises(TypeError, match=f"`{f.__name__}` returns {NOTHING[f]}"):
            grad(f).source_for(2.5)


def test_the_error_has_the_place():
    with pytest.raises(TypeError) as caught:
        grad(forgotten)(2.0)
    line = forgotten.__code__.co_firstlineno + 1
    assert f'test_results.py", line {line}\n    y = x * x' in str(caught.value)
    assert "outputs=" in str(caught.value)


def falls_off_the_end(x):
    if x > 0:
        return x * x


def bare_return_in_a_branch(x):
    if x < 0:
        return
    return x * x


def none_from_a_loop(x):
    for k in range(3):
        if x < -k:
            return None
        x = x * 1.0
    return x * x


def none_of_a_table(x):
    table = {"positive": x * x}
    return table.get("positive" if x > 0 else "negative")


def text_in_a_branch(x):
    if x > 0:
        return x * x
    return "negative"


@pytest.mark.parametrize(
    "f", [falls_off_the_end, bare_return_in_a_branch, none_from_a_loop, none_of_a_table, text_in_a_branch]
)
def test_the_path_that_is_taken_counts(f):
    assert grad(f)(3.0) == 6.0
    assert value_and_grad(f)(3.0) == (9.0, 6.0)
    assert vjp(f, 3.0)[1](1.0) == (6.0,)
    for way in (grad(f), value_and_grad(f), lambda x: vjp(f, x), lambda x: check_grads(f, (x,))):
        with pytest.raises(TypeError, match=f"`{f.__name__}` returns (None|a str), which has no derivative"):
            way(-3.0)


def test_a_path_that_the_arguments_choose():
    def f(x, how=None):
        if how is None:
            return None
        return x * x

    assert grad(f)(3.0, "square") == 6.0
    with pytest.raises(TypeError, match="`f` returns None"):
        grad(f)(3.0)


def test_the_function_that_is_named_is_the_one_that_returned():
    def inner(y):
        if y > 0:
            return y * y

    def outer(x):
        return grad(inner)(x) * x

    assert grad(outer)(1.5) == 6.0

    def only_evaluates(x):
        return x * grad(inner)(-1.0)

    for f in (lambda: grad(only_evaluates)(1.0), lambda: grad(inner)(-1.0)):
        with pytest.raises(TypeError, match="`inner` returns None"):
            f()


def test_where_it_is_differentiated_the_place_tells():
    def inner(y):
        if y > 0:
            return y * y

    with pytest.raises(TypeError, match=r"the function returns None(.|\n)*if y > 0:"):
        grad(lambda x: x * grad(inner)(x))(-1.0)


def test_a_callee_that_returns_nothing_at_second_order():
    def shout(x):
        print(x)

    def f(x):
        _, pullback = vjp(shout, x)
        return pullback(1.0)[0] * x

    for df in (grad(f), grad(grad(f))):
        with pytest.raises(TypeError, match="`shout` returns None"):
            df(2.0)


def test_what_a_function_writes_is_named():
    def doubled(u):
        u *= 2.0

    with pytest.raises(TypeError, match=r'`doubled` returns None.*: `return` the value, or .*`outputs="u"`'):
        grad(doubled)(np.ones(3))
    np.testing.assert_array_equal(grad(doubled, outputs="u")(np.ones(3)), np.full(3, 2.0))


def test_none_beside_a_float_is_carried_along():
    def f(x):
        return None, {"loss": x * x, "name": "f", "n": 3}

    assert grad(f)(3.0) == 6.0
    assert value_and_grad(f)(3.0) == ((None, {"loss": 9.0, "name": "f", "n": 3}), 6.0)
    _, pullback = vjp(f, 3.0)
    assert pullback((None, {"loss": 1.0, "name": None, "n": 0.0})) == (6.0,)


def test_a_float_that_does_not_depend_on_the_argument_has_zeros():
    for f in (lambda x: 3.0, lambda x: np.floor(x), lambda x: [1.0, 2], lambda x: np.zeros(0)):
        assert grad(f)(2.5) == 0.0
        assert vjp(f, 2.5)[1]([1.0, 1.0] if isinstance(f(2.5), list) else np.ones(np.shape(f(2.5)))) == (0.0,)


def test_an_int_on_one_path_of_floats_is_a_number():
    def relu(x):
        return x if x > 0 else 0

    def penalty(x):
        if np.sum(x) > 0:
            return x * x
        return 0

    assert (grad(relu)(2.0), grad(relu)(-2.0)) == (1.0, 0.0)
    assert vjp(relu, -2.0)[1](1.0) == (0.0,)
    np.testing.assert_array_equal(grad(penalty)(-np.ones(2)), np.zeros(2))
    assert grad(lambda x: sum([x, x][:0]) + x)(2.0) == 1.0


def test_a_function_that_always_raises_raises():
    def f(x):
        raise NotImplementedError("later")

    with pytest.raises(NotImplementedError, match="later"):
        grad(f)(2.0)


def test_the_shell_says_it_too(tmp_path, capsys):
    path = tmp_path / "nothing.py"
    path.write_text("def loss(x):\n    y = x * x\n\ndef name(x):\n    return 'loss'\n")
    for command in ("check", "show"):
        assert main([command, f"{path}:loss", "--args", "2.0"]) == 2
        out, err = capsys.readouterr()
        assert "`loss` returns None, which has no derivative" in err and "agrees" not in out
    assert main(["check", f"{path}:name"]) == 2
    assert "`name` returns a str" in capsys.readouterr().err


class Model:
    def nothing(self, x):
        self.latest = x * x

    def name(self, x):
        return "model"

    def __call__(self, x):
        x * x

    @staticmethod
    def of_the_class(x):
        x * x

    @classmethod
    def whole(cls, x):
        return int(x)


def logged(g):
    @functools.wraps(g)
    def inner(x):
        return g(x)

    return inner


def product(k, x):
    k * x


HELD = {
    "method": (Model().name, "`name` returns a str"),
    "callable": (Model(), "`__call__` returns None"),
    "static": (Model.of_the_class, "`of_the_class` returns None"),
    "class": (Model.whole, "`whole` returns an int"),
    "decorated": (logged(forgotten), "`forgotten` returns None"),
    "partial": (functools.partial(product, 2.0), "`product` returns None"),
    "in a graph": (function(forgotten), "`forgotten` returns None"),
}


@pytest.mark.parametrize("way", [way for way in WAYS if way != "gradients"])
@pytest.mark.parametrize("name", HELD)
def test_methods_partials_and_decorated_functions_are_named(name, way):
    f, words = HELD[name]
    with pytest.raises(TypeError) as caught:
        WAYS[way](f)
    assert f"{words}, which has no derivative: `return` " in str(caught.value)
    assert ("outputs=" in str(caught.value)) == words.endswith("None")
    assert f'File "{__file__}", line ' in str(caught.value)


ON_A_TAPE = (rounded, empty_tuple, empty_list)  # a constant, and nothing, have the gradient None there


@pytest.mark.filterwarnings("ignore:int")
@pytest.mark.parametrize("way", TAPES)
@pytest.mark.parametrize("f", [f for f in NOTHING if f not in ON_A_TAPE], ids=lambda f: f.__name__)
def test_a_tape_has_no_gradient_of_them_either(f, way):
    with pytest.raises(TypeError, match=r"the target|as an ndarray it would lose its gradient"):
        TAPES[way](f)


def test_a_name_that_exists_nowhere_is_a_name_error_although_its_statement_is_dead():
    def misspelled(x):
        unused = xx + 1.0  # noqa: F821, F841
        return x * x

    for way in ("grad", "value_and_grad", "vjp", "check_grads"):
        with pytest.raises(NameError, match="xx"):
            WAYS[way](misspelled)


def reads_what_is_not_there(d):
    return np.sum(d["b"])


def reads_in_what_is_there(d):
    return np.sum(d["a"]["q"]) + np.sum(d["c"])


@pytest.mark.parametrize("f", [reads_what_is_not_there, reads_in_what_is_there])
def test_an_item_that_is_not_there_is_no_zero(f):
    given = {"a": {"z": np.ones(2)}, "c": np.ones(2)}
    with pytest.raises(KeyError):
        f(given)
    with pytest.raises(KeyError):
        grad(f)(given)


LINE = np.array([1.0, 2.0, 3.0])
OF_A_NUMBER = {
    "dot": lambda x: np.sum(np.dot(x, LINE)),
    "outer": lambda x: np.sum(np.outer(x, LINE)),
    "ufunc.outer": lambda x: np.sum(np.multiply.outer(x, LINE)),
    "kron": lambda x: np.sum(np.kron(x, LINE)),
    "convolve": lambda x: np.sum(np.convolve(LINE, x)),
    "einsum": lambda x: np.sum(np.einsum(",i->i", x, LINE)),
    "tensordot": lambda x: np.sum(np.tensordot(x, LINE, 0)),
    "insert": lambda x: np.sum(np.insert(LINE, 1, x) ** 2),
    "interp": lambda x: np.interp(x, LINE, LINE**2),
    "tile": lambda x: np.sum(np.tile(x, 3)),
    "repeat": lambda x: np.sum(np.repeat(x, 3)),
    "resize": lambda x: np.sum(np.resize(x, 3)),
    "expand_dims": lambda x: np.sum(np.expand_dims(x, 0)),
    "squeeze": lambda x: np.sum(np.squeeze(x)),
    "moveaxis": lambda x: np.sum(np.moveaxis(x, (), ())),
    "cumsum": lambda x: np.sum(np.cumsum(x)),
    "cumprod": lambda x: np.sum(np.cumprod(x)),
    "take": lambda x: np.sum(np.take(x, 0)),
    "diagflat": lambda x: np.sum(np.diagflat(x)),
    "logspace": lambda x: np.sum(np.logspace(0, x, 3)),
    "meshgrid": lambda x: np.sum(np.meshgrid(x, LINE)[0]),
    "a helper": lambda x: tiled_again(x, 2) + x,
    "an item": lambda x: np.sum(np.tile([x, x * x][1], 2)),
    "a loop": lambda x: sum([np.sum(np.tile(x * k, 2)) for k in range(3)]),
}


def tiled_again(x, n):
    return np.sum(np.tile(x, 2)) if n == 0 else tiled_again(x, n - 1) * 2.0


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", OF_A_NUMBER)
def test_the_gradient_in_a_number_is_a_number(name):
    f = OF_A_NUMBER[name]
    expected = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    for x in (1.5, np.float64(1.5)):
        for found in (grad(f)(x), vjp(f, x)[1](1.0)[0], value_and_grad(f)(x)[1]):
            assert type(found) in (float, np.float64)
            assert found == pytest.approx(expected, rel=1e-6)
        assert type(grad(lambda p: f(p[0]))([x])[0]) in (float, np.float64)


@pytest.mark.records
def test_an_int_on_every_path_is_refused_by_the_text_and_not_recorded_then():
    """A recording takes the int 0 of one path for a constant; the text knows all paths."""

    def counted(x):
        return int(np.sum(x > 0.0))

    def constant(x):
        return len(x)

    for f in (counted, constant):
        with pytest.raises(TypeError, match="returns an int, which has no derivative: `return` a float"):
            grad(f)(np.ones(3))
    assert grad(lambda x: x if x > 0 else 0)(-1.0) == 0.0
