"""Descriptions of models by the command line, without loading them."""

import json
import shutil

import pytest

import zoo
from zoo.serving.cards import read_card, verify
from zoo.serving.load import list_models, resolve


def test_list_is_a_table_with_a_line_a_model(zoo_command):
    code, said = zoo_command("list")
    head, *lines = said.out.splitlines()
    assert code is None
    assert head.split() == ["name", "task", "data", "metric", "parameters", "size"]
    assert [line.split()[0] for line in lines] == list_models()
    row = next(line for line in lines if line.startswith("squad_dcn "))
    card = read_card(resolve("squad_dcn"))
    for text in ("reading", "SQuAD 1.1", f"f1 {card.metrics['f1']:.2f}", "7,535,008", "18.8 MB"):
        assert text in row
    columns = [line.split()[:2] for line in (head, *lines)]
    starts = zip((head, *lines), columns, strict=True)
    assert len({line.index(task, len(name)) for line, (name, task) in starts}) == 1


def test_list_as_json(zoo_command):
    _, said = zoo_command("list", "--json")
    listed = {entry["name"]: entry for entry in json.loads(said.out)}
    assert sorted(listed) == list_models()
    assert listed["multi30k_luong_en_de"]["parameters"] == 4_519_840
    assert listed["multi30k_luong_en_de"]["metrics"]["bleu"] > 36


def test_info_tells_the_card(zoo_command):
    _, said = zoo_command("info", "squad_dcn")
    lines = dict(line.split(":", 1) for line in said.out.splitlines())
    told = {label: text.strip() for label, text in lines.items()}
    assert told["model"] == "DynamicCoattentionNetwork"
    assert told["parameters"] == "1,035,108 + 6,499,900 fixed"
    assert told["metrics"] == "exact_match 58.02, f1 69.63"
    assert "reconstructed" in told["remarks"]
    assert "hidden_dim=100" in told["config"]
    assert "maximum_answer_tokens 20" in told["limits"]


def test_info_takes_a_folder_and_gives_the_whole_card_as_json(zoo_command):
    folder = resolve("multi30k_rnnsearch_en_de")
    _, said = zoo_command("info", folder, "--json")
    assert json.loads(said.out) == json.loads((folder / "model_card.json").read_text()) | {
        "folder": str(folder)
    }


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("nobody", "error: no model 'nobody': it is no folder"),
        ("sst_lstm", "error: no model 'sst_lstm': did you mean 'sst_lstmn'?"),
    ],
)
def test_a_model_that_is_not_there_is_one_line(name, begins, zoo_command):
    code, said = zoo_command("info", name)
    assert code.startswith(begins)
    assert "\n" not in code
    assert said.out == ""


def test_alone_the_command_shows_its_help(zoo_command):
    code, said = zoo_command()
    assert code == 0
    assert said.out.startswith("usage: ")
    assert "{list,info,run,picture,align,export,explore,serve,publish,fetch}" in said.out


def test_the_version_is_the_package_s(zoo_command):
    _, said = zoo_command("--version")
    assert said.out.split()[-1] == zoo.__version__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lits"], "no command 'lits', did you mean 'list'?"),
        (["frobnicate"], "Unrecognized options: frobnicate"),
        (["info"], "NAME"),
        (["info", "squad_dcn", "--colour"], "Unrecognized options: --colour"),
        (["serve", "--port", "many"], "--port"),
    ],
)
def test_a_wrong_argument_is_one_line_and_status_2(arguments, message, zoo_command):
    code, said = zoo_command(*arguments)
    assert code == 2
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert message in said.err


def test_no_models_and_broken_cards_are_errors(zoo_command, tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "nowhere")
    code, _ = zoo_command("list")
    assert code.startswith("error: there are no models in ")
    monkeypatch.setenv("ZOO_MODELS", str(tmp_path))
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "saved_model.pb").write_bytes(b"")
    code, _ = zoo_command("info", "bare")
    assert "bare: has no model card" in code


def test_a_broken_card_does_not_hide_the_other_models(zoo_command, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", str(tmp_path))
    cards = {"bare": None, "deep": "[" * 10**5, "folder": None, "red": '{"\\u001b[31m": 1}'}
    for name, card in {**cards, "esc\x1b[2J": "{}"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"")
        if card is not None:
            (tmp_path / name / "model_card.json").write_text(card)
    (tmp_path / "folder" / "model_card.json").mkdir()
    dangling = shutil.copytree(resolve("sst_lstmn"), tmp_path / "dangling")
    (dangling / "assets" / "more.txt").symlink_to(tmp_path / "nowhere")
    code, said = zoo_command("list")
    assert not code
    errors = said.err.replace(f"{tmp_path}/", "")
    assert "bare is left out: bare: has no model card" in errors
    assert "deep/model_card.json: holds lists and objects that are more than 30 deep" in errors
    assert "folder/model_card.json: cannot be read: Is a directory" in errors
    assert "red/model_card.json: text must have no control characters" in errors
    assert r"esc\x1b[2J" in errors
    assert "\x1b" not in said.err + said.out
    assert errors.count("\n") == 5
    listed = [line.split()[0] for line in said.out.splitlines()[1:]]
    assert "squad_dcn" in listed
    assert "dangling" in listed
    assert not {*cards} & {*listed}


def test_the_name_of_a_folder_moves_no_cursor(zoo_command, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", str(tmp_path))
    folder = shutil.copytree(resolve("sst_lstmn"), tmp_path / "esc\x1b[2J")
    for command in (["list"], ["info", folder]):
        _, said = zoo_command(*command)
        assert r"esc\x1b[2J" in said.out
        assert "\x1b" not in said.out


def test_export_copies_a_finished_run_whole(zoo_command, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(resolve("squad_dcn"), run / "saved_model")
    (run / "saved_model" / "attention.png").rename(run / "attention.png")
    (run / "checkpoints").mkdir()
    target = tmp_path / "models" / "reader" / "1"
    for _ in range(2):  # the second time over the first
        code, said = zoo_command("export", run, target)
        assert (code, said.out.strip()) == (None, str(target))
    files = {file.relative_to(target).as_posix() for file in target.rglob("*") if file.is_file()}
    card = read_card(target)
    assert files == {*card.sha256, "model_card.json", "attention.png"}
    code, said = zoo_command("export", "squad_dcn", tmp_path / "shipped")
    assert read_card(tmp_path / "shipped") == card
    assert [path.name for path in target.parent.iterdir()] == ["1"]


def test_export_builds_a_model_anew_in_its_own_place(zoo_command, tmp_path):
    folder = shutil.copytree(resolve("sst_lstmn"), tmp_path / "models" / "mine")
    before = {file.name for file in folder.rglob("*")}
    code, said = zoo_command("export", folder, folder, "--again")
    assert (code, said.out.strip()) == (None, str(folder))
    assert verify(folder).date > read_card(resolve("sst_lstmn")).date
    assert {file.name for file in folder.rglob("*")} == before
    assert [path.name for path in folder.parent.iterdir()] == ["mine"]


def test_export_finds_the_model_of_a_finished_run_however_it_writes_it(
    zoo_command, tmp_path, monkeypatch
):
    run, asked = tmp_path / "run", []
    shutil.copytree(resolve("sst_lstmn"), run / "saved_model")
    (run / "saved_model" / "attention.png").rename(run / "attention.png")
    code, said = zoo_command("export", run, tmp_path / "again", "--again")
    assert (code, said.out.strip()) == (None, str(tmp_path / "again"))
    assert verify(tmp_path / "again").date > read_card(run / "saved_model").date
    picture = (run / "attention.png").read_bytes()
    assert (tmp_path / "again" / "attention.png").read_bytes() == picture
    monkeypatch.setattr("zoo.portable.export.load", asked.append)
    with pytest.raises(AttributeError):  # what was loaded is no model
        zoo_command("export", run, tmp_path / "graphs", "--format", "onnx")
    assert asked == [run / "saved_model"]


def test_export_refuses_weights_that_it_would_not_write(zoo_command, tmp_path):
    code, _ = zoo_command("export", "squad_dcn", tmp_path / "new", "--weights", "int8")
    assert code == "error: weights must be float32 in format saved_model, got 'int8'"
    assert not (tmp_path / "new").exists()


def test_export_refuses_what_is_not_whole(zoo_command, tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    (run / "checkpoints").mkdir(parents=True)
    code, _ = zoo_command("export", run, tmp_path / "new")
    assert "neither the folder of a SavedModel nor that of a finished run" in code
    shutil.copytree(resolve("squad_dcn"), run / "saved_model")
    other.mkdir()
    (other / "letters.txt").write_text("mine")
    code, _ = zoo_command("export", run, other)
    assert "holds something other than a SavedModel" in code
    (run / "saved_model" / "assets" / "vocabulary.txt").write_text("changed")
    code, _ = zoo_command("export", run, tmp_path / "new")
    assert "assets/vocabulary.txt differs" in code
    assert not (tmp_path / "new").exists()


def test_what_cannot_be_served_is_one_line(zoo_command, tmp_path, monkeypatch):
    twin = tmp_path / "squad_dcn"
    shutil.copytree(resolve("squad_dcn"), twin)
    code, _ = zoo_command("serve", "squad_dcn", twin)
    assert code.startswith("error: names must have different last parts")
    code, _ = zoo_command("serve", "squad_dcn", "--host", "192.0.2.1")
    assert "cannot be listened at" in code
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "nowhere")
    code, _ = zoo_command("serve")
    assert "there are no models to serve" in code
