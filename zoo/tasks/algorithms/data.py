"""The algorithms, as the recipes take them."""

import logging
from dataclasses import fields, replace
from typing import Any

import numpy as np

from zoo.data.algorithms import ALGORITHMS, Algorithm, DynamicNGrams
from zoo.serving.cards import DataRecord
from zoo.tasks.algorithms.examples import AlgorithmEvaluator, as_pair
from zoo.tasks.shared.drawn import spread_lengths

SAMPLE_BITS = 4
SAMPLE_LENGTHS = {
    "copy": (1, 5),
    "repeat_copy": (1, 3),
    "recall": (2, 3),
    "ngrams": (20, 20),
    "sort": (5, 5),
}
"""The shortest and the longest sequence of the sample; it is measured at the longest and at twice
as long."""


def make_algorithm(name: str, data: str, bits: int | None) -> Algorithm:
    """Makes an algorithm by its name.

    Args:
        name: one of `zoo.data.algorithms.ALGORITHMS`.
        data: ``"sample"`` or ``"generated"``.
        bits: of a vector; None: those of the sample or of the paper.

    Raises:
        ValueError: bits are given, and the algorithm has none.
    """
    kind: Any = ALGORITHMS[name]
    has_bits = "bits" in {field.name for field in fields(kind)}
    if bits is not None and not has_bits:
        raise ValueError(f"bits must be left out with the task {name}, got {bits}")
    if bits is None and data == "sample" and has_bits:
        bits = SAMPLE_BITS
    made: Algorithm = kind() if bits is None else kind(bits=bits)
    return made


def resolve_lengths(settings: Any, algorithm: Algorithm) -> Any:
    """Gives lengths that are not set those of the sample or of the paper, and tries all of them.

    Raises:
        ValueError: the algorithm has no sequences of such a length, or there is none between them.
    """
    (shortest, longest), tested = algorithm.lengths, algorithm.test_lengths
    if settings.data == "sample":
        shortest, longest = SAMPLE_LENGTHS[settings.task]
        tested = (longest, 2 * longest)
    chosen = replace(
        settings,
        shortest=shortest if settings.shortest is None else settings.shortest,
        longest=longest if settings.longest is None else settings.longest,
        test_lengths=tuple(settings.test_lengths or tested),
    )
    for name in ("longest", "evaluation_longest"):
        length = getattr(chosen, name)
        if length is not None and length < chosen.shortest:
            raise ValueError(f"{name} must be at least shortest, {chosen.shortest}, got {length}")
    _check_length("shortest", chosen.shortest, algorithm)
    evaluated = "longest" if chosen.evaluation_longest is None else "evaluation_longest"
    lengths = {evaluated: evaluated_lengths(chosen), "test_lengths": chosen.test_lengths}
    for name, of_setting in lengths.items():
        for length in of_setting:
            _check_length(name, length, algorithm)
    return chosen


def evaluated_lengths(settings: Any) -> list[int]:
    """Returns the lengths of validation: those of training, or six up to a longer one."""
    shortest, longest = settings.shortest, settings.evaluation_longest
    if longest is None:
        return list(range(shortest, settings.longest + 1))
    return spread_lengths(shortest, longest)


def _check_length(name: str, length: int, algorithm: Algorithm) -> None:
    """Raises a ValueError that names the setting if the algorithm has no such sequences."""
    if length < 1:
        raise ValueError(f"{name} must be positive, got {length}")
    try:
        algorithm.draw(np.random.default_rng(0), 1, length)
    except ValueError as error:  # of its argument, length
        raise ValueError(f"{name}{str(error).removeprefix('length')}") from error


def describe(settings: Any, algorithm: Algorithm, logger: logging.Logger) -> DataRecord:
    """Records that everything is drawn, with a line for the log."""
    lengths = f"lengths {settings.shortest} to {settings.longest}"
    tested = ", ".join(map(str, settings.test_lengths))
    vectors = f"vectors of {algorithm.input_dim} numbers, answers of {algorithm.output_dim} bits"
    logger.info("data: drawn as needed, %s, %s, %s", settings.task, lengths, vectors)
    name = "sample" if settings.data == "sample" else f"drawn: {settings.task}"
    return DataRecord(name, lengths, f"lengths {tested}", remarks=vectors)


def draw_question(algorithm: Algorithm, length: int, seed: int) -> dict[str, np.ndarray]:
    """Draws one sequence, and returns it as the inputs of an endpoint."""
    inputs, _ = as_pair(algorithm.draw(np.random.default_rng(seed), 1, length))
    return {name: value[0] for name, value in inputs.items()}


def optimal_bits(algorithm: Algorithm, evaluate: AlgorithmEvaluator) -> dict[str, float]:
    """Returns the bits a sequence that no estimator can save, of n-grams; else nothing."""
    if not isinstance(algorithm, DynamicNGrams):
        return {}
    lengths = evaluate.lengths
    return {f"optimal_bits_{n}": algorithm.optimal_bits(evaluate.draw(n)) for n in lengths}
