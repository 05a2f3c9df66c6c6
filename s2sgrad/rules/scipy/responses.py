"""Responses of linear systems: in frequency, and in time.

    w, h = signal.freqs(b, a, w)                  ->     h = polyval(b, 1j * w) / polyval(a, 1j * w)
    w, d = signal.group_delay((b, a), w)          ->     d = Re(sum(k * c * z**k) / sum(c * z**k)) - len(a) + 1
    T, y, x = signal.lsim((A, B, C, D), u, T)     ->     x[k+1] = x[k] @ E + u[k] @ F + u[k+1] @ G, of one matrix exponential

(Oppenheim and Schafer, "Discrete-Time Signal Processing", 5; Moler and Van Loan, "Nineteen dubious ways", 2003, for the
exponential of a block matrix.)  The systems are tuples; times and frequencies that SciPy chooses are refused where they
depend on the system, and constants where they are rounded.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, signal

from s2sgrad.rules.restated import restates
from s2sgrad.rules.scipy.filter_forms import polynomial, ss2tf
from s2sgrad.rules.scipy.filter_maps import kind_of, state_space
from s2sgrad.rules.table import complex_of_real_numbers, existing, flat, linear, of_complex_numbers
from s2sgrad.runtime import Refusal

flat(signal.findfreqs)

# --- in frequency ----------------------------------------------------------------------------------------------------


def is_count(w):
    """Whether frequencies are given by their number, or not at all."""
    return w is None or isinstance(w, (int, np.integer))


def analog_points(b, a, w, kind="ba"):
    """The frequencies that SciPy chooses, which are powers of ten apart."""
    return signal.findfreqs(b, a, 200 if w is None else w, kind)


def digital_points(w, whole, default=512):
    """The frequencies around the circle, or half of it."""
    return np.linspace(0.0, 2.0 * np.pi if whole else np.pi, default if w is None else w, endpoint=False)


flat(is_count, analog_points, digital_points)


def imaginary(w):
    """The numbers on the imaginary axis."""
    return 1j * np.asarray(w)


@linear(imaginary)
def _(g, y, w):
    return 1j * g


of_complex_numbers(imaginary)
complex_of_real_numbers(imaginary)


def along_roots(s, roots):
    """The products of s - root."""
    return np.prod(np.reshape(s, (-1, 1)) - np.reshape(np.asarray(roots) + 0j, (1, -1)), axis=1)


@restates(signal.freqs, moving=("worN",), complex=True)
def freqs(b, a, worN=200, plot=None):
    w = np.ravel(analog_points(b, a, worN) if is_count(worN) else worN)
    return 1.0 * w, np.polyval(np.asarray(b) + 0j, imaginary(w)) / np.polyval(np.asarray(a) + 0j, imaginary(w))


@restates(signal.freqs_zpk, moving=("worN",), complex=True)
def freqs_zpk(z, p, k, worN=200):
    w = np.ravel(analog_points(z, p, worN, "zp") if is_count(worN) else worN)
    return 1.0 * w, (k + 0j) * along_roots(imaginary(w), z) / along_roots(imaginary(w), p)


@restates(signal.freqz_zpk, moving=("worN",), complex=True)
def freqz_zpk(z, p, k, worN=512, whole=False, fs=2.0 * np.pi):
    w = np.ravel(digital_points(worN, whole) if is_count(worN) else 2.0 * np.pi * np.asarray(worN) / fs)
    s = np.exp(imaginary(w))
    return w * (fs / (2.0 * np.pi)), (k + 0j) * along_roots(s, z) / along_roots(s, p)


@restates(*existing(signal, "freqz_sos", "sosfreqz"), moving=("worN",), complex=True)
def freqz_sos(sos, worN=512, whole=False, fs=2.0 * np.pi):
    sos = np.asarray(sos) + 0j
    w = np.ravel(digital_points(worN, whole) if is_count(worN) else 2.0 * np.pi * np.asarray(worN) / fs)
    s = np.exp(-imaginary(w))
    h = 1.0 + 0j * s
    for n in range(np.shape(sos)[0]):
        top, bottom = sos[n, 0] + sos[n, 1] * s + sos[n, 2] * s * s, sos[n, 3] + sos[n, 4] * s + sos[n, 5] * s * s
        h = h * top / bottom
    return w * (fs / (2.0 * np.pi)), h


@restates(signal.group_delay, moving=("w",), tuples=("system",))
def group_delay(system, w=512, whole=False, fs=2.0 * np.pi):
    b, a = np.atleast_1d(system[0]), np.atleast_1d(system[1])
    w = digital_points(w, whole) if is_count(w) else 2.0 * np.pi * np.atleast_1d(w) / fs
    c = np.convolve(b, np.flip(a))
    angles = np.reshape(w, (-1, 1)) * np.arange(np.size(c))
    real, imaginary = np.cos(angles), np.sin(angles)
    bottom = (real @ c) ** 2 + (imaginary @ c) ** 2
    top = (real @ (c * np.arange(np.size(c)))) * (real @ c) + (imaginary @ (c * np.arange(np.size(c)))) * (imaginary @ c)
    return w * (fs / (2.0 * np.pi)), top / bottom - np.size(a) + 1


complex_of_real_numbers(signal.freqs, signal.freqs_zpk, signal.freqz_zpk, *existing(signal, "freqz_sos", "sosfreqz"))


def transfer(system, extra=0):
    """The polynomials of a system with one input and one output, and `extra` further parts."""
    count = kind_of(system, extra)
    if count == 2:
        return np.ravel(system[0]), np.ravel(system[1])
    if count == 3:
        return system[2] * polynomial(np.atleast_1d(system[0])), polynomial(np.atleast_1d(system[1]))
    b, a = ss2tf(system[0], system[1], system[2], system[3])
    return b[0], a


def points_of(system, w, n):
    """The frequencies at which SciPy gives the response of a system."""
    return signal.freqresp(system, w, n)[0]


def discrete_points_of(system, w, n, whole):
    """The same in discrete time."""
    return signal.dfreqresp(system, w, n, whole)[0]


flat(points_of, discrete_points_of)


@restates(signal.freqresp, tuples=("system",), complex=True)
def freqresp(system, w=None, n=10000):
    b, a = transfer(system)
    w = np.ravel(points_of(system, w, n))
    return w, np.polyval(b, imaginary(w)) / np.polyval(a, imaginary(w))


@restates(signal.dfreqresp, tuples=("system",), complex=True)
def dfreqresp(system, w=None, n=10000, whole=False):
    b, a = transfer(system, 1)
    w = np.ravel(discrete_points_of(system, w, n, whole))
    return w, np.polyval(b, np.exp(imaginary(w))) / np.polyval(a, np.exp(imaginary(w)))


complex_of_real_numbers(signal.freqresp, signal.dfreqresp)


def turns(phase):
    """What `np.unwrap` adds."""
    return np.unwrap(phase) - phase


flat(turns)


def decibels(h):
    """The magnitude in decibels, and the phase in degrees."""
    phase = np.angle(h)
    return 20.0 * np.log10(np.abs(h)), (phase + turns(phase)) * (180.0 / np.pi)


@restates(signal.bode, tuples=("system",))
def bode(system, w=None, n=100):
    w, h = freqresp(system, w, n)
    magnitude, phase = decibels(h)
    return w, magnitude, phase


@restates(signal.dbode, tuples=("system",))
def dbode(system, w=None, n=100):
    w, h = dfreqresp(system, w, n)
    magnitude, phase = decibels(h)
    return w / system[-1], magnitude, phase


# --- in time ---------------------------------------------------------------------------------------------------------


def times(T, name):
    """Raise Refusal where SciPy chooses the times by the system, and where they do not begin at 0."""
    if T is None or np.size(T) < 2 or np.ravel(T)[0] != 0.0:
        raise Refusal(None, f"`signal.{name}` has a derivative rule for given times, of which the first is 0: pass `T`")
    return True


def no_times(t, name):
    """Raise Refusal for times at which the input is interpolated."""
    if t is not None:
        raise Refusal(None, f"`signal.{name}` has a derivative rule without `t`: give the input at each step")
    return True


def is_nothing(U):
    """Whether there is no input."""
    return U is None or (np.ndim(U) == 0 and not np.any(U))


flat(times, no_times, is_nothing)


def squeezed(x):
    """`np.squeeze`, of the columns alone."""
    return x[:, 0] if np.shape(x)[1] == 1 else x


def simulated(A, B, C, D, U, T, X0, interp):
    """The outputs and the states of a system at times with one distance."""
    n, m, count = np.shape(A)[0], np.shape(B)[1], np.size(T)
    dt = T[1] - T[0]
    U = np.zeros((count, m)) if is_nothing(U) else np.reshape(U, (count, -1))
    upper = np.concatenate((A * dt, B * dt, np.zeros((n, m))), axis=1)
    middle = np.concatenate((np.zeros((m, n + m)), np.eye(m)), axis=1)
    whole = linalg.expm(np.concatenate((upper, middle, np.zeros((m, n + 2 * m)))).T)
    step, first, second = whole[:n, :n], whole[n : n + m, :n], whole[n + m :, :n]
    given = U[:-1] @ first
    if interp:
        given = given + (U[1:] - U[:-1]) @ second
    x, start = np.zeros((count, n)), np.zeros(n) if X0 is None else np.asarray(X0)
    x[0] = 1.0 * start
    for k in range(1, count):
        x[k] = x[k - 1] @ step + given[k - 1]
    return x @ C.T + U @ D.T, x


@restates(signal.lsim, constant=("T",), moving=("X0",), tuples=("system",))
def lsim(system, U, T, X0=None, interp=True):
    times(T, "lsim")
    A, B, C, D = state_space(system)
    y, x = simulated(A, B, C, D, U, np.asarray(T), X0, interp)
    return 1.0 * np.asarray(T), squeezed(y), squeezed(x)


def at_rest(X0):
    """Raise Refusal for an impulse that meets a system in motion."""
    if X0 is not None:
        raise Refusal(None, "`signal.impulse` has a derivative rule without `X0`: use signal.lsim")
    return True


flat(at_rest)


@restates(signal.impulse, tuples=("system",))
def impulse(system, X0=None, T=None, N=None):
    times(T, "impulse")
    A, B, C, D = state_space(system)
    at_rest(X0)
    y, _ = simulated(A, B, C, D, None, np.asarray(T), 1.0 * B[:, 0], False)
    return 1.0 * np.asarray(T), squeezed(y)


@restates(signal.step, moving=("X0",), tuples=("system",))
def step(system, X0=None, T=None, N=None):
    times(T, "step")
    A, B, C, D = state_space(system)
    y, _ = simulated(A, B, C, D, np.ones(np.size(T)), np.asarray(T), X0, False)
    return 1.0 * np.asarray(T), squeezed(y)


def run(A, B, C, D, u, x0):
    """The outputs and the states in discrete time."""
    given = u @ B.T
    x, start = np.zeros((np.shape(u)[0], np.shape(A)[0])), np.zeros(np.shape(A)[0]) if x0 is None else np.asarray(x0)
    x[0] = 1.0 * start
    for k in range(1, np.shape(u)[0]):
        x[k] = x[k - 1] @ A.T + given[k - 1]
    return x @ C.T + u @ D.T, x


@restates(signal.dlsim, moving=("x0",), tuples=("system",))
def dlsim(system, u, t=None, x0=None):
    no_times(t, "dlsim")
    A, B, C, D = state_space(system, 1)
    u = np.reshape(u, (np.shape(u)[0], -1))
    y, x = run(A, B, C, D, u, x0)
    ticks = np.arange(np.shape(u)[0]) * system[-1]
    if len(system) == 5:
        return ticks, y, x
    return ticks, y


def one_input(B):
    """Raise Refusal for several inputs."""
    if np.shape(B)[1] != 1:
        raise Refusal(None, "a response has a derivative rule for one input: call signal.dlsim for each")
    return True


def impulse_in(count):
    """An impulse."""
    return np.eye(count, 1)


def step_in(count):
    """A step."""
    return np.ones((count, 1))


def samples(n, dt, name):
    """The number of samples; Refusal where SciPy rounds one away."""
    count = 100 if n is None else n
    if count != int(np.floor(np.linspace(0.0, count * dt, count, endpoint=False)[-1] / dt)) + 1:
        raise Refusal(None, f"`signal.{name}` loses a sample to rounding at this time step: use signal.dlsim")
    return count


flat(one_input, impulse_in, step_in, samples)


@restates(signal.dimpulse, moving=("x0",), tuples=("system",))
def dimpulse(system, x0=None, t=None, n=None):
    no_times(t, "dimpulse")
    A, B, C, D = state_space(system, 1)
    one_input(B)
    count = samples(n, system[-1], "dimpulse")
    y, _ = run(A, B, C, D, impulse_in(count), x0)
    return np.arange(count) * system[-1], (y,)


@restates(signal.dstep, moving=("x0",), tuples=("system",))
def dstep(system, x0=None, t=None, n=None):
    no_times(t, "dstep")
    A, B, C, D = state_space(system, 1)
    one_input(B)
    count = samples(n, system[-1], "dstep")
    y, _ = run(A, B, C, D, step_in(count), x0)
    return np.arange(count) * system[-1], (y,)
