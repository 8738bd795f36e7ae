"""Requests share batches when they may, get their own rows, and nobody pays for another's error."""

import threading
import time

import numpy as np
import pytest

from tests.serving.toy_servable import Echo, objects
from zoo.models.core.axes import Tokens
from zoo.serving import batching
from zoo.serving.batching import Batcher

pytestmark = pytest.mark.timeout(60)  # what hangs shall be noticed before the suite's limit


def close(batcher):
    """Closes a batcher, and does not wait for ever for one that hangs."""
    closing = threading.Thread(target=batcher.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive(), "the batcher does not end"


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def batcher(echo):
    """One that is busy with one batch at a time."""
    made = Batcher(echo.ask, maximum_rows=6, workers=1)
    yield made
    echo.free.set()
    close(made)


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


def test_padding_is_cut_and_added_by_the_axes_of_the_card(echo):
    """Axes of an output whose name tells nothing: the words of the texts that wait together."""

    def renamed(inputs, signature):
        outputs = echo.ask(inputs, signature)
        return outputs | {"words": outputs["text_tokens"]}

    for axes, sizes in (({"words": (Tokens("text"),)}, [3, 1]), ({}, [3, 3])):
        batcher = Batcher(renamed, axes=axes, maximum_rows=6, workers=1)
        first = hold(echo, batcher)
        rows = [batcher.submit("serving_default", texts(text)) for text in (b"a b c", b"d")]
        echo.free.set()
        first.result(20)
        assert [row.result(20)["words"].shape[1] for row in rows] == sizes
        echo.busy.clear()
        close(batcher)


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
    close(batcher)
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


class Gate:
    """Answers a batch when that is allowed, and says which ones are there."""

    def __init__(self, echo):
        self.echo = echo
        self.sizes = []
        self.changed = threading.Condition()
        self.allowed = 0

    def ask(self, inputs, signature):
        with self.changed:
            number = len(self.sizes)
            self.sizes.append(len(inputs["text"]))
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.allowed > number, 20)
        return self.echo.ask(inputs, signature)

    def wait_for(self, batches):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.sizes) >= batches, 20), self.sizes

    def allow(self, batches):
        with self.changed:
            self.allowed = batches
            self.changed.notify_all()


@pytest.fixture
def gate(echo):
    return Gate(echo)


@pytest.fixture
def pair(gate):
    """A batcher that is busy with two batches at a time."""
    made = Batcher(gate.ask, maximum_rows=64)
    yield made
    gate.allow(1000)
    close(made)


def ask_many(batcher, count):
    return [batcher.submit("serving_default", texts(b"%d" % number)) for number in range(count)]


def occupy(gate, pair):
    """Makes both workers busy with a request each, so that what comes next has to queue."""
    for batches in (1, 2):
        pair.submit("serving_default", texts(b"first"))
        gate.wait_for(batches)


def test_two_batches_are_answered_at_a_time_and_share_evenly_what_there_is(monkeypatch, gate, pair):
    monkeypatch.setattr(batching, "_PATIENCE_BESIDE_ANOTHER", 0.0)
    occupy(gate, pair)
    waiting = ask_many(pair, 19)
    gate.allow(1)
    gate.wait_for(3)
    assert gate.sizes == [1, 1, 10]  # half of the 19 that wait and the one that is being answered
    gate.allow(3)
    gate.wait_for(4)
    answers = [future.result(20)["answer"].tolist() for future in waiting[:10]]
    gate.allow(1000)
    answers += [future.result(20)["answer"].tolist() for future in waiting[10:]]
    assert answers == [[b"%d" % number] for number in range(19)]
    assert sum(gate.sizes) == 21


def test_company_is_waited_for_longer_beside_another_batch(monkeypatch, gate, pair):
    monkeypatch.setattr(batching, "_PATIENCE", 0.0)
    monkeypatch.setattr(batching, "_PATIENCE_BESIDE_ANOTHER", 1000.0)
    occupy(gate, pair)
    ask_many(pair, 8)
    gate.allow(2)  # both are free, and share the eight
    gate.wait_for(4)
    time.sleep(0.1)
    gate.allow(3)  # one of them is answered and waits for its share of all that there were
    alone = pair.submit("serving_default", texts(b"alone"))
    time.sleep(0.3)
    assert len(gate.sizes) == 4
    gate.allow(1000)  # the other one is answered too: nobody is waited for any longer
    assert alone.result(20)["answer"].tolist() == [b"alone"]


def test_a_batch_or_a_number_of_workers_of_nothing_is_refused(echo):
    with pytest.raises(ValueError, match="maximum_rows must be at least 1, got 0"):
        Batcher(echo.ask, maximum_rows=0)
    with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
        Batcher(echo.ask, workers=0)
