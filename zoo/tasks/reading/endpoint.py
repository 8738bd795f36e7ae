"""Answers questions from strings: what a reading model is shipped as.

Everything between the strings and the answer is in the graph: the tokens, their ids, the model, the
choice of the span and the way back to bytes. Bytes, because the answer is then by construction a
piece of the context as it was given, whatever that is made of: the tokenizer gives offsets into the
original string, and no normalised copy of the text is ever cut.
"""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.decoding.spans import best_spans
from zoo.models.core.axes import Tokens
from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint
from zoo.tasks.shared.endpoints import ask_model, attention_maps, map_axes, same_batch, token_axes
from zoo.tasks.shared.text_input import TextInput, beginnings, check_limit, padded
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary

CONTEXT_TOKENS = 2000
"""Tokens of a context that are read, unless a model is made for longer ones."""


class _Side(NamedTuple):
    """The question or the context of a batch, cut to its limit and padded to a rectangle.

    Attributes:
        text: ids, tokens and lengths.
        starts: (batch, columns) int32 byte offsets of the tokens, padding 0.
        ends: (batch, columns) int32, padding 0.
    """

    text: TextInput
    starts: tf.Tensor
    ends: tf.Tensor


class ReadingEndpoint:
    """Question and context in, answer and what led to it out.

    Args:
        model: A built reading model: takes `question` and `context` ids; gives `start` and `end`
            logits, its `attention` and, if it answers in several iterations, `start_per_iteration`,
            `end_per_iteration` (logits) and `span_per_iteration`.
        tokenizer: Splits the strings as in training.
        vocabulary: Its ids are the rows of the model's embedding.
        maximum_context_tokens: Tokens of a context beyond these are not read.
        maximum_question_tokens: Likewise of a question.
        maximum_answer_tokens: Length of the longest answer that is considered.

    Raises:
        ValueError: A limit below 1.
    """

    def __init__(
        self,
        model: BaseModel,
        tokenizer: WordTokenizer,
        vocabulary: Vocabulary,
        *,
        maximum_context_tokens: int = CONTEXT_TOKENS,
        maximum_question_tokens: int = 200,
        maximum_answer_tokens: int = 30,
    ) -> None:
        self.limits = {
            "maximum_context_tokens": maximum_context_tokens,
            "maximum_question_tokens": maximum_question_tokens,
            "maximum_answer_tokens": maximum_answer_tokens,
        }
        for name, limit in self.limits.items():
            check_limit(name, limit)
        self.model = model
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary

    @property
    def assets(self) -> list[tf.Module]:
        """Owners of the files that travel with the SavedModel."""
        return [self.vocabulary]

    def get_config(self) -> dict[str, Any]:
        """How strings become tokens, for the model card."""
        config: dict[str, Any] = self.tokenizer.get_config()
        return config

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""
        strings = [tf.TensorSpec([None], tf.string, name=name) for name in ("question", "context")]
        axes = token_axes("question", "context") | map_axes(self.model)
        axes |= dict.fromkeys(("start_probabilities", "end_probabilities"), (Tokens("context"),))
        return {"serving_default": Endpoint(self.serve, strings, axes)}

    def serve(self, question: tf.Tensor, context: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers a batch of questions, each from its own context.

        Every string has an answer. A context without a token has the answer "", with score and
        offsets 0. A question without a token is answered too, from the context alone. Below, n and
        m are the numbers of tokens of the longest question and context of the batch, at least 1;
        I is the model's number of iterations, of which only models that have them tell.

        Args:
            question: (batch,) strings in UTF-8; bytes that are not are part of words like letters.
            context: (batch,) likewise.

        Returns:
            A flat dict:
            `answer` (batch,) string, which is `context[start:end]` byte for byte;
            `score` (batch,) the probability of its first token times that of its last;
            `start`, `end` (batch,) int32 byte offsets, the end exclusive;
            `start_per_iteration`, `end_per_iteration` (batch, I) int32 byte offsets of the model's
            successive estimates, of which an end may lie before the start;
            `start_probabilities`, `end_probabilities` (batch, I, m), 0 on padding;
            `question_tokens` (batch, n) and `context_tokens` (batch, m), padded with "";
            `question_length`, `context_length` (batch,) int32;
            `attention_<name>`, the model's maps, padded with 0.

        Raises:
            tf.errors.InvalidArgumentError: `question` and `context` differ in their batch size.
        """
        question, context = same_batch(question=question, context=context)
        asked = self._read(question, self.limits["maximum_question_tokens"])
        given = self._read(context, self.limits["maximum_context_tokens"])
        ids = {"question": asked.text.ids, "context": given.text.ids}
        outputs = ask_model(self.model, ids, tf.size(question))
        return {
            **self._answer(outputs, context, given),
            **_iterations(outputs, given),
            "question_tokens": asked.text.tokens,
            "context_tokens": given.text.tokens,
            "question_length": asked.text.lengths,
            "context_length": given.text.lengths,
            **attention_maps(outputs),
        }

    def _read(self, strings: tf.Tensor, maximum_tokens: int) -> _Side:
        """Tokens, ids and offsets of (batch,) strings, cut to the limit."""
        surface, folded, starts, ends = (
            part[:, :maximum_tokens] for part in self.tokenizer(beginnings(strings, maximum_tokens))
        )
        text = padded(self.vocabulary.ids(folded), surface)
        shape = tf.shape(text.tokens)
        return _Side(text, starts.to_tensor(0, shape=shape), ends.to_tensor(0, shape=shape))

    def _answer(
        self, outputs: dict[str, tf.Tensor], context: tf.Tensor, given: _Side
    ) -> dict[str, tf.Tensor]:
        """The most probable span, as bytes of the context."""
        first, last, log_probability = best_spans(
            outputs["start"], outputs["end"], self.limits["maximum_answer_tokens"]
        )  # (batch,) token positions
        # A context without tokens has offsets of padding only, which are 0.
        start = tf.gather(given.starts, first, batch_dims=1)
        end = tf.gather(given.ends, last, batch_dims=1)
        return {
            "answer": tf.strings.substr(context, start, end - start, unit="BYTE"),
            "score": tf.where(given.text.lengths > 0, tf.exp(log_probability), 0.0),
            "start": start,
            "end": end,
        }


def _iterations(outputs: dict[str, tf.Tensor], given: _Side) -> dict[str, tf.Tensor]:
    """The model's successive estimates: (batch, I) byte offsets, (batch, I, m) probabilities.

    Nothing of a model that answers at once.
    """
    if "span_per_iteration" not in outputs:
        return {}
    spans = outputs["span_per_iteration"]  # (batch, I, 2) token positions
    real = tf.cast(given.text.lengths > 0, tf.float32)[:, tf.newaxis, tf.newaxis]  # (batch, 1, 1)
    return {
        "start_per_iteration": tf.gather(given.starts, spans[..., 0], batch_dims=1),
        "end_per_iteration": tf.gather(given.ends, spans[..., 1], batch_dims=1),
        "start_probabilities": tf.nn.softmax(outputs["start_per_iteration"]) * real,
        "end_probabilities": tf.nn.softmax(outputs["end_per_iteration"]) * real,
    }
