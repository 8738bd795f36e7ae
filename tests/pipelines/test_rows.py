"""A pipeline of rows: asked with tables and values, trained, scored and saved."""

import numpy as np
import pandas as pd
import pytest

import zoo
from tests.contracts.subjects import build
from tests.contracts.tabular_task import CODEC, LABELS
from zoo.models.core.registry import find_model
from zoo.pipelines.results import RowLabel, RowValue
from zoo.pipelines.rows import read_rows
from zoo.serving.cards import DataRecord, read_card
from zoo.serving.servable import Servable
from zoo.serving.warming import warm_up
from zoo.tasks.export_again import export_again
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.tabular.columns import CategoricalColumn, RowCodec
from zoo.tasks.tabular.endpoint import TabularEndpoint, Target

ROW = {"Age": 61.5, "Gain": None, "Work": "private", "Sex": "male"}
TABLE = pd.DataFrame(
    {
        "other": [1, 2, 3, 4],
        "Sex": ["male", "female", None, "male"],
        "Age": [61.5, 20, np.nan, 35],
        "Gain": [np.nan, 1.0, 2.0, 3.0],
        "Work": ["private", "?", "of a kind", "none"],
        "Height": ["low", "high", "low", "low"],
    }
)
TWICE = {name: TABLE.assign(again=TABLE[name]).rename(columns={"again": name}) for name in TABLE}


def export(folder, target, **arguments):
    model = build(find_model("FeatureAttention"), **arguments)
    record = DataRecord("sample", "train", "test")
    endpoint = TabularEndpoint(model, CODEC, target)
    told = {"task": "tabular", "data": record, "metrics": {"loss": 1.0}, "seed": 0, "seconds": 0.0}
    export_endpoint(folder, endpoint, **told)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = Target("Height", LABELS)
    return export(tmp_path_factory.mktemp("rows") / "model", target, classes=3)


@pytest.fixture(scope="module")
def pipeline(folder):
    return zoo.pipeline(folder)


def test_a_row_has_an_answer_and_weights_by_column(pipeline):
    alone = pipeline(ROW)
    assert type(alone) is RowLabel
    assert {*alone.probabilities} == {*LABELS}
    assert alone.score == max(alone.probabilities.values())
    assert [*alone.weights] == ["Age", "Gain", "Work", "Sex"]
    assert alone.weights["Gain"] == 0
    assert sum(alone.weights.values()) == pytest.approx(1)
    assert alone.attention["features"].shape == (1, 4)
    by_name = pipeline(age=61.5, gain="", work="private", sex="male")
    assert by_name.probabilities == pytest.approx(alone.probabilities)
    assert len(alone.plot().axes) == 1


def test_a_table_has_an_answer_for_each_row(pipeline):
    found = pipeline(TABLE, batch_size=3)
    assert len(found) == 4
    assert found[0].probabilities == pytest.approx(pipeline(ROW).probabilities, abs=1e-6)
    assert [one.weights["Age"] == 0 for one in found] == [False, False, True, False]
    assert found[1].weights["Work"] == found[2].weights["Work"] == found[2].weights["Sex"] == 0
    columns = {name: [*TABLE[name]] for name in CODEC.names}
    assert [one.label for one in pipeline(columns)] == [one.label for one in found]


def test_a_value_beside_columns_goes_with_every_row(pipeline):
    found = pipeline({**ROW, "Age": [61.5, 20]})
    assert [one.probabilities for one in found] == [
        pytest.approx(pipeline({**ROW, "Age": age}).probabilities) for age in (61.5, 20)
    ]
    assert len(pipeline({**ROW, "Age": np.array([1.0, 2.0]), "Work": ("none", "public")})) == 2
    # As many rows as the string has characters, which are no values.
    assert [one.weights["Sex"] > 0 for one in pipeline({**ROW, "Age": [1, 2, 3, 4]})] == [True] * 4
    assert len(pipeline({**ROW, "Age": [61.5]})) == 1
    assert pipeline({**ROW, "Age": np.array(61.5)}).weights["Age"] > 0


def test_a_column_of_nothing_but_unknown_values_is_told(pipeline):
    with pytest.warns(
        UserWarning, match="Work: no value is a category .* as 'sailor'; known:"
    ) as w:
        pipeline(ROW | {"Work": "sailor"})
    assert w[0].filename == __file__


def test_values_are_spelled_as_training_spelled_them():
    one = CategoricalColumn("Zip", "zip", ("3.0", "true"))
    _, columns = read_rows(RowCodec((), (one,)).get_config(), ({"Zip": [3, True, "3"]},), {})
    assert columns["zip"].tolist() == ["3.0", "true", "3"]


@pytest.mark.parametrize(
    ("tables", "named", "message"),
    [
        ((), {}, "rows must be one table or columns by name"),
        ((["a"],), {}, "rows must be a pandas DataFrame or a dict of columns, got list"),
        ((TABLE.to_dict(),), {}, "must be a value or a list, got dict"),
        (
            ({**ROW, "Age": TABLE[["Age"]]},),
            {},
            "Age must be a value or a list, got DataFrame: give one of its columns",
        ),
        ((ROW | {"Work": {"private"}},), {}, "Work must be a value or a list, got set"),
        ((TWICE["Age"],), {}, "rows must have column Age once, got 2"),
        ((TWICE["Work"],), {}, "rows must have column Work once, got 2"),
        (({"Age": 1},), {}, "columns must be Age, Gain, Work, Sex, got Age: Gain is missing"),
        ((ROW | {"Age": "old"},), {}, "Age of row 0 must be a number, got 'old'"),
        ((ROW | {"Age": True},), {}, "Age of row 0 must be a number, got 'True'"),
        (({**ROW, "Age": [np.bool_(False)]},), {}, "Age of row 0 must be a number, got 'False'"),
        ((TABLE.assign(Age=TABLE["Age"] > 30),), {}, "Age of row 0 must be a number, got 'True'"),
        ((ROW | {"Age": 1 + 2j},), {}, "Age of row 0 must be a number, got"),
        ((ROW | {"Age": "1_000"},), {}, "Age of row 0 must be a number, got '1_000'"),
        ((ROW | {"Work": "\ud800"},), {}, "Work of row 0 must be text that UTF-8 can hold, got"),
        (({**ROW, "Age": [1, 2], "Gain": [1]},), {}, "columns must have the same length"),
        ((), {**{n.lower(): v for n, v in ROW.items()}, "hat": 1}, "got hat too"),
    ],
)
def test_other_rows_are_refused(pipeline, tables, named, message):
    with pytest.raises(ValueError, match=message):
        pipeline(*tables, **named)


def test_it_is_scored_trained_and_saved(folder, tmp_path):
    pipeline = zoo.pipeline(folder)
    assert {*pipeline.evaluate(TABLE)} == {"accuracy", "loss"}
    before = pipeline(ROW).probabilities
    settings = {"epochs": 3, "learning_rate": 0.05, "progress": False}
    history = pipeline.fit(TABLE, validation_data=TABLE, **settings)
    assert history["val_loss"][-1] < history["val_loss"][0]
    assert pipeline(ROW).probabilities != before
    pipeline.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "attention.png").stat().st_size > 10_000
    again = zoo.pipeline(tmp_path / "saved")
    assert again(ROW).probabilities == pytest.approx(pipeline(ROW).probabilities, abs=1e-6)
    assert read_card(tmp_path / "saved").labels == [*LABELS]
    for data, message in [
        (TABLE.drop(columns="Age"), "Age is missing"),
        (TABLE.assign(Height="tall"), "Height of row 0 must be one of 'low', .* got 'tall'"),
        ([1], "data must be a pandas DataFrame or a dict of columns"),
        (TABLE.to_dict(), "column Age must be a list, got dict"),
        ({**TABLE, "Age": 3}, "column Age must be a list, got int"),
        ({**TABLE, "Work": TABLE[["Work"]]}, "column Work must be a list, got DataFrame: give"),
        (TWICE["Age"], "data must have column Age once, got 2"),
        (TWICE["Work"], "data must have column Work once, got 2"),
        (TWICE["Height"], "data must have column Height once, got 2"),
        (TABLE[:0], "data must have at least one row, got none"),
    ]:
        with pytest.raises(ValueError, match=message):
            pipeline.fit(data)


def test_columns_may_be_generators_and_others_may_be_there_twice(pipeline):
    columns = {name: (value for value in TABLE[name]) for name in [*CODEC.names, "Height"]}
    assert pipeline.evaluate(columns) == pipeline.evaluate(TWICE["other"])


def test_truth_values_are_numbers_where_a_model_is_trained(pipeline):
    trainer = pipeline._trained_model().trainer
    question = trainer.question(trainer.read(TABLE.assign(Age=TABLE["Age"] > 30)))
    assert (question["age"], question["work"]) == (1.0, "private")
    assert np.isnan(question["gain"])


def test_a_server_warms_it_up(folder):
    warm_up(Servable(folder))


def test_it_is_exported_again_from_what_it_holds(folder, pipeline, tmp_path):
    card = export_again(folder, tmp_path / "again")
    assert card.tokenizer == read_card(folder).tokenizer
    again = zoo.pipeline(tmp_path / "again")
    assert again(ROW).probabilities == pytest.approx(pipeline(ROW).probabilities)


def test_a_value_is_in_the_unit_of_its_column(tmp_path):
    target = Target("price", (), 50_000.0, 10_000.0)
    pipeline = zoo.pipeline(export(tmp_path / "model", target, classes=None))
    found = pipeline(ROW)
    assert type(found) is RowValue
    model = zoo.load(tmp_path / "model")
    value = float(model({"row": CODEC.encode(pd.DataFrame([ROW]))})["value"][0])
    assert found.value == found.score == pytest.approx(50_000 + 10_000 * value, rel=1e-5)
    table = TABLE.assign(price=[40_000, "60000", 55_000, 45_000])
    assert {*pipeline.evaluate(table)} == {"rmse", "r2", "loss"}


def test_the_input_of_a_column_is_not_taken_for_another_columns_name():
    """Column "a b" has the input a_b, and the column a_b another one."""
    columns = CategoricalColumn("a b", "a_b", ("x",)), CategoricalColumn("a_b", "a_b_2", ("y",))
    config = RowCodec((), columns).get_config()
    wanted = {"a_b": ["x"], "a_b_2": ["y"]}
    for row in ({"a b": "x", "a_b": "y"}, {"a_b": "x", "a_b_2": "y"}, {"a b": "x", "a_b_2": "y"}):
        for given in (((row,), {}), ((), row)):
            _, found = read_rows(config, *given)
            assert {name: column.tolist() for name, column in found.items()} == wanted
    for lacking in ({"a_b": "y"}, {"a_b": "y", "other": "x"}):
        with pytest.raises(ValueError, match=r"^columns must be a b, .*, got a_b.*: a b is m"):
            read_rows(config, (lacking,), {})


@pytest.mark.parametrize("value", [np.inf, "-Infinity", "1e400"])
def test_infinite_numbers_are_refused_and_not_taken_for_missing(value):
    rows = TABLE.astype({"Age": object})
    rows.loc[2, "Age"] = value
    with pytest.raises(ValueError, match=r"^Age of row 2 must be a finite number, got "):
        read_rows(CODEC.get_config(), (rows,), {})
