"""Functions that call themselves and write what they are given."""

import numpy as np

from .case import case


def sums_of_products(n, product, found, x):
    if n == len(x):
        found.append(product)
        return
    sums_of_products(n + 1, product * x[n], found, x)
    if n % 2:
        sums_of_products(n + 1, product + x[n], found, x)


@case(np.array([0.5, 0.7, 1.1, 0.3]))
def recursion_that_appends_to_its_argument(x):
    found = []
    sums_of_products(0, 1.0, found, x)
    return sum(v * v for v in found)


@case(np.array([0.5, 0.7, 1.1, 0.3]))
def nested_recursion_that_appends_to_a_list_around_it(x):
    found = []

    def walk(n, product):
        if n == 4:
            found.append(product)
            return
        walk(n + 1, product * x[n])
        if n % 2:
            walk(n + 1, product + x[n])

    walk(0, 1.0)
    return sum(v * v for v in found)


def sort_in_place(a, low, high):
    if low < high:
        pivot, i = a[high], low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        sort_in_place(a, low, i - 1)
        sort_in_place(a, i + 1, high)


@case(np.array([0.5, 0.7, 1.1, 0.3]))
def array_sorted_by_a_recursion(x):
    y = x * x
    sort_in_place(y, 0, 3)
    return np.sum(y * np.arange(4.0))


@case(np.array([0.5, 0.7, 1.1, 0.3]), second=False)
def list_sorted_by_a_recursion(x):
    ys = [v * v for v in x]
    sort_in_place(ys, 0, len(ys) - 1)
    return sum(v * k for k, v in enumerate(ys))


def binomial(n, k, p, memo):
    if (n, k) in memo:
        return memo[n, k]
    if k == 0 or k == n:
        memo[n, k] = 1.0
    else:
        memo[n, k] = binomial(n - 1, k - 1, p, memo) * p + binomial(n - 1, k, p, memo)
    return memo[n, k]


@case(0.5)
def dict_of_a_recursion_read_by_its_caller(p):
    memo = {}
    return binomial(4, 2, p, memo) * memo[2, 1]


def spread(field, i, j, heat):
    rows, columns = field.shape
    if i < 0 or j < 0 or i >= rows or j >= columns or field[i, j] > 0.6:
        return
    field[i, j] = 1.0 + heat * field[i, j]
    spread(field, i + 1, j, heat * heat)
    spread(field, i, j + 1, heat)
    spread(field, i - 1, j, heat)


@case(np.array([[0.1, 0.2, 0.9], [0.3, 0.4, 0.8], [0.9, 0.5, 0.55]]), 0.5)
def flood_fill(field, heat):
    filled = field * 1.0
    spread(filled, 0, 0, heat)
    return np.sum(filled**3)


def multiply_down(n, u):
    if n > 0:
        u[n] = u[n] * u[n - 1]
        add_down(n - 1, u)


def add_down(n, u):
    if n > 0:
        u[n] = u[n] + u[n - 1] ** 2
        multiply_down(n - 1, u)


@case(np.array([0.5, 0.7, 1.1, 0.3]), second="recorded")
def two_writers_that_call_each_other(x):
    y = x * x
    multiply_down(3, y)
    return np.prod(y)


def scaled_from_the_end(u, n):
    u[n] *= u[n - 1]
    return scaled_from_the_end(u, n - 1) if n > 1 else u


@case(np.array([0.5, 0.7, 1.1, 0.3]))
def recursion_that_returns_what_it_writes(x):
    y = x * x
    z = scaled_from_the_end(y, 3)
    return np.sum(z * y)


def move(n, source, target, spare):
    if n > 0:
        move(n - 1, source, spare, target)
        target.append(source.pop() * 1.1)
        move(n - 1, spare, target, source)


@case(np.array([0.5, 0.7, 1.1]))
def lists_that_change_places_in_a_recursion(x):
    source, target, spare = list(x), [], []
    move(3, source, target, spare)
    return target[0] * target[1] + target[2]


def eliminate(a, k):
    if k < len(a):
        for i in range(k + 1, len(a)):
            a[i] -= a[k] * (a[i, k] / a[k, k])
        eliminate(a, k + 1)


@case(np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.3, 0.2, 3.0]]))
def determinant_by_recursion(m):
    a = m.copy()
    eliminate(a, 0)
    return np.prod(np.diag(a))


def running_product(u, n):
    if n > 0:
        running_product(u, n - 1)
        u[n] *= u[n - 1]


@case(np.array([0.5, 0.7, 1.1, 0.3]))
def section_that_a_recursion_writes(x):
    y = np.concatenate([x, x * x])
    running_product(y[2:6], 3)
    return np.sum(y * y)


def halve(x, depth):
    if depth > 0:
        middle = len(x) // 2
        halve(x[:middle], depth - 1)
        x[middle:] *= x[:middle]
        halve(x[middle:], depth - 1)


@case(np.array([0.7, 1.2, 0.4, 1.5, 0.6, 1.1]), second=False)
def sections_of_sections_that_a_recursion_writes(x):
    halve(x, 2)
    x[0] *= x[5]
    halve(x[2:], 1)
    return np.sum(np.cos(np.arange(6.0)) * x * x)
