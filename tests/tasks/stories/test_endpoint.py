"""Stories as lines and as lists, asked of one model."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import draw_weights
from tests.contracts.text_tasks import WORDS
from zoo.models.structured import SupportingFactsReader
from zoo.serving.padding import join_rows, pick_rows
from zoo.tasks.stories.endpoint import StoryEndpoint
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

LABELS = ("a", "b", "c")
STORY = ["The dog runs.", "A cat sees no dog", "no film", "good", "the cat runs!", "a dog."]
QUESTION = "The cat sees?"


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "vocabulary.txt"
    write_vocabulary(path, WORDS)
    codec = WordCodec(path, case_fold=True)
    size = codec.vocabulary_size
    model = SupportingFactsReader.from_preset("tiny", vocabulary_size=size, classes=3)
    model.build()
    draw_weights(model, 0, 1.0)
    return StoryEndpoint(model, codec, LABELS)


def served(endpoint, stories, question=QUESTION):
    text = tf.constant(stories, tf.string)
    return {
        name: value.numpy()
        for name, value in endpoint.serve(tf.fill([len(stories)], question), text).items()
    }


def test_the_answer_is_that_of_the_model_for_the_words_without_end_marks(endpoint):
    found = served(endpoint, ["\n".join(STORY[:3])])
    codec = endpoint.codec
    ids = codec.encode(["the dog runs", "a cat sees no dog", "no film"]).to_tensor()[None]
    outputs = endpoint.model({"story": ids, "question": codec.encode(["the cat sees"]).to_tensor()})
    weights = np.array(outputs["attention"]["facts"])
    np.testing.assert_allclose(found["attention_facts"], weights, rtol=1e-5)
    np.testing.assert_allclose(found["probabilities"], tf.nn.softmax(outputs["logits"]), rtol=1e-5)
    assert found["answer"][0].decode() == LABELS[found["probabilities"][0].argmax()]
    assert [one.decode() for one in found["facts"][0]] == [
        STORY[place] for place in weights[0].argmax(axis=-1)
    ]
    np.testing.assert_allclose(found["fact_weights"], weights.max(axis=-1), rtol=1e-5)
    assert found["question_tokens"].tolist() == [[b"The", b"cat", b"sees"]]


def test_only_the_last_sentences_are_read(endpoint):
    whole, cut = (served(endpoint, ["\n".join(of)]) for of in (STORY, STORY[1:]))
    assert whole["story_length"].tolist() == [5]
    for name, value in cut.items():
        np.testing.assert_array_equal(whole[name], value, err_msg=name)


def test_lines_without_a_word_are_no_sentences(endpoint):
    plain = served(endpoint, ["\n".join(STORY[:3])])
    spaced = served(endpoint, ["\r\n\n . \n".join(STORY[:3]) + "\n?!\n"])
    wide = served(endpoint, ["\u00a0.\u3000\n\u00a0\n\u3000".join(STORY[:3])])
    for name, value in plain.items():
        np.testing.assert_array_equal(spaced[name], value, err_msg=name)
        if name not in ("story_sentences", "facts"):  # in which marks at the end stay
            np.testing.assert_array_equal(wide[name], value, err_msg=name)
    empty = served(endpoint, ["", "\n"])
    assert empty["story_length"].tolist() == [0, 0]
    assert empty["facts"].tolist() == [[b"", b""]] * 2
    assert not empty["attention_facts"].any()
    assert served(endpoint, [])["answer"].shape == (0,)


def test_lists_of_sentences_give_the_same_answers(endpoint):
    lines = served(endpoint, ["\n".join(STORY[:3]), STORY[3], ""])
    listed = np.array([[*STORY[:2], "", STORY[2]], ["", STORY[3], "", ""], 4 * [""]])
    lists = endpoint.serve_sentences(tf.fill([3], QUESTION), tf.constant(listed))
    assert lists.keys() == lines.keys()
    for name, value in lines.items():
        np.testing.assert_array_equal(lists[name], value, err_msg=name)


def test_rows_of_a_batch_are_cut_to_their_own_sentences(endpoint):
    stories = ["\n".join(STORY[:4]), STORY[4]]
    both, axes = served(endpoint, stories), endpoint.endpoints()["serving_default"].axes
    parts = [pick_rows(both, slice(row, row + 1), axes) for row in range(2)]
    for part, story in zip(parts, stories, strict=True):
        alone = served(endpoint, [story])
        for name, value in alone.items():
            if value.dtype == object:
                np.testing.assert_array_equal(part[name], value, err_msg=name)
            else:
                np.testing.assert_allclose(part[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
    for name, value in join_rows(parts, axes).items():
        np.testing.assert_array_equal(value, both[name], err_msg=name)


def test_wrong_arguments_are_refused(endpoint):
    for labels in (("a", "b"), ("a", "b", "b")):
        with pytest.raises(ValueError, match="labels must be 3 different ones"):
            StoryEndpoint(endpoint.model, endpoint.codec, labels)
    with pytest.raises(ValueError, match="maximum_words must be at least 1, got 0"):
        StoryEndpoint(endpoint.model, endpoint.codec, LABELS, maximum_words=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="same batch size"):
        endpoint.serve(tf.constant(["a"]), tf.constant(["a", "b"]))
