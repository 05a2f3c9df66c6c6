"""Facts about where control goes: asked of small texts, and compared with every way through random programs."""

from __future__ import annotations

import contextlib
import itertools
import random
import textwrap

import gast
import pytest

from s2sgrad.analysis import effects
from s2sgrad.flow.copies import Copies, copied
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import Graph, binds, bits
from s2sgrad.flow.liveness import Liveness


def parsed(text: str) -> gast.FunctionDef:
    return gast.parse(textwrap.dedent(text).strip()).body[0]


def found(tree: gast.FunctionDef, text: str) -> gast.AST:
    """The statement that is written so (of a compound one the header)."""
    matches = [s for s in effects.walk(tree.body) if gast.unparse(s).splitlines()[0] == text]
    assert len(matches) == 1, text
    return matches[0]


SEARCH = """
    def f(x, n):
        y = x
        while True:
            t = y * x
            if t > n:
                found = t
                break
            y = t
        return found
"""


@pytest.mark.parametrize(
    ("text", "statement", "live"),
    [
        (SEARCH, "y = x", {"x", "y", "n"}),
        (SEARCH, "found = t", {"found"}),  # nothing of the next trip
        (SEARCH, "y = t", {"x", "y", "n"}),
        ("def f(x):\n    for i in x:\n        x = i\n    return x", "x = i", {"x"}),  # what a loop runs over is read once
        ("def f(x):\n    x += x\n    return x", "x += x", {"x"}),
        ("def f(x):\n    x[0] = 1.0\n    return 2.0", "x[0] = 1.0", set()),
        ("def f(x, y):\n    if x:\n        y = x\n        raise x\n    return y", "y = x", {"x"}),  # nothing behind it
    ],
)
def test_liveness(text, statement, live):
    tree = parsed(text)
    assert Facts(tree).liveness.after(found(tree, statement)) == live


def test_liveness_of_some_names():
    tree = parsed(SEARCH)
    live = Liveness(Graph(tree), ["y"])
    assert live.after(found(tree, "y = x")) == {"y"}
    assert live.is_live("y", found(tree, "y = t")) and not live.is_live("x", found(tree, "y = t"))


@pytest.mark.parametrize(
    ("text", "statement", "copies"),
    [
        ("def f(x):\n    y = x\n    z = y\n    return z", "return z", {"y": "x", "z": "x"}),
        ("def f(x):\n    y = x\n    z = y\n    y = 1\n    return z", "return z", {"z": "x"}),
        ("def f(x):\n    y = x\n    z = y\n    x = 1\n    return z", "return z", {"z": "y"}),
        ("def f(x):\n    y = x\n    x = x + 1\n    return y", "return y", {}),
        ("def f(x):\n    y = x\n    y[0] = 1\n    return y", "return y", {}),  # what it holds is changed
        ("def f(x, c):\n    if c:\n        y = x\n    else:\n        y = x\n    return y", "return y", {"y": "x"}),
        ("def f(x, c):\n    if c:\n        y = x\n    else:\n        y = c\n    return y", "return y", {}),
        ("def f(x, c):\n    y = c\n    if c:\n        y = x\n        raise c\n    return y", "return y", {"y": "c"}),
        ("def f(x):\n    y = x\n    for i in x:\n        z = y\n        y = i\n    return y", "z = y", {}),
        ("def f(x):\n    y = x\n    for i in x:\n        z = y\n        y = z * i\n    return y", "y = z * i", {"z": "y"}),
    ],
)
def test_copies(text, statement, copies):
    tree = parsed(text)
    assert Copies(Graph(tree), lambda target, source: True).before(found(tree, statement)) == copies


@pytest.mark.parametrize(
    ("text", "name", "statement", "lines"),
    [
        (SEARCH, "y", "t = y * x", [2, 8]),
        (SEARCH, "t", "return found", [4]),
        (SEARCH, "found", "return found", [6]),
        (SEARCH, "x", "t = y * x", [1]),
        ("def f(x):\n    if x:\n        x = 1.0\n    return x", "x", "return x", [1, 3]),
        ("def f(x):\n    for i in x:\n        pass\n    return i", "i", "return i", [2]),
        ("def f(x):\n    x, y = y, x\n    return x", "x", "return x", [2]),
        ("def f(x):\n    if x:\n        x = 1.0\n        raise x\n    return x", "x", "return x", [1]),
    ],
)
def test_reaching_definitions(text, name, statement, lines):
    tree = parsed(text)
    reaching = Facts(tree).reaching
    line = {}
    for s in effects.walk(tree.body):
        line[reaching.graph.entry[id(s.body)] if isinstance(s, gast.For) else reaching.graph.at[id(s)]] = s.lineno
    reached = [reaching.definitions[k] for k in reaching.reach(name, found(tree, statement))]
    assert all(d.name == name for d in reached)
    assert sorted(line.get(d.point, 1) for d in reached) == lines


def test_lifetimes():
    tree = parsed("""
        def f(x, n):
            for i in range(n):
                t = x * x
                if t > 2.0:
                    u = t
                    x = u
                k = i
            return x + k
    """)
    lives = Facts(tree).lifetimes
    loop = found(tree, "for i in range(n):")
    arm = found(tree, "if t > 2.0:").body
    assert lives.home["t"] == id(loop.body) and lives.home["u"] == id(arm) and lives.home["k"] == lives.root
    assert lives.unbound_reads(found(tree, "return x + k")) == {"k"}
    assert {name for name in lives.home if lives.may_end_unbound(name)} == {"k", "i", "range"}
    assert lives.is_rebound("k", found(tree, "k = i")) and not lives.is_rebound("t", found(tree, "t = x * x"))
    assert id(arm) in lives.repeated and lives.root not in lives.repeated


def test_a_name_is_unbound_at_the_end_of_a_trip_that_a_break_ends():
    tree = parsed("""
        def f(x, n):
            for i in range(n):
                if x > 2.0:
                    break
                t = x * x
                x = t
            return x
    """)
    loop = found(tree, "for i in range(n):")
    lives = Facts(tree).lifetimes
    assert [name for name in lives.locals_of[id(loop.body)] if lives.may_end_unbound(name)] == ["t"]


def test_an_arm_that_raises_goes_on_nowhere():
    tree = parsed("def f(x):\n    if x:\n        while x:\n            x = x - 1\n        raise x\n    return x")
    arms = found(tree, "if x:")
    assert not Facts(tree).graph.goes_on(arms.body) and Facts(tree).graph.goes_on(arms.orelse)


def test_sets_are_integers():
    assert list(bits(0)) == [] and list(bits(0b101001)) == [0, 3, 5]


# --- every way through random programs --------------------------------------------------------------------------------

NAMES = "abcd"


def statement(rng: random.Random, depth: int, looped: bool) -> list[str]:
    """The lines of a random statement; conditions and numbers of trips are left open."""
    compound = ["if", "if", "for", "while"] * (depth < 2)
    kind = rng.choice(["bind"] * 4 + ["swap", "update", "store", "copy", "raise"] + compound + ["break"] * looped)
    a, b, c = (rng.choice(NAMES) for _ in range(3))
    if kind in ("bind", "swap", "update", "store", "copy"):
        other = next(n for n in NAMES if n != a)
        return [{"bind": f"{a} = {b} + {c}", "swap": f"{a}, {other} = {other}, {a}", "update": f"{a} += {b}",
                 "store": f"{a}[0] = {b}", "copy": f"{a} = {b}"}[kind]]  # fmt: skip
    if kind in ("break", "raise"):
        return [f"if {a}:", "    break" if kind == "break" else f"    raise {b}"]
    inner = [line for _ in range(rng.randint(1, 2)) for line in statement(rng, depth + 1, looped or kind != "if")]
    head = {"if": f"if {a}:", "for": f"for {b} in {a}:", "while": f"while {a}:"}[kind]
    lines = [head, *(f"    {line}" for line in inner)]
    if kind == "if" and rng.random() < 0.5:
        lines += ["else:", f"    {rng.choice(NAMES)} = {rng.choice(NAMES)}"]
    return lines


def program(seed: int) -> gast.FunctionDef:
    """A random function of `a` and `b`."""
    rng = random.Random(f"flow {seed}")
    lines = [line for _ in range(rng.randint(2, 3)) for line in statement(rng, 0, False)]
    return parsed("\n".join(["def f(a, b):", *(f"    {line}" for line in lines), f"    return {rng.choice(NAMES)}"]))


class Stop(Exception):
    """A way through the program ends before its return, or takes more decisions than are given."""


def way(tree: gast.FunctionDef, decisions: list[bool]) -> list[tuple[gast.AST, str]]:
    """What one way through the program meets: statements (of compound ones the headers), and for a trip `next`."""
    met: list[tuple[gast.AST, str]] = []
    rest = iter(decisions)

    def decide() -> bool:
        try:
            return next(rest)
        except StopIteration:
            raise Stop from None

    def run(body: list[gast.AST]) -> bool:
        for s in body:
            met.append((s, "whole"))
            if isinstance(s, gast.Break):
                return True
            if isinstance(s, gast.Raise):
                raise Stop
            if isinstance(s, gast.If) and run(s.body if decide() else s.orelse):
                return True
            if isinstance(s, gast.For):
                while decide():
                    met.append((s, "next"))
                    if run(s.body):
                        break
            elif isinstance(s, gast.While):
                while decide():
                    if run(s.body):
                        break
                    met.append((s, "whole"))
        return False

    with contextlib.suppress(Stop):  # as far as it goes
        run(tree.body)
    return met


def bound_by(s: gast.AST, part: str) -> list[str]:
    return ([s.target.id] if part == "next" else []) if isinstance(s, gast.For) else binds(s)


LONGEST = 9


@pytest.mark.parametrize("seed", range(60))
def test_what_every_way_through_a_program_meets(seed):
    tree = program(seed)
    facts = Facts(tree)
    live, reaching, lives = facts.liveness, facts.reaching, facts.lifetimes
    point = {(id(s), "whole"): k for s, k in ((s, live.graph.at[id(s)]) for s in effects.walk(tree.body))}
    point |= {(id(s), "next"): live.graph.entry[id(s.body)] for s in effects.walk(tree.body) if isinstance(s, gast.For)}
    seen_live: dict[int, set[str]] = {}
    seen_reaching: dict[tuple[int, str], set[int]] = {}
    unbound: dict[int, set[str]] = {}
    copies = Copies(live.graph, lambda target, source: True)
    for decisions in itertools.product([False, True], repeat=LONGEST):
        last, met = {"a": 0, "b": 0}, way(tree, list(decisions))
        values: dict[str, object] = {}
        for k, (s, part) in enumerate(met):
            here = point[id(s), part]
            reads = effects.reads(s) if part == "whole" else set()
            for name in reads:
                seen_reaching.setdefault((here, name), set()).update([last[name]] if name in last else [])
            if part == "whole":
                unbound.setdefault(here, set()).update(set(NAMES) - last.keys())
                held = copies.before(s)
                assert all(values.get(a, a) is values.get(b, b) for a, b in held.items()), gast.unparse(s)
            last |= dict.fromkeys(bound_by(s, part), here)
            source = copied(s)[1] if part == "whole" else ""
            values |= {n: values.get(source, source) if source else object() for n in bound_by(s, part)}
            for name in reads:  # live behind whatever comes before it since the last binding
                for before, where in reversed(met[:k]):
                    seen_live.setdefault(point[id(before), where], set()).add(name)
                    if name in bound_by(before, where):
                        break
    for (here, name), definitions in seen_reaching.items():
        assert {reaching.definitions[d].point for d in reaching.reach_point(name, here)} == definitions, name
    for s in effects.walk(tree.body):
        here = live.graph.at[id(s)]
        if here in unbound:
            assert live.after(s) == seen_live.get(here, set()), gast.unparse(s)
            assert not any(lives.is_assigned(n, s) for n in unbound[here] & lives.home.keys()), gast.unparse(s)


def test_the_random_programs_have_all_that_directs_control():
    kinds = {type(s) for seed in range(60) for s in effects.walk(program(seed).body)}
    assert {gast.If, gast.For, gast.While, gast.Break, gast.Raise, gast.AugAssign, gast.Assign, gast.Return} <= kinds


def test_each_statement_has_a_point_and_each_edge_two_ends():
    for seed in range(60):
        tree = program(seed)
        graph = Graph(tree)
        assert graph.at.keys() == {id(s) for s in effects.walk(tree.body)}
        assert all((k in graph.before[target]) for k, after in enumerate(graph.after) for target in after)
        assert graph.before[graph.exit]
