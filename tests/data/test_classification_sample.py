"""The generated texts and pairs: their labels follow from their words."""

import pytest

from zoo.data.classification_sample import SAMPLE_ROWS, inference_sample, sentiment_sample


@pytest.mark.parametrize("split", SAMPLE_ROWS)
def test_sizes_and_repetition(split):
    for sample in (sentiment_sample, inference_sample):
        frame = sample(split)
        assert len(frame) == SAMPLE_ROWS[split]
        assert frame.equals(sample(split))


def test_a_negation_turns_the_meaning_round():
    frame = sentiment_sample("train")
    assert sorted(frame["label"].unique()) == [0, 1, 2, 3, 4]
    great = frame["text"].str.endswith("great .")
    negated = frame["text"].str.contains(" not ")
    assert set(frame["label"][great & ~negated]) == {4}
    assert set(frame["label"][great & negated]) == {0}


def test_two_classes_leave_out_what_is_neutral():
    frame = sentiment_sample("dev", classes=2)
    assert sorted(frame["label"].unique()) == [0, 1]
    assert not frame["text"].str.contains("usual|recent").any()
    with pytest.raises(ValueError, match=r"classes must be one of \[2, 5\], got 3"):
        sentiment_sample("dev", classes=3)


def test_labels_of_pairs():
    frame = inference_sample("train")
    assert sorted(frame["label"].unique()) == [0, 1, 2]
    for row in frame.itertuples():
        place, _, done = row.premise.rpartition(" a ")
        said, denied = row.hypothesis.removesuffix(" ."), row.hypothesis.startswith("nobody ")
        assert denied == (row.label == 2)
        if denied:
            assert said.endswith(place)
        else:
            assert said.startswith(f"a {done.split()[0]} is ")
            follows = said.endswith((place, "asleep", "running", "singing", "eating"))
            assert follows == (row.label == 0)


def test_another_part_is_refused():
    for sample in (sentiment_sample, inference_sample):
        with pytest.raises(ValueError, match=r"split must be one of .*, got 'valid'"):
            sample("valid")
