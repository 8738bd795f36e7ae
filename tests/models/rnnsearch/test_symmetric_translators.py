"""Tests of the symmetric training of two translators."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.batches import Example
from tests.contracts.resuming import AbandonedError, Batches, KillAt
from tests.contracts.subjects import draw_weights, values_of
from tests.models.translators import INPUTS
from tests.references import biased_rnnsearch, symmetric_translators
from tests.training.toy import assert_equal, weights
from zoo.models.rnnsearch.alignment_biases import trace_bonus
from zoo.models.rnnsearch.biased_rnnsearch import BiasedRNNsearch
from zoo.models.rnnsearch.rnnencdec import RNNencdec
from zoo.models.rnnsearch.rnnsearch import RNNsearch
from zoo.models.rnnsearch.symmetric_translators import SymmetricTranslators, exchange_sides
from zoo.training.loop import train
from zoo.training.runs import RunFolder

PAIRS = [([5, 6, 7, 8], [5, 6, 7]), ([9], [8, 9]), ([11, 4, 12], [4, 10, 12, 11, 6])]
TRACE_WEIGHT = 0.7


def make(seed=1, trace_weight=TRACE_WEIGHT, scale=0.6, **arguments):
    """Both directions at tiny sizes with random weights."""
    forward = {"source_vocabulary_size": 17, "target_vocabulary_size": 13}
    backward = {"source_vocabulary_size": 13, "target_vocabulary_size": 17}
    translators = [
        BiasedRNNsearch.from_preset("tiny", **sizes, **arguments) for sizes in (forward, backward)
    ]
    options = {"name": "symmetric", "dtype": arguments.get("dtype")}
    model = SymmetricTranslators(*translators, trace_weight, **options)
    model.build()
    draw_weights(model, seed, scale)
    return model


def batch_of(pairs, extra=0):
    """Ids of words as a padded batch: inputs and targets."""

    def padded(rows):
        width = max(map(len, rows)) + extra
        return np.array([[*row, *[0] * (width - len(row))] for row in rows], "int32")

    source, target = zip(*pairs, strict=True)
    inputs = {
        "source": padded([[*words, 3] for words in source]),
        "target": padded([[2, *words] for words in target]),
    }
    return inputs, padded([[*words, 3] for words in target])


def directions_of(model):
    """Weights and configuration of each direction, as the reference takes them."""
    return [
        (biased_rnnsearch.named_weights(values_of(one)), one.get_config())
        for one in (model.source_to_target, model.target_to_source)
    ]


def reference_losses(directions, trace_weight=TRACE_WEIGHT):
    return [
        symmetric_translators.pair_loss(directions, *map(np.array, pair), trace_weight)
        for pair in PAIRS
    ]


OPTIONS = [
    {},
    {"readout": "groundhog", "fertility": False, "label_smoothing": 0.1},
    {"global_fertility": 0.5, "half_width": 2, "loss_normaliser": "tokens"},
]


@pytest.mark.parametrize("arguments", OPTIONS)
def test_the_loss_is_that_of_the_reference(arguments):
    model = make(dtype="float64", **arguments)
    inputs, targets = batch_of(PAIRS, extra=2)
    losses = reference_losses(directions_of(model))
    units = len(PAIRS)
    if arguments.get("loss_normaliser") == "tokens":
        units = sum(len(source) + len(target) + 2 for source, target in PAIRS)
    for outputs in (model(inputs), model(inputs, training=True), model.forward(inputs, targets)):
        found, counts = model.example_losses(targets, outputs)
        np.testing.assert_allclose(found, losses, rtol=1e-8)
        assert np.sum(counts) == units
    loss = model.compute_loss(inputs, targets, outputs)
    np.testing.assert_allclose(loss, sum(losses) / units, rtol=1e-8)


def test_gradients_are_those_of_the_reference():
    model = make(dtype="float64", global_fertility=0.5)
    inputs, targets = batch_of(PAIRS, extra=1)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(model.example_losses(targets, model.forward(inputs, targets))[0])
    translators = model.source_to_target, model.target_to_source
    gradients = tape.gradient(total, [[w.value for w in one.weights] for one in translators])
    directions = directions_of(model)
    generator = np.random.default_rng(2)
    for number, one in enumerate(translators):
        by_path = {
            w.path.removeprefix(f"{one.name}/"): tf.convert_to_tensor(gradient).numpy()
            for w, gradient in zip(one.weights, gradients[number], strict=True)
        }
        named = biased_rnnsearch.named_weights(by_path)
        values, config = directions[number]
        assert named.keys() == values.keys()
        direction = {name: generator.normal(size=value.shape) for name, value in named.items()}
        slope = sum(np.sum(named[name] * direction[name]) for name in named)
        ends = []
        for step in (1e-6, -1e-6):
            moved = {name: values[name] + step * direction[name] for name in values}
            both = [*directions]
            both[number] = moved, config
            ends.append(sum(reference_losses(both)))
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-5)


def test_the_bonus_is_least_for_permutations_that_agree():
    order = np.array([2, 0, 3, 1])
    forward = np.eye(4)[order][None]  # target word j is source word order[j]
    backward = np.swapaxes(forward, 1, 2)
    assert float(trace_bonus(tf.constant(forward), tf.constant(backward))[0]) == -4.0
    disagreeing = np.roll(backward, 1, axis=2)
    assert float(trace_bonus(tf.constant(forward), tf.constant(disagreeing))[0]) == 0.0
    # Of different lengths: source word 3 is read by nobody.
    forward, backward = forward[:, :3], backward[:, :, :3]
    assert float(trace_bonus(tf.constant(forward), tf.constant(backward))[0]) == -3.0


def test_random_alignments_have_a_bonus_within_its_bounds():
    inputs, targets = batch_of(PAIRS, extra=2)
    with_bonus, without = (make(trace_weight=weight) for weight in (1.0, 0.0))
    losses = [
        np.array(one.example_losses(targets, one(inputs))[0]) for one in (with_bonus, without)
    ]
    bonus = losses[0] - losses[1]
    least = [-min(len(source), len(target)) - 1 for source, target in PAIRS]
    assert (bonus < 0).all()
    assert (bonus > least).all()


def test_the_other_direction_writes_the_source_and_reads_the_target():
    inputs, targets = batch_of(PAIRS, extra=1)
    exchanged = exchange_sides(inputs)
    mirrored, sources = batch_of([pair[::-1] for pair in PAIRS], extra=1)
    for name, ids in mirrored.items():
        np.testing.assert_array_equal(exchanged[name], ids)
    np.testing.assert_array_equal(exchanged["source"], targets)
    np.testing.assert_array_equal(exchange_sides(exchanged)["source"], sources)
    empty = {name: np.zeros((2, 3), "int32") for name in inputs}
    for ids in exchange_sides(empty).values():
        assert not np.any(ids)


@pytest.mark.parametrize("by_token", [False, True])
def test_weights_of_pairs_and_of_tokens_multiply_both_directions(by_token):
    model = make(global_fertility=0.5)
    inputs, targets = batch_of(PAIRS)
    outputs = model.forward(inputs, targets)
    plain, units = model.example_losses(targets, outputs)
    factors = np.array([2.0, 0.0, 0.5], "float32")
    weights = np.repeat(factors[:, None], targets.shape[1], axis=1) if by_token else factors
    _, _, standard = model.standard_data((inputs, targets, weights))
    found, same = model.weighted_losses(targets, outputs, standard)
    np.testing.assert_allclose(found, factors * plain, rtol=1e-5)
    np.testing.assert_array_equal(same, units)


def test_fit_needs_no_loss_and_makes_the_alignments_agree():
    inputs, targets = batch_of(PAIRS)
    model = make(trace_weight=3.0, scale=0.2)
    model.compile(keras.optimizers.Adam(0.02))

    def agreement():
        outputs = model(inputs)
        maps = [one["attention"]["alignment"] for one in (outputs, outputs["backward"])]
        return float(tf.reduce_sum(trace_bonus(*maps)))

    before = agreement()
    data = tf.data.Dataset.from_tensors((inputs, targets)).repeat(30)
    losses = model.fit(data, epochs=2, verbose=0).history["loss"]
    assert losses[1] < losses[0]
    assert agreement() < 1.5 * before < 0


def test_a_saved_model_has_the_same_translators(tmp_path):
    model = make(global_fertility=0.5)
    path = tmp_path / "symmetric.keras"
    model.save(path)
    loaded = keras.saving.load_model(path)
    assert loaded.trace_weight == TRACE_WEIGHT
    assert isinstance(loaded.target_to_source, BiasedRNNsearch)
    inputs, targets = batch_of(PAIRS)
    found, expected = (one.example_losses(targets, one(inputs))[0] for one in (loaded, model))
    np.testing.assert_array_equal(found, expected)


def test_killed_and_resumed_equals_straight(tmp_path):
    examples = [
        Example({"source": np.array([*a, 3]), "target": np.array([2, *b])}, np.array([*b, 3]))
        for a, b in [*PAIRS, ([8, 9], [4]), ([7], [7, 8])]
    ]

    def start(folder, *callbacks):
        keras.utils.set_random_seed(3)
        model = make(dropout=0.3, scale=0.3)
        model.compile(keras.optimizers.Adam(0.02, global_clipnorm=1.0), run_eagerly=True)
        report = train(
            model,
            Batches(examples),
            epochs=2,
            run=RunFolder(folder, {"model": "symmetric"}),
            checkpoint_every=2,
            ema_decay=0.9,
            callbacks=callbacks,
        )
        return model, report

    with pytest.raises(AbandonedError):
        start(tmp_path / "killed", KillAt(5, by_signal=False))
    resumed, report = start(tmp_path / "killed")
    assert (report["restarts"], report["step"]) == (1, 6)
    straight, _ = start(tmp_path / "straight")
    assert_equal(weights(resumed), weights(straight))


def test_translators_that_are_not_two_directions_are_refused():
    tiny = RNNsearch.PRESETS["tiny"]
    one = RNNsearch(**tiny)
    with pytest.raises(ValueError, match=r"target_to_source must have the vocabulary sizes \(13, "):
        SymmetricTranslators(one, RNNsearch(**tiny))
    sizes = {"source_vocabulary_size": 13, "target_vocabulary_size": 17}
    other = RNNsearch(**tiny | sizes)
    with pytest.raises(ValueError, match="source_to_target must have an alignment, got RNNencdec"):
        SymmetricTranslators(RNNencdec.from_preset("tiny"), other)
    by_token = RNNsearch(**tiny | sizes, loss_normaliser="tokens")
    with pytest.raises(ValueError, match="target_to_source must have the loss_normaliser 'sent"):
        SymmetricTranslators(one, by_token)
    for wrong in (-0.5, float("nan")):
        with pytest.raises(ValueError, match="trace_weight must be at least 0 and finite, got"):
            SymmetricTranslators(one, other, wrong)
    assert SymmetricTranslators(one, other)(INPUTS).keys() == {"logits", "attention", "backward"}
