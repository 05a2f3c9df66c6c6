"""The programs of tests/ported: gradients against differences, and what they find when they run."""

import numpy as np
import pytest
from ported import bbvi, convnet, gp, hmc, hmm, hyper, ica, lstm, mixture, mlp, ode, rnn, springs
from scipy.stats import multivariate_normal

from s2sgrad import grad, value_and_grad
from s2sgrad.testing import check_grads

pytestmark = pytest.mark.sampled(one_in=3)  # whole programs, of a second or more


@pytest.fixture
def rng():
    """Random numbers, the same in every test."""
    return np.random.default_rng(5)


# --- recurrent networks ---


def test_lstm(rng):
    params = lstm.init_params(3, len(lstm.ALPHABET), rng)
    check_grads(lstm.loss, (params, lstm.windows(4, 9)), argnums=0, order=2)


def test_lstm_learns():
    before, after = lstm.train()
    assert before > 2.5
    assert after < 0.8


def test_rnn(rng):
    check_grads(rnn.loss, (rnn.init(rng), *rnn.sums(rng, 3, 4)), argnums=0, order=2)


def test_rnn_learns_to_add():
    losses = rnn.train()
    assert losses[0] > 0.6
    assert losses[-1] < 0.1


# --- Gaussian processes ---


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("kernel", [gp.rbf, gp.matern32])
def test_gp(kernel, rng):
    x, y = gp.data(8)
    params = 0.3 * rng.standard_normal(4)
    predict, log_marginal_likelihood = gp.make_gp(kernel)
    covariance = kernel(params[2:], x, x) + (np.exp(params[1]) + 1e-6) * np.eye(8)
    value, gradient = value_and_grad(log_marginal_likelihood)(params, x, y)
    assert value == pytest.approx(multivariate_normal(np.full(8, params[0]), covariance).logpdf(y))
    np.testing.assert_allclose(grad(gp.by_slogdet(x, y, kernel))(params), gradient, rtol=1e-7)
    orders = (1, 2) if kernel is gp.rbf else (2, 1)  # each form twice with one of the kernels
    check_grads(log_marginal_likelihood, (params, x, y), order=orders[0])
    check_grads(gp.by_slogdet(x, y, kernel), (params,), order=orders[1])
    check_grads(predict, (params, x, y, x[:3] + 0.1))


@pytest.mark.parametrize("kernel", [gp.rbf, gp.matern32])
def test_gp_fits(kernel):
    result, error = gp.fit(kernel)
    assert np.max(np.abs(result.jac)) < 1e-4
    assert error < 0.25


# --- hidden Markov models ---


def test_hmm(rng):
    params = hmm.random_params(2, 3, rng)
    observations = np.array([0, 1, 2, 1, 1])
    check_grads(hmm.log_partition, (params, observations), argnums=0, order=2)
    starts, transitions, emissions = grad(hmm.log_partition)(params, observations)
    assert starts.sum() == pytest.approx(1.0)
    assert transitions.sum() == pytest.approx(4.0)
    np.testing.assert_allclose(emissions.sum(axis=0), np.bincount(observations))


@pytest.mark.dear
def test_hmm_of_sequences(rng):
    params = hmm.random_params(2, 3, rng)
    check_grads(hmm.log_likelihood, (params, [np.array([0, 1, 2, 1]), np.array([1, 2])]), argnums=0, order=2)


def test_expectation_maximisation_never_descends():
    values = hmm.em()
    assert np.all(np.diff(values) >= 0.0)
    assert values[-1] > values[0] + 5.0


def test_hmm_by_gradient_ascent():
    values = hmm.ascend()
    assert np.all(np.diff(values) > 0.0)


# --- variational inference ---


@pytest.mark.parametrize("target", [bbvi.log_normal_target, bbvi.log_funnel])
def test_bbvi(target, rng):
    def objective(params):
        return bbvi.black_box_variational_inference(target, 2, 5)[0](params, 0)

    params, direction = 0.3 * rng.standard_normal(4), rng.standard_normal(4)
    _, gradient, _, draws = bbvi.black_box_variational_inference(target, 2, 5)
    difference = (objective(params + 1e-5 * direction) - objective(params - 1e-5 * direction)) / 2e-5
    assert gradient(params, 0) @ direction == pytest.approx(difference, rel=1e-6)
    once = np.random.default_rng(0)
    once.standard_normal((5, 2))
    assert draws.bit_generator.state == once.bit_generator.state


def test_bbvi_fits():
    mean, deviation = bbvi.fit()
    np.testing.assert_allclose(mean, [1.0, -2.0], atol=0.1)
    np.testing.assert_allclose(deviation, [0.5, 1.5], rtol=0.1)


# --- layers that are objects ---

NETWORKS = [convnet.by_name, convnet.by_list, convnet.by_sequential]


@pytest.mark.parametrize("predict", NETWORKS)
def test_convnet(predict, rng):
    x, labels = convnet.stripes(rng, 4)
    order = 2 if predict is convnet.by_sequential else 1
    check_grads(lambda p: convnet.loss(p, x, labels, predict), (convnet.init(rng),), order=order)


def test_convnet_in_its_images(rng):
    check_grads(convnet.loss, (convnet.init(rng), *convnet.stripes(rng, 3)), argnums=(0, 1), order=2)


@pytest.mark.parametrize("predict", NETWORKS)
def test_convnet_learns(predict):
    losses, accuracy = convnet.train(predict)
    assert losses[-1] < 0.2 * losses[0]
    assert accuracy == 1.0


# --- independent components ---


def test_ica():
    x, mixing = ica.mixed(10)
    check_grads(ica.make_ica_funs(x)[0], (mixing,), order=2)
    check_grads(ica.flat_objective, (mixing.ravel(), x), order=2)


def test_ica_separates_the_sources():
    values, product = ica.unmix()
    assert values[-1] > values[0] + 1.0
    sizes = np.sort(np.abs(product), axis=1)
    assert np.all(sizes[:, 1] < 0.1 * sizes[:, 2])


# --- differential equations ---


@pytest.mark.dear
def test_ode():
    ts = np.linspace(0.0, 1.0, 4)
    observed = ode.solve(np.log([1.0, 0.5, 1.5, 0.4]), np.array([3.0, 1.5]), ts)
    params = {"log_rates": np.log([0.9, 0.6, 1.3, 0.5]), "log_y0": np.log([2.5, 1.2])}
    check_grads(ode.loss, (params, ts, observed), order=2)


@pytest.mark.dear
def test_neural_ode(rng):
    y0, ts, observed = ode.spiral(40)
    params = [(rng.standard_normal((m, n)), rng.standard_normal(n)) for m, n in ((2, 4), (4, 2))]
    check_grads(ode.neural_loss, (params, y0, ts[:5], observed[:5]), argnums=0, order=2)


@pytest.mark.dear
def test_ode_finds_the_rates():
    losses, rates = ode.fit()
    assert losses[-1] < 1e-4 * losses[0]
    np.testing.assert_allclose(rates, [1.0, 0.5, 1.5, 0.4], rtol=0.02)


# --- mixtures ---


@pytest.mark.dear
def test_mixture(rng):
    data, _ = mixture.clusters(3)
    params = mixture.init_params(3, 2, rng)
    check_grads(mixture.log_likelihood, (params, data), order=2)
    flat, unflatten = mixture.flatten(params)
    check_grads(lambda z: mixture.log_likelihood(unflatten(z), data), (flat,))


@pytest.mark.dear
def test_mixture_in_a_list(rng):
    theta = [(0.1, 0.5, 0.2), (0.3, -1.0, -0.1)]
    check_grads(mixture.nll_of_list, (theta, rng.standard_normal(6)), order=2)


@pytest.mark.dear
def test_mixture_finds_the_clusters():
    result, means = mixture.fit()
    _, centres = mixture.clusters()
    np.testing.assert_allclose(means, centres[[2, 0, 1]], atol=0.2)
    assert np.max(np.abs(result.jac)) < 1e-2


# --- Hamiltonian Monte Carlo ---


@pytest.mark.dear
def test_hmc(rng):
    x, y = hmc.data(12)
    potential = hmc.potential(x, y)
    check_grads(potential, (rng.standard_normal(3),), order=2)
    q, p = rng.standard_normal((2, 3))
    check_grads(hmc.energy_after, (0.2, q, p, potential), argnums=(0, 1, 2))


@pytest.mark.dear
def test_hmc_samples_the_posterior():
    samples, accepted = hmc.sample()
    assert accepted > 0.9
    x, y = hmc.data()
    mode = np.zeros(3)
    for _ in range(20):  # Newton's method
        p = 1.0 / (1.0 + np.exp(-x @ mode))
        precision = (x.T * (p * (1.0 - p))) @ x + np.eye(3)
        mode = mode - np.linalg.solve(precision, grad(hmc.potential(x, y))(mode))
    deviations = np.sqrt(np.diag(np.linalg.inv(precision)))
    assert np.all(np.abs(samples[50:].mean(axis=0) - mode) < 0.5 * deviations)
    np.testing.assert_allclose(samples[50:].std(axis=0), deviations, rtol=0.25)


# --- networks of pairs ---


@pytest.mark.dear
@pytest.mark.parametrize("predict", [mlp.predict, mlp.predict_jax])
def test_mlp(predict, rng):
    x, y = mlp.pinwheel(6)
    params = mlp.init_random_params([2, 4, 3], rng)
    order = 2 if predict is mlp.predict else 1
    check_grads(lambda p: mlp.loss(p, (x, y), predict=predict), (params,), order=order)
    check_grads(mlp.loss, (params, (x, y)), argnums=0)


@pytest.mark.dear
def test_mlp_learns():
    losses, accuracy = mlp.train()
    assert losses[-1] < 0.2 * losses[0]
    assert accuracy > 0.95


# --- gradients of training ---


@pytest.mark.dear
def test_hyper(rng):
    train, valid = hyper.data()
    params = {"log_penalty": rng.standard_normal(5), "log_rate": -3.0}
    check_grads(hyper.hyper_objective, (params, rng.standard_normal(5), train, valid, 4), argnums=(0, 1))


@pytest.mark.dear
def test_maml(rng):
    check_grads(hyper.maml_objective, (rng.standard_normal(5), [hyper.data(s, 8) for s in (1, 2)]), argnums=0)


@pytest.mark.dear
def test_learned_schedule(rng):
    x = rng.standard_normal((8, 3))
    args = np.log([0.3, 0.2, 0.1]), 0.5, rng.standard_normal(3), x, np.sign(x[:, 0] + 0.3)
    check_grads(hyper.learned_schedule, args, argnums=(0, 1, 2), order=2)


@pytest.mark.dear
def test_hyperparameters_are_tuned():
    values, hyper_params = hyper.tune()
    assert values[-1] < 0.5 * values[0]
    assert np.all(hyper_params["log_penalty"][:2] < hyper_params["log_penalty"][2:].min())


# --- dataclasses ---


@pytest.fixture
def points(rng):
    """The joints of a chain."""
    return np.column_stack([0.8 * np.arange(1.0, 5.0), rng.standard_normal(4)])


@pytest.mark.dear
def test_springs(points):
    chain = springs.Chain(np.full(5, 50.0), np.full(4, 0.5))
    check_grads(lambda x: springs.energy(x, chain), (points,))
    check_grads(springs.energy_of_parameters, (chain.stiffness, chain.mass, 1.1, points), order=2)
    x_bar, chain_bar = grad(springs.energy, (0, 1))(points, chain)
    direct = grad(springs.energy_of_parameters, (0, 1, 2, 3))(chain.stiffness, chain.mass, chain.rest, points)
    assert isinstance(chain_bar, springs.Chain)
    for ours, known in zip((chain_bar.stiffness, chain_bar.mass, chain_bar.rest, x_bar), direct, strict=True):
        np.testing.assert_allclose(ours, known, rtol=1e-12)
    assert chain_bar.gravity == pytest.approx(np.sum(chain.mass * points[:, 1]))


@pytest.mark.dear
def test_valley(rng):
    valley, x = springs.Valley(2.0, 30.0), rng.standard_normal(5)
    check_grads(lambda x, valley: valley(x), (x, valley), argnums=0, order=2)
    np.testing.assert_array_equal(grad(valley)(x), grad(lambda x, valley: valley(x))(x, valley))


@pytest.mark.dear
def test_states_that_make_states(rng):
    check_grads(springs.travelled, (2.0, rng.standard_normal(3)), order=2)


@pytest.mark.dear
def test_chain_hangs():
    values, force, points = springs.hang()
    assert values[-1] < values[0] - 20.0
    assert force < 1e-4
    np.testing.assert_allclose(points[:, 1], points[::-1, 1], atol=1e-6)
