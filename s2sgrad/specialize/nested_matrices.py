"""`jacobian(f)` and `hessian(f)` of function values: loops over the columns, written as Python source.

    jacobian(lambda t: w * t)(x)      ->      f_jacobian(lambda t: w * t, x) with

        def f_jacobian(f, x):
            units = np.eye(np.size(x))
            columns = [jvp(f, (x,), (np.reshape(unit, np.shape(x)),))[1] for unit in units]
            return np.reshape(np.stack(columns, axis=-1), np.shape(columns[0]) + np.shape(x))

>>> print(text_of("f_jacobian", ["x", "k"], [[("f", "x")]], ["f"]))
def f_jacobian(f, x, k):
    units = np.eye(np.size(checked(x)))
    columns = [checked(jvp(f, (x, k, ), (np.reshape(unit, np.shape(x)), None, ))[1]) for unit in units]
    matrix = np.reshape(np.stack(columns, axis=-1), np.shape(columns[0]) + np.shape(x))
    return matrix
<BLANKLINE>
"""

from __future__ import annotations

import functools
from typing import Any

import gast
import numpy as np

from s2sgrad import pullbacks, runtime, standard
from s2sgrad.ir.quote import at, constant, name
from s2sgrad.source.making import made
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.nested_gradients import constants
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_values import Adapted, Known, Object, Partial

WORDS = {"np": np, "jvp": pullbacks.jvp_again, "checked": runtime.require_array}
"""The free names of the text besides its arguments."""
LOCALS = ("units", "unit", "columns", "matrix")


class Matrices(Family):
    """Makes functions that return matrices of derivatives of function values."""

    def __init__(self, evaluator: Evaluator, objects: Objects, closures: Closures) -> None:
        super().__init__(evaluator)
        self.objects, self.closures = objects, closures

    def matrix(self, node: gast.Call) -> Adapted:
        """`jacobian(f, ..)` or `hessian(f, ..)`."""
        make = self.unit.resolve(node.func).__name__
        options, words = constants(self.unit, node.args[1:], node, make)
        if words.keys() - {"argnums"} or len(options) > 1:
            self.unit.refuse(node, f"of the options of `{make}` inside of a differentiated function only `argnums` is "
                                   "followed")  # fmt: skip
        argnums = options[0] if options else words.get("argnums", 0)
        asked = argnums if isinstance(argnums, tuple) else (argnums,)
        of = [node.args[0]]
        if make == "hessian":
            gradient = name(self.unit.helper("grad", runtime.hook("grad")))
            of = [at(node, gast.Call(gradient, [node.args[0], constant(k)], []))[0] for k in asked]
        single = not isinstance(argnums, tuple)
        call = functools.partial(self.call_matrix, asked, single, make == "value_and_jacobian")
        return Adapted([self.evaluator.callee(f) for f in of], call)

    def call_matrix(
        self, asked: tuple, single: bool, value: bool, inner: list[Any], arguments: list[Any], keywords: dict[str, Any],
        node: gast.AST,
    ) -> Any:  # fmt: skip
        """A call of such a function: compiled from source for these arguments."""
        order = list(self.open_names(inner[0], node)) if keywords or any(isinstance(k, str) for k in asked) else []
        arguments = [*arguments, *(keywords[p] for p in order[len(arguments) :] if p in keywords)]
        names = [f"x{k}" for k in range(len(arguments))]
        places = [order.index(k) if k in order else k for k in asked]
        fits = all(isinstance(k, int) and -len(arguments) <= k < len(arguments) for k in places)
        if not fits or [*keywords] != [p for p in order[len(arguments) - len(keywords) : len(arguments)] if p in keywords]:
            self.unit.refuse(node, "this call of a matrix of derivatives cannot be followed: give the arguments by position")
        functions = [f"f{k}" for k in range(len(inner))]
        parts = [[(f, names[k]) for k in places] for f in functions]
        text = text_of("matrix", names, parts, functions, single, value)
        home: Any = standard.vectorized
        target = made(text, "matrix", home, WORDS, set())
        return self.evaluator.apply(Known(target, name(self.unit.helper("matrix", target))), [*inner, *arguments], {}, node)

    def open_names(self, f: Any, node: gast.AST) -> list[str]:
        """The names of the free positional parameters of a function value."""
        words: set[str] = set()
        bound = 0
        while isinstance(f, (Partial, Object)):
            if isinstance(f, Object):
                f = self.objects.method(f, "__call__", node)
            else:
                f, bound, words = f.inner, bound + len(f.given), words | set(f.keywords)
        return self.closures.open_parameters(f, bound, words, node)[1]


def text_of(
    called: str, names: list[str], parts: list[list[tuple[str, str]]], functions: list[str], single: bool = True,
    value: bool = False, words: dict[str, str] | None = None,
) -> str:  # fmt: skip
    """The source of a function of `functions` and of the arguments `names` that returns their matrices of derivatives.
    `parts` has a row per function: (function, argument) for each matrix.  `words` replaces names that it uses."""
    own = {n: n for n in (*LOCALS, *WORDS)} | (words or {})
    units, unit, columns, matrix, np_, jvp, checked = (own[n] for n in (*LOCALS, *WORDS))
    text = f"def {called}({', '.join([*functions, *names])}):\n"
    rows: list[list[str]] = []
    for row in parts:
        rows.append([])
        for f, x in row:
            end = sum(map(len, rows)) if len(parts) * len(row) > 1 else ""
            dots = "".join(f"{np_}.reshape({unit}, {np_}.shape({x})), " if n == x else "None, " for n in names)
            column = f"{checked}({jvp}({f}, ({''.join(f'{n}, ' for n in names)}), ({dots}))[1])"
            text += (
                f"    {units}{end} = {np_}.eye({np_}.size({checked}({x})))\n"
                f"    {columns}{end} = [{column} for {unit} in {units}{end}]\n"
                f"    {matrix}{end} = {np_}.reshape({np_}.stack({columns}{end}, axis=-1), "
                f"{np_}.shape({columns}{end}[0]) + {np_}.shape({x}))\n"
            )
            rows[-1].append(f"{matrix}{end}")
    tuples = [f"({''.join(f'{m}, ' for m in row)})" for row in rows]
    shown = rows[0][0] if single else tuples[0] if len(rows) == 1 else f"({''.join(f'{t}, ' for t in tuples)})"
    first = f"{parts[0][0][0]}({', '.join(names)}), " if value else ""
    return text + f"    return {first}{shown}\n"
