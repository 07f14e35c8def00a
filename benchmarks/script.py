"""What the scripted upstream says: the question names it, so that everybody knows it beforehand."""

from collections.abc import Iterable
from dataclasses import dataclass
import json
import re
from typing import Self

_ORDER = re.compile(rb"chunks=(\d+) every=([\d.]+)ms after=([\d.]+)ms")


@dataclass(frozen=True, slots=True)
class Script:
    """An answer to be streamed.

    Attributes:
        chunks: How many pieces of text it has.
        every_ms: Milliseconds between two of them.
        after_ms: Milliseconds before the first one.
        preface: Words of whoever asks, before the question.
        signed: What the upstream says at the end: the canary of the user whom it was told.
    """

    chunks: int
    every_ms: float = 15.0
    after_ms: float = 0.0
    preface: str = ""
    signed: str = ""

    @property
    def seconds(self) -> float:
        """How long the answer takes."""
        return (self.after_ms + self.chunks * self.every_ms) / 1000

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(map(piece, range(self.chunks))) + self.signed

    @property
    def question(self) -> str:
        """The words that make the upstream give this answer."""
        order = f"chunks={self.chunks} every={self.every_ms}ms after={self.after_ms}ms"
        return f"{self.preface}Please say {order}"

    @property
    def body(self) -> bytes:
        """A query that asks the question."""
        return self.body_after(())

    def body_after(self, said: Iterable[Self]) -> bytes:
        """A query that asks the question in a chat in which others were answered."""
        messages = [{"role": "human", "content": self.question}]
        for earlier in said:
            messages[-1:-1] = [
                {"role": "human", "content": earlier.question},
                {"role": "ai", "content": earlier.text},
            ]
        return json.dumps({"messages": messages, "timezone": "Europe/London"}).encode()

    @classmethod
    def find(cls, body: bytes) -> Self:
        """Reads the last question of a request, whatever shape the request has."""
        orders = _ORDER.findall(body)
        if not orders:
            return cls(chunks=3, every_ms=0)
        chunks, every, after = orders[-1]
        return cls(int(chunks), float(every), float(after))


def piece(number: int) -> str:
    """The text of one chunk: twenty characters, as a model's tokens have in two or three words."""
    return f"{number:05d} and so it goes "


FIRST_WORDS = piece(0).strip().encode()
