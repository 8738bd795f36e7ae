"""Frozen layers and adapters come back from files, and added losses are not lost in parts."""

import keras
import numpy as np
import pytest

from tests.models.core.test_base import Slope as Plain
from tests.models.core.test_base import X, Y, batches
from tests.models.translators import INPUTS, TARGET, make
from zoo.models.decomposable.decomposable_attention import DecomposableAttention
from zoo.models.rnnsearch.rnnsearch import RNNsearch


def written_and_read(model, folder):
    model.save(folder / "model.keras")
    return keras.saving.load_model(folder / "model.keras")


def trained(model):
    return [weight.path for weight in model.trainable_weights]


def test_frozen_layers_and_weights_stay_frozen_in_a_file(tmp_path):
    model = make(RNNsearch)
    model.encoder.trainable = False
    model.decoder.trainable = False
    model.target_embedding.weights[0].trainable = False
    model.compile("adam")
    model.fit(INPUTS, TARGET, verbose=0)
    read = written_and_read(model, tmp_path)
    assert trained(read) == trained(model)
    assert not read.encoder.trainable
    assert len(read.optimizer.variables) == len(model.optimizer.variables)
    before = read.encoder.get_weights()
    read.fit(INPUTS, TARGET, verbose=0)
    for old, new in zip(before, read.encoder.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_table_that_was_made_frozen_may_be_trained_and_stays_so(tmp_path):
    model = DecomposableAttention.from_preset("tiny", trainable_embeddings=False)
    model.build()
    frozen = trained(model)
    assert trained(written_and_read(model, tmp_path)) == frozen
    model.embedding.trainable = True
    assert len(trained(model)) > len(frozen)
    assert trained(written_and_read(model, tmp_path)) == trained(model)


def test_layers_have_adapters_again(tmp_path):
    model = DecomposableAttention.from_preset("tiny")
    inputs = {name: np.array([[5, 6, 7]]) for name in model.INPUTS}
    model.build()
    model.projection.enable_lora(2, lora_alpha=3.0)
    model.compile("adam")
    model.fit(inputs, np.array([1]), verbose=0)
    read = written_and_read(model, tmp_path)
    assert (read.projection.lora_rank, read.projection.lora_alpha) == (2, 3.0)
    assert trained(read) == trained(model)
    np.testing.assert_allclose(read(inputs)["logits"], model(inputs)["logits"], rtol=1e-5)
    read.fit(inputs, np.array([1]), verbose=0)


class Penalised(Plain):
    """Adds the square of its weight in every call."""

    def call(self, inputs, training=False):
        self.add_loss(self.weight**2)
        return super().call(inputs, training)


@pytest.mark.parametrize("eagerly", [True, False])
def test_a_loss_that_a_call_adds_counts_in_whole_batches_and_is_refused_in_parts(eagerly):
    model = Penalised(name="mine")
    model.compile("sgd", run_eagerly=eagerly)
    plain = Plain()
    plain.compile("sgd", run_eagerly=eagerly)
    losses = [one.evaluate({"x": X}, {"y": Y}, verbose=0) for one in (model, plain)]
    np.testing.assert_allclose(losses[0], losses[1] + 0.25, rtol=1e-6)
    model.compile("sgd", run_eagerly=eagerly, accumulate=2)
    message = r"accumulate must be 1 with add_loss in the call of mine, got 2"
    with pytest.raises(ValueError, match=message):
        model.fit(batches(3), verbose=0)
