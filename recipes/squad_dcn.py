"""Dynamic Coattention Network (Xiong et al. 2016), or DCN+ (2017), on SQuAD 1.1.

    python -m recipes.squad_dcn                       # SQuAD if it lies here, else the sample
    python -m recipes.squad_dcn --data sample         # generated, needs no data
    python -m recipes.word_vectors --output vectors.txt
    python -m recipes.squad_dcn --data squad --vectors vectors.txt

GloVe's files serve as ``--vectors`` too. The same command, started again after an interruption,
goes on where it was. The run folder holds settings, log, TensorBoard events, checkpoints,
``result.json``, the SavedModel and ``attention.png``.
"""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.training.command import start

if TYPE_CHECKING:
    import tensorflow as tf

    from zoo.models.base import BaseModel
    from zoo.tasks.reading_data import ReadingData
    from zoo.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Settings:
    """Settings of the run. Those given as None depend on the data; the run folder records them."""

    data: Literal["auto", "sample", "squad"] = "auto"
    """auto: SQuAD where it lies, else the generated sample; squad: downloads it if it is absent."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    run_dir: Path | None = None
    """Folder of the run; by default runs/squad_<model>_<data>."""
    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format. Without any they are learned."""
    maximum_vocabulary: int = 100_000
    """Words kept of the vectors, the first of the file: the most frequent ones."""
    vector_norm: float | None = None
    """Norm that each vector of the file is scaled to; 0: as in the file."""
    train_vectors: bool = False
    """Whether pretrained vectors are tuned; the paper keeps them fixed."""
    model: Literal["dcn", "dcn_plus"] = "dcn"
    """The architecture."""
    hidden_dim: int | None = None
    """Hidden size of every part."""
    pool_size: int = 4
    """Linear pieces of each maxout."""
    iterations: int = 4
    """Estimates of the pointing decoder."""
    end_uses: Literal["previous", "current"] = "previous"
    """Which start the end scorer reads."""
    loss_over: Literal["all", "halt"] = "all"
    """Iterations that count in the loss."""
    question_initializer: Literal["glorot_uniform", "identity"] | None = None
    """Initialiser of the question's projection W_Q."""
    dropout: float | None = None
    """Rate of dropout."""
    maximum_context_tokens: int = 400
    """Training contexts are cut here; answers beyond are dropped and counted."""
    maximum_answer_tokens: int = 20
    """Longest answer considered when predicting."""
    epochs: int | None = None
    """Passes over the training part."""
    batch_size: int | None = None
    """Questions of a step, over all devices."""
    learning_rate: float | None = None
    """Adam's at the beginning; it falls along a cosine to a twentieth."""
    clip_norm: float = 5.0
    """Largest norm of the whole gradient."""
    ema_decay: float | None = None
    """Decay of the moving average of the weights that is evaluated and shipped."""
    patience: int | None = None
    """Evaluations without gain before the training stops; None: all epochs are trained."""
    evaluate_every: int | None = None
    """Steps between evaluations; None: each epoch."""
    checkpoint_every: int = 500
    """Steps between checkpoints."""
    maximum_minutes: float | None = None
    """Training time after which the run stops, cleanly, with what it has."""
    strategy: Literal["auto", "none", "mirrored"] = "auto"
    """auto: MirroredStrategy when there are several GPUs."""
    seed: int = 0
    """Seed of weights, dropout and the order of the data."""
    fresh: bool = False
    """Start again, whatever the run folder holds."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "hidden_dim": 64,
        "question_initializer": "identity",
        "dropout": 0.0,
        "epochs": 2,
        "batch_size": 32,
        "learning_rate": 2e-3,
        "ema_decay": 0.99,
    },
    "squad": {
        "vector_norm": 8.0,
        "hidden_dim": 100,
        "question_initializer": "identity",
        "dropout": 0.2,
        "epochs": 6,
        "batch_size": 32,
        "learning_rate": 1.5e-3,
        "ema_decay": 0.999,
    },
}
"""What the settings given as None become."""

MAY_CHANGE = {"data_dir", "run_dir", "checkpoint_every", "maximum_minutes", "patience", "fresh"}
"""Settings that a resumed run may change: no step depends on them."""

QUESTION = "Who repaired the lamp of the lighthouse?"
CONTEXT = """The lighthouse on the northern cliff stood dark for eleven years after the great storm.
In the spring of 1962 a retired clockmaker named Ida Moreau moved into the keeper's house. The lamp
was repaired by Moreau with parts of a church clock, and on the first of June the beam crossed the
bay again. The fishermen of the village paid her with bread, coal and smoked fish."""
"""Written for the picture."""


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    from keras.utils import set_random_seed

    from zoo.tasks.reading_data import load_reading_data, resolve_data
    from zoo.tasks.reading_export import draw_reader, export_reader
    from zoo.training.runs import RunFolder, write_json

    began = time.monotonic()
    settings = resolve(settings, resolve_data(settings.data, settings.data_dir))
    run = RunFolder(settings.run_dir, asdict(settings), may_change=MAY_CHANGE, fresh=settings.fresh)
    set_random_seed(settings.seed)
    data = load_reading_data(
        settings.data,
        settings.data_dir,
        settings.vectors,
        settings.maximum_vocabulary,
        run.logger,
        settings.vector_norm,
    )
    model, vocabulary, strategy = make_model(settings, data, run.vocabulary)
    report, metrics = train(settings, data, model, vocabulary, strategy, run)
    run.logger.info("exact match %.2f, F1 %.2f", metrics["exact_match"], metrics["f1"])
    export_reader(
        run.saved_model,
        model,
        vocabulary,
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        seconds=report["seconds"],
        maximum_answer_tokens=settings.maximum_answer_tokens,
    )
    question, context = QUESTION, CONTEXT
    if settings.data == "sample":
        question, context = data.evaluation[["question", "context"]].iloc[0]
    answer = draw_reader(run.saved_model, question, context, run.picture)
    run.logger.info("%s %s", question, answer)
    result = {**metrics, **report, "data": data.record}
    result["total_seconds"] = round(time.monotonic() - began, 1)
    write_json(run.result, result)
    run.logger.info("%s: %.0f s", run.path, result["total_seconds"])
    return result


def resolve(settings: Settings, data: Literal["sample", "squad"]) -> Settings:
    """Replaces what depends on the data."""
    defaults = DEFAULTS[data] | {"run_dir": Path("runs") / f"squad_{settings.model}_{data}"}
    chosen = {name: v for name, v in defaults.items() if getattr(settings, name) is None}
    return replace(settings, data=data, **chosen)


def make_model(
    settings: Settings, data: "ReadingData", vocabulary_file: Path
) -> tuple["BaseModel", "Vocabulary", "tf.distribute.Strategy"]:
    """Writes the vocabulary; builds and compiles the model under the strategy."""
    import keras

    from zoo.models.dcn import DynamicCoattentionNetwork
    from zoo.models.dcn_plus import DynamicCoattentionNetworkPlus
    from zoo.text.vocabulary import Vocabulary, write_vocabulary
    from zoo.training.distribution import make_strategy

    write_vocabulary(vocabulary_file, data.words)
    vocabulary = Vocabulary(vocabulary_file)
    matrix = data.embedding_matrix(vocabulary.words)
    tuned = settings.train_vectors or matrix is None
    plus = settings.model == "dcn_plus"
    cls = DynamicCoattentionNetworkPlus if plus else DynamicCoattentionNetwork
    steps = settings.epochs * -(-len(data.training) // settings.batch_size)
    strategy = make_strategy(settings.strategy)
    with strategy.scope():
        model = cls(
            vocabulary_size=len(vocabulary),
            embedding_dim=100 if matrix is None else matrix.shape[1],
            hidden_dim=settings.hidden_dim,
            pool_size=settings.pool_size,
            iterations=settings.iterations,
            end_uses=settings.end_uses,
            loss_over=settings.loss_over,
            question_initializer=settings.question_initializer,
            dropout=settings.dropout,
            trainable_embeddings=tuned,
            embedding_dtype=None if tuned else "float16",
        )
        model.build()
        if matrix is not None:
            model.embedding.load_vectors(matrix)
        rate = keras.optimizers.schedules.CosineDecay(settings.learning_rate, steps, alpha=0.05)
        model.compile(keras.optimizers.Adam(rate, global_clipnorm=settings.clip_norm))
    return model, vocabulary, strategy


def train(
    settings: Settings,
    data: "ReadingData",
    model: "BaseModel",
    vocabulary: "Vocabulary",
    strategy: "tf.distribute.Strategy",
    run: Any,
) -> tuple[dict[str, Any], dict[str, float]]:
    """Trains; returns the loop's report and the metrics of the best weights."""
    from zoo.tasks.reading import ReadingEvaluator, encode_examples
    from zoo.text.tokenizer import WordTokenizer
    from zoo.training import loop

    tokenizer, limit = WordTokenizer(), settings.maximum_context_tokens
    examples = encode_examples(
        data.training, tokenizer, vocabulary, maximum_context_tokens=limit, training=True
    )
    run.logger.info("training rows: %s", examples.counts)
    evaluate = ReadingEvaluator(
        model,
        encode_examples(data.evaluation, tokenizer, vocabulary, training=False),
        data.evaluation,
        maximum_answer_tokens=settings.maximum_answer_tokens,
    )
    report = loop.train(
        model,
        examples.batches(settings.batch_size, settings.seed),
        epochs=settings.epochs,
        run=run,
        evaluate=evaluate,
        patience=settings.patience,
        checkpoint_every=settings.checkpoint_every,
        evaluate_every=settings.evaluate_every,
        ema_decay=settings.ema_decay,
        strategy=strategy,
        maximum_minutes=settings.maximum_minutes,
    )
    return report, evaluate()


if __name__ == "__main__":
    start(main, Settings, __doc__)
