"""Values of a conversation as short plain text: numbers, durations, JSON."""

from collections.abc import Mapping
import json

from protocol.json import Json


def cell_text(value: Json) -> str:
    """A value as a cell of a table shows it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.10g}"
        case str() | int():
            return str(value)
    return json.dumps(_plain(value), ensure_ascii=False, default=_plain)


def pretty_json(value: Json) -> str:
    """A value as indented JSON, in the script it was written in."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_plain)


def shortened(text: str, *, most: int) -> str:
    """The text, or its beginning with an ellipsis; at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def duration(ms: int) -> str:
    """Milliseconds as people say them: `840 ms`, `3.2 s`, `2 min 5 s`."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes} min {seconds} s"


def number_text(value: float) -> str:
    """A number as an axis or a legend shows it: grouped, without digits that say nothing."""
    if value and (abs(value) >= 1e15 or abs(value) < 1e-4):
        return f"{value:.3g}"
    text = f"{value:,.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else list(value)  # type: ignore[call-overload]  # JSON has no other
