"""Tests of DCN+ beyond the contracts: its samples, and the learned weights of its losses."""

import keras
import numpy as np
import pytest

from tests.references import dcn_plus
from tests.references.recurrent import softmax
from zoo.models.dcn.dcn_plus import DynamicCoattentionNetworkPlus

QUESTION = np.array([[5, 6, 0], [7, 0, 0]], "int32")
CONTEXT = np.array([[8, 9, 10, 11], [12, 13, 0, 0]], "int32")
INPUTS = {"question": QUESTION, "context": CONTEXT}
TARGETS = {"start": np.array([1, 0], "int32"), "end": np.array([2, 1], "int32")}


def make(**arguments):
    model = DynamicCoattentionNetworkPlus.from_preset("tiny", **arguments)
    model.build()
    return model


WRONG = [
    *[
        (name, 0, "a positive integer")
        for name in ("vocabulary_size", "embedding_dim", "hidden_dim", "pool_size", "iterations")
    ],
    ("end_uses", "next", r"one of \['previous', 'current'\]"),
    ("loss_over", "none", r"one of \['all', 'halt'\]"),
    ("objective", "f1", r"one of \['mixed', 'cross_entropy'\]"),
    ("dropout", 1.0, "at least 0 and less than 1"),
]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    with pytest.raises(ValueError, match=f"^{name} must be {expected}.*, got {value!r}"):
        DynamicCoattentionNetworkPlus.from_preset("tiny", **{name: value})


def test_only_the_mixed_objective_samples_and_only_in_training():
    name = "sampled_span_per_iteration"
    model, plain = make(), make(objective="cross_entropy")
    assert name in model(INPUTS, training=True)
    assert name not in model(INPUTS, training=False)
    assert name not in plain(INPUTS, training=True)
    names = {weight.name for weight in model.weights} - {weight.name for weight in plain.weights}
    assert names == {"log_s_ce", "log_s_rl"}


def test_samples_follow_the_distributions_and_never_fall_on_padding():
    model = make()
    repeated = {side: np.repeat(ids, 2000, axis=0) for side, ids in INPUTS.items()}
    outputs = model(repeated, training=True)
    sampled = outputs["sampled_span_per_iteration"].numpy()
    assert sampled.dtype == "int32"
    for row in range(2):
        draws = sampled[2000 * row : 2000 * (row + 1)]  # (2000, I, 2)
        for index, side in enumerate(("start", "end")):
            logits = outputs[f"{side}_per_iteration"][2000 * row].numpy()  # (I, m)
            counts = np.stack([np.bincount(d, minlength=4) for d in draws[:, :, index].T])
            np.testing.assert_allclose(counts / 2000, softmax(logits), atol=0.05)
            assert not counts[:, CONTEXT[row] == 0].any()


def test_samples_differ_from_call_to_call_and_repeat_with_the_seed():
    draws = []
    for _ in range(2):
        keras.utils.set_random_seed(3)
        model = make()
        draws.append(
            [model(INPUTS, training=True)["sampled_span_per_iteration"].numpy() for _ in range(4)]
        )
    np.testing.assert_array_equal(*draws)
    assert any(not np.array_equal(draws[0][0], other) for other in draws[0][1:])


def test_the_mixed_objective_is_a_sum_over_both_sides_each_with_its_weight():
    model = make()
    model.log_s_ce.assign(0.4)
    model.log_s_rl.assign(-0.3)
    outputs = model(INPUTS, training=True)
    whole, _ = model.example_losses(TARGETS, outputs)
    cross_entropy, _ = make(objective="cross_entropy").example_losses(TARGETS, outputs)
    weighted = np.exp(-0.8) * cross_entropy / 2 + 0.1
    assert np.abs(whole - weighted).max() > 1e-3, "the sample must have an advantage"
    weights = {"start": np.array([2.0, 0.5]), "end": np.array([0.0, 3.0])}
    parts = [
        model.weighted_losses(TARGETS, outputs, {"start": one, "end": other})[0]
        for one, other in ((np.ones(2), np.zeros(2)), (np.zeros(2), np.ones(2)))
    ]
    np.testing.assert_allclose(parts[0] + parts[1], whole, rtol=1e-5)
    losses, counts = model.weighted_losses(TARGETS, outputs, weights)
    expected = parts[0] * weights["start"] + parts[1] * weights["end"]
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert counts.numpy().tolist() == [1.0, 1.0]


def test_without_a_sample_the_loss_is_the_weighed_cross_entropy():
    model, plain = make(), make(objective="cross_entropy")
    model.log_s_ce.assign(0.4)
    model.log_s_rl.assign(-0.3)
    outputs = model(INPUTS)
    losses, counts = model.example_losses(TARGETS, outputs)
    cross_entropy, _ = plain.example_losses(TARGETS, outputs)
    expected = [dcn_plus.mixed_objective(value, 0.0, 0.4, -0.3) for value in cross_entropy.numpy()]
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    assert counts.numpy().tolist() == [1.0, 1.0]
