"""Continues texts with a language model, one word after another.

`zoo.decoding` searches over models that write a target for a source. A text that is continued is
both: `TextWriter` reads it before the first step, and then whatever has been written.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import tensorflow as tf

from zoo.decoding.limits import checked
from zoo.decoding.protocol import Hypotheses, Tensors
from zoo.decoding.sampling import sample
from zoo.text.vocabulary import PADDING, START


class TextWriter:
    """A language model as searches see it: a `zoo.decoding.protocol.StepModel`.

    Args:
        model: a language model that reads texts in segments:
            ``read(inputs, tapes, carried_slots) -> outputs, tapes``.
        slots: number of words, the ones to be written counted, that it may look back to.
    """

    ATTENTION: ClassVar[Mapping[str, Any]] = {}
    shared_state = ()

    def __init__(self, model: Any, slots: int | tf.Tensor) -> None:
        self._model = model
        self._slots = slots

    def memory(self, ids: tf.Tensor) -> Tensors:
        """Prepares texts.

        Args:
            ids: int32 (B, 1 + T) of texts with at least one token each, padded on the right.
        """
        real = ids != PADDING
        last = tf.reduce_sum(tf.cast(real, tf.int32), axis=1) - 1  # (B,)
        before = tf.where(tf.range(tf.shape(ids)[1]) < last[:, None], ids, PADDING)[:, :-1]
        return {"mask": real, "before": before, "last": tf.gather(ids, last, batch_dims=1)}

    def initial_state(self, memory: Tensors) -> Tensors:
        """Reads all tokens of the texts but the last."""
        return self._read(memory["before"], None)[1]

    def step(
        self, tokens: tf.Tensor, state: Tensors, memory: Tensors
    ) -> tuple[tf.Tensor, Tensors, Tensors]:
        """Reads a token, in the first step the last one of the text, and predicts the next."""
        tokens = tf.where(tokens == START, memory["last"], tokens)
        logits, state = self._read(tokens[:, None], state)
        return logits[:, 0], state, {}

    def _read(self, ids: tf.Tensor, state: Tensors | None) -> tuple[tf.Tensor, Tensors]:
        """Reads a segment; the state is flat, a number before the name of each layer's tensor."""
        tapes: list[Tensors] | None = None
        if state is not None:
            tapes = [{} for _ in {name.partition(" ")[0] for name in state}]
            for name, value in state.items():
                number, _, part = name.partition(" ")
                tapes[int(number)][part] = value
        outputs, tapes = self._model.read({"text": ids}, tapes, self._slots)
        flat = {f"{n} {part}": x for n, tape in enumerate(tapes) for part, x in tape.items()}
        return outputs["logits"], flat


def continue_texts(
    model: Any,
    ids: tf.Tensor,
    *,
    new_tokens: tf.Tensor,
    temperature: tf.Tensor,
    top_k: tf.Tensor,
    top_p: tf.Tensor,
    seed: tf.Tensor,
    forbid_unknown: tf.Tensor,
) -> Hypotheses:
    """Writes one continuation of each text, up to ``</s>`` or a number of tokens.

    Args:
        model: as of `TextWriter`; its ``vocabulary_size`` is that of the logits.
        ids: int32 (B, 1 + T) of texts with at least one token each, padded on the right.
        new_tokens: int32 scalar, at least 1.
        temperature: float32 scalar; 0: the likeliest token of each step.
        top_k: int32 scalar, number of tokens to draw from; 0: all.
        top_p: float32 scalar, least probability of the tokens to draw from; 1: all.
        seed: int32 scalar; the same text is continued alike in any batch.
        forbid_unknown: bool scalar; whether ``<unk>`` is never written.

    Returns:
        One hypothesis a text.

    Raises:
        tf.errors.InvalidArgumentError: at run time, if a number is out of its range.
    """
    new_tokens = checked("new_tokens", new_tokens, new_tokens >= 1, "a number above 0")
    top_k = checked("top_k", top_k, top_k >= 0, "0 or a number above it")
    temperature = checked("temperature", temperature, temperature >= 0, "0 or a number above it")
    greedy = tf.equal(temperature, 0.0)
    every = tf.where(top_k == 0, model.vocabulary_size, top_k)
    writer = TextWriter(model, tf.shape(ids)[1] + new_tokens)
    return sample(
        writer,
        writer.memory(ids),
        maximum_length=new_tokens,
        seed=seed,
        temperature=tf.where(greedy, 1.0, temperature),
        top_k=tf.where(greedy, 1, every),
        top_p=top_p,
        forbid_unknown=forbid_unknown,
        shared=True,
    )
