"""Sequence to sequence without attention: two stacks of LSTMs, joined by their states.

Ilya Sutskever, Oriol Vinyals, Quoc V. Le: Sequence to Sequence Learning with Neural Networks. NIPS
2014, arXiv 1409.3215. Covered: section 2 (the model), 3.3 (reversed source), 3.4 (initialisation).
It is also the base of Luong et al. 2015 (arXiv 1508.04025), table 1, "base + reverse".

Where the paper is silent or several readings exist:
    biases: none, which the published count of recurrent parameters implies; ``use_bias`` gives them
        to LSTMs and softmax;
    dropout: none in the paper; here on what LSTM layers and the softmax read (Zaremba et al. 2015).

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, L layers, V target vocabulary.

Expected result: a single model reaches 30.59 BLEU on WMT14 English-French with the source
reversed; what this code reached on Multi30k stands in ``docs/translation.md``.

NumPy reference: ``tests/references/seq2seq.py``. Docs: ``docs/translation.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser
from zoo.models.luong.stacked_translator import StackedTranslator
from zoo.ops.masking import Tensor, mask_from_ids


@register_model(task="translation")
class SutskeverTranslator(StackedTranslator):
    """Translates out of the states that an encoder ends in.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every layer.
        depth: layers L of encoder and decoder.
        reverse_source: whether the encoder reads from the last word to the first.
        use_bias: whether LSTMs and softmax have biases.
        initial_range: every weight begins between minus and plus this number; smaller layers than
            the paper's want a wider one.
        dropout: rate of dropout in training.
        label_smoothing: probability that the right id gives away to the others in the loss; the
            paper has none.
        loss_normaliser: the loss is the mean over ``"sentences"`` or over ``"tokens"``.

    Raises:
        ValueError: if an option is none of its choices, a size or the range is not positive, or
            ``dropout`` or ``label_smoothing`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"source_vocabulary_size": 160_000, "target_vocabulary_size": 80_000},
        "paper_luong_base": {"source_vocabulary_size": 50_000, "target_vocabulary_size": 50_000},
        "small": {"embedding_dim": 256, "hidden_dim": 256, "depth": 1, "use_bias": True},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "embedding_dim": 4,
            "hidden_dim": 5,
            "depth": 2,
        },
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {}

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 1000,
        hidden_dim: int = 1000,
        depth: int = 4,
        reverse_source: bool = True,
        use_bias: bool = False,
        initial_range: float = 0.08,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_sizes(depth=depth)
        self.make_stacks()

    def build(self, *_: Any) -> None:
        """Creates every weight; sizes depend on the constructor's arguments alone."""
        self.build_stacks()
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """The last state of every layer: all that is known of the source."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        words = self.source_embedding(source)  # (B, S, m); the stack drops what it reads
        _, final = self.encoder(words, mask, reverse=self.reverse_source, training=training)
        return final | {"mask": mask}

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """The encoder's last states, layer by layer."""
        return {name: values for name, values in memory.items() if name != "mask"}

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """The top layer's new state (R, n), and no attention."""
        state = self.decoder.advance(inputs, state)
        return state[f"hidden_{self.depth - 1}"], state, {}
