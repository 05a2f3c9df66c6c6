"""Real functions that compute with complex numbers in ways that could lose a derivative: stores, parts, views, lists."""

from __future__ import annotations

import cmath

import numpy as np

WAYS = []


def way(f):
    WAYS.append(f)
    return f


@way
def added_and_multiplied_at(x):
    z = np.zeros(4, complex)
    np.add.at(z, [0, 1, 0], x * (1 + 2j))
    np.multiply.at(z, [1], 1j * x[:1])
    return np.sum(np.abs(z) ** 2)


@way
def results_in_parts(x):
    z = np.zeros(3, complex)
    np.multiply(x, 2, out=z.real)
    np.sin(x, out=z.imag)
    return np.sum(np.abs(z * z + 1))


@way
def sorted_numbers(x):
    z = np.sort(x * 1j + x[::-1])
    return np.sum(np.real(z) * np.arange(3.0) + z.imag**2)


@way
def lists_of_numbers(x):
    numbers = [complex(v, 2 * v) for v in x.tolist()]
    return sum(abs(z) ** 2 for z in numbers) + max(numbers, key=abs).real


@way
def numbers_in_a_dict(x):
    held = {}
    for k, v in enumerate(x):
        held[k] = v * 1j
    return abs(sum(held.values())) ** 2 + (held[0] * held[1]).real


@way
def index_arrays_and_masks(x):
    z = x * (2 + 1j)
    w = z[[2, 0, 0]]
    z[[0, 1]] = w[:2] * 1j
    z[np.abs(z) > 1] *= 0.5
    return np.sum(np.abs(z) ** 2) + np.sum(w.imag)


@way
def views_of_parts(x):
    z = (x * (2 + 1j)).reshape(3, 1) * np.ones((1, 2))
    r = z.real.T
    r[0] += x
    r *= 2
    z[1].imag[:] = x[0]
    return np.sum(np.abs(z) ** 2) + np.sum(r[1] ** 2)


@way
def numbers_of_an_array(x):
    total = 0
    for z in x * np.exp(1j * x):
        total = total + z * z.conjugate() * z
    return total.imag


@way
def a_store_by_flat(x):
    z = x * 1j + 1
    z.flat[1] = x[0] * x[1]
    return np.sum(np.abs(z) ** 2)


@way
def power_of_a_negative_number(x):
    z = (-float(x[0])) ** 0.5
    return z.imag + abs(z) ** 2 * float(x[1])


@way
def functions_of_cmath(x):
    z = cmath.rect(x[0], x[1])
    return (cmath.exp(z) * cmath.sqrt(z)).real + cmath.phase(z) + cmath.polar(z)[0]


@way
def products_of_vectors(x):
    z = x * 1j + x[::-1]
    return np.vdot(z, z).real + np.inner(z, z.conj()).real + np.einsum("i,i->", z, np.conj(z)).real + np.linalg.norm(z)


@way
def parts_that_are_assigned(x):
    z = np.zeros(3, complex)
    z.real = x
    z.imag = x * x
    z.imag -= x
    return np.sum(np.abs(z) ** 3)


@way
def parts_that_are_swapped(x):
    z = x * (1 + 1j)
    a, b = z.real, z.imag
    t = a.copy()
    a[:] = b * 2
    b[:] = t * x
    return np.sum(z.real * 3 + z.imag**2)


@way
def a_part_that_is_read_before_and_after(x):
    z = x * (1 + 1j)
    r = z.real
    s = r * r
    z[0] = 5j * x[1]
    return np.sum(s) + np.sum(r * np.arange(3))


@way
def masks_and_copies(x):
    z = x * 1j
    np.putmask(z, x > 0.5, x * 2)
    np.copyto(z.real[:2], x[:2])
    return np.sum(np.abs(z) ** 2 * np.arange(1, 4))


@way
def filled(x):
    z = np.zeros(3, complex)
    z.fill(x[0] * 1j)
    z.real.fill(x[1])
    return np.sum(np.abs(z) ** 2) + z[0].imag


@way
def parts_in_a_row(x):
    w = (x * (1 + 2j)).view(float)[3:] * x
    w[0] = w[1]
    return np.sum(w**2)


@way
def parts_with_several_places(x):
    z = x * (1 + 2j)
    spread = np.broadcast_to(z.imag[:1], (4,)) * np.arange(4.0)
    return np.sum(spread**2) + np.sum(np.lib.stride_tricks.sliding_window_view(z.view(float)[1:], 3) ** 2 * np.arange(3))


@way
def parts_written_backwards(x):
    z = x * (1 + 2j)
    z.view(float)[1:4] = x
    z.imag[::-1] += x
    return np.sum(np.abs(z) ** 3)
