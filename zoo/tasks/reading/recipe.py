"""The pipeline that all reading recipes share: data, model, train, evaluate, export, picture.

A recipe adds the settings of its architecture and the function that builds the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.training.bounds import Count, NotNegative
from zoo.training.settings import TrainingSettings, build_and_compile, open_run, resolve, train

if TYPE_CHECKING:
    from zoo.models.core.base import BaseModel
    from zoo.tasks.reading.data import ReadingData
    from zoo.text.vocabulary import Vocabulary
    from zoo.training.runs import RunFolder

SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "vector_norm": 0.0,
        "epochs": 2,
        "batch_size": 64,
        "learning_rate": 4e-3,
        "ema_decay": 0.99,
    },
    "squad": {
        "vector_norm": 8.0,
        "epochs": 6,
        "batch_size": 32,
        "learning_rate": 1.5e-3,
        "ema_decay": 0.999,
    },
}
"""Defaults of the shared settings by data set."""

QUESTION = "Who repaired the lamp of the lighthouse?"
CONTEXT = """The lighthouse on the northern cliff stood dark for eleven years after the great storm.
In the spring of 1962 a retired clockmaker named Ida Moreau moved into the keeper's house. The lamp
was repaired by Moreau with parts of a church clock, and on the first of June the beam crossed the
bay again. The fishermen of the village paid her with bread, coal and smoked fish."""
"""Written for the picture."""


@dataclass(frozen=True)
class ReadingSettings(TrainingSettings):
    """Settings of every reading recipe. Those given as None depend on the data."""

    data: Literal["auto", "sample", "squad"] = "auto"
    """auto: SQuAD where it lies, else the generated sample; squad: downloads it if it is absent."""
    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format. Without any they are learned."""
    maximum_vocabulary: Count = 100_000
    """Words kept of the vectors, the first of the file: the most frequent ones."""
    vector_norm: NotNegative | None = None
    """Norm that each vector of the file is scaled to; 0: as in the file."""
    train_vectors: bool = False
    """Whether pretrained vectors are tuned; the paper keeps them fixed."""
    maximum_context_tokens: Count = 400
    """Training contexts are cut here; answers beyond are dropped and counted."""
    maximum_answer_tokens: Count = 20
    """Longest answer considered when predicting."""


MakeModel = Callable[[Any, dict[str, Any]], Any]
"""Settings, and the arguments that every reader takes for its word embeddings, to the model."""


def run_reading(
    settings: Any,
    recipe: str,
    make_model: MakeModel,
    defaults: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Runs a reading recipe.

    Args:
        settings: ``ReadingSettings`` from the command line.
        recipe: its name, for the run folder.
        make_model: builds the architecture.
        defaults: data set -> what settings given as None become, where not the shared ones.

    Returns:
        What ``result.json`` holds.
    """
    from zoo.tasks.reading.data import load_reading_data, resolve_data

    data_name = resolve_data(settings.data, settings.data_dir)
    settings = resolve(settings, recipe, data_name, SHARED_DEFAULTS, defaults)
    run = open_run(settings)
    data = load_reading_data(
        data_name,
        settings.data_dir,
        settings.vectors,
        settings.maximum_vocabulary,
        run.logger,
        settings.vector_norm,
    )
    run.check_data(data.record.sha256)
    model, vocabulary = _make(settings, make_model, data, run)
    report, metrics = _train(settings, data, model, vocabulary, run)
    run.logger.info("exact match %.2f, F1 %.2f", metrics["exact_match"], metrics["f1"])
    _export(settings, data, model, vocabulary, metrics, report["seconds"], run)
    return run.finish({**metrics, **report, "data": data.record})


def _make(
    settings: Any, make_model: MakeModel, data: "ReadingData", run: "RunFolder"
) -> tuple["BaseModel", "Vocabulary"]:
    """Writes the vocabulary, unless the run has one.

    Returns:
        The compiled model with its word vectors, and the words.
    """
    from zoo.text.vocabulary import Vocabulary, write_vocabulary

    path = run.vocabulary / "vocabulary.txt"
    if not path.exists():
        write_vocabulary(path, data.words)
    vocabulary = Vocabulary(path)
    matrix = data.embedding_matrix(vocabulary.words)
    tuned = settings.train_vectors or matrix is None
    embeddings = {
        "vocabulary_size": len(vocabulary),
        "embedding_dim": 100 if matrix is None else matrix.shape[1],
        "trainable_embeddings": tuned,
        "embedding_dtype": None if tuned else "float16",
    }
    steps = -(-len(data.training) // settings.batch_size)
    model = build_and_compile(settings, lambda: make_model(settings, embeddings), steps)
    if matrix is not None:
        with model.distribute_strategy.scope():
            model.embedding.load_vectors(matrix)
    return model, vocabulary


def _train(
    settings: Any,
    data: "ReadingData",
    model: "BaseModel",
    vocabulary: "Vocabulary",
    run: "RunFolder",
) -> tuple[dict[str, Any], dict[str, float]]:
    """Trains; returns the loop's report and the metrics of the best weights.

    The best ones have the highest F1, of equal ones the lowest loss.
    """
    from zoo.tasks.reading.endpoint import ReadingEndpoint
    from zoo.tasks.reading.examples import ReadingEvaluator, encode_examples
    from zoo.tasks.shared.endpoints import asking
    from zoo.text.tokenizer import WordTokenizer

    tokenizer, limit = WordTokenizer(), settings.maximum_context_tokens
    examples = encode_examples(
        data.training, tokenizer, vocabulary, maximum_context_tokens=limit, training=True
    )
    run.logger.info("training rows: %s", examples.counts)
    evaluation = encode_examples(data.evaluation, tokenizer, vocabulary, training=False)

    def evaluator(with_loss: bool = False) -> ReadingEvaluator:
        return ReadingEvaluator(
            model,
            evaluation,
            data.evaluation,
            maximum_answer_tokens=settings.maximum_answer_tokens,
            with_loss=with_loss,
        )

    batches = examples.batches(settings.batch_size, settings.seed)
    ask = asking(ReadingEndpoint(model, tokenizer, vocabulary).serve, *_texts(settings, data))
    choice = {"monitor": "f1", "ties": "answer_loss"}
    report = train(settings, model, batches, run, evaluator(with_loss=True), ask=ask, **choice)
    return report, evaluator()()  # another graph: the trained model may compute otherwise


def _texts(settings: Any, data: "ReadingData") -> tuple[str, str]:
    """Question and context of the pictures."""
    if settings.data != "sample":
        return QUESTION, CONTEXT
    question, context = data.evaluation[["question", "context"]].iloc[0]
    return question, context


def _export(
    settings: Any,
    data: "ReadingData",
    model: "BaseModel",
    vocabulary: "Vocabulary",
    metrics: dict[str, float],
    seconds: float,
    run: "RunFolder",
) -> None:
    """The SavedModel with its card, and the picture of an answer."""
    from zoo.tasks.reading.export import draw_reader, export_reader

    export_reader(
        run.saved_model,
        model,
        vocabulary,
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        seconds=seconds,
        maximum_answer_tokens=settings.maximum_answer_tokens,
    )
    question, context = _texts(settings, data)
    answer = draw_reader(run.saved_model, question, context, run.picture)
    run.logger.info("%s %s", question, answer)
