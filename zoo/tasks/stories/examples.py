"""Questions about stories as arrays, and their evaluation."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.tasks.shared.text_input import encode_strings
from zoo.tasks.stories.sentences import without_end_mark
from zoo.text.codecs import TextCodec

NOWHERE = -1
"""Place of a fact that is not among the sentences read, and of an answer that is no class."""


class Examples(NamedTuple):
    """Questions about stories, padded."""

    story: np.ndarray
    """int32 (N, S, W)."""
    question: np.ndarray
    """int32 (N, Q)."""
    answer: np.ndarray
    """int32 (N,): the class; `NOWHERE` if training has no such answer."""
    facts: np.ndarray
    """int32 (N, K): places of the supporting facts in the story, in the order of the file;
    `NOWHERE` if they were cut off."""
    comparable: np.ndarray
    """bool (N,): whether there are K facts."""
    cut: int
    """Number of stories that were cut."""

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """The inputs of a model."""
        return {"story": self.story, "question": self.question}

    def padded(self, sentences: int, words: int, question: int) -> "Examples":
        """Pads to these sizes, so that several parts share one graph."""
        story = np.zeros((len(self.story), sentences, words), "int32")
        story[:, : self.story.shape[1], : self.story.shape[2]] = self.story
        asked = np.pad(self.question, [(0, 0), (0, question - self.question.shape[1])])
        return self._replace(story=story, question=asked)


def encode_examples(
    frame: pd.DataFrame, codec: TextCodec, answers: tuple[str, ...], hops: int, memory: int
) -> Examples:
    """Numbers words, answers and facts.

    Args:
        frame: as of `zoo.data.babi.parse`.
        codec: of the words.
        answers: the classes.
        hops: how many facts a model names.
        memory: stories are cut to so many last sentences.

    Raises:
        ValueError: if there is no question.
    """
    if not len(frame):
        raise ValueError("frame must have at least one row, got none")
    stories = [story[-memory:] for story in frame["story"]]
    numbers = {one: row for row, one in enumerate(sorted({s for story in stories for s in story}))}
    ids = _ids([*numbers], codec) if numbers else np.zeros((1, 1), "int32")
    longest = max(1, *map(len, stories))
    story = np.zeros((len(frame), longest, ids.shape[1]), "int32")
    facts = np.full((len(frame), hops), NOWHERE, "int32")
    comparable = np.array([len(of) == hops for of in frame["facts"]])
    for row, (sentences, whole, of) in enumerate(
        zip(stories, frame["story"], frame["facts"], strict=True)
    ):
        story[row, : len(sentences)] = ids[[numbers[one] for one in sentences]]
        if comparable[row]:
            places = np.array(of) - (len(whole) - len(sentences))
            facts[row] = np.where(places < 0, NOWHERE, places)
    classes = {answer: number for number, answer in enumerate(answers)}
    answer = np.array([classes.get(one, NOWHERE) for one in frame["answer"]], "int32")
    cut = sum(len(whole) > memory for whole in frame["story"])
    return Examples(story, _ids(frame["question"], codec), answer, facts, comparable, cut)


def _ids(sentences: Any, codec: TextCodec) -> np.ndarray:
    """Ids (rows, words) of sentences, padded."""
    bare = without_end_mark(tf.constant(list(sentences))).numpy()
    ids: np.ndarray = encode_strings(bare, codec).to_tensor(0).numpy()
    return ids if ids.shape[1] else np.zeros((len(ids), 1), "int32")


class StoryEvaluator:
    """Scores a reader of stories.

    Args:
        model: a built model; it is scored as it is when this is called.
        examples: what it is scored on.
    """

    def __init__(self, model: keras.Model, examples: Examples) -> None:
        self.examples = examples
        self._model = model
        self._inputs = {name: tf.constant(ids) for name, ids in examples.inputs.items()}
        self._known = tf.constant(np.maximum(examples.answer, 0))
        self._ask = tf.function(self._asked, autograph=False)

    def __call__(self) -> Mapping[str, float]:
        """Returns ``accuracy`` in percent, and ``loss``, the mean over questions with known answer.

        Where questions have as many supporting facts as the model has hops, ``facts`` is the share
        of those, in percent, for which the largest weights of the hops are those of the facts, in
        the order of the file.
        """
        chosen, losses, pointed = (value.numpy() for value in self._ask())
        _, _, answer, facts, comparable, _ = self.examples
        known = answer != NOWHERE
        metrics = {"accuracy": 100 * float(np.mean(chosen == answer))}
        if comparable.any():
            found = (pointed == facts).all(axis=1)[comparable]
            metrics["facts"] = 100 * float(np.mean(found))
        return metrics | {"loss": float(losses[known].mean()) if known.any() else float("nan")}

    def _asked(self) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Answers (N,), losses (N,) and the sentence with the largest weight of each hop (N, K)."""
        outputs = self._model(self._inputs, training=False)
        chosen = tf.argmax(outputs["logits"], axis=-1, output_type=tf.int32)
        losses, _ = self._model.example_losses(self._known, outputs)
        facts = tf.argmax(outputs["attention"]["facts"], axis=-1, output_type=tf.int32)
        return chosen, losses, facts
