"""Lists used as stacks: records and undo logs of which some is wanted, and some is not."""

import numpy as np

from .case import case

VECTOR = np.array([0.7, 1.3, -0.4, 0.9])


@case(VECTOR)
def snapshot_that_nobody_takes_back(x):
    s = []
    w = np.ones(4) * x[1]
    s.append(np.sin(w / 1.5))
    s.append(w[:-1].copy())
    w[:-1] = s.pop()
    return np.sum(x**3)


@case(VECTOR)
def sections_of_two_lengths_on_one_stack(x):
    s = []
    w = x * x
    s.append(5.0 * w[1:])
    s.append(3.0 * w)
    w[...] = s.pop()
    w[1:] = s.pop()
    return np.sum(w * w) + np.sum(x**3)


@case(VECTOR)
def undo_log_with_snapshots(v):
    s = []
    w = v * 1.5
    s.append(v)
    w[0] = w[0] * w[1]
    s.append(w[1])
    w[1] = s.pop()
    return np.sum(w * w)


@case(VECTOR)
def undo_log_of_an_array_that_nobody_reads(x):
    log = []
    u = x * 1.5
    for j in range(2):
        log.append(u[j:].copy())
        u[j:] *= x[j]
    for j in reversed(range(2)):
        u[j:] = log.pop()
    return np.sum(x**3)


@case(VECTOR)
def undo_log_that_is_read_between(x):
    log = []
    u = x * 1.5
    for j in range(3):
        log.append(u[j])
        u[j] = u[j + 1] * x[j]
    a = u @ u
    for j in reversed(range(3)):
        a *= u[j]
        u[j] = log.pop()
    return a + np.sum(u**3)


@case(VECTOR)
def pops_into_updates_that_nobody_reads(x):
    s = []
    w = x * x
    lost = x * 2.0
    for k in range(4):
        s.append(np.sin(w[k]))
        s.append(w[k] * x)
    a = 0.0
    for k in range(4):
        lost *= s.pop()
        a += s.pop() ** 2 * x[k]
    return a


@case(VECTOR)
def index_array_shifted_in_place(x):
    ia = np.arange(4)
    w = x * 2.0
    s = 0.0
    for _ in range(3):
        ia[1:] = ia[:-1]
        ia += 1
        s += np.sum(w[ia % 4] * x) ** 2
    return s


def tree(n):
    """The ups, the probability and the discount of a binomial tree."""
    dt = 1.0 / n
    u = np.exp(0.3 * np.sqrt(dt))
    return u, (np.exp(0.05 * dt) - 1.0 / u) / (u - 1.0 / u), np.exp(-0.05 * dt)


@case(0.937)
def american_put_by_slices(spot):
    n = 6
    u, p, disc = tree(n)
    j = np.arange(n + 1)
    s = spot * u**j / u ** (n - j)
    v = np.maximum(1.0 - s, 0.0)
    for i in range(n - 1, -1, -1):
        v[: i + 1] = disc * (p * v[1 : i + 2] + (1 - p) * v[: i + 1])
        s[: i + 1] = s[: i + 1] * u
        v[: i + 1] = np.maximum(v[: i + 1], 1.0 - s[: i + 1])
    return v[0]


@case(0.937)
def american_put_with_out(spot):
    n = 6
    u, p, disc = tree(n)
    s = spot * u ** (n - 2.0 * np.arange(n + 1))
    v = np.maximum(1.0 - s, 0.0)
    for i in range(n, 0, -1):
        v[:i] = disc * (p * v[:i] + (1 - p) * v[1 : i + 1])
        s[:i] /= u
        np.maximum(v[:i], 1.0 - s[:i], out=v[:i])
    return v[0]


@case(0.937)
def american_put_by_index_arrays(spot):
    n = 6
    u, p, disc = tree(n)
    k = np.arange(n + 1)
    s = spot * u ** (n - 2.0 * k)
    v = np.maximum(1.0 - s, 0.0)
    for i in range(n - 1, -1, -1):
        j = k[: i + 1]
        v[j] = disc * (p * v[j] + (1 - p) * v[j + 1])
        s[j] /= u
        v[j] = np.maximum(v[j], 1.0 - s[j])
    return v[0]


@case(0.937)
def american_put_over_a_lattice(spot):
    n = 6
    u, p, disc = tree(n)
    lattice = np.arange(-n, n + 1, 2)
    v = np.maximum(1.0 - spot * u**lattice, 0.0)
    for _ in range(n):
        v[:-1] = disc * (p * v[1:] + (1 - p) * v[:-1])
        lattice += 1
        early = 1.0 - spot * u**lattice
        mask = early > v
        v[mask] = early[mask]
    return v[0]


@case(VECTOR)
def numbers_and_arrays_on_one_stack(x):
    s = []
    for i in range(3):
        s.append(x[i])
        s.append(2.0)
        s.append(x * x)
    a = 0.0
    for _ in range(3):
        v = s.pop()
        k = s.pop()
        b = s.pop()
        a += b * k * v
    return a


@case(VECTOR)
def item_taken_off_and_put_back(x):
    s = [x[0] ** 2, x * x]
    w = s.pop()
    s.append(w * 2.0)
    s.append(w[1])
    b = s.pop()
    s.pop()
    return b * s.pop()


@case(VECTOR, 0.6)
def updated_in_both_arms_before_it_comes_off_a_list(x, c):
    s = [x[2]]
    a = 0.35 * x[2]
    if c > 0.0:
        a += x[1]
    else:
        a += a
    s.append(x.copy())
    u = s.pop()
    if np.sum(x) > 0.0:
        a = s.pop()
    for _ in range(len(s)):
        a += c * s.pop()
    return np.sum(u * u)


@case(VECTOR)
def stack_in_several_tuples(x):
    s = []
    s.append(x[0] * x[1])
    first, second = (s, 1), (s, s)
    return first[0][0] * x[2] + second[0][0] * x[3] + second[1][0] * x[1]


@case(VECTOR)
def stack_in_a_tuple_in_each_trip_while_it_grows(x):
    s = []
    s.append(x[0] * x[1])
    y = 0.0
    for k in range(3):
        s.append(x[2] ** 2 * (k + 1))
        both = (s, k)
        y += (both[0][0] * x[3] + both[0][-1]) * (k + 1)
    return y


@case(VECTOR)
def stack_in_a_tuple_before_items_come_off_it(x):
    s = []
    s.append(x[0] * x[1])
    s.append(x[2] * x[3])
    both = (s[:], s)
    return both[0][1] * s.pop() + both[1][0] * s.pop()
