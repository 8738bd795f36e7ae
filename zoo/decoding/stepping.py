"""Helpers for the loops of all searches."""

import tensorflow as tf

from zoo.decoding.limits import SPECIALS
from zoo.decoding.protocol import StepModel, Tensors


def batch_and_source(model: StepModel, memory: Tensors) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the number of sentences and of alignment columns, 0 without attention."""
    batch, source = tf.unstack(tf.shape(memory["mask"]))
    return batch, source if "alignment" in model.ATTENTION else tf.constant(0)


def alignment_rows(attention: Tensors, rows: tf.Tensor) -> tf.Tensor:
    """Returns the alignment (rows, S) of one step in float32; (rows, 0) without attention.

    That to the cells of a grid, (rows, H, W), has its rows one after the other: S = H W.
    """
    if "alignment" in attention:
        alignment = tf.cast(attention["alignment"], tf.float32)
        if alignment.shape.rank == 2:
            return alignment
        return tf.reshape(alignment, (rows, tf.reduce_prod(tf.shape(alignment)[1:])))
    return tf.zeros((rows, 0))


def single_precision(logits: tf.Tensor) -> tf.Tensor:
    """Casts logits (rows, V) to float32, whatever the model computes in.

    Raises:
        ValueError: if V is unknown or leaves no word besides the four special ids.
    """
    size = logits.shape[-1]
    if size is None or size <= SPECIALS:
        expected = f"a known number of columns above {SPECIALS}"
        raise ValueError(f"logits must have {expected}, got shape {logits.shape}")
    return tf.cast(logits, tf.float32)
