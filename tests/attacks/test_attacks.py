"""The attacks at a small size: whoever asks another model meanwhile hardly notices."""

import time

import pytest

from tests.attacks.attacks import ATTACKS
from tests.attacks.run import (
    MOST_BYTES,
    MOST_ENDING_SECONDS,
    MOST_LOG_BYTES,
    attacked_server,
    ending_seconds,
    measure,
    most_seconds,
)
from tests.attacks.server import FILES

pytestmark = pytest.mark.timeout(300, method="thread")

# Other tests run on the same processors. A stall of a second is noticed all the same.
SLACK = 0.6
FEW_FILES = 16


@pytest.fixture(scope="module")
def attacked():
    """A server with a short deadline."""
    with attacked_server(timeout_seconds=3) as attacked:
        yield attacked


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_in_nobodys_way(attack, attacked):
    measured = measure(attacked, attack, attack.small)
    assert measured.statuses.keys() <= attack.statuses
    assert measured.failures == 0
    assert measured.other <= most_seconds(attacked.own) + SLACK
    assert measured.peak_bytes <= MOST_BYTES
    assert measured.files < FILES
    assert measured.log_bytes <= MOST_LOG_BYTES
    deadline = time.monotonic() + 10
    while attacked.server.files() > FEW_FILES:  # connections of innocent questions among them
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_ends_in_time_whatever_it_does(attacked):
    assert ending_seconds(attacked.server) <= MOST_ENDING_SECONDS
