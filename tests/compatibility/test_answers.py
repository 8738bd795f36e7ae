"""The shipped models answer as they did when they were shipped."""

import numpy as np
import pytest

from tests.compatibility.answers import FOLDER, answers_of
from zoo.serving.load import list_models


@pytest.mark.optimised
@pytest.mark.parametrize("name", list_models())
def test_a_shipped_model_answers_as_before(name):
    found = answers_of(name)
    with np.load(FOLDER / f"{name}.npz") as expected:
        assert found.keys() == set(expected)
        for key in expected:
            if expected[key].dtype.kind == "f":
                np.testing.assert_allclose(
                    found[key], expected[key], rtol=1e-4, atol=1e-4, err_msg=key
                )
            else:
                np.testing.assert_array_equal(found[key], expected[key], err_msg=key)
