"""Derivatives of what a solver finds, without differentiating the solver: a root, a fixed point, a minimum, a differential
equation.

Where F(x, a) = 0 defines x, the rule is F_x dx = -F_a da, and the partial derivatives of F are s2sgrad's.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize, minimize_scalar

from s2sgrad import custom_gradient, grad, hessian, primitive, value_and_grad, vjp

# --- a root: the molar volume of carbon dioxide after van der Waals, in units of the critical point ---


def excess_pressure(volume, pressure, temperature):
    """Zero at the volume that belongs to a pressure and a temperature."""
    return 8.0 * temperature / (3.0 * volume - 1.0) - 3.0 / volume ** 2 - pressure


in_volume, in_pressure, in_temperature = (grad(excess_pressure, k) for k in range(3))


@primitive
def volume(pressure, temperature):
    """The volume of the gas, above the critical temperature; Brent's method finds it."""
    return brentq(excess_pressure, 0.34, 1e4, args=(pressure, temperature), xtol=1e-14, rtol=1e-14)


volume.defvjp(
    lambda g, v, p, t: -g * in_pressure(v, p, t) / in_volume(v, p, t),
    lambda g, v, p, t: -g * in_temperature(v, p, t) / in_volume(v, p, t),
)


def compressibility(pressure, temperature):
    """-1/V dV/dp: a derivative that is itself differentiated."""
    return -grad(volume)(pressure, temperature) / volume(pressure, temperature)


# --- a fixed point: a recurrent layer that runs until it is at rest ---


def step(x, w, b):
    """One step of the layer."""
    return np.tanh(w @ x + b)


def at_rest(f, x):
    """Where f(x) is x."""
    for _ in range(10_000):
        x, before = f(x), x
        if np.max(np.abs(x - before)) < 1e-14:
            return x
    raise ArithmeticError("the layer does not come to rest")


@custom_gradient
def equilibrium(w, b):
    """The state at rest, and its pullback: u = g + (d step/dx)^T u is another fixed point."""
    x = at_rest(lambda x: step(x, w, b), np.zeros_like(b))

    def pullback(g):
        _, back = vjp(step, x, w, b)
        u = at_rest(lambda u: g + back(u)[0], g)
        _, w_bar, b_bar = back(u)
        return w_bar, b_bar

    return x, pullback


def distance(w, b, target):
    """How far the layer comes to rest from where it should."""
    return np.sum((equilibrium(w, b) - target) ** 2)


def distance_by_steps(w, b, target):
    """The same, with every step differentiated."""
    x = np.zeros_like(b)
    for _ in range(200):
        x = step(x, w, b)
    return np.sum((x - target) ** 2)


# --- an optimization layer: a signal is smoothed, and how strongly is learned ---


def roughness(z, y, weight):
    """The energy of a smoothed signal: near to the data, and with few jumps."""
    return 0.5 * np.sum((z - y) ** 2) + weight * np.sum(np.sqrt(np.diff(z) ** 2 + 1e-2))


force, stiffness = grad(roughness), hessian(roughness)


@custom_gradient
def smoothed(y, weight):
    """The signal of least energy, found by Newton's method; where force(z, y, weight) = 0, dz = -stiffness^-1 d force."""
    z = minimize(roughness, y, args=(y, weight), jac=force, hess=stiffness, method="trust-exact", options={"gtol": 1e-12}).x

    def pullback(g):
        _, back = vjp(force, z, y, weight)
        _, y_bar, weight_bar = back(np.linalg.solve(stiffness(z, y, weight), -g))
        return y_bar, weight_bar

    return z, pullback


def error_after_smoothing(weight, y, truth):
    """How far the smoothed signal is from the truth."""
    return np.mean((smoothed(y, weight) - truth) ** 2)


# --- a differential equation: SciPy integrates it, and its adjoint backwards ---


def growth(y, rate, room):
    """Logistic growth."""
    return rate * y * (1.0 - y / room)


@custom_gradient
def population(y, rate, room):
    """The population after one unit of time; the adjoint runs from there back to the start."""
    options = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}
    forward = solve_ivp(lambda t, y: growth(y, rate, room), (0.0, 1.0), [y], dense_output=True, **options)

    def pullback(g):
        def backwards(t, bars):
            _, back = vjp(growth, forward.sol(t)[0], rate, room)
            return -np.array(back(bars[0]))

        return tuple(solve_ivp(backwards, (1.0, 0.0), [g, 0.0, 0.0], **options).y[:, -1])

    return forward.y[0, -1], pullback


def main():
    """Return the largest relative errors: of the root's derivatives, the fixed point's, the layer's, the equation's."""
    p, t = 1.5, 1.2
    v = volume(p, t)
    slope = -24.0 * t / (3.0 * v - 1.0) ** 2 + 6.0 / v ** 3  # of the pressure, by hand
    root = abs(compressibility(p, t) * -v * slope - 1.0)
    h = 1e-5
    second = grad(compressibility)(p, t)
    difference = (compressibility(p + h, t) - compressibility(p - h, t)) / (2.0 * h)
    root = max(root, abs(second / difference - 1.0) * 1e-3)  # the difference has six digits
    print(f"carbon dioxide at 1.5 p_c, 1.2 T_c: volume {v:.4f}, compressibility {compressibility(p, t):.4f}, "
          f"which changes with the pressure by {second:.4f}")  # fmt: skip

    rng = np.random.default_rng(0)
    w, b = 0.3 * rng.standard_normal((6, 6)), rng.standard_normal(6)
    at_once = grad(distance, ("w", "b"))(w, b, np.ones(6))
    by_steps = grad(distance_by_steps, ("w", "b"))(w, b, np.ones(6))
    fixed = max(float(np.max(np.abs(a - s))) for a, s in zip(at_once, by_steps, strict=True))
    print(f"a layer at rest: its gradient differs by {fixed:.0e} from that through 200 steps")

    truth = np.repeat([0.0, 1.0, 0.4], 20)
    noisy = truth + 0.15 * rng.standard_normal(60)
    best = minimize_scalar(error_after_smoothing, (0.05, 0.1), args=(noisy, truth), tol=1e-10).x
    slopes = [grad(error_after_smoothing)(w, noisy, truth) for w in (best, 0.05)]
    difference = error_after_smoothing(0.05 + h, noisy, truth) - error_after_smoothing(0.05 - h, noisy, truth)
    layer = max(abs(slopes[0] / slopes[1]), abs(difference / (2.0 * h) / slopes[1] - 1.0))
    print(f"a signal is smoothed best with the weight {best:.3f}, where the derivative is {slopes[0]:.0e}")

    y, rate, room = 0.2, 1.5, 2.0
    value, gradient = value_and_grad(population, (0, 1, 2))(y, rate, room)
    exact = value_and_grad(lambda y, r, k: k / (1.0 + (k / y - 1.0) * np.exp(-r)), (0, 1, 2))(y, rate, room)
    equation = max(abs(a / e - 1.0) for a, e in zip((value, *gradient), (exact[0], *exact[1]), strict=True))
    print(f"a population of {value:.4f}: its gradient is right to {equation:.0e}")
    return root, fixed, layer, equation


if __name__ == "__main__":
    main()
