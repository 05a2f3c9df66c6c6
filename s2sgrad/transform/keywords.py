"""Differentiated keyword arguments, each of which has a rule of its own.

m = np.average(x, weights=w)      ->      w_bar = m_bar * (x - m) / np.sum(w)
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import Container
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.transform import inline, pullback_text
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.cotangents import Cotangent
from s2sgrad.transform.unbroadcasting import relation


def differentiated(operation: Operation, active: set[str]) -> list[str]:
    """The keywords of a call whose values carry a derivative."""
    rules = {} if operation.rule is None else operation.rule.keyword_rules
    return [n for n, v in operation.keywords.items() if n in rules and isinstance(v, gast.Name) and v.id in active]


def contribute(adjoints: Adjoints, operation: Operation, keywords: list[str], y: gast.AST, g: Cotangent) -> None:
    """Contribute to the values of these keywords, given the cotangent of `y = operation`, which has a name.

    A cotangent that was not broadcast, one number for all elements, is used where the formula has the shape of `y` anyway.
    """
    assert operation.rule is not None
    for keyword in keywords:
        rule = operation.rule.keyword_rules[keyword]
        pullback = rule.choose(pullback_text.argument_kinds(adjoints, operation))
        formula = inline.formula(pullback, 1)
        if formula is None:
            value = pullback_text.called(
                adjoints, operation, pullback, y, g if g.full else adjoints.settling.spread(g, y.id)
            )
        else:
            value = pullback_text.written(adjoints, operation, formula, y, g, [0])[0]
            if not g.full and relation(adjoints.kinds.get(y.id), adjoints.inference.kind(value)) != "same":
                spread = adjoints.named(adjoints.settling.spread(g, y.id))
                value = pullback_text.written(adjoints, operation, formula, y, spread, [0])[0]
        node = operation.keywords[keyword]
        if rule.given is not None and rule.tag != "elementwise":  # a user's rule returns the structure of the argument
            kind = adjoints.kinds.get(node.id)
            adjoints.contribute(node, Cotangent(value, kind, numeric=not isinstance(kind, Container)))
        else:
            adjoints.contribute(node, Cotangent(value, adjoints.inference.kind(value), full=False))
