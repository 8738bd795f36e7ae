"""The list of models."""

import keras
import pytest

from tests.published import published
from zoo.models.core import registry
from zoo.models.core.base import BaseModel
from zoo.models.dcn.dcn import DynamicCoattentionNetwork


def test_a_model_is_found_by_the_name_of_its_class_and_known_to_keras():
    for name, entry in published().items():
        assert registry.find_model(name) is entry
        assert entry.name == name == entry.cls.__name__
        assert issubclass(entry.cls, BaseModel)
        assert keras.saving.get_registered_object(f"zoo>{name}") is entry.cls
        assert {"tiny", "paper"} <= entry.cls.PRESETS.keys()
    assert registry.find_model("DynamicCoattentionNetwork").cls is DynamicCoattentionNetwork
    assert registry.find_model("DynamicCoattentionNetwork").task == "reading"


def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(
        ValueError, match=r"name must be one of \[.*'DynamicCoattentionNetwork'.*, got 'Dcn'"
    ):
        registry.find_model("Dcn")


def test_the_list_is_a_copy():
    registry.models().clear()
    assert registry.models()
