"""Choosing the `tf.distribute.Strategy` a model is created and trained under.

The whole model (and its optimizer) is created inside `strategy.scope()`; Keras' `fit` then splits
every batch among the replicas. The batch is the global one: its size does not depend on the
number of replicas, and a replica may get a smaller share of the last batch, or nothing of it.
"""

from collections.abc import Sequence

import tensorflow as tf

STRATEGIES = ("auto", "none", "mirrored")


def make_strategy(
    name: str = "auto", devices: Sequence[str] | None = None
) -> tf.distribute.Strategy:
    """Return the strategy called `name`.

    Args:
        name: `none` (one device), `mirrored` (synchronous replicas on the devices of this
            machine), or `auto`: `mirrored` when there are two GPUs or more, else `none`.
        devices: devices of the replicas, such as `["GPU:0", "GPU:1"]`; only for `mirrored`. By
            default all GPUs, or all logical CPU devices on a machine without GPUs.

    Returns:
        The strategy; for one device TensorFlow's default strategy, whose scope changes nothing.

    Raises:
        ValueError: the name is unknown, a device does not exist, or there are fewer than two.
    """
    if name not in STRATEGIES:
        raise ValueError(f"name must be one of {', '.join(STRATEGIES)}; got {name!r}")
    if devices is not None and name != "mirrored":
        raise ValueError(f"devices can be chosen for strategy 'mirrored' only; got name={name!r}")
    if name == "none" or (name == "auto" and len(tf.config.list_logical_devices("GPU")) < 2):
        return tf.distribute.get_strategy()
    chosen = _existing_devices(devices) if devices is not None else _default_devices()
    if len(chosen) < 2:
        raise ValueError(
            f"strategy 'mirrored' needs at least two devices; got {', '.join(chosen) or 'none'}. "
            "Use strategy 'none' for one device"
        )
    if all("CPU" in device for device in chosen):
        # The collective operations that are the default die when a process makes a second model.
        return tf.distribute.MirroredStrategy(
            chosen, cross_device_ops=tf.distribute.ReductionToOneDevice()
        )
    return tf.distribute.MirroredStrategy(chosen)


def _default_devices() -> list[str]:
    """Return the short names (`GPU:0`) of all GPUs, or of all CPU devices where there is none."""
    found = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    return [_short_name(device.name) for device in found]


def _existing_devices(devices: Sequence[str]) -> list[str]:
    """Return the short names of `devices`, after checking that each exists, once."""
    existing = [_short_name(device.name) for device in tf.config.list_logical_devices()]
    chosen = [_short_name(device) for device in devices]
    unknown = [device for device in chosen if device not in existing]
    if unknown:
        raise ValueError(f"devices names {', '.join(unknown)}; there are {', '.join(existing)}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"devices names a device twice: {', '.join(chosen)}")
    return chosen


def _short_name(device: str) -> str:
    """Return `GPU:0` for `/device:GPU:0`, `/gpu:0` and `gpu:0`."""
    return device.rsplit("/", maxsplit=1)[-1].upper().removeprefix("DEVICE:")
