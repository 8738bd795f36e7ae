"""Cost of an LSTMN's tape by text length, and compared with a plain LSTM.

The first table is for the layer alone, forward and backward to the gradients of its inputs and
weights, by length and window. With a window the time per word does not depend on the length;
without one it grows with it. The second is for a whole training step of the language model, as in
the recipe, compared with the same model on a Keras LSTM.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from zoo.benchmarks.timing import WARM_UP_STEPS, Timed, fastest, limit_threads
from zoo.training.bounds import Count

if TYPE_CHECKING:
    import tensorflow as tf

    from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
    from zoo.tasks.language_model.examples import SegmentBatches

BY_LENGTH, WHOLE_STEP = "microseconds a word, training the layer", "training step"
FIRST_WORD = 4  # after the special ids


@dataclass(frozen=True)
class TapeSpeed(Timed):
    """Tables of time per word by text length and window, and of whole steps against an LSTM."""

    lengths: tuple[Count, ...] = (50, 100, 200, 400)
    """Words T of a text, of the first table."""
    windows: tuple[Count, ...] = (10, 50)
    """Windows of the first table, before "all"."""
    batch_size: Count = 40
    """Rows that are read in parallel."""
    embedding_dim: Count = 150
    """Size of a word vector."""
    hidden_dim: Count = 300
    """Hidden size."""
    vocabulary_size: Count = 10_000
    """Words of the softmax."""
    segment_length: Count = 35
    """Words of a row in a step of the second table."""
    carried_slots: Count = 10
    """Slots carried into a step of the second table, in its row "carried"."""
    steps: Count = 40
    """Steps of the second table after ten to warm up; the fastest counts."""
    calls: Count = 8
    """Calls of the first table after two to warm up; the fastest counts."""

    def measure(self) -> dict[str, dict[str, dict[str, float]]]:
        """Returns figures by table, row and column."""
        limit_threads(self.threads)
        return {BY_LENGTH: self._by_length(), WHOLE_STEP: self._whole_steps()}

    def _by_length(self) -> dict[str, dict[str, float]]:
        import tensorflow as tf

        table: dict[str, dict[str, float]] = {}
        for window in (*self.windows, None):
            train = layer_function(self, window)
            row = table[f"window {window or 'all'}"] = {}
            for length in self.lengths:
                shape = (self.batch_size, length, self.embedding_dim)
                values = tf.random.stateless_normal(shape, (0, 0))
                call = partial(_wait, train, values)
                seconds = fastest(call, self.calls, self.clock)
                row[f"T = {length}"] = 1e6 * seconds / (self.batch_size * length)
        return table

    def _whole_steps(self) -> dict[str, dict[str, float]]:
        models = {
            "Keras LSTM": plain_model(self),
            "LSTMN": make_model(self),
            "LSTMN, carried": make_model(self, self.carried_slots),
        }
        seconds = {}
        for name, model in models.items():
            step = training_step(self, model)
            seconds[name] = fastest(step, self.steps, self.clock, warm_up=WARM_UP_STEPS)
        plain = seconds["Keras LSTM"]
        return {
            name: {"ms": 1000 * value, "times the LSTM's": value / plain}
            for name, value in seconds.items()
        }


def layer_function(
    settings: TapeSpeed, window: int | None
) -> "Callable[[tf.Tensor], list[tf.Tensor]]":
    """Makes a function of words (B, T, m) that returns gradients of them and of the weights."""
    import tensorflow as tf

    from zoo.models.lstmn.lstmn import LSTMN

    layer = LSTMN(settings.hidden_dim, window=window)
    layer.build((None, None, settings.embedding_dim))
    weights = [weight.value for weight in layer.trainable_weights]
    words = tf.TensorSpec([settings.batch_size, None, settings.embedding_dim])

    @tf.function(input_signature=[words], autograph=False)
    def train(values: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(values)
            hidden = layer(values, tf.ones(tf.shape(values)[:2], tf.bool)).hidden
            loss = tf.reduce_sum(hidden * hidden)
        gradients: list[tf.Tensor] = tape.gradient(loss, [values, *weights])
        return gradients

    return train


def _wait(function: "Callable[[tf.Tensor], list[tf.Tensor]]", values: "tf.Tensor") -> None:
    function(values)[0].numpy()


def make_model(settings: TapeSpeed, carried_slots: int = 0) -> "LSTMNLanguageModel":
    """Makes the language model, compiled as in its recipe, optionally carrying slots."""
    from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
    from zoo.tasks.language_model.examples import StateCarrier

    model = LSTMNLanguageModel(**_arguments(settings))
    model.build()
    if carried_slots:
        model.carry = StateCarrier(model, settings.batch_size, carried_slots)
    return _compiled(model)


def plain_model(settings: TapeSpeed) -> "LSTMNLanguageModel":
    """Makes the same model with a Keras LSTM that carries its state."""
    import keras

    from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel

    class PlainLanguageModel(LSTMNLanguageModel):
        """Word vectors, a Keras LSTM and a softmax."""

        def build(self, *_: Any) -> None:
            """Creates every weight."""
            self.lstm = keras.layers.LSTM(self.hidden_dim, return_sequences=True, stateful=True)
            self.lstm.build((settings.batch_size, None, self.embedding_dim))
            self.embedding.build()
            softmax: Any = self.output_layer
            softmax.build((None, self.hidden_dim))
            self.built = True

        def call(self, inputs: dict[str, Any], training: bool = False) -> dict[str, Any]:
            """Computes logits (B, T, V) from ``text`` (B, T)."""
            hidden = self.lstm(self.embedding(inputs["text"]), training=training)
            return {"logits": self.project(hidden)}

    model = PlainLanguageModel(**_arguments(settings))
    model.build()
    return _compiled(model)


def _arguments(settings: TapeSpeed) -> dict[str, Any]:
    return {
        "vocabulary_size": settings.vocabulary_size,
        "embedding_dim": settings.embedding_dim,
        "hidden_dim": settings.hidden_dim,
        "loss_normaliser": "sentences",
    }


def _compiled(model: "LSTMNLanguageModel") -> "LSTMNLanguageModel":
    import keras

    model.compile(keras.optimizers.SGD(0.65, global_clipnorm=5.0))
    return model


def training_step(settings: TapeSpeed, model: "LSTMNLanguageModel") -> Callable[[], None]:
    """Makes a call that runs the next training step and returns when it is done."""
    steps = iter(generated_segments(settings).training(epoch=0).repeat())
    model.make_train_function()

    def step() -> None:
        model.train_function(steps)
        model.optimizer.iterations.numpy()

    return step


def generated_segments(settings: TapeSpeed) -> "SegmentBatches":
    """Generates eight segments of random words."""
    import numpy as np

    from zoo.tasks.language_model.examples import SegmentBatches

    count = 8 * settings.batch_size * settings.segment_length
    ids = np.random.default_rng(0).integers(FIRST_WORD, settings.vocabulary_size, count)
    return SegmentBatches(ids.astype("int32"), settings.batch_size, settings.segment_length)
