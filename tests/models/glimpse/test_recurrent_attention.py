"""The recurrent attention model: where gradients go, REINFORCE, its options and arguments."""

import math
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references.recurrent_attention import log_density as reference_log_density
from zoo.models.glimpse import RecurrentAttentionModel
from zoo.models.glimpse.location_policy import log_density, reinforcement_loss

IMAGES = np.random.default_rng(2).random((4, 6, 4, 1))
LABELS = np.array([0, 2, 1, 0])
LOCATOR, BASELINE, CLASSIFIER = {"locator"}, {"baseline"}, {"classifier"}
SEEING = {"core", "glimpse_network"}


def make(**arguments) -> RecurrentAttentionModel:
    """A tiny model with random weights, in double precision."""
    model = RecurrentAttentionModel.from_preset("tiny", dtype="float64", **arguments)
    model.build()
    generator = np.random.default_rng(1)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return model


def trained_by(model: RecurrentAttentionModel, loss_of) -> set[str]:
    """Names the parts that get a gradient of a loss of the outputs in training."""
    with tf.GradientTape() as tape:
        loss = loss_of(model({"image": IMAGES}, training=True))
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    pairs = zip(model.trainable_weights, gradients, strict=True)
    paths = [w.path.removeprefix(f"{model.name}/") for w, gradient in pairs if gradient is not None]
    return {path.split("/")[0] for path in paths}


def class_loss(outputs):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, outputs["logits"])


def policy_loss(outputs):
    samples, means = outputs["sampled_locations"][:, 1:], outputs["location_means"]
    return reinforcement_loss(samples, means, 0.3, 1.0 - outputs["baselines"])


def baseline_loss(outputs):
    return (outputs["baselines"] - 1.0) ** 2


def test_the_class_trains_all_but_the_locator_and_the_baseline():
    """A location that passed the gradient on would train the locator through what is seen."""
    assert trained_by(make(), class_loss) == SEEING | CLASSIFIER


def test_reinforcement_trains_the_locator_alone():
    """With a gradient to R - b, it would train the baseline; with one to the state, the core."""
    assert trained_by(make(), policy_loss) == LOCATOR
    assert trained_by(make(head_gradients=True), policy_loss) == LOCATOR | SEEING


def test_the_squared_error_trains_the_baseline_alone():
    assert trained_by(make(), baseline_loss) == BASELINE
    assert trained_by(make(head_gradients=True), baseline_loss) == BASELINE | SEEING


def test_reinforcement_has_the_gradient_of_the_log_density_at_the_sample_and_the_value_zero():
    generator = np.random.default_rng(0)
    means = tf.Variable(generator.normal(size=(3, 2, 2)))
    advantages = tf.Variable(generator.normal(size=(3, 2)))
    noise = generator.normal(0.0, 0.2, (3, 2, 2))
    with tf.GradientTape() as tape:
        losses = reinforcement_loss(means + noise, means, 0.2, advantages)
    np.testing.assert_array_equal(losses, np.zeros(3))
    into_means, into_advantages = tape.gradient(losses, [means, advantages])
    np.testing.assert_allclose(into_means, -advantages[..., None] * noise / 0.2**2)
    assert into_advantages is None


def test_the_log_density_is_that_of_the_unclipped_sample():
    samples, means = np.array([[[1.4, -0.2]]]), np.array([[[0.9, 0.1]]])
    expected = reference_log_density(samples[0, 0], means[0, 0], 0.3)
    np.testing.assert_allclose(log_density(samples, means, 0.3), [[expected]])
    model = make(sigma=3.0, first_location="centre")
    outputs = model({"image": IMAGES}, training=True)
    samples, seen = outputs["sampled_locations"].numpy(), outputs["locations"].numpy()
    assert np.abs(samples).max() > 1.0
    np.testing.assert_array_equal(seen, np.clip(samples, -1.0, 1.0))


class Enumeration:
    """A model of two glimpses that sees only pixels, so that 25 places are all there is.

    The place itself is hidden from it: its weights are zero.
    """

    sigma, nodes = 0.45, 16
    image = np.random.default_rng(9).random((1, 4, 4, 1))

    def __init__(self, baseline: float) -> None:
        self.model = make(
            image_size=(4, 4),
            scales=1,
            glimpses=2,
            sigma=self.sigma,
            first_location="centre",
            mean_activation="linear",
        )
        self.model.glimpse_network.where.kernel.assign(np.zeros((2, 4)))
        self.model.baseline.kernel.assign(np.zeros((5, 1)))
        self.model.baseline.bias.assign([baseline])
        self.model.locator.mean.kernel.assign(np.zeros((5, 2)))
        self.mean = self.model.locator.mean.bias
        self.mean.assign([0.2, -0.35])
        self.edges = np.array([-np.inf, -0.75, -0.25, 0.25, 0.75, np.inf])  # of the pixels
        places = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
        points = np.stack(np.meshgrid(places, places, indexing="ij"), axis=-1).reshape(-1, 2)
        logits = self.look(points)["logits"].numpy()
        self.model.classifier.bias.assign_sub(logits.mean(axis=0))  # else one class may have all
        logits = self.look(points)["logits"].numpy()
        self.label = int(np.bincount(logits.argmax(axis=-1)).argmax())
        self.rewards = (logits.argmax(axis=-1) == self.label).astype("float64").reshape(5, 5)

    def look(self, points: np.ndarray):
        """Outputs for the second glimpse at points (N, 2)."""
        noise = points - self.mean.numpy()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(keras.random, "normal", lambda *_, **__: tf.constant(noise[:, None]))
            images = np.repeat(self.image, len(points), axis=0)
            return self.model({"image": images}, training=True)

    def expected_reward(self, mean: np.ndarray) -> float:
        """E[R], from the probability of each of the 25 places."""
        below = [
            [
                0.5 * (1.0 + math.erf((edge - m) / (self.sigma * math.sqrt(2.0))))
                for edge in self.edges
            ]
            for m in mean
        ]
        rows, columns = np.diff(below)
        return float(rows @ self.rewards @ columns)

    def quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (N, 2) in all places, and their probability density times the area of each."""
        nodes, areas = np.polynomial.legendre.leggauss(self.nodes)
        axes = []
        for m in self.mean.numpy():
            ends = np.clip(self.edges, m - 8.0 * self.sigma, m + 8.0 * self.sigma)
            half, middle = np.diff(ends)[:, None] / 2, (ends[1:] + ends[:-1])[:, None] / 2
            points, widths = (middle + half * nodes).ravel(), (half * areas).ravel()
            density = np.exp(-0.5 * ((points - m) / self.sigma) ** 2)
            axes.append((points, widths * density / (self.sigma * math.sqrt(2.0 * math.pi))))
        (rows, in_rows), (columns, in_columns) = axes
        points = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
        return points, np.outer(in_rows, in_columns).ravel()


@pytest.mark.parametrize("baseline", [0.0, 0.8])
def test_the_expectation_of_reinforce_is_the_gradient_of_the_expected_reward(baseline):
    case = Enumeration(baseline)
    assert 0.0 < case.rewards.mean() < 1.0
    points, weights = case.quadrature()
    np.testing.assert_allclose(weights.sum(), 1.0, rtol=1e-9)
    with tf.GradientTape() as tape:
        outputs = case.look(points)
        losses, _ = case.model.example_losses(np.full(len(points), case.label), outputs)
        loss = tf.reduce_sum(losses * weights)
    found = -tape.gradient(loss, case.mean.value).numpy()
    mean, step = case.mean.numpy(), 1e-5
    expected = [
        (case.expected_reward(mean + side) - case.expected_reward(mean - side)) / (2.0 * step)
        for side in step * np.eye(2)
    ]
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_at_test_it_looks_at_the_centre_and_then_at_the_means():
    outputs = make()({"image": IMAGES})
    np.testing.assert_array_equal(outputs["locations"][:, 0], np.zeros((4, 2)))
    np.testing.assert_array_equal(outputs["locations"][:, 1:], outputs["location_means"])
    assert "sampled_locations" not in outputs
    drawing = make(test_locations="sample")
    first, second = (drawing({"image": IMAGES})["sampled_locations"].numpy() for _ in range(2))
    assert (first != second).all()


def test_random_locations_cover_the_image_and_need_no_locator():
    model = make(locations="random", glimpses=50)
    assert trained_by(model, class_loss) == SEEING | CLASSIFIER
    assert len(model.trainable_weights) == len(make().trainable_weights) - 4
    for training in (False, True):
        outputs = model({"image": IMAGES}, training=training)
        locations = outputs["locations"].numpy()
        assert -1.0 <= locations.min() < -0.9 < 0.9 < locations.max() <= 1.0
        assert len(np.unique(locations)) == locations.size
        losses, _ = model.example_losses(LABELS, outputs)
        np.testing.assert_allclose(losses, class_loss(outputs), rtol=1e-9)
    single = make(locations="random", glimpses=1)
    assert single({"image": IMAGES})["locations"].shape == (4, 1, 2)


def test_the_first_location_of_training_is_drawn_or_the_centre():
    drawn = make()({"image": IMAGES}, training=True)["locations"][:, 0].numpy()
    assert len(np.unique(drawn)) == drawn.size
    centre = make(first_location="centre")({"image": IMAGES}, training=True)["locations"][:, 0]
    np.testing.assert_array_equal(centre, np.zeros((4, 2)))


@pytest.mark.parametrize("size", [(5, 9), (20, 3)])
def test_images_may_have_any_size_and_any_channels(size):
    model = make(image_size=None, channels=3)
    outputs = model({"image": np.random.default_rng(0).random((2, *size, 3))})
    assert outputs["attention"]["glimpses"].shape == (2, 3, *size)
    assert outputs["seen"].shape == (2, 3, 2, 2, 2, 3)


@pytest.mark.parametrize("shape", [(8, 4, 6, 1), (8, 6, 4, 3), (6, 4, 1)])
def test_images_of_another_size_are_refused(shape):
    message = r"image must have the shape \(batch, 6, 4, 1\), got "
    with pytest.raises(ValueError, match=message + re.escape(str(shape))):
        make()({"image": np.zeros(shape)})
    with pytest.raises(ValueError, match=r"shape \(batch, None, None, 1\), got \(2, 9, 9, 3\)"):
        make(image_size=None)({"image": np.zeros((2, 9, 9, 3))})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"glimpses": 0}, "glimpses must be a positive integer, got 0"),
        ({"glimpses": 1}, "glimpses must be at least 2 with learned locations, got 1"),
        ({"glimpse_size": 1}, "glimpse_size must be at least 2, got 1"),
        ({"locator_dim": 0}, "locator_dim must be a positive integer, got 0"),
        ({"image_size": (3, 0)}, r"image_size\[1\] must be a positive integer, got 0"),
        ({"sigma": 0.0}, "sigma must be positive and finite, got 0.0"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1, got 1.0"),
        ({"locations": "fixed"}, "locations must be one of .*, got 'fixed'"),
        ({"test_locations": "mode"}, "test_locations must be one of .*, got 'mode'"),
        ({"first_location": "left"}, "first_location must be one of .*, got 'left'"),
        ({"mean_activation": "relu"}, "mean_activation must be one of .*, got 'relu'"),
    ],
)
def test_arguments_out_of_bounds_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        RecurrentAttentionModel(**arguments)
