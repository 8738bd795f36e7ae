"""Sequence to sequence without attention: two LSTM stacks, connected by their states.

Ilya Sutskever, Oriol Vinyals, Quoc V. Le: Sequence to Sequence Learning with Neural Networks. NIPS
2014, arXiv 1409.3215. Covered: section 2 (the model), 3.3 (reversed source), 3.4 (initialisation).
It is also the baseline "base + reverse" of Luong et al. 2015 (arXiv 1508.04025), table 1.

Where the paper is silent or several readings exist:
    biases: none, as the published count of recurrent parameters implies; ``use_bias`` adds them to
        LSTMs and softmax;
    dropout: none in the paper; here on the inputs of LSTM layers and softmax (Zaremba et al. 2015).

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, L layers, V target vocabulary.

Expected result: a single model reaches 30.59 BLEU on WMT14 English-French with the source reversed;
``docs/translation.md`` has results of this code on Multi30k.

NumPy reference: ``tests/references/seq2seq.py``. Docs: ``docs/architectures/luong.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser
from zoo.models.core.stacked_translator import StackedTranslator
from zoo.ops.masking import Tensor, mask_from_ids


@register_model(task="translation")
class SutskeverTranslator(StackedTranslator):
    """Translates from the encoder's last states alone.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every layer.
        depth: layers L of encoder and decoder.
        reverse_source: whether the encoder reads from the last word to the first.
        use_bias: whether LSTMs and softmax have biases.
        initial_range: weights start uniform in plus or minus this number; layers smaller than the
            paper's need a wider range.
        dropout: rate of dropout in training.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if an option is not one of its choices, a size or the range is not positive, or
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
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.build_stacks()
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes every layer's last state, the only memory of the source."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        words = self.source_embedding(source)  # (B, S, m); the stack applies dropout
        _, final = self.encoder(words, mask, reverse=self.reverse_source, training=training)
        return final | {"mask": mask}

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns the encoder's last states, layer by layer."""
        return {name: values for name, values in memory.items() if name != "mask"}

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Projects y_{t-1} for the lowest layer (R, T, 4n) and samples the dropout masks."""
        return self.decoder.project(self.target_embedding(tokens), training=training)

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Computes the top layer's new state (R, n), without attention."""
        state = self.decoder.advance(inputs, state)
        return state[f"hidden_{self.depth - 1}"], state, {}

    def project(self, features: Tensor, training: bool = False) -> Tensor:
        """Computes logits (..., V): ``W_s h_t``, plus the bias."""
        return self.softmax(self.drop(features, training=training))
