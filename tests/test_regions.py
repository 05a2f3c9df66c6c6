"""Sections of arrays in loops: text, question, answer."""

from __future__ import annotations

import gast
import pytest

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Number
from s2sgrad.flow.graph import Graph
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import expression, nodes, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.regions.disjointness import Indices
from s2sgrad.regions.later_trips import Sections
from s2sgrad.regions.loops import direction_of, least_of
from s2sgrad.regions.trip_counts import Sizes

NUMBERS = ("i", "j", "k", "n", "m")


class Alone:
    """A memory in which each name stands for an array of its own."""

    written = frozenset()

    def with_memory_of(self, name):
        return frozenset([name])

    at_once_with = with_memory_of


def compiled(text: str) -> tuple[Unit, gast.FunctionDef]:
    tree = gast.parse("def f(a, n, m):\n" + "".join(f"    {line}\n" for line in text.splitlines())).body[0]
    unit = Unit(None, None, {n.id for n in nodes(tree) if isinstance(n, gast.Name)} - {"range", "reversed"})
    unit.helpers |= {"range": range, "reversed": reversed}
    unit.kinds.update({n: Number(int) for n in NUMBERS}, a=Array("float64", (None, None)))
    unit.memory = Alone()
    return unit, tree


def loops_in(tree):
    return [s for s in effects.walk(tree.body) if isinstance(s, gast.For)]


@pytest.mark.parametrize("head, least, direction", [
    ("range(n)", 0, 1),
    ("range(2, n)", 2, 1),
    ("reversed(range(1, n))", 1, -1),
    ("range(n, 0, -1)", 1, -1),
    ("range(n, m)", None, 1),
    ("range(0, n, k)", None, None),
    ("a", None, None),
])  # fmt: skip
def test_the_variable_of_a_loop(head, least, direction):
    unit, tree = compiled(f"for i in {head}:\n    a[i] = 0.0")
    (loop,) = loops_in(tree)
    assert (least_of(unit, loop), direction_of(unit, loop)) == (least, direction)


@pytest.mark.parametrize("head, one, other, apart", [
    ("range(1, n)", "a[i]", "a[i - 1]", True),
    ("range(n)", "a[i]", "a[i - 1]", False),  # -1 is the last one
    ("range(n)", "a[i]", "a[i]", False),
    ("range(n)", "a[i]", "a[i + 1]", True),
    ("range(n)", "a[:i]", "a[i]", True),
    ("range(n)", "a[:i + 1]", "a[i]", False),
    ("range(n)", "a[i + 1:, i]", "a[:, i]", False),
    ("range(n)", "a[i + 1:, i + 1:]", "a[i + 1:, i]", True),
    ("range(1, n)", "a[0]", "a[i]", True),
    ("range(n)", "a[0]", "a[i]", False),
    ("range(1, n)", "a[:1]", "a[i:]", True),
    ("range(n)", "a[i::2]", "a[:i]", False),
    ("range(n)", "a[i]", "a[m]", False),
])  # fmt: skip
def test_two_sections_in_one_trip(head, one, other, apart):
    unit, tree = compiled(f"for i in {head}:\n    a[i] = 0.0")
    one, other = (parts_of(expression(text).slice) for text in (one, other))
    assert Indices(unit, tree.body, unit.kinds).apart(one, other, loops_in(tree)) is apart
    assert Indices(unit, tree.body, unit.kinds).apart(other, one, loops_in(tree)) is apart


@pytest.mark.parametrize("head, apart", [("range(i)", True), ("range(i + 1)", False), ("range(m, i)", False)])
def test_a_section_that_an_inner_loop_reads(head, apart):
    unit, tree = compiled(f"for i in range(n):\n    for j in {head}:\n        k = a[j]")
    outer, inner = loops_in(tree)
    one, other = (parts_of(expression(text).slice) for text in ("a[i]", "a[j]"))
    assert Indices(unit, tree.body, unit.kinds).apart(one, other, [outer], inner=[inner]) is apart


@pytest.mark.parametrize("text, spared", [
    ("for i in reversed(range(1, n)):\n    a[i] = m\n    k = a[i - 1]", True),
    ("for i in reversed(range(1, n)):\n    a[i] = m\n    k = a[i]", False),
    ("for i in reversed(range(1, n)):\n    k = a[i]\n    a[i] = m", True),
    ("for i in range(1, n):\n    a[i] = m\n    k = a[i - 1]", False),  # the next trip's
    ("for i in range(1, n):\n    a[i] = m\n    k = a[i + 1]", True),
    ("for i in reversed(range(n)):\n    a[i] = m\n    k = a[i - 1]", False),  # of the last trip a[-1]
    ("for i in reversed(range(n)):\n    a[i] = m\n    k = a[:i]", True),
    ("for i in reversed(range(n)):\n    a[i] = m\n    k = a[:i + 1]", False),
    ("for i in reversed(range(n)):\n    a[i:i + 2] = m\n    k = a[:i]", True),
    ("for i in range(n):\n    a[:i + 1] = m\n    k = a[i:]", False),
    ("for i in range(n):\n    a[:i + 1] = m\n    k = a[i + 1:]", True),
    ("for i in reversed(range(n)):\n    a[i] = m\n    for j in range(i):\n        k = a[j]", True),
    ("for i in reversed(range(n)):\n    a[i] = m\n    for j in range(n):\n        k = a[j]", False),
    ("for i in reversed(range(n)):\n    a[i] = m\n    k = a", False),
])  # fmt: skip
def test_a_store_that_no_later_read_meets(text, spared):
    unit, tree = compiled(text)
    (store,) = (s for s in effects.walk(tree.body) if effects.stored(s) is not None)
    assert (id(store) in Sections(unit, tree, Graph(tree)).spare(loops_in(tree)[0])) is spared


@pytest.mark.parametrize("heads, index, covered", [
    (["range(n)"], "a[i]", False),
    (["range(n)", "range(m)"], "a[i, j]", True),
    (["range(1, n)", "range(m - 2)"], "a[i, j]", True),
    (["range(n)", "range(n)"], "a[i, j]", False),
])  # fmt: skip
def test_a_loop_that_covers_an_array(heads, index, covered):
    lines = [f"{'    ' * k}for {'ij'[k]} in {head}:" for k, head in enumerate(heads)]
    unit, tree = compiled("\n".join(["b = np.zeros((n, m))", *lines, f"{'    ' * len(heads)}k = {index}"]))
    sizes = Sizes(unit, tree)
    lengths = [sizes.axis(dim) for dim in unit.kinds["a"].dims]
    assert lengths == [None, None]
    sizes.axis = lambda dim: sizes.atom(expression(dim))
    trips = []
    for loop in loops_in(tree):
        trips.append(sizes.trip(loop, trips))
    (read,) = (s for s in statements(index))
    assert sizes.cover(trips, Array("float64", ("n", "m")), parts_of(read.value.slice)) is covered
