"""Random programs: operation by operation, as one record, and compiled, against central differences."""

import importlib.util
import sys
import zlib

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import GradientTape, constant, differentiable, grad
from s2sgrad.tape import sweep

from . import random_programs


def made(seed, folder):
    """The function of a random program, from a file of its own."""
    file = folder / f"random_program_{seed}.py"
    file.write_text(random_programs.text(seed))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module.program


def taped(f, args):
    xs = [constant(a) for a in args]
    with GradientTape() as t:
        t.watch(xs)
        y = f(*xs)
    return [g.numpy() for g in t.gradient(y, xs, unconnected_gradients="zero")]


def twice(f, args):
    """The gradient of the sum of the sines of the gradient."""
    xs = [constant(a) for a in args]
    with GradientTape() as outer:
        outer.watch(xs)
        with GradientTape() as t:
            t.watch(xs)
            y = f(*xs)
        s = sum(np.sum(np.sin(g)) for g in t.gradient(y, xs, unconnected_gradients="zero"))
    return [g.numpy() for g in outer.gradient(s, xs, unconnected_gradients="zero")]


def arguments(seed):
    rng = np.random.default_rng(zlib.crc32(f"{seed}".encode()))
    return rng.normal(size=3), rng.normal(size=(3, 3)), float(rng.normal())


def close(got, expected, tolerance):
    return all(np.allclose(a, b, rtol=tolerance, atol=tolerance) for a, b in zip(got, expected, strict=True))


def compare(seed, folder):
    f, args = made(seed, folder), arguments(seed)
    first = taped(f, args)
    assert close(taped(differentiable(f), args), first, 1e-9), "as one record"
    assert close(grad(f, (0, 1, 2))(*args), first, 1e-9), "compiled"
    # what stop_gradient freezes, differences move
    if "stop_gradient(" not in random_programs.text(seed).partition("def program")[2]:
        near = central_difference(f, args), central_difference(f, args, step=1e-5)
        if close(*near, 1e-4):  # no kink is near
            assert close(first, near[0], 1e-4), "differences"
    second = twice(f, args)
    assert close(twice(differentiable(f), args), second, 1e-7), "second derivatives"


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(20))
def test_random_programs_agree(seed, tmp_path):
    with np.errstate(all="ignore"):
        compare(seed, tmp_path)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("seed", range(20, 24))
def test_random_programs_agree_where_memory_is_freed_on_the_way(seed, tmp_path, monkeypatch):
    """As where arrays are large: one careful sweep, and no other that would need the entries again."""
    monkeypatch.setattr(sweep, "_LARGE", 0)
    with np.errstate(all="ignore"):
        compare(seed, tmp_path)
