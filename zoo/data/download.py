"""Files of public data sets: found on this machine, or downloaded.

Data sets lie where the user says, else in `$ZOO_DATA`, else in the Keras cache. A download must
match the official SHA-256. For a file that the user provides, the checksum is only computed and
reported: users may convert or correct their copies.
"""

import gzip
import hashlib
import http.client
import os
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tqdm import tqdm

from zoo.data.pacing import open_url
from zoo.files import whole_file
from zoo.text_files import gzip_errors

_CHUNK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 30.0


class RemoteFile(NamedTuple):
    """One file of a data set, as its publisher offers it.

    If the URL ends in `.gz` and the name does not, the file is offered compressed and stored
    uncompressed; checksum and size are those of the stored file.
    """

    name: str
    """File name, also of the stored file."""
    url: str
    sha256: str
    """Hexadecimal, lower case."""
    size: int
    """Bytes."""

    @property
    def unpacked(self) -> bool:
        """Tells whether the file is offered compressed and stored uncompressed."""
        return self.url.endswith(".gz") and not self.name.endswith(".gz")


class Checksum(NamedTuple):
    """Identity of a local file."""

    sha256: str
    official: bool
    """Whether the file equals the publisher's, byte for byte."""


class DownloadError(OSError):
    """Failed download; the message says in one line why, from where, and what to do by hand."""


def data_directories(data_dir: str | Path | None = None) -> list[Path]:
    """Lists the folders that are searched for data sets, in order; the first takes downloads.

    Args:
        data_dir: The user's choice; if given, the only folder. If None, `$ZOO_DATA` (if set) comes
            first, then the Keras cache: `$KERAS_HOME/datasets`, by default `~/.keras/datasets`.

    Returns:
        At least one folder; they need not exist.
    """
    if data_dir is not None:
        return [Path(data_dir).expanduser()]
    keras_home = os.environ.get("KERAS_HOME") or "~/.keras"
    folders = [Path(keras_home).expanduser() / "datasets"]
    if os.environ.get("ZOO_DATA"):
        folders.insert(0, Path(os.environ["ZOO_DATA"]).expanduser())
    return folders


def locate(dataset: str, remote: RemoteFile, data_dir: str | Path | None = None) -> Path | None:
    """Finds a file on this machine.

    Args:
        dataset: Folder name of the data set, such as "squad".
        remote: The file; only its name is used.
        data_dir: As in `data_directories`.

    Returns:
        The first existing file among `DIR/<dataset>/<name>`, the same with `.gz`, `DIR/<name>`, the
        same with `.gz`, over all folders in order; None if there is none.
    """
    for folder in data_directories(data_dir):
        for place in (folder / dataset, folder):
            for name in (remote.name, f"{remote.name}.gz"):
                if (place / name).is_file():
                    return place / name
    return None


def find_file(
    dataset: str, remote: RemoteFile, data_dir: str | Path | None = None, download: bool = False
) -> Path:
    """Finds a file on this machine or, if allowed to, fetches it.

    Args:
        dataset: Folder name of the data set, such as "squad".
        remote: The file to look for.
        data_dir: As in `data_directories`.
        download: Whether to fetch a missing file, to `DIR/<dataset>/` of the first folder.

    Raises:
        FileNotFoundError: The file is missing and `download` is False; says where it was expected.
        DownloadError: It could not be fetched.
    """
    path = locate(dataset, remote, data_dir)
    if path is not None:
        return path
    folders = data_directories(data_dir)
    if download:
        return fetch(remote, folders[0] / dataset)
    places = ", ".join(str(place) for folder in folders for place in (folder / dataset, folder))
    raise FileNotFoundError(f"{remote.name}: not found in {places}; it is offered at {remote.url}")


def fetch(remote: RemoteFile, folder: str | Path) -> Path:
    """Downloads a file, with a progress bar, and checks that it is the official one.

    The file appears under its name only when it is complete and checked. A failed download removes
    its partial file at once; that of a killed one is removed by the next download into the same
    folder. A server that sends next to nothing is given up after a minute: see `zoo.data.pacing`.

    Args:
        remote: The file to fetch.
        folder: Where to put it; made if missing.

    Returns:
        Path of the file.

    Raises:
        DownloadError: No connection, a status other than success, a response that is too slow, too
            few or too many bytes, a wrong checksum, or a folder that cannot be written.
    """
    target = Path(folder) / remote.name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _receive_whole(remote, target)
    except (OSError, http.client.HTTPException, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DownloadError(
            f"cannot download {remote.url} ({reason}): fetch it by hand and put it at {target}"
        ) from error
    return target


def checksum(path: str | Path, remote: RemoteFile) -> Checksum:
    """Computes the SHA-256 of a local file and compares it with the publisher's.

    For a compressed copy of a file that is stored uncompressed, the content counts.
    """
    path = Path(path)
    decompress = path.suffix == ".gz" and not remote.name.endswith(".gz")
    sha256 = file_sha256(path, decompress=decompress)
    return Checksum(sha256, sha256 == remote.sha256)


def file_sha256(path: str | Path, *, decompress: bool = False) -> str:
    """Computes the hexadecimal SHA-256 of a file; with `decompress`, of a gzip file's content.

    Raises:
        ValueError: The file is to be decompressed and is truncated.
    """
    with gzip_errors(path), gzip.open(path) if decompress else open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _receive_whole(remote: RemoteFile, target: Path) -> None:
    """Downloads the remote file whole or not at all."""
    with whole_file(target) as file:
        size, sha256 = _receive(remote, file)
        if size != remote.size:
            raise OSError(f"size must be {remote.size:,} bytes, got {size:,}")
        if sha256 != remote.sha256:
            raise OSError(f"SHA-256 must be {remote.sha256}, got {sha256}")


def _receive(remote: RemoteFile, file: BinaryIO) -> tuple[int, str]:
    """Copies the remote file into an open file; returns size and SHA-256."""
    size, digest = 0, hashlib.sha256()
    with (
        open_url(remote.url, _TIMEOUT_SECONDS) as response,
        tqdm(total=remote.size, desc=remote.name, unit="B", unit_scale=True) as bar,
    ):
        body = gzip.GzipFile(fileobj=response) if remote.unpacked else response
        # A body that ends early is not an error here, because the caller compares the size. A body
        # that is too long is given up at once, since it may never end.
        while size <= remote.size and (chunk := body.read(_CHUNK_BYTES)):
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            bar.update(len(chunk))
    return size, digest.hexdigest()
