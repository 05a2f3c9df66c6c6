"""Which callables write numbers as text or bytes, which parse them, and which use files.

    str(x), x.tobytes()      write        float(s), np.frombuffer(b)      parse        np.load(path)      a file

>>> import numpy as np
>>> from s2sgrad.primitives.record import methods_named, of
>>> of(repr).to_text, of(np.frombuffer).from_text, of(np.savez).files, [m.to_text for m in methods_named("hex")]
(True, True, 'w', [True, True])
"""

from __future__ import annotations

import ast
import json
import logging
import pickle

import numpy as np

from s2sgrad.primitives.record import know, know_methods

know(str, repr, format, ascii, np.array2string, np.array_repr, np.array_str, np.format_float_positional,
     np.format_float_scientific, json.dumps, to_text=True)  # fmt: skip
know_methods(np.ndarray, "tobytes __str__ __repr__ __format__", to_text=True)
know_methods(float, "hex __str__ __repr__ __format__", to_text=True)
know_methods(bytes, "hex", to_text=True)
know_methods(str, "format", to_text=True)
know(
    float, complex, np.float64, np.float32, np.longdouble, np.array, np.asarray, np.frombuffer, np.fromstring, np.loadtxt,
    np.genfromtxt, json.loads, ast.literal_eval, float.fromhex,
    from_text=True,
)  # fmt: skip
know(np.save, np.savez, np.savez_compressed, np.savetxt, pickle.dump, json.dump, files="w")
know(np.load, np.loadtxt, np.genfromtxt, np.fromfile, np.fromregex, pickle.load, json.load, files="r")
know(np.memmap, open, files="rw")
know_methods(np.ndarray, "tofile dump", effect=True, files="w")
know_methods(logging.Logger, "debug info warning warn error exception critical fatal log", logs=True)
know(print, logs=True, flat=True)
