"""Objects that answer to every name, or raise at each: what asks them by spelling is told what is not so."""

import itertools

import numpy as np
import pytest
from differences import central_difference
from judging import loaded

from s2sgrad import S2SGradError, grad, hessian, jacfwd, jacrev, value_and_grad, vjp

PLAIN = """
import dataclasses
import numpy as np

BASE
    def method(self, x): return self.w * x * x
    def __call__(self, x): return np.sin(x) * self.w
    def _power(self, *parts): return parts[0] * self.w
    def star(self, x): return self._power(*listed(x))
ANSWER

def listed(x): return [x.ravel()]

def helper(x, k): return k.w * x

k = K(2.0)

def f(x, *rest):
    MADE
    return USE
"""
ANSWERS = (
    "def __getattr__(self, name): return None",
    "def __getattr__(self, name): return self",
    "def __getattr__(self, name): return name",
    "def __getattr__(self, name): return lambda *args, **words: 1.0",
    "def __getattr__(self, name):\n        if name.startswith('__'): raise AttributeError(name)\n        return 2.0",
    "def __getattr__(self, name): raise KeyError(name)",
    "def __getattr__(self, name): raise RuntimeError(name)",
    "def __getattribute__(self, name):\n        try: return object.__getattribute__(self, name)\n"
    "        except AttributeError: return None",
)
BASES = (
    "class K:\n    def __init__(self, w): self.w = w",
    "class K:\n    __slots__ = ('w',)\n    def __init__(self, w): self.w = w",
    "class K(dict):\n    def __init__(self, w): self['w'] = w\n    @property\n    def w(self): return self['w']",
    "class K(list):\n    def __init__(self, w): self.append(w)\n    @property\n    def w(self): return self[0]",
    "@dataclasses.dataclass\nclass K:\n    __annotations__ = {'w': object}",
)
MADE = ("k, = rest", "pass", "k = K(2.0)", "k = K(x[0])", "k = rest[0][0]")
USES = (
    "np.sum(k.w * x)", "np.sum(k.method(x))", "np.sum(k.star(x))", "np.sum(k(x))", "np.sum(x * x) * [k][0].w",
    "np.sum(x * x) if k is None else np.sum(x) * k.w", "np.sum(helper(x, k))", "np.sum(x * getattr(k, 'w', 1.0))",
    "np.sum(sorted([x[0], x[1]])[0] * k.w)", "np.sum(x * eval('k.w'))", "np.sum(x) if k in [k] else np.sum(x * x)",
    "(lambda q: np.sum(q.method(x)))(k)",
)  # fmt: skip
X = np.array([0.7, 1.5])


def program(answer, base, made, use):
    text = PLAIN.replace("USE", use).replace("MADE", made).replace("BASE", base)
    return text.replace("ANSWER", f"    {answer}")


def given(f, made):
    k = f.__globals__["k"]
    return (X, k) if made == "k, = rest" else (X, [k]) if "rest" in made else (X,)


@pytest.mark.records
@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize(("answer", "made"), [*itertools.product(ANSWERS, MADE)])
def test_the_derivative_is_that_of_an_object_that_answers_to_nothing(answer, made):
    for base, use in itertools.product(BASES, USES):
        with loaded(program(answer, base, made, use), "<answering>") as f:
            args = given(f, made)
            want = central_difference(lambda x: f(x, *args[1:]), (X,), 0)[0]
            for derivative in (grad(f), jacrev(f)):
                try:
                    got = derivative(*args)
                except S2SGradError as error:
                    assert "s2sgrad itself failed" not in str(error), (base, use)
                else:
                    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7, err_msg=f"{base} {use}")


MODES = {
    "grad": grad,
    "debug": lambda f: grad(f, debug=True),
    "value_and_grad": value_and_grad,
    "jacfwd": jacfwd,
    "jacrev": jacrev,
    "hessian": hessian,
    "vjp": lambda f: lambda x, *rest: vjp(lambda x: f(x, *rest), x)[1](1.0),
}
_OF_COPY = {"__deepcopy__", "__setstate__"}


@pytest.mark.records
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.sampled(one_in=3)
def test_an_object_is_asked_for_what_the_program_reads_alone(mode):
    """Whoever asks an instance by `hasattr` or `getattr` shows here, whatever the answer would have led to."""
    asked = set()
    for k, (made, use) in enumerate(itertools.product(MADE, USES)):
        base = BASES[k % len(BASES)]
        answer = "def __getattr__(self, name):\n        asked.add(name)\n        raise AttributeError(name)"
        with loaded(program(answer, base, made, use), "<asked>") as f:
            f.__globals__["asked"] = asked
            try:
                MODES[mode](f)(*given(f, made))
            except (S2SGradError, TypeError, ValueError):
                continue
    assert asked <= _OF_COPY
