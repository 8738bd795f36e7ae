import json
import logging
import os
import re
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.odd_names import ODD_NAMES
from tests.training.toy import (
    Batches,
    assert_equal,
    built_toy,
    compiled_toy,
    differ,
    first_inputs,
    weights,
)
from zoo.models.core.replica_seeds import seed_states
from zoo.training.checkpoints import Checkpointer, read_weights
from zoo.training.progress import Progress


def trained_state(folder, **arguments):
    """Return a model after some steps, its progress and its checkpointer."""
    model = built_toy(**arguments)
    model.run_eagerly = True  # three steps take less than the trace of one
    progress = Progress()
    checkpointer = Checkpointer(model, progress, folder)
    model.fit(Batches().training(0).take(3), shuffle=False, verbose=0)
    progress.step = 3
    return model, progress, checkpointer


def other_state(folder, **arguments):
    """Return the same for a model that has not been trained and has other weights."""
    model = built_toy(**arguments)
    for weight in model.weights:
        weight.assign(weight + 1.0)
    progress = Progress()
    return model, progress, Checkpointer(model, progress, folder)


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.glob("*step*"))


def test_everything_comes_back_bit_for_bit(tmp_path):
    model, progress, checkpointer = trained_state(tmp_path)
    progress.best_score, progress.best_step = 1 / 3, 2
    progress.evaluations_without_gain, progress.seconds = 4, 5.5
    progress.history = [{"step": 2, "f1": 1 / 3}, {"step": 3, "f1": float("nan")}]
    checkpointer.save()
    dropped = [np.array(model(first_inputs(), training=True)) for _ in range(2)]

    other, other_progress, other_checkpointer = other_state(tmp_path)
    assert other_checkpointer.restore_latest()
    assert_equal(weights(model), weights(other))
    assert_equal(
        [variable.numpy() for variable in model.optimizer.variables],
        [variable.numpy() for variable in other.optimizer.variables],
    )
    assert int(other.optimizer.iterations.numpy()) == 3
    assert repr(other_progress) == repr(progress)
    # The seed states: the same dropout masks follow, and not twice the same one.
    again = [np.array(other(first_inputs(), training=True)) for _ in range(2)]
    assert_equal(dropped, again)
    assert differ(dropped[:1], dropped[1:])


def test_a_model_without_randomness_has_no_seed_states(tmp_path):
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert seed_states(model) == []
    assert len(seed_states(built_toy())) == 1
    checkpointer = Checkpointer(model, Progress(), tmp_path)
    checkpointer.save()
    assert checkpointer.restore_latest()


def test_extra_variables_are_part_of_it(tmp_path):
    model, variable = built_toy(), tf.Variable(2.0)
    checkpointer = Checkpointer(model, Progress(), tmp_path, extra={"average": [variable]})
    checkpointer.save()
    variable.assign(3.0)
    assert checkpointer.restore_latest()
    assert variable.numpy() == 2.0
    without = Checkpointer(model, Progress(), tmp_path)
    with pytest.raises(ValueError, match="does not fit this model: it holds 1 average, not 0"):
        without.restore_latest()


def test_nothing_to_restore(tmp_path):
    model, _, checkpointer = other_state(tmp_path)
    before = weights(model)
    assert not checkpointer.restore_latest()
    assert not checkpointer.restore_best()
    assert_equal(before, weights(model))


def test_the_last_two_are_kept(tmp_path):
    _, progress, checkpointer = trained_state(tmp_path)
    for step in (3, 1500, 1500, 2000):
        progress.step = step
        checkpointer.save()
    assert names(tmp_path) == ["000003-step-1500", "000004-step-2000"]


def test_best_weights_are_those_a_kept_checkpoint_refers_to(tmp_path):
    model, progress, checkpointer = trained_state(tmp_path)
    kept = []
    for step in (1, 2, 3, 4):
        progress.step = step
        if step in (1, 3):
            progress.best_step = step
            checkpointer.save_best()
            kept = weights(model)
        checkpointer.save()
        model.layers[0].weights[0].assign_add(np.ones_like(model.layers[0].weights[0]))
    assert names(tmp_path / "best") == ["000002-step-3"]
    assert checkpointer.restore_best()
    assert_equal(kept, weights(model))


def test_a_kill_between_best_weights_and_checkpoint_leaves_the_former_best(tmp_path):
    model, progress, checkpointer = trained_state(tmp_path)
    progress.best_step = 3
    checkpointer.save_best()
    checkpointer.save()
    expected = weights(model)
    model.layers[0].weights[0].assign_add(np.ones_like(model.layers[0].weights[0]))
    progress.step = progress.best_step = 4
    checkpointer.save_best()  # and never `save`

    other, other_progress, other_checkpointer = other_state(tmp_path)
    assert other_checkpointer.restore_latest()
    assert other_progress.best_step == 3
    assert other_checkpointer.restore_best()
    assert_equal(expected, weights(other))


@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
def test_a_write_that_stops_in_the_middle_is_no_checkpoint(tmp_path, monkeypatch, moment):
    _, progress, checkpointer = trained_state(tmp_path)
    checkpointer.save()
    progress.step = 4

    def stop(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        owner = tf.train.Checkpoint if moment == "write" else os
        patch.setattr(owner, moment, stop)
        with pytest.raises(OSError, match="No space left"):
            checkpointer.save()
    assert names(tmp_path) == ["000001-step-3"]
    _, other_progress, other_checkpointer = other_state(tmp_path)
    assert other_checkpointer.restore_latest()
    assert other_progress.step == 3
    other_progress.step = 5
    other_checkpointer.save()
    assert names(tmp_path) == ["000001-step-3", "000002-step-5"]
    assert not (tmp_path / ".writing").exists()


def truncate(path):
    file = path / "state.data-00000-of-00001"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(path):
    file = path / "state.data-00000-of-00001"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def lose_data(path):
    (path / "state.data-00000-of-00001").unlink()


def truncate_index(path):
    file = path / "state.index"
    file.write_bytes(file.read_bytes()[:20])


def lose_index(path):
    (path / "state.index").unlink()


def tear_progress(path):
    (path / "progress.json").write_text('{"step": 4,')


def change_progress(path, change):
    file = path / "progress.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))


def flip_step(path):
    change_progress(path, lambda values: values | {"step": 5})


def forget_gains(path):
    change_progress(path, lambda values: values | {"evaluations_without_gain": 7})


def empty_progress(path):
    change_progress(path, lambda values: [])


def null_progress(path):
    change_progress(path, lambda values: None)


def lose_progress(path):
    (path / "progress.json").unlink()


def empty_manifest(path):
    (path / "manifest.json").write_text("{}")


def null_manifest(path):
    (path / "manifest.json").write_text("null")


def rename(path):
    path.rename(path.with_name("000002-step-5"))


def of_earlier_versions(damage):
    """Damage to a checkpoint without a manifest."""

    def damaged(path):
        (path / "manifest.json").unlink()
        damage(path)

    damaged.__name__ = f"{damage.__name__}_of_earlier_versions"
    return damaged


BEFORE = [truncate, flip, lose_data, truncate_index, lose_index, tear_progress]
BEFORE += [flip_step, empty_progress, null_progress, lose_progress, rename]
DAMAGES = [*BEFORE, forget_gains, empty_manifest, null_manifest, *map(of_earlier_versions, BEFORE)]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_passed_over_with_a_warning(tmp_path, caplog, damage):
    model, progress, checkpointer = trained_state(tmp_path)
    checkpointer.save()
    expected = weights(model)
    progress.step = 4
    model.layers[0].weights[0].assign_add(np.ones_like(model.layers[0].weights[0]))
    damage(checkpointer.save())

    other, other_progress, other_checkpointer = other_state(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert other_checkpointer.restore_latest()
    assert re.search("000002-step-[45] is damaged and passed over: ", caplog.text)
    assert other_progress.step == 3
    assert_equal(expected, weights(other))
    # It is not counted among those kept: the good one stays beside the new one.
    other_progress.step = 4
    other_checkpointer.save()
    assert names(tmp_path) == ["000001-step-3", "000003-step-4"]


def test_only_damaged_checkpoints_are_an_error_and_not_a_new_start(tmp_path):
    _, _, checkpointer = trained_state(tmp_path)
    truncate(checkpointer.save())
    model, _, other_checkpointer = other_state(tmp_path)
    before = weights(model)
    with pytest.raises(ValueError, match=r"can be read: 000001-step-3 are damaged"):
        other_checkpointer.restore_latest()
    assert_equal(before, weights(model))


def test_a_damaged_best_checkpoint_is_an_error(tmp_path):
    _, progress, checkpointer = trained_state(tmp_path)
    progress.best_step = 3
    path = checkpointer.save_best()
    truncate(path)
    with pytest.raises(ValueError, match=r"best checkpoint .*step-3 cannot be read"):
        checkpointer.restore_best()
    shutil.rmtree(path)
    with pytest.raises(ValueError, match=r"best checkpoint .*step-3 cannot be read"):
        checkpointer.restore_best()


def test_a_checkpoint_of_earlier_versions_is_restored(tmp_path):
    model, _, checkpointer = trained_state(tmp_path)
    (checkpointer.save() / "manifest.json").unlink()
    other, progress, other_checkpointer = other_state(tmp_path)
    assert other_checkpointer.restore_latest()
    assert progress.step == 3
    assert_equal(weights(model), weights(other))


def test_a_restart_is_counted_under_the_manifest(tmp_path):
    _, _, checkpointer = trained_state(tmp_path)
    checkpointer.save()
    for count in (1, 2):
        _, progress, again = other_state(tmp_path)
        assert again.restore_latest()
        again.count_restart()
        assert progress.restarts == count


def test_a_checkpoint_whose_best_weights_are_damaged_is_passed_over(tmp_path, caplog):
    """It would be noticed at the end of the training only."""
    _, progress, checkpointer = trained_state(tmp_path)
    progress.best_step = 3
    kept = checkpointer.save_best()
    checkpointer.save()
    progress.step = progress.best_step = 4
    truncate(checkpointer.save_best())
    checkpointer.save()
    _, other_progress, other_checkpointer = other_state(tmp_path)
    assert other_checkpointer.restore_latest()
    assert "000002-step-4 is damaged and passed over: the best weights, of step 4" in caplog.text
    assert other_progress.step == other_progress.best_step == 3
    assert other_checkpointer.restore_best()
    truncate(kept)
    with pytest.raises(ValueError, match=r"no checkpoint in .* can be read"):
        other_checkpointer.restore_latest()


def test_a_checkpoint_is_of_no_use_beside_another_vocabulary(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")
    model = built_toy()
    checkpointer = Checkpointer(model, Progress(), tmp_path / "run" / "of", depends_on=[words])
    words.write_text("b\na\n")  # those that the ids stand for are known from the start
    checkpointer.save()
    with pytest.raises(ValueError, match=r"no checkpoint in .* can be read"):
        checkpointer.restore_latest()
    words.write_text("a\nb\n")
    (tmp_path / "run").rename(tmp_path / "moved")
    assert Checkpointer(model, Progress(), tmp_path / "moved" / "of").restore_latest()


def test_other_names_in_the_folder_are_no_checkpoints(tmp_path):
    _, progress, checkpointer = trained_state(tmp_path)
    for name in ("1st-step-2", "000009-step-9.bak", "notes"):
        (tmp_path / name).mkdir()
    progress.step = 5
    assert checkpointer.save().name == "000001-step-5"
    assert checkpointer.restore_latest()


@pytest.mark.parametrize("name", ODD_NAMES)
def test_folders_may_have_any_name(tmp_path, name):
    model, progress, checkpointer = trained_state(tmp_path / name)
    progress.best_step = 3
    checkpointer.save_best()
    path = checkpointer.save()
    other, other_progress, other_checkpointer = other_state(tmp_path / name)
    assert other_checkpointer.restore_latest()
    assert other_progress.step == 3
    assert_equal(weights(model), weights(other))
    assert other_checkpointer.restore_best()
    read_weights(path, built_toy())
    (path / "manifest.json").unlink()
    assert other_checkpointer.restore_latest()


def test_a_checkpoint_of_another_model_is_an_error(tmp_path):
    _, _, checkpointer = trained_state(tmp_path)
    checkpointer.save()
    _, _, wider = other_state(tmp_path, hidden_dim=9)
    with pytest.raises(ValueError, match="does not fit this model"):
        wider.restore_latest()
    _, _, deeper = other_state(tmp_path, recurrent=True)
    with pytest.raises(ValueError, match="holds 3 weights, not 6"):
        deeper.restore_latest()


def test_a_model_that_is_not_built_or_compiled_is_refused(tmp_path):
    with pytest.raises(ValueError, match="built and compiled"):
        Checkpointer(compiled_toy(), Progress(), tmp_path)
    dense = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="built and compiled"):
        Checkpointer(dense, Progress(), tmp_path)
