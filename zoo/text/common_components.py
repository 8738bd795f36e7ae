"""Removal of what all word vectors have in common.

Mu, Viswanath: All-but-the-Top: Simple and Effective Postprocessing for Word Representations. ICLR
2018, arXiv 1702.01417. Vectors that were trained on little text share a large mean and a few
directions, which tell the kind of text and not the word: without them, words differ more.
"""

import numpy as np


def remove_common_components(matrix: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Subtracts the mean, and the projections on the directions of largest variance.

    Args:
        matrix: (V, d), a vector a row.
        rows: bool (V,), the rows that mean and directions are computed from.
        count: number of directions; 0: only the mean is removed.

    Returns:
        (V, d) in the dtype of `matrix`.

    Raises:
        ValueError: `count` is negative or not less than the number of rows or of dimensions.
    """
    chosen = matrix[rows].astype("float64")
    most = min(chosen.shape)
    if not 0 <= count < most:
        raise ValueError(f"count must be at least 0 and less than {most}, got {count}")
    mean = chosen.mean(axis=0)
    _, _, directions = np.linalg.svd(chosen - mean, full_matrices=False)
    centred = matrix - mean
    top = directions[:count]  # (count, d)
    return (centred - centred @ top.T @ top).astype(matrix.dtype)
