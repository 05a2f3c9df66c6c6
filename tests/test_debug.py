"""`debug=True` names the statement where the first value arose that is not finite, in both sweeps; and says nothing else."""

import ast
import inspect
import linecache
import pickle
import textwrap

import numpy as np
import pytest
from corpus import CASES
from differences import leaves

import s2sgrad
from s2sgrad import (
    NotFinite,
    checkpoint,
    checkpointed,
    custom_gradient,
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    value_and_jacobian,
    vjp,
)

NAN = float("nan")
broken = custom_gradient(lambda a: (a * 1.0, lambda g: g * NAN))
PLAIN = [case for case in CASES if "*" not in str(inspect.signature(case.function))]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def root(a):
    b = np.sqrt(a)
    return b * 2.0


def steps(x, n):
    y = x * 2.0
    for _ in range(n):
        y = y - 1.0
        z = np.log(y)
    w = root(x)
    return np.sum(z) + np.sum(w)


def rooted(x):
    s = root(x)
    return np.sum(s)


def selected(x):
    y = np.where(x > 0.0, np.log(x), 0.0)
    return np.sum(y)


def held(params, x):
    out = {"a": [x * 2.0, np.log(params["w"][0])]}
    return np.sum(out["a"][1]) + np.sum(x)


def stored(x):
    y = np.zeros(3)
    y[0] = x[0]
    y[1:] = 1.0 / x[1:]
    return np.sum(y)


def swept(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sqrt(x[i])
    return np.sum(y)


def auxiliary(x):
    return np.sum(x * x), {"bound": np.inf}


def line(function, text):
    """The number of the line of a function that holds this text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, row in enumerate(lines) if text in row)


def raised(call, *args, **keywords):
    with pytest.raises(NotFinite) as caught:
        call(*args, **keywords)
    assert isinstance(caught.value, FloatingPointError)
    return caught.value


def test_in_the_forward_sweep():
    error = raised(grad(steps, debug=True), np.array([3.0, 1.0]), 3)
    assert error.message == "`z` is -inf at [1], first in the forward sweep"
    assert error.place.line == line(steps, "np.log") and error.place.file == __file__
    assert str(error).splitlines()[2:] == ["    z = np.log(y)", "    ^^^^^^^^^^^^^"]
    assert "after that the result is nan" in error.__notes__[0]


def halves(a):
    return np.log(a) * 0.5


def test_in_a_function_that_is_called():
    error = raised(grad(lambda x: np.sum(halves(x)), debug=True), np.array([1.0, 0.0]))
    assert error.message == "the result is -inf at [1], first in the forward sweep"
    assert error.place.line == line(halves, "np.log")


@pytest.mark.parametrize("way", ["call", "loop"])
def test_under_checkpoints(way):
    def called(x, n):
        for _ in range(n):
            x = checkpoint(halves)(x)
        return np.sum(x)

    def looped(x, n):
        for _ in checkpointed(range(n), slots=2):
            x = halves(x)
        return np.sum(x)

    function = called if way == "call" else looped
    x = np.array([60.0, 70.0])
    np.testing.assert_array_equal(grad(function, debug=True)(x, 2), grad(function)(x, 2))
    named = (halves, "np.log") if way == "call" else (looped, "halves(x)")  # the loop calls it as it is
    assert raised(grad(function, debug=True), x, 4).place.line == line(*named)


def test_in_the_derivative_of_a_line_of_a_function_that_is_called():
    error = raised(grad(rooted, debug=True), np.array([1.0, 0.0]))
    assert error.message == "the gradient in `a` is inf at [1], first in the derivative of this line"
    assert error.place.line == line(root, "np.sqrt")


def test_where_nothing_is_wrong_nothing_is_said():
    x = np.array([3.0, 4.0])
    np.testing.assert_array_equal(grad(steps, debug=True)(x, 2), grad(steps)(x, 2))
    value, gradient = value_and_grad(steps, debug=True)(x, 2)
    assert (value, gradient.tolist()) == (steps(x, 2), grad(steps)(x, 2).tolist())


def test_an_infinity_that_is_left_out_is_none():
    x = np.array([0.0, 1.0])
    np.testing.assert_array_equal(grad(selected, debug=True)(x), [0.0, 1.0])


def test_the_first_nan_is_told_behind_infinities_that_are_meant():
    def masked(x):
        bounds = [-np.inf, np.inf]
        a = x + bounds[0]
        b = np.maximum(a, x)
        c = x + bounds[1]
        d = np.minimum(c, x)
        e = x + bounds[0]
        f = x + bounds[0]
        g = x + bounds[0]
        h = x + bounds[0]
        q = np.log(x - 1.0)
        return np.sum(b + d + q + np.maximum(np.maximum(e, f), np.maximum(np.maximum(g, h), x)))

    assert np.isfinite(grad(masked, debug=True)(np.array([3.0]))).all()
    error = raised(grad(masked, debug=True), np.array([0.5]))
    assert f"`q` is nan at [0] (line {line(masked, 'np.log')})" in error.__notes__[0]


def test_arguments_and_seeds():
    error = raised(grad(steps, debug=True), np.array([3.0, NAN]), 2)
    assert error.message == "the argument `x` is nan at [1]" and error.place.line == line(steps, "def steps")
    error = raised(grad(held, 1, debug=True), {"w": [np.array([1.0, NAN])]}, np.ones(2))
    assert error.message == "the argument `params` is nan at ['w'][0][1]"
    error = raised(grad(rooted, debug=True), np.ones(2), seed=NAN)
    assert error.message == "the argument `seed` is nan"
    error = raised(grad(steps, debug=True), np.array([3.0, -np.inf]), 2)
    assert "`z`" in error.message or "`y`" in error.message
    assert "the argument `x` is -inf at [1]" in error.__notes__


def test_elements():
    error = raised(grad(held, 1, debug=True), {"w": [np.array([1.0, 0.0])]}, np.ones(2))
    assert error.place.line == line(held, "np.log")
    assert error.message == "the item at 'a' of `out` is -inf at [1][1], first in the forward sweep"
    error = raised(grad(stored, debug=True), np.array([1.0, 2.0, 0.0]))
    assert error.message == "`y` is inf at [2], first in the forward sweep"
    assert error.place.line == line(stored, "y[1:]")
    error = raised(grad(swept, debug=True), np.array([1.0, 2.0, 0.0]))
    assert error.message == "the gradient in `x[2]` is inf, first in the derivative of this line"


def test_tuples():
    def paired(x):
        both = (x * 2.0, np.log(x))
        return both[0] + both[1]

    assert raised(grad(paired, debug=True), np.array([0.0])).place.line == line(paired, "np.log")


def test_values_beside_the_result_may_be_infinite():
    gradient, aux = grad(auxiliary, has_aux=True, debug=True)(np.ones(2))
    assert gradient.tolist() == [2.0, 2.0] and aux == {"bound": np.inf}
    (value, _), gradient = value_and_grad(auxiliary, has_aux=True, debug=True)(np.ones(2))
    assert (value, gradient.tolist()) == (2.0, [2.0, 2.0])
    assert raised(grad(auxiliary, has_aux=True, debug=True), np.array([1.0, NAN]))


def test_forward_mode():
    error = raised(jvp(rooted, debug=True), (np.array([1.0, 0.0]),), (np.ones(2),))
    assert error.message == "the tangent of `b` is inf at [1], first in the derivative of this line"
    assert jvp(rooted, (np.ones(2),), (np.ones(2),), debug=True) == (4.0, 2.0)


def test_pullbacks():
    value, pullback = vjp(rooted, np.array([1.0, 0.0]), debug=True)
    error = raised(pullback, 1.0)
    assert value == 2.0 and error.place.line == line(root, "np.sqrt")
    assert raised(vjp, steps, np.array([3.0, 1.0]), 3, debug=True).place.line == line(steps, "np.log")
    assert vjp(rooted, np.ones(2), debug=True)[1](1.0)[0].tolist() == [1.0, 1.0]
    assert vjp(lambda x, debug: x * debug, 2.0, debug=3.0)[0] == 6.0  # a parameter of its own


def test_higher_orders():
    for second in (grad(grad(rooted), debug=True), jvp(grad(rooted), debug=True)):
        x = np.array([1.0, 0.0])
        error = raised(second, *(((x,), (np.ones(2),)) if hasattr(second, "along") else (x,)))
        assert error.place.line == line(root, "np.sqrt") and "derivative of this line" in error.message
    inner = grad(rooted, debug=True)
    np.testing.assert_allclose(grad(lambda x: np.sum(inner(x)))(np.array([1.0, 4.0])), [-0.5, -0.0625])


def rooted_twice(x):
    r = np.sqrt(x)
    return np.array([np.sum(r), r[0] * x[1]])


@pytest.mark.parametrize("matrix", [jacobian, jacfwd, jacrev, value_and_jacobian])
def test_jacobians(matrix):
    at, safe = np.array([1.0, 0.0]), np.array([1.0, 4.0])
    made = matrix(rooted_twice, debug=True)
    error = raised(made, at)
    assert error.place.line == line(rooted_twice, "np.sqrt") and "derivative of this line" in error.message
    for a, b in zip(leaves(made(safe)), leaves(matrix(rooted_twice)(safe)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_hessians_and_products_with_them():
    at, safe = np.array([1.0, 0.0]), np.array([1.0, 4.0])
    made = hessian(rooted, debug=True)
    for error in (raised(made, at), raised(hvp, rooted, (at,), (np.ones(2),), debug=True)):
        assert error.place.line == line(root, "np.sqrt")
    np.testing.assert_array_equal(made(safe), hessian(rooted)(safe))
    product = hvp(rooted, debug=True)
    np.testing.assert_array_equal(product((safe,), (at,)), hvp(rooted, (safe,), (at,)))
    error = raised(elementwise_grad(root, debug=True), at)
    assert error.place.line == line(root, "np.sqrt")


def test_a_parameter_called_debug_is_the_functions_own():
    def doubled(x, debug=False):
        return np.sum(np.sqrt(x)) * (2.0 if debug else 1.0)

    at = np.array([1.0, 4.0])
    np.testing.assert_array_equal(jacrev(doubled)(at, debug=True), [1.0, 0.5])
    np.testing.assert_array_equal(jacrev(doubled, debug=True)(at), [0.5, 0.25])
    assert linearize(doubled, at, debug=True)[1](np.ones(2)) == 1.5
    assert "np.sqrt" in raised(jacrev(doubled, debug=True), 0.0 * at).place.text


def test_what_looks_at_nothing_says_so():
    with pytest.raises(TypeError, match=r"jvp\(f, primals, tangents, debug=True\)"):
        linearize(rooted, np.ones(2), debug=True)


def test_functions_that_are_known_when_they_run():
    error = raised(grad(lambda fs, x: np.sum(fs[0](x)), 1, debug=True), [root], np.array([1.0, 0.0]))
    assert error.place.line == line(root, "np.sqrt")


def test_an_exception_on_the_way_says_what_was_not_finite_before():
    def factored(x):
        y = np.log(x)
        if not np.isfinite(y).all():
            raise ValueError("no such number")
        return np.sum(y)

    with pytest.raises(ValueError, match="no such number") as caught:
        grad(factored, debug=True)(np.array([1.0, 0.0]))
    assert any("`y` is -inf at [1]" in note for note in caught.value.__notes__)


def test_the_text():
    gradient = grad(rooted, debug=True)
    text = gradient.source_for(np.ones(2))
    assert "    watch(s, '`s`')\n" in text and "    watch_derivative(s_bar, 'the gradient in `s`')\n" in text
    assert "watch" not in grad(rooted).source_for(np.ones(2))
    again = pickle.loads(pickle.dumps(gradient))
    assert raised(again, np.array([1.0, 0.0])).place.line == line(root, "np.sqrt")
    assert s2sgrad.NotFinite is NotFinite


def test_a_saved_text_raises_at_once(tmp_path):
    gradient = grad(rooted, debug=True)
    gradient(np.ones(2))
    gradient.save(tmp_path / "saved.py")
    space = {"__name__": "saved"}
    exec((tmp_path / "saved.py").read_text(), space)
    assert space["rooted_grad"](np.ones(2)).tolist() == [1.0, 1.0]
    with pytest.raises(FloatingPointError, match="the gradient in `a` is inf at "):
        space["rooted_grad"](np.array([1.0, 0.0]))


@pytest.mark.sampled(one_in=144, turn=3)
@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_the_numbers_are_the_same(case):
    ours = grad(case.function, case.argnums, debug=True)(*case.fresh_args())
    expected = grad(case.function, case.argnums, lists=False)(*case.fresh_args())
    for a, b in zip(leaves(ours), leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def planted(case, plant):
    """The function of a case with a line behind its first assignment of a variable that has a derivative, `v = plant`, and
    the number of that line; None where there is none."""
    try:
        text = textwrap.dedent(inspect.getsource(case.function))
        tree = ast.parse(text)
    except (OSError, SyntaxError):
        return None
    body = tree.body[0].body
    active = {name for _, note in s2sgrad.explain(grad(case.function, case.argnums), *case.fresh_args()).notes("active")
              for name in note.names}  # fmt: skip
    for statement in body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in active:
            rows = text.splitlines()
            rows.insert(statement.end_lineno, f"    {target.id} = {plant.format(target.id)}")
            text = "\n".join(row for row in rows if not row.startswith("@")) + "\n"
            number = statement.end_lineno + 1 - sum(row.startswith("@") for row in rows)
            filename = f"<planted {case.name} {plant}>"
            linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
            space = {**case.function.__globals__, "broken": broken, "NAN": NAN}
            if case.function.__closure__ or "\n@" in text or not text.startswith("def "):
                return None
            exec(compile(text, filename, "exec"), space)
            return space[case.function.__name__], number
    return None


@pytest.mark.sampled(one_in=180, turn=5)
@pytest.mark.parametrize("plant", ["{} * NAN", "broken({})"])
@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_a_nan_is_found_where_it_was_planted(case, plant):
    found = planted(case, plant)
    if found is None:
        return
    function, number = found
    try:
        gradient = grad(function, case.argnums)(*case.fresh_args())
        value = function(*case.fresh_args())
    except Exception:  # it cannot live with a nan, or with an array in this place
        return
    if all(np.isfinite(x).all() for x in leaves((gradient, value)) if np.asarray(x).dtype.kind == "f"):
        return
    error = raised(grad(function, case.argnums, debug=True), *case.fresh_args())
    assert error.place.line == number, error
    assert ("in the forward sweep" in error.message) == (plant != "broken({})")
