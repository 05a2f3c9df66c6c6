"""`for` over arrays, lists, tuples, `zip`, `enumerate`, `reversed`."""

# ruff: noqa: B905

import itertools

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
OTHER = np.array([0.9, 0.4, -0.5])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


@case(VECTOR, 0.7)
def loop_element_after_the_loop(v, x):
    a = x
    for e in v:
        a = a + e * x
    return a * e


@case(VECTOR, 0.7)
def iterable_rebound_inside_the_loop(v, x):
    a = x
    for e in v:
        a = a * e + x
        v = v * x
    return a + np.sum(v)


@case(VECTOR, 0.7)
def element_target_reassigned_in_the_body(v, x):
    a = 1.0
    for e in v:
        e = np.sin(e) * x
        a = a * (1.0 + e)
    return a + e * e


@case(VECTOR)
def elements_of_a_vector(v):
    a = 0.0
    for e in v:
        a = a + e * e * e
    return a


@case(MATRIX, OTHER)
def rows_of_a_matrix(m, v):
    a = v
    for row in m:
        a = np.sin(a) * row
    return np.sum(a)


@case(MATRIX)
def elements_of_rows(m):
    a = 1.0
    for row in m:
        for e in row:
            a = np.tanh(a * e) + e
    return a


@case(MATRIX)
def unpacked_rows_of_a_matrix(m):
    a = 0.0
    for x, y, z in m:
        a = a * x + y * z
    return a


@case(1.3, 0.7)
def list_literal(x, y):
    a = 1.0
    for e in [x, y, x * y]:
        a = a * np.sin(e)
    return a


@case(1.3, 0.7)
def tuple_literal(x, y):
    a = x
    for e in (y, 2.0, x):
        a = a * e + e
    return a


@case(1.3, 0.7)
def tuple_of_pairs(x, y):
    a = 0.0
    for c, e in ((1.0, x), (2.0, y), (x, y)):
        a = a + c * e * e
    return a


@case(1.3, 0.7)
def list_in_a_variable(x, y):
    parts = [x, y, x * y]
    a = 0.0
    for e in parts:
        a = a + e * parts[0]
    return a


@case(1.3)
def coefficients_that_are_constants(x):
    a = 0.0
    for c in (1.0, -2.0, 0.5):
        a = a * x + c
    return a


@case(1.3)
def integers_beside_floats(x):
    a = 0.0
    for k, c in [(2, 1.5), (3, -0.5)]:
        a = a + c * x**k
    return a


@case(VECTOR, OTHER)
def zip_of_two_arrays(v, w):
    a = 0.0
    for e, f in zip(v, w):
        a = a * e + f * f
    return a


@case(VECTOR, 0.7)
def zip_of_unequal_lengths(v, x):
    a = 0.0
    for e, k, f in zip(v, range(2), [x, x * x, 3.0]):
        a = a + e * f * (k + 1)
    return a


@case(MATRIX, np.array([0.4, -0.9]))
def zip_of_rows_and_numbers(m, v):
    a = 0.0
    for row, e in zip(m, v):
        a = a + np.sum(np.sin(row) * e)
    return a


@case(VECTOR, 0.7)
def enumerate_of_an_array(v, x):
    a = 0.0
    for i, e in enumerate(v):
        a = a * x + e * i
    return a


@case(VECTOR, 0.7)
def enumerate_with_a_start(v, x):
    a = 0.0
    for i, e in enumerate(v, start=1):
        a = a + e**i * x
    for i, e in enumerate([x, x * x], 2):
        a = a + e / i
    return a


@case(VECTOR, OTHER)
def enumerate_of_zip(v, w):
    a = 0.0
    for i, (e, f) in enumerate(zip(v, w)):
        a = a + (i + 1) * e * f * f
    return a


@case(VECTOR, OTHER)
def zip_of_enumerate(v, w):
    a = 1.0
    for (i, e), f in zip(enumerate(v), w):
        a = a * (1.0 + e * f) + i
    return a


@case(VECTOR)
def reversed_array(v):
    a = 0.0
    for e in reversed(v):
        a = np.sin(a) + e * e
    return a


@case(1.3, 0.7, 4)
def reversed_range(x, y, n):
    a = x
    for i in reversed(range(1, n)):
        a = a * y + i
    return a


@case(VECTOR, 0.7)
def reversed_list_in_zip(v, x):
    a = 0.0
    for e, f in zip(v, reversed([x, x * x, 1.0])):
        a = a * f + e
    return a


class Chain:
    def __init__(self):
        self.head, self.size = None, 0

    def push(self, v):
        self.head = Link(v, self.head)
        self.size += 1

    def __iter__(self):
        node = self.head
        while node is not None:
            yield node.v
            node = node.nxt

    def __len__(self):
        return self.size

    def __contains__(self, v):
        return any(abs(v - w) < 0.01 for w in self)


class Link:
    def __init__(self, v, nxt):
        self.v, self.nxt = v, nxt


@case(VECTOR)
def loops_over_an_object_by_its_generator(x):
    chain = Chain()
    for v in x:
        chain.push(v * 2.0)
    total = 0.0
    for k, v in enumerate(chain):
        if v > 100.0:
            break
        total += v * v * (k + 1)
    return total / len(chain) + sum(v * x[0] for v in chain) + max(chain)


@case(VECTOR)
def truth_and_membership_of_objects(x):
    chains = [Chain(), Chain()]
    total = 1.0
    for v in x:
        if not chains[0] or v in chains[0]:
            chains[0].push(v)
        else:
            chains[1].push(v * total)
        total *= v
    for c in chains:
        for v in c if c else ():
            total += v * v
    return total


class Decay:
    def __init__(self, value, left):
        self.value, self.left = value, left

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.value = self.value * 0.8
        return self.value


@case(VECTOR)
def loops_over_an_iterator_of_a_class(x):
    total = 0.0
    for v in Decay(x[0], 3):
        total += v * x[1]
    first, second = Decay(x[1], 2)
    return total + first * second


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)

    def each(self):
        for row in self:
            yield sum(row)


class Doubled(Rows):
    def __iter__(self):
        return iter([*self.rows, *self.rows])


@case(VECTOR)
def loops_over_objects_of_two_classes_and_their_generator_methods(x):
    total = 0.0
    for held in [Rows([[x[0], x[1]], [x[2]]]), Doubled([[x[1]], [x[2] * x[0]]])]:
        for row in held:
            for v in row:
                total += v * v
        for v in held.each():
            total += v * total
    return total


def of_all(rows):
    total = 0.0
    for row in rows:
        total += row * row
    return total


@case(VECTOR)
def loops_over_an_object_or_a_list_in_a_function(x):
    return of_all(Decay(x[0], 2)) + of_all([x[1], x[2]]) + of_all(x)


@case(VECTOR)
def unpacks_objects_with_a_length_of_their_own_into_stars(x):
    chain = Chain()
    for v in x:
        chain.push(v)
    a, *rest = chain
    first, *_ = Doubled([[x[0]], [x[1]]])
    return a * rest[0] + first[0] * len(rest)


@case(np.array([[-0.3, 0.4, -0.4], [0.4, -0.9, 0.7]]), VECTOR)
def row_of_a_loop_that_is_read_behind_it(a, u):
    for row in a:
        u = np.arctan(u - u * row)
    return np.sum(u * u) + np.sum(row * row)


def flat(parts):
    for part in parts:
        yield from part


def in_pairs(items):
    for pair in zip(*[iter(items)] * 2):
        yield from pair


@case(VECTOR)
def iterables_that_lists_take_all_items_of(x):
    rows = [[x[0], x[1]], [x[2], x[1]]]
    ys = [x[2]]
    ys.extend(itertools.accumulate(itertools.chain.from_iterable(rows)))
    ys += itertools.islice(itertools.cycle(x), 4)
    d = dict(enumerate(filter(lambda v: v > 0.1, itertools.chain(*rows))))
    a, *rest = in_pairs(v * v for v in ys)
    it = flat((np.sin(v), v * v) for v in ys)
    s = 0.0
    for v, w in zip(itertools.chain.from_iterable(rows), sorted(in_pairs(x), key=lambda v: -v)):
        s = s * 0.9 + v * w * next(it)
    return s + a * d[1] + rest[-1]


@case(np.array([1.355, 0.355, 0.733, 0.554]), 1.123)
def list_written_in_a_loop_over_map_of_map_of_it(x, c):
    xs, total, k = [x[0], c, x[1] * c, x[2]], 0.3, 0
    ys = xs
    for a in filter(np.isfinite, map(np.tanh, map(np.sin, xs))):
        k = (k + 1) % 4
        total = total + np.sin(a) * c
        ys[k] = 0.5 * ys[k] + 0.3 * a
    return total + x[3]
