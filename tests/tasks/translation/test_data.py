"""The data sets and codecs of the translation recipes, on files of this test's own."""

import gzip
import logging

import pandas as pd
import pytest

from zoo.data.download import RemoteFile, locate_name
from zoo.data.translation_sample import SAMPLE_PAIRS
from zoo.serving.cards import DataRecord
from zoo.tasks.translation.data import (
    SPLITS,
    TranslationData,
    load_translation_data,
    make_codecs,
    resolve_data,
)
from zoo.text.subwords import SubwordCodec
from zoo.text.words import WordCodec

ENGLISH = ["Two dogs run.", "A dog runs in the snow.", "Snow!"]
GERMAN = ["Zwei Hunde rennen.", "Ein Hund rennt im Schnee.", "Schnee!"]
LOGGER = logging.getLogger("tests.translation_data")


@pytest.fixture
def folder(tmp_path):
    """All three splits in English and German, each with one pair more than the one before."""
    for count, split in enumerate(SPLITS, start=1):
        lines = {"en": ENGLISH[:count], "de": GERMAN[:count]}
        (tmp_path / f"{split}.en").write_text("\n".join(lines["en"]) + "\n", encoding="utf-8")
        text = "\n".join(lines["de"]).encode()
        (tmp_path / f"{split}.de.gz").write_bytes(gzip.compress(text))
    return tmp_path


def load(folder, name="multi30k"):
    return load_translation_data(name, "en", "de", folder, LOGGER)


def test_auto_is_the_real_data_where_all_of_it_lies(folder):
    assert resolve_data("auto", "en", "de", folder) == "multi30k"
    (folder / "multi30k").mkdir()
    for path in folder.glob("*.gz"):
        path.rename(folder / "multi30k" / path.name)
    assert resolve_data("auto", "en", "de", folder) == "multi30k"


def test_auto_in_a_folder_that_lacks_files_lists_those_looked_for_and_those_there(folder):
    (folder / "val.de.gz").rename(folder / "valid.de.gz")
    with pytest.raises(FileNotFoundError) as error:
        resolve_data("auto", "en", "de", folder)
    said = str(error.value)
    assert "missing: val.de." in said
    names = [f"{split}.{language}" for split in SPLITS for language in ("en", "de")]
    assert f"multi30k needs {', '.join(names)} (each may end in .gz)" in said
    assert f"{folder} holds " in said
    assert "valid.de.gz" in said
    assert "python -m recipes.translation" in said
    assert "\n" not in said


def test_auto_with_other_languages_than_the_default_ones_is_no_sample(tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    assert resolve_data("auto", "en", "de", None) == "sample"
    with pytest.raises(FileNotFoundError, match="for the languages en and fr is complete"):
        resolve_data("auto", "en", "fr", None)
    with pytest.raises(ValueError, match=r"language must be one of .*, got 'xx'\. data: no"):
        resolve_data("auto", "en", "xx", None)


@pytest.mark.parametrize("name", ["sample", "multi30k"])
def test_what_is_asked_for_is_not_looked_for(name, tmp_path):
    assert resolve_data(name, "en", "de", tmp_path) == name


def test_the_parts_of_multi30k_are_read_in_both_directions(folder):
    data = load(folder)
    assert data.name == "multi30k"
    for count, frame in enumerate((data.training, data.validation, data.test), start=1):
        assert frame["source"].tolist() == ENGLISH[:count]
        assert frame["target"].tolist() == GERMAN[:count]
    back = load_translation_data("multi30k", "de", "en", folder, LOGGER)
    assert back.training["source"].tolist() == GERMAN[:1]
    assert back.record.remarks.startswith("task 1, de to en")


def test_the_record_tells_files_and_that_they_are_not_the_published_ones(folder, caplog):
    with caplog.at_level(logging.WARNING, LOGGER.name):
        record = load(folder).record
    names = {f"{split}.{language}" for split in SPLITS for language in ("en", "de")}
    assert record.sha256.keys() == names
    assert all(len(digits) == 64 for digits in record.sha256.values())
    files = [f"{split}.{language}" for split in SPLITS for language in ("en", "de")]
    assert record.name == f"own files: {', '.join(files)}"
    assert record.training == "train"
    assert "in the layout of Multi30k" in record.remarks
    assert record.evaluation == "test_2016_flickr"
    (warning,) = caplog.messages
    assert all(name in warning for name in names)
    assert "not the published file" in record.remarks


def test_published_files_are_no_reason_to_warn(folder, caplog, monkeypatch):
    sums = load(folder).record.sha256
    caplog.clear()
    published = {name: RemoteFile(name, "", sums[name], 0) for name in sums}
    monkeypatch.setattr("zoo.tasks.translation.data.MULTI30K_FILES", published)
    with caplog.at_level(logging.WARNING, LOGGER.name):
        record = load(folder).record
    assert not caplog.messages
    assert (record.name, record.remarks) == ("Multi30k", "task 1, en to de")


def test_a_missing_file_that_cannot_be_fetched_is_one_line(folder, monkeypatch):
    (folder / "val.de.gz").unlink()
    monkeypatch.setattr("zoo.data.multi30k.find_file", find_or_fail)
    with pytest.raises(OSError, match=r"^val\.de is not here$"):
        load(folder)


def find_or_fail(dataset, remote, data_dir, download):
    assert download
    path = locate_name(dataset, remote.name, data_dir)
    if path is None:
        raise OSError(f"{remote.name} is not here")
    return path


def test_different_numbers_of_lines_are_refused_with_the_files(folder):
    (folder / "train.en").write_text("A dog.\nTwo dogs.\n")
    with pytest.raises(
        ValueError, match=r"train\.de\.gz must have 2 lines, as .*train\.en has, got 1 line\."
    ):
        load(folder)


def test_the_sample_needs_no_files_and_says_how_to_get_the_real_data(tmp_path, caplog):
    with caplog.at_level(logging.INFO, LOGGER.name):
        data = load(tmp_path, "sample")
    assert "--data multi30k" in caplog.text
    assert data.record.name == "sample"
    parts = (data.training, data.validation, data.test)
    assert [len(part) for part in parts] == list(SAMPLE_PAIRS.values())


def test_the_sample_gets_the_words_of_its_training_part(tmp_path):
    data = load(tmp_path, "sample")
    data = data._replace(training=data.training.head(50))
    source, target = make_codecs(data, tmp_path, "words", 1000)
    assert isinstance(source, WordCodec)
    assert isinstance(target, WordCodec)
    first = data.training["target"].iloc[0]
    assert target.decode(target.encode([first])).numpy()[0].decode() == first
    years = set(data.test["target"].str[:4]) - set(data.training["target"].str[:4])
    assert years
    unknown = target.encode([min(years)]).to_list()
    assert unknown[0][0] == 1


def test_so_many_words_of_either_side(tmp_path):
    data = load(tmp_path, "sample")
    data = data._replace(training=data.training.head(200))
    sizes = [codec.vocabulary_size for codec in make_codecs(data, tmp_path, "words", 30)]
    assert sizes == [34, 34]  # and the special ones


def test_multi30k_gets_subwords_of_both_languages_together(folder, tmp_path):
    source, target = make_codecs(load(folder), tmp_path, "joint", 32)
    assert isinstance(source, SubwordCodec)
    assert source is target
    assert source.vocabulary_size == 32
    # From the training part alone: its one pair has no "S", the others have.
    assert 1 in source.encode(["Snow"]).to_list()[0]
    for text in (ENGLISH[0], GERMAN[0]):
        assert source.decode(source.encode([text])).numpy()[0].decode() == text


def test_subwords_of_each_language_alone(folder, tmp_path):
    source, target = make_codecs(load(folder), tmp_path, "separate", 20)
    for codec, own, other in ((source, ENGLISH[0], GERMAN[0]), (target, GERMAN[0], ENGLISH[0])):
        assert isinstance(codec, SubwordCodec)
        assert 1 not in codec.encode([own]).to_list()[0]
        assert 1 in codec.encode([other]).to_list()[0]


@pytest.mark.parametrize("kind", ["joint", "separate", "words"])
@pytest.mark.parametrize("name", ["sample", "multi30k"])
def test_what_lies_in_the_run_folder_is_used_again(folder, name, kind):
    data, size = load(folder, name), {"sample": 80, "multi30k": 20}[name]
    data = data._replace(training=data.training.head(100))
    made = [path for codec in make_codecs(data, folder, kind, size) for path in codec.files]
    contents = [path.read_bytes() for path in made]
    other = data._replace(training=data.test)
    again = [path for codec in make_codecs(other, folder, kind, size) for path in codec.files]
    assert again == made
    assert [path.read_bytes() for path in again] == contents


def test_more_subwords_than_the_texts_hold_are_refused_and_leave_no_file(folder, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    with pytest.raises(ValueError, match="vocabulary_size: 5000 does not fit the 2 texts"):
        make_codecs(load(folder), run, "joint", 5000)
    assert list(run.iterdir()) == []


@pytest.mark.parametrize(("size", "fits"), [(5000, 68), (5, 22)])
def test_a_number_of_subwords_that_does_not_fit_is_changed_with_a_line(
    size, fits, tmp_path, caplog
):
    frame = pd.DataFrame({"source": ENGLISH[:2], "target": [*ENGLISH[2:], ENGLISH[2]]})
    data = TranslationData("multi30k", frame, frame, frame, DataRecord("x", "train", "test"))
    with caplog.at_level(logging.INFO, LOGGER.name):
        codec, _ = make_codecs(data, tmp_path, "joint", size, LOGGER)
    assert codec.vocabulary_size == fits
    assert caplog.messages == [f"vocabulary_size: {fits} instead of {size}, for 4 texts"]


def test_nothing_is_downloaded_into_a_folder_that_was_named(folder, monkeypatch):
    (folder / "val.de.gz").unlink()
    monkeypatch.setattr("zoo.data.download.fetch", lambda *_: pytest.fail("downloads"))
    before = sorted(folder.rglob("*"))
    with pytest.raises(
        FileNotFoundError, match=r"val\.de: not found in .* never into a folder of y"
    ):
        load(folder)
    assert sorted(folder.rglob("*")) == before


def test_languages_that_were_not_published_are_read_where_they_lie(folder):
    for split in SPLITS:
        for language in ("cs", "nl"):
            (folder / f"{split}.{language}").write_bytes((folder / f"{split}.en").read_bytes())
    for language in ("cs", "nl"):
        assert resolve_data("auto", "de", language, folder) == "multi30k"
        data = load_translation_data("multi30k", language, "en", folder, LOGGER)
        assert data.test["source"].tolist() == ENGLISH
        assert len(data.record.sha256[f"train.{language}"]) == 64
    with pytest.raises(ValueError, match=r"language must be one of .*, got 'eo'"):
        resolve_data("auto", "en", "eo", folder)
