"""Shapes of targets and weights: brought to the standard one, or refused, in a graph too."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.core.targets import Targets, standard_targets, standard_weights

ONE, TOKENS, SPAN = Targets(), Targets(tokens="text"), Targets(names=("start", "end"))
VECTORS, ANY_WIDTH = Targets(steps="text", width=4), Targets(steps="text")


def inputs(size=2):
    return {"text": np.ones((size, 3), "int32")}


def checked_in_a_graph(kind, targets, weights=None):
    """The standard targets and weights, found by a step that knows no size beforehand."""

    @tf.function(autograph=False)
    def step(inputs, targets, *weights):
        targets = standard_targets(kind, inputs, targets)
        return targets, standard_weights(kind, targets, *weights or [None])

    data = (inputs(), targets) if weights is None else (inputs(), targets, weights)
    data = tf.nest.map_structure(tf.convert_to_tensor, data)
    unknown = [tf.TensorSpec([None] * len(one.shape), one.dtype) for one in tf.nest.flatten(data)]
    traced = step.get_concrete_function(*tf.nest.pack_sequence_as(data, unknown))
    return traced(*data)


LAWFUL = [(2,), (2, 1), (2, 3)]


@pytest.mark.parametrize("shape", LAWFUL)
def test_sizes_may_be_unknown_until_a_step_runs(shape):
    generator = np.random.default_rng(0)
    tokens = generator.integers(1, 9, (2, 3, 1)).astype("int32")
    weights = generator.uniform(size=shape).astype("float32")
    targets, found = checked_in_a_graph(TOKENS, tokens, weights)
    np.testing.assert_array_equal(targets, tokens[..., 0])
    expected = np.broadcast_to(weights[:, None] if len(shape) == 1 else weights, (2, 3))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 1)])
@pytest.mark.parametrize("kind", [VECTORS, ANY_WIDTH])
def test_a_target_may_have_a_vector_for_each_step_and_one_weight(kind, shape):
    values = np.arange(24, dtype="int32").reshape(shape)
    for weights in ((2,), (2, 1)):
        targets, found = checked_in_a_graph(kind, values, np.ones(weights, "float32"))
        np.testing.assert_array_equal(targets, values.reshape(2, 3, 4))
        assert found.shape == (2,)
    np.testing.assert_array_equal(standard_targets(kind, inputs(), values), values.reshape(2, 3, 4))


@pytest.mark.parametrize("shape", [(2, 3), (2, 4, 4), (2, 3, 5), (2, 3, 4, 2), (2, 12)])
def test_vectors_of_other_sizes_are_refused(shape):
    message = r"targets must have the shape \(2, 3, 4\) or \(2, 3, 4, 1\), got"
    with pytest.raises(ValueError, match=message):
        standard_targets(VECTORS, inputs(), np.ones(shape, "int32"))


@pytest.mark.parametrize(
    ("kind", "targets", "weights"),
    [
        (ONE, (3,), None),
        (ONE, (1,), None),
        (ONE, (2, 2), None),
        (ONE, (2,), (3,)),
        (ONE, (2,), (1,)),
        (ONE, (2,), (2, 2)),
        (TOKENS, (2, 4), None),
        (TOKENS, (2, 2), None),
        (TOKENS, (1, 3), None),
        (TOKENS, (2, 3, 2), None),
        (TOKENS, (2, 3), (1, 3)),
        (TOKENS, (2, 3), (1,)),
        (TOKENS, (2, 3), (2, 2)),
        (TOKENS, (2, 3), (2, 4)),
        (VECTORS, (2, 2, 4), None),
        (VECTORS, (1, 3, 4), None),
        (VECTORS, (2, 3, 5), None),
        (VECTORS, (2, 3, 1), None),
        (ANY_WIDTH, (2, 4, 5), None),
        (VECTORS, (2, 3, 4), (3,)),
        (VECTORS, (2, 3, 4), (2, 3)),
    ],
)
def test_sizes_that_only_a_run_knows_are_compared_there(kind, targets, weights):
    targets = np.ones(targets, "int32")
    weights = weights and np.ones(weights, "float32")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the shape"):
        checked_in_a_graph(kind, targets, weights)


def test_the_error_of_a_run_names_both_shapes():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"targets must .*\[2\].*got.*\[3\]"):
        checked_in_a_graph(ONE, np.ones(3, "int32"))


def test_shapes_are_named_as_far_as_they_are_known():
    @tf.function(autograph=False)
    def step(targets, weights):
        return standard_weights(ONE, standard_targets(ONE, inputs(4), targets), weights)

    ids, floats = (lambda *sizes: tf.TensorSpec(sizes, "int32")), tf.TensorSpec
    with pytest.raises(ValueError, match=r"targets must have the shape \(4,\) or \(4, 1\), got"):
        step.get_concrete_function(ids(None, 2), floats([None]))
    message = r"^sample_weight must have the shape \(None,\) or \(None, 1\), got \(None, 2\)"
    with pytest.raises(ValueError, match=message):
        step.get_concrete_function(ids(None), floats([None, 2]))
    step.get_concrete_function(ids(None, None), floats([None, 1]))


def test_targets_are_not_compared_with_inputs_that_are_not_there():
    np.testing.assert_array_equal(standard_targets(ONE, None, [1, 2]), [1, 2])
    with pytest.raises(ValueError, match=r"targets must be a dict of \['end', 'start'\], got list"):
        standard_targets(SPAN, None, [1, 2])


def test_other_targets_of_a_dict_stay_as_they_are_and_are_weighted_too():
    targets = {"start": [1, 2], "end": [[2], [3]], "span": np.ones((2, 2))}
    found = standard_targets(SPAN, inputs(), targets)
    assert {name: np.shape(values) for name, values in found.items()} == {
        "start": (2,),
        "end": (2,),
        "span": (2, 2),
    }
    weights = standard_weights(SPAN, found, np.ones((2, 1)))
    assert {name: np.shape(values) for name, values in weights.items()} == dict.fromkeys(
        targets, (2,)
    )


def test_unknown_targets_are_not_checked_and_only_examples_have_weights():
    targets = {"y": np.ones((2, 5))}
    assert standard_targets(None, inputs(), targets) is targets
    for weights in ([1.0, 2.0], [[1.0], [2.0]], {"y": [1.0, 2.0]}):
        np.testing.assert_array_equal(standard_weights(None, targets, weights), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"shape \(2,\) or \(2, 1\), got \(2, 5\)"):
        standard_weights(None, targets, np.ones((2, 5)))
    both = {"y": np.ones(2), "z": np.ones(2)}
    with pytest.raises(ValueError, match=r"sample_weight must be one array.* got a dict of"):
        standard_weights(None, both, both)


@pytest.mark.parametrize("unlabelled", [-1, -100])
@pytest.mark.parametrize("kind", [Targets(classes=True), TOKENS, SPAN])
def test_a_class_token_or_position_is_not_counted_from_the_end(kind, unlabelled):
    """Some data sets mark so what has no label: an evaluation would be wrong in silence."""
    shape = (2, 3) if kind.tokens else (2,)
    targets = np.ones(shape, "int32")
    targets[1] = unlabelled
    given = {"start": targets, "end": targets} if kind.names else targets
    for check in (checked_in_a_graph, lambda kind, given: standard_targets(kind, inputs(), given)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not be negative, got"):
            check(kind, given)


def test_a_value_to_predict_may_be_negative():
    np.testing.assert_array_equal(standard_targets(ONE, inputs(), np.array([-1.5, 2.0])), [-1.5, 2])


@pytest.mark.parametrize("kind", [ONE, Targets(classes=True), SPAN, ANY_WIDTH])
def test_true_and_false_are_one_and_zero(kind):
    values = np.array([True, False] if kind.steps is None else [[[True]] * 3, [[False]] * 3])
    given = {"start": values, "end": values} if kind.names else values
    for found in (checked_in_a_graph(kind, given)[0], standard_targets(kind, inputs(), given)):
        for one in tf.nest.flatten(found):
            assert one.dtype == "int32"
            np.testing.assert_array_equal(one, values)
