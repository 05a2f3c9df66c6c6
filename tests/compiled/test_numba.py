"""Compiled gradients: the numbers of the text, its errors, other arguments, other processes."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from as_loops import assert_same

from s2sgrad import Unsupported, compile, grad, hessian, jacobian, jacrev, jvp, value_and_grad
from s2sgrad.compiled import direct, native, repeated, vectors

V, M = np.linspace(-0.7, 0.9, 7), np.linspace(0.3, 1.9, 20).reshape(4, 5)
FACTOR = 2.0


def recurrence(x, k):
    s = 0.5
    for i in range(len(x)):
        s = k * s + x[i] * s
    return s


def layers(w, v, x):
    h = np.tanh(x @ w)
    return FACTOR * np.mean((h @ v) ** 2)


def squares(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * x[i + 1]
    return y


def quotient(x, y):
    return np.sum(x / y) + 1.0 / np.sum(y)


@pytest.fixture
def numba(tmp_path, monkeypatch):
    monkeypatch.setenv("S2SGRAD_CACHE", str(tmp_path))
    return pytest.importorskip("numba")


def test_without_numba_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unsupported, match=r"pip install 's2sgrad\[compile\]'"):
        grad(recurrence, compile=True)


def test_debug_and_compile_exclude_each_other():
    with pytest.raises(ValueError, match="leave out compile=True"):
        grad(recurrence, compile=True, debug=True)


def test_numbers_are_those_of_the_text(numba):
    df = value_and_grad(recurrence, (0, 1), compile=True)
    assert_same(df(V, 0.3), value_and_grad(recurrence, (0, 1))(V, 0.3))
    assert "is compiled" in df.explain_compile() and "for i in range(n0)" in df.compiled_source
    space = {}
    exec(df.compiled_source, space)  # as it stands, without numba
    assert np.isclose(space["recurrence_value_and_grad_loops"](V, 0.3, 1.0)[0], recurrence(V, 0.3))


def test_a_chain_of_products_is_bit_equal(numba):
    assert grad(recurrence, compile=True)(V, 0.3).tolist() == grad(recurrence, lists=False)(V, 0.3).tolist()


@pytest.mark.sampled(one_in=3)
def test_other_arguments(numba):
    global FACTOR
    df, plain = grad(layers, (0, 1, 2), compile=True), grad(layers, (0, 1, 2))
    for x in (np.ones((3, 4)), np.asfortranarray(np.ones((6, 4))), np.ones((8, 4))[::2]):
        assert_same(df(M, V[:5], x), plain(M, V[:5], x))
    frozen = np.ones((3, 4))
    frozen.flags.writeable = False
    before, FACTOR = FACTOR, 3.0
    try:
        assert_same(df(M, V[:5], frozen), plain(M, V[:5], frozen))
    finally:
        FACTOR = before
    assert "is compiled" in df.explain_compile() and "ran as NumPy text" not in df.explain_compile()


def test_errors_are_those_of_the_text(numba):
    df, plain = grad(quotient, compile=True), grad(quotient)
    df(V, V)
    with pytest.raises(ValueError) as theirs:
        plain(V, np.ones(3))
    with pytest.raises(ValueError) as ours:
        df(V, np.ones(3))
    assert str(ours.value) == str(theirs.value)
    assert_same(df(V, np.ones(1)), plain(V, np.ones(1)))


@pytest.mark.sampled(one_in=3)
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numbers of Python's take the type of float32 since"
)
def test_float32(numba):
    args = [a.astype(np.float32) for a in (M, V[:5], np.ones((3, 4)))]
    df = value_and_grad(layers, (0, 1, 2), compile=True)
    value, gradients = df(*args)
    theirs, expected = value_and_grad(layers, (0, 1, 2))(*args)
    assert "is compiled" in df.explain_compile()
    for ours, other in zip((value, *gradients), (theirs, *expected), strict=True):
        assert ours.dtype == other.dtype == np.float32
        np.testing.assert_allclose(ours, other, rtol=0.0, atol=3e-6 * (1.0 + np.max(np.abs(other))))


@pytest.mark.sampled(one_in=3)
def test_threads(numba):
    """The same numbers, bit by bit."""

    def waves(x, y):
        for _ in range(3):
            x = np.sin(x) * y + np.exp(-x)
        return np.sum(x * y)

    x = np.linspace(-1.0, 1.0, 200 * 200).reshape(200, 200)
    df, alone = grad(waves, (0, 1), compile=True, threads=True), grad(waves, (0, 1), compile=True)
    assert [g.tolist() for g in df(x, x + 0.5)] == [g.tolist() for g in alone(x, x + 0.5)]
    assert "is compiled" in df.explain_compile() and "in prange(" in df.compiled_source
    assert compile(waves, threads=True)(x, x) == compile(waves)(x, x)
    with pytest.raises(ValueError, match="give compile=True, too"):
        grad(waves, threads=True)


@pytest.mark.parametrize("shape", [(1, 40_000), (2, 20_000), (5, 7_000), (300, 301)])
def test_threads_of_loops_that_are_instructions(numba, monkeypatch, shape):
    """They need no second compilation, and share trips that are fewer than threads, or no multiple of them."""

    def smoothed(u, k):
        for _ in range(2):
            v = u * 1.0
            v[:, 1:-1] = u[:, 1:-1] + k * (u[:, 2:] - u[:, :-2])
            u = v * np.tanh(v)
        return np.sum(u * u)

    compiled, ways = native._compiled, []
    monkeypatch.setattr(native, "_compiled", lambda *args, **named: ways.append(named) or compiled(*args, **named))
    u = np.linspace(0.0, 1.0, shape[0] * shape[1]).reshape(shape)
    df, alone = grad(smoothed, (0, 1), compile=True, threads=True), grad(smoothed, (0, 1), compile=True)
    for ours, theirs in zip(df(u, 0.3), alone(u, 0.3), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert "in prange(" in df.compiled_source and "is compiled" in df.explain_compile()
    assert ways == [{"is_direct": True}, {"is_direct": True}]


@pytest.mark.parametrize("shape", [(1, 40_000), (2, 20_000), (200, 201), (7_000, 5), (3, 50, 300)])
def test_threads_have_rows_of_their_own(numba, shape):
    """Rows that shared loops hold are not shared by threads: the same numbers, bit by bit."""

    def shares(x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        p = e / np.sum(e, axis=-1, keepdims=True)
        return np.sum(p * np.log(p + 1e-3), axis=-1)

    x = np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape) ** 3
    df, alone = grad(shares, compile=True, threads=True), grad(shares, compile=True)
    for _ in range(3):
        np.testing.assert_array_equal(df(x), alone(x))
    np.testing.assert_allclose(df(x), grad(shares)(x), rtol=1e-9, atol=1e-13)
    assert "in prange(" in df.compiled_source and "is compiled" in df.explain_compile()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extremes_of_rows(numba, dtype):
    """Whatever the order: of rows of any length, also of nan, infinities and zeros of both signs."""

    def extremes(x):
        return np.max(x, axis=1), np.min(x, axis=1), np.max(x), np.min(x), np.max(x, axis=0)

    f, rng = compile(extremes), np.random.default_rng(3)
    for length in [*range(1, 40), 1000]:
        x = rng.choice([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, 7e-310], (11, length)).astype(dtype)
        x[rng.integers(11), rng.integers(length)] = np.nan
        x[3] = -np.inf
        for ours, theirs in zip(f(x), extremes(x), strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert np.asarray(ours).dtype == dtype
        assert "is compiled" in f.explain_compile()


def test_keys_in_another_order(numba):
    def f(p, x):
        return np.sum(p["a"] * x) + p["b"]["c"] ** 2

    df, p = grad(f, compile=True), {"a": V, "b": {"c": 3.0}}
    for given in (p, {"b": {"c": 2.0}, "a": 2.0 * V}, {**p, "more": V}):
        ours, theirs = df(given, V), grad(f)(given, V)
        assert [*ours] == [*given]
        assert_same(ours, theirs)
        assert "is compiled" in df.explain_compile()
    with pytest.raises(KeyError):
        df({"a": V}, V)


def test_what_has_no_loops_runs_as_text(numba):
    def f(x):
        return np.sum(np.array([[row[0]] for row in {"a": x}.values()]))

    df = grad(f, compile=True)
    assert_same(df(M), grad(f)(M))
    assert "runs as NumPy text" in df.explain_compile() and df.compiled_source.startswith("# ")


def test_tangents_and_second_derivatives(numba):
    along = jvp(recurrence, compile=True)
    assert_same(along((V, 0.3), (V, 1.0)), jvp(recurrence, (V, 0.3), (V, 1.0)))
    assert_same(jacobian(squares, compile=True)(V), jacobian(squares)(V))
    assert_same(hessian(layers, 1, compile=True)(M, V[:5], np.ones((3, 4))), hessian(layers, 1)(M, V[:5], np.ones((3, 4))))
    assert_same(grad(grad(recurrence, 1, compile=True), 1)(V, 0.3), grad(grad(recurrence, 1), 1)(V, 0.3))


def test_a_function_itself(numba):
    loops = compile(recurrence)
    assert loops(V, 0.3) == recurrence(V, 0.3) and "is compiled" in loops.explain_compile()
    assert loops(V.tolist(), 0.3) == recurrence(V.tolist(), 0.3)  # no loops for lists of unknown length
    with pytest.raises(TypeError, match="not a Gradient"):
        compile(grad(recurrence))


def test_a_function_that_writes_its_argument_is_left_as_it_is(numba):
    def double(x):
        x *= 2.0
        return np.sum(x)

    x, loops = V.copy(), compile(double)
    loops(x)
    np.testing.assert_array_equal(x, 2.0 * V)
    assert "writes its arguments" in loops.explain_compile()


def test_a_second_process_reads_the_file(numba, tmp_path):
    (tmp_path / "model.py").write_text(
        "import sys\nfrom s2sgrad import grad\n\n\ndef f(x):\n    return x * x * x\n\n\n"
        "print(grad(f, compile=True)(2.0), 'numba.np.linalg' in sys.modules)\n"
    )
    run = [sys.executable, str(tmp_path / "model.py")]
    root = importlib.import_module("s2sgrad").__path__[0] + "/.."
    env = {"S2SGRAD_CACHE": str(tmp_path), "PYTHONPATH": root, "PATH": ""}
    for compiles in (True, numba.version_info.short != native.TRIED):
        done = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
        assert done.stdout == f"12.0 {compiles}\n"
    assert len([*tmp_path.glob("loops_*.py")]) == 1 and [*tmp_path.rglob("*.nbc")]


POINTS = np.concatenate(
    [np.linspace(-3.0, 3.0, 301), np.linspace(-745.0, 709.0, 99), 10.0 ** np.linspace(-300.0, 300.0, 99)]
)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1.0, 710.5, -746.5, 0.625, 1.0])


@pytest.mark.parametrize("name", ["exp", "tanh", "log"])
@pytest.mark.parametrize("compiled", [False, True])
def test_functions_that_are_computed_as_vectors(name, compiled, request):
    function = getattr(vectors, name)
    if compiled:
        request.getfixturevalue("numba")
        function = native._helpers()[name]
    points = np.concatenate([POINTS, np.abs(POINTS) + 1e-3, SPECIAL])
    with np.errstate(all="ignore"):
        theirs = getattr(np, name)(points)
        ours = np.array([function(x) for x in points])
        apart = np.where(ours == theirs, 0.0, np.abs(ours - theirs))
    large = np.abs(theirs) > 1e-300
    np.testing.assert_allclose(ours[large], theirs[large], rtol=6e-16, atol=2e-17)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
    assert np.max(apart[~large & np.isfinite(theirs)], initial=0.0) < 1e-314


def systems(m, v):
    a = m @ m.T
    return np.sum(np.linalg.solve(a, v) ** 2) + np.sum(np.linalg.inv(a.T) * a) + np.sum(np.linalg.solve(a.T, m[:, ::-1]) * m)


@pytest.mark.sampled(one_in=3)
def test_systems_and_singular_matrices(numba):
    df, m = grad(systems, (0, 1), compile=True), np.cos(M * M * 7.0)
    assert_same(df(m, V[:4]), grad(systems, (0, 1))(m, V[:4]))
    assert "is compiled" in df.explain_compile()
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        df(np.zeros((4, 5)), V[:4])
    with pytest.raises(ValueError, match=r"mismatch|broadcast|size"):
        df(m, V[:3])


def windows_over_rows(m, v):
    out = np.zeros(len(v))
    for k in range(len(v)):
        out[k:] += v[k] * v[: len(v) - k] + np.sum(m[:, k:] @ v[k:]) * m[1, k:]
    return out


@pytest.mark.sampled(one_in=3)
def test_indices_that_are_sums(numba):
    df = grad(windows_over_rows, (0, 1), compile=True)
    for n in (5, 3, 0):
        assert_same(df(M[:, :n], V[:n]), grad(windows_over_rows, (0, 1))(M[:, :n], V[:n]))
    with pytest.raises((ValueError, IndexError)):
        df(M[:, :3], V[:5])
    assert "is compiled" in df.explain_compile()


def pair_and_aux(x, y):
    return (x * np.sin(y), np.sum(x * y)), 3


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("matrix", [jacrev, jacobian])
def test_rows_of_a_jacobian(numba, matrix):
    np.testing.assert_allclose(matrix(squares, compile=True)(V), jacrev(squares)(V), rtol=1e-14)
    ours, aux = matrix(pair_and_aux, (0, 1), has_aux=True, compile=True)(V, V[::-1])
    theirs, _ = jacrev(pair_and_aux, (0, 1), has_aux=True)(V, V[::-1])
    assert_same(ours, theirs)
    assert aux == 3
    assert_same(matrix(grad(recurrence), compile=True)(V, 0.3), jacrev(grad(recurrence))(V, 0.3))


def test_rows_of_what_may_run_only_once(numba):
    calls = []

    def counted(x):
        calls.append(1)
        return x[:2] * x[1]

    np.testing.assert_allclose(jacrev(counted, compile=True)(V), jacrev(counted)(V))
    assert len(calls) == 2


def test_rows_whose_loops_raise(numba):
    df = jacrev(quotient, 1, compile=True)
    assert_same(df(V, V + 2.0), jacrev(quotient, 1)(V, V + 2.0))
    with pytest.raises(ValueError, match="broadcast"):
        df(V, np.ones(3))


def bound_in_a_loop(x, n):
    for i in range(n):
        t, y = x[i] * 2.0, x * x[i]
    return np.sum(y) * t


def bound_in_a_branch(x, n):
    if n > 0:
        t = x * 2.0
    return np.sum(t * x)


@pytest.mark.parametrize("f", [bound_in_a_loop, bound_in_a_branch])
def test_what_is_not_bound_raises(numba, f):
    """Where Python says that a variable is not bound, numba reads what happens to be there."""
    loops, df = compile(f), grad(f, compile=True)
    assert_same((loops(V, 2), df(V, 2)), (f(V, 2), grad(f)(V, 2)))
    for run in (loops, df):
        with pytest.raises(UnboundLocalError):
            run(V, 0)
    assert "is compiled" in loops.explain_compile()


def whole_numbers(k, n, x):
    return np.mean(k) + np.sum(x ** (n / (n + n))), n > 9007199254740992.0


def test_large_integers_and_powers(numba):
    """Means of integers are sums of floats; integers of Python's are compared exactly; `x ** 0.5` is a root."""
    k, x = np.array([2**62, 2**62, 2**62]), np.array([0.0, 2.0])
    for n in (3, 2**53 + 1, 2**53 - 1, 2**62, 2**63, 2**70):
        assert compile(whole_numbers)(k, n, x) == whole_numbers(k, n, x)
    loops = compile(lambda x, n: x**n)
    np.testing.assert_array_equal(loops(np.array([-np.inf, 4.0]), 0.5), [np.nan, 2.0])


def test_what_stays_numpy_between_loops(numba):
    def f(x, m):
        y, s = np.unwrap(x * 4.0), 0.0
        for i in range(len(x)):
            s = s * 0.5 + y[i] * np.linalg.det(m * x[i]) + np.searchsorted(x, 0.1)
        q, r = np.linalg.qr(m)
        return s + np.sum(np.percentile(x, 30.0) * q) + r[0, 1]

    loops, m = compile(f), M[:, :4] + np.eye(4)
    assert loops(V, m) == pytest.approx(f(V, m), rel=1e-13)
    for n in (3, 7):
        assert loops(V[:n], m) == pytest.approx(f(V[:n], m), rel=1e-13)
    said = loops.explain_compile()
    assert "stays NumPy: `unwrap`" in said and "stays NumPy: `qr`" in said and "ran as NumPy text" not in said
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        loops(V, m[:3])


class Scaled:
    def scaled(self, x):
        return x * 2.0

    def __call__(self, x):
        return x * 4.0


class Inheriting(Scaled):
    pass


def doubled(x):
    return x * 2.0


MODELS = Scaled(), Inheriting()
MODEL, HEIR = MODELS


def asks_objects(x):
    return MODEL.scaled(x) + MODEL(x) + doubled(x) + HEIR.scaled(x)


def test_methods_and_code_that_change(numba, monkeypatch):
    """What is written out in the loops is compared at each call."""
    loops = compile(asks_objects)

    def changed(owner, name, factor):
        monkeypatch.setattr(owner, name, lambda *given: given[-1] * factor, raising=False)
        np.testing.assert_allclose(loops(V), asks_objects(V), rtol=1e-14)

    np.testing.assert_allclose(loops(V), asks_objects(V), rtol=1e-14)
    changed(Scaled, "scaled", 9.0)
    changed(Scaled, "__call__", 7.0)
    changed(Inheriting, "scaled", 6.0)
    changed(MODEL, "scaled", 11.0)
    changed(HEIR, "scaled", 3.0)
    monkeypatch.setattr(doubled, "__code__", (lambda x: x * 5.0).__code__)
    np.testing.assert_allclose(loops(V), asks_objects(V), rtol=1e-14)


def scaled_rows(x, y, k):
    y[:] = y * k + x
    return FACTOR * np.sum(y * x) / k


def test_later_calls_ask_what_the_first_one_asks(numba, monkeypatch):
    """Arguments of other types and layouts, errors of NumPy, shared memory, other values under free names."""
    loops, text = value_and_grad(scaled_rows, (0, 2), compile=True), value_and_grad(scaled_rows, (0, 2))

    def same(*args, often=3):
        for _ in range(often):
            for ours, theirs in zip(loops(*args)[1], text(*args)[1], strict=True):
                assert_same(ours, theirs)

    def as_usual():
        same(M.copy(), M.copy(), 2.0)
        assert loops.explain_compile().startswith("`scaled_rows_value_and_grad` is compiled")

    as_usual()
    read_only = M.copy()
    read_only.flags.writeable = False
    others = [(M[:, ::-1], M), (M.T, M.T.copy()), (read_only, M), (M[:1], M[:1]), (M.astype(np.float32), M), (V, V)]
    for x, y in others:
        for k in (2.0, np.float64(2.0)):
            same(x, y.copy(), k)
            as_usual()
    shared = M.copy()
    for _ in range(3):
        with pytest.raises(ValueError, match="shares memory"):
            loops(shared, shared, 2.0)
    as_usual()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        loops(M, M * 1e300, 1e300)
    for factor in (3.0, np.float64(5.0), 4, np.array(7.0)):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        same(M.copy(), M.copy(), 2.0)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    as_usual()


def test_sizes_that_were_equal_at_first(numba):
    """Another call need not have them equal: the loops are written again, once."""

    def pairs(x, y):
        s = 0.0
        for i in range(len(x)):
            for j in range(len(y)):
                s += x[i] * y[j] * x[i]
        return s

    loops = compile(pairs)
    for m in (4, 5, 3, 6, 4, 7, 8, 9):
        assert np.isclose(loops(V[:4], V[:m] if m <= 7 else np.ones(m)), pairs(V[:4], V[:m] if m <= 7 else np.ones(m)))
    assert "is compiled" in loops.explain_compile() and "1 calls raised" in loops.explain_compile()


@pytest.mark.sampled(one_in=3)
def test_loops_that_a_text_has_several_times(numba):
    """They are compiled once, and compute what they did."""

    def passes(x, y):
        u, v, w = x.copy(), y.copy(), x * y
        for _ in range(3):
            u[1:] = u[1:] * 0.5 + u[:-1]
            v[1:] = v[1:] * 0.5 + v[:-1]
            w[1:] = w[1:] * 0.5 + w[:-1]
            u[1:] = u[1:] * 0.5 + u[:-1]
            v[1:] = v[1:] * 0.5 + v[:-1]
        return u, v, w

    rows = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    loops = compile(passes)
    assert_same(loops(rows, rows[::-1] + 2.0), passes(rows, rows[::-1] + 2.0))
    assert "is compiled" in loops.explain_compile()
    made = repeated.shared(ast.parse(loops.compiled_source.partition("\n\n\n")[2]))
    assert len(made.body) > 1


def test_loops_that_give_a_number_are_written_once():
    """Those that differ in more than names are not, nor those that give something else."""
    loop = "  for i in range(n):\n    {0} = {0} + x[i] * {1}\n"
    counted = "".join(
        f" {s} = {s}0 = 0.0\n{loop.format(s, k)[1:]}" for s, k in zip("stuv", ("2.0", "2.0", "3.0", "q"), strict=True)
    )
    module = ast.parse(f"def f(n, x, q):\n{counted} return s, t, u, v")
    nests = direct.outlined(module, {"range"})
    calls = [n for n in ast.walk(module) if isinstance(n, ast.Call) and n.func.id.startswith("f_nest")]
    assert [c.func.id for c in calls] == ["f_nest_0", "f_nest_0", "f_nest_1", "f_nest_2"] and len(nests) == 3
    assert ast.unparse(calls[1]) == "f_nest_0(n, t, x)"


def test_loops_that_keep_a_number_are_not_shared():
    """What they bind is read by the next ones, or by later trips of the same."""
    one = "        for i in range(n):\n            for j in range(n):\n                {0} = {0} + x[i, j] * x[i, j]\n"
    kept = "def f(x, n):\n    s = 0.0\n    t = 0.0\n    for _ in range(2):\n" + (one.format("s") + one.format("t")) * 3
    later = one.replace("{0} = {0} +", "if x[i, j] > 0.0:\n                    q = x[0, 0]\n                x[i, j] = q +")
    for text in (kept + "    return s + t\n", "def f(x, n):\n    for _ in range(2):\n" + later * 4):
        assert len(repeated.shared(ast.parse(text)).body) == 1


NUMBERS = """
def f_loops(x, k, flags, n):
    y = np.empty((3, n))
    s, c, last, all_ = 0.0, 0, 0.0, True
    for i in range(3):
        for j in range(n - 1, -1, -1):
            y[i, j] = x[i, j] * (2.0 if flags[j] and x[i, j] > 0.5 else -1.0)
    for i in range(3):
        for j in range(1, n):
            s = plus(s, y[i, j - 1] / (x[i, j] - x[i, j]))
            c += 1
            if flags[j] or not x[i, j] < 1.0:
                last = y[i, j] // 0.25
            all_ = all_ and flags[j]
    for j in range(0, n, 2):
        y[k, j] = x[at(k, 3), j] + np.float64(j) % 3 + abs(k)
    return (y, s, c, last, all_)
"""


def by_instructions(text, name, given):
    """What a text returns that is compiled without inference of the loops."""
    return native._compiled(native.numba(), text, name, given, None)(*given)


def as_python(text, name, given):
    space = {**vars(native.scalars)}
    exec(text, space)
    with np.errstate(all="ignore"):
        return space[name](*[g.copy() if isinstance(g, np.ndarray) else g for g in given])


@pytest.mark.parametrize("k", [1, -1])
def test_loops_as_instructions(numba, k):
    x, flags = np.linspace(0.1, 1.7, 15).reshape(3, 5), np.array([True, False, True, True, False])
    ours = by_instructions(NUMBERS, "f_loops", (x, k, flags, 5))
    theirs = as_python(NUMBERS, "f_loops", (x, k, flags, 5))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [*map(type, ours)] == [np.ndarray, float, int, float, bool]


def test_instructions_raise_what_loops_raise(numba):
    x, flags = np.ones((3, 5)), np.ones(5, bool)
    with pytest.raises(IndexError):
        by_instructions(NUMBERS, "f_loops", (x, 3, flags, 5))
    with pytest.raises(TypeError, match="a row of an array"):  # what has no instructions is left to numba
        by_instructions(ROWS, "g_loops", (x,))
    np.testing.assert_array_equal(native.native(ROWS, "g_loops", (x,))(x)[0], x[:, 0] + 1.0)


ROWS = """
def g_loops(x):
    y = np.empty(3)
    for i in range(3):
        r = x[i]
        y[i] = r[0] + 1.0
    return (y,)
"""

SEVERAL_TYPES = """
def h_loops(x, k, n):
    y, m, z = np.empty(n), np.empty(n, np.int64), np.empty(n, np.float32)
    rows = []
    for i in range(n):
        y[i] = x[i] + x[i] * x[i] - x[i] + x[i] * x[i] - x[i] + x[i] * x[i]
    for i in range(n):
        m[i] = k[i] + k[i] * k[i] - k[i] + k[i] * k[i] - k[i] + k[i] * k[i]
    for i in range(n):
        z[i] = y[i] + y[i] * y[i] - y[i] + y[i] * y[i] - y[i] + y[i] * y[i]
    for i in range(n):
        rows.append(y[i])
    s = 0.0
    for i in range(n):
        s = s + rows[i]
    return (y, m, z, s)
"""


def test_loops_that_are_equal_but_for_types(numba):
    given = np.linspace(0.0, 1.0, 4), np.arange(4), 4
    for a, b in zip(
        by_instructions(SEVERAL_TYPES, "h_loops", given), as_python(SEVERAL_TYPES, "h_loops", given), strict=True
    ):
        np.testing.assert_array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def test_what_is_only_read_is_not_written(numba):
    frozen = np.ones(3)
    frozen.flags.writeable = False
    text = "def f_loops(x):\n    for i in range(3):\n        x[i] = 2.0\n    return (x[0],)\n"
    with pytest.raises(Exception, match="only read"):
        by_instructions(text, "f_loops", (frozen,))


def test_loops_without_instructions_are_kept_on_disk(numba, monkeypatch, tmp_path):
    """The next process compiles them no more than this one: not even to find out that they have none."""
    monkeypatch.setenv("S2SGRAD_CACHE", str(tmp_path))
    tried, compiled = [], native._compiled

    def noted(nb, text, name, arguments, path, is_direct=True):
        tried.append(is_direct)
        if is_direct:
            raise TypeError("without instructions")
        return compiled(nb, text, name, arguments, path, is_direct)

    monkeypatch.setattr(native, "_compiled", noted)
    for expected in ([True, False], [False]):
        tried.clear()
        np.testing.assert_array_equal(native.native(ROWS, "g_loops", (np.ones((3, 2)),))(np.ones((3, 2)))[0], 2.0)
        assert tried == expected
        assert [*tmp_path.rglob("*.nbc")]


EXCHANGED = """
def e_loops(x, n):
    b, c = np.empty(n), np.empty(n)
    for i in range(n):
        b[i] = x[i]
    for t in range(3):
        for i in range(n):
            c[i] = b[i] * 2.0
        b, c = c, b
    d = b
    for t in range(3):
        d = c
        for i in range(n):
            d[i] = d[i] + max(b[i], 0.0)
    return (d,)
"""


def test_loops_within_others_that_have_no_instructions(numba):
    """Arrays that are exchanged leave instructions to the loops between them."""
    x = np.linspace(-1.0, 1.0, 5)
    tree = ast.parse(EXCHANGED)
    assert len(native.direct.outlined(tree, native._known())) == 2
    np.testing.assert_array_equal(
        by_instructions(EXCHANGED, "e_loops", (x, 5))[0], as_python(EXCHANGED, "e_loops", (x, 5))[0]
    )


def doubled_precision(x):
    return float(x[0]) * float(x[1]) + float(x[2])


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="numbers of Python's take the type of float32 since"
)
def test_float_of_float32_is_computed_in_float64(numba):
    """Numba's `float` leaves a float32 what it is."""
    x = np.array([0.1, 0.7, 1e-9], np.float32)
    f = compile(doubled_precision)
    assert f(x) == doubled_precision(x) and type(f(x)) is float
    assert "is compiled" in f.explain_compile()


def quotients(a, b):
    return a // b, a % b, -a, a + b


ZEROS = np.array([0.0, -0.0, 0.0, -0.0]), np.array([0.0, 0.0, -0.0, -0.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: (np.maximum(x, y), np.minimum(x, y)),
        lambda x, y: (np.maximum(x, 0.0), np.minimum(0.0, x), np.maximum(-0.0, y)),
        lambda x, y: (np.clip(x, y, 1.0), np.clip(x, -1.0, y), np.clip(x, y, y)),
        lambda x, y: (np.clip(x, -0.0, 1.0), np.clip(x, 0.0, 1.0), np.clip(x, 0.0, None), np.clip(x, None, -0.0)),
        lambda x, y: np.array([np.clip(x[i], y[i], 1.0) for i in range(4)]),
        lambda x, y: np.array([max(x[i], y[i]) + 0.0 * min(x[i], y[i]) for i in range(4)]),
    ],
)
def test_signs_of_zeros_that_tie(numba, f):
    """Those of NumPy on this machine: which one it takes is not laid down."""
    x, y = ZEROS
    for ours, theirs in zip(compile(f)(x, y), f(x, y), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        if np.signbit(np.maximum(x, y))[1:3].tolist() == [False, True]:  # the second one
            np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))


def test_integers_at_the_end_of_their_range(numba):
    """Those of Python's that have more than 64 bits, also in the first call; those of NumPy's wrap around."""
    largest = 2**63
    for first in (7, largest, -largest):
        loops = compile(quotients)
        for a in (first, 7, -7, largest - 1, largest, -largest, 1 - largest, 2**70):
            for b in (5, -5, 1, -1):
                assert loops(a, b) == quotients(a, b)
    least = np.int64(-largest)
    with np.errstate(all="ignore"):
        for a, b in ((least, np.int64(3)), (least, np.int64(-1)), (np.int64(largest - 1), np.int64(2))):
            assert repr(loops(a, b)) == repr(quotients(a, b))


def counted(x):
    n = 0
    for i in range(len(x)):
        if x[i] > 0.0:
            n += 1
    return n, n * 1.5, np.where(n > 2, n, -n), x[0] > 0.0, max(n, 2)


def test_results_of_machine_code_are_of_the_types_of_the_text(numba):
    loops = compile(counted)
    for x in (V, V[:1], -V[4:]):
        assert [(type(v), np.asarray(v).dtype, v) for v in loops(x)] == [
            (type(v), np.asarray(v).dtype, v) for v in counted(x)
        ]
    assert "is compiled" in loops.explain_compile()
