"""Statements that normalization takes apart: `match`, `del`, imports inside a function."""

from dataclasses import dataclass

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.4, -0.3], [0.9, 1.2]])


@dataclass
class Scheme:
    name: str
    weight: float


LIMIT = 3


# --- match -----------------------------------------------------------------------------------------------------------


@case(VECTOR)
def match_with_the_rest_of_a_mapping(v):
    options = {"k": 2, "scale": v[0], "z": 3}
    match options:
        case {"k": int(n), **rest}:
            return rest["scale"] * n * len(rest)
    return v[1]


@case(VECTOR)
def match_with_alternatives_that_bind(v):
    total = v[0]
    for pair in ((1, 2), (3, 1), (4, 4), (1, 1)):
        match pair:
            case (1, n) | (n, 1) if n > 1:
                total = total * v[1] * n
            case (n, 1) | (n, _):
                total = total + n * v[2]
    return total


@case(1.3, 2)
def match_on_literals(x, k):
    match k:
        case 0:
            y = x
        case -1 | 2:
            y = x * x
        case _:
            y = x**3
    return y * np.sin(x)


@case(VECTOR, "tanh")
def match_on_text_returns(v, way):
    match way:
        case "sin":
            return np.sum(np.sin(v))
        case "tanh" if len(v) > 2:
            return np.sum(np.tanh(v) * v)
    return np.sum(v)


@case(0.7, 1.9)
def match_on_a_pair(x, y):
    match x > y, np.exp(x) < 3.0:
        case True, _:
            z = x * y
        case False, True:
            z = x * x - y
        case pair:
            z = x * pair[0]
    return z * z


@case(0.7, (1.9, 0.4))
def match_takes_a_tuple_apart(x, p):
    match p:
        case (a,):
            return a * x
        case (a, b):
            return a * b * x
        case _:
            return x


@case(0.7, (1.9, 0.4, -0.8))
def match_with_a_starred_name(x, p):
    match p:
        case [first, *_, last] if first < last:
            y = first
        case [first, *rest]:
            y = first * rest[0] + rest[1] ** 2
    return x * y


@case(0.7, ("scale", (1.9, 2, 0.4)))
def match_on_nested_sequences(x, step):
    match step:
        case ("shift", (by, _)):
            return x + by
        case ("scale", (by, *_, offset)):
            return by * x**2 + offset


@case(1.3, -0.4)
def match_guards_see_what_was_bound(x, y):
    match x * y:
        case z if z > 0.0:
            w = z * x
        case z if z < -10.0:
            w = z * y
        case z:
            w = z * z
    return w + z


@case((1.2, 0.8), 1.3, 2)
def match_names_stay_bound_where_the_guard_fails(p, x, k):
    a = b = x
    match p:
        case (a, 0.5) if k > 0:
            return a * x
        case (a, b) if a < b:
            return b * x
        case _ if k > 1:
            a = a * b * x
    return a * a * b


@case({"weight": 1.5, "offset": -0.3}, VECTOR)
def match_on_a_dict(options, v):
    match options:
        case {"scale": s}:
            return s * np.sum(v)
        case {"weight": w, "offset": b}:
            return np.sum((w * v + b) ** 2)
    return np.sum(v)


@case(0.7, Scheme("heun", 0.5))
def match_on_the_fields_of_an_object(x, scheme):
    match scheme:
        case Scheme(name="euler"):
            return x
        case Scheme("heun", weight=w):
            return w * x * x
    return 2.0 * x


@case(VECTOR, 2.0)
def match_on_classes(v, s):
    total = 0.0
    for part in (v, s, 3):
        match part:
            case float(f):
                total = total + f * f
            case np.ndarray(ndim=1):
                total = total + np.sum(np.sin(part))
            case int():
                total = total * part
    return total


@case(0.7, 4)
def match_in_a_loop_with_exits(x, n):
    for k in range(n):
        match k % 4:
            case 0:
                continue
            case LIMIT.real:
                break
            case 1 if x > 10.0:
                return x
        x = np.sin(x) * 1.5
    return x * x


@case(0.7, (2, 1))
def match_rebinds_its_subject(x, p):
    match p:
        case (p, q) if p > q:
            x = x * p
        case _:
            x = x * 10.0
    return x**p


def squared_or_summed(v, squared):
    match squared:
        case True:
            return np.sum(v * v)
        case _:
            return np.sum(v)


@case(VECTOR)
def match_in_a_helper(v):
    return squared_or_summed(v, True) * squared_or_summed(v, None)


def written_by_mode(u, mode):
    match mode:
        case "double":
            u *= 2.0
        case "first":
            u[0] = u[1] * u[2]


@case(VECTOR, "first")
def match_in_a_writer(v, mode):
    w = np.cos(v)
    written_by_mode(w, mode)
    return np.sum(w * v)


@case(VECTOR)
def match_in_nested_functions(x):
    def area(shape, k):
        match shape:
            case {"r": r} if k > 0:
                return r * r * x[k]
            case {"w": w, "h": h}:
                return w * h
            case [a, *rest]:
                return a * sum(rest)

    def chosen():
        for k, v in enumerate(x):
            match k:
                case 0 | 2:
                    yield v * v
                case _:
                    yield -v

    total = area({"r": x[0]}, 1) + area({"w": x[1], "h": x[2]}, 0) + area([x[0], x[1], x[2]], 0)
    return total + sum(chosen())


# --- del -------------------------------------------------------------------------------------------------------------


@case(VECTOR)
def del_of_temporaries(v):
    a = np.sin(v)
    b = a * v
    c = b - a
    del a, (b)
    return np.sum(c * c)


@case(0.7, 3)
def del_in_a_loop_and_of_its_variable(x, n):
    for i in range(n):
        t = x * x
        if t > 0.2:
            x = x + t * i
            del t
        else:
            u = t
            del t, i
            x = x - u
    del n
    return x


@case(0.7)
def del_before_an_exit(x):
    y = x * x
    if y > 10.0:
        del x
        return y
    del y
    y = np.sin(x)
    return y * x


@case(VECTOR)
def del_of_an_alias_of_what_is_written(v):
    u = v * 2.0
    w = u[1:]
    s = w[0] * v[0]
    del w
    u[1] = s * u[2]
    return np.sum(u * u)


# --- imports ---------------------------------------------------------------------------------------------------------


@case(VECTOR, 0.7)
def imports_of_modules(v, x):
    import math

    import numpy as xp
    import numpy.linalg

    return xp.sum(xp.sin(v)) * math.exp(x) * numpy.linalg.norm(v) + math.pi


@case(VECTOR, 0.7)
def imports_of_functions_and_data(v, x):
    from math import pi
    from math import sin as sine

    from numpy import cos, newaxis

    from .imports import VECTOR as other

    return np.sum(cos(v[newaxis] * x) * pi * other) * sine(x)


@case(0.7, 3)
def import_in_a_loop(x, n):
    for _ in range(n):
        from numpy import sin

        x = sin(x) * x
        if x > 10.0:
            import string

            return x * len(string.digits)
    return x


@case(VECTOR)
def import_of_a_helper_of_the_corpus(v):
    from .statements import squared_or_summed as either

    return either(v, True) + either(np.sin(v), False)


# --- with ------------------------------------------------------------------------------------------------------------


@case(VECTOR)
def with_errstate(v):
    with np.errstate(invalid="ignore", divide="ignore"):
        y = np.where(v > 0.0, np.log(v), v / np.abs(v - 5.0))
    return np.sum(y * y)


@case(VECTOR)
def with_errstate_returns(v):
    u = np.exp(v)
    with np.errstate(all="ignore"):
        w = u * v
        return np.sum(w / u * w)


@case(0.7, 3)
def with_in_a_loop_and_exits(x, n):
    for i in range(n):
        with np.errstate(over="ignore"):
            if x > 20.0:
                return x * i
            y = np.exp(x)
            if i == 5:
                break
            if y > 10.0:
                continue
            x = np.sin(y) * x
        x = x + 0.1 * y
    return x * x


@case(VECTOR, 0.3)
def with_several_managers(v, x):
    from contextlib import nullcontext
    from warnings import catch_warnings

    with np.errstate(all="ignore"), catch_warnings(), nullcontext(v * x) as u:
        with np.printoptions(precision=3):
            w = u * u
        w[0] = w[1] * x
    return np.sum(w * v)


def ratio(a, b):
    with np.errstate(divide="ignore"):
        if b == 0.0:
            return 0.0
        return a / b


@case(0.7, 1.9)
def with_in_a_helper(x, y):
    return ratio(x, y) * ratio(x * y, x) + ratio(y, 0.0)


@case(0.7)
def with_around_what_is_not_differentiated(x):
    with np.errstate(all="ignore"):
        n = len(str(np.float64(1.0) / 3.0))
    for _ in range(2):
        with np.errstate(all="ignore"):
            k = n % 3
        x = x * np.sin(x) + k
    return x


# --- global ----------------------------------------------------------------------------------------------------------

calls = 0
largest = 0.0


@case(0.7)
def global_that_is_read(x):
    global LIMIT
    return x**LIMIT


@case(0.7, 3)
def global_that_counts(x, n):
    global calls, largest
    before = calls
    for k in range(n):
        calls += 1
        if k > 1:
            largest = calls - before + 1.0
        x = np.sin(x) * (calls - before)
    return x * largest


def counted(v):
    global calls
    calls = calls + len(v)
    return v * v * (1.0 + calls - calls)


@case(VECTOR)
def global_written_by_a_helper(v):
    return np.sum(counted(v) * counted(v + 1.0))


# --- try and finally -------------------------------------------------------------------------------------------------


@case(0.7, 1.9)
def try_with_finally(x, y):
    old = np.seterr(divide="ignore")
    try:
        z = x / y
        if z > 5.0:
            return z
        z = z * np.sin(x)
    finally:
        np.seterr(**old)
    return z * y


@case(VECTOR)
def try_with_finally_in_a_loop(v):
    s = 0.0
    for x in v:
        try:
            t = np.exp(x)
            if x < 0.0:
                continue
            s = s + t * t
        finally:
            print("next")
    return s * s


@case(0.7)
def try_with_finally_of_what_is_linear(x):
    try:
        y = 2.0 * x
        return y
    finally:
        if LIMIT > 2:
            print("done")


@dataclass
class Disc:
    r: float


class Box:
    def __init__(self, a, b):
        self.a, self.b = a, b


def area_of(shape):
    match shape:
        case Disc(r):
            return 3.0 * r * r
        case Box(a=a, b=b):
            return a * b


@case(np.array([0.3, 0.7, 1.1]))
def match_on_objects_made_here(v):
    shapes = [Disc(v[0]), Box(v[1], v[2]), Disc(r=v[2])]
    total = sum(area_of(s) for s in shapes)
    for s in shapes:
        match s:
            case Disc(r=r):
                total += r
            case Box(a=a):
                total += a * v[0]
    return total * area_of(Disc(v[0]))


@case(VECTOR)
def nested_function_with_finally_and_a_context(x):
    log = []

    def doubled(v):
        try:
            with np.errstate(all="ignore"):
                if v > 0.5:
                    return v * 2.0
                return v * v
        finally:
            log.append(v)

    return sum(doubled(v) for v in x) + sum(log)
