"""Whatever a file asks for, the server stays small, and users are told in words."""

import asyncio
from contextlib import suppress
import json
import subprocess
import sys

import pytest

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.files.file_reader import BUSY, DAMAGED, LOST, POOL, SMALLER, harmless_png
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import FileRules
from copilot_admin.agent.values.answer_request import FileRead
from copilot_admin.agent.worker_processes import FailureReason, TaskFailed, WorkersBusy
from protocol.models import DataItem, HumanMessage, ResultMessage, SourceData
from tests.agent.answer_requests import make_query
from tests.agent.files.hostile_files import READ, REFUSED
from tests.agent.files.sample_files import SENTENCE, base64, docx, image, pdf

REPORT, OTHER = (base64(pdf([line])) for line in ("one", "two"))
NOT_READ = "The file 'file.pdf' could not be read. "
LONG = "It takes longer to read than one file may. "
LARGE = "It takes more memory to read than one file may. "
WORKBOOK = "Delete cells that stand far away from the rest, or attach a part of it, or CSV."
PAGE = {"page": {"number": 1, "text": "It pays.", "note": "[page 1: a note]"}}
DAMAGE, TIME, MEMORY, UNKNOWN = FailureReason
# Reads the files named on its input, as a server would, in a process whose memory is its own.
SERVER = """
import asyncio, json, sys
from pathlib import Path
from tests.agent.files.test_file_reader import files_of

sentences = {}
for name, (kind, path) in json.load(sys.stdin).items():
    [file] = files_of((kind, Path(path).read_text()))
    sentences[name] = file.fault
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


def read(*files):
    rules = FileRules(sees_images=True)
    return asyncio.run(with_files_read(asked(*files), fetch=None, rules=rules))


def files_of(*files):
    return read(*files)[1]


@pytest.fixture
def child(monkeypatch):
    """Let a child give some replies and end for a reason."""

    def play(*replies, loss=None):
        async def run(*order, on_reply):
            for reply in replies:
                try:
                    on_reply(reply)
                except ValueError as error:
                    raise TaskFailed(DAMAGE) from error
            if loss is not None:
                raise loss if isinstance(loss, Exception) else TaskFailed(loss)

        monkeypatch.setattr(POOL, "run", run)

    return play


# One of each kind that takes too much memory, unpacks to too much, or lies: those made quickly.
QUICKLY_MADE = [name for name in REFUSED if not name.startswith(("xlsx", "pdf"))]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(QUICKLY_MADE, id="those made quickly"),
        pytest.param(list(REFUSED), id="all", marks=pytest.mark.nightly),
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
    assert list(sentences) == names
    assert all("could not be read" in sentence for sentence in sentences.values())
    assert megabytes < 400


@pytest.mark.parametrize("name", READ)
def test_what_is_only_long_is_read_as_far_as_it_goes(name):
    kind, made = READ[name]
    [file] = files_of((kind, base64(made())))
    assert file.fault == ""


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        ("MAX_TEXT", len(SENTENCE), "Together with newer files it has too much text."),
        ("MAX_SECONDS", 0, "All files of a question may take 0 seconds."),
    ],
)
def test_limits_of_all_files_together_are_told(limit, value, words, monkeypatch):
    monkeypatch.setattr(f"copilot_admin.agent.files.reading.{limit}", value)
    files = files_of(*(("docx", base64(docx(one))) for one in (SENTENCE, "More.")))
    assert files[-1].fault == f"The file 'file.docx' could not be read. {words} Attach fewer."


def test_a_question_that_is_given_up_gives_up_its_files(monkeypatch):
    given_up = []

    async def never(*order, on_reply):
        try:
            await asyncio.Future()
        finally:
            given_up.append(order[0]["name"])

    async def leave():
        files = asked(("pdf", REPORT), ("pdf", OTHER))
        reading = asyncio.create_task(with_files_read(files, fetch=None, rules=FileRules()))
        for _ in range(5):
            await asyncio.sleep(0)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading

    monkeypatch.setattr(POOL, "run", never)
    asyncio.run(leave())
    assert given_up == ["file.pdf"] * 2


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {"size": "many"},
        {"page": {"number": 1, "text": "a", "words": [["a", 1, 2, 3, "x"]]}},
        {"picture": ["a", 1, 2]},
        [],
    ],
)
def test_a_reply_of_a_process_that_was_taken_over_is_not_believed(reply, child):
    child(reply)
    [file] = files_of(("pdf", REPORT))
    assert file.fault == NOT_READ + DAMAGED


@pytest.mark.parametrize(
    ("kind", "replies", "loss", "why"),
    [
        ("pdf", [], WorkersBusy(), BUSY),
        ("pdf", [], DAMAGE, DAMAGED),
        ("pdf", [], TIME, f"{LONG}Attach a part of it."),
        ("xlsx", [], MEMORY, LARGE + WORKBOOK),
        ("png", [], TIME, LONG + SMALLER),
        ("pdf", [PAGE], UNKNOWN, LOST),  # asking again may help
        ("pdf", [{"page": {"number": 1, "text": " "}}], TIME, f"{LONG}Attach a part of it."),
    ],
)
def test_users_are_told_what_to_do_about_a_file_that_was_lost(kind, replies, loss, why, child):
    child(*replies, loss=loss)
    [file] = files_of((kind, REPORT))
    assert file.fault == f"The file 'file.{kind}' could not be read. {why}"


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        (DAMAGE, "is damaged"),
        (TIME, "takes longer to read than one file may"),
        (MEMORY, "takes more memory to read than one file may"),
    ],
)
def test_pages_that_were_read_before_a_process_was_lost_are_shown(loss, why, child):
    child({"size": 9}, {"kind": "pdf"}, PAGE, loss=loss)
    query, [file] = read(("pdf", REPORT))
    note = f"only the first page was read: what follows {why}; page 1: a note"
    assert file == FileRead(name="file.pdf", kind="pdf", size=9, pages=1, note=note)
    [result] = query.messages[-1].data
    assert result.items[0].content == f"It pays.\n[{note}]"


def test_an_icon_of_too_many_pixels_is_told_with_its_size():
    with pytest.raises(UnreadableFile, match="3000 by 2000 pixels"):
        asyncio.run(harmless_png(image(size=(3000, 2000))))
