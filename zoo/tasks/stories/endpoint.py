"""Answers questions about stories: what a reader of sentences is shipped as."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from zoo.models.core.axes import Axes, Listed, Tokens
from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint
from zoo.tasks.shared.endpoints import (
    ask_model,
    attention_maps,
    codec_config,
    map_axes,
    same_batch,
)
from zoo.tasks.shared.text_input import TextInput, check_limit, padded
from zoo.tasks.stories.sentences import (
    SentenceIds,
    read_sentences,
    real_sentences,
    split_story,
    without_end_mark,
)
from zoo.text.codecs import TextCodec

SENTENCES = "story_sentences"
"""Name of the output that holds the sentences."""


class StoryEndpoint:
    """A story and a question in; the answer, its supporting facts and attention out.

    Args:
        model: a built model whose inputs are ``story`` and ``question``, and whose one map is
            ``facts``.
        codec: of the words, as in training.
        labels: the answers, in the order of the logits.
        maximum_words: words of a sentence beyond these are not read.

    Raises:
        ValueError: labels of which two are alike, or another number of them than of classes; or
            ``maximum_words`` is below 1.
    """

    def __init__(
        self,
        model: BaseModel,
        codec: TextCodec,
        labels: Sequence[str],
        *,
        maximum_words: int = 30,
    ) -> None:
        classes = model.get_config()["classes"]
        if len(set(labels)) != len(labels) or len(labels) != classes:
            raise ValueError(f"labels must be {classes} different ones, got {list(labels)}")
        check_limit("maximum_words", maximum_words)
        self.model = model
        self.codec = codec
        self.labels = tuple(labels)
        self.maximum_words = maximum_words
        self.maximum_sentences: int = model.get_config()["memory"]

    @property
    def limits(self) -> dict[str, int]:
        """The numbers that it was made with, for the model card."""
        return {"maximum_words": self.maximum_words}

    @property
    def assets(self) -> list[tf.Module]:
        """The codec, whose vocabulary travels with the SavedModel."""
        return [self.codec]

    def get_config(self) -> dict[str, Any]:
        """How strings become ids, for the model card."""
        return codec_config(self.codec)

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them.

        ``serving_default`` takes a ``story`` of lines, one sentence each; ``sentences`` takes
        ``story_sentences``, a list for each story, filled up with empty strings.
        """
        listed = (Listed(SENTENCES),)
        (hops, _) = map_axes(self.model)["attention_facts"]
        axes: dict[str, Axes] = {
            SENTENCES: listed,
            "attention_facts": (hops, *listed),
            "question_tokens": (Tokens("question"),),
        }
        question = tf.TensorSpec([None], tf.string, name="question")
        story = tf.TensorSpec([None], tf.string, name="story")
        sentences = tf.TensorSpec([None, None], tf.string, name=SENTENCES)
        return {
            "serving_default": Endpoint(self.serve, [question, story], axes),
            "sentences": Endpoint(self.serve_sentences, [question, sentences], axes),
        }

    def serve(self, question: tf.Tensor, story: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers a batch.

        Args:
            question: (batch,) strings in UTF-8.
            story: (batch,) strings, a sentence a line; of stories longer than the memory the
                last sentences are read.

        Returns:
            A flat dict:
            `answer` (batch,) string, the most probable one;
            `probabilities` (batch, C) float32, in the order of the labels;
            `facts` (batch, K) string, the sentence with the largest weight in each hop, "" in an
            empty story; `fact_weights` (batch, K) float32, its weight;
            `story_sentences` (batch, S) string, those read, padded with ""; `story_length` (batch,)
            int32, their number;
            `question_tokens` (batch, Q), padded with "", and `question_length` (batch,) int32;
            `attention_facts` (batch, K, S) float32, padded with 0.

        Raises:
            tf.errors.InvalidArgumentError: the inputs differ in their batch size.
        """
        question, story = same_batch(question=question, story=story)
        return self._answer(split_story(story), question)

    def serve_sentences(
        self, question: tf.Tensor, story_sentences: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """As `serve`, of stories (batch, S), whose empty strings are left out."""
        question, lines = same_batch(question=question, story_sentences=story_sentences)
        return self._answer(real_sentences(tf.RaggedTensor.from_tensor(lines)), question)

    def _answer(self, lines: tf.RaggedTensor, question: tf.Tensor) -> dict[str, tf.Tensor]:
        sizes = (self.maximum_sentences, self.maximum_words)
        story, asked = read_sentences(lines, self.codec, *sizes), self._read_question(question)
        ids = {"story": story.ids, "question": asked.ids}
        outputs = ask_model(self.model, ids, tf.size(question))
        logits, maps = tf.cast(outputs["logits"], tf.float32), attention_maps(outputs)
        weights = maps["attention_facts"]  # (batch, K, S)
        return {
            "answer": tf.gather(tf.constant(self.labels), tf.argmax(logits, axis=-1)),
            "probabilities": tf.nn.softmax(logits),
            **_facts(weights, story),
            SENTENCES: story.sentences,
            "story_length": story.lengths,
            "question_tokens": asked.tokens,
            "question_length": asked.lengths,
            **maps,
        }

    def _read_question(self, question: tf.Tensor) -> TextInput:
        """Words of the questions, without the mark at the end."""
        ids, tokens = self.codec.read(without_end_mark(question))
        return padded(*(cut[:, : self.maximum_words] for cut in (ids, tokens)))


def _facts(weights: tf.Tensor, story: SentenceIds) -> dict[str, tf.Tensor]:
    """Sentences with the largest weights, and these: both (batch, K)."""
    places = tf.argmax(weights, axis=-1, output_type=tf.int32)
    facts = tf.gather(story.sentences, places, axis=1, batch_dims=1)
    return {"facts": facts, "fact_weights": tf.reduce_max(weights, axis=-1)}
