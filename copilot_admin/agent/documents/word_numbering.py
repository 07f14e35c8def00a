"""Compute the numbers that Word displays before numbered paragraphs, such as "2.1 (b)"."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
import re
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
MAX_STYLES = 20  # that are based on each other


@dataclass(frozen=True, slots=True)
class _Level:
    format: str
    text: str
    start: int


class Numbering:
    """The lists of a document, with their current numbers."""

    def __init__(self, numbering: Any, styles: Any) -> None:
        self._levels = _read_levels(numbering) if numbering is not None else {}
        self._styles = _read_styles(styles) if styles is not None else {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def next_number(self, paragraph: Any) -> str:
        """Return the number before a paragraph; "" if it isn't numbered. Call it in order."""
        found = self._list_of(paragraph)
        if found is None:
            return ""
        list_id, level = found
        abstract, levels = self._levels.get(list_id, ("", {}))
        if level not in levels:
            return ""
        counts = self._counts[abstract]
        counts[level] = counts.get(level, levels[level].start - 1) + 1
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]
        if levels[level].format in ("bullet", "none"):
            return "-" if levels[level].format == "bullet" else ""
        return _PLACE.sub(
            lambda place: self._write_count(counts, levels, int(place[1]) - 1), levels[level].text
        )

    def _list_of(self, paragraph: Any) -> tuple[str, int] | None:
        properties = paragraph.find(f"{_W}pPr")
        if properties is None:
            return None
        list_id, level = _read_list(properties)
        style = properties.find(f"{_W}pStyle")
        name = style.get(f"{_W}val") if style is not None else None
        for _ in range(MAX_STYLES):
            if name is None or (list_id is not None and level is not None):
                break
            style_list, style_level, name = self._styles.get(name, (None, None, None))
            list_id = style_list if list_id is None else list_id
            level = style_level if level is None else level
        return (list_id, level or 0) if list_id and list_id != "0" else None

    @staticmethod
    def _write_count(counts: Mapping[int, int], levels: Mapping[int, _Level], level: int) -> str:
        found = levels.get(level)
        if found is None:
            return ""
        return _write_number(counts.get(level, found.start), found.format)


def _read_levels(root: Any) -> dict[str, tuple[str, dict[int, _Level]]]:
    abstract = {
        one.get(f"{_W}abstractNumId"): {
            int(level.get(f"{_W}ilvl", "0")): _read_level(level) for level in one.iter(f"{_W}lvl")
        }
        for one in root.iter(f"{_W}abstractNum")
    }
    lists = {}
    for one in root.iter(f"{_W}num"):
        name = one.find(f"{_W}abstractNumId")
        key = name.get(f"{_W}val") if name is not None else None
        levels = dict(abstract.get(key, {}))
        is_restarted = False
        for override in one.iter(f"{_W}lvlOverride"):
            index = int(override.get(f"{_W}ilvl", "0"))
            start = _value(override, "startOverride")
            if start and index in levels:
                old = levels[index]
                levels[index] = _Level(old.format, old.text, int(start))
                is_restarted = True
        list_id = one.get(f"{_W}numId", "")
        lists[list_id] = (f"{key}/{list_id}" if is_restarted else str(key), levels)
    return lists


def _read_level(level: Any) -> _Level:
    start = _value(level, "start")
    return _Level(
        _value(level, "numFmt") or "decimal",
        _value(level, "lvlText"),
        int(start) if start.isdigit() else 1,
    )


def _read_styles(root: Any) -> dict[str, tuple[str | None, int | None, str | None]]:
    styles = {}
    for style in root.iter(f"{_W}style"):
        properties = style.find(f"{_W}pPr")
        found = _read_list(properties) if properties is not None else (None, None)
        styles[style.get(f"{_W}styleId", "")] = (*found, _value(style, "basedOn") or None)
    return styles


def _read_list(properties: Any) -> tuple[str | None, int | None]:
    numbering = properties.find(f"{_W}numPr")
    if numbering is None:
        return None, None
    list_id, level = _value(numbering, "numId"), _value(numbering, "ilvl")
    return list_id or None, int(level) if level.isdigit() else None


def _value(element: Any, name: str) -> str:
    found = element.find(f"{_W}{name}")
    return found.get(f"{_W}val", "") if found is not None else ""


def _write_number(number: int, form: str) -> str:
    match form:
        case "lowerLetter" | "upperLetter":
            letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            return letter.upper() if form == "upperLetter" else letter
        case "lowerRoman" | "upperRoman":
            text = ""
            for value, sign in _ROMAN:
                count, number = divmod(number, value)
                text += sign * count
            return text.upper() if form == "upperRoman" else text
        case "decimalZero":
            return f"{number:02}"
        case "bullet" | "none":
            return ""
        case _:
            return str(number)
