"""Assignment in all its forms."""

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


@case(1.3, 0.7)
def plain_assignment(x, y):
    a = x * y
    b = a + np.sin(a)
    return b * y


@case(1.3, 0.7)
def chained_assignment(x, y):
    a = b = x * y
    a = a * a
    return a + 3.0 * b


@case(1.3, 0.7)
def chained_assignment_of_a_tuple(x, y):
    pair = a, b = x * y, x - y
    return a * b + pair[0] * pair[0]


@case(1.3, 0.7)
def tuple_target(x, y):
    a, b = x * y, x + y
    return a * b


@case(1.3, 0.7)
def list_target(x, y):
    [a, b] = x * y, x + y
    return a / b


@case(1.3, 0.7, -0.4)
def nested_tuple_target(x, y, z):
    (a, (b, c)), d = (x, (y, x * y)), z
    return a * b + c * d


@case(1.3, 0.7, -0.4, 2.1)
def starred_target_in_the_middle(x, y, z, w):
    a, *b, c = x, y, z, w
    return a * b[0] + b[1] * c


@case(1.3, 0.7, -0.4)
def starred_target_first(x, y, z):
    *a, b = x, y * z, z
    return a[0] * a[1] * b


@case(1.3, 0.7, -0.4)
def starred_target_last(x, y, z):
    a, *b = x * x, y, z
    return sum(b) * a


@case(1.3, 0.7)
def starred_target_that_stays_empty(x, y):
    a, *b, c = x, y
    return a * c + len(b)


@case(VECTOR)
def unpacked_array(x):
    a, b, c = x
    return a * b + np.sin(c)


@case(MATRIX)
def unpacked_rows(m):
    a, b = m
    return np.sum(a * b) + a[0]


@case(VECTOR)
def starred_target_over_an_array(x):
    a, *b = x
    return a * b[0] + b[1] * b[1]


@case(MATRIX)
def nested_target_over_a_matrix(m):
    (a, b, c), row = m
    return a * b * c + np.sum(row * row)


@case(1.3, 0.7)
def swap(x, y):
    a = np.sin(x)
    b = y * y
    a, b = b, a
    return a - 2.0 * b


@case(1.3, 0.7, -0.4)
def rotation_of_three(x, y, z):
    x, y, z = y, z, x * y
    x, y, z = y * x, z, x
    return x + 2.0 * y + 3.0 * z * z


@case(1.3, 0.7)
def right_side_before_left_side(x, y):
    x, y = y * y, x + y
    x, y = x + y, x * y
    return x * y


@case(1.3, 0.7)
def augmented_numbers(x, y):
    a = x
    a += y
    a *= x
    a -= 0.5 * y
    a /= 1.0 + y * y
    a **= 2
    return a


@case(2.3, 0.7)
def augmented_remainder(x, y):
    a = x * x
    a %= 1.5
    b = x
    b //= y
    return a * y + b


@case(1.3, 3)
def augmented_integer_beside_a_float(x, n):
    k = 1
    k *= n
    k -= 1
    x *= k
    return x * x


@case(VECTOR, 0.7)
def augmented_fresh_array(x, y):
    a = x * y
    a += x
    a *= 2.0
    a -= y * y
    return np.sum(a * a)


@case(VECTOR, 0.7)
def augmented_array_of_zeros(x, y):
    a = np.zeros(3)
    a += x * y
    a += x
    return np.sum(a * a)


@case(VECTOR, MATRIX)
def augmented_array_with_broadcasting(x, m):
    a = m * 2.0
    a *= x
    a += 0.5
    a /= 2.0 + x * x
    return a


@case(VECTOR)
def augmented_array_by_itself(x):
    a = np.sin(x)
    a *= a
    a += a
    return a * x


@case(VECTOR, 0.7)
def augmented_element_that_is_a_number(x, y):
    a = x[1]
    a += y
    a *= x[0]
    return a * a + x[1]


@case(VECTOR)
def number_that_becomes_an_array_by_augmented_assignment(x):
    total = 0.0
    total += x
    total += x * x
    return np.sum(total * total)


@case(1.3, 0.7)
def annotated_assignment(x: float, y: float) -> float:
    a: float = x * y
    b: float = a + y
    c: float
    c = a * b
    return c


@case(1.3, 0.7)
def straight_line_reassignment(x, y):
    x = x * y
    x = np.sin(x)
    x = x * x + y
    x = x / (1.0 + x)
    return x * x


@case(1.3, 0.7)
def overwritten_before_use(x, y):
    a = x * x
    a = y * y
    return a * y


@case(1.3, 0.7)
def underscore_target(x, y):
    a, _, b = x, x * y, y
    _ = a * 2.0
    return a * b


@case(VECTOR)
def names_for_one_array(x):
    a = x
    b = a
    a = a * 2.0
    return np.sum(a * b)


@case(1.3, 0.7)
def packed_and_unpacked(x, y):
    pair = (x * y, y)
    a, b = pair
    pair = (b, a * a)
    c, d = pair
    return c * d + a


@case(1.3, 0.7)
def list_literal_of_numbers(x, y):
    parts = [x, x * y, y * y]
    return parts[0] * parts[1] + parts[-1] + sum(parts)


@case(1.3, 0.7)
def dict_literal_of_numbers(x, y):
    parts = {"left": x * y, "right": np.sin(y)}
    return parts["left"] * parts["right"]


@case(np.array([0.8, 1.05, 1.4]), np.array([0.6, 1.1, -0.8]))
def name_twice_among_the_targets(u, v):
    t = (v, 0.3 * u[0], u * v)
    v, s, v = t
    return np.sum(u * v) * s
