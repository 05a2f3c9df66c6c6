"""Well-known numerical programs."""

# ruff: noqa: B007, RUF059

import math

import numpy as np

from .case import case

POINTS = np.array([[0.0, 0.1], [1.3, -0.2], [0.4, 1.5]])
VECTOR = np.array([0.3, -0.7, 1.1])
SQUARE = np.array([[1.2, 0.3], [0.3, 0.9]])
IMAGES = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6], [-0.3, 0.9, 0.4], [0.7, 0.7, -1.1]])
LABELS = np.array([0, 2, 1, 2])
ONE_HOT = np.eye(3)[LABELS]
W1 = np.array([[0.2, -0.5, 0.7, 0.1], [0.4, 0.3, -0.6, 0.8], [-0.9, 0.6, 0.2, -0.3]])
B1 = np.array([0.1, -0.2, 0.3, 0.05])
W2 = np.array([[0.3, -0.7, 0.5], [0.6, 0.1, -0.4], [-0.2, 0.8, 0.9], [0.4, -0.1, 0.2]])
SERIES = np.array([0.4, 0.9, 0.7, 1.3, 0.8])


@case(0.3, 2.9, 6)
def logistic_map(x, r, n):
    for i in range(n):
        x = r * x * (1.0 - x)
    return x


@case(2.5, 1.0)
def newton_iteration(a, x):
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def pendulum(angle, speed, length):
    return speed, -9.81 / length * np.sin(angle)


@case(0.6, 0.1, 1.2)
def runge_kutta_pendulum(angle, speed, length):
    h = 0.05
    for _ in range(5):
        a1, s1 = pendulum(angle, speed, length)
        a2, s2 = pendulum(angle + 0.5 * h * a1, speed + 0.5 * h * s1, length)
        a3, s3 = pendulum(angle + 0.5 * h * a2, speed + 0.5 * h * s2, length)
        a4, s4 = pendulum(angle + h * a3, speed + h * s3, length)
        angle = angle + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        speed = speed + h / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
    return angle, speed


@case(W1[:, :3].copy(), B1[:3].copy(), IMAGES, LABELS, argnums=(0, 1))
def softmax_cross_entropy(w, b, images, labels):
    logits = images @ w + b
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_norm - shifted[np.arange(len(labels)), labels])


@case(W1, B1, W2, IMAGES, ONE_HOT, argnums=(0, 1, 2))
def multilayer_perceptron(W1, b1, W2, x, y):
    h = np.tanh(x @ W1 + b1)
    e = h @ W2 - y
    return np.sum(e * e)


@case(SQUARE, np.array([0.4, -0.3]), np.array([0.2, 0.7]), SERIES, argnums=(0, 1, 2))
def recurrent_network(W, u, h, inputs):
    loss = 0.0
    for value in inputs:
        h = np.tanh(W @ h + u * value)
        error = h[0] - value
        loss = loss + error * error
    return loss / len(inputs)


@case(np.array([0.7, 0.3, 0.6, 1.2]))
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@case(np.array([0.3, 0.8]), SQUARE, IMAGES[:, :2].copy(), argnums=(0, 1))
def gaussian_log_likelihood(mean, covariance, data):
    centred = data - mean
    sign, log_det = np.linalg.slogdet(covariance)
    mahalanobis = np.sum(centred * np.linalg.solve(covariance, centred.T).T)
    n, d = data.shape
    return -0.5 * (mahalanobis + n * log_det + n * d * np.log(2.0 * np.pi))


@case(np.array([0.5, -1.0, 0.3, 2.0]), 0.7)
def polynomial_by_horner(coefficients, x):
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


@case(0.8, 6)
def continued_fraction(x, n):
    value = 2.0 * n + 1.0
    for k in range(n, 0, -1):
        value = 2.0 * k - 1.0 - x * x / value
    return x / value


@case(0.2, 1.7, 0.9, 8)
def trapezoid_rule(a, b, w, n):
    h = (b - a) / n
    total = 0.5 * (math.sin(w * a) + math.sin(w * b))
    for i in range(1, n):
        total += math.sin(w * (a + i * h))
    return h * total


def decay(x, rate):
    return -rate * x * x + 0.1


@case(1.5, 0.8)
def heun_with_adaptive_step(x, rate):
    t, h = 0.0, 0.3
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        k1 = decay(x, rate)
        k2 = decay(x + h * k1, rate)
        if abs(h * (k2 - k1)) > 0.05:
            h = 0.5 * h
            continue
        t = t + h
        x = x + 0.5 * h * (k1 + k2)
        h = 1.2 * h
    return x


@case(SQUARE, np.array([1.0, 0.4]))
def power_iteration(A, v):
    for _ in range(8):
        v = A @ v
        v = v / np.sqrt(np.sum(v * v))
    return v @ A @ v


@case(2.0, second=False)
def bisection_is_piecewise_constant(a):
    low, high = 0.0, 3.0
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if middle * middle > a:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high) + 0.1 * a


@case(np.array([[0.1, -0.4], [0.5, 0.2]]), 0.7)
def matrix_exponential_by_taylor(A, t):
    term = np.eye(2)
    total = np.eye(2)
    for k in range(1, 9):
        term = term @ A * (t / k)
        total = total + term
    return total


@case(0.3, 0.2, SERIES, argnums=(0, 1, 2))
def kalman_filter(q, r, observations):
    mean, variance = 0.0, 1.0
    log_likelihood = 0.0
    for z in observations:
        variance = variance + q
        s = variance + r
        residual = z - mean
        log_likelihood = log_likelihood - 0.5 * (np.log(2.0 * np.pi * s) + residual * residual / s)
        gain = variance / s
        mean = mean + gain * residual
        variance = (1.0 - gain) * variance
    return log_likelihood


def log_normal(z, mean, log_sigma):
    d = (z - mean) * np.exp(-log_sigma)
    return -0.5 * d * d - log_sigma - 0.5 * np.log(2.0 * np.pi)


@case(0.4, -0.3, VECTOR, np.array([0.5, -1.1, 0.2]), argnums=(0, 1))
def evidence_lower_bound(mean, log_sigma, data, noise):
    total = 0.0
    for e in noise:
        z = mean + np.exp(log_sigma) * e
        total += np.sum(log_normal(data, z, 0.0)) + log_normal(z, 0.0, 0.0) - log_normal(z, mean, log_sigma)
    return total / len(noise)


@case(POINTS, 0.9, 0.7)
def lennard_jones(positions, sigma, epsilon):
    energy = 0.0
    n = positions.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            d = positions[i] - positions[j]
            r2 = np.sum(d * d)
            s6 = (sigma * sigma / r2) ** 3
            energy += 4.0 * epsilon * (s6 * s6 - s6)
    return energy


@case(0.2, 0.35, 0.9)
def ray_bouncing_between_walls(x, slope, loss):
    y, energy = 0.0, 1.0
    for bounce in range(10):
        if slope > 0.0:
            distance = (1.0 - y) / slope
            y = 1.0
        else:
            distance = -y / slope
            y = 0.0
        if x + distance > 8.0:
            break
        x = x + distance
        slope = -slope * loss
        energy = energy * loss
    return x * energy + bounce


@case(1.0, 0.3)
def dynamic_time_step(x, k):
    t = 0.0
    while t < 2.0:
        h = 0.1 + 0.2 / (1.0 + x * x)
        x = x + h * (np.cos(t) - k * x)
        t = t + h
    return x + t


@case(48.0, 0.7)
def euclid_beside_floats(x, y):
    a, b, steps = 48, 18, 0
    while b != 0:
        a, b = b, a % b
        steps += 1
        x = x / (1.0 + y * a)
    return x * steps


@case(VECTOR, 0.5)
def gradient_descent_inside(x, rate):
    for _ in range(4):
        g = 2.0 * x + np.cos(x)
        x = x - rate * 0.3 * g
    return np.sum(x * x)


@case(0.7, 1.1, 0.6)
def heat_equation_functional(left, right, c):
    u = np.linspace(0.0, 1.0, 5) * right + left
    for _ in range(3):
        inner = u[1:-1] + 0.2 * c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate([u[:1], inner, u[-1:]])
    return np.sum(u**2)


@case(0.8, 12)
def collatz_beside_a_float(x, n):
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            x = x * 0.9
        else:
            n = 3 * n + 1
            x = np.sin(x) + 0.5
    return x


@case(0.9, 0.2)
def kepler_equation(mean_anomaly, eccentricity):
    e = mean_anomaly
    for _ in range(20):
        step = (e - eccentricity * math.sin(e) - mean_anomaly) / (1.0 - eccentricity * math.cos(e))
        e = e - step
        if abs(step) < 1e-13:
            break
    return math.cos(e) - eccentricity


@case(VECTOR, 0.8)
def items_and_attributes_of_a_numpy_number(x, s):
    parts = [x * x, x.std()]
    t = np.add(s, 1.0)
    u = np.maximum(s * s, 0.3)
    return parts[-1][...] * t[()] + u.reshape(1)[0] * t.T + np.linalg.norm(x)[None][0] * u.ravel().sum()


CUBIC = np.poly1d([0.3, -1.0, 0.5, 2.0])
LEGENDRE = np.polynomial.Legendre([0.2, 0.7, -0.4], domain=[0.0, 2.0])


@case(np.array([0.4, 1.3]))
def polynomials_that_are_objects(x):
    return np.sum(CUBIC(x) * LEGENDRE(x[0])) + LEGENDRE(CUBIC(x[1]))


@case(np.array([0.5, 0.7, 0.9]))
def bound_that_is_none_in_the_first_trip(x):
    hi, total = None, 0.0
    for v in x:
        y = np.clip(x * v, 0.1, hi)
        total = total + np.sum(y * y * v)
        hi = v * 0.8
    return total


@case(VECTOR, 0.8)
def axes_of_numbers(x, s):
    t = np.prod(np.sum(x), axis=0) * np.take(s, 0, axis=0) + np.max(x @ x, axis=-1)
    u = np.cumprod(s, axis=0) + np.repeat(t, 2, axis=0) + np.cumsum(np.dot(s, t), axis=0)
    return np.sum(u * u) + np.mean(np.sum(np.min(s * s, axis=0), axis=0))


@case(VECTOR, 0.8)
def axis_of_a_number_or_an_array(x, s):
    part, total = x, 0.0
    for k in range(2):
        total = total + np.sum(np.max(part, axis=0) * np.sum(part, axis=0) * np.cumsum(part, axis=0))
        part = x[k] if k == 0 else s
    return total


@case(VECTOR, np.array([[0.3, 0.4, 0.9], [0.1, 0.8, 1.1]]))
def integral_over_places_that_broadcast(y, x):
    areas = np.trapezoid(y, x) if hasattr(np, "trapezoid") else np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2.0, axis=-1)
    return np.sum(areas * areas)


@case(VECTOR, 0.8)
def differences_from_a_beginning(x, s):
    first = np.diff(x, prepend=s)
    both = np.diff(x * x, n=2, prepend=x[:2] * s, append=1.0)
    return np.sum(first**3) + np.sum(both * both)


@case(VECTOR)
def number_that_is_copied_to_an_array_before_a_loop(v):
    b = v[1]
    w = np.copy(b)
    y = v * v
    for k in range(2):
        y = y * w + k * np.take(w, [0])
    return np.sum(y * y)


@case(VECTOR, 0.8)
def no_differences_at_all(x, s):
    none, of_a_number = np.diff(x, 0, prepend=s, append=x), np.diff(s, 0)
    return np.sum(none**3) * of_a_number


@case(np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]]))
def middles_over_a_list_of_axes(a):
    weighed = np.average(a, axis=[0, 1], weights=a * a)
    middle = np.median(a * a, axis=[0, 1]) * np.nanmedian(a, axis=[0, 1])
    return middle + weighed * np.sum(np.median(a, axis=[1], keepdims=True))


@case(np.array([0.5, -1.2, 0.8]))
def systems_of_equations_in_lists(b):
    fitted = np.linalg.lstsq([[2.0, 1.0], [1.0, 3.0], [0.1, 0.7]], b, rcond=None)[0]
    line = np.linalg.lstsq([[b[0], 1.0], [1.0, 3.0], [0.1, 0.7]], [1.0, 2.0, 3.0], rcond=None)[0]
    return np.sum(fitted * line)


@case(np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]]))
def item_of_singular_values_alone(a):
    first, second = np.linalg.svd(a * a, compute_uv=False)
    return np.linalg.svd(a, compute_uv=False)[0] * first - second * np.linalg.svd(a, False, False)[1]


@case(np.array([0.3, -0.7, 1.1, 0.5]), np.array([1.3, 0.2, -0.5, 0.9]))
def cosine_and_ratio_of_two_norms(x, y):
    a, b = np.sum(x**2), np.sum(y**2)
    return np.sum(x * y) / (np.sqrt(a) * np.sqrt(b)) + a / b


@case(np.array([0.3, -0.7, 1.1, 0.5, -0.2]))
def line_through_places_of_which_a_float_tells_the_number(v):
    places = np.arange(1.0 * np.size(v))
    slope = np.sum(v * v)
    return np.median(v - slope * places)
