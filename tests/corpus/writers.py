"""Functions of the user's own that write their arguments: for effect, through views, with results that are aliases."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3])
MATRIX = np.array([[0.5, -1.2, 0.8, 1.1], [1.4, 0.3, -0.6, -0.9], [0.7, 1.6, -0.4, 0.9]])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(36.0)).reshape(6, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7])
TABLE = np.cos(np.arange(12.0)).reshape(3, 4)
BOARD = np.cos(np.arange(36.0)).reshape(6, 6)


def scan(u):
    for i in range(1, len(u)):
        u[i] = u[i] * u[i - 1] + 0.1


def scan_twice(u):
    scan(u)
    u[0] *= u[-1]
    scan(u)


def scan_inside(u, s):
    u *= s
    scan_twice(u[1:])
    u[0] += s * u[1]


def absorb(a, b):
    a[1:] *= b[:-1]
    a[0] = np.sum(b) * a[1]


def pairs(a, b):
    a[0] = b[0] * b[1]
    b[1] = a[0] * a[1]


def shifted_product(target, source, scale=0.5, *, power=2):
    target[:-1] += scale * source[1:] ** power
    target[-1] *= target[0]


def second_row_of(u):
    u[0] = u[0] * u[1]
    return u[1]


def tail_of(x):
    x[0] = x[1] * x[2]
    return x[2:]


def squared(x):
    x *= x
    return x


def write_rebind_write(x):
    x[0] = x[1] * x[2]
    x = x * 2.0
    x[1] = x[0] * x[0]
    return x


def rebind_then_write(x):
    x = x * x
    x[0] = 5.0 * x[1]


def normalize(x):
    norm = np.sqrt(np.sum(x * x))
    x /= norm
    return norm


def damp(x, n):
    if n == 0:
        return
    if x[n] > 0.0:
        x[n] *= x[0]
        return
    x[n - 1] -= x[n] * x[n]


def with_a_scratch(x, s):
    t = np.empty_like(x)
    t[:] = x * s
    t[1:] *= x[:-1]
    x[:] = t
    t[0] = 0.0


def times_its_half(x):
    v = x[1:]
    v *= x[:-1]


def bumped(x):
    x[0] *= 2.0 * x[1]
    return x[0] + x[1]


@case(VECTOR)
def writer_called_for_effect(u):
    scan(u)
    return np.sum(WEIGHTS * u * u)


@case(VECTOR, 0.8)
def writers_three_deep(u, s):
    u[2] *= u[1]
    scan_inside(u, s)
    return np.sum(WEIGHTS * u * u) * u[1]


@case(FIELD)
def writer_of_a_row_a_section_and_a_transpose(u):
    scan(u[1])
    scan(u[1:])
    scan(u.T)
    scan(u[::-2, 2])
    return np.sum(BOARD * u)


@case(FIELD, 0.7)
def writer_in_a_loop(u, s):
    for k in range(3):
        scan_inside(u[k], s)
        s = 0.5 * s + u[k, 1]
        scan(u[:, k])
        u[k] *= 0.5
    return np.sum(BOARD * u) * s


@case(VECTOR, OTHER)
def writer_of_one_that_reads_another(a, b):
    absorb(a, b)
    absorb(b, a)
    absorb(a[1:3], b[3:])
    return np.sum(WEIGHTS * a * b)


@case(MATRIX)
def same_row_passed_twice(u):
    pairs(u[0], u[0])
    pairs(u[1], u[0])
    pairs(u[2], u[2])
    return np.sum(TABLE * u * u)


@case(VECTOR)
def same_array_passed_twice(x):
    y = x * x
    absorb(y, y)
    absorb(x, x)
    return np.sum(WEIGHTS * x * y)


@case(VECTOR)
def overlapping_sections_passed(x):
    pairs(x[:-1], x[1:])
    absorb(x[2:], x[1:-1])
    shifted_product(x, x[::-1])
    return np.sum(WEIGHTS * x * x)


@case(FIELD)
def row_and_column_passed(u):
    pairs(u[1], u[:, 1])
    absorb(u[2], u.T[3])
    return np.sum(BOARD * u * u)


@case(VECTOR, OTHER, 0.6)
def writer_with_defaults_and_keywords(x, y, s):
    shifted_product(x, y)
    shifted_product(y, x, s * x[0])
    shifted_product(source=y, target=x, power=3)
    shifted_product(x[1:], scale=y[0], source=x[1:] * s)
    return np.sum(WEIGHTS * x * y)


@case(FIELD)
def view_returned_and_seen_changing(u):
    v = second_row_of(u)
    u[1] = u[0] * 2.0
    return np.sum(v * v) + np.sum(BOARD * u)


@case(VECTOR)
def view_returned_and_written(x):
    t = tail_of(x)
    t *= t * x[0]
    x[3] = t[0] * x[1]
    tail_of(t)[0] *= t[1]
    return np.sum(WEIGHTS * x * x) + np.sum(t * t)


@case(VECTOR)
def argument_returned(x):
    y = squared(x)
    y[1:] *= x[:-1]
    x = squared(y * x[2])
    x[0] *= y[1]
    squared(squared(y[2:]))
    return np.sum(WEIGHTS * x * y)


@case(FIELD)
def parameter_rebound_after_its_store(u):
    y = write_rebind_write(u)
    rebind_then_write(u[1])
    u[1] *= y[0]
    return np.sum(y * y) + np.sum(BOARD * u)


@case(MATRIX)
def writer_that_returns_a_number(m):
    s = normalize(m[0])
    m[1] *= normalize(m[:, 1])
    t = normalize(m) * s
    return np.sum(TABLE * m) * t + normalize(m[2:])


@case(VECTOR)
def writer_with_early_returns(x):
    for n in range(5):
        damp(x, n)
        x[n] *= 0.5 + x[n - 1]
    return np.sum(WEIGHTS * x * x)


@case(VECTOR, 1.2)
def writer_with_a_buffer_of_its_own(x, s):
    with_a_scratch(x, s)
    with_a_scratch(x[1:4], x[0])
    y = x * x
    with_a_scratch(y, s)
    return np.sum(WEIGHTS * x * y)


@case(FIELD)
def state_kept_before_each_call(u):
    s = 0.0
    for _ in range(3):
        s = s + np.sum(u * u)
        times_its_half(u)
        u *= 0.5
    return np.sum(BOARD * u) + s


@case(VECTOR)
def element_read_before_the_call_that_writes_it(x):
    x[0] += bumped(x)
    y = x[1] * bumped(x[1:])
    x[2] = bumped(x[2:]) * x[2]
    x[:2] += bumped(x)
    return np.sum(WEIGHTS * x * x) * y


@case(VECTOR)
def calls_within_an_expression(x):
    y = bumped(x) * bumped(x[1:]) + bumped(x) * x[1]
    z = squared(x[:2]) + squared(x[1:3]) * x[:2]
    return np.sum(WEIGHTS * x) * y + np.sum(z * z)


@case(VECTOR, OTHER)
def writer_of_fresh_temporaries(x, y):
    scan(x * y)
    absorb(x, y * x)
    absorb(y.copy(), x)
    s = bumped(x * y) + normalize(x + y)
    scan(y[[0, 2, 4]])
    return np.sum(WEIGHTS * x * y) * s


@case(VECTOR, 0.7)
def inactive_buffer_written_by_a_writer(x, s):
    t = np.arange(1.0, 6.0)
    scan(t)
    c = t[1] * s
    t /= np.max(t)
    absorb(t, x)
    scan(x)
    return np.sum(t * x) * c


@case(MATRIX)
def rows_given_to_a_writer_in_a_for(m):
    for row in m:
        scan(row)
        absorb(m[0], row)
    for i, column in enumerate(m.T):
        column[i % 3] *= normalize(column)
    return np.sum(TABLE * m * m)


def helper_with_an_import(u, c):
    import numpy as arrays

    arrays.multiply(u, c, out=u)
    arrays.copyto(u[:1], u[1:2] * u[2])


@case(VECTOR, 1.4)
def import_in_a_writer(v, c):
    u = v * v
    helper_with_an_import(u, c)
    return np.sum(u * v)


def _products(u):
    for k in range(3):
        yield u[k] * u[0]


@case(VECTOR)
def generator_beside_a_consumer_that_writes_what_it_reads(v):
    u = v * 1.0
    total = 0.0
    for k, t in enumerate(_products(u)):
        u *= 1.5
        total += t * k
    return total


def puts(u, e):
    u[1] = e


def raises(u, e):
    u[2] += 0.1 * e


@case(VECTOR)
def writers_chosen_twice_in_each_trip(v):
    u = v * 0.7
    for k in range(3):
        write = puts if v[k] > 0.0 else raises
        write(u, np.sin(v[k]))
        write = raises if k == 1 else puts
        write(u, np.cos(v[k]) * u[0])
    return np.sum(u * u)


def set_rate(d, rate):
    d["rate"] = rate


@case(VECTOR)
def dicts_in_a_list_that_a_helper_writes(x):
    held = {"rate": x[0]}
    for d in [held]:
        set_rate(d, x[2])
    other = {}
    [set_rate(d, x[1]) for d in [other, held]]
    return held["rate"] * other["rate"] * x[0]
