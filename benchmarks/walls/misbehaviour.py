"""What a model that keeps to nothing answers: each way gives the bytes of one HTTP response.

The question names the way, its size and a seed, so that whoever asks knows what will come.
"""

import asyncio
from dataclasses import dataclass
import json
from random import Random
import re
from typing import Any, Self
import zlib

from benchmarks.upstream import LAST, frame, http_chunk, usage_frame
from benchmarks.walls.hostile_html import drawn_html
from benchmarks.walls.model_wire import (
    CHUNKED,
    DONE,
    ENDLESS_SECONDS,
    HEAD,
    PIECE,
    Parts,
    Way,
    call_frame,
    data,
)
from benchmarks.walls.silences import SILENCES

TOOL = "t0"  # of a client
_ORDER = re.compile(rb"misbehave=(\w+) size=(\d+) seed=(\d+)")
_RESULT = re.compile(rb'"role":"tool"|Result of ')  # the second form where tools are words


@dataclass(frozen=True, slots=True)
class Order:
    """What the model is to do."""

    way: str
    size: int
    seed: int

    def __str__(self) -> str:
        return f"misbehave={self.way} size={self.size} seed={self.seed}"

    @classmethod
    def find(cls, body: bytes) -> Self | None:
        """The last order in a request, whatever shape the request has."""
        orders = _ORDER.findall(body)
        if not orders:
            return None
        way, size, seed = orders[-1]
        return cls(way.decode(), int(size), int(seed))


def answer_to(body: bytes) -> Parts:
    """The response to a request; after the result of a tool, half of the models come to an end."""
    order = Order.find(body)
    ways = {**WAYS, **LARGE}
    if order is None or order.way not in ways:
        return _polite()
    random = Random(order.seed)
    if _RESULT.search(body) and random.random() < 0.5:
        return _polite()
    return ways[order.way](order.size, random)


async def _polite() -> Parts:
    yield HEAD + CHUNKED + frame({"content": "Done."}) + frame({}, finish="stop") + DONE + LAST


async def _error_body(size: int, random: Random) -> Parts:
    status = random.choice((400, 401, 404, 429, 500, 502, 302, 529))
    yield b"HTTP/1.1 %d Wrong\r\nContent-Type: application/json\r\n" % status + CHUNKED
    async for part in _filled(size, b'{"error": {"message": "'):
        yield http_chunk(part)
    yield LAST


async def _packed_error(size: int, random: Random) -> Parts:
    yield b"HTTP/1.1 500 Wrong\r\nContent-Encoding: gzip\r\n" + CHUNKED
    for part in _packed(size, b"x"):
        yield http_chunk(part)
    yield LAST


async def _packed_stream(size: int, random: Random) -> Parts:
    encoding = random.choice((b"gzip", b"deflate"))
    yield HEAD + b"Content-Encoding: %b\r\n" % encoding + CHUNKED
    for part in _packed(size, random.choice((b": alive\n", b"\n", data({"content": "x"})))):
        yield http_chunk(part)
    yield LAST


async def _many_calls(size: int, random: Random) -> Parts:
    yield HEAD + CHUNKED
    name = random.choice(("table", "html", "calculator", "unknown", "get_widget_data"))
    for number in range(size):
        yield call_frame(name, "{}", index=number)
    yield frame({}, finish="tool_calls") + DONE + LAST


async def _long_arguments(size: int, random: Random) -> Parts:
    yield HEAD + CHUNKED
    opening = random.choice(('{"name": "', '{"rows": [', "[", '{"a":', "x"))
    yield call_frame(random.choice(("table", "html", "chart")), opening)
    piece = random.choice(("x", "[", '{"a": 1},', '{"a":', "\\u0000"))
    text = piece * (4096 // len(piece))
    for _ in range(size // len(text)):
        yield call_frame("", text)
    yield frame({}, finish="tool_calls") + DONE + LAST


async def _odd_usage(size: int, random: Random) -> Parts:
    odd = random.choice(("NaN", "-1", "1e400", '"many"', "[]", str(10**30), "null", "true", "1.5"))
    usage = f'{{"choices": [], "usage": {{"prompt_tokens": {odd}, "completion_tokens": {odd}}}}}'
    yield HEAD + CHUNKED + frame({"content": "Some text."}) + frame({}, finish="stop")
    yield http_chunk(b"data: %b\n\n" % usage.encode()) + usage_frame(size) + DONE + LAST


async def _odd_numbers(size: int, random: Random) -> Parts:
    """Calls with numbers that JSON does not have, or that nobody can count with."""
    odd = random.choice(
        ("NaN", "-Infinity", "1e999", "9" * size, "-0", "1e-999", "0.1" + "0" * size)
    )
    rows = f'[{{"a": "Mon", "b": {odd}}}, {{"a": "Tue", "b": 1}}]'
    named = '"name": "T", "description": "D"'
    name, arguments = random.choice(
        (
            ("table", f'{{{named}, "rows": {rows}}}'),
            ("chart", f'{{{named}, "type": "bar", "rows": {rows}, "x": "a", "y": ["b"]}}'),
            ("table_analyst", f'{{"rows": {rows}, "operations": [{{"op": "sort", "by": "b"}}]}}'),
            ("calculator", f'{{"expression": "{odd} + 1"}}'),
            ("add_generative_widget", f'{{"widget_type": "table", "name": "T", "data": {rows}}}'),
            (TOOL, f'{{"q": {odd}}}'),
        )
    )
    yield HEAD + CHUNKED + call_frame(name, arguments)
    yield frame({}, finish="tool_calls") + DONE + LAST


async def _client_call(size: int, random: Random) -> Parts:
    """Calls a tool of the client with values that a schema may look at for long."""
    value: Any = random.choice(
        (
            "a" * size + "!",
            "\u0000" * size,
            list(range(size)),
            {"a": {}},
            None,
            [[]] * size,
            10**300,
        )
    )
    arguments = random.choice(
        ({"q": value}, {"q": value, "r": value}, {str(value)[:size]: 1}, [value])
    )
    yield HEAD + CHUNKED + call_frame(TOOL, json.dumps(arguments))
    yield frame({}, finish="tool_calls") + DONE + LAST


async def _web_page(size: int, random: Random) -> Parts:
    kind = random.choice((b"text/html", b"text/event-stream", b"application/json"))
    yield b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n" % kind + CHUNKED
    async for part in _filled(size, b"<!doctype html><html><body>"):
        yield http_chunk(part)
    yield LAST


async def _done_at_once(size: int, random: Random) -> Parts:
    yield HEAD + CHUNKED + DONE + LAST


async def _text_and_error(size: int, random: Random) -> Parts:
    error = json.dumps({"error": {"message": "x" * size, "code": random.choice((500, "429"))}})
    text = frame({"content": "The answer begins, and "})
    yield HEAD + CHUNKED + text + http_chunk(b"data: %b\n\n" % error.encode()) + LAST


async def _empty_chunks(size: int, random: Random) -> Parts:
    """Signs of life without an end; who reads them has to end it."""
    yield HEAD + CHUNKED
    empty = random.choice(
        (frame({}), frame({"content": ""}), http_chunk(b": alive\n\n"), http_chunk(b"data: {}\n\n"))
    )
    end = asyncio.get_running_loop().time() + ENDLESS_SECONDS
    while asyncio.get_running_loop().time() < end:
        yield empty * random.randint(1, 200)


async def _bytewise(size: int, random: Random) -> Parts:
    """An answer of which each byte comes in a chunk of its own, and half of them alone."""
    yield HEAD + CHUNKED
    said = data({"content": "x" * size}) + b"data: [DONE]\n\n"
    pieces = [http_chunk(said[place : place + 1]) for place in range(len(said))]
    for start in range(0, len(pieces), 100):
        if random.random() < 0.5:
            yield b"".join(pieces[start : start + 100])
        else:
            for piece in pieces[start : start + 100]:
                yield piece
    yield LAST


async def _brackets(size: int, random: Random) -> Parts:
    """A text of one piece, where questions to be suggested are looked for as well."""
    yield HEAD + CHUNKED
    text = random.choice(("[", '["', "{", "[[],", '["a",', "\\", "`")) * size
    for start in range(0, size, 4096):
        yield frame({"content": text[start : start + 4096]})
    yield frame({"content": random.choice(("", "]", '"]'))}) + frame({}, finish="stop")
    yield DONE + LAST


async def _cut(size: int, random: Random) -> Parts:
    whole = HEAD + CHUNKED + frame({"content": "The answer is " + "x" * size})
    yield whole[: random.randint(1, len(whole))]


async def _huge_token(size: int, random: Random) -> Parts:
    key = random.choice(("content", "reasoning_content", "refusal"))
    yield HEAD + CHUNKED + frame({key: "x" * size}) + frame({}, finish="stop") + DONE + LAST


async def _many_tokens(size: int, random: Random) -> Parts:
    """Text faster than anybody reads it."""
    yield HEAD + CHUNKED
    key = random.choice(("content", "content", "reasoning_content"))
    token = frame({key: random.choice(("x", "word ", "\u5e74", "```tool", "[", "<script>"))})
    for _ in range(size // 400):
        yield token * 20
    yield frame({}, finish="stop") + DONE + LAST


async def _deep_chunk(size: int, random: Random) -> Parts:
    opening = random.choice((b"[", b'{"choices":', b'{"a":'))
    yield HEAD + CHUNKED + http_chunk(b"data: " + opening * size + b"\n\n") + DONE + LAST


async def _broken_framing(size: int, random: Random) -> Parts:
    yield HEAD + CHUNKED
    yield random.choice((b"-5\r\nx", b"zz\r\n", b"\r\n" * 1000, b"f" * 100, random.randbytes(500)))


async def _large_head(size: int, random: Random) -> Parts:
    yield HEAD + b"X-Long: " + b"x" * size + b"\r\n" + CHUNKED + DONE + LAST


async def _html(size: int, random: Random) -> Parts:
    """Shows HTML as an artifact, or as a widget of the dashboard."""
    html = drawn_html(random, size=size)
    as_artifact = {"name": "Card", "description": "A card.", "html": html}
    as_widget = {"widget_type": "html", "name": "Card", "data": html}
    name, arguments = random.choice((("html", as_artifact), ("add_generative_widget", as_widget)))
    yield HEAD + CHUNKED + call_frame(name, json.dumps(arguments))
    yield frame({}, finish="tool_calls") + DONE + LAST


async def _component(size: int, random: Random) -> Parts:
    """Calls a tool or a component with as much as it takes."""
    rows = [{"a": number, "b": "x"} for number in range(size // 20)]
    sort = {"op": random.choice(("sort", "top")), "by": "a", "n": 10}
    name, arguments = random.choice(
        (
            ("table_analyst", {"rows": rows, "operations": [sort] * random.randint(1, 30)}),
            ("table", {"name": "T", "description": "", "rows": rows}),
            ("calculator", {"expression": random.choice(("(", "9^", "1+", "-")) * (size // 2)}),
            ("document_search", {"query": "word " * (size // 5)}),
            (
                "chart",
                {"name": "C", "description": "", "type": "bar", "rows": rows, "x": "b", "y": ["a"]},
            ),
        )
    )
    yield HEAD + CHUNKED + call_frame(name, json.dumps(arguments))
    yield frame({}, finish="tool_calls") + DONE + LAST


WAYS: dict[str, Way] = {
    way.__name__.removeprefix("_"): way
    for way in (
        *(_error_body, _packed_error, _packed_stream, _many_calls, _long_arguments, _odd_usage),
        *(_web_page, _done_at_once, _text_and_error, _empty_chunks, _cut, _huge_token),
        *(_many_tokens, _deep_chunk, _broken_framing, _large_head, _html, _component),
        *(_bytewise, _brackets, _odd_numbers, _client_call),
    )
}
WAYS |= SILENCES


async def _artifact(size: int, random: Random) -> Parts:
    yield HEAD + CHUNKED + _large("html", {"name": "C", "description": "", "html": _cells(size)})


async def _new_widget(size: int, random: Random) -> Parts:
    widget = {"widget_type": "html", "name": "C", "data": _cells(size)}
    yield HEAD + CHUNKED + _large("add_generative_widget", widget)


async def _table(size: int, random: Random) -> Parts:
    rows = [{"a": number, "b": "x"} for number in range(size // 20)]
    yield HEAD + CHUNKED + _large("table", {"name": "T", "description": "", "rows": rows})


# Calls that are right, and as large as they may be.
LARGE: dict[str, Way] = {"artifact": _artifact, "new_widget": _new_widget, "table": _table}


def _cells(size: int) -> str:
    row = '<tr><td style="color: red; padding: 2px"><b>Cell</b></td><td>1.5</td></tr>'
    return f"<table>{row * (size // len(row))}</table>"


def _large(name: str, arguments: dict[str, Any]) -> bytes:
    return call_frame(name, json.dumps(arguments)) + frame({}, finish="tool_calls") + DONE + LAST


async def _filled(size: int, opening: bytes) -> Parts:
    yield opening
    for start in range(0, size, PIECE):
        yield b"x" * min(PIECE, size - start)


def _packed(size: int, piece: bytes) -> list[bytes]:
    """What unpacks to so much, in parts."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = piece * (2**20 // len(piece))
    packed = b"".join(packer.compress(block) for _ in range(max(size // len(block), 1)))
    packed += packer.flush()
    return [packed[start : start + PIECE] for start in range(0, len(packed), PIECE)]
