"""Settings of layers: wrong ones are refused by name, those of NumPy become Python's."""

import json

import numpy as np
import pytest

from zoo.attention.local import LocalAttention
from zoo.attention.multi_head import CrossAttention, SelfAttention
from zoo.attention.restricted import RestrictedSelfAttention
from zoo.attention.scores import AdditiveScore, ConcatScore, DotScore, LocationScore
from zoo.attention.structured import SegmentationAttention, SyntacticAttention
from zoo.layers.classifier_head import ClassifierHead
from zoo.layers.embedding import WordEmbedding
from zoo.layers.gated_unit import BidirectionalGatedUnit, GatedUnit, ResetAfterUnit
from zoo.layers.lstm import LSTM, BidirectionalLSTM, StackedLSTM

LAYERS = {
    AdditiveScore: {"units": 3},
    BidirectionalGatedUnit: {"units": 3},
    BidirectionalLSTM: {"units": 3},
    ClassifierHead: {"classes": 3, "units": 4, "hidden_layers": 1, "dropout": 0.5},
    ConcatScore: {"units": 3},
    CrossAttention: {"model_dim": 4, "num_heads": 2, "key_dim": 3, "value_dim": 3, "dropout": 0.5},
    GatedUnit: {"units": 3, "context_dim": 2},
    LSTM: {"units": 3},
    LocalAttention: {"half_width": 2},
    LocationScore: {"maximum_length": 5},
    ResetAfterUnit: {"units": 3, "context_dim": 2},
    RestrictedSelfAttention: {"model_dim": 4, "num_heads": 2, "window": 3, "dropout": 0.5},
    SegmentationAttention: {"total": 1.5, "pairwise_l2": 0.25},
    SelfAttention: {"model_dim": 4, "num_heads": 2, "key_dim": 3, "value_dim": 3, "dropout": 0.5},
    StackedLSTM: {"units": 3, "depth": 2, "dropout": 0.5, "feed_dim": 2},
    SyntacticAttention: {"units": 3},
    WordEmbedding: {"vocabulary_size": 5, "embedding_dim": 2, "l2": 0.25},
}
COUNTS = {"context_dim", "feed_dim", "hidden_layers"}  # may be 0
PENALTIES = {"l2", "pairwise_l2"}  # may be 0, and any number above
RATES = {"dropout"}
OPTIONAL = {"key_dim", "value_dim"}
SETTINGS = [(cls, name) for cls in LAYERS for name in LAYERS[cls]]


def make(cls, **settings):
    score = {"score": DotScore()} if cls is LocalAttention else {}
    return cls(**score, **LAYERS[cls] | settings)


def wrong_values(name):
    numbers = [True, -1, float("nan"), float("inf"), -float("inf"), "3"]
    numbers += [] if name in OPTIONAL else [None]
    if name in RATES:
        return [*numbers, 1.0, 1]
    if name in PENALTIES:
        return [*numbers, -0.5]
    if name == "total":
        return [*numbers, 0, -0.5]
    return [*numbers, 2.5, 3.0, *([] if name in COUNTS else [0])]


@pytest.mark.parametrize(("cls", "name"), SETTINGS)
def test_wrong_settings_are_refused_by_name(cls, name):
    for value in wrong_values(name):
        with pytest.raises(ValueError, match=rf"{name} must be .*, got {value!r}$"):
            make(cls, **{name: value})


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls, name in SETTINGS if name in COUNTS])
def test_counts_may_be_zero(cls, name):
    assert make(cls, **{name: 0}).get_config()[name] == 0


@pytest.mark.parametrize("cls", LAYERS)
def test_numbers_of_numpy_become_pythons(cls):
    settings = {
        name: np.int64(value) if isinstance(value, int) else np.float32(value)
        for name, value in LAYERS[cls].items()
    }
    config = make(cls, **settings).get_config()
    assert {name: config[name] for name in settings} == LAYERS[cls]
    json.dumps({name: config[name] for name in settings})  # NumPy's are no JSON


@pytest.mark.parametrize("dtype", ["int8", "float8", 16, True])
def test_tables_are_of_floats(dtype):
    with pytest.raises(ValueError, match=rf"table_dtype must be None or one of .*, got {dtype!r}"):
        WordEmbedding(5, 2, table_dtype=dtype)
