"""Stencils on regular grids: Jacobi, Gauss-Seidel, heat, waves, Maxwell's equations, advection, blurring, edges."""

import numpy as np

from .case import kernel

# --- Jacobi and Gauss-Seidel sweeps ------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (3, rng.uniform(0.5, 1.5, 8), rng.uniform(0.5, 1.5, 8)),
    bench=lambda rng: (150, rng.uniform(0.5, 1.5, 4000), rng.uniform(0.5, 1.5, 4000)),
    argnums=("A", "B"),
    outputs=("A", "B"),
)
def jacobi_1d(steps, A, B):
    for _ in range(steps):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0
        A[1:-1] = (B[:-2] + B[1:-1] + B[2:]) / 3.0


@kernel(
    args=lambda rng: (2, rng.uniform(0.5, 1.5, (5, 6)), rng.uniform(0.5, 1.5, (5, 6))),
    bench=lambda rng: (30, rng.uniform(0.5, 1.5, (120, 120)), rng.uniform(0.5, 1.5, (120, 120))),
    argnums=("A", "B"),
    outputs=("A",),
)
def jacobi_2d(steps, A, B):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[:-2, 1:-1] + A[2:, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[:-2, 1:-1] + B[2:, 1:-1])


def heat_half_step(source, target, k):
    inner = source[1:-1, 1:-1, 1:-1]
    target[1:-1, 1:-1, 1:-1] = inner + k * (
        (source[2:, 1:-1, 1:-1] - 2.0 * inner + source[:-2, 1:-1, 1:-1])
        + (source[1:-1, 2:, 1:-1] - 2.0 * inner + source[1:-1, :-2, 1:-1])
        + (source[1:-1, 1:-1, 2:] - 2.0 * inner + source[1:-1, 1:-1, :-2])
    )


@kernel(
    args=lambda rng: (2, 0.125, rng.uniform(0.5, 1.5, (4, 5, 4)), rng.uniform(0.5, 1.5, (4, 5, 4))),
    bench=lambda rng: (5, 0.125, rng.uniform(0.5, 1.5, (30, 30, 30)), rng.uniform(0.5, 1.5, (30, 30, 30))),
    argnums=("k", "A", "B"),
    outputs=("A",),
)
def heat_3d(steps, k, A, B):
    for _ in range(steps):
        heat_half_step(A, B, k)
        heat_half_step(B, A, k)


@kernel(
    args=lambda rng: (2, rng.uniform(0.5, 1.5, (5, 5))),
    bench=lambda rng: (3, rng.uniform(0.5, 1.5, (30, 30))),
    argnums=("A",),
    outputs=("A",),
)
def seidel_2d(steps, A):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                    + A[i, j - 1] + A[i, j] + A[i, j + 1]
                    + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                ) / 9.0  # fmt: skip


def relax_colour(u, f, omega, i0, j0):
    """One colour of the chess board, in place."""
    mine = u[i0:-1:2, j0:-1:2]
    around = u[i0 - 1 : -2 : 2, j0:-1:2] + u[i0 + 1 :: 2, j0:-1:2] + u[i0:-1:2, j0 - 1 : -2 : 2] + u[i0:-1:2, j0 + 1 :: 2]
    mine += omega * (0.25 * (around - f[i0:-1:2, j0:-1:2]) - mine)


@kernel(
    args=lambda rng: (rng.uniform(0.5, 1.5, (5, 7)), rng.uniform(-0.5, 0.5, (5, 7)), 1.3, 2),
    bench=lambda rng: (rng.uniform(0.5, 1.5, (101, 101)), rng.uniform(-0.5, 0.5, (101, 101)), 1.3, 12),
    argnums=("start", "f", "omega"),
)
def red_black_gauss_seidel(start, f, omega, sweeps):
    u = start.copy()
    for _ in range(sweeps):
        for colour in (0, 1):
            relax_colour(u, f, omega, 1, 1 + colour)
            relax_colour(u, f, omega, 2, 2 - colour)
    residual = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1] - f[1:-1, 1:-1]
    return u, np.sum(residual**2)


@kernel(
    args=lambda rng: (rng.uniform(0.5, 1.5, (5, 5)), rng.uniform(1.0, 2.0, 5), 0.02),
    bench=lambda rng: (rng.uniform(0.5, 1.5, (40, 40)), rng.uniform(1.0, 2.0, 40), 0.002),
    argnums=("plate", "edge"),
    outputs=("plate",),
)
def plate_until_steady(plate, edge, tolerance):
    plate[0, :] = edge
    change = 1.0
    while change > tolerance:
        before = plate.copy()
        plate[1:-1, 1:-1] = 0.25 * (before[:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, :-2] + before[1:-1, 2:])
        plate[:, 0], plate[:, -1] = plate[:, 1], plate[:, -2]
        change = np.linalg.norm(plate - before) / np.linalg.norm(before)


# --- diffusion, waves, fields ------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.uniform(0.5, 1.5, 7), rng.uniform(0.2, 0.4, 7), 4),
    bench=lambda rng: (rng.uniform(0.5, 1.5, 4000), rng.uniform(0.2, 0.4, 4000), 200),
    argnums=("u0", "kappa"),
)
def heat_with_swapped_buffers(u0, kappa, steps):
    u = u0.copy()
    un = np.empty_like(u)
    for _ in range(steps):
        un[1:-1] = u[1:-1] + kappa[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        un[0], un[-1] = u[0], u[-1]
        u, un = un, u
    return u


@kernel(
    args=lambda rng: (np.sin(np.linspace(0.1, 3.0, 8)), rng.uniform(0.5, 0.9, 8), 0.3, 5),
    bench=lambda rng: (np.sin(np.linspace(0.1, 3.0, 3000)), rng.uniform(0.5, 0.9, 3000), 0.3, 300),
    argnums=("u0", "courant", "damping"),
)
def wave_with_three_buffers(u0, courant, damping, steps):
    c2 = courant**2
    past = u0.copy()
    present = np.zeros(len(u0))
    future = np.zeros(len(u0))
    present[1:-1] = past[1:-1] + 0.5 * c2[1:-1] * (past[2:] - 2.0 * past[1:-1] + past[:-2])
    for _ in range(steps):
        future[1:-1] = 2.0 * present[1:-1] - (1.0 - damping) * past[1:-1]
        future[1:-1] += c2[1:-1] * (present[2:] - 2.0 * present[1:-1] + present[:-2])
        future[1:-1] /= 1.0 + damping
        future[0] = future[-1] = 0.0
        past, present, future = present, future, past
    return present


@kernel(
    args=lambda rng: (
        3, rng.uniform(0, 1, (4, 5)), rng.uniform(0, 1, (4, 5)), rng.uniform(0, 1, (4, 5)), rng.uniform(0, 1, 3)
    ),
    bench=lambda rng: (
        60, rng.uniform(0, 1, (80, 90)), rng.uniform(0, 1, (80, 90)), rng.uniform(0, 1, (80, 90)), rng.uniform(0, 1, 60)
    ),
    argnums=("ex", "ey", "hz", "pulse"),
    outputs=("ex", "ey", "hz"),
)  # fmt: skip
def fdtd_2d(steps, ex, ey, hz, pulse):
    for t in range(steps):
        ey[0, :] = pulse[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@kernel(
    args=lambda rng: (2, rng.uniform(0.5, 1.5, (5, 5)), 0.8, 0.6),
    bench=lambda rng: (4, rng.uniform(0.5, 1.5, (50, 50)), 0.8, 0.6),
    argnums=("u", "rx", "ry"),
    outputs=("u",),
)
def adi(steps, u, rx, ry):
    n = u.shape[0]
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        # implicit along the columns
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            below = 1.0 + rx - 0.5 * rx * p[1:-1, j - 1]
            p[1:-1, j] = 0.5 * rx / below
            q[1:-1, j] = 0.5 * ry * u[j, :-2] + (1.0 - ry) * u[j, 1:-1] + 0.5 * ry * u[j, 2:]
            q[1:-1, j] += 0.5 * rx * q[1:-1, j - 1]
            q[1:-1, j] /= below
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        # implicit along the rows
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            below = 1.0 + ry - 0.5 * ry * p[1:-1, j - 1]
            p[1:-1, j] = 0.5 * ry / below
            explicit = 0.5 * rx * v[:-2, j] + (1.0 - rx) * v[1:-1, j] + 0.5 * rx * v[2:, j]
            q[1:-1, j] = (explicit + 0.5 * ry * q[1:-1, j - 1]) / below
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


# --- advection ---------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.uniform(0.5, 1.5, 8), np.array([0.7, 0.9, -0.5, -0.8, 0.6, 0.4, -0.6, 0.9]), 0.4, 4),
    bench=lambda rng: (rng.uniform(0.5, 1.5, 3000), rng.uniform(-1.0, 1.0, 3000), 0.4, 80),
    argnums=("u", "speed", "courant"),
    outputs=("u",),
)
def upwind_advection(u, speed, courant, steps):
    for _ in range(steps):
        backward = u - np.roll(u, 1)
        forward = np.roll(u, -1) - u
        u[:] = u - courant * speed * np.where(speed > 0.0, backward, forward)


@kernel(
    args=lambda rng: (np.array([0.2, 0.9, 1.4, 1.1, 0.5, 0.3, 0.6, 1.2]), 0.5, 3),
    bench=lambda rng: (rng.uniform(0.2, 1.4, 3000), 0.5, 60),
    argnums=("u", "ratio"),
)
def burgers_with_a_limiter(u, ratio, steps):
    u = np.array(u)
    slope = np.zeros_like(u)
    flux = np.zeros(u.size + 1)
    for _ in range(steps):
        left, right = u[1:-1] - u[:-2], u[2:] - u[1:-1]
        slope[1:-1] = 0.0
        same_sign = left * right > 0.0
        slope[1:-1][same_sign] = 2.0 * left[same_sign] * right[same_sign] / (left[same_sign] + right[same_sign])
        face = u[:-1] + 0.5 * (1.0 - ratio * u[:-1]) * slope[:-1]
        flux[1:-1] = 0.5 * face**2
        flux[0], flux[-1] = 0.5 * u[0] ** 2, 0.5 * u[-1] ** 2
        u -= ratio * np.diff(flux)
    return u


# --- images ------------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.uniform(0, 1, (5, 6)), rng.uniform(0.5, 1.5, (3, 3))),
    bench=lambda rng: (rng.uniform(0, 1, (250, 260)), rng.uniform(0.5, 1.5, (7, 7))),
    argnums=("image", "weights"),
)
def image_blur(image, weights):
    height, width = image.shape
    size = weights.shape[0]
    r = size // 2
    padded = np.zeros((height + 2 * r, width + 2 * r))
    padded[r : r + height, r : r + width] = image
    for k in range(r):  # repeat what is at the edges
        padded[k, :] = padded[r, :]
        padded[-1 - k, :] = padded[-1 - r, :]
    for k in range(r):
        padded[:, k] = padded[:, r]
        padded[:, -1 - k] = padded[:, -1 - r]
    out = np.zeros_like(image)
    for di in range(size):
        for dj in range(size):
            out += weights[di, dj] * padded[di : di + height, dj : dj + width]
    out /= weights.sum()
    return out


@kernel(
    args=lambda rng: (0.6, rng.uniform(0, 1, (5, 6))),
    bench=lambda rng: (0.6, rng.uniform(0, 1, (200, 180))),
    argnums=("alpha", "image"),
)
def deriche(alpha, image):
    decay = np.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - decay**2)
    a0, a1 = k, k * decay * (alpha - 1.0)
    a2, a3 = k * decay * (alpha + 1.0), -k * decay**2
    b1, b2 = 2.0 * decay, -(decay**2)
    height, width = image.shape
    smooth, forth, back = np.empty_like(image), np.empty_like(image), np.empty_like(image)

    forth[:, 0] = a0 * image[:, 0]
    forth[:, 1] = a0 * image[:, 1] + a1 * image[:, 0] + b1 * forth[:, 0]
    for j in range(2, width):
        forth[:, j] = a0 * image[:, j] + a1 * image[:, j - 1] + b1 * forth[:, j - 1] + b2 * forth[:, j - 2]
    back[:, -1] = 0.0
    back[:, -2] = a2 * image[:, -1]
    for j in range(width - 3, -1, -1):
        back[:, j] = a2 * image[:, j + 1] + a3 * image[:, j + 2] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    smooth[:] = forth + back

    forth[0] = a0 * smooth[0]
    forth[1] = a0 * smooth[1] + a1 * smooth[0] + b1 * forth[0]
    for i in range(2, height):
        forth[i] = a0 * smooth[i] + a1 * smooth[i - 1] + b1 * forth[i - 1] + b2 * forth[i - 2]
    back[-1] = 0.0
    back[-2] = a2 * smooth[-1]
    for i in range(height - 3, -1, -1):
        back[i] = a2 * smooth[i + 1] + a3 * smooth[i + 2] + b1 * back[i + 1] + b2 * back[i + 2]
    return forth + back
