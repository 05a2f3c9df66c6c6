"""In-place programs that NumPy runs and that are refused: two names for one memory that cannot be followed, and their kin.

`REFUSED` lists them as (function, arguments, words of the message); `# <-`, in the function or in the helper above it, marks
the line that is named.  One that is refused no more belongs into the module of its kind, as a case.
"""

import numpy as np

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6, 1.1])

REFUSED = []


def refused(*args, words):
    """List the decorated function, called with `args`."""

    def register(function):
        REFUSED.append((function, args, words))
        return function

    return register


@refused(VECTOR, words="changes in it, which cannot be followed")
def list_that_grows_by_another_name_under_a_loop(x):
    ys = [x[0], x[1]]
    zs = ys
    total = 0.0
    for y in ys:
        if len(ys) < 4:
            zs.append(y * 2.0)  # <-
        total += y
    return total


@refused(VECTOR, words="changes in it, which cannot be followed")
def list_of_a_dict_that_grows_under_a_loop(x):
    d = {"a": [x[0], x[1]], "b": []}
    total = 0.0
    for y in d["a"]:
        if len(d["a"]) < 4:
            d["a"].append(y * 2.0)  # <-
        total += y
    return total


@refused(VECTOR, words="changes in it, which cannot be followed")
def list_that_a_helper_lengthens_under_a_loop(x):
    ys = [x[0], x[1]]
    total = 0.0
    for y in ys:
        if len(ys) < 4:
            lengthen(ys, y * 2.0)  # <-
        total += y
    return total


def lengthen(ys, y):
    ys.append(y)


class Held:
    def __init__(self, items):
        self.items = list(items)


@refused(VECTOR, words="changes in it, which cannot be followed")
def list_in_an_attribute_that_grows_under_a_loop(x):
    held = [Held(x[:2]), Held(x[2:4])]
    total = 0.0
    for h in held:
        for y in h.items:
            if len(h.items) < 4:
                h.items.append(y * 2.0)  # <-
            total += y
    return total


@refused(VECTOR, words="the attribute `base` cannot be differentiated yet")
def array_that_another_is_a_view_of(x):
    y = np.outer(x, x[:2])[:, 1]
    return np.sum(y.base * x[0])  # <-


@refused(VECTOR, words="`z` is a structured array, which is not differentiated yet")
def field_of_a_structured_array(x):
    z = np.zeros(6, [("u", float), ("v", float)])
    u = z["u"]
    u[:] = x * 2.0  # <-
    return np.sum(z["u"] ** 2)


@refused(VECTOR, words="the attribute `flat` cannot be differentiated yet")
def copy_of_flat_that_is_a_view(x):
    y = x * 2.0
    v = np.array(y.flat)  # <-
    v *= x[1]
    return np.sum(v * y)
