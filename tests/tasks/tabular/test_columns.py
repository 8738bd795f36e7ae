"""Columns of tables as features, in tables and in graphs alike."""

import json

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from zoo.tasks.tabular.columns import (
    CategoricalColumn,
    NumericColumn,
    RowCodec,
    as_texts,
    infer_columns,
    is_numeric,
    to_categories,
    unprintable,
)
from zoo.tasks.tabular.input_names import input_names
from zoo.text.white_space import strip

TABLE = pd.DataFrame(
    {
        "Age": ["30", " 50", "?", "40"],
        "is-new": [True, False, True, True],
        "Town": ["Ulm", "Łódź ", None, "Ulm"],
        "Height": [1.5, np.nan, 1.7, None],
        "code": ["1", "2", "1", ""],
        "same": ["x"] * 4,
    }
)


@pytest.fixture(scope="module")
def codec():
    found, left_out = infer_columns(TABLE, [*TABLE], categorical=["code"])
    assert left_out == ("same",)
    return found


def test_kinds_scales_and_categories_come_from_the_training_part(codec):
    assert codec.names == ("Age", "Height", "is-new", "Town", "code")
    assert codec.inputs == ("age", "height", "is_new", "town", "code")
    assert codec.numeric[0] == NumericColumn("Age", "age", 40.0, np.std([30, 50, 40]))
    np.testing.assert_allclose(codec.numeric[1].mean, 1.6)
    assert [one.categories for one in codec.categorical] == [
        ("False", "True"),
        ("Ulm", "Łódź"),
        ("1", "2"),
    ]
    assert codec.sizes == {"numeric": 2, "categorical": (2, 2, 2)}


def test_rows_are_encoded_and_gaps_and_strangers_are_missing(codec):
    rows = codec.encode(TABLE)
    deviation = np.std([30, 50, 40])
    np.testing.assert_allclose(rows[:, 0], [-10 / deviation, 10 / deviation, np.nan, 0], rtol=1e-6)
    assert np.isnan(rows[:, 1]).tolist() == [False, True, False, True]
    np.testing.assert_array_equal(rows[:, 2], [1, 0, 1, 1])
    np.testing.assert_array_equal(rows[:, 3], [0, 1, np.nan, 0])
    np.testing.assert_array_equal(rows[:, 4], [0, 1, 0, np.nan])
    strange = TABLE.assign(Town=["Rome", "ulm", "", "NA"])
    with pytest.warns(UserWarning, match="Town: no value is a category .* such as 'Rome'; known:"):
        assert np.isnan(codec.encode(strange)[:, 3]).all()


def test_a_graph_encodes_the_same(codec):
    numbers = [np.array([30, 50, np.nan, 40], "f4"), np.array([1.5, np.nan, 1.7, np.inf], "f4")]
    strings = [["True", "False", "True", "True"], ["Ulm", " Łódź", "", "Ulm"], ["1", "2", "1", ""]]
    function = tf.function(codec.read, input_signature=codec.specs(), autograph=False)
    found = function(*numbers, *(tf.constant(one) for one in strings))
    np.testing.assert_allclose(found, codec.encode(TABLE), rtol=1e-5, atol=1e-6)
    assert [spec.name for spec in codec.specs()] == list(codec.inputs)


def test_a_codec_survives_json(codec):
    config = json.loads(json.dumps(codec.get_config()))
    assert RowCodec.from_config(config) == codec


def test_a_row_of_a_table_becomes_texts(codec):
    assert as_texts(TABLE.iloc[1:2], codec) == {
        "age": "50",
        "height": "",
        "is_new": "False",
        "town": "Łódź",
        "code": "2",
    }


def test_a_gap_of_a_row_becomes_an_empty_text(codec):
    table = TABLE.astype(object)
    for row, gap in [(0, "height"), (2, "age"), (2, "town"), (3, "code")]:
        texts = as_texts(table.iloc[row : row + 1], codec)
        assert all(isinstance(text, str) for text in texts.values())
        assert (texts[gap] == "") is (gap != "height")


def test_rare_categories_are_unknown():
    table = pd.DataFrame({"town": ["Ulm"] * 3 + ["Rome"] * 2 + ["Bonn"]})
    codec, _ = infer_columns(table, ["town"], minimum_count=2)
    assert codec.categorical[0].categories == ("Rome", "Ulm")
    codec, _ = infer_columns(table, ["town"], maximum_categories=1)
    assert codec.categorical[0].categories == ("Ulm",)
    assert np.isnan(codec.encode(table)[:, 0]).tolist() == [False] * 3 + [True] * 3


def test_a_misspelt_number_does_not_make_categories_of_a_column_of_numbers():
    numbers = pd.DataFrame({"age": [str(n % 31) for n in range(300)]}, pd.RangeIndex(1, 301))
    table = numbers.copy()
    table.loc[[40, 70], "age"] = "?", "4o"
    told = "age of row 70 must be a number, as 95% of the column are, got '4o': mend it, leave"
    with pytest.raises(ValueError, match=told):
        infer_columns(table, ["age"])
    assert len(infer_columns(table, ["age"], categorical=["age"])[0].categorical[0].categories) > 30
    codes = numbers.assign(age=[str(n % 19) for n in range(299)] + ["x"])  # few different ones
    words = numbers.assign(age=["x" if n % 19 == 0 else str(n) for n in range(300)])  # 94.7 %
    for table in (codes, words):
        assert infer_columns(table, ["age"])[0].categorical


def test_names_become_names_of_arguments():
    names = ["capital-gain", "Capital gain", "2nd", "Größe", "*", "column", "Class", "self"]
    assert input_names(names) == [
        "capital_gain",
        "capital_gain_2",
        "column_2nd",
        "gr_e",
        "column",
        "column_2",
        "column_class",
        "column_self",
    ]


def test_strings_of_numbers_are_numbers_and_truth_values_are_not():
    assert is_numeric(pd.Series(["1", "2e3", "?"]))
    assert not is_numeric(pd.Series(["1", "two"]))
    assert not is_numeric(pd.Series([True, False]))
    assert not is_numeric(pd.Series(["?", ""]))


def test_numbers_and_truth_values_are_spelled_as_the_text_of_training():
    values = pd.Series([3, 3.0, np.float32(3), 2.5, True, None, np.nan, " 3.0 "], dtype=object)
    for known, three, true in [
        (("3", "True", "2.5"), "3", "True"),
        (("3.0", "true", "2.5"), "3.0", "true"),
        (("TRUE", "4", "2.5"), "3", "TRUE"),
        (("no",), "3", "True"),
    ]:
        found = to_categories(values, known)
        assert found[:5].tolist() == [three] * 3 + ["2.5", true]
        assert found[5:7].isna().all()
        assert found[7] == "3.0"  # text stays as it is
    assert to_categories(pd.Series([4, None]), ["4"])[0] == "4"  # pandas makes floats of them
    assert to_categories(pd.Series([10**400]), ["4"])[0] == str(10**400)
    codec = RowCodec((), (CategoricalColumn("a", "a", ("false", "true")),))
    table = pd.DataFrame({"a": [True, False, None]})
    np.testing.assert_array_equal(codec.encode(table)[:, 0], [1, 0, np.nan])
    assert as_texts(table, codec) == {"a": "true"}


@pytest.mark.parametrize(
    ("training", "known", "ids"),
    [
        (["1", "2.0", "1.", "07"], ("07", "1", "2"), [1, 1, 2, np.nan, 0, np.nan]),
        (["1.0", "2.5"], ("1", "2.5"), [0, 0, np.nan, np.nan, np.nan, np.nan]),
        (["1", "1.0", "a"], ("1", "1.0", "a"), [0, 1, np.nan, np.nan, np.nan, 2]),
    ],
)
def test_categories_that_are_the_same_number_are_one(training, known, ids):
    codec, _ = infer_columns(pd.DataFrame({"code": training}), ["code"], categorical=["code"])
    assert codec.categorical[0].categories == known
    texts = ["1", " 1.0 ", "2.00", "7", "07.0", "a"]
    with np.testing.assert_no_warnings():
        np.testing.assert_array_equal(codec.encode(pd.DataFrame({"code": texts}))[:, 0], ids)
    np.testing.assert_array_equal(codec.read(tf.constant(texts))[:, 0], ids)


def test_categories_of_earlier_cards_keep_their_spelling():
    values = pd.Series(["1", "1.0", "2", "02", None])
    assert to_categories(values, ("1.0", "2.0"))[:4].tolist() == ["1.0", "1.0", "2.0", "02"]
    assert to_categories(values, ("1", "1.0"))[:3].tolist() == ["1", "1.0", "2"]


def test_white_space_of_any_script_is_stripped_in_tables_and_in_graphs():
    spaces = [one for one in map(chr, range(0x110000)) if one.isspace()]
    texts = ["".join(spaces), *(f"{one}大 阪\u3000x{one}{one}" for one in spaces), "", "\u200b"]
    found = [one.decode() for one in strip(tf.constant(texts)).numpy()]
    assert found == [one.strip() for one in texts]
    codec = RowCodec((), (CategoricalColumn("town", "town", ("Ulm", "大阪")),))
    towns = ["大阪\u00a0", "\u3000Ulm", "\u3000"]
    encoded = codec.encode(pd.DataFrame({"town": towns}))
    np.testing.assert_array_equal(codec.read(tf.constant(towns)), encoded)
    np.testing.assert_array_equal(encoded[:, 0], [1, 0, np.nan])


def test_categories_that_a_card_can_hold_are_known_and_others_are_told():
    towns = ["New\u00a0York", "大\u3000阪", "a\tb", "a\u202eb", "Ulm"]
    table = pd.DataFrame({"town": towns})
    codec, _ = infer_columns(table, ["town"])
    assert codec.categorical[0].categories == ("New\u00a0York", "Ulm", "大\u3000阪")
    assert unprintable(table["town"]) == ["a\tb", "a\u202eb"]


def test_numbers_far_from_zero_are_told_apart_or_refused():
    table = pd.DataFrame({"seconds": 1.7e9 + 3e5 * np.arange(4), "code": [*"abab"]})
    codec, _ = infer_columns(table, [*table])
    strings = [tf.constant(table[name].astype(str)) for name in codec.names]
    found = codec.read(tf.strings.to_number(strings[0], tf.float64), strings[1])
    np.testing.assert_allclose(found, codec.encode(table), rtol=1e-6)
    rounded = codec.read(tf.constant(table["seconds"], tf.float32), strings[1])
    np.testing.assert_allclose(rounded, codec.encode(table), atol=5e-3)
    near = table.assign(seconds=1.7e9 + np.arange(4))
    with pytest.raises(ValueError, match=r"seconds must .* mean of 1700000001\.5 and"):
        infer_columns(near, [*near])


@pytest.mark.parametrize("numbers", [["1e39", "2e39"], ["1e200", "2e200"], ["1", "-2e39"]])
def test_numbers_beyond_float32_are_refused(numbers):
    table = pd.DataFrame({"stars": numbers, "kind": ["a", "b"]})
    told = r"stars must have numbers at most 3\.4e\+38 in size, as float32 holds, got -?[12]e\+"
    with pytest.raises(ValueError, match=told):
        infer_columns(table, [*table])


def test_equal_numbers_say_nothing_however_their_deviation_is_rounded():
    table = pd.DataFrame({"tenth": [0.1] * 3, "huge": ["1e200"] * 3, "number": [1, 2, 3]})
    assert table["tenth"].to_numpy().std() > 0
    assert infer_columns(table, [*table])[1] == ("tenth", "huge")


def test_numbers_too_large_for_a_column_are_missing_in_tables_and_in_graphs():
    table = pd.DataFrame({"size": ["1e38", "3e38", "3.4e38"]})
    codec, _ = infer_columns(table, ["size"])
    assert np.isfinite(codec.encode(table)).all()
    small = RowCodec((NumericColumn("size", "size", 0.0, 1e-3),), ())
    large = pd.DataFrame({"size": ["1e39", "-1e37", "1e30"]})
    encoded = small.encode(large)
    np.testing.assert_allclose(encoded[:, 0], [np.nan, np.nan, 1e33], rtol=1e-6)
    read = small.read(tf.constant([1e39, -1e37, 1e30], tf.float64))
    np.testing.assert_array_equal(read, encoded)


@pytest.mark.parametrize("value", ["inf", " -Infinity", "1e400", np.inf])
def test_infinite_numbers_are_refused_with_their_row(codec, value):
    table = TABLE.astype(object).set_index(pd.RangeIndex(1, 5))
    table.loc[2, "Height"] = value
    for refuse in (codec.encode, lambda table: infer_columns(table, [*table])):
        with pytest.raises(
            ValueError, match=r"Height of row 2 must be a finite number, got .*[f0]"
        ):
            refuse(table)


def test_what_cannot_be_read_is_refused(codec):
    with pytest.raises(ValueError, match=r"Age of row 1 must be a number, got 'fifty'"):
        codec.encode(TABLE.assign(Age=["1", "fifty", "2", "3"]))
    with pytest.raises(ValueError, match=r"Age of row 8 must be a number, got 'fifty'"):
        codec.encode(TABLE.assign(Age=["1", "fifty", "2", "3"]).set_index(pd.RangeIndex(7, 11)))
    with pytest.raises(ValueError, match="Town is missing"):
        codec.encode(TABLE.drop(columns="Town"))
    with pytest.raises(ValueError, match=r"categorical must be names of .*, got 'zip'"):
        infer_columns(TABLE, [*TABLE], categorical=["zip"])
    with pytest.raises(ValueError, match="columns must have one with different values"):
        infer_columns(TABLE, ["same"])
    column = CategoricalColumn("a", "a", ("x", "y"))
    with pytest.raises(ValueError, match="columns must have different names"):
        RowCodec((), (column, column))


@pytest.mark.parametrize("value", [b"Ulm", ["Ulm"], ("Ulm",), {"Ulm"}, np.array(["Ulm"])])
@pytest.mark.parametrize("name", ["Age", "Town"])
def test_bytes_and_lists_are_not_written_out_as_categories(codec, name, value):
    table = TABLE.astype(object).set_index(pd.RangeIndex(1, 5))
    table[name] = pd.Series([table[name][1], value, None, None], table.index, dtype=object)
    told = f"{name} of row 2 must be text, a number or a truth value, got {type(value).__name__}"
    for refuse in (codec.encode, lambda table: infer_columns(table, [*table])):
        with pytest.raises(ValueError, match=told):
            refuse(table)
