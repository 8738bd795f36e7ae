"""Pipelines of stories and of learnt algorithms."""

import numpy as np
import pytest

import zoo
from tests.contracts.story_task import LABELS
from tests.contracts.subjects import build, draw_weights
from tests.contracts.text_tasks import WORDS
from zoo.models.core.registry import find_model
from zoo.models.structured import SupportingFactsReader
from zoo.pipelines.results import Bits, StoryAnswer
from zoo.serving.cards import DataRecord
from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.stories.endpoint import StoryEndpoint
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

STORY = "The dog runs.\nA cat sees no dog.\nThe cat runs."
QUESTION = "The cat sees?"
TOLD = {"metrics": {"loss": 1.0}, "seed": 0, "seconds": 0.0}
RECORD = DataRecord("sample", "train", "test")


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stories")
    write_vocabulary(folder / "vocabulary.txt", WORDS)
    codec = WordCodec(folder / "vocabulary.txt", case_fold=True)
    sizes = {"vocabulary_size": codec.vocabulary_size, "classes": len(LABELS)}
    model = SupportingFactsReader.from_preset("tiny", **sizes)
    model.build()
    draw_weights(model, 0, 1.0)
    endpoint = StoryEndpoint(model, codec, LABELS)
    export_endpoint(folder / "model", endpoint, task="stories", data=RECORD, **TOLD)
    return zoo.pipeline(folder / "model")


def machine(folder, name):
    endpoint = AlgorithmEndpoint(build(find_model(name)))
    export_endpoint(folder, endpoint, task="algorithms", data=RECORD, **TOLD)
    return zoo.pipeline(folder)


@pytest.fixture(scope="module")
def copier(tmp_path_factory):
    return machine(tmp_path_factory.mktemp("machine") / "model", "NeuralTuringMachine")


def test_a_story_has_an_answer_and_its_facts(reader):
    outputs = reader.servable.ask({"question": [QUESTION], "story": [STORY]})
    found = reader(STORY, QUESTION)
    assert type(found) is StoryAnswer
    assert found.answer == outputs["answer"][0].decode()
    assert [*found.probabilities] == [*LABELS]
    assert found.score == max(found.probabilities.values())
    np.testing.assert_allclose([*found.probabilities.values()], outputs["probabilities"][0])
    assert [one.encode() for one in found.facts] == outputs["facts"][0].tolist()
    assert found.fact_weights == pytest.approx(outputs["fact_weights"][0].tolist())
    assert found.tokens == {"question": ("The", "cat", "sees"), "story": (*STORY.splitlines(),)}
    facts = found.attention["facts"]
    np.testing.assert_array_equal(facts.weights, outputs["attention_facts"][0])
    hops = tuple(f"hop {number + 1}" for number in range(len(found.facts)))
    assert facts.tokens == (hops, found.tokens["story"])
    assert len(found.plot().axes) == 1
    assert "data:image/png;base64," in found._repr_html_()


def test_one_story_goes_with_several_questions(reader):
    found = reader(story=STORY, question=[QUESTION, "no dog?"], batch_size=1)
    assert [one.answer for one in found] == [reader(STORY, q).answer for q in (QUESTION, "no dog?")]
    longer, shorter = reader([STORY, "No dog."], QUESTION)
    alone = reader("No dog.", QUESTION)
    assert shorter.tokens == alone.tokens
    assert shorter.probabilities == pytest.approx(alone.probabilities, rel=1e-5)
    assert shorter.attention["facts"].shape[1] == 1 < longer.attention["facts"].shape[1]


def test_an_empty_story_has_no_facts(reader):
    found = reader("", QUESTION)
    assert (found.facts, found.fact_weights, found.tokens["story"]) == ((), (), ())
    assert found.attention["facts"].shape[1] == 0
    assert found._repr_html_().startswith("<p>")
    assert "<img" not in found._repr_html_()


def test_a_reader_of_stories_is_not_trained_by_its_pipeline(reader):
    for method in (reader.fit, reader.evaluate):
        with pytest.raises(ValueError, match=r"task of model must be one of .*, got 'stories'"):
            method({"story": [STORY], "question": [QUESTION], "answer": ["garden"]})


def test_an_algorithm_gives_bits_at_each_step(copier):
    generator = np.random.default_rng(0)
    sequences = [generator.normal(size=(steps, 5)).astype("float32") for steps in (4, 2, 1)]
    padded = np.zeros((3, 4, 5), "float32")
    for row, one in enumerate(sequences):
        padded[row, : len(one)] = one
    outputs = copier.servable.ask({"vectors": padded, "length": [4, 2, 1]})
    results = copier(sequences, batch_size=2)
    for row, (found, one) in enumerate(zip(results, sequences, strict=True)):
        steps = len(one)
        assert type(found) is Bits
        assert [bits.encode() for bits in found.bits] == outputs["bits"][row, :steps].tolist()
        chances = outputs["probabilities"][row, :steps]
        np.testing.assert_allclose(found.probabilities, chances, rtol=1e-4)
        assert found.score == pytest.approx(np.maximum(chances, 1 - chances).mean(), rel=1e-4)
        weights = outputs["attention_read"][row, :, :steps]
        np.testing.assert_allclose(found.attention["read"].weights, weights, rtol=1e-4, atol=1e-6)
        assert len(found.plot().axes) >= 6
    assert "data:image/png;base64," in results[1]._repr_html_()
    alone = copier(vectors=sequences[1].tolist())
    assert alone.bits == results[1].bits
    assert [one.bits for one in copier(padded[:1])] == [results[0].bits]


def test_a_model_without_memory_has_bits_and_no_picture(tmp_path):
    found = machine(tmp_path / "model", "LSTMTransducer")([[0.5] * 5] * 2)
    assert len(found.bits) == 2
    assert found.attention == {}
    assert "<img" not in found._repr_html_()


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, r"inputs of model must be vectors, got 0 and \[\]"),
        (([[1.0] * 5],), {"vectors": [[1.0] * 5]}, r"got 1 and \['vectors'\]"),
        (([1.0, 2.0],), {}, r"vectors\[0\] must be numbers of the shape \(steps, size\), got '1"),
        (([[["a"] * 5]],), {}, r"vectors\[0\] must be numbers of the shape"),
        (([[[1.0] * 5], [[1.0] * 4]],), {}, r"the same size in all sequences, got \[4, 5\]"),
        (([[1.0] * 4],), {}, r"vectors must have the shape \(None, None, 5\), got \(1, 1, 4\)"),
    ],
)
def test_other_sequences_are_refused(copier, given, named, message):
    with pytest.raises(ValueError, match=message):
        copier(*given, **named)
