"""The user's comments and numbers stand in the forward sweep as they were written."""

from __future__ import annotations

import numpy as np

from s2sgrad import grad, jvp
from s2sgrad.driver.remarks import of_lines


def loss(x, y):
    # the hidden layer
    h = np.tanh(x * 1e-3)  # of 3 numbers
    # nobody needs this
    unused = h + 1.0  # noqa: F841
    for _ in range(3):
        # a step

        h = np.sin(
            h * y  # the rate
        )
    return np.sum(h) + 0x10 + 1_000


def of_the_forward_sweep(text):
    body = text.partition("# forward sweep\n")[2].partition("# reverse sweep")[0]
    return [line.strip()[2:] for line in body.splitlines() if line.lstrip().startswith("#")]


def test_comments_go_with_their_statements():
    found = of_the_forward_sweep(grad(loss, (0, 1)).source_for(np.ones(3), 2.0))
    assert found == ["the hidden layer", "of 3 numbers", "a step", "the rate"]
    tangents = jvp(loss).source_for(np.ones(3), 2.0)
    assert tangents.count("# the hidden layer\n") == tangents.count("# the rate\n") == 1
    assert "noqa" not in tangents


def test_quotations_of_a_gradient_are_no_comments():
    text = grad(grad(lambda x: x**3 * 1e-3)).source_for(2.0)
    assert "# #" not in text and "1e-3" in text


def test_numbers_keep_their_spelling():
    text = grad(lambda x: x * 1e-3 + x**2 * 1_000.0 + x * 0x10 * (0.1 + 0.2)).source_for(2.0)
    assert all(spelling in text for spelling in ("1e-3", "1_000.0", "0x10"))
    space = {}
    exec(text, {"np": np}, space)
    df = grad(lambda x: x * 1e-3 + x**2 * 1_000.0 + x * 0x10 * (0.1 + 0.2))
    assert next(v for v in space.values() if callable(v))(2.0) == df(2.0)


def test_texts_that_cannot_be_tokenized_have_no_comments():
    assert of_lines(["f = (lambda x: x  # one"], 1) == {}


def test_value_is_that_of_the_function():
    np.testing.assert_array_equal(jvp(loss, (np.ones(3), 2.0), (np.ones(3), 0.0))[0], loss(np.ones(3), 2.0))


def test_a_quotation_is_one_line():
    def spread(u, c):
        return np.sum(
            u[2:]  # above
            * np.sin(
                c * u[:-2]
            )
        )  # fmt: skip

    text = grad(spread).source_for(np.ones(4), 2.0)
    assert "# return np.sum(..)\n" in text and "above" not in text
