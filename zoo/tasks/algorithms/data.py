"""The algorithms, as the recipes take them."""

import logging
from dataclasses import fields, replace
from typing import Any

import numpy as np

from zoo.data.algorithms import ALGORITHMS, Algorithm, DynamicNGrams
from zoo.serving.cards import DataRecord
from zoo.tasks.algorithms.examples import AlgorithmEvaluator, as_pair


def make_algorithm(name: str, bits: int | None) -> Algorithm:
    """Makes an algorithm by its name.

    Args:
        name: one of `zoo.data.algorithms.ALGORITHMS`.
        bits: of a vector; None: those of the paper.

    Raises:
        ValueError: bits are given, and the algorithm has none.
    """
    kind: Any = ALGORITHMS[name]
    has_bits = "bits" in {field.name for field in fields(kind)}
    if bits is not None and not has_bits:
        raise ValueError(f"bits must be left out with the task {name}, got {bits}")
    made: Algorithm = kind() if bits is None else kind(bits=bits)
    return made


def resolve_lengths(settings: Any, algorithm: Algorithm) -> Any:
    """Gives lengths that are not set those of the paper, and tries all of them.

    Raises:
        ValueError: the algorithm has no sequences of such a length, or there is none between them.
    """
    shortest, longest = algorithm.lengths
    chosen = replace(
        settings,
        shortest=shortest if settings.shortest is None else settings.shortest,
        longest=longest if settings.longest is None else settings.longest,
        test_lengths=tuple(settings.test_lengths or algorithm.test_lengths),
    )
    if chosen.shortest > chosen.longest:
        raise ValueError(
            f"longest must be at least shortest, {chosen.shortest}, got {chosen.longest}"
        )
    for length in (chosen.shortest, *chosen.test_lengths):
        if length < 1:
            raise ValueError(f"test_lengths must be positive, got {chosen.test_lengths}")
        algorithm.draw(np.random.default_rng(0), 1, length)
    return chosen


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
