"""Pipelines trained on a few strings: one task after the other, saved and loaded again."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

import zoo
from zoo.models.lstmn.lstmn_inference import LSTMNInference
from zoo.pipelines.results import Continuation
from zoo.pipelines.trainers import TRAINERS, find_answer
from zoo.serving.cards import DataRecord, verify
from zoo.serving.folders import PICTURE_FILE
from zoo.serving.headlines import headline
from zoo.tasks.classification.endpoint import ClassificationEndpoint
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.shared.pictures import draw_answer
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import END, Vocabulary, write_vocabulary
from zoo.text.words import WordCodec

ONE_STEP = {"epochs": 1, "progress": False}
CONTEXT = "Ünıcödé: the lamp was repaired by Ida Möreau, and Ida Möreau was glad."
READING = {"question": ["Who repaired the lamp?"], "context": [CONTEXT], "answer": ["Ida Möreau"]}
DATA = {
    "cloze_aoa": {
        "document": ['"Nell met a fox." Nell fed the fox.'] * 2,
        "query": ["XXXXX fed the fox."] * 2,
        "answer": ["Nell", "fox"],
    },
    "sst_lstmn": {"text": ["A dull film.", ""], "label": ["positive", "neutral"]},
    "wikitext_lstmn": {"text": ["the cat sat on the mat", "the dog\n\nsat"]},
}
QUESTIONS = {
    "cloze_aoa": ("Nell met a fox. Nell fed the fox.", "XXXXX fed the fox."),
    "sst_lstmn": ("A dull film.",),
    "wikitext_lstmn": ("the cat",),
}


@pytest.mark.parametrize("name", DATA)
def test_a_shipped_model_learns_and_answers_with_what_it_has_learned(name):
    """Readers and translators do so in the examples of the documentation."""
    pipeline = zoo.pipeline(name)
    before = pipeline(*QUESTIONS[name])
    assert np.isfinite(pipeline.fit(pd.DataFrame(DATA[name]), **ONE_STEP)["loss"]).all()
    after = pipeline(*QUESTIONS[name])
    assert type(after) is type(before)
    assert after.score != before.score
    assert after.tokens.keys() == before.tokens.keys()
    assert after.attention.keys() == before.attention.keys()
    if name == "wikitext_lstmn":
        assert_it_writes(pipeline)


@pytest.mark.parametrize("held_out", [None, "sst_lstmn"])
def test_a_training_that_diverges_leaves_the_model_as_it_was(held_out):
    pipeline = zoo.pipeline("sst_lstmn")
    before = pipeline(*QUESTIONS["sst_lstmn"])
    data = pd.DataFrame(DATA["sst_lstmn"])
    held = data if held_out else None
    with pytest.raises(FloatingPointError, match=r"must be finite.*lower learning_rate"):
        pipeline.fit(data, validation_data=held, epochs=4, learning_rate=1e30, progress=False)
    assert pipeline(*QUESTIONS["sst_lstmn"]).probabilities == before.probabilities
    with pytest.raises(ValueError, match="fit"):
        pipeline.save("never")


def test_lines_of_a_text_end_where_those_of_files_do():
    trainer = zoo.pipeline("wikitext_lstmn")._trained_model().trainer
    texts = pd.DataFrame({"text": ["the cat\u2028sat\x0c\n\nthe mat", ""]})
    ids = trainer._ids(texts).tolist()
    assert ids.count(END) == 4


def assert_it_writes(pipeline):
    """It continues texts, alike in any batch and with the same seed."""
    written = pipeline("the cat sat", new_tokens=3)
    assert type(written) is Continuation
    assert 1 <= len(written.tokens["generated"]) <= 3
    assert written.score < 0
    drawn = pipeline(["the cat", "the cat sat"], new_tokens=3, top_k=5, seed=1)
    alone = pipeline("the cat sat", new_tokens=3, top_k=5, seed=1)
    assert (drawn[1].text, drawn[1].tokens) == (alone.text, alone.tokens)
    assert pipeline("the cat sat", new_tokens=3, temperature=0.0) == written
    with pytest.raises(ValueError, match="new_tokens must be given"):
        pipeline("the cat", top_k=3)
    with pytest.raises(ValueError, match="new_tokens must be a whole number of at least 1, got 0"):
        pipeline("the cat", new_tokens=0)


@pytest.fixture(scope="module")
def inference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inference")
    write_vocabulary(folder / "words.txt", ["a", "dog", "cat", "runs", "."])
    model = LSTMNInference.from_preset("tiny", vocabulary_size=9)
    model.build()
    labels = ["entailment", "neutral", "contradiction"]
    codec = WordCodec(folder / "words.txt")
    endpoint = ClassificationEndpoint(model, codec, labels, sides=("premise", "hypothesis"))
    record = DataRecord("sample", "train", "test")
    told = {"task": "inference", "data": record, "metrics": {"accuracy": 1.0}}
    export_endpoint(folder / "pairs", endpoint, **told, seed=0, seconds=1.0)
    return zoo.pipeline(folder / "pairs")


PAIRS = {
    "premise": ["a dog runs .", "a cat .", "a dog ."],
    "hypothesis": ["a dog .", "a dog .", "a cat runs ."],
    "label": ["entailment", "contradiction", "neutral"],
}


def test_the_best_weights_are_kept_saved_and_loaded_again(inference, tmp_path):
    history = inference.fit(
        PAIRS, validation_data=PAIRS, epochs=30, learning_rate=0.3, patience=2, progress=False
    )
    losses = history["val_loss"]
    assert len(losses) < 30  # such steps soon lead away
    assert np.argmin(losses) == len(losses) - 3
    metrics = inference.evaluate(PAIRS)
    assert metrics["loss"] == pytest.approx(min(losses), rel=1e-5)
    folder = inference.save(tmp_path / "mine", data="three pairs")
    card = verify(folder)
    assert card.metrics == pytest.approx(metrics)
    assert (card.data.name, card.data.evaluation) == ("three pairs", "3 rows")
    assert card.data.training == f"3 rows, {len(losses)} epochs"
    assert card.data.remarks == "fine-tuned from pairs, which was trained on sample"
    again, sides = zoo.pipeline(folder), (PAIRS["premise"], PAIRS["hypothesis"])
    first = {"premise": PAIRS["premise"][0], "hypothesis": PAIRS["hypothesis"][0]}
    draw_answer(again.servable, first, tmp_path / "first.png")
    pictures = (folder / PICTURE_FILE, tmp_path / "first.png")
    np.testing.assert_allclose(*map(imread, pictures), atol=0.02)  # but for rounded weights
    for one, other in zip(inference(*sides), again(*sides), strict=True):
        assert (one.label, one.tokens) == (other.label, other.tokens)
        assert one.score == pytest.approx(other.score, rel=1e-5)


def test_a_saved_model_with_the_name_of_a_shipped_one_is_loaded_again(
    inference, tmp_path, monkeypatch
):
    monkeypatch.setenv("ZOO_MODELS", str(inference.folder.parent))
    monkeypatch.chdir(tmp_path)
    assert zoo.pipeline("pairs").folder == inference.folder
    inference.fit(PAIRS, **ONE_STEP)
    folder = inference.save("pairs")
    assert folder == tmp_path / "pairs"
    sides = (PAIRS["premise"][0], PAIRS["hypothesis"][0])
    expected = inference(*sides).score
    for given in (folder, folder.relative_to(tmp_path), "./pairs"):
        again = zoo.pipeline(given)
        assert again.folder == folder
        assert again(*sides).score == pytest.approx(expected, rel=1e-5)


def test_a_share_is_held_out_and_scored(inference):
    with pytest.raises(ValueError, match="label of row 0 must be one of"):
        inference.fit(PAIRS | {"label": ["?"] * 3})
    history = inference.fit(PAIRS, validation_split=0.3, **ONE_STEP)
    assert {*history} == {"loss", "val_loss", "val_accuracy"}
    assert headline(inference.card) in inference.evaluate(PAIRS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number of at least 1, got 0"),
        ({"batch_size": 2.5}, "batch_size must be .*, got 2.5"),
        ({"learning_rate": -1.0}, "learning_rate must be positive and finite, got -1.0"),
        ({"patience": 1}, "patience must be None without validation_data or .*, got 1"),
        ({"validation_split": 1.0}, "validation_split must be at least 0 and below 1, got 1.0"),
        ({"validation_split": 0.9}, "validation_split must leave a row to train on"),
        ({"validation_split": 0.3, "validation_data": PAIRS}, "must not be given both"),
        ({"validation_data": {"premise": []}}, "data must have the columns premise, hypothesis"),
    ],
)
def test_wrong_settings_are_refused(inference, options, message):
    with pytest.raises(ValueError, match=message):
        inference.fit(PAIRS, **({"progress": False} | options))


@pytest.mark.parametrize(("texts", "asked"), [(["", "a b"], "a b"), ([" ", ""], " ")])
def test_the_picture_is_of_an_example_with_words(inference, texts, asked):
    trainer = TRAINERS["inference"](inference._trained_model().endpoint)
    frame = trainer.read({"premise": ["c", "d"], "hypothesis": texts, "label": ["neutral"] * 2})
    assert trainer.question(frame)["hypothesis"] == asked


def test_nothing_trained_is_nothing_to_save(load, tmp_path):
    with pytest.raises(ValueError, match="sst_lstmn has not been trained: fit it first"):
        load("sst_lstmn").save(tmp_path / "mine")


class Words:
    """Stands in for the endpoint of a classifier or of a reader."""

    model, labels = None, ("bad", "good")

    @property
    def limits(self):
        return {"maximum_document_tokens": 5}


@pytest.mark.parametrize(
    ("task", "data", "message"),
    [
        ("translation", {"source": ["a"]}, "source, target, got source: target is missing"),
        ("translation", {"source": [], "target": []}, "data must have at least one row, got none"),
        ("translation", ["a"], "a pandas DataFrame or a dict of columns .* source, target, got li"),
        ("translation", {"source": "a", "target": "b"}, "column source must be a list, got str"),
        (
            "translation",
            {"source": {"a"}, "target": ["b"]},
            "column source must be a list, got set",
        ),
        (
            "translation",
            {"source": np.array("a"), "target": ["b"]},
            "column source must be a list, got ndarray 'a'",
        ),
        (
            "translation",
            {"source": pd.DataFrame({"source": ["a"]}), "target": ["b"]},
            "column source must be a list, got DataFrame: give one of its columns",
        ),
        (
            "translation",
            pd.DataFrame([["a", "b", "c"]], columns=["source", "target", "source"]),
            "data must have column source once, got 2",
        ),
        (
            "reading",
            pd.DataFrame(READING).assign(answer_start=34).iloc[:, [0, 1, 2, 3, 3]],
            "data must have column answer_start once, got 2",
        ),
        ("translation", {"source": ["a"], "target": []}, "same length, got {'source': 1, 'target"),
        (
            "translation",
            {"source": ["a", float("nan")], "target": ["a", "b"]},
            "source of row 1 must be a string, got nan",
        ),
        (
            "classification",
            {"text": ["a", "b"], "label": ["good", "best"]},
            "label of row 1 must be one of the model's classes 'bad', 'good', got 'best'",
        ),
        ("reading", READING | {"answer": ["Tom"]}, "answer of row 0 must be part of its context"),
        ("reading", READING | {"answer": [""]}, "answer of row 0 must be part of its context"),
        (
            "reading",
            READING | {"answer_start": [3]},
            r"answer of row 0 must be in its context at character 3, where .*, got 'Ida",
        ),
        ("reading", READING | {"answer_start": ["x"]}, "answer_start of row 0 must be a whole num"),
        ("reading", READING | {"answer_start": [-1]}, "answer_start of row 0 must be a whole num"),
        (
            "cloze",
            {"document": ["a b"], "query": ["c"], "answer": ["a"]},
            "query of row 0 must be a text with XXXXX once, got 'c'",
        ),
        (
            "cloze",
            {"document": ["a b c d e f"], "query": ["XXXXX"], "answer": ["f"]},
            "answer of row 0 must be a word of the first 5 of its document, got 'f'",
        ),
        (
            "cloze",
            {"document": ["a b"], "query": ["XXXXX"], "answer": ["a"], "candidates": [["b"]]},
            "candidates of row 0 must be a list of words with the answer 'a'",
        ),
    ],
)
def test_wrong_data_is_refused_by_column_and_row(task, data, message):
    with pytest.raises(ValueError, match=message):
        TRAINERS[task](Words()).read(data)


def test_answers_become_tokens_of_their_contexts(tmp_path):
    write_vocabulary(tmp_path / "words.txt", ["the", "lamp"])
    endpoint = ReadingEndpoint(
        None, WordTokenizer(), Vocabulary(tmp_path / "words.txt"), maximum_context_tokens=9
    )
    trainer = TRAINERS["reading"](endpoint)
    later = {name: column * 2 for name, column in READING.items()} | {"answer_start": [None, 34]}
    frame = trainer.read(later)
    assert frame["answer_starts"].tolist() == [[34], [34]]
    inputs, targets = next(iter(trainer.batches(frame, 2, 0).training(0)))
    assert inputs["context"].shape == (2, 9)
    assert targets["start"].numpy().tolist() == [7, 7]
    assert targets["end"].numpy().tolist() == [8, 8]
    for answer, start in (("lam", None), ("Ida Möreau", 50)):
        with pytest.raises(ValueError, match="answer of row 0 must be whole words within the firs"):
            trainer.read(READING | {"answer": [answer], "answer_start": [start]})


def test_answers_are_found_where_they_are_whole_words():
    assert find_answer(0, "a party of art", "art", None) == 11
    assert find_answer(0, "a party", "art", None) == 3
    assert find_answer(0, "art art", "art", 4) == 4
    assert find_answer(0, "art art", "art", float("nan")) == 0
    assert find_answer(0, "art art", "art", 4.0) == 4
