"""Legality: whatever would give a wrong gradient is refused before text is generated, with the place and the way out.

    y = np.intersect1d(x, c); return np.sum(y)      ->      NoRule: `np.intersect1d` has no derivative rule ...

`checks` examines each statement in textual order: uses of containers (`containers`), operations without derivative
(`operations`), and what calls may write or keep (`calls`). Then, for the whole function, stores that overlap their value
(`stores`), numbers converted to text and back (`string_roundtrips`) or written to a file (`file_roundtrips`),
and what is run again (`repeats`).  `context` has the
facts that they share.
"""
