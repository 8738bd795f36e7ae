"""Limits of a server of models."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits that keep requests from exhausting a server."""

    maximum_bytes: int = 4_000_000
    """Size of the body of a request; larger ones are answered with 413."""
    maximum_answer_bytes: int = 16_000_000
    """Size of an answer, as estimated before it is written; larger ones are refused with 413."""
    maximum_rows: int = 64
    """Examples of a request, and of a batch that requests are put together to."""
    maximum_integer: int = 64
    """Largest value of whole-number inputs that hold for a whole batch, such as a beam width."""
    maximum_work: int = 100_000
    """Work of a request with such an input: rows x bytes of the longest text x the number, where
    the file of a picture counts as 1000 bytes."""
    maximum_batch_cost: int = 65_536
    """Cost of one batch, about in bytes that a reader reads; more is divided into pieces,
    between which other requests have their turn. A single row may cost more."""
    maximum_batch_seconds: float = 10.0
    """Duration of one batch; then it is stopped and divided, and a single row refused."""
    maximum_held_bytes: int = 128_000_000
    """Bytes of large bodies and answers at the same time; further ones are answered with 503."""
    maximum_requests: int = 128
    """Requests of one model at a time; further ones are answered with 503 and Retry-After."""
    maximum_connections: int = 512
    """Open at the same time; further ones are answered with 503 at once and closed."""
    maximum_connections_per_address: int = 256
    """The same of one client, of a proxy too."""
    timeout_seconds: float = 30.0
    """For a request to arrive (else 408), for its answer to be found (else 504), and for the client
    to read it (else the connection is cut)."""

    def __post_init__(self) -> None:
        """Raises ValueError for a limit that would let nothing through."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ValueError(f"{field.name} must be positive, got {value}")
