"""Programs of physics and signal processing that compute with complex numbers, as people write them; each gives a number."""

from __future__ import annotations

import numpy as np

PROGRAMS = []


def program(*args):
    """Register a program with its arguments."""

    def register(f):
        PROGRAMS.append((f, args))
        return f

    return register


_RNG = np.random.default_rng(41)


def real(*shape):
    return _RNG.uniform(0.4, 1.6, shape)


def cplx(*shape):
    return _RNG.normal(size=shape) + 1j * _RNG.normal(size=shape)


@program(0.2 * cplx(5))
def mandelbrot(c):
    """How far points have come after a fixed number of steps, as of the escape-time pictures."""
    z = np.zeros_like(c)
    for _ in range(4):
        z = z * z + c
    return np.sum(np.log(1.0 + np.abs(z) ** 2))


@program(cplx(8))
def stockham_transform(x):
    """The self-sorting FFT of radix 2 (Stockham), and the energy in the lower half of the spectrum."""
    n, stride, y = len(x), 1, x
    while n > 1:
        half = n // 2
        w = np.exp(-2j * np.pi * np.arange(half) / n)
        y = y.reshape(2, half, stride)
        a, b = y[0], y[1]
        y = np.stack((a + b, (a - b) * w[:, np.newaxis]), axis=1).reshape(-1)
        n, stride = half, stride * 2
    return np.sum(np.abs(y[:4]) ** 2)


@program(0.3 * cplx(2, 2, 3, 3), 0.3 * cplx(3, 2, 2, 3, 3), real(2))
def scattering_self_energies(g, dh, weight):
    """Self-energies of electrons that scatter: sums of dh @ g @ dh over neighbours and directions."""
    sigma = np.zeros_like(g)
    for k in range(2):
        for e in range(2):
            for i in range(3):
                sigma[k, e] += weight[e] * (dh[i, k, e] @ g[k, e - 1] @ dh[i, k, e].conj().T)
    return np.sum(np.abs(sigma) ** 2)


@program(cplx(8), real(8), 0.05)
def split_step(psi, potential, dt):
    """The probability to find a particle on the left after a few steps of the Schroedinger equation."""
    k = 2.0 * np.pi * np.fft.fftfreq(len(psi), 0.5)
    kinetic, half = np.exp(-0.5j * dt * k**2), np.exp(-0.5j * dt * potential)
    psi = psi / np.sqrt(np.sum(np.abs(psi) ** 2))
    for _ in range(3):
        psi = half * psi
        psi = np.fft.ifft(kinetic * np.fft.fft(psi))
        psi = half * psi
    return np.sum(np.abs(psi[:4]) ** 2)


@program(cplx(6), real(6, 6))
def phase_retrieval(x, measured):
    """The misfit of the intensities of a picture behind masks."""
    masks = np.exp(2j * np.pi * np.outer(np.arange(6), np.arange(6) ** 2) / 7.0)
    field = np.fft.fft(masks * x, axis=1)
    return 0.5 * np.mean((np.abs(field) ** 2 - measured) ** 2)


@program(real(4), real(12))
def filter_in_the_frequency_domain(taps, signal):
    """A filter of finite response by multiplying spectra; what it leaves of the signal's second half."""
    n = len(signal) + len(taps) - 1
    filtered = np.fft.irfft(np.fft.rfft(signal, n) * np.fft.rfft(taps, n), n)
    return np.sum(filtered[6:12] ** 2)


@program(real(3))
def quantum_circuit(theta):
    """Two qubits: rotations, a controlled not, and the expectation of z on the second."""
    state = np.array([1.0, 0.0, 0.0, 0.0], dtype=complex)
    x, z = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
    for k in range(3):
        turn = np.cos(theta[k] / 2) * np.eye(2) - 1j * np.sin(theta[k] / 2) * (x if k % 2 == 0 else z)
        state = np.kron(turn, np.eye(2)) @ state
        state = np.array([state[0], state[1], state[3], state[2]])
    return np.real(np.vdot(state, np.kron(np.eye(2), z) @ state))


@program(1.2, 0.4, 0.5, real(4))
def matching_network(r, l, c, w):  # noqa: E741
    """The power that is reflected by a resonant circuit, over frequencies."""
    z = r + 1j * w * l + 1.0 / (1j * w * c)
    reflected = (z - 1.0) / (z + 1.0)
    return np.mean(np.abs(reflected) ** 2)


@program(cplx(8), cplx(3), cplx(8))
def equalizer(symbols, channel, noise):
    """Symbols of OFDM through a channel of several paths, equalized by its response: the error that is left."""
    response = np.fft.fft(channel, 8)
    received = np.fft.fft(np.fft.ifft(symbols)) * response + 0.1 * noise
    weight = np.conj(response) / (np.abs(response) ** 2 + 0.01)
    return np.mean(np.abs(weight * received - symbols) ** 2)


@program(real(3), real(3), 0.7)
def array_of_antennas(amplitude, phase, angle):
    """The gain of a beam, in decibels."""
    steering = np.exp(1j * np.pi * np.arange(3) * np.sin(angle))
    weights = amplitude * np.exp(1j * phase)
    return 20.0 * np.log10(np.abs(np.sum(weights * steering)))


@program(cplx(3, 3), 0.3)
def density_matrix(a, t):
    """The purity of a mixed state that evolves under a Hamiltonian."""
    h = a + a.conj().T
    w, u = np.linalg.eigh(h)
    step = (u * np.exp(-1j * w * t)) @ u.conj().T
    rho = step @ np.diag(np.array([0.7, 0.2, 0.1])) @ step.conj().T
    return np.real(rho[0, 0]) + np.sum(np.abs(rho) ** 2)


@program(cplx(9))
def transform_into_a_buffer(x):
    """The FFT of Stockham of radix 3: permute, turn and mix, each pass into the buffer of the result."""
    radix, passes = 3, 2
    y, n = np.empty(9, dtype=complex), radix**passes
    i, j = np.mgrid[0:radix, 0:radix]
    mix = np.exp(-2.0j * np.pi * i * j / radix)
    rows, columns = np.mgrid[0:radix, 0:n]
    y[:] = x[:]
    for k in range(passes):
        here, rest = radix**k, radix ** (passes - k - 1)
        turned = np.transpose(np.reshape(y, (here, radix, rest)), axes=(1, 0, 2))
        factors = np.empty((radix, here, rest), dtype=complex)
        each = np.exp(-2.0j * np.pi * rows[:, :here] * columns[:, :here] / radix ** (k + 1))
        factors[:] = np.repeat(np.reshape(each, (radix, here, 1)), rest, axis=2)
        twiddled = np.reshape(turned, (n,)) * np.reshape(factors, (n,))
        y[:] = np.reshape(mix @ np.reshape(twiddled, (radix, radix ** (passes - 1))), (n,))
    return np.sum(np.abs(y[:4]) ** 2)


@program(cplx(3, 3, 3), cplx(3, 2), np.array([0.4 + 0.3j, 1.2 - 0.7j, 0.1 - 0.6j]))
def contour_integral(hamiltonian, sources, points):
    """The first two moments of a resolvent around a ring: what is inside counts with the other sign."""
    zeroth, first = np.zeros((3, 2), dtype=complex), np.zeros((3, 2), dtype=complex)
    for z in points:
        t = np.zeros((3, 3), dtype=complex)
        for n in range(3):
            t += np.power(z, 1.0 - n) * hamiltonian[n]
        x = np.linalg.solve(t, sources)
        if abs(z) < 1.0:
            x = -x
        zeroth += x
        first += z * x
    return np.sum(np.abs(zeroth) ** 2) + np.sum(np.abs(first) ** 2)


@program(0.3 * cplx(1, 2, 3, 2, 2), 0.3 * cplx(3, 2, 2, 2, 2), 0.3 * cplx(1, 2, 3, 2, 2, 2))
def self_energies_of_phonons(g, dh, d):
    """Self-energies of electrons that phonons of all energies scatter to neighbours, added up place by place."""
    neighbours = np.array([[1, 2], [0, 2], [0, 1]])
    sigma = np.zeros_like(g)
    for k in range(g.shape[0]):
        for e in range(g.shape[1]):
            for q in range(d.shape[0]):
                for w in range(d.shape[1]):
                    for i in range(d.shape[-2]):
                        for j in range(d.shape[-1]):
                            for a in range(3):
                                for b in range(2):
                                    if e - w >= 0:
                                        left = g[k, e - w, neighbours[a, b]] @ dh[a, b, i]
                                        right = dh[a, b, j] * d[q, w, a, b, i, j]
                                        sigma[k, e, a] += left @ right
    return np.sum(np.abs(sigma) ** 2)
