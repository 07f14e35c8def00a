"""HTML, text, JSON, e-mail, RTF, and files that can't be read."""

from email.message import EmailMessage
from io import BytesIO
import zipfile

from tests.agent.documents.corpus.case import Case
from tests.agent.documents.corpus.spreadsheets import write_xlsx

PAGE = """<!DOCTYPE html><html><head><title>Results 2024</title><style>p {{ color: red }}</style>
<script>track(123456)</script></head><body><nav><a href="/home">Home</a> Menu entry</nav>
<main><h1>Annual results</h1><p>See <a href="https://example.com/report.pdf">the report</a> of
<b>31&nbsp;March</b>.</p>{0}</main></body></html>"""
TABLE = """<table><thead><tr><th>Year<th>Revenue<th>EPS</thead><tbody>
<tr><td>2023<td><td>1.2<tr><td>2024<td>5,000<td></tbody></table>"""
SPANS = """<table><tr><th rowspan="2">Segment</th><th colspan="2">2024</th></tr>
<tr><th>Q1</th><th>Q2</th></tr><tr><td>Retail</td><td>10</td><td>12</td></tr></table>"""


def write_email() -> bytes:
    message = EmailMessage()
    message["From"] = "Ann Lee <ann@example.com>"
    message["To"] = "desk@example.com"
    message["Subject"] = "Figures for März"
    message.set_content("The close was 106.25.\n")
    message.add_alternative("<p>The close was <b>106.25</b>.</p>", subtype="html")
    message.add_attachment(
        b"day,price\nMon,17.5\n", maintype="text", subtype="csv", filename="prices.csv"
    )
    message.add_attachment(
        write_xlsx({"P&L": [["Revenue", 4410]]}),
        maintype="application",
        subtype="octet-stream",
        filename="book.bin",
    )
    message.add_attachment(b"\x89PNG\r\n", maintype="image", subtype="png", filename="logo.png")
    return message.as_bytes()


def write_html_email() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.com", "b@example.com", "Table"
    message.set_content(TABLE, subtype="html")
    return message.as_bytes()


def write_nested_email() -> bytes:
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "c@example.com", "Inner message"
    inner.set_content("Inner figure 318.")
    outer = EmailMessage()
    outer["From"], outer["To"], outer["Subject"] = "a@example.com", "b@example.com", "Outer"
    outer.set_content("Outer figure 205.")
    outer.add_attachment(inner)
    return outer.as_bytes()


def zipped() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "x")
    return file.getvalue()


def html(body: str, encoding: str = "utf-8") -> bytes:
    return PAGE.format(body).encode(encoding)


CASES = (
    Case(
        "page with navigation and links",
        "html",
        lambda: html(""),
        must=(
            "Results 2024",
            "Annual results",
            "See the report (https://example.com/report.pdf) of 31 March.",
        ),
        must_not=("Menu entry", "track", "color"),
    ),
    Case(
        "table with empty cells",
        "html",
        lambda: html(TABLE),
        must=("Year | Revenue | EPS", "2023 |  | 1.2", "2024 | 5,000 |"),
    ),
    Case(
        "table with spans",
        "html",
        lambda: html(SPANS),
        must=("Segment | 2024 |", "| Q1 | Q2", "Retail | 10 | 12"),
        once=("Segment", "2024 |"),
    ),
    Case(
        "HTML saved as xls",
        "xls",
        lambda: f"<table>{TABLE}</table>".encode(),
        must=("Year | Revenue | EPS", "2023 |  | 1.2"),
    ),
    Case(
        "page in Latin 1 that says so",
        "html",
        lambda: '<html><head><meta charset="iso-8859-1"></head><body>Größe 5 €'.encode("cp1252"),
        must=("Größe 5",),
    ),
    Case(
        "RTF",
        "rtf",
        lambda: (
            rb"{\rtf1\ansi\ansicpg1252 Net income {\b 4,410} rose 5 \'80.\par Next \u8364? line}"
        ),
        must=("Net income 4,410 rose 5 €.", "Next € line"),
    ),
    Case(
        "e-mail with attachments",
        "eml",
        write_email,
        must=(
            "From: Ann Lee",
            "Subject: Figures for März",
            "The close was 106.25.",
            "[attachment prices.csv]\nday,price\nMon,17.5",
            "[attachment book.bin, P&L]\nRevenue,4410",
            "logo.png: It is a picture",
        ),
        once=("106.25", "17.5"),
    ),
    Case(
        "e-mail in HTML under another name",
        "txt",
        write_html_email,
        must=("Subject: Table", "Year | Revenue | EPS", "2023 |  | 1.2"),
    ),
    Case(
        "e-mail in an e-mail",
        "eml",
        write_nested_email,
        must=("Outer figure 205.", "Inner message", "Inner figure 318."),
        once=("205", "318"),
    ),
    Case("archive", "docx", zipped, error="Attach the files in it one by one"),
    Case(
        "bytes that are nothing",
        "csv",
        lambda: b"\x00\x01\x02\x03a\0b" * 20,
        error="no document of a known kind",
    ),
    Case("empty text", "txt", lambda: b" \n " * 100, error="It holds no text"),
)
