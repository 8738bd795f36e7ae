"""The recipe that measures attention against annotated alignments."""

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import recipes.alignment_quality as recipe
from zoo.metrics.alignment import aer, links, read_pharaoh
from zoo.metrics.symmetrisation import flip_links, symmetrise
from zoo.serving.codecs import load_codecs
from zoo.serving.load import load, resolve
from zoo.tasks.translation.alignment_quality import diagonal_links, mass_on_links
from zoo.tasks.translation.forced import shifted_weights
from zoo.tasks.translation.statistical_aligner import align_statistically
from zoo.training.command import start

MODEL = "multi30k_rnnsearch_en_de"
ENGLISH = ["A dog runs .", "Two men play football ."]
GERMAN = ["Ein Hund rennt .", "Zwei Männer spielen Fußball ."]
GOLD = ["0-0 1-1 2-2 3p3", "0-0 1-1 2-2 3p2 3-3 4-4 7-7"]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    lines = {"source": ENGLISH, "target": GERMAN, "gold": GOLD}
    paths = {name: tmp_path / name for name in lines}
    for name, path in paths.items():
        path.write_text("".join(f"{line}\n" for line in lines[name]), encoding="utf-8")
    return paths


def test_labels_that_are_alike_but_for_punctuation_have_a_picture_each() -> None:
    names = recipe.picture_names(["a/b", "a b", "a_b_2", "c"])
    assert [*names.values()] == [
        *("attention_a_b.png", "attention_a_b_2.png"),
        *("attention_a_b_2_2.png", "attention_c.png"),
    ]


def test_scores_of_all_ways_and_shifts(files, tmp_path: Path, capsys) -> None:
    """There is no translator of the other direction here; any has links to join."""
    run_dir = tmp_path / "run"
    options = {"drop_outside": True, "run_dir": run_dir, "threshold": 0.25, "drawn": 2}
    recipe.main(recipe.Settings((MODEL,), **files, **options, backward=(MODEL,), labels=("a/b",)))
    result = json.loads((run_dir / "result.json").read_text())
    assert (result["pairs"], result["outside"]) == (2, 1)
    found = result["models"]["a/b"]
    assert found["unknown_words"] == {"source": 0.0, "target": 0.0}

    folder = resolve(MODEL)
    model, codecs = load(folder), load_codecs(folder)
    forward = shifted_weights(model, codecs, ENGLISH, GERMAN, [0, 1, -1])
    backward = shifted_weights(model, codecs, GERMAN, ENGLISH, [0, 1, -1])
    gold = read_pharaoh([line.replace(" 7-7", "") for line in GOLD], 0, [(4, 4), (5, 5)])
    for shift in (0, 1, -1):
        scores = found["shifts"][str(shift)]["scores"]
        there = [links(one, one.shape[1], one.shape[0]) for one in forward[shift]]
        back = [flip_links(links(one, one.shape[1], one.shape[0])) for one in backward[shift]]
        wanted = {
            "largest": there,
            "threshold": [
                links(one, one.shape[1], one.shape[0], threshold=0.25) for one in forward[shift]
            ],
            "backward": back,
        }
        for method in ("intersection", "union", "grow-diag-final"):
            wanted[method] = [symmetrise(a, b, method) for a, b in zip(there, back, strict=True)]
        for name, hypotheses in wanted.items():
            assert scores[name]["error_rate"] == aer(hypotheses, gold), (shift, name)
            assert scores[name]["links"] == sum(map(len, hypotheses))
    own, later = (found["shifts"][shift]["scores"]["largest"] for shift in ("0", "1"))
    assert own["error_rate"] < 0.5 < later["error_rate"]  # both sentences have the same order
    assert result["diagonal"]["error_rate"] == 0.0

    said = capsys.readouterr().out
    assert said.count("| a/b") == 3
    assert "2 pairs, 1 links beyond them left out" in said
    assert (run_dir / "attention_a_b.png").stat().st_size > 5_000


def test_mass_and_diagonal() -> None:
    gold = read_pharaoh(["0-0 1p0", ""])
    weights = [np.array([[0.5, 0.125, 0.375], [0.0, 0.0, 1.0]]), np.ones((1, 1))]
    assert mass_on_links(gold, weights) == 0.625
    assert mass_on_links(gold[1:], weights[1:]) == 0.0
    assert diagonal_links([(4, 2), (1, 3), (0, 2)]) == [
        {(1, 0), (3, 1)},
        {(0, 0), (0, 1), (0, 2)},
        set(),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([MODEL], "{gold}: sentence pair 2: link must be inside of 5 source and 5 target"),
        ([MODEL, "--drop-outside", "--drawn", "3"], "drawn must be at most 2, got 3"),
        (
            [MODEL, "--drop-outside", "--drawn", "2", "--target", "{gold}.empty"],
            "drawn must be a pair with words on both sides, got 2",
        ),
        (
            [MODEL, "--gold", "{gold}.wa"],
            "{gold}.wa: line 1 must not link two empty words, got '1 0 0'; first=0 reads a file",
        ),
        ([MODEL, "--threshold", "1.5"], "threshold must be positive and at most 1, got 1.5"),
        (
            [MODEL, "--drop-outside", "--backward", MODEL, MODEL],
            "backward must be one for each of 1 models, got 2",
        ),
        (["squad_dcn", "--drop-outside"], "{squad} must hold a translator, got a model whose task"),
        ([MODEL, MODEL, "--drop-outside"], f"labels must differ, got '{MODEL}' twice"),
    ],
)
def test_a_bad_setting_is_one_line(arguments, message, files, tmp_path, monkeypatch) -> None:
    given = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    given += ["--run-dir", str(tmp_path / "run")]
    files["gold"].with_name("gold.wa").write_text("1 0 0\n")
    files["gold"].with_name("gold.empty").write_text("Ein Hund rennt .\n \n")
    arguments = [one.format(gold=files["gold"]) for one in arguments]
    monkeypatch.setattr(sys, "argv", [recipe.__name__, *given, *arguments])
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    expected = message.format(gold=files["gold"], squad=resolve("squad_dcn"))
    assert str(exit_.value.code).startswith(f"error: {expected}")
    assert "\n" not in str(exit_.value.code)


def test_results_are_written_before_the_pictures(files, tmp_path: Path, monkeypatch) -> None:
    files["target"].write_text("\n" + f"{GERMAN[1]}\n", encoding="utf-8")
    files["gold"].write_text("\n0-0 1-1\n")  # of the empty pair nothing is drawn
    monkeypatch.setattr("zoo.plots.save_figure", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        recipe.main(recipe.Settings((MODEL,), **files, drawn=2, run_dir=tmp_path))
    assert json.loads((tmp_path / "result.json").read_text())["pairs"] == 2


def test_models_of_another_task_are_found_before_any_is_measured(files, monkeypatch) -> None:
    monkeypatch.setattr(recipe, "measure", lambda *_: 1 / 0)
    told = "must hold a translator, got a model whose task is 'reading'"
    every = (({"models": (MODEL, "squad_dcn")}, ""), ({"backward": ("squad_dcn",)}, "backward: .*"))
    for given, name in every:
        settings = {"models": (MODEL,), "drop_outside": True, **files} | given
        with pytest.raises(ValueError, match=f"{name}{told}"):
            recipe.main(recipe.Settings(**settings))


def test_models_of_the_other_direction_are_found_like_those_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "saved_model").symlink_to(resolve(MODEL))
    files = dict.fromkeys(("source", "target", "gold"), tmp_path)
    run = str(tmp_path / "run")
    settings = recipe.Settings((run,), **files, backward=(run,))
    assert recipe.find_backward(settings) == [tmp_path / "run" / "saved_model"]
    settings = recipe.Settings((run,), **files, backward=(str(tmp_path),))
    with pytest.raises(ValueError, match=f"^backward: no model '{tmp_path}'"):
        recipe.find_backward(settings)


def test_a_model_of_counts_stands_beside_them(files, tmp_path: Path, capsys) -> None:
    words = {"dog": "Hund", "man": "Mann", "house": "Haus", "runs": "rennt", "plays": "spielt"}
    texts = [
        (f"A {noun} {verb}.", f"Ein {words[noun]} {words[verb]}.")
        for noun in ("dog", "man", "house")
        for verb in ("runs", "plays")
    ]
    for side, name in enumerate(("aligner_source", "aligner_target")):
        files[name] = tmp_path / name
        files[name].write_text("".join(f"{pair[side]}\n" for pair in texts), encoding="utf-8")
    options = {"drop_outside": True, "run_dir": tmp_path / "run"}
    result = recipe.main(recipe.Settings((MODEL,), **files, **options, aligner="hmm"))
    sides = tuple(map(list, zip(*texts, strict=True)))
    found = align_statistically("hmm", sides, (ENGLISH, GERMAN))
    assert found[0] >= {(0, 0), (1, 1), (2, 2)}
    gold = read_pharaoh([line.replace(" 7-7", "") for line in GOLD], 0, [(4, 4), (5, 5)])
    assert result["hmm"]["error_rate"] == aer(found, gold)
    assert "hmm, trained on 6 pairs: " in capsys.readouterr().out

    pairs = (["The Dog RUNS", "", "man"], ["Der Hund rennt", "x", "Mann"])
    found = align_statistically("ibm2", sides, pairs)
    assert (1, 1) in found[0]
    assert (2, 2) in found[0]
    assert found[1:] == [frozenset(), {(0, 0)}]


def test_files_and_aligner_belong_together(files) -> None:
    settings = recipe.Settings((MODEL,), **files, aligner="ibm2", aligner_source=files["source"])
    with pytest.raises(ValueError, match="aligner_target must be a file with aligner 'ibm2'"):
        recipe.main(settings)
    with pytest.raises(ValueError, match="aligner_source must be None without an aligner, got "):
        recipe.main(dataclasses.replace(settings, aligner="none"))
    files["gold"].write_text("a line\n")
    more = dataclasses.replace(settings, aligner_target=files["gold"])
    with pytest.raises(ValueError, match=r"aligner_target must have 2 lines, as .*, got 1"):
        recipe.main(more)


def test_an_aligner_that_is_not_installed_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "thot.alignment", None)
    with pytest.raises(ModuleNotFoundError, match=r"aligner hmm needs sil-thot: pip install "):
        align_statistically("hmm", (["a"], ["b"]), (["a"], ["b"]))
