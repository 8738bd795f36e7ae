"""The moving baseline of hard attention, and what is refused."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.conftest import draws_without_chance  # noqa: F401
from tests.contracts.subjects import build, values_of
from tests.contracts.tasks import TASKS, Batch
from zoo.models.captioning import PixelCaptioner, ShowAttendTell
from zoo.models.core.registry import find_model
from zoo.training.distribution import make_strategy

EXAMPLES = 5


def captioner(name="ShowAttendTell", **options):
    return build(find_model(name), attention="hard", scale=0.3, **options)


def mean_rewards(model, batch):
    """Log p(y | s, a) of each word, the mean over each caption: (B,)."""
    logits = model(batch.inputs, training=True)["logits"]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(batch.targets, logits)
    real = batch.targets != 0
    return -np.sum(losses * real, axis=1) / real.sum(axis=1)


@pytest.mark.usefixtures("draws_without_chance")
def test_a_step_reads_the_baseline_and_then_moves_it_by_the_mean_reward_of_the_batch():
    model, batch = captioner(), Batch(TASKS["captioning"].examples(EXAMPLES))
    model.baseline.assign(-2.0)
    model.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    rewards, before = mean_rewards(model, batch), float(model.baseline)
    outputs = model.forward(batch.inputs, batch.targets)
    np.testing.assert_array_equal(outputs["baselines"], [before] * EXAMPLES)
    np.testing.assert_allclose(model.baseline, 0.9 * before + 0.1 * rewards.mean(), rtol=1e-5)
    for _ in range(2):
        rewards, before = mean_rewards(model, batch), float(model.baseline)
        model.train_on_batch(batch.inputs, batch.targets)
        np.testing.assert_allclose(model.baseline, 0.9 * before + 0.1 * rewards.mean(), rtol=1e-5)
    before = float(model.baseline)
    model.evaluate(batch.inputs, batch.targets, verbose=0)
    model(batch.inputs, training=True)
    assert float(model.baseline) == before


def test_no_gradient_trains_the_baseline_and_it_is_saved_with_the_model(tmp_path):
    model = captioner()
    assert all(one is not model.baseline for one in model.trainable_weights)
    fresh = ShowAttendTell.from_preset("tiny", attention="hard")
    fresh.build()
    assert float(fresh.baseline) == 0.0
    model.baseline.assign(-1.25)
    model.save(tmp_path / "model.keras")
    assert float(keras.saving.load_model(tmp_path / "model.keras").baseline) == -1.25
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(model=fresh).read(path).expect_partial()
    assert float(fresh.baseline) == -1.25


@pytest.mark.usefixtures("draws_without_chance")
def test_two_devices_move_weights_and_baseline_as_one_does():
    """Five captions: two on one device, three on the other."""
    batch = Batch(TASKS["captioning"].examples(EXAMPLES))
    found = []
    for devices in (None, ["CPU:0", "CPU:1"]):
        strategy = make_strategy("none") if devices is None else make_strategy("mirrored", devices)
        with strategy.scope():
            model = captioner(reward_scale=1.0, soft_probability=0.3)
            model.compile(keras.optimizers.SGD(0.5), run_eagerly=False)
        data = tf.data.Dataset.from_tensor_slices((batch.inputs, batch.targets)).batch(EXAMPLES)
        model.fit(data.repeat(3), verbose=0)
        found.append(values_of(model))
    start = values_of(captioner(reward_scale=1.0, soft_probability=0.3))
    assert abs(found[0]["baseline"] - start["baseline"]) > 1e-3
    for name, value in found[0].items():
        np.testing.assert_allclose(found[1][name], value, rtol=1e-5, atol=1e-6, err_msg=name)


def test_hard_attention_takes_whole_batches():
    with pytest.raises(ValueError, match="accumulate must be 1 with hard attention, got 2"):
        captioner().compile("sgd", accumulate=2)
    ShowAttendTell.from_preset("tiny").compile("sgd", accumulate=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attention": "firm"}, r"attention must be one of \['soft', 'hard'\], got 'firm'"),
        ({"grid": (0, 3)}, r"grid\[0\] must be a positive integer, got 0"),
        ({"init_layers": 3}, r"init_layers must be one of \[1, 2\], got 3"),
        ({"coin": "word"}, "coin must be one of"),
        ({"reward": "max"}, "reward must be one of"),
        ({"biases": "none"}, "biases must be one of"),
        ({"output_activation": "relu"}, "output_activation must be one of"),
        ({"doubly_stochastic": -1.0}, "doubly_stochastic must be at least 0 and finite, got -1.0"),
        ({"entropy_weight": float("nan")}, "entropy_weight must be at least 0 and finite, got nan"),
        ({"soft_probability": 1.0}, "soft_probability must be at least 0 and less than 1, got 1"),
        ({"vocabulary_size": 0}, "vocabulary_size must be a positive integer, got 0"),
    ],
)
def test_arguments_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ShowAttendTell.from_preset("tiny", **options)


def test_images_of_another_size_are_refused():
    target = np.array([[2, 4]], "int32")
    with pytest.raises(ValueError, match=r"annotations must have the shape \(batch, 6, 4\), got"):
        ShowAttendTell.from_preset("tiny")({"annotations": np.zeros((2, 3, 4)), "target": target})
    with pytest.raises(ValueError, match=r"image must have the shape \(batch, 9, 16, 1\), got"):
        PixelCaptioner.from_preset("tiny")({"image": np.zeros((1, 9, 15, 1)), "target": target})
    with pytest.raises(ValueError, match=r"image_size\[1\] must be a positive integer, got 0"):
        PixelCaptioner.from_preset("tiny", image_size=(8, 0))


def test_a_cell_is_eight_pixels_wide_and_high():
    for size, grid in (((15, 24), (2, 3)), ((16, 25), (2, 4)), ((1, 8), (1, 1))):
        assert PixelCaptioner.from_preset("tiny", image_size=size).grid == grid


def test_pictures_have_their_channels_last_whatever_keras_is_set_to(monkeypatch):
    image = np.random.default_rng(0).random((2, 16, 24, 1), "float32")
    inputs = {"image": image, "target": np.array([[2, 4], [2, 5]], "int32")}
    sizes = {"image_size": (16, 24), "channels": 1}
    model = PixelCaptioner.from_preset("tiny", **sizes)
    expected = model(inputs)["logits"]
    monkeypatch.setattr(keras.src.backend.config, "_IMAGE_DATA_FORMAT", "channels_first")
    assert keras.config.image_data_format() == "channels_first"
    other = PixelCaptioner.from_preset("tiny", **sizes)
    other.build()
    other.set_weights(model.get_weights())
    np.testing.assert_array_equal(other(inputs)["logits"], expected)
