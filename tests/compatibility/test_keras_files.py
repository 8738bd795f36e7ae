"""A `.keras` file that an earlier version wrote gives the same model back."""

import keras
import numpy as np

from tests.compatibility.keras_files import batch_of, paths_of
from tests.contracts.subjects import every_published_model, run


@every_published_model
def test_a_file_of_an_earlier_version_gives_the_model_back(entry):
    file, outputs = paths_of(entry.name)
    model = keras.saving.load_model(file)
    assert type(model) is entry.cls
    assert model.optimizer.global_clipnorm == 3.0
    found = run(model, batch_of(entry))
    with np.load(outputs) as expected:
        assert set(expected) <= set(found)
        for name in expected:
            np.testing.assert_allclose(
                found[name], expected[name], rtol=1e-4, atol=1e-5, err_msg=name
            )
