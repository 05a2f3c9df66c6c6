"""Forward mode: each variable is accompanied by its tangent, statement by statement.

    y = x * x           y = x * x
    z = np.sin(y)  ->   y_dot = x_dot * x + x_dot * x
                        z = np.sin(y)
                        z_dot = y_dot * np.cos(y)

There is no second sweep and no record.  The rules of reverse mode serve here too: for an elementwise map the pullback is
applied to the tangent. A linear map is applied to the tangent itself. Any other primitive has its own tangent in the table,
or its pullback, which is linear in the cotangent, is transposed.
"""
