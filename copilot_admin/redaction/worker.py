"""Looks for own expressions in a process of its own; as a program, it is what makes these processes.

An expression may take for ever on some text. Whoever waits gives up and the process ends.
"""

from collections.abc import Iterator, Mapping
import json
import re
from typing import Any

from copilot_admin.agent.processes.fork_server import serve
from copilot_admin.agent.processes.limits import Limits
from protocol.json import Json

LIMITS = Limits(memory=512 * 1024**2, cpu_seconds=5)


def perform(given: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Says of each text where the expressions are; where they find nothing, only if it is asked for."""
    expressions = [re.compile(expression) for expression in given["expressions"]]
    texts = json.loads(body)
    yield [_spans(expressions, text, empty=bool(given["empty"])) for text in texts]


def _spans(expressions: list[re.Pattern[str]], text: str, *, empty: bool) -> Json:
    return [
        [*match.span()]
        for expression in expressions
        for match in expression.finditer(text)
        if empty or match.end() > match.start()
    ]


if __name__ == "__main__":
    serve(perform, limits=LIMITS)
