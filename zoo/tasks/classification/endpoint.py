"""Classifies strings: what a model of one text or of a pair of texts is shipped as."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint
from zoo.tasks.shared.endpoints import (
    ask_model,
    attention_maps,
    codec_config,
    map_axes,
    same_batch,
    token_axes,
)
from zoo.tasks.shared.text_input import check_limit, read_texts
from zoo.text.codecs import TextCodec


class ClassificationEndpoint:
    """Text in, or a pair of texts; label, probabilities and attention out.

    Args:
        model: a built model whose inputs are the ids of ``sides`` and which gives ``logits``.
        codec: as in training.
        labels: the names of the classes, in the order of the logits.
        sides: the names of the texts.
        maximum_tokens: tokens of a text beyond these are not read.

    Raises:
        ValueError: a limit below 1, or labels of which two are alike.
    """

    def __init__(
        self,
        model: BaseModel,
        codec: TextCodec,
        labels: Sequence[str],
        *,
        sides: Sequence[str] = ("text",),
        maximum_tokens: int = 200,
    ) -> None:
        check_limit("maximum_tokens", maximum_tokens)
        if len(set(labels)) != len(labels) or not labels:
            raise ValueError(f"labels must differ, got {list(labels)}")
        self.model = model
        self.codec = codec
        self.labels = tuple(labels)
        self.sides = tuple(sides)
        self.maximum_tokens = maximum_tokens

    @property
    def limits(self) -> dict[str, int]:
        """The numbers that it was made with, for the model card."""
        return {"maximum_tokens": self.maximum_tokens}

    @property
    def assets(self) -> list[tf.Module]:
        """Owners of the files that travel with the SavedModel."""
        return [self.codec] if isinstance(self.codec, tf.Module) else []

    def get_config(self) -> dict[str, Any]:
        """How strings become tokens and ids, for the model card."""
        return codec_config(self.codec)

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them.

        A model with a method ``embed``, inputs to embeddings and attention, has `embed` as well.
        """
        strings = [tf.TensorSpec([None], tf.string, name=side) for side in self.sides]
        axes = token_axes(*self.sides) | map_axes(self.model)
        signatures = {"serving_default": Endpoint(self.serve, strings, axes)}
        if hasattr(self.model, "embed"):
            signatures["embed"] = Endpoint(self.embed, strings, axes)
        return signatures

    def serve(self, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
        """Classifies a batch; an empty text is classified too, as what it is.

        Args:
            *texts: (batch,) strings in UTF-8, one tensor a side; any bytes are text.

        Returns:
            A flat dict:
            `label` (batch,) string, the most probable class;
            `probabilities` (batch, C) float32, in the order of the labels;
            `<side>_tokens` (batch, T), padded with "", and `<side>_length` (batch,) int32;
            `attention_<name>`, the model's maps, padded with 0: (batch, rows, columns), or
            (batch, layers, rows, columns).

        Raises:
            tf.errors.InvalidArgumentError: the sides differ in their batch size.
        """
        outputs, read = self._ask(self.model, texts)
        logits = tf.cast(outputs["logits"], tf.float32)
        answers = {
            "label": tf.gather(tf.constant(self.labels), tf.argmax(logits, axis=-1)),
            "probabilities": tf.nn.softmax(logits),
        }
        return answers | read

    def embed(self, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
        """Embeds a batch, for search and clustering, by a model that has a method ``embed``.

        Args:
            *texts: as of `serve`.

        Returns:
            A flat dict: the embeddings, such as `embedding` (batch, hops, size), float32; tokens,
            lengths and maps as of `serve`.

        Raises:
            tf.errors.InvalidArgumentError: the sides differ in their batch size.
        """
        outputs, read = self._ask(self.model.embed, texts)
        embeddings = {n: tf.cast(v, tf.float32) for n, v in outputs.items() if n != "attention"}
        return embeddings | read

    def _ask(
        self, asked: Callable[..., Any], texts: Sequence[tf.Tensor]
    ) -> tuple[dict[str, Any], dict[str, tf.Tensor]]:
        """Outputs of the model or of its method; tokens, lengths and maps as they are answered."""
        checked = same_batch(**dict(zip(self.sides, texts, strict=True)))
        read = {
            side: read_texts(text, self.codec, self.maximum_tokens)
            for side, text in zip(self.sides, checked, strict=True)
        }
        ids = {side: text.ids for side, text in read.items()}
        outputs = ask_model(asked, ids, tf.size(checked[0]))
        answers: dict[str, tf.Tensor] = {}
        for side, text in read.items():
            answers |= {f"{side}_tokens": text.tokens, f"{side}_length": text.lengths}
        return outputs, answers | attention_maps(outputs)
