"""Benchmarks of training, search and serving.

    python -m recipes.benchmark training --hidden-dim 100 --pool-size 4
    python -m recipes.benchmark serving saved_models/squad_dcn
    python -m recipes.benchmark translation --threads 1
    python -m recipes.benchmark attention --threads 1
    python -m recipes.benchmark complexity --threads 1
    python -m recipes.benchmark lstmn --threads 1
    python -m recipes.benchmark classification --threads 1
    python -m recipes.benchmark steps --threads 1
    python -m recipes.benchmark structures --threads 1
    python -m recipes.benchmark load
    python -m recipes.benchmark portable --model NAME --folder FOLDER --texts FILE
    python -m recipes.benchmark ctranslate2 --texts FILE --threads 1

Training: batches from length-sorted pools, as in the recipes, of generated ids whose lengths follow
SQuAD's contexts (log-normal, median 122 words, cut at 400). Serving: the example of a model's card,
or a question on a context of 300 words, alone and in a batch; the median is printed. Translation:
training, decoding and memory of every translation model. Attention: a decoding step of global and
of local attention by source length. Complexity: time and memory of self-attention, restricted self-
attention, a recurrent and a convolutional layer by length, with a picture (docs/complexity.md).
LSTMN: training by length and window, and whole steps of the language model against those of a plain
LSTM (docs/lstmn.md). Classification: training and inference of decomposable attention and of the
self-attentive classifier. Steps: training and inference of the recurrent attention model by image
size, and of the Neural Turing Machine. Structures: marginals of chains and trees, and their
gradients. Load: a server under requests from 64 clients for a minute, with every answer compared
with that of a direct call (docs/serving.md). Portable: an export for machines without TensorFlow,
and its SavedModel, text by text (docs/portable.md). CTranslate2: a Transformer's SavedModel beside
its export for that runtime (docs/portable.md). Close other programs first.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from zoo.benchmarks.answers import AnswerSpeed
from zoo.benchmarks.attention import AttentionSpeed
from zoo.benchmarks.classification import ClassificationSpeed
from zoo.benchmarks.complexity import LayerComplexity
from zoo.benchmarks.ctranslate2 import CTranslate2Speed
from zoo.benchmarks.load import ServerLoad
from zoo.benchmarks.lstmn import TapeSpeed
from zoo.benchmarks.portable import PortableModel
from zoo.benchmarks.steps import StepSpeed
from zoo.benchmarks.structures import StructureSpeed
from zoo.benchmarks.translation import TranslationSpeed
from zoo.training.bounds import Count, Rate
from zoo.training.command import start

if TYPE_CHECKING:
    from zoo.models.core.base import BaseModel
    from zoo.text.batching import BucketedBatches


@dataclass(frozen=True)
class Training:
    """Examples per second of whole training steps."""

    model: Literal["dcn", "dcn_plus"] = "dcn"
    """The architecture."""
    hidden_dim: Count = 100
    """Hidden size."""
    pool_size: Count = 4
    """Linear pieces of each maxout."""
    embedding_dim: Count = 100
    """Size of the frozen word vectors."""
    batch_size: Count = 32
    """Examples per step."""
    steps: Count = 60
    """Steps measured after ten to warm up."""
    dropout: Rate = 0.2
    """Rate of dropout."""


Command = (
    Annotated[Training, tyro.conf.subcommand("training")]
    | Annotated[AnswerSpeed, tyro.conf.subcommand("serving")]
    | Annotated[TranslationSpeed, tyro.conf.subcommand("translation")]
    | Annotated[AttentionSpeed, tyro.conf.subcommand("attention")]
    | Annotated[LayerComplexity, tyro.conf.subcommand("complexity")]
    | Annotated[TapeSpeed, tyro.conf.subcommand("lstmn")]
    | Annotated[ClassificationSpeed, tyro.conf.subcommand("classification")]
    | Annotated[StepSpeed, tyro.conf.subcommand("steps")]
    | Annotated[StructureSpeed, tyro.conf.subcommand("structures")]
    | Annotated[ServerLoad, tyro.conf.subcommand("load")]
    | Annotated[PortableModel, tyro.conf.subcommand("portable")]
    | Annotated[CTranslate2Speed, tyro.conf.subcommand("ctranslate2")]
)


def main(
    command: (
        Training
        | AnswerSpeed
        | TranslationSpeed
        | AttentionSpeed
        | LayerComplexity
        | TapeSpeed
        | ClassificationSpeed
        | StepSpeed
        | StructureSpeed
        | ServerLoad
        | PortableModel
        | CTranslate2Speed
    ),
) -> dict[str, Any]:
    """Measures, prints and returns the figures."""
    if isinstance(command, LayerComplexity):
        return complexity(command)
    if isinstance(command, TapeSpeed):
        tables = command.measure()
        for name, table in tables.items():
            print(f"{name}:")
            print_table(table)
        return tables
    if isinstance(command, Training | AnswerSpeed | PortableModel):
        return list_figures(command)
    print_table(table := command.measure())
    return table


def list_figures(command: Training | AnswerSpeed | PortableModel) -> dict[str, float]:
    """Prints figures line by line."""
    figures = training(command) if isinstance(command, Training) else command.measure()
    for name, value in figures.items():
        print(f"{name}: {value:.4g}")
    return figures


def print_table(table: dict[str, dict[str, float]]) -> None:
    """Prints figures by row and column."""
    import pandas as pd

    print(pd.DataFrame(table).T.to_string(float_format=lambda value: f"{value:.4g}"))


def complexity(command: LayerComplexity) -> dict[str, Any]:
    """Prints a table for each use and quantity, and writes all of them and the picture."""
    from zoo.benchmarks.complexity import draw, markdown
    from zoo.plots import save_figure
    from zoo.training.json_files import write_json

    figures = command.measure(progress=lambda line: print(line, flush=True))
    for name, lines in figures.items():
        print(f"\n{markdown(command, name, lines)}")
    command.run_dir.mkdir(parents=True, exist_ok=True)
    write_json(command.run_dir / "result.json", {"settings": command, "figures": figures})
    print("", save_figure(draw(command, figures), command.run_dir / "complexity.png"), sep="\n")
    return figures


def training(command: Training) -> dict[str, float]:
    """Runs training steps and counts the examples per second."""
    from zoo.serving.remarks import spend_remarks

    spend_remarks()
    batches = generated_batches(command)
    model = make_model(command)
    steps = iter(batches.training(epoch=0))
    train_on_batch = training_function(model)
    for _ in range(10):
        train_on_batch(steps)
    began = time.perf_counter()
    for _ in range(command.steps):
        train_on_batch(steps)
    model.optimizer.iterations.numpy()  # waits for the last step
    seconds = time.perf_counter() - began
    lengths = [max(batches.lengths[rows]) for rows in batches.indices(0)]
    return {
        "examples per second": command.steps * command.batch_size / seconds,
        "milliseconds a step": 1000 * seconds / command.steps,
        "mean padded length": statistics.mean(lengths),
    }


def generated_batches(command: Training) -> "BucketedBatches":
    """Generates examples of random words, with lengths like SQuAD's."""
    import numpy as np
    import tensorflow as tf

    from zoo.text.batching import BucketedBatches

    random = np.random.default_rng(0)
    rows = command.batch_size * (command.steps + 10)
    lengths = np.clip(np.exp(random.normal(np.log(122), 0.45, rows)), 20, 400).astype("int64")
    questions = np.clip(random.normal(11.5, 3.5, rows), 3, 40).astype("int64")

    def ids(lengths: np.ndarray) -> tf.RaggedTensor:
        flat = random.integers(4, 60_000, lengths.sum()).astype("int32")
        return tf.RaggedTensor.from_row_lengths(flat, lengths)

    start = (random.random(rows) * lengths).astype("int32")
    columns = {"question": ids(questions), "context": ids(lengths), "start": start, "end": start}
    return BucketedBatches(
        columns, ("question", "context"), ("start", "end"), lengths, command.batch_size
    )


def make_model(command: Training) -> "BaseModel":
    """Makes the compiled model, with frozen word vectors in half precision."""
    from zoo.models.dcn.dcn import DynamicCoattentionNetwork
    from zoo.models.dcn.dcn_plus import DynamicCoattentionNetworkPlus
    from zoo.training.optimizers import OnePassAdam

    plus = command.model == "dcn_plus"
    model = (DynamicCoattentionNetworkPlus if plus else DynamicCoattentionNetwork)(
        vocabulary_size=60_000,
        embedding_dim=command.embedding_dim,
        hidden_dim=command.hidden_dim,
        pool_size=command.pool_size,
        dropout=command.dropout,
        embedding_dtype="float16",
    )
    model.build()
    model.compile(OnePassAdam(1e-3, global_clipnorm=5.0))
    return model


def training_function(model: "BaseModel") -> Callable[[Any], Any]:
    """Returns the compiled function that ``fit`` calls: an iterator of batches in, logs out."""
    model.make_train_function()
    return model.train_function


if __name__ == "__main__":
    start(main, Command, __doc__)
