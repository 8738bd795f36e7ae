"""The metric that a model is known by."""

import dataclasses

import pytest

from tests.serving.test_cards import CARD
from zoo.serving.headlines import headline


@pytest.mark.parametrize(
    ("task", "metrics", "expected"),
    [
        ("translation", {"perplexity": 4.0, "bleu": 30.0}, "bleu"),
        ("translation", {"perplexity": 4.0}, "perplexity"),
        ("summary", {"rouge": 1.0, "bleu": 30.0}, "rouge"),
        ("constructor", {}, ""),
    ],
)
def test_a_task_has_its_metric_and_others_their_first(task, metrics, expected):
    assert headline(dataclasses.replace(CARD, task=task, metrics=metrics)) == expected
