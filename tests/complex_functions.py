"""Functions of complex numbers, as people write them: spectral steps, filters, gates, impedances, quantum states, maps.

Each is real-valued; `CASES` has them with arguments.  Those of the second list are mean: parts that are written through
views, kinds that join, recursion, containers, objects.
"""

from __future__ import annotations

import cmath
import dataclasses

import numpy as np
import scipy.fft
import scipy.sparse
from scipy import interpolate, linalg, ndimage, signal, special
from scipy.sparse import linalg as sparse_linalg

_RNG = np.random.default_rng(40)


def real(*shape):
    return _RNG.uniform(0.4, 1.6, shape)


def cplx(*shape):
    return _RNG.normal(size=shape) + 1j * _RNG.normal(size=shape)


def number():
    return complex(_RNG.normal(), _RNG.normal())


CASES = []


def case(*args, order=2):
    """Register a function with its arguments; `order`: the highest that has a text."""

    def register(f):
        CASES.append((f, args, order))
        return f

    return register


# --- numbers ---------------------------------------------------------------------------------------------------------


@case(number())
def squared_modulus(z):
    return abs(z) ** 2


@case(number())
def real_part_of_a_square(z):
    return (z * z).real


@case(number())
def imaginary_part_of_a_power(z):
    return (z**3).imag


@case(number())
def modulus_of_a_quotient(z):
    return abs((z - 1.0) / (z + 2.0j))


@case(number())
def argument_of_an_exponential(z):
    return np.angle(np.exp(1j * z) + 2.0)


@case(0.7, 0.3)
def polar_form(r, phi):
    z = r * np.exp(1j * phi)
    return z.real**2 - z.imag * z.real


@case(0.7, 0.3)
def built_of_two_numbers(a, b):
    z = complex(a, b)
    return abs(z * z + 1.0)


@case(number(), 1.3)
def mobius(z, a):
    w = (a * z + 1j) / (z - 2.0 * a)
    return w.real + 0.5 * w.imag


@case(number())
def conjugated_twice(z):
    return (z.conjugate() * np.conj(z * 1j)).imag


@case(number())
def all_elementary(z):
    z = 0.3 * z
    w = np.sin(z) + np.cos(z) * np.tan(z) + np.sinh(z) - np.cosh(z) + np.tanh(z)
    return abs(w + np.log(z + 2.0) + np.sqrt(z + 3.0) + np.exp(z))


@case(number())
def all_inverse(z):
    z = 0.3 * z + 0.1
    w = np.arcsin(z) + np.arccos(z) * np.arctan(z) + np.arcsinh(z) + np.arctanh(z)
    return (w + np.arccosh(z + 2.0)).real + w.imag


@case(number(), 2.5)
def real_powers(z, p):
    return ((z + 3.0) ** p).real


@case(1.4, number())
def complex_powers_of_a_real(x, w):
    return abs(x**w + (2.0 + x) ** (1j * w))


@case(number(), number())
def complex_powers(z, w):
    return ((z + 2.5) ** w).imag


@case(0.7)
def real_through_complex(x):
    return (np.exp(1j * x) * (1.0 + 2.0j)).real


@case(0.7)
def euler_distance(x):
    return abs(np.exp(1j * np.pi * x) - 1.0)


@case(number())
def square_of_a_modulus_by_parts(z):
    return z.real * z.real + z.imag * z.imag


@case(1.2, 0.4, 2.0)
def impedance(r, h, w):
    z = r + 1j * w * h + 1.0 / (1j * w * 0.5)
    return abs(z)


@case(1.2, 0.4, 2.0)
def low_pass_gain(r, c, w):
    h = 1.0 / (1.0 + 1j * w * r * c)
    return 20.0 * np.log10(abs(h))


@case(1.2, 0.4, 2.0)
def phase_of_a_filter(r, c, w):
    return np.angle(1.0 / (1.0 + 1j * w * r * c), deg=True)


# --- vectors ---------------------------------------------------------------------------------------------------------


@case(cplx(4))
def energy(z):
    return np.sum(np.abs(z) ** 2)


@case(cplx(4))
def energy_by_conjugate(z):
    return np.sum(z * z.conj()).real


@case(cplx(4))
def energy_by_parts(z):
    return np.sum(z.real**2 + z.imag**2)


@case(cplx(4), cplx(4))
def inner_product(a, b):
    return np.abs(np.dot(a.conj(), b))


@case(cplx(4), cplx(4))
def fidelity(a, b):
    return np.abs(np.vdot(a, b)) ** 2 / (np.vdot(a, a).real * np.vdot(b, b).real)


@case(cplx(4))
def normalised(z):
    u = z / np.linalg.norm(z)
    return np.abs(u[0] + 2.0 * u[1]) ** 2


@case(cplx(4))
def norm_of_shifted(z):
    return np.linalg.norm(z - 1.0)


@case(cplx(5))
def variance(z):
    return np.var(z) + np.std(z * 2.0)


@case(cplx(5))
def mean_phase(z):
    return np.angle(np.mean(z + 2.0))


@case(real(5), 0.8)
def array_factor(d, theta):
    phases = np.exp(1j * 2.0 * np.pi * np.cumsum(d) * np.cos(theta))
    return np.abs(np.sum(phases)) ** 2


@case(real(4), real(4))
def phasors(a, phi):
    return np.abs(np.sum(a * np.exp(1j * phi)))


@case(real(6))
def kuramoto_order(theta):
    return np.abs(np.mean(np.exp(1j * theta)))


@case(real(4), real(4))
def joined_parts(x, y):
    z = x + 1j * y
    return np.sum(np.abs(z**2 - 1.0))


@case(cplx(4), real(4))
def mixed_arithmetic(z, x):
    return np.sum(np.real(z * x - x / z) + np.imag(x - z) * x)


@case(cplx(3, 4))
def reduced_by_axes(z):
    return np.sum(np.abs(np.sum(z, axis=0)) * np.abs(np.mean(z * 1j, axis=0)))


@case(cplx(4))
def cumulated(z):
    return np.sum(np.abs(np.cumsum(z)) + np.cumprod(z).real)


@case(cplx(4))
def product_of_all(z):
    return np.abs(np.prod(z))


@case(cplx(5))
def differences(z):
    return np.sum(np.abs(np.diff(z)) ** 2)


@case(cplx(4))
def chosen_by_a_mask(z):
    return np.sum(np.where(np.arange(4) > 1, z * 1j, np.conj(z)).real)


@case(cplx(4))
def where_by_modulus(z):
    return np.sum(np.where(np.abs(z) > 1.0, np.abs(z), z.real))


@case(cplx(6))
def reshaped_and_transposed(z):
    m = z.reshape(2, 3)
    return np.sum((m @ m.T).imag)


@case(cplx(4), cplx(3))
def joined(a, b):
    return np.abs(np.sum(np.concatenate([a, b * 1j]) * np.arange(7.0)))


@case(cplx(4))
def stacked(z):
    return np.sum(np.abs(np.stack([z, z.conj(), z * 2j])[:, 1:]))


@case(cplx(5))
def picked_out(z):
    return np.sum(np.abs(z[[0, 2, 2]]) + z[1:4].imag)


@case(cplx(5))
def rolled(z):
    return np.sum(z * np.roll(z, 1).conj()).real


@case(cplx(4), cplx(4))
def outer_product(a, b):
    return np.sum(np.abs(np.outer(a, b.conj()) + 1.0))


# --- matrices --------------------------------------------------------------------------------------------------------


@case(cplx(3), cplx(3, 3))
def quadratic_form(x, a):
    return (x.conj() @ (a + a.conj().T) @ x).real


@case(cplx(3, 3), cplx(3))
def linear_map(a, x):
    return np.sum(np.abs(a @ x))


@case(cplx(3, 3), cplx(3))
def solved(a, b):
    return np.sum(np.abs(np.linalg.solve(a + 3.0 * np.eye(3), b)))


@case(real(3, 3), cplx(3))
def real_matrix_and_complex_side(a, b):
    return np.sum(np.linalg.solve(a + 3.0 * np.eye(3), b).imag)


@case(cplx(3, 3))
def inverse(a):
    return np.abs(np.trace(np.linalg.inv(a + 3.0 * np.eye(3))))


@case(cplx(3, 3))
def traced_power(a):
    return np.trace(np.linalg.matrix_power(a, 3)).real


@case(cplx(2, 3), cplx(3, 2))
def einsum_of_two(a, b):
    return np.abs(np.einsum("ij,ji->", a, b.conj()))


@case(cplx(2, 2), cplx(2, 2))
def kronecker(a, b):
    return np.sum(np.abs(np.kron(a, b)))


@case(cplx(3, 3))
def frobenius(a):
    return np.linalg.norm(a - a.conj().T) + np.sum(np.abs(a))


@case(cplx(3, 3))
def determinant(a):
    return np.abs(np.linalg.det(a))


@case(cplx(3, 3))
def log_determinant(a):
    return np.linalg.slogdet(a + 2.0 * np.eye(3))[1]


@case(cplx(3, 3))
def eigenvalues_of_a_hermitian(a):
    return np.sum(np.linalg.eigvalsh(a + a.conj().T) ** 2 * np.arange(3.0))


@case(cplx(3, 3))
def eigenvectors_of_a_hermitian(a):
    w, v = np.linalg.eigh(a + a.conj().T)
    return np.sum(w * np.abs(v[0]) ** 2)


@case(cplx(3, 2))
def singular_values(a):
    return np.sum(np.linalg.svd(a, compute_uv=False) * np.arange(1.0, 3.0))


@case(real(1))
def rotation_gate(theta):
    c, s = np.cos(theta[0] / 2), np.sin(theta[0] / 2)
    gate = np.array([[c, -1j * s], [-1j * s, c]])
    state = gate @ np.array([1.0 + 0j, 0.3j])
    return np.abs(state[1]) ** 2


@case(real(3))
def three_gates(theta):
    state = np.array([1.0 + 0j, 0.0])
    for k in range(3):
        phase = np.exp(1j * theta[k])
        gate = np.array([[np.cos(theta[k]), np.sin(theta[k]) * phase], [-np.sin(theta[k]) / phase, np.cos(theta[k])]])
        state = gate @ state
    return np.abs(state[0]) ** 2


@case(cplx(2), real(1))
def expectation(psi, w):
    sigma_y = np.array([[0.0, -1j], [1j, 0.0]])
    return w[0] * (psi.conj() @ sigma_y @ psi).real / (psi.conj() @ psi).real


@case(cplx(2, 2))
def purity(a):
    rho = a @ a.conj().T
    rho = rho / np.trace(rho).real
    return np.trace(rho @ rho).real


@case(cplx(4))
def density_matrix(psi):
    rho = np.outer(psi, psi.conj()).reshape(2, 2, 2, 2)
    reduced = np.einsum("ijkj->ik", rho)
    return np.trace(reduced @ reduced).real


# --- transforms ------------------------------------------------------------------------------------------------------


@case(real(8))
def power_spectrum(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(8.0))


@case(cplx(8))
def spectral_step(psi):
    k = np.fft.fftfreq(8)
    return np.sum(np.abs(np.fft.ifft(np.exp(-1j * k**2) * np.fft.fft(psi)))[:4])


@case(real(7))
def half_of_a_spectrum(x):
    return np.sum(np.abs(np.fft.rfft(x)) * np.arange(4.0))


@case(real(8), real(8))
def fast_convolution(a, b):
    return np.sum(np.fft.irfft(np.fft.rfft(a) * np.fft.rfft(b)) ** 2)


@case(real(5), real(4))
def padded_convolution(a, b):
    return np.sum(np.fft.ifft(np.fft.fft(a, 8) * np.fft.fft(b, 8)).real ** 2)


@case(cplx(9))
def odd_length(z):
    return np.sum(np.abs(np.fft.irfft(z, 15)) ** 2)


@case(cplx(4, 6))
def two_axes(z):
    return np.sum(np.abs(np.fft.fft2(z)) ** 3) * 1e-2


@case(real(4, 6))
def two_real_axes(x):
    return np.sum(np.abs(np.fft.rfft2(x)[1:, 1:]))


@case(cplx(3, 4))
def centred(z):
    return np.sum(np.fft.fftshift(np.fft.ifft(z, axis=0, norm="ortho"), axes=0).imag[1] ** 2)


@case(real(3, 4, 2))
def many_axes(x):
    return np.sum(np.abs(np.fft.fftn(x, axes=(0, 2)))[1:])


@case(real(8))
def filtered(x):
    spectrum = np.fft.rfft(x)
    spectrum[3:] = 0.0
    return np.sum(np.fft.irfft(spectrum, 8) ** 3)


@case(real(6), real(6))
def phase_retrieval(x, y):
    return np.sum((np.abs(np.fft.fft(x)) - y) ** 2)


@case(real(8))
def spectral_derivative(u):
    k = 1j * np.fft.fftfreq(8, 1 / 8.0)
    return np.sum(np.real(np.fft.ifft(k * np.fft.fft(u))) ** 2)


@case(cplx(6))
def split_step(psi):
    k = np.fft.fftfreq(6)
    for _ in range(3):
        psi = np.exp(-0.1j * np.abs(psi) ** 2) * psi
        psi = np.fft.ifft(np.exp(-0.1j * k**2) * np.fft.fft(psi))
    return np.sum(np.abs(psi) ** 2 * np.arange(6.0))


@case(cplx(5))
def hermitian_transform(z):
    return np.sum(np.fft.hfft(z) ** 2) + np.sum(np.abs(np.fft.ihfft(z.real)))


@case(cplx(4), cplx(3))
def convolved(a, b):
    return np.sum(np.abs(np.convolve(a, b)))


@case(cplx(4), cplx(6))
def correlated(a, b):
    return np.sum(np.abs(np.correlate(b, a, "full")))


# --- loops and polynomials -------------------------------------------------------------------------------------------


@case(number())
def quadratic_map(c):
    z = 0j
    for _ in range(4):
        z = z * z + c * 0.4
    return abs(z)


@case(cplx(4), number())
def horner(p, z):
    y = 0.0
    for k in range(4):
        y = y * z + p[k]
    return abs(y)


@case(cplx(4), number())
def polynomial(p, z):
    return np.abs(np.polyval(p, z))


@case(number())
def newton_step(z):
    z = z + 2.0
    for _ in range(2):
        z = z - (z**3 - 1.0) / (3.0 * z**2)
    return z.real * 2.0 + z.imag


@case(real(5))
def discrete_transform_by_hand(x):
    total = 0.0
    for k in range(3):
        s = 0.0
        for n in range(5):
            s = s + x[n] * np.exp(-2j * np.pi * k * n / 5.0)
        total = total + abs(s) ** 2
    return total


@case(cplx(3))
def while_small(z):
    w = z[0]
    n = 0
    while abs(w) < 20.0 and n < 6:
        w = w * w + z[1]
        n += 1
    return abs(w + z[2])


# --- mean ------------------------------------------------------------------------------------------------------------


@case(cplx(4), real(2))
def stored_into_the_real_part(z, x):
    z = z.copy()
    z.real[1:3] = x
    return np.sum(np.abs(z) ** 2) + z.imag[1]


@case(cplx(4), real(2))
def stored_into_the_imaginary_part(z, x):
    z = z.copy()
    z.imag[1:3] = x * 2.0
    return np.sum((z * z).real)


@case(cplx(4), real(2))
def added_to_the_imaginary_part(z, x):
    z = z.copy()
    z.imag[1:3] += x * 2.0
    return np.sum((z * z).imag)


@case(real(3), real(3))
def filled_by_parts(x, y):
    z = np.empty(3, complex)
    z.real = x * y
    z.imag = y
    return np.sum(np.abs(z) ** 3)


@case(real(4))
def parts_by_name(x):
    z = np.zeros(4, dtype=complex)
    re, im = z.real, z.imag
    re[:] = x
    im[1:] = x[:3] ** 2
    return np.sum((z**2).imag)


@case(cplx(4))
def view_of_a_part(z):
    z = z * 1.0
    v = z.imag[1:]
    v *= 2.0
    return np.abs(np.sum(z**2))


@case(real(4))
def real_among_complex(x):
    z = np.zeros(4, complex)
    z[:] = x
    return np.sum(np.abs(z * 1j + x))


@case(real(4), cplx(4))
def complex_buffer(x, w):
    z = np.zeros(4, complex)
    for k in range(4):
        z[k] = x[k] * w[k] + (z[k - 1] if k else 0.0)
    return np.sum(np.abs(z))


@case(cplx(3), real(3))
def overwritten(z, x):
    y = z * x
    y[1] = x[0]
    y[2] *= 1j
    y += x
    return np.sum(y.real * y.imag)


@case(real(3))
def number_that_becomes_complex(x):
    s = 0.0
    for k in range(3):
        s = s + x[k] * np.exp(1j * k)
    return abs(s)


@case(real(3))
def array_that_becomes_complex(x):
    y = x
    for k in range(3):
        y = y * (1.0 + 0.5j) if k else y * 2.0
    return np.sum(np.abs(y))


@case(0.7)
def joined_on_two_paths(x):
    y = x * 1j if x > 0.5 else x * 2.0
    return abs(y * y + 1.0)


@case(0.3)
def recursion_from_real(x):
    return abs(_recursion(x, 3))


def _recursion(z, n):
    return z if n == 0 else _recursion(z * z + 0.1j, n - 1)


@case(number())
def recursion_of_complex(z):
    return abs(_recursion(z * 0.5, 3))


@case(cplx(3), real(3))
def called_with_both(z, x):
    return abs(_scaled(z, 2.0)) + _scaled(x, 3.0)


def _scaled(v, a):
    return np.sum(v * a * v)


@case(cplx(3), 1.5)
def list_of_both(z, a):
    values = [z, a, z.real]
    return np.sum(np.abs(values[0] * values[1])) + np.sum(values[2])


@case(cplx(3))
def appended(z):
    out = []
    for k in range(3):
        out.append(z[k] * k)
        out.append(z[k].real)
    return abs(sum(out))


@case(cplx(3), real(3))
def dict_of_both(z, x):
    d = {"z": z, "x": x}
    d["w"] = d["z"] * d["x"]
    d["x"] = d["x"] * 2.0
    return np.sum(np.abs(d["w"]) * d["x"])


@case({"z": cplx(2), "x": real(2)})
def dict_as_argument(d):
    return np.sum(np.abs(d["z"] * d["x"]))


@case([number(), 0.5, number()])
def list_as_argument(zs):
    return abs(zs[0] * zs[1] + zs[2])


@dataclasses.dataclass
class Wave:
    amplitude: complex
    frequency: float

    def at(self, t):
        return (self.amplitude * np.exp(1j * self.frequency * t)).real


@case(number(), 0.7)
def method_of_an_object(a, w):
    wave = Wave(a, w)
    return wave.at(1.5) + wave.at(0.5)


@case(Wave(number(), 0.7), order=1)
def object_as_argument(wave):
    return wave.at(0.8)


class Filter:
    def __init__(self, gain):
        self.state, self.gain = 0.0, gain

    def step(self, x):
        self.state = self.gain * self.state + x
        return self.state


@case(number(), real(4))
def state_that_becomes_complex(gain, x):
    f, total = Filter(gain * 0.3), 0.0
    for k in range(4):
        total = total + abs(f.step(x[k])) ** 2
    return total


@case(cplx(3))
def nested_functions(z):
    def turned(k):
        return z[k] * 1j**k

    return abs(sum(turned(k) for k in range(3)))


@case(cplx(2, 2))
def hermitian_by_stores(a):
    h = np.zeros((2, 2), complex)
    h[0, 0] = a[0, 0].real
    h[1, 1] = np.abs(a[1, 1])
    h[0, 1] = a[0, 1] + 1j * a[1, 0].real
    h[1, 0] = np.conj(h[0, 1])
    return np.linalg.det(h).real if False else (h[0, 0] * h[1, 1] - h[0, 1] * h[1, 0]).real


@case(real(3))
def cast_and_back(x):
    z = x.astype(complex) * (1.0 + 1j)
    return np.sum(np.asarray(z, dtype=complex).real * x)


@case(cplx(4))
def out_arguments(z):
    y = np.empty(4, complex)
    np.multiply(z, 2j, out=y)
    np.add(y, z.real, out=y)
    return np.sum(np.abs(y))


@case(cplx(4), cplx(4))
def swapped(a, b):
    a, b = b, a * 1j
    return np.sum((a - b).real ** 2)


@case(real(2))
def complex_of_elements(x):
    return abs(complex(x[0], x[1]) ** 2 + 1.0)


@case(cplx(3))
def early_return(z):
    for k in range(3):
        if z[k].real > 10.0:
            return abs(z[k])
    return abs(z[0] * z[2])


@case(cplx(3))
def broadcast_stores(z):
    m = np.zeros((2, 3), complex)
    m[:] = z
    m[1] *= z.conj()
    return np.sum(m.imag[0]) + np.sum(np.abs(m))


@case(cplx(3))
def real_of_a_section(z):
    w = z * z
    return np.sum(w[1:].real) * w[0].imag


@case(cplx(3))
def element_by_item(z):
    return z[0].conj().real * z[1].imag - (z[2] ** 2).real


@case(np.array([0.4, 1.1]))
def rows_of_a_list_that_an_array_is_made_of(x):
    out = []
    for k in range(3):
        out.append(np.exp(2j * k * x))
    return np.real(np.vdot(np.array(out)[1], np.array(out)[2])) + np.sum(np.abs(np.array(out).sum(axis=0)))


@case(1.5, -0.4)
def cmath_functions(a, b):
    return abs(a * cmath.exp(1j * 0.5) + b)


@case(number())
def complex_powers_of_a_negative_number(z):
    return abs((-2.0) ** (0.3 * z))


@case(cplx(3))
def rows_by_a_function(z):
    return np.sum(np.abs(np.apply_along_axis(lambda r: r * r, 0, z)))


@case(cplx(3))
def vectorized(z):
    return np.sum(np.abs(np.vectorize(lambda a: a * a * 1j)(z)))


@case(cplx(8), cplx(8).real)
def a_spectral_step_of_scipy(psi, v):
    psi = scipy.fft.ifft(np.exp(-0.1j * v) * scipy.fft.fft(psi, norm="forward"), workers=1)
    return np.sum(np.abs(psi[:3]) ** 2)


@case(cplx(6).real)
def poisson_by_cosines(x):
    k = 2.0 - 2.0 * np.cos(np.pi * np.arange(1, 6) / 6)
    u = scipy.fft.idct(np.append(0.0, scipy.fft.dct(x * x)[1:] / k))
    return np.sum(u**3) + np.sum(np.abs(scipy.fft.rfftn(np.outer(x, u))[1:]))


# --- decompositions, statistics, choices -----------------------------------------------------------------------------


def hermitian(a):
    return a @ a.conj().T + 2.0 * np.eye(len(a))


@case(cplx(3, 2))
def approximation_of_rank_one(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    low = s[0] * np.outer(u[:, 0], vh[0])
    return np.sum(np.abs(low - 0.3j) ** 2) + s[1]


@case(cplx(3, 3))
def schmidt_overlap(a):
    u, s, vh = np.linalg.svd(a)
    return np.abs(u[0, 0] * vh[0, 1]) * s[2] + np.abs(u[1, 2]) ** 2


@case(cplx(3, 3))
def projector_of_the_ground_state(a):
    w, u = np.linalg.eigh(a + a.conj().T)
    rho = np.outer(u[:, 0], u[:, 0].conj())
    return np.sum((rho * np.arange(9.0).reshape(3, 3)).real) + w[1]


@case(cplx(3, 3))
def thermal_state(a):
    w, u = np.linalg.eigh(a + a.conj().T, UPLO="U")
    rho = (u * np.exp(-0.3 * w)) @ u.conj().T
    return (rho[0, 1] / np.trace(rho)).imag


@case(cplx(3, 3))
def log_determinant_by_cholesky(a):
    factor = np.linalg.cholesky(hermitian(a))
    return 2.0 * np.sum(np.log(np.diag(factor).real)) + np.abs(factor[2, 0]) ** 2


@case(cplx(4, 3))
def orthogonal_factors(a):
    q, r = np.linalg.qr(a)
    return np.abs(r[0, 1]) + r[1, 1].real + np.sum(np.abs(q[:, 2]) ** 4) + q[0, 0].imag


@case(cplx(3, 3))
def triangular_factor_alone(a):
    return np.sum(np.abs(np.linalg.qr(a, mode="r")) ** 3)


@case(cplx(4, 2))
def pseudoinverse(a):
    return np.sum(np.abs(np.linalg.pinv(a)) ** 2)


@case(cplx(4, 2), cplx(4))
def least_squares(a, b):
    x, residuals, _, s = np.linalg.lstsq(a, b, rcond=None)
    return np.sum(np.abs(x) ** 2) + residuals[0] * 0.5 + s[0]


@case(cplx(3, 3))
def spectral_radius_squared(a):
    return np.max(np.abs(np.linalg.eigvals(a))) ** 2


@case(np.array([[0.3, 1.2, 0.1], [-0.9, 0.5, 0.2], [0.1, -0.3, 2.0]]), order=1)  # found complex by a run alone
def eigenvalues_of_a_real_matrix(a):
    return np.sum(np.exp(0.3 * np.linalg.eigvals(a))).real + np.sum(np.abs(np.linalg.eigvals(a)) ** 4)


@case(cplx(3, 3))
def eigenvectors_of_any_matrix(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(v[0]) ** 2 * w.imag)


@case(cplx(2, 6))
def coherence(x):
    c = np.cov(x)
    return np.abs(c[0, 1]) ** 2 / (c[0, 0] * c[1, 1]).real + np.abs(np.corrcoef(x)[0, 1])


@case(cplx(5), cplx(5))
def fitted_polynomial(x, y):
    return np.sum(np.abs(np.polyfit(x, y, 2)) ** 2)


@case(cplx(5))
def ordered(z):
    s = np.sort(z)
    return np.abs(s[0] * s[3]) + np.max(z).imag + np.median(z).real + np.min(z).real * np.ptp(z).imag


@case(cplx(4), cplx(4))
def larger_of_two(z, w):
    return np.sum(np.abs(np.maximum(z, w) * np.fmin(z, 0.3j + w)) ** 2)


@case(cplx(4))
def clipped(z):
    return np.sum(np.abs(np.clip(z, -0.5 - 1j, 0.5 + 1j)) ** 2)


@case(cplx(4))
def spread_of_what_is_there(z):
    y = np.where(z.real > 10.0, np.nan, z)
    return np.nanvar(y) + np.nanstd(y) + np.abs(np.nansum(y)) ** 2


@case(real(4))
def interpolated_response(x):
    return np.sum(np.abs(np.interp(x, np.array([0.0, 1.0, 2.0]), np.array([1j, 2.0 - 1j, 0.5]))) ** 2)


@case(cplx(5))
def slopes_of_samples(z):
    return np.sum(np.abs(np.gradient(z, 0.3)) ** 2)


# --- parts that are assigned, memory seen as another type, cmath, emath ----------------------------------------------


@case(cplx(3))
def parts_that_are_assigned(z):
    w = z * 2.0
    w.real = z.imag**2
    w.imag += np.abs(z)
    return np.sum(np.abs(w) ** 3)


@case(cplx(3))
def a_part_of_a_section_in_a_loop(z):
    w = z.copy()
    for k in range(2):
        w.real = w.imag * z[k].real
        w[k:].imag = w[k:].real ** 2
    return np.sum(np.abs(w))


@case(real(3), order=1)
def both_parts_of_a_new_array(x):
    w = [np.empty(3, complex)]
    w[0].real, w[0].imag = x, x * x
    return np.sum(np.abs(w[0] ** 2))


@case(cplx(3))
def seen_as_floats(z):
    return np.sum((z * z).view(float)[1::2] ** 3) + z.reshape(3, 1).view(np.float64)[1, 0]


@case(real(4))
def seen_as_complex_numbers(x):
    return np.sum(np.abs(x.reshape(2, 2).view(complex)[:, 0]) ** 3)


@case(number())
def polar_and_back(c):
    r, phi = cmath.polar(c)
    return abs(cmath.rect(r * r, 2.0 * phi) + 1j) + cmath.log(c, 2.0 + 1j).real + cmath.log(c).imag + cmath.log10(c).real


@case(number())
def flat_questions(c):
    return abs(c) if cmath.isclose(c, c) and cmath.isfinite(c) and not cmath.isnan(c) else 0.0


@case(0.7)
def cmath_of_a_real_number(x):
    z = cmath.exp(x) + cmath.sqrt(x - 2.0)
    return z.real * z.imag


@case(real(3) - 1.0, order=1)  # found complex by a run alone
def beyond_the_domains(x):
    return np.sum(np.abs(np.emath.sqrt(x) + np.emath.log(x - 3.0) * np.emath.arcsin(2.0 * x + 3.0)))


@case(real(4), order=1)
def largest_root(p):
    return np.max(np.abs(np.roots(p)))


@case(cplx(3))
def real_where_it_is(z):
    return np.sum(np.real_if_close(z * z.conj()).real) + np.sum(np.unwrap(np.angle(z)) ** 2)


@case(cplx(3))
def numbers_of_arrays(z):
    return abs((z * z).sum().item()) + complex(z[0]).imag * complex(z[1].real, 2.0).real


# --- SciPy -----------------------------------------------------------------------------------------------------------

WEIGHTS = np.arange(9.0).reshape(3, 3)


@case(cplx(3, 3))
def triangle_of_schur(a):
    t, z = linalg.schur(a)
    return np.sum((np.abs(t) ** 2 + np.abs(z) ** 2) * WEIGHTS) + (t[0, 0] * t[1, 1]).imag


@case(real(3, 3))
def complex_triangle_of_a_real_matrix(a):
    return np.sum(np.abs(linalg.schur(a - a.T + np.eye(3), output="complex")[0]) ** 3)


@case(cplx(4, 3))
def factors_of_scipy(a):
    q, r = linalg.qr(a, mode="economic")
    return np.sum(np.abs(r) ** 2 * WEIGHTS) + np.abs(q[0, 0]) + linalg.svd(a, full_matrices=False)[1][1] ** 3


@case(cplx(3, 3))
def polar_factor(a):
    u, p = linalg.polar(a)
    return np.sum(np.abs(p) ** 3) + np.sum(u.imag * WEIGHTS)


@case(cplx(3, 3), cplx(3))
def factored_once(a, b):
    return np.sum(np.abs(linalg.lu_solve(linalg.lu_factor(a), b)) ** 2) + np.abs(linalg.lu(a)[2][1, 2])


@case(cplx(4, 3), cplx(4))
def pseudo_inverses(a, b):
    return np.sum(np.abs(linalg.pinv(a)) ** 2) + np.sum(linalg.lstsq(a, b)[0].real ** 3)


@case(cplx(3) + 4.0, cplx(3))
def hermitian_toeplitz(c, b):
    return np.sum(np.abs(linalg.solve_toeplitz(c, b)) ** 2) + np.sum(linalg.toeplitz(c).imag ** 2 * WEIGHTS)


@case(cplx(3, 4) + 2.0, cplx(4))
def banded_systems(ab, b):
    return np.sum(np.abs(linalg.solve_banded((1, 1), ab, b)) ** 2)


@case(0.3 * cplx(3, 3), cplx(3, 3))
def matrix_equations(a, q):
    x = linalg.solve_sylvester(a + np.eye(3), a.T + np.eye(3), q)
    return np.sum(np.abs(x) ** 2) + np.sum(linalg.solve_discrete_lyapunov(a, q).imag ** 2)


@case(real(2, 2))
def fidelity_of_states(a):
    root = linalg.sqrtm(np.array([[0.7, 0.2j], [-0.2j, 0.3]]))
    return np.trace(linalg.sqrtm(root @ (a @ a.T) @ root)).real ** 2


@case(cplx(3, 3))
def function_of_a_matrix(a):
    return np.sum(np.abs(linalg.funm(a, lambda z: z**3 + 1j)) ** 2)


@case(cplx(3, 4), cplx(2, 2))
def planes(z, k):
    smooth = ndimage.gaussian_filter(signal.convolve2d(z, k, "same"), 0.8)
    return np.sum(np.abs(smooth) ** 2) + np.sum(signal.convolve2d(z, k, boundary="wrap").imag ** 3)


@case(cplx(3))
def waves_and_integrals(z):
    return np.sum(np.abs(special.airy(z)[0]) ** 2 + special.sici(z)[0].imag + special.fresnel(z)[1].real)


@case(cplx(3), order=1)
def sparse_systems(b):
    a = scipy.sparse.csc_array(np.array([[2.0, 0.0, 2j], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]]))
    return np.sum(np.abs(sparse_linalg.spsolve(a, b)) ** 2)


@case(cplx(6), real(2))
def curves_through_complex_data(z, t):
    places = np.arange(6.0)
    spline = interpolate.CubicSpline(places, z)
    line = interpolate.interp1d(places, z, kind="quadratic")
    return np.sum(np.abs(spline(t)) ** 2 + line(2.0 * t).imag) + np.abs(spline.integrate(0.5, 3.0))


@case(cplx(4, 5), real(3, 2))
def complex_data_on_a_grid(z, p):
    table = interpolate.RegularGridInterpolator((np.arange(4.0), np.arange(5.0)), z)
    return np.sum(np.abs(table(p)) ** 2) + np.sum(interpolate.interpn((np.arange(4.0), np.arange(5.0)), z, p).imag ** 3)
