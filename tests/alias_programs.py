"""Random helpers that alias, wrap, unwrap and write: what a caller's array is after a call is hard to see from its text.

`alias_program(seed)` writes the same program again.  A helper is given an array or a list, dict, tuple or object of arrays,
passes it through names, containers, functions and methods that have the names of others (`mean`, `copy`, `array`), and
writes what comes out, or does not.  The differentiated function reads the array afterwards; a gradient is right or refused.
"""

from __future__ import annotations

import random

from programs import NUMBER, Program, draw_arguments

VECTOR = (4,)

# What a helper may do with an array {v}: a value that is the array, a view of it, or a copy.
SAME = """
    {v}|{v}[:]|{v}[1:]|np.asarray({v})|np.asanyarray({v})|np.atleast_1d({v})|np.ravel({v})|{v}.ravel()|{v}.reshape(4)|{v}.view()
    np.require({v})|np.squeeze({v})|np.real({v})|{v}.T|{v}.real|np.nan_to_num({v}, copy=False)|np.array({v}, copy=None)
    {v}.astype(float, copy=False)|{v}.squeeze()|np.frombuffer({v})|np.ndarray((4,), buffer={v})|np.ma.asarray({v})
    np.lib.stride_tricks.as_strided({v}, (3,), (8,))|np.broadcast_arrays({v}, {v})[0]|np.split({v}, 2)[0]|{v}.conj()
    mean({v})|array({v})|OBJ.copy({v})|OBJ.sum({v})|SPACE.copy({v})|SPACE.dot({v}, 1.0)|max([{v}], key=len)|next(iter([{v}]))
    [{v}, 1.0].__getitem__(0)|operator.getitem([{v}], 0)|getattr([{v}], '__getitem__')(0)|functools.partial(mean, {v})()
    pick([{v}, {v}], 1)|({v} if len({v}) > 1 else None)|sum([[{v}]], [])[0]|{{'a': {v}}}.get('a')|{{'a': {v}}}.pop('a')
    list(map(mean, [{v}]))[0]|functools.reduce(first, [{v}, 2.0])|(lambda q: q)({v})|np.float64({v})|copy.copy([{v}])[0]
    {v}.copy()|{v} * 1.0|np.array({v})|np.copy({v})|{v}[[0, 1, 2, 3]]|np.sin({v})|{v} + 0.0|np.zeros_like({v})|fresh({v})
    TOOLS.same({v})|NET.same({v})|types.SimpleNamespace(a={v}, k=2.0).a|
    float({v}[0]) * np.ones(4)|SPACE.zeros({v})|copy.deepcopy({v})|sum([{v}])|{v}.astype(float)|np.concatenate([{v}])
"""
# A container that holds {v}, with the way to reach it again.
WRAPPED = """
    [{v}]#{w}[0]|({v}, 1.0)#{w}[0]|{{'a': {v}}}#{w}['a']|dict(a={v})#{w}['a']|[1.0, {v}]#{w}[-1]|[[{v}]]#{w}[0][0]
    [{v}, {v}]#{w}[1]|list(({v},))#{w}[0]|[q for q in [{v}]]#{w}[0]|[0.0] + [{v}]#{w}[1]|[{v}] * 2#{w}[1]
    [{v}].copy()#{w}[0]|sorted([{v}], key=len)#{w}[0]|[*[{v}]]#{w}[0]|{{**{{'a': {v}}}}}#{w}['a']|tuple([{v}])#{w}[0]
    list(zip([{v}]))#{w}[0][0]|list(enumerate([{v}]))#{w}[0][1]|list({{'a': {v}}}.values())#{w}[0]
    list({{'a': {v}}}.items())#{w}[0][1]|[{v}][:]#{w}[0]|list(reversed([{v}]))#{w}[0]|Pair({v}, 1.0)#{w}.left
    Box({v})#{w}.a|Box([{v}])#{w}.a[0]|Slots({v})#{w}.a|Row([{v}])#{w}[0]|types.SimpleNamespace(a={v})#{w}.a
    collections.deque([{v}])#{w}[0]|copy.copy([{v}])#{w}[0]|dict(enumerate([{v}]))#{w}[0]|wrap({v})#{w}[0]
    list(map(mean, [{v}]))#{w}[0]|list(filter(len, [{v}]))#{w}[0]|list(itertools.chain([{v}]))#{w}[0]
    dict.fromkeys([0], {v})#{w}[0]|[{v}].__add__([1.0])#{w}[0]|Shelf({v})#{w}[0]|Shelf({v})#{w}.first|Drawer(a={v})#{w}['a']
"""
WRITES = """
    {z}[0] = {k}|{z}[1:] *= {k}|{z} *= {k}|{z} += {k}|{z}[:] = {k}|{z}.fill({k})|np.copyto({z}, {k})|np.put({z}, [0], {k})
    np.multiply({z}, {k}, out={z})|np.add.at({z}, [0], {k})|np.clip({z}, 0.1, 1.2, {z})|{z}.sort()|{z}.itemset and None
    operator.setitem({z}, 0, {k})|np.place({z}, {z} > 0.5, [0.4])|np.cumsum({z}, 0, None, {z})|{z}.__setitem__(0, {k})
    operator.imul({z}, {k})|np.ndarray.fill({z}, {k})|np.random.default_rng(0).shuffle({z})|OBJ.put({z}, {k})|put({z}, {k})
    TOOLS.put({z}, {k})|NET.put({z}, {k})
    list(map(lambda q: put(q, {k}), [{z}]))|np.sin({z}, {z})|{z}.clip(0.1, 1.2, {z})|np.putmask({z}, {z} > 0.5, 0.4)
"""
IN_CONTAINER = """
    {w}[{i}] /= 2|{w}[{i}] *= {k}|{w}[{i}] = {w}[{i}] * {k}|{w}[{i}][0] = {k}|{w}[{i}].fill({k})|{w}[{i}][1:] += {k}
"""
SHELLS = ["list(v)", "v[:]", "v.copy()", "[*v]", "v + [v[0]]", "sorted(v, key=len)", "tuple(v)"]  # of a list
READS = """
    np.sum({z})|{z}.sum()|float({z}[0])|len({z})|np.mean({z} * {z})|{z}[0] * 2.0|{z}.mean()|OBJ.mean({z})
    (2.0 if {z} is v else 1.0)|(2.0 if {z} is v[0] else 1.0)|(2.0 if id({z}) == id(v) else 1.0)
"""
FIXED = """import collections
import copy
import functools
import itertools
import operator
import types

import numpy as np

Pair = collections.namedtuple("Pair", "left right")


class Box:
    def __init__(self, a):
        self.a = a


class Slots:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Row(list):
    def copy(self):
        return self


class Drawer(dict):
    def a(self):
        return self


class Shelf:
    def __init__(self, a):
        self.held = [a]

    def __getitem__(self, k):
        return self.held[k]

    def __setitem__(self, k, a):
        self.held[k] = a

    @property
    def first(self):
        return self.held[0]

    @first.setter
    def first(self, a):
        self.held = [a]


class Hostile:
    def copy(self, v):
        return v

    def sum(self, v):
        return v[:]

    def mean(self, v):
        return np.mean(v)

    def put(self, v, k):
        v[0] = k


OBJ = Hostile()
SPACE = types.SimpleNamespace(copy=lambda v: v, dot=lambda v, k: v, zeros=lambda v: np.zeros(4))


def mean(v):
    return v


def array(v):
    return v


def pick(rows, k):
    return rows[k]


def first(v, w):
    return v


def fresh(v):
    out = np.zeros(4)
    out[:] = v
    return out


def wrap(v):
    return [v, v * 2.0]


def put(v, k):
    v[0] = k


class Net:
    def __init__(self, same, put):
        self.same, self.put = same, put


Tools = collections.namedtuple("Tools", "same put")
TOOLS, NET = Tools(mean, put), Net(array, put)"""


def _parts(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|") if part.strip()]


SAME, WRAPPED, WRITES, IN_CONTAINER, READS = map(_parts, (SAME, WRAPPED, WRITES, IN_CONTAINER, READS))


def alias_program(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(f"alias {seed}")
    features: set[str] = set()
    helpers = [_helper(rng, name, features) for name in ("go", "at")[: rng.randint(1, 2)]]
    lines = ["def f(x, c):", "    a = x * 1.5", "    b = x + c", "    n = 1.0"]
    for name, takes in [(name, takes) for _, name, takes in helpers]:
        value = rng.choice(["a", "b", "a", "a[:]", "a.copy()"])
        given = {"array": value, "list": f"[{value}, b]", "tuple": f"({value}, 2.0)", "dict": f"{{'u': {value}}}"}[takes]
        if rng.random() < 0.3:
            lines.append(f"    held = {given}")
            given = "held"
        call = f"{name}({given}, {rng.choice(['0.7', 'c', 'b[1]'])})"
        lines.append(rng.choice([f"    n += {call}", f"    {call}", f"    q = {call}", f"    n = n * {call}"]))
    lines.append("    return n * np.sum(a * a * b) + np.sum(b * np.array([1.0, 0.5, 2.0, 1.5]))")
    source = "\n\n\n".join([FIXED, *(text for text, _, _ in helpers), "\n".join(lines)]) + "\n"
    kinds = (VECTOR, NUMBER)
    return Program(source, draw_arguments(rng, kinds, digits=5), frozenset(features), seed, kinds, "alias_program")


def _helper(rng: random.Random, name: str, features: set[str]) -> tuple[str, str, str]:
    """The text of a helper, its name, and what it takes."""
    takes = rng.choice(["array", "array", "list", "tuple", "dict"])
    lines = [f"def {name}(v, k):"]
    now = {"array": "v", "list": "v[0]", "tuple": "v[0]", "dict": "v['u']"}[takes]
    if takes == "list" and rng.random() < 0.3:
        features.add("shell of the argument")
        lines.append(f"    w = {rng.choice(SHELLS)}")
        lines.append(f"    {rng.choice(IN_CONTAINER).format(w='w', i='0', k='k')}")
        now = "w[0]"
    for depth in range(rng.randint(1, 3)):
        step = rng.random()
        if step < 0.45:
            text = rng.choice(SAME)
            lines.append(f"    z{depth} = {text.format(v=now)}")
            now = f"z{depth}"
        elif step < 0.85:
            text = rng.choice(WRAPPED)
            made, way = text.split("#")
            lines.append(f"    w{depth} = {made.format(v=now)}")
            now = way.format(w=f"w{depth}")
        else:
            text = rng.choice(["for", "unpacked", "walrus"])
            lines += {
                "for": [f"    for z{depth} in [{now}]:", "        pass"],
                "unpacked": [f"    z{depth}, _ = {now}, 1.0"],
                "walrus": [f"    if (z{depth} := {now}) is None:", "        pass"],
            }[text]
            now = f"z{depth}"
        features.add(text)
    if rng.random() < 0.75:
        if not now.isidentifier() and rng.random() < 0.5:
            lines.append(f"    {now} {rng.choice(['*=', '+=', '/='])} 1.5")
        else:
            text = rng.choice(WRITES)
            features.add(text)
            lines.append(f"    z = {now}")
            lines.append("    " + text.format(z="z", k=rng.choice(["k", "0.3", "2.0"])))
            now = "z"
    lines.append("    return " + rng.choice([*READS, "1.0", "k"]).format(z=now))
    return "\n".join(lines), name, takes
