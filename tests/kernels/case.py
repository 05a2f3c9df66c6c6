"""`@kernel(...)` registers a whole program together with the point at which it is checked; `@variant(...)` a rewriting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

SEED = 7


@dataclass(frozen=True)
class Kernel:
    """A program, how to draw its arguments, the differentiable ones among them, and the arguments that it writes for us."""

    name: str
    function: Callable
    draw: Callable
    draw_bench: Callable
    argnums: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount]

    @property
    def places(self) -> tuple[int, ...]:
        """The positions of the differentiated arguments."""
        return tuple(self.parameters.index(name) for name in self.argnums)

    @property
    def options(self) -> dict:
        """What `grad` has to be told besides the function."""
        return {"argnums": self.argnums, "outputs": self.outputs} if self.outputs else {"argnums": self.argnums}

    def args(self) -> tuple:
        """Fresh arguments, of a few numbers each."""
        return self.draw(np.random.default_rng(SEED))

    def bench_args(self) -> tuple:
        """Fresh arguments for which the program takes some milliseconds."""
        return self.draw_bench(np.random.default_rng(SEED))

    def result(self, *args):
        """What the program returns or, if it has outputs, what these arguments hold when it ends.  Writes `args`."""
        value = self.function(*args)
        if not self.outputs:
            return value
        return tuple(args[self.parameters.index(name)] for name in self.outputs)


KERNELS: list[Kernel] = []
SPELLINGS: list[tuple[str, Callable]] = []


def kernel(*, args, bench, argnums, outputs=()):
    """Register the decorated function: `args` and `bench` draw arguments from a generator, the others are names."""

    def register(function):
        KERNELS.append(Kernel(function.__name__, function, args, bench, argnums, outputs))
        return function

    return register


def variant(name):
    """Register the decorated function as another spelling of the kernel of this name, with the same arguments."""

    def register(function):
        SPELLINGS.append((name, function))
        return function

    return register


def kernel_of(name: str) -> Kernel:
    """The kernel of this name."""
    return next(entry for entry in KERNELS if entry.name == name)


def spelled(name: str, function: Callable) -> Kernel:
    """The kernel of this name with another function."""
    return replace(kernel_of(name), name=function.__name__, function=function)
