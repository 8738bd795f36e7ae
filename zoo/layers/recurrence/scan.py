"""A loop over time around any step function."""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from keras import ops

from zoo.layers.recurrence.loops import flip, must_flip, unstack
from zoo.ops.masking import Tensor, as_mask, refuse_attached_mask

Nest = Any  # a tensor, or a dict, list or tuple of tensors


def scan(
    step: Callable[[Nest, Nest], tuple[Nest, Nest]],
    inputs: Nest,
    state: Nest,
    mask: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Nest, Nest]:
    """Runs ``step`` over the time axis of ``inputs``.

    Args:
        step: ``(inputs_t, state) -> (outputs_t, new_state)``. Its closure holds whatever does not
            change over time (weights, a memory).
        inputs: nest of (B, T, ...).
        state: nest of (B, ...), the state before the first step.
        mask: optional bool (B, T). A masked step keeps the state and outputs zeros.
        reverse: whether to run from the last step to the first; outputs keep the order of
            ``inputs``.

    Returns:
        Outputs, a nest of (B, T, ...), and the state after the last step.

    Raises:
        ValueError: if ``mask`` holds floats or has another shape, or is None although Keras
            attached one to the inputs.
    """
    if must_flip(reverse):
        return _scan_flipped(step, inputs, state, mask)
    time_major = tf.nest.map_structure(swap_batch_and_time, inputs)
    length = tf.shape(tf.nest.flatten(time_major)[0])[0]
    arrays = tf.nest.map_structure(lambda x: unstack(x, length), time_major)
    if mask is None:
        refuse_attached_mask(inputs=inputs)
    else:
        mask = as_mask(mask, tf.nest.flatten(inputs)[0].shape[:2])
    masks = None if mask is None else unstack(swap_batch_and_time(mask), length)
    template, _ = step(tf.nest.map_structure(_blank_step, inputs), state)
    outputs = tf.nest.map_structure(lambda x: _empty_array(x, length), template)

    def body(index: Tensor, state: Nest, outputs: Nest) -> tuple[Tensor, Nest, Nest]:
        at = length - 1 - index if reverse else index
        out, new = step(tf.nest.map_structure(lambda array: array.read(at), arrays), state)
        if masks is not None:
            real = masks.read(at)
            new = tf.nest.map_structure(lambda a, b: _select(real, a, b), new, state)
            out = tf.nest.map_structure(lambda a: _select(real, a, tf.zeros_like(a)), out)
        outputs = tf.nest.map_structure(lambda array, x: array.write(at, x), outputs, out)
        return index + 1, new, outputs

    _, state, outputs = tf.while_loop(
        lambda index, *_: index < length,
        body,
        (tf.constant(0), state, outputs),
        maximum_iterations=length,
    )
    return tf.nest.map_structure(lambda array: swap_batch_and_time(array.stack()), outputs), state


def _scan_flipped(
    step: Callable[[Nest, Nest], tuple[Nest, Nest]], inputs: Nest, state: Nest, mask: Tensor | None
) -> tuple[Nest, Nest]:
    """Runs from the last step to the first as a loop that runs forward over flipped inputs."""
    mask = None if mask is None else flip(mask, axis=1)
    backward = tf.nest.map_structure(lambda x: flip(x, axis=1), inputs)
    outputs, state = scan(step, backward, state, mask)
    return tf.nest.map_structure(lambda x: flip(x, axis=1), outputs), state


def reads_no_steps(call: Callable[..., Any]) -> Callable[..., Any]:
    """Makes ``call`` of a layer read sequences without a step (B, 0, d).

    They are read as one step of padding, after which the state is the first one. Loops cannot run
    over no steps: no step tells the shape of what they return.

    Args:
        call: a method of values (B, T, d) and a mask (B, T), which returns a tuple of outputs
            (B, T, ...) and states.
    """

    @functools.wraps(call)
    def call_any(layer: Any, values: Tensor, mask: Tensor, *args: Any, **kwargs: Any) -> Any:
        if values.shape[1] != 0:
            return call(layer, values, mask, *args, **kwargs)
        mask = as_mask(mask, values.shape[:2])
        values = ops.pad(values, [[0, 0], [0, 1], [0, 0]])
        outputs, *states = call(layer, values, ops.pad(mask, [[0, 0], [0, 1]]), *args, **kwargs)
        return outputs[:, :0], *states

    return call_any


def swap_batch_and_time(values: Tensor) -> Tensor:
    """Transposes (B, T, ...) to (T, B, ...), or back."""
    values = tf.convert_to_tensor(values)
    return tf.transpose(values, (1, 0, *range(2, values.shape.rank)))


def _blank_step(values: Tensor) -> Tensor:
    """Makes zeros (B, ...) shaped like one step of values (B, T, ...); T may be 0."""
    values = tf.convert_to_tensor(values)
    shape = tf.shape(values)
    zeros = tf.zeros(tf.concat([shape[:1], shape[2:]], axis=0), values.dtype)
    return tf.ensure_shape(zeros, [values.shape[0], *values.shape[2:]])


def _empty_array(like: Tensor, length: Tensor) -> tf.TensorArray:
    return tf.TensorArray(like.dtype, length, element_shape=like.shape)


def _select(real: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """Selects ``new`` where ``real`` (B,), else ``old``, for tensors (B, ...) of any rank."""
    real = tf.reshape(real, (-1, *[1] * (new.shape.rank - 1)))
    return tf.where(real, new, old)
