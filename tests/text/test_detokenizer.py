import pytest
import tensorflow as tf

from zoo.text.detokenizer import detokenize
from zoo.text.tokenizer import WordTokenizer


def round_trip(text: str, language: str | None = None) -> str:
    tokens = WordTokenizer(case_fold=False)([text]).surface.to_tensor("")
    return detokenize(tokens, language).numpy()[0].decode()


@pytest.mark.parametrize(
    "text",
    [
        "A man, a plan; a canal: Panama!",
        "Really?! No... (perhaps [not] {yet}).",
        'She said "yes" and "no".',
        "She said “yes”, he ‘no’.",
        "Don't: I'm sure they've seen John's and the girls' dogs.",
        "Michael Jackson's 'Thriller' video",
        "He'll say I'd won; O'Neill didn't.",
        "a well-known back-to-back T-shirt",
        "either/or at 12:30, $5 for #19, 1,000.5 and 50%",
        "1914–1918 was – they say – long",
        "Texas A&M and a Lounge & Grill",
        "¿Qué? ¡No!",
        "nothing in \"\", “”, '', (), [] and „“",
    ],
)
def test_english_and_general_writing(text: str):
    assert round_trip(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Er sagt „nein“ und ‚ja‘, »so« und ›anders‹.",
        "Obst- und Gemüsestand, Hut und -band, rot-, weiß- und goldfarben",
        "saftig-grünes Gras in einer Go-Kart-Bahn",
        "50 % Rabatt – Ende 2,52 Euro",
        "Freund/in Flugbegleiter_in",
    ],
)
def test_german_writing(text: str):
    assert round_trip(text, "de") == text


@pytest.mark.parametrize(
    "text",
    [
        "L'homme qu'il voit n'est pas d'ici, aujourd'hui c’est l’été.",
        "Quoi ? Non ! Si : « oui » ; 50 %.",
        "Un arrière-plan et un gratte-ciel",
    ],
)
def test_french_writing(text: str):
    assert round_trip(text, "fr") == text


@pytest.mark.parametrize(
    "text", ["日本語のテスト。「はい」、と。", "שלום, עולם!", "Привет, «мир»?"]
)
def test_other_scripts(text: str):
    assert round_trip(text) == text


def test_language_decides_on_spaces_alone():
    tokens = tf.constant([["«", "a", "»", "?", "5", "%"]])
    expected = {None: "«a»? 5%", "en": "«a»? 5%", "de": "«a»? 5 %", "fr": "« a » ? 5 %"}
    for language, text in expected.items():
        assert detokenize(tokens, language).numpy()[0].decode() == text


def test_empty_tokens_leave_no_trace():
    tokens = tf.constant([["", "a", "", "", "b", ""], [""] * 6])
    assert detokenize(tokens).numpy().tolist() == [b"a b", b""]
    assert detokenize(tf.zeros([2, 0], tf.string)).numpy().tolist() == [b"", b""]
    assert detokenize(tf.zeros([0, 3], tf.string)).shape == (0,)
