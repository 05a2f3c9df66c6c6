"""Functions that random programs found wrong once, named for what they show."""

import numpy as np

from .case import case


@case(0.4, 0.7)
def buried_continue_skips_what_follows(x, y):
    for k in range(4):
        if k > 0:
            x = x * y
            if k == 2:
                y = y + 0.5
                continue
        x = x + np.sin(y)
    return x * y


@case(np.array([0.3, 0.9, 1.4]))
def self_update_by_whole_and_by_section(x):
    for _ in range(2):
        x = x / (2.0 + np.sin(np.concatenate([x[:2], np.array([0.4])])))
    return np.sum(x * x)


@case(np.array([0.3, 0.9, 1.4]), 0.4)
def unpacked_result_of_a_ufunc(x, y):
    a, b, c = np.maximum(x, y)
    return a * b + c


@case(0.4, np.array([0.3, 0.9, 1.4]))
def mean_of_a_number_and_an_array(x, v):
    return np.mean(x + v) * np.sum(np.array([x, x]) + v[0])


@case(np.array([0.3, 0.9, 1.4]), np.array([[0.2, 0.5, 0.1], [1.0, 0.4, 0.3]]))
def result_that_ignores_a_nested_loop(v, A):
    w = v
    for _ in range(0, 4, 2):
        for row in A:
            w = np.tanh(w * row[0])
    return np.sum(v * v)


@case(np.array([0.3, 0.9, -1.4]), 0.4)
def chains_in_both_branches_of_where(x, y):
    return np.sum(np.where(x > 0, np.log(np.abs(x)) * y, np.sin(x * y) / (1.0 + x * x)) * x)


@case(np.array([0.3, 0.9, -1.4]), 0.4)
def where_with_a_number_as_a_branch(x, y):
    return np.sum(np.where(x > 0.5, x, x[-2]) * np.where(x > 0.5, y * y, np.sin(x)) + np.where(x > 0.0, np.sin(y), x))


@case(np.array([0.3, 0.9]), np.array([1.0, 2.0]))
def product_with_one_is_no_new_memory(w, y):
    q = np.sin(w)
    x = w * 1.0
    z = x + y
    return np.sum(z * q)


def exponential(x):
    return np.exp(x)


@case(np.array([0.3, 0.9, 1.4]))
def result_of_a_helper_is_updated(x):
    y = exponential(x)
    y *= x
    y[1] = y[0] * y[2]
    return np.sum(y * y)


@case(np.array([0.3, 0.9, 1.4]))
def argument_of_a_helper_is_updated(x):
    y = x * x
    z = exponential(y)
    y *= z
    return np.sum(y * z)


@case(np.arange(5.0) * 0.1 + 0.3, np.arange(20.0).reshape(4, 5) * 0.07 + 0.2, 4)
def section_from_an_unknown_place_is_no_argument_length(u, A, i):
    s = 0.0
    for k in range(1, i):
        s = s + np.sum(A[k, k:] * u[k:]) * np.sum(A[0, k:] * A[k, k:] * u[4:])
    return s


LONG = np.cos(np.arange(64.0))


@case(LONG)
def means_of_sections_beyond_a_sample(x):
    return np.mean(x[:40]) * np.std(x[-30:]) * np.mean(x[slice(5, 45)]) + np.mean(LONG[32:] * x[1:33])


@case(LONG[:9].copy())
def means_of_what_is_as_long_as_the_longer(x):
    return np.mean(np.convolve(x, LONG, "same")) + np.mean(np.polyadd(x, LONG)) * np.mean(np.correlate(x, LONG, "same"))


@case(np.array([0.3, 0.9, 1.4]))
def means_of_distinct_elements(x):
    y = np.concatenate((np.zeros(2), x, x))
    return np.mean(np.unique(y) ** 2) + np.mean(np.setdiff1d(y, [0.5])) * np.mean(np.trim_zeros(y))
