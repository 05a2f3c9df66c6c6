"""Uses that type checkers refuse: each line that ends in `# wrong`, and no other (`test_types.py`).  It does not run."""

from __future__ import annotations

from s2sgrad import grad, hessian, jacobian, jvp, linearize, value_and_grad, vjp


def parabola(x: float, k: float = 1.0) -> float:
    return k * x * x


class Net:
    w: float = 1.0

    def loss(self, x: float) -> float:
        return self.w * x

    @grad(argnums="x")
    def slope(self, x: float) -> float:
        return self.w * x


@value_and_grad(argnums="k")
def decay(x: float, k: float) -> float:
    return x - k * x


df = grad(parabola)
df("text")  # wrong
df(1.0, k="text")  # wrong
df(1.0, q=2.0)  # wrong
df(1.0, 2.0, 3.0)  # wrong
df()  # wrong
decay(1.0)  # wrong
grad(df)("text")  # wrong
grad(Net.loss)(1.0)  # wrong
Net().slope("text")  # wrong
print(df.sorce)  # wrong

grad(3.0)  # wrong
grad(parabola, 1.5)  # wrong
grad(parabola, argnum=1)  # wrong
grad(parabola, lists="no")  # wrong
grad(parabola, mode="forward")  # wrong
grad(parabola, unconnected_gradients="zeros")  # wrong

value, gradient, more = value_and_grad(parabola)(1.0)  # wrong
a: str = value_and_grad(parabola)(1.0)[0]  # wrong
b: str = vjp(parabola, 1.0)[0]  # wrong
c: str = jvp(parabola, (1.0,), (1.0,))[1]  # wrong
d: str = linearize(parabola, 1.0)[0]  # wrong
vjp(parabola, "text")  # wrong
linearize(parabola, "text")  # wrong
jvp(parabola, 1.0, 1.0)  # wrong
hessian(parabola)("text")  # wrong
jacobian(parabola)(1.0, 2.0, 3.0)  # wrong
