"""Which objects names may be: text, question, answer."""

from __future__ import annotations

import gast
import pytest

from s2sgrad.analysis.one_object import OneObject
from s2sgrad.ir.quote import nodes, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.references import is_instance, reference


class Vec:
    pass


class Rod:
    pass


EITHER = "u = reference(Vec, 0)\nif c:\n    u = reference(Rod, 0)\n"


def points(text: str) -> OneObject:
    body = statements(text)
    known = {"reference": reference, "is_instance": is_instance, "int": int, "Vec": Vec, "Rod": Rod}
    known |= {"sorted": sorted, "sum": sum, "zip": zip}
    unit = Unit(None, None, {n.id for n in nodes(*body) if isinstance(n, gast.Name)} - known.keys())
    unit.helpers |= known
    return OneObject(unit, body)


@pytest.mark.parametrize(("text", "be", "hold"), [
    ("v = reference(Vec, 0)", {Vec}, set()),
    ("v = [reference(Vec, 0)]", set(), {Vec}),
    ("v = [reference(Vec, 0)][0]", {Vec}, set()),
    ("v = {}\nv['a'] = reference(Vec, 0)", set(), {Vec}),
    ("vs = []\nvs.append(reference(Vec, 0))\nv = vs[1:]", set(), {Vec}),
    ("vs = [reference(Vec, 0)]\nrows = [vs]\nrows[0].append(reference(Rod, 0))\nv = vs[0]", {Vec, Rod}, set()),
    ("vs = [reference(Vec, 0)]\nv = sorted(vs)", set(), {Vec}),
    ("vs = [reference(Vec, 0)]\nv = vs + [1.0]", set(), {Vec}),
    ("v = p if c else reference(Vec, 0)", {Vec}, set()),
    # a name is what it was bound to last
    ("v = reference(Vec, 0)\nv = reference(Rod, 0)", {Rod}, set()),
    ("v = reference(Vec, 0)\nv = 1.0", set(), set()),
    ("v = reference(Vec, 0)\nw = 1.0\nv, w = w, v", set(), set()),
    ("v = 1.0\nw = reference(Vec, 0)\nv, w = w, v", {Vec}, set()),
    ("v = reference(Vec, 0)\nif c:\n    v = reference(Rod, 0)\nelse:\n    w = v", {Vec, Rod}, set()),
    ("u = reference(Vec, 0)\nif c:\n    u = reference(Rod, 0)\nelse:\n    v = u", {Vec}, set()),
    ("if c:\n    p = reference(Vec, 0)\nelse:\n    v = p", set(), set()),  # what `p` is from the beginning
    ("vs = []\nfor k in range(n):\n    u = reference(Vec, k)\n    u = 2.0\n    vs.append(u)\nv = vs[0]", set(), set()),
    # what a trip leaves reaches the next one, through however many names
    ("a, b, v = 0.0, 0.0, 0.0\nfor k in range(n):\n    v = b\n    b = a\n    a = reference(Vec, k)", {Vec}, set()),
    ("v = 1.0\nwhile c:\n    if d:\n        v = reference(Vec, 0)\n        break\n    v = 2.0", {Vec}, set()),
    ("xs = [1.0]\nxs += [reference(Vec, 0)]\nv = xs[0]", {Vec}, set()),
    # a test of its class, while the name and the answer stay as they were
    (EITHER + "t = is_instance(u, Vec)\nif t:\n    v = u\nelse:\n    v = 1.0", {Vec}, set()),
    (EITHER + "t = is_instance(u, (Vec, int))\nif not t:\n    v = u", {Rod}, set()),
    (EITHER + "t = is_instance(u, Vec)\ns = not t\nif s:\n    v = u", {Rod}, set()),
    (EITHER + "t = is_instance(u, Vec)\nif t:\n    w = u\nv = u", {Vec, Rod}, set()),
    (EITHER + "t = is_instance(u, Vec)\nassert t\nv = u", {Vec}, set()),
    (EITHER + "t = is_instance(u, Vec)\nu = reference(Rod, 1)\nif t:\n    v = u", {Rod}, set()),
    (EITHER + "t = is_instance(u, Vec)\nt = d\nif t:\n    v = u", {Vec, Rod}, set()),
    ("t = c\nu = reference(Vec, 0)\nfor k in range(n):\n    if t:\n        v = u\n    u = reference(Rod, k)\n"
     "    t = is_instance(u, Vec)", {Vec, Rod}, set()),
])  # fmt: skip
def test_the_classes_of_what_a_name_may_be_and_hold(text, be, hold):
    found = points(text)
    assert (found.classes("v"), found.classes_inside("v")) == (be, hold)


@pytest.mark.parametrize(("text", "named", "around"), [
    ("a = []\nb = []", "a", ""),
    ("a = []\nb = a\nc = [b]\nd = c", "ab", "cd"),
    ("a = []\nb = [a][0]", "ab", ""),
    ("a = []\nb = [1.0]\nc = {}\nc['k'] = a\nd = c['k']", "ad", "c"),
    ("a = []\nb = []\nc = a if x else b", "ac", ""),
    ("b = []\na = b\nb = []", "ab", ""),  # whenever that is
    ("a = []\nr = (a, 1.0)\nb, c = r", "abc", "r"),
    ("a = p\nb = p[0]", "ap", ""),
    ("a = []\nb = sum(a)", "a", ""),
])  # fmt: skip
def test_which_names_may_be_one_object_and_which_it_may_stand_in(text, named, around):
    found = points(text)
    assert (found.named("a"), found.around("a")) == ({*named}, {*around})
