"""Complex numbers that meet a differentiated value are followed or refused, in every mode; others do no harm.

Programs are put together from a place that a complex number comes from, an operation in which it meets the argument, and
a way back to real numbers: a value that slips through anywhere, into a text for real numbers, gives a wrong number.
"""

import contextlib
import itertools
import warnings
from functools import partial

import numpy as np
import pytest

from s2sgrad import (
    GradientTape,
    S2SGradError,
    Variable,
    custom_gradient,
    defjvp,
    defvjp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    primitive,
    runtime,
    vjp,
)
from s2sgrad.runtime.checks import Refusal

THREE = np.array([0.7, 1.3, 2.1])
NUMBER, ROW = 0.6 + 0.8j, np.array([1j, 2.0, 0.5 - 1j])


class Held:
    phase = 1j

    def __init__(self):
        self.z = NUMBER


class Slotted:
    __slots__ = ("z",)

    def __init__(self):
        self.z = NUMBER


HELD, SLOTTED, LISTED, NAMED = Held(), Slotted(), [1.0, NUMBER], {"z": ROW}

ENTRIES = {
    "argument": ("z", NUMBER),
    "number of NumPy's": ("z", np.complex128(NUMBER)),
    "array": ("z", ROW),
    "item of a list": ("z[1]", [1.0, NUMBER]),
    "item of a long list": ("z[-1]", [1.0] * 300 + [NUMBER]),
    "item of a dict": ("z['b']", {"a": 1.0, "b": ROW}),
    "item under a key that is no name": ("z[0, 1]", {(0, 1): NUMBER}),
    "sum of a list": ("np.sum(z)", [0.01] * 300 + [NUMBER]),
    "attribute": ("z.z", HELD),
    "attribute of the class": ("z.phase", HELD),
    "slot": ("z.z", SLOTTED),
    "result of a function": ("z()", lambda: NUMBER),
    "default": ("k", None),
    "captured": ("c", None),
    "global": ("NUMBER", None),
    "global array": ("ROW", None),
    "item of a global": ("LISTED[1]", None),
    "item of a global dict": ("NAMED['z']", None),
    "attribute of a global": ("HELD.z", None),
    "slot of a global": ("SLOTTED.z", None),
    "constant": ("-2j", None),
    "folded": ("np.exp(-1j * np.arange(3.0))", None),
    "transform of a constant": ("np.fft.fft(ROW)", None),
    "of a dtype that is an argument": ("np.zeros(3, z)", complex),
}

MEETS = {
    "product": "y = x * {}",
    "sum": "y = {} + x",
    "power": "y = x ** {}",
    "updated": "y = x * 1.0; y = y + {}",
    "helper": "y = times(x, {}) + 0.0",
    "lambda": "y = (lambda a: a * ({}))(x)",
    "choice": "y = np.where(x > 1.0, x, {})",
    "root": "y = np.sqrt(x * {})",
    "stored": "y = np.zeros(3, complex); y[:] = x; y = y * {}",
    "stored into it": "y = np.array(np.broadcast_to({}, 3)); y[:2] = x[:2]",
    "in a list": "y = [x, {}]; y = y[0] * y[1]",
    "in a dict": "y = dict(); y['x'] = x; y['z'] = {}; y = y['x'] + y['z']",
    "appended": "y = []; y.append(x); y.append({}); y = y[0] * y[1]",
    "summed up": "y = {}\n    for i in range(3):\n        y = y + x[i]",
    "one of two": "y = {} if x[0] > 0.0 else x\n    y = y * x",
    "of the type": "y = x.astype(np.array({}).dtype)",
    "full": "y = np.full(3, x[0], np.array({}).dtype)",
}

BACK = {"modulus": "np.abs(y)", "real part": "np.real(y)", "attribute": "(y + 0.0).real", "square": "abs(y) ** 2"}


def times(a, b):
    return a * b


def program(tmp_path_factory, entry, meeting, back):
    """The function, and its further arguments."""
    expression, given = ENTRIES[entry]
    body = meeting.format(expression).replace("; ", "\n    ")
    head = "x, k=NUMBER" if entry == "default" else "x" if given is None else "x, z"
    text = f"def made(c):\n  def f({head}):\n    {body}\n    return np.sum({BACK[back]})\n  return f\n"
    path = tmp_path_factory.mktemp("complex") / "program.py"
    path.write_text(text)
    space = {"np": np, "times": times, "NUMBER": NUMBER, "ROW": ROW, "LISTED": LISTED, "NAMED": NAMED, "HELD": HELD,
             "SLOTTED": SLOTTED}  # fmt: skip
    exec(compile(text, str(path), "exec"), space)
    return space["made"](NUMBER), () if given is None else (given,)


def modes(f, x, others=()):
    none, named = (None,) * len(others), dict(zip("z", others, strict=False))
    return {
        "grad": lambda: grad(f)(x, *others),
        "jvp": lambda: jvp(f, (x, *others), (np.ones_like(x), *none)),
        "vjp": lambda: vjp(partial(f, **named), x)[1](1.0),
        "jacfwd": lambda: jacfwd(f)(x, *others),
        "jacrev": lambda: jacrev(partial(f, **named))(x),
        "hessian": lambda: hessian(f)(x, *others),
    }


def refused(way):
    """The error, which says what is the matter and where."""
    with pytest.raises((S2SGradError, Refusal)) as raised:
        way()
    assert "complex" in str(raised.value)
    return raised.value


def differences(f, x, others=()):
    """The gradient by central differences."""
    step = 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([(f(x + step * e, *others) - f(x - step * e, *others)) / (2 * step) for e in np.eye(len(x))])


def right_or_refused(mode, way, wanted):
    """Whether a derivative was computed, which is then compared; a refusal says where."""
    try:
        found = way()
    except (S2SGradError, Refusal) as error:
        assert "complex" in str(error) or "rule" in str(error)
        return False
    found = found[1] if mode == "jvp" else found[0] if mode == "vjp" else found
    assert not np.iscomplexobj(found)
    np.testing.assert_allclose(found, np.sum(wanted) if mode == "jvp" else wanted, rtol=1e-5, atol=1e-6)
    return True


FOLLOWED = ("argument", "number of NumPy's", "array", "captured", "global", "global array", "constant", "folded")

ALL = list(itertools.product(ENTRIES, MEETS, BACK))


@pytest.mark.sampled(one_in=72)
@pytest.mark.parametrize(("entry", "meeting", "back"), ALL)
def test_what_meets_the_argument_is_right_or_refused(tmp_path_factory, entry, meeting, back):
    f, others = program(tmp_path_factory, entry, MEETS[meeting], back)
    wanted = differences(f, THREE, others)
    ways = modes(f, THREE, others)
    for mode in ("grad", "jvp", [m for m in ways if m != "hessian"][2 + ALL.index((entry, meeting, back)) % 3]):
        followed = right_or_refused(mode, ways[mode], wanted)
        assert followed or entry not in FOLLOWED or mode not in ("grad", "jvp")


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("entry", [e for e in ENTRIES if e != "of a dtype that is an argument"])
def test_what_does_not_meet_it_is_computed(tmp_path_factory, entry):
    f, others = program(tmp_path_factory, entry, "y = x * np.abs({})", "modulus")
    wanted = np.array([f(row, *others) for row in np.eye(3)])
    for mode, way in modes(f, THREE, others).items():
        if mode == "jvp":
            np.testing.assert_allclose(way()[1], np.sum(wanted), rtol=1e-12)
        elif mode != "hessian":
            np.testing.assert_allclose(np.reshape(way(), 3), wanted, rtol=1e-12)


# --- where it comes from the argument itself ---------------------------------------------------------------------------


@custom_gradient
def turned(x):
    return x * 1j, lambda g: g * 2.0


@primitive
def spectrum(x):
    return np.fft.fft(x)


defvjp(spectrum, lambda g, y, x: np.real(np.fft.fft(g)))
defjvp(spectrum, lambda t, y, x: np.fft.fft(t))

MADE = {
    "fft": (lambda x: np.sum(np.abs(np.fft.fft(x))), THREE),
    "rfft and back": (lambda x: np.sum(np.fft.irfft(np.fft.rfft(x))), THREE),
    "a rule's value": (lambda x: np.sum(np.real(turned(x))), THREE),
    "a primitive's value": (lambda x: np.sum(np.abs(spectrum(x)) ** 2), THREE),
    "imaginary power": (lambda x: np.sum(np.abs(x**0.5j)), THREE),
    "root of a sum": (lambda x: np.sum(np.abs(np.sqrt(x + 0j))), THREE),
    "emath": (lambda x: np.sum(np.abs(np.emath.sqrt(-x))), THREE),
    "roots": (lambda x: np.sum(np.abs(np.roots(x))), THREE),
    "astype": (lambda x: np.sum(np.real(x.astype(complex))), THREE),
    "array": (lambda x: np.sum(np.real(np.array(x, dtype=complex))), THREE),
    "view": (lambda x: np.sum(x[:2].view(complex).real), THREE),
    "complex": (lambda x: abs(complex(x[0], x[1])), THREE),
    "polynomial": (lambda x: np.sum(np.abs(np.polynomial.polynomial.polyroots(x))), THREE),
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(("f", "x"), MADE.values(), ids=MADE)
def test_what_becomes_complex_is_right_or_refused(f, x):
    wanted = None
    with contextlib.suppress(Refusal):
        wanted = differences(f, x)
    for mode, way in modes(f, x).items():
        if mode == "hessian" or wanted is None:
            with pytest.raises((S2SGradError, Refusal)) if wanted is None else contextlib.suppress(S2SGradError, Refusal):
                way()
        else:
            right_or_refused(mode, way, wanted)


def stored(x):
    z = np.zeros(3, complex)
    z[0] = x[0]
    return np.sum(np.abs(z))


def written_by_out(x):
    z = np.zeros_like(ROW)
    np.multiply(x, 2.0, out=z)
    return np.sum(z.real**2)


def copied_into(x):
    z = np.zeros_like(ROW)
    np.copyto(z, x)
    return np.sum(z.real**2)


def filled(x):
    z = np.zeros_like(ROW)
    z.fill(x[0])
    return np.sum(z.real**2)


def added_at(x):
    z = np.zeros_like(ROW)
    np.add.at(z, [0, 1, 2], x)
    return np.sum(z.real**2)


def put(x):
    z = np.zeros_like(ROW)
    np.put(z, [0, 1, 2], x)
    return np.sum(z.real**2)


def added_to(x):
    z = ROW.copy()
    z += x
    return np.sum(z.real**2)


@pytest.mark.parametrize("f", [stored, written_by_out, copied_into, filled, added_at, put, added_to])
def test_what_is_stored_among_complex_numbers(f):
    wanted = differences(f, THREE)
    for mode, way in modes(f, THREE).items():
        assert mode == "hessian" or right_or_refused(mode, way, wanted) or mode not in ("grad", "jvp")


POWERS = [
    lambda x: abs(x**0.5),
    lambda x: abs(x**1.5),
    lambda x: abs(pow(x * 1.5, 0.5)),
    lambda x, p=0.5: abs(x**p),
    lambda x: (x**2.5).real,
]


@pytest.mark.parametrize("f", POWERS)
def test_powers_of_negative_numbers_of_python(f):
    assert isinstance(f(-2.0), float)
    for way in (lambda: grad(f)(-2.0), lambda: jvp(f, (-2.0,), (1.0,)), lambda: vjp(f, -2.0)[1](1.0)):
        refused(way)
    step = 1e-6
    assert grad(f)(2.0) == pytest.approx((f(2.0 + step) - f(2.0 - step)) / (2 * step), rel=1e-7)


def test_in_a_list_that_loops_read():
    def f(xs):
        total = 0.0
        for i in range(len(xs)):
            total += abs(xs[i] ** 0.5)
        return total

    refused(lambda: grad(f)([2.0, -1.0]))
    refused(lambda: jvp(f, ([2.0, -1.0],), ([1.0, 1.0],)))


@pytest.mark.parametrize("z", [[1.0, 2j], {"a": 1.0, "b": ROW}, {(0, 1): 1j, (0, 2): 1.0}, (1.0, (2.0, ROW))], ids=str)
def test_containers_as_arguments(z):
    def f(z):
        return 1.0

    assert str(grad(f)(z)) == str(vjp(f, z)[1](1.0)[0]) == str(runtime.zeros(z))


def test_on_a_tape():
    for f in (lambda x: np.abs(x * NUMBER), lambda x: np.real(x + 1j), lambda x: np.abs(np.sqrt(x + 0j))):
        x = Variable(2.0)
        with GradientTape() as tape:
            y = f(x)
        np.testing.assert_allclose(tape.gradient(y, x), (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / (2.0 * 1e-6), rtol=1e-6)


def test_a_constant_expression_of_complex_numbers():
    def f(x):
        return np.sum(x * np.abs(np.exp(-1j * np.arange(3.0)))) + (-1j * 1j).real * x[0] - (-True) * x[1]

    np.testing.assert_allclose(grad(f)(THREE), [2.0, 2.0, 1.0])
    np.testing.assert_allclose(jvp(f, (THREE,), (np.ones(3),))[1], 5.0)


def test_no_check_where_the_kinds_are_known():
    def f(x, w, n, name):
        y = [x * w, n]
        return np.sum(np.tanh(y[0]) ** 1.5) * y[1]

    text = grad(f).source_for(THREE, THREE, 2, "a")
    assert "real(" not in text and "power_slope" not in text


def pair_with_a_constant(x):
    return x * 2.0, NUMBER


def test_no_check_of_what_is_taken_from_real_numbers():
    def f(w):
        y = np.zeros((5,))
        np.cbrt(w, where=np.array([True, False, True, True, False]), out=y)
        return np.sum(y)

    w = np.arange(1.0, 6.0)
    slopes = grad(f)
    np.testing.assert_allclose(slopes(w), np.array([1.0, 0.0, 1.0, 1.0, 0.0]) / (3.0 * np.cbrt(w) ** 2))
    assert "real(" not in slopes.source


def test_a_complex_constant_that_a_function_returns_beside_its_result():
    def f(x):
        y, z = pair_with_a_constant(x)
        return np.sum(np.abs(y * z))

    wanted = differences(f, THREE)
    for mode, way in modes(f, THREE).items():
        assert mode == "hessian" or right_or_refused(mode, way, wanted)
