"""Two processes that train together: one is killed, both are started again, nothing is lost."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.training import worker
from tests.training.toy import content, newest
from zoo.training.json_files import read_json

ROOT = Path(__file__).parents[2]
SECONDS = 240  # for a start on a busy machine


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("localhost", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def started(folder, own_folder, *flags, **variables):
    """The two processes, the chief first; TMPDIR of each is a folder of its own."""
    workers = [f"localhost:{port}" for port in free_ports(2)]
    processes = []
    for index in range(2):
        task = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        temporary = own_folder / str(index)
        temporary.mkdir(exist_ok=True)
        environment = {"TF_CONFIG": json.dumps(task), "TMPDIR": str(temporary)}
        command = [sys.executable, "-m", "tests.training.worker", "--run-dir", str(folder), *flags]
        processes.append(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **environment, **variables},
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
        )
    return processes


@pytest.mark.slow
def test_two_processes_of_which_one_is_killed_end_as_one_that_nothing_interrupts(tmp_path):
    folder, alone = tmp_path / "together", tmp_path / "alone"
    expected = worker.main(worker.Settings(run_dir=alone, strategy="none"))

    chief, second = started(folder, tmp_path, DIES_AT="8")
    assert second.wait(SECONDS) == -signal.SIGKILL
    _, said = chief.communicate(timeout=30)  # what a lost process costs the others at most
    assert chief.returncode == 1
    last = said.rstrip().splitlines()[-1]
    assert last.startswith("error: one of the 2 processes is gone, and this one, number 0, stops")
    assert content(newest(folder))[1]["step"] == 4
    assert not (folder / "result.json").exists()

    chief, second = started(folder, tmp_path, "--accumulate", "2")
    _, said = chief.communicate(timeout=SECONDS)
    assert chief.returncode == 0, said
    assert second.wait(30) == 0
    result = read_json(folder / "result.json")
    assert (result["strategy"], result["replicas"]) == ("MultiWorkerMirroredStrategy", 2)
    assert (result["restarts"], result["accumulate"]) == (1, 2)
    assert [record["step"] for record in result["history"]] == [4, 8, 12, 16, 18]
    for record, other in zip(result["history"], expected["history"], strict=True):
        for name in ("training_loss", "size"):
            assert record[name] == pytest.approx(other[name], rel=1e-5)
    tensors, _ = content(newest(folder))
    for name, value in content(newest(alone))[0].items():
        np.testing.assert_allclose(tensors[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
    # The second process left nothing in the run folder; of its own the killed one's is left.
    assert {file.name for file in folder.iterdir()} == {file.name for file in alone.iterdir()}
    assert len(list((tmp_path / "1").glob("zoo-worker-*"))) == 1
