"""Every stage of a gradient is a function that runs: after each clean-up pass it gives the gradient of the last one."""

import contextlib
import inspect
import io

import numpy as np
import pytest
from corpus import CASES
from differences import leaves

from s2sgrad import emit
from s2sgrad.analysis.kinds import kinds_of
from s2sgrad.driver import load
from s2sgrad.driver.compiled import compiling
from s2sgrad.driver.options import Options
from s2sgrad.driver.program import Emitted, Program

PLAIN = [case for case in CASES if "*" not in str(inspect.signature(case.function))]


@pytest.mark.sampled(one_in=12, turn=1)
@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_every_stage_gives_the_same_gradient(case):
    stages = []
    bound = inspect.signature(case.function).bind(*case.fresh_args())
    bound.apply_defaults()
    kinds = dict(zip(bound.arguments, kinds_of(bound.arguments.values()), strict=True))
    wrt = tuple(list(bound.arguments)[k] for k in case.argnums)
    with compiling():
        observer = lambda stage, unit, tree: stages.append((stage, unit, dict(unit.helpers), emit.function(tree)))  # noqa: E731
        program = Program(observer=observer)
        entry = program.gradient(case.function, kinds, wrt, Options(several=True))
        functions, _ = load.load_all(program, entry)
    final = functions[id(entry)]
    (seed,) = entry.defaults
    with contextlib.redirect_stdout(io.StringIO()):
        expected = list(leaves(final(*case.fresh_args())))
        seen = 0
        for stage, unit, reached, text in stages:
            if unit is not entry.unit or f"def {case.function.__name__}" not in text:
                continue
            helpers = {n: functions[id(v)] if isinstance(v, Emitted) else v for n, v in reached.items()}
            closed = dict(zip(case.function.__code__.co_freevars, case.function.__closure__ or (), strict=True))
            space = {**case.function.__globals__, **{n: c.cell_contents for n, c in closed.items()}, **helpers}
            exec(text, space)
            staged = next(v for n, v in space.items() if inspect.isfunction(v) and v.__code__.co_filename == "<string>")
            got = list(leaves(staged(*case.fresh_args(), **{seed: entry.defaults[seed]})))
            assert len(got) == len(expected), stage
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=stage)
            seen += 1
    assert seen >= 5
