"""Choosing the devices of this process, before TensorFlow starts them.

`gpu:0,1` are the GPUs with these numbers; no other is touched. `cpu:2` is the CPU as two logical
devices without GPUs, for trying several devices on a machine that has none. `cpu:1`, or `cpu`, is
the CPU alone.
"""

import re

import tensorflow as tf

_EXPECTED = "such as gpu:0, gpu:0,1 (their numbers) or cpu:2 (how many logical devices)"


def choose_devices(text: str | None) -> list[str] | None:
    """Restrict TensorFlow to the devices in `text`.

    Args:
        text: `gpu:<number>,<number>...` or `cpu:<how many>`; None changes nothing.

    Returns:
        Their names in this process, in order, such as `["GPU:0", "GPU:1"]`: TensorFlow renumbers
        visible GPUs from 0. None if `text` is None.

    Raises:
        ValueError: `text` is malformed, names devices that do not exist, or TensorFlow has already
            started others.
    """
    if text is None:
        return None
    found = re.fullmatch(r"gpu:(\d+(?:,\d+)*)|cpu(?::(\d+))?", text.strip().lower())
    if found is None:
        raise ValueError(f"devices must be {_EXPECTED}, got {text!r}")
    try:
        if found[1]:
            return _gpus(text, [int(number) for number in found[1].split(",")])
        return _cpus(text, int(found[2] or 1))
    except RuntimeError as error:
        raise ValueError(
            f"devices must be chosen before anything is computed, got {text!r}: "
            "TensorFlow has already started its devices"
        ) from error


def _gpus(text: str, numbers: list[int]) -> list[str]:
    """Hide all GPUs but these."""
    existing = tf.config.list_physical_devices("GPU")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"devices must name no number twice, got {text!r}")
    if max(numbers) >= len(existing):
        raise ValueError(f"devices must be among the {len(existing)} GPUs here, got {text!r}")
    tf.config.set_visible_devices([existing[number] for number in numbers], "GPU")
    return [f"GPU:{index}" for index in range(len(numbers))]


def _cpus(text: str, count: int) -> list[str]:
    """Hide all GPUs, and split the CPU unless it already is."""
    if count < 1:
        raise ValueError(f"devices must be at least one, got {text!r}")
    tf.config.set_visible_devices([], "GPU")
    (cpu,) = tf.config.list_physical_devices("CPU")
    if len(tf.config.get_logical_device_configuration(cpu) or [None]) < count:
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
        )
    return [f"CPU:{index}" for index in range(count)]
