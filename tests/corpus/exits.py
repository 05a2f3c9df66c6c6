"""Early returns, wherever they may stand."""

# ruff: noqa: B007

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


@case(1.3, 0.7)
def return_in_a_branch(x, y):
    if x > y:
        return x * y
    return x + y


@case(0.3, 0.7)
def return_in_a_branch_not_taken(x, y):
    if x > y:
        return x * y
    a = x * x
    return a + y


@case(0.3, 0.7)
def return_in_every_arm(x, y):
    if x > 1.0:
        return x
    elif x > 0.1:
        return x * y
    else:
        return y


@case(1.3, 0.7)
def return_in_nested_branches(x, y):
    a = x * y
    if x > 0.0:
        if y > 1.0:
            return a
        a = a * x
        if y > 0.5:
            return a * y
    return x


@case(1.3, 0.7)
def return_buried_in_one_arm(x, y):
    a = x
    if x > 0.0:
        a = a * y
        if a > 5.0:
            return a
        a = a + x
    else:
        a = a - y
    a = a * a
    if a > 100.0:
        return y
    return a * y


@case(1.3, 0.7)
def return_from_a_for(x, y):
    a = x
    for i in range(10):
        a = a * y
        if a < 0.3:
            return a * i
    return a


@case(1.3, 0.7)
def return_from_a_for_not_taken(x, y):
    a = x
    for i in range(3):
        if a > 10.0:
            return a * i
        a = a * y + i
    return a * x


@case(1.3, 0.7)
def return_from_nested_loops(x, y):
    a = x
    for i in range(4):
        for j in range(4):
            a = np.sin(a) + 0.3 * j * y
            if i * j == 2:
                return a * x
        a = a * y
    return a


@case(1.3, 0.7)
def return_from_a_while(x, y):
    i = 0
    while i < 20:
        i += 1
        x = x * y
        if x < 0.3:
            return x * i
    return x


@case(1.3, 0.7)
def return_from_an_else_of_a_loop(x, y):
    a = x
    for i in range(3):
        a = a * y + i
        if a > 50.0:
            break
    else:
        return a * a
    return x


@case(VECTOR, 0.7)
def return_of_the_first_element_that_fits(v, x):
    for i, e in enumerate(v):
        if e > 1.0:
            return e * x * i
    return x


@case(1.3, 0.7)
def return_beside_break_and_continue(x, y):
    a = x
    for i in range(9):
        if i == 1:
            continue
        a = a * y + 0.1 * i
        if a > 10.0:
            return x
        if a < 0.75:
            break
        a = a + 0.05
    else:
        return y
    return a * x


@case(1.3, 0.7)
def return_in_one_arm_of_a_loop_with_code_after(x, y):
    a = x
    for i in range(5):
        if i > 1:
            if a < 0.6:
                return a * y
            a = a * x
        else:
            a = a * y
        a = a - 0.2
    a = a * a
    return a + x


@case(1.3, 0.7)
def several_returns_of_tuples(x, y):
    if x < y:
        return x, y
    a = x * y
    if a > 10.0:
        return a, x
    return a * y, a + x


@case(1.3, 0.7)
def returns_of_different_kinds(x, y):
    if x > 5.0:
        return x
    if y > 5.0:
        return {"y": y}
    return x * y, [x, y * y]


@case(1.3, 0.7)
def code_after_a_return(x, y):
    a = x * y
    return a * a
    a = a * x
    return a


@case(1.3, 0.7)
def return_guarded_by_a_computed_flag(x, y):
    a = x
    done = False
    for i in range(8):
        a = a * y
        done = a < 0.4
        if done:
            break
    if done:
        return a * i
    return x


@case(MATRIX)
def return_from_a_loop_over_rows(m):
    total = np.zeros(3)
    for row in m:
        total = total + row * row
        if np.sum(row) < 0.5:
            return total * row
    return total


@case(1.3, 0.7)
def guards_at_the_head(x, y):
    if not x > 0.0:
        return 0.0
    if y > x:
        return 1.0
    if x == y:
        raise ValueError("equal")
    return np.log(x) * y
