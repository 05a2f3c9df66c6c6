"""Gradient descent on Variables, as the examples in TensorFlow's documentation use it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from s2sgrad.tape.variable import Variable


class SGD:
    """Gradient descent, `v := v - learning_rate * gradient`.

    >>> w = Variable(2.0)
    >>> SGD(0.1).apply_gradients([(6.0, w)])
    >>> w
    Variable(1.4)
    """

    def __init__(self, learning_rate: float = 0.01) -> None:
        self.learning_rate = learning_rate

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Variable]]) -> None:
        """One step, given pairs of a gradient and its Variable; pairs with the gradient None are skipped.

        Raises ValueError if all gradients are None, or if a gradient and its Variable differ in shape; TypeError if a pair
        has no Variable.
        """
        pairs = list(grads_and_vars)
        for gradient, variable in pairs:
            if not isinstance(variable, Variable):
                raise TypeError(f"pairs of a gradient and its Variable are needed, not of a {type(variable).__name__}: "
                                "use zip(gradients, variables)")  # fmt: skip
            if gradient is not None and np.ndim(gradient) and np.shape(gradient) != variable.shape:
                raise ValueError(f"a gradient of shape {np.shape(gradient)} for {variable.name or 'a Variable'} of shape "
                                 f"{variable.shape}: are the pairs in order?")  # fmt: skip
        if pairs and all(gradient is None for gradient, _ in pairs):
            raise ValueError("no Variable has a gradient: was the target computed from them, in the tape's block?")
        for gradient, variable in pairs:
            if gradient is not None:
                variable.assign_sub(gradient * self.learning_rate)
