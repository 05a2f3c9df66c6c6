"""Copies: of arrays, lists and dicts, by their method and by the module `copy`."""

import copy

import numpy as np

from .case import case

VECTOR = np.array([0.3, 0.7, 1.1])


@case(VECTOR)
def deep_copy_of_an_array_is_its_own(v):
    a = copy.deepcopy(v)
    a[0] = 2.0
    return np.sum(a * v)


@case(VECTOR)
def shallow_copy_of_an_array_is_its_own(v):
    a = copy.copy(v)
    a[0] = 2.0
    return np.sum(a * v)


@case(VECTOR)
def deep_copy_of_a_list_has_its_own_arrays(v):
    xs = [v * 1.0, v * 2.0]
    ys = copy.deepcopy(xs)
    ys[0][1] = 0.0
    return np.sum(xs[0] * ys[0] + ys[1])


@case(VECTOR)
def copies_of_a_list_have_their_own_places(v):
    xs = [v * 1.0, v * 2.0]
    ys = xs.copy()
    zs = copy.copy(xs)
    ys[1] = v * v
    zs.append(v * 3.0)
    return np.sum(xs[0] * xs[1] + ys[1] * ys[0] * zs[2]) + len(xs)


@case(VECTOR)
def copy_of_a_dict_has_its_own_places(v):
    d = {"a": v, "b": v * 2.0}
    e = d.copy()
    f = copy.deepcopy(d)
    e["a"] = v * v
    return np.sum(d["a"] * e["a"] * e["b"] * f["b"])


@case(VECTOR)
def best_parameters_are_kept(v):
    parameters = {"w": v, "h": [v * 2.0, 3.0]}
    best = copy.deepcopy(parameters)
    for k in range(2):
        parameters["w"] = parameters["w"] - 0.1 * parameters["w"] ** 2
        if k == 0:
            best = copy.deepcopy(parameters)
    return np.sum(best["w"] * parameters["w"]) + np.sum(best["h"][0])
