"""Two directions together: what the card of the other one holds."""

import logging
import math
from types import SimpleNamespace

from zoo.tasks.translation.recipe import TranslationTask
from zoo.tasks.translation.symmetric import SymmetricTask


def test_a_perplexity_that_overflows_is_in_the_card_of_neither_direction(monkeypatch, caplog):
    measured = {"bleu": 1.0, "perplexity": math.inf}
    other = SimpleNamespace(endpoint=lambda _: None, measure=lambda _: measured, notes={})
    task = object.__new__(SymmetricTask)
    task.folder = SimpleNamespace(logger=logging.getLogger("tests.symmetric"))
    task.notes, task.target_to_source = {}, None
    monkeypatch.setattr(TranslationTask, "measure", lambda *_: measured)
    monkeypatch.setattr(SymmetricTask, "_exchanged", lambda _: other)
    with caplog.at_level(logging.INFO):
        assert task.measure(None) == measured  # of which `run` leaves it out
    assert task.other_metrics == task.notes["backward"] == {"bleu": 1.0}
    assert "perplexity is inf on the test part, and is left out" in caplog.text
