"""Global and local attention over stacked LSTMs.

Minh-Thang Luong, Hieu Pham, Christopher D. Manning: Effective Approaches to Attention-based Neural
Machine Translation. EMNLP 2015, arXiv 1508.04025. Covered: section 2 (stacked LSTMs), 3.1 (global
attention, equations 5-8), 3.2 (local attention, equations 9-10), 3.3 (input feeding), 4.1
(initialisation, reversed source, dropout).

Where the paper is silent or several readings exist:
    concat: ``v_a^T tanh(W_a [h_t; h_s])``, as arXiv prints it; ``"concat_identity"`` is the form
        that the authors ran (footnote 15), with W_a for h_t and the identity for h_s;
    local windows: 2D + 1 slots around floor(p_t) as in the released code, or ``window="real"``;
    the Gaussian's product is not renormalised, as in the released code, unless ``renormalise``;
    local_m: p_t = min(t, S - 1), as in the released code, where the paper has t: a target that is
        longer than its source keeps a window;
    positions count from 0 in the original order of the source, even if it is read in reverse;
    biases: none, as in the released code; ``use_bias`` adds them to LSTMs and softmax;
    dropout: on all but recurrent connections, as in Zaremba et al. 2015 (arXiv 1409.2329): on the
        inputs of LSTM layers, attention and softmax.
Left out: the released code clips states to [-50, 50] and their gradients to [-1000, 1000].

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, m embedding,
n hidden, L layers, D half-width of a window, W its slots, V target vocabulary.

Expected result: local-p (general) with input feeding and dropout reaches 19.0 BLEU on WMT14
English-German; ``docs/translation.md`` has results of this code on Multi30k.

NumPy reference: ``tests/references/luong.py``. Docs: ``docs/architectures/luong.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.attention.local import LocalAttention, Window
from zoo.attention.scores import make_score
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser, group_rows, ungroup_rows
from zoo.models.core.stacked_translator import StackedTranslator
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice
from zoo.ops.windows import scatter_window, sequence_lengths

ScoreName = Literal["dot", "general", "concat", "concat_identity", "location"]
Mechanism = Literal["global", "local_m", "local_p"]
_VOCABULARIES = {"source_vocabulary_size": 50_000, "target_vocabulary_size": 50_000}


@register_model(task="translation")
class LuongTranslator(StackedTranslator):
    """Translates with stacked LSTMs, attending after the top layer of every step.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every layer.
        depth: layers L of encoder and decoder.
        score: ``"dot"``, ``"general"``, ``"concat"``, ``"concat_identity"`` or ``"location"``.
        mechanism: ``"global"``, ``"local_m"`` (monotonic) or ``"local_p"`` (predictive).
        input_feeding: whether the lowest layer also reads h~_{t-1}.
        reverse_source: whether the encoder reads from the last word to the first.
        half_width: D of a local window.
        window: ``"floor"`` or ``"real"``.
        renormalise: whether the weights of local-p sum to one.
        maximum_source_length: number of positions that ``"location"`` has weights for.
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

    # Local-p's Gaussian leaves weights that sum to one at most.
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(axes.Steps("target"), axes.Tokens("source"), normalised=False)
    }
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**_VOCABULARIES},
        "paper_global_dot": {**_VOCABULARIES, "mechanism": "global", "score": "dot"},
        "paper_global_dot_bias": {
            **_VOCABULARIES,
            "mechanism": "global",
            "score": "dot",
            "use_bias": True,
        },
        "paper_global_general": {**_VOCABULARIES, "mechanism": "global"},
        "paper_global_concat": {**_VOCABULARIES, "mechanism": "global", "score": "concat"},
        "paper_global_concat_identity": {
            **_VOCABULARIES,
            "mechanism": "global",
            "score": "concat_identity",
        },
        "paper_global_location": {**_VOCABULARIES, "mechanism": "global", "score": "location"},
        "paper_local_m_general": {**_VOCABULARIES, "mechanism": "local_m"},
        "small": {"embedding_dim": 256, "hidden_dim": 256, "depth": 1, "use_bias": True},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "embedding_dim": 4,
            "hidden_dim": 5,
            "depth": 2,
            "half_width": 2,
        },
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 1000,
        hidden_dim: int = 1000,
        depth: int = 4,
        score: ScoreName = "general",
        mechanism: Mechanism = "local_p",
        input_feeding: bool = True,
        reverse_source: bool = True,
        half_width: int = 10,
        window: Window = "floor",
        renormalise: bool = False,
        maximum_source_length: int = 50,
        use_bias: bool = False,
        initial_range: float = 0.1,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_sizes(depth=depth, half_width=half_width)
        check_sizes(maximum_source_length=maximum_source_length)
        check_choice("score", score, get_args(ScoreName))
        check_choice("mechanism", mechanism, get_args(Mechanism))
        check_choice("window", window, get_args(Window))
        self._make_layers()

    def _make_layers(self) -> None:
        self.make_stacks(feed_dim=self.hidden_dim if self.input_feeding else 0)
        self.attention = self._make_attention(self.uniform())
        self.combine = keras.layers.Dense(
            self.hidden_dim, activation="tanh", use_bias=False, name="combine", **self.uniform()
        )

    def _make_attention(self, uniform: dict[str, Any]) -> keras.layers.Layer:
        score = make_score(
            self.score,
            units=self.hidden_dim,
            maximum_length=self.maximum_source_length,
            scale_initializer=uniform["kernel_initializer"],
            name="score",
            **uniform,
        )
        if self.mechanism == "global":
            return score
        return LocalAttention(
            score,
            half_width=self.half_width,
            predictive=self.mechanism == "local_p",
            window=self.window,
            renormalise=self.renormalise,
            scale_initializer=uniform["kernel_initializer"],
            name="local",
            **uniform,
        )

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        sequence = (None, None, self.hidden_dim)
        self.build_stacks()
        self.attention.build(sequence, sequence)
        self.combine.build((None, 2 * self.hidden_dim))
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes the top layer's states, in source order, and every layer's last state."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        words = self.source_embedding(source)  # (B, S, m); the stack applies dropout
        annotations, final = self.encoder(
            words, mask, reverse=self.reverse_source, training=training
        )  # (B, S, n)
        annotations = self.drop(annotations, training=training)
        return {
            "annotations": annotations,
            "keys": self.attention.prepare(annotations),  # e.g. W_a h_s (B, S, n)
            "lengths": sequence_lengths(mask),
            "mask": mask,
        } | final

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns the encoder's last states, layer by layer, with h~_0 = 0 and t = 0."""
        state = {f"{name}_{k}": memory[f"{name}_{k}"] for name, k in self._state_names()}
        if self.input_feeding:
            state["attentional"] = ops.zeros_like(state["hidden_0"])
        if self.mechanism == "local_m":
            state["time"] = ops.zeros_like(memory["lengths"])[:, None]
        return state

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Projects y_{t-1} for the lowest layer (R, T, 4n) and samples the dropout masks."""
        return self.decoder.project(self.target_embedding(tokens), training=training)

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Computes h_t, then a_t and c_t, then ``h~_t = tanh(W_c [c_t; h_t])`` (R, n)."""
        new = self.decoder.advance(inputs, state, state.get("attentional"))
        hidden = new[f"hidden_{self.depth - 1}"]  # h_t (R, n)
        context, attention = self._attend(hidden, state, memory)
        attentional = self.combine(ops.concatenate([context, hidden], axis=-1))
        if self.input_feeding:
            new["attentional"] = attentional
        if self.mechanism == "local_m":
            new["time"] = state["time"] + 1
        return attentional, new, attention

    def project(self, features: Tensor, training: bool = False) -> Tensor:
        """Computes logits (..., V): ``W_s h~_t``, plus the bias."""
        return self.softmax(self.drop(features, training=training))

    def expand(self, attention: dict[str, Tensor], memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scatters local windows (R, T, W) onto the source: (R, T, S)."""
        if self.mechanism == "global":
            return attention
        length = ops.shape(memory["mask"])[1]
        starts = attention["starts"][:, :, 0]
        return {"alignment": scatter_window(attention["window"], starts, length)}

    def details(self, attention: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns ``positions`` p_t (B, T) of local mechanisms."""
        if self.mechanism == "global":
            return {}
        return {"positions": attention["positions"][:, :, 0]}

    def _attend(
        self, hidden: Tensor, state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Computes c_t (R, n) and the attention weights of h_t (R, n)."""
        queries = group_rows(hidden, ops.shape(memory["mask"])[0])  # (B, R / B, n)
        keys, values = memory["keys"], memory["annotations"]
        if self.mechanism == "global":
            scores = self.attention(queries, keys)  # (B, R / B, S)
            context, weights = attend(scores, values, memory["mask"])
            return ungroup_rows(context), {"alignment": ungroup_rows(weights)}
        time = None
        if self.mechanism == "local_m":
            time = group_rows(state["time"], ops.shape(memory["mask"])[0])[:, :, 0]
        local = self.attention(queries, keys, values, memory["lengths"], time)
        windows = ungroup_rows(local.window_weights)  # (R, W)
        return ungroup_rows(local.context), {
            "window": windows,
            "starts": ungroup_rows(local.window_starts[:, :, None]),  # (R, 1)
            "positions": ungroup_rows(local.positions[:, :, None]),  # p_t (R, 1)
        }

    def _state_names(self) -> list[tuple[str, int]]:
        return [(name, k) for name in ("hidden", "cell") for k in range(self.depth)]
