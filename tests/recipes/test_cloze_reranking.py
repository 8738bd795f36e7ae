"""The re-ranking tool: takes a finished run, tells what each language model adds."""

import json
from pathlib import Path

import pytest

import recipes.cloze_aoa as recipe
import recipes.cloze_reranking as tool
from tests.recipes.test_cloze_aoa import write_set


def test_a_finished_run_is_re_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_set(tmp_path)
    write_set(tmp_path, kind="cn", names=("cat", "dog", "hen"))
    run = tmp_path / "run"
    sizes = {"embedding_dim": 6, "hidden_dim": 5, "epochs": 1, "batch_size": 4, "kind": "both"}
    trained = recipe.main(recipe.Settings(data_dir=tmp_path, run_dir=run, readings=2, **sizes))
    settings = tool.Settings(run, data_dir=tmp_path, order=3, classes=3, iterations=2)
    table = tool.main(settings)
    features = [row["features"][-1] for row in table]
    assert features == ["reader", "global", "local", "class"] * 2
    for kind, rows in (("ne", table[:4]), ("cn", table[4:])):
        assert {row["kind"] for row in rows} == {kind}
        assert rows[0]["test"] == pytest.approx(trained[f"accuracy_{kind}"])
        assert rows[0]["validation"] == pytest.approx(trained[f"validation_accuracy_{kind}"])
        assert rows[-1]["validation"] >= rows[0]["validation"]
    stored = json.loads((run / "reranking.json").read_text())
    assert stored == json.loads(json.dumps(table))
    assert capsys.readouterr().out.count("  test ") == 8


def test_a_folder_without_a_finished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"run_dir must hold a finished run .*, got "):
        tool.main(tool.Settings(tmp_path))
