"""Ways to lose a derivative: each function is right, or an error; never anything else.

@way                          gives the right gradient in the recorded mode
@refused                      raises, for the derivative would be lost
"""

from __future__ import annotations

import array
import ast
import collections
import contextlib
import contextvars
import copy
import ctypes
import decimal
import enum
import fractions
import functools
import heapq
import io
import itertools
import json
import math
import operator
import pickle
import queue
import random
import re
import statistics
import string
import struct
import threading
import types
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from s2sgrad import (
    checkpoint,
    custom_gradient,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    linearize,
    primitive,
    value_and_grad,
    vjp,
)

RIGHT, REFUSED = {}, {}


def way(f):
    RIGHT[f.__name__] = f
    return f


def refused(f):
    REFUSED[f.__name__] = f
    return f


# --- C code that takes numbers ---------------------------------------------------------------------------------------


@way
def math_functions(x):
    return math.sin(x[0]) + math.hypot(x[0], x[1]) + math.atan2(x[1], x[2]) + math.log(x[0], 2.0)


@way
def math_over_items(x):
    return math.fsum([v * v for v in x]) + math.prod([x[0], x[1]]) + math.dist([x[0], 1.0], [x[1], x[2]])


@way
def math_parts(x):
    return math.fmod(x[0], 0.3) + math.modf(x[0] * 10)[0] + math.ldexp(x[0], 2) + math.copysign(x[1], -1.0)


@way
def math_truncations(x):
    return math.floor(x[1]) * x[0] + math.ceil(x[1]) * x[2] + math.trunc(10 * x[0]) * x[1]


@refused
def frexp_and_its_kin(x):
    return math.frexp(x[0])[0] * math.nextafter(x[0], 2.0) * math.remainder(x[0], 0.3) * math.erf(x[0]) + math.ulp(x[0])


@refused
def struct_packs(x):
    return struct.unpack("d", struct.pack("d", x[0]))[0] * x[1]


@refused
def struct_packs_into(x):
    memory = bytearray(8)
    struct.pack_into("d", memory, 0, x[0])
    return struct.unpack_from("d", memory)[0] * x[1]


@refused
def array_module(x):
    a = array.array("d", [x[0], x[1]])
    return a[0] * a[1]


@refused
def array_module_appends(x):
    a = array.array("d")
    a.append(x[0])
    return a[0] * x[1]


@refused
def ctypes_number(x):
    return ctypes.c_double(x[0]).value * x[1]


@refused
def ctypes_array(x):
    held = (ctypes.c_double * 2)(x[0], x[1])
    return held[0] * held[1]


@refused
def ctypes_pointer(x):
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0] * x[1]


@refused
def decimals(x):
    return float(decimal.Decimal(x[0])) * x[1]


@refused
def decimals_of_text(x):
    return float(decimal.Decimal(str(x[0]))) * x[1]


@refused
def fraction_of_a_number(x):
    return float(fractions.Fraction(x[0])) * x[1]


@refused
def fraction_from_a_number(x):
    return float(fractions.Fraction.from_float(float(x[0]))) * x[1]


@refused
def ratio_of_integers(x):
    n, d = float(x[0] * x[1]).as_integer_ratio()
    return n / d


@refused
def complex_numbers(x):
    return abs(complex(x[0], x[1]))


@refused
def complex_literals(x):
    return abs(x[0] * 1j + 1.0)


@refused
def complex_arrays(x):
    return np.sum(np.abs(np.exp(1j * x)))


@refused
def polar_coordinates(x):
    import cmath

    return cmath.polar(complex(x[0], x[1]))[0]


@way
def times_of_integers(x):
    return int(x[0] * 10) * x[1] + operator.index(2) * x[0]


@way
def random_from_a_seed(x):
    rng = random.Random(1)
    return rng.gauss(0.0, 1.0) * x[0] + rng.choice([x[1], x[2]]) + rng.uniform(x[0], x[1])


@way
def sample_of_a_list(x):
    rng = random.Random(4)
    return rng.sample([x[0], x[1], x[2]], 2)[0] * x[1]


# --- text ------------------------------------------------------------------------------------------------------------


@refused
def text_of_a_number(x):
    return float(str(x[0] * x[1]))


@refused
def text_by_format(x):
    return float(f"{x[0] * x[1]:.12f}")


@refused
def text_by_percent(x):
    return float("%.12f" % (x[0] * x[1]))


@refused
def text_by_percent_s(x):
    return float("%s" % (x[0] * x[1]))


@refused
def text_by_method(x):
    return float("{:.10f}".format(x[0]))  # noqa: UP032


@refused
def text_by_template(x):
    return float(string.Template("$a").substitute(a=x[0]))


@refused
def text_by_join(x):
    return sum(map(float, ",".join(map(str, x)).split(",")))


@refused
def text_of_an_array(x):
    return np.sum(np.fromstring(np.array2string(x)[1:-1], sep=" "))


@refused
def text_printed_to_a_buffer(x):
    out = io.StringIO()
    print(x[0], file=out)
    return float(out.getvalue()) * x[1]


@refused
def text_printed_to_stdout(x):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        print(x[0])
    return float(out.getvalue()) * x[1]


@refused
def text_evaluated(x):
    return eval(repr(float(x[0] * x[1])))


@refused
def text_as_literal(x):
    return ast.literal_eval(repr(float(x[0])))


@refused
def text_of_hex_digits(x):
    return float.fromhex(float(x[0] * x[1]).hex())


@refused
def text_of_json(x):
    return json.loads(json.dumps(float(x[0] * x[1])))


@refused
def text_of_a_list(x):
    return json.loads(str([x[0] * 1.0]))[0] * x[1]


@refused
def text_found_by_a_pattern(x):
    return float(re.search(r"[\d.]+", f"v={x[0]}").group()) * x[1]


@refused
def text_into_numpy(x):
    return np.float64(str(x[0])) * x[1] + np.array([str(x[0])]).astype(float)[0]


@refused
def text_array(x):
    return np.array([str(x[0]), "1.0"]).astype(float)[0] * x[1]


@refused
def text_saved(x):
    out = io.StringIO()
    np.savetxt(out, x)
    out.seek(0)
    return np.sum(np.loadtxt(out))


@refused
def text_of_exceptions(x):
    try:
        raise ValueError(x[0])
    except ValueError as error:
        return float(str(error)) * x[1]


@refused
def text_of_a_key_error(x):
    try:
        return {}[x[0]]
    except KeyError as error:
        return float(str(error)) * x[1]


@way
def executed_text(x):
    space = {"x": x}
    exec("y = x[0] * x[1]", space)
    return space["y"]


@way
def evaluated_expression(x):
    return eval("x[0] * x[1]")


# --- memory ----------------------------------------------------------------------------------------------------------


@refused
def pickled_number(x):
    return pickle.loads(pickle.dumps(x[0] * x[1]))


@refused
def pickled_array(x):
    return np.sum(pickle.loads(pickle.dumps(x * x)))


@refused
def pickled_list(x):
    return pickle.loads(pickle.dumps([x[0], {"k": x[1]}]))[0] * x[1]


@refused
def bytes_and_back(x):
    return np.sum(np.frombuffer((x * x).tobytes()))


@refused
def bytes_of_the_array(x):
    return np.sum(np.frombuffer(bytes(x * x)))


@refused
def memory_view(x):
    return memoryview(x * x)[0]


@refused
def memory_of_the_data(x):
    return (x * x).data[0]


@way
def array_over_a_buffer(x):
    return np.sum(np.frombuffer(x * x))


@refused
def file_of_numpy(x):
    out = io.BytesIO()
    np.save(out, x)
    out.seek(0)
    return np.sum(np.load(out))


@refused
def interface_of_the_array(x):
    class Shares:
        __array_interface__ = (x * x).__array_interface__

    return np.sum(np.asarray(Shares()))


@refused
def structure_of_the_array(x):
    return np.sum(np.from_dlpack(x * x))


@refused
def bits_as_integers(x):
    return np.sum((x * x).view(np.int64)) * 1e-18 + x[0]


@way
def bits_there_and_back(x):
    return np.sum((x * x).view(np.int64).view(np.float64)) if x[0] > 5.0 else x[0]


@refused
def structured_arrays(x):
    s = np.zeros(2, dtype=[("a", float), ("b", float)])
    s["a"] = x[:2]
    return np.sum(s["a"] * x[:2])


@refused
def structured_record(x):
    s = np.array([(x[0], 1.0)], dtype=[("a", float), ("b", float)])
    return s["a"][0] * x[1]


@refused
def object_arrays(x):
    a = np.array([x[0], x[1]], dtype=object)
    return a[0] * a[1]


@way
def filled_object_arrays(x):
    a = np.empty(2, object)
    a[0], a[1] = x[0], x[1]
    return a[0] * a[1]


@way
def strides_of_the_array(x):
    y = x * x
    return np.sum(np.lib.stride_tricks.as_strided(y, (2, 2), (8, 8)) ** 2)


@way
def sliding_windows(x):
    w = np.lib.stride_tricks.sliding_window_view(x * x, 2)
    return np.sum(w * w)


@refused
def shape_that_is_set(x):
    y = np.outer(x, x)
    y.shape = (9,)
    return y[1]


# --- what outlives an expression -------------------------------------------------------------------------------------

KEPT_LIST, KEPT_DICT, TABLE = [], {}, np.ones(3)
VARIABLE = contextvars.ContextVar("variable", default=1.0)


class Box:
    a = 1.0

    def __init__(self, a=1.0):
        self.a, self.t = a, np.ones(2)

    @functools.cached_property
    def square(self):
        return self.a * self.a

    @property
    def cube(self):
        return self.a**3

    def times(self, v):
        return self.a * v


BOX = Box()


@functools.lru_cache
def remembered(v):
    return v * v


@functools.cache
def remembered_powers(v, n):
    return v if n == 1 else v * remembered_powers(v, n - 1)


@way
def global_list(x):
    KEPT_LIST.append(x[0])
    return KEPT_LIST.pop() * x[1]


@way
def global_dict(x):
    KEPT_DICT["k"] = x[0] * x[1]
    return KEPT_DICT.pop("k") * x[1]


@refused
def global_array(x):
    TABLE[0] = x[0]
    return np.sum(TABLE * x)


@way
def copy_of_a_global_array(x):
    a = TABLE.copy()
    a[0] = x[0]
    return np.sum(a * x)


@way
def attribute_of_a_global(x):
    BOX.a, before = x[0], BOX.a
    try:
        return BOX.a * x[1]
    finally:
        BOX.a = before


@refused
def array_of_a_global(x):
    BOX.t[0] = x[0]
    return BOX.t[0] * x[1]


@way
def cache_of_a_function(x):
    return remembered(x[0]) + remembered(x[1]) + remembered(x[0])


@way
def cache_of_a_recursion(x):
    return remembered_powers(x[0], 4) + remembered_powers(x[1], 3)


@way
def cache_of_equal_numbers(x):
    one = x[0] / x[0]
    return remembered(one * x[1]) + remembered(x[1]) + remembered(1.31)


@way
def cached_property_of_an_object(x):
    return Box(x[0]).square * x[1]


@way
def cache_that_is_a_dict(x):
    table = {}

    def of(v):
        return table.setdefault(v, v * v)

    return of(x[0]) + of(x[1]) + of(x[0])


@way
def context_variable(x):
    token = VARIABLE.set(x[0])
    try:
        return VARIABLE.get() * x[1]
    finally:
        VARIABLE.reset(token)


@way
def context_copied(x):
    context = contextvars.copy_context()
    context.run(VARIABLE.set, x[0])
    return context[VARIABLE] * x[1]


@way
def weak_references(x):
    box = Box(x[0])
    return weakref.ref(box)().a * x[1] + weakref.proxy(box).cube


@way
def weak_dictionary(x):
    box, table = Box(1.0), weakref.WeakKeyDictionary()
    table[box] = x[0]
    return table[box] * x[1]


@way
def default_argument(x):
    def f(v=x[0]):
        return v * x[1]

    return f()


@way
def attribute_of_a_function(x):
    def f():
        return f.kept * x[1]

    f.kept = x[0]
    return f()


@way
def closures_that_write(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * v

    for v in x:
        add(v)
    return total


@way
def exceptions_carry(x):
    try:
        raise ValueError(x[0] * x[1])
    except ValueError as error:
        return error.args[0] * x[2]


@way
def end_of_an_iteration_carries(x):
    def steps():
        yield 1.0
        return x[0] * x[1]

    gen = steps()
    next(gen)
    try:
        next(gen)
    except StopIteration as end:
        return end.value * x[2]


@way
def generator_that_is_sent(x):
    def g():
        t = 0.0
        while True:
            t = yield t * x[1]

    i = g()
    next(i)
    return i.send(x[0]) + i.send(2.0)


@way
def generator_that_is_thrown_into(x):
    def g():
        try:
            yield 0.0
        except ValueError as error:
            yield error.args[0] * x[1]

    i = g()
    next(i)
    return i.throw(ValueError(x[0]))


@way
def context_manager_that_changes(x):
    out = [x[0]]

    @contextlib.contextmanager
    def scaled():
        yield out
        out[0] = out[0] * x[1]

    with scaled() as held:
        held[0] = held[0] * x[2]
    return out[0]


# --- containers of the library ---------------------------------------------------------------------------------------


@way
def keys_of_a_dict(x):
    return sum({x[0]: 1.0, x[1]: 2.0})


@way
def sets(x):
    return sum({x[0], x[1], x[0]}) * x[2]


@way
def sets_of_tuples(x):
    return sum(a * b for a, b in {(x[0], x[1]), (x[1], x[2])})


@way
def frozen_sets(x):
    return max(frozenset([x[0], x[1]]) | {x[2]}) * x[0]


@way
def counters(x):
    return sum(collections.Counter([x[0], x[1], x[0]]).elements())


@way
def counted_by_amounts(x):
    c = collections.Counter(a=x[0])
    c.update(a=x[1], b=x[2])
    return c["a"] * c["b"] + c.total()


@way
def deques(x):
    d = collections.deque(x, maxlen=2)
    d.appendleft(x[0] * x[1])
    d.rotate(1)
    return d[0] * d[1]


@way
def chained_dicts(x):
    c = collections.ChainMap({"a": x[0]}, {"a": x[1], "b": x[2]})
    return c["a"] * c["b"]


@way
def default_dicts(x):
    d = collections.defaultdict(float)
    for k, v in enumerate(x):
        d[k % 2] += v * v
    return d[0] * d[1]


@way
def ordered_dicts(x):
    d = collections.OrderedDict(a=x[0], b=x[1])
    d.move_to_end("a")
    return d.popitem()[1] * x[2]


@way
def heaps(x):
    h = list(x)
    heapq.heapify(h)
    heapq.heappush(h, x[0] * x[1])
    return heapq.heappop(h) * heapq.nlargest(1, h)[0] + heapq.nsmallest(2, h)[1]


@way
def heaps_of_pairs(x):
    h = []
    for k, v in enumerate(x):
        heapq.heappush(h, (v, k))
    return heapq.heappop(h)[0] * x[1]


@way
def queues(x):
    q = queue.PriorityQueue()
    for v in x:
        q.put(v)
    return q.get() * q.get()


@way
def named_spaces(x):
    s = types.SimpleNamespace(a=x[0])
    s.b = s.a * x[1]
    return vars(s)["b"] * s.a


class Pair(NamedTuple):
    a: float
    b: float


@dataclass
class Point:
    a: float
    b: float = 2.0
    rest: list = field(default_factory=list)


@way
def named_tuples(x):
    p = Pair(x[0], x[1])._replace(b=x[2])
    return p.a * p.b + sum(p._asdict().values())


@way
def data_classes(x):
    p = replace(Point(x[0], rest=[x[2]]), b=x[1])
    return asdict(p)["a"] * astuple(p)[1] + p.rest[0]


class Kind(enum.Enum):
    SMALL, LARGE = 1, 2


@way
def enumerations(x):
    table = {Kind.SMALL: x[0], Kind.LARGE: x[1]}
    return table[Kind.LARGE if x[1] > 1.0 else Kind.SMALL] * x[2]


@way
def deep_copies(x):
    a = copy.deepcopy([x[0], {"k": x * x}, Box(x[1])])
    b = copy.copy(x)
    b[0] = 0.0
    return a[0] * np.sum(a[1]["k"]) + np.sum(b) + a[2].a


@way
def replaced_parts_of_types(x):
    p = copy.copy(Point(x[0]))
    p.__dict__.update(b=x[1])
    return p.a * p.b


# --- iteration -------------------------------------------------------------------------------------------------------


@way
def sorted_numbers(x):
    s = sorted(x, key=lambda v: -v)
    return s[0] * s[1]


@way
def sorted_by_comparison(x):
    s = sorted(x, key=functools.cmp_to_key(lambda a, b: int(a > b) - int(a < b)))
    return s[0] * s[1] * s[1]


@way
def sorted_in_place(x):
    s = list(x)
    s.sort(reverse=True)
    return s[0] ** 2 * s[1]


@way
def largest_by_key(x):
    return max(x, key=lambda v: v * v) * min(x) + max([x[0], x[1]], default=0.0)


@way
def reductions(x):
    return functools.reduce(operator.mul, x) + functools.reduce(lambda a, b: a * b + 1, x, x[0])


@way
def accumulations(x):
    return sum(itertools.accumulate(x, operator.mul)) + list(itertools.accumulate(x, initial=x[1]))[-1] ** 2


@way
def split_iterators(x):
    a, b = itertools.tee(v * v for v in x)
    next(b)
    return sum(p * q for p, q in zip(a, b, strict=False))


@way
def mapped_functions(x):
    return sum(map(math.exp, x)) + sum(map(np.sin, x)) + sum(map(operator.mul, x, x[::-1]))


@way
def iterator_tools(x):
    chained = itertools.chain.from_iterable([x, x * x])
    pairs = itertools.starmap(operator.mul, itertools.pairwise(itertools.islice(chained, 5)))
    return sum(pairs) + sum(a * b for a, b in itertools.combinations(x, 2)) + next(itertools.cycle(x))


@way
def grouped(x):
    return sum(k * sum(g) for k, g in itertools.groupby(sorted([x[0], x[1], x[0]])))


@way
def iterators_with_an_end(x):
    it = iter(list(x))
    return sum(v * v for v in iter(lambda: next(it, 0.0), 0.0))


@way
def zipped_and_reversed(x):
    return sum(a * b for a, b in zip(reversed(list(x)), x, strict=True)) + sum(k * v for k, v in enumerate(x))


@way
def products_of_lists(x):
    return sum(math.prod(p) for p in itertools.product(x, repeat=2)) + sum(a for a, _ in itertools.permutations(x, 2))


@way
def compressed(x):
    return sum(itertools.compress(x, [1, 0, 1])) ** 2 + sum(itertools.takewhile(lambda v: v < 1.0, x)) * x[1]


# --- operators as functions ------------------------------------------------------------------------------------------


@way
def operators(x):
    return operator.add(x[0], x[1]) * operator.truediv(x[1], x[2]) + operator.pow(x[0], 3) - operator.neg(x[2])


@way
def operators_in_place(x):
    y = x.copy()
    z = operator.iadd(y, x)
    operator.imul(z, 2.0)
    operator.setitem(y, 0, x[1] * x[1])
    return np.sum(y * x)


@way
def getters(x):
    first, second = operator.itemgetter(0, 1)(x)
    return first * second * operator.attrgetter("a")(Box(x[2])) + operator.methodcaller("times", x[1])(Box(x[0]))


@way
def dunder_methods(x):
    return x[0].__mul__(x[1]) + x.__getitem__(2) * float.__mul__(float(x[0]), float(x[1])) + x.__add__(1.0)[0]


@way
def unbound_methods(x):
    return np.ndarray.sum(x * x) + np.ndarray.__mul__(x, x)[1] + list.__getitem__([x[0]], 0)


@way
def partial_methods(x):
    return functools.partial(np.multiply, x[0])(x[1]) + functools.partial(pow, x[2])(2)


class Scaled:
    def __init__(self, w):
        self.w = w

    def __call__(self, v):
        return self.w * v

    def __matmul__(self, other):
        return self.w * other.w

    def __rmul__(self, v):
        return v * self.w * 2.0

    def __float__(self):
        return float(self.w)

    def __iter__(self):
        yield self.w
        yield self.w**2

    def __getattr__(self, name):
        if name == "twice":
            return 2 * self.w
        raise AttributeError(name)


@way
def special_methods(x):
    s, t = Scaled(x[0]), Scaled(x[1])
    return s @ t + s(x[2]) + sum(s) + s.twice


@way
def reflected_methods(x):
    return x[1] * Scaled(x[0])


@way
def float_of_an_object(x):
    return float(Scaled(x[0])) * x[1]


@way
def dispatched_functions(x):
    @functools.singledispatch
    def f(v):
        return 0.0

    @f.register
    def _(v: float):
        return v * v

    @f.register
    def _(v: np.ndarray):
        return np.sum(v) * 2.0

    return f(x[0]) + f(x)


@way
def wrapped_functions(x):
    def twice(g):
        @functools.wraps(g)
        def wrapper(*args, **kwargs):
            return 2.0 * g(*args, **kwargs)

        return wrapper

    @twice
    def square(v, *, by=1.0):
        return v * v * by

    return square(x[0], by=x[1])


# --- types -----------------------------------------------------------------------------------------------------------


@way
def type_is(x):
    same = type(x[0]) is np.float64 and isinstance(x, np.ndarray) and type(x) is np.ndarray and type(float(x[0])) is float
    return x[0] * x[1] if same else 0.0


@way
def instance_of(x):
    return x[0] * x[1] if isinstance(x[0], float) and isinstance(x[0], (int, float)) and not isinstance(x[0], int) else 0.0


@way
def matched(x):
    match [x[0] * 1.0, x[1]]:
        case [float(v), w]:
            return v * v * w
        case _:
            return 0.0


@way
def table_of_types(x):
    table = {np.float64: lambda v: v * v, float: lambda v: v**3, np.ndarray: np.sum}
    return table[type(x[0])](x[0]) + table[type(x)](x) + table[type(float(x[1]))](float(x[1]))


@way
def conversions(x):
    return np.float64(x[0]) * np.float64(x[1]) + float(x[2]) * x[0] + x[1].item() * x.item(0) + x.tolist()[2]


@way
def conversions_by_the_class(x):
    return type(x[0])(x[1]) * x[0] + x[0].__class__(x[1]) * x[2]


@way
def single_precision(x):
    return np.sum((x * x).astype(np.float64)) + x.astype(float, copy=False)[0]


@way
def integers_of_it(x):
    return np.sum((x * 10).astype(int) * x) + round(x[0] * 10) * x[1] + round(x[0], 1) + (x[0] * 10 // 1) * x[1]


@way
def remainders(x):
    q, r = divmod(x[0], 0.3)
    return q * x[1] + r + x[0] % 0.2 + np.remainder(x, 0.3)[2]


@way
def truth_of_it(x):
    return (x[0] and x[1]) * (0.0 or x[2]) + bool(x[0]) * x[1] + (x[0] > 0.5) * x[0]


@way
def indices_of_it(x):
    return [1.0, 2.0][int(x[0])] * x[1] + x[int(x[1])] * x[0]


# --- threads ---------------------------------------------------------------------------------------------------------


@way
def threads(x):
    out = []
    t = threading.Thread(target=lambda: out.append(x[0] * x[1]))
    t.start()
    t.join()
    return out[0]


@way
def pool_of_threads(x):
    with ThreadPoolExecutor(1) as pool:
        return sum(pool.map(lambda v: v * v, x)) + pool.submit(operator.mul, x[0], x[1]).result()


@way
def local_of_threads(x):
    local = threading.local()
    local.a = x[0]
    return local.a * x[1]


# --- NumPy -----------------------------------------------------------------------------------------------------------


@way
def arrays_of_numbers(x):
    return np.sum(np.array([x[0] * x[1], 2.0, x[2]]) ** 2) + np.sum(np.array([[x[0], 1.0], [x[1], x[2] * x[0]]]) ** 2)


@way
def array_of_arrays(x):
    return np.sum(np.array([x, x * x, [x[0], 1.0, 2.0]]) ** 2) + np.sum(np.stack([x, x[::-1]])[0] * x)


@way
def arrays_like_it(x):
    return np.sum(np.full_like(x, x[0]) * x) + np.sum(np.zeros_like(x) + x) + np.full(2, x[1])[0]


@way
def arrays_from_iterators(x):
    return np.sum(np.fromiter((v * v for v in x), float) * x)


@way
def ufunc_methods(x):
    return np.add.reduce(x * x) + np.multiply.reduce(x) + np.sum(np.add.accumulate(x) ** 2) + np.multiply.outer(x, x)[0, 1]


@way
def ufunc_reduceat(x):
    return np.sum(np.add.reduceat(x * x, [0, 2]) ** 2)


@way
def ufunc_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 1], x)
    np.subtract.at(y, [2], x[0])
    np.multiply.at(y, [0, 0], x[1])
    return np.sum(y * y)


@way
def filled_by_functions(x):
    y = np.zeros(3)
    np.copyto(y, x * x)
    y.put([0], x[1])
    np.put(y, [1], x[2] * x[2])
    np.putmask(y, [False, False, True], x)
    np.place(y, np.array([True, False, False]), [x[2]])
    return np.sum(y * y)


@way
def filled_by_methods(x):
    y = np.outer(x, x)
    np.fill_diagonal(y, x * x)
    y[0].fill(x[1])
    y[1:].sort(axis=0)
    y.itemset if hasattr(y, "itemset") else None
    return np.sum(y * y)


@way
def written_by_out(x):
    y = np.zeros(3)
    np.multiply(x, x, y)
    np.add(y, x, out=y)
    np.cumsum(y, out=y)
    np.sin(y, y)
    return np.sum(y * y) + np.sum(x, out=np.zeros(()))


@way
def written_by_out_into_views(x):
    y = np.zeros(3)
    np.multiply(x[:2], x[1:], out=y[:2])
    np.dot(x[:1].reshape(1, 1), x[1:2].reshape(1, 1), y[2:].reshape(1, 1))
    return np.sum(y * y)


@way
def views_of_views(x):
    y = x.copy()
    v = y[::-1]
    v += y
    y.reshape(3, 1).T[0, 1] *= x[0]
    y.ravel()[2] = x[1] * x[2]
    return np.sum(y * y)


@way
def flat_iterators(x):
    m = np.outer(x, x)
    m.flat[1] = x[2]
    m.flat[[2, 3]] = x[:2]
    return sum(v * v for v in m.flat)


@way
def flat_assigned(x):
    m = np.outer(x, x)
    m.flat = x
    return np.sum(m * m)


@refused
def items_by_nditer(x):
    return sum(float(v) ** 2 for v in np.nditer(x))


@refused
def stores_by_nditer(x):
    y = np.zeros(3)
    with np.nditer([y, x], op_flags=[["writeonly"], ["readonly"]]) as it:
        for a, b in it:
            a[...] = b * b
    return np.sum(y)


@way
def items_with_indices(x):
    return sum(k[0] * v * v for k, v in np.ndenumerate(x))


@way
def vectorized(x):
    return np.sum(np.vectorize(lambda v: v * v)(x))


@refused
def ufunc_from_python(x):
    return np.sum(np.frompyfunc(lambda v: v * v, 1, 1)(x).astype(float))


@way
def along_an_axis(x):
    return np.sum(np.apply_along_axis(lambda r: r * r, 0, x)) + np.sum(np.apply_over_axes(np.sum, np.outer(x, x), [0, 1]))


@way
def by_pieces(x):
    return np.sum(np.piecewise(x, [x < 0.5, x >= 0.5], [lambda v: v * v, lambda v: v**3]))


@way
def interpolated(x):
    return np.interp(x[0], np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0])) + np.interp(0.5, [0.0, 1.0], [x[0], x[1]])


@way
def index_tricks(x):
    return np.sum(np.r_[x, 1.0, x[0]] ** 2) + np.sum(np.c_[x, x * x][:, 1]) + np.r_[x[0], x[1]][0]


@way
def sorted_by_numpy(x):
    y = x * x
    y.sort()
    return y[0] * y[1] + np.sort(x)[0] * np.partition(x, 1)[0] + x[np.argsort(x)][2] ** 2 + np.sum(np.unique(x) ** 2)


@way
def shuffled(x):
    y = list(x)
    random.Random(3).shuffle(y)
    z = x * x
    np.random.default_rng(3).shuffle(z)
    return y[0] * z[0] + np.random.default_rng(4).permutation(x)[0] ** 2 + np.random.RandomState(1).permutation(x)[1] ** 2


@way
def shuffled_by_the_global_generator(x):
    np.random.seed(2)
    z = x * x
    np.random.shuffle(z)
    return z[0] ** 2 + np.random.permutation(x)[0] * x[1]


@way
def drawn_around_it(x):
    return np.random.default_rng(1).normal(x[0], 1.0) * x[1] + np.random.default_rng(2).choice(x) ** 2


@way
def iterated(x):
    a, *rest = x
    return a * sum(rest) + [*x][1] * max(*x) + sum(v * w for v, w in zip(*np.outer(x, x)[:2], strict=True))


@way
def contained(x):
    return x[0] * (x[0] in x) + list(x).index(x[1]) * x[2] + list(x).count(x[0]) * x[0]


@way
def held_by_masked_arrays(x):
    return np.sum(np.where(x > 0.5, x * x, 0.0)) + np.sum(x[x > 0.5] ** 2) + np.sum(np.compress([True, False, True], x) ** 2)


@refused
def masked_arrays(x):
    return np.ma.masked_array(x, [False, True, False]).sum() * x[0]


@refused
def matrices(x):
    return np.asmatrix(x).sum() * x[0]


@way
def polynomials(x):
    return np.polyval([1.0, x[0], 2.0], x[1]) + np.sum(np.gradient(x * x)) + np.trapezoid(x * x)


@refused
def polynomial_objects(x):
    return np.polynomial.Polynomial([1.0, x[0]])(x[1]) * np.poly1d([x[0], 1.0])(x[1])


@refused
def lapack(x):
    from scipy.linalg import lapack

    return np.sum(lapack.dpotrf(np.outer(x, x) + np.eye(3))[0])


@refused
def blas(x):
    from scipy.linalg import blas

    return blas.ddot(x, x) * x[0]


@refused
def blas_that_writes(x):
    from scipy.linalg import blas

    y = np.zeros(3)
    blas.daxpy(x, y, a=2.0)
    return np.sum(y)


@refused
def fourier(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2)


@refused
def sparse_matrices(x):
    from scipy import sparse

    return sparse.csr_matrix(np.outer(x, x)).sum() * x[0]


@refused
def roots_by_callbacks(x):
    from scipy import optimize

    return optimize.brentq(lambda t: t * t - x[0], 0.0, 2.0)


@refused
def integrals_by_callbacks(x):
    from scipy import integrate

    return integrate.quad(lambda t: t * x[0], 0.0, x[1])[0] ** 2


@refused
def splines(x):
    from scipy import interpolate

    return interpolate.CubicSpline(np.arange(3.0), x)(0.5) * x[0]


@way
def histograms(x):
    return np.sum(np.histogram(x, bins=2)[1]) * x[0]


@way
def printed_beside(x):
    with contextlib.redirect_stdout(io.StringIO()):
        print(x, f"{x[0]:.3f}", repr(x[1]))
    return np.sum(x * x)


# --- statistics and other libraries ----------------------------------------------------------------------------------


@way
def means(x):
    return statistics.mean([x[0], x[1]]) + statistics.fmean([x[0] * x[0]]) + statistics.fmean(v * v for v in x)


@way
def medians(x):
    return statistics.median([x[0], x[1], x[2]]) * x[0] + statistics.median_low(list(x)) * x[1]


@way
def deviations(x):
    return statistics.stdev(list(x)) + statistics.pvariance(list(x)) + statistics.variance(v * v for v in x)


@way
def distributions(x):
    return statistics.NormalDist(x[0], 1.0).pdf(x[1]) * x[2]


@refused
def quantiles_and_more(x):
    return statistics.quantiles(list(x), n=4)[0] * statistics.harmonic_mean(list(x)) * statistics.geometric_mean(list(x))


@refused
def series_of_pandas(x):
    import pandas

    return pandas.Series(x).sum() * x[0]


@refused
def frame_of_pandas(x):
    import pandas

    return pandas.DataFrame({"a": x})["a"].sum() * x[0]


@refused
def frame_of_numbers(x):
    import pandas

    return pandas.DataFrame({"a": [x[0], x[1]]})["a"].mean() * x[0]


# --- errors that a handler passes over ------------------------------------------------------------------------------------


@refused
def refusal_in_a_handler(x):
    try:
        return struct.unpack("d", struct.pack("d", x[0]))[0] * x[1]
    except Exception:
        return x[1] * 2.0


@refused
def store_in_a_handler(x):
    with contextlib.suppress(ValueError):
        TABLE[0] = x[0]
    return np.sum(TABLE * x)


@refused
def conversion_in_a_handler(x):
    try:
        v = decimal.Decimal(x[0])
    except TypeError:
        v = 3.0
    return float(v) * x[1]


@refused
def complex_number_in_a_handler(x):
    with contextlib.suppress(Exception):
        return abs(complex(x[0], x[1]))
    return x[0]


@way
def error_that_the_plain_run_raises(x):
    try:
        return x[7] * {}[x[0]]
    except LookupError:
        return x[1] * math.sqrt(x[0])


@way
def error_of_mathematics(x):
    try:
        return math.log(-x[0])
    except ValueError:
        return x[1] * math.log(x[0])


# --- functions without source ---------------------------------------------------------------------------------------------

SPACE = {"math": math}
exec(
    "def kind(v):\n    return v * 2.0 if type(v) is float else v * 3.0\n"
    "def digits(v):\n    return float(str(v))\n"
    "def scaled(v):\n    return v * v * 2.0\n",
    SPACE,
)


@refused
def type_without_source(x):
    return SPACE["kind"](float(x[0]))


@refused
def text_without_source(x):
    return SPACE["digits"](x[0])


@refused
def callback_without_source(x):
    return sum(map(SPACE["kind"], [float(v) for v in x]))


@way
def arithmetic_without_source(x):
    return SPACE["scaled"](x[0]) * x[1]


# --- derivatives inside ---------------------------------------------------------------------------------------------------


@custom_gradient
def doubled_slope(v):
    return v * v, lambda g: 4.0 * g * v


@custom_gradient
def two_results(u, v):
    return (u * v, u + v), lambda a, b: (np.sum(a * v + b), a * u + b)


@primitive
def cube(v):
    return v**3


cube.defvjp(lambda g, y, v: 3.0 * g * v * v)


def energy(u, v=1.0):
    return np.sum(u * u * u) * v


@way
def gradients_inside(x):
    value, slope = value_and_grad(energy)(x)
    return value * np.sum(slope) + np.sum(grad(energy, 0)(x, x[0]))


@way
def gradients_of_gradients_inside(x):
    return grad(grad(lambda t: t**4))(x[0]) + np.sum(grad(lambda u: np.sum(grad(energy)(u)))(x))


@way
def tangents_inside(x):
    value, dot = jvp(energy, (x,), (x * x,))
    return value * dot + hvp(energy, (x,), (x,))[0]


@way
def pullbacks_inside(x):
    y, pullback = vjp(lambda u, v: u * v, x, x * x)
    a, b = pullback(x)
    return np.sum(a * b * y)


@way
def matrices_inside(x):
    rows, square = jacobian(lambda u: u * u * u[0])(x), hessian(energy)(x)
    return np.sum(rows @ x) + np.sum(square * rows)


@way
def linear_maps_inside(x):
    y, along = linearize(lambda u: u * u, x)
    return np.sum(along(x * x) * y)


@way
def auxiliary_values_inside(x):
    slope, aux = grad(lambda u: (np.sum(u * u * u), u * 2.0), has_aux=True)(x)
    return np.sum(slope * aux)


@way
def checkpoints_inside(x):
    return np.sum(checkpoint(lambda u: np.sin(u) * u)(x) ** 2)


@way
def rules_of_the_user(x):
    return cube(x[0]) * np.sum(cube(x)) + sum(map(cube, x))


@way
def results_of_the_user(x):
    a, b = two_results(x[0], x * x)
    return np.sum(a * b)


@refused
def rule_that_reads_what_is_no_argument(x):
    @custom_gradient
    def scaled(v):
        return v * x[1], lambda g: g

    return scaled(x[0])


@refused
def rule_that_calls_what_it_is_given(x):
    @primitive
    def applied(f, v):
        return f(v)

    applied.defvjp(None, lambda g, y, f, v: g)
    return applied(lambda v: v * x[1], x[0])


# --- special methods, which operators call --------------------------------------------------------------------------------


class Dual:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __mul__(self, other):
        if type(other) is float or type(other) is np.float64:
            return Dual(self.a * other, self.b * other)
        return Dual(self.a * other.a, self.a * other.b + self.b * other.a)

    def __rmul__(self, other):
        return self * float(other)

    def __abs__(self):
        return math.hypot(self.a, self.b)

    def __lt__(self, other):
        return math.exp(self.a) < math.exp(other.a)

    def __getitem__(self, k):
        return math.sqrt(self.a) if k == 0 else np.array([self.b, 1.0])[0]

    def __iter__(self):
        yield math.exp(self.a)
        yield np.zeros(2) + self.b

    @property
    def angle(self):
        return math.atan2(self.b, self.a)

    @functools.cached_property
    def size(self):
        y = np.zeros(2)
        y[0] = self.a
        return np.sum(y * y) + math.log(self.b)


DUAL = Dual(0.3, 0.4)


@way
def special_method_that_asks_for_the_type(x):
    return (Dual(x[0], x[1]) * x[2]).b + (x[1] * Dual(x[0], x[2])).a


@way
def special_methods_of_mathematics(x):
    d = Dual(x[0], x[1])
    first, second = d
    return abs(d) + d[0] * d[1] + first * np.sum(second) + d.angle + d.size


@way
def order_of_its_own(x):
    return min([Dual(x[0], x[1]), Dual(x[2], x[0])]).b * max(Dual(x[0], x[1]), Dual(x[2], x[0])).a


@way
def object_of_the_module(x):
    return (DUAL * float(x[0])).b * (DUAL * Dual(x[1], x[2])).a + abs(DUAL) * x[0]


@way
def objects_in_a_list_of_the_module(x):
    return sum((d * x[0]).a for d in [DUAL, DUAL]) * x[1]


@refused
def sorted_by_a_median(x):
    y = x[::-1] * x
    np.nanmedian(y, overwrite_input=True)
    return np.sum(y * x)


@refused
def sorted_by_a_quantile_by_position(x):
    y = x[::-1] * x
    np.quantile(y, 0.3, None, None, True)
    return np.sum(y * x)


@refused
def differences_one_after_the_other(x):
    return np.subtract.reduce(x)


@refused
def roots_of_a_polynomial(x):
    return np.sum(np.abs(np.roots(x)))


@refused
def put_among_themselves(x):
    y = x * x
    np.place(y, y > 0.5, y)
    return np.sum(y * x)


@way
def combined_with_what_was_there(x):
    y = x * x
    np.arctan2.at(y, [1, 1, 0], y)
    np.multiply.at(y, [2, 1, 2], y[::-1])
    return np.sum(y * x)


@refused
def solved_in_place_by_position(x):
    a, b = np.asfortranarray(np.outer(x, x) + 2.0 * np.eye(3)), x * x
    linalg.solve(a, b, False, True, True)
    return np.sum(b * x)


# --- several results of one call -------------------------------------------------------------------------------------


@way
def views_and_a_new_array_in_one_result(x):
    a, b, c = np.broadcast_arrays(x[:2].reshape(2, 1), x, x[0])
    return np.sum(a * a * a) + np.sum(b * b) + np.sum(c * c)


@way
def a_view_and_a_new_array_in_one_mesh(x):
    a, b = np.meshgrid(x, [x[0], x[1] * x[2]], copy=False)
    return np.sum(a * a * a) + 2.0 * np.sum(b * b)


@way
def parts_of_one_new_array(x):
    a, b = np.array_split([x[0], x[1], x[2]], 2)
    return np.sum(a * a * a) + 2.0 * np.sum(b * b)


@way
def a_store_into_a_view_beside_a_new_array(x):
    y = x * 1.0
    a, b = np.atleast_1d(y, x[0])
    a[0] = x[1] * x[1]
    b[0] *= 3.0
    return np.sum(y * y * y) + np.sum(b * b)


@way
def windows_of_a_list(x):
    w = np.lib.stride_tricks.sliding_window_view([x[0], x[1] * x[2], x[2]], 2)
    return np.sum(w * w) + np.sum(w[0] * w[1])


class SaysItsItems(list):
    def __iter__(self):
        return list.__iter__(self)

    def __len__(self):
        return list.__len__(self)


@way
def a_list_that_says_its_items(x):
    held = SaysItsItems([x[0], x[1] * x[2]])
    return sum([v * v for v in held]) + len(held) * np.sum(np.array(list(held)))


@way
def a_decomposition_of_rows(x):
    q, r = np.linalg.qr([[x[0], x[1]], [0.3, x[2]]])
    return r[0, 1] * q[0, 0] + np.std([x[0], x[1], x[2]])


@way
def stores_into_parts_of_complex_numbers(x):
    z = np.zeros(3, complex)
    re, im = z.real, z.imag
    re[0] = x[0] * x[1]
    im[1:] = x[1:] * x[0]
    z[2] += x[2] * 1j
    z *= 1.0 + 0.5j
    re[1] *= x[2]
    return np.sum(np.abs(z) ** 2) + np.sum(re * im) + z[0].imag


@way
def a_part_that_is_read_before_the_number_is_written(x):
    z = x + 1j * x[::-1]
    a, b = z.real, z.real.copy()
    z[0] = x[0] * 2j
    z.imag[:] = x * x
    return np.sum(a * b) + np.sum(np.abs(z))


@way
def complex_numbers_of_python(x):
    z = complex(float(x[0]), float(x[1])) * (1 + 2j)
    w = z**2 / (z - 3j) - z.conjugate() * abs(z)
    return (w * w).real + w.imag + abs(w + complex(0, x[2]))


@way
def a_view_of_the_bits_of_complex_numbers(x):
    z = x * (1.0 + 2.0j)
    return np.sum(np.abs(np.stack([z, z * 1j]).sum(axis=0)) ** 2) + np.real(np.vdot(z, z))


@refused
def floats_under_complex_numbers(x):
    return np.sum((x * 1j).view(float) ** 2)


@refused
def floats_written_as_complex_numbers(x):
    y = np.zeros(4)
    y[:3] = x
    z = y.view(complex)
    z *= 1j
    return np.sum(y * np.arange(4.0) * y)


@refused
def constants_written_as_complex_numbers(x):
    y = np.ones(4)
    z = y.view(complex)
    z *= 1j
    return np.sum(y[:3] * x)


@way
def chain_of_dicts(x):
    chained = collections.ChainMap({"a": x[0]}, {"a": 1.0, "b": x[1]})
    inner = chained.new_child({"b": x[2]})
    inner["a"] = x[2] * inner["a"]
    values = sum(chained.values()) + sum(v for _, v in inner.items()) * inner.get("c", 1.5)
    return values * inner["b"] + inner.parents["b"] * sum(chained[key] for key in chained)
