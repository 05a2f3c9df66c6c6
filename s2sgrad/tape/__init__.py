"""The tape: gradients of recorded computations (define-by-run), with the derivative rules of the compiler.

    with GradientTape() as t:
        loss = np.sum((x @ w - y) ** 2)      # w a Variable
    w_bar = t.gradient(loss, w)

Each room builds on the ones before it: `recording`, `leaks`, `values`, `handed`, `unconnected`, `contents`, `primitives`,
`array`, `variable`, `stopping`, `optimizers`, `lifting`, `surroundings`, `node`, `dispatch`, `sweep`, `targets`,
`jacobians`, `graph`, `gradient_tape`, `custom`, `given`.
"""

from s2sgrad.api.given import defjvp, defvjp
from s2sgrad.tape.array import Array, constant
from s2sgrad.tape.custom import custom_gradient, recompute_grad
from s2sgrad.tape.given import custom_jvp, nondifferentiable, primitive
from s2sgrad.tape.gradient_tape import GradientTape
from s2sgrad.tape.graph import function, gradients
from s2sgrad.tape.node import differentiable
from s2sgrad.tape.optimizers import SGD
from s2sgrad.tape.stopping import stop_gradient
from s2sgrad.tape.unconnected import UnconnectedGradients
from s2sgrad.tape.variable import Variable, trainable_variables

__all__ = [
    "SGD",
    "Array",
    "GradientTape",
    "UnconnectedGradients",
    "Variable",
    "constant",
    "custom_gradient",
    "custom_jvp",
    "defjvp",
    "defvjp",
    "differentiable",
    "function",
    "gradients",
    "nondifferentiable",
    "primitive",
    "recompute_grad",
    "stop_gradient",
    "trainable_variables",
]
