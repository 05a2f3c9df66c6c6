"""Dicts: of parameters, of functions, as memos and counters, within each other, with keys that are computed."""

import collections

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6], [0.7, 0.9, -0.3]])
CONFIG = {"scale": 1.5, "layers": ["first", "second"], "power": {"of": 2}}
ACTIVATIONS = {"tanh": np.tanh, "square": lambda t: t * t, "none": lambda t: t}


def dense(params, h, activation="tanh"):
    return ACTIVATIONS[activation](params["w"] @ h + params["b"])


def network(params, h):
    for layer in params["layers"]:
        h = np.tanh(layer["w"] @ h + layer["b"])
    return h


def initial(w, b):
    return {"layers": [{"w": w, "b": b}, {"w": w.T, "b": b * b}], "scale": b}


def counted(counts, key, v):
    counts[key] = counts.get(key, 0.0) + v
    return counts


@case(1.3)
def copy_of_a_dict(x):
    d = {"a": x}
    e = dict(d)
    e["a"] = x * x
    g = lambda a, b: a * b  # noqa: E731
    return g(d["a"], d["a"]) * e["a"] * 2.0


@case(VECTOR, MATRIX, 0.4)
def parameters_of_a_layer(x, w, b):
    params = {"w": w, "b": b}
    return np.sum(dense(params, dense(params, x, "square"), activation="none"))


@case(VECTOR, MATRIX, 0.4)
def parameters_of_a_network(x, w, b):
    params = initial(w, b)
    return np.sum(network(params, x)) * params["scale"]


@case(1.3)
def memo_in_a_loop(x):
    memo = {0: x, 1: x * x}
    for k in range(2, 7):
        memo[k] = memo[k - 1] * 0.5 + memo[k - 2] * x
    return memo[6] + memo[2]


@case(1.3)
def sums_by_key(x):
    d = {}
    for key, v in [("a", x), ("b", 2.0), ("a", x * x)]:
        d[key] = d.get(key, 0.0) + v
    return d["a"] * d["b"]


@case(1.3)
def entry_updated_in_place(x):
    d = {"a": x, "b": 2.0}
    d["a"] *= x
    d["b"] += d["a"]
    d["a"] = d["a"] * d["b"]
    return d["a"] * d["b"]


@case(1.3)
def keys_in_the_order_of_insertion(x):
    d = {}
    d["z"] = x
    d["a"] = x * x
    d["z"] = x**3
    total = 0.0
    for _, v in d.items():
        total = total * 2.0 + v
    for v in d.values():
        total = total * v
    return total


@case(1.3)
def keys_with_a_default(x):
    d = {"a": x}
    return d.get("a", 1.0) * d.get("b", 2.0 * x) + (d["a"] if "a" in d else 1.0) * len(d)  # noqa: SIM401


@case(1.3)
def membership_decides(x):
    seen = {}
    for key in ["a", "b", "a"]:
        if key in seen:
            seen[key] = seen[key] * x
        else:
            seen[key] = x + len(seen)
    return seen["a"] * seen["b"]


@case(1.3)
def computed_keys(x):
    d = {(i, j): x**i * j for i in range(3) for j in range(2)}
    return d[2, 1] * d[(1, 1)] + d[0, 1]


@case(1.3, 0.7)
def penalty_over_a_dict(x, y):
    params = {"w": x, "b": y}
    return sum(v * v for v in params.values()) + sum(params[k] for k in sorted(params)) ** 3


@case(1.3)
def dict_within_a_dict(x):
    p = {"a": {"w": x, "b": 2.0}, "c": {"w": x * x}}
    return p["a"]["w"] * p["c"]["w"] + p["a"]["b"] * p["c"]["w"]


@case(1.3)
def list_within_a_dict(x):
    p = {"a": [x, 2.0], "b": (x * x, [x**3])}
    return p["a"][0] * p["b"][1][0] + p["a"][1] * p["b"][0]


@case(1.3)
def configuration_of_the_module(x):
    y = x * CONFIG["scale"]
    for _ in CONFIG["layers"]:
        y = y ** CONFIG["power"]["of"] * 0.3
    return y


@case(1.3, {"steps": 3, "rate": 0.1, "momentum": None})
def configuration_as_an_argument(x, config):
    p = x
    for _ in range(config["steps"]):
        p = p - config["rate"] * 4.0 * p**3
    if config["momentum"] is not None:
        p = p * config["momentum"]
    return p * config.get("weight", 2.0)


@case(1.3)
def options_are_handed_on(x):
    def f(t, scale=1.0, shift=0.0):
        return t * scale + shift

    options = {"scale": x, "shift": 2.0}
    return f(x, **options) * f(2.0, **{"shift": x * x})


@case(1.3)
def functions_in_a_dict(x):
    table = {"double": lambda t: t * 2.0, "times": lambda t: t * x, "sine": np.sin}
    return table["double"](x) * table["times"](x) + table["sine"](x)


@case(0.7, "square")
def function_looked_up_by_an_argument(x, name):
    return ACTIVATIONS[name](x) * x


@case(1.3)
def dict_returned_by_a_nested_function(x):
    def moments(v):
        return {"mean": v / 2.0, "square": v * v}

    m = moments(x)
    n = moments(m["square"])
    return m["mean"] * n["square"] + n["mean"]


@case(1.3)
def dict_given_to_a_helper_that_writes_it(x):
    d = counted({}, "a", x)
    d = counted(d, "a", x * x)
    return d["a"] * x


@case(1.3, 0.7)
def dict_as_the_result(x, y):
    out = {"sum": x + y}
    out["product"] = x * y * out["sum"]
    return out


@case(1.3)
def closure_over_a_dict(x):
    state = {"v": x, "n": 0}

    def step(k):
        state["v"] = state["v"] * k
        state["n"] += 1
        return state["v"]

    a = step(2.0)
    b = step(x)
    return a * b * state["n"]


@case(1.3)
def graph_walked_by_names(x):
    edges = {"a": ["b", "c"], "b": ["c"], "c": []}
    values = {"a": x, "b": x * x, "c": 2.0}
    total = 0.0
    for node in ["a", "b", "c"]:
        for other in edges[node]:
            total += values[node] * values[other]
    return total


@case(VECTOR)
def arrays_by_key(v):
    d = {}
    for k in range(3):
        d[k] = v[k] * v
    d[1] = d[1] * d[0]
    return np.sum(d[0] * d[2]) + np.sum(d[1])


@case(1.3, 0.7)
def descent_on_a_dict_of_parameters(w, b):
    params = {"w": w, "b": b}
    for _ in range(3):
        error = params["w"] * 2.0 + params["b"] - 1.0
        slopes = {"w": 2.0 * error * 2.0, "b": 2.0 * error}
        params = {name: p - 0.05 * slopes[name] for name, p in params.items()}
    return params["w"] * params["b"]


@case(1.3)
def two_names_of_one_dict(x):
    d = {"a": x}
    e = d
    e["b"] = x * x
    d["a"] = d["b"] * 2.0
    return e["a"] * d["b"]


@case(1.3)
def zipped_into_a_dict(x):
    names = ["a", "b", "c"]
    values = [x, x * x, 2.0]
    d = {name: v for name, v in zip(names, values, strict=True)}  # noqa: C416
    return d["a"] * d["b"] + d["c"]


@case(1.3)
def keys_and_positions(x):
    d = {"a": x, "b": x * x}
    return sum(k * d[name] for k, name in enumerate(d.keys(), start=1)) + list(d.values())[1] * x


@case(1.3)
def entry_read_and_stored(x):
    d = {"a": x}
    d["a"] = d["a"] * x
    return d["a"] * x


@case(1.3)
def entries_stored_and_read_crosswise(x):
    d = {}
    d["a"] = x
    d["b"] = x * x
    d["a"] = d["b"] * x
    return d["a"] * d["b"]


@case(1.3)
def entries_of_a_loop_over_names(x):
    d = {"a": 0.0, "b": x}
    for name in ["a", "b", "a"]:
        d[name] = d[name] + x * x
    return d["a"] * d["b"]


@case(1.3)
def values_linear_in_the_argument(x):
    d = {"a": x}
    d["b"] = 2.0 * x
    return sum(d.values()) + sum(2.0 * v for k, v in d.items() if k == "b")


@case(1.3)
def memo_of_a_nested_function(x):
    memo = {}

    def power(k):
        if k not in memo:
            memo[k] = x**k
        return memo[k]

    return power(2) * power(3) + power(2)


@case(VECTOR, MATRIX)
def layers_with_their_activations(x, w):
    params = [{"w": w, "b": 0.1, "f": np.tanh}, {"w": w.T, "b": x, "f": lambda t: t * t}]
    for p in params:
        x = p["f"](p["w"] @ x + p["b"])
    return np.sum(x)


@case(1.3)
def entry_that_is_a_list_is_overwritten(x):
    d = {"c": [x, x * x]}
    d["c"] = [x * d["c"][0], d["c"][1] * 2.0]
    return d["c"][0] * d["c"][1]


@case(1.3)
def dict_of_pairs(x):
    d = dict([("a", x), ("b", x * x)])  # noqa: C406
    return d["a"] * d["b"]


@case(VECTOR)
def dict_that_a_loop_fills(x):
    memo = {}
    for n in range(4):
        if n < 2:
            memo[n] = x[n] * x[n]
        else:
            memo[n] = memo[n - 1] * x[2] + memo[n - 2] * memo[0]
    return memo[3]


@case(VECTOR)
def dict_that_a_loop_fills_under_pairs(x):
    memo = {}
    for i in range(3):
        for j in range(3):
            memo[i, j] = x[i] * x[j] if 0 in (i, j) else memo[i - 1, j] * memo[i, j - 1] + memo[i - 1, j - 1]
    return memo[2, 2]


# The keys of a dict are no memory of its items: these may be replaced while a list of the keys lives.


@case(np.array([0.7, 1.2, 0.4]))
def items_replaced_by_a_list_of_keys(x):
    parts = {}
    for i in range(3):
        parts[i] = x * (i + 1)
    for i in list(parts):
        parts[i] = parts[i] * x[i]
    return np.sum(parts[0] * parts[2]) + parts[1][1]


@case(np.array([0.7, 1.2, 0.4]))
def messages_passed_along_a_chain(prior):
    n = len(prior)
    messages = {(i, j): np.array([0.5, 0.5]) for i in range(n) for j in range(n) if abs(i - j) == 1}
    for _ in range(2):
        for i, j in list(messages):
            belief = prior[i] * np.array([1.0, 2.0])
            for k in range(n):
                if k != j and (k, i) in messages:
                    belief *= messages[(k, i)]
            messages[(i, j)] = np.sin(belief)
    total = 0.0
    for key in messages:
        total += messages[key][0] ** 2
    return total


@case(VECTOR)
def keys_chosen_and_sorted_by_what_they_stand_for(x):
    named = {1: x[0], 0: x[1] * x[0], 2: x[2]}
    best, least = max(named, key=lambda k: named[k]), min(named, key=str)
    total = 0.0
    for key in sorted(named, key=lambda k: -k):
        total = total * 0.5 + named[key]
    return total * named[best] + named[least]


@case(VECTOR, {"b": np.array([1.4, 0.6, 2.0]), "a": np.array([0.7, 1.1, 0.9])}, argnums=(0,))
def arrays_of_a_dict_updated_in_the_order_of_their_keys(x, d):
    for k in sorted(d):
        d[k] *= x
    return np.sum(d["a"] * d["b"] * x)


@case(np.array([0.3, -0.7, 1.1, 0.4]))
def counter_counts_what_it_lacks_from_zero(x):
    sums = collections.Counter()
    for k, word in enumerate("abca"):
        sums[word] += x[k] * x[k]
    return sums["a"] * sums["b"] + sums["c"] * x[0] + sums["e"] * x[1]


@case(0.7)
def pairs_and_keywords_in_one_dict(x):
    d = dict([("a", x), ("b", x * x)], c=np.sin(x), b=2.0 * x)
    return d["a"] * d["b"] + d["c"], list(d)
