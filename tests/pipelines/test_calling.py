"""Strings in, plain values out: equal to what the signatures answer, whatever the text."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest

import zoo
from zoo.pipelines.questions import read_questions
from zoo.pipelines.results import Answer, Continuation, FilledBlank, Label, NextWords, Translation

TRANSLATOR = "multi30k_rnnsearch_en_de"
TRANSFORMER = "multi30k_transformer_en_de"
TRANSLATORS = [TRANSLATOR, TRANSFORMER, "multi30k_luong_en_de"]
ENGLISH = ["A man in a red shirt is sleeping.", "", "A dog runs through the snow \U0001f415."]
QUESTION = "Who repaired the lamp?"
CONTEXTS = ["\u00dcn\u0131c\u00f6d\u00e9 \U0001f388: the lamp was repaired by Ida M\u00f6reau.", ""]
DOCUMENT = "Nell met a fox . Nell fed the fox . The fox thanked her . Tom slept ."
QUERY = "XXXXX fed the fox ."


def assert_tokens(result, outputs, row, *sides):
    """Tokens of a result are those of its row, and its maps fit them."""
    assert {*result.tokens} == {*sides}
    for side in sides:
        count = outputs[f"{side}_length"][row]
        tokens = [token.decode() for token in outputs[f"{side}_tokens"][row, :count]]
        assert [*result.tokens[side]] == tokens
    for name, attention in result.attention.items():
        assert attention.shape[-len(attention.tokens) :] == tuple(map(len, attention.tokens))
        given = outputs[f"attention_{name}"][row]
        sums = [np.asarray(attention).sum(), given.sum()]  # padding has no weight
        assert sums[0] == pytest.approx(sums[1], rel=1e-4, abs=1e-6) or min(attention.shape) == 0


@pytest.mark.parametrize("name", TRANSLATORS)
def test_translations_are_those_of_the_signature(load, name):
    translate = load(name)
    outputs = translate.servable.ask({"text": ENGLISH})
    results = translate(ENGLISH)
    assert all(type(one) is Translation for one in results)
    assert [one.text for one in results] == [text.decode() for text in outputs["translation"]]
    assert [one.score for one in results] == outputs["score"].tolist()
    for row, result in enumerate(results):
        assert_tokens(result, outputs, row, "source", "target")
        attention = result.attention["alignment"]
        assert attention.tokens == (result.tokens["target"], result.tokens["source"])
    one = translate(text=ENGLISH[0])
    assert type(one) is Translation
    assert one.text == results[0].text == "Ein Mann in einem roten Hemd schl\u00e4ft."
    np.testing.assert_allclose(
        one.attention["alignment"], results[0].attention["alignment"], atol=1e-5
    )


def test_options_of_a_search_give_the_n_best(load):
    translate = load(TRANSFORMER)
    scalars = {"beam_width": 3, "length_penalty": 0.5}
    outputs = translate.servable.ask({"text": ENGLISH, **scalars}, "beam")
    best = translate(ENGLISH, n_best=2, **scalars)
    assert [[one.text for one in row] for row in best] == [
        [text.decode() for text in row[:2]] for row in outputs["translation"][:1]
    ] + [[""]] + [[text.decode() for text in row[:2]] for row in outputs["translation"][2:]]
    for row, k in ((0, 0), (0, 1), (2, 1)):
        of_each = ("score", "target_tokens", "target_length", "attention_alignment")
        hypothesis = outputs | {name: outputs[name][:, k] for name in of_each}
        assert best[row][k].score == hypothesis["score"][row]
        assert_tokens(best[row][k], hypothesis, row, "source", "target")
    alone = translate(ENGLISH[0], **scalars)
    assert (alone.text, alone.tokens) == (best[0][0].text, best[0][0].tokens)
    assert translate(ENGLISH[0], n_best=1, **scalars) == [alone]


def test_all_heads_come_with_the_tokens_that_were_read(load):
    result = load(TRANSFORMER)(ENGLISH[0], heads=True)
    source, target = result.tokens["source"], result.tokens["target"]
    assert {name: one.tokens for name, one in result.attention.items()} == {
        "alignment": (target, source),
        "cross": (target, source),
        "decoder": (target, ("<s>", *target[:-1])),
        "encoder": (source, source),
    }
    assert result.attention["cross"].shape == (4, 4, len(target), len(source))


def test_answers_have_offsets_in_characters_and_bytes(load):
    read = load("squad_dcn")
    outputs = read.servable.ask({"question": [QUESTION] * 2, "context": CONTEXTS})
    results = read(question=QUESTION, context=CONTEXTS)
    assert all(type(one) is Answer for one in results)
    answer, empty = results
    assert answer.answer == CONTEXTS[0][answer.start : answer.end] == "Ida M\u00f6reau"
    assert (answer.start, answer.end) == (36, 46)
    content = CONTEXTS[0].encode()
    assert content[answer.start_byte : answer.end_byte].decode() == answer.answer
    assert answer.start_byte > answer.start
    assert (empty.answer, empty.score, empty.start, empty.end) == ("", 0.0, 0, 0)
    for row, result in enumerate(results):
        assert result.score == outputs["score"][row]
        assert (result.start_byte, result.end_byte) == (outputs["start"][row], outputs["end"][row])
        assert_tokens(result, outputs, row, "question", "context")
    asked, given = answer.tokens["question"], answer.tokens["context"]
    assert answer.attention["context_to_question"].tokens == (given, (*asked, "(none)"))
    np.testing.assert_allclose(
        np.asarray(answer.attention["context_to_question"]).sum(axis=-1), 1.0, rtol=1e-5
    )
    assert empty.attention["question_to_context"].tokens[1] == ("(none)",)
    alone = read(QUESTION, CONTEXTS[0])
    assert alone.score == pytest.approx(answer.score, rel=1e-5)  # a row alone is summed otherwise
    assert dataclasses.replace(alone, score=answer.score) == answer


def test_offsets_survive_bytes_that_are_no_text(load):
    context = b"\xff\xfe The lamp was repaired by Ida Moreau.".decode("utf-8", "surrogateescape")
    answer = load("squad_dcn")(QUESTION, context)
    assert context[answer.start : answer.end] == answer.answer == "Ida Moreau"
    with pytest.raises(ValueError, match="context must be text that UTF-8 can hold"):
        load("squad_dcn")(QUESTION, "\ud800")


def test_blanks_are_filled_from_the_document_or_from_candidates(load):
    fill = load("cloze_aoa")
    outputs = fill.servable.ask({"document": [DOCUMENT], "query": [QUERY]})
    result = fill(DOCUMENT, QUERY)
    assert type(result) is FilledBlank
    assert result.answer == result.candidates[0] == outputs["answer"][0].decode()
    assert result.score == result.probabilities[0] == outputs["probabilities"][0, 0]
    assert len({*DOCUMENT.split()}) == len(result.candidates) == len(result.probabilities)
    assert_tokens(result, outputs, 0, "document", "query")
    assert result.attention["document"].tokens == (result.tokens["document"],)
    some = fill(DOCUMENT, [QUERY, QUERY], candidates=[["Tom", "fox"], ["fox", "Nell", "Ada"]])
    assert [{*one.candidates} for one in some] == [{"Tom", "fox"}, {"fox", "Nell", "Ada"}]
    ranked = {"document": [DOCUMENT], "query": [QUERY], "candidates": [["fox", "Nell", "Ada"]]}
    outputs = fill.servable.ask(ranked, "ranked")
    assert some[1].candidates == tuple(word.decode() for word in outputs["candidates"][0])
    np.testing.assert_allclose(some[1].probabilities, outputs["probabilities"][0], rtol=1e-4)
    shared = fill(document=[DOCUMENT] * 2, query=QUERY, candidates=["fox", "Nell", "Ada"])
    assert [one.candidates for one in shared] == [some[1].candidates] * 2


def test_classes_have_names_and_probabilities(load):
    classify, texts = load("sst_lstmn"), ["A fine film .", "It is a dull , dull film ."]
    outputs = classify.servable.ask({"text": texts})
    results = classify(texts)
    for row, result in enumerate(results):
        assert type(result) is Label
        assert result.label == outputs["label"][row].decode()
        assert [*result.probabilities.values()] == outputs["probabilities"][row].tolist()
        assert result.score == max(result.probabilities.values())
        assert result.probabilities[result.label] == result.score
        assert_tokens(result, outputs, row, "text")
        tokens = result.tokens["text"]
        assert result.attention["intra"].tokens == (tokens, (*tokens, "(before)"))
    assert next(iter(results[0].probabilities)) == "very negative"


def test_a_language_model_gives_the_next_words(load):
    predict, text = load("wikitext_lstmn"), "the cat sat on the"
    outputs = predict.servable.ask({"text": [text]})
    result = predict(text)
    assert type(result) is NextWords
    assert result.words == tuple(word.decode() for word in outputs["next_tokens"][0])
    np.testing.assert_allclose(result.probabilities, np.exp(outputs["next_log_probabilities"][0]))
    assert [*result.log_probabilities] == outputs["log_probabilities"][0].tolist()
    assert result.score == result.probabilities[0]
    assert_tokens(result, outputs, 0, "text")


def test_a_language_model_writes_what_its_signature_writes(load):
    write, text = load("wikitext_lstmn"), "The army of the king"
    numbers = {"temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": 0, "forbid_unknown": True}
    asked = {"text": [text], "new_tokens": 4, **numbers}
    outputs = write.servable.ask(asked, "generate")
    result = write(text, new_tokens=4)
    assert type(result) is Continuation
    assert result.text == outputs["continuation"][0].decode()
    assert result.score == outputs["score"][0]
    assert_tokens(result, outputs, 0, "text", "generated")
    with pytest.raises(ValueError, match=r"^a continuation has no attention to draw: ask about"):
        result.plot()
    assert result.attention == {}
    assert len(write(f"{text} {result.text}").plot().axes) >= 1


def test_results_are_plain_frozen_and_short(load):
    result = load("squad_dcn")(QUESTION, CONTEXTS[0])
    assert repr(result).startswith("Answer(answer='Ida M\u00f6reau', score=0.")
    assert len(repr(result)) < 120
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.answer = "Tom"


def test_no_texts_have_no_results_and_batches_do_not_matter(load):
    translate = load(TRANSLATOR)
    assert translate([]) == []
    texts = ENGLISH[::2]
    alone = translate(texts, batch_size=np.int64(1))
    assert [one.text for one in alone] == [one.text for one in translate(texts)]


@pytest.mark.parametrize(
    ("name", "texts", "named", "message"),
    [
        ("squad_dcn", [], {}, "inputs of squad_dcn must be question, context, got none"),
        ("squad_dcn", ["a"], {"premise": "b"}, "must be question, context, got premise"),
        ("squad_dcn", ["a"], {"question": "b"}, "must be question, context, got question twice"),
        ("squad_dcn", ["a", "b", "c"], {}, "got 3 texts: several go in a list"),
        ("squad_dcn", [["a"], ["b", "c"]], {}, "same length, got 1 of question, 2 of context"),
        ("squad_dcn", ["a", 3], {}, "context must be str or a list of str, got int '3'"),
        ("squad_dcn", ["a", ["b", b"c"]], {}, r"context\[1\] must be str, got bytes"),
        ("squad_dcn", ["a", "b"], {"beam_width": 3}, "of squad_dcn must be none, got beam_width"),
        (TRANSLATOR, ["a"], {"heads": True}, "must be out of beam_width, .*, n_best, got heads"),
        (TRANSLATOR, ["a"], {"candidates": ["b"]}, "got candidates"),
        (TRANSLATOR, ["a"], {"beam_widht": 3}, "got beam_widht: did you mean beam_width?"),
        ("squad_dcn", ["a"], {"contxt": "b"}, "of question, context, batch_size, got contxt: did"),
        (TRANSLATOR, ["a"], {"n_best": 3, "beam_width": 2}, "at most beam_width, 2, got 3"),
        (TRANSLATOR, ["a"], {"beam_width": 0}, "beam_width must be .* at least 1, got 0"),
        (TRANSLATOR, ["a"], {"n_best": 0}, "n_best must be .* at least 1, got 0"),
        (TRANSLATOR, ["a"], {"n_best": "3"}, "n_best must be .* at least 1, got '3'"),
        (TRANSLATOR, ["a"], {"n_best": True}, "n_best must be .* at least 1, got True"),
        (TRANSLATOR, ["a"], {"beam_width": "3"}, "beam_width must be .* at least 1, got '3'"),
        (TRANSLATOR, ["a"], {"batch_size": 0}, "batch_size must be .* at least 1, got 0"),
        (TRANSLATOR, ["a"], {"batch_size": 2.0}, "batch_size must be .* at least 1, got 2.0"),
        (TRANSLATOR, ["a"], {"batch_size": None}, "batch_size must be .* at least 1, got None"),
        (TRANSFORMER, ["a"], {"heads": "no"}, "heads must be True or False, got 'no'"),
        (TRANSFORMER, ["a"], {"heads": True, "n_best": 2}, "heads, n_best must not be given toget"),
        (
            "cloze_aoa",
            [DOCUMENT, QUERY],
            {"candidates": "Tom"},
            "a list of words, .*, got str 'Tom'",
        ),
        ("cloze_aoa", [DOCUMENT, QUERY], {"candidates": [["a"], ["b"]]}, "per question, 1, got 2"),
        ("cloze_aoa", [DOCUMENT, QUERY], {"candidates": []}, "must hold a word at least"),
        ("cloze_aoa", [DOCUMENT, QUERY], {"candidates": ["Tom", " fox"]}, "without .*, got ' fox'"),
        ("cloze_aoa", [DOCUMENT, QUERY], {"candidates": ["the fox"]}, "single words .*'the fox'"),
        ("cloze_aoa", [DOCUMENT, QUERY], {"candidates": 3}, "a list of words, .*, got int '3'"),
        ("cloze_aoa", [DOCUMENT, QUERY], {"candidates": {"fox"}}, "a list of words, .*, got set"),
        (
            "cloze_aoa",
            [DOCUMENT, [QUERY, QUERY]],
            {"candidates": ["Tom", ["fox"]]},
            "candidates must be a list of words, or a list of these, got str 'Tom'",
        ),
        (
            "cloze_aoa",
            [DOCUMENT, QUERY],
            {"candidates": pd.DataFrame({"words": ["Tom", "fox"]})},
            "a list of words, or a list of these, got DataFrame: give one of its columns",
        ),
        ("cloze_aoa", [DOCUMENT, "no blank"], {}, "every query must hold XXXXX exactly once"),
    ],
)
def test_wrong_calls_are_refused(load, name, texts, named, message):
    with pytest.raises(ValueError, match=message):
        load(name)(*texts, **named)


@pytest.mark.parametrize(
    ("texts", "got"),
    [
        (pd.DataFrame({"text": ["A dog runs."]}), "DataFrame: give one of its columns"),
        ({"A dog runs.", "A cat runs."}, "set"),
        (frozenset(["A dog runs."]), "frozenset"),
        ({"text": "A dog runs."}, "dict"),
        (np.array("A dog runs."), "ndarray 'A dog runs.'"),
    ],
)
def test_what_gives_names_or_no_order_is_no_list_of_texts(texts, got):
    """A table would be read as the names of its columns."""
    with pytest.raises(ValueError, match=f"^text must be str or a list of str, got {got}"):
        read_questions("a", ("text",), [texts], {})


@pytest.mark.parametrize(
    "texts",
    [
        ("a", "b"),
        np.array(["a", "b"]),
        pd.Series({"columns": "a", "ndim": "b"}),
        pd.Index(["a", "b"]),
        iter(["a", "b"]),
        {"a": 1, "b": 2}.keys(),
    ],
)
def test_any_texts_in_order_are_a_list(texts):
    assert read_questions("a", ("text",), [texts], {}) == ({"text": ["a", "b"]}, False)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no model 'squad_dnc': did you mean 'squad_dcn'"):
        zoo.pipeline("squad_dnc")


def test_a_text_of_unknown_words_is_answered_with_a_warning(load):
    judge = load("sst_lstmn")
    with pytest.warns(UserWarning, match="sst_lstmn, example 2: 2 of the 3 words of text are unkn"):
        assert len(judge(["An absolute joy!", "xqzt brlf the"])) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judge("An absolute joy!")


def test_a_pipeline_says_in_one_line_what_it_is_for_and_what_not(load):
    said = repr(load(TRANSLATOR))
    assert said.startswith(f"{TRANSLATOR}: translating English image captions of 5 to 20 words")
    assert "; not for text other than image captions" in said
    assert "\n" not in said
