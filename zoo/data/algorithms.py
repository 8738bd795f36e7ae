"""Sequences of vectors made by simple programs: the tasks of Neural Turing Machines.

Graves, Wayne, Danihelka: Neural Turing Machines. arXiv 1410.5401, 2014, section 4. An algorithm is
to be learnt from examples of its input and output. They are drawn when they are needed, as many as
wanted and of any length, and are a function of the generator's state alone. Where the paper leaves
open how a sequence is laid out, the docstring of the class says how it is here.

Shape letters: B sequences, all of one length, T steps, d input, o output.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

NOT_ASKED = -1
"""Target of a step at which no answer is asked for."""


class Sequences(NamedTuple):
    """Examples of an algorithm."""

    vectors: np.ndarray
    """float32 (B, T, d)."""
    targets: np.ndarray
    """int32 (B, T, o): 0, 1, or `NOT_ASKED`."""


class Algorithm(Protocol):
    """A program that is to be learnt."""

    lengths: ClassVar[tuple[int, int]]
    """The shortest and the longest training sequence of the paper."""
    test_lengths: ClassVar[tuple[int, ...]]
    """Lengths to measure at."""

    @property
    def input_dim(self) -> int:
        """Size d of the vectors."""

    @property
    def output_dim(self) -> int:
        """Number of bits o of an answer."""

    def draw(self, generator: np.random.Generator, count: int, length: int) -> Sequences:
        """Draws so many sequences of one length."""


@dataclass(frozen=True)
class Copy:
    """Section 4.1: random vectors, to be given back in the same order.

    The channels after the bits mark the beginning and the end of the vectors. While the answer is
    given, the input is zero.
    """

    bits: int = 8
    lengths: ClassVar[tuple[int, int]] = (1, 20)
    test_lengths: ClassVar[tuple[int, ...]] = (20, 30, 60, 120)

    @property
    def input_dim(self) -> int:
        """Bits and two marks."""
        return self.bits + 2

    @property
    def output_dim(self) -> int:
        """Bits."""
        return self.bits

    def draw(self, generator: np.random.Generator, count: int, length: int) -> Sequences:
        """Draws sequences of so many vectors, T = 2 length + 2."""
        bits = _random_bits(generator, (count, length, self.bits))
        drawn = _empty(count, 2 * length + 2, self.input_dim, self.output_dim)
        drawn.vectors[:, 0, self.bits] = 1
        drawn.vectors[:, 1 : length + 1, : self.bits] = bits
        drawn.vectors[:, length + 1, self.bits + 1] = 1
        drawn.targets[:, length + 2 :] = bits
        return drawn


@dataclass(frozen=True)
class RepeatCopy:
    """Section 4.2: random vectors, to be given back several times, and then a mark of the end.

    The channels after the bits mark the beginning of the vectors and, after their end, hold the
    number of repeats, scaled to a mean of zero and a variance of one over those of training. The
    last bit of an answer is the mark of the end.
    """

    bits: int = 8
    repeats: tuple[int, int] = (1, 10)
    """The smallest and the largest number of repeats."""
    scaled_by: tuple[int, int] = (1, 10)
    """The numbers of repeats in training."""
    lengths: ClassVar[tuple[int, int]] = (1, 10)
    test_lengths: ClassVar[tuple[int, ...]] = (10, 20)

    @property
    def input_dim(self) -> int:
        """Bits, a mark, and the number of repeats."""
        return self.bits + 2

    @property
    def output_dim(self) -> int:
        """Bits and a mark."""
        return self.bits + 1

    def draw(self, generator: np.random.Generator, count: int, length: int) -> Sequences:
        """Draws sequences, all with the same number of repeats.

        Args:
            generator: of the bits and of the number of repeats.
            count: number of sequences B.
            length: number of vectors.

        Returns:
            T = length (repeats + 1) + 3 steps.
        """
        repeats = int(generator.integers(self.repeats[0], self.repeats[1] + 1))
        bits = _random_bits(generator, (count, length, self.bits))
        steps = length * (repeats + 1) + 3
        drawn = _empty(count, steps, self.input_dim, self.output_dim)
        drawn.vectors[:, 0, self.bits] = 1
        drawn.vectors[:, 1 : length + 1, : self.bits] = bits
        drawn.vectors[:, length + 1, self.bits + 1] = self._scaled(repeats)
        drawn.targets[:, length + 2 :] = 0
        drawn.targets[:, length + 2 : -1, : self.bits] = np.tile(bits, (1, repeats, 1))
        drawn.targets[:, -1, self.bits] = 1
        return drawn

    def _scaled(self, repeats: int) -> float:
        first, last = self.scaled_by
        deviation = float(np.sqrt(((last - first + 1) ** 2 - 1) / 12))
        return (repeats - (first + last) / 2) / (deviation or 1.0)


@dataclass(frozen=True)
class AssociativeRecall:
    """Section 4.3: a list of items, one of which is shown again; the next one is to be given.

    An item is a few random vectors. The channels after the bits mark the beginning of every item of
    the list, and both ends of the item that is shown again.
    """

    bits: int = 6
    item_length: int = 3
    lengths: ClassVar[tuple[int, int]] = (2, 6)
    test_lengths: ClassVar[tuple[int, ...]] = (6, 10, 12, 20)

    @property
    def input_dim(self) -> int:
        """Bits and two marks."""
        return self.bits + 2

    @property
    def output_dim(self) -> int:
        """Bits."""
        return self.bits

    def draw(self, generator: np.random.Generator, count: int, length: int) -> Sequences:
        """Draws sequences.

        Args:
            generator: of the bits, and of the items that are shown again.
            count: number of sequences B.
            length: number of items, at least 2.

        Returns:
            T = (length + 2) (item_length + 1) steps.

        Raises:
            ValueError: if there are fewer than two items.
        """
        if length < 2:
            raise ValueError(f"length must be at least 2 items, got {length}")
        size = self.item_length
        items = _random_bits(generator, (count, length, size, self.bits))
        asked = generator.integers(0, length - 1, count)
        shown = length * (size + 1)  # step at which an item is shown again
        drawn = _empty(count, shown + 2 * size + 2, self.input_dim, self.output_dim)
        for number in range(length):
            first = number * (size + 1)
            drawn.vectors[:, first, self.bits] = 1
            drawn.vectors[:, first + 1 : first + 1 + size, : self.bits] = items[:, number]
        drawn.vectors[:, shown, self.bits + 1] = 1
        rows = np.arange(count)
        drawn.vectors[:, shown + 1 : shown + 1 + size, : self.bits] = items[rows, asked]
        drawn.vectors[:, shown + 1 + size, self.bits + 1] = 1
        drawn.targets[:, shown + 2 + size :] = items[rows, asked + 1]
        return drawn


@dataclass(frozen=True)
class DynamicNGrams:
    """Section 4.4: bits of a random table; the next one is to be predicted after each.

    Every sequence has a table of its own: after each context of five bits, the probability of a
    one, drawn from Beta(1/2, 1/2). The first five bits are even. Asked are all predictions after a
    whole context but that after the last bit.
    """

    context: int = 5
    lengths: ClassVar[tuple[int, int]] = (200, 200)
    test_lengths: ClassVar[tuple[int, ...]] = (200, 400)

    @property
    def input_dim(self) -> int:
        """One bit."""
        return 1

    @property
    def output_dim(self) -> int:
        """One bit."""
        return 1

    def draw(self, generator: np.random.Generator, count: int, length: int) -> Sequences:
        """Draws sequences.

        Args:
            generator: of the tables and of the bits.
            count: number of sequences B.
            length: number of bits, more than the context has.

        Returns:
            T = length steps.

        Raises:
            ValueError: if there is nothing to predict.
        """
        if length <= self.context + 1:
            raise ValueError(f"length must be more than {self.context + 1} bits, got {length}")
        tables = generator.beta(0.5, 0.5, (count, 2**self.context))
        drawn = _empty(count, length, 1, 1)
        bits, rows = np.zeros((count, length), np.int64), np.arange(count)
        bits[:, : self.context] = generator.integers(0, 2, (count, self.context))
        for step in range(self.context, length):
            ones = tables[rows, self._contexts(bits, step)]
            bits[:, step] = generator.random(count) < ones
        drawn.vectors[:, :, 0] = bits
        drawn.targets[:, self.context - 1 : -1, 0] = bits[:, self.context :]
        return drawn

    def optimal_bits(self, sequences: Sequences) -> float:
        """Returns the bits a sequence of the best estimator, (N_1 + 1/2) / (N_0 + N_1 + 1).

        N_0 and N_1 are the numbers of zeros and of ones so far after the context (equation 10).
        """
        bits = sequences.vectors[:, :, 0].astype(np.int64)
        count, length = bits.shape
        seen, rows = np.zeros((count, 2**self.context, 2)), np.arange(count)
        total = 0.0
        for step in range(self.context, length):
            contexts, bit = self._contexts(bits, step), bits[:, step]
            now = seen[rows, contexts]
            likely = (now[rows, bit] + 0.5) / (now.sum(axis=-1) + 1.0)
            total -= float(np.log2(likely).sum())
            seen[rows, contexts, bit] += 1
        return total / count

    def _contexts(self, bits: np.ndarray, step: int) -> np.ndarray:
        """Returns the numbers (B,) of the contexts before a step."""
        before = bits[:, step - self.context : step]
        contexts: np.ndarray = before @ (1 << np.arange(self.context)[::-1])
        return contexts


@dataclass(frozen=True)
class PrioritySort:
    """Section 4.5: vectors with priorities; those of the highest are to be given, in order.

    The channels after the bits hold the priority, uniform from -1 to 1, and a mark of the end. Of
    20 vectors, 16 are to be given, and the same share of any other number.
    """

    bits: int = 8
    share: float = 0.8
    lengths: ClassVar[tuple[int, int]] = (20, 20)
    test_lengths: ClassVar[tuple[int, ...]] = (20, 30)

    @property
    def input_dim(self) -> int:
        """Bits, the priority, and a mark."""
        return self.bits + 2

    @property
    def output_dim(self) -> int:
        """Bits."""
        return self.bits

    def draw(self, generator: np.random.Generator, count: int, length: int) -> Sequences:
        """Draws sequences of so many vectors, T = length + 1 + the number of those given."""
        given = max(1, round(self.share * length))
        bits = _random_bits(generator, (count, length, self.bits))
        priorities = generator.uniform(-1.0, 1.0, (count, length))
        drawn = _empty(count, length + 1 + given, self.input_dim, self.output_dim)
        drawn.vectors[:, :length, : self.bits] = bits
        drawn.vectors[:, :length, self.bits] = priorities
        drawn.vectors[:, length, self.bits + 1] = 1
        order = np.argsort(-priorities, axis=1)[:, :given]
        drawn.targets[:, length + 1 :] = np.take_along_axis(bits, order[:, :, None], axis=1)
        return drawn


ALGORITHMS: dict[str, type[Algorithm]] = {
    "copy": Copy,
    "repeat_copy": RepeatCopy,
    "recall": AssociativeRecall,
    "ngrams": DynamicNGrams,
    "sort": PrioritySort,
}
"""The tasks of the paper, in its order."""


def _random_bits(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(0, 2, shape)


def _empty(count: int, steps: int, input_dim: int, output_dim: int) -> Sequences:
    """Returns vectors of zeros, and targets that are not asked for."""
    vectors = np.zeros((count, steps, input_dim), np.float32)
    return Sequences(vectors, np.full((count, steps, output_dim), NOT_ASKED, np.int32))
