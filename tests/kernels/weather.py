"""Columns and fields of weather models: diffusion with a limiter, implicit vertical advection, falling rain, pressure."""

import numpy as np

from .case import kernel


def bent(rng, ni, nj, nk):
    """A field whose first and third differences keep away from zero, so that the limiter does not jump."""
    i, j, k = np.ogrid[: float(ni), : float(nj), :nk]
    i, j = i - ni // 2, j - nj // 2
    return i + j + np.where(k % 2 == 0, 0.01, -0.01) * (i**3 + j**3) + rng.uniform(0.0, 0.001, (ni, nj, nk))


@kernel(
    args=lambda rng: (rng.uniform(0, 1, (7, 8, 2)), np.zeros((3, 4, 2)), rng.uniform(0.1, 0.5, (3, 4, 2))),
    bench=lambda rng: (bent(rng, 68, 68, 40), np.zeros((64, 64, 40)), rng.uniform(0.1, 0.5, (64, 64, 40))),
    argnums=("field", "coeff"),
    outputs=("out",),
)
def hdiff(field, out, coeff):
    ni, nj = out.shape[0], out.shape[1]
    lap = 4.0 * field[1 : ni + 3, 1 : nj + 3, :] - (
        field[2 : ni + 4, 1 : nj + 3, :] + field[:ni + 2, 1 : nj + 3, :]
        + field[1 : ni + 3, 2 : nj + 4, :] + field[1 : ni + 3, :nj + 2, :]
    )  # fmt: skip
    step = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
    along_i = np.where(step * (field[2 : ni + 3, 2 : nj + 2, :] - field[1 : ni + 2, 2 : nj + 2, :]) > 0.0, 0.0, step)
    step = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
    along_j = np.where(step * (field[2 : ni + 2, 2 : nj + 3, :] - field[2 : ni + 2, 1 : nj + 2, :]) > 0.0, 0.0, step)
    out[:, :, :] = field[2 : ni + 2, 2 : nj + 2, :] - coeff * (
        along_i[1:, :, :] - along_i[:-1, :, :] + along_j[:, 1:, :] - along_j[:, :-1, :]
    )


IMPLICIT = 0.4  # how much of the new time level is taken
EXPLICIT = 1.0 - IMPLICIT


def columns(rng, ni, nj, nk):
    return (
        rng.uniform(-0.1, 0.1, (ni, nj, nk)),
        rng.uniform(0.5, 1.5, (ni, nj, nk)),
        rng.uniform(-0.5, 0.5, (ni + 1, nj, nk)),
        rng.uniform(0.5, 1.5, (ni, nj, nk)),
        rng.uniform(-0.1, 0.1, (ni, nj, nk)),
        3.0,
    )


@kernel(
    args=lambda rng: columns(rng, 2, 3, 5),
    bench=lambda rng: columns(rng, 60, 60, 40),
    argnums=("tendency", "u_stage", "wind", "u", "forcing", "rate"),
    outputs=("tendency",),
)
def vadv(tendency, u_stage, wind, u, forcing, rate):
    ni, nj, nk = tendency.shape
    c = np.ndarray((ni, nj, nk), dtype=u.dtype)
    d = np.ndarray((ni, nj, nk), dtype=u.dtype)
    solved = np.ndarray((ni, nj), dtype=u.dtype)

    for k in range(nk):
        below = above = 0.0
        change = np.zeros((ni, nj))
        diagonal = np.full((ni, nj), rate)
        if k > 0:
            g = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
            below = g * IMPLICIT
            diagonal -= below
            change -= g * EXPLICIT * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        if k < nk - 1:
            g = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
            above = g * IMPLICIT
            diagonal -= above
            change -= g * EXPLICIT * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        c[:, :, k] = above
        d[:, :, k] = rate * u[:, :, k] + forcing[:, :, k] + tendency[:, :, k] + change
        if k == 0:
            divided = 1.0 / diagonal
        else:
            divided = 1.0 / (diagonal - c[:, :, k - 1] * below)
            d[:, :, k] -= d[:, :, k - 1] * below
        c[:, :, k] *= divided
        d[:, :, k] *= divided

    for k in range(nk - 1, -1, -1):
        if k == nk - 1:
            solved[:] = d[:, :, k]
        else:
            solved[:] = d[:, :, k] - c[:, :, k] * solved
        tendency[:, :, k] = rate * (solved - u[:, :, k])


@kernel(
    args=lambda rng: (rng.uniform(0.2, 1.0, (3, 5)), rng.uniform(0.1, 0.3, 5), np.zeros(3), 0.2, 2),
    bench=lambda rng: (rng.uniform(0.2, 1.0, (400, 40)), rng.uniform(0.1, 0.3, 40), np.zeros(400), 0.2, 5),
    argnums=("rain", "thickness", "threshold"),
    outputs=("rain", "ground"),
)
def sedimentation(rain, thickness, ground, threshold, steps):
    """Rain falls from layer to layer, faster where there is much of it; what leaves the lowest one is collected."""
    nk = rain.shape[1]
    for _ in range(steps):
        inflow = np.zeros(rain.shape[0])
        for k in range(nk):
            heavy = rain[:, k] > 0.55
            speed = np.full(rain.shape[0], 0.05)
            speed[heavy] = 0.05 + (rain[heavy, k] - threshold) ** 2
            outflow = speed * rain[:, k]
            rain[:, k] += (inflow - outflow) * 0.05 / thickness[k]
            inflow = outflow
        ground += inflow


@kernel(
    args=lambda rng: (rng.uniform(270.0, 300.0, (3, 6)), rng.uniform(0.0, 0.02, (3, 6)), np.full(3, 1.0), 0.25),
    bench=lambda rng: (rng.uniform(270.0, 300.0, (1500, 60)), rng.uniform(0.0, 0.02, (1500, 60)), np.full(1500, 1.0), 0.02),
    argnums=("temperature", "humidity", "surface"),
)
def hydrostatic_pressure(temperature, humidity, surface, dz):
    """Pressure at the interfaces of layers, from the ground up, and the weight of the water above each."""
    columns, nk = temperature.shape
    p = np.empty((columns, nk + 1))
    water = np.zeros((columns, nk + 1))
    p[:, 0] = surface
    for k in range(nk):
        virtual = temperature[:, k] * (1.0 + 0.61 * humidity[:, k])
        p[:, k + 1] = p[:, k] * np.exp(-34.2 * dz / virtual)
    for k in reversed(range(nk)):
        water[:, k] = water[:, k + 1] + humidity[:, k] * (p[:, k] - p[:, k + 1])
    return p, water


@kernel(
    args=lambda rng: (rng.uniform(0.6, 1.4, (4, 5)), rng.uniform(0.0, 1.2, (4, 5)), 0.4, 3),
    bench=lambda rng: (rng.uniform(0.6, 1.4, (200, 200)), rng.uniform(0.0, 1.2, (200, 200)), 0.4, 10),
    argnums=("heat", "vapour", "latent"),
    outputs=("heat", "vapour"),
)
def condensation(heat, vapour, latent, iterations):
    """Newton's method for saturation, only where the air is supersaturated."""
    wet = vapour > np.exp(heat - 1.5)
    t, q = heat[wet], vapour[wet]
    total = t + latent * q
    for _ in range(iterations):
        saturated = np.exp(t - 1.5)
        t -= (t + latent * saturated - total) / (1.0 + latent * saturated)
    heat[wet] = t
    vapour[wet] = (total - t) / latent
    vapour[~wet] *= 0.99
