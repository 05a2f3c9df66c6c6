"""scipy.fft: Fourier transforms of complex numbers, cosine and sine transforms of real ones."""

from __future__ import annotations

from scipy import fft

from s2sgrad.rules.scipy import fft as rules

from . import complex_numbers
from .base import example, normal
from .complex_numbers import cplx

complexly = complex_numbers.example

for _f in (fft.fft, fft.ifft, fft.irfft, fft.hfft):
    complexly(_f, cplx(5))
    complexly(_f, cplx(2, 6), norm="ortho")
    for _n in (3, 7):
        complexly(_f, cplx(6), _n, workers=1)
        complexly(_f, cplx(5, 2), n=_n, axis=0, norm="forward")
for _f in (fft.fft, fft.rfft, fft.ihfft):
    complexly(_f, normal(5))
    complexly(_f, normal(2, 6), norm="ortho")
    for _n in (3, 4, 7):
        complexly(_f, normal(6), _n)
        complexly(_f, normal(5, 2), n=_n, axis=0, norm="forward")
for _f in (fft.fftn, fft.ifftn, fft.fft2, fft.ifft2, fft.irfftn, fft.irfft2, fft.hfftn, fft.hfft2):
    complexly(_f, cplx(4, 3))
    complexly(_f, cplx(2, 4, 3), axes=(0, 2), norm="ortho")
    complexly(_f, cplx(4, 3), s=(3, 4), axes=(-1, 0))
for _f in (fft.irfft, fft.hfft):
    complexly(_f, normal(5))
    complexly(_f, normal(2, 6), n=7, axis=0, norm="ortho")
for _f in (fft.irfftn, fft.irfft2, fft.hfftn, fft.hfft2):
    complexly(_f, normal(4, 3))
    complexly(_f, normal(2, 4, 3), axes=(0, 2), norm="ortho")
for _f in (fft.rfftn, fft.rfft2, fft.ihfftn, fft.ihfft2):
    complexly(_f, normal(4, 3))
    complexly(_f, normal(2, 4, 3), axes=(0, 2), norm="forward")
    complexly(_f, normal(4, 3), s=(3, 4), axes=(-1, 0))
complexly(fft.fftn, cplx(4, 3), 5, 0)
complexly(fft.rfftn, normal(4, 3), 5, 0)
for _f in (fft.fftshift, fft.ifftshift):
    example(_f, normal(5))
    example(_f, normal(2, 5), axes=1)
for _f in (fft.dct, fft.idct, fft.dst, fft.idst, fft.dctn, fft.idctn, fft.dstn, fft.idstn):
    example(_f, normal(2, 4), norm="ortho")
    example(_f, normal(3, 4), 3, norm="ortho")
for _type in (1, 2, 3, 4):
    for _f, _g in ((fft.dct, fft.dctn), (fft.idct, fft.idctn), (fft.dst, fft.dstn), (fft.idst, fft.idstn)):
        example(_f, normal(5), _type)
        example(_f, normal(4, 2), type=_type, axis=0, norm="forward")
        example(_f, normal(5), _type, 3 + _type)
        example(_f, normal(5), _type, orthogonalize=True)
        example(_f, normal(5), _type, norm="ortho", orthogonalize=False)
        example(_g, normal(2, 3), _type)
        example(_g, normal(2, 4, 3), _type, s=(3, 3), axes=(0, -2), norm="forward", orthogonalize=True)
    example(rules.transposed_dct, normal(5), normal(4), _type, -1, None, None)
    example(rules.transposed_dst, normal(5), normal(6), _type, -1, None, None)
    example(rules.transposed_dctn, normal(4, 3), normal(4, 2), _type, None, None, "ortho", False)
    example(rules.transposed_dstn, normal(4, 3), normal(4, 5), _type, None, (1,), "forward", None)
example(fft.fftfreq, 5, 0.4)
example(fft.rfftfreq, 5, d=0.4)

for _f in (fft.fht, fft.ifht):
    example(_f, normal(6), 0.1, 0.5)
    example(_f, normal(2, 5), 0.2, 0.3, offset=0.1, bias=-0.2)
