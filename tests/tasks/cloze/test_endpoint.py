"""The cloze endpoint: words of the document, or given candidates, the most probable first."""

import numpy as np
import pytest
import tensorflow as tf

from tests.tasks.cloze.questions import DOCUMENT, QUERY, SLOTS, TOKENS, make_endpoint
from zoo.data.penn import penn_tokens
from zoo.tasks.cloze.endpoint import ClozeEndpoint

LIMIT = 60
AWKWARD = {
    "nothing": b"",
    "spaces": b" \t\n",
    "one word": b"tower",
    "long": b"tower of " * 2000,
    "emoji": "The 👩‍👩‍👧‍👦 built 🗼🏽 in 🇫🇷!".encode(),
    "ideographs": "埃菲爾鐵塔建於1889年。".encode(),
    "NUL": b"\0the\0 tower \0\0 was built\0",
    "invalid": b"\xff\xfe the \xc3\x28 tower \xe2\x82 was \xf0\x9f\x97 built \x80",
    "special words": b"<pad> <unk> <s> </s> <pad>",
}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("endpoint")
    return make_endpoint(folder, maximum_document_tokens=LIMIT, maximum_query_tokens=30)


@pytest.fixture(scope="module")
def answer(endpoint):
    """Both signatures in graphs, as a server runs them; NumPy in, NumPy out."""
    graphs = {
        name: tf.function(function, input_signature=signature, autograph=False)
        for name, (function, signature, _) in endpoint.endpoints().items()
    }

    def run(documents, queries, candidates=None):
        inputs = [tf.constant(documents, tf.string), tf.constant(queries, tf.string)]
        name = "serving_default"
        if candidates is not None:
            inputs.append(tf.constant(candidates, tf.string))
            name = "ranked"
        return {key: value.numpy() for key, value in graphs[name](*inputs).items()}

    return run


def of_model(endpoint, **extra):
    """Returns the model's outputs for the document and query of this file."""
    document, query = [TOKENS], [penn_tokens(QUERY)]
    texts = [tf.ragged.constant(t, dtype=tf.string) for t in (document, query, *extra.values())]
    from zoo.text.slots import ids_with_slots

    ids = [one.to_tensor() for one in ids_with_slots(endpoint.vocabulary, SLOTS, *texts)]
    names = ("document", "query", *extra)
    return endpoint.model(dict(zip(names, ids, strict=True)))


def test_outputs_have_the_documented_types_and_shapes(answer):
    outputs = answer([DOCUMENT, "The tower."], [QUERY, "XXXXX ?"])
    d, q, n = len(TOKENS), 6, len(set(TOKENS))
    expected = {
        "answer": (object, (2,)),
        "candidates": (object, (2, n)),
        "probabilities": (np.float32, (2, n)),
        "document_tokens": (object, (2, d)),
        "query_tokens": (object, (2, q)),
        "document_length": (np.int32, (2,)),
        "query_length": (np.int32, (2,)),
        "attention_document": (np.float32, (2, d)),
        "attention_query": (np.float32, (2, q)),
        "attention_query_to_document": (np.float32, (2, q, d)),
        "attention_document_to_query": (np.float32, (2, d, q)),
    }
    assert {name: (value.dtype, value.shape) for name, value in outputs.items()} == expected
    assert [token.decode() for token in outputs["document_tokens"][0]] == TOKENS
    assert outputs["query_tokens"][1].tolist() == [b"XXXXX", b"?", *[b""] * (q - 2)]
    assert outputs["document_length"].tolist() == [d, 3]
    assert outputs["query_length"].tolist() == [q, 2]


def test_candidates_are_the_document_s_words_by_their_probability(endpoint, answer):
    outputs, model = answer([DOCUMENT], [QUERY]), of_model(endpoint)
    s = model["document_attention"][0].numpy()
    totals: dict[str, float] = {}
    for token, weight in zip(TOKENS, s, strict=True):
        totals[token] = totals.get(token, 0.0) + weight
    # "Bo" and "said" are unknown words of their own; no more than the slots are told apart.
    assert len({"The", "Ada", "Bo", "said"}) == SLOTS
    ranked = sorted(totals, key=lambda token: -totals[token])
    assert [token.decode() for token in outputs["candidates"][0]] == ranked
    np.testing.assert_allclose(outputs["probabilities"][0], sorted(totals.values())[::-1], 1e-5)
    assert outputs["answer"][0].decode() == ranked[0]
    np.testing.assert_allclose(outputs["probabilities"].sum(), 1.0, rtol=1e-5)
    np.testing.assert_allclose(outputs["attention_document"][0], s, rtol=1e-5)
    np.testing.assert_allclose(outputs["attention_query"], model["query_attention"], rtol=1e-5)


def test_given_candidates_are_ranked_and_absent_ones_are_last(endpoint, answer):
    listed = ["Bo", "nowhere", "tower", "Ada"]
    free = answer([DOCUMENT], [QUERY])
    known = dict(zip(free["candidates"][0], free["probabilities"][0], strict=True))
    outputs = answer([DOCUMENT] * 2, [QUERY] * 2, [listed, ["Ada", "", "", ""]])
    expected = sorted(listed, key=lambda word: -known.get(word.encode(), 0.0))
    assert [word.decode() for word in outputs["candidates"][0]] == expected
    np.testing.assert_allclose(
        outputs["probabilities"][0],
        [known.get(word.encode(), 0.0) for word in expected],
        rtol=1e-5,
        atol=1e-7,
    )
    assert expected[-1] == "nowhere"
    assert outputs["answer"].tolist() == [expected[0].encode(), b"Ada"]
    assert outputs["candidates"][1].tolist() == [b"Ada", b"", b"", b""]
    assert outputs["probabilities"][1, 1:].tolist() == [0, 0, 0]


def test_without_a_candidate_in_the_document_there_is_no_answer(answer):
    outputs = answer([DOCUMENT, "", DOCUMENT], [QUERY] * 3, [["nowhere"], ["Ada"], [""]])
    assert outputs["answer"].tolist() == [b"", b"", b""]
    assert not outputs["probabilities"].any()
    empty = answer(["", " "], [QUERY] * 2)
    assert empty["answer"].tolist() == [b"", b""]
    assert empty["candidates"].tolist() == [[b""], [b""]]
    for name in ("probabilities", "document_length", "attention_document"):
        assert not empty[name].any(), name


@pytest.mark.parametrize(
    "query", ["", "the tower", "XXXXX and XXXXX", "XXXXXs", "tower " * 30 + "XXXXX"]
)
def test_a_query_without_exactly_one_placeholder_is_an_error(answer, endpoint, query):
    with pytest.raises(tf.errors.InvalidArgumentError, match="XXXXX exactly once"):
        answer([DOCUMENT] * 2, [QUERY, query])
    with pytest.raises(tf.errors.InvalidArgumentError, match="XXXXX exactly once"):
        endpoint.serve(tf.constant([DOCUMENT]), tf.constant([query]))


def test_any_document_has_its_words_as_candidates(answer):
    usual = answer([DOCUMENT], [QUERY])
    for kind, text in AWKWARD.items():
        outputs = answer([text, DOCUMENT.encode()], [QUERY] * 2)
        length = outputs["document_length"][0]
        words = set(outputs["document_tokens"][0][:length])
        assert set(outputs["candidates"][0]) - {b""} <= words, kind
        assert bool(outputs["answer"][0]) == bool(length), kind
        assert outputs["answer"][1] == usual["answer"][0], kind
        for name, value in outputs.items():
            assert value.dtype.kind != "f" or np.isfinite(value).all(), (kind, name)


def test_an_example_alone_equals_itself_in_a_batch(answer):
    documents = [DOCUMENT, "", DOCUMENT * 3, "The tower."]
    queries = [QUERY, QUERY, "the XXXXX ?", "XXXXX"]
    together = answer(documents, queries)
    for row, (document, query) in enumerate(zip(documents, queries, strict=True)):
        alone = answer([document], [query])
        assert together["answer"][row] == alone["answer"][0]
        count = (alone["candidates"][0] != b"").sum()
        assert (together["candidates"][row, count:] == b"").all()
        for name in ("probabilities", "attention_document", "attention_query"):
            width = alone[name].shape[1]
            np.testing.assert_allclose(
                together[name][row, :width], alone[name][0], rtol=1e-4, atol=1e-6, err_msg=name
            )
            assert not together[name][row, width:].any()


def test_long_texts_are_cut_at_their_limits(answer):
    outputs = answer(["tower was " * 500], [QUERY + " tower" * 50])
    assert outputs["document_length"] == LIMIT
    assert outputs["query_length"] == 30
    assert outputs["candidates"].shape == (1, 2)


def test_a_batch_without_rows_has_outputs_without_rows(answer):
    for candidates in (None, np.zeros((0, 3), object)):
        full = answer([DOCUMENT], [QUERY], None if candidates is None else [["Ada"]])
        empty = answer([], [], candidates)
        assert full.keys() == empty.keys()
        for name, value in empty.items():
            assert value.shape[0] == 0
            assert (value.ndim, value.dtype) == (full[name].ndim, full[name].dtype), name


def test_batch_sizes_that_differ_are_an_error(answer):
    for sizes in [(2, 3), (0, 1), (1, 0)]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="the same batch size"):
            answer([DOCUMENT] * sizes[0], [QUERY] * sizes[1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="the same batch size"):
        answer([DOCUMENT], [QUERY], [["a"], ["b"]])


def test_the_attention_sum_reader_has_but_its_one_attention(tmp_path):
    endpoint = make_endpoint(tmp_path, attention="sum")
    outputs = endpoint.serve(tf.constant([DOCUMENT]), tf.constant([QUERY]))
    assert {name for name in outputs if name.startswith("attention")} == {"attention_document"}


def test_candidates_are_taken_only_by_a_model_that_reads_them(endpoint, monkeypatch):
    assert set(endpoint.endpoints()) == {"serving_default", "ranked"}
    monkeypatch.setattr(type(endpoint.model), "OPTIONAL_INPUTS", {})
    assert set(endpoint.endpoints()) == {"serving_default"}


@pytest.mark.parametrize("limit", ["maximum_document_tokens", "maximum_query_tokens"])
def test_bad_arguments_are_refused(endpoint, limit):
    with pytest.raises(ValueError, match=f"{limit} must be at least 1, got 0"):
        ClozeEndpoint(endpoint.model, endpoint.vocabulary, SLOTS, **{limit: 0})
    with pytest.raises(ValueError, match="model must have the 21 ids"):
        ClozeEndpoint(endpoint.model, endpoint.vocabulary, SLOTS + 1)
