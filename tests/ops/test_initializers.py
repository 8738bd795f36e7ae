"""Matrices that one initialiser with a seed draws: those of a layer differ."""

import keras
import numpy as np
import pytest

from zoo.attention.additive_scores import AdditiveScore, LinearAdditiveScore
from zoo.attention.multi_head import CrossAttention, SelfAttention
from zoo.attention.restricted import RestrictedSelfAttention
from zoo.layers.gated_unit import BidirectionalGatedUnit, GatedUnit
from zoo.layers.lstm import LSTM, BidirectionalLSTM, StackedLSTM
from zoo.models.decomposable.feed_forward import FeedForward
from zoo.models.decomposable.soft_parents import SoftParents
from zoo.models.lstmn.fusion import DeepFusion
from zoo.models.lstmn.lstmn import LSTMN
from zoo.models.neural_gpu.cgru import ConvolutionalGatedUnit
from zoo.models.rnnsearch.alignment_biases import AlignmentBiases
from zoo.models.rnnsearch.readout import MaxoutReadout, TanhReadout
from zoo.ops.initializers import fresh

DIM = 4
SHAPE = (None, None, DIM)


def seeded(seed=7):
    return keras.initializers.RandomUniform(-1.0, 1.0, seed=seed)


def recurrent(cls, *args, **options):
    return cls(*args, kernel_initializer=seeded(), recurrent_initializer=seeded(1000), **options)


def kernels(cls, *args, **options):
    return cls(*args, kernel_initializer=seeded(), **options)


LAYERS = {
    "LSTM": lambda: (recurrent(LSTM, DIM), SHAPE),
    "BidirectionalLSTM": lambda: (recurrent(BidirectionalLSTM, DIM), SHAPE),
    "StackedLSTM": lambda: (recurrent(StackedLSTM, DIM, 3, feed_dim=DIM), SHAPE),
    "GatedUnit": lambda: (recurrent(GatedUnit, DIM, context_dim=DIM), SHAPE),
    "BidirectionalGatedUnit": lambda: (recurrent(BidirectionalGatedUnit, DIM), SHAPE),
    "SelfAttention": lambda: (kernels(SelfAttention, DIM, 2), SHAPE),
    "CrossAttention": lambda: (kernels(CrossAttention, DIM, 2), SHAPE),
    "RestrictedSelfAttention": lambda: (kernels(RestrictedSelfAttention, DIM, 2, 3), SHAPE),
    "AdditiveScore": lambda: (kernels(AdditiveScore, DIM), SHAPE, SHAPE),
    "LinearAdditiveScore": lambda: (kernels(LinearAdditiveScore), SHAPE, SHAPE),
    "LSTMN": lambda: (recurrent(LSTMN, DIM), SHAPE),
    "DeepFusion": lambda: (recurrent(DeepFusion, DIM), SHAPE),
    "FeedForward": lambda: (FeedForward(DIM, initializer=seeded()), SHAPE),
    "SoftParents": lambda: (SoftParents(DIM, initializer=seeded()), SHAPE, SHAPE),
    "MaxoutReadout": lambda: (kernels(MaxoutReadout, DIM, DIM), SHAPE, SHAPE, SHAPE),
    "MaxoutReadout of rank": lambda: (kernels(MaxoutReadout, DIM, 9, rank=DIM), *[SHAPE] * 3),
    "AlignmentBiases": lambda: (AlignmentBiases(DIM, True, True, True, 2, seeded()),),
    "TanhReadout": lambda: (kernels(TanhReadout, DIM), SHAPE, SHAPE, SHAPE),
}


@pytest.mark.parametrize("name", LAYERS)
def test_matrices_of_a_layer_differ(name):
    layer, *shapes = LAYERS[name]()
    layer.build(*shapes)
    values = np.concatenate([w.numpy().ravel() for w in layer.weights if "bias" not in w.name])
    assert len(values) > DIM
    repeated = len(values) - len(np.unique(values))
    assert repeated <= 2  # by chance, of 2^23 values


@pytest.mark.parametrize("number", [0, 2])
def test_copies_of_a_seed_are_counted(number):
    expected = seeded(7 + number)((3, DIM))
    np.testing.assert_array_equal(fresh(seeded(), number)((3, DIM)), expected)


def test_the_number_of_a_copy_changes_nothing_without_a_seed():
    drawn = []
    for number in (0, 5):
        keras.utils.set_random_seed(3)
        drawn.append(fresh(keras.initializers.GlorotUniform(), number)((3, DIM)).numpy())
    np.testing.assert_array_equal(*drawn)


RECURRENT = {
    "LSTM": lambda dtype: (LSTM(DIM, dtype=dtype), SHAPE),
    "BidirectionalLSTM": lambda dtype: (BidirectionalLSTM(DIM, dtype=dtype), SHAPE),
    "StackedLSTM": lambda dtype: (StackedLSTM(DIM, 2, dtype=dtype), SHAPE),
    "GatedUnit": lambda dtype: (GatedUnit(DIM, dtype=dtype), SHAPE),
    "BidirectionalGatedUnit": lambda dtype: (BidirectionalGatedUnit(DIM, dtype=dtype), SHAPE),
    "LSTMN": lambda dtype: (LSTMN(DIM, dtype=dtype), SHAPE),
    "DeepFusion": lambda dtype: (DeepFusion(DIM, dtype=dtype), SHAPE),
    "ConvolutionalGatedUnit": lambda dtype: (ConvolutionalGatedUnit(DIM, 3, dtype=dtype), SHAPE),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_orthogonal_matrices_can_be_drawn_in_bfloat16(name):
    """They are those of float32, rounded."""
    drawn = []
    for dtype in ("float32", "bfloat16"):
        keras.utils.set_random_seed(3)
        layer, shape = RECURRENT[name](dtype)
        layer.build(shape)
        drawn.append({weight.path.partition("/")[2]: weight for weight in layer.weights})
    single, half = drawn
    assert single.keys() == half.keys()
    kind = "kernel" if name == "ConvolutionalGatedUnit" else "recurrent"
    for path in [path for path in single if kind in path]:
        assert half[path].dtype == "bfloat16"
        np.testing.assert_array_equal(
            keras.ops.cast(half[path], "float32"),
            keras.ops.cast(keras.ops.cast(single[path], "bfloat16"), "float32"),
        )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", None])
def test_orthogonal_matrices_of_other_types_are_those_of_keras(dtype):
    initializer = keras.initializers.Orthogonal(seed=3)
    np.testing.assert_array_equal(
        fresh(initializer)((3, DIM), dtype=dtype), initializer((3, DIM), dtype=dtype)
    )
