"""K12: killed in mid-epoch and resumed in another process equals a straight run, bit for bit."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.contracts.resuming import EPOCHS, KILLED_AT, STEPS_PER_EPOCH, start
from tests.contracts.subjects import every_model, names_in
from tests.training.toy import assert_equal, content, newest, weights

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def killed(request, tmp_path_factory):
    """The runs that one child process has left behind, of all models whose tests are run."""
    folder = tmp_path_factory.mktemp("killed")
    names = sorted(names_in(request.session))
    child = subprocess.run(
        [sys.executable, "-m", "tests.contracts.resuming", str(folder), *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=840,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    return folder


@every_model
def test_k12_killed_and_resumed_equals_straight(entry, killed, tmp_path):
    run = killed / entry.name
    _, left = content(newest(run))
    assert 0 < left["step"] < KILLED_AT
    assert left["step"] % STEPS_PER_EPOCH
    model, report = start(entry, killed)
    assert report["restarts"] == 1
    straight, straight_report = start(entry, tmp_path)
    assert straight_report["step"] == EPOCHS * STEPS_PER_EPOCH
    assert_equal(weights(model), weights(straight))
    tensors, progress = content(newest(run))
    straight_tensors, straight_progress = content(newest(tmp_path / entry.name))
    assert progress == straight_progress
    assert tensors.keys() == straight_tensors.keys()
    for name, value in straight_tensors.items():
        np.testing.assert_array_equal(tensors[name], value, err_msg=name)
