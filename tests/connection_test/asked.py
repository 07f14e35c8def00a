"""A scripted server, and the facts of a copilot on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
import json
from typing import Any

from asgiref.sync import async_to_sync

from copilot_admin.connection_test.steps import StepName, run_step
from copilot_admin.connection_test.values import Answer, Setup, StepResult, Unreached
from copilot_admin.models import Run

BASE = "https://copilots.example.com"
QUERY = f"{BASE}/v1/copilots/news/query"
ENTRY = {"name": "News", "description": "Knows.", "endpoints": {"query": QUERY}}
ORIGIN = "https://pro.openbb.co"
ALLOWED = {
    "access-control-allow-origin": ORIGIN,
    "access-control-allow-headers": "Content-Type, X-Trace-Id, Authorization, X-API-Key",
    "access-control-expose-headers": "X-Trace-Id, X-Completion-Id",
}


def document(entries: Any, **headers: str) -> Answer:
    """A discovery document as it comes."""
    return Answer(
        status=200,
        headers={"content-type": "application/json", **headers},
        body=json.dumps(entries).encode(),
    )


def stream(*events: tuple[str, Any], ms: int = 20, first_ms: int = 5) -> Answer:
    """An answer to a question."""
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return Answer(
        status=200,
        headers={"content-type": "text/event-stream; charset=utf-8", "x-completion-id": "c-1"},
        body=body.encode(),
        first_ms=first_ms,
        ms=ms,
    )


ANSWER = stream(
    ("copilotMessageChunk", {"delta": "I know "}), ("copilotMessageChunk", {"delta": "news."})
)


@dataclass
class Server:
    """Answers by method and path; what is not said otherwise goes well."""

    answers: Mapping[str, Answer | Unreached] = field(default_factory=dict)
    asked: list[tuple[str, str, Mapping[str, str], bytes]] = field(default_factory=list)

    async def __call__(
        self,
        method: str,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        data: bytes = b"",
        seconds: float = 10.0,
    ) -> Answer:
        """Answers one request."""
        given = dict(headers or {})
        self.asked.append((method, address, given, data))
        path = f"{method} {address.removeprefix(BASE)}"
        found = self.answers.get(f"{path} {given.get('Origin', '')}".strip()) or self.answers.get(
            path, self._usual(path, given)
        )
        if isinstance(found, Unreached):
            raise found
        return found

    def _usual(self, path: str, headers: Mapping[str, str]) -> Answer:
        allowed = ALLOWED if headers.get("Origin") == ORIGIN else {}
        match path.split():
            case ["OPTIONS", _]:
                return Answer(status=204, headers=allowed)
            case ["GET", "/healthz"]:
                return Answer(status=200, body=b'{"status": "alive"}')
            case ["GET", "/agents.json" | "/copilots.json"]:
                return document({"news": ENTRY}, **allowed)
            case _:
                return ANSWER


async def completed(completion_id: str) -> Run | None:
    """A question that went well."""
    return Run(outcome="completed")


SETUP = Setup(
    base=BASE,
    slug="news",
    problem="",
    needs_key=False,
    keys=0,
    key="trial_pass",
    origins=(ORIGIN,),
    extra_origin="",
    headers=(),
    load_run=completed,
)


def done(
    name: StepName, answers: Mapping[str, Answer | Unreached] | None = None, **facts: Any
) -> StepResult:
    """How a step ends with a server that answers so, and a copilot of which these facts hold."""
    return async_to_sync(run_step)(name, replace(SETUP, **facts), Server(answers or {}))
