"""Inputs, target, loss and layers of the models that answer questions about stories.

Shape letters: B stories, S sentences, W words, d embedding, K hops, C answers.
"""

from collections.abc import Mapping
from typing import ClassVar, get_args

import keras

from zoo.layers.embedding import WordEmbedding
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.classifier import Classifier
from zoo.models.core.inputs import InputKind, Sentences, Tokens
from zoo.models.structured.sentence_memory import Encoding, SentenceMemory, normal
from zoo.ops.numbers import check_choice, check_rate

TINY = {
    "vocabulary_size": 19,
    "classes": 3,
    "hops": 2,
    "embedding_dim": 4,
    "memory": 5,
}


class StoryReader(Classifier):
    """A model of a story and a question, which names one of C answers."""

    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "story": Sentences(size="vocabulary_size"),
        "question": Tokens(size="vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "facts": AttentionMap(axes.Steps("hops"), axes.Sentences("story"))
    }

    vocabulary_size: int
    hops: int
    embedding_dim: int
    memory: int
    encoding: Encoding
    temporal: bool
    dropout: float

    def check_arguments(self) -> None:
        """Raises a ValueError for a size that is not positive, or an unknown choice."""
        names = ("vocabulary_size", "classes", "hops", "embedding_dim", "memory")
        check_sizes(**{name: getattr(self, name) for name in names})
        check_rate("dropout", self.dropout)
        check_choice("encoding", self.encoding, get_args(Encoding))

    def declare_scores(self) -> None:
        """Declares that the maps hold scores, of any sign and any sum."""
        facts = self.ATTENTION["facts"]._replace(normalised=False, bounded=False, signed=True)
        self.declare(attention={"facts": facts})

    def make_memory(self, name: str, words: WordEmbedding | None = None) -> SentenceMemory:
        """Makes a layer with tables of its own, or with the given one of words."""
        ages = self.memory if self.temporal else 0
        return SentenceMemory(
            self.vocabulary_size,
            self.embedding_dim,
            ages,
            self.encoding,
            words,
            name=name,
            dtype=self.dtype_policy,
        )

    def make_output(self) -> keras.layers.Dense:
        """Makes the layer of the answers, without biases."""
        return keras.layers.Dense(
            self.classes,
            use_bias=False,
            kernel_initializer=normal(),
            name="output",
            dtype=self.dtype_policy,
        )
