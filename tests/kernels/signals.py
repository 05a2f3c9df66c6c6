"""Series, histograms and sums over many indices: filters, running products, masks, self-energies, volatility."""

import numpy as np

from .case import kernel

# --- histograms --------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.normal(size=20), np.linspace(0.02, 0.98, 20) ** 1.5, 4),
    bench=lambda rng: (rng.normal(size=40000), rng.uniform(0.0, 1.0, 40000), 60),
    argnums=("data",),
)
def azimuthal_integral_with_masks(data, radius, bins):
    edge = radius.max()
    result = np.zeros(bins)
    for i in range(bins):
        inner, outer = edge * i / bins, edge * (i + 1) / bins
        mask = np.logical_and(inner <= radius, radius < outer)
        result[i] = data[mask].mean()
    return result


@kernel(
    args=lambda rng: (rng.normal(size=12), rng.permutation(np.repeat(np.arange(4), 3)), 5),
    bench=lambda rng: (rng.normal(size=8000), rng.integers(0, 90, 8000), 100),
    argnums=("data",),
)
def histogram_by_element(data, place, bins):
    total, squares = np.zeros(bins), np.zeros(bins)
    count = np.zeros(bins, dtype=np.int64)
    for value, k in zip(data, place):  # noqa: B905
        total[k] += value
        squares[k] += value * value
        count[k] += 1
    filled = count > 0
    total[filled] /= count[filled]
    squares[filled] = squares[filled] / count[filled] - total[filled] ** 2
    return total, squares


@kernel(
    args=lambda rng: (rng.uniform(0.0, 5.0, 6) + 0.01, rng.uniform(0.5, 1.5, 6), 6),
    bench=lambda rng: (rng.uniform(0.0, 500.0, 100000), rng.uniform(0.5, 1.5, 100000), 502),
    argnums=("position", "charge"),
)
def charge_on_a_grid(position, charge, cells):
    """Particles give their charge to the two nearest nodes; then its potential."""
    left = np.floor(position).astype(int)
    share = position - left
    rho = np.zeros(cells + 1)
    np.add.at(rho, left, charge * (1.0 - share))
    np.add.at(rho, left + 1, charge * share)
    rho -= rho.mean()
    field = np.zeros(cells + 1)
    for i in range(1, cells + 1):
        field[i] = field[i - 1] + 0.5 * (rho[i] + rho[i - 1])
    return rho, field


# --- running sums and products -----------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.normal(size=7), 0.3),
    bench=lambda rng: (rng.normal(size=4000), 0.03),
    argnums=("x", "alpha"),
)
def exponential_moving_average(x, alpha):
    mean, var = np.empty_like(x), np.empty_like(x)
    mean[0], var[0] = x[0], 0.0
    for i in range(1, len(x)):
        step = alpha * (x[i] - mean[i - 1])
        mean[i] = mean[i - 1] + step
        var[i] = (1.0 - alpha) * (var[i - 1] + step * (x[i] - mean[i - 1]))
    return mean, var


@kernel(
    args=lambda rng: (rng.uniform(0.8, 1.2, (3, 5)),),
    bench=lambda rng: (rng.uniform(0.95, 1.05, (50, 200)),),
    argnums=("factors",),
)
def products_of_the_others(factors):
    """For each number the product of all others in its row, without a division."""
    rows, n = factors.shape
    out = np.ones((rows, n))
    for r in range(rows):
        running = 1.0
        for j in range(n):
            out[r, j] *= running
            running *= factors[r, j]
        running = 1.0
        for j in range(n - 1, -1, -1):
            out[r, j] *= running
            running *= factors[r, j]
    return out


@kernel(
    args=lambda rng: (rng.normal(size=9), 3),
    bench=lambda rng: (rng.normal(size=200000), 50),
    argnums=("x",),
)
def rolling_mean_and_variance(x, width):
    n = x.size - width + 1
    sums = np.zeros(x.size + 1)
    squares = np.zeros(x.size + 1)
    sums[1:] = np.cumsum(x)
    squares[1:] = np.cumsum(x**2)
    out = np.empty((2, n))
    mean, var = out
    mean[:] = (sums[width:] - sums[:-width]) / width
    var[:] = (squares[width:] - squares[:-width]) / width - mean**2
    return out


# --- filters and series ------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.normal(size=7), np.array([[0.4, 0.2, 0.1, -0.5, 0.2], [0.7, -0.1, 0.2, 0.3, -0.1]])),
    bench=lambda rng: (rng.normal(size=1500), np.array([[0.4, 0.2, 0.1, -0.5, 0.2], [0.7, -0.1, 0.2, 0.3, -0.1]] * 2)),
    argnums=("signal", "sections"),
    outputs=("signal",),
)
def biquad_cascade(signal, sections):
    for b0, b1, b2, a1, a2 in sections:
        z1 = z2 = 0.0
        for n in range(signal.shape[0]):
            x = signal[n]
            signal[n] = b0 * x + z1
            z1 = b1 * x - a1 * signal[n] + z2
            z2 = b2 * x - a2 * signal[n]


@kernel(
    args=lambda rng: (0.1, 0.15, 0.7, rng.normal(size=8)),
    bench=lambda rng: (0.1, 0.15, 0.7, rng.normal(size=4000)),
    argnums=("omega", "alpha", "beta", "returns"),
)
def volatility_likelihood(omega, alpha, beta, returns):
    sigma2 = np.zeros(len(returns))
    sigma2[0] = np.var(returns)
    for t in range(1, len(returns)):
        sigma2[t] = omega + alpha * returns[t - 1] ** 2 + beta * sigma2[t - 1]
    return 0.5 * np.sum(np.log(sigma2) + returns**2 / sigma2)


@kernel(
    args=lambda rng: (rng.normal(size=8), rng.uniform(-0.5, 0.5, 3), 0.2),
    bench=lambda rng: (rng.normal(size=2000), rng.uniform(-0.05, 0.05, 16), 0.02),
    argnums=("x", "taps", "rate"),
    outputs=("taps",),
)
def adaptive_filter(x, taps, rate):
    """Learns to predict the next sample; a ring of the latest ones, newest first."""
    recent = np.zeros(len(taps))
    errors = np.zeros(len(x))
    for n in range(len(x) - 1):
        recent[1:] = recent[:-1]
        recent[0] = x[n]
        errors[n] = x[n + 1] - taps @ recent
        taps += rate * errors[n] * recent
    return errors


@kernel(
    args=lambda rng: (rng.uniform(0.5, 2.5, (3, 4)), rng.uniform(0.5, 1.5, (3, 4)), 0.8, 1.7),
    bench=lambda rng: (rng.uniform(0.5, 2.5, (500, 400)), rng.uniform(0.5, 1.5, (500, 400)), 0.8, 1.7),
    argnums=("x", "y", "low", "high"),
    outputs=("x",),
)
def clip_and_fold(x, y, low, high):
    y[y > 1.3] -= 0.5
    x[x < low] = low
    x[x > high] = 2.0 * high - x[x > high]
    x *= y
    x[:, ::2] += x[:, 1::2]
    x[::-1, 1] += 0.1 * x[:, 0]


# --- sums over many indices --------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (
        np.array([[1, 2, 0], [2, 0, 1]]), rng.normal(size=(2, 3, 3, 2, 2)), rng.normal(size=(3, 2, 2)),
        rng.normal(size=(2, 2, 3)),
    ),
    bench=lambda rng: (
        rng.integers(0, 6, (3, 6)), rng.normal(size=(3, 6, 6, 5, 5)), rng.normal(size=(6, 5, 5)), rng.normal(size=(3, 4, 6))
    ),
    argnums=("G", "dH", "D"),
)  # fmt: skip
def self_energies(neighbours, G, dH, D):
    """Electrons that scatter at lattice vibrations: momenta k and q, energies e and w, atoms a and b."""
    nk, ne, na = G.shape[0], G.shape[1], G.shape[2]
    nq, nw = D.shape[0], D.shape[1]
    Sigma = np.zeros_like(G)
    for k in range(nk):
        for e in range(ne):
            for q in range(nq):
                for w in range(min(nw, e + 1)):
                    for a in range(na):
                        b = neighbours[q, a]
                        dHG = G[k - q, e - w, b] @ dH[a]
                        dHD = dH[b] * D[q, w, a]
                        Sigma[k, e, a] += dHG @ dHD
    return Sigma


@kernel(
    args=lambda rng: (rng.uniform(0.5, 1.5, (4, 3)), 0.8, 1.1),
    bench=lambda rng: (rng.uniform(0.5, 3.0, (40, 3)), 0.8, 0.2),
    argnums=("x", "sigma", "epsilon"),
)
def pair_forces(x, sigma, epsilon):
    n = x.shape[0]
    forces = np.zeros_like(x)
    energy = 0.0
    for i in range(n):
        for j in range(i):
            apart = x[i] - x[j]
            r2 = apart @ apart + 0.5
            s6 = (sigma**2 / r2) ** 3
            energy += 4.0 * epsilon * (s6 * s6 - s6)
            push = 24.0 * epsilon * (2.0 * s6 * s6 - s6) / r2 * apart
            forces[i] += push
            forces[j] -= push
    return energy, forces
