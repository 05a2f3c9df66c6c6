"""A neural network that reads handwritten digits: 1,797 real images of 8 x 8 pixels, from scikit-learn.

The loss is a plain NumPy function; `value_and_grad` writes its gradient in the four weight arrays.
"""

import numpy as np
from sklearn.datasets import load_digits

from s2sgrad import value_and_grad

HIDDEN = 48
EPOCHS = 30
BATCH = 50


def scores(W1, b1, W2, b2, x):
    """One hidden layer: a score for each image and digit."""
    return np.tanh(x @ W1 + b1) @ W2 + b2


def cross_entropy(W1, b1, W2, b2, x, labels):
    """The mean negative logarithm of the probability of the true digit (softmax), with a little weight decay."""
    z = scores(W1, b1, W2, b2, x)
    z = z - np.max(z, axis=1, keepdims=True)
    log_probability = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    fit = -np.mean(log_probability[np.arange(len(x)), labels])
    return fit + 1e-4 * (np.sum(W1 ** 2) + np.sum(W2 ** 2))


def accuracy(weights, x, labels):
    """The share of images whose best score is the true digit."""
    return float(np.mean(np.argmax(scores(*weights, x), axis=1) == labels))


def main():
    """Train on 1,400 images; return the share of the other 397 that is read rightly."""
    rng = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    images, labels = images[order] / 16.0, labels[order]
    x, test_x, y, test_y = images[:1400], images[1400:], labels[:1400], labels[1400:]

    loss = value_and_grad(cross_entropy, argnums=(0, 1, 2, 3))
    weights = [0.1 * rng.standard_normal((64, HIDDEN)), np.zeros(HIDDEN),
               0.1 * rng.standard_normal((HIDDEN, 10)), np.zeros(10)]  # fmt: skip
    speeds = [np.zeros_like(w) for w in weights]
    for epoch in range(EPOCHS):
        total = 0.0
        for start in range(0, len(x), BATCH):
            batch = slice(start, start + BATCH)
            value, gradients = loss(*weights, x[batch], y[batch])
            speeds = [0.9 * s - 0.05 * g for s, g in zip(speeds, gradients, strict=True)]
            weights = [w + s for w, s in zip(weights, speeds, strict=True)]
            total += value * len(x[batch]) / len(x)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:>2}   loss {total:.4f}   test accuracy {accuracy(weights, test_x, test_y):.3f}")
    return accuracy(weights, test_x, test_y)


if __name__ == "__main__":
    main()
