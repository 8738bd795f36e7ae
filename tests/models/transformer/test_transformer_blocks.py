"""Where the norms of a block stand, and where its dropout falls."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.transformer.transformer_blocks import DecoderBlock, EncoderBlock

SIZES = {"model_dim": 6, "feed_forward_dim": 8, "num_heads": 2}
BLOCKS = pytest.mark.parametrize("cls", [EncoderBlock, DecoderBlock])


def make(cls, **options):
    block = cls(**SIZES, **options, dtype="float64")
    block.build()
    return block


def run(block, values, training=False):
    """The block's new values, of a decoder's with a source of its own values."""
    if isinstance(block, EncoderBlock):
        return block(values, training=training)[0].numpy()
    source = block.cross_attention.prepare(tf.constant(values))
    mask = np.ones(values.shape[:2], bool)
    return block(values, source, mask, training=training)[0].numpy()


@pytest.fixture
def values():
    return np.random.default_rng(1).normal(2.0, 3.0, (2, 5, 6))


@BLOCKS
def test_norms_are_those_of_the_paper(cls, values):
    block = make(cls)
    norms = [layer for layer in block._flatten_layers() if "norm" in layer.name]
    assert {norm.epsilon for norm in norms if hasattr(norm, "epsilon")} == {1e-6}
    outputs = run(block, values)
    np.testing.assert_allclose(outputs.mean(axis=-1), 0.0, atol=1e-9)  # gain 1, bias 0
    np.testing.assert_allclose(outputs.var(axis=-1), 1.0, rtol=1e-4)


@BLOCKS
def test_before_the_sublayers_the_norm_leaves_the_residual_alone(cls, values):
    block = make(cls, norm="pre")
    for weight in block.weights:
        if "output_kernel" in weight.path or "outer" in weight.path:
            weight.assign(np.zeros(weight.shape))
    np.testing.assert_array_equal(run(block, values), values)


@BLOCKS
def test_sublayers_before_a_norm_do_not_see_the_size_of_the_values(cls, values):
    block = make(cls, norm="pre")
    added, of_larger = run(block, values) - values, run(block, 9.0 * values) - 9.0 * values
    if cls is EncoderBlock:  # the second sublayer reads what the first has added
        _, weights = block(values)
        _, same = block(9.0 * values)
        np.testing.assert_allclose(weights, same, rtol=1e-5)
    assert np.abs(added).max() > 1e-3
    assert np.abs(of_larger).max() < 9.0 * np.abs(added).max()


@BLOCKS
@pytest.mark.parametrize("rate", ["dropout", "attention_dropout", "activation_dropout"])
def test_each_dropout_acts_in_training_only(cls, rate, values):
    block, plain = make(cls, **{rate: 0.5}), make(cls)
    names = [w.path.split("/", 1)[1] for w in plain.weights]
    copied = [w.numpy() for w in block.weights if "seed" not in w.path]
    assert len(names) == len(copied)
    plain.set_weights(copied)
    np.testing.assert_array_equal(run(block, values), run(plain, values))
    assert np.abs(run(block, values, training=True) - run(plain, values)).max() > 1e-3


@BLOCKS
def test_a_configuration_makes_the_same_block(cls):
    block = make(cls, key_dim=2, value_dim=5, norm="pre", dropout=0.1, use_attention_bias=True)
    copy = cls.from_config(block.get_config())
    assert copy.get_config() == block.get_config()
    copy.build()
    assert [w.shape for w in copy.weights] == [w.shape for w in block.weights]


def test_a_norm_elsewhere_is_refused():
    with pytest.raises(ValueError, match=r"^norm must be one of \['post', 'pre'\], got 'both'"):
        EncoderBlock(**SIZES, norm="both")


@pytest.mark.parametrize("cls", [EncoderBlock, DecoderBlock])
def test_inputs_of_another_size_are_refused_when_the_block_is_built(cls):
    block = cls(model_dim=6, feed_forward_dim=8, num_heads=2)
    with pytest.raises(ValueError, match=r"^inputs must have the size model_dim 6, got 4"):
        block.build((None, None, 4))
