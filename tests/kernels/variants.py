"""Some kernels in other words: statements in another legal order, shifted indices, padded arrays, other loops.

Each computes what the kernel of its `variant` computes, with the same arguments, and so has the same gradient.
"""

import numpy as np

from .case import variant

# --- stencils: halos, offsets, rotating indices ------------------------------------------------------------------------


@variant("jacobi_1d")
def jacobi_1d_backwards_and_shifted(steps, A, B):
    n = len(A)
    for _ in range(steps):
        for i in range(n, 2, -1):
            B[i - 2] = (A[i - 1] + A[i - 2] + A[i - 3]) / 3.0
        for i in range(-1, n - 3):
            A[i + 2] = (B[i + 1] + B[i + 2] + B[i + 3]) / 3.0


@variant("jacobi_2d")
def jacobi_2d_in_padded_arrays(steps, A, B, off=2):
    n, m = A.shape
    wide = np.zeros((2, n + 2 * off, m + 2 * off))
    wide[0, off:-off, off:-off] = A
    wide[1, off : off + n, off : off + m] = B
    for step in range(2 * steps):
        old, new = wide[step % 2], wide[(step + 1) % 2]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                across = old[i + off, j + off - 1] + old[i + off, j + off + 1]
                new[i + off, j + off] = 0.2 * (old[i + off - 1, j + off] + old[i + off + 1, j + off] + across)
                new[i + off, j + off] += 0.2 * old[i + off, j + off]
    A[:, :] = wide[0, off : off + n, off : off + m]


@variant("heat_3d")
def heat_3d_plane_by_plane(steps, k, A, B):
    for _ in range(steps):
        for old, new in ((A, B), (B, A)):
            for i in range(2, A.shape[0]):
                west, mid, east = old[i - 2], old[i - 1], old[i]
                total = west[1:-1, 1:-1] + east[1:-1, 1:-1] - 6.0 * mid[1:-1, 1:-1]
                total += mid[2:, 1:-1] + mid[:-2, 1:-1]
                total += mid[1:-1, 2:]
                total += mid[1:-1, :-2]
                new[i - 1, 1:-1, 1:-1] = mid[1:-1, 1:-1] + k * total


@variant("seidel_2d")
def seidel_2d_by_rows(steps, A):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            row = A[i]
            row[1:-1] += row[2:]
            row[1:-1] += A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:]
            row[1:-1] += A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            for j in range(1, row.size - 1):
                row[j] += row[j - 1]
                row[j] /= 9.0


@variant("wave_with_three_buffers")
def wave_in_one_buffer(u0, courant, damping, steps):
    n = len(u0)
    u = np.zeros((3, n))
    c2 = np.zeros(n)
    c2[1:-1] = courant[1:-1] * courant[1:-1]
    u[0] = u0
    for i in range(1, n - 1):
        u[1, i] = u[0, i] + 0.5 * c2[i] * (u[0, i + 1] - 2.0 * u[0, i] + u[0, i - 1])
    for t in range(1, steps + 1):
        past, now, then = (t - 1) % 3, t % 3, (t + 1) % 3
        u[then, :] = 0.0
        u[then, 1:-1] += c2[1:-1] * (u[now, 2:] - 2.0 * u[now, 1:-1] + u[now, :-2])
        u[then, 1:-1] += 2.0 * u[now, 1:-1] - (1.0 - damping) * u[past, 1:-1]
        u[then, 1:-1] /= 1.0 + damping
    return u[(steps + 1) % 3]


@variant("heat_with_swapped_buffers")
def heat_with_a_halo(u0, kappa, steps):
    off = 3
    buffers = np.zeros((2, len(u0) + 2 * off))
    buffers[0, off:-off] = buffers[1, off:-off] = u0
    for step in range(steps):
        for i in range(len(u0) - 2, 0, -1):
            here = buffers[step % 2, i + off]
            flux = buffers[step % 2, i + 1 + off] - here
            flux -= here - buffers[step % 2, i - 1 + off]
            buffers[1 - step % 2, i + off] = here + kappa[i] * flux
    return buffers[steps % 2, off : len(u0) + off]


@variant("fdtd_2d")
def fdtd_2d_in_another_order(steps, ex, ey, hz, pulse):
    nx, ny = hz.shape
    for t in range(1, steps + 1):
        ex[:, 1:ny] = ex[:, 1:ny] + 0.5 * (hz[:, 0 : ny - 1] - hz[:, 1:ny])
        for i in range(nx - 1):
            ey[i + 1, :] -= 0.5 * (hz[i + 1, :] - hz[i, :])
        ey[0] = pulse[t - 1]
        curl = ey[1:nx, 0 : ny - 1] - ey[0 : nx - 1, 0 : ny - 1]
        curl += ex[0 : nx - 1, 1:ny]
        curl -= ex[0 : nx - 1, 0 : ny - 1]
        hz[0 : nx - 1, 0 : ny - 1] += -0.7 * curl


@variant("hdiff")
def hdiff_with_buffers(field, out, coeff):
    halo = 2
    ni, nj, nk = out.shape
    lap = np.zeros(field.shape)
    lap[1:-1, 1:-1] = 4.0 * field[1:-1, 1:-1] - field[2:, 1:-1] - field[:-2, 1:-1] - field[1:-1, 2:] - field[1:-1, :-2]
    flux = np.zeros((ni + 1, nj, nk))
    for i in range(ni + 1):
        here, there = i + halo - 1, i + halo
        flux[i] = lap[there, halo:-halo] - lap[here, halo:-halo]
        flux[i][flux[i] * (field[there, halo:-halo] - field[here, halo:-halo]) > 0.0] = 0.0
    out[:] = field[halo:-halo, halo:-halo]
    out -= coeff * (flux[1:] - flux[:-1])
    across = lap[halo:-halo, halo : nj + halo + 1] - lap[halo:-halo, halo - 1 : nj + halo]
    uphill = across * (field[halo:-halo, halo : nj + halo + 1] - field[halo:-halo, halo - 1 : nj + halo]) > 0.0
    across[uphill] = 0.0
    out -= coeff * (across[:, 1:] - across[:, :-1])


@variant("burgers_in_the_plane")
def burgers_in_the_plane_second_first(u, v, nu, dt, steps):
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            + nu * dt * (vn[2:, 1:-1] + vn[:-2, 1:-1] - 4.0 * vn[1:-1, 1:-1] + vn[1:-1, 2:] + vn[1:-1, :-2])
            - dt * (un[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[1:-1, :-2]) + vn[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[:-2, 1:-1]))
        )
        for i in range(1, u.shape[0] - 1):
            u[i, 1:-1] -= dt * vn[i, 1:-1] * (un[i, 1:-1] - un[i - 1, 1:-1])
            u[i, 1:-1] -= dt * un[i, 1:-1] * (un[i, 1:-1] - un[i, :-2])
            u[i, 1:-1] += nu * dt * (un[i, 2:] + un[i, :-2] + un[i + 1, 1:-1] + un[i - 1, 1:-1] - 4.0 * un[i, 1:-1])


# --- matrices: other orders of the loops -------------------------------------------------------------------------------


@variant("gemm")
def gemm_by_rows(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        C[i] *= beta
        for k in range(B.shape[0]):
            C[i, :] += alpha * A[i, k] * B[k, :]


@variant("symm")
def symm_with_the_whole_matrix(alpha, beta, C, A, B):
    whole = np.tril(A)
    for i in range(1, len(A)):
        for j in range(i):
            whole[j, i] = A[i, j]
    C[...] = alpha * whole @ B + beta * C


@variant("syrk")
def syrk_by_index_arrays(alpha, beta, C, A):
    rows, columns = np.tril_indices(C.shape[0])
    C[rows, columns] *= beta
    C[rows, columns] += alpha * np.sum(A[rows] * A[columns], axis=1)


@variant("trmm")
def trmm_scaled_as_it_goes(alpha, A, B):
    for i in range(1, B.shape[0] + 1):
        B[i - 1] += A[i:, i - 1] @ B[i:]
        B[i - 1] *= alpha


@variant("lu")
def lu_right_looking(A):
    n = len(A)
    for k in range(1, n):
        A[k:, k - 1] /= A[k - 1, k - 1]
        A[k:, k:] -= np.outer(A[k:, k - 1], A[k - 1, k:])


@variant("cholesky")
def cholesky_by_columns(A):
    for j in range(1, A.shape[0] + 1):
        before = A[j - 1, : j - 1]
        A[j - 1, j - 1] = np.sqrt(A[j - 1, j - 1] - before @ before)
        A[j:, j - 1] -= A[j:, : j - 1] @ before
        A[j:, j - 1] /= A[j - 1, j - 1]


@variant("gramschmidt")
def gramschmidt_by_blocks(A):
    n = A.shape[1]
    R = np.zeros((n, n))
    Q = np.empty(A.shape)
    for k in range(n):
        q = Q[:, k]
        q[:] = A[:, k]
        R[k, k] = np.linalg.norm(q)
        q /= R[k, k]
        R[k, k + 1 :] = q @ A[:, k + 1 :]
        A[:, k + 1 :] -= q[:, None] * R[k, k + 1 :]
    return Q, R


@variant("durbin")
def durbin_reversed_in_place(r):
    y = np.zeros(len(r) + 1)
    y[1] = alpha = -r[0]
    beta = 1.0
    for k in range(1, len(r)):
        beta = beta * (1.0 - alpha**2)
        alpha = -(np.flip(r[:k]) @ y[1 : k + 1] + r[k]) / beta
        y[1 : k + 1] += alpha * y[1 : k + 1][::-1]
        y[k + 1] = alpha
    return y[1:]


@variant("trisolv")
def trisolv_by_columns(L, x, b):
    x[:] = b
    for j in range(len(x)):
        x[j] /= L[j, j]
        x[j + 1 :] -= L[j + 1 :, j] * x[j]


@variant("thomas")
def thomas_in_padded_arrays(lower, diagonal, upper, rhs):
    n = len(rhs)
    off = 1
    a, c, d = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2)
    a[1 + off : n + off] = lower
    c[off : n - 1 + off] = upper
    d[off : n + off] = rhs
    for i in range(off, n + off):
        below = diagonal[i - off] - a[i] * c[i - 1]
        d[i] -= a[i] * d[i - 1]
        d[i] /= below
        c[i] /= below
    for i in range(n - 1 + off, off - 1, -1):
        d[i] -= c[i] * d[i + 1]
    return d[off:-1]


@variant("overrelaxation")
def overrelaxation_in_the_history(A, b, omega, sweeps):
    n = b.size
    history = np.zeros((sweeps + 1, n))
    for t in range(1, sweeps + 1):
        old, new = history[t - 1], history[t]
        for i in range(n):
            new[i] = b[i]
            new[i] -= A[i, :i] @ new[:i]
            new[i] -= A[i, i + 1 :] @ old[i + 1 :]
            new[i] *= omega / A[i, i]
            new[i] += (1.0 - omega) * old[i]
    return history


@variant("ranks_of_a_sparse_graph")
def ranks_by_scattering(starts, columns, values, rank, steps):
    rows = np.repeat(np.arange(len(rank)), np.diff(starts))
    ranks = np.zeros((steps + 1, len(rank)))
    ranks[0] = rank / rank.sum()
    for t in range(steps):
        np.add.at(ranks[t + 1], rows, values * ranks[t, columns])
        ranks[t + 1] = 0.15 / len(rank) + 0.85 * ranks[t + 1] / np.sum(ranks[t + 1])
    return ranks[-1]
