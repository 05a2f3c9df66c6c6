"""Rules of what a named tuple makes: `p._asdict()`, and `p._replace(x=v)`, spelled `with_fields(p, ("x",), v)`.

q = with_fields(p, ("x",), v)   ->      p_bar, _, v_bar = fields(q_bar, p, ("x",))        p_bar with a zero for `x`
"""

from __future__ import annotations

from s2sgrad import runtime
from s2sgrad.rules.table import general, linear


def fields(g, record, names):
    """The cotangents of the arguments of `with_fields(record, names, *values)`: 0 for the names.

    >>> from collections import namedtuple
    >>> P = namedtuple("P", "x y")
    >>> fields(P(3.0, 7.0), P(1.0, 2.0), ("y",))
    (P(x=3.0, y=0.0), 0.0, 7.0)
    """
    places = [record._fields.index(name) for name in names]
    kept = [runtime.zeros(v) if k in places else g[k] for k, v in enumerate(record)]
    return type(record)(*kept), 0.0, *(g[k] for k in places)


def unfields(w, g, record, names):
    """The transpose of `fields` in `g`.

    >>> from collections import namedtuple
    >>> P = namedtuple("P", "x y")
    >>> unfields((P(3.0, 4.0), 0.0, 7.0), P(1.0, 2.0), P(1.0, 2.0), ("y",))
    P(x=3.0, y=7.0)
    """
    kept = type(record)(*(w[0] or [None] * len(record)))
    whole = kept._replace(**dict(zip(names, w[2:], strict=True)))
    return type(record)(*(runtime.zeros(v) if e is None else e for e, v in zip(whole, g, strict=True)))


def of_dict(g, record):
    """A dict of cotangents as those of a named tuple; a missing one is a zero.

    >>> from collections import namedtuple
    >>> of_dict({"y": 3.0}, namedtuple("P", "x y")(1.0, 2.0))
    P(x=0.0, y=3.0)
    """
    pairs = zip(record._fields, record, strict=True)
    return type(record)(*(runtime.zeros(v) if g.get(f) is None else g[f] for f, v in pairs))


@linear(runtime.as_dict)
def as_dict(g, y, record):
    return of_dict(g, record)


@linear(of_dict)
def _(w, y, g, record):
    return runtime.as_dict(w), None


@general(runtime.with_fields)
def with_fields(g, y, record, names, *values):
    return fields(g, record, names)


@linear(fields)
def _(w, y, g, record, names):
    return unfields(w, g, record, names), None, None


@linear(unfields)
def _(v, y, w, g, record, names):
    return fields(v, record, names), None, None, None
