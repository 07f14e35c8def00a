"""Whatever arrives, reading ends in a query or in one of two errors."""

from collections.abc import Iterator
import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

from protocol.canonical import canonical
from protocol.functions import data_sources
from protocol.models import CallMessage, Generation, Query, ResultMessage
from protocol.parsing import UnusableQuery, parse_query
from protocol.strict_json import MalformedJson
from tests.protocol.published import REQUESTS, SPACED_OUT_ONE

FULL = {
    "messages": [
        {"role": "human", "content": "q"},
        {"role": "ai", "content": {"function": "f", "input_arguments": {"data_sources": [{}]}}},
        {
            "role": "tool",
            "function": "f",
            "input_arguments": {"widget_uuids": ["u"]},
            "data": [
                {"items": [{"content": "x", "data_format": {"type": "table"}, "citable": True}]},
                {"items": [{"url": "https://x.example/a", "data_format": {"data_type": "pdf"}}]},
                {"error_type": "e", "content": "c"},
                {"status": "success", "message": "m", "data": {"a": 1}},
                {"items": [], "extra_citations": [{"id": "i"}]},
            ],
            "extra_state": {"a": 1},
        },
        {"role": "ai", "content": "task", "agent_id": "openbb-copilot"},
    ],
    "widgets": {
        "primary": [
            {
                "uuid": "u",
                "origin": "o",
                "widget_id": "w",
                "columns": ["a"],
                "params": [
                    {
                        "name": "p",
                        "type": None,
                        "options": [1],
                        "options_params": [{"name": "n"}],
                        "current_value": None,
                    }
                ],
            }
        ]
    },
    "context": [{"uuid": "u", "data": {"items": [{"content": "x"}]}, "metadata": {"a": 1}}],
    "urls": ["https://x.example"],
    "timezone": "UTC",
    "model": "m",
    "workspace_options": {"a": True},
    "workspace_state": {"agents": [{"id": "a"}]},
    "tools": [{"name": "t", "input_schema": {"properties": {"token": {"type": "string"}}}}],
    "skills_catalog": [{"slug": "s"}],
    "selected_skills": [{"slug": "s"}],
    "api_keys": {"openai_api_key": "k"},
}
BODIES: list[dict[str, Any]] = [FULL, SPACED_OUT_ONE, *(one.body for one in REQUESTS)]
SWAPS: list[Any] = [
    *(None, True, 0, -1.5, 10**30, "", "text", "\x00\ud800", [], [[]], [None], {}, {"": None}),
    *([{"content": {}}], {"content": []}, {"items": [{"url": 5}]}, {"function": ["f"]}),
]
Path = tuple[str | int, ...]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(member, (*path, key))


def copied(body: Any) -> Any:
    """Of JSON, a tenth of what any other way takes."""
    return json.loads(json.dumps(body))


def swapped(body: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    body = copied(body)
    target = body
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return body


def ends_well(body: Any, hint: Generation | None = None) -> Query | None:
    """Reads a body, and does with it what every request does afterwards."""
    try:
        query = parse_query(body, hint=hint)
    except (MalformedJson, UnusableQuery) as error:
        assert error.public.endswith(".")
        error.public.encode()
        return None
    for message in query.messages:
        canonical(message)
        if isinstance(message, CallMessage | ResultMessage):
            data_sources(message.input_arguments)
    for widget in query.widgets.all():
        json.dumps([widget.ref, widget.input_args()]).encode()
    json.dumps(query.env, ensure_ascii=False).encode()
    " ".join(query.notes).encode()
    return query


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_wrong_type_at_any_path_ends_well(body: dict[str, Any], step: int):
    for number, path in enumerate(paths(body)):
        few = min(step, 2) if body is FULL else step
        for value in SWAPS[number % few :: few]:
            wrong = swapped(body, path, value)
            from_bytes = ends_well(json.dumps(wrong).encode())
            if isinstance(wrong, dict) and value != 10**30:  # bytes turn huge integers into floats
                assert from_bytes == ends_well(wrong)


def test_two_thousand_malformed_bodies_end_well():
    chance = random.Random(20250116)
    refused = 0
    for _ in range(2_000):
        body = bytearray(json.dumps(chance.choice(BODIES)).encode())
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(body))
            match chance.randrange(6):
                case 0:
                    del body[place:]
                case 1:
                    body[place] = chance.randrange(256)
                case 2:
                    body[place:place] = chance.choice(
                        [b"\x00", b"\xff", b"NaN", b"1e400", rb"\ud800", b'"', b"{", b"]", b","]
                    )
                case 3:
                    del body[place : place + chance.randrange(1, 40)]
                case 4:
                    body[place:place] = b"[" * chance.choice([10, 100, 5_000])
                case _:
                    body[place:place] = body[: chance.randrange(60)]
            body = body or bytearray(b"x")
        refused += ends_well(bytes(body)) is None
    assert refused > 1_500


NAMES = [
    "role",
    "content",
    "function",
    "input_arguments",
    "data",
    "items",
    "url",
    "widgets",
    "primary",
    "params",
    "name",
    "uuid",
    "widget_id",
    "context",
    "workspace_options",
    "tools",
    "extra_state",
    "error_type",
    "status",
    "agent_id",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=25,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["human", "ai", "tool"])},
    optional=dict.fromkeys(("content", "data", "function", "input_arguments", "agent_id"), JSON),
)
MESSAGES = st.lists(MESSAGE | JSON, max_size=4)


@given(st.binary(max_size=300))
def test_any_bytes_end_well(body: bytes):
    ends_well(body)


@given(JSON, st.sampled_from([None, *Generation]))
def test_any_json_ends_well(body: Any, hint: Generation | None):
    ends_well(json.dumps(body).encode(), hint)


@given(MESSAGES, JSON, JSON, JSON)
def test_any_messages_and_fields_end_well(messages: list, widgets: Any, context: Any, other: Any):
    fields = {"widgets": widgets, "context": context, "workspace_options": other, "tools": other}
    ends_well(json.dumps({"messages": messages, **fields}).encode())


def test_deep_data_ends_well():
    deep = json.loads("[" * 100 + "]" * 100)
    body = {
        "messages": [
            {"role": "tool", "data": deep},
            {"role": "ai", "content": {"function": "f", "input_arguments": {"content": deep}}},
        ],
        "context": [{"data": deep}],
    }
    query = ends_well(json.dumps(body).encode())
    assert query is not None
    assert len(query.messages) == 2
