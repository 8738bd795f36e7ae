"""Tests of RNNsearch beyond the contracts: its arguments, and the start of its training."""

import numpy as np
import pytest

from tests.models.translators import (
    INPUTS,
    LENGTHS,
    SOURCE,
    TARGET,
    WRONG_EVERYWHERE,
    make,
    refuses,
    same_outputs,
    start_is_not_read,
)
from zoo.models.rnnsearch.rnnencdec import RNNencdec
from zoo.models.rnnsearch.rnnsearch import RNNsearch

WRONG = [
    *WRONG_EVERYWHERE,
    ("alignment_dim", 0, "a positive integer"),
    ("maxout_dim", 0, "a positive integer"),
    ("readout", "eq5", r"one of \['appendix', 'eq4', 'groundhog'\]"),
]
READOUTS = ["appendix", "eq4", "groundhog"]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    refuses(RNNsearch, name, value, expected)


@pytest.mark.parametrize("readout", READOUTS)
def test_training_begins_with_uniform_attention(readout):
    model = make(RNNsearch, seed=None, readout=readout)
    alignment = model(INPUTS)["attention"]["alignment"].numpy()
    for row, length in enumerate(LENGTHS):
        weights = alignment[row, TARGET[row] != 0]
        np.testing.assert_allclose(weights[:, :length], 1.0 / length, rtol=1e-6)
        assert not weights[:, length:].any()


@pytest.mark.parametrize("readout", READOUTS)
def test_without_v_a_attention_is_uniform_whatever_else_was_learned(readout):
    model = make(RNNsearch, readout=readout)
    model.score.scale.assign(np.zeros(model.alignment_dim))
    alignment = model(INPUTS)["attention"]["alignment"].numpy()
    np.testing.assert_allclose(alignment[1, :2, :2], 0.5, rtol=1e-6)


def test_weights_begin_as_in_appendix_b():
    sizes = {"embedding_dim": 60, "hidden_dim": 50, "alignment_dim": 40, "maxout_dim": 30}
    model = make(RNNsearch, seed=None, **sizes, target_vocabulary_size=500)
    orthogonal = 0
    for weight in model.weights:
        name, value = weight.path.split("/")[-1], weight.value.numpy()
        if "recurrent_kernel" in name:
            for block in np.split(value, value.shape[1] // 50, axis=1):
                np.testing.assert_allclose(block.T @ block, np.eye(50), atol=1e-5)
                orthogonal += 1
        elif "bias" in name or name == "scale":
            assert not value.any(), weight.path
        else:
            if name == "table":
                assert not value[0].any()
                value = value[1:]
            deviation = 0.001 if "alignment" in weight.path else 0.01
            np.testing.assert_allclose(value.std(), deviation, rtol=0.1, err_msg=weight.path)
            assert abs(value.mean()) < deviation / 5, weight.path
    assert orthogonal == 3 * 3  # gates and candidate of two encoders and the decoder


def test_the_start_is_the_zero_vector():
    start_is_not_read(make(RNNsearch))


def test_one_source_word_leaves_nothing_to_search():
    """With both directions alike, and one of them not looked at, it is RNNencdec."""
    model, plain = make(RNNsearch), make(RNNencdec, seed=2)
    encoder, n = model.encoder, model.hidden_dim
    for name in ("kernel", "recurrent_kernel_gates", "recurrent_kernel", "bias"):
        value = getattr(encoder.forward_direction, name)
        getattr(encoder.backward_direction, name).assign(value)
        getattr(plain.encoder.direction, name).assign(value)
    for layer, other in ((model.decoder, plain.decoder), (model.read_out, plain.read_out)):
        kernel = layer.context_kernel.value.numpy().copy()
        kernel[n:] = 0.0  # of the backward annotation
        layer.context_kernel.assign(kernel)
        for weight, source in zip(other.weights, layer.weights, strict=True):
            value = source.value.numpy()
            weight.assign(value[:n] if "context_kernel" in source.path else value)
    for name in ("source_embedding", "target_embedding", "first_state"):
        getattr(plain, name).set_weights(getattr(model, name).get_weights())
    inputs = {"source": SOURCE[:, :1], "target": TARGET}
    outputs, expected = model(inputs), plain(inputs)
    assert (outputs["attention"].pop("alignment").numpy()[TARGET != 0] == 1).all()
    same_outputs(outputs, expected)


def test_groundhog_alone_carries_the_context_in_its_state():
    states = {}
    for readout in READOUTS:
        model = make(RNNsearch, readout=readout)
        states[readout] = set(model.initial_state(model.encode({"source": SOURCE})))
    assert states["appendix"] == states["eq4"] == {"hidden"}
    assert states["groundhog"] == {"hidden", "context", "started"}
