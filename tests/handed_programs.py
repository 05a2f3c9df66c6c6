"""Programs that hand a function to a derivative rule: every kind of function value, by every way, to every kind of rule.

    def f(k, s):                                        a nested function, that closes over `k`
        def rate(t):
            return -k * t + 0.1 * t * t
        return nothing(rate, s * s)                     by position, to a `custom_gradient` that gives None for it

`handed_program(number)` writes the program of this number, of `COUNT`; its `f` takes two numbers.  The function closes over
what is differentiated, `k`, over a constant, `c`, or over both.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple


class Handed(NamedTuple):
    """The text of a program; what its function value is, how it is handed on, to which rule, and what it closes over."""

    source: str
    kind: str
    way: str
    rule: str
    held: str


HEAD = '''"""A program of handed_programs.py."""

from functools import partial

import numpy as np

from s2sgrad import checkpoint, custom_gradient, custom_jvp, defvjp, grad, jvp, primitive, vjp
from s2sgrad.compat.autograd import extend


def law(a, b, t):
    return a * t + b * t * t


def law_at(t, a, b):
    return a * t + b * t * t


class Law:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def at(self, t):
        return self.a * t + self.b * t * t

    def __call__(self, t):
        return self.at(t)


def helped(a, b):
    def inner(t):
        return a * t + b * t * t

    return inner


def value(rate, state):
    while isinstance(rate, (list, dict)):
        rate = rate["rate"] if isinstance(rate, dict) else rate[0]
    return state * state + 0.1 * rate(0.5)


'''
RULES = {
    "nothing": """
@custom_gradient
def rule(rate, state):
    return value(rate, state), lambda g: (None, 2.0 * g * state)
""",
    "given": """
@custom_gradient
def rule(rate, state):
    y, pull = vjp(lambda rate: rate(0.5), rate)
    return state * state + 0.1 * y, lambda g: (pull(0.1 * g)[0], 2.0 * g * state)
""",
    "primitive": """
@primitive
def rule(rate, state):
    return value(rate, state)


rule.defvjp(None, lambda g, y, rate, state: 2.0 * g * state)
""",
    "primitive_given": """
@primitive
def rule(rate, state):
    return state * state + 0.1 * rate(0.5)


rule.defvjp(
    lambda g, y, rate, state: vjp(lambda rate: rate(0.5), rate)[1](0.1 * g)[0],
    lambda g, y, rate, state: 2.0 * g * state,
)
""",
    "foreign": """
def rule(rate, state):
    return value(rate, state)


defvjp(rule, None, lambda g, y, rate, state: 2.0 * g * state)
""",
    "tangents": """
@primitive
def rule(rate, state):
    return value(rate, state)


rule.defjvp(None, lambda t, y, rate, state: 2.0 * t * state)
rule.defvjp(None, lambda g, y, rate, state: 2.0 * g * state)
""",
    "custom_jvp": """
@custom_jvp
def rule(rate, state):
    return value(rate, state)


@rule.defjvp
def rule_jvp(primals, tangents):
    rate, state = primals
    return rule(rate, state), 2.0 * tangents[1] * state


rule.defvjp(None, lambda g, y, rate, state: 2.0 * g * state)
""",
    "ported": """
@extend.primitive
def rule(rate, state):
    return value(rate, state)


extend.defvjp(rule, None, lambda ans, rate, state: lambda g: 2.0 * g * state)
""",
}
KINDS = {
    "nested": "def rate(t):\n    return {a} * t + {b} * t * t",
    "lambda": "rate = lambda t: {a} * t + {b} * t * t",
    "default": "rate = lambda t, a={a}, b={b}: a * t + b * t * t",
    "partial": "rate = partial(law, {a}, {b})",
    "partial_by_name": "rate = partial(law_at, b={b}, a={a})",
    "two_levels": "def inner(t):\n    return {a} * t\ndef rate(t):\n    return inner(t) + {b} * t * t",
    "made": "def make(a, b):\n    return lambda t: a * t + b * t * t\nrate = make({a}, {b})",
    "composed": "def over(q, r):\n    return lambda t: q(t) + r(t)\nrate = over(lambda t: {a} * t, lambda t: {b} * t * t)",
    "chosen": "if s > 0.0:\n    rate = lambda t: {a} * t + {b} * t * t\nelse:\n    rate = lambda t: {b} * t",
    "in_a_list": "rates = [lambda t: t, lambda t: {a} * t + {b} * t * t]\nrate = rates[1]",
    "in_a_dict": 'rates = {{"u": lambda t: t, "v": partial(law, {a}, {b})}}\nrate = rates["v"]',
    "of_a_loop": "for w in ({b}, {a}):\n    rate = lambda t, w=w: w * t + {b} * t * t",
    "array": "w = np.array([{a}, {b}])\ndef rate(t):\n    return w[0] * t + w[1] * t * t",
    "method": "made = Law({a}, {b})\nrate = made.at",
    "object": "rate = Law({a}, {b})",
    "recursive": "def power(t, n):\n    return {b} if n == 0 else t * power(t, n - 1) + {a}\nrate = lambda t: power(t, 2)",
    "argument_of_a_helper": "rate = helped({a}, {b})",
    "keyword_only": "def rate(t, *, a={a}, b={b}):\n    return a * t + b * t * t",
    "gradient": "rate = grad(lambda t: {a} * t * t + {b} * t)",
    "pullback": "pull = vjp(lambda t: {a} * t * t + {b} * t, 0.5)[1]\nrate = lambda t: pull(t)[0]",
    "late": "a = 1.0\ndef rate(t):\n    return a * t + {b} * t * t\na = {a}",
}
WAYS = {
    "by_position": "y = rule(rate, x)",
    "in_place": "y = rule(lambda t: rate(t), x)",
    "by_name": "y = rule(state=x, rate=rate)",
    "in_a_list": "y = rule([rate], x)",
    "in_a_dict": 'y = rule({{"rate": rate}}, x)',
    "through": "def through(q, z):\n    return rule(q, z)\ny = through(rate, x)",
    "in_a_loop": "y = x\nfor _ in range(2):\n    y = rule(rate, y)",
    "rule_in_a_list": "rules = [np.add, rule]\ny = rules[1](rate, x)",
    "rule_of_a_loop": "y = x\nfor h in [rule, rule]:\n    y = h(rate, y)",
    "rule_as_argument": "def use(h, q, z):\n    return h(q, z)\ny = use(rule, rate, x)",
    "in_a_comprehension": "y = sum([rule(rate, z) for z in (x, 2.0)])",
    "under_checkpoint": "y = checkpoint(lambda z: rule(rate, z))(x)",
    "in_try": "try:\n    y = rule(rate, x)\nexcept ValueError:\n    y = x",
    "by_star": "given = (rate, x)\ny = rule(*given)",
    "by_stars": 'given = {{"rate": rate, "state": x}}\ny = rule(**given)',
    "partial_of_the_rule": "y = partial(rule, rate)(x)",
    "within_another": "y = rule(lambda t: rule(rate, t), x)",
    "in_a_branch": "if s > 0.5:\n    y = rule(rate, x)\nelse:\n    y = x",
    "method_of": "class Drive:\n    def __init__(self, q):\n        self.q = q\n    def run(self, z):\n"
    "        return rule(self.q, z)\ny = Drive(rate).run(x)",
}
HELD = {"differentiated": ("k", "k * k"), "constant": ("c", "0.3"), "both": ("c", "k"), "outside": ("CONSTANT", "CONSTANT")}
GIVEN = {"given", "primitive_given"}
UNSURE = {"object", "method", "method_of", "in_a_loop", "gradient", "pullback", "recursive", "in_try", "rule_in_a_list",
          "rule_of_a_loop", "rule_as_argument", "partial_of_the_rule", "within_another", "by_stars"}  # fmt: skip
"""Kinds of functions and ways that may be refused for what they are, whatever the rule says."""
PROGRAMS = [p for p in itertools.product(KINDS, WAYS, RULES, HELD) if not (p[1].startswith("in_a_") and p[1] != "in_a_loop"
            and p[2] in GIVEN)]  # fmt: skip
COUNT = len(PROGRAMS)


def handed_program(number: int) -> Handed:
    """The program of this number."""
    kind, way, rule, held = PROGRAMS[number * 7919 % COUNT]
    a, b = HELD[held]
    body = ["c = 0.7", "x = np.sin(s) + s", *KINDS[kind].format(a=a, b=b).split("\n"), *WAYS[way].format().split("\n")]
    text = "\n".join(f"    {line}" for line in [*body, "return y * s + 0.0 * k"])
    source = f"{HEAD}CONSTANT = 0.9\n\n{RULES[rule]}\n\ndef f(k, s):\n{text}\n"
    return Handed(source, kind, way, rule, held)


# --- functions that are handed to functions of Python's and of libraries ------------------------------------------------

VALUES = {
    "nested": "def rate(t, *_):\n        return t * k",
    "lambda": "rate = lambda t, *_: t * k",
    "partial": "rate = partial(np.multiply, k)",
    "method": "rate = Scale(k).at",
    "object": "rate = Scale(k)",
}
CALLS = """
    np.sum(np.piecewise(V * x, [V < 0.4, V >= 0.4], [rate, np.sin]))
    np.sum(np.piecewise(V, [V < 0.4, V >= 0.4], [rate, np.sin]))
    np.sum(np.apply_along_axis(rate, 0, A * x))|np.sum(np.apply_along_axis(rate, 0, A)) * x|np.sum(np.vectorize(rate)(V * x))
    np.sum(np.apply_over_axes(both, A * x, [0]))|np.sum(np.vectorize(rate)(V)) * x|np.sum(np.fromfunction(rate, (3,))) * x
    sum(map(rate, V)) * x|sum(list(map(rate, [x, 2.0 * x])))|reduce(both, V, x)|sum(itertools.accumulate(V, both)) * x
    sum(itertools.starmap(both, [(x, 2.0), (3.0, x)]))|sorted([x, 2.0 * x, -x], key=rate)[0]|max(V, key=rate) * x
    integrate.quad(rate, 0.0, 1.0)[0] * x|integrate.quad(rate, 0.0, x)[0]|integrate.fixed_quad(rate, 0.0, 1.0)[0] * x
    np.sum(integrate.solve_ivp(both, (0.0, 1.0), [1.0], t_eval=V, rtol=1e-8, atol=1e-9).y) * x
    np.sum(integrate.odeint(both, [1.0], V)) * x
    integrate.quad_vec(rate, 0.0, 1.0)[0] * x|optimize.brentq(lambda t: rate(t) - 1.0, -5.0, 5.0) * x
    optimize.newton(lambda t: rate(t) - 1.0, 0.5) * x|optimize.fsolve(lambda t: rate(t) - 1.0, 0.5)[0] * x
    optimize.minimize_scalar(lambda t: (rate(t) - 1.0) ** 2).x * x
    np.sum(ndimage.generic_filter(V, lambda v: np.sum(v) * k, 3))
    np.sum(np.frompyfunc(rate, 1, 1)(V).astype(float)) * x|np.sum(linalg.funm(np.eye(2), rate)) * x|sum(filter(rate, V)) * x
    next(iter([rate]))(x)|partial(rate)(x)|np.array([rate, rate], dtype=object)[0](x)|(x if callable(rate) else k)
"""


def calling_program(value: str, call: str) -> str:
    """A program that hands a function value to a function of Python's or of a library."""
    return f"""import itertools
from functools import partial, reduce

import numpy as np
from scipy import integrate, linalg, ndimage, optimize

A = np.array([[0.2, 0.5, 0.9], [1.0, 0.3, 0.7]])
V = np.array([0.2, 0.5, 0.9])


class Scale:
    def __init__(self, k):
        self.k = k

    def at(self, t, *_):
        return t * self.k

    def __call__(self, t, *_):
        return t * self.k


def f(k, x):
    {VALUES[value]}

    def both(a, b):
        return a * k + np.sum(b) * 0.1

    return {call}
"""
