"""Copies: of arrays, lists and dicts, by their method and by the module `copy`."""

import copy
import dataclasses

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


@case(VECTOR)
def deep_copy_of_a_tuple_that_holds_an_array_twice(x):
    a = np.array([x[1], x[1] * x[1]])
    b, c = copy.deepcopy((a, a))
    b[0] *= x[2]
    return a[0] * c[0] + x[0]


class Cell:
    def __init__(self, v, above=None):
        self.v, self.row, self.above = v, np.array([v, v * v]), above


@case(VECTOR)
def shallow_copy_of_an_object_shares_its_arrays(x):
    p = Cell(x[0])
    q = copy.copy(p)
    q.v, q.row[0] = q.v * x[1], x[2] * x[2]
    return p.v * q.v * p.row[0] + q.row[1]


@case(VECTOR)
def deep_copy_of_an_object_copies_what_its_attributes_share_once(x):
    p = Cell(x[0], Cell(x[1]))
    p.row = p.above.row
    q = copy.deepcopy(p)
    q.row[0] = q.row[0] * x[2]
    q.above.v = x[0] * x[2]
    return p.row[0] * q.above.row[0] + p.above.v * q.above.v


@case(VECTOR)
def copies_of_objects_kept_in_a_list(x):
    kept, p = [], Cell(x[0])
    for v in x:
        p.v = p.v * v + 1.0
        p.row = p.row + v
        kept.append(copy.copy(p))
        kept.append(copy.deepcopy(p))
    return sum([q.v * q.row[1] for q in kept])


@case(VECTOR, second=False)
def deep_copy_of_objects_that_refer_to_one_another(x):
    p = None
    for v in x:
        p = Cell(v, p)
    first = Cell(x[0], p)
    pair = copy.deepcopy([p, first])
    pair[0].v = pair[0].v * x[1]
    pair[1].above.above.row[0] = x[2]
    return pair[1].above.v * first.above.v + p.above.row[0] * pair[0].above.row[0]


class Doubled:
    def __init__(self, v, held):
        self.v, self.held = v, held

    def __copy__(self):
        return Doubled(self.v * 2.0, self.held)

    def __deepcopy__(self, memo):
        return Doubled(self.v * 3.0, copy.deepcopy(self.held, memo))


@case(VECTOR)
def copies_that_the_class_makes(x):
    p = Doubled(x[0], [x[1]])
    q, r = copy.copy(p), copy.deepcopy(p)
    q.held.append(x[2])
    r.held[0] = r.held[0] * x[2]
    return p.v * q.v * r.v + p.held[-1] * r.held[-1]


@dataclasses.dataclass(frozen=True)
class Setting:
    rate: float
    scale: float = 2.0


@case(VECTOR)
def replaced_objects_in_a_list(x):
    settings = [Setting(v) for v in x]
    settings += [dataclasses.replace(s, scale=s.rate * x[0]) for s in settings]
    return sum([s.rate * s.scale for s in settings])


class Noted:
    def __init__(self, v):
        self.v, self.log = v, []

    def note(self, s):
        self.log.append(self.v * s)


@case(VECTOR)
def list_that_copies_of_an_object_share_grows(x):
    noted = [Noted(v) for v in x]
    for i in range(2):
        noted.append(copy.copy(noted[i]))
    for i in range(5):
        noted[i].note(x[i % 3])
    return sum([sum(p.log) * p.v for p in noted])
