"""Requests share batches when they may, get their own rows, and nobody pays for another's error."""

import time

import numpy as np
import pytest

from tests.serving.toy_servable import Echo, objects
from zoo.serving import batching
from zoo.serving.batching import Batcher


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def batcher(echo):
    made = Batcher(echo.ask, maximum_rows=6)
    yield made
    echo.free.set()
    made.close()


def texts(*values):
    return {"text": objects(values)}


def beam(width, penalty, *values):
    scalars = {"beam_width": np.array(width, np.int32), "length_penalty": np.array(penalty, "f4")}
    return texts(*values) | scalars


def hold(echo, batcher):
    """Makes the thread busy with a request, so that what comes next has to queue."""
    echo.free.clear()
    first = batcher.submit("serving_default", texts(b"first"))
    assert echo.busy.wait(20)
    return first


def test_what_waits_shares_a_batch_and_gets_its_own_rows_without_padding(echo, batcher):
    first = hold(echo, batcher)
    waiting = [
        batcher.submit("serving_default", texts(*row))
        for row in ([b"a b c"], [b"d", b"e f"], [], [b""])
    ]
    echo.free.set()
    answers = [future.result(20) for future in waiting]
    assert first.result(20)["answer"].tolist() == [b"first"]
    assert echo.asked == [1, 4]
    tokens = [answer["text_tokens"].tolist() for answer in answers]
    assert tokens == [[[b"a", b"b", b"c"]], [[b"d", b""], [b"e", b"f"]], [], [[b""]]]
    assert [len(answer["answer"]) for answer in answers] == [1, 2, 0, 1]


def test_a_batch_has_no_more_rows_than_it_may(echo, batcher):
    hold(echo, batcher)
    sizes = [4, 3, 2, 9, 1]
    waiting = [batcher.submit("serving_default", texts(*[b"x"] * size)) for size in sizes]
    echo.free.set()
    assert [len(future.result(20)["answer"]) for future in waiting] == sizes
    assert echo.asked == [1, 6, 4, 9]  # 4 and 2; 3 and 1; what is too large goes alone


def test_only_equal_signatures_scalars_and_shapes_share(echo, batcher):
    hold(echo, batcher)
    asked = [
        ("beam", beam(2, 1.0, b"ab")),
        ("beam", beam(3, 1.0, b"ab")),
        ("beam", beam(2, 0.5, b"ab")),
        ("serving_default", texts(b"ab")),
        ("ranked", {"document": objects([b"d"]), "candidates": np.array([[b"x", b"y"]], object)}),
        ("ranked", {"document": objects([b"d"]), "candidates": np.array([[b"z"]], object)}),
        ("beam", beam(2, 1.0, b"abc")),
    ]
    waiting = [batcher.submit(*one) for one in asked]
    echo.free.set()
    answers = [future.result(20) for future in waiting]
    assert sorted(echo.asked) == [1, 1, 1, 1, 1, 1, 2]
    assert answers[0]["score"].tolist() == [[2.0, 2.0]]
    assert answers[6]["score"].tolist() == [[3.0, 3.0]]
    assert answers[1]["score"].tolist() == [[2.0] * 3]
    assert answers[2]["score"].tolist() == [[1.0, 1.0]]
    assert answers[4]["answer"].tolist() == [b"x"]
    assert answers[5]["answer"].tolist() == [b"z"]


@pytest.mark.parametrize(("word", "error"), [(b"bad", ValueError), (b"broken", KeyError)])
def test_an_error_is_only_for_whom_it_concerns(word, error, echo, batcher):
    hold(echo, batcher)
    waiting = [batcher.submit("serving_default", texts(text)) for text in (b"good", word, b"fine")]
    echo.free.set()
    assert waiting[0].result(20)["answer"].tolist() == [b"good"]
    with pytest.raises(error):
        waiting[1].result(20)
    assert waiting[2].result(20)["answer"].tolist() == [b"fine"]


def test_inputs_of_different_length_are_asked_alone(echo, batcher):
    hold(echo, batcher)
    uneven = {"context": objects([b"a"]), "question": objects([b"b", b"c"])}
    even = {"context": objects([b"a"]), "question": objects([b"b"])}
    waiting = [batcher.submit("pair", one) for one in (even, uneven, even)]
    echo.free.set()
    assert waiting[0].result(20)["answer"].tolist() == [b"ab"]
    with pytest.raises(ValueError, match="zip"):
        waiting[1].result(20)
    assert waiting[2].result(20)["answer"].tolist() == [b"ab"]


def test_what_is_cancelled_is_not_asked(echo, batcher):
    hold(echo, batcher)
    waiting = [batcher.submit("serving_default", texts(text)) for text in (b"a", b"b")]
    assert waiting[0].cancel()
    echo.free.set()
    assert waiting[1].result(20)["answer"].tolist() == [b"b"]
    assert echo.asked == [1, 1]


def test_a_closed_batcher_answers_what_is_queued_and_takes_no_more(echo):
    batcher = Batcher(echo.ask)
    waiting = [batcher.submit("serving_default", texts(text)) for text in (b"a", b"b", b"c")]
    batcher.close()
    assert [future.result(0)["answer"].tolist() for future in waiting] == [[b"a"], [b"b"], [b"c"]]
    with pytest.raises(RuntimeError, match="closed"):
        batcher.submit("serving_default", texts(b"d"))


def test_a_lone_request_is_not_held_back(echo, batcher):
    begin = time.perf_counter()
    batcher.submit("serving_default", texts(b"a")).result(20)
    assert time.perf_counter() - begin < 5  # an idle server has nothing to wait for


def ask_in_company(echo, batcher, seconds):
    """Has two requests answered together, which takes so long."""
    hold(echo, batcher)
    waiting = [batcher.submit("serving_default", texts(b"a")) for _ in range(2)]
    usual = batcher._ask

    def slow(inputs, signature):
        time.sleep(seconds)
        return usual(inputs, signature)

    batcher._ask = slow
    echo.free.set()
    for future in waiting:
        future.result(20)
    batcher._ask = usual


def test_who_asks_again_at_once_is_waited_for_after_a_batch_of_several(monkeypatch, echo, batcher):
    monkeypatch.setattr(batching, "_PATIENCE", 20.0)
    ask_in_company(echo, batcher, 0.5)
    begin = time.perf_counter()
    first = batcher.submit("serving_default", texts(b"a"))
    time.sleep(0.2)
    second = batcher.submit("serving_default", texts(b"b"))
    assert [one.result(20)["answer"].tolist() for one in (first, second)] == [[b"a"], [b"b"]]
    assert echo.asked == [1, 2, 2]
    assert time.perf_counter() - begin < 5  # of 10: no more than were answered are waited for


def test_who_comes_later_than_that_waits_for_nobody(monkeypatch, echo, batcher):
    monkeypatch.setattr(batching, "_PATIENCE", 4.0)
    ask_in_company(echo, batcher, 0.5)
    time.sleep(2.2)
    begin = time.perf_counter()
    batcher.submit("serving_default", texts(b"a")).result(20)
    assert time.perf_counter() - begin < 1.5
    assert echo.asked == [1, 2, 1]


def test_a_batch_of_nothing_is_refused(echo):
    with pytest.raises(ValueError, match="maximum_rows must be at least 1, got 0"):
        Batcher(echo.ask, maximum_rows=0)
