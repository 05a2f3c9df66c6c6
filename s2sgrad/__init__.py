"""s2sgrad: gradients of NumPy functions, written as readable Python.

>>> from s2sgrad import grad
>>> def energy(x, k):
...     return 0.5 * k * x ** 2
>>> grad(energy)(3.0, 2.0)
6.0
"""

from typing import TYPE_CHECKING, Any

from s2sgrad.api import grad, jvp, value_and_grad, vjp
from s2sgrad.errors import NoRule, NoSource, S2SGradError, Unsupported

if TYPE_CHECKING:
    from s2sgrad.tape import (
        SGD,
        Array,
        GradientTape,
        UnconnectedGradients,
        Variable,
        constant,
        custom_gradient,
        custom_jvp,
        defjvp,
        defvjp,
        differentiable,
        function,
        gradients,
        nondifferentiable,
        primitive,
        recompute_grad,
        stop_gradient,
        trainable_variables,
    )

__all__ = [
    "SGD",
    "Array",
    "GradientTape",
    "NoRule",
    "NoSource",
    "S2SGradError",
    "UnconnectedGradients",
    "Unsupported",
    "Variable",
    "constant",
    "custom_gradient",
    "custom_jvp",
    "defjvp",
    "defvjp",
    "differentiable",
    "function",
    "grad",
    "gradients",
    "jvp",
    "nondifferentiable",
    "primitive",
    "recompute_grad",
    "stop_gradient",
    "trainable_variables",
    "value_and_grad",
    "vjp",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The tape is imported when it is first asked for: `import s2sgrad` stays quick."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from s2sgrad import tape

    globals()[name] = getattr(tape, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
