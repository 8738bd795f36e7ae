"""Estimates what a request costs from its declaration, before anything is computed.

Costs are in no unit of time: about as many bytes as a reader reads meanwhile.
"""

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zoo.models.core.axes import Axes
from zoo.serving.limits import Limits
from zoo.serving.padding import axes_of, texts_of
from zoo.serving.response import NUMBER_BYTES
from zoo.serving.rest import RequestError

if TYPE_CHECKING:
    from zoo.serving.servable import TensorInfo

Arrays = Mapping[str, np.ndarray]
_TOKEN_BYTES = 5  # of ordinary text, with the space; a text of shorter tokens costs more than told
_SQUARE = 500.0
"""Bytes from which the maps, each token over all, cost as much as the tokens do."""
_SQUARE_OF_SEARCH = 100.0
"""The same for a search, in which each step looks at all that were read or written before."""
_WRITTEN = "new_tokens"
"""Input that tells how many tokens are written to each row, one after the other."""
_NO_WIDTH = frozenset({_WRITTEN, "seed", "top_k"})
"""Whole numbers that hold for all rows and are not the width of a search."""
_FILE = "_bytes"
"""End of the names of inputs that are files, such as `image_bytes`."""
_FILE_BYTES = 1000
"""Bytes that a file counts as: a model reads any picture in one size, however large its file is."""
_SIDES = {"text": ("text", "source")}  # what the names of outputs call a text


def check_work(inputs: Arrays, limits: Limits) -> None:
    """Refuses what would take too long to answer.

    A search costs about as much as its rows have characters at most, times its width. A file
    counts as a short text.

    Args:
        inputs: Of a signature; a whole number that holds for all rows is the width of a search.
        limits: Of the server.

    Raises:
        RequestError: It is too much; says what is allowed.
    """
    widths = {name: x for name, x in inputs.items() if name not in _NO_WIDTH}
    scalars = [int(x) for x in widths.values() if not x.ndim and x.dtype.kind in "iu"]
    texts = {name: x for name, x in inputs.items() if x.ndim and x.dtype.kind == "O"}
    work = sum(len(x) * max(_sizes(name, x), default=0) for name, x in texts.items())
    work *= math.prod(max(1, scalar) for scalar in scalars)
    if scalars and work > limits.maximum_work:
        raise RequestError(
            f"Rows x bytes of the longest x {' x '.join(map(str, scalars))} must be at most"
            f" {limits.maximum_work}, got {work}: ask for fewer rows or a smaller beam"
        )
    for name, value in widths.items():
        if value.dtype.kind in "iu" and not value.ndim and value > limits.maximum_integer:
            raise RequestError(
                f"Input {name} must be at most {limits.maximum_integer}, got {value}"
            )


def row_costs(inputs: Arrays, limits: Mapping[str, Any]) -> np.ndarray:
    """Estimates the cost of each row.

    Args:
        inputs: Of a signature; texts have their rows on axis 0, and a whole number that holds for
            all rows is the width of a search.
        limits: Of the model's card: tokens of a text that are read, and `beam_width`, the width of
            searches that are not told one.

    Returns:
        (rows,), at least 1 each; none where inputs have different numbers of rows.
    """
    rows = {len(value) for value in inputs.values() if value.ndim}
    if len(rows) != 1:
        return np.ones(0)
    length = np.ones(rows.pop())
    for name, value in inputs.items():
        if value.ndim and value.dtype.kind == "O":
            most = _TOKEN_BYTES * _tokens_read(name, limits)
            sizes = [min(most, sum(_sizes(name, row))) for row in value]
            length += np.array(sizes, float)
    if _WRITTEN in inputs:
        length += _TOKEN_BYTES * max(0, int(inputs[_WRITTEN]))
    width = _width(inputs, limits)
    if not width:
        return length * (1 + length / _SQUARE)
    return length * (1 + length / _SQUARE_OF_SEARCH) * width


def least_bytes(
    inputs: Arrays,
    outputs: Mapping[str, "TensorInfo"],
    limits: Mapping[str, Any],
    wanted: Collection[str] | None = None,
    axes: Mapping[str, Axes] | None = None,
) -> int:
    """Estimates the least size of an answer in JSON: with one token for each word between spaces.

    Args:
        inputs: Of a signature.
        outputs: As the signature declares them.
        limits: Of the model's card. A text counts where they tell how much of it is read.
        wanted: Names of the outputs that are asked for; None: all.
        axes: Of the outputs, as `zoo.serving.padding.pick_rows` takes them.

    Returns:
        Bytes; what only the model knows, as the length of a translation, counts as one token.
    """
    rows = max((len(value) for value in inputs.values() if value.ndim), default=0)
    width = max(1, _width(inputs, {}))
    names = frozenset(outputs)
    longest = _longest(inputs, limits)
    total = 0
    for name in outputs if wanted is None else wanted:
        info = outputs[name]
        texts = [text for text, _ in texts_of(axes_of(name, names, axes))]
        sizes = list(info.shape[1:])
        lead = len(sizes) - len(texts)
        fallback = [width if axis == 0 else 1 for axis in range(lead)]
        fallback += [longest.get(text, 1) if text else 1 for text in texts]
        known = [size or other for size, other in zip(sizes, fallback, strict=True)]
        total += rows * math.prod(known) * (3 if info.dtype == "string" else NUMBER_BYTES)
    return total


def _sizes(name: str, texts: Any) -> list[int]:
    """Bytes of each of the texts of an input, or what each file counts."""
    if name.endswith(_FILE):
        return [_FILE_BYTES] * np.size(texts)
    # As objects: NumPy's own bytes end before the first of trailing NULs.
    return list(map(len, np.ravel(np.asarray(texts, object)).tolist()))


def _longest(inputs: Arrays, limits: Mapping[str, Any]) -> dict[str, int]:
    """Side of an output -> words of the longest text, as far as they are read."""
    longest: dict[str, int] = {}
    for name, value in inputs.items():
        most = _tokens_read(name, limits)
        if value.ndim == 1 and value.dtype.kind == "O" and most < np.inf:
            # Of n tokens that are read the first 100 n bytes are looked at.
            words = max((len(text[: 100 * int(most)].split()) for text in value), default=1)
            longest |= dict.fromkeys(_SIDES.get(name, (name,)), max(1, min(words, int(most))))
    return longest


def _width(inputs: Arrays, limits: Mapping[str, Any]) -> int:
    """Hypotheses of a search; 0 where nothing is searched for."""
    given = [
        max(1, int(x))
        for name, x in inputs.items()
        if name not in _NO_WIDTH and not x.ndim and x.dtype.kind in "iu"
    ]
    return math.prod(given) if given else int(limits.get("beam_width", 0))


def _tokens_read(name: str, limits: Mapping[str, Any]) -> float:
    """Tokens of a text that are read, as the card says; infinity if it does not."""
    keys = [f"maximum_{side}_tokens" for side in _SIDES.get(name, (name,))]
    told = [limits[key] for key in (*keys, "maximum_tokens") if key in limits]
    return float(told[0]) if told else np.inf
