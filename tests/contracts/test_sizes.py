"""K15: the number of parameters is the paper's, counted without allocating any."""

import math

import keras
import pytest

from tests.contracts.subjects import every_model
from zoo.models.registry import models

TRAINABLE = {
    ("DynamicCoattentionNetwork", "paper"): 8_069_432,
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
