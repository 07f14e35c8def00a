"""Whatever a file asks for, the server stays small, and who asked is told in words."""

import asyncio
from contextlib import suppress
import json
import subprocess
import sys

import pytest

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.files.file_reader import BUSY, DAMAGED, POOL, SMALLER, harmless_png
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import FileRules
from copilot_admin.agent.values.answer_request import FileRead
from copilot_admin.agent.worker_processes import FailureReason, TaskFailed, WorkersBusy
from protocol.models import DataItem, HumanMessage, ResultMessage, SourceData
from tests.agent.answer_requests import make_query
from tests.agent.files.hostile_files import READ, REFUSED
from tests.agent.files.sample_files import SENTENCE, base64, docx, pdf
from tests.agent.files.sample_images import image

LARGE = "It takes more memory to read than one file may. "
WORKBOOK = f"{LARGE}Delete cells that stand far away from the rest, or attach a part of it, or CSV."
# Reads the files named on its input, as a server would, in a process whose memory is its own.
SERVER = """
import asyncio, json, sys
from pathlib import Path
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import FileRules
from tests.agent.files.test_file_reader import asked

async def main():
    sentences = {}
    for name, (kind, path) in json.load(sys.stdin).items():
        query = asked((kind, Path(path).read_text()))
        _, [file] = await with_files_read(query, fetch=None, rules=FileRules(sees_images=True))
        sentences[name] = file.fault
    return sentences

sentences = asyncio.run(main())
[peak] = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM:" in line]
print(json.dumps([sentences, int(peak.split()[1]) / 1024]))
"""


def asked(*files):
    """A question with these files, in base64."""
    items = tuple(
        DataItem(content=content, data_format={"data_type": kind, "filename": f"file.{kind}"})
        for kind, content in files
    )
    return make_query(HumanMessage("q"), ResultMessage("get_widget_data", {}, (SourceData(items),)))


def nowhere(url):
    raise AssertionError("nothing is linked")


def files_of(*files, **rules):
    rules = FileRules(sees_images=True, **rules)
    return asyncio.run(with_files_read(asked(*files), fetch=nowhere, rules=rules))[1]


# One of each kind that takes too much memory, unpacks to too much, or lies: those made quickly.
QUICKLY_MADE = (
    "docx, 20,000 parts",
    "docx, a lying directory",
    "png, says 60,000 by 60,000",
    "png, says 40 million and holds one row",
)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(QUICKLY_MADE, id="those made quickly"),
        pytest.param(tuple(REFUSED), id="all", marks=pytest.mark.nightly),
    ],
)
def test_every_hostile_file_is_refused_while_the_server_stays_small(tmp_path, names):
    paths = {}
    for name in names:
        kind, made = REFUSED[name]
        path = tmp_path / f"{len(paths)}.txt"
        path.write_text(base64(made()))
        paths[name] = (kind, str(path))
    done = subprocess.run(
        [sys.executable, "-c", SERVER], input=json.dumps(paths).encode(), capture_output=True
    )
    sentences, megabytes = json.loads(done.stdout)
    assert list(sentences) == list(names)
    assert all("could not be read" in sentence for sentence in sentences.values())
    assert megabytes < 400


@pytest.mark.parametrize(
    "name",
    [
        "docx, 300,000 paragraphs",
        "pdf, one page 1,000 times",
    ],
)
def test_what_is_only_long_is_read_as_far_as_it_goes(name):
    kind, made = READ[name]
    [file] = files_of((kind, base64(made())))
    assert file.fault == ""


def test_texts_that_are_too_long_together_are_told(monkeypatch):
    monkeypatch.setattr("copilot_admin.agent.files.reading.MAX_TEXT", len(SENTENCE))
    first, second = files_of(*(("docx", base64(docx(one))) for one in (SENTENCE, "More.")))
    assert first.fault == ""
    assert second.fault.endswith("Together with newer files it has too much text. Attach fewer.")


def test_files_that_take_too_long_together_are_told(monkeypatch):
    monkeypatch.setattr("copilot_admin.agent.files.reading.MAX_SECONDS", 0)
    [file] = files_of(("pdf", base64(pdf([SENTENCE]))))
    assert file.fault == (
        "The file 'file.pdf' could not be read. All files of a question may take 0 seconds. "
        "Attach fewer."
    )


def test_a_server_that_reads_as_many_files_as_it_can_says_so(monkeypatch):
    async def busy(*order, on_reply):
        raise WorkersBusy

    monkeypatch.setattr(POOL, "run", busy)
    [file] = files_of(("pdf", base64(pdf([SENTENCE]))))
    assert file.fault == f"The file 'file.pdf' could not be read. {BUSY}"


def test_a_question_that_is_given_up_gives_up_its_files(monkeypatch):
    given_up = []

    async def never(*order, on_reply):
        try:
            await asyncio.Future()
        finally:
            given_up.append(order[0]["name"])

    async def leave():
        reading = asyncio.create_task(
            with_files_read(asked(("pdf", REPORT), ("pdf", OTHER)), fetch=nowhere)
        )
        for _ in range(5):
            await asyncio.sleep(0)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading

    monkeypatch.setattr(POOL, "run", never)
    asyncio.run(leave())
    assert given_up == ["file.pdf"] * 2


REPORT, OTHER = (base64(pdf([line])) for line in ("one", "two"))


def replying(*replies):
    async def carry_out(order, body, *, on_reply):
        for reply in replies:
            try:
                on_reply(reply)
            except ValueError as error:
                raise TaskFailed(FailureReason.DAMAGE) from error

    return carry_out


def losing(loss, *replies):
    async def carry_out(order, body, *, on_reply):
        for reply in replies:
            on_reply(reply)
        raise TaskFailed(loss)

    return carry_out


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {"size": "many"},
        {"page": {"number": 1, "text": "a", "words": [["a", 1, 2, 3, "x"]]}},
        {"page": {"number": 1}},
        {"picture": ["a", 1, 2]},
        [],
    ],
)
def test_a_reply_of_a_process_that_was_taken_over_is_not_believed(reply, monkeypatch):
    monkeypatch.setattr(POOL, "run", replying(reply))
    [file] = files_of(("pdf", REPORT))
    assert file.fault == f"The file 'file.pdf' could not be read. {DAMAGED}"


@pytest.mark.parametrize(
    ("kind", "loss", "why"),
    [
        ("pdf", FailureReason.DAMAGE, DAMAGED),
        (
            "pdf",
            FailureReason.TIME,
            "It takes longer to read than one file may. Attach a part of it.",
        ),
        (
            "pdf",
            FailureReason.MEMORY,
            "It takes more memory to read than one file may. Attach a part of it.",
        ),
        ("xlsx", FailureReason.MEMORY, WORKBOOK),
        ("png", FailureReason.TIME, f"It takes longer to read than one file may. {SMALLER}"),
        ("png", FailureReason.UNKNOWN, "The server could not read it just now. Ask again."),
    ],
)
def test_who_asked_is_told_what_to_do_about_a_file_that_was_lost(kind, loss, why, monkeypatch):
    async def lost(*order, on_reply):
        raise TaskFailed(loss)

    monkeypatch.setattr(POOL, "run", lost)
    [file] = files_of((kind, REPORT))
    assert file.fault == f"The file 'file.{kind}' could not be read. {why}"


PAGE = {"page": {"number": 1, "text": "It pays.", "note": "[page 1: a note]"}}


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        (FailureReason.DAMAGE, "is damaged"),
        (FailureReason.TIME, "takes longer to read than one file may"),
        (FailureReason.MEMORY, "takes more memory to read than one file may"),
    ],
)
def test_pages_that_were_read_before_a_process_was_lost_are_shown_with_why_no_more_are(
    loss, why, monkeypatch
):
    monkeypatch.setattr(POOL, "run", losing(loss, {"size": 9}, {"kind": "pdf"}, PAGE))
    query, [file] = asyncio.run(with_files_read(asked(("pdf", REPORT)), fetch=nowhere))
    note = f"only the first page was read: what follows {why}; page 1: a note"
    assert file == FileRead(name="file.pdf", kind="pdf", size=9, pages=1, note=note)
    [result] = query.messages[-1].data
    assert result.items[0].content == f"It pays.\n[{note}]"


@pytest.mark.parametrize(
    ("loss", "replies"),
    [
        (FailureReason.UNKNOWN, [PAGE]),
        (FailureReason.TIME, [{"page": {"number": 1, "text": " "}}]),
    ],
)
def test_pages_are_not_shown_where_asking_again_may_help_or_where_they_are_blank(
    loss, replies, monkeypatch
):
    monkeypatch.setattr(POOL, "run", losing(loss, *replies))
    [file] = files_of(("pdf", REPORT))
    assert file.fault.startswith("The file 'file.pdf' could not be read. ")


def test_an_icon_of_too_many_pixels_is_told_with_its_size():
    with pytest.raises(UnreadableFile, match="3000 by 2000 pixels"):
        asyncio.run(harmless_png(image(size=(3000, 2000))))
