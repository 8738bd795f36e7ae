"""Fusion of two texts: what its weights start at. `test_lstmn` compares it with the reference."""

import numpy as np
import pytest

from zoo.models.lstmn.fusion import DeepFusion


def built(units, input_dim, **options):
    layer = DeepFusion(units, **options)
    layer.build((None, None, input_dim))
    return {weight.name: weight.numpy() for weight in layer.weights}


def test_fresh_weights_of_deep_fusion():
    weights = built(24, 40)
    recurrent = weights.pop("gate_summary_kernel")
    np.testing.assert_allclose(recurrent @ recurrent.T, np.eye(24), atol=1e-5)
    assert not weights.pop("gate_bias").any()
    assert list(weights) == [
        "source_kernel",
        "input_kernel",
        "summary_kernel",
        "scale",
        "gate_kernel",
    ]
    for name, kernel in weights.items():
        limit = np.sqrt(6 / (sum(kernel.shape) if kernel.ndim == 2 else 2 * kernel.size))
        assert 0.75 * limit < np.abs(kernel).max() <= limit, name
        assert len(np.unique(kernel)) > 0.98 * kernel.size, name
    kernels = [weights[name] for name in ("source_kernel", "summary_kernel")]
    assert not np.array_equal(*kernels)
    assert not np.array_equal(weights["input_kernel"], weights["gate_kernel"])


@pytest.mark.parametrize("names", [("ones", "zeros"), ("zeros", "ones")])
def test_initialisers_are_for_what_they_say(names):
    weights = built(3, 2, kernel_initializer=names[0], recurrent_initializer=names[1])
    number = {"ones": 1.0, "zeros": 0.0}
    assert not weights.pop("gate_bias").any()
    assert (weights.pop("gate_summary_kernel") == number[names[1]]).all()
    for name, kernel in weights.items():
        assert (kernel == number[names[0]]).all(), name
