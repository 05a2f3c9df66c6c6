"""From the normal form to its adjoint: `reverse` walks the program backwards, `adjoint` treats one operation, `inline`
writes a rule's formula out, `records` decides what is restored, what is recomputed and where."""
