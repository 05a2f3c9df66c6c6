"""Whole programs that store into arrays: values, gradients, second derivatives, other names, other spellings.

Each is differentiated in two forms: itself, its results (or the arguments that it writes) weighted by a random seed, and
inside a `loss` that is written to a file, a weighted sum of the squares of its results.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import sys

import numpy as np
import pytest
from differences import assert_value, directional, inner, leaves, random_directions
from kernels import CHECKS, KERNELS, MODULES, ORIGINALS, VARIANTS, Kernel, kernel_of

from s2sgrad import grad, value_and_grad

STEP = 1e-4
TOLERANCE = {"rtol": 2e-6, "atol": 2e-7}

# Differentiated twice as they are; all are differentiated twice inside their loss.
TWICE = [
    "american_put",
    "atax",
    "biquad_cascade",
    "cholesky",
    "conjugate_gradients",
    "gramschmidt",
    "heat_3d",
    "kalman_filter",
    "leapfrog_chain",
    "nbody",
    "thomas",
    "vadv",
    "wave_with_three_buffers",
]


@pytest.fixture(scope="module", params=KERNELS, ids=lambda entry: entry.name)
def entry(request):
    """A kernel; all tests of one are run in a row, so that it is compiled once."""
    return request.param


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A function that writes a text to a file and imports it as a module, once for each text."""
    directory = tmp_path_factory.mktemp("written")

    @functools.cache
    def module_of(name, text):
        path = directory / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return module_of


# --- helpers -----------------------------------------------------------------------------------------------------------


def weights_of(value, seed=11):
    """Random weights of the structure of a result."""
    rng = np.random.default_rng(seed)

    def weights(leaf):
        made = rng.uniform(0.5, 1.5, np.shape(leaf)) * rng.choice((-1.0, 1.0), np.shape(leaf))
        return made if isinstance(leaf, np.ndarray) else float(made)

    return tuple(weights(leaf) for leaf in value) if isinstance(value, tuple) else weights(value)


def slope(f, args, places, directions, weights=None, step=STEP):
    """The derivative of `<f(*args), weights>` along the directions: central differences of fourth order."""
    wide, narrow = (directional(f, args, places, directions, weights, width) for width in (2.0 * step, step))
    return (4.0 * narrow - wide) / 3.0


def slopes(f, args, places, weights=None, step=STEP):
    """For each place a random direction, and the derivative along it."""
    rng = np.random.default_rng(5)
    for place in places:
        (direction,) = random_directions(rng, args, (place,))
        yield direction, slope(f, args, (place,), (direction,), weights, step)


def agrees(gradient, f, args, places, weights=None):
    """The gradient is what the differences give, argument by argument, and looks like the arguments."""
    assert type(gradient) is tuple and len(gradient) == len(places)
    for place, part, (direction, expected) in zip(places, gradient, slopes(f, args, places, weights), strict=True):
        assert np.shape(part) == np.shape(args[place]) and np.asarray(part).dtype == np.float64
        np.testing.assert_allclose(inner(part, direction), expected, **TOLERANCE, err_msg=f"argument {place}")


def same(left, right, rtol=1e-11, atol=1e-13):
    """Equal in structure, and to the last digits."""
    assert isinstance(left, tuple) == isinstance(right, tuple)
    left, right = list(leaves(left)), list(leaves(right))
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def bits(args):
    """What the arguments hold, to the last bit."""
    return [(arg.tobytes(), arg.shape, arg.strides, arg.dtype) if isinstance(arg, np.ndarray) else arg for arg in args]


def unchanged(f, args, **seed):
    """`f(*args, seed=..)`; the arguments and the seed must hold afterwards what they held before."""
    weights = list(leaves(list(seed.values())))
    before, weights_before = bits(args), bits(weights)
    value = f(*args, **seed)
    assert bits(args) == before, "the arguments were changed"
    assert bits(weights) == weights_before, "the seed was changed"
    return value


@functools.cache
def differentiated(name):
    """The value and the gradient of a kernel, compiled once for all tests, and how."""
    entry = kernel_of(name)
    return value_and_grad(entry.function, **entry.options)


@functools.cache
def value_of(name):
    entry = kernel_of(name)
    return entry.result(*entry.args())


@functools.cache
def gradient_of(name):
    """The value and the gradient for a random seed."""
    entry = kernel_of(name)
    return unchanged(differentiated(name), entry.args(), seed=weights_of(value_of(name)))


# --- the loss of a kernel ----------------------------------------------------------------------------------------------


def loss_text(entry):
    """A module with a function of the kernel's arguments and one weight for each of its results.

    def lu_loss(A, weight_0):
        lu(A)
        return np.sum(weight_0 * A ** 2)
    """
    value = value_of(entry.name)
    weights = [f"weight_{k}" for k in range(len(value) if isinstance(value, tuple) else 1)]
    call = f"{entry.name}({', '.join(entry.parameters)})"
    if entry.outputs:
        results, line = list(entry.outputs), call
    else:
        results = [f"result_{k}" for k in range(len(weights))]
        line = f"{', '.join(results)} = {call}"
    terms = [f"np.sum({weight} * {result} ** 2)" for weight, result in zip(weights, results, strict=True)]
    return "\n".join([
        "import numpy as np",
        f"from {entry.function.__module__} import {entry.name}",
        "",
        "",
        f"def {entry.name}_loss({', '.join([*entry.parameters, *weights])}):",
        f"    {line}",
        f"    return {' + '.join(terms)}",
        "",
    ])  # fmt: skip


def loss_and_args(entry, written):
    """The loss of a kernel, and its arguments."""
    loss = getattr(written(f"{entry.name}_loss", loss_text(entry)), f"{entry.name}_loss")
    weights = weights_of(value_of(entry.name), seed=13)
    return loss, (*entry.args(), *(weights if isinstance(weights, tuple) else (weights,)))


# --- the same with other names -----------------------------------------------------------------------------------------


class Renaming(ast.NodeTransformer):
    """Gives every parameter and local name of the functions of a module another one, and drops the registration."""

    def __init__(self, tree):
        self.new = {node.name: self.names(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.here = {}

    @staticmethod
    def names(function):
        parameters = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
        stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        old = list(dict.fromkeys([*parameters, *stored]))
        return {name: f"{'zyx'[k % 3]}{len(old) - k}_" for k, name in enumerate(old)}

    def visit_FunctionDef(self, node):
        node.decorator_list = []
        self.here = self.new[node.name]
        self.generic_visit(node)
        self.here = {}
        return node

    def visit_arg(self, node):
        node.arg = self.here.get(node.arg, node.arg)
        return node

    def visit_Name(self, node):
        node.id = self.here.get(node.id, node.id)
        return node

    def visit_Call(self, node):
        callee = self.new.get(getattr(node.func, "id", None), {})
        for keyword in node.keywords:
            keyword.arg = callee.get(keyword.arg, keyword.arg)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node):
        return None if node.level else node


@functools.cache
def renamed_text(module):
    """The text of a module of kernels with other names, and for each function the new names of its old ones."""
    tree = ast.parse(inspect.getsource(module))
    renaming = Renaming(tree)
    return ast.unparse(ast.fix_missing_locations(renaming.visit(tree))), renaming.new


def renamed(entry, written):
    """A kernel with other names."""
    module = sys.modules[entry.function.__module__]
    text, names = renamed_text(module)
    function = getattr(written(f"renamed_{module.__name__.split('.')[-1]}", text), entry.name)
    new = names[entry.name]
    argnums, outputs = (tuple(new[name] for name in group) for group in (entry.argnums, entry.outputs))
    return Kernel(f"renamed_{entry.name}", function, entry.draw, entry.draw_bench, argnums, outputs)


# --- the kernels themselves: no gradient yet ---------------------------------------------------------------------------


def test_there_are_many():
    assert len(KERNELS) >= 90 and len(VARIANTS) >= 35 and len(CHECKS) >= 60
    assert len({entry.name for entry in [*KERNELS, *VARIANTS]}) == len(KERNELS) + len(VARIANTS)
    assert {entry.function.__module__ for entry in KERNELS} == {module.__name__ for module in MODULES}


@pytest.mark.parametrize("name", CHECKS)
def test_kernels_compute_what_they_say(name):
    entry = kernel_of(name)
    CHECKS[name](entry.args(), entry.result(*entry.args()))


def test_points_are_smooth(entry, written):
    """Differences at several steps agree, and every differentiated argument matters."""
    value = value_of(entry.name)
    assert all(np.all(np.isfinite(leaf)) and np.max(np.abs(leaf)) < 200.0 for leaf in leaves(value))
    for f, args, weights in ((entry.result, entry.args(), weights_of(value)), (*loss_and_args(entry, written), None)):
        at_steps = [[d for _, d in slopes(f, args, entry.places, weights, step)] for step in (STEP, STEP / 2.0)]
        np.testing.assert_allclose(*at_steps, **TOLERANCE)
        assert np.all(np.abs(at_steps) > 1e-6)


def test_renaming_leaves_no_name(entry, written):
    other = renamed(entry, written)
    assert not set(other.function.__code__.co_varnames) & set(entry.function.__code__.co_varnames)
    same(other.result(*entry.args()), value_of(entry.name), rtol=0.0, atol=0.0)


# --- first order -------------------------------------------------------------------------------------------------------


def test_gradient_agrees_with_differences(entry):
    _, gradient = gradient_of(entry.name)
    agrees(gradient, entry.result, entry.args(), entry.places, weights_of(value_of(entry.name)))


def test_value_is_that_of_the_function(entry):
    value, _ = gradient_of(entry.name)
    assert_value(value, value_of(entry.name))


@pytest.mark.sampled(one_in=16)
def test_gradient_of_the_loss_agrees_with_differences(entry, written):
    loss, args = loss_and_args(entry, written)
    gradient = unchanged(grad(loss, entry.argnums), args)
    agrees(gradient, loss, args, entry.places)


@pytest.mark.sampled(one_in=8, turn=1)
def test_gradient_with_other_names(entry, written):
    other = renamed(entry, written)
    df = value_and_grad(other.function, **other.options)
    value, gradient = unchanged(df, entry.args(), seed=weights_of(value_of(entry.name)))
    assert_value(value, value_of(entry.name))
    same(gradient, gradient_of(entry.name)[1], rtol=1e-9, atol=1e-11)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("other", VARIANTS, ids=lambda entry: entry.name)
def test_gradient_of_another_spelling(other):
    original = ORIGINALS[other.name]
    seed = weights_of(value_of(original.name))
    same(other.result(*other.args()), value_of(original.name), rtol=1e-10, atol=1e-12)
    df = value_and_grad(other.function, **other.options)
    value, gradient = unchanged(df, other.args(), seed=seed)
    same(value, value_of(original.name), rtol=1e-10, atol=1e-12)
    agrees(gradient, original.result, original.args(), original.places, seed)


# --- second order ------------------------------------------------------------------------------------------------------


def agrees_twice(first, args, places, argnums):
    """The gradient of `<gradient, v>` for a random v is what differences of the gradient give."""
    v = weights_of(tuple(args[place] for place in places), seed=17)
    gradient = unchanged(grad(first, argnums), args, seed=v)
    agrees(gradient, first, args, places, v)


@pytest.mark.dear
@pytest.mark.sampled(one_in=60)
def test_second_derivatives_of_the_loss(entry, written):
    loss, args = loss_and_args(entry, written)
    agrees_twice(grad(loss, entry.argnums), args, entry.places, entry.argnums)


@pytest.mark.dear
@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives(name):
    entry = kernel_of(name)
    agrees_twice(grad(entry.function, **entry.options), entry.args(), entry.places, entry.argnums)


# --- the tests themselves ----------------------------------------------------------------------------------------------


def test_a_small_error_is_noticed():
    entry = kernel_of("cholesky")
    A = entry.args()[0]
    by_element = np.zeros_like(A)
    for index in np.ndindex(A.shape):
        direction = np.zeros_like(A)
        direction[index] = 1.0
        by_element[index] = slope(entry.result, (A,), (0,), (direction,), weights_of(value_of("cholesky")))
    agrees((by_element,), entry.result, (A,), (0,), weights_of(value_of("cholesky")))
    with pytest.raises(AssertionError):
        agrees((by_element * (1.0 + 2e-5),), entry.result, (A,), (0,), weights_of(value_of("cholesky")))


def test_a_changed_argument_is_noticed():
    with pytest.raises(AssertionError, match="the arguments were changed"):
        unchanged(kernel_of("lu").function, kernel_of("lu").args())


def test_a_changed_seed_is_noticed():
    def scale(x, seed):
        np.multiply(seed[0], 2.0, out=seed[0])

    with pytest.raises(AssertionError, match="the seed was changed"):
        unchanged(scale, (1.0,), seed=(np.ones(2), 3.0))


NOTHING_RECORDED = [
    "jacobi_1d", "jacobi_2d", "seidel_2d", "fdtd_2d", "hdiff", "image_blur", "trisolv", "cholesky", "lu",
    "ldlt_by_outer_products", "exponential_moving_average", "spmv", "conv2d_bias", "max_pooling", "viterbi", "bicg", "mvt",
]  # fmt: skip


@pytest.mark.parametrize("name", NOTHING_RECORDED)
def test_nothing_is_recorded_where_the_reverse_sweep_finds_it(name):
    entry = next(e for e in KERNELS if e.name == name)
    text = grad(entry.function, **entry.options).source_for(*entry.args())
    assert not [line for line in text.splitlines() if "_stack" in line or "_old = " in line]
