"""Calls with complex numbers, of functions that make them of real ones or take no others."""

from __future__ import annotations

import cmath

import numpy as np
import scipy.linalg
from scipy import special

from s2sgrad import runtime
from s2sgrad.rules import casts, complex_matrices, fourier, monomials
from s2sgrad.rules.table import existing

from .base import Example, normal


def cplx(*shape: int) -> np.ndarray:
    return normal(*shape) + 1j * normal(*shape)


COMPLEX: list[Example] = []


def example(primitive, *args, **keywords) -> None:
    COMPLEX.append(Example(primitive, args, keywords))


for _f in (np.angle, np.imag, np.conjugate, np.real, np.absolute):
    example(_f, cplx(2, 3))
    example(_f, 0.3 - 0.7j)
    example(_f, normal(3))
example(np.angle, cplx(3), deg=True)
example(np.angle, cplx(3), True)
example(complex, 0.3, -0.7)
for _g in (cmath.exp, cmath.sqrt, cmath.sin, cmath.cos, cmath.tan, cmath.asin, cmath.acos, cmath.atan, cmath.sinh,
           cmath.cosh, cmath.tanh, cmath.asinh, cmath.acosh, cmath.atanh, cmath.phase):  # fmt: skip
    example(_g, 0.3 - 0.7j)
for _f in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft):
    example(_f, cplx(5))
    example(_f, cplx(2, 6), norm="ortho")
    for _n in (3, 4, 7, 9):
        example(_f, cplx(6), _n)
        example(_f, cplx(5, 2), n=_n, axis=0, norm="forward")
for _f in (np.fft.fft, np.fft.rfft, np.fft.ihfft):
    example(_f, normal(5))
    example(_f, normal(2, 6), norm="ortho")
    for _n in (3, 4, 7, 9):
        example(_f, normal(6), _n)
        example(_f, normal(5, 2), n=_n, axis=0, norm="forward")
for _f in (np.fft.fftn, np.fft.ifftn, np.fft.fft2, np.fft.ifft2, np.fft.irfftn, np.fft.irfft2):
    example(_f, cplx(4, 3))
    example(_f, cplx(2, 4, 3), axes=(0, 2), norm="ortho")
    example(_f, cplx(4, 3), s=(3, 4), axes=(-1, 0))
for _f in (np.fft.irfft, np.fft.hfft):
    example(_f, normal(5))
    example(_f, normal(2, 6), n=7, axis=0, norm="ortho")
for _f in (np.fft.irfftn, np.fft.irfft2):
    example(_f, normal(4, 3))
    example(_f, normal(2, 4, 3), axes=(0, 2), norm="ortho")
for _f in (np.fft.rfftn, np.fft.rfft2):
    example(_f, normal(4, 3))
    example(_f, normal(2, 4, 3), axes=(0, 2), norm="forward")
    example(_f, normal(4, 3), s=(3, 4), axes=(-1, 0))
for _x in (cplx(4, 3), normal(4, 3)):
    example(np.linalg.norm, _x)
    example(np.linalg.norm, _x, axis=1)
    example(np.linalg.norm, _x, 1, 0)
    example(np.linalg.norm, _x, np.inf, 0)
    example(np.linalg.norm, _x, 3, 0)
    for _ord in ("nuc", 2, -2, 1, np.inf):
        example(np.linalg.norm, _x, _ord)
    example(np.var, _x)
    example(np.std, _x, axis=0, ddof=1)
example(np.linalg.slogdet, cplx(3, 3))
example(np.linalg.slogdet, cplx(2, 3, 3))
example(np.linalg.slogdet, normal(3, 3))
for _svdvals in existing(np.linalg, "svdvals"):
    example(_svdvals, cplx(3, 2))
example(np.linalg.svd, cplx(3, 2), compute_uv=False)
example(np.linalg.eigvalsh, cplx(3, 3))
for _f in (np.cov, np.corrcoef):
    example(_f, cplx(2, 5), y=cplx(2, 5))
    example(_f, cplx(5), y=cplx(5))
_turning = np.array([[0.3, 1.2, 0.1], [-0.9, 0.5, 0.2], [0.1, -0.3, 2.0]])  # two eigenvalues are complex
for _f in (special.kelvin, special.modfresnelp, special.modfresnelm):
    example(_f, np.array([[0.31], [2.1]]))
    example(_f, 0.7)
for _f in (scipy.linalg.eig, scipy.linalg.eigvals, scipy.linalg.sqrtm):
    example(_f, cplx(3, 3))
    example(_f, normal(3, 3))
example(scipy.linalg.eigvals, normal(3, 3), normal(3, 3))
for _f in (np.linalg.eigvals, np.linalg.eig):
    example(_f, cplx(3, 3))
    example(_f, normal(3, 3) @ normal(3, 3))
    example(_f, _turning)
    example(_f, cplx(2, 3, 3))
example(cmath.log, 0.3 - 0.7j)
example(cmath.log, 0.3 - 0.7j, 2.0 + 1j)
example(cmath.log10, 0.3 - 0.7j)
example(cmath.rect, 0.7, 0.3)
example(cmath.polar, 0.3 - 0.7j)
example(complex, 0.3 - 0.7j)
example(complex, 0.3, imag=0.2)
example(np.real_if_close, cplx(3))
example(np.ndarray.view, cplx(3), float)
example(np.ndarray.view, cplx(2, 3), dtype=np.complex128)
example(np.ndarray.view, normal(2, 4), complex)
example(casts.viewed, cplx(3), cplx(3), float)
example(casts.viewed, normal(4), normal(4), complex)
example(casts.unviewed, normal(6), cplx(3), normal(6))
example(casts.unviewed, cplx(2), normal(4), cplx(2))
for _x in (normal(3), -np.abs(normal(3)) - 0.1, cplx(3), np.array([1.7, -2.3, 0.4])):
    for _f in (
        np.emath.sqrt,
        np.emath.log,
        np.emath.log2,
        np.emath.log10,
        np.emath.arcsin,
        np.emath.arccos,
        np.emath.arctanh,
    ):
        example(_f, _x)
    example(np.emath.logn, 2.5, _x)
    example(np.emath.power, _x, 1.7)
example(np.roots, normal(4))
example(np.roots, cplx(4))
example(np.roots, np.array([1.0, 0.3, 2.0]))
example(np.nan_to_num, np.array([1.0 + 2j, complex(np.nan, 1.0), 0.5j]))
example(np.linalg.eigvalsh, cplx(2, 3, 3), UPLO="U")
example(fourier.fitted_to, cplx(3, 4), normal(4, 2), (0, 1))
example(fourier.whole_spectrum, cplx(4), normal(6), None, -1, None)
example(fourier.half_spectrum, normal(6), cplx(4))
example(fourier.whole_spectra, cplx(4, 2), normal(4, 3), None, None, "ortho")
example(fourier.half_spectra, normal(4, 4), cplx(4, 3), None, None, None)
example(complex_matrices.adjoint, cplx(2, 3))
example(monomials.square_of_modulus, cplx(3))
example(runtime.projected, cplx(3), cplx(3))
example(runtime.projected, cplx(3), normal(3))
example(runtime.wide, normal(3), cplx(3))
example(runtime.widened, normal(3), cplx(3))
example(runtime.holomorphic_seed, cplx(3), cplx(3))
example(runtime.conjugated, cplx(3))
example(runtime.conjugated, [0.3 - 0.7j, 0.5])
for _f in (special.hankel1, special.hankel2, special.hankel1e, special.hankel2e):
    example(_f, 0.7, np.array([0.3, 2.1]))
for _f in (special.h1vp, special.h2vp):
    example(_f, 2, np.array([0.3, 2.1]))
    example(_f, 1, np.array([0.3 + 0.2j, 2.1]), 2)
for _f in existing(special, "sph_harm_y"):
    example(_f, 2, 1, np.array([0.3, 2.1]), np.array([[0.4], [1.1]]))
    example(_f, np.array([2, 3]), np.array([-2, 0]), 0.7, 0.4)
example(special.lambertw, np.array([0.3, 2.1]))
example(special.lambertw, np.array([0.3 + 0.2j, 2.1]), 1)
example(special.lambertw, np.array([0.3, 2.1]), 0, 1e-3)
example(special.wofz, np.array([0.3, 2.1]))
