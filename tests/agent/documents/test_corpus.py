"""Documents of many writers are read: every part in order, nothing twice, and errors say why."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.registry import read_document
from copilot_admin.agent.values.answer_request import FileRead
from protocol.json import Json
from protocol.models import DataItem, FileReference, HumanMessage, ResultMessage, SourceData
from tests.agent.answer_requests import make_query, make_request, outputs_of
from tests.agent.documents.corpus import CASES
from tests.agent.documents.corpus.case import Case
from tests.agent.scripted import ScriptedProvider, text

READABLE = [case for case in CASES if not case.error]
BROKEN = [case for case in CASES if case.error]


def name_of(case: Case) -> str:
    return f"{case.data_type}: {case.name}"


def check(case: Case, text: str) -> None:
    place = 0
    for part in case.must:
        found = text.find(part, place)
        assert found >= 0, f"{part!r} is missing, or not in order, in:\n{text}"
        place = found
    for part in case.must_not:
        assert part not in text
    for part in case.once:
        assert text.count(part) == 1, f"{part!r} is there {text.count(part)} times in:\n{text}"


@pytest.mark.parametrize("case", READABLE, ids=name_of)
def test_a_document_is_read(case: Case) -> None:
    check(case, read_document(case.build(), data_type=case.data_type, name="file").text)


@pytest.mark.parametrize("case", BROKEN, ids=name_of)
def test_a_document_that_cannot_be_read_says_why(case: Case) -> None:
    with pytest.raises(UnreadableFile) as error:
        read_document(case.build(), data_type=case.data_type, name="file")
    assert case.error in error.value.public


def ask(case: Case, *, as_link: bool) -> tuple[str, list[str]]:
    """Return what the model was told of a document, and the notes for the transcript."""
    data = case.build()
    form: dict[str, Json] = {"data_type": case.data_type, "filename": f"file.{case.data_type}"}

    @asynccontextmanager
    async def fetch(_url: str) -> AsyncIterator[bytes]:
        yield data

    sent = (
        FileReference(url="https://files.example/1", data_format=form)
        if as_link
        else DataItem(content=b64encode(data).decode("ascii"), data_format=form)
    )
    query = make_query(
        HumanMessage("q"), ResultMessage("get_widget_data", {}, (SourceData((sent,)),))
    )
    with ScriptedProvider([text("I see.")]) as provider:
        outputs = outputs_of(make_request(provider, query=query, fetch=fetch))
    told = "\n".join(message.text for message in provider.calls[0].messages)
    return told, [one.fault for one in outputs if isinstance(one, FileRead)]


ONE_OF_EACH_TYPE = [*{case.data_type: case for case in READABLE}.values(), BROKEN[0]]


@pytest.mark.parametrize("as_link", [False, True], ids=["in the request", "behind a link"])
@pytest.mark.parametrize("case", ONE_OF_EACH_TYPE, ids=name_of)
def test_the_model_receives_a_document(case: Case, as_link: bool) -> None:
    told, faults = ask(case, as_link=as_link)
    if case.error:
        assert case.error in told
        assert case.error in faults[0]
    else:
        check(case, told)
