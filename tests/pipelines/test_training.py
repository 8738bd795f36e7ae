"""Pipelines trained on a few strings: one task after the other, saved and loaded again."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

import zoo
from zoo.models.lstmn.lstmn_inference import LSTMNInference
from zoo.pipelines.results import Continuation
from zoo.pipelines.trainers import TRAINERS
from zoo.serving.cards import DataRecord, verify
from zoo.serving.folders import PICTURE_FILE
from zoo.serving.headlines import headline
from zoo.tasks.classification.endpoint import ClassificationEndpoint
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.shared.pictures import draw_answer
from zoo.tasks.translation import examples as translation
from zoo.text.vocabulary import END, write_vocabulary
from zoo.text.words import WordCodec

ONE_STEP = {"epochs": 1, "progress": False}
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
        ({"epochs": None}, "epochs must be a whole number of at least 1, got None"),
        ({"epochs": True}, "epochs must be a whole number of at least 1, got True"),
        ({"seed": -1}, "seed must be a whole number of at least 0 and at most 9.*7, got -1"),
        ({"seed": 2**63}, "seed must be a whole number of at least 0 and at most .*, got 9"),
        ({"seed": 0.5}, "seed must be a whole number of at least 0 and at most .*, got 0.5"),
        ({"learning_rate": "a"}, "learning_rate must be positive and finite, got 'a'"),
        ({"learning_rate": None}, "learning_rate must be positive and finite, got None"),
        ({"validation_split": "a"}, "validation_split must be at least 0 and below 1, got 'a'"),
        ({"validation_split": None}, "validation_split must be at least 0 and below 1, got None"),
        ({"validation_split": 1.0}, "validation_split must be at least 0 and below 1, got 1.0"),
        ({"validation_split": 0.9}, "validation_split must leave a row to train on"),
        ({"validation_split": 0.3, "validation_data": PAIRS}, "must not be given both"),
        ({"validation_data": {"premise": []}}, "data must have the columns premise, hypothesis"),
    ],
)
def test_wrong_settings_are_refused(inference, options, message):
    with pytest.raises(ValueError, match=message):
        inference.fit(PAIRS, **({"progress": False} | options))


def test_settings_may_be_numbers_of_numpy(inference):
    settings = {"epochs": np.int64(1), "batch_size": np.int32(2), "seed": np.uint8(3)}
    rates = {"learning_rate": np.float32(1e-4), "validation_split": np.float64(0.3)}
    history = inference.fit(PAIRS, **settings, **rates, patience=np.int64(1), progress=False)
    assert len(history["val_loss"]) == 1


def test_a_training_that_is_refused_leaves_nothing_to_save(load, tmp_path, monkeypatch):
    """Batches and evaluations can be refused too, after the table has been read."""
    pipeline = zoo.pipeline(load("sst_lstmn").folder)
    data, trainer = DATA["sst_lstmn"], pipeline._trained_model().trainer
    for step in ("batches", "evaluator"):
        with monkeypatch.context() as patch:
            patch.setattr(trainer, step, refuse)
            with pytest.raises(ValueError, match="as it is"):
                pipeline.fit(data, validation_data=data, **ONE_STEP)
    monkeypatch.setattr(trainer, "training", refuse)
    with pytest.raises(ValueError, match="as it is"):
        pipeline.fit(data, **ONE_STEP)
    with pytest.raises(ValueError, match="sst_lstmn has not been trained: fit it first"):
        pipeline.save(tmp_path / "mine")


def refuse(*arguments, **named):
    raise ValueError("data cannot be used as it is")


def test_what_was_learned_before_an_interruption_can_be_saved(inference, tmp_path, monkeypatch):
    """Without the metrics of other weights."""
    pipeline = zoo.pipeline(inference.folder)
    pipeline.evaluate(PAIRS)
    trained, scored = pipeline._trained_model(), []

    def interrupted(frame, *, final):
        return lambda: scored.append(frame) or {}["loss"]  # after the first epoch

    monkeypatch.setattr(trained.trainer, "evaluator", interrupted)
    with pytest.raises(KeyError):
        pipeline.fit(PAIRS, validation_data=PAIRS, epochs=2, seed=7, progress=False)
    assert len(scored) == 1
    card = verify(pipeline.save(tmp_path / "mine"))
    assert (card.seed, card.wall_time_seconds > 0) == (7, True)
    assert (card.data.training, card.data.evaluation) == ("3 rows, interrupted", "")
    assert card.metrics == {}


def test_bleu_is_counted_by_the_tokeniser_of_the_models_recipe(monkeypatch):
    """Chinese has no spaces: by the usual one, a sentence would be one word."""
    monkeypatch.setattr(translation, "encode_pairs", lambda *_: None)
    monkeypatch.setattr(translation, "TranslationEvaluator", lambda *_, **options: options)
    names = ("model", "source_codec", "target_codec", "beam_width", "length_penalty")
    endpoint = SimpleNamespace(**dict.fromkeys(names), bleu_tokenizer="zh")
    evaluate = TRAINERS["translation"](endpoint).evaluator({"target": []}, final=True)
    assert evaluate["bleu_tokenizer"] == "zh"


@pytest.mark.parametrize(("texts", "asked"), [(["", "a b"], "a b"), ([" ", ""], " ")])
def test_the_picture_is_of_an_example_with_words(inference, texts, asked):
    trainer = TRAINERS["inference"](inference._trained_model().endpoint)
    frame = trainer.read({"premise": ["c", "d"], "hypothesis": texts, "label": ["neutral"] * 2})
    assert trainer.question(frame)["hypothesis"] == asked


def test_nothing_trained_is_nothing_to_save(load, tmp_path):
    with pytest.raises(ValueError, match="sst_lstmn has not been trained: fit it first"):
        load("sst_lstmn").save(tmp_path / "mine")
