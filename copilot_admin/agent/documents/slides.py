"""Read presentations (pptx): texts and tables of each slide in reading order, charts, and notes."""

from collections.abc import Iterable, Iterator
from io import BytesIO
import re
from typing import Any

from copilot_admin.agent.documents.document import DocumentPage, Format
from copilot_admin.agent.documents.office import describe_unread_parts, open_archive
from copilot_admin.agent.text import SUPERSCRIPTS

MAX_DEPTH = 10  # of nested groups
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def _read(data: bytes) -> Iterator[DocumentPage]:
    from pptx import Presentation  # 9 MB that the server needn't load

    with open_archive(data) as archive:
        file_notes = describe_unread_parts(archive)
    for number, slide in enumerate(Presentation(BytesIO(data)).slides, start=1):
        notes: list[str] = []
        for run in slide._element.iter(f"{_A}r"):
            if run.rPr is not None and re.match("[1-9]", run.rPr.get("baseline", "")):
                run.text = run.text.translate(SUPERSCRIPTS)
        parts = list(_read_shapes(slide.shapes, notes, depth=0))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            text = slide.notes_slide.notes_text_frame.text.strip()
            parts += [f"[speaker notes] {text}"] if text else []
        if slide._element.get("show") == "0":
            notes.append("it is hidden")
        text = "\n".join(part for part in parts if part.strip())
        slide_notes = [f"slide {number}: {', '.join(dict.fromkeys(notes))}"] if notes else []
        all_notes = [*(file_notes if number == 1 else ()), *slide_notes]
        note = f"[{'; '.join(all_notes)}]" if all_notes else ""
        yield DocumentPage(number=number, text=text, note=note, noun="slide")


def _read_shapes(shapes: Iterable[Any], notes: list[str], *, depth: int) -> Iterator[str]:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    for shape in sorted(shapes, key=lambda one: (one.top or 0, one.left or 0)):
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            if depth < MAX_DEPTH:
                yield from _read_shapes(shape.shapes, notes, depth=depth + 1)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                texts = ("" if cell.is_spanned else cell.text for cell in row.cells)
                yield " | ".join(" ".join(text.split()) for text in texts)
        elif getattr(shape, "has_chart", False):
            yield from _read_chart(shape.chart)
        elif shape.has_text_frame:
            yield shape.text_frame.text.replace("\v", "\n")
        elif shape.shape_type == MSO_SHAPE_TYPE.PICTURE:
            notes.append("pictures were not read")


def _read_chart(chart: Any) -> Iterator[str]:
    title = chart.chart_title.text_frame.text if chart.has_title else ""
    yield f"[chart] {title}".rstrip()
    for plot in chart.plots:
        yield " | ".join(("", *map(str, plot.categories)))
        for series in plot.series:
            values = ("" if value is None else f"{value:g}" for value in series.values)
            yield " | ".join((series.name or "", *values))


SLIDES = Format(
    data_types=("pptx", "pptm", "ppsx"), label="presentation", read=_read, page_word="page"
)
