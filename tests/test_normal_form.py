"""The normal form holds after every pass that works on it, for every function of the corpus."""

from __future__ import annotations

import contextlib
import inspect
import textwrap
from typing import Any

import gast
import pytest
from corpus import CASES, REFUSED_IN_A_BRANCH
from iterator_programs import iterator_program
from judging import loaded
from mutation_programs import mutation_program
from programs import program_from_seed

from s2sgrad import grad
from s2sgrad.analysis import effects
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.driver.attempts import compiling
from s2sgrad.driver.options import Options
from s2sgrad.driver.pipeline import CLEANUP, FINISH, NORMALIZE, normalizing
from s2sgrad.driver.program import Program
from s2sgrad.errors import NoRule, Unsupported
from s2sgrad.ir import notes
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING
from s2sgrad.memory.stacks import local_stacks, operations
from s2sgrad.normalize.verifier import problems
from s2sgrad.source import read
from s2sgrad.source.files import file_of, text_of
from s2sgrad.source.finding import find
from s2sgrad.source.reading import _converted

MADE = [name for name, *_ in NORMALIZE].index("deletes")  # before it the form is on its way
BEFORE = ["reading", *[name for name, *_ in NORMALIZE[:MADE]]]
RENAMED = [name for name, *_ in FINISH[[name for name, *_ in FINISH].index("coalesce") :]]  # under their final names
PLAIN = [case for case in CASES if "*" not in str(inspect.signature(case.function)) and case.name not in REFUSED_IN_A_BRANCH]
PRINTED = [  # as the user wrote it: no normal form
    "try_statements", "with_statements", "global_names", "attribute_writeback", "watches",
]  # fmt: skip


def unknown(unit, tree) -> set[str]:
    """The names that a function reads and that stand for nothing."""
    read_ = {n.id: n for s in effects.walk(tree.body) for n in effects.loads(effects.header(s))}
    return {n for n, node in read_.items() if n not in unit.locals and unit.resolve(node) is MISSING}


def unpaired(unit, tree) -> set[str]:
    """The stacks of records on which something is put and nothing taken off, or the other way round."""
    stacks = local_stacks(unit, tree)
    pushed, popped = set(), set()
    for statement in effects.walk(tree.body):
        for call, stack in operations(unit, effects.header(statement)):
            given = len(call.args) - isinstance(call.func, gast.Name)  # append(x) and push(s, x); pop() and pop(s)
            (pushed if given else popped).add(stack)
    return (pushed ^ popped) & stacks & set(unit.derivative.stack_bases)


def shared(tree) -> list[str]:
    """The nodes that stand in two places: whoever changes one changes both."""
    seen: set[int] = set()
    return [gast.dump(n) for n in nodes(tree) if n._fields and (id(n) in seen or seen.add(id(n)))]


NOTES = {n.attribute for n in vars(notes).values() if isinstance(n, notes.Note)} | {*notes.PLACED, "ctx"}


def undeclared(tree) -> set[str]:
    """What stands on nodes that neither Python's grammar nor `ir.notes` has."""
    return {a for n in nodes(tree) for a in n.__dict__.keys() - NOTES - {*n._fields, *n._attributes}}


def unnoted(unit, tree) -> list[str]:
    """The statements of which facts are kept that say something else now."""
    statements = [] if unit.kept is None else [*effects.walk(tree.body)]
    dumped = ((unit.kept.of(s), gast.dump(effects.header(s))) for s in statements)
    return [text for known, text in dumped if known.setdefault("text", text) != text]


def changed(primals) -> list[str]:
    """The functions whose trees, which all readers share, are no longer what their files say."""
    out = []
    for primal in primals:
        code = primal.function.__code__
        if code.co_filename == primal.file:  # otherwise a variant that was made of the user's
            again = _converted(find(file_of(primal.file, text_of(primal.function)), code), [])
            same = gast.dump(primal.tree, include_attributes=True) == gast.dump(again, include_attributes=True)
            out += [] if same else [primal.tree.name]
    return out


def checked(function, arguments, argnums) -> set[str]:
    """Compile a gradient, and look at the tree after every pass; the passes that were met."""
    bound = inspect.signature(function).bind(*arguments)
    bound.apply_defaults()
    kinds = dict(zip(bound.arguments, kinds_of(bound.arguments.values()), strict=True))
    seen: set[str] = set()
    first: dict[int, tuple[Any, set[str]]] = {}

    def observer(stage, c):
        unit, tree = c.unit, c.tree
        seen.add(stage)
        if stage in BEFORE and id(unit) not in first:
            return
        if stage not in PRINTED:
            assert problems(tree, None if stage in RENAMED else unit.locals) == [], stage
        if stage not in RENAMED:
            nothing = unknown(unit, tree)
            assert nothing <= first.setdefault(id(unit), (unit, nothing))[1], stage
        assert unnoted(unit, tree) == [] and undeclared(tree) == set(), stage
        if stage == CLEANUP[-1][0]:
            assert unpaired(unit, tree) == set() and shared(tree) == [], stage

    with compiling():
        wrt = tuple(list(bound.arguments)[k] for k in argnums)
        program = Program(observer=observer)
        program.gradient(function, kinds, wrt, Options(several=True))
    assert changed(program._made.primals.values()) == []
    return seen


@pytest.mark.sampled(one_in=120, turn=4)
@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_the_normal_form_holds_after_every_pass(case):
    *_, (_, unit, tree) = normalizing(read(case.function))
    assert problems(tree, unit.locals) == []
    settled = {"webs", "known_checks", "alias_elimination", "legality", "reverse", CLEANUP[-1][0], "branches"}
    assert settled <= checked(case.function, case.fresh_args(), case.argnums)


@pytest.mark.sampled(one_in=300, turn=5)
@pytest.mark.parametrize("case", [case for case in PLAIN if case.second is True], ids=lambda case: case.name)
def test_the_normal_form_holds_for_what_is_generated(case):
    number = case.argnums[0]
    generated = grad(case.function, number).to_be_differentiated().generated_for(case.fresh_args(), {})
    assert {"alias_elimination", "reverse", "branches"} <= checked(generated, case.fresh_args(), (number,))


@pytest.mark.sampled(one_in=60, turn=1)
@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("maker", [mutation_program, program_from_seed, iterator_program], ids=lambda maker: maker.__name__)
def test_the_normal_form_holds_for_random_programs(maker, seed):
    program = maker(seed)
    with loaded(program.source, f"<{maker.__name__} {seed}>") as function, contextlib.suppress(Unsupported, NoRule):
        checked(function, program.args, program.argnums)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    x = y = 1.0\n    return x", "an assignment to several targets"),
        ("def f(x):\n    for i in x:\n        pass\n    return x", "a loop over something else than a range"),
        ("def f(x):\n    while x:\n        x = 1\n    else:\n        x = 2\n    return x", "a loop with an `else`"),
        ("def f(x):\n    with x:\n        x = 1\n    return x", "a statement of class With"),
        ("def f(x):\n    del x\n    return x", "a statement of class Delete"),
        ("def f(x):\n    if x:\n        return x\n    return x", "a `return` that does not end the function"),
        ("def f(x):\n    x = 1", "a function that does not end with `return`"),
        ("def f(x):\n    z = 1\n    return x", "`z` is bound and not local"),
        ("def f(x):\n    x = w\n    return x", "`w` is read and stands for nothing"),
    ],
)
def test_what_is_not_in_normal_form_is_found(text, expected):
    tree = gast.parse(textwrap.dedent(text)).body[0]
    assert any(p.endswith(expected) for p in problems(tree, {"x", "i", "y"}, {"range"}))


def test_a_statement_that_stands_in_two_places_is_found():
    tree = gast.parse("def f(x):\n    x = x\n    return x").body[0]
    tree.body.insert(0, tree.body[0])
    assert [p for p in problems(tree) if "two places" in p]
    tree.body.insert(0, gast.Break())
    assert [p for p in problems(tree) if "outside of a loop" in p]
