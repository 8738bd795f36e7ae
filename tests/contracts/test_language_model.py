"""Contracts of language models beyond those of every model: K4 causality, segments."""

import itertools

import numpy as np
import pytest

from tests.contracts.subjects import build, put_garbage_into_padding, reference_of, run
from tests.contracts.tasks import FIRST_WORD, TASKS
from zoo.models.core.registry import models

TASK = TASKS["language_model"]


def cases():
    """Each model as it is, and with every other choice of an option by itself."""
    for entry in models().values():
        if entry.task != "language_model":
            continue
        yield pytest.param(entry, {}, id=entry.name)
        for name, values in reference_of(entry).OPTIONS.items():
            for value in values[1:]:
                yield pytest.param(entry, {name: value}, id=f"{entry.name}-{name}-{value}")


over_options = pytest.mark.parametrize(("entry", "options"), list(cases()))


class Texts:
    """Random texts without padding, as the functions of `subjects` take a batch."""

    def __init__(self, ids):
        self.inputs = {"text": ids}


def random_ids(rows=1, length=6):
    generator = np.random.default_rng(0)
    size = TASK.sizes["vocabulary_size"]
    return generator.integers(FIRST_WORD, size, (rows, length)).astype("int32")


@over_options
def test_k4_no_output_depends_on_later_words(entry, options):
    model = build(entry, **options)
    put_garbage_into_padding(model)
    ids = random_ids()
    length = ids.shape[1]
    other = np.where(ids == FIRST_WORD, FIRST_WORD + 1, FIRST_WORD)
    changed = np.where(np.eye(length, dtype=bool), other, ids)  # row t differs in word t
    expected, outputs = run(model, Texts(ids)), run(model, Texts(changed))
    for t, (name, axis) in itertools.product(
        range(length), (("logits", 0), ("attention/intra", 1))
    ):
        before, after = (
            np.moveaxis(values, axis, 0) for values in (expected[name][0], outputs[name][t])
        )
        np.testing.assert_allclose(after[:t], before[:t], rtol=1e-5, atol=1e-6, err_msg=name)
    for t in range(length):
        assert np.abs(outputs["logits"][t, t] - expected["logits"][0, t]).max() > 1e-4


@over_options
def test_segments_that_hand_on_the_whole_tape_are_the_whole_text(entry, options):
    model, ids = build(entry, **options), random_ids(rows=3)
    whole, _ = model.read({"text": ids})
    logits, tapes = [], None
    for part in (ids[:, :2], ids[:, 2:3], ids[:, 3:]):
        outputs, tapes = model.read({"text": part}, tapes, carried_slots=7)
        logits.append(outputs["logits"])
    np.testing.assert_allclose(
        np.concatenate(logits, axis=1), whole["logits"], rtol=1e-4, atol=1e-5
    )
    sums = np.sum(outputs["attention"]["intra"], axis=-1)  # of the last segment
    np.testing.assert_allclose(sums, np.ones_like(sums), rtol=1e-5)
