import pytest
import tensorflow as tf

from zoo.training.distribution import make_strategy


def test_none_is_the_default_strategy():
    assert make_strategy("none") is tf.distribute.get_strategy()


def test_auto_without_several_gpus_is_one_device(monkeypatch):
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind=None: [])
    assert make_strategy("auto") is tf.distribute.get_strategy()


def test_auto_takes_two_devices_that_are_chosen():
    assert make_strategy("auto", ["CPU:0", "CPU:1"]).num_replicas_in_sync == 2
    for name in ("auto", "none"):
        assert make_strategy(name, ["CPU:0"]) is tf.distribute.get_strategy()


def test_mirrored_takes_all_logical_devices_when_there_is_no_gpu(logical_cpus):
    strategy = make_strategy("mirrored")
    assert strategy.num_replicas_in_sync == len(logical_cpus)
    assert isinstance(strategy.extended._cross_device_ops, tf.distribute.ReductionToOneDevice)


@pytest.mark.parametrize("form", ["CPU:{}", "cpu:{}", "/cpu:{}", "/device:CPU:{}"])
def test_devices_may_be_written_in_every_usual_form(form):
    strategy = make_strategy("mirrored", [form.format(0), form.format(2)])
    devices = [tf.DeviceSpec.from_string(name) for name in strategy.extended.worker_devices]
    assert [(device.device_type, device.device_index) for device in devices] == [
        ("CPU", 0),
        ("CPU", 2),
    ]


@pytest.mark.parametrize(
    ("name", "devices", "message"),
    [
        ("horovod", None, "one of auto, none, mirrored, multiworker, got 'horovod'"),
        ("mirrored", ["CPU:0"], "devices must be at least two with .*, got CPU:0:"),
        ("mirrored", [], "devices must be at least two with .*, got none:"),
        ("mirrored", ["CPU:0", "CPU:7"], "devices must be some of CPU:0, CPU:1.*, got CPU:7"),
        ("mirrored", ["CPU:0", "cpu:0"], "twice"),
        ("none", ["CPU:0", "CPU:1"], "must be one with strategy 'none', got CPU:0, CPU:1"),
    ],
)
def test_what_cannot_be_is_refused(name, devices, message):
    with pytest.raises(ValueError, match=message):
        make_strategy(name, devices)
