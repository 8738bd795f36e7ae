"""LSTMN as encoder and decoder, fused outside the decoder's cell or inside.

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733. Covered: sections 3 and 4 (equations 5-9, 11-16), which the paper gives for
sequences in general; it reports no translation.

Where the paper is silent or several readings exist:
    shallow fusion: the softmax reads tanh(W_j [context; h_t]) of additive attention, and the
        decoder's tape begins with the zero state;
    deep fusion: the softmax reads h_t, and slot 0 of the decoder is the encoder's last state, as in
        the released code; ``include_initial=False`` sums over words alone, as printed;
    dropout: none is described; here on word vectors and before the softmax.

Shape letters: B sources, R rows (hypotheses), S source tokens, T target tokens, k tokens written,
m embedding, n hidden, V target vocabulary.

Expected result: none is published; ``docs/translation.md`` has results of this code on Multi30k.

NumPy reference: ``tests/references/lstmn_translator.py``. Docs: ``docs/architectures/lstmn.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.models.core.recurrent_translator import RecurrentTranslator
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import (
    LossNormaliser,
    group_rows,
    ungroup_rows,
)
from zoo.models.lstmn.cell import FusedStep, Query, Slots
from zoo.models.lstmn.lstmn import LSTMNStates, check_window
from zoo.models.lstmn.reader_pair import ReaderPair
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice

TranslatorFusion = Literal["deep", "shallow"]


@register_model(task="translation")
class LSTMNTranslator(RecurrentTranslator):
    """Translates with two LSTMNs, an encoder and a decoder.

    Args:
        source_vocabulary_size: number of source ids.
        target_vocabulary_size: number of target ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of both readers and of all scores.
        fusion: ``"deep"`` or ``"shallow"``.
        window: how many of the most recent slots of its own tape a step reads; None: all.
        include_initial: whether the initial state is slot 0.
        query: what asks: ``"summary"``, as printed, or ``"hidden"``; see ``LSTMN``.
        dropout: rate of dropout in training.
        label_smoothing: mass moved from the target to the other ids; the paper has none.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``.

    Raises:
        ValueError: if an option is not one of its choices, a size is not positive, or ``dropout``
            or ``label_smoothing`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"source_vocabulary_size": 10_000, "target_vocabulary_size": 10_000},
        "small": {"embedding_dim": 256, "hidden_dim": 256},
        "tiny": {
            "source_vocabulary_size": 17,
            "target_vocabulary_size": 13,
            "embedding_dim": 4,
            "hidden_dim": 5,
        },
    }

    def __init__(
        self,
        source_vocabulary_size: int,
        target_vocabulary_size: int,
        embedding_dim: int = 300,
        hidden_dim: int = 450,
        fusion: TranslatorFusion = "deep",
        window: int | None = None,
        include_initial: bool = True,
        query: Query = "summary",
        dropout: float = 0.0,
        label_smoothing: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_common_arguments()
        check_choice("fusion", fusion, get_args(TranslatorFusion))
        check_window(window)
        check_choice("query", query, get_args(Query))
        self._make_layers()

    def _make_layers(self) -> None:
        policy = self.dtype_policy
        self.source_embedding, self.target_embedding = self.make_embeddings("uniform")
        self.readers = ReaderPair(
            self.hidden_dim,
            self.fusion,
            share_cells=False,
            window=self.window,
            include_initial=self.include_initial,
            query=self.query,
            name="readers",
            dtype=policy,
        )
        self.softmax = keras.layers.Dense(self.target_vocabulary_size, name="softmax", dtype=policy)
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.source_embedding.build()
        self.target_embedding.build()
        self.readers.build((None, None, self.embedding_dim))
        self.softmax.build((None, self.hidden_dim))
        self.built = True

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes the source's tapes (B, S, n), their keys and the decoder's slot 0 (B, 2n)."""
        mask, states = self._read_source(inputs["source"], training)
        tape = self.readers.first_tape(states, mask)
        zeros = ops.zeros((ops.shape(mask)[0], 2 * self.hidden_dim), states.hidden.dtype)
        return {
            "hidden": states.hidden,
            "cell": states.cell,
            "keys": self.readers.fuse.prepare(states.hidden),
            "first": zeros if tape is None else tape["memory"][:, 0],
            "mask": mask,
        }

    def _read_source(self, source: Tensor, training: bool) -> tuple[Tensor, LSTMNStates]:
        words = self.drop(self.source_embedding(source), training=training)  # (B, S, m)
        mask = mask_from_ids(source)
        return mask, self.readers.first(words, mask)

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Makes an empty tape (B, 0, ...) and what asks first: zeros, or the state of slot 0."""
        first = memory["first"]
        batch, n = ops.shape(first)[0], self.hidden_dim
        zeros = ops.zeros((batch, n), first.dtype)
        state = {
            "tape": ops.zeros((batch, 0, 2 * n), first.dtype),
            "keys": ops.zeros((batch, 0, n), first.dtype),
            "summary": first[:, :n] if self.query == "hidden" else zeros,
        }
        return state | ({"source_summary": zeros} if self.fusion == "deep" else {})

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Projects y_{t-1} for the decoder's scores and gates, (R, T, ...)."""
        words = self.drop(self.target_embedding(tokens), training=training)
        inputs: dict[str, Tensor] = self.readers.second.project(words)
        if self.fusion == "deep":
            fused = self.readers.fuse.project(words)
            inputs = inputs | {f"source_{name}": values for name, values in fused.items()}
        return inputs

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Reads one word and appends it to the tape, (R, k + 1, 2n)."""
        batch, n = ops.shape(memory["mask"])[0], self.hidden_dim
        grouped = {name: group_rows(values, batch) for name, values in inputs.items()}
        summary = group_rows(state["summary"], batch)  # (B, R / B, n)
        fusion = None
        if self.fusion == "deep":
            source_summary = group_rows(state["source_summary"], batch)
            fusion = self._fused_step(grouped, source_summary, memory)
        step = self.readers.second.step(grouped, self._slots(state, memory), summary, fusion)
        row = ungroup_rows(ops.concatenate([step.hidden, step.cell], axis=-1))  # (R, 2n)
        new = {
            "tape": self._append(state["tape"], row),
            "keys": self._append(state["keys"], ungroup_rows(step.key)),
            "summary": ungroup_rows(step.asking(self.query)),
        }
        features = step.hidden
        if step.fused is not None:
            read, _, weights = step.fused
            new["source_summary"] = ungroup_rows(read[..., :n])
            alignment = ops.transpose(weights, (1, 2, 0))  # (B, R / B, S)
        else:
            features, alignment = self.readers.fuse(
                step.hidden, memory["keys"], memory["hidden"], memory["mask"]
            )
        return ungroup_rows(features), new, {"alignment": ungroup_rows(alignment)}

    def _slots(self, state: dict[str, Tensor], memory: dict[str, Tensor]) -> Slots:
        """Joins slot 0 and the words' slots, (1 + k, B, R / B, ...)."""
        first, batch = memory["first"], ops.shape(memory["mask"])[0]
        rows, count = ops.shape(state["tape"])[:2]
        beam = rows // ops.maximum(batch, 1)
        keys = self.readers.second.prepare(first[:, : self.hidden_dim])  # (B, n)

        def joined(initial: Tensor, tape: Tensor) -> Tensor:
            dim = tape.shape[-1]
            words = ops.reshape(tape, (batch, beam, count, dim))
            initial = ops.broadcast_to(initial[None, :, None], (1, batch, beam, dim))
            return ops.concatenate([initial, ops.transpose(words, (2, 0, 1, 3))], axis=0)

        real = (ops.arange(count + 1) > 0) | self.include_initial
        real = ops.broadcast_to(real[:, None, None], (count + 1, batch, beam))
        return Slots(joined(keys, state["keys"]), joined(first, state["tape"]), real)

    def _fused_step(
        self, grouped: dict[str, Tensor], summary: Tensor, memory: dict[str, Tensor]
    ) -> FusedStep:
        """Collects the inputs of deep fusion: the source (S, B, 1, ...) and the step's inputs."""
        tapes = ops.concatenate([memory["hidden"], memory["cell"]], axis=-1)  # (B, S, 2n)
        keys, tapes = (ops.transpose(x, (1, 0, 2))[:, :, None] for x in (memory["keys"], tapes))
        source = Slots(keys, tapes, ops.transpose(memory["mask"])[:, :, None])
        kernels = self.readers.fuse.kernels(summary.dtype)
        return FusedStep(
            grouped["source_queries"], grouped["source_gates"], source, summary, kernels
        )

    def _append(self, tape: Tensor, row: Tensor) -> Tensor:
        """Appends a row (R, d) to the tape (R, k, d) and drops rows that left the window."""
        tape = ops.concatenate([tape, row[:, None]], axis=1)
        return tape if self.window is None else tape[:, -self.window :]

    def project(self, features: Tensor, training: bool = False) -> Tensor:
        """Projects features to logits (..., V)."""
        return self.softmax(self.drop(features, training=training))

    def read_pairs(
        self, inputs: dict[str, Tensor], training: bool = False
    ) -> tuple[Tensor, dict[str, Any]]:
        """Reads whole targets in one loop, with tapes that have their final size from the start."""
        mask, first = self._read_source(inputs["source"], training)
        words = self.drop(self.target_embedding(inputs["target"]), training=training)
        real = mask_from_ids(inputs["target"])
        states = self.readers.read_second(first, mask, words, real)
        return states.features, {"attention": {"alignment": states.weights}}
