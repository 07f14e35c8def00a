"""Query bodies of the three generations, and the ways to spoil one."""

from collections.abc import Callable, Iterator
import copy
import json
from random import Random
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

UUID = "91ae1153-7b4d-451c-adc5-49856e90a0e6"
WIDGET = {
    "origin": "OpenBB",
    "widget_id": "prices",
    "name": "Prices",
    "description": "Daily prices",
    "metadata": {"symbol": "AAPL"},
}
CALL_ONE = json.dumps({"function": "get_widget_data", "input_arguments": {"widget_uuid": UUID}})
SOURCE = {"widget_uuid": UUID, "origin": "OpenBB", "id": "prices", "input_args": {"symbol": "AAPL"}}
CALL_THREE = json.dumps(
    {"function": "get_widget_data", "input_arguments": {"data_sources": [SOURCE]}}
)
BODIES: tuple[dict[str, Any], ...] = (
    {
        "messages": [
            {"role": "human", "content": "What moved today?"},
            {"role": "ai", "content": CALL_ONE},
            {
                "role": "tool",
                "function": "get_widget_data",
                "input_arguments": {"widget_uuid": UUID},
                "data": {"content": '[{"date": "2024-01-02", "close": 185.6}]'},
            },
        ],
        "context": [{"uuid": UUID, "name": "Note", "description": "", "data": {"content": "text"}}],
        "widgets": [{"uuid": UUID, **WIDGET}],
    },
    {
        "messages": [
            {"role": "human", "content": "What moved today?"},
            {"role": "ai", "content": CALL_THREE},
            {
                "role": "tool",
                "function": "get_widget_data",
                "input_arguments": {"data_sources": [SOURCE]},
                "copilot_function_call_arguments": {"data_sources": [SOURCE]},
                "data": [{"content": "185.6"}],
                "extra_state": {"copilot_function_call_arguments": {}},
            },
        ],
        "widgets": {"primary": [dict(WIDGET)], "secondary": [], "extra": []},
    },
    {
        "messages": [
            {"role": "human", "content": "What moved today?"},
            {"role": "ai", "content": CALL_THREE, "agent_id": "copilot"},
            {
                "role": "tool",
                "function": "get_widget_data",
                "input_arguments": {"data_sources": [SOURCE]},
                "data": [
                    {
                        "items": [
                            {
                                "content": '[{"close": 185.6}]',
                                "data_format": {"data_type": "object", "parse_as": "table"},
                            }
                        ]
                    }
                ],
                "extra_state": {"a": 1},
            },
            {"role": "human", "content": "And yesterday?"},
        ],
        "widgets": {
            "primary": [
                {
                    "uuid": UUID,
                    **WIDGET,
                    "params": [
                        {
                            "name": "symbol",
                            "type": "text",
                            "description": "Ticker",
                            "default_value": "AAPL",
                            "current_value": "MSFT",
                            "options": ["AAPL", {"label": "Microsoft", "value": "MSFT"}],
                        }
                    ],
                }
            ],
            "secondary": [],
            "extra": [],
        },
        "timezone": "Europe/London",
        "urls": ["https://example.com/news"],
        "workspace_state": {"current_dashboard_uuid": UUID, "agents": []},
        "workspace_options": ["deep-research", {"key": "tone", "value": "short"}],
        "tools": [{"server_id": "1", "name": "lookup", "url": "", "input_schema": {}}],
        "model": "scripted",
        "force_web_search": False,
    },
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**30, 1e308, "", " ", "x", "\x00", "\ud800", "\u2028"),
    *("NaN", "[]", "<script>", "../../etc/passwd", "a" * 70_000, [], [[]], [None], [0, "x"]),
    *({}, {"": ""}, {"\x00": "\x00"}, {"role": 1}, {"content": []}, [{}] * 300),
)


def hostile_bodies(count: int, *, random: Random) -> Iterator[bytes]:
    """Bodies of which hardly one is right: every path with every type, then broken bytes."""
    swaps = [(body, path, value) for body in BODIES for path in _paths(body) for value in VALUES]
    random.shuffle(swaps)
    for number in range(count):
        body, path, value = swaps[number % len(swaps)]
        if number % 4:
            yield _dumped(_replaced(body, path, value))
        else:
            yield random.choice(SPOILERS)(_dumped(body), random)


def _paths(value: Any, before: Path = ()) -> Iterator[Path]:
    yield before
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for key, member in members:
        yield from _paths(member, (*before, key))


def _replaced(body: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    spoiled = copy.deepcopy(body)
    place = spoiled
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return spoiled


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()  # ASCII: a lone surrogate stays an escape


Spoiler: TypeAlias = Callable[[bytes, Random], bytes]


def _deep(opening: bytes, closing: bytes) -> Spoiler:
    def spoil(body: bytes, random: Random) -> bytes:
        depth = random.choice((65, 300, 2_000, 100_000))
        return _with(body, opening * depth + b"1" + closing * depth)

    return spoil


def _with(body: bytes, raw: bytes) -> bytes:
    """The body with one more field whose value is these bytes."""
    return b'{"extra":' + raw + b"," + body[1:]


def _of(*raws: bytes) -> Spoiler:
    return lambda body, random: _with(body, random.choice(raws))


def _flipped(body: bytes, random: Random) -> bytes:
    spoiled = bytearray(body)
    for _ in range(random.randint(1, 20)):
        spoiled[random.randrange(len(spoiled))] = random.randrange(256)
    return bytes(spoiled)


SPOILERS: tuple[Spoiler, ...] = (
    lambda body, random: body[: random.randrange(len(body))],
    lambda body, random: body + body,
    lambda body, random: body.decode().encode(random.choice(("utf-16", "utf-32", "utf-8-sig"))),
    lambda body, random: b'{"messages":[],' + body[1:],
    lambda body, random: body.replace(b"What", random.choice((b"\xff\xfe", b"\xc3", b"\x00"))),
    lambda body, random: random.randbytes(random.randrange(200)),
    _of(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"9" * 5_000, b"-0", b"01", b".5", b"+1"),
    _of(b"'x'", b"/* x */ 1", b"undefined", b'"\\u00', b'"\\ud800\\ud800"', b'"\\u0000"', b"\x00"),
    _of(b"tru", b"[1,]", b'{"a":1,}', b'{"a":1,"a":2}', b"{1:2}", b'"\x01"', b'"\n"', b""),
    _deep(b"[", b"]"),
    _deep(b'{"a":', b"}"),
    _flipped,
)
