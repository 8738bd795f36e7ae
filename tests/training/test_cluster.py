"""Where a process stands among others, and what a single one makes of it.

What several do together is in test_multiworker.py.
"""

import json
import logging

import numpy as np
import pytest
import tensorflow as tf

from zoo.training import cluster
from zoo.training.cluster import Workers, multi_worker_strategy
from zoo.training.distribution import make_strategy

STEP = {
    "SLURM_JOB_ID": "1234567",
    "SLURM_STEP_NUM_TASKS": "3",
    "SLURM_STEP_NODELIST": "node[9-10]",
    "SLURM_STEP_TASKS_PER_NODE": "2,1",
    "SLURM_PROCID": "0",
    "SLURM_LOCALID": "0",
    "SLURMD_NODENAME": "node9",
}


def describe(job="worker", index=0, **cluster_of):
    cluster_of = cluster_of or {"worker": ["a:1", "b:1"]}
    return json.dumps({"cluster": cluster_of, "task": {"type": job, "index": index}})


@pytest.fixture
def resolvers(monkeypatch):
    """Captures the arguments of TensorFlow's strategy, which would wait for other processes."""
    made = []

    class Strategy:
        def __init__(self, cluster_resolver):
            made.append(cluster_resolver)

    monkeypatch.setattr(tf.distribute, "MultiWorkerMirroredStrategy", Strategy)
    monkeypatch.delenv("TF_CONFIG", raising=False)
    cluster._strategy.cache_clear()
    yield made
    cluster._strategy.cache_clear()


def test_auto_is_several_processes_where_tf_config_is_set(resolvers, monkeypatch):
    assert make_strategy("auto") is tf.distribute.get_strategy()
    monkeypatch.setenv("TF_CONFIG", describe(index=1))
    made = make_strategy("auto")
    assert make_strategy("multiworker") is made
    (resolver,) = resolvers
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)
    assert resolver.cluster_spec().as_dict() == {"worker": ["a:1", "b:1"]}


@pytest.mark.parametrize(
    "described",
    ["{", "3", "{}", describe("ps"), describe(index=2), describe(index=-1), describe("chief")],
)
def test_a_place_that_is_none_is_refused(resolvers, monkeypatch, described):
    monkeypatch.setenv("TF_CONFIG", described)
    with pytest.raises(ValueError, match=r"^TF_CONFIG must be such as {\"cluster\".*, got '.*'"):
        multi_worker_strategy()
    assert not resolvers


def test_several_processes_that_nothing_describes_are_refused(resolvers, monkeypatch):
    for name in STEP:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="neither TF_CONFIG nor a SLURM step describes"):
        make_strategy("multiworker")


def test_several_cpus_a_process_are_refused(resolvers):
    with pytest.raises(
        ValueError, match="devices must be one CPU a process with multiworker, got CPU:0, CPU:1"
    ):
        make_strategy("multiworker", ["CPU:0", "CPU:1"])


@pytest.mark.parametrize(
    ("task", "address"),
    [
        ({}, "node9:24567"),
        ({"SLURM_PROCID": "1", "SLURM_LOCALID": "1"}, "node9:24568"),
        ({"SLURM_PROCID": "2", "SLURMD_NODENAME": "node10"}, "node10:24567"),
    ],
)
def test_a_task_of_slurm_is_the_worker_that_the_others_look_for(
    resolvers, monkeypatch, task, address
):
    for name, value in {**STEP, **task}.items():
        monkeypatch.setenv(name, value)
    make_strategy("multiworker")
    (resolver,) = resolvers
    workers = resolver.cluster_spec().as_dict()["worker"]
    assert sorted(workers) == ["node10:24567", "node9:24567", "node9:24568"]
    assert workers[resolver.task_id] == address
    assert resolver.task_type == "worker"


def test_a_process_alone_agrees_with_itself():
    workers = Workers(make_strategy("none"))
    assert (workers.count, workers.index, workers.is_chief) == (1, 0, True)
    np.testing.assert_array_equal(workers.all_of([3, 0.5]), [[3, 0.5]])
    workers.check_same("settings", b"any")
    assert workers.as_chief(evaluate := dict) is evaluate


def test_an_error_of_a_process_alone_is_its_own():
    with (
        pytest.raises(tf.errors.UnavailableError),
        Workers(make_strategy("none")).noticed(),
    ):
        raise tf.errors.UnavailableError(None, None, "the file system")


@pytest.fixture
def second(monkeypatch):
    """The second of two processes, whose chief brings 1.0 whatever it is asked for."""
    workers = Workers(make_strategy("none"))
    workers.count, workers.index = 2, 1
    monkeypatch.setattr(workers, "_gather", lambda row: tf.concat([row * 0 + 1, row], axis=0))
    return workers


def test_what_differs_from_the_chief_is_refused(second):
    with pytest.raises(
        ValueError, match=r"settings must be the same for all 2 .* in process 1 and the chief"
    ):
        second.check_same("settings", b"other")


def test_the_result_of_an_evaluation_is_the_chiefs(second):
    assert second.as_chief(lambda: {"f1": 7.0, "loss": 3})() == {"f1": 1.0, "loss": 1.0}


def test_only_the_chief_goes_on_after_the_training(second):
    with pytest.raises(SystemExit) as ended:
        second.end_unless_chief(logging.getLogger())
    assert ended.value.code is None
    second.index = 0
    second.end_unless_chief(logging.getLogger())


def test_a_process_that_is_gone_is_said_in_one_line(second, monkeypatch):
    def gone(row):
        raise tf.errors.UnavailableError(None, None, "heartbeats\nand more")

    monkeypatch.setattr(second, "_gather", gone)
    with pytest.raises(ConnectionError) as lost:
        second.all_of([1.0])
    assert "\n" not in str(lost.value)
    assert "start all of them again to go on from the last checkpoint" in str(lost.value)
