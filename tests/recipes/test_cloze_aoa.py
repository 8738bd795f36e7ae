"""The cloze recipe: learns the generated sample, and reads real files."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recipes.cloze_aoa as recipe
from tests.recipes.run_folder import check_run_folder
from zoo.data.cloze import SPLITS, cloze_file_name
from zoo.data.cloze_format import SENTENCES, Question, write_cbt
from zoo.tasks.cloze.data import load_cloze_data, resolve_data, with_cut_questions
from zoo.tasks.cloze.recipe import SHARED_DEFAULTS
from zoo.training.settings import resolve

ROOT = Path(__file__).parents[2]


@pytest.mark.system
def test_the_defaults_learn_the_sample_and_export_a_reader(tmp_path: Path) -> None:
    result = recipe.main(recipe.Settings(data="sample", run_dir=tmp_path))
    assert check_run_folder(tmp_path, "accuracy")["accuracy"] == result["accuracy"] >= 95, result

    # The exported reader answers as the recipe has measured, with candidates and without.
    import tensorflow as tf

    from zoo.data.cloze_sample import cloze_sample
    from zoo.serving.load import load_servable

    frame = cloze_sample("test").head(100)
    signatures = load_servable(tmp_path / "saved_model").signatures
    asked = {name: tf.constant([*frame[name]]) for name in ("document", "query")}
    ranked = signatures["ranked"](candidates=tf.constant([*frame["candidates"]]), **asked)
    for answers in (ranked, signatures["serving_default"](**asked)):
        found = [answer.decode() for answer in answers["answer"].numpy()]
        assert sum(a == b for a, b in zip(found, frame["answer"], strict=True)) >= 90


def test_settings_given_as_none_depend_on_the_data() -> None:
    defaults = (SHARED_DEFAULTS, recipe.DEFAULTS)
    sample = resolve(recipe.Settings(), "cloze_aoa", "sample", *defaults)
    real = resolve(recipe.Settings(epochs=3), "cloze_aoa_ne", "cloze", *defaults)
    assert sample.run_dir == Path("runs/cloze_aoa_sample")
    assert sample.hidden_dim == recipe.DEFAULTS["sample"]["hidden_dim"]
    assert real.run_dir == Path("runs/cloze_aoa_ne_cloze")
    assert (real.epochs, real.batch_size, real.learning_rate) == (3, 32, 1e-3)
    assert (real.clip_norm, real.dropout, real.embedding_l2) == (5.0, 0.3, 0.0)


def write_set(
    folder: Path,
    dataset: str = "cloze",
    kind: str = "ne",
    names: tuple[str, ...] = ("Ada", "Bo", "Cy"),
) -> None:
    """Three small files of questions whose answer is the only word that is seen."""
    for split in SPLITS:
        questions = []
        for name in names * 4:
            document = "\n".join([f"The cat saw {name} and Di ."] * SENTENCES)
            query = "The cat saw XXXXX again ."
            questions.append(Question(document, query, name, [name, "Di"]))
        write_cbt(folder / cloze_file_name(dataset, kind, split), questions)


def test_auto_is_the_first_set_that_lies_here_whole(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cbt needs cbtest_NE.*cloze needs ne_train\.txt"):
        resolve_data("auto", "ne", tmp_path)
    write_set(tmp_path)
    assert resolve_data("auto", "ne", tmp_path) == "cloze"
    with pytest.raises(FileNotFoundError, match=r"missing: cn_train\.txt.*holds ne_test\.txt"):
        resolve_data("auto", "cn", tmp_path)
    write_set(tmp_path, "cbt")
    assert resolve_data("auto", "ne", tmp_path) == "cbt"
    (tmp_path / cloze_file_name("cbt", "ne", "test")).unlink()
    assert resolve_data("auto", "ne", tmp_path) == "cloze"
    assert resolve_data("cbt", "ne", tmp_path) == "cbt"


@pytest.mark.parametrize("attention", ["over", "sum"])
def test_trains_on_files_of_questions(tmp_path: Path, attention: str) -> None:
    """The official format, one epoch, two devices, the whole way."""
    write_set(tmp_path)
    settings = recipe.Settings(
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        attention=attention,
        embedding_dim=6,
        hidden_dim=5,
        epochs=1,
        batch_size=4,
        devices="cpu:2",
    )
    result = recipe.main(settings)
    assert not any(name.startswith("one_reading") for name in result)
    assert result["epochs"] == 1
    assert result["replicas"] == 2
    assert 0 <= result["accuracy"] <= 100
    assert 0 <= result["validation_accuracy"] <= 100
    stored = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (stored["data"], stored["kind"]) == ("cloze", "ne")
    card = json.loads((tmp_path / "run" / "saved_model" / "model_card.json").read_text())
    assert set(card["data"]["sha256"]) == {"ne_train.txt", "ne_valid.txt", "ne_test.txt"}
    assert "not the Children's Book Test" in card["data"]["remarks"]
    assert card["tokenizer"] == {"placeholder": "XXXXX", "unknown_slots": 120, "readings": 1}
    assert (tmp_path / "run" / "attention.png").exists()

    with pytest.raises(ValueError, match="hidden_dim"):  # another setting, the same folder
        recipe.main(replace(settings, hidden_dim=7))


def test_windows_of_both_kinds_give_more_questions(tmp_path: Path) -> None:
    write_set(tmp_path)
    logger = logging.getLogger("tests.cloze")
    write_set(tmp_path, kind="cn")
    given = load_cloze_data("cloze", "ne", tmp_path, logger)
    more = with_cut_questions(given, "cloze", "ne", tmp_path, logger)
    assert len(given.training) == 12
    new = more.training.iloc[12:]  # of a sentence with a name that was there before
    assert set(new["query"]) == {"The cat saw XXXXX and Di ."}
    assert sorted(new["answer"]) == ["Ada", "Bo", "Cy"]
    assert len(more.texts) == 24
    assert set(more.record.sha256) == {*given.record.sha256, "cn_train.txt"}
    with pytest.raises(ValueError, match=r"more_questions must be False with the gen.*, got True"):
        recipe.main(recipe.Settings(data="sample", run_dir=tmp_path / "run", more_questions=True))


def test_one_reader_is_trained_on_both_kinds_from_given_vectors(tmp_path: Path) -> None:
    write_set(tmp_path)
    write_set(tmp_path, kind="cn", names=("dog", "hen", "bee", "ant"))
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("Ada 1 2 3\ncat 4 5 6\n")
    settings = recipe.Settings(
        kind="both",
        readings=4,
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        vectors=vectors,
        embedding_dim=3,
        hidden_dim=5,
        epochs=1,
        batch_size=4,
        learning_rate=1e-9,
    )
    result = recipe.main(settings)
    for part in ("", "validation_", "one_reading_", "one_reading_validation_"):
        kinds = [result[f"{part}accuracy_{kind}"] for kind in ("ne", "cn")]
        assert result[f"{part}accuracy"] == pytest.approx((12 * kinds[0] + 16 * kinds[1]) / 28)
    card = json.loads((tmp_path / "run" / "saved_model" / "model_card.json").read_text())
    assert len(card["data"]["sha256"]) == 7
    assert card["tokenizer"]["readings"] == 4
    assert card["data"]["name"].startswith("own files: ne_train.txt, cn_train.txt, ")
    assert "named entities and common nouns" in card["data"]["remarks"]
    assert "word vectors: vectors.txt" in card["data"]["remarks"]

    from zoo.serving.load import load, load_vocabulary

    model = load(tmp_path / "run" / "saved_model")
    words = load_vocabulary(tmp_path / "run" / "saved_model").words
    table = model.embedding.table.numpy()
    np.testing.assert_allclose(table[words.index("cat")], [4, 5, 6], atol=1e-5)
    rest = table[len(words) :]  # the slots, as far from zero as the vectors that were given
    assert len(rest) == 120
    assert rest.std() == pytest.approx(np.std([4, 5, 6]), rel=0.15)  # Ada is too rare

    with pytest.raises(
        ValueError, match=r"vectors must have embedding_dim, 4, values a word, got 3 "
    ):
        recipe.main(replace(settings, embedding_dim=4, run_dir=tmp_path / "other"))
    with pytest.raises(ValueError, match=r"kind must be 'ne' or 'cn' with the gen.*, got 'both'"):
        recipe.main(replace(settings, data="sample", readings=1, run_dir=tmp_path / "third"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"unknown_slots": 0, "hide_candidates": 0.5}, r"hide_candidates must be 0 .*, got 0\.5"),
        ({"hide_candidates": 0.5, "readings": 0}, "readings must be positive, got 0"),
        ({"readings": 2}, "readings must be 1 where hide_candidates is 0, got 2"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    tmp_path: Path, wrong: dict[str, Any], message: str
) -> None:
    settings = recipe.Settings(data="sample", run_dir=tmp_path / "run", **wrong)
    with pytest.raises(ValueError, match=message):
        recipe.main(settings)


def test_a_set_that_does_not_lie_here_is_one_clear_error(tmp_path: Path) -> None:
    settings = recipe.Settings(data="cbt", kind="cn", data_dir=tmp_path, run_dir=tmp_path / "run")
    with pytest.raises(FileNotFoundError, match=r"cbtest_CN_train.txt: not found.*CBTest.tgz"):
        recipe.main(settings)
