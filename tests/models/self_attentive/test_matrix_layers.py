"""Layers on the matrix of a text: who sees what, and how far weights are drawn."""

import numpy as np

from tests.references import self_attentive as reference
from zoo.models.self_attentive.matrix_layers import GatedEncoder, PrunedLayer

MATRIX = np.random.default_rng(2).normal(size=(2, 3, 4))


def test_a_unit_of_the_pruned_layer_sees_one_row_or_one_column():
    layer = PrunedLayer(2, 5, dtype="float64")
    layer.build((None, 3, 4))
    assert layer.units == 3 * 2 + 4 * 5 == layer(MATRIX).shape[1]
    assert layer.count_params() == 3 * 4 * 2 + 4 * 3 * 5 + layer.units
    layer.bias.assign(np.full(layer.units, 9.0))  # none is rectified away
    before = layer(MATRIX).numpy()
    changed = MATRIX.copy()
    changed[:, 1, 2] += 1.0
    differs = np.abs(layer(changed).numpy() - before).min(axis=0) > 1e-9
    rows, columns = differs[:6].reshape(3, 2), differs[6:].reshape(4, 5)
    assert rows.all(axis=1).tolist() == [False, True, False]
    assert columns.all(axis=1).tolist() == [False, False, True, False]
    assert rows.sum() + columns.sum() == 2 + 5


def test_kernels_are_drawn_as_wide_as_those_of_a_dense_layer_on_a_row():
    layer, gated = PrunedLayer(40, 30), GatedEncoder(50)
    layer.build((None, 20, 60))
    gated.build((None, 20, 60))
    for kernels in (layer.row_kernels, layer.column_kernels, *gated.weights):
        _, inputs, outputs = kernels.shape
        limit = np.sqrt(6 / (inputs + outputs))
        assert 0.98 * limit < np.abs(kernels.numpy()).max() <= limit


def test_the_gated_encoder_tells_premise_from_hypothesis():
    layer = GatedEncoder(2, dtype="float64")
    layer.build((None, 3, 4))
    other = MATRIX[::-1]
    weights = {"W_fp": layer.premise_kernels.numpy(), "W_fh": layer.hypothesis_kernels.numpy()}
    for row in range(2):
        expected = reference.gated_encoder(weights, MATRIX[row], other[row])
        np.testing.assert_allclose(layer(MATRIX, other)[row], expected, rtol=1e-12)
    assert np.abs(layer(MATRIX, other) - layer(other, MATRIX)).max() > 1e-3
