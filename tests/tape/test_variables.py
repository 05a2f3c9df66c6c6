"""Variables: snapshots, assignments, training."""

import copy
import pickle

import numpy as np
import pytest

from s2sgrad import SGD, GradientTape, Variable, constant, trainable_variables

SLOPE, OFFSET = Variable(0.0), Variable(0.0)
X = np.linspace(0.0, 1.0, 20)
Y = 3.0 * X + 2.0


def predict(x):
    return SLOPE * x + OFFSET


def squared_error(predicted, truth):
    return np.mean((predicted - truth) ** 2)


def test_500_steps_with_variables_in_helpers_are_gradient_descent_by_hand():
    SLOPE.assign(0.0)
    OFFSET.assign(0.0)
    slope = offset = 0.0
    for _ in range(500):
        with GradientTape() as t:
            loss = squared_error(predict(X), Y)
        gradients = t.gradient(loss, [SLOPE, OFFSET])
        SLOPE.assign_sub(gradients[0] * 0.05)
        OFFSET.assign_sub(gradients[1] * 0.05)
        error = slope * X + offset - Y
        slope, offset = slope - 0.05 * 2 * np.mean(error * X), offset - 0.05 * 2 * np.mean(error)
    assert SLOPE.numpy() == pytest.approx(slope, rel=1e-10)
    assert OFFSET.numpy() == pytest.approx(offset, rel=1e-10)
    assert abs(slope - 3.0) < 1.0


def test_reads_are_snapshots():
    v = Variable(2.0)
    with GradientTape(persistent=True) as t:
        a = v * v
        v.assign(10.0)
        b = v * v
    assert (a.numpy(), b.numpy()) == (4.0, 100.0)
    assert t.gradient(a, v).numpy() == 4.0
    assert t.gradient(b, v).numpy() == 20.0
    assert t.gradient([a, b], v).numpy() == 24.0


def test_a_value_that_was_read_stays():
    v = Variable([1.0, 2.0])
    x = v.read_value()
    v.assign_add([1.0, 1.0])
    assert x.numpy().tolist() == [1.0, 2.0] and v.numpy().tolist() == [2.0, 3.0]


def test_a_read_value_is_a_source_of_its_own():
    v = Variable(3.0)
    with GradientTape() as t:
        first, second = v.read_value(), v.read_value()
        y = first * v * second**2
    assert [g.numpy() for g in t.gradient(y, [v, first, second])] == [108.0, 27.0, 54.0]


def test_assign_never_writes_into_the_buffer():
    start = np.ones(2)
    v = Variable(start)
    before = v._value
    v.assign_sub([0.5, 0.5])
    assert before.tolist() == [1.0, 1.0] and start.tolist() == [1.0, 1.0]
    given = np.zeros(2)
    v.assign(given)
    given[0] = 7.0
    assert v.numpy().tolist() == [0.0, 0.0]
    v.numpy()[0] = 7.0
    assert v.numpy().tolist() == [0.0, 0.0]


def test_assign_returns_the_variable_and_keeps_its_dtype():
    v = Variable(1.0, dtype=np.float32)
    assert v.assign(np.float64(2.0)) is v and v.dtype == np.float32
    assert v.assign_add(constant(1.0)) is v and v.numpy() == 3.0


def test_an_update_in_place_of_a_variable_says_what_to_do():
    v = Variable(1.0)
    with pytest.raises(RuntimeError, match="assign_sub"):
        v -= 0.5
    assert isinstance(v, Variable) and v.numpy() == 1.0


def test_assign_of_another_shape():
    with pytest.raises(ValueError, match="shape"):
        Variable([1.0, 2.0]).assign(3.0)


def test_an_optimiser_copes_with_none():
    w1, w2 = Variable(2.0), Variable(2.0)
    SGD(0.1).apply_gradients(zip([None, 6.0], [w1, w2], strict=True))
    assert w1.numpy() == 2.0 and w2.numpy() == pytest.approx(1.4, rel=1e-15)


def test_an_optimiser_without_any_gradient():
    with pytest.raises(ValueError, match="no Variable has a gradient"):
        SGD(0.1).apply_gradients([(None, Variable(1.0))])


def test_an_optimiser_says_which_pair_is_wrong():
    w = Variable([1.0, 2.0], name="w")
    with pytest.raises(TypeError, match="not of a ndarray"):
        SGD(0.1).apply_gradients([(w, np.ones(2))])
    for wrong in (np.ones(3), constant(np.ones((2, 2)))):
        with pytest.raises(ValueError, match=r"for w of shape \(2,\)"):
            SGD(0.1).apply_gradients([(np.ones(2), w), (wrong, w)])
    assert w.numpy().tolist() == [1.0, 2.0]
    SGD(0.5).apply_gradients([(2.0, w)])
    assert w.numpy().tolist() == [0.0, 1.0]


def test_trainable_variables_of_objects_and_structures():
    class Layer:
        def __init__(self):
            self.w, self.b, self.count = Variable(1.0), Variable(2.0), 3

    class Model:
        def __init__(self):
            self.layers = [Layer(), Layer()]
            self.again = self.layers[0]
            self.frozen = Variable(5.0, trainable=False)

    model = Model()
    found = trainable_variables(model)
    assert len(found) == 4 and found[0] is model.layers[0].w and found[3] is model.layers[1].b
    assert trainable_variables({"a": (found[1],), "b": found[1]})[0] is found[1]
    assert trainable_variables(3.0) == ()


def test_keeps_numpys_dtype():
    assert Variable(1.0).dtype == np.float64 and Variable(np.float32(1.0)).dtype == np.float32
    assert constant([1, 2]).dtype == np.int64 and constant(np.ones(2, np.float32)).dtype == np.float32


def test_copies_and_pickles_are_variables_of_their_own():
    v = Variable([1.0, 2.0], name="w")
    for other in (copy.copy(v), copy.deepcopy([v])[0], pickle.loads(pickle.dumps(v))):
        other.assign([5.0, 5.0])
        assert v.numpy().tolist() == [1.0, 2.0] and other.name == "w" and isinstance(other, Variable)


def test_gradients_go_through_methods_and_items_of_variables():
    v = Variable([1.0, 2.0, 3.0])
    with GradientTape() as t:
        y = v.sum() * v[1] + np.dot(v, v) + v.T @ v
    np.testing.assert_allclose(t.gradient(y, v), [2 + 4, 2 + 6 + 8, 2 + 12])


def test_a_variable_of_ints_keeps_no_fractions():
    count = Variable(3)
    count.assign_add(1)
    for change in (count.assign, count.assign_sub):
        with pytest.raises(TypeError, match="make the Variable of floats"):
            change(0.5)
    small = Variable(np.uint8(3))
    assert count.numpy() == 4 and small.assign(5).numpy() == 5 and small.dtype == np.uint8


def test_a_constant_of_an_array_is_still_followed():
    x, v = constant([1.0, 2.0]), Variable(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = np.sum(constant(x) * constant(v) * constant(x, dtype=np.float32))
    gx, gv = t.gradient(y, [x, v])
    np.testing.assert_allclose(gx, [6.0, 12.0])
    assert gv.numpy() == 5.0 and constant(x, dtype=int).dtype == int


def test_trainable_variables_in_slots():
    class Base:
        __slots__ = ("w",)

    class Slotted(Base):
        __slots__ = ("__b", "more")

        def __init__(self):
            self.w, self.__b = Variable(1.0), [Variable(2.0)]

    assert sorted(v.numpy() for v in trainable_variables({"model": Slotted()})) == [1.0, 2.0]
