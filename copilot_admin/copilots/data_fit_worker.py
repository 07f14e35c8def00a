"""Checks data against a schema in a process of its own; as a program, it makes these processes."""

from collections.abc import Iterator, Mapping
import json
from typing import Any

from copilot_admin.agent.processes.fork_server import serve
from copilot_admin.agent.processes.limits import Limits
from protocol.json import Json
from protocol.json_schema import data_faults

LIMITS = Limits(memory=512 * 1024**2, cpu_seconds=2)


def perform(given: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Says where the data does not fit."""
    data, schema = json.loads(body)
    yield list(data_faults(data, schema))


if __name__ == "__main__":
    serve(perform, limits=LIMITS)
