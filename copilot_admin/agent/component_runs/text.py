"""Reads and writes the small forms in which components give rows, links and code."""

from collections.abc import Mapping, Sequence
import json
from math import isfinite
import re
from typing import Any

from protocol.json import Json, JsonObject, is_number

LONGEST_DETAIL = 2_000  # characters; a step is to be glanced at
_SHOWN_NAMES = {"url": "Link", "source": "From", "id": "Number", "category": "Kind"}
_ADDRESS = re.compile(r"(https?://|mailto:)[^\s<>]+", re.IGNORECASE)


def axes(table: Sequence[JsonObject], about: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The columns of a chart: those that it names, else the first one and those with numbers."""
    columns = list(table[0])
    named = [about.get("y_keys")] if isinstance(about.get("y_keys"), str) else about.get("y_keys")
    x = about.get("x_key") if about.get("x_key") in columns else columns[0]
    wanted = named if isinstance(named, list) else [column for column in columns if column != x]
    return str(x), [str(one) for one in wanted if one in columns and _is_numeric(table, one)]


def _is_numeric(table: Sequence[JsonObject], column: str) -> bool:
    values = [row.get(column) for row in table if row.get(column) is not None]
    return bool(values) and all(map(is_number, values))


def rows(value: object) -> list[JsonObject]:
    """The value, if it is a list of flat objects; an empty list otherwise."""
    if not isinstance(value, list) or not all(isinstance(row, dict) and row for row in value):
        return []
    flat = all(not isinstance(cell, dict | list) for row in value for cell in row.values())
    return value if flat else []


def parsed(text: str) -> Json:
    """The JSON value of a text; None when it is none.

    NaN and infinities, which many a library writes, become null: no client can read them.
    """
    try:
        value: Json = json.loads(text, parse_constant=_nothing, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value


def _nothing(constant: str) -> None:
    return None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if isfinite(number) else None


def is_address(url: str) -> bool:
    return _ADDRESS.fullmatch(url) is not None


def link(name: str, url: str, *, image: bool = False) -> str:
    """A link in Markdown; an address that is none stays text."""
    if not is_address(url):
        return f"{plain(name)}\n\n"
    target = url.replace("(", "%28").replace(")", "%29")
    return f"{'!' if image else ''}[{plain(name)}]({target})\n\n"


def plain(text: str) -> str:
    """The text on one line, with nothing in it that Markdown takes for a mark."""
    return re.sub(r"([\\`*_\[\]<>#|!])", r"\\\1", " ".join(text.split()))


def fenced(code: str, language: str = "") -> str:
    """A block of code whose fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}\n\n"


def detail_key(key: str) -> str:
    """The name of a detail that a client shows.

    Source: clients take out details with the names in the table.
    """
    return _SHOWN_NAMES.get(key.lower()) or key[:1].upper() + key[1:].replace("_", " ")


def short(value: object) -> str:
    """The value as text that can be glanced at."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL]} …"
