"""The SQuAD recipe: learns the generated sample as a user would run it, and refuses what is bad."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import recipes.squad_dcn as recipe
from tests.recipes.run_folder import check_run_folder, run_on_sample, run_recipe
from zoo.serving.load import load_servable
from zoo.tasks.reading.recipe import SHARED_DEFAULTS
from zoo.training.settings import resolve

ROOT = Path(__file__).parents[2]


@pytest.mark.system
def test_the_defaults_learn_the_sample_and_export_a_reader(tmp_path: Path) -> None:
    run_on_sample("squad_dcn", tmp_path)
    result = check_run_folder(tmp_path, "exact_match")
    assert result["exact_match"] >= 95, result

    # The exported reader answers questions on entities that it has never seen.
    from zoo.data.reading_sample import reading_sample
    from zoo.serving.load import load_servable

    frame = reading_sample("test").head(100)
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    import tensorflow as tf

    answers = serve(
        question=tf.constant([*frame["question"]]), context=tf.constant([*frame["context"]])
    )["answer"]
    right = [a.decode() == g[0] for a, g in zip(answers.numpy(), frame["answers"], strict=True)]
    assert sum(right) >= 90


def test_settings_given_as_none_depend_on_the_data() -> None:
    defaults = ("squad_dcn", SHARED_DEFAULTS, recipe.DEFAULTS)
    sample = resolve(recipe.Settings(), defaults[0], "sample", *defaults[1:])
    squad = resolve(recipe.Settings(epochs=3), defaults[0], "squad", *defaults[1:])
    assert sample.run_dir == Path("runs/squad_dcn_sample")
    assert sample.hidden_dim == recipe.DEFAULTS["sample"]["hidden_dim"]
    assert squad.epochs == 3
    assert squad.hidden_dim == recipe.DEFAULTS["squad"]["hidden_dim"]
    assert None not in (squad.batch_size, squad.dropout, squad.learning_rate)


def test_trains_on_a_data_set_in_squads_format(tmp_path: Path) -> None:
    """Two files of the official format, DCN+, one epoch, two devices, the whole way."""
    from zoo.data.reading_sample import reading_sample

    for split, part in (("train", "train"), ("dev", "test")):
        frame = reading_sample(part, questions=60)
        paragraphs = [
            {
                "context": row.context,
                "qas": [
                    {
                        "id": row.id,
                        "question": row.question,
                        "answers": [{"text": row.answers[0], "answer_start": row.answer_starts[0]}],
                    }
                ],
            }
            for row in frame.itertuples()
        ]
        document = {"version": "1.1", "data": [{"title": "Sample", "paragraphs": paragraphs}]}
        (tmp_path / f"{split}-v1.1.json").write_text(json.dumps(document))
    settings = recipe.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        model="dcn_plus",
        hidden_dim=6,
        pool_size=2,
        iterations=1,
        epochs=1,
        maximum_vocabulary=200,
        devices="cpu:2",
    )
    result = recipe.main(settings)
    assert result["epochs"] == 1
    assert result["replicas"] == 2
    assert 0 <= result["exact_match"] <= result["f1"] <= 100
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert stored["data"] == "squad"
    card = json.loads((tmp_path / "run" / "saved_model" / "model_card.json").read_text())
    assert set(card["data"]["sha256"]) == {"train-v1.1.json", "dev-v1.1.json"}
    assert "not the official file" in card["data"]["remarks"]

    ablation = {"model": "dcn", "attention": "question", "scorer": "perceptron", "pool_size": 4}
    recipe.main(replace(settings, run_dir=tmp_path / "ablation", **ablation))
    serve = load_servable(tmp_path / "ablation" / "saved_model").signatures["serving_default"]
    maps = {name for name in serve.structured_outputs if name.startswith("attention_")}
    assert maps == {"attention_context_to_question"}
    assert (tmp_path / "ablation" / "attention.png").stat().st_size

    with pytest.raises(ValueError, match="hidden_dim"):  # another setting, the same folder
        recipe.main(replace(settings, hidden_dim=7))


def test_a_broken_file_is_one_line_and_a_failure(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        (tmp_path / f"{split}-v1.1.json").write_text('{"data": [')
    finished = run_recipe(
        "squad_dcn", "--data-dir", str(tmp_path), "--run-dir", str(tmp_path / "run")
    )
    assert finished.returncode == 1
    last = finished.stderr.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert "train-v1.1.json" in last
    assert "Traceback" not in finished.stderr
