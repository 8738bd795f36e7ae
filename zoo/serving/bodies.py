"""Bodies of requests: read whole, in time, and no more of them at once than fit in memory."""

import asyncio

from starlette.requests import Request

from zoo.serving.budget import Holder
from zoo.serving.compression import inflate
from zoo.serving.limits import Limits
from zoo.serving.rest import RequestError

_BODIES = 8  # of the largest size, which may be arriving at the same time


class BodyReader:
    """Reads bodies within the limits of a server."""

    def __init__(self, limits: Limits) -> None:
        """Reads nothing yet.

        Args:
            limits: The size of a body, and how long it may take.
        """
        self._limits = limits
        self._arriving: dict[asyncio.Timeout, bytearray] = {}  # the oldest first
        self._total = 0  # bytes of them

    async def read(self, http: Request, holder: Holder) -> bytes:
        """Reads a body, and inflates it if it says that it is compressed.

        Args:
            http: The request.
            holder: Holds the body.

        Raises:
            RequestError: It is too large, too slow, or not what it says it is; or the holder may
                not hold it.
        """
        body = await self._read(http, holder)
        encoding = http.headers.get("content-encoding", "identity").strip().lower()
        if encoding == "identity":
            return bytes(body)
        if encoding not in ("gzip", "x-gzip"):
            raise RequestError(f"Content-Encoding must be gzip or identity, got {encoding}", 415)
        inflated = await asyncio.to_thread(inflate, bytes(body), self._limits.maximum_bytes)
        if inflated is None:
            raise self._too_large()
        holder.hold(len(inflated))
        return inflated

    async def _read(self, http: Request, holder: Holder) -> bytearray:
        announced = http.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > self._limits.maximum_bytes:
            raise self._too_large()
        body = bytearray()
        deadline = asyncio.timeout(self._limits.timeout_seconds)
        try:
            async with deadline:
                self._arriving[deadline] = body
                async for part in http.stream():
                    body += part
                    if deadline in self._arriving:
                        self._total += len(part)
                    if len(body) > self._limits.maximum_bytes:
                        raise self._too_large()
                    holder.hold(len(body))
                    self._give_up_others()
        except TimeoutError:
            raise RequestError("Timed out while the request was being read", 408) from None
        finally:
            self._forget(deadline)
        return body

    def _give_up_others(self) -> None:
        """Gives up those that have been arriving for longest, if all together are too large."""
        most = _BODIES * self._limits.maximum_bytes
        while self._total > most and len(self._arriving) > 1:
            deadline = next(iter(self._arriving))
            if not deadline.expired():
                deadline.reschedule(0.0)  # long past
            self._forget(deadline)

    def _forget(self, deadline: asyncio.Timeout) -> None:
        self._total -= len(self._arriving.pop(deadline, b""))

    def _too_large(self) -> RequestError:
        most = self._limits.maximum_bytes
        return RequestError(f"Request body must have at most {most} bytes", 413)
