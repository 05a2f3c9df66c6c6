"""What would give a wrong number, found before anything is written: refused with the place and the way out.

    y = np.fft.fft(x); return np.sum(y)      ->      NoRule: `np.fft.fft` has no derivative rule ...

`check` asks of each statement, in the order of the text: what it does with containers (`containers`), whether what it
computes has a derivative (`operations`), what its calls may write or keep (`calls`); then, of the whole, whether a store
overlaps what it reads (`stores`) and whether numbers leave as text (`string_roundtrips`).  `context` has what they share.
"""
