"""K1 names and shapes, K2 attention, K8 eager equals graph, K9 half precision."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.batches import attention_axes, sizes_in, sizes_of
from tests.contracts.subjects import (
    build,
    every_model_and_input,
    every_published_model,
    every_published_model_and_option,
    flatten,
    has_padding,
    loss_and_gradients_of,
    put_garbage_into_padding,
    real_positions,
    run,
)
from tests.contracts.tasks import TASKS, Batch
from zoo.decoding.greedy import greedy
from zoo.models.core.registry import models
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.serving.export import input_specs
from zoo.text.vocabulary import PADDING


def batch_with_empty_sides(task):
    """Examples of all lengths, and one for each side that has not a single real word."""
    empty = [task.example(7, **{side: 0}) for side in task.sides]
    nothing = task.example(8, **dict.fromkeys(task.sides, 0))
    return Batch([*task.examples(4), *empty, nothing], extra=2)


def compiled(model, names):
    """The model as one graph for every batch size and every length, and its traces so far."""
    every = {spec.name: spec for spec in input_specs(model, optional=True)}
    signature = {name: every[name] for name in names}
    traces = []

    @tf.function(input_signature=[signature])
    def graph(inputs):
        traces.append(inputs)
        return model(inputs, training=False)

    return graph, traces


@pytest.mark.optimised
@every_model_and_input
def test_k1_k8_one_graph_gives_the_named_shapes_and_the_eager_values_at_every_size(entry):
    task, model = TASKS[entry.task], build(entry)
    axes = task.output_axes(model)
    examples = task.examples(4)
    graph, traces = compiled(model, examples[0].inputs)
    for batch in (Batch(examples), Batch(examples[1:2]), Batch(examples[:3], extra=5)):
        outputs = flatten(graph(batch.inputs))
        assert outputs.keys() == axes.keys()
        for name, value in outputs.items():
            assert value.shape == (len(batch.examples), *sizes_in(batch, axes[name])), name
        for name, value in run(model, batch).items():
            np.testing.assert_allclose(outputs[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
    nothing = {name: ids[:0] for name, ids in Batch(examples).inputs.items()}
    assert {len(value) for value in flatten(graph(nothing)).values()} == {0}
    assert len(traces) == 1


class Asked(dict):
    """Inputs that note which of them are asked for."""

    def __init__(self, inputs):
        super().__init__(inputs)
        self.names = set()

    def __getitem__(self, name):
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        self.names.add(name)
        return super().__contains__(name)

    def get(self, name, default=None):
        self.names.add(name)
        return super().get(name, default)


@every_model_and_input
def test_k1_a_model_reads_the_inputs_that_it_declares_and_no_others(entry):
    task, model = TASKS[entry.task], build(entry)
    batch = Batch(task.examples(1))
    inputs = Asked(batch.inputs)
    model.call(inputs)
    assert inputs.names == {*entry.cls.INPUTS, *entry.cls.OPTIONAL_INPUTS}
    kinds = model.input_kinds(optional=True)
    for name, value in batch.inputs.items():
        assert (value.dtype, value.ndim) == (kinds[name].dtype, 1 + len(kinds[name].shape))
        for size, declared in zip(value.shape[1:], kinds[name].shape, strict=True):
            assert declared in (None, size), name


@every_model_and_input
def test_k2_attention_is_a_distribution_over_the_real_keys(entry):
    assert_maps_are_as_declared(entry)


@every_published_model_and_option
def test_k2_an_option_has_the_maps_that_it_declares(entry, options):
    assert_maps_are_as_declared(entry, **options)


def assert_maps_are_as_declared(entry, **options):
    task, model = TASKS[entry.task], build(entry, **options)
    put_garbage_into_padding(model)
    batch = batch_with_empty_sides(task)
    outputs, axes = run(model, batch), attention_axes(model)
    maps = [name for name in outputs if name.startswith("attention/")]
    assert maps == list(axes)
    for name in maps:
        declared = model.ATTENTION[name.removeprefix("attention/")]
        assert outputs[name].shape[1:] == sizes_in(batch, axes[name]), name
        for weights, example in zip(outputs[name], batch.examples, strict=True):
            assert_map_is_as_declared(declared, *flat_map(model, declared, weights, example, batch))


def assert_map_is_as_declared(declared, weights, real_queries, real_keys):
    """Checks the weights (..., queries, keys) of one example, and which of them are real."""
    assert not weights[..., ~real_keys].any()
    assert not weights[..., ~real_queries, :].any()
    if declared.signed:
        assert not declared.normalised
        return
    sums = real_queries * float(real_keys.any())  # without a key there is no weight
    if declared.rooted:
        sums[0] = 0.0  # a root has no parent
    sums = np.broadcast_to(sums, weights.shape[:-1])
    assert weights.min(initial=0.0) >= 0.0
    assert ((weights.sum(axis=-1) > 0.0) == (sums > 0.0)).all()
    if declared.normalised:
        np.testing.assert_allclose(weights.sum(axis=-1), sums, atol=1e-5)
    if declared.bounded:
        assert (weights.sum(axis=-1) <= sums + 1e-5).all()


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("AttentionOverAttentionReader", {"attention": "sum"}),
        ("SelfAttentiveClassifier", {"pooling": "max"}),
        ("SupportingFactsReader", {"linear": True}),
        ("LSTMNClassifier", {"include_initial": False}),
        ("LSTMNInference", {"fusion": "none"}),
    ],
)
def test_k2_an_untrue_declaration_is_found(model, options, monkeypatch):
    entry = models()[model]
    monkeypatch.setattr(entry.cls, "declare", lambda *_, **__: None)
    with pytest.raises(AssertionError):
        assert_maps_are_as_declared(entry, **options)


def flat_map(model, declared, weights, example, batch):
    """A map with one axis of queries and one of keys, and where each of them is real."""
    real = []
    for axis in (declared.queries, declared.keys):
        of_axis = np.array(True)
        for size in sizes_of(model, axis):
            there = (
                np.ones(size, bool)
                if isinstance(size, int)
                else size.real(example.lengths, batch.padded)
            )
            of_axis = of_axis[..., None] & there
        real.append(of_axis.ravel())
    stacked = weights.shape[: len(declared.stacked)]
    return weights.reshape(*stacked, *map(len, real)), *real


@every_model_and_input
def test_padding_is_never_a_possible_answer(entry):
    task, model = TASKS[entry.task], build(entry)
    put_garbage_into_padding(model)
    batch = batch_with_empty_sides(task)
    axes, compared = task.output_axes(model), 0
    for name, values in run(model, batch).items():
        if task.padding_value(name) is None:
            continue
        for value, example in zip(values, batch.examples, strict=True):
            for number, real in real_positions(axes[name], example, batch.padded):
                padding = np.compress(~real, value, axis=number)
                assert (padding == np.float32(task.padding_value(name))).all(), name
                compared += padding.size
    if isinstance(model, SequenceToSequenceModel):  # some have no attention to compare
        compared += words_written_where_padding_is_likeliest(model, batch)
    assert (compared > 0) is has_padding(model)


def words_written_where_padding_is_likeliest(model, batch):
    """How many words a search writes, none of them padding, to which all logits point."""
    project = model.project

    def to_padding(features, training=False):
        logits = project(features, training=training)
        return tf.where(tf.range(tf.shape(logits)[-1]) == PADDING, logits.dtype.max, logits)

    model.project = to_padding
    limits = {"maximum_length": 3, "minimum_length": 3}
    found = greedy(model, model.encode(batch.inputs), **limits)
    assert (found.lengths.numpy() == 3).all()
    assert (found.tokens.numpy() != PADDING).all()
    return found.tokens.numpy().size


@every_model_and_input
def test_k2_everything_is_finite_where_a_side_is_all_padding(entry):
    task, model = TASKS[entry.task], build(entry)
    put_garbage_into_padding(model)
    batch = batch_with_empty_sides(task)
    for name, value in run(model, batch).items():
        assert np.isfinite(value).all(), name
    for example in batch.examples[4:]:
        loss, gradients, _ = loss_and_gradients_of(model, Batch([example], extra=1), training=False)
        assert np.isfinite(loss)
        for path, gradient in gradients.items():
            # A recurrent kernel is not read in a single step.
            assert gradient is None or np.isfinite(gradient).all(), path


@every_model_and_input
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_k9_half_precision_is_finite_and_near(entry, policy):
    task = TASKS[entry.task]
    batch = batch_with_empty_sides(task)
    exact = build(entry)
    model = build(entry, dtype=policy)
    assert model.compute_dtype == policy.removeprefix("mixed_")
    loss, gradients, outputs = loss_and_gradients_of(model, batch, training=False)
    expected = run(exact, batch)
    assert outputs.keys() == expected.keys()
    for name, value in expected.items():
        assert np.isfinite(outputs[name].astype("float32")).all(), name
        if name.startswith("attention/"):
            difference = np.abs(outputs[name].astype("float32") - value)
            assert difference.max() < 0.1, name
    assert np.isfinite(loss)
    for path, gradient in gradients.items():
        assert np.isfinite(gradient.astype("float32")).all(), path


@every_published_model
def test_a_summary_lists_all_layers_and_parameters(entry):
    model, lines = build(entry), []
    model.summary(print_fn=lines.append, expand_nested=True)
    (text,) = lines
    for layer in model.layers:
        assert layer.name in text
    assert f"Total params: {model.count_params():,} " in text
