"""Stories in, answers and their facts out: in Python and on the command line."""

import json

import numpy as np
import pytest

import zoo
from tests.contracts.subjects import draw_weights
from tests.contracts.text_tasks import WORDS
from zoo.cli.main import main
from zoo.models.structured import SupportingFactsReader
from zoo.pipelines.results import StoryAnswer
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.stories.endpoint import StoryEndpoint
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

LABELS = ("a", "b", "c")
STORIES = ["The dog runs.\nA cat sees no dog.\nno film", "good", ""]
QUESTION = "The cat sees?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A reader with drawn weights."""
    found = tmp_path_factory.mktemp("stories")
    write_vocabulary(found / "vocabulary.txt", WORDS)
    codec = WordCodec(found / "vocabulary.txt", case_fold=True)
    model = SupportingFactsReader.from_preset(
        "tiny", vocabulary_size=codec.vocabulary_size, classes=3
    )
    model.build()
    draw_weights(model, 0, 1.0)
    export_endpoint(
        found / "reader",
        StoryEndpoint(model, codec, LABELS),
        task="stories",
        data=DataRecord("sample", training="none", evaluation="none"),
        metrics={"accuracy": 1.0},
        seed=0,
        seconds=1.0,
    )
    return found / "reader"


def test_answers_are_those_of_the_signature(folder):
    read = zoo.pipeline(folder)
    results = read(QUESTION, STORIES, batch_size=2)
    outputs = read.servable.ask({"question": 3 * [QUESTION.encode()], "story": STORIES})
    for row, (result, story) in enumerate(zip(results, STORIES, strict=True)):
        assert isinstance(result, StoryAnswer)
        assert result.answer == outputs["answer"][row].decode()
        assert result.probabilities.keys() == {*LABELS}
        assert result.score == max(result.probabilities.values())
        lines = tuple(story.splitlines())
        assert result.tokens["story"] == lines
        assert result.tokens["question"] == ("The", "cat", "sees")
        facts = result.attention["facts"]
        assert facts.shape == (2, len(lines))
        assert facts.tokens[1] == lines
        np.testing.assert_allclose(
            facts, outputs["attention_facts"][row, :, : len(lines)], atol=1e-6
        )
        chosen = facts.weights.argmax(axis=1) if lines else []
        assert result.facts == tuple(lines[place] for place in chosen)
        np.testing.assert_allclose(result.fact_weights, [*map(max, facts.weights)] if lines else [])


def test_one_story_is_drawn(folder):
    result = zoo.pipeline(folder)(question=QUESTION, story=STORIES[0])
    assert isinstance(result, StoryAnswer)
    assert result.plot().axes
    page = result._repr_html_()
    assert result.answer in page
    assert "data:image/png;base64," in page
    assert "<img" not in zoo.pipeline(folder)(QUESTION, "")._repr_html_()


def test_the_command_line_takes_stories(folder, tmp_path, capsys, monkeypatch):
    (tmp_path / "story.txt").write_text(STORIES[0], encoding="utf-8")
    expected = zoo.pipeline(folder)(QUESTION, STORIES[0]).answer
    for given in (("--story", STORIES[0]), ("--story-file", str(tmp_path / "story.txt"))):
        monkeypatch.setattr("sys.argv", ["zoo", "run", str(folder), "--question", QUESTION, *given])
        main()
        assert capsys.readouterr().out.splitlines() == [expected]
    monkeypatch.setattr(
        "sys.argv", [*("zoo", "run", str(folder), "--json"), *("--question", QUESTION), *given]
    )
    main()
    assert json.loads(capsys.readouterr().out)["answer"] == expected


def test_what_cannot_be_trained_on_strings_says_so(folder):
    with pytest.raises(ValueError, match=r"task of reader must be one of .*, got 'stories'"):
        zoo.pipeline(folder).fit({"story": STORIES})
    with pytest.raises(ValueError, match="inputs of reader must be question, story, got question"):
        zoo.pipeline(folder)(QUESTION)
