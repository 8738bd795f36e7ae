"""The readers of stories learn the sample; runs are kept, resumed and told."""

import json
from pathlib import Path

import pytest
import tensorflow as tf

import recipes.babi_structured as babi
from zoo.data.story_sample import story_sample
from zoo.serving.cards import read_card
from zoo.serving.load import load, load_servable
from zoo.tasks.export_again import export_again
from zoo.tasks.stories.training import CompiledTraining, Trained

LINES = "1 Ann took the cat.\n2 Ann went to the {0}.\n3 Where is the cat? \t{0}\t1 2\n"


@pytest.mark.system
def test_it_learns_the_sample(tmp_path: Path) -> None:
    result = babi.main(babi.Settings(data="sample", run_dir=tmp_path))
    card = read_card(tmp_path / "saved_model")
    assert card.metrics["accuracy"] == result["accuracy"] >= 95
    assert card.metrics["facts"] == result["facts"] >= 90
    assert (tmp_path / "attention.png").stat().st_size > 5000
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    frame = story_sample("test").head(50)
    stories = tf.constant(["\n".join(story) for story in frame["story"]])
    answers = serve(story=stories, question=tf.constant([*frame["question"]]))
    right = [
        a.decode() == b for a, b in zip(answers["answer"].numpy(), frame["answer"], strict=True)
    ]
    assert sum(right) >= 45
    again = export_again(tmp_path / "saved_model", tmp_path / "again")
    assert again.labels == card.labels


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A task of twelve stories of two sentences."""
    text = "".join(LINES.format(("hall", "attic")[number % 2]) for number in range(12))
    for split in ("train", "test"):
        (tmp_path / f"qa2_two-supporting-facts_{split}.txt").write_text(text)
    return tmp_path


def settings(data_dir: Path, **changed):
    small = {"epochs": 3, "start_epochs": 1, "embedding_dim": 3, "memory": 1, "held_out": 0.25}
    return babi.Settings(
        data="babi", data_dir=data_dir, run_dir=data_dir / "run", **(small | changed)
    )


@pytest.mark.parametrize("attention", ["binary", "memn2n"])
def test_runs_are_kept_and_the_missing_ones_trained(data_dir, attention, monkeypatch, capsys):
    chosen = {"attention": attention}
    first = babi.main(settings(data_dir, runs=2, seed=4, **chosen))
    assert [row["seed"] for row in first["runs"]] == [4, 5]
    assert first["accuracy"] == first["runs"][first["best_seed"] - 4]["test"]["accuracy"]
    assert "training: 9 of 9 stories cut to their last 1 sentences" in capsys.readouterr().out
    assert first["facts"] == 0.0  # the first one was cut off
    trained = []
    run = babi.StoryTask._take
    monkeypatch.setattr(babi.StoryTask, "_take", lambda *a: trained.append(1) or run(*a))
    again = babi.main(settings(data_dir, runs=3, seed=4, **chosen))
    assert [row["seed"] for row in again["runs"]] == [4, 5, 6]
    assert again["runs"][:2] == first["runs"]
    assert len(trained) == 2  # the new run, and the best one
    held = json.loads((data_dir / "run" / "result.json").read_text())
    assert held["means"].keys() == {"mean of 3"}
    assert "own files" in held["data"]["name"]
    assert held["cut_stories"] == {"training": 9, "validation": 3, "test": 12}
    told = "; stories cut to their last 1 sentences: training: 9 of 9, validation: 3 of 3, test: 12"
    remarks = read_card(data_dir / "run" / "saved_model").data.remarks
    assert remarks == held["data"]["remarks"]
    assert told in remarks
    model = load(data_dir / "run" / "saved_model")
    assert type(model).__name__ == {"memn2n": "MemoryNetwork"}.get(
        attention, "SupportingFactsReader"
    )
    with pytest.raises(ValueError, match="embedding_dim"):
        babi.main(settings(data_dir, seed=4, **chosen, embedding_dim=4))


def diverging(monkeypatch, seeds):
    """The loss of these seeds is not a number from the first epoch on."""
    run = CompiledTraining.run

    def run_or_diverge(self, seed):
        with monkeypatch.context() as patched:
            if seed in seeds:
                patched.setattr(CompiledTraining, "epoch", lambda *_, **__: float("nan"))
            return run(self, seed)

    monkeypatch.setattr(CompiledTraining, "run", run_or_diverge)


class Reached(BaseException):
    """Ends a run where its model would be exported."""


def test_a_loss_that_the_test_part_does_not_have_is_in_no_card(data_dir, monkeypatch, capsys):
    """All of its answers are unknown."""
    path = data_dir / "qa2_two-supporting-facts_test.txt"
    path.write_text(path.read_text().replace("hall", "tower").replace("attic", "tower"))

    def untrained(training, _):
        weights = [weight.numpy() for weight in training.model.weights]
        return Trained(weights, {"accuracy": 50.0, "loss": 1.0}, 1, 1)

    def export(*_, metrics, **__):
        assert (metrics["accuracy"], "loss" in metrics) == (0, False)
        raise Reached

    monkeypatch.setattr(CompiledTraining, "run", untrained)
    monkeypatch.setattr("zoo.tasks.shared.endpoints.export_endpoint", export)
    with pytest.raises(Reached):
        babi.main(settings(data_dir, runs=1))
    assert "loss is nan on the test part, and is left out" in capsys.readouterr().out


def test_a_run_that_diverges_is_left_out_and_told(data_dir, monkeypatch, capsys):
    diverging(monkeypatch, {5})
    result = babi.main(settings(data_dir, runs=3, seed=4))
    assert [row["seed"] for row in result["runs"]] == [4, 6]
    assert result["diverged_seeds"] == [5]
    assert result["means"].keys() == {"mean of 2"}
    said = capsys.readouterr().out
    assert "the loss is not finite with seed 5: lower learning_rate. The run is left out" in said
    assert "left out, since they diverged: seeds [5]" in said
    held = json.loads((data_dir / "run" / "result.json").read_text())
    assert (held["diverged_seeds"], held["best_seed"]) == ([5], result["best_seed"])


def test_a_command_fails_if_all_runs_diverge(data_dir, monkeypatch):
    diverging(monkeypatch, {4, 5})
    message = r"not finite with any of the seeds \[4, 5\]: lower learning_rate"
    with pytest.raises(FloatingPointError, match=message):
        babi.main(settings(data_dir, runs=2, seed=4))


def test_a_short_training_starts_with_the_usual_share_of_its_epochs(data_dir, capsys):
    """By default a fifth."""
    result = babi.main(settings(data_dir, epochs=6, start_epochs=None))
    assert "start_epochs: 1 instead of 20, for 6 epochs in all" in capsys.readouterr().out
    assert result["runs"][0]["epoch"] > 1
    held = json.loads((data_dir / "run" / "settings.json").read_text())
    assert (held["epochs"], held["start_epochs"]) == (6, 1)
    longer = babi.StoryTask("none", babi.make_model, babi.start_options, babi.DEFAULTS)
    assert longer.resolve(settings(data_dir, epochs=21, start_epochs=None)).start_epochs == 20


def test_an_answer_that_no_card_could_hold_is_refused_before_the_training(data_dir):
    path = data_dir / "qa2_two-supporting-facts_train.txt"
    path.write_text(path.read_text().replace("attic", "\u202aattic"))
    with pytest.raises(ValueError, match=r"model_card\.json: text must have no control characters"):
        babi.main(settings(data_dir, epochs=10**9))
    assert not (data_dir / "run").exists()


def test_wrong_settings_leave_no_folder(data_dir):
    with pytest.raises(ValueError, match="start_epochs must be less than epochs, 3, got 3"):
        babi.main(settings(data_dir, start_epochs=3))
    with pytest.raises(ValueError, match="held_out must leave some of the 12"):
        babi.main(settings(data_dir, held_out=0.99))
    with pytest.raises(ValueError, match="task must be from 1 to 20, got 30"):
        babi.main(settings(data_dir, task=30))
    with pytest.raises(ValueError, match="learning_rate must be positive and finite, got -1"):
        babi.main(settings(data_dir, learning_rate=-1))
    assert not (data_dir / "run").exists()
