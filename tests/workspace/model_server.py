"""A chat completions server on the loopback that plays a script."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
import json
from typing import Any, TypeAlias

from tests.http_stub import Request, http_stub

Chunk: TypeAlias = Mapping[str, Any]
USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 5},
}
MODEL = "scripted-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer of the model: words, then calls of tools (arguments as text are sent as they are)."""

    words: tuple[str, ...] = ()
    calls: tuple[tuple[str, Any], ...] = ()


def says(*words: str) -> Reply:
    return Reply(words=words)


def calls(name: str, /, **arguments: Any) -> Reply:
    return Reply(calls=((name, arguments),))


def _chunks(reply: Reply) -> Iterator[Chunk]:
    """Yield a role first, arguments in pieces, the usage in a chunk without choices."""
    yield _chunk({"role": "assistant", "content": "", "refusal": None})
    for word in reply.words:
        yield _chunk({"content": word})
    for index, (name, arguments) in enumerate(reply.calls):
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        yield _chunk({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        for start in range(0, len(text), 7):
            part = {"index": index, "function": {"arguments": text[start : start + 7]}}
            yield _chunk({"tool_calls": [part]})
    yield _chunk({}, finish="tool_calls" if reply.calls else "stop")
    yield {**_chunk({}), "choices": [], "usage": USAGE}


@dataclass(kw_only=True)
class ModelServer:
    """A running server."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)  # their bodies
    faults: list[str] = field(default_factory=list)  # such as a request beyond the script
    refusal: str = ""  # every request is answered 401 with this message

    def plays(self, *replies: Reply) -> None:
        self.script += replies

    def tools(self, number: int = 0) -> dict[str, Any]:
        offered = self.requests[number].get("tools", [])
        return {tool["function"]["name"]: tool["function"] for tool in offered}

    def system(self, number: int = 0) -> str:
        first = self.requests[number]["messages"][0]
        assert first["role"] == "system"
        return str(first["content"])

    def told(self, number: int = -1) -> str:
        """Return all texts of a request but the system prompt."""
        messages = self.requests[number]["messages"]
        return "\n".join(str(one["content"]) for one in messages if one["role"] in ("user", "tool"))

    def answer(self, request: Request) -> None:
        """Answer a request by the script, or with the list of models."""
        if request.command == "GET":
            listed = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
            refused = {"error": {"message": self.refusal}}
            body = json.dumps(refused if self.refusal else listed).encode()
            request.answer(body, 401 if self.refusal else 200, Content_Type="application/json")
            return
        number = len(self.requests)
        self.requests.append(json.loads(request.body))
        if request.path != "/v1/chat/completions" or number >= len(self.script):
            self.faults.append(f"request {number} to {request.path} is one too many")
            request.send_error(500)
            return
        self.faults += _faults(self.requests[-1])
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        for chunk in _chunks(self.script[number]):
            request.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            request.wfile.flush()
        request.wfile.write(b"data: [DONE]\n\n")


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serves until the test is done, and then makes sure that the script was played."""
    server = ModelServer()
    with http_stub(server.answer) as base:
        server.url = f"{base}/v1"
        yield server
    assert server.faults == []
    unused = server.script[len(server.requests) :]
    assert not unused, f"nobody asked for {unused}"


def _faults(body: Any) -> list[str]:
    """What a real server would refuse: calls and results that do not belong together."""
    faults, open_calls = [], set[str]()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                faults.append(f"a result without its call: {message}")
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            faults.append(f"calls without results: {open_calls}")
        open_calls = {call["id"] for call in message.get("tool_calls") or []}
    return faults if not open_calls else [*faults, f"calls without results: {open_calls}"]


def _chunk(delta: Mapping[str, Any], *, finish: str | None = None) -> Chunk:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
