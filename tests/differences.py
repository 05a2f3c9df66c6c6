"""Derivatives by central differences: the yardstick of every gradient test.

All functions here take the *sum over the leaves* of a result (numbers and arrays, inside tuples, lists and dicts), as
`grad` does with its seed of ones.  Arguments are copied before each evaluation, so that nothing is ever mutated.
"""

from __future__ import annotations

import numpy as np

STEP = 1e-6


def leaves(value):
    """The numbers and arrays inside nested tuples, lists and dicts, in order.

    >>> list(leaves({"a": 1.0, "b": (2.0, [3.0, None])}))
    [1.0, 2.0, 3.0]
    """
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, (bool, int, float, complex, np.number, np.bool_, np.ndarray)):
        yield value


def leaves_sum(value) -> float:
    """The sum over all leaves of a result, a Python float.

    >>> leaves_sum((np.ones(3), {"a": 2.0}))
    5.0
    """
    return float(sum(np.sum(leaf) for leaf in leaves(value)))


def inner(left, right) -> float:
    """The inner product of two results of the same structure."""
    return float(sum(np.sum(np.multiply(a, b)) for a, b in zip(leaves(left), leaves(right), strict=True)))


def is_float(value) -> bool:
    """Is this an argument with a derivative: a float, or an array of floats?"""
    return isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def copied(value):
    """A deep copy of an argument: arrays and containers are new, numbers are shared; arrays lie in memory as before.

    >>> copied(np.ones(6)[::-2]).strides
    (-16,)
    """
    if isinstance(value, np.ndarray):
        return _laid_copy(value) if value.dtype.kind in "fiub" and value.size else value.copy()
    if isinstance(value, (tuple, list)):
        return type(value)(copied(item) for item in value)
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def _laid_copy(array):
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    memory = whole.ravel(order="K").copy()
    places = [a.__array_interface__["data"][0] for a in (array, whole)]
    return np.ndarray(array.shape, array.dtype, memory, places[0] - places[1], array.strides)


def central_difference(f, args, argnums=None, step=STEP) -> tuple:
    """The gradient of `leaves_sum(f(*args))`, element by element, one entry for each of `argnums`.

    `argnums` is an int, a tuple of ints, or None for all float arguments.  A float gives a float, an array an array.

    >>> [round(g, 6) for g in central_difference(lambda x, y: x * y, (2.0, 3.0))]
    [3.0, 2.0]
    """
    if argnums is None:
        argnums = tuple(i for i, arg in enumerate(args) if is_float(arg))
    gradients = []
    for number in (argnums,) if isinstance(argnums, int) else argnums:
        gradient = np.zeros(np.shape(args[number]))
        for index in np.ndindex(gradient.shape):
            width = step * max(1.0, abs(float(np.asarray(args[number])[index])))
            high, low = (leaves_sum(f(*_shifted(args, number, index, shift))) for shift in (width, -width))
            gradient[index] = (high - low) / (2.0 * width)
        gradients.append(gradient if isinstance(args[number], np.ndarray) else float(gradient))
    return tuple(gradients)


def _shifted(args, number, index, shift):
    shifted = [copied(arg) for arg in args]
    if isinstance(shifted[number], np.ndarray):
        shifted[number][index] += shift
    else:
        shifted[number] = shifted[number] + shift
    return shifted


def moved(args, argnums, directions, distance) -> list:
    """The arguments after a step of `distance` along `directions` (one for each of `argnums`)."""
    result = [copied(arg) for arg in args]
    for number, direction in zip(argnums, directions, strict=True):
        if isinstance(result[number], np.ndarray) and result[number].ndim:
            result[number] += distance * direction
        else:
            result[number] = result[number] + distance * direction
    return result


def directional(f, args, argnums, directions, weights=None, step=STEP) -> float:
    """The derivative of `<f(*args), weights>` along `directions` (weights None: ones, the sum of the leaves).

    First order: `f` is the function.  Second order: `f` is its gradient, `weights` a vector v of the gradient's
    structure, and the result is u^T H v, by differences of the gradient.

    >>> round(directional(lambda x: x * x, (3.0,), (0,), (1.0,)), 6)
    6.0
    """
    high, low = (f(*moved(args, argnums, directions, shift)) for shift in (step, -step))
    if weights is None:
        return (leaves_sum(high) - leaves_sum(low)) / (2.0 * step)
    return (inner(high, weights) - inner(low, weights)) / (2.0 * step)


def random_directions(rng, args, argnums) -> tuple:
    """One random direction for each of `argnums`, drawn from a `numpy.random.Generator`."""
    return tuple(
        rng.uniform(0.2, 1.0, np.shape(args[i])) * rng.choice((-1.0, 1.0), np.shape(args[i]))
        if isinstance(args[i], np.ndarray)
        else float(rng.uniform(0.2, 1.0))
        for i in argnums
    )


def assert_value(again, value) -> None:
    """A transform gives the value that the function gives: structure, shapes, and numbers bit by bit.

    >>> assert_value((np.ones(2), 3.0), (np.ones(2), np.float64(3.0)))
    """
    assert type(again) is type(value) or (_is_number(again) and _is_number(value)), f"{type(again)} is not {type(value)}"
    if isinstance(value, dict):
        assert list(again) == list(value), "the value has other keys"
    again, value = list(leaves(again)), list(leaves(value))
    assert len(again) == len(value), "the value has another structure"
    for a, b in zip(again, value, strict=True):
        assert np.shape(a) == np.shape(b), "the value has another shape"
        np.testing.assert_array_equal(a, b, err_msg="value")


def _is_number(value) -> bool:
    return isinstance(value, (bool, int, float, np.number, np.bool_)) or (isinstance(value, np.ndarray) and value.ndim == 0)
