"""Comprehensions and generator expressions: their scopes, their conditions, and what consumes them."""

# ruff: noqa: RUF007

import math

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6], [0.7, 0.9, -0.3]])


def softplus(t):
    return np.log(1.0 + np.exp(t))


def mean_of(values):
    return sum(values) / len(values)


@case(1.3)
def list_of_powers(x):
    ys = [x**k for k in range(1, 5)]
    return ys[0] * ys[3] + ys[1]


@case(VECTOR)
def squares_of_an_array(v):
    ys = [a * a for a in v]
    return ys[0] * ys[1] + ys[2]


@case(VECTOR)
def sum_of_a_generator(v):
    return sum(a * a * a for a in v) * v[0]


@case(VECTOR)
def condition_on_a_number(v):
    return sum(a * a for a in v if a > 0.0) + sum([a for a in v if a < 0.0 if a > -1.0])


@case(VECTOR)
def choice_inside_of_a_comprehension(v):
    ys = [a if a > 0.0 else 0.1 * a * a for a in v]
    return ys[0] * ys[1] * ys[2]


@case(1.3)
def two_loops_in_one_comprehension(x):
    ys = [x**i * j for i in range(3) for j in range(i)]
    return ys[0] + ys[1] * ys[2]


@case(1.3)
def second_loop_depends_on_the_first(x):
    rows = [[x], [2.0, x * x], [x, 1.0, 3.0]]
    return sum(v * v for row in rows for v in row if v > 1.2)


@case(1.3)
def comprehension_in_a_comprehension(x):
    table = [[x * i + j for j in range(3)] for i in range(2)]
    return table[0][1] * table[1][2] + table[1][0]


@case(MATRIX, VECTOR)
def matrix_times_vector_by_lists(a, v):
    w = [sum(a[i, k] * v[k] for k in range(3)) for i in range(3)]
    return w[0] * w[1] + w[2]


@case(1.3)
def transposed_table(x):
    table = [[x, 1.0, x * x], [2.0, x**3, 3.0]]
    flipped = [[row[k] for row in table] for k in range(3)]
    return flipped[1][1] * flipped[0][0] + flipped[2][0]


@case(1.3)
def variable_of_a_comprehension_hides_one_outside(x):
    k = 5.0
    ys = [k * x for k in range(3)]
    return ys[2] * k


@case(VECTOR)
def argument_is_hidden_inside(v):
    ws = [v * v for v in v]
    return ws[0] * ws[1] + v[2]


@case(1.3)
def walrus_binds_outside(x):
    ys = [(last := x * k) for k in range(1, 4)]
    return last * ys[0]


@case(VECTOR)
def pairs_by_zip_and_enumerate(v):
    return sum(k * a * b for k, (a, b) in enumerate(zip(v, v[1:], strict=False), start=1))


@case(VECTOR)
def list_of_tuples(v):
    pairs = [(a, a * a) for a in v]
    return sum(p * q for p, q in pairs) + pairs[1][0]


@case(1.3)
def dict_of_powers(x):
    powers = {k: x**k for k in range(1, 4)}
    return powers[3] * powers[1] + powers[2]


@case(1.3, 0.7)
def dict_filtered_by_its_keys(x, y):
    params = {"w1": x, "b1": y, "w2": x * y}
    weights = {name: v * v for name, v in params.items() if name.startswith("w")}
    return sum(weights.values()) * params["b1"]


@case(1.3, 0.7)
def penalty_over_the_values_of_a_dict(x, y):
    params = {"w": x, "b": y}
    return 0.5 * sum(v**2 for v in params.values()) + sum(params[k] for k in ("w", "b")) ** 3


@case(VECTOR)
def helper_called_in_a_comprehension(v):
    ys = [softplus(a) for a in v]
    return mean_of(ys) * mean_of([y * y for y in ys])


@case(VECTOR, 0.6)
def lambda_called_in_a_comprehension(v, k):
    f = lambda a: a * k + a * a  # noqa: E731
    return sum(f(a) for a in v) * f(k)


@case(VECTOR)
def greatest_of_a_generator(v):
    return max(a * a for a in v) * min([2.0 * a for a in v])


@case(VECTOR)
def array_of_a_list(v):
    return np.sum(np.array([a * b for a in v for b in v if a < b]) ** 2)


@case(VECTOR)
def stacked_rows(v):
    m = np.stack([v * k for k in range(1, 4)])
    return np.sum(m @ v) + np.linalg.det(m + np.eye(3))


@case(VECTOR, MATRIX)
def loop_over_a_comprehension(v, m):
    total = 0.0
    for row in [m[k] * v[k] for k in range(3)]:
        total = total * 0.5 + row @ v
    return total


@case(VECTOR)
def any_and_all_choose(v):
    scale = 2.0 if any(a < 0.0 for a in v) else v[0]
    shift = v[1] if all(a < 2.0 for a in v) else 1.0
    return scale * v[2] + shift * shift


@case(1.3)
def length_and_last_of_a_comprehension(x):
    kept = [x * k for k in range(6) if k % 2]
    return len(kept) * kept[-1] + kept[0]


@case(VECTOR)
def products_by_reduce_like_loops(v):
    p = 1.0
    for q in (1.0 + a for a in v):
        p *= q
    return p * math.prod([a + 2.0 for a in v])


@case(1.3)
def comprehension_over_its_own_name(x):
    xs = [x, x * x]
    xs = [v * v for v in xs]
    xs = [v + xs[0] for v in xs]
    return xs[0] * xs[1]


@case(1.3)
def comprehension_reads_a_variable_rebound_later(x):
    w = x
    ys = [w * k for k in range(3)]
    w = w * w
    zs = [w * y for y in ys]
    return ys[1] + zs[2]


@case(1.3)
def polynomial_by_enumerate(x):
    coefficients = [2.0, x, -1.0]
    return sum(c * x**k for k, c in enumerate(coefficients))


@case(VECTOR)
def sums_of_beginnings(v):
    sums = [sum(v[: k + 1]) for k in range(3)]
    return sums[0] * sums[2] + sums[1]


@case(VECTOR)
def starred_list_of_a_comprehension(v):
    first, *rest = [a * a for a in v]
    return first * rest[0] + rest[1] * len(rest)


@case(VECTOR)
def mapped_sine(v):
    return sum(map(np.sin, v)) + sum(map(lambda a, b: a * b, v, v))


@case(VECTOR)
def sorted_list(v):
    a = sorted([x * x for x in v])
    return a[0] * 2.0 + a[2] * a[1]


@case(1.3)
def condition_with_a_walrus(x):
    return sum(y for k in range(4) if (y := x * k) > 2.0)


@case(1.3)
def comprehension_in_a_default(x):
    def f(t, ws=[x * k for k in range(3)]):  # noqa: B006
        return t * ws[1] + ws[2]

    return f(x) * f(2.0)


@case(VECTOR)
def nested_function_with_a_comprehension(v):
    def weighted(ws):
        return sum(w * a for w, a in zip(ws, v, strict=True))

    return weighted([1.0, 2.0, 3.0]) * weighted([a * a for a in v])


@case(1.3)
def reversed_and_sliced(x):
    ys = [x * k for k in range(5)]
    return sum(y * k for k, y in enumerate(reversed(ys))) + sum(ys[1:3]) * ys[-2]


def fibonacci(a, b, n):
    for _ in range(n):
        yield a
        a, b = b, a + b


@case(1.3)
def generator_of_the_module(x):
    return sum(v * v for v in fibonacci(x, 1.0, 5))


@case(1.3)
def generator_zipped_with_a_text(x):
    def powers(x, n):
        product = 1.0
        for _ in range(n):
            product = product * x
            yield product

    return sum(v for v, _ in zip(powers(x, 9), "abc", strict=False))


@case(1.3)
def generator_made_a_list(x):
    def multiples(n):
        for k in range(n):
            yield x * k
        yield x * x

    ys = list(multiples(3))
    return ys[1] * ys[3] + len(ys)


@case(1.3)
def generators_side_by_side(x):
    def powers(a):
        for k in range(3):
            yield a**k

    return sum(u * v for u, v in zip(powers(x), powers(2.0 * x), strict=True))


@case(1.3)
def generator_that_returns_early(x):
    def multiples():
        for k in range(5):
            if k == 3:
                return
            yield x * k

    return sum(v * v for v in multiples())
