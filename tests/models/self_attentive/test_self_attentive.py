"""Tests of the self-attentive models beyond the contracts: sizes, arguments, the embedding."""

import math

import keras
import numpy as np
import pytest

from tests.models.translators import make, refuses
from zoo.models.self_attentive.encoder import SentenceEncoder
from zoo.models.self_attentive.self_attentive_classifier import SelfAttentiveClassifier
from zoo.models.self_attentive.self_attentive_inference import SelfAttentiveInference

SIZES = ("vocabulary_size", "classes", "embedding_dim", "hidden_dim", "attention_dim", "hops")
RATE = "at least 0 and less than 1"
WRONG = [
    *((name, 0, "a positive integer") for name in (*SIZES, "classifier_dim")),
    ("pooling", "last", r"one of \['attention', 'max', 'mean'\]"),
    ("penalty_reduction", "root", r"one of \['sum', 'mean'\]"),
    *((name, 1.0, RATE) for name in ("attention_dropout", "dropout", "word_dropout")),
    *((name, -0.1, "at least 0") for name in ("penalty", "l2")),
]
OF_ONE = {
    SelfAttentiveClassifier: [
        ("first_layer", "sparse", r"one of \['dense', 'pruned'\]"),
        ("row_units", 0, "a positive integer"),
        ("column_units", 0, "a positive integer"),
    ],
    SelfAttentiveInference: [("factor_dim", 0, "a positive integer")],
}
CASES = [(model, *case) for model, own in OF_ONE.items() for case in (*WRONG, *own)]
IDS = np.array([[4, 5, 6, 7, 8], [9, 10, 0, 0, 0]], "int32")


@pytest.mark.parametrize(("model", "name", "value", "expected"), CASES)
def test_an_argument_out_of_range_is_refused(model, name, value, expected):
    refuses(model, name, value, expected)


def test_the_encoder_and_the_classifier_of_reviews_have_the_numbers_of_the_paper():
    with keras.StatelessScope(initialize_variables=False):
        encoder = SentenceEncoder(units=300, attention_dim=350, hops=30)
        encoder.build((None, None, 100))
        counts = {}
        for layer in ("dense", "pruned"):
            model = SelfAttentiveClassifier.from_preset("paper_yelp", first_layer=layer)
            model.build()
            table = math.prod(model.embedding.table.shape)
            counts[layer] = sum(math.prod(weight.shape) for weight in model.weights) - table
        pruned = model.pruned.units
    keras.utils.clear_session(free_memory=False)
    assert sum(math.prod(weight.shape) for weight in encoder.weights) == 1_182_900
    assert counts["dense"] == 55_200_905
    assert pruned == 3000  # as many units as the dense layer has
    assert counts["pruned"] == 1_182_900 + 18_000 * (60 + 2) + 3000 + 5 * 3001


@pytest.mark.parametrize("model_class", OF_ONE)
def test_the_released_settings_have_biases_dropout_and_the_mean_of_the_penalty(model_class):
    released = model_class.from_preset("released")
    assert released.attention_bias
    assert released.penalty_reduction == "mean"
    assert (released.attention_dropout, released.dropout) == (0.5, 0.5)


@pytest.mark.parametrize("layer", ["dense", "pruned"])
def test_matrices_are_penalised_and_the_table_of_words_is_not(layer):
    assert not make(SelfAttentiveClassifier).losses
    model = make(SelfAttentiveClassifier, l2=0.25, first_layer=layer)
    weights = {weight.path.split("/", 1)[1]: weight.numpy() for weight in model.weights}
    squares = {name: (w**2).sum() for name, w in weights.items() if w.ndim > 1}
    assert len(squares) == 1 + 2 * 2 + 2 + (2 if layer == "dense" else 3)
    del squares["embedding/table"]
    np.testing.assert_allclose(sum(model.losses), 0.25 * sum(squares.values()), rtol=1e-5)


@pytest.mark.parametrize("model_class", OF_ONE)
def test_matrices_that_are_frozen_when_they_are_built_are_penalised_once_trained(model_class):
    expected = len(make(model_class, l2=0.25).losses)
    model = model_class.from_preset("tiny", l2=0.25)
    model.trainable = False
    model.build()
    assert not model.losses
    model.trainable = True
    assert len(model.losses) == expected > 0


@pytest.mark.parametrize("pooling", ["attention", "max", "mean"])
def test_the_penalty_acts_on_attention_alone(pooling):
    targets, losses = np.array([0, 2]), []
    for penalty in (0.0, 1.0):
        model = make(SelfAttentiveClassifier, pooling=pooling, penalty=penalty)
        losses.append(model.example_losses(targets, model({"text": IDS}))[0].numpy())
    assert ((losses[1] - losses[0]) > 1e-3).tolist() == [pooling == "attention"] * 2


def test_the_embedding_is_the_matrix_that_the_classifier_reads():
    model = make(SelfAttentiveClassifier)
    read = model.embed({"text": IDS})
    assert read["embedding"].shape == (2, 2, 6)
    outputs = model({"text": IDS})
    logits = model.classifier(np.reshape(read["embedding"], (2, 12)))
    np.testing.assert_allclose(logits, outputs["logits"], rtol=1e-6)
    np.testing.assert_array_equal(read["attention"]["hops"], outputs["attention"]["hops"])


def test_texts_of_a_pair_are_embedded_without_a_look_at_each_other():
    model = make(SelfAttentiveInference)
    first, second = (model.embed({"premise": IDS, "hypothesis": ids}) for ids in (IDS, IDS[::-1]))
    np.testing.assert_array_equal(first["premise_embedding"], second["premise_embedding"])
    np.testing.assert_allclose(first["hypothesis_embedding"], first["premise_embedding"], rtol=1e-6)
    swapped = second["hypothesis_embedding"].numpy()[::-1]
    np.testing.assert_allclose(swapped, first["premise_embedding"], rtol=1e-6)


def test_a_pooling_is_one_row_and_needs_no_attention():
    model = make(SelfAttentiveClassifier, pooling="max")
    read = model.embed({"text": IDS})
    assert read["embedding"].shape == (2, 1, 6)
    assert read["attention"]["hops"].shape == (2, 1, 5)
    assert not [weight for weight in model.weights if "attention" in weight.path]
