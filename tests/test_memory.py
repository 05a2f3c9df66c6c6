"""Who may share memory, and what a callee does to it: asked of small texts, and compared with programs that run."""

from __future__ import annotations

import collections
import contextlib
import io
import linecache
import textwrap
import types

import gast
import numpy as np
import pytest
from alias_programs import alias_program
from cursor_programs import cursor_program
from judging import copied
from mutation_programs import mutation_program

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.analysis.results import object_kind
from s2sgrad.analysis.trust import Trust
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.driver.attempts import compiling
from s2sgrad.driver.program import Program as Compiler
from s2sgrad.errors import S2SGradError
from s2sgrad.flow.liveness import Liveness
from s2sgrad.ir.quote import clone
from s2sgrad.ir.unit import parameters
from s2sgrad.memory import mod_ref
from s2sgrad.memory.aliases import ARGUMENT, OUTSIDE, Aliases
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.one_object import OneObject
from s2sgrad.memory.stacks import fresh_stacks
from s2sgrad.runtime.traits import Slots, declare


def defined(text: str, name: str = "<memory>") -> types.FunctionType:
    """The function `f` of a text, or the only one."""
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "__name__": "memory", "SHARED": np.ones(3)}
    exec(compile(text, name, "exec"), space)
    functions = [v for v in space.values() if isinstance(v, types.FunctionType)]
    return space.get("f", functions[-1])


def analysed(function, *args):
    """The unit, the normal form of a function and the kinds of its variables, for arguments like these."""
    given = dict(zip(function.__code__.co_varnames, args, strict=False))
    kinds = dict(zip(given, kinds_of(given.values()), strict=True))
    with compiling():
        compiler = Compiler()
        unit, tree = compiler.normal_form(function)
        env = {p.id: kinds.get(p.id, UNKNOWN) for p in parameters(tree)}
        inference = Inference(unit, env, compiler.kind, OneObject, object_kind)
        inference.run(tree)
    return unit, tree, inference.env


def bare(text: str) -> str:
    """Not every version of gast writes a tuple in parentheses."""
    return text.replace("(", "").replace(")", "")


def statement(tree: gast.FunctionDef, text: str) -> gast.AST:
    """The statement that is written so (of a compound one the header)."""
    matches = [s for s in effects.walk(tree.body) if bare(gast.unparse(s).splitlines()[0]) == bare(text)]
    assert len(matches) == 1, gast.unparse(tree)
    return matches[0]


SWAP = """
    def f(x):
        u = x * 2.0
        w = x * 3.0
        v = u[1:]
        u, w = w, u
        return v + u[1:] + w[1:]
"""
REBOUND = """
    def f(x):
        u = x * 2.0
        v = u[1:]
        if v[0] > 1.0:
            v = v * 2.0
        w = v.T
        return w * 2.0
"""
ROUND = """
    def f(x):
        a = x * 2.0
        b = x * 3.0
        for k in range(3):
            b[k] = a[k]
            c = b
            b = a
            a = x + 1.0
        return a * b
"""
HELD = """
    def f(x):
        a = x * 2.0
        p = [a, x]
        q = p
        r = p[0]
        s = list(p)
        return r * 2.0
"""


STOPPED = UnboundLocalError, AttributeError, TypeError, ValueError  # a program that this version of NumPy does not run


@pytest.mark.parametrize(
    ("text", "name", "before", "shared"),
    [
        (SWAP, "v", "u, w = (w, u)", {"u", "v"}),
        (SWAP, "w", "return result", {"v", "w"}),  # what `u` was
        (SWAP, "u", "return result", {"u"}),
        (REBOUND, "w", "return result", {"u", "v", "w"}),  # on one of two ways
        (REBOUND, "x", "return result", {"x", ARGUMENT + "x"}),
        (ROUND, "b", "b = a", {"b", "c"}),
        (ROUND, "a", "a = x + 1.0", {"a", "b"}),
        (ROUND, "a", "return result", {"a"}),  # it is new memory by now, whatever came before
        (ROUND, "c", "return result", {"c"}),
        (HELD, "r", "return result", {"a", "p", "q", "r", "s", "x", ARGUMENT + "x"}),
        (HELD, "a", "return result", {"a", "p", "q", "r", "s"}),  # and not `x`, which is in the same list
        ("def f(x):\n    y = x\n    return y * 2.0", "y", "y = x", {"y"}),
        ("def f(x):\n    y = SHARED\n    return x * y", "y", "return result", {"y", OUTSIDE + "SHARED"}),
        ("def f(x):\n    y = x.copy()\n    z = x[[0, 1]]\n    return y[:2] * z", "x", "return result",
         {"x", ARGUMENT + "x"}),  # copies
    ],
)  # fmt: skip
def test_who_shares_memory(text, name, before, shared):
    unit, tree, kinds = analysed(defined(text), np.ones(3))
    assert Aliases(unit, tree, kinds).memory_of(name, statement(tree, before)) - unit.temps == shared


def test_questions():
    unit, tree, kinds = analysed(defined(HELD), np.ones(3))
    aliases, end = Aliases(unit, tree, kinds), statement(tree, "return result")
    assert aliases.may_alias("q", "r", before=end) and not aliases.may_alias("x", "a", before=end)
    assert aliases.is_fresh("result", before=end) and not aliases.is_fresh("x", before=end)
    assert aliases.seers("p", before=end) == {"p", "q"}  # `s` is a list of its own
    assert not Aliases(unit, tree, kinds, separate={"r"}).may_alias("q", "r", before=end)  # checked when it runs


STACK = """
    def f(x):
        s = []
        for k in range(3):
            s.append(x * k)
        y = s.pop()
        y[0] = 1.0
        return y * 2.0
"""


def test_what_is_taken_off_a_stack_of_new_arrays_is_in_it_no_more():
    unit, tree, kinds = analysed(defined(STACK), np.ones(3))
    end = statement(tree, "return result")
    assert "s" in Aliases(unit, tree, kinds).memory_of("y", end)
    stacks = fresh_stacks(unit, tree, kinds)
    assert stacks == {"s"} and Aliases(unit, tree, kinds, stacks=stacks).is_fresh("y", end)
    assert fresh_stacks(unit, tree, kinds, lasting=True) == set()  # a reverse sweep may read `x * k`


def test_which_stacks_of_a_record_hold_copies_says_who_made_it():
    """Not their names: a list of the user's that is called like a record is in it by reference."""
    text = """
        def f(saved, seed):
            n, y_stack, kept = saved
            for k in range(n):
                y = y_stack.pop()
                z = kept.pop()
                seed = seed * y * z
            return seed
    """
    made = defined(text)
    unit, tree, kinds = analysed(made, (2, [np.ones(2)] * 2, [np.ones(2)] * 2), np.ones(2))
    assert fresh_stacks(unit, tree, kinds) == set()
    declare(made, slots=Slots(frozenset((2,))))
    unit, tree, kinds = analysed(made, (2, [np.ones(2)] * 2, [np.ones(2)] * 2), np.ones(2))
    assert fresh_stacks(unit, tree, kinds) == {"kept"}


def test_memory_over_time():
    unit, tree, kinds = analysed(defined(SWAP.replace("        return", "        w[0] = 1.0\n        return")), np.ones(3))
    memory = Memory(unit, tree, kinds)
    assert memory.at_once_with("u") - unit.temps == {"u", "v"}
    assert memory.with_memory_of("u") - unit.temps == {"u", "v", "w"}
    assert memory.changed(statement(tree, "w[0] = 1.0")) - unit.temps == {"v", "w"}


# --- callees ---


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("def f(y): y[0] = 1.0", {"y"}),
        ("def f(y): z = y[1:]; z += 1.0", {"y"}),
        ("def f(y): z = y * 2.0; z += 1.0; return z", set()),
        ("def f(y): z = [y]; z.append(1.0)", set()),  # a list of its own
        ("def f(y): z = [y]; z[0][0] = 1.0", {"y"}),
        ("def f(ys): z = list(ys); z[0] = 1.0", set()),
        ("def f(ys): z = list(ys); z[0][0] = 1.0", {"ys"}),
        ("def f(y): np.sin(y, out=y)", {"y"}),
        ("def g(y): y.sort()\ndef f(a, b): g(b)", {"b"}),
        ("def f(y, n): return y if n == 0 else f(y, n - 1)", set()),
        ("def f(y, n):\n    if n:\n        f(y[1:], n - 1)\n    y[0] = 1.0", {"y"}),
    ],
)
def test_what_a_callee_writes(text, written):
    with compiling():
        writes = mod_ref.of(defined(text))
    assert writes.arguments == written and not writes.outside


NESTED = ["def g(v): v[0] = 1.0", "g = lambda v: v.fill(1.0)", "def g(v, w=y): w[0] = 1.0", "def g(v): y[0] = 1.0",
          "def h(v): v[0] = 1.0\n    g = h", "def g(v):\n        def h(): v[0] = 1.0\n        h()",
          "def h():\n        yield y\n    def g(v):\n        for w in h(): w[0] = 1.0",
          "def h(): return lambda v: v.fill(1.0)\n    g = h()"]  # fmt: skip
USES = ["g(y)", "g(v=y[1:])", "list(map(g, [y]))", "[g(v) for v in [y]]", "(lambda t: g(t))(y)", "use(g, y)", "k = g; k(y)",
        "d = {'g': g}; d['g'](y)", "[g][0](y[1:])", "z = [y]; g(*z)", "def k(): g(y)\n    k()", "sorted([y], key=g)",
        "def k(f): f(y)\n    k(g)", "k = lambda f, *v: f(*v); k(g, y)"]  # fmt: skip


@pytest.mark.parametrize("nested", NESTED)
def test_what_nested_functions_write(nested):
    for use in USES:
        f = defined(f"def use(f, v): f(v)\ndef f(y):\n    {nested}\n    {use}")
        f(y := np.zeros(3))
        with compiling():
            written = mod_ref.of(f).arguments
        assert y.any() and written & {"y", mod_ref.ANY}, use


@pytest.mark.parametrize("returned", ["g(y)", "[g(y)]", "g", "[g]", "k", "dict(a=g(y))", "next(h())"])
def test_what_nested_functions_return(returned):
    inner = "def g(v): return v[1:]\n    k = lambda: y\n    def h():\n        yield y"
    with compiling():
        assert not mod_ref.returns_new(defined(f"def f(y):\n    {inner}\n    return {returned}"))
        assert not mod_ref.returns_new(defined(f"def f(y):\n    {inner}\n    return {returned}"), held=True)


def test_nested_functions_that_only_compute_write_nothing():
    with compiling():
        writes = mod_ref.of(defined("def f(y):\n    def g(v): return v * y\n    h = lambda v: g(v) + 1.0\n    return h(y)"))
    assert writes == mod_ref.Writes(frozenset(), outside=False)


@pytest.mark.parametrize("store", ["C.n = y", "type(C()).n = y", "C().__class__.n += y", "np.n = y", "g.n = y"])
def test_attributes_of_classes_modules_and_functions_live_outside(store):
    with compiling():
        assert mod_ref.of(defined(f"class C: n = 0\ndef g(): pass\ndef f(y): {store}")).outside


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("def f(y): return y * 2.0", True),
        ("def f(y): return y[1:]", False),
        ("def f(y): return np.asarray(y)", False),
        ("def f(y): return SHARED", False),
        ("def f(y): return [y * 2.0]", False),  # a list
        ("def f(y):\n    z = np.zeros(3)\n    z[:] = y\n    return z", True),
    ],
)
def test_whether_a_callee_returns_new_memory(text, new):
    with compiling():
        assert mod_ref.returns_new(defined(text)) is new


@pytest.mark.parametrize(
    "text, held, written",
    [
        ("def f(saved, seed):\n    return zeros(saved[0])", set(), set()),
        ("def f(saved, seed):\n    return add_at(zeros(saved[0]), saved[1], 2.0 * seed)", set(), set()),
        ("def f(saved, seed):\n    return add(zeros(saved[0]), own(seed))", set(), set()),
        ("def f(saved, seed):\n    return add(f(saved[0], seed * 0.5), f(saved[1], seed * 2.0))", set(), set()),
        ("def f(saved, seed):\n    return add_at(zeros(saved[0]), 1, seed)", {"seed"}, set()),
        ("def f(saved, seed):\n    return add(zeros(saved[0]), seed)", {"seed"}, set()),
        ("def f(saved, seed):\n    return add_at(seed, 0, 1.0)", {"seed"}, {"seed"}),
        ("def f(saved, seed):\n    return unbroadcast(seed, saved[0])", {"seed"}, set()),
    ],
)
def test_what_an_adjoint_returns_shares_no_memory_with_its_record(text, held, written):
    with compiling():
        function = defined(f"from s2sgrad.runtime import add, add_at, own, unbroadcast, zeros\n{text}")
        summary = mod_ref.summary_of(function, {"saved": Trust.DATA, "seed": Trust.DATA})
        assert {place.key for place in summary.returns | summary.holds} == held
        assert {place.key for place in summary.written} == written


def test_an_object_of_which_nothing_is_known_may_do_anything():
    with compiling():
        function = defined("def f(y): y.update(1.0)")
        assert mod_ref.of(function, {"y": Trust.ANY}).outside
        assert mod_ref.of(defined("def f(y, g): g(y)")).outside


# --- programs that run ---


def held(value, depth=0):
    """The arrays and containers that a value is, or holds."""
    if isinstance(value, (np.ndarray, list, dict, collections.deque)):
        yield value
    if depth < 6 and isinstance(value, (list, tuple, dict, collections.deque)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from held(item, depth + 1)


def share(one, other):
    """Whether two values hold a common container, or overlapping arrays."""
    return any(
        np.shares_memory(a, b) if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) else a is b
        for a in one for b in other
    )  # fmt: skip


def watched(tree, statements):
    """A copy of a function that calls `_seen(k, locals())` before its k-th statement."""

    def block(body):
        out = []
        for s in body:
            call = gast.parse(f"_seen({len(statements)}, locals())").body[0]
            statements.append(s)
            if isinstance(s, (gast.If, gast.For, gast.While)):
                inner, s = s, clone(s)
                s.body, s.orelse = block(inner.body), block(inner.orelse)
            out += [call, s]
        return out

    made = clone(tree)
    made.body = block(tree.body)
    return made


@pytest.mark.parametrize("maker", [alias_program, cursor_program, mutation_program])
def test_names_that_share_memory_in_a_run_are_known_to(maker):
    """Of programs that have a normal form; at least a quarter of them have one."""
    assert sum(are_known_to_share(maker, 40_000 + seed) for seed in range(25)) > 6


def are_known_to_share(maker, seed):
    """Run a random program and compare what shares memory with what is known to; whether it has a normal form."""
    program = maker(seed)
    function, args = defined(program.source, f"<{maker.__name__} {seed}>"), copied(program.args)
    try:
        unit, tree, kinds = analysed(function, *args)
    except S2SGradError:
        return False
    aliases = Aliases(unit, tree, kinds, stacks=fresh_stacks(unit, tree, kinds))
    live, statements, missing = Liveness(aliases.graph), [], []
    given = {p.id: list(held(a)) for p, a in zip(parameters(tree), args, strict=False)}

    def seen(k, variables):
        s = statements[k]
        here = live.names.decoded(live.before_point[aliases.graph.at[id(s)]]) & unit.locals
        values = {n: list(held(v)) for n, v in variables.items() if n in here}
        others = values | {ARGUMENT + p: found for p, found in given.items()}
        for name, found in values.items():
            known = aliases.memory_of(name, s) if found else set()
            missing.extend((name, n, gast.unparse(s)) for n in others if n not in known | {name} and share(found, others[n]))

    space = {**function.__globals__, **unit.helpers, "_seen": seen}
    exec(emit.function(watched(tree, statements)), space)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(*STOPPED):
        space[tree.name](*args)
    assert missing == [], program.source
    return True
