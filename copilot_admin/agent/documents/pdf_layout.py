"""Group the characters of a PDF page into terms, lines, columns and table rows.

All lengths are in points, from the upper left corner of the rotated page. Tolerances are relative
to the size of a character: 20-point text has gaps within a term that separate terms at 8 points.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median
import unicodedata

from copilot_admin.agent.documents.document import Word

WORD_GAP = 0.15  # in character sizes; adjacent letters touch, a blank is 0.2 to 0.3 wide
CELL_GAP = 0.8  # a wider gap separates cells or columns; justified text stays below it
SAME_PLACE = 0.12  # bold text is often drawn twice with a small offset
MIN_COLUMN_LINES = 4
MIN_PROSE_WORDS = 4  # of a line; cells of tables have fewer
MAX_ROW_GAP = 2.0  # heights of a line between rows of one table
MAX_WRAPPED_LINES = 2  # lines of one cell in a row, between rows with several cells


@dataclass(slots=True)
class Character:
    """A drawn character; `angle` is 0, 90, 180 or 270 degrees counter-clockwise, else -1."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    angle: int = 0


@dataclass(slots=True)
class _Segment:
    """Part of a line without a wide gap, in the upright frame of its text."""

    words: list[Word]
    x0: float
    top: float
    x1: float
    bottom: float

    @property
    def text(self) -> str:
        return " ".join(_in_reading_order([word.text for word in self.words]))

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass(slots=True)
class _Line:
    top: float
    bottom: float
    characters: list[Character] = field(default_factory=list)


def reconstruct_text(characters: Iterable[Character]) -> tuple[str, list[Word]]:
    """Return the text of a page in reading order, and its terms with their boxes.

    Upright text precedes rotated text; both are in reading order.
    """
    texts: list[str] = []
    words: list[Word] = []
    unique = sorted(_remove_repeated(characters), key=lambda one: one.angle % 360)
    for angle, group in groupby(unique, key=lambda one: one.angle):
        if angle < 0:
            text = "".join(one.text for one in group).strip()
            texts.append(text)
            continue
        turned = [_turn(one, angle) for one in group]
        segments = [one for line in _split_lines(turned) for one in _split_segments(line)]
        texts.append(_order(segments))
        words += [_turn_back(word, angle) for one in segments for word in one.words]
    return "\n".join(filter(None, texts)), words


def _remove_repeated(characters: Iterable[Character]) -> Iterator[Character]:
    seen: dict[tuple[str, int, int], list[Character]] = {}
    for one in characters:
        reach = one.size * SAME_PLACE or 1
        column, row = int(one.x0 / reach), int(one.top / reach)
        places = [(one.text, column + dx, row + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        if not one.text.isspace() and any(
            abs(other.x0 - one.x0) < reach and abs(other.top - one.top) < reach
            for place in places
            for other in seen.get(place, ())
        ):
            continue
        seen.setdefault((one.text, column, row), []).append(one)
        yield one


def _turn(one: Character, angle: int) -> Character:
    """Return the character in a frame in which its text runs from left to right."""
    x0, top, x1, bottom = _turn_box(one.x0, one.top, one.x1, one.bottom, angle)
    return Character(one.text, x0, top, x1, bottom, one.size, angle)


def _turn_back(word: Word, angle: int) -> Word:
    back = {0: 0, 90: 270, 180: 180, 270: 90}[angle]
    return Word(word.text, *_turn_box(word.x0, word.top, word.x1, word.bottom, back))


def _turn_box(
    x0: float, top: float, x1: float, bottom: float, angle: int
) -> tuple[float, float, float, float]:
    match angle:
        case 90:
            return -bottom, x0, -top, x1
        case 180:
            return -x1, -bottom, -x0, -top
        case 270:
            return top, -x1, bottom, -x0
        case _:
            return x0, top, x1, bottom


def _split_lines(characters: Sequence[Character]) -> Iterator[list[Character]]:
    """Group characters whose heights overlap by half; super- and subscripts are in their line."""
    lines: list[_Line] = []
    for one in sorted(characters, key=lambda each: each.top + each.bottom):
        height = one.bottom - one.top
        for line in lines[-1:-3:-1]:
            overlap = min(line.bottom, one.bottom) - max(line.top, one.top)
            if overlap * 2 > min(height, line.bottom - line.top):
                line.characters.append(one)
                if height > line.bottom - line.top:
                    line.top, line.bottom = one.top, one.bottom
                break
        else:
            lines.append(_Line(one.top, one.bottom, [one]))
    for line in lines:
        yield sorted(line.characters, key=lambda each: each.x0)


def _split_segments(line: Sequence[Character]) -> Iterator[_Segment]:
    word: list[Character] = []
    words: list[Word] = []
    is_after_blank = False
    for one in line:
        if one.text.isspace():
            is_after_blank = True
            continue
        gap = (one.x0 - word[-1].x1) / (max(one.size, word[-1].size) or 1) if word else 0
        if word and (is_after_blank or gap > WORD_GAP):
            words.append(_make_word(word))
            word = []
            if gap > CELL_GAP:
                yield _make_segment(words)
                words = []
        is_after_blank = False
        word.append(one)
    if word:
        words.append(_make_word(word))
    if words:
        yield _make_segment(words)


def _make_word(characters: Sequence[Character]) -> Word:
    return Word(
        _in_logical_order("".join(one.text for one in characters)),
        min(one.x0 for one in characters),
        min(one.top for one in characters),
        max(one.x1 for one in characters),
        max(one.bottom for one in characters),
    )


def _make_segment(words: list[Word]) -> _Segment:
    return _Segment(
        words,
        words[0].x0,
        min(word.top for word in words),
        words[-1].x1,
        max(word.bottom for word in words),
    )


def _is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(one) in ("R", "AL") for one in text)


def _in_logical_order(text: str) -> str:
    """Reverse Hebrew or Arabic text, which is drawn from right to left, but not its digits."""
    if text.isascii() or not _is_right_to_left(text):
        return text
    runs = ["".join(run) for _, run in groupby(reversed(text), key=str.isdigit)]
    return "".join(run[::-1] if run.isdigit() else run for run in runs)


def _in_reading_order(words: list[str]) -> list[str]:
    turned = sum(_is_right_to_left(word) for word in words if not word.isascii())
    return words[::-1] if turned * 2 > len(words) else words


def _order(segments: Sequence[_Segment]) -> str:
    """Return the text of a page: columns of prose one after the other, tables row by row.

    A band of two columns ends at a row that crosses their gutter, at a table and at a wide gap, as
    before a footer.
    """
    rows = _group_rows(segments)
    gutter = _find_gutter(segments)
    if gutter is None:
        return _write_rows(rows)
    parts: list[str] = []
    sides: tuple[list[_Segment], list[_Segment]] = ([], [])
    table: list[Sequence[_Segment]] = []

    def end_band() -> None:
        parts.extend(_order([*side]) for side in sides if side)
        parts.extend([_write_rows(table)] if table else [])
        for band in (*sides, table):
            band.clear()

    before: Sequence[_Segment] = rows[0]
    for row, is_table in zip(rows, _find_table_rows(rows), strict=True):
        is_crossing = any(one.x0 < gutter < one.x1 for one in row)
        if is_table != bool(table) or is_crossing or _is_apart(before[0], row[0]):
            end_band()
        before = row
        if is_table or is_crossing:
            table.append(row)
            continue
        for one in row:
            sides[one.x0 >= gutter].append(one)
    end_band()
    return "\n".join(parts)


def _is_apart(above: _Segment, below: _Segment) -> bool:
    return below.top - above.bottom > MAX_ROW_GAP * (above.bottom - above.top)


def _find_table_rows(rows: Sequence[Sequence[_Segment]]) -> list[bool]:
    """Return the rows of tables that span both columns, if there are two in succession.

    After its label such a row has only short cells; a column of prose has a longer text.
    """
    found = [
        len(row) > 1
        and all(len(one.words) < MIN_PROSE_WORDS for one in row[1:])
        and (len(row) > 2 or not any(map(str.isalpha, row[1].text)))
        for row in rows
    ]
    padded = [False, *found, False]
    return [is_row and (padded[index] or padded[index + 2]) for index, is_row in enumerate(found)]


def _find_gutter(segments: Sequence[_Segment]) -> float | None:
    """Return the x of a gap between two columns of prose, if there is one."""
    if len(segments) < 2 * MIN_COLUMN_LINES:
        return None
    best: tuple[int, float] | None = None
    edges = sorted({one.x0 for one in segments})
    for x in edges:
        gutter = x - 0.5
        left = [one for one in segments if one.x1 <= gutter]
        right = [one for one in segments if one.x0 >= gutter]
        crossing = len(segments) - len(left) - len(right)
        if min(len(left), len(right)) < MIN_COLUMN_LINES or crossing * 4 > len(segments):
            continue
        if best is not None and crossing >= best[0]:
            continue
        if _is_prose(left) and _is_prose(right) and _overlap(left, right):
            best = crossing, gutter
    return best[1] if best else None


def _is_prose(segments: Sequence[_Segment]) -> bool:
    return median(len(one.words) for one in segments) >= MIN_PROSE_WORDS


def _overlap(left: Sequence[_Segment], right: Sequence[_Segment]) -> bool:
    top = max(min(one.top for one in side) for side in (left, right))
    bottom = min(max(one.bottom for one in side) for side in (left, right))
    height = min(
        max(one.bottom for one in side) - min(one.top for one in side) for side in (left, right)
    )
    return bottom - top > height / 2


def _write_rows(rows: Sequence[Sequence[_Segment]]) -> str:
    lines: list[str] = []
    index = 0
    while index < len(rows):
        end = _find_table_end(rows, index)
        if end - index > 1:
            lines += _write_table(rows[index:end])
        else:
            lines.append("  ".join(one.text for one in rows[index]))
        index = max(end, index + 1)
    return "\n".join(lines)


def _group_rows(segments: Sequence[_Segment]) -> list[list[_Segment]]:
    rows: list[list[_Segment]] = []
    for one in sorted(segments, key=lambda each: each.middle):
        last = rows[-1][0] if rows else None
        if last and one.middle - last.middle < (last.bottom - last.top) / 2:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [sorted(row, key=lambda each: each.x0) for row in rows]


def _find_table_end(rows: Sequence[Sequence[_Segment]], start: int) -> int:
    """Return the index behind the last row of a table that begins at a row, or `start`."""
    end = start
    for index in range(start, len(rows)):
        if index > start and _is_apart(rows[index - 1][0], rows[index][0]):
            break
        if len(rows[index]) > 1:
            end = index + 1
        elif index - end >= MAX_WRAPPED_LINES or end == start:
            break
    return end


def _write_table(rows: Sequence[Sequence[_Segment]]) -> list[str]:
    columns: list[tuple[float, float]] = []
    cells = [one for row in rows for one in row]
    for one in sorted(cells, key=lambda each: each.x1 - each.x0):
        touched = [index for index, column in enumerate(columns) if _touches(one, column)]
        if not touched:
            columns.append((one.x0, one.x1))
        elif len(touched) == 1:
            x0, x1 = columns[touched[0]]
            wider = min(x0, one.x0), max(x1, one.x1)
            others = [column for column in columns if column != (x0, x1)]
            if not any(wider[0] < other[1] and other[0] < wider[1] for other in others):
                columns[touched[0]] = wider
    columns.sort()
    lines = []
    for row in rows:
        texts = [""] * len(columns)
        for one in row:
            touched = [index for index, column in enumerate(columns) if _touches(one, column)]
            place = touched[0] if touched else _nearest(one, columns)
            texts[place] = f"{texts[place]} {one.text}".strip()
        lines.append(" | ".join(texts))
    return lines


def _touches(one: _Segment, column: tuple[float, float]) -> bool:
    return one.x0 < column[1] and column[0] < one.x1


def _nearest(one: _Segment, columns: Sequence[tuple[float, float]]) -> int:
    middle = (one.x0 + one.x1) / 2
    return min(range(len(columns)), key=lambda index: abs(sum(columns[index]) / 2 - middle))
