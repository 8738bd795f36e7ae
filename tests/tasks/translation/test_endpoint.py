"""The translation endpoint: defined answers with aligned shapes, whatever the strings hold."""

import numpy as np
import pytest
import tensorflow as tf

from tests.tasks.translation.translators import WordByWord, make_codecs
from tests.text.codecs import STRANGE
from zoo.models.core.registry import find_model
from zoo.serving.cards import DataRecord
from zoo.serving.export import describe, export_servable
from zoo.serving.load import load_servable
from zoo.tasks.translation.endpoint import TranslationEndpoint

LIMIT = 30
TEXT = "two dogs run ."


def make_model(name, codecs, seed=5):
    """Random weights, large, so that maps and probabilities are far from uniform."""
    source, target = (codec.vocabulary_size for codec in codecs)
    model = find_model(name).cls.from_preset(
        "tiny", source_vocabulary_size=source, target_vocabulary_size=target
    )
    model.build()
    generator = np.random.default_rng(seed)
    for weight in model.weights:
        weight.assign(generator.normal(size=weight.shape))
    return model


@pytest.fixture(scope="module")
def codecs(tmp_path_factory):
    return make_codecs(tmp_path_factory.mktemp("codecs"))


@pytest.fixture(scope="module")
def endpoint(codecs):
    model = make_model("RNNsearch", codecs)
    return TranslationEndpoint(model, *codecs, beam_width=3, maximum_source_tokens=LIMIT)


def test_the_card_names_the_tokeniser_of_bleu_unless_it_is_the_usual_one(endpoint, codecs):
    assert endpoint.get_config().keys() == {"source", "target"}
    other = TranslationEndpoint(endpoint.model, *codecs, bleu_tokenizer="zh")
    assert other.get_config() == endpoint.get_config() | {"bleu_tokenizer": "zh"}


def compiled(endpoint):
    """Signature -> the endpoint in a graph, as a server runs it; NumPy in, NumPy out."""

    def server(function, signature):
        graph = tf.function(function, input_signature=signature, autograph=False)

        def serve(texts, *numbers):
            outputs = graph(tf.constant(texts, tf.string), *numbers)
            return {name: value.numpy() for name, value in outputs.items()}

        return serve

    return {name: server(*parts) for name, (*parts, _) in endpoint.endpoints().items()}


@pytest.fixture(scope="module")
def servers(endpoint):
    return compiled(endpoint)


@pytest.fixture(scope="module")
def translate(servers):
    return servers["serving_default"]


@pytest.fixture(scope="module")
def beam(servers):
    def serve(texts, beam_width, length_penalty=1.0):
        return servers["beam"](texts, np.int32(beam_width), np.float32(length_penalty))

    return serve


def check_row(outputs, row, codec):
    """Checks invariants of every translation: lengths, padding, weights and valid text."""
    source_length, length = outputs["source_length"][row], outputs["target_length"][row]
    source, target = outputs["source_tokens"][row], outputs["target_tokens"][row]
    for tokens, count in ((source, source_length), (target, length)):
        assert all(tokens[:count])
        assert not any(tokens[count:])
    assert (length == 0) == (source_length == 0)
    if length:
        assert source[source_length - 1] == b"</s>"
        assert (target[length - 1] == b"</s>") or length == 2 * source_length + 10
        assert outputs["score"][row] < 0
    else:
        assert outputs["score"][row] == 0
        assert outputs["translation"][row] == b""
    assert np.isfinite(outputs["score"][row])
    outputs["translation"][row].decode("utf-8")  # strictly
    assert outputs["translation"][row] == codec.join(target[None]).numpy()[0]
    weights = outputs["attention_alignment"][row]
    np.testing.assert_allclose(weights[:length, :source_length].sum(axis=1), 1, rtol=1e-5)
    assert not weights[length:].any()
    assert not weights[:, source_length:].any()


def test_outputs_have_the_documented_types_and_shapes(translate, beam):
    texts = [TEXT, "a dog", ""]
    outputs = translate(texts)
    s, t = 5, outputs["target_length"].max()
    expected = {
        "translation": (object, (3,)),
        "score": (np.float32, (3,)),
        "source_tokens": (object, (3, s)),
        "target_tokens": (object, (3, t)),
        "source_length": (np.int32, (3,)),
        "target_length": (np.int32, (3,)),
        "attention_alignment": (np.float32, (3, t, s)),
    }
    assert {name: (value.dtype, value.shape) for name, value in outputs.items()} == expected
    assert outputs["source_tokens"][1].tolist() == [b"a", b"dog", b"</s>", b"", b""]
    assert outputs["source_length"].tolist() == [5, 3, 0]
    several = beam(texts, 4)
    t = several["target_length"].max()
    for name in ("translation", "score", "target_length"):
        expected[name] = (expected[name][0], (3, 4))
    expected["target_tokens"] = (object, (3, 4, t))
    expected["attention_alignment"] = (np.float32, (3, 4, t, s))
    assert {name: (value.dtype, value.shape) for name, value in several.items()} == expected


@pytest.mark.parametrize("name", ["RNNsearch", "LuongTranslator"])
def test_any_string_has_a_translation(codecs, name):
    """Beside an ordinary text, whose translation stays the same."""
    endpoint = TranslationEndpoint(make_model(name, codecs), *codecs, maximum_source_tokens=LIMIT)
    translate = compiled(endpoint)["serving_default"]
    usual = translate([TEXT])
    outputs = translate([TEXT.encode(), *STRANGE])
    if name == "RNNsearch":  # under the Gaussian of local-p weights sum to less
        for row in range(1 + len(STRANGE)):
            check_row(outputs, row, codecs[1])
    for text in outputs["translation"]:
        text.decode("utf-8")  # strictly
    assert outputs["translation"][0] == usual["translation"][0]
    np.testing.assert_allclose(outputs["score"][0], usual["score"][0], rtol=1e-4)
    lengths = dict(zip(STRANGE, outputs["source_length"][1:].tolist(), strict=True))
    assert [lengths[text] for text in (b"", b"  \t\xc2\xa0 ", b"a")] == [0, 0, 2]
    assert lengths[b"word " * 500] == LIMIT


def test_random_bytes_have_a_translation(translate, codecs):
    generator = np.random.default_rng(0)
    alphabet = np.frombuffer(b"\0 \n\xc3\xa9\xe2\x80\x8b\xff\xf0\x9f\x97\xbcaZ0.,'\xcc", "uint8")
    texts = [generator.choice(alphabet, generator.integers(1, 40)).tobytes() for _ in range(30)]
    texts += [generator.integers(0, 256, 30, "uint8").tobytes() for _ in range(30)]
    outputs = translate(texts)
    for row in range(len(texts)):
        check_row(outputs, row, codecs[1])


def test_a_text_alone_equals_itself_in_a_batch(translate):
    """Also beside texts without a token and far longer ones."""
    texts = [TEXT, "", TEXT * 9, "a cat", "."]
    together = translate(texts)
    for row, text in enumerate(texts):
        alone = translate([text])
        assert together["translation"][row] == alone["translation"][0]
        np.testing.assert_allclose(together["score"][row], alone["score"][0], rtol=1e-4)
        length, width = alone["target_length"][0], alone["source_length"][0]
        assert together["target_length"][row] == length
        np.testing.assert_allclose(
            together["attention_alignment"][row, :length, :width],
            alone["attention_alignment"][0, :length, :width],
            atol=1e-5,
        )


def test_a_long_text_is_cut_at_the_limit_and_still_ends(translate):
    outputs = translate(["a dog " * 500])
    assert outputs["source_length"] == LIMIT
    assert outputs["source_tokens"].shape == (1, LIMIT)
    assert outputs["source_tokens"][0, -2:].tolist() == [b"a", b"</s>"]
    same = translate([("a dog " * LIMIT)[: 3 * LIMIT - 4]])
    for name, value in outputs.items():
        np.testing.assert_array_equal(same[name], value, name)


@pytest.mark.parametrize("texts", [[], [""], [" ", "\n"]], ids=["no rows", "empty", "spaces"])
def test_texts_without_a_token_have_outputs_without_content(translate, beam, texts):
    several, full = beam(texts, 2), beam([TEXT], 2)
    assert (several["score"] == [0, -np.inf]).all()  # one translation there is: the empty one
    several["score"] = np.maximum(several["score"], 0)
    for outputs, usual in ((translate(texts), translate([TEXT])), (several, full)):
        assert outputs.keys() == usual.keys()
        for name, value in outputs.items():
            assert len(value) == len(texts)
            assert (value.ndim, value.dtype) == (usual[name].ndim, usual[name].dtype), name
            assert not value.any(), name


def test_models_are_spared_empty_tensors(endpoint):
    """Not every model copes with them."""
    shapes = []

    class Spy(WordByWord):
        def encode(self, inputs):
            shapes.append(tuple(inputs["source"].shape))
            return super().encode(inputs)

    # Greedily, which is not traced but run as it stands.
    spied = TranslationEndpoint(Spy(), endpoint.source_codec, endpoint.target_codec, beam_width=1)
    for texts in ([], [""]):
        spied.serve(tf.constant(texts, tf.string))
    assert shapes == [(1, 1), (1, 1)]


def test_the_beam_returns_its_best_first(beam, translate):
    texts = [TEXT, "a dog", "a"]
    outputs = beam(texts, 3)
    assert (np.diff(outputs["score"], axis=1) <= 0).all()
    one = translate(texts)
    np.testing.assert_array_equal(outputs["translation"][:, 0], one["translation"])
    np.testing.assert_allclose(outputs["score"][:, 0], one["score"], rtol=1e-5)


@pytest.mark.parametrize("width", [1, 40])
def test_any_width_that_is_positive_is_searched(beam, width, codecs):
    outputs = beam([TEXT, "ł"], width)
    assert outputs["translation"].shape == (2, width)
    for rank in (0, width - 1):
        shared = ("source_tokens", "source_length")
        ranked = {k: value if k in shared else value[:, rank] for k, value in outputs.items()}
        check_row(ranked, 0, codecs[1])


@pytest.mark.parametrize("width", [0, -3])
def test_a_width_below_one_is_an_error(beam, endpoint, width):
    message = "beam_width must be at least 1"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        beam([TEXT], width)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        endpoint.serve_beam(tf.constant([TEXT]), tf.constant(width), tf.constant(1.0))


def test_the_length_penalty_divides_the_log_probability(beam):
    plain, divided = beam([TEXT], 8, 0.0), beam([TEXT], 8, 0.7)
    scores = {}
    for row, length in enumerate(plain["target_length"][0]):
        scores[tuple(plain["target_tokens"][0, row, :length])] = plain["score"][0, row]
    shared = 0
    for row, length in enumerate(divided["target_length"][0]):
        tokens = tuple(divided["target_tokens"][0, row, :length])
        if tokens in scores:
            shared += 1
            expected = scores[tokens] / ((5 + length) / 6) ** 0.7
            np.testing.assert_allclose(divided["score"][0, row], expected, rtol=1e-4)
    assert shared


def test_unknown_words_are_copied_as_they_were_written(codecs):
    endpoint = TranslationEndpoint(WordByWord(), *codecs)
    text = "two \U0001f415 run , Łódź \U0001f5fc\ufe0f"
    outputs = compiled(endpoint)["serving_default"]([text, "a cat"])
    tokens = outputs["source_tokens"][0][: outputs["source_length"][0] - 1]
    expected = [b"zwei", tokens[1], b"rennen", b",", "Łódź".encode(), *tokens[5:], b"</s>"]
    assert outputs["target_tokens"][0].tolist() == expected
    assert outputs["translation"][0].decode().startswith("zwei \U0001f415 rennen, Łódź \U0001f5fc")
    assert outputs["translation"][1] == b"ein cat"
    identity = np.eye(outputs["source_length"][0])
    np.testing.assert_array_equal(outputs["attention_alignment"][0], identity)


def test_unknown_words_are_translated_by_a_dictionary(codecs, tmp_path):
    """By the dictionary's entry for the word that is predicted, or that is read."""
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["run", "Zed"], ["eilen", "Zeta"]), default_value=""
    )
    predicted, read = (
        TranslationEndpoint(WordByWord(), *codecs, dictionary=table, convention=convention)
        for convention in ("predicted", "input")
    )
    assert (predicted.get_config()["dictionary"], read.get_config()["convention"]) == (
        True,
        "input",
    )
    model = make_model("RNNencdec", codecs)  # stands in: the other has no weights to export
    facts = {"task": "translation", "metrics": {}, "seed": 0, "wall_time_seconds": 0.0}
    card = describe(model, data=DataRecord("none", "none", "none"), **facts)
    endpoints = predicted.endpoints() | {"read": read.endpoints()["serving_default"]}
    assets = [*predicted.assets, *read.assets]
    export_servable(tmp_path / "model", model, endpoints, assets=assets, card=card)
    served = load_servable(tmp_path / "model").signatures
    for signature, first in (("serving_default", "Zeta"), ("read", "eilen")):
        answer = served[signature](text=tf.constant(["Zed run"]))["translation"]
        assert answer == f"{first} rennen".encode(), signature


def test_a_greedy_score_is_divided_like_that_of_a_beam(codecs):
    model = make_model("LuongTranslator", codecs)
    endpoint = TranslationEndpoint(model, *codecs, beam_width=1, length_penalty=0.7)
    texts = tf.constant([TEXT, "a dog", ""])
    alone = endpoint.serve(texts)
    beam = endpoint.serve_beam(texts, tf.constant(1), tf.constant(0.7))
    np.testing.assert_array_equal(beam["translation"][:, 0], alone["translation"])
    np.testing.assert_allclose(beam["score"][:, 0], alone["score"], rtol=1e-5)


def test_a_model_without_attention_has_no_map_and_leaves_unknown_words_out(codecs):
    model = make_model("RNNencdec", codecs)
    endpoint = TranslationEndpoint(model, *codecs)
    outputs = compiled(endpoint)["beam"]([TEXT, ""], np.int32(30), np.float32(1.0))
    assert "attention_alignment" not in outputs
    unknown = [b"<unk>" in tokens for tokens in outputs["target_tokens"][0].tolist()]
    assert any(unknown)
    assert not any(b"<unk>" in text for text in outputs["translation"][0].tolist())


def test_heads_are_those_of_the_model_reading_its_own_translation(codecs):
    model = make_model("Transformer", codecs)
    endpoint = TranslationEndpoint(model, *codecs, beam_width=2)
    servers = compiled(endpoint)
    texts = [TEXT, "", "a dog"]
    usual, outputs = servers["serving_default"](texts), servers["heads"](texts)
    assert outputs.keys() - usual.keys() == {
        f"attention_{n}" for n in ("encoder", "decoder", "cross")
    }
    for name, value in usual.items():
        np.testing.assert_array_equal(outputs[name], value, err_msg=name)
    for row, text in enumerate(texts):
        alone, width, length = servers["heads"]([text]), *lengths_of(outputs, row)
        sides = {"encoder": (width, width), "decoder": (length, length), "cross": (length, width)}
        for name, (queries, keys) in sides.items():
            maps = outputs[f"attention_{name}"][row]
            assert maps.shape[:2] == (model.depth, model.num_heads)
            np.testing.assert_allclose(maps[..., :queries, :keys].sum(axis=-1), 1, rtol=1e-5)
            np.testing.assert_allclose(maps.sum(), maps[..., :queries, :keys].sum(), rtol=1e-5)
            own = alone[f"attention_{name}"][0][..., :queries, :keys]
            np.testing.assert_allclose(maps[..., :queries, :keys], own, atol=1e-5)
    # The step by step alignment of the search, against all positions at once.
    np.testing.assert_allclose(
        outputs["attention_cross"][:, model.aligned_layer].mean(axis=1),
        outputs["attention_alignment"],
        atol=1e-5,
    )
    decoder = outputs["attention_decoder"]
    assert not np.triu(decoder, 1).any()


def lengths_of(outputs, row):
    return int(outputs["source_length"][row]), int(outputs["target_length"][row])


@pytest.mark.parametrize("texts", [[], [""], [TEXT]], ids=["no rows", "empty", "one"])
def test_heads_of_few_rows_have_their_shapes(codecs, texts):
    endpoint = TranslationEndpoint(make_model("Transformer", codecs), *codecs, beam_width=1)
    outputs = {k: v.numpy() for k, v in endpoint.serve_heads(tf.constant(texts, tf.string)).items()}
    steps, columns = outputs["target_tokens"].shape[1], outputs["source_tokens"].shape[1]
    assert bool(steps) == (texts == [TEXT])
    rows = (len(texts), 2, 2)
    assert outputs["attention_encoder"].shape == (*rows, columns, columns)
    assert outputs["attention_decoder"].shape == (*rows, steps, steps)
    assert outputs["attention_cross"].shape == (*rows, steps, columns)


def test_only_models_with_heads_have_that_signature(endpoint):
    assert endpoint.endpoints().keys() == {"serving_default", "beam"}


def test_eager_equals_graph(endpoint, translate):
    outputs = translate([TEXT, ""])
    for name, value in endpoint.serve(tf.constant([TEXT, ""])).items():
        if value.dtype == tf.float32:
            np.testing.assert_allclose(outputs[name], value, rtol=1e-5, atol=1e-6)
        else:
            assert outputs[name].tolist() == value.numpy().tolist()


@pytest.mark.parametrize(("limit", "least"), [("beam_width", 1), ("maximum_source_tokens", 2)])
def test_a_limit_that_leaves_nothing_is_refused(endpoint, codecs, limit, least):
    TranslationEndpoint(endpoint.model, *codecs, **{limit: least})
    with pytest.raises(ValueError, match=f"{limit} must be at least {least}, got {least - 1}"):
        TranslationEndpoint(endpoint.model, *codecs, **{limit: least - 1})
