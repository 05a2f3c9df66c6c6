"""Fluids: cavity and channel flow, shallow water, Burgers' equation in the plane, a lattice Boltzmann method."""

import numpy as np

from .case import kernel

# --- the incompressible equations in a box and in a periodic channel ---------------------------------------------------


def divergence_source(b, rho, dt, u, v, dx, dy):
    """The right-hand side of the pressure equation, into b."""
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dy)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * dx)
    b[1:-1, 1:-1] = rho * ((ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2)


def pressure_sweeps(sweeps, p, dx, dy, b):
    """Jacobi sweeps for the pressure with closed walls, in place."""
    pn = np.empty_like(p)
    scale = 2.0 * (dx**2 + dy**2)
    for _ in range(sweeps):
        pn[:] = p
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2
        ) / scale - dx**2 * dy**2 / scale * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def box(rng, shape, *scalars):
    """Three fields and then the scalars."""
    return (*(rng.uniform(-0.1, 0.1, shape) for _ in range(3)), *scalars)


@kernel(
    args=lambda rng: (2, 2, *box(rng, (5, 5), 1.0, 0.05, 0.01, 1.2, 0.1, 1.0)),
    bench=lambda rng: (10, 15, *box(rng, (41, 41), 0.05, 0.05, 0.001, 1.0, 0.1, 1.0)),
    argnums=("u", "v", "p", "rho", "nu", "lid"),
    outputs=("u", "v", "p"),
)
def cavity_flow(steps, sweeps, u, v, p, dx, dy, dt, rho, nu, lid):
    b = np.zeros_like(u)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        divergence_source(b, rho, dt, u, v, dx, dy)
        pressure_sweeps(sweeps, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2.0 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2.0 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2.0 * un[1:-1, 1:-1] + un[:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2.0 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2.0 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2.0 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0, :] = u[:, 0] = u[:, -1] = 0.0
        u[-1, :] = lid
        v[0, :] = v[-1, :] = 0.0
        v[:, 0] = v[:, -1] = 0.0


def neighbours_in_x(a):
    """The left and the right neighbour in a channel that is periodic along x."""
    left, right = np.empty_like(a), np.empty_like(a)
    left[:, 1:] = a[:, :-1]
    left[:, 0] = a[:, -1]
    right[:, :-1] = a[:, 1:]
    right[:, -1] = a[:, 0]
    return left, right


@kernel(
    args=lambda rng: (2, *box(rng, (5, 4), 0.4, 0.5, 0.05, 1.1, 0.2, 1.0, 0.3)),
    bench=lambda rng: (10, *box(rng, (41, 41), 0.1, 0.1, 0.005, 1.0, 0.1, 1.0, 0.05)),
    argnums=("u", "v", "p", "rho", "nu", "force"),
    outputs=("u", "v", "p"),
)
def channel_flow(sweeps, u, v, p, dx, dy, dt, rho, nu, force, steady):
    b = np.zeros_like(u)
    change = 1.0
    count = 0
    while change > steady and count < 20:
        un, vn = u.copy(), v.copy()
        west, east = neighbours_in_x(un)
        vwest, veast = neighbours_in_x(vn)
        ux, vy = (east - west)[1:-1] / (2.0 * dx), (vn[2:] - vn[:-2]) / (2.0 * dy)
        cross = (un[2:] - un[:-2]) / (2.0 * dy) * (veast - vwest)[1:-1] / (2.0 * dx)
        b[1:-1] = rho * ((ux + vy) / dt - ux**2 - 2.0 * cross - vy**2)
        for _ in range(sweeps):
            pn = p.copy()
            pwest, peast = neighbours_in_x(pn)
            p[1:-1] = (peast + pwest)[1:-1] * dy**2 + (pn[2:] + pn[:-2]) * dx**2 - b[1:-1] * dx**2 * dy**2
            p[1:-1] /= 2.0 * (dx**2 + dy**2)
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        pwest, peast = neighbours_in_x(p)
        mid, vmid = un[1:-1], vn[1:-1]
        u[1:-1] -= mid * dt / dx * (mid - west[1:-1]) + vmid * dt / dy * (mid - un[:-2])
        u[1:-1] -= dt / (2.0 * rho * dx) * (peast - pwest)[1:-1]
        u[1:-1] += nu * dt * ((east + west)[1:-1] - 2.0 * mid) / dx**2
        u[1:-1] += nu * dt * (un[2:] - 2.0 * mid + un[:-2]) / dy**2 + force * dt
        v[1:-1] -= mid * dt / dx * (vmid - vwest[1:-1]) + vmid * dt / dy * (vmid - vn[:-2])
        v[1:-1] -= dt / (2.0 * rho * dy) * (p[2:] - p[:-2])
        v[1:-1] += nu * dt * ((veast + vwest)[1:-1] - 2.0 * vmid) / dx**2
        v[1:-1] += nu * dt * (vn[2:] - 2.0 * vmid + vn[:-2]) / dy**2
        u[0, :], u[-1, :] = 0.0, 0.0
        v[0, :], v[-1, :] = 0.0, 0.0
        change = np.abs(np.sum(u) - np.sum(un)) / np.sum(np.abs(u))
        count += 1


# --- hyperbolic systems ------------------------------------------------------------------------------------------------


def shallow_fluxes(q, flux, g):
    """Mass and momentum through each cell of (height, momentum), into flux."""
    h, m = q
    flux[0] = m
    flux[1] = m**2 / h + 0.5 * g * h**2


@kernel(
    args=lambda rng: (rng.uniform(1.0, 1.5, 7), rng.uniform(-0.3, 0.3, 7), 2.0, 0.1, 4),
    bench=lambda rng: (rng.uniform(1.0, 1.5, 2000), rng.uniform(-0.3, 0.3, 2000), 2.0, 0.1, 80),
    argnums=("h0", "m0", "g"),
)
def shallow_water(h0, m0, g, ratio, steps):
    q = np.stack([h0, m0])
    flux = np.zeros_like(q)
    q_next = np.zeros_like(q)
    mass = np.zeros(steps)
    for n in range(steps):
        shallow_fluxes(q, flux, g)
        q_next[:, 1:-1] = 0.5 * (q[:, :-2] + q[:, 2:]) - 0.5 * ratio * (flux[:, 2:] - flux[:, :-2])
        for edge, inside in ((0, 1), (-1, -2)):  # walls
            q_next[0, edge] = q_next[0, inside]
            q_next[1, edge] = -q_next[1, inside]
        q, q_next = q_next, q
        mass[n] = q[0].sum()
    return q, mass


@kernel(
    args=lambda rng: (rng.uniform(0.5, 1.0, (5, 5)), rng.uniform(0.5, 1.0, (5, 5)), 0.05, 0.1, 3),
    bench=lambda rng: (rng.uniform(0.5, 1.0, (60, 60)), rng.uniform(0.5, 1.0, (60, 60)), 0.05, 0.1, 30),
    argnums=("u", "v", "nu"),
    outputs=("u", "v"),
)
def burgers_in_the_plane(u, v, nu, dt, steps):
    un = np.zeros(u.shape)
    vn = np.zeros(v.shape)
    inner = (slice(1, -1), slice(1, -1))
    for _ in range(steps):
        un[...] = u
        vn[...] = v
        for new, old in ((u, un), (v, vn)):
            new[inner] -= dt * un[inner] * (old[inner] - old[1:-1, :-2])
            new[inner] -= dt * vn[inner] * (old[inner] - old[:-2, 1:-1])
            new[inner] += nu * dt * (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1] - 4.0 * old[inner])


# --- a lattice Boltzmann method ----------------------------------------------------------------------------------------

DIRECTIONS = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
SHARES = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36])


def obstacle(shape):
    wall = np.zeros(shape, dtype=bool)
    wall[shape[0] // 2, 1:3] = True
    return wall


@kernel(
    args=lambda rng: (SHARES[:, None, None] * rng.uniform(0.8, 1.2, (9, 4, 5)), obstacle((4, 5)), 1.2, 2),
    bench=lambda rng: (SHARES[:, None, None] * rng.uniform(0.8, 1.2, (9, 50, 60)), obstacle((50, 60)), 1.2, 8),
    argnums=("f", "omega"),
)
def lattice_boltzmann(f, wall, omega, steps):
    f = f.copy()
    equilibrium = np.empty_like(f)
    for _ in range(steps):
        for k in range(9):  # streaming
            f[k] = np.roll(f[k], (DIRECTIONS[k, 0], DIRECTIONS[k, 1]), axis=(0, 1))
        bounced = f[:, wall][OPPOSITE]
        density = f.sum(axis=0)
        ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / density
        uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / density
        for k in range(9):
            along = DIRECTIONS[k, 0] * ux + DIRECTIONS[k, 1] * uy
            equilibrium[k] = SHARES[k] * density * (1.0 + 3.0 * along + 4.5 * along**2 - 1.5 * (ux**2 + uy**2))
        f += omega * (equilibrium - f)
        f[:, wall] = bounced
    kinetic = 0.5 * density * (ux**2 + uy**2)
    kinetic[wall] = 0.0
    return f, kinetic
