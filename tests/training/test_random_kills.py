"""Whenever a training is killed, and however often, it ends as if it had not been."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.random_kills import EVERY_STEP
from tests.training.test_loop import assert_as_straight, start
from tests.training.toy import weights

ROOT = Path(__file__).parents[2]
KILLS = 20


@pytest.mark.slow
@pytest.mark.optimised
def test_killed_at_random_moments_equals_straight(tmp_path):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    command = [sys.executable, "-m", "tests.training.random_kills", straight, killed, str(KILLS)]
    child = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert child.returncode == 0, child.stderr
    died = int(child.stdout.splitlines()[-1])
    assert died > KILLS / 2
    expected, expected_report = start(straight, **EVERY_STEP)
    model, report = start(killed, **EVERY_STEP)
    assert report["restarts"] >= died - 1
    assert_as_straight((straight, weights(expected), expected_report), killed, model, report)
