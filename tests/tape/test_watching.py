"""What a tape watches: `watch`, Variables that are read, `reset`, `stop_recording`, and what is outside of the block."""

import numpy as np
import pytest

from s2sgrad import GradientTape, Variable, constant


@pytest.mark.parametrize("value", [3.0, np.ones(3), [np.float64(1.0)], {"a": 2}])
def test_plain_values_have_no_identity(value):
    with GradientTape() as t, pytest.raises(ValueError, match="constant"):
        t.watch(value)


def test_nested_structures_are_watched():
    a, b, c = constant(1.0), constant(2.0), Variable(3.0, trainable=False)
    with GradientTape() as t:
        t.watch({"x": [a, (b,)], "v": c})
        y = a * b * c
    assert [g.numpy() for g in t.gradient(y, [a, b, c])] == [6.0, 3.0, 2.0]


def test_ints_are_warned_about_and_ignored():
    n = constant(3)
    with GradientTape() as t:
        with pytest.warns(UserWarning, match="use floats"):
            t.watch(n)
        y = n * 2.0
    assert t.gradient(y, n) is None


def test_trainable_variables_that_the_block_reads_are_watched():
    v, fixed, unread = Variable(2.0), Variable(3.0, trainable=False), Variable(4.0)
    with GradientTape() as t:
        y = v * fixed
    assert t.watched_variables()[0] is v and len(t.watched_variables()) == 1
    g = t.gradient(y, [v, fixed, unread])
    assert g[0].numpy() == 3.0 and g[1] is None and g[2] is None


def test_variables_of_ints_are_constants():
    count, v = Variable(3), Variable(2.0)
    with GradientTape() as t:
        y = count * v
        assert int(count) == 3 and np.asarray(count) == 3  # free: nothing follows it
    assert len(t.watched_variables()) == 1 and t.gradient(y, [count, v])[0] is None


def test_variables_are_not_watched_on_request():
    v = Variable(2.0)
    with GradientTape(watch_accessed_variables=False) as t:
        y = v * v
    assert t.gradient(y, v) is None
    with GradientTape(watch_accessed_variables=False) as t:
        t.watch(v)
        y = v * v
    assert t.gradient(y, v).numpy() == 4.0


def test_watched_variables_in_construction_order_and_kept():
    a, b, c = Variable(1.0), Variable(2.0), Variable(3.0)
    with GradientTape() as t:
        y = c * a + b
    t.gradient(y, a)
    assert [v is w for v, w in zip(t.watched_variables(), (a, b, c), strict=True)] == [True] * 3


m, b = Variable(2.0), Variable(1.0)


def loss_fn():
    return m * m


def other_loss_fn():
    return m * 5.0


def test_only_what_happens_inside_the_block_counts():
    with GradientTape():
        loss = loss_fn()
    with GradientTape() as t:
        loss += other_loss_fn()
    assert loss.numpy() == 14.0
    assert t.gradient(loss, m).numpy() == 5.0  # of other_loss alone


def test_reset_forgets_what_was_before():
    with GradientTape() as t:
        loss = loss_fn()
        t.reset()
        loss += other_loss_fn()
    assert t.gradient(loss, m).numpy() == 5.0


def test_reset_forgets_watches():
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        t.reset()
        y = x * x
    assert t.gradient(y, x) is None


def test_reset_outside_the_block():
    t = GradientTape()
    with pytest.raises(ValueError, match="not recording"):
        t.reset()
    with t:
        pass
    with pytest.raises(ValueError, match="not recording"):
        t.reset()


def test_stop_recording():
    x = constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        with t.stop_recording():
            z = x * x
            assert t.gradient(y, x).numpy() == 6.0
        w = x * 2.0
    assert t.gradient(z, x) is None and t.gradient(w, x).numpy() == 2.0


def test_stop_recording_outside_the_block():
    with pytest.raises(RuntimeError, match="not recording"), GradientTape().stop_recording():
        pass


def test_stop_recording_of_an_outer_tape_keeps_the_inner():
    x = constant(3.0)
    with GradientTape() as outer, GradientTape() as t:
        outer.watch(x)
        t.watch(x)
        with outer.stop_recording():
            y = x * x
    assert outer.gradient(y, x) is None and t.gradient(y, x).numpy() == 6.0


def test_a_tape_is_not_entered_twice():
    with GradientTape() as t, pytest.raises(ValueError, match="already"), t:
        pass


def test_only_what_is_live_when_it_is_recorded_counts():
    x, z = constant(3.0), constant(5.0)
    with GradientTape(persistent=True) as t:
        t.watch(z)
        y = x * z
        t.watch(x)
        w = x * z
    assert t.gradient(y, x) is None and t.gradient(y, z).numpy() == 3.0
    assert t.gradient(w, x).numpy() == 5.0


def test_each_tape_records_what_it_follows():
    x, z = constant(3.0), constant(5.0)
    with GradientTape() as one, GradientTape() as other:
        one.watch(x)
        other.watch(z)
        y = x * z
    assert one.gradient(y, [x, z])[1] is None
    assert other.gradient(y, [x, z])[0] is None


def test_an_exception_ends_the_block():
    x = constant(3.0)
    with pytest.raises(ZeroDivisionError), GradientTape() as t:
        t.watch(x)
        1 / 0  # noqa: B018
    np.asarray(x)  # nothing records any more
