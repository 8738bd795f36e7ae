"""Texts are continued as the model would read them, whatever else is in the batch."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.tasks.language_model.endpoint import LanguageModelEndpoint
from zoo.text.vocabulary import END, UNKNOWN, write_vocabulary
from zoo.text.words import WordCodec

WORDS = ["a", "fine", "film", "dull", "."]
ALL = ["<pad>", "<unk>", "<s>", "</s>", *WORDS]
TEXTS = ["a fine film", "", "dull", "film . a dull fine film ."]
GREEDY = {"new_tokens": 6, "temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": 0} | {
    "forbid_unknown": False
}
DRAWN = GREEDY | {"temperature": 1.0}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "words.txt"
    write_vocabulary(path, WORDS)
    model = LSTMNLanguageModel.from_preset("tiny", vocabulary_size=9)
    model.build()
    generator = np.random.default_rng(0)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return LanguageModelEndpoint(model, WordCodec(path, split_on="spaces"), next_tokens=4)


@pytest.fixture(scope="module")
def generate(endpoint):
    """Gives `generate(texts, **numbers)` -> arrays, as the graph that is exported."""
    signature = endpoint.endpoints()["generate"]
    function = tf.function(signature.function, input_signature=signature.signature, autograph=False)

    def ask(texts, **numbers):
        types = {spec.name: spec.dtype for spec in signature.signature}
        given = {name: tf.constant(value, types[name]) for name, value in numbers.items()}
        answer = function(tf.constant(texts, tf.string), **given)
        return {name: value.numpy() for name, value in answer.items()}

    return ask


def log_probabilities(endpoint, ids):
    """Reads a whole text at once; gives those of each next word."""
    return tf.nn.log_softmax(endpoint.model({"text": np.array([ids], "int32")})["logits"])[
        0
    ].numpy()


def ids_of(text):
    return [END, *(ALL.index(word) for word in text.split())]


def test_greedily_each_word_is_the_likeliest_after_all_before(endpoint, generate):
    answer = generate(TEXTS, **GREEDY)
    assert answer["generated_length"].max() == 6
    for row, text in enumerate(TEXTS):
        ids, score = ids_of(text), 0.0
        length = answer["generated_length"][row]
        for word in answer["generated_tokens"][row, :length]:
            log = log_probabilities(endpoint, ids)[-1]
            allowed = np.where(np.isin(np.arange(len(ALL)), (0, 2)), -np.inf, log)
            assert word.decode() == ALL[allowed.argmax()]
            ids.append(int(allowed.argmax()))
            score += log[ids[-1]]
        np.testing.assert_allclose(answer["score"][row], score, rtol=1e-4)
        assert length == 6 or ids[-1] == END
        assert not any(answer["generated_tokens"][row, length:])


def test_a_text_is_continued_alike_alone_and_in_any_batch(generate):
    together = generate(TEXTS, **DRAWN)
    for order in ([3, 1], [2], [0, 0, 1, 2, 3, 3]):
        answer = generate([TEXTS[row] for row in order], **DRAWN)
        assert answer["continuation"].tolist() == together["continuation"][order].tolist()
        np.testing.assert_allclose(answer["score"], together["score"][order], rtol=1e-4)


def test_the_seed_chooses_and_the_numbers_narrow(generate):
    def said(**numbers):
        return tuple(map(tuple, generate(TEXTS, **DRAWN | numbers)["generated_tokens"].tolist()))

    assert said() == said()
    assert len({said(seed=seed) for seed in range(5)}) > 1
    greedy = tuple(map(tuple, generate(TEXTS, **GREEDY)["generated_tokens"].tolist()))
    assert said(top_k=1) == said(top_p=1e-6) == said(temperature=1e-6) == greedy
    assert said(top_k=100) == said()


def test_draws_follow_the_probabilities(endpoint, generate):
    expected = np.exp(log_probabilities(endpoint, ids_of("dull"))[-1])
    expected[[0, 2]] = 0
    expected /= expected.sum()
    drawn = [
        generate(["dull"], **DRAWN | {"new_tokens": 1, "seed": seed})["generated_tokens"][0, 0]
        for seed in range(600)
    ]
    found = np.array([drawn.count(word.encode()) for word in ALL]) / len(drawn)
    np.testing.assert_allclose(found, expected, atol=0.08)


def test_unknown_words_are_marked_or_forbidden(endpoint, generate):
    bias = endpoint.model.output_layer.bias
    before = bias.numpy()
    bias.assign(np.where(np.arange(len(before)) == UNKNOWN, 50.0, before))
    try:
        answer = generate(["a fine"], **GREEDY | {"new_tokens": 2})
        known = generate(["a fine"], **GREEDY | {"forbid_unknown": True})
    finally:
        bias.assign(before)
    assert answer["continuation"].tolist() == [b"<unk> <unk>"]
    assert answer["generated_tokens"].tolist() == [[b"<unk>", b"<unk>"]]
    assert b"<unk>" not in known["generated_tokens"]


def test_an_empty_batch_has_an_empty_answer(generate):
    assert {len(value) for value in generate([], **GREEDY).values()} == {0}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("new_tokens", 0, "new_tokens must be"),
        ("new_tokens", 501, "new_tokens must be at most 500"),
        ("top_k", -1, "top_k must be"),
        ("top_p", 0.0, "top_p must be"),
        ("top_p", 1.1, "top_p must be"),
        ("temperature", -0.5, "temperature must be"),
    ],
)
def test_numbers_out_of_range_are_refused(generate, name, value, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        generate(["a"], **DRAWN | {name: value})
