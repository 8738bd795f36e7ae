"""Formulas as a task: the score of a known translator, the rates, the question of the picture."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tests.tasks.translation.translators import WordByWord, make_codecs
from zoo.tasks.translation.formula_scores import FormulaEvaluator
from zoo.tasks.translation.formulas import _descent, load_formulas, shortest

FRAME = pd.DataFrame(
    [
        ("two dogs run .", "zwei Hunde rennen .", 2),  # five right tokens, with the end
        ("a dog", "ein Hund rennt", 2),  # two of four
        ("a dog runs .", "Hund ein rennt .", 3),  # none of five
    ],
    columns=["source", "target", "depth"],
)


@pytest.mark.parametrize("beam_width", [1, 3])
def test_the_score_is_the_mean_share_before_the_first_mistake(beam_width, tmp_path):
    codecs = make_codecs(tmp_path)
    evaluate = FormulaEvaluator(
        WordByWord(), codecs, FRAME, batch_size=2, beam_width=beam_width, length_penalty=0.0
    )
    metrics = {"until_failure": evaluate.measure(), "exact_match": evaluate.exact_match()}
    assert metrics == pytest.approx({"until_failure": 50.0, "exact_match": 100 / 3})
    assert evaluate.by_depth() == pytest.approx({2: 75.0, 3: 0.0})


def test_the_rate_is_halved_after_each_epoch_from_the_ninth_on():
    settings = SimpleNamespace(learning_rate=1.0, decay_after=9, epochs=13, clip_norm=1.0)
    optimizer = _descent(settings, steps_per_epoch=10)
    rates = [float(optimizer._learning_rate(step)) for step in (0, 90, 91, 101, 111, 121, 129)]
    assert rates == [1.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.0625]
    assert optimizer.global_clipnorm == 1.0
    settings.epochs = 9
    assert float(np.array(_descent(settings, 10).learning_rate)) == 1.0


def test_the_sample_has_formulas_of_three_depths_and_the_picture_a_short_one():
    data = load_formulas("sample")
    assert data.record.name == "sample"
    assert sorted(data.test["depth"].unique()) == [1, 2, 3]
    source = shortest(data.validation)
    depths = data.validation.set_index("source")["depth"]
    assert depths[source] == 2
    assert len(source) == min(len(one) for one in depths.index[depths == 2])
