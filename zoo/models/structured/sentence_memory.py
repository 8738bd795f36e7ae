"""Vectors of sentences: sums of word vectors, by position or not, and a vector for their age.

    x_i = sum_j l_j * E_{w_ij} + T_{n - i}    i = 1 .. n, the last sentence has age 0
    l_jk = (1 - j/J) - (k/d) (1 - 2j/J)       position encoding of word j of J; else l = 1

Sainbayar Sukhbaatar, Arthur Szlam, Jason Weston, Rob Fergus: End-To-End Memory Networks. NIPS 2015,
arXiv 1503.08895, section 4.1.

Shape letters: B stories, S sentences, W words, d embedding.
"""

from typing import Any, Literal, NamedTuple, Self

import keras
from keras import ops

from zoo.attention.sharing import serialize_part
from zoo.layers.embedding import WordEmbedding
from zoo.ops.masking import Tensor, mask_from_ids

Encoding = Literal["position", "bag"]
SCALE = 10**-0.5
"""Standard deviation of all parameters at the start, in the paper's released code."""


class Story(NamedTuple):
    """The sentences of a batch of stories."""

    ids: Tensor
    """int32 (B, S, W)."""
    mask: Tensor
    """bool (B, S): sentences that are real, and among the last ``memory`` ones."""
    ages: Tensor
    """int32 (B, S): number of sentences that follow, where the mask is True."""


def read_story(ids: Tensor, memory: int) -> Story:
    """Counts sentences, of which only the last ``memory`` ones are read.

    Args:
        ids: int32 (B, S, W), 0 where padded. Sentences of padding alone are passed over, wherever
            they are.
        memory: how many sentences are read.
    """
    real = ops.any(mask_from_ids(ids), axis=2)  # (B, S)
    counts = ops.cast(real, "int32")  # (B, S)
    ages = ops.sum(counts, axis=1, keepdims=True) - ops.cumsum(counts, axis=1)  # (B, S)
    mask = ops.logical_and(real, ages < memory)
    return Story(ids, mask, ops.clip(ages, 0, memory - 1))


def normal() -> keras.initializers.Initializer:
    """Makes the initialiser of all parameters."""
    return keras.initializers.RandomNormal(stddev=SCALE)


@keras.saving.register_keras_serializable(package="zoo")
class SentenceMemory(keras.layers.Layer):
    """One table of words, and one of ages, that make vectors of sentences.

    Args:
        vocabulary_size: number of word ids V.
        embedding_dim: size d of a vector.
        memory: number of ages; 0: no vectors for ages.
        encoding: ``"position"``, or ``"bag"`` of words.
        words: the table of another memory, to share it; None: one of its own.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        memory: int,
        encoding: Encoding = "position",
        words: WordEmbedding | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.embedding_dim = embedding_dim
        self.memory = memory
        self.encoding = encoding
        self.words = words or WordEmbedding(
            vocabulary_size,
            embedding_dim,
            initializer=normal(),
            name="words",
            dtype=self.dtype_policy,
        )

    def build(self, *_: Any) -> None:
        """Creates the tables (V, d) and (memory, d)."""
        if not self.words.built:
            self.words.build()
        if self.memory:
            self.ages = self.add_weight(
                shape=(self.memory, self.embedding_dim), initializer=normal(), name="ages"
            )
        self.built = True

    def call(self, story: Story) -> Tensor:
        """Computes the vectors (B, S, d), zero where the story's mask is False."""
        vectors = self.sum_words(story.ids)  # (B, S, d)
        if self.memory:
            ages = ops.cast(self.ages, self.compute_dtype)
            vectors = vectors + ops.take(ages, story.ages, axis=0)
        return ops.where(story.mask[:, :, None], vectors, ops.zeros((), vectors.dtype))

    def sum_words(self, ids: Tensor) -> Tensor:
        """Sums the vectors of the words of sentences.

        Args:
            ids: int32 (..., W), 0 where padded.

        Returns:
            (..., d), without vectors of ages.
        """
        mask = mask_from_ids(ids)
        vectors = self.words(ids)  # (..., W, d)
        shares = ops.cast(mask[..., None], vectors.dtype)  # (..., W, 1)
        if self.encoding == "position":
            shares = shares * ops.cast(self._positions(mask), vectors.dtype)  # (..., W, d)
        # Not a product alone: whatever padding holds, its gradient is zero.
        vectors = ops.where(mask[..., None], vectors, ops.zeros((), vectors.dtype))
        return ops.sum(vectors * shares, axis=-2)

    def _positions(self, mask: Tensor) -> Tensor:
        """Position encoding l (..., W, d) of sentences, of which J words are real."""
        dtype = keras.backend.result_type(self.variable_dtype, "float32")
        words, units = ops.shape(mask)[-1], self.embedding_dim
        length = ops.sum(ops.cast(mask, dtype), axis=-1)  # (...)
        length = ops.maximum(length, 1.0)[..., None, None]  # (..., 1, 1)
        place = ops.cast(ops.arange(1, words + 1), dtype)[:, None] / length  # (..., W, 1)
        unit = ops.cast(ops.arange(1, units + 1), dtype) / units  # (d,)
        return (1.0 - place) - unit * (1.0 - 2.0 * place)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "embedding_dim": self.embedding_dim,
            "memory": self.memory,
            "encoding": self.encoding,
            "words": serialize_part(self.words),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the layer and its table of words from the result of ``get_config``."""
        words = keras.saving.deserialize_keras_object(config.get("words"))
        return cls(**{**config, "words": words})
