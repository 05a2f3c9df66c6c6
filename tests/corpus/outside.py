"""Lists, dicts and attributes that live outside and that the function writes: in order, once, and read where they were."""

from __future__ import annotations

import numpy as np

from .case import case

CONFIG = {"scale": 2.0, "calls": 0, "inner": {"rate": 1.0}}
TABLE = [1.0, 2.0, 3.0]


class Settings:
    rate = 1.0


SETTINGS = Settings()
SETTINGS.rate, SETTINGS.last, SETTINGS.calls = 1.0, 0.0, 0


def read_scale(x):
    return CONFIG["scale"] * x * x


def bump(x):
    CONFIG["scale"] += 1.0
    return x


def set_scale(value):
    CONFIG["scale"] = value


@case(1.3)
def stored_before_it_is_read(x):
    CONFIG["scale"] = 3.0
    scaled = CONFIG["scale"] * x
    return scaled * bump(x)


@case(1.3)
def read_by_callees_between_stores(x):
    CONFIG["scale"] = 2.0
    y = read_scale(x)
    CONFIG["scale"] = 5.0
    z = read_scale(x) * y
    CONFIG.update(scale=7.0)
    return z


@case(1.3)
def set_by_a_helper(x):
    set_scale(2.0)
    y = read_scale(x)
    set_scale(5.0)
    return read_scale(y) * y


@case(1.3)
def stored_in_each_trip(x):
    total = 0.0
    for k in range(3):
        CONFIG["scale"] = float(k + 1)
        CONFIG["calls"] += 1
        total = total + read_scale(x) * CONFIG["scale"]
    return total


@case(1.3)
def stored_under_another_name(x):
    config = CONFIG
    config["scale"] = 4.0
    CONFIG["inner"]["rate"] = 3.0
    return config["scale"] * CONFIG["inner"]["rate"] * x * x


@case(1.3)
def items_that_are_doubled(x):
    TABLE[0], TABLE[1] = 1.0, 2.0
    y = x * TABLE[0] + x * x * TABLE[1]
    TABLE[0], TABLE[1] = TABLE[1], TABLE[0]
    TABLE[1] *= 2.0
    return y * (x * TABLE[0] + x * x * TABLE[1])


def kept(x):
    SETTINGS.last = x * x
    SETTINGS.calls += 1
    return x


def read_last(x):
    return SETTINGS.last * SETTINGS.rate * x


@case(1.3)
def attributes_written_and_read_by_helpers(x):
    SETTINGS.rate = 2.0
    y = kept(x)
    z = read_last(y)
    SETTINGS.rate = 3.0
    for k in range(2):
        z = z + read_last(kept(x * k + y))
    return z


GAINS = {"all": 2.0}
EDGES = [(0, 1), (1, 2), (2, 0)]
WEIGHTS = [np.array([[0.5, -1.0, 0.3], [0.2, 0.8, -0.4]]), np.array([0.1, 0.7])]


@case(1.3)
def number_outside_that_is_an_array_for_a_while(x):
    GAINS["all"] = np.array([1.0, 2.0, 3.0])
    y = np.sum(powered(x, 2)) * np.sum(GAINS["all"] * x)
    GAINS["all"] = 2.0
    return y


def powered(x, n):
    return x * GAINS["all"] if n == 0 else powered(x * x, n - 1)


@case(np.array([0.7, 1.3, 0.4]))
def lists_that_hold_items_from_outside(x):
    beside = [[] for _ in x]
    for a, b in EDGES:
        beside[a].append(b)
        beside[b].append(a)
    h = WEIGHTS[0] @ x
    h += WEIGHTS[1]
    h *= h
    return np.sum(h) + sum(x[k] * x[m] ** 2 for k, others in enumerate(beside) for m in others)


LABELS = np.array([0, 2, 1, 2])
CLASSES = LABELS.max() + 1
HALF, THREE, IS_ON = np.float32(0.5), np.uint8(3), np.bool_(True)


class Counted:
    classes = LABELS.max() + 1

    def __init__(self):
        self.half = np.float32(0.5)


COUNTED = Counted()


def shared_out(count):
    small = np.float16(0.25)
    return lambda x: x / count + small * x


SHARED_OUT = shared_out(np.int64(4))


@case(np.array([0.7, 1.3, 0.4]))
def numbers_of_numpy_as_globals_captures_and_attributes(x):
    y = x / CLASSES + CLASSES / x - HALF * x
    y *= THREE
    y -= IS_ON * x * COUNTED.half
    return y**THREE * Counted.classes + COUNTED.classes % (2.0 + x) + SHARED_OUT(x) / COUNTED.half
