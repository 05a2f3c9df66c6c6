"""Lists and tuples of the user's classes with methods by which they are made, read or operated on: right, or refused.

class Scaled(namedtuple("Scaled", "a b")):
    def __iter__(self): return iter((5.0 * self.a, 8.0))

def f(x, u, v): return sum(q * x for q in Scaled(u, v))      # 5 u x + 8 x, and not u x + v x
"""

from __future__ import annotations

import contextlib
import enum
import itertools
import signal

import numpy as np
import pytest
from judging import loaded

from s2sgrad import S2SGradError, grad, jacrev, jvp, vjp
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.subclasses import is_otherwise

METHODS = {
    "nothing": "pass",
    "getitem": "def __getitem__(self, k): return base.__getitem__(self, k) * 2",
    "section": "def __getitem__(self, k): return (1.0,) if isinstance(k, slice) else base.__getitem__(self, k)",
    "iter": "def __iter__(self): return iter((5.0 * base.__getitem__(self, 0), 8.0))",
    "len": "def __len__(self): return 7",
    "reversed": "def __reversed__(self): return iter((1.0, base.__getitem__(self, 0)))",
    "contains": "def __contains__(self, o): return True",
    "equal": "def __eq__(self, o): return True\n    __hash__ = base.__hash__",
    "less": "def __lt__(self, o): return True",
    "false": "def __bool__(self): return False",
    "float": "def __float__(self): return base.__getitem__(self, 0) * 2.0",
    "abs": "def __abs__(self): return base.__getitem__(self, 0) * 3.0",
    "round": "def __round__(self, n=None): return base.__getitem__(self, 0) * 2.0",
    "array": "def __array__(self, dtype=None, copy=None): return np.array([base.__getitem__(self, 0) ** 2, 1.0])",
    "ufunc": "def __array_ufunc__(self, u, m, *i, **k): return 5.0 * base.__getitem__(self, 0)",
    "add": "def __add__(self, o): return np.array([self.a * 3.0, self.b]) + o",
    "radd": "def __radd__(self, o): return o + base.__getitem__(self, 0)",
    "mul": "def __mul__(self, o): return np.array([self.a, self.b * 2.0]) * o",
    "off": "__array_ufunc__ = None\n    def __rmul__(self, o): return np.array([self.a * 2.0, self.b]) * o",
    "first": "__array_priority__ = 9.0\n    def __rmul__(self, o): return np.array([self.a * 2.0, self.b]) * o",
    "negated": "def __neg__(self): return np.array([self.a * 3.0, self.b])",
    "called": "def __call__(self, z): return z * base.__getitem__(self, 0)",
    "index": "def index(self, o): return 1",
    "computed": "c = property(lambda self: self.a * self.b)",
}
OF_NAMED_TUPLES = {
    "new": "def __new__(cls, a, b): return super().__new__(cls, a * 2.0, b)",
    "replace": "def _replace(self, **k): return self",
    "as a dict": "def _asdict(self): return {'a': 3.0 * self.a, 'b': self.b}",
}
READ = ["p[0] * x", "p.a * p.b * x", "sum([q * x for q in p])", "(lambda a, b: a * b * x)(*p)", "len(p) * x * p.a",
        "np.sum(np.array(p) * x)", "np.sum(np.exp(p) * x)", "x * p.a if 77.0 in p else x * p.b",
        "x * p.a if p else x * p.b", "float(p) * x", "abs(p) * x", "p(x)", "p.c * x", "sum(p) * x", "max(p) * x",
        "list(reversed(p))[0] * x", "tuple(p)[0] * x", "sum([i * q for i, q in enumerate(p)]) * x", "np.sum(-p) * x",
        "sum([q * r for q, r in zip(p, p)]) * x", "sum(map(lambda q: q * x, p))", "p[:1][0] * x", "p.index(p.b) * x * p.a",
        "np.dot(p, p) * x", "np.sum(np.ones(2) * x * p)", "np.sum(p * (np.ones(2) * x))", "np.sum(p + np.ones(2) * x)",
        "np.sum(np.float64(x) * p)", "math.hypot(*p) * x", "math.fsum(p) * x", "next(iter(p)) * x", "round(p) * x",
        "p._replace(a=7.0).a * x * p.b", "p._asdict()['a'] * x"]  # fmt: skip
PLACES = {
    "made": "def f(x, u, v):\n    p = T(u, v)\n    return {}",
    "kept": "def f(x, u, v):\n    s = 0.0\n    for p in [T(u, v), T(v, x)]:\n        s = s + {}\n    return s",
    "outside": "P = T(2.0, 3.0)\ndef f(x, u, v):\n    p = P\n    return {}",
    "given": "def f(x, p):\n    return {}",
}
BASES = {
    "named tuple": "base, Base = tuple, collections.namedtuple('Base', 'a b')\nclass T(Base):\n    {}\n",
    "tuple": "base = tuple\nclass T(tuple):\n    __new__ = lambda cls, *items: tuple.__new__(cls, items)\n"
    "    a, b = (property(lambda s, k=k: tuple.__getitem__(s, k)) for k in (0, 1))\n    {}\n",
    "list": "base = list\nclass T(list):\n    __init__ = lambda self, *items: list.__init__(self, items)\n"
    "    a, b = (property(lambda s, k=k: list.__getitem__(s, k)) for k in (0, 1))\n    {}\n",
}
HEAD = "import collections\nimport math\nimport numpy as np\n"
POINT = 1.5, 2.0, 3.0
CASES = [(b, m, p) for b in BASES for m in (METHODS | (OF_NAMED_TUPLES if b == "named tuple" else {})) for p in PLACES]
CASES.remove(("named tuple", "new", "given"))  # a cotangent is made by it, too


def slopes(f):
    return [(float(f(*(np.array(POINT) + e))) - float(f(*(np.array(POINT) - e)))) / 2e-6 for e in 1e-6 * np.eye(3)]


def found_by(f, given):
    """The derivatives in each mode."""
    if not given:
        yield "grad", lambda: grad(f, (0, 1, 2))(*POINT)
        yield "jvp", lambda: [jvp(f, POINT, tuple(e))[1] for e in np.eye(3).tolist()]
        return
    x, make = POINT[0], f.__globals__["T"]
    p, base = make(*POINT[1:]), f.__globals__["base"]
    yield "grad", lambda: [grad(f)(x, p), *base.__iter__(grad(f, 1)(x, p))]
    yield "vjp", lambda: [vjp(f, x, p)[1](1.0)[0], *base.__iter__(vjp(f, x, p)[1](1.0)[1])]
    yield "jacrev", lambda: [jacrev(f)(x, p), *base.__iter__(jacrev(f, 1)(x, p))]
    yield "jvp", lambda: [jvp(f, (x, p), (a, make(b, c)))[1] for a, b, c in np.eye(3).tolist()]


@pytest.mark.dear
@pytest.mark.records
@pytest.mark.sampled(one_in=48)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("base", "method", "place"), CASES, ids=map("-".join, CASES))
def test_right_or_refused(base, method, place):
    body = (METHODS | OF_NAMED_TUPLES)[method]
    judged = 0
    for read in READ:
        text = f"{HEAD}{BASES[base].format(body)}\n{PLACES[place].format(read)}\n"
        with loaded(text, f"<own readers {base} {method} {place} {READ.index(read)}>") as f:
            make = f.__globals__["T"]
            plain = (lambda x, u, v, f=f, make=make: f(x, make(u, v))) if place == "given" else f
            try:
                wanted = slopes(plain)
            except Exception:
                continue
            for mode, derivative in found_by(f, place == "given"):
                try:
                    found = [0.0 if g is None else float(g) for g in derivative()]
                except (S2SGradError, Refusal, TypeError, ValueError):
                    continue
                judged += 1
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=f"{mode} of {read}")
    assert judged or method not in ("nothing", "computed")


OF_DICTS = {
    "getitem": "def __getitem__(self, k): return dict.__getitem__(self, k) * 2.0",
    "iter": "def __iter__(self): return iter(['b', 'a', 'b'])",
    "reversed": "def __reversed__(self): return iter(['a'])",
    "missing": "def __missing__(self, k): return dict.__getitem__(self, 'a') * 9.0",
    "contains": "def __contains__(self, k): return True",
    "values": "def values(self): return [dict.__getitem__(self, 'a') * 5.0, 2.0]",
    "items": "def items(self): return [('a', 3.0 * dict.__getitem__(self, 'a'))]",
    "get": "def get(self, k, d=None): return dict.__getitem__(self, 'a') * 7.0",
    "setitem": "def __setitem__(self, k, v): dict.__setitem__(self, k, v * 3.0)",
}
READ_OF_DICTS = ["p['a'] * p['b'] * x", "sum([p[k] * x for k in p])", "sum([v * x for v in p.values()])", "p['c'] * x",
                 "p.get('a') * x", "(lambda a, b: a * b * x)(**p)", "sum([p[k] * x for k in reversed(p)])",
                 "{**p}['a'] * x", "x * p['a'] if 'c' in p else x * p['b']", "dict(p)['a'] * x",
                 "sum([v * x for k, v in p.items()])", "len(p) * x * p['b']"]  # fmt: skip


@pytest.mark.records
@pytest.mark.sampled(one_in=3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", OF_DICTS)
@pytest.mark.parametrize("place", ["made", "outside", "given"])
def test_dicts(method, place):
    for read in READ_OF_DICTS:
        body = PLACES[place].format(read).replace("T(u, v)", "T(a=u, b=v)").replace("T(2.0, 3.0)", "T(a=2.0, b=3.0)")
        with loaded(f"class T(dict):\n    {OF_DICTS[method]}\n{body}\n", f"<own readers dict {method} {place}>") as f:
            make = f.__globals__["T"]
            plain = (lambda x, u, v, f=f, make=make: f(x, make(a=u, b=v))) if place == "given" else f
            try:
                wanted = slopes(plain)
            except Exception:
                continue
            try:
                if place == "given":
                    p = make(a=POINT[1], b=POINT[2])
                    assert grad(f)(POINT[0], p) == pytest.approx(wanted[0], rel=1e-4)
                    found = [wanted[0], *(grad(f, 1)(POINT[0], p)[k] for k in "ab")]
                else:
                    found = grad(f, (0, 1, 2))(*POINT)
            except (S2SGradError, Refusal, TypeError, ValueError):
                continue
            np.testing.assert_allclose([float(g) for g in found], wanted, rtol=1e-4, atol=1e-5, err_msg=read)


def test_pairs_of_methods_are_all_there():
    assert len(CASES) == len(set(CASES)) == 4 * (3 * len(METHODS) + len(OF_NAMED_TUPLES)) - 1
    assert all(itertools.chain(METHODS.values(), OF_NAMED_TUPLES.values()))


@pytest.mark.parametrize("mode", [lambda f: grad(f, 1), lambda f: jacrev(f, 1), lambda f: lambda *args: vjp(f, *args)])
def test_the_refusal_says_how_the_items_are_read(mode):
    text = f"{HEAD}{BASES['named tuple'].format(METHODS['iter'])}\n{PLACES['given'].format('x * p[0]')}\n"
    said = pytest.raises(TypeError, match=r"items of `\S+`, a T, are read by methods of its own: pass a plain tuple")
    with loaded(text, "<own readers refused>") as f, said:
        mode(f)(1.0, f.__globals__["T"](2.0, 3.0))


OF_NUMBERS = {
    "nothing": "pass",
    **{
        word: f"def __{word}__(self, o): return o * 5.0"
        for word in ("mul", "rmul", "add", "radd", "sub", "rsub", "truediv", "rtruediv", "mod", "rmod", "floordiv")
    },
    "rfloordiv": "def __rfloordiv__(self, o): return o * 7.0",
    "pow": "def __pow__(self, o): return 17.0",
    "rpow": "def __rpow__(self, o): return o * 29.0",
    **{word: f"def __{word}__(self): return 11.0" for word in ("neg", "pos", "abs", "float")},
    "round": "def __round__(self, n=None): return 31.0",
    "int": "def __int__(self): return 43",
    "false": "def __bool__(self): return False",
    "greater": "def __gt__(self, o): return True",
    "equal": "def __eq__(self, o): return True\n    __hash__ = None",
    "array": "def __array__(self, dtype=None, copy=None): return np.array(37.0)",
}
READ_OF_NUMBERS = ["p*x", "x*p", "-p*x", "x*-p", "abs(p)*x", "p**2*x", "x**p", "p**x", "(p+x)*x", "(x-p)*p", "x/p", "p/x",
                   "np.sum(np.array([x, x])*p)", "np.sum(p*np.ones(2)*x)", "math.sin(p)*x", "np.exp(p)*x", "float(p)*x",
                   "round(p)*x", "+p*x", "int(p)*x", "-(-p)*x", "math.pow(x, p)", "max(x, p)*x", "np.hypot(x, p)", "x%p",
                   "x//p*x", "np.where(x > 0, p, x)*x", "sum([p, x])", "x if x > p else x*x", "x if p else x*x",
                   "np.array([p, x])[0]*x", "p*3.0*x", "sum([p*x for k in range(3)])", "np.float64(x)*p"]  # fmt: skip
FOUND = {  # where an object is found: what is there while the text is written may be another one
    "name": "p = P",
    "list": "p = HELD['l'][0]",
    "long list": "p = LONG[-1]",
    "deep list": "p = DEEP[0][0][0][0][0]",
    "dict": "p = HELD.get('p')",
    "attribute": "p = HELD['o'].p",
    "computed attribute": "p = BAG.p",
    "function": "p = give()",
    "partial": "p = part('p')",
    "default": "p = later()",
    "closure": "p = closed()()",
    "item of a result": "p = BAG.l[0]",
    "unpacked": "(p,) = HELD['l']",
    "starred": "p, *_ = HELD['l']",
    "loop": "for p in HELD['l']: pass",
    "pairs": "for p, _ in zip(BAG.l, HELD['l']): pass",
    "condition": "p = HELD['p'] if x > 0 else x",
    "made list": "p = [q for q in HELD['l']][0]",
    "keyword": "p = named(p=BAG.p)",
}
HOME = """class Bag:
    def __getattr__(self, name): return {{'p': P, 'l': [P]}}[name]
class Plain:
    def __init__(self, p): self.p = p
P = {made}
FIRST, BAG = {first}, Bag()
LONG, DEEP = [1.0] * 100 + [P], [[[[[P]]]]]
HELD = dict(p=FIRST, l=[FIRST], o=Plain(FIRST))
part = functools.partial(dict(p=P).get)
def give(): return P
def named(**given): return given['p']
def later(b=BAG): return b.p
def closed():
    b = BAG
    return lambda: b.p
def change(): HELD.update(p=P, l=[P], o=Plain(P))
def f(x):
    {found}
    return {read}
"""
PLAIN = {  # how an object of the class T is made, and the plain one that stands there first
    "float": ("class T(float):\n    {}\n", "T(2.0)", "2.0", OF_NUMBERS, READ_OF_NUMBERS),
    "int": ("class T(int):\n    {}\n", "T(2)", "2", OF_NUMBERS, READ_OF_NUMBERS),
    "named tuple": (BASES["named tuple"], "T(2.0, 3.0)", "Base(2.0, 3.0)", METHODS | OF_NAMED_TUPLES, READ),
    "list": (BASES["list"], "T(2.0, 3.0)", "[2.0, 3.0]", METHODS, READ),
    "dict": ("class T(dict):\n    {}\n", "T(a=2.0, b=3.0)", "dict(a=2.0, b=3.0)", OF_DICTS, READ_OF_DICTS),
}
ASKED = [(base, method, found) for base, (_, _, _, methods, _) in PLAIN.items() for method in methods for found in FOUND]


@pytest.mark.dear
@pytest.mark.records
@pytest.mark.sampled(one_in=160)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("base", "method", "found"), ASKED, ids=map("-".join, ASKED))
def test_what_is_found_is_no_plain_one(base, method, found):
    written, made, first, methods, reads = PLAIN[base]
    judged = 0
    for read in reads:
        home = HOME.format(made=made, first=first, found=FOUND[found], read=read)
        text = f"import functools\n{HEAD}{written.format(methods[method])}\n{home}"
        with loaded(text, f"<found {base} {method} {found} {reads.index(read)}>") as f:
            gradient = grad(f)
            with contextlib.suppress(Exception):
                gradient(1.5)  # of what is there first
            f.__globals__["change"]()
            try:
                wanted = (float(f(1.5 + 1e-6)) - float(f(1.5 - 1e-6))) / 2e-6
            except Exception:
                continue
            for mode, derivative in (("grad", gradient), ("jvp", lambda x, f=f: jvp(f, (x,), (1.0,))[1])):
                try:
                    slope = float(derivative(1.5))
                except (S2SGradError, Refusal, TypeError, ValueError):
                    continue
                judged += 1
                assert slope == pytest.approx(wanted, rel=1e-4, abs=1e-5), f"{mode} of {read}"
    assert judged or method != "nothing"


@pytest.mark.parametrize("found", FOUND)
def test_plain_subclasses_of_numbers_are_numbers(found):
    text = f"import functools\n{HEAD}class T(float):\n    tag = 'level'\n"
    with loaded(text + HOME.format(made="T(2.0)", first="T(2.0)", found=FOUND[found], read="-p*x"), f"<{found}>") as f:
        assert grad(f)(1.5) == -2.0


@pytest.mark.records
@pytest.mark.parametrize("found", ["name", "list", "long list", "deep list", "function", "attribute", "starred", "loop"])
def test_numbers_with_methods_of_their_own_are_recorded(found):
    methods = "def __neg__(self): return 11.0\n    def __rmul__(self, o): return o * 7.0\n    __rfloordiv__ = __rmul__"
    text = f"import functools\n{HEAD}class T(float):\n    {methods}\n"
    for read, slope in (("-p*x", 11.0), ("x*p", 7.0), ("p*x", 2.0), ("x*x - p", 3.0), ("x//p", 7.0)):
        with loaded(text + HOME.format(made="T(2.0)", first="P", found=FOUND[found], read=read), f"<{found} {read}>") as f:
            assert grad(f)(1.5) == slope
            assert jvp(f, (1.5,), (1.0,))[1] == slope


def test_what_only_the_run_finds_is_refused_with_its_line():
    text = f"import functools\n{HEAD}class T(float):\n    def __rmul__(self, o): return o * 7.0\n"
    home = HOME.format(made="T(2.0)", first="P", found=FOUND["computed attribute"], read="x*p")
    refused = pytest.raises(TypeError, match=r"`p` is a T, whose operators are methods of its own .*: use a plain float")
    with loaded(text + home, "<refused number>") as f, refused as caught:
        grad(f)(1.5)
    assert "return x*p" in str(caught.value)


def test_a_derivative_in_a_number_with_operators_of_its_own_is_refused():
    class Level(float):
        def __neg__(self):
            return 11.0

    for derivative in (grad, jacrev):
        with pytest.raises(TypeError, match=r"operators of a Level mean something else .*: pass `float\(\S+\)`"):
            derivative(lambda x: -x * x)(Level(2.0))
    with pytest.raises(TypeError, match="operators of a Level mean something else"):
        jvp(lambda x: -x * x, (Level(2.0),), (1.0,))


def test_numbers_of_the_standard_library_are_plain():
    class Axis(enum.IntEnum):
        FIRST = 0
        SECOND = 1

    class Flags(enum.IntFlag):
        ONE = 1
        TWO = 2

    assert not any(map(is_otherwise, (Axis, Flags, bool, np.float32, np.bool_, signal.Signals)))
    assert grad(lambda x: -Axis.SECOND * x * Flags.TWO)(1.5) == -2.0


CALLED_BY_NAME = {  # methods that ask those of the plain number, or for the class of the other operand
    "def __mul__(self, o): return super().__mul__(o) * 3.0": "p*x",
    "def __rmul__(self, o): return super().__rmul__(o) * 3.0": "x*p",
    "def __sub__(self, o): return float.__sub__(self, o) * 3.0": "(p-x)*x",
    "def __rpow__(self, o): return super().__rpow__(o) * 3.0": "x**p",
    "def __lt__(self, o): return not super().__lt__(o)": "x if p < x else x*x",
    "def __ge__(self, o): return not float.__ge__(self, o)": "x if p >= x else x*x",
    "def __eq__(self, o): return not super().__eq__(o)\n    __hash__ = None": "x if p == x*2.0 else x*x",
    "def __ne__(self, o): return object.__eq__(self, o) is not NotImplemented": "x if p != x else x*x",
    "def __rtruediv__(self, o): return o * 7.0 if type(o) is float else 3.0": "x/p",
    "def __add__(self, o): return o * 7.0 if isinstance(o, float) else 3.0": "p+x",
    "def __radd__(self, o): return math.sin(o)": "x+p",
}


@pytest.mark.records
@pytest.mark.parametrize("found", ["name", "deep list", "function", "attribute", "item of a result"])
@pytest.mark.parametrize("method", CALLED_BY_NAME)
def test_methods_that_ask_for_the_plain_number_are_followed(method, found):
    text = f"import functools\n{HEAD}class T(float):\n    {method}\n"
    home = HOME.format(made="T(2.0)", first="P", found=FOUND[found], read=CALLED_BY_NAME[method])
    with loaded(text + home, f"<asks the plain number {found} {method}>") as f:
        wanted = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
        for derivative in (grad(f), lambda x: jvp(f, (x,), (1.0,))[1]):
            try:
                slope = derivative(1.5)
            except TypeError:  # what only the run finds
                assert found == "item of a result"
                continue
            assert slope == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("read", ["HELD.p", "HELD[0]", "HELD.p if x > 0 else 1.0"])
def test_what_a_callable_object_gives_out_is_checked(read):
    written = "class T(float):\n    def __float__(self): return 23.0\n"
    held = "    def __getitem__(self, k): return P\n    def __getattr__(self, name): return P\n"
    home = f"P = T(2.0)\nclass Held:\n    def __call__(self): return P\n{held}HELD = Held()\n"
    with loaded(f"{HEAD}{written}{home}def f(x):\n    p = {read}\n    return divmod(p, x)[1]\n", f"<gives {read}>") as f:
        assert f(1.5) == 0.5
        with pytest.raises(TypeError, match="`p` is a T, whose operators are methods of its own"):
            grad(f)(1.5)


@pytest.mark.parametrize("made", ["xs = [2.0]; xs.append(xs)", "xs = None\nfor _ in range(5000): xs = [2.0, xs]"])
def test_lists_that_hold_themselves_or_many_are_looped_over(made):
    f = "def f(x):\n    for q in xs:\n        if isinstance(q, float): x = x * q\n    return x\n"
    with loaded(f"{made}\n{f}", f"<loop over {made}>") as f:
        assert grad(f)(1.5) == 2.0


@pytest.mark.records
@pytest.mark.parametrize(("base", "made", "method", "read"), [
    ("float", "T(2.0)", "__array_priority__ = 1e4\n    def __rmul__(self, o): return 9.0", "np.float64(x)*p"),
    ("np.ndarray", "np.ones(2).view(T)", "def __array_ufunc__(self, *a, **k): return 9.0", "np.array([x, x])*p"),
    ("np.ndarray", "np.ones(2).view(T)", "def __rmul__(self, o): return 9.0", "x*p"),
])  # fmt: skip
def test_what_numpy_leaves_to_a_class_is_refused_where_it_is_recorded(base, made, method, read):
    written = f"class T({base}):\n    {method}\nLST = [{made}]\n"
    found = "i = 0\n    while i < 1: p = LST[i]; i += 1"
    refused = pytest.raises((S2SGradError, TypeError), match=r"a T, wh(ich is read|ose operators are)")
    text = f"{HEAD}{written}def f(x):\n    {found}\n    return np.sum({read})\n"
    with loaded(text, f"<left to {base} {read}>") as f, refused:
        grad(f)(1.5)


class Reversed(dict):
    def get(self, key, default=None):
        return -self[key]


class Scores:
    def __iter__(self):
        return iter(("a", "b"))

    def __getitem__(self, key):
        return {"a": 2.0, "b": 3.0}[key]

    def get(self, key):
        return -self[key]


@pytest.mark.records
@pytest.mark.parametrize("scores", [Reversed(a=2.0, b=3.0), Scores(), {"a": 3.0, "b": 2.0}], ids=["dict", "object", "plain"])
def test_the_key_of_the_largest_value_is_found_by_the_method_that_is_named(scores):
    def of_a_global(x):
        return x * scores[max(scores, key=scores.get)]

    def of_an_argument(x, scores):
        return x * scores[max(scores, key=scores.get)]

    assert grad(of_a_global)(1.3) == of_a_global(1.0) == jvp(of_a_global, (1.3,), (1.0,))[1]
    assert grad(of_an_argument)(1.3, scores) == of_an_argument(1.0, scores)


# --- numbers that NumPy asks, found in many places --------------------------------------------------------------------

NUMBER = """
import numpy as np

class Tenfold(np.float64):
    def __array_ufunc__(self, ufunc, method, *given, **options):
        plain = [a.view(np.ndarray) if isinstance(a, np.ndarray) else float(a) for a in given]
        return 10.0 * getattr(ufunc, method)(*plain, **options)

P, HELD = Tenfold(2.0), [Tenfold(2.0)]

class Holder:
    level = P

def default(v=P):
    return v

def named(*, v=P):
    return v

def f(x):
    v = {found}
    return np.sum({asked})
"""
WHERE_ASKED = ["HELD[0]", "P", "default()", "named()", "Tenfold(2.0)", "Holder.level", "max(HELD)", "list(HELD).pop()"]
HOW_ASKED = ["x * v", "v * x", "v - x", "np.multiply(x, v)", "x ** v"]


@pytest.mark.records
@pytest.mark.parametrize("x", [0.7, np.array([0.7, 1.0])], ids=["number", "array"])
@pytest.mark.parametrize("asked", HOW_ASKED)
@pytest.mark.parametrize("found", WHERE_ASKED)
def test_numbers_that_numpy_asks(found, asked, x):
    with loaded(NUMBER.format(found=found, asked=asked), "<numbers>") as f:
        wanted = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        for derivative in (lambda: np.sum(grad(f)(x)), lambda: jvp(f, (x,), (x * 0.0 + 1.0,))[1]):
            try:
                assert np.isclose(derivative(), wanted, rtol=1e-4)
            except (S2SGradError, Refusal) as error:
                assert "Tenfold" in str(error), error
