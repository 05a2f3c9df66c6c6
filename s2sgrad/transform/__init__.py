"""From normal form to the adjoint: `reverse` walks the program backwards, `adjoint` handles one operation, `inline` expands
a rule's formula, `records` decides what is recorded, `recomputation` what is recomputed instead."""
