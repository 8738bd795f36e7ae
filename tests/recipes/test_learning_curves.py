"""The picture of the learning curves of several runs."""

import json
from pathlib import Path

import pytest

from recipes.learning_curves import Settings, main


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, ...]:
    """Two runs, as they are left when they end."""
    folders = tmp_path / "first", tmp_path / "second"
    for scale, folder in enumerate(folders, 1):
        folder.mkdir()
        history = [{"step": 10, "seconds": 1.0, "bits": 8.0 * scale, "training_loss": 2.0}]
        history.append({"step": 20, "seconds": 2.0, "bits": 4.0 * scale, "training_loss": 1.0})
        (folder / "result.json").write_text(json.dumps({"history": history}))
        (folder / "settings.json").write_text(json.dumps({"batch_size": 16 * scale}))
    return folders


def test_a_curve_is_the_score_by_examples_seen(runs, tmp_path: Path, capsys) -> None:
    picture = tmp_path / "curves.png"
    curves = main(Settings(runs, score="bits", output=picture))
    assert curves == {
        "first": [[(160, 8.0), (320, 4.0)]],
        "second": [[(320, 16.0), (640, 8.0)]],
    }
    assert capsys.readouterr().out == f"{picture}\n"
    assert picture.stat().st_size > 5_000


def test_runs_of_the_same_label_belong_together(runs, tmp_path: Path) -> None:
    curves = main(Settings(runs, labels=("NTM", "NTM"), output=tmp_path / "curves.png"))
    assert curves == {"NTM": [[(160, 2.0), (320, 1.0)], [(320, 2.0), (640, 1.0)]]}


def test_a_run_of_an_earlier_version_is_drawn_by_the_name_that_it_has(runs, tmp_path: Path) -> None:
    file = runs[0] / "result.json"
    file.write_text(file.read_text().replace("training_loss", "loss"))
    settings = Settings(runs[:1], score="loss", output=tmp_path / "curves.png")
    assert main(settings) == {"first": [[(160, 2.0), (320, 1.0)]]}
    with pytest.raises(ValueError, match=r"\['bits', 'loss'\] of .*first, got 'training_loss'"):
        main(Settings(runs))


def test_a_score_that_was_not_finite_is_named(runs, tmp_path: Path) -> None:
    history = [{"step": 10, "bits": 8.0}, {"step": 20, "bits": None}]
    (runs[1] / "result.json").write_text(json.dumps({"history": history}))
    with pytest.raises(ValueError, match=r"second.* finite"):
        main(Settings(runs, score="bits", output=tmp_path / "curves.png"))


def test_runs_labels_and_scores_that_do_not_fit_are_refused(runs, tmp_path: Path) -> None:
    refused = {
        "runs must name at least one, got none": Settings(()),
        "labels must be one for each of 2 runs, got 1": Settings(runs, labels=("a",)),
        "runs must be folders of finished runs, got ": Settings((tmp_path,)),
        r"score must be one of \['bits', 'training_loss'\] of .*first, got 'bleu'": Settings(
            runs, score="bleu"
        ),
    }
    for message, settings in refused.items():
        with pytest.raises(ValueError, match=message):
            main(settings)
    (runs[1] / "settings.json").write_text('{"batch_size": 16, "batch_tokens": 4000}')
    with pytest.raises(ValueError, match="must have batches of a fixed number of examples, got"):
        main(Settings(runs))
    (runs[0] / "result.json").write_text("{}")
    with pytest.raises(
        ValueError, match=r"must have been measured while they trained, got .*first"
    ):
        main(Settings(runs))
    assert not (tmp_path / "learning_curves.png").exists()
