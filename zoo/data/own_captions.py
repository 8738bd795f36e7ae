"""A folder of pictures with captions of a user's own.

`captions.tsv` holds a caption a line: a file name, a tab and a sentence, and if wanted another tab
and the part it belongs to, `train`, `validation` or `test`. A picture may have several captions. A
first line `file`, tab, `sentence` is a heading.
"""

from pathlib import Path

import pandas as pd

from zoo.text_files import read_text, split_lines

CAPTIONS_FILE = "captions.tsv"
PARTS = ("train", "validation", "test")


def read_own_captions(folder: str | Path) -> pd.DataFrame:
    """Reads the captions of a folder.

    Args:
        folder: holds `captions.tsv` and the pictures.

    Returns:
        One row per caption, in order: `image`, `caption` and `part`, "" where none is given. The
        index is the number of its line.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is malformed, some pictures have a part and others none, or the captions
            of a picture differ in it; names file and line.
    """
    path = Path(folder) / CAPTIONS_FILE
    rows: dict[int, tuple[str, str, str]] = {}
    part_of: dict[str, str] = {}
    for number, line in enumerate(split_lines(read_text(path).text), 1):
        if not line.strip() or (number == 1 and _is_heading(line)):
            continue
        image, caption, part = (one.strip() for one in (line + "\t\t").split("\t")[:3])
        if not image or not caption or line.count("\t") > 2:
            raise ValueError(
                f"{path}: line {number} must be a file name, a tab and a sentence, and perhaps a "
                f"tab and a part, got {line!r}"
            )
        if part not in ("", *PARTS):
            raise ValueError(f"{path}: line {number}: part must be one of {PARTS}, got {part!r}")
        if part_of.setdefault(image, part) != part:
            raise ValueError(
                f"{path}: line {number}: part must be {part_of[image]!r}, got {part!r}"
            )
        rows[number] = image, caption, part
    if not rows:
        raise ValueError(f"{path} must have a caption, got none")
    if len({bool(part) for part in part_of.values()}) > 1:
        raise ValueError(f"{path}: all pictures must have a part or none of them, got both")
    return pd.DataFrame([*rows.values()], [*rows], ["image", "caption", "part"])


def _is_heading(line: str) -> bool:
    """Tells whether a line has the names of the columns, and is no caption of a picture "file"."""
    names = [one.strip().lower() for one in line.split("\t")]
    return names[:2] == ["file", "sentence"] and names[2:] in ([], [""], ["part"])
