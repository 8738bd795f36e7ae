"""A warmed model's first answer takes no longer than later ones."""

import statistics
import time
from types import SimpleNamespace

import numpy as np
import pytest

from tests.serving.toy_servable import STRING, Echo
from zoo.serving.servable import Servable, Signature, TensorInfo
from zoo.serving.warming import warm_up

QUESTION = {"question": ["Who sang?"], "context": ["A woman sang in the rain ."]}


def seconds(servable):
    """Times ten answers, one after the other."""
    taken = []
    for _ in range(10):
        began = time.perf_counter()
        servable.ask(QUESTION)
        taken.append(time.perf_counter() - began)
    return taken


@pytest.mark.optimised
def test_the_first_answer_is_as_fast_as_the_tenth(exported):
    cold = seconds(Servable(exported.folder))
    assert cold[0] > 10 * statistics.median(cold[1:])
    servable = Servable(exported.folder)
    warm_up(servable)
    warm = seconds(servable)
    assert warm[0] < 3 * max(warm[1:])
    assert warm[0] < cold[0] / 5


def test_every_signature_is_asked_alone_and_in_a_batch():
    echo = Echo()
    warm_up(echo)
    assert echo.asked == [1, 1, 2] * len(Echo.signatures)


def test_numbers_are_those_of_the_card_and_sizes_are_kept():
    class Noted:
        limits = {"beam_width": 5}  # noqa: RUF012
        signatures = {  # noqa: RUF012
            "serving_default": Signature(
                {
                    "text": STRING,
                    "beam_width": TensorInfo("int32", ()),
                    "seed": TensorInfo("int32", ()),
                    "image": TensorInfo("float32", (None, 6, None, 1)),
                },
                {},
            )
        }
        asked = None

        def ask(self, inputs, _):
            self.asked = inputs

    noted = Noted()
    warm_up(noted)
    assert (int(noted.asked["beam_width"]), int(noted.asked["seed"])) == (5, 1)
    assert noted.asked["image"].shape == (2, 6, 1, 1)
    assert noted.asked["image"].dtype == np.float32
    assert noted.asked["text"].tolist()[0].count(b"XXXXX") == 1


def test_a_model_that_refuses_says_so():
    class Refusing(Echo):
        def ask(self, inputs, signature="serving_default"):
            raise ValueError(f"{signature}: not this")

    with pytest.raises(ValueError, match="serving_default: not this"):
        warm_up(Refusing())


def test_signatures_after_one_that_refuses_are_warmed_too():
    class Refusing(Echo):
        def ask(self, inputs, signature="serving_default"):
            if signature in ("serving_default", "pair"):
                raise ValueError(f"{signature}: not this")
            return super().ask(inputs, signature)

    refusing = Refusing()
    with pytest.raises(ValueError, match=r"^serving_default: not this; pair: not this$"):
        warm_up(refusing)
    assert refusing.asked == [1, 1, 2] * 2


def test_what_the_example_of_the_card_has_is_asked():
    infos = {
        "image_bytes": STRING,
        "lines": TensorInfo("string", (None, None)),
        "vectors": TensorInfo("float32", (None, None, 2)),
        "text": STRING,
        "n": TensorInfo("int32", ()),
    }
    asked = []
    noted = SimpleNamespace(
        example={"image_bytes": b"\x89PNG", "lines": ["a", "b"], "vectors": [[0, 1]], "n": 9},
        signatures={"serving_default": Signature(infos, {})},
        ask=lambda inputs, _: asked.append(inputs),
    )
    warm_up(noted)
    inputs = asked[-1]
    assert inputs["image_bytes"].tolist() == [b"\x89PNG"] * 2
    assert inputs["lines"].tolist() == [["a", "b"]] * 2
    assert inputs["vectors"].tolist() == [[[0, 1]]] * 2
    assert inputs["vectors"].dtype == np.float32
    assert inputs["text"].shape == (2,)
    assert int(inputs["n"]) == 1  # as the card limits it, or the least


@pytest.mark.parametrize("name", ["flickr8k_caption_soft", "mnist_glimpse", "reverse_neural_gpu"])
def test_models_that_read_no_plain_text_are_wholly_warmed(name):
    warm_up(Servable(name))
