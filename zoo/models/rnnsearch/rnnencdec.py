"""Gated encoders and decoders without attention: the whole source in one vector.

``RNNencdec``: the baseline of Bahdanau et al. 2014 (arXiv 1409.0473, section 5). It has RNNsearch's
gated units and readout; the context of every step is the forward state at the last word.

``ChoTranslator``: Kyunghyun Cho et al.: Learning Phrase Representations using RNN Encoder-Decoder
for Statistical Machine Translation. EMNLP 2014, arXiv 1406.1078v3, appendix A, as printed: update
gates weigh the old state; the reset gate acts before the matrix in the encoder and after the
matrices in the decoder; the softmax matrix has low rank. The encoder's z has the opposite sign
(``zoo.layers.gated_unit``), which is the same function.

Where the papers are silent or several readings exist:
    y_0: its embedding is the zero vector, as in the released code;
    biases: omitted in print; RNNencdec has those of RNNsearch, ChoTranslator none;
    dropout: none in the papers; here on word vectors, on the context and before the softmax.

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, l maxout units, V target vocabulary.

Expected result: RNNencdec-50 reaches 17.82 BLEU on WMT14 English-French where RNNsearch-50 reaches
26.75; ``docs/translation.md`` has results of this code on Multi30k.

NumPy reference: ``tests/references/rnnencdec.py``. Docs: ``docs/architectures/rnnsearch.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from zoo.layers.gated_unit import GatedUnit, ResetAfterUnit
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser, repeat_rows
from zoo.models.rnnsearch.gated_translator import NORMAL, GatedTranslator
from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor, mask_from_ids

_TINY = {
    "source_vocabulary_size": 17,
    "target_vocabulary_size": 13,
    "embedding_dim": 4,
    "hidden_dim": 5,
    "maxout_dim": 3,
}


class _OneVectorTranslator(GatedTranslator):
    """Base of both models: a forward encoder, and one context for all steps."""

    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {}

    def _make_layers(
        self, unit: type[GatedUnit | ResetAfterUnit], use_bias: bool, rank: int | None = None
    ) -> None:
        self.encoder = GatedUnit(
            self.hidden_dim,
            use_bias=use_bias,
            kernel_initializer=NORMAL,
            name="encoder",
            dtype=self.dtype_policy,
        )
        self.make_decoder(unit, self.hidden_dim, use_bias, rank)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.encoder.build((None, None, self.embedding_dim))
        self.build_decoder(self.hidden_dim)
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes the context c (B, n) and its projection to the gates (B, 3n)."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        words = self.read(source, training)  # (B, S, m)
        context = self._summarise(self.encoder(words, mask)[1])  # (B, n)
        context = self.drop(context, training=training)
        gates = self.decoder.project_context(context)
        return {"context": context, "context_gates": gates, "mask": mask}

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Computes ``tanh(W c)`` (B, n)."""
        return {"hidden": self.first_state(memory["context"])}

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
        """Updates the state; there is no attention."""
        before = state["hidden"]
        rows = ops.shape(before)[0]
        context_gates = repeat_rows(memory["context_gates"], rows)
        hidden = self.decoder.step_with_context(inputs["gates"], context_gates, before)
        context = repeat_rows(memory["context"], rows)
        shown = self._shown(before, hidden)
        return self.collect(shown, context, inputs), {"hidden": hidden}, {}

    def _summarise(self, last: Tensor) -> Tensor:
        """Computes the context from the encoder's last state (B, n)."""
        return last

    def _shown(self, before: Tensor, after: Tensor) -> Tensor:
        """Chooses the state for the readout."""
        return after


@register_model(task="translation")
class RNNencdec(_OneVectorTranslator):
    """RNNsearch without attention: every step reads the encoder's last state.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every gated unit.
        maxout_dim: maxout units l of the readout, each the maximum of a pair.
        use_bias: whether there are biases.
        dropout: rate of dropout in training.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if a size is not positive, or ``dropout`` or ``label_smoothing`` is not
            a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"source_vocabulary_size": 30_000, "target_vocabulary_size": 30_000},
        "paper_no_bias": {
            "source_vocabulary_size": 30_000,
            "target_vocabulary_size": 30_000,
            "use_bias": False,
        },
        "small": {"embedding_dim": 256, "hidden_dim": 256, "maxout_dim": 256},
        "tiny": _TINY,
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 620,
        hidden_dim: int = 1000,
        maxout_dim: int = 500,
        use_bias: bool = True,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_sizes(maxout_dim=maxout_dim)
        self._make_layers(GatedUnit, use_bias)

    def _shown(self, before: Tensor, after: Tensor) -> Tensor:
        return before  # as in RNNsearch's appendix


@register_model(task="translation")
class ChoTranslator(_OneVectorTranslator):
    """RNN encoder-decoder of Cho et al.: ``c = tanh(V h_N)``, ``h'_0 = tanh(V' c)``.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every gated unit.
        maxout_dim: maxout units l of the readout, each the maximum of a pair.
        rank: rank of the softmax matrix, a product of two.
        dropout: rate of dropout in training.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if a size is not positive, or ``dropout`` or ``label_smoothing`` is not
            a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"source_vocabulary_size": 15_000, "target_vocabulary_size": 15_000},
        "small": {"embedding_dim": 256, "hidden_dim": 256, "maxout_dim": 256, "rank": 256},
        "tiny": {**_TINY, "rank": 2},
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 100,
        hidden_dim: int = 1000,
        maxout_dim: int = 500,
        rank: int = 100,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_sizes(maxout_dim=maxout_dim, rank=rank)
        self._make_layers(ResetAfterUnit, use_bias=False, rank=self.rank)
        self.summary_layer = keras.layers.Dense(
            self.hidden_dim,
            activation="tanh",
            use_bias=False,
            kernel_initializer=fresh(NORMAL),
            name="summary",
            dtype=self.dtype_policy,
        )

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.summary_layer.build((None, self.hidden_dim))
        super().build()

    def _summarise(self, last: Tensor) -> Tensor:
        return self.summary_layer(last)
