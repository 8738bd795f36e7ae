"""Six files beside its folder are enough to follow any model from input to output."""

import pytest

from tests.files_to_open import files_to_open, recorded_files
from tests.published import published
from zoo.ops.windows import window_starts

SELF_CONTAINED = {"FeatureAttention", "RecurrentAttentionModel"}
"""Models whose folder has all their layers."""
MORE = {"TreeTransducer": 8}
"""It has two attentions, each with a score of its own."""
CASES = [(name, {}) for name in published()] + [("LuongTranslator", {"mechanism": "global"})]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_at_most_six_files_are_to_be_opened(name, options):
    files = files_to_open(published()[name], **options)
    assert len(files) <= MORE.get(name, 6), files
    assert (name in SELF_CONTAINED) == (not files), files


def test_files_are_recorded_where_their_functions_are_called():
    with recorded_files() as files:
        window_starts([2.0], 1)
    assert files == {"ops/windows.py"}
