"""FeatureAttention beyond the contracts: arguments, invariants, values, gaps, losses."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, draw_weights, loss_and_gradients_of, values_of
from tests.contracts.tabular_task import Tabular
from tests.contracts.tasks import Batch
from tests.references import feature_attention as reference
from zoo.models.core.registry import find_model
from zoo.models.feature_attention.feature_attention import FeatureAttention

ROWS = np.array(
    [[0.3, -1.2, 1, 0], [np.nan, 0.4, 2, 1], [np.nan, 2.0, np.nan, np.nan], [np.nan] * 4],
    "float32",
)
NORMALISERS = ("softmax", "sparsemax", "sigmoid")
SIZES = ("classes", "attention_dim", "embedding_dim", "hidden_dim", "categorical")
WRONG = [
    *[(name, value, f"{name} must be a positive integer") for name in SIZES for value in (0, 2.5)],
    ("numeric", -1, "numeric must be a whole number of at least 0"),
    ("normalise", "some", r"normalise must be one of \['softmax', 'sparsemax', 'sigmoid'\]"),
    ("entropy", -0.1, "entropy must be at least 0 and finite"),
    ("sparsity", float("inf"), "sparsity must be at least 0 and finite"),
    ("value_penalty", float("nan"), "value_penalty must be at least 0 and finite"),
    ("dropout", 1.0, "dropout must be at least 0 and less than 1"),
    ("feature_dropout", -0.1, "feature_dropout must be at least 0 and less than 1"),
]


def make(**arguments):
    return build(find_model("FeatureAttention"), dtype="float64", **arguments)


def weights_of(model, rows=ROWS):
    return model({"row": rows})["attention"]["features"].numpy()[:, 0]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, message):
    given = (value, 3) if name == "categorical" else value
    with pytest.raises(ValueError, match=f"^{message}, got {value}|^{message}, got '{value}'"):
        FeatureAttention.from_preset("tiny", **{name: given})


def test_a_model_without_features_is_refused():
    with pytest.raises(ValueError, match="numeric must be positive without categorical features"):
        FeatureAttention(numeric=0)


@pytest.mark.parametrize("normalise", NORMALISERS)
@pytest.mark.parametrize("contextual", [True, False])
def test_missing_features_have_no_weight_and_no_say(normalise, contextual):
    model = make(normalise=normalise, contextual=contextual)
    weights = weights_of(model)
    assert not weights[np.isnan(ROWS)].any()
    if normalise == "sigmoid":
        assert (weights[~np.isnan(ROWS)] > 0).all()
        assert weights.sum(axis=1).max() > 1
        assert not model.ATTENTION["features"].normalised
    else:
        np.testing.assert_allclose(weights.sum(axis=1), [1, 1, 1, 0], rtol=1e-12)
        assert model.ATTENTION["features"].normalised
    outputs = model({"row": ROWS})["logits"].numpy()
    model.vectors.scale.assign(model.vectors.scale.numpy() * [[1e3], [1.0]])
    changed = model({"row": ROWS})["logits"].numpy()
    np.testing.assert_array_equal(changed[1:], outputs[1:])  # the first number is missing there
    assert np.abs(changed[0] - outputs[0]).max() > 1e-3


def test_without_context_a_score_depends_on_its_own_feature_alone():
    """So gates do; softmax weights still share the one that is given."""
    changed = ROWS[:1] + np.array([[0, 1.0, 0, 1]], "float32")
    for contextual in (True, False):
        model = make(normalise="sigmoid", contextual=contextual)
        before, after = weights_of(model, ROWS[:1]), weights_of(model, changed)
        same = np.isclose(before, after, rtol=1e-9)[0].tolist()
        assert same == ([False] * 4 if contextual else [True, False, True, False])


@pytest.mark.parametrize("normalise", NORMALISERS)
def test_permuted_features_permute_their_weights_and_leave_the_output(normalise):
    model = make(numeric=3, categorical=(4, 4), normalise=normalise)
    other = make(numeric=3, categorical=(4, 4), normalise=normalise)
    numbers, tables = [2, 0, 1], [1, 0]
    order = [*numbers, *(3 + table for table in tables)]
    other.set_weights(model.get_weights())
    for weight in (other.vectors.scale, other.vectors.shift):
        weight.assign(weight.numpy()[numbers])
    rows = other.vectors.tables.numpy()
    other.vectors.tables.assign(np.concatenate([rows[4:], rows[:4]]))
    other.key_bias.assign(other.key_bias.numpy()[order])
    row = np.array([[0.5, -1.0, np.nan, 3, 1], [1.5, 0.2, 0.7, 0, 2]], "float32")
    expected, found = model({"row": row}), other({"row": row[:, order]})
    np.testing.assert_allclose(found["logits"], expected["logits"], rtol=1e-12)
    permuted = expected["attention"]["features"].numpy()[..., order]
    np.testing.assert_allclose(found["attention"]["features"], permuted, rtol=1e-12)


@pytest.mark.parametrize(("numeric", "categorical"), [(4, ()), (0, (3, 2))])
def test_features_of_one_kind_are_enough(numeric, categorical):
    model = make(numeric=numeric, categorical=categorical)
    row = ROWS[:3] if numeric else ROWS[:3, 2:]
    weights = reference.named_weights(values_of(model))
    for found, one in zip(model({"row": row})["logits"].numpy(), row, strict=True):
        expected = reference.predict(weights, {"row": one}, model.get_config())["logits"]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_values_are_predicted_without_classes():
    model = FeatureAttention.from_preset("tiny", classes=None, dtype="float64", entropy=0.1)
    model.build()
    draw_weights(model, 0, 0.6)
    targets, config = np.array([0.5, -1.0, 2.0, 0.0]), model.get_config()
    outputs = model({"row": ROWS})
    assert outputs["value"].shape == (4,)
    weights = reference.named_weights(values_of(model))
    losses = []
    for number, row in enumerate(ROWS):
        expected = reference.predict(weights, {"row": row}, config)
        np.testing.assert_allclose(outputs["value"][number], expected["value"], rtol=1e-9)
        losses.append(reference.example_loss(weights, expected, targets[number], config))
    loss = model.compute_loss({"row": ROWS}, targets, outputs)
    np.testing.assert_allclose(loss, np.mean(losses), rtol=1e-9)


def test_values_are_learned_and_read_back_by_a_metric():
    model = FeatureAttention.from_preset("tiny", classes=None)
    rows = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    rows[:, 2:] = 0
    targets = rows[:, 0] - rows[:, 1]
    model.build()
    model.compile("adam", metrics=["mse"])
    before = model.evaluate({"row": rows}, targets, verbose=0, return_dict=True)
    np.testing.assert_allclose(before["loss"], before["mse"] / 2, rtol=1e-5)
    model.optimizer.learning_rate = 0.03
    model.fit({"row": rows}, targets, epochs=30, verbose=0)
    after = model.evaluate({"row": rows}, targets, verbose=0, return_dict=True)
    assert after["mse"] < 0.1 * before["mse"]
    with pytest.raises(ValueError, match="targets of FeatureAttention are no classes"):
        model.fit({"row": rows}, targets, class_weight={0: 1.0}, verbose=0)


def test_hidden_features_are_hidden_in_training_only():
    model = make(feature_dropout=0.5)
    rows = np.tile(ROWS[:1], (200, 1))
    training = model({"row": rows}, training=True)["attention"]["features"].numpy()[:, 0]
    share = (training == 0).mean(axis=0)
    assert ((share > 0.35) & (share < 0.65)).all()
    sums = training.sum(axis=1)
    np.testing.assert_allclose(sums[sums > 0], 1.0)
    assert (weights_of(model, rows) > 0).all()


@pytest.mark.parametrize("normalise", NORMALISERS)
def test_the_terms_of_the_loss_are_finite_on_rows_without_a_feature(normalise):
    terms = {"entropy": 0.3, "sparsity": 0.2, "value_penalty": 0.1}
    model = make(normalise=normalise, **terms)
    batch = Batch(Tabular().examples(2))
    for example in batch.examples:
        example.inputs["row"][:] = np.nan
    loss, gradients, _ = loss_and_gradients_of(model, batch, training=True)
    assert np.isfinite(loss)
    assert all(np.isfinite(gradient).all() for gradient in gradients.values())


def test_ids_of_categories_stay_exact_in_half_precision():
    model = FeatureAttention(0, (70_000,), embedding_dim=2, hidden_dim=2, dtype="mixed_bfloat16")
    model.build()
    ids = np.array([[65_537], [65_536]], "float32")
    table = model.vectors.tables.numpy()
    found = model.vectors(tf.constant(ids)).vectors.numpy()[:, 0].astype("float32")
    np.testing.assert_allclose(found, table[[65_537, 65_536]], rtol=1e-2)


@pytest.mark.parametrize("unknown", [-1, 3, 7, 1e9, -np.inf, np.inf])
def test_an_id_that_its_feature_does_not_have_is_missing(unknown):
    model = make()
    rows = np.array([[0.3, -1.2, unknown, 1]], "float32")
    gaps = np.array([[0.3, -1.2, np.nan, 1]], "float32")
    assert weights_of(model, rows)[0, 2] == 0
    found, expected = (model({"row": x})["logits"].numpy() for x in (rows, gaps))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("categorical", [(3, 2), ()])
@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("float32", np.inf),
        ("float32", -np.inf),
        ("float64", np.inf),
        ("mixed_bfloat16", np.inf),
        ("mixed_float16", 7e4),  # infinite in 16 bits
    ],
)
def test_an_infinite_number_is_missing(categorical, dtype, number):
    model = FeatureAttention(2, categorical, hidden_dim=4, classes=2, dtype=dtype)
    ids = [0.0] * len(categorical)
    rows = np.array([[number, 0.4, *ids], [0.3, number, *ids], [number, number, *ids]], "float32")
    found = model.predict({"row": rows}, verbose=0)
    gaps = np.where(rows == np.float32(number), np.nan, rows)
    expected = model.predict({"row": gaps}, verbose=0)
    for name, value in keras.tree.flatten_with_path(found):
        assert np.isfinite(value).all(), name
    np.testing.assert_array_equal(found["logits"], expected["logits"])
    assert not found["attention"]["features"][:, 0][np.isnan(gaps)].any()


def test_ids_that_are_not_whole_are_refused():
    """As of columns that were standardised with the others: cut off, they would be other ids."""
    rows, targets = ROWS.copy(), np.array([0, 1, 1, 0])
    rows[1, 2] = 1.7
    model = FeatureAttention.from_preset("tiny", classes=2)
    model.compile("sgd")
    message = "row must have whole numbers as ids of categories"
    data = tf.data.Dataset.from_tensors
    for refused in (
        lambda: model.fit({"row": rows}, targets, verbose=0),
        lambda: model.predict({"row": rows}, verbose=0),
        lambda: model({"row": rows}),
        lambda: model.evaluate(data(({"row": rows}, targets)), verbose=0),
    ):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
            refused()
    assert np.isfinite(model.evaluate(data(({"row": ROWS}, targets)), verbose=0))
    in_a_graph = tf.function(lambda row: model({"row": row})["attention"]["features"])(rows)
    assert not in_a_graph[1, 0, 2]


def test_rows_of_integers_are_read_in_training_too():
    model = FeatureAttention.from_preset("tiny", feature_dropout=0.5)
    model.compile("adam")
    rows = np.array([[1, -2, 1, 0], [0, 4, -1, 1], [3, 2, 2, 1]], "int64")
    model.fit({"row": rows}, np.array([0, 1, 0]), epochs=1, verbose=0)
    found, expected = (
        model.predict({"row": x}, verbose=0)["logits"] for x in (rows, rows.astype("float32"))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("batch_size", [9, 4])
def test_metrics_of_values_count_every_row(batch_size):
    """A metric of Keras takes the mean over the last axis, which must not be the batch."""
    generator = np.random.default_rng(0)
    numbers, categories = generator.normal(size=(9, 2)), generator.integers(0, 2, (9, 2))
    rows = {"row": np.concatenate([numbers, categories], axis=1).astype("float32")}
    values = generator.normal(size=9).astype("float32")
    weights = generator.uniform(0.5, 2.0, size=9).astype("float32")
    model = FeatureAttention.from_preset("tiny", classes=None)
    metrics = [keras.metrics.MeanSquaredError(name="mse"), keras.metrics.R2Score(name="r2")]
    weighted = [keras.metrics.MeanSquaredError(name="weighted")]
    model.compile("sgd", metrics=metrics, weighted_metrics=weighted)
    found = model.evaluate(rows, values, batch_size, 0, sample_weight=weights, return_dict=True)
    squares = np.square(values - model(rows)["value"].numpy())
    assert found["mse"] == pytest.approx(squares.mean(), rel=1e-5)
    assert found["r2"] == pytest.approx(1 - squares.mean() / values.var(), rel=1e-4)
    assert found["weighted"] == pytest.approx(np.average(squares, weights=weights), rel=1e-5)


@pytest.mark.parametrize(("numeric", "categorical"), [(3, ()), (0, (3, 2, 4)), (2, (3,))])
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_rows_with_another_number_of_features_are_refused(numeric, categorical, columns):
    """One column would be spread over all features."""
    model = make(numeric=numeric, categorical=categorical)
    message = rf"row must have the shape \(batch, 3\), got \(2, {columns}\)"
    with pytest.raises(ValueError, match=message):
        model({"row": np.zeros((2, columns))})
