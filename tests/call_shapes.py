"""Random calls of callees that are reached in many ways, to which a differentiated value is handed in many ways.

    NS.held(*one(y))       TABLE["m"](**named(y))       k.run(y), where `run` calls `self.m(u, *a)`       pick({"a": [y]})

`call_program(7)` is the same program on every machine; `SINGLE` has every pair of a way to reach and a way to hand.
"""

from __future__ import annotations

import random
from typing import NamedTuple

HEAD = """\
import functools
import types

import numpy as np


def one(a):
    return [a.ravel()]


def named(a):
    return {"v": a * 1.0}


"""


class Hand(NamedTuple):
    """How the value `y` is handed over: a statement before the call, its arguments, the parameters and what they give."""

    before: str
    given: str
    taken: str
    value: str


_EACH = "sum(np.sum(v * v) for v in vs)"
HANDS = {
    "position": Hand("", "y", "v, u=1.0", "np.sum(v * v) * u"),
    "keyword": Hand("", "v=y", "v, u=1.0", "np.sum(v * v) * u"),
    "keyword_only": Hand("", "v=y", "*, v", "np.sum(v * v)"),
    "star": Hand("", "*one(y)", "v, u=1.0", "np.sum(v * v) * u"),
    "star_of_name": Hand("a = one(y)", "*a", "v", "np.sum(v * v)"),
    "star_of_tuple": Hand("a = (y, y * 2.0)", "*a", "v, u", "np.sum(v * u)"),
    "star_behind": Hand("a = one(y)", "2.0, *a", "u, v", "np.sum(v * v) * u"),
    "star_of_array": Hand("", "*y", "u, v, w", "u * v + w * w"),
    "any_number": Hand("a = one(y)", "y, *a", "*vs", _EACH),
    "double_star": Hand("d = named(y)", "**d", "v", "np.sum(v * v)"),
    "any_keywords": Hand("d = named(y)", "**d", "**vs", "np.sum(vs['v'] ** 2)"),
    "list": Hand("", "[y, y * 2.0]", "vs", _EACH),
    "dict": Hand("", "{'a': y}", "d", "np.sum(d['a'] ** 2)"),
    "nested": Hand("", "{'a': [y, (y, 1.0)]}", "d", "np.sum(d['a'][1][0] ** 2)"),
    "list_of_helper": Hand("a = one(y)", "a", "vs", _EACH),
}
CLASSES = {
    "plain": ("    def __init__(self):\n        self.scale = 1.5\n", "self.scale"),
    "slots": ("    __slots__ = ('scale',)\n\n    def __init__(self):\n        self.scale = 1.5\n", "self.scale"),
    "computed": ("    def __getattr__(self, name):\n        if name == 'scale':\n            return 1.5\n"
                 "        raise AttributeError(name)\n", "self.scale"),
    "nothing": ("    kept = 1.5\n", "1.5"),
}  # fmt: skip
REACHED = {
    "method": "{o}.m",
    "bound": "m = {o}.m\n    ;m",
    "getattr": "getattr({o}, 'm')",
    "table": "{t}[0]",
    "entry": "{d}['m']",
    "chosen": "pick = {t}[int(x[0] > 100.0)]\n    ;pick",
    "namespace": "{n}.held",
    "default": "k.m",
    "partial": "functools.partial({o}.m)",
    "class": "functools.partial({c}.m, {o})",
    "own": "{o}.run",
    "local": "def inner(*a, **b):\n        return {o}.m(*a, **b)\n    ;inner",
    "looped": "for m in {t}:\n        pass\n    ;m",
}


def _part(number: int, of_class: str, reached: str, handed: str) -> tuple[str, list[str], str]:
    """The text before the function, the statements of a call on `y`, and the call."""
    hand, (body, scale) = HANDS[handed], CLASSES[of_class]
    names = {"o": f"O{number}", "c": f"C{number}", "t": f"T{number}", "d": f"D{number}", "n": f"N{number}"}
    text = f"class {names['c']}:\n{body}\n    def m(self, {hand.taken}):\n        return {scale} * ({hand.value})\n\n"
    own = f"        {hand.before}\n" if hand.before else ""
    text += f"    def run(self, y):\n{own}        return self.m({hand.given})\n\n\n"
    text += "{o} = {c}()\n{t} = [{o}.m, {o}.m]\n".format(**names)
    text += "{d} = {{'m': {o}.m}}\n{n} = types.SimpleNamespace(held={o}.m)\n\n\n".format(**names)
    way = REACHED[reached].format(**names)
    statements, _, callee = way.rpartition(";")
    callee = callee.replace("k.m", f"k{number}.m")
    before = [s for s in (statements.strip(), "" if reached == "own" else hand.before) if s]
    return text, before, f"{callee}({'y' if reached == 'own' else hand.given})"


def _program(parts: list[tuple[str, str, str]]) -> str:
    head, body, calls = HEAD, [], []
    for number, part in enumerate(parts):
        text, before, call = _part(number, *part)
        head += text
        body += [f"y = x * {number + 1.0}" if number == 0 else f"y = x * z{number - 1}", *before, f"z{number} = {call}"]
        calls.append(f"k{number}=O{number}")
    body.append(f"return z{len(parts) - 1}")
    return f"{head}def f(x, {', '.join(calls)}):\n    " + "\n    ".join(body) + "\n"


SINGLE = [(c, r, h) for c in CLASSES for r in REACHED for h in HANDS]


def single_program(way: tuple[str, str, str]) -> str:
    """The program of one call."""
    return _program([way])


def call_program(seed: int) -> str:
    """A program of two or three calls, each on what the one before gives."""
    rng = random.Random(seed)
    return _program([rng.choice(SINGLE) for _ in range(rng.choice((2, 2, 3)))])
