"""Alignments of a step, as searches keep them."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.decoding.stepping import alignment_rows


@pytest.mark.parametrize("rows", [2, 0])
def test_the_cells_of_a_grid_are_put_in_one_row(rows):
    grids = np.arange(12.0).reshape(2, 2, 3)[:rows]
    found = alignment_rows({"alignment": tf.constant(grids)}, tf.constant(rows))
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, grids.reshape(rows, 6))


def test_other_alignments_stay_as_they_are_and_none_has_no_columns():
    weights = tf.constant([[0.25, 0.75]])
    np.testing.assert_array_equal(alignment_rows({"alignment": weights}, tf.constant(1)), weights)
    assert alignment_rows({}, tf.constant(3)).shape == (3, 0)
