"""Tables of one's own: what no model card may hold, and targets that cannot be predicted."""

import json

import numpy as np
import pandas as pd
import pytest

from zoo.tasks.tabular.columns import CategoricalColumn, RowCodec
from zoo.tasks.tabular.data import make_target, own_table
from zoo.tasks.tabular.endpoint import Target
from zoo.tasks.tabular.examples import encode_rows
from zoo.tasks.tabular.recipe import TabularSettings

CODEC = RowCodec((), (CategoricalColumn("a", "a", ("x", "y")),))


def read(path, rows, *, kind="auto", share=0.25):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    settings = TabularSettings(target="y", kind=kind, held_out=share)
    return own_table({"train": (path,), "validation": (), "test": ()}, settings)[0]


@pytest.mark.parametrize("odd", ["a\nb", "a\tb", "a\u202eb", "a\u2066b", "a\x7fb"])
def test_names_and_classes_with_control_characters_are_refused(tmp_path, odd):
    rows = [{"a": n, "y": "good" if n % 2 else "bad"} for n in range(8)]
    told = repr(odd).replace("\\", r"\\")
    expected = rf"o\.jsonl: names of columns must have no control characters, got {told}"
    with pytest.raises(ValueError, match=expected):
        read(tmp_path / "o.jsonl", [row | {odd: 1} for row in rows])
    rows[2]["y"] = odd
    expected = rf"o\.jsonl: y of row 3 must have no control characters, got {told}"
    with pytest.raises(ValueError, match=expected):
        read(tmp_path / "o.jsonl", rows)


@pytest.mark.parametrize("kind", ["auto", "regression"])
def test_infinite_targets_are_named(tmp_path, kind):
    rows = [{"a": n, "y": f"{n}.5"} for n in range(8)]
    rows[5]["y"] = "inf"
    with pytest.raises(
        ValueError, match=r"i\.jsonl: y of row 6 must be a finite number, got 'inf'"
    ):
        read(tmp_path / "i.jsonl", rows, kind=kind)
    column = pd.Series([1.5, np.inf, 2.0], name="y")
    assert make_target(column, "classification").labels == ("1.5", "2.0", "inf")
    with pytest.raises(ValueError, match=r"y of row 1 must be a finite number, got .*inf"):
        make_target(column, kind)


@pytest.mark.parametrize("numbers", [["1e39", "2e39"], ["1e200", "2e200"]])
def test_targets_beyond_float32_are_refused(tmp_path, numbers):
    told = rf"y of row %d must be a finite number, at most 3\.4e\+38 in size, got '{numbers[0]}'"
    with pytest.raises(ValueError, match=told % 0):
        make_target(pd.Series(numbers, name="y"), "regression")
    rows = [{"a": n, "y": f"{n}.5"} for n in range(8)]
    rows[5]["y"] = numbers[0]
    with pytest.raises(ValueError, match=rf"l\.jsonl: {told % 6}"):
        read(tmp_path / "l.jsonl", rows)
    for same in (["1e-60", "2e-60"], [0.1] * 3):  # a deviation of 0 in float32, or one of rounding
        with pytest.raises(ValueError, match="y must have different values"):
            make_target(pd.Series(same, name="y"), "regression")


def test_targets_that_float32_cannot_tell_apart_are_refused():
    """A model's answers are float32: of seconds since 1970 they would be minutes apart."""
    seconds = pd.Series(1.7e9 + 60 * np.arange(30), name="y")
    with pytest.raises(ValueError, match=r"y must have numbers that differ by more than float32"):
        make_target(seconds, "auto")
    assert make_target(seconds - 1.7e9, "auto").mean == 870


def test_a_target_that_is_no_number_is_named_with_its_file(tmp_path):
    rows = [{"a": n, "y": f"{n}.5"} for n in range(8)]
    rows[0]["y"] = "dear"
    with pytest.raises(ValueError, match=r"n\.jsonl: y of row 1 must be a number, got 'dear'"):
        read(tmp_path / "n.jsonl", rows, kind="regression")


@pytest.mark.parametrize("kind", ["auto", "regression"])
def test_the_scale_of_values_is_that_of_the_training_part(tmp_path, kind):
    for name, add in (("t", 0.5), ("v", 1000.5)):
        rows = [{"a": n, "y": n + add} for n in range(8)]
        (tmp_path / name).with_suffix(".jsonl").write_text("\n".join(map(json.dumps, rows)))
    paths = {"train": (tmp_path / "t.jsonl",), "validation": (tmp_path / "v.jsonl",), "test": ()}
    target = own_table(paths, TabularSettings(target="y", kind=kind))[0].target
    assert target == Target("y", (), 4.0, np.std(range(8)))
    held = read(tmp_path / "h.jsonl", [{"a": n, "y": f"{n * n}.5"} for n in range(40)], kind=kind)
    values = held.training["y"].astype(float)
    assert held.target == Target("y", (), values.mean(), values.std(ddof=0))


def test_every_class_of_two_rows_is_held_out(tmp_path):
    rows = [{"a": n, "y": "rare" if n < 2 else "often"} for n in range(40)]
    data = read(tmp_path / "r.jsonl", rows, share=0.1)
    assert {*data.training["y"]} == {*data.validation["y"]} == {"often", "rare"}


def test_equal_numbers_are_classes_in_the_order_of_their_spelling():
    assert make_target(pd.Series(["10", "1", "01", "-2"]), "auto").labels == ("-2", "01", "1", "10")
    assert make_target(pd.Series(["--5", "1"]), "classification").labels == ("--5", "1")


def test_classes_that_are_the_same_number_are_one(tmp_path):
    assert make_target(pd.Series(["1", " 1.0", "2.", "02", "1.5"]), "classification").labels == (
        "02",
        "1",
        "1.5",
        "2",
    )
    assert make_target(pd.Series(["1", "1.0", "x"]), "auto").labels == ("1", "1.0", "x")
    spellings = ["1", "1.0", " 1", "2 ", "2.00", "2"]
    data = read(tmp_path / "s.jsonl", [{"a": n, "y": y} for n, y in enumerate(spellings)])
    assert data.target.labels == ("1", "2")
    assert len(data.validation) == 2  # a quarter of each class
    table = pd.DataFrame({"a": ["x"] * 6, "y": spellings})
    assert encode_rows(table, CODEC, data.target).targets.tolist() == [0, 0, 0, 1, 1, 1]


def test_classes_are_read_as_those_of_the_training_are():
    target = Target("y", ("1", "2"))
    table = pd.DataFrame({"a": ["x"] * 4, "y": [" 1", "2\u00a0", 1.0, 2]})
    assert encode_rows(table, CODEC, target).targets.tolist() == [0, 1, 0, 1]
    with pytest.raises(ValueError, match="y of row 5 must be one of '1', '2', got 'one'"):
        encode_rows(table.assign(y="one").set_index(pd.RangeIndex(5, 9)), CODEC, target)
