"""Mask arguments: invalid masks are refused by name, and Keras masks are not overlooked."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.attention.attend import Attention, attend
from zoo.attention.local import LocalAttention
from zoo.attention.multi_head import CrossAttention, SelfAttention
from zoo.attention.restricted import RestrictedSelfAttention
from zoo.attention.scores import DotScore
from zoo.attention.structured import SyntacticAttention
from zoo.layers.gated_unit import BidirectionalGatedUnit, GatedUnit
from zoo.layers.lstm import LSTM, BidirectionalLSTM, StackedLSTM
from zoo.layers.recurrence import scan
from zoo.models.aoa.over_attention import attend_over, attend_sum
from zoo.models.dcn.coattention import Coattention, coattend
from zoo.models.dcn.pointing import DynamicPointingDecoder
from zoo.models.lstmn.fusion import DeepFusion, ShallowFusion
from zoo.models.lstmn.lstmn import LSTMN
from zoo.models.lstmn.reader_pair import ReaderPair
from zoo.models.lstmn.stacked_lstmn import StackedLSTMN
from zoo.models.transformer.transformer_blocks import DecoderBlock, EncoderBlock
from zoo.models.transformer.transformer_stacks import DecoderStack, EncoderStack
from zoo.ops import masking
from zoo.ops.banded import banded_attention
from zoo.ops.masking import attention_weights
from zoo.ops.pooling import masked_mean
from zoo.ops.windows import sequence_lengths

# Keras takes what it passes on as ``mask=`` for a mask that it should attach to the result.
pytestmark = pytest.mark.filterwarnings("ignore:.*does not support masking")

BATCH, LENGTH, DIM = 2, 5, 4
MASK = np.arange(LENGTH) < np.array([[5], [3]])
VALUES = np.random.default_rng(1).normal(size=(BATCH, LENGTH, DIM)).astype("float32")
HEADS = VALUES[:, None]
SCORES = VALUES @ VALUES.transpose(0, 2, 1)
STACK = {"depth": 1, "model_dim": DIM, "num_heads": 1, "feed_forward_dim": 3}


def built(layer, *shapes):
    layer.build(*shapes or [(None, None, DIM)])
    return layer


def attention():
    return built(Attention(DotScore()), VALUES.shape, VALUES.shape)


def cross(layer, mask, values=VALUES):
    return layer(VALUES, layer.prepare(values), mask)


def coattention(document_mask, question_mask):
    return built(Coattention())(
        VALUES, document_mask=document_mask, question=VALUES, question_mask=question_mask
    )


def pair(*masks):
    return built(ReaderPair(DIM, "deep", False))(VALUES, masks[0], VALUES, masks[1])


def decoded(kind, source_mask, mask=MASK, values=VALUES):
    layer = built(kind(**STACK) if kind is DecoderStack else kind(DIM, 3, 1))
    source = (layer.cross_attention if kind is DecoderBlock else layer).prepare(VALUES)
    return layer(values, source, source_mask=source_mask, mask=mask)


def shallow(mask):
    layer = built(ShallowFusion(DIM))
    return layer(VALUES, layer.prepare(VALUES), VALUES, mask)


# What is given a mask (B, S) gives something that a mask changes; `mask` is how it is called.
TAKERS = {
    "attend": lambda mask: attend(SCORES, VALUES, mask),
    "attention_weights": lambda mask: attention_weights(SCORES, mask),
    "Attention": lambda mask: attention()(VALUES, VALUES, mask),
    "SelfAttention": lambda mask: built(SelfAttention(DIM, 2))(VALUES, mask),
    "RestrictedSelfAttention": lambda mask: built(RestrictedSelfAttention(DIM, 2, 3))(VALUES, mask),
    "CrossAttention": lambda mask: cross(built(CrossAttention(DIM, 2)), mask),
    "EncoderBlock": lambda mask: built(EncoderBlock(DIM, 3, 1))(VALUES, mask),
    "EncoderStack": lambda mask: built(EncoderStack(**STACK))(VALUES, mask),
    "DecoderBlock": lambda mask: decoded(DecoderBlock, MASK, mask),
    "DecoderStack": lambda mask: decoded(DecoderStack, MASK, mask),
    "scan": lambda mask: scan(lambda x, s: (x + s, x + s), VALUES, VALUES[:, 0], mask),
}
MUST = {
    "attend_sum, document_mask": lambda mask: attend_sum(VALUES, mask, VALUES[:, 0]),
    "attend_over, document_mask": lambda mask: attend_over(VALUES, mask, VALUES, MASK),
    "attend_over, query_mask": lambda mask: attend_over(VALUES, MASK, VALUES, mask),
    "coattend, document_mask": lambda mask: coattend(VALUES, mask, VALUES, MASK),
    "coattend, question_mask": lambda mask: coattend(VALUES, MASK, VALUES, mask),
    "Coattention, document_mask": lambda mask: coattention(mask, MASK),
    "Coattention, question_mask": lambda mask: coattention(MASK, mask),
    "DecoderBlock, source_mask": lambda mask: decoded(DecoderBlock, mask),
    "DecoderStack, source_mask": lambda mask: decoded(DecoderStack, mask),
    "LSTM": lambda mask: built(LSTM(3))(VALUES, mask=mask),
    "BidirectionalLSTM": lambda mask: built(BidirectionalLSTM(3))(VALUES, mask=mask),
    "StackedLSTM": lambda mask: built(StackedLSTM(3, 2))(VALUES, mask=mask),
    "GatedUnit": lambda mask: built(GatedUnit(3))(VALUES, mask=mask),
    "BidirectionalGatedUnit": lambda mask: built(BidirectionalGatedUnit(3))(VALUES, mask=mask),
    "LSTMN": lambda mask: built(LSTMN(3))(VALUES, mask=mask)[:3],
    "StackedLSTMN": lambda mask: built(StackedLSTMN(3, 2))(VALUES, mask=mask)[0][:3],
    "ReaderPair, first_mask": lambda mask: pair(mask, MASK).first[:3],
    "ReaderPair, second_mask": lambda mask: pair(MASK, mask).second[:3],
    "ShallowFusion": shallow,
    "DeepFusion": lambda mask: built(DeepFusion(DIM))(VALUES, VALUES, VALUES, mask).source.real,
    "DynamicPointingDecoder": lambda mask: built(DynamicPointingDecoder(3, 2))(VALUES, mask=mask),
    "banded_attention": lambda mask: banded_attention(HEADS, HEADS, HEADS, mask, 3),
    "masked_mean": lambda mask: masked_mean(VALUES, mask),
    "mask_rows": lambda mask: masking.mask_rows(VALUES, mask),
}
FREE = {  # of any length
    "append_sentinel_mask": masking.append_sentinel_mask,
    "sequence_lengths": sequence_lengths,
    "last_position": masking.last_position,
    "mask_scores": lambda mask: masking.mask_scores(VALUES[:, :, 0], mask),
    "masked_softmax": lambda mask: masking.masked_softmax(VALUES[:, :, 0], mask),
    "masked_log_softmax": lambda mask: masking.masked_log_softmax(VALUES[:, :, 0], mask),
    "masked_argmax": lambda mask: masking.masked_argmax(VALUES[:, :, 0], mask),
}
ALL = TAKERS | MUST | FREE


def run(case, mask):
    keras.utils.set_random_seed(3)
    return ALL[case](mask)


def argument(case):
    return case.partition(", ")[2] or "mask"


def refused(case, message):
    """Keras begins the messages of its layers with their names, in bold."""
    return pytest.raises(ValueError, match=rf"(^|\x1b\[1m){argument(case)} {message}")


def arrays(nest):
    return [np.asarray(x) for x in keras.tree.flatten(nest) if x is not None]


@pytest.mark.parametrize("case", ALL)
def test_whole_numbers_are_truth_values(case):
    for actual, expected in zip(
        arrays(run(case, MASK.astype("int32"))), arrays(run(case, MASK)), strict=True
    ):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("case", ALL)
def test_a_mask_of_floats_is_refused(case):
    with refused(case, "must be bool.*, got float32"):
        run(case, np.where(MASK, 0.0, -1e9).astype("float32"))
    with refused(case, "must be bool.*, got float(16|32)"):  # layers of Keras cast floats
        run(case, tf.cast(MASK, "float16"))


@pytest.mark.parametrize("case", TAKERS | MUST)
def test_a_mask_of_another_shape_is_refused(case):
    for shape in ((5,), (2, 1, 1, 5), (2, 4), (3, 5), (2, 3, 5), (1, 5)):
        with refused(case, rf"must be bool of shape \(2, 5\).*, got shape {re.escape(str(shape))}"):
            run(case, np.ones(shape, bool))


@pytest.mark.parametrize("case", MUST | FREE)
def test_no_mask_is_refused_where_one_is_needed(case):
    with refused(case, "must be bool.*, got None"):
        run(case, None)


@pytest.mark.parametrize(
    "function", [masking.masked_softmax, masking.masked_log_softmax, masking.masked_argmax]
)
def test_a_mask_never_changes_the_shape_of_weights(function):
    for scores, mask in (
        ((2, 5), (1, 2, 5)),
        ((2, 5), (2, 4)),
        ((2, 5), (3, 5)),
        ((1, 5), (2, 5)),
        ((2, 1, 5), (2, 3, 5)),
    ):
        message = f"mask must have a shape that broadcasts to {scores}, got {mask}"
        with pytest.raises(ValueError, match=re.escape(message)):
            function(np.zeros(scores), np.ones(mask, bool))
    for mask in ((5,), (1, 5), (3, 5), (2, 1, 5), (1, 3, 1)):
        shape = (2, 3) if function is masking.masked_argmax else (2, 3, 5)
        assert function(np.zeros((2, 3, 5)), np.ones(mask, bool)).shape == shape


def attached():
    """Values that carry a mask of Keras."""
    values = keras.layers.Embedding(3, DIM, mask_zero=True)(np.where(MASK, 2, 0))
    assert values._keras_mask is not None
    return values


USED = {
    "SelfAttention": lambda: built(SelfAttention(DIM, 2)),
    "RestrictedSelfAttention": lambda: built(RestrictedSelfAttention(DIM, 2, 3)),
    "EncoderBlock": lambda: built(EncoderBlock(DIM, 3, 1)),
    "EncoderStack": lambda: built(EncoderStack(**STACK)),
    "LSTM": lambda: built(LSTM(3)),
    "BidirectionalLSTM": lambda: built(BidirectionalLSTM(3)),
    "GatedUnit": lambda: built(GatedUnit(3)),
    "DynamicPointingDecoder": lambda: built(DynamicPointingDecoder(3, 2)),
}


@pytest.mark.parametrize("case", USED)
def test_a_mask_of_keras_is_used_where_there_is_but_one_input(case):
    values, layer = attached(), USED[case]()
    for actual, expected in zip(
        arrays(layer(values, mask=None)), arrays(layer(np.asarray(values), mask=MASK)), strict=True
    ):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SelfAttention(DIM, 2),
        lambda: RestrictedSelfAttention(DIM, 2, 3),
        lambda: SyntacticAttention(3),
        lambda: EncoderBlock(DIM, 3, 1),
        lambda: EncoderBlock(DIM, 3, 1, norm="pre"),
        lambda: EncoderStack(**STACK),
        lambda: EncoderStack(**STACK, norm="pre"),
    ],
    ids=["self", "restricted", "syntactic", "block", "pre block", "stack", "pre stack"],
)
def test_a_mask_of_keras_reaches_the_second_layer_of_self_attention(make):
    layers = [make(), make()]
    first, weights = layers[0](attached())
    np.testing.assert_array_equal(first._keras_mask, MASK)
    assert getattr(weights, "_keras_mask", None) is None
    wanted = arrays(layers[1](np.asarray(first), mask=MASK))
    ids = keras.Input((LENGTH,))
    words = keras.layers.Embedding(3, DIM, mask_zero=True)
    model = keras.Model(ids, layers[1](layers[0](words(ids))[0]))
    words.set_weights([np.random.default_rng(2).normal(size=(3, DIM))])
    read = np.where(MASK, 2, 0)
    for actual, expected in zip(arrays(layers[1](first)), wanted, strict=True):
        np.testing.assert_array_equal(actual, expected)
    inner = layers[0](np.asarray(words(read)), mask=MASK)[0]
    wanted = arrays(layers[1](np.asarray(inner), mask=MASK))
    for actual, expected in zip(arrays(model(read)), wanted, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("make", [lambda: SelfAttention(DIM, 2), lambda: EncoderStack(**STACK)])
def test_a_mask_for_each_query_is_not_passed_on(make):
    outputs, _ = make()(VALUES, mask=np.repeat(MASK[:, None], LENGTH, axis=1))
    assert getattr(outputs, "_keras_mask", None) is None


REFUSED = {
    "Attention, values": lambda x: attention()(VALUES, x),
    "Attention, keys": lambda x: attention()(VALUES, VALUES, keys=x),
    "attend, values": lambda x: attend(SCORES, x),
    "scan, inputs": lambda x: scan(lambda x, s: (x + s, x + s), {"x": x}, VALUES[:, 0]),
    "DecoderBlock, values": lambda x: decoded(DecoderBlock, MASK, None, x),
    "DecoderStack, values": lambda x: decoded(DecoderStack, MASK, None, x),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mask_of_keras_is_refused_where_it_is_not_used(case):
    message = f"mask must be the Keras mask of the {argument(case)}, got None: pass it as mask="
    with pytest.raises(ValueError, match=message):
        REFUSED[case](attached())


def test_a_mask_that_is_given_comes_before_one_of_keras():
    values = attached()
    _, weights = attention()(VALUES, values, mask=~MASK | MASK, keys=values)
    assert weights.numpy().all()


def test_masks_of_symbols_are_checked_as_well():
    values, mask = keras.Input((None, DIM)), keras.Input((None,), dtype="float32")
    with pytest.raises(ValueError, match=r"mask must be bool.*, got float32"):
        SelfAttention(DIM, 2)(values, mask)


SYMBOLIC = {
    "Attention, values": lambda x, plain: Attention(DotScore())(plain, x),
    "Attention, keys": lambda x, plain: Attention(DotScore())(plain, plain, keys=x),
    "Attention, its own values": lambda x, plain: Attention(DotScore())(x, x),
    "DecoderBlock, values": lambda x, plain: decoded(DecoderBlock, MASK, None, x),
    "DecoderStack, values": lambda x, plain: decoded(DecoderStack, MASK, None, x),
}


@pytest.mark.parametrize("case", SYMBOLIC)
def test_a_functional_model_that_would_lose_a_mask_of_keras_is_not_built(case):
    """Keras hands symbols to `call` without their masks."""
    ids = keras.Input((None,), dtype="int32")
    words = keras.layers.Embedding(3, DIM, mask_zero=True)(ids)
    with pytest.raises(ValueError, match=r"mask must be the Keras mask of the \w+, got None"):
        SYMBOLIC[case](words, keras.Input((None, DIM)))


def test_a_functional_model_that_is_given_the_mask_works():
    """Queries may carry a mask of their own, which says nothing of the keys."""
    ids = keras.Input((None,), dtype="int32")
    words = keras.layers.Embedding(3, DIM, mask_zero=True)(ids)
    contexts, weights = Attention(DotScore())(words, words, mask=ids != 0)
    _, of_plain = Attention(DotScore())(words, keras.layers.Dense(DIM)(contexts))
    read = np.where(MASK, 2, 0)
    model = keras.Model(ids, [contexts, weights, of_plain])
    for answer in (model(read), model.predict(read, verbose=0)):
        weights = np.asarray(answer[1])
        np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-6)
        assert not weights[~np.broadcast_to(MASK[:, None], weights.shape)].any()


@pytest.mark.parametrize(
    "lengths", [MASK, MASK.astype("int32"), np.array([5.0, 3.0]), np.array([5])]
)
def test_lengths_of_local_attention_are_no_mask(lengths):
    layer = built(LocalAttention(DotScore(), 1), VALUES.shape, VALUES.shape)
    with pytest.raises(ValueError, match=r"lengths must be whole numbers of shape \(2,\), got"):
        layer(VALUES, layer.prepare(VALUES), VALUES, lengths)
