"""Tests of the Attention-over-Attention Reader beyond the contracts."""

import keras
import numpy as np
import pytest

from tests.contracts.tasks import TASKS, Batch
from tests.references import aoa_reader as reference
from zoo.models.aoa.aoa_reader import ABSENT_LOSS, AttentionOverAttentionReader

INPUTS = {
    "document": np.array([[8, 9, 8, 10, 11], [12, 13, 13, 0, 0]], "int32"),
    "query": np.array([[5, 6, 9], [7, 0, 0]], "int32"),
}
CANDIDATES = np.array([[9, 8, 20, 0], [13, 12, 0, 0]], "int32")

WRONG = [
    *[
        (name, value, "a positive integer")
        for name in ("vocabulary_size", "embedding_dim", "hidden_dim")
        for value in (0, -1, 2.5)
    ],
    ("attention", "max", r"one of \['over', 'sum'\]"),
    ("dropout", 1.0, "at least 0 and less than 1"),
    ("embedding_l2", -0.1, "at least 0"),
]


def make(scale=0.6, **arguments):
    model = AttentionOverAttentionReader.from_preset("tiny", **arguments)
    model.build()
    generator = np.random.default_rng(0)
    for weight in model.trainable_weights if scale else ():
        weight.assign(generator.normal(0.0, scale, weight.shape))
    return model


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    with pytest.raises(ValueError, match=f"^{name} must be {expected}.*, got {value!r}"):
        AttentionOverAttentionReader.from_preset("tiny", **{name: value})


def test_the_preset_without_a_vocabulary_wants_its_size():
    with pytest.raises(TypeError, match="vocabulary_size"):
        AttentionOverAttentionReader.from_preset("small")


def test_weights_start_as_the_paper_says():
    model = make(scale=0, vocabulary_size=500, hidden_dim=6)
    table = model.embedding.table.numpy()
    assert not table[0].any()
    assert 0.049 < np.abs(table[1:]).max() <= 0.05
    np.testing.assert_allclose(table[1:].std(), 0.05 / np.sqrt(3), rtol=0.05)
    for encoder in (model.document_encoder, model.query_encoder):
        for direction in (encoder.forward_direction, encoder.backward_direction):
            recurrent = direction.recurrent_kernel.numpy()
            np.testing.assert_allclose(recurrent @ recurrent.T, np.eye(6), atol=1e-5)
            block = direction.kernel.numpy()[:, :6]
            np.testing.assert_allclose(block @ block.T, np.eye(6), atol=1e-5)
    paper = AttentionOverAttentionReader.from_preset("paper")
    assert (paper.dropout, paper.embedding_l2, paper.attention) == (0.1, 1e-4, "over")
    assert (paper.embedding_dim, paper.hidden_dim, paper.shared_encoder) == (384, 256, False)


def test_there_are_two_encoders_or_one():
    assert len(make().trainable_weights) == 1 + 2 * 8
    shared = make(shared_encoder=True)
    assert len(shared.trainable_weights) == 1 + 8
    assert shared.document_encoder is shared.query_encoder


def test_candidates_are_the_only_words_that_may_be_the_answer():
    model = make()
    free = model(INPUTS)
    outputs = model(INPUTS | {"candidates": CANDIDATES})
    assert outputs["probabilities"].shape == CANDIDATES.shape
    for row in range(2):
        for column, word in enumerate(CANDIDATES[row]):
            here = INPUTS["document"][row] == word
            expected = free["document_attention"].numpy()[row][here].sum() if word else 0.0
            np.testing.assert_allclose(outputs["probabilities"][row, column], expected, rtol=1e-5)
        best = outputs["probabilities"][row].numpy().argmax()
        assert outputs["answer"][row] == CANDIDATES[row, best]
    for name in ("document_attention", "query_attention"):
        np.testing.assert_array_equal(outputs[name], free[name])
    only = model(INPUTS | {"candidates": np.array([[10], [12]], "int32")})
    assert only["answer"].numpy().tolist() == [10, 12]


@pytest.mark.parametrize("attention", ["over", "sum"])
def test_with_candidates_it_equals_the_reference(attention):
    model = make(attention=attention, dtype="float64")
    values = {w.path.removeprefix(f"{model.name}/"): w.numpy() for w in model.trainable_weights}
    weights = reference.named_weights(values)
    outputs = model(INPUTS | {"candidates": CANDIDATES})
    for row in range(2):
        one = {name: ids[row][ids[row] != 0] for name, ids in INPUTS.items()}
        one["candidates"] = CANDIDATES[row][CANDIDATES[row] != 0]
        expected = reference.predict(weights, one, model.get_config())
        count = len(one["candidates"])
        actual = outputs["probabilities"][row]
        np.testing.assert_allclose(actual[:count], expected["probabilities"], rtol=1e-9)
        assert not actual[count:].numpy().any()
        assert outputs["answer"][row] == expected["answer"]


def test_without_a_candidate_in_the_document_nothing_is_probable():
    outputs = make()(INPUTS | {"candidates": np.array([[20, 21], [0, 0]], "int32")})
    assert not outputs["probabilities"].numpy().any()
    assert outputs["answer"].numpy().tolist() == [20, 0]


def test_the_loss_does_not_depend_on_the_candidates():
    model, targets = make(), np.array([8, 13])
    plain, _ = model.example_losses(targets, model(INPUTS))
    chosen, counts = model.example_losses(targets, model(INPUTS | {"candidates": CANDIDATES}))
    np.testing.assert_array_equal(plain, chosen)
    assert counts.numpy().tolist() == [1, 1]
    probabilities = model(INPUTS)["probabilities"].numpy()
    expected = -np.log([probabilities[0, 0], probabilities[1, 1]])
    np.testing.assert_allclose(plain, expected, rtol=1e-5)


def test_an_absent_answer_has_the_same_finite_loss_whatever_the_weights():
    losses, _ = make().example_losses(np.array([20, 0]), make()(INPUTS))
    np.testing.assert_array_equal(losses, [ABSENT_LOSS, ABSENT_LOSS])


def test_word_vectors_are_penalised_but_for_padding():
    model = make(embedding_l2=0.5)
    table = model.embedding.table.numpy()
    np.testing.assert_allclose(sum(model.losses), 0.5 * (table[1:] ** 2).sum(), rtol=1e-5)
    assert not make().losses


def test_fit_learns_with_candidates_and_a_metric_of_the_answer():
    batch = Batch(TASKS["cloze"].examples(8))
    wrong = np.where(batch.targets == 4, 5, 4)
    inputs = batch.inputs | {"candidates": np.stack([wrong, batch.targets], 1)}
    model = make(scale=0.2)
    model.compile(keras.optimizers.Adam(0.05), metrics=[keras.metrics.Accuracy()])
    model.fit(inputs, batch.targets, epochs=25, verbose=0)
    scores = model.evaluate(inputs, batch.targets, verbose=0, return_dict=True)
    assert scores["accuracy"] == 1.0
