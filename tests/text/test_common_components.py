"""Common components of word vectors are removed."""

import numpy as np
import pytest

from zoo.text.common_components import remove_common_components


def vectors() -> tuple[np.ndarray, np.ndarray]:
    """Vectors with a large mean and a large common direction, and rows of others."""
    generator = np.random.default_rng(3)
    common = generator.normal(size=6)
    matrix = generator.normal(size=(40, 6)) + 5 + 9 * np.outer(generator.normal(size=40), common)
    return matrix.astype("float32"), np.arange(40) < 30


@pytest.mark.parametrize("count", [0, 1, 3])
def test_chosen_rows_have_neither_a_mean_nor_the_largest_directions(count: int) -> None:
    matrix, rows = vectors()
    found = remove_common_components(matrix, rows, count)
    assert found.dtype == matrix.dtype
    np.testing.assert_allclose(found[rows].mean(axis=0), 0, atol=1e-5)
    before = np.linalg.svd(matrix[rows] - matrix[rows].mean(axis=0), compute_uv=False)
    after = np.linalg.svd(found[rows], compute_uv=False)
    np.testing.assert_allclose(after[: 6 - count], before[count:], rtol=1e-4)
    np.testing.assert_allclose(after[6 - count :], 0, atol=1e-4)
    # Other rows are moved and projected alike: differences along what is kept stay.
    others = found[~rows][0] - found[rows][0]
    given = matrix[~rows][0] - matrix[rows][0]
    np.testing.assert_allclose(others @ others, others @ given, rtol=1e-4)


@pytest.mark.parametrize("count", [-1, 6])
def test_more_directions_than_there_are_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"at least 0 and less than 6, got {count}"):
        remove_common_components(*vectors(), count)
