"""Programs that were once silently wrong, or might be: the right derivative, or a refusal with a place; never anything else.

The outcome stands beside the program.  `test_doubtful.py` checks it at first and second order, against differences:

    @program(0.6)                       right at both orders
    @program(0.6, first=Unsupported)    refused by this error
    @program(0.6, second=Unsupported)   right at first order, its gradient is refused
"""

# ruff: noqa: B002, B007, B905, C406, E731, F601, F841  (these programs are odd on purpose)
from __future__ import annotations

import collections
import copy
import functools
import itertools
import math
import operator
import struct
import threading
import types
from collections import Counter, deque
from functools import reduce
from typing import NamedTuple

import numpy as np
import scipy.ndimage

from s2sgrad import NoRule, Unsupported
from s2sgrad.errors import Refused

PROGRAMS = []
FOUR = np.array([0.3, 0.6, 0.9, 1.2])
DATA = np.array([0.0, 1.0, 5.0])
WEIGHTS = np.array([0.3, 0.7, -0.2, 1.1])


class Program(NamedTuple):
    function: collections.abc.Callable
    args: tuple
    outcomes: tuple[type | None, type | None]  # at first and second order: the error that refuses it, or None: right


def program(*args, first=None, second=None):
    """Enter a function with the arguments at which it is checked; its first one is differentiated."""

    def enter(function):
        PROGRAMS.append(Program(function, args, (first, second)))
        return function

    return enter


@program(np.array([0.5, 0.7]))
def history_of_a_scratch_buffer(x):
    buf = np.empty(2)
    rows = []
    for k in range(2):
        buf[:] = x * (k + 1.0)
        rows.append(buf.copy())
    return np.sum(np.array(rows) ** 2)


@program(np.array([0.5, 0.7]))
def history_of_a_buffer_written_after(x):
    buf = np.empty(2)
    rows = []
    for k in range(2):
        buf[:] = x * (k + 1.0)
        rows += [buf + 0]
        buf[0] = 1.0
    return np.sum(np.array(rows) ** 2)


@program(FOUR)
def array_popped_into_another(x):
    a = x.copy()
    xs = [x * 2.0]
    y = np.sum(a * a)
    a += xs.pop()
    return y * np.sum(a)


@program(FOUR)
def copy_in_a_list_beside_its_buffer(x):
    xs = [np.ones(4)]
    a = x * 1.5
    xs.append(a + 0.0)
    a[1] *= 2.0
    return np.sum(xs[-1] * a)


@program(FOUR)
def array_popped_after_items_were_read(x):
    a = x.copy()
    xs = [x * 3.0, x * x]
    y = a[0] * a[1]
    a += xs.pop()
    return np.sum(a) * y


@program(FOUR)
def two_arrays_popped_into_one(x):
    a = x.copy()
    xs = [x * 3.0, x * x]
    a += xs.pop()
    a *= xs.pop()
    return np.sum(a * x)


@program(0.6)
def arrays_popped_after_stores_into_them(x):
    m = [np.ones(2) * x, np.ones(2) * x * x]
    m[0][0] = x * x
    m[1][1] = x**3
    t = m.pop() + m.pop()
    return np.sum(t * np.array([1.0, 2.0]) * x)


@program(0.6)
def copies_of_items_written(x):
    xs = [np.ones(2) * x, np.ones(2)]
    m = [v * 1 for v in xs]
    m[0][0] = x * x
    return np.sum(xs[0] * m[0])


@program(0.6)
def arrays_popped_until_none_is_left(x):
    m = [np.ones(2) * x for _ in range(3)]
    t = np.zeros(2)
    while m:
        t += m.pop()
        t *= x
    return np.sum(t * t)


@program(0.6)
def history_of_copies_and_the_buffer(x):
    m = []
    t = x * np.ones(2)
    for k in range(3):
        m.append(t * 1)
        t[0] = x * k
        m.append(t.copy())
        t += m[k]
    return np.sum(t * m[1] * m[4])


@program(FOUR)
def section_of_a_product_with_one(x):
    a = x * 1.0
    a[1:3] = x[2:] * a[0] * 1.0
    return np.sum(a)


@program(FOUR)
def section_of_a_double_negation(x):
    a = x * 1.0
    a[1:3] = -(-(x[2:] * a[:2]))
    return np.sum(a * x)


@program(FOUR)
def section_through_a_view_divided_by_one(x):
    a = x * 1.0
    v = a[1:3]
    v[:] = x[[3, 3]] * a[0] / 1.0
    return np.sum(a * x)


@program(FOUR)
def list_stacked_and_indexed(x):
    s = 1.0
    m = [x * x, x + 1.0]
    s += np.sum(np.stack(m) ** 2)
    return m[0][0] + s


@program(0.6)
def list_made_an_array_in_a_loop(x):
    w = [1.0, 2.0]
    t = x
    for k in range(2):
        t = t * np.sum(np.array(w) * x)
        w[k] = x
    return t


@program(0.6)
def finally_that_passes_after_except(x):
    try:
        y = math.log(x)
    except ValueError:
        y = x**3
    finally:
        pass
    return y


@program(0.6)
def finally_that_passes(x):
    a = [x]
    try:
        a = a + [x * x]
    finally:
        pass
    return sum(a)


@program(0.6)
def test_by_a_list_that_the_arm_shortens(x):
    xs = [1, 2, 3]
    t = x
    for k in range(5):
        if xs:
            xs.pop()
            t = t * x
    return t


@program(0.6)
def endless_loop_until_a_list_is_empty(x):
    xs = [1, 2, 3]
    t = x
    while True:
        if xs:
            xs.pop()
            t = t * x
        else:
            break
    return t


class Holder:
    def __init__(s):
        s.l = [1, 2, 3]
        s.a = np.array([2.0])


@program(0.6)
def while_an_attribute_holds_items(x):
    p = Holder()
    t = x
    while p.l:
        p.l.pop()
        t = t * x
    return t


@program(0.6)
def item_taken_in_a_conditional_expression(x):
    xs = [1.0, 2.0]
    t = x
    for k in range(4):
        t = t + xs.pop() if xs else t * x
    return t


@program(0.6)
def test_by_an_array_that_the_arm_writes(x):
    a = np.ones(1)
    t = x
    if a:
        a[0] = 0
        t = t * x
    return t


@program(0.6, first=Unsupported)
def keys_kept_while_a_key_is_added(x):
    d = {"a": x}
    ks = d.keys()
    d["b"] = x * x
    return len(ks) * x + sum(d[k] for k in ks)


class Measure:
    def __init__(s, v):
        s.v = v

    def __add__(s, o):
        return s.v + o.v


class Doubled(Measure):
    def __radd__(s, o):
        return s.v * 100


@program(0.6)
def operator_of_a_subclass_on_the_right(x):
    return Measure(x) + Doubled(x)


class Factor:
    def __init__(s, v):
        s.v = v

    def __rmul__(s, o):
        return np.sum(o) ** 2 * s.v


@program(0.6, first=Refused)
def array_times_an_object(x):
    return np.sum(np.array([x, 2 * x]) * Factor(x))


class Sum:
    def __init__(s, v):
        s.v = v

    def __add__(s, o):
        if isinstance(o, Sum):
            return Sum(s.v + o.v)
        return NotImplemented


class Guest:
    def __init__(s, v):
        s.v = v

    def __radd__(s, o):
        return Sum(o.v * 7 + s.v)


@program(0.6)
def operator_that_declines(x):
    return (Sum(x) + Guest(x)).v


class Quadrupling(type):
    def __call__(cls, v):
        return super().__call__(v * 4)


class Made(metaclass=Quadrupling):
    def __init__(s, v):
        s.v = v


@program(0.6, first=Unsupported)
def metaclass_with_a_call(x):
    return Made(x).v


class Tabled:
    TAB = np.array([1.0, 2.0])

    def __init__(s, v):
        s.v = v

    def go(s, x):
        return s.v * x + s.TAB[1] * x


@program(0.6)
def array_in_a_class_body(x):
    return Tabled(x).go(x)


@program(0.6)
def index_that_the_right_side_changes(x):
    k = 0
    y = [1.0, 2.0, 3.0]

    def nx():
        nonlocal k
        k += 1
        return x * k

    y[k] += nx()
    return y[0] + 10 * y[1]


class Ticker:
    def __init__(s):
        s.v = 0

    def nx(s, x):
        s.v += 1
        return x * s.v


@program(0.6)
def attribute_in_an_index_that_a_method_changes(x):
    a = Ticker()
    y = [1.0, 2.0, 3.0]
    y[a.v] += a.nx(x)
    return y[0] + 10 * y[1]


@program(0.6, first=Unsupported)
def last_item_updated_by_the_item_taken_off(x):
    y = [x, x * x]
    y[-1] += y.pop()
    return y[0] * x


@program(0.6, first=Unsupported)
def last_item_stored_after_one_is_taken_off(x):
    y = [x, x * x, x**3]
    y[-1] = y.pop() * x
    return y[0] + 3 * y[1]


@program(0.6, first=Unsupported)
def sum_of_differentiated_keys(x):
    d = {x: 1.0, x * x: 2.0}
    return sum(d)


@program(0.6, first=Unsupported)
def dict_turned_around(x):
    d = {"a": x, "b": x * x}
    e = {v: k for k, v in d.items()}
    return sum(e)


@program(0.6)
def keys_one_and_true(x):
    d = {1: x, True: x * x, 1.0: x**3}
    return d[1] * len(d)


@program(0.6)
def key_given_twice_by_a_variable(x, k="a"):
    d = {"a": x, k: x * x}
    return sum(d.values())


@program(0.6)
def pairs_with_the_same_key(x):
    d = dict([("a", x), ("a", x * x)])
    return sum(d.values())


class Signs:
    def __init__(s, a):
        s.a = a

    def __and__(s, o):
        return s.a * o.a

    def __or__(s, o):
        return s.a + o.a

    def __xor__(s, o):
        return s.a + 3 * o.a

    def __lshift__(s, o):
        return s.a - 3 * o.a

    def __rshift__(s, o):
        return s.a - 5 * o.a

    def __mod__(s, o):
        return s.a - 7 * o.a

    def __floordiv__(s, o):
        return s.a - 9 * o.a


@program(0.6)
def operators_by_their_names(x):
    return (
        (Signs(x) ^ Signs(x))
        + (Signs(x) << Signs(2 * x)) * (Signs(x) >> Signs(x * x))
        + (Signs(x) % Signs(x)) * (Signs(x) // Signs(x))
    )


class Growing:
    def __init__(s, a):
        s.a = a

    def __iadd__(s, o):
        s.a += o
        return s


@program(0.6, first=Unsupported)
def object_with_two_names_updated(x):
    v = Growing(x)
    w = v
    v += x
    w += x * x
    return v.a * w.a


class Point:
    def __init__(s, v):
        s.v = v


@program(0.6)
def object_twice_in_a_loop(x):
    a, b = Point(x), Point(x * x)
    for p in (a, b, a):
        p.v += x
    return a.v * b.v


@program(0.6, first=Unsupported)
def best_object_so_far(x):
    best = Point(x)
    for k in range(3):
        c = Point(x * k)
        if c.v > best.v:
            best = c
        c.v += x
    return best.v


@program(0.6)
def set_that_grows_between_reads(x):
    s = {1, 2}
    y = x * len(s)
    s.add(3)
    return y * len(s)


@program(0.6)
def set_of_what_was_seen(x):
    seen = set()
    t = 0.0
    for k in [1, 2, 1, 3, 2]:
        if k not in seen:
            seen.add(k)
            t += x * k * len(seen)
    return t


@program(0.6, first=Refused)
def set_with_two_names_updated(x):
    s = {1}
    u = s
    u |= {2, 3}
    return x * len(s)


@program(0.6)
def set_in_a_list_that_grows(x):
    m = [{1}, {2}]
    y = x * len(m[0])
    m[0].add(3)
    return y * len(m[0])


@program(0.6, first=NoRule)
def smaller_of_two_tuples(x):
    return min((x, [1]), (x * x, [2]))[0] * 3


@program(np.array([1.0, 2.0, 3.0]))
def joined_by_r_(w):
    return np.sum(np.r_[0.5, w] * np.arange(4.0))


@program(np.array([1.0, 2.0, 3.0]))
def joined_by_c_(w):
    return np.sum(np.c_[w, w**2] ** 2)


@program(0.6, first=NoRule)
def grid_up_to_x(x):
    return np.sum(np.mgrid[0:x:3j] ** 2)


@program(FOUR)
def section_shifted_by_a_product_with_one(x):
    b = x * 1.5
    b[1:] = b[:-1] * 1.0
    return np.sum(b * WEIGHTS * b)


@program(FOUR)
def sections_swapped_by_products_with_one(x):
    b = x * 1.5
    b[:-1], b[1:] = b[1:] * 1.0, b[:-1] * 1.0
    return np.sum(b * WEIGHTS * b)


@program(FOUR)
def periodic_shift_by_concatenation(x):
    b = x * 1.5
    for _ in range(2):
        b += np.concatenate([b[1:], b[:1]])
    return np.sum(b * WEIGHTS * b)


@program(FOUR)
def item_of_a_display_of_a_sum_with_zero(x):
    b = x * 1.5
    y = np.sum(np.cos([b + 0.0][0]))
    b[3] += 1.0
    return y * np.sum(b * b)


@program(FOUR)
def buffer_scaled_by_one_in_a_loop(x):
    b = x * 1.5
    y = 1.0

    def scaled(p, s=1.0):
        return s * p

    for k in range(2):
        y = y + np.sum(scaled(b) ** 2)
        b *= 1.1
    return y


@program(FOUR)
def sum_over_a_conditional_of_slices(x):
    return np.sum(x[1:] * 3.0 if x[0] > 0 else x[1:] * 2)


@program(FOUR, first=NoRule)
def open_mesh_of_floats(x):
    a, b = np.ix_(x, x)
    return np.sum(np.sin(a) * b)


@program(FOUR)
def repeat_of_nothing(x):
    return np.sum(np.repeat(x[x > 9], 1)) + np.sum(x * x)


def comp(f, g):
    return lambda t: f(g(t))


@program(0.6, first=Unsupported)
def functions_composed_in_a_loop(x):
    f = np.sin
    for g in [np.cos, np.exp]:
        f = comp(f, g)
    return f(x)


@program(0.6, first=Unsupported)
def functions_composed_by_reduce(x):
    return functools.reduce(comp, [np.sin, np.cos])(x)


@program(0.6, first=Unsupported)
def functions_composed_while(x):
    f = np.sin
    k = 0
    while k < 2:
        f = comp(f, np.cos)
        k += 1
    return f(x)


def mul(a, t):
    return a * t


def twice(f):
    return lambda t: f(f(t))


@program(0.6)
def partial_in_an_arm_not_taken(x):
    g = np.tanh
    if x < 0:
        g = functools.partial(mul, 1.2)
    return g(x)


@program(0.6)
def partial_in_the_other_arm(x):
    if x > 0:
        g = np.tanh
    else:
        g = functools.partial(mul, 1.2)
    return g(x)


def user(t):
    return t * t


@program(0.6)
def function_of_the_module_and_a_made_one(x):
    f = user
    if x < 0:
        f = twice(np.cos)
    return f(x)


@program(0.6, first=Unsupported)
def list_with_two_names_shortened_at_its_head(x):
    lb = []
    for k in range(3):
        lb.append(x * k)
    la = lb
    la.pop(0)
    return x * len(lb)


class Keeper:
    def __init__(s, v):
        s.v = v


@program(0.6, first=Unsupported)
def list_in_an_attribute_reversed(x):
    q = [v * x for v in (1.0, 2.0)]
    p = Keeper(q)
    q.reverse()
    return p.v[0]


@program(0.6, first=Unsupported)
def item_stored_in_a_reversed_list(x):
    xs = [x * x, 1.0]
    k = xs
    xs.reverse()
    k[0] += x
    return xs[0]


class Walker:
    def __init__(s, v):
        s.v = v
        s.l = [v, v * v]

    def up(s, k):
        s.v = s.v * k
        return s.v


def _app2(xs, v):
    xs.append(v)
    return xs


@program(0.6)
def list_of_an_attribute_returned_by_a_helper(x):
    p = Walker(x)
    la = _app2(p.l, p.up(0.9))
    return sum(la) * x


@program(0.6)
def list_stored_into_a_list(x):
    lb = [x * x, 1.0]
    m = [[x], [1.0]]
    m[0] = lb
    return sum(lb) * x + sum(m[0])


@program(0.6)
def list_rebuilt_in_a_loop_and_popped(x):
    la = [x, 2.0 * x]
    for j in range(1):
        la = [v * x for v in la]
    t = la.pop()
    return x * x * t


def _app(xs, v):
    xs.append(v)


@program(0.6)
def list_read_before_a_helper_appends(x):
    lb = [x * x, 1.0]
    la = lb
    y = lb[-1]
    _app(la, x)
    return sum(la) + y * x


class Cell:
    def __init__(s, v):
        s.v = v

    def __setitem__(s, k, w):
        s.v = w

    def __getitem__(s, k):
        return s.v


@program(0.6)
def slice_given_to_an_object(x):
    o = Cell(x)
    o[1:2] = x * x
    return o.v


@program(np.array([0.3, 0.7]))
def bounds_of_clip(x):
    return np.sum(np.clip(DATA, min=x[0], max=x[1]))


@program(np.array([0.3, 0.7]))
def initial_value_of_a_sum(x):
    return np.sum(DATA, initial=x[0])


@program(np.array([0.3, 0.7, 0.9]), first=NoRule)
def weights_of_a_fit(x):
    return np.polyfit([0.0, 1.0, 2.0], DATA, 1, w=x)[0]


@program(0.6)
def dict_with_one_more_key(x):
    return dict({"b": 2.0}, c=x)["c"]


LOG = []
SEEN = [1, 2, 3]
TABLE = {"a": 1, "b": 2}
MARKS = {1}
TURNING = deque([1, 2])
COUNTS = Counter()
START = np.array([3.0, 1.0, 2.0])
CURRENT = START


@program(0.6)
def global_list_read_around_appends(x):
    LOG.append(1)
    y = x * len(LOG)
    LOG.append(2)
    z = y * len(LOG)
    LOG.clear()
    return z


@program(0.6)
def global_list_reversed_between_reads(x):
    y = x * SEEN[0]
    SEEN.reverse()
    z = y * SEEN[0]
    SEEN.reverse()
    return z


@program(0.6, first=Unsupported)
def item_of_a_global_list_taken_and_put_back(x):
    y = x * len(SEEN)
    v = SEEN.pop()
    z = y * len(SEEN) * v
    SEEN.append(v)
    return z


@program(0.6)
def global_dict_updated_between_reads(x):
    TABLE.update(a=1, b=2)
    y = x * len(TABLE)
    TABLE.pop("a")
    return y * len(TABLE)


@program(0.6)
def global_set_grown_between_reads(x):
    y = x * len(MARKS)
    MARKS.add(5)
    z = y * len(MARKS)
    MARKS.discard(5)
    return z


@program(0.6)
def global_deque_turned_between_reads(x):
    y = x * TURNING[0]
    TURNING.rotate(1)
    z = y * TURNING[0]
    TURNING.rotate(1)
    return z


@program(0.6)
def global_counter_updated_between_reads(x):
    y = x * len(COUNTS) + x
    COUNTS.update("aab")
    z = y * COUNTS["a"]
    COUNTS.clear()
    return z


class Guarded:
    def __init__(s):
        s.n = 1

    def __getattr__(s, k):
        raise AttributeError(k)

    def inc(s):
        s.n += 1

    def dec(s):
        s.n -= 1


GUARDED = Guarded()


@program(0.6)
def global_object_with_hooks_counts(x):
    y = x * GUARDED.n + x
    GUARDED.inc()
    z = y * GUARDED.n
    GUARDED.dec()
    return z


@program(0.6)
def global_array_bound_anew(x):
    global CURRENT
    CURRENT = CURRENT + 1.0
    r = x * START[0]
    CURRENT = START
    return r


class Graph:
    def __init__(s):
        s.seen = {1}


@program(0.6)
def set_in_an_attribute_grown(x):
    g = Graph()
    y = x * len(g.seen)
    g.seen.add(2)
    return y * len(g.seen)


@program(0.6)
def set_grown_by_a_nested_function(x):
    s = set()

    def put(k):
        s.add(k)

    put(1)
    y = x * len(s)
    put(2)
    return y * len(s)


def addto(s, k):
    s.add(k)


@program(0.6)
def set_grown_by_a_helper(x):
    s = {1}
    y = x * len(s)
    addto(s, 2)
    return y * len(s)


ONES = np.ones(3)


@program(np.array([0.3, 0.5]))
def real_part_written(x):
    y = x * 2.0
    z = y.conj()
    z[0] = 5.0
    return np.sum(y * y)


@program(np.array([0.3, 0.5]))
def number_type_of_an_array_written(x):
    y = x * 2.0
    z = np.float64(y)
    z[0] = x[1]
    return np.sum(y * y)


@program(np.array([0.3, 0.5]))
def column_order_written(x):
    M = np.outer(x, x)
    v = M.ravel("F")
    v[1] = x[0]
    return np.sum(M * M * np.array([[1, 2], [3, 4.0]]))


@program(0.6, first=Unsupported)
def default_of_get_with_an_effect(x):
    n = 0

    def dflt():
        nonlocal n
        n += 1
        return x * n

    d = {"a": x}
    y = d.get("a", dflt())
    return y * n


@program(0.6, first=Unsupported)
def key_stored_by_reading(x):
    d = collections.defaultdict(float)
    y = d["a"]
    return x * len(d)


@program(0.6)
def deque_as_a_list(x):
    q = deque()
    q.append(x)
    q.append(x * x)
    return q[0] * q[1]


@program(0.6, first=Unsupported)
def items_taken_off_a_set(x):
    s = {1, 2}
    t = x
    while s:
        k = s.pop()
        t = t * x + len(s)
    return t


@program(0.6)
def number_spread_over_a_row(x):
    A = np.ones((2, 2)) * x
    A[0] = np.tanh(x)
    return np.sum(A * A)


@program(0.6)
def row_of_one_number_read_again(x):
    A = np.ones((2, 2)) * x
    A[0] = np.exp(x)
    A[1] = A[0] * x
    return np.sum(A * A)


@program(0.6)
def number_spread_over_a_mask(x):
    A = np.ones((2, 2)) * x
    A[:, 0] = np.exp(x)
    A[A < 1] = np.exp(x)
    return np.sum(A * A)


@program(0.6)
def number_spread_through_views(x):
    A = np.ones((2, 2)) * x
    A.T[0] = np.exp(x)
    v = A[1]
    v[:] = np.tanh(x)
    A[0], A[1] = np.exp(x), np.tanh(x)
    A[0] = A[1] = np.exp(x)
    return np.sum(A * A)


@program(0.6)
def array_in_a_list_updated(x):
    a = np.ones(2) * x
    ks = [np.tanh(a)]
    ks[0] += x
    return np.sum(ks[0] * a)


@program(0.6)
def array_in_a_dict_updated(x):
    a = np.ones(2) * x
    d = {"k": np.exp(a)}
    d["k"] *= x
    return np.sum(d["k"] * a)


@program(0.6)
def arrays_appended_and_updated(x):
    a = np.ones(2) * x
    xs = []
    xs.append(np.exp(a))
    xs[0] *= x
    xs.append(np.exp(xs[0]))
    xs[1] *= x
    return np.sum(xs[0] * a * xs[1])


@program(0.6)
def inverse_in_a_list_updated(x):
    m = np.eye(2) * x + 0.1
    xs = [np.linalg.inv(m)]
    xs[0] -= x
    xs[0] **= 2
    xs[0] /= x
    return np.sum(xs[0] * m)


@program(0.6)
def bounds_that_cross(x):
    return np.clip(x - 2.0, 0.5, 0.1 * x)


@program(0.6)
def columns_in_a_list(x):
    r = list(zip(*[[x, 2.0], [x * x, x]]))
    return r[0][1] * r[1][0]


@program(np.array([0.2, 0.5, -0.3]), np.ones(3))
def one_masked_element_stretched(x, y):
    return np.sum(x[x > 0.3] + y)


@program(np.array([0.2, 0.5, -0.3]), np.ones(3))
def number_with_a_new_axis(x, y):
    return np.sum(x[0][None] * y)


@program(0.6, np.array([0.2, 0.5, -0.3]))
def sum_of_a_number_and_an_array(s, y):
    return np.sum(sum([s, s * y]))


@program(np.array([0.2, 0.5, -0.3]), np.array([100, 200, 3], np.uint8))
def bytes_negated(x, u):
    return np.sum(-u * x)


@program(np.array([0.2, 0.5, -0.3]), np.array([100, 200, 3], np.uint8))
def bytes_doubled(x, u):
    return np.sum((u + u) * x)


@program(np.array([0.2, 0.5, -0.3]), np.array([100, 200, 3], np.uint8))
def comparisons_added(x, u):
    return np.sum(((u > 1) + (u > 1)) * x)


class Counting:
    def __init__(s, v, w):
        s.v = v
        s.w = w

    def go(s, t):
        s.w = s.w + t
        return s.v * t

    def __call__(s, t):
        s.w = s.w + t
        return s.v * t * s.w


@program(0.6)
def attribute_given_to_a_method_that_writes_it(x):
    z = Counting(0.7, x)
    return z.go(z.w)


@program(0.6)
def attribute_given_to_a_nested_function(x):
    z = Counting(0.7, x)

    def g(t):
        z.w = z.w * 3
        return t

    return g(z.w) * z.w


@program(0.6)
def attribute_given_to_a_lambda(x):
    z = Counting(0.7, x)
    return (lambda t: z.go(1.0) * t)(z.w)


@program(np.array([0.6, 0.7]))
def mean_updated_by_an_array(x):
    s = np.mean(x)
    s -= x
    return np.sum(s * s)


@program(0.6)
def number_updated_by_an_array(x):
    s = x
    s += ONES * x
    return np.sum(s * s)


@program(0.6)
def number_divided_and_raised_by_an_array(x):
    s = x
    s /= ONES * x
    s **= ONES * 2
    return np.sum(s * x)


@program(np.array([0.6, 0.7]))
def number_that_becomes_an_array_in_a_loop(x):
    s = x[0]
    for _ in range(2):
        s += x
    return np.sum(s * s)


@program(0.6)
def transpose_updated(x):
    u = np.outer(ONES, ONES) * x
    v = u.T
    v += x
    return np.sum(u * u)


@program(0.6)
def transposes_updated_and_stored(x):
    u = np.outer(ONES, ONES) * x
    v = u.T
    v *= x
    v[0] = x
    w = u[1:].T
    w *= x
    return np.sum(u * u)


TABLE_OF_TWO = np.array([[0.2, 0.5, 0.9], [0.1, 0.4, 0.6]])


@program(np.array([0.3, 0.05, 0.7]), TABLE_OF_TWO)
def branches_of_where_stretched(x, y):
    return np.sum(np.where(x > 0.1, x * 2, y * 3))


@program(np.array([0.3, 0.05, 0.7]))
def number_where_or_an_array(x):
    return np.sum(np.where(x[0] > 0.1, x[0] * 2, x))


@program(np.array([0.3, 0.05, 0.7]))
def item_bound_to_a_result_and_updated(x):
    xs = [x * 1.0]
    xs[0] = np.tanh(x)
    xs[0] *= 0.32
    return np.sum(xs[0])


def noted(v):
    LENGTHS.append(v)
    return v


LENGTHS = [1]


@program(0.6, noted)
def global_list_changed_by_an_argument(x, g):
    y = x * len(LENGTHS)
    g(2)
    z = y * len(LENGTHS)
    LENGTHS.clear()
    LENGTHS.append(1)
    return z


@program(np.array([0.3, 0.5, -0.7]))
def list_repeated_into_an_array(x):
    return np.sum(np.array([x[0]] * 4) ** 2)


@program(np.array([0.3, 0.5, -0.7]))
def product_over_a_generator(x):
    return x[0] * reduce(lambda a, b: a * b, (v * v + 1 for v in x))


@program(0.6)
def dot_of_numbers(x):
    return np.dot(x, x) * 2


@program(np.array([0.3, 0.5, -0.7]))
def function_by_its_name(x, mode="sum"):
    return getattr(np, mode)(x**2, axis=None)


@program(np.array([0.3, 0.5, -0.7]))
def triangle_of_a_vector(x):
    return np.sum(np.triu(x) ** 2) + np.sum(np.tril(x, -1) * x)


class Keeps:
    def __init__(self, array):
        self.array = array

    def copy(self):
        return self.array


def not_a_copy(x):
    kept = Keeps(x)
    return kept.copy()


@program(np.array([0.3, 0.5, -0.7]))
def method_called_copy_that_copies_nothing(x):
    u = x * 1.0
    y = not_a_copy(u)
    y *= x
    return np.sum(y * u)


@program(FOUR)
def out_is_an_item_of_a_list(x):
    u = x * 1.0
    rows = [u, x * 2.0]
    np.add(u, u[1], out=rows[0])
    return np.sum(u * x)


class Gain:
    def __init__(self, samples, factor):
        self.samples = samples
        self.factor = factor

    def grow(self, by):
        self.factor += by
        return self.factor


@program(FOUR)
def attribute_updated_in_a_loop_after_it_was_read(x):
    gain = Gain(x * 2.0, 1.5)
    energy = np.sum(gain.samples * gain.samples)
    for _ in range(2):
        gain.samples += gain.grow(0.5)
    return energy


# --- helpers that write through what looks like new memory: names that lie, shells of arrays, methods of own classes ---


def halved(params, k):
    parts = list(params)
    parts[k] /= 2


@program(FOUR)
def item_of_a_new_list_updated_in_place(x):
    a = x * 2.0
    b = x * 3.0
    halved([a, b], 0)
    return np.sum(a * b)


def rows_of(m):
    rows = [m[0], m[1]]
    rows[0][:] = 7


@program(FOUR)
def rows_in_a_list_written(x):
    m = np.outer(x, x)
    rows_of(m)
    return np.sum(m * m)


def masked(y):
    z = np.ma.asarray(y)
    z[0] = 5.0


@program(FOUR, first=Unsupported)
def written_through_a_masked_array(x):
    a = x * 2.0
    masked(a)
    return np.sum(a * a)


def buffered(y):
    z = np.frombuffer(y)
    z[0] = 5.0


@program(FOUR)
def written_through_a_buffer(x):
    a = x * 2.0
    buffered(a)
    return np.sum(a * a)


@program(FOUR)
def written_through_an_array_over_a_buffer(x):
    a = x * 2.0
    z = np.ndarray((4,), buffer=a)
    z[0] = 3.0
    return np.sum(a * a)


def gotten(a, x):
    get = [a, x].__getitem__
    z = get(0)
    z[0] = 5.0


@program(FOUR, first=Unsupported)
def written_through_a_method_that_is_kept(x):
    a = x * 2.0
    gotten(a, x * 1.0)
    return np.sum(a * a)


def attribute_gotten(a):
    z = getattr([a], "__getitem__")(0)  # noqa: B009
    z[0] = 5.0


@program(FOUR)
def written_through_getattr(x):
    a = x * 2.0
    attribute_gotten(a)
    return np.sum(a * a)


def nested(a):
    z = [[a]]
    w = list(z)
    w[0][0][0] = 3.0


@program(FOUR)
def written_two_levels_deep(x):
    a = x * 2.0
    nested(a)
    return np.sum(a * a)


def as_object(a):
    z = np.empty(1, dtype=object)
    z[0] = a
    z[0][0] = 3.0


@program(FOUR, first=Unsupported)
def written_through_an_array_of_objects(x):
    a = x * 2.0
    as_object(a)
    return np.sum(a * a)


def multiplied(a):
    functools.reduce(operator.imul, [a, 2.0])


@program(FOUR, first=Unsupported)
def written_by_an_operator_that_reduce_calls(x):
    a = x * 2.0
    multiplied(a)
    return np.sum(a * a)


def filled(a):
    list(map(a.fill, [4.0]))


@program(FOUR)
def written_by_a_method_that_map_calls(x):
    a = x * 2.0
    filled(a)
    return np.sum(a * a * x)


def shuffled(a):
    np.random.default_rng(0).shuffle(a)


@program(FOUR)
def shuffled_by_a_generator(x):
    a = x * 2.0
    shuffled(a)
    return np.sum(a * x)


PUT = functools.partial(operator.setitem)


def put_by_a_partial(a):
    PUT(a, 0, 4.0)


@program(FOUR, first=Unsupported)
def written_by_a_partial_of_the_surroundings(x):
    a = x * 2.0
    put_by_a_partial(a)
    return np.sum(a * a)


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a

    def item(self, v):
        return v

    def dot(self, v):
        v[0] = 9.0
        return 1.0

    def mean(self):
        self.a = self.a + 1.0
        return 2.0


class Rows(list):
    def item(self, k):
        return self[k]

    def copy(self):
        return self


@program(FOUR, Slotted(FOUR))
def method_named_item_returns_its_argument(x, s):
    a = x * 2.0
    z = s.item(a)
    z[0] = 5.0
    return np.sum(a * a)


@program(FOUR, Slotted(FOUR))
def method_named_mean_changes_its_object(x, s):
    s.mean()
    q = s.mean()
    return np.sum(s.a * x * x)


def dotted(s, a):
    s.dot(a)


@program(FOUR, Slotted(FOUR))
def method_named_dot_writes_in_a_helper(x, s):
    a = x * 2.0
    dotted(s, a)
    return np.sum(a * a)


@program(FOUR, Rows([FOUR.copy()]), first=Unsupported)
def row_of_a_list_with_methods_of_its_own(x, rows):
    z = rows.item(0)
    z[0] = 5.0
    return np.sum(rows[0] * x * x)


@program(FOUR, Rows([FOUR.copy()]), first=Unsupported)
def copy_that_is_none(x, rows):
    z = rows.copy()
    z[0] = x * 2.0
    return np.sum(rows[0] * x * x)


NAMES = types.SimpleNamespace(copy=lambda v: v)


@program(FOUR)
def function_of_a_namespace_named_copy(x):
    a = x * 2.0
    z = NAMES.copy(a)
    z[0] = 5.0
    return np.sum(a * a)


class Pair(NamedTuple):
    u: object
    v: object

    def sum(self):
        return self.u


@program(FOUR, Pair(FOUR.copy(), 1.0), first=Unsupported)
def method_of_a_named_tuple_named_sum(x, p):
    z = p.sum()
    z[0] = 5.0
    return np.sum(p.u * x * x)


class Asked:
    def __init__(self, a):
        self.a = a

    @property
    def first(self):
        self.a[0] = 5.0
        return 1.0

    def __len__(self):
        self.a[1] = 7.0
        return 3

    def __add__(self, other):
        self.a[0] = 5.0
        return self.a


def asked(a):
    o = Asked(a)
    q = o.first


def added(a):
    z = Asked(a) + 1


def measured(a):
    return len(Asked(a))


@program(FOUR)
def property_that_writes_in_a_helper(x):
    a = x * 2.0
    asked(a)
    return np.sum(a * x * x)


@program(FOUR)
def operator_that_writes_in_a_helper(x):
    a = x * 2.0
    added(a)
    return np.sum(a * x * x)


@program(FOUR)
def length_that_writes_in_a_helper(x):
    a = x * 2.0
    measured(a)
    return np.sum(a * x * x)


def sets_first(v):
    v[0] = 5.0
    return np.sum(v)


@program(FOUR, sets_first, first=Unsupported)
def argument_that_writes_and_whose_result_is_not_read(x, g):
    a = x * 2.0
    t = g(a)
    return np.sum(a * x * x)


def bins(a):
    _, edges = np.histogram(np.ones(3), a)
    edges[0] = 0.1


@program(FOUR, first=Unsupported)
def edges_that_are_the_argument(x):
    a = x * 2.0
    bins(a)
    return np.sum(a * x * x)


@program(FOUR)
def array_over_a_buffer_that_is_differentiated(x):
    return np.sum(np.ndarray((4,), buffer=x * 2.0) ** 2)


# --- what is called is known at run time alone ------------------------------------------------------------------------


def overwrites_the_first(v):
    v[0] = 5.0
    return 1.0


@program(FOUR, overwrites_the_first, first=Refused)
def tested_by_what_writes_it(x, fn):
    y = x * 2.0
    if fn(y) > 0:
        y = y * 1.0
    return np.sum(y**3)


@program(FOUR, overwrites_the_first, first=Refused)
def looped_on_by_what_writes_it(x, fn):
    y = x * 2.0
    for _ in range(3):
        y = y * y
        stop = fn([y])
        if stop > 3:
            break
    return np.sum(y)


# --- memory of outside, handed out by a function ----------------------------------------------------------------------

HANDED = np.ones(4)


def handed():
    return HANDED


def handed_on():
    return handed()


class HandsOut:
    table = HANDED

    def get(self):
        return self.table


HOLDER = HandsOut()
handed_by_partial = functools.partial(lambda table: table, HANDED)


def of_class():
    return HandsOut.table


@program(FOUR, first=Unsupported)
def global_through_two_functions_written(x):
    v = handed_on()
    w = handed_on()
    v[0] = 4.0
    return np.sum(w * x)


@program(FOUR, first=Unsupported)
def global_through_two_different_functions_written(x):
    v = handed()
    w = of_class()
    v[0] = x[0]
    return np.sum(w * x)


@program(FOUR, first=Unsupported)
def global_through_a_method_written(x):
    v = HOLDER.get()
    v[0] = 4.0
    return np.sum(HANDED * x)


@program(FOUR, first=Unsupported)
def global_through_a_partial_written(x):
    v = handed_by_partial()
    v[0] = 4.0
    return np.sum(handed_by_partial() * x)


@program(FOUR)
def product_with_a_global_written(x):
    v = scaled_by_a_global(x)
    v[0] = 4.0
    return np.sum(v * scaled_by_a_global(x))


def scaled_by_a_global(x):
    return HANDED * x


@program(FOUR, first=Refused)
def array_of_a_list_written_in_place(x):
    y = [x[0], 1.0, 2.0, 3.0]
    for k in range(2):
        y += x * (k + 1)  # in the first turn a new array, in the second one that `z` stands for as well
        if k == 0:
            z = y
    return np.sum(z * y)


@program(FOUR)
def list_added_to_what_became_an_array(x):
    y = [x[0], 1.0, 2.0, 3.0]
    y += x
    y += [x[0], x[1], x[2] * x[0], 1.0]
    return np.sum(y * y)


@program(DATA, second=Refused)
def list_of_arrays_added_up_in_place(x):
    y = [1.0, 2.0, 3.0]
    for k in range(2):
        y += x * k
    return np.sum(y * y)


@program(DATA)
def list_made_an_array_and_added_to_another(x):
    y = [x[0], 1.0, 2.0]
    y -= x * x
    w = [x[1], x[2], 3.0]
    w += y
    return np.sum(w * w)


@program(DATA, second=Unsupported)
def list_and_rows_under_one_name(x):
    w = [x[0], 1.0, 2.0]
    y = [1.0, 2.0, x[1]]
    z = y[2] * w[0]
    for y in (x, x * 2):
        pass
    w += y
    return np.sum(w * w) * z


# --- writes that no statement shows: methods of own classes that Python runs, defaults, options, arrays of objects -----


class Sneaky:
    def __init__(self, y):
        self.y = y

    def __str__(self):
        self.y[0] = 5.0
        return "a"

    def __format__(self, how):
        self.y[0] = 5.0
        return "a"

    def __contains__(self, value):
        self.y[0] = 5.0
        return True

    def __eq__(self, other):
        self.y[0] = 5.0
        return True

    def __hash__(self):
        self.y[0] = 5.0
        return 1

    def __lt__(self, other):
        self.y[0] = 5.0
        return True

    def __float__(self):
        self.y[0] = 5.0
        return 1.0

    def __array__(self, dtype=None, copy=None):
        self.y[0] = 5.0
        return np.ones(1)

    def __setitem__(self, key, value):
        value[0] = 5.0

    def __enter__(self):
        self.y[0] = 5.0
        return 1.0

    def __exit__(self, *error):
        return None

    @property
    def part(self):
        return 1.0

    @part.setter
    def part(self, value):
        value[0] = 5.0


class MadeByNew:
    def __new__(cls, y):
        y[0] = 5.0
        return object.__new__(cls)


def overwrite(y):
    y[0] = 5.0
    return 1.0


def shown(y):
    return len(str(Sneaky(y)))


def formatted(y):
    return len(f"{Sneaky(y)}")


def contained(y):
    return int(3 in Sneaky(y))


def compared(y):
    return int(Sneaky(y) == 3)


def hashed(y):
    return len({Sneaky(y): 1})


def ordered(y):
    return len(sorted([Sneaky(y), Sneaky(y)]))


def floated(y):
    return float(Sneaky(y))


def arrayed(y):
    return np.asarray(Sneaky(y)).size


def item_set(y):
    s = Sneaky(np.ones(1))
    s[0] = y
    return 1.0


def entered(y):
    with Sneaky(y):
        return 1.0


def property_set(y):
    s = Sneaky(np.ones(1))
    s.part = y
    return 1.0


def handed_to_another(s, y):
    s.part = y


def property_set_by_another(y):
    handed_to_another(Sneaky(np.ones(1)), y)
    return 1.0


def made_by_new(y):
    MadeByNew(y)
    return 1.0


def default_of_a_key(y):
    return sorted([1.0], key=lambda v, z=y: overwrite(z))[0]


def default_of_a_mapped_function(y):
    values = list(map(lambda v, z=y: overwrite(z), [1]))
    return values[0]


def array_full_of_none(y):
    z = np.full(1, None)
    z[0] = y
    w = z[0]
    w[0] = 5.0
    return 1.0


def array_of_a_list_of_none(y):
    nothing = [None] * 2
    z = np.array(nothing)
    z[0] = y
    w = z[0]
    w[0] = 5.0
    return 1.0


def array_of_objects(y):
    z = np.array([y, None], dtype=object)
    z[0][0] = 5.0
    return 1.0


def section_of_a_list(y):
    z = [None]
    z[0:1] = [y]
    z[0][0] = 5.0
    return 1.0


def destination_by_name(y):
    np.copyto(dst=y, src=5.0)
    return 1.0


def drawn_into_by_position(y):
    np.random.default_rng(0).random(4, float, y)
    return 1.0


def filtered_into(y):
    scipy.ndimage.gaussian_filter(y, 1.0, output=y)
    return 1.0


def overwritten_by_an_option(y):
    np.median(y, 0, None, True)
    return 1.0


def packed_into(y):
    struct.pack_into("d", y, 0, 5.0)
    return 1.0


def run_by_a_thread(y):
    threading.Thread(target=overwrite, args=(y,)).run()
    return 1.0


def run_by_a_thread_with_a_name(y):
    thread = threading.Thread(target=overwrite, args=(y,))
    thread.run()
    return 1.0


def cast_without_a_copy(y):
    z = y.astype(float, "K", "unsafe", True, False)
    z[0] = 5.0
    return 1.0


class Answering(dict):
    def get(self, key, default=None):
        self["y"][0] = 5.0
        return 1.0


def asked_of_a_dict(y):
    return Answering(y=y).get("y")


class Poking(list):
    def poke(self):
        self[0][0] = 5.0


def poked(y):
    Poking([y]).poke()
    return 1.0


def poked_by_name(y):
    rows = Poking([y])
    rows.poke()
    return 1.0


def plain_again(y):
    rows = Poking([y]) + [1.0]
    rows[0][0] = 5.0
    return 1.0


def behind_a_user_dict(y):
    held = collections.UserDict(a=y)
    held["a"][0] = 5.0
    return 1.0


def beside(writes):
    """A program that calls a function that writes, and reads what it has written."""

    def beside(x):
        a = x * 2.0
        n = writes(a)
        return n * np.sum(a**3)

    beside.__name__ = beside.__qualname__ = f"written_when_{writes.__name__}"
    return beside


for writes in (
    compared, floated, item_set, entered, property_set, property_set_by_another, default_of_a_key,
    default_of_a_mapped_function, destination_by_name, cast_without_a_copy, section_of_a_list,
):  # fmt: skip
    program(FOUR)(beside(writes))
for writes in (
    shown, formatted, contained, hashed, ordered, arrayed, made_by_new, drawn_into_by_position,
    filtered_into, packed_into, run_by_a_thread, run_by_a_thread_with_a_name, overwritten_by_an_option,
    behind_a_user_dict, array_full_of_none, array_of_a_list_of_none, array_of_objects,
    poked, poked_by_name, plain_again, asked_of_a_dict,
):  # fmt: skip
    program(FOUR, first=Unsupported)(beside(writes))


@functools.singledispatch
def chosen_by_type(v, k):
    return np.sum(v * v) * k


@chosen_by_type.register
def _(v: float, k):
    return v * k


@program(FOUR, first=Unsupported)
def a_function_chosen_by_the_type_of_its_argument(x):
    return chosen_by_type(x, 2.0)


@program(FOUR, first=Unsupported)
def function_bound_by_another_and_asked_whether_it_is_none(x):
    act = None

    def choose():
        nonlocal act
        act = lambda t: t * x

    if x[0] > 9.0:
        choose()
    return np.sum(x if act is None else x * x)


@program(0.6, first=Unsupported)
def dict_emptied_while_a_loop_runs_over_its_values(x):
    d, total = {"a": x, "b": x * x}, 0.0
    for v in d.values():
        total += d.pop("b", 2.0) * v
        d["b"] = total
    return total


class Sized:
    def __init__(self, v):
        if v > 0.5:
            self.large = v


def large_of(shape):
    if isinstance(shape, Sized) and hasattr(shape, "large"):
        return shape.large**2
    return 3.0


@program(FOUR, first=Unsupported)
def object_made_here_that_may_lack_an_attribute(x):
    return large_of(Sized(x[1])) * x[0]


def sum_of_what_is_no_list(items):
    return items[0] if isinstance(items, list) else sum(items)


@program(FOUR, first=Unsupported)
def deque_asked_whether_it_is_a_list(x):
    return sum_of_what_is_no_list(deque(x))


@program(FOUR, first=Unsupported)
def default_dict_asked_for_its_class(x):
    d = collections.defaultdict(float)
    d["a"] += x[0]
    return d["a"] * (2.0 if type(x) is dict else 3.0)


@program(FOUR, first=Unsupported)
def default_dict_asked_by_a_helper(x):
    d = collections.defaultdict(float)
    total = weight_of(d, "a") + x[0] * len(d)
    d["a"] += x[1]
    return total * weight_of(d, "a") + weight_of({"b": x[2]}, "b")


def weight_of(d, key):
    return d[key]


@program(FOUR)
def quotient_by_a_whole_number_that_is_zero_elsewhere(x):
    return sum(x[k] / (k + 1) if k else x[k] for k in range(4))


class Hoard:
    def __init__(self, kept):
        self.kept, self.sum = kept, 0.0

    def __iter__(self):
        return iter(self.kept)

    def __contains__(self, k):
        return True

    def __getitem__(self, k):
        return self.kept[k]

    def __mul__(self, other):
        return self.kept[0] * other.kept[1]

    def get(self, k, default=None):
        return self.kept[k] * 10.0

    def pop(self):
        return self.kept[0]

    def append(self, v):
        self.sum = self.sum + v

    def extend(self, vs):
        self.sum = self.sum + 10.0 * sum(vs)


@program(FOUR, first=Unsupported)
def copy_of_an_object_that_can_be_looped_over(x):
    return copy.copy(Hoard([x[0], x[1]])).pop()


@program(FOUR)
def object_with_an_extend_of_its_own(x):
    h = Hoard([x[0]])
    h.extend([x[1], x[2]])
    return h.sum * h.kept[0]


@program(FOUR, first=Unsupported)
def objects_with_an_extend_of_their_own(x):
    hoards = [Hoard([v]) for v in x]
    for h in hoards:
        h.extend([x[1], x[2]])
    return hoards[0].sum


@program(FOUR, first=Unsupported)
def helper_given_an_object_with_a_get_of_its_own(x):
    return found_in(Hoard([x[0], x[1]]), 1)


def found_in(d, key):
    return d.get(key, 1.0)


@program(FOUR, first=Unsupported)
def objects_with_operators_handed_to_numpy(x):
    h = Hoard([x[0], x[1]])
    return np.dot(h, h) + x[2]


class Samples:
    def __init__(self, held):
        self.held = held

    def __len__(self):
        return len(self.held)

    def __getitem__(self, k):
        return self.held[k]

    def __rmul__(self, k):
        return Samples([10.0 * k * v for v in self.held])


@program(FOUR, first=Refused)
def sequence_that_a_number_of_numpy_takes_apart(x):
    scaled = x[1] * Samples([x[0], x[1]])
    return scaled[0] * scaled[1]


@program(FOUR)
def sequence_that_a_number_of_python_multiplies(x):
    scaled = 2.0 * Samples([x[0], x[1]])
    return scaled[0] * scaled[1]


class SevenTimes(list):
    def sum(self, axis=None, dtype=None, out=None):
        return 7.0 * self[0]


@program(FOUR, first=Unsupported)
def sum_that_numpy_asks_an_object_for(x):
    return np.sum(SevenTimes([x[0], x[1]]))


@program(FOUR, first=Unsupported)
def sum_by_keyword_that_numpy_asks_an_object_for(x):
    return np.sum(a=SevenTimes([x[0], x[1]]))


class ThreeTimes(list):
    def __array__(self, dtype=None, copy=None):
        return np.array([3.0 * v for v in list(self)])


@program(FOUR, first=Unsupported)
def sequence_in_a_list_that_becomes_another_array(x):
    return np.sum(np.concatenate([ThreeTimes([x[0]]), x]))


def grown_from_the_end(u, n):
    u[n] *= u[n - 1]
    return grown_from_the_end(u, n - 1) if n > 1 else u[::-1]


@program(FOUR, first=Unsupported)
def recursion_that_returns_a_view_of_what_it_writes(x):
    y = x * x
    z = grown_from_the_end(y, 3)
    y[0] = 0.5
    return np.sum(z * x)


def handed_down(rows, n):
    return handed_down(rows, n - 1) if n > 0 else rows


@program(FOUR, first=Unsupported)
def recursion_that_returns_what_is_written_behind_it(x):
    rows = [[x[0], x[1]], [x[2], x[3]]]
    handed = handed_down(rows, 2)
    rows[0][1] = 3.0
    return handed[0][1] * handed[1][0]


def handed_back(m):
    return m


def applied(m, f):
    v = f(m)
    return v


def applied_and_written(m, f=np.transpose):
    v = f(m)
    v[0] *= 2.0


@program(FOUR, first=Unsupported)
def argument_that_a_function_value_hands_back_written(x):
    m = np.outer(x, x)
    v = applied(m, handed_back)
    m[0] *= 2.0
    return np.sum(v * m)


@program(FOUR, first=Unsupported)
def view_that_a_function_value_gives_written(x):
    m = np.outer(x, x)
    applied_and_written(m, np.ravel)
    applied_and_written(m)
    return np.sum(m * m)


def scale_the_first(n, u, s):
    u.ravel()[0] *= s
    if n:
        scale_the_first(n - 1, u, s)


@program(FOUR, first=Unsupported)
def recursion_that_writes_what_is_a_view_of_some_arrays(x):
    y = np.outer(x, x[:2])
    scale_the_first(1, y, x[3])
    scale_the_first(1, y.T, x[2])  # writes a copy, which nobody reads
    return np.sum(y * y * y)


class TakenTwice:
    def __init__(self):
        self.sum = 0.0

    def __iadd__(self, items):
        for v in items:
            self.sum = self.sum + v
        for v in items:
            self.sum = self.sum + 10.0 * v
        return self

    def __setitem__(self, key, items):
        self += items


@program(FOUR, first=NoRule)
def iterator_added_to_an_object(x):
    taken = TakenTwice()
    taken += itertools.accumulate(x)
    return taken.sum


@program(FOUR, first=Unsupported)
def iterator_stored_into_a_section_of_an_object(x):
    taken = TakenTwice()
    taken[1:] = map(np.sin, x)
    return taken.sum


@program(FOUR, first=NoRule)
def list_extended_by_what_draws_from_it(x):
    ys = [x[0], x[1]]
    ys.extend(itertools.accumulate(itertools.islice(ys, 5)))
    return sum(ys)


@program(FOUR, first=Unsupported)
def list_extended_by_the_sines_of_what_it_grows_to(x):
    ys = [x[0], x[1]]
    ys.extend(map(np.sin, itertools.islice(ys, 5)))
    return sum(ys)


@program(FOUR, first=Unsupported)
def key_that_reads_what_a_generator_changes(x):
    sign = [1.0]

    def turned():
        for v in x:
            sign[0] = -sign[0]
            yield v

    return max(turned(), key=lambda v: v * sign[0])


@program(FOUR, first=Unsupported)
def key_that_reads_what_map_changes(x):
    sign = [1.0]

    def turned(v):
        sign[0] = -sign[0]
        return v

    return max(map(turned, x), key=lambda v: v * sign[0])


@program(FOUR, first=Unsupported)
def reduction_that_reads_what_map_changes(x):
    state = [1.0]

    def counted(v):
        state[0] *= 2.0
        return v

    return reduce(lambda a, b: a * state[0] + b, map(counted, x))
