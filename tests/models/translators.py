"""Shared parts of the translation models' tests: two pairs, models, wrong arguments."""

from typing import Any

import numpy as np
import pytest

from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel

SOURCE = np.array([[5, 6, 7, 8, 3], [9, 3, 0, 0, 0]], "int32")
TARGET = np.array([[2, 5, 6, 7], [2, 8, 9, 0]], "int32")
INPUTS = {"source": SOURCE, "target": TARGET}
LENGTHS = [5, 2]
REVERSED = np.array([[3, 8, 7, 6, 5], [3, 9, 0, 0, 0]], "int32")

WRONG_EVERYWHERE = [
    *[
        (name, value, "a positive integer")
        for name in (
            "source_vocabulary_size",
            "target_vocabulary_size",
            "embedding_dim",
            "hidden_dim",
        )
        for value in (0, 2.0)
    ],
    ("loss_normaliser", "words", r"one of \['sentences', 'tokens'\]"),
    ("dropout", 1.0, "at least 0 and less than 1"),
    ("dropout", -0.1, "at least 0 and less than 1"),
    ("label_smoothing", 1.0, "at least 0 and less than 1"),
]


def refuses(model: type[SequenceToSequenceModel], name: str, value: Any, expected: str) -> None:
    """Checks the error that an argument raises."""
    with pytest.raises(ValueError, match=f"^{name} must be {expected}.*, got {value!r}"):
        model.from_preset("tiny", **{name: value})


def make(model: type[SequenceToSequenceModel], seed: int | None = 1, **arguments):
    """A tiny model with random weights; without a seed, with those that training starts from."""
    built = model.from_preset("tiny", **arguments)
    built.build()
    if seed is not None:
        generator = np.random.default_rng(seed)
        for weight in built.weights:
            weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return built


def copy_weights(model, other) -> None:
    """Gives a model the weights of another one, which has the same in the same order."""
    model.set_weights(other.get_weights())


def same_outputs(outputs, expected, tolerance=1e-5) -> None:
    """Logits and alignments of the real targets are the same."""
    real = TARGET != 0
    for one, other in ((outputs, expected), (outputs["attention"], expected["attention"])):
        assert one.keys() == other.keys()
        for name in one.keys() - {"attention"}:
            np.testing.assert_allclose(
                np.array(one[name])[real],
                np.array(other[name])[real],
                rtol=tolerance,
                atol=tolerance,
                err_msg=name,
            )


def start_is_not_read(model) -> None:
    """The embedding of the start is the zero vector, whatever stands in the table."""
    expected = model(INPUTS)
    table = model.target_embedding.table
    values = table.value.numpy().copy()
    values[2] = 9.0
    table.assign(values)
    same_outputs(model(INPUTS), expected, 1e-7)
    values[5] = 9.0
    table.assign(values)
    assert np.abs(np.array(model(INPUTS)["logits"] - expected["logits"])[0, 1]).max() > 1e-2
