"""Models from elsewhere, downloaded once and kept under the Keras home.

Addresses are `https://HOST/.../NAME.tar.gz`, an archive as `zoo.serving.publish` writes it, and
`hf://OWNER/NAME`, see `zoo.serving.hub`. Plain `http://` is for this machine alone. An archive must
be the one of the index beside it, and the files in it those of the card in it. It is kept by its
checksum, so that a new version of a model is downloaded, and an old one stays what it was.
"""

import hashlib
import ipaddress
import time
import urllib.error
import warnings
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from zoo.data.download import DownloadError, download, download_bytes, keras_home
from zoo.files import locked_folder, whole_file, whole_folder
from zoo.serving.archives import ENDING, unpack
from zoo.serving.cards import SAVED_MODEL_FILE, ModelCard, verify
from zoo.serving.hub import HUB, fetch_from_hub
from zoo.serving.index import INDEX_FILE, Index, is_name, is_sha256, parse_index

_SCHEMES = ("https://", "http://", HUB)
_INDEX_BYTES = 64 << 20
_BARE_BYTES = 1 << 30  # of an archive that no index announces, and of the files in it
_FRESH_SECONDS = 10.0  # of an index; a command asks for it several times
_ABSENT = (403, 404, 410)  # statuses of servers for a file that is not there
_recent: dict[str, tuple[float, Index]] = {}


class Offer(NamedTuple):
    """A model at an address, whether it has been downloaded or not."""

    name: str
    address: str
    """Address of the archive."""
    sha256: str | None = None
    """SHA-256 of the archive; None: not known."""
    bytes: int | None = None
    """Size of the archive; None: not known."""
    unpacked_bytes: int = _BARE_BYTES
    """Size of the files in it, or a limit of it."""
    card: ModelCard | None = None
    """The card that the archive must hold; None: any."""

    @property
    def folder(self) -> Path:
        """Where it is kept; it need not be there yet."""
        key = self.sha256 or hashlib.sha256(self.address.encode()).hexdigest()
        return cache() / "archives" / key[:32] / self.name


def cache() -> Path:
    """Gives the folder that downloaded models are kept in."""
    return keras_home() / "zoo"


def is_address(text: str) -> bool:
    """Tells whether a text is an address, not a name or a path."""
    return text.startswith(_SCHEMES)


def offers(place: str) -> dict[str, Offer]:
    """Reads which models are published at an address.

    Args:
        place: Address of an index or of the folder that holds it.

    Returns:
        Name -> model. Nothing but the index is downloaded.

    Raises:
        ValueError: The address is neither https nor of this machine, or there is no proper index.
        DownloadError: It cannot be reached, and has not been reached before either.
    """
    _check(place)
    url = place if place.endswith(".json") else urljoin(place.rstrip("/") + "/", INDEX_FILE)
    return {
        name: Offer(
            name,
            urljoin(url, model.archive),
            model.sha256,
            model.bytes,
            model.unpacked_bytes,
            model.card,
        )
        for name, model in _index(url).models.items()
    }


def fetch_address(address: str) -> Path:
    """Finds the folder of a model by its address, and downloads it if it is not there yet.

    Args:
        address: `https://HOST/.../NAME.tar.gz`, with `#sha256=DIGITS` at the end where no index
            lies beside it that tells the checksum; or `hf://OWNER/NAME[@REVISION]`.

    Returns:
        The folder, below that of Keras.

    Raises:
        ValueError: Another kind of address, or files that are not what the index or card says.
        DownloadError: It cannot be downloaded.
        ModuleNotFoundError: For `hf://`, huggingface_hub is not installed.
    """
    if address.startswith(HUB):
        return fetch_from_hub(address, cache())
    _check(address)
    return fetch_offer(_offer(address))


def fetch_offer(offer: Offer) -> Path:
    """Downloads a model, checks it and keeps it, unless it is there already.

    Processes that want the same model wait for the first of them. A download that fails or is
    killed leaves nothing that is taken for a model, and the next one begins anew.

    Args:
        offer: The model.

    Returns:
        Its folder.

    Raises:
        ValueError: It is not what the index or its card says.
        DownloadError: It cannot be downloaded.
    """
    folder = offer.folder
    if not (folder / SAVED_MODEL_FILE).is_file():
        with locked_folder(folder.parent):
            if not (folder / SAVED_MODEL_FILE).is_file():
                _receive(offer, folder)
    return folder


def fetch_again(offer: Offer) -> Path:
    """Downloads a model unless it is there already, undamaged.

    Raises:
        ValueError, DownloadError: As `fetch_offer`.
    """
    try:
        verify(fetch_offer(offer))
    except ValueError:
        with locked_folder(offer.folder.parent):
            _receive(offer, offer.folder)
    return offer.folder


def fetch_address_again(address: str) -> Path:
    """Finds the folder of a model by its address; downloads it unless it is there, undamaged.

    Raises:
        ValueError, DownloadError, ModuleNotFoundError: As `fetch_address`.
    """
    if address.startswith(HUB):
        return fetch_from_hub(address, cache(), again=True)
    _check(address)
    return fetch_again(_offer(address))


def _receive(offer: Offer, folder: Path) -> None:
    with whole_folder(folder) as partial:
        archive = partial / (offer.name + ENDING)
        download(
            offer.address,
            archive,
            size=offer.bytes,
            sha256=offer.sha256,
            maximum=offer.bytes or _BARE_BYTES,
        )
        try:
            unpack(archive, partial, offer.unpacked_bytes)
            archive.unlink()
            if offer.card not in (None, verify(partial)):
                raise ValueError(f"{partial}: has another card than the index")
        except ValueError as error:
            raise ValueError(
                f"{offer.address} is refused: {error}".replace(str(partial), offer.name)
            ) from error


def _offer(address: str) -> Offer:
    """Finds out what is known of an archive: by the checksum at the end, or by the index beside."""
    url, fragment = urldefrag(address)
    file = unquote(urlsplit(url).path.rpartition("/")[2])
    name = file.removesuffix(ENDING)
    if not (file.endswith(ENDING) and is_name(name)):
        raise ValueError(f"address must end in /NAME{ENDING}, got {address}")
    if fragment:
        sha256 = fragment.removeprefix("sha256=")
        if not is_sha256(sha256):
            raise ValueError(f"address must end in #sha256= and 64 digits, got {address}")
        return Offer(name, url, sha256)
    bare = Offer(name, url)
    if bare.folder.is_dir():
        return bare
    beside = urljoin(url, INDEX_FILE)
    try:
        offered = offers(beside)
    except DownloadError as error:
        if _status(error) in _ABSENT:
            return bare
        raise
    found = [
        offer for offer in offered.values() if urlsplit(offer.address).path == urlsplit(url).path
    ]
    if not found:
        raise ValueError(f"{address} is refused: it is not in the index beside it, {beside}")
    return found[0]._replace(address=url)


def _check(address: str) -> None:
    """Raises ValueError for an address that is neither encrypted nor of this machine."""
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme != "http" or not _is_here(parts.hostname or ""):
        raise ValueError(f"address must begin with https:// or be of this machine, got {address}")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _index(url: str) -> Index:
    """Downloads an index; where that fails, the last one that was downloaded is read."""
    read, index = _recent.get(url, (0.0, None))
    if index is not None and time.monotonic() - read < _FRESH_SECONDS:
        return index
    kept = cache() / "indexes" / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"
    try:
        text = download_bytes(url, _INDEX_BYTES)
    except DownloadError as error:
        if _status(error) is not None or not kept.is_file():
            raise
        warnings.warn(f"{error}: the index of an earlier time is used", stacklevel=2)
        index = parse_index(kept.read_bytes(), url)
    else:
        index = parse_index(text, url)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(kept) as file:
            file.write(text)
    _recent[url] = time.monotonic(), index
    return index


def _status(error: DownloadError) -> int | None:
    """The status that a server answered; None if none did."""
    cause = error.__cause__
    return cause.code if isinstance(cause, urllib.error.HTTPError) else None
