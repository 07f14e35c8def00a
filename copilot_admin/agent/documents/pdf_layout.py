"""Group the characters of a PDF page into terms, lines, columns and table rows.

All lengths are in points, from the upper left corner of the rotated page. Tolerances are relative
to the size of a character: 20-point text has gaps within a term that separate terms at 8 points.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TypeAlias
import unicodedata

from copilot_admin.agent.documents.document import Word
from copilot_admin.agent.text import SUPERSCRIPTS

WORD_GAP = 0.15  # in character sizes; adjacent letters touch, a blank is 0.2 to 0.3 wide
CELL_GAP = 0.8  # a wider gap separates cells or columns; justified text stays below it
TABLE_GAP = 0.3  # without the width of a drawn blank, the same within a table
TABLE_GAP_WITHOUT_BLANKS = 0.5  # where none is drawn, as in TeX
SAME_PLACE = 0.12  # bold text is often drawn twice with a small offset
LIGATURES = ("f", "t")  # letters that one glyph may show twice, each with the box of the glyph
MAX_RAISED_SIZE = 0.95  # of a superscript, in sizes of the characters next to it
MIN_RAISED = 0.15  # of its base line above that of the others
DESCENT = 0.21  # of a box below the base line, as Helvetica falls
MIN_COLUMN_LINES = 4
MIN_PROSE_WORDS = 4  # of a line; cells of tables have fewer
MIN_WIDE_SHARE = 0.6  # of the width of a page: a line over more than one column
MIN_PROSE_SHARE = 0.66  # of the words of a column
MAX_ROW_GAP = 2.0  # heights of a line between lines of one cell, or of a column
MAX_TABLE_ROW_GAP = 4.0  # the same between rows with several cells
MAX_WRAPPED_LINES = 2  # lines of one cell in a row, between rows with several cells

Box: TypeAlias = tuple[float, float, float, float]  # x0, top, x1, bottom


@dataclass(slots=True)
class Character:
    """A drawn character; `angle` is 0, 90, 180 or 270 degrees counter-clockwise, else -1."""

    text: str
    box: Box
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
    starts: Sequence[int] = ()  # indexes of words that begin a cell if it is in a table

    @property
    def text(self) -> str:
        words = [word.text for word in self.words]
        turned = sum(_is_right_to_left(word) for word in words)
        return " ".join(words[::-1] if turned * 2 > len(words) else words)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


_Rows: TypeAlias = Sequence[Sequence[_Segment]]


def reconstruct_text(characters: Iterable[Character]) -> tuple[str, list[Word]]:
    """Return the text of a page in reading order, and its terms with their boxes.

    Upright text precedes rotated text; both are in reading order.
    """
    texts: list[str] = []
    words: list[Word] = []
    unique = sorted(_remove_repeated(characters), key=lambda one: one.angle % 360)
    for angle, group in groupby(unique, key=lambda one: one.angle):
        if angle < 0:
            texts.append("".join(one.text for one in group).strip())
            continue
        turned = [replace(one, box=_turn(one.box, angle)) for one in group]
        has_blanks = any(one.text.isspace() for one in turned)
        gap = TABLE_GAP if has_blanks else TABLE_GAP_WITHOUT_BLANKS
        segments = [one for line in _split_lines(turned) for one in _split_segments(line, gap)]
        texts.append(_order(segments))
        for word in (word for one in segments for word in one.words):
            box = _turn(word[1:], -angle % 360)
            words.append(Word(word.text, *(round(value, 2) for value in box)))
    return "\n".join(filter(None, texts)), words


def _remove_repeated(characters: Iterable[Character]) -> Iterator[Character]:
    seen: dict[tuple[str, int, int], list[Box]] = {}
    last: Character | None = None
    for one in characters:
        reach = one.size * SAME_PLACE or 1
        x, top, _, _ = one.box
        column, row = int(x / reach), int(top / reach)
        near = [
            other
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            for other in seen.get((one.text, column + dx, row + dy), ())
            if abs(other[0] - x) < reach and abs(other[1] - top) < reach
        ]
        is_ligature = (
            last and one.text in LIGATURES and (one.text, one.box) == (last.text, last.box)
        )
        if not near or is_ligature or one.text.isspace():
            last = one
            seen.setdefault((one.text, column, row), []).append(one.box)
            yield one


def _turn(box: Box, angle: int) -> Box:
    """Return a box in a frame in which text of this angle runs from left to right."""
    x0, top, x1, bottom = box
    match angle:
        case 90:
            return -bottom, x0, -top, x1
        case 180:
            return -x1, -bottom, -x0, -top
        case 270:
            return top, -x1, bottom, -x0
        case _:
            return box


def _split_lines(characters: Sequence[Character]) -> Iterator[list[Character]]:
    """Group characters whose heights overlap by half; super- and subscripts are in their line."""
    lines: list[tuple[float, float, list[Character]]] = []
    for one in sorted(characters, key=lambda each: each.box[1] + each.box[3]):
        _, top, _, bottom = one.box
        for index in range(len(lines) - 1, max(len(lines) - 3, -1), -1):
            line_top, line_bottom, line = lines[index]
            overlap = min(line_bottom, bottom) - max(line_top, top)
            if overlap * 2 > min(bottom - top, line_bottom - line_top):
                line.append(one)
                if bottom - top > line_bottom - line_top:
                    lines[index] = top, bottom, line
                break
        else:
            lines.append((top, bottom, [one]))
    for _, _, line in lines:
        yield sorted(line, key=lambda each: each.box[0])


def _split_segments(line: Sequence[Character], table_gap: float) -> Iterator[_Segment]:
    word: list[Character] = []
    words: list[Word] = []
    before: Character | None = None  # the last one of the word before, in the same segment
    starts: list[int] = []
    blank: float | None = None  # width of those since the last other character
    for one in line:
        if one.text.isspace():
            blank = (blank or 0.0) + one.box[2] - one.box[0]
            continue
        size = max(one.size, word[-1].size) if word else 0
        gap = (one.box[0] - word[-1].box[2]) / size if size else 0
        if word and (blank is not None or gap > WORD_GAP):
            words.append(_make_word(word, before))
            before, word = word[-1], []
            if gap > CELL_GAP:
                yield _make_segment(words, starts)
                before, words, starts = None, [], []
            elif size and gap - (blank or 0.0) / size > table_gap:
                starts.append(len(words))
        blank = None
        word.append(one)
    if word:
        yield _make_segment([*words, _make_word(word, before)], starts)


def _make_word(characters: Sequence[Character], before: Character | None) -> Word:
    x0, top, x1, bottom = zip(*(one.box for one in characters), strict=True)
    text = _in_logical_order("".join(_raised(characters, before)))
    return Word(text, min(x0), min(top), max(x1), max(bottom))


def _raised(characters: Sequence[Character], before: Character | None) -> Iterator[str]:
    """Yield the texts; digits of superscripts become such characters."""
    base = max([*characters, *([before] if before else [])], key=lambda one: one.size)
    for one in characters:
        height = (base.box[3] - DESCENT * base.size) - (one.box[3] - DESCENT * one.size)
        is_raised = height > MIN_RAISED * base.size
        is_small = one.size < MAX_RAISED_SIZE * base.size
        yield one.text.translate(SUPERSCRIPTS) if is_raised and is_small else one.text


def _make_segment(words: list[Word], starts: Sequence[int] = ()) -> _Segment:
    top, bottom = min(word.top for word in words), max(word.bottom for word in words)
    return _Segment(words, words[0].x0, top, words[-1].x1, bottom, starts)


def _is_right_to_left(text: str) -> bool:
    directions = map(unicodedata.bidirectional, text)
    return not text.isascii() and any(one in ("R", "AL") for one in directions)


def _in_logical_order(text: str) -> str:
    """Reverse Hebrew or Arabic text, which is drawn from right to left, but not its digits."""
    if not _is_right_to_left(text):
        return text
    runs = ["".join(run) for _, run in groupby(reversed(text), key=str.isdigit)]
    return "".join(run[::-1] if run.isdigit() else run for run in runs)


def _order(segments: Sequence[_Segment]) -> str:
    """Return the text of a page: columns of prose one after the other, tables row by row.

    A band of two columns ends at a row that crosses their gutter, at a table and at a wide gap, as
    before a footer.
    """
    rows = _group_rows(segments)
    tables = _find_table_rows(rows)
    gutter = _find_gutter(rows)
    if gutter is None:
        parts = _split_parts(rows)
        if len(parts) == 1 or not any(map(_find_gutter, parts)):
            return _write_rows(rows)
        return "\n".join(_order([one for row in part for one in row]) for part in parts)
    texts: list[str] = []
    sides: tuple[list[_Segment], list[_Segment]] = ([], [])
    table: list[Sequence[_Segment]] = []

    def end_band() -> None:
        texts.extend(_order([*side]) for side in sides if side)
        texts.extend([_write_rows(table)] if table else [])
        for band in (*sides, table):
            band.clear()

    before: Sequence[_Segment] = rows[0]
    for row, is_table in zip(rows, tables, strict=True):
        is_crossing = any(one.x0 < gutter < one.x1 for one in row)
        if is_table != bool(table) or is_crossing or _is_apart(before, row):
            end_band()
        before = row
        if is_table or is_crossing:
            table.append(row)
            continue
        for one in row:
            sides[one.x0 >= gutter].append(one)
    end_band()
    return "\n".join(texts)


def _split_parts(rows: _Rows) -> list[_Rows]:
    """Split a page where lines over most of its width begin or end."""
    segments = [one for row in rows for one in row]
    width = max(one.x1 for one in segments) - min(one.x0 for one in segments)

    def is_wide(row: Sequence[_Segment]) -> bool:
        return len(row) == 1 and row[0].x1 - row[0].x0 > MIN_WIDE_SHARE * width

    return [list(part) for _, part in groupby(rows, key=is_wide)]


def _group_rows(segments: Sequence[_Segment]) -> list[list[_Segment]]:
    rows: list[list[_Segment]] = []
    for one in sorted(segments, key=lambda each: each.middle):
        last = rows[-1][0] if rows else None
        if last and one.middle - last.middle < (last.bottom - last.top) / 2:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [sorted(row, key=lambda each: each.x0) for row in rows]


def _is_apart(
    above: Sequence[_Segment], below: Sequence[_Segment], *, limit: float = MAX_ROW_GAP
) -> bool:
    return below[0].top - above[0].bottom > limit * (above[0].bottom - above[0].top)


def _find_table_rows(rows: _Rows) -> list[bool]:
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


def _find_gutter(rows: _Rows) -> float | None:
    """Return the x of the gap between two columns of prose that the fewest lines cross, if any."""
    tables = _find_table_rows(rows)
    prose = [row for row, is_table in zip(rows, tables, strict=True) if not is_table]
    segments = [one for row in prose for one in row]
    best, fewest = None, len(segments) // 4 + 1
    for gutter in sorted({one.x0 - 0.5 for one in segments}):
        left = [one for one in segments if one.x1 <= gutter]
        right = [one for one in segments if one.x0 >= gutter]
        crossing = len(segments) - len(left) - len(right)
        is_possible = crossing < fewest and min(len(left), len(right)) >= MIN_COLUMN_LINES
        if is_possible and _are_columns(left, right):
            best, fewest = gutter, crossing
    return best


def _are_columns(*sides: Sequence[_Segment]) -> bool:
    """Return true if both sides are prose, and most of one is next to the other."""
    is_prose = all(map(_is_prose, sides))
    tops = [min(one.top for one in side) for side in sides]
    bottoms = [max(one.bottom for one in side) for side in sides]
    height = min(bottom - top for top, bottom in zip(tops, bottoms, strict=True))
    return is_prose and min(bottoms) - max(tops) > height / 2


def _is_prose(side: Sequence[_Segment]) -> bool:
    """Return true if most words are in lines with several, even with some cells of a table."""
    counts = [len(one.words) for one in side]
    return sum(one for one in counts if one >= MIN_PROSE_WORDS) > MIN_PROSE_SHARE * sum(counts)


def _write_rows(rows: _Rows) -> str:
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


def _find_table_end(rows: _Rows, start: int) -> int:
    """Return the index behind the last row of a table that begins at a row, or `start`."""
    end = start
    for index in range(start, len(rows)):
        are_rows = index > start and min(len(rows[index - 1]), len(rows[index])) > 1
        limit = MAX_TABLE_ROW_GAP if are_rows else MAX_ROW_GAP
        if index > start and _is_apart(rows[index - 1], rows[index], limit=limit):
            break
        if len(rows[index]) > 1:
            end = index + 1
        elif index - end >= MAX_WRAPPED_LINES or end == start:
            break
    return end


def _write_table(rows: _Rows) -> list[str]:
    rows = [[cell for one in row for cell in _split_cells(one)] for row in rows]
    columns: list[tuple[float, float]] = []
    cells = [one for row in rows for one in row]
    for one in sorted(cells, key=lambda each: each.x1 - each.x0):
        touched = [column for column in columns if _touch((one.x0, one.x1), column)]
        others = [column for column in columns if column not in touched]
        wider = min([one.x0, *(x for x, _ in touched)]), max([one.x1, *(x for _, x in touched)])
        if len(touched) <= 1 and not any(_touch(wider, other) for other in others):
            columns = [*others, wider]
    columns.sort()
    lines = []
    for row in rows:
        texts = [""] * len(columns)
        for one in row:
            middle = (one.x0 + one.x1) / 2
            distances = [abs(sum(column) / 2 - middle) for column in columns]
            touched = [column for column in columns if _touch((one.x0, one.x1), column)]
            place = columns.index(touched[0]) if touched else distances.index(min(distances))
            texts[place] = f"{texts[place]} {one.text}".strip()
        lines.append(" | ".join(texts))
    return lines


def _split_cells(segment: _Segment) -> Iterator[_Segment]:
    places = [0, *segment.starts, len(segment.words)]
    for start, end in pairwise(places):
        yield _make_segment(segment.words[start:end])


def _touch(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
