"""Speed and memory of translation models in training and search.

Every registered translation model is measured in its preset ``small`` (embeddings and hidden layers
of 256) on generated ids with lengths like Multi30k's: about log-normal around 13 tokens, 5 to 40,
equal for source and target. Weights are random, so translations have a fixed length, and the time
does not depend on their content.
"""

import multiprocessing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zoo.benchmarks.timing import WARM_UP_CALLS, WARM_UP_STEPS, Timed, limit_threads, now
from zoo.training.bounds import Count, Rate
from zoo.training.memory import peak_megabytes

if TYPE_CHECKING:
    import numpy as np

    from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
    from zoo.tasks.translation.examples import TranslationExamples

VARIANTS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "LuongTranslator": {
        "LuongTranslator, global": {"mechanism": "global", "score": "general"},
        "LuongTranslator, local": {"mechanism": "local_p", "score": "general"},
    },
    "StructuredTranslator": {
        "StructuredTranslator, structured": {},
        "StructuredTranslator, sigmoid": {"attention": "sigmoid"},
        "StructuredTranslator, simple": {"attention": "simple"},
    },
}
"""Rows of the table and their options, by model; other models have one row, the preset's."""

DECODED_BATCHES = (1, 32)


@dataclass(frozen=True)
class TranslationSpeed(Timed):
    """Table of training speed, decoding speed and memory of every translation model."""

    models: tuple[str, ...] = ()
    """Rows to measure, e.g. RNNsearch "LuongTranslator, global"; by default all."""
    preset: str = "small"
    """Sizes of the models."""
    vocabulary_size: Count = 10_000
    """Ids of each side."""
    batch_size: Count = 64
    """Pairs of a training step."""
    dropout: Rate = 0.2
    """Rate of dropout in training."""
    steps: Count = 60
    """Training steps measured after ten to warm up."""
    maximum_length: Count = 40
    """Tokens of every translation."""
    beam_width: Count = 5
    """Width of the beam search."""
    calls: Count = 8
    """Batches decoded after two to warm up."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Measures each model in a separate process, whose memory is that model's alone.

        Returns:
            Figures by row and column.

        Raises:
            ValueError: if ``models`` names an unknown row.
        """
        names = row_names()
        if unknown := set(self.models) - set(names):
            raise ValueError(f"models must be some of {names}, got {sorted(unknown)}")
        context = multiprocessing.get_context("spawn")
        figures = {}
        for name in self.models or names:
            with context.Pool(1) as pool:
                figures[name] = pool.apply(measure_row, (self, name))
        return figures


def row_names() -> list[str]:
    """Lists the rows of the table: every registered translation model, or its variants."""
    from zoo.models.core.registry import models

    names = [name for name, entry in models().items() if entry.task == "translation"]
    return [row for name in names for row in VARIANTS.get(name, {name: {}})]


def measure_row(settings: TranslationSpeed, row: str) -> dict[str, float]:
    """Measures one row in this process; returns figures by column."""
    limit_threads(settings.threads)
    model, examples = make_model(settings, row), generated_examples(settings)
    figures = {"training target tokens/s": training_speed(settings, model, examples)}
    for name, width in (("greedy", 1), (f"beam {settings.beam_width}", settings.beam_width)):
        for batch in DECODED_BATCHES:
            speed = decoding_speed(settings, model, examples, width, batch)
            figures[f"{name}, {batch} a batch, sentences/s"] = speed
    figures["peak memory, MB"] = peak_megabytes()
    return figures


def make_model(settings: TranslationSpeed, row: str) -> "SequenceToSequenceModel":
    """Makes the compiled model of a row."""
    from zoo.models.core.registry import find_model
    from zoo.training.optimizers import OnePassAdam

    name = row.split(",")[0]
    options = VARIANTS.get(name, {row: {}})[row]
    model: Any = find_model(name).cls.from_preset(
        settings.preset,
        source_vocabulary_size=settings.vocabulary_size,
        target_vocabulary_size=settings.vocabulary_size,
        dropout=settings.dropout,
        loss_normaliser="tokens",
        **options,
    )
    model.build()
    model.compile(OnePassAdam(1e-3, global_clipnorm=1.0))
    return model


def generated_examples(settings: TranslationSpeed) -> "TranslationExamples":
    """Generates enough pairs of random words for all training steps and decoded batches."""
    import numpy as np
    import tensorflow as tf

    from zoo.tasks.translation.examples import TranslationExamples
    from zoo.text.vocabulary import END, SPECIAL_WORDS, START

    random = np.random.default_rng(0)
    trained = settings.batch_size * (settings.steps + WARM_UP_STEPS)
    decoded = max(DECODED_BATCHES) * (settings.calls + WARM_UP_CALLS)
    rows = max(trained, decoded)
    lengths = np.exp(random.normal(np.log(13), 0.3, rows))
    ratios = np.exp(random.normal(0, 0.15, rows))

    def words(lengths: "np.ndarray") -> tf.RaggedTensor:
        lengths = np.clip(lengths, 5, 40).astype("int64") - 1
        flat = random.integers(len(SPECIAL_WORDS), settings.vocabulary_size, lengths.sum())
        return tf.RaggedTensor.from_row_lengths(flat.astype("int32"), lengths)

    source, target = words(lengths), words(lengths * ratios)
    first, last = tf.fill([rows, 1], START), tf.fill([rows, 1], END)
    return TranslationExamples(
        source=tf.concat([source, last], axis=1),
        target_in=tf.concat([first, target], axis=1),
        target_out=tf.concat([target, last], axis=1),
    )


def training_speed(
    settings: TranslationSpeed, model: "SequenceToSequenceModel", examples: "TranslationExamples"
) -> float:
    """Measures target tokens per second, including ``</s>``, of whole training steps."""
    batches = examples.batches(settings.batch_size)
    steps: Iterator[Any] = iter(batches.training(epoch=0))
    model.make_train_function()
    for _ in range(WARM_UP_STEPS):
        model.train_function(steps)
    model.optimizer.iterations.numpy()  # waits for the last step
    began = now(settings.clock)
    for _ in range(settings.steps):
        model.train_function(steps)
    model.optimizer.iterations.numpy()
    seconds = now(settings.clock) - began
    lengths = examples.target_out.row_lengths().numpy()
    measured = batches.indices(0)[WARM_UP_STEPS : WARM_UP_STEPS + settings.steps]
    tokens = sum(lengths[rows].sum() for rows in measured)
    return float(tokens / seconds)


def decoding_speed(
    settings: TranslationSpeed,
    model: "SequenceToSequenceModel",
    examples: "TranslationExamples",
    beam_width: int,
    batch: int,
) -> float:
    """Measures sentences per second, from ids to the best translation; a beam of 1 is greedy."""
    import tensorflow as tf

    from zoo.decoding.beam import beam_search
    from zoo.decoding.greedy import greedy

    length = settings.maximum_length

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)], autograph=False)
    def translate(source: tf.Tensor) -> tf.Tensor:
        memory = model.encode({"source": source})
        if beam_width == 1:
            return greedy(model, memory, minimum_length=length, maximum_length=length).tokens
        steps = model.for_beam()
        return beam_search(
            steps, memory, beam_width=beam_width, minimum_length=length, maximum_length=length
        ).tokens

    sources = [
        examples.source[batch * call : batch * (call + 1)].to_tensor()
        for call in range(settings.calls + WARM_UP_CALLS)
    ]
    for source in sources[:WARM_UP_CALLS]:
        translate(source)
    began = now(settings.clock)
    for source in sources[WARM_UP_CALLS:]:
        translate(source).numpy()
    return settings.calls * batch / (now(settings.clock) - began)
