r"""Structured self-attentive sentence embedding (Lin et al. 2017) on reviews of films.

    python -m recipes.imdb_self_attentive                  # IMDb if it is here, or a sample
    python -m recipes.imdb_self_attentive --data sample    # generated, needs no data
    python -m recipes.word_vectors --texts imdb --output imdb-100.txt
    python -m recipes.imdb_self_attentive --data imdb --vectors imdb-100.txt \
        --run-dir runs/imdb_vectors
    python -m recipes.imdb_self_attentive --data imdb --pooling max --run-dir runs/max_pooling
    python -m recipes.imdb_self_attentive --data mr --fold 3

On two CPU cores, shared with other work, the vectors take two minutes and the fourth command
thirteen; it reaches 90.24 % on the test part of IMDb, which is not in the paper.

The best weights are chosen on a part of the training data, never on the test part. The same command
resumes an interrupted run. The run folder holds settings, log, TensorBoard events, checkpoints,
``result.json``, the SavedModel and ``attention.png``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.classification.recipe import ClassificationSettings, ClassificationTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, NotNegative, Rate, Whole
from zoo.training.command import start
from zoo.training.unused import refuse_given

REVIEW = (
    "I went in expecting very little, and for half an hour I got exactly that: a slow start, a "
    "narrator who never stops talking, and jokes that were old when my grandfather was young. Then "
    "the two sisters finally meet, and the film comes alive. Their scenes together are wonderful, "
    "the music is lovely, and the ending moved me to tears. Do not let the dull beginning scare "
    "you away; this is one of the best small films of the year."
)
"""Written for the picture."""


@dataclass(frozen=True)
class Settings(ClassificationSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    data: Literal["auto", "sample", "imdb", "trec", "mr", "subj", "sst"] = "auto"
    """auto: IMDb if present or, if no folder is named, the generated sample."""
    fold: Whole = 0
    """Number of the tenth of MR or Subj that is the test part, 0 to 9."""
    held_out: Rate = 0.1
    """Share of the training part that chooses the best weights; sst has a part for that."""
    pooling: Literal["attention", "max", "mean"] = "attention"
    """Hops of attention, or a pooling over the words in their place."""
    hops: Count | None = None
    """Number of hops."""
    attention_dim: Count | None = None
    """Hidden units of the attention."""
    attention_bias: bool = False
    """Whether the attention has biases, as in the released code."""
    penalty: NotNegative | None = None
    """Coefficient of the penalty on the overlap of the hops."""
    penalty_reduction: Literal["sum", "mean"] = "sum"
    """The penalty as printed, or its mean over the entries, as in the released code."""
    first_layer: Literal["dense", "pruned"] = "dense"
    """Whether the classifier's first layer is the pruned one."""
    classifier_dim: Count | None = None
    """Units of the classifier's dense layer."""
    l2: NotNegative = 0.0
    """Weight of the sum of squares of all matrices but the table of words in the loss."""
    minimum_count: Count | None = None
    """Words of the training part that occur less often are unknown."""
    maximum_tokens: Count | None = None
    """Texts are cut here."""


_SENTENCES: dict[str, Any] = {
    "embedding_dim": 100,
    "hidden_dim": 128,
    "attention_dim": 100,
    "hops": 10,
    "classifier_dim": 256,
    "penalty": 0.1,
    "dropout": 0.5,
    "word_dropout": 0.5,
    "first_epoch_gradient": 1.0,
    "minimum_count": 1,
    "maximum_tokens": 100,
    "epochs": 8,
    "batch_size": 32,
    "learning_rate": 1e-3,
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        **_SENTENCES,
        "embedding_dim": 32,
        "hidden_dim": 32,
        "attention_dim": 32,
        "hops": 4,
        "classifier_dim": 32,
        "dropout": 0.0,
        "word_dropout": 0.0,
        "epochs": 4,
        "learning_rate": 1e-2,
    },
    "imdb": {
        **_SENTENCES,
        "hops": 30,
        "penalty": 0.01,
        "minimum_count": 5,
        "maximum_tokens": 400,
        "epochs": 3,
        "batch_size": 64,
        "learning_rate": 2e-3,
        "ema_decay": 0.998,
        "evaluate_every": 176,
    },
    "trec": _SENTENCES,
    "mr": _SENTENCES,
    "subj": _SENTENCES,
    "sst": _SENTENCES,
}
"""Defaults by data set, smaller than the paper's: u 300, d_a 350, r 30, penalty 1."""


def load(settings: Settings, logger: Any) -> Any:
    """Reads the data."""
    from zoo.tasks.classification.data import load_sst, load_texts

    if settings.data == "sst":
        return load_sst("sst", 5, False, settings.data_dir, logger)
    return load_texts(settings.data, settings.fold, settings.held_out, settings.data_dir, logger)


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.self_attentive.self_attentive_classifier import SelfAttentiveClassifier

    return SelfAttentiveClassifier(
        hidden_dim=settings.hidden_dim,
        attention_dim=settings.attention_dim,
        hops=settings.hops,
        pooling=settings.pooling,
        attention_bias=settings.attention_bias,
        first_layer=settings.first_layer,
        classifier_dim=settings.classifier_dim,
        dropout=settings.dropout,
        word_dropout=settings.word_dropout,
        penalty=settings.penalty,
        penalty_reduction=settings.penalty_reduction,
        l2=settings.l2,
        **arguments,
    )


_OF_HOPS = ("hops", "attention_dim", "attention_bias", "penalty", "penalty_reduction")
UNUSED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sample", "sst"), ("fold", "held_out")),
    **dict.fromkeys(("imdb", "trec"), ("fold",)),
}
"""Data -> settings that it has no use for."""


@dataclass
class HopsTask(ClassificationTask):
    """Also measures how much the hops look at the same words."""

    def resolve(self, settings: Any) -> Any:
        """Refuses settings that the data or a pooling has no use for, too.

        Raises:
            ValueError: names the setting.
        """
        resolved = super().resolve(settings)
        refuse_given(settings, UNUSED.get(resolved.data, ()), f"with the data {resolved.data}")
        if resolved.pooling != "attention":
            refuse_given(settings, _OF_HOPS, f"with the pooling {resolved.pooling}")
        return resolved

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Accuracy and, of several hops, their mean overlap on the test part, from 0 to 1."""
        metrics = super().measure(endpoint)
        if self.settings.pooling == "attention" and self.settings.hops > 1:
            metrics["overlap"] = mean_overlap_of(endpoint.model, self.test_batches())
            self.folder.logger.info("test: overlap of hops %.4f", metrics["overlap"])
        return metrics


def mean_overlap_of(model: Any, batches: Any) -> float:
    """Averages the overlap of the hops over texts."""
    import tensorflow as tf

    from zoo.models.self_attentive.redundancy import mean_overlap

    @tf.function(input_signature=[{"text": tf.TensorSpec([None, None], tf.int32)}], autograph=False)
    def total(texts: Any) -> Any:
        return tf.reduce_sum(mean_overlap(model(texts, training=False)["attention"]["hops"]))

    sums, counts = zip(
        *((float(total(texts)), len(rows)) for texts, rows in batches.evaluation()), strict=True
    )
    return sum(sums) / sum(counts)


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    parts = (make_model, DEFAULTS, load, {"text": REVIEW})
    return run(settings, HopsTask("imdb_self_attentive", *parts))


if __name__ == "__main__":
    start(main, Settings, __doc__)
