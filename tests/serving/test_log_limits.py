"""Messages that come over and over are written a few times, and counted."""

import logging
import time

from zoo.serving.log_limits import _KINDS, RateLimit, limited_logs

LOGGER = logging.getLogger("zoo.test_log_limits")


def test_the_same_message_is_written_a_few_times_and_counted(caplog):
    with limited_logs(LOGGER.name):
        for number in range(1000):
            LOGGER.warning("no file for %d\nas there are too many", number)
        LOGGER.warning("another")
    assert [record.getMessage() for record in caplog.records] == [
        *(f"no file for {number}\nas there are too many" for number in range(5)),
        "another",
        "995 more were left out of: no file for %d",
    ]
    LOGGER.warning("no file for %d\nas there are too many", 0)  # no longer limited
    assert len(caplog.records) == 8


def test_the_next_one_after_a_while_tells_how_many_were_left_out(caplog):
    limit = RateLimit(most=2, seconds=0.2)
    LOGGER.addFilter(limit)
    try:
        for _ in range(5):
            LOGGER.warning("again\n")
        time.sleep(0.25)
        LOGGER.warning("again, %s", "100 %")
        LOGGER.warning("again\n")
        LOGGER.warning("again\n")
    finally:
        LOGGER.removeFilter(limit)
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "again\n",
        "again\n",
        "again, 100 %",
        "again\n(3 more of these were left out)",
        "again\n",
    ]


def test_errors_of_other_classes_are_told_apart(caplog):
    with limited_logs(LOGGER.name):
        for error in [KeyError("a"), ValueError("b")] * 10:
            LOGGER.error("it failed", exc_info=error)
    assert len(caplog.records) == 2 * 5 + 2


def test_many_kinds_take_no_memory():
    limit = RateLimit()
    for number in range(10 * _KINDS):
        assert limit.filter(logging.makeLogRecord({"name": "a", "msg": f"{number}"}))
    assert len(limit._began) == len(limit._seen) == _KINDS
