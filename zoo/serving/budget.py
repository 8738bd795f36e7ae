"""Bounds the memory that large requests and answers take at the same time."""

from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from zoo.serving.rest import RequestError


class BusyError(RequestError):
    """There is too much to do for one more; it may be asked again."""

    def __init__(self, message: str) -> None:
        """Keeps what there is too much of."""
        super().__init__(message, 503)


class Budget:
    """Bytes that may be held at the same time. For one event loop; no thread need share it."""

    def __init__(self, most: int) -> None:
        """Holds nothing yet.

        Args:
            most: Bytes, of all holders together.
        """
        self._left = most

    def holder(self, free: int) -> "Holder":
        """Makes a holder.

        Args:
            free: Bytes that it may hold whatever others do, so that nobody is in the way of small
                requests.
        """
        return Holder(self, free)

    def take(self, size: int) -> None:
        """Takes so many bytes.

        Raises:
            BusyError: There are fewer.
        """
        if size > self._left:
            raise BusyError("Too many large requests and answers are being read and sent")
        self._left -= size

    def give_back(self, size: int) -> None:
        """Gives back what was taken."""
        self._left += size


class Holder:
    """Bytes that one request holds, until it is left as a context."""

    def __init__(self, budget: Budget, free: int) -> None:
        """As `Budget.holder`."""
        self._budget, self._free, self._held = budget, free, 0

    def hold(self, size: int) -> None:
        """Holds so many bytes in all.

        Raises:
            BusyError: The budget has not enough for them.
        """
        more = max(0, size - self._free - self._held)
        self._budget.take(more)
        self._held += more

    def release(self) -> None:
        """Gives back all that is held."""
        self._budget.give_back(self._held)
        self._held = 0

    def __enter__(self) -> "Holder":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class HeldResponse(Response):
    """A response whose bytes are held until it was sent, or its client has gone."""

    def __init__(self, holder: Holder, content: bytes, **options: Any) -> None:
        """Takes the holder over.

        Args:
            holder: Holds the content.
            content: The body.
            options: Of `Response`.
        """
        super().__init__(content, **options)
        self._holder = holder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends."""
        with self._holder:
            await super().__call__(scope, receive, send)
