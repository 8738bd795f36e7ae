"""Numbers that all examples of a request share are completed, and refused where they are none."""

from types import SimpleNamespace

import numpy as np
import pytest

from zoo.cli.questions import scalars
from zoo.pipelines import pipeline
from zoo.serving.options import complete_options
from zoo.serving.servable import Signature, TensorInfo

SEARCH = {"beam_width": 5, "length_penalty": 1.0}
MEANINGLESS = [float("nan"), float("inf"), -1e30, np.float32(-0.5), np.array(np.nan)]


def test_what_is_not_given_is_as_in_the_card():
    found = complete_options(SEARCH, {"length_penalty": 0}, SEARCH)
    assert found == {"beam_width": 5, "length_penalty": 0}
    with pytest.raises(ValueError, match=r"^beam_width must be given"):
        complete_options(SEARCH, {"length_penalty": 0}, {})


@pytest.mark.parametrize("penalty", MEANINGLESS)
def test_a_penalty_that_orders_nothing_is_refused(penalty):
    message = r"^length_penalty must be a finite number of at least 0, got (nan|inf|-)"
    with pytest.raises(ValueError, match=message):
        complete_options(SEARCH, {"length_penalty": penalty}, SEARCH)


def test_the_command_line_and_pipelines_refuse_it_as_they_call_it(tmp_path):
    signature = Signature({"length_penalty": TensorInfo("float32", ())}, {})
    model = SimpleNamespace(folder=tmp_path)
    with pytest.raises(ValueError, match=r"^--length-penalty must be a finite number"):
        scalars(model, signature, {"length_penalty": float("nan")})
    translate = pipeline("multi30k_rnnsearch_en_de")
    with pytest.raises(ValueError, match=r"^length_penalty must be a finite number"):
        translate("A dog runs.", length_penalty=float("inf"))
