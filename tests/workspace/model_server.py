"""A chat completions server on the loopback that plays a script."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import threading
from typing import Any, TypeAlias

Chunk: TypeAlias = Mapping[str, Any]
USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 5},
}
MODEL = "scripted-1"
POLL_SECONDS = 0.01  # how soon the server notices that its test is done


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model answers once: words, then calls of tools.

    Attributes:
        calls: Names and arguments; arguments as text are sent as they are.
    """

    words: tuple[str, ...] = ()
    calls: tuple[tuple[str, Any], ...] = ()


def says(*words: str) -> Reply:
    """An answer in words."""
    return Reply(words=words)


def calls(name: str, /, **arguments: Any) -> Reply:
    """One call of a tool."""
    return Reply(calls=((name, arguments),))


def _chunks(reply: Reply) -> Iterator[Chunk]:
    """A role first, arguments in pieces, the usage in a chunk without choices."""
    yield _chunk({"role": "assistant", "content": "", "refusal": None})
    for word in reply.words:
        yield _chunk({"content": word})
    for index, (name, arguments) in enumerate(reply.calls):
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        yield _chunk({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
        text = _text(arguments)
        for start in range(0, len(text), 7):
            part = {"index": index, "function": {"arguments": text[start : start + 7]}}
            yield _chunk({"tool_calls": [part]})
    yield _chunk({}, finish="tool_calls" if reply.calls else "stop")
    yield {**_chunk({}), "choices": [], "usage": USAGE}


@dataclass(kw_only=True)
class ModelServer:
    """A running server.

    Attributes:
        script: What is answered, in order.
        requests: The bodies of the requests so far.
        faults: What went wrong, such as a request beyond the script.
        refusal: Message with which every request is answered 401, if there is one.
    """

    url: str
    script: list[Reply] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    refusal: str = ""

    def plays(self, *replies: Reply) -> None:
        """Adds to the script."""
        self.script += replies

    def tools(self, number: int = 0) -> dict[str, Any]:
        """The functions that a request offered, by name."""
        offered = self.requests[number].get("tools", [])
        return {tool["function"]["name"]: tool["function"] for tool in offered}

    def system(self, number: int = 0) -> str:
        """The system prompt of a request."""
        first = self.requests[number]["messages"][0]
        assert first["role"] == "system"
        return str(first["content"])

    def told(self, number: int = -1) -> str:
        """All that the model was told in a request but the system prompt."""
        messages = self.requests[number]["messages"]
        return "\n".join(str(one["content"]) for one in messages if one["role"] in ("user", "tool"))


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serves until the test is done, and then makes sure that the script was played."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server = ModelServer(url=f"http://127.0.0.1:{http.server_port}/v1")
    http.played = server  # type: ignore[attr-defined]
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(POLL_SECONDS,))
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
    assert server.faults == []
    unused = server.script[len(server.requests) :]
    assert not unused, f"nobody asked for {unused}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        played: ModelServer = self.server.played  # type: ignore[attr-defined]
        listed = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
        refused = {"error": {"message": played.refusal}}
        body = json.dumps(refused if played.refusal else listed).encode()
        self.send_response(401 if played.refusal else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        played: ModelServer = self.server.played  # type: ignore[attr-defined]
        number = len(played.requests)
        played.requests.append(body)
        if self.path != "/v1/chat/completions" or number >= len(played.script):
            played.faults.append(f"request {number} to {self.path} is one too many")
            self.send_error(500)
            return
        played.faults += _faults(body)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for chunk in _chunks(played.script[number]):
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


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


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
