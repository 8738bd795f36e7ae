"""Large requests are computed in pieces, small ones need not wait for them; answers are whole."""

import itertools
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.serving.toy_servable import Echo, objects, words_of
from zoo.serving.batching import Batcher
from zoo.serving.jobs import Job
from zoo.serving.limits import Limits
from zoo.serving.padding import join_rows, pick_rows
from zoo.serving.rest import RequestError
from zoo.serving.servable import Servable, TensorInfo
from zoo.serving.server import make_app
from zoo.serving.stopping import Stopper
from zoo.serving.work import check_work, least_bytes, row_costs

pytestmark = pytest.mark.timeout(60, method="thread")


class Slow:
    """Answers until it is told to stop; and each batch of several rows only then."""

    def __init__(self, slow=lambda rows: True):
        self.slow = slow
        self.asked = []
        self.busy = threading.Event()
        self.told = threading.Event()

    def ask(self, inputs, signature):
        rows = inputs["text"].tolist()
        self.asked.append(len(rows))
        self.busy.set()
        if self.slow(rows):
            assert self.told.wait(20)
            self.told.clear()
            raise InterruptedError
        return words_of(rows)

    def stopper(self):
        return Telling(self.told)


class Telling(Stopper):
    """Tells by an event."""

    def __init__(self, told):
        super().__init__()
        self.told = told

    def stop(self):
        super().stop()
        self.told.set()


def texts(*values):
    return {"text": objects(values)}


def asked_in_pieces(costs, maximum_cost):
    echo = Echo()
    batcher = Batcher(echo.ask, workers=1, maximum_cost=maximum_cost)
    values = [b"a b" * (number % 3) + b"%d" % number for number in range(len(costs))]
    answer = batcher.submit("serving_default", texts(*values), costs=np.array(costs)).result(20)
    batcher.close(5)
    for name, value in echo.ask(texts(*values)).items():
        np.testing.assert_array_equal(answer[name], value)
    return echo.asked[:-1]


def test_pieces_cost_as_much_as_all_their_rows_padded_to_the_dearest():
    assert asked_in_pieces([1.0] * 5, 5) == [5]
    assert asked_in_pieces([1.0] * 5, 2) == [2, 2, 1]
    assert asked_in_pieces([1.0, 1.0, 2.0, 1.0, 9.0, 1.0], 4) == [2, 2, 1, 1]
    assert asked_in_pieces([], 4) == [0]


def test_a_small_request_comes_before_the_next_piece_of_a_large_one():
    order = []
    begun, go_on = threading.Event(), threading.Event()

    def ask(inputs, signature):
        order.append(inputs["text"][0])
        begun.set()
        assert go_on.wait(20)
        return words_of(inputs["text"])

    batcher = Batcher(ask, workers=1, maximum_cost=2)
    large = batcher.submit("serving_default", texts(*[b"large"] * 8), costs=np.ones(8))
    assert begun.wait(20)
    other = batcher.submit("serving_default", texts(*[b"other"] * 8), costs=np.ones(8))
    small = batcher.submit("serving_default", texts(b"small"), costs=np.ones(1))
    go_on.set()
    assert [len(future.result(20)["answer"]) for future in (small, large, other)] == [1, 8, 8]
    batcher.close(5)
    assert order.index(b"small") == 1
    assert order.count(b"large") == order.count(b"other") == 4
    assert order[2:4] in ([b"large", b"other"], [b"other", b"large"])  # by turns


def test_what_nobody_waits_for_is_stopped_and_its_rest_is_not_asked():
    slow = Slow(lambda rows: b"slow" in rows)
    batcher = Batcher(slow.ask, workers=1, maximum_cost=2, stopper=slow.stopper)
    future = batcher.submit("serving_default", texts(*[b"slow"] * 8), costs=np.ones(8))
    assert slow.busy.wait(20)
    assert future.cancel()
    quick = batcher.submit("serving_default", texts(b"quick"), costs=np.ones(1))
    assert quick.result(20)["answer"].tolist() == [b"quick"]
    batcher.close(5)
    assert slow.asked == [2, 1]


def test_what_takes_too_long_is_asked_again_in_smaller_pieces():
    slow = Slow(lambda rows: len(rows) > 2)
    batcher = Batcher(slow.ask, workers=1, maximum_seconds=0.1, stopper=slow.stopper)
    values = [b"%d" % number for number in range(8)]
    answer = batcher.submit("serving_default", texts(*values)).result(20)
    batcher.close(5)
    assert answer["answer"].tolist() == values
    assert slow.asked == [8, 2, 2, 2, 2]


def test_a_row_that_takes_too_long_by_itself_is_refused():
    slow = Slow(lambda rows: b"slow" in rows)
    batcher = Batcher(slow.ask, workers=1, maximum_seconds=0.1, stopper=slow.stopper)
    future = batcher.submit("serving_default", texts(b"a", b"slow"))
    with pytest.raises(TimeoutError, match=r"a row took longer than 0\.1 seconds"):
        future.result(20)
    batcher.close(5)


def test_closing_stops_what_is_not_done_in_time():
    slow = Slow()
    batcher = Batcher(slow.ask, workers=1, stopper=slow.stopper)
    waiting = [batcher.submit("serving_default", texts(b"slow"))]
    assert slow.busy.wait(20)
    waiting.append(batcher.submit("serving_default", texts(b"slow")))
    begin = time.monotonic()
    batcher.close(0.2)
    assert time.monotonic() - begin < 2
    assert waiting[1].cancelled()
    with pytest.raises(InterruptedError):
        waiting[0].result(5)
    assert slow.asked == [1]


def test_an_answer_that_grows_too_large_is_given_up_after_its_first_piece():
    echo = Echo()
    limits = Limits(maximum_answer_bytes=4000, maximum_batch_cost=1000)
    with TestClient(make_app({"echo": echo}, limits)) as client:
        texts = ["word " * 100] * 20
        answer = client.post("/v1/models/echo:predict", json={"instances": texts})
        assert answer.status_code == 413
        assert "'outputs', a list of names" in answer.json()["error"]
        assert sum(echo.asked) <= 2  # as many are asked at a time
        few = {"instances": ["word " * 100] * 3, "outputs": ["answer"]}
        assert client.post("/v1/models/echo:predict", json=few).status_code == 200


MAPS = {
    "text_length": TensorInfo("int32", (None,)),
    "text_tokens": TensorInfo("string", (None, None)),
    "attention_text_intra": TensorInfo("float32", (None, 4, None, None)),
}


def test_the_least_size_of_an_answer_is_known_from_the_declaration():
    inputs = texts(b"one two three", b"four")
    limits = {"maximum_text_tokens": 50}
    maps = least_bytes(inputs, MAPS, limits, ["attention_text_intra"])
    assert maps == 2 * 4 * 3 * 3 * 12
    assert least_bytes(inputs, MAPS, limits) == maps + 2 * 12 + 2 * 3 * 3
    assert least_bytes(texts(b"a " * 99), MAPS, limits, ["text_tokens"]) == 50 * 3
    assert least_bytes(inputs, MAPS, {}, ["text_tokens"]) == 2 * 3  # nothing is known of the texts


def test_what_is_certainly_too_large_is_not_asked():
    echo = Echo()
    echo.signatures = {"serving_default": echo.signatures["serving_default"]._replace(outputs=MAPS)}
    echo.limits = {"maximum_tokens": 100}
    with TestClient(make_app({"echo": echo}, Limits(maximum_answer_bytes=50_000))) as client:
        answer = client.post("/v1/models/echo:predict", json={"instances": ["a " * 50]})
        assert answer.status_code == 413
        assert "must have at most 50000 bytes, got about 120162" in answer.json()["error"]
    assert echo.asked == []


def test_costs_of_rows_grow_with_what_is_read_of_them_and_with_the_width_of_a_search():
    read = row_costs(texts(b"", b"a" * 99, b"a" * 9999), {"maximum_tokens": 100})
    np.testing.assert_allclose(read, [1.002, 100 * 1.2, 501 * 2.002])
    searched = row_costs(texts(b"a" * 99), {"beam_width": 5})
    np.testing.assert_allclose(searched, [100 * 2 * 5])
    wider = row_costs(texts(b"a" * 99) | {"beam_width": np.array(50)}, {"beam_width": 5})
    np.testing.assert_allclose(wider, searched * 10)
    widths = {name: np.array(2**22, "int32") for name in ("a", "b", "c")}  # 0 in 64 bits
    np.testing.assert_allclose(row_costs(texts(b"a" * 99) | widths, {}), [100 * 2 * 2.0**66])
    assert not row_costs({"a": np.zeros(2), "b": np.zeros(3)}, {}).size
    ends = row_costs(texts(b"a" + b"\0" * 98, b"\0" * 99), {})
    np.testing.assert_array_equal(ends, row_costs(texts(b"a" * 99, b"a" * 99), {}))


def test_two_pieces_of_a_request_that_fail_at_the_same_time_are_one_error():
    job = Job("serving_default", texts(b"a", b"b"), costs=np.ones(2))
    begun, fail = threading.Event(), job.future.set_exception

    def fail_slowly(error):
        begun.set()
        time.sleep(0.2)  # long enough for the other one to come in between
        fail(error)

    job.future.set_exception = fail_slowly
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(job.fail, ValueError("first"))
        assert begun.wait(20)
        job.fail(ValueError("second"))
        first.result(20)
    with pytest.raises(ValueError, match="first"):
        job.future.result(0)


def padded_answer(lengths, others):
    """Maps of texts over other texts, with a last column for "none of them"."""
    rows, wide, high = len(lengths), max(lengths), max(others)
    tokens = np.full((rows, wide), b"", object)
    other = np.full((rows, high), b"", object)
    maps = np.zeros((rows, wide, high + 1), np.float32)
    for row, (length, size) in enumerate(zip(lengths, others, strict=True)):
        tokens[row, :length], other[row, :size] = b"t", b"o"
        maps[row, :length, :size] = row + 1
        maps[row, :length, -1] = -row - 1
    return {
        "context_tokens": tokens,
        "context_length": np.array(lengths),
        "question_tokens": other,
        "question_length": np.array(others),
        "attention_context_to_question": maps,
        "score": np.array(lengths, np.float32),
    }


@pytest.mark.parametrize("cuts", [(0, 2, 5), (0, 1, 2, 3, 4, 5), (0, 5)])
def test_parts_put_together_are_the_whole(cuts):
    whole = padded_answer([3, 1, 7, 2, 4], [2, 6, 1, 3, 5])
    parts = [pick_rows(whole, slice(*both)) for both in itertools.pairwise(cuts)]
    joined = join_rows(parts)
    assert joined.keys() == whole.keys()
    for name, value in whole.items():
        np.testing.assert_array_equal(joined[name], value)
        assert joined[name].dtype == value.dtype


def test_values_of_a_body_are_counted_before_it_is_read():
    with TestClient(make_app({"echo": Echo()})) as client:
        for many in ('"x"', "[]", "1", '[["\\"[[[,"]]'):
            body = '{"instances": [' + ",".join([many] * 200_000) + "]}"
            answer = client.post("/v1/models/echo:predict", content=body)
            assert answer.status_code == 413
            assert "Request must have at most 131072 values, got " in answer.json()["error"]
        text = '\\",[{\\\\' * 150_000  # none of which is a value
        answer = client.post("/v1/models/echo:predict", content='{"instances": ["' + text + '"]}')
        assert answer.status_code == 200


def test_a_running_search_of_a_shipped_model_is_stopped_and_others_are_not():
    servable = Servable("multi30k_rnnsearch_en_de")
    stopper = servable.stopper()
    search = {"beam_width": 64, "length_penalty": 1.0}
    long = {"text": ["0zx#k9" * 70], **search}
    stopped = []
    servable.ask({"text": ["A dog runs."], **search}, "beam")  # the first one takes longer

    def ask():
        with stopper:
            try:
                servable.ask(long, "beam")
            except Exception as error:  # noqa: BLE001
                stopped.append((type(error).__name__, time.monotonic()))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    told = time.monotonic()
    stopper.stop()
    beside = servable.ask({"text": ["A dog runs."], **search}, "beam")
    thread.join(20)
    assert len(beside["translation"][0]) == 64
    ((name, when),) = stopped
    assert name == "CancelledError"
    assert when - told < 1.0


def test_pieces_of_a_shipped_model_are_the_answer_to_all_rows():
    servable = Servable("squad_dcn")
    contexts = [" ".join(["The ship sailed to Bergen ."] * count) for count in (1, 9, 2, 14, 3)]
    inputs = {
        "question": objects([b"Where ?", b"Where did the ship sail to ?"] * 2 + [b"Who ?"]),
        "context": objects([context.encode() for context in contexts]),
    }
    batcher = Batcher(servable.ask, maximum_cost=1)
    pieces = batcher.submit("serving_default", inputs, costs=np.ones(5)).result(50)
    batcher.close(5)
    whole = servable.ask(inputs)
    assert pieces.keys() == whole.keys()
    for name, value in whole.items():
        if value.dtype.kind == "f":
            np.testing.assert_allclose(pieces[name], value, atol=1e-5)
        else:
            np.testing.assert_array_equal(pieces[name], value)


def test_outputs_that_nobody_asked_for_are_not_kept():
    batcher = Batcher(Echo().ask, workers=1, maximum_cost=1)
    submit = batcher.submit("serving_default", texts(b"a b", b"c"), costs=np.ones(2), wanted=["x"])
    assert submit.result(20).keys() == {"text_tokens", "text_length"}  # which tell the padding
    batcher.close(5)


def test_a_request_error_of_a_check_is_only_for_whom_it_concerns():
    def refuse(parts):
        raise RequestError("too much", 413)

    batcher = Batcher(Echo().ask, workers=1)
    refused = batcher.submit("serving_default", texts(b"a"), check=refuse)
    with pytest.raises(RequestError, match="too much"):
        refused.result(20)
    assert batcher.submit("serving_default", texts(b"b")).result(20)["answer"].tolist() == [b"b"]
    batcher.close(5)
    assert math.isinf(batcher._maximum_cost)


def test_numbers_of_a_continuation_are_no_width():
    """A seed costs nothing, and each token that is written costs as one that is read."""
    numbers = {"new_tokens": 200, "top_k": 5000, "seed": 123_456}
    inputs = texts(b"a" * 500) | {name: np.array(value) for name, value in numbers.items()}
    check_work(inputs, Limits())
    limits = {"maximum_tokens": 500}
    longer = texts(b"a" * 1500)
    assert row_costs(inputs, limits).tolist() == row_costs(longer, limits).tolist()
    with pytest.raises(RequestError, match="at most 64"):
        check_work(texts(b"a") | {"beam_width": np.array(65)}, Limits())


def test_the_size_of_the_file_of_a_picture_does_not_count():
    """Any picture is read in one size: a large file is no long text."""
    width = {"beam_width": np.array(5)}
    large = {"image_bytes": objects([b"x" * 3_000_000])} | width
    check_work(large, Limits())
    small = {"image_bytes": objects([b"x"])} | width
    assert row_costs(large, {}).tolist() == row_costs(small, {}).tolist()
    many = {"image_bytes": objects([b"x"] * 64)} | {"beam_width": np.array(64)}
    with pytest.raises(RequestError, match="ask for fewer rows or a smaller beam"):
        check_work(many, Limits())
    with pytest.raises(RequestError, match="ask for fewer rows or a smaller beam"):
        check_work({"text": objects([b"x" * 30_000])} | width, Limits())
