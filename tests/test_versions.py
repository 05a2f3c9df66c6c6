"""Pythons, NumPys and SciPys from the floors of pyproject.toml on: facts are taken by what is there, never by a number."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import inspect
import re
import subprocess
import sys
import textwrap
import tomllib

import documents
import numpy as np
import pytest
from scipy import linalg  # noqa: F401  (has its rules read)

import s2sgrad
from s2sgrad import NoSource, Unsupported, grad
from s2sgrad.ir.signatures import _UNSAID, _UNSAID_OF_UFUNCS, by_position
from s2sgrad.primitives import sharing
from s2sgrad.rules.binding import parameters_of
from s2sgrad.rules.table import existing, lookup, rules
from s2sgrad.testing import check_grads

PROJECT = tomllib.loads((documents.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = sorted({*PROJECT["dependencies"], *(r for extra in EXTRAS.values() for r in extra)})
X = np.array([0.3, 0.7, 1.1, 1.9])


@pytest.fixture
def defined(tmp_path):
    """What a text defines: text that not every Python can read."""

    def run(text):
        file = tmp_path / f"younger{len(list(tmp_path.iterdir()))}.py"
        file.write_text("import functools\nimport numpy as np\n\n\n" + textwrap.dedent(text), encoding="utf-8")
        space = {"__name__": file.stem}
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True), space)
        return space

    return run


# --- what the project says -------------------------------------------------------------------------------------------


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)[:2]]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_every_dependency_has_a_floor_and_this_is_no_older(requirement):
    name, floor = re.fullmatch(r"([a-z-]+)>=(\d+(?:\.\d+)+)", requirement).groups()
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # of an extra that is not installed
        assert numbers(importlib.metadata.version(name)) >= numbers(floor)


def test_one_dependency_has_one_floor():
    names = [re.split("[>=]", requirement)[0] for requirement in REQUIREMENTS]
    assert len(names) == len(set(names))


def test_the_readme_says_the_floors():
    section = (documents.ROOT / "README.md").read_text(encoding="utf-8").split("## Versions\n")[1].split("\n## ")[0]
    said = dict(re.findall(r"`([a-z-]+)>=([\d.]+)`", section))
    assert {f"{name}>={floor}" for name, floor in said.items()} == set(REQUIREMENTS)
    assert f"Python {PROJECT['requires-python'].removeprefix('>=')}" in section
    assert sys.version_info[:2] >= tuple(numbers(PROJECT["requires-python"]))


def test_the_options_of_the_readme_are_there(pytestconfig):
    section = (documents.ROOT / "README.md").read_text(encoding="utf-8").split("## Try it\n")[1].split("\n## ")[0]
    options = re.findall(r"`--(\w+)`", section)
    assert set(options) == {"all", "quick"}
    assert all(pytestconfig.getoption(option) in (True, False) for option in options)
    assert "examples" in EXTRAS and "pip install '.[examples]'" in (documents.ROOT / "README.md").read_text(encoding="utf-8")


# --- functions that not every version has ----------------------------------------------------------------------------


def test_what_is_not_there_has_no_rule_and_is_no_error():
    assert existing(np, "sin", "no_function_of_this_name") == (np.sin,)
    for name in ("matmul", "outer", "svdvals", "vecdot", "vector_norm", "matrix_norm", "diagonal", "trace"):
        assert all(lookup(f) is not None for f in existing(np.linalg, name))
    for name in ("vecdot", "matvec", "unstack", "cumulative_sum", "matrix_transpose"):
        assert all(lookup(f) is not None for f in existing(np, name))
    (trapezoid,) = existing(np, "trapezoid") or existing(np, "trapz")
    check_grads(lambda x: trapezoid(x**2, dx=0.5), (X,), order=2)


# --- arguments by position -------------------------------------------------------------------------------------------

RENAMED = {("newshape", "shape")}  # np.reshape, before NumPy 2.1
TOLD = [f for f, rule in rules().items() if parameters_of(f) and not (rule.variadic or isinstance(f, np.ufunc))]


def test_a_rule_tells_the_positions_that_the_function_tells():
    others = [f for f in TOLD if not tells_its_positions(f)]
    assert not others, [getattr(f, "__qualname__", repr(f)) for f in others]


def tells_its_positions(primitive):
    rule, names = lookup(primitive), parameters_of(primitive)
    if names[0] == "self" and rule.positional[:1] == names[1:2]:  # of a method, whose rule knows nothing of its object
        names = names[1:]
    ours = rule.positional[len(rule.differentiable) : len(names)]
    theirs = names[len(rule.differentiable) : len(rule.positional)]
    return all(o == t or (t, o) in RENAMED for o, t in zip(ours, theirs, strict=True))


def test_positions_of_out_where_functions_tell_none():
    tells = [(f, names) for f, names in _UNSAID.items()]
    tells += [(getattr(np.add, method), names) for method, names in _UNSAID_OF_UFUNCS.items()]
    for f, names in tells:
        assert by_position(f)[: len(names)] == names


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.reshape(x, (2, 2))[0] ** 3),
    lambda x: np.sum(np.reshape(x, (2, -1), "F")[0] ** 3),
    lambda x: np.sum(x.reshape(2, 2).T[0] ** 3),
    lambda x: np.sum(np.asarray(x, float, "C") ** 2),
    lambda x: np.sum(np.array(x, float) ** 2),
    lambda x: np.add.reduce(np.reshape(x, (2, 2)) ** 2, 1)[0],
    lambda x: np.choose(np.array([0, 1, 1, 0]), [x, x**2])[1],
    lambda x: np.sum(np.linalg.solve(np.stack([2.0 * np.eye(4) + 0.1 * x] * 4), np.outer(x, x) + 1.0)),
])  # fmt: skip
def test_calls_that_versions_read_differently(f):
    check_grads(f, (X,), order=2)


def into_dot(x):
    y = np.zeros(4)
    np.dot(2.0 * np.ones((4, 4)), x, y)
    return np.sum(y**2)


def into_reduce(x):
    y = np.zeros(2)
    np.add.reduce(np.reshape(x, (2, 2)), 0, None, y)
    return np.sum(y**2)


def into_concatenate(x):
    y = np.zeros(8)
    np.concatenate((x, x**2), 0, y)
    return np.sum(y**2)


@pytest.mark.parametrize("f", [into_dot, into_reduce, into_concatenate])
def test_out_by_position(f):
    check_grads(f, (X,), order=2)


def test_an_argument_that_the_rule_does_not_tell_is_refused():
    with pytest.raises(s2sgrad.NoRule):
        grad(lambda x: np.add.reduce(x, 0, float, None, True))(X)


# --- Pythons ---------------------------------------------------------------------------------------------------------

LAZY = pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated when they are asked for: PEP 649")
ANNOTATED = """
    import dataclasses

    def f(x: Nowhere, k: Nothing = 2.0) -> Neither:
        y: Nowhere = x * k
        return np.sum(y ** 2) + helper(x, w=3.0) + Scaled(3.0)(x) + inner(x)

    def helper(x: Nowhere, *, w: Nothing = 1.0): return np.sum(w * x ** 3)

    class Scaled:
        def __init__(self, w: Nowhere): self.w = w
        def __call__(self, x: Nowhere) -> Nothing: return np.sum(self.w * x)

    @dataclasses.dataclass
    class Pair:
        u: Nowhere
        v: Nothing = 2.0

    def inner(x):
        def nested(u: Nowhere) -> Nothing: return u * x
        pair = Pair(x)
        return np.sum(nested(x) + pair.u * pair.v)

    def wrapper(g: Nowhere):
        @functools.wraps(g)
        def wrapped(x: Nowhere) -> Nothing: return g(x) * 2.0
        return wrapped

    decorated = wrapper(f)
"""


@LAZY
def test_annotations_that_cannot_be_evaluated(defined):
    space = defined(ANNOTATED)
    for f in (space["f"], space["decorated"]):
        check_grads(f, (X,), order=2)
        assert "x" in inspect.signature(grad(f)).parameters


@LAZY
def test_templates_are_refused_at_their_place(defined):
    f = defined('def f(x):\n    label = t"of {x}"\n    return np.sum(x)\n')["f"]
    with pytest.raises(Unsupported, match=r"t-strings cannot be differentiated yet(.|\n)*line 6\n(.|\n)*\^\^\^"):
        grad(f)(X)


@pytest.mark.skipif(not hasattr(functools, "Placeholder"), reason="functools.Placeholder came with Python 3.14")
def test_placeholders_of_a_partial_are_refused(defined):
    space = defined("""
        def h(a, b, c=1.0): return a + b * c
        def made_here(x): return functools.partial(h, functools.Placeholder, 2.0)(np.sum(x))
        made_outside = functools.partial(h, functools.Placeholder, 2.0)
        def called(x): return made_outside(np.sum(x))
    """)
    for f in (space["made_here"], space["called"], space["made_outside"]):
        with pytest.raises((Unsupported, NoSource), match="placeholders is not differentiated"):
            grad(f)(X)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 and nested quotes in f-strings came with Python 3.12")
def test_the_syntax_of_python_3_12(defined):
    f = defined("""
        type Numbers = list[float]

        def f[T](x: T) -> T:
            assert f"{"a"}{x.shape}"
            return np.sum(squares(x))

        def squares[T](x: T) -> T: return x * x
    """)["f"]
    check_grads(f, (X,), order=2)


@LAZY
def test_the_syntax_of_python_3_14(defined):
    f = defined("""
        def f(x):
            try:
                y = np.sum(x ** 2)
            except ValueError, TypeError:
                y = 0.0
            return y
    """)["f"]
    check_grads(f, (X,), order=2)


YOUNG = {  # functions that came with NumPy 2.0 and later
    "numpy": "acos acosh asin asinh atan atan2 atanh astype bitwise_count bitwise_invert bitwise_left_shift concat isdtype "
             "bitwise_right_shift permute_dims pow matrix_transpose vecdot unique_all unique_counts unique_inverse "
             "unique_values trapezoid unstack cumulative_sum cumulative_prod matvec vecmat",
    "numpy.linalg": "cross diagonal matmul matrix_norm matrix_transpose outer svdvals tensordot trace vecdot vector_norm",
}  # fmt: skip
WITHOUT = """
    import importlib, pkgutil
    import scipy.linalg, scipy.special, scipy.stats  # which need what their own NumPy has

    for home, names in {young}.items():
        for name in names.split():
            module = importlib.import_module(home)
            if hasattr(module, name):
                delattr(module, name)

    import s2sgrad

    for found in pkgutil.walk_packages(s2sgrad.__path__, "s2sgrad."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
"""


def test_nothing_young_is_needed():
    """Every file is imported by a NumPy without the functions that came with its second version."""
    code = textwrap.dedent(WITHOUT).replace("{young}", repr(YOUNG))
    done = subprocess.run([sys.executable, "-c", code], cwd=documents.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def stored_from_itself(u):
    v = u * 1.0
    v[[3, 1]] = v[2:]
    return np.sum(v * v)


def test_a_store_that_reads_what_it_writes_is_right_or_refused():
    u = np.array([0.1, 0.2, 0.6, 0.9])
    if sharing.STORES_ITEM_BY_ITEM:
        with pytest.raises(Unsupported, match=r"copy the value first"):
            grad(stored_from_itself)(u)
    else:
        np.testing.assert_allclose(grad(stored_from_itself)(u), [0.2, 0.0, 2.4, 1.8])
