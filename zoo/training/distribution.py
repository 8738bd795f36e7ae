"""Choice of the `tf.distribute.Strategy` under which a model is created and trained.

The whole model (and its optimizer) is created inside `strategy.scope()`; Keras' `fit` then splits
every batch among the replicas. The batch size is global: it does not depend on the number of
replicas. A replica may get a smaller share of the last batch, or none.
"""

from collections.abc import Sequence

import tensorflow as tf

from zoo.training.cluster import cluster_is_described, multi_worker_strategy

STRATEGIES = ("auto", "none", "mirrored", "multiworker")


def make_strategy(
    name: str = "auto", devices: Sequence[str] | None = None
) -> tf.distribute.Strategy:
    """Return the strategy called `name`.

    Args:
        name: `none` (one device), `mirrored` (synchronous replicas on the devices of this
            machine), `multiworker` (on those of several processes, which the environment
            describes: see `zoo.training.cluster`), or `auto`: `multiworker` when TF_CONFIG is set,
            `mirrored` when there are two GPUs or more, or two devices are chosen, else `none`.
        devices: devices of the replicas, such as `["GPU:0", "GPU:1"]`. By default all GPUs; for
            `mirrored` all logical CPU devices on a machine without GPUs.

    Returns:
        The strategy; for one device TensorFlow's default strategy, whose scope changes nothing.

    Raises:
        ValueError: the name is unknown, a device does not exist, there are fewer than two for
            `mirrored` or more than the strategy takes, or the environment describes no cluster.
    """
    if name not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {name!r}")
    if name == "multiworker" or (name == "auto" and cluster_is_described()):
        if devices is not None and len(devices) > 1 and _are_cpus(devices):
            raise ValueError(
                f"devices must be one CPU a process with multiworker, got {', '.join(devices)}"
            )
        return multi_worker_strategy()
    if name == "none":
        if devices is not None and len(devices) > 1:
            raise ValueError(f"devices must be one with strategy 'none', got {', '.join(devices)}")
        return tf.distribute.get_strategy()
    chosen = _existing_devices(devices) if devices is not None else _default_devices(name)
    if len(chosen) < 2 and name == "auto":
        return tf.distribute.get_strategy()
    if len(chosen) < 2:
        raise ValueError(
            "devices must be at least two with strategy 'mirrored', got "
            f"{', '.join(chosen) or 'none'}: strategy 'none' is for one"
        )
    if _are_cpus(chosen):
        # The default collective operations fail when a process makes a second model.
        return tf.distribute.MirroredStrategy(
            chosen, cross_device_ops=tf.distribute.ReductionToOneDevice()
        )
    return tf.distribute.MirroredStrategy(chosen)


def _default_devices(name: str) -> list[str]:
    """Return the short names (`GPU:0`) of all GPUs or, for `mirrored`, of all CPU devices."""
    found = tf.config.list_logical_devices("GPU")
    if not found and name == "mirrored":
        found = tf.config.list_logical_devices("CPU")
    return [_short_name(device.name) for device in found]


def _existing_devices(devices: Sequence[str]) -> list[str]:
    """Return the short names of `devices`, after checking that each exists, once."""
    existing = [_short_name(device.name) for device in tf.config.list_logical_devices()]
    chosen = [_short_name(device) for device in devices]
    unknown = [device for device in chosen if device not in existing]
    if unknown:
        raise ValueError(f"devices must be some of {', '.join(existing)}, got {', '.join(unknown)}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"devices must name no device twice, got {', '.join(chosen)}")
    return chosen


def _are_cpus(devices: Sequence[str]) -> bool:
    return all("CPU" in _short_name(device) for device in devices)


def _short_name(device: str) -> str:
    """Return `GPU:0` for `/device:GPU:0`, `/gpu:0` and `gpu:0`."""
    return device.rsplit("/", maxsplit=1)[-1].upper().removeprefix("DEVICE:")
