"""Refuses answers that would be too large, as early as that is certain."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zoo.serving.jobs import Answer
from zoo.serving.padding import joined_sizes
from zoo.serving.response import element_bytes
from zoo.serving.rest import Request, RequestError
from zoo.serving.work import least_bytes

if TYPE_CHECKING:
    from zoo.serving.servable import Servable


class AnswerLimit:
    """Limit of the answer to one request, whose size is known better and better."""

    def __init__(self, servable: "Servable", request: Request, most: int) -> None:
        """Refuses an answer of which the declaration of the model alone tells enough.

        Args:
            servable: The model.
            request: The request.
            most: Bytes of JSON.

        Raises:
            RequestError: The answer would be too large.
        """
        self._most = most
        self._wanted = request.outputs
        self._rows = max((len(x) for x in request.inputs.values() if x.ndim), default=0)
        declared = servable.signatures[request.signature].outputs
        limits = getattr(servable, "limits", {})
        least = least_bytes(request.inputs, declared, limits, request.outputs, servable.axes)
        check_bytes(least, most)

    def check_parts(self, parts: Sequence[Answer]) -> None:
        """Checks the answers to some rows: all rows will be padded to the longest of these."""
        sizes = joined_sizes(parts)
        names = sizes if self._wanted is None else self._wanted
        row = sum(sizes[name] * element_bytes(parts[0][name]) for name in names)
        check_bytes(self._rows * row, self._most)


def check_bytes(size: int, most: int) -> int:
    """Gives the size of an answer back, as estimated.

    Raises:
        RequestError: It is more than that; says how to get less.
    """
    if size > most:
        raise RequestError(
            f"The answer must have at most {most} bytes, got about {size}: ask for fewer"
            " rows, or for less in 'outputs', a list of names",
            413,
        )
    return size
