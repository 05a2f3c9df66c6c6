"""Every way to make a view of an array, and to write one: right, or refused; and not many are refused."""

import functools
import warnings

import numpy as np
import pytest
import shared_memory as programs
from differences import central_difference
from judging import loaded

from s2sgrad import S2SGradError, grad, jacfwd
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.shadows import shadow_of

VIEWS = [(k, how) for k in range(len(programs.VIEWS)) for how in ("base", "view", "loop")]
WRITES = [(k, how) for k in range(len(programs.WRITES)) for how in ("plain", "view", "loop")]


def outcome(text: str, called: str, derivative=grad) -> str:
    """Whether the gradient of a program is "right" or "refused", or the program itself is an "error"."""
    with warnings.catch_warnings(), loaded(text, called) as f:
        warnings.simplefilter("ignore")
        try:
            f(programs.ARGUMENT.copy())
        except Exception:
            return "error"
        (expected,) = central_difference(f, (programs.ARGUMENT.copy(),), (0,))
        try:
            gradient = derivative(f)(programs.ARGUMENT.copy())
        except (S2SGradError, Refusal) as error:
            assert 'File "' in str(error) or error.__notes__
            return "refused"
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5)
        return "right"


@pytest.mark.sampled(one_in=36)
@pytest.mark.parametrize(("k", "how"), VIEWS, ids=[f"{programs.VIEWS[k][1]}-{how}" for k, how in VIEWS])
def test_views(k, how):
    outcome(programs.of_view(k, how), f"<view {k} {how}>")


@pytest.mark.records
@pytest.mark.sampled(one_in=36)
@pytest.mark.parametrize(("k", "how"), VIEWS, ids=[f"{programs.VIEWS[k][1]}-{how}" for k, how in VIEWS])
def test_views_in_columns(k, how):
    """All columns at once: what is a copy of a value is one of its tangents, and a view of it a view."""
    outcome(programs.of_view(k, how), f"<columns {k} {how}>", jacfwd)


@pytest.mark.sampled(one_in=36)
@pytest.mark.parametrize(("k", "how"), WRITES, ids=[f"{programs.WRITES[k]}-{how}" for k, how in WRITES])
def test_writes(k, how):
    outcome(programs.of_write(k, how), f"<write {k} {how}>")


@pytest.mark.records
@pytest.mark.sampled(one_in=36)
@pytest.mark.parametrize(("k", "how"), WRITES, ids=[f"{programs.WRITES[k]}-{how}" for k, how in WRITES])
def test_writes_in_columns(k, how):
    outcome(programs.of_write(k, how), f"<written columns {k} {how}>", jacfwd)


@pytest.mark.sampled(one_in=4)
@pytest.mark.dear
@pytest.mark.parametrize(
    ("cases", "program", "most"),
    [(VIEWS, programs.of_view, 0.06), (WRITES, programs.of_write, 0.15)],
    ids=["views", "writes"],
)
def test_few_are_refused(cases, program, most):
    """Of every ninth one."""
    found = [outcome(program(k, how), f"<{program.__name__} {k} {how}>") for k, how in cases[::9]]
    assert found.count("refused") <= most * len(found)


def test_no_shadow_lies_outside_of_what_it_is_looked_for_in():
    """Kinds are found on samples, whose sizes differ: what is written there must not be memory of something else."""
    x = np.ones(8)
    for x_bar in (np.zeros(3), np.zeros((2, 4)), np.zeros(8, np.float32), np.zeros(16)[::2]):
        with pytest.raises(Refusal):
            shadow_of(x[4:], x, x_bar)


GUFUNCS = [f for name, f in vars(np).items() if isinstance(f, np.ufunc) and f.signature and name == f.__name__]


@pytest.mark.records
@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("dimensions", [(1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("f", GUFUNCS, ids=lambda f: f.__name__)
def test_functions_of_rows_that_write_an_argument(f, dimensions, place, is_recorded):
    """NumPy itself reads what it has written where a row gives one number, and the numbers are stored in a row."""

    def program(x):
        kept = functools.reduce(lambda held, key: {**held, key: x}, "ab" if is_recorded else "a", {})
        given = [kept["a"][:3] * np.ones((3,) * n) + k for k, n in enumerate(dimensions)]
        f(given[0], given[1], out=given[place])
        return np.sum(given[place] ** 2)

    x = np.array([1.0, 2.0, 3.0])
    try:
        program(x)
    except ValueError:
        return
    try:
        found = grad(program)(x)
    except (S2SGradError, Refusal):
        return
    np.testing.assert_allclose(found, central_difference(program, (x,), (0,))[0], rtol=1e-4)


# --- writes that only the run shows: the function, or what it is given, is not known before ----------------------------


def scale(v, k=1.0):
    v *= k


def handed_on(f, *args, **keywords):
    f(*args, **keywords)


def of_a_name(v, w, k):
    f = np.add
    f(v, w, out=v)


def of_two_stars(v, w, k):
    np.add(v, w, **{"out": v})


def of_one_star(v, w, k):
    np.add(*[v, w, v])


def of_a_loop(v, w, k):
    for f in (np.add, np.multiply):
        f(v, w, out=v)


def of_a_helper(v, w, k):
    handed_on(np.add, v, w, out=v)


def of_a_method(v, w, k):
    f = w.cumsum
    f(out=v)


def of_a_copy(v, w, k):
    f = np.copyto
    f(v, src=w[::-1].copy())


def of_an_own_function(v, w, k):
    handed_on(scale, v, k=k)


def bound_and_not_read(v, w, k):
    for f in (scale, scale):
        y = f(v, k=k)  # noqa: F841


def bound_and_read(v, w, k):
    f = np.add
    y = f(v, w, out=v)
    v += y


LATE = [of_a_name, of_two_stars, of_one_star, of_a_loop, of_a_helper, of_a_method, of_a_copy, of_an_own_function,
        bound_and_not_read, bound_and_read]  # fmt: skip


@pytest.mark.records
@pytest.mark.parametrize("first", [1.0, 1.3])
@pytest.mark.parametrize("write", LATE)
def test_writes_that_only_the_run_shows(write, first):
    """Those of what is not changed by them, too: `v *= 1.0`."""

    def program(x):
        v, k = x * 1.1, x[0]
        write(v, v * 2.0, k)
        return np.sum(v**2 * np.arange(1.0, 4.0))

    x = np.array([first, 2.0, 3.0])
    try:
        found = grad(program)(x)
    except (S2SGradError, Refusal, TypeError):
        assert write is bound_and_read
        return
    np.testing.assert_allclose(found, central_difference(program, (x,), (0,))[0], rtol=1e-4)
