"""Every stage is a function that runs: up to the transform it gives the value, and from there on the gradient."""

import contextlib
import inspect
import io
import linecache

import numpy as np
import pytest
from corpus import CASES, REFUSED_IN_A_BRANCH
from differences import leaves

from s2sgrad import emit
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.driver import load
from s2sgrad.driver.attempts import compiling
from s2sgrad.driver.emitted import Emitted
from s2sgrad.driver.options import Options
from s2sgrad.driver.pipeline import NORMALIZE
from s2sgrad.driver.program import Program
from s2sgrad.ir.quote import nodes
from s2sgrad.transform import parts

READING = {"reading", *(stage.name for stage in NORMALIZE)}
PLAIN = [case for case in CASES if "*" not in str(inspect.signature(case.function)) and case.name not in REFUSED_IN_A_BRANCH]


# Whether `d[k] += e` writes an array or binds a number, and whether an array that is written stands in a container twice, is
# known when the kinds are, and settled with the aliases.
ITEMS_SETTLED_LATER = [
    "update_of_an_item_seen_by_another_name",
    "product_of_an_item_seen_by_another_name",
    "whole_updated_beside_its_parts_from_a_helper",
    "last_item_of_a_mixed_list_is_updated",
    "array_updated_in_a_dict_of_one_of_two_objects",
    "update_of_an_item_within_an_item",
    "item_exchanged_with_a_name",
    "put_into_a_list_in_a_tuple",
    "items_of_dicts_in_the_text",
    "items_that_take_turns",
]


def shown(stage, c):
    """The text of a stage; of a statement that the normal form is free of, the reader has no text."""
    return "" if stage == "reading" else emit.function(parts.plain(c.tree, c.kinds) if c.inference else c.tree)


def require_distinct(stage, tree):
    """A node that stood in two places would be renamed in both; the tree is copied when it is in normal form."""
    found = [] if stage in READING else list(map(id, nodes(tree)))
    assert len(set(found)) == len(found), f"a node stands in two places after {stage}"


class Here:
    """The functions of a text that is instantiated once, over the very functions that it was written for."""

    def __init__(self):
        self.functions = []

    def place(self, function):
        self.functions.append(getattr(function, "__func__", function))
        return len(self.functions) - 1

    def known(self, function):
        return None

    def helper(self, value):
        return None


@pytest.mark.sampled(one_in=144, turn=1)
@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_every_stage_gives_the_same_gradient(case):
    stages = []
    bound = inspect.signature(case.function).bind(*case.fresh_args())
    bound.apply_defaults()
    kinds = dict(zip(bound.arguments, kinds_of(bound.arguments.values()), strict=True))
    wrt = tuple(list(bound.arguments)[k] for k in case.argnums)
    with compiling():

        def observer(stage, c):
            require_distinct(stage, c.tree)
            stages.append((stage, c.unit, dict(c.unit.helpers), shown(stage, c)))

        program = Program(observer=observer)
        entry = program.gradient(case.function, kinds, wrt, Options(several=True))
        world = Here()
        made = load.plan_of(program, entry.name, world).made(world.functions)
    functions = {id(emitted): function for emitted, function in zip(program.functions, made, strict=True)}
    final = functions[id(entry)]
    (seed,) = entry.defaults
    with contextlib.redirect_stdout(io.StringIO()):
        gradient = list(leaves(final(*case.fresh_args())))
        expected, given = list(leaves(case.function(*case.fresh_args()))), {}
        seen, early = 0, True
        for stage, unit, reached, text in stages:
            if unit is not entry.unit or f"def {case.function.__name__}" not in text:
                continue
            early = early and stage != "rebind_markers"
            if case.name in ITEMS_SETTLED_LATER and early:
                continue
            if stage == "reverse":
                expected, given = gradient, {seed: entry.defaults[seed]}
            helpers = {n: functions[id(v)] if isinstance(v, Emitted) else v for n, v in reached.items()}
            closed = dict(zip(case.function.__code__.co_freevars, case.function.__closure__ or (), strict=True))
            space = {**case.function.__globals__, **{n: c.cell_contents for n, c in closed.items()}, **helpers}
            filename = f"<{case.name} {seen}>"
            linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)  # for `grad` within
            exec(compile(text, filename, "exec"), space)
            staged = next(v for n, v in space.items() if inspect.isfunction(v) and v.__code__.co_filename == filename)
            got = list(leaves(staged(*case.fresh_args(), **given)))
            assert len(got) == len(expected), stage
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=stage)
            seen += 1
    assert seen >= 20
