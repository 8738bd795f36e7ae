"""Language models and classifiers of strings: texts of all kinds, limits, what is refused."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.decomposable.decomposable_attention import DecomposableAttention
from zoo.models.lstmn.lstmn_classifier import LSTMNClassifier
from zoo.models.lstmn.lstmn_inference import LSTMNInference
from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.models.self_attentive.self_attentive_classifier import SelfAttentiveClassifier
from zoo.models.self_attentive.self_attentive_inference import SelfAttentiveInference
from zoo.tasks.classification.endpoint import ClassificationEndpoint
from zoo.tasks.language_model.endpoint import LanguageModelEndpoint
from zoo.text.hashed_words import HashedWordCodec
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

WORDS = ["a", "fine", "film", "dull", "."]
TEXTS = tf.constant(["A fine film .", "", "dull", "zebra \x00 \U0001f5fc"])
LABELS = ("bad", "fair", "good")


@pytest.fixture
def codec(tmp_path):
    write_vocabulary(tmp_path / "words.txt", WORDS)
    return WordCodec(tmp_path / "words.txt", case_fold=True)


def built(model_class):
    model = model_class.from_preset("tiny", vocabulary_size=9)
    model.build()
    generator = np.random.default_rng(0)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return model


def test_words_of_a_text_are_predicted_from_those_before(codec):
    model = built(LSTMNLanguageModel)
    answers = LanguageModelEndpoint(model, codec, next_tokens=4).serve(TEXTS)
    assert answers["text_length"].numpy().tolist() == [4, 0, 1, 3]
    assert answers["text_tokens"].numpy()[0].tolist() == [b"A", b"fine", b"film", b"."]
    ids = np.array([[3, 4, 5, 6, 8]], "int32")  # </s> and the first text
    outputs = model({"text": ids})
    log = tf.nn.log_softmax(outputs["logits"])[0].numpy()
    expected = log[np.arange(4), ids[0, 1:]]
    np.testing.assert_allclose(answers["log_probabilities"][0], expected, rtol=1e-5)
    assert not answers["log_probabilities"].numpy()[1].any()
    best = [i for i in np.argsort(-log[4]) if i not in (0, 2)][:4]
    words = ["<pad>", "<unk>", "<s>", "</s>", *WORDS]
    assert answers["next_tokens"].numpy()[0].tolist() == [words[i].encode() for i in best]
    np.testing.assert_allclose(answers["next_log_probabilities"][0], log[4][best], rtol=1e-5)
    maps = answers["attention_intra"].numpy()
    assert maps.shape == (4, 2, 4, 5)
    np.testing.assert_allclose(maps[0].sum(axis=-1), 1.0, rtol=1e-5)
    inner = outputs["attention"]["intra"].numpy()[0, :, 1:]
    np.testing.assert_allclose(maps[0, ..., :4], inner[..., 1:-1], rtol=1e-5)
    assert not maps[1].any()


def test_a_classifier_names_the_most_probable_class(codec):
    model = built(LSTMNClassifier)
    answers = ClassificationEndpoint(model, codec, LABELS).serve(TEXTS)
    probabilities = answers["probabilities"].numpy()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-6)
    labels = [LABELS[i].encode() for i in probabilities.argmax(axis=1)]
    assert answers["label"].numpy().tolist() == labels
    logits = model({"text": np.array([[4, 5, 6, 8]], "int32")})["logits"]
    np.testing.assert_allclose(probabilities[:1], tf.nn.softmax(logits), rtol=1e-5)
    assert answers["attention_intra"].shape == (4, 2, 4, 5)


def test_a_limit_cuts_texts_and_an_empty_batch_has_empty_answers(codec):
    for endpoint in (
        ClassificationEndpoint(built(LSTMNClassifier), codec, LABELS, maximum_tokens=2),
        LanguageModelEndpoint(built(LSTMNLanguageModel), codec, maximum_tokens=2, next_tokens=1),
    ):
        assert endpoint.limits["maximum_tokens"] == 2
        answers = endpoint.serve(tf.constant(["a fine film", "a fine dull film"]))
        assert answers["text_length"].numpy().tolist() == [2, 2]
        for name in ("probabilities", "next_log_probabilities"):
            if name in answers:
                np.testing.assert_array_equal(*answers[name])
        nothing = endpoint.serve(tf.constant([], tf.string))
        assert nothing.keys() == answers.keys()
        assert {len(value) for value in nothing.values()} == {0}


def test_pairs_have_a_map_of_each_text_and_one_between_them(codec):
    endpoint = ClassificationEndpoint(
        built(LSTMNInference), codec, LABELS, sides=("premise", "hypothesis")
    )
    answers = endpoint.serve(tf.constant(["a fine film .", "dull"]), tf.constant(["film", ""]))
    assert answers["attention_inter"].shape == (2, 1, 4)
    assert answers["attention_premise_intra"].shape == (2, 4, 5)
    assert answers["hypothesis_length"].numpy().tolist() == [1, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="premise and hypothesis must have"):
        endpoint.serve(tf.constant(["a", "b"]), tf.constant(["a"]))


def test_what_cannot_be_is_refused(codec):
    model = built(LSTMNLanguageModel)
    for options, message in (
        ({"maximum_tokens": 0}, "maximum_tokens must be at least 1, got 0"),
        ({"next_tokens": 0}, "next_tokens must be at least 1, got 0"),
        ({"next_tokens": 8}, "next_tokens must be at most 7, got 8"),
    ):
        with pytest.raises(ValueError, match=message):
            LanguageModelEndpoint(model, codec, **options)
    for labels in ((), ("good", "good")):
        with pytest.raises(ValueError, match=r"labels must differ, got \[.*\]"):
            ClassificationEndpoint(built(LSTMNClassifier), codec, labels)


def test_odd_texts_have_defined_answers(codec):
    """An empty text has no hops to sum; unknown words are words; a long text is cut."""
    model = built(SelfAttentiveClassifier)
    endpoint = ClassificationEndpoint(model, codec, LABELS, maximum_tokens=50)
    texts = ["", "dull", "zebra " * 3, "a fine film " * 7_000]
    answers = {name: v.numpy() for name, v in endpoint.serve(tf.constant(texts)).items()}
    assert answers["text_length"].tolist() == [0, 1, 3, 50]
    assert np.isfinite(answers["probabilities"]).all()
    sums = answers["attention_hops"].sum(axis=2)
    np.testing.assert_allclose(sums, [[0, 0], [1, 1], [1, 1], [1, 1]], rtol=1e-5)
    nothing = model.classifier(np.zeros((1, 12), "float32"))
    np.testing.assert_allclose(answers["probabilities"][:1], tf.nn.softmax(nothing), rtol=1e-5)
    for row, text in enumerate(texts):
        alone = endpoint.serve(tf.constant([text]))["probabilities"]
        np.testing.assert_allclose(alone[0], answers["probabilities"][row], rtol=1e-4)


def test_embeddings_are_a_signature_of_their_own(codec):
    model = built(SelfAttentiveClassifier)
    endpoint = ClassificationEndpoint(model, codec, LABELS)
    assert endpoint.endpoints().keys() == {"serving_default", "embed"}
    answers = endpoint.embed(TEXTS)
    assert answers["embedding"].shape == (4, 2, 6)
    assert answers.keys() == {"embedding", "text_tokens", "text_length", "attention_hops"}
    expected = model.embed({"text": np.array([[4, 5, 6, 8]], "int32")})["embedding"]
    np.testing.assert_allclose(answers["embedding"][:1], expected, rtol=1e-5)
    assert not answers["embedding"].numpy()[1].any()  # of the empty text
    assert ClassificationEndpoint(built(LSTMNClassifier), codec, LABELS).endpoints().keys() == {
        "serving_default"
    }


def test_one_text_of_a_pair_may_be_empty(codec):
    endpoint = ClassificationEndpoint(
        built(SelfAttentiveInference), codec, LABELS, sides=("premise", "hypothesis")
    )
    pairs = tf.constant(["a fine film .", "", ""]), tf.constant(["", "dull", ""])
    answers = endpoint.serve(*pairs)
    assert np.isfinite(answers["probabilities"].numpy()).all()
    np.testing.assert_allclose(*answers["probabilities"].numpy()[:2], rtol=1e-5)  # factors of 0
    read = endpoint.embed(*pairs)
    assert read["premise_embedding"].shape == read["hypothesis_embedding"].shape == (3, 2, 6)
    assert read["attention_premise_hops"].shape == (3, 2, 4)


def test_odd_pairs_have_defined_answers(tmp_path):
    """Beside an empty sentence words are compared with NULL; unknown words are hashed."""
    write_vocabulary(tmp_path / "words.txt", WORDS[:2])
    codec = HashedWordCodec(tmp_path / "words.txt", hashed_words=3, case_fold=True)
    assert len(codec.words) == 9
    model = built(DecomposableAttention)
    pair = {"sides": ("premise", "hypothesis"), "maximum_tokens": 50}
    endpoint = ClassificationEndpoint(model, codec, LABELS, **pair)
    premises = ["", "a fine film", "", "zebra \x00", "a", "a fine film " * 7_000]
    hypotheses = ["", "", "dull", "unknown words", "fine", "a"]
    answers = endpoint.serve(tf.constant(premises), tf.constant(hypotheses))
    answers = {name: value.numpy() for name, value in answers.items()}
    lengths = answers["premise_length"], answers["hypothesis_length"]
    assert [one.tolist() for one in lengths] == [[0, 3, 0, 2, 1, 50], [0, 0, 1, 2, 1, 1]]
    assert np.isfinite(answers["probabilities"]).all()
    for name in ("premise_to_hypothesis", "premise_intra"):
        sums = answers[f"attention_{name}"].sum(axis=2)
        expected = np.arange(sums.shape[1]) < lengths[0][:, None]
        np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-6)
    aligned = answers["attention_premise_to_hypothesis"][1]  # to no words
    np.testing.assert_allclose(aligned[:3, -1], 1, rtol=1e-6)
    for row, texts in enumerate(zip(premises, hypotheses, strict=True)):
        alone = endpoint.serve(*(tf.constant([text]) for text in texts))["probabilities"]
        np.testing.assert_allclose(alone[0], answers["probabilities"][row], rtol=1e-4)


@pytest.mark.parametrize(
    "model_class", [SelfAttentiveClassifier, SelfAttentiveInference, DecomposableAttention]
)
def test_empty_texts_are_trained_on(model_class):
    """Norms, softmaxes and penalties of nothing have a gradient."""
    model = built(model_class)
    model.compile("sgd", run_eagerly=True)
    first = np.array([[4, 1, 6], [0, 0, 0], [8, 0, 0], [0, 0, 0]], "int32")
    second = np.array([[5], [4], [0], [0]], "int32")
    sides = dict(zip(model.INPUTS, (first, second), strict=False))
    before = [weight.numpy() for weight in model.trainable_weights]
    assert np.isfinite(model.train_on_batch(sides, np.array([0, 1, 2, 0])))
    after = [weight.numpy() for weight in model.trainable_weights]
    assert all(np.isfinite(weight).all() for weight in after)
    assert not any(np.array_equal(*pair) for pair in zip(before, after, strict=True))
    nothing = {name: np.zeros((2, 1), "int32") for name in model.INPUTS}
    assert np.isfinite(model.train_on_batch(nothing, np.array([0, 1])))
    assert all(np.isfinite(weight.numpy()).all() for weight in model.trainable_weights)
