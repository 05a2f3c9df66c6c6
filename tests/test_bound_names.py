"""No text reads a name that nothing binds: each global that its code loads is one of the user's module, or built in."""

import builtins
import contextlib
import dis
import inspect
import io

import numpy as np
import pytest
from corpus import CASES
from differences import leaves
from kernels import KERNELS

from s2sgrad import S2SGradError, grad, jvp, vjp
from s2sgrad.driver import plan as plans


def codes(code):
    """A code object and all within it."""
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from codes(constant)


def globals_read(code):
    """The names that a function looks up outside of itself and its closure."""
    return {i.argval for c in codes(code) for i in dis.get_instructions(c) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


@pytest.fixture
def nothing_unbound(monkeypatch):
    """Look into each text that is loaded; what the user's function reads without a binding is the user's mistake."""
    unbound, seen = [], []
    original = plans.Plan.made

    def made(plan, primals):
        functions = original(plan, primals)
        mistakes = {name for primal in primals for name in globals_read(primal.__code__)}
        for function in functions:
            known = {*function.__globals__, *vars(builtins), *mistakes}
            seen.append(function)
            unbound.extend((function.__name__, name) for name in globals_read(function.__code__) - known)
        return functions

    monkeypatch.setattr(plans.Plan, "made", made)
    yield seen
    assert not unbound, unbound


def differentiate(function, args, wrt):
    """In reverse mode by both entries, and twice; forwards: what is refused has no text."""

    def total(*arguments):
        return sum(np.sum(part * part) for part in leaves(grad(function, wrt)(*arguments)))

    with contextlib.suppress(S2SGradError):
        value, pullback = vjp(function, *args())
        if isinstance(value, float):
            pullback(1.0)
    with contextlib.suppress(S2SGradError):
        grad(function, wrt)(*args())
    with contextlib.suppress(S2SGradError):
        grad(total, wrt)(*args())
    with contextlib.suppress(S2SGradError):
        primals = args()
        tangents = tuple(
            np.ones_like(p) if k in wrt and isinstance(p, (float, np.ndarray)) else None for k, p in enumerate(primals)
        )
        jvp(function, primals, tangents)


@pytest.mark.sampled(one_in=96, turn=5)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_texts_of_the_corpus(case, nothing_unbound):
    with contextlib.redirect_stdout(io.StringIO()):
        differentiate(case.function, lambda: tuple(case.fresh_args()), tuple(case.argnums))


@pytest.mark.sampled(one_in=16, turn=3)
@pytest.mark.parametrize("kernel", [k for k in KERNELS if not k.outputs], ids=lambda kernel: kernel.name)
def test_texts_of_the_kernels(kernel, nothing_unbound):
    differentiate(kernel.function, kernel.args, kernel.places)
    assert nothing_unbound


def test_a_function_that_makes_one_hands_it_back(nothing_unbound):
    """Its closure is made in the forward sweep, where nothing but the value that is returned reads it."""

    def scaled(a):
        def step(x):
            return 0.5 * (x + a / x)

        return step

    _, pullback = vjp(lambda f, a: f(a)(1.4), scaled, 2.0)
    np.testing.assert_allclose(pullback(1.0)[1], 0.5 / 1.4)
    assert any(f.__name__.endswith("_fwd") for f in nothing_unbound)
