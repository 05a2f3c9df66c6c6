"""Functions of complex numbers, in both modes and at second order, against differences in both parts of each number."""

from __future__ import annotations

import copy
import dataclasses

import documents
import numpy as np
import pytest
from complex_functions import CASES

from s2sgrad import S2SGradError, Unsupported, grad, hessian, jacfwd, jacobian, jacrev, jvp, value_and_grad
from s2sgrad.api.assembling import basis
from s2sgrad.api.columns import Columns
from s2sgrad.compat import autograd as compat

STEP = 1e-6
REFUSED: set[str] = set()
ONCE: set[str] = set()


def parts(value):
    """The leaves of an argument, and a function that makes it of others."""
    if isinstance(value, dict):
        return list(value.values()), lambda new: dict(zip(value, new, strict=True))
    if isinstance(value, list):
        return list(value), list
    if dataclasses.is_dataclass(value):
        return list(vars(value).values()), lambda new: type(value)(*new)
    return [value], lambda new: new[0]


def differences(f, args, place, step=STEP):
    """`dL/dRe - i dL/dIm` of each leaf of one argument."""
    leaves, made = parts(args[place])
    out = []
    for k, leaf in enumerate(leaves):
        bar = np.zeros(np.shape(leaf), complex)
        for index in np.ndindex(bar.shape):
            for unit in (1.0, 1j) if np.iscomplexobj(leaf) else (1.0,):
                ends = []
                for h in (step, -step):
                    moved = np.array(leaf)
                    moved[index] += h * unit
                    new = [*leaves[:k], moved if np.ndim(leaf) else moved[()], *leaves[k + 1 :]]
                    ends.append(f(*copy.deepcopy(args[:place]), made(copy.deepcopy(new)), *copy.deepcopy(args[place + 1 :])))
                bar[index] += (ends[0] - ends[1]) / (2 * step) * np.conj(unit)
        out.append(bar if np.iscomplexobj(leaf) else bar.real)
    return out


def agree(found, wanted, rtol=1e-5, atol=1e-6):
    for a, b in zip(parts(found)[0], wanted, strict=True):
        assert np.iscomplexobj(a) == np.iscomplexobj(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


IDS = [f.__name__ for f, _, _ in CASES]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize(("f", "args", "order"), [c for c in CASES if c[0].__name__ not in REFUSED],
                         ids=[n for n in IDS if n not in REFUSED])  # fmt: skip
def test_both_modes(f, args, order):
    rng = np.random.default_rng(1)
    for place in range(len(args)):
        before = copy.deepcopy(args)
        wanted = differences(f, args, place)
        agree(grad(f, place)(*args), wanted)
        leaves, made = parts(args[place])
        if not dataclasses.is_dataclass(args[place]):
            dots = [rng.normal(size=np.shape(x)) * (1.0 + 0.5j if np.iscomplexobj(x) else 1.0) for x in leaves]
            tangents = [None] * len(args)
            tangents[place] = made([d if np.ndim(x) else d[()] for d, x in zip(dots, leaves, strict=True)])
            slope = sum(np.sum(w * d).real for w, d in zip(wanted, dots, strict=True))
            assert jvp(f, args, tuple(tangents))[1] == pytest.approx(slope, rel=1e-5, abs=1e-6)
        assert repr(before) == repr(args)


ARRAYS = [(f, args, k) for f, args, _ in CASES for k, a in enumerate(args)
          if isinstance(a, np.ndarray) and a.size > 1 and f.__name__ not in REFUSED]  # fmt: skip


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize(("f", "args", "place"), ARRAYS, ids=[f"{f.__name__}-{k}" for f, _, k in ARRAYS])
def test_all_columns_at_once(f, args, place):
    try:
        found = Columns(f).at_once((place,), copy.deepcopy(args), {})
    except S2SGradError:  # then they are computed one by one
        found = None
    if found is not None:
        none = (None,) * len(args)
        columns = [jvp(f, args, (*none[:place], u, *none[place + 1 :]))[1] for (u,) in basis([args[place]])]
        np.testing.assert_allclose(found[1], columns, rtol=1e-12, atol=1e-12)


REAL = [(f, args, k) for f, args, k in ARRAYS if not np.iscomplexobj(args[k]) and f.__name__ not in ONCE]


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize(("f", "args", "place"), REAL, ids=[f"{f.__name__}-{k}" for f, _, k in REAL])
def test_hessians_in_real_arguments(f, args, place):
    x, df = args[place], grad(f, place)
    try:
        found = np.reshape(hessian(f, place)(*args), (x.size, x.size))
    except S2SGradError:
        return
    for (u,), row in zip(basis([x]), found, strict=True):
        ends = [df(*args[:place], x + h * u, *args[place + 1 :]) for h in (1e-5, -1e-5)]
        np.testing.assert_allclose(row, np.ravel(ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-4)


def weighted(f, count, weight):
    """A function of `count` arguments: the gradient in the first one of `f`, weighted."""
    df = grad(f)

    def one(a):
        return np.sum(np.real(df(a) * weight))

    def two(a, b):
        return np.sum(np.real(df(a, b) * weight))

    def three(a, b, c):
        return np.sum(np.real(df(a, b, c) * weight))

    return (one, two, three)[count - 1]


PLAIN = [c for c in CASES if c[0].__name__ not in REFUSED | ONCE and all(len(parts(a)[0]) == 1 for a in c[1]) and c[2] > 1
         and not any(isinstance(a, (dict, list)) or dataclasses.is_dataclass(a) for a in c[1])]  # fmt: skip


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize(("f", "args", "order"), PLAIN, ids=[c[0].__name__ for c in PLAIN])
def test_second_order(f, args, order):
    rng = np.random.default_rng(2)
    weight = rng.normal(size=np.shape(args[0])) * (1.0 - 0.7j if np.iscomplexobj(args[0]) else 1.0)
    g = weighted(f, len(args), weight)
    agree(grad(g)(*args), differences(g, args, 0, 1e-5), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (lambda z: abs(z) ** 2, 2.4 - 1.4j),
        (lambda z: (z**2).real, 2.4 + 1.4j),
        (lambda z: z.imag, -1j),
        (lambda z: np.imag(np.conj(z)), 1j),
    ],
)
def test_the_convention_is_that_of_jax_and_autograd(f, wanted):
    assert grad(f)(1.2 + 0.7j) == pytest.approx(wanted)
    assert grad(f)(np.complex64(1.2 + 0.7j)).dtype == np.complex64


def test_options():
    z = 1.2 + 0.7j
    assert grad(lambda z: abs(z) ** 2, conjugate=True)(z) == pytest.approx(2.4 + 1.4j)
    assert grad(lambda z: z**2, holomorphic=True)(z) == pytest.approx(2.4 + 1.4j)
    assert grad(lambda z: z**2, holomorphic=True, conjugate=True)(z) == pytest.approx(2.4 - 1.4j)
    value, bars = value_and_grad(lambda d: abs(d["z"]) ** 2 * d["x"], conjugate=True)({"z": z, "x": 2.0})
    assert bars == pytest.approx({"z": 4.8 + 2.8j, "x": abs(z) ** 2}) and value == pytest.approx(2.0 * abs(z) ** 2)
    w = np.array([z, 2j])
    np.testing.assert_allclose(grad(np.exp, holomorphic=True)(w), np.exp(w))
    np.testing.assert_allclose(grad(lambda w: w * w, holomorphic=True, output_gradients=w)(w), 2 * w * w)
    np.testing.assert_allclose(grad(lambda w: w * w, conjugate=True, output_gradients=w)(w), np.conj(2 * w * np.conj(w)))
    assert compat.holomorphic_grad(lambda z: z**2)(z) == pytest.approx(2.4 + 1.4j)
    second = grad(lambda z: grad(lambda z: z**3, holomorphic=True)(z), holomorphic=True)
    assert second(z) == pytest.approx(6 * z)


def test_options_that_do_not_fit():
    with pytest.raises(TypeError, match="is real: pass a complex"):
        grad(lambda x: x * 1j, holomorphic=True)(2.0)
    with pytest.raises(TypeError, match="have no gradient"):
        grad(lambda x: x * 1j)(2.0)
    with pytest.raises(TypeError, match="the seed must"):
        grad(lambda z: np.abs(z))(np.array([1j]), seed=np.array([1j]))


def test_the_header_says_along_which_direction_to_descend():
    text = grad(energy).source_for(np.array([1j, 2.0]))
    assert "# z_bar = dL/dRe - i dL/dIm: descend along np.conj(z_bar)\n" in text
    assert "dL/dRe(z) - i dL/dIm(z)" in grad.__doc__


@pytest.mark.parametrize("of", [jacobian, jacrev, jacfwd, hessian])
def test_matrices_in_complex_numbers_are_of_holomorphic_functions(of):
    z = np.array([1j, 2.0])
    with pytest.raises(TypeError, match="`z`, which is complex: say that the function is holomorphic"):
        of(energy)(z)
    with pytest.raises(TypeError, match="`z`, which is real, with holomorphic=True"):
        of(energy, holomorphic=True)(np.ones(2))
    with pytest.raises(Unsupported, match="complex"):
        grad(lambda z: np.sum(np.abs(of(energy)(z))))(z)


A = np.array([[1.0 + 2j, 0.5], [0.3j, -1.0], [2.0, 1j]])
HOLOMORPHIC = {
    "product": (lambda z: A @ z, lambda z: A),
    "elementwise": (lambda z: np.exp(1j * z) / z, lambda z: np.diag(np.exp(1j * z) * (1j * z - 1.0) / z**2)),
    "number": (lambda z: z[0] ** 2 * z[1], lambda z: np.array([2 * z[0] * z[1], z[0] ** 2])),
    "of a number": (lambda z: np.stack([z**2, 1j * z]), lambda z: np.array([2 * z, 1j])),
    "transform": (lambda z: np.fft.fft(z) * z[0], lambda z: np.fft.fft(np.eye(2)) * z[0] + np.outer(np.fft.fft(z), [1, 0])),
    "list": (lambda z: [z[0] * z[1], z], lambda z: [np.array([z[1], z[0]]), np.eye(2)]),
}


@pytest.mark.parametrize("of", [jacobian, jacrev, jacfwd])
@pytest.mark.parametrize("case", HOLOMORPHIC)
def test_jacobians_of_holomorphic_functions(of, case):
    f, wanted = HOLOMORPHIC[case]
    z = 0.7 - 1.1j if case == "of a number" else np.array([0.7 - 1.1j, 0.4 + 0.3j])
    found, rows = of(f, holomorphic=True)(z), wanted(z)
    for a, b in zip(found, rows, strict=True) if isinstance(rows, list) else [(found, rows)]:
        assert np.iscomplexobj(a) and np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, atol=1e-12)
    if case == "elementwise":
        assert of(f, holomorphic=True)(z.astype(np.complex64)).dtype == np.complex64


def test_jacobians_in_several_complex_arguments():
    for of in (jacobian, jacrev, jacfwd):
        first, second = of(lambda z, w: z["a"] * w, (0, 1), holomorphic=True)({"a": np.array([1j, 2.0])}, 0.5 - 1j)
        np.testing.assert_allclose(first["a"], np.diag([0.5 - 1j] * 2))
        np.testing.assert_allclose(second, [1j, 2.0])


def test_hessians_of_holomorphic_functions():
    z = np.array([0.7 - 1.1j, 0.4 + 0.3j])
    found = hessian(lambda z: z[0] ** 2 * z[1] + np.sum(np.exp(1j * z)), holomorphic=True)(z)
    wanted = np.array([[2 * z[1], 2 * z[0]], [2 * z[0], 0.0]]) - np.diag(np.exp(1j * z))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert hessian(lambda z: z**3, holomorphic=True)(0.7 - 1.1j) == pytest.approx(6 * (0.7 - 1.1j))


def test_matrices_of_complex_functions_of_real_numbers():
    x = np.array([0.3, 1.2, -0.4])
    for of in (jacobian, jacrev, jacfwd):
        np.testing.assert_allclose(of(lambda x: x * x * 1j)(x), np.diag(2j * x))
        np.testing.assert_allclose(of(np.fft.fft)(x), np.fft.fft(np.eye(3)), atol=1e-12)
        np.testing.assert_allclose(of(lambda x: np.sum(x) * (1.0 + 2j))(x), np.full(3, 1.0 + 2j))
        real, turned = of(lambda x: (x[0] * x[1], 1j * x[2]))(x)
        assert not np.iscomplexobj(real) and turned.tolist() == [0, 0, 1j]
        np.testing.assert_allclose(real, [x[1], x[0], 0.0])
        np.testing.assert_allclose(
            of(np.linalg.eigvals)(np.array([[0.0, 1.0], [-1.0, 0.0]])).sum(axis=0), np.eye(2), atol=1e-12
        )
    np.testing.assert_allclose(hessian(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(x), 6.0 * np.eye(3), atol=1e-12)


@pytest.mark.skipif(np.sign(3 + 4j) == 1.0, reason="NumPy 1, whose sign of a complex number is flat")
def test_the_sign_of_a_complex_number_turns_with_it():
    z = np.array([1.0 + 2j, 0.5 - 0.7j, -2.0])

    def f(z):
        return np.sum(np.real(np.sign(z) * np.array([1.0 - 1j, 2j, 0.5])))

    agree(grad(f)(z), differences(f, (z,), 0))
    assert jvp(f, (z,), (z * 1j,))[1] == pytest.approx(np.sum(differences(f, (z,), 0)[0] * z * 1j).real, rel=1e-6)
    np.testing.assert_allclose(grad(lambda z: np.sum(np.sign(z.real) * z.imag))(z), [-1j, -1j, 1j])
    assert grad(f)(np.zeros(3, complex)).tolist() == [0, 0, 0]

    def g(z):
        v = np.abs(z) * 0.1 + z
        if np.sum(np.abs(z)) > 50.0:
            v = v * 0.5
        v += np.sign(z + 3.0)
        return np.sum(np.abs(v + 1.5))  # a cotangent that may be infinite where it is 0

    agree(grad(g)(z), differences(g, (z,), 0))


def test_the_page_is_run(tmp_path):
    shown = [text for language, text in documents.blocks("docs/complex.md") if language == "python"]
    file = tmp_path / "page.py"
    file.write_text("\n".join(shown))
    exec(compile(file.read_text(), str(file), "exec"), {"__name__": "page"})


def test_saved_modules(tmp_path):
    df = grad(energy)
    z = np.array([1.0 + 2.0j, 0.5])
    df(z)
    for standalone in (False, True):
        df.save(tmp_path / "saved.py", standalone=standalone)
        space = {"__name__": "saved"}
        exec(compile((tmp_path / "saved.py").read_text(), "saved.py", "exec"), space)
        np.testing.assert_allclose(space["energy_grad"](z), df(z))


def test_at_zero():
    assert grad(lambda z: abs(z))(0j) == 0
    assert grad(lambda z: np.linalg.norm(z))(np.zeros(2, complex)).tolist() == [0, 0]


def test_single_precision_is_kept():
    z = np.array([1.0 + 2.0j, 0.5], np.complex64)
    for f in (energy, lambda z: np.sum(np.abs(np.exp(1j * z)) + z.imag), lambda z: np.sum(np.abs(np.fft.fft(z)))):
        assert grad(f)(z).dtype == np.complex64


def energy(z):
    return np.sum(np.abs(z) ** 2)
