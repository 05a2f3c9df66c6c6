"""The tape: gradients of what a program has just computed, by the rules that the compiler uses.

    with GradientTape() as t:
        loss = np.sum((x @ w - y) ** 2)      # w a Variable
    w_bar = t.gradient(loss, w)
"""

from s2sgrad.tape.array import Array, constant
from s2sgrad.tape.gradient_tape import GradientTape
from s2sgrad.tape.unconnected import UnconnectedGradients
from s2sgrad.tape.variable import Variable, trainable_variables

__all__ = ["Array", "GradientTape", "UnconnectedGradients", "Variable", "constant", "trainable_variables"]
