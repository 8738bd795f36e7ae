"""Shipped models: complete, consistent with their cards, and able to answer."""

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from zoo.data.algorithms import NOT_ASKED, Copy
from zoo.data.digit_sample import handwritten_three
from zoo.data.painting import dog_on_grass
from zoo.models.core.axes import Listed, from_json
from zoo.pipelines import pipeline
from zoo.serving.cards import read_card, verify
from zoo.serving.codecs import load_labels
from zoo.serving.load import list_models, load, load_servable, resolve
from zoo.serving.papers import papers_of
from zoo.serving.response import plain
from zoo.serving.servable import Servable
from zoo.tasks.shared.endpoints import map_axes

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def shipped() -> Callable[[str], Any]:
    """Gives a shipped model by its name; each is loaded once."""
    return functools.cache(load_servable)


@pytest.mark.parametrize("name", list_models())
def test_a_shipped_model_is_what_its_card_says(name):
    folder = resolve(name)
    card = verify(folder)
    assert (folder / "attention.png").is_file()
    assert sum(file.stat().st_size for file in folder.rglob("*")) <= 25 * MEGABYTE
    model = load(name)
    assert card.model_class.endswith(type(model).__name__)
    trainable = sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
    assert trainable == card.trainable_parameters
    axes, maps = from_json(card.axes), map_axes(model)
    if card.task == "captioning":  # which reads annotations of the file that it is asked with
        maps = {name: (words, replace(grid, of="image")) for name, (words, grid) in maps.items()}
    if card.task == "stories":  # which lists the sentences that it read
        maps = {name: (hops, Listed("story_sentences")) for name, (hops, _) in maps.items()}
    servable = Servable(folder)
    shown = set(servable.signatures["serving_default"].outputs)
    assert axes.keys() & maps.keys() >= shown & maps.keys()
    assert {output: maps[output] for output in axes if output in maps}.items() <= axes.items()
    assert {name for name in shown if name.endswith("_tokens")} - {"next_tokens"} <= axes.keys()
    assert_is_told(folder, card, servable)


def assert_is_told(folder, card, servable):
    """The card is complete, and its example is the model's answer."""
    told = (card.intended_use, card.limitations, card.licence, card.data_terms, card.hardware)
    assert all(told)
    assert card.papers == papers_of(card.model_class) != []
    classifies = card.task in ("classification", "inference", "stories")
    labels = list(load_labels(folder)) if classifies else []
    if card.task == "tabular":
        labels = card.tokenizer["target"]["labels"]
    if card.task == "images":  # whose card alone names them
        labels = [*"0123456789"]
    assert card.labels == labels
    inputs = {name: [value] for name, value in card.example.question().items()}
    outputs = servable.ask(inputs, card.example.signature)
    for name, value in card.example.outputs.items():
        answered = plain(outputs[name][0])
        numbers = isinstance(value, float) or (
            isinstance(value, list) and isinstance(value[0], float)
        )
        assert answered == (pytest.approx(value, abs=1e-3) if numbers else value)


def takes_texts(name: str) -> bool:
    """Whether it is asked with any texts, and not with files, vectors or symbols of an alphabet."""
    return not {"image", "image_bytes", "vectors", "symbols"} & {
        *read_card(resolve(name)).example.inputs
    }


@pytest.mark.parametrize("name", [*filter(takes_texts, list_models())])
def test_the_time_of_a_long_text_is_at_most_linear_in_its_length(name, shipped):
    """Times hard bytes for tokenizers: quadratic growth would take 16 times as long."""
    serve = shipped(name).signatures["serving_default"]
    units = ["漢", "〇", "\u0301\u0316", b"\xff"]
    units = [unit if isinstance(unit, bytes) else unit.encode() for unit in units]

    def seconds(size: int) -> float:
        texts = tf.constant([unit * (size // len(unit)) for unit in units])
        asked = tf.constant([b"What is XXXXX ?"] * len(units))
        names = serve.structured_input_signature[1]
        inputs = {name: asked if name in ("question", "query") else texts for name in names}
        numbers = [name for name, spec in names.items() if spec.dtype.is_floating]
        inputs |= dict.fromkeys(numbers, tf.zeros(len(units)))
        start = time.perf_counter()
        serve(**inputs)
        return time.perf_counter() - start

    seconds(1000)  # TensorFlow prepares what it runs for the first time
    assert min(seconds(2**18), seconds(2**18)) < 9 * (seconds(2**16) + 0.01)


def test_the_shipped_reader_answers_a_question(shipped):
    serve = shipped("squad_dcn").signatures["serving_default"]
    context = "The lamp of the lighthouse was repaired by a clockmaker, Ida Moreau."
    result = serve(
        question=tf.constant(["Who repaired the lamp of the lighthouse?"]),
        context=tf.constant([context]),
    )
    assert result["answer"].numpy()[0].decode() == "Ida Moreau"
    start, end = int(result["start"][0]), int(result["end"][0])
    assert context[start:end] == "Ida Moreau"
    assert 0 < float(result["score"][0]) <= 1


@pytest.mark.parametrize(
    "name",
    [
        "multi30k_rnnsearch_en_de",
        "multi30k_luong_en_de",
        "multi30k_transformer_en_de",
    ],
)
def test_a_shipped_translator_translates_and_shows_what_it_looked_at(name, shipped):
    serve = shipped(name).signatures["serving_default"]
    result = serve(text=tf.constant(["A man in a red shirt is sleeping.", ""]))
    assert result["translation"].numpy()[0].decode() == "Ein Mann in einem roten Hemd schläft."
    assert result["translation"].numpy()[1] == b""
    source = [token.decode() for token in result["source_tokens"].numpy()[0]]
    target = [token.decode() for token in result["target_tokens"].numpy()[0]]
    looked_at = result["attention_alignment"].numpy()[0].argmax(axis=-1)
    assert source[looked_at[target.index("▁Hemd")]] == "▁shirt"


def test_the_shipped_translator_with_biases_follows_the_order_of_the_words(shipped):
    serve = shipped("tatoeba_biased_de_en").signatures["serving_default"]
    result = serve(text=tf.constant(["Sie hat gestern ein neues Buch gekauft."]))
    assert result["translation"].numpy()[0] == b"She bought a new book yesterday."
    source, target = (
        [token.decode().strip("▁") for token in result[name].numpy()[0]]
        for name in ("source_tokens", "target_tokens")
    )
    looked_at = result["attention_alignment"].numpy()[0].argmax(axis=-1)
    for word, wanted in {"bought": "gekauft", "book": "Buch", "yesterday": "gestern"}.items():
        assert source[looked_at[target.index(word)]] == wanted


def test_the_shipped_translators_give_the_n_best(shipped):
    serve = shipped("multi30k_luong_en_de").signatures["beam"]
    text = tf.constant(["A man in a red shirt is sleeping."])
    result = serve(text=text, beam_width=tf.constant(4), length_penalty=tf.constant(1.0))
    translations = [text.decode() for text in result["translation"].numpy()[0]]
    assert len({*translations}) == 4
    assert "Ein Mann in einem roten Hemd schläft." in translations
    assert np.all(np.diff(result["score"].numpy()[0]) <= 0)


def test_the_shipped_captioner_describes_a_painting_and_shows_where_it_looked(shipped):
    painting = dog_on_grass()
    files = [tf.io.encode_png(painting), tf.io.encode_jpeg(painting[:, ::-1])]
    result = shipped("flickr8k_caption_soft").signatures["serving_default"](
        image_bytes=tf.stack(files)
    )
    for caption in result["caption"].numpy():
        assert caption == b"a brown dog is running through the grass"
    words = result["target_tokens"].numpy()[0].tolist()
    looked_at = result["attention_alignment"].numpy()[0, words.index(b"dog")]
    assert looked_at.shape == (9, 9)
    assert looked_at.sum() == pytest.approx(1, abs=1e-4)


def test_the_shipped_glimpses_find_a_digit_and_stay_in_the_picture(shipped):
    digits = np.stack([handwritten_three(), np.roll(handwritten_three(), 2, axis=1)])[..., None]
    result = shipped("mnist_glimpse").signatures["bytes"](pixels=tf.constant(digits))
    assert result["label"].numpy().tolist() == [b"3", b"3"]
    locations = result["locations"].numpy()
    assert locations.shape == (2, 7, 2)
    assert not locations[:, 0].any()  # it begins at the centre
    assert np.abs(locations[:, 1:]).mean() < 0.6
    assert len({*locations[0, :, 0].round(2)}) > 4  # and looks around
    seen = result["attention_glimpses"].numpy()
    assert seen.shape == (2, 7, 28, 28)
    assert seen.sum(axis=(2, 3)).max() == pytest.approx(1, abs=1e-5)


def test_the_shipped_reader_of_stories_finds_both_facts(shipped):
    story = (
        "Daniel grabbed the football.\nMary went to the office.\nDaniel went to the kitchen.\n"
        "Mary moved to the bathroom.\nSandra moved to the bedroom."
    )
    serve = shipped("babi_structured").signatures["serving_default"]
    result = serve(question=tf.constant(["Where is the football?"]), story=tf.constant([story]))
    assert result["answer"].numpy()[0] == b"kitchen"
    facts = [b"Daniel grabbed the football.", b"Daniel went to the kitchen."]
    assert result["facts"].numpy()[0].tolist() == facts
    np.testing.assert_allclose(result["attention_facts"].numpy().sum(axis=-1), 1, rtol=1e-5)


def test_the_shipped_machine_copies_what_is_longer_than_in_training():
    drawn = Copy().draw(np.random.default_rng(5), 4, 40)
    results = pipeline("copy_ntm")([*drawn.vectors])
    for result, targets in zip(results, drawn.targets, strict=True):
        wanted = ["".join(map(str, step)) for step in targets if step[0] != NOT_ASKED]
        assert list(result.bits[-40:]) == wanted
        # The write head moves one slot a step, and the read head follows the same way.
        written, read = (
            result.attention[name].weights[0, steps].argmax(axis=-1)
            for name, steps in (("write", slice(1, 41)), ("read", slice(-41, -1)))
        )
        assert len({*np.diff(written) % 128}) == 1
        np.testing.assert_array_equal(np.diff(read) % 128, np.diff(written) % 128)


def test_the_shipped_neural_gpu_reverses_what_is_longer_than_in_training():
    texts = [
        "0",
        "1101",
        "".join("01"[digit] for digit in np.random.default_rng(6).integers(0, 2, 35)),
    ]
    assert [result.answer for result in pipeline("reverse_neural_gpu")(texts)] == [
        text[::-1] for text in texts
    ]


def test_the_shipped_judge_of_films_says_how_good_they_are_found(shipped):
    serve = shipped("sst_lstmn").signatures["serving_default"]
    texts = ["A dull and lifeless film.", "An absolute joy from beginning to end!", ""]
    result = serve(text=tf.constant(texts))
    assert result["label"].numpy()[:2].tolist() == [b"very negative", b"very positive"]
    assert result["attention_intra"].shape[2:] == (8, 9)  # of the longest text
    assert result["text_length"].numpy().tolist() == [6, 8, 0]


def test_the_shipped_judge_of_reviews_sees_hops_of_a_review_and_embeds_it(shipped):
    signatures = shipped("imdb_self_attentive").signatures
    texts = tf.constant(["A dull and lifeless film.", "An absolute joy, from start to end!", ""])
    result = signatures["serving_default"](text=texts)
    assert result["label"].numpy()[:2].tolist() == [b"negative", b"positive"]
    hops = result["attention_hops"].numpy()
    assert hops.shape == (3, 30, 9)
    np.testing.assert_allclose(hops[:2].sum(axis=-1), 1, rtol=1e-5)
    assert not hops[2].any()
    assert signatures["embed"](text=texts)["embedding"].shape == (3, 30, 256)


def test_the_shipped_judge_of_pairs_aligns_their_words(shipped):
    serve = shipped("sick_decomposable").signatures["serving_default"]
    premise = ["A woman is playing a guitar.", "A girl is jumping over a puddle.", ""]
    hypothesis = ["A woman is not playing a guitar.", "A child is jumping.", "A dog runs."]
    result = serve(premise=tf.constant(premise), hypothesis=tf.constant(hypothesis))
    assert result["label"].numpy()[0] == b"contradiction"
    aligned = result["attention_premise_to_hypothesis"].numpy()
    np.testing.assert_allclose(aligned[:1].sum(axis=-1)[:, :7], 1, rtol=1e-5)
    words = result["hypothesis_tokens"].numpy()
    best = [[words[row, aligned[row, column].argmax()] for column in (1, 3, 5)] for row in (0, 1)]
    assert best[0] == [b"woman", b"guitar", b"guitar"]  # of: woman, playing, guitar
    assert best[1][1] == b"jumping"
    assert np.isfinite(result["probabilities"]).all()


def test_the_shipped_language_model_tells_what_comes_next_and_what_was_read_beside_it(shipped):
    serve = shipped("wikitext_lstmn").signatures["serving_default"]
    texts = ["He moved to New", "The album was released in the United", ""]
    result = serve(text=tf.constant(texts))
    proposed = result["next_tokens"].numpy()
    assert proposed[0, 0] == b"York"
    assert {*proposed[1, :2]} == {b"Kingdom", b"States"}
    assert np.all(np.diff(result["next_log_probabilities"].numpy()) <= 0)
    assert result["text_length"].numpy().tolist() == [4, 7, 0]
    intra = result["attention_intra"].numpy()
    assert intra.shape == (3, 1, 7, 8)
    np.testing.assert_allclose(intra[1, 0].sum(axis=-1), 1, rtol=1e-5)


def test_the_shipped_reader_fills_a_blank_and_shows_what_it_looked_at(shipped):
    serve = shipped("cloze_aoa").signatures["ranked"]
    document = (
        "The miller lived by the river with his old horse . Every morning the horse carried flour "
        "to the village . One day the miller fell ill , and his daughter Jenny led the horse ."
    )
    queries = ["Jenny held the XXXXX by its bridle .", "`` Good morning , '' said XXXXX to all ."]
    candidates = [["river", "horse", "flour", "ship"], ["Jenny", "miller", "horse", ""]]
    result = serve(
        document=tf.constant([document, document]),
        query=tf.constant(queries),
        candidates=tf.constant(candidates),
    )
    assert result["answer"].numpy().tolist() == [b"horse", b"Jenny"]
    probabilities = result["probabilities"].numpy()
    assert result["candidates"].numpy()[0, 3] == b"ship"  # the document lacks it
    assert probabilities[0, 3] == 0
    np.testing.assert_allclose(result["attention_document"].numpy().sum(axis=-1), 1, rtol=1e-5)
    np.testing.assert_allclose(result["attention_query"].numpy().sum(axis=-1), 1, rtol=1e-5)
