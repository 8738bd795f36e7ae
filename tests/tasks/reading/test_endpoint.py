"""The reading endpoint: exact pieces of the context, whatever the strings are made of."""

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.reading import make_endpoint
from zoo.tasks.reading.endpoint import ReadingEndpoint

QUESTION = "Who built the tower?"
CONTEXT = "The tower was built in 1889 by a firm of engineers."
LIMIT = 300

AWKWARD = {
    "nothing": b"",
    "spaces": b" \t\n \xc2\xa0\xe3\x80\x80 ",
    "one word": b"tower",
    "a mark": b"?",
    "long": b"tower of " * 10_000,
    "emoji": "The 👩‍👩‍👧‍👦 built 🗼🏽 in 🇫🇷!".encode(),
    "combining marks": "Le\u0301o\u0308 bui\u0323\u0307lt a\u030a tower".encode(),
    "only combining marks": "\u0301\u0308\u0323".encode(),
    "right to left": "מי בנה את המגדל? من بنى البرج ؟".encode(),
    "direction marks": "\u202ethe tower\u202c \u200fwas\u200e built".encode(),
    "ideographs": "埃菲爾鐵塔建於1889年。".encode(),
    "NUL": b"\0the\0 tower \0\0 was built\0",
    "only NUL": b"\0",
    "invalid": b"\xff\xfe the \xc3\x28 tower \xe2\x82 was \xf0\x9f\x97 built \x80",
    "a cut character": "tower été".encode()[:-1],
    "a surrogate": b"the \xed\xa0\x80 tower",
    "one long word": b"a" * 100_000,
    "byte order mark": b"\xef\xbb\xbfthe tower",
}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    return make_endpoint(
        tmp_path_factory.mktemp("endpoint"),
        maximum_context_tokens=LIMIT,
        maximum_question_tokens=40,
        maximum_answer_tokens=5,
    )


@pytest.fixture(scope="module")
def answer(endpoint):
    """The endpoint in a graph, as a server runs it; NumPy in, NumPy out."""
    function, signature, _ = endpoint.endpoints()["serving_default"]
    graph = tf.function(function, input_signature=signature, autograph=False)

    def run(questions, contexts):
        outputs = graph(tf.constant(questions, tf.string), tf.constant(contexts, tf.string))
        return {name: value.numpy() for name, value in outputs.items()}

    return run


def check_answers(outputs, contexts, kind=""):
    """Checks invariants of every answer: a span of a non-empty context, and finite figures."""
    for row, context in enumerate(contexts):
        start, end = outputs["start"][row], outputs["end"][row]
        assert 0 <= start <= end <= len(context), (kind, row)
        assert outputs["answer"][row] == context[start:end], (kind, row)
        if outputs["context_length"][row]:
            assert start < end, (kind, row)
            assert 0 < outputs["score"][row] <= 1 + 1e-6, (kind, row)
        else:
            assert (start, end, outputs["score"][row]) == (0, 0, 0), (kind, row)
    for name, value in outputs.items():
        assert value.dtype.kind != "f" or np.isfinite(value).all(), (kind, name)


def test_outputs_have_the_documented_types_and_shapes(answer):
    outputs = answer([QUESTION, "When?"], [CONTEXT, "In 1889."])
    n, m, iterations = 5, 11 + 1, 3
    expected = {
        "answer": (object, (2,)),
        "score": (np.float32, (2,)),
        "start": (np.int32, (2,)),
        "end": (np.int32, (2,)),
        "start_per_iteration": (np.int32, (2, iterations)),
        "end_per_iteration": (np.int32, (2, iterations)),
        "start_probabilities": (np.float32, (2, iterations, m)),
        "end_probabilities": (np.float32, (2, iterations, m)),
        "question_tokens": (object, (2, n)),
        "context_tokens": (object, (2, m)),
        "question_length": (np.int32, (2,)),
        "context_length": (np.int32, (2,)),
        "attention_context_to_question": (np.float32, (2, m, n + 1)),
        "attention_question_to_context": (np.float32, (2, n, m + 1)),
    }
    assert {name: (value.dtype, value.shape) for name, value in outputs.items()} == expected
    assert outputs["question_tokens"][0].tolist() == [b"Who", b"built", b"the", b"tower", b"?"]
    assert outputs["context_tokens"][1].tolist() == [b"In", b"1889", b"."] + [b""] * (m - 3)
    assert outputs["question_length"].tolist() == [5, 2]
    assert outputs["context_length"].tolist() == [12, 3]


def test_answer_is_the_most_probable_span_of_the_model(endpoint, answer):
    """Against a search over all spans of the model's own logits."""
    tokens = endpoint.tokenizer(tf.constant([CONTEXT]))
    ids = endpoint.vocabulary.ids(tokens.folded).to_tensor()
    question = endpoint.vocabulary.ids(endpoint.tokenizer(tf.constant([QUESTION])).folded)
    model_outputs = endpoint.model({"question": question.to_tensor(), "context": ids})
    start, end = (tf.nn.softmax(model_outputs[name])[0].numpy() for name in ("start", "end"))
    spans = [(first, last) for first in range(12) for last in range(first, min(first + 5, 12))]
    first, last = max(spans, key=lambda span: start[span[0]] * end[span[1]])
    outputs = answer([QUESTION], [CONTEXT])
    assert outputs["start"] == tokens.starts[0, first]
    assert outputs["end"] == tokens.ends[0, last]
    np.testing.assert_allclose(outputs["score"], [start[first] * end[last]], rtol=1e-5)


def test_iterations_are_the_model_s_estimates_in_bytes(endpoint, answer):
    outputs = answer([QUESTION], [CONTEXT])
    tokens = endpoint.tokenizer(tf.constant([CONTEXT]))
    for side, offsets in (("start", tokens.starts), ("end", tokens.ends)):
        probabilities = outputs[f"{side}_probabilities"][0]  # (I, m)
        np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-5)
        best = offsets[0].numpy()[probabilities.argmax(-1)]
        assert outputs[f"{side}_per_iteration"][0].tolist() == best.tolist()


def test_any_string_has_an_answer(answer):
    """As a question, as a context and as both, beside an ordinary example that stays the same."""
    usual = answer([QUESTION], [CONTEXT])
    for kind, text in AWKWARD.items():
        questions = [text, QUESTION.encode(), text, QUESTION.encode()]
        contexts = [CONTEXT.encode(), text, text, CONTEXT.encode()]
        outputs = answer(questions, contexts)
        check_answers(outputs, contexts, kind)
        assert outputs["answer"][3] == usual["answer"][0], kind
        np.testing.assert_allclose(outputs["score"][3], usual["score"][0], 1e-5, err_msg=kind)


def test_random_bytes_have_an_answer(answer):
    generator = np.random.default_rng(0)
    alphabet = np.frombuffer(
        b"\0 \n\xc3\xa9\xe2\x80\x8b\xff\xf0\x9f\x97\xbcaZ0.,'\xcc\x81", "uint8"
    )
    texts = [
        generator.choice(alphabet, generator.integers(1, 40)).tobytes() for _ in range(100)
    ] + [generator.integers(0, 256, 30, "uint8").tobytes() for _ in range(100)]
    check_answers(answer(texts[::-1], texts), texts)


def test_an_example_alone_equals_itself_in_a_batch(answer):
    """Also beside contexts without a token and far longer ones."""
    questions = [QUESTION, "", "a", "When ?"]
    contexts = [CONTEXT, "", CONTEXT * 9, "In 1889."]
    together = answer(questions, contexts)
    for row, (question, context) in enumerate(zip(questions, contexts, strict=True)):
        alone = answer([question], [context])
        for name in ("answer", "start", "end", "start_per_iteration", "end_per_iteration"):
            np.testing.assert_array_equal(together[name][row], alone[name][0], name)
        m = alone["start_probabilities"].shape[-1]
        for name in ("start_probabilities", "end_probabilities"):
            np.testing.assert_allclose(
                together[name][row, :, :m], alone[name][0], rtol=1e-4, atol=1e-6
            )
            assert (together[name][row, :, m:] == 0).all()
        np.testing.assert_allclose(together["score"][row], alone["score"][0], rtol=1e-5)


def test_a_context_without_tokens_has_the_empty_answer(answer):
    outputs = answer([QUESTION, QUESTION], [b"", b" \n"])
    assert outputs["answer"].tolist() == [b"", b""]
    for name in ("score", "start", "end", "start_per_iteration", "end_per_iteration"):
        assert (outputs[name] == 0).all(), name
    for name in ("start_probabilities", "end_probabilities", "attention_context_to_question"):
        assert (outputs[name] == 0).all(), name


def test_an_empty_question_is_answered_from_the_context_alone(answer):
    outputs = answer(["", " "], [CONTEXT, CONTEXT])
    check_answers(outputs, [CONTEXT.encode()] * 2)
    assert outputs["question_length"].tolist() == [0, 0]
    # No word to look at: all of the attention is on the sentinel.
    np.testing.assert_allclose(outputs["attention_context_to_question"][:, :, -1], 1, rtol=1e-6)


def test_long_texts_are_cut_at_their_limits(endpoint, answer):
    context = "tower " * 20_000
    outputs = answer(["tower " * 1000], [context])
    assert outputs["context_length"] == LIMIT
    assert outputs["question_length"] == endpoint.limits["maximum_question_tokens"]
    assert outputs["context_tokens"].shape == (1, LIMIT)
    assert outputs["end"][0] <= len("tower ") * LIMIT
    same = answer(["tower " * 40], ["tower " * LIMIT])
    np.testing.assert_allclose(outputs["start_probabilities"], same["start_probabilities"])


def test_answers_are_no_longer_than_their_limit(answer):
    contexts = [" ".join(order) for order in (["tower"] * 50, ["a", "firm"] * 25)]
    outputs = answer([QUESTION] * 2, contexts)
    assert all(1 <= len(text.split()) <= 5 for text in outputs["answer"])


def test_a_batch_without_rows_has_outputs_without_rows(answer):
    full, empty = answer([QUESTION], [CONTEXT]), answer([], [])
    assert full.keys() == empty.keys()
    for name, value in empty.items():
        assert value.shape[0] == 0
        assert (value.ndim, value.dtype) == (full[name].ndim, full[name].dtype), name


@pytest.mark.parametrize("strings", [[], [""]], ids=["no rows", "no tokens"])
def test_models_are_spared_empty_tensors(endpoint, strings):
    """Not every model copes with them."""
    shapes = []

    def model(inputs, training):
        shapes.extend(tuple(ids.shape) for ids in inputs.values())
        return endpoint.model(inputs, training=training)

    spied = ReadingEndpoint(model, endpoint.tokenizer, endpoint.vocabulary)
    spied.serve(tf.constant(strings, tf.string), tf.constant(strings, tf.string))
    assert shapes == [(1, 1), (1, 1)]


def test_a_reader_that_answers_at_once_gives_no_iterations(answer, endpoint):
    def model(inputs, training):
        outputs = endpoint.model(inputs, training=training)
        return {name: outputs[name] for name in ("start", "end", "attention")}

    at_once = ReadingEndpoint(
        model, endpoint.tokenizer, endpoint.vocabulary, maximum_answer_tokens=5
    )
    found = at_once.serve(tf.constant([QUESTION]), tf.constant([CONTEXT]))
    full = answer([QUESTION], [CONTEXT])
    iterations = {
        f"{side}_{what}" for side in ("start", "end") for what in ("per_iteration", "probabilities")
    }
    assert full.keys() - found.keys() == iterations
    assert found["answer"].numpy().tolist() == full["answer"].tolist()
    np.testing.assert_allclose(found["score"], full["score"], rtol=1e-5)


def test_batch_sizes_that_differ_are_an_error(answer, endpoint):
    message = "question and context must have the same batch size"
    for sizes in [(2, 3), (0, 1), (1, 0)]:
        strings = tf.fill(sizes[:1], QUESTION), tf.fill(sizes[1:], CONTEXT)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            answer(*strings)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            endpoint.serve(*strings)


def test_eager_equals_graph(answer, endpoint):
    outputs = answer([QUESTION, ""], [CONTEXT, ""])
    eager = endpoint.serve(tf.constant([QUESTION, ""]), tf.constant([CONTEXT, ""]))
    for name, value in eager.items():
        if value.dtype == tf.float32:
            np.testing.assert_allclose(outputs[name], value, rtol=1e-5, atol=1e-6)
        else:
            assert outputs[name].tolist() == value.numpy().tolist()


@pytest.mark.parametrize(
    "limit", ["maximum_context_tokens", "maximum_question_tokens", "maximum_answer_tokens"]
)
def test_a_limit_below_one_is_refused(endpoint, limit):
    with pytest.raises(ValueError, match=f"{limit} must be at least 1, got 0"):
        ReadingEndpoint(endpoint.model, endpoint.tokenizer, endpoint.vocabulary, **{limit: 0})
