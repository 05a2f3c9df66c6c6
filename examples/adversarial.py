"""Two models that train against each other, each with a tape of its own: a generator that imitates the Nile.

The discriminator tells years of the real river from made-up ones; the generator, a normal distribution with a learned mean
and spread, learns to deceive it.  Both tapes record one block; the measurements are prepared before it, by a running
mean that is itself a Variable: as it is read outside, it is nobody's weight.
"""

from pathlib import Path

import numpy as np

from s2sgrad import SGD, GradientTape, Variable, differentiable, trainable_variables

NILE = Path(__file__).parent / "data" / "nile.csv"
SPREAD = 200.0  # unit of the prepared flows
BATCH = 100
STEPS = 1500


class Generator:
    """Noise in, made-up flows out."""

    def __init__(self):
        self.mean = Variable(1.5)
        self.spread = Variable(0.2)

    def __call__(self, noise):
        return self.mean + self.spread * noise


class Discriminator:
    """How sure it is, positive or negative, that a flow is real: a parabola, all that normal distributions need."""

    def __init__(self):
        self.weights = Variable(np.zeros(3))

    @differentiable
    def __call__(self, flow):
        return self.weights[0] + self.weights[1] * flow + self.weights[2] * flow ** 2


class Preparation:
    """Flows less their running mean, in units of about their spread."""

    def __init__(self):
        self.centre = Variable(1000.0)

    def __call__(self, flow):
        self.centre.assign_add(0.05 * (np.mean(flow) - self.centre))
        return ((flow - self.centre) / SPREAD).numpy()

    def undone(self, mean, spread):
        return float(self.centre + SPREAD * mean), float(SPREAD * abs(spread))


def surprise(score, truth):
    """The mean cross-entropy of scores that should say `truth`."""
    return np.mean(np.logaddexp(0.0, -score if truth else score))


def main():
    """Return the generator's mean and spread, in 10^8 cubic metres, averaged over the last third of the steps."""
    flow = np.loadtxt(NILE, delimiter=",", usecols=1)
    rng = np.random.default_rng(0)
    generator, discriminator, prepare = Generator(), Discriminator(), Preparation()
    for_generator, for_discriminator = SGD(0.02), SGD(0.1)
    history = []
    for step in range(STEPS):
        real = prepare(rng.choice(flow, BATCH))
        noise = rng.standard_normal(BATCH)
        with GradientTape() as generator_tape, GradientTape() as discriminator_tape:
            made_up = generator(noise)
            score, true_score = discriminator(made_up), discriminator(real)
            loss = surprise(score, True)
            decay = 0.05 * np.sum(discriminator.weights ** 2)
            discriminator_loss = surprise(true_score, True) + surprise(score, False) + decay
        ours, theirs = trainable_variables(generator), trainable_variables(discriminator)
        for_generator.apply_gradients(zip(generator_tape.gradient(loss, ours), ours, strict=True))
        for_discriminator.apply_gradients(
            zip(discriminator_tape.gradient(discriminator_loss, theirs), theirs, strict=True)
        )
        history.append(prepare.undone(generator.mean, generator.spread))
        if step % 250 == 249:
            print(f"step {step + 1:>4}: the generator's Nile {history[-1][0]:6.1f} +- {history[-1][1]:5.1f}")
    watched = {v.uid for tape in (generator_tape, discriminator_tape) for v in tape.watched_variables()}
    assert prepare.centre.uid not in watched
    mean, spread = np.mean(history[-STEPS // 3 :], axis=0)
    print(f"on average: {mean:.1f} +- {spread:.1f}; measured: {flow.mean():.1f} +- {flow.std():.1f}")
    return float(mean), float(spread)


if __name__ == "__main__":
    main()
