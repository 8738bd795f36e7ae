"""RNNsearch: translation that learns to align.

Dzmitry Bahdanau, Kyunghyun Cho, Yoshua Bengio: Neural Machine Translation by Jointly Learning to
Align and Translate. ICLR 2015, arXiv 1409.0473. Covered: section 3 and appendix A.2 (the
architecture; parts shared with the baseline are in gated_translator.py), appendix B.1
(initialisation).

Where the paper is silent or several readings exist:
    biases: omitted in print "for readability"; here everywhere but in the alignment, starting at
        zero; ``use_bias=False`` leaves them out;
    readout: ``"appendix"`` predicts the word from s_{i-1}, as printed there; ``"eq4"`` from s_i, as
        in section 3.1; ``"groundhog"`` from s_{i-1}, as the released code does, where the state
        update reads the word just written, s_i = f(s_{i-1}, y_i, c_i);
    y_0: its embedding is the zero vector, as in the released code;
    dropout: none in the paper; here on word vectors, on annotations and before the softmax.

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, a alignment units (the paper's n'), l maxout units, V target vocabulary.

Expected result: RNNsearch-50 reaches 26.75 BLEU on WMT14 English-French (all sentences);
``docs/translation.md`` has results of this code on Multi30k.

NumPy reference: ``tests/references/rnnsearch.py``. Docs: ``docs/architectures/rnnsearch.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.attention.scores import AdditiveScore
from zoo.layers.gated_unit import BidirectionalGatedUnit, GatedUnit
from zoo.models.core.arguments import check_sizes
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser, group_rows, ungroup_rows
from zoo.models.rnnsearch.gated_translator import NORMAL, GatedTranslator
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice

Readout = Literal["appendix", "eq4", "groundhog"]
ALIGNMENT_NORMAL = keras.initializers.RandomNormal(0.0, 0.001)  # appendix B.1


class AligningTranslator(GatedTranslator):
    """Base of both RNNsearches: bidirectional encoder and alignment; they name the arguments."""

    def _make_layers(self) -> None:
        self.encoder = BidirectionalGatedUnit(
            self.hidden_dim,
            use_bias=self.use_bias,
            kernel_initializer=NORMAL,
            name="encoder",
            dtype=self.dtype_policy,
        )
        self.score = AdditiveScore(
            self.alignment_dim,
            kernel_initializer=ALIGNMENT_NORMAL,
            scale_initializer="zeros",
            name="alignment",
            dtype=self.dtype_policy,
        )
        self.make_decoder(GatedUnit, 2 * self.hidden_dim, self.use_bias)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        n = self.hidden_dim
        self.encoder.build((None, None, self.embedding_dim))
        self.score.build((None, None, n), (None, None, 2 * n))
        self.build_decoder(2 * n)
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes the source annotations (appendix A.2.1) and their alignment keys."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        words = self.read(source, training)  # (B, S, m)
        annotations, _, backward = self.encoder(words, mask)  # (B, S, 2n), backward at word 1
        annotations = self.drop(annotations, training=training)
        return {
            "annotations": annotations,
            "keys": self.score.prepare(annotations),  # U_a h_j (B, S, a)
            "first": self.first_state(backward),  # s_0 = tanh(W_s h<_1) (B, n)
            "mask": mask,
        }

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns s_0 and, for the readout ``groundhog``, that no word has been written yet."""
        hidden = memory["first"]
        if self.readout != "groundhog":
            return {"hidden": hidden}
        context = ops.zeros((*ops.shape(hidden)[:1], 2 * self.hidden_dim), hidden.dtype)
        return {"hidden": hidden, "context": context, "started": ops.zeros_like(hidden[:, :1])}

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
        """Aligns, reads out and updates the state, in the order of ``readout``."""
        if self.readout == "groundhog":
            shown, context, alignment, state = self._advance_groundhog(inputs, state, memory)
        else:
            before = state["hidden"]  # s_{i-1} (R, n)
            context, alignment = self._align(before, state, memory)
            hidden = self._update(inputs, context, before)  # s_i
            shown = before if self.readout == "appendix" else hidden
            state = {"hidden": hidden} | self._extra_state(state, alignment)
        return self.collect(shown, context, inputs), state, {"alignment": alignment}

    def _advance_groundhog(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Updates to s_{i-1} = f(s_{i-2}, y_{i-1}, c_{i-1}), or s_0 at the first word; aligns."""
        written = self._update(inputs, state["context"], state["hidden"])
        hidden = ops.where(state["started"] > 0, written, state["hidden"])
        context, alignment = self._align(hidden, state, memory)
        started = ops.ones_like(state["started"])
        new = {"hidden": hidden, "context": context, "started": started}
        return hidden, context, alignment, new | self._extra_state(state, alignment)

    def _update(self, inputs: dict[str, Tensor], context: Tensor, hidden: Tensor) -> Tensor:
        """Computes the new state f(s, y, c) (R, n)."""
        context_gates = self.decoder.project_context(context)
        return self.decoder.step_with_context(inputs["gates"], context_gates, hidden)

    def _align(
        self, hidden: Tensor, state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Computes c_i (R, 2n) and alpha_i (R, S) from s_{i-1} (R, n)."""
        queries = group_rows(hidden, ops.shape(memory["mask"])[0])  # (B, R / B, n)
        scores = self._score_annotations(queries, state, memory)  # e_ij (B, R / B, S)
        context, alignment = attend(scores, memory["annotations"], memory["mask"])
        return ungroup_rows(context), ungroup_rows(alignment)

    def _score_annotations(
        self, queries: Tensor, state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> Tensor:
        """Scores all annotations (B, R / B, S) for the states (B, R / B, n)."""
        return self.score(queries, memory["keys"])

    def _extra_state(self, state: dict[str, Tensor], alignment: Tensor) -> dict[str, Tensor]:
        """Additional entries of the next state; none here."""
        return {}


@register_model(task="translation")
class RNNsearch(AligningTranslator):
    """Translates with a bidirectional encoder and an alignment of every target word.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every gated unit.
        alignment_dim: units a of the alignment model.
        maxout_dim: maxout units l of the readout, each the maximum of a pair.
        readout: ``"appendix"``, ``"eq4"`` or ``"groundhog"``.
        use_bias: whether there are biases outside the alignment.
        dropout: rate of dropout in training.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if an option is not one of its choices, a size is not positive, or ``dropout``
            or ``label_smoothing`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"source_vocabulary_size": 30_000, "target_vocabulary_size": 30_000},
        "paper_no_bias": {
            "source_vocabulary_size": 30_000,
            "target_vocabulary_size": 30_000,
            "use_bias": False,
        },
        "small": {"embedding_dim": 256, "hidden_dim": 256, "alignment_dim": 256, "maxout_dim": 256},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "embedding_dim": 4,
            "hidden_dim": 5,
            "alignment_dim": 6,
            "maxout_dim": 3,
        },
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 620,
        hidden_dim: int = 1000,
        alignment_dim: int = 1000,
        maxout_dim: int = 500,
        readout: Readout = "appendix",
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
        check_choice("readout", readout, get_args(Readout))
        self._make_layers()
