"""Pictures of a memory at work."""

import numpy as np
import pytest

from zoo.plots import answer, machine

STEPS = 6


def worked(readers=2, writers=1, batch=2):
    """An answer of a machine, and what it was asked."""
    draw = np.random.default_rng(0).random
    result = {
        "probabilities": draw((batch, STEPS, 3)),
        "reads": draw((batch, STEPS, readers, 4)),
        "adds": draw((batch, STEPS, writers, 4)),
        "attention_read": draw((batch, readers, STEPS, 7)),
        "attention_write": draw((batch, writers, STEPS, 7)),
    }
    return result, {"vectors": draw((batch, STEPS, 5)), "length": np.array([STEPS, 4])[:batch]}


def panels(figure):
    """The values of each panel by its title."""
    return {axes.get_title(): axes.images[0].get_array() for axes in figure.axes}


def test_every_panel_shows_its_values_over_time():
    result, inputs = worked()
    found = panels(machine(result, inputs, 1))
    assert [*found] == [
        "input",
        "answers",
        "added",
        "read",
        "weights of the write heads",
        "weights of the read heads",
    ]
    assert {grid.shape[1] for grid in found.values()} == {4}
    np.testing.assert_allclose(found["input"], inputs["vectors"][1, :4].T)
    np.testing.assert_allclose(found["answers"], result["probabilities"][1, :4].T)
    np.testing.assert_allclose(found["added"], result["adds"][1, :4, 0].T)
    np.testing.assert_allclose(found["read"][4:], result["reads"][1, :4, 1].T)
    np.testing.assert_allclose(
        found["weights of the read heads"][7:], result["attention_read"][1, 1, :4].T
    )


def test_answer_draws_it():
    result, inputs = worked()
    assert len(answer(result, inputs=inputs).axes) == 6


def test_a_row_that_is_none_and_missing_outputs_are_refused():
    result, inputs = worked()
    with pytest.raises(ValueError, match="row must be in a batch of 2, got 2"):
        machine(result, inputs, 2)
    with pytest.raises(ValueError, match="result must have probabilities, reads"):
        machine({"reads": result["reads"]}, inputs)
    with pytest.raises(ValueError, match="its length must be positive, got 0"):
        machine(result, inputs | {"length": np.array([0, 4])})
