"""Tools of Python's library that call functions or run through things, and NumPy's that take functions."""

import bisect
import functools
import itertools
import math
import operator
import statistics
from collections import OrderedDict, defaultdict, deque, namedtuple

import numpy as np

from .case import case

VECTOR = np.array([0.3, 0.7, 1.1])
Pair = namedtuple("Pair", "a b")


@case(VECTOR)
def accumulated(v):
    products = list(itertools.accumulate(v, lambda a, b: a * b))
    return sum(itertools.accumulate(v)) + products[-1] * sum(itertools.accumulate(v, operator.mul, initial=2.0))


@case(VECTOR)
def left_early_and_late(v):
    small = [t * t for t in itertools.takewhile(lambda t: t < 1.0, v)]
    large = list(itertools.dropwhile(lambda t: t < 0.5, v))
    odd = list(itertools.filterfalse(lambda t: t < 0.5, v))
    return sum(small) * sum(large) + sum(itertools.compress(v, [1, 0, 1])) * odd[0]


@case(VECTOR)
def some_of_a_sequence(v):
    total = 0.0
    for t in itertools.islice(v, 1, None):
        total += t * t
    for k, t in enumerate(itertools.islice(v, 2)):
        total += k * t
    return total + sum(itertools.islice(v, 0, 3, 2))


@case(VECTOR)
def pairs_and_products(v):
    total = 0.0
    for a, b in itertools.combinations(v, 2):
        total += a * b**2
    for a, b in itertools.product(v, v[:2]):
        total += a / b
    for a, b in itertools.permutations(v, 2):
        total += np.sin(a * b) * a
    for a, b in itertools.zip_longest(v, v[1:], fillvalue=0.5):
        total += a * b
    return total


@case(VECTOR)
def counted_and_starred(v):
    weighted = 0.0
    for t, k in zip(v, itertools.count(1)):
        weighted += t**k
    return weighted + sum(itertools.starmap(lambda a, b: a * b, zip(v, v[::-1], strict=True)))


@case(VECTOR)
def extremes_by_a_key(v):
    rows = [v, v * 2.0, v - 1.0]
    longest = max(rows, key=lambda r: np.sum(r * r))
    nearest = min(v[0], v[1], v[2], key=lambda t: abs(t - 0.6))
    return np.sum(longest) * nearest


@case(VECTOR)
def sorted_by_a_key(v):
    rows = [(2, v[0]), (1, v[1]), (2, v[2])]
    ranked = sorted(rows, key=operator.itemgetter(0))
    falling = sorted(v, key=lambda t: -t)
    rising = sorted(v, key=lambda t: -t, reverse=True)
    return ranked[0][1] * ranked[1][1] ** 2 + falling[0] * rising[1]


@case(VECTOR)
def first_that_fits(v):
    return next((t * t for t in v if t > 0.5), 0.0) + next((t for t in v if t > 5.0), v[0] * 3.0)


def squares_of(items):
    total = 0.0
    for item in items:
        total += item**2
    return total


@case(VECTOR)
def generator_expression_as_an_argument(v):
    return squares_of(t * 2.0 for t in v)


@np.vectorize
def clamped(t):
    return t * t if t > 0.5 else 3.0 * t


@case(VECTOR)
def functions_by_element(v):
    own = np.vectorize(lambda t, s: t * s if t > s else t + s)
    return np.sum(clamped(v) * own(v, 0.6)) + np.sum(np.vectorize(np.sin)(np.outer(v, v)))


@case(VECTOR)
def functions_along_an_axis(v):
    square = np.outer(v, v)
    whole = np.apply_along_axis(lambda r: r * np.sum(r), 1, square)
    return np.sum(whole) + np.sum(np.apply_along_axis(np.sum, 0, square) * v)


@case(VECTOR)
def array_from_an_iterator(v):
    return np.sum(np.fromiter((2.0 * t for t in v), float) * np.fromiter(map(np.sin, v), dtype=float, count=3))


@case(VECTOR)
def moments_of_a_list(v):
    items = list(v)
    return statistics.fmean(items) * statistics.stdev(items) + statistics.pvariance(items) * statistics.mean(items)


@case(VECTOR)
def moments_of_a_generator(v):
    return statistics.mean(t * t for t in v) + statistics.pstdev(map(np.sin, v)) * statistics.variance((v[0], v[1] * v[2]))


@case(VECTOR, second=False)
def deviation_of_equal_numbers(v):
    return statistics.stdev([v[0], v[0]]) + v[1]


@case(VECTOR, "square")
def table_of_functions_by_name(v, name):
    table = {"square": lambda t: t * t, "sine": np.sin}
    listed = [lambda t: t * v[0], lambda t: t + v[1]]
    total = 0.0
    for k, other in enumerate(("sine", name)):
        total += np.sum(table[other](v)) + np.sum(listed[k](v)) + np.sum(listed[-k - 1](v))
    return total


@case(VECTOR)
def named_tuple_as_a_dict(v):
    held = Pair(v, v * 2.0)._asdict()
    return np.sum(held["a"] * held["b"])


@case(VECTOR)
def default_sums_by_key(v):
    sums = defaultdict(float)
    for k, t in enumerate(v):
        sums[k % 2] += t * t
    return sums[0] * sums[1] + sums["none"] + len(sums)


@case(VECTOR)
def default_groups_by_key(v):
    groups = defaultdict(list)
    for k, t in enumerate(v):
        groups["odd" if k % 2 else "even"].append(t)
    return sum(sum(group) ** 2 for group in groups.values()) + len(groups["empty"])


def squares_by_key(v):
    sums = defaultdict(float)
    for k, t in enumerate(v):
        sums[k % 2] += t * t
    return sums


def put(groups, key, value):
    groups[key].append(value)


@case(VECTOR)
def default_dict_that_a_helper_returns(v):
    sums = squares_by_key(v)
    return sums[0] * sums[1] + sums["none"] + len(sums)


@case(VECTOR)
def default_dict_that_a_helper_fills(v):
    groups = defaultdict(list)
    for k, t in enumerate(v):
        put(groups, k % 2, t * t)
    return sum(sum(group) for group in groups.values()) + groups[0][0] * groups[1][0] + len(groups[7])


def grown(sums, key, value):
    sums[key] += value
    return sums


@case(VECTOR)
def default_dict_that_helpers_hand_on(v):
    sums = defaultdict(float)
    same = grown(sums, 0, v[0])
    same = grown(same, 1, v[1])

    def others():
        made = defaultdict(float)
        for k, t in enumerate(v):
            made[k % 2] += t * t
        return made

    return sums[0] * same[1] + same["none"] * v[2] + len(sums) * others()[0] * others()[5] + others()[1]


class Journal:
    def __init__(self, most):
        self.recent, self.sums = deque(maxlen=most), defaultdict(float)

    def note(self, key, value):
        self.recent.append(value)
        self.sums[key] += value

    def mean(self):
        return sum(self.recent) / len(self.recent)


@case(VECTOR)
def default_dict_and_deque_of_an_object(v):
    journal = Journal(2)
    total = 0.0
    for k, t in enumerate(v):
        journal.note(k % 2, t * t)
        total += journal.mean() * (k + 1)
    return total * journal.sums[0] + journal.sums["none"]


@case(VECTOR)
def default_that_a_comprehension_reads(v):
    weights = defaultdict(lambda: 1.0)
    weights[1] = v[0]
    total = sum(weights[k] * t for k, t in enumerate(v))
    return total + len(weights) * v[1] * (weights[9] if v[0] > 9.0 else 1.0)


@case(VECTOR)
def ordered_dict_as_a_cache(v):
    cache, total = OrderedDict(), 0.0
    for k in (0, 1, 2, 0, 1, 2):
        if k in cache:
            cache.move_to_end(k)
        else:
            cache[k] = v[k] ** 2
        total += cache[k] * len(cache)
    key, last = cache.popitem()
    return total * last + sum((n + 1) * t for n, t in enumerate(cache.values())) * key


@case(VECTOR)
def dicts_that_are_united(v):
    usual = {"a": v[0], "b": v[1]}
    own = {"b": v[2]}
    whole = usual | own
    whole |= {"c": whole["b"] * v[0]}
    usual |= own
    return whole["a"] * whole["b"] * whole["c"] + usual["b"]


@case(VECTOR)
def items_removed_by_value(v):
    left = [0, 1, 2]
    total = 0.0
    rows = [v[0], v[1], v[0] * v[2]]
    rows.remove(rows[1])
    while left:
        k = max(left, key=lambda i: v[i])
        left.remove(k)
        total = total * 0.5 + v[k] * len(left)
    return total + rows[0] * rows[1]


@case(VECTOR)
def sums_over_sets_of_places(v):
    return sum(v[k] for k in {k % 2 for k in range(3)}) * math.prod([v[k] for k in sorted({2, 0})])


@case(VECTOR)
def pieces_of_a_function(v):
    first = np.piecewise(v, [v < 0.5, v >= 0.5], [lambda t: t * t, lambda t: 2 * t])
    second = np.piecewise(v, [v < 0.5], [3.0, lambda t: -t])
    third = np.frompyfunc(lambda t: t * t if t > 0.5 else t, 1, 1)(v)
    return np.sum(first * second) + np.sum(third.astype(float))


@case(VECTOR)
def first_of_a_generator_expression(v):
    return next(t * t for t in v if t > v[0] - 1.0) + np.sum(v.clip(0.1))


@case(VECTOR)
def chosen_by_a_method(v):
    return np.sum(np.array([1, 0, 1]).choose((v, v * v)))


@case(VECTOR)
def functions_along_an_axis_with_arguments_of_their_own(v):
    m = np.outer(v, v)
    picked = np.apply_along_axis(lambda row, k, scale=1.0: row[k] * scale, 1, m, 1, scale=3.0)
    return np.sum(picked * picked) + np.sum(np.apply_along_axis(np.dot, 0, m, v))


@case(VECTOR)
def pieces_by_one_condition(v):
    squares = np.piecewise(v, v < 0.5, [lambda t: t * t, lambda t: 3.0 * t])
    number = np.piecewise(v[0], [v[0] < 0.5], [lambda t: t * t, lambda t: 3.0 * t])
    return np.sum(squares) + number * v[1]


@case(VECTOR)
def pieces_by_numbers_that_are_true_or_false(v):
    return np.sum(np.piecewise(v, [(v < 0.5) * 1, [1, 0, 0]], [lambda t: t * t, np.sin, lambda t: 3.0 * t])) * np.sum(
        np.piecewise(v, [0, 2, 0], v[:2])
    )


@case(VECTOR)
def pieces_with_arguments_of_their_own(v):
    return np.sum(np.piecewise(v, [v < 0.5], [lambda t, a: t * a, lambda t, a: t + a * a], v[0]) * v)


@case(VECTOR)
def matrices_along_an_axis(v):
    m = np.outer(v, v[:2] + 1.0)
    first, last = np.apply_along_axis(lambda t: np.outer(t, t), 0, m), np.apply_along_axis(lambda t: np.outer(t, t), -1, m)
    return np.sum(first[:, 1] * first[0]) + np.sum(last[1] * last[2, ::-1])


@case(VECTOR)
def pieces_of_nothing(v):
    nowhere = np.piecewise(v, v > 9.0, [lambda t: np.max(t) * t, np.sin])
    everywhere = np.piecewise(v, v < 9.0, [np.cos, np.max])
    return np.sum(nowhere * everywhere)


def spread_over_defaults(a, b, c=1.0, d=2.0):
    return a * b + c * d


@case(VECTOR)
def arrays_spread_over_defaults(v):
    return spread_over_defaults(*v) + spread_over_defaults(*v[:2]) * spread_over_defaults(v[0], *v[:3])


@case(VECTOR)
def maps_of_filters(v):
    row = (v[0], *[v[1], v[2]])
    return sum(map(np.square, filter(lambda t: t > 0.5, v))) * max(map(np.sin, filter(None, v))) + row[2] * len(row)


@case(VECTOR)
def default_arrays_by_key(v):
    held = defaultdict(lambda: np.zeros(3))
    for k in range(4):
        held[k % 2] = held[k % 2] + v * k
    return np.sum(held[0] * held[1]) + np.sum(held[5])


@case(VECTOR)
def neighbours_by_key(v):
    graph = defaultdict(list)
    for i, j in [(0, 1), (1, 2), (0, 2)]:
        graph[i].append(j)
    total = 0.0
    for i in range(3):
        for j in graph[i]:
            total += v[i] * v[j] ** 2
    return total


@case(VECTOR)
def reduced_by_a_partial(v):
    return functools.reduce(functools.partial(lambda k, a, b: a + k * b, 2.0), v)


@case(VECTOR)
def narrow_whole_numbers_wrap(v):
    n = np.uint8(200)
    with np.errstate(over="ignore"):
        return np.sum(v) * (n + n) + v[0] * (-n)


@case(VECTOR)
def lists_with_stars(v):
    xs = [v[0], v[1]]
    ys = [*xs, v[2], *xs[:1]]
    return ys[0] * ys[2] * ys[3] + np.sum(np.concatenate([*np.split(v, 3), v[:1]]) ** 2) + np.array([*v]) @ v


@case(VECTOR)
def dicts_in_the_order_of_their_keys(v):
    d = {"b": v[0], "a": v[1] ** 2}
    d |= {"c": d["a"] * v[2]}
    best = max(d, key=d.get)
    falling = sorted(d, reverse=True)
    return sum(d[k] * i for i, k in enumerate(sorted(d))) + d[tuple(d)[1]] * d[max(d)] + d[falling[0]] + d[best]


@case(VECTOR)
def merged_dicts(v):
    d = {"a": v}
    e = d | {"b": v * 3.0}
    return np.sum(e["a"] * e["b"])


@case(VECTOR)
def products_of_a_generator(v):
    return math.prod(math.exp(t) for t in v) + math.fsum(t * t for t in v)


@case(VECTOR)
def vectorized_function_has_the_type_of_its_first_value(v):
    whole = np.vectorize(lambda t: 0 if t < 0.5 else t)
    floats = np.vectorize(lambda t: 0 if t < 0.5 else t, otypes=[float])
    return np.sum(whole(v) * v) + np.sum(floats(v) * v)


@case(VECTOR)
def neighbours_in_a_list_that_the_loop_writes(v):
    values, total = [v[0], 2.0 * v[1], 3.0 * v[2]], 0.0
    for i, (a, b) in enumerate(itertools.pairwise(values)):
        values[i + 1] = values[i] * b
        total += a * b
    return total


@case(VECTOR)
def sums_that_are_kept_and_used_up(v):
    sums = itertools.accumulate(v)
    both = itertools.chain(v[:1], v[1:] * v[0])
    return sum(sums) + sum(sums) + sum(both) ** 2 + sum(both)


# --- places of arrays, groups -----------------------------------------------------------------------------------------


@case(VECTOR)
def places_and_elements(v):
    m, total = np.outer(v, v), 0.0
    for (i, j), e in np.ndenumerate(m):
        total = 0.5 * total + e * i * j
    for place, e in np.ndenumerate(m):
        m[place] = e * e + place[0]
    by_place = {place: 2.0 * e for place, e in np.ndenumerate(m)}
    return total * np.sum(m) + by_place[1, 2] * m[0, 1]


@case(VECTOR)
def elements_in_a_row(v):
    m, total = np.outer(v, v), 0.0
    for e in m.flat:
        total = total * 0.5 + e * e
    return total + sum(k * e for k, e in enumerate(m.flat)) + m.flat[3] * m.flat[-1] * np.sum(m.flat[2:5])


@case(VECTOR)
def stores_by_the_place_in_a_row(v):
    m = np.outer(v, v)
    m.flat[2] = m[0, 1] * v[0]
    m.flat[5:7] = v[:2]
    m.flat[1] += v[2] * m.flat[4]
    m.flat[7:] *= 2.0
    return np.sum(m * m)


@case(VECTOR)
def groups_by_a_key(v):
    total = 0.0
    for key, group in itertools.groupby(range(3), key=lambda k: k // 2):
        total += np.prod([v[k] for k in group]) * (key + 1)
    for large, group in itertools.groupby(v, lambda t: t > 0.5):
        part = 1.0
        part = part * sum(t * t for t in group)
        total = total + (part if large else 2.0 * part)
    return total


@case(VECTOR)
def groups_of_neighbours(v):
    total = 0.0
    for key, group in itertools.groupby([2, 2, 1, 1, 1, 2]):
        total = total * 0.5 + v[key] * sum(group)
    return total + sum(len(list(group)) * v[k] for k, group in itertools.groupby([0, 0, 1, 2, 2]))


@case(VECTOR)
def groups_of_rows(v):
    rows = sorted([("a", v[0]), ("b", v[2]), ("a", v[1])], key=lambda row: row[0])
    table = {name: [t for _, t in group] for name, group in itertools.groupby(rows, key=lambda row: row[0])}
    return sum(table["a"]) * table["b"][0]


@case(VECTOR)
def extremes_with_a_default(v):
    best = max([t for t in v if t > 5.0], default=v[0] * v[1])
    nearest = min([t for t in v if t > 0.5], key=lambda t: abs(t - v[2]), default=None)
    return best * max((t * t for t in v), default=0.0) + (0.0 if nearest is None else nearest * v[0])


@case(VECTOR)
def printed_within_an_expression(v):
    shown = (print(v[0]), v[0] * v[1])[1]
    return shown + sum([print(t) or t * t for t in v])


@case(np.array([1.3, 0.5, 0.7]))
def operators_are_mapped_and_starred(x):
    pairs = []
    for k in range(2):
        pairs.append((x[k], x[k + 1]))
    total = sum(map(operator.mul, x, x[::-1])) + sum(map(operator.neg, x)) + operator.abs(x[1] - 3.0)
    return total * sum(itertools.starmap(operator.truediv, pairs)) + sum(operator.pow(*pair) for pair in pairs)


KNOTS, HEIGHTS = [0.0, 0.5, 1.0], [1.0, 3.0, -1.0]


def between_knots(t):
    k = min(max(bisect.bisect(KNOTS, t) - 1, 0), len(KNOTS) - 2)
    w = (t - KNOTS[k]) / (KNOTS[k + 1] - KNOTS[k])
    return HEIGHTS[k] * (1 - w) + HEIGHTS[k + 1] * w


@case(VECTOR)
def interpolation_by_bisection(x):
    k = bisect.bisect_left(np.sort(x), 0.9)
    return sum(between_knots(v) ** 2 for v in x) * x[k]


@case(VECTOR)
def lists_kept_sorted(x):
    xs, pairs = [0.5, 1.0], [(x[0], x[1]), (x[1] + 2.0, 2.0)]
    for v in x:
        bisect.insort(xs, v * v)
    bisect.insort_left(pairs, (x[2], x[0]), key=lambda p: p[0])
    return xs[0] * xs[1] + xs[2] * bisect.bisect_right(pairs, 5.0, key=lambda p: p[0]) + pairs[1][0] * pairs[2][1]
