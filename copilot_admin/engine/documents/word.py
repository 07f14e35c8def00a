"""Word documents: paragraphs and tables in their order."""

from collections.abc import Iterator
from io import BytesIO

from docx import Document as WordDocument
from docx.opc.exceptions import OpcError
from docx.table import Table

from copilot_admin.engine.documents.registry import DocumentPage, Format, check_archive


def _read(data: bytes) -> Iterator[DocumentPage]:
    check_archive(data)
    try:
        document = WordDocument(BytesIO(data))
    except (OpcError, SyntaxError) as error:  # what lxml raises is a SyntaxError
        raise ValueError("no Word document") from error
    parts = [
        _table(one) if isinstance(one, Table) else one.text for one in document.iter_inner_content()
    ]
    yield DocumentPage(number=1, text="\n".join(part for part in parts if part.strip()))


def _table(table: Table) -> str:
    return "\n".join(" | ".join(cell.text.strip() for cell in row.cells) for row in table.rows)


WORD = Format(data_types=("docx",), label="Word document", read=_read)
