"""More kernels in other words: networks, dynamics, tables and series."""

import numpy as np

from .case import variant

# --- networks ----------------------------------------------------------------------------------------------------------


@variant("conv2d_bias")
def conv2d_bias_by_taps(image, weights, bias):
    size = weights.shape[0]
    height, width = image.shape[1] - size + 1, image.shape[2] - size + 1
    out = np.zeros((image.shape[0], height, width, weights.shape[3]))
    out += bias
    for dj in range(size):
        for di in range(size):
            out += image[:, di : di + height, dj : dj + width, :] @ weights[di, dj]
    return out


@variant("lstm")
def lstm_with_one_state(xs, W, U, bias, h0, c0):
    n = len(h0)
    inputs = np.empty((len(xs), 4 * n))
    inputs[:] = bias
    inputs += xs @ W.T
    hs = np.zeros((len(xs), n))
    h, c = h0.copy(), c0.copy()
    for t in range(len(xs)):
        z = inputs[t]
        z += U @ h
        c *= 1.0 / (1.0 + np.exp(-z[n : 2 * n]))
        c += np.tanh(z[3 * n :]) / (1.0 + np.exp(-z[:n]))
        h[:] = np.tanh(c)
        h /= 1.0 + np.exp(-z[2 * n : 3 * n])
        hs[t] = h
    return hs, c


@variant("causal_attention")
def causal_attention_row_by_row(x, Wq, Wk, Wv, heads):
    length, width = x.shape
    size = width // heads
    out = np.zeros_like(x)
    k, v = np.zeros((length, width)), np.zeros((length, width))
    for t in range(length):
        v[t], k[t] = x[t] @ Wv, x[t] @ Wk
        q = x[t] @ Wq
        for start in range(0, width, size):
            scores = k[: t + 1, start : start + size] @ q[start : start + size]
            scores /= np.sqrt(size)
            scores -= np.max(scores)
            weights = np.exp(scores)
            for past in range(t + 1):
                out[t, start : start + size] += weights[past] * v[past, start : start + size]
            out[t, start : start + size] /= np.sum(weights)
    return out


@variant("adam")
def adam_in_one_table(w, X, y, rate, steps):
    table = np.zeros((3, len(w)))
    weights, first, second = table
    weights[:] = w
    losses = np.empty(steps)
    for t in range(steps):
        error = X @ weights
        error -= y
        slope = error @ X
        slope /= len(y)
        second[:] = 0.95 * second + 0.05 * slope * slope
        first[:] = 0.9 * first + 0.1 * slope
        losses[t] = 0.5 * np.mean(error**2)
        weights -= rate * first / (1.0 - 0.9 ** (t + 1)) / (np.sqrt(second / (1.0 - 0.95 ** (t + 1))) + 1e-3)
    return weights, losses


# --- dynamics ----------------------------------------------------------------------------------------------------------


def pull_of_pairs(pos, mass, G, softening, acc):
    acc.fill(0.0)
    for i in range(len(mass)):
        for j in range(i + 1, len(mass)):
            apart = pos[j] - pos[i]
            pull = G * (apart @ apart + softening**2) ** -1.5 * apart
            acc[i] += mass[j] * pull
            acc[j] -= mass[i] * pull


@variant("nbody")
def nbody_pair_by_pair(mass, pos, vel, steps, dt, G, softening):
    n = len(mass)
    state = np.zeros((2, n, 3))
    x, v = state[0], state[1]
    x[:], v[:] = pos, vel
    v -= mass @ vel / np.sum(mass)
    KE, PE = np.zeros(steps + 1), np.zeros(steps + 1)
    acc = np.empty((n, 3))
    pull_of_pairs(x, mass, G, softening, acc)
    for t in range(steps + 1):
        if t > 0:
            v += 0.5 * dt * acc
            x += dt * v
            pull_of_pairs(x, mass, G, softening, acc)
            v += 0.5 * dt * acc
        for i in range(n):
            KE[t] += 0.5 * mass[i] * (v[i] @ v[i])
            for j in range(i):
                PE[t] -= G * mass[i] * mass[j] / np.sqrt(np.sum((x[i] - x[j]) ** 2))
    return KE, PE


@variant("leapfrog_chain")
def leapfrog_chain_with_ghosts(x, v, k, cubic, dt, steps):
    n = len(x)
    wide = np.zeros(n + 2)
    wide[1:-1] = x
    for half in range(2 * steps):
        if half % 2 == 1:
            wide[1 : n + 1] += dt * v
        for i in range(n):
            right = wide[i + 2] - wide[i + 1]
            left = wide[i + 1] - wide[i]
            v[i] += 0.5 * dt * (k * right + cubic * right**3)
            v[i] -= 0.5 * dt * (k * left + cubic * left**3)
    x[:] = wide[1:-1]


@variant("lotka_volterra_by_runge_kutta")
def lotka_volterra_with_a_running_sum(start, a, b, c, d, dt, steps):
    out = np.empty((steps + 1, 2))
    out[0, :] = start
    k, stage = np.zeros(2), np.zeros(2)
    for n in range(1, steps + 1):
        out[n] = out[n - 1]
        k[:] = 0.0
        for shift, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
            stage[:] = out[n - 1] + shift * dt * k
            k[1] = (d * stage[0] - c) * stage[1]
            k[0] = (a - b * stage[1]) * stage[0]
            out[n] += weight * dt / 6.0 * k
    return out


@variant("epidemic")
def epidemic_in_one_table(infection, recovery, start, lockdown, days):
    table = np.zeros((3, days + 2))
    table[:, 1] = start
    for day in range(1, days + 1):
        table[:, day + 1] += table[:, day]
        well = recovery * table[1, day]
        table[2, day + 1] += well
        ill = infection * table[1, day] * table[0, day]
        if day > days // 2:
            ill = ill * lockdown[day % 2]
        table[0, day + 1] -= ill
        table[1, day + 1] += ill
        table[1, day + 1] -= well
    return table[:, 1:]


@variant("coupled_oscillators")
def coupled_oscillators_all_at_once(phase, coupling, own, dt, steps):
    order = np.empty(steps)
    theta = phase.copy()
    for t in range(steps):
        apart = theta[np.newaxis, :] - theta[:, np.newaxis]
        theta += dt * (own + (coupling * np.sin(apart)).sum(axis=1) / len(phase))
        order[t] = np.cos(theta).mean() ** 2
        order[t] += np.sin(theta).mean() ** 2
    return theta, order


# --- tables ------------------------------------------------------------------------------------------------------------


@variant("floyd_warshall")
def floyd_warshall_by_rows(path):
    n = len(path)
    for k in range(n):
        for i in range(n):
            if i == k:
                continue
            through = path[i, k] + path[k]
            shorter = through < path[i]
            path[i, shorter] = through[shorter]


@variant("viterbi")
def viterbi_all_states_at_once(prior, transition, emission):
    states, length = emission.shape
    score = np.zeros((states, length))
    back = np.zeros((states, length), dtype=int)
    score[:, 0] = emission[:, 0]
    score[:, 0] += prior
    for t in range(length - 1):
        candidates = score[:, t, None] + transition
        back[:, t + 1] = candidates.argmax(axis=0)
        score[:, t + 1] = candidates.max(axis=0)
        score[:, t + 1] += emission[:, t + 1]
    along = np.zeros(length)
    s = np.argmax(score[:, -1])
    for t in reversed(range(length)):
        along[t] = emission[s, t]
        s = back[s, t]
    return score[:, length - 1].max(), along


@variant("edit_distance")
def edit_distance_in_a_table(substitution, insertion, deletion):
    m, n = substitution.shape
    table = np.zeros((m + 1, n + 1))
    for j in range(1, n + 1):
        table[0, j] = table[0, j - 1] + insertion
    for i in range(1, m + 1):
        table[i, 0] = table[i - 1, 0] + deletion
    for j in range(1, n + 1):
        for i in range(1, m + 1):
            best = table[i - 1, j] + deletion
            if table[i, j - 1] + insertion < best:
                best = table[i, j - 1] + insertion
            table[i, j] = min(best, table[i - 1, j - 1] + substitution[i - 1, j - 1])
    return table[-1, -1]


@variant("knapsack")
def knapsack_downwards(worth, weights, capacity):
    off = int(weights.max())
    best = np.zeros(off + capacity + 1)
    for k in range(len(worth)):
        for room in range(capacity, weights[k] - 1, -1):
            best[room + off] = max(best[room + off], best[room - weights[k] + off] + worth[k])
    return best[off:]


@variant("seam")
def seam_with_a_border(energy):
    height, width = energy.shape
    total = np.full((height, width + 2), 1e3)
    total[0, 1:-1] = energy[0]
    for i in range(1, height):
        for j in range(1, width + 1):
            total[i, j] = energy[i, j - 1] + min(total[i - 1, j - 1], total[i - 1, j], total[i - 1, j + 1])
    return total[height - 1].min()


# --- series ------------------------------------------------------------------------------------------------------------


@variant("exponential_moving_average")
def exponential_moving_average_with_carried_numbers(x, alpha):
    n = len(x)
    out = np.zeros((2, n + 1))
    mean, spread = x[0], 0.0
    out[0, 1] = mean
    for i in range(2, n + 1):
        apart = x[i - 1] - mean
        spread = (1.0 - alpha) * (spread + alpha * apart * apart)
        mean += alpha * apart
        out[1, i] = spread
        out[0, i] = mean
    return out[0, 1:], out[1, 1:]


@variant("biquad_cascade")
def biquad_cascade_sample_by_sample(signal, sections):
    z = np.zeros((len(sections), 2))
    for n in range(len(signal)):
        for s in range(len(sections)):
            x = signal[n]
            y = sections[s, 0] * x + z[s, 0]
            z[s, 0] = z[s, 1] + sections[s, 1] * x - sections[s, 3] * y
            z[s, 1] = sections[s, 2] * x - sections[s, 4] * y
            signal[n] = y


@variant("charge_on_a_grid")
def charge_on_a_grid_with_a_ghost(position, charge, cells):
    rho = np.zeros(cells + 2)
    for p in range(position.size):
        node = int(position[p])
        rho[node + 2] += charge[p] * (position[p] - node)
        rho[node + 1] += charge[p] * (1.0 - position[p] + node)
    rho[1:] -= np.mean(rho[1:])
    field = np.zeros(cells + 1)
    field[1:] = np.cumsum(0.5 * (rho[2:] + rho[1:-1]))
    return rho[1:], field


@variant("pair_forces")
def pair_forces_row_by_row(x, sigma, epsilon):
    forces = np.zeros((x.shape[1], x.shape[0]))
    energies = np.zeros(len(x))
    for i in range(1, len(x)):
        apart = x[:i] - x[i]
        r2 = np.sum(apart**2, axis=1) + 0.5
        s6 = sigma**6 / r2**3
        push = (24.0 * epsilon * (s6 - 2.0 * s6**2) / r2)[:, None] * apart
        forces[:, i] += push.sum(axis=0)
        forces[:, :i] -= push.T
        energies[i] = 4.0 * epsilon * np.sum(s6 * (s6 - 1.0))
    return energies.sum(), forces.T
