"""Uses that type checkers accept; they also run (`test_types.py`)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from s2sgrad import elementwise_grad, grad, hessian, hvp, jacobian, jvp, linearize, value_and_grad, value_and_jacobian, vjp


def parabola(x: float, k: float = 1.0) -> float:
    return k * x * x


def product(x, y):  # type: ignore[no-untyped-def]
    return x * y


def with_note(x: float) -> tuple[float, str]:
    return x * x, "a note"


class Net:
    w: float = 1.0

    def loss(self, x: float) -> float:
        return self.w * x

    @grad(argnums="x")
    def slope(self, x: float) -> float:
        return self.w * x

    @grad
    @staticmethod
    def of_square(x: float) -> float:
        return x * x


@value_and_grad(argnums="k")
def decay(x: float, k: float) -> float:
    return x - k * x


@grad(outputs=("x",), unconnected_gradients="none")
def doubled(x: npt.NDArray[np.float64]) -> None:
    x *= 2.0


df = grad(parabola)
df(1.0), df(1.0, 2.0), df(1.0, k=2.0), df(x=1.0), df(1.0, seed=2.0)
grad(parabola, ("x", "k"))(1.0, 2.0)
grad(parabola, [0, 1], mode="rev")(1.0, 2.0)
grad(product)(1.0, np.ones(2))
grad(lambda w: np.sum(w * w))(np.ones(3))
grad(np.sin)(0.5)
grad(np.linalg.norm)(np.ones(3))
grad(grad(parabola))(1.0, k=2.0)
grad(functools.partial(parabola, k=2.0))(1.0)
grad(Net().loss)(1.0)
Net().slope(1.0), Net.slope(Net(), 1.0), Net.of_square(1.0)
doubled(np.ones(2))
text: str = df.source + df.source_for(1.0)

value, gradient = value_and_grad(parabola)(1.0)
value_of_decay, _ = decay(1.0, k=2.0)
(value_with_note, note), _ = value_and_grad(with_note, has_aux=True)(1.0)
value_of_vjp, pullback = vjp(parabola, 1.0, 2.0)
value_of_three, _, aux = vjp(with_note, 1.0, has_aux=True)
value_of_jvp, tangent = jvp(parabola, (1.0, 2.0), (1.0, None))
value_along, tangent_along = jvp(parabola)((1.0,), (1.0,))
value_of_map, along = linearize(parabola, 1.0)
value_of_matrix, _ = value_and_jacobian(parabola)(1.0)
numbers: list[float] = [
    value, value_of_decay, value_with_note, value_of_vjp, value_of_three, value_of_jvp, tangent, value_along, tangent_along,
    value_of_map, value_of_matrix,
]  # fmt: skip
cotangents: tuple[Any, ...] = pullback(1.0)
along(1.0)
hessian(parabola)(1.0, k=2.0), jacobian(parabola, "k")(1.0, k=1.0), elementwise_grad(parabola)(1.0)
hvp(parabola, (1.0,), (1.0,))
