"""Compiled mode: the emitted text, lowered to loops over single numbers, and these compiled by numba.

    y = np.exp(-x) * w      ->      for i in range(n0): y[i] = exp(-x[i]) * w[i]

`lowering` turns the normal form of a text into the small subset of Python that `output` prints: loops over `range`,
stores at indices, `np.empty`, `np.dot`.  It runs without numba, which is how it is tested.  What is not proven to be the
same is `Unfit`: that function stays the NumPy text.  `running` guards a lowered function: whatever it raises, the text runs
instead and decides.
"""
