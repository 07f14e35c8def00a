"""Write the golden files anew, on purpose only: `python -m tests.protocol.golden`."""

from pathlib import Path

from protocol.models import Generation
from protocol.serializers import serialize
from protocol.sse import encode
from tests.protocol.examples import EXAMPLES

EVENTS = Path(__file__).parent.parent / "golden" / "events"


def said(name: str, generation: Generation) -> bytes:
    """The bytes that a client of a generation receives for an example."""
    return b"".join(encode(*event) for event in serialize(EXAMPLES[name], generation))


def golden(name: str, generation: Generation) -> Path:
    """Where the bytes of an example are kept."""
    return EVENTS / f"{name}.{generation.value}.sse"


if __name__ == "__main__":
    for name in EXAMPLES:
        for generation in Generation:
            golden(name, generation).write_bytes(said(name, generation))
