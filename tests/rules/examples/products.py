"""Products of arrays."""

from __future__ import annotations

import numpy as np

from s2sgrad.rules import contractions, einsum

from .base import example, normal, younger

# --- products of arrays ----------------------------------------------------------------------------------------------

_MATMUL = (((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)))
_MATMUL += (((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)))
for _x, _y in _MATMUL:
    _z = np.shape(np.matmul(np.zeros(_x), np.zeros(_y)))
    example(np.matmul, normal(*_x), normal(*_y))
    example(contractions.matmul_left, normal(*_z), normal(*_x), normal(*_y))
    example(contractions.matmul_right, normal(*_z), normal(*_x), normal(*_y))
example(younger(np.linalg, "matmul"), normal(2, 3), normal(3, 4))
for _x, _y in (*_MATMUL[:5], ((2, 3), (5, 3, 4)), ((2,), ()), ((), (2, 3)), ((5, 2, 3), (4, 3, 2))):
    example(np.dot, normal(*_x), normal(*_y))
example(np.dot, 0.3, 0.7)
for _x, _y in (((3,), (3,)), ((2, 3), (4, 3)), ((5, 2, 3), (3,)), ((), (3,)), ((2, 3), (4, 5, 3))):
    example(np.inner, normal(*_x), normal(*_y))
example(np.inner, 0.3, 0.7)
for _f in (np.tensordot, younger(np.linalg, "tensordot")):
    example(_f, normal(2, 3, 4), normal(3, 4, 5))
    example(_f, normal(2, 3, 4), normal(5, 4, 2), axes=([0, 2], [2, 1]))
    example(_f, normal(2, 3), normal(4, 3), axes=(1, 1))
    example(_f, normal(2, 3), normal(4), axes=0)
_ordered = ((0, 2), (2, 1))
example(contractions.tensordot_left, normal(3, 5), normal(2, 3, 4), normal(5, 4, 2), _ordered)
example(contractions.tensordot_right, normal(3, 5), normal(2, 3, 4), normal(5, 4, 2), _ordered)
example(np.vdot, normal(2, 3), normal(2, 3))
example(np.outer, normal(2), normal(3))
example(np.outer, normal(2, 2), normal(3, 1))
example(younger(np.linalg, "outer"), normal(2), normal(3))

_EINSUM = {
    "ij,jk->ik": ((2, 3), (3, 4)), "ij,jk": ((2, 3), (3, 4)), "i,i": ((3,), (3,)), "ii": ((3, 3),), "ii->i": ((3, 3),),
    "ij->": ((2, 3),), "ij->j": ((2, 3),), "ij,j->i": ((2, 3), (3,)), "...ij,...jk": ((5, 2, 3), (3, 4)),
    "...i,...i->...": ((2, 3), (5, 1, 3)), "ij,kl->jk": ((2, 3), (4, 5)), "i,j,k->ik": ((2,), (3,), (4,)),
    "iij,j->i": ((3, 3, 2), (2,)), "b...,b->...": ((2, 3, 4), (2,)), "ij, jk -> ki": ((2, 3), (3, 4)), ",i": ((), (3,)),
}  # fmt: skip
for _text, _shapes in _EINSUM.items():
    _operands = [normal(*_s) for _s in _shapes]
    example(np.einsum, _text, *_operands)
    example(einsum.einsum_bars, normal(*np.shape(np.einsum(_text, *_operands))), _text, _operands)
example(einsum.einsum_bars, normal(2, 2), "ij,jk,kl->il", (normal(2, 3), normal(3, 4), normal(4, 2)))
example(einsum.contracted, "ij,jk->ik", (normal(2, 3), normal(3, 4)))
example(einsum.replaced, (normal(2), normal(3)), 1, normal(3))
example(np.einsum, "ij,jk,kl", normal(2, 3), normal(3, 4), normal(4, 2), optimize=True)
for _arrays in ([(2, 3), (3, 4), (4, 2)], [(3,), (3, 4), (4,)], [(2, 3), (3,)], [(2, 2)] * 4):
    example(np.linalg.multi_dot, [normal(*_s) for _s in _arrays])

# --- kron, cross, vecdot ---------------------------------------------------------------------------------------------

for _x, _y in (((2,), (3,)), ((2, 3), (3, 2)), ((2,), (2, 3)), ((2, 2, 3), (2, 1)), ((), (2, 3)), ((2,), ())):
    _z = np.shape(np.kron(np.zeros(_x), np.zeros(_y)))
    example(np.kron, normal(*_x), normal(*_y))
    example(contractions.kron_left, normal(*_z), normal(*_x), normal(*_y))
    example(contractions.kron_right, normal(*_z), normal(*_x), normal(*_y))
for _f in (np.cross, younger(np.linalg, "cross")):
    example(_f, normal(3), normal(3))
    example(_f, normal(2, 3), normal(2, 3))
    example(_f, normal(4, 2, 3), normal(2, 3))
    example(_f, normal(3, 2), normal(3, 2), axis=0)
example(np.cross, normal(3, 2), normal(2, 3), axisa=0, axisc=0)
example(younger(np.linalg, "cross"), normal(3, 1), normal(3), axis=0)
for _f in (younger(np, "vecdot"), younger(np.linalg, "vecdot")):
    example(_f, normal(3), normal(3))
    example(_f, normal(4, 1, 3), normal(2, 3))
    example(_f, normal(2, 3, 4), normal(2, 3, 4), axis=1)
for _x, _y in (((2, 3), (3,)), ((5, 2, 3), (3,)), ((2, 3), (5, 3))):
    example(younger(np, "matvec"), normal(*_x), normal(*_y))
    example(younger(np, "vecmat"), normal(*_y), normal(*_x[:-2], 3, 2))
