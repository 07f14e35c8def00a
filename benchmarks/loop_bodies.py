"""Questions that may keep an event loop from running: as large as they may be, of every kind."""

import base64
from collections.abc import Callable, Mapping
import json
from types import MappingProxyType
from typing import Any, TypeAlias

from benchmarks.bodies import SOURCE, UUID, WIDGET
from benchmarks.walls.misbehaviour import Order

MB = 1_000_000
Make: TypeAlias = Callable[[], tuple[str, Mapping[str, Any]]]  # a copilot's slug, and a body
SIGNED = "http://a.example/c?X-Amz-Signature=1 "
CALL = json.dumps({"function": "get_widget_data", "input_arguments": {"data_sources": [SOURCE]}})


def encoded(body: Mapping[str, Any]) -> bytes:
    """The body as a client sends it."""
    return json.dumps(body, ensure_ascii=False).encode()


def _human(text: str) -> dict[str, Any]:
    return {"role": "human", "content": text}


def _ai(text: str) -> dict[str, Any]:
    return {"role": "ai", "content": text}


def _history(size: int, *, each: int) -> list[dict[str, Any]]:
    """A chat of so many bytes in messages of a length, of which the last is a question."""
    words = "What moved today, and why? " * (each // 27 + 1)
    return [
        {"role": ("human", "ai")[number % 2], "content": f"{number} {words[: each - 8]}"}
        for number in range(size // (each + 34) // 2 * 2)
    ] + [_human("And now?")]


def _widgets(number: int, *, words: int, params: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "uuid": f"{UUID[:-6]}{one:06}",
            **WIDGET,
            "widget_id": f"w{one}",
            "name": f"Widget {one}",
            "description": " ".join(f"word{one * 7 % 997 + word}" for word in range(words)),
            "params": [
                {
                    "name": f"p{param}",
                    "type": "text",
                    "description": "A parameter of it",
                    "current_value": str(param),
                    "options": [{"label": f"Label {n}", "value": n} for n in range(5)],
                }
                for param in range(params)
            ],
        }
        for one in range(number)
    ]


def _offered(widgets: list[dict[str, Any]], question: str) -> dict[str, Any]:
    offered = {"primary": widgets[::2], "secondary": [], "extra": widgets[1::2]}
    return {"messages": [_human(question)], "widgets": offered}


def _result(content: str, data_format: dict[str, Any]) -> dict[str, Any]:
    result = {
        "role": "tool",
        "function": "get_widget_data",
        "input_arguments": {"data_sources": [SOURCE]},
        "data": [{"items": [{"content": content, "data_format": data_format}]}],
        "extra_state": {},
    }
    widgets = {"primary": [WIDGET], "secondary": [], "extra": []}
    return {
        "messages": [_human("What moved?"), _ai(CALL), result],
        "widgets": widgets,
    }


def _rows(number: int) -> str:
    return json.dumps([{"n": one} for one in range(number)], separators=(",", ":"))


def _base64(kind: str) -> tuple[str, Mapping[str, Any]]:
    lines = "day,close\n" + "".join(f"{one},{one * 7 % 1000}\n" for one in range(500_000))
    content = base64.b64encode(lines.encode()).decode()
    return "wild", _result(content, {"data_type": kind, "filename": f"prices.{kind}"})


def _data_messages(size: int, kinds: int) -> tuple[str, Mapping[str, Any]]:
    rows = [{"date": "2024-01-02", "close": n / 7, "name": f"A{n}"} for n in range(size // 55)]
    step = len(rows) // kinds
    context = [
        {"type": "data", "kind": f"kind{kind}", "data": rows[kind * step : (kind + 1) * step]}
        for kind in range(kinds)
    ]
    return "wild", {"messages": [_human("table")], "context": context}


def _searched(size: int, piece: str) -> tuple[str, Mapping[str, Any]]:
    text = piece * (size // len(piece.encode()))
    context = [{"uuid": UUID, "name": "Report", "data": {"items": [{"content": text}]}}]
    return "rehearsed", {
        "messages": [_human("document_search: revenue of cars")],
        "context": context,
    }


def _model_calls(name: str, size: int) -> tuple[str, Mapping[str, Any]]:
    question = f"Please {Order(name, size, seed=1)}"
    return "wild", {"messages": [_human(question)], "workspace_options": ["generative-ui"]}


def _for_the_oldest(name: str, size: int) -> tuple[str, Mapping[str, Any]]:
    """What a model calls, for a client to which all of it is said as text."""
    question = f"Please {Order(name, size, seed=1)}"
    return "wild", {"messages": [_human(question)], "widgets": [WIDGET]}


QUESTIONS: Mapping[str, Make] = MappingProxyType(
    {
        "15 MB, 2,000 messages": lambda: ("bench", {"messages": _history(15 * MB, each=7_600)}),
        "20 MB, 2,000 messages": lambda: ("bench", {"messages": _history(20 * MB, each=10_300)}),
        "20 MB, one message": lambda: ("bench", {"messages": [_human("word " * 4 * MB)]}),
        "20 MB, one message of other scripts": lambda: (
            "bench",
            {"messages": [_human("\u5e74\u0301 " * 3 * MB)]},
        ),
        "15 MB of letters and accents": lambda: (
            "bench",
            {"messages": [_human("e\u0301\u0316" * 3 * MB)]},
        ),
        "18 MB of escapes": lambda: ("bench", {"messages": [_human("a\n" * 6 * MB)]}),
        "18 MB of addresses, answered before": lambda: (
            "bench",
            {"messages": [_human("?"), _ai(SIGNED * 500_000), _human("And now?")]},
        ),
        "18 MB, a time zone": lambda: (
            "bench",
            {"messages": [_human("What time is it?")], "timezone": "a/" * 9 * MB},
        ),
        "16 MB of line ends": lambda: ("wild", _result("\n" * 8 * MB, {})),
        "16 MB of numbers": lambda: ("wild", _result(f"[{'1,' * 8 * MB}1]", {})),
        "15 MB, small messages": lambda: ("bench", {"messages": _history(15 * MB, each=20)}),
        "20 MB of widgets": lambda: (
            "wild",
            _offered(_widgets(5_000, words=40, params=10), "word1 word2 word500"),
        ),
        "20 MB, deep": lambda: (
            "wild",
            {"messages": [_human("x")], "context": [_deep(50, 40_000)], "tools": []},
        ),
        "5 MB of Data messages": lambda: _data_messages(5 * MB, 5),
        "20 MB of Data messages": lambda: _data_messages(15 * MB, 5),
        "ranking 5,000 widgets": lambda: (
            "wild",
            _offered(_widgets(5_000, words=100), "word1 " * 5_000),
        ),
        "1 MB to the rehearsal": lambda: ("rehearsed", {"messages": [_human("word " * 200_000)]}),
        "search in 20 MB": lambda: _searched(19 * MB, "Revenue of cars grew by 4 percent. "),
        "search in 8 MB of numbers": lambda: _searched(8 * MB, '{"a":1,"b":2},'),
        "500,000 rows as JSON": lambda: ("wild", _result(_rows(500_000), {"parse_as": "table"})),
        "500,000 rows as base64": lambda: _base64("csv"),
        "html of 199 kB": lambda: _model_calls("artifact", 199_000),
        "html of 300 kB": lambda: _model_calls("artifact", 300_000),
        "a widget of 199 kB": lambda: _model_calls("new_widget", 199_000),
        "a widget of 300 kB": lambda: _model_calls("new_widget", 300_000),
        "a table of 900 kB": lambda: _model_calls("table", 900_000),
        "a table of 900 kB as text": lambda: _for_the_oldest("table", 900_000),
        "html of 199 kB as text": lambda: _for_the_oldest("artifact", 199_000),
    }
)


def _deep(depth: int, times: int) -> dict[str, Any]:
    value: Any = 1
    for level in range(depth):
        value = {f"k{level}": value}
    return {"type": "data", "kind": "deep", "data": [value] * (times // depth * 10)}
