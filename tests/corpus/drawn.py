"""Iterators without an end or with a name: `count`, `cycle`, `repeat`, `iter`, `next`, generators that are left early."""

# ruff: noqa: B905, C417

import collections
import functools
import itertools

import numpy as np

from .case import case

VECTOR = np.array([0.3, 0.7, 1.1])


@case(VECTOR)
def some_of_a_counter(v):
    total = 0.0
    for k in itertools.islice(itertools.count(1), 6):
        total += v[0] ** k * k
    return total + sum(itertools.islice(itertools.count(2, 2), 3)) * v[1]


@case(VECTOR)
def counter_that_is_left(v):
    total = 0.0
    for k in itertools.count(1):
        if k > 4:
            break
        total += v[0] ** k
    for i, k in enumerate(itertools.count(3)):
        if i > 2:
            break
        total *= v[1] ** k * (i + 1)
    return total


@case(VECTOR)
def counters_in_counters(v):
    total = 0.0
    for i in itertools.count():
        if i == 3:
            return total
        for j in itertools.count(1):
            if j > i:
                break
            total += v[i] * j * v[j]


@case(VECTOR)
def counters_with_steps(v):
    total = 0.0
    for k, t in zip(itertools.count(0.5, 0.25), v):
        total += k * t * t
    for k, t in zip(itertools.count(10, -2), v):
        total += k * t * t
    for k, t in zip(itertools.count(start=2, step=3), v):
        total += k * t**3
    for k, t in zip(itertools.count(v[0], v[1]), v):
        total += k * t * t
    return total


@case(VECTOR)
def signs_in_turn(v):
    total = 0.0
    for sign, t in zip(itertools.cycle([1.0, -1.0]), v):
        total = total * t + sign * t * t
    return total + sum(t * sign for t, sign in zip(v, itertools.cycle((1, 2))))


@case(VECTOR)
def round_and_round(v):
    total = 1.0
    for t, k in zip(itertools.cycle(v), range(7)):
        total = total * t + k * t
    for t in itertools.islice(itertools.cycle(v), 5):
        total = total * t + t
    return total


@case(VECTOR)
def next_in_turn(v):
    signs = itertools.cycle([1.0, -1.0])
    total = 0.0
    for t in v:
        total = total * t + next(signs) * t
    return total * next(signs)


@case(VECTOR)
def repeated_values(v):
    total = 1.0
    for t in itertools.repeat(v[1] * v[0], 3):
        total = total * t * v[0] + t
    for s, t in zip(itertools.repeat(2.0), v):
        total += s * t * t
    for t in itertools.repeat(v[0]):
        total += t * t
        if total > 3.0:
            break
    return total


@case(VECTOR)
def chained_with_what_has_no_end(v):
    total = 1.0
    for s, t in zip(itertools.chain([3.0, v[1]], itertools.repeat(v[2])), np.concatenate([v, v])):
        total = total * np.sin(t) + s * t
    return total


@case(VECTOR)
def mapped_and_filtered_counters(v):
    total = 0.0
    for t, k in zip(v, map(lambda k: k * v[0], itertools.count(1))):
        total += t * k
    for k in filter(lambda k: k % 2, itertools.count()):
        if k > 7:
            break
        total += v[0] ** k
    for t, k in zip(v, filter(lambda k: k % 3, itertools.count())):
        total += t * t * k
    return total


@case(VECTOR)
def counters_between_bounds(v):
    total = 0.0
    for k in itertools.takewhile(lambda k: k < 5, itertools.count(1)):
        total += v[0] ** k
    for k in itertools.dropwhile(lambda k: k < 3, itertools.count()):
        if k > 6:
            break
        total *= v[1] ** k + 1.0
    for k in itertools.islice(itertools.count(), 2, 9, 3):
        total += v[2] * v[0] ** k
    return total


@case(VECTOR)
def powers_by_accumulation(v):
    total = 0.0
    for power in itertools.islice(itertools.accumulate(itertools.repeat(v[0]), lambda a, b: a * b), 4):
        total += power
    for power, t in zip(itertools.accumulate(itertools.repeat(v[1]), lambda a, b: a * b, initial=2.0), v):
        total += power * t
    return total


@case(VECTOR)
def called_until_a_sentinel(v):
    waiting = [3, 2, 1, 0, 7]
    total = 0.0

    def taken():
        return waiting.pop()

    for k in iter(taken, 0):
        total += v[0] * k
    return total * len(waiting)


def naturals():
    k = 1
    while True:
        yield k
        k += 1


def halves(x):
    while True:
        yield x
        x = x * 0.5


@case(VECTOR)
def generators_without_an_end(v):
    total = 0.0
    for k in naturals():
        if k > 4:
            break
        total += v[0] ** k
    for k, t in zip(naturals(), v):
        total += t**k
    for t, h in zip(v, halves(v)):
        total += t * np.sum(h * h)
    return total * sum(itertools.islice(halves(v[1]), 4))


@case(VECTOR)
def generator_left_in_the_middle(v):
    def squares(items):
        for t in items:
            if t > 0.2:
                yield t * t
            yield t * v[1]

    total = 0.0
    for t in squares(v):
        if t > 0.4:
            break
        total += t * v[0]
    else:
        total = 5.0
    for h in halves(v):
        if h[0] < 0.05:
            return total + h[1]
        total += np.sum(h * h)


@case(VECTOR)
def neighbours_of_a_generator(v):
    def roots(a):
        y = 1.0
        while True:
            y = 0.5 * (y + a / y)
            yield y

    for before, now in itertools.pairwise(roots(v[0])):
        if abs(before - now) < 1e-9:
            return now


@case(VECTOR)
def generator_beside_an_array(v):
    def growing(items):
        total = 0.0
        for t in items:
            total += t
            yield total

    out = 0.0
    for t, k, s in zip(v, itertools.count(1), growing(v * v)):
        if k == 2:
            continue
        out = out * t + k * s
    return out


@case(VECTOR)
def counter_read_after_a_zip(v):
    ids = itertools.count(1)
    total = 0.0
    for k, t in zip(ids, v):
        total += k * t
    return total * next(ids) * v[0]


@case(VECTOR)
def counter_drawn_first_or_last(v):
    first, last = 0.0, 0.0
    a = itertools.count(1)
    b = itertools.count(1)
    for k, t in zip(a, v):
        first += k * t
    for t, k in zip(v, b):
        last += k * t
    return first * next(a) * v[0] + last * next(b) * v[1]


@case(VECTOR)
def loop_that_goes_on_where_one_stopped(v):
    items = iter(v)
    total = 0.0
    for t in items:
        total += t * t
        if t > 0.5:
            break
    for t in items:
        total = total * t
    for t in items:
        total = total * 100.0 + t
    return total


@case(VECTOR)
def first_by_next_and_the_rest_by_a_loop(v):
    items = iter(v)
    first = next(items)
    total = first
    for t in items:
        total = total * t + first
    return total + next(items, 2.0 * first)


@case(VECTOR)
def next_until_nothing_is_left(v):
    items = iter(v)
    total = 0.0
    while True:
        t = next(items, None)
        if t is None:
            break
        total = total * t + t
    return total


@case(np.array([0.3, 0.7, 1.1, 0.4]))
def one_iterator_twice_in_a_zip(v):
    items = iter(v)
    total = 0.0
    for a, b in zip(items, items):
        total += a * b * b
    return total


@case(VECTOR)
def next_inside_of_a_loop_over_the_same(v):
    items = iter(np.concatenate([v, v * v]))
    total = 0.0
    for t in items:
        total = total * t + next(items)
    return total


@case(VECTOR)
def tools_with_names(v):
    total = 0.0
    numbered = enumerate(v)
    for k, t in numbered:
        total += k * t
    turned = reversed(v)
    for t in turned:
        total = total * t + t
    ended = zip(v, v)
    return total + sum(a * b for a, b in ended) + 5.0 * sum(a * b for a, b in ended)


@case(VECTOR)
def named_generator_expressions(v):
    squares = (t * t for t in v)
    tripled = map(lambda t: 3.0 * t, v)
    multiples = (k * v[0] for k in itertools.count(1))
    total = sum(squares) + 7.0 * sum(squares)
    for t in tripled:
        total = total * t + next(multiples)
    return total * next(multiples)


@case(VECTOR)
def slices_of_a_named_iterator(v):
    items = iter(np.concatenate([v, v]))
    head = list(itertools.islice(items, 2))
    middle = [t * t for t in itertools.islice(items, 1, 3)]
    small = list(itertools.takewhile(lambda t: t < 0.9, items))
    return head[0] * head[1] + middle[0] * 3.0 + len(small) * v[0] + next(items, v[2] ** 2)


@case(VECTOR)
def products_of_three_and_of_one_with_itself(v):
    total = 0.0
    for a, b, c in itertools.product(v, v[:2], range(2)):
        total += a * b * (c + 1)
    for a, b in itertools.product(v, repeat=2):
        total += a * b**2
    for k, t in itertools.product(range(2), v):
        total = total + k * t * t
    return total


@case(VECTOR)
def neighbours_in_an_expression(v):
    total = 0.0
    for a, b in itertools.pairwise(v * v):
        total += a * b**2
    for k, t in reversed(list(enumerate(v))):
        total = total * t + k
    return total


def _square(t):
    return t * t


def _cube(t):
    return t**3


@case(VECTOR)
def tools_keep_the_function_that_they_were_given(v):
    f = _square
    squares = map(f, v)
    total = next(squares)
    g = np.multiply
    products = itertools.accumulate(v, g)
    f, g = _cube, max
    for k, t in zip(itertools.count(1), squares):
        total = total + k * t
    f = _square
    for t in map(f, v):
        total = total * t + 1.0
        f = _cube
    return total + sum(products)


@case(VECTOR)
def rest_of_an_iterator_unpacked_and_reduced(v):
    items = iter(v)
    squares = map(_square, v)
    first, *rest = items
    total = first * rest[0] * rest[-1] * len(rest)
    begun = next(squares)
    return total + begun * functools.reduce(lambda a, b: a * b, squares) + next(items, v[0])


@case(VECTOR)
def greatest_that_an_iterator_has_left(v):
    items = iter(v)
    first = next(items)
    return first * functools.reduce(max, items, first * 0.1)


@case(VECTOR)
def chain_without_an_end_in_a_generator_with_a_name(v):
    steps = (k * t for k, t in enumerate(itertools.chain(range(2), naturals()), 1))
    unused = (t * t for t in itertools.chain(v, naturals()))  # noqa: F841
    return next(steps) * v[0] + next(steps) * v[1] ** 2 + next(steps) * v[2]


@case(VECTOR)
def expressions_within_expressions_without_an_end(v):
    total = 0.0
    for t in (k * v[0] for k in (k * v[1] for k in naturals()) if k > 1.0):
        if t > 1.55:
            break
        total += t
    for t in (t + v[2] for t in (k * v[0] for k in itertools.count(1))):
        if t > 2.1:
            return total * t
    return total


# --- generator functions that are drawn from item by item -------------------------------------------------------------


def fading(t, rate):
    while True:
        yield t
        t = t * rate


def growing(items, rate=0.5):
    """Sums that forget."""
    total = 0.0
    for item in items:
        total = rate * total + item
        yield total


def chosen(items):
    for item in items:
        if item > 0.5:
            yield item * item
        elif item < -1.0:
            return
        yield item


def windows(items):
    last = 0.0
    for k, item in enumerate(items):
        if k == 0:
            last = item
            continue
        if k > 5:
            break
        yield last, item
        last = item


def joined(first, second):
    yield from first
    yield from second


@case(VECTOR)
def two_generators_in_turns(v):
    total = sum(a * b for _, a, b in zip(range(3), fading(v[1], v[0]), fading(v[2], v[0])))
    for a, b in zip(growing(v), chosen(v)):
        total = total * 0.5 + a * b
    return total


@case(VECTOR)
def generator_with_a_name(v):
    sums = growing(v, 0.3)
    a = next(sums)
    return a * sum(sums) + sum(sums)


@case(VECTOR)
def generator_beside_itself(v):
    items = chosen(v)
    pairs = [a * b for a, b in zip(items, items)]
    return sum(pairs) + next(items, v[1])


@case(VECTOR)
def generator_that_skips_and_ends(v):
    pairs = windows(v)
    a, b = next(pairs)
    total = a * b
    for a, b in pairs:
        total = total * 0.5 + a * b
    return total


@case(VECTOR)
def generators_one_after_the_other(v):
    items = joined(v[:2], v[1:])
    total = next(items)
    for k, item in enumerate(items):
        total = total * 0.7 + item * k
    return total


@case(VECTOR)
def generator_that_writes_when_it_goes_on(v):
    y = v * 1.0

    def look():
        for k in range(3):
            yield y[k]
            y[k] = y[k] * 2.0

    items = look()
    a = next(items)
    y[1] = 5.0 * v[0]
    b = next(items)
    return a * b * next(items) + np.sum(y)


@case(VECTOR)
def generator_in_a_loop_over_itself(v):
    total = 0.0
    for a, b in zip(fading(v[0], 0.5), v):
        for k, c in enumerate(fading(b, v[1])):
            if k > 1:
                break
            total += a * c
    return total


def sum_of_squares(values):
    total = 0.0
    for v in values:
        total = total + v * v
    return total


def first_above(values, bound):
    for v in values:
        if v > bound:
            return v
    return 0.0


def scaled_by(values, c):
    for v in values:
        yield c * v


def moving_means(values, n):
    held = []
    for v in values:
        held.append(v)
        if len(held) == n:
            yield sum(held) / n
            held.pop(0)


@case(VECTOR)
def generators_handed_to_functions(x):
    once = scaled_by(x, x[0])
    return sum_of_squares(once) + first_above(scaled_by(x, 2.0), 0.9) * sum_of_squares(v * 2.0 for v in x)


@case(VECTOR)
def generators_handed_to_generators(x):
    def numbered(values):
        for k, v in enumerate(values):
            if k % 2 == 0:
                yield v * k

    total = sum(scaled_by(scaled_by(scaled_by(x, 2.0), x[1]), x[0])) + sum(moving_means(numbered(scaled_by(x, x[2])), 2))
    return total * sum(numbered(x)) + max(moving_means(x, 3))


@case(VECTOR)
def stars_that_a_rest_gathers(x):
    def lead(a, *rest, scale=1.0):
        return a * scale * len(rest) + sum(r * r for r in rest)

    def f(*a):
        return sum(a) * a[0]

    return f(*x[:3]) + f(x[1], *x) + lead(*x) * lead(x[0], *x[2:], scale=x[1]) + lead(*(v * 2.0 for v in x))


@case(VECTOR)
def walrus_in_an_update_of_a_section(x):
    y = x * 1.0
    i = 1
    y[i:3] += (i := 2) * x[0]
    y[(k := i) :] *= (t := x[1] * y[0])
    y[i, ...] -= (i := 0)
    return np.sum(y * y) * t * (k + i)


@case(VECTOR)
def appended_for_its_value(x):
    seen = []
    kept = [v * 2.0 for v in x if not seen.append(v * v)]
    hooks = [lambda v: seen.append(v), lambda v: seen.append(v * v)]
    for h in hooks:
        h(x[0] * x[1])
    nothing = seen.append(x[2])
    return sum(seen) * sum(kept) * (seen[0] if nothing is None else 0.0)


@case(VECTOR)
def named_tuple_of_the_function(v):
    State = collections.namedtuple("State", ["place", "speed"], defaults=(1.0,))
    s = State(v[0])
    for _ in range(3):
        s = s._replace(place=s.place + 0.1 * s.speed, speed=s.speed - 0.1 * s.place * v[2])
    place, speed = s
    return place * speed + s.place * v[1]


Counted = collections.namedtuple("Counted", "value count")


def halved(v, low, high):
    if high - low == 1:
        return Counted(v[low] * v[low], 1)
    middle = (low + high) // 2
    left, right = halved(v, low, middle), halved(v, middle, high)
    return Counted(left.value + right.value * v[low], left.count + right.count)


@case(VECTOR, second=False)
def recursion_that_returns_a_record(v):
    r = halved(v, 0, 3)
    return r.value / r.count


@case(VECTOR)
def applied_and_left_out_item_by_item(x):
    products = itertools.starmap(lambda a, b: a * b, itertools.pairwise(x))
    first = next(products)
    small = itertools.filterfalse(lambda v: v > 1.0, iter(x))
    return first * next(small) + next(small) * next(products)


def taken(items, x):
    return next(items) * x[0]


def weighted(numbers, x):
    total = 0.0
    for k, t in zip(numbers, x):
        total += k * t
    return total


def rest_of(items):
    return sum(t * t for t in items) + next(items, 0.5)


@case(VECTOR)
def iterators_handed_to_functions(x):
    numbers = itertools.count(1)
    items = iter(x)
    total = weighted(numbers, x) * next(numbers) + taken(items, x) * taken(items, x)
    return total + weighted(iter(x), x[1:]) * rest_of(items) + weighted(enumerate_weights(x), x)


def enumerate_weights(x):
    for k, t in enumerate(x):
        yield t * k + x[0]


@case(VECTOR)
def tool_that_is_handed_on_and_drawn_from_again(x):
    sums = itertools.accumulate(x)
    first = taken(sums, x)
    return first + rest_of(sums) * sum_of_squares(zip_of_products(x)) + next(sums, x[1])


def zip_of_products(x):
    for a, b in itertools.pairwise(x):
        yield a * b


@case(VECTOR)
def tools_of_constants_between_draws(x):
    places = itertools.islice(naturals(), 1, 6, 2)
    return x[next(places) - 2] * next(places) + x[1] ** next(places, 2)


@case(VECTOR)
def neighbours_in_a_loop_over_neighbours(x):
    total = 0.0
    for a, b in itertools.pairwise(iter(x)):
        for c, d in itertools.pairwise(itertools.islice(itertools.cycle(x), 4)):
            total = total * 0.5 + a * d + b * c * x[0]
    return total


@case(VECTOR)
def iterator_that_ends_in_a_function_and_whose_list_grows(x):
    xs = [x[0], x[1]]
    items = iter(xs)
    total = rest_of(items)
    xs.append(x[2])
    return total * next(items, x[2] ** 2) + rest_of(iter(xs))


@case(VECTOR)
def four_iterators_side_by_side(x):
    items = iter(np.concatenate([x, x * x]))
    total = 0.0
    for a, b, k, t in zip(items, items, itertools.count(1), x):
        total = total * t + a * b * k
    return total * next(items, x[0])


@case(VECTOR)
def items_drawn_from_a_list_that_trips_write_under_another_name(x):
    xs = [x[0], x[1], x[2], x[0] * x[1]]
    ys, total = xs, 0.0
    for u, v in itertools.pairwise(xs):
        ys[2] = u * 2.0 + v
        total += u * v
    for v in itertools.islice(xs, 1, None, 2):
        ys[3] = v * 2.0
        total += v * v
    for v in itertools.compress(xs, (0, 1, 0, 1)):
        ys[3] = v * 0.5
        total += v * x[1]
    for u, v in itertools.zip_longest(xs, x, fillvalue=x[1]):
        ys[3] = u * 0.2
        total += u * v
    for k, v in enumerate(u * u for u in xs):
        ys[3] = v * 0.2
        total += v * k
    for k, v in enumerate(map(np.sin, xs)):
        ys[2] = v * k
        total += v
    for u, v in zip(xs, itertools.islice(xs, 1, None)):
        ys[2] = u * v
        total += u + v
    return total


@case(VECTOR, second=False)
def chained_items_that_trips_write_under_another_name(x):
    xs = [x[0], x[1], x[2], x[0] * x[1]]
    ys, total = xs, 0.0
    for v in itertools.chain(xs, [0.5]):
        ys[1] = v * x[0]
        total += v * v
    return total


@case(VECTOR)
def items_remembered_while_a_list_is_written_under_another_name(x):
    old = [x[0], x[1], x[2] * x[0]]
    total, before, also = 0.0, None, old
    for item in old:
        total = total if before is None else total + before * item
        also[1] = item * item
        before = item
    held = {"a": also + [x[0]]}
    items, before = held["a"], None
    for item in held["a"]:
        if before is not None:
            items[2] = items[2] * before
            total += before * item
        before = item
    return total + sum(old) * x[0]


def total_of(parts):
    total = 0.0
    for part in parts:
        for item in part:
            total = total * 0.5 + item * item
    return total


@case(VECTOR)
def ranges_beside_arrays(x):
    parts = [x, range(4)]
    chosen = parts[0] if x[0] > 5.0 else parts[1]
    return total_of(parts) + sum(itertools.chain(x, range(3))) * sum(chosen)


def with_squares(items):
    for item in items:
        yield from (item, item * item)


@case(VECTOR)
def numbered_items_of_a_generator(x):
    return sum((k + 1) * v for k, v in enumerate(with_squares(x)))


def named_squares(x):
    for k, v in enumerate(x):
        yield f"x{k}", v * v


@case(VECTOR)
def generator_that_a_dict_is_made_of(x):
    squares = dict(named_squares(x))
    return squares["x0"] * squares["x2"]


@case(VECTOR)
def accumulated_from_a_tuple_of_numbers(x):
    return sum(a * b for a, b in itertools.accumulate(x, lambda s, v: (s[0] + v, s[1] * v), initial=(0.0, 1.0)))


@case(VECTOR)
def list_turned_round_while_an_iterator_reads_it(x):
    xs = [x[0], x[1], x[2]]
    items = iter(xs)
    first = next(items)
    xs.reverse()
    return first * next(items) ** 2 * next(items) ** 3


def all_squares(x):
    squares = (v * v for v in x)
    return squares


def neighbours(x):
    return itertools.pairwise(x)


@case(VECTOR)
def iterators_that_functions_return(x):
    total = 0.0
    for v in all_squares(x):
        total = total * 0.5 + v
    return total * sum(list(all_squares(x))) + sum(a * b for a, b in neighbours(x))


def squares_of(x):
    return with_squares(x)


@case(VECTOR)
def generator_that_a_function_returns(x):
    return sum(squares_of(x)) * x[0] + np.sum(np.array(list(squares_of(x))) ** 2)


@case(VECTOR)
def iterators_that_are_kept(x):
    its = [iter(x), (v * v for v in x), iter(range(3))]
    held = {"pairs": zip(x, x[::-1], itertools.count(1))}
    total = x[1]
    for it in its:
        for v in it:
            total = total * x[0] + v
    pairs = held["pairs"]
    return total + sum(a * b**2 * k for a, b, k in pairs)


@case(VECTOR)
def iterator_that_a_branch_chooses(x):
    it = (v for v in x) if x[0] > 0.0 else iter(x[::-1])
    total = 0.0
    for v in it:
        total = total * 0.5 + v
    return total


@case(VECTOR)
def names_that_change_before_a_generator_runs(x):
    scale, xs = 2.0, [x[0], x[1]]
    scaled = (v * scale for v in xs)
    scale = x[2]
    xs.append(x[0] * x[1])
    return sum(scaled)


@case(VECTOR)
def split_into_two_iterators(x):
    firsts, seconds = itertools.tee(x)
    next(seconds)
    return sum(a * b * b for a, b in zip(firsts, seconds))


@case(VECTOR)
def views_and_pairs_that_change_before_they_are_run_through(x):
    xs, d = [x[0], x[1]], {"a": x[0], "b": x[1]}
    pairs = (a * b for a, b in itertools.zip_longest(xs, x, fillvalue=2.0))
    values = (v * v for v in d.values())
    xs.append(x[2] * 3.0)
    d["a"] = x[2]
    return sum(pairs) * sum(values)


@case(VECTOR, 0.4)
def function_that_returns_what_its_argument_gives(x, c):
    squares = all_squares(t * c for t in x)
    c = 0.9 * c + 0.1
    return sum([t * c for t in squares]) + len(list(all_squares(x))) * c


def last_of_a_grown_list(v):
    rows = [v[0], v[1]]
    kept = list(reversed(rows))
    rows.append(v[2])
    return kept[0] * len(kept) * rows[-1]


@case(VECTOR)
def list_of_a_reversed_list_that_changes(v):
    return last_of_a_grown_list(v * v) + np.sum(v)


def none_of(v):
    flags = [v[0] > 5.0]
    asked = any(reversed(flags)) or all(reversed([v[1] > 5.0, *flags]))
    flags.append(True)
    return asked


@case(VECTOR)
def asked_of_a_reversed_list_that_changes(v):
    return np.sum(v * v) if none_of(v) else np.sum(v * v * v)


@case(VECTOR, 0.7)
def applied_without_an_end_beside_expressions_of_one_another(v, c):
    total = 0.0
    squares = (t * t for t in (t * c for t in v if t < 2.0) if t < 2.0)
    for item, t in zip(map(lambda k: 0.5 * k + c, itertools.count(2, 3)), squares):
        total = 0.6 * total + item * t
    for item, t in zip(map(lambda k: c * k, itertools.count(1)), (t * t for t in (t * c for t in v if t < 2.0) if t < 2.0)):
        total = 0.6 * total + item * t
    return total


@case(VECTOR)
def expression_without_an_end_between_two_others(v):
    total = 0.0
    for k, item, _ in zip(itertools.count(1), (k * t for k, t in enumerate(itertools.cycle(v), 1)), range(4)):
        total += k * item
    return total
