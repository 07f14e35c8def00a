"""Compute the numbers that Word displays before numbered paragraphs, such as "2.1 (b)"."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
import re
from typing import Any

from copilot_admin.agent.documents.office import W, value_in

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
        self._lists = _read_lists(numbering)
        self._styles = {one.get(f"{W}styleId"): one for one in styles.iter(f"{W}style")}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def next_number(self, paragraph: Any) -> str:
        """Return the number before a paragraph; "" if it isn't numbered. Call it in order."""
        list_id, depth = self._find_list(paragraph)
        counter, levels = self._lists.get(list_id, ("", {}))
        if depth not in levels:
            return ""
        level, counts = levels[depth], self._counts[counter]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]
        if level.format in ("bullet", "none"):
            return "-" if level.format == "bullet" else ""
        return _PLACE.sub(lambda place: _write_count(counts, levels, int(place[1]) - 1), level.text)

    def _find_list(self, paragraph: Any) -> tuple[str, int]:
        """Return the list of a paragraph and the depth in it, which a style may define."""
        list_id, level = (value_in(paragraph, f"pPr/numPr/{name}") for name in ("numId", "ilvl"))
        style = self._styles.get(value_in(paragraph, "pPr/pStyle"))
        for _ in range(MAX_STYLES):
            if style is None or (list_id and level):
                break
            list_id = list_id or value_in(style, "pPr/numPr/numId")
            level = level or value_in(style, "pPr/numPr/ilvl")
            style = self._styles.get(value_in(style, "basedOn"))
        return list_id, int(level or 0)


def _read_lists(root: Any) -> dict[str, tuple[str, dict[int, _Level]]]:
    """Return the levels of each list, and the counter that it shares with lists of its kind."""
    kinds = {
        kind.get(f"{W}abstractNumId"): {
            int(level.get(f"{W}ilvl", "0")): _Level(
                value_in(level, "numFmt") or "decimal",
                value_in(level, "lvlText"),
                int(value_in(level, "start") or 1),
            )
            for level in kind.iter(f"{W}lvl")
        }
        for kind in root.iter(f"{W}abstractNum")
    }
    lists = {}
    for one in root.iter(f"{W}num"):
        list_id, counter = one.get(f"{W}numId", ""), value_in(one, "abstractNumId")
        levels = dict(kinds.get(counter, {}))
        for override in one.iter(f"{W}lvlOverride"):
            depth, start = int(override.get(f"{W}ilvl", "0")), value_in(override, "startOverride")
            if start and depth in levels:
                levels[depth] = replace(levels[depth], start=int(start))
                counter = f"list {list_id}"
        lists[list_id] = (counter, levels)
    return lists


def _write_count(counts: Mapping[int, int], levels: Mapping[int, _Level], depth: int) -> str:
    level = levels.get(depth)
    if level is None:
        return ""
    number, form = counts.get(depth, level.start), level.format
    match form:
        case "lowerLetter" | "upperLetter":
            text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        case "lowerRoman" | "upperRoman":
            text = ""
            for value, sign in _ROMAN:
                count, number = divmod(number, value)
                text += sign * count
        case "decimalZero":
            text = f"{number:02}"
        case "bullet" | "none":
            text = ""
        case _:
            text = str(number)
    return text.upper() if form.startswith("upper") else text
