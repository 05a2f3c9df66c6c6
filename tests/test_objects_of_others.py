"""Objects as arguments and constants: arrays of other libraries, objects with slots, values that refer to themselves."""

from __future__ import annotations

import collections
import numbers
import pickle
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from s2sgrad import grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, linearize, value_and_grad, value_and_jacobian, vjp
from s2sgrad.errors import Refused, Unsupported
from s2sgrad.testing import check_grads

A = np.array([1.0, 2.0, 4.0])


# --- arrays of other libraries ---------------------------------------------------------------------------------------


class Series:
    """What a Series of pandas is for us: NumPy takes it for an array, but `std` divides by n - 1, and so on."""

    def __init__(self, values):
        self.values = np.asarray(values)

    dtype = property(lambda self: self.values.dtype)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        out = getattr(ufunc, method)(*(i.values if isinstance(i, Series) else i for i in inputs), **keywords)
        return Series(out) if np.ndim(out) else out

    def __getitem__(self, label):
        return Series(self.values[label]) if isinstance(label, (slice, list)) else self.values[label]

    def __len__(self):
        return len(self.values)

    def std(self):
        return np.std(self.values, ddof=1)

    def mean(self):
        return np.mean(self.values)

    def to_numpy(self):
        return self.values

    def __mul__(self, other):
        return Series(self.values * np.asarray(other))

    __rmul__ = __mul__

    def __gt__(self, other):
        return Series(self.values > other)


class Lazy(Series):
    """An array of another library without `to_numpy`."""

    to_numpy = None
    del to_numpy


def others():
    made = [pytest.param(lambda: Series([1.0, 2.0, 3.0]), id="stand-in")]
    for name, make in (("pandas", lambda m: m.Series([1.0, 2.0, 3.0])), ("pandas", lambda m: m.Index([1.0, 2.0, 3.0])),
                       ("dask.array", lambda m: m.from_array(np.array([1.0, 2.0, 3.0])))):  # fmt: skip
        made.append(pytest.param(lambda name=name, make=make: make(pytest.importorskip(name)), id=f"{name} {len(made)}"))
    return pytest.mark.parametrize("make", made)


S = Series([1.0, 2.0, 3.0])
FRAME = {"x": S, "k": 2.0}


def times_global(a):
    return np.sum(a * S)


def spread_of_a_product(a):  # n - 1 in the function, n in our derivative of `std`: it was wrong
    return (a * S).std()


def item_of_a_dict(a):
    return np.sum(a * FRAME["x"])


def function_of_both(a):
    return np.dot(a, S)


def list_of_both(a):
    return np.sum(np.concatenate([a, S]) ** 2)


def mask_as_an_operand(a):
    return np.sum(np.where(S > 1.5, a, 0.0))


def in_place(a):
    y = a * 1.0
    y *= S
    return np.sum(y)


def computed_first(a):
    w = S * 2.0
    return np.sum(a * w)


def section(a):
    return np.sum(a[:2] * S[:2])


@pytest.mark.parametrize(
    "f", [times_global, spread_of_a_product, item_of_a_dict, function_of_both, list_of_both, mask_as_an_operand, in_place,
          computed_first, section], ids=lambda f: f.__name__
)  # fmt: skip
def test_a_constant_that_meets_a_derivative_is_refused_with_the_way_out(f):
    for derivative in (grad(f), lambda a: jvp(f, (a,), (A,)), jacobian(f), hessian(f)):
        with pytest.raises((Unsupported, Refused), match=r"is a Series, whose operators .*to_numpy\(\)") as caught:
            derivative(A)
        assert f.__name__ in str(caught.value) or "test_objects_of_others.py" in str(caught.value)


@pytest.mark.records
@others()
@pytest.mark.parametrize("f", [times_global, item_of_a_dict, function_of_both, in_place, computed_first, section],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_what_is_recorded_says_the_same_or_is_right(f, make, monkeypatch):
    """A library that meets a handle raises what only it understands: the refusal of the compiler is shown instead."""
    monkeypatch.setitem(globals(), "S", make())
    monkeypatch.setitem(FRAME, "x", make())
    try:
        gradient = np.asarray(grad(f)(A.copy()))
    except (Unsupported, Refused) as error:
        assert "test_objects_of_others.py" in str(error)
    except ValueError as error:  # of NumPy, which is handed both
        assert "__array__" in str(error)
    else:
        step = 1e-6 * np.eye(3)
        numeric = [(float(f(A + d)) - float(f(A - d))) / 2e-6 for d in step]
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6)


def as_an_array(a):
    return np.sum(a * S.to_numpy())


def as_numbers(a):
    return np.sum(a) * S.mean() * len(S) + a[0] * S[1]


def as_a_mask(a):
    return np.sum(a[np.asarray(S > 1.5)] ** 2)


def items(a):
    total = 0.0
    for v in S:
        total = total + v * a[0] ** 2
    return total


@pytest.mark.parametrize("f", [as_an_array, as_numbers, as_a_mask, items], ids=lambda f: f.__name__)
def test_what_is_computed_of_one_first_flows(f):
    check_grads(f, (A,), order=2)
    np.testing.assert_array_equal(value_and_grad(f)(A)[0], f(A))


@others()
def test_an_argument_of_that_kind_is_refused_by_name_or_a_constant(make):
    def weighted(a, s):
        return np.sum(a * s)

    def scaled(a, s):
        return np.sum(a * np.asarray(s))

    other = make()
    name = type(other).__name__
    np.testing.assert_array_equal(grad(scaled)(A, other), [1.0, 2.0, 3.0])
    assert jvp(scaled, (A, other), (A, None))[1] == 17.0
    for derivative in (grad(weighted), grad(weighted, 1), grad(scaled, "s"), jacobian(weighted, 1), hessian(weighted, 1),
                       value_and_grad(weighted, (0, 1)), lambda *p: jvp(weighted, p, (None, A)),
                       lambda *p: vjp(weighted, *p), lambda *p: hvp(weighted, p, (None, A))):  # fmt: skip
        with pytest.raises((TypeError, Unsupported), match=f"`s` is an? {name}, whose operators"):
            derivative(A, other)
    for alone in (lambda s: np.sum(s**2), lambda s: np.sum(np.asarray(s) ** 2), lambda s: np.sum(A) * len(s)):
        with pytest.raises((TypeError, Unsupported), match=rf"`(s|primals\[0\])` is an? {name}, whose operators"):
            vjp(alone, other)
    with pytest.raises(TypeError, match=rf"`p\[0\]\['s'\]` is an? {name}"):
        grad(lambda p: np.sum(p[1]))([{"s": other}, 2.0])


def test_one_in_an_object_is_a_constant_or_refused():
    model = SimpleNamespace(w=2.0)

    class Model:
        def __init__(self, w, data):
            self.w, self.data = w, data

    def loss(m, a):
        return np.sum(m.w * m.data * a)

    def other_loss(m, a):
        return np.sum(m.w * m.data.to_numpy() * a)

    model = Model(2.0, S)
    with pytest.raises((Unsupported, Refused), match="is a Series"):
        grad(loss)(model, A)
    with pytest.raises((Unsupported, Refused), match="is a Series"):
        grad(loss, 1)(model, A)
    np.testing.assert_array_equal(grad(other_loss, 1)(model, A), [2.0, 4.0, 6.0])


def test_a_result_of_that_kind_is_refused():
    def constant(a):
        return S

    with pytest.raises(TypeError, match="returns a Series"):
        grad(constant)(A)
    with pytest.raises(TypeError, match="returns a Series"):
        check_grads(lambda a: a * S, (A,))


class Vector:
    """An object of the user's that NumPy can make an array of: an object, but no array."""

    def __init__(self, v, k):
        self.v, self.k = v, k

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.v) * self.k

    def total(self):
        return np.sum(self.v) * self.k


def test_an_object_with_an_array_is_an_object_and_no_operand():
    vector = Vector(np.array([1.0, 2.0]), 3.0)
    assert grad(lambda v: v.total() + v.k)(vector)["k"] == 4.0
    for f in (lambda v: np.sum(np.asarray(v)), lambda v: np.sum(v), lambda v: np.sum(np.exp(v)), lambda v: np.dot(A[:2], v)):
        for derivative in (grad(f), lambda v, f=f: jvp(f, (v,), ({"v": A[:2], "k": 1.0},)), jacobian(f)):
            with pytest.raises(Unsupported, match="whose attributes NumPy does not follow"):
                derivative(vector)


# --- objects with slots ----------------------------------------------------------------------------------------------


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def area(self):
        return self.x * np.sin(self.y)


class Solid(Point):
    __slots__ = ("z",)

    def __init__(self, x, y, z=2.0):
        super().__init__(x, y)
        self.z = z

    def area(self):
        return super().area() * self.z**2


class Named(Solid):  # with a dict as well
    def __init__(self, x, y):
        super().__init__(x, y)
        self.scale = 0.5

    def area(self):
        return super().area() * self.scale


class Private:
    __slots__ = ("__x", "unset", "y")

    def __init__(self, x, y):
        self.__x, self.y = x, y

    def area(self):
        return self.__x * np.sin(self.y)


@dataclass(slots=True)
class Data:
    x: float
    y: float

    def area(self):
        return self.x * np.sin(self.y)


@dataclass(slots=True, frozen=True)
class Frozen(Data.__mro__[-1]):
    x: float
    y: float

    def area(self):
        return self.x * np.sin(self.y)


@dataclass(slots=True)
class Longer(Data):
    z: float = 0.3

    def area(self):
        return self.x * np.sin(self.y) * self.z


SLOTTED = [Point, Solid, Named, Private, Data, Frozen, Longer]
every_slotted = pytest.mark.parametrize("cls", SLOTTED, ids=lambda cls: cls.__name__)


def area(p):
    return p.area() ** 2


def parts(p):
    """The attributes of a derivative in an object, which is a dict of them or such an object."""
    names = [n for k in type(p).__mro__ for n in getattr(k, "__slots__", ())]
    return p if isinstance(p, dict) else {n: getattr(p, n) for n in names}


@every_slotted
def test_an_object_with_slots_is_differentiated_as_any_object(cls):
    point = cls(1.3, 0.4)
    check_grads(area, (point,), order=2)
    first = parts(grad(area)(point))
    for derivative in (jacobian(area), jacfwd(area), jacrev(area), lambda p: vjp(area, p)[1](1.0)[0]):
        found = parts(derivative(point))
        assert found.keys() == first.keys() and all(np.isclose(found[n], first[n]) for n in first)
    dot = dict.fromkeys(first, 1.0)
    assert np.isclose(jvp(area, (point,), (dot,))[1], sum(first.values()))
    assert np.isclose(linearize(area, point)[1](dot), sum(first.values()))
    second = parts(hessian(area)(point))
    along = parts(hvp(area, (point,), (dot,)))
    assert all(np.isclose(sum(parts(second[n]).values()), along[n]) for n in first)


@every_slotted
def test_in_containers_as_a_constant_and_through_a_pickle(cls):
    point, other = cls(1.3, 0.4), cls(0.2, 0.7)
    first = parts(grad(area)(point))
    held = grad(lambda h: area(h["p"][0]) + h["p"][1].area())({"p": [point, other]})
    assert all(np.isclose(parts(held["p"][0])[n], first[n]) for n in first)
    check_grads(lambda h: area(h["p"][0]) * h["p"][1].area(), ({"p": (point, other)},))
    check_grads(lambda x: area(point) * x + point.area() * x**2, (1.5,))
    value, pullback = vjp(area, point)
    again = pickle.loads(pickle.dumps(pullback))(1.0)[0]
    assert value == area(point) and all(np.isclose(parts(again)[n], first[n]) for n in first)


def test_a_slot_of_the_callers_object_is_written_as_in_a_plain_call():
    def counted(x, p):
        p.y = p.y + 1.0
        return x * p.y

    point = Point(1.0, 2.0)
    assert grad(counted)(3.0, point) == 3.0 and point.y == 3.0

    def global_one(x):
        HELD.y = 5.0
        return x * HELD.y

    assert grad(global_one)(2.0) == 5.0 and HELD.y == 5.0


HELD = Point(1.0, 2.0)


# --- values that refer to themselves, and values with one part twice ---------------------------------------------------


class Node:
    def __init__(self, w, parent=None):
        self.w, self.parent, self.kids = w, parent, []
        if parent is not None:
            parent.kids.append(self)


def tree():
    root = Node(2.0)
    Node(3.0, root)
    return root


def knot():
    node = Node(2.0)
    node.parent = node
    return node


def endless_list():
    out = [2.0]
    out.append(out)
    return out


def endless_dict():
    out = {"w": 2.0}
    out["me"] = [out]
    return out


CIRCULAR = {
    "tree": (tree, lambda n: n.w * n.kids[0].w), "knot": (knot, lambda n: n.w**2), "parent": (knot, lambda n: n.parent.w),
    "list": (endless_list, lambda n: n[0] ** 2), "dict": (endless_dict, lambda n: n["w"] ** 2),
    "in a tuple": (lambda: (tree(), 1.0), lambda n: n[0].w ** 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CIRCULAR)
def test_what_refers_to_itself_is_a_clear_error(name):
    make, f = CIRCULAR[name]
    for derivative in (grad(f), value_and_grad(f), jacobian(f), jacfwd(f), jacrev(f), hessian(f), lambda n: vjp(f, n),
                       lambda n: jvp(f, (n,), (n,)), lambda n: hvp(f, (n,), (n,)), lambda n: linearize(f, n),
                       lambda n: check_grads(f, (n,))):  # fmt: skip
        with pytest.raises(TypeError, match=r"refers to itself|again: an argument"):
            derivative(make())


@pytest.mark.parametrize("name", ["tree", "knot", "parent", "in a tuple"])
def test_objects_that_refer_to_themselves_are_constants(name):
    make, f = CIRCULAR[name]
    value = make()
    assert grad(lambda x, n: x * f(n))(2.0, value) == f(value) == jvp(lambda x, n: x * f(n), (2.0, value), (1.0, None))[1]
    assert grad(lambda x: x * f(value))(2.0) == f(value)


CONSTANT_IN = {
    "grad": grad, "jacfwd": jacfwd, "jacrev": jacrev, "jacobian": jacobian, "hessian": hessian,
    "value_and_jacobian": lambda f: lambda *args: value_and_jacobian(f)(*args)[1],
    "by keyword": lambda f: lambda x, node: jacrev(f)(x, node=node),
    "hvp": lambda f: lambda x, node: hvp(f)((x, node), (np.ones(2), None)),
}  # fmt: skip


@pytest.mark.parametrize("mode", CONSTANT_IN)
@pytest.mark.parametrize("name", ["tree", "knot", "parent"])
def test_every_mode_takes_them_as_constants(name, mode):
    make, f = CIRCULAR[name]
    node, x = make(), np.array([0.5, 1.5])

    def loss(x, node):
        return np.sum(x**2) * f(node)

    np.testing.assert_allclose(
        CONSTANT_IN[mode](loss)(x, node), 2.0 * f(node) * {"hessian": np.eye(2), "hvp": np.ones(2)}.get(mode, x)
    )
    for asked in (
        lambda: vjp(loss, x, node),
        lambda: linearize(loss, x, node),
        lambda: jacrev(loss, argnums=1)(x, node),
        lambda: grad(loss, argnums=1)(x, node),
    ):
        with pytest.raises(TypeError, match=r"`node.*` is `node.*` again"):
            asked()


def test_one_array_in_two_places_has_the_part_of_each_place():
    w = np.array([1.0, 2.0])
    pair = collections.namedtuple("pair", "enc dec")(w, w)

    def tied(p):
        return np.sum(p[0] ** 2) + np.sum(np.sin(p[1]))

    for made in ([w, w], (w, w), pair):
        first, second = grad(tied)(made)
        np.testing.assert_array_equal(first, 2.0 * w)
        np.testing.assert_array_equal(second, np.cos(w))
        assert np.isclose(jvp(tied, (made,), (made,))[1], np.sum(w * (2.0 * w + np.cos(w))))

    node = Node(w)
    node.parent = Node(w)
    both = grad(lambda n: np.sum(n.w**2) + np.sum(n.parent.w))(node)
    np.testing.assert_array_equal(both["w"] + both["parent"]["w"], 2.0 * w + 1.0)


def test_one_array_in_two_places_is_not_written():
    def writes(p):
        p[0][0] = 3.0
        return np.sum(p[0] * p[1])

    def writes_an_attribute(n):
        n.w[0] = 3.0
        return np.sum(n.w * n.kids[0])

    w = np.ones(2)
    node = Node(w)
    node.kids.append(w)
    for f, value in ((writes, [w, w]), (writes_an_attribute, node)):
        for derivative in (grad(f), lambda p, f=f: jvp(f, (p,), (p,)), jacfwd(f)):
            with pytest.raises((ValueError, Unsupported), match="share"):
                derivative(value)


# --- objects that are returned ---------------------------------------------------------------------------------------


@dataclass
class Outer:
    p: Data
    w: float


RETURNING = {
    "itself": lambda q: q, "a part": lambda q: q.p, "a pair": lambda q: (q.p, q.w**2),
}  # fmt: skip


@pytest.mark.records
@pytest.mark.parametrize("name", RETURNING)
def test_an_object_that_is_returned_has_its_rows_and_columns(name):
    f, q = RETURNING[name], Outer(Data(2.0, 3.0), 0.5)
    matrices = [repr(make(f)(q)) for make in (jacfwd, jacrev, jacobian)]
    assert matrices[0] == matrices[1] == matrices[2] and "None" not in matrices[0]
    check_grads(f, (q,), order=1 if "pair" in name else 2)


class Wrapped:
    """An object of the user's that NumPy takes for an array."""

    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return self.v * 2.0


@pytest.mark.records
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.asarray(Wrapped(x)) ** 2),
        lambda x: np.sum(np.exp(Wrapped(x)) * x),
        lambda x: np.dot(x, Wrapped(x * x)),
        lambda x: np.sum(np.where(x > 0.0, Wrapped(x), 0.0) ** 2),
    ],
)
def test_objects_made_inside_that_numpy_takes_for_arrays(f):
    x = np.array([0.3, 0.8])
    slopes = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    for found in (grad(f)(x), [jvp(f, (x,), (e,))[1] for e in np.eye(2)]):
        np.testing.assert_allclose(found, slopes, rtol=1e-6)


class Grid:
    """An object that NumPy makes an array of, and that has no operators."""

    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return self.v


class Asked(Grid):
    """One whose own operators NumPy asks."""

    __array_priority__ = 10.0

    def __rmul__(self, other):
        return other * self.v * 3.0

    __radd__ = __rmul__


class Off(Asked):
    __array_priority__ = -1.0
    __array_ufunc__ = None


OPERATIONS = {
    "x * g": lambda x, g: x * g,
    "x + g": lambda x, g: x + g,
    "x ** g": lambda x, g: (x * x + 1.0) ** g,
    "x @ g": lambda x, g: x @ g,
    "x % g": lambda x, g: x % g,
    "x > g": lambda x, g: np.where(x > g, x * x, x),
    "x //= g": lambda x, g: (x * 9.0) // g * x,
    "x *= g": lambda x, g: _times(x * 1.0, g),
    "x[0] * g": lambda x, g: x[0] * g,
    "np.dot": lambda x, g: np.dot(g, x),
    "np.hypot": lambda x, g: np.hypot(x, g),
}


def _times(y, g):
    y *= g
    return y


@pytest.mark.records
@pytest.mark.parametrize("form", ["constant", "of x"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operators_take_an_object_for_the_array_that_it_gives(name, form):
    operate = OPERATIONS[name]
    held = Grid(np.array([2.0, 0.5]))

    def f(x):
        steps = [x * 1.0]
        y = steps.pop()  # only the run knows
        return np.sum(operate(y, held if form == "constant" else Grid(y * y + 0.3)) ** 2)

    x = np.array([0.7, 1.3])
    slopes = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    for found in (grad(f)(x), [jvp(f, (x,), (e,))[1] for e in np.eye(2)]):
        np.testing.assert_allclose(found, slopes, rtol=1e-6)


class Level(float):
    """A number that says itself what a product with it is."""

    def __rmul__(self, other):
        return other * 3.0


class Share(numbers.Real):
    """One that is no `float`."""

    __rmul__ = __mul__ = lambda self, other: other * 5.0

    def __float__(self):
        return 2.0

    def _no(self, *others):
        raise NotImplementedError

    __abs__ = __add__ = __ceil__ = __eq__ = __floor__ = __floordiv__ = __le__ = __lt__ = __mod__ = __neg__ = __pos__ = _no
    __pow__ = __radd__ = __rfloordiv__ = __rmod__ = __round__ = __rpow__ = __rtruediv__ = __truediv__ = __trunc__ = _no
    __hash__ = None


@pytest.mark.records
@pytest.mark.parametrize("number", [Level(2.0), Share()])
def test_a_number_with_operators_of_its_own_is_asked(number):
    def f(x):
        return x * number + x

    for derivative in (lambda: grad(f)(1.5), lambda: jvp(f, (1.5,), (1.0,))[1]):
        try:
            found = derivative()
        except (Unsupported, Refused, TypeError):
            continue
        assert found == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6)


@pytest.mark.records
@pytest.mark.parametrize("cls", [Asked, Off])
@pytest.mark.parametrize("operate", [lambda x, g: x * g, lambda x, g: x + g, lambda x, g: x[0] * g])
def test_operators_of_an_object_that_numpy_leaves_the_operation_to(operate, cls):
    held = cls(np.array([2.0, 0.5]))

    def f(x):
        return np.sum(operate(x, held) ** 2)

    x = np.array([0.7, 1.3])
    slopes = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    for derivative in (lambda: grad(f)(x), lambda: [jvp(f, (x,), (e,))[1] for e in np.eye(2)]):
        try:
            found = derivative()
        except (Unsupported, Refused):
            continue
        np.testing.assert_allclose(found, slopes, rtol=1e-6)
