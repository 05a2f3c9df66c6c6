"""s2sgrad: gradients of NumPy functions, written as readable Python.

>>> from s2sgrad import grad
>>> def energy(x, k):
...     return 0.5 * k * x ** 2
>>> grad(energy)(3.0, 2.0)
6.0

    grad, value_and_grad      the gradient of a function, as a function of the same arguments: `help(grad)`
    vjp, jvp, hvp             products with the Jacobian, from the left and from the right; with the Hessian
    jacobian, hessian         matrices (jacfwd, jacrev: by one mode; value_and_jacobian: with the value)
    elementwise_grad          the derivative at each element
    linearize                 the value, and the linear map of tangents

    explain                   what is known of each line of a function, and what happens to it
    stop_gradient             a constant, whatever it depends on
    checkpoint, checkpointed  less memory: a function, or the trips of a loop, run again
    compile                   a function as loops over single numbers

    custom_gradient, custom_jvp          a function with a gradient, or a tangent, of your own
    primitive, defvjp, defjvp            one that is only called, and its derivatives
    nondifferentiable                    one whose result is a constant

    GradientTape, Variable, constant     a tape over the same rules (Array: a value on it; SGD: steps down)
    function, gradients                  a recorded graph and its gradients
    differentiable, recompute_grad       a function as one operation of a tape; one that is run again
    trainable_variables                  the Variables in an object (UnconnectedGradients: None, or zeros)

    Unsupported, NoRule, NoSource, NotFinite    errors with file, line and a way out (S2SGradError: any)

`df = grad(f)` has its text in `df.source`; `df.save(path)` writes a module, `df.show()` shows it beside `f`.
`s2sgrad.testing.check_grads(f, args)` compares with central differences.  More: `help(grad)`, docs/start.md.
"""

from typing import TYPE_CHECKING, Any

from s2sgrad import runtime
from s2sgrad.api import grad, jvp, value_and_grad, vjp
from s2sgrad.errors import NoRule, NoSource, NotFinite, S2SGradError, Unsupported
from s2sgrad.pullbacks import hvp, linearize
from s2sgrad.runtime.checkpoints import checkpoint, checkpointed

if TYPE_CHECKING:
    from s2sgrad.api.loops import compile
    from s2sgrad.api.matrices import elementwise_grad, hessian, jacfwd, jacobian, jacrev, value_and_jacobian
    from s2sgrad.explanation import explain
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
    "NotFinite",
    "S2SGradError",
    "UnconnectedGradients",
    "Unsupported",
    "Variable",
    "checkpoint",
    "checkpointed",
    "compile",
    "constant",
    "custom_gradient",
    "custom_jvp",
    "defjvp",
    "defvjp",
    "differentiable",
    "elementwise_grad",
    "explain",
    "function",
    "grad",
    "gradients",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "nondifferentiable",
    "primitive",
    "recompute_grad",
    "stop_gradient",
    "trainable_variables",
    "value_and_grad",
    "value_and_jacobian",
    "vjp",
]
_MATRICES = ("elementwise_grad", "hessian", "jacfwd", "jacobian", "jacrev", "value_and_jacobian")
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import the tape, the matrices and `explain` on first use, so that `import s2sgrad` stays quick."""
    if name not in __all__:
        from s2sgrad.errors import foreign

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{foreign.instead_of(name)}")
    if name == "compile":
        from s2sgrad.api import loops as home
    elif name == "explain":
        from s2sgrad import explanation as home
    elif name in _MATRICES:
        from s2sgrad.api import matrices as home
    else:
        from s2sgrad import tape as home

    globals()[name] = getattr(home, name)
    return globals()[name]


def _shown(*request: Any) -> None:
    from s2sgrad.explanation import showing

    showing.show(*request)


def _framed(derivative: Any) -> str | None:
    from s2sgrad.explanation import showing

    return showing.framed(derivative)


runtime.provide(shown=_shown, framed=_framed)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
