"""Calls of one line, as people write them: each right in both modes, refused, or wrong.

    python tests/one_line_calls.py               judges all and prints the counts, and what is not as it was
    python tests/one_line_calls.py 'scipy.stats' those of a section, or with this text

Every name of `VALUES` in a call is an argument that is differentiated; each result is multiplied with fixed weights and
summed, its real part if it is complex.  Differences along one direction in each argument are the yardstick.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import warnings
from collections import Counter

import numpy as np

_RNG = np.random.default_rng(603)


def _real(*shape):
    return _RNG.uniform(-1.5, 1.5, shape)


def _complex(*shape):
    return _real(*shape) + 1j * _real(*shape)


VALUES = {
    "x": _real(5),
    "y": _real(5),
    "p": _RNG.uniform(0.4, 1.9, 5),
    "q": _RNG.uniform(0.4, 1.9, 5),
    "u": np.array([0.31, 0.12, 0.87, 0.55, 0.64]),
    "rising": np.array([0.1, 0.4, 1.1, 1.5, 2.2, 2.9]),
    "heights": _real(6),
    "s": 0.7,
    "t": 1.3,
    "b": _real(3),
    "c": _real(3),
    "A": _real(3, 3) + 2.0 * np.eye(3),
    "B": _real(3, 3) - 1.5 * np.eye(3),
    "S": np.array([[2.3, 0.4, -0.3], [0.4, 1.7, 0.2], [-0.3, 0.2, 1.1]]),
    "M": _real(3, 4),
    "N": _real(4, 3),
    "X": _real(5, 2),
    "Y": _real(4, 2),
    "T": _real(2, 3, 4),
    "image": _real(6, 7),
    "taps": np.array([0.5, -0.3, 0.2]),
    "wave": _real(32),
    "z": _complex(5),
    "w": _complex(5),
    "Z": _complex(3, 3) + 2.0 * np.eye(3),
}

CALLS = {
    "numpy: elementwise": """
np.add(x, y)
np.subtract(x, s)
np.multiply(x, y)
np.divide(x, p)
np.true_divide(x, t)
np.negative(x)
np.positive(x)
np.power(p, x)
np.float_power(p, 2.5)
np.mod(x, 0.37)
np.remainder(x, 0.37)
np.fmod(x, 0.37)
np.absolute(x)
np.abs(z)
np.fabs(x)
np.sign(x) * x
np.exp(x)
np.exp2(x)
np.expm1(x)
np.log(p)
np.log2(p)
np.log10(p)
np.log1p(u)
np.sqrt(p)
np.cbrt(p)
np.square(x)
np.reciprocal(p)
np.sin(x)
np.cos(x)
np.tan(u)
np.arcsin(u)
np.arccos(u)
np.arctan(x)
np.arctan2(x, p)
np.hypot(x, y)
np.sinh(x)
np.cosh(x)
np.tanh(x)
np.arcsinh(x)
np.arccosh(p + 1.0)
np.arctanh(u)
np.degrees(x)
np.radians(x)
np.deg2rad(x)
np.rad2deg(x)
np.logaddexp(x, y)
np.logaddexp2(x, y)
np.maximum(x, y)
np.minimum(x, 0.1)
np.fmax(x, y)
np.fmin(x, y)
np.clip(x, -0.5, 0.5)
np.clip(x, -s, s)
np.heaviside(x, 0.5) * y
np.copysign(p, x)
np.sinc(x)
np.i0(x)
np.nan_to_num(x)
np.real_if_close(x)
np.where(x > 0, x, y)
np.where(x > 0, x * s, 0.0)
np.select([x > 0.5, x < -0.5], [x ** 2, y], 0.3)
np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v ** 2])
np.choose([0, 1, 0, 1, 0], [x, y])
np.interp(u, [0.0, 0.5, 1.0], b)
np.interp(s, rising, heights)
np.unwrap(3.0 * x)
np.round(x) + y
np.floor(x) * y
np.ldexp(x, 2)
np.frexp(p)[0]
np.modf(x)[0]
np.divmod(p, 0.4)[1]
np.lib.scimath.sqrt(p)
np.emath.log(p)
np.ma.masked_less(x, -9.0).filled(0.0)
np.vectorize(lambda v: v * v)(x)
""",
    "numpy: reductions": """
np.sum(T, axis=1)
np.sum(T, axis=(0, 2), keepdims=True)
np.sum(x, where=[True, False, True, True, False])
np.mean(T, axis=-1)
np.mean(x)
np.average(x, weights=p)
np.average(M, axis=1)
np.var(x)
np.var(M, axis=0, ddof=1)
np.std(x)
np.std(M, axis=1, keepdims=True)
np.prod(p)
np.prod(M, axis=1)
np.max(T, axis=2)
np.min(x)
np.amax(M, axis=0)
np.amin(M, axis=1, keepdims=True)
np.ptp(x)
np.median(x)
np.median(M, axis=1)
np.quantile(x, 0.3)
np.quantile(M, [0.25, 0.75], axis=1)
np.percentile(x, 40.0)
np.percentile(M, 90, axis=0, method="nearest")
np.nansum(x)
np.nanmean(M, axis=1)
np.nanvar(x)
np.nanstd(x)
np.nanmax(x)
np.nanmin(M, axis=0)
np.nanprod(p)
np.nanmedian(x)
np.nanquantile(x, 0.7)
np.nanpercentile(x, 70)
np.cumsum(x)
np.cumsum(M, axis=0)
np.cumprod(p)
np.nancumsum(x)
np.diff(x)
np.diff(M, n=2, axis=1)
np.ediff1d(x)
np.gradient(x)
np.gradient(x, 0.1)
np.gradient(image)[0]
np.gradient(image, axis=1)
np.trapezoid(x, dx=0.5)
np.trapezoid(heights, rising)
np.cov(x, y)
np.cov(M)
np.corrcoef(x, y)
np.corrcoef(M)
np.convolve(x, taps)
np.convolve(x, taps, mode="same")
np.correlate(x, taps, "valid")
np.histogram([0.1, 0.4, 0.9, 0.2, 0.8], bins=3, weights=x)[0]
np.bincount([0, 2, 1, 2, 0], weights=x)
np.sum(np.histogram(u, bins=3, density=True)[0]) * s
np.count_nonzero(x) * s
np.add.reduce(M, axis=0)
np.multiply.reduce(p)
np.maximum.reduce(x)
np.add.accumulate(x)
np.maximum.accumulate(x)
np.logaddexp.reduce(x)
np.multiply.outer(x, y)
np.add.outer(x, y)
np.subtract.outer(x, y)
np.add.reduceat(x, [0, 2, 4])
np.apply_along_axis(np.sum, 1, M)
""",
    "numpy: shapes and indices": """
np.reshape(M, (2, 6))
np.ravel(M)
np.transpose(T, (2, 0, 1))
np.swapaxes(T, 0, 2)
np.moveaxis(T, 0, -1)
np.rollaxis(T, 2)
np.expand_dims(x, 0)
np.squeeze(x[None, :])
np.atleast_1d(s)
np.atleast_2d(x)
np.atleast_3d(M)
np.broadcast_to(x, (3, 5))
np.broadcast_arrays(x, s)[1]
np.concatenate([x, y])
np.concatenate((M, B), axis=1)
np.concat([x, p])
np.stack([x, y], axis=1)
np.vstack([x, y])
np.hstack([x, p])
np.dstack([x, y])
np.column_stack([x, y])
np.append(x, s)
np.insert(x, 2, s)
np.delete(x, [1, 3])
np.split(x, [2])[1]
np.array_split(x, 3)[0]
np.hsplit(M, 2)[1]
np.vsplit(N, 2)[0]
np.dsplit(T, 2)[0]
np.tile(x, 2)
np.repeat(x, 3)
np.repeat(x, [1, 0, 2, 1, 3])
np.flip(x)
np.fliplr(M)
np.flipud(M)
np.rot90(M)
np.roll(x, 2)
np.roll(image, (1, -2), axis=(0, 1))
np.pad(x, 2)
np.pad(image, 1, mode="edge")
np.pad(x, (1, 2), mode="reflect")
np.pad(x, 2, mode="wrap")
np.pad(x, 1, constant_values=s)
np.resize(x, 8)
np.sort(x)
np.sort(M, axis=0)
np.partition(x, 2)[:3]
x[np.argsort(x)]
np.take(x, [0, 3, 3])
np.take(M, [1, 0], axis=1)
np.take_along_axis(M, np.argsort(M, axis=1), axis=1)
np.compress([True, False, True, True, False], x)
np.extract(x > 0, x)
np.diag(x)
np.diag(A)
np.diag(A, 1)
np.diagflat(b)
np.diagonal(A)
np.tril(A)
np.triu(A, 1)
A[np.triu_indices(3)]
A[np.diag_indices(3)]
np.trace(A)
np.unique(x)
np.meshgrid(x, b)[0]
np.ix_([0, 2], [1])[0] * s
np.block([[A, B], [B, A]])
np.full(4, s)
np.full_like(x, s)
np.ones_like(x) * s
np.zeros((2, 2)) + s
np.array([s, t, s * t])
np.array([[s, 0.0], [0.0, t]])
np.asarray([x, y])
np.linspace(s, t, 7)
np.logspace(s, t, 4)
np.geomspace(s, t, 4)
np.arange(5) * s
np.vander(x, 3)
np.tri(3) * s
np.copy(x)
np.ascontiguousarray(M.T)
np.require(x)
np.nonzero(x > 0)[0] * s
x[x > 0]
x[::-2]
x[..., None] * y
M[1]
M[:, [0, 2]]
M[np.array([0, 1]), np.array([2, 3])]
T[0, :, 1:3]
M.T
M.flat[3]
np.lib.stride_tricks.sliding_window_view(x, 3)
np.trim_zeros(x)
np.flatnonzero(x > 0) * s
np.apply_over_axes(np.sum, T, [0])
np.fromiter((v * v for v in x), float)
np.mgrid[0:2, 0:3][0] * s
np.r_[x, s, y]
np.c_[x, y]
np.astype(x, float)
np.matrix_transpose(M)
np.unstack(M)[1]
np.permute_dims(T, (1, 0, 2))
np.cumulative_sum(x)
np.cumulative_prod(p)
""",
    "numpy: products": """
np.dot(x, y)
np.dot(A, b)
np.vdot(x, y)
np.inner(M, M)
np.outer(x, y)
np.matmul(A, B)
A @ b
b @ A @ c
T @ N
np.tensordot(T, M, axes=([1, 2], [0, 1]))
np.tensordot(A, B, 1)
np.einsum("ij,jk->ik", A, M)
np.einsum("ii", A)
np.einsum("i,i->", x, y)
np.einsum("ijk,jk->i", T, M)
np.einsum("ij,ij->i", A, B)
np.einsum("i,j->ij", x, y)
np.einsum(A, [0, 1], B, [1, 2], [0, 2])
np.einsum("...ij->...ji", T)
np.kron(A, B)
np.kron(x, b)
np.cross(b, c)
np.vecdot(M, M)
np.matvec(A, b)
np.vecmat(b, A)
np.linalg.multi_dot([A, M, N])
np.polyval(b, x)
np.polyfit(u, x, 2)
np.polyadd(b, c)
np.polysub(b, x)
np.polymul(b, c)
np.polydiv(x, taps)[0]
np.polyder(x)
np.polyint(x)
np.poly(b)
np.poly(A)
np.roots([1.0, s, -t])
np.polynomial.polynomial.polyval(x, b)
np.polynomial.chebyshev.chebval(u, b)
np.polynomial.legendre.legval(u, b)
np.polynomial.hermite.hermval(u, b)
np.polynomial.Polynomial(b)(x)
np.polynomial.Chebyshev(b)(u)
np.polynomial.polynomial.polyfit(u, x, 2)
""",
    "numpy.linalg": """
np.linalg.inv(A)
np.linalg.inv(Z)
np.linalg.pinv(A)
np.linalg.pinv(M)
np.linalg.solve(A, b)
np.linalg.solve(A, B)
np.linalg.solve(Z, b)
np.linalg.lstsq(N, np.ones(4), rcond=None)[0]
np.linalg.lstsq(N, np.ones(4))[1]
np.linalg.det(A)
np.linalg.det(Z)
np.linalg.slogdet(S)[1]
np.linalg.slogdet(A).logabsdet
np.linalg.norm(x)
np.linalg.norm(A)
np.linalg.norm(A, 2)
np.linalg.norm(A, "nuc")
np.linalg.norm(A, 1)
np.linalg.norm(x, np.inf)
np.linalg.norm(x, 3)
np.linalg.norm(M, axis=1)
np.linalg.norm(z)
np.linalg.cholesky(S)
np.linalg.qr(A)[0]
np.linalg.qr(N)[1]
np.linalg.svd(A)[1]
np.linalg.svd(M, full_matrices=False)[2] ** 2
np.linalg.svdvals(M)
np.linalg.eigh(S)[0]
np.linalg.eigh(S).eigenvectors ** 2
np.linalg.eigvalsh(S)
np.linalg.eigvals(S)
np.linalg.eig(S)[0]
np.linalg.matrix_power(A, 3)
np.linalg.matrix_power(A, -2)
np.linalg.cond(A)
np.linalg.cond(A, 1)
np.linalg.matrix_norm(M)
np.linalg.vector_norm(x)
np.linalg.trace(A)
np.linalg.outer(x, y)
np.linalg.cross(b, c)
np.linalg.vecdot(x, y)
np.linalg.tensorinv(np.reshape(A[:2, :2], (2, 1, 2, 1)), ind=2)
np.linalg.tensorsolve(A, b)
np.linalg.diagonal(A)
np.linalg.matmul(A, B)
np.linalg.matrix_rank(A) * s
""",
    "numpy.fft": """
np.fft.fft(x)
np.fft.fft(z)
np.fft.fft(x, 8)
np.fft.fft(image, axis=0)
np.fft.fft(x, norm="ortho")
np.fft.ifft(z)
np.fft.ifft(np.fft.fft(x) * w)
np.fft.rfft(x)
np.fft.rfft(wave)
np.fft.rfft(image, axis=1)
np.fft.irfft(z)
np.fft.irfft(z, 9)
np.fft.irfft(np.fft.rfft(wave) * s)
np.fft.hfft(z)
np.fft.ihfft(x)
np.fft.fft2(image)
np.fft.ifft2(image)
np.fft.rfft2(image)
np.fft.irfft2(Z)
np.fft.fftn(T)
np.fft.ifftn(T, axes=(0, 1))
np.fft.rfftn(T)
np.fft.irfftn(Z)
np.fft.fftshift(x)
np.fft.ifftshift(image)
np.fft.fftfreq(8, s)
np.fft.rfftfreq(8, d=s)
np.abs(np.fft.fft(x)) ** 2
np.angle(np.fft.rfft(x))[1:]
np.fft.ifft(np.fft.fft(x) * np.fft.fft(y)).real
""",
    "array methods": """
x.sum()
M.sum(axis=0)
x.mean()
M.mean(1)
x.var(ddof=1)
x.std()
p.prod()
x.max()
M.min(axis=1)
x.cumsum()
p.cumprod()
x.dot(y)
A.dot(b)
M.reshape(-1)
M.reshape(4, 3)
M.ravel()
M.flatten()
T.transpose(1, 0, 2)
M.transpose()
T.swapaxes(0, 1)
x[None].squeeze()
A.diagonal()
A.trace()
x.take([0, 2])
x.repeat(2)
x.clip(-0.5, 0.5)
x.clip(min=0.0)
x.round() + y
z.conj()
z.conjugate()
z.real
z.imag
x.astype(float)
x.astype("float64")
x.copy()
x.compress([True, False, True, True, False])
x.item(2)
x.tolist()[1]
x.nonzero()[0] * s
M.argmax() * s
x.view() * s
np.ptp(M, axis=0)
M.squeeze()
T.mT
x.__matmul__(y)
x.swapaxes(0, 0) * s
sorted(x)[0]
sum(x)
max(x)
abs(x)
x ** 3
2.0 ** x
x / y
x % 0.7
-x
p // 0.4 + x
""",
    "complex": """
np.real(z)
np.imag(z)
np.conj(z)
np.angle(z)
np.abs(z) ** 2
np.exp(1j * x)
np.exp(z)
np.log(z)
np.sqrt(z)
np.sin(z)
np.cos(z)
np.tanh(z)
np.power(z, 2)
z ** s
z * w
z / w
np.vdot(z, w)
np.dot(z, w)
np.sum(z * np.conj(w))
np.outer(z, w)
np.linalg.eigvalsh(Z + Z.conj().T)
np.linalg.eigh(Z + Z.conj().T)[0]
np.linalg.eigvals(Z)
np.linalg.svd(Z)[1]
np.linalg.qr(Z)[1]
np.linalg.cholesky(Z @ Z.conj().T)
np.linalg.norm(Z)
np.einsum("ij,jk", Z, Z)
np.trace(Z @ Z)
np.kron(Z, Z)
np.mean(z)
np.var(z)
np.prod(z)
np.cumsum(z)
np.convolve(z, w)
np.where(x > 0, z, w)
np.concatenate([z, w])
np.polyval(z, w)
np.roots([1.0, 0.3 + s * 1j, t])
np.interp(u, [0.0, 0.5, 1.0], z[:3])
(x + 1j * y).imag
np.real(z * np.exp(1j * s))
complex(s, t) ** 2
abs(complex(s, t))
np.sinc(z)
np.square(z)
np.reciprocal(z)
np.gradient(z)
""",
    "scipy.special": """
special.gamma(p)
special.gammaln(p)
special.loggamma(p)
special.digamma(p)
special.psi(p)
special.polygamma(1, p)
special.beta(p, q)
special.betaln(p, q)
special.erf(x)
special.erfc(x)
special.erfcx(x)
special.erfi(x)
special.erfinv(u)
special.erfcinv(u)
special.expit(x)
special.logit(u)
special.log_expit(x)
special.logsumexp(x)
special.logsumexp(M, axis=1)
special.logsumexp(x, b=p)
special.softmax(x)
special.softmax(M, axis=0)
special.log_softmax(x)
special.xlogy(p, q)
special.xlog1py(x, u)
special.entr(p)
special.rel_entr(p, q)
special.kl_div(p, q)
special.huber(1.0, x)
special.pseudo_huber(s, x)
special.boxcox(p, s)
special.boxcox1p(p, s)
special.inv_boxcox(u, s)
special.ndtr(x)
special.log_ndtr(x)
special.ndtri(u)
special.exprel(x)
special.exp1(p)
special.expi(p)
special.expn(2, p)
special.gammainc(p, q)
special.gammaincc(p, q)
special.gammaincinv(p, u)
special.betainc(p, q, u)
special.betaincinv(p, q, u)
special.jv(1.5, p)
special.jn(2, p)
special.j0(x)
special.j1(x)
special.y0(p)
special.y1(p)
special.yv(1, p)
special.yn(2, p)
special.i0(x)
special.i1(x)
special.i0e(x)
special.iv(1, p)
special.ive(0.5, p)
special.k0(p)
special.k1(p)
special.kv(2, p)
special.kve(1.5, p)
special.hankel1(1, p)
special.spherical_jn(2, p)
special.spherical_yn(1, p)
special.struve(1, p)
special.airy(x)[0]
special.ellipk(u)
special.ellipe(u)
special.ellipkinc(p, u)
special.ellipeinc(p, u)
special.ellipj(p, u)[0]
special.elliprf(p, q, 1.0)
special.fresnel(x)[0]
special.dawsn(x)
special.wofz(z)
special.voigt_profile(x, s, t)
special.sici(p)[0]
special.shichi(p)[1]
special.spence(p)
special.zeta(p + 1.0)
special.zeta(2.5, p)
special.lambertw(p).real
special.hyp2f1(0.5, 1.2, 1.7, u)
special.hyp1f1(0.5, 1.5, x)
special.hyperu(0.5, 1.5, p)
special.legendre_p(2, u)
special.eval_legendre(3, u)
special.eval_chebyt(3, u)
special.eval_hermite(2, x)
special.eval_laguerre(3, x)
special.eval_jacobi(2, 0.5, 0.3, u)
special.eval_gegenbauer(2, 0.5, u)
special.comb(6, 2) * s
special.binom(5.5, p)
special.factorial(4) * s
special.poch(p, 2)
special.rgamma(p)
special.multigammaln(s + 2.0, 2)
special.sph_harm_y(2, 1, s, t)
special.owens_t(x, s)
special.cosdg(x)
special.sindg(x)
special.cbrt(p)
special.exp10(x)
special.expm1(x)
special.log1p(u)
special.cosm1(x)
special.sinc(x)
special.stdtr(3.0, x)
special.chdtr(3.0, p)
special.fdtr(3.0, 4.0, p)
special.gdtr(s, t, p)
special.bdtr(2, 5, u)
special.pdtr(2, p)
special.kolmogorov(p)
special.softplus(x)
special.powm1(p, s)
special.betaincc(p, q, u)
""",
    "scipy.stats": """
stats.norm.pdf(x)
stats.norm.logpdf(x, s, t)
stats.norm.cdf(x, loc=s, scale=t)
stats.norm.logcdf(x)
stats.norm.sf(x)
stats.norm.logsf(x)
stats.norm.ppf(u)
stats.norm.isf(u, s, t)
stats.norm(s, t).logpdf(x)
stats.norm(loc=s, scale=t).cdf(x)
stats.uniform.logpdf(u, 0.0, t)
stats.uniform(s, t).ppf(u)
stats.expon.pdf(p)
stats.expon.logpdf(p, scale=t)
stats.gamma.pdf(p, s)
stats.gamma.logpdf(p, s, scale=t)
stats.gamma.cdf(p, t)
stats.gamma.ppf(u, t)
stats.beta.pdf(u, s, t)
stats.beta.logpdf(u, s, t)
stats.beta.cdf(u, s, t)
stats.beta(s, t).logpdf(u)
stats.chi2.logpdf(p, 3.0)
stats.chi2.cdf(p, s)
stats.chi2.sf(p, 4)
stats.t.logpdf(x, t)
stats.t.cdf(x, 3.5)
stats.t.ppf(u, 5)
stats.t(df=t, loc=s).logpdf(x)
stats.f.logpdf(p, 3.0, 5.0)
stats.lognorm.logpdf(p, s)
stats.lognorm.cdf(p, s, scale=t)
stats.logistic.logpdf(x, s, t)
stats.logistic.cdf(x)
stats.laplace.logpdf(x, s, t)
stats.cauchy.logpdf(x, s, t)
stats.cauchy.cdf(x)
stats.weibull_min.logpdf(p, t)
stats.weibull_min.cdf(p, t, scale=s)
stats.pareto.logpdf(p + 1.0, t)
stats.gumbel_r.logpdf(x, s, t)
stats.gumbel_l.cdf(x)
stats.rayleigh.logpdf(p)
stats.invgamma.logpdf(p, t)
stats.invgauss.logpdf(p, t)
stats.halfnorm.logpdf(p)
stats.halfcauchy.logpdf(p, scale=s)
stats.truncnorm.logpdf(x, -2.0, 2.0)
stats.truncnorm.pdf(x, -2.0, t + 1.0)
stats.skewnorm.logpdf(x, s)
stats.vonmises.logpdf(x, t)
stats.triang.logpdf(u, 0.4)
stats.maxwell.pdf(p)
stats.powerlaw.logpdf(u, t)
stats.genextreme.logpdf(x, 0.1)
stats.exponnorm.logpdf(x, t)
stats.nakagami.logpdf(p, t)
stats.rice.logpdf(p, t)
stats.bernoulli.logpmf([1, 0, 1, 1, 0], u)
stats.bernoulli.pmf(1, s)
stats.binom.logpmf([1, 4, 2, 0, 3], 5, u)
stats.poisson.logpmf([1, 4, 2, 0, 3], p)
stats.poisson.pmf(2, p)
stats.poisson(t).logpmf([0, 1, 2])
stats.geom.logpmf([1, 4, 2, 1, 3], u)
stats.nbinom.logpmf([1, 4, 2, 0, 3], 3, u)
stats.multivariate_normal.logpdf(b, c, S)
stats.multivariate_normal.pdf(b, mean=c, cov=S)
stats.multivariate_normal(c, S).logpdf(b)
stats.multivariate_t.logpdf(b, c, S, df=4)
stats.dirichlet.logpdf([0.2, 0.3, 0.5], p[:3])
stats.wishart.logpdf(S, 5, np.eye(3))
stats.multinomial.logpmf([1, 2, 0], 3, u[:3] / np.sum(u[:3]))
stats.norm.mean(s, t)
stats.gamma.var(s, scale=t)
stats.norm.entropy(s, t)
stats.gamma(t).mean()
stats.beta(s, t).std()
stats.entropy(p)
stats.entropy(p, q)
stats.zscore(x)
stats.skew(x)
stats.kurtosis(x)
stats.moment(x, 3)
stats.sem(x)
stats.gmean(p)
stats.hmean(p)
stats.pmean(p, 2.0)
stats.variation(p)
stats.iqr(x)
stats.trim_mean(x, 0.2)
stats.tmean(x)
stats.describe(x).variance
stats.pearsonr(x, y)[0]
stats.pearsonr(x, y).pvalue
stats.linregress(x, y).slope
stats.ttest_ind(x, y).statistic
stats.ttest_1samp(x, s).pvalue
stats.ttest_rel(x, y)[0]
stats.f_oneway(x, y, p).statistic
stats.wasserstein_distance(x, y)
stats.energy_distance(x, y)
stats.boxcox(p, s)
stats.boxcox_llf(s, p)
stats.yeojohnson(x, s)
stats.gaussian_kde(x)(y)
stats.gaussian_kde(x).evaluate(b)
stats.chisquare(p, q * (np.sum(p) / np.sum(q))).statistic
stats.bartlett(x, y).statistic
stats.levene(x, y)[0]
stats.differential_entropy(x)
stats.circmean(p)
stats.circstd(p)
stats.theilslopes(x, y)[0]
stats.median_abs_deviation(x)
stats.norm.expect(lambda v: v ** 2, loc=s, scale=t)
stats.rankdata(x) * s
stats.cumfreq(x, 4)[0] * s
""",
    "scipy.linalg": """
linalg.inv(A)
linalg.pinv(M)
linalg.solve(A, b)
linalg.solve(S, b, assume_a="pos")
linalg.solve_triangular(A, b, lower=True)
linalg.solve_banded((1, 1), np.array([[0.0, 0.3, 0.2], [2.0, 2.5, 3.0], [0.4, 0.1, 0.0]]), b)
linalg.solveh_banded(np.array([[0.0, 0.3, 0.2], [2.0, 2.5, 3.0]]), b)
linalg.solve_toeplitz(np.array([3.0, 0.4, 0.2]), b)
linalg.solve_circulant(np.array([3.0, 0.4, 0.2]), b)
linalg.solve_sylvester(A, A, B)
linalg.solve_continuous_lyapunov(A, S)
linalg.solve_discrete_lyapunov(0.2 * A, S)
linalg.solve_continuous_are(A, B, S, np.eye(3))
linalg.lstsq(N, np.ones(4))[0]
linalg.det(A)
linalg.norm(A)
linalg.norm(x)
linalg.expm(A)
linalg.expm(1j * S)
linalg.logm(S)
linalg.sqrtm(S)
linalg.sinm(A)
linalg.cosm(A)
linalg.funm(S, np.exp)
linalg.fractional_matrix_power(S, 0.3)
linalg.expm_frechet(A, B)[1]
linalg.cholesky(S)
linalg.cholesky(S, lower=True)
linalg.cho_solve(linalg.cho_factor(S), b)
linalg.lu(A)[2]
linalg.lu_factor(A)[0]
linalg.lu_solve(linalg.lu_factor(A), b)
linalg.ldl(S)[1]
linalg.qr(A)[1]
linalg.qr(N, mode="economic")[0]
linalg.rq(A)[0]
linalg.svd(A)[1]
linalg.svdvals(M)
linalg.eigh(S)[0]
linalg.eigh(S, eigvals_only=True)
linalg.eigh(S, np.eye(3) * 2.0)[0]
linalg.eigvalsh(S)
linalg.eigvals(A)
linalg.eig(S)[0]
linalg.eigh_tridiagonal(p, x[:4])[0]
linalg.schur(S)[0] ** 2
linalg.hessenberg(A) ** 2
linalg.polar(A)[0]
linalg.polar(A)[1]
linalg.block_diag(A, M)
linalg.toeplitz(x)
linalg.toeplitz(b, c)
linalg.hankel(x)
linalg.circulant(x)
linalg.companion(p)
linalg.khatri_rao(A, B)
linalg.signm(A + 3.0 * np.eye(3)) * s
linalg.convolution_matrix(taps, 4)
linalg.matmul_toeplitz(b, c)
linalg.null_space(M) ** 2
linalg.orth(A) ** 2
linalg.subspace_angles(N[:, :1], N[:, 1:])
linalg.fiedler(x)
linalg.leslie(p, u[:4])
linalg.bandwidth(A)[0] * s
linalg.orthogonal_procrustes(A, B)[0]
""",
    "scipy.signal": """
signal.convolve(x, taps)
signal.convolve(image, A, mode="same")
signal.correlate(x, y)
signal.fftconvolve(x, taps)
signal.oaconvolve(wave, taps)
signal.convolve2d(image, A)
signal.convolve2d(image, A, mode="valid")
signal.correlate2d(image, A, mode="same", boundary="wrap")
signal.lfilter([0.5, 0.2], [1.0, -0.3], x)
signal.lfilter(taps, [1.0], wave)
signal.lfilter(b, np.array([1.0, 0.2, 0.1]), wave)
signal.filtfilt([0.5, 0.2], [1.0, -0.3], wave)
signal.sosfilt(signal.butter(2, 0.3, output="sos"), wave)
signal.sosfiltfilt(signal.butter(2, 0.3, output="sos"), wave)
signal.hilbert(wave)
np.abs(signal.hilbert(wave))
signal.detrend(wave)
signal.detrend(wave, type="constant")
signal.savgol_filter(wave, 5, 2)
signal.medfilt(wave, 3)
signal.wiener(wave, 3)
signal.resample(wave, 20)
signal.resample_poly(wave, 3, 2)
signal.decimate(wave, 2)
signal.upfirdn(taps, x, 2)
signal.welch(wave, nperseg=16)[1]
signal.periodogram(wave)[1]
signal.csd(wave, wave ** 2, nperseg=16)[1]
signal.coherence(wave, wave ** 2 + 0.1 * wave, nperseg=8)[1]
signal.spectrogram(wave, nperseg=8)[2]
signal.stft(wave, nperseg=8)[2]
signal.istft(signal.stft(wave, nperseg=8)[2], nperseg=8)[1]
signal.freqz(taps, worN=8)[1]
signal.freqs(taps, [1.0, 0.3], [0.5, 1.0, 2.0])[1]
signal.sosfreqz(signal.butter(2, 0.3, output="sos"), 8)[1] * s
signal.windows.gaussian(7, s)
signal.windows.kaiser(7, t)
signal.windows.tukey(7, 0.5) * s
signal.get_window("hann", 8) * s
signal.chirp(rising, s, 2.0, t)
signal.gausspulse(rising, fc=t)
signal.sawtooth(rising)
signal.unit_impulse(5) * s
signal.deconvolve(x, taps)[0]
signal.lsim((([[-0.5]]), [[1.0]], [[1.0]], [[0.0]]), heights, np.arange(6.0))[1]
signal.step(([s], [1.0, t]), T=np.linspace(0.0, 2.0, 5))[1]
signal.impulse(([s], [1.0, t]), T=np.linspace(0.0, 2.0, 5))[1]
signal.bode(([s], [1.0, t]), [0.5, 1.0, 2.0])[1]
signal.freqresp(([s], [1.0, t]), [0.5, 1.0, 2.0])[1]
signal.tf2zpk([s, 0.3], [1.0, t, 0.1])[1]
signal.zpk2tf([s], [t, 0.1], 2.0)[1]
signal.tf2ss([1.0], [1.0, s, t])[0]
signal.ss2tf(A, np.ones((3, 1)), np.ones((1, 3)), np.zeros((1, 1)))[1]
signal.cont2discrete((A, np.ones((3, 1)), np.ones((1, 3)), np.zeros((1, 1))), 0.1)[0]
signal.bilinear([s], [1.0, t])[0]
signal.firwin(7, u[0])
signal.minimum_phase(taps) * s
signal.butter(2, s / 2.0)[0]
signal.vectorstrength(rising, t)[0]
signal.lombscargle(rising, heights, [0.5, 1.0, 2.0])
signal.czt(x)
signal.zoom_fft(x, 0.5)
signal.find_peaks(wave)[0] * s
signal.peak_prominences(wave, signal.find_peaks(wave)[0])[0]
signal.order_filter(x, np.ones(3), 1)
signal.windows.general_gaussian(7, 1.5, s)
signal.place_poles(A, np.ones((3, 1)), [-1.0, -2.0, -3.0]).gain_matrix
""",
    "scipy.integrate": """
integrate.trapezoid(x)
integrate.trapezoid(heights, rising)
integrate.simpson(x)
integrate.simpson(heights, x=rising)
integrate.cumulative_trapezoid(heights, rising)
integrate.cumulative_trapezoid(x, initial=0)
integrate.cumulative_simpson(x)
integrate.romb(x)
integrate.quad(lambda v: np.exp(-s * v) * v, 0.0, t)[0]
integrate.quad(lambda v: np.exp(-s * v ** 2), 0.0, np.inf)[0]
integrate.quad(np.sin, s, t)[0]
integrate.quad(lambda v, k: np.cos(k * v), 0.0, 1.0, args=(s,))[0]
integrate.quad_vec(lambda v: np.exp(-p * v), 0.0, t)[0]
integrate.fixed_quad(lambda v: np.exp(-s * v), 0.0, t, n=5)[0]
integrate.dblquad(lambda v, r: s * v * r, 0.0, 1.0, 0.0, t)[0]
integrate.nquad(lambda v, r: s * v + r ** 2, [[0.0, 1.0], [0.0, t]])[0]
integrate.odeint(lambda v, r: -s * v, b, [0.0, 0.5, 1.0])
integrate.odeint(lambda v, r, k: A @ v * k, b, [0.0, 0.5, 1.0], args=(0.1,))
integrate.solve_ivp(lambda r, v: -s * v, (0.0, 1.0), b, rtol=1e-10, atol=1e-10).y
integrate.solve_ivp(lambda r, v: A @ v, (0.0, 1.0), b, t_eval=[0.5, 1.0], rtol=1e-10, atol=1e-10).y
integrate.solve_ivp(lambda r, v: A @ v, (0.0, 1.0), b, method="Radau", rtol=1e-10, atol=1e-10).y[:, -1]
integrate.solve_ivp(lambda r, v, k: k * v, (0.0, 1.0), b, args=(s,), method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
integrate.solve_ivp(lambda r, v: -s * v, (0.0, 1.0), z[:2], method="BDF", rtol=1e-10, atol=1e-10).y[:, -1]
integrate.solve_ivp(lambda r, v: -1j * s * v, (0.0, 1.0), z, rtol=1e-10, atol=1e-10).y[:, -1]
""",
    "scipy.optimize": """
optimize.brentq(lambda v: v ** 3 - s, 0.0, 3.0, xtol=1e-14)
optimize.brentq(lambda v, k: np.cos(v) - k * v, 0.0, 2.0, args=(s,), xtol=1e-14)
optimize.bisect(lambda v: np.exp(v) - t, 0.0, 1.0, xtol=1e-14)
optimize.ridder(lambda v: v ** 2 - t, 0.5, 2.0, xtol=1e-14)
optimize.toms748(lambda v: v ** 2 - t, 0.5, 2.0, xtol=1e-14)
optimize.newton(lambda v: v ** 2 - t, 1.0, tol=1e-14)
optimize.newton(lambda v: v ** 3 - s, 1.0, fprime=lambda v: 3.0 * v ** 2, tol=1e-14)
optimize.root_scalar(lambda v: v ** 2 - t, bracket=[0.5, 2.0]).root
optimize.root(lambda v: A @ v + v ** 3 - b, np.zeros(3), tol=1e-13).x
optimize.fsolve(lambda v: np.exp(v) - p, np.zeros(5), xtol=1e-13)
optimize.fsolve(lambda v, k: v ** 2 - k, 1.0, args=(t,), xtol=1e-13)
optimize.fixed_point(lambda v: np.cos(s * v), 0.5, xtol=1e-13)
optimize.minimize(lambda v: np.sum((v - b) ** 2) + np.sum(v ** 4), np.zeros(3), tol=1e-12).x
optimize.minimize(lambda v: np.sum((v - b) ** 4 + s * v ** 2), c, method="CG", tol=1e-12).fun
optimize.minimize_scalar(lambda v: (v - s) ** 2 + v ** 4, tol=1e-12).x
optimize.minimize_scalar(lambda v: (v - s) ** 2 + v ** 4, bounds=(0, 1), method="bounded").fun
optimize.least_squares(lambda v: np.concatenate([v - b, v ** 2 - s]), np.zeros(3), xtol=1e-14, ftol=1e-14, gtol=1e-14).x
optimize.leastsq(lambda v: np.append(v - b, v[0] * s), np.zeros(3), xtol=1e-13, ftol=1e-13)[0]
optimize.curve_fit(lambda v, k, m: k * v + m, [0.1, 0.4, 1.1, 1.5, 2.2], x)[0]
optimize.curve_fit(lambda v, k, m: k / (v + m), [1.0, 2.0, 3.0, 4.0, 5.0], 2.0 + np.sort(p)[::-1], xtol=1e-13, ftol=1e-13)[0]
optimize.nnls(N, np.ones(4))[0]
optimize.lsq_linear(N, np.ones(4)).x
optimize.linprog(np.array([-s, -t]), A_ub=[[1.0, 1.0], [1.0, 3.0]], b_ub=[4.0, 6.0]).fun
optimize.linear_sum_assignment(A)[1] * s
optimize.approx_fprime(b, lambda v: s * np.sum(v))
optimize.rosen(x)
optimize.rosen_der(x)
""",
    "scipy.interpolate": """
interpolate.CubicSpline([0.0, 0.5, 1.1, 1.5, 2.0], x)(s)
interpolate.CubicSpline(rising, heights)(u + 0.4)
interpolate.CubicSpline([0.0, 0.5, 1.1, 1.5, 2.0], x, bc_type="natural")(u)
interpolate.CubicSpline([0.0, 0.5, 1.1, 1.5, 2.0], x)(u, 1)
interpolate.CubicSpline([0.0, 0.5, 1.1, 1.5, 2.0], x).derivative()(u)
interpolate.CubicSpline([0.0, 0.5, 1.1, 1.5, 2.0], x).integrate(0.1, s)
interpolate.PchipInterpolator([0.0, 0.5, 1.1, 1.5, 2.0], x)(u)
interpolate.Akima1DInterpolator([0.0, 0.5, 1.1, 1.5, 2.0], x)(u)
interpolate.interp1d([0.0, 0.5, 1.1, 1.5, 2.0], x)(u)
interpolate.interp1d([0.0, 0.5, 1.1, 1.5, 2.0], x, kind="cubic")(u)
interpolate.make_interp_spline([0.0, 0.5, 1.1, 1.5, 2.0], x)(u)
interpolate.make_interp_spline([0.0, 0.5, 1.1, 1.5, 2.0], x, k=2)(u)
interpolate.UnivariateSpline([0.0, 0.5, 1.1, 1.5, 2.0], x, s=0)(u)
interpolate.InterpolatedUnivariateSpline([0.0, 0.5, 1.1, 1.5, 2.0], x)(u)
interpolate.splev(u, interpolate.splrep([0.0, 0.5, 1.1, 1.5, 2.0], x))
interpolate.splev(u, interpolate.splrep([0.0, 0.5, 1.1, 1.5, 2.0], x), der=1)
interpolate.splint(0.1, s, interpolate.splrep([0.0, 0.5, 1.1, 1.5, 2.0], x))
interpolate.BSpline([0, 0, 0, 0, 1, 2, 2, 2, 2], x, 3)(u)
interpolate.BarycentricInterpolator([0.0, 0.5, 1.1, 1.5, 2.0], x)(u)
interpolate.KroghInterpolator([0.0, 0.5, 1.1, 1.5, 2.0], x)(u)
interpolate.lagrange([0.0, 0.5, 1.1, 1.5, 2.0], x)(s)
interpolate.CubicHermiteSpline([0.0, 0.5, 1.1, 1.5, 2.0], x, y)(u)
interpolate.RegularGridInterpolator((np.arange(6.0), np.arange(7.0)), image)(np.array([[1.3, 2.6], [0.4, 5.1]]))
interpolate.RegularGridInterpolator((np.arange(6.0), np.arange(7.0)), image)(Y + 2.0)
interpolate.interpn((np.arange(6.0), np.arange(7.0)), image, Y + 2.0)
interpolate.RectBivariateSpline(np.arange(6.0), np.arange(7.0), image)(1.3, s)
interpolate.RectBivariateSpline(np.arange(6.0), np.arange(7.0), image).ev(p, q)
interpolate.RBFInterpolator(X, x)(Y)
interpolate.griddata(np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 0.9], [0.5, 0.4]]), x, np.array([[0.4, 0.5]]))
interpolate.LinearNDInterpolator(np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 0.9], [0.5, 0.4]]), x)(0.4, 0.5)
interpolate.PPoly(M, [0.0, 1.0, 2.0, 3.0, 4.0])(p)
interpolate.pchip_interpolate([0.0, 0.5, 1.1, 1.5, 2.0], x, u)
interpolate.make_smoothing_spline([0.0, 0.5, 1.1, 1.5, 2.0], x, lam=0.1)(u)
interpolate.make_lsq_spline(np.arange(6.0), heights, [0, 0, 0, 0, 5, 5, 5, 5])(u)
""",
    "scipy.ndimage": """
ndimage.convolve(image, A)
ndimage.convolve1d(x, taps)
ndimage.correlate(image, A, mode="constant")
ndimage.correlate1d(image, taps, axis=0)
ndimage.gaussian_filter(image, 1.0)
ndimage.gaussian_filter(image, s)
ndimage.gaussian_filter1d(x, 0.8)
ndimage.gaussian_laplace(image, 1.0)
ndimage.gaussian_gradient_magnitude(image, 1.0)
ndimage.uniform_filter(image, 3)
ndimage.uniform_filter1d(x, 3)
ndimage.maximum_filter(image, 3)
ndimage.minimum_filter(image, 3)
ndimage.median_filter(image, 3)
ndimage.percentile_filter(image, 30, 3)
ndimage.rank_filter(image, 2, 3)
ndimage.sobel(image)
ndimage.prewitt(image, axis=0)
ndimage.laplace(image)
ndimage.shift(image, (0.3, -0.4))
ndimage.shift(image, s)
ndimage.zoom(image, 1.5)
ndimage.rotate(image, 20.0)
ndimage.rotate(image, 20.0, reshape=False, order=1)
ndimage.affine_transform(image, [[0.9, 0.1], [-0.1, 0.9]])
ndimage.map_coordinates(image, np.array([[1.3, 2.6, 0.4], [0.7, 3.3, 5.1]]))
ndimage.map_coordinates(image, [p + 1.0, q + 2.0], order=1)
ndimage.map_coordinates(image, [p + 1.0, q + 2.0], order=3, mode="nearest")
ndimage.spline_filter(image)
ndimage.fourier_gaussian(np.fft.fft2(image), 1.0)
ndimage.fourier_shift(np.fft.fft2(image), 0.5)
ndimage.grey_dilation(image, 3)
ndimage.grey_erosion(image, size=(3, 3))
ndimage.grey_opening(image, 3)
ndimage.sum_labels(x, [1, 2, 1, 2, 2], [1, 2])
ndimage.mean(x, [1, 2, 1, 2, 2], [1, 2])
ndimage.variance(x, [1, 2, 1, 2, 2], [1, 2])
ndimage.maximum(x, [1, 2, 1, 2, 2], [1, 2])
ndimage.center_of_mass(p)
ndimage.generic_gradient_magnitude(image, ndimage.sobel)
ndimage.distance_transform_edt(image > 0) * s
""",
    "scipy.spatial": """
distance.cdist(X, Y)
distance.cdist(X, Y, "sqeuclidean")
distance.cdist(X, Y, "cityblock")
distance.cdist(X, Y, metric="cosine")
distance.cdist(X, Y, "minkowski", p=3)
distance.cdist(X, Y, "mahalanobis", VI=np.array([[2.0, 0.3], [0.3, 1.0]]))
distance.pdist(X)
distance.pdist(X, "cosine")
distance.pdist(X, "chebyshev")
distance.squareform(distance.pdist(X))
distance.euclidean(x, y)
distance.sqeuclidean(x, y)
distance.cityblock(x, y)
distance.chebyshev(x, y)
distance.cosine(x, y)
distance.correlation(x, y)
distance.canberra(p, q)
distance.braycurtis(p, q)
distance.minkowski(x, y, 3)
distance.mahalanobis(b, c, S)
distance.seuclidean(x, y, p)
distance.jensenshannon(p, q)
spatial.distance_matrix(X, Y)
spatial.ConvexHull(np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0]])).volume * s
spatial.procrustes(X, X ** 2 + 0.1)[2]
spatial.transform.Rotation.from_rotvec(b).apply(c)
spatial.transform.Rotation.from_euler("xyz", b).as_matrix()
spatial.transform.Rotation.from_quat(x[:4]).as_rotvec()
spatial.cKDTree(X).query(Y)[0]
spatial.minkowski_distance(x, y)
""",
    "scipy.sparse": """
sparse.csr_array(np.eye(3)) @ b
sparse.csr_array(A) @ b
(sparse.csr_matrix(A) * s).toarray()
(sparse.csc_array(A) @ sparse.csr_array(B)).toarray()
sparse.diags_array(x) @ y
sparse.diags([x, y[:4]], [0, 1]) @ p
sparse.csr_array((p, ([0, 1, 2, 0, 1], [0, 1, 2, 1, 2])), shape=(3, 3)) @ b
sparse.coo_array((p, ([0, 1, 2, 0, 1], [0, 1, 2, 1, 2])), shape=(3, 3)).toarray()
sparse.csr_array(A).sum(axis=0)
sparse.csr_array(A).T @ b
sparse.csr_array(A).multiply(B).toarray()
sparse.csr_array(A).diagonal()
sparse.csr_array(A).data
sparse.csr_array(A).power(2).toarray()
sparse.kron(sparse.csr_array(A), sparse.eye_array(2)).toarray()
sparse.hstack([sparse.csr_array(A), sparse.csr_array(B)]).toarray()
sparse.block_diag([A, B]).toarray()
sparse.tril(sparse.csr_array(A)).toarray()
(sparse.csr_array(A) + sparse.eye_array(3)).toarray()
sparse.linalg.spsolve(sparse.csc_array(A), b)
sparse.linalg.spsolve(sparse.csc_array(np.diag([2.0, 3.0, 4.0])), b)
sparse.linalg.splu(sparse.csc_array(A)).solve(b)
sparse.linalg.factorized(sparse.csc_array(A))(b)
sparse.linalg.cg(S, b, rtol=1e-13)[0]
sparse.linalg.gmres(A, b, rtol=1e-13)[0]
sparse.linalg.bicgstab(A, b, rtol=1e-13)[0]
sparse.linalg.minres(S, b, rtol=1e-13)[0]
sparse.linalg.lsqr(N, np.ones(4), atol=1e-14, btol=1e-14)[0]
sparse.linalg.spsolve_triangular(sparse.csr_array(np.tril(A)), b)
sparse.linalg.inv(sparse.csc_array(A)).toarray()
sparse.linalg.expm(sparse.csc_array(A)).toarray()
sparse.linalg.expm_multiply(A, b)
sparse.linalg.eigsh(S, k=1)[0]
sparse.linalg.eigs(A, k=1)[0]
sparse.linalg.svds(A, k=1)[1]
sparse.linalg.norm(sparse.csr_array(A))
sparse.linalg.aslinearoperator(A).matvec(b)
sparse.linalg.LinearOperator((3, 3), matvec=lambda v: A @ v).matvec(b)
sparse.csgraph.laplacian(np.abs(A))
sparse.csgraph.shortest_path(np.abs(A))
sparse.csgraph.dijkstra(np.abs(A), indices=0)
""",
    "scipy.fft": """
fft.fft(x)
fft.ifft(z)
fft.rfft(wave)
fft.irfft(z, 8)
fft.fft2(image)
fft.ifft2(Z)
fft.rfftn(T)
fft.irfftn(Z)
fft.hfft(z)
fft.ihfft(x)
fft.dct(x)
fft.dct(x, type=3, norm="ortho")
fft.idct(x)
fft.dst(x, 1)
fft.idst(x, type=4)
fft.dctn(image)
fft.idctn(image)
fft.dstn(image, type=2)
fft.fht(p, 0.1, 0.5)
fft.fftshift(x)
""",
    "numpy.random": """
np.random.default_rng(0).normal(s, t, 4)
np.random.default_rng(0).uniform(s, t, size=4)
np.random.default_rng(0).normal(size=5) * x
np.random.default_rng(0).exponential(t, 3)
np.random.default_rng(0).choice(x, 3)
np.random.default_rng(0).permutation(x)
np.random.default_rng(0).lognormal(s, t)
np.random.default_rng(0).laplace(s, t, 3)
np.random.RandomState(0).normal(s, t, 3)
np.random.RandomState(0).rand(5) * x
""",
}

REFUSED = {
    *"""
np.ma.masked_less(x, -9.0).filled(0.0)
np.sum(np.histogram(u, bins=3, density=True)[0]) * s
np.pad(x, 1, constant_values=s)
np.poly(A)
signal.place_poles(A, np.ones((3, 1)), [-1.0, -2.0, -3.0]).gain_matrix
integrate.solve_ivp(lambda r, v: -s * v, (0.0, 1.0), b, rtol=1e-10, atol=1e-10).y
optimize.approx_fprime(b, lambda v: s * np.sum(v))
interpolate.CubicSpline(rising, heights)(u + 0.4)
interpolate.RBFInterpolator(X, x)(Y)
ndimage.generic_gradient_magnitude(image, ndimage.sobel)
spatial.transform.Rotation.from_quat(x[:4]).as_rotvec()
spatial.cKDTree(X).query(Y)[0]
sparse.linalg.spsolve_triangular(sparse.csr_array(np.tril(A)), b)
sparse.linalg.eigs(A, k=1)[0]
sparse.linalg.aslinearoperator(A).matvec(b)
sparse.linalg.LinearOperator((3, 3), matvec=lambda v: A @ v).matvec(b)
sparse.csgraph.shortest_path(np.abs(A))
sparse.csgraph.dijkstra(np.abs(A), indices=0)
""".strip().split("\n")
}
"""Those that are refused in one mode or both."""

HEAD = """import numpy as np
import scipy
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, spatial, special, stats
from scipy.sparse import csgraph, linalg as _
from scipy.spatial import distance, transform
"""
STEPS = ((1e-5, 2e-6, 1e-5), (2e-3, 1e-3, 3e-4))
"""Of differences: two steps, and how well they agree.  The second ones are for what a search finds to its tolerance."""


def calls() -> list[tuple[str, str]]:
    """(section, call) of all."""
    return [(section, line) for section, lines in CALLS.items() for line in lines.strip().split("\n")]


def parameters(call: str) -> list[str]:
    """The names of the arguments, in the order of `VALUES`: free names of the expression."""
    tree = ast.parse(call, mode="eval")
    bound = {arg.arg for node in ast.walk(tree) if isinstance(node, ast.Lambda) for arg in node.args.args}
    bound |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound
    return [name for name in VALUES if name in used]


def source(call: str) -> str:
    """A module with a function `f` of the arguments, which gives a weighted sum of the result."""
    names = ", ".join(parameters(call))
    weights = "np.cos(1.0 + np.arange(np.size(r))).reshape(np.shape(r))"
    total = (
        f"np.sum(np.real(r * {weights}) + 0.7 * np.imag(r * {weights}))" if is_complex(call) else f"np.sum({weights} * r)"
    )
    return f"{HEAD}\n\ndef f({names}):\n    r = {call}\n    return {total}\n"


def space() -> dict:
    found: dict = {}
    exec(HEAD, found)
    return found


def is_complex(call: str) -> bool:
    """Whether its result is complex."""
    found = eval(call, space() | {name: copied(value) for name, value in VALUES.items()})
    return bool(np.iscomplexobj(found))


def copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def judged(call: str) -> tuple[str, str]:
    """(right, refused, wrong or unjudged; why)."""
    from judging import loaded

    from s2sgrad import S2SGradError, value_and_grad
    from s2sgrad.api.forward import jvp
    from s2sgrad.runtime.checks import Refusal

    names = parameters(call)
    with loaded(source(call), "<one line>") as f, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        directions, slopes, value = expected(f, names)
        for mode in ("reverse", "forward"):
            args = [copied(VALUES[name]) for name in names]
            try:
                if mode == "reverse":
                    own, bars = value_and_grad(f, tuple(range(len(names))))(*args)
                    if any(np.shape(bar) != np.shape(arg) for bar, arg in zip(bars, args, strict=True)):
                        return "wrong", "reverse: shape"
                    got = [float(np.sum(np.real(bar * d))) for bar, d in zip(bars, directions, strict=True)]
                else:
                    got = []
                    for k, direction in enumerate(directions):
                        own, tangent = jvp(
                            f, tuple(map(copied, args)), tuple(direction if i == k else None for i in range(len(args)))
                        )
                        got.append(float(tangent))
            except (S2SGradError, Refusal) as error:
                return "refused", f"{mode}: {type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
            except Exception as error:
                return "wrong", f"{mode}: {type(error).__name__}: {error}"
            if not np.allclose(own, value, rtol=1e-12, atol=1e-12):
                return "wrong", f"{mode}: value {own} for {value}"
            scale = max(1.0, abs(value))
            if not all(abs(a - b) <= 10.0 * limit * max(scale, abs(b)) for a, (b, limit) in zip(got, slopes, strict=True)):
                return "wrong", f"{mode}: {got} for {slopes}"
    return "right", ""


def _slopes(f, args, k, direction, steps):
    """The slope along a direction in one argument, by differences of each step."""
    for h in steps:
        ahead, behind = (f(*(copied(a) if i != k else a + t * direction for i, a in enumerate(args))) for t in (h, -h))
        yield float((ahead - behind) / (2.0 * h))


def expected(f, names):
    """A direction in each argument, the slopes along them with the accuracy of each, and the value."""
    rng = np.random.default_rng(7)
    args = [VALUES[name] for name in names]
    directions, slopes = [], []
    for k, arg in enumerate(args):
        direction = rng.uniform(0.3, 1.0, np.shape(arg)) * rng.choice((-1.0, 1.0), np.shape(arg))
        if np.iscomplexobj(arg):
            direction = direction * (0.8 - 0.6j)
        elif names[k] == "S":
            direction = direction + direction.T
        direction = direction if isinstance(arg, np.ndarray) else float(direction)
        found = [(*_slopes(f, args, k, direction, steps[:2]), steps[2]) for steps in STEPS]
        settled = [(fine, limit) for rough, fine, limit in found if abs(rough - fine) <= limit * max(1.0, abs(fine))]
        assert settled, f"differences of two steps disagree: {found}"
        directions.append(direction)
        slopes.append(settled[0])
    return directions, slopes, f(*map(copied, args))


def main() -> int:
    wanted, counts = sys.argv[1:], Counter()
    for section, call in calls():
        if wanted and not any(text in f"{section}: {call}" for text in wanted):
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                word, why = judged(call)
            except Exception as error:
                word, why = "unjudged", f"{type(error).__name__}: {error}"
        counts[word] += 1
        if word != ("refused" if call in REFUSED else "right"):
            print(f"{word:8} {call}\n         {why}", flush=True)
    print(f"{sum(counts.values())} calls: " + ", ".join(f"{n} {word}" for word, n in counts.most_common()))
    return 1 if counts["wrong"] or counts["unjudged"] else 0


if __name__ == "__main__":
    sys.exit(main())
