"""A text as a stream of words in segments, and states that go on from one segment to the next.

The stream is the words of all lines, each followed by ``</s>``; it begins after a ``</s>``. It is
cut into as many rows as a batch has, which are read side by side, segment by segment. A segment
begins with the states that the one before it ended with; no gradient flows through them, and they
have at most so many slots.

Shape letters: B rows, T words of a segment, K slots carried.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from zoo.metrics.translation import perplexity
from zoo.text.batching import without_tuning
from zoo.text.vocabulary import END, SPECIAL_WORDS, UNKNOWN

State = dict[str, tf.Tensor]
"""Memory of one layer: name -> tensor (B, ...)."""
_TOKENS_A_ROW = 64  # at least, of an evaluation


class Stream(NamedTuple):
    """A text to be predicted, word by word."""

    ids: np.ndarray
    """int32 (N,), every line's words and the end of the line."""
    unknown: int
    """How many of them are outside of the vocabulary."""


def encode_lines(lines: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> Stream:
    """Numbers the words of a text.

    Args:
        lines: the words of every line.
        vocabulary: all words, the special ones first, in the order of their ids.

    Raises:
        ValueError: if there is no line.
    """
    if not lines:
        raise ValueError("lines must be at least one, got none")
    number = {word: index for index, word in enumerate(vocabulary)}
    number |= dict.fromkeys(SPECIAL_WORDS, UNKNOWN)  # they are words of no text
    ids = [id for line in lines for id in (*(number.get(w, UNKNOWN) for w in line), END)]
    array = np.array(ids, "int32")
    return Stream(array, int((array == UNKNOWN).sum()))


class SegmentBatches:
    """The segments of a stream in order: the training data of `zoo.training.loop.train`.

    Every row is as long as every other, so that up to ``batch_size - 1`` words at the end of the
    stream are not trained on.

    Args:
        ids: of the stream, (N,).
        batch_size: rows B that are read side by side.
        segment_length: words T of a segment; the last one of an epoch is shorter.

    Raises:
        ValueError: if a number is not positive, or the stream has fewer words than there are rows.
    """

    def __init__(self, ids: np.ndarray, batch_size: int, segment_length: int) -> None:
        for name, value in (("batch_size", batch_size), ("segment_length", segment_length)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if len(ids) < batch_size:
            raise ValueError(
                f"batch_size must be at most {len(ids)}, the words of the text, got {batch_size}"
            )
        self.batch_size = batch_size
        self.segment_length = segment_length
        columns = len(ids) // batch_size
        self.inputs, self.targets = _rows(ids[: batch_size * columns], batch_size, columns)

    @property
    def steps_per_epoch(self) -> int:
        """The number of segments."""
        return math.ceil(self.targets.shape[1] / self.segment_length)

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """The segments of an epoch: all epochs are alike.

        Args:
            epoch: which one.
            first_step: how many segments to leave out at the beginning.

        Returns:
            Pairs: ``text`` int32 (B, T), ``rows`` int32 (B,), their numbers, and ``continues`` bool
            (B,), whether the row goes on with the state of the segment before; the next ids (B, T).
        """
        segments = list(_segments(self.inputs, self.targets, self.segment_length))[first_step:]
        signature = _signature(self.batch_size)
        data = tf.data.Dataset.from_generator(lambda: iter(segments), output_signature=signature)
        counted = tf.data.experimental.assert_cardinality(len(segments))
        return without_tuning(data).apply(counted).prefetch(tf.data.AUTOTUNE)


def _signature(rows: int) -> tuple[dict[str, tf.TensorSpec], tf.TensorSpec]:
    """Types of a segment's inputs and targets."""
    ids = tf.TensorSpec((rows, None), tf.int32)
    one_a_row = {"rows": tf.TensorSpec((rows,), tf.int32)}
    one_a_row["continues"] = tf.TensorSpec((rows,), tf.bool)
    return {"text": ids, **one_a_row}, ids


def _rows(ids: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets (rows, columns) of a stream that begins after ``</s>``."""
    before = np.concatenate([[END], ids[:-1]]).astype("int32")
    return before.reshape(rows, columns), ids.reshape(rows, columns)


def _segments(
    inputs: np.ndarray, targets: np.ndarray, length: int
) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray]]:
    for first in range(0, inputs.shape[1], length):
        part = slice(first, first + length)
        rows = np.arange(len(inputs), dtype="int32")
        row_by_row = {"rows": rows, "continues": np.full(len(inputs), first > 0)}
        yield {"text": inputs[:, part], **row_by_row}, targets[:, part]


class SegmentModel(Protocol):
    """A language model that can go on with a text; `read` is its `call` from given states."""

    carry: Any
    """None, or what reads a segment in training: a `StateCarrier`."""

    def fresh_states(self, rows: int, slots: int) -> list[State]:
        """Returns the states of all layers of rows that begin a text, with so many slots."""

    def read(
        self, inputs: Any, states: Any = None, carried_slots: int = 1, training: bool = False
    ) -> tuple[dict[str, Any], list[Any]]:
        """Reads a segment from the states before it; returns its outputs and states to go on."""

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Any, Any]:
        """Returns losses and counts of words, as every model of the zoo."""


class StateCarrier:
    """Holds the states of all layers between two segments: `SegmentModel.carry`.

    Each replica of a strategy reads rows of its own; what it leaves of them is gathered.

    Args:
        model: a built model.
        rows: number of rows B.
        slots: slots K carried of every layer's state.
        strategy: the model is trained under; None: what reads is one device.

    Raises:
        ValueError: if a number is not positive.
    """

    def __init__(
        self,
        model: SegmentModel,
        rows: int,
        slots: int,
        strategy: tf.distribute.Strategy | None = None,
    ) -> None:
        for name, value in (("rows", rows), ("slots", slots)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.slots = slots
        self.fresh = model.fresh_states(rows, slots)
        with (strategy or tf.distribute.get_strategy()).scope():
            self.states = [
                {name: _shared(value) for name, value in state.items()} for state in self.fresh
            ]

    @property
    def variables(self) -> list[tf.Variable]:
        """Variables that a checkpoint has to hold beside the model."""
        return [variable for state in self.states for variable in state.values()]

    def __call__(
        self, inputs: Mapping[str, tf.Tensor], read: Callable[[Any, int], tuple[Any, Any]]
    ) -> Any:
        """Reads a segment and keeps the states that it leaves.

        Args:
            inputs: of which ``rows`` int32 (B',), which rows these are, and ``continues`` bool
                (B',) are looked at.
            read: states and the number of slots to go on with -> outputs and states.
        """
        outputs, states = read(self._before(inputs), self.slots)
        left = tf.nest.map_structure(tf.stop_gradient, [inputs["rows"], states])
        rows, states = _of_all_replicas(left)
        for held, state in zip(self.states, states, strict=True):
            for name, variable in held.items():
                values = tf.convert_to_tensor(variable)
                variable.assign(tf.tensor_scatter_nd_update(values, rows[:, None], state[name]))
        return outputs

    def _before(self, inputs: Mapping[str, tf.Tensor]) -> list[State]:
        """Returns the states where rows go on, and those of a new text where they do not."""
        return [
            {name: _chosen(variable, fresh[name], inputs) for name, variable in held.items()}
            for held, fresh in zip(self.states, self.fresh, strict=True)
        ]


def _chosen(variable: tf.Variable, fresh: tf.Tensor, inputs: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Returns the rows (B', ...) of a state that is held, or of a fresh one."""
    goes_on = tf.reshape(inputs["continues"], (-1, *[1] * (len(variable.shape) - 1)))
    held = tf.gather(tf.convert_to_tensor(variable), inputs["rows"])
    return tf.where(goes_on, held, tf.gather(fresh, inputs["rows"]))


def _shared(value: tf.Tensor) -> tf.Variable:
    """A variable that every replica gives the same values."""
    first = tf.VariableAggregation.ONLY_FIRST_REPLICA
    return tf.Variable(value, trainable=False, aggregation=first)


def _of_all_replicas(values: Any) -> Any:
    """Tensors (B', ...) of each replica as those of the batch (B, ...)."""
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return values
    numbers = tf.nest.map_structure(
        lambda x: tf.cast(x, tf.int32) if x.dtype == tf.bool else x, values
    )
    gathered = context.all_gather(numbers, axis=0)
    return tf.nest.map_structure(lambda x, like: tf.cast(x, like.dtype), gathered, values)


class PerplexityEvaluator:
    """Perplexity of a stream, ends of lines included: the exponential of the mean loss of a word.

    Every word is counted once, whatever the number of rows; the first words of a row do not know
    those before them.

    Args:
        model: a built model; it is scored as it is when this is called.
        ids: of the stream, (N,).
        segment_length: words of a segment.
        slots: slots carried of every layer's state.
        rows: how many parts of the stream are read side by side; 1 is exact and slow.
    """

    def __init__(
        self,
        model: SegmentModel,
        ids: np.ndarray,
        *,
        segment_length: int = 35,
        slots: int = 35,
        rows: int = 20,
    ) -> None:
        rows = max(1, min(rows, len(ids) // _TOKENS_A_ROW))
        columns = math.ceil(len(ids) / rows)
        padded = np.pad(ids, (0, rows * columns - len(ids)))
        self.segments = list(_segments(*_rows(padded, rows, columns), segment_length))
        self.model = model
        self.carrier = StateCarrier(model, rows, slots)
        self._unknown = float((ids == UNKNOWN).sum())
        self._losses = tf.function(self._segment, input_signature=_signature(rows), autograph=False)

    def __call__(self) -> dict[str, float]:
        """Returns ``perplexity``, of so many ``tokens``, of which so many are ``unknown``.

        Perplexities compare where the same words are known: one id for many words is easy.
        """
        total, count = 0.0, 0.0
        for inputs, targets in self.segments:
            loss, words = self._losses(inputs, targets)
            total, count = total + float(loss), count + float(words)
        found = math.nan if math.isnan(total) else perplexity(total, int(count))
        return {"perplexity": found, "tokens": count, "unknown": self._unknown}

    def _segment(
        self, inputs: dict[str, tf.Tensor], targets: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Sum of the losses of a segment, and the number of its words."""
        # Words after the end of the stream are not read.
        inputs = inputs | {"text": tf.where(targets > 0, inputs["text"], 0)}
        outputs = self.carrier(inputs, lambda states, slots: self.model.read(inputs, states, slots))
        losses, _ = self.model.example_losses(targets, outputs)
        return tf.reduce_sum(losses), tf.reduce_sum(tf.cast(targets > 0, tf.float32))


class DecayWithoutGain:
    """Evaluates, and lowers the learning rate after an evaluation without a significant gain.

    Args:
        evaluate: gives ``perplexity`` among its metrics.
        learning_rate: the optimizer's, a variable.
        factor: what the rate is multiplied by.
        least_gain: the part by which the perplexity has to fall below the best so far.
    """

    def __init__(
        self,
        evaluate: Callable[[], Mapping[str, float]],
        learning_rate: tf.Variable,
        factor: float,
        least_gain: float,
    ) -> None:
        self.evaluate = evaluate
        self.learning_rate = learning_rate
        self.factor = factor
        self.least_gain = least_gain
        self.best = tf.Variable(float("inf"), trainable=False)

    @property
    def variables(self) -> list[tf.Variable]:
        """Variables that a checkpoint has to hold beside the optimizer."""
        return [self.best]

    def __call__(self) -> dict[str, float]:
        """Returns the metrics, and ``learning_rate`` as it was before."""
        metrics = dict(self.evaluate())
        metrics["learning_rate"] = float(self.learning_rate.numpy())
        if metrics["perplexity"] > float(self.best.numpy()) * (1 - self.least_gain):
            self.learning_rate.assign(metrics["learning_rate"] * self.factor)
        self.best.assign(min(metrics["perplexity"], float(self.best.numpy())))
        return metrics
