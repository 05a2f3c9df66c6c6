"""Numbers that come back from a file or a text: refused, in both modes; what is only written is followed."""

import io
import pickle

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, jvp, stop_gradient
from s2sgrad.runtime.checks import Refusal

PATH = "set by a fixture"
OTHER = "too"
X = np.array([1.0, 2.0])


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"{__name__}.PATH", str(tmp_path / "x.npy"))
    monkeypatch.setattr(f"{__name__}.OTHER", str(tmp_path / "y.npy"))


def saved(x):
    np.save(PATH, x * x)
    return np.sum(np.load(PATH))


def saved_by_keyword(x):
    np.savez(PATH, a=x * x)
    return np.sum(np.load(PATH + ".npz")["a"])


def saved_as_text(x):
    np.savetxt(PATH, x * x)
    return np.sum(np.loadtxt(PATH))


def saved_by_a_method(x):
    (x * x).tofile(PATH)
    return np.sum(np.fromfile(PATH))


def pickled(x):
    with open(PATH, "wb") as file:
        pickle.dump(x * x, file)
    with open(PATH, "rb") as file:
        return np.sum(pickle.load(file))


def printed(x):
    with open(PATH, "w") as file:
        print(x[0], file=file)
    with open(PATH) as file:
        return float(file.readline())


def mapped(x):
    m = np.memmap(PATH, float, "w+", shape=(2,))
    m[:] = x
    m.flush()
    return np.sum(np.memmap(PATH, float, "r", shape=(2,)))


def keep(y):
    np.save(PATH, y)


def saved_by_a_helper(x):
    keep(x * x)
    return np.sum(np.load(PATH))


def read_by_a_helper(x):
    np.save(PATH, x * x)
    return kept() * x[0]


def kept():
    return np.sum(np.load(PATH))


def another_name_that_may_be_the_same(x):
    np.save(PATH, x * x)
    return np.sum(np.load(OTHER)) * x[0]


def a_stream(x):
    lines = io.StringIO(str(x[0]))
    return np.sum(np.loadtxt(lines))


def texts_in_a_list(x):
    lines = []
    for v in x:
        lines.append(f"{v}")
    return np.sum(np.array(lines, float))


def joined_texts(x):
    lines = io.StringIO("\n".join([f"{v:.17g}" for v in x]))
    return np.sum(np.loadtxt(lines))


LOST = [
    saved, saved_by_keyword, saved_as_text, saved_by_a_method, pickled, printed, mapped, saved_by_a_helper, read_by_a_helper,
    another_name_that_may_be_the_same, a_stream, texts_in_a_list, joined_texts,
]  # fmt: skip


@pytest.mark.parametrize("f", LOST, ids=lambda f: f.__name__)
def test_what_comes_back_from_a_file_is_refused(f):
    np.save(OTHER, X)
    with pytest.raises((S2SGradError, Refusal)):
        grad(f)(X)
    with pytest.raises((S2SGradError, Refusal)):
        jvp(f, (X,), (X,))


def only_written(x):
    np.save(PATH, x * x)
    with open(OTHER, "w") as file:
        print(x[0], file=file)
    return np.sum(x * x)


def a_constant_read(x):
    weights = np.load("weights.npy")
    return np.sum(weights * x * x)


def written_beside_what_is_read(x):
    weights = np.load("weights.npy")
    y = weights * x * x
    np.save("y.npy", y)
    return np.sum(y)


def a_constant_written_and_read(x):
    np.save(PATH, np.ones(2))
    return np.sum(np.load(PATH) * x * x)


def stopped(x):
    np.save(PATH, stop_gradient(x) * 0.0 + 1.0)
    return np.sum(np.load(PATH) * x * x)


@pytest.mark.parametrize(
    "f", [only_written, a_constant_read, written_beside_what_is_read, a_constant_written_and_read, stopped],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_a_file_that_keeps_no_derivative_is_followed(f):
    np.save("weights.npy", np.ones(2))
    np.testing.assert_array_equal(grad(f)(X), 2.0 * X)
    np.testing.assert_array_equal(jvp(f, (X,), (X,))[1], np.sum(2.0 * X * X))
