"""Attributes whose names are computed: `getattr`, `setattr` and `hasattr` of objects, and the getters of `operator`."""

import operator

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])


class Machine:
    def __init__(self, x):
        self.x = x

    def run(self, code):
        stack = []
        for op, operand in code:
            getattr(self, "op_" + op)(stack, operand)
        return stack.pop()

    def op_load(self, stack, k):
        stack.append(self.x[k])

    def op_mul(self, stack, _):
        right = stack.pop()
        left = stack.pop()
        stack.append(left * right)

    def op_sin(self, stack, _):
        stack.append(np.sin(stack.pop()))


@case(VECTOR)
def instructions_by_name(x):
    return Machine(x).run([("load", 0), ("load", 1), ("mul", None), ("sin", None), ("load", 2), ("mul", None)])


class Settings:
    def __init__(self, values=(), **others):
        for name, value in zip(["mass", "rate", "shift"], values):  # noqa: B905
            setattr(self, name, value)
        for name, value in others.items():
            setattr(self, name, value)


@case(VECTOR)
def attributes_set_by_a_loop_over_names(x):
    settings, others = Settings(x), Settings(a=x[0], b=x[1] * 2.0)
    return settings.mass * np.sin(settings.rate) + settings.shift * others.a * others.b


class Stage:
    def __init__(self, kind, gain):
        self.step, self.gain = getattr(self, f"_{kind}_step"), gain

    def _fast_step(self, t):
        return t * self.gain

    def _slow_step(self, t):
        return np.sin(t * self.gain)

    def run(self, t):
        if hasattr(self, "before"):
            t = self.before(t)
        for _ in range(2):
            t = self.step(t)
        return t


class Begun(Stage):
    def before(self, t):
        return t + self.gain


@case(VECTOR)
def methods_chosen_in_the_constructor(x):
    return Begun("fast", x[0]).run(x[1]) + Stage("slow", x[2]).run(x[1])


@case(VECTOR)
def methods_chosen_in_the_constructors_of_a_loop(x):
    total = 0.0
    for kind, gain in zip(["fast", "slow", "fast"], x):  # noqa: B905
        total += Stage(kind, gain).run(x[1])
    return total


@case(VECTOR)
def attributes_updated_by_names_of_the_run(x):
    settings = Settings(x)
    for k in range(3):
        name = ["mass", "rate", "shift"][k]
        setattr(settings, name, np.sin(getattr(settings, name) * x[2]))
    return settings.mass * settings.rate + settings.shift * getattr(settings, "none", x[0])


@case(VECTOR)
def a_getter_keeps_its_key(x):
    k, w = 1, x[0]
    get, run = operator.itemgetter(k), operator.methodcaller("run", w)
    k, w = 2, x[2]
    return get(x) * x[k] * run(Stage("slow", w))


@case(VECTOR)
def getters_of_several_names(x):
    a, b = operator.attrgetter("gain", "step")(Stage("slow", x[0]))
    first, last = operator.itemgetter(0, -1)(x)
    return b(a * first) * last
