"""Every task chooses its weights by a metric, and by a loss where that stands still."""

import importlib
from typing import Any

import pytest

from zoo.data import (
    classification_sample,
    cloze_sample,
    digit_sample,
    language_sample,
    reading_sample,
    tabular_sample,
    translation_sample,
)

SMALL = {"hidden_dim": 4, "embedding_dim": 4, "batch_size": 8, "strategy": "none"}
OWN: dict[str, dict[str, Any]] = {"algorithms": {"hidden_dim": None}}
"""Settings of a task that differ: the machine has no use for the size of its baseline."""
TASKS = {
    "reading": ("squad_dcn", "f1", "answer_loss"),
    "cloze": ("cloze_aoa", "accuracy", "answer_loss"),
    "classification": ("sst_lstmn", "accuracy", "loss"),
    "captioning": ("flickr8k_caption", "bleu_4", "perplexity"),
    "images": ("mnist_glimpse", "accuracy", "loss"),
    "language_model": ("wikitext_lstmn", "perplexity", None),
    "tabular": ("adult_features", "loss", None),
    "algorithms": ("copy_ntm", "bits", None),
    "symbols": ("algorithms_neural_gpu", "whole", "loss"),
    "translation": ("multi30k_seq2seq", "bleu", "perplexity"),
}


class Asked(BaseException):
    """Ends a recipe where its training would begin."""


@pytest.fixture
def small_samples(monkeypatch):
    """Makes a part of each sample: all of it takes half a minute to read."""
    for sizes in (
        classification_sample.SAMPLE_ROWS,
        cloze_sample.SAMPLE_QUESTIONS,
        digit_sample.SAMPLE_IMAGES,
        language_sample.SAMPLE_LINES,
        reading_sample.SAMPLE_QUESTIONS,
        tabular_sample.SAMPLE_ROWS,
        translation_sample.SAMPLE_PAIRS,
    ):
        for split in sizes:
            monkeypatch.setitem(sizes, split, 128)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("task", TASKS)
def test_the_metrics_that_choose_the_weights(task: str, tmp_path, monkeypatch) -> None:
    name, monitor, ties = TASKS[task]
    asked: dict[str, Any] = {}

    def train(settings, model, batches, run, workers, evaluate, **choice):
        asked.update(choice, evaluate=evaluate)
        raise Asked

    monkeypatch.setattr("zoo.tasks.shared.training_run.train", train)
    recipe = importlib.import_module(f"recipes.{name}")
    fields = recipe.Settings.__dataclass_fields__
    small = SMALL | OWN.get(task, {})
    sizes = {field: size for field, size in small.items() if field in fields}
    with pytest.raises(Asked):
        recipe.main(recipe.Settings(data="sample", run_dir=tmp_path, **sizes))
    assert (asked["monitor"], asked.get("ties")) == (monitor, ties)
    assert asked.get("mode", "max") == (
        "min" if monitor in ("bits", "loss", "perplexity") else "max"
    )
    metrics = asked["evaluate"]()
    assert monitor in metrics
    if ties is not None:
        assert 0 < metrics[ties] < 1e4
