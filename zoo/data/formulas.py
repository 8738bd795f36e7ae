"""Random formulas in prefix and in infix notation: the transduction of trees.

Kim, Denton, Hoang, Rush: Structured Attention Networks. ICLR 2017, arXiv 1702.00887, section 4.1:

    $ ( * ( + ( + 15 7 ) 1 8 ) ( + 19 0 11 ) )  ->  ( ( 15 + 7 ) + 1 + 8 ) * ( 19 + 0 + 11 )

Formulas are made of sums and products of numbers from 0 to 20, with at most four operands. Training
has as many formulas of each of the depths 2, 3 and 4, the test part of each of 2 to 6. The depth is
the number of nested parentheses of the prefix form, 3 in the example. No formula occurs twice,
within a part or in two.

Where the paper leaves a choice: an operation has two to four operands, each number of them as
likely. One, at a random place, brings the depth. The others are numbers four times in five, else
formulas of any smaller depth. Targets then have 13, 24, 36, 51 and 67 symbols on average.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

OPERATORS = ("+", "*")
ROOT = "$"
LARGEST = 20
_OPERANDS = (2, 4)
_NUMBERS = 0.8  # of operands that do not bring the depth
PARTS = ("train", "val", "test")


class Operation(NamedTuple):
    """A sum or a product."""

    operator: str
    operands: "tuple[Operation | int, ...]"


Formula = Operation | int
PAPER: Mapping[str, Mapping[int, int]] = {
    "train": dict.fromkeys((2, 3, 4), 5000),
    "val": dict.fromkeys((2, 3, 4), 100),
    "test": dict.fromkeys((2, 3, 4, 5, 6), 200),
}
"""Formulas of each depth in each part; the paper says nothing of a validation part."""
SAMPLE: Mapping[str, Mapping[int, int]] = {
    "train": {1: 1000, 2: 5000},
    "val": {1: 50, 2: 100},
    "test": {1: 100, 2: 100, 3: 100},
}
"""Fewer and simpler ones."""


def formula_pairs(
    counts: Mapping[str, Mapping[int, int]] = PAPER, seed: int = 0
) -> dict[str, pd.DataFrame]:
    """Draws all parts, a pure function of the arguments.

    Args:
        counts: formulas of each depth, by part.
        seed: of all that is drawn.

    Returns:
        By part, frames of ``source``, ``target`` and ``depth``, in random order.

    Raises:
        ValueError: a part is unknown, a depth or a number is not positive, or there are not so many
            formulas.
    """
    if unknown := sorted(counts.keys() - set(PARTS)):
        raise ValueError(f"counts must be of parts among {list(PARTS)}, got {unknown}")
    generator = np.random.default_rng(seed)
    seen: set[str] = set()
    frames = {}
    # The test part comes first: it is the same whatever the others are.
    for part in sorted(counts, key=PARTS.index, reverse=True):
        rows = [
            (prefix(formula), infix(formula), depth)
            for depth, count in counts[part].items()
            for formula in _new_formulas(generator, depth, count, seen)
        ]
        order = generator.permutation(len(rows))
        columns = ["source", "target", "depth"]
        frames[part] = pd.DataFrame([rows[row] for row in order], columns=columns)
    return {part: frames[part] for part in counts}


def draw_formula(generator: np.random.Generator, depth: int) -> Operation:
    """Draws a formula of exactly this depth.

    Raises:
        ValueError: the depth is not positive.
    """
    if depth < 1:
        raise ValueError(f"depth must be positive, got {depth}")
    count = int(generator.integers(_OPERANDS[0], _OPERANDS[1] + 1))
    operands: list[Formula] = [_draw_operand(generator, depth) for _ in range(count)]
    if depth > 1:
        operands[generator.integers(count)] = draw_formula(generator, depth - 1)
    return Operation(OPERATORS[generator.integers(len(OPERATORS))], tuple(operands))


def _draw_operand(generator: np.random.Generator, depth: int) -> Formula:
    """Draws an operand of a formula of this depth, at random a number or a simpler formula."""
    if depth == 1 or generator.random() < _NUMBERS:
        return int(generator.integers(LARGEST + 1))
    return draw_formula(generator, int(generator.integers(1, depth)))


def _new_formulas(
    generator: np.random.Generator, depth: int, count: int, seen: set[str]
) -> list[Operation]:
    """Draws formulas that were not seen yet, and adds them to those that were."""
    if count < 1:
        raise ValueError(f"counts must be positive, got {count} of depth {depth}")
    found: list[Operation] = []
    for _ in range(100 * count):
        formula = draw_formula(generator, depth)
        if (text := prefix(formula)) not in seen:
            seen.add(text)
            found.append(formula)
        if len(found) == count:
            return found
    raise ValueError(f"counts must be of formulas that differ, got {count} of depth {depth}")


def prefix(formula: Operation) -> str:
    """Writes the root and the formula, operators before their operands."""
    return f"{ROOT} {_prefix(formula)}"


def _prefix(formula: Formula) -> str:
    if isinstance(formula, int):
        return str(formula)
    return " ".join(["(", formula.operator, *map(_prefix, formula.operands), ")"])


def infix(formula: Operation) -> str:
    """Writes the formula with operators between their operands, without outer parentheses."""
    return f" {formula.operator} ".join(map(_infix, formula.operands))


def _infix(formula: Formula) -> str:
    return str(formula) if isinstance(formula, int) else f"( {infix(formula)} )"
