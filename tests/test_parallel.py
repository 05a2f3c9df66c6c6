"""Sums over parts: the value and gradient of the whole, whoever computes the parts, and whatever is lost on the way."""

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from s2sgrad import grad, value_and_grad
from s2sgrad.parallel import PartFailed, partition_sum

ROOT = Path(__file__).resolve().parent.parent
RNG = np.random.default_rng(0)
ROWS = [RNG.standard_normal((n, 3)) for n in (5, 1, 4, 3, 3, 2, 6)]
LABELS = [np.sign(RNG.standard_normal(len(x))) for x in ROWS]
X, Y = np.concatenate(ROWS), np.concatenate(LABELS)
W = {"w": np.array([0.3, -0.2, 0.5]), "b": 0.1}


def loss(p, x, y):
    return np.sum(np.log1p(np.exp(-y * (x @ p["w"] + p["b"]))))


def squares(w, x):
    return np.sum((x @ w) ** 2)


@pytest.fixture(params=["serial", "joblib", "dask"])
def backend(request):
    """Each backend, on threads."""
    if request.param == "serial":
        yield request.param
        return
    library = pytest.importorskip(request.param)
    threads = {"joblib": lambda: library.parallel_config(backend="threading"),
               "dask": lambda: library.config.set(scheduler="threads")}[request.param]  # fmt: skip
    with threads():
        yield request.param


def assert_same(found, expected):
    value, gradient = found
    assert value == pytest.approx(expected[0], rel=1e-13)
    assert gradient.keys() == expected[1].keys()
    assert all(np.allclose(gradient[k], expected[1][k], rtol=1e-12, atol=1e-14) for k in gradient)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_value_and_gradient_are_those_of_the_whole(backend, n):
    total = partition_sum(loss, list(zip(ROWS, LABELS, strict=True))[:n], backend=backend, workers=3)
    assert len(total) == n
    rows = sum(map(len, ROWS[:n]))
    assert_same(total(W), value_and_grad(loss)(W, X[:rows], Y[:rows]))


def test_batches_are_sums_over_some_of_the_parts(backend):
    total = partition_sum(squares, ROWS, backend=backend, workers=2)
    w, whole = np.ones(3), 0.0
    for batch in (total[:2], total[2], total[[6, 3]], total[np.array([4, 5])]):
        value, _ = batch(w)
        whole += value
    assert whole == pytest.approx(squares(w, X)) and len(total[:2]) == 2
    assert np.allclose(total[-1](w)[1], grad(squares)(w, ROWS[-1]))


def test_a_fit_is_that_of_the_whole(backend):
    def penalized(w, x, y):
        return loss({"w": w, "b": 0.0}, x, y) + 0.1 * np.sum(w * w)

    total = partition_sum(penalized, zip(ROWS, LABELS, strict=True), backend=backend, workers=2)
    fit = minimize(total, np.zeros(3), jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 1e-15})
    n = len(ROWS)
    whole = value_and_grad(lambda w: loss({"w": w, "b": 0.0}, X, Y) + 0.1 * n * np.sum(w * w))
    assert np.linalg.norm(whole(fit.x)[1]) < 1e-5


def test_several_parameters_and_structures(backend):
    @dataclass
    class Model:
        w: np.ndarray
        scales: list

    def f(m, k, x):
        return k * np.sum((x * m.w) ** 2) * m.scales[0] + m.scales[1]

    m = Model(np.ones(3), [2.0, 3.0])
    value, (m_bar, k_bar) = partition_sum(f, ROWS, (0, 1), backend=backend, workers=2)(m, 1.5)
    assert value == pytest.approx(1.5 * 2.0 * np.sum(X**2) + 3.0 * len(ROWS))
    assert k_bar == pytest.approx(2.0 * np.sum(X**2))
    assert np.allclose(m_bar.w, 1.5 * 2.0 * 2.0 * np.sum(X**2, axis=0))
    assert m_bar.scales[1] == len(ROWS) and m_bar.scales[0] == pytest.approx(1.5 * np.sum(X**2))


def test_the_order_of_the_sum_is_always_the_same(backend):
    total = partition_sum(squares, ROWS, backend=backend, workers=3)
    w = np.array([1e8, 1.0, 1e-8])
    first = total(w)
    assert all(total(w)[0] == first[0] and np.array_equal(total(w)[1], first[1]) for _ in range(5))


def test_files_are_read_by_who_sums_them(backend, tmp_path):
    names = [tmp_path / f"rows-{k}.npy" for k in range(len(ROWS))]
    for name, rows in zip(names, ROWS, strict=True):
        np.save(name, rows)
    total = partition_sum(squares, (name for name in names), read=np.load, backend=backend, workers=2)
    assert total(np.ones(3))[0] == pytest.approx(squares(np.ones(3), X))
    names[4].unlink()
    with pytest.raises(PartFailed, match=r"part 4, '.*rows-4\.npy', failed: FileNotFoundError"):
        total(np.ones(3))
    names[5].write_bytes(b"")
    with pytest.raises(PartFailed, match=r"part 5, '.*rows-5\.npy', failed: "):
        total[5:](np.ones(3))


def test_a_part_that_fails_says_which_and_where(backend):
    total = partition_sum(squares, [*ROWS[:3], np.ones((2, 4))], backend=backend, workers=2)
    with pytest.raises(PartFailed) as info:
        total(np.ones(3))
    text = str(info.value)
    assert text.startswith("part 3 failed: ValueError: ") and "test_parallel.py, line" in text and "(x @ w) ** 2" in text

    def unruled(w, x):
        return np.sum(np.busday_count(w, x))

    with pytest.raises(PartFailed, match=r"part \d failed: (NoRule|Unsupported): .*busday_count"):
        partition_sum(unruled, ROWS, backend=backend, workers=2)(np.ones(3))


def test_what_is_no_part():
    with pytest.raises(ValueError, match="no parts"):
        partition_sum(squares, [])(np.ones(3))
    with pytest.raises(ValueError, match="none of"):
        partition_sum(squares, ROWS, backend="threads")


def test_collections_of_dask():
    da = pytest.importorskip("dask.array")
    import dask

    x, y = da.from_array(X, chunks=(5, 3)), da.from_array(Y, chunks=5)
    assert_same(partition_sum(loss, (x, y))(W), value_and_grad(loss)(W, X, Y))
    assert partition_sum(squares, x * 2.0)(np.ones(3))[0] == pytest.approx(4.0 * squares(np.ones(3), X))
    parts = [dask.delayed(np.full)((n, 3), 2.0) for n in (1, 2, 3)]
    assert partition_sum(squares, parts)(np.ones(3))[0] == pytest.approx(6 * 36.0)
    with pytest.raises(ValueError, match=r"rechunk\(\{k: -1"):
        partition_sum(squares, da.from_array(X, chunks=(5, 2)))
    with pytest.raises(ValueError, match="rechunk them alike"):
        partition_sum(loss, (x, da.from_array(Y, chunks=7)))
    with pytest.raises(ValueError, match="leave `backend` out"):
        partition_sum(squares, x, backend="joblib")
    with pytest.raises(TypeError, match=r"partition_sum\(f, x\)"):
        grad(lambda x: np.sum(x * x))(x)


def test_bags_and_dataframes_of_dask():
    bag = pytest.importorskip("dask.bag")
    frames = pytest.importorskip("dask.dataframe")
    import pandas

    def of_items(w, items):
        return sum(w * item for item in items)

    value, w_bar = partition_sum(of_items, bag.from_sequence([1.0, 2.0, 3.0, 4.0, 5.0], npartitions=3))(2.0)
    assert (value, w_bar) == (30.0, 15.0)
    frame = frames.from_pandas(pandas.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
    assert partition_sum(squares, frame)(np.ones(3))[0] == pytest.approx(squares(np.ones(3), X))
    total = partition_sum(squares, frame, read=lambda part: part[["a", "b", "c"]].to_numpy() * 2.0)
    assert total(np.ones(3))[0] == pytest.approx(4.0 * squares(np.ones(3), X))


LOSING = """
    import os
    import sys

    import numpy as np
    from s2sgrad.parallel import partition_sum

    def read(k):
        try:
            os.close(os.open("lost", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return np.full(3, float(k))
        os._exit(1)

    def loss(w, x):
        return np.sum(w * x)

    def main(backend):
        total = partition_sum(loss, range(6), read=read, backend=backend, workers=2)
        assert total(2.0) == (90.0, 45.0), total(2.0)
        assert total[3:](2.0) == (72.0, 36.0)

    if __name__ == "__main__":
        if sys.argv[1] == "distributed":
            from distributed import Client, LocalCluster

            with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
                main("dask")
        elif sys.argv[1] == "dask":
            import dask

            with dask.config.set(scheduler="processes", num_workers=2):
                main("dask")
        else:
            main("joblib")
        assert os.path.exists("lost")
"""


@pytest.mark.dear
@pytest.mark.parametrize("library", ["joblib", "dask", "distributed"])
def test_a_worker_that_is_lost_costs_no_part(library, tmp_path):
    pytest.importorskip(library)
    (tmp_path / "losing.py").write_text(textwrap.dedent(LOSING))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run([sys.executable, "losing.py", library], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
