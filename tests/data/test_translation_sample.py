"""The generated translation sample: unambiguous, varied, and its held-out dates unseen."""

import re
from collections import Counter
from datetime import date

import pandas as pd
import pytest

from zoo.data.translation_sample import (
    SAMPLE_PAIRS,
    STYLES,
    date_fields,
    translation_sample,
)


@pytest.fixture(scope="module")
def parts() -> dict[str, pd.DataFrame]:
    return {split: translation_sample(split) for split in SAMPLE_PAIRS}


def test_frames_have_the_shape_of_parallel_text(parts: dict[str, pd.DataFrame]) -> None:
    assert list(parts) == ["train", "val", "test"]
    for split, frame in parts.items():
        assert list(frame.columns) == ["source", "target"]
        assert len(frame) == SAMPLE_PAIRS[split]
        assert frame.attrs == {"dropped": []}
        assert all(source == " ".join(source.split()) for source in frame["source"])


def test_targets_are_dates_that_exist(parts: dict[str, pd.DataFrame]) -> None:
    for frame in parts.values():
        for target in frame["target"]:
            assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", target)
            assert 1950 <= date.fromisoformat(target).year <= 2029


def test_no_date_of_one_part_occurs_in_another(parts: dict[str, pd.DataFrame]) -> None:
    dates = [set(frame["target"]) for frame in parts.values()]
    assert sum(map(len, dates)) == len(set.union(*dates))
    assert min(map(len, dates)) > 250


def test_words_of_the_held_out_parts_occur_in_training(parts: dict[str, pd.DataFrame]) -> None:
    for column in ("source", "target"):
        known = {word for text in parts["train"][column] for word in re.findall(r"\w+|\W", text)}
        for split in ("val", "test"):
            for text in parts[split][column]:
                assert known.issuperset(re.findall(r"\w+|\W", text))


def test_what_is_written_says_one_date() -> None:
    """Over three years with all days: no text stands for two dates, in whatever style."""
    seen: dict[str, str] = {}
    for number in range(date(2008, 1, 1).toordinal(), date(2011, 1, 1).toordinal()):
        day = date.fromordinal(number)
        for style in STYLES:
            text = style.format_map(date_fields(day))
            assert seen.setdefault(text, day.isoformat()) == day.isoformat()


def test_all_styles_are_about_as_frequent(parts: dict[str, pd.DataFrame]) -> None:
    frame = parts["train"]
    counts: Counter[str] = Counter()
    for source, target in zip(frame["source"], frame["target"], strict=True):
        fields = date_fields(date.fromisoformat(target))
        # In May, and with a day that needs no ending, two styles may read the same.
        matching = [style for style in STYLES if style.format_map(fields) == source]
        assert matching
        counts.update(matching)
    assert set(counts) == set(STYLES)
    assert min(counts.values()) > 0.7 * len(frame) / len(STYLES)


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (
            date(1986, 3, 5),
            {
                "en": "March",
                "de": "März",
                "fr": "mars",
                "es": "marzo",
                "roman": "III",
                "en_weekday": "Wednesday",
                "de_weekday": "Mittwoch",
                "th": "th",
                "en_ordinal": "fifth",
                "de_ordinal": "fünfte",
                "fr_day": "5",
                "year_words": "nineteen eighty-six",
            },
        ),
        (
            date(2000, 12, 31),
            {
                "short": "Dec",
                "es_weekday": "domingo",
                "th": "st",
                "en_ordinal": "thirty-first",
                "de_ordinal": "einunddreißigste",
                "year_words": "two thousand",
            },
        ),
        (
            date(2009, 1, 1),
            {
                "fr_weekday": "jeudi",
                "th": "st",
                "en_ordinal": "first",
                "de_ordinal": "erste",
                "fr_day": "1er",
                "year_words": "two thousand and nine",
            },
        ),
        (
            date(2010, 8, 20),
            {
                "th": "th",
                "en_ordinal": "twentieth",
                "de_ordinal": "zwanzigste",
                "year_words": "twenty ten",
            },
        ),
        (date(1950, 8, 22), {"th": "nd", "year_words": "nineteen fifty"}),
        (date(1950, 8, 23), {"th": "rd", "de_ordinal": "dreiundzwanzigste"}),
        (date(1950, 8, 12), {"th": "th", "en_ordinal": "twelfth"}),
        (date(1950, 8, 30), {"en_ordinal": "thirtieth", "de_ordinal": "dreißigste"}),
    ],
)
def test_fields_are_spelled_right(day: date, expected: dict[str, str]) -> None:
    fields = date_fields(day)
    assert {name: fields[name] for name in expected} == expected


def test_sample_is_the_same_every_time(parts: dict[str, pd.DataFrame]) -> None:
    assert translation_sample("train").equals(parts["train"])
    assert translation_sample("test", pairs=7).equals(parts["test"].head(7))
    assert parts["train"].loc[0].tolist() == ["im Jahr 1999 am 2. Oktober", "1999-10-02"]


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"split must be one of .*'val'.*, got 'dev'"):
        translation_sample("dev")
    with pytest.raises(ValueError, match="pairs must be at least 1, got 0"):
        translation_sample("test", pairs=0)
