"""Things that move: bodies, populations, oscillators, and the filters that follow them."""

import numpy as np

from .case import kernel

# --- bodies ------------------------------------------------------------------------------------------------------------


def get_acceleration(pos, mass, G, softening):
    dx = pos[:, 0:1].T - pos[:, 0:1]
    dy = pos[:, 1:2].T - pos[:, 1:2]
    dz = pos[:, 2:3].T - pos[:, 2:3]
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    acc = np.empty_like(pos)
    acc[:, 0] = G * (dx * inv_r3) @ mass
    acc[:, 1] = G * (dy * inv_r3) @ mass
    acc[:, 2] = G * (dz * inv_r3) @ mass
    return acc


def get_energy(pos, vel, mass, G):
    kinetic = 0.5 * np.sum(mass * np.sum(vel**2, axis=1))
    square = np.zeros((len(mass), len(mass)))
    for axis in range(3):
        square += (pos[:, axis] - pos[:, axis][:, np.newaxis]) ** 2
    apart = square > 0
    inv_r = np.zeros_like(square)
    inv_r[apart] = square[apart] ** -0.5
    potential = -G * np.sum(np.triu(np.outer(mass, mass) * inv_r, 1))
    return kinetic, potential


@kernel(
    args=lambda rng: (rng.uniform(0.5, 1.5, 4), rng.normal(size=(4, 3)), 0.3 * rng.normal(size=(4, 3)), 2, 0.1, 0.7, 0.0),
    bench=lambda rng: (rng.uniform(0.5, 1.5, 60), *(3 * rng.normal(size=(60, 3)) for _ in range(2)), 20, 0.01, 0.7, 0.1),
    argnums=("mass", "pos", "vel", "G"),
)
def nbody(mass, pos, vel, steps, dt, G, softening):
    pos, vel = pos.copy(), vel.copy()
    vel -= np.mean(mass[:, None] * vel, axis=0) / np.mean(mass)
    KE = np.ndarray(steps + 1, dtype=np.float64)
    PE = np.ndarray(steps + 1, dtype=np.float64)
    acc = get_acceleration(pos, mass, G, softening)
    KE[0], PE[0] = get_energy(pos, vel, mass, G)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc[:] = get_acceleration(pos, mass, G, softening)
        vel += acc * dt / 2.0
        KE[i + 1], PE[i + 1] = get_energy(pos, vel, mass, G)
    return KE, PE


def spring_forces(x, k, cubic, out):
    """Forces in a chain with fixed ends, into out."""
    stretch = np.zeros(len(x) + 1)
    stretch[:-1] = x
    stretch[1:] -= x
    tension = k * stretch + cubic * stretch**3
    out[:] = tension[1:] - tension[:-1]


@kernel(
    args=lambda rng: (rng.normal(size=6), np.zeros(6), 1.2, 0.3, 0.1, 4),
    bench=lambda rng: (rng.normal(size=2000), np.zeros(2000), 1.2, 0.3, 0.1, 100),
    argnums=("x", "v", "k", "cubic"),
    outputs=("x", "v"),
)
def leapfrog_chain(x, v, k, cubic, dt, steps):
    force = np.empty_like(x)
    spring_forces(x, k, cubic, force)
    for _ in range(steps):
        v += 0.5 * dt * force
        x += dt * v
        spring_forces(x, k, cubic, force)
        v += 0.5 * dt * force


@kernel(
    args=lambda rng: (np.array([0.0, 0.6, 0.8, 1.0]), np.array([1.0, 0.8, 0.9, 0.9]), 0.3, 0.05, 0.7, 3),
    bench=lambda rng: (np.linspace(0, 3, 40), np.ones(40), 0.05, 0.01, 0.7, 25),
    argnums=("x", "y", "gravity"),
)
def hanging_rope(x, y, rest, dt, gravity, steps):
    """Position-based: the points fall, then each link is pulled back to its length, one after the other."""
    x, y = np.copy(x), np.copy(y)
    old = np.empty((2, len(x)))
    vx, vy = np.zeros_like(x), np.zeros_like(y)
    for _ in range(steps):
        old[0], old[1] = x, y
        vy[1:] -= dt * gravity
        x[1:] += dt * vx[1:]
        y[1:] += dt * vy[1:]
        for i in range(len(x) - 1):
            dx, dy = x[i + 1] - x[i], y[i + 1] - y[i]
            pull = (np.hypot(dx, dy) - rest) / np.hypot(dx, dy)
            if i == 0:
                x[1], y[1] = x[1] - pull * dx, y[1] - pull * dy
            else:
                x[i], x[i + 1] = x[i] + 0.5 * pull * dx, x[i + 1] - 0.5 * pull * dx
                y[i], y[i + 1] = y[i] + 0.5 * pull * dy, y[i + 1] - 0.5 * pull * dy
        vx[:] = (x - old[0]) / dt
        vy[:] = (y - old[1]) / dt
    return x, y


# --- populations and oscillators ---------------------------------------------------------------------------------------


def lotka_volterra(state, a, b, c, d, out):
    out[0] = a * state[0] - b * state[0] * state[1]
    out[1] = d * state[0] * state[1] - c * state[1]


@kernel(
    args=lambda rng: (np.array([1.2, 0.8]), 1.1, 0.6, 0.9, 0.5, 0.1, 5),
    bench=lambda rng: (np.array([1.2, 0.8]), 1.1, 0.6, 0.9, 0.5, 0.01, 300),
    argnums=("start", "a", "b", "c", "d"),
)
def lotka_volterra_by_runge_kutta(start, a, b, c, d, dt, steps):
    trajectory = np.zeros((steps + 1, 2))
    k = np.zeros((4, 2))
    trajectory[0] = start
    for n in range(steps):
        now = trajectory[n]
        lotka_volterra(now, a, b, c, d, k[0])
        lotka_volterra(now + 0.5 * dt * k[0], a, b, c, d, k[1])
        lotka_volterra(now + 0.5 * dt * k[1], a, b, c, d, k[2])
        lotka_volterra(now + dt * k[2], a, b, c, d, k[3])
        trajectory[n + 1] = now + dt / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3])
    return trajectory


@kernel(
    args=lambda rng: (0.6, 0.2, np.array([900.0, 80.0, 20.0]) / 1000.0, np.array([0.5, 0.3]), 6),
    bench=lambda rng: (0.3, 0.1, np.array([990.0, 8.0, 2.0]) / 1000.0, np.array([0.5, 0.3]), 2000),
    argnums=("infection", "recovery", "start", "lockdown"),
)
def epidemic(infection, recovery, start, lockdown, days):
    S, I, R = np.zeros(days + 1), np.zeros(days + 1), np.zeros(days + 1)  # noqa: E741
    S[0], I[0], R[0] = start
    for t in range(days):
        rate = infection
        if t >= days // 2:
            rate *= lockdown[0] if t % 2 else lockdown[1]
        ill = rate * S[t] * I[t]
        well = recovery * I[t]
        S[t + 1] = S[t] - ill
        I[t + 1] = I[t] + ill - well
        R[t + 1] = R[t] + well
    return np.stack((S, I, R))


@kernel(
    args=lambda rng: (rng.uniform(-2, 2, 5), rng.uniform(0.5, 1.5, (5, 5)), rng.uniform(-0.5, 0.5, 5), 0.1, 4),
    bench=lambda rng: (rng.uniform(-3, 3, 100), rng.uniform(0.5, 1.5, (100, 100)), rng.uniform(-0.5, 0.5, 100), 0.05, 20),
    argnums=("phase", "coupling", "own"),
)
def coupled_oscillators(phase, coupling, own, dt, steps):
    n = phase.size
    theta = np.empty((steps + 1, n))
    order = np.zeros(steps)
    theta[0, :] = phase
    for t in range(steps):
        theta[t + 1, :] = theta[t, :] + dt * own
        for i in range(n):
            theta[t + 1, i] += dt / n * np.sum(coupling[i] * np.sin(theta[t] - theta[t, i]))
        order[t] = np.mean(np.cos(theta[t + 1])) ** 2 + np.mean(np.sin(theta[t + 1])) ** 2
    return theta[-1], order


# --- filters -----------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (
        rng.normal(size=(4, 2)), np.array([[1.0, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.8]]), rng.normal(size=(2, 3)),
        np.diag([0.1, 0.2, 0.1]), np.diag([0.3, 0.4]), rng.normal(size=3),
    ),
    bench=lambda rng: (
        rng.normal(size=(150, 4)), 0.9 * np.eye(8) + 0.05 * rng.normal(size=(8, 8)), rng.normal(size=(4, 8)),
        0.1 * np.eye(8), 0.3 * np.eye(4), rng.normal(size=8),
    ),
    argnums=("ys", "F", "H", "Q", "R", "x0"),
)  # fmt: skip
def kalman_filter(ys, F, H, Q, R, x0):
    steps, n = len(ys), len(x0)
    xs = np.zeros((steps, n))
    Ps = np.zeros((steps, n, n))
    surprise = 0.0
    x, P = x0, np.eye(n)
    for t in range(steps):
        x = F @ x
        P = F @ P @ F.T + Q
        innovation = ys[t] - H @ x
        S = H @ P @ H.T + R
        gain = np.linalg.solve(S, H @ P).T
        xs[t] = x + gain @ innovation
        Ps[t] = P - gain @ H @ P
        surprise += 0.5 * innovation @ np.linalg.solve(S, innovation) + 0.5 * np.log(np.linalg.det(S))
        x, P = xs[t], Ps[t]
    return xs, Ps, surprise
