"""Rules of scipy.signal's filters: lfilter, lfilter_zi, sosfilt, filtfilt, sosfiltfilt, freqz, savgol_filter.

    y = signal.lfilter(b, a, x)     ->    x_bar = signal.lfilter(b, a, y_bar[::-1])[::-1]         backwards in time

As polynomials of the delay, `a * y + a[0] * (0, zf) == b * x + a[0] * zi`.  The multiplier `m` solves the filter's
recursion backwards. The cotangents of `b`, `x`, `zi` and `a` are correlations of `m` with `x`, `b`, `a[0]` and `-y`
(the transposed forms of Oppenheim and Schafer, "Discrete-Time Signal Processing").  `filtfilt` runs forwards and
backwards, each time from `lfilter_zi(b, a) * x[0]`, the state that a constant signal keeps. Sections run one after the
other, each from the state that its own input keeps. (Gustafsson, "Determining the Initial States in Forward-Backward
Filtering", 1996.)
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.table import flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal, unbroadcast

# --- lfilter ---------------------------------------------------------------------------------------------------------


def run_back(b, a, g, axis):
    """The transpose of `signal.lfilter(b, a, x, axis)` in `x`."""
    return np.flip(signal.lfilter(b, a, np.flip(g, axis), axis), axis)


def order(b, a):
    """The number of states of a filter."""
    return max(np.size(b), np.size(a)) - 1


def one(c):
    """The polynomial 1, of the type of coefficients."""
    return np.ones_like(np.ravel(c)[:1])


def margin(x, size, axis):
    """The widths of `np.pad` for `size` zeros behind the end of an axis."""
    return [(0, size if k == axis % np.ndim(x) else 0) for k in range(np.ndim(x))]


def span(x, start, size, axis):
    """The places along an axis from `start` on, `size` of them; None: to the end."""
    return np.arange(start, np.shape(x)[axis] if size is None else start + size)


flat(order, one, margin, span)


def lags(m, x, c):
    """The sums of `m[n + k] * x[n]` over all axes, one for each `k` that the coefficients `c` have."""
    return np.reshape(np.ravel(signal.correlate(m, np.conj(x), "valid", "direct"))[: np.size(c)], np.shape(c))


def multiplier(g, b, a, x, axis, zi):
    """What solves the recursion backwards, as long as the input and the states together."""
    if zi is None:
        return np.pad(run_back(one(a), np.atleast_1d(a), g, axis), margin(x, order(b, a), axis))
    ends = np.flip(g[1], axis) / np.ravel(a)[0]
    first = signal.lfilter(np.atleast_1d(a), one(a), ends, axis)  # from which the recursion makes `ends`
    whole = np.concatenate((first, np.flip(g[0], axis)), axis)
    return np.flip(signal.lfilter(one(a), np.atleast_1d(a), whole, axis), axis)


def states_bar(m, a, zi, axis):
    """The cotangent of `zi`, before it is summed over broadcast axes."""
    return np.ravel(a)[0] * np.take(m, span(m, 0, np.shape(zi)[axis], axis), axis)


def denominator_bar(m, y, a, x, axis, zi):
    """The cotangent of `a`."""
    if zi is None:
        return -lags(m, y, a)
    behind = np.take(m, span(m, np.shape(x)[axis], None, axis), axis)
    before = np.take(m, span(m, 0, np.shape(zi)[axis], axis), axis)
    bar = np.ravel(lags(m, y[0], a))
    extra = np.sum(y[1] * behind) - np.sum(zi * before)
    return np.reshape(-np.concatenate((bar[:1] + extra, bar[1:])), np.shape(a))


def input_bar(m, b, x, axis):
    """The cotangent of `x` where there are states."""
    return np.take(run_back(np.atleast_1d(b), one(b), m, axis), span(m, 0, np.shape(x)[axis], axis), axis)


@general(signal.lfilter)
def lfilter(g, y, b, a, x, axis=-1, zi=None):
    m = multiplier(g, b, a, x, axis, zi)
    return lags(m, x, b), denominator_bar(m, y, a, x, axis, zi), input_bar(m, b, x, axis)


def at_rest(zi):
    """The run starts at rest, and tells no states."""
    return zi.known and zi.value is None


@lfilter.refined(at_rest)
def _(g, y, b, a, x, axis=-1, zi=None):
    m = multiplier(g, b, a, x, axis, None)
    return lags(m, x, b), -lags(m, y, a), run_back(b, a, g, axis)


@lfilter.refined(lambda x, axis, zi: at_rest(zi) and x.rank == 1 and axis.known)
def _(g, y, b, a, x, axis=-1, zi=None):
    m = multiplier(g, b, a, x, axis, None)
    return lags(m, x, b), -lags(m, y, a), signal.lfilter(b, a, g[::-1])[::-1]


@lfilter.keyword("zi")
def lfilter_states(g, y, b, a, x, axis=-1, zi=None):
    return unbroadcast(states_bar(multiplier(g, b, a, x, axis, zi), a, zi, axis), zi)


@lfilter.forward(at_rest)
def _(y, b, a, x, b_dot, a_dot, x_dot, axis=-1, zi=None):
    return (
        signal.lfilter(np.atleast_1d(b_dot), a, x, axis),
        -signal.lfilter(np.atleast_1d(a_dot), a, y, axis),
        signal.lfilter(b, a, x_dot, axis),
    )


def require_leading(a):
    """Raise Refusal where SciPy leaves out coefficients in front, which are 0."""
    if not np.ravel(a)[0]:
        raise Refusal(None, "`signal.lfilter_zi` has no derivative rule where `a` begins with 0: leave the zeros out")
    return True


flat(require_leading)


def lfilter_zi_bars(g, y, b, a):
    """The cotangents of the coefficients in the states that a constant signal keeps."""
    require_leading(a)
    c = np.concatenate((np.zeros_like(g[:1]), np.cumsum(g))) / np.ravel(a)[0]
    steady, pull = np.sum(b) / np.sum(a), np.sum(c[: np.size(a)] * a) / np.sum(a)
    b_bar, a_bar = c[: np.size(b)] - pull, (pull - c[: np.size(a)]) * steady
    a_bar = np.concatenate((a_bar[:1] - np.sum(g * y) / np.ravel(a)[0], a_bar[1:]))
    return np.reshape(b_bar, np.shape(b)), np.reshape(a_bar, np.shape(a))


@general(signal.lfilter_zi)
def lfilter_zi(g, y, b, a):
    return lfilter_zi_bars(g, y, b, a)


# --- sections of the second order ------------------------------------------------------------------------------------


def sections_bar(g, sos, x, axis):
    """The cotangent of the sections, of which the last one ran last."""
    bars = np.zeros_like(sos[:0])
    for k in range(np.shape(sos)[0] - 1, -1, -1):
        b, a = sos[k, :3], sos[k, 3:]
        start = signal.sosfilt(sos[:k], x, axis) if k else x
        m = multiplier(g, b, a, start, axis, None)
        row = np.concatenate((lags(m, start, b), -lags(m, signal.lfilter(b, a, start, axis), a)))
        bars = np.concatenate((np.reshape(row, (1, 6)), bars))
        g = run_back(b, a, g, axis)
    return bars


def sections_dot(sos, sos_dot, x, axis):
    """The tangent of the result along that of the sections."""
    dot = np.zeros_like(x)
    for k in range(np.shape(sos)[0]):
        b, a = sos[k, :3], sos[k, 3:]
        after = signal.lfilter(b, a, x, axis)
        moved = signal.lfilter(sos_dot[k, :3], a, x, axis) - signal.lfilter(sos_dot[k, 3:], a, after, axis)
        x, dot = after, signal.lfilter(b, a, dot, axis) + moved
    return dot


@general(signal.sosfilt)
def sosfilt(g, y, sos, x, axis=-1, zi=None):
    return sections_bar(g, sos, x, axis), np.flip(signal.sosfilt(sos, np.flip(g, axis), axis), axis)


@sosfilt.forward(at_rest)
def _(y, sos, x, sos_dot, x_dot, axis=-1, zi=None):
    return sections_dot(sos, sos_dot, x, axis), signal.sosfilt(sos, x_dot, axis)


def from_states(sos, x, axis, zi):
    """What sections make of a signal, each from its own states."""
    for k in range(np.shape(sos)[0]):
        x = signal.lfilter(sos[k, :3], sos[k, 3:], x, axis, zi[k])[0]
    return x


def from_states_bars(g, sos, x, axis, zi):
    """The cotangents of the sections, of the signal and of the states in such a run."""
    bars, states, bar = np.zeros_like(sos[:0]), np.zeros_like(zi[:0]), g[0]
    for k in range(np.shape(sos)[0] - 1, -1, -1):
        b, a, start, before = sos[k, :3], sos[k, 3:], zi[k], from_states(sos[:k], x, axis, zi)
        m = multiplier((bar, g[1][k]), b, a, before, axis, start)
        y = signal.lfilter(b, a, before, axis, start)
        row = np.concatenate((lags(m, before, b), denominator_bar(m, y, a, before, axis, start)))
        bars = np.concatenate((np.reshape(row, (1, 6)), bars))
        states = np.concatenate((np.expand_dims(states_bar(m, a, start, axis), 0), states))
        bar = input_bar(m, b, before, axis)
    return bars, bar, states


@sosfilt.instead(lambda zi: not at_rest(zi))
def _(g, y, sos, x, axis=-1, zi=None):
    bars = from_states_bars(g, sos, x, axis, zi)
    return bars[0], bars[1]


@sosfilt.keyword("zi")
def sosfilt_states(g, y, sos, x, axis=-1, zi=None):
    return from_states_bars(g, sos, x, axis, zi)[2]


# --- forwards and backwards ------------------------------------------------------------------------------------------


def extended(x, edge, padtype, axis):
    """`x` with `edge` more samples on both sides."""
    if edge == 0:
        return x
    if padtype == "odd":
        return np.pad(x, both(x, edge, axis), "reflect", reflect_type="odd")
    return np.pad(x, both(x, edge, axis), "reflect" if padtype == "even" else "edge")


def both(x, edge, axis):
    """The widths of `np.pad` for a margin on both sides of an axis."""
    return [(edge, edge) if k == axis % np.ndim(x) else (0, 0) for k in range(np.ndim(x))]


def unextended(g, x, edge, padtype, axis):
    """The transpose of `extended` in `x`."""
    if edge == 0:
        return g
    g = np.moveaxis(g, axis, -1)
    before, bar, after = g[..., :edge], g[..., edge:-edge].copy(), g[..., -edge:]
    if padtype == "constant":
        bar[..., 0] += before.sum(-1)
        bar[..., -1] += after.sum(-1)
    else:
        sign = -1.0 if padtype == "odd" else 1.0
        bar[..., 1 : edge + 1] += sign * before[..., ::-1]
        bar[..., -edge - 1 : -1] += sign * after[..., ::-1]
        if padtype == "odd":
            bar[..., 0] += 2.0 * before.sum(-1)
            bar[..., -1] += 2.0 * after.sum(-1)
    return np.moveaxis(bar, -1, axis)


def _run_both_ways_back(run, start, g, edge, axis):
    """The transpose of a filter that is run forwards and backwards, each time from the steady state of the first sample.

    Such a run is `run(x) + x[0] * start`; its transpose is `run` backwards, and `g @ start` for the first sample.
    """
    g = np.moveaxis(g, axis, -1)
    g = np.pad(g, both(g, edge, -1))
    for _ in range(2):
        g = g[..., ::-1]  # the transpose of the turning round that follows a run
        first = g @ start
        g = run(g[..., ::-1])[..., ::-1].copy()
        g[..., 0] += first
    return np.moveaxis(g, -1, axis)


def unfiltfilt(g, b, a, x, axis, padtype, padlen):
    """The cotangent of `x` in `signal.filtfilt(b, a, x, axis, padtype, padlen)`."""
    edge = length_of_edge(max(np.size(a), np.size(b)), padtype, padlen)
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    start, _ = signal.lfilter(b, a, np.zeros(np.shape(g)[axis] + 2 * edge, g.dtype), zi=signal.lfilter_zi(b, a))
    g = _run_both_ways_back(lambda v: signal.lfilter(b, a, v), start, g, edge, axis)
    return unextended(g, x, edge, padtype, axis)


def unsosfiltfilt(g, sos, x, axis, padtype, padlen):
    """The cotangent of `x` in `signal.sosfiltfilt(sos, x, axis, padtype, padlen)`."""
    sos = np.atleast_2d(sos)
    edge = length_of_edge(taps_of_sections(sos), padtype, padlen)
    start, _ = signal.sosfilt(sos, np.zeros(np.shape(g)[axis] + 2 * edge, g.dtype), zi=signal.sosfilt_zi(sos))
    g = _run_both_ways_back(lambda v: signal.sosfilt(sos, v), start, g, edge, axis)
    return unextended(g, x, edge, padtype, axis)


# --- in the coefficients ---------------------------------------------------------------------------------------------


def shape_along(x, size, axis):
    """The shape of `size` elements along an axis of `x`."""
    return [size if k == axis % np.ndim(x) else 1 for k in range(np.ndim(x))]


def other_axes(x, axis):
    """All axes but one."""
    return tuple(k for k in range(np.ndim(x)) if k != axis % np.ndim(x))


def length_of_edge(taps, padtype, padlen):
    """How many samples a signal is extended by on both sides."""
    return 0 if padtype is None else 3 * taps if padlen is None else padlen


def taps_of_sections(sos):
    """How long the impulse that SciPy extends a signal by is, in samples: without delays that no section has."""
    return 2 * len(sos) + 1 - int(min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum()))


flat(both, shape_along, other_axes, length_of_edge, taps_of_sections)


def from_steady(b, a, x, axis):
    """The states of a filter that its first sample keeps, and what it makes of the signal from there."""
    steady = signal.lfilter_zi(b, a)
    start = np.reshape(steady, shape_along(x, np.size(steady), axis)) * np.take(x, span(x, 0, 1, axis), axis)
    return start, signal.lfilter(b, a, x, axis, start)


def from_steady_bars(g, b, a, x, axis):
    """The cotangents of the coefficients and of the signal in a run from the states that its first sample keeps."""
    start, y = from_steady(b, a, x, axis)
    m = multiplier((g, np.zeros_like(y[1])), b, a, x, axis, start)
    bar, head = states_bar(m, a, start, axis), np.take(x, span(x, 0, 1, axis), axis)
    steady = signal.lfilter_zi(b, a)
    pulled = lfilter_zi_bars(np.sum(bar * head, other_axes(x, axis)), steady, b, a)
    to_head = np.sum(bar * np.reshape(steady, shape_along(x, np.size(steady), axis)), axis, keepdims=True)
    x_bar = input_bar(m, b, x, axis) + np.pad(to_head, margin(x, np.shape(x)[axis] - 1, axis))
    return lags(m, x, b) + pulled[0], denominator_bar(m, y, a, x, axis, start) + pulled[1], x_bar


def coefficient_bars(g, b, a, x, axis, padtype, padlen):
    """The cotangents of `b` and `a` in `signal.filtfilt(b, a, x, axis, padtype, padlen)`."""
    edge, c, d = length_of_edge(max(np.size(a), np.size(b)), padtype, padlen), np.atleast_1d(b), np.atleast_1d(a)
    x = extended(x, edge, padtype, axis)
    back = np.flip(from_steady(c, d, x, axis)[1][0], axis)
    last = from_steady_bars(np.flip(np.pad(g, both(g, edge, axis)), axis), c, d, back, axis)
    first = from_steady_bars(np.flip(last[2], axis), c, d, x, axis)
    return np.reshape(first[0] + last[0], np.shape(b)), np.reshape(first[1] + last[1], np.shape(a))


def sections_from_steady(sos, x, axis):
    """What sections make of a signal, each from the states that its own first sample keeps."""
    for k in range(np.shape(sos)[0]):
        x = from_steady(sos[k, :3], sos[k, 3:], x, axis)[1][0]
    return x


def sections_from_steady_bars(g, sos, x, axis):
    """The cotangents of the sections and of the signal in such a run."""
    bars = np.zeros_like(sos[:0])
    for k in range(np.shape(sos)[0] - 1, -1, -1):
        before = sections_from_steady(sos[:k], x, axis)
        b_bar, a_bar, g = from_steady_bars(g, sos[k, :3], sos[k, 3:], before, axis)
        bars = np.concatenate((np.reshape(np.concatenate((b_bar, a_bar)), (1, 6)), bars))
    return bars, g


def all_sections_bar(g, sos, x, axis, padtype, padlen):
    """The cotangent of `sos` in `signal.sosfiltfilt(sos, x, axis, padtype, padlen)`."""
    edge = length_of_edge(taps_of_sections(sos), padtype, padlen)
    x = extended(x, edge, padtype, axis)
    back = np.flip(sections_from_steady(sos, x, axis), axis)
    last = sections_from_steady_bars(np.flip(np.pad(g, both(g, edge, axis)), axis), sos, back, axis)
    first = sections_from_steady_bars(np.flip(last[1], axis), sos, x, axis)
    return first[0] + last[0]


@general(unfiltfilt)
def back_filtfilt(w, y, g, b, a, x, axis, padtype, padlen):
    bars = coefficient_bars(g, b, a, w, axis, padtype, padlen)
    return signal.filtfilt(b, a, w, axis, padtype, padlen), bars[0], bars[1], None, None, None, None


@general(unsosfiltfilt)
def back_sosfiltfilt(w, y, g, sos, x, axis, padtype, padlen):
    bar = all_sections_bar(g, sos, w, axis, padtype, padlen)
    return signal.sosfiltfilt(sos, w, axis, padtype, padlen), bar, None, None, None, None


@general(signal.filtfilt)
def filtfilt(g, y, b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    bars = coefficient_bars(g, b, a, x, axis, padtype, padlen)
    return bars[0], bars[1], unfiltfilt(g, b, a, x, axis, padtype, padlen)


@general(signal.sosfiltfilt)
def sosfiltfilt(g, y, sos, x, axis=-1, padtype="odd", padlen=None):
    return all_sections_bar(g, sos, x, axis, padtype, padlen), unsosfiltfilt(g, sos, x, axis, padtype, padlen)


for _rule in (filtfilt, sosfiltfilt):
    _rule.linear_in("x")
for _rule in (back_filtfilt, back_sosfiltfilt):
    _rule.linear_in("g")
filtfilt.refuse(
    lambda method: not (method.known and method.value == "pad"),
    "`signal.filtfilt` has a derivative rule for method='pad' alone: leave `method` out",
)
of_complex_numbers(
    signal.lfilter, signal.lfilter_zi, signal.sosfilt, signal.filtfilt, signal.sosfiltfilt, unfiltfilt, unsosfiltfilt
)
