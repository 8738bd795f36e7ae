"""Values of `--devices`, and the devices that they select."""

import pytest
import tensorflow as tf

from zoo.training.devices import choose_devices


def test_nothing_chosen_leaves_all_as_it_is():
    assert choose_devices(None) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [("cpu:2", ["CPU:0", "CPU:1"]), ("CPU", ["CPU:0"]), (" cpu:1 ", ["CPU:0"])],
)
def test_a_cpu_that_is_split_far_enough_is_taken_as_it_is(text, names, logical_cpus, monkeypatch):
    hidden = []
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda *chosen: hidden.append(chosen))
    assert choose_devices(text) == names
    assert hidden == [([], "GPU")]
    assert len(logical_cpus) == len(tf.config.list_logical_devices("CPU"))


def test_gpus_are_hidden_but_for_those_that_are_chosen(monkeypatch):
    hidden = []
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["a", "b", "c"])
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda *chosen: hidden.append(chosen))
    assert choose_devices("gpu:2,0") == ["GPU:0", "GPU:1"]
    assert hidden == [(["c", "a"], "GPU")]


def test_when_tensorflow_has_started_it_is_too_late(logical_cpus):
    assert len(logical_cpus) < 9
    with pytest.raises(
        ValueError, match=r"^devices must be chosen before .*, got 'cpu:9': TensorFlow"
    ):
        choose_devices("cpu:9")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tpu:0", "devices must be such as gpu:0, gpu:0,1 .*, got 'tpu:0'"),
        ("gpu", "devices must be such as .*, got 'gpu'"),
        ("gpu:0,", "devices must be such as .*, got 'gpu:0,'"),
        ("cpu:0", "devices must be at least one, got 'cpu:0'"),
        ("gpu:1,1", "devices must name no number twice, got 'gpu:1,1'"),
        ("gpu:64", "devices must be among the [0-9]+ GPUs here, got 'gpu:64'"),
    ],
)
def test_other_devices_are_refused(text, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        choose_devices(text)
