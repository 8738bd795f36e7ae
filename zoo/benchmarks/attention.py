"""Cost of a step of global and local attention, by source length.

It measures a step of ``LuongTranslator`` (preset ``small``, score "general") from a given memory,
with a vocabulary too small to matter. Decoding returns the alignment over the whole source, as a
search does. Training is the step forward and backward, including the gradient of the memory, which
is as long as the source for every mechanism.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from zoo.benchmarks.timing import Timed, fastest, limit_threads
from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel

MECHANISMS = ("global", "local_m", "local_p")
VOCABULARY_SIZE = 100
HALF_WIDTH = 10


@dataclass(frozen=True)
class AttentionSpeed(Timed):
    """Table of milliseconds per step of global and local attention, decoding and training."""

    lengths: tuple[Count, ...] = (50, 100, 200, 500, 1000)
    """Tokens of the source."""
    batch_size: Count = 32
    """Sentences."""
    steps: Count = 40
    """Tokens of the target."""
    calls: Count = 8
    """Calls measured after two to warm up; the fastest counts."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Returns milliseconds per step, by mechanism and use, and by length."""
        limit_threads(self.threads)
        figures: dict[str, dict[str, float]] = {}
        for mechanism in MECHANISMS:
            model = make_model(mechanism)
            for length in self.lengths:
                for use, call in make_calls(self, model, length).items():
                    row = figures.setdefault(f"{mechanism}, {use}, ms a step", {})
                    seconds = fastest(call, self.calls, self.clock)
                    row[f"S = {length}"] = 1000 * seconds / self.steps
        return figures


def make_model(mechanism: str) -> "SequenceToSequenceModel":
    """Makes a built model with random weights."""
    from zoo.models.luong.luong import LuongTranslator

    model = LuongTranslator.from_preset(
        "small",
        source_vocabulary_size=VOCABULARY_SIZE,
        target_vocabulary_size=VOCABULARY_SIZE,
        mechanism=mechanism,
        half_width=HALF_WIDTH,
    )
    model.build()
    return model


def make_calls(
    settings: AttentionSpeed, model: "SequenceToSequenceModel", length: int
) -> dict[str, Callable[[], Any]]:
    """Makes the functions to time, by use; each returns when it is done."""
    import tensorflow as tf

    from zoo.layers.recurrence import scan

    draw = partial(tf.random.stateless_uniform, dtype=tf.int32, minval=4, maxval=VOCABULARY_SIZE)
    ids = draw((settings.batch_size, length), (0, 1))
    tokens = draw((settings.batch_size, settings.steps), (0, 2))
    memory = model.encode({"source": ids})

    @tf.function(autograph=False)
    def decode(memory: dict[str, tf.Tensor]) -> Any:
        def step(tokens: Any, state: Any) -> tuple[Any, Any]:
            logits, state, attention = model.step(tokens, state, memory)
            return (logits, attention["alignment"]), state

        return scan(step, tokens, model.initial_state(memory))[0]

    @tf.function(autograph=False)
    def train(memory: dict[str, tf.Tensor]) -> Any:
        learned = [values for values in memory.values() if values.dtype.is_floating]

        def step(inputs: Any, state: Any) -> tuple[Any, Any]:
            features, state, _ = model.advance(inputs, state, memory)
            return features, state

        with tf.GradientTape() as tape:
            tape.watch(learned)
            features, _ = scan(step, model.embed(tokens), model.initial_state(memory))
            loss = sum(tf.reduce_sum(part * part) for part in tf.nest.flatten(features))
        learned += [weight.value for weight in model.trainable_weights]
        return [g for g in tape.gradient(loss, learned) if g is not None]

    return {"decoding": _waiting(decode, memory), "training": _waiting(train, memory)}


def _waiting(function: Callable[[Any], Any], memory: Any) -> Callable[[], None]:
    """Makes a call that returns when the first result is ready."""

    def call() -> None:
        function(memory)[0].numpy()

    return call
