"""Parts that several layers share, and ``prepare`` in functional models."""

import keras
import numpy as np
import pytest

from zoo.attention.attend import Attention
from zoo.attention.local import LocalAttention
from zoo.attention.multi_head import CrossAttention
from zoo.attention.scores import (
    AdditiveScore,
    ConcatLinearScore,
    ConcatScore,
    DotScore,
    GeneralScore,
    LinearAdditiveScore,
)
from zoo.models.structured.sentence_memory import SentenceMemory, read_story
from zoo.models.transformer.transformer_stacks import DecoderStack

DIM = 4
RNG = np.random.default_rng(1)
QUERIES = RNG.normal(size=(2, 3, DIM)).astype("float32")
KEYS = RNG.normal(size=(2, 5, DIM)).astype("float32")
MASK = np.arange(5) < np.array([[5], [3]])
LENGTHS = MASK.sum(1).astype("int32")
STACK = {"depth": 2, "model_dim": DIM, "num_heads": 2, "feed_forward_dim": 3}
SCORES = {
    "dot": DotScore,
    "general": GeneralScore,
    "additive": lambda **kwargs: AdditiveScore(3, use_bias=True, **kwargs),
    "concat": lambda **kwargs: ConcatScore(3, use_bias=True, **kwargs),
    "linear concat": ConcatLinearScore,
    "linear additive": LinearAdditiveScore,
}


def saved(model, folder):
    model.save(folder / "model.keras")
    return keras.models.load_model(folder / "model.keras")


def shared_attention():
    queries, keys = keras.Input((None, DIM)), keras.Input((None, DIM))
    score = AdditiveScore(3)
    first, _ = Attention(score, name="first")(queries, keys)
    second, _ = Attention(score, name="second")(first, keys)
    return keras.Model([queries, keys], [first, second])


def test_a_score_of_two_layers_is_one_score_in_a_file(tmp_path):
    model = shared_attention()
    copy = saved(model, tmp_path)
    assert copy.get_layer("first").score is copy.get_layer("second").score
    assert [weight.path for weight in copy.weights] == [weight.path for weight in model.weights]
    for actual, expected in zip(copy([QUERIES, KEYS]), model([QUERIES, KEYS]), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_words_of_two_memories_are_one_table_in_a_file(tmp_path):
    class Reader(keras.Model):
        def __init__(self, first=None, second=None, **kwargs):
            super().__init__(**kwargs)
            self.first = first or SentenceMemory(9, DIM, 3, name="first")
            self.second = second or SentenceMemory(9, DIM, 3, words=self.first.words, name="second")

        def call(self, ids):
            story = read_story(ids, 3)
            return self.first(story) + 2 * self.second(story)

        def get_config(self):
            layers = {"first": self.first, "second": self.second}
            serialize = keras.saving.serialize_keras_object
            return super().get_config() | {name: serialize(x) for name, x in layers.items()}

        @classmethod
        def from_config(cls, config):
            restore = keras.saving.deserialize_keras_object
            layers = {name: restore(config.pop(name)) for name in ("first", "second")}
            return cls(**layers, **config)

    ids = RNG.integers(0, 9, (2, 3, 4)).astype("int32")
    model = Reader()
    expected = model(ids)
    model.save(tmp_path / "model.keras")
    copy = keras.models.load_model(tmp_path / "model.keras", custom_objects={"Reader": Reader})
    assert copy.first.words is copy.second.words
    np.testing.assert_array_equal(copy(ids), expected)


def by_score(make, **kwargs):
    score = make(**kwargs)
    score.build((None, None, DIM), (None, None, DIM))
    queries, keys = keras.Input((None, DIM)), keras.Input((None, DIM))
    model = keras.Model([queries, keys], score(queries, score.prepare(keys)))
    return model, [QUERIES, KEYS], lambda: score(QUERIES, score.prepare(KEYS))


def by_cross_attention(**kwargs):
    layer = CrossAttention(DIM, 2, use_bias=True, **kwargs)
    layer.build((None, None, DIM))
    queries, keys = keras.Input((None, DIM)), keras.Input((None, DIM))
    mask = keras.Input((None,), dtype="bool")
    outputs, _ = layer(queries, layer.prepare(keys), mask)
    inputs = [QUERIES, KEYS, MASK]
    return (
        keras.Model([queries, keys, mask], outputs),
        inputs,
        lambda: layer(QUERIES, layer.prepare(KEYS), MASK)[0],
    )


def by_local_attention(**kwargs):
    layer = LocalAttention(AdditiveScore(3, use_bias=True, **kwargs), 2, **kwargs)
    layer.build((None, None, DIM), (None, None, DIM))
    queries, keys = keras.Input((None, DIM)), keras.Input((None, DIM))
    lengths = keras.Input((), dtype="int32")
    outputs = layer(queries, layer.prepare(keys), keys, lengths).context
    return (
        keras.Model([queries, keys, lengths], outputs),
        [QUERIES, KEYS, LENGTHS],
        lambda: layer(QUERIES, layer.prepare(KEYS), KEYS, LENGTHS).context,
    )


def by_decoder_stack(**kwargs):
    layer = DecoderStack(**STACK, **kwargs)
    layer.build((None, None, DIM))
    queries, keys = keras.Input((None, DIM)), keras.Input((None, DIM))
    mask = keras.Input((None,), dtype="bool")
    outputs, *_ = layer(queries, layer.prepare(keys), mask)
    inputs = [QUERIES, KEYS, MASK]
    return (
        keras.Model([queries, keys, mask], outputs),
        inputs,
        lambda: layer(QUERIES, layer.prepare(KEYS), MASK)[0],
    )


MODELS = {
    **{name: lambda make=make, **kwargs: by_score(make, **kwargs) for name, make in SCORES.items()},
    "cross": by_cross_attention,
    "local": by_local_attention,
    "decoder stack": by_decoder_stack,
}


@pytest.mark.parametrize("name", MODELS)
def test_prepare_works_in_functional_models_of_dynamic_sizes(name, tmp_path):
    model, inputs, own = MODELS[name]()
    np.testing.assert_allclose(model(inputs), own(), rtol=1e-5, atol=1e-6)
    model.compile("sgd", "mse")
    before = own().numpy()
    model.fit(inputs, before + 1, epochs=2, verbose=0)
    if model.weights:
        assert np.abs(own() - before).max() > 0
    np.testing.assert_allclose(model(inputs), own(), rtol=1e-5, atol=1e-6)
    copy = saved(model, tmp_path)
    assert len(copy.weights) == len(model.weights)
    np.testing.assert_allclose(copy(inputs), model(inputs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["additive", "cross", "local", "decoder stack"])
def test_prepare_in_functional_models_keeps_its_dtype(name):
    model, inputs, own = MODELS[name](dtype="mixed_bfloat16")
    expected = own()
    actual = model(inputs)
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(actual, "float32"), np.asarray(expected, "float32"))


@pytest.mark.parametrize("layer", [AdditiveScore(3), CrossAttention(DIM, 2)])
def test_symbols_need_a_layer_that_is_built(layer):
    with pytest.raises(ValueError, match="has no weights yet: call build first"):
        layer.prepare(keras.Input((None, DIM)))
