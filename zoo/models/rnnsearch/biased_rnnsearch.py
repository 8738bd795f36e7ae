"""RNNsearch with structural alignment biases.

Trevor Cohn, Cong Duy Vu Hoang, Ekaterina Vymolova, Kaisheng Yao, Chris Dyer, Gholamreza Haffari:
Incorporating Structural Alignment Biases into an Attentional Neural Translation Model. NAACL
2016, arXiv 1601.01085. Covered: section 3.1 (position bias), 3.2 (Markov condition), 3.3 (local and
global fertility). symmetric_translators.py trains two directions together (section 3.4).

The traditional alignment models knew that neighbours are translated next to each other, that words
keep their order, and how many words each gives. Here terms inside the tanh of RNNsearch's score
tell it so (alignment_biases.py). Each can be switched off; without all of them, or with their
weights at zero, the alignment is RNNsearch's.

Where the paper is silent or differs from the released code:
    encoder and decoder: RNNsearch's gated units, where the released code has LSTMs;
    readout: ``"tanh"`` is the released ``tanh(h + Q c + P E y)``; the others are RNNsearch's;
    positions: counted from 1, as printed; the released code counts from 0;
    start and end of the source are not counted by the global fertility, as in the released code;
    global fertility: the released code fine-tunes a trained model with it, because from scratch it
        pulls the attention towards uniform weights. So ``global_fertility`` is 0 by default.

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, a alignment units, V target vocabulary.

Expected result: none is quoted here, as the paper's tables could not be read again.

NumPy reference: ``tests/references/biased_rnnsearch.py``. Docs:
``docs/architectures/rnnsearch.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.models.core.arguments import check_sizes
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import (
    END_ID,
    START_ID,
    Features,
    LossNormaliser,
    mean_weights,
)
from zoo.models.rnnsearch.alignment_biases import AlignmentBiases, Fertility, fertility_loss
from zoo.models.rnnsearch.readout import TanhReadout
from zoo.models.rnnsearch.rnnsearch import ALIGNMENT_NORMAL, AligningTranslator, RNNsearch
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice, check_not_negative, is_whole

BiasedReadout = Literal["tanh", "appendix", "eq4", "groundhog"]


@register_model(task="translation")
class BiasedRNNsearch(AligningTranslator):
    """RNNsearch whose alignment knows positions, past alignments and fertilities.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every gated unit.
        alignment_dim: units a of the alignment model.
        maxout_dim: maxout units of the readout; unused with ``"tanh"``, whose size is n.
        readout: ``"tanh"``, ``"appendix"``, ``"eq4"`` or ``"groundhog"``.
        position: whether the score sees positions in source and target, and the source's length.
        markov: whether it sees the weights of the word before.
        fertility: whether it sees the sum of all past weights.
        half_width: k of the windows of both, which have 2k + 1 weights.
        global_fertility: coefficient of the loss of the fertilities; 0: they are not modelled.
        use_bias: whether there are biases outside the alignment.
        dropout: rate of dropout in training.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if an option is not one of its choices, a size is not positive, ``half_width``
            or ``global_fertility`` is negative, or ``dropout`` or ``label_smoothing`` is not a
            rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"source_vocabulary_size": 30_000, "target_vocabulary_size": 30_000},
        "small": RNNsearch.PRESETS["small"],
        "tiny": RNNsearch.PRESETS["tiny"],
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 620,
        hidden_dim: int = 1000,
        alignment_dim: int = 1000,
        maxout_dim: int = 500,
        readout: BiasedReadout = "tanh",
        position: bool = True,
        markov: bool = True,
        fertility: bool = True,
        half_width: int = 1,
        global_fertility: float = 0.0,
        use_bias: bool = True,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_sizes(alignment_dim=alignment_dim, maxout_dim=maxout_dim)
        check_choice("readout", readout, get_args(BiasedReadout))
        if not is_whole(half_width) or half_width < 0:
            raise ValueError(f"half_width must be an integer, at least 0, got {half_width!r}")
        check_not_negative(global_fertility=global_fertility)
        self._make_layers()

    def _make_layers(self) -> None:
        super()._make_layers()
        policy = self.score.dtype_policy  # at least single precision
        self.biases = AlignmentBiases(
            self.alignment_dim,
            self.position,
            self.markov,
            self.fertility,
            self.half_width,
            ALIGNMENT_NORMAL,
            name="biases",
            dtype=policy,
        )
        if self.global_fertility:
            self.fertilities = Fertility(self.alignment_dim, name="fertilities", dtype=policy)

    def make_readout(self, **options: Any) -> keras.layers.Layer:
        """Makes the layer from state, context and previous word to logits."""
        if self.readout != "tanh":
            return super().make_readout(**options)
        options.pop("rank")
        size, dropout = self.target_vocabulary_size, self.dropout
        return TanhReadout(size, dropout=dropout, name="readout", **options)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.biases.build()
        if self.global_fertility:
            self.fertilities.build((None, None, 2 * self.hidden_dim))
        super().build()

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """As in RNNsearch; adds what is known of positions and fertilities before any step."""
        source, memory = inputs["source"], super().encode(inputs, training)
        if self.position:
            memory["keys"] = memory["keys"] + self.biases.of_source(memory["mask"])
        if self.global_fertility:
            counted = mask_from_ids(source) & (source != START_ID) & (source != END_ID)
            memory |= self.fertilities(memory["annotations"], counted)
        return memory

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """As in RNNsearch; no weights yet."""
        return super().initial_state(memory) | self.biases.first_state(memory["mask"])

    def read_target(
        self, target: Tensor, memory: dict[str, Tensor], training: bool = False
    ) -> tuple[Features, dict[str, Any]]:
        """As in every translator; mean and variance (B, S) of the global fertility besides."""
        features, outputs = super().read_target(target, memory, training)
        names = ("fertility_mean", "fertility_variance") if self.global_fertility else ()
        return features, outputs | {name: memory[name] for name in names}

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """Cross entropy, and the loss of the global fertility of each source.

        Its weight is the mean of the weights of the target's real tokens.
        """
        losses, units = super().weighted_losses(targets, outputs, weights)
        if not self.global_fertility:
            return losses, units
        alignment = outputs["attention"]["alignment"]
        density = fertility_loss(
            alignment, outputs["fertility_mean"], outputs["fertility_variance"]
        )
        if weights is not None:
            density *= ops.cast(mean_weights(targets, weights), density.dtype)
        return losses + self.global_fertility * ops.cast(density, losses.dtype), units

    def _score_annotations(
        self, queries: Tensor, state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> Tensor:
        """Scores all annotations, with the biases inside the tanh."""
        pair_part = self.biases.of_step(state, ops.shape(memory["mask"])[0])
        return self.score(queries, memory["keys"], pair_part)

    def _extra_state(self, state: dict[str, Tensor], alignment: Tensor) -> dict[str, Tensor]:
        """Additional entries of the next state: what ``AlignmentBiases`` needs."""
        return self.biases.next_state(state, alignment)
