"""Connections to a server, each with an end to all that it would wait for without one."""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from zoo.serving.errors import error_bytes

_EARLY = 2.0  # seconds to read an answer that came before the request was written whole
_AT_ONCE = struct.pack("ii", 1, 0)  # what is unsent is thrown away
_UNREAD = 128_000_000  # bytes of answers that clients have not read yet, all together


def guarded(
    seconds: float,
    most: int,
    most_per_address: int,
    count_refusal: Callable[[str], Any] = lambda _: None,
) -> type[H11Protocol]:
    """Makes the protocol of a server; uvicorn makes one of it for each connection.

    Args:
        seconds: For the head of a request to come, and for an answer to be read.
        most: Connections that are open.
        most_per_address: The same of one address.
        count_refusal: Is told the reason, a word, when a connection is refused or cut.
    """
    limits = {"seconds": seconds, "most": most, "most_per_address": most_per_address}
    shared = {"addresses": Counter(), "counts": (count_refusal,)}
    return type("Guarded", (_Guarded,), limits | shared)


_LINGERING = 1.0
"""Seconds for which the rest of a malformed request is read and thrown away. The system resets a
connection that is closed with anything unread, and its client never sees the answer."""
_TAKEN_AT_ONCE = 16 * 1024
"""Bytes that a connection gives at a time, instead of 256 KB: a hundred that send at once would be
read and parsed for tenths of a second before it is a small request's turn."""


class _Guarded(H11Protocol):
    """The protocol of uvicorn with deadlines and limits.

    Attributes:
        seconds: for the head of a request to come, and for an answer to be read.
        most: connections that are open.
        most_per_address: the same of one address.
        addresses: how many connections each has; shared by all connections of a server.
        counts: are told why one is refused or cut.
    """

    seconds: float
    most: int
    most_per_address: int
    addresses: ClassVar[Counter[str]]
    counts: ClassVar[tuple[Callable[[str], Any], ...]]
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _refused = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.max_size = _TAKEN_AT_ONCE
        # Writing is paused as long as anything is unread, and told to go on once nothing is.
        transport.set_write_buffer_limits(high=0)
        self.addresses[self._address] += 1
        refusal = self._refusal()
        if refusal:
            self._count("connections")
            transport.write(error_bytes(refusal, 503, {"Retry-After": "1"}))
            transport.close()
            return
        self._close_after(self.seconds)

    def _count(self, reason: str) -> None:
        for count in self.counts:
            count(reason)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _refusal(self) -> str:
        if len(self.connections) > self.most:
            return f"Too many connections: {self.most} are open"
        if self.addresses[self._address] > self.most_per_address:
            return f"Too many connections: {self.most_per_address} of this address are open"
        return ""

    def data_received(self, data: bytes) -> None:
        if self._refused or self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # the head is there
            self._stop_waiting()
        elif self._waiting is None:
            self._close_after(self.seconds)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:  # answered before its body came
            self._close_after(min(self.seconds, _EARLY))

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.seconds, self._drop)
        self._drop_others()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_dropping()

    def _drop_others(self) -> None:
        """Drops those who have been reading for longest, if too much is unread."""
        reading = [one for one in self.connections if isinstance(one, _Guarded) and one._unread]
        reading.sort(key=lambda one: one._unread.when() if one._unread else 0.0, reverse=True)
        sizes = {one: one.transport.get_write_buffer_size() for one in reading}
        total = sum(sizes.values())
        while total > _UNREAD and len(reading) > 1:
            longest = reading.pop()
            total -= sizes[longest]
            longest._drop()

    def _drop(self) -> None:
        """Closes the connection with all that the system still holds for its client."""
        self._count("unread_answer")
        opened = self.transport.get_extra_info("socket")
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            self._count("no_http")
            self.transport.write(error_bytes(f"Malformed request: {msg}", 400))
        self._refused = True
        self.transport.write_eof()
        self.loop.call_later(_LINGERING, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_dropping()
        self.addresses[self._address] -= 1
        if not self.addresses[self._address]:
            del self.addresses[self._address]
        super().connection_lost(exc)

    def _close_after(self, delay: float) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(delay, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _stop_dropping(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
