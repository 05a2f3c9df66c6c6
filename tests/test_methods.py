"""Methods: `self` is argument 0 of a function of a class, a bound method has none, and each transform binds as a method."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from s2sgrad import (
    S2SGradError,
    checkpoint,
    differentiable,
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    value_and_jacobian,
    vjp,
)
from s2sgrad.compat import autograd
from s2sgrad.driver import attempts
from s2sgrad.explanation import explain
from s2sgrad.testing import check_grads

X = np.array([1.0, 2.0])
BY_CALL = (grad, value_and_grad, elementwise_grad, jacobian, jacfwd, jacrev, value_and_jacobian, hessian)
PAIRS = (value_and_grad, value_and_jacobian)


class Net:
    rate = 3.0

    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return self.w**2 * np.sum(x**2)

    @classmethod
    def of_class(cls, x):
        return cls.rate * np.sum(x**2)

    @staticmethod
    def of_none(x):
        return 2.0 * np.sum(x**2)


class Slotted:
    __slots__ = ("w",)
    __init__, loss = Net.__init__, Net.loss


def only(transform, out):
    return out[1] if transform in PAIRS else out


def in_x(transform):
    return 8.0 * np.eye(2) if transform is hessian else 8.0 * X


def in_self(transform):
    return {"w": {"w": 10.0}} if transform is hessian else {"w": 20.0}


def same(found, wanted):
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key, item in wanted.items():
            same(found[key], item)
    else:
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("cls", [Net, Slotted])
@pytest.mark.parametrize("transform", BY_CALL, ids=lambda t: t.__name__)
def test_self_is_argument_0_of_a_function_of_a_class(transform, cls):
    net = cls(2.0)
    for argnum in (0, "self", -2):
        same(only(transform, transform(cls.loss, argnum)(net, X)), in_self(transform))
    for argnum in (1, "x", -1):
        same(only(transform, transform(cls.loss, argnum)(net, X)), in_x(transform))
    both = only(transform, transform(cls.loss, ("self", "x"))(net, X))
    assert len(both) == 2 or transform is hessian


@pytest.mark.parametrize("transform", BY_CALL, ids=lambda t: t.__name__)
def test_a_bound_method_has_no_self_but_by_its_name(transform):
    net = Net(2.0)
    for argnum in (0, "x", -1):
        same(only(transform, transform(net.loss, argnum)(X)), in_x(transform))
    same(only(transform, transform(net.loss, "self")(X)), in_self(transform))
    with pytest.raises(TypeError, match="argnums"):
        transform(net.loss, 1)(X)


def test_products_and_checks_count_as_the_function_does():
    net, dot = Net(2.0), {"w": 1.0}
    same(vjp(Net.loss, net, X)[1](1.0)[0], {"w": 20.0})
    same(vjp(Net.loss, net, X)[1](1.0)[1], 8.0 * X)
    same(vjp(net.loss, X)[1](1.0)[0], 8.0 * X)
    assert jvp(Net.loss, (net, X), (dot, None)) == (20.0, 20.0) and jvp(Net.loss, (net, X), (None, X)) == (20.0, 40.0)
    assert jvp(net.loss, (X,), (X,)) == (20.0, 40.0)
    same(hvp(Net.loss, (net, X), (dot, None)), {"w": 10.0})
    same(hvp(Net.loss, (net, X), (None, X)), 8.0 * X)
    same(hvp(net.loss, (X,), (X,)), 8.0 * X)
    assert linearize(Net.loss, net, X)[1](dot, None) == 20.0 and linearize(net.loss, X)[1](X) == 40.0
    check_grads(Net.loss, (net, X), order=2)
    check_grads(net.loss, (X,), order=2)
    assert explain(Net.loss, net, X, argnums=1).lines and explain(net.loss, X).lines


def decorated(transform):
    """A class whose methods the transform decorates: plainly, with options, around and within the other decorators."""

    class Made(Net):
        @transform
        def plain(self, x):
            return self.w**2 * np.sum(x**2)

        @transform(argnums="x")
        def by_name(self, x):
            return self.w**2 * np.sum(x**2)

        @transform(argnums="self")
        def of_self(self, x):
            return self.w**2 * np.sum(x**2)

        @transform
        @classmethod
        def outer_class(cls, x):
            return cls.rate * np.sum(x**2)

        @classmethod
        @transform
        def inner_class(cls, x):
            return cls.rate * np.sum(x**2)

        @transform
        @staticmethod
        def outer_static(x):
            return 2.0 * np.sum(x**2)

        @staticmethod
        @transform
        def inner_static(x):
            return 2.0 * np.sum(x**2)

    class Inherited(Made):
        rate = 5.0

        def plain(self, x):
            return super().plain(x)

        @classmethod
        def outer_class(cls, x):
            return super().outer_class(x)

    return Made, Inherited


@pytest.mark.parametrize("transform", BY_CALL, ids=lambda t: t.__name__)
def test_as_a_decorator_each_binds_like_a_method(transform):
    made, inherited = decorated(transform)
    scale = in_x(transform) / 8.0 * 2.0
    for cls in (made, inherited):
        net = cls(2.0)
        for method in (net.plain, net.by_name):
            same(only(transform, method(X)), in_x(transform))
        same(only(transform, net.of_self(X)), in_self(transform))
        for owner in (net, cls):
            for method in (owner.outer_class, owner.inner_class):
                same(only(transform, method(X)), cls.rate * scale)
            for method in (owner.outer_static, owner.inner_static):
                same(only(transform, method(X)), 2.0 * scale)
    same(only(transform, made.plain(made(2.0), X)), in_self(transform))
    first, second = made(2.0), made(4.0)  # a bound one is of its object alone
    same(only(transform, second.plain(X)), 4.0 * in_x(transform))
    same(only(transform, first.plain(X)), in_x(transform))


class Others:
    def __init__(self, w):
        self.w = w

    @jvp
    def along(self, x):
        return self.w * np.sum(x**2)

    @hvp(debug=True)
    def product(self, x):
        return self.w * np.sum(x**2)

    @check_grads
    def checked(self, x):
        return self.w * np.sum(x**2)

    @differentiable
    def value(self, x):
        return self.w * np.sum(x**2)

    @checkpoint
    def again(self, x):
        return self.w * np.sum(x**2)

    make_vjp, make_jvp, make_hvp, by_name, of_jacobian, of_hessian, seeded, slope = (
        make(lambda self, x: self.w * np.sum(x**2))
        for make in (autograd.make_vjp, autograd.make_jvp, autograd.make_hvp, autograd.multigrad_dict,
                     autograd.jacobian_vector_product, autograd.hessian_vector_product, autograd.vector_jacobian_product,
                     autograd.deriv)
    )  # fmt: skip

    @grad
    @jacobian
    def third(self, x):
        return self.w * x**3

    @jacobian
    @grad
    def curvature(self, x):
        return self.w * np.sum(x**3)


def test_all_others_bind_as_well():
    net = Others(2.0)
    assert net.along((X,), (X,)) == (10.0, 20.0)
    same(net.product((X,), (X,)), 4.0 * X)
    assert net.checked(X) is None and net.value(X) == 10.0 and net.again(X) == 10.0
    same(net.make_vjp(X)[0](1.0), 4.0 * X)
    assert net.make_jvp(X)(X) == (10.0, 20.0)
    same(net.make_hvp(X)[0](X), 4.0 * X)
    same(net.by_name(X), {"x": 4.0 * X})
    assert net.of_jacobian(X, X) == 20.0
    same(net.of_hessian(X, X), 4.0 * X)
    same(net.seeded(X, 2.0), 8.0 * X)
    same(net.slope(X), 4.0 * X)
    same(net.third(X), 12.0 * X)
    same(net.curvature(X), 12.0 * np.diag(X))


class Model:
    def __init__(self, w):
        self.w = w

    @jacobian
    def out(self, x):
        return self.w * x


def test_a_derivative_made_in_the_class_is_refused_in_a_function_and_never_that_of_self():
    def of_method(x, model):
        return np.sum(model.out(x) @ x)

    with pytest.raises(S2SGradError, match="`out` is a Jacobian"):
        grad(of_method)(X, Model(2.0))


def test_bound_gradients_are_pickled():
    bound = pickle.loads(pickle.dumps(Spring(2.0).force))
    assert bound(3.0) == 12.0


class Spring:
    def __init__(self, k):
        self.k = k

    @grad
    def force(self, x):
        return self.k * x * x


def test_the_help_of_grad_says_what_self_is():
    assert "Of methods, `grad(Net.loss)(net, x)` is the gradient in `net`, `grad(net.loss)(x)` that in `x`." in " ".join(
        grad.__doc__.split()
    )


class Layered:
    """A function that keeps objects of its own class."""

    def __init__(self, w, kids=()):
        self.w, self.kids = w, list(kids)

    def __call__(self, x):
        total = self.w * np.sum(x * x)
        for kid in self.kids:
            total = total + kid(x)
        return total


@pytest.mark.records
def test_an_object_that_keeps_objects_of_its_class_is_compiled_once(monkeypatch):
    count, compiling = [], attempts.compiling
    monkeypatch.setattr(attempts, "compiling", lambda *args: count.append(1) or compiling(*args))
    function = Layered(2.0, [Layered(3.0), Layered(1.0, [Layered(0.5)])])
    for _ in range(3):
        np.testing.assert_allclose(grad(function)(np.ones(2)), 13.0 * np.ones(2))
    assert len(count) <= 1
