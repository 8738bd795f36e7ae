"""Sequences of symbols made by simple programs: reversing, duplicating, and adding in binary.

Kaiser, Sutskever: Neural GPUs Learn Algorithms. arXiv 1511.08228, 2015, section 3. As in
`zoo.data.algorithms`, examples are drawn when they are needed, of any length, as a function of the
generator's state alone. Symbols are ids from 1; 0 is padding, at the end of a row.

Shape letters: B sequences, all of one length, S symbols of the input, T of the answer.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""How the symbols of an alphabet are written."""


class SymbolSequences(NamedTuple):
    """Examples of an algorithm on symbols."""

    symbols: np.ndarray
    """int32 (B, S)."""
    answers: np.ndarray
    """int32 (B, T)."""


class SymbolAlgorithm(Protocol):
    """A program on symbols that is to be learnt."""

    places_per_symbol: ClassVar[int]
    """Places that both input and answer fit into, for each symbol of the input."""

    @property
    def symbols(self) -> int:
        """Number of symbols, padding included: ids are below it."""

    @property
    def characters(self) -> str:
        """How the symbols are written, from that with the id 1 on."""

    def length_within(self, places: int) -> int:
        """Returns the length of the longest sequences, input and answer, in so many places."""

    def draw(self, generator: np.random.Generator, count: int, length: int) -> SymbolSequences:
        """Draws so many sequences of one length."""


@dataclass(frozen=True)
class Reverse:
    """Random symbols, to be given back from the last to the first."""

    places_per_symbol: ClassVar = 1
    alphabet: int = 2

    @property
    def symbols(self) -> int:
        """The alphabet and padding."""
        return self.alphabet + 1

    @property
    def characters(self) -> str:
        """Digits, then letters."""
        return _characters(self.alphabet)

    def length_within(self, places: int) -> int:
        """Returns the number of places: answers are as long as inputs."""
        return places

    def draw(self, generator: np.random.Generator, count: int, length: int) -> SymbolSequences:
        """Draws sequences of so many symbols."""
        drawn = _random_symbols(generator, (count, length), self.alphabet)
        return SymbolSequences(drawn, drawn[:, ::-1].copy())


@dataclass(frozen=True)
class Duplicate:
    """Random symbols, to be given back twice."""

    places_per_symbol: ClassVar = 2
    alphabet: int = 2

    @property
    def symbols(self) -> int:
        """The alphabet and padding."""
        return self.alphabet + 1

    @property
    def characters(self) -> str:
        """Digits, then letters."""
        return _characters(self.alphabet)

    def length_within(self, places: int) -> int:
        """Returns half the number of places: answers are twice as long."""
        return places // 2

    def draw(self, generator: np.random.Generator, count: int, length: int) -> SymbolSequences:
        """Draws sequences of so many symbols; answers are twice as long."""
        drawn = _random_symbols(generator, (count, length), self.alphabet)
        return SymbolSequences(drawn, np.tile(drawn, (1, 2)))


@dataclass(frozen=True)
class BinaryAddition:
    """Two numbers of so many digits and a plus between them; their sum is to be given.

    Digits are in order from the lowest to the highest, as in the paper's code; the sum has one
    digit more than the numbers.
    """

    places_per_symbol: ClassVar = 1
    ZERO: ClassVar = 1
    ONE: ClassVar = 2
    PLUS: ClassVar = 3

    @property
    def symbols(self) -> int:
        """Two digits, plus, and padding."""
        return self.PLUS + 1

    @property
    def characters(self) -> str:
        """Two digits and plus."""
        return "01+"

    def length_within(self, places: int) -> int:
        """Returns half the places beside that of the plus."""
        return (places - 1) // 2

    def draw(self, generator: np.random.Generator, count: int, length: int) -> SymbolSequences:
        """Draws sequences of numbers with so many digits: S = 2 length + 1, T = length + 1."""
        digits = generator.integers(0, 2, (count, 2, length))
        total = np.zeros((count, length + 1), np.int32)
        carry = np.zeros(count, np.int64)
        for place in range(length):
            both = digits[:, :, place].sum(axis=1) + carry
            total[:, place], carry = both % 2, both // 2
        total[:, length] = carry
        plus = np.full((count, 1), self.PLUS)
        ids = digits + self.ZERO
        symbols = np.concatenate([ids[:, 0], plus, ids[:, 1]], axis=1).astype(np.int32)
        return SymbolSequences(symbols, total + self.ZERO)


SYMBOL_ALGORITHMS: dict[str, type[SymbolAlgorithm]] = {
    "reverse": Reverse,
    "duplicate": Duplicate,
    "addition": BinaryAddition,
}
"""The algorithms by name."""


def _characters(alphabet: int) -> str:
    if alphabet > len(CHARACTERS):
        raise ValueError(f"alphabet must be at most {len(CHARACTERS)} symbols, got {alphabet}")
    return CHARACTERS[:alphabet]


def _random_symbols(
    generator: np.random.Generator, shape: tuple[int, ...], alphabet: int
) -> np.ndarray:
    if alphabet < 2:
        raise ValueError(f"alphabet must be at least 2 symbols, got {alphabet}")
    return generator.integers(1, alphabet + 1, shape, dtype=np.int32)
