"""K15: the number of parameters is the paper's, counted without allocating any."""

import math

import keras
import pytest

from tests.contracts.subjects import every_model
from zoo.models.registry import models


def lstm(inputs, units):
    return 4 * units * (units + inputs) + 4 * units


# No number was published for DCN+; this is the sum of its parts at the sizes of DCN, a BiLSTM
# having that many units in each direction.
DCN_PLUS = (
    2 * lstm(300, 200)  # first encoder
    + 2 * 400  # sentinels
    + 400 * 400 + 400  # the question's projection
    + 2 * lstm(400, 200)  # second encoder
    + 2 * lstm(6 * 400, 200)  # fusion
    + lstm(800, 200)  # decoder
    + 2 * (2_772_816 + 600 * 16)  # scorers of DCN, each with a gate for 16 experts
    + 2  # logarithms of the uncertainties
)  # fmt: skip

TRAINABLE = {
    ("DynamicCoattentionNetwork", "paper"): 8_069_432,
    ("DynamicCoattentionNetworkPlus", "paper"): DCN_PLUS,
}
"""Trainable parameters of (model, preset); fixed word vectors are not among them."""


@pytest.mark.parametrize(("model", "preset"), TRAINABLE)
def test_k15_trainable_parameters_are_those_of_the_paper(model, preset):
    with keras.StatelessScope():
        built = models()[model].cls.from_preset(preset)
        built.build()
    total = sum(math.prod(weight.shape) for weight in built.trainable_weights)
    assert total == TRAINABLE[model, preset]


@every_model
def test_k15_every_preset_of_a_paper_has_its_number(entry):
    presets = {name for name in entry.cls.PRESETS if name.startswith("paper")}
    assert "paper" in presets
    assert presets == {preset for model, preset in TRAINABLE if model == entry.name}
