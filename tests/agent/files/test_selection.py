"""Files of a feature that is switched off are not opened, and who asked is told so."""

import asyncio
from dataclasses import replace

import pytest

from copilot_admin.agent.files.file_reader import POOL
from copilot_admin.agent.files.reading import with_files_read
from copilot_admin.agent.files.selection import FileRules, Origin, file_rules
from copilot_admin.agent.values.answer_request import FileRead
from copilot_admin.agent.values.spec import WidgetDataMode
from protocol.events import FunctionCall, StatusLevel, StatusUpdate
from protocol.models import (
    ContextItem,
    DataItem,
    FileReference,
    Generation,
    HumanMessage,
    ResultMessage,
    SourceData,
    Widget,
    Widgets,
)
from tests.agent.answer_requests import make_query, make_request, make_spec, outputs_of
from tests.agent.files.sample_files import SENTENCE, base64, pdf
from tests.agent.scripted import ScriptedProvider, text

UPLOAD = {"origin": "OpenBB Hub", "id": "file-5e1c", "input_args": {}}
WIDGET = {"origin": "OpenBB API", "id": "reports", "input_args": {}}
ATTACHED = Widget(origin="OpenBB Hub", widget_id="file-5e1c", name="report.pdf")
FORM = {"data_type": "pdf", "filename": "report.pdf"}
REPORT = DataItem(content=base64(pdf([SENTENCE])), data_format=FORM)
LINK = FileReference(url="https://files.test/report.pdf", data_format=FORM)
TAKES_FILES = {"features": frozenset({"file-upload"})}
NO_DATA = {"widget_data": WidgetDataMode.OFF}
NOT_READ = "The file 'report.pdf' was not read. "


def result(source, function="get_widget_data"):
    return ResultMessage(function, {"data_sources": [source]}, (SourceData((REPORT,)),))


def context(item, **changes):
    return {"context": (ContextItem(data=SourceData((item,)), **changes),)}


@pytest.fixture
def opened(monkeypatch):
    """Fail if a file is opened."""

    async def carry_out(*order, on_reply):
        raise AssertionError("a file was opened")

    monkeypatch.setattr(POOL, "run", carry_out)


def not_fetched(url):
    raise AssertionError("a link was followed")


@pytest.mark.parametrize(
    ("spec", "read"),
    [
        ({}, {Origin.WIDGET, Origin.CONTEXT, Origin.LINK}),
        ({"read_links": False}, {Origin.WIDGET, Origin.CONTEXT}),
        (TAKES_FILES, {Origin.UPLOAD, Origin.WIDGET, Origin.CONTEXT, Origin.LINK}),
        ({"features": frozenset({"mcp-tools"}), **NO_DATA}, {Origin.TOOL, Origin.LINK}),
        ({**TAKES_FILES, **NO_DATA}, {Origin.UPLOAD, Origin.CONTEXT, Origin.LINK}),
        (NO_DATA, {Origin.LINK}),
        ({**NO_DATA, "read_links": False}, set()),
    ],
)
def test_the_switches_of_a_copilot_say_which_files_it_reads(spec, read):
    assert file_rules(make_spec(**spec)).origins == read


@pytest.mark.parametrize("item", [REPORT, LINK], ids=["base64", "link"])
@pytest.mark.parametrize(
    ("messages", "rest", "origin"),
    [
        ([result(UPLOAD)], {}, Origin.UPLOAD),
        ([result(WIDGET)], {}, Origin.WIDGET),
        ([result({}, function="get_extra_widget_data")], {}, Origin.WIDGET),
        ([result({}, function="execute_agent_tool")], {}, Origin.TOOL),
        ([result({}, function="get_params_options")], {}, Origin.CONTEXT),
        ([], {"uuid": "w-1"}, Origin.CONTEXT),
        ([], {"uuid": "w-1", "generation": Generation.ONE}, Origin.WIDGET),
        ([], {"generation": Generation.ONE}, Origin.CONTEXT),
    ],
)
@pytest.mark.usefixtures("opened")
def test_a_file_that_is_not_wanted_is_neither_fetched_nor_opened(messages, rest, origin, item):
    rest = dict(rest)
    generation = {"generation": rest.pop("generation")} if "generation" in rest else {}
    sent = {} if messages else context(item, **rest)
    messages = [replace(one, data=(SourceData((item,)),)) for one in messages]
    query = make_query(HumanMessage("q"), *messages, **sent, **generation)
    rules = FileRules(origins=frozenset(Origin) - {origin})
    found, [file] = asyncio.run(with_files_read(query, fetch=not_fetched, rules=rules))
    assert file == FileRead(name="report.pdf", kind="pdf", fault=NOT_READ + origin.value)
    data = found.messages[1].data[0] if messages else found.context[0].data
    assert [(one.content, one.citable) for one in data.items] == [(f"[{file.fault}]", False)]


@pytest.mark.usefixtures("opened")
def test_an_attached_file_is_not_asked_for_where_none_are_taken():
    query = make_query(widgets=Widgets(primary=(ATTACHED,)))
    with ScriptedProvider([text("I see.")]) as provider:
        outputs = outputs_of(make_request(provider, query=query))
    sentence = NOT_READ + Origin.UPLOAD.value
    assert StatusUpdate(message=sentence, level=StatusLevel.WARNING) in outputs
    assert not any(isinstance(one, FunctionCall) for one in outputs)
    assert any(sentence in message.text for message in provider.calls[0].messages)
