"""Polynomials that are objects, as the arrays of their coefficients: the functions of NumPy compute with these.

    p = np.polynomial.Polynomial(c)     ->     p = np.array(c)
    y = (p * q.deriv())(t)                     y = polyval(t, polymul(p, polyder(q)))

A polynomial with a domain of its own has that beside it.  One that is handed on, or asked something else, stays an object.

>>> import gast
>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... import numpy as np
... def f(c, d, t):
...     p = np.polynomial.Chebyshev(c)
...     q = p * np.polynomial.Chebyshev(d) - 1.0
...     return q.deriv()(t) + np.sum(q.coef)
... ''', "library_desugaring"))
def f(c, d, t):
    p = np.array(c)
    q = chebsub(chebmul(p, d), 1.0)
    return chebval(t, chebder(q)) + np.sum(np.atleast_1d(q))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gast
import numpy as np
from numpy.polynomial import polyutils

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir import quote
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import Transformer, assign, clone, constant, name, nodes
from s2sgrad.ir.reach import numpy_function
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory.behaviour import is_pure
from s2sgrad.normalize.name_uses import NameUses

_SERIES = (np.polynomial.Polynomial, np.polynomial.Chebyshev, np.polynomial.Legendre, np.polynomial.Laguerre,
           np.polynomial.Hermite, np.polynomial.HermiteE)  # fmt: skip
_COEFFICIENTS: dict[Any, tuple[str, ...]] = {np.poly1d: ("c", "coef", "coeffs", "coefficients")} | dict.fromkeys(
    _SERIES, ("coef",)
)
_DISPLAYS = (gast.List, gast.Tuple)
_ROOTS = ("r", "roots")
_OF_TWO = {gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul"}
_POWERS = 8  # of a polynomial of NumPy's oldest kind, which are written out


_Made = Callable[[], gast.AST]


class _Found(NamedTuple):
    """A polynomial: its class, what computes its coefficients, and its domain where that is not the usual one."""

    cls: type
    coefficients: _Made
    domain: _Made | None = None


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with arrays of coefficients in the place of polynomials."""
    rewriter = _Rewriter(unit)
    if not any(isinstance(n, gast.Call) and rewriter.made(n) is not None for n in nodes(tree)):
        return tree
    tree = _Separated(rewriter).visit(tree)
    rewriter.find(tree, NameUses(tree))
    return rewriter.visit(tree)


class _Functions:
    """Calls of functions of NumPy."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def call(self, cls: Any, what: str, *arguments: gast.AST) -> gast.Call:
        """The function of a class that computes with coefficients: `polyval` of `Polynomial`."""
        if cls is np.poly1d:
            return self.of_arrays(f"poly{what}", *arguments)
        function = getattr(cls, f"_{what}")
        return gast.Call(name(self.unit.helper(function.__name__, function)), list(arguments), [])

    def of_arrays(self, called: str, *arguments: gast.AST) -> gast.Call:
        return gast.Call(numpy_function(self.unit, called), list(arguments), [])

    def array(self, node: gast.AST) -> gast.AST:
        made = isinstance(node, gast.Call) and self.unit.resolve(node.func) is np.array
        return node if made else self.of_arrays("array", node)

    def power(self, cls: type, base: _Made, power: int) -> gast.AST:
        if cls is not np.poly1d:
            return self.call(cls, "pow", base(), constant(power))
        return base() if power == 1 else self.call(cls, "mul", self.power(cls, base, power - 1), base())

    def mapped(self, cls: Any, x: gast.AST, domain: _Made | None) -> gast.AST:
        """Places in a domain, in the window."""
        if domain is None:
            return x
        return gast.Call(name(self.unit.helper("mapdomain", polyutils.mapdomain)), [x, domain(), _window(cls)], [])

    def scale(self, cls: Any, domain: _Made, inverted: bool) -> gast.AST:
        """What a derivative is multiplied with, and an integral divided by."""
        ends = [_part(domain(), place) for place in (1, 0)]
        lengths = [gast.BinOp(ends[0], gast.Sub(), ends[1]), constant(float(cls.window[1] - cls.window[0]))]
        return gast.BinOp(lengths[not inverted], gast.Div(), lengths[inverted])


def _window(cls: Any) -> gast.AST:
    return gast.List([constant(float(end)) for end in cls.window], gast.Load())


def _part(pair: gast.AST, place: int) -> gast.AST:
    return gast.Subscript(pair, constant(place), gast.Load())


def _number(node: gast.AST) -> Any:
    """The number that stands here; None where none does."""
    value = getattr(node, "value", None) if isinstance(node, gast.Constant) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


class _Separated(Transformer):
    """`p, q = np.poly1d(c), np.poly1d(d)` as two statements."""

    def __init__(self, rewriter: _Rewriter) -> None:
        self.rewriter = rewriter

    def visit_Assign(self, statement: gast.Assign) -> Any:
        targets, values = (getattr(side, "elts", []) for side in (statement.targets[0], statement.value))
        bound = {n.id for n in targets if isinstance(n, gast.Name)}
        if len(statement.targets) > 1 or len(bound) < max(len(targets), 1) or len(targets) != len(values):
            return self.generic_visit(statement)
        if not any(isinstance(v, gast.Call) and self.rewriter.made(v) for v in values) or bound & _read(statement.value):
            return self.generic_visit(statement)
        return quote.at(statement, *(assign(n.id, v) for n, v in zip(targets, values, strict=True)))


def _read(node: gast.AST) -> set[str]:
    return {n.id for n in nodes(node) if isinstance(n, gast.Name)}


class _Rewriter(Transformer):
    """`classes`: the variables that are polynomials; `domains`: the names of the domains of those that have their own;
    `seen`: the reads of variables in the polynomials that were looked at."""

    def __init__(self, unit: Unit) -> None:
        self.unit, self.functions = unit, _Functions(unit)
        self.classes, self.domains = dict[str, type](), dict[str, str]()
        self.seen = set[int]()

    # --- which variables -----------------------------------------------------------------------------------------------

    def find(self, tree: gast.FunctionDef, uses: NameUses) -> None:
        """Find the variables that are polynomials wherever they are bound, and only asked what is known."""
        alone = {n: values for n, values in uses.assigned.items() if uses.bound[n] == len(values)}
        before = -1
        while before < len(self.classes):
            before = len(self.classes)
            for n, values in alone.items():
                found = next(filter(None, map(self.polynomial, values)), None) if n not in self.classes else None
                if found is not None:
                    self.classes[n] = found.cls
                    if found.domain is not None:
                        self.domains[n] = self.unit.local(f"{n}_domain")
        while wrong := [n for n in self.classes if not self.fits(n, alone[n], uses, tree)]:
            for n in wrong:
                del self.classes[n]
                self.domains.pop(n, None)

    def fits(self, n: str, values: list[gast.AST], uses: NameUses, tree: gast.FunctionDef) -> bool:
        """Whether all that is bound to a variable is such a polynomial, and all that is asked of it is known."""
        found = [self.polynomial(value) for value in values]
        if any(f is None or f.cls is not self.classes[n] or (f.domain is None) == (n in self.domains) for f in found):
            return False
        if n in self.domains and len(values) > 1:
            return False
        self.seen = set()
        for node in nodes(tree):
            if self.asked(node) is None and not (bound_name(node) in self.classes and self.polynomial(node.value)):
                continue
            if bound_name(node) is not None:
                self.polynomial(node.value)
        return uses.only_read_in(n, self.seen)

    # --- what is a polynomial ------------------------------------------------------------------------------------------

    def polynomial(self, node: gast.AST) -> _Found | None:
        """The polynomial that an expression gives; None where it gives none of these."""
        if isinstance(node, gast.Name):
            if node.id not in self.classes:
                return None
            self.seen.add(id(node))
            domain = self.domains.get(node.id)
            return _Found(self.classes[node.id], lambda: clone(node), (lambda: name(domain)) if domain else None)
        if isinstance(node, gast.BinOp):
            return self.operation(node)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            found = self.polynomial(node.operand)
            return found and found._replace(coefficients=lambda: gast.UnaryOp(gast.USub(), self.solid(found.coefficients())))
        if isinstance(node, gast.Subscript):
            return self.quotient(node)
        if not isinstance(node, gast.Call) or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        return self.made(node) or self.derived(node) or self.of_functions(node)

    def made(self, node: gast.Call) -> _Found | None:
        """`np.polynomial.Polynomial(c)`, `np.poly1d(c)`."""
        cls, words, count = self.unit.resolve(node.func), {k.arg: k.value for k in node.keywords}, len(node.args)
        if cls is MISSING or not is_one_of(cls, _COEFFICIENTS):
            return self.made_otherwise(node)
        if cls is np.poly1d and count == 2 and not words and getattr(node.args[1], "value", None) is True:
            return _Found(cls, lambda: self.functions.of_arrays("poly", self.listed(node.args[0])))
        domain = words.pop("domain", None) if cls is not np.poly1d else None
        if count != 1 or words or (domain is not None and not is_pure(self.unit, domain)):
            return None
        return _Found(cls, lambda: self.listed(node.args[0]), domain and (lambda: self.listed(domain)))

    def made_otherwise(self, node: gast.Call) -> _Found | None:
        """`np.polynomial.Polynomial.fit(x, y, 2)`, `np.polynomial.Polynomial.fromroots(r)`."""
        method, count = getattr(node.func, "attr", ""), len(node.args)
        cls = self.unit.resolve(node.func.value) if (method, count) in (("fit", 3), ("fromroots", 1)) else MISSING
        if cls is MISSING or node.keywords or not is_one_of(cls, _SERIES):
            return None
        if method == "fit":
            return self.fitted(cls, node)
        return _Found(cls, lambda: self.functions.call(cls, "fromroots", self.listed(node.args[0])))

    def listed(self, node: gast.AST) -> gast.AST:
        """Coefficients that are given, as an array where they are written out."""
        return self.functions.array(self.visit(node)) if isinstance(node, _DISPLAYS) else self.visit(node)

    def solid(self, node: gast.AST) -> gast.AST:
        """Coefficients as an array: what is given may be a list."""
        known = isinstance(node, gast.Call) or getattr(node, "id", None) in self.classes
        return node if known else self.functions.array(node)

    def fitted(self, cls: type, node: gast.Call) -> _Found | None:
        """A fit, in the domain that its places take."""
        x, y, degree = node.args
        if not isinstance(x, (gast.Name, gast.Attribute)):
            return None

        def domain() -> gast.AST:
            ends = [self.functions.of_arrays(end, clone(x)) for end in ("min", "max")]
            return self.functions.array(gast.List(ends, gast.Load()))

        return _Found(
            cls,
            lambda: self.functions.call(cls, "fit", self.functions.mapped(cls, clone(x), domain), self.visit(y), degree),
            domain,
        )

    def operation(self, node: gast.BinOp) -> _Found | None:
        """`p + q`, `p * 2.0`, `p // q`, `p ** 2`."""
        left, right = self.polynomial(node.left), self.polynomial(node.right)
        found = left or right
        if found is None or (left and right and (left.cls is not right.cls or left.domain or right.domain)):
            return None
        if found.cls is np.poly1d and left is None and _number(node.left) is None:
            return None  # an array, or a number of NumPy's, times such a polynomial is an array
        a = left.coefficients if left else lambda: self.visit(node.left)
        b = right.coefficients if right else lambda: self.visit(node.right)
        if type(node.op) in _OF_TWO:
            what = _OF_TWO[type(node.op)]
            return found._replace(coefficients=lambda: self.functions.call(found.cls, what, a(), b()))
        return left and self.of_left(node, left, a, b)

    def of_left(self, node: gast.BinOp, found: _Found, a: _Made, b: _Made) -> _Found | None:
        """Operations of a polynomial, and of another or a number."""
        cls, whole = found.cls, _number(node.right)
        if isinstance(node.op, gast.Pow) and self.writes(cls, node, whole):
            return found._replace(coefficients=lambda: self.functions.power(cls, a, whole))
        if isinstance(node.op, gast.Div) and whole is not None:
            return found._replace(coefficients=lambda: gast.BinOp(self.solid(a()), gast.Div(), b()))
        if isinstance(node.op, (gast.FloorDiv, gast.Mod)) and cls is not np.poly1d:
            place = int(isinstance(node.op, gast.Mod))
            return found._replace(coefficients=lambda: _part(self.functions.call(cls, "div", a(), b()), place))
        return None

    def writes(self, cls: type, node: gast.BinOp, power: Any) -> bool:
        """Whether a power is one that is written out, or has a function."""
        if not isinstance(power, int) or power < 0:
            return False
        return cls is not np.poly1d or (0 < power <= _POWERS and is_pure(self.unit, node.left))

    def quotient(self, node: gast.Subscript) -> _Found | None:
        """`(p / q)[0]` of two polynomials of NumPy's oldest kind."""
        place, quotient = _number(node.slice), node.value
        if not isinstance(quotient, gast.BinOp) or not isinstance(quotient.op, gast.Div) or place not in (0, 1):
            return None
        left, right = self.polynomial(quotient.left), self.polynomial(quotient.right)
        if left is None or right is None or left.cls is not np.poly1d or right.cls is not np.poly1d:
            return None
        both = (left.coefficients, right.coefficients)
        return _Found(np.poly1d, lambda: _part(self.functions.call(np.poly1d, "div", *(made() for made in both)), place))

    def derived(self, node: gast.Call) -> _Found | None:
        """`p.deriv()`, `p.integ(2)`."""
        if not isinstance(node.func, gast.Attribute) or node.func.attr not in ("deriv", "integ"):
            return None
        found = self.polynomial(node.func.value)
        if found is None or len(node.args) > 1 or any(k.arg not in ("m", "k") for k in node.keywords):
            return None
        if (found.domain is not None or node.func.attr == "deriv") and any(k.arg == "k" for k in node.keywords):
            return None
        what, words = "der" if node.func.attr == "deriv" else "int", node.keywords

        def coefficients() -> gast.AST:
            made = self.functions.call(found.cls, what, found.coefficients(), *map(self.visit, node.args))
            made.keywords = [gast.keyword(k.arg, self.visit(k.value)) for k in words]
            if found.domain is not None:
                made.keywords.append(gast.keyword("scl", self.functions.scale(found.cls, found.domain, what == "int")))
            return made

        return found._replace(coefficients=coefficients)

    def of_functions(self, node: gast.Call) -> _Found | None:
        """`np.polymul(p, q)`, `np.polyder(p)` of polynomials of NumPy's oldest kind, which give such a one."""
        target, given = self.unit.resolve(node.func), list(map(self.polynomial, node.args))
        if target is MISSING or not any(given) or any(f and f.cls is not np.poly1d for f in given):
            return None
        if not is_one_of(target, (np.polyadd, np.polysub, np.polymul, np.polyder, np.polyint)) or node.keywords:
            return None

        def coefficients() -> gast.AST:
            args = [f.coefficients() if f else self.visit(a) for f, a in zip(given, node.args, strict=True)]
            return gast.Call(node.func, args, [])

        return _Found(np.poly1d, coefficients)

    # --- what is asked of it -------------------------------------------------------------------------------------------

    def asked(self, node: gast.AST) -> _Made | None:
        """What stands for an expression that asks a polynomial for something; None where it does not."""
        if isinstance(node, gast.Attribute):
            found = self.polynomial(node.value)
            return found and self.attribute(found, node.attr)
        if not isinstance(node, gast.Call) or node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        if not self.keeps_order(node):
            return None
        if isinstance(node.func, gast.Attribute) and node.func.attr == "roots" and not node.args:
            found = self.polynomial(node.func.value)
            if found is not None and found.cls is not np.poly1d and found.domain is None:
                return lambda: self.functions.call(found.cls, "roots", found.coefficients())
        if len(node.args) == 2 and is_one_of(self.unit.resolve(node.func), (np.polyval,)):
            return self.value(self.polynomial(node.args[0]), node.args[1])
        return self.value(self.polynomial(node.func), node.args[0]) if len(node.args) == 1 else None

    def attribute(self, found: _Found, attribute: str) -> _Made | None:
        if attribute in _COEFFICIENTS[found.cls]:
            if found.cls is np.poly1d:  # without its leading zeros
                return lambda: self.functions.call(
                    np.poly1d, "mul", found.coefficients(), gast.List([constant(1)], gast.Load())
                )
            return lambda: self.functions.of_arrays("atleast_1d", found.coefficients())
        if attribute in _ROOTS and found.cls is np.poly1d:
            return lambda: self.functions.of_arrays("roots", found.coefficients())
        return None

    def value(self, found: _Found | None, at: gast.AST) -> _Made | None:
        """The value of a polynomial at a point, or at several."""
        if found is None or self.polynomial(at) is not None:
            return None
        if found.cls is np.poly1d:
            return lambda: self.functions.call(np.poly1d, "val", found.coefficients(), self.visit(at))
        cls, domain = found.cls, found.domain
        return lambda: self.functions.call(
            cls, "val", self.functions.mapped(cls, self.visit(at), domain), found.coefficients()
        )

    # --- the rewriting -------------------------------------------------------------------------------------------------

    def visit(self, node: gast.AST) -> Any:
        asked = self.asked(node) if isinstance(node, (gast.Call, gast.Attribute)) else None
        return super().visit(node) if asked is None else quote.at(node, asked())[0]

    def keeps_order(self, node: gast.Call) -> bool:
        """Whether nothing has effects that the new order would change."""
        return sum(not is_pure(self.unit, part) for part in (node.func, *node.args) if not isinstance(part, gast.Name)) < 2

    def visit_Assign(self, statement: gast.Assign) -> Any:
        target = bound_name(statement)
        if target not in self.classes:
            return self.generic_visit(statement)
        found = self.polynomial(statement.value)
        assert found is not None
        coefficients, value = found.coefficients(), statement.value
        given = isinstance(value, gast.Call) and is_one_of(self.unit.resolve(value.func), _COEFFICIENTS)
        made = [assign(target, self.functions.array(coefficients) if given else coefficients)]
        if found.domain is not None:
            made.append(assign(self.domains[target], found.domain()))
        return quote.at(statement, *made)
