"""Branches that cannot be differentiated: the gradient raises the refusal where they are taken, and is right elsewhere."""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import io
import types
from collections import Counter

import numpy as np
import pytest
from branched_programs import branched_program, typed_program
from dtype_programs import dtype_program
from exception_programs import exception_program
from judging import Rejected, assert_tangent, check, check_second, explained
from mutation_programs import mutation_program
from programs import program_from_seed

from s2sgrad import NoRule, S2SGradError, Unsupported, custom_gradient, grad
from s2sgrad.analysis import reached_codes
from s2sgrad.api.forward import jvp
from s2sgrad.errors import Refused
from s2sgrad.runtime.checks import Refusal

X = np.array([0.5, 0.8])


def outlined(x):
    return eval("x * 3.0")  # only the program that runs knows what it reads


def in_one_branch(x, k=0):
    y = np.sin(x)
    if k == 1:
        y = np.sort_complex(y * np.eye(2))
    elif k == 2:
        y = outlined(y)
    return np.sum(y * y)


def after_a_return(x, index=None):
    if index is None:
        return np.sum(x * x)
    rows = x.sort_values(index)
    return rows.to_numpy().sum()


class Frame:
    """What a library that is not there would hand over."""

    def __init__(self, values):
        self.values = values


def in_a_callee(x):
    return np.sum(of_any_kind(x) * x)


def of_any_kind(x):
    if isinstance(x, Frame):
        exec("x = x.values")
    return np.exp(x)


def without_the_attribute(x):
    y = x * x
    try:
        y.fillna(0.0, inplace=True)
    except AttributeError:
        y = np.where(np.isnan(y), 0.0, y)
    try:  # noqa: SIM105
        y.name = "result"
    except AttributeError:
        pass
    return np.sum(y)


def recursion(x, n, log=None):
    if n == 0:
        return x * x
    if log is Frame:
        log = absent.opened(log)  # noqa: F821
    return np.sin(recursion(x, n - 1, log)) * x


def total_of_recursion(x):
    return np.sum(recursion(x, 2))


def checked(x, verbose):
    if verbose:
        exec("print(x)")
    if not np.all(np.isfinite(x)):
        raise ValueError("not finite")


def called_for_its_checks(x, verbose=False):
    checked(x, verbose)
    return np.sum(x * x)


def size(x, mode):
    if mode == "all":
        return x.size
    exec("n = 3")
    return 7


def one_more(x, mode):
    return size(x, mode) + 1


def behind_a_helper_without_derivatives(x, mode="all"):
    return np.sum(x * x) * one_more(x, mode)


def doubled(x, mode):
    if mode == "all":
        return x * 2.0
    exec("n = 3")
    return x


def called_with_constants_as_well(x, mode="all"):
    return np.sum(doubled(x, mode) * x * doubled(np.ones(2), mode))


OFFSET = None


def in_an_arm(x, c=False):
    y = x + OFFSET if OFFSET else x * x
    z = (np.sort_complex(y) if c else y) if x[0] > 0.0 else 3.0 * x
    for _ in range(2):
        z = z * (outlined(x) if c else 2.0)
    return np.sum(z)


def either(x, mode):
    return x * 2.0 if mode == "all" else outlined(x)


def in_arms_of_elements_and_lambdas(x, mode="all"):
    f = lambda t: t * t if mode == "all" else outlined(t)  # noqa: E731
    return sum([np.sum(f(v)) * v if mode == "all" else outlined(v) for v in x]) + np.sum(either(x, mode))


NOT_TAKEN = {
    in_one_branch: lambda x: 2.0 * np.sin(x) * np.cos(x),
    after_a_return: lambda x: 2.0 * x,
    in_a_callee: lambda x: np.exp(x) * (1.0 + x),
    called_for_its_checks: lambda x: 2.0 * x,
    behind_a_helper_without_derivatives: lambda x: 6.0 * x,
    called_with_constants_as_well: lambda x: 8.0 * x,
    in_an_arm: lambda x: 8.0 * x,
    in_arms_of_elements_and_lambdas: lambda x: 3.0 * x * x + 2.0,
}


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("f", NOT_TAKEN, ids=lambda f: f.__name__)
def test_what_is_not_taken_does_not_matter(f):
    np.testing.assert_allclose(grad(f)(X), NOT_TAKEN[f](X))
    value, tangent = jvp(f, (X,), (np.ones(2),))
    np.testing.assert_allclose([value, tangent], [f(X), np.sum(NOT_TAKEN[f](X))])
    step = 1e-6
    second = grad(lambda x: np.sum(grad(f)(x)))(X)
    np.testing.assert_allclose(second, (NOT_TAKEN[f](X + step) - NOT_TAKEN[f](X - step)) / (2.0 * step), rtol=1e-6)


@pytest.mark.parametrize(("f", "argument", "words"), [
    (in_one_branch, 1, "`np.sort_complex` has no derivative rule"),
    (in_one_branch, 2, "`eval` reads or writes variables unseen"),
    (after_a_return, 0, "sort_values"),
    (called_for_its_checks, True, "`exec` reads or writes variables unseen"),
    (behind_a_helper_without_derivatives, "n", "`exec` reads or writes variables unseen"),
    (called_with_constants_as_well, "n", "`exec` reads or writes variables unseen"),
    (in_an_arm, True, "`np.sort_complex` has no derivative rule"),
    (in_arms_of_elements_and_lambdas, "n", "`eval` reads or writes variables unseen"),
])  # fmt: skip
def test_what_is_taken_raises_at_its_line(f, argument, words):
    with pytest.raises(Refused) as raised:
        grad(f)(X, argument)
    assert words in str(raised.value)
    assert raised.value.place.file == __file__
    assert "^" in str(raised.value)
    with pytest.raises(Refused):
        jvp(lambda x: f(x, argument), (X,), (X,))


def test_a_recursive_function_keeps_no_branch_that_its_adjoint_lacks():
    """The primal is not called as it stands: it would go on where the adjoint does not."""
    step = 1e-6
    slope = (total_of_recursion(X + step) - total_of_recursion(X - step)) / (2.0 * step)
    np.testing.assert_allclose(np.sum(grad(total_of_recursion)(X)), slope, rtol=1e-6)


@pytest.mark.parametrize("text", [
    "try:\n        if k:\n            y = np.sort_complex(y)\n    except Exception:\n        y = 0.0",
    "with contextlib.suppress(Exception):\n        if k:\n            y = np.sort_complex(y)",
    "try:\n        y = np.sort_complex(y) if k else y\n    except Exception:\n        y = 0.0",
    "if k:\n        global TOTAL\n        TOTAL = np.sort_complex(y)",
])  # fmt: skip
def test_where_the_refusal_would_be_handled_it_holds_for_all(text, tmp_path):
    file = tmp_path / "handled.py"
    file.write_text(f"def f(x, k=0):\n    y = x * x\n    {text}\n    return np.sum(y)\n")
    space = {"np": np, "contextlib": contextlib, "TOTAL": 0.0}
    exec(compile(file.read_text(), str(file), "exec"), space)
    with pytest.raises((NoRule, Unsupported)):
        grad(space["f"])(X)


def test_a_nested_gradient_of_what_is_an_array_or_none():
    program = typed_program(95112034)  # the cotangent of a record that may be None was summed over unknown axes
    check_second(program)


def test_what_was_missing_may_be_there_the_next_time():
    def rare(x):
        return eval("x * 3.0")

    def f(x, k):
        if k:
            y = helper(x)
        else:
            y = x
        return np.sum(y)

    helper = rare
    g = grad(f)
    np.testing.assert_allclose(g(X, 0), 1.0)
    with pytest.raises(Refused):
        g(X, 1)
    helper = custom_gradient(lambda x: (3.0 * x, lambda seed: 3.0 * seed))
    np.testing.assert_allclose(g(X, 1), 3.0)


class Stepper:
    def advance(self, x):
        return x


class Slotted:
    __slots__ = ("name",)


def stored_in_a_slot(x, state):
    try:
        state.name = "result"
    except AttributeError:
        x = 5.0 * x
    return np.sum(x)


def stored_where_arrays_have_it(x, state=None):
    y = x * 2.0
    try:
        y.shape = (2, 1)
    except AttributeError:
        y = 5.0 * y
    return np.sum(y)


def drawn(x, all_):
    if all_:
        yield np.sort_complex(x)


def generator_with_one_branch(x, all_=False):
    return np.sum(x) + sum(np.sum(t) for t in drawn(x, all_))


@pytest.mark.records
@pytest.mark.parametrize(("f", "argument"), [(stored_in_a_slot, Slotted()), (stored_where_arrays_have_it, None)])
def test_a_store_that_python_makes_is_not_taken_for_one_that_fails(f, argument):
    with contextlib.suppress(S2SGradError):
        np.testing.assert_allclose(grad(f)(X, argument), 1.0 if argument else 2.0)


@pytest.mark.records
def test_an_attribute_that_is_absent():
    np.testing.assert_allclose(grad(without_the_attribute)(X), 2.0 * X)


def attempts_two_things(x, k):
    if k > 1:
        try:
            y = np.log(x)
            y = y * y[k]
        except IndexError:
            y = x * x * x
        return np.sum(y)
    return np.sum(x * x)


@pytest.mark.records
@pytest.mark.parametrize(("k", "expected"), [(0, lambda x: 2.0 * x), (5, lambda x: 3.0 * x * x)])
def test_a_branch_that_is_recorded_when_it_is_taken(k, expected):
    """The rest of the function has a text; where the branch is taken, the run begins again and is recorded."""
    df = grad(attempts_two_things)
    np.testing.assert_allclose(df(X, k), expected(X))
    _, tangent = jvp(attempts_two_things, (X, k), (np.ones(2), None))
    np.testing.assert_allclose(tangent, np.sum(expected(X)))
    assert "is recorded" not in df.source


@pytest.mark.records
def test_a_text_counts_on_what_a_branch_of_a_gradient_raises():
    """The derivative of what raises is none: were the inner gradient recorded, this would be zero."""
    with pytest.raises(Refused):
        grad(lambda x: np.sum(grad(attempts_two_things)(x, 5) ** 2))(X)


def test_a_generator_stays_one():
    with contextlib.suppress(S2SGradError):
        np.testing.assert_allclose(grad(generator_with_one_branch)(X), 1.0)


class Mode(str, enum.Enum):  # noqa: UP042
    FAST = "fast"


class Tag:
    pass


class TaggedPair(Tag, collections.namedtuple("Pair", "a b")):
    pass


class Named(float):
    pass


NAMED = Named(2.0)
NAMED.note = "two"
SUBCLASSES = [
    (lambda x, mode: np.sum(x) * (2.0 if hasattr(mode, "value") else 1.0), Mode.FAST),
    (lambda x, mode: np.sum(x) * (2.0 if isinstance(mode, enum.Enum) else 1.0), Mode.FAST),
    (lambda x, pair: np.sum(x) * (2.0 if isinstance(pair, Tag) else 1.0), TaggedPair(1.0, 2.0)),
    (lambda x, number: np.sum(x) * (2.0 if hasattr(number, "note") else 1.0), NAMED),
]


@pytest.mark.parametrize(("f", "argument"), SUBCLASSES)
def test_subclasses_of_built_in_types_have_classes_and_attributes_of_their_own(f, argument):
    np.testing.assert_allclose(grad(f)(X, argument), 2.0)


STEPPER, TABLE = Stepper(), {"found": [in_a_callee]}
PACKAGE = types.ModuleType("package_of_tests")
PACKAGE.inner = types.ModuleType("package_of_tests.inner")
PACKAGE.inner.found = in_a_callee
REACHED = [
    (lambda x: in_a_callee(x), of_any_kind, True),
    (lambda x: in_a_callee(x), after_a_return, False),
    (lambda x: [(lambda t: t + in_a_callee(t))(x)], of_any_kind, True),
    (lambda x: TABLE["found"][0](x), of_any_kind, True),
    (functools.partial(max, key=in_a_callee), of_any_kind, True),
    (lambda x: STEPPER.advance(x), Stepper.advance, True),
    (lambda x, other: other.advance(x), Stepper.advance, True),
    (lambda x: np.sum(x), after_a_return, False),
    (lambda x: PACKAGE.inner.found(x), of_any_kind, True),
    (lambda x: PACKAGE.inner, of_any_kind, False),
]


@pytest.mark.parametrize(("f", "wanted", "expected"), REACHED)
def test_which_codes_a_call_may_run(f, wanted, expected):
    assert reached_codes.may_run([f], frozenset([wanted.__code__])) is expected


WRITERS = (program_from_seed, mutation_program, exception_program, dtype_program)


@pytest.mark.records
@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("order", [1, 2, 0])
@pytest.mark.parametrize("writer", WRITERS, ids=lambda w: w.__name__)
@pytest.mark.parametrize("more", [branched_program, typed_program], ids=lambda w: w.__name__)
def test_random_programs(more, writer, order, part):
    outcomes, count = Counter(), 2 if order == 1 else 1
    for seed in range(part * count, (part + 1) * count):
        program = more(seed, writer)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                check_second(program) if order == 2 else check(program, None if order else assert_tangent)
            outcomes["right"] += 1
        except Rejected:
            outcomes["rejected"] += 1
        except (S2SGradError, Refusal):
            outcomes["refused"] += 1
        except Exception as error:
            pytest.fail(explained(program, error, order), pytrace=False)
    assert outcomes["refused"] <= count // 2


class Figure:
    @staticmethod
    def shown():
        return print

    def bare():
        return print


@pytest.mark.parametrize("plots", [False, True])
def test_functions_without_parameters_in_a_branch_that_plots(plots, capsys):
    def loss(x, plots=False):
        if plots:
            Figure.shown()("step")
            Figure.bare()("done")
        return x * x

    assert grad(loss)(1.5, plots) == 3.0
    assert grad(lambda x: loss(x, plots=plots))(1.5) == 3.0
    assert capsys.readouterr().out.count("step") == 2 * plots


def products_of_pairs(x):
    pairs = zip([x[0], x[1]], [x[1], x[2]], strict=True) if x[0] > 0 else zip([x[0]], [x[1]], strict=True)
    return sum(a * b for a, b in pairs)


@pytest.mark.records
def test_a_function_whose_branches_are_all_refused_is_recorded():
    x = np.array([0.7, 1.3, 0.4])
    np.testing.assert_allclose(grad(products_of_pairs)(x), [1.3, 1.1, 1.3])
    assert "Recorded as it runs" in grad(products_of_pairs).source
