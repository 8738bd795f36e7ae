"""Several processes that train one model together: their roles, and their agreement.

Every process is started with the same command. Its environment describes the others: TF_CONFIG, as
TensorFlow defines it, or SLURM's variables for the tasks of a step. The first process is the chief.
It writes the run folder, which all must be able to read; the others write to temporary folders.
"""

import atexit
import functools
import json
import logging
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import tensorflow as tf

_JOBS = ("chief", "worker")
_LOST = (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
)
"""TensorFlow errors in a process that waits for one that is gone."""


def cluster_is_described() -> bool:
    """Tell whether TF_CONFIG makes this process one of several."""
    return bool(os.environ.get("TF_CONFIG"))


def multi_worker_strategy() -> tf.distribute.MultiWorkerMirroredStrategy:
    """Return the strategy of all processes, once all of them have reached this point.

    It is made once, and must be made before TensorFlow computes anything.

    Raises:
        ValueError: the environment describes no cluster, or a malformed one.
    """
    return _strategy(os.environ.get("TF_CONFIG", ""))


def own_folder() -> Path:
    """Make a temporary folder for a process that is not the chief; it is removed at exit."""
    path = tempfile.mkdtemp(prefix="zoo-worker-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


@functools.cache
def _strategy(description: str) -> tf.distribute.MultiWorkerMirroredStrategy:
    resolver = _described(description) if description else _slurm()
    try:
        return tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
    except (RuntimeError, tf.errors.OpError) as error:
        raise ValueError(
            f"strategy is 'multiworker', but it came too late or its processes do not meet: {error}"
        ) from error


def _described(description: str) -> tf.distribute.cluster_resolver.ClusterResolver:
    """Parse TF_CONFIG strictly, because TensorFlow takes nonsense for a single process."""
    expected = (
        'such as {"cluster": {"worker": ["host:port", ...]}, '
        '"task": {"type": "worker", "index": 0}}'
    )
    try:
        config = json.loads(description)
        job, index = config["task"]["type"], int(config["task"]["index"])
        known = job in _JOBS and 0 <= index < len(config["cluster"][job])
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise ValueError(f"TF_CONFIG must be {expected}, got {description!r}")
    return tf.distribute.cluster_resolver.TFConfigClusterResolver()


def _slurm() -> tf.distribute.cluster_resolver.ClusterResolver:
    """Return the cluster of a SLURM step, with one worker per task."""
    try:
        tasks, job = (int(os.environ[f"SLURM_{name}"]) for name in ("STEP_NUM_TASKS", "JOB_ID"))
        first_port = 20_000 + job % 10_000  # two jobs may share a machine
        # Without GPUs the resolver divides by their number; SLURM assigns GPUs to tasks.
        step = tf.distribute.cluster_resolver.SlurmClusterResolver(
            port_base=first_port, gpus_per_node=tasks, gpus_per_task=1, auto_set_gpu=False
        )
        workers = step.cluster_spec().as_dict()["worker"]
        # Not SLURM's rank: the resolver sorts host names, host10 before host9.
        port = first_port + int(os.environ["SLURM_LOCALID"])
        place = workers.index(f"{os.environ['SLURMD_NODENAME']}:{port}")
    except (KeyError, ValueError, RuntimeError) as error:
        raise ValueError(
            "strategy is 'multiworker', but neither TF_CONFIG nor a SLURM step describes the "
            f"processes: {error}"
        ) from error
    return tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": workers}),
        task_type="worker",
        task_id=place,
        rpc_layer="grpc",
        num_accelerators={"GPU": len(tf.config.get_visible_devices("GPU"))},
    )


class Workers:
    """Processes that train together; a single one unless the strategy has several.

    Attributes:
        count: how many there are.
        index: which one this is, from 0.
        strategy: that they train under.
    """

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self.strategy = strategy
        self.count, self.index = 1, 0
        if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
            resolver = strategy.cluster_resolver
            cluster = resolver.cluster_spec().as_dict()
            self.count = max(1, sum(len(cluster.get(job, ())) for job in _JOBS))
            behind_chief = resolver.task_type == "worker" and "chief" in cluster
            self.index = int(resolver.task_id or 0) + behind_chief

        def place(row: tf.Tensor) -> tf.Tensor:
            """Gather all rows by summing each replica's row with zeros elsewhere."""
            replica = tf.distribute.get_replica_context()
            at = [[replica.replica_id_in_sync_group]]
            own = tf.scatter_nd(at, row, (strategy.num_replicas_in_sync, row.shape[1]))
            return replica.all_reduce(tf.distribute.ReduceOp.SUM, own)

        @tf.function(autograph=False)
        def gather(row: tf.Tensor) -> tf.Tensor:
            return strategy.experimental_local_results(strategy.run(place, (row,)))[0]

        self._gather = gather

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the shared files."""
        return self.index == 0

    def all_of(self, values: Sequence[float]) -> np.ndarray:
        """Gather the numbers of every process; each waits for the others.

        Args:
            values: this process' numbers, (n,).

        Returns:
            float64 (replicas, n), the chief's first.

        Raises:
            ConnectionError: another process is gone.
        """
        row = np.array([values], np.float64)  # (1, n)
        if self.count == 1:
            return row
        with self.noticed():
            rows: np.ndarray = self._gather(tf.constant(row)).numpy()
            return rows

    def check_same(self, name: str, value: bytes) -> None:
        """Wait for all processes; raise ValueError if one of them has a different value."""
        sums = self.all_of([zlib.crc32(value)])[:, 0]
        if (sums != sums[0]).any():
            differing = "one of them" if self.is_chief else "the chief"
            raise ValueError(
                f"{name} must be the same for all {self.count} processes, got other ones "
                f"in process {self.index} and {differing}"
            )

    def as_chief(
        self, evaluate: Callable[[], Mapping[str, float]]
    ) -> Callable[[], Mapping[str, float]]:
        """Wrap an evaluation to return the chief's result, so that all processes act alike."""
        if self.count == 1:
            return evaluate

        def agreed() -> Mapping[str, float]:
            own = evaluate()
            chief = self.all_of([float(value) for value in own.values()])[0]
            return dict(zip(own, chief.tolist(), strict=True))

        return agreed

    def end_unless_chief(self, logger: logging.Logger) -> None:
        """End this process, unless it is the chief: its part is done."""
        if not self.is_chief:
            logger.info("process %d: the training is over, the chief goes on", self.index)
            sys.exit()

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Re-raise TensorFlow's errors about a lost process as one line.

        Raises:
            ConnectionError: one is gone.
        """
        try:
            yield
        except tf.errors.OpError as error:
            aborted = "Collective ops is aborted" in str(error)
            if self.count == 1 or not (aborted or isinstance(error, _LOST)):
                raise
            raise ConnectionError(
                f"one of the {self.count} processes is gone, and this one, number {self.index}, "
                "stops: start all of them again to go on from the last checkpoint"
            ) from error
