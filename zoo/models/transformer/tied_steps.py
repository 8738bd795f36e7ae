"""Steps of a search by a model whose softmax is its embedding table.

The plain form transposes the table (V, d) in every step. TensorFlow then multiplies by the table as
it lies, which is slow for the few rows of a beam, above all without oneDNN; a product with the
transposed kernel (d, V) is not. So that is made once, outside of the search's loop.

Shape letters: B sources, R rows, d model, V vocabulary.
"""

from typing import TYPE_CHECKING

from zoo.ops.linear import project
from zoo.ops.masking import Tensor

if TYPE_CHECKING:
    from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel


class TiedSteps:
    """The step protocol of a model, with a kernel for its logits.

    Args:
        model: its features (R, d) are a tensor.
        kernel: (d, V), made outside of the loop.
    """

    def __init__(self, model: "SequenceToSequenceModel", kernel: Tensor) -> None:
        self.ATTENTION = model.ATTENTION
        self.shared_state = model.shared_state
        self.initial_state = model.initial_state
        self._features = model.step_features
        self._kernel = kernel

    def step(
        self, tokens: Tensor, state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Writes one token more; see ``SequenceToSequenceModel.step``."""
        features, state, maps = self._features(tokens, state, memory)
        return project(features, self._kernel), state, maps
