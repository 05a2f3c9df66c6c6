"""Forms, maps and designs of filters of scipy.signal, which are stated again."""

from __future__ import annotations

import numpy as np
from scipy import signal

from s2sgrad.rules.scipy import filter_forms

from . import complex_numbers
from .base import example, younger

complexly = complex_numbers.example

_b, _a = np.array([0.3, 0.5]), np.array([1.3, 0.4, -0.2])
_A, _B = np.array([[0.3, 0.5], [-0.2, 0.1]]), np.array([[1.0, 0.2], [0.3, 0.4]])
_C, _D = np.array([[0.4, 0.5]]), np.array([[0.3, 0.2]])
_z, _p = np.array([0.3 + 0.1j, 0.7 - 0.2j]), np.array([0.2 + 0.3j, -0.5 + 0.4j, 0.9 - 0.1j])
_sos = np.array([[0.3, 0.5, -0.2, 1.0, -0.4, 0.2], [0.7, 0.1, 0.4, 1.0, 0.3, -0.1]])

example(signal.normalize, _b, _a)
example(signal.normalize, np.array([[0.3, 0.5], [0.1, 0.2]]), _a)
example(signal.tf2ss, _b, _a)
example(signal.tf2ss, np.array([[0.3, 0.5, 0.1], [0.2, 0.3, 0.4]]), _a)
example(signal.ss2tf, _A, _B, _C, _D)
example(signal.ss2tf, _A, _B, _C, _D, 1)
example(signal.abcd_normalize, _A, _B, _C, _D)
example(signal.zpk2tf, np.array([0.3]), np.array([0.5, 0.1, -0.3]), 0.7)
complexly(signal.zpk2tf, _z, _p, 0.7)
complexly(signal.zpk2ss, np.array([0.3 + 0.1j]), np.array([0.5, 0.1 - 0.2j]), 0.7)
complexly(filter_forms.zeros_of, np.array([0.3, 0.5, 2.0, 0.7]))
complexly(signal.tf2zpk, np.array([0.3, 0.5, 2.0]), _a)
complexly(signal.ss2zpk, _A, _B, _C, _D)
complexly(signal.sos2zpk, _sos)
complexly(signal.residue, np.array([0.3, 0.5]), np.array([1.3, 0.4, -0.2, 0.1]))
complexly(signal.residue, np.array([0.3, 0.5, 2.0, 0.7]), np.array([1.3, 0.4, -0.2]))
complexly(signal.residuez, np.array([0.3, 0.5]), np.array([1.3, 0.4, -0.2, 0.1]))
complexly(signal.residuez, np.array([0.3, 0.5, 2.0, 0.7]), np.array([1.3, 0.4, -0.2]))
for _f in (signal.invres, signal.invresz):
    example(_f, np.array([0.3, 0.5]), np.array([0.2, -0.5]), np.array([0.7, 0.3]))
    example(_f, np.array([0.3, 0.5, 0.2]), np.array([0.2, -0.5, 0.9]), [])
    complexly(_f, np.array([0.3, 0.5, 0.7 + 0.2j]), _p, np.array([0.7]))
example(signal.sos2tf, _sos)
example(signal.zpk2sos, np.array([0.3, 0.7]), np.array([0.2, -0.5]), 0.7)
example(signal.zpk2sos, np.array([0.3]), np.array([0.2, -0.5, 0.7]), 0.7, "keep_odd")
example(signal.tf2sos, np.array([0.3, 0.5, 2.0]), np.array([1.3, 0.4, -0.2, 0.1, 0.05]))
for _f in (signal.lp2lp, signal.lp2hp, signal.bilinear):
    example(_f, _b, _a, 0.7)
for _f in (signal.lp2bp, signal.lp2bs):
    example(_f, _b, _a, 0.7, bw=0.3)
for _f in (signal.lp2lp_zpk, signal.lp2hp_zpk, signal.bilinear_zpk):
    complexly(_f, _z, _p, 0.6, 0.7)
for _f in (signal.lp2bp_zpk, signal.lp2bs_zpk):
    complexly(_f, _z, _p, 0.6, 0.7, 0.3)
example(signal.cont2discrete, (_A, _B, _C, _D), 0.3)
example(signal.cont2discrete, (_A, _B, _C, _D), 0.3, "gbt", 0.3)
example(signal.cont2discrete, (_b, _a), 0.3, method="euler")

complexly(signal.cheb1ap, 3, 1.3)
complexly(signal.cheb2ap, 4, 20.0)
example(signal.butter, 3, 0.3)
example(signal.butter, 2, np.array([0.2, 0.4]), "band")
example(signal.butter, 2, np.array([0.2, 0.4]), "bandstop", output="sos")
example(signal.butter, 3, 30.0, "high", output="sos", fs=200.0)
example(signal.bessel, 3, 0.3, analog=True)
example(signal.cheby1, 4, 1.2, 0.3, fs=2.0)
example(signal.cheby2, 3, 21.2, 0.3, fs=2.0)
example(signal.ellip, 3, 1.2, 21.0, 0.3, fs=2.0)
example(signal.bessel, 2, 0.3, fs=2.0)
example(signal.iirfilter, 2, np.array([0.2, 0.4]), 1.2, btype="bandpass", ftype="cheby1", fs=2.0)
example(signal.iirnotch, 0.3, 10.0)
example(signal.iirnotch, 30.0, 10.0, fs=200.0)
example(signal.iirpeak, 30.0, 10.0, fs=200.0)
example(signal.gammatone, 0.3, "fir")
example(signal.gammatone, 440.0, "fir", 3, 12, fs=16000.0)
example(signal.gammatone, 440.0, "iir", fs=16000.0)
example(signal.gammatone, 0.3, "iir")
_plane = younger(signal, "firwin_2d")
example(_plane, (5, 4), ("hamming", "hann"), fc=0.3)
example(_plane, (5, 3), (("kaiser", 4.0), "hann"), fc=np.array([0.3, 0.6]), fs=2.5)
example(_plane, (4, 5), "hamming", fc=0.3, circular=True)
example(signal.firwin, 9, 0.3)
example(signal.firwin, 9, np.array([0.3, 0.6]), pass_zero=False, fs=2.0)
example(signal.firwin, 9, 0.3, width=0.4)
example(signal.firwin, 9, 0.3, pass_zero="highpass", scale=False)
example(signal.firwin2, 9, [0.0, 0.3, 0.6, 1.0], np.array([1.0, 0.8, 0.3, 0.1]))
example(signal.firls, 9, np.array([0.0, 0.3, 0.5, 1.0]), np.array([1.0, 0.8, 0.3, 0.1]))
example(signal.firls, 9, np.array([0.0, 0.3, 0.5, 1.0]), np.array([1.0, 0.8, 0.3, 0.1]), weight=np.array([1.0, 2.0]))
for _ripple in (10.0, 30.0, 60.0):
    example(signal.kaiser_beta, _ripple)
    example(signal.kaiserord, _ripple, 0.2)
example(signal.kaiser_atten, 30, 0.2)
example(signal.gauss_spline, np.array([0.2, 0.3]), 2)
example(signal.savgol_coeffs, 5, 2)
example(signal.savgol_coeffs, 5, 2, 1, delta=0.3)
