"""`while`, `while True`, `break`, `continue`, and `else` on loops."""

# ruff: noqa: B007

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


@case(1.3, 0.7)
def while_over_a_counter(x, y):
    i = 0
    while i < 4:
        x = np.sin(x) * y + i
        i += 1
    return x


@case(1.3, 1.7)
def while_over_a_float(x, y):
    while x < 20.0:
        x = x * y
    return x


@case(30.0, 1.7)
def while_that_never_runs(x, y):
    while x < 20.0:
        x = x * y
    return x * y


@case(1.3, 0.7)
def while_with_two_conditions(x, y):
    i = 0
    while i < 10 and x * x > 0.1:
        x = x * y
        i = i + 1
    return x * i


@case(1.3, 0.7)
def while_with_a_walrus(x, y):
    total = 0.0
    while (x := x * y) > 0.2:
        total = total + x * x
    return total + x


@case(1.3, 0.7)
def while_true_with_break(x, y):
    i = 0
    while True:
        x = x * y
        i += 1
        if x < 0.3 or i > 20:
            break
    return x * x


@case(1.3, 0.7)
def while_true_with_break_in_the_middle(x, y):
    total = 0.0
    while True:
        x = x * y
        if x < 0.3:
            break
        total = total + x * x
    return total * x


@case(1.3, 0.7)
def while_true_with_return(x, y):
    while True:
        x = x * y + 0.01
        if x < 0.3:
            return x * x


@case(1.3, 0.7)
def nested_while(x, y):
    i = 0
    while i < 3:
        j = 0
        while j < i:
            x = np.sin(x) + y
            j += 1
        x = x * y
        i += 1
    return x


@case(1.3, 0.7)
def while_inside_for(x, y):
    total = 0.0
    for i in range(1, 4):
        z = x * i
        while z > 0.5:
            z = z * y
        total = total + z * z
    return total


@case(1.3, 0.7)
def for_inside_while(x, y):
    n = 3
    while n > 0:
        for i in range(n):
            x = 0.5 * x * y + i
        n -= 1
    return x


@case(1.3, 0.7)
def break_from_a_for(x, y):
    a = x
    for i in range(10):
        if a < 0.3:
            break
        a = a * y
    return a * i


@case(1.3, 0.7)
def break_in_the_first_trip(x, y):
    a = x
    for _ in range(3):
        if x > y:
            break
        a = a * y
    return a * a


@case(1.3, 0.7)
def break_as_the_last_statement(x, y):
    a = x
    for i in range(3):
        a = a * y + i
        break
    return a * a


@case(1.3, 0.7)
def continue_in_a_for(x, y):
    a = x
    for i in range(6):
        if i % 3 == 1:
            continue
        a = np.sin(a) * y + i
    return a


@case(1.3, 0.7)
def continue_in_a_while(x, y):
    i = 0
    while i < 6:
        i += 1
        if i % 2:
            x = x * y
            continue
        x = x + y * i
    return x


@case(VECTOR)
def continue_over_elements(v):
    a = 0.0
    for e in v:
        if e < 0.0:
            continue
        a = a + e * e
    return a


@case(1.3, 0.7)
def continue_and_break(x, y):
    a = x
    for i in range(20):
        a = a * y
        if i < 2:
            continue
        a = a + 0.01 * x
        if a < 0.3:
            break
        a = a * x
    return a


@case(1.3, 0.7)
def break_from_the_inner_loop_only(x, y):
    a = x
    for i in range(3):
        for j in range(5):
            if j > i:
                break
            a = np.sin(a) * y + j
        a = a + x
    return a


@case(1.3, 0.7)
def break_in_both_loops(x, y):
    a = x
    for i in range(5):
        for _ in range(5):
            a = a * y
            if a < 0.4:
                break
        if i >= 2:
            break
        a = a + x
    return a


@case(1.3, 0.7)
def break_buried_in_one_arm(x, y):
    a = x
    for i in range(6):
        if i > 1:
            a = a * y
            if a < 0.9:
                a = a - x
                break
            a = a + 0.1
        else:
            a = a + y
        a = a * 1.1
    return a


@case(1.3, 0.7)
def for_else_without_break(x, y):
    a = x
    for i in range(3):
        a = a * y + i
    else:
        a = a * a
    return a


@case(1.3, 0.7)
def for_else_whose_break_is_taken(x, y):
    a = x
    for _ in range(9):
        a = a * y
        if a < 0.5:
            break
    else:
        a = a * a
    return a + x


@case(1.3, 0.7)
def for_else_whose_break_is_not_taken(x, y):
    a = x
    for i in range(3):
        a = a * y + i
        if a > 100.0:
            break
    else:
        a = a * a
    return a + x


@case(1.3, 0.7)
def while_else(x, y):
    i = 0
    while i < 5:
        x = x * y
        i += 1
        if x < 0.1:
            break
    else:
        x = x + y
    return x * x


@case(1.3, 0.7)
def else_with_a_break_for_the_outer_loop(x, y):
    a = x
    for i in range(5):
        for j in range(3):
            a = a * y + 0.2
            if a > 1.05:
                break
        else:
            a = a * x
            break
        a = a + 0.1 * i
    return a


@case(1.3, 0.7)
def continue_in_the_else_of_an_inner_loop(x, y):
    a = x
    for i in range(3):
        for j in range(2):
            a = np.sin(a) + j * y
        else:
            if i == 1:
                continue
        a = a * y
    return a


@case(VECTOR, 0.7)
def search_with_a_flag(v, x):
    found = False
    i = 0
    while not found and i < len(v):
        if v[i] > 1.0:
            found = True
        else:
            i += 1
    if found:
        x = x * v[i]
    return x * x


@case(1.3, 0.7, 12)
def integer_loop_beside_a_float_one(x, y, n):
    a, b = n, 8
    while b:
        a, b = b, a % b
        x = x * y + a
    return x * a
