"""Random programs that call methods, constructors and properties of their own objects in `try`.

    for v in x:
        try: total += t.drain(v)
        except ValueError as error: total -= t.level * v

`attempt_program(7)` is the same program on every machine; `matrix_program(sort, context)` is one cell of the matrix of sorts
of objects and of contexts.  What a method has written before it raises is read behind it.
"""

from __future__ import annotations

import random
import zlib

from programs import NUMBER, Program, draw_arguments

VECTOR = (4,)
PRELUDE = '''import contextlib
import dataclasses
import math
import sys
import types

import numpy as np

sys.modules.setdefault(__name__, types.ModuleType(__name__))  # where dataclasses look


class Spill(Exception):
    """Raised with what is left."""

    def __init__(self, left, limit=1.0):
        super().__init__("spill")
        self.left, self.limit = left, limit


class Dry(ValueError):
    pass


class Tank:
    most = 1.1

    def __init__(self, level):
        if level < -0.4:
            raise ValueError("negative")
        self.level = level
        self.log = []
        self.held = np.array([level, 0.5, 1.0])

    def drain(self, v):
        if v > self.level:
            raise Dry("empty")
        self.level -= 0.5 * v
        return self.level * v

    def written(self, v):
        self.level = 0.8 * self.level + 0.1 * v
        if v > 0.5:
            raise ValueError("late")
        self.level *= v
        return self.level + v

    def stored(self, v):
        self.held[0] = self.held[1] * v
        self.held[int(3.0 * v * v)] = v
        self.held[1] += 0.3 * v
        return self.held.sum()

    def logged(self, v):
        self.log.append(v * 0.5)
        y = math.sqrt(v + 0.4)
        self.log.append(y)
        return y * sum(self.log)

    def looped(self, v):
        total = 0.0
        for k, u in enumerate(self.held):
            if u > 0.9 - v:
                raise IndexError(k)
            self.held[k] = u * 0.5 + v
            total += self.held[k]
        return total

    def inner(self, v):
        try:
            return self.drain(v) * 2.0
        except KeyError:
            self.level = 0.0
        finally:
            self.level += 0.1
        return v

    def outer(self, v):
        self.level += 0.2 * v
        y = self.inner(v)
        self.level *= 0.9
        return y + self.written(v)

    def spill(self, v):
        if v > 0.4:
            raise Spill(self.level * v)
        self.level += v
        return v * v

    @property
    def rate(self):
        if self.level < 0.3:
            raise ArithmeticError("slow")
        return self.level * self.held[0]

    @rate.setter
    def rate(self, v):
        if v > 0.6:
            raise ValueError("fast")
        self.level = v * 1.5

    @classmethod
    def made(cls, v):
        return cls(v * cls.most - 0.1)

    @staticmethod
    def checked(v):
        if v < -0.5:
            raise ValueError("low")
        return math.sqrt(v + 0.5)

    def __call__(self, v):
        self.level *= 0.95
        return math.log(v + 0.5) * self.level

    def turned(self, v):
        self.level, self.held[1] = self.held[1] + v, self.level
        if v > 0.6:
            raise KeyError("turned")
        self.level, y = y_of(self.level, v)
        return y * self.held[1]

    def itself(self, v):
        if v > 0.7:
            raise ValueError("me")
        self.level += v
        return self


class Deep(Tank):
    def __init__(self, level, below):
        super().__init__(level)
        self.below = below

    def drain(self, v):
        self.below.level += 0.1
        y = super().drain(v)
        return y + self.below.written(v)


@dataclasses.dataclass
class Pair:
    a: float
    b: float = 0.5

    def __post_init__(self):
        if self.a > 0.8:
            raise ValueError("wide")
        self.a = self.a * self.b

    def mean(self, w=1.0):
        return (self.a + w * self.b) / 2.0


def y_of(level, v):
    return level * v, v + 0.1


def helper(tank, v):
    tank.level += 0.1
    if v < -0.3:
        raise KeyError("low")
    return tank.level * v + tank.drain(v)


'''
# of each sort: what makes the object, the call (of `v`), what is read behind it
SORTS = {
    "method": ("t = Tank(abs(x[0]))", "t.drain(v)", "t.level"),
    "written": ("t = Tank(abs(x[0]))", "t.written(v)", "t.level"),
    "array": ("t = Tank(abs(x[0]))", "t.stored(v)", "t.held.sum() * t.held[0]"),
    "list": ("t = Tank(abs(x[0]))", "t.logged(v)", "sum(t.log) * len(t.log)"),
    "loop": ("t = Tank(abs(x[0]))", "t.looped(v)", "(t.held * t.held).sum()"),
    "try in it": ("t = Tank(abs(x[0]))", "t.inner(v)", "t.level"),
    "calls in it": ("t = Tank(abs(x[0]))", "t.outer(v)", "t.level"),
    "exception": ("t = Tank(abs(x[0]))", "t.spill(v)", "t.level"),
    "property": ("t = Tank(abs(x[0]))", "t.rate * v", "t.level"),
    "constructor": ("t = Tank(abs(x[0]))", "Tank(v).level", "t.level"),
    "class method": ("t = Tank(abs(x[0]))", "Tank.made(v).level", "t.level"),
    "static method": ("t = Tank(abs(x[0]))", "t.checked(v)", "t.level"),
    "static of class": ("t = Tank(abs(x[0]))", "Tank.checked(v) * t.level", "t.level"),
    "call": ("t = Tank(abs(x[0]))", "t(v)", "t.level"),
    "in turn": ("t = Tank(abs(x[0]))", "t.turned(v)", "t.level * t.held[1]"),
    "itself": ("t = Tank(abs(x[0]))", "t.itself(v).level", "t.level"),
    "super": ("t = Deep(abs(x[0]), Tank(c * c))", "t.drain(v)", "t.level * t.below.level"),
    "attribute": ("t = Deep(abs(x[0]), Tank(c * c))", "t.below.drain(v)", "t.level + t.below.level"),
    "dataclass": ("t = Pair(c * 0.1)", "Pair(v, b=c).mean(0.5)", "t.a"),
    "in a list": ("ts = [Tank(abs(x[0])), Tank(c * c)]", "ts[1].drain(v)", "ts[0].level + ts[1].level"),
    "in a dict": ("ts = {'a': Tank(abs(x[0])), 'b': Tank(c * c)}", "ts['b'].written(v)", "ts['b'].level"),
    "linked": ("ts = [Tank(abs(u)) for u in x]", "ts[len(ts) - 1].drain(v)", "sum([t.level for t in ts])"),
    "linked written": ("ts = [Tank(abs(u)) for u in x]", "ts[0].written(v)", "sum([t.level for t in ts])"),
    "linked array": ("ts = [Tank(abs(u)) for u in x]", "ts[0].stored(v)", "sum([t.held.sum() for t in ts])"),
    "linked logged": ("ts = [Tank(abs(u)) for u in x]", "ts[1].logged(v)", "sum([sum(t.log) for t in ts])"),
    "linked property": ("ts = [Tank(abs(u)) for u in x]", "ts[1].rate * v", "sum([t.level for t in ts])"),
    "of two classes": ("ts = [Tank(abs(u)) for u in x] + [Deep(c * c, Tank(0.7))]",
                       "ts[len(ts) - 1].drain(v) + ts[0].drain(v)", "sum([t.level for t in ts])"),
    "helper": ("t = Tank(abs(x[0]))", "helper(t, v)", "t.level"),
    "helper linked": ("ts = [Tank(abs(u)) for u in x]", "helper(ts[2], v)", "sum([t.level for t in ts])"),
    "twice": ("t, u = Tank(abs(x[0])), Tank(c * c)", "t.drain(v) * u.written(v)", "t.level * u.level"),
}  # fmt: skip
# `CALL` and `STATE` stand for those of the sort
CONTEXTS = {
    "updates in a loop": '''
for v in x:
    try:
        total += CALL
    except Exception:
        total += v * v * STATE
''',
    "kinds": '''
for v in x:
    try:
        y = CALL
        total += y * c
    except ValueError:
        total -= 0.3 * STATE
    except (KeyError, IndexError):
        total += STATE * v
    except (ArithmeticError, Spill):
        total *= 0.5
''',
    "else and finally": '''
for v in x[:3]:
    try:
        y = CALL
    except Exception:
        y = 0.2 * v
    else:
        total += STATE
    finally:
        total = total * 0.9 + y
''',
    "returns": '''
for v in x:
    try:
        if v > 0.3:
            total += 0.5 * CALL
        else:
            return CALL + STATE
    except Exception:
        return total + STATE * v
''',
    "suppressed": '''
for v in x:
    with contextlib.suppress(Exception):
        total += c * STATE
        total += CALL
        total *= 0.9
''',
    "once": '''
v = x[1] * c
try:
    a = x[2] * x[3]
    y = np.sin(CALL) + a
    total += y
except Exception:
    total += v * STATE + a
''',
    "message": '''
for v in x:
    try:
        total += CALL
    except Exception as error:
        total += v * len(f"{error}") * 0.1
''',
    "nested": '''
for v in x:
    try:
        total += 0.3
        try:
            total += CALL
        except KeyError:
            total -= v
        finally:
            total *= 0.8
        total += STATE
    except Exception:
        total -= 0.4 * v
''',
    "raised again": '''
for v in x:
    try:
        try:
            total += CALL
        except Exception:
            total += 0.3 * STATE
            raise
    except Exception:
        total += v
''',
    "test": '''
for v in x:
    try:
        if CALL > 0.3 and v > 0.2:
            total += STATE
        else:
            total -= v
    except Exception:
        total += v * v
''',
    "while": '''
k = 0
try:
    while k < 4:
        v = x[k]
        k += 1
        if v < -1.0:
            continue
        total += CALL * k
        if v > 1.2:
            break
except Exception:
    total += STATE * k
''',
    "handler calls": '''
for v in x:
    try:
        try:
            total += CALL
        except Exception:
            v = 0.2 * v
            total += CALL
    except Exception:
        total += STATE
''',
    "items": '''
try:
    v = x[0]
    zs = [CALL for v in x if v > -0.6]
    total += sum(CALL * v for v in zs)
except Exception:
    total += v * STATE
''',
    "stores": '''
for k in range(4):
    v = x[k]
    try:
        ys.append(CALL)
        w[k] = STATE * v
    except Exception:
        w[k] = STATE
''',
}
ENDING = "total + np.sum(w * x) + sum(ys) + 0.1 * STATE"
KINDS = ("Exception", "ValueError", "(ValueError, KeyError, Spill)", "Dry", "ArithmeticError", "LookupError")


def matrix_program(sort: str, context: str, number: int = 0) -> Program:
    """The program for a sort of object and a context."""
    made, call, state = SORTS[sort]
    body = CONTEXTS[context].strip("\n")
    seed = zlib.crc32(f"{sort}/{context}/{number}".encode())
    return _program([made], [body], call, state, seed, {sort, context}, "matrix_program")


def attempt_program(seed: int) -> Program:
    """Write the program of this number."""
    rng = random.Random(seed)
    sort = rng.choice(list(SORTS))
    contexts = rng.sample(list(CONTEXTS), rng.randint(1, 2))
    made, call, state = SORTS[sort]
    bodies = [CONTEXTS[c].strip("\n") for c in contexts]
    bodies = [b.replace("except Exception", f"except {rng.choice(KINDS)}", 1) if rng.random() < 0.4 else b for b in bodies]
    return _program([made], bodies, call, state, seed, {sort, *contexts}, "attempt_program")


def _program(made, bodies, call, state, seed, features, writer) -> Program:
    lines = ["total, ys, w = 0.2, [c], np.zeros(4)", *made, *(line for b in bodies for line in b.split("\n"))]
    lines.append(f"return {ENDING}")
    text = "\n".join(f"    {line}" for line in lines).replace("CALL", call).replace("STATE", state)
    kinds = (VECTOR, NUMBER)
    args = draw_arguments(random.Random(seed), kinds)
    return Program(f"{PRELUDE}def f(x, c):\n{text}\n", args, frozenset(features), seed, kinds, writer)
