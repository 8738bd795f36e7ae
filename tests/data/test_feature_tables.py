"""Readers of Adult and mushrooms, rows of known importance, and the sample of parcels."""

import numpy as np
import pandas as pd
import pytest

from zoo.data import adult, known_importance, mushroom
from zoo.data.rows import divide
from zoo.data.tables import read_whole_table
from zoo.data.tabular_sample import FEATURES, LABELS, TARGET, tabular_sample

PERSON = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Own-child, White, Male, 2174, 0, 40, ?"
)
MUSHROOM = "p,x,s,n,t,p,f,c,n,k,e,?,s,s,w,w,p,w,o,p,k,s,u"


def test_persons_are_read_from_both_files_alike(tmp_path):
    (tmp_path / "adult.data").write_text(f"{PERSON}, <=50K\n{PERSON}, >50K\n\n")
    (tmp_path / "adult.test").write_text(f"|1x3 Cross validator\n{PERSON}, >50K.\n\n")
    train, test = (adult.read_adult(adult.find_adult(split, tmp_path)) for split in adult.SPLITS)
    assert [*train] == [*adult.FEATURES, "income"]
    assert train["income"].tolist() == ["<=50K", ">50K"]
    assert test["income"].tolist() == [">50K"]
    assert test.iloc[0][["age", "occupation", "capital-gain"]].tolist() == ["39", "?", "2174"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("|1x3 Cross validator\n", "must have a row at least, got none"),
        (f"{PERSON}, <=50K\n1, 2\n", "line 2 must have 15 values, got 2"),
        (f"{PERSON}, rich\n", "line 1: income must be one of '<=50K', .* got 'rich'"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, text, message):
    (tmp_path / "adult.data").write_text(text)
    with pytest.raises(ValueError, match=rf"adult\.data:? {message}"):
        adult.read_adult(tmp_path / "adult.data")


def test_missing_files_and_other_parts_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"adult\.test"):
        adult.find_adult("test", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"agaricus-lepiota\.data"):
        mushroom.find_mushroom(tmp_path)
    with pytest.raises(ValueError, match="split must be one of"):
        adult.find_adult("dev", tmp_path)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match=f"^share must be from 0 to 1, got {share}"):
        divide(pd.DataFrame({"x": [1, 2]}), share)


def test_mushrooms_are_read_and_divided_class_by_class(tmp_path):
    lines = [MUSHROOM.replace("p,", f"{'pe'[n % 4 == 0]},", 1) for n in range(40)]
    (tmp_path / mushroom.FILE).write_text("\n".join(lines))
    frame = mushroom.read_mushroom(mushroom.find_mushroom(tmp_path))
    assert frame["class"].value_counts().to_dict() == {"poisonous": 30, "edible": 10}
    assert frame["stalk-root"].unique().tolist() == ["?"]
    frame["number"] = np.arange(40)
    kept, held = divide(frame, 0.2, by="class")
    assert held["class"].value_counts().to_dict() == {"poisonous": 6, "edible": 2}
    assert sorted([*kept["number"], *held["number"]]) == [*range(40)]
    again, other = (divide(frame, 0.2, seed, by="class")[1] for seed in (0, 1))
    assert again["number"].tolist() == held["number"].tolist() != other["number"].tolist()
    assert [len(part) for part in divide(frame, 0.1)] == [36, 4]


def test_both_parts_have_a_row_of_every_class_of_two():
    frame = pd.DataFrame({"class": ["a"] * 30 + ["b"] * 2 + ["c"]})
    for share, counts in [(0.1, {"a": 3, "b": 1}), (0.9, {"a": 27, "b": 1, "c": 1})]:
        kept, held = divide(frame, share, by="class")
        assert held["class"].value_counts().to_dict() == counts
        assert {"a", "b"} <= {*kept["class"]}
        assert frame.loc[held.index].equals(held)  # rows keep their numbers
    assert [len(part) for part in divide(frame, 0.0, by="class")] == [33, 0]
    assert [len(part) for part in divide(frame, 1.0, by="class")] == [0, 33]


def log_odds(name, x):
    """Logarithm of the odds of class 0 of a row, x[1] being its first feature."""
    if name == "syn1":
        return x[1] * x[2]
    if name == "syn2":
        return x[3] ** 2 + x[4] ** 2 + x[5] ** 2 + x[6] ** 2 - 4
    if name == "syn3":
        return -10 * np.sin(0.2 * x[7]) + abs(x[8]) + x[9] + np.exp(-x[10]) - 2.4
    first, second = {"syn4": "12", "syn5": "13", "syn6": "23"}[name]
    return log_odds(f"syn{first if x[11] < 0 else second}", x)


BEHIND = {"syn1": {1, 2}, "syn2": {3, 4, 5, 6}, "syn3": {7, 8, 9, 10}}


@pytest.mark.parametrize("name", known_importance.NAMES)
def test_labels_are_drawn_with_the_odds_of_each_row(name):
    frame = known_importance.generate(name, "train", 13)
    assert frame.shape == (10_000, 14)
    x = frame.drop(columns="y").to_numpy()
    rows = [np.concatenate([[np.nan], row]) for row in x[:50]]
    odds = np.exp([log_odds(name, row) for row in rows])
    chance = known_importance.probability(name, x)
    np.testing.assert_allclose(1 - chance[:50], odds / (1 + odds), rtol=1e-9)
    ones = (frame["y"] == "1").to_numpy()
    assert abs(ones.mean() - chance.mean()) < 4 * 0.5 / 100
    assert ones[chance > 0.8].mean() > 0.8 > 0.2 > ones[chance < 0.2].mean()
    for row, marked in zip(rows, known_importance.relevant(name, x), strict=False):
        branch = {"syn4": "12", "syn5": "13", "syn6": "23"}.get(name)
        behind = BEHIND[f"syn{branch[int(row[11] >= 0)]}"] | {11} if branch else BEHIND[name]
        assert {*(np.flatnonzero(marked) + 1)} == behind


def test_parts_of_generated_rows_differ_and_repeat_themselves():
    train, test = (known_importance.generate("syn1", part) for part in ("train", "test"))
    assert train.equals(known_importance.generate("syn1", "train"))
    assert not np.isclose(train["x1"], test["x1"]).any()
    with pytest.raises(ValueError, match="features must be at least 11, got 10"):
        known_importance.generate("syn1", "train", 10)
    with pytest.raises(ValueError, match=r"name must be one of \['syn1'"):
        known_importance.generate("syn7", "train")
    with pytest.raises(ValueError, match="split must be one of"):
        known_importance.generate("syn1", "dev")


def test_parcels_have_both_classes_and_gaps_that_do_not_matter():
    frames = [tabular_sample(split) for split in ("train", "dev", "test")]
    assert [len(frame) for frame in frames] == [3000, 500, 500]
    for frame in frames:
        assert [*frame] == [*FEATURES, TARGET]
        shares = frame[TARGET].value_counts(normalize=True)
        assert {*shares.index} == {*LABELS}
        assert shares.min() > 0.3
        gaps = frame.isna().mean()
        assert (gaps[["weight", "depot"]] > 0.05).all()
        assert gaps.drop(["weight", "depot"]).max() == 0
    with pytest.raises(ValueError, match="split must be one of"):
        tabular_sample("validation")


def test_a_whole_table_may_have_gaps(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('age,"home, sweet",n\n1,,3\n"2",x,\n')
    frame = read_whole_table(path)
    assert frame.to_dict("list") == {"age": ["1", "2"], "home, sweet": ["", "x"], "n": ["3", ""]}
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"age": 1, "home": "x"}\n{"age": null, "n": 2.5}\n')
    assert read_whole_table(lines).to_dict("list") == {
        "age": ["1", ""],
        "home": ["x", ""],
        "n": ["", "2.5"],
    }
    for text, message in [("a,b\n1\n", "line 2 must have 2 columns"), ("a,b\n", "got none")]:
        path.write_text(text)
        with pytest.raises(ValueError, match=rf"a\.csv: .*{message}"):
            read_whole_table(path)
    lines.write_text('{"age": "1"}\n{"age": "\\ud800"}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl: line 2: half of a surrogate pair"):
        read_whole_table(lines)
    with pytest.raises(ValueError, match=r"the name must end in one of \.csv"):
        read_whole_table(tmp_path / "a.xlsx")
