"""The JSON examples of the protocol's documents, in `tests/golden/published.json`.

Generation 1 comes from two translations of one README (their examples are the same, byte for
byte), generation 2 from the README after the migration of 2025-01-16. `changed` says what
translation or prose broke; "completed" means that the document shows one field and leaves the rest
out as `...`.
"""

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from protocol.models import Generation

_PUBLISHED = json.loads(
    (Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class PublishedRequest:
    name: str
    generation: Generation
    body: dict[str, Any]
    changed: str

    @property
    def bytes(self) -> bytes:
        return json.dumps(self.body).encode()


REQUESTS = [
    PublishedRequest(one["name"], Generation(one["generation"]), one["body"], one["changed"])
    for one in _PUBLISHED["requests"]
]
SPACED_OUT_ONE: dict[str, Any] = _PUBLISHED["spaced_out"]
CALL_ONE, CALL_TWO, HISTORICAL_CALL_TWO = (
    _PUBLISHED["calls"][name] for name in ("one", "two", "historical")
)
COPILOTS_JSON_ONE, COPILOTS_JSON_TWO = (_PUBLISHED["copilots_json"][n] for n in ("one", "two"))
HISTORICAL_UUID = "38181a68-9650-4940-84fb-a3f29c8869f3"
QUOTE_UUID = "c276369e-e469-4689-b5fe-3f8c76f7c45a"
NEWS_UUID = "123e4567-e89b-12d3-a456-426614174000"
# The streams of the examples, the comments after the data removed.
HI = ["H", "i", "!"]
PRICE_ANSWER = ["The", " current", " stock", " price", " of", " Apple", " Inc.", " (AAPL)",
                " is", " $150.75."]  # fmt: skip


def request_of(generation: Generation, name: str) -> PublishedRequest:
    return next(one for one in REQUESTS if (one.generation, one.name) == (generation, name))
