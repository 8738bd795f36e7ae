"""Cross entropy over large vocabularies."""

from typing import Any

from keras import ops

from zoo.ops.masking import Tensor


def cross_entropy(logits: Tensor, ids: Tensor) -> Tensor:
    """Negative log-likelihood ``-log softmax(logits)[id]`` of one id each.

    Over ten thousand ids the passes over the logits cost as much as the product that made them:
    there are four here, and two more of the gradient, each a plain vectorised operation.

    Args:
        logits: float (..., V).
        ids: int (...), in [0, V).

    Returns:
        (...), in the dtype of the logits.
    """
    shape, size = ops.shape(ids), logits.shape[-1]
    losses = _row_losses(ops.reshape(logits, (-1, size)), ops.reshape(ids, (-1,)))
    return ops.reshape(losses, shape)


def _row_losses(logits: Tensor, ids: Tensor) -> Tensor:
    """Losses (N,) of logits (N, V) and ids (N,)."""
    columns = ops.cast(ids, "int32")[:, None]
    rows = ops.arange(ops.shape(ids)[0], dtype="int32")[:, None]
    places = ops.concatenate([rows, columns], axis=1)  # (N, 2)

    def picked(values: Tensor) -> Tensor:
        return ops.take_along_axis(values, columns, axis=1)[:, 0]

    @ops.custom_gradient
    def losses(logits: Tensor) -> tuple[Tensor, Any]:
        # The initial value lets it be called without a row.
        maximum = ops.max(logits, axis=1, keepdims=True, initial=-float("inf"))
        exponentials = ops.exp(logits - maximum)
        total = ops.sum(exponentials, axis=1)

        def gradient(upstream: Tensor) -> Tensor:
            """``upstream * (softmax - one_hot)``, without making the one-hot vectors."""
            softmax = exponentials * (upstream / total)[:, None]
            hits = picked(softmax) - upstream
            return ops.scatter_update(softmax, places, hits)

        return ops.log(total) + maximum[:, 0] - picked(logits), gradient

    return losses(logits)
