"""Tests of the gated baselines without attention beyond the contracts."""

import numpy as np
import pytest

from tests.models.translators import (
    INPUTS,
    SOURCE,
    WRONG_EVERYWHERE,
    make,
    refuses,
    start_is_not_read,
)
from zoo.models.rnnsearch.rnnencdec import ChoTranslator, RNNencdec

MODELS = [RNNencdec, ChoTranslator]
WRONG = [*WRONG_EVERYWHERE, ("maxout_dim", 0, "a positive integer")]
every_model = pytest.mark.parametrize("model", MODELS)


@every_model
@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(model, name, value, expected):
    refuses(model, name, value, expected)


def test_a_rank_out_of_range_is_refused():
    refuses(ChoTranslator, "rank", 0, "a positive integer")


@every_model
def test_the_start_is_the_zero_vector(model):
    start_is_not_read(make(model))


@every_model
def test_every_step_reads_the_same_vector_of_the_source(model):
    built = make(model)
    memory = built.encode({"source": SOURCE})
    assert memory["context"].shape == (2, built.hidden_dim)
    assert memory.keys() == {"context", "context_gates", "mask"}
    assert built(INPUTS)["attention"] == {}
    changed = memory | {"context": memory["context"] + 1.0}
    words = {name: values[:, 0] for name, values in built.embed(INPUTS["target"]).items()}
    state = built.initial_state(memory)
    before, after = (built.advance(words, state, one)[0]["context"] for one in (memory, changed))
    assert np.abs(np.array(before - after)).max() > 0.5  # it is read out, too


def test_recurrent_matrices_begin_orthogonal_and_the_softmax_has_a_low_rank():
    model = make(ChoTranslator, seed=None, hidden_dim=20)
    blocks = [
        block
        for weight in model.weights
        if "recurrent_kernel" in weight.path
        for block in np.split(weight.value.numpy(), weight.shape[1] // 20, axis=1)
    ]
    assert len(blocks) == 2 * 3
    for block in blocks:
        np.testing.assert_allclose(block.T @ block, np.eye(20), atol=1e-5)
    assert not any("bias" in weight.path for weight in model.weights)
    readout = model.read_out
    assert tuple(readout.inner_kernel.shape) == (model.maxout_dim, model.rank)
    assert tuple(readout.kernel.shape) == (model.rank, model.target_vocabulary_size)
