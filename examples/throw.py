"""Aiming by gradient descent through a `while` loop: a baseball in real air, thrown to land on a mark.

The simulation runs until the ball is down, so the number of steps depends on the aim.  The last step is cut where it
meets the ground, so that the range is a smooth function of the aim.
"""

import numpy as np

from s2sgrad import grad

GRAVITY = 9.80665  # m / s^2
MASS = 0.145  # kg, a baseball
DRAG = 0.5 * 1.225 * 0.35 * np.pi * 0.0366 ** 2  # kg / m: half the air's density times drag coefficient times area
WIND = -4.0  # m / s, against the thrower
STEP = 0.01  # s


def landing(aim):
    """Where the ball comes down, thrown with the speed aim[0] (m / s) under the angle aim[1] (radians), from 1.8 m."""
    x = 0.0
    y = 1.8
    vx = aim[0] * np.cos(aim[1])
    vy = aim[0] * np.sin(aim[1])
    last_x = x
    last_y = y
    while y > 0.0:
        last_x = x
        last_y = y
        drag = DRAG / MASS * np.sqrt((vx - WIND) ** 2 + vy ** 2)
        vx = vx - STEP * drag * (vx - WIND)
        vy = vy - STEP * (GRAVITY + drag * vy)
        x = x + STEP * vx
        y = y + STEP * vy
    return last_x + (x - last_x) * last_y / (last_y - y)


def miss(aim, target):
    """The squared distance from the target."""
    return (landing(aim) - target) ** 2


def main():
    """Aim at 60 m; return how far from it the ball lands."""
    target = 60.0
    aim = np.array([30.0, 0.3])
    gradient = grad(miss)
    for step in range(25):
        if step % 5 == 0:
            print(f"step {step:>2}: {aim[0]:6.3f} m/s at {np.degrees(aim[1]):6.3f} degrees lands at {landing(aim):7.3f} m")
        aim = aim - np.array([2e-2, 2e-5]) * gradient(aim, target)
    print(f"    end: {aim[0]:6.3f} m/s at {np.degrees(aim[1]):6.3f} degrees lands at {landing(aim):7.3f} m")
    return abs(landing(aim) - target)


if __name__ == "__main__":
    main()
