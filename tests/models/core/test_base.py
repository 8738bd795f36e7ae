"""The loss, the metrics and the steps that all models share, on a model of one weight."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from zoo.models.core.base import BaseModel

X = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0], [5.0, 6.0, 0.0]], "float32")  # 0 is padding
Y = np.array([[2.0, 0.0, 1.0], [1.0, 9.0, 9.0], [0.0, 3.0, 9.0]], "float32")
UNITS = np.array([3.0, 1.0, 2.0])
SLOPE, L2 = 0.5, 0.25


@keras.saving.register_keras_serializable(package="tests")
class Slope(BaseModel):
    """y = w x at every position that is not padding; a unit is a position."""

    PRESETS = {"paper": {"l2": L2}, "tiny": {}}  # noqa: RUF012

    def __init__(self, l2=0.0, slope=SLOPE, **kwargs):
        super().__init__(**kwargs)
        self.l2 = l2
        self.slope = slope

    def build(self, *_):
        self.weight = self.add_weight(
            shape=(),
            initializer=keras.initializers.Constant(self.slope),
            regularizer=keras.regularizers.L2(self.l2) if self.l2 else None,
            name="weight",
        )
        self.built = True

    def call(self, inputs, training=False):
        real = ops.cast(inputs["x"] != 0.0, "float32")
        y = self.weight * inputs["x"]
        return {"y": y, "real": real, "attention": {}}

    def example_losses(self, targets, outputs):
        squares = ops.square(outputs["y"] - targets["y"]) * outputs["real"]
        return ops.sum(squares, axis=1), ops.sum(outputs["real"], axis=1)


def make(optimizer="sgd", **arguments):
    model = Slope(**arguments)
    model.build()
    model.compile(optimizer)
    return model


def squares(slope=SLOPE):
    """The summed loss of each example."""
    return np.sum(np.square(slope * X - Y) * (X != 0.0), axis=1)


def slope_gradient(rows=slice(None), slope=SLOPE):
    """The gradient of the mean over the units of these rows."""
    sums = np.sum(2.0 * (slope * X - Y) * X, axis=1)[rows]
    return sums.sum() / UNITS[rows].sum()


def batches(size, *arrays):
    return tf.data.Dataset.from_tensor_slices(({"x": X}, {"y": Y}, *arrays)).batch(size)


def loss_of(model, rows=slice(None), sample_weight=None):
    inputs, targets = {"x": X[rows]}, {"y": Y[rows]}
    return float(model.compute_loss(inputs, targets, model(inputs), sample_weight))


def test_the_loss_is_the_mean_over_units_not_over_examples():
    np.testing.assert_allclose(loss_of(make()), squares().sum() / UNITS.sum(), rtol=1e-6)


def test_regularisation_is_added_once_to_the_mean_in_loss_and_log():
    penalty = L2 * SLOPE**2
    expected = squares().sum() / UNITS.sum() + penalty
    model = make(l2=L2)
    np.testing.assert_allclose(loss_of(model), expected, rtol=1e-6)
    # Batches of 4 and of 2 units: each counts by its units, the penalty by nothing.
    scores = model.evaluate(batches(2), verbose=0, return_dict=True)
    np.testing.assert_allclose(scores["loss"], expected, rtol=1e-6)


def test_examples_are_weighted_and_still_divided_by_their_units():
    weights = np.array([0.5, 0.0, 2.0], "float32")
    expected = np.sum(weights * squares()) / UNITS.sum()
    model = make()
    np.testing.assert_allclose(loss_of(model, sample_weight=weights), expected, rtol=1e-6)
    scores = model.evaluate(batches(2, weights), verbose=0, return_dict=True)
    np.testing.assert_allclose(scores["loss"], expected, rtol=1e-6)


def test_fit_weights_examples_too():
    weights = np.array([0.0, 1.0, 0.0], "float32")
    model = make(keras.optimizers.SGD(0.1))
    model.fit(batches(3, weights), shuffle=False, verbose=0)
    gradient = 2.0 * (SLOPE * 4.0 - 1.0) * 4.0 / UNITS.sum()
    np.testing.assert_allclose(model.weight, SLOPE - 0.1 * gradient, rtol=1e-6)


def test_a_batch_without_a_unit_has_no_loss():
    model = make(l2=L2)
    nothing = {"x": np.zeros((2, 3), "float32")}
    loss = model.compute_loss(nothing, {"y": Y[:2]}, model(nothing))
    np.testing.assert_allclose(loss, L2 * SLOPE**2, rtol=1e-6)


@pytest.mark.parametrize("argument", [{"loss": "mse"}, {"loss_weights": {"y": 2.0}}])
def test_compile_takes_no_loss(argument):
    (name,) = argument
    with pytest.raises(ValueError, match=f"^{name} must be None, got .*: the model has its own"):
        Slope().compile("sgd", **argument)


def test_compile_leaves_xla_off():
    model = Slope()
    model.compile()
    assert model.jit_compile is False
    assert type(model.optimizer) is keras.optimizers.Adam
    model.compile("sgd", jit_compile=True, loss=None)
    assert model.jit_compile is True


@pytest.mark.parametrize("argument", ["metrics", "weighted_metrics"])
def test_an_output_without_a_target_has_no_metric(argument):
    model = make()
    model.compile("sgd", **{argument: {"y": "mae", "real": "mae"}})
    message = rf"^{argument} must name some of \['y'\], got \['real'\]"
    with pytest.raises(ValueError, match=message):
        model.evaluate(batches(3), verbose=0)


def test_metrics_see_the_outputs_that_have_targets():
    model = make()
    model.compile("sgd", metrics={"y": "mae"})
    scores = model.evaluate(batches(2), verbose=0, return_dict=True)
    (name,) = scores.keys() - {"loss"}
    np.testing.assert_allclose(scores[name], np.abs(SLOPE * X - Y).mean(), rtol=1e-6)


def two_steps(optimizer, replicas, **arguments):
    """The weight after a batch of two examples and one of a single one; the logged loss."""
    strategy = tf.distribute.get_strategy()
    if replicas > 1:
        strategy = tf.distribute.MirroredStrategy(
            [f"CPU:{number}" for number in range(replicas)],
            cross_device_ops=tf.distribute.ReductionToOneDevice(),
        )
    with strategy.scope():
        model = Slope(**arguments)
        model.build()
        model.compile(optimizer, run_eagerly=True)
    history = model.fit(batches(2), shuffle=False, verbose=0).history
    return float(model.weight.numpy()), history["loss"][0]


RATE, LIMIT = 0.01, 2.0
OPTIMIZERS = {
    "clipnorm": lambda: keras.optimizers.SGD(RATE, clipnorm=LIMIT),
    "clipvalue": lambda: keras.optimizers.SGD(RATE, clipvalue=LIMIT),
    "global_clipnorm": lambda: keras.optimizers.SGD(RATE, global_clipnorm=LIMIT),
    "scaled": lambda: keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(RATE, global_clipnorm=LIMIT), initial_scale=1024.0
    ),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("replicas", [1, 2])
def test_gradients_are_clipped_after_they_were_summed(kind, replicas):
    slope = SLOPE
    for rows in (slice(0, 2), slice(2, 3)):
        gradient = slope_gradient(rows, slope)
        assert abs(gradient) > LIMIT
        slope -= RATE * LIMIT * np.sign(gradient)
    weight, _ = two_steps(OPTIMIZERS[kind](), replicas)
    np.testing.assert_allclose(weight, slope, rtol=1e-6)


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_regularisation_counts_once_on_any_number_of_devices(replicas):
    slope, losses = SLOPE, []
    for rows in (slice(0, 2), slice(2, 3)):
        losses.append(squares(slope)[rows].sum() + L2 * slope**2 * UNITS[rows].sum())
        slope -= RATE * (slope_gradient(rows, slope) + 2.0 * L2 * slope)
    weight, loss = two_steps(keras.optimizers.SGD(RATE), replicas, l2=L2)
    np.testing.assert_allclose(weight, slope, rtol=1e-6)
    np.testing.assert_allclose(loss, sum(losses) / UNITS.sum(), rtol=1e-6)


class Seen(Slope):
    """Remembers how many examples it is given at a time."""

    def call(self, inputs, training=False):
        self.rows.append(inputs["x"].shape[0])
        return super().call(inputs, training)


def step(accumulate, eagerly=True, size=3, metrics=None, kind="global_clipnorm", model=Slope):
    """A model, not built before, after an epoch, and what that logged."""
    model = model(l2=L2)
    model.rows = []
    model.compile(OPTIMIZERS[kind](), metrics=metrics, run_eagerly=eagerly, accumulate=accumulate)
    weights = np.array([1.0, 2.0, 0.5], "float32")
    history = model.fit(batches(size, weights), shuffle=False, verbose=0).history
    return model, float(model.weight.numpy()), history


@pytest.mark.parametrize(
    ("kind", "eagerly"), [("global_clipnorm", True), ("unclipped", True), ("scaled", False)]
)
def test_a_step_in_parts_is_that_of_the_batch(kind, eagerly, monkeypatch):
    monkeypatch.setitem(OPTIMIZERS, "unclipped", lambda: keras.optimizers.SGD(RATE))
    _, expected, log = step(1, eagerly, kind=kind, metrics={"y": "mae"})
    for parts in (2, 8):
        _, weight, found = step(parts, eagerly, kind=kind, metrics={"y": "mae"})
        np.testing.assert_allclose(weight, expected, rtol=1e-6)
        assert {name: pytest.approx(values, rel=1e-6) for name, values in log.items()} == found


def test_parts_are_equal_but_for_the_last_and_none_is_empty():
    for parts, rows in ((1, [3]), (2, [2, 1]), (3, [1, 1, 1]), (100, [1, 1, 1])):
        assert step(parts, model=Seen)[0].rows == rows


@pytest.mark.parametrize(("accumulate", "eagerly"), [(1, True), (1, False), (2, False)])
def test_a_frozen_model_is_left_as_it_is_with_a_warning(accumulate, eagerly):
    model = Slope(trainable=False)
    model.compile("adam", run_eagerly=eagerly, accumulate=accumulate)
    with pytest.warns(UserWarning, match="The model does not have any trainable weights"):
        history = model.fit(batches(3), shuffle=False, verbose=0).history
    assert model.weight.numpy() == SLOPE
    np.testing.assert_allclose(history["loss"], [squares().sum() / UNITS.sum()], rtol=1e-6)


def test_a_compiled_model_remembers_its_parts(tmp_path):
    model = step(2)[0]
    model.save(tmp_path / "model.keras")
    assert keras.saving.load_model(tmp_path / "model.keras").accumulate == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"accumulate": 0}, "accumulate must be a positive integer, got 0"),
        ({"accumulate": 2, "jit_compile": True}, "accumulate must be 1 with jit_compile, got 2"),
    ],
)
def test_parts_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Slope().compile("sgd", **arguments)


def test_parts_leave_no_activity_regularizer_out():
    model = Slope(activity_regularizer="l2")
    model.compile("sgd", accumulate=2)
    with pytest.raises(ValueError, match=r"^accumulate must be 1 with the activity_.*, got 2$"):
        model.fit(batches(3), verbose=0)


class Bag(BaseModel):
    """Sums of rows of a table: the gradient of a row lists its occurrences."""

    def build(self, *_):
        self.table = self.add_weight(shape=(3, 2), initializer="zeros", name="table")
        self.built = True

    def call(self, inputs, training=False):
        return {"sums": ops.sum(ops.take(self.table, inputs["ids"], axis=0), (1, 2))}

    def example_losses(self, targets, outputs):
        return outputs["sums"], ops.ones_like(outputs["sums"])


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        # Row 1 occurs three times: its gradient is 3, of row 2 it is 1, the norm sqrt(20).
        (keras.optimizers.SGD(1.0, global_clipnorm=1.0), [0.0, -3 / 20**0.5, -1 / 20**0.5]),
        (keras.optimizers.RMSprop(1.0, rho=0.0, epsilon=1.0), [0.0, -3 / 10**0.5, -1 / 2**0.5]),
    ],
)
def test_occurrences_of_a_word_are_added_up_before_they_are_clipped_and_squared(
    optimizer, expected
):
    model = Bag()
    model.build()
    model.compile(optimizer)
    model.train_step(({"ids": tf.constant([[1, 2, 1, 1]])}, tf.zeros(1)))
    np.testing.assert_allclose(model.table[:, 0], expected, rtol=1e-5)


def test_presets_are_completed_and_replaced_by_arguments():
    model = Slope.from_preset("paper", slope=3.0, name="mine")
    assert (model.l2, model.slope, model.name) == (L2, 3.0, "mine")
    assert Slope.from_preset("paper", l2=0.0).l2 == 0.0
    assert Slope.PRESETS["paper"] == {"l2": L2}


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match=r"preset must be one of \['paper', 'tiny'\], got 'big'"):
        Slope.from_preset("big")


def test_a_configuration_holds_every_argument():
    model = Slope(l2=L2, slope=2.0, name="renamed", dtype="float64")
    config = model.get_config()
    assert config.items() >= {"l2": L2, "slope": 2.0, "name": "renamed"}.items()
    copy = Slope.from_config(config)
    assert copy.get_config() == config
    assert copy.compute_dtype == "float64"


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_step_is_traced_once(replicas, logical_cpus, monkeypatch):
    """The variables of Adam would have it traced again, were they made while it is traced."""
    forward, traced = Slope.forward, []
    monkeypatch.setattr(Slope, "forward", lambda *a: traced.append(1) or forward(*a))
    strategy = tf.distribute.get_strategy()
    if replicas > 1:
        strategy = tf.distribute.MirroredStrategy(logical_cpus[:replicas])
    with strategy.scope():
        model = make("adam")
    model.fit({"x": X}, {"y": Y}, batch_size=len(X), epochs=2, verbose=0)
    assert len(traced) == replicas
    assert model.optimizer.iterations.numpy() == 2
