"""Lists, dicts and attributes that live outside and that the function writes: in order, once, and read where they were."""

from __future__ import annotations

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
