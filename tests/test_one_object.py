"""Which objects names may be: text, question, answer."""

from __future__ import annotations

import gast
import pytest

from s2sgrad.ir.quote import nodes, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.one_object import OneObject


def points(text: str) -> OneObject:
    body = statements(text)
    known = {"sorted": sorted, "sum": sum, "zip": zip}
    unit = Unit(None, None, {n.id for n in nodes(*body) if isinstance(n, gast.Name)} - known.keys())
    unit.helpers |= known
    return OneObject(unit, body)


@pytest.mark.parametrize(("text", "named", "around"), [
    ("a = []\nb = []", "a", ""),
    ("a = []\nb = a\nc = [b]\nd = c", "ab", "cd"),
    ("a = []\nb = [a][0]", "ab", ""),
    ("a = []\nb = [1.0]\nc = {}\nc['k'] = a\nd = c['k']", "ad", "c"),
    ("a = []\nb = []\nc = a if x else b", "ac", ""),
    ("b = []\na = b\nb = []", "ab", ""),  # whenever that is
    ("a = []\nr = (a, 1.0)\nb, c = r", "abc", "r"),
    ("a = p\nb = p[0]", "abp", "bp"),
    ("a = []\nb = sum(a)", "a", ""),
    # a name is what it was bound to last
    ("a = []\nc = a\na = 1.0\nb = a", "abc", ""),
    ("a = []\nw = 1.0\na, w = w, a\nb = a", "abw", ""),
    ("p = []\nif c:\n    p = 1.0\nelse:\n    a = p\nb = p", "abp", ""),
    ("vs = []\nfor k in range(n):\n    a = []\n    u = a\n    u = 2.0\n    vs.append(u)", "au", {"vs"}),
    # what a trip leaves reaches the next one, through however many names
    ("q, b, v = 0.0, 0.0, 0.0\nfor k in range(n):\n    v = b\n    b = q\n    a = []\n    q = a", "abqv", ""),
    ("xs = [1.0]\na = []\nxs += [a]\nb = xs[0]", "ab", {"xs"}),
])  # fmt: skip
def test_which_names_may_be_one_object_and_which_it_may_stand_in(text, named, around):
    found = points(text)
    assert (found.named("a"), found.around("a")) == ({*named}, {*around})
