"""Extended Neural GPU, a translator with active memory instead of attention.

Lukasz Kaiser, Samy Bengio: Can Active Memory Replace Attention? arXiv 1610.08613, 2016. Covered:
sections 2 and 3 (Neural GPU, Markovian, extended), and the comparison of section 4.

    s_0[k, 0, :] = E x_k, all else zero;  s_{t+1} = CGRU_l(.. CGRU_1(s_t)), n times;  d_0 = s_n;
    d_k = CGRU^d_l(.. CGRU^d_1(d_{k-1}, p_{k-1}), p_{k-1});  word k: softmax(O d_k[k, 0, :] + o)

with the tape p_0 = 0, and, once o_k is written,
    extended:  p_k = p_{k-1} with p_k[k, 0, :] = E' o_k: all words so far;
    markovian: p_k[k, 0, :] = E' o_k, all else zero: the last word alone;
    none:      no tape and no second memory, d_k = s_n: words do not know of each other.

Where the paper is silent or code differs:
    n: the paper pads source and target to one length, which is unknown before the target is
        written. Here a memory has ``extra_places`` more than the source has words, and that is n. A
        target that is longer goes on at the last place.
    the first step reads nothing: ``<s>`` is not on the tape;
    gates and dropout: as in ``zoo/models/neural_gpu/neural_gpu.py``; dropout acts on s and on d.

Attention maps are of what changed: nothing is attended to. A row of ``alignment`` has the share of
each place that lies below a source word in the change of the memory by that step; the rest of the
change, up to a sum of one, is in the places beyond the source.

Shape letters: B sources, R rows (hypotheses), S source tokens, N = S + extra places, T target
tokens, W rows of the memory, m maps, V target vocabulary.

Expected result: with the extended decoder the perplexity of a translator with attention (3.3
against 3.4 a word on WMT14 English-French), far below that of the others (11.8 and 30.1).

NumPy reference: ``tests/references/extended_neural_gpu.py``. Docs:
``docs/architectures/neural_gpu.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.layers.embedding import WordEmbedding
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import (
    LossNormaliser,
    SequenceToSequenceModel,
    group_rows,
    ungroup_rows,
)
from zoo.models.neural_gpu.active_memory import (
    ActiveMemory,
    check_memory,
    drop,
    even_words,
    lay_out,
    rate_per_step,
    share_of_change,
)
from zoo.ops.masking import Tensor, mask_from_ids, mask_rows
from zoo.ops.numbers import check_choice, check_rate

Decoder = Literal["extended", "markovian", "none"]
State = dict[str, Tensor]


@register_model(task="translation")
class ExtendedNeuralGPU(SequenceToSequenceModel):
    """Translates with a memory that is rewritten at every step, and a tape of what is written.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        maps: m, the size of a word vector too.
        rows: W, the width of the memory.
        depth: convolutional gated units at a step.
        kernel_size: each unit reads that many places and rows; odd.
        decoder: ``"extended"``, ``"markovian"`` or ``"none"``.
        extra_places: of a memory, beside one for each word of the source.
        cutoff: gates are sigmoids, stretched by this factor and cut to [0, 1].
        dropout: rate of dropout on the memory.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if a size is not positive, ``kernel_size`` even, ``cutoff`` below one, a rate is
            none, or an option is not one of its values.
    """

    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(axes.Steps("target"), axes.Tokens("source"), normalised=False)
    }
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"source_vocabulary_size": 32_000, "target_vocabulary_size": 32_000},
        "small": {"maps": 64},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "maps": 4,
            "rows": 3,
            "depth": 1,
            "extra_places": 2,
            "loss_normaliser": "sentences",
        },
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        maps: int = 512,
        rows: int = 4,
        depth: int = 2,
        kernel_size: int = 3,
        decoder: Decoder = "extended",
        extra_places: int = 6,
        cutoff: float = 1.2,
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "tokens",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self._check_arguments()
        policy = self.dtype_policy
        sizes = {"depth": depth, "kernel_size": kernel_size, "cutoff": cutoff, "dtype": policy}
        table = {"embedding_dim": maps, "initializer": even_words(), "dtype": policy}
        self.source_embedding = WordEmbedding(
            self.source_vocabulary_size, **table, name="source_embedding"
        )
        self.encoder = ActiveMemory(maps, **sizes, name="encoder")
        if decoder != "none":
            self.target_embedding = WordEmbedding(
                self.target_vocabulary_size, **table, name="target_embedding"
            )
            self.decoder_memory = ActiveMemory(maps, **sizes, reads_tape=True, name="decoder")
        self.word = keras.layers.Dense(self.target_vocabulary_size, name="word", dtype=policy)
        self.seeds = keras.random.SeedGenerator()

    def _check_arguments(self) -> None:
        for name in ("source_vocabulary_size", "target_vocabulary_size", "extra_places"):
            check_sizes(**{name: getattr(self, name)})
        check_memory(self)
        check_choice("decoder", self.decoder, get_args(Decoder))
        check_choice("loss_normaliser", self.loss_normaliser, get_args(LossNormaliser))
        check_rate("label_smoothing", self.label_smoothing)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.source_embedding.build()
        self.encoder.build()
        if self.decoder != "none":
            self.target_embedding.build()
            self.decoder_memory.build()
        self.word.build((None, None, self.maps))
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> State:
        """Reads the sources: ``state`` s_n (B, N, W, m), ``last`` place (B,), ``mask`` (B, S)."""
        source = inputs["source"]
        mask = mask_from_ids(source)
        words = mask_rows(self.source_embedding(source), mask)  # (B, S, m)
        first = lay_out(words, self.rows, self.extra_places)  # (B, N, W, m)
        places = ops.sum(ops.cast(mask, "int32"), axis=1) + self.extra_places  # (B,)
        real = ops.arange(ops.shape(first)[1], dtype="int32")[None] < places[:, None]  # (B, N)
        rate = rate_per_step(self.dropout, places) if training and self.dropout else None
        state, _ = self.encoder.run(first, real, rate, self.seeds)
        return {"state": state, "last": places - 1, "mask": mask}

    def initial_state(self, memory: State) -> State:
        """Returns d_0 = s_n, an empty tape p_0 (B, N, m), the next place (B,) and the last one."""
        first = memory["state"]
        state = {"place": ops.zeros_like(memory["last"]), "last": memory["last"]}
        if self.decoder == "none":
            return state
        return state | {"memory": first, "tape": ops.zeros_like(first[:, :, 0])}

    def embed(self, tokens: Tensor, training: bool = False) -> State:
        """Embeds the words for the tape, (R, T, m); in training also says how much to drop."""
        if self.decoder == "none":
            return {"tokens": tokens}
        words = {"words": self.target_embedding(tokens)}  # (R, T, m)
        if training and self.dropout:
            words["rate"] = ops.full(ops.shape(tokens), self.dropout, "float32")
        return words

    def advance(
        self, inputs: State, state: State, memory: State
    ) -> tuple[Tensor, State, dict[str, Tensor]]:
        """Puts the last word on the tape, rewrites the memory, and reads it at the next place."""
        last = state["last"]  # (R,)
        place = ops.minimum(state["place"], last)
        numbers = ops.arange(ops.shape(memory["state"])[1], dtype="int32")[None]  # (1, N)
        here = ops.cast(numbers == place[:, None], memory["state"].dtype)  # (R, N)
        size = ops.shape(memory["mask"])[1]
        counted = {"place": state["place"] + 1, "last": last}
        if self.decoder == "none":
            batch = ops.shape(memory["state"])[0]
            rows = ops.matmul(group_rows(here, batch), memory["state"][:, :, 0])
            nothing = ops.zeros_like(here[:, :size], dtype="float32")
            return ungroup_rows(rows), counted, {"alignment": nothing}
        # The first step writes nowhere.
        written = (numbers == ops.minimum(state["place"] - 1, last)[:, None])[:, :, None]
        real = numbers <= last[:, None]  # (R, N)
        others = state["tape"] if self.decoder == "extended" else ops.zeros_like(state["tape"])
        tape = ops.where(written, inputs["words"][:, None], others)  # (R, N, m)
        new = self.decoder_memory.advance(state["memory"], real, tape)
        if "rate" in inputs:
            new = drop(new, rate_per_step(inputs["rate"], last + 1), self.seeds)
        change = share_of_change(state["memory"], new)[:, :size]  # (R, S)
        below_source = numbers[:, :size] <= last[:, None] - self.extra_places  # (R, S)
        alignment = change * ops.cast(below_source, change.dtype)
        features = ops.matmul(here[:, None], new[:, :, 0])[:, 0]  # (R, m)
        return features, counted | {"memory": new, "tape": tape}, {"alignment": alignment}

    def project(self, features: Tensor, training: bool = False) -> Tensor:
        """Computes the logits (..., V) from a place's vector."""
        return self.word(features)
