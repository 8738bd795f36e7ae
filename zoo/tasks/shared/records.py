"""Records of the files that a model is trained on, and of what it is measured by, for its card.

A card names a data set only if every file read is the published one. Files of the same names and
layout with other content, or with content that cannot be checked, are recorded by their own names.
"""

import hashlib
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from zoo.data.download import file_sha256, listed
from zoo.serving.cards import DataRecord


def record_files(
    title: str,
    parts: tuple[str, str],
    paths: Sequence[Path],
    published: Mapping[str, str],
    logger: logging.Logger,
    remarks: str = "",
    differing: str = "changed, not the published file",
) -> DataRecord:
    """Records files in the layout of a data set, with a warning for those that are not its own.

    Args:
        title: Name of the data set.
        parts: Training and evaluation part.
        paths: All files read.
        published: File name -> SHA-256, where it is known.
        logger: Gets the warning.
        remarks: First remarks of the record.
        differing: Says that a file is not the published one.
    """
    return record_sums(title, parts, file_sums(paths), published, logger, remarks, differing)


def record_sums(
    title: str,
    parts: tuple[str, str],
    sums: Mapping[str, str],
    published: Mapping[str, str],
    logger: logging.Logger,
    remarks: str = "",
    differing: str = "changed, not the published file",
) -> DataRecord:
    """As `record_files`, of files whose SHA-256 are known, by name."""
    sums = dict(sums)
    changed = [name for name in sums if published.get(name, sums[name]) != sums[name]]
    unknown = [name for name in sums if name not in published]
    told = [f"{differing}: {', '.join(changed)}"] if changed else []
    if unknown:
        told.append(f"not checked, since no checksum is known: {', '.join(unknown)}")
    if not told:
        return DataRecord(title, *parts, sums, remarks)
    remarks = "; ".join(filter(None, (remarks, f"in the layout of {title}", *told)))
    logger.warning("%s (%s)", remarks, "sha256 differs" if changed else "own files")
    return DataRecord(own_name(sums), *parts, sums, remarks)


def file_sums(paths: Iterable[Path]) -> dict[str, str]:
    """Computes the SHA-256 of files by their names, of the content of compressed ones.

    Of files with the same name in several folders, the keys are the paths.
    """
    paths = [*dict.fromkeys(paths)]
    names = [_name(path) for path in paths]
    keys = [n if names.count(n) == 1 else str(p) for n, p in zip(names, paths, strict=True)]
    return {key: content_sha256(path) for key, path in zip(keys, paths, strict=True)}


def content_sha256(path: Path) -> str:
    """Computes the SHA-256 of a file, of its content if it is compressed.

    Of a folder it is that of the sums and names of all files below it, in order.
    """
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        sums = (f"{content_sha256(one)}  {one.relative_to(path).as_posix()}\n" for one in files)
        return hashlib.sha256("".join(sums).encode()).hexdigest()
    return file_sha256(path, decompress=path.suffix == ".gz")


def own_name(names: Iterable[str]) -> str:
    """Names data by its files."""
    return f"own files: {listed(names)}"


def told_share(share: float) -> str:
    """Writes a share in percent, with up to four digits: 0.004 is no 0%."""
    return f"{100 * share:.4g}%"


def finite_metrics(metrics: Mapping[str, float], logger: logging.Logger) -> dict[str, float]:
    """Leaves out metrics that the test part does not have: no card holds what is not a number."""
    for name, value in metrics.items():
        if not math.isfinite(value):
            logger.info("%s is %s on the test part, and is left out", name, value)
    return {name: value for name, value in metrics.items() if math.isfinite(value)}


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz")
