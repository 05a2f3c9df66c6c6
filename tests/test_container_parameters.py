"""Gradients in containers: dicts, lists, tuples, named tuples and objects, whose items have adjoints of their own.  Random
functions of random containers are compared with the same functions of the items."""

from __future__ import annotations

import linecache
import random
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sgrad import grad, hvp, jvp
from s2sgrad.runtime.structure import attributes_of, leaves
from s2sgrad.testing import check_grads

Pair = namedtuple("Pair", "left right")


class Layer:
    """An object of a class without fields that are declared."""

    def __init__(self, w, b):
        self.w, self.b = w, b


@dataclass
class Record:
    """One whose gradient is an object again."""

    w: Any
    b: Any
    size: int = 3


def drawn(rng: random.Random, path: str, found: list[str], depth: int = 0) -> Any:
    """A random container; the paths to its floats are added to those found."""

    def item(place: str) -> Any:
        if depth < 2 and rng.random() < 0.4:
            return drawn(rng, place, found, depth + 1)
        if rng.random() < 0.2:
            return rng.choice([None, "name", 3, np.arange(3)])
        found.append(place)
        return rng.choice([rng.random(), np.array([rng.random(), rng.random(), rng.random()])])

    form = rng.choice(["dict", "dict", "list", "tuple", "named", "layer", "record"])
    if form == "dict":
        return {k: item(f"{path}[{k!r}]") for k in rng.sample(["W", "b", "scale", "a b", 2], rng.randint(1, 4))}
    if form in ("list", "tuple"):
        places = [f"{path}[{k}]" for k in range(rng.randint(1, 3))]
        return (list if form == "list" else tuple)(map(item, places))
    if form == "named":
        return Pair(item(f"{path}{'[0]' if depth else '.left'}"), item(f"{path}[1]"))
    return (Layer if form == "layer" else Record)(item(f"{path}.w"), item(f"{path}.b"))


def program(seed: int) -> tuple[str, list[str], Any]:
    """The text of a function of `p` and `x`, the items that it may read, and a container."""
    rng = random.Random(f"parameters {seed}")
    found: list[str] = []
    while len(found) < 2:
        found.clear()
        container = drawn(rng, "p", found)
    some = rng.sample(found, max(1, len(found) - rng.randint(0, 2)))
    read = lambda: rng.choice(some)  # noqa: E731
    lines = ["def f(p, x):"]
    for _ in range(rng.randint(2, 5)):
        lines += rng.choice([
            [f"x = np.tanh(x * {read()} + {read()})"],
            [f"x = x + {read()} * {read()}"],
            [f"w = {read()}", "x = x * w - w"],
            ["if x[0] > 0.1:", f"    x = x * {read()}"],
            ["if x[1] > 0.3:", f"    x = x + {read()}", "else:", f"    x = x * np.sin({read()})"],
            ["for k in range(3):", f"    x = np.sin(x + {read()})", f"    x = x * {read()}"],
            [f"x = helper(p, x) * {read()}"],
        ])  # fmt: skip
    helper = ["def helper(p, x):", "    for k in range(2):", f"        x = np.cos(x * {read()}) + {read()}", "    return x"]
    text = "\n".join([*helper, "", "", lines[0], *(f"    {line}" for line in lines[1:]), "    return np.sum(x * x)", ""])
    return text, found, container


def compiled(text: str, name: str) -> Any:
    """The function `f` of a text that can be read."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"np": np, "__name__": "parameters"}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def of_items(text: str, places: list[str]) -> str:
    """The same function of the items."""
    for k, place in sorted(enumerate(places), key=lambda pair: -len(pair[1])):
        text = text.replace(place, f"q{k}")
    given = ", ".join(f"q{k}" for k in range(len(places)))
    return text.replace("(p, x)", f"({given}, x)")


def at(p: Any, place: str) -> Any:
    """What is at a place of a container, or of its gradient, in which objects are dicts."""
    return eval(place, {"p": p})


def as_dicts(p: Any) -> Any:
    """A gradient with dicts of attributes in the place of objects."""
    if isinstance(p, Record):
        p = attributes_of(p)
    if isinstance(p, dict):
        return {k: as_dicts(v) for k, v in p.items()}
    if isinstance(p, Pair):
        return Pair(*map(as_dicts, p))
    return type(p)(map(as_dicts, p)) if isinstance(p, (list, tuple)) else p


def in_dicts(place: str) -> str:
    """A place in what `as_dicts` gives."""
    return place.replace(".w", "['w']").replace(".b", "['b']")


def alike(x: Any, x_bar: Any) -> bool:
    """Whether a gradient has the structure of its argument."""
    if isinstance(x, Layer):
        return isinstance(x_bar, dict) and list(x_bar) == ["w", "b"] and all(alike(v, x_bar[k]) for k, v in vars(x).items())
    if isinstance(x, Record):
        return isinstance(x_bar, Record) and all(alike(v, getattr(x_bar, k)) for k, v in vars(x).items())
    if isinstance(x, dict):
        return type(x_bar) is dict and list(x) == list(x_bar) and all(alike(v, x_bar[k]) for k, v in x.items())
    if isinstance(x, (list, tuple)):
        return type(x) is type(x_bar) and len(x) == len(x_bar) and all(map(alike, x, x_bar))
    if isinstance(x, np.ndarray):
        return isinstance(x_bar, np.ndarray) and x_bar.shape == x.shape and x_bar.dtype == float
    return x_bar is None if x is None or isinstance(x, str) else isinstance(x_bar, float)


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("seed", range(40))
def test_gradient_in_a_container_is_that_in_its_items(seed):
    text, places, container = program(seed)
    x = np.array([0.4, -0.2, 0.7])
    f, flat = compiled(text, f"<container {seed}>"), compiled(of_items(text, places), f"<items {seed}>")
    p_bar = grad(f)(container, x)
    assert alike(container, p_bar)
    items = [at(container, place) for place in places]
    expected = grad(flat, tuple(range(len(places))))(*items, x)
    for place, one in zip(places, expected, strict=True):
        np.testing.assert_allclose(
            at(as_dicts(p_bar), in_dicts(place)), one, rtol=1e-12, atol=1e-14, err_msg=f"{place}\n{text}"
        )
    kept = [v for v in leaves(as_dicts(p_bar)) if isinstance(v, np.ndarray)]
    assert not any(np.shares_memory(a, b) for k, a in enumerate(kept) for b in kept[:k])
    given = [v for v in items if isinstance(v, np.ndarray)]
    assert not any(np.shares_memory(a, b) for a in kept for b in given)
    if seed % 4 == 0:
        check_grads(flat, (*items, x), order=1, modes=("rev",))


LAYERS = [{"W": np.array([[0.3, -0.2], [0.5, 0.1 * k]]), "b": np.array([0.1, -0.3 * k])} for k in range(3)]


def dense(layers, x):
    for k in range(len(layers)):
        x = np.tanh(layers[k]["W"] @ x + layers[k]["b"])
    return np.sum(x)


def scaled(layers, x):
    for layer in layers:
        if "scale" in layer:
            x = x * layer["scale"]
        x = np.sin(x + layer["b"])
    return np.sum(x * x)


@pytest.mark.parametrize("layers, sums", [(LAYERS, 0), (LAYERS * 30, 1)])
def test_loop_over_layers_stays_a_loop_and_stores_each(layers, sums):
    x = np.array([0.4, 0.9])
    text = grad(dense).source_for(layers, x)
    assert "for k in reversed(range(len(layers))):" in text and text.count("add_at(") == sums
    assert sums or "layers_bar[k] = {'W': W_bar" in text
    check_grads(dense, (layers[:5], x), order=2, modes=("fwd", "rev"))


def arrays(ws, x):
    for w in ws:
        x = np.sin(x * w)
    return np.sum(x)


def layered(p, x):
    for layer in p["layers"]:
        if x[0] > 0.2:
            x = np.tanh(layer["W"] @ x + layer["b"])
        else:
            x = x * p["s"]
    return np.sum(x)


def stopped(ws, x):
    for w in ws:
        if x[0] > 0.3:
            break
        x = x * w
    return np.sum(x)


def late(ws, x):
    for w in ws:
        x = x + w
    return np.sum(x) * w[0] + len(ws)


def twice(ws, x):
    for w in ws:
        x = x * w
    for w in ws:
        x = np.sin(x + w)
    return np.sum(x)


def written(ws, x):
    for w in ws:
        w *= 2.0
        x = x * w
    return np.sum(x)


ARRAYS = [np.array([0.3, 1.2]), np.array([0.7, -0.4]), np.array([1.1, 0.2])]
MANY = [{**layer, "n": 3} for layer in LAYERS]


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", [arrays, stopped, late, twice, written])
@pytest.mark.parametrize("ws", [ARRAYS, ARRAYS[:1] * 3, [w.astype(np.float32) for w in ARRAYS]])
def test_lists_of_arrays(f, ws):
    ws = [w.copy() for w in ws] if f is written else ws
    ws_bar = grad(f)(ws, np.array([0.4, 0.9]))
    assert [w.dtype for w in ws_bar] == [w.dtype for w in ws]
    assert not any(np.shares_memory(a, b) for k, a in enumerate(ws_bar) for b in [*ws_bar[:k], *ws])
    check_grads(f, ([w.astype(float) for w in ws], np.array([0.4, 0.9])), order=2, modes=("fwd", "rev"))


def test_items_that_a_trip_does_not_need():
    p = {"layers": MANY, "s": 0.7, "name": "net"}
    assert alike(p, grad(layered)(p, np.array([0.4, 0.9])))
    check_grads(layered, (p, np.array([0.4, 0.9])), order=2, modes=("fwd", "rev"))


def test_items_that_some_have():
    layers = [LAYERS[0], {**LAYERS[1], "scale": 2.0}, LAYERS[2]]
    check_grads(scaled, (layers, np.array([0.4, 0.9])), order=1, modes=("fwd", "rev"))
    assert alike(layers, grad(scaled)(layers, np.array([0.4, 0.9])))
    check_grads(scaled, (layers * 25, np.array([0.4, 0.9])), order=1, modes=("fwd", "rev"))


def product(p):
    return np.sum(p["a"] * p["b"]) + p["n"]


def test_one_array_at_two_keys_has_two_gradients():
    a = np.array([1.0, 2.0])
    p_bar = grad(product)({"a": a, "b": a, "n": 2.0})
    assert p_bar["a"] is not p_bar["b"] and not np.shares_memory(p_bar["a"], p_bar["b"])
    np.testing.assert_array_equal(p_bar["a"], a)


def test_short_floats_stay_short():
    p_bar = grad(product)({"a": np.ones(2, np.float32), "b": np.float32(2.0), "n": np.float64(1.0)})
    assert (p_bar["a"].dtype, type(p_bar["b"]), type(p_bar["n"])) == (np.float32, np.float32, np.float64)


def test_other_keys_are_another_text():
    df = grad(product)
    first, second = {"a": 1.0, "b": 2.0, "n": 3.0}, {"n": 3.0, "b": 2.0, "c": "c", "a": 1.0}
    assert df(first) == {"a": 2.0, "b": 1.0, "n": 1.0}
    assert list(df(second).items()) == [("n", 1.0), ("b", 1.0), ("c", None), ("a", 2.0)]
    assert df(first) == {"a": 2.0, "b": 1.0, "n": 1.0}
    with pytest.raises(KeyError):
        df({"a": 1.0, "b": 2.0})


def test_second_derivatives_in_a_dict():
    p, v = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 5.0]), "n": 1.0}, {"a": np.ones(2), "b": np.zeros(2), "n": 0.0}
    np.testing.assert_allclose(hvp(product, (p,), (v,))["b"], np.ones(2))
    assert jvp(product, (p,), (v,))[1] == 8.0
