"""Tests of the Transformer beyond the contracts: arguments, tied weights, initial weights."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.translators import INPUTS, SOURCE, TARGET, make, refuses
from zoo.models.transformer.transformer import Transformer

WRONG = [
    *[
        (name, 0, "a positive integer")
        for name in (
            "source_vocabulary_size",
            "target_vocabulary_size",
            "model_dim",
            "feed_forward_dim",
            "num_heads",
            "depth",
            "maximum_positions",
        )
    ],
    *[
        (name, 1.0, "at least 0 and less than 1")
        for name in ("dropout", "attention_dropout", "activation_dropout", "label_smoothing")
    ],
    ("norm", "both", r"one of \['post', 'pre'\]"),
    ("positions", "none", r"one of \['sinusoidal', 'learned'\]"),
    ("smoothing_over", "real", r"one of \['others', 'all'\]"),
    ("loss_normaliser", "words", r"one of \['sentences', 'tokens'\]"),
    ("alignment_layer", 2, r"one of \[None, 0, 1\]"),
]
OUT = np.array([[5, 6, 7, 3], [8, 9, 3, 0]], "int32")
NORMS = pytest.mark.parametrize("norm", ["post", "pre"])


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    refuses(Transformer, name, value, expected)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"^target_vocabulary_size must be 17, .*, got 13"):
        make(Transformer, shared_embeddings=True)
    with pytest.raises(ValueError, match=r"^key_dim must be given, got None: num_heads, 4"):
        make(Transformer, num_heads=4)


def test_one_layer_is_aligned_by_itself_and_more_by_the_last_but_one():
    for depth, layer in ((1, 0), (2, 0), (3, 1)):
        attention = make(Transformer, depth=depth)(INPUTS)["attention"]
        expected = attention["cross"].numpy()[:, layer].mean(axis=1)
        np.testing.assert_allclose(attention["alignment"], expected, rtol=1e-6)


def test_the_gradient_of_the_shared_table_is_the_sum_of_three():
    sizes = {"target_vocabulary_size": 17, "dtype": "float64"}
    shared = make(Transformer, shared_embeddings=True, **sizes)
    apart = make(Transformer, **sizes)
    table = shared.source_embedding.table.value.numpy()
    assert shared.source_embedding is shared.target_embedding
    for mine, others in ((apart.encoder, shared.encoder), (apart.decoder, shared.decoder)):
        mine.set_weights(others.get_weights())
    apart.source_embedding.table.assign(table)
    apart.target_embedding.table.assign(table)
    apart.softmax.kernel.assign(table.T)
    gradients = []
    for model in (shared, apart):
        tables = [model.source_embedding.table, model.target_embedding.table]
        tables += [] if model is shared else [model.softmax.kernel]
        with tf.GradientTape() as tape:
            loss = model.compute_loss(y=OUT, y_pred=model(INPUTS, training=True))
        values = tape.gradient(loss, [weight.value for weight in tables])
        gradients.append([tf.convert_to_tensor(value).numpy() for value in values])
    (sum_of_three, _), (source, target, softmax) = gradients
    for part in (source, target, softmax):
        assert np.abs(part).max() > 1e-3
    np.testing.assert_allclose(sum_of_three, source + target + softmax.T, rtol=1e-9, atol=1e-12)


def test_training_begins_where_the_released_code_begins():
    sizes = {"source_vocabulary_size": 300, "target_vocabulary_size": 300, "model_dim": 64}
    model = make(
        Transformer, None, **sizes, feed_forward_dim=96, num_heads=4, shared_embeddings=True
    )
    table = model.source_embedding.table.value.numpy()
    assert not table[0].any()
    np.testing.assert_allclose(table[1:].std(), 64**-0.5, rtol=0.05)
    for weight in model.weights:
        name, value = weight.path.split("/")[-1], weight.value.numpy()
        if name == "gamma":
            assert (value == 1).all()
        elif name in ("beta", "bias"):
            assert not value.any()
        elif weight.path.split("/")[-2] in ("inner", "outer"):
            limit = np.sqrt(6 / (64 + 96))
            assert 0.9 * limit < np.abs(value).max() <= limit, weight.path
    assert not [
        weight.path
        for weight in model.weights
        if "attention" in weight.path and "bias" in weight.path
    ]
    words = model.embed(np.arange(1, 300)[None])["words"].numpy()
    np.testing.assert_allclose(words.std(), 1.0, rtol=0.05)  # as large as the positions


@NORMS
def test_only_before_sublayers_there_are_two_more_norms(norm):
    model = make(Transformer, norm=norm)
    last = [w for w in model.weights if w.path.count("/") == 3 and "/norm/" in w.path]
    assert len(last) == (4 if norm == "pre" else 0)


@NORMS
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_the_order_of_the_source_counts(norm, positions):
    model = make(Transformer, norm=norm, positions=positions)
    swapped = SOURCE.copy()
    swapped[0, :2] = SOURCE[0, 1::-1]
    outputs = [model({"source": s, "target": TARGET})["logits"].numpy() for s in (SOURCE, swapped)]
    assert np.abs(outputs[0] - outputs[1])[0].max() > 1e-4


def test_the_rows_of_a_sentence_share_the_cache():
    model = make(Transformer)
    memory = model.encode({"source": SOURCE})
    state = model.initial_state(memory)
    assert model.shared_state == state.keys() - {"seen"}
    rows = {"seen": tf.zeros((6, 0), "bool")} | {n: state[n] for n in model.shared_state}
    for t in range(1, 3):
        _, rows, _ = model.step(tf.fill([6], 5), rows, memory)
        assert rows["keys_1"].shape == rows["values_0"].shape == (2, 2, 3 * t, 3)
        assert rows["seen"].shape == (6, 3 * t)
        assert rows["position"].numpy().tolist() == [t, t]
        assert (rows["seen"].numpy().sum(axis=1) == t).all()


def test_a_beam_transposes_the_shared_table_once_and_takes_the_same_steps():
    model = make(Transformer, shared_embeddings=True, target_vocabulary_size=17)
    steps = model.for_beam()
    assert steps is not model
    memory = model.encode({"source": SOURCE})
    kept, state = model.initial_state(memory), steps.initial_state(memory)
    for tokens in ([2, 2], [5, 6]):
        logits, kept, maps = model.step(tf.constant(tokens), kept, memory)
        others, state, seen = steps.step(tf.constant(tokens), state, memory)
        np.testing.assert_allclose(others, logits, atol=1e-5)
        np.testing.assert_array_equal(seen["alignment"], maps["alignment"])
    untied = make(Transformer)
    assert untied.for_beam() is untied


def test_tokens_are_what_the_loss_is_divided_by():
    model = Transformer(17, 17, model_dim=4, feed_forward_dim=4, num_heads=2, depth=1)
    model.build()
    _, counts = model.example_losses(OUT, model(INPUTS))
    assert counts.numpy().tolist() == [4, 3]
