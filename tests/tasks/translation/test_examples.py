"""Pairs of strings as examples, and the evaluation of translators whose answers are known."""

import math

import pandas as pd
import pytest
import tensorflow as tf

from tests.tasks.translation.translators import (
    ENGLISH,
    GERMAN,
    SHARPNESS,
    Endless,
    WordByWord,
    make_codecs,
)
from zoo.metrics.translation import bleu
from zoo.tasks.translation.examples import (
    TranslationEvaluator,
    encode_pairs,
    maximum_length,
    search,
)
from zoo.text.vocabulary import END, START, UNKNOWN

PAIRS = [
    ("two dogs run .", "zwei Hunde rennen."),
    ("a dog", "ein Hund"),
    ("a dog runs .", "ein Hund rennt ."),  # written with another space
    ("ł", "ß"),
    ("two dogs run .", "zwei Hunde"),  # the reference is shorter than what is written
]
WRITTEN = ["zwei Hunde rennen.", "ein Hund", "ein Hund rennt.", "ß", "zwei Hunde rennen."]


@pytest.fixture(scope="module")
def codecs(tmp_path_factory):
    return make_codecs(tmp_path_factory.mktemp("codecs"))


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(PAIRS, columns=["source", "target"])


@pytest.fixture(scope="module")
def examples(frame, codecs):
    return encode_pairs(frame, *codecs)


@pytest.fixture
def make_evaluator(codecs, examples):
    """An evaluator of the pairs, with the dictionary as the translator."""

    def make(model=None, **options):
        references = [target for _, target in PAIRS]
        return TranslationEvaluator(
            model or WordByWord(), examples, references, codecs[1], **options
        )

    return make


def ids(words, vocabulary):
    return [4 + vocabulary.index(word) for word in words.split()]


def test_sources_end_and_targets_are_shifted_by_one(examples):
    assert len(examples) == len(PAIRS)
    assert examples.dropped == 0
    for row, (source, _) in enumerate(PAIRS):
        assert examples.source[row].numpy().tolist() == [*ids(source, ENGLISH), END]
    german = ids("zwei Hunde rennen .", GERMAN)
    assert examples.target_in[0].numpy().tolist() == [START, *german]
    assert examples.target_out[0].numpy().tolist() == [*german, END]
    for column in (examples.source, examples.target_in, examples.target_out):
        assert column.dtype == tf.int32
        assert column.nrows() == len(PAIRS)


def test_a_side_without_a_token_and_an_unknown_word_are_examples_too(codecs):
    frame = pd.DataFrame({"source": ["", "a cat"], "target": ["  ", ""]})
    examples = encode_pairs(frame, *codecs)
    assert examples.source.to_list() == [[END], [*ids("a", ENGLISH), UNKNOWN, END]]
    assert examples.target_in.to_list() == [[START], [START]]
    assert examples.target_out.to_list() == [[END], [END]]


@pytest.mark.parametrize(("limit", "kept"), [(1, []), (2, [3]), (3, [1, 3]), (5, [0, 1, 2, 3, 4])])
def test_pairs_with_a_side_above_the_limit_are_dropped_and_counted(
    codecs, frame, examples, limit, kept
):
    short = encode_pairs(frame, *codecs, maximum_tokens=limit)
    assert short.dropped == len(PAIRS) - len(kept)
    for name in ("source", "target_in", "target_out"):
        rows = getattr(examples, name).to_list()
        assert getattr(short, name).to_list() == [rows[row] for row in kept]


def test_sources_are_cut_as_a_served_model_reads_them(codecs, frame, examples):
    cut = encode_pairs(frame, *codecs, maximum_source_tokens=3)
    expected = [[*row[:-1][:2], END] for row in examples.source.to_list()]
    assert cut.source.to_list() == expected != examples.source.to_list()
    assert cut.target_out.to_list() == examples.target_out.to_list()


def test_either_side_may_be_too_long(codecs):
    frame = pd.DataFrame({"source": ["a", "a dog"], "target": ["ein Hund", "ein"]})
    assert encode_pairs(frame, *codecs, maximum_tokens=2).dropped == 2


@pytest.mark.parametrize("beam_width", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_translations_come_in_the_order_of_the_pairs(make_evaluator, batch_size, beam_width):
    """Batches are sorted by length."""
    evaluate = make_evaluator(batch_size=batch_size, beam_width=beam_width)
    assert evaluate.predict() == WRITTEN


def test_scores_are_those_of_the_written_text(make_evaluator):
    references = [target for _, target in PAIRS]
    scores = make_evaluator()()
    assert scores.keys() == {"bleu", "bleu_lowercase", "exact_match", "perplexity"}
    assert scores["bleu"] == bleu(WRITTEN, references).score
    assert scores["bleu_lowercase"] == bleu(WRITTEN, references, lowercase=True).score
    assert scores["exact_match"] == pytest.approx(100 * 3 / 5)


def test_bleu_is_computed_as_the_evaluator_is_told(make_evaluator):
    references = [target for _, target in PAIRS]
    evaluate = make_evaluator(bleu_tokenizer="char")
    expected = bleu(WRITTEN, references, tokenize="char")
    assert evaluate()["bleu"] == expected.score != make_evaluator()()["bleu"]
    assert evaluate.signature == expected.signature
    assert "|tok:13a|" in make_evaluator().signature


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_perplexity_is_per_token_of_the_reference_with_its_end(make_evaluator, batch_size):
    size = 4 + len(GERMAN)
    right = math.log1p((size - 1) * math.exp(-SHARPNESS))
    # All tokens are written but the end of the last reference, where the translator goes on.
    tokens = 5 + 3 + 5 + 2 + 3
    expected = math.exp(right + SHARPNESS / tokens)
    evaluate = make_evaluator(batch_size=batch_size)
    assert evaluate.perplexity() == pytest.approx(expected, rel=1e-5)


def test_case_counts_but_in_one_score(codecs):
    frame = pd.DataFrame({"source": ["two dogs run ."] * 2, "target": ["Zwei Hunde rennen."] * 2})
    evaluate = TranslationEvaluator(
        WordByWord(), encode_pairs(frame, *codecs), frame["target"], codecs[1]
    )
    scores = evaluate()
    assert scores["bleu_lowercase"] == pytest.approx(100)
    assert scores["bleu"] < 99


def test_graphs_are_traced_once_for_all_lengths_and_evaluations(make_evaluator):
    model = WordByWord()
    evaluate = make_evaluator(model, batch_size=1)
    evaluate()
    traces = model.traces
    assert traces < len(PAIRS)
    evaluate()
    assert model.traces == traces


def test_another_number_of_references_is_refused(codecs, examples):
    with pytest.raises(ValueError, match="references must be one for each of 5 examples, got 4"):
        TranslationEvaluator(WordByWord(), examples, ["ß"] * 4, codecs[1])


@pytest.mark.parametrize("beam_width", [1, 2, tf.constant(2)])
def test_a_search_ends_at_a_length_that_depends_on_the_source(beam_width):
    model = Endless()
    memory = model.encode({"source": tf.constant([[5, 3, 0, 0, 0], [5, 6, 7, 8, 3]])})
    found = search(model, memory, beam_width, 1.0)
    assert found.lengths[:, 0].numpy().tolist() == [14, 20]
    assert maximum_length(tf.constant([2, 5])).numpy().tolist() == [14, 20]


def test_a_beam_returns_as_many_as_asked_for_by_gnmts_normalisation():
    model = WordByWord()
    memory = model.encode({"source": tf.constant([[4, 6, 3]])})
    found = search(model, memory, 4, 0.6, n_best=3)
    assert found.tokens.shape[:2] == (1, 3)
    penalty = ((5.0 + found.lengths.numpy()) / 6.0) ** 0.6
    assert found.scores.numpy() == pytest.approx(found.log_probabilities.numpy() / penalty)
    assert found.tokens[0, 0, :3].numpy().tolist() == [*ids("ein Hund", GERMAN), END]
