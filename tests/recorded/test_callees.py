"""Callees of recorded functions that are called by their texts: the value bit by bit, each order, no lost derivative."""

from __future__ import annotations

import contextlib
import io
from concurrent.futures import ThreadPoolExecutor

import differences
import numpy as np
import pytest
from corpus import ALL
from differences import assert_value, copied, leaves, random_directions

from recorded.judged import assert_gradient, assert_second, assert_tangent, assert_types, gradient_of
from s2sgrad import grad, hessian, jacobian, jvp, linearize
from s2sgrad.api import compiled_callees
from s2sgrad.errors import S2SGradError
from s2sgrad.recorded import callees
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.runs import OPEN
from s2sgrad.runtime.checks import Refusal

X = np.array([0.7, 1.3, 0.4])
SCALE = 2.0
TABLE = {}
LOG = []


@pytest.fixture
def entered(monkeypatch):
    """Every callee that can be is called by its text, from its first call on; how often that was."""
    monkeypatch.setattr(callees, "PRICE", 0)
    monkeypatch.setattr(callees, "LEAST", -1)
    monkeypatch.setattr(callees, "_CALLEES", {})
    return counted(monkeypatch)


@pytest.fixture
def counted_entries(monkeypatch):
    return counted(monkeypatch)


def counted(monkeypatch):
    count, entry = [], compiled_callees._entry

    def noted(callee, text, *rest):
        value = entry(callee, text, *rest)
        if value is not callees.RECORD:
            count.append(text.function.__name__)
        return value

    monkeypatch.setattr(compiled_callees, "_entry", noted)
    return count


@pytest.fixture(autouse=True)
def quiet():
    with contextlib.redirect_stdout(io.StringIO()):
        yield
    assert not OPEN.runs


def calling(f):
    def caller(*args):
        return f(*args)

    return caller


def outcome(f, entry, twice):
    """(value, cotangents, arguments afterwards), or the error."""
    args = copied(entry.args)
    try:
        if not twice:
            recorded = Recorded(f, args, {}, entry.argnums)
            return recorded.value, recorded.pullback(), args
        recorded = Recorded(gradient_of(f, entry.argnums), args, {}, entry.argnums)
        weights = random_directions(np.random.default_rng(1), entry.args, entry.argnums)
        return None, recorded.pullback(tuple(weights)), args
    except Exception as error:
        return error


def assert_alike(entry, entered, monkeypatch, twice):
    """A text gives what the recording of the same function gives."""
    found = outcome(calling(entry.function), entry, twice)
    if not entered:
        pytest.skip("it has no text that may be called")
    monkeypatch.setattr(callees, "PRICE", float("inf"))
    monkeypatch.setattr(callees, "_CALLEES", {})
    expected = outcome(calling(entry.function), entry, twice)
    if isinstance(expected, Exception):  # what no recording follows, a text may
        assert isinstance(expected, (S2SGradError, Refusal)) or type(found) is type(expected)
        return
    assert_value(found[0], expected[0])
    assert_types(found[0], expected[0])
    for mine, theirs in zip(found[1:], expected[1:], strict=True):
        for a, b in zip(leaves(mine), leaves(theirs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


@pytest.mark.sampled(one_in=48)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_function_of_the_corpus_as_a_callee(entry, entered, monkeypatch):
    assert_alike(entry, entered, monkeypatch, False)


@pytest.mark.sampled(one_in=120)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", [e for e in ALL if e.second], ids=lambda entry: entry.name)
def test_a_function_of_the_corpus_as_a_callee_twice(entry, entered, monkeypatch):
    assert_alike(entry, entered, monkeypatch, True)


# --- ways to lose a derivative -------------------------------------------------------------------------------------------


def layer(w, h):
    z = w * h + 0.5
    return np.tanh(z) * z


def slope_of(a, b):
    return a * b / (1.0 + a * a)


def loops(u):
    v = np.zeros(len(u))
    for i in range(len(u)):
        v[i] = u[i] * u[i - 1] + np.sin(u[i])
    return v


def both(a, b):
    return {"sum": a + b, "rest": [a * b, 3]}


def gives_back(a):
    return a if a[0] > 0.0 else -a


def keeps_in_a_list(a, b):
    return [a, b * a]


def changes(a):
    a[0] = 2.0 * a[1]
    return np.sum(a * a)


def raises(a):
    if a > 0.5:
        raise ValueError("too large")
    return a * a


def reads_a_number(a):
    return SCALE * a * a


def reads_a_table(a):
    return TABLE["w"] * a if TABLE else a


def imports_a_module(a):
    import differences as module

    return a * a * module.SCALE_OF_A_TEST


WEIGHTS = np.array([1.0, 2.0, 3.0])


def weighted(a, w=WEIGHTS):
    return a * a * w


def weighs(a):
    return weighted(a) * a


def prints(a):
    LOG.append(1)
    return a * a


def chosen(a, how="square", times=1):
    return times * (a * a if how == "square" else np.sin(a))


def chosen_by(a, how, times):
    return times * (a * a if how == "square" else np.sin(a))


def masked(a):
    return np.where(a > 0.5, np.sqrt(np.abs(a - 0.4)), 0.0)


def of_pairs(pairs, h):
    for w, b in pairs:
        h = np.tanh(w * h + b)
    return h


def halves(a):
    b = a * a
    return b, b[1:]


def made_by(factor):
    def product(a):
        return factor * a * a

    return product


class Counter:
    def __init__(self):
        self.items = []


# each of these is a caller: right, whatever is called by its text


def written_afterwards(x):
    u = x * x
    y = loops(u)
    u[0] = 3.0 * x[1]
    return np.sum(y * u)


def result_written_afterwards(x):
    y = loops(x)
    z = y * y
    y[1] = x[0]
    return np.sum(z * y)


def outer_array_written_afterwards(x):
    w = np.array([1.0, 2.0, 3.0])
    y = layer(x, w)
    w[0] = 7.0
    return np.sum(y * w)


def list_changed_afterwards(x):
    pairs = [(x, 0.1), (x * x, x)]
    y = of_pairs(pairs, x)
    pairs.append((y, 2.0))
    return np.sum(of_pairs(pairs, y))


def parts_of_a_result(x):
    found = both(x, x * x)
    found["rest"].append(4)
    return np.sum(found["sum"] * found["rest"][0]) * len(found["rest"])


def argument_given_back(x):
    y = x * 1.0
    z = gives_back(y)
    z[0] = 5.0 * x[2]
    return np.sum(y * y)


def argument_in_a_list(x):
    y = x * 1.0
    kept = keeps_in_a_list(y, x)
    kept[0][1] = x[0] * x[2]
    return np.sum(y * kept[1])


def argument_changed(x):
    y = x * 1.0
    return changes(y) * np.sum(y)


def handler(x):
    total = 0.0
    for v in x:
        try:
            total = total + raises(v)
        except ValueError:
            total = total + 3.0 * v
    return total


def by_keywords(x):
    return np.sum(chosen_by(x, times=3, how="sine") + chosen(x, times=2) + chosen_by(how="square", a=x, times=1))


def masks(x):
    return np.sum(masked(x) * x)


def views_of_one_array(x):
    a, b = halves(x)
    b[0] = x[0] * x[1]
    return np.sum(a * a)


def through_a_table(x):
    TABLE["w"] = x[0] * 2.0
    y = reads_a_table(x[1])
    TABLE.clear()
    return y * x[2]


def through_a_module(x):
    differences.SCALE_OF_A_TEST = 2.0
    y = imports_a_module(x[1])
    differences.SCALE_OF_A_TEST = 5.0
    return y * x[2]


def through_a_default(x):
    WEIGHTS[:] = 1.0, 2.0, 3.0
    y = weighs(x)
    WEIGHTS[:] = 7.0
    return np.sum(y * x)


def a_factor_of_the_run(x):
    return made_by(x[0] * 2.0)(x[1]) * x[2]


def a_gradient_inside(x):
    return np.sum(grad(lambda u: np.sum(loops(u) * layer(x, u)))(x * 1.5) * x)


def a_tangent_inside(x):
    return np.sum(jvp(lambda u: loops(u) * x, (x,), (x * x,))[1])


def numbers_alone(x):
    todo = [x[0]]
    for v in todo:
        if len(todo) > 6:
            break
        todo.append(slope_of(v, x[1]) + slope_of(x[2], v))
    return todo[-1]


def kept_in_an_object(x):
    c = Counter()
    for k in range(3):
        c.items.append(layer(x, x * k))
    return np.sum(c.items[0] * c.items[2])


CALLERS = {
    written_afterwards: True,
    result_written_afterwards: True,
    outer_array_written_afterwards: True,
    list_changed_afterwards: True,
    parts_of_a_result: True,
    argument_given_back: False,
    argument_in_a_list: False,
    argument_changed: False,
    handler: True,
    by_keywords: True,
    masks: True,
    views_of_one_array: False,
    through_a_table: False,
    through_a_default: False,
    through_a_module: False,
    a_factor_of_the_run: False,
    a_gradient_inside: True,
    a_tangent_inside: True,
    numbers_alone: True,
    kept_in_an_object: True,
}
"""Whether there is a text to call: not where it shares memory with its caller, or reads what that holds."""


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", CALLERS, ids=lambda f: f.__name__)
def test_a_caller(f, entered):
    assert_gradient(f, (X,), (0,))
    assert bool(entered) is CALLERS[f]
    assert_tangent(f, (X,), (0,))
    assert_second(f, (X,), (0,))


def test_a_number_that_changes_before_the_sweep(entered, monkeypatch):
    def changing(x):
        global SCALE
        y = reads_a_number(x[0])
        SCALE = 5.0
        return y * x[1]

    monkeypatch.setitem(globals(), "SCALE", 2.0)
    with pytest.raises((S2SGradError, Refusal), match="reads by name was changed after the call"):
        Recorded(changing, (X,), {}, (0,)).pullback()
    assert entered


def test_what_leaves_traces_runs_once(entered):
    LOG.clear()
    recorded = Recorded(calling(prints), (X,), {}, (0,))
    assert np.allclose(recorded.pullback()[0], 2.0 * X)
    assert LOG == [1] and not entered


def test_matrices_and_maps_of_one_record(entered):
    def caller(x):
        parts = [layer(x, x * 2.0), loops(x)]
        parts.append(parts[0] * parts[1])
        return parts[2]

    expected = np.stack([(caller(X + 1e-6 * e) - caller(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)], axis=-1)
    recorded = Recorded(caller, (X,), {}, (0,))
    rows = np.stack([recorded.pullback(e)[0] for e in np.eye(3)])
    columns = np.stack([recorded.tangent([e]) for e in np.eye(3)], axis=-1)
    assert np.allclose(rows, expected, atol=1e-8) and np.allclose(columns, expected, atol=1e-8)
    assert entered.count("loops") == 1


def test_each_thread_has_its_own_runs(entered):
    def task(k):
        return Recorded(numbers_alone, (X * (1.0 + 0.1 * k),), {}, (0,)).pullback()[0]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(task, range(8)))
    assert np.allclose(found, [task(k) for k in range(8)])


# --- what it costs ---------------------------------------------------------------------------------------------------------


class Words:
    def __init__(self, words):
        self.words = words


def parsed(tokens, x):
    word = tokens.words.pop()
    if word == "add":
        return parsed(tokens, x) + parsed(tokens, x)
    return loops(parsed(tokens, x)) if word == "loops" else x


def machine(x, words):
    return np.sum(parsed(Words(list(words)), x) ** 2)


def test_a_text_is_paid_for_by_what_was_recorded(counted_entries, monkeypatch):
    monkeypatch.setattr(callees, "_CALLEES", {})
    monkeypatch.setattr(callees, "PRICE", 600)
    words = ["x", "x", "loops", "add", "loops"]
    expected = grad(machine)(X, words)
    calls = 1
    while not counted_entries and calls < 40:
        assert np.allclose(grad(machine)(X, words), expected, rtol=1e-13)
        calls += 1
    assert 3 <= calls < 40  # a call of `loops` makes some 20 entries: none is compiled at once
    assert callees.callee_of(loops).saved < 600


def test_a_short_function_is_always_recorded(counted_entries, monkeypatch):
    def short(x):
        todo = [x[0]]
        for v in todo:
            if len(todo) > 400:
                break
            todo.append(product(v, x[1]))
        return todo[-1]

    monkeypatch.setattr(callees, "PRICE", 100)
    Recorded(short, (X,), {}, (0,)).pullback()
    assert not counted_entries


def product(a, b):
    return a * b


def test_as_users_see_it(entered):
    words = ["x", "x", "loops", "add", "loops"]
    slopes = [(machine(X + 1e-6 * e, words) - machine(X - 1e-6 * e, words)) / 2e-6 for e in np.eye(3)]
    assert np.allclose(grad(machine)(X, words), slopes, atol=1e-7)
    assert np.allclose(jvp(machine, (X, words), (X, None))[1], slopes @ X, atol=1e-7)
    assert np.allclose(jacobian(machine)(X, words), slopes, atol=1e-7)
    assert np.allclose(linearize(machine, X, words)[1](X, None), slopes @ X, atol=1e-7)
    second = [(grad(machine)(X + 1e-5 * e, words) - grad(machine)(X - 1e-5 * e, words)) / 2e-5 for e in np.eye(3)]
    assert np.allclose(hessian(machine)(X, words), second, atol=1e-6)
    assert "loops" in entered
