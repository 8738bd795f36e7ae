"""Targets out of range, losses without inputs, and steps whose targets have other axes."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.translators import INPUTS, TARGET
from tests.models.translators import make as make_translator
from zoo.models.core.targets import Targets, standard_targets, standard_weights
from zoo.models.dcn.dcn import DynamicCoattentionNetwork
from zoo.models.dcn.dcn_plus import DynamicCoattentionNetworkPlus
from zoo.models.neural_gpu.neural_gpu import NeuralGPU
from zoo.models.ntm.ntm import NeuralTuringMachine
from zoo.models.rnnsearch.rnnsearch import RNNsearch

SYMBOLS = np.array([[1, 2, 3], [4, 5, 0]], "int32")
QUESTIONS = {"question": np.ones((2, 2), "int32"), "context": np.array([[5, 6, 7], [8, 9, 0]])}


@pytest.fixture
def neural_gpu():
    model = NeuralGPU.from_preset("tiny")
    model.compile("sgd", weighted_metrics=["accuracy"])
    return model


def test_weights_of_examples_and_of_tokens_are_taken_one_after_the_other(neural_gpu):
    """A graph for both does not know how many axes weights have."""
    of_examples, of_tokens = np.array([1.0, 2.0]), np.array([[1.0, 1, 1], [2, 2, 2]])
    for weights in (of_examples, of_tokens, of_examples[:, None], of_examples):
        neural_gpu.train_on_batch({"symbols": SYMBOLS}, SYMBOLS, weights)
    found = [
        neural_gpu.evaluate({"symbols": SYMBOLS}, SYMBOLS, sample_weight=weights, verbose=0)
        for weights in (of_examples, of_tokens, of_examples[:, None])
    ]
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)


def test_targets_of_other_axes_are_taken_one_after_the_other(neural_gpu):
    data = tf.data.Dataset.from_tensors
    found = [
        neural_gpu.evaluate(data(({"symbols": SYMBOLS}, targets)), verbose=0)
        for targets in (SYMBOLS, SYMBOLS[..., None], SYMBOLS)
    ]
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        neural_gpu.evaluate(data(({"symbols": SYMBOLS}, np.stack([SYMBOLS] * 2, -1))), verbose=0)


@pytest.mark.parametrize("shape", [(2,), (2, 1), (2, 3)])
@pytest.mark.parametrize("rank", [None, "known"])
def test_a_graph_may_not_know_the_number_of_axes(shape, rank):
    tokens = Targets(tokens="symbols")
    weights = np.arange(1.0, 1 + np.prod(shape), dtype="float32").reshape(shape)
    spec = tf.TensorSpec(None if rank is None else [None] * len(shape), "float32")

    @tf.function(input_signature=[spec, tf.TensorSpec(None, "int32")], autograph=False)
    def step(weights, targets):
        targets = standard_targets(tokens, {"symbols": SYMBOLS}, targets)
        return standard_weights(tokens, targets, weights), targets

    found, targets = step(weights, SYMBOLS[..., None])
    expected = weights[:, None] if len(shape) == 1 else weights
    np.testing.assert_array_equal(found, np.broadcast_to(expected, (2, 3)))
    np.testing.assert_array_equal(targets, SYMBOLS)


def test_padding_has_no_target(neural_gpu):
    """Its loss would count, and no training could lower it."""
    targets = np.array([[1, 2, 3], [4, 5, 6]])
    for given in (targets, targets[..., None], targets.astype("float32")):
        with pytest.raises(ValueError, match=r"^targets must be 0 where symbols is padding, got 6"):
            neural_gpu.fit({"symbols": SYMBOLS}, given, verbose=0)
    data = tf.data.Dataset.from_tensors(({"symbols": SYMBOLS}, targets))
    with pytest.raises(tf.errors.InvalidArgumentError, match="0 where symbols is padding"):
        neural_gpu.fit(data, verbose=0, shuffle=False)
    translator = make_translator(RNNsearch)
    translator.compile("sgd")
    (*_, place) = np.argwhere(INPUTS["target"] == 0)
    targets = TARGET.copy()
    targets[tuple(place)] = 5
    with pytest.raises(ValueError, match="targets must be 0 where target is padding, got 5"):
        translator.evaluate(INPUTS, targets, verbose=0)


def test_targets_that_are_cut_off_to_others_are_refused(neural_gpu):
    """Shares of classes, for example, which are cut off to class 0."""
    whole, wrong = SYMBOLS.astype("float32"), np.where(SYMBOLS == 3, 2.5, SYMBOLS)
    losses = [neural_gpu.evaluate({"symbols": SYMBOLS}, y, verbose=0) for y in (SYMBOLS, whole)]
    assert losses[0] == losses[1]
    with pytest.raises(ValueError, match=r"^targets must be whole numbers, got 2\.5"):
        neural_gpu.fit({"symbols": SYMBOLS}, wrong, verbose=0)
    data = tf.data.Dataset.from_tensors(({"symbols": SYMBOLS}, wrong))
    with pytest.raises(tf.errors.InvalidArgumentError, match="targets must be whole numbers"):
        neural_gpu.fit(data, verbose=0, shuffle=False)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_ids_in_arrays_of_targets_are_in_the_vocabulary(jit_compile):
    """XLA takes others in silence."""
    model = NeuralGPU.from_preset("tiny")
    model.compile("sgd", jit_compile=jit_compile)
    for wrong in (9, -1):
        targets = np.where(SYMBOLS == 3, wrong, SYMBOLS)
        for call in (model.fit, model.evaluate):
            message = rf"^targets must be at least 0 and below the 9 ids, got {wrong}"
            with pytest.raises(ValueError, match=message):
                call({"symbols": SYMBOLS}, targets, verbose=0)


@pytest.mark.parametrize("model", [DynamicCoattentionNetwork, DynamicCoattentionNetworkPlus])
def test_positions_in_arrays_are_those_of_real_tokens(model):
    reader = model.from_preset("tiny")
    reader.compile("sgd", jit_compile=True)
    right = {"start": np.array([0, 1]), "end": np.array([[2], [1]])}
    for name, wrong, expected in (("start", [3, 0], "3 tokens"), ("end", [0, 2], "2 tokens")):
        spans = {**right, name: np.array(wrong)}
        message = rf"^targets\['{name}'\] must be at least 0 and below the {expected} of context"
        with pytest.raises(ValueError, match=message):
            reader.fit(QUESTIONS, spans, verbose=0)
        with pytest.raises(ValueError, match=message):
            reader.test_on_batch(QUESTIONS, spans)


def test_a_text_without_tokens_has_position_zero_alone():
    reader = DynamicCoattentionNetwork.from_preset("tiny")
    reader.compile("sgd")
    inputs = {**QUESTIONS, "context": QUESTIONS["context"] * [[0], [1]]}
    spans = {name: np.array([0, 1]) for name in ("start", "end")}
    data = tf.data.Dataset.from_tensors
    losses = [
        reader.evaluate(inputs, spans, verbose=0),
        reader.evaluate(data((inputs, spans)), verbose=0),
    ]
    assert np.isfinite(losses).all()
    assert losses[0] == losses[1]
    spans["end"] = np.array([1, 1])
    message = r"'end'\] must be 0, where context has no tokens, got 1"
    with pytest.raises(ValueError, match=message):
        reader.fit(inputs, spans, verbose=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"end.*must be below\] \[1 2\]"):
        reader.evaluate(data((inputs, spans)), verbose=0)


def test_positions_and_ids_of_data_sets_are_checked_in_steps(neural_gpu):
    reader = DynamicCoattentionNetwork.from_preset("tiny")
    reader.compile("sgd")
    data = tf.data.Dataset.from_tensors
    spans = {"start": np.array([0, 1]), "end": np.array([2, 2])}
    message = r"end.* must be below\] \[3 2\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        reader.evaluate(data((QUESTIONS, spans)), verbose=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"targets must be below.*9"):
        neural_gpu.evaluate(data(({"symbols": SYMBOLS}, SYMBOLS + 5)), verbose=0)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (TARGET[:, :1], r"targets must have the shape \(2, 4\) or \(2, 4, 1\), got \(2, 1\)"),
        (TARGET[:1], r"targets must have the shape \(2, 4\) or \(2, 4, 1\), got \(1, 4\)"),
        (TARGET - 9, "targets must not be negative, got"),
        (TARGET + 9, "targets must be below"),
    ],
)
def test_a_loss_without_inputs_checks_targets_by_the_outputs(targets, message):
    model = make_translator(RNNsearch)
    model.compile("sgd")
    outputs = model(INPUTS)
    expected = model.compute_loss(INPUTS, TARGET, outputs)
    for lawful in (TARGET, TARGET[..., None]):
        np.testing.assert_array_equal(model.compute_loss(y=lawful, y_pred=outputs), expected)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        model.compute_loss(y=targets, y_pred=outputs)


def test_a_loss_without_inputs_knows_positions_and_steps():
    reader = DynamicCoattentionNetwork.from_preset("tiny")
    outputs = reader(QUESTIONS)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"targets\['end'\] must be below"):
        reader.compute_loss(y={"start": [0, 1], "end": [3, 1]}, y_pred=outputs)
    machine = NeuralTuringMachine.from_preset("tiny")
    outputs = machine({"vectors": np.ones((2, 3, 5)), "length": np.array([3, 2])})
    with pytest.raises(ValueError, match=r"targets must have the shape \(2, 3, 3\) or .*, got"):
        machine.compute_loss(y=np.ones((2, 4, 3)), y_pred=outputs)
