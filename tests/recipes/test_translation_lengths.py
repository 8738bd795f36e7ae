"""BLEU by length, measured on exported translators whose scores are known."""

import dataclasses
import json

import pytest
import tensorflow as tf

from recipes.translation_lengths import Settings, main, table
from zoo.data.translation_sample import SAMPLE_PAIRS, translation_sample
from zoo.serving.cards import DataRecord, ModelCard, file_checksums, write_card
from zoo.tasks.shared.exported import find_models
from zoo.tasks.translation.lengths import join_sentences

JOINED = 2
LIMIT = 60  # tokens
RUN = "the first of the models"


class Phrasebook(tf.Module):
    """Knows the translation of every source; without attention, only of the first sentence."""

    def __init__(self, attention: bool):
        super().__init__()
        self.attention = attention
        frame = join_sentences(translation_sample("test"), JOINED)
        targets = [text if attention else text.split()[0] for text in frame["target"]]
        pairs = tf.lookup.KeyValueTensorInitializer([*frame["source"]], targets)
        self.table = tf.lookup.StaticHashTable(pairs, "?")

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="text"),
            tf.TensorSpec([], tf.int32, name="beam_width"),
            tf.TensorSpec([], tf.float32, name="length_penalty"),
        ],
        autograph=False,
    )
    def beam(self, text, beam_width, length_penalty):
        best = self.table.lookup(text)[:, None]
        others = tf.fill([tf.size(text), beam_width - 1], "worse")
        outputs = {
            "translation": tf.concat([best, others], axis=1),
            "score": tf.fill([tf.size(text), beam_width], length_penalty),
            "source_length": tf.cast(tf.strings.split(text).row_lengths(), tf.int32) + 1,
        }
        if self.attention:
            outputs["attention_alignment"] = tf.zeros([tf.size(text), beam_width, 1, 1])
        return outputs


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A run folder of a model with attention, and a SavedModel of one without."""
    folder = tmp_path_factory.mktemp("models")
    places = folder / "searching" / "saved_model", folder / "encoding"
    card = ModelCard(
        model_class="zoo>Phrasebook",
        config={},
        task="translation",
        data=DataRecord("sample", "train", "test"),
        metrics={},
        seed=0,
        wall_time_seconds=0.0,
        hardware="",
        trainable_parameters=0,
        total_parameters=0,
        date="2026-01-01",
        versions={},
        limits={"maximum_source_tokens": LIMIT},
    )
    for attention, place in zip((True, False), places, strict=True):
        model = Phrasebook(attention)
        tf.saved_model.save(model, str(place), signatures={"beam": model.beam})
        write_card(place, dataclasses.replace(card, sha256=file_checksums(place)))
    return str(folder / "searching"), str(folder / "encoding")


def test_measures_exported_models(models, tmp_path, capsys):
    settings = Settings(
        models,
        data="sample",
        joined=JOINED,
        bucket_words=4,
        minimum_sources=20,
        beam_width=3,
        run_dir=tmp_path / "new" / "run",
    )
    result = main(settings)
    pairs = SAMPLE_PAIRS["test"]
    one, two = result["by_sentences"]
    assert (one["sources"], two["sources"]) == (pairs, pairs // JOINED)
    assert one["bleu"] == pytest.approx({"searching": 100.0, "encoding": 100.0})
    assert two["bleu"]["searching"] == pytest.approx(100.0)
    assert two["bleu"]["encoding"] < 40
    assert two["length_ratio"] == pytest.approx({"searching": 1.0, "encoding": 0.5})
    assert min(row["sources"] for row in result["by_words"]) >= 20
    assert sum(row["sources"] for row in result["by_words"]) <= pairs + pairs // JOINED
    assert result["by_words"][-1]["bleu"]["encoding"] < result["by_words"][0]["bleu"]["encoding"]
    written = json.loads((settings.run_dir / "result.json").read_text())
    assert written["by_words"] == result["by_words"]
    assert written["settings"]["beam_width"] == 3
    assert (settings.run_dir / "lengths.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "| words | sources | searching | encoding |" in printed
    assert result["signature"] in printed


def test_the_line_of_a_model_without_attention_is_dashed(models, tmp_path, monkeypatch):
    drawn = []

    def draw(figure, path):
        drawn.append({line.get_label(): line.get_linestyle() for line in figure.axes[0].lines})
        return path

    monkeypatch.setattr("zoo.plots.save_figure", draw)
    main(Settings(models, labels=("a", "b"), data="sample", joined=1, run_dir=tmp_path))
    assert drawn == [{"a": "-", "b": "--"}]


def test_sources_longer_than_a_model_reads_are_refused(models, tmp_path):
    settings = Settings(models[:1], data="sample", joined=40, run_dir=tmp_path / "run")
    with pytest.raises(ValueError, match=f"fewer than the {LIMIT} tokens that the model reads"):
        main(settings)
    assert not settings.run_dir.exists()


def test_labels(models):
    searching, encoding = models
    assert [*find_models(models, ())] == ["searching", "encoding"]
    assert [*find_models(models, ("a", "b"))] == ["a", "b"]
    assert str(find_models([searching], ())["searching"]).endswith("saved_model")
    with pytest.raises(ValueError, match="labels must differ, got 'encoding' twice"):
        find_models([encoding, encoding], ())
    with pytest.raises(ValueError, match="no model 'nowhere'"):
        find_models(["nowhere"], ())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"models": ()}, "models must name at least one, got none"),
        ({"labels": ("a", "b")}, "labels must be one for each of 1 models, got 2"),
        ({"joined": 0}, "joined must be at least 1, got 0"),
        ({"beam_width": 0}, "beam_width must be at least 1, got 0"),
    ],
)
def test_settings_that_measure_nothing_are_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        main(Settings(**{"models": ("one",)} | changes))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"models": (RUN, "squad_dcn")}, "squad_dcn must hold a translator, got a model"),
        ({"target": "fr"}, "target must be left out with the data sample, got 'fr'"),
        ({"source": "cs"}, "source must be left out with the data sample, got 'cs'"),
    ],
)
def test_what_cannot_be_measured_is_found_before_anything_is_translated(
    changes, problem, models, tmp_path, monkeypatch
):
    monkeypatch.setattr("recipes.translation_lengths.translate_all", lambda *_: 1 / 0)
    given = {"models": (RUN,), "data": "sample", "run_dir": tmp_path} | changes
    given["models"] = tuple(models[0] if one is RUN else one for one in given["models"])
    with pytest.raises(ValueError, match=problem):
        main(Settings(**given))


def test_table():
    row = {
        "bucket": "1-10",
        "sources": 1234,
        "bleu": {"a": 30.123, "b": 9.0},
        "length_ratio": {"a": 1.0, "b": 0.5},
    }
    assert table("words", [row]).splitlines() == [
        "| words | sources | a | b |",
        "| --- | --- | --- | --- |",
        "| 1-10 | 1,234 | 30.12 (1.00) | 9.00 (0.50) |",
    ]
