"""Answers of the scripted upstream: the question contains the order, so clients know the answer."""

from collections.abc import Iterable
from dataclasses import dataclass
import json
import re
from typing import Self

_ORDER = re.compile(rb"chunks=(\d+) every=([\d.]+)ms")


@dataclass(frozen=True, slots=True)
class Script:
    """An answer to be streamed: so many pieces of text, so many milliseconds apart."""

    chunks: int
    every_ms: float = 15.0

    @property
    def seconds(self) -> float:
        """Return how long the answer takes."""
        return self.chunks * self.every_ms / 1000

    @property
    def text(self) -> str:
        """Return the whole answer."""
        return "".join(map(piece, range(self.chunks)))

    @property
    def question(self) -> str:
        """Return the words that make the upstream give this answer."""
        return f"Please say chunks={self.chunks} every={self.every_ms}ms"

    def body_after(self, answered: Iterable[Self] = ()) -> bytes:
        """Return a query that asks the question after earlier ones of the same chat."""
        messages = []
        for earlier in answered:
            messages.append({"role": "human", "content": earlier.question})
            messages.append({"role": "ai", "content": earlier.text})
        messages.append({"role": "human", "content": self.question})
        return json.dumps({"messages": messages, "timezone": "Europe/London"}).encode()

    @classmethod
    def find(cls, body: bytes) -> Self:
        """Read the last order of a request, whatever shape the request has."""
        orders = _ORDER.findall(body)
        if not orders:
            return cls(chunks=3, every_ms=0)
        chunks, every = orders[-1]
        return cls(int(chunks), float(every))


def piece(number: int) -> str:
    """Return the text of one chunk: twenty characters, about two or three words of a model."""
    return f"{number:05d} and so it goes "


FIRST_WORDS = piece(0).strip().encode()
