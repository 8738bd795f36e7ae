"""Files of public data sets: found on this machine, or downloaded. Models are downloaded alike.

Data sets lie where the user says, else in `$ZOO_DATA`, else in the Keras cache. Downloads go to
the cache, never into a folder of the user's, and must match the official SHA-256. For a file that
the user provides, the checksum is only computed and reported: users may convert or correct their
copies.
"""

import gzip
import hashlib
import http.client
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tqdm import tqdm

from zoo.data.pacing import open_url
from zoo.files import whole_file
from zoo.text_files import gzip_errors

_CHUNK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 30.0
_SHOWN_FILES = 12


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


def keras_home() -> Path:
    """Gives the folder that Keras keeps downloads in: `$KERAS_HOME`, by default `~/.keras`."""
    return Path(os.environ.get("KERAS_HOME") or "~/.keras").expanduser()


def data_directories(data_dir: str | Path | None = None) -> list[Path]:
    """Lists the folders that are searched for data sets, in order.

    Args:
        data_dir: The user's choice; if given, the only folder. If None, `$ZOO_DATA` (if set) comes
            first, then the Keras cache: `$KERAS_HOME/datasets`, by default `~/.keras/datasets`.

    Returns:
        At least one folder; they need not exist.
    """
    if data_dir is not None:
        return [Path(data_dir).expanduser()]
    folders = [keras_home() / "datasets"]
    if os.environ.get("ZOO_DATA"):
        folders.insert(0, Path(os.environ["ZOO_DATA"]).expanduser())
    return folders


def cache_directory() -> Path:
    """Returns the folder that takes downloads: the Keras cache."""
    return data_directories()[-1]


def locate_name(dataset: str, name: str, data_dir: str | Path | None = None) -> Path | None:
    """Finds a file on this machine.

    Args:
        dataset: Folder name of the data set, such as "squad".
        name: Of the file.
        data_dir: As in `data_directories`.

    Returns:
        The first existing file among `DIR/<dataset>/<name>`, the same with `.gz`, `DIR/<name>`, the
        same with `.gz`, over all folders in order; None if there is none.
    """
    return locate_any((dataset,), (name,), data_dir)


def locate_any(
    datasets: Sequence[str], names: Sequence[str], data_dir: str | Path | None = None
) -> Path | None:
    """Finds the first of several files, in any of several folders of a data set.

    All of a directory of data sets comes before the next one, and its folders before itself.
    """
    for top in data_directories(data_dir):
        for place in (*(top / dataset for dataset in datasets), top):
            for name in names:
                for path in (place / name, place / f"{name}.gz"):
                    if path.is_file():
                        return path
    return None


def find_file(
    dataset: str, remote: RemoteFile, data_dir: str | Path | None = None, download: bool = False
) -> Path:
    """Finds a file on this machine or, if allowed to, fetches it.

    Args:
        dataset: Folder name of the data set, such as "squad".
        remote: The file to look for.
        data_dir: As in `data_directories`. Nothing is fetched if it is given.
        download: Whether to fetch a missing file, to `<dataset>/` in the Keras cache.

    Raises:
        FileNotFoundError: The file is missing, and `download` is False or a folder was given; says
            where it was expected, and what is there.
        DownloadError: It could not be fetched.
    """
    path = locate_name(dataset, remote.name, data_dir)
    if path is not None:
        return path
    if download and data_dir is None:
        return fetch(remote, cache_directory() / dataset)
    advice = f"it is offered at {remote.url}"
    if download:
        advice += "; without data_dir it is downloaded to the cache, never into a folder of yours"
    raise not_found(remote.name, (dataset,), data_dir, advice)


def not_found(
    name: str, datasets: Sequence[str], data_dir: str | Path | None, advice: str
) -> FileNotFoundError:
    """Makes the error for a missing file: the places looked in, advice, and what is there.

    Args:
        name: The file's name.
        datasets: Folder names of the data set.
        data_dir: As in `data_directories`.
        advice: What the user can do.
    """
    tops = data_directories(data_dir)
    places = [place for top in tops for place in (*(top / one for one in datasets), top)]
    return FileNotFoundError(
        f"{name}: not found in {', '.join(map(str, places))}; {advice}; {contents(places)}"
    )


def contents(folders: Sequence[Path]) -> str:
    """Says which files lie in folders, those without any left out, on one line."""
    held = {folder: files_in(folder) for folder in dict.fromkeys(folders)}
    told = [f"{folder} holds {listed(names)}" for folder, names in held.items() if names]
    return ", ".join(told) or "no file is there"


def files_in(folder: Path) -> list[str]:
    """Lists the names of the files in a folder, sorted; none if there is no such folder."""
    try:
        return sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError:
        return []


def listed(things: Iterable[Any]) -> str:
    """Joins the first few of many different things by commas, and counts the others."""
    names = [*dict.fromkeys(map(str, things))]
    more = len(names) - _SHOWN_FILES
    return ", ".join(names[:_SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")


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
        download(
            remote.url,
            target,
            size=remote.size,
            sha256=remote.sha256,
            maximum=remote.size,
            unpack=remote.unpacked,
        )
    except DownloadError as error:
        raise DownloadError(f"{error}: fetch it by hand and put it at {target}") from error
    return target


def download(
    url: str,
    target: Path,
    *,
    maximum: int,
    size: int | None = None,
    sha256: str | None = None,
    unpack: bool = False,
) -> None:
    """Downloads a file whole or not at all, as `fetch` does, to any place.

    Args:
        url: Its address, http or https.
        target: The file to write or to replace; its folder is made if missing.
        maximum: Bytes after which it is given up.
        size: Its bytes; None: not known.
        sha256: Its checksum, hexadecimal; None: not known.
        unpack: Whether it is offered compressed by gzip and stored uncompressed; the three above
            are those of the stored file.

    Raises:
        DownloadError: As `fetch`. Its cause is the error of the system or of the server.
    """
    with _reporting(url):
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as file:
            bar = {"desc": target.name, "total": size}
            received, found = _receive(url, file, maximum, unpack=unpack, bar=bar)
            if received > maximum or size not in (None, received):
                expected = f"at most {maximum:,}" if size is None else f"{size:,}"
                raise OSError(f"size must be {expected} bytes, got {received:,}")
            if sha256 is not None and found != sha256:
                raise OSError(f"SHA-256 must be {sha256}, got {found}")


def download_bytes(url: str, maximum: int) -> bytes:
    """Downloads a small file into memory, without a progress bar.

    Args:
        url: Its address, http or https.
        maximum: Bytes after which it is given up.

    Returns:
        Its content.

    Raises:
        DownloadError: As `download`.
    """
    content = io.BytesIO()
    with _reporting(url):
        received, _ = _receive(url, content, maximum, bar={"disable": True})
        if received > maximum:
            raise OSError(f"size must be at most {maximum:,} bytes, got {received:,}")
    return content.getvalue()


@contextmanager
def _reporting(url: str) -> Iterator[None]:
    """Turns errors of the connection, the server and the disk into a `DownloadError`."""
    try:
        yield
    except (OSError, http.client.HTTPException, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DownloadError(f"cannot download {url} ({reason})") from error


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


def _receive(
    url: str, file: BinaryIO, maximum: int, *, unpack: bool = False, bar: dict[str, Any]
) -> tuple[int, str]:
    """Copies a remote file into an open file; returns size and SHA-256."""
    size, digest = 0, hashlib.sha256()
    with (
        open_url(url, _TIMEOUT_SECONDS) as response,
        tqdm(unit="B", unit_scale=True, **bar) as progress,
    ):
        announced = None if unpack else response.length
        body = gzip.GzipFile(fileobj=response) if unpack else response
        # A body that is too long is given up at once, since it may never end.
        while size <= maximum and (chunk := body.read(_CHUNK_BYTES)):
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            progress.update(len(chunk))
    if size <= maximum and announced is not None and size < announced:
        raise OSError(f"size must be {announced:,} bytes, got {size:,}")
    return size, digest.hexdigest()
