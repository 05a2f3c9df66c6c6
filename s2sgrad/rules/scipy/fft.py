"""Rules of scipy.fft: those of np.fft, and cosine and sine transforms.

    y = fft.fft(x)                    ->      x_bar = fft.fft(y_bar)                      cut or padded to the length of `x`
    y = fft.dct(x, norm="ortho")      ->      x_bar = fft.idct(y_bar, norm="ortho")       an orthogonal matrix
    y = fft.dct(x)                    ->      x_bar = transposed_dct(y_bar, x, ..)        type 3, of y_bar[0] twice

Types 2 and 3 are transposes of each other, types 1 and 4 are symmetric, but for the ends.  Where SciPy does not make the
matrix orthogonal, cosines of type 1 count both ends half as much as the rest.  Those of type 3 do so with the first value,
and sines of type 3 the last one (Makhoul 1980, "A fast cosine transform in one and two dimensions").
"""

from __future__ import annotations

import numpy as np
from scipy import fft as transforms

from s2sgrad.rules.fourier import (
    as_long,
    axes_of,
    fitted_to,
    half_spectra,
    half_spectrum,
    lengths,
    opposite,
    plain,
    whole_spectra,
    whole_spectrum,
)
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import complex_of_real_numbers, existing, flat, general, linear, of_complex_numbers, rule_of
from s2sgrad.runtime import unbroadcast

KEEPS = "a transform with `overwrite_x` may destroy what its derivative needs: leave `overwrite_x` out"


def destroys(overwrite_x):
    """The transform may overwrite its argument."""
    return not (overwrite_x.known and not overwrite_x.value)


# --- one axis --------------------------------------------------------------------------------------------------------


@linear(transforms.fft)
def fft(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return fitted_to(transforms.fft(g, axis=axis, norm=norm, workers=workers), x, axis)


@fft.refined(lambda n, workers: as_long(n) and as_long(workers))
def _(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transforms.fft(g, axis=axis, norm=norm)


@fft.refined(lambda n, axis, norm, workers: plain(n, axis, norm) and as_long(workers))
def _(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transforms.fft(g)


@linear(transforms.ifft)
def ifft(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return fitted_to(transforms.ifft(g, axis=axis, norm=norm, workers=workers), x, axis)


@ifft.refined(lambda n, workers: as_long(n) and as_long(workers))
def _(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transforms.ifft(g, axis=axis, norm=norm)


@ifft.refined(lambda n, axis, norm, workers: plain(n, axis, norm) and as_long(workers))
def _(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transforms.ifft(g)


@linear(transforms.rfft)
def rfft(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return whole_spectrum(g, x, n, axis, norm)


@rfft.refined(plain)
def _(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return transforms.fft(g, np.shape(x)[-1])  # of which the real part is taken


@linear(transforms.irfft)
def irfft(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return half_spectrum(g, x, axis, norm)


@linear(transforms.hfft)
def hfft(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return np.conj(half_spectrum(g, x, axis, opposite(norm)))


@linear(transforms.ihfft)
def ihfft(g, y, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
    return whole_spectrum(np.conj(g), x, n, axis, opposite(norm))


# --- several axes ----------------------------------------------------------------------------------------------------


@linear(transforms.fftn)
def fftn(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    places = axes_of(x, s, axes)
    return fitted_to(transforms.fftn(g, axes=places, norm=norm, workers=workers), x, places)


@fftn.refined(lambda s, workers: as_long(s) and as_long(workers))
def _(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    return transforms.fftn(g, axes=axes, norm=norm)


@linear(transforms.ifftn)
def ifftn(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    places = axes_of(x, s, axes)
    return fitted_to(transforms.ifftn(g, axes=places, norm=norm, workers=workers), x, places)


@ifftn.refined(lambda s, workers: as_long(s) and as_long(workers))
def _(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    return transforms.ifftn(g, axes=axes, norm=norm)


@linear(transforms.fft2)
def fft2(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return fitted_to(transforms.fft2(g, axes=axes, norm=norm, workers=workers), x, axes)


@fft2.refined(lambda s, norm, workers: as_long(s) and as_long(norm) and as_long(workers))
def _(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return transforms.fft2(g, axes=axes)


@linear(transforms.ifft2)
def ifft2(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return fitted_to(transforms.ifft2(g, axes=axes, norm=norm, workers=workers), x, axes)


@ifft2.refined(lambda s, norm, workers: as_long(s) and as_long(norm) and as_long(workers))
def _(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return transforms.ifft2(g, axes=axes)


@linear(transforms.rfftn)
def rfftn(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    return whole_spectra(g, x, s, axes, norm)


@linear(transforms.rfft2)
def rfft2(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return whole_spectra(g, x, s, axes, norm)


@linear(transforms.irfftn)
def irfftn(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    return half_spectra(g, x, s, axes, norm)


@linear(transforms.irfft2)
def irfft2(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return half_spectra(g, x, s, axes, norm)


@linear(transforms.hfftn)
def hfftn(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    return np.conj(half_spectra(g, x, s, axes, opposite(norm)))


@linear(transforms.hfft2)
def hfft2(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return np.conj(half_spectra(g, x, s, axes, opposite(norm)))


@linear(transforms.ihfftn)
def ihfftn(g, y, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    return whole_spectra(np.conj(g), x, s, axes, opposite(norm))


@linear(transforms.ihfft2)
def ihfft2(g, y, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None):
    return whole_spectra(np.conj(g), x, s, axes, opposite(norm))


# --- cosines and sines -----------------------------------------------------------------------------------------------


def orthogonal(norm, orthogonalize):
    """Whether SciPy scales the ends of the transform, so that types 2 and 3 are transposes and type 1 is symmetric."""
    return norm == "ortho" if orthogonalize is None else orthogonalize


def inverse(type):
    """The type of the inverse."""
    return (1, 3, 2, 4)[type - 1]


flat(inverse)


def _scaled(g, axis, places, factor):
    """`g` with the values at these places of an axis multiplied by `factor`."""
    weights = np.ones(np.shape(g)[axis], dtype=g.real.dtype)
    weights[places] = factor
    return g * weights.reshape((-1,) + (1,) * (np.ndim(g) - 1 - axis % np.ndim(g)))


def _transposed(transform, end, g, x, type, axis, norm, orthogonalize):
    """The transpose of a transform, of which type 3 has its lighter value at `end`."""
    light = {1: [0, -1] if end == 0 else [], 3: [end]}
    if orthogonal(norm, orthogonalize):
        light = {}
    g = _scaled(g, axis, light.get(inverse(type), []), 2.0)
    bar = transform(g, inverse(type), axis=axis, norm=norm, orthogonalize=orthogonalize)
    return fitted_to(_scaled(bar, axis, light.get(type, []), 0.5), x, axis)


def transposed_dct(g, x, type, axis, norm, orthogonalize):
    """The cotangent of `x` in `fft.dct(x, type, n, axis, norm, orthogonalize=orthogonalize)`."""
    return _transposed(transforms.dct, 0, g, x, type, axis, norm, orthogonalize)


def transposed_dst(g, x, type, axis, norm, orthogonalize):
    """The cotangent of `x` in `fft.dst(x, type, n, axis, norm, orthogonalize=orthogonalize)`."""
    return _transposed(transforms.dst, -1, g, x, type, axis, norm, orthogonalize)


def transposed_dctn(g, x, type, s, axes, norm, orthogonalize):
    """The cotangent of `x` in `fft.dctn(x, type, s, axes, norm, orthogonalize=orthogonalize)`."""
    for axis in axes_of(x, s, axes):
        g = transposed_dct(g, x, type, axis, norm, orthogonalize)
    return g


def transposed_dstn(g, x, type, s, axes, norm, orthogonalize):
    """The cotangent of `x` in `fft.dstn(x, type, s, axes, norm, orthogonalize=orthogonalize)`."""
    for axis in axes_of(x, s, axes):
        g = transposed_dst(g, x, type, axis, norm, orthogonalize)
    return g


@linear(transposed_dct)
def _(w, y, g, x, type, axis, norm, orthogonalize):
    bar = transforms.dct(w, type, np.shape(g)[axis], axis, norm, orthogonalize=orthogonalize)
    return bar, None, None, None, None, None


@linear(transposed_dctn)
def _(w, y, g, x, type, s, axes, norm, orthogonalize):
    places = axes_of(x, s, axes)
    bar = transforms.dctn(w, type, lengths(g, places), places, norm, orthogonalize=orthogonalize)
    return bar, None, None, None, None, None, None


@linear(transposed_dst)
def _(w, y, g, x, type, axis, norm, orthogonalize):
    bar = transforms.dst(w, type, np.shape(g)[axis], axis, norm, orthogonalize=orthogonalize)
    return bar, None, None, None, None, None


@linear(transposed_dstn)
def _(w, y, g, x, type, s, axes, norm, orthogonalize):
    places = axes_of(x, s, axes)
    bar = transforms.dstn(w, type, lengths(g, places), places, norm, orthogonalize=orthogonalize)
    return bar, None, None, None, None, None, None


def last(axis):
    """The transform is one of the last axis."""
    return axis.known and axis.value == -1


def turns(n, norm, orthogonalize):
    """The transform is an orthogonal matrix."""
    return as_long(n) and as_long(orthogonalize) and norm.known and norm.value == "ortho"


@linear(transforms.dct)
def dct(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dct(g, x, type, axis, norm, orthogonalize)


@dct.refined(turns)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.idct(g, type, axis=axis, norm=norm)


@dct.refined(
    lambda type, n, axis, norm, orthogonalize: (
        type.known and type.value == 2 and last(axis) and turns(n, norm, orthogonalize)
    )
)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.idct(g, norm=norm)


@linear(transforms.dctn)
def dctn(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dctn(g, x, type, s, axes, norm, orthogonalize)


@dctn.refined(lambda s, norm, orthogonalize: turns(s, norm, orthogonalize))
def _(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.idctn(g, type, axes=axes, norm=norm)


@linear(transforms.idct)
def idct(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dct(g, x, inverse(type), axis, opposite(norm), orthogonalize)


@idct.refined(turns)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.dct(g, type, axis=axis, norm=norm)


@idct.refined(
    lambda type, n, axis, norm, orthogonalize: (
        type.known and type.value == 2 and last(axis) and turns(n, norm, orthogonalize)
    )
)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.dct(g, norm=norm)


@linear(transforms.idctn)
def idctn(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dctn(g, x, inverse(type), s, axes, opposite(norm), orthogonalize)


@idctn.refined(lambda s, norm, orthogonalize: turns(s, norm, orthogonalize))
def _(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.dctn(g, type, axes=axes, norm=norm)


@linear(transforms.dst)
def dst(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dst(g, x, type, axis, norm, orthogonalize)


@dst.refined(turns)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.idst(g, type, axis=axis, norm=norm)


@dst.refined(
    lambda type, n, axis, norm, orthogonalize: (
        type.known and type.value == 2 and last(axis) and turns(n, norm, orthogonalize)
    )
)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.idst(g, norm=norm)


@linear(transforms.dstn)
def dstn(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dstn(g, x, type, s, axes, norm, orthogonalize)


@dstn.refined(lambda s, norm, orthogonalize: turns(s, norm, orthogonalize))
def _(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.idstn(g, type, axes=axes, norm=norm)


@linear(transforms.idst)
def idst(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dst(g, x, inverse(type), axis, opposite(norm), orthogonalize)


@idst.refined(turns)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.dst(g, type, axis=axis, norm=norm)


@idst.refined(
    lambda type, n, axis, norm, orthogonalize: (
        type.known and type.value == 2 and last(axis) and turns(n, norm, orthogonalize)
    )
)
def _(g, y, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.dst(g, norm=norm)


@linear(transforms.idstn)
def idstn(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transposed_dstn(g, x, inverse(type), s, axes, opposite(norm), orthogonalize)


@idstn.refined(lambda s, norm, orthogonalize: turns(s, norm, orthogonalize))
def _(g, y, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return transforms.dstn(g, type, axes=axes, norm=norm)


# --- the rest --------------------------------------------------------------------------------------------------------


@linear(transforms.fftshift)
def fftshift(g, y, x, axes=None):
    return transforms.ifftshift(g, axes)


@linear(transforms.ifftshift)
def ifftshift(g, y, x, axes=None):
    return transforms.fftshift(g, axes)


for _rule in (
    fft,
    ifft,
    rfft,
    irfft,
    hfft,
    ihfft,
    fftn,
    ifftn,
    fft2,
    ifft2,
    rfftn,
    rfft2,
    irfftn,
    irfft2,
    hfftn,
    hfft2,
    ihfftn,
    ihfft2,
    dct,
    dctn,
    idct,
    idctn,
    dst,
    dstn,
    idst,
    idstn,
):
    _rule.refuse(destroys, KEEPS)
flat(transforms.next_fast_len, *existing(transforms, "prev_fast_len"))


@general(transforms.fftfreq, transforms.rfftfreq)
def fftfreq(g, y, n, d=1.0, *, xp=None, device=None):
    return None


@fftfreq.keyword("d")
def fftfreq_d(g, y, n, d=1.0, *, xp=None, device=None):
    return unbroadcast(-g * y / d, d)


@fftfreq_d.forward()
def _(y, n, d_dot, d=1.0, *, xp=None, device=None):
    return -y * (d_dot / d)


fftfreq.constant("n")
of_complex_numbers(
    transforms.fft,
    transforms.ifft,
    transforms.rfft,
    transforms.irfft,
    transforms.hfft,
    transforms.ihfft,
    transforms.fftn,
    transforms.ifftn,
    transforms.fft2,
    transforms.ifft2,
    transforms.rfftn,
    transforms.rfft2,
    transforms.irfftn,
    transforms.irfft2,
    transforms.hfftn,
    transforms.hfft2,
    transforms.ihfftn,
    transforms.ihfft2,
    transforms.dct,
    transforms.dctn,
    transforms.idct,
    transforms.idctn,
    transforms.dst,
    transforms.dstn,
    transforms.idst,
    transforms.idstn,
    transforms.fftshift,
    transforms.ifftshift,
    transposed_dct,
    transposed_dst,
    transposed_dctn,
    transposed_dstn,
)
for _rule in (
    dct,
    dctn,
    idct,
    idctn,
    dst,
    dstn,
    idst,
    idstn,
    *map(rule_of, (transposed_dct, transposed_dst, transposed_dctn, transposed_dstn)),
):
    _rule.refuse(
        lambda orthogonalize, complex: complex and not as_long(orthogonalize),
        "SciPy leaves `orthogonalize` out where it transforms complex numbers: leave it out, or transform both parts",
    )
    _rule.refuse(lambda type: is_container(type), "`type` is one of 1, 2, 3 and 4")
complex_of_real_numbers(
    transforms.fft, transforms.ifft, transforms.rfft, transforms.ihfft, transforms.fftn, transforms.ifftn, transforms.fft2,
    transforms.ifft2, transforms.rfftn, transforms.rfft2, transforms.ihfftn, transforms.ihfft2,
)  # fmt: skip

# --- Hankel transforms -----------------------------------------------------------------------------------------------


@general(transforms.fht)
def fht(g, y, a, dln, mu, offset=0.0, bias=0.0):  # a circular convolution, read backwards: symmetric
    return transforms.fht(g, dln, mu, offset, bias), None, None


@general(transforms.ifht)
def ifht(g, y, A, dln, mu, offset=0.0, bias=0.0):
    return transforms.ifht(g, dln, mu, offset, bias), None, None


fht.linear_in("a")
ifht.linear_in("A")
for _rule in (fht, ifht):
    for _name in ("dln", "mu"):
        _rule.constant(_name)
flat(transforms.get_workers)
