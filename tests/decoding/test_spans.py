"""The best span against trying all."""

import numpy as np
import pytest
import tensorflow as tf

from tests.references import dcn
from zoo.decoding.spans import best_spans

LIMITS = [None, 1, np.int64(3), 7, 1000]


def logits(batch, length, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(0.0, 2.0, (2, batch, length)).astype("float32")


def assert_best(spans, start_logits, end_logits, maximum_length):
    """Each row's span is the one found by trying all within its own length."""
    for row, (start, end) in enumerate(zip(start_logits, end_logits, strict=True)):
        expected = dcn.best_span(start, end, maximum_length or len(start))
        assert (int(spans.starts[row]), int(spans.ends[row])) == expected[:2]
        np.testing.assert_allclose(spans.log_probabilities[row], expected[2], rtol=1e-5)


@pytest.mark.parametrize("maximum_length", LIMITS)
@pytest.mark.parametrize("length", [1, 2, 7])
def test_no_span_within_the_limit_is_better(maximum_length, length):
    start, end = logits(64, length)
    spans = best_spans(start, end, maximum_length)
    assert spans.starts.dtype == spans.ends.dtype == "int32"
    assert spans.log_probabilities.dtype == "float32"
    assert_best(spans, start, end, maximum_length)


@pytest.mark.parametrize("maximum_length", LIMITS)
def test_padding_changes_nothing(maximum_length):
    lengths = [7, 1, 4]
    start, end = logits(3, 7)
    real = np.arange(7) < np.array(lengths)[:, None]
    padded = [np.where(real, x, np.float32(-1e30)) for x in (start, end)]
    spans = best_spans(*padded, maximum_length)
    cut = [[row[:length] for row, length in zip(x, lengths, strict=True)] for x in (start, end)]
    assert_best(spans, *cut, maximum_length)


@pytest.mark.parametrize(
    ("maximum_length", "expected"), [(None, (0, 4)), (5, (0, 4)), (4, (0, 3)), (1, (0, 0))]
)
def test_the_limit_counts_tokens_and_the_earliest_of_equals_wins(maximum_length, expected):
    start = np.array([[9.0, 0.0, 0.0, 0.0, 0.0]], "float32")
    end = np.array([[1.0, 1.0, 1.0, 2.0, 9.0]], "float32")
    spans = best_spans(start, end, maximum_length)
    assert (int(spans.starts[0]), int(spans.ends[0])) == expected
    equal = best_spans(np.zeros((1, 5), "float32"), np.zeros((1, 5), "float32"), maximum_length)
    assert (int(equal.starts[0]), int(equal.ends[0])) == (0, 0)


def test_an_end_before_the_start_is_no_answer():
    start = np.array([[0.0, 0.0, 9.0]], "float32")
    end = np.array([[9.0, 0.0, 1.0]], "float32")
    spans = best_spans(start, end)
    assert int(spans.starts[0]) <= int(spans.ends[0])
    assert_best(spans, start, end, None)


def test_half_precision_is_scored_in_single():
    start, end = (x.astype("float16") for x in logits(8, 7))
    spans = best_spans(start, end, 3)
    assert spans.log_probabilities.dtype == "float32"
    assert_best(spans, start.astype("float32"), end.astype("float32"), 3)


def test_a_row_of_padding_and_no_row_at_all_are_fine():
    nothing = np.full((1, 4), -1e30, "float32")
    spans = best_spans(nothing, nothing, 2)
    assert np.isfinite(spans.log_probabilities).all()
    assert (int(spans.starts[0]), int(spans.ends[0])) == (0, 0)
    assert best_spans(nothing[:0], nothing[:0]).starts.shape == (0,)


@pytest.mark.parametrize("maximum_length", [None, 3])
def test_one_graph_serves_every_size(maximum_length):
    traces = []

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.float32)] * 2, autograph=False)
    def graph(start, end):
        traces.append(start)
        return best_spans(start, end, maximum_length)

    for batch, length in ((1, 1), (4, 2), (3, 7)):
        start, end = logits(batch, length)
        assert_best(graph(start, end), start, end, maximum_length)
    assert len(traces) == 1


@pytest.mark.parametrize("maximum_length", [0, -1])
def test_a_limit_without_a_token_is_refused(maximum_length):
    with pytest.raises(
        ValueError, match=f"maximum_length must be at least 1, got {maximum_length}"
    ):
        best_spans(*logits(1, 3), maximum_length)


@pytest.mark.parametrize("rows", [0, 2])
def test_a_text_without_a_token_is_refused(rows):
    nothing = tf.zeros((rows, 0))
    with pytest.raises(ValueError, match=r"start_logits must have a token at least, got shape \("):
        best_spans(nothing, nothing)
    graph = tf.function(
        best_spans, input_signature=[tf.TensorSpec((None, None))] * 2, autograph=False
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="start_logits must be at least 1"):
        graph(nothing, nothing)
