"""What belongs to the tape inside of functions that `grad` compiles: refused at its line, or looked through."""

import numpy as np
import pytest

import s2sgrad
from s2sgrad import (
    SGD,
    GradientTape,
    S2SGradError,
    Unsupported,
    Variable,
    constant,
    custom_gradient,
    differentiable,
    function,
    grad,
    gradients,
    recompute_grad,
    stop_gradient,
    value_and_grad,
    vjp,
)

W, FIXED, TAPE, OPTIMIZER = Variable(2.0), constant(3.0), GradientTape(persistent=True), SGD(0.1)


def slope(x):
    with GradientTape() as t:
        t.watch(x)
        y = x**3
    return t.gradient(y, x)


def slope_of_a_constant(x):
    c = constant(x)
    with GradientTape() as t:
        t.watch(c)
        y = c**3
    return t.gradient(y, c).numpy() * x


def slope_of_a_variable(x):
    with s2sgrad.GradientTape() as t:
        y = W * x
    return t.gradient(y, W)


def slope_in_a_helper(x):
    return slope(x) * x


def slope_in_a_closure(x):
    def inner(z):
        with GradientTape() as t:
            t.watch(z)
            y = z * z
        return t.gradient(y, z)

    return inner(x)


def slope_by_a_kept_tape(x):
    t = GradientTape(persistent=True)
    with t:
        t.watch(x)
        y = x * x
    return t.gradient(y, x)


def slope_by_a_global_tape(x):
    with TAPE:
        TAPE.watch(x)
        y = x * x
    return TAPE.gradient(y, x)


def asked_of_a_global_tape(x):
    return TAPE.gradient(x * x, x)


def recorded_in_vain(x):
    with np.errstate(all="ignore"), GradientTape():
        return x * x


def imported_inside(x):
    from s2sgrad import GradientTape as Tape

    with Tape() as t:
        y = x * x
    return t.gradient(y, x)


def trained(x):
    w = Variable(1.0)
    for _ in range(3):
        w.assign_sub(0.1 * (w - x))
    return w * x


def in_graph_mode(x):
    return function(lambda z: gradients(z * z, z)[0])(x)


def in_a_graph(x):
    return gradients(x * x, x)[0]


def made_inside(x):
    return differentiable(lambda z: z * z)(x) + recompute_grad(lambda z: z * z)(x)


def brought_inside(x):
    return custom_gradient(lambda z: (z * z, lambda g: 100.0 * g))(x)


@pytest.mark.parametrize("f", [
    slope, slope_of_a_constant, slope_of_a_variable, slope_in_a_helper, slope_in_a_closure, slope_by_a_kept_tape,
    slope_by_a_global_tape, asked_of_a_global_tape, recorded_in_vain, imported_inside, trained, in_graph_mode, in_a_graph,
    function(in_a_graph), made_inside, brought_inside,
])  # fmt: skip
def test_a_tape_in_compiled_code_is_refused_at_its_line(f):
    for ask in (grad(f), value_and_grad(f), grad(grad(f)), lambda x: vjp(f, x)):
        with pytest.raises(Unsupported, match="a function that is differentiated from its source") as raised:
            ask(2.0)
        message = str(raised.value).splitlines()
        assert raised.value.place.file == __file__ and len(message) == 4


def test_the_way_out_of_a_tape_in_compiled_code():
    assert grad(grad(lambda x: x**3))(2.0) == 12.0
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = slope(x)
    assert t.gradient(y, x).numpy() == 12.0


# --- Variables that are assigned -------------------------------------------------------------------------------------


def bumped(x):
    y = W * x * x
    W.assign_add(1.0)
    return y


def bumped_in_a_loop(x):
    y = 0.0
    for _ in range(3):
        y = y + W * x
        W.assign_add(1.0)
    return y


def assigned_twice(x):
    W.assign(5.0)
    y = W * x
    W.assign(7.0)
    return y * W


def bump():
    W.assign_add(1.0)


def bumped_by_a_helper(x):
    y = W * x * x
    bump()
    return y


def bumped_under_another_name(x):
    y = W * x * x
    for v in [W]:
        v.assign_sub(1.0)
    return y


def assigned_as_a_value(x):
    return W.assign(5.0) * x


def kept_and_called(x):
    assign = W.assign
    assign(5.0)
    return W * x


class Counted(Variable):
    def bump(self):
        self.assign_add(1.0)


COUNTED = Counted(2.0)


def bumped_by_a_method_of_a_subclass(x):
    y = COUNTED * x * x
    COUNTED.bump()
    return y


def stepped(x):
    OPTIMIZER.apply_gradients([(1.0, W)])
    return W * x


@pytest.mark.parametrize("f", [
    bumped, bumped_in_a_loop, assigned_twice, bumped_by_a_helper, bumped_under_another_name, assigned_as_a_value,
    kept_and_called, bumped_by_a_method_of_a_subclass, stepped,
])  # fmt: skip
def test_what_assigns_variables_is_refused_where_they_are_read_again(f):
    """Its reverse sweep would read the Variable as it is at the end."""
    W.assign(2.0)
    with pytest.raises(S2SGradError) as raised:
        grad(f)(3.0)
    assert raised.value.place.file == __file__ and W.numpy() == 2.0


def test_an_argument_that_is_assigned_is_refused():
    def f(w, x):
        y = w * x * x
        w.assign_add(1.0)
        return y

    with pytest.raises(Unsupported, match="change Variables outside"):
        grad(f, 1)(Variable(2.0), 3.0)


def test_assigned_variables_are_recorded_by_a_tape():
    for f, expected in ((bumped, 12.0), (bumped_in_a_loop, 9.0), (assigned_twice, 35.0), (bumped_by_a_helper, 12.0)):
        W.assign(2.0)
        x = constant(3.0)
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(f)(x)
        assert t.gradient(y, x).numpy() == expected
    W.assign(2.0)


def test_a_class_of_the_users_may_call_its_method_assign():
    class Box:
        def __init__(self):
            self.v = 1.0

        def assign(self, v):
            self.v = v

        def assign_add(self, v):
            self.v = self.v + v

    box = Box()

    def made_here(x):
        mine = Box()
        mine.assign(2.0 * x)
        mine.assign_add(x)
        return mine.v * x

    def of_the_caller(x):
        box.assign(2.0 * x)
        return box.v * x

    assert grad(made_here)(3.0) == 18.0 and grad(of_the_caller)(3.0) == 12.0


# --- what is looked through ------------------------------------------------------------------------------------------


@recompute_grad
def recomputed(x):
    return np.sin(x) * x


@function
def squared(x):
    return x * x


@differentiable
def cubed(x):
    return x**3


@pytest.mark.parametrize(("f", "derivative"), [
    (recomputed, np.cos(2.0) * 2.0 + np.sin(2.0)), (lambda x: 3.0 * recomputed(x), 3.0 * (np.cos(2.0) * 2.0 + np.sin(2.0))),
    (squared, 4.0), (lambda x: squared(x) * x, 12.0), (cubed, 12.0), (lambda x: stop_gradient(cubed(x)) * x, 8.0),
    (lambda x: FIXED * x + W.numpy() * x + float(W) * x + W.read_value() * x, 9.0),
])  # fmt: skip
def test_functions_for_the_tape_are_functions_in_compiled_code(f, derivative):
    W.assign(2.0)
    np.testing.assert_allclose(grad(f)(2.0), derivative)


def test_a_pullback_that_takes_variables_needs_a_tape():
    @custom_gradient
    def weighted(x, y):
        def pullback(g, variables=None):
            return (g * W, g), [7.0 * g]

        return x * W + y, pullback

    for f in (weighted, lambda x, y: weighted(x, y) * 2.0):
        with pytest.raises(Unsupported, match="takes `variables`"):
            grad(f)(2.0, 3.0)
