"""Forward mode: beside each variable its tangent, one statement under the other.

    y = x * x           y = x * x
    z = np.sin(y)  ->   y_dot = x_dot * x + x_dot * x
                        z = np.sin(y)
                        z_dot = y_dot * np.cos(y)

There is no second sweep and nothing is recorded.  What a rule says of a primitive serves here as well: the slope of an
elementwise map is its pullback of the tangent, a linear map is applied to the tangent itself, and what is neither has a
tangent of its own in the table, or its pullback, which is linear in the cotangent, is transposed.
"""
