"""A server in a process of its own, and what it takes of the machine."""

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ATTACKED, OTHER = "multi30k_transformer_en_de", "squad_dcn"
FILES = 256
"""Files that the server may have open."""


class Server:
    """`python -m zoo serve` with two models; to be used with `with`.

    Attributes:
        port: at which it listens.
        timeout_seconds: its deadline.
        most_files: open at the same time since `start_measuring`.
    """

    def __init__(self, timeout_seconds: float) -> None:
        """Starts the process; `with` waits until it listens.

        Args:
            timeout_seconds: Its deadline.
        """
        self.timeout_seconds = timeout_seconds
        self.port = 0
        self.most_files = 0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed at the end
        arguments = ["--port", "0", "--timeout-seconds", str(timeout_seconds)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "zoo", "serve", ATTACKED, OTHER, *arguments],
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            text=True,
        )
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE, (FILES, hard))
        self._folder = Path("/proc", str(self._process.pid))
        self._ended = threading.Event()

    def __enter__(self) -> "Server":
        """Waits until it listens."""
        assert self._process.stdout is not None
        for _ in (ATTACKED, OTHER):
            line = self._process.stdout.readline()
            address = re.match(r"http://127\.0\.0\.1:(\d+)/", line)
            assert address, f"expected an address, got {line!r}: {self.log()}"
            self.port = int(address[1])
        threading.Thread(target=self._count_files, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        """Ends the process, by force if it is still there."""
        self._ended.set()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def start_measuring(self) -> None:
        """Forgets the largest memory and the most files so far."""
        (self._folder / "clear_refs").write_text("5")
        self.most_files = self.files()

    def peak_bytes(self) -> int:
        """The largest memory since `start_measuring`."""
        kilobytes = re.search(r"VmHWM:\s*(\d+) kB", (self._folder / "status").read_text())
        return int(kilobytes[1]) * 1024

    def files(self) -> int:
        """Files and connections that are open now."""
        return len(os.listdir(self._folder / "fd"))

    def log_bytes(self) -> int:
        """Size of all that was written to standard error so far."""
        return os.fstat(self._log.fileno()).st_size

    def log(self) -> str:
        """Returns the standard error so far."""
        return os.pread(self._log.fileno(), 100_000, 0).decode(errors="replace")

    def stop(self, patience: float = 60.0) -> float:
        """Sends SIGTERM.

        Args:
            patience: Seconds after which it is an error that the process is still there.

        Returns:
            Seconds until the process was gone.
        """
        self._ended.set()
        began = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(patience)
        return time.monotonic() - began

    def _count_files(self) -> None:
        while not self._ended.wait(0.05):
            try:
                self.most_files = max(self.most_files, self.files())
            except OSError:  # it has ended
                return
